# SPDX-License-Identifier: Apache-2.0
"""Blends the results of windows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch

from .._errors import InvalidType, InvalidValue, given_text, value_text
from .._tiles.merger import Merger
from .._tiles.tiling import Tiling
from ..torch._destination import Destination, check_out
from ._windows import NAME, Windows, value_error


def unpacked(results: Any) -> tuple[list[Any] | None, tuple[Any, ...]]:
    """Returns (keys, tensors) of a predictor's results: a tensor, a mapping or a sequence."""
    if isinstance(results, Mapping):
        try:
            keys = sorted(results)
        except TypeError:  # keys that have no order
            keys = list(results)
        return keys, tuple(results[key] for key in keys)
    return None, tuple(results) if isinstance(results, (tuple, list)) else (results,)


def packed(keys: list[Any] | None, merged: list[Any]) -> Any:
    if keys is not None:
        return dict(zip(keys, merged, strict=True))
    return merged[0] if len(merged) == 1 else tuple(merged)


def _is_function(out: Any) -> bool:
    return callable(out) and not hasattr(out, "shape")


class Outputs:
    """The outputs, one for each tensor that the predictor returns. The first results decide the number and the extents of
    the outputs."""

    def __init__(
        self,
        windows: Windows,
        weights: npt.NDArray[np.floating[Any]] | None,
        inputs: torch.Tensor,
        device: torch.device,
        out: Any,
    ) -> None:
        self._windows = windows
        self._weights = weights
        self._dtype = inputs.dtype
        self._device = device
        if not _is_function(out):
            check_out(NAME, out)
        elif windows.shape[0] != 1:
            raise value_error("out", "takes the rows of one image where it is a function", windows.shape, "a batch of 1")
        self._out = out
        self._each: list[_Merged | _Summed] = []
        self.keys: list[Any] | None = None

    def add(self, group: range, keys: list[Any] | None, results: Any, own: Any) -> None:
        """Takes the results of a group of windows. own: the weights from process_fn, instead of the common weights."""
        found = [self._checked(result, len(group)) for result in results]
        if not self._each:
            if self._out is not None and len(found) > 1:
                raise value_error("out", "takes one result of a predictor", f"{len(found)} results", "None")
            self.keys = keys
            self._each = [self._begin(result, own) for result in found]
        if keys != self.keys or len(found) != len(self._each) or not found:
            given = f"{len(found)} results" if keys is None else value_text(keys)
            rule = "must return at least one tensor, and the same number and keys each time"
            raise InvalidValue(NAME, "predictor", rule, given)
        if own is not None:
            own = self._own(own, len(group))
        for output, result in zip(self._each, found, strict=True):
            output.add(group, result, own)

    def finish(self) -> list[Any]:
        return [output.finish() for output in self._each]

    def _begin(self, result: torch.Tensor, own: Any) -> _Merged | _Summed:
        if self._out is not None and result.requires_grad:
            raise value_error("out", "takes results that require no gradient", "a gradient", "with torch.no_grad()")
        numeric = self._dtype.is_floating_point or self._dtype.is_complex
        dtype = self._dtype if numeric else result.dtype
        zoom = _Zoom(self._windows, tuple(result.shape[2:]))
        channels = result.shape[1]
        weights = None if self._weights is None else zoom.resized(torch.from_numpy(self._weights)[None, None])
        merges = (self._out is not None or self._device.type == "cpu") and not result.requires_grad
        tiling = zoom.tiling(channels) if merges else None
        if tiling is not None:
            return _Merged(zoom, tiling, weights, own is not None, channels, dtype, self._out)
        if self._out is not None:
            expected = "a roi_size and an overlap whose stride, times result / roi, is whole"
            raise value_error("out", "takes results whose places are whole numbers", tuple(result.shape), expected)
        return _Summed(zoom, weights, channels, dtype, self._device)

    def _checked(self, result: Any, count: int) -> torch.Tensor:
        if isinstance(result, np.ndarray):
            result = torch.from_numpy(result)
        if not isinstance(result, torch.Tensor):
            rule = "must return a tensor, or a sequence or mapping of tensors"
            raise InvalidType(NAME, "predictor", rule, given_text(result))
        if not (result.dtype.is_floating_point or result.dtype.is_complex):
            rule = "must return floating or complex numbers, which can be blended"
            expected = "scores of each class, and argmax of the output; or patchfold.apply_tiled, which keeps labels"
            raise InvalidType(NAME, "predictor", rule, str(result.dtype), expected)
        rank = 2 + len(self._windows.roi)
        if result.ndim != rank or result.shape[0] != count or 0 in result.shape[2:]:
            rule = "must return (windows, channels, spatial axes)"
            raise value_error("predictor", rule, tuple(result.shape), f"({count}, channels, *spatial)")
        return result

    def _own(self, given: Any, count: int) -> torch.Tensor:
        weights: torch.Tensor = torch.as_tensor(given)
        roi = self._windows.roi
        if tuple(weights.shape) == roi:
            weights = weights[None, None]
        if weights.shape[0] not in (1, count) or tuple(weights.shape[1:]) != (1, *roi):
            expected = f"{value_text(roi)} or (1, 1, *{value_text(roi)})"
            raise value_error("process_fn", "must return weights of the extents of a window", tuple(weights.shape), expected)
        return weights


class _Zoom:
    """Where results lie in the output if a result and its window differ in size: along each axis, places are multiplied by
    (extent of the result) / (extent of the window)."""

    def __init__(self, windows: Windows, result: tuple[int, ...]) -> None:
        self.windows = windows
        self.result = result
        ratios = [Fraction(size, roi) for size, roi in zip(result, windows.roi, strict=True)]
        self.keep: tuple[slice, ...]
        """The slices of a result that lie in the output, without the padding."""
        keep, extents, starts = [], [], []
        for axis, ratio in enumerate(ratios):
            before, extent, full = windows.before[axis], windows.extents[axis], windows.padded[axis]
            if full == extent:
                keep.append(slice(0, result[axis]))
                extents.append(math.floor(full * ratio))
                starts.append([math.floor(start * ratio) for start in windows.starts(axis)])
            else:  # the axis has one window, which is cut
                keep.append(slice(round(before * ratio), round((before + extent) * ratio)))
                extents.append(keep[-1].stop - keep[-1].start)
                starts.append([0])
        self.keep, self.extents, self._starts = tuple(keep), tuple(extents), starts
        self.tile = tuple(part.stop - part.start for part in keep)
        if 0 in self.tile:
            raise value_error("predictor", "must return more than an element for each window's padding", result)

    def tiling(self, channels: int) -> Tiling | None:
        """Returns the results of one image as tiles; None if rounding makes the distances between them unequal."""
        strides = []
        for starts, extent, tile in zip(self._starts, self.extents, self.tile, strict=True):
            stride = starts[1] if len(starts) > 1 else tile
            if stride < 1 or [min(i * stride, extent - tile) for i in range(len(starts))] != starts:
                return None
            strides.append(stride)
        axes = tuple(range(-len(self.tile), 0))
        tiling = Tiling((channels, *self.extents), self.tile, stride=tuple(strides), axes=axes)
        return tiling if tiling.grid == self.windows.grid else None

    def place(self, index: int) -> tuple[slice, ...]:
        """Returns the slices of the output for the result of a window."""
        image, cell = divmod(index, math.prod(self.windows.grid))
        cells = np.unravel_index(cell, self.windows.grid)
        firsts = [starts[i] for starts, i in zip(self._starts, cells, strict=True)]
        spatial = [slice(first, first + tile) for first, tile in zip(firsts, self.tile, strict=True)]
        return (slice(image, image + 1), slice(None), *spatial)

    def resized(self, weights: Any) -> Any:
        """Returns the weights of a window in the size of a result, each from the nearest element, without the part that is
        cut off."""
        rank = len(self.result)
        for axis, (size, roi, keep) in enumerate(zip(self.result, self.windows.roi, self.keep, strict=True)):
            if keep != slice(0, roi):
                nearest = [(2 * i + 1) * roi // (2 * size) for i in range(size)][keep]
                place: tuple[Any, ...] = (..., nearest, *[slice(None)] * (rank - 1 - axis))
                weights = weights[place]
        return weights


class _Output:
    """The output for one of the predictor's tensors."""

    def __init__(self, zoom: _Zoom, channels: int, dtype: torch.dtype) -> None:
        self.zoom = zoom
        self.dtype = dtype
        self._shape = (channels, *zoom.result)
        self._kept: tuple[slice, ...] = (slice(None), slice(None), *zoom.keep)

    def kept(self, result: torch.Tensor) -> torch.Tensor:
        """Returns the part of results that lies in the output."""
        if tuple(result.shape[1:]) != self._shape:
            expected = value_text((result.shape[0], *self._shape))
            raise value_error("predictor", "must return the same shape for every window", tuple(result.shape), expected)
        return result[self._kept]


class _Merged(_Output):
    """An output on the processor, without gradients: a Merger for each image, one after the other. Weights of process_fn may
    differ from window to window, so the Merger gets them with each window."""

    def __init__(
        self,
        zoom: _Zoom,
        tiling: Tiling,
        weights: torch.Tensor | None,
        has_own: bool,
        channels: int,
        dtype: torch.dtype,
        out: Any,
    ) -> None:
        super().__init__(zoom, channels, dtype)
        self._tiling = tiling
        self._weighted = has_own or weights is not None
        # A weighted mean is computed in float32 at least, also for a 16-bit output.
        self._wide = torch.promote_types(dtype, torch.float32) if self._weighted else dtype
        self._copy: bool | Literal["sum48"] = True if has_own else "sum48"  # running sums take no weights of single windows
        self._window: Any = "ones" if has_own or weights is None else weights[0, 0].numpy()
        self._array: Any = None
        if _is_function(out):
            self._write = out
        else:
            shape = (zoom.windows.shape[0], channels, *zoom.extents)
            # Memory without zeros is only taken where results have come.
            destination = Destination(NAME, torch.empty(shape, dtype=dtype) if out is None else out, shape, dtype)
            self._array, self._write = destination.array, destination.write
        self._in_place = isinstance(self._array, (torch.Tensor, np.ndarray)) and self._wide == dtype
        self._merger: Merger | None = None

    def add(self, group: range, result: torch.Tensor, own: torch.Tensor | None) -> None:
        if result.requires_grad:
            rule = "must return results that all require a gradient, or none of them"
            raise value_error("predictor", rule, "a gradient, after results without one")
        kept = self.kept(result).to("cpu", self._wide)
        weights = None if own is None else self.zoom.resized(own)
        for i, index in enumerate(group):
            image, cell = divmod(index, len(self._tiling))
            if self._merger is None:
                self._merger = self._begin(image)
            self._merger.add(cell, kept[i], weight=None if weights is None else weights[min(i, weights.shape[0] - 1)])
            if cell + 1 == len(self._tiling):
                self._merger.finish()
                self._merger = None

    def finish(self) -> Any:
        return self._array

    def _begin(self, image: int) -> Merger:
        def take(rows: slice, band: Any) -> None:
            spatial = [slice(None)] * (len(self.zoom.extents) - 1)
            place: Any = (slice(image, image + 1), slice(None), rows, *spatial)
            self._write(rows if self._array is None else place, torch.as_tensor(band)[None].to(self.dtype))

        out = self._array[image] if self._in_place else take
        # An element whose weights are all 0 has no mean.
        fill = math.nan if self._weighted else None
        return Merger(self._tiling, window=self._window, reduce="mean", copy=self._copy, out=out, fill=fill)


class _Summed(_Output):
    """An output on any device, with derivatives: a weighted sum, and the sum of weights."""

    def __init__(
        self,
        zoom: _Zoom,
        weights: torch.Tensor | None,
        channels: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        super().__init__(zoom, channels, dtype)
        self._wide = torch.promote_types(dtype, torch.float32)
        real = torch.empty(0, dtype=self._wide).real.dtype
        batch = zoom.windows.shape[0]
        self._sum = torch.zeros((batch, channels, *zoom.extents), dtype=self._wide, device=device)
        self._weights = torch.zeros((batch, 1, *zoom.extents), dtype=real, device=device)
        common = torch.ones((1, 1, *zoom.tile)) if weights is None else weights
        self._common = common.to(device, real)

    def add(self, group: range, result: torch.Tensor, own: torch.Tensor | None) -> None:
        kept = self.kept(result).to(self._sum.device, self._wide)
        weights = self._common if own is None else self.zoom.resized(own).to(self._weights.device, self._weights.dtype)
        for i, index in enumerate(group):
            place = self.zoom.place(index)
            weight = weights[min(i, weights.shape[0] - 1)]
            self._sum[place] += kept[i] * weight
            self._weights[place] += weight

    def finish(self) -> Any:
        return (self._sum / self._weights).to(self.dtype)

# SPDX-License-Identifier: Apache-2.0
"""nnU-Net's sliding windows: from an image to logits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arrays.kinds import is_torch, shape_of
from .._errors import InvalidValue, value_text
from ._logits import NAME, plain


def compute_steps_for_sliding_window(
    image_size: Sequence[int], tile_size: Sequence[int], tile_step_size: float
) -> list[list[int]]:
    """Returns where nnU-Net's windows begin along each axis, as nnunetv2 does: the first window begins with
    the axis, the last one ends with it, and others lie at equal distances of at most tile_step_size * tile, rounded.

    Arguments:
        image_size, tile_size: extents of the image and of a window, which must fit into the image.
        tile_step_size: in (0, 1].

    Errors: InvalidValue with the operator "nnunet".

    Example:
        >>> from patchfold.nnunet import compute_steps_for_sliding_window
        >>> compute_steps_for_sliding_window((110,), (64,), 0.5)
        [[0, 23, 46]]
    """
    if not 0 < tile_step_size <= 1:
        raise InvalidValue(NAME, "tile_step_size", "must be above 0 and at most 1", value_text(tile_step_size))
    steps = []
    for extent, tile in zip(image_size, tile_size, strict=True):
        if not 0 < tile <= extent:
            given = f"{value_text(tuple(tile_size))} in {value_text(tuple(image_size))}"
            raise InvalidValue(NAME, "tile_size", "must be above 0 and at most the image", given)
        gaps = math.ceil((extent - tile) / (tile * tile_step_size))
        distance = (extent - tile) / max(gaps, 1)
        steps.append([round(distance * i) for i in range(gaps + 1)])
    return steps


def predict_sliding_window_return_logits(
    network: Callable[[Any], Any],
    input_image: Any,
    patch_size: Sequence[int],
    *,
    tile_step_size: float = 0.5,
    use_gaussian: bool = True,
    mirror_axes: Sequence[int] | None = None,
    out: Any = None,
) -> Any:
    """Runs a network in nnU-Net's sliding windows and blends the logits, as the predictor's method of this name does.

    Shapes: input_image (channels, z, y, x), patch_size (z, y, x); a patch_size (y, x) is a window in each plane. The network
        takes (1, channels, *patch_size) and returns (1, classes, *patch_size). Logits are (classes, z, y, x), of float32.

    Arguments:
        network: called with one window, an array of the kind of input_image. It may return its result on another device.
        input_image: a preprocessed image: an array of NumPy or torch. An image smaller than a window gets zeros at both
            ends, which the result lacks.
        tile_step_size: distance between windows, at most, as a part of the window.
        use_gaussian: whether weights fall towards the borders of a window: exp(-d**2 / 2) along each axis, where d is the
            distance from element n // 2 in units of n / 8. False: all weights are 1.
        mirror_axes: spatial axes, counted from 0, along which windows are mirrored as well: the result is the mean over all
            combinations of these axes. None: no mirroring.
        out: called as out(rows, band) with finished logits, (classes, rows, y, x), in order, such as a SegmentationExport;
            or an array or store of the shape of the logits. None: a new array of NumPy.

    Formula: sum of weight * logits / sum of weights, over the windows that hold a voxel, added in float64 and rounded once.
        nnU-Net adds products of float16 in float16, so its logits differ by the rounding of float16.

    Memory: the sums of the rows of one window, in float64, and a window with its result.

    Returns the array; None where out is a function.

    Errors: InvalidValue and InvalidType with the operator "nnunet".

    Elsewhere: nnunetv2.inference.predict_from_raw_data.nnUNetPredictor.predict_sliding_window_return_logits.

    Example:
        >>> import numpy as np
        >>> from patchfold.nnunet import predict_sliding_window_return_logits
        >>> image = np.random.default_rng(0).random((1, 9, 20, 17), np.float32)
        >>> network = lambda x: np.concatenate([x, -x], 1)
        >>> logits = predict_sliding_window_return_logits(network, image, (8, 16, 16), mirror_axes=(0, 1, 2))
        >>> logits.shape, np.allclose(logits[1], -image[0])
        ((2, 9, 20, 17), True)
    """
    shape = shape_of(input_image, NAME, "input_image")
    patch = tuple(index(extent) for extent in patch_size)
    if len(shape) != 4 or len(patch) not in (2, 3) or not all(shape):
        rule, given = "must be (channels, z, y, x), with windows of two or three extents", f"{shape} and {patch}"
        raise InvalidValue(NAME, "input_image", rule, given)
    mirrored = () if mirror_axes is None else tuple(index(axis) for axis in mirror_axes)
    if len(set(mirrored) & set(range(len(patch)))) < len(mirrored):
        rule = f"must be different axes from 0 to {len(patch) - 1}"
        raise InvalidValue(NAME, "mirror_axes", rule, value_text(mirror_axes))
    windows = _Windows(shape[1:], patch, tile_step_size, use_gaussian)

    combinations = [c for n in range(len(mirrored) + 1) for c in itertools.combinations(mirrored, n)]

    def logits_of(window: Any) -> npt.NDArray[np.float64]:
        total = np.zeros(())
        for axes in combinations:
            made = plain(network(_flipped(window, axes)), "result")
            if made.ndim != 2 + len(patch) or made.shape[0] != 1 or made.shape[2:] != patch:
                expected = f"(1, classes, *{value_text(patch)})"
                raise InvalidValue(NAME, "network", "must return logits of the window", value_text(made.shape), expected)
            total = total + np.flip(made, tuple(axis + 2 for axis in axes))
        logits: npt.NDArray[np.float64] = total[0] / len(combinations)
        return logits

    array = out if hasattr(out, "shape") else None
    for rows, band in windows.bands(input_image, logits_of):
        if out is None and array is None:
            array = np.empty((band.shape[0], *shape[1:]), np.float32)
        if array is not None:
            array[:, rows] = band
        else:
            out(rows, band)
    return array


class _Windows:
    """nnU-Net's windows over an image, and the blend of their logits."""

    def __init__(self, extents: tuple[int, ...], patch: tuple[int, ...], step: float, use_gaussian: bool) -> None:
        self._is_flat = len(patch) == 2
        self._patch = (1, *patch) if self._is_flat else patch
        self._extents = extents
        self._whole = tuple(map(max, extents, self._patch))
        self._before = [(whole - extent) // 2 for whole, extent in zip(self._whole, extents, strict=True)]
        steps = compute_steps_for_sliding_window(self._whole[-len(patch) :], patch, step)
        self._starts = [list(range(extents[0])), *steps] if self._is_flat else steps
        distances = [(np.arange(n) - n // 2) / (n / 8) for n in self._patch]
        self._weights = [np.exp(-(d**2) / 2) if use_gaussian else np.ones(len(d)) for d in distances]

    def bands(
        self, image: Any, logits_of: Callable[[Any], npt.NDArray[Any]]
    ) -> Iterator[tuple[slice, npt.NDArray[np.float32]]]:
        """Yields finished rows of the image, and their logits."""
        depth, sums, first = self._patch[0], np.empty(()), 0
        totals = [np.zeros(extent) for extent in self._whole]  # sums of the weights of all windows, along each axis
        for total, starts, weights in zip(totals, self._starts, self._weights, strict=True):
            for begin in starts:
                total[begin : begin + len(weights)] += weights
        plane = np.multiply.outer(totals[1], totals[2])
        inside: Any = (..., *(slice(b, b + n) for b, n in zip(self._before[1:], self._extents[1:], strict=True)))
        for start, following in zip(self._starts[0], [*self._starts[0][1:], self._whole[0]], strict=True):
            for place in itertools.product(*self._starts[1:]):
                part = logits_of(self._window(image, (start, *place)))
                part = part.reshape(part.shape[0], *self._patch)
                for axis, weights in enumerate(self._weights):
                    part = part * weights.reshape(-1, *[1] * (2 - axis))
                if not sums.ndim:
                    sums = np.zeros((part.shape[0], depth, *self._whole[1:]))
                into: Any = (..., *(slice(a, a + n) for a, n in zip(place, self._patch[1:], strict=True)))
                sums[into] += part
            done = following - start
            rows = slice(max(first, self._before[0]), min(following, self._before[0] + self._extents[0]))
            band = sums[:, rows.start - start : rows.stop - start] / (totals[0][rows, None, None] * plane)
            of_image = slice(rows.start - self._before[0], rows.stop - self._before[0])
            yield of_image, band[inside].astype(np.float32)
            first = following
            sums[:, : depth - done] = sums[:, done:].copy()
            sums[:, depth - done :] = 0

    def _window(self, image: Any, starts: tuple[int, ...]) -> Any:
        """Returns a copy of a window of the image, with a batch of one in front and zeros beyond the image."""
        begins = [start - before for start, before in zip(starts, self._before, strict=True)]
        parts = [slice(max(b, 0), min(b + n, e)) for b, n, e in zip(begins, self._patch, self._extents, strict=True)]
        cut: Any = (slice(None), *parts)
        read = image[cut]
        shape = (1, read.shape[0], *self._patch)
        window = read.new_zeros(shape) if is_torch(read) else np.zeros(shape, read.dtype)
        into: Any = (0, slice(None), *(slice(p.start - b, p.stop - b) for p, b in zip(parts, begins, strict=True)))
        window[into] = read
        return window[:, :, 0] if self._is_flat else window


def _flipped(window: Any, axes: tuple[int, ...]) -> Any:
    """Returns a mirrored copy of a window."""
    places = tuple(axis + 2 for axis in axes)
    return window.flip(places) if is_torch(window) else np.flip(window, places).copy()

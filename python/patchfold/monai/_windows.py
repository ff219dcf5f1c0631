# SPDX-License-Identifier: Apache-2.0
"""The places of windows over a batch of images, and their weights."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from .._arguments import is_integer
from .._errors import InvalidType, InvalidValue, given_text, value_text
from .._tiles.tiling import Tiling

NAME = "sliding_window_inference"
_MODES = ("constant", "gaussian")
_LEAST_WEIGHT = 1e-3  # the documented floor of MONAI's weights


def value_error(argument: str, rule: str, given: Any, expected: str = "") -> InvalidValue:
    return InvalidValue(NAME, argument, rule, value_text(given), expected)


def _each(argument: str, value: Any, count: int) -> tuple[Any, ...]:
    """Returns a tuple with an entry for each spatial axis."""
    entries = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(entries, (str, bytes)) or not hasattr(entries, "__iter__"):
        return (entries,) * count
    entries = tuple(entries)
    if len(entries) != count:
        raise value_error(argument, "must be one number or have an entry for each spatial axis", value, f"{count} entries")
    return entries


def importance_map(extents: tuple[int, ...], mode: Any, sigma_scale: Any) -> npt.NDArray[np.float64]:
    """Returns the weights of a window; compute_importance_map has the formula."""
    if mode not in _MODES:
        raise value_error("mode", "must be one of MONAI's importance maps", mode, "'constant' or 'gaussian'")
    if mode == "constant":
        return np.ones(extents)
    weights = np.ones(())
    for extent, scale in zip(extents, _each("sigma_scale", sigma_scale, len(extents)), strict=True):
        if not isinstance(scale, (int, float)) or not scale > 0:
            raise value_error("sigma_scale", "must be greater than 0", sigma_scale)
        distance = np.arange(extent) - (extent - 1) / 2
        weights = weights[..., None] * np.exp(-((distance / (scale * extent)) ** 2) / 2)
    return np.maximum(weights, _LEAST_WEIGHT)


class Windows:
    """The places of the windows of a batch of images. An axis that is shorter than the window is padded.

    Windows are numbered image by image, then row-major over the grid, as the tiles of a Tiling.
    """

    def __init__(self, shape: tuple[int, ...], roi_size: Any, overlap: Any) -> None:
        spatial = shape[2:]
        listed = hasattr(roi_size, "__iter__") and not isinstance(roi_size, (str, bytes))
        rank = 2 + (len(tuple(roi_size)) if listed else max(1, len(spatial)))
        if len(shape) != rank:
            rule = f"must have {rank} dimensions: batch, channels and {rank - 2} spatial axes"
            raise value_error("inputs", rule, shape, "channels last: x.movedim(-1, 1); no batch: x[None]")
        if not all(shape[:1] + spatial):
            raise value_error("inputs", "must have elements along the batch and every spatial axis", shape)
        self.shape = shape
        self.extents = spatial
        self.roi = tuple(
            self._roi(size, extent, roi_size)
            for size, extent in zip(_each("roi_size", roi_size, len(spatial)), spatial, strict=True)
        )
        self.padded = tuple(map(max, self.roi, spatial))
        missing = [full - extent for full, extent in zip(self.padded, spatial, strict=True)]
        self.before = tuple(count // 2 for count in missing)
        """The padding in front of each axis."""
        self.padding = [end for count in reversed(missing) for end in (count // 2, count - count // 2)]
        """The padding for torch.nn.functional.pad: both ends of each axis, the last axis first."""
        parts = _each("overlap", overlap, len(spatial))
        if not all(isinstance(part, (int, float)) and 0 <= part < 1 for part in parts):
            raise value_error("overlap", "must be at least 0 and less than 1", overlap)
        self.stride = tuple(
            size if size == full else max(1, int(size * (1 - part)))
            for size, full, part in zip(self.roi, self.padded, parts, strict=True)
        )
        axes = (0, *range(2, 2 + len(spatial)))  # each window lies in one image
        images = (shape[0], shape[1], *self.padded)
        self._tiling = Tiling(images, (1, *self.roi), stride=(1, *self.stride), axes=axes)
        self.grid = self._tiling.grid[1:]

    @staticmethod
    def _roi(size: Any, extent: int, given: Any) -> int:
        if size is not None and not is_integer(size):
            raise InvalidType(NAME, "roi_size", "must hold integers or None", given_text(given))
        return operator.index(size) if size is not None and size > 0 else extent

    def __len__(self) -> int:
        return len(self._tiling)

    def slices(self, index: int) -> list[slice]:
        """Returns the slices of a window in the padded images: batch, channels and spatial axes."""
        return list(self._tiling[index].read)

    def read(self, index: int) -> tuple[slice, ...]:
        """Returns the slices of a window in the images. A padded axis has one window, which holds the whole axis."""
        spatial = zip(self.slices(index)[2:], self.padded, self.extents, strict=True)
        held = [part if full == extent else slice(None) for part, full, extent in spatial]
        return (*self.slices(index)[:2], *held)

    def starts(self, axis: int) -> list[int]:
        """Returns the beginnings of the windows along a spatial axis of the padded images."""
        last = self.padded[axis] - self.roi[axis]
        return [min(i * self.stride[axis], last) for i in range(self.grid[axis])]

    def weights(self, mode: Any, sigma_scale: Any, given: Any) -> npt.NDArray[np.floating[Any]] | None:
        """Returns the weights of a window's elements; None for ones. MONAI's maps are float32."""
        if given is None:
            weights = importance_map(self.roi, mode, sigma_scale)
            return None if mode == "constant" else weights.astype(np.float32)
        weights = torch.as_tensor(given).detach().cpu().to(torch.float64).numpy()
        if weights.shape == (1, 1, *self.roi):
            weights = weights[0, 0]
        if weights.shape != self.roi:
            raise value_error("roi_weight_map", "must have the extents of a window", weights.shape, value_text(self.roi))
        if not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise value_error("roi_weight_map", "must hold finite weights of at least 0", float(weights.min()))
        return weights

    def batch(self, size: Any) -> int:
        if not is_integer(size) or size < 1:
            raise value_error("sw_batch_size", "must be an integer of at least 1", size)
        return operator.index(size)

    def check_buffers(self, steps: Any, axis: Any) -> None:
        """Refuses the values that MONAI refuses, although no result depends on them."""
        rank = len(self.roi)
        if steps is not None and steps > 0 and not -rank <= axis <= rank:
            raise value_error("buffer_dim", f"must be in [{-rank}, {rank}]", axis)

    def check_condition(self, condition: Any) -> None:
        if not isinstance(condition, torch.Tensor):
            raise InvalidType(NAME, "condition", "must be a torch tensor", given_text(condition))
        shape = tuple(condition.shape)
        if shape[:1] + shape[2:] != self.shape[:1] + self.extents:
            rule = "must have the batch and spatial extents of inputs"
            raise value_error("condition", rule, shape, value_text(self.shape))

# SPDX-License-Identifier: Apache-2.0
"""The destinations of the patches of a grid, with TorchIO's rules for patches that overlap."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from .._tiles.merger import Merger
from .._tiles.tiling import Tiling
from ..torch._destination import Destination

AGGREGATOR = "GridAggregator"


def starts_of(tiling: Tiling) -> list[list[int]]:
    """Returns the beginnings of the tiles along each tiled axis."""
    axes = zip(tiling.stride, tiling.axes, tiling.tile, tiling.grid, strict=True)
    return [[min(i * stride, tiling.shape[axis] - tile) for i in range(count)] for stride, axis, tile, count in axes]


def kept(starts: list[int], half: int, border: int, extent: int) -> list[tuple[slice, slice]]:
    """Returns slices (in the patch, in the output) for each patch along an axis. A voxel belongs to the last patch that
    holds it after half of the overlap is cut from each side."""
    begins = [border, *(start + half for start in starts[1:]), extent - border]
    return [
        (slice(first - start, last - start), slice(first - border, last - border))
        for start, first, last in zip(starts, begins, begins[1:], strict=False)
    ]


def hann(size: int) -> Any:
    """Returns the samples of torch.hann_window(size + 2, periodic=False) without the zeros at its ends."""
    return np.sin(np.pi * np.arange(1, size + 1) / (size + 1)) ** 2


class Cropped:
    """A destination that writes the kept part of each patch."""

    def __init__(self, destination: Destination, dtype: torch.dtype, kept: list[list[tuple[slice, slice]]]) -> None:
        self._destination = destination
        self._dtype = dtype
        self._kept = kept

    def add(self, cell: tuple[int, ...], patch: torch.Tensor) -> None:
        parts = [axis[i] for axis, i in zip(self._kept, cell, strict=True)]
        taken = (slice(None), *(part for part, _ in parts))
        self._destination.write((slice(None), *(place for _, place in parts)), patch[taken].to(self._dtype))

    def finish(self) -> Any:
        return self._destination.array


class Blended:
    """A destination that merges patches by their mean. The padding is cut from rows that leave the merger."""

    def __init__(
        self, tiling: Tiling, window: Any, dtype: torch.dtype, border: tuple[int, ...], destination: Destination
    ) -> None:
        self._tiling = tiling
        self._border = border
        self._destination = destination
        self._casts = dtype if isinstance(window, list) else None
        name = str(dtype).removeprefix("torch.")
        wide = name if name in ("float32", "float64") else None
        padded = any(border)
        out = self._take if padded else destination.array
        self._merger = Merger(tiling, window=window, reduce="mean", dtype=wide, out=out, copy=True, fill=math.nan)
        self._missing = set(range(len(tiling)))
        self._nothing: torch.Tensor | None = None

    def add(self, cell: tuple[int, ...], patch: torch.Tensor) -> None:
        # A Merger computes no means of booleans, and no floating-point means of 64-bit integers.
        patch = patch.to({torch.bool: torch.uint8, torch.int64: torch.float64}.get(patch.dtype, patch.dtype))
        index = math.prod(self._tiling.grid[1:]) * cell[0] + self._tiling.grid[2] * cell[1] + cell[2]
        patch = patch if self._casts is None else patch.to(self._casts)
        self._merger.add(index, patch)
        self._missing.discard(index)
        self._nothing = torch.zeros((), dtype=patch.dtype)

    def finish(self) -> Any:
        """Completes the merge and returns the volume. Voxels that no patch gave are NaN, as in TorchIO."""
        if self._nothing is not None:
            nothing = self._nothing.expand(self._tiling.shape[0], *self._tiling.tile)
            for index in sorted(self._missing):
                self._merger.add(index, nothing, weight=0)
            self._missing.clear()
        self._merger.finish()
        return self._destination.array

    def _take(self, rows: slice, band: Any) -> None:
        """Writes finished rows of the padded volume without the padding."""
        _, width, height, depth = self._destination.array.shape
        first, last = max(rows.start - self._border[0], 0), min(rows.stop - self._border[0], width)
        if first >= last:
            return
        begin = first + self._border[0] - rows.start
        inner = [slice(begin, begin + last - first)]
        inner += [slice(before, before + extent) for before, extent in zip(self._border[1:], (height, depth), strict=True)]
        inside: tuple[slice, ...] = (slice(None), *inner)
        values = torch.as_tensor(band)[inside]
        self._destination.write((slice(None), slice(first, last), slice(None), slice(None)), values)

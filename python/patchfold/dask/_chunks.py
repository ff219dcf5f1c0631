# SPDX-License-Identifier: Apache-2.0
"""Chunks of the result: their extents, and the tiles that touch each chunk."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import dask.array
import numpy as np

from .._arguments import is_integer
from .._errors import InvalidType, InvalidValue, given_text, value_text
from .._tiles.tiling import Tiling

NAME = "dask.apply_tiled"

_core: Any = dask.array.core  # dask's functions have no types

Index = tuple[int, ...]
"""The place of a chunk in the grid of chunks, with a number for each axis of the result."""


def starts(extents: tuple[int, ...]) -> list[int]:
    """Returns the beginnings of the chunks of an axis, and the end of the last chunk."""
    return [0, *itertools.accumulate(extents)]


class Chunks:
    """The boxes into which the result is cut. A box has all elements along axes that are not tiled."""

    def __init__(self, tiling: Tiling, axes: tuple[int, ...], extents: tuple[tuple[int, ...], ...]) -> None:
        """axes: the tiled axes of the result."""
        self.extents = extents
        self.axes = axes
        self._grid = tiling.grid
        self._starts = [starts(each) for each in extents]
        whole = [slice(None)] * len(self.axes)
        # tiles[i][k]: the tiles along tiled axis i that touch chunk k; chunks[i][j]: the chunks that tile j touches.
        self._tiles: list[list[range]] = []
        self._chunks: list[list[list[int]]] = []
        for i, axis in enumerate(self.axes):
            found = []
            for k in range(len(extents[axis])):
                box = [*whole]
                box[i] = self._slice(axis, k)
                found.append(tiling.touching(tuple(box))[i])
            touched: list[list[int]] = [[] for _ in range(self._grid[i])]
            for k, tiles in enumerate(found):
                for j in tiles:
                    touched[j].append(k)
            self._tiles.append(found)
            self._chunks.append(touched)

    def _slice(self, axis: int, k: int) -> slice:
        return slice(self._starts[axis][k], self._starts[axis][k + 1])

    def __len__(self) -> int:
        return math.prod(map(len, self.extents))

    def __iter__(self) -> Iterator[Index]:
        return itertools.product(*(range(len(each)) for each in self.extents))

    def slices(self, index: Index) -> tuple[slice, ...]:
        """Returns the slices of a chunk in the result, for all axes."""
        return tuple(self._slice(axis, k) for axis, k in enumerate(index))

    def box(self, index: Index) -> tuple[slice, ...]:
        """Returns the slices of a chunk in the result, for the tiled axes."""
        return tuple(self._slice(axis, index[axis]) for axis in self.axes)

    def shape(self, index: Index) -> tuple[int, ...]:
        return tuple(each[k] for each, k in zip(self.extents, index, strict=True))

    def touched(self, tile: int) -> Iterator[Index]:
        """Yields the chunks that a tile touches."""
        place = np.unravel_index(tile, self._grid)
        numbers: list[list[int]] = [[0]] * len(self.extents)
        for axis, chunks, j in zip(self.axes, self._chunks, place, strict=True):
            numbers[axis] = chunks[int(j)]
        return itertools.product(*numbers)


def chunk_extents(
    chunks: Any,
    tiling: Tiling,
    axes: tuple[int, ...],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    shards: tuple[int, ...] | None,
) -> tuple[tuple[int, ...], ...]:
    """Returns the extents of the chunks of the result along each axis.

    chunks: in dask's notation, for each axis or for each tiled axis; None: the shards, or about 32 MiB. axes: the tiled
    axes of the result. shards: the extents of a box that the store writes as a whole; each chunk must consist of whole
    shards.
    """
    if chunks is None:
        # A chunk is at least as large as a tile, so that there are no more tasks for chunks than for tiles.
        chunks = (
            "32MiB"
            if shards is None
            else [
                max(1, math.ceil(tile / shards[axis])) * shards[axis]
                for axis, tile in zip(axes, tiling._native.result, strict=True)
            ]
        )
    if is_integer(chunks) or isinstance(chunks, (str, float)):
        chunks = [chunks] * len(axes)
    try:
        given = list(chunks)
    except TypeError:
        rule = "must be extents of chunks, for each tiled axis or for each axis of the result"
        raise InvalidType(NAME, "chunks", rule, given_text(chunks)) from None
    if len(given) == len(axes):
        entries: list[Any] = list(shape)
        for axis, each in zip(axes, given, strict=True):
            entries[axis] = each
    else:
        entries = given
    if len(entries) != len(shape):
        rule = "must have an entry for each tiled axis, or for each axis of the result"
        raise InvalidValue(NAME, "chunks", rule, value_text(given), f"{len(axes)} or {len(shape)} entries")
    try:
        extents = _core.normalize_chunks(tuple(entries), shape=shape, dtype=dtype)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise InvalidValue(NAME, "chunks", f"must be chunks of dask: {error}", value_text(given)) from None
    extents = tuple(tuple(int(extent) for extent in each) for each in extents)
    if any(extent < 1 for each, whole in zip(extents, shape, strict=True) for extent in each if whole):
        raise InvalidValue(NAME, "chunks", "must be at least 1", value_text(given))
    for axis, each in enumerate(extents):
        if axis not in axes and len(each) > 1:
            rule = f"axis {axis} is not tiled and must be whole"
            raise InvalidValue(NAME, "chunks", rule, f"chunks of {each[0]}", str(shape[axis]))
    if shards is not None:
        _check_whole(extents, shards, shape)
    return extents


def _check_whole(extents: tuple[tuple[int, ...], ...], shards: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Checks that each chunk consists of whole shards: if two tasks wrote one shard, the data of one task would be lost."""
    for axis, (each, shard) in enumerate(zip(extents, shards, strict=True)):
        if any(begin % shard for begin in starts(each)[:-1]):
            rule = "must be whole shards of out (chunks, where it has no shards)"
            given = f"{each[0]} along axis {axis} of {shape[axis]}"
            raise InvalidValue(NAME, "chunks", rule, given, f"a multiple of {shard}")

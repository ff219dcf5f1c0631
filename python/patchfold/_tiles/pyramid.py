# SPDX-License-Identifier: Apache-2.0
"""The smaller levels of a picture: each level has half the extents of the level before, rounded up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._errors import InvalidType, InvalidValue, given_text, text_in
from .nodata import NONE, has_data

MEAN, NEAREST = "mean", "nearest"
_ELEMENTS = 1 << 21
"""The number of elements whose means are computed at a time."""


def checked_overviews(overviews: Any, operator: str) -> str | None:
    """Returns a given ``overviews``: "mean", "nearest", "none", or None for the default of the element type."""
    word = text_in(overviews)
    if overviews is not None and word not in (MEAN, NEAREST, NONE):
        raise InvalidValue(operator, "overviews", 'must be "mean", "nearest" or "none"', given_text(overviews))
    return None if overviews is None else word


def overviews_for(overviews: str | None, dtype: Any, operator: str) -> str:
    """Returns how elements of this type become those of the next level. The default never makes means of integers, which may
    be labels."""
    kind = np.dtype(dtype)
    if overviews is None:
        return MEAN if kind.kind in "fc" else NEAREST
    if overviews == MEAN and (kind.kind not in "iufc" or (kind.kind in "iu" and kind.itemsize == 8)):
        rule = "means of elements must be of floating-point numbers, or of integers of at most 32 bits"
        raise InvalidType(operator, "overviews", rule, str(kind), f'"{NEAREST}"')
    return overviews


def level_shapes(shape: tuple[int, ...], axes: tuple[int, ...], least: int) -> list[tuple[int, ...]]:
    """Returns the shapes of all levels, from the given one to the first with extents of at most ``least``."""
    shapes = [shape]
    while any(shapes[-1][axis] > least for axis in axes):
        shapes.append(tuple(-(-extent // 2) if axis in axes else extent for axis, extent in enumerate(shapes[-1])))
    return shapes


def halved(x: Any, axes: tuple[int, ...], how: str, nodata: Any = None) -> Any:
    """Returns the next level of x.

    Formula: the array is divided into blocks of 2 along each of the axes; the last block of an odd extent has 1. "nearest"
    takes the first element of each block. "mean" takes the mean of those elements of the block that hold data (that are
    neither nodata nor NaN), rounded to nearest even; a block without data becomes nodata, or NaN if there is none.
    """
    if how == NEAREST:
        firsts = tuple(slice(None, None, 2) if axis in axes else slice(None) for axis in range(x.ndim))
        return np.ascontiguousarray(x[firsts])
    shape = tuple(-(-extent // 2) if axis in axes else extent for axis, extent in enumerate(x.shape))
    y = np.empty(shape, x.dtype)
    first = axes[0]
    rows = 2 * max(1, _ELEMENTS // max(1, 2 * x.size // max(1, x.shape[first])))
    for start in range(0, x.shape[first], rows):
        part = [slice(None)] * x.ndim
        part[first] = slice(start, start + rows)
        read = x[tuple(part)]
        part[first] = slice(start // 2, (start + rows) // 2)
        y[tuple(part)] = _means(read, axes, nodata)
    return y


def _means(x: Any, axes: tuple[int, ...], nodata: Any) -> Any:
    # An edge that is repeated leaves the mean of its block as it is.
    x = np.pad(x, [(0, extent % 2 if axis in axes else 0) for axis, extent in enumerate(x.shape)], mode="edge")
    kind, size = x.dtype.kind, x.dtype.itemsize
    wide = {"c": np.complex128, "f": np.float64}.get(kind) or (np.int16, np.int32, None, np.int64)[size - 1]
    valid = has_data(x, nodata)
    if valid is None and kind in "iu":
        total, bits = _sums(x, axes, wide), len(axes)
        total += (total >> bits & 1) + ((1 << bits - 1) - 1)
        return (total >> bits).astype(x.dtype)
    count: Any = 1 << len(axes)
    if valid is not None:
        x, count = np.where(valid, x, x.dtype.type(0)), _sums(valid, axes, np.int16)
    total = _sums(x, axes, wide) / np.maximum(count, 1)
    mean = (np.rint(total) if kind in "iu" else total).astype(x.dtype)
    return mean if valid is None else np.where(count > 0, mean, x.dtype.type(np.nan if nodata is None else nodata))


def _sums(x: Any, axes: tuple[int, ...], dtype: Any) -> Any:
    for axis in reversed(axes):
        pairs = [slice(None)] * x.ndim
        halves = []
        for first in (0, 1):
            pairs[axis] = slice(first, None, 2)
            halves.append(x[tuple(pairs)])
        x = np.add(*halves, dtype=dtype)
    return x


class Pyramid:
    """Makes the levels of a picture while its rows come. Each level waits for `unit` rows, so that every level is written in
    whole rows of blocks; the rest of the picture is never in memory."""

    def __init__(
        self,
        write: Callable[[int, int, Any], None],
        shapes: list[tuple[int, ...]],
        axes: tuple[int, ...],
        axis: int,
        how: str,
        nodata: Any,
        unit: int,
    ) -> None:
        """write: called with the level, the first row and the rows, for every level but the first; shapes: of all levels;
        axes: those that are halved; axis: the one along which rows come; unit: an even number of rows."""
        self._write = write
        self._extents = [shape[axis] for shape in shapes]
        self._axes, self._axis, self._how, self._nodata = axes, axis, how, nodata
        self._unit = unit if axis in axes else 1
        self._waiting: list[list[Any]] = [[] for _ in shapes]
        self._done = [0] * len(shapes)

    def add(self, rows: Any, level: int = 0) -> None:
        """Takes the next rows of the first level."""
        if len(self._extents) == 1:
            return
        waiting = self._waiting[level]
        waiting.append(rows)
        count = sum(each.shape[self._axis] for each in waiting)
        start = self._done[level]
        ready = count if start + count == self._extents[level] else count - count % self._unit
        if ready == 0:
            return
        whole = waiting[0] if len(waiting) == 1 else np.concatenate(waiting, self._axis)
        part = [slice(None)] * whole.ndim
        part[self._axis] = slice(ready, None)
        self._waiting[level] = [whole[tuple(part)].copy()] if ready < count else []
        part[self._axis] = slice(0, ready)
        now = whole[tuple(part)]
        self._done[level] += ready
        if level > 0:
            self._write(level, start, now)
        if level + 1 < len(self._extents):
            self.add(halved(now, self._axes, self._how, self._nodata), level + 1)

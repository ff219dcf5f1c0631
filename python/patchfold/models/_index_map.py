# SPDX-License-Identifier: Apache-2.0
"""Index maps: for each element of a result, which element of the source it is. `find` writes one as digits, and proves it.

What only moves data is an array of indices into its source, with OUTSIDE where the result holds zero. Every operator of the
family is such a map of one form: each axis of the result counts in mixed radix, and each digit steps along one axis of the
source.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

OUTSIDE = -1
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Digit:
    """A digit of an axis of the result: `extent` values, each `step` elements further along `axis` of the source."""

    extent: int
    axis: int
    step: int


@dataclass(frozen=True)
class IndexMap:
    """Digits of each axis of the result, the slowest first; the source's coordinates where all digits are 0."""

    source: tuple[int, ...]
    shape: tuple[int, ...]
    digits: tuple[tuple[Digit, ...], ...]
    begins: tuple[int, ...]

    def indices(self) -> Indices:
        """The map written out: indices into the source in row-major order, OUTSIDE where a coordinate lies outside."""
        flat = [digit for axis in self.digits for digit in axis]
        extents = [digit.extent for digit in flat]
        index: Any = np.zeros(extents, np.int64)
        inside: Any = np.ones(extents, bool)
        for axis, (extent, stride) in enumerate(zip(self.source, strides(self.source), strict=True)):
            at: Any = np.int64(self.begins[axis])
            for place, digit in enumerate(flat):
                if digit.axis == axis:
                    shape = [1] * len(flat)
                    shape[place] = digit.extent
                    at = at + (np.arange(digit.extent, dtype=np.int64) * digit.step).reshape(shape)
            index = index + at * stride
            inside = inside & ((at >= 0) & (at < extent))
        return np.where(inside, index, OUTSIDE).reshape(self.shape)


def strides(shape: Sequence[int]) -> list[int]:
    """Elements between neighbours along each axis of a row-major array."""
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def whole(shape: Sequence[int]) -> Indices:
    """The map of an array to itself."""
    return np.arange(math.prod(shape), dtype=np.int64).reshape(tuple(shape))


def find(indices: Indices, source: Sequence[int]) -> IndexMap | None:
    """The map's digits, or None if it has another form. What is returned was compared with every element of `indices`."""
    source = tuple(source)
    inside = np.flatnonzero(indices.reshape(-1) != OUTSIDE)
    if indices.size == 0 or inside.size == 0:
        return None
    counted = []
    for axis in range(indices.ndim):
        digits = _digits(np.moveaxis(indices, axis, 0).reshape(indices.shape[axis], -1))
        if digits is None:
            return None
        counted.append(digits)
    for choice in itertools.islice(itertools.product(*(_assigned(digits, source) for digits in counted)), 64):
        begins = _begins(choice, indices, int(inside[0]), source)
        if begins is None:
            continue
        map = IndexMap(source, indices.shape, choice, begins)
        if np.array_equal(map.indices(), indices):
            return map
    return None


def _digits(rows: Indices) -> list[tuple[int, int]] | None:
    """Extents and steps (in the source's row-major order) of the digits that count `rows`, the slowest first."""
    digits: list[tuple[int, int]] = []
    while len(rows) > 1:
        before, after = rows[:-1], rows[1:]
        both = (before != OUTSIDE) & (after != OUTSIDE)
        steps = after - before
        least = np.where(both, steps, np.iinfo(np.int64).max).min(axis=1)
        most = np.where(both, steps, np.iinfo(np.int64).min).max(axis=1)
        if (least < most).any() or least[0] != most[0] or least[0] == 0:
            return None
        same = (least == least[0]) & (most == least[0])
        extent = len(rows) if same.all() else int(np.argmin(same)) + 1
        if len(rows) % extent != 0:
            return None
        digits.insert(0, (extent, int(least[0])))
        rows = rows.reshape(len(rows) // extent, -1)
    return digits


def _assigned(digits: list[tuple[int, int]], source: tuple[int, ...]) -> Iterator[tuple[Digit, ...]]:
    """The ways to give each digit an axis of the source. A digit that runs over the end of an axis may count two axes."""
    ways: list[list[tuple[Digit, ...]]] = []
    for extent, step in digits:
        ways.append(list(_ways(extent, step, source)))
    for choice in itertools.islice(itertools.product(*ways), 64):
        yield tuple(digit for part in choice for digit in part)


def _ways(extent: int, step: int, source: tuple[int, ...]) -> Iterator[tuple[Digit, ...]]:
    axes = [(stride, axis) for axis, stride in enumerate(strides(source)) if source[axis] > 1 and stride <= abs(step)]
    if not axes:
        return
    stride, axis = max(axes)
    if step % stride != 0:
        return
    along = step // stride
    fits = source[axis] // abs(along) if source[axis] % along == 0 else 0
    if step > 0 and along * (extent - 1) >= source[axis] and fits > 1 and extent % fits == 0:
        for slower in _ways(extent // fits, step * fits, source):
            yield (*slower, Digit(fits, axis, along))
    yield (Digit(extent, axis, along),)


def _begins(
    choice: tuple[tuple[Digit, ...], ...], indices: Indices, known: int, source: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The source's coordinates of the element whose digits are 0, from one element that lies inside."""
    flat = [digit for axis in choice for digit in axis]
    extents = [digit.extent for digit in flat]
    if math.prod(extents) != indices.size:
        return None
    values = np.unravel_index(known, extents) if extents else ()
    begins = [int(at) for at in np.unravel_index(int(indices.reshape(-1)[known]), source)] if source else []
    for digit, value in zip(flat, values, strict=True):
        begins[digit.axis] -= int(value) * digit.step
    return tuple(begins)

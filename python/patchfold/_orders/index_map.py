# SPDX-License-Identifier: Apache-2.0
"""Index maps: the element of the source for each element of a result. `maps` writes a map as digits, and checks them.

An operation that only moves data is an array of indices into its source, with OUTSIDE for padding. The maps of all operators
that cut or join blocks have one form: an index along an axis of the result is a number in mixed radix, and each of its
digits steps along one axis of the source.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

OUTSIDE, UNKNOWN = -1, -2
"""The indices for an element outside the source, and for an unknown element."""
Indices = NDArray[np.int64]
Shape = tuple[int, ...]

_MOST_WAYS, _MOST_FITS = 64, 4096
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Digit:
    """A digit of an axis of the result: `extent` values, which lie `step` elements apart along `axis` of the source."""

    extent: int
    axis: int
    step: int


@dataclass(frozen=True)
class IndexMap:
    """The digits of each axis of the result, the slowest first, and the source's coordinates where all digits are 0."""

    source: Shape
    shape: Shape
    digits: tuple[tuple[Digit, ...], ...]
    begins: Shape

    def coordinates(self, where: Sequence[Any]) -> list[Any]:
        """Returns the coordinates in the source, which may lie outside, of elements of the result. where: the elements'
        index on each axis of the result, in arrays that broadcast."""
        found: list[Any] = list(self.begins)
        for index, digits in zip(where, self.digits, strict=True):
            for digit in reversed(digits):
                found[digit.axis] = found[digit.axis] + index % digit.extent * digit.step
                index = index // digit.extent
        return found

    def at(self, where: Sequence[Any]) -> Indices:
        """Returns row-major indices into the source, OUTSIDE for coordinates outside the source. where: as for
        `coordinates`."""
        index, inside = np.int64(0), np.bool_(True)
        for at, extent, stride in zip(self.coordinates(where), self.source, strides(self.source), strict=True):
            index = index + at * stride
            inside = inside & ((at >= 0) & (at < extent))
        return np.where(inside, index, OUTSIDE)

    def indices(self) -> Indices:
        """Returns the map as an array of indices."""
        return np.array(np.broadcast_to(self.at(np.indices(self.shape, sparse=True)), self.shape))

    def places(self) -> list[list[Digit]]:
        """Returns the digits of each axis of the source, in the order of the result."""
        flat = [digit for digits in self.digits for digit in digits]
        return [[digit for digit in flat if digit.axis == axis] for axis in range(len(self.source))]

    def inverse(self) -> IndexMap | None:
        """Returns the map from the result to the source; None unless each element of the source is in the result exactly
        once, and all digits count upwards."""
        found: list[list[tuple[int, Digit]]] = [[] for _ in self.source]
        for axis, digits in enumerate(self.digits):
            for digit, step in zip(digits, strides([digit.extent for digit in digits]), strict=True):
                found[digit.axis].append((digit.step, Digit(digit.extent, axis, step)))
        counted = [sorted(digits, key=lambda pair: -pair[0]) for digits in found]
        for extent, begin, pairs in zip(self.source, self.begins, counted, strict=True):
            extents = [digit.extent for _, digit in pairs]
            if begin != 0 or math.prod(extents) != extent or [step for step, _ in pairs] != strides(extents):
                return None
        turned = tuple(tuple(digit for _, digit in pairs) for pairs in counted)
        return IndexMap(self.shape, self.source, turned, (0,) * len(self.shape))


def strides(shape: Sequence[int]) -> list[int]:
    """Returns the strides of a row-major array, in elements."""
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def whole(shape: Sequence[int]) -> Indices:
    """Returns the indices of an array's own elements: 0, 1, 2, .. in its shape."""
    return np.arange(math.prod(shape), dtype=np.int64).reshape(tuple(shape))


def maps(indices: Indices, source: Sequence[int]) -> Iterator[IndexMap]:
    """Yields the maps in digits that agree with every known element of `indices`: at most one if all elements are known."""
    source, flat = tuple(source), indices.reshape(-1)
    known = np.flatnonzero(flat >= 0)
    if known.size == 0 or indices.ndim == 0:
        return
    some = known[:: max(1, known.size // 512)]
    where = np.unravel_index(some, indices.shape)
    first = [int(at[0]) for at in where]
    for counted in _countings(indices, where, flat[some]):
        ways = [list(_assigned(digits, source)) for digits in counted]
        for choice in itertools.islice(itertools.product(*ways), _MOST_WAYS):
            from_0 = IndexMap(source, indices.shape, choice, (0,) * len(source)).coordinates(first)
            begins = tuple(int(at) - int(by) for at, by in zip(np.unravel_index(flat[some[0]], source), from_0, strict=True))
            map = IndexMap(source, indices.shape, choice, begins)
            if np.array_equal(map.at(where), flat[some]) and bool(((map.indices() == indices) | (indices == UNKNOWN)).all()):
                yield map


def _countings(indices: Indices, where: Sequence[Indices], values: Indices) -> Iterator[Sequence[list[tuple[int, int]]]]:
    """Yields the possible extents and steps of the digits of each axis. where, values: the places and the indices of some
    known elements."""
    rows = [np.moveaxis(indices, axis, 0).reshape(extent, -1) for axis, extent in enumerate(indices.shape)]
    yield from itertools.islice(itertools.product(*(list(itertools.islice(_digits(each), 8)) for each in rows)), _MOST_WAYS)
    if not (indices == UNKNOWN).any() or any(len(each) > 1 and _steps(each) is None for each in rows):
        return
    # If few elements are known, it may be that no two of them are neighbours. Then the steps of digits of prime extents are
    # computed from known elements anywhere, by one linear equation for each element.
    orders = itertools.product(*(list(itertools.islice(_prime_orders(extent), _MOST_FITS)) for extent in indices.shape))
    for extents in itertools.islice(orders, _MOST_FITS):
        digits = [np.unravel_index(index, axis) for index, axis in zip(where, extents, strict=True) if axis]
        matrix = np.stack([*(digit for axis in digits for digit in axis), np.ones_like(values)], axis=1)
        few = slice(None, None, max(1, values.size // 128))
        solution, _, rank, _ = np.linalg.lstsq(matrix[few].astype(np.float64), values[few].astype(np.float64), rcond=None)
        whole_steps = np.rint(solution).astype(np.int64)
        if rank == matrix.shape[1] and np.array_equal(matrix @ whole_steps, values) and whole_steps[:-1].all():
            steps = iter(whole_steps.tolist())
            yield [_joined([(extent, next(steps)) for extent in axis]) for axis in extents]


def _prime_orders(number: int) -> Iterator[Shape]:
    """Yields the prime factors of a number, in every order."""
    left, primes = number, []
    for each in range(2, math.isqrt(number) + 1):
        while left % each == 0:
            left //= each
            primes.append(each)
    primes += [left] if left > 1 else []
    if len(primes) < 2:
        yield tuple(primes)
        return
    for prime in sorted(set(primes)):
        for rest in _prime_orders(number // prime):
            yield (prime, *rest)


def _joined(digits: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns digits in which neighbours that count like one digit are joined."""
    found: list[tuple[int, int]] = []
    for extent, step in digits:
        if found and found[-1][1] == step * extent:
            extent *= found.pop()[0]
        found.append((extent, step))
    return found


def _digits(rows: Indices) -> Iterator[list[tuple[int, int]]]:
    """Yields the possible extents and steps (in the source's row-major order) of the digits of `rows`, the slowest first.
    There is at most one list of digits if every two neighbouring rows have a column in which both elements are known."""
    count = len(rows)
    if count == 1:
        yield []
        return
    found = _steps(rows)
    if found is None:
        return
    steps, seen = found
    extents = [extent for extent in range(1, math.isqrt(count) + 1) if count % extent == 0]
    extents = sorted({*(count // extent for extent in extents), *extents[1:]}, reverse=True)
    if seen.all():
        same = steps == steps[0]
        run = count if same.all() else int(np.argmin(same)) + 1
        extents = [run] if run in extents else []
    for extent in extents:
        within = steps[seen & (np.arange(1, count) % extent != 0)]
        if within.size and within[0] != 0 and (within == within[0]).all():
            for slower in _digits(rows.reshape(count // extent, -1)):
                yield [*slower, (extent, int(within[0]))]


def _steps(rows: Indices) -> tuple[Indices, NDArray[np.bool_]] | None:
    """Returns the steps between neighbouring rows, and a mask of known steps; None if elements of a row step differently."""
    bounds = np.iinfo(np.int64)
    least, most = np.full(len(rows) - 1, bounds.max), np.full(len(rows) - 1, bounds.min)
    for begin in range(0, rows.shape[1], max(1, _CHUNK // len(rows))):
        part = rows[:, begin : begin + max(1, _CHUNK // len(rows))]
        both, steps = (part[:-1] >= 0) & (part[1:] >= 0), part[1:] - part[:-1]
        least = np.minimum(least, np.where(both, steps, bounds.max).min(axis=1))
        most = np.maximum(most, np.where(both, steps, bounds.min).max(axis=1))
        if (least < most).any():
            return None
    return least, least == most


def _assigned(digits: list[tuple[int, int]], source: Shape) -> Iterator[tuple[Digit, ...]]:
    """Yields the ways to give each digit an axis of the source. A digit that runs over the end of an axis may count along
    two axes."""
    ways = [list(_ways(extent, step, source)) for extent, step in digits]
    for choice in itertools.islice(itertools.product(*ways), _MOST_WAYS):
        yield tuple(digit for part in choice for digit in part)


def _ways(extent: int, step: int, source: Shape) -> Iterator[tuple[Digit, ...]]:
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

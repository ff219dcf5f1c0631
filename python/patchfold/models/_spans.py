# SPDX-License-Identifier: Apache-2.0
"""Which elements of an axis are seen along another axis: tables that repeat with a period, and their composition.

An element i = k * period + r of a result sees the elements from lo[r] + k * step to hi[r] + k * step. All
convolutions, pools, resizes and moves have this form. So a table of one period says exactly what each element sees,
also through a chain of nodes.
Tables go on beyond the ends of the axis: an element near an end sees no more than its table says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._orders.index_map import Indices

FAR = 1 << 60
"""The lower bound of an element that sees nothing; its upper bound is -FAR."""
MOST_PERIOD = 1 << 14
# The most elements that one element sees directly, and the largest step and bound.
MOST_TAPS, MOST_STEP = 1 << 16, 1 << 40


class NoSpan(Exception):
    """Elements are seen in no even steps, or in steps that are too large or too many to follow. The text says
    which."""


@dataclass(frozen=True, eq=False)
class Span:
    """The first and the last element that each element of an axis sees. An element that sees nothing has lo > hi."""

    step: int
    lo: Indices
    hi: Indices

    @property
    def period(self) -> int:
        return len(self.lo)

    def bounds(self, index: Indices) -> tuple[Indices, Indices]:
        """Returns the first and the last element that elements see. index: an array of any integers."""
        times, rest = np.divmod(index, self.period)
        lo, hi = self.lo[rest], self.hi[rest]
        sees = lo <= hi
        return np.where(sees, lo + times * self.step, FAR), np.where(sees, hi + times * self.step, -FAR)

    def hull(self, index: Indices | range) -> tuple[int, int]:
        """Returns the first and the last element that any of some elements sees."""
        if isinstance(index, range) and len(index) > 2 * self.period:  # the extremes lie in the first and the last period
            index = np.array([*index[: self.period], *index[-self.period :]], np.int64)
        lo, hi = self.bounds(np.asarray(index, np.int64))
        return int(lo.min(initial=FAR)), int(hi.max(initial=-FAR))

    def over(self, period: int) -> tuple[int, Indices, Indices]:
        """Returns step, lo and hi for a multiple of the period."""
        return self.step * period // self.period, *self.bounds(np.arange(period, dtype=np.int64))

    def moved(self, lo: int, hi: int) -> Span:
        """Returns the table with numbers added to all lower and to all upper bounds."""
        sees = self.lo <= self.hi
        return Span(self.step, np.where(sees, self.lo + lo, FAR), np.where(sees, self.hi + hi, -FAR))


def span_of(step: int, lo: Any, hi: Any) -> Span:
    """Returns the table with the shortest period that says the same."""
    lo, hi = np.asarray(lo, np.int64), np.asarray(hi, np.int64)
    period, sees = len(lo), lo <= hi
    if abs(step) > MOST_STEP or (sees.any() and max(abs(int(lo[sees].min())), abs(int(hi[sees].max()))) > MOST_STEP):
        raise NoSpan(f"reaches over more than {MOST_STEP} elements")
    for shorter in (each for each in range(1, period) if period % each == 0 and step * each % period == 0):
        short = Span(step * shorter // period, lo[:shorter], hi[:shorter])
        _, low, high = short.over(period)
        if np.array_equal(low, lo) and np.array_equal(high, hi):
            return short
    return Span(step, lo, hi)


def common(a: Span, b: Span) -> tuple[int, int, Indices, Indices, Indices, Indices]:
    """Returns the steps and the bounds of two tables for their common period: (step, step, lo, lo, hi, hi)."""
    period = math.lcm(a.period, b.period)
    if period > MOST_PERIOD:
        raise NoSpan(f"repeats only after {period} elements")
    (step, lo, hi), (other, low, high) = a.over(period), b.over(period)
    return step, other, lo, low, hi, high


def added(a: Span, b: Span) -> Span:
    """Returns the sums of bounds. An element that sees nothing in one table sees nothing."""
    step, other, lo, low, hi, high = common(a, b)
    sees = (lo <= hi) & (low <= high)
    return span_of(step + other, np.where(sees, lo + low, FAR), np.where(sees, hi + high, -FAR))


def united(a: Span, b: Span) -> Span:
    """Returns the table of elements that see what they see in either table. Both tables must move equally fast."""
    if a.step * b.period != b.step * a.period:
        raise NoSpan("joins results of different scales")
    step, _, lo, low, hi, high = common(a, b)
    return span_of(step, np.minimum(lo, low), np.maximum(hi, high))


@dataclass(frozen=True, eq=False)
class Taps:
    """The elements that element i = k * len(rows) + r reads along an axis: rows[r] + k * step."""

    step: int
    rows: Sequence[Indices]


def taps_of(step: int, rows: Sequence[Sequence[int] | range | Indices]) -> Taps:
    if sum(map(len, rows)) > MOST_TAPS or len(rows) > MOST_PERIOD:
        raise NoSpan(f"reads more than {MOST_TAPS} elements for one")
    return Taps(step, [np.asarray(row, np.int64) for row in rows])


SAME = taps_of(1, [[0]])


@dataclass(frozen=True, eq=False)
class Reads:
    """The elements that a node reads along one axis of its input: sums of one tap of each axis of the result in
    `taps`, and one element of `base`."""

    taps: Mapping[int, Taps]
    base: range | Indices = range(1)


def along(axis: int, taps: Taps = SAME) -> Reads:
    return Reads({axis: taps})


def whole_axis(extent: int) -> Reads:
    return Reads({}, range(extent))


FIRST = Reads({})
"""Reads the first element only, as for an axis of one element that is repeated."""


def composed(seen: Span, taps: Taps, base: range | Indices) -> Span:
    """Returns what elements see through taps. seen: what the read elements see."""
    count = seen.period // math.gcd(seen.period, taps.step)
    period = len(taps.rows) * count
    reads = np.asarray(base, np.int64) if len(base) > 1 or isinstance(base, np.ndarray) else np.zeros(1, np.int64) + base[0]
    if period > MOST_PERIOD or period * len(reads) * max(map(len, taps.rows)) > 1 << 22:
        raise NoSpan(f"repeats only after {period} elements")
    lo, hi = np.empty(period, np.int64), np.empty(period, np.int64)
    for number in range(period):
        times, rest = divmod(number, len(taps.rows))
        lo[number], hi[number] = seen.hull((taps.rows[rest][:, None] + reads + times * taps.step).reshape(-1))
    return span_of(taps.step * count // seen.period * seen.step, lo, hi)


def through(seen: Span, reads: Reads, shape: Sequence[int]) -> tuple[dict[int, Span], int, int]:
    """Returns what elements of a result see through a node: a table for each axis of the result, and the constant
    bounds that are added to them. seen: what the elements that the node reads see. shape: the result's."""
    if not reads.taps:
        return {}, *seen.hull(reads.base)
    even = {axis: _even(seen, taps) for axis, taps in reads.taps.items()}
    if sum(each is None for each in even.values()) > 1:
        return _through_grid(seen, reads, shape)
    # Each of these axes moves whole periods of the table only, so the others see what they see for its first element.
    last = next((axis for axis, each in even.items() if each is None), next(iter(reads.taps)))
    spans, begin = {}, 0
    for axis, each in even.items():
        if axis != last and each is not None:
            spans[axis], first = each
            begin += first
    spans[last] = composed(seen, reads.taps[last], np.asarray(reads.base, np.int64) + begin)
    return spans, 0, 0


def _even(seen: Span, taps: Taps) -> tuple[Span, int] | None:
    """Returns the table of taps that move by whole periods of `seen`, and the first tap; None for others."""
    first = next((int(row[0]) for row in taps.rows if len(row)), 0)
    moves = [(row - first) // seen.period * seen.step for row in taps.rows]
    if taps.step % seen.period or any(((row - first) % seen.period).any() for row in taps.rows):
        return None
    lo, hi = [each.min(initial=FAR) for each in moves], [each.max(initial=-FAR) for each in moves]
    return span_of(taps.step // seen.period * seen.step, lo, hi), first


def _through_grid(seen: Span, reads: Reads, shape: Sequence[int]) -> tuple[dict[int, Span], int, int]:
    """Does what `through` does for axes that move by parts of periods: computes the bounds of all elements, which
    must be sums of bounds along each axis."""
    axes = list(reads.taps)
    if math.prod(shape[axis] for axis in axes) > 1 << 20:
        raise NoSpan("reads too many elements to follow")
    index = np.zeros((1,) * len(axes), np.int64)
    for place, axis in enumerate(axes):
        taps, extent = reads.taps[axis], shape[axis]
        if len(reads.base) != 1 or any(len(row) != 1 for row in taps.rows):
            raise NoSpan("reads windows of elements that lie in no even steps")
        times, rest = np.divmod(np.arange(extent), len(taps.rows))
        values = np.array([row[0] for row in taps.rows])[rest] + times * taps.step
        index = index + values.reshape([-1 if each == place else 1 for each in range(len(axes))])
    lo, hi = seen.bounds(index + reads.base[0])
    if (lo > hi).any():
        raise NoSpan("reads elements in no even steps")
    low, high = _separated(lo, np.min), _separated(hi, np.max)
    spans, begin, end = {}, int(lo.flat[0]), int(hi.flat[0])
    for part, above, axis in zip(low, high, axes, strict=True):
        short = max(0, int((part - above).max()))  # a table has no upper bound below the lower one
        spans[axis] = fitted(part, above + short)
        end -= short
    return spans, begin, end


def _separated(bounds: Indices, extreme: Callable[..., Any]) -> list[Indices]:
    """Returns arrays, one for each axis, whose sum together with the first bound is never inside the bounds, and equals
    them if they are such a sum. extreme: np.min for lower bounds, np.max for upper ones."""
    parts = []
    while bounds.ndim:
        parts.append(extreme(bounds - bounds[:1], axis=tuple(range(1, bounds.ndim))))
        bounds = bounds[0]
    return parts


def parts_of(values: Indices) -> list[Indices] | None:
    """Returns arrays, one for each axis, whose sum together with the first value is `values`; None if there are
    none."""
    first, total, parts = values.flat[0], np.array(values.flat[0]), []
    for axis in range(values.ndim):
        part = values[tuple(slice(None) if each == axis else 0 for each in range(values.ndim))] - first
        parts.append(part)
        total = total + part.reshape([-1 if each == axis else 1 for each in range(values.ndim)])
    return parts if np.array_equal(total, values) else None


def fitted(lo: Indices, hi: Indices) -> Span:
    """Returns the table with the shortest period that holds for all elements of an axis. Elements at the ends that
    see nothing may get other bounds. If no period fits twice, the table is as long as the axis, with step 0."""
    known = np.flatnonzero(lo <= hi)
    if known.size == 0:
        return Span(0, np.array([FAR]), np.array([-FAR]))
    first, count = int(known[0]), int(known[-1] - known[0] + 1)
    low, high = lo[first : first + count], hi[first : first + count]
    for period, step in _periods(low, high):
        rows = Span(step, low[:period], high[:period]).bounds(np.arange(period, dtype=np.int64) - first)
        return span_of(step, *rows)
    if count == 1:
        return Span(0, low, high)
    return Span(0, lo, hi)


def _periods(lo: Indices, hi: Indices) -> Iterator[tuple[int, int]]:
    """Yields the periods, with their steps, that hold at least twice."""
    sees: NDArray[np.bool_] = lo <= hi
    for period in range(1, min(len(lo) // 2, MOST_PERIOD) + 1):
        step = int(lo[period] - lo[0])
        if not sees[period] or (sees[-1] and sees[-1 - period] and lo[-1] - lo[-1 - period] != step):
            continue
        after, before = slice(period, None), slice(None, -period)
        if (
            np.array_equal(sees[after], sees[before])
            and (np.where(sees, lo, 0)[after] - np.where(sees, lo, 0)[before] == np.where(sees[after], step, 0)).all()
            and (np.where(sees, hi, 0)[after] - np.where(sees, hi, 0)[before] == np.where(sees[after], step, 0)).all()
        ):
            yield period, step

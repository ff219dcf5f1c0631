# SPDX-License-Identifier: Apache-2.0
"""Measures the halo of any function: changes parts of its input, and looks which elements of its result change."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import InvalidType, InvalidValue, given_text
from .._typing import IntOrInts, Ints
from .halo import Halo
from .missing_axes import Way, called_with
from .probe import kind_of

NAME = "receptive_field"
# The most places along an axis that are changed, and the number of windows that are confirmed, for each axis.
MOST_PLACES, WINDOWS = 96, 6
REACHES_ENDS = "changes in the middle reach an end of the result: it sees the whole axis, or the shape is too small"
NO_STEPS = "results for elements at different places do not repeat in even steps"
NO_SHIFT = "a shifted input gives no shifted result: the function depends on the place in the array"
NO_PART = "a part of the array gives no part of the result: the function depends on the extent"
WIDER = "changes outside the measured window changed the result"
FAR_END = "an element near an end sees elements that are farther from this end than its window is long"

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class ReceptiveField:
    """The result of `receptive_field`; its text says what was measured, and how.

    halos: a Halo for each result and each axis of the input that it depends on. calls: how often the function was
    called.
    values: what was written at the changed places. nan_agrees: whether NaN reached the same elements as numbers; None if the
    function does not take NaN. places: the number of changed places along each tested axis. windows: the number of
    windows around which everything was changed at once, while the element of the result stayed the same.
    """

    halos: tuple[Halo, ...]
    calls: int
    values: tuple[str, ...]
    nan_agrees: bool | None
    places: dict[int, int]
    windows: int

    def __str__(self) -> str:
        places = ", ".join(f"{count} along axis {axis}" for axis, count in self.places.items())
        agreed = {True: "reaches what numbers reach", False: "reaches other elements", None: "is not taken"}
        return "\n".join([
            *map(str, self.halos),
            f"measured by {self.calls} calls: changed places: {places}; values: {', '.join(self.values)}; NaN"
            f" {agreed[self.nan_agrees]}",
            f"{self.windows} windows confirmed: all elements outside were changed at once, and the result stayed",
            "a function that looks farther for other values than these is not found out",
        ])  # fmt: skip


def receptive_field(
    fn: Callable[[Any], Any], shape: Ints, *, axes: IntOrInts | None = None, dtype: Any = "float32"
) -> ReceptiveField:
    """Measures how far each element of a function's result looks along each axis of its input.

    One place along an axis after the other is changed, to two numbers and to NaN, and the elements of the result that
    change are noted. Away from the ends they must repeat in even steps, from which scale and alignment follow. Then
    all elements outside the window of some elements of the result are changed at once. A shifted input must give a
    shifted result, and a part of the input a part of the result, if the function takes arrays of other extents.
    This is a measurement, not a proof: `patchfold.models.halo` computes the same from a model's graph.

    Arguments:
        fn: takes a NumPy array, and returns an array, or a tuple or dict of arrays. It must be deterministic.
        shape: of the array, large enough that the elements in the middle do not see the ends.
        axes: the axes of the array to test; all axes with more than one element by default. Each takes up to 300
        calls.
        dtype: element type of the array. NaN is written to floating types only.

    Returns: a ReceptiveField, whose text is the report.

    Raises: InvalidType for a function that cannot be called; InvalidValue for shapes and axes that are no such, and
        for a function that gives two results for one array.
    """
    if not callable(fn):
        raise InvalidType(NAME, "fn", "must be a function", given_text(fn))
    try:
        extents = tuple(operator.index(extent) for extent in shape)
        chosen = (
            range(len(extents))
            if axes is None
            else [operator.index(a) for a in (axes if isinstance(axes, Iterable) else [axes])]
        )
    except TypeError:
        raise InvalidType(NAME, "shape", "shape and axes must be integers", given_text(shape)) from None
    if not extents or min(extents) < 1:
        raise InvalidValue(NAME, "shape", "must have positive extents", str(extents))
    if any(not -len(extents) <= axis < len(extents) for axis in chosen):
        raise InvalidValue(
            NAME, "axes", "must be axes of the array", str(list(chosen)), f"{-len(extents)} to {len(extents) - 1}"
        )
    return _Probe(fn, extents, np.dtype(dtype)).run(sorted({axis % len(extents) for axis in chosen if extents[axis] > 1}))


@dataclass
class _Probe:
    fn: Callable[[Any], Any]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    calls: int = 0
    nan_taken: bool = True
    agrees: bool = True
    windows: int = 0
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def run(self, axes: Sequence[int]) -> ReceptiveField:
        self.nan_taken = self.dtype.kind == "f"
        self.x = self._random(self.shape)
        self.want = called_with(self._call, self.x, self._ways(), NAME)
        again = self._call(self.x)
        if any(_changed(want, again[name]).any() for name, want in self.want.items()):
            raise InvalidValue(NAME, "fn", "must give the same result for the same array", "two results")
        self._takes_nan()
        halos, places = [], {}
        for axis in axes:
            at = self._places(axis)
            places[axis] = len(at)
            found = [self._effects(axis, place) for place in at]
            for name in self.want:
                halo = self._halo(name, axis, at, [each[name] for each in found])
                if halo is not None:
                    halos.append(halo)
        values = ("two numbers", "NaN") if self.nan_taken else ("two numbers",)
        agrees = self.agrees if self.nan_taken else None
        return ReceptiveField(tuple(halos), self.calls, values, agrees, places, self.windows)

    def _ways(self) -> list[Way]:
        ones = [(1,) * count for count in (1, 2)]
        words = "fn takes an array with more axes in front: give shape="
        return [Way((None,) * len(more), 0, f"{words}{(*more, *self.shape)}") for more in ones]

    def _random(self, shape: Sequence[int]) -> Array:
        if self.dtype.kind in "fc":
            return self.rng.standard_normal(shape).astype(self.dtype)
        return self.rng.integers(0, 2 if self.dtype.kind == "b" else 100, shape).astype(self.dtype)

    def _call(self, x: Array) -> dict[str, Array]:
        self.calls += 1
        given = self.fn(x.copy())
        kind = kind_of(given)
        if kind is None:
            return {"result": np.asarray(given)}
        pairs = given.items() if kind is dict else enumerate(given)
        return {f"result {name}": np.asarray(value) for name, value in pairs}

    def _takes_nan(self) -> None:
        if not self.nan_taken:
            return
        x = self.x.copy()
        x.flat[x.size // 2] = np.nan
        try:
            self._call(x)
        except Exception:  # a function may refuse NaN in any way
            self.nan_taken = False

    def _places(self, axis: int) -> range:
        extent = self.shape[axis]
        count = min(extent, MOST_PLACES)
        return range((extent - count) // 2, (extent - count) // 2 + count)

    def _effects(self, axis: int, place: int) -> dict[str, Array]:
        """Returns for each result which elements change if the elements at a place along an axis change."""
        at = (*[slice(None)] * axis, place)
        changed: dict[str, list[Array]] = {name: [] for name in self.want}
        for turn in range(2 + self.nan_taken):
            x = self.x.copy()
            x[at] = np.nan if turn == 2 else self._other(x[at], turn)
            for name, given in self._call(x).items():
                changed[name].append(_changed(self.want[name], given))
        if self.nan_taken:
            self.agrees &= all(np.array_equal(parts[0] | parts[1], parts[2]) for parts in changed.values())
        return {name: np.any(parts, axis=0) for name, parts in changed.items()}

    def _other(self, part: Array, turn: int) -> Array:
        """Returns values that differ from those of a part in each element."""
        if self.dtype.kind == "b":
            return ~part
        if self.dtype.kind in "fc":
            return (part * 1000 - 500 if turn else part + 3).astype(self.dtype)
        return ((part + (50 if turn else 1)) % 100).astype(self.dtype)

    def _halo(self, name: str, axis: int, at: range, effects: Sequence[Array]) -> Halo | None:
        rank = self.want[name].ndim
        if not any(each.any() for each in effects):
            return None
        reason = REACHES_ENDS
        for along in sorted(range(rank), key=lambda other: abs(rank - other - len(self.shape) + axis)):
            rows = np.array([each.any(axis=tuple(other for other in range(rank) if other != along)) for each in effects])
            if rows.shape[1] < 2 or (rows == rows[0]).all():
                continue
            ends = rows[:, 0] | rows[:, -1]
            apart = np.flatnonzero(rows.any(axis=1) & ~ends)  # places whose changes reach no end of the result
            if apart.size == 0 or ends[apart[0] : apart[-1]].any():
                continue
            inner = range(int(apart[0]), int(apart[-1]) + 1)
            found = _repeats(rows[inner])
            if found is None:
                reason = NO_STEPS
                continue
            scale, alignment = Fraction(found[1], found[0]), found[0]
            seen = [(int(i / scale), at[number]) for number in inner for i in np.flatnonzero(rows[number]).tolist()]
            halo = Halo(name, "x", axis, along, max(i - j for i, j in seen), max(j - i for i, j in seen), alignment, scale)
            return self._confirmed(halo, found[1])
        return Halo(name, "x", axis, None, None, None, None, None, (reason,))

    def _confirmed(self, halo: Halo, period: int) -> Halo:
        """Returns a measured halo with the alignment that shifts need, or an unbounded one if it does not hold."""
        assert halo.alignment is not None and halo.scale is not None
        steps = range(1, max(1, self.shape[halo.axis] // (4 * halo.alignment)) + 1)
        step = next((step for step in steps if self._shifts(halo, step * halo.alignment, step * period)), None)
        reason = NO_SHIFT if step is None else self._holds(halo)
        if not reason and step is not None:
            halo = replace(halo, alignment=step * halo.alignment)
            reason = "" if self._has_parts(halo) else NO_PART
        return Halo(halo.output, halo.input, halo.axis, None, None, None, None, None, (reason,)) if reason else halo

    def _has_parts(self, halo: Halo) -> bool:
        """Returns whether the function of a part of the array gives a part of the result; also if it takes no part."""
        align = halo.alignment or 1
        extent = self.shape[halo.axis] // align * align - 2 * align
        return extent < 1 or is_part(self._call, self.x, self.want[halo.output], halo, extent)

    def _inner(self, halo: Halo) -> list[int]:
        """Returns the elements of the result whose windows lie inside the array."""
        assert halo.before is not None and halo.after is not None and halo.scale is not None and halo.output_axis is not None
        length, extent = self.want[halo.output].shape[halo.output_axis], self.shape[halo.axis]
        place = [int(i / halo.scale) for i in range(length)]
        return [i for i, j in enumerate(place) if j >= halo.before and j + halo.after < extent]

    def _shifts(self, halo: Halo, by: int, moved: int) -> bool:
        """Returns whether the function of an input that is moved by some elements gives the moved result."""
        along, every = halo.output_axis, set(self._inner(halo))
        inner = [i for i in sorted(every) if i + moved in every]
        if not inner:
            return False
        given = self._call(np.roll(self.x, -by, halo.axis))[halo.output].take(inner, along)
        return _near(given, self.want[halo.output].take([i + moved for i in inner], along))

    def _holds(self, halo: Halo) -> str:
        """Returns why elements of the result change if all elements outside their windows change; empty if they stay the
        same."""
        assert halo.before is not None and halo.after is not None and halo.scale is not None and halo.output_axis is not None
        inner = self._inner(halo)
        ends = sorted(set(range(self.want[halo.output].shape[halo.output_axis])) - set(inner))
        chosen = [inner[int(self.rng.integers(len(inner)))] for _ in range(WINDOWS)]
        for turn, i in enumerate([*chosen, *ends[:1], *ends[-1:]]):
            place = int(i / halo.scale)
            first, last, reach = place - halo.before, place + halo.after, max(halo.before, halo.after)
            if first < 0:  # padding may repeat or mirror elements near the end
                last = max(last, reach)
            if place + halo.after >= self.shape[halo.axis]:
                first = min(first, self.shape[halo.axis] - 1 - reach)
            x = self._random(self.shape)
            if turn % 3 == 2 and self.nan_taken:
                x[...] = np.nan
            at = (*[slice(None)] * halo.axis, slice(max(first, 0), last + 1))
            x[at] = self.x[at]
            given = self._call(x)[halo.output]
            if _changed(self.want[halo.output].take(i, halo.output_axis), given.take(i, halo.output_axis)).any():
                return WIDER if turn < WINDOWS else FAR_END
            self.windows += 1
        return ""


def is_part(call: Callable[[Array], dict[str, Array]], x: Array, want: Array, halo: Halo, extent: int) -> bool:
    """Returns whether the elements of a result that see only a part of an array are those of the result for the part; also
    if the function takes no such part. want: the result for the array. extent: of the part, which begins at the
    alignment."""
    before, after, scale, along = halo.before, halo.after, halo.scale, halo.output_axis
    assert before is not None and after is not None and scale is not None and along is not None
    begin = halo.alignment or 1
    end = begin + extent
    try:
        given = call(x.take(range(begin, end), halo.axis))[halo.output]
    except Exception:  # a function may refuse an extent in any way
        return True
    moved, rest = int(begin * scale), list(given.shape)
    rest[along : along + 1] = want.shape[along : along + 1]
    if tuple(rest) != want.shape:
        return False
    places = ((i, int(i / scale)) for i in range(moved, min(want.shape[along], moved + given.shape[along])))
    inner = [i for i, place in places if begin <= place - before and place + after < end]
    return _near(given.take([i - moved for i in inner], along), want.take(inner, along))


def _near(given: Array, want: Array) -> bool:
    if want.dtype.kind in "fc":
        near = 1e-4 * float(np.abs(np.nan_to_num(want)).max(initial=0))
        return bool(np.allclose(given, want, rtol=1e-3, atol=near, equal_nan=True))
    return np.array_equal(given, want)


def _changed(want: Array, given: Array) -> Array:
    if want.shape != given.shape:
        raise InvalidValue(NAME, "fn", "must give results of one shape", str(given.shape), str(want.shape))
    return ~np.asarray((given == want) | ((given != given) & (want != want)))


def _repeats(rows: npt.NDArray[np.bool_]) -> tuple[int, int] | None:
    """Returns the least number of rows after which all rows repeat, and by how many columns they are then moved; None
    if no number fits twice."""
    sets = [np.flatnonzero(row) for row in rows]
    for count in range(1, len(sets) // 2 + 1):
        moves = set()
        for a, b in zip(sets, sets[count:], strict=False):
            if len(a) != len(b):
                break
            moves |= set((b - a).tolist())
        else:
            if len(moves) == 1 and (move := moves.pop()) > 0:
                return count, move
    return None

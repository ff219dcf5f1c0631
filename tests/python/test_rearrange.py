# SPDX-License-Identifier: Apache-2.0
"""Compares rearrange with the meaning of random patterns, element by element. Wrong patterns are in wrong_calls."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import patchfold
from hypothesis import given, settings
from hypothesis import strategies as st

REST = "..."


class Case(NamedTuple):
    left: list[list[str]]
    right: list[list[str]]
    extents: dict[str, int]
    rest: tuple[int, ...]
    """The extents of the axes that the ellipsis stands for."""
    sizes: dict[str, int]

    def pattern(self) -> str:
        def side(groups: list[list[str]]) -> str:
            return " ".join(group[0] if len(group) == 1 else f"({' '.join(group)})" for group in groups)

        return f"{side(self.left)} -> {side(self.right)}"


def grouped(draw: Any, names: list[str]) -> list[list[str]]:
    groups: list[list[str]] = []
    for name in names:
        if groups and draw(st.integers(0, 2)) == 0:
            groups[-1].append(name)
        else:
            groups.append([name])
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        groups.insert(draw(st.integers(0, len(groups))), draw(st.sampled_from([[], ["1"]])))
    return groups


@st.composite
def cases(draw: Any) -> Case:
    names = ["a", "b_1", "cc", "x", "pattern", "é"][: draw(st.integers(0, 6))]
    least = 0 if draw(st.integers(0, 15)) == 0 else 1
    extents = {name: draw(st.integers(least, 4)) for name in names}
    before, after = draw(st.permutations(names)), draw(st.permutations(names))
    left, right = grouped(draw, before), grouped(draw, after)
    rest: tuple[int, ...] = ()
    if draw(st.booleans()):
        rest = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
        left.insert(draw(st.integers(0, len(left))), [REST])
        inside = [group for group in right if group and group != ["1"]]
        if inside and draw(st.integers(0, 3)) == 0:
            draw(st.sampled_from(inside)).append(REST)
        else:
            right.insert(draw(st.integers(0, len(right))), [REST])
    sizes = {}
    for group in left:
        derived = draw(st.sampled_from(group)) if group else None
        zero = any(extents.get(name) == 0 for name in group if name != derived)
        for name in group:
            if name in extents and (name != derived or zero or draw(st.integers(0, 3)) == 0):
                sizes[name] = extents[name]
    return Case(left, right, extents, rest, sizes)


def extent_of(case: Case, name: str) -> list[int]:
    return list(case.rest) if name == REST else [1] if name == "1" else [case.extents[name]]


def shape_of(case: Case, groups: list[list[str]]) -> tuple[int, ...]:
    shape: list[int] = []
    for group in groups:
        extents = [extent for name in group for extent in extent_of(case, name)]
        shape += extents if group == [REST] else [int(np.prod(extents, dtype=int))]
    return tuple(shape)


def place_of(case: Case, groups: list[list[str]], index: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Returns where an element lies in an array with the axes of one side, from its index along each name."""
    place: list[int] = []
    for group in groups:
        if group == [REST]:
            place += index[REST]
            continue
        along = 0
        for name in group:
            for i, extent in zip(index[name], extent_of(case, name), strict=True):
                along = along * extent + i
        place.append(along)
    return tuple(place)


def expected_of(case: Case, x: np.ndarray) -> np.ndarray:
    result = np.empty(shape_of(case, case.right), x.dtype)
    names = [*case.extents, REST]
    ranges = [itertools.product(*map(range, extent_of(case, name))) for name in names]
    for indices in itertools.product(*ranges):
        index = {"1": (0,), **dict(zip(names, indices, strict=True))}
        result[place_of(case, case.right, index)] = x[place_of(case, case.left, index)]
    return result


@settings(max_examples=400, deadline=None)
@given(cases(), st.sampled_from(["<i4", ">i8", "U2"]), st.booleans())
def test_each_element_goes_where_the_pattern_says(case: Case, dtype: str, flipped: bool) -> None:
    shape = shape_of(case, case.left)
    x = np.arange(int(np.prod(shape, dtype=int))).reshape(shape[::-1]).T.astype(dtype)
    x = x[(*(slice(None, None, -1),) * x.ndim, ...)] if flipped else x
    expected = expected_of(case, x)
    result = patchfold.rearrange(x, case.pattern(), **case.sizes)
    np.testing.assert_array_equal(result, expected, strict=True)
    assert result.flags.c_contiguous and not np.shares_memory(result, x)
    out = np.full(expected.shape[::-1], 9).astype(dtype).T[(*(slice(None, None, -1),) * expected.ndim, ...)]
    assert patchfold.rearrange(x, case.pattern(), **case.sizes, out=out) is out
    np.testing.assert_array_equal(out, expected)


def test_subclasses_and_sizes_of_numpy_are_taken() -> None:
    class Own(np.ndarray):
        pass

    x = np.arange(6).view(Own)
    result = patchfold.rearrange(x, "(a b) -> b a", a=np.int8(2))
    assert result.tolist() == [[0, 3], [1, 4], [2, 5]]

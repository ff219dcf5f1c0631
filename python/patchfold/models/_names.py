# SPDX-License-Identifier: Apache-2.0
"""The names of index maps: which operator of the family a map is, its arguments, and its pattern in einops' notation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._index_map import OUTSIDE, Digit, IndexMap, Indices, find, whole

INVERSE = {"unfold": "fold", "space_to_depth": "depth_to_space", "space_to_batch": "batch_to_space", "blocks": "blocks"}


@dataclass(frozen=True)
class Name:
    """What a map is: the neutral operator, its arguments, and the pattern, `source -> result` in einops' notation.

    `operator` is a function of patchfold, or "blocks" for a rearrangement of blocks that none of them is in one step.
    `exact` tells whether its result is the map's as it stands; otherwise the axes of the result lie in another order, which
    the pattern shows.
    """

    operator: str
    arguments: dict[str, Any] = field(default_factory=dict)
    pattern: str = ""
    exact: bool = True
    cut: tuple[int, ...] = ()  # the axes of the image that are cut

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.operator}({given})" if given else self.operator


@dataclass(frozen=True)
class _Window:
    """An axis of the source that is cut: the digit that counts positions, the one that counts taps, and the padding."""

    axis: int
    position: Digit
    tap: Digit
    pads: tuple[int, int]


def name_of(indices: Indices, source: Sequence[int]) -> Name | None:
    """The name of a map, or None if it is no operator of the family: a copy, a transposition, a slice, or another map."""
    source = tuple(source)
    if np.array_equal(indices.reshape(-1), whole(source).reshape(-1)):
        return None
    map = find(indices, source)
    # What puts blocks back is the inverse of a map that cuts.
    inverse = _inverse(indices, source)
    for name in (_cutting, _blocks):
        ways = [] if map is None or (way := name(map)) is None else [way]
        if inverse is not None and (way := name(inverse)) is not None:
            ways.append(_inverted(way, indices.shape))
        if ways:  # In 1-D a map may have two names; most models have channels first.
            return min(ways, key=lambda way: way.arguments.get("layout", ""))
    return None


def _inverse(indices: Indices, source: tuple[int, ...]) -> IndexMap | None:
    """The map from the result to the source, if each element of the source is in the result once."""
    if indices.size != math.prod(source) or (indices == OUTSIDE).any():
        return None
    back = np.full(indices.size, OUTSIDE, np.int64)
    back[indices.reshape(-1)] = np.arange(indices.size)
    return None if (back == OUTSIDE).any() else find(back.reshape(source), indices.shape)


def _inverted(name: Name, shape: tuple[int, ...]) -> Name:
    arguments = dict(name.arguments)
    if name.operator == "unfold":
        arguments = {"output_size": tuple(shape[axis] for axis in name.cut), **arguments}
    to, arrow, result = name.pattern.partition(" -> ")
    return Name(INVERSE[name.operator], arguments, f"{result}{arrow}{to}", name.exact, name.cut)


def _cutting(map: IndexMap) -> Name | None:
    """The operator that cuts the source, with the position and the tap of each window in the same order along all axes."""
    places = _places(map)
    cut = [axis for axis, found in places.items() if len(found) > 1]
    kept = [axis for axis, found in places.items() if len(found) == 1]
    if not cut or cut[0] == 0 or any(digit.step < 1 for digits in map.digits for digit in digits):
        return None
    if any(places[axis][0] != Digit(map.source[axis], axis, 1) or map.begins[axis] != 0 for axis in kept):
        return None
    for taps_first in (True, False):
        windows = _windows(map, cut, places, taps_first)
        if windows is not None and (name := _named(map, windows, kept)) is not None:
            return name
    return None


def _places(map: IndexMap) -> dict[int, list[Digit]]:
    """The digits of each axis of the source, in the order of the result."""
    places: dict[int, list[Digit]] = {}
    for digits in map.digits:
        for digit in digits:
            places.setdefault(digit.axis, []).append(digit)
    return dict(sorted(places.items()))


def _windows(map: IndexMap, cut: list[int], places: dict[int, list[Digit]], taps_first: bool) -> list[_Window] | None:
    windows = []
    for axis in cut:
        if len(places[axis]) != 2:
            return None
        first, second = places[axis]
        tap, position = (first, second) if taps_first else (second, first)
        begin = -map.begins[axis]
        reach = (tap.extent - 1) * tap.step + 1
        end = (position.extent - 1) * position.step + reach - map.source[axis] - begin
        if begin < 0 or end <= -position.step:
            return None
        # What an incomplete stride leaves of the padding cannot be seen: the same on both ends is the likely one.
        symmetric = (map.source[axis] + 2 * begin - reach) // position.step + 1 == position.extent
        windows.append(_Window(axis, position, tap, (begin, begin if symmetric else max(end, 0))))
    return windows


def _named(map: IndexMap, windows: list[_Window], kept: list[int]) -> Name | None:
    taps, positions = [w.tap for w in windows], [w.position for w in windows]
    holds = [set(digits) for digits in map.digits]
    # The axis of the result that has all taps, and what else it has.
    column = next((axis for axis, digits in enumerate(holds) if set(taps) <= digits), None)
    if column is None:
        return None
    mixed = list(map.digits[column])
    others = [digit for digit in mixed if digit not in taps]
    if [digit for digit in mixed if digit in taps] != taps or len(others) > 1 or (others and others[0].axis not in kept):
        return None
    if others and mixed[0] != others[0] and mixed[-1] != others[0]:
        return None
    spread = [[digit for digit in digits if digit in positions] for digits in map.digits]
    grid = [digits for digits in spread if digits]
    if [digit for digits in grid for digit in digits] != positions:
        return None
    flat = len(grid) == 1 and len(positions) > 1
    if not flat and len(grid) != len(positions):
        return None
    if any(digits and len(digits) != len(map.digits[axis]) for axis, digits in enumerate(spread)):
        return None
    channels_last = _channels_last(map.source, [w.axis for w in windows])
    if channels_last is None or (len(windows) == 1 and not others and _is_split(windows[0], map.source)):
        return None  # One axis in two, as heads of attention, cuts no blocks.
    if all(_is_split(w, map.source) for w in windows) and any(w.tap.step != 1 for w in windows):
        return None  # Blocks whose taps are the outer digit are read more simply as blocks.
    if not others and not _channels_are_near(map, kept, column):
        return None
    kernel = tuple(w.tap.extent for w in windows)
    layout = {"layout": "channels_last"} if channels_last else {}
    cut = tuple(w.axis for w in windows)
    if others and others[0].axis == 0 and len(map.source) > len(windows) + 1:
        blocks = all(w.tap.step == 1 and w.tap.extent == w.position.step for w in windows)
        if flat or not blocks or mixed[-1] != others[0]:
            return None
        arguments: dict[str, Any] = {"block": kernel} | _padding(windows) | layout
        return Name("space_to_batch", arguments, _pattern(map, windows), True, cut)
    channel_order = not others or mixed[0] == others[0]
    exact = (column > max(axis for axis, digits in enumerate(spread) if digits)) == channels_last
    exact = exact and (bool(others) or all(axis == 0 for axis in kept))
    if all(_is_split(w, map.source) for w in windows) and not flat and others:
        arguments = {"block": kernel, "mode": "depth_first" if channel_order else "blocks_first"} | layout
        return Name("space_to_depth", arguments, _pattern(map, windows), exact, cut)
    arguments = {"kernel_size": kernel}
    for key, values in (("stride", [w.position.step for w in windows]), ("dilation", [w.tap.step for w in windows])):
        if any(value != 1 for value in values):
            arguments[key] = tuple(values)
    arguments |= _padding(windows) | layout
    if not channel_order:
        arguments["order"] = "kernel"
    if not flat and len(positions) > 1:
        arguments["positions"] = "grid"
    return Name("unfold", arguments, _pattern(map, windows), exact, cut)


def _channels_are_near(map: IndexMap, kept: list[int], column: int) -> bool:
    """Whether channels that are not merged with taps lie right before them in the result: a reshape merges them."""
    behind_batch = [axis for axis in kept if axis != 0]
    if not behind_batch:
        return True
    return column > 0 and len(behind_batch) == 1 and [digit.axis for digit in map.digits[column - 1]] == behind_batch


def _is_split(window: _Window, source: tuple[int, ...]) -> bool:
    """Whether each element of the axis meets exactly one position and one tap."""
    digits = sorted((window.tap, window.position), key=lambda digit: digit.step)
    whole_axis = digits[0].extent * digits[1].extent == source[window.axis]
    return digits[0].step == 1 and digits[1].step == digits[0].extent and whole_axis


def _blocks(map: IndexMap) -> Name | None:
    """Blocks of at least two axes that change places in another way: each axis is cut into digits, which are merged anew."""
    places = _places(map)
    cut = [axis for axis, found in places.items() if len(found) > 1]
    for axis, digits in places.items():
        step = 1
        for digit in sorted(digits, key=lambda digit: digit.step):
            if digit.step != step:
                return None
            step *= digit.extent
        if step != map.source[axis] or map.begins[axis] != 0:
            return None
    merged = any(len({digit.axis for digit in digits}) > 1 for digits in map.digits)
    return Name("blocks", {}, _pattern(map, []), True, tuple(cut)) if merged and len(cut) > 1 else None


def _channels_last(source: tuple[int, ...], cut: list[int]) -> bool | None:
    """Whether the axis behind those that are cut holds channels; None if they do not lie side by side."""
    if cut != list(range(cut[0], cut[0] + len(cut))):
        return None
    return cut[-1] == len(source) - 2


def _padding(windows: list[_Window]) -> dict[str, Any]:
    pads = [w.pads for w in windows]
    if all(pad == (0, 0) for pad in pads):
        return {}
    if all(begin == end for begin, end in pads):
        return {"padding": tuple(begin for begin, _ in pads)}
    return {"padding": pads}


SPATIAL = {1: "x", 2: "hw", 3: "dhw"}


def _pattern(map: IndexMap, windows: list[_Window]) -> str:
    """The map in einops' notation: b for a batch, c for channels, kh for the taps of h."""
    places = _places(map)
    cut = [axis for axis, digits in places.items() if len(digits) > 1]
    spatial = SPATIAL.get(len(cut), "hijklmno")
    others = iter("bcefg" if 0 not in cut else "cefg")
    taps = {window.tap for window in windows}
    letters: dict[Digit, str] = {}
    left = []
    for axis in range(len(map.source)):
        digits = sorted(places.get(axis, []), key=lambda digit: (digit in taps, -digit.step))
        letter = spatial[cut.index(axis) % len(spatial)] if axis in cut else next(others, f"a{axis}")
        for number, digit in enumerate(digits):
            alone = len(digits) == 1 or (windows and digit not in taps)
            letters[digit] = letter if alone else f"k{letter}" if windows else f"{letter}{number + 1}"
        left.append(_group([letters[digit] for digit in digits]))
    return " ".join(left) + " -> " + " ".join(_group([letters[digit] for digit in digits]) for digits in map.digits)


def _group(names: list[str]) -> str:
    return names[0] if len(names) == 1 else "(" + " ".join(names) + ")" if names else "1"

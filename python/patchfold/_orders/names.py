# SPDX-License-Identifier: Apache-2.0
"""Finds names of index maps: the operator, its arguments, and its pattern in einops' notation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from .index_map import IndexMap, Indices, maps, whole
from .layouts import grouped, letters
from .readings import Found, readings

INVERSE = {"unfold": "fold", "space_to_depth": "depth_to_space", "space_to_batch": "batch_to_space", "blocks": "blocks"}


@dataclass(frozen=True)
class Name:
    """The name of a map: the neutral operator, its arguments, and the pattern `source -> result` in einops' notation.

    `operator` is a function of patchfold, or "blocks" for a rearrangement of blocks that no operator makes in one step: a
    call of rearrange with the pattern and the arguments, which are the extents of the parts of axes.
    `exact` tells whether the function gives exactly the map; otherwise the map's axes are in another order, which the
    pattern shows.
    """

    operator: str
    arguments: dict[str, Any] = field(default_factory=dict)
    pattern: str = ""
    exact: bool = True
    found: Found | None = None
    columns: tuple[int, ...] = ()
    """The shape of the columns: the function's result, or its input if the function is an inverse."""
    inverted: bool = False

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.operator}({given})" if given else self.operator


def window(stride: Sequence[int], dilation: Sequence[int], pads: Sequence[tuple[int, int]] = ()) -> dict[str, Any]:
    """Returns the arguments of an operator's window that are not the defaults."""
    steps = {"stride": tuple(stride), "dilation": tuple(dilation)}
    found: dict[str, Any] = {name: values for name, values in steps.items() if any(value != 1 for value in values)}
    return found | ({"padding": list(pads)} if any(any(pair) for pair in pads) else {})


def name_of(indices: Indices, source: Sequence[int]) -> Name | None:
    """Returns the name of a map; None for a map that no operator of blocks makes, such as a copy, a transposition or a
    slice."""
    source = tuple(source)
    if np.array_equal(indices.reshape(-1), whole(source).reshape(-1)):
        return None
    map = next(maps(indices, source), None)
    name = None if map is None else named(map, only_blocks=True)
    if name and name.inverted and name.exact and name.found and name.columns != source:
        return replace(name, exact=False)
    return name


def named(map: IndexMap, *, only_blocks: bool) -> Name | None:
    """Returns the name of a map in digits.

    only_blocks: whether maps that cut fewer than two axes of the source, such as transpositions and heads of attention, get
    None.
    """
    back, blocks = map.inverse(), _blocks(map, only_blocks)
    for naming in (_plain, _blocks):
        # A map that puts blocks back is the inverse of a map that cuts. A map of one spatial axis may be of both kinds, and
        # has two names.
        ways = [way for way in (naming(map, only_blocks), back and _inverted(naming(back, only_blocks))) if way]
        # If no axis holds both taps and positions, the map cuts windows. Its inverse may then look like a cut of one axis,
        # which is less likely.
        if blocks and blocks.found and blocks.found.is_apart():
            ways = [way for way in ways if not (way.inverted and way.found and 1 in way.found.kernel)]
        if ways:
            return min(ways, key=lambda way: str(way.arguments.get("layout", "")))
    cuts = sum(len(digits) > 1 for digits in map.places())
    found = None if only_blocks and (not cuts or back and cuts == 1) else next(readings(map), None)
    if only_blocks and cuts == 1 and found and found.is_split(of_crop=True):  # heads of attention in a slice of the axis
        return None
    if found and (only_blocks or found.layout or not back):
        return _name(map, found)
    return _rearranged(map, found) if back and not only_blocks else None


def _plain(map: IndexMap, only_blocks: bool) -> Name | None:
    """Returns the name of a map that cuts patches and puts each patch on one axis, as patchfold's functions do."""
    cut = [axis for axis, digits in enumerate(map.places()) if len(digits) > 1]
    first, has_inverse = None, map.inverse() is not None
    for number, found in enumerate(readings(map) if cut else ()):
        # A map that cuts one axis in two, such as heads of attention, cuts no blocks.
        beside = cut[:1] != [0] and any(word == "c" for word, _ in found.column())
        if found.is_plain() and (len(cut) > 1 or beside or found.is_batched() or not found.is_split(of_crop=only_blocks)):
            name, whole = _name(map, found), found.spatial_axes() == cut
            # With one channel, far more taps than positions mean that this reading exchanges the two, as for a matrix whose
            # rows are patches.
            likely = whole and name.exact and prod(found.kernel) <= 3 * prod(found.positions)
            if likely or (not only_blocks and (name.exact or (whole if has_inverse else number == 0))):
                return name
            first = first or (name if only_blocks and (whole or name.exact) else None)
    return first


def _name(map: IndexMap, found: Found) -> Name:
    """Returns the name of the function that cuts with the geometry of `found`."""
    last = found.image.place == "last"
    layout = {"layout": "channels_last"} if last else {}
    padding: dict[str, Any] = {}
    if any(any(pads) for pads in found.padding):
        same = all(begin == end for begin, end in found.padding)
        padding["padding"] = tuple(begin for begin, _ in found.padding) if same else list(found.padding)
    sequence, column = found.sequence(), found.column()
    taps, positions, channels, batch = (found.seen(letter) for letter in "kpcb")
    grid = [*positions, *channels] if last else [*channels, *positions]
    pattern = _pattern(map, found)
    if found.is_batched() and not found.is_flat():
        arguments = {"block": found.kernel} | padding | layout
        rest = (*found.positions, found.image.channels) if last else (found.image.channels, *found.positions)
        columns = (prod(found.kernel) * found.image.batch[0], *rest)
        return Name("space_to_batch", arguments, pattern, sequence == [*taps, *batch, *grid], found, columns)
    inner = [*taps, *channels] if found.order == "kernel" else [*channels, *taps]
    exact = sequence == [*batch, *(positions + inner if last else inner + positions)]
    beside = not channels or channels[0] in column
    depth, counts = found.image.channels * prod(found.kernel), found.positions
    if found.is_flat():
        counts = (prod(counts),)
    columns = (*found.image.batch, *((*counts, depth) if last else (depth, *counts)))
    if found.is_blocks() and column and beside and not found.is_flat():
        mode = "blocks_first" if found.order == "kernel" else "depth_first"
        return Name("space_to_depth", {"block": found.kernel, "mode": mode} | layout, pattern, exact, found, columns)
    arguments = {"kernel_size": found.kernel, **window(found.stride, found.dilation), **padding, **layout}
    if found.order == "kernel":
        arguments["order"] = "kernel"
    if not found.is_flat() and len(found.kernel) > 1:
        arguments["positions"] = "grid"
    return Name("unfold", arguments, pattern, exact, found, columns)


def _blocks(map: IndexMap, only_blocks: bool) -> Name | None:
    """Returns the name of a map in which blocks of at least two axes change places: axes are cut into digits, which join in
    another order. Tokens have rows and columns on one axis, which a model (only_blocks) cuts into four digits."""
    merges = any(len({digit.axis for digit in digits}) > 1 for digits in map.digits)
    cuts = [len(digits) for digits in map.places() if len(digits) > 1]
    if map.inverse() is None or not merges or not (len(cuts) > 1 or (only_blocks and cuts and cuts[0] > 3)):
        return None
    return _rearranged(map, next((found for found in readings(map) if found.is_blocks()), None))


def _rearranged(map: IndexMap, found: Found | None) -> Name:
    """Returns the name of a map for rearrange, with the extents of all axes in parentheses on either side of its pattern."""
    pattern = _pattern(map, has_batch=found is None or bool(found.image.batch))
    extents = (digit.extent for digits in map.digits for digit in digits)
    parts = " ".join(re.findall(r"\([^)]*\)", pattern))
    sizes = zip(re.findall(r"[a-z]\w*", pattern.partition(" -> ")[2]), extents, strict=True)
    return Name("blocks", {name: extent for name, extent in sizes if re.search(rf"\b{name}\b", parts)}, pattern, True, found)


def _inverted(name: Name | None) -> Name | None:
    """Returns the name of the inverse of a named map."""
    if name is None:
        return None
    arguments = name.arguments
    if name.operator == "unfold" and name.found:
        arguments = {"output_size": name.found.image.spatial, **arguments}
    to, arrow, result = name.pattern.partition(" -> ")
    return Name(INVERSE[name.operator], arguments, f"{result}{arrow}{to}", name.exact, name.found, name.columns, True)


def _pattern(map: IndexMap, found: Found | None = None, has_batch: bool = True) -> str:
    """Returns a map in einops' notation: b for a batch, c for channels, kh for the taps of h, or h1 and h2 for the parts of
    an axis without `found`. has_batch: whether an axis in front of those that are cut may be a batch."""
    spatial = [axis for axis, digits in enumerate(map.places()) if len(digits) > 1]
    taps = set()  # the numbers of the digits that are taps, in the order of the result
    if found:
        spatial = found.spatial_axes()
        taps = {number for number, (word, _) in enumerate(found.sequence()) if word == "k"}
    flat = [digit for digits in map.digits for digit in digits]
    others = iter("bcefg" if has_batch and 0 not in spatial else "cefg")
    names = [""] * len(flat)
    left = []
    for axis in range(len(map.source)):
        letter = letters(len(spatial))[spatial.index(axis) % 8] if axis in spatial else next(others, f"a{axis}")
        here = [number for number, digit in enumerate(flat) if digit.axis == axis]
        here.sort(key=lambda number: (number in taps, -flat[number].step))
        for place, number in enumerate(here):
            alone = len(here) == 1 or (taps and number not in taps)
            names[number] = letter if alone else f"k{letter}" if taps else f"{letter}{place + 1}"
        left.append(grouped([names[number] for number in here]))
    rest = iter(names)
    return " ".join(left) + " -> " + " ".join(grouped([next(rest) for _ in digits]) for digits in map.digits)

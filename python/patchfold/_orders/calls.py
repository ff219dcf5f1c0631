# SPDX-License-Identifier: Apache-2.0
"""Writes the call of patchfold for an index map that has a name."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .._errors import Error
from .._operators.token_orders import ORDERS
from .._operators.tokens import patchify
from .index_map import IndexMap, Shape, whole
from .names import Name

_WORDS = ("mode", "stride", "dilation", "padding", "value", "order", "merge_size", "positions", "layout")


def call_of(name: Name, map: IndexMap, fill: Any) -> tuple[str, str]:
    """Returns the name of patchfold's function, and the text of the call. fill: the value of padding."""
    found, given = name.found, dict(name.arguments)
    if found is None or name.operator == "blocks":
        return _call_of_blocks(name, map)
    image = map.shape if name.inverted else map.source
    if found.image.place == "none":
        image = (*found.image.batch, 1, *found.image.spatial)
    columns = name.columns if name.exact else map.source if name.inverted else map.shape
    if "kernel_size" in given:
        given["value"] = fill
        given["order"] = found.order
    left_out = {
        "value": (None, 0),
        "order": ("column",) if name.exact else (found.order,),
        "positions": () if name.exact else ("grid",),
    }
    given = {key: value for key, value in given.items() if value not in left_out.get(key, ())}
    takes, gives = (columns, image) if name.inverted else (image, columns)
    call = _typed(name.operator, map, takes, gives if name.exact else map.shape, given)
    return name.operator, call if name.exact else f"{call}, its axes rearranged to {found.image.text(found.axes)}"


def _typed(operator: str, map: IndexMap, takes: Shape, gives: Shape, given: dict[str, Any]) -> str:
    """Returns the text of a call, with reshapes if the function's shapes are not the map's."""
    parts = ["image" if takes == map.source else f"image.reshape{takes}"]
    parts += [str(value) for key, value in given.items() if key not in _WORDS]
    parts += [
        f"{key}={tuple(given[key]) if isinstance(given[key], list) else given[key]!r}" for key in _WORDS if key in given
    ]
    return f"patchfold.{operator}({', '.join(parts)})" + ("" if gives == map.shape else f".reshape{map.shape}")


def _call_of_blocks(name: Name, map: IndexMap) -> tuple[str, str]:
    if tokens := call_of_tokens(map):
        operator, given, takes, gives = tokens
        return operator, _typed(operator, map, takes, gives, given)
    groups = re.findall(r"\(([^)]*)\)", name.pattern.partition(" -> ")[0])
    rest = "".join(f", {each}={name.arguments[each]}" for group in groups for each in group.split()[1:])
    return "rearrange", f"patchfold.rearrange(image, {name.pattern!r}{rest})"


def call_of_tokens(map: IndexMap) -> tuple[str, dict[str, Any], Shape, Shape] | None:
    """Returns patchify or unpatchify for a map to or from tokens in merge blocks, with the function's arguments, and the
    shapes that the function takes and gives. Returns None for another map."""
    back = map.inverse()
    if tokens := _patchify(map):
        given, shape, _ = tokens
        return "patchify", given, map.source, shape
    if back and (tokens := _patchify(back)):
        given, shape, extents = tokens
        return "unpatchify", {"size": extents, **given}, shape, map.shape
    return None


def _patchify(map: IndexMap) -> tuple[dict[str, Any], Shape, Shape] | None:
    """Returns the arguments of patchify, the shape of the tokens and the spatial extents, for a map to tokens in merge
    blocks. Such a map cuts rows or columns in three: merge blocks, patches in a block, taps. Returns None for another
    map."""
    places = map.places()
    for layout, rows in (("channels_first", len(places) - 2), ("channels_last", len(places) - 3)):
        cut = [sorted(digits, key=lambda digit: digit.step) for digits in places[max(rows, 0) : rows + 2]]
        merge = {digits[1].extent for digits in cut if len(digits) == 3}
        if rows < 1 or len(merge) != 1 or not all(cut):
            continue
        patch, frames = tuple(digits[0].extent for digits in cut), {1, *(digit.extent for digit in places[max(rows - 2, 0)])}
        for order, kind in ORDERS.items():
            for size in [(count, *patch) for count in sorted(frames)] if kind.frames else [patch]:
                given: dict[str, Any] = {"patch_size": size, "order": order}
                given |= {} if merge == {kind.merge_size} else {"merge_size": min(merge)}
                given |= {} if layout == "channels_first" else {"layout": layout}
                try:
                    tokens = patchify(whole(map.source), **given)
                except Error:
                    continue
                if np.array_equal(tokens.reshape(-1), map.indices().reshape(-1)):
                    channel = -1 if layout == "channels_last" else 1 if kind.frames else 0
                    extents = list(map.source[-len(size) - 1 :])
                    del extents[channel]
                    return given, tokens.shape, tuple(extents)
    return None

# SPDX-License-Identifier: Apache-2.0
"""Calls of tilings, mergers and apply_tiled without mistakes, with their expected results."""

import inspect
from typing import Any

import numpy as np
import patchfold
import values
from choices import Choices
from legal import Call, formed

TILING = tuple(inspect.signature(patchfold.Tiling.__init__).parameters)[3:]
MERGER = tuple(inspect.signature(patchfold.Merger.__init__).parameters)[2:]
APPLY = tuple(inspect.signature(patchfold.apply_tiled).parameters)[3:]


def tile_call(choices: Choices) -> Call:
    extents = choices.several(2, 3, 8)
    x = values.plain_array((2, *extents), choices.pick(values.NUMBERS))
    tile = choices.several(2, 1, 3)
    given: dict[str, Any] = {"tile": tile, "overlap": tuple(choices.number(extent) for extent in tile)}
    given["tail"] = choices.pick(["shift", "pad", "partial"])
    merging = {"reduce": choices.pick(["mean", "max", "min", "first", "last", "center"])}
    if choices.chance(2):
        merging["window"] = choices.pick(["ones", "linear", "hann", "cosine", "gaussian", ("gaussian", 0.3)])
    if x.dtype.kind in "iu" and x.dtype.itemsize == 8 or merging["reduce"] in ("first", "last", "center", "max", "min"):
        merging["window"] = "ones"
    formed_x = formed(choices, x)
    swapped = merging["reduce"] in ("mean", "max", "min") and not formed_x.dtype.isnative
    formed_x = x if swapped else formed_x
    form = choices.number(4)
    if form == 0:
        arguments = {"fn": lambda part: part, "x": formed_x, **given, **merging, "progress": False}
        return Call("apply_tiled", applied, arguments, lambda: x, False, APPLY)
    if form == 1:
        arguments = {"x": formed_x, "shape": x.shape, **given, "index": -choices.number(2)}
        return Call("Tiling", _tiling, arguments, lambda: NotImplemented, False, TILING)
    arguments = {"x": formed_x, "shape": x.shape, **given, **merging, "index": 0, "part": None}
    return Call("Merger", _merged, arguments, lambda: x, False, (*TILING, *MERGER))


def applied(x: Any, **given: Any) -> Any:
    if issubclass(type(x), np.ndarray) and np.ndarray.size.__get__(x) > 10**4:  # there may be as many tiles
        return None
    return patchfold.apply_tiled(x=x, **given)


def opened(given: dict[str, Any]) -> tuple[Any, Any]:
    """Returns a tiling and its merger, for arguments of both, or None in place of a merger of very much."""
    t = patchfold.Tiling(**{name: value for name, value in given.items() if name not in MERGER})
    if len(t) > 1000 or int(np.prod(np.array(t.output_shape, float))) > 10**6:
        return t, None
    return t, patchfold.Merger(t, **{name: value for name, value in given.items() if name in MERGER})


def _tiling(x: Any, index: Any, **given: Any) -> Any:
    """Reads every attribute and calls every method of a tiling."""
    t = patchfold.Tiling(**given)
    repr(t), hash(t), t.shape, t.tile, t.stride, t.overlap, t.axes, t.output_shape, t.stream_axis
    if len(t) > 1000 or int(np.prod(np.array(t.output_shape, float))) > 10**6:
        return None
    for tile in t:
        repr(tile)
    assert patchfold.Tiling.from_json(t.to_json()) == t
    t.coverage()
    t.bytes(copy=True, sink=True)
    t.cut(x, index)
    return None


def _merged(x: Any, index: Any, part: Any, **given: Any) -> Any:
    """Cuts an array and merges its tiles again. `part`, if given, replaces the first tile."""
    t, opening = opened(given)
    if opening is None:
        return None
    with opening as merger:
        for i, tile in enumerate(t.split(x)):
            if i or part is None:
                merger.add(i, tile)
            else:
                merger.add(index, part)
        assert merger.waiting_bytes <= merger.peak_bytes
    return merger.finish()

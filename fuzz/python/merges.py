# SPDX-License-Identifier: Apache-2.0
"""Calls of tilings, mergers and apply_tiled without mistakes, with the results that they must return."""

import inspect
import math
import pickle
from typing import Any

import numpy as np
import patchfold
import values
from choices import Choices
from legal import Call, formed

TILING = tuple(inspect.signature(patchfold.Tiling.__init__).parameters)[3:]
MERGER = tuple(inspect.signature(patchfold.Merger.__init__).parameters)[2:]
APPLY = tuple(inspect.signature(patchfold.apply_tiled).parameters)[3:]


def _spec(choices: Choices) -> tuple[Any, dict[str, Any]]:
    """Returns an array, and arguments with which Tiling fits it."""
    extents = choices.several(2, 1, 8)
    x = values.plain_array((2, *extents), choices.pick(values.NUMBERS))
    tile = choices.several(2, 1, 4)
    given: dict[str, Any] = {"tile": tile, "overlap": tuple(choices.number(extent) for extent in tile)}
    given["tail"] = choices.pick(["shift_or_pad", "pad"])
    given["padding_mode"] = choices.pick(["constant", "edge", "symmetric"])
    return x, given


def place_call(choices: Choices) -> Call:
    """Returns a call that gets tiles by place and by slice, and cuts one tile with an unpickled copy of the tiling."""
    x, given = _spec(choices)
    given["padding_mode"] = "edge"
    steps = [tile - overlap for tile, overlap in zip(given["tile"], given["overlap"], strict=True)]
    begins, place = [], []
    for extent, tile, step in zip(x.shape[1:], given["tile"], steps, strict=True):
        count = math.ceil(max(extent - tile, 0) / step) + 1
        place.append(choices.number(count))
        begin = place[-1] * step
        begins.append(max(min(begin, extent - tile), 0) if given["tail"] == "shift_or_pad" else begin)
    reads = [np.arange(b, b + t).clip(0, e - 1) for b, t, e in zip(begins, given["tile"], x.shape[1:], strict=True)]
    bounds = [choices.pick([None, 0, 1, -1, 2]) for _ in range(2)]
    part = slice(*bounds, choices.pick([None, 1, -1, 2]))
    arguments = {"x": formed(choices, x), "shape": x.shape, **given, "place": tuple(place), "part": part}
    return Call("Tiling[]", _placed, arguments, lambda: x[:, reads[0][:, None], reads[1]], False, ("out", *TILING))


def _placed(x: Any, place: Any, part: Any, out: Any = None, **given: Any) -> Any:
    t = patchfold.Tiling(**given)
    again = pickle.loads(pickle.dumps(t))
    if len(t) <= 1000 and type(part) is slice:
        tiles = t[part]
        assert len({*tiles}) == len(tiles) and all(again[tile.position] == tile for tile in tiles)
    tile = t[place]
    if type(tile) is patchfold.Tile and np.prod(np.array(tile.shape, float)) > 10**6:
        return None
    return again.cut(x, place, out)


def weight_call(choices: Choices) -> Call:
    """Returns a merge of tiles cut from one array. Overlapping tiles agree, so weights do not change the result."""
    x, given = _spec(choices)
    merging: dict[str, Any] = {"reduce": choices.pick(["mean", "max", "min"])}
    if x.dtype.kind in "iu" and x.dtype.itemsize == 8 or merging["reduce"] != "mean":
        merging["window"] = "ones"
    tile = given["tile"]
    weights: list[Any] = [1, True, np.float32(1), np.ones(tile, bool), np.ones((2, 1, 1), np.int8), [[1]]]
    if x.dtype.kind not in "iu" or x.dtype.itemsize < 8:
        weights += [0.25, 1e-9, np.arange(1, tile[1] + 1), np.full((2, *tile), 3.5)]
    merging["copy"] = choices.chance(2)
    arguments = {"x": x, "shape": x.shape, **given, **merging, "weight": choices.pick(weights), "index": choices.number(3)}
    return Call("Merger.add", _weighed, arguments, lambda: x, False, (*TILING, *MERGER))


def _weighed(x: Any, weight: Any, index: Any, **given: Any) -> Any:
    """Merges weighted tiles. `index` selects how tiles are named: 0 by index, 1 by position, 2 as a Tile; other values
    always name the first tile."""
    t, merger = opened(given)
    if merger is None:
        return None
    try:
        for tile, part in zip(t, t.split(x), strict=True):
            forms = (tile.index, tile.position, tile)
            form = forms[index] if type(index) is int and 0 <= index < 3 else forms[0] if tile.index else index
            merger.add(form, part, weight=weight)
        repr(merger)
        return merger.finish()
    finally:
        merger.close()


def several_call(choices: Choices) -> Call:
    """Returns a call of apply_tiled whose function returns several results, for one tile or for a stack of tiles."""
    x, given = _spec(choices)
    form = choices.number(3)
    fn = [lambda t: (t, t), lambda t: [t, t], lambda t: {"a": t, "b": t}][form]
    arguments = {"fn": fn, "x": x, **given, "batch": choices.pick([None, 1, 3]), "reduce": "center", "progress": False}
    if choices.chance(2):
        rooms = [np.full(x.shape, 77, x.dtype), None]
        arguments["out"] = dict(zip("ab", rooms, strict=True)) if form == 2 else tuple(rooms)
    return Call("apply_tiled several", _several, arguments, lambda: np.stack([x, x]), False, APPLY)


def _several(x: Any, **given: Any) -> Any:
    results = applied(x, **given)
    return list(results.values()) if type(results) is dict else results


class Shelf:
    """A store as apply_tiled takes it: its slices can be read and written."""

    def __init__(self, array: Any) -> None:
        self.array = array

    shape = property(lambda self: self.array.shape)
    dtype = property(lambda self: self.array.dtype)

    def __getitem__(self, where: Any) -> Any:
        return self.array[where]

    def __setitem__(self, where: Any, part: Any) -> None:
        self.array[where] = part


def store_call(choices: Choices) -> Call:
    """Returns a call of apply_tiled that reads an array or a store, and writes an array, a store, a function or a new
    array."""
    x, given = _spec(choices)
    arguments = {"fn": lambda part: part, "x": Shelf(x) if choices.chance(2) else x, **given, "progress": False}
    arguments |= {"reduce": "center", "into": choices.pick(["array", "store", "function", "new"])}
    return Call("apply_tiled stores", _stored, arguments, lambda: x, False, tuple(name for name in APPLY if name != "out"))


def _stored(x: Any, into: Any, **given: Any) -> Any:
    if issubclass(type(x), np.ndarray) and np.ndarray.size.__get__(x) > 10**4:  # each element may be a tile
        return None
    room = np.full(x.shape, 77, x.dtype) if type(x) in (Shelf, np.ndarray) else None
    bands: list[Any] = []
    shelf = None if room is None else Shelf(room)
    outs = {"array": room, "store": shelf, "function": lambda rows, band: bands.append(band), "new": None}
    out = outs[into] if type(into) is str and into in outs else into
    result = patchfold.apply_tiled(x=x, out=out, **given)
    if bands:
        return np.concatenate(bands, 1)
    return result.array if type(result) is Shelf else result


def tile_call(choices: Choices) -> Call:
    extents = choices.several(2, 3, 8)
    x = values.plain_array((2, *extents), choices.pick(values.NUMBERS))
    tile = choices.several(2, 1, 3)
    given: dict[str, Any] = {"tile": tile, "overlap": tuple(choices.number(extent) for extent in tile)}
    given["tail"] = choices.pick(["shift", "pad", "partial"])
    merging = {"reduce": choices.pick(["mean", "max", "min", "first", "last", "center"])}
    if choices.chance(2):
        windows = ["ones", "linear", "hann", "cosine", "gaussian", ("gaussian", 0.3), "tukey", "hamming"]
        merging["window"] = choices.pick(windows)
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
    if issubclass(type(x), np.ndarray) and np.ndarray.size.__get__(x) > 10**4:  # each element may be a tile
        return None
    return patchfold.apply_tiled(x=x, **given)


def opened(given: dict[str, Any]) -> tuple[Any, Any]:
    """Returns a tiling and its merger, for arguments of both, with None in place of a merger of many tiles or elements."""
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
    """Cuts an array into tiles and merges them again. `part`, if given, replaces the first tile."""
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

# SPDX-License-Identifier: Apache-2.0
"""Single tiles of a tiling, and the ways to name a tile."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any, NamedTuple

from .. import _core
from .._arguments import is_integer
from .._errors import InvalidType, InvalidValue, value_text
from .tiling_arguments import TILING, wrong_type


@dataclass(frozen=True)
class Tile:
    """One tile. The slices and pads of a tile have an entry for every axis; along axes that are not tiled, slices cover
    everything."""

    index: int
    """Number of the tile, row-major over the grid: the last axis runs fastest."""
    position: tuple[int, ...]
    """Place in the grid, along the tiled axes."""
    read: tuple[slice, ...]
    """The part of the array that the tile holds: x[tile.read]."""
    write: tuple[slice, ...]
    """The part of the output that the result covers: y[tile.write] = result[tile.keep] if no other tile overlaps it."""
    keep: tuple[slice, ...]
    """The part of the tile's result that lies in the output."""
    pad: tuple[tuple[int, int], ...]
    """(begin, end) of each axis: the padding around the part that is read."""
    shape: tuple[int, ...]
    """Shape of the tile, padding included."""
    result_shape: tuple[int, ...]
    """Shape of the tile's result, with the array's extents along the axes that are not tiled."""
    origin: tuple[int, ...]
    """The place of the tile's first element in the array; negative along axes where the tile begins with padding."""

    def __hash__(self) -> int:
        return hash((self.index, self.position, self.shape, self.result_shape))  # slices have no hash in Python 3.11


def tile_of(native: _core.Tiling, number: int) -> Tile:
    position, spans = native.tile_at(number)
    place = {axis: i for i, axis in enumerate(native.axes)}
    rank = len(native.shape)

    def slices(begin: int, end: int) -> tuple[slice, ...]:
        return tuple(
            slice(spans[place[axis]][begin], spans[place[axis]][end]) if axis in place else slice(None)
            for axis in range(rank)
        )

    pads, extents, results, origins = [(0, 0)] * rank, list(native.shape), list(native.shape), [0] * rank
    for axis, i in place.items():
        begin, end, extent = spans[i][:3]
        results[axis], origins[axis] = spans[i][7:]
        before = min(max(-origins[axis], 0), extent)
        pads[axis], extents[axis] = (before, extent - (end - begin) - before), extent
    read, write, keep = slices(0, 1), slices(3, 4), slices(5, 6)
    return Tile(number, position, read, write, keep, tuple(pads), tuple(extents), tuple(results), tuple(origins))


class MergeBytes(NamedTuple):
    """The largest memory of a merger in bytes, if tiles come in ascending order."""

    tiles: int
    """Bytes of tiles, or of copies of their parts, that wait for their neighbours."""
    rows: int
    """Bytes of finished rows that are not written to the sink yet; 0 without a sink."""
    most: int
    """The largest sum of `tiles` and `rows` at any time."""


class TilingBase:
    """The data of a Tiling. Sources and specs use this class in place of Tiling, since Tiling imports their modules."""

    __slots__ = ("__weakref__", "_given", "_native", "_text")
    _given: dict[str, Any]
    _native: _core.Tiling
    _text: str


class TileIndexError(InvalidValue, IndexError):
    """An error about an index that no tile has."""


def index_of(grid: tuple[int, ...], index: Any) -> int:
    """Returns the number of a tile that is given by its number, by its place in the grid of tiles, or as a Tile."""
    if issubclass(type(index), Tile):
        index = index.index
    if isinstance(index, tuple):
        return _index_at(grid, index)
    if not is_integer(index):
        raise wrong_type("index", "must be the index of a tile", index)
    number, size = operator.index(index), math.prod(grid)
    if not -size <= number < size:
        expected = f"{-size} to {size - 1}" if size else "none: there are no tiles"
        raise TileIndexError(TILING, "index", "must be the index of a tile", value_text(number), expected)
    return number + size if number < 0 else number


def _index_at(grid: tuple[int, ...], position: tuple[Any, ...]) -> int:
    if len(position) != len(grid) or not all(map(is_integer, position)):
        rule = "must be the number of a tile, or its place in the grid"
        raise InvalidType(TILING, "index", rule, value_text(position), f"a place in the grid {grid}")
    number = 0
    for place, extent in zip(map(operator.index, position), grid, strict=True):
        if not -extent <= place < extent:
            rule = "must lie in the grid of tiles"
            raise TileIndexError(TILING, "index", rule, value_text(position), f"a place in the grid {grid}")
        number = number * extent + place % extent
    return number


def names_of(group: list[Tile]) -> str:
    first, last = group[0], group[-1]
    if first is last:
        return f"tile {first.index} at position {first.position}"
    return f"tiles {first.index} to {last.index} at positions {first.position} to {last.position}"

# SPDX-License-Identifier: Apache-2.0
"""The sources of tiles: an array, a store that returns slices, or a data set of rasterio."""

from __future__ import annotations

import itertools
import os
import sys
from typing import Any

import numpy as np

from .. import _core
from .._arrays.kinds import is_array, is_numpy, is_torch, module_of, shape_of
from .._arrays.memory import new_numpy, new_torch
from .._errors import InvalidType, InvalidValue, given_text
from .rasters import Raster, SourceNodata, is_raster
from .tile import Tile, TilingBase

APPLY = "apply_tiled"


class Source:
    """A source of tiles: an array, or a store that returns NumPy arrays for slices."""

    def __init__(self, x: Any, operator: str = APPLY, argument: str = "x") -> None:
        self.operator = operator
        self._names = {"operator": operator, "argument": argument}
        self.raster = x if is_raster(x) else None
        self.nodata = SourceNodata(x) if is_raster(x) else None
        self._x: Any = Raster(x) if is_raster(x) else x
        self.is_store = not is_array(x)
        """Whether tiles are read by slices; if not, x is an array."""
        self.takes_threads = not self.is_store or module_of(x) in ("zarr", "dask")
        """Whether several threads may read tiles at once."""
        if not self.is_store:
            shape, self.dtype, _ = _core.array_facts(x, operator, argument)
            self.kind = x
        elif self.raster is not None:
            shape, self.dtype, self.kind = self._x.shape, self._x.dtype, np.empty(0)
        elif hasattr(x, "shape") and hasattr(x, "dtype") and hasattr(x, "__getitem__"):
            shape, self.dtype, self.kind = shape_of(x, operator, argument), x.dtype, np.empty(0)
        else:
            raise InvalidType(
                **self._names,
                rule="must be an array, or have shape, dtype and slices that are arrays",
                given=given_text(x),
                expected=_instead_of(x, argument),
            )
        self.shape = tuple(shape)

    def of(self, tiling: TilingBase) -> Source:
        """Returns the source, after a check that it has the shape of the tiling."""
        shape = tiling._native.shape
        if self.shape != shape:
            rule = "must have the shape of the tiling"
            raise InvalidValue(**self._names, rule=rule, given=str(self.shape), expected=str(shape))
        return self

    def cut(self, tiling: TilingBase, tile: Tile) -> Any:
        if not self.is_store:
            return tiling._native.cut(tile.index, self._x, None)
        return self._region(tiling, tile)

    def stack(self, tiling: TilingBase, group: list[Tile]) -> Any:
        """Stacks tiles along a new first axis."""
        if self.is_store:
            return np.stack([self._region(tiling, tile) for tile in group])
        shape = (len(group), *group[0].shape)
        room: Any
        if is_numpy(self._x):
            room = new_numpy(shape, self._x.dtype)
        elif is_torch(self._x):
            room = new_torch(shape, self._x.dtype)
        else:
            parts = [tiling._native.cut(tile.index, self._x, None) for tile in group]
            module = module_of(self._x)
            space = sys.modules[module] if module == "tensorflow" else parts[0].__array_namespace__()
            return space.stack(parts)
        for i, tile in enumerate(group):
            tiling._native.cut(tile.index, self._x, room[i, ...])
        return room

    def _region(self, tiling: TilingBase, tile: Tile) -> Any:
        """Returns a tile of a store, padding included. Reads the part of the store that the tile and its padding need, never
        the whole."""
        reads = reads_of(tiling, tile)
        places = [_places(slices) for slices, _, _ in reads]
        shape = tuple(each[-1].stop for each in places)
        if all(len(each) == 1 for each in places):
            region = self._part(tuple(slices[0] for slices, _, _ in reads))
        else:
            region = np.empty(shape, np.dtype(self._x.dtype))
            slices = itertools.product(*(each for each, _, _ in reads))
            for part, place in zip(slices, itertools.product(*places), strict=True):
                region[place] = self._part(part)
        axes, given = tiling._native.axes, tiling._given
        before, behind = ([reads[axis][end] for axis in axes] for end in (1, 2))
        if any(before) or any(behind):
            extents = tuple(tile.shape[axis] for axis in axes)
            mode = (given["padding_mode"], given["value"])
            one = _core.Tiling.make(
                shape, extents, None, [], extents, "shift", axes, *mode, [(1, 1)], None, None, None, before, behind
            )
            return one.cut(0, region, None)
        return np.array(region)

    def _part(self, slices: tuple[slice, ...]) -> Any:
        """Returns a box of a store as an array of NumPy."""
        found = self._x[slices]
        if isinstance(found, np.ma.MaskedArray):
            raise InvalidType(
                **self._names,
                rule="slices must be arrays without a mask, which would be lost",
                given=given_text(type(self._x)),
                expected=f"{self._names['argument']}.set_auto_mask(False) for netCDF4, or values in place of what is masked",
            )
        region = np.asarray(found)
        shape = tuple(each.stop - each.start for each in slices)
        if region.shape != shape:
            raise InvalidValue(**self._names, rule="slices must be arrays", given=str(region.shape), expected=str(shape))
        return region


def reads_of(tiling: TilingBase, tile: Tile) -> list[tuple[list[slice], int, int]]:
    """Returns, for each axis, the slices of the array that a tile and its padding need, side by side, and how many elements
    the tile has before and behind them; negative if the tile does not have all of their elements. Padding of these slices
    alone gives the padding of the array."""
    places = zip(tile.origin, tile.shape, tiling._native.shape, strict=True)
    return [_reads_along(origin, length, extent, tiling._given["padding_mode"]) for origin, length, extent in places]


def _reads_along(origin: int, length: int, extent: int, mode: str) -> tuple[list[slice], int, int]:
    end = origin + length
    begin, stop = min(max(origin, 0), extent), min(max(end, 0), extent)
    if (begin, stop) == (origin, end) or not extent:
        return [slice(begin, stop)], 0, 0
    if mode == "wrap" and length <= extent:
        first = origin % extent
        slices = [slice(first, min(first + length, extent)), slice(0, first + length - extent)]
        return slices[: 1 if slices[1].stop <= 0 else 2], 0, 0
    if mode == "wrap" or (mode != "constant" and max(-origin, end - extent) >= extent):
        begin, stop = 0, extent
    else:
        begin, stop = min(begin, extent - 1), max(stop, 1)  # native tilings need an element
        # Padding of p elements repeats at most the p + 1 elements at its end of the array.
        if mode != "constant" and origin < 0:
            begin, stop = 0, max(stop, 1 - origin)
        if mode != "constant" and end > extent:
            begin, stop = min(begin, 2 * extent - 1 - end), extent
    return [slice(begin, stop)], begin - origin, end - stop


def _places(slices: list[slice]) -> list[slice]:
    """Returns where slices lie in an array that holds them side by side."""
    ends = list(itertools.accumulate(each.stop - each.start for each in slices))
    return [slice(begin, end) for begin, end in itertools.pairwise([0, *ends])]


def _instead_of(x: Any, name: str) -> str:
    """Returns a hint for an object that cannot be cut into tiles: the call to type instead."""
    if isinstance(x, (list, tuple, int, float)):
        return f"numpy.asarray({name})"
    if issubclass(type(x), (str, os.PathLike)):
        return "an opened file, as of rasterio.open, zarr.open or numpy.load, or patchfold.dask"
    if hasattr(x, "keys") and hasattr(x, "__getitem__") and not hasattr(x, "ndim"):  # a group of xarray, zarr or h5py
        return f"one array of it: {name}['name']"
    if hasattr(x, "__array__") or hasattr(x, "__array_interface__"):
        return f"numpy.asarray({name})"
    return ""

# SPDX-License-Identifier: Apache-2.0
"""The sources of tiles: an array, a store that returns slices, or a data set of rasterio."""

from __future__ import annotations

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
        self._is_array = is_array(x)
        if self._is_array:
            shape, self.kind = _core.array_facts(x, operator, argument)[0], x
        elif self.raster is not None:
            shape, self.kind = self._x.shape, np.empty(0)
        elif hasattr(x, "shape") and hasattr(x, "dtype") and hasattr(x, "__getitem__"):
            shape, self.kind = shape_of(x, operator, argument), np.empty(0)
        else:
            raise InvalidType(
                **self._names,
                rule="must be an array, or have shape, dtype and slices that are arrays",
                given=given_text(x),
                expected=_instead_of(x, argument),
            )
        self.shape = tuple(shape)

    @property
    def dtype(self) -> Any:
        return self._x.dtype

    def of(self, tiling: TilingBase) -> Source:
        """Returns the source, after a check that it has the shape of the tiling."""
        shape = tiling._native.shape
        if self.shape != shape:
            rule = "must have the shape of the tiling"
            raise InvalidValue(**self._names, rule=rule, given=str(self.shape), expected=str(shape))
        return self

    def cut(self, tiling: TilingBase, tile: Tile) -> Any:
        if self._is_array:
            return tiling._native.cut(tile.index, self._x, None)
        return self._region(tiling, tile)

    def stack(self, tiling: TilingBase, group: list[Tile]) -> Any:
        """Stacks tiles along a new first axis."""
        if not self._is_array:
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
        extra = [min(read.start or 0, pad[1] + 1) if pad[1] else 0 for read, pad in zip(tile.read, tile.pad, strict=True)]
        given = tiling._given
        if given["padding_mode"] == "constant":
            extra = [0] * len(extra)
        read = tuple(
            slice(each.start - more, each.stop) if more else each for each, more in zip(tile.read, extra, strict=True)
        )
        found = self._x[read]
        if isinstance(found, np.ma.MaskedArray):
            raise InvalidType(
                **self._names,
                rule="slices must be arrays without a mask, which would be lost",
                given=given_text(type(self._x)),
                expected=f"{self._names['argument']}.set_auto_mask(False) for netCDF4, or values in place of what is masked",
            )
        region = np.asarray(found)
        shape = tuple(
            extent if each == slice(None) else each.stop - each.start for each, extent in zip(read, self.shape, strict=True)
        )
        if region.shape != shape:
            raise InvalidValue(**self._names, rule="slices must be arrays", given=str(region.shape), expected=str(shape))
        if any(pad[1] for pad in tile.pad):
            axes = tiling._native.axes
            extents = tuple(tile.shape[axis] + extra[axis] for axis in axes)
            padding = (given["padding_mode"], given["value"])
            one = _core.Tiling.make(shape, extents, None, [], extents, "pad", axes, *padding, [(1, 1)], None, None, None)
            region = one.cut(0, region, None)[tuple(slice(more, None) for more in extra)]
        return np.array(region)


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

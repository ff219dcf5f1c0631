# SPDX-License-Identifier: Apache-2.0
"""The sources of apply_tiled: dask arrays, zarr arrays, OME-Zarr images, DataArrays of xarray, NumPy arrays."""

from __future__ import annotations

import operator
import os
import sys
from dataclasses import dataclass
from typing import Any

import dask.array
import numpy as np
import zarr
from dask.base import tokenize

from .._errors import InvalidType, InvalidValue, given_text
from .._tiles.ome_zarr import multiscales_of
from .._tiles.tile import Tile
from .._tiles.tiling import Tiling
from .._typing import Int
from ._chunks import NAME

_array: Any = dask.array  # dask's functions have no types

_KINDS = (
    "a dask array, a zarr array or the path of one, an OME-Zarr image, a DataArray of xarray, or a NumPy array; of other "
    "stores dask.array.from_array(x, chunks=..)"
)


@dataclass(frozen=True)
class Source:
    """A source of tiles, which any process can open."""

    array: Any
    """A dask array or a zarr array."""
    token: str
    """A text that identifies the content. The text of a store depends on its path and metadata only."""
    text: str
    """A short description of the source."""
    labelled: Any = None
    """The DataArray that the source comes from."""
    image: dict[str, Any] | None = None
    """The multiscales entry, with one level, of the OME-Zarr image that the source comes from."""
    stacked: bool = False
    """True if the zarr array holds tiles along its first axis, False if tiles are cut from the array."""

    reads: Any = None
    """The object that tasks read tiles from, in place of the array."""

    @property
    def kind(self) -> str:
        """The kind of a store that is made for the result."""
        return "image" if self.image is not None else "labelled" if self.labelled is not None else "array"

    @property
    def lazy(self) -> Any:
        """The dask array; None for other sources."""
        return None if isinstance(self.array, zarr.Array) else self.array

    @property
    def store(self) -> Any:
        """The zarr array; None for other sources."""
        return self.array if isinstance(self.array, zarr.Array) else None

    @property
    def reader(self) -> Any:
        """The object that tasks read tiles from; None for a dask array."""
        if self.reads is not None or not isinstance(self.array, zarr.Array):
            return self.reads
        return Stack(self.array) if self.stacked else Stored(self.array)


@dataclass(frozen=True)
class Stored:
    """A zarr array that tiles are cut from."""

    array: Any

    def read(self, tiling: Tiling, tile: Tile) -> Any:
        return tiling.read(self.array, tile)


@dataclass(frozen=True)
class Stack:
    """A zarr array of tiles along its first axis."""

    array: Any

    def read(self, tiling: Tiling, tile: Tile) -> Any:
        return np.asarray(self.array[tile.index])


def source_of(x: Any, level: Int = 0) -> Source:
    """Opens a source. level: the level of an image with several resolutions, 0 for the finest."""
    if isinstance(x, (str, os.PathLike)):
        x = _opened(x)
    if isinstance(x, zarr.Group):
        return _image(x, level)
    if isinstance(x, zarr.Array):
        return Source(x, _token_of_store(x), f"{x.store_path}")
    if isinstance(x, dask.array.Array):
        _check_known(x)
        return Source(x, x.name, x.name)
    xarray = sys.modules.get("xarray")
    if xarray is not None and isinstance(x, xarray.DataArray):
        chunked = x if x.chunks is not None else x.chunk("auto")
        _check_known(chunked.data)
        return Source(chunked.data, chunked.data.name, str(x.name or "a DataArray"), labelled=x)
    if isinstance(x, np.ndarray):
        array = _array.from_array(x, name=f"patchfold-source-{tokenize(x)}")
        return Source(array, array.name, array.name)
    raise InvalidType(NAME, "source", "must be one of these", given_text(x), _KINDS)


def _opened(path: Any) -> Any:
    try:
        return zarr.open(path, mode="r")
    except Exception as error:
        rule = "must be the path or URL of a zarr array or an OME-Zarr image"
        raise InvalidValue(NAME, "source", rule, f"{os.fspath(path)}: {type(error).__name__}: {error}") from error


def _check_known(array: Any) -> None:
    if any(np.isnan(extent) for extent in array.shape):
        raise InvalidValue(NAME, "source", "must know its chunks", str(array.chunks), "array.compute_chunk_sizes()")


def _token_of_store(array: Any) -> str:
    return tokenize(str(array.store_path), array.metadata.to_dict())


def _image(group: Any, given: Int) -> Source:
    """Opens a level of an OME-Zarr image (versions 0.4 and 0.5)."""
    level = operator.index(given)
    entry = multiscales_of(group)
    if entry is None:
        names = ", ".join(sorted(group.array_keys())) or "none"
        rule = "must be an array, or a group with the multiscales of an OME-Zarr image"
        raise InvalidType(NAME, "source", rule, f"a group with the arrays {names}", "the path of one array of it")
    levels = entry["datasets"]
    if not 0 <= level < len(levels):
        raise InvalidValue(NAME, "level", "must be a level of the image", str(level), f"0 to {len(levels) - 1}")
    array: Any = group[levels[level]["path"]]
    image = {"axes": entry.get("axes"), "name": entry.get("name"), "dataset": levels[level]}
    return Source(array, _token_of_store(array), f"{array.store_path}", image=image)

# SPDX-License-Identifier: Apache-2.0
"""Makes stores: an array, an OME-Zarr image with one level, or a data set of xarray with its coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import dask.array
import numpy as np
import zarr

from .._errors import InvalidValue
from .._tiles.tiling import Tiling
from ._chunks import NAME
from ._sources import Source

_LARGEST_INNER = 512
_SMALLEST_INNER = 128


@dataclass(frozen=True)
class Layout:
    """The form of a store that is to be made."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    chunks: tuple[int, ...]
    """The extents of a box that a task writes as a whole."""
    path: str = ""
    """The path of the array inside the store."""
    attributes: dict[str, Any] | None = None
    """The attributes of the group around the array."""
    labelled: Any = None
    """A DataArray of the result's shape, with the coordinates that the result keeps."""


def layout_of(
    source: Source,
    tiling: Tiling,
    axes: tuple[int, ...],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    extents: tuple[tuple[int, ...], ...],
) -> Layout:
    """Returns the form of a store for the result of a source, of the source's kind. axes: the tiled axes of the result."""
    chunks = tuple(max(each[0], 1) if each else 1 for each in extents)
    for axis, each in enumerate(extents):
        if any(extent != chunks[axis] for extent in each[:-1]) or (each and each[-1] > chunks[axis]):
            rule = "must be the same everywhere for a store, but for the last along an axis"
            raise InvalidValue(NAME, "chunks", rule, str(each[:8]), str(chunks[axis]))
    if source.image is not None and len(shape) == len(tiling.shape):
        return Layout(shape, dtype, chunks, "0", _image_attributes(source.image, tiling))
    if source.labelled is not None:
        name = source.labelled.name
        empty = dask.array.zeros(shape, dtype=dtype, chunks=chunks)
        path = name if isinstance(name, str) and name else "result"
        return Layout(shape, dtype, chunks, path, labelled=labelled_like(source.labelled, empty, tiling, axes))
    return Layout(shape, dtype, chunks)


def create(store: Any, layout: Layout) -> Any:
    """Makes the store and returns its array."""
    inner = tuple(map(_inner, layout.chunks))
    options: dict[str, Any] = {"chunks": inner, "shards": None if inner == layout.chunks else layout.chunks}
    if layout.labelled is not None:
        encoding = {layout.path: {name: value for name, value in options.items() if value is not None}}
        data = layout.labelled.to_dataset(name=layout.path)
        data.to_zarr(store, mode="w", compute=False, zarr_format=3, consolidated=False, encoding=encoding)
        return zarr.open_array(store, path=layout.path, mode="r+")
    if layout.attributes is not None:
        group = zarr.open_group(store, mode="w", attributes=layout.attributes)
        return group.create_array(layout.path, shape=layout.shape, dtype=layout.dtype, **options)
    return zarr.create_array(store, shape=layout.shape, dtype=layout.dtype, overwrite=True, **options)


def _inner(extent: int) -> int:
    """Returns the extent of a chunk within a shard, the smallest part that readers can read: a divisor of the shard's
    extent, neither tiny nor large."""
    for parts in range(1, extent // _SMALLEST_INNER + 1):
        if extent % parts == 0 and extent // parts <= _LARGEST_INNER:
            return extent // parts
    return extent


def _image_attributes(image: dict[str, Any], tiling: Tiling) -> dict[str, Any]:
    """Returns the metadata of OME-Zarr 0.5 for one level. The size of its pixels is that of the source's, divided by the
    scale."""
    ratios = [Fraction(1)] * len(tiling.shape)
    for axis, ratio in zip(tiling.axes, tiling._given["scale"], strict=True):
        ratios[axis] = Fraction(*ratio)
    changed = []
    for each in image["dataset"].get("coordinateTransformations", []):
        if each.get("type") == "scale":
            each = {**each, "scale": [float(size / ratio) for size, ratio in zip(each["scale"], ratios, strict=True)]}
        changed.append(each)
    entry = {"axes": image["axes"], "datasets": [{"path": "0", "coordinateTransformations": changed}]}
    if image["name"]:
        entry["name"] = image["name"]
    return {"ome": {"version": "0.5", "multiscales": [entry]}}


def labelled_like(source: Any, data: Any, tiling: Tiling, axes: tuple[int, ...]) -> Any:
    """Returns the result as a DataArray with the dimensions and coordinates of the source. A coordinate of an axis with
    another extent is left out. If the number of axes has changed, only the tiled axes, which are counted from the end, keep
    their names."""
    kind = type(source)
    if data.ndim == source.ndim:
        dims = source.dims
    else:
        names = dict(zip(axes, (source.dims[axis] for axis in tiling.axes), strict=True))
        dims = tuple(names.get(axis, f"axis_{axis}") for axis in range(data.ndim))
    extents = dict(zip(dims, data.shape, strict=True))
    stays = {
        name: coordinate
        for name, coordinate in source.coords.items()
        if all(extents.get(dim) == source.sizes[dim] for dim in coordinate.dims)
    }
    return kind(data, dims=dims, coords=stays, attrs=source.attrs, name=source.name)

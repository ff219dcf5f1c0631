# SPDX-License-Identifier: Apache-2.0
"""Data sets of rasterio: reads tiles from a data set, and writes results to georeferenced files."""

from __future__ import annotations

import importlib
import os
import weakref
from typing import Any

import numpy as np

from .._errors import InvalidType, InvalidValue
from .merge_arguments import MERGE
from .outputs import Rows, checked_path, unlink

_SUFFIXES = (".tif", ".tiff")


_FACTS = ("count", "height", "width", "dtypes", "crs", "transform", "mode", "read")


def is_raster(x: Any) -> bool:
    """Returns whether x has the attributes of an open data set of rasterio."""
    return not isinstance(x, type) and all(hasattr(x, name) for name in _FACTS)


def is_geotiff(out: Any) -> bool:
    """Returns whether an argument ``out`` names a TIFF file."""
    return issubclass(type(out), (str, os.PathLike)) and str(out).lower().endswith(_SUFFIXES)


class Raster:
    """A data set of rasterio as a store of shape (bands, height, width)."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.shape = (dataset.count, dataset.height, dataset.width)

    def __getitem__(self, slices: tuple[slice, ...]) -> Any:
        bands, *window = (slice(*each.indices(extent)) for each, extent in zip(slices, self.shape, strict=True))
        ranges = tuple((each.start, each.stop) for each in window)
        return self._dataset.read(list(range(bands.start + 1, bands.stop + 1)), window=ranges)


class RasterWriter(Rows):
    """A data set of rasterio that is open for writing: bands x height x width, or height x width for one band."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        if dataset.mode == "r":
            raise InvalidType(MERGE, "out", "must be open for writing", str(dataset), "rasterio.open(.., 'w', ..)")

    def begin(self, like: Any, shape: tuple[int, ...], dtype: Any, axes: tuple[int, ...]) -> None:
        super().begin(like, shape, dtype, axes)
        bands = raster_shape(shape, axes)
        expected = (self._dataset.count, self._dataset.height, self._dataset.width)
        if bands != expected:
            raise InvalidValue(MERGE, "out", "must have the output's bands, height and width", str(expected), str(bands))
        theirs = set(self._dataset.dtypes)
        if theirs != {str(dtype)}:
            rule = "must have the element type of the output"
            raise InvalidType(MERGE, "out", rule, ", ".join(sorted(theirs)), str(dtype))

    def write(self, start: int, stop: int, band: Any) -> None:
        rows = np.asarray(band).reshape(-1, *band.shape[-2:])
        if self._rank == 3 and self._axis == 0:
            self._dataset.write(rows, list(range(start + 1, stop + 1)))
        else:
            self._dataset.write(rows, window=((start, stop), (0, self._dataset.width)))

    def finish(self) -> Any:
        return self._dataset


class GeoTiff(RasterWriter):
    """A new GeoTIFF with the CRS and the transform of another data set. The file appears under its name when it is
    complete."""

    def __init__(self, path: Any, source: Any, tiling: Any) -> None:
        self._path = checked_path(path)
        if tiling.axes[-2:] != (1, 2):
            rule = "a GeoTIFF must have tiles along height and width"
            raise InvalidValue(MERGE, "out", rule, f"axes={tiling.axes}", "axes=(1, 2), or an array or .npy as out")
        across, down = (den / num for num, den in reversed(tiling._given["scale"][-2:]))
        place = source.transform  # scaled below: a new pixel is `across` old ones wide and `down` old ones high
        a, b, c, d, e, f = (place.a * across, place.b * down, place.c, place.d * across, place.e * down, place.f)
        self._place = {"crs": source.crs, "transform": type(place)(a, b, c, d, e, f)}
        self._nodata = (source.nodata, set(source.dtypes))
        self._remove: Any = lambda: None

    def begin(self, like: Any, shape: tuple[int, ...], dtype: Any, axes: tuple[int, ...]) -> None:
        rasterio: Any = importlib.import_module("rasterio")
        count, height, width = raster_shape(shape, axes)
        if not rasterio.dtypes.check_dtype(str(dtype)):
            rule = "the file must be able to hold the element type"
            raise InvalidType(MERGE, "out", rule, str(dtype), "dtype='float32', or results of another type")
        partial = self._path.with_name(f".{self._path.stem[:100]}.{os.urandom(6).hex()}.tif")
        self._remove = weakref.finalize(self, unlink, partial, os.getpid())
        self._partial = partial
        nodata, theirs = self._nodata
        self._dataset = rasterio.open(
            partial,
            "w",
            driver="GTiff",
            BIGTIFF="IF_SAFER",
            count=count,
            height=height,
            width=width,
            dtype=str(dtype),
            nodata=nodata if theirs == {str(dtype)} else None,
            **self._place,
        )
        super().begin(like, shape, dtype, axes)

    def finish(self) -> Any:
        self._dataset.close()
        os.replace(self._partial, self._path)
        self._remove()
        return self._path

    def drop(self) -> None:
        if hasattr(self, "_dataset"):
            self._dataset.close()
        self._remove()


def raster_shape(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, int, int]:
    """Returns bands, height and width of an output with these tiled axes."""
    if len(shape) not in (2, 3) or axes[-2:] != (len(shape) - 2, len(shape) - 1):
        rule = "results must have bands, height and width, or height and width, which are tiled"
        raise InvalidValue(MERGE, "out", rule, f"{shape} with the tiled axes {axes}")
    count, height, width = (1, *shape)[-3:]
    return count, height, width

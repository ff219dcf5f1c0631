# SPDX-License-Identifier: Apache-2.0
"""Data sets of rasterio: reads tiles from a data set, and writes results to georeferenced files."""

from __future__ import annotations

import importlib
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import InvalidType, InvalidValue
from .merge_arguments import MERGE
from .nodata import NONE
from .outputs import Rows, checked_path, written_rows
from .unfinished import Unfinished

SUFFIXES = (".tif", ".tiff")
_FACTS = ("count", "height", "width", "dtypes", "crs", "transform", "mode", "read")


def is_raster(x: Any) -> bool:
    """Returns whether x has the attributes of an open data set of rasterio."""
    return not isinstance(x, type) and all(hasattr(x, name) for name in _FACTS)


def is_geotiff(out: Any) -> bool:
    """Returns whether an argument ``out`` names a TIFF file."""
    return issubclass(type(out), (str, os.PathLike)) and str(out).lower().endswith(SUFFIXES)


def holds_for(source: Any, shape: tuple[int, ...], dtype: Any) -> bool:
    """Returns whether the fields about a data set's numbers (nodata, scales, units, ..) hold for results, too. They do if
    the results have the data set's element type and number of bands, since the results then probably hold the same
    quantities."""
    return set(source.dtypes) == {str(dtype)} and source.count == (1, *shape)[-3]


class SourceNodata:
    """The nodata of the data set that tiles are read from."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def for_results(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Returns the nodata, or None if it does not hold for results whose output has this shape and element type."""
        if not holds_for(self._source, shape, dtype):
            return None
        each = self._source.nodatavals
        if len(set(map(str, each))) > 1:  # NaN is not equal to itself
            rule = "must be given where the bands of x do not share one"
            raise InvalidValue(MERGE, "nodata", rule, str(each), 'a number for all bands, or nodata="none"')
        return self._source.nodata


class Raster:
    """A data set of rasterio as a store of shape (bands, height, width)."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.shape = (dataset.count, dataset.height, dataset.width)

    @property
    def dtype(self) -> np.dtype[Any]:
        name = self._dataset.dtypes[0]
        return np.dtype("complex64" if name == "complex_int16" else name)  # as rasterio reads it

    def __getitem__(self, slices: tuple[slice, ...]) -> Any:
        bands, *window = (slice(*each.indices(extent)) for each, extent in zip(slices, self.shape, strict=True))
        ranges = tuple((each.start, each.stop) for each in window)
        return self._dataset.read(list(range(bands.start + 1, bands.stop + 1)), window=ranges)


class RasterWriter(Rows):
    """A data set of rasterio that is open for writing: bands x height x width, or height x width for one band."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.nodata = dataset.nodata
        if dataset.mode == "r":
            raise InvalidType(MERGE, "out", "must be open for writing", str(dataset), "rasterio.open(.., 'w', ..)")

    def rows_in(self, tiling: Any, reduce: Any) -> int:
        return written_rows(self._dataset, tiling, reduce)

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
        wanted, marked = (None if each == NONE else each for each in (self.nodata, self._dataset.nodata))
        if wanted is not None and not np.array_equal([wanted], [np.nan if marked is None else marked], equal_nan=True):
            rule = "must mark the elements without data"
            raise InvalidValue(MERGE, "out", rule, f"nodata={marked}", f"rasterio.open(.., nodata={wanted})")

    def write(self, start: int, stop: int, band: Any) -> None:
        self._write_rows(self._dataset, start, stop, np.asarray(band))

    def _write_rows(self, dataset: Any, start: int, stop: int, rows: Any) -> None:
        rows = rows.reshape(-1, *rows.shape[-2:])
        if self._rank == 3 and self._axis == 0:
            dataset.write(rows, list(range(start + 1, stop + 1)))
        else:
            dataset.write(rows, window=((start, stop), (0, dataset.width)))

    def finish(self) -> Any:
        return self._dataset


class GeoTiff(RasterWriter):
    """A new GeoTIFF, with those fields of the source that hold for the results, too. The file appears under its name when it
    is complete."""

    def __init__(self, path: Any, source: Any, tiling: Any) -> None:
        self._path = checked_path(path)
        if tiling.axes[-2:] != (len(tiling.shape) - 2, len(tiling.shape) - 1):
            rule = "a GeoTIFF must have tiles along height and width"
            raise InvalidValue(MERGE, "out", rule, f"axes={tiling.axes}", "axes=(1, 2), or an array or .npy as out")
        self._source = source
        self._scale = tuple(num / den for num, den in reversed(tiling._given["scale"][-2:]))  # across, down
        self._remove: Any = lambda: None

    def rows_in(self, tiling: Any, reduce: Any) -> int:
        return 1  # strips without compression, which may be written again

    def begin(self, like: Any, shape: tuple[int, ...], dtype: Any, axes: tuple[int, ...]) -> None:
        rasterio: Any = importlib.import_module("rasterio")
        bands = raster_shape(shape, axes)
        if not rasterio.dtypes.check_dtype(str(dtype)):
            rule = "the file must be able to hold the element type"
            raise InvalidType(MERGE, "out", rule, str(dtype), "dtype='float32', or results of another type")
        self._unfinished = Unfinished(self._path)
        self._remove = self._unfinished.remove
        self._partial = self._temporary(".tif")
        self._dataset = self._new(self._partial, bands, dtype, **self._place())
        lost = self._copy_fields(shape, dtype)
        if lost:
            fields, it, them = ("this field", "It", "it") if len(lost) == 1 else ("these fields", "They", "them")
            rule = f"{it} may not hold for its numbers and size; rasterio.open(.., 'r+') sets {them}"
            message = f"merge: out: {self._path.name} lacks {fields} of the source: {', '.join(lost)}. {rule}"
            warnings.warn(message, UserWarning, stacklevel=2)
        super().begin(like, shape, dtype, axes)

    def _temporary(self, suffix: str) -> Path:
        return self._unfinished.folder / f"part{suffix}"

    def _new(self, path: Path, bands: tuple[int, int, int], dtype: Any, **place: Any) -> Any:
        count, height, width = bands
        return importlib.import_module("rasterio").open(
            path,
            "w",
            driver="GTiff",
            BIGTIFF="IF_SAFER",
            count=count,
            height=height,
            width=width,
            dtype=str(dtype),
            nodata=None if self.nodata == NONE else self.nodata,
            **place,
            **self._options(bands, dtype),
        )

    def _options(self, bands: tuple[int, int, int], dtype: Any) -> dict[str, Any]:
        """Returns GDAL's creation options of the new file."""
        return {}

    def _place(self) -> dict[str, Any]:
        """Returns the CRS, with the transform or the ground control points for the new pixels."""
        points, crs = self._source.gcps
        across, down = self._scale
        if points:
            point = type(points[0])
            moved = [point(p.row * down, p.col * across, p.x, p.y, p.z, p.id, p.info) for p in points]
            return {"crs": crs, "gcps": moved}
        old = self._source.transform
        new = type(old)(old.a / across, old.b / down, old.c, old.d / across, old.e / down, old.f)
        return {"crs": self._source.crs, "transform": new}

    def _copy_fields(self, shape: tuple[int, ...], dtype: Any) -> list[str]:
        """Copies the source's fields that hold for the results. Returns the names of the source's fields that the new file
        lacks."""
        source, dataset = self._source, self._dataset
        if source is None:
            return []
        holds = holds_for(source, shape, dtype)
        lost = ["nodata"] if self.nodata is None and source.nodata is not None else []
        tags = _tags(source, 0)
        text = tags.get(_DESCRIPTION, "")
        is_same = holds and shape[-2:] == source.shape and not source.subdatasets
        if text.startswith(_OF_LAYOUT) and not is_same:
            del tags[_DESCRIPTION]
            lost.append(_DESCRIPTION)
        for name, factor in zip(("TIFFTAG_XRESOLUTION", "TIFFTAG_YRESOLUTION"), self._scale, strict=True):
            if name in tags:
                tags[name] = str(float(tags[name]) * factor)
        dataset.update_tags(**tags)
        if source.rpcs is not None:
            if self._scale == (1, 1):
                dataset.rpcs = source.rpcs
            else:
                lost.append("RPCs")
        fields = {name: getattr(source, name) for name in ("descriptions", "scales", "offsets", "units")}
        fields |= {"tags": [_tags(source, band) for band in source.indexes], "colour map": [_colour_map(source)]}
        for name, values in fields.items():
            if not any(value not in (None, "", {}, _WITHOUT.get(name)) for value in values):
                continue
            if not holds:
                lost.append(name)
            elif name == "tags":
                for band, tags in enumerate(values, 1):
                    dataset.update_tags(band, **tags)
            elif name == "colour map":
                dataset.write_colormap(1, values[0])
            else:
                setattr(dataset, name, values)
        masks = [{flag.name for flag in flags} for flags in source.mask_flag_enums]
        return lost + ["mask"] * ({"per_dataset"} in masks)

    def finish(self) -> Any:
        self._dataset.close()
        os.replace(self._partial, self._path)
        self._remove()
        return self._path

    def drop(self) -> None:
        if hasattr(self, "_dataset"):
            self._dataset.close()
        self._remove()


_DESCRIPTION = "TIFFTAG_IMAGEDESCRIPTION"
_OF_LAYOUT = ("<?xml", "<OME", "ImageJ=", '{"shape":')
"""The beginnings of descriptions that list the size and the pages of a file, as OME-TIFF, ImageJ and tifffile write them."""
_WITHOUT = {"scales": 1.0, "offsets": 0.0}
"""For some fields of a band, the value that says nothing."""


def _tags(source: Any, band: int) -> dict[str, str]:
    """Returns the tags of a band, or for band 0 those of the data set, without statistics, which describe the old
    numbers."""
    return {name: text for name, text in source.tags(band).items() if not name.startswith("STATISTICS_")}


def _colour_map(source: Any) -> Any:
    try:
        return source.colormap(1)
    except ValueError:  # the band has no colour map
        return None


def raster_shape(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, int, int]:
    """Returns bands, height and width of an output with these tiled axes."""
    if len(shape) not in (2, 3) or axes[-2:] != (len(shape) - 2, len(shape) - 1):
        rule = "results must have bands, height and width, or height and width, which are tiled"
        raise InvalidValue(MERGE, "out", rule, f"{shape} with the tiled axes {axes}")
    count, height, width = (1, *shape)[-3:]
    return count, height, width

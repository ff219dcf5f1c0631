# SPDX-License-Identifier: Apache-2.0
"""Cloud-optimised GeoTIFF files (COG): tiled, compressed, with overviews, and readable part by part over a network."""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import _core
from .._arguments import is_integer
from .._errors import InvalidType, InvalidValue, given_text
from .merge_arguments import MERGE
from .nodata import NONE
from .outputs import checked_path
from .pyramid import Pyramid, checked_overviews, level_shapes, overviews_for
from .rasters import SUFFIXES, GeoTiff, holds_for, is_raster, raster_shape

_COMPRESSIONS = ("deflate", "lzw", "zstd", "none")


class COG:
    """A new cloud-optimised GeoTIFF, for ``out`` of ``apply_tiled`` and ``Merger``: tiled and compressed, with overviews.

    Arguments:
        path: the name of the file, which ends in .tif or .tiff. The file appears under its name when it is complete.
        like: an open data set of rasterio. The file gets its CRS and its transform, scaled if the results are, and those of
            its other fields that hold for the results. Default: x of apply_tiled, if that is a data set of rasterio.
        crs: a CRS as rasterio takes it, such as "EPSG:32633", in place of that of ``like``.
        transform: an affine.Affine from columns and rows of the output to coordinates, in place of that of ``like``.
        names: a name for each band.
        tile: the side of the file's square tiles in pixels, a multiple of 16 from 128.
        compress: "deflate", "lzw", "zstd" or "none".
        overviews: how 2 x 2 pixels become one of the next overview: "mean", of those that hold data, rounded to nearest
            even; "nearest", the first of them; "none": no overviews. Default: "mean" for floating-point numbers, and
            "nearest" for integers, which may be labels. The last overview is at most one tile large.

    Results have bands, height and width, or height and width, tiled along both. Each band is a grey band, whatever their
    number; if ``like`` has colours, the element type and the number of bands of the results, the bands are these colours.

    The picture is never in memory: rows of tiles are written, with those of the overviews, to temporary files beside the new
    one, which GDAL's driver COG then puts into order. Both together take about as much disk as two files.

    Errors: InvalidValue and InvalidType with the operator "merge"; ImportError without rasterio.

    Source: OGC 21-026, "OGC Cloud Optimized GeoTIFF Standard".

    Example:
        >>> import numpy as np, patchfold
        >>> x = np.random.default_rng(0).random((2, 700, 900), np.float32)
        >>> out = patchfold.COG("y.tif", crs="EPSG:32633", names=["height", "slope"])
        >>> patchfold.apply_tiled(np.sqrt, x, (256, 256), overlap=32, out=out)  # doctest: +SKIP
        PosixPath('y.tif')
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        like: Any = None,
        crs: Any = None,
        transform: Any = None,
        names: Sequence[str] | None = None,
        tile: int = 512,
        compress: str = "deflate",
        overviews: str | None = None,
    ) -> None:
        self._path = checked_path(path, SUFFIXES)
        if like is not None and not is_raster(like):
            raise InvalidType(MERGE, "like", "must be an open data set of rasterio", given_text(like))
        if not is_integer(tile) or not 128 <= tile <= 1 << 14 or tile % 16:
            raise InvalidValue(MERGE, "tile", "must be a multiple of 16 from 128 to 16384", given_text(tile))
        if compress not in _COMPRESSIONS:
            expected = ", ".join(f'"{each}"' for each in _COMPRESSIONS)
            raise InvalidValue(MERGE, "compress", "must be one of these", given_text(compress), expected)
        if names is not None and not (isinstance(names, (list, tuple)) and all(isinstance(each, str) for each in names)):
            raise InvalidType(MERGE, "names", "must be a list of texts", given_text(names))
        self._like, self._crs, self._transform = like, crs, transform
        self._names = None if names is None else list(names)
        self._tile, self._compress = int(tile), compress
        self._overviews = checked_overviews(overviews, MERGE)

    def __repr__(self) -> str:
        return f"<COG({str(self._path)!r})>"

    def _output(self, x: Any, tiling: Any) -> CogOutput:
        """Returns the output of a merge. x: what tiles are cut from, or None."""
        like = self._like if self._like is not None else x if is_raster(x) else None
        return CogOutput(self, like, tiling)


class CogOutput(GeoTiff):
    """The output of a merge that writes a COG. GDAL's driver COG only copies data sets, so rows are written to a data set
    with the same tiles, and those of each overview to a file y.ovr, which GDAL takes for an overview of the file y."""

    def __init__(self, form: COG, source: Any, tiling: Any) -> None:
        super().__init__(form._path, source, tiling)
        self._form = form
        self._levels: list[Any] = []

    def rows_in(self, tiling: _core.Tiling, reduce: Any) -> int:
        return self._form._tile if len(tiling.axes) == 2 else 1

    def begin(self, like: Any, shape: tuple[int, ...], dtype: Any, axes: tuple[int, ...]) -> None:
        form, bands = self._form, raster_shape(shape, axes)
        if form._names is not None and len(form._names) != bands[0]:
            raise InvalidValue(MERGE, "names", "must have a name for each band", str(len(form._names)), str(bands[0]))
        size = bands[0] * np.dtype(dtype).itemsize * form._tile**2
        self._cache = (64 << 20) + 4 * size
        how = overviews_for(form._overviews, dtype, MERGE)
        with self._cached():
            super().begin(like, shape, dtype, axes)
            if form._names is not None:
                self._dataset.descriptions = form._names
            plane = (len(shape) - 2, len(shape) - 1)
            shapes = [shape] if how == NONE else level_shapes(shape, plane, form._tile)
            for level, each in enumerate(shapes[1:], 1):
                path = self._temporary(".tif" + ".ovr" * level)
                self._levels.append(self._new(path, raster_shape(each, axes), dtype))
        nodata = None if self.nodata == NONE else self.nodata
        self._pyramid = Pyramid(self._write_level, shapes, plane, self._axis, how, nodata, form._tile)

    def _options(self, bands: tuple[int, int, int], dtype: Any) -> dict[str, Any]:
        options: dict[str, Any] = {"tiled": True, "blockxsize": self._form._tile, "blockysize": self._form._tile}
        options |= {"compress": "deflate", "zlevel": 1, "interleave": "band"}
        if bands[0] > 1:
            options["photometric"] = "rgb" if self._is_coloured(bands, dtype) else "minisblack"
            if self._is_coloured(bands, dtype) and bands[0] == 4:
                options["alpha"] = "yes"
        return options

    def _is_coloured(self, bands: tuple[int, int, int], dtype: Any) -> bool:
        source = self._source
        if source is None or not holds_for(source, bands, dtype):
            return False
        return [each.name for each in source.colorinterp] in (_COLOURS[:3], _COLOURS)

    def _place(self) -> dict[str, Any]:
        place = {} if self._source is None else super()._place()
        form = self._form
        if form._crs is not None or form._transform is not None:
            place.pop("gcps", None)
        given = {"crs": form._crs, "transform": form._transform}
        return place | {name: value for name, value in given.items() if value is not None}

    def write(self, start: int, stop: int, band: Any) -> None:
        with self._cached():
            super().write(start, stop, band)
            self._pyramid.add(np.asarray(band))

    def _write_level(self, level: int, start: int, rows: Any) -> None:
        self._write_rows(self._levels[level - 1], start, start + rows.shape[self._axis], rows)

    def finish(self) -> Any:
        form = self._form
        compress = form._compress
        options: dict[str, Any] = {"compress": compress, "blocksize": form._tile, "bigtiff": "IF_SAFER"}
        options["overviews"] = "AUTO" if self._levels else "NONE"
        if compress != "none":
            options["predictor"] = "YES"
        with self._cached():
            for each in (self._dataset, *self._levels):
                each.close()
            copied = self._temporary(".cog.tif")
            importlib.import_module("rasterio.shutil").copy(self._partial, copied, driver="COG", **options)
        os.replace(copied, self._path)
        self._remove()
        return self._path

    def drop(self) -> None:
        for each in self._levels:
            each.close()
        super().drop()

    @contextmanager
    def _cached(self) -> Iterator[None]:
        """Limits the memory in which GDAL keeps blocks, by default a twentieth of the machine's."""
        rasterio: Any = importlib.import_module("rasterio")
        with rasterio.Env(GDAL_CACHEMAX=self._cache), warnings.catch_warnings():
            warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
            yield


_COLOURS = ["red", "green", "blue", "alpha"]

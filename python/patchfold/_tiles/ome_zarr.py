# SPDX-License-Identifier: Apache-2.0
"""OME-Zarr images, versions 0.4 and 0.5: reads tiles from a level, and writes images with all their levels."""

from __future__ import annotations

import importlib
import operator
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import _core
from .._arguments import is_integer
from .._errors import InvalidType, InvalidValue, given_text
from .._typing import Int
from .merge_arguments import MERGE
from .nodata import NONE
from .outputs import Rows, checked_path
from .pyramid import MEAN, Pyramid, checked_overviews, level_shapes, overviews_for
from .unfinished import Unfinished

OPEN = "open_ome_zarr"
_TYPES = {"t": "time", "c": "channel", "z": "space", "y": "space", "x": "space"}
_FAULTS = (AttributeError, IndexError, KeyError, TypeError, ValueError)


@dataclass(frozen=True)
class OMEZarrLevel:
    """A level of an OME-Zarr image: a store that apply_tiled reads tiles from, with the place of its pixels."""

    array: Any = field(repr=False)
    """The zarr array."""
    axes: str
    """The name of each axis, such as "czyx"."""
    scale: tuple[float, ...]
    """The size of a pixel along each axis."""
    translation: tuple[float, ...]
    """The place of the middle of the first pixel."""
    units: tuple[str | None, ...]
    """The unit of each axis, such as "micrometer"."""
    name: str | None
    """The name of the image."""
    levels: int
    """The number of levels of the image."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.array.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        kind: np.dtype[Any] = np.dtype(self.array.dtype)
        return kind

    def __getitem__(self, slices: Any) -> Any:
        return self.array[slices]


def multiscales_of(group: Any) -> Any:
    """Returns the entry of the multiscales of an OME-Zarr group of either version; None if it has none."""
    attributes = dict(group.attrs)
    metadata = attributes.get("ome", attributes)
    scales = metadata.get("multiscales") if isinstance(metadata, dict) else None
    return scales[0] if isinstance(scales, list) and scales else None


def open_ome_zarr(path: Any, level: Int = 0) -> OMEZarrLevel:
    """Opens a level of an OME-Zarr image, version 0.4 or 0.5.

    Arguments:
        path: the path or URL of the image, or an open group of zarr.
        level: 0 for the finest level.

    Returns: an object with shape, dtype and slices, which apply_tiled takes as x.

    Errors: InvalidValue if there is no such image or level; ImportError without zarr.

    Source: https://ngff.openmicroscopy.org/0.5/

    Example:
        >>> import patchfold
        >>> image = patchfold.open_ome_zarr("cells.zarr", level=1)  # doctest: +SKIP
        >>> image.shape, image.axes, image.scale  # doctest: +SKIP
        ((2, 512, 512), 'cyx', (1.0, 0.65, 0.65))
    """
    zarr = _zarr()
    try:
        group = path if isinstance(path, zarr.Group) else zarr.open_group(path, mode="r")
    except Exception as error:
        rule = "must be the path or URL of an OME-Zarr image, or a group of zarr"
        raise InvalidValue(OPEN, "path", rule, f"{given_text(path)}: {type(error).__name__}") from error
    if not is_integer(level):
        raise InvalidType(OPEN, "level", "must be an integer", given_text(level))
    number = operator.index(level)
    try:
        entry = multiscales_of(group)
        if entry is None:
            raise KeyError("multiscales")
        datasets = list(entry["datasets"])
        rank = group[datasets[0]["path"]].ndim
        axes = [each if isinstance(each, dict) else {"name": each} for each in entry["axes"]]
        if not 0 <= number < len(datasets):
            raise InvalidValue(OPEN, "level", "must be a level of the image", str(number), f"0 to {len(datasets) - 1}")
        array = group[datasets[number]["path"]]
        scale, translation = np.ones(rank), np.zeros(rank)
        for holder in (datasets[number], entry):
            for each in holder.get("coordinateTransformations", []):
                values = np.array(each.get(each["type"], np.ones(rank)), float)
                if values.shape != (rank,) or not np.isfinite(values).all():
                    raise ValueError(each["type"])
                if each["type"] == "scale":
                    scale, translation = scale * values, translation * values
                elif each["type"] == "translation":
                    translation = translation + values
        name = entry.get("name")
        found = OMEZarrLevel(
            array,
            "".join(str(each["name"])[0] for each in axes),
            tuple(map(float, scale)),
            tuple(map(float, translation)),
            tuple(each.get("unit") for each in axes),
            name if isinstance(name, str) else None,
            len(datasets),
        )
        if not len(found.axes) == len(found.shape) == rank:
            raise ValueError("axes")
    except InvalidValue:
        raise
    except _FAULTS as error:
        rule = "must have the metadata of an OME-Zarr image (0.4 or 0.5)"
        raise InvalidValue(OPEN, "path", rule, f"{given_text(path)}: {error}") from error
    return found


class OMEZarr:
    """A new OME-Zarr image with all its levels, for ``out`` of ``apply_tiled`` and ``Merger``.

    Arguments:
        path: the folder of the image, which ends in .zarr and must not exist. It appears under its name when it is complete.
        like: an OMEZarrLevel. The image gets its axes, units, name and place, scaled if the results are. Default: x of
            apply_tiled, if that is one.
        axes: a name for each axis of the output: t, c, z, y and x, in this order. Default: those of ``like``; or z, y and x
            for the tiled axes, and t and c for those in front of them.
        scale: the size of a pixel along each axis. Default: that of ``like``, or 1.
        units: a unit for each axis, such as "micrometer", or None.
        version: "0.5" (zarr 3) or "0.4" (zarr 2).
        chunk: the extent of chunks along y and x.
        shard: the extent of shards along y and x, a multiple of chunk; 0: no shards. Default: 4 * chunk; version 0.4 has no
            shards.
        overviews: how 2 x 2 pixels become one of the next level: "mean" or "nearest", as for COG; "none": one level.
            Default: "mean" for floating-point numbers, and "nearest" for integers, which may be labels. Levels halve y and
            x until one chunk holds them.

    Rows of shards of all levels are written while they come; the image is never in memory.

    Errors: InvalidValue and InvalidType with the operator "merge"; ImportError without zarr.

    Source: https://ngff.openmicroscopy.org/0.5/

    Example:
        >>> import numpy as np, patchfold
        >>> x = np.random.default_rng(0).random((2, 700, 900), np.float32)
        >>> out = patchfold.OMEZarr("y.zarr", axes="cyx", scale=(1, 0.65, 0.65), units=(None, "micrometer", "micrometer"))
        >>> patchfold.apply_tiled(np.sqrt, x, (256, 256), overlap=32, out=out)  # doctest: +SKIP
        PosixPath('y.zarr')
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        like: OMEZarrLevel | None = None,
        axes: str | None = None,
        scale: Sequence[float] | None = None,
        units: Sequence[str | None] | None = None,
        version: str = "0.5",
        chunk: int = 256,
        shard: int | None = None,
        overviews: str | None = None,
    ) -> None:
        self._path = checked_path(path, (".zarr",))
        if self._path.exists():
            raise InvalidValue(MERGE, "out", "must not exist", str(self._path))
        if like is not None and not isinstance(like, OMEZarrLevel):
            raise InvalidType(MERGE, "like", "must be what open_ome_zarr returns", given_text(like))
        if version not in ("0.4", "0.5"):
            raise InvalidValue(MERGE, "version", 'must be "0.4" or "0.5"', given_text(version))
        if not is_integer(chunk) or not 2 <= chunk <= 1 << 14 or chunk % 2:
            raise InvalidValue(MERGE, "chunk", "must be an even number from 2 to 16384", given_text(chunk))
        shard = (4 * chunk if version == "0.5" else 0) if shard is None else shard
        if not is_integer(shard) or shard < 0 or shard % chunk or (shard and version == "0.4"):
            rule = "must be a multiple of chunk, and 0 in version 0.4"
            raise InvalidValue(MERGE, "shard", rule, given_text(shard))
        if axes is not None and not (isinstance(axes, str) and axes in _orders()):
            rule = "must be of t, c, z, y and x, in this order, y and x among them"
            raise InvalidValue(MERGE, "axes", rule, given_text(axes))
        if units is not None and not (isinstance(units, (list, tuple)) and all(_is_unit(each) for each in units)):
            raise InvalidType(MERGE, "units", "must be a list of texts and None", given_text(units))
        if scale is not None and not (isinstance(scale, (list, tuple)) and all(_is_size(each) for each in scale)):
            raise InvalidValue(MERGE, "scale", "must be numbers above 0", given_text(scale))
        self._like, self._axes, self._scale, self._units = like, axes, scale, units
        self._version, self._chunk, self._shard = version, int(chunk), int(shard)
        self._overviews = checked_overviews(overviews, MERGE)
        _zarr()

    def __repr__(self) -> str:
        return f"<OMEZarr({str(self._path)!r})>"

    def _output(self, x: Any, tiling: Any) -> OMEZarrOutput:
        """Returns the output of a merge. x: what tiles are cut from, or None."""
        like = self._like if self._like is not None else x if isinstance(x, OMEZarrLevel) else None
        return OMEZarrOutput(self, like, tiling)


class OMEZarrOutput(Rows):
    """The output of a merge that writes an OME-Zarr image."""

    def __init__(self, form: OMEZarr, like: OMEZarrLevel | None, tiling: Any) -> None:
        self._form, self._source, self._tiling = form, like, tiling
        self._unit = form._shard or form._chunk
        self._remove: Any = lambda: None

    def rows_in(self, tiling: _core.Tiling, reduce: Any) -> int:
        return self._unit if len(tiling.axes) == 2 else 1

    def begin(self, like: Any, shape: tuple[int, ...], dtype: Any, axes: tuple[int, ...]) -> None:
        super().begin(like, shape, dtype, axes)
        form, rank = self._form, len(shape)
        try:
            kind = np.dtype(dtype)
        except TypeError:
            kind = None
        if kind is None or kind.kind not in "biuf":
            raise InvalidType(MERGE, "out", "the image must be able to hold the element type", str(dtype), "dtype='float32'")
        names = self._names(rank, axes)
        if not 2 <= rank == len(names) or axes[-2:] != (rank - 2, rank - 1):
            rule = "must have a name for each axis, and y and x, which are tiled, last"
            raise InvalidValue(MERGE, "axes", rule, names, f"names for {shape} with the tiled axes {axes}")
        how = overviews_for(form._overviews, kind, MERGE)
        plane = (rank - 2, rank - 1)
        shapes = [shape] if how == NONE else level_shapes(shape, plane, form._chunk)
        self._unfinished = Unfinished(form._path)
        self._remove = self._unfinished.remove
        self._partial = self._unfinished.folder / "part.zarr"
        self._arrays = self._create(names, shapes, kind, how)
        nodata = None if self.nodata == NONE else self.nodata
        self._pyramid = Pyramid(self._write_level, shapes, plane, self._axis, how, nodata, self._unit)

    def _names(self, rank: int, axes: tuple[int, ...]) -> str:
        if self._form._axes is not None:
            return self._form._axes
        if self._source is not None and len(self._source.axes) == rank:
            return self._source.axes
        return "tc"[max(0, 2 - (rank - len(axes))) :][: rank - len(axes)] + "zyx"[-len(axes) :]

    def _create(self, names: str, shapes: list[tuple[int, ...]], dtype: Any, how: str) -> list[Any]:
        form, rank, source = self._form, len(names), self._source
        source = source if source is not None and len(source.axes) == rank else None
        scale, translation = np.ones(rank), np.zeros(rank)
        if source is not None:
            factors = np.ones(rank)
            for axis, (num, den) in zip(self._tiling._native.axes_in(rank), self._tiling._given["scale"], strict=True):
                factors[axis] = num / den
            scale = np.array(source.scale) / factors
            translation = np.array(source.translation) + (scale - np.array(source.scale)) / 2  # of the first pixel's middle
        units = form._units if form._units is not None else source.units if source is not None else [None] * rank
        for argument, given in (("scale", form._scale), ("units", units)):
            if given is not None and len(given) != rank:
                raise InvalidValue(MERGE, argument, "must have an entry for each axis", str(len(given)), str(rank))
        if form._scale is not None:
            scale = np.array(form._scale, float)
        pairs = zip(names, units, strict=True)
        axes = [{"name": name, "type": _TYPES[name]} | ({"unit": unit} if unit else {}) for name, unit in pairs]
        datasets, arrays = [], []
        is_new = form._version == "0.5"
        group = _zarr().open_group(self._partial, mode="w", zarr_format=3 if is_new else 2)
        for level, shape in enumerate(shapes):
            ratio = np.array([2.0**level if axis >= rank - 2 else 1.0 for axis in range(rank)])
            middle = translation + scale * (ratio - 1) / 2 if how == MEAN else translation
            transformations: list[dict[str, Any]] = [{"type": "scale", "scale": (scale * ratio).tolist()}]
            if middle.any():
                transformations.append({"type": "translation", "translation": middle.tolist()})
            datasets.append({"path": str(level), "coordinateTransformations": transformations})
            options: dict[str, Any] = {"chunks": (1,) * (rank - 2) + (form._chunk,) * 2}
            if is_new:
                options["dimension_names"] = list(names)
                options["shards"] = (1,) * (rank - 2) + (form._shard,) * 2 if form._shard else None
            else:
                options["chunk_key_encoding"] = {"name": "v2", "separator": "/"}
            arrays.append(group.create_array(str(level), shape=shape, dtype=dtype, **options))
        entry: dict[str, Any] = {"axes": axes, "datasets": datasets, "type": how}
        entry["name"] = source.name if source is not None and source.name else form._path.stem
        multiscales = {"multiscales": [entry if is_new else {"version": "0.4", **entry}]}
        group.attrs.update({"ome": {"version": "0.5", **multiscales}} if is_new else multiscales)
        return arrays

    def write(self, start: int, stop: int, band: Any) -> None:
        rows = np.asarray(band)
        self._write_level(0, start, rows)
        self._pyramid.add(rows)

    def _write_level(self, level: int, start: int, rows: Any) -> None:
        where = [slice(None)] * self._rank
        where[self._axis] = slice(start, start + rows.shape[self._axis])
        self._arrays[level][tuple(where)] = rows

    def finish(self) -> Any:
        os.rename(self._partial, self._form._path)
        self._remove()
        return self._form._path

    def drop(self) -> None:
        self._remove()


def _is_size(number: Any) -> bool:
    return isinstance(number, (int, float)) and 0 < number < np.inf


def _is_unit(unit: Any) -> bool:
    return unit is None or isinstance(unit, str)


def _orders() -> set[str]:
    return {t + c + z + "yx" for t in ("", "t") for c in ("", "c") for z in ("", "z")}


def _zarr() -> Any:
    try:
        return importlib.import_module("zarr")
    except ImportError as error:
        raise ImportError("patchfold needs zarr for OME-Zarr images: pip install 'patchfold[zarr]'") from error

# SPDX-License-Identifier: Apache-2.0
"""The destinations of a merge: a new array, a given array, a file, a store, or a function."""

from __future__ import annotations

import errno
import importlib
import operator
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np

from .. import _core
from .._arguments import is_integer
from .._arrays.dtypes import SHARED_WITH_NUMPY
from .._arrays.kinds import is_numpy, is_torch, shape_of
from .._arrays.memory import memory, new_room
from .._errors import InvalidType, InvalidValue, given_text
from .merge_arguments import MERGE, output_axes
from .unfinished import Unfinished

_TIFF = (".tif", ".tiff")
_MOST_SAMPLES = 65535
_TIFF_TYPES = SHARED_WITH_NUMPY - {"bool"}


class Output:
    """The destination of a merger. ``array`` is written in place; if ``array`` is None, ``write`` receives rows in order.
    The merger sets ``nodata`` before ``begin``: the value that elements without data get; "none" if every number is data;
    None if nobody named a value."""

    array: Any = None
    nodata: Any = None

    def rows_in(self, tiling: _core.Tiling, reduce: Any) -> int:
        """Returns the number of rows that the output writes as a whole. If rows come in multiples of this number, each is
        written once."""
        return 1

    def begin(self, like: Any, shape: tuple[int, ...], dtype: Any, axes: tuple[int, ...]) -> None:
        """Prepares the output, once shape and element type are known. like: the first tile; axes: the tiled axes; rows are
        written along the first tiled axis."""

    def stored(self) -> Any:
        """Returns the object in which written elements can be read and changed by slices, a NumPy array or a store; None if
        there is no such object."""
        return self.array

    def finish(self) -> Any:
        """Completes the output after all rows are written, and returns the result."""

    def drop(self) -> None:
        """Drops the output; no more rows will be written."""


class NewArray(Output):
    """A new array of the kind of ``kind``, or of the first tile if ``kind`` is None."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._room: Any = None

    def begin(self, like: Any, shape: tuple[int, ...], dtype: Any, axes: tuple[int, ...]) -> None:
        self._room = new_room(like if self._kind is None else self._kind, like, shape, dtype)
        self.array = self._room.memory

    def finish(self) -> Any:
        return self._room.result()


class GivenArray(Output):
    """A writable array that the caller gives."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.shape = shape_of(array, MERGE, "out")

    def stored(self) -> Any:
        return self.array if is_numpy(self.array) else memory(self.array, MERGE, "out", True)

    def finish(self) -> Any:
        return self.array


def checked_path(path: Any, suffixes: tuple[str, ...] = (".npy", *_TIFF)) -> Path:
    """Returns the given path, after a check that a file with this path and one of these suffixes can be made."""
    try:
        checked = Path(path)
        named = b"\0" not in os.fsencode(checked)
    except (TypeError, UnicodeEncodeError):  # __fspath__ returns no text, or text that cannot name a file
        named = False
    if not named:
        raise InvalidType(MERGE, "out", "must have a name", given_text(path))
    if checked.suffix.lower() not in suffixes:
        rule = f"the name of a file must end in {' or '.join(', '.join(suffixes).rsplit(', ', 1))}"
        expected = "an opened store or data set, as of zarr.open or rasterio.open, or patchfold.dask"
        raise InvalidValue(MERGE, "out", rule, str(checked), expected)
    if not checked.parent.is_dir():
        raise InvalidValue(MERGE, "out", "the folder of the file must exist", str(checked.parent))
    if checked.is_dir():
        raise InvalidValue(MERGE, "out", "must not be a folder", str(checked))
    return checked


class File(Output):
    """A file that is written in a hidden folder beside it and renamed when it is complete."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = checked_path(path)
        self._suffix = self._path.suffix.lower()
        if self._suffix in _TIFF:
            _tifffile()
        self._remove: Callable[[], Any] = lambda: None

    def begin(self, like: Any, shape: tuple[int, ...], dtype: Any, axes: tuple[int, ...]) -> None:
        kind = np.dtype(dtype) if not isinstance(dtype, str) or dtype in SHARED_WITH_NUMPY else None
        if kind is None or kind.isbuiltin == 2 or (self._suffix in _TIFF and kind.name not in _TIFF_TYPES):
            raise InvalidType(MERGE, "out", "the file must be able to hold the element type", str(dtype), "dtype='float32'")
        if self._suffix in _TIFF and len(shape) < 2:
            raise InvalidValue(MERGE, "out", "a picture must have two axes or more", str(shape), ".npy")
        self._unfinished = Unfinished(self._path)
        self._remove = self._unfinished.remove
        self._partial = self._unfinished.folder / f"part{self._suffix}"
        if self._suffix == ".npy":
            self.array = np.lib.format.open_memmap(self._partial, mode="w+", dtype=kind, shape=shape)
        else:
            self.array = _new_tiff(self._partial, shape, kind, axes)
        _reserve(self._partial)

    def finish(self) -> Any:
        self.array.flush()
        os.replace(self._partial, self._path)
        self._remove()
        if isinstance(self.array, np.memmap):
            self.array.filename = cast(Any, self._path.absolute())  # the final name instead of the temporary one
        return self.array

    def drop(self) -> None:
        self._remove()


def _new_tiff(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], axes: tuple[int, ...]) -> Any:
    """Returns the array of a new TIFF file that is mapped into memory. Three or four channels of uint8 or uint16, before or
    behind two tiled axes, are a colour picture, height x width x channels in the file; other channels before or behind the
    tiled axes are bands, the samples of a pixel. Other arrays are one grey page for each index of the leading axes."""
    channels = [axis for axis in range(len(shape)) if axis not in axes]
    options: dict[str, Any] = {"photometric": "minisblack"}
    room = shape
    is_first = False
    if len(channels) == 1 and len(axes) >= 2:
        is_colour = shape[channels[0]] in (3, 4) and dtype.name in ("uint8", "uint16")
        is_first = is_colour and channels == [0] and len(axes) == 2
        if is_first:
            room = (*shape[1:], shape[0])
        if is_colour and (is_first or channels[0] == len(shape) - 1):
            options["photometric"] = "rgb"
        if is_first or (channels[0] == len(shape) - 1 and shape[-1] > 1):
            options["planarconfig"] = "contig"
            more = room[-1] - (3 if options["photometric"] == "rgb" else 1)
            options["extrasamples"] = ["unassalpha"] if is_colour else [0] * more
            if not more:
                del options["extrasamples"]
        elif channels == [0] and len(axes) == 2 and 1 < shape[0] <= _MOST_SAMPLES:
            options |= {"planarconfig": "separate", "extrasamples": [0] * (shape[0] - 1)}
    array = _tifffile().memmap(path, shape=room, dtype=dtype, bigtiff=True, **options)
    return np.moveaxis(array, -1, 0) if is_first else array


def _reserve(path: Path) -> None:
    """Reserves disk space, since writing mapped memory without disk space would end the process."""
    if not hasattr(os, "posix_fallocate"):
        return
    with open(path, "r+b") as file:
        try:
            os.posix_fallocate(file.fileno(), 0, max(1, os.fstat(file.fileno()).st_size))
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
                raise


def _tifffile() -> Any:
    try:
        return importlib.import_module("tifffile")
    except ImportError as error:
        raise ImportError("patchfold needs tifffile to write TIFF files: pip install 'patchfold[tiff]'") from error


class Rows(Output):
    """An output that receives rows as soon as they are finished. The native merger calls room and write."""

    def begin(self, like: Any, shape: tuple[int, ...], dtype: Any, axes: tuple[int, ...]) -> None:
        self._like = like.new_empty(0) if is_torch(like) else np.empty(0)  # has the tile's kind, not its memory
        self._dtype = dtype
        self._axis = axes[0]
        self._rank = len(shape)

    def room(self, shape: tuple[int, ...]) -> Any:
        return new_room(np.empty(0), self._like, shape, self._dtype)

    def write(self, start: int, stop: int, band: Any) -> None:
        raise NotImplementedError


def written_extents(store: Any, rank: int) -> tuple[int, ...] | None:
    """Returns the extents of a store's shards or, if it has no shards, of its chunks; None if it has neither. rank: the
    smallest number of axes that the store may have."""
    for name in ("shards", "chunks"):
        extents = getattr(store, name, None)
        if isinstance(extents, tuple) and len(extents) >= rank and all(map(is_integer, extents)):
            return tuple(min(max(1, operator.index(extent)), 2**60) for extent in extents)
    return None


def written_rows(store: Any, tiling: _core.Tiling, reduce: Any) -> int:
    """Returns the number of rows of a store's shards or chunks, or of the blocks of a data set of rasterio; 1 if it has
    none of these."""
    blocks = getattr(store, "block_shapes", None)
    if blocks:  # one for each band; height and width are the last tiled axes, perhaps after the bands
        shares = getattr(getattr(store, "interleaving", None), "name", "") == "pixel"  # a block holds all bands
        rows = (store.count if shares else 1, *map(max, zip(*blocks, strict=True)))
        return int(rows[-len(tiling.axes) :][0])
    extents = written_extents(store, len(tiling.axes))
    return 1 if extents is None else extents[output_axes(tiling, len(extents), reduce)[0]]


class Store(Rows):
    """An object with __setitem__ and shape: a zarr array, a data set of h5py."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.shape = shape_of(store, MERGE, "out")

    def begin(self, like: Any, shape: tuple[int, ...], dtype: Any, axes: tuple[int, ...]) -> None:
        super().begin(like, shape, dtype, axes)
        if self.shape != shape:
            raise InvalidValue(MERGE, "out", "must have the shape of the output", str(self.shape), str(shape))
        theirs = getattr(self._store, "dtype", None)
        if theirs is not None and str(theirs) != str(dtype):
            raise InvalidType(MERGE, "out", "must have the element type of the output", str(theirs), str(dtype))

    def rows_in(self, tiling: _core.Tiling, reduce: Any) -> int:
        return written_rows(self._store, tiling, reduce)

    def write(self, start: int, stop: int, band: Any) -> None:
        where = [slice(None)] * self._rank
        where[self._axis] = slice(start, stop)
        self._store[tuple(where)] = band

    def stored(self) -> Any:
        return self._store if hasattr(type(self._store), "__getitem__") else None

    def finish(self) -> Any:
        return self._store


class Function(Rows):
    """An output that calls a function with rows (a slice) and band (these rows of the output)."""

    def __init__(self, function: Callable[[slice, Any], Any]) -> None:
        self._function = function

    def write(self, start: int, stop: int, band: Any) -> None:
        self._function(slice(start, stop), band)


def check_extents(shape: tuple[int, ...], axes: tuple[int, ...], extents: tuple[int, ...]) -> None:
    """Checks the tiled axes of a given output. The other axes are unknown before the first tile."""
    found = tuple(shape[axis] for axis in axes)
    if found != extents:
        rule = "must have the output's extents along the tiled axes"
        raise InvalidValue(MERGE, "out", rule, f"{found} of {shape}", str(extents))

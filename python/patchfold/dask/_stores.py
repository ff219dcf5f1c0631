# SPDX-License-Identifier: Apache-2.0
"""The destinations of chunks of the result: a given zarr array, or a new store at a path or URL.

A new local store is made as ``y.zarr.partial`` and renamed when it is complete. Every array has an attribute
``patchfold_unfinished`` until it is complete.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from zarr.storage import FsspecStore, LocalStore, MemoryStore

from .._errors import InvalidType, InvalidValue, given_text
from .._tiles.merge_spec import ResultType
from ._chunks import NAME, Index
from ._layouts import Layout, create
from ._manifest import SUFFIX, Manifest, manifest_of

UNFINISHED = "patchfold_unfinished"


@dataclass(frozen=True)
class Target:
    """The array and the record that a task of a chunk writes to."""

    array: Any
    manifest: Manifest | None

    def write(self, index: Index, slices: tuple[slice, ...], block: Any) -> None:
        self.array[slices] = block
        if self.manifest is not None:
            self.manifest.mark(index)


class Output:
    """A given zarr array."""

    def __init__(self, array: Any) -> None:
        if not isinstance(array, zarr.Array):
            rule = "must be a zarr array, or the path or URL of a new one"
            given = given_text(array)
            raise InvalidType(NAME, "out", rule, given, "zarr.create_array(..), 'y.zarr', or no out for a dask array")
        if array.read_only:
            raise InvalidValue(NAME, "out", "must be open for writing", expected="mode='r+'")
        self._array: Any = array
        self.manifest = manifest_of(array.store, array.path)
        self.text = str(array.store_path)

    @property
    def unit(self) -> tuple[int, ...] | None:
        """The extents of a box that is written as a whole: a shard, or a chunk in an array without shards."""
        return tuple(self._array.shards or self._array.chunks)

    @property
    def in_memory(self) -> bool:
        """True if the array lies in the memory of this process, to which other processes cannot write."""
        return isinstance(self._array.store, MemoryStore)

    @property
    def place(self) -> str | None:
        """The path or URL, beside which other stores can lie; None for an array in another kind of store."""
        store = self._array.store
        return os.path.join(store.root, self._array.path) if isinstance(store, LocalStore) else None

    def is_finished(self, record: dict[str, Any], overwrite: bool) -> bool:
        """Returns whether an earlier run has completed the array. The record of another run is an error."""
        return self.recorded(record, overwrite) is not None and UNFINISHED not in self._array.attrs

    def recorded(self, record: dict[str, Any], overwrite: bool) -> ResultType | None:
        """Returns the type of the results that an earlier run recorded, or None. The record of another run is an error."""
        found = None if overwrite or self.manifest is None else self.manifest.read()
        if found is None or self.manifest is None:
            return None
        self.manifest.check(found, record)
        dtype, channels = found["results"]
        return ResultType(dtype, None if channels is None else tuple(channels))

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        for rule, given, expected in (
            ("must have the shape of the result", self._array.shape, shape),
            ("must have the element type of the result", self._array.dtype, dtype),
        ):
            if given != expected:
                raise InvalidValue(NAME, "out", rule, str(given), str(expected))

    def begin(self, layout: Layout, entries: dict[str, Any], overwrite: bool) -> set[Index]:
        """Makes the store and the record if they are missing, and returns the chunks that an earlier run wrote."""
        found = None if overwrite or self.manifest is None else self.manifest.read()
        if found is None or self.manifest is None:
            self._array.attrs[UNFINISHED] = "some chunks are not written yet"
            if self.manifest is not None:
                self.manifest.begin(entries)
            return set()
        self.manifest.check(found, entries)
        return self.manifest.done()

    def target(self) -> Target:
        return Target(self._array, self.manifest)

    def finish(self) -> Any:
        """Completes the array after all chunks are written, and returns it."""
        if UNFINISHED in self._array.attrs:
            del self._array.attrs[UNFINISHED]
        return self._array


class NewOutput(Output):
    """A new store. A local store gets its name when it is complete."""

    def __init__(self, path: str | os.PathLike[str], kind: str) -> None:
        """kind: "array", "image" (OME-Zarr) or "labelled" (a data set of xarray)."""
        name = os.fspath(path)
        if not isinstance(name, str) or not name or "\0" in name:
            raise InvalidType(NAME, "out", "must have a name", given_text(path))
        self._local = None if "://" in name else Path(name)
        self.text = name
        self._inside = {"array": "", "image": "0", "labelled": ""}[kind]
        self._array = None
        if self._local is not None:
            if not self._local.parent.is_dir():
                rule = "the folder of the store must exist"
                raise InvalidValue(NAME, "out", rule, str(self._local.parent))
            self._store: Any = LocalStore(self._local.with_name(self._local.name + ".partial"))
            self.manifest = manifest_of(LocalStore(self._local), "")
        else:
            self._store = FsspecStore.from_url(name)
            self.manifest = manifest_of(self._store, "")

    @property
    def unit(self) -> tuple[int, ...] | None:
        return None

    @property
    def in_memory(self) -> bool:
        return self.text.startswith("memory://")

    @property
    def place(self) -> str:
        return self.text

    def is_finished(self, record: dict[str, Any], overwrite: bool) -> bool:
        if self.recorded(record, overwrite) is None:
            if self._exists() and not overwrite and self.manifest is not None and self.manifest.read() is None:
                raise self._there()
            return False
        if self._local is not None:
            return self._local.exists()
        return self._exists() and UNFINISHED not in zarr.open_array(self._store, path=self._inside, mode="r").attrs

    def _there(self) -> InvalidValue:
        rule = "must not exist, unless a run that is recorded beside it began it"
        return InvalidValue(NAME, "out", rule, self.text, "another out, or overwrite=True")

    def remove(self) -> None:
        """Removes the store and its record."""
        assert self.manifest is not None
        if self._local is None:
            for path in (self._store.path, self._store.path + SUFFIX):
                with suppress(FileNotFoundError):
                    self._store.fs.rm(path, recursive=True)
            return
        for root in (self._local, self._store.root, self._local.with_name(self._local.name + SUFFIX)):
            shutil.rmtree(root, ignore_errors=True)

    def check(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Checks nothing: the store is made for the result."""

    def begin(self, layout: Layout, entries: dict[str, Any], overwrite: bool) -> set[Index]:
        assert self.manifest is not None
        self._inside = layout.path
        found = None if overwrite else self.manifest.read()
        there = self._exists()
        if found is None:
            if there and not overwrite:
                raise self._there()
            return self._anew(layout, entries)
        self.manifest.check(found, entries)
        if self._local is None and not there or self._local is not None and not (there or self._store.root.is_dir()):
            return self._anew(layout, entries)  # another program removed the store
        store = LocalStore(self._local) if self._local is not None and not self._store.root.is_dir() else self._store
        try:
            self._array = zarr.open_array(store, path=self._inside, mode="r+")
        except (FileNotFoundError, KeyError):  # the earlier run ended while it made the store
            return self._anew(layout, entries)
        return self.manifest.done()

    def _anew(self, layout: Layout, entries: dict[str, Any]) -> set[Index]:
        assert self.manifest is not None
        if self._local is not None:
            shutil.rmtree(self._store.root, ignore_errors=True)
        self.manifest.begin(entries)
        self._array = create(self._store, layout)
        self._array.attrs[UNFINISHED] = "some chunks are not written yet"
        return set()

    def _exists(self) -> bool:
        if self._local is not None:
            return self._local.exists()
        return any(self._store.fs.exists(f"{self._store.path}/{name}") for name in ("zarr.json", ".zarray", ".zgroup"))

    def finish(self) -> Any:
        array = super().finish()
        if self._local is None or not self._store.root.is_dir():
            return array
        if self._local.exists():  # an older store, which overwrite=True replaces
            shutil.rmtree(self._local)
        os.rename(self._store.root, self._local)
        return zarr.open_array(LocalStore(self._local), path=self._inside, mode="r+")


def output_of(out: Any, kind: str) -> Output:
    return NewOutput(out, kind) if isinstance(out, (str, os.PathLike)) else Output(out)

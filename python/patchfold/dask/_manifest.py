# SPDX-License-Identifier: Apache-2.0
"""The record of a run, next to its store: a description of the run, and the list of written chunks.

The record of a store ``y.zarr`` is a folder (or prefix) ``y.zarr.patchfold`` with ``manifest.json`` and, for each written
chunk, an entry such as ``done/0.3``. The task that writes a chunk makes the entry afterwards, so that a chunk with an entry
always exists.
"""

from __future__ import annotations

import json
from typing import Any

from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync
from zarr.storage import FsspecStore, LocalStore

from .._errors import InvalidValue
from ._chunks import NAME, Index

SUFFIX = ".patchfold"
_FILE = "manifest.json"


class Manifest:
    """The record of one array, which can be sent to workers."""

    def __init__(self, store: Any, prefix: str, text: str) -> None:
        self._store = store
        self._prefix = f"{prefix}/" if prefix else ""
        self._text = text

    def read(self) -> dict[str, Any] | None:
        """Returns the description of the recorded run, or None without a record."""
        if not self._is_there():
            return None
        found = sync(self._store.get(self._prefix + _FILE, default_buffer_prototype()))
        if found is None:
            return None
        try:
            entries = json.loads(found.to_bytes())
        except ValueError:
            entries = None
        if not isinstance(entries, dict):
            rule = "has a manifest that cannot be read"
            raise InvalidValue(NAME, "out", rule, f"{self._text}/{_FILE}", "overwrite=True, or another out")
        return entries

    def begin(self, entries: dict[str, Any]) -> None:
        """Records a new run."""
        self.remove()
        self._set(_FILE, json.dumps(entries, indent=1).encode())

    def check(self, found: dict[str, Any], entries: dict[str, Any]) -> None:
        """Raises an error that names the difference if the record belongs to another run."""
        for name, expected in json.loads(json.dumps(entries)).items():
            there = found.get(name)
            if there == expected:
                continue
            if isinstance(there, dict) and isinstance(expected, dict):
                differs = next(each for each in (*expected, *there) if there.get(each) != expected.get(each))
                label, there, expected = f"{name}: {differs}", there.get(differs), expected.get(differs)
            else:
                label = name
            same = ", or the same version= from the beginning if it is the same function" if name == "function" else ""
            raise InvalidValue(
                NAME,
                "out",
                f"belongs to a run with another {label} (see {self._text}/{_FILE})",
                _short(expected),
                f"{_short(there)}, or another out, or overwrite=True to begin anew{same}",
            )

    def mark(self, index: Index) -> None:
        """Records that a chunk is written."""
        self._set(f"done/{'.'.join(map(str, index))}", b"\n")

    def done(self) -> set[Index]:
        """Returns the chunks that are written."""
        found = set()
        for key in self._keys("done/"):
            name = key.rpartition("/")[2]
            if all(part.isdecimal() for part in name.split(".")):
                found.add(tuple(map(int, name.split("."))))
        return found

    def remove(self) -> None:
        """Removes the record of the run."""
        for key in self._keys(""):
            sync(self._store.delete(key))

    def _is_there(self) -> bool:
        """Returns whether the folder of the record exists; True for a store without folders. Entries are looked for only
        then, since a search would make the folder."""
        return not isinstance(self._store, LocalStore) or self._store.root.is_dir()

    def _set(self, name: str, content: bytes) -> None:
        buffer = default_buffer_prototype().buffer.from_bytes(content)
        sync(self._store.set(self._prefix + name, buffer))

    def _keys(self, prefix: str) -> list[str]:
        async def collect() -> list[str]:
            return [key async for key in self._store.list_prefix(self._prefix + prefix)]

        return [key for key in sync(collect()) if not key.endswith(".partial")] if self._is_there() else []

    def __str__(self) -> str:
        return self._text


def manifest_of(store: Any, path: str) -> Manifest | None:
    """Returns the record of a store; None for a store that has no neighbouring folder, such as a store in memory."""
    if isinstance(store, LocalStore):
        root = store.root.with_name(store.root.name + SUFFIX)
        return Manifest(LocalStore(root), path, str(root / path if path else root))
    if isinstance(store, FsspecStore):
        beside = FsspecStore(store.fs, path=store.path.rstrip("/") + SUFFIX)
        return Manifest(beside, path, f"{beside.path}/{path}".rstrip("/"))
    return None


def _short(entry: Any) -> str:
    text = "none" if entry is None else json.dumps(entry)
    return text if len(text) <= 120 else text[:117] + ".."

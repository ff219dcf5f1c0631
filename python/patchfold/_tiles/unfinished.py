# SPDX-License-Identifier: Apache-2.0
"""The folder in which an output is made until it is whole."""

from __future__ import annotations

import itertools
import os
import platform
import shutil
import sys
import weakref
import zlib
from pathlib import Path

if sys.platform != "win32":
    import fcntl


class Unfinished:
    """A hidden folder beside an output, which is removed with this object, and is locked while its process lives.

    A process that is killed leaves its folder. The next process with the same output takes the same name, and removes the
    folder if it is not locked. The name tells machines apart, since on some network file systems a machine does not see
    the locks of others. Windows has no such locks: there a folder stays.
    """

    def __init__(self, output: Path) -> None:
        name = output.name
        while len(os.fsencode(name)) > 200:  # so that the longer name of the folder is legal
            name = name[:-1]
        machine = zlib.crc32(platform.node().encode())
        for number in itertools.count():
            self.folder = output.with_name(f".{name}.{machine:08x}.{number}.tmp")
            try:
                lock = _made(self.folder)
                if lock is not None:
                    self.remove = weakref.finalize(self, _remove, self.folder, lock, os.getpid())
                    return
            except KeyboardInterrupt:
                _remove_unlocked(self.folder)
                raise


def _made(folder: Path) -> int | None:
    """Makes and locks a folder. Returns the descriptor of the lock, or None if another process has the folder."""
    try:
        folder.mkdir()
    except FileExistsError:
        _remove_unlocked(folder)
        try:
            folder.mkdir()
        except FileExistsError:
            return None
    if sys.platform == "win32":
        return -1
    try:
        lock = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:  # another process has taken the folder for one that a killed process left
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:  # as above
        os.close(lock)
        return None
    except OSError:  # a file system without locks, where nobody removes the folder
        pass
    except KeyboardInterrupt:
        os.close(lock)
        raise
    if _is_at(folder, lock):
        return lock
    os.close(lock)
    return None


def _remove_unlocked(folder: Path) -> None:
    """Removes a folder that a killed process left."""
    if sys.platform == "win32":
        return
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(folder, lock):
            shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        pass
    finally:
        os.close(lock)


def _is_at(folder: Path, lock: int) -> bool:
    """Returns whether the path names the folder of the lock, and not another one that replaced it."""
    try:
        return os.path.samestat(os.lstat(folder), os.fstat(lock))
    except FileNotFoundError:
        return False


def _remove(folder: Path, lock: int, process: int) -> None:
    """Removes an unfinished output, except in a forked child, where it belongs to the parent."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
        if lock >= 0:
            os.close(lock)

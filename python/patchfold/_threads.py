# SPDX-License-Identifier: Apache-2.0
"""Limits the threads of single calls."""

from __future__ import annotations

import operator
from contextlib import nullcontext
from typing import Any

from . import _core
from ._arguments import is_integer
from ._errors import InvalidType, InvalidValue, given_text, value_text
from ._typing import Int


class thread_limit:  # users call this class like a function, so its name is in lower case
    """Limits the number of threads of each call of patchfold that the calling thread makes in a ``with`` block. Use a limit
    in workers: n workers that each use every processor would slow each other down.

    The limit does not change other threads or set_num_threads. Of nested limits the smallest applies. get_num_threads
    returns the number that a call in the block would use. Results do not depend on the limit.

    Arguments:
        threads: the largest number of threads, at least 1; 1 is the calling thread alone.

    Errors: InvalidType and InvalidValue with the operator "thread_limit".

    Example:
        >>> import numpy as np, patchfold
        >>> with patchfold.thread_limit(1):
        ...     patchfold.get_num_threads()
        1
    """

    def __init__(self, threads: Int) -> None:
        self._threads = checked_threads(threads, "thread_limit")
        self._before: list[int] = []

    def __enter__(self) -> thread_limit:
        before = _core.set_thread_limit(self._threads)
        if before:
            _core.set_thread_limit(min(before, self._threads))
        self._before.append(before)
        return self

    def __exit__(self, *error: object) -> None:
        _core.set_thread_limit(self._before.pop())

    def __repr__(self) -> str:
        return f"thread_limit({self._threads})"


def checked_threads(threads: Any, name: str) -> int:
    if not is_integer(threads):
        raise InvalidType(name, "threads", "must be a number of threads", given_text(threads))
    number = operator.index(threads)
    if number < 1:
        raise InvalidValue(name, "threads", "must be at least 1", value_text(number))
    return min(number, 2**30)


def limited(threads: int | None) -> Any:
    """Returns a context manager that limits the threads of its block; None: no limit."""
    return nullcontext() if threads is None else thread_limit(threads)

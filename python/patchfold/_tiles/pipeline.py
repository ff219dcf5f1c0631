# SPDX-License-Identifier: Apache-2.0
"""Reads tiles ahead, and calls a function for several tiles at a time."""

from __future__ import annotations

import contextvars
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from operator import index
from typing import Any, TypeVar

from .. import _core
from .._arguments import is_integer
from .._errors import InvalidType, InvalidValue, given_text, value_text

Group = TypeVar("Group")
Start = Callable[[Group], Callable[[], Any]]
"""Begins the work for a group of tiles; the returned function waits for the result."""

_MOST_WORKERS = 1024


def checked_workers(workers: Any, operator: str) -> int | None:
    """Returns the number of threads that call a function of tiles; None if the calling thread does."""
    if workers is None:
        return None
    if not is_integer(workers):
        raise InvalidType(operator, "workers", "must be a number of threads, or None", given_text(workers))
    count = index(workers)
    if not 0 <= count <= _MOST_WORKERS:
        rule = f"must be at least 0 and at most {_MOST_WORKERS}"
        raise InvalidValue(operator, "workers", rule, value_text(count), "0: nothing runs beside anything else")
    return count


class Pipeline:
    """Makes the results for groups of tiles, in order. Three things may happen at the same time: other threads read groups,
    `workers` threads call the function, and the calling thread merges.

    Arguments:
        workers: the number of threads that call the function. None: the calling thread calls it.
        ahead: whether groups are read ahead if workers is None. If not, or if workers is 0, there are no other threads.
        together: whether as many threads as call the function may read groups.
    """

    def __init__(self, workers: int | None, *, ahead: bool, together: bool) -> None:
        self._workers = workers or 0
        self._readers = self._workers if together and workers else 1
        self._reads_ahead = bool(workers) or (ahead and workers is None)
        self._gate = _Gate()

    def merging(self) -> AbstractContextManager[None]:
        """Returns a context in which no group is read: a data set may not be written in one thread while another one reads
        it."""
        return self._gate.merging()

    @contextmanager
    def results(
        self, groups: Iterable[Group], read: Callable[[Group], Any], call: Callable[[Any], Any]
    ) -> Iterator[Iterator[tuple[Group, Callable[[], Any]]]]:
        """Yields an iterator of each group with a function that returns call(read(group)), or raises what they raise. At the
        end of the block no group is read any more, and no call runs."""

        def start(group: Group) -> Callable[[], Any]:
            return lambda: call(read(group))

        with ExitStack() as stack:
            yield self._in_order(groups, self._started(stack, read, call) if self._reads_ahead else start)

    def _in_order(self, groups: Iterable[Group], start: Start[Group]) -> Iterator[tuple[Group, Callable[[], Any]]]:
        # The calling thread has one group in work, besides one that is read; a worker has one, besides one that is read
        # or waits for earlier groups.
        most = max(2 * self._workers, 1 + self._reads_ahead)
        pending: deque[tuple[Group, Callable[[], Any]]] = deque()
        for group in groups:
            pending.append((group, start(group)))
            if len(pending) == most:
                yield pending.popleft()
        while pending:
            yield pending.popleft()

    def _started(self, stack: ExitStack, read: Callable[[Group], Any], call: Callable[[Any], Any]) -> Start[Group]:
        reader = ThreadPoolExecutor(self._readers, "patchfold-read")
        stack.callback(reader.shutdown)
        here, gate = _settings_of_this_thread(), self._gate

        def read_here(group: Group) -> Any:
            with gate.reading():
                return here(read, group)

        def read_later(group: Group) -> list[Any]:
            return [reader.submit(read_here, group)]

        def taken(box: list[Any]) -> Any:
            return call(box.pop().result())  # with no reference to the tile left, so that call can free it

        def called(box: list[Any]) -> Any:
            with gate.calling():
                return here(taken, box)

        if not self._workers:
            stack.callback(gate.close)
            return lambda group: partial(taken, read_later(group))
        pool = ThreadPoolExecutor(self._workers, "patchfold-call")
        stack.callback(pool.shutdown)
        stack.callback(gate.close)
        return lambda group: pool.submit(called, read_later(group)).result


class _Gate:
    """Lets other threads read and call until it is closed, and does not let them read while the caller merges.

    No lock is held meanwhile, and shutdown of a ThreadPoolExecutor does not replace `close`: an interrupt may come between
    taking a lock and noting that, and while the executor starts a thread, which it then forgets.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._reading = self._calling = 0
        self._merging = self._closed = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or not self._merging)
            self._check_open()
            self._reading += 1
        try:
            yield
        finally:
            with self._changed:
                self._reading -= 1
                self._changed.notify_all()

    @contextmanager
    def calling(self) -> Iterator[None]:
        with self._changed:
            self._check_open()
            self._calling += 1
        try:
            yield
        finally:
            with self._changed:
                self._calling -= 1
                self._changed.notify_all()

    @contextmanager
    def merging(self) -> Iterator[None]:
        with self._changed:
            self._merging = True
            self._changed.wait_for(lambda: self._reading == 0)
        try:
            yield
        finally:
            with self._changed:
                self._merging = False
                self._changed.notify_all()

    def close(self) -> None:
        """Lets no other thread begin, and waits for those that read or call."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._reading == self._calling == 0)

    def _check_open(self) -> None:
        if self._closed:
            raise CancelledError


def _settings_of_this_thread() -> Callable[..., Any]:
    """Returns a function that calls a function in another thread with what this thread has set for itself: context
    variables, patchfold's thread_limit, and torch's modes without gradients and of autocast."""
    variables = contextvars.copy_context()
    limit = _core.set_thread_limit(0)
    _core.set_thread_limit(limit)
    modes = _modes_of_torch()

    def call(function: Callable[..., Any], *arguments: Any) -> Any:
        before = _core.set_thread_limit(limit)
        try:
            with ExitStack() as stack:
                for mode in modes:
                    stack.enter_context(mode())
                return variables.copy().run(function, *arguments)
        finally:
            _core.set_thread_limit(before)

    return call


def _modes_of_torch() -> list[Callable[[], Any]]:
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return []
    modes = [
        partial(torch.inference_mode, torch.is_inference_mode_enabled()),
        partial(torch.set_grad_enabled, torch.is_grad_enabled()),
    ]
    enabled = [device for device in ("cpu", "cuda") if torch.is_autocast_enabled(device)]
    return modes + [partial(torch.autocast, device, torch.get_autocast_dtype(device)) for device in enabled]

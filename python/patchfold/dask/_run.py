# SPDX-License-Identifier: Apache-2.0
"""Computes the chunks of a run: with the client of distributed, one future for each, or with dask's threads."""

from __future__ import annotations

import importlib
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import dask
import dask.threaded
from dask.callbacks import Callback
from dask.highlevelgraph import HighLevelGraph

from .._errors import InvalidValue
from .._tiles.apply import progress_of
from ._chunks import NAME

_PATIENCE = 30.0
"""Seconds without an answer of the scheduler after which a run ends."""

_ALONE = 60.0
"""Seconds without a finished chunk after which a run that has no worker warns."""

Advance = Callable[[int], Any]


@dataclass
class Count:
    """The chunks that this call has finished so far, and the tiles that it has computed."""

    chunks: int = 0
    tiles: int = 0


def client_of(client: Any) -> Any:
    """Returns the given client, or the current client of distributed; None without one."""
    if client is not None:
        return client
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


def compute_one(client: Any, graph: HighLevelGraph, key: Any) -> Any:
    """Returns the result of one task of a graph."""
    if client is None:
        return _threads()(graph.to_dict(), key)
    return client.get(graph, key, sync=False).result()


def compute_chunks(
    client: Any,
    graph: HighLevelGraph,
    keys: list[Any],
    tiles: int,
    topic: str,
    progress: Any,
    where: str,
    unit: str = "chunk",
) -> int:
    """Computes all chunks. Returns the number of tiles that were computed. tiles: the number of tiles that chunks need.
    unit: what the bar counts."""
    count = Count()
    with progress_of(progress, len(keys), unit) as advance:
        try:
            if client is None:
                _with_threads(graph, keys, count, advance)
                count.tiles = tiles
            else:
                with _listening(client, topic, count):
                    _with_futures(client, graph, keys, count, advance)
        except BaseException as error:
            if hasattr(error, "add_note"):
                for note in _notes(error, count.chunks, len(keys), where):
                    error.add_note(f"patchfold: {NAME}: {note}")
            raise
    return count.tiles


def _notes(error: BaseException, written: int, wanted: int, where: str) -> Iterator[str]:
    if type(error).__name__ == "KilledWorker":
        yield (
            "the workers that ran this task ended, each time: for lack of memory? They may end "
            "`distributed.scheduler.allowed-failures` times (3 by default) before a run gives up"
        )
    yield f"{written} of {wanted} chunks that were missing are written to {where}; the same call computes the others"


def _threads() -> Any:
    base: Any = dask.base
    return base.get_scheduler() or dask.threaded.get


def _with_threads(graph: HighLevelGraph, keys: list[Any], count: Count, advance: Advance) -> None:
    wanted = set(keys)
    lock = threading.Lock()

    def after(key: Any, *_: Any) -> None:
        if key in wanted:
            with lock:
                count.chunks += 1
                advance(1)

    callback: Any = Callback
    with callback(posttask=after):
        _threads()(graph.to_dict(), keys)


def _with_futures(client: Any, graph: HighLevelGraph, keys: list[Any], count: Count, advance: Advance) -> None:
    """Computes all chunks as futures, and releases each future after its chunk is written: distributed would compute the
    result again if its worker died, although the chunk is written."""
    distributed: Any = importlib.import_module("distributed")
    futures = dict(zip(keys, client.get(graph, keys, sync=False), strict=True))
    results: Any = {"with_results": True, "raise_errors": False}
    finished = distributed.as_completed(list(futures.values()), loop=client.loop, **results)
    try:
        answered = time.monotonic()
        patient = answered + _ALONE
        while futures:
            if finished.has_ready():
                for future, result in finished.next_batch(block=False):
                    _check(future, result)
                    futures.pop(future.key).release()
                    count.chunks += 1
                    advance(1)
                answered = time.monotonic()
                patient = answered + _ALONE
                continue
            time.sleep(0.02)
            if client.status == "running":
                answered = time.monotonic()
                if answered > patient:
                    patient = answered + _ALONE
                    _warn_without_workers(client)
            elif client.status == "closed" or time.monotonic() - answered > _PATIENCE:
                raise _lost(client)
    finally:
        left = list(futures.values())
        futures.clear()
        if left and client.status == "running":
            client.cancel(left)


def _check(future: Any, result: Any) -> None:
    if future.status == "error":
        kind, error, trace = result
        raise error.with_traceback(trace)
    if future.status != "finished":
        raise _lost(future.client)


def _warn_without_workers(client: Any) -> None:
    try:
        workers = client.scheduler_info(n_workers=-1)["workers"]
    except OSError:  # a lost connection, which the caller notices
        return
    if not workers:
        message = (
            f"{NAME}: the run waits, since the scheduler has no worker: start one, or begin the call again with a new "
            "cluster, which computes what is missing. A LocalCluster gives a dead worker up that is not back after "
            "`distributed.deploy.lost-worker-timeout` (15 seconds by default)"
        )
        warnings.warn(message, UserWarning, stacklevel=2)


def _lost(client: Any) -> ConnectionError:
    address = getattr(getattr(client, "scheduler", None), "address", "")
    return ConnectionError(f"{NAME}: scheduler: must answer: the connection to {address or 'it'} is lost")


@contextmanager
def _listening(client: Any, topic: str, count: Count) -> Iterator[None]:
    """Counts the tiles that tasks report to the scheduler."""

    def heard(event: tuple[Any, int]) -> None:
        count.tiles += event[1]

    client.subscribe_topic(topic, heard)
    try:
        yield
        _settle(client, topic, count)
    finally:
        if client.status == "running":
            client.unsubscribe_topic(topic)


def _settle(client: Any, topic: str, count: Count) -> None:
    """Waits until this process has all reports that the scheduler has received, for 5 seconds at most."""
    most = time.monotonic() + 5
    while time.monotonic() < most:
        before = count.tiles
        client.run_on_scheduler(_nothing)
        time.sleep(0.1)
        if count.tiles == before:
            return


def _nothing() -> None:
    """Does nothing. The scheduler answers this call after all earlier events."""


def check_store(client: Any, in_memory: bool) -> None:
    """Refuses a store in the memory of this process, to which other processes cannot write."""
    local = client is None and _threads() in (dask.threaded.get, dask.local.get_sync)
    if in_memory and not local:
        rule = "must be a store that every worker can open"
        given = "a store in the memory of this process"
        raise InvalidValue(NAME, "out", rule, given, "a path that the workers share, or the URL of an object store")


def check_resources(client: Any, resources: Any, lazy: bool) -> None:
    """Refuses resources that no worker has, since tasks would wait for ever. As long as there are no workers, none is
    refused."""
    if not resources:
        return
    if lazy and dask.config.get("optimization.fuse.active", None) is not False:
        rule = "need an out: dask forgets them when it optimises the graph of a lazy array"
        expected = "out='y.zarr', or dask.config.set({'optimization.fuse.active': False}) around all that computes"
        raise InvalidValue(NAME, "resources", rule, repr(resources), expected)
    if not isinstance(resources, Mapping) or client is None:
        raise InvalidValue(
            NAME,
            "resources",
            "needs a client of distributed" if client is None else "must be names with amounts",
            repr(resources),
            "client=distributed.Client(..), or no resources" if client is None else "{'GPU': 1}",
        )
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    offers = [worker.get("resources") or {} for worker in workers]
    if offers and not any(all(each.get(name, 0) >= need for name, need in resources.items()) for each in offers):
        raise InvalidValue(
            NAME,
            "resources",
            "must be what a worker offers",
            repr(dict(resources)),
            f"{offers[0]}; a worker is started with: dask worker ADDRESS --resources 'GPU=1'",
        )

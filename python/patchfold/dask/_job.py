# SPDX-License-Identifier: Apache-2.0
"""The work of the tasks: reads tiles, calls the function, cuts its results into pieces, and merges pieces to chunks."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from .._arrays.devices import to_device, to_processor
from .._arrays.kinds import is_numpy, is_torch
from .._errors import InvalidValue
from .._threads import thread_limit
from .._tiles.boxes import merge_box
from .._tiles.merge_spec import MergeSpec, ResultType
from .._tiles.missing_axes import called
from .._tiles.probe import check_given
from .._tiles.tile import Tile, names_of
from .._tiles.tiling import Tiling
from ._chunks import NAME, Chunks, Index
from ._parts import Box, Region, assembled

Pieces = dict[int, Any]
"""Parts of the results of tiles, by the numbers of the tiles."""

Layout = tuple[tuple[tuple[Box, tuple[Box, ...]], ...], ...]
"""For each tile of a task, the boxes of the dask array that the tile needs, each with the places of the parts in the box."""


@dataclass(frozen=True)
class Job:
    """The data that the tasks of a run share, which is sent to each worker once."""

    tiling: Tiling
    spec: MergeSpec
    fn: Any
    source: Any
    """The store from which tasks read tiles; None for a dask array, whose parts are results of other tasks."""
    device: Any
    stacked: bool
    topic: str
    """The name of the scheduler's topic on which tasks report."""
    results: ResultType | None = None
    chunks: Chunks | None = None
    checked: frozenset[int] = frozenset()
    """The tiles for which the function is called twice."""

    def read(self, tiles: list[Tile], layout: Layout, parts: tuple[Any, ...]) -> list[Any]:
        """Reads tiles, each a new array. Uses one thread, since dask counts a task as one thread."""
        with thread_limit(1):
            return self._read(tiles, layout, parts)

    def _read(self, tiles: list[Tile], layout: Layout, parts: tuple[Any, ...]) -> list[Any]:
        if self.source is not None:
            return [self.source.read(self.tiling, tile) for tile in tiles]
        read, used = [], 0
        for tile, boxes in zip(tiles, layout, strict=True):
            data = []
            for box, places in boxes:
                data.append((box, assembled(box, places, list(parts[used : used + len(places)]))))
                used += len(places)
            read.append(self.tiling.read(Region(self.tiling.shape, data), tile))
        return read

    def call(self, tiles: list[Tile], layout: Layout, parts: tuple[Any, ...]) -> list[Any]:
        """Returns the results of the function for tiles, a result for each tile."""
        try:
            read = self.read(tiles, layout, parts)
            data = np.stack(read) if self.stacked else read[0]
            del read
            given = called(self.fn, to_device(data, self.device, NAME), self.stacked, NAME)
        except BaseException as error:
            if hasattr(error, "add_note"):
                error.add_note(f"patchfold: {NAME}: {names_of(tiles)}")
            raise
        del data
        check_given(given, tiles, NAME)
        if isinstance(given, (tuple, dict, list)):
            raise InvalidValue(
                NAME,
                f"result for {names_of(tiles)}",
                "must be one array",
                f"a {type(given).__name__} of {len(given)}",
                "one call for each of several results",
            )
        given = to_processor(given, NAME, f"result for {names_of(tiles)}")
        if not self.stacked:
            return [given]
        shape = tuple(_core.array_facts(given, NAME, f"result for {names_of(tiles)}")[0])
        if shape[:1] != (len(tiles),):
            rule = "must have a first axis of the batch's tiles"
            raise InvalidValue(NAME, f"result for {names_of(tiles)}", rule, str(shape), str((len(tiles), "..")))
        return [given[k] for k in range(len(tiles))]

    def results_of(self, tiles: list[Tile], layout: Layout, parts: tuple[Any, ...]) -> list[Any]:
        """Returns the results of the function for tiles, which are computed twice if the run checks one of them, and reports
        the tiles."""
        results = self.call(tiles, layout, parts)
        if any(tile.index in self.checked for tile in tiles):
            _check_again(tiles, results, self.call(tiles, layout, parts))
        _tell(self.topic, len(tiles))
        return results

    def check_result(self, tile: Tile, result: Any) -> None:
        """Checks that a result has the declared element type and shape, or the type and shape of the first result."""
        assert self.results is not None
        name = f"result for {names_of([tile])}"
        shape, dtype = _core.array_facts(result, NAME, name)[:2]
        expected = self.tiling._native.result_shape(tile.index, self.results.channels_in(self.tiling))
        rules = (
            ("shape and the untiled axes", str(tuple(shape)), str(expected)),
            ("element type", ResultType(dtype).dtype, self.results.dtype),
        )
        for what, given, wanted in rules:
            if given != wanted:
                rule = f"must have the {what} that was declared, or that the first result had"
                raise InvalidValue(NAME, name, rule, given, wanted)


def run_tiles(job: Job, numbers: tuple[int, ...], targets: tuple[Index, ...], layout: Layout, *parts: Any) -> Any:
    """Calls the function for tiles. Returns the pieces for each chunk of `targets`, as a list; if there is one chunk only,
    its pieces without a list."""
    assert job.results is not None and job.chunks is not None
    tiles = [job.tiling[number] for number in numbers]
    results = job.results_of(tiles, layout, parts)
    for tile, result in zip(tiles, results, strict=True):
        job.check_result(tile, result)
    rank = len(job.results.channels_in(job.tiling)) + len(job.tiling.axes)
    found: list[Pieces] = []
    for target in targets:
        box = job.chunks.box(target)
        found.append(
            {
                tile.index: _copied(result[job.tiling.piece(tile, box, rank=rank)])
                for tile, result in zip(tiles, results, strict=True)
                if target in job.chunks.touched(tile.index)
            }
        )
    return found[0] if len(found) == 1 else found


def _check_again(tiles: list[Tile], first: list[Any], second: list[Any]) -> None:
    for tile, one, other in zip(tiles, first, second, strict=True):
        if bits_of(one) != bits_of(other):
            rule = "must give the same bits each time: a tile that is computed again would make a seam"
            expected = "a model in evaluation mode, without dropout or random numbers, or seeds made from the tile"
            raise InvalidValue(NAME, "fn", rule, f"two results for {names_of([tile])}", expected)


def bits_of(array: Any) -> bytes:
    """Returns the elements of an array in the processor's memory, row-major."""
    own = _copied(array)
    return own.tobytes() if is_numpy(own) else own.reshape(-1).view(sys.modules["torch"].uint8).numpy().tobytes()


def _copied(piece: Any) -> Any:
    """Returns a contiguous copy: the function may return the same array for each tile, and a view would keep the whole
    result in memory."""
    if is_numpy(piece):
        return np.array(piece, order="C")
    if is_torch(piece):
        own = piece.detach().contiguous().clone()
        try:
            return own.numpy()
        except TypeError:  # an element type that NumPy lacks
            return own
    return np.array(np.from_dlpack(piece), order="C")


def pick(found: list[Pieces], k: int) -> Pieces:
    """Returns the pieces for one of several chunks."""
    return found[k]


def merge_chunk(job: Job, index: Index, *found: Pieces) -> Any:
    """Returns one chunk of the result."""
    assert job.results is not None and job.chunks is not None
    pieces: Pieces = {}
    for each in found:
        pieces.update(each)
    made = job.spec._output(job.tiling, job.results.dtype, job.results.channels_in(job.tiling))[2]
    out = np.empty(job.chunks.shape(index), made)
    return merge_box(job.tiling, job.spec, job.chunks.box(index), pieces, out=out, results=job.results, threads=1)


def write_chunk(job: Job, target: Any, index: Index, *found: Pieces) -> Index:
    """Merges a chunk and writes it."""
    assert job.chunks is not None
    target.write(index, job.chunks.slices(index), merge_chunk(job, index, *found))
    return index


def write_tiles(job: Job, target: Any, numbers: tuple[int, ...], layout: Layout, *parts: Any) -> None:
    """Reads tiles and writes each at its number along the first axis."""
    for number, tile in zip(numbers, job.read([job.tiling[number] for number in numbers], layout, parts), strict=True):
        target.write((number, *(0 for _ in tile.shape)), (slice(number, number + 1),), tile[None])


def probe_tiles(job: Job, numbers: tuple[int, ...], layout: Layout, *parts: Any) -> ResultType:
    """Returns the element type and the untiled extents of the function's result for a tile."""
    tiles = [job.tiling[number] for number in numbers]
    result = job.call(tiles, layout, parts)[0]
    shape, dtype = _core.array_facts(result, NAME, f"result for {names_of(tiles)}")[:2]
    axes = job.tiling._native.axes_in(len(shape))
    return ResultType(dtype, tuple(extent for axis, extent in enumerate(shape) if axis not in axes))


def _tell(topic: str, tiles: int) -> None:
    """Reports computed tiles to the scheduler of distributed, if there is one."""
    try:
        worker = importlib.import_module("distributed").get_worker()
    except (ImportError, ValueError):
        return
    worker.log_event(topic, tiles)

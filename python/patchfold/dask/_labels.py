# SPDX-License-Identifier: Apache-2.0
"""Joins the labels of objects that a function gives tile by tile on the workers of dask.

Tasks write the labels of each tile to a store beside the output, so that an interrupted run goes on there. Further tasks
read where tiles overlap, and find which labels are one object. Then tiles are merged as in apply_tiled, with final labels.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from dask._task_spec import DataNode, Task, TaskRef
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from .._errors import InvalidType, InvalidValue, given_text
from .._signatures import takes
from .._tiles.apply import batch_of, groups_of
from .._tiles.merge_spec import MergeSpec, ResultType
from .._tiles.objects import Array, Objects, Places, checked_join, compact, joined, label_type
from .._tiles.tile import Tile, names_of
from .._tiles.tiling import Tiling
from .._typing import Int, IntOrInts, Join, Progress, TilingSettings
from ._apply import Options, bytes_of, checked_tiles, function_of, merged, record_of
from ._chunks import chunk_extents
from ._graph import Graph, with_job
from ._job import Job, Layout
from ._layouts import Layout as StoreLayout
from ._report import Report
from ._run import check_resources, check_store, client_of, compute_chunks, compute_one
from ._sources import Source, source_of
from ._stores import NewOutput, output_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

LABELS = "dask.merge_labels"
_SPEC = MergeSpec(reduce="center", fill=0)


@takes(TilingSettings, Tiling.__init__)
def merge_labels(
    fn: Callable[[Any], Any],
    source: Any,
    tile: IntOrInts,
    out: Any,
    *,
    join: Join = "touch",
    batch: int | None = None,
    dtype: Any = None,
    chunks: Any = None,
    progress: Progress = True,
    device: Any = None,
    level: Int = 0,
    resources: Mapping[str, float] | None = None,
    check: Int = 0,
    version: str | None = None,
    overwrite: bool = False,
    client: Any = None,
    **settings: Unpack[TilingSettings],
) -> Report:
    """Applies a function that labels objects to overlapping tiles, on many processes, and gives each object one label.

    The result has the bits of ``patchfold.merge_labels`` on one machine.

    Shapes: as for patchfold.merge_labels.

    Arguments:
        fn: as for patchfold.merge_labels. Workers must be able to import or unpickle it, as for apply_tiled.
        out: where the result is written: the path or URL of a store that is made, or a zarr array in a local folder, as for
            apply_tiled. The labels of tiles lie in "y.zarr.labels" until the result is complete. After an interruption the
            same call continues there; fn is not called again for tiles that have labels.
        join, dtype: as for patchfold.merge_labels.
        tile, overlap, stride, tail, axes, padding_mode, value, scale, offset, result, align, margin, output: as for
            Tiling.
        source, batch, chunks, device, level, resources, check, version, overwrite, client: as for apply_tiled.
        progress: True shows a bar for tiles and then one for chunks, if tqdm is installed; a function is called with
            (labelled tiles, all tiles) and then with (written chunks, all chunks).

    Formula: as for patchfold.merge_labels.

    Memory: one task holds the final labels of all labels of all tiles, and so does each worker.

    Types: returns a Report, whose ``array`` is the store's.

    Errors: as for apply_tiled and patchfold.merge_labels.

    Example:
        >>> import numpy as np, patchfold.dask, tempfile
        >>> def runs(tile):  # numbers the runs of ones of each tile anew
        ...     return np.cumsum(np.diff(tile, prepend=0) == 1) * tile
        >>> x = np.array([0, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     report = patchfold.dask.merge_labels(runs, x, 4, f"{folder}/y.zarr", overlap=1, progress=False)
        ...     report.array[:].tolist()
        [0, 1, 1, 1, 1, 1, 0, 0, 2, 0, 3, 3]
    """
    begun = time.monotonic()
    if not callable(fn):
        raise InvalidType(LABELS, "fn", "must be a function", given_text(fn))
    given = source_of(source, level)
    tiling = Tiling(given.array.shape, tile, **settings)
    rule = checked_join(join, LABELS)
    _places(tiling)
    if not len(tiling):
        raise InvalidValue(LABELS, "source", "must have a tile", str(given.array.shape))
    kind = label_type(dtype, out, LABELS)
    options = Options(
        batch=batch_of(batch, LABELS),
        stacked=batch is not None,
        out=out,
        chunks=chunks,
        progress=progress,
        device=device,
        resources=resources,
        check=check,
        function=function_of(fn, version, out),
        overwrite=overwrite,
        client=client_of(client),
        merge=tokenize(_SPEC, rule, kind),
    )
    labelled = _Labelled(fn, given, tiling, options)
    output = output_of(out, given.kind)
    check_store(options.client, output.in_memory)
    record = record_of(given, tiling, _SPEC, options)
    done = output.is_finished(record, overwrite)
    channels = labelled.channels(output.recorded(record, overwrite))
    shape = tiling.box_shape((slice(None),) * len(tiling.axes), channels)
    output.check(shape, kind)
    axes = tiling._native.axes_in(len(shape))
    chunk_extents(chunks, tiling, axes, shape, kind, output.unit)  # refuses wrong chunks before the work
    if not done:
        labelled.write()
        tiles = labelled.tiles.finish()
        given = replace(given, array=tiles, stacked=True, reads=Relabelled(tiles, _table(labelled, tiles, rule, kind)))
    finish = replace(options, results=ResultType(kind.name, channels), batch=1, stacked=False, device=None, resources=None)
    report: Report = merged(_unchanged, given, tiling, _SPEC, replace(finish, check=0))
    labelled.tiles.remove()
    return replace(
        report,
        computed=labelled.computed,
        recomputed=labelled.recomputed,
        bytes_read=labelled.bytes_read,
        seconds=time.monotonic() - begun,
    )


@functools.lru_cache(maxsize=4)
def _places(tiling: Tiling) -> Places:
    return Places(tiling, LABELS)


class _Labelled:
    """The labels of tiles in a store beside the output, and the run that writes them."""

    def __init__(self, fn: Any, given: Source, tiling: Tiling, options: Options) -> None:
        self.given, self.tiling, self.options = given, tiling, options
        self.tiles = NewOutput(_beside(options.out), "array")
        self.computed = self.recomputed = self.bytes_read = 0
        self._record = {**record_of(given, tiling, _SPEC, options), "merge": "labels"}
        numbers = list(range(len(tiling)))
        checked = checked_tiles(options.check, numbers)
        identity = tokenize(self._record, options.batch, options.stacked, str(options.device), checked)
        check_resources(options.client, options.resources, False)
        topic = f"patchfold-labels-{identity}"
        job = Job(tiling, _SPEC, fn, given.reader, options.device, options.stacked, topic, checked=checked)
        self.graph = Graph(job, given.lazy, self._groups(numbers), identity, options.resources)

    def _groups(self, numbers: list[int]) -> list[tuple[int, ...]]:
        return [tuple(each.index for each in group) for group in groups_of(self.tiling, numbers, self.options.batch)]

    def channels(self, known: ResultType | None) -> tuple[int, ...]:
        """Returns the extents of the axes of results that are not tiled. Calls the function for the first tile if no earlier
        run has recorded them."""
        known = known or self.tiles.recorded(self._record, self.options.overwrite)
        if known is None:
            known = compute_one(self.options.client, *self.graph.probe())
        found = known.channels_in(self.tiling)
        self.graph = with_job(self.graph, self.graph.token, results=ResultType("uint32", found))
        return found

    def write(self) -> None:
        """Labels all tiles that have no labels yet."""
        results = self.graph.job.results
        assert results is not None
        native, channels = self.tiling._native, results.channels_in(self.tiling)
        extents = list(channels)
        for axis, extent in zip(native.axes_in(len(channels) + len(native.axes)), native.result, strict=True):
            extents.insert(axis, extent)
        shape = (len(self.tiling), *extents)
        layout = StoreLayout(shape, np.dtype("uint32"), (1, *map(_at_least_one, extents)))
        record = self._record | {"results": [results.dtype, channels], "chunks": layout.chunks}
        done = {index[0] for index in self.tiles.begin(layout, record, self.options.overwrite)}
        wanted = [number for number in range(len(self.tiling)) if number not in done]
        if wanted:
            self.graph.groups = self._groups(wanted)
            layers, keys = self.graph.tiles(self.tiles.target(), write_labels)
            topic, options = self.graph.job.topic, self.options
            count = compute_chunks(
                options.client, layers, keys, len(wanted), topic, options.progress, self.tiles.text, "tile"
            )
            self.computed, self.recomputed = len(wanted), max(count - len(wanted), 0)
            self.bytes_read = bytes_of(self.given, self.tiling, wanted)


def _at_least_one(extent: int) -> int:
    return max(extent, 1)


def _beside(out: Any) -> str:
    """Returns the name of the store of the labels of tiles."""
    output = output_of(out, "array")
    name = output.place
    if name is None:
        rule = "must be the path or URL of a store, or an array in a local folder, beside which the labels of tiles lie"
        raise InvalidValue(LABELS, "out", rule, given_text(out))
    return f"{name}.labels"


def write_labels(job: Job, target: Any, numbers: tuple[int, ...], layout: Layout, *parts: Any) -> None:
    """Calls the function for tiles, and writes the labels of each, without gaps in their numbers."""
    tiles = [job.tiling[number] for number in numbers]
    results = job.results_of(tiles, layout, parts)
    assert job.results is not None
    for tile, result in zip(tiles, results, strict=True):
        labels = compact(job.tiling, tile, result, LABELS)
        channels = _places(job.tiling).channels(labels)
        if channels != job.results.channels_in(job.tiling):
            rule = "must have the extents of the first result along the axes that are not tiled"
            expected = str(job.results.channels_in(job.tiling))
            raise InvalidValue(LABELS, f"result for {names_of([tile])}", rule, str(channels), expected)
        slices = (slice(tile.index, tile.index + 1), *map(slice, labels.shape))
        target.write((tile.index, *(0 for _ in labels.shape)), slices, labels[None])


def _unchanged(tile: Any) -> Any:
    return tile


@dataclass(frozen=True)
class Found:
    """What a tile tells of objects."""

    count: int
    """The number of its labels."""
    labels: Array
    firsts: Array
    """Labels that elements take, and the first element of each."""
    joins: list[tuple[int, Array]]
    """For later tiles, the pairs of labels that are one object."""


class _Stored:
    """The labels of one tile in the store."""

    def __init__(self, array: Any, number: int) -> None:
        self._array, self._number = array, number
        self.shape, self.ndim = array.shape[1:], array.ndim - 1

    def __getitem__(self, slices: tuple[slice, ...]) -> Array:
        place = (self._number, *slices)
        return np.asarray(self._array[place])


def find(shared: tuple[Tiling, Any, Any], number: int) -> Found:
    """Returns what a tile tells of objects. shared: the tiling, the store of labels, and the rule by which labels join."""
    tiling, array, rule = shared
    places, tile = _places(tiling), tiling[number]
    labels = np.asarray(array[number])
    joins = []
    for other, box in places.shared(tile):
        mine = places.piece(tile, labels, box)
        if other > number and mine.any():
            theirs: Any = _Stored(array, other)
            pairs = joined(mine, places.piece(tiling[other], theirs, box), rule)
            if len(pairs):
                joins.append((other, pairs))
    return Found(int(labels.max(initial=0)), *places.first_elements(tile, labels), joins)


@dataclass(frozen=True)
class Table:
    """The final labels of all labels of all tiles."""

    begins: Array
    """The number of labels of all tiles before each tile."""
    final: Array
    """Final labels from 1, tile after tile; 0 comes first."""

    def of(self, tile: int) -> Array:
        """Returns the final label of each label of a tile, and of 0."""
        own = self.final[self.begins[tile] + 1 : self.begins[tile + 1] + 1]
        return np.concatenate((self.final[:1], own))


def final_table(kind: np.dtype[Any], *found: Found) -> Table:
    """Returns the final labels that follow from what all tiles tell."""
    begins = np.concatenate(([0], np.cumsum([each.count for each in found], dtype=np.int64)))
    objects = Objects()
    objects.add(int(begins[-1]))
    for number, each in enumerate(found):
        objects.see(begins[number] + each.labels, each.firsts)
        for other, pairs in each.joins:
            for one, two in (pairs.astype(np.int64) + begins[[number, other]]).tolist():
                objects.join(one, two)
    return Table(begins, objects.final(kind, LABELS))


def _table(labelled: _Labelled, tiles: Any, rule: Any, kind: np.dtype[Any]) -> Any:
    token, count = tokenize(labelled.graph.token, rule, kind), len(labelled.tiling)
    shared, name = f"patchfold-shared-{token}", f"patchfold-find-{token}"
    tasks: dict[Any, Any] = {shared: DataNode(shared, (labelled.tiling, tiles, rule))}
    for number in range(count):
        tasks[name, number] = Task((name, number), find, TaskRef(shared), number)
    last = f"patchfold-table-{token}"
    tasks[last] = Task(last, final_table, kind, *(TaskRef((name, number)) for number in range(count)))
    return compute_one(labelled.options.client, HighLevelGraph({last: tasks}, {last: set()}), last)


@dataclass(frozen=True)
class Relabelled:
    """The labels of tiles, as final labels, that chunks of the result are merged from."""

    array: Any
    table: Table

    def read(self, tiling: Tiling, tile: Tile) -> Any:
        slices = [slice(None)] * (self.array.ndim - 1)
        for axis, own in zip(tiling._native.axes_in(len(slices)), tiling.axes, strict=True):
            slices[axis] = slice(tile.result_shape[own])
        return self.table.of(tile.index)[_Stored(self.array, tile.index)[tuple(slices)]]

# SPDX-License-Identifier: Apache-2.0
"""The graph of a run: a task for each tile (or batch of tiles), and a task for each chunk of the result.

A task of tiles returns, for each chunk that its tiles touch, the pieces that the chunk needs. If the tiles touch several
chunks, a further task for each chunk picks its pieces, so that the worker that merges a chunk fetches pieces and never whole
tiles.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Collection
from typing import Any

from dask._task_spec import DataNode, Task, TaskRef
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

from .._tiles.sources import reads_of
from .._tiles.tile import Tile
from .._tiles.tiling import Tiling
from ._chunks import Index
from ._job import Job, Layout, merge_chunk, pick, probe_tiles, run_tiles, write_chunk
from ._parts import Box, Parts


class Graph:
    """The tasks of a run, in layers: parts of the data for each tile, tiles, pieces for each chunk, chunks."""

    def __init__(self, job: Job, source: Any, groups: list[tuple[int, ...]], token: str, resources: Any) -> None:
        """source: a dask array, or None. groups: the numbers of the tiles that a task computes together. resources: the
        resources of distributed that a worker needs for a task of tiles."""
        self.job = job
        self.groups = groups
        self.token = token
        self._source = source
        self._resources = {"resources": dict(resources)} if resources else None

    def name(self, what: str) -> str:
        return f"patchfold-{what}-{self.token}"

    def chunks(self, target: Any = None, wanted: Collection[Index] | None = None) -> tuple[HighLevelGraph, list[Any]]:
        """Returns the graph of all chunks, or of the chunks in `wanted`, and their keys. target: the store to which the
        tasks write the chunks; None: the tasks return the chunks."""
        assert self.job.chunks is not None
        order = [index for index in self.job.chunks if wanted is None or index in wanted]
        place = {index: k for k, index in enumerate(order)}
        needed: list[list[TaskRef]] = [[] for _ in order]
        tiles: dict[Any, Any] = {}
        shares: dict[Any, Any] = {}
        parts = _Reader(self)
        for number, group in enumerate(self.groups):
            found = {index: None for tile in group for index in self.job.chunks.touched(tile) if index in place}
            targets = tuple(found)
            if not targets:
                continue
            key: Any = (self.name("tile"), number)
            tiles[key] = self._task(key, run_tiles, group, parts, targets)
            if len(targets) == 1:
                needed[place[targets[0]]].append(TaskRef(key))
                continue
            for k, index in enumerate(targets):
                share = (self.name("pieces"), number, k)
                shares[share] = Task(share, pick, TaskRef(key), k)
                needed[place[index]].append(TaskRef(share))
        chunks: dict[Any, Any] = {}
        for index, refs in zip(order, needed, strict=True):
            key = (self.name("chunk"), *index)
            if target is None:
                chunks[key] = Task(key, merge_chunk, self._job, index, *refs)
            else:
                chunks[key] = Task(key, write_chunk, self._job, TaskRef(self.name("target")), index, *refs)
        return self._layered(parts, tiles, shares, chunks, target), list(chunks)

    def needed(self, wanted: Collection[Index]) -> list[int]:
        """Returns the tiles that the tasks for some chunks compute."""
        chunks = self.job.chunks
        assert chunks is not None
        return [
            tile
            for group in self.groups
            if any(index in wanted for tile in group for index in chunks.touched(tile))
            for tile in group
        ]

    def tiles(self, target: Any, write: Callable[..., Any]) -> tuple[HighLevelGraph, list[Any]]:
        """Returns a graph of tasks, each of which calls `write` for tiles and `target`."""
        parts = _Reader(self)
        tasks: dict[Any, Any] = {}
        for group in self.groups:
            refs, layout = parts.of(group[0], group)
            key = (self.name("split"), group[0])
            tasks[key] = Task(key, write, self._job, TaskRef(self.name("target")), group, layout, *refs)
        return self._layered(parts, tasks, {}, {}, target), list(tasks)

    def probe(self) -> tuple[HighLevelGraph, Any]:
        """Returns a graph of one task, which calls the function for the first tile and returns the type of its result."""
        tiles: dict[Any, Any] = {}
        parts = _Reader(self)
        key = self.name("probe")
        tiles[key] = self._task(key, probe_tiles, self.groups[0][:1], parts)
        return self._layered(parts, tiles, {}, {}, None), key

    @property
    def _job(self) -> TaskRef:
        return TaskRef(self.name("job"))

    def _task(self, key: Any, call: Callable[..., Any], group: tuple[int, ...], parts: _Reader, *more: Any) -> Task:
        refs, layout = parts.of(key[1] if isinstance(key, tuple) else 0, group)
        return Task(key, call, self._job, group, *more, layout, *refs)

    def _layered(self, parts: _Reader, tiles: Any, shares: Any, chunks: Any, target: Any) -> HighLevelGraph:
        shared = {self.name("job"): DataNode(self.name("job"), self.job)}
        if target is not None:
            shared[self.name("target")] = DataNode(self.name("target"), target)
        layers: dict[str, Any] = {self.name("job"): shared, self.name("part"): parts.graph, self.name("pieces"): shares}
        layers[self.name("tile")] = MaterializedLayer(tiles, annotations=self._resources)
        layers[self.name("chunk")] = chunks
        depends = {
            self.name("job"): set[str](),
            self.name("part"): set[str](),
            self.name("tile"): {self.name("job"), self.name("part")},
            self.name("pieces"): {self.name("tile")},
            self.name("chunk"): {self.name(each) for each in ("job", "part", "tile", "pieces")},
        }
        if self._source is not None:
            theirs = self._source.__dask_graph__()
            layers |= theirs.layers
            depends |= theirs.dependencies
            depends[self.name("part")] = set(self._source.__dask_layers__())
            for each in ("tile", "chunk"):
                depends[self.name(each)] |= depends[self.name("part")]
        return HighLevelGraph(layers, depends)


class _Reader:
    """The parts of a dask array that tiles need; none for a store, which the tasks of tiles open themselves."""

    def __init__(self, graph: Graph) -> None:
        self.graph: dict[Any, Any] = {}
        source = graph._source
        self._tiling = graph.job.tiling
        self._parts = None if source is None else Parts(source, graph.token)

    def of(self, number: int, group: tuple[int, ...]) -> tuple[list[TaskRef], Layout]:
        refs: list[TaskRef] = []
        layout: list[tuple[tuple[Box, tuple[Box, ...]], ...]] = []
        if self._parts is not None:
            for k, tile in enumerate(group):
                boxes = []
                for n, box in enumerate(read_boxes(self._tiling, self._tiling[tile])):
                    more, places = self._parts.tasks(self.graph, (number, k, n), box)
                    refs += more
                    boxes.append((box, places))
                layout.append(tuple(boxes))
        return refs, tuple(layout)


def read_boxes(tiling: Tiling, tile: Tile) -> list[Box]:
    """Returns the boxes of the array that a tile reads, with the elements that padding repeats: several boxes if the tile
    wraps around the end of the array, else one."""
    return list(itertools.product(*(slices for slices, _, _ in reads_of(tiling, tile))))


def with_job(graph: Graph, token: str, **changed: Any) -> Graph:
    """Returns the graph for a job with some changed fields."""
    resources = (graph._resources or {}).get("resources")
    return Graph(dataclasses.replace(graph.job, **changed), graph._source, graph.groups, token, resources)

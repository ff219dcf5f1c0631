# SPDX-License-Identifier: Apache-2.0
"""Applies a function to overlapping tiles on the workers of dask."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import dask.array
import numpy as np
from dask.base import tokenize

from .._arguments import is_integer
from .._errors import InvalidType, InvalidValue, given_text, value_text
from .._signatures import takes
from .._tiles.apply import batch_of, check_apart, groups_of, tiled
from .._tiles.exact import Call
from .._tiles.merge_arguments import element_type, mask_bytes
from .._tiles.merge_spec import MergeSpec, ResultType
from .._tiles.tiling import Tiling
from .._typing import Int, IntOrInts, Progress, TiledSettings
from ._chunks import NAME, Chunks, chunk_extents
from ._graph import Graph, read_boxes, with_job
from ._identity import identity_of
from ._job import Job
from ._layouts import labelled_like, layout_of
from ._report import Report
from ._run import check_resources, check_store, client_of, compute_chunks, compute_one
from ._sources import Source, source_of
from ._stores import output_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

_array: Any = dask.array  # dask's functions have no types


_BUFFERS = 32 << 20
"""The bytes of buffers that stores and the network need in every run."""


@takes(TiledSettings, Tiling.__init__, MergeSpec.__init__)
def apply_tiled(
    fn: Callable[[Any], Any],
    source: Any,
    tile: IntOrInts | None = None,
    *,
    model: Any = None,
    memory: Int | None = None,
    batch: int | None = None,
    out: Any = None,
    chunks: Any = None,
    progress: Progress = True,
    device: Any = None,
    results: ResultType | None = None,
    level: Int = 0,
    resources: Mapping[str, float] | None = None,
    check: Int = 0,
    version: str | None = None,
    overwrite: bool = False,
    client: Any = None,
    **settings: Unpack[TiledSettings],
) -> Any:
    """Applies a function to overlapping tiles of a dask or zarr array, on many processes, and merges the results.

    The result has the bits of ``patchfold.apply_tiled`` on one machine. There is a task for each tile (or batch of tiles),
    and a task that merges each chunk of the result from pieces of tiles; dask decides where and when tasks run.

    Shapes: as for patchfold.apply_tiled: with t = Tiling(source.shape, tile, ..), fn receives a tile of shape t[i].shape and
        returns a result of shape t[i].result_shape, in which untiled axes may have other extents.

    Arguments:
        fn: a function of one tile, a new NumPy array. Workers must be able to import or unpickle it; a function from
            ``once`` is made where it is used. fn must give the same bits each time, since the tiles of a dead worker are
            computed again.
        source: a dask array; a zarr array (version 2 or 3), or its path or URL; an OME-Zarr image, as a group of zarr or its
            path or URL; a DataArray of xarray; a NumPy array.
        tile, overlap, stride, tail, axes, padding_mode, value, scale, offset, result, align, margin, output: as for
            Tiling.
        window, reduce, mask, dtype, fill, nodata: as for Merger.
        model, memory: as for patchfold.apply_tiled, with overlap="exact"; without a model fn is measured in this process.
        batch: the largest number of tiles that fn receives at a time, stacked along a new first axis. A batch is one task.
        out: None for a lazy result; or where the result is written: a zarr array, or the path or URL of a store that is
            made, of the kind of the source (an OME-Zarr image of one level, a data set of xarray, or a zarr array). A local
            store is called "y.zarr.partial" until it is complete. "y.zarr.patchfold", in the same folder, records finished
            work: after an interruption the same call continues there.
        chunks: the extents of the chunks of the result, as dask takes them: for each tiled axis, or for each axis; axes that
            are not tiled stay whole. Chunks must be whole shards of out. A new store gets a shard for each chunk.
        progress: with out, True shows a bar if tqdm is installed; a function is called with (written chunks, all chunks).
        device: where fn receives its tiles, as for patchfold.apply_tiled.
        results: the element type and the untiled extents of what fn returns. None: fn is called once for the first tile.
        level: the level of an OME-Zarr image, 0 for the finest.
        resources: what a worker must have to run fn, as distributed counts it: {"GPU": 1}.
        check: for how many tiles, evenly spread, fn is called twice; other bits the second time are an error.
        version: a text that stands for fn in the record of a run, in place of its code and all that the code uses; a call
            with another text is another run.
        overwrite: whether an existing out, or the record of another run, is replaced.
        client: a client of distributed. Default: the current client, or without a client dask's threads in this process.

    Formula: y = the merge of fn(tile i) over all tiles i.

    Types: without out a dask array; for a DataArray a DataArray, which keeps the coordinates of each axis whose extent does
        not change. With out a Report, whose ``array`` is the store's.

    Errors: InvalidValue and InvalidType before any work for chunks that are not whole shards, an out that cannot hold the
        result or belongs to another run, and all that Tiling and Merger refuse. The error for a result of another shape or
        element type than the first names the tile. An exception of fn or of the store is passed on, with notes that name the
        tile and say how much is written. ConnectionError if the scheduler is lost.

    Elsewhere: dask map_overlap, which does not blend; MATLAB blockproc; torch, TensorFlow, ONNX, OpenVINO none.

    Example:
        >>> import dask.array, numpy as np, patchfold.dask
        >>> x = dask.array.from_array(np.arange(3000.0).reshape(50, 60), chunks=(25, 25))
        >>> y = patchfold.dask.apply_tiled(np.sqrt, x, (16, 16), overlap=4, chunks=(32, 32))
        >>> y
        dask.array<patchfold-chunk, shape=(50, 60), dtype=float64, chunksize=(32, 32), chunktype=numpy.ndarray>
        >>> bool((y == np.sqrt(x)).all().compute())
        True
    """
    if not callable(fn):
        raise InvalidType(NAME, "fn", "must be a function", given_text(fn))
    given = source_of(source, level)
    shape, most, stacked = tuple(given.array.shape), batch_of(batch), batch is not None
    call = Call(NAME, fn, shape, given.array.dtype, np.empty(0), model, memory, most, stacked, device)
    tiling, parts = tiled(call, tile, settings)
    spec = MergeSpec(**parts)
    spec.check(tiling)
    options = Options(
        batch=most,
        stacked=stacked,
        out=out,
        chunks=chunks,
        progress=progress,
        device=device,
        results=results,
        resources=resources,
        check=check,
        function=function_of(fn, version, out),
        overwrite=overwrite,
        client=client_of(client),
    )
    return merged(fn, given, tiling, spec, options)


@dataclass(frozen=True)
class Options:
    """The settings of a run: the arguments of apply_tiled of the same names."""

    out: Any
    chunks: Any
    progress: Any
    overwrite: bool
    client: Any
    function: dict[str, str | None]
    batch: int = 1
    stacked: bool = False
    device: Any = None
    results: ResultType | None = None
    resources: Any = None
    check: Any = 0
    merge: str | None = None
    """A text that stands for the merge in the record, in place of its spec."""


def merged(fn: Any, given: Source, tiling: Tiling, spec: MergeSpec, options: Options) -> Any:
    """Returns the merge of the results of fn for the tiles of a source: a lazy array, or the report of a written store."""
    begun = time.monotonic()
    come = mask_bytes(tiling._native, spec.mask)
    numbers = [i for i in range(len(tiling)) if come is None or come[i]]
    groups = [tuple(each.index for each in group) for group in groups_of(tiling, numbers, options.batch)]
    checked = checked_tiles(options.check, numbers)
    record = record_of(given, tiling, spec, options)
    identity = tokenize(record, options.batch, options.stacked, str(options.device), checked)
    output = results = None
    if options.out is not None:
        check_apart(given.store, options.out, NAME)
        output = output_of(options.out, given.kind)
        check_store(options.client, output.in_memory)
        results = output.recorded(record, options.overwrite)

    check_resources(options.client, options.resources, output is None)
    job = Job(tiling, spec, fn, given.reader, options.device, options.stacked, f"patchfold-{identity}", checked=checked)
    graph = Graph(job, given.lazy, groups, identity, options.resources)
    results = options.results or results
    if results is None:
        if not groups:
            rule = "must be given where fn is called for no tile"
            raise InvalidValue(NAME, "results", rule, expected="a ResultType")
        results = compute_one(options.client, *graph.probe())
    spec.check(tiling, results)
    shape, axes, made = spec._output(tiling, results.dtype, results.channels_in(tiling))
    kind = _numpy_type(made)
    if output is not None:
        output.check(shape, kind)
    extents = chunk_extents(options.chunks, tiling, axes, shape, kind, None if output is None else output.unit)
    chunks = Chunks(tiling, axes, extents)
    graph = with_job(graph, tokenize(identity, results, extents), results=results, chunks=chunks)
    if output is None:
        layers, _ = graph.chunks()
        array = _array.Array(layers, graph.name("chunk"), extents, dtype=kind)
        return array if given.labelled is None else labelled_like(given.labelled, array, tiling, axes)
    layout = layout_of(given, tiling, axes, shape, kind, extents)
    record |= {"results": [results.dtype, results.channels], "chunks": layout.chunks}
    done = output.begin(layout, record, options.overwrite)
    wanted = {index: None for index in chunks if index not in done}
    tiles = graph.needed(wanted)
    counted = 0
    if wanted:
        layers, keys = graph.chunks(output.target(), wanted)
        counted = compute_chunks(options.client, layers, keys, len(tiles), job.topic, options.progress, output.text)
    return Report(
        tiles=len(numbers),
        computed=len(tiles),
        recomputed=max(counted - len(tiles), 0),
        chunks=len(chunks),
        written=len(wanted),
        bytes_read=bytes_of(given, tiling, tiles),
        bytes_written=kind.itemsize * sum(math.prod(chunks.shape(index)) for index in wanted),
        out=output.text,
        worker_bytes=_worker_bytes(tiling, chunks, results, kind.itemsize, given.array.dtype.itemsize),
        dashboard="" if options.client is None else str(options.client.dashboard_link or ""),
        array=output.finish(),
        seconds=time.monotonic() - begun,
    )


def _worker_bytes(tiling: Tiling, chunks: Chunks, results: ResultType, size: int, read: int) -> int:
    """Returns the most memory that a worker with one thread needs, without the function's own memory.

    If tasks run in dask's order, the waiting pieces belong to one row of chunks, and to the row of tiles that reaches into
    the next row of chunks; one worker may hold all of them. A task holds a tile, its result and their copies, or a chunk and
    its compressed form.
    """
    width = element_type("results", results.dtype)[1]
    extents = [sum(each) for each in chunks.extents]
    first = chunks.axes[0]
    waiting = max(chunks.extents[first], default=0) + tiling._native.result[0]
    waiting = math.prod(min(waiting, extents[first]) if axis == first else extents[axis] for axis in chunks.axes)
    repeated = math.prod(
        Fraction(count * result, max(extents[axis], 1))
        for axis, count, result in zip(chunks.axes, tiling.grid, tiling._native.result, strict=True)
    )
    channels = math.prod(results.channels_in(tiling))
    tile = read * math.prod(tiling[0].shape) if len(tiling) else 0
    result = width * channels * math.prod(tiling._native.result)
    chunk = size * math.prod(max(each, default=0) for each in chunks.extents)
    return math.ceil(waiting * channels * repeated) * width + 2 * (tile + result) + 2 * chunk + _BUFFERS


def record_of(given: Source, tiling: Tiling, spec: MergeSpec, options: Options) -> dict[str, Any]:
    """Returns the description of a run."""
    merge = options.merge or tokenize(spec)
    return {"tiling": tiling._given, "merge": merge, "function": options.function, "source": given.token}


def bytes_of(given: Source, tiling: Tiling, tiles: list[int]) -> int:
    """Returns the bytes of the elements that tiles read."""
    whole = [tuple(map(slice, given.array.shape[1:]))]
    boxes = (box for i in tiles for box in (whole if given.stacked else read_boxes(tiling, tiling[i])))
    return int(given.array.dtype.itemsize * sum(math.prod(each.stop - (each.start or 0) for each in box) for box in boxes))


def _numpy_type(name: str) -> np.dtype[Any]:
    try:
        return np.dtype(name)
    except TypeError:
        rule = "dask needs an element type of NumPy for the result"
        raise InvalidType(NAME, "dtype", rule, name, "dtype='float32'") from None


def checked_tiles(check: Any, numbers: list[int]) -> frozenset[int]:
    """Returns the tiles for which the function is called twice."""
    if not is_integer(check) or check < 0:
        raise InvalidValue(NAME, "check", "must be a number of tiles, at least 0", value_text(check))
    count = min(int(check), len(numbers))
    return frozenset(numbers[k * len(numbers) // count] for k in range(count))


def function_of(fn: Any, version: Any, out: Any) -> dict[str, str | None]:
    """Returns what identifies the function in the record of a run."""
    if version is None:
        return {"version": None, **identity_of(fn, required=out is not None)}
    if not isinstance(version, str):
        raise InvalidType(NAME, "version", "must be a text", given_text(version))
    return {"version": version}

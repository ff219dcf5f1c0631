# SPDX-License-Identifier: Apache-2.0
"""Tiles as an array of a store: in order along the first axis, each tile a chunk, with the tiling as an attribute."""

from __future__ import annotations

import json
import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import InvalidType, InvalidValue, given_text
from .._signatures import takes
from .._tiles.merge_spec import MergeSpec, ResultType
from .._tiles.tiling import Tiling
from .._typing import Int, IntOrInts, Margin, MergeSettings, Number, Overlap, PaddingMode, Progress, Tail
from ._apply import Options, merged
from ._chunks import Index
from ._graph import Graph
from ._job import Job, write_tiles
from ._layouts import Layout
from ._report import Report
from ._run import check_store, client_of, compute_chunks
from ._sources import Source, source_of
from ._stores import output_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

ATTRIBUTE = "patchfold_tiling"


def split(
    source: Any,
    tile: IntOrInts,
    out: Any,
    *,
    overlap: Overlap | None = None,
    stride: IntOrInts | None = None,
    tail: Tail = "shift",
    axes: IntOrInts | None = None,
    padding_mode: PaddingMode = "constant",
    value: Number = 0,
    align: IntOrInts = 1,
    margin: Margin = 0,
    progress: Progress = True,
    level: Int = 0,
    overwrite: bool = False,
    client: Any = None,
) -> Report:
    """Cuts an array into tiles on the workers of dask, and writes them to a zarr store.

    Shapes: the store's array is (number of tiles, *shape of a tile); each tile is a chunk of its own.

    Arguments:
        source, progress, level, overwrite, client: as for apply_tiled.
        tile, overlap, stride, tail, axes, padding_mode, value, align, margin: as for Tiling; tail="partial" is refused,
            since its last tiles are shorter than the others.
        out: the path or URL of a zarr array that is made. The array gets the tiling as an attribute, so that merge needs no
            other argument. The same call continues an interrupted run, as with apply_tiled.

    Types: returns a Report.

    Errors: InvalidValue and InvalidType, as for apply_tiled.

    Example:
        >>> import dask.array, numpy as np, patchfold.dask, tempfile
        >>> x = np.arange(3000.0).reshape(50, 60)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tiles = patchfold.dask.split(x, (16, 16), f"{folder}/t.zarr", overlap=4, progress=False).array
        ...     y = patchfold.dask.merge(tiles, f"{folder}/y.zarr", progress=False).array[:]
        >>> tiles.shape, bool((y == x).all())
        ((20, 16, 16), True)
    """
    begun = time.monotonic()
    given = source_of(source, level)
    where: dict[str, Any] = {"overlap": overlap, "stride": stride, "tail": tail, "axes": axes, "margin": margin}
    tiling = Tiling(given.array.shape, tile, padding_mode=padding_mode, value=value, align=align, **where)
    if tail == "partial":
        rule = "must give tiles of one shape"
        raise InvalidValue("dask.split", "tail", rule, "'partial'", "'shift', 'pad', 'shift_or_pad', 'drop' or 'error'")
    if not len(tiling):
        raise InvalidValue("dask.split", "source", "must have a tile", str(given.array.shape))
    client = client_of(client)
    output = output_of(out, "array")
    check_store(client, output.in_memory)
    shape: Index = (len(tiling), *tiling[0].shape)
    kind = np.dtype(given.array.dtype)
    output.check(shape, kind)
    record: dict[str, Any] = {"tiling": tiling._given, "merge": "split", "function": {}, "source": given.token}
    output.recorded(record, overwrite)
    record |= {"results": [str(kind), None], "chunks": (1, *shape[1:])}
    done = output.begin(Layout(shape, kind, (1, *shape[1:])), record, overwrite)
    target = output.target()
    target.array.attrs[ATTRIBUTE] = json.loads(tiling.to_json(tiles=False))

    zeros = (0,) * (len(shape) - 1)
    wanted = [number for number in range(len(tiling)) if (number, *zeros) not in done]
    job = Job(tiling, MergeSpec(), None, given.reader, None, False, f"patchfold-split-{given.token}")
    graph = Graph(job, given.lazy, [(number,) for number in wanted], given.token, None)
    if wanted:
        layers, keys = graph.tiles(target, write_tiles)
        compute_chunks(client, layers, keys, len(wanted), job.topic, progress, output.text)
    size = kind.itemsize * math.prod(shape[1:]) * len(wanted)
    array = output.finish()
    return Report(
        tiles=len(tiling),
        computed=len(wanted),
        recomputed=0,
        chunks=len(tiling),
        written=len(wanted),
        seconds=time.monotonic() - begun,
        bytes_read=size,
        bytes_written=size,
        worker_bytes=3 * size // max(len(wanted), 1),
        out=output.text,
        dashboard="" if client is None else str(client.dashboard_link or ""),
        array=array,
    )


@takes(MergeSettings, MergeSpec.__init__)
def merge(
    tiles: Any,
    out: Any = None,
    *,
    tiling: Tiling | None = None,
    chunks: Any = None,
    progress: Progress = True,
    overwrite: bool = False,
    client: Any = None,
    **settings: Unpack[MergeSettings],
) -> Any:
    """Merges, on the workers of dask, the tiles of a zarr array that split wrote, or results of tiles that another program
    wrote in the same form.

    Shapes: tiles is (number of tiles, *shape of a tile's result); untiled axes may have other extents than the source had.

    Arguments:
        tiles: a zarr array, or its path or URL.
        tiling: where the tiles lie. Default: the attribute that split wrote.
        window, reduce, mask, dtype, fill, nodata: as for Merger.
        out, chunks, progress, overwrite, client: as for apply_tiled.

    Types: a dask array, or with out a Report.

    Errors: InvalidValue and InvalidType, as for apply_tiled.
    """
    given = source_of(tiles)
    if given.store is None:
        raise InvalidType("dask.merge", "tiles", "must be a zarr array of tiles", given_text(tiles))
    array = given.store
    if tiling is None:
        if ATTRIBUTE not in array.attrs:
            rule = f"is required, since the tiles have no attribute {ATTRIBUTE}"
            raise InvalidValue("dask.merge", "tiling", rule, expected="patchfold.Tiling(shape, tile, overlap=..)")
        tiling = Tiling.from_json(json.dumps(array.attrs[ATTRIBUTE]))
    spec = MergeSpec(**settings)
    spec.check(tiling)
    expected = f"{len(tiling)} tiles with {tiling._native.result} along the tiled axes"
    fits = array.ndim > len(tiling.axes) and array.shape[0] == len(tiling)
    if not fits:
        rule = "must have a tile of the tiling for each entry of the first axis"
        raise InvalidValue("dask.merge", "tiles", rule, str(array.shape), expected)
    axes = tiling._native.axes_in(array.ndim - 1)
    channels = tuple(extent for axis, extent in enumerate(array.shape[1:]) if axis not in axes)
    options = Options(
        out=out,
        chunks=chunks,
        progress=progress,
        overwrite=overwrite,
        client=client_of(client),
        function={},
        results=ResultType(str(array.dtype), channels),
    )
    return merged(_unchanged, Source(array, given.token, given.text, stacked=True), tiling, spec, options)


def _unchanged(tile: Any) -> Any:
    return tile

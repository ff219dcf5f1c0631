# SPDX-License-Identifier: Apache-2.0
"""Joins the labels of objects that a function gives tile by tile."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays.kinds import is_numpy, is_torch
from .._arrays.memory import DlpackOutput
from .._errors import InvalidType, InvalidValue, given_text
from .._signatures import takes
from .._typing import IntOrInts, Join, Progress, TilingSettings
from .apply import batch_of, check_apart, run_tiles
from .merger import Merger
from .objects import Array, Objects, Places, check_count, checked_join, compact, joined, label_type
from .outputs import Rows, written_extents
from .pipeline import checked_workers
from .probe import kind_of
from .rasters import GeoTiff, is_geotiff
from .results import results_of
from .sources import Source
from .tile import Tile, names_of
from .tiling import Tiling

if TYPE_CHECKING:
    from typing_extensions import Unpack

LABELS = "merge_labels"


@takes(TilingSettings, Tiling.__init__)
def merge_labels(
    fn: Callable[[Any], Any],
    x: Any,
    tile: IntOrInts,
    *,
    join: Join = "touch",
    batch: int | None = None,
    workers: int | None = None,
    out: Any = None,
    dtype: Any = None,
    progress: Progress = True,
    device: Any = None,
    **settings: Unpack[TilingSettings],
) -> Any:
    """Applies a function that labels objects to overlapping tiles, and gives each object one label in the whole array.

    The function numbers the objects of each tile anew, as scipy.ndimage.label and Cellpose do. Labels of two tiles become
    one object where the tiles overlap; chains of tiles make objects that are longer than a tile.

    Shapes: with t = Tiling(x.shape, tile, ..), fn receives a tile of shape t[i].shape and returns labels of shape
        t[i].result_shape, in which untiled axes may have other extents. The output has t.output_shape.

    Arguments:
        fn: a function, called as by apply_tiled, that returns one array of integers: 0 for the background, and a number
            above 0 for each object. Numbers mean nothing in another tile.
        x: as for apply_tiled.
        tile, overlap, stride, tail, axes, padding_mode, value, scale, offset, result, align, margin, output: as for
            Tiling. Results of
            neighbouring tiles must share at least one element along each tiled axis.
        join: when a label a of one tile and a label b of another are one object. Sizes count the elements of a, of b and
            of both in the overlap of the two tiles.
            "touch"            they have an element in common
            "iou"              common / (a or b) >= 0.5; ("iou", t) for another threshold, above 0 and at most 1
            "share"            common / min(a, b) >= 0.5; ("share", t) for another threshold
        batch, workers, progress, device: as for apply_tiled.
        out: as for apply_tiled, except functions and data sets of rasterio, since labels are read and renumbered there.
        dtype: the element type of the output, of integers. Default: that of out, or else uint32.

    Formula: an element has the label of the tile whose middle is nearest, as with reduce="center". Labels that are one
        object, directly or through others, get one number. Objects are 1, 2, .. in the order of their first elements,
        row-major. Elements that no tile gives are 0. If fn labels connected components, of any connectivity to the
        3^n - 1 neighbours of an element, then "touch" gives the labels of the whole array for any overlap from 1:
        y = scipy.ndimage.label(x)[0].

    Memory: the overlaps of about one row of tiles, and 16 bytes for each object (48 at the end).

    Types: returns what apply_tiled does.

    Errors: InvalidValue and InvalidType, also for a result that does not hold integers. InvalidValue if dtype cannot
        number the objects; parts of an object that meet only in a later tile, as the ends of a U, count as several.

    Elsewhere: dask-image ndmeasure.label, for masks; Cellpose stitch_threshold, between planes; torch, MONAI none.

    Example:
        >>> import numpy as np, patchfold
        >>> def runs(tile):  # numbers the runs of ones of each tile anew
        ...     return np.cumsum(np.diff(tile, prepend=0) == 1) * tile
        >>> x = np.array([0, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1])
        >>> patchfold.merge_labels(runs, x, 4, overlap=1).tolist()
        [0, 1, 1, 1, 1, 1, 0, 0, 2, 0, 3, 3]
    """
    if not callable(fn):
        raise InvalidType(LABELS, "fn", "must be a function", given_text(fn))
    most, threads = batch_of(batch, LABELS), checked_workers(workers, LABELS)
    source = Source(x, LABELS)
    tiling = Tiling(source.shape, tile, **settings)
    kind = label_type(dtype, out, LABELS)
    labels = Labels(tiling, checked_join(join, LABELS), kind)
    check_apart(x, out, LABELS)
    given = out
    if source.raster is not None and is_geotiff(out):
        out = GeoTiff(out, source.raster, tiling)
    is_direct = is_numpy(source.kind) or is_torch(source.kind)
    like = source.kind if is_direct else None  # NumPy cannot change arrays of other kinds
    with Merger(tiling, reduce="center", fill=0, dtype=kind, out=out, copy=True, kind=like) as merger:
        if isinstance(merger._output, Rows) and merger._output.stored() is None:
            rule = "must be an array, a file or a store that can be read, since labels are renumbered there"
            raise InvalidValue(LABELS, "out", rule, given_text(given), "'y.npy', or a zarr array")

        def add(group: list[Tile], results: Any, *, stacked: bool) -> None:
            _check_single(results, group)
            for each, result in results_of(results, group, stacked, LABELS):
                merger.add(each, labels.add(each, result))

        indices = list(range(len(tiling)))
        stacked = batch is not None
        run_tiles(fn, source, tiling, indices, add, progress, device, most, stacked=stacked, workers=threads)
        output = merger._written()
        _renumber(output.stored(), labels.final(), tiling)
        made = merger.finish()
    if is_direct or out is not None:
        return made
    return DlpackOutput(source.kind, made.shape, kind.name, made).result()


def _check_single(results: Any, group: list[Tile]) -> None:
    """Raises an error for several results, and for None."""
    kind = kind_of(results)
    if kind is not None or results is None:
        given = "None" if kind is None else f"a {kind.__name__} of {len(results)}"
        name = next(iter(results), 0) if isinstance(results, dict) else 0
        expected = (
            "zeros for tiles without objects" if kind is None else f"lambda tile: fn(tile)[{name!r}], if that is the labels"
        )
        raise InvalidType(LABELS, f"result for {names_of(group)}", "must be one array of labels", given, expected)


class Labels:
    """Joins the labels of tiles, which may come in any order."""

    def __init__(self, tiling: Tiling, join: tuple[str, float], dtype: np.dtype[Any]) -> None:
        self._tiling = tiling
        self._places = Places(tiling, LABELS)
        self._join = join
        self._dtype = dtype
        self._objects = Objects()
        self._channels: Any = None
        self._come = bytearray(len(tiling))
        # For each tile that has not come: the tiles that have, with the numbers of their labels, and labels and box of the
        # elements that both tiles share.
        self._waiting: defaultdict[int, list[tuple[Array, Array, Any]]] = defaultdict(list)

    def add(self, tile: Tile, result: Any) -> Array:
        """Returns the labels of a tile as numbers of which `final` gives the final labels."""
        places, objects = self._places, self._objects
        labels = compact(self._tiling, tile, result, LABELS)
        self._check_channels(tile, labels)
        numbers = np.zeros(int(labels.max(initial=0)) + 1, np.int64)
        for theirs, part, box in self._waiting.pop(tile.index, ()):
            for other, label in joined(part, places.piece(tile, labels, box), self._join).tolist():
                number = int(theirs[other])
                numbers[label] = objects.join(number, int(numbers[label]) or number)
        new = 1 + np.flatnonzero(numbers[1:] == 0)
        check_count(len(objects) - 1 + len(new), self._dtype, LABELS, "a number for each object before parts of it join")
        numbers[new] = objects.add(len(new)) + np.arange(len(new))
        found, firsts = places.first_elements(tile, labels)
        objects.see(numbers[found], firsts)
        self._come[tile.index] = True
        for neighbour, box in places.shared(tile):
            if not self._come[neighbour]:
                part = places.piece(tile, labels, box)
                if part.any():
                    self._waiting[neighbour].append((numbers, part.copy(), box))
        renumbered: Array = numbers.astype(self._dtype)[labels]
        return renumbered

    def _check_channels(self, tile: Tile, labels: Array) -> None:
        channels = self._places.channels(labels)
        self._channels = channels if self._channels is None else self._channels
        if channels != self._channels:
            rule = "must have the extents of the first result along the axes that are not tiled"
            raise InvalidValue(LABELS, f"result for {names_of([tile])}", rule, str(channels), str(self._channels))

    def final(self) -> Array:
        """Returns the final label of each number."""
        return self._objects.final(self._dtype, LABELS)


def _renumber(stored: Any, table: Array, tiling: Tiling) -> None:
    """Replaces the numbers in an output by their final labels, block by block. Blocks are about as large as tiles, and whole
    shards of a store."""
    shape = tuple(stored.shape)
    if not math.prod(shape):
        return
    blocks = list(shape)
    for axis, extent in zip(tiling._native.axes_in(len(shape)), tiling._native.result, strict=True):
        blocks[axis] = extent
    units = written_extents(stored, len(shape)) or (1,) * len(shape)
    blocks = [-(-block // unit) * unit for block, unit in zip(blocks, units, strict=True)]
    for block in Tiling(shape, blocks, overlap=0, tail="partial", axes=range(len(shape))):
        stored[block.write] = table[np.asarray(stored[block.read])]

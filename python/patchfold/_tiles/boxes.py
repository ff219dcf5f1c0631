# SPDX-License-Identifier: Apache-2.0
"""Merges boxes of an output from pieces of results, without state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from .. import _core
from .._arrays.kinds import is_torch
from .._arrays.memory import new_room
from .._errors import InvalidType, InvalidValue, given_text
from .._threads import checked_threads, limited
from .._typing import Box, Int, Tail
from .merge_arguments import MERGE, makes_labels, merge_spec
from .merge_spec import MergeSpec, ResultType, check_declared, checked_results, checked_tiling, spec_of
from .nodata import NONE, Nodata, filled
from .tile import Tile
from .tiling import Tiling
from .tiling_arguments import box_pairs

Pieces: TypeAlias = Mapping[Any, Any] | Iterable[tuple[Int | tuple[Int, ...] | Tile, Any]]
"""Pieces: a mapping from a tile (its number, its place in the grid or the Tile) to its piece, or an iterable of such
pairs."""

_PIECES = "must be a dict of pieces by the index of their tile, or pairs of both"


def merge_box(
    tiling: Tiling,
    spec: MergeSpec | None,
    box: Box,
    pieces: Pieces,
    *,
    out: Any = None,
    results: ResultType | None = None,
    threads: Int | None = None,
) -> Any:
    """Merges a box of the output of a tiling from pieces of the tiles' results. Nothing is kept between calls, so any number
    of processes can make boxes in any order; each element has the bits that a Merger gives it.

    Arguments:
        tiling: the Tiling that the tiles come from.
        spec: a MergeSpec; None: MergeSpec().
        box: as for Tiling.touching: a slice, or (start, stop), for each tiled axis of the output.
        pieces: result[tiling.piece(index, box)] for each tile that touches the box and that the mask does not leave out, by
            the tile's number, its place in the grid, or the Tile. NumPy arrays, torch tensors or any arrays that support
            DLPack, in any memory layout. The reductions "first", "last" and "center" need only the tiles whose values the
            elements of the box take.
        out: an array of tiling.box_shape(box, channels) that is written and returned. Default: a new array of the kind of
            the first piece.
        results: the ResultType of the tiles. A box without pieces requires this argument; otherwise pieces are checked
            against it.
        threads: the largest number of threads of this call; see thread_limit.

    Formula: merge_box(t, s, box, ..) = y[box], where y is what Merger(t, spec=s) finishes with.

    Time and memory depend on the box and the tiles that touch it, not on the tiling. For repeated calls with one spec the
    window is sampled once.

    Errors: InvalidValue and InvalidType with the operator "merge", before anything is written: also for pieces that are
        missing, that come twice or that belong to no such tile, and for elements of the box that no tile gives, unless the
        spec has a fill or a nodata. Weights of single tiles are not taken, since their effect depends on the whole result.
        Where tiles hold nodata, the last bits of a mean of float64 may differ from a Merger's.

    Example:
        >>> import numpy as np, patchfold
        >>> x = np.arange(20.0).reshape(4, 5)
        >>> t = patchfold.Tiling(x.shape, (3, 3), overlap=1)
        >>> results = [tile * 2 for tile in t.split(x)]
        >>> box = (slice(1, 3), slice(2, 4))
        >>> pieces = {i: result[t.piece(i, box)] for i, result in enumerate(results)}
        >>> patchfold.merge_box(t, None, box, pieces).tolist()
        [[14.0, 16.0], [24.0, 26.0]]
    """
    checked_tiling(tiling)
    spec = spec_of(spec)
    limit = limited(None if threads is None else checked_threads(threads, MERGE))
    pairs = box_pairs(box, tiling._native.output, tiling._native.axes)
    given = _listed(tiling, pieces)
    if results is not None:
        checked_results(results)
    if given:
        like = given[0][1]
        shape, dtype, _ = _core.array_facts(like, MERGE, "piece")
        axes = _axes_in(tiling, len(shape))
        channels = tuple(extent for axis, extent in enumerate(shape) if axis not in axes)
        if results is not None:
            check_declared(tiling, results, "piece", dtype, channels)
    elif results is not None:
        like, dtype, channels = results._like(), results.dtype, results.channels_in(tiling)
    else:
        rule = "must be given where no piece comes that has a type"
        raise InvalidType(MERGE, "results", rule, expected="ResultType('float32')")
    merger = spec._box_merger(tiling, like, str(dtype), channels)
    weights: dict[int, Any] = {}
    if spec.nodata not in (None, NONE):
        nodata = Nodata(spec._unchecked(tiling._native), spec.nodata, spec.fill, dtype)
        left = {index: nodata.leave_out(piece) for index, piece in given}
        weights = {index: weight for index, (_, weight) in left.items() if weight is not None}
        given = [(index, left[index][0]) for index, _ in given]
    with limit:
        kind = like if given else np.empty(0)
        made, shape = spec._output(tiling, dtype, channels)[2], tiling.box_shape(pairs, channels)
        shape = shape[1:] if makes_labels(spec.reduce) else shape
        room = None if out is not None else new_room(kind, like, shape, made)
        memory = out if room is None else room.memory
        merger.merge(pairs, given, memory)
        if weights:  # the merge above has checked all pieces
            _merge_weighted(tiling, spec, pairs, given, weights, (channels, dtype), memory)
        return out if room is None else room.result()


def _merge_weighted(
    tiling: Tiling,
    spec: MergeSpec,
    pairs: list[tuple[int, int]],
    given: list[tuple[int, Any]],
    weights: dict[int, Any],
    results: tuple[tuple[int, ...], Any],
    memory: Any,
) -> None:
    """Merges weighted pieces into the memory of a box. Only a Merger takes weights, so one is made for a tiling of just the
    tiles that touch the box. Each result is 0, with the weight 0, around its piece. weights: by tile, for the pieces that
    have weights. results: (untiled extents, element type)."""
    channels, dtype = results
    small, first = _tiling_around(tiling, pairs, channels)
    rank = len(small.shape)
    shape, axes, type_ = spec._output(small, dtype, channels)
    places = {
        index: tuple(place - begin for place, begin in zip(tiling[index].position, first, strict=True)) for index, _ in given
    }
    mask = np.zeros(small.grid, bool)
    for place in places.values():
        mask[place] = True
    parts = spec._parts() | {"mask": mask.tobytes(), "fill": filled(spec.fill, spec.nodata, spec.reduce)}
    del parts["nodata"]
    native = merge_spec(small._native, copy=False, memory_limit=None, **parts)
    like = _zeros(given[0][1], small[0].result_shape)
    room = new_room(like, like, shape, type_)
    merger = _core.Merger(small._native, native, like, channels, room.memory)
    for index, piece in given:
        part = tiling.piece(index, pairs, rank=rank)
        whole = _zeros(piece, small[places[index]].result_shape)
        whole[part] = piece if is_torch(piece) else np.asarray(piece)
        weight = np.zeros(whole.shape)
        weight[part] = weights.get(index, 1)
        merger.add(small._index_of(places[index]), whole, weight, None)
    merger.finish(None)
    box = {axis: slice(0, stop - start) for axis, (start, stop) in zip(axes, pairs, strict=True)}
    made = room.result()[tuple(box.get(axis, slice(None)) for axis in range(len(shape)))]
    one = Tiling(made.shape, [stop - start for start, stop in pairs], overlap=0, axes=axes)
    copy = _core.Merger(one._native, MergeSpec()._unchecked(one._native), made, one._native.channels, memory)
    copy.add(0, made, None, None)
    copy.finish(None)


def _zeros(like: Any, shape: tuple[int, ...]) -> Any:
    return like.new_zeros(shape) if is_torch(like) else np.zeros(shape, np.asarray(like).dtype)


def _tiling_around(
    tiling: Tiling, pairs: list[tuple[int, int]], channels: tuple[int, ...]
) -> tuple[Tiling, tuple[int, ...]]:
    """Returns a tiling of the tiles that touch a box, in whose output the box begins at 0, and the place in the grid of the
    first of these tiles."""
    results = tiling._native.result
    ranges = tiling.touching(pairs)
    strides, offsets, tiles, outputs, lacks, margins = [], [], [], [], [], []
    for axis, (numbers, result, (start, stop)) in enumerate(zip(ranges, results, pairs, strict=True)):
        begin, second, last = (_span(tiling, axis, numbers[k]) for k in (0, min(1, len(numbers) - 1), -1))
        # With tail="partial" the first and the last tiles lack elements.
        cut = [_cut_before(tiling, axis, numbers[k]) for k in (0, min(1, len(numbers) - 1), -1)]
        length = last[0] - cut[2] - (begin[0] - cut[0])
        lack = result - last[1] - cut[2]
        strides.append(max(second[0] - cut[1] - (begin[0] - cut[0]), 1))
        offsets.append(begin[0] - start)
        lacks.append(lack + cut[0])
        margins.append((cut[0], lack))
        # Leaves no gap; the output holds the box.
        tiles.append(max(strides[-1], result, stop - start - length + lack + cut[0]))
        outputs.append(length + tiles[-1] - lack - cut[0])
    axes = tiling._native.axes_in(len(channels) + len(results))
    shape = list(channels)
    for axis, output in zip(axes, outputs, strict=True):
        shape.insert(axis, output)
    tail: Tail = "partial" if any(lacks) else "shift"
    small = Tiling(shape, tiles, stride=strides, tail=tail, axes=axes, offset=offsets, result=results, margin=margins)
    return small, tuple(numbers[0] for numbers in ranges)


def _cut_before(tiling: Tiling, axis: int, number: int) -> int:
    """Returns how many elements the result of a tile lacks because the tile would begin before the array."""
    given = tiling._given
    if given["tail"] != "partial" or "margin" not in given:
        return 0
    num, den = given["scale"][axis]
    return int(max(given["margin"][axis][0] - number * tiling.stride[axis], 0) * num // den)


def _span(tiling: Tiling, axis: int, number: int) -> tuple[int, int]:
    """Returns where the result of a tile begins in the output along a tiled axis, and its extent."""
    place = [0] * len(tiling.grid)
    place[axis] = number
    span = tiling._native.tile_at(tiling._index_of(tuple(place)))[1][axis]
    return span[3] - span[5], span[7]


def _listed(tiling: Tiling, pieces: Any) -> list[tuple[int, Any]]:
    if isinstance(pieces, Mapping):
        pieces = pieces.items()
    try:
        entries = [(index, piece) for index, piece in pieces]
    except (TypeError, ValueError):
        raise InvalidType(MERGE, "pieces", _PIECES, given_text(pieces)) from None
    return [(tiling._index_of(index), piece) for index, piece in entries]


def _axes_in(tiling: Tiling, rank: int) -> tuple[int, ...]:
    try:
        return tiling._native.axes_in(rank)
    except InvalidValue as error:
        raise InvalidValue(MERGE, "piece", **error._facts()) from None

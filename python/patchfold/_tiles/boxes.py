# SPDX-License-Identifier: Apache-2.0
"""Merges boxes of an output from pieces of results, without state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from .. import _core
from .._arrays.memory import new_room
from .._errors import InvalidType, InvalidValue, given_text
from .._threads import checked_threads, limited
from .._typing import Box, Int
from .merge_arguments import MERGE
from .merge_spec import MergeSpec, ResultType, check_declared, checked_results, checked_tiling, spec_of
from .tile import Tile
from .tiling import Tiling
from .tiling_arguments import box_pairs

Pieces: TypeAlias = Mapping[Any, Any] | Iterable[tuple[Int | tuple[Int, ...] | Tile, Any]]
"""Pieces: a mapping from a tile (its number, its place in the grid or the Tile) to its piece, or pairs of both."""

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
            DLPack, in any memory layout. The reductions "first", "last" and "center" need only the tiles that give an
            element.
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
        spec has a fill. Weights of single tiles are not taken: their effect depends on the whole result.

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
    with limit:
        if out is not None:
            merger.merge(pairs, given, out)
            return out
        kind = like if given else np.empty(0)
        room = new_room(kind, like, tiling.box_shape(pairs, channels), spec.dtype or dtype)
        merger.merge(pairs, given, room.memory)
        return room.result()


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

# SPDX-License-Identifier: Apache-2.0
"""Operators on dask arrays: a task makes each chunk of the result from the box of the array that the chunk needs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, cast

import dask.array
import numpy as np
from dask._task_spec import Task
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from .. import _core
from .._arrays.dtypes import SIZES
from .._errors import InvalidType, given_text
from .._operators import blocks, columns
from .._signatures import takes
from .._threads import thread_limit
from .._typing import DepthMode, FoldCall, IntOrInts, Ints, Layout, PaddingMode, UnfoldCall
from ._chunks import starts
from ._parts import Box, Parts, assembled

if TYPE_CHECKING:
    from typing_extensions import Unpack

_OPERATORS: dict[str, Any] = {
    name: _core.Operator(name, data="x") for name in ("unfold", "fold", "space_to_depth", "depth_to_space")
}

_array: Any = dask.array  # dask's functions have no types


@takes(UnfoldCall, columns.unfold)
def unfold(x: Any, kernel_size: IntOrInts, **settings: Unpack[UnfoldCall]) -> Any:
    """``patchfold.unfold`` for a dask array: lazy, chunk by chunk, with the same bits.

    Shapes, Arguments, Formula, Types: as for patchfold.unfold; x is a dask array. The chunks of the result follow those of x
        along the batch and the spatial axes; with positions="flat" only along the first spatial axis, since the others lie
        inside one axis. A chunk reads all elements of its patches, also beyond the border of its chunk of x.

    Errors: InvalidValue and InvalidType, as for patchfold.unfold and before anything is computed.

    Example:
        >>> import dask.array, numpy as np, patchfold.dask
        >>> x = dask.array.from_array(np.arange(48.0).reshape(1, 1, 6, 8), chunks=(1, 1, 3, 4))
        >>> y = patchfold.dask.unfold(x, 3, padding=1, positions="grid")
        >>> y.shape, y.numblocks
        ((1, 9, 6, 8), (1, 1, 2, 2))
        >>> bool((y == patchfold.unfold(x.compute(), 3, padding=1, positions="grid")).all().compute())
        True
    """
    values = (kernel_size, *settings.values())
    layout, positions = settings["layout"], settings["positions"]
    name, shapes, pads = _checked("unfold", x, *values)
    axes = [axis for axis, *_ in pads]
    kernel, step, between = (_for_axes(each, len(axes)) for each in (kernel_size, settings["stride"], settings["dilation"]))
    padded, mode = x, cast("PaddingMode", _core.word_here(settings["padding_mode"]))
    for axis, _, begin, end in pads:
        padded = _padded(padded, axis, begin, end, mode, settings["value"])
    grid = [
        max((padded.shape[axis] - (k - 1) * d - 1) // s + 1, 0) if padded.shape[axis] else 0
        for axis, k, s, d in zip(axes, kernel, step, between, strict=True)
    ]
    # The result is cut before the first patch that begins in the next chunk of x. Flat positions are cut
    # along the first spatial axis only, since the others lie inside the same axis of the result.
    cuts = []
    for i, (axis, _, pad, _) in enumerate(pads):
        inside = starts(x.chunks[axis])[1:-1] if positions == "grid" or not i else []
        cuts.append(_cut([-(-(begin + pad) // step[i]) for begin in inside], grid[i]))
    places = _columns_axes(x.ndim, axes, layout, positions)

    def box(spatial: tuple[int, ...]) -> dict[int, slice]:
        found = {}
        for i, k in enumerate(spatial):
            first, last = cuts[i][k], cuts[i][k + 1]
            end = (last - 1) * step[i] + (kernel[i] - 1) * between[i] + 1 if last > first else first * step[i]
            found[axes[i]] = slice(first * step[i], end)
        return found

    options: dict[str, Any] = {"kernel_size": kernel, "stride": step, "dilation": between, "layout": layout}
    options |= {"order": settings["order"], "positions": positions, "allow_empty": True}
    return _built(name, padded, shapes[1], axes, places, cuts, grid, box, _Unfold(options), (x.name, values))


@takes(FoldCall, columns.fold)
def fold(x: Any, output_size: Ints, kernel_size: IntOrInts, **settings: Unpack[FoldCall]) -> Any:
    """``patchfold.fold`` for a dask array: lazy, chunk by chunk, with the same bits.

    Shapes, Arguments, Formula, Types: as for patchfold.fold without accumulate; x is a dask array. The chunks of the result
        follow those of x along the batch and the positions; with positions="flat" along the first spatial axis only. A
        chunk reads the columns of every patch that reaches it, and adds them in the order of the whole fold.

    Errors: InvalidValue and InvalidType, as for patchfold.fold and before anything is computed.

    Example:
        >>> import dask.array, numpy as np, patchfold.dask
        >>> x = dask.array.from_array(np.arange(36.0).reshape(1, 4, 3, 3), chunks=(1, 4, 2, 3))
        >>> y = patchfold.dask.fold(x, (4, 4), 2, positions="grid")
        >>> bool((y == patchfold.fold(x.compute(), (4, 4), 2, positions="grid")).all().compute())
        True
    """
    *first, reduce, fill = settings.values()
    values = (output_size, kernel_size, *first, False, reduce, fill)
    layout, positions = settings["layout"], settings["positions"]
    name, shapes, pads = _checked("fold", x, *values)
    axes = [axis for axis, *_ in pads]
    extents = [extent for _, extent, _, _ in pads]
    kernel, step, between = (_for_axes(each, len(axes)) for each in (kernel_size, settings["stride"], settings["dilation"]))
    grid = [
        (extent + begin + end - (k - 1) * d - 1) // s + 1
        for (_, extent, begin, end), k, s, d in zip(pads, kernel, step, between, strict=True)
    ]
    places = _columns_axes(len(shapes[1]), axes, layout, positions)
    inner = math.prod(grid[1:]) if positions == "flat" else 1
    cuts = []
    for i, whole in enumerate(extents):
        if positions == "flat" and i:
            cuts.append([0, whole])
            continue
        inside = starts(x.chunks[places[i]])[1:-1] if inner else []
        cuts.append(_cut([begin // inner * step[i] - pads[i][2] for begin in inside], whole))

    def reach(spatial: tuple[int, ...]) -> list[tuple[int, int]]:
        """Returns the positions along each axis whose patches reach a chunk."""
        found = []
        for i, k in enumerate(spatial):
            first, last, pad = cuts[i][k], cuts[i][k + 1], pads[i][2]
            begin = max(0, -(-(first + pad - (kernel[i] - 1) * between[i]) // step[i]))
            end = min(grid[i], (last - 1 + pad) // step[i] + 1)
            found.append((begin, max(begin, end)))
        return found

    def box(spatial: tuple[int, ...]) -> dict[int, slice]:
        ranges = reach(spatial)
        if positions == "flat":
            return {places[0]: slice(ranges[0][0] * inner, ranges[0][1] * inner)}
        return {places[i]: slice(*each) for i, each in enumerate(ranges)}

    def part(spatial: tuple[int, ...]) -> Any:
        """Returns the extents of the image that the positions of a chunk make, the chunk's place in this image, and whether
        there is any position."""
        ranges = reach(spatial)
        if positions == "flat":
            ranges = [ranges[0], *((0, each) for each in grid[1:])]
        sizes = [(e - b - 1) * s + (k - 1) * d + 1 for (b, e), k, s, d in zip(ranges, kernel, step, between, strict=True)]
        shifts = [cuts[i][k] - (ranges[i][0] * step[i] - pads[i][2]) for i, k in enumerate(spatial)]
        return tuple(sizes), tuple(shifts), all(end > begin for begin, end in ranges)

    options: dict[str, Any] = {"kernel_size": kernel, "stride": step, "dilation": between, "layout": layout}
    options |= {"order": settings["order"], "positions": positions, "reduce": reduce, "fill": fill}
    call = _Fold(options, tuple(axes), fill if reduce == "mean" else 0)
    # The chunks of the columns along their spatial axes decide the chunks of the image.
    sources = [places[0]] if positions == "flat" else places
    return _built(name, x, shapes[1], sources, axes, cuts, extents, box, call, (x.name, values), part)


def space_to_depth(x: Any, block: IntOrInts, *, mode: DepthMode = "blocks_first", layout: Layout = "channels_first") -> Any:
    """``patchfold.space_to_depth`` for a dask array: lazy, chunk by chunk, with the same bits.

    Shapes, Arguments, Formula, Types, Errors: as for patchfold.space_to_depth; x is a dask array. Where a chunk of x ends
        inside a block, the block belongs to the chunk before.

    Example:
        >>> import dask.array, numpy as np, patchfold.dask
        >>> x = dask.array.from_array(np.arange(32).reshape(1, 2, 4, 4), chunks=(1, 2, 3, 4))
        >>> patchfold.dask.space_to_depth(x, 2).compute().shape
        (1, 8, 2, 2)
    """
    return _blocked("space_to_depth", x, block, mode, layout)


def depth_to_space(x: Any, block: IntOrInts, *, mode: DepthMode = "blocks_first", layout: Layout = "channels_first") -> Any:
    """``patchfold.depth_to_space`` for a dask array: lazy, chunk by chunk, with the same bits.

    Shapes, Arguments, Formula, Types, Errors: as for patchfold.depth_to_space; x is a dask array.

    Example:
        >>> import dask.array, numpy as np, patchfold.dask
        >>> x = dask.array.from_array(np.arange(32).reshape(1, 8, 2, 2), chunks=(1, 4, 1, 2))
        >>> patchfold.dask.depth_to_space(x, 2).compute().shape
        (1, 2, 4, 4)
    """
    return _blocked("depth_to_space", x, block, mode, layout)


def _blocked(name: Literal["space_to_depth", "depth_to_space"], x: Any, block: Any, mode: Any, layout: Any) -> Any:
    shapes = _checked(name, x, block, mode, layout)[1]
    rank = len(shapes[0])
    count = 2 if np.ndim(block) == 0 else len(block)
    axes = list(range(rank - count, rank)) if layout == "channels_first" else list(range(rank - 1 - count, rank - 1))
    sizes = _for_axes(block, count)
    grows = name == "depth_to_space"
    cuts = [
        _cut([begin * size if grows else begin // size for begin in starts(x.chunks[axis])], shapes[1][axis])
        for axis, size in zip(axes, sizes, strict=True)
    ]

    def box(spatial: tuple[int, ...]) -> dict[int, slice]:
        found = {}
        for i, k in enumerate(spatial):
            ends = (cuts[i][k], cuts[i][k + 1])
            found[axes[i]] = slice(*(each // sizes[i] if grows else each * sizes[i] for each in ends))
        return found

    call = _Blocks(name, sizes, mode, layout)
    wholes = [shapes[1][axis] for axis in axes]
    return _built(name, x, shapes[1], axes, axes, cuts, wholes, box, call, (x.name, block, mode, layout))


class _Unfold:
    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options

    def __call__(self, region: Any, shape: tuple[int, ...], part: Any) -> Any:
        return columns.unfold(region, **self._options)


class _Fold:
    def __init__(self, options: dict[str, Any], axes: tuple[int, ...], empty: Any) -> None:
        self._options, self._axes, self._empty = options, axes, empty

    def __call__(self, region: Any, shape: tuple[int, ...], part: Any) -> Any:
        sizes, shifts, reached = part
        chunk = np.full(shape, self._empty, region.dtype)
        if not reached or not chunk.size:
            return chunk
        image = columns.fold(region, sizes, **self._options)
        to, of = [slice(None)] * chunk.ndim, [slice(None)] * chunk.ndim
        for axis, size, shift in zip(self._axes, sizes, shifts, strict=True):
            begin, end = max(0, -shift), min(shape[axis], size - shift)
            to[axis], of[axis] = slice(begin, max(begin, end)), slice(begin + shift, max(begin, end) + shift)
        chunk[tuple(to)] = image[tuple(of)]
        return chunk


class _Blocks:
    def __init__(self, name: str, sizes: tuple[int, ...], mode: Any, layout: Any) -> None:
        self._name, self._sizes, self._mode, self._layout = name, sizes, mode, layout

    def __call__(self, region: Any, shape: tuple[int, ...], part: Any) -> Any:
        call = blocks.space_to_depth if self._name == "space_to_depth" else blocks.depth_to_space
        return call(region, self._sizes, mode=self._mode, layout=self._layout)


def _checked(name: str, x: Any, *settings: Any) -> tuple[str, Any, Any]:
    """Checks a call as the operator itself does. Returns the operator's shapes and the pads of its spatial axes."""
    if not isinstance(x, dask.array.Array):
        expected = f"patchfold.{name}(x, ..), or dask.array.from_array(x, chunks=..)"
        raise InvalidType(f"dask.{name}", "x", "must be a dask array", given_text(x), expected)
    if any(math.isnan(extent) for extent in x.shape):
        raise InvalidType(f"dask.{name}", "x", "must know its chunks", expected="x.compute_chunk_sizes()")
    kind = x.dtype.name
    if kind not in SIZES:
        if name == "fold":
            columns.fold(np.zeros((1, 1, 1), x.dtype), (1,), (1,))  # raises fold's own error for types that cannot be added
        kind = "uint8"  # elements are moved as bytes
    call = _core.linear_call(_OPERATORS[name], x.shape, kind, *settings)
    pads = _core.linear_pads(call) if name in ("unfold", "fold") else []
    return name, _core.linear_shapes(call), pads


def _for_axes(value: Any, count: int) -> tuple[int, ...]:
    numbers = np.asarray(value).reshape(-1).tolist()
    return tuple(numbers * count if len(numbers) == 1 else numbers)


def _cut(begins: list[int], whole: int) -> list[int]:
    """Returns the limits of the chunks of an axis: 0, the numbers of `begins` inside the axis, and the end of the axis."""
    return [0, *sorted({begin for begin in begins if 0 < begin < whole}), whole]


def _columns_axes(rank: int, axes: list[int], layout: str, positions: str) -> list[int]:
    """Returns, for each spatial axis of an image, the axis of the columns on which its positions lie."""
    if positions == "grid":
        return list(axes)
    return [axes[0]] * len(axes)


def _padded(x: Any, axis: int, begin: int, end: int, mode: PaddingMode, value: Any) -> Any:
    """Returns the array with one axis padded, or cropped by a negative pad. unfold, applied to indices, tells which elements
    padding repeats."""
    extent = x.shape[axis]
    if mode != "constant" and (begin > 0 or end > 0):
        index = columns.unfold(np.arange(extent)[None], (1,), padding=[(begin, end)], padding_mode=mode)[0]
        strips = [np.take(index, range(max(begin, 0))), np.take(index, range(len(index) - max(end, 0), len(index)))]
        before, after = (_array.take(x, each, axis=axis) for each in strips)
    else:
        room = [[*x.shape[:axis], max(pad, 0), *x.shape[axis + 1 :]] for pad in (begin, end)]
        before, after = (_array.full(shape, value, dtype=x.dtype, chunks=-1) for shape in room)
    inside = [slice(None)] * x.ndim
    inside[axis] = slice(max(-begin, 0), max(extent + min(end, 0), 0))
    parts = [before, x[tuple(inside)], after]
    kept = [part for part in parts if part.shape[axis]]
    return _array.concatenate(kept, axis=axis) if len(kept) > 1 else kept[0] if kept else parts[1]


def _built(
    name: str,
    source: Any,
    shape: tuple[int, ...],
    sources: list[int],
    places: list[int],
    cuts: list[list[int]],
    wholes: list[int],
    box: Callable[[tuple[int, ...]], dict[int, slice]],
    call: Any,
    identity: Any,
    part: Callable[[tuple[int, ...]], Any] = lambda spatial: None,
) -> Any:
    """Returns an array whose chunks `call` makes from boxes of the source.

    sources, places: the spatial axes of the source and of the result; several spatial axes may lie on one flat axis of the
    result. cuts: the beginnings and the end of the chunks along each spatial axis. wholes: the extents of the spatial axes
    of the result. box: a function that returns, for the numbers of a chunk, the slices that the chunk reads, by axis of the
    source. Axes without a slice are read whole, except that batch axes have the chunks of the source. part: a function that
    returns, for the same numbers, what `call` gets beside the elements of the box and the shape of the chunk.
    """
    channel = _channel(len(shape), places)
    flat = len(set(places)) < len(places)
    extents: list[tuple[int, ...]] = []
    for axis, whole in enumerate(shape):
        if axis in places:
            i = places.index(axis)
            inner = math.prod(wholes[1:]) if flat else 1
            extents.append(tuple((end - begin) * inner for begin, end in itertools.pairwise(cuts[i])))
        elif axis == channel:
            extents.append((whole,))
        else:
            extents.append(source.chunks[axis])
    token = tokenize(name, identity, source.name)
    graph: dict[Any, Any] = {}
    parts = Parts(source, token)
    title = f"patchfold-{name}-{token}"
    batch = min([*places, channel])
    for number, index in enumerate(itertools.product(*(range(len(each)) for each in extents))):
        if flat:
            spatial = (index[places[0]], *[0] * (len(places) - 1))
        else:
            spatial = tuple(index[axis] for axis in places)
        needed = [slice(0, extent) for extent in source.shape]
        for axis in range(batch):
            begins = starts(source.chunks[axis])
            needed[axis] = slice(begins[index[axis]], begins[index[axis] + 1])
        for axis, each in box(spatial).items():
            needed[axis] = each
        refs, where = parts.tasks(graph, (number,), tuple(needed))
        key = (title, *index)
        size = tuple(each[k] for each, k in zip(extents, index, strict=True))
        graph[key] = Task(key, _chunk, call, tuple(needed), where, size, part(spatial), *refs)
    layers = HighLevelGraph.from_collections(title, graph, dependencies=[source])
    return _array.Array(layers, title, tuple(extents), dtype=source.dtype)


def _channel(rank: int, places: list[int]) -> int:
    """Returns the axis of the channels, which is neither a batch axis nor a spatial axis."""
    return rank - 1 if max(places) < rank - 1 else min(places) - 1


def _chunk(call: Any, box: Box, where: tuple[Box, ...], size: tuple[int, ...], part: Any, *parts: Any) -> Any:
    with thread_limit(1):  # dask counts a task as one thread
        return call(assembled(box, where, list(parts)), size, part)

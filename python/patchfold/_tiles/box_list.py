# SPDX-License-Identifier: Apache-2.0
"""Tiles at any places, and the merge of their results."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arguments import first_entries, is_integer, is_list
from .._arrays.devices import to_processor
from .._arrays.kinds import is_torch
from .._errors import InvalidType, InvalidValue, given_text, value_text
from .._typing import Box, Int, IntOrInts, Number, PaddingMode, Reduce, Scale
from .boxes import merge_box
from .merge_arguments import MERGE, window_of
from .merge_spec import MergeSpec, facts_of_first, spec_of
from .merger import Merger
from .nodata import NONE, filled
from .tile import Tile, index_of
from .tiling import Tiling
from .tiling_arguments import TILING, ask_for_axes, ratios, wrong_type

_RULE = "must have a slice without a step, or (start, stop), for each tiled axis"
_MOST_BLOCK = 512
"""The most elements of a block of the output along an axis. Blocks are about as large as results."""

Pairs = tuple[tuple[int, int], ...]


class Boxes:
    """Tiles at any places of an array, such as detections or the tiles of another program: the box that each tile reads, and
    the box of the output where its result lies. Immutable. ``apply_tiled`` takes a Boxes in place of tile.

    Arguments:
        shape: the shape of the array.
        reads: for each tile, a slice or (start, stop) for each tiled axis. Negative numbers lie before the array. The part
            of a box outside the array is padding; each box must hold an element of the array.
        writes: for each tile, the box of the output where its result lies, in the same form; its extents are those of the
            result. Elements outside the output are left out. Default: start * scale to stop * scale of the box that is read.
        axes, padding_mode, value, scale, output: as for Tiling.

    Formula: tile i holds x[reads[i]], and padding; y[writes[i]] is made from the result of tile i and of other tiles.

    Errors: InvalidValue and InvalidType with the operator "tiling".

    Example:
        >>> import numpy as np, patchfold
        >>> x = np.arange(12.0)
        >>> boxes = patchfold.Boxes(x.shape, [[(-2, 3)], [(2, 9)]], padding_mode="reflect")
        >>> boxes.read(x, 0).tolist(), boxes[1].write
        ([2.0, 1.0, 0.0, 1.0, 2.0], (slice(2, 9, None),))
        >>> patchfold.apply_tiled(np.sqrt, x, boxes, fill=-1).round(1).tolist()
        [0.0, 1.0, 1.4, 1.7, 2.0, 2.2, 2.4, 2.6, 2.8, -1.0, -1.0, -1.0]
    """

    __slots__ = ("_arguments", "_reads", "_writes", "axes", "output", "shape")

    def __init__(
        self,
        shape: IntOrInts,
        reads: Sequence[Box],
        *,
        writes: Sequence[Box] | None = None,
        axes: IntOrInts | None = None,
        padding_mode: PaddingMode = "constant",
        value: Number = 0,
        scale: Scale = 1,
        output: IntOrInts | None = None,
    ) -> None:
        self._reads = _pairs_of("reads", reads)
        if not self._reads:
            raise InvalidValue(TILING, "reads", "must have a box", "an empty list")
        tiled = len(self._reads[0])
        factors = ratios(scale)
        if len(factors) not in (1, tiled):
            rule = "must be one number, or one for each tiled axis"
            raise InvalidValue(TILING, "scale", rule, value_text(scale), f"{tiled} entries")
        factors = factors * tiled if len(factors) == 1 else factors
        self._writes = _scaled(self._reads, factors) if writes is None else _pairs_of("writes", writes)
        if len(self._writes) != len(self._reads):
            given = f"{len(self._writes)} boxes"
            raise InvalidValue(TILING, "writes", "must have a box for each tile", given, str(len(self._reads)))
        # A tiling of one tile checks the other arguments; its output is that of all tiles.
        whole = Tiling(
            shape, (1,) * tiled, overlap=0, tail="drop", axes=tuple(range(-tiled, 0)) if axes is None else axes,
            padding_mode=padding_mode, value=value, output=output,
        )  # fmt: skip
        self.shape, self.axes = whole.shape, tuple(whole._given["axes"])
        extents = [self.shape[axis] for axis in whole.axes]
        self.output: tuple[int, ...] = whole._native.output
        if output is None:
            self.output = tuple(-int(-extent * each // 1) for extent, each in zip(extents, factors, strict=True))
        if axes is None:
            ask_for_axes(self.shape, tiled)
        self._arguments: dict[str, Any] = {"padding_mode": padding_mode, "value": value}
        for name, boxes, limits in (("reads", self._reads, extents), ("writes", self._writes, None)):
            for i, box in enumerate(boxes):
                if len(box) != tiled:
                    raise InvalidValue(TILING, name, _RULE, f"{len(box)} entries in box {i}", str(tiled))
                for k, (start, stop) in enumerate(box):
                    if stop <= start:
                        raise InvalidValue(TILING, name, "must have elements", f"({start}, {stop}) in box {i}")
                    if limits is not None and not (start < limits[k] and stop > 0):
                        given = f"({start}, {stop}) in box {i}"
                        raise InvalidValue(TILING, name, "must hold an element of the array", given, f"0 to {limits[k]}")

    def __len__(self) -> int:
        return len(self._reads)

    def __getitem__(self, index: Int) -> Tile:
        number = index_of((len(self),), index)
        return replace(self._alone(number)[0], index=number, position=(number,))

    def __iter__(self) -> Iterator[Tile]:
        return (self[number] for number in range(len(self)))

    def read(self, source: Any, index: Int) -> Any:
        """Reads tile ``index`` of an array or of a store, padding included, as Tiling.read does."""
        return self._alone(index_of((len(self),), index)).read(source, 0)

    def _alone(self, number: int) -> Tiling:
        """Returns a tiling of only this tile: a box is a tile whose margins reach to its ends."""
        return _alone(
            self.shape, self.axes, self.output, self._reads[number], self._writes[number], *self._arguments.values()
        )

    def __repr__(self) -> str:
        return f"<Boxes({self.shape}, axes={self.axes}): {len(self)} tiles>"

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Boxes) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        arguments = tuple(map(repr, self._arguments.values()))
        return (self.shape, self.axes, self.output, self._reads, self._writes, arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.shape, self._reads, self._writes, self.axes, self.output, self._arguments)


def _restored(shape: Any, reads: Any, writes: Any, axes: Any, output: Any, arguments: Any) -> Boxes:
    return Boxes(shape, reads, writes=writes, axes=axes, output=output, **arguments)


@lru_cache(256)
def _alone(
    shape: tuple[int, ...], axes: tuple[int, ...], output: tuple[int, ...], read: Pairs, write: Pairs, mode: Any, value: Any
) -> Tiling:
    tile = [stop - start for start, stop in read]
    extents = [shape[axis] for axis in axes]
    margin = [(-start, stop - extent) for (start, stop), extent in zip(read, extents, strict=True)]
    offset = [start - begin for (start, _), (begin, _) in zip(write, read, strict=True)]
    result = [stop - start for start, stop in write]
    return Tiling(
        shape, tile, stride=tile, tail="drop", axes=axes, padding_mode=mode, value=value, margin=margin, offset=offset,
        result=result, output=output,
    )  # fmt: skip


def _pairs_of(name: str, boxes: Any) -> tuple[Pairs, ...]:
    entries = list(boxes) if is_list(boxes) or isinstance(boxes, Iterator) else None
    if entries is None:
        raise wrong_type(name, "must be a list of boxes", boxes)
    return tuple(tuple(_pair(name, each) for each in _entries(name, box)) for box in entries)


def _entries(name: str, box: Any) -> list[Any]:
    entries = [box] if isinstance(box, slice) else first_entries(box) if is_list(box) else None
    if not entries:
        raise wrong_type(name, _RULE, box)
    return list(entries)


def _pair(name: str, entry: Any) -> tuple[int, int]:
    if isinstance(entry, slice):
        ends: Any = (entry.start, entry.stop) if entry.step is None or entry.step == 1 else None
    else:
        ends = first_entries(entry) if is_list(entry) else None
    if ends is None or len(ends) != 2 or not all(map(is_integer, ends)):
        raise wrong_type(name, _RULE, entry)
    start, stop = map(operator.index, ends)
    if max(abs(start), abs(stop)) >= 2**60:
        raise InvalidValue(TILING, name, "must stay below 2^60", value_text(entry))
    return start, stop


def _scaled(boxes: tuple[Pairs, ...], factors: list[Fraction]) -> tuple[Pairs, ...]:
    def scaled(number: int, factor: Fraction) -> int:
        if (number * factor).denominator != 1:
            rule = "ends of boxes must be whole numbers of output elements; or writes must be given"
            raise InvalidValue(TILING, "scale", rule, f"{number} * {factor}", f"a multiple of {factor.denominator}")
        return int(number * factor)

    return tuple(
        tuple((scaled(a, f), scaled(b, f)) for (a, b), f in zip(box, factors, strict=False))
        if len(box) == len(factors)
        else box
        for box in boxes
    )


def merge_boxes(
    boxes: Boxes,
    results: Sequence[Any] | Callable[[int], Any],
    *,
    out: Any = None,
    spec: MergeSpec | None = None,
    threads: Int | None = None,
) -> Any:
    """Merges the results of tiles at any places, such as the tiles of another program.

    Arguments:
        boxes: a Boxes, whose writes say where the results lie.
        results: the result of each tile: a list, or a function that returns the result of the tile with this number. A
            function is called once for each tile, in the order in which the output is made: files need not be in memory.
        out: as for Merger.
        spec: a MergeSpec without a mask, whose window is a name; None: MergeSpec().
        threads: as for Merger.

    Formula: an element is made from the results of all boxes that hold it, as by a Merger. The window is sampled for each
        result. "center" takes the tile whose middle is nearest (Euclidean distance), the first of equally near ones.

    Memory: the results of boxes that touch about one row of blocks. Blocks are as large as results, at most 512 elements
        along an axis.

    Types: returns what Merger.finish does.

    Errors: InvalidValue and InvalidType with the operator "merge"; before any work for elements that no box holds, unless
        the spec has a fill or a nodata. Means and sums of 64-bit integers are refused, since results have weights.

    Example:
        >>> import numpy as np, patchfold
        >>> boxes = patchfold.Boxes((6,), [(slice(0, 4),), (slice(3, 6),)])
        >>> patchfold.merge_boxes(boxes, [np.full(4, 1.0), np.full(3, 2.0)], spec=patchfold.MergeSpec(reduce="max")).tolist()
        [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]
    """
    if not isinstance(boxes, Boxes):
        raise InvalidType(MERGE, "boxes", "must be a Boxes", given_text(boxes))
    if not callable(results) and not hasattr(results, "__getitem__"):
        raise InvalidType(MERGE, "results", "must be a list of results, or a function", given_text(results))
    if hasattr(results, "__len__") and len(results) != len(boxes):
        raise InvalidValue(MERGE, "results", "must have a result for each tile", str(len(results)), str(len(boxes)))
    return merged_boxes(boxes, results, out, MergeSpec() if spec is None else spec_of(spec), threads)


def merged_boxes(
    boxes: Boxes,
    results: Any,
    out: Any,
    spec: MergeSpec,
    threads: Any,
    kind: Any = None,
    done: Callable[[int], Any] = lambda count: None,
) -> Any:
    """Returns the merge of results. kind: an array of the kind of a new output. done: called with 1 for each result."""
    if spec.mask is not None:
        raise InvalidValue(MERGE, "mask", "must not be given for boxes: leave boxes out")
    window = window_of(spec.window, None)
    if window is not None and not isinstance(window, tuple):
        raise InvalidType(MERGE, "window", "must be a name for boxes, whose extents differ", given_text(spec.window))
    blocks, touching = _blocks_of(boxes)
    if spec.fill is None and spec.nodata in (None, NONE):
        _check_holes(boxes, blocks, touching)
    last = {number: block for block, numbers in enumerate(touching) for number in numbers}
    made = _Results(boxes, results, done)
    with Merger(blocks, reduce="first", out=out, copy=True, kind=kind, threads=threads) as merger:
        for block, numbers in enumerate(touching):
            merger.add(block, _merged(boxes, spec, blocks[block], numbers, made))
            made.drop([number for number in numbers if last[number] == block])
        for number in set(range(len(boxes))) - set(last):  # results that lie outside the output
            made.of(number)
            made.drop([number])
        return merger.finish()


class _Results:
    """The results of tiles, each made when the first block needs it."""

    def __init__(self, boxes: Boxes, results: Any, done: Callable[[int], Any]) -> None:
        self._boxes, self._done = boxes, done
        self._call: Any = results if callable(results) else results.__getitem__
        self._kept: dict[int, Any] = {}
        self.facts: Any = None
        """(untiled extents, element type) of the first result."""
        self.like: Any = None

    def of(self, number: int) -> Any:
        if number not in self._kept:
            name = f"result for tile {number}"
            result = to_processor(self._call(number), MERGE, name)
            result = result if is_torch(result) else np.asarray(result)
            free = _core.MergeSpec.make(None, None, "", None, None, False, None)
            facts = facts_of_first(self._boxes._alone(number), free, 0, result)
            self.facts, self.like = (facts, result[..., :0]) if self.facts is None else (self.facts, self.like)
            if facts != self.facts:
                rule = "must have the untiled extents and the element type of the first result"
                raise InvalidValue(MERGE, name, rule, str(facts), str(self.facts))
            self._kept[number] = result
            self._done(1)
        return self._kept[number]

    def drop(self, numbers: list[int]) -> None:
        for number in numbers:
            del self._kept[number]


def _blocks_of(boxes: Boxes) -> tuple[Tiling, list[list[int]]]:
    """Returns the blocks of the output as a tiling, and the tiles that touch each block."""
    results = np.array([[stop - start for start, stop in write] for write in boxes._writes])
    extents = [max(1, min(int(each), _MOST_BLOCK, full)) for each, full in zip(results.max(0), boxes.output, strict=True)]
    shape = list(boxes.shape)
    axes = [axis % len(shape) for axis in boxes.axes]
    for axis, extent in zip(axes, boxes.output, strict=True):
        shape[axis] = extent
    blocks = Tiling(shape, extents, overlap=0, tail="partial", axes=boxes.axes)
    touching: list[list[int]] = [[] for _ in range(len(blocks))]
    for number, write in enumerate(boxes._writes):
        inside = [(max(a, 0), min(b, full)) for (a, b), full in zip(write, boxes.output, strict=True)]
        if all(a < b for a, b in inside):
            places = (range(a // e, (b - 1) // e + 1) for (a, b), e in zip(inside, extents, strict=True))
            for place in itertools.product(*places):
                touching[index_of(blocks._native.grid, place)].append(number)
    return blocks, touching


def _check_holes(boxes: Boxes, blocks: Tiling, touching: list[list[int]]) -> None:
    for tile, numbers in zip(blocks, touching, strict=True):
        box = _box_of(blocks, tile)
        covered = np.zeros([stop - start for start, stop in box], bool)
        for number in numbers:
            covered[_place(boxes._writes[number], box)] = True
        if not covered.all():
            at = [int(i) + start for i, (start, _) in zip(np.argwhere(~covered)[0], box, strict=True)]
            rule = "must cover every element of the output unless a fill is given"
            raise InvalidValue(MERGE, "tiling", rule, f"no tile for element {at} of the tiled axes")


def _box_of(blocks: Tiling, tile: Tile) -> Pairs:
    return tuple((tile.write[axis].start, tile.write[axis].stop) for axis in blocks.axes)


def _place(write: Pairs, box: Pairs) -> tuple[slice, ...]:
    """Returns the part of a box of the output in which a result lies, as slices in the box."""
    return tuple(slice(max(a, c) - c, max(min(b, d), c) - c) for (a, b), (c, d) in zip(write, box, strict=True))


def _merged(boxes: Boxes, spec: MergeSpec, tile: Tile, numbers: list[int], made: _Results) -> Any:
    """Returns a block of the output. The tiles lie one behind the other along an axis of their own, in such a way that all
    of them have an element at one place. So merge_box merges them, with a weight for each element of each tile."""
    for number in numbers or ([0] if made.facts is None else []):
        made.of(number)
    (channels, dtype), rank = made.facts, len(made.facts[0]) + len(boxes.output)
    axes = boxes._alone(0)._native.axes_in(rank)
    box = tuple((each.start, each.stop) for each in (tile.write[axis % len(boxes.shape)] for axis in boxes.axes))
    extents = [stop - start for start, stop in box]
    shape = list(channels)
    for axis, extent in zip(axes, extents, strict=True):
        shape.insert(axis, extent)
    count = max(len(numbers), 1)
    weights = np.zeros((count, *extents))
    pieces = {}
    reduce: Reduce = spec.reduce or _reduction(spec, dtype)
    for k, number in enumerate(numbers):
        write = boxes._writes[number]
        place = _place(write, box)
        inside = [slice(p.start + c - a, p.stop + c - a) for p, (a, _), (c, _) in zip(place, write, box, strict=True)]
        region = made.like.new_zeros(shape) if is_torch(made.like) else np.zeros(shape, made.like.dtype)
        slices, parts = [slice(None)] * rank, [slice(None)] * rank
        for axis, p, q in zip(axes, place, inside, strict=True):
            slices[axis], parts[axis] = p, q
        region[tuple(slices)] = made.of(number)[tuple(parts)]
        pieces[k] = region[None]
        weights[count - 1 - k][place] = _weights(spec, reduce, tuple(b - a for a, b in write), tuple(inside))
    if reduce == "center":
        weights = _nearest(boxes, numbers, box, weights)
    fill = filled(spec.fill, spec.nodata, reduce)
    rule = MergeSpec(
        window=weights, reduce="first" if reduce == "center" else reduce, dtype=spec.dtype, fill=fill, nodata=spec.nodata
    )
    tiled = (0, *(axis + 1 for axis in axes))
    stack = Tiling((2 * count - 1, *shape), (count, *extents), stride=(1, *extents), axes=tiled)
    if not numbers:
        pieces = {0: made.like.new_zeros((1, *shape)) if is_torch(made.like) else np.zeros((1, *shape), made.like.dtype)}
    return merge_box(stack, rule, [(count - 1, count), *((0, extent) for extent in extents)], pieces)[0]


def _reduction(spec: MergeSpec, dtype: Any) -> Reduce:
    """Returns the default reduction for results of this type."""
    are_labels = spec.window is None and spec.dtype is None and str(dtype).startswith(("bool", "int", "uint"))
    return "center" if are_labels else "mean"


def _weights(spec: MergeSpec, reduce: str, extents: tuple[int, ...], inside: tuple[slice, ...]) -> npt.NDArray[np.float64]:
    """Returns the weights of a part of a result."""
    window = spec.window if spec.window is not None else "hann" if reduce == "mean" else "ones"
    product = np.ones(())
    for extent, part in zip(extents, inside, strict=True):
        product = product[..., None] * _samples(window, extent)[part]
    return product


@lru_cache(64)
def _samples(window: Any, extent: int) -> npt.NDArray[np.float64]:
    """Returns the samples of a window: the merge of a single tile of ones."""
    with Merger(Tiling((extent,), (extent,), overlap=0), window=window, reduce="sum") as merger:
        merger.add(0, np.ones(extent))
        return np.asarray(merger.finish())


def _nearest(boxes: Boxes, numbers: list[int], box: Pairs, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Returns the weight 1 for the tile whose middle is nearest to an element, of equally near ones the first, else 0."""
    best = np.full(weights.shape[1:], np.iinfo(np.int64).max)
    chosen = np.full(weights.shape[1:], -1)
    for k, number in enumerate(numbers):
        distance = np.zeros((), np.int64)
        for (start, stop), (begin, end) in zip(boxes._writes[number], box, strict=True):
            distance = distance[..., None] + (2 * np.arange(begin, end) + 1 - start - stop) ** 2
        row = len(weights) - 1 - k
        nearer = (weights[row] > 0) & (distance < best)
        best[nearer], chosen[nearer] = distance[nearer], row
    return np.asarray(np.arange(len(weights)).reshape(-1, *[1] * best.ndim) == chosen, dtype=np.float64)

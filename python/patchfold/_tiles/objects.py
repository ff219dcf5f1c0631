# SPDX-License-Identifier: Apache-2.0
"""Labels of objects, which each tile numbers anew: which labels of overlapping tiles are one object, and its final label."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.dtypes import SHARED_WITH_NUMPY
from .._arrays.kinds import is_numpy
from .._errors import InvalidType, InvalidValue, given_text, text_in, value_text
from .merge_arguments import element_type
from .merge_spec import facts_of_first
from .tile import Tile, TilingBase, names_of

Array = npt.NDArray[Any]
Span = tuple[int, int]
"""The begin and the end of elements along an axis."""
Box = tuple[Span, ...]
"""A span for each tiled axis."""
Join = tuple[str, float]
"""The name of a rule by which labels are joined, and its threshold."""

_UNSEEN = np.iinfo(np.int64).max
_JOINS = ("touch", "iou", "share")


def checked_join(join: Any, operator: str) -> Join:
    """Returns the rule that a caller gives as a name, or as a name and a threshold."""
    name, least = join if isinstance(join, (tuple, list)) and len(join) == 2 else (join, None)
    known = text_in(name)
    expected = ", ".join(map(repr, _JOINS)) + ", ('iou', 0.5)"
    if known not in _JOINS or (known == "touch" and least is not None):
        rule = "must be the name of a rule, or 'iou' or 'share' with a threshold"
        raise InvalidValue(operator, "join", rule, value_text(join), expected)
    if least is None:
        return known, 0.5
    if isinstance(least, (bool, np.bool_, str)) or not hasattr(least, "__float__") or not 0 < float(least) <= 1:
        raise InvalidValue(operator, "join", "the threshold must be above 0 and at most 1", value_text(join), expected)
    return known, float(least)


def label_type(dtype: Any, out: Any, operator: str) -> np.dtype[Any]:
    """Returns the element type of labels: the given one, or else that of `out`, or else uint32."""
    if dtype is None:
        dtype = getattr(out, "dtype", np.uint32)
    name = element_type("dtype", dtype)[0]
    if name not in SHARED_WITH_NUMPY or np.dtype(name).kind not in "iu":
        raise InvalidType(operator, "dtype", "must be a type of integers", given_text(dtype), "'uint32'")
    return np.dtype(name)


def check_count(count: int, dtype: np.dtype[Any], operator: str, what: str) -> None:
    """Raises an error for more labels than the element type can tell apart."""
    most = int(np.iinfo(dtype).max)
    if count > most:
        wider = next((name for name in ("uint16", "uint32", "uint64") if np.iinfo(name).max >= count), "uint64")
        raise InvalidValue(operator, "dtype", f"must hold {what}", f"{dtype}, whose largest is {most}", f"dtype='{wider}'")


def compact(tiling: TilingBase, tile: Tile, given: Any, operator: str) -> Array:
    """Returns the labels of a tile's result as uint32 from 1 without gaps, in the order of the given labels; 0 stays 0."""
    name = f"result for {names_of([tile])}"
    spec = _core.MergeSpec.make(None, None, "", None, None, False, None)
    _, dtype = facts_of_first(tiling, spec, tile.index, given)
    if not is_numpy(given) and str(dtype) not in SHARED_WITH_NUMPY or np.dtype(dtype).kind not in "iu":
        hint = "scipy.ndimage.label(mask)[0] numbers the objects of a mask"
        rule = "must hold the labels of objects as integers, 0 for the background"
        raise InvalidType(operator, name, rule, str(dtype), hint=hint)
    found = np.asarray(given) if hasattr(given, "__array__") else np.from_dlpack(given)
    flat = found.ravel()
    if not flat.size:
        return np.zeros(found.shape, np.uint32)
    begins = np.concatenate(([0], 1 + np.flatnonzero(flat[1:] != flat[:-1])))  # of runs of equal labels
    labels, runs = np.unique(flat[begins], return_inverse=True)
    if labels[0] < 0:
        rule = "must be 0 for the background and above 0 for objects"
        raise InvalidValue(operator, name, rule, value_text(labels[0]))
    runs = runs + int(labels[0] > 0)
    return np.repeat(runs.astype(np.uint32), np.diff(begins, append=flat.size)).reshape(found.shape)


def joined(one: Array, other: Array, join: Join) -> Array:
    """Returns the pairs of labels of two tiles that are one object, in the shape (pairs, 2). one, other: the labels that the
    two tiles give to the elements that they share."""
    common = (one != 0) & (other != 0)
    width = int(other.max(initial=0)) + 1
    keys, counts = np.unique(one[common].astype(np.int64) * width + other[common], return_counts=True)
    pairs = np.stack(np.divmod(keys, width), axis=1)
    name, least = join
    if name != "touch" and keys.size:
        sizes = [np.bincount(labels.ravel())[pairs[:, i]] for i, labels in enumerate((one, other))]
        whole = sizes[0] + sizes[1] - counts if name == "iou" else np.minimum(*sizes)
        pairs = pairs[counts / whole >= least]
    return pairs


class Places:
    """Where the results of tiles lie: which tiles share elements, and which elements take a tile's values.

    An element takes the value of the tile whose middle is nearest, as with reduce="center". These elements of a tile are a
    box, since middles are compared along each axis alone.
    """

    def __init__(self, tiling: TilingBase, operator: str) -> None:
        self._tiling = native = tiling._native
        # For each tiled axis and each tile along the axis:
        self._begins: list[list[int]] = []  # where the result begins, before results are cut to the output
        self._own: list[list[Span]] = []  # the elements that take the tile's values
        self._shared: list[list[list[tuple[int, Span]]]] = []  # each tile that shares elements with the tile, and these
        for axis, count in enumerate(native.grid):
            step = math.prod(native.grid[axis + 1 :])
            spans = [native.tile_at(k * step)[1][axis] for k in range(count if native.size else 0)]
            begins, written = [each[3] - each[5] for each in spans], [(each[3], each[4]) for each in spans]
            if any(one[1] <= other[0] for one, other in pairwise(written)):
                rule = "results of neighbouring tiles must share elements, which decide which labels are one object"
                where = f"at distances of {begins[1] - begins[0]} along axis {native.axes[axis]}"
                given = f"{native.result[axis]} elements {where}"
                expected = "overlap=1 for connected components; for a model, what it needs to see of an object"
                raise InvalidValue(operator, "overlap", rule, given, expected)
            # Twice the middle of an element y is 2y + 1, and twice that of a result is 2 * begin + result.
            cuts = [(one + other + native.result[axis] - 1) // 2 + 1 for one, other in pairwise(begins)]
            self._begins.append(begins)
            halves = zip([0, *cuts], [*cuts, _UNSEEN], strict=True)
            self._own.append([_common(*each) for each in zip(written, halves, strict=False)])
            self._shared.append(_neighbours(written))

    def own(self, tile: Tile) -> Box:
        """Returns the box of the output whose elements take the tile's values; it may be empty."""
        return tuple(self._own[axis][place] for axis, place in enumerate(tile.position))

    def shared(self, tile: Tile) -> Iterator[tuple[int, Box]]:
        """Yields the number of each tile that shares elements with a tile, itself included, and the box of them."""
        for found in product(*(self._shared[axis][place] for axis, place in enumerate(tile.position))):
            number = 0
            for (place, _), count in zip(found, self._tiling.grid, strict=True):
                number = number * count + place
            yield number, tuple(span for _, span in found)

    def piece(self, tile: Tile, labels: Array, box: Box) -> Array:
        """Returns the labels of a tile in a box of the output."""
        slices = [slice(None)] * labels.ndim
        begins = (self._begins[axis][place] for axis, place in enumerate(tile.position))
        for axis, begin, span in zip(self._tiling.axes_in(labels.ndim), begins, box, strict=True):
            slices[axis] = slice(span[0] - begin, span[1] - begin)
        found: Array = labels[tuple(slices)]
        return found

    def first_elements(self, tile: Tile, labels: Array) -> tuple[Array, Array]:
        """Returns the labels of a tile that elements take, and for each the first such element, row-major in the output."""
        box = self.own(tile)
        part = self.piece(tile, labels, box)
        flat = part.ravel()
        begins = np.flatnonzero(np.diff(flat, prepend=np.uint32(0)))  # of runs of equal labels, but for 0 at the beginning
        found, first = np.unique(flat[begins], return_index=True)
        found, first = found[found > 0], begins[first[found > 0]]
        if not found.size:
            return found, first
        places = list(np.unravel_index(first, part.shape))
        for axis, (begin, _) in zip(self._tiling.axes_in(labels.ndim), box, strict=True):
            places[axis] = places[axis] + begin
        return found, np.ravel_multi_index(tuple(places), self._tiling.output_shape(self.channels(labels)))

    def channels(self, labels: Array) -> tuple[int, ...]:
        """Returns the extents of the axes of a result that are not tiled."""
        axes = self._tiling.axes_in(labels.ndim)
        return tuple(extent for axis, extent in enumerate(labels.shape) if axis not in axes)


def _common(one: Span, other: Span) -> Span:
    begin = max(one[0], other[0])
    return begin, max(begin, min(one[1], other[1]))


def _neighbours(written: list[Span]) -> list[list[tuple[int, Span]]]:
    """Returns for each span the spans that share elements with it, and these elements. Begins and ends of spans ascend."""
    found: list[list[tuple[int, Span]]] = [[] for _ in written]
    for k, span in enumerate(written):
        for other in range(k, len(written)):
            both = _common(span, written[other])
            if both[0] == both[1]:
                break
            found[k].append((other, both))
            if other > k:
                found[other].append((k, both))
    return found


class Objects:
    """Numbers, from 1, that stand for labels of tiles, and which of them are one object: a union-find structure of 16 bytes
    for each number."""

    def __init__(self) -> None:
        self._parents = array("q", [0])  # of each number: itself, or a lower number of the same object
        self._firsts = array("q", [_UNSEEN])  # the first element that takes the number

    def __len__(self) -> int:
        return len(self._parents)

    def add(self, count: int) -> int:
        """Adds numbers, and returns the first of them."""
        begin = len(self._parents)
        self._parents.extend(range(begin, begin + count))
        self._firsts.extend(array("q", [_UNSEEN]) * count)
        return begin

    def root(self, number: int) -> int:
        """Returns a number that is the same for all known numbers of an object."""
        parents = self._parents
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    def join(self, one: int, other: int) -> int:
        """Makes two numbers one object, and returns its root."""
        low, high = sorted((self.root(one), self.root(other)))
        self._parents[high] = low
        return low

    def see(self, numbers: Array, firsts: Array) -> None:
        """Takes elements of numbers."""
        np.minimum.at(np.frombuffer(self._firsts, np.int64), numbers, firsts)

    def final(self, dtype: np.dtype[Any], operator: str) -> Array:
        """Returns the final label of each number: 1, 2, .. in the order of the objects' first elements; 0 for numbers that
        no element takes."""
        roots: Array = np.array(self._parents, np.int64)
        while not np.array_equal(roots, roots[roots]):
            roots = roots[roots]
        firsts = np.full(len(roots), _UNSEEN)
        np.minimum.at(firsts, roots, np.frombuffer(self._firsts, np.int64))
        seen = np.flatnonzero(firsts != _UNSEEN)
        check_count(len(seen), dtype, operator, f"the labels of {len(seen)} objects")
        table = np.zeros(len(roots), dtype)
        table[seen[np.argsort(firsts[seen])]] = np.arange(1, len(seen) + 1, dtype=np.uint64).astype(dtype)
        found: Array = table[roots]
        return found

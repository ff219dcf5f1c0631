# SPDX-License-Identifier: Apache-2.0
"""The effects of nodes of several systems on arrays of indices, such as padding and convolutions that only copy, and what
such arrays say of the elements that are read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._orders.index_map import OUTSIDE, Indices
from ._regions import MOST_ELEMENTS, Move
from ._spans import FAR, Reads, Taps, fitted, parts_of

# The most elements of a tensor that the readers compute: shapes, indices, filters.
MOST_CONSTANT = 1 << 22
# The most parts into which a tensor is split.
MOST_PARTS = 1 << 12


def padded(x: Indices, widths: Sequence[tuple[int, int]]) -> Indices:
    """Returns indices with OUTSIDE around them; a negative width crops. Raises ValueError for too large a result."""
    kept = tuple(slice(max(-begin, 0), n - max(-end, 0)) for n, (begin, end) in zip(x.shape, widths, strict=True))
    x = x[kept]
    grown = [(max(begin, 0), max(end, 0)) for begin, end in widths]
    if math.prod(n + begin + end for n, (begin, end) in zip(x.shape, grown, strict=True)) > MOST_ELEMENTS:
        raise ValueError("too large")
    return np.pad(x, grown, constant_values=OUTSIDE)


def copying_convolution(
    weights: np.ndarray[Any, Any],
    stride: Sequence[int],
    dilation: Sequence[int],
    pads: Sequence[tuple[int, int]],
    groups: int,
) -> Move | None:
    """Returns the move of a convolution whose filters (O, C / groups, k1..kR) hold one 1 each; None for other filters. The
    convolution copies elements, unless an element that it multiplies by 0 is Inf or NaN."""
    flat, rank = weights.reshape(len(weights), -1), weights.ndim - 2
    is_one_hot = flat.size and ((flat == 0) | (flat == 1)).all() and (flat.sum(axis=1) == 1).all()
    if not is_one_hot or groups < 1 or len(weights) % groups != 0:
        return None
    kernel, filters = weights.shape[2:], len(weights)

    def move(indices: Sequence[Indices]) -> Sequence[Indices]:
        x = padded(indices[0], [(0, 0), (0, 0), *pads])
        extents = [(x.shape[2 + a] - dilation[a] * (kernel[a] - 1) - 1) // stride[a] + 1 for a in range(rank)]
        if math.prod(extents) * len(x) * filters > MOST_ELEMENTS:
            raise ValueError("too large")
        result = np.empty((len(x), filters, *extents), np.int64)
        for filter, place in enumerate(flat.argmax(axis=1)):
            channel, *tap = (int(value) for value in np.unravel_index(int(place), weights.shape[1:]))
            begins = [tap[a] * dilation[a] for a in range(rank)]
            at = [slice(begins[a], begins[a] + (extents[a] - 1) * stride[a] + 1, stride[a]) for a in range(rank)]
            where = (slice(None), channel + filter // (filters // groups) * weights.shape[1], *at)
            result[:, filter] = x[where]
        return [result]

    return move


def sized(*extents: int) -> None:
    """Raises ValueError for a result with too many elements to follow."""
    if math.prod(extents) > MOST_ELEMENTS:
        raise ValueError("too large")


def joined(parts: Sequence[Indices], axis: int, stacked: bool = False) -> Indices:
    """Returns arrays joined along an axis, or with `stacked` along a new axis."""
    sized(sum(part.size for part in parts))
    return np.stack(list(parts), axis) if stacked else np.concatenate(list(parts), axis)


def gathered(x: Indices, at: Sequence[Any]) -> Indices:
    """Returns x[at]: None takes a whole axis, an array takes the elements at its indices."""
    arrays = [np.asarray(part) for part in at if part is not None]
    kept = [extent for axis, extent in enumerate(x.shape) if axis >= len(at) or at[axis] is None]
    sized(*np.broadcast_shapes(*(array.shape for array in arrays)), *kept)
    return x[tuple(slice(None) if part is None else np.asarray(part) for part in at)]


def along(x: Indices, at: Any, axis: int) -> Indices:
    """Returns the elements at indices along an axis."""
    return gathered(x, [*[None] * (axis % x.ndim), at])


def repeated(x: Indices, times: Sequence[int]) -> Indices:
    """Returns copies of an array along its axes; if there are more numbers than axes, the first ones are for new axes in
    front."""
    sized(x.size, *(int(count) for count in times))
    return np.tile(x, [int(count) for count in times])


def windowed(x: Indices, axis: int, size: int, step: int) -> Indices:
    """Returns the windows along an axis, with their elements on a new last axis."""
    windows = np.lib.stride_tricks.sliding_window_view(x, size, axis)
    where = [slice(None)] * windows.ndim
    where[axis % x.ndim] = slice(None, None, step)
    cut = windows[tuple(where)]
    sized(cut.size)
    return np.ascontiguousarray(cut)


def permuted(equation: str) -> Move | None:
    """Returns the move of an einsum of one tensor that only changes the order of its axes, as "nchpwq->nhwpqc" does; None
    for other equations."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    right = right if arrow else "".join(sorted(left))
    if not left.isalpha() or len(set(left)) < len(left) or sorted(left) != sorted(right):
        return None
    return lambda indices: [indices[0].transpose([left.index(label) for label in right])]


def decoded(indices: Indices, source: Sequence[int]) -> list[Reads] | None:
    """Returns what a result reads along each axis of its source by an index map; None unless each coordinate is a sum
    of parts, one for each axis of the result."""
    inside = indices >= 0
    rank = indices.ndim
    if not source:
        return []
    if rank == 0 or not inside.any():
        at = np.unravel_index(max(int(indices.max(initial=0)), 0), tuple(source))
        return [Reads({}, np.array([int(each)])) for each in at]
    there = [inside.any(axis=tuple(other for other in range(rank) if other != axis)) for axis in range(rank)]
    if math.prod(int(each.sum()) for each in there) != int(inside.sum()):
        return None
    part = indices if inside.all() else indices[np.ix_(*there)]
    reads = []
    # A list, since NumPy 2.4 gives wrong coordinates for other arrays of more than 8192 elements (numpy/numpy#31980).
    for listed in np.unravel_index(part.reshape(-1), tuple(source)):
        coordinate = listed.reshape(part.shape)
        parts = parts_of(coordinate)
        if parts is None:
            return None
        taps = {}
        for axis, values in enumerate(parts):
            lo, hi = np.full(indices.shape[axis], FAR, np.int64), np.full(indices.shape[axis], -FAR, np.int64)
            lo[there[axis]] = hi[there[axis]] = values
            if values.any():
                span = fitted(lo, hi)
                rows = [np.array([value] if value < FAR else [], np.int64) for value in span.lo.tolist()]
                taps[axis] = Taps(span.step, rows)
        reads.append(Reads(taps, np.array([int(coordinate.flat[0])])))
    return reads

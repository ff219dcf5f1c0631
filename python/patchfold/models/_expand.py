# SPDX-License-Identifier: Apache-2.0
"""Writes operators of patchfold's family as nodes that every runtime has: Reshape, Transpose, Pad, Slice, Split, Add.

Sums keep their order: every element starts from +0 and adds its taps in ascending order, as in Col2Im's definition, so the
results are Col2Im's bit for bit. Convolutions are not used: if they multiply Inf or NaN by 0, they give NaN.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper


class Nodes:
    """Nodes and constants whose names begin with a prefix of their own. Tensors have at most `most_axes` axes."""

    def __init__(self, prefix: str, most_axes: int | None = None):
        self.prefix, self.most_axes = prefix, most_axes
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add(self, kind: str, inputs: Sequence[str], count: int = 1, **attributes: Any) -> list[str]:
        """Adds a node; returns the names of its outputs."""
        name = f"{self.prefix}/{kind}_{len(self.nodes)}"
        outputs = [f"{name}:{number}" for number in range(count)]
        self.nodes.append(helper.make_node(kind, list(inputs), outputs, name=name, **attributes))
        return outputs

    def ints(self, values: Sequence[int]) -> str:
        """Adds a constant of 64-bit integers; returns its name."""
        name = f"{self.prefix}/constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def reshape(self, x: str, shape: Sequence[int]) -> str:
        """Adds a Reshape: 0 keeps an extent, -1 takes the remaining elements."""
        return self.add("Reshape", [x, self.ints(shape)])[0]

    def transpose(self, x: str, order: Sequence[int]) -> str:
        """Adds a Transpose: axis i of the result is axis order[i] of x."""
        return x if list(order) == sorted(order) else self.add("Transpose", [x], perm=list(order))[0]

    def rearranged(self, x: str, extents: Sequence[int], order: Sequence[int], shape: Sequence[int]) -> str:
        """Reads x as an array of `extents`, puts its axes in `order`, and gives it `shape`. -1 stands for one open extent.

        If there are too many axes, neighbours that stay neighbours are joined, and the rest moves in several steps.
        """
        if self.most_axes is None or len(extents) <= self.most_axes:
            return self.reshape(self.transpose(self.reshape(x, extents), order), shape)
        at = [axis for axis in range(len(extents)) if extents[axis] != 1]
        target = [axis for axis in order if extents[axis] != 1]
        while at != target:
            groups, order = _step(at, target, self.most_axes)
            merged = [math.prod(extents[axis] for axis in group) for group in groups]
            x = self.transpose(self.reshape(x, [max(extent, -1) for extent in merged]), order)
            at = [axis for number in order for axis in groups[number]]
        return self.reshape(x, shape)

    def pad(self, x: str, begins: Sequence[int], ends: Sequence[int]) -> str:
        """Adds a Pad with zeros around x."""
        return self.add("Pad", [x, self.ints([*begins, *ends])])[0] if any([*begins, *ends]) else x

    def cut(self, x: str, axes: Sequence[int], begins: Sequence[int], ends: Sequence[int], steps: Sequence[int] = ()) -> str:
        """Adds a Slice of the elements from `begins` to before `ends` along some axes."""
        settings = [self.ints(begins), self.ints(ends), self.ints(axes)]
        return self.add("Slice", [x, *settings, *([self.ints(steps)] if any(step != 1 for step in steps) else [])])[0]


def _step(at: Sequence[int], target: Sequence[int], most: int) -> tuple[list[list[int]], list[int]]:
    """Returns the transposition of at most `most` axes that brings `at` closest to `target`: groups of neighbours in `at`,
    and the order of the groups."""
    units = _runs(at, target)
    if len(units) <= most:
        return units, sorted(range(len(units)), key=lambda number: target.index(units[number][0]))

    by_target = sorted(range(len(units)), key=lambda number: target.index(units[number][0]))
    place = {unit: place for place, unit in enumerate(by_target)}
    best: tuple[int, list[range], list[int]] = (-1, [], [])
    for cuts in itertools.combinations(range(1, len(units)), most - 1):
        parts = [range(*ends) for ends in itertools.pairwise((0, *cuts, len(units)))]
        order, joins = _chained([place[part[0]] for part in parts], [place[part[-1]] for part in parts])
        if joins > best[0]:
            best = (joins, parts, order)
        if joins == most - 1:  # all groups follow their neighbour
            break
    return [[axis for unit in part for axis in units[unit]] for part in best[1]], best[2]


def _chained(first: Sequence[int], last: Sequence[int]) -> tuple[list[int], int]:
    """Returns the order in which the most groups follow their left neighbour in the target, and the number of these groups.

    first, last: the places of each group's first and last axis in the target. A group has at most one right neighbour, so
    groups form chains, which stay whole, and rings, which are cut at their lowest group. Of equally good orders, the first
    is returned.
    """
    at = {place: group for group, place in enumerate(first)}
    right = [at.get(place + 1) for place in last]

    def chain(group: int | None) -> list[int]:
        found: list[int] = []
        while group is not None and group not in found:
            found.append(group)
            group = right[group]
        return found

    chains = [chain(group) for group in range(len(first)) if group not in right]
    rings = set(range(len(first))) - {group for groups in chains for group in groups}
    while rings:
        chains.append(chain(min(rings)))
        rings -= set(chains[-1])
    order = [group for groups in sorted(chains) for group in groups]
    return order, sum(right[a] == b for a, b in itertools.pairwise(order))


def _runs(at: Sequence[int], target: Sequence[int]) -> list[list[int]]:
    """Returns the axes of `at` in groups of neighbours that are neighbours in `target` too, in the same order."""
    runs: list[list[int]] = []
    for axis in at:
        if runs and target.index(runs[-1][-1]) + 1 == target.index(axis):
            runs[-1].append(axis)
        else:
            runs.append([axis])
    return runs


@dataclass(frozen=True)
class Window:
    """The geometry of one spatial axis of a Col2Im."""

    extent: int
    kernel: int
    stride: int
    dilation: int
    begin: int
    end: int

    @property
    def padded(self) -> int:
        """The extent of the image with its padding."""
        return self.extent + self.begin + self.end

    @property
    def positions(self) -> int:
        """The number of patches along the axis."""
        return max((self.padded - (self.kernel - 1) * self.dilation - 1) // self.stride + 1, 0)

    @property
    def is_partition(self) -> bool:
        """True if patches lie side by side, without overlaps or gaps."""
        return self.stride == self.kernel and (self.dilation == 1 or self.kernel == 1)


def blocks_to_planes(
    nodes: Nodes, x: str, batch: int, channels: int, extents: Sequence[int], block: Sequence[int], crd: bool
) -> str:
    """Writes SpaceToDepth of two axes: (N, C, H, W) to (N, C * K, H / block, W / block). batch: -1 if it is not known."""
    (a, b), (h, w) = block, (extent // size for extent, size in zip(extents, block, strict=True))
    order = [0, 1, 3, 5, 2, 4] if crd else [0, 3, 5, 1, 2, 4]
    return nodes.rearranged(x, [batch, channels, h, a, w, b], order, [batch, channels * a * b, h, w])


def planes_to_blocks(
    nodes: Nodes, x: str, batch: int, channels: int, extents: Sequence[int], block: Sequence[int], crd: bool
) -> str:
    """Writes DepthToSpace of two axes: (N, C, h, w) to (N, C / K, h * block, w * block). batch: -1 if it is not known."""
    (a, b), (h, w) = block, extents
    depth = channels // (a * b)
    axes = [batch, depth, a, b, h, w] if crd else [batch, a, b, depth, h, w]
    order = [0, 1, 4, 2, 5, 3] if crd else [0, 3, 4, 1, 5, 2]
    return nodes.rearranged(x, axes, order, [batch, depth, h * a, w * b])


def im2col(nodes: Nodes, x: str, windows: Sequence[Window], shape: Sequence[int], *, last: bool, kernel: bool) -> str:
    """Writes patches of (N, C, I1..IR), or of (N, I1..IR, C) with `last`, to a result of `shape`, in which 0 stands for the
    batch.

    kernel: whether taps come before channels on their common axis.
    """
    rank = len(windows)
    begins, ends = [w.begin for w in windows], [w.end for w in windows]
    x = nodes.pad(x, [0, *begins, 0] if last else [0, 0, *begins], [0, *ends, 0] if last else [0, 0, *ends])
    axes = [axis + (1 if last else 2) for axis in range(rank)]
    taps = []
    for tap in itertools.product(*(range(window.kernel) for window in windows)):
        first = [q * window.dilation for q, window in zip(tap, windows, strict=True)]
        end = [b + (window.positions - 1) * window.stride + 1 for b, window in zip(first, windows, strict=True)]
        taps.append(nodes.cut(x, axes, first, end, [window.stride for window in windows]))
    axis = 1 + rank if last else 1
    if not kernel:  # The taps get an axis of their own, behind the channels.
        axis += 1
        behind = nodes.ints([axis])
        taps = [nodes.add("Unsqueeze", [tap, behind])[0] for tap in taps]
    return nodes.reshape(nodes.add("Concat", taps, axis=axis)[0], shape)


def col2im(nodes: Nodes, x: str, windows: Sequence[Window], channels: int = 0) -> str:
    """Writes Col2Im: (N, C*K, L) to (N, C, I1..IR), for any N and C.

    channels: C, if the number of axes is limited: then batch and channels are one axis. 0: any C.
    """
    rank = len(windows)
    kernel, grid = [w.kernel for w in windows], [w.positions for w in windows]
    lead = [-1] if channels else [0, -1]  # the axes before the taps
    kept = [-1] if channels else [0, 0]  # the axes before the taps in later reshapes
    n = len(lead)
    if all(window.is_partition for window in windows):
        covered = [k * count for k, count in zip(kernel, grid, strict=True)]
        order = [*range(n), *(axis for number in range(rank) for axis in (n + rank + number, n + number))]
        x = nodes.rearranged(x, [*lead, *kernel, *grid], order, [*kept, *covered])
        x = nodes.pad(x, [0] * (rank + n), [*[0] * n, *(w.padded - c for w, c in zip(windows, covered, strict=True))])
        x = _cropped(nodes, x, n, windows)
        x = _summed(nodes, nodes.add("Unsqueeze", [x, nodes.ints([n])])[0], 1, rank, n)
    else:
        # Tap and position of each spatial axis are neighbours, so that one reshape can join both.
        order = [*range(n), *(axis for number in range(rank) for axis in (n + number, n + rank + number))]
        shape = [extent for pair in zip(kernel, grid, strict=True) for extent in pair]
        x = nodes.rearranged(x, [*lead, *kernel, *grid], order, [*kept, math.prod(shape)])
        for number, window in enumerate(windows):
            x = _spread(nodes, x, shape, number, window, kept)
            shape[2 * number + 1] = window.padded
        taps = math.prod(kernel)
        order = [*range(n), *(n + 2 * a for a in range(rank)), *(n + 1 + 2 * a for a in range(rank))]
        x = nodes.rearranged(x, [*kept, *shape], order, [*kept, taps, *(window.padded for window in windows)])
        x = _summed(nodes, _cropped(nodes, x, n + 1, windows), taps, rank, n)
    return nodes.reshape(x, [-1, channels, *(window.extent for window in windows)]) if channels else x


def _spread(nodes: Nodes, x: str, shape: Sequence[int], number: int, window: Window, kept: list[int]) -> str:
    """Moves the positions of each tap to their places in the padded image: position p of tap q goes to p * stride + q *
    dilation.

    Each row holds one tap, and is longer than the image by one dilation. All rows are read as one row and cut again at the
    image's length, so that each row begins one dilation later than the row before. The axes before the rows are joined to
    one axis, and so are the axes behind them. If `kept` is one axis, this axis takes the axes before the rows, too.
    """
    before, after = math.prod(shape[: 2 * number]), math.prod(shape[2 * number + 2 :])
    lead = kept if len(kept) == 1 else [*kept, before]
    kernel, count, row = window.kernel, window.positions, window.padded + window.dilation

    def shaped(x: str, *middle: int, lead: list[int] = lead) -> str:
        return nodes.reshape(x, [*lead, *middle, after])

    def padded(x: str, lead: list[int], *ends: int) -> str:
        return nodes.pad(x, [0] * (len(lead) + len(ends) + 1), [*[0] * len(lead), *ends, 0])

    length, axis = count, len(lead)
    if window.stride > 1:
        rows = [-1] if len(kept) == 1 else [*kept, before * kernel]
        x = padded(shaped(x, count, 1, lead=rows), rows, 0, window.stride - 1)
        length = count * window.stride
        x = shaped(x, kernel, length)
        if length > row:
            x, length = nodes.cut(x, [axis + 1], [0], [row]), row
    else:
        x = shaped(x, kernel, length)
    x = padded(x, lead, 0, row - length)
    x = shaped(x, kernel * row)
    x = nodes.cut(x, [axis], [0], [kernel * window.padded])
    return shaped(x, kernel, window.padded)


def _cropped(nodes: Nodes, x: str, axis: int, windows: Sequence[Window]) -> str:
    """Writes the image without its padding. axis: the first spatial axis."""
    if all(window.begin == window.end == 0 for window in windows):
        return x
    axes = range(axis, axis + len(windows))
    return nodes.cut(x, axes, [w.begin for w in windows], [w.begin + w.extent for w in windows])


def _summed(nodes: Nodes, x: str, taps: int, rank: int, axis: int) -> str:
    """Writes the sum over an axis, in ascending order, from +0, so that a sum of -0 is +0, as in Col2Im.

    Pad makes the zeros, since some runtimes leave out the addition of a constant 0.
    """
    x = nodes.pad(x, [*[0] * axis, 1, *[0] * rank], [0] * (axis + 1 + rank))
    planes = nodes.add("Split", [x, nodes.ints([1] * (taps + 1))], taps + 1, axis=axis)
    total = planes[0]
    for plane in planes[1:]:
        (total,) = nodes.add("Add", [total, plane])
    return nodes.add("Squeeze", [total, nodes.ints([axis])])[0]

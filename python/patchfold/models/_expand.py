# SPDX-License-Identifier: Apache-2.0
"""Operators of the family as nodes that every runtime has: Reshape, Transpose, Pad, Slice, Split, Add. Needs onnx.

Sums keep their order: every element starts from +0 and adds its taps in ascending order, as Col2Im is defined, so the
results are Col2Im's bit for bit. Convolutions are not used: they give NaN where they multiply Inf or NaN by 0.
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
    """Collects nodes and constants whose names begin with a prefix of their own."""

    def __init__(self, prefix: str):
        self.prefix = prefix
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add(self, kind: str, inputs: Sequence[str], count: int = 1, **attributes: Any) -> list[str]:
        """Adds a node; returns the names of its outputs."""
        name = f"{self.prefix}/{kind}_{len(self.nodes)}"
        outputs = [f"{name}:{number}" for number in range(count)]
        self.nodes.append(helper.make_node(kind, list(inputs), outputs, name=name, **attributes))
        return outputs

    def ints(self, values: Sequence[int]) -> str:
        """A constant of 64-bit integers."""
        name = f"{self.prefix}/constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def reshape(self, x: str, shape: Sequence[int]) -> str:
        """0 keeps an extent, -1 takes what is left."""
        return self.add("Reshape", [x, self.ints(shape)])[0]

    def transpose(self, x: str, order: Sequence[int]) -> str:
        """Axis i of the result is axis order[i] of x."""
        return x if list(order) == sorted(order) else self.add("Transpose", [x], perm=list(order))[0]

    def pad(self, x: str, begins: Sequence[int], ends: Sequence[int]) -> str:
        """Zeros around x."""
        return self.add("Pad", [x, self.ints([*begins, *ends])])[0] if any([*begins, *ends]) else x

    def cut(self, x: str, axes: Sequence[int], begins: Sequence[int], ends: Sequence[int], steps: Sequence[int] = ()) -> str:
        """The elements from begins to before ends along some axes."""
        settings = [self.ints(begins), self.ints(ends), self.ints(axes)]
        return self.add("Slice", [x, *settings, *([self.ints(steps)] if any(step != 1 for step in steps) else [])])[0]

    def axes(self) -> int:
        """The most axes that a tensor is given by one of the reshapes."""
        shapes = {node.input[1] for node in self.nodes if node.op_type == "Reshape"}
        return max((tensor.dims[0] for tensor in self.constants if tensor.name in shapes), default=0)


@dataclass(frozen=True)
class Window:
    """One spatial axis of a Col2Im."""

    extent: int
    kernel: int
    stride: int
    dilation: int
    begin: int
    end: int

    @property
    def padded(self) -> int:
        """Elements of the image with its padding."""
        return self.extent + self.begin + self.end

    @property
    def positions(self) -> int:
        """Patches along the axis."""
        return max((self.padded - (self.kernel - 1) * self.dilation - 1) // self.stride + 1, 0)

    @property
    def is_partition(self) -> bool:
        """Whether patches lie side by side."""
        return self.stride == self.kernel and (self.dilation == 1 or self.kernel == 1)


def blocks_to_planes(
    nodes: Nodes, x: str, batch: int, channels: int, extents: Sequence[int], block: Sequence[int], crd: bool, narrow: bool
) -> str:
    """SpaceToDepth of two axes: (N, C, H, W) to (N, C * K, H / block, W / block). batch -1: not known.

    narrow: with tensors of five axes at most, batch and channels being one of them.
    """
    (a, b), (h, w) = block, (extent // size for extent, size in zip(extents, block, strict=True))
    if narrow:
        x = nodes.reshape(x, [-1, h, a, w, b])
        x = nodes.transpose(x, [0, 2, 4, 1, 3])
        if not crd:
            x = nodes.reshape(x, [-1, channels, a * b, h, w])
            x = nodes.transpose(x, [0, 2, 1, 3, 4])
    else:
        x = nodes.reshape(x, [batch, channels, h, a, w, b])
        x = nodes.transpose(x, [0, 1, 3, 5, 2, 4] if crd else [0, 3, 5, 1, 2, 4])
    return nodes.reshape(x, [batch, channels * a * b, h, w])


def planes_to_blocks(
    nodes: Nodes, x: str, batch: int, channels: int, extents: Sequence[int], block: Sequence[int], crd: bool, narrow: bool
) -> str:
    """DepthToSpace of two axes: (N, C, h, w) to (N, C / K, h * block, w * block). batch -1: not known. narrow: as above."""
    (a, b), (h, w) = block, extents
    depth = channels // (a * b)
    if narrow:
        if not crd:
            x = nodes.reshape(x, [-1, a * b, depth, h, w])
            x = nodes.transpose(x, [0, 2, 1, 3, 4])
        x = nodes.reshape(x, [-1, a, b, h, w])
        x = nodes.transpose(x, [0, 3, 1, 4, 2])
    else:
        x = nodes.reshape(x, [batch, depth, a, b, h, w] if crd else [batch, a, b, depth, h, w])
        x = nodes.transpose(x, [0, 1, 4, 2, 5, 3] if crd else [0, 3, 4, 1, 5, 2])
    return nodes.reshape(x, [batch, depth, h * a, w * b])


def im2col(nodes: Nodes, x: str, windows: Sequence[Window], shape: Sequence[int], *, last: bool, kernel: bool) -> str:
    """Patches of (N, C, I1..IR), or of (N, I1..IR, C) with `last`, in a result of `shape`, whose batch is 0.

    kernel: taps before channels on their axis; otherwise channels before taps.
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
    if not kernel:  # Taps on an axis of their own, behind the channels.
        axis += 1
        behind = nodes.ints([axis])
        taps = [nodes.add("Unsqueeze", [tap, behind])[0] for tap in taps]
    return nodes.reshape(nodes.add("Concat", taps, axis=axis)[0], shape)


def col2im(nodes: Nodes, x: str, windows: Sequence[Window], channels: int = 0) -> str:
    """(N, C*K, L) to (N, C, I1..IR), for any N and C.

    channels: C, for tensors of five axes at most where R is at most 2: then batch and channels are one axis. 0: any C.
    """
    rank = len(windows)
    kernel, grid = [w.kernel for w in windows], [w.positions for w in windows]
    lead = [0] if channels else [0, 0]  # the axes before the taps, kept
    x = nodes.reshape(x, [*([-1] if channels else [0, -1]), *kernel, *grid])
    n = len(lead)
    if all(window.is_partition for window in windows):
        x = nodes.transpose(x, [*range(n), *(axis for number in range(rank) for axis in (n + rank + number, n + number))])
        covered = [k * count for k, count in zip(kernel, grid, strict=True)]
        x = nodes.reshape(x, [*lead, *covered])
        x = nodes.pad(x, [0] * (rank + n), [*lead, *(w.padded - c for w, c in zip(windows, covered, strict=True))])
        x = _cropped(nodes, x, n, windows)
        x = _summed(nodes, nodes.add("Unsqueeze", [x, nodes.ints([n])])[0], 1, rank, n)
    else:
        # Tap and position of an axis side by side, so that one reshape makes one of both.
        x = nodes.transpose(x, [*range(n), *(axis for number in range(rank) for axis in (n + number, n + rank + number))])
        shape = [extent for pair in zip(kernel, grid, strict=True) for extent in pair]
        for number, window in enumerate(windows):
            x = _spread(nodes, x, shape, number, window, lead)
            shape[2 * number + 1] = window.padded
        x = nodes.transpose(x, [*range(n), *(n + 2 * a for a in range(rank)), *(n + 1 + 2 * a for a in range(rank))])
        taps = math.prod(kernel)
        x = nodes.reshape(x, [*lead, taps, *(window.padded for window in windows)])
        x = _summed(nodes, _cropped(nodes, x, n + 1, windows), taps, rank, n)
    return nodes.reshape(x, [-1, channels, *(window.extent for window in windows)]) if channels else x


def _spread(nodes: Nodes, x: str, shape: Sequence[int], number: int, window: Window, lead: list[int]) -> str:
    """Puts the positions of each tap where they lie in the padded image: tap q moves by q * dilation, positions by stride.

    Rows of one tap each, one element of the dilation longer than the image, are read as one row and cut again at the image's
    length: so each row begins one dilation later than the row before it.
    """
    whole = list(shape[: 2 * number]), list(shape[2 * number + 2 :])
    # The axes on either side as one: what is done to a row is the same for all of them.
    merged = [math.prod(part)] if (part := whole[0]) else [], [math.prod(part)] if (part := whole[1]) else []
    kernel, count, row = window.kernel, window.positions, window.padded + window.dilation

    def shaped(x: str, sides: tuple[list[int], list[int]], *middle: int) -> str:
        return nodes.reshape(x, [*lead, *sides[0], *middle, *sides[1]])

    def padded(x: str, sides: tuple[list[int], list[int]], *ends: int) -> str:
        still = [[0] * len(side) for side in sides]
        return nodes.pad(x, [*lead, *still[0], *(0 for _ in ends), *still[1]], [*lead, *still[0], *ends, *still[1]])

    length, sides, axis = count, whole, len(lead) + len(merged[0])
    if window.stride > 1:
        sides = merged
        x = padded(shaped(x, merged, kernel, count, 1), merged, 0, 0, window.stride - 1)
        length = count * window.stride
        x = shaped(x, merged, kernel, length)
        if length > row:
            x, length = nodes.cut(x, [axis + 1], [0], [row]), row
    x = padded(x, sides, 0, row - length)
    x = shaped(x, merged, kernel * row)
    x = nodes.cut(x, [axis], [0], [kernel * window.padded])
    return shaped(x, whole, kernel, window.padded)


def _cropped(nodes: Nodes, x: str, axis: int, windows: Sequence[Window]) -> str:
    """The image without its padding; its spatial axes begin at `axis`."""
    if all(window.begin == window.end == 0 for window in windows):
        return x
    axes = range(axis, axis + len(windows))
    return nodes.cut(x, axes, [w.begin for w in windows], [w.begin + w.extent for w in windows])


def _summed(nodes: Nodes, x: str, taps: int, rank: int, axis: int) -> str:
    """The sum over an axis, in ascending order, from +0: so a sum of -0 is +0, as Col2Im has it.

    The zeros are made by Pad: additions of a constant 0 are left out by some runtimes.
    """
    x = nodes.pad(x, [*[0] * axis, 1, *[0] * rank], [0] * (axis + 1 + rank))
    planes = nodes.add("Split", [x, nodes.ints([1] * (taps + 1))], taps + 1, axis=axis)
    total = planes[0]
    for plane in planes[1:]:
        (total,) = nodes.add("Add", [total, plane])
    return nodes.add("Squeeze", [total, nodes.ints([axis])])[0]

# SPDX-License-Identifier: Apache-2.0
"""Operators of the family as nodes that every runtime has: Reshape, Transpose, Pad, Slice, Split, Add. Needs onnx.

Sums keep their order: every element starts from +0 and adds its taps in ascending order, as Col2Im is defined, so the
results are Col2Im's bit for bit. Convolutions are not used: they give NaN where they multiply Inf or NaN by 0.
"""

from __future__ import annotations

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

    def cut(self, x: str, axes: Sequence[int], begins: Sequence[int], ends: Sequence[int]) -> str:
        """The elements from begins to before ends along some axes."""
        return self.add("Slice", [x, self.ints(begins), self.ints(ends), self.ints(axes)])[0]


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


def blocks_to_planes(nodes: Nodes, x: str, batch: int, channels: int, extents: Sequence[int], block: int, crd: bool) -> str:
    """SpaceToDepth of two axes: (N, C, H, W) to (N, C * block^2, H / block, W / block). -1: an extent that is not known."""
    h, w = (extent // block for extent in extents)
    x = nodes.reshape(x, [batch, channels, h, block, w, block])
    x = nodes.transpose(x, [0, 1, 3, 5, 2, 4] if crd else [0, 3, 5, 1, 2, 4])
    return nodes.reshape(x, [batch, channels * block * block, h, w])


def planes_to_blocks(nodes: Nodes, x: str, batch: int, channels: int, extents: Sequence[int], block: int, crd: bool) -> str:
    """DepthToSpace of two axes: (N, C, h, w) to (N, C / block^2, h * block, w * block). batch -1: not known."""
    h, w = extents
    depth = channels // (block * block)
    x = nodes.reshape(x, [batch, depth, block, block, h, w] if crd else [batch, block, block, depth, h, w])
    x = nodes.transpose(x, [0, 1, 4, 2, 5, 3] if crd else [0, 3, 4, 1, 5, 2])
    return nodes.reshape(x, [batch, depth, h * block, w * block])


def col2im(nodes: Nodes, x: str, windows: Sequence[Window]) -> str:
    """(N, C*K, L) to (N, C, I1..IR), for any N and C."""
    rank = len(windows)
    kernel, grid = [w.kernel for w in windows], [w.positions for w in windows]
    x = nodes.reshape(x, [0, -1, *kernel, *grid])
    pairs = [axis for number in range(rank) for axis in (2 + number, 2 + rank + number)]
    if all(window.is_partition for window in windows):
        x = nodes.transpose(x, [0, 1, *(axis for number in range(rank) for axis in (2 + rank + number, 2 + number))])
        x = nodes.reshape(x, [0, 0, *(k * n for k, n in zip(kernel, grid, strict=True))])
        covered = [k * n for k, n in zip(kernel, grid, strict=True)]
        x = nodes.pad(x, [0] * (rank + 2), [0, 0, *(w.padded - c for w, c in zip(windows, covered, strict=True))])
        x = _cropped(nodes, x, 2, windows)
        return _summed(nodes, nodes.add("Unsqueeze", [x, nodes.ints([2])])[0], 1, rank)
    # Tap and position of an axis side by side, so that one reshape makes one of both.
    x = nodes.transpose(x, [0, 1, *pairs])
    shape = [extent for pair in zip(kernel, grid, strict=True) for extent in pair]
    for number, window in enumerate(windows):
        x = _spread(nodes, x, shape, number, window)
        shape[2 * number + 1] = window.padded
    x = nodes.transpose(x, [0, 1, *(2 + 2 * n for n in range(rank)), *(3 + 2 * n for n in range(rank))])
    taps = math.prod(kernel)
    x = nodes.reshape(x, [0, 0, taps, *(window.padded for window in windows)])
    return _summed(nodes, _cropped(nodes, x, 3, windows), taps, rank)


def _spread(nodes: Nodes, x: str, shape: Sequence[int], number: int, window: Window) -> str:
    """Puts the positions of each tap where they lie in the padded image: tap q moves by q * dilation, positions by stride.

    Rows of one tap each, one element of the dilation longer than the image, are read as one row and cut again at the image's
    length: so each row begins one dilation later than the row before it.
    """
    before, after = list(shape[: 2 * number]), list(shape[2 * number + 2 :])
    kernel, count, row = window.kernel, window.positions, window.padded + window.dilation
    axis, still = 2 + len(before), [0] * len(after)

    def shaped(x: str, *middle: int) -> str:
        return nodes.reshape(x, [0, 0, *before, *middle, *after])

    def padded(x: str, *ends: int) -> str:
        begins = [0] * (2 + len(before) + len(ends) + len(after))
        return nodes.pad(x, begins, [0, 0, *[0] * len(before), *ends, *still])

    length = count
    if window.stride > 1:
        x = padded(shaped(x, kernel, count, 1), 0, 0, window.stride - 1)
        length = count * window.stride
        x = shaped(x, kernel, length)
        if length > row:
            x, length = nodes.cut(x, [axis + 1], [0], [row]), row
    x = padded(x, 0, row - length)
    x = shaped(x, kernel * row)
    x = nodes.cut(x, [axis], [0], [kernel * window.padded])
    return shaped(x, kernel, window.padded)


def _cropped(nodes: Nodes, x: str, axis: int, windows: Sequence[Window]) -> str:
    """The image without its padding; its spatial axes begin at `axis`."""
    if all(window.begin == window.end == 0 for window in windows):
        return x
    axes = range(axis, axis + len(windows))
    return nodes.cut(x, axes, [w.begin for w in windows], [w.begin + w.extent for w in windows])


def _summed(nodes: Nodes, x: str, taps: int, rank: int) -> str:
    """The sum over axis 2, in ascending order, from +0: so a sum of -0 is +0, as Col2Im has it.

    The zeros are made by Pad: additions of a constant 0 are left out by some runtimes.
    """
    x = nodes.pad(x, [0, 0, 1, *[0] * rank], [0] * (3 + rank))
    planes = nodes.add("Split", [x, nodes.ints([1] * (taps + 1))], taps + 1, axis=2)
    total = planes[0]
    for plane in planes[1:]:
        (total,) = nodes.add("Add", [total, plane])
    return nodes.add("Squeeze", [total, nodes.ints([2])])[0]

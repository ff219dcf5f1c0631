# SPDX-License-Identifier: Apache-2.0
"""Operators of the family that are made of nodes with many axes, written again with tensors of few. Needs onnx."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import onnx

from ._disguises import Written, open_shapes, rewrite
from ._expand import Nodes, Window, blocks_to_planes, im2col, planes_to_blocks
from ._regions import Found, Graph


def rewrite_with_few_axes(model: onnx.ModelProto, sizes: Mapping[str, int], most_axes: int) -> None:
    """Writes chains of nodes anew that have tensors of more than `most_axes` axes, where that can be done."""

    def wanted(graph: Graph, found: Found) -> bool:
        steps = [step for step in graph.steps if step.node in found.nodes]
        return any(len(graph.shapes.get(t, ())) > most_axes for step in steps for t in step.outputs)

    def ways(first: Found, other: Found, prefix: str) -> Iterator[Written]:
        return (way for way in _candidates(first, other, prefix) if way[0].axes() <= most_axes)

    rewrite(model, sizes, wanted, ways)


def _candidates(found: Found, other: Found, prefix: str) -> Iterator[Written]:
    """Ways to write an operator of two spatial axes."""
    name = found.name
    source, result = open_shapes(found, other)
    block = name.arguments.get("block", name.arguments.get("kernel_size"))
    step = name.arguments.get("stride", name.arguments.get("block"))
    if source is None or result is None or not isinstance(block, tuple) or len(block) != 2:
        return
    if name.operator == "unfold" and "layout" not in name.arguments and len(source) == 4:
        if step != block or "padding" in name.arguments or "dilation" in name.arguments:
            nodes = Nodes(prefix)
            shape = [0, *result[1:]] if result[0] == source[0] else result
            kernel_first = name.arguments.get("order") == "kernel"
            windows = _windows(source[2:], name.arguments)
            yield nodes, im2col(nodes, found.source, windows, shape, last=False, kernel=kernel_first)
            return
    if step != block or "padding" in name.arguments:
        return
    crd = name.arguments.get("mode", name.arguments.get("order", "channel")) in ("depth_first", "channel")
    if name.operator in ("space_to_depth", "unfold") and len(source) == 4 and min(source[1:]) > 0:
        if any(extent % size for extent, size in zip(source[2:], block, strict=True)):
            return
        yield from _ways(prefix, lambda nodes: blocks_to_planes(
            nodes, found.source, source[0], source[1], source[2:], block, crd, True), block, source, result)  # fmt: skip
    if name.operator in ("depth_to_space", "fold") and len(result) == 4 and min(result[1:]) > 0:
        grid = [extent // size for extent, size in zip(result[2:], block, strict=True)]
        taps = math.prod(block)

        def back(nodes: Nodes, swapped: bool) -> str:
            x = found.source
            if swapped:
                x = nodes.transpose(x, [0, 2, 1])
            if len(source) != 4:
                x = nodes.reshape(x, [result[0], result[1] * taps, *grid])
            return planes_to_blocks(nodes, x, result[0], result[1] * taps, grid, block, crd, True)

        for swapped in (False, True):
            if not swapped or len(source) == 3:
                nodes = Nodes(prefix)
                yield nodes, back(nodes, swapped)


def _windows(extents: Sequence[int], arguments: Mapping[str, Any]) -> list[Window]:
    pads = [pad if isinstance(pad, tuple) else (pad, pad) for pad in arguments.get("padding", (0, 0))]
    lists = (arguments.get(key, (1, 1)) for key in ("kernel_size", "stride", "dilation"))
    return [Window(*axis, *pad) for *axis, pad in zip(extents, *lists, pads, strict=True)]


def _ways(
    prefix: str, write: Callable[[Nodes], str], block: Sequence[int], source: Sequence[int], result: Sequence[int]
) -> Iterator[Written]:
    """Planes as they are, as columns, and as tokens."""
    nodes = Nodes(prefix)
    planes = write(nodes)
    if len(result) == 4:
        yield nodes, planes
    if len(result) != 3:
        return
    depth = source[1] * math.prod(block)
    count = math.prod(extent // size for extent, size in zip(source[2:], block, strict=True))
    columns = nodes.reshape(planes, [source[0], depth, count])
    yield nodes, columns
    nodes = Nodes(prefix)
    columns = nodes.reshape(write(nodes), [source[0], depth, count])
    yield nodes, nodes.transpose(columns, [0, 2, 1])

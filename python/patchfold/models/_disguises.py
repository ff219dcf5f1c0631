# SPDX-License-Identifier: Apache-2.0
"""Operators of the family that are made of other nodes, written again with tensors of few axes. Needs onnx.

What is written is run on arrays of indices and compared with what the nodes did, element by element, for two sizes of
what is open. What differs is not taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from . import _onnx
from ._expand import Nodes, Window, blocks_to_planes, im2col, planes_to_blocks
from ._index_map import OUTSIDE, Indices, whole
from ._onnx_nodes import bodies_of
from ._regions import Found, Graph, find_all

# What is open is taken as these, the first axis and the others.
SIZES = ((2, 64), (3, 320))
Written = tuple[Nodes, str]


def rewrite(model: onnx.ModelProto, sizes: Mapping[str, int], most_axes: int) -> None:
    """Writes chains of nodes anew that have tensors of more than `most_axes` axes, where that can be done."""
    graphs = [_onnx.read(model, sizes, others)[0] for others in SIZES]
    pairs = [{entry.result: entry for entry in find_all(graph)} for graph in graphs]
    for number, (result, first) in enumerate(pairs[0].items()):
        other = pairs[1].get(result)
        if other is None or not _is_wide(graphs[0], first, most_axes):
            continue
        found = (first, other)
        expected = [_map_of(graph, entry) for graph, entry in zip(graphs, found, strict=True)]
        if any(indices is None for indices in expected):
            continue
        for nodes, last in _candidates(found, f"patchfold/{number}"):
            if nodes.axes() <= most_axes and all(
                _is(nodes, last, entry, indices) for entry, indices in zip(found, expected, strict=True)
            ):
                _replace(model.graph, nodes, last, first)
                break


def _is_wide(graph: Graph, found: Found, most_axes: int) -> bool:
    steps = [step for step in graph.steps if step.node in found.nodes]
    return len(steps) > 1 and any(len(graph.shapes.get(t, ())) > most_axes for step in steps for t in step.outputs)


def _map_of(graph: Graph, found: Found) -> Indices | None:
    """Which element of the source each element of the result is."""
    if found.source_shape is None:
        return None
    values = {found.source: whole(found.source_shape)}
    for step in graph.steps:
        if step.node not in found.nodes or step.move is None:
            continue
        for tensor in step.inputs:
            if tensor in graph.zeros:
                values[tensor] = np.full(graph.shapes[tensor], OUTSIDE, np.int64)
        if any(tensor not in values for tensor in step.inputs):
            return None
        values.update(zip(step.outputs, step.move([values[tensor] for tensor in step.inputs]), strict=False))
    return values.get(found.result)


def _candidates(found: tuple[Found, Found], prefix: str) -> Iterator[Written]:
    """Ways to write an operator of two spatial axes."""
    name, other = found[0].name, found[1].name
    source, result = (_open(a, b) for a, b in zip(_shapes(found[0]), _shapes(found[1]), strict=True))
    block = name.arguments.get("block", name.arguments.get("kernel_size"))
    step = name.arguments.get("stride", name.arguments.get("block"))
    same = {key: value for key, value in name.arguments.items() if key != "output_size"}
    if same != {key: value for key, value in other.arguments.items() if key != "output_size"}:
        return
    if source is None or result is None or not isinstance(block, tuple) or len(block) != 2:
        return
    if name.operator == "unfold" and "layout" not in name.arguments and len(source) == 4:
        if step != block or "padding" in name.arguments or "dilation" in name.arguments:
            nodes = Nodes(prefix)
            shape = [0, *result[1:]] if result[0] == source[0] else result
            kernel_first = name.arguments.get("order") == "kernel"
            windows = _windows(source[2:], name.arguments)
            yield nodes, im2col(nodes, found[0].source, windows, shape, last=False, kernel=kernel_first)
            return
    if step != block or "padding" in name.arguments:
        return
    crd = name.arguments.get("mode", name.arguments.get("order", "channel")) in ("depth_first", "channel")
    if name.operator in ("space_to_depth", "unfold") and len(source) == 4 and min(source[1:]) > 0:
        if any(extent % size for extent, size in zip(source[2:], block, strict=True)):
            return
        yield from _ways(prefix, lambda nodes: blocks_to_planes(
            nodes, found[0].source, source[0], source[1], source[2:], block, crd, True), block, source, result)  # fmt: skip
    if name.operator in ("depth_to_space", "fold") and len(result) == 4 and min(result[1:]) > 0:
        grid = [extent // size for extent, size in zip(result[2:], block, strict=True)]
        taps = math.prod(block)

        def back(nodes: Nodes, swapped: bool) -> str:
            x = found[0].source
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


def _shapes(found: Found) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    return found.source_shape, found.shape


def _open(a: tuple[int, ...] | None, b: tuple[int, ...] | None) -> list[int] | None:
    """A shape with -1 for a batch that is open; None where more is open."""
    if a is None or b is None or len(a) != len(b) or a[1:] != b[1:] or not a:
        return None
    return [a[0] if a[0] == b[0] else -1, *a[1:]]


def _is(nodes: Nodes, last: str, found: Found, expected: Indices | None) -> bool:
    """Whether what is written does what was there: run on indices, with 0 for what lies outside."""
    if found.source_shape is None or expected is None:
        return False
    value = helper.make_tensor_value_info
    inputs = [value(found.source, onnx.TensorProto.INT64, None)]
    graph = helper.make_graph(nodes.nodes, "g", inputs, [value(last, onnx.TensorProto.INT64, None)], nodes.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    try:
        results: Any = ReferenceEvaluator(model).run(None, {found.source: whole(found.source_shape) + 1})
    except Exception:  # A way to write it that does not fit.
        return False
    return np.array_equal(results[0] - 1, expected)


def _replace(graph: onnx.GraphProto, nodes: Nodes, last: str, found: Found) -> None:
    """Puts nodes in the place of the one that makes the result, and leaves out those that nothing uses any more."""
    place = next(number for number, node in enumerate(graph.node) if found.result in node.output)
    if len(graph.node[place].output) != 1:
        return
    nodes.nodes[-1].output[list(nodes.nodes[-1].output).index(last)] = found.result
    kept = [onnx.NodeProto.FromString(node.SerializeToString()) for node in graph.node]
    kept[place : place + 1] = nodes.nodes
    made = {node.output[0] for node in nodes.nodes}
    while True:
        used = {value.name for value in graph.output} | {tensor for node in kept for tensor in _inputs(node)}
        left = [node for node in kept if node.output[0] in made or any(tensor in used for tensor in node.output)]
        if len(left) == len(kept):
            break
        kept = left
    del graph.node[:]
    graph.node.extend(kept)
    graph.initializer.extend(nodes.constants)


def _inputs(node: onnx.NodeProto) -> Iterator[str]:
    """What a node takes, and what its bodies take from outside."""
    yield from node.input
    for body in bodies_of(node):
        for inner in body.node:
            yield from _inputs(inner)
        for value in body.output:
            yield value.name

# SPDX-License-Identifier: Apache-2.0
"""Rewrites operators of patchfold's family that are made of other nodes, with nodes of the caller's choice. Needs onnx.

New nodes are run on arrays of indices and compared with the old nodes element by element, for two sizes of the open extents.
New nodes with another result are rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from .._orders.index_map import OUTSIDE, Indices, whole
from . import _onnx
from ._expand import Nodes
from ._onnx_nodes import free_prefix, inputs_of
from ._regions import Found, Graph

# The two trial sizes of open extents: (of the first axis, of the other axes).
SIZES = ((2, 64), (3, 320))
# Nodes that stand for an operator, and the tensor that these nodes make.
Written = tuple[Nodes, str]
# A function that finds the operators of a graph that are rewritten.
Find = Callable[[Graph], Sequence[Found]]
# A function that yields ways to write an operator. The function takes, for both trial sizes, the operator and its index map,
# and the prefix of the names of new nodes and constants.
Ways = Callable[[tuple[Found, Found], tuple[Indices, Indices], str], Iterator[Written]]


def rewrite(
    model: onnx.ModelProto,
    sizes: Mapping[str, int],
    find: Find,
    ways: Ways,
    operators: Sequence[type[OpRun]] = (),
) -> int:
    """Rewrites chains of nodes that are operators of patchfold's family, in the model's own graph but not in its branches.

    The first way with the same result is taken. operators: those that the ways use beside ONNX's. Returns the number of
    rewritten operators.
    """
    graph, spare = (_onnx.read(model, sizes, others)[0] for others in SIZES)
    entries = find(graph)
    if not entries:
        return 0
    others = {entry.result: entry for entry in (entries if graph.shapes == spare.shapes else find(spare))}
    count, prefix = 0, free_prefix(model.graph)
    for number, first in enumerate(entries):
        other = others.get(first.result)
        if other is None or _settings(first) != _settings(other):
            continue
        found = (first, other)
        one, two = _map_of(graph, first), _map_of(spare, other)
        if one is None or two is None:
            continue
        for nodes, last in ways(found, (one, two), f"{prefix}/{number}"):
            if _is(nodes, last, first, one, operators) and _is(nodes, last, other, two, operators):
                count += _replace(model.graph, nodes, last, first)
                break
    return count


def _settings(found: Found) -> dict[str, Any]:
    return {key: value for key, value in found.name.arguments.items() if key != "output_size"}


def _map_of(graph: Graph, found: Found) -> Indices | None:
    """Returns the element of the source for each element of the result; None if it cannot be computed."""
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


def open_shapes(first: Found, other: Found) -> tuple[list[int] | None, list[int] | None]:
    """Returns the shapes of source and result with -1 for an open batch; None for a shape with other open extents."""
    return _open(first.source_shape, other.source_shape), _open(first.shape, other.shape)


def _open(a: tuple[int, ...] | None, b: tuple[int, ...] | None) -> list[int] | None:
    if a is None or b is None or len(a) != len(b) or a[1:] != b[1:] or not a:
        return None
    return [a[0] if a[0] == b[0] else -1, *a[1:]]


def _is(nodes: Nodes, last: str, found: Found, expected: Indices, operators: Sequence[type[OpRun]]) -> bool:
    """Returns whether new nodes give the expected index map: runs them on indices, with 0 for elements outside."""
    if found.source_shape is None:
        return False
    value = helper.make_tensor_value_info
    inputs = [value(found.source, onnx.TensorProto.INT64, None)]
    graph = helper.make_graph(nodes.nodes, "g", inputs, [value(last, onnx.TensorProto.INT64, None)], nodes.constants)
    domains = ["", *sorted({operator.op_domain for operator in operators})]
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(name, 1 if name else 13) for name in domains])
    try:
        results: Any = ReferenceEvaluator(model, new_ops=list(operators)).run(
            None, {found.source: whole(found.source_shape) + 1}
        )
    except Exception:  # this way does not fit the operator
        return False
    return np.array_equal(results[0] - 1, expected)


def _replace(graph: onnx.GraphProto, nodes: Nodes, last: str, found: Found) -> bool:
    """Puts nodes in the place of the node that makes the result, and removes nodes that are no longer used.

    Returns: whether that was possible.
    """
    place = next(number for number, node in enumerate(graph.node) if found.result in node.output)
    if len(graph.node[place].output) != 1:
        return False
    nodes.nodes[-1].output[list(nodes.nodes[-1].output).index(last)] = found.result
    kept = [onnx.NodeProto.FromString(node.SerializeToString()) for node in graph.node]
    kept[place : place + 1] = nodes.nodes
    made = {node.output[0] for node in nodes.nodes}
    while True:
        used = {value.name for value in graph.output} | {tensor for node in kept for tensor in inputs_of(node)}
        left = [node for node in kept if node.output[0] in made or any(tensor in used for tensor in node.output)]
        if len(left) == len(kept):
            break
        kept = left
    del graph.node[:]
    graph.node.extend(kept)
    graph.initializer.extend(nodes.constants)
    return True

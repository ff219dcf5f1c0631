# SPDX-License-Identifier: Apache-2.0
"""Operators of the family that are made of other nodes, written again with nodes of the caller's choice. Needs onnx.

What is written is run on arrays of indices and compared with what the nodes did, element by element, for two sizes of
what is open. What differs is not taken.
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
from ._onnx_nodes import inputs_of
from ._regions import Found, Graph

# What is open is taken as these, the first axis and the others.
SIZES = ((2, 64), (3, 320))
# Nodes that stand for an operator, and the tensor that they make.
Written = tuple[Nodes, str]
# The operators to write anew in a graph.
Find = Callable[[Graph], Sequence[Found]]
# The operator as it was found with either size, which element of the source each element of the result is with either, and
# what the names of new nodes and constants begin with.
Ways = Callable[[tuple[Found, Found], tuple[Indices, Indices], str], Iterator[Written]]


def rewrite(
    model: onnx.ModelProto,
    sizes: Mapping[str, int],
    find: Find,
    ways: Ways,
    operators: Sequence[type[OpRun]] = (),
) -> int:
    """Writes chains of nodes anew that are operators of the family, in the model's own graph but not in its branches.

    Arguments:
        model: the model, which is changed.
        sizes: as for inspect.
        find: gives the operators that are to be written anew.
        ways: how it may be written; the first way is taken that does what the nodes did.
        operators: what the ways use beside ONNX's operators.

    Returns: how many were written anew.
    """
    graph, spare = (_onnx.read(model, sizes, others)[0] for others in SIZES)
    entries = find(graph)
    if not entries:
        return 0
    others = {entry.result: entry for entry in (entries if graph.shapes == spare.shapes else find(spare))}
    count = 0
    for number, first in enumerate(entries):
        other = others.get(first.result)
        if other is None or _settings(first) != _settings(other):
            continue
        found = (first, other)
        one, two = _map_of(graph, first), _map_of(spare, other)
        if one is None or two is None:
            continue
        for nodes, last in ways(found, (one, two), f"patchfold/{number}"):
            if _is(nodes, last, first, one, operators) and _is(nodes, last, other, two, operators):
                count += _replace(model.graph, nodes, last, first)
                break
    return count


def _settings(found: Found) -> dict[str, Any]:
    return {key: value for key, value in found.name.arguments.items() if key != "output_size"}


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


def open_shapes(first: Found, other: Found) -> tuple[list[int] | None, list[int] | None]:
    """The shapes of source and result with -1 for a batch that is open; None where more is open."""
    return _open(first.source_shape, other.source_shape), _open(first.shape, other.shape)


def _open(a: tuple[int, ...] | None, b: tuple[int, ...] | None) -> list[int] | None:
    if a is None or b is None or len(a) != len(b) or a[1:] != b[1:] or not a:
        return None
    return [a[0] if a[0] == b[0] else -1, *a[1:]]


def _is(nodes: Nodes, last: str, found: Found, expected: Indices, operators: Sequence[type[OpRun]]) -> bool:
    """Whether what is written does what was there: run on indices, with 0 for what lies outside."""
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
    except Exception:  # A way to write it that does not fit.
        return False
    return np.array_equal(results[0] - 1, expected)


def _replace(graph: onnx.GraphProto, nodes: Nodes, last: str, found: Found) -> bool:
    """Puts nodes in the place of the one that makes the result, and leaves out those that nothing uses any more.

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

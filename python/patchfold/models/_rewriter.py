# SPDX-License-Identifier: Apache-2.0
"""Rewrites nodes of ONNX models: operators, chains that make an operator, and tensors of many axes. Needs onnx.

New nodes for a chain are run on arrays of indices and compared with the old nodes element by element, for two sizes of the
open extents. New nodes with another result are rejected.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx.inliner
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from .._orders.index_map import OUTSIDE, Indices, maps, whole
from .._orders.names import Name
from . import _onnx
from ._errors import ModelError, naming
from ._expand import Nodes, Window, im2col
from ._moves import MOST_CONSTANT
from ._onnx_nodes import bodies_of, constant_of, free_prefix, inputs_of, is_patches
from ._regions import Found, Graph, find_all, found_of
from ._targets import FAMILY

# The domain in which tf2onnx leaves TensorFlow's ExtractImagePatches, of (N, H, W, C), with its settings as further inputs.
CONTRIB = "ai.onnx.contrib"
# A function of (node, known constants, prefix of new names) that returns the nodes in place of the node; None: the node
# stays.
Write = Callable[[onnx.NodeProto, Mapping[str, Any], str], Nodes | None]
SETTINGS = (onnx.TensorProto.INT64, onnx.TensorProto.INT32, onnx.TensorProto.STRING)
# The two trial sizes of open extents, each as (size of the first axis, size of all other axes).
SIZES = ((2, 64), (3, 320))
# Nodes that stand for an operator, and the tensor that these nodes make.
Written = tuple[Nodes, str]
# A function that finds the operators of a graph that are rewritten.
Find = Callable[[Graph], Sequence[Found]]
# A function that yields ways to write an operator. The function takes, for both trial sizes, the operator and its index map,
# and the prefix of the names of new nodes and constants.
Ways = Callable[[tuple[Found, Found], tuple[Indices, Indices], str], Iterator[Written]]


def copy_of(model: Any) -> onnx.ModelProto:
    """Returns a copy of a model, or the model of a file, with local functions inlined into their callers. Large weights that
    lie in other files are not read: onnx infers no shapes for a model of more than 2 GB."""
    result = onnx.ModelProto()
    result.CopyFrom(model if isinstance(model, onnx.ModelProto) else onnx.load(os.fspath(model), load_external_data=False))
    result = onnx.inliner.inline_local_functions(result) if result.functions else result
    load_weights(result, model, MOST_CONSTANT)
    return result


def load_weights(copy: onnx.ModelProto, model: Any, most: float = math.inf) -> None:
    """Reads weights of at most `most` elements, which lie in files beside the file `model`, into a copy of this model. The
    weights of a ModelProto stay where they are."""
    if isinstance(model, onnx.ModelProto):
        return
    folder = os.path.dirname(os.path.abspath(model))
    for tensor in tensors_of(copy.graph):
        if tensor.data_location == onnx.TensorProto.EXTERNAL and math.prod(tensor.dims) <= most:
            onnx.external_data_helper.load_external_data_for_tensor(tensor, folder)
            tensor.data_location = onnx.TensorProto.DEFAULT
            del tensor.external_data[:]


def tensors_of(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    """Yields the constants of a graph and of the graphs in its nodes."""
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    for node in graph.node:
        yield from (attribute.t for attribute in node.attribute if attribute.HasField("t"))
        for body in bodies_of(node):
            yield from tensors_of(body)


def drop_domain(model: onnx.ModelProto, domain: str) -> None:
    """Removes a domain that no node uses: runtimes refuse domains that they do not know."""

    def used(graph: onnx.GraphProto) -> bool:
        return any(node.domain == domain or any(used(body) for body in bodies_of(node)) for node in graph.node)

    if not used(model.graph):
        kept = [entry for entry in model.opset_import if entry.domain != domain]
        del model.opset_import[:]
        model.opset_import.extend(kept)


def drop_unused(graph: onnx.GraphProto) -> None:
    """Removes constants that nothing uses, about which runtimes warn."""
    used = {tensor for node in graph.node for tensor in inputs_of(node)}
    used |= {value.name for value in (*graph.input, *graph.output)}
    for place in reversed(range(len(graph.initializer))):
        if graph.initializer[place].name not in used:
            del graph.initializer[place]
    for place in reversed(range(len(graph.node))):
        if graph.node[place].op_type == "Constant" and used.isdisjoint(graph.node[place].output):
            del graph.node[place]
    for node in graph.node:
        for body in bodies_of(node):
            drop_unused(body)


def rewrite_nodes(graph: onnx.GraphProto, outer: Mapping[str, Any], prefix: str, write: Write) -> None:
    """Writes other nodes for the operators of patchfold's family in a graph and in the graphs of its nodes."""
    constants = dict(outer)
    for tensor in graph.initializer:
        here = tensor.data_location != onnx.TensorProto.EXTERNAL
        if here and tensor.data_type in SETTINGS and len(tensor.dims) <= 1 and math.prod(tensor.dims) < 100:
            constants[tensor.name] = numpy_helper.to_array(tensor)
    nodes: list[onnx.NodeProto] = []
    for number, node in enumerate(graph.node):
        if node.op_type == "Constant" and node.domain in _onnx.STANDARD:
            values = constant_of(node)
            if values is not None:
                constants[node.output[0]] = values
        if node.op_type in FAMILY if node.domain in _onnx.STANDARD else is_patches(node):
            with naming(f"node {node.name or number} ({node.op_type})"):
                written = write(node, constants, f"{prefix}/{number}")
            if written is not None:
                nodes += written.nodes
                graph.initializer.extend(written.constants)
                continue
        for body in bodies_of(node):
            rewrite_nodes(body, constants, f"{prefix}/{number}", write)
        nodes.append(node)
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)


def rewrite(
    model: onnx.ModelProto,
    find: Find,
    ways: Ways,
    operators: Sequence[type[OpRun]] = (),
) -> None:
    """Rewrites chains of nodes that are operators of patchfold's family, in the model's own graph but not in its branches.

    Of the ways to write a chain, the first with the same result is taken. operators: the operators that ways use beside
    ONNX's.
    """
    graph, spare = (_onnx.read(model, {}, others)[0] for others in SIZES)
    entries = find(graph)
    if not entries:
        return
    others = {entry.result: entry for entry in (entries if graph.shapes == spare.shapes else find(spare))}
    prefix = free_prefix(model.graph)
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
                _replace(model.graph, nodes, last, first)
                break


def _settings(found: Found) -> dict[str, Any]:
    return {key: value for key, value in found.name.arguments.items() if key != "output_size"}


def _map_of(graph: Graph, found: Found) -> Indices | None:
    """Returns for each element of the result its index in the source; None if the indices cannot be computed."""
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
        try:
            results = step.move([values[tensor] for tensor in step.inputs])
        except ValueError as error:
            why = f"{graph.open_sizes or 'its input'}, which does not fit: {error}"
            raise ModelError(f"node {step.node} ({step.kind}): {why}; give open extents by sizes") from None
        values.update(zip(step.outputs, results, strict=False))
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


def _replace(graph: onnx.GraphProto, nodes: Nodes, last: str, found: Found) -> None:
    """Replaces the node that makes the result, if it makes nothing else, by other nodes. Removes nodes that are no longer
    used."""
    place = next(number for number, node in enumerate(graph.node) if found.result in node.output)
    if len(graph.node[place].output) != 1:
        return
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


def rewrite_with_few_axes(model: onnx.ModelProto, most_axes: int) -> None:
    """Rewrites chains of nodes that have tensors of more than `most_axes` axes, if it is possible."""

    def is_wide(graph: Graph, tensor: str) -> bool:
        return len(graph.shapes.get(tensor, ())) > most_axes

    def windows(graph: Graph) -> list[Found]:
        """Finds patches that overlap, which no transposition makes."""
        wide = {step.node for step in graph.steps if any(is_wide(graph, tensor) for tensor in step.outputs)}
        return [found for found in find_all(graph) if found.name.operator == "unfold" and wide & set(found.nodes)]

    def blocks(graph: Graph) -> list[Found]:
        """Finds chains that move elements from a tensor of few axes to another one through tensors of many axes."""
        makers = {tensor: number for number, step in enumerate(graph.steps) for tensor in step.outputs}
        return [
            found
            for step in graph.steps
            if step.move is not None and any(is_wide(graph, tensor) for tensor in step.inputs)
            for tensor in step.outputs
            if not is_wide(graph, tensor) and (found := region(graph, makers, tensor)) is not None
        ]

    def region(graph: Graph, makers: Mapping[str, int], result: str) -> Found | None:
        numbers, sources, waiting = set(), set(), [result]
        while waiting:
            tensor = waiting.pop()
            if tensor != result and not is_wide(graph, tensor):
                sources.add(tensor)
                continue
            number = makers.get(tensor)
            if number is None or graph.steps[number].move is None:
                return None
            if number not in numbers:
                numbers.add(number)
                waiting += graph.steps[number].inputs
        if len(sources) != 1:
            return None
        return found_of(graph, Name("blocks"), sorted(numbers), sources.pop(), result)

    def moved(sizes: tuple[Found, Found], moves: tuple[Indices, Indices], prefix: str) -> Iterator[Written]:
        nodes = Nodes(prefix, most_axes)
        last = _rearranged(nodes, sizes, moves)
        if last is not None:
            yield nodes, last

    rewrite(model, windows, _patches)
    rewrite(model, blocks, moved)


def _rearranged(nodes: Nodes, sizes: tuple[Found, Found], moves: tuple[Indices, Indices]) -> str | None:
    """Writes the nodes for a map whose digits only change places, and returns the name of their result. Returns None for
    another map."""
    digits, shapes = [], []
    for found, indices in zip(sizes, moves, strict=True):
        map = None if found.source_shape is None else next(maps(indices, found.source_shape), None)
        if map is None or map.inverse() is None:
            return None
        digits.append([digit for axis in map.digits for digit in axis])
        shapes.append(map.shape)
    if [digit.axis for digit in digits[0]] != [digit.axis for digit in digits[1]] or len(shapes[0]) != len(shapes[1]):
        return None
    extents = _extents([digit.extent for digit in digits[0]], [digit.extent for digit in digits[1]])
    places = sorted(range(len(extents)), key=lambda place: (digits[0][place].axis, -digits[0][place].step))
    order = [places.index(place) for place in range(len(extents))]
    return nodes.rearranged(sizes[0].source, [extents[place] for place in places], order, _extents(*shapes))


def _extents(a: Sequence[int], b: Sequence[int]) -> list[int]:
    return [one if one == other else -1 for one, other in zip(a, b, strict=True)]


def _patches(sizes: tuple[Found, Found], moves: tuple[Indices, Indices], prefix: str) -> Iterator[Written]:
    """Yields ways to write patches that overlap, of two spatial axes."""
    arguments, (source, result) = sizes[0].name.arguments, open_shapes(*sizes)
    kernel = arguments["kernel_size"]
    apart = arguments.get("stride") == kernel and not {"padding", "dilation"} & set(arguments)
    if source is None or result is None or len(kernel) != 2 or len(source) != 4 or apart or "layout" in arguments:
        return
    nodes = Nodes(prefix)
    shape = [0, *result[1:]] if result[0] == source[0] else result
    tokens = not sizes[0].name.exact and len(shape) == 3  # one row for each patch
    shape = [shape[0], shape[2], shape[1]] if tokens else shape
    order = arguments.get("order") == "kernel"
    pads = [pad if isinstance(pad, tuple) else (pad, pad) for pad in arguments.get("padding", (0, 0))]
    lists = (arguments.get(key, (1, 1)) for key in ("kernel_size", "stride", "dilation"))
    windows = [Window(*axis, *pad) for *axis, pad in zip(source[2:], *lists, pads, strict=True)]
    last = im2col(nodes, sizes[0].source, windows, shape, last=False, kernel=order)
    yield nodes, nodes.transpose(last, [0, 2, 1]) if tokens else last

# SPDX-License-Identifier: Apache-2.0
"""Reads SavedModels of TensorFlow as graphs of steps. Needs TensorFlow's description of the files, but runs no model."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ._calls import name_of_call
from ._errors import ModelError, check_sizes, naming
from ._moves import MOST_CONSTANT
from ._regions import Graph, Step, in_order
from ._tensorflow_nodes import FILLING, folded, move_of, moved_by, name_of_node, shape_of

MOST_BYTES = 1 << 31
# The most nodes of all functions, counted at each call of a function.
MOST_NODES = 1 << 20
SERVED = "serving_default"
CALLS = ("PartitionedCall", "StatefulPartitionedCall")
OWN = "PatchfoldLinear"  # the operator that patchfold's library adds to TensorFlow


@dataclass
class Node:
    """A node of a graph with inlined functions; tensors are named "node:number"."""

    name: str
    kind: str
    attributes: Mapping[str, Any]
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)


def read(path: str, sizes: Mapping[str, int]) -> list[Graph]:
    """Returns the graphs in a SavedModel's folder: of signatures or functions, and of the bodies of their nodes."""
    file = Path(path) / "saved_model.pb"
    if not file.is_file():
        raise ModelError(f"{path}: is no SavedModel: it has no file saved_model.pb")
    saved: Any = part_of("tensorflow.core.protobuf.saved_model_pb2", "SavedModels").SavedModel()
    try:
        if file.stat().st_size >= MOST_BYTES:
            raise ModelError(f"{file}: has {file.stat().st_size} bytes; less than {MOST_BYTES} are read")
        data = file.read_bytes()
    except OSError as error:
        raise ModelError(f"{file}: cannot be read: {error.strerror or error}") from None
    try:
        saved.ParseFromString(data)
    except Exception:  # protobuf's errors have no common class in all versions
        raise ModelError(f"{file}: is no SavedModel, or is cut short") from None
    if not saved.meta_graphs:
        raise ModelError(f"{file}: is no SavedModel: it has no graph")
    served = [meta for meta in saved.meta_graphs if "serve" in meta.meta_info_def.tags]
    try:
        return _Reader((served or saved.meta_graphs)[0], str(file), sizes).read()
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, RecursionError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{file}: is no sound SavedModel: {type(error).__name__}: {error}") from None


class _Reader:
    def __init__(self, meta: Any, path: str, sizes: Mapping[str, int]):
        self.meta, self.path, self.sizes = meta, path, dict(sizes)
        self.functions = {function.signature.name: function for function in meta.graph_def.library.function}
        self.definition: Any = part_of("tensorflow.python.framework.op_def_registry", "SavedModels").get
        self.open: dict[str, int] = {}
        self.bodies: dict[str, str] = {}  # the node that holds a function, by the function's name
        self.count = 0

    def read(self) -> list[Graph]:
        """Returns the graphs, the main graph first."""
        signatures = {
            name: signature
            for name, signature in sorted(self.meta.signature_def.items())
            if not name.startswith("__") and signature.outputs
        }
        # Other signatures mostly compute the same as the default one.
        signatures = {SERVED: signatures[SERVED]} if SERVED in signatures else signatures
        graphs = []
        if signatures:
            nodes, alias = self._graph_nodes()
            outputs = [_flat(info.name) for signature in signatures.values() for info in signature.outputs.values()]
            results = {_resolved(tensor, alias) for tensor in outputs}
            labels = {_flat(info.name): name for s in signatures.values() for name, info in s.inputs.items()}
            graphs.append(self._graph(self._needed(nodes, results), results, labels))
        else:
            inner = [node for function in self.functions.values() for node in function.node_def]
            called = {name for node in inner for name in _functions(node)}
            for name in sorted(set(self.meta.object_graph_def.concrete_functions) - called):
                if name in self.functions and "_traced_" not in name:  # "_traced_" functions save and restore weights
                    graphs.append(self._body(name))
        if not graphs:
            raise ModelError(f"{self.path}: holds neither a signature nor a function")
        read: set[str] = set()
        while len(read) < len(self.bodies):
            name = next(name for name in self.bodies if name not in read)
            read.add(name)
            graphs.append(self._body(name))
        check_sizes(self.sizes, self.open)
        graphs[0].notes += [f"open size {name} taken as {size}" for name, size in self.open.items()]
        return graphs

    # Inlined functions.

    def _graph_nodes(self) -> tuple[list[Node], dict[str, str]]:
        alias: dict[str, str] = {}
        nodes: list[Node] = []
        for node in self.meta.graph_def.node:
            inputs = [_flat(tensor) for tensor in node.input if not tensor.startswith("^")]
            self._take(node, node.name, inputs, nodes, alias, ())
        _resolve(nodes, alias)
        return nodes, alias

    def _take(
        self, node: Any, name: str, inputs: list[str], nodes: list[Node], alias: dict[str, str], within: tuple[str, ...]
    ) -> None:
        """Adds a node, or the nodes of the function that it calls."""
        self.count += 1
        if self.count > MOST_NODES:
            raise ModelError(f"{self.path}: its functions come to more than {MOST_NODES} nodes")
        called = node.attr["f"].func.name if node.op in CALLS else node.op if node.op in self.functions else ""
        if not called:
            for held in _functions(node):
                if held in self.functions:
                    self.bodies.setdefault(held, name)
            attributes = {key: plain(value) for key, value in node.attr.items() if key != "value"}
            if "value" in node.attr:
                attributes["value"] = node.attr["value"].tensor
            count = max((number + 1 for _, number in self._references(node)), default=0)
            nodes.append(Node(name, node.op, attributes, inputs, [f"{name}:{number}" for number in range(count)]))
            return
        if called not in self.functions:
            raise ModelError(f"node {name} ({node.op}): calls the function {called!r}, which the model has not")
        if called in within or len(within) > 64:
            raise ModelError(f"node {name} ({node.op}): its function {called!r} calls itself")
        function = self.functions[called]
        arguments = [argument.name for argument in function.signature.input_arg]
        if len(arguments) != len(inputs):
            given = f"gives {len(inputs)} inputs to {called!r}"
            raise ModelError(f"node {name} ({node.op}): {given}, which takes {len(arguments)}")
        bound = dict(zip(arguments, inputs, strict=True))
        results = self._write_out(function, bound, f"{name}/", nodes, alias, (*within, called))
        for number, result in enumerate(results):
            alias[f"{name}:{number}"] = result

    def _write_out(
        self, function: Any, given: Mapping[str, str], prefix: str, nodes: list[Node], alias: dict[str, str],
        within: tuple[str, ...],
    ) -> list[str]:  # fmt: skip
        """Adds the nodes of a function; returns the function's results."""
        flat: dict[str, str] = dict(given)
        for node in function.node_def:
            for reference, number in self._references(node):
                flat[f"{node.name}:{reference}"] = f"{prefix}{node.name}:{number}"

        def tensor(reference: str) -> str:
            if reference not in flat:
                raise ModelError(f"function {function.signature.name}: {reference!r} is made by none of its nodes")
            return flat[reference]

        for node in function.node_def:
            inputs = [tensor(reference) for reference in node.input if not reference.startswith("^")]
            self._take(node, f"{prefix}{node.name}", inputs, nodes, alias, within)
        return [tensor(function.ret[argument.name]) for argument in function.signature.output_arg]

    def _references(self, node: Any) -> Iterable[tuple[str, int]]:
        """Yields, for each output of a node, how other nodes of a function refer to it ("argument:number"), and its
        number."""
        definition = self.functions[node.op].signature if node.op in self.functions else self.definition(node.op)
        if definition is None:  # this TensorFlow lacks the operator: one output, under its usual names
            yield from (("output:0", 0), ("y:0", 0), ("z:0", 0))
            return
        number = 0
        for argument in definition.output_arg:
            count = 1
            if argument.number_attr:
                count = node.attr[argument.number_attr].i
            elif argument.type_list_attr:
                count = len(node.attr[argument.type_list_attr].list.type)
            if count > 1 << 16:
                raise ModelError(f"node {node.name} ({node.op}): makes {count} tensors")
            for place in range(count):
                yield f"{argument.name}:{place}", number
                number += 1

    def _needed(self, nodes: Sequence[Node], results: set[str]) -> list[Node]:
        """Returns the nodes on which results depend, without nodes that save and restore weights."""
        makers = {tensor: node for node in nodes for tensor in node.outputs}
        if missing := sorted(results - set(makers)):
            raise ModelError(f"{self.path}: its result {missing[0]!r} is made by no node")
        kept: set[str] = set()
        waiting = [makers[tensor] for tensor in results]
        while waiting:
            node = waiting.pop()
            if node.name not in kept:
                kept.add(node.name)
                waiting += [makers[tensor] for tensor in node.inputs if tensor in makers]
        return [node for node in nodes if node.name in kept]

    def _body(self, name: str) -> Graph:
        """Returns the graph of a function that is not inlined."""
        function = self.functions[name]
        nodes: list[Node] = []
        alias: dict[str, str] = {}
        given: dict[str, str] = {}
        for place, argument in enumerate(function.signature.input_arg):
            given[argument.name] = f"{argument.name}:0"
            held = function.arg_attr[place].attr if place in function.arg_attr else {}
            attributes = {key: plain(value) for key, value in held.items()}
            nodes.append(Node(argument.name, "Placeholder", attributes, [], [f"{argument.name}:0"]))
        results = self._write_out(function, given, "", nodes, alias, (name,))
        _resolve(nodes, alias)
        where = f" in {self.bodies[name]}" if name in self.bodies else ""
        return self._graph(nodes, {_resolved(result, alias) for result in results}, {}, where)

    # Turning nodes into steps.

    def _graph(self, nodes: Sequence[Node], results: set[str], labels: Mapping[str, str], where: str = "") -> Graph:
        graph = Graph(results)
        for node in _in_order(nodes):
            _note_type(graph, node)
            if node.kind == "Placeholder":
                self._placeholder(graph, node, labels)
            else:
                with naming(f"node {node.name}{where} ({node.kind})"):
                    add(graph, node, f"{node.name}{where}")
        return graph

    def _placeholder(self, graph: Graph, node: Node, labels: Mapping[str, str]) -> None:
        shape = node.attributes.get("shape")
        if shape is None:
            shape = next(iter(node.attributes.get("_output_shapes") or []), None)
        if shape is None:
            return
        label = labels.get(node.outputs[0], node.name)
        known = list(shape)
        for axis, extent in enumerate(shape):
            if extent < 0:
                name = f"{label}.{axis}"
                known[axis] = self.open.setdefault(name, int(self.sizes.get(name, 1 if axis == 0 else 64)))
        if math.prod(known) < 1 << 48:
            graph.shapes[node.outputs[0]] = tuple(known)


def add(graph: Graph, node: Node, name: str, label: str = "") -> None:
    """Adds a node as a step, or its results as constants. `label`: the model's name of the operator."""
    constants = graph.constants
    if node.kind == "Const":
        values = _array_of(node.name, node.attributes.get("value"))
        if values is not None:
            constants[node.outputs[0]] = values
            graph.shapes[node.outputs[0]] = values.shape
        return
    given = [constants.get(tensor) for tensor in node.inputs]
    first = next(iter(node.inputs), "")
    if node.kind == "Shape" and first in graph.shapes:
        constants[node.outputs[0]] = np.array(graph.shapes[first], np.int64)
        graph.shapes[node.outputs[0]] = (len(graph.shapes[first]),)
        return
    shape = graph.shapes.get(node.outputs[0]) if node.outputs else None
    move = move_of(node.kind, node.attributes, given, shape)
    taken = moved_by(node.kind, len(given))
    if given and all(values is not None for values in given) and node.kind not in FILLING:
        try:
            made = folded(node.kind, node.attributes, given, MOST_CONSTANT)
            if not made and move is not None:
                made = list(move([np.asarray(given[place]) for place in taken]))
        except Exception:  # TensorFlow will refuse the node with its own error
            made = []
        if made and all(array.size <= MOST_CONSTANT for array in made):
            for tensor, array in zip(node.outputs, made, strict=False):
                constants[tensor] = array
                graph.shapes[tensor] = array.shape
            return
    inputs = [node.inputs[place] for place in taken]
    shape = graph.shapes.get(inputs[0] if inputs else "")
    if node.kind == OWN and "call" in node.attributes:
        op = name_of_call(node.attributes["call"], shape)
    else:
        op = name_of_node(node.kind, node.attributes, given, shape)
    if op is None and move is None:
        inputs = [tensor for tensor, values in zip(node.inputs, given, strict=True) if values is None]
    own = op if inputs else None
    step = Step(name, label or node.kind, tuple(inputs), tuple(node.outputs), None if op else move, own)
    graph.steps.append(step)
    _note_shapes(graph, step, node)


def _note_shapes(graph: Graph, step: Step, node: Node) -> None:
    """Adds shapes that the file leaves open, from the shapes of the inputs."""
    if graph.note_moved(step):
        return
    shape = shape_of(node.kind, [graph.shapes.get(tensor) for tensor in node.inputs])
    if shape is not None:
        graph.shapes.setdefault(step.outputs[0], shape)
        return
    # Other operators are taken to keep the batch: an open first extent becomes the first extent of the first input.
    batch = next((graph.shapes[t][0] for t in node.inputs if graph.shapes.get(t)), None)
    for tensor, given in zip(step.outputs, node.attributes.get("_output_shapes") or [], strict=False):
        if given is not None and batch is not None and given and given[0] < 0 and all(extent >= 0 for extent in given[1:]):
            graph.shapes.setdefault(tensor, (batch, *given[1:]))


def _note_type(graph: Graph, node: Node) -> None:
    for key in ("T", "dtype", "output_types"):
        kind = node.attributes.get(key)
        if isinstance(kind, str):
            for tensor in node.outputs:
                graph.dtypes.setdefault(tensor, kind)
    for tensor, shape in zip(node.outputs, node.attributes.get("_output_shapes") or [], strict=False):
        if shape is not None and all(extent >= 0 for extent in shape) and math.prod(shape) < 1 << 48:
            graph.shapes.setdefault(tensor, tuple(shape))


def _in_order(nodes: Sequence[Node]) -> list[Node]:
    """Returns nodes in an order in which each follows its inputs, without back edges of loops."""
    makers = {tensor: number for number, node in enumerate(nodes) for tensor in node.outputs}
    sources: dict[int, set[int]] = {}
    for number, node in enumerate(nodes):
        for tensor in node.inputs:
            if tensor not in makers:
                raise ModelError(f"node {node.name} ({node.kind}): its input {tensor!r} is made by no node")
        made_by = {makers[tensor] for tensor in node.inputs}
        sources[number] = {each for each in made_by if nodes[each].kind not in ("NextIteration", "RefNextIteration")}
    order = in_order(sources, lambda number: f"node {nodes[number].name} ({nodes[number].kind}):")
    return [nodes[number] for number in order]


def _resolve(nodes: Sequence[Node], alias: Mapping[str, str]) -> None:
    for node in nodes:
        node.inputs = [_resolved(tensor, alias) for tensor in node.inputs]


def _resolved(tensor: str, alias: Mapping[str, str]) -> str:
    """Returns the tensor inside a called function that the call returns as `tensor`; any other tensor itself."""
    for _ in range(len(alias) + 1):
        if tensor not in alias:
            return tensor
        tensor = alias[tensor]
    raise ModelError(f"tensor {tensor}: lies on a cycle of calls")


def _functions(node: Any) -> Iterable[str]:
    """Yields the functions that a node names."""
    for key in node.attr:
        for held in (node.attr[key].func, *node.attr[key].list.func):
            if held.name:
                yield held.name


def _flat(tensor: str) -> str:
    return tensor if ":" in tensor else f"{tensor}:0"


# TensorFlow's messages as values of Python and NumPy.


def part_of(module: str, what: str) -> Any:
    """Returns a module of TensorFlow. If the module is missing, the ImportError names the reader that needs TensorFlow."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"inspect reads {what} with TensorFlow: pip install tensorflow-cpu ({error})") from None


def plain(value: Any) -> Any:
    """Returns an attribute as a Python value: shapes as lists with -1 for an open extent, None for an open rank."""
    kind = value.WhichOneof("value")
    if kind == "s":
        return value.s.decode(errors="replace")
    if kind == "type":
        return _type(value.type)
    if kind == "shape":
        return _extents(value.shape)
    if kind == "list":
        if value.list.shape:
            return [_extents(shape) for shape in value.list.shape]
        return list(value.list.i)
    return getattr(value, kind) if kind in ("i", "f", "b") else None


def _extents(shape: Any) -> list[int] | None:
    return None if shape.unknown_rank else [int(dim.size) for dim in shape.dim]


def _type(number: int) -> str:
    types = part_of("tensorflow.core.framework.types_pb2", "SavedModels")
    try:
        name = str(types.DataType.Name(number)).removeprefix("DT_").lower()
    except ValueError:
        return f"type {number}"
    return {"float": "float32", "double": "float64", "half": "float16"}.get(name, name)


def _array_of(name: str, tensor: Any) -> np.ndarray[Any, Any] | None:
    """Returns the values of the constant of a node; None for a large constant and for types that NumPy lacks."""
    dtype = _type(tensor.dtype) if tensor is not None else ""
    if dtype not in _FIELDS:
        return None
    shape = tuple(int(dim.size) for dim in tensor.tensor_shape.dim)
    count = math.prod(shape)
    if any(extent < 0 for extent in shape) or count > MOST_CONSTANT:
        return None
    if tensor.tensor_content:
        item = np.dtype(dtype).itemsize
        if len(tensor.tensor_content) != count * item:
            size = len(tensor.tensor_content)
            raise ModelError(f"node {name} (Const): {size} bytes do not fit its shape {list(shape)}")
        return np.frombuffer(tensor.tensor_content, dtype).reshape(shape)
    values = np.array(getattr(tensor, _FIELDS[dtype]), dtype)
    if values.size > count or (values.size == 0 and count):
        values = np.zeros(1, dtype) if values.size == 0 else values[:count]
    # All elements after the last given value are equal to this value.
    return np.concatenate([values, np.repeat(values[-1:], count - values.size)]).reshape(shape)


_FIELDS = {
    "float32": "float_val", "float64": "double_val", "int32": "int_val", "int64": "int64_val", "bool": "bool_val",
    "int8": "int_val", "int16": "int_val", "uint8": "int_val", "uint16": "int_val", "uint32": "uint32_val",
    "uint64": "uint64_val",
}  # fmt: skip

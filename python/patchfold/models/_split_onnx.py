# SPDX-License-Identifier: Apache-2.0
"""ONNX models that are split: writes a model for each part, and runs it with ONNX Runtime or, without it, with onnx's own
evaluator."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from . import _onnx
from ._errors import ModelError
from ._norms import Norm, numbers_of
from ._onnx_nodes import attributes_of, inputs_of
from ._regions import Graph, Step
from ._rewriter import copy_of, load_weights
from ._split import Part, axes_of

NORMS = ("InstanceNormalization", "GroupNormalization")
KINDS = {_onnx.dtype_of(number): number for number in TensorProto.DataType.values()}


class OnnxProgram:
    """An ONNX model whose tiled axes are open."""

    path = "model"

    def __init__(self, model: Any, sizes: Mapping[str, int], axes: Sequence[int] | None):
        if not isinstance(model, onnx.ModelProto):
            self.path = str(model)
        self.model = copy_of(model)
        load_weights(self.model, model)
        graph = self.model.graph
        made = {tensor.name for tensor in graph.initializer}
        given = [value for value in graph.input if value.name not in made]
        self.inputs, self.outputs = [value.name for value in given], [value.name for value in graph.output]
        if not given:
            raise ModelError(f"{self.path}: must have an input")
        dims = given[0].type.tensor_type.shape.dim
        self.axes = axes_of(axes, len(dims))
        self.names, hints = [], []
        self.is_open = not any(dims[axis].HasField("dim_value") for axis in self.axes)
        for axis in self.axes:
            hints.append(dims[axis].dim_value or sizes.get(_onnx.dim_name(given[0], axis), 64))
            if dims[axis].HasField("dim_value"):
                self._open(graph, axis, dims[axis].dim_value)
            self.names.append(_onnx.dim_name(given[0], axis))
        self.sizes = {name: size for name, size in sizes.items() if name not in self.names}
        self.extents = tuple(-(-max(int(hint), 32) // 32) * 32 for hint in hints)
        self.makers = {name: node for node in graph.node for name in node.output if name}
        self.weights = {tensor.name: tensor for tensor in graph.initializer}
        self.graphs: dict[tuple[int, ...], Graph] = {}
        self.sessions: dict[Any, tuple[list[str], Callable[[dict[str, Any]], Sequence[Any]]]] = {}
        self.norms: list[Norm] = []
        self.norms = self._norms()

    def _open(self, graph: onnx.GraphProto, axis: int, extent: int) -> None:
        """Makes an axis of the first input open, and the same axes of inputs with the same extent."""
        del graph.value_info[:]
        rank = len(graph.input[0].type.tensor_type.shape.dim)
        for value in (*graph.input, *graph.output):
            dims = value.type.tensor_type.shape.dim
            if value in list(graph.output):
                value.type.tensor_type.ClearField("shape")
            elif value.name not in {tensor.name for tensor in graph.initializer} and len(dims) == rank:
                if dims[axis].dim_value == extent:
                    dims[axis].dim_param = f"tiled_axis_{axis}"

    def graph(self, extents: Sequence[int]) -> Graph:
        key = tuple(extents)
        if key not in self.graphs:
            sizes = self.sizes | dict(zip(self.names, key, strict=True))
            graph = _onnx.read(self.model, sizes)[0]
            self.graphs[key] = self._with_norms(graph)
        return self.graphs[key]

    def _with_norms(self, graph: Graph) -> Graph:
        """Returns a graph in which a norm with the reshapes around it is one step."""
        ends = {norm.result: norm for norm in self.norms}
        inner = {name for norm in self.norms for name in self._between(norm)}
        steps: list[Step] = []
        for step in graph.steps:
            norm = ends.get(step.outputs[0]) if step.outputs else None
            if norm is not None:
                slots = (norm.source,)
                steps.append(Step(norm.node, norm.kind, slots, (norm.result,), slots=slots))
            elif not inner & set(step.outputs):
                steps.append(step)
        return replace(graph, steps=steps)

    def _between(self, norm: Norm) -> list[str]:
        """Returns the tensors between the source and the result of a norm."""
        names, name = [], norm.result
        while (name := self.makers[name].input[0]) != norm.source:
            names.append(name)
        return names

    def _norms(self) -> list[Norm]:
        """Returns the norms over the plane, also those that are written as an InstanceNormalization between two reshapes."""
        graphs = [self.graph(self.extents), self.graph([2 * n for n in self.extents])]
        readers: dict[str, int] = {name: 1 for name in self.outputs}
        for node in self.model.graph.node:
            for name in inputs_of(node):
                readers[name] = readers.get(name, 0) + 1
        after = {node.input[0]: node for node in self.model.graph.node if node.op_type == "Reshape"}
        found = []
        for node in self.model.graph.node:
            if node.op_type not in NORMS or node.domain not in _onnx.STANDARD or len(node.input) < 3:
                continue
            source, result = node.input[0], node.output[0]
            before, behind = self.makers.get(source), after.get(result)
            shape = graphs[0].shapes.get(source)
            if shape is None:
                continue
            groups = int(attributes_of(node).get("num_groups", shape[1]))
            reshaped = before is not None and before.op_type == "Reshape" and behind is not None
            if reshaped and before is not None and behind is not None and readers[source] == readers[result] == 1:
                if all(_cuts_groups(graph, before.input[0], source, behind.output[0]) for graph in graphs):
                    source, result = before.input[0], behind.output[0]
            title = node.name or node.output[0]
            eps = float(attributes_of(node).get("epsilon", 1e-5))
            found.append(Norm(title, node.op_type, source, result, groups, eps, *node.input[1:3]))
        self.graphs.clear()
        return found

    def shape(self, tensor: str, extents: Sequence[int]) -> tuple[int, ...]:
        return self.graph(extents).shapes[tensor]

    def by_size(self) -> set[str]:
        return set()

    def check_ranges(self, extents: Sequence[int]) -> None:
        """Does nothing: a graph of ONNX is the same for all extents."""

    def checked(self, inputs: Sequence[Any]) -> tuple[int, ...]:
        """Returns the extents of the tiled axes of inputs, after a check of their shapes."""
        if len(inputs) != len(self.inputs) or not all(isinstance(x, np.ndarray) for x in inputs):
            raise ModelError(f"inputs: must be {len(self.inputs)} NumPy arrays; given {len(inputs)}")
        if inputs[0].ndim <= max(self.axes):
            raise ModelError(f"{self.inputs[0]}: must have more than {max(self.axes)} axes; given {inputs[0].ndim}")
        extents = tuple(inputs[0].shape[axis] for axis in self.axes)
        for name, x in zip(self.inputs, inputs, strict=True):
            expected = self.shape(name, extents)
            if x.shape != expected:
                raise ModelError(f"{name}: must have the shape {expected}; given {x.shape}")
        return extents

    def kept(self, x: Any, like: Any) -> Any:
        return x

    def empty(self, shape: Sequence[int], own: Any, like: Any) -> Any:
        return np.empty(shape, own.dtype)

    def moments(self, x: Any, groups: int) -> tuple[int, Any, Any]:
        wide = x.astype(np.float64).reshape(x.shape[0], groups, -1)
        mean = wide.mean(2)
        return wide.shape[2], mean, ((wide - mean[:, :, None]) ** 2).sum(2)

    def numbers(self, norm: Norm, mean: Any, variance: Any) -> list[Any]:
        graph = self.graph(self.extents)
        shape, kind = graph.shapes[norm.source], graph.dtypes[norm.source]
        given = [self._constant(name).astype(np.float64) for name in (norm.weight, norm.bias)]
        wide = np.float64 if kind == "float64" else np.float32
        return [each.astype(wide) for each in numbers_of(norm, shape[1], len(shape), mean, variance, *given)]

    def _constant(self, name: str) -> Any:
        if name in self.weights:
            return numpy_helper.to_array(self.weights[name])
        return self.graph(self.extents).constants[name]

    def run(
        self, part: Part, feeds: Mapping[str, Any], fixed: Mapping[str, Sequence[Any]], extents: Sequence[int]
    ) -> Sequence[Any]:
        wanted = [name for name in part.outputs if name not in feeds]
        values = dict(feeds)
        if wanted:
            key = part.outputs, part.inputs, tuple(norm.node for norm in part.fixed)
            if key not in self.sessions:
                self.sessions[key] = self._session(part, wanted)
            sized, session = self.sessions[key]
            given = dict(feeds)
            for norm in part.fixed:
                given |= {f"{norm.result}/{n}": each for n, each in enumerate(fixed[norm.node])}
            given |= {name: self.graph(extents).constants[name] for name in sized}
            values |= dict(zip(wanted, session({name: np.ascontiguousarray(x) for name, x in given.items()}), strict=True))
        return [values[name] for name in part.outputs]

    def _session(self, part: Part, wanted: Sequence[str]) -> tuple[list[str], Callable[[dict[str, Any]], Sequence[Any]]]:
        """Returns the constants that depend on the extents, and a function that runs the part's model."""
        graphs = [self.graph(self.extents), self.graph([2 * n for n in self.extents])]
        norms = {norm.result: norm for norm in part.fixed}
        nodes, needed, sized, weights = [], set(wanted) - {*part.inputs}, [], {}
        values = [self._value(name, graphs[0].dtypes.get(name, "")) for name in part.inputs]
        for name in [name for name in needed if name in self.weights]:
            weights[name] = self.weights[name]
        for node in reversed(self.model.graph.node):
            norm = next((norms[name] for name in node.output if name in norms), None)
            if not needed & set(node.output):
                continue
            if norm is not None:
                nodes += _computed(norm, graphs[0].dtypes[norm.source])[::-1]
                wide = _wide(graphs[0].dtypes[norm.source])
                values += [self._value(f"{norm.result}/{number}", wide) for number in range(3)]
                reads = [norm.source]
            elif (name := node.output[0]) in graphs[0].constants and node.op_type != "Constant":
                held = graphs[0].constants[name]
                sized.append(name)
                values.append(self._value(name, held.dtype.name))
                reads = []
            else:
                nodes.append(node)
                reads = [name for name in inputs_of(node) if name]
            weights |= {name: self.weights[name] for name in reads if name in self.weights}
            needed |= set(reads) - {*part.inputs}
        outputs = [self._value(name, graphs[0].dtypes.get(name, "")) for name in wanted]
        used = {name for node in nodes for name in inputs_of(node)} | set(wanted)
        made = [value for value in values if value.name in used]
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        model.ClearField("graph")
        model.graph.CopyFrom(helper.make_graph(nodes[::-1], "part", made, outputs, list(weights.values())))
        session = session_of(model)
        names = {value.name for value in made}
        return sized, lambda given: session({name: x for name, x in given.items() if name in names})

    def _value(self, name: str, dtype: str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, KINDS.get(dtype, TensorProto.FLOAT), None)


def session_of(model: onnx.ModelProto) -> Callable[[dict[str, Any]], Sequence[Any]]:
    """Returns a function that runs a model."""
    try:
        runtime: Any = importlib.import_module("onnxruntime")
    except ImportError:
        evaluator = ReferenceEvaluator(model)
        return lambda given: list(evaluator.run(None, given))
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda given: list(session.run(None, given))


def _cuts_groups(graph: Graph, source: str, cut: str, result: str) -> bool:
    """Returns whether a reshape cuts the channels of a tensor into groups, and a later one puts them back."""
    shape, parts = graph.shapes.get(source, ()), graph.shapes.get(cut, ())
    if len(shape) < 3 or len(parts) < 3 or graph.shapes.get(result) != shape:
        return False
    return shape[0] == parts[0] and shape[1] % parts[1] == 0


def _wide(dtype: str) -> str:
    return "float64" if dtype == "float64" else "float32"


def _computed(norm: Norm, dtype: str) -> list[onnx.NodeProto]:
    """Returns the nodes of a norm with fixed statistics."""
    names = [f"{norm.result}/{step}" for step in ("wide", "shifted", "scaled", "made")]
    kinds = [KINDS[each] for each in (_wide(dtype), dtype)]
    return [
        helper.make_node("Cast", [norm.source], [names[0]], to=kinds[0]),
        helper.make_node("Sub", [names[0], f"{norm.result}/0"], [names[1]]),
        helper.make_node("Mul", [names[1], f"{norm.result}/1"], [names[2]]),
        helper.make_node("Add", [names[2], f"{norm.result}/2"], [names[3]]),
        helper.make_node("Cast", [names[3]], [norm.result], to=kinds[1]),
    ]

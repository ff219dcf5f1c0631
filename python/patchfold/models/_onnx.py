# SPDX-License-Identifier: Apache-2.0
"""Reads ONNX models as graphs of steps. Needs onnx."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.inliner
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

from .._errors import type_name
from ._errors import ModelError, check_sizes, naming
from ._moves import MOST_CONSTANT
from ._onnx_nodes import (
    DOMAIN,
    FOLDED,
    attributes_of,
    bodies_of,
    constant_of,
    elements,
    inputs_of,
    is_patches,
    own_of,
    patches_of,
    step_of,
)
from ._reads import Node
from ._reads_onnx import reads_of
from ._regions import Graph, Step
from ._spans import Reads

STANDARD = ("", "ai.onnx")
OTHERS = {".xml": "OpenVINO's IR", ".pt2": "a program of torch.export", ".tflite": "a LiteRT model"}
GROWING = ("ConstantOfShape", "Expand", "Tile", "Pad", "Range")


def read(model: Any, sizes: Mapping[str, int], others: tuple[int, int] = (1, 64)) -> list[Graph]:
    """Returns the graph of a model and the graphs in its nodes. `model` is a path or a ModelProto.

    An open size that `sizes` lacks is taken from `others`: (size of the first axis, size of all other axes).
    """
    folder: Path | None = None
    if not isinstance(model, onnx.ModelProto):
        if not isinstance(model, (str, os.PathLike)):
            raise ModelError(f"model: must be an .onnx file or an onnx.ModelProto; given {type_name(model)}")
        path = Path(model)
        folder = path.resolve().parent
        other = "a folder" if path.is_dir() else OTHERS.get(path.suffix.lower())
        if other is not None:
            raise ModelError(f"{path}: must be an .onnx file; {other} is taken by `python -m patchfold.models inspect`")
        try:
            model = onnx.load(str(path), load_external_data=False)
        except OSError as error:
            raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None
        except Exception as error:  # protobuf's errors have no common class in all versions
            raise ModelError(f"{path}: is no ONNX model, or is cut short: {str(error).splitlines()[0]}") from None
        if not model.graph.node and not model.graph.output:
            raise ModelError(f"{path}: is no ONNX model: it has no graph")
    if model.functions:
        try:
            model = onnx.inliner.inline_local_functions(model)
        except Exception as error:
            raise ModelError(f"functions of the model cannot be inlined: {error}") from None
    return _Reader(model, folder, sizes, others).read()


class _Reader:
    def __init__(self, model: onnx.ModelProto, folder: Path | None, sizes: Mapping[str, int], others: tuple[int, int]):
        self.folder = folder
        self.opsets = {entry.domain: entry.version for entry in model.opset_import} or {"": 1}
        self.model, self.assumed, self.known = _sized(model, sizes, others)

    def read(self) -> list[Graph]:
        graphs: list[Graph] = []
        self._graph(self.model.graph, {}, set(), graphs, "")
        return graphs

    def _graph(
        self, graph: onnx.GraphProto, outer: dict[str, Any], visible: set[str], graphs: list[Graph], where: str
    ) -> None:
        result = Graph({value.name for value in graph.output}, dict(outer))
        result.notes += self.assumed if not where else []
        result.open_sizes = ", ".join(self.assumed)
        made = {tensor.name for tensor in graph.initializer}
        result.inputs = [value.name for value in graph.input if value.name not in made]
        visible = visible | {value.name for value in graph.input} | made | {""}
        visible |= {tensor.values.name for tensor in graph.sparse_initializer}
        for value in (*graph.input, *graph.value_info, *graph.output):
            self._note_type(result, value)
        for tensor in graph.initializer:
            shape = tuple(tensor.dims)
            if any(extent < 0 for extent in shape) or math.prod(shape) > 1 << 48:
                raise ModelError(f"initializer {tensor.name!r}: its shape {list(shape)} cannot be")
            result.shapes[tensor.name] = shape
            result.dtypes[tensor.name] = dtype_of(tensor.data_type)
            values = self._values(tensor, shape)
            if values is not None:
                result.constants[tensor.name] = values
        graphs.append(result)
        for number, node in enumerate(graph.node):
            name = node.name or f"{node.op_type} #{number}{where}"
            if not isinstance(node.op_type, str):  # protobuf returns text that is no UTF-8 as bytes
                raise ModelError(f"node {name}: the name of its operator, {node.op_type!r}, is no text")
            for tensor in node.input:
                if tensor not in visible:
                    raise ModelError(
                        f"node {name} ({node.op_type}): its input {tensor!r} is made by no node before it: the model"
                        " is cut short, has a cycle, or its nodes are not in order"
                    )
            visible |= set(node.output)
            with naming(f"node {name} ({node.op_type})"):
                self._node(result, node, name)
            for body in bodies_of(node):
                self._graph(body, result.constants, visible, graphs, f" in {name}")

    def _note_type(self, graph: Graph, value: onnx.ValueInfoProto) -> None:
        if not value.type.HasField("tensor_type"):
            return
        graph.dtypes[value.name] = dtype_of(value.type.tensor_type.elem_type)
        shape = self.known.get(value.name) or _shape_of(value)
        if shape is not None:
            graph.shapes[value.name] = shape

    def _values(self, tensor: onnx.TensorProto, shape: tuple[int, ...]) -> np.ndarray[Any, Any] | None:
        """Returns the values of a small initializer. The data of a large initializer is checked but not read."""
        external = {entry.key: entry.value for entry in tensor.external_data}
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            self._check_external(tensor, external)
        if math.prod(shape) > MOST_CONSTANT:
            return None
        try:
            if tensor.data_location == onnx.TensorProto.EXTERNAL:
                if self.folder is None:
                    return None
                whole = onnx.TensorProto()
                whole.CopyFrom(tensor)
                onnx.external_data_helper.load_external_data_for_tensor(whole, str(self.folder))
                tensor = whole
            return numpy_helper.to_array(tensor)
        except Exception as error:
            label = f"initializer {tensor.name!r}"
            raise ModelError(f"{label}: its data does not fit its shape {list(shape)}: {error}") from None

    def _check_external(self, tensor: onnx.TensorProto, external: dict[str, str]) -> None:
        location, label = external.get("location", ""), f"initializer {tensor.name!r}"
        if not location or Path(location).is_absolute() or ".." in Path(location).parts:
            raise ModelError(f"{label}: its data lies at {location!r}; must lie in the model's own folder")
        if self.folder is None:
            return
        path = (self.folder / location).resolve()
        if not path.is_relative_to(self.folder):
            raise ModelError(f"{label}: {location!r} is a link out of the model's folder")
        try:
            size = path.stat().st_size
            offset, length = int(external.get("offset", 0)), int(external.get("length", 0))
        except (OSError, ValueError):
            raise ModelError(f"{label}: its file {location!r} is not there, or its place in it is no number") from None
        if offset < 0 or length < 0 or offset + length > size:
            raise ModelError(f"{label}: lies at {offset} to {offset + length} of {location!r}, which has {size} bytes")

    def _node(self, graph: Graph, node: onnx.NodeProto, name: str) -> None:
        constants = graph.constants
        kind = node.op_type if node.domain in STANDARD else f"{node.domain}.{node.op_type}"
        inputs = [tensor for tensor in node.input if tensor]
        standard = node.domain in STANDARD
        if standard and kind == "Constant":
            values = constant_of(node)
            if values is not None and values.size <= MOST_CONSTANT:
                constants[node.output[0]] = values
                graph.shapes.setdefault(node.output[0], values.shape)
            return
        if standard and kind in ("Shape", "Size") and inputs[0] in graph.shapes:
            shape = np.array(graph.shapes[inputs[0]], np.int64)
            if kind == "Size":
                constants[node.output[0]] = np.array(shape.prod(), np.int64)
            else:
                attributes = attributes_of(node)
                constants[node.output[0]] = shape[attributes.get("start", 0) : attributes.get("end", len(shape))]
            return
        if standard and kind in FOLDED and inputs and all(tensor in constants for tensor in inputs):
            results = self._folded(node, constants)
            if results is not None:
                for tensor, values in zip(node.output, results, strict=False):
                    constants[tensor] = values
                    graph.shapes.setdefault(tensor, values.shape)
                return
        step = step_of(node, name, constants, self._run) if standard else None
        if is_patches(node) and inputs:
            op = patches_of(node, constants, graph.shapes.get(inputs[0]))
            step = Step(name, kind, (inputs[0],), tuple(node.output), None, op)
        if node.domain == DOMAIN and inputs:
            own = own_of(node, constants, graph.shapes.get(inputs[0]))
            step = None if own is None else Step(name, kind, (inputs[0],), tuple(node.output), None, own)
        data = tuple(tensor for tensor in inputs if tensor not in constants or not standard)
        reads = functools.partial(self._reads, graph, node, kind)
        made = step or Step(name, kind, data, tuple(node.output))
        graph.steps.append(replace(made, slots=tuple(inputs_of(node)), reads=reads))
        if step is not None:
            graph.note_moved(step)
        self._note_inferred(graph, node)

    def _reads(self, graph: Graph, node: onnx.NodeProto, kind: str) -> tuple[Mapping[int, Sequence[Reads]], str]:
        names = node.input, node.output
        return reads_of(Node(kind, attributes_of(node), *names, graph.shapes, graph.constants, self._version()))

    def _note_inferred(self, graph: Graph, node: onnx.NodeProto) -> None:
        """Adds shapes that follow from the inputs of one node: the inference of a whole model stops at open extents."""
        constants, inputs = graph.constants, [tensor for tensor in node.input if tensor]
        if node.op_type == "GroupNormalization" and inputs[0] in graph.shapes:  # onnx infers nothing for it
            graph.shapes.setdefault(node.output[0], graph.shapes[inputs[0]])
            graph.dtypes.setdefault(node.output[0], graph.dtypes.get(inputs[0], ""))
        shapes = {tensor: graph.shapes.get(tensor, getattr(constants.get(tensor), "shape", None)) for tensor in inputs}
        if all(tensor in graph.shapes for tensor in node.output) or None in shapes.values() or bodies_of(node):
            return
        kinds = {dtype_of(number): number for number in onnx.TensorProto.DataType.values()}
        types = {
            tensor: onnx.helper.make_tensor_type_proto(kinds.get(graph.dtypes.get(tensor, ""), kinds["float32"]), shape)
            for tensor, shape in shapes.items()
        }
        values = {tensor: numpy_helper.from_array(constants[tensor]) for tensor in inputs if tensor in constants}
        try:
            schema = onnx.defs.get_schema(node.op_type, self.opsets[node.domain], node.domain)
            found = onnx.shape_inference.infer_node_outputs(schema, node, types, values)
        except Exception:  # an operator that ONNX does not know, or inputs that it refuses
            return
        for tensor, type in found.items():
            value = onnx.ValueInfoProto(name=tensor, type=type)
            shape = _shape_of(value)
            if shape is not None:
                graph.shapes.setdefault(tensor, shape)
                graph.dtypes.setdefault(tensor, dtype_of(type.tensor_type.elem_type))

    def _folded(self, node: onnx.NodeProto, constants: Mapping[str, Any]) -> list[np.ndarray[Any, Any]] | None:
        """Returns the results of a node with constant inputs; None if they are large or cannot be computed."""
        given = [constants[tensor] for tensor in node.input if tensor]
        if node.op_type in GROWING:
            wanted = elements(node.op_type, given)
            if wanted is None or wanted > MOST_CONSTANT:
                return None
        try:
            results = self._run(node, {tensor: constants[tensor] for tensor in node.input if tensor})
        except Exception:
            return None
        return results if all(isinstance(r, np.ndarray) and r.size <= MOST_CONSTANT for r in results) else None

    def _run(self, node: onnx.NodeProto, feeds: Mapping[str, Any]) -> list[Any]:
        return list(ReferenceEvaluator(node, opsets={"": self._version()}).run(None, dict(feeds)))

    def _version(self) -> int:
        return int(self.opsets.get("", self.opsets.get("ai.onnx", 1)))


def _shape_of(value: onnx.ValueInfoProto) -> tuple[int, ...] | None:
    if not value.type.HasField("tensor_type") or not value.type.tensor_type.HasField("shape"):
        return None
    dims = value.type.tensor_type.shape.dim
    return tuple(dim.dim_value for dim in dims) if all(dim.HasField("dim_value") for dim in dims) else None


def dtype_of(number: int) -> str:
    """Returns ONNX's name of an element type, but float32 and float64 for FLOAT and DOUBLE."""
    names = {v: k.lower() for k, v in onnx.TensorProto.DataType.items()}
    name = str(names.get(number, f"type {number}"))
    return {"float": "float32", "double": "float64"}.get(name, name)


def dim_name(value: onnx.ValueInfoProto, axis: int) -> str:
    """Returns the name of an open dimension of an input: its own, or else input.axis."""
    return value.type.tensor_type.shape.dim[axis].dim_param or f"{value.name}.{axis}"


def fix_sizes(graph: onnx.GraphProto, sizes: Mapping[str, int]) -> None:
    """Writes extents for open dimensions of a graph's inputs and results; shapes that were inferred are left out."""
    if not sizes:
        return
    del graph.value_info[:]
    for value in (*graph.input, *graph.output):
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if not dim.HasField("dim_value") and dim_name(value, axis) in sizes:
                dim.dim_value = int(sizes[dim_name(value, axis)])


def _sized(
    model: onnx.ModelProto, sizes: Mapping[str, int], others: tuple[int, int]
) -> tuple[onnx.ModelProto, list[str], dict[str, tuple[int, ...]]]:
    """Returns the model with a size for each open dimension, notes on assumed sizes, and all shapes that follow."""
    open_dims: dict[str, int] = {}
    light = onnx.ModelProto()
    light.CopyFrom(model)
    made = {tensor.name for tensor in light.graph.initializer}
    for value in light.graph.input:
        if value.name in made or not value.type.HasField("tensor_type"):
            continue
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.HasField("dim_value"):
                if dim.dim_value < 0:
                    raise ModelError(f"input {value.name!r}: axis {axis} has {dim.dim_value} elements")
                continue
            name = dim_name(value, axis)
            open_dims[name] = int(sizes.get(name, others[axis > 0]))
            dim.dim_value = open_dims[name]
    check_sizes(sizes, open_dims)
    if open_dims:  # shapes that were inferred for open sizes do not hold for given ones
        del light.graph.value_info[:]
        for value in light.graph.output:
            value.type.tensor_type.ClearField("shape")
    known: dict[str, tuple[int, ...]] = {}
    try:
        inferred = onnx.shape_inference.infer_shapes(light, data_prop=True)
    except Exception:
        inferred = light
    for value in (*inferred.graph.input, *inferred.graph.value_info, *inferred.graph.output):
        shape = _shape_of(value)
        if shape is not None:
            known[value.name] = shape
    assumed = [f"open size {name} taken as {size}" for name, size in open_dims.items()]
    return inferred, assumed, known

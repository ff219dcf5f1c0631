# SPDX-License-Identifier: Apache-2.0
"""Reads models of LiteRT (.tflite) as graphs of steps. Needs TensorFlow's description of the files, but runs no model."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from ._errors import ModelError, naming
from ._moves import MOST_CONSTANT
from ._regions import Graph
from ._tensorflow import OWN, Node, add, part_of, plain

MOST_BYTES = 1 << 31

# TensorFlow's names of LiteRT's operators.
KINDS = {
    "RESHAPE": "Reshape", "TRANSPOSE": "Transpose", "EXPAND_DIMS": "ExpandDims", "SQUEEZE": "Squeeze",
    "STRIDED_SLICE": "StridedSlice", "SLICE": "Slice", "PAD": "Pad", "PADV2": "PadV2", "CONCATENATION": "Concatenation",
    "PACK": "Pack", "UNPACK": "Unpack", "SPLIT": "Split", "SPLIT_V": "SplitV", "GATHER": "Gather", "GATHER_ND": "GatherNd",
    "TILE": "Tile", "BROADCAST_TO": "BroadcastTo", "CONV_2D": "Conv2D", "CONV_3D": "Conv3D",
    "DEPTHWISE_CONV_2D": "DepthwiseConv2dNative",
    "SPACE_TO_DEPTH": "SpaceToDepth", "DEPTH_TO_SPACE": "DepthToSpace", "SPACE_TO_BATCH_ND": "SpaceToBatchND",
    "BATCH_TO_SPACE_ND": "BatchToSpaceND", "SHAPE": "Shape", "RANGE": "Range", "FILL": "Fill", "ADD": "Add", "SUB": "Sub",
    "MUL": "Mul", "FLOOR_DIV": "FloorDiv", "FLOOR_MOD": "FloorMod", "MAXIMUM": "Maximum", "MINIMUM": "Minimum",
    "CAST": "Cast", "NEG": "Neg", "REDUCE_PROD": "Prod",
}  # fmt: skip
WINDOW = {
    "padding": "Padding", "sw": "StrideW", "sh": "StrideH", "dw": "DilationWFactor", "dh": "DilationHFactor",
    "activation": "FusedActivationFunction",
}  # fmt: skip
# For each operator, the table of its settings in the file, and TensorFlow's names of the settings.
OPTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "StridedSlice": ("StridedSliceOptions", {
        "begin_mask": "BeginMask", "end_mask": "EndMask", "ellipsis_mask": "EllipsisMask", "new_axis_mask": "NewAxisMask",
        "shrink_axis_mask": "ShrinkAxisMask", "offset": "Offset"}),
    "Concatenation": ("ConcatenationOptions", {"axis": "Axis", "activation": "FusedActivationFunction"}),
    "Pack": ("PackOptions", {"axis": "Axis"}),
    "Unpack": ("UnpackOptions", {"axis": "Axis"}),
    "Split": ("SplitOptions", {"num_split": "NumSplits"}),
    "Gather": ("GatherOptions", {"axis": "Axis", "batch_dims": "BatchDims"}),
    "SpaceToDepth": ("SpaceToDepthOptions", {"block_size": "BlockSize"}),
    "DepthToSpace": ("DepthToSpaceOptions", {"block_size": "BlockSize"}),
    "Conv2D": ("Conv2DOptions", WINDOW),
    "DepthwiseConv2dNative": ("DepthwiseConv2DOptions", {**WINDOW, "multiplier": "DepthMultiplier"}),
    "Conv3D": ("Conv3DOptions", {**WINDOW, "sd": "StrideD", "dd": "DilationDFactor"}),
    "Prod": ("ReducerOptions", {"keep_dims": "KeepDims"}),
}  # fmt: skip


def read(path: str) -> list[Graph]:
    """Returns the graphs of a file: the main graph, and the bodies of its nodes."""
    file = Path(path)
    try:
        with open(file, "rb") as opened:
            data = opened.read(MOST_BYTES)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(data) == MOST_BYTES:
        raise ModelError(f"{path}: has more than {MOST_BYTES} bytes")
    if data[4:8] != b"TFL3":
        raise ModelError(f"{path}: is no LiteRT model: its mark TFL3 is not there")
    try:
        return _Reader(part_of("tensorflow.lite.python.schema_py_generated", ".tflite files"), data, path).read()
    except (ImportError, ModelError):
        raise
    except Exception as error:  # the reader of flatbuffers has no common class for errors about damaged files
        raise ModelError(f"{path}: is no sound LiteRT model, or is cut short: {type(error).__name__}: {error}") from None


class _Reader:
    def __init__(self, schema: Any, data: bytes, path: str):
        self.schema, self.data, self.path = schema, data, path
        self.model: Any = schema.Model.GetRootAs(data, 0)
        # The list entries that may still be read: a file with more entries than bytes is refused, even if several pointers
        # share a list.
        self.left = len(data)
        self.builtin = _names(schema.BuiltinOperator)
        self.types = {number: name.lower() for number, name in _names(schema.TensorType).items()}

    def read(self) -> list[Graph]:
        """Returns a graph for each subgraph."""
        codes = [self._code(self.model.OperatorCodes(number)) for number in self._range(self.model.OperatorCodesLength())]
        count = self.model.SubgraphsLength()
        if count < 1:
            raise ModelError(f"{self.path}: is no LiteRT model: it has no graph")
        return [self._graph(self.model.Subgraphs(number), number, codes) for number in self._range(count)]

    def _range(self, count: int) -> range:
        self.left -= count
        if self.left < 0:
            raise ModelError(f"{self.path}: holds lists of more entries than it has bytes")
        return range(count)

    def _code(self, entry: Any) -> str:
        """Returns the name of an operator; for a custom operator its own name."""
        number = max(entry.BuiltinCode(), entry.DeprecatedBuiltinCode())
        name = self.builtin.get(number, f"operator {number}")
        if name == "CUSTOM":
            return f"CUSTOM {(entry.CustomCode() or b'').decode(errors='replace')}"
        return name

    def _graph(self, subgraph: Any, number: int, codes: list[str]) -> Graph:
        graph = Graph()
        names: list[str] = []
        taken: set[str] = set()
        self.large: set[str] = set()  # constants that are not read
        for place in self._range(subgraph.TensorsLength()):
            tensor = subgraph.Tensors(place)
            name = (tensor.Name() or b"").decode(errors="replace")
            name = name if name and name not in taken else f"{name}#{place}"
            taken.add(name)
            names.append(name)
            self._tensor(graph, tensor, name)
        inputs = [self._name(names, subgraph.Inputs(place)) for place in self._range(subgraph.InputsLength())]
        graph.results = {self._name(names, subgraph.Outputs(place)) for place in self._range(subgraph.OutputsLength())}
        for place, name in enumerate(inputs):
            tensor = subgraph.Tensors(subgraph.Inputs(place))
            for axis in self._range(tensor.ShapeSignatureLength()):
                if tensor.ShapeSignature(axis) < 0:
                    graph.notes.append(f"open size {name}.{axis} taken as {graph.shapes[name][axis]}")
        variables = {n for p, n in enumerate(names) if subgraph.Tensors(p).IsVariable()}
        made = {"", *inputs, *graph.constants, *self.large, *variables}
        where = f" in subgraph {number}" if number else ""
        for place in self._range(subgraph.OperatorsLength()):
            self._operator(graph, subgraph.Operators(place), place, where, (names, codes, made))
        return graph

    def _name(self, names: list[str], index: int) -> str:
        if index == -1:
            return ""
        if not 0 <= index < len(names):
            raise ModelError(f"{self.path}: names the tensor {index}; it has {len(names)}")
        return names[index]

    def _tensor(self, graph: Graph, tensor: Any, name: str) -> None:
        shape = tuple(int(tensor.Shape(axis)) for axis in self._range(tensor.ShapeLength()))
        if any(extent < 0 for extent in shape) or math.prod(shape) > 1 << 48:
            raise ModelError(f"tensor {name!r}: its shape {list(shape)} cannot be")
        graph.shapes[name] = shape
        dtype = graph.dtypes[name] = self.types.get(tensor.Type(), f"type {tensor.Type()}")
        number = tensor.Buffer()
        if not 0 <= number < self.model.BuffersLength():
            raise ModelError(f"tensor {name!r}: its buffer {number} is not there: the file has {self.model.BuffersLength()}")
        buffer = self.model.Buffers(number)
        size = buffer.DataLength()
        if size == 0:
            if number and buffer.Offset() > 1:  # the data of a large model lies behind the flatbuffer
                self.large.add(name)
            return
        try:
            item = np.dtype(dtype).itemsize
        except TypeError:
            self.large.add(name)
            return
        if size != math.prod(shape) * item:
            raise ModelError(f"tensor {name!r}: {size} bytes do not fit its shape {list(shape)}")
        if math.prod(shape) > MOST_CONSTANT:
            self.large.add(name)
            return
        graph.constants[name] = np.frombuffer(buffer.DataAsNumpy().tobytes(), dtype).reshape(shape)

    def _operator(
        self, graph: Graph, operator: Any, number: int, where: str, known: tuple[list[str], list[str], set[str]]
    ) -> None:
        names, codes, made = known
        if not 0 <= operator.OpcodeIndex() < len(codes):
            raise ModelError(f"operator #{number}: has the code {operator.OpcodeIndex()}; the file has {len(codes)}")
        code = codes[operator.OpcodeIndex()]
        label = f"{code} #{number}{where}"
        inputs = [self._name(names, operator.Inputs(place)) for place in self._range(operator.InputsLength())]
        outputs = [self._name(names, operator.Outputs(place)) for place in self._range(operator.OutputsLength())]
        for tensor in inputs:
            if tensor not in made:
                raise ModelError(f"{label}: its input {tensor!r} is made by no operator before it")
        made |= set(outputs)
        kind, attributes = KINDS.get(code, code), {}
        if code.startswith("CUSTOM Flex"):
            kind, attributes = code.removeprefix("CUSTOM Flex"), _flex(operator)
        elif code == f"CUSTOM {OWN}":
            kind, attributes = OWN, _options_of(operator).Value
        attributes |= self._options(kind, operator)
        if kind in ("Conv2D", "DepthwiseConv2dNative") and len(inputs) > 1:
            inputs[1] = _filters(kind, attributes, graph.constants, inputs[1])
        kind = "" if attributes.get("offset") or (kind == "Concatenation" and attributes["activation"]) else kind
        with naming(label):
            add(graph, Node(label, kind or code, attributes, [t for t in inputs if t], outputs), label, code)

    def _options(self, kind: str, operator: Any) -> dict[str, Any]:
        """Returns the settings of an operator under TensorFlow's names."""
        table = operator.BuiltinOptions()
        if kind not in OPTIONS or table is None:
            return {}
        form, fields = OPTIONS[kind]
        options: Any = getattr(self.schema, form)()
        options.Init(table.Bytes, table.Pos)
        values: dict[str, Any] = {name: getattr(options, method)() for name, method in fields.items()}
        if "sw" in values:
            for name, first in (("strides", "s"), ("dilations", "d")):
                values[name] = [1, *(values.pop(first + axis) for axis in "dhw" if first + axis in values), 1]
            values["padding"] = {0: "SAME", 1: "VALID"}.get(values["padding"], "")
        return values


def _names(numbers: Any) -> dict[int, str]:
    """Returns the words of an enumeration by their numbers."""
    return {value: name for name, value in vars(numbers).items() if isinstance(value, int)}


def _filters(kind: str, attributes: dict[str, Any], constants: dict[str, Any], name: str) -> str:
    """Adds a convolution's filters in TensorFlow's form as a constant, and returns its name. LiteRT has (O, H, W, C) or (1,
    H, W, C * M)."""
    weights = constants.get(name)
    if weights is None or weights.ndim != 4:
        return name
    if kind == "Conv2D":
        weights = weights.transpose(1, 2, 3, 0)
    else:
        weights = weights[0].reshape(*weights.shape[1:3], -1, int(attributes.get("multiplier") or 1))
    constants[f"{name} as filters"] = weights
    return f"{name} as filters"


def _options_of(operator: Any) -> Any:
    """Returns the settings of a custom operator, in the form of flexbuffers."""
    flexbuffers = part_of("flatbuffers.flexbuffers", ".tflite files")
    return flexbuffers.GetRoot(bytearray(operator.CustomOptionsAsNumpy().tobytes()))


def _flex(operator: Any) -> dict[str, Any]:
    """Returns the attributes of the TensorFlow operator that a custom operator of LiteRT wraps."""
    if not operator.CustomOptionsLength():
        return {}
    node = part_of("tensorflow.core.framework.node_def_pb2", ".tflite files").NodeDef()
    # The options are a list of the operator's name and its node.
    node.ParseFromString(bytes(_options_of(operator).AsVector[1].AsStringBytes))
    return {key: plain(value) for key, value in node.attr.items() if not key.startswith("_")}

# SPDX-License-Identifier: Apache-2.0
"""An ONNX backend (the interface of ``onnx.backend.base``) for models made of the operators of ``patchfold.onnx``.

Nodes may be Col2Im, SpaceToDepth, DepthToSpace of every opset that defines them, and Constant. Anything else is refused
when the model is prepared. Needs the ``onnx`` package; ``import patchfold`` does not.

Example:
    >>> import numpy as np, onnx
    >>> from onnx import TensorProto, helper
    >>> import patchfold.onnx.backend as backend
    >>> graph = helper.make_graph(
    ...     [helper.make_node("SpaceToDepth", ["x"], ["y"], blocksize=2)],
    ...     "example",
    ...     [helper.make_tensor_value_info("x", TensorProto.INT64, [1, 1, 2, None])],
    ...     [helper.make_tensor_value_info("y", TensorProto.INT64, [1, 4, 1, None])],
    ... )
    >>> model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    >>> backend.prepare(model).run([np.arange(4).reshape(1, 1, 2, 2)])[0].ravel()
    array([0, 1, 2, 3])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.backend.base
import onnx.checker
import onnx.defs
import onnx.inliner
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from .._core import Operator
from .._errors import Error, InvalidType, InvalidValue
from .._operators.table import OperatorSpec, operators

__all__ = [
    "PatchfoldBackend",
    "PreparedModel",
    "Unsupported",
    "is_compatible",
    "prepare",
    "run_model",
    "run_node",
    "supports_device",
]

NumpyArray = npt.NDArray[Any]
Values = dict[str, NumpyArray]

_DOMAINS = ("", "ai.onnx")


class Unsupported(Error, NotImplementedError):
    """An error about a valid model that this backend does not support."""


def _specs() -> dict[str, dict[int, OperatorSpec]]:
    """Returns the supported operators by the opset that defines them: {"Col2Im": {18: ..}, ..}."""
    found: dict[str, dict[int, OperatorSpec]] = {}
    for spec in operators():
        if spec.name.startswith("onnx."):
            name, version = spec.name.removeprefix("onnx.").split("-")
            found.setdefault(name, {})[int(version)] = spec
    return found


_SPECS = _specs()


def _apply(spec: OperatorSpec, data: NumpyArray, arguments: Mapping[str, Any]) -> NumpyArray:
    """Runs an operator as patchfold.run() does, with ONNX's names in its errors."""
    operator = Operator(spec.name, data=spec.data_input)
    result: NumpyArray = operator(data, None, *(arguments.get(argument.name) for argument in spec.arguments))
    return result


@dataclass(frozen=True)
class _Constant:
    output: str
    value: NumpyArray

    def run(self, values: Values) -> None:
        values[self.output] = self.value


@dataclass(frozen=True)
class _Call:
    """A node of one of patchfold's operators. ``inputs`` gives, for each argument that is an input, the name of its
    value."""

    spec: OperatorSpec
    data: str
    inputs: dict[str, str]
    attributes: dict[str, Any]
    output: str

    def run(self, values: Values) -> None:
        data = values[self.data]
        arguments = {name: self._integers(name, values[value]) for name, value in self.inputs.items()}
        arguments |= self.attributes
        if data.dtype.kind in "OUST":
            values[self.output] = self._moved_strings(data, arguments)
        else:
            values[self.output] = _apply(self.spec, data, arguments)

    def _integers(self, argument: str, value: NumpyArray) -> NumpyArray:
        if value.dtype != np.int64 or value.ndim != 1:
            raise InvalidType(self.spec.name, argument, "must be a list of int64", f"{value.dtype} of shape {value.shape}")
        return value

    def _moved_strings(self, data: NumpyArray, arguments: dict[str, Any]) -> NumpyArray:
        """Returns the result for strings by a move of their positions, since Python objects cannot be copied as bytes."""
        if self.spec.sums:
            raise InvalidType(self.spec.name, self.spec.data_input, "elements of this type cannot be added", "string")
        positions = _apply(self.spec, np.arange(data.size).reshape(data.shape), arguments)
        moved: NumpyArray = data.reshape(-1)[positions]
        return moved


def _unsupported(node: NodeProto, rule: str, given: str = "", expected: str = "") -> Unsupported:
    name = f"{node.domain or 'ai.onnx'}.{node.op_type}"
    label = f"node {node.name!r}" if node.name else f"node of {', '.join(node.output)}"
    return Unsupported(name, label, rule, given, expected)


def _spec(node: NodeProto, opset: int) -> OperatorSpec:
    """Returns the operator of a node in an opset."""
    versions = _SPECS[node.op_type]
    version = max((v for v in versions if v <= opset), default=0)
    # An installed onnx that is newer than the table may know a later definition.
    defined = onnx.defs.get_schema(node.op_type, opset, "").since_version
    if not version or defined > version:
        raise _unsupported(node, "is not run in this version", f"opset {opset}", ", ".join(str(v) for v in sorted(versions)))
    return versions[version]


def _array(tensor: TensorProto) -> NumpyArray:
    if tensor.data_location == TensorProto.EXTERNAL:
        raise InvalidValue("onnx", tensor.name, "must lie in the model; onnx.load() with its file brings it there")
    return numpy_helper.to_array(tensor)


def _constant(node: NodeProto) -> NumpyArray:
    (attribute,) = node.attribute
    value = helper.get_attribute_value(attribute)
    if attribute.name == "value":
        return _array(value)
    if attribute.name in ("value_int", "value_ints"):
        return np.array(value, np.int64)
    if attribute.name in ("value_float", "value_floats"):
        return np.array(value, np.float32)
    if attribute.name == "value_string":
        return np.array(value.decode(), object)
    if attribute.name == "value_strings":
        return np.array([text.decode() for text in value], object)
    raise _unsupported(node, "is not run with this attribute", attribute.name)


def _step(node: NodeProto, opsets: Mapping[str, int]) -> _Constant | _Call:
    """Returns a step whose `run` adds the output of a node to the values."""
    if node.domain not in _DOMAINS or node.op_type not in (*_SPECS, "Constant"):
        raise _unsupported(node, "is not an operator of this backend", expected=", ".join(sorted([*_SPECS, "Constant"])))
    if node.op_type == "Constant":
        return _Constant(node.output[0], _constant(node))
    spec = _spec(node, opsets[""])
    names = [argument.name for argument in spec.arguments if argument.is_input]
    data, *inputs = node.input
    given = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    attributes = {n: v.decode(errors="backslashreplace") if isinstance(v, bytes) else v for n, v in given.items()}
    return _Call(spec, data, dict(zip(names, inputs, strict=True)), attributes, node.output[0])


def _checked(info: ValueInfoProto, given: Any) -> NumpyArray:
    """Checks that an input has the type and shape that the model declares, and returns it as an array."""
    tensor_type = info.type.tensor_type
    value = _array(given) if isinstance(given, TensorProto) else np.asarray(given)
    if tensor_type.elem_type == TensorProto.STRING:
        fits, wanted = value.dtype.kind in "OUST", "string"
    else:
        try:
            dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor_type.elem_type))
        except KeyError:
            rule = "the model declares an element type that is not known"
            raise Unsupported(operator="onnx", argument=info.name, rule=rule, given=str(tensor_type.elem_type)) from None
        fits, wanted = value.dtype == dtype, dtype.name
    if not fits:
        raise InvalidType("onnx", info.name, "element type of the input", str(value.dtype), wanted)
    if tensor_type.HasField("shape"):
        declared = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor_type.shape.dim]
        pairs = zip(declared, value.shape, strict=False)
        if len(declared) != value.ndim or any(d is not None and d != extent for d, extent in pairs):
            expected = f"({', '.join('?' if d is None else str(d) for d in declared)})"
            raise InvalidValue("onnx", info.name, "shape of the input", str(value.shape), expected)
    return value


class PreparedModel(onnx.backend.base.BackendRep):
    """A checked model, which may be run many times.

    Attributes:
        operators: the operators of the model's nodes in the model's opset, as patchfold.operators() lists them, without
            Constant
    """

    def __init__(self, model: ModelProto) -> None:
        """Raises Unsupported for the first node that this backend does not support."""
        graph = model.graph
        if graph.sparse_initializer:
            name = graph.sparse_initializer[0].values.name
            raise Unsupported(operator="onnx", argument=name, rule="sparse initialisers are not taken")
        opsets = {"" if entry.domain in _DOMAINS else entry.domain: entry.version for entry in model.opset_import}
        self._steps = [_step(node, opsets) for node in graph.node]
        self.operators = [step.spec for step in self._steps if isinstance(step, _Call)]
        self._initialisers = {tensor.name: _array(tensor) for tensor in graph.initializer}
        self._inputs = {info.name: info for info in graph.input}
        self._outputs = [info.name for info in graph.output]

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Returns the outputs, in the order of the model and by their names.

        inputs: arrays in the order of the model's inputs, with or without those that have an initialiser;
            or {name: array}.
        """
        given = inputs if isinstance(inputs, Mapping) else self._named(inputs)
        values = dict(self._initialisers)
        for name, value in given.items():
            if name not in self._inputs:
                raise InvalidValue("onnx", name, "is not an input", expected=", ".join(self._inputs))
            values[name] = _checked(self._inputs[name], value)
        for name in self._inputs:
            if name not in values:
                raise InvalidValue("onnx", name, "the input is missing")
        for step in self._steps:
            step.run(values)
        return _result(self._outputs, values)

    def _named(self, inputs: Sequence[Any]) -> dict[str, Any]:
        required = [name for name in self._inputs if name not in self._initialisers]
        for names in (required, list(self._inputs)):
            if len(inputs) == len(names):
                return dict(zip(names, inputs, strict=True))
        raise InvalidValue("onnx", "inputs", "one array for each input", str(len(inputs)), ", ".join(required))


def _result(names: Sequence[str], values: Values) -> tuple[Any, ...]:
    outputs = onnx.backend.base.namedtupledict("Outputs", names)
    return outputs(*(values[name] for name in names))


class PatchfoldBackend(onnx.backend.base.Backend):
    """``onnx.backend.base.Backend`` on the CPU."""

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Returns whether prepare() takes the model."""
        try:
            cls.prepare(model, device, **kwargs)
        except (Error, onnx.checker.ValidationError):
            return False
        return True

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> PreparedModel:
        """Checks the model and its nodes.

        Errors: onnx.checker.ValidationError for an invalid model; Unsupported for the first node that this backend does not
        support, with the operator's name.
        """
        cls._check_device(device)
        super().prepare(model, device, **kwargs)
        return PreparedModel(onnx.inliner.inline_local_functions(model) if model.functions else model)

    @classmethod
    def run_node(
        cls, node: NodeProto, inputs: Any, device: str = "CPU", outputs_info: Any = None, **kwargs: Any
    ) -> tuple[Any, ...]:
        """Runs one node on arrays in the order of its inputs, or on {name: array}.

        opset_version=N chooses the opset; the default is the newest one of the onnx package. outputs_info is not needed.
        """
        cls._check_device(device)
        super().run_node(node, inputs, device, outputs_info, **kwargs)
        step = _step(node, {"": int(kwargs.get("opset_version", onnx.defs.onnx_opset_version()))})
        if isinstance(inputs, Mapping):
            inputs = [inputs[name] for name in node.input]
        if len(inputs) != len(node.input):
            raise InvalidValue(node.op_type, "inputs", "one array for each input", str(len(inputs)), ", ".join(node.input))
        values = {name: np.asarray(value) for name, value in zip(node.input, inputs, strict=True)}
        step.run(values)
        return _result(list(node.output), values)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Returns True for "CPU" only, which may have a number: "CPU:0"."""
        return device.split(":")[0] == "CPU"

    @classmethod
    def _check_device(cls, device: str) -> None:
        if not cls.supports_device(device):
            raise Unsupported(operator="onnx", argument="device", rule="is not supported", given=device, expected="CPU")


is_compatible = PatchfoldBackend.is_compatible
prepare = PatchfoldBackend.prepare
run_model = PatchfoldBackend.run_model
run_node = PatchfoldBackend.run_node
supports_device = PatchfoldBackend.supports_device

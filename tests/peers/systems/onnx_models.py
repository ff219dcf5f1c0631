# SPDX-License-Identifier: Apache-2.0
"""ONNX models of one node, made from a problem."""

import onnx
from onnx import AttributeProto, TensorProto, helper
from problem import Problem

from dialects import operators_of

ELEMENT_TYPES = {
    "bool": TensorProto.BOOL,
    "int8": TensorProto.INT8,
    "int16": TensorProto.INT16,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "uint8": TensorProto.UINT8,
    "uint16": TensorProto.UINT16,
    "uint32": TensorProto.UINT32,
    "uint64": TensorProto.UINT64,
    "float16": TensorProto.FLOAT16,
    "bfloat16": TensorProto.BFLOAT16,
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "complex64": TensorProto.COMPLEX64,
    "complex128": TensorProto.COMPLEX128,
}

# For each old version of an operator, the newest opset that still has it, since runtimes support the oldest opsets only in
# part.
_OPSETS = {"onnx.SpaceToDepth-1": 12, "onnx.DepthToSpace-1": 10, "onnx.DepthToSpace-11": 12}

_INPUTS = ("image_shape", "block_shape")


def _split(op: str) -> tuple[str, int]:
    name, version = op.removeprefix("onnx.").split("-")
    return name, int(version)


def _element_types(op: str) -> tuple[str, ...]:
    """Returns the element types that ONNX's schema of the operator allows."""
    name, version = _split(op)
    schema = onnx.defs.get_schema(name, version, "")
    assert schema.since_version == version
    allowed = set(schema.type_constraints[0].allowed_type_strs)
    return tuple(
        dtype
        for dtype, element in ELEMENT_TYPES.items()
        if f"tensor({helper.tensor_dtype_to_string(element).removeprefix('TensorProto.').lower()})" in allowed
    )


OPERATORS = {op: _element_types(op) for op in operators_of("onnx")}


def model(problem: Problem) -> onnx.ModelProto:
    """Returns a model whose data input "data" has the problem's type and rank but no extents."""
    name, version = _split(problem.op)
    inputs = {key: [int(v) for v in problem.attributes[key]] for key in _INPUTS if key in problem.attributes}
    node = helper.make_node(name, ["data", *inputs], ["result"])
    for key, value in problem.attributes.items():
        if key not in inputs and value is not None:
            kind = AttributeProto.INTS if isinstance(value, tuple) else None
            node.attribute.append(helper.make_attribute(key, value, attr_type=kind))
    element = ELEMENT_TYPES[problem.dtype]
    graph = helper.make_graph(
        [node],
        name,
        [helper.make_tensor_value_info("data", element, [None] * problem.data.ndim)],
        [helper.make_tensor_value_info("result", element, None)],
        [helper.make_tensor(key, TensorProto.INT64, [len(value)], value) for key, value in inputs.items()],
    )
    opset = helper.make_opsetid("", _OPSETS.get(problem.op, version))
    return helper.make_model(graph, opset_imports=[opset], ir_version=10)

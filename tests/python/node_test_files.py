# SPDX-License-Identifier: Apache-2.0
"""Makes small ONNX node tests, so that tests can damage them. Needs the onnx package."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper


def tensor(data_type: int, dims: list[int], raw_data: bytes) -> TensorProto:
    """Returns a tensor with the given bytes, even if their number does not match the shape."""
    return TensorProto(data_type=data_type, dims=dims, raw_data=raw_data)


@dataclass
class NodeTest:
    """A model and the tensors of its data set."""

    model: ModelProto
    inputs: list[TensorProto]
    outputs: list[TensorProto] = field(default_factory=list)

    @property
    def node(self) -> NodeProto:
        return self.model.graph.node[0]

    def write(self, folder: Path, data_set: str = "test_data_set_0") -> Path:
        """Writes the test's files into the folder as ONNX's node tests have them."""
        (folder / data_set).mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(self.model.SerializeToString())
        for kind, tensors in (("input", self.inputs), ("output", self.outputs)):
            for number, value in enumerate(tensors):
                (folder / data_set / f"{kind}_{number}.pb").write_bytes(value.SerializeToString())
        return folder


def node_test(op: str, inputs: list[Any], output: Any, opset: int = 18, **attributes: Any) -> NodeTest:
    """Returns a test of one node, with arrays as inputs and as the expected output."""
    names = ["data", "image_shape", "block_shape"][: len(inputs)]
    arrays = [np.asarray(value) for value in inputs]
    expected = np.asarray(output)

    def info(name: str, array: Any) -> Any:
        return helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), [f"{name}{axis}" for axis in range(array.ndim)]
        )

    graph = helper.make_graph(
        [helper.make_node(op, names, ["output"], **attributes)],
        "test",
        [info(name, array) for name, array in zip(names, arrays, strict=True)],
        [info("output", expected)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return NodeTest(model, [numpy_helper.from_array(array) for array in arrays], [numpy_helper.from_array(expected)])


def col2im(published: float = 24) -> NodeTest:
    """Returns ONNX's test_col2im_pads, with a 24 in place of the 14 that ONNX published by mistake."""
    columns = np.arange(1, 76, dtype=np.float32).reshape(1, 15, 5).transpose(0, 2, 1)
    image = [
        [8, 21, 24, 27, published],
        [38, 66, 69, 72, 54],
        [68, 111, 114, 117, 84],
        [98, 156, 159, 162, 114],
        [128, 201, 204, 207, 144],
    ]
    return node_test("Col2Im", [columns, [5, 5], [1, 5]], np.array([[image]], np.float32), pads=[0, 1, 0, 1])


def depth_to_space(values: Any = (1, 2, 3, 4), dtype: Any = np.float32, opset: int = 13, **more: Any) -> NodeTest:
    """Returns a test of DepthToSpace on four elements, which keep their order."""
    array = np.array(values, dtype)
    more.setdefault("blocksize", 2)
    return node_test("DepthToSpace", [array.reshape(1, 4, 1, 1)], array.reshape(1, 1, 2, 2), opset, **more)


def space_to_depth(opset: int) -> NodeTest:
    """Returns a test of SpaceToDepth on four elements, which keep their order."""
    array = np.arange(4, dtype=np.uint8)
    return node_test("SpaceToDepth", [array.reshape(1, 1, 2, 2)], array.reshape(1, 4, 1, 1), opset, blocksize=2)

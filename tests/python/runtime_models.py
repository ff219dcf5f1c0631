# SPDX-License-Identifier: Apache-2.0
"""A model of each operator for ONNX Runtime and OpenVINO, with its input and the result of the operator's formula."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import formulas
import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

Array = NDArray[Any]
ELEMENT = {np.dtype(name): number for name, number in {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
    "float64": 11, "uint32": 12, "uint64": 13}.items()}  # fmt: skip


@dataclass
class Case:
    """A node of the domain "patchfold", its input, and its expected output."""

    operator: str
    x: Array
    expected: Array
    inputs: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    domain: str = "patchfold"

    def model(self, shape: Any = None) -> onnx.ModelProto:
        """Returns the model. Its input x has the given shape, or the shape of self.x; its output is y."""
        element = ELEMENT[self.x.dtype]
        node = helper.make_node(
            self.operator, ["x", *self.inputs], ["y"], name="the_node", domain=self.domain, **self.attributes
        )
        constants = [numpy_helper.from_array(np.array(values, np.int64), name) for name, values in self.inputs.items()]
        x = helper.make_tensor_value_info("x", element, self.x.shape if shape is None else shape)
        y = helper.make_tensor_value_info("y", element, None)
        graph = helper.make_graph([node], "g", [x], [y], constants)
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid("patchfold", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def data(shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    """Returns an array of random bytes, so floats include NaN and infinity. NaNs of float16 are quiet, since runtimes that
    compute float16 as float32 make signalling NaNs quiet."""
    dtype = np.dtype(dtype)
    drawn = np.random.default_rng(len(shape)).integers(0, 256, (*shape, dtype.itemsize), np.uint8)
    if dtype.kind == "b":
        return (drawn[..., 0] % 2).astype(bool)
    made: Array = drawn.view(dtype)[..., 0]
    if dtype == np.float16:
        made.view(np.uint16)[np.isnan(made)] |= 0x0200
    return made


def numbers(shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    """Returns normally distributed numbers, without NaN and infinity."""
    return (np.random.default_rng(len(shape)).standard_normal(shape) * 40).astype(dtype)


def cases(dtype: Any = np.float32) -> list[Case]:
    """Returns a case of each operator, and a case of Col2Im with three axes. All pads differ, so that exchanged pads are
    noticed."""
    flat: dict[str, Any] = {"layout": "channels_first", "order": "channel", "positions": "flat"}
    window = ((3, 2), (2, 1), (1, 2), [(1, 2), (0, 1)])  # kernel, stride, dilation, pads
    image, nhwc = data((2, 3, 8, 6), dtype), data((2, 7, 8, 3), dtype)
    count = int(np.prod(formulas.position_counts((8, 6), *window)))
    columns = numbers((2, 3 * 6, count), dtype)
    deep = ((2, 2, 1), (1, 1, 2), (2, 1, 1), [(0, 1), (1, 0), (0, 0)])
    volume = numbers((1, 2 * 4, int(np.prod(formulas.position_counts((5, 4, 6), *deep)))), dtype)
    same = formulas.same_pads((7, 8), (3, 2), (2, 3), (1, 2), lower=False)
    batches = formulas.space_to_batch(image, (2, 3), [(2, 0), (1, 2)], layout="channels_first")
    blocks = {"block_shape": [1, 1, 2, 3]}
    settings = {"strides": [2, 1], "dilations": [1, 2], "pads": [1, 0, 2, 1]}
    many = formulas.space_to_depth(image, (2, 2), mode="blocks_first", layout="channels_first")
    return [
        Case("Im2Col", image, formulas.unfold(image, *window, **flat), {}, {"block_shape": [3, 2], **settings}),
        Case("Col2Im", columns, formulas.fold(columns, (8, 6), *window, **flat),
             {"image_shape": [8, 6], "block_shape": [3, 2]}, settings),
        Case("Col2Im", volume, formulas.fold(volume, (5, 4, 6), *deep, **flat),
             {"image_shape": [5, 4, 6], "block_shape": [2, 2, 1]},
             {"strides": [1, 1, 2], "dilations": [2, 1, 1], "pads": [0, 1, 0, 1, 0, 0]}),
        Case("ExtractImagePatches", nhwc,
             formulas.unfold(nhwc, (3, 2), (2, 3), (1, 2), same, layout="channels_last", order="kernel", positions="grid"),
             {}, {"ksizes": [1, 3, 2, 1], "strides": [1, 2, 3, 1], "rates": [1, 1, 2, 1], "padding": "SAME"}),
        Case("SpaceToBatch", image, batches, {**blocks, "pads_begin": [0, 0, 2, 1], "pads_end": [0, 0, 0, 2]}),
        Case("BatchToSpace", batches, image, {**blocks, "crops_begin": [0, 0, 2, 1], "crops_end": [0, 0, 0, 2]}),
        Case("SpaceToDepth", image, many, {}, {"blocksize": 2}),
        Case("DepthToSpace", many, image, {}, {"blocksize": 2, "mode": "DCR"}),
    ]  # fmt: skip


def example(word: str) -> str:
    """Returns the code of the block of docs/runtimes.md that begins with "```python WORD"."""
    page = Path(__file__).parents[2] / "docs" / "runtimes.md"
    found = re.findall(rf"(?ms)^```python {word}\n(.*?)^```$", page.read_text(encoding="utf-8"))
    assert len(found) == 1
    return str(found[0])


def same_bits(made: Array, expected: Array) -> bool:
    """Returns whether two arrays have one shape, one type and equal bytes."""
    alike = made.shape == expected.shape and made.dtype == expected.dtype
    return alike and np.ascontiguousarray(made).tobytes() == np.ascontiguousarray(expected).tobytes()

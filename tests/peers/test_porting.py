# SPDX-License-Identifier: Apache-2.0
"""Runs every call of docs/porting.md, in its system and in patchfold, on the same data."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

for system in ("torch", "tensorflow", "jax", "onnx", "openvino"):
    pytest.importorskip(system)
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import keras  # noqa: E402
import onnx  # noqa: E402
import openvino  # noqa: E402
import patchfold  # noqa: E402
import patchfold.jax  # noqa: E402
import patchfold.keras  # noqa: E402
import patchfold.onnx  # noqa: E402
import patchfold.openvino  # noqa: E402
import patchfold.tensorflow  # noqa: E402
import patchfold.torch  # noqa: E402
import tensorflow as tf  # noqa: E402
import torch  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from openvino import opset15  # noqa: E402
from patchfold._orders.elsewhere import PUT_BACK, ROWS  # noqa: E402


class OnnxNodes(dict[str, Any]):
    """A dict from the name of an ONNX operator to a function that runs ONNX's reference implementation."""

    def __missing__(self, kind: str) -> Any:
        if not onnx.defs.has(kind):
            raise KeyError(kind)

        def call(x: Any, *settings: Any, **attributes: Any) -> Any:
            names = ["x", *(f"s{number}" for number in range(len(settings)))]
            feeds = dict(zip(names, [x, *(np.array(values, np.int64) for values in settings)], strict=True))
            newest = onnx.defs.onnx_opset_version()
            node = onnx.helper.make_node(kind, names, ["y"], **attributes)
            return ReferenceEvaluator(node, opsets={"": newest}).run(None, feeds)[0]

        return call


def in_openvino(make: Any) -> Any:
    def call(x: Any, *settings: Any, **attributes: Any) -> Any:
        parameter = opset15.parameter(x.shape, np.float32)
        constants = [opset15.constant(np.array(values, np.int64)) for values in settings]
        model = openvino.Model([make(parameter, *constants, **attributes)], [parameter])
        return openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(x)[0]

    return call


def by_columns(x: Any) -> Any:
    """Returns the elements in MATLAB's order, column after column."""
    return x.T.reshape(-1)


def im2col(x: Any, block: tuple[int, int], kind: str) -> Any:
    """Returns MATLAB's im2col by its definition: a column for each block, with blocks and elements in MATLAB's order."""
    m, n = block
    if kind == "distinct":
        x = np.pad(x, [(0, -x.shape[0] % m), (0, -x.shape[1] % n)])
        starts = itertools.product(range(0, x.shape[1], n), range(0, x.shape[0], m))
    else:
        starts = itertools.product(range(x.shape[1] - n + 1), range(x.shape[0] - m + 1))
    return np.stack([by_columns(x[i : i + m, j : j + n]) for j, i in starts], 1)


def col2im(x: Any, block: tuple[int, int], size: tuple[int, int], kind: str) -> Any:
    """Returns MATLAB's col2im of distinct blocks by its definition."""
    assert kind == "distinct"
    (m, n), result = block, np.zeros(size, x.dtype)
    starts = itertools.product(range(0, size[1], n), range(0, size[0], m))
    for column, (j, i) in zip(x.T, starts, strict=True):
        result[i : i + m, j : j + n] = column.reshape(n, m).T
    return result


def space_to_depth(x: Any, block: tuple[int, int]) -> Any:
    """Returns MATLAB's spaceToDepth of (H, W, C) by its definition: all channels of an offset are neighbours."""
    (m, n), (h, w, c) = block, x.shape
    result = np.zeros((h // m, w // n, c * m * n), x.dtype)
    for a, b in itertools.product(range(m), range(n)):
        result[..., (a * n + b) * c : (a * n + b + 1) * c] = x[a::m, b::n]
    return result


def depth_to_space(x: Any, block: tuple[int, int]) -> Any:
    """Returns MATLAB's depthToSpace of (H, W, C) in its mode "dcr" by its definition."""
    (m, n), (h, w, c) = block, x.shape
    depth = c // (m * n)
    result = np.zeros((h * m, w * n, depth), x.dtype)
    for a, b in itertools.product(range(m), range(n)):
        result[a::m, b::n] = x[..., (a * n + b) * depth : (a * n + b + 1) * depth]
    return result


class Matlab(dict[str, Any]):
    im2col, col2im, spaceToDepth, depthToSpace = map(staticmethod, (im2col, col2im, space_to_depth, depth_to_space))

    def __missing__(self, name: str) -> Any:
        return getattr(Matlab, name)


def namespace(row: Any, x: Any) -> tuple[str, dict[str, Any]]:
    """Returns the text of a system's call as Python, and the values of the names in this text."""
    if row.system == "MATLAB":  # [3 2] is (3, 2) in Python
        return row.theirs.replace("[3 2]", "(3, 2)").replace("[9 8]", "(9, 8)").replace("[2 2]", "(2, 2)"), Matlab(x=x)
    if row.system == "ONNX":
        return row.theirs, OnnxNodes(x=x)
    if row.system == "OpenVINO":
        makers = {
            "Col2Im": opset15.col2im, "ExtractImagePatches": opset15.extract_image_patches,
            "SpaceToBatch": opset15.space_to_batch, "BatchToSpace": opset15.batch_to_space,
            "SpaceToDepth": opset15.space_to_depth, "DepthToSpace": opset15.depth_to_space,
        }  # fmt: skip
        return row.theirs, {"x": x, **{name: in_openvino(make) for name, make in makers.items()}}
    made = {"torch": torch.from_numpy, "TensorFlow": tf.constant, "JAX": jnp.asarray, "Keras": tf.constant}[row.system](x)
    return row.theirs, {"x": made, "torch": torch, "tf": tf, "jax": jax, "jnp": jnp, "keras": keras}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.system}: {row.theirs[:50]}")
def test_calls_give_the_same(row: Any) -> None:
    x = np.random.default_rng(1).integers(-99, 99, math.prod(row.shape)).reshape(row.shape).astype(np.float32)
    text, names = namespace(row, x)
    expected = np.asarray(eval(text, names))
    ours = np.asarray(eval(row.ours, {"x": x, "patchfold": patchfold}))
    np.testing.assert_array_equal(ours, expected)
    if row.same:
        np.testing.assert_array_equal(np.asarray(eval(row.same, {"x": names["x"], "patchfold": patchfold})), expected)


@pytest.mark.parametrize("system, cut, back", PUT_BACK)
def test_patches_are_put_back(system: str, cut: str, back: str) -> None:
    x = np.random.default_rng(1).random((2, 8, 10, 3), np.float32)
    patches = np.asarray(eval(cut, {"x": tf.constant(x), "tf": tf, "keras": keras}))
    np.testing.assert_array_equal(eval(back, {"patches": patches, "patchfold": patchfold}), x)

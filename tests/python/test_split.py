# SPDX-License-Identifier: Apache-2.0
"""Tests of split_for_tiles for ONNX models: tiles give the result for the whole array, or the error says why not."""

import sys

import numpy as np
import pytest
from model_zoo import node

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from patchfold.models import ModelError, split_for_tiles  # noqa: E402

RNG = np.random.default_rng(0)
CONSTANTS = {
    "w1": RNG.standard_normal((4, 3, 3, 3)), "w2": RNG.standard_normal((4, 4, 3, 3)) / 5,
    "w3": RNG.standard_normal((3, 8, 3, 3)), "twice": np.array([1, 1, 2, 2]), "scale": RNG.standard_normal(4),
    "shift": RNG.standard_normal(4), "two": RNG.standard_normal(2), "high": RNG.standard_normal((4, 1, 1)),
    "wide": RNG.standard_normal((4, 1, 1)),
}  # fmt: skip
INTEGERS = {"groups": np.array([0, 2, -1]), "tokens": np.array([0, 0, -1]), "height": np.array(2), "rows": np.array([0])}


def middle(x, y):
    """Returns nodes that see the whole plane: each place becomes a mean of all places."""
    return [
        node("Reshape", f"{x} tokens", "t"), node("Transpose", "t", "q", perm=[0, 2, 1]), node("MatMul", "q t", "qk"),
        node("Softmax", "qk", "p", axis=-1), node("MatMul", "p q", "v"), node("Transpose", "v", "u", perm=[0, 2, 1]),
        node("Shape", x, "shape"), node("Reshape", "u shape", y),
    ]  # fmt: skip


def decoder():
    """Returns attention at a low resolution, a GroupNorm as exporters write it, and a norm and a skip behind it."""
    return [
        node("Conv", "x w1", "a", pads=[1] * 4), *middle("a", "b"), node("Conv", "b w2", "c", pads=[1] * 4),
        helper.make_node(
            "Resize", ["c", "", "twice"], ["d"], coordinate_transformation_mode="asymmetric", nearest_mode="floor"
        ),
        node("Reshape", "d groups", "g"), node("InstanceNormalization", "g two two", "n", epsilon=1e-3),
        node("Shape", "d", "d_shape"), node("Reshape", "n d_shape", "m"), node("Mul", "m high", "m1"),
        node("Add", "m1 wide", "m2"), node("Conv", "m2 w2", "e", pads=[1] * 4),
        node("InstanceNormalization", "e scale shift", "f"), node("Concat", "f d", "h", axis=1),
        node("Conv", "h w3", "y", pads=[1] * 4),
    ]  # fmt: skip


def halved():
    """Returns a norm between a stride and a pool."""
    return [
        node("Conv", "x w1", "a", pads=[1] * 4, strides=[2, 2]),
        node("GroupNormalization", "a scale shift", "b", num_groups=2),
        node("MaxPool", "b", "c", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4),
        node("Conv", "c w2", "y", pads=[1] * 4),
    ]  # fmt: skip


def model(nodes, outputs="y", shape=(1, 3, "h", "w"), dtype=TensorProto.DOUBLE, opset=21):
    kinds = {TensorProto.DOUBLE: np.float64, TensorProto.FLOAT: np.float32}
    held = [numpy_helper.from_array(np.asarray(v, kinds[dtype]), k) for k, v in CONSTANTS.items() if k != "twice"]
    held.append(numpy_helper.from_array(CONSTANTS["twice"].astype(np.float32), "twice"))
    held += [numpy_helper.from_array(value, name) for name, value in INTEGERS.items()]
    results = [helper.make_tensor_value_info(name, dtype, None) for name in outputs.split()]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", dtype, shape)], results, held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


MODELS = {
    "decoder": (decoder(), "y d", (1, 3, 21, 26)), "halved": (halved(), "y", (2, 3, 50, 61)),
    "norm of the result": ([node("InstanceNormalization", "x s3 s3", "y")], "y", (2, 3, 20, 30)),
}  # fmt: skip
CONSTANTS["s3"] = RNG.standard_normal(3)


@pytest.fixture
def evaluator(monkeypatch):
    """Runs parts by onnx's own evaluator, since ONNX Runtime has no convolutions of float64."""
    monkeypatch.setitem(sys.modules, "onnxruntime", None)


@pytest.mark.usefixtures("evaluator")
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_parts_give_the_whole_result(name, keep):
    nodes, outputs, shape = MODELS[name]
    made = model(nodes, outputs, (shape[0], 3, "h", "w"))
    x = RNG.standard_normal(shape) + 2
    want = ReferenceEvaluator(made).run(None, {"x": x})
    split = split_for_tiles(made, keep=keep)
    assert sum(len(part.sums) for part in split.parts) == sum("Norm" in each.op_type for each in nodes)
    for tile in (24, None):
        found = split(x, tile=tile)
        for one, other in zip(found if isinstance(found, tuple) else [found], want, strict=True):
            # onnx's evaluator computes GroupNormalization in float32.
            error = 1e-5 if name == "halved" else 1e-9
            np.testing.assert_allclose(one, other, rtol=error, atol=error)


def test_models_of_fixed_extents_run_with_any():
    made = model(decoder(), shape=(1, 3, 32, 48), dtype=TensorProto.FLOAT)
    x = np.random.default_rng(0).standard_normal((1, 3, 24, 40)).astype(np.float32) / 10
    want = ReferenceEvaluator(model(decoder(), dtype=TensorProto.FLOAT)).run(None, {"x": x})[0]
    np.testing.assert_allclose(split_for_tiles(made)(x, tile=20), want, rtol=1e-4, atol=1e-3)


PLACES = {
    "extent as a number": [
        node("Shape", "a", "s"), node("Gather", "s rows", "n"), node("Cast", "n", "m", to=TensorProto.DOUBLE),
        node("Div", "a m", "b"),
    ],
    "first row": [node("Gather", "a rows", "r", axis=2), node("Add", "a r", "b")],
    "unknown": [helper.make_node("Celu", ["a"], ["r"]), node("CumSum", "r height", "b")],
}  # fmt: skip


@pytest.mark.usefixtures("evaluator")
@pytest.mark.parametrize("name", PLACES)
def test_what_depends_on_the_place_never_runs_in_tiles(name):
    nodes = [node("Conv", "x w1", "a", pads=[1] * 4), *PLACES[name], node("Conv", "b w2", "y", pads=[1] * 4)]
    made = model(nodes)
    x = RNG.standard_normal((1, 3, 40, 30))
    try:
        split = split_for_tiles(made)
    except ModelError as error:
        assert "no part can run in tiles" in str(error)
        return
    np.testing.assert_allclose(split(x, tile=12), ReferenceEvaluator(made).run(None, {"x": x})[0], rtol=1e-9, atol=1e-9)


@pytest.mark.usefixtures("evaluator")
def test_extents_that_change_the_pads_are_refused():
    nodes = [
        node("InstanceNormalization", "x s3 s3", "a"), node("Conv", "a w1", "b", strides=[2, 2], auto_pad="SAME_UPPER"),
        helper.make_node("Resize", ["b", "", "twice"], ["y"], mode="nearest", nearest_mode="floor"),
    ]  # fmt: skip
    made = model(nodes)
    split, x = split_for_tiles(made), RNG.standard_normal((1, 3, 40, 41))
    want = ReferenceEvaluator(made).run(None, {"x": x[..., :40]})[0]
    np.testing.assert_allclose(split(x[..., :40], tile=12), want, rtol=1e-9, atol=1e-9)
    with pytest.raises(ModelError, match=r"must be multiples of \(2, 2\) for the tiles that make y; given \(40, 41\)"):
        split(x, tile=12)


def test_wrong_calls_say_what_is_needed():
    split = split_for_tiles(model(halved()))
    for call, text in (
        (lambda: split(np.zeros((1, 3, 40, 40)), tile=2), "tile: must be at least"),
        (lambda: split([1.0]), "must be 1 NumPy arrays"),
        (lambda: split(np.zeros((1, 2, 40, 40))), r"must have the shape \(1, 3, 40, 40\)"),
        (lambda: split_for_tiles(model(halved()), [(1, 3, 40, 40)]), "input_shapes: must be left out"),
        (lambda: split_for_tiles(model(middle("x", "y"))), "no part can run in tiles: node .*"),
    ):
        with pytest.raises(ModelError, match=text):
            call()

# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.models.halo on whole models: what it reports of them, and errors of bad models."""

import json
import re
import subprocess
import sys
from fractions import Fraction

import numpy as np
import patchfold
import pytest
from model_zoo import Case, ints, node

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from patchfold.models import ModelError, halo  # noqa: E402
from patchfold.models._halo import CUTS  # noqa: E402


def weights(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def unet(shape=(1, 3, 64, 64)):
    """Returns a model with two levels: convolutions of 3, pools of 2, nearest upsampling, and skips."""
    nodes = [
        node("Conv", "x w1", "a", pads=[1] * 4),
        node("MaxPool", "a", "b", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", "b w2", "c", pads=[1] * 4),
        node("MaxPool", "c", "d", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", "d w2", "e", pads=[1] * 4),
        node("ConvTranspose", "e up", "f", strides=[2, 2]),
        node("Concat", "f c", "g", axis=1),
        node("Conv", "g w3", "h", pads=[1] * 4),
        node("ConvTranspose", "h up", "i", strides=[2, 2]),
        node("Concat", "i a", "j", axis=1),
        node("Conv", "j w3", "y", pads=[1] * 4),
    ]
    constants = {"w1": weights(4, 3, 3, 3), "w2": weights(4, 4, 3, 3), "w3": weights(4, 8, 3, 3), "up": weights(4, 4, 2, 2)}
    return Case("unet", shape, nodes, None, constants=constants)


def test_numbers_of_a_unet_do_not_depend_on_the_size():
    # Windows of 3 at scales 1, 2, 4, 2, 1 reach 1 + 2 + 4 + 2 + 1; the places within cells of 4 differ by up to 3.
    numbers = (13, 13, 4, Fraction(1))
    for size in (16, 64, 128):
        found = {each.axis: each for each in halo(unet((1, 3, size, size)).model()).halos}
        for axis in (2, 3):
            each = found[axis]
            assert (each.before, each.after, each.alignment, each.scale) == numbers and each.output_axis == axis
        assert found[1].before is None and found[1].unbounded_by[0].startswith("node Conv #")
    assert found[2].overlap == 28


def test_tiles_of_a_unet_are_the_whole_result():
    case = unet((1, 3, 4, 48))
    run = ReferenceEvaluator(unet((1, 3, "h", "w")).model())
    (each,) = [each for each in halo(case.model()).halos if each.axis == 3]
    x = np.random.default_rng(0).standard_normal((3, 4, 80)).astype(np.float32)

    def net(part):
        return run.run(None, {"x": part[None]})[0][0]

    tiled = patchfold.apply_tiled(
        net, x, 40, axes=-1, overlap=each.overlap, align=each.alignment, reduce="center", progress=False
    )
    np.testing.assert_allclose(tiled, net(x), rtol=1e-4, atol=1e-4)
    less = patchfold.apply_tiled(net, x, 40, axes=-1, overlap=each.overlap - 8, align=4, reduce="center", progress=False)
    assert np.abs(less - net(x)).max() > 1e-3


def test_open_sizes_are_given():
    model = unet((1, 3, "h", "w")).model()
    report = halo(model, sizes={"h": 32})
    assert report.notes == ("open size h taken as 32", "open size w taken as 64")
    assert halo(model).halos[-1] == report.halos[-1]
    with pytest.raises(ModelError, match="no open dimension 'd'"):
        halo(model, sizes={"d": 4})


def test_text_and_json_say_the_same(tmp_path):
    path = tmp_path / "unet.onnx"
    onnx.save(unet().model(), path)
    call = [sys.executable, "-m", "patchfold.models", "halo", str(path)]
    text = subprocess.run(call, capture_output=True, text=True, check=True).stdout
    assert f"{path}\n" in text
    assert "y along axis 2 of x: 13 before, 13 after; alignment 4; scale 1; overlap 28" in text
    assert "y sees all of axis 1 of x\n  node Conv #0 (Conv): sums over the channels" in text
    held = json.loads(subprocess.run([*call, "--json"], capture_output=True, text=True, check=True).stdout)
    assert [each["overlap"] for each in held["halos"]] == [None, 28, 28] and held["halos"][1]["scale"] == "1"
    call[-1] = str(tmp_path / "none.onnx")
    missing = subprocess.run(call, capture_output=True, text=True)
    assert missing.returncode == 1 and "cannot be read" in missing.stderr


def model_of(nodes, inputs, outputs, constants=None, opset=19):
    """Returns a model with several inputs and outputs. `inputs` has the shapes of the inputs by name."""
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    held = [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in (constants or {}).items()]
    return helper.make_model(
        helper.make_graph(nodes, "g", values, results, held),
        opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("far", 1)],
    )


def test_each_output_and_input_has_its_own_numbers():
    model = model_of(
        [node("Conv", "a w", "c", pads=[2, 2]), node("Add", "c b", "sum"), node("Relu", "b", "other")],
        {"a": [1, 2, 20], "b": [1, 2, 20]}, ["sum", "other"], {"w": weights(2, 2, 5)},
    )  # fmt: skip
    found = {(each.output, each.input): each for each in halo(model).halos if each.axis == 2}
    assert [(key, each.before) for key, each in found.items()] == [
        (("sum", "a"), 2), (("sum", "b"), 0), (("other", "b"), 0)
    ]  # fmt: skip


def test_what_depends_on_places_is_noted():
    corners = {"mode": "linear", "coordinate_transformation_mode": "align_corners"}
    nodes = [node("Add", "x p", "a"), helper.make_node("Resize", ["a", "", "s"], ["y"], **corners)]
    model = model_of(nodes, {"x": [1, 1, 20]}, ["y"], {"p": weights(1, 1, 20), "s": np.array([1, 1, 2], np.float32)})
    notes = halo(model).notes
    assert [note.partition(":")[0] for note in notes] == ["node Add #0 (Add)", "node Resize #1 (Resize)"]
    assert "a constant has a value for each place" in notes[0] and "depend on the extent" in notes[1]
    plain = model_of([node("Mul", "x p", "y")], {"x": [1, 1, 20]}, ["y"], {"p": weights(1, 1, 1)})
    assert halo(plain).notes == ()


PLACES = {
    "coordinates": ([node("Concat", "x p", "y", axis=1)], {"p": weights(1, 1, 20, 20)}, "a constant has a value"),
    "triangle": ([node("Trilu", "x", "y")], {}, "depends on the place"),
    "scales": (
        [node("Cast", "x", "q", to=3), node("DequantizeLinear", "q p", "y", axis=2)], {"p": weights(20)}, "a constant"
    ),
    "noise": ([node("RandomUniformLike", "x", "a"), node("Add", "x a", "y")], {}, "a constant has a value"),
    "dropout": ([node("Dropout", "x r t", "y")], {"r": np.float32(0.5), "t": np.bool_(True)}, "draws random numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_places_and_random_numbers_are_noted(name):
    nodes, constants, text = PLACES[name]
    found = {each.axis: each for each in halo(model_of(nodes, {"x": [1, 2, 20, 20]}, ["y"], constants)).halos}
    assert found[2].before == 0 and text in found[2].notes[0], found[2]
    assert name != "coordinates" or found[1].notes == ()


def test_old_norms_that_train_see_the_plane():
    nodes = [node("BatchNormalization", "x o o o o", "y m v s t")]
    found = halo(model_of(nodes, {"x": [1, 2, 20]}, ["y"], {"o": np.ones(2, np.float32)}, opset=9)).halos
    assert all("trains" in each.unbounded_by[0] for each in found if each.axis == 2)


def test_a_large_slice_is_followed():
    ends = {"begin": np.array([2]), "end": np.array([94]), "axes": np.array([2])}
    found = halo(model_of([node("Slice", "x begin end axes", "y")], {"x": [1, 3, 96, 64]}, ["y"], ends)).halos
    assert [(each.before, each.after) for each in found] == [(0, 0), (-2, 2), (0, 0)]


def test_crops_are_noted_and_other_slices_are_not():
    held = {"two": [2], "end": [94], "axes": [2], "pads": [0, 0, 2, 0, 0, 0, 2, 0], "zero": [0], "one": [1], "steps": [2],
            "far": [1 << 31], "blocks": [1, 3, 48, 2, 64], "whole": [1, 1, 96, 64]}  # fmt: skip
    constants = {name: np.array(value) for name, value in held.items()} | {"w": weights(3, 3, 5, 1)}

    def notes(*nodes):
        return [note.partition(": ")[::2] for note in halo(model_of(nodes, {"x": [1, 3, 96, 64]}, ["y"], constants)).notes]

    pad = node("Pad", "a pads", "y", mode="reflect")
    assert notes(node("Slice", "x two end axes", "a"), pad) == [("node Slice #0 (Slice)", CUTS)]
    assert notes(node("Conv", "x w", "a"), pad) == []
    even, odd = node("Slice", "x zero far axes steps", "a"), node("Slice", "x one far axes steps", "b")
    assert notes(even, odd, node("Add", "a b", "y")) == []
    first = node("Slice", "a zero one one", "b")
    assert notes(node("Reshape", "x blocks", "a"), first, node("Reshape", "b whole", "y")) == []


def branches():
    """Returns a node If whose branches take x from outside."""
    bodies = [
        helper.make_graph([node("Relu", "x", f"{name}_y")], name, [], [helper.make_tensor_value_info(f"{name}_y", 1, None)])
        for name in ("then", "else")
    ]
    return helper.make_node("If", ["c"], ["y"], then_branch=bodies[0], else_branch=bodies[1])


UNBOUNDED = {
    "branches": (
        [node("ReduceMax", "x", "m", keepdims=0), node("Cast", "m", "c", to=9), branches()],
        {},
        "If.*: holds graphs",
    ),
    "unknown": ([helper.make_node("Warp", ["x"], ["y"], domain="far")], {}, r"far\.Warp.*: is not known here"),
    "recurrent": (
        [node("LSTM", "x w r", "y", hidden_size=2)],
        {"w": weights(1, 8, 20), "r": weights(1, 8, 2)},
        "whole sequence",
    ),
    "computed settings": (
        [
            node("Shape", "x", "s"),
            node("ReduceMax", "x", "m", keepdims=0),
            node("Cast", "m", "i", to=7),
            node("Unsqueeze", "i z", "j"),
            node("Slice", "x z j z", "y"),
        ],
        {"z": ints(0)},
        "computed from data",
    ),
    "computed filter": ([node("Conv", "x x", "y", pads=[1, 1])], {}, "computed"),
    "huge kernel": (
        [node("MaxPool", "x", "y", kernel_shape=[1 << 20], pads=[1 << 19, 1 << 19])],
        {},
        "more than 65536 elements",
    ),
    "far strides": (
        [node("Conv", "x w", "a", strides=[1 << 30], pads=[1, 1]), node("Conv", "a w", "y", strides=[1 << 30], pads=[1, 1])],
        {"w": weights(2, 2, 3)},
        "reaches over",
    ),
    "training": ([node("BatchNormalization", "x o o o o", "y", training_mode=1)], {"o": np.ones(2, np.float32)}, "trains"),
}


@pytest.mark.parametrize("name", UNBOUNDED)
def test_nodes_that_are_not_followed_are_named(name):
    nodes, constants, reason = UNBOUNDED[name]
    report = halo(model_of(nodes, {"x": [1, 2, 20]}, ["y"], constants))
    (each,) = [each for each in report.halos if each.axis == 2]
    assert each.before is None and each.overlap is None
    assert any(re.search(reason, text) for text in each.unbounded_by), each


BAD = {
    "zero stride": ([node("Conv", "x w", "y", strides=[0])], "node Conv #0 .*strides: must be 1 numbers from 1"),
    "negative dilation": ([node("Conv", "x w", "y", dilations=[-1])], "dilations: must be 1 numbers from 1"),
    "two strides": ([node("Conv", "x w", "y", strides=[1, 1])], "strides: must be 1 numbers"),
    "stride as text": ([node("Conv", "x w", "y", strides="1")], "strides: must be 1 numbers"),
    "groups": ([node("Conv", "x w", "y", group=3)], "group: must divide 2 channels"),
    "no groups": ([node("Conv", "x w", "y", group=0)], "group: must divide"),
    "kernel": ([node("MaxPool", "x", "y", kernel_shape=[1 << 40])], "kernel: must have 1 extents"),
    "no kernel": ([node("MaxPool", "x", "y")], "settings are not sound"),
    "padding rule": ([node("MaxPool", "x", "y", kernel_shape=[2], auto_pad="MAYBE")], "'MAYBE' is no rule"),
    "pads": ([node("AveragePool", "x", "y", kernel_shape=[2], pads=[1])], "pads: must be 2 numbers"),
    "axis": ([node("Softmax", "x", "y", axis=5)], "axis: must be from -3 to 2"),
    "equation": ([node("Einsum", "x", "y", equation="ab->a")], "does not fit a tensor of 3 axes"),
    "transposed stride": ([node("ConvTranspose", "x w", "y", strides=[0])], "strides: must be 1 numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_settings_are_named(name):
    nodes, text = BAD[name]
    with pytest.raises(ModelError, match=text):
        halo(model_of(nodes, {"x": [1, 2, 20]}, ["y"], {"w": weights(2, 2, 3)}))


def test_bad_models_are_refused(tmp_path):
    with pytest.raises(ModelError, match="input 'x': its shape is not in the model"):
        halo(model_of([node("Relu", "x", "y")], {"x": None}, ["y"]))
    path = tmp_path / "cut.onnx"
    path.write_bytes(unet().model().SerializeToString()[:200])
    with pytest.raises(ModelError, match="cut short"):
        halo(str(path))
    with pytest.raises(ModelError, match="must be an .onnx"):
        halo(tmp_path / "model.txt")
    with pytest.raises(ModelError, match="input_shapes: must be left out"):
        halo(path, [(1, 3)])


def test_long_chains_are_followed():
    chain = [node("Identity", f"t{k}", f"t{k + 1}") for k in range(2000)]
    nodes = [node("Relu", "x", "t0"), *chain, node("Relu", "t2000", "y")]
    (each,) = halo(model_of(nodes, {"x": [1, 1, 6]}, ["y"])).halos
    assert (each.before, each.after) == (0, 0)


def test_a_model_without_inputs_has_no_halo():
    report = halo(model_of([node("Relu", "w", "y")], {}, ["y"], {"w": weights(3)}))
    assert report.halos == () and "no output depends" in str(report)

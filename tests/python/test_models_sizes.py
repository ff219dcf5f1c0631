# SPDX-License-Identifier: Apache-2.0
"""Tests of open and given sizes of models: what does not fit, what is written, and what stays."""

import subprocess
import sys

import numpy as np
import pytest
from model_zoo import Case, ints, node

onnx = pytest.importorskip("onnx")
from patchfold.models import ModelError, inspect, portable  # noqa: E402
from test_models_portable import kinds, run  # noqa: E402


def chain(shape):
    """Returns a model of an image of open height that moves blocks of 4 rows and columns through a tensor of 6 axes."""
    constants = {"first": ints(1, 2, -1, 4, 2, 4), "last": ints(1, -1, 32)}
    nodes = [
        node("Reshape", "x first", "a"), node("Transpose", "a", "b", perm=[0, 2, 4, 1, 3, 5]), node("Reshape", "b last", "y")
    ]  # fmt: skip
    return Case("open height", shape, nodes, None, constants=constants)


def test_open_sizes_that_do_not_fit_are_named():
    case = chain((1, 2, "h", 8))
    case.constants |= {"first": ints(1, 2, -1, 5, 2, 4), "last": ints(1, -1, 40)}
    text = r"node Reshape #0 \(Reshape\): open size h taken as 64, which does not fit: .*"
    with pytest.raises(ModelError, match=text + "; give open extents by sizes"):
        portable(case.model(), "coreml")
    assert any(
        note.startswith("node Reshape #0 (Reshape): open size h") for note in inspect(case.model(), timed=False).notes
    )
    model = portable(case.model(), "coreml", sizes={"h": 10})
    x = np.random.default_rng(0).random((1, 2, 10, 8), np.float32)
    np.testing.assert_array_equal(run(model, x), run(case.model(), x))


def test_given_sizes_are_the_extents_of_the_written_model():
    case = chain((1, 2, "h", 8))
    model = portable(case.model(), "coreml", sizes={"h": 12})
    assert [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim] == [1, 2, 12, 8]
    assert [dim.dim_param for dim in case.model().graph.input[0].type.tensor_type.shape.dim] == ["", "", "h", ""]


def test_image_shape_that_follows_from_the_sizes_is_known():
    nodes = [
        node("Shape", "x", "s"), node("Gather", "s two", "l"), node("Add", "l one", "h"), node("Concat", "h h", "i", axis=0),
        node("Col2Im", "x i k", "y"),
    ]  # fmt: skip
    constants = {"one": ints(1), "two": ints(2), "k": ints(4, 4)}
    case = Case("computed", (1, 16, "l"), nodes, None, constants=constants)
    with pytest.raises(ModelError, match="is computed, or not loaded; if open extents are why, give these by sizes"):
        portable(case.model(), "tensorrt")
    for target in ("openvino", "onnx:18"):  # they have the operator, whatever its image
        assert "Col2Im" in kinds(portable(case.model(), target))
    model = portable(case.model(), "tensorrt", sizes={"l": 4})
    assert "Col2Im" not in kinds(model)
    x = np.random.default_rng(0).random((1, 16, 4), np.float32)
    np.testing.assert_array_equal(run(model, x), run(case.model(), x))


def test_chains_of_unknown_extents_are_named(tmp_path):
    path, code = tmp_path / "m.onnx", {}
    for height in (6, "h"):
        constants = {"first": ints(0, 2, -1, 2, 4, 2), "last": ints(0, 8, -1, 4)}
        nodes = [
            node("Reshape", "x first", "a"), node("Transpose", "a", "b", perm=[0, 1, 3, 5, 2, 4]),
            node("Reshape", "b last", "y"),
        ]  # fmt: skip
        onnx.save(Case("unshuffle", ("n", 2, height, 8), nodes, None, constants=constants).model(), path)
        program = [sys.executable, "-m", "patchfold.onnxruntime", path, tmp_path / f"{height}.onnx"]
        code[height] = subprocess.run(program, capture_output=True, text=True)
    assert code[6].returncode == 0 and code["h"].returncode == 3
    assert (
        code["h"]
        .stdout.splitlines()[-1]
        .startswith("  node Reshape #0 .. Reshape #2 (space_to_depth): its extents are unknown; give them by sizes")
    )
    program = [sys.executable, "-m", "patchfold.onnxruntime", path, tmp_path / "sized.onnx", "--size"]
    assert subprocess.run([*program, "h=6"], capture_output=True).returncode == 0
    model = onnx.load(tmp_path / "sized.onnx")
    assert kinds(model) == {"SpaceToDepth"}
    assert [dim.dim_value or dim.dim_param for dim in model.graph.input[0].type.tensor_type.shape.dim] == ["n", 2, 6, 8]
    program[4] = tmp_path / "none.onnx"
    wrong = subprocess.run([*program, "height=6"], capture_output=True, text=True)
    assert wrong.returncode == 1 and "the model has no open dimension 'height'; it has n, h" in wrong.stderr
    assert subprocess.run([*program, "h=none"], capture_output=True).returncode == 2

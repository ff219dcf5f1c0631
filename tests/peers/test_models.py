# SPDX-License-Identifier: Apache-2.0
"""Compares models written by patchfold.models.portable with the original models, in ONNX Runtime and OpenVINO."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import openvino
import patchfold.tensorflow
import pytest
from model_zoo import CASES, Case
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator
from patchfold.models import inspect, portable
from patchfold.models.__main__ import time_of

Floats = NDArray[np.float32]


def in_onnxruntime(model: onnx.ModelProto, x: Floats) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    model.ir_version = min(model.ir_version, 10)
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, {"x": x})[0]


def in_openvino(model: onnx.ModelProto, x: Floats) -> Any:
    core = openvino.Core()
    # OpenVINO computes in float32, like the model.
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return compiled({"x": x})[0]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_files_of_openvino_hold_the_same(case: Case, tmp_path: Path) -> None:
    model = openvino.Core().read_model(case.model().SerializeToString())
    openvino.save_model(model, tmp_path / "m.xml", compress_to_fp16=False)
    found = [(finding.operator, finding.arguments) for finding in inspect(tmp_path / "m.xml", timed=False).findings]
    assert found == ([] if case.operator is None else [(case.operator, case.arguments)])


@pytest.mark.parametrize("target", ["basic", "coreml", "litert", "openvino", "tensorrt"])
@pytest.mark.parametrize("run", [in_onnxruntime, in_openvino])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_model_computes_the_same(case: Case, run: Any, target: str) -> None:
    x = np.random.default_rng(1).standard_normal(case.shape).astype(np.float32)
    expected = ReferenceEvaluator(case.model()).run(None, {"x": x})[0]
    np.testing.assert_array_equal(run(portable(case.model(), target), x).view(np.uint32), expected.view(np.uint32))


def extracting(padding: str) -> onnx.ModelProto:
    """Returns a model with TensorFlow's ExtractImagePatches as tf2onnx exports it."""
    settings = {"k": (1, 3, 2, 1), "s": (1, 2, 4, 1), "r": (1, 2, 1, 1)}
    constants = {name: np.array(values, np.int32) for name, values in settings.items()}
    extract = onnx.helper.make_node("ExtractImagePatches", list("xksrp"), ["y"], domain="ai.onnx.contrib")
    model = Case("patches", ("n", 9, 11, 3), [extract], None, constants=constants).model()
    model.graph.initializer.append(onnx.helper.make_tensor("p", onnx.TensorProto.STRING, [1], [padding.encode()]))
    model.opset_import.append(onnx.helper.make_opsetid("ai.onnx.contrib", 1))
    return model


@pytest.mark.parametrize("run", [in_onnxruntime, in_openvino])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_patches_of_tf2onnx_run(padding: str, run: Any) -> None:
    x = np.random.default_rng(1).standard_normal((2, 9, 11, 3)).astype(np.float32)
    expected = patchfold.tensorflow.extract_image_patches(x, [1, 3, 2, 1], [1, 2, 4, 1], [1, 2, 1, 1], padding)
    made = run(portable(extracting(padding), "basic"), x)
    np.testing.assert_array_equal(made.view(np.uint32), expected.view(np.uint32))


def test_command_prints_nodes_and_times(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == "Col2Im itself")
    path, out = tmp_path / "m.onnx", tmp_path / "out.onnx"
    onnx.save(case.model(), path)
    program = [sys.executable, "-m", "patchfold.models", "portable", str(path), "tensorrt", str(out)]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith(f"{out}: 1 nodes before, ")
    assert re.fullmatch(r"ONNX Runtime: [\d.e-]+ ms before, [\d.e-]+ ms after", done.stdout.splitlines()[1])
    double = Case("d", (1, 4, 12), case.nodes, None, constants=case.constants, dtype=onnx.TensorProto.DOUBLE)
    onnx.save(double.model(), tmp_path / "double.onnx")
    assert time_of(str(tmp_path / "double.onnx"), {}).startswith("no time (")

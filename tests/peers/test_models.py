# SPDX-License-Identifier: Apache-2.0
"""Models that patchfold.models.portable wrote, in ONNX Runtime and OpenVINO, beside the models as they were."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import openvino
import pytest
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
from model_zoo import CASES, Case  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from patchfold.models import inspect, portable  # noqa: E402

Floats = NDArray[np.float32]


def in_onnxruntime(model: onnx.ModelProto, x: Floats) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    model.ir_version = min(model.ir_version, 10)
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, {"x": x})[0]


def in_openvino(model: onnx.ModelProto, x: Floats) -> Any:
    core = openvino.Core()
    # Sums in float32, as they are written.
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return compiled({"x": x})[0]


# claim: models-openvino
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_files_of_openvino_hold_the_same(case: Case, tmp_path: Path) -> None:
    model = openvino.Core().read_model(case.model().SerializeToString())
    openvino.save_model(model, tmp_path / "m.xml", compress_to_fp16=False)
    found = [(finding.operator, finding.arguments) for finding in inspect(tmp_path / "m.xml", timed=False).findings]
    assert found == ([] if case.operator is None else [(case.operator, case.arguments)])


@pytest.mark.parametrize("run", [in_onnxruntime, in_openvino])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_model_computes_the_same(case: Case, run: Any) -> None:
    x = np.random.default_rng(1).standard_normal(case.shape).astype(np.float32)
    expected = ReferenceEvaluator(case.model()).run(None, {"x": x})[0]
    np.testing.assert_array_equal(run(portable(case.model(), "basic"), x), expected)

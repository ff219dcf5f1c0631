# SPDX-License-Identifier: Apache-2.0
"""Runs models in ONNX Runtime and OpenVINO, with patchfold's library and without it."""

import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import openvino
import patchfold.onnxruntime
import patchfold.openvino
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
os.environ.setdefault("ORT_DISABLE_ALL_LOGS", "1")
warnings.filterwarnings("ignore", category=DeprecationWarning)

Array = NDArray[Any]
OURS = ("Col2Im", "DepthToSpace", "SpaceToDepth")


def session(model: onnx.ModelProto, ours: bool, threads: int = 2) -> Any:
    """Returns a session of ONNX Runtime for the model or, with `ours`, for patchfold.onnxruntime.convert(model)."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    if ours:
        options.register_custom_ops_library(patchfold.onnxruntime.library())
        model = patchfold.onnxruntime.convert(model)
    else:
        model = onnx.ModelProto.FromString(model.SerializeToString())
    model.ir_version = min(model.ir_version, 10)
    if all(node.domain == "patchfold" for node in model.graph.node):
        # Lowers opsets that this ONNX Runtime does not know, which changes nothing: all nodes are patchfold's.
        for entry in model.opset_import:
            entry.version = min(entry.version, 21)
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def in_onnxruntime(model: onnx.ModelProto, inputs: Sequence[Array], ours: bool) -> list[Array]:
    made = session(model, ours)
    results: list[Array] = made.run(None, {entry.name: x for entry, x in zip(made.get_inputs(), inputs, strict=True)})
    return results


def core(ours: bool) -> Any:
    made = openvino.Core()
    if ours:
        made.add_extension(patchfold.openvino.extension())
    return made


def compiled(model: Any, ours: bool, threads: int = 2) -> Any:
    """Returns `model` (an ONNX model, a file or a model of OpenVINO), compiled by OpenVINO with sums in float32."""
    runtime = core(ours)
    if isinstance(model, onnx.ModelProto):
        model = runtime.read_model(model.SerializeToString())
    elif isinstance(model, Path):
        model = runtime.read_model(model)
    settings = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
    return runtime.compile_model(model, "CPU", settings)


def in_openvino(model: Any, inputs: Sequence[Array], ours: bool) -> list[Array]:
    made = compiled(model, ours)
    results = made(list(inputs))
    return [np.array(results[output]) for output in made.outputs]


def runs_here(made: Any) -> bool:
    """Returns whether a compiled model of OpenVINO has a node of the library."""
    return any(str(op.get_rt_info()["layerType"].astype(str)) == "Reference" for op in made.get_runtime_model().get_ops())


def left_over(model: onnx.ModelProto) -> int:
    """Returns how many nodes that patchfold has operators for are still ONNX's own in the converted model."""
    return sum(node.op_type in OURS and not node.domain for node in patchfold.onnxruntime.convert(model).graph.node)


def same_bits(made: Array, expected: Array) -> bool:
    alike = made.shape == expected.shape and made.dtype == expected.dtype
    return alike and np.ascontiguousarray(made).tobytes() == np.ascontiguousarray(expected).tobytes()

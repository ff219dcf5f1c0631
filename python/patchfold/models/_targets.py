# SPDX-License-Identifier: Apache-2.0
"""The operators of patchfold's family that each target takes in ONNX models. docs/porting.md is written from this table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

COL2IM_SINCE = 18
FAMILY = ("Col2Im", "DepthToSpace", "SpaceToDepth")


@dataclass(frozen=True)
class Target:
    """The rules of a target.

    has: tells whether it has an operator of patchfold's family, for a number of spatial axes and a mode.
    lacks: the operators that it lacks, in words. source: the reference of this rule.
    most_axes: the most axes of any input or output of a node. axes_source: the reference of this rule.
    types: element types of tensors that are cut and joined; empty: all. types_source: the reference of this rule.
    opset: the version of ONNX's operators.
    """

    name: str
    has: Callable[[str, int, str], bool]
    lacks: str
    source: str
    most_axes: int | None = None
    axes_source: str = ""
    types: frozenset[str] = frozenset()
    types_source: str = ""
    opset: int | None = None


TARGETS = {
    target.name: target
    for target in (
        Target("basic", lambda kind, rank, mode: False, "Col2Im, DepthToSpace, SpaceToDepth", "no target: what all have"),
        Target(
            "coreml",
            lambda kind, rank, mode: kind == "DepthToSpace" and mode == "DCR",
            "Col2Im, SpaceToDepth, DepthToSpace in mode CRD (newer releases take mode CRD of fixed shapes)",
            "ONNX Runtime, coreml_supported_mlprogram_ops.md",
            5,
            "coremltools, issue 1723; ONNX Runtime, pull request 17086",
            frozenset({"float16", "float32"}),
            "ONNX Runtime, coreml/builders/impl/base_op_builder.cc",
        ),
        Target(
            "litert",
            lambda kind, rank, mode: kind == "SpaceToDepth" or (kind == "DepthToSpace" and mode == "DCR"),
            "Col2Im, DepthToSpace in mode CRD",
            "tensorflow.org/mlir/tfl_ops",
            5,
            "TensorFlow, lite/kernels/strided_slice.cc, and transpose.cc before it took 6",
        ),
        Target(
            "nnapi",
            lambda kind, rank, mode: kind == "DepthToSpace" and mode == "DCR",
            "Col2Im, SpaceToDepth, DepthToSpace in mode CRD",
            "ONNX Runtime, nnapi_supported_ops.md",
            4,
            "Android, NeuralNetworks.h: Supported tensor rank",
            frozenset({"float32"}),
            "ONNX Runtime, nnapi_builtin/builders/impl/base_op_builder.cc",
        ),
        Target(
            "openvino",
            lambda kind, rank, mode: kind != "Col2Im" or rank == 2,
            "Col2Im of one axis, or of three and more",
            "OpenVINO, Col2Im-15",
            8,
            "OpenVINO's GPU plugin, pull request 16810",
        ),
        Target(
            "tensorrt",
            lambda kind, rank, mode: kind != "Col2Im",
            "Col2Im",
            "onnx-tensorrt, docs/operators.md",
            8,
            "TensorRT, nvinfer1::Dims::MAX_DIMS",
            frozenset({"float16", "bfloat16", "float32", "int32", "int64", "bool"}),
            "onnx-tensorrt, docs/operators.md: float64 becomes float32, int8 and uint8 are quantized types and inputs only",
        ),
    )
}
# The target of patchfold.onnxruntime, whose report lists all operators of patchfold's family that ONNX Runtime's own kernels
# compute.
ONNXRUNTIME = Target("patchfold's library", lambda kind, rank, mode: False, "", "")


def of_version(version: int) -> Target:
    """Returns the target for a version of ONNX's operators."""
    return Target(
        f"onnx:{version}",
        lambda kind, rank, mode: kind != "Col2Im" or version >= COL2IM_SINCE,
        f"Col2Im before version {COL2IM_SINCE}; other nodes are checked against that version",
        "ONNX, docs/Changelog.md",
        opset=version,
    )

# SPDX-License-Identifier: Apache-2.0
"""What targets take of the operators of the family, in ONNX models. docs/porting.md is written from this table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

COL2IM_SINCE = 18


@dataclass(frozen=True)
class Target:
    """What a target takes. `has` tells whether it has an operator of the family, of so many spatial axes, in a mode."""

    name: str
    has: Callable[[str, int, str], bool]
    lacks: str
    source: str
    opset: int | None = None
    most_axes: int | None = None  # axes of a tensor


TARGETS = {
    target.name: target
    for target in (
        Target("basic", lambda kind, rank, mode: False, "Col2Im, DepthToSpace, SpaceToDepth", "no target: what all have"),
        Target(
            "coreml",
            lambda kind, rank, mode: kind == "DepthToSpace" and mode == "DCR",
            "Col2Im, SpaceToDepth, DepthToSpace in mode CRD of open shapes, and tensors of more than five axes; Pad, which"
            " ONNX Runtime keeps on the processor, is written all the same",
            "ONNX Runtime, coreml_supported_mlprogram_ops.md; coremltools, issue 1723",
            most_axes=5,
        ),
        Target(
            "litert",
            lambda kind, rank, mode: kind == "SpaceToDepth" or (kind == "DepthToSpace" and mode == "DCR"),
            "Col2Im, DepthToSpace in mode CRD, and slices and pads of more than five axes",
            "tensorflow.org/mlir/tfl_ops",
            most_axes=5,
        ),
        Target(
            "openvino",
            lambda kind, rank, mode: kind != "Col2Im" or rank == 2,
            "Col2Im of one axis, or of three and more",
            "OpenVINO, Col2Im-15",
        ),
        Target("tensorrt", lambda kind, rank, mode: kind != "Col2Im", "Col2Im", "onnx-tensorrt, docs/operators.md"),
    )
}


def of_version(version: int) -> Target:
    """Version N of ONNX's operators."""
    return Target(
        f"onnx:{version}",
        lambda kind, rank, mode: kind != "Col2Im" or version >= COL2IM_SINCE,
        f"Col2Im before version {COL2IM_SINCE}; other nodes are checked against that version",
        "ONNX, docs/Changelog.md",
        opset=version,
    )

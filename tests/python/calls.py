# SPDX-License-Identifier: Apache-2.0
"""The functions of the operators, each with a call that uses every argument."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import patchfold
from patchfold import OperatorSpec

DIALECTS = {"onnx": patchfold.onnx, "openvino": patchfold.openvino, "tensorflow": patchfold.tensorflow}


def newest() -> list[OperatorSpec]:
    """The operators without the older versions of any."""
    version = {spec.name: int((re.findall(r"-(\d+)$", spec.name) or ["0"])[0]) for spec in patchfold.operators()}
    best: dict[str, OperatorSpec] = {}
    for spec in patchfold.operators():
        base = spec.name.partition("-")[0]
        if base not in best or version[spec.name] > version[best[base].name]:
            best[base] = spec
    return list(best.values())


def function_name(spec: OperatorSpec) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", spec.name.partition("-")[0].rpartition(".")[2]).lower()


def function_of(spec: OperatorSpec) -> Callable[..., Any]:
    module = DIALECTS.get(spec.name.partition(".")[0], patchfold)
    return getattr(module, function_name(spec))


HERE = [spec for spec in newest() if not spec.name.startswith("torch.")]


X = np.arange(2 * 6 * 4 * 6, dtype=np.int32).reshape(2, 6, 4, 6)
BATCHES = np.arange(8 * 3 * 2 * 3, dtype=np.int32).reshape(8, 3, 2, 3)
VOLUMES = np.arange(2 * 4 * 4 * 4 * 3, dtype=np.int32).reshape(2, 4, 4, 4, 3)
COLUMNS = np.arange(2 * 12 * 25, dtype=np.int32).reshape(2, 12, 25)
# Arguments that differ from the defaults and from each other, so that no two can be mixed up.
CALLS: dict[str, tuple[np.ndarray | None, dict[str, Any]]] = {
    "unfold": (
        np.moveaxis(X, 1, -1),
        {
            "kernel_size": (2, 3),
            "stride": (1, 2),
            "dilation": (3, 1),
            "padding": [(1, 2), (3, 0)],
            "padding_mode": "constant",
            "value": -7,
            "layout": "channels_last",
            "order": "kernel",
            "positions": "grid",
        },
    ),
    "fold": (
        np.arange(2 * 4 * 3 * 18, dtype=np.int32).reshape(2, 4, 3, 18),
        {
            "output_size": (4, 6),
            "kernel_size": (2, 3),
            "stride": (1, 2),
            "dilation": (3, 1),
            "padding": [(1, 2), (1, 0)],
            "layout": "channels_last",
            "order": "kernel",
            "positions": "grid",
            "accumulate": True,
            "out": np.full((2, 4, 6, 3), 5, np.int32),
        },
    ),
    "coverage": (
        None,
        {
            "output_size": (4, 6),
            "kernel_size": (2, 3),
            "stride": (1, 2),
            "dilation": (3, 1),
            "padding": [(1, 2), (1, 0)],
        },
    ),
    "reorder": (
        np.moveaxis(X, 1, -1),
        {"kernel_size": (2, 1), "source": "kernel", "target": "channel", "layout": "channels_last", "positions": "grid"},
    ),
    "space_to_batch": (X, {"block": (2, 3), "padding": [(3, 1), (1, 1)], "layout": "channels_last"}),
    "batch_to_space": (BATCHES, {"block": (4, 2), "crops": [(2, 1), (0, 3)], "layout": "channels_last"}),
    "space_to_depth": (X, {"block": (3, 2), "mode": "depth_first", "layout": "channels_last"}),
    "depth_to_space": (X, {"block": (3, 2), "mode": "depth_first", "layout": "channels_last"}),
    "openvino.Col2Im": (
        COLUMNS,
        {
            "output_size": (4, 6),
            "kernel_size": (2, 3),
            "strides": (1, 2),
            "dilations": (3, 1),
            "pads_begin": (1, 3),
            "pads_end": (3, 2),
        },
    ),
    "openvino.ExtractImagePatches": (
        X,
        {"sizes": (2, 3), "strides": (3, 1), "rates": (1, 2), "auto_pad": "same_lower"},
    ),
    "openvino.SpaceToBatch": (
        X,
        {"block_shape": (1, 3, 5, 2), "pads_begin": (0, 1, 1, 2), "pads_end": (0, 2, 5, 0)},
    ),
    "openvino.BatchToSpace": (
        BATCHES,
        {"block_shape": (1, 2, 1, 4), "crops_begin": (0, 1, 0, 2), "crops_end": (0, 2, 1, 3)},
    ),
    "openvino.SpaceToDepth": (X, {"blocks_mode": "depth_first", "block_size": 2}),
    "openvino.DepthToSpace": (np.ascontiguousarray(X[:, :4]), {"blocks_mode": "depth_first", "block_size": 2}),
    "onnx.Col2Im": (
        COLUMNS,
        {
            "image_shape": (4, 6),
            "block_shape": (2, 3),
            "dilations": (3, 1),
            "pads": (1, 3, 3, 2),
            "strides": (1, 2),
        },
    ),
    "onnx.DepthToSpace": (X[:, :4], {"blocksize": 2, "mode": "CRD"}),
    "onnx.SpaceToDepth": (X, {"blocksize": 2, "mode": "CRD"}),
    "tensorflow.SpaceToBatch": (X, {"paddings": [[0, 3], [1, 1]], "block_size": 3}),
    "tensorflow.SpaceToBatchND": (X, {"block_shape": [2, 3], "paddings": [[2, 0], [1, 1]]}),
    "tensorflow.BatchToSpace": (BATCHES, {"crops": [[1, 2], [0, 3]], "block_size": 2}),
    "tensorflow.BatchToSpaceND": (BATCHES, {"block_shape": [4, 2], "crops": [[1, 2], [0, 3]]}),
    "tensorflow.SpaceToDepth": (X, {"block_size": 2, "data_format": "NCHW"}),
    "tensorflow.DepthToSpace": (X[:, :4], {"block_size": 2, "data_format": "NCHW"}),
    "tensorflow.ExtractImagePatches": (
        X,
        {"ksizes": [1, 2, 3, 1], "strides": [1, 3, 1, 1], "rates": [1, 1, 2, 1], "padding": "SAME"},
    ),
    "tensorflow.ExtractVolumePatches": (
        VOLUMES,
        {"ksizes": [1, 2, 3, 1, 1], "strides": [1, 3, 1, 2, 1], "padding": "SAME"},
    ),
}

# SPDX-License-Identifier: Apache-2.0
"""Chooses the reader of a model."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from typing import Any

from .._errors import type_name
from . import _openvino, _torch
from ._errors import ModelError
from ._regions import Graph

TAKEN = "an .onnx, .xml, .pt2 or .tflite file, the folder of a SavedModel, an onnx.ModelProto or a torch ExportedProgram"
FIXED = "sizes: {} has its sizes in the file; {}"


def read(model: Any, sizes: Mapping[str, int]) -> tuple[str, list[Graph]]:
    """Returns a title of a model, and its graphs."""
    if not isinstance(model, (str, os.PathLike)):
        return "model", _object(model, sizes)
    path = os.fspath(model)
    suffix = os.path.splitext(path)[1].lower()
    if suffix == ".xml":
        if sizes:
            raise ModelError(FIXED.format("OpenVINO's IR", "reshape the model and save it again"))
        return path, _openvino.read(path)
    if suffix == ".tflite":
        if sizes:
            raise ModelError(FIXED.format("a .tflite file", "convert the model with these sizes"))
        from . import _tflite

        return path, _tflite.read(path)
    if suffix == ".pt2":
        return path, _torch.read(path, path, sizes)
    if os.path.isdir(path):
        from . import _tensorflow

        return path, _tensorflow.read(path, sizes)
    if suffix != ".onnx":
        raise ModelError(f"{path}: must be {TAKEN}")
    return path, _onnx_graphs(path, sizes)


def _object(model: Any, sizes: Mapping[str, int]) -> list[Graph]:
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "export") and isinstance(model, torch.export.ExportedProgram):
        buffer = io.BytesIO()
        torch.export.save(model, buffer)
        return _torch.read(buffer, "program", sizes)
    return _onnx_graphs(model, sizes)


def _onnx_graphs(model: Any, sizes: Mapping[str, int]) -> list[Graph]:
    try:
        import onnx

        from . import _onnx
    except ImportError as error:
        raise ImportError(f"inspect reads ONNX models with the package onnx: pip install onnx ({error})") from None
    if not isinstance(model, (str, os.PathLike, onnx.ModelProto)):
        raise ModelError(f"model: must be {TAKEN}; given {type_name(model)}")
    return _onnx.read(model, dict(sizes))

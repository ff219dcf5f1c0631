# SPDX-License-Identifier: Apache-2.0
"""Finds the operators of patchfold's family in a model, also if other nodes make them, and writes models without
them.

`inspect` reports operators in models of ONNX and OpenVINO, and `portable` writes an ONNX model that computes the same
with operators that a target has. `halo` returns how far a model looks, and so the overlap that tiles need. Models of
ONNX need the package onnx. `python -m patchfold.models` runs all three from a shell.
"""

from typing import TYPE_CHECKING, Any

from ._errors import ModelError, NotPortable
from ._halo import Halos, halo
from ._inspect import Finding, Inspection, inspect

if TYPE_CHECKING:
    from ._portable import portable

__all__ = ["Finding", "Halos", "Inspection", "ModelError", "NotPortable", "halo", "inspect", "portable"]


def __getattr__(name: str) -> Any:
    """Imports `portable`, which needs onnx, when it is first used."""
    if name != "portable":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from ._portable import portable
    except ImportError as error:
        raise ImportError(f"portable writes ONNX models with the package onnx: pip install onnx ({error})") from None
    return portable

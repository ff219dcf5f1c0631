# SPDX-License-Identifier: Apache-2.0
"""Finds the operators of patchfold's family in a model, also if other nodes make them, and writes models without
them.

`inspect` reports operators in models of ONNX and OpenVINO, and `portable` writes an ONNX model that computes the same
with operators that a target has. `halo` returns how far a model looks, and so the overlap that tiles need.
`split_for_tiles` runs models in tiles that see a whole plane somewhere. Models of ONNX need the package onnx.
`python -m patchfold.models` runs the first three from a shell.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ._errors import ModelError, NotPortable
from ._halo import Halos, halo
from ._inspect import Finding, Inspection, inspect
from ._split import Part
from ._split_run import Split, split_for_tiles

if TYPE_CHECKING:
    from ._portable import portable

__all__ = [
    "Finding", "Halos", "Inspection", "ModelError", "NotPortable", "Part", "Split", "halo", "inspect", "portable",
    "split_for_tiles",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Imports `portable`, which needs onnx, when it is first used."""
    if name != "portable":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from ._portable import portable
    except ImportError as error:
        raise ImportError(f"portable writes ONNX models with the package onnx: pip install onnx ({error})") from None
    return portable


def __dir__() -> list[str]:
    """Returns the names of the module with `portable`, which help shows, unless onnx is missing."""
    return sorted({*globals(), *(["portable"] if find_spec("onnx") else [])})

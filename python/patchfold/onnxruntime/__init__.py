# SPDX-License-Identifier: Apache-2.0
"""ONNX models on patchfold's kernels in ONNX Runtime: operators of the domain "patchfold".

    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(patchfold.onnxruntime.library())
    model = patchfold.onnxruntime.convert("model.onnx")
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)

`convert` needs the package onnx; `library` needs nothing. docs/runtimes.md lists the operators.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._convert import convert

__all__ = ["convert", "library"]

FILE = Path(__file__).absolute().parent.parent / "lib" / "libpatchfold_onnxruntime.so"


def library() -> str:
    """Returns the path of the library that `SessionOptions.register_custom_ops_library` takes.

    The library holds the operators of the domain "patchfold" for ONNX Runtime 1.17 and newer, on the processor: Col2Im,
    Im2Col, ExtractImagePatches, SpaceToBatch, BatchToSpace, SpaceToDepth, DepthToSpace. These operators run on the session's
    own threads (`intra_op_num_threads`).

    Raises: FileNotFoundError if this build of patchfold lacks the library.
    """
    if not FILE.is_file():
        raise FileNotFoundError(
            f"this build of patchfold has no library for ONNX Runtime ({FILE}): `pip install .` builds it on Linux"
        )
    return str(FILE)


def __getattr__(name: str) -> Any:
    """Imports `convert`, which needs onnx, when it is first used."""
    if name != "convert":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from ._convert import convert
    except ImportError as error:
        raise ImportError(f"convert writes ONNX models with the package onnx: pip install onnx ({error})") from None
    return convert


def __dir__() -> list[str]:
    """Returns the names of the module with `convert`, which help shows, unless onnx is missing."""
    return sorted({*globals(), *(["convert"] if find_spec("onnx") else [])})

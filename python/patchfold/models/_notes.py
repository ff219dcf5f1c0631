# SPDX-License-Identifier: Apache-2.0
"""What to take care of with an operator in a model: where systems compute another result, or none.

docs/conformance.md has all that was compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from ._regions import Found

FLOATS = ("float16", "float32")


def of(found: Found) -> Sequence[str]:
    """Sentences about one operator, those that change results first."""
    notes: list[str] = []
    name, written = found.name, found.kinds
    kernel, dilation = name.arguments.get("kernel_size", ()), name.arguments.get("dilation", ())
    if "Col2Im" in written:
        if len(kernel) > 2 and any(step > 1 for step in dilation):
            notes.append("ONNX Runtime 1.31 computes another result for Col2Im of three axes and more with dilations")
        if found.dtype and found.dtype not in FLOATS:
            notes.append(f"ONNX Runtime has no Col2Im of {found.dtype}: only of float16 and float32")
        if isinstance(kernel, tuple) and len(kernel) != 2:
            notes.append("OpenVINO's Col2Im has two spatial axes only")
    if name.operator == "fold" and found.dtype in ("float16", "bfloat16"):
        notes.append(f"systems round sums of {found.dtype} at different places; patchfold sums in float32 and rounds once")
    if found.dtype in ("int64", "uint64", "float64"):
        kept = "float32" if found.dtype == "float64" else "32 bits"
        notes.append(f"OpenVINO's CPU plugin keeps {found.dtype} as {kept}, without a word")
    if name.operator in ("depth_to_space", "space_to_depth") and name.arguments.get("mode") == "depth_first":
        notes.append(
            "the channels' order is torch's pixel_shuffle (CRD); TensorFlow, LiteRT and ONNX's DCR have blocks_first"
        )
    if name.operator == "unfold" and name.arguments.get("order") == "kernel":
        notes.append("the order in a patch is TensorFlow's, taps before channels; torch and ONNX have channels first")
    return notes

# SPDX-License-Identifier: Apache-2.0
"""Warnings about an operator in a model: systems that compute another result, or no result.

docs/conformance.md lists all comparisons, and the versions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._regions import Found

HALVES = ("float16", "bfloat16")
FLOATS = (*HALVES, "float32", "float64")
COMPLEX = ("complex64", "complex128")
BLOCKS = ("DepthToSpace", "SpaceToDepth")
SUMS_AND_COPIES = ("unfold", "fold")


class _Facts:
    """The facts about an operator that the rules read."""

    def __init__(self, found: Found):
        name = found.name
        self.written, self.dtype, self.operator = found.kinds, found.dtype, name.operator
        arguments = self.arguments = name.arguments
        kernel = arguments.get("kernel_size", arguments.get("block", ()))
        self.kernel: tuple[int, ...] = kernel if isinstance(kernel, tuple) else ()
        self.stride, self.dilation = (self._tuple(key) for key in ("stride", "dilation"))
        pads = arguments.get("padding", ())
        pairs = [pad if isinstance(pad, tuple) else (pad, pad) for pad in pads] if isinstance(pads, (list, tuple)) else []
        self.pads: list[tuple[int, int]] = pairs
        self.empty = found.shape is not None and 0 in found.shape and 0 not in (found.source_shape or ())
        self.shape = found.source_shape

    def _tuple(self, name: str) -> tuple[int, ...]:
        value = self.arguments.get(name, ())
        return value if isinstance(value, tuple) else ()

    def holds(self, *kinds: str) -> bool:
        """Returns whether the model writes the operator as one of these nodes."""
        return any(kind in self.written for kind in kinds)


def of(found: Found) -> Sequence[str]:
    """Returns sentences about one operator; sentences about systems that compute another result come first."""
    facts = _Facts(found)
    return [text(facts) if callable(text) else text for holds, text in RULES if holds(facts)]


def _ends_beyond_data(f: _Facts) -> bool:
    """Returns whether all elements at some offset within the blocks of a SpaceToBatch lie in the end pads."""
    if f.shape is None or not f.pads or f.arguments.get("layout") == "channels_last":
        return False
    cut = f.shape[-len(f.kernel) :]
    return any(b - 1 - begin >= n for b, (begin, _), n in zip(f.kernel, f.pads, cut, strict=False))


def _kept(f: _Facts) -> str:
    kept = "float32" if f.dtype == "float64" else "32 bits"
    return f"OpenVINO's CPU plugin keeps {f.dtype} as {kept}, without a word"


RULES: list[tuple[Callable[[_Facts], Any], str | Callable[[_Facts], str]]] = [
    # Systems that compute another result.
    (
        lambda f: f.holds("Col2Im") and len(f.kernel) > 2 and any(step > 1 for step in f.dilation),
        "ONNX Runtime 1.31 computes another result for Col2Im of three axes and more with dilations",
    ),
    (
        lambda f: f.holds("ExtractVolumePatches") and any(s > k for s, k in zip(f.stride, f.kernel, strict=False)),
        "TensorFlow's first sample of volumes lies inside the image where the stride exceeds the kernel; others start at 0",
    ),
    (
        lambda f: f.operator == "space_to_batch" and _ends_beyond_data(f),
        "OpenVINO's SpaceToBatch copies data of other places where an offset within the block has only end pads",
    ),
    (lambda f: f.dtype in ("int64", "uint64", "float64"), _kept),
    # Systems that compute no result.
    (
        lambda f: f.holds("Col2Im") and f.dtype and f.dtype not in ("float16", "float32"),
        lambda f: f"ONNX Runtime has no Col2Im of {f.dtype}: only of float16 and float32",
    ),
    (
        lambda f: f.holds(*BLOCKS) and f.dtype and f.dtype not in ("int8", "uint8", "float16", "float32", "float64"),
        lambda f: f"ONNX Runtime moves blocks of int8, uint8, float16, float32 and float64 only, not of {f.dtype}",
    ),
    (lambda f: f.holds("Col2Im") and f.kernel and len(f.kernel) != 2, "OpenVINO's Col2Im has two spatial axes only"),
    (
        lambda f: f.operator in SUMS_AND_COPIES and not f.holds("Col2Im") and f.kernel and len(f.kernel) != 2,
        "torch and OpenVINO cut and join two spatial axes only; ONNX's Col2Im joins any number",
    ),
    (
        lambda f: f.operator in SUMS_AND_COPIES and f.dtype and f.dtype not in (*FLOATS, *COMPLEX, "bool"),
        lambda f: f"torch has no fold and no unfold of {f.dtype}",
    ),
    (
        lambda f: f.operator in ("space_to_batch", "batch_to_space") and f.dtype in ("bool", *COMPLEX),
        lambda f: f"TensorFlow has no SpaceToBatch and no BatchToSpace of {f.dtype}",
    ),
    (
        lambda f: f.operator in ("space_to_batch", "batch_to_space") and len(f.kernel) > 4,
        "TensorFlow blocks at most four axes",
    ),
    (
        lambda f: f.operator in ("space_to_depth", "depth_to_space") and f.arguments.get("block") in (1, (1, 1)),
        "TensorFlow refuses a block of 1",
    ),
    (lambda f: f.empty, "torch and ONNX Runtime refuse images in which no patch fits; OpenVINO and ONNX give no columns"),
    (
        lambda f: any(min(pair) < 0 for pair in f.pads),
        "negative pads: torch and TensorFlow refuse them, ONNX Runtime crops, OpenVINO reads outside its data",
    ),
    (
        lambda f: f.operator in SUMS_AND_COPIES and any(begin != end for begin, end in f.pads),
        "torch pads both ends alike; this padding needs a pad of its own there",
    ),
    # Systems that round at other places.
    (
        lambda f: f.operator == "fold" and f.dtype in HALVES,
        lambda f: f"systems round sums of {f.dtype} at different places; patchfold sums in float32 and rounds once",
    ),
    (
        lambda f: f.dtype == "float16" and f.operator != "fold" and f.holds(*BLOCKS, "SpaceToBatch", "BatchToSpace",
                                                                            "ExtractImagePatches"),
        "a NaN of float16 comes back with other bits from OpenVINO, and from ONNX Runtime's blocks",
    ),
    # Systems with another order.
    (
        lambda f: f.operator in ("depth_to_space", "space_to_depth") and f.arguments.get("mode") == "depth_first",
        "the channels' order is torch's pixel_shuffle (CRD); TensorFlow, LiteRT and ONNX's DCR have blocks_first",
    ),
    (
        lambda f: f.operator in ("depth_to_space", "space_to_depth") and f.arguments.get("mode") == "blocks_first",
        "the channels' order is blocks_first (DCR); torch's pixel_shuffle and pixel_unshuffle have another one, depth_first",
    ),
    (
        lambda f: f.operator == "space_to_depth" and f.arguments.get("mode") == "depth_first",
        "ONNX has SpaceToDepth in this order from version 28 of its operators on",
    ),
    (
        lambda f: f.operator == "unfold" and f.arguments.get("order") == "kernel",
        "the order in a patch is TensorFlow's, taps before channels; torch and ONNX have channels first",
    ),
    (
        lambda f: f.operator == "fold" and f.arguments.get("order") == "kernel",
        "the order in a patch is taps before channels; torch's fold and Col2Im have channels first: reorder before them",
    ),
    (
        lambda f: f.operator in ("depth_to_space", "space_to_depth") and f.arguments.get("layout") == "channels_last",
        "channels come last; torch, ONNX and OpenVINO have them first, TensorFlow on the processor has them last only",
    ),
]  # fmt: skip

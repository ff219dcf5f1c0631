# SPDX-License-Identifier: Apache-2.0
"""Which elements of its inputs a layer of OpenVINO's IR reads. Most layers read what a node of ONNX reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ._openvino_nodes import ints_of
from ._reads import UNKNOWN, Node, Slots, attention, axis_of, elementwise, kept, nothing, spread
from ._reads_onnx import GLOBAL as GLOBAL_IN_ONNX
from ._reads_onnx import as_onnx
from ._spans import NoSpan, along

Rule = Callable[[Node, Mapping[str, str]], "tuple[Slots, str]"]
# The version of ONNX's operators whose rules are used here.
VERSION = 23


def reads_of_layer(node: Node, version: str) -> tuple[Slots, str]:
    """Returns what a layer reads of each of its inputs, and why it sees whole axes. An unknown layer is a NoSpan.

    version: the set of operators that defines the layer.
    """
    data = node.settings
    if node.kind in ELEMENTWISE:
        if data.get("auto_broadcast", "numpy") not in ("numpy", "none"):
            raise NoSpan("broadcasts by a rule that is not followed")
        return elementwise(node)
    rule = RULES.get(node.kind)
    if rule is None or not version.startswith("opset"):
        raise NoSpan(GLOBAL.get(node.kind, GLOBAL_IN_ONNX.get(node.kind, UNKNOWN)))
    return rule(node, data)


def _window(data: Mapping[str, str]) -> dict[str, Any]:
    rule = data.get("auto_pad", "explicit").lower()
    settings = {"strides": ints_of(data, "strides"), "dilations": ints_of(data, "dilations")}
    if rule in ("same_upper", "same_lower", "valid"):
        return settings | {"auto_pad": rule.upper()}
    if rule != "explicit":
        raise ValueError(f"auto_pad: {rule!r} is no rule")
    return settings | {"pads": [*ints_of(data, "pads_begin"), *ints_of(data, "pads_end")]}


def _convolution(node: Node, data: Mapping[str, str]) -> tuple[Slots, str]:
    """Returns what a convolution reads. OpenVINO's filters of groups have an axis for the group in front."""
    filters, groups = node.shape(1), 1
    if node.kind.startswith("Group"):
        groups, *rest = filters
        filters = (groups * rest[0], *rest[1:])
    settings = _window(data) | {"group": groups}
    shapes = {**node.shapes, "filters": filters}
    made = replace(node, slots=(node.slots[0], "filters"), shapes=shapes)
    if not node.kind.endswith("BackpropData"):
        return as_onnx(made, "Conv", settings)
    settings["output_padding"] = ints_of(data, "output_padding")
    if settings.get("auto_pad", "VALID") != "VALID":
        if not node.has(2):
            raise NoSpan("has automatic pads without the shape of its result, which is not followed")
        # Of an odd number of pads, OpenVINO has one more at the begin for same_upper, and ONNX for SAME_LOWER.
        settings["auto_pad"] = {"SAME_UPPER": "SAME_LOWER", "SAME_LOWER": "SAME_UPPER"}[settings["auto_pad"]]
        settings["output_shape"] = [int(each) for each in np.asarray(node.constant(2)).reshape(-1)]
    return as_onnx(made, "ConvTranspose", settings)


def _pool(node: Node, data: Mapping[str, str]) -> tuple[Slots, str]:
    return as_onnx(node, "MaxPool", _window(data) | {"kernel_shape": ints_of(data, "kernel")})


def _adaptive(node: Node, data: Mapping[str, str]) -> tuple[Slots, str]:
    if any(extent != 1 for extent in node.result()[2:]):
        raise NoSpan("pools parts whose extents depend on the whole axis")
    return _first(node, "GlobalAveragePool", {})


def _first(
    node: Node, kind: str, settings: Mapping[str, Any], constants: Mapping[int, Any] | None = None
) -> tuple[Slots, str]:
    """Returns what a node of ONNX reads of the first input, where the other inputs are settings."""
    return as_onnx(replace(node, slots=node.slots[:1]), kind, settings, constants)


def _interpolate(node: Node, data: Mapping[str, str]) -> tuple[Slots, str]:
    mode = data.get("mode", "nearest")
    if mode not in MODES or "shape_calculation_mode" not in data:
        raise NoSpan("is of a version or a mode that is not followed")
    if any(ints_of(data, "pads_begin")) or any(ints_of(data, "pads_end")):
        raise NoSpan("pads its input, which is not followed")
    pillow, before, after = "pillow" in mode, node.shape(), node.result()
    place = 2 if _is_old(node) else 1
    axes = [int(axis) for axis in node.constant(place + 1).reshape(-1)] if node.has(place + 1) else list(range(len(before)))
    nearest = data.get("nearest_mode", "round_prefer_floor")
    if nearest == "simple":
        nearest = "ceil" if any(n > m for n, m in zip(before, after, strict=True)) else "floor"
    place_rule = "half_pixel" if pillow else data.get("coordinate_transformation_mode", "half_pixel")
    settings = {
        "mode": MODES[mode], "axes": axes, "nearest_mode": nearest,
        "antialias": int(pillow or data.get("antialias", "false").lower() in ("true", "1")),
        "coordinate_transformation_mode": place_rule,
    }  # fmt: skip
    if data["shape_calculation_mode"] == "scales":
        return _first(node, "Resize", settings, {2: node.constant(place)})
    return _first(node, "Resize", settings, {3: [after[axis] for axis in axes]})


def _is_old(node: Node) -> bool:
    """Returns whether an Interpolate has inputs for sizes and for scales, as in version 4: version 11 has one for both."""
    values = node.constants.get(node.slots[2]) if len(node.slots) > 2 else None
    return len(node.slots) == 4 or (values is not None and values.dtype.kind == "f")


def _reduction(node: Node, data: Mapping[str, str]) -> tuple[Slots, str]:
    axes = [int(axis) for axis in np.asarray(node.constant(1)).reshape(-1)]
    keeps = data.get("keep_dims", "false").lower() in ("true", "1")
    return _first(node, "ReduceMax", {"axes": axes, "keepdims": int(keeps), "noop_with_empty_axes": 1})


def _over_axes(reason: str) -> Rule:
    def rule(node: Node, data: Mapping[str, str]) -> tuple[Slots, str]:
        shape = node.shape()
        return {0: kept(shape, [int(axis) % len(shape) for axis in np.asarray(node.constant(1)).reshape(-1)])}, reason

    return rule


def _over_axis(default: int, reason: str) -> Rule:
    def rule(node: Node, data: Mapping[str, str]) -> tuple[Slots, str]:
        shape = node.shape()
        return {0: kept(shape, [axis_of(node, default, len(shape))])}, reason

    return rule


def _lrn(node: Node, data: Mapping[str, str]) -> tuple[Slots, str]:
    if [int(axis) for axis in np.asarray(node.constant(1)).reshape(-1)] != [1]:
        raise NoSpan("normalises over other axes than the channels, which is not followed")
    return _first(node, "LRN", {"size": int(data["size"])})


def _prelu(node: Node, data: Mapping[str, str]) -> tuple[Slots, str]:
    slopes = node.shape(1)
    shape = node.shape()
    per_channel = len(slopes) == 1 and len(shape) > 1 and slopes[0] == shape[1]
    return {0: kept(shape, ()), 1: [along(1)] if per_channel else spread(slopes, shape)}, ""


def _product(node: Node, data: Mapping[str, str]) -> tuple[Slots, str]:
    """Returns what MatMul reads: the product of ONNX with the last two axes of an input exchanged."""
    flips = [data.get(name, "false").lower() in ("true", "1") for name in ("transpose_a", "transpose_b")]
    names, shapes = [], dict(node.shapes)
    for slot, flip in enumerate(flips):
        shape = node.shape(slot)
        flips[slot] = flip = flip and len(shape) > 1
        names.append(f"input {slot}")
        shapes[names[slot]] = (*shape[:-2], shape[-1], shape[-2]) if flip else shape
    slots, reason = as_onnx(replace(node, slots=names, shapes=shapes), "MatMul", {})
    return {slot: [*reads[:-2], reads[-1], reads[-2]] if flips[slot] else reads for slot, reads in slots.items()}, reason


def _broadcast(node: Node, data: Mapping[str, str]) -> tuple[Slots, str]:
    if data.get("mode", "numpy").lower() == "explicit":
        raise NoSpan("broadcasts by a rule that is not followed")
    return {0: spread(node.shape(), node.result())}, ""


def _gather(node: Node, data: Mapping[str, str]) -> tuple[Slots, str]:
    if int(data.get("batch_dims", 0)):
        raise NoSpan("reads at places for each element of the batch, which are not followed")
    return as_onnx(node, "Gather", {"axis": int(np.asarray(node.constant(2)).reshape(-1)[0])})


def _padded(node: Node, data: Mapping[str, str]) -> tuple[Slots, str]:
    pads = [int(pad) for slot in (1, 2) for pad in np.asarray(node.constant(slot)).reshape(-1)]
    return _first(node, "Pad", {"mode": data.get("pad_mode", "constant"), "pads": pads})


ELEMENTWISE = frozenset(
    "Abs Acos Acosh Add Asin Asinh Atan Atanh BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr BitwiseRightShift BitwiseXor"
    " Ceiling Clamp Convert ConvertLike ConvertPromoteTypes Cos Cosh Divide Elu Equal Erf Exp FakeConvert FakeQuantize Floor"
    " FloorMod Gelu Greater GreaterEqual HSigmoid HSwish HardSigmoid IsFinite IsInf IsNaN Less LessEqual Log LogicalAnd"
    " LogicalNot LogicalOr LogicalXor Maximum Minimum Mish Mod Multiply Negative NotEqual Power ReLU Round Select Selu"
    " Sigmoid Sign Sin Sinh SoftPlus SoftSign Sqrt SquaredDifference Subtract Swish Tan Tanh".split()
)
MODES = {
    "nearest": "nearest", "linear": "linear", "linear_onnx": "linear", "cubic": "cubic", "bilinear_pillow": "linear",
    "bicubic_pillow": "cubic",
}  # fmt: skip
GLOBAL = {
    **dict.fromkeys(("If", "Loop", "TensorIterator"), "holds graphs, which are not followed"),
    **dict.fromkeys(("LSTMSequence", "GRUSequence", "RNNSequence"), "sees the whole sequence"),
    **dict.fromkeys(("DeformableConvolution", "GridSample", "ROIAlign", "ROIPooling"), "reads at computed places"),
    **dict.fromkeys(
        ("Reshape", "Squeeze", "Unsqueeze", "StridedSlice", "Slice", "Split", "VariadicSplit", "Tile"),
        "its settings are computed from data, or its tensors are too large to follow",
    ),
}
RULES: dict[str, Rule] = {
    **dict.fromkeys(("Convolution", "GroupConvolution"), _convolution),
    **dict.fromkeys(("ConvolutionBackpropData", "GroupConvolutionBackpropData"), _convolution),
    **dict.fromkeys(("MaxPool", "AvgPool"), _pool),
    **dict.fromkeys(("AdaptiveAvgPool", "AdaptiveMaxPool"), _adaptive),
    "Interpolate": _interpolate,
    **dict.fromkeys(
        ("ReduceL1", "ReduceL2", "ReduceLogicalAnd", "ReduceLogicalOr", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
         "ReduceSum"), _reduction,
    ),
    **dict.fromkeys(("MVN", "NormalizeL2"), _over_axes("normalises over the axis")),
    **dict.fromkeys(("Softmax", "SoftMax", "LogSoftmax"), _over_axis(1, "normalises over the axis")),
    "CumSum": _over_axes("sums up the axis"),
    "TopK": _over_axis(-1, "sorts the axis"),
    "LRN": _lrn,
    "PRelu": _prelu,
    "PReLU": _prelu,
    "GroupNormalization": lambda node, data: as_onnx(
        node, "GroupNormalization", {"num_groups": int(data["num_groups"])}),
    "BatchNormInference": lambda node, data: as_onnx(node, "BatchNormalization", {}),
    "MatMul": _product,
    "Einsum": lambda node, data: as_onnx(node, "Einsum", {"equation": data["equation"]}),
    "Pad": _padded,
    "Broadcast": _broadcast,
    "Concat": lambda node, data: as_onnx(node, "Concat", {"axis": int(data["axis"])}),
    "Gather": _gather,
    "ScaledDotProductAttention": lambda node, data: attention(node),
    "ShapeOf": lambda node, data: (nothing(node), ""),
}  # fmt: skip

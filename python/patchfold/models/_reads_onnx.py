# SPDX-License-Identifier: Apache-2.0
"""Which elements of its inputs a node of ONNX reads for an element of its result. ONNX's operator documents define them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ._reads import (
    BY_EXTENT,
    BY_PLACE,
    DRAWS,
    MOST_SETTING,
    UNKNOWN,
    Node,
    Rule,
    Slots,
    axis_of,
    elementwise,
    kept,
    nothing,
    spread,
)
from ._resize import places_of
from ._spans import FIRST, SAME, NoSpan, Reads, Taps, along, taps_of, whole_axis


def reads_of(node: Node) -> tuple[Slots, str]:
    """Returns what a node reads of each input, and why it sees whole axes. An unknown node is a NoSpan."""
    if node.kind in ELEMENTWISE:
        return elementwise(node)
    rule = RULES.get(node.kind)
    if rule is None:
        raise NoSpan(GLOBAL.get(node.kind, UNKNOWN))
    return rule(node)


def as_onnx(
    node: Node, kind: str, settings: Mapping[str, Any], constants: Mapping[int, Any] | None = None
) -> tuple[Slots, str]:
    """Returns what a node of ONNX reads of the same tensors. constants: more inputs, by their places."""
    slots, values = list(node.slots), {}
    for place, value in (constants or {}).items():
        slots += [""] * (place + 1 - len(slots))
        slots[place] = f"constant {place}"
        values[slots[place]] = np.asarray(value)
    return reads_of(replace(node, kind=kind, settings=settings, slots=slots, constants=values))


# Windows.


def window_pads(node: Node, extents: Sequence[int], kernel: Sequence[int], stride: Sequence[int]) -> list[int]:
    """Returns the elements of padding in front of each spatial axis. kernel: the extents of dilated kernels."""
    rule = node.settings.get("auto_pad", "NOTSET")
    if rule in ("SAME_UPPER", "SAME_LOWER"):
        totals = [max((-(-n // s) - 1) * s + k - n, 0) for n, k, s in zip(extents, kernel, stride, strict=True)]
        return [total // 2 if rule == "SAME_UPPER" else -(-total // 2) for total in totals]
    if rule not in ("NOTSET", "VALID"):
        raise ValueError(f"auto_pad: {rule!r} is no rule")
    return (
        node.numbers("pads", 2 * len(extents), 0, -MOST_SETTING)[: len(extents)] if rule == "NOTSET" else [0] * len(extents)
    )


def kernel_of(node: Node, rank: int, weights: int | None = None) -> list[int]:
    given = node.shape(weights)[2:] if weights is not None else node.settings["kernel_shape"]
    if len(given) != rank or not all(1 <= extent < MOST_SETTING for extent in given):
        raise ValueError(f"kernel: must have {rank} extents from 1 to 2^31; given {list(given)[:8]}")
    return [int(extent) for extent in given]


def windows(node: Node, kernel: Sequence[int]) -> list[Reads]:
    """Returns what the windows of a convolution or a pool read along the spatial axes."""
    extents = node.shape()[2:]
    stride = node.numbers("strides", len(extents), 1, 1)
    dilation = node.numbers("dilations", len(extents), 1, 1)
    pads = window_pads(node, extents, [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)], stride)
    return [
        along(axis + 2, taps_of(s, [range(-pad, (k - 1) * d + 1 - pad, d)]))
        for axis, (k, s, d, pad) in enumerate(zip(kernel, stride, dilation, pads, strict=True))
    ]


def grouped(channels: int, results: int, groups: int) -> Reads:
    """Returns which channels each of `results` channels reads."""
    if groups < 1 or channels % groups or results % groups:
        raise ValueError(f"group: must divide {channels} channels and {results} results; given {groups}")
    if groups == 1:
        return whole_axis(channels)
    each = channels // groups
    return along(1, Taps(each, [np.arange(each, dtype=np.int64)] * (results // groups)))


def convolution(node: Node) -> tuple[Slots, str]:
    weights = 3 if node.kind == "QLinearConv" else 1
    shape, filters = node.shape(), node.shape(weights)
    groups = int(node.settings.get("group", 1))
    reads = windows(node, kernel_of(node, len(shape) - 2, weights))
    return {0: [along(0), grouped(shape[1], filters[0], groups), *reads]}, "sums over the channels of its group"


def transposed(node: Node) -> tuple[Slots, str]:
    """Returns what ConvTranspose reads: element i of the padded result reads p where i = p * stride + tap * dilation."""
    shape, filters = node.shape(), node.shape(1)
    extents, rank = shape[2:], len(shape) - 2
    kernel, groups = kernel_of(node, rank, 1), int(node.settings.get("group", 1))
    stride, dilation = node.numbers("strides", rank, 1, 1), node.numbers("dilations", rank, 1, 1)
    more, wanted = node.numbers("output_padding", rank, 0, 0), node.settings.get("output_shape")
    rule = node.settings.get("auto_pad", "NOTSET")
    pads = [0] * rank if rule == "VALID" else node.numbers("pads", 2 * rank, 0, -MOST_SETTING)[:rank]
    if wanted is not None or rule in ("SAME_UPPER", "SAME_LOWER"):
        sizes = [n * s for n, s in zip(extents, stride, strict=True)] if wanted is None else [int(n) for n in wanted][-rank:]
        full = zip(extents, stride, more, kernel, dilation, sizes, strict=True)
        totals = [s * (n - 1) + m + (k - 1) * d + 1 - size for n, s, m, k, d, size in full]
        pads = [total // 2 if rule == "SAME_UPPER" else total - total // 2 for total in totals]
    reads = []
    for axis, (k, s, d, pad) in enumerate(zip(kernel, stride, dilation, pads, strict=True)):
        taps = range(0, k * d, d)
        rows = [[(i + pad - tap) // s for tap in taps if (i + pad - tap) % s == 0] for i in range(min(s, 1 << 14))]
        if s > len(rows):
            raise NoSpan(f"has a stride of {s}")
        reads.append(along(axis + 2, taps_of(1, rows)))
    channels = grouped(shape[1], filters[1] * max(groups, 1), groups)
    return {0: [along(0), channels, *reads]}, "sums over the channels of its group"


def pool(node: Node) -> tuple[Slots, str]:
    kernel = kernel_of(node, len(node.shape()) - 2)
    return {0: [along(0), along(1), *windows(node, kernel)]}, ""


def plane(node: Node) -> tuple[Slots, str]:
    shape = node.shape()
    return {0: kept(shape, range(2, len(shape)))}, "pools the whole plane"


def lrn(node: Node) -> tuple[Slots, str]:
    size = int(node.settings["size"])
    if not 1 <= size < MOST_SETTING:
        raise ValueError(f"size: must be at least 1; given {size}")
    begin = -((size - 1) // 2)
    reads = kept(node.shape(), ())
    reads[1] = along(1, taps_of(1, [range(begin, begin + size)]))
    return {0: reads}, ""


# Norms and sums over axes.


def batch_norm(node: Node) -> tuple[Slots, str]:
    shape = node.shape()
    if not node.settings.get("spatial", 1):
        raise NoSpan("has weights for each place of the plane")
    training = bool(node.settings.get("training_mode", 0)) or (node.version < 14 and sum(map(bool, node.outputs)) > 1)
    whole = [axis for axis in range(len(shape)) if axis != 1] if training else []
    channels: Slots = {slot: [along(1)] for slot in range(1, len(node.slots)) if node.has(slot)}
    return {0: kept(shape, whole), **channels}, "normalises over the batch and the plane, since it trains"


def group_norm(node: Node) -> tuple[Slots, str]:
    shape = node.shape()
    groups = int(node.settings["num_groups"]) if node.kind == "GroupNormalization" else shape[1]
    if groups < 1 or shape[1] % groups:
        raise ValueError(f"num_groups: must divide {shape[1]} channels; given {groups}")
    each = shape[1] // groups
    channels = along(1, taps_of(each, [range(each)] * each)) if each > 1 else along(1)
    return {0: [along(0), channels, *(whole_axis(n) for n in shape[2:])]}, "normalises over the whole plane"


def layer_norm(node: Node) -> tuple[Slots, str]:
    shape = node.shape()
    begin = axis_of(node, -1, len(shape))
    rest: Slots = {slot: spread(node.shape(slot), shape) for slot in range(1, len(node.slots)) if node.has(slot)}
    return {0: kept(shape, range(begin, len(shape))), **rest}, "normalises over these axes"


def mean_variance(node: Node) -> tuple[Slots, str]:
    shape = node.shape()
    return {0: kept(shape, [axis % len(shape) for axis in node.settings.get("axes", [0, 2, 3])])}, "normalises over the axis"


def softmax(node: Node) -> tuple[Slots, str]:
    shape = node.shape()
    begin = axis_of(node, 1 if node.version < 13 else -1, len(shape))
    return {0: kept(shape, range(begin, begin + 1 if node.version >= 13 else len(shape)))}, "normalises over the axis"


def over_axis(default: int, reason: str) -> Rule:
    def rule(node: Node) -> tuple[Slots, str]:
        shape = node.shape()
        return {0: kept(shape, [axis_of(node, default, len(shape))])}, reason

    return rule


def cumulative(node: Node) -> tuple[Slots, str]:
    shape = node.shape()
    return {0: kept(shape, [int(np.asarray(node.constant(1)).reshape(-1)[0]) % len(shape)])}, "sums up the axis"


def reduction(node: Node) -> tuple[Slots, str]:
    shape = node.shape()
    rank = len(shape)
    if node.kind in ("ArgMax", "ArgMin"):
        axes: Any = [axis_of(node, 0, rank)]
    else:
        axes = node.settings.get("axes")
        axes = node.constant(1) if axes is None else axes
    listed = [int(axis) for axis in np.asarray([] if axes is None else axes).reshape(-1)]
    if any(not -rank <= axis < rank for axis in listed):
        raise ValueError(f"axes: must be from {-rank} to {rank - 1}; given {listed[:8]}")
    gone = {axis % rank for axis in listed}
    if not gone and not node.settings.get("noop_with_empty_axes", 0):
        gone = set(range(rank))
    keeps = bool(node.settings.get("keepdims", 1))
    reads = [
        whole_axis(extent) if axis in gone else along(axis if keeps else axis - sum(other < axis for other in gone))
        for axis, extent in enumerate(shape)
    ]
    return {0: reads}, "reduces the axis"


def quantised(node: Node) -> tuple[Slots, str]:
    """Returns what a node reads of its data, and of constant scales and zero points for each element of an axis."""
    shape = node.shape()
    axis = axis_of(node, 1, len(shape)) if len(shape) > 1 else 0
    held = [slot for slot in (1, 2) if node.has(slot) and node.slots[slot] in node.constants]
    return {0: kept(shape, ()), **{slot: [along(axis)] * len(node.shape(slot)) for slot in held}}, ""


def drawn(node: Node) -> tuple[Slots, str]:
    draws = node.kind != "Dropout" or bool(node.has(2) and np.any(node.constant(2)))
    return {0: kept(node.shape(), ())}, DRAWS if draws else ""


# Products.


def product(node: Node) -> tuple[Slots, str]:
    slots = (0, 3) if node.kind == "QLinearMatMul" else (0, 1)
    first, second = (node.shape(slot) for slot in slots)
    if not first or not second:
        raise ValueError("its inputs must have axes")
    result, rows, columns = node.result(), len(first) > 1, len(second) > 1
    batch = len(result) - rows - columns
    one = [*spread(first[:-2], result[:batch]), *([along(batch)] if rows else []), whole_axis(first[-1])]
    two = [*spread(second[:-2], result[:batch]), whole_axis(second[-2] if columns else second[-1])]
    if columns:
        two.append(along(len(result) - 1))
    return {slots[0]: one, slots[1]: two}, "sums over the axis"


def gemm(node: Node) -> tuple[Slots, str]:
    (a, b), flipped = (node.shape(0), node.shape(1)), [bool(node.settings.get(name, 0)) for name in ("transA", "transB")]
    if len(a) != 2 or len(b) != 2:
        raise ValueError("A and B must have two axes")
    one, two = [along(0), whole_axis(a[0 if flipped[0] else 1])], [whole_axis(b[1 if flipped[1] else 0]), along(1)]
    slots: Slots = {0: one[::-1] if flipped[0] else one, 1: two[::-1] if flipped[1] else two}
    return slots | ({2: spread(node.shape(2), node.result())} if node.has(2) else {}), "sums over the axis"


def einsum(node: Node) -> tuple[Slots, str]:
    text = str(node.settings["equation"]).replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if "." in text or len(terms) != len(node.slots):
        raise NoSpan("has an equation that is not followed")
    right = right if arrow else "".join(sorted(label for label in set(left) - {","} if left.count(label) == 1))
    shapes, extents = [node.shape(slot) for slot in range(len(terms))], dict.fromkeys(left, 1)
    for term, shape in zip(terms, shapes, strict=True):
        if len(term) != len(shape):
            raise ValueError(f"equation: {term!r} does not fit a tensor of {len(shape)} axes")
        extents |= {label: max(extent, extents[label]) for label, extent in zip(term, shape, strict=True)}

    def read(label: str, extent: int) -> Reads:
        if label not in right:
            return whole_axis(extent)
        return FIRST if extent < extents[label] else along(right.index(label))

    slots = {slot: list(map(read, term, shape)) for slot, (term, shape) in enumerate(zip(terms, shapes, strict=True))}
    return slots, "sums over the axis"


# Moves by settings that are no plain moves.


def pad(node: Node) -> tuple[Slots, str]:
    """Returns what a Pad reads: with a constant and, away from the ends, also with mirrored or repeated elements."""
    shape, mode = node.shape(), node.settings.get("mode", "constant")
    pads = node.constant(1) if node.has(1) else node.settings.get("pads", node.settings.get("paddings"))
    given = node.constant(3)
    axes = list(range(len(shape))) if given is None else [int(axis) % len(shape) for axis in np.asarray(given).reshape(-1)]
    values = [int(value) for value in np.asarray(pads).reshape(-1)]
    if len(values) != 2 * len(axes):
        raise ValueError(f"pads: must be {2 * len(axes)} numbers; given {values[:8]}")
    reads = kept(shape, ())
    for place, axis in enumerate(axes):
        begin, end = values[place], values[place + len(axes)]
        reads[axis] = along(axis, taps_of(1, [[-begin]]))
        if mode == "wrap" and (begin > 0 or end > 0):
            reads[axis] = whole_axis(shape[axis])
    return {0: reads}, "wraps around, so the first elements see the last ones"


def concat(node: Node) -> tuple[Slots, str]:
    """Returns what a Concat of tensors reads that are too large for index maps."""
    slots, begin = {}, 0
    for slot in range(len(node.slots)):
        shape = node.shape(slot)
        axis = axis_of(node, 1, len(shape))
        slots[slot] = [along(at, taps_of(1, [[-begin]]) if at == axis else SAME) for at in range(len(shape))]
        begin += shape[axis]
    return slots, ""


def transpose(node: Node) -> tuple[Slots, str]:
    """Returns what a Transpose of a tensor reads that is too large for index maps."""
    rank = len(node.shape())
    order = node.settings.get("perm") or list(range(rank))[::-1]
    return {0: [along(order.index(axis)) for axis in range(rank)]}, ""


def gather(node: Node) -> tuple[Slots, str]:
    shape, index = node.shape(), node.shape(1)
    axis, more = axis_of(node, 0, len(shape)), len(index)
    data = [whole_axis(n) if at == axis else along(at if at < axis else at + more - 1) for at, n in enumerate(shape)]
    return {0: data, 1: [along(axis + at) for at in range(more)]}, "reads at computed places of the axis"


def resize(node: Node) -> tuple[Slots, str]:
    depends = node.settings.get("coordinate_transformation_mode") in ("align_corners", "tf_crop_and_resize")
    reads = [along(axis, taps) for axis, taps in enumerate(resize_taps(node))]
    return {0: reads}, BY_EXTENT if depends else ""


def resize_taps(node: Node) -> list[Taps]:
    shape, result, settings = node.shape(), node.result(), dict(node.settings)
    old = node.kind == "Upsample" or node.version < 11
    if len(result) != len(shape):
        raise ValueError("its result must have as many axes as its input")
    scales = node.constant(1 if old else 2) if node.has(1 if old else 2) else settings.get("scales")
    sizes, roi = (None, None) if old else (node.constant(3), node.constant(1))
    rank = len(shape)
    axes = [int(axis) % rank for axis in settings.get("axes") or range(rank)]
    factors: list[Any] = [None] * rank
    given = [] if scales is None else [float(each) for each in np.asarray(scales).reshape(-1)]
    for axis, factor in zip(axes, given, strict=bool(given)):
        if not (0 < factor < MOST_SETTING and math.isfinite(factor)):
            raise ValueError(f"scales: must be positive; given {factor}")
        factors[axis] = factor
    if not given and sizes is None:
        raise ValueError("scales or sizes must be given")
    policy = settings.get("keep_aspect_ratio_policy", "stretch")
    if sizes is not None and policy != "stretch":
        listed = [(int(size), shape[axis]) for axis, size in zip(axes, np.asarray(sizes).reshape(-1), strict=True)]
        ratios = [(size / extent, (size, extent)) for size, extent in listed]
        chosen = (min if policy == "not_larger" else max)(ratios)[1]
        factors = [chosen if axis in axes else None for axis in range(rank)]
    corners = [float(each) for each in np.asarray([] if roi is None else roi).reshape(-1)]
    found = []
    for axis, (extent, length) in enumerate(zip(shape, result, strict=True)):
        if axis not in axes:
            found.append(SAME)
            continue
        place = axes.index(axis)
        part = (corners[place], corners[place + len(axes)]) if len(corners) == 2 * len(axes) else (0.0, 1.0)
        found.append(places_of(extent, length, factors[axis], part, settings, old))
    return found


ELEMENTWISE = frozenset(
    "Abs Acos Acosh Add And Asin Asinh Atan Atanh BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast"
    " CastLike Ceil Celu Clip Cos Cosh Div Elu Equal Erf Exp Floor Gelu Greater GreaterOrEqual HardSigmoid"
    " HardSwish Identity IsInf IsNaN LeakyRelu Less LessOrEqual Log Max Mean Min Mish Mod Mul Neg Not Or PRelu Pow"
    " Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Sub Sum Swish Tan Tanh"
    " ThresholdedRelu Where Xor".split()
)
GLOBAL = {
    **dict.fromkeys(("If", "Loop", "Scan", "SequenceMap"), "holds graphs, which are not followed"),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), "sees the whole sequence"),
    **dict.fromkeys(("Attention", "MultiHeadAttention"), "attention sees the whole sequence"),
    **dict.fromkeys(("GridSample", "RoiAlign", "MaxRoiPool", "DeformConv", "MaxUnpool"), "reads at computed places"),
    **dict.fromkeys(("Scatter", "ScatterElements", "ScatterND"), "writes at places that are not followed"),
    **dict.fromkeys(("GatherElements", "GatherND"), "reads at places that are not followed"),
    **dict.fromkeys(
        ("Reshape", "Flatten", "Slice", "Split", "Expand", "Tile", "Squeeze", "Unsqueeze"),
        "its settings are computed from data, or its tensors are too large to follow",
    ),
    **dict.fromkeys(("NonZero", "Compress", "Unique", "NonMaxSuppression"), "the number of its results depends on the data"),
    "Col2Im": "adds patches that lie on one axis, which is not followed",
}
RULES: dict[str, Rule] = {
    **dict.fromkeys(("Conv", "ConvInteger", "QLinearConv"), convolution),
    "ConvTranspose": transposed,
    **dict.fromkeys(("MaxPool", "AveragePool", "LpPool"), pool),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"), plane),
    "LRN": lrn,
    "BatchNormalization": batch_norm,
    **dict.fromkeys(("InstanceNormalization", "GroupNormalization"), group_norm),
    **dict.fromkeys(("LayerNormalization", "RMSNormalization"), layer_norm),
    "MeanVarianceNormalization": mean_variance,
    **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax"), softmax),
    "LpNormalization": over_axis(-1, "normalises over the axis"),
    "TopK": over_axis(-1, "sorts the axis"),
    "CumSum": cumulative,
    **dict.fromkeys(
        ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
         "ReduceProd", "ReduceSum", "ReduceSumSquare", "ArgMax", "ArgMin"), reduction,
    ),
    **dict.fromkeys(("MatMul", "MatMulInteger", "QLinearMatMul"), product),
    "Gemm": gemm,
    "Einsum": einsum,
    "Pad": pad,
    "Concat": concat,
    "Transpose": transpose,
    "Gather": gather,
    **dict.fromkeys(("Resize", "Upsample"), resize),
    **dict.fromkeys(("QuantizeLinear", "DequantizeLinear"), quantised),
    **dict.fromkeys(("Bernoulli", "Dropout"), drawn),
    "Trilu": lambda node: ({0: kept(node.shape(), ())}, BY_PLACE),
    **dict.fromkeys(
        ("Shape", "Size", "RandomNormalLike", "RandomUniformLike", "EyeLike"), lambda node: (nothing(node), "")),
}  # fmt: skip

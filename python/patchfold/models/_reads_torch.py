# SPDX-License-Identifier: Apache-2.0
"""Which elements of its inputs a node of torch.export reads. Most operators of ATen read what a node of ONNX
reads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ._errors import ModelError
from ._reads import DRAWS, UNKNOWN, Node, Slots, attention, elementwise, kept, nothing
from ._reads_onnx import as_onnx
from ._regions import Step
from ._spans import NoSpan, Reads, along

Values = Mapping[str, Any]
Rule = Callable[[Values, Node], "tuple[Slots, str]"]
# The version of ONNX's operators whose rules are used here.
VERSION = 23
INSTEAD = "give halo torch.export.load's program instead of the file"


def reads_of_aten(
    kind: str, arguments: Values, names: Sequence[str], outputs: Sequence[str], shapes: Mapping[str, tuple[int, ...]]
) -> tuple[Slots, str]:
    """Returns what a node reads of each of its tensors, and why it sees whole axes. An unknown node is a NoSpan.

    arguments: the arguments by name. names: the tensors among them, in order.
    """
    name = kind.removeprefix("aten.")
    operator = name if name.endswith("__") else name.removesuffix("_")
    node = Node(kind, {}, names, outputs, shapes, {}, VERSION)
    if not kind.startswith("aten.") or not names:
        raise NoSpan(UNKNOWN)
    if operator in ELEMENTWISE:
        return elementwise(node)
    if operator not in RULES:
        raise NoSpan(UNKNOWN)
    return RULES[operator]({key: value for key, value in arguments.items() if value is not None}, node)


def plain(program: Any) -> Any:
    """Returns a program of torch.export in which no later node names a tensor that an earlier node has written to."""

    def written(node: Any) -> list[Any]:
        arguments = getattr(getattr(node.target, "_schema", None), "arguments", ())
        given = dict(zip((each.name for each in arguments), node.args, strict=False)) | dict(node.kwargs)
        return [given.get(each.name) for each in arguments if each.alias_info is not None and each.alias_info.is_write]

    def shares(node: Any) -> bool:
        """Returns whether a node may return memory of its tensors."""
        returned = getattr(getattr(node.target, "_schema", None), "returns", ())
        return not written(node) and any(each.alias_info is not None for each in returned)

    def is_plain(node: Any) -> bool:
        """Returns whether all that a node writes is its first tensor, which no other node has another name for."""
        first = node.args[0] if node.args else None
        users = getattr(first, "users", None)
        plainly = users is not None and node.target._schema.name.endswith("_") and written(node) == [first]
        return plainly and not any(map(shares, (first, *(users or ()))))

    writing = [node for node in program.graph.nodes if node.op == "call_function" and written(node)]
    return program if all(map(is_plain, writing)) else program.run_decompositions({})


def check_writes(path: str, steps: Sequence[Step], results: Collection[str]) -> None:
    """Raises an error if a node writes to a tensor in place of which later nodes name another one that shares its memory."""
    groups: dict[str, set[str]] = {}
    last = {name: number for number, step in enumerate(steps) for name in step.slots}
    last |= dict.fromkeys(results, len(steps))
    for number, step in enumerate(steps):
        dunder = step.kind.endswith("__") and not step.kind.startswith("aten.__i")  # as aten.__and__
        writes = step.kind.startswith("aten.") and step.kind.endswith("_") and not dunder
        first = step.slots[0] if step.slots else ""
        if step.kind.count(".") == 2 or (not step.outputs and step.slots and "." in step.kind):
            raise ModelError(f"{path}: node {step.node} ({step.kind}) writes to a tensor that it is given; {INSTEAD}")
        if writes or step.kind in VIEWS:
            group = groups.setdefault(first, {first})
            if writes and any(last.get(name, -1) > number for name in group - {*step.outputs}):
                rule = "writes to a tensor that later nodes take by another name"
                raise ModelError(f"{path}: node {step.node} ({step.kind}) {rule}; {INSTEAD}")
            group |= set(step.outputs)
            groups |= dict.fromkeys(step.outputs, group)


def _plain(kind: str) -> Rule:
    return lambda given, node: as_onnx(node, kind, {})


def _numbers(value: Any, count: int) -> list[Any]:
    """Returns a number for each axis. torch takes one number for all axes."""
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    return values * count if len(values) == 1 else values


def _window(given: Values, node: Node) -> dict[str, Any]:
    count = len(node.shape()) - 2
    return {"strides": _numbers(given.get("stride") or 1, count), "dilations": _numbers(given.get("dilation", 1), count)}


def _convolution(given: Values, node: Node) -> tuple[Slots, str]:
    settings = _window(given, node) | {"group": given.get("groups", 1)}
    padding, count = given.get("padding", 0), _spatial(node)
    if isinstance(padding, str):  # "same" pads the end by one more where the padding is odd
        return as_onnx(node, "Conv", settings | {"auto_pad": "SAME_UPPER" if padding == "same" else "VALID"})
    settings["pads"] = _numbers(padding, count) * 2
    if not given.get("transposed", False):
        return as_onnx(node, "Conv", settings)
    return as_onnx(node, "ConvTranspose", settings | {"output_padding": _numbers(given.get("output_padding", 0), count)})


def _transposed(given: Values, node: Node) -> tuple[Slots, str]:
    return _convolution({**given, "transposed": True}, node)


def _pool(given: Values, node: Node) -> tuple[Slots, str]:
    count = _spatial(node)
    settings = _window({**given, "stride": given.get("stride") or given["kernel_size"]}, node)
    kernel = _numbers(given["kernel_size"], count)
    return as_onnx(
        node, "MaxPool", settings | {"kernel_shape": kernel, "pads": _numbers(given.get("padding", 0), count) * 2}
    )


def _adaptive(given: Values, node: Node) -> tuple[Slots, str]:
    if any(size != 1 for size in _numbers(given["output_size"], _spatial(node))):
        raise NoSpan("pools parts whose extents depend on the whole axis")
    return as_onnx(node, "GlobalAveragePool", {})


def _spatial(node: Node) -> int:
    """Returns the number of spatial axes, which all but the first two axes must be."""
    count = int(node.kind.partition("_pool")[2][:1]) if "_pool" in node.kind else len(node.shape(1)) - 2
    if len(node.shape()) != count + 2:
        raise NoSpan("has no axis for the batch, which is not followed")
    return count


def _upsample(mode: str, antialias: int = 0) -> Rule:
    def rule(given: Values, node: Node) -> tuple[Slots, str]:
        way = "align_corners" if given.get("align_corners", False) else "pytorch_half_pixel"
        settings = {"mode": mode, "antialias": antialias, "nearest_mode": "floor",
                    "coordinate_transformation_mode": "asymmetric" if mode == "nearest" else way}  # fmt: skip
        factors = given.get("scale_factors", given.get("scale_factor"))
        if factors is None:
            return as_onnx(node, "Resize", settings, {3: node.result()})
        return as_onnx(node, "Resize", settings, {2: [1, 1, *_numbers(factors, len(node.shape()) - 2)]})

    return rule


def _reduction(given: Values, node: Node) -> tuple[Slots, str]:
    if "other" in given:  # the larger, or the smaller, of two tensors
        return elementwise(node)
    axes = _numbers(given.get("dim", []), 1)
    return as_onnx(node, "ReduceMax", {"keepdims": int(given.get("keepdim", False)), "axes": axes})


def _over_axis(reason: str) -> Rule:
    def rule(given: Values, node: Node) -> tuple[Slots, str]:
        shape = node.shape()
        return {0: kept(shape, [int(given.get("dim", -1)) % len(shape)])}, reason

    return rule


def _batch_norm(given: Values, node: Node) -> tuple[Slots, str]:
    return as_onnx(node, "BatchNormalization", {"training_mode": int(bool(given.get("training", False)))})


def _prelu(given: Values, node: Node) -> tuple[Slots, str]:
    """Returns what prelu reads: its weights lie along the channels."""
    shape = node.shape()
    return {0: kept(shape, ()), 1: [along(1)] if len(shape) > 1 and node.shape(1) != (1,) else [Reads({})]}, ""


def _padded(given: Values, node: Node) -> tuple[Slots, str]:
    """Returns what a pad reads; torch gives the pads of the last axis first."""
    pads, rank = [int(pad) for pad in given["pad"]], len(node.shape())
    front = [0] * (rank - len(pads) // 2)
    mode = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}[
        given.get("mode", "constant")
    ]
    return as_onnx(node, "Pad", {"mode": mode, "pads": [*front, *pads[0::2][::-1], *front, *pads[1::2][::-1]]})


def _attention(given: Values, node: Node) -> tuple[Slots, str]:
    return attention(node)


ELEMENTWISE = frozenset(
    "__and__ __or__ __xor__ _to_copy abs acos acosh add addcdiv addcmul asin asinh atan atan2 atanh bitwise_and"
    " bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor ceil celu clamp clamp_max clamp_min"
    " clip clone cos cosh div elu eq erf exp expm1 floor floor_divide fmod ge gelu gt"
    " hardshrink hardsigmoid hardswish hardtanh isinf isnan le leaky_relu lerp log log10 log1p log2 log_sigmoid"
    " logical_and logical_not logical_or logical_xor lt masked_fill maximum minimum mish mul nan_to_num ne neg pow"
    " reciprocal relu relu6 remainder round rsqrt rsub selu sigmoid sign silu sin sinh softplus softshrink softsign"
    " sqrt square sub tan tanh threshold to trunc type_as where".split()
)
# Operators whose results may share memory with their first tensor.
VIEWS = frozenset(
    f"aten.{name}"
    for name in "_reshape_alias alias alpha_dropout as_strided broadcast_to chunk contiguous detach diagonal dropout expand"
    " expand_as feature_dropout flatten imag movedim narrow permute real reshape reshape_as select slice split"
    " split_with_sizes squeeze swapaxes swapdims t tensor_split to transpose type_as unbind unflatten unfold unsqueeze"
    " view view_as view_as_complex view_as_real".split()
)
RULES: dict[str, Rule] = {
    **dict.fromkeys(("conv1d", "conv2d", "conv3d", "convolution"), _convolution),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), _transposed),
    **dict.fromkeys(("max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d"), _pool),
    **dict.fromkeys(("max_pool2d_with_indices", "max_pool3d_with_indices"), _pool),
    **dict.fromkeys((f"adaptive_{kind}_pool{n}d" for kind in ("avg", "max") for n in (1, 2, 3)), _adaptive),
    **dict.fromkeys(("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"), _upsample("nearest")),
    **dict.fromkeys(("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d"), _upsample("linear")),
    "upsample_bicubic2d": _upsample("cubic"),
    "_upsample_bilinear2d_aa": _upsample("linear", 1),
    "_upsample_bicubic2d_aa": _upsample("cubic", 1),
    **dict.fromkeys("mean sum amax amin prod var std argmax argmin logsumexp any all max min".split(), _reduction),
    **dict.fromkeys(("layer_norm", "rms_norm"), lambda given, node: as_onnx(
        node, "LayerNormalization", {"axis": -len(given["normalized_shape"])})),
    "group_norm": lambda given, node: as_onnx(node, "GroupNormalization", {"num_groups": given["num_groups"]}),
    "instance_norm": _plain("InstanceNormalization"),
    "batch_norm": _batch_norm,
    "linalg_vector_norm": _reduction,
    **dict.fromkeys(("softmax", "_softmax", "log_softmax", "_log_softmax"), _over_axis("normalises over the axis")),
    "linear": _over_axis("sums over the axis"),
    "cumsum": _over_axis("sums up the axis"),
    **dict.fromkeys(("matmul", "mm", "bmm"), _plain("MatMul")),
    "einsum": lambda given, node: as_onnx(node, "Einsum", {"equation": given["equation"]}),
    "prelu": _prelu,
    "pad": _padded,
    **dict.fromkeys(("zeros_like", "ones_like", "full_like", "empty_like"), lambda given, node: (nothing(node), "")),
    **dict.fromkeys(("dropout", "alpha_dropout", "feature_dropout"), lambda given, node: (
        {0: kept(node.shape(), ())}, DRAWS if given.get("train", True) else "")),
    "glu": _over_axis("multiplies halves of the axis"),
    "channel_shuffle": lambda given, node: ({0: kept(node.shape(), [1])}, "shuffles the channels"),
    "scaled_dot_product_attention": _attention,
}  # fmt: skip

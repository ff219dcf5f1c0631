# SPDX-License-Identifier: Apache-2.0
"""The window of a problem, read from its attributes whatever the dialect calls them."""

from __future__ import annotations

from math import prod
from typing import Any

from problem import Problem
from windows import Window

SUMS = frozenset({"torch.fold", "onnx.Col2Im-18", "openvino.Col2Im-15"})
WINDOWS = SUMS | {
    "torch.unfold",
    "openvino.ExtractImagePatches-3",
    "tensorflow.ExtractImagePatches",
    "tensorflow.ExtractVolumePatches",
}


def _axes(value: Any, rank: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * rank


def _same(image: int, effective: int, stride: int, lower: bool, clamp: bool) -> tuple[int, int]:
    """SAME: ceil(image / stride) positions; the odd cell lies at the end, or at the beginning (lower)."""
    total = (-(-image // stride) - 1) * stride + effective - image
    total = max(total, 0) if clamp else total
    begin = (total + lower) // 2 if total >= 0 else -(-total // 2)
    return begin, total - begin


def window_of(problem: Problem) -> Window:
    """Only for problems that are valid: nothing is checked."""
    given, shape, op = problem.attributes, problem.data.shape, problem.op
    if op in SUMS:
        kernel_name = "block_shape" if op.startswith("onnx") else "kernel_size"
        image_name = "image_shape" if op.startswith("onnx") else "output_size"
        lists = [v for v in given.values() if isinstance(v, (tuple, list))]
        rank = 2 if op.startswith(("torch", "openvino")) and not lists else len(given[image_name]) if isinstance(
            given[image_name], (tuple, list)) else len(lists[0])
        image, kernel = _axes(given[image_name], rank), _axes(given[kernel_name], rank)
        batch, channels = shape[:-2], shape[-2] // prod(kernel)
    elif op == "torch.unfold":
        lists = [v for v in given.values() if isinstance(v, (tuple, list))]
        rank = len(lists[0]) if lists else 2
        batch, channels, image = shape[: -rank - 1], shape[-rank - 1], shape[-rank:]
        kernel = _axes(given["kernel_size"], rank)
    elif op.startswith("openvino"):
        rank, batch, channels, image, kernel = 2, shape[:1], shape[1], shape[2:], tuple(given["sizes"])
    else:
        rank, batch, channels, image = len(shape) - 2, shape[:1], shape[-1], shape[1:-1]
        kernel = tuple(given["ksizes"][1:-1])
    stride, dilation = (1,) * rank, (1,) * rank
    for name, value in given.items():
        inner = value[1:-1] if op.startswith("tensorflow") and name in ("strides", "rates") else value
        if name in ("stride", "strides"):
            stride = _axes(inner, rank)
        elif name in ("dilation", "dilations", "rates"):
            dilation = _axes(inner, rank)
    pads, same = _pads(problem, rank, image, kernel, stride, dilation)
    return Window(tuple(image), kernel, stride, dilation, pads, same, tuple(batch), channels)


def _pads(
    problem: Problem, rank: int, image: tuple[int, ...], kernel: tuple[int, ...], stride: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[tuple[tuple[int, int], ...], bool]:
    given, op = problem.attributes, problem.op
    rule = given.get("auto_pad", given.get("padding"))
    if isinstance(rule, str):
        if rule.lower() == "valid":
            return ((0, 0),) * rank, False
        clamp = not op.endswith("VolumePatches")
        effective = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
        axes = zip(image, effective, stride, strict=True)
        return tuple(_same(i, e, s, rule == "same_lower", clamp) for i, e, s in axes), True
    if op.startswith("torch"):
        return tuple((p, p) for p in _axes(given.get("padding", 0), rank)), False
    if op.startswith("onnx"):
        flat = given.get("pads", (0,) * 2 * rank)
        return tuple(zip(flat[:rank], flat[rank:], strict=True)), False
    zeros = (0,) * rank
    return tuple(zip(given.get("pads_begin", zeros), given.get("pads_end", zeros), strict=True)), False

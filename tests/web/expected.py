# SPDX-License-Identifier: Apache-2.0
"""Computes what the page must show for a state, by the formulas of include/patchfold/operators.hpp in NumPy, and draws
random states.

Every operator is a table of indices: for each element of the columns (or blocks), the table has the index of the image's
element that is copied, or -1. This file shares no code with the page.
"""

import math
import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

State = dict[str, Any]
Table = npt.NDArray[np.int64]
Values = npt.NDArray[Any]
OFFERED = {
    "unfold": ["patchfold", "torch", "keras"],
    "fold": ["patchfold", "torch", "onnx", "openvino", "keras"],
    "extract_patches": ["patchfold", "tensorflow", "openvino", "keras"],
    "space_to_depth": ["patchfold", "torch", "onnx", "tensorflow", "openvino"],
    "depth_to_space": ["patchfold", "torch", "onnx", "tensorflow", "openvino"],
    "space_to_batch": ["patchfold", "tensorflow", "openvino"],
    "batch_to_space": ["patchfold", "tensorflow", "openvino"],
}
PATCHES = ("unfold", "fold", "extract_patches")
BACKWARDS = ("fold", "depth_to_space", "batch_to_space")
FRAMEWORKS = ("tensorflow", "openvino", "keras")


@dataclass
class Problem:
    """The input of a state's operator and its result, in their layouts."""

    input: Values
    output: Values


class Refused(Exception):
    """Raised if the operator refuses the state."""


def require(condition: bool, why: str) -> None:
    if not condition:
        raise Refused(why)


def check_dialect(state: State, pads: list[tuple[int, int]]) -> None:
    """Checks the rules of the dialects' specifications."""
    dialect, operator, kernel, axes = state["dialect"], state["operator"], state["kernel"], len(state["kernel"])
    if operator in ("unfold", "fold") and dialect in ("torch", "keras"):
        require(all(begin == end for begin, end in pads), "one pad for both ends")
        require(dialect == "torch" or axes == 2, "two axes")
    if operator == "fold" and dialect == "openvino":
        require(axes == 2, "two axes")
    if operator == "extract_patches" and dialect != "patchfold":
        require(axes in {"tensorflow": (2, 3), "openvino": (2,), "keras": (2, 3)}[dialect], "axes")
        require(dialect == "openvino" or state["padding_rule"] != "same_lower", "no same_lower")
        require(not (dialect == "tensorflow" and axes == 3) or max(state["dilation"]) == 1, "no dilation")
    if operator == "batch_to_space" and dialect == "patchfold":
        require(not state["padding_rule"].startswith("same"), "crops are numbers")
    if operator in ("space_to_depth", "depth_to_space") and dialect != "patchfold":
        require(len(set(kernel)) == 1, "one block for all axes")
        require(axes == 2 or dialect == "openvino", "two axes")
        require(dialect != "tensorflow" or kernel[0] > 1, "blocks of 2")


def pads_of(state: State) -> list[tuple[int, int]]:
    operator, dialect, rule = state["operator"], state["dialect"], state["padding_rule"]
    none = [(0, 0)] * len(state["kernel"])
    by_rule = operator == "extract_patches" and dialect in FRAMEWORKS
    if operator in ("space_to_depth", "depth_to_space") or rule == "valid":
        return none
    if rule == "explicit":
        return none if by_rule else [(begin, end) for begin, end in state["padding"]]
    if dialect != "patchfold" and not by_rule or operator == "batch_to_space":
        return none
    pads = []
    for extent, k, s, d in zip(state["shape"][2:], state["kernel"], state["stride"], state["dilation"], strict=True):
        step, reach = (k, k) if operator not in PATCHES else (s, (k - 1) * d + 1)
        total = (-(-extent // step) - 1) * step + reach - extent
        if not (dialect == "tensorflow" and len(none) == 3):
            total = max(total, 0)
        less = math.trunc(total / 2)
        pads.append((total - less, less) if rule == "same_lower" else (less, total - less))
    return pads


def layout_of(state: State) -> str:
    dialect, operator = state["dialect"], state["operator"]
    free = (
        dialect == "patchfold"
        or (dialect == "tensorflow" and "depth" in operator)
        or (dialect, operator) == ("keras", "extract_patches")
    )
    if free:
        return str(state["layout"])
    return "channels_last" if dialect == "tensorflow" else "channels_first"


def padded(numbers: Table, pads: list[tuple[int, int]], mode: str) -> Table:
    """Returns the indices of an image (N, C, ..) with pads, whose index is -1; negative pads crop."""
    for axis, (begin, end) in enumerate(pads, 2):
        extent = numbers.shape[axis]
        numbers = np.take(numbers, range(max(0, -begin), extent - max(0, -end)), axis)
        widths = [(0, 0)] * numbers.ndim
        widths[axis] = (max(0, begin), max(0, end))
        if mode == "constant":
            numbers = np.pad(numbers, widths, constant_values=-1)
        elif any(widths[axis]):
            require(mode != "reflect" or extent > 1, "no reflection of one element")
            numbers = np.pad(numbers, widths, mode)  # type: ignore[call-overload]
    return numbers


def last(table: Table, layout: str) -> Table:
    """Returns the table, with the channels moved to the last axis if the layout is channels_last."""
    return np.moveaxis(table, 1, -1) if layout == "channels_last" else table


def columns_table(state: State, image: Table, pads: list[tuple[int, int]]) -> Table:
    operator, kernel, neutral = state["operator"], state["kernel"], state["dialect"] == "patchfold"
    mode = state["padding_mode"] if neutral and operator != "fold" else "constant"
    numbers = padded(image, pads, mode)
    windows, axes = numbers, len(kernel)
    for axis, (k, s, d) in enumerate(zip(kernel, state["stride"], state["dilation"], strict=True), 2):
        positions = (windows.shape[axis] - (k - 1) * d - 1) // s + 1 if windows.shape[axis] > (k - 1) * d else 0
        require(positions > 0, "the image is smaller than a patch")
        index = np.arange(positions)[:, None] * s + np.arange(k) * d
        windows = np.moveaxis(np.take(windows, index, axis), axis + 1, -1)  # taps go to the end
    places = windows.shape[2 : 2 + axes]
    patches = operator == "extract_patches"
    order = "kernel" if patches else state["order"] if neutral else "channel"
    flat = not patches and (not neutral or state["positions"] == "flat")
    tapped = np.moveaxis(windows, range(-axes, 0), range(2, 2 + axes))  # N, C, taps, positions
    if order == "kernel":
        tapped = np.moveaxis(tapped, 1, 1 + axes)
    n, c = image.shape[:2]
    return last(tapped.reshape(n, c * math.prod(kernel), *([-1] if flat else places)), layout_of(state))


def blocks_table(state: State, image: Table, pads: list[tuple[int, int]]) -> Table:
    kernel, axes = state["kernel"], len(state["kernel"])
    numbers = padded(image, pads, "constant")
    require(all(extent % k == 0 for extent, k in zip(numbers.shape[2:], kernel, strict=True)), "whole blocks")
    places = [extent // k for extent, k in zip(numbers.shape[2:], kernel, strict=True)]
    n, c = image.shape[:2]
    split = numbers.reshape(n, c, *(length for pair in zip(places, kernel, strict=True) for length in pair))
    offsets, blocks = list(range(3, 3 + 2 * axes, 2)), list(range(2, 2 + 2 * axes, 2))
    if "batch" in state["operator"]:
        table = split.transpose(*offsets, 0, 1, *blocks).reshape(-1, c, *places)
    else:
        dialect, mode = state["dialect"], state["mode"]
        deep = (
            dialect == "torch"
            or (dialect in ("patchfold", "openvino") or state["operator"] == "depth_to_space" and dialect == "onnx")
            and mode == "depth_first"
        )
        inner = [1, *offsets] if deep else [*offsets, 1]
        table = split.transpose(0, *inner, *blocks).reshape(n, -1, *places)
    return last(table, layout_of(state))


def summed(state: State, table: Table, values: Values, image: Table) -> Values:
    """Returns the sums or means for each pixel. Numbers are small, so that every sum is exact in any order."""
    dtype = values.dtype
    wide = np.float32 if dtype == np.float16 else dtype
    mean = state["dialect"] == "patchfold" and state["reduce"] == "mean"
    if mean:
        wide = np.float64 if dtype.kind == "f" else np.int64
    sums, counts = np.zeros(image.size + 1, wide), np.zeros(image.size + 1, np.int64)
    np.add.at(sums, table.ravel(), values.ravel().astype(wide))
    np.add.at(counts, table.ravel(), 1)
    sums, counts = sums[:-1], counts[:-1]  # index -1, which is the last entry, collects what falls into the pads
    if not mean:
        return sums.astype(dtype)
    quotients = sums / np.maximum(counts, 1)
    return (np.rint(quotients) if dtype.kind in "iu" else quotients).astype(dtype)


def tables(state: State) -> tuple[Table, Table]:
    """Returns the indices of the image's elements (N, C, ..), and the table. Raises Refused where the operator refuses the
    state."""
    pads = pads_of(state)
    check_dialect(state, pads)
    image = np.arange(math.prod(state["shape"])).reshape(state["shape"])
    return image, (columns_table if state["operator"] in PATCHES else blocks_table)(state, image, pads)


def traced(state: State) -> Table:
    """Returns, for each element of the columns or blocks, which element of the image's memory it copies, or -1."""
    image, table = tables(state)
    places = np.full(image.size + 1, -1)
    places[last(image, layout_of(state)).ravel()] = np.arange(image.size)
    return places[table]


def expected(state: State) -> Problem:
    """Returns the input and the output of a complete state. Raises Refused where the operator refuses the state."""
    image, table = tables(state)
    laid = last(image, layout_of(state))
    dtype = np.dtype(state["dtype"])

    def numbers(shape: tuple[int, ...]) -> Values:
        counted = np.arange(math.prod(shape))
        return ((counted % 250 if dtype == np.uint8 else counted) + 1).astype(dtype).reshape(shape)

    if state["operator"] not in BACKWARDS:
        source = numbers(laid.shape)
        by_number = np.zeros(image.size + 1, dtype)  # the last entry, index -1, stands for the pads
        by_number[laid.ravel()] = source.ravel()
        return Problem(source, by_number[table])
    source = numbers(table.shape)
    sums = summed(state, table, source, image)
    return Problem(source, sums[laid])


def draw(random_: random.Random, operator: str, dialect: str) -> State:
    """Returns a random state with the fields that links carry. The operator may refuse the state."""
    two = {"torch": 2, "keras": 2}.get(dialect, 0) if random_.random() < 0.8 else 0
    axes = two or random_.choice((1, 2, 2, 2, 3, 3))
    blocks = operator not in PATCHES
    most = {1: 3, 2: 3, 3: 2}[axes]
    kernel = [random_.randint(1, most + 1) for _ in range(axes)]
    if blocks and random_.random() < 0.7:
        kernel = [random_.randint(2, 3)] * axes
    stride = [random_.randint(1, 3) for _ in range(axes)]
    dilation = [random_.choice((1, 1, 2)) for _ in range(axes)]
    padding = [[random_.randint(0, 2), random_.randint(0, 2)] for _ in range(axes)]
    if random_.random() < 0.5 or (dialect in ("torch", "keras")):
        padding = [[begin, begin] for begin, _ in padding]
    if blocks:
        padding = [[begin, k - begin % k] if begin % k else [0, 0] for (begin, _), k in zip(padding, kernel, strict=True)]
        extents = [k * random_.randint(1, 3) for k in kernel]
    else:
        extents = [(k - 1) * d + random_.randint(1, 5) for k, d in zip(kernel, dilation, strict=True)]
    state: State = {
        "operator": operator,
        "dialect": dialect,
        "shape": [random_.randint(1, 2), random_.randint(1, 3), *extents],
        "layout": random_.choice(("channels_first", "channels_last")),
        "kernel": kernel,
        "stride": stride,
        "dilation": dilation if random_.random() < 0.6 else [1] * axes,
        "padding": padding,
        "padding_rule": random_.choice(("explicit", "explicit", "valid", "same_upper", "same_lower")),
        "order": random_.choice(("channel", "kernel")),
        "positions": random_.choice(("flat", "grid")),
        "mode": random_.choice(("blocks_first", "depth_first")),
        "reduce": random_.choice(("sum", "sum", "mean")),
        "dtype": random_.choice(("float32", "float32", "float32", "float64", "float16", "int32", "int64", "uint8")),
    }
    if random_.random() < 0.3:
        state["padding_mode"] = random_.choice(("edge", "reflect", "symmetric", "wrap"))
    return state


def states(seed: int, rounds: int) -> tuple[list[tuple[State, Problem]], list[State]]:
    """Returns `rounds` accepted states of each dialect's operators with their problems, and some refused states."""
    random_ = random.Random(seed)
    taken, refused = [], []
    standard = {"padding_mode": "constant", "input": None}
    for operator, dialects in OFFERED.items():
        for dialect in dialects:
            found = 0
            while found < rounds:
                state = standard | draw(random_, operator, dialect)
                try:
                    taken.append((state, expected(state)))
                    found += 1
                except Refused:
                    refused.append(state)
    return taken, refused

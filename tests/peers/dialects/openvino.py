# SPDX-License-Identifier: Apache-2.0
"""OpenVINO's operators: how their settings are drawn, and the features that must occur in a run."""

from math import prod
from typing import Any

from definitions import batch_to_space, combine, depth_to_space, extract, space_to_batch, space_to_depth
from drawing import Draw, Fault, Setting, chance, number
from facts import (
    BATCHES,
    BLOCKS,
    COLUMNS,
    DILATED,
    PADDED,
    PAIRS,
    PATCHES,
    RANKS,
    WINDOW,
    Facts,
    axes,
    entries,
    lengths,
)
from problem import Array, Problem
from windows import Rules, Window, block_axis, draw_window, few, give, ones, pads_of_rule


def col2im(draw: Draw, op: str) -> Setting:
    w = draw_window(draw, 2, Rules(dilations=(0, 3), batch_axes=0 if chance(draw, 25) else 1))
    begins, ends = tuple(b for b, _ in w.pads), tuple(e for _, e in w.pads)
    attributes: dict[str, Any] = {"output_size": w.image, "kernel_size": w.kernel}
    give(draw, attributes, "strides", w.stride, ones(w.stride))
    give(draw, attributes, "dilations", w.dilation, ones(w.dilation))
    give(draw, attributes, "pads_begin", begins, not any(begins))
    give(draw, attributes, "pads_end", ends, not any(ends))
    return Setting(attributes, w.columns)


def window_of_columns(problem: Problem) -> Window:
    given, shape = problem.attributes, problem.data.shape
    image, kernel = tuple(given["output_size"]), tuple(given["kernel_size"])
    stride, dilation = (tuple(given.get(name, (1, 1))) for name in ("strides", "dilations"))
    pads = tuple(zip(given.get("pads_begin", (0, 0)), given.get("pads_end", (0, 0)), strict=True))
    return Window(image, kernel, stride, dilation, pads, False, shape[:-2], shape[-2] // prod(kernel))


def summed(problem: Problem) -> Array:
    return combine(problem.data, window_of_columns(problem))


def patches(draw: Draw, op: str) -> Setting:
    w = draw_window(draw, 2, Rules(same_pads=True, zero_extents=True))
    rule = ("same_upper", "same_lower")[number(draw, 0, 1)] if w.same else "valid"
    return Setting({"sizes": w.kernel, "strides": w.stride, "rates": w.dilation, "auto_pad": rule}, w.first())


def window_of_image(problem: Problem) -> Window:
    given, shape = problem.attributes, problem.data.shape
    kernel, stride, dilation = (tuple(given[name]) for name in ("sizes", "strides", "rates"))
    pads, same = pads_of_rule(given["auto_pad"], shape[2:], kernel, stride, dilation)
    return Window(shape[2:], kernel, stride, dilation, pads, same, shape[:1], shape[1])


def extracted(problem: Problem) -> Array:
    w = window_of_image(problem)
    columns = extract(problem.data, w).swapaxes(1, 2)
    return columns.reshape(*w.batch, w.channels * prod(w.kernel), *w.positions)


def batch(draw: Draw, op: str) -> Setting:
    # The number of axes after the batch axis.
    rank = (3, 3, 4, 2, 1, 5)[number(draw, 0, 5)]
    blocks = tuple(number(draw, 1, 3 if rank < 4 else 2) for _ in range(rank))
    all_axes = [block_axis(draw, block, True, 3 if rank < 4 else 2) for block in blocks]
    count = few(draw)
    to_batch = "SpaceToBatch" in op
    begin, end = ("pads_begin", "pads_end") if to_batch else ("crops_begin", "crops_end")
    attributes = {
        "block_shape": (1, *blocks),
        begin: (0, *(a[1] for a in all_axes)),
        end: (0, *(a[2] for a in all_axes)),
    }
    if to_batch:
        return Setting(attributes, (count, *(a[3] for a in all_axes)))
    return Setting(attributes, (count * prod(blocks), *(a[0] for a in all_axes)))


def moved_to_batch(problem: Problem) -> Array:
    given = problem.attributes
    move, kind = (space_to_batch, "pads") if "SpaceToBatch" in problem.op else (batch_to_space, "crops")
    pairs = tuple(zip(given[f"{kind}_begin"], given[f"{kind}_end"], strict=True))
    return move(problem.data, given["block_shape"][1:], pairs[1:])


def depth(draw: Draw, op: str) -> Setting:
    rank = (2, 2, 2, 1, 3, 4)[number(draw, 0, 5)]
    block = number(draw, 1, 4 if rank < 3 else 2)
    mode = ("blocks_first", "depth_first")[number(draw, 0, 1)]
    attributes: dict[str, Any] = {"blocks_mode": mode}
    if block > 1 or chance(draw, 50):
        attributes["block_size"] = block
    counts = tuple(block_axis(draw, block, False, 4 if rank < 3 else 2)[0] for _ in range(rank))
    n, c = few(draw), few(draw)
    if "SpaceToDepth" in op:
        return Setting(attributes, (n, c, *(count * block for count in counts)))
    return Setting(attributes, (n, c * block**rank, *counts))


def moved_to_depth(problem: Problem) -> Array:
    given = problem.attributes
    move = space_to_depth if "SpaceToDepth" in problem.op else depth_to_space
    block = (given.get("block_size", 1),) * (problem.data.ndim - 2)
    return move(problem.data, block, given["blocks_mode"] == "blocks_first")


_BATCH = entries(0, "block_shape") + [Fault("extent", "1", 1), Fault("rank", value=1)]
_SHOWN_BATCH = BLOCKS | PAIRS | {"block 1", "different blocks"} | axes(2, 3, 4, 5, 6, what="axes of data")
_SHOWN_DEPTH = BLOCKS | {"block 1", "blocks_mode blocks_first", "blocks_mode depth_first"} | axes(
    3, 4, 5, 6, what="axes of data")

OPERATORS = {
    "Col2Im-15": Facts(
        col2im,
        COLUMNS + entries(0, "kernel_size", "strides")
        + lengths("output_size", "kernel_size", "strides", "dilations", "pads_begin", "pads_end"),
        WINDOW | DILATED | PADDED | BATCHES | {"asymmetric pads", "no positions", "dilation 0"},
        summed,
        window_of_columns,
    ),
    "ExtractImagePatches-3": Facts(
        patches,
        entries(0, "sizes", "strides", "rates") + lengths("sizes", "strides", "rates") + RANKS
        + [Fault("replace", "auto_pad", "explicit")],
        WINDOW | DILATED | PATCHES | {"auto_pad valid", "auto_pad same_upper", "auto_pad same_lower"},
        extracted,
        window_of_image,
    ),
    "SpaceToBatch-2": Facts(
        batch,
        _BATCH + entries(-1, "block_shape", "pads_begin", "pads_end") + entries(1, "pads_begin", "pads_end")
        + entries(2, "block_shape"),
        _SHOWN_BATCH,
        moved_to_batch,
    ),
    "BatchToSpace-2": Facts(
        batch,
        _BATCH + entries(-1, "block_shape", "crops_begin", "crops_end") + [Fault("extent", "0", 1)]
        + entries(99, "crops_begin", "crops_end"),
        _SHOWN_BATCH,
        moved_to_batch,
    ),
    "SpaceToDepth-1": Facts(
        depth, [*entries(0, "block_size"), Fault("extent", "-1", 1), Fault("replace", "blocks_mode", "x")], _SHOWN_DEPTH,
        moved_to_depth,
    ),
    "DepthToSpace-1": Facts(
        depth, [*entries(0, "block_size"), Fault("extent", "1", 1), Fault("replace", "blocks_mode", "x")], _SHOWN_DEPTH,
        moved_to_depth,
    ),
}

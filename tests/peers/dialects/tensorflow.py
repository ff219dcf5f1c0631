# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's operators: how their settings are drawn, and the features that must occur in a run."""

import math
from typing import Any

import numpy
from definitions import batch_to_space, depth_to_space, extract, space_to_batch, space_to_depth
from drawing import Draw, Fault, Setting, chance, number
from facts import BLOCKS, DILATED, PAIRS, PATCHES, RANKS, WINDOW, Facts, axes, entries, lengths
from problem import Array, Problem
from windows import Rules, Window, block_axis, draw_window, few, pads_of_rule


def batch(draw: Draw, op: str) -> Setting:
    block = number(draw, 2, 4)
    both = [block_axis(draw, block, True, 3) for _ in range(2)]
    count, channels = few(draw), few(draw)
    pads = tuple((begin, end) for _, begin, end, _ in both)
    if op.endswith(".SpaceToBatch"):
        return Setting({"paddings": pads, "block_size": block}, (count, *(a[3] for a in both), channels))
    return Setting({"crops": pads, "block_size": block}, (count * block * block, *(a[0] for a in both), channels))


def batch_nd(draw: Draw, op: str) -> Setting:
    rank = (2, 1, 3, 4, 0, 5)[number(draw, 0, 5)]
    blocks = tuple(number(draw, 1, 4 if rank < 3 else 2) for _ in range(rank))
    all_axes = [block_axis(draw, block, True, 3 if rank < 4 else 2) for block in blocks]
    count = few(draw)
    rest = tuple(few(draw) for _ in range(number(draw, 0, 2)))
    pads = tuple((begin, end) for _, begin, end, _ in all_axes)
    if op.endswith(".SpaceToBatchND"):
        return Setting({"block_shape": blocks, "paddings": pads}, (count, *(a[3] for a in all_axes), *rest))
    shape = (count * math.prod(blocks), *(a[0] for a in all_axes), *rest)
    return Setting({"block_shape": blocks, "crops": pads}, shape)


def depth(draw: Draw, op: str) -> Setting:
    block = number(draw, 2, 4)
    to_depth = op.endswith(".SpaceToDepth")
    n, c, h, w = few(draw), few(draw), *(block_axis(draw, block, False, 3)[0] for _ in range(2))
    c, h, w = (c, h * block, w * block) if to_depth else (c * block * block, h, w)
    attributes: dict[str, Any] = {"block_size": block}
    data_format = "NCHW" if chance(draw, 10) else "NHWC"
    if data_format == "NCHW" or chance(draw, 50):
        attributes["data_format"] = data_format
    return Setting(attributes, (n, c, h, w) if data_format == "NCHW" else (n, h, w, c))


def patches(draw: Draw, op: str) -> Setting:
    volume = _is_volume(op)
    w = draw_window(draw, 3 if volume else 2, Rules(
        same_pads=True, zero_extents=True, dilations=(1, 1) if volume else (1, 3)))
    attributes: dict[str, Any] = {"ksizes": (1, *w.kernel, 1), "strides": (1, *w.stride, 1)}
    if not volume:
        attributes["rates"] = (1, *w.dilation, 1)
    attributes["padding"] = "SAME" if w.same else "VALID"
    return Setting(attributes, w.last())


def _is_volume(op: str) -> bool:
    return op.endswith("VolumePatches")


def window(problem: Problem) -> Window:
    given, shape = problem.attributes, problem.data.shape
    image, kernel, stride = shape[1:-1], tuple(given["ksizes"][1:-1]), tuple(given["strides"][1:-1])
    dilation = tuple(given["rates"][1:-1]) if "rates" in given else (1,) * len(image)
    # SAME gives volumes negative pads if the stride exceeds the kernel: the first patch begins inside of the volume.
    pads, same = pads_of_rule(given["padding"], image, kernel, stride, dilation, crops=_is_volume(problem.op))
    return Window(image, kernel, stride, dilation, pads, same, shape[:1], shape[-1])


def extracted(problem: Problem) -> Array:
    w = window(problem)
    columns = extract(numpy.moveaxis(problem.data, -1, 1), w)
    grid = range(3, columns.ndim)
    return columns.transpose(0, *grid, 2, 1).reshape(*w.batch, *w.positions, math.prod(w.kernel) * w.channels)


def moved_to_batch(problem: Problem) -> Array:
    given = problem.attributes
    pairs = given["paddings"] if "paddings" in given else given["crops"]
    block = given["block_shape"] if "block_shape" in given else (given["block_size"],) * 2
    return (space_to_batch if "SpaceToBatch" in problem.op else batch_to_space)(problem.data, block, pairs)


def moved_to_depth(problem: Problem) -> Array:
    given = problem.attributes
    move = space_to_depth if "SpaceToDepth" in problem.op else depth_to_space
    block = (given["block_size"],) * 2
    if given.get("data_format", "NHWC") == "NCHW":
        return move(problem.data, block, True)
    return numpy.moveaxis(move(numpy.moveaxis(problem.data, -1, 1), block, True), 1, -1)


_SPATIAL = [Fault("extent", str(axis), 1) for axis in (1, 2)]
_DEPTH = [*entries(0, "block_size"), *entries(1, "block_size"), *entries(-1, "block_size"), *RANKS]
_BATCH_ND = entries(0, "block_shape") + entries(-1, "block_shape") + lengths("block_shape")
_FORMATS = [Fault("replace", "data_format", "NCHW_VECT_C"), Fault("replace", "data_format", "CHWN")]
_PATCHES = (
    entries(0, "ksizes", "strides", "rates") + entries(-1, "ksizes", "strides", "rates")
    + lengths("ksizes", "strides", "rates") + RANKS + [Fault("replace", "padding", "FULL")]
)
_PADDINGS = entries(-1, "paddings") + lengths("paddings")
_CROPS = [Fault("extent", "0", 1)] + entries(-1, "crops") + entries(99, "crops") + lengths("crops")
_SHOWN_ND = BLOCKS | PAIRS | {"block 1", "different blocks"} | axes(0, 1, 2, 3, 4, what="blocked axes")
_SHOWN_PATCHES = WINDOW | PATCHES | {"padding SAME", "padding VALID"}

OPERATORS = {
    "SpaceToBatch": Facts(batch, _DEPTH + _SPATIAL + _PADDINGS, BLOCKS | PAIRS | {"extent > 64"}, moved_to_batch),
    "BatchToSpace": Facts(batch, _DEPTH + _CROPS, BLOCKS | PAIRS, moved_to_batch),
    "SpaceToBatchND": Facts(batch_nd, _BATCH_ND + _SPATIAL + _PADDINGS, _SHOWN_ND, moved_to_batch),
    "BatchToSpaceND": Facts(batch_nd, _BATCH_ND + _CROPS, _SHOWN_ND, moved_to_batch),
    "SpaceToDepth": Facts(depth, _DEPTH + _SPATIAL + _FORMATS, BLOCKS | {"data_format NHWC", "extent > 64"}, moved_to_depth),
    "DepthToSpace": Facts(
        depth, [*_DEPTH, Fault("extent", "-1", 1), *_FORMATS], BLOCKS | {"data_format NHWC"}, moved_to_depth),
    "*ImagePatches": Facts(patches, _PATCHES, _SHOWN_PATCHES | DILATED, extracted, window),
    "*VolumePatches": Facts(patches, _PATCHES, _SHOWN_PATCHES - {"extent > 64"}, extracted, window),
}

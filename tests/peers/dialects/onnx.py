# SPDX-License-Identifier: Apache-2.0
"""ONNX's operators: how their settings are drawn, and the features that must occur in a run."""

from math import prod
from typing import Any

from definitions import combine, depth_to_space, space_to_depth
from drawing import Draw, Fault, Setting, chance, number
from facts import BLOCKS, COLUMNS, DILATED, EVEN_CHANNELS, PADDED, RANKS, WINDOW, Facts, axes, entries, lengths
from problem import Array, Problem
from windows import Rules, Window, block_axis, draw_window, few, give, ones


def col2im(draw: Draw, op: str) -> Setting:
    rank = (2, 2, 2, 1, 3, 4)[number(draw, 0, 5)]
    w = draw_window(draw, rank, Rules())
    begins, ends = tuple(b for b, _ in w.pads), tuple(e for _, e in w.pads)
    attributes: dict[str, Any] = {"image_shape": w.image, "block_shape": w.kernel}
    give(draw, attributes, "dilations", w.dilation, ones(w.dilation))
    give(draw, attributes, "pads", begins + ends, not any(begins + ends))
    give(draw, attributes, "strides", w.stride, ones(w.stride))
    return Setting(attributes, w.columns)


def window(problem: Problem) -> Window:
    given, shape = problem.attributes, problem.data.shape
    image, kernel = tuple(given["image_shape"]), tuple(given["block_shape"])
    rank = len(image)
    # An empty list means the default.
    stride, dilation = (tuple(given.get(name) or (1,) * rank) for name in ("strides", "dilations"))
    flat = given.get("pads") or (0,) * 2 * rank
    pads = tuple(zip(flat[:rank], flat[rank:], strict=True))
    return Window(image, kernel, stride, dilation, pads, False, shape[:-2], shape[-2] // prod(kernel))


def summed(problem: Problem) -> Array:
    return combine(problem.data, window(problem))


def depth(draw: Draw, op: str) -> Setting:
    name, version = op.removeprefix("onnx.").split("-")
    to_depth = name == "SpaceToDepth"
    block = number(draw, 1, 4)
    n, c, h, w = few(draw), few(draw), *(block_axis(draw, block, False, 4)[0] for _ in range(2))
    attributes: dict[str, Any] = {"blocksize": block}
    if int(version) >= (28 if to_depth else 11):
        mode = ("DCR", "CRD")[number(draw, 0, 1)]
        if mode == "CRD" or chance(draw, 50):
            attributes["mode"] = mode
    return Setting(attributes, (n, c, h * block, w * block) if to_depth else (n, c * block * block, h, w))


def moved(problem: Problem) -> Array:
    given = problem.attributes
    move = space_to_depth if "SpaceToDepth" in problem.op else depth_to_space
    return move(problem.data, (given["blocksize"],) * 2, given.get("mode", "DCR") == "DCR")


_DEPTH = [*entries(0, "blocksize"), *entries(-1, "blocksize"), *RANKS, Fault("replace", "mode", "RCD")]
_TO_DEPTH, _TO_SPACE = [*_DEPTH, Fault("extent", "2", 1)], _DEPTH + EVEN_CHANNELS
_MODES = {"mode DCR", "mode CRD"}
_SHOWN = BLOCKS | {"block 1", "4 axes of data"}

OPERATORS = {
    "Col2Im-18": Facts(
        col2im,
        COLUMNS + entries(0, "block_shape", "strides", "dilations")
        + entries(-1, "block_shape", "strides", "dilations", "pads")
        + lengths("image_shape", "block_shape", "strides", "dilations", "pads"),
        WINDOW | DILATED | PADDED | {"asymmetric pads", "no positions"} | axes(1, 2, 3, 4),
        summed,
        window,
        # Settings for which another system and patchfold differ, and which random draws rarely give.
        [
            Setting({"image_shape": (4, 4), "block_shape": (2, 2), "pads": (-1, 0, 0, 0)}, (1, 4, 6)),
            Setting({"image_shape": (1, 4), "block_shape": (2, 2)}, (1, 5, 0)),
            Setting({"image_shape": (1, 4), "block_shape": (2, 2)}, (1, 4, 0, 2)),
            Setting({"image_shape": (4, 4), "block_shape": (2, 2), "dilations": ()}, (1, 4, 9)),
        ],
    ),
    "SpaceToDepth-28": Facts(depth, _TO_DEPTH, _SHOWN | _MODES | {"extent > 64"}, moved),
    "SpaceToDepth-*": Facts(depth, _TO_DEPTH, _SHOWN | {"extent > 64"}, moved),
    "DepthToSpace-1": Facts(depth, _TO_SPACE, _SHOWN, moved),
    "DepthToSpace-*": Facts(depth, _TO_SPACE, _SHOWN | _MODES, moved),
}

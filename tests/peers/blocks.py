# SPDX-License-Identifier: Apache-2.0
"""Random settings of the operators that move blocks: batch and depth, under their names in each dialect."""

from __future__ import annotations

import math
from typing import Any

from drawing import Draw, Setting, chance, number


def _axis(draw: Draw, block: int, pads: bool, most: int) -> tuple[int, int, int, int]:
    """Blocks on an axis, begin pad, end pad and the extent without them: blocks * block - begin - end."""
    nothing = chance(draw, 3)
    count = 0 if nothing else number(draw, 20, 40) if chance(draw, 3) else number(draw, 1, most)
    begin = max(0, number(draw, -2, block + 1)) if pads else 0
    end = max(0, number(draw, -2, block + 1)) if pads else 0
    # Extents of 0 are rare, with pads around them or without.
    while count * block < begin + end + (not nothing):
        count += 1
    return count, begin, end, count * block - begin - end


def _few(draw: Draw, zero: int = 4) -> int:
    return 0 if chance(draw, zero) else number(draw, 1, 3)


def tensorflow_batch(draw: Draw, op: str) -> Setting:
    block = number(draw, 2, 4)
    axes = [_axis(draw, block, True, 3) for _ in range(2)]
    batch, channels = _few(draw), _few(draw)
    pads = tuple((begin, end) for _, begin, end, _ in axes)
    if op.endswith(".SpaceToBatch"):
        return Setting({"paddings": pads, "block_size": block}, (batch, *(a[3] for a in axes), channels))
    return Setting({"crops": pads, "block_size": block}, (batch * block * block, *(a[0] for a in axes), channels))


def tensorflow_batch_nd(draw: Draw, op: str) -> Setting:
    rank = (2, 1, 3, 4, 0, 5)[number(draw, 0, 5)]
    blocks = tuple(number(draw, 1, 4 if rank < 3 else 2) for _ in range(rank))
    axes = [_axis(draw, block, True, 3 if rank < 4 else 2) for block in blocks]
    batch = _few(draw)
    rest = tuple(_few(draw) for _ in range(number(draw, 0, 2)))
    pads = tuple((begin, end) for _, begin, end, _ in axes)
    if op.endswith(".SpaceToBatchND"):
        return Setting({"block_shape": blocks, "paddings": pads}, (batch, *(a[3] for a in axes), *rest))
    shape = (batch * math.prod(blocks), *(a[0] for a in axes), *rest)
    return Setting({"block_shape": blocks, "crops": pads}, shape)


def tensorflow_depth(draw: Draw, op: str) -> Setting:
    block = number(draw, 2, 4)
    to_depth = op.endswith(".SpaceToDepth")
    n, c, h, w = _few(draw), _few(draw), *(_axis(draw, block, False, 3)[0] for _ in range(2))
    c, h, w = (c, h * block, w * block) if to_depth else (c * block * block, h, w)
    attributes: dict[str, Any] = {"block_size": block}
    data_format = "NCHW" if chance(draw, 10) else "NHWC"
    if data_format == "NCHW" or chance(draw, 50):
        attributes["data_format"] = data_format
    return Setting(attributes, (n, c, h, w) if data_format == "NCHW" else (n, h, w, c))


def torch_shuffle(draw: Draw, op: str) -> Setting:
    block = number(draw, 1, 4)
    unshuffle = op.endswith("unshuffle")
    c, h, w = _few(draw), *(_axis(draw, block, False, 4)[0] for _ in range(2))
    lead = tuple(_few(draw) for _ in range((1, 0, 2, 3)[number(draw, 0, 3)]))
    deep = (c * block * block, h, w)
    wide = (c, h * block, w * block)
    name = "downscale_factor" if unshuffle else "upscale_factor"
    return Setting({name: block}, (*lead, *(wide if unshuffle else deep)))


def onnx_depth(draw: Draw, op: str) -> Setting:
    name, version = op.removeprefix("onnx.").split("-")
    to_depth = name == "SpaceToDepth"
    block = number(draw, 1, 4)
    n, c, h, w = _few(draw), _few(draw), *(_axis(draw, block, False, 4)[0] for _ in range(2))
    attributes: dict[str, Any] = {"blocksize": block}
    if int(version) >= (28 if to_depth else 11):
        mode = ("DCR", "CRD")[number(draw, 0, 1)]
        if mode == "CRD" or chance(draw, 50):
            attributes["mode"] = mode
    return Setting(attributes, (n, c, h * block, w * block) if to_depth else (n, c * block * block, h, w))


def openvino_batch(draw: Draw, op: str) -> Setting:
    # Data of two to six axes; the first is the batch.
    rank = (3, 3, 4, 2, 1, 5)[number(draw, 0, 5)]
    blocks = tuple(number(draw, 1, 3 if rank < 4 else 2) for _ in range(rank))
    axes = [_axis(draw, block, True, 3 if rank < 4 else 2) for block in blocks]
    batch = _few(draw)
    to_batch = "SpaceToBatch" in op
    begin, end = ("pads_begin", "pads_end") if to_batch else ("crops_begin", "crops_end")
    attributes = {
        "block_shape": (1, *blocks),
        begin: (0, *(a[1] for a in axes)),
        end: (0, *(a[2] for a in axes)),
    }
    if to_batch:
        return Setting(attributes, (batch, *(a[3] for a in axes)))
    return Setting(attributes, (batch * math.prod(blocks), *(a[0] for a in axes)))


def openvino_depth(draw: Draw, op: str) -> Setting:
    rank = (2, 2, 2, 1, 3, 4)[number(draw, 0, 5)]
    block = number(draw, 1, 4 if rank < 3 else 2)
    mode = ("blocks_first", "depth_first")[number(draw, 0, 1)]
    attributes: dict[str, Any] = {"blocks_mode": mode}
    if block > 1 or chance(draw, 50):
        attributes["block_size"] = block
    counts = tuple(_axis(draw, block, False, 4 if rank < 3 else 2)[0] for _ in range(rank))
    n, c = _few(draw), _few(draw)
    if "SpaceToDepth" in op:
        return Setting(attributes, (n, c, *(count * block for count in counts)))
    return Setting(attributes, (n, c * block**rank, *counts))

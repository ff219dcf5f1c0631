# SPDX-License-Identifier: Apache-2.0
"""What other systems call it."""

from __future__ import annotations

from typing import Any

from .names import Name
from .readings import Found


def systems_of(name: Name, fill: Any = None) -> tuple[str, ...]:
    """Operators of other systems that give columns in this layout, with their settings."""
    found = name.found
    if found is None:
        return ()
    axes, place, rank = found.layout, found.image.place, len(found.kernel)
    blocks, one = found.is_blocks(), found.image.channels == 1
    plain = all(step == 1 for step in found.dilation)
    begins_at_0 = all(begin == 0 for begin, _ in found.padding)
    zero = fill is None or fill == 0
    channel, kernel = found.order == "channel" or one, found.order == "kernel" or one
    flat, grid = ("b (c k) (p)", "b (k c) (p)"), ("b (c k) p", "b (k c) p")
    names = []
    first = place in ("first", "none") and place != "none"
    if first and axes in flat and channel and zero:
        names.append("torch.nn.functional.unfold; the columns of ONNX Col2Im and OpenVINO Col2Im")
    if first and axes in grid and rank in (2, 3) and zero:
        if channel:
            names.append("jax.lax.conv_general_dilated_patches")
        if kernel and rank == 2 and _same_or_valid(found):
            names.append("OpenVINO ExtractImagePatches")
    if place == "last" and axes in ("b p (c k)", "b p (k c)") and kernel and zero and _same_or_valid(found):
        names.append({1: "tf.signal.frame", 2: "tf.image.extract_patches", 3: "tf.extract_volume_patches"}[rank])
    if blocks and first and axes in grid:
        if channel:
            names.append("ONNX SpaceToDepth and DepthToSpace, mode CRD; torch pixel_unshuffle; OpenVINO depth_first")
        if kernel:
            names.append("ONNX SpaceToDepth and DepthToSpace, mode DCR; OpenVINO blocks_first; tf.nn.space_to_depth, NCHW")
    if blocks and place == "last" and axes in ("b p (c k)", "b p (k c)") and kernel:
        names.append("tf.nn.space_to_depth, NHWC")
    if axes in ("(k b) c p", "(k b) p c") and all(k == s for k, s in zip(found.kernel, found.stride, strict=True)):
        names.append("tf.space_to_batch_nd; OpenVINO SpaceToBatch")
    if place == "none" and rank == 2 and not found.image.batch and axes in ("b (c K) (P)",) and plain and begins_at_0:
        if all(step == 1 for step in found.stride) and all(end == 0 for _, end in found.padding):
            names.append("MATLAB im2col, 'sliding'")
        if all(k == s for k, s in zip(found.kernel, found.stride, strict=True)):
            names.append("MATLAB im2col, 'distinct'")
    if blocks and axes in ("b (p) (c k)", "b (p) (k c)"):
        if channel:
            names.append("tokens of a vision transformer, patchfold.patchify(image, .., order='torch')")
        if kernel:
            names.append("tokens of a vision transformer, patchfold.patchify(image, .., order='vit')")
    if axes in ("b c p k", "b p c k") and plain and not any(map(any, found.padding)):
        names.append("torch.Tensor.unfold, numpy.lib.stride_tricks.sliding_window_view")
    return tuple(f"the inverse of {each}" if name.inverted else each for each in names)


def _same_or_valid(found: Found) -> bool:
    """Whether the padding is that of valid, same_upper or same_lower."""
    valid, upper, lower = True, True, True
    for i, extent in enumerate(found.image.spatial):
        stride, effective = found.stride[i], (found.kernel[i] - 1) * found.dilation[i] + 1
        total = max((-(-extent // stride) - 1) * stride + effective - extent, 0)
        begin, count = found.padding[i][0], found.positions[i]
        same = count == -(-extent // stride)
        valid = valid and begin == 0 and count == max((extent - effective) // stride + 1, 0)
        upper = upper and same and begin == total // 2
        lower = lower and same and begin == total - total // 2
    return valid or upper or lower

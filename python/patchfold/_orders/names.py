# SPDX-License-Identifier: Apache-2.0
"""The names of a relation of image and columns: what to call in patchfold, and what other systems call it."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._errors import Error
from .._operators.columns import unfold
from .layouts import ColumnLayout, Extents, ImageLayout, Shape

INVERSE = {"unfold": "fold", "space_to_depth": "depth_to_space", "space_to_batch": "batch_to_space"}


class Found(NamedTuple):
    """A relation of image and columns: layouts, geometry, and what of it the columns do not show."""

    image: ImageLayout
    layout: ColumnLayout
    kernel: Shape
    positions: Shape
    stride: Shape
    dilation: Shape
    padding: tuple[tuple[int, int], ...]
    open: tuple[str, ...] = ()
    fill: Any = None

    def is_blocks(self) -> bool:
        """Whether patches are blocks that fill the image, so that each element moves once."""
        cut = zip(self.kernel, self.stride, self.positions, self.image.spatial, strict=True)
        fills = all((kernel == stride or count == 1) and kernel * count == extent for kernel, stride, count, extent in cut)
        return fills and all(step == 1 for step in self.dilation) and all(pad == (0, 0) for pad in self.padding)

    def oddity(self) -> int:
        """How unlikely the geometry is: dilation, gaps between patches, more taps than positions, large or negative pads."""
        reach = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation, strict=True)]
        return (
            2 * any(step > 1 for step in self.dilation)
            + 2 * any(step > 4 for step in self.dilation)
            + 2 * any(s > r and p > 1 for s, r, p in zip(self.stride, reach, self.positions, strict=True))
            + 2 * any(min(pad) < 0 or max(pad) >= r for pad, r in zip(self.padding, reach, strict=True))
            + 3 * (prod(self.kernel) > prod(self.positions))
            - 3 * self.is_blocks()
        )

    def indices(self, shape: Shape) -> npt.NDArray[np.int64] | None:
        """For each element of the columns the element of an image of this shape, -1 in padding; None for a geometry that no
        image has."""
        axes, extents = self.image.canonical(shape)
        numbers = np.arange(1, prod(shape) + 1, dtype=np.int64).reshape(shape).transpose(axes).reshape(extents)
        try:
            columns = unfold(
                np.ascontiguousarray(numbers),
                self.kernel,
                stride=self.stride,
                dilation=self.dilation,
                padding=self.padding,
                positions="grid",
            )
        except Error:
            return None
        digits = [("b", i) for i in range(len(self.image.batch))] + [("c", 0)]
        digits += [("k", i) for i in range(len(self.kernel))] + [("p", i) for i in range(len(self.kernel))]
        extent = Extents(self.kernel, self.positions)
        places = {digit: place for place, digit in enumerate(digits)}
        wanted = self.layout.digits(self.image)
        sizes = [extent.of(digit, self.image) for digit in digits]
        if columns.size != prod(sizes):
            return None
        flat = [places[digit] for axis in wanted for digit in axis]
        rest = [place for place in range(len(digits)) if place not in flat]  # the channel of an image that has none
        merged = [prod(extent.of(digit, self.image) for digit in axis) for axis in wanted]
        indices: npt.NDArray[np.int64] = columns.reshape(sizes).transpose([*rest, *flat]).reshape(merged) - 1
        return indices


def _numbers(values: Shape) -> str:
    return f"({values[0]},)" if len(values) == 1 else str(values)


def call_of(found: Found, shape: Shape, *, inverse: bool = False) -> tuple[str, str]:
    """The function of patchfold, and the call as it is typed."""
    layout, image = found.layout, found.image
    arguments = []
    operator = "unfold"
    rank = len(found.kernel)
    last = image.place == "last"
    near = layout.axes.replace("(p)", "p").replace("(c k)", "k").replace("(k c)", "k")
    given = "image"
    if image.place == "none":
        given = f"image.reshape{(*image.batch, 1, *image.spatial)}"
    blocks = found.is_blocks()
    if layout.axes in ("(k b) c p", "(k b) p c") and all(k == s for k, s in zip(found.kernel, found.stride, strict=True)):
        operator = "space_to_batch"
        arguments.append(_numbers(found.kernel))
        if any(pad != (0, 0) for pad in found.padding):
            arguments.append(f"padding={found.padding}")
        ours = last == (layout.axes == "(k b) p c")
    elif blocks and "(p)" not in layout.axes and near == ("b p k" if last else "b k p"):
        operator = "space_to_depth"
        arguments += [_numbers(found.kernel), f"mode={'depth_first' if layout.order == 'channel' else 'blocks_first'!r}"]
        ours = True
    else:
        arguments.append(_numbers(found.kernel))
        if any(step != 1 for step in found.stride):
            arguments.append(f"stride={_numbers(found.stride)}")
        if any(step != 1 for step in found.dilation):
            arguments.append(f"dilation={_numbers(found.dilation)}")
        if any(pad != (0, 0) for pad in found.padding):
            same = all(begin == end for begin, end in found.padding)
            arguments.append(f"padding={_numbers(tuple(b for b, _ in found.padding)) if same else found.padding}")
        if found.fill is not None and found.fill != 0:
            arguments.append(f"value={found.fill}")
        ours = near == ("b p k" if last else "b k p")
        if layout.order in ("channel", "kernel") and ours:
            arguments.append(f"order={layout.order!r}")
        if ours and "(p)" not in layout.axes and rank > 1:
            arguments.append("positions='grid'")
    if last and operator != "unfold" or last and ours:
        arguments.append("layout='channels_last'")
    if inverse:
        operator = INVERSE[operator]
        if operator == "fold":
            arguments.insert(0, str(image.spatial))
    call = f"patchfold.{operator}({', '.join([given, *arguments])})"
    if not ours:
        call += f", its axes rearranged to {layout.text(image)}"
    return operator, call


def systems_of(found: Found) -> tuple[str, ...]:
    """Operators of other systems that give columns in this layout, with their settings."""
    axes, place, rank = found.layout.axes, found.image.place, len(found.kernel)
    blocks, one = found.is_blocks(), found.image.channels == 1
    plain = all(step == 1 for step in found.dilation)
    begins_at_0 = all(begin == 0 for begin, _ in found.padding)
    zero = found.fill is None or found.fill == 0
    channel, kernel = found.layout.order == "channel" or one, found.layout.order == "kernel" or one
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
    return tuple(names)


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

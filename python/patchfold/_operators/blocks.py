# SPDX-License-Identifier: Apache-2.0
"""The neutral operators of blocks. Every function calls the operator with the same name once."""

from __future__ import annotations

from .._core import Operator
from .._typing import Array, DepthMode, IntOrInts, Layout, Operation, Padding
from .docstrings import described

_space_to_batch: Operation = Operator("space_to_batch", data="x").__call__
_batch_to_space: Operation = Operator("batch_to_space", data="x").__call__
_space_to_depth: Operation = Operator("space_to_depth", data="x").__call__
_depth_to_space: Operation = Operator("depth_to_space", data="x").__call__


@described("space_to_batch", also_refuses=", and for extents that are not multiples of the block")
def space_to_batch(
    x: Array,
    block: IntOrInts,
    *,
    padding: Padding = 0,
    layout: Layout = "channels_first",
    out: Array | None = None,
) -> Array:
    """Cuts the spatial axes into blocks and moves the offset within a block to the batch.

    Shapes: x is (N, .., I1..IR); the result is (N*K, .., (I1 + pads)/b1 .. (IR + pads)/bR) where K is the product of
        block. With layout="channels_last" the axes after the batch are cut: (N, I1..IR, ..). R is the length of the lists
        among the arguments; without lists x must have 4 axes, of which two are spatial.

    Arguments:
        x: the image.
        block: extents of a block, at least 1; one number for every spatial axis or one for each.
        padding: as for unfold, filled with zeros. The padded extents must be multiples of the block.
        layout: "channels_first" cuts the last axes, "channels_last" those after the batch.
        out: an array of the result's shape and element type; it receives the result and is returned.

    Formula: result[offset * N + n, .., y] = x[n, .., y * block + offset - pad_begin], for each axis; 0 outside.

    Types: any element type of fixed size; elements are copied bit by bit, the padding is zero bytes.

    Elsewhere: torch none; TensorFlow space_to_batch, space_to_batch_nd (layout="channels_last"); ONNX none;
        OpenVINO SpaceToBatch; MATLAB reshape and permute.

    Example:
        >>> import numpy as np, patchfold
        >>> patchfold.space_to_batch(np.arange(6).reshape(1, 1, 6), (2,)).squeeze()
        array([[0, 2, 4],
               [1, 3, 5]])
    """
    return _space_to_batch(x, out, block, padding, layout)


@described("batch_to_space", also_refuses=", for a batch that is not a multiple of K, and for crops larger than the axis")
def batch_to_space(
    x: Array,
    block: IntOrInts,
    *,
    crops: Padding = 0,
    layout: Layout = "channels_first",
    out: Array | None = None,
) -> Array:
    """Moves blocks of the batch back to the spatial axes. The inverse of space_to_batch.

    Shapes: x is (N*K, .., y1..yR); the result is (N, .., y1*b1 - crops .. yR*bR - crops) where K is the product of
        block. With layout="channels_last" the axes after the batch grow. R is the length of the lists among the arguments;
        without lists x must have 4 axes, of which two are spatial.

    Arguments:
        x: the batches.
        block: extents of a block, at least 1; one number for every spatial axis or one for each.
        crops: elements removed from the ends of the spatial axes, at least 0; given in the forms of unfold's padding.
        layout: "channels_first" for the last axes, "channels_last" for those after the batch.
        out: an array of the result's shape and element type; it receives the result and is returned.

    Formula: result[n, .., y * block + offset - crop_begin] = x[offset * N + n, .., y], for each axis.

    Elsewhere: torch none; TensorFlow batch_to_space, batch_to_space_nd (layout="channels_last"); ONNX none;
        OpenVINO BatchToSpace; MATLAB reshape and permute.

    Example:
        >>> import numpy as np, patchfold
        >>> patchfold.batch_to_space(np.array([[[0, 2, 4]], [[1, 3, 5]]]), 2, crops=[(1, 0)])
        array([[[1, 2, 3, 4, 5]]])
    """
    return _batch_to_space(x, out, block, crops, layout)


@described("space_to_depth", also_refuses=", and for extents that are not multiples of the block")
def space_to_depth(
    x: Array,
    block: IntOrInts,
    *,
    mode: DepthMode = "blocks_first",
    layout: Layout = "channels_first",
    out: Array | None = None,
) -> Array:
    """Cuts the spatial axes into blocks and moves the offset within a block to the channels (pixel-unshuffle).

    Shapes: x is (B.., C, I1..IR); the result is (B.., C*K, I1/b1 .. IR/bR) where K is the product of block; with
        layout="channels_last" (B.., I1..IR, C) to (B.., I1/b1 .. IR/bR, C*K). R is the length of block; a number stands
        for the two spatial axes of an x of 4 axes.

    Arguments:
        x: the image; its extents must be multiples of the block.
        block: extents of a block, at least 1; one number for every spatial axis or one for each.
        mode: the order of the new channels: "blocks_first" (offset * C + c) or "depth_first" (c * K + offset).
        layout: where the channels lie, "channels_first" or "channels_last".
        out: an array of the result's shape and element type; it receives the result and is returned.

    Formula: result[n, offset * C + c, y] = x[n, c, y * block + offset], for each axis, for mode="blocks_first".

    Elsewhere: torch nn.functional.pixel_unshuffle, nn.PixelUnshuffle (mode="depth_first"); TensorFlow
        nn.space_to_depth (layout="channels_last"); ONNX SpaceToDepth; OpenVINO SpaceToDepth; MATLAB spaceToDepth;
        Keras ops.space_to_depth.

    Example:
        >>> import numpy as np, patchfold
        >>> image = np.arange(8).reshape(1, 2, 4)  # 2 channels of 4
        >>> patchfold.space_to_depth(image, (2,))
        array([[[0, 2],
                [4, 6],
                [1, 3],
                [5, 7]]])
        >>> patchfold.space_to_depth(image, (2,), mode="depth_first")[0, :, 0]
        array([0, 1, 4, 5])
    """
    return _space_to_depth(x, out, block, mode, layout)


@described("depth_to_space", also_refuses=", and for a number of channels that is not a multiple of K")
def depth_to_space(
    x: Array,
    block: IntOrInts,
    *,
    mode: DepthMode = "blocks_first",
    layout: Layout = "channels_first",
    out: Array | None = None,
) -> Array:
    """Moves channels back to blocks of the spatial axes (pixel-shuffle). The inverse of space_to_depth.

    Shapes: x is (B.., C*K, y1..yR); the result is (B.., C, y1*b1 .. yR*bR) where K is the product of block; with
        layout="channels_last" (B.., y1..yR, C*K) to (B.., y1*b1 .. yR*bR, C). R is the length of block; a number stands
        for the two spatial axes of an x of 4 axes.

    Arguments:
        x: the image; its number of channels must be a multiple of K.
        block: extents of a block, at least 1; one number for every spatial axis or one for each.
        mode: the order of the channels: "blocks_first" (offset * C + c) or "depth_first" (c * K + offset).
        layout: where the channels lie, "channels_first" or "channels_last".
        out: an array of the result's shape and element type; it receives the result and is returned.

    Formula: result[n, c, y * block + offset] = x[n, offset * C + c, y], for each axis, for mode="blocks_first".

    Elsewhere: torch nn.functional.pixel_shuffle, nn.PixelShuffle (mode="depth_first"); TensorFlow nn.depth_to_space
        (layout="channels_last"); ONNX DepthToSpace; OpenVINO DepthToSpace; MATLAB depthToSpace; Keras
        ops.depth_to_space.

    Example:
        >>> import numpy as np, patchfold
        >>> deep = np.array([[[0, 2], [4, 6], [1, 3], [5, 7]]])
        >>> patchfold.depth_to_space(deep, (2,))
        array([[[0, 1, 2, 3],
                [4, 5, 6, 7]]])
    """
    return _depth_to_space(x, out, block, mode, layout)

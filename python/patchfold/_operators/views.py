# SPDX-License-Identifier: Apache-2.0
"""Patches and blocks as strided views: the functions never copy an element."""

from __future__ import annotations

import sys
from typing import Any, overload

import numpy.typing as npt

from .. import _core
from .._arrays.kinds import speaks_dlpack
from .._errors import InvalidType, type_name
from .._typing import Array, DepthMode, Element, IntOrInts, Layout


def torch_shape_and_strides(name: str, x: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the shape and the strides, in elements, of a torch tensor, for the native module."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor) and x.layout is torch.strided:
        return tuple(x.shape), tuple(x.stride())
    rule = "must be a NumPy array or a dense torch tensor: others have no strided views"
    expected = f"patchfold.{name.removesuffix('_view')}, which copies" if speaks_dlpack(x) else ""
    raise InvalidType(name, "x", rule, type_name(x), expected)


@overload
def unfold_view(
    x: npt.NDArray[Element],
    kernel_size: IntOrInts,
    *,
    stride: IntOrInts = 1,
    dilation: IntOrInts = 1,
    layout: Layout = "channels_first",
    allow_empty: bool = False,
) -> npt.NDArray[Element]: ...
@overload
def unfold_view(
    x: Array,
    kernel_size: IntOrInts,
    *,
    stride: IntOrInts = 1,
    dilation: IntOrInts = 1,
    layout: Layout = "channels_first",
    allow_empty: bool = False,
) -> Array: ...
def unfold_view(
    x: Array,
    kernel_size: IntOrInts,
    *,
    stride: IntOrInts = 1,
    dilation: IntOrInts = 1,
    layout: Layout = "channels_first",
    allow_empty: bool = False,
) -> Array:
    """Returns all patches of an image as a view: unfold without a copy and without padding.

    Shapes: x is (B.., C, I1..IR); the view is (B.., C, k1..kR, l1..lR): all axes of the patch before all axes of the
        positions, so that reshape(B.., C*K, L) gives what unfold gives. With layout="channels_last": (B.., I1..IR, C)
        to (B.., l1..lR, C, k1..kR). R is the length of the lists among the arguments; without lists x must have 4 axes, of
        which two are spatial.

    Arguments:
        x: the image.
        kernel_size: extents of a patch, at least 1; one number for every spatial axis or one for each.
        stride: step between patches, at least 1.
        dilation: step between taps, at least 0.
        layout: where the channels lie, "channels_first" or "channels_last".
        allow_empty: whether an image smaller than a patch gives an empty view instead of an error.

    Formula: view[n, c, tap, position] = x[n, c, position * stride + tap * dilation], for each axis.

    Types: NumPy arrays of every element type, and torch tensors (whose gradient flows through). Several elements share
        memory, so views of NumPy arrays are read-only, and a torch view must not be written to.

    Errors: InvalidValue for numbers, words and shapes that break a rule, and for an image smaller than a patch;
        InvalidType for arguments of the wrong type and for arrays that have no strided views (JAX). Errors name the rule,
        the given and the expected value.

    Elsewhere: NumPy lib.stride_tricks.sliding_window_view (positions before patch, no dilation), scikit-image
        view_as_windows; torch Tensor.unfold, one axis after the other; TensorFlow none; ONNX none; OpenVINO none;
        MATLAB none.

    Example:
        >>> import numpy as np, patchfold
        >>> x = np.arange(5).reshape(1, 1, 5)
        >>> view = patchfold.unfold_view(x, (3,))
        >>> view[0, 0]  # taps are rows, positions are columns
        array([[0, 1, 2],
               [1, 2, 3],
               [2, 3, 4]])
        >>> np.shares_memory(view, x), np.array_equal(view.reshape(1, 3, 3), patchfold.unfold(x, (3,)))
        (True, True)
    """
    view: Array = _core.unfold_view(x, kernel_size, stride, dilation, layout, allow_empty)
    return view


@overload
def space_to_depth_view(
    x: npt.NDArray[Element], block: IntOrInts, *, mode: DepthMode = "blocks_first", layout: Layout = "channels_first"
) -> npt.NDArray[Element]: ...
@overload
def space_to_depth_view(
    x: Array, block: IntOrInts, *, mode: DepthMode = "blocks_first", layout: Layout = "channels_first"
) -> Array: ...
def space_to_depth_view(
    x: Array, block: IntOrInts, *, mode: DepthMode = "blocks_first", layout: Layout = "channels_first"
) -> Array:
    """Returns the blocks of an image as a view: space_to_depth without a copy, with separate axes for the new channels.

    Shapes: x is (B.., C, I1..IR); the view is (B.., b1..bR, C, I1/b1 .. IR/bR) for mode="blocks_first" and (B.., C,
        b1..bR, I1/b1 .. IR/bR) for "depth_first", so that reshape(B.., C*K, I1/b1 .. IR/bR) gives what space_to_depth
        gives. With layout="channels_last": (B.., I1..IR, C) to (B.., I1/b1 .. IR/bR, b1..bR, C) or (B.., I1/b1 ..
        IR/bR, C, b1..bR). R is the length of block; a number stands for the two spatial axes of an x of 4 axes,
        and every other x needs a list.

    Arguments:
        x: the image; its extents must be multiples of the block.
        block: extents of a block, at least 1; one number for every spatial axis or one for each.
        mode: which comes first, the offset within the block ("blocks_first") or the channel ("depth_first").
        layout: where the channels lie, "channels_first" or "channels_last".

    Formula: view[n, offset, c, y] = x[n, c, y * block + offset], for each axis, for mode="blocks_first".

    Types: NumPy arrays of every element type, and torch tensors (whose gradient flows through). No two elements share
        memory, so the view of a writable array is writable.

    Errors: InvalidValue for numbers, words and shapes that break a rule, and for extents that are not multiples of the
        block; InvalidType for arguments of the wrong type and for arrays that have no strided views (JAX). Errors name
        the rule, the given and the expected value.

    Elsewhere: scikit-image view_as_blocks; einops rearrange('b c (h i) (w j) -> b i j c h w'); torch view and permute;
        TensorFlow none; ONNX none; OpenVINO none; MATLAB none.

    Example:
        >>> import numpy as np, patchfold
        >>> x = np.arange(6).reshape(1, 1, 6)
        >>> view = patchfold.space_to_depth_view(x, (2,))
        >>> view[0, :, 0]
        array([[0, 2, 4],
               [1, 3, 5]])
        >>> np.shares_memory(view, x), np.array_equal(view.reshape(1, 2, 3), patchfold.space_to_depth(x, (2,)))
        (True, True)
    """
    view: Array = _core.space_to_depth_view(x, block, mode, layout)
    return view

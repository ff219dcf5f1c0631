# SPDX-License-Identifier: Apache-2.0
"""The operators of ONNX, with the names, defaults and checks of its specification. Only ``backend`` and the
command ``python -m patchfold.onnx`` need the package onnx."""

from __future__ import annotations

import typing
from typing import Literal, TypeAlias

import numpy.typing as npt

from .._core import Operator
from .._operators import inverses as _inverses
from .._operators.docstrings import described as _described
from .._typing import Array, Element, Int, Ints, Operation

if typing.TYPE_CHECKING:
    from typing_extensions import Unpack

Mode: TypeAlias = Literal["DCR", "CRD"]

_col2im: Operation = Operator("onnx.Col2Im").__call__
_depth_to_space: Operation = Operator("onnx.DepthToSpace").__call__
_space_to_depth: Operation = Operator("onnx.SpaceToDepth").__call__


class _Window(typing.TypedDict, total=False):
    dilations: Ints | None
    pads: Ints | None
    strides: Ints | None


@typing.overload
def col2im(
    input: npt.NDArray[Element], image_shape: Ints, block_shape: Ints,
    *, out: npt.NDArray[Element] | None = None, **window: Unpack[_Window],
) -> npt.NDArray[Element]: ...
@typing.overload
def col2im(
    input: Array, image_shape: Ints, block_shape: Ints, *, out: Array | None = None, **window: Unpack[_Window]
) -> Array: ...
@_described("onnx.Col2Im", input="the columns")
def col2im(
    input: Array, image_shape: Ints, block_shape: Ints,
    *, dilations: Ints | None = None, pads: Ints | None = None, strides: Ints | None = None, out: Array | None = None,
) -> Array:
    """ONNX Col2Im-18: sums columns into images. Arrays given as image_shape and block_shape must be int64.

    Shapes: input is (N, C*K, L); the result is (N, C, I1..IR) where I = image_shape, K is the product of block_shape,
        and L is the product of the positions (I + pads - (block - 1) * dilation - 1) // stride + 1 of all axes. R may
        be any number from 1.

    Formula: result[n, c, y] = the sum of input[n, c * K + tap, position] over all taps and positions with
        position * stride + tap * dilation - pad_begin = y for each axis; 0 if there are none.

    Elsewhere: patchfold.fold; torch nn.functional.fold; TensorFlow the gradient of image.extract_patches; OpenVINO
        Col2Im; MATLAB col2im(B, [m n], [mm nn], 'distinct').

    Example:
        >>> import numpy as np, patchfold.onnx
        >>> patchfold.onnx.col2im(np.ones((1, 4, 4), np.float32), (3, 3), (2, 2))
        array([[[[1., 2., 1.],
                 [2., 4., 2.],
                 [1., 2., 1.]]]], dtype=float32)
    """
    return _col2im(input, out, image_shape, block_shape, dilations, pads, strides)


@_described("onnx.Col2Im", sums=False, input="the images")
def im2col(
    input: Array, block_shape: Ints,
    *, dilations: Ints | None = None, pads: Ints | None = None, strides: Ints | None = None, out: Array | None = None,
) -> Array:
    """Copies patches of images into columns that ONNX Col2Im takes. ONNX has no such operator.

    Shapes: input is (N, C, I1..IR); the result is (N, C*K, L), with K and L as for col2im.

    Formula: result[n, c * K + tap, position] = input[n, c, position * stride + tap * dilation - pad_begin]; 0 outside.

    Elsewhere: patchfold.unfold; torch nn.functional.unfold; TensorFlow image.extract_patches (other order); OpenVINO
        ExtractImagePatches (other order); MATLAB im2col(A, [m n], 'sliding').

    Example:
        >>> import numpy as np, patchfold.onnx
        >>> patchfold.onnx.im2col(np.arange(9).reshape(1, 1, 3, 3), (2, 2), strides=(1, 1))[0, 0]
        array([0, 1, 3, 4])
    """
    steps, rates = (1 if each is None else each for each in (strides, dilations))
    window = {"block_shape": block_shape, "strides": steps, "dilations": rates, "pads": pads}
    return _inverses.im2col("onnx.im2col", input, out, window)


@_described("onnx.DepthToSpace", input="the deep images")
def depth_to_space(input: Array, blocksize: Int, *, mode: Mode = "DCR", out: Array | None = None) -> Array:
    """ONNX DepthToSpace, opset 28: moves channels back to blocks of the last two axes.

    Shapes: input is (N, C*b*b, H, W); the result is (N, C, H*b, W*b) where b = blocksize.

    Formula: result[n, c, y * b + i, x * b + j] = input[n, (i * b + j) * C + c, y, x] for mode="DCR".

    Elsewhere: patchfold.depth_to_space (CRD: mode="depth_first"); torch nn.functional.pixel_shuffle (CRD); TensorFlow
        nn.depth_to_space (DCR); OpenVINO DepthToSpace; MATLAB depthToSpace.

    Example:
        >>> import numpy as np, patchfold.onnx
        >>> patchfold.onnx.depth_to_space(np.arange(4).reshape(1, 4, 1, 1), 2)
        array([[[[0, 1],
                 [2, 3]]]])
    """
    return _depth_to_space(input, out, blocksize, mode)


@_described("onnx.SpaceToDepth", input="the images; H and W must be multiples of b")
def space_to_depth(input: Array, blocksize: Int, *, mode: Mode = "DCR", out: Array | None = None) -> Array:
    """ONNX SpaceToDepth, opset 28: moves blocks of the last two axes to the channels.

    Shapes: input is (N, C, H, W); the result is (N, C*b*b, H/b, W/b) where b = blocksize.

    Formula: result[n, (i * b + j) * C + c, y, x] = input[n, c, y * b + i, x * b + j] for mode="DCR".

    Elsewhere: patchfold.space_to_depth (CRD: mode="depth_first"); torch nn.functional.pixel_unshuffle (CRD); TensorFlow
        nn.space_to_depth (DCR); OpenVINO SpaceToDepth; MATLAB spaceToDepth.

    Example:
        >>> import numpy as np, patchfold.onnx
        >>> patchfold.onnx.space_to_depth(np.arange(4).reshape(1, 1, 2, 2), 2).ravel()
        array([0, 1, 2, 3])
    """
    return _space_to_depth(input, out, blocksize, mode)

# SPDX-License-Identifier: Apache-2.0
"""The operators of Keras 3, with the names, defaults and argument order of keras.ops. Does not need keras."""

from __future__ import annotations

import typing
from typing import Literal, TypeAlias

import numpy.typing as npt

from ._core import Operator
from ._operators import inverses as _inverses
from ._operators.docstrings import described as _described
from ._typing import Array, Element, IntOrInts, Operation

PaddingType: TypeAlias = Literal["valid", "same"]
DataFormat: TypeAlias = Literal["channels_last", "channels_first"]
Reduction: TypeAlias = Literal["mean", "sum"]

_extract_patches: Operation = Operator("keras.extract_patches").__call__
_unfold: Operation = Operator("keras.unfold").__call__
_fold: Operation = Operator("keras.fold").__call__


@_described("keras.extract_patches", images="the images or volumes")
def extract_patches(
    images: Array, size: IntOrInts, strides: IntOrInts | None = None, dilation_rate: IntOrInts = 1,
    padding: PaddingType = "valid", data_format: DataFormat | None = None, *, out: Array | None = None,
) -> Array:
    """keras.ops.image.extract_patches: copies the patches of images or volumes to the channels.

    Keras takes a dilation_rate of more than 1 together with strides of more than 1 on some of its backends only.

    Shapes: images is (N, H, W, C) or (H, W, C); the result is (N, oh, ow, kh*kw*C) or (oh, ow, kh*kw*C). With a size of
        three numbers: (N, D, H, W, C) or (D, H, W, C) to (N, od, oh, ow, kd*kh*kw*C) or the same without N. With
        data_format="channels_first" the channels stand before the spatial axes on both sides. With padding="same" there
        are ceil(extent / stride) positions; with padding="valid" an image must be at least as large as a patch.

    Formula: result[n, y, x, (i * kw + j) * C + c] = images[n, y * sy + i * dy - top, x * sx + j * dx - left, c]; 0
        outside.

    Types: any element type of fixed size; elements are copied bit by bit. Keras multiplies by ones and zeros instead,
        which turns patches with an infinity or NaN into NaN.

    Elsewhere: patchfold.unfold (layout="channels_last", order="kernel", positions="grid"); TensorFlow
        image.extract_patches, extract_volume_patches; torch nn.functional.unfold (other order); ONNX none; OpenVINO
        ExtractImagePatches; MATLAB im2col. patchfold.reconstruct with these words puts patches back.

    Example:
        >>> import numpy as np, patchfold.keras
        >>> images = np.arange(16).reshape(1, 4, 4, 1)
        >>> patchfold.keras.extract_patches(images, 2)[0, 0]
        array([[0, 1, 4, 5],
               [2, 3, 6, 7]])
    """
    return _extract_patches(images, out, size, strides, dilation_rate, padding, data_format)


@_inverses.described(
    "keras.extract_patches",
    extract_patches,
    output_size='the spatial extents of the images; one number for every axis or one for each. None, with padding="valid" '
    "only, means the extents that the patches cover",
)
def reconstruct_patches(
    patches: Array, size: IntOrInts, output_size: IntOrInts | None = None, strides: IntOrInts | None = None,
    padding: PaddingType = "valid", data_format: DataFormat | None = None, *, dilation_rate: IntOrInts = 1,
    reduction: Reduction = "mean", out: Array | None = None,
) -> Array:
    """keras.ops.image.reconstruct_patches: puts patches back into the images or volumes that they were cut from.

    Beyond Keras, patches may overlap and be dilated. reconstruct_patches is the inverse of extract_patches.

    Shapes: patches is (N, oh, ow, kh*kw*C) or (oh, ow, kh*kw*C), with three positions for volumes; the result is (N, H,
        W, C) or (H, W, C), where (H, W) is output_size. With data_format="channels_first" the channels stand before the
        spatial axes on both sides.

    Formula: result[n, y, c] = the mean or the sum of patches[n, position, tap * C + c] over all taps and positions with
        position * stride + tap * dilation_rate - pad_begin = y for each axis; 0 if there are none.

    Elsewhere: patchfold.fold (layout="channels_last", order="kernel", positions="grid"); torch nn.functional.fold (other
        order); TensorFlow the gradient of image.extract_patches; ONNX Col2Im; OpenVINO Col2Im; MATLAB col2im.

    Example:
        >>> import numpy as np, patchfold.keras
        >>> images = np.arange(16).reshape(1, 4, 4, 1)
        >>> patches = patchfold.keras.extract_patches(images, 2)
        >>> bool((patchfold.keras.reconstruct_patches(patches, 2) == images).all())
        True
    """
    op = "keras.reconstruct_patches"
    rule = _inverses.word_of(op, "padding", padding, "valid", "same")
    layout = _inverses.word_of(op, "data_format", data_format or "channels_last", "channels_last", "channels_first")
    steps = size if strides is None else strides
    window = {"size": size, "strides": steps, "dilation_rate": dilation_rate, "padding": rule}
    if output_size is None and rule == "valid":
        output_size = _inverses.covered(op, patches, window, layout)
    return _inverses.put_back(op, patches, out, output_size, window, layout, reduction)


@typing.overload
def unfold(
    x: npt.NDArray[Element], kernel_size: IntOrInts, dilation: IntOrInts = 1, padding: IntOrInts = 0, stride: IntOrInts = 1,
    *, out: npt.NDArray[Element] | None = None,
) -> npt.NDArray[Element]: ...
@typing.overload
def unfold(
    x: Array, kernel_size: IntOrInts, dilation: IntOrInts = 1, padding: IntOrInts = 0, stride: IntOrInts = 1,
    *, out: Array | None = None,
) -> Array: ...
@_described("keras.unfold", x="the images")
def unfold(
    x: Array, kernel_size: IntOrInts, dilation: IntOrInts = 1, padding: IntOrInts = 0, stride: IntOrInts = 1,
    *, out: Array | None = None,
) -> Array:
    """keras.ops.nn.unfold: copies every patch of an image into columns (im2col).

    Shapes: x is (N, C, H, W); the result is (N, C*kh*kw, L), where L is the product of the positions on both axes,
        l = (extent + 2 * padding - (k - 1) * dilation - 1) // stride + 1. An image smaller than a patch has no positions:
        L = 0.

    Formula: result[n, c * kh*kw + tap, position] = x[n, c, position * stride + tap * dilation - padding], for each axis;
        0 outside. tap and position count both axes, row-major.

    Elsewhere: patchfold.unfold; torch nn.functional.unfold; TensorFlow image.extract_patches (other order); ONNX none;
        OpenVINO ExtractImagePatches (other order); MATLAB im2col.

    Example:
        >>> import numpy as np, patchfold.keras
        >>> patchfold.keras.unfold(np.ones((1, 2, 4, 4)), kernel_size=2, stride=2).shape
        (1, 8, 4)
    """
    return _unfold(x, out, kernel_size, dilation, padding, stride)


@typing.overload
def fold(
    x: npt.NDArray[Element], output_size: IntOrInts, kernel_size: IntOrInts, dilation: IntOrInts = 1, padding: IntOrInts = 0,
    stride: IntOrInts = 1, *, out: npt.NDArray[Element] | None = None,
) -> npt.NDArray[Element]: ...
@typing.overload
def fold(
    x: Array, output_size: IntOrInts, kernel_size: IntOrInts, dilation: IntOrInts = 1, padding: IntOrInts = 0,
    stride: IntOrInts = 1, *, out: Array | None = None,
) -> Array: ...
@_described("keras.fold", x="the columns")
def fold(
    x: Array, output_size: IntOrInts, kernel_size: IntOrInts, dilation: IntOrInts = 1, padding: IntOrInts = 0,
    stride: IntOrInts = 1, *, out: Array | None = None,
) -> Array:
    """keras.ops.nn.fold: sums columns into the image that they were cut from (col2im).

    Shapes: x is (N, C*kh*kw, L); the result is (N, C, H, W), where (H, W) is output_size. L is that of unfold.

    Formula: result[n, c, y] = the sum of x[n, c * kh*kw + tap, position] over all taps and positions with
        position * stride + tap * dilation - padding = y on each axis; 0 if there are none.

    Elsewhere: patchfold.fold; torch nn.functional.fold; TensorFlow the gradient of image.extract_patches; ONNX Col2Im;
        OpenVINO Col2Im; MATLAB col2im.

    Example:
        >>> import numpy as np, patchfold.keras
        >>> patchfold.keras.fold(np.ones((1, 4, 9), np.int32), 4, 2)[0, 0]
        array([[1, 2, 2, 1],
               [2, 4, 4, 2],
               [2, 4, 4, 2],
               [1, 2, 2, 1]], dtype=int32)
    """
    return _fold(x, out, output_size, kernel_size, dilation, padding, stride)

# SPDX-License-Identifier: Apache-2.0
"""The neutral operators of columns. Every function calls the operator with the same name once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from .._arguments import positions_of
from .._arrays.dtypes import similar_type
from .._arrays.kinds import dtype_of
from .._arrays.memory import new_numpy
from .._core import Operator
from .._errors import InvalidType, given_text
from .._typing import (
    Array,
    Element,
    FoldCall,
    FoldReduce,
    FoldSettings,
    IntOrInts,
    Ints,
    Layout,
    Number,
    Operation,
    Order,
    Padding,
    PaddingMode,
    Positions,
    Shape,
    UnfoldCall,
    UnfoldSettings,
    WindowSettings,
)
from .docstrings import described

if TYPE_CHECKING:
    from typing_extensions import Unpack

_unfold: Operation = Operator("unfold", data="x").__call__
_fold: Operation = Operator("fold", data="x").__call__
_coverage = Operator("coverage")
_reorder: Operation = Operator("reorder", data="x").__call__


@overload
def unfold(
    x: npt.NDArray[Element],
    kernel_size: IntOrInts,
    *,
    positions: Literal["flat"] = "flat",
    columns: Positions | None = None,
    out: npt.NDArray[Element] | None = None,
    **settings: Unpack[UnfoldSettings],
) -> npt.NDArray[Element]: ...
@overload
def unfold(
    x: Array,
    kernel_size: IntOrInts,
    *,
    columns: Positions | None = None,
    out: Array | None = None,
    **settings: Unpack[UnfoldCall],
) -> Array: ...
@described("unfold")
def unfold(
    x: Array,
    kernel_size: IntOrInts,
    *,
    stride: IntOrInts = 1,
    dilation: IntOrInts = 1,
    padding: Padding = 0,
    padding_mode: PaddingMode = "constant",
    value: Number = 0,
    layout: Layout = "channels_first",
    order: Order = "channel",
    positions: Positions = "flat",
    allow_empty: bool = False,
    columns: Positions | None = None,
    out: Array | None = None,
) -> Array:
    """Copies every patch of an image into columns (im2col).

    Shapes: x is (B.., C, I1..IR); the result is (B.., C*K, L), or (B.., C*K, l1..lR) with positions="grid". With
        layout="channels_last": (B.., I1..IR, C) to (B.., L, C*K) or (B.., l1..lR, C*K). K is the product of
        kernel_size; L is the product of the positions on each axis, l = (I + pads - (k - 1) * dilation - 1) // stride +
        1, or 0 if that is negative. R is the length of the lists among the arguments; without lists x must have 4 axes, of
        which two are spatial. Every other rank of x is ambiguous and needs a list.

    Arguments:
        x: the image.
        kernel_size: extents of a patch, at least 1; one number for every spatial axis or one for each.
        stride: step between patches, at least 1.
        dilation: step between the taps (elements) of a patch, at least 0.
        padding: elements added at the ends of the spatial axes: one number for both ends of every axis, a list with a number
            for each axis, or a list with a pair (begin, end) for each axis. Negative numbers crop. Or a rule: "valid" adds
            none; "same_upper" (also "same") and "same_lower" give ceil(extent / stride) positions, with an odd element at
            the end or at the beginning.
        padding_mode: the values in the padding, as in numpy.pad: "constant", "edge", "reflect", "symmetric", "wrap".
        value: the fill for padding_mode="constant". An integer element type needs an integer in its range.
        layout: where the channels lie, "channels_first" or "channels_last".
        order: the slow index of the C*K axis: "channel" (c * K + tap) or "kernel" (tap * C + c).
        positions: "flat" for one axis of all positions, "grid" for one axis for each spatial axis.
        allow_empty: whether an image smaller than a patch gives no columns instead of an error.
        columns: the old name of positions, which works until 1.0 and warns.
        out: an array of the result's shape and element type; it receives the result and is returned.

    Formula: result[n, c * K + tap, position] = x[n, c, position * stride + tap * dilation - pad_begin], for each axis.

    Types: any element type of fixed size; elements are copied bit by bit. A fill other than 0 needs a numeric element
        type.

    Elsewhere: torch nn.functional.unfold, nn.Unfold (two spatial axes); TensorFlow image.extract_patches,
        extract_volume_patches (order="kernel", positions="grid", layout="channels_last"); ONNX none; OpenVINO
        ExtractImagePatches (order="kernel", positions="grid"); MATLAB im2col(A, [m n], 'sliding') of A.T; JAX
        lax.conv_general_dilated_patches (positions="grid"); Keras ops.unfold, ops.image.extract_patches (as TensorFlow's).

    Example:
        >>> import numpy as np, patchfold
        >>> image = np.arange(9).reshape(1, 1, 3, 3)
        >>> patchfold.unfold(image, 2)
        array([[[0, 1, 3, 4],
                [1, 2, 4, 5],
                [3, 4, 6, 7],
                [4, 5, 7, 8]]])
        >>> patchfold.unfold(image, (3, 3), stride=2, padding=1, padding_mode="reflect", positions="grid").shape
        (1, 9, 2, 2)
    """
    if columns is not None:
        positions = positions_of("unfold", columns)
    window = (kernel_size, stride, dilation, padding, padding_mode, value)
    return _unfold(x, out, *window, layout, order, positions, allow_empty)


@overload
def fold(
    x: npt.NDArray[Element],
    output_size: Ints,
    kernel_size: IntOrInts,
    *,
    positions: Literal["flat"] = "flat",
    accumulate: bool = False,
    columns: Positions | None = None,
    out: npt.NDArray[Element] | None = None,
    **settings: Unpack[FoldSettings],
) -> npt.NDArray[Element]: ...
@overload
def fold(
    x: Array,
    output_size: Ints,
    kernel_size: IntOrInts,
    *,
    accumulate: bool = False,
    columns: Positions | None = None,
    out: Array | None = None,
    **settings: Unpack[FoldCall],
) -> Array: ...
@described("fold", also_refuses=", and for a number of positions that differs from the formula's")
def fold(
    x: Array,
    output_size: Ints,
    kernel_size: IntOrInts,
    *,
    stride: IntOrInts = 1,
    dilation: IntOrInts = 1,
    padding: Padding = 0,
    layout: Layout = "channels_first",
    order: Order = "channel",
    positions: Positions = "flat",
    accumulate: bool = False,
    reduce: FoldReduce = "sum",
    fill: Number = 0,
    columns: Positions | None = None,
    out: Array | None = None,
) -> Array:
    """Sums or averages columns into the image that they were cut from (col2im, overlap-add).

    With reduce="sum", fold is the transpose of unfold; with reduce="mean" it undoes unfold, like reconstruct.

    Shapes: x is (B.., C*K, L) or (B.., C*K, l1..lR); the result is (B.., C, I1..IR); with layout="channels_last" the
        channels come last in both. K, L and l are those of unfold for an image of output_size.

    Arguments:
        x: the columns.
        output_size: I1..IR, at least 0; its length is R.
        kernel_size: extents of a patch, at least 1; one number for every spatial axis or one for each.
        stride: step between patches, at least 1.
        dilation: step between the taps (elements) of a patch, at least 0.
        padding: as for unfold; elements that fall into the padding are dropped.
        layout: where the channels lie, "channels_first" or "channels_last".
        order: the slow index of the C*K axis: "channel" (c * K + tap) or "kernel" (tap * C + c).
        positions: "flat" for one axis of all positions, "grid" for one axis for each spatial axis.
        accumulate: whether the sum, rounded to the element type, is added to the content of out instead of replacing it.
        reduce: "sum", or "mean" for the sum divided by the number of its terms.
        fill: the result of reduce="mean" where no patch lies; an integer element type needs an integer in its range.
        columns: the old name of positions, which works until 1.0 and warns.
        out: an array of the result's shape and element type; it receives the result and is returned.

    Formula: result[n, c, y] = the sum of x[n, c * K + tap, position] over all taps and positions with
        position * stride + tap * dilation - pad_begin = y for each axis; 0 if there are none. A mean is rounded once, to
        nearest even, and the mean of equal elements is the element, bit for bit.

    Types: numbers and booleans. The sum starts from +0 and runs in ascending order of the tap. float32, float64 and complex
        are summed in their own type, float16 and bfloat16 in float32 with one rounding at the end, integers modulo 2^n,
        booleans with OR. Means do not wrap. Their sums are taken in float64; for elements of float64 in pairs of float64,
        for 64-bit integers in 128 bits. The mean of booleans is that of the majority. The bits do not depend on threads,
        processor or memory layout.

    Elsewhere: torch nn.functional.fold, nn.Fold (two spatial axes); TensorFlow the gradient of image.extract_patches,
        signal.overlap_and_add; ONNX Col2Im; OpenVINO Col2Im; MATLAB col2im(B, [m n], [mm nn], 'distinct'); Keras
        ops.fold.

    Example:
        >>> import numpy as np, patchfold
        >>> patchfold.fold(np.ones((1, 4, 4), np.int32), (3, 3), 2)
        array([[[[1, 2, 1],
                 [2, 4, 2],
                 [1, 2, 1]]]], dtype=int32)
    """
    if columns is not None:
        positions = positions_of("fold", columns)
    window = (kernel_size, stride, dilation, padding)
    return _fold(x, out, output_size, *window, layout, order, positions, accumulate, reduce, fill)


@overload
def coverage(
    output_size: Shape, kernel_size: IntOrInts, *, out: None = None, **window: Unpack[WindowSettings]
) -> np.ndarray[Shape, np.dtype[np.float32]]: ...
@overload
def coverage(
    output_size: Ints, kernel_size: IntOrInts, *, out: None = None, **window: Unpack[WindowSettings]
) -> npt.NDArray[np.float32]: ...
@overload
def coverage(
    output_size: Shape,
    kernel_size: IntOrInts,
    *,
    dtype: type[Element] | np.dtype[Element],
    out: None = None,
    **window: Unpack[WindowSettings],
) -> np.ndarray[Shape, np.dtype[Element]]: ...
@overload
def coverage(
    output_size: Ints,
    kernel_size: IntOrInts,
    *,
    dtype: type[Element] | np.dtype[Element],
    out: None = None,
    **window: Unpack[WindowSettings],
) -> npt.NDArray[Element]: ...
@overload
def coverage(
    output_size: Ints, kernel_size: IntOrInts, *, dtype: npt.DTypeLike, out: None = None, **window: Unpack[WindowSettings]
) -> npt.NDArray[Any]: ...
@overload
def coverage(
    output_size: Ints,
    kernel_size: IntOrInts,
    *,
    dtype: npt.DTypeLike = np.float32,
    out: Array,
    **window: Unpack[WindowSettings],
) -> Array: ...
@described("coverage")
def coverage(
    output_size: Ints,
    kernel_size: IntOrInts,
    *,
    stride: IntOrInts = 1,
    dilation: IntOrInts = 1,
    padding: Padding = 0,
    dtype: npt.DTypeLike = np.float32,
    out: Any = None,
) -> Any:
    """Counts how many patches touch each pixel: the factor by which fold(unfold(x)) multiplies x.

    Shapes: the result is (I1..IR) = output_size.

    Arguments:
        output_size: I1..IR, at least 0; its length is R.
        kernel_size: extents of a patch, at least 1; one number for every spatial axis or one for each.
        stride: step between patches, at least 1.
        dilation: step between the taps (elements) of a patch, at least 0.
        padding: as for unfold.
        dtype: element type of the result, if out is not given.
        out: an array of any kind and of the result's shape; it receives the result and is returned.

    Formula: result[y] = the number of pairs (tap, position) with
        position * stride + tap * dilation - pad_begin = y for each axis.

    Types: any element type that fold can add.

    Elsewhere: torch fold(unfold(ones)), the divisor of nn.Fold; TensorFlow the gradient of image.extract_patches at
        ones; ONNX Col2Im of ones; OpenVINO Col2Im of ones; MATLAB conv2(ones(l), ones(k)) for a stride of 1.

    Example:
        >>> import numpy as np, patchfold
        >>> patchfold.coverage((5,), 3)
        array([1., 2., 3., 2., 1.], dtype=float32)
        >>> patchfold.coverage((5,), 2, stride=3, dtype=np.uint8)
        array([1, 1, 0, 1, 1], dtype=uint8)
    """
    if out is not None:
        return _coverage(None, out, output_size, kernel_size, stride, dilation, padding)
    shape = _coverage.output_shape((), output_size, kernel_size, stride, dilation, padding)
    known = dtype_of(dtype)
    try:
        if known is not None:
            return _coverage(None, new_numpy(shape, known), output_size, kernel_size, stride, dilation, padding)
    except TypeError:  # only dtype can be wrong here: the other arguments are already checked
        pass
    rule = "must be a NumPy type whose elements can be added"
    raise InvalidType("coverage", "dtype", rule, given_text(dtype), hint=similar_type(dtype))


@described("reorder")
def reorder(
    x: Array,
    kernel_size: IntOrInts,
    *,
    source: Order = "channel",
    target: Order = "kernel",
    layout: Layout = "channels_first",
    positions: Positions = "flat",
    columns: Positions | None = None,
    out: Array | None = None,
) -> Array:
    """Changes the order of the C*K axis of columns: channel-major to kernel-major, or back.

    Shapes: x is (B.., C*K, L), or (B.., C*K, l1..lR) with positions="grid"; with layout="channels_last" C*K comes last.
        The result has the same shape.

    Arguments:
        x: the columns.
        kernel_size: extents of a patch, at least 1. Flat columns need one number for each spatial axis.
        source: the order in x, "channel" (c * K + tap) or "kernel" (tap * C + c).
        target: the order in the result.
        layout: where C*K lies, "channels_first" or "channels_last".
        positions: "flat" for one axis of all positions, "grid" for one axis for each spatial axis.
        columns: the old name of positions, which works until 1.0 and warns.
        out: an array of the result's shape and element type; it receives the result and is returned.

    Formula: result[n, tap * C + c, position] = x[n, c * K + tap, position] for source="channel", target="kernel".

    Elsewhere: torch x.view(n, C, K, L).transpose(1, 2); TensorFlow reshape and transpose; ONNX Reshape and Transpose
        (CRD to DCR); OpenVINO the step from ExtractImagePatches to Col2Im; MATLAB reshape and permute.

    Example:
        >>> import numpy as np, patchfold
        >>> columns = np.arange(6).reshape(1, 6, 1)  # 2 channels, patches of 3
        >>> patchfold.reorder(columns, (3,)).ravel()
        array([0, 3, 1, 4, 2, 5])
    """
    if columns is not None:
        positions = positions_of("reorder", columns)
    return _reorder(x, out, kernel_size, source, target, layout, positions)

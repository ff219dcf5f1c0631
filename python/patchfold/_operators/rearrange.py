# SPDX-License-Identifier: Apache-2.0
"""Copies of tensors: from one memory layout to another, and with their axes rearranged."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .._core import Operator
from .._errors import InvalidType, given_text, text_in
from .._typing import Array, Element, Int, Operation
from .moves import moved, open_batch, read
from .patches import reshaped
from .patterns import OP, bounded_plan_of, move_of, plan_of, sizes_of

_copy: Operation = Operator("copy", data="x").__call__


def copy(x: Array, *, out: Array | None = None) -> Array:
    """Copies an array of any rank and memory layout into a new row-major array, or into out.

    Shapes: the result has the shape of x, with 0 to 32 axes.

    Arguments:
        x: the array, of any strides: transposed, flipped, sliced or broadcast.
        out: an array of the shape and element type of x, of any strides; it receives the result and is returned. It must
            not share memory with x.

    Formula: result[i, j, ..] = x[i, j, ..].

    Types: any element type of fixed size; elements are copied bit by bit.

    Errors: InvalidValue for an out of another shape, or one that shares memory with x; InvalidType for data that is not an
        array, for an out of another element type, and for elements without a fixed size. Errors name the rule, the given
        and the expected value.

    Elsewhere: NumPy ascontiguousarray, copyto; torch Tensor.contiguous (patchfold.torch.contiguous), Tensor.copy_;
        TensorFlow identity; ONNX Identity; OpenVINO none; MATLAB none.

    Example:
        >>> import numpy as np, patchfold
        >>> x = np.arange(6).reshape(2, 3).T[::-1]
        >>> patchfold.copy(x)
        array([[2, 5],
               [1, 4],
               [0, 3]])
        >>> out = np.zeros((3, 2), int, order="F")
        >>> patchfold.copy(x, out=out) is out
        True
    """
    return _copy(x, out)


@overload
def rearrange(
    x: npt.NDArray[Element], pattern: str, /, *, out: npt.NDArray[Element] | None = None, **axes: Int
) -> npt.NDArray[Element]: ...
@overload
def rearrange(x: Array, pattern: str, /, *, out: Array | None = None, **axes: Int) -> Array: ...
def rearrange(x: Array, pattern: str, /, *, out: Array | None = None, **axes: Int) -> Array:
    """Splits, permutes and joins the axes of an array by a pattern, as einops.rearrange does, in one copy.

    Shapes: the pattern names the axes of x before the arrow and those of the result behind it. "(h p)" is an axis of x
        that is split into h rows of p elements, or an axis of the result that joins them. "..." stands for any number of
        axes, "1" and "()" for an axis of one element. Both sides have the same names. At most 32 names and axes.

    Arguments:
        x: the array.
        pattern: such as "b (h p) (w q) c -> b (h w) (p q c)".
        out: a NumPy array or torch tensor of the result's shape and element type, of any strides; it receives the result
            and is returned; out must not share memory with x.
        axes: the sizes of names, such as p=16. Of the names in each pair of parentheses before the arrow, all but one need a
            size. Every name but "out" can be given a size.

    Formula: result[b, h * W + w, (p * Q + q) * C + c] = x[b, h * P + p, w * Q + q, c] for the pattern above.

    Types: any element type of fixed size; elements are copied bit by bit. The result of a NumPy array or torch tensor is
        row-major and does not share its memory. Arrays of other libraries, torch tensors that require grad or lie on
        another device, and tensors within torch.compile, jax.jit or tf.function are moved by their own library, so
        derivatives flow.

    Errors: InvalidValue for a pattern that breaks a rule, for sizes that are missing, unknown or do not divide an axis, and
        for an x of another rank; InvalidType for data that is not an array and for arguments of the wrong type. Errors name
        the rule, the given and the expected value.

    Elsewhere: einops rearrange; NumPy and torch reshape and transpose; TensorFlow reshape and transpose; ONNX Reshape and
        Transpose; OpenVINO Reshape and Transpose; MATLAB reshape and permute.

    Example:
        >>> import numpy as np, patchfold
        >>> pictures = np.zeros((8, 224, 224, 3), np.float32)
        >>> patchfold.rearrange(pictures, "b (h p) (w q) c -> b (h w) (p q c)", p=16, q=16).shape
        (8, 196, 768)
        >>> patchfold.rearrange(np.arange(6), "(h w) -> w h 1", w=2)[..., 0]
        array([[0, 2, 4],
               [1, 3, 5]])
    """
    text = text_in(pattern)
    if text is None:
        raise InvalidType(OP, "pattern", "must be a text", given_text(pattern))
    sizes = sizes_of(axes)
    given: Any = x
    if type(given) is np.ndarray:
        result: Array = move_of(text, given.shape, sizes)(given, out)
        return result
    array, shape, by_engine, compiled = read(x, OP, "x", out)
    if by_engine:
        result = move_of(text, shape, sizes)(array, out)
        return result if out is None else out
    plan: Any = plan_of(text, shape, sizes) if compiled else bounded_plan_of(text, shape, sizes)
    opened = shape if compiled else open_batch(array, shape)
    if opened is not shape:
        plan = plan_of(text, opened, sizes)
    parts = [extent for axis in plan.source for extent in axis]
    result = reshaped(moved(array, parts, plan.order), plan.shape)
    return result

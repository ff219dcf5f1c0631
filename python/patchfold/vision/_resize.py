# SPDX-License-Identifier: Apache-2.0
"""Resizes pictures of bytes as Pillow or torch does it, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from .. import _core
from .._arguments import read_once
from .._arrays.kinds import is_numpy, is_torch, shape_of
from .._arrays.memory import memory, new_numpy, new_torch
from .._errors import InvalidType, InvalidValue, errors_of, given_text, text_in, type_name, value_text
from .._typing import Array, Ints, Layout

Filter = Literal["nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"]
FixedPoint = Literal["pillow", "torch"]
_OP = "resize"
_FILTERS = ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos")
_MOST = 1 << 20


def _word(argument: str, value: Any, words: Sequence[str]) -> str:
    text = text_in(value)
    if text in words:
        return str(text)
    kind = InvalidValue if text is not None else InvalidType
    raise kind(_OP, argument, "must be one of " + ", ".join(map(repr, words)), given_text(value))


def _size(value: Any) -> tuple[int, int]:
    read = read_once(value)
    if type(read) is not tuple or len(read) != 2 or not all(type(number) is int for number in read):
        raise InvalidType(_OP, "size", "must be (rows, columns)", given_text(value))
    if min(read) < 1 or max(read) > _MOST:
        raise InvalidValue(_OP, "size", "must be from 1 to 2^20", value_text(read))
    return read[0], read[1]


def _box(value: Any) -> tuple[float, float, float, float] | None:
    if value is None:
        return None
    try:
        left, upper, right, lower = map(float, value)
    except (OverflowError, TypeError, ValueError):
        rule = "must be four numbers, (left, upper, right, lower)"
        raise InvalidType(_OP, "box", rule, given_text(value)) from None
    return left, upper, right, lower


def _pictures(array: Any, layout: str) -> Any:
    """Returns a view (.., channels, rows, columns) of pictures."""
    if layout == "channels_first":
        return array
    return array.movedim(-1, -3) if is_torch(array) else np.moveaxis(array, -1, -3)


def resize(
    x: Array,
    size: Ints,
    filter: Filter = "bicubic",
    *,
    layout: Layout = "channels_first",
    fixed_point: FixedPoint = "pillow",
    box: Sequence[float] | None = None,
    out: Array | None = None,
) -> Array:
    """Resizes pictures of bytes, as Pillow's Image.resize does for the modes L and RGB, bit for bit.

    Shapes: x is (.., rows, columns), or (.., rows, columns, C) with layout="channels_last"; the result has the rows and
        columns of size, and the other axes of x. Channels are independent; Pillow multiplies the colours of RGBA by alpha
        first.

    Arguments:
        x: the pictures: a NumPy array or a torch tensor of uint8 in the processor's memory, with any strides.
        size: (rows, columns) of the result, each from 1 to 2^20. Pillow names the columns first.
        filter: "nearest", "box", "bilinear", "hamming", "bicubic" or "lanczos". All but "nearest" are antialiased: when a
            picture shrinks, the filter's support grows with the ratio.
        layout: where the channels lie, "channels_first" or "channels_last".
        fixed_point: "pillow": weights have 22 bits behind the point. "torch": the weights of at most 16 bits of
            torch.nn.functional.interpolate(.., antialias=True) for uint8 on processors with AVX2, and so of torchvision's
            resize; "bilinear" and "bicubic" only.
        box: (left, upper, right, lower), the part of x that is resized, in pixels; None for all of x.
        out: a NumPy array or torch tensor of the result's shape and element type; it receives the result and is returned.

    Formula: along each axis, result[i] = clip((2^(b-1) + sum over k of w[i, k] * x[k]) >> b) with w[i, k] = round(2^b *
        f((k - m + 1/2) / max(r, 1)) / (the sum of these f over k)), m = begin + (i + 1/2) * r and r = (end - begin) / n, for
        the filter f, the b bits of the fixed point, and the box [begin, end) of the axis. Columns come first; as in Pillow
        13, rows come first where a picture loses rows, and more than twice as many rows as columns.

    Errors: InvalidValue for numbers, words and shapes that break a rule; InvalidType for data that is not an array and for
        arguments of the wrong type.

    Source: Pillow 13, https://pillow.readthedocs.io/en/stable/handbook/concepts.html#filters, and its observed results.

    Example:
        >>> import numpy as np
        >>> from patchfold import vision
        >>> picture = np.arange(64, dtype=np.uint8).reshape(8, 8)
        >>> vision.resize(picture, (2, 4), "bilinear")
        array([[16, 18, 20, 21],
               [42, 44, 46, 47]], dtype=uint8)
    """
    word = _word("filter", filter, _FILTERS)
    place = _word("layout", layout, ("channels_first", "channels_last"))
    point = _word("fixed_point", fixed_point, ("pillow", "torch"))
    rows, columns = _size(size)
    part = _box(box)
    if not is_numpy(x) and not is_torch(x):
        memory(x, _OP, "x", False)  # refuses an object that is no array
        raise InvalidType(_OP, "x", "must be a NumPy array or a torch tensor", type_name(x), "numpy.asarray(x)")
    shape = shape_of(x, _OP, "x")
    least = 3 if place == "channels_last" else 2
    if len(shape) < least:
        rule = "must have rows and columns" + (", and channels as its last axis" if least == 3 else " as its last axes")
        raise InvalidValue(_OP, "x", rule, str(shape), f"rank {least} or more", code="rank")
    array: Any = x.view(np.ndarray) if is_numpy(x) else x
    wanted = (*shape[:-least], rows, columns, *(shape[-1:] if least == 3 else ()))
    if out is None:
        result: Any = new_torch(wanted, array.dtype) if is_torch(x) else new_numpy(wanted, array.dtype)
    else:
        if not is_numpy(out) and not is_torch(out):
            memory(out, _OP, "out", True)  # refuses an `out` that is no array
        given = shape_of(out, _OP, "out")
        if given != wanted:
            raise InvalidValue(_OP, "out", "must have the shape of the result", str(given), str(wanted), code="shape")
        result = out.view(np.ndarray) if is_numpy(out) else out
    with errors_of(_OP):
        _core.resize(_OP, _pictures(array, place), _pictures(result, place), word, point, part)
    return result if out is None else out

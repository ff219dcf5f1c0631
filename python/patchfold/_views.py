# SPDX-License-Identifier: Apache-2.0
"""Patches and blocks as strided views: the functions never copy an element."""

import operator
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any

import numpy as np

from ._arrays import _type_name, given_text, is_numpy, speaks_dlpack, value_text
from ._errors import Error, InvalidType, InvalidValue
from ._operators import _space_to_depth, _unfold
from ._typing import Array, DepthMode, IntOrInts, Layout


@contextmanager
def errors_of(name: str) -> Iterator[None]:
    """Makes errors of the underlying operator name the called function and its array."""
    try:
        yield
    except Error as error:
        argument = "x" if error.argument == "shape" else error.argument
        facts = {"rule": error.rule, "given": error.given, "expected": error.expected, "code": error.code}
        raise type(error)(operator=name, argument=argument, **facts) from None


def is_list(value: Any) -> bool:
    if isinstance(value, np.void):  # a record, which has entries but no axes
        return True
    return hasattr(value, "__len__") and not isinstance(value, str) and getattr(value, "ndim", 1) != 0


def spatial_rank(ndim: int, *values: Any) -> int:
    """Number of spatial axes: the length of the lists among the values, or ndim - 2."""
    return next((len(value) for value in values if is_list(value)), ndim - 2)


def per_axis(value: Any, rank: int) -> tuple[int, ...]:
    """One entry for each axis."""
    return tuple(map(operator.index, value)) if is_list(value) else (operator.index(value),) * rank


def read_once(value: Any, default: Any = None) -> Any:
    """Reads integers, or a sequence of them, once, so that later code uses the same values as the check. None gives the
    default. Other values are returned as they are, and the check refuses them."""
    if value is None:
        return default
    if not is_list(value):
        return _read_integer(value)
    items = first_entries(value)
    return value if items is None else tuple(map(_read_integer, items))


def read_pads(value: Any) -> Any:
    """The same for a value that may hold pairs."""
    items = first_entries(value) if is_list(value) else None
    if value is None or items is None:
        return read_once(value, 0)
    return tuple(map(read_once, items))


def _read_integer(value: Any) -> Any:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return value
    try:
        return operator.index(value)
    except TypeError:  # an array of several elements has __index__ too
        return value


def first_entries(value: Any, most: int = 1000) -> tuple[Any, ...] | None:
    """The entries of a sequence, or None if it is no sequence or is longer than any list may be (it may be endless)."""
    if isinstance(value, (bytes, dict)) or not hasattr(type(value), "__getitem__"):
        return None
    try:
        entries = tuple(islice(value, most + 1))
    except MemoryError:
        raise
    except Exception:  # the object cannot be iterated over
        return None
    return entries if len(entries) <= most else None


def shape_of(array: Any, name: str, argument: str) -> tuple[int, ...]:
    """The extents that an array, or an object used like one, reports."""
    if is_numpy(array):
        own: tuple[int, ...] = np.ndarray.shape.__get__(array)  # a subclass may override it
        return own
    entries = first_entries(array.shape) if is_list(array.shape) else None
    extents = None if entries is None else tuple(map(_read_integer, entries))
    if extents is None or not all(type(extent) is int for extent in extents):
        raise InvalidType(
            operator=name, argument=argument, rule="its shape must be a tuple of integers", given=given_text(array.shape)
        )
    return extents


def _strided(name: str, x: Any, shape: tuple[int, ...], strides: tuple[int, ...], *, repeats: bool = False) -> Any:
    if is_numpy(x):
        try:
            return np.lib.stride_tricks.as_strided(x, shape, strides, writeable=x.flags.writeable and not repeats)
        except ValueError:  # even for an empty array, since NumPy multiplies the other extents
            rule = "the extents of the view must be as few as NumPy can multiply"
            raise InvalidValue(operator=name, argument="x", rule=rule, given=value_text(shape)) from None
    return x.as_strided(shape, strides, x.storage_offset())


def _shape_and_strides(name: str, x: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Strides are in bytes for NumPy, in elements for torch."""
    if is_numpy(x):
        dtype: Any = np.ndarray.dtype.__get__(x)
        if dtype.kind == "T":
            rule = "strings of variable width have no strided views"
            raise InvalidType(operator=name, argument="x", rule=rule, given=str(dtype))
        if not isinstance(x, np.ma.MaskedArray):
            return np.ndarray.shape.__get__(x), np.ndarray.strides.__get__(x)  # a subclass may override it
        rule, given, expected = (
            "masked arrays are not taken, since the mask would be lost",
            "",
            "x.data or x.filled(..)",
        )
    else:
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(x, torch.Tensor) and x.layout is torch.strided:
            return tuple(x.shape), tuple(x.stride())
        rule = "must be a NumPy array or a dense torch tensor: others have no strided views"
        given = _type_name(x)
        expected = f"patchfold.{name.removesuffix('_view')}, which copies" if speaks_dlpack(x) else ""
    raise InvalidType(operator=name, argument="x", rule=rule, given=given, expected=expected)


def unfold_view(
    x: Array,
    kernel_size: IntOrInts,
    *,
    stride: IntOrInts = 1,
    dilation: IntOrInts = 1,
    layout: Layout = "channels_first",
) -> Array:
    """Returns all patches of an image as a view: unfold without a copy and without padding.

    Shapes: x is (B.., C, I1..IR); the view is (B.., C, k1..kR, l1..lR): all axes of the patch before all axes of the
        positions, so that reshape(B.., C*K, L) gives what unfold gives. With layout="channels_last": (B.., I1..IR, C)
        to (B.., l1..lR, C, k1..kR). R is the length of the lists among the arguments; with single numbers only, R =
        x.ndim - 2.

    Arguments:
        x: the image.
        kernel_size: extents of a patch, at least 1; one number for every spatial axis or one for each.
        stride: step between patches, at least 1.
        dilation: step between taps, at least 0.
        layout: where the channels lie, "channels_first" or "channels_last".

    Formula: view[n, c, tap, position] = x[n, c, position * stride + tap * dilation], for each axis.

    Types: NumPy arrays of every element type, and torch tensors (whose gradient flows through). Several elements share
        memory, so views of NumPy arrays are read-only, and a torch view must not be written to.

    Errors: InvalidValue for numbers, words and shapes that break a rule, and for an image smaller than a patch;
        InvalidType for arguments of the wrong type and for arrays that have no strided views (JAX). Both name the rule,
        the given value and the expected one.

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
    name = "unfold_view"
    kernel_size, stride, dilation = read_once(kernel_size), read_once(stride, 1), read_once(dilation, 1)
    layout = "channels_first" if layout is None else layout
    shape, strides = _shape_and_strides(name, x)
    with errors_of(name):
        grid = _unfold.output_shape(shape, kernel_size, stride, dilation, None, None, None, layout, None, "grid")
    rank = spatial_rank(len(shape), kernel_size, stride, dilation)
    batch = len(shape) - rank - 1
    first = layout == "channels_first"
    channel, spatial = (batch, batch + 1) if first else (batch + rank, batch)
    positions = grid[spatial : spatial + rank]
    kernel, steps, gaps = (per_axis(value, rank) for value in (kernel_size, stride, dilation))
    extents = shape[spatial : spatial + rank]
    if 0 in positions:
        effective = tuple((k - 1) * d + 1 for k, d in zip(kernel, gaps, strict=True))
        raise InvalidValue(
            operator=name,
            argument="x",
            rule="the spatial axes must hold at least one patch",
            given=str(extents),
            expected=f"at least {effective}",
        )
    axes = strides[spatial : spatial + rank]
    # On an axis with one tap or one position no step is taken, so a long step cannot overflow the strides.
    tap_strides = tuple(s * d if k > 1 else s for s, d, k in zip(axes, gaps, kernel, strict=True))
    position_strides = tuple(s * step if n > 1 else s for s, step, n in zip(axes, steps, positions, strict=True))
    patch_axes = ((shape[channel], *kernel), (strides[channel], *tap_strides))
    position_axes = (positions, position_strides)
    front, back = (patch_axes, position_axes) if first else (position_axes, patch_axes)
    view_shape = (*shape[:batch], *front[0], *back[0])
    view_strides = (*strides[:batch], *front[1], *back[1])
    view: Array = _strided(name, x, view_shape, view_strides, repeats=True)
    return view


def space_to_depth_view(
    x: Array, block: IntOrInts, *, mode: DepthMode = "blocks_first", layout: Layout = "channels_first"
) -> Array:
    """Returns the blocks of an image as a view: space_to_depth without a copy, with separate axes for the new channels.

    Shapes: x is (B.., C, I1..IR); the view is (B.., b1..bR, C, I1/b1 .. IR/bR) for mode="blocks_first" and (B.., C,
        b1..bR, I1/b1 .. IR/bR) for "depth_first", so that reshape(B.., C*K, I1/b1 .. IR/bR) gives what space_to_depth
        gives. With layout="channels_last": (B.., I1..IR, C) to (B.., I1/b1 .. IR/bR, b1..bR, C) or (B.., I1/b1 ..
        IR/bR, C, b1..bR). R is the length of block; if it is a number, R = x.ndim - 2.

    Arguments:
        x: the image; its extents must be multiples of the block.
        block: extents of a block, at least 1; one number for every spatial axis or one for each.
        mode: which comes first, the offset within the block ("blocks_first") or the channel ("depth_first").
        layout: where the channels lie, "channels_first" or "channels_last".

    Formula: view[n, offset, c, y] = x[n, c, y * block + offset], for each axis, for mode="blocks_first".

    Types: NumPy arrays of every element type, and torch tensors (whose gradient flows through). No two elements share
        memory: the view of a writable array is writable.

    Errors: InvalidValue for numbers, words and shapes that break a rule, and for extents that are not multiples of the
        block; InvalidType for arguments of the wrong type and for arrays that have no strided views (JAX). Both name
        the rule, the given value and the expected one.

    Elsewhere: scikit-image view_as_blocks; einops rearrange('b c (h i) (w j) -> b i j c h w'); torch view and permute;
        TensorFlow none; ONNX none; OpenVINO none; MATLAB none.

    Example:
        >>> import numpy as np, patchfold
        >>> x = np.arange(6).reshape(1, 1, 6)
        >>> view = patchfold.space_to_depth_view(x, 2)
        >>> view[0, :, 0]
        array([[0, 2, 4],
               [1, 3, 5]])
        >>> np.shares_memory(view, x), np.array_equal(view.reshape(1, 2, 3), patchfold.space_to_depth(x, 2))
        (True, True)
    """
    name = "space_to_depth_view"
    block = read_once(block)
    mode, layout = "blocks_first" if mode is None else mode, "channels_first" if layout is None else layout
    shape, strides = _shape_and_strides(name, x)
    with errors_of(name):
        deep = _space_to_depth.output_shape(shape, block, mode, layout)
    rank = spatial_rank(len(shape), block)
    batch = len(shape) - rank - 1
    first = layout == "channels_first"
    channel, spatial = (batch, batch + 1) if first else (batch + rank, batch)
    blocks = per_axis(block, rank)
    axes = strides[spatial : spatial + rank]
    offset_axes = (blocks, axes)
    channel_axis = ((shape[channel],), (strides[channel],))
    count_axes = (deep[spatial : spatial + rank], tuple(s * b for s, b in zip(axes, blocks, strict=True)))
    depth = (offset_axes, channel_axis) if mode == "blocks_first" else (channel_axis, offset_axes)
    parts = (*depth, count_axes) if first else (count_axes, *depth)
    view_shape = (*shape[:batch], *chain.from_iterable(part[0] for part in parts))
    view_strides = (*strides[:batch], *chain.from_iterable(part[1] for part in parts))
    view: Array = _strided(name, x, view_shape, view_strides)
    return view

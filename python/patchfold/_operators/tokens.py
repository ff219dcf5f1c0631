# SPDX-License-Identifier: Apache-2.0
"""Pictures and videos as tokens, the flattened patches that vision transformers read, in the orders of their models."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.kinds import is_numpy, is_torch, shape_of
from .._arrays.memory import memory, new_numpy, new_torch, type_like
from .._errors import InvalidType, InvalidValue, errors_of, type_name
from .._typing import Array, Element, Int, IntOrInts, Ints, TokenLayout, TokenOrder, TokenRepeat, TokenSettings
from .moves import moved, open_batch, read, taken
from .patches import reshaped
from .token_orders import (
    Geometry,
    Seams,
    Shape,
    check_extents,
    check_spelled,
    frames_axis,
    geometry,
    image_axes,
    integers,
    merge_of,
    order_of,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

_copy = _core.Operator("copy", data="x")
_MOST_AXES = 32


def _joins(array: Any, seams: Seams) -> bool:
    """Returns whether the parts of a NumPy array or torch tensor can become the axes of the result without a copy."""
    strides = array.strides if is_numpy(array) else array.stride()
    return seams is not None and all(strides[axis] == strides[inner] * extent for axis, inner, extent in seams)


def _geometry(compiled: bool) -> Callable[..., Geometry]:
    """Returns the function `geometry`; without its cache if torch.compile traces the call, since a graph cannot hold a
    cache."""
    return geometry.__wrapped__ if compiled else geometry


def _in_order(plan: Geometry) -> Shape:
    """Returns the extents of all parts, in the order of the tokens."""
    return tuple(plan.parts[axis] for axis in plan.order)


def _copy_parts(source: Any, target: Any, table: Any = None, axis: int = 0) -> None:
    """Copies an array, which may have more axes than the operator copy takes. With a table, copies its entries for the bytes
    of the array; axis: the axis that selects a row of the table, as a negative number."""
    if source.ndim > _MOST_AXES:
        for part, to in zip(source, target, strict=True):
            _copy_parts(part, to, table, axis)
    elif table is None:
        _copy(source, target)
    else:
        _core.apply_table("patchify", source, axis, table, target)


def _checked_table(op: str, table: Any, channels: int, x: Any, by_engine: bool) -> tuple[Any, Any]:
    """Returns a table with a row for each channel, and the element type that a result of x's kind gets from the table."""
    if not by_engine:
        rule = "must be a NumPy array or a torch tensor in the processor's memory, to be read through a table"
        raise InvalidType(op, "x", rule, type_name(x))
    if not is_numpy(table) and not is_torch(table):
        raise InvalidType(op, "table", "must be a NumPy array or a torch tensor", type_name(table))
    if tuple(table.shape) not in ((256,), (channels, 256)):
        rule = "must have 256 entries, or 256 for each channel"
        raise InvalidValue(op, "table", rule, str(tuple(table.shape)), f"({channels}, 256) or (256,)", code="shape")
    if table.ndim == 1:
        table = table.expand(channels, 256) if is_torch(table) else np.broadcast_to(table, (channels, 256))
    dtype = type_like(x, table.dtype)
    if dtype is None:
        rule = "NumPy has no such element type without ml_dtypes"
        raise InvalidType(op, "table", rule, str(table.dtype), "import ml_dtypes, or torch.from_numpy(x)")
    return table, dtype


def _result(op: str, shape: Shape, like: Any, out: Any, dtype: Any) -> Any:
    """Returns the array for the result: `out` after a check, or a new array of the kind of `like`."""
    if out is None:
        return (new_torch if is_torch(like) else new_numpy)(shape, dtype)
    if not is_numpy(out) and not is_torch(out):
        memory(out, op, "out", True)  # refuses an `out` that is no array
    given = shape_of(out, op, "out")
    if given != shape:
        rule = "must have the shape of the result"
        raise InvalidValue(op, "out", rule, str(given), str(shape), code="shape")
    return out.view(np.ndarray) if is_numpy(out) else out


@overload
def patchify(
    x: npt.NDArray[Element],
    patch_size: IntOrInts,
    *,
    out: npt.NDArray[Element] | None = None,
    **settings: Unpack[TokenSettings],
) -> npt.NDArray[Element]: ...
@overload
def patchify(
    x: Array,
    patch_size: IntOrInts,
    *,
    table: Array | None = None,
    out: Array | None = None,
    **settings: Unpack[TokenSettings],
) -> Array: ...
def patchify(
    x: Array,
    patch_size: IntOrInts,
    *,
    order: TokenOrder = "vit",
    merge_size: Int | None = None,
    layout: TokenLayout = "channels_first",
    repeat: TokenRepeat = None,
    table: Array | None = None,
    out: Array | None = None,
) -> Array:
    """Cuts images or videos into patches that do not overlap, and makes a token of each, for vision transformers.

    Shapes: x is (B.., C, I1..IR), or (B.., I1..IR, C) with layout="channels_last"; the result is (B.., n, D) with D =
        C * the product of patch_size, and n = the product of I / patch_size. R is the length of patch_size. One number
        stands for rows and columns, R = 2, of an x of 3 or 4 axes. With layout="frames_first" x is (B.., T, C, H, W), R = 3.
        For order="qwen" x is (B.., T, C, H, W) or (B.., T, H, W, C), R = 3, and one number p stands for (2, p, p). Then
        (2, 3, H, W) is one video of two frames, and x[:, None] with repeat="last" is a batch of pictures, each shown twice.

    Arguments:
        x: the images or videos; the extents must be multiples of the patches (and of the merge blocks). Pad or crop first.
        patch_size: extents of a patch, at least 1: one for each spatial axis, or one number as above.
        order: "vit": a token is (rows, columns, channel), tokens are in row-major order. "torch": a token is (channel, rows,
            columns), like the weights of a convolution. "qwen": a token is (channel, frames, rows, columns), and tokens
            stand together in merge blocks of 2 x 2: (t, y / 2, x / 2, y % 2, x % 2). Or the axes of a token spelled out, as
            in the patterns of models: "p1 p2 c" or "(p1 p2 pf c)". c is the channels. The entries of patch_size are pf, pt
            or pd (frames, depth), p1 or ph (rows), and p2 or pw (columns).
        merge_size: patches along the rows and along the columns of a merge block; None for 2 with "qwen" and 1 otherwise.
        layout: where the channels lie, "channels_first", "channels_last" or "frames_first".
        repeat: "last" repeats the last frame of a video until the frames are a multiple of the first of three entries of
            patch_size; None refuses other numbers of frames.
        table: for an x of uint8 the numbers that stand for its bytes, (C, 256), or (256,) for all channels, such as
            patchfold.vision.normalization_table makes. Each element e of channel c becomes table[c, e], in the same pass.
        out: a NumPy array or torch tensor of the result's shape and element type; it receives the result and is returned.

    Formula: result[n, y * w + x, (i * q + j) * C + c] = x[n, c, y * p + i, x * q + j] for patches of (p, q), w of them
        in a row, order="vit"; [.., (c * p + i) * q + j] for order="torch".

    Types: any element type of fixed size; elements are copied bit by bit. A result by a table has the table's element type,
        and x must be a NumPy array or a torch tensor on the CPU. As numpy.reshape does, the result of a NumPy
        array or torch tensor shares its memory where no element has to move (patches as wide as the image, say). Arrays
        of other libraries, torch tensors that require grad or lie on another device, and tensors within torch.compile,
        jax.jit or tf.function are moved by their own library, so derivatives flow.

    Errors: InvalidValue for numbers, words and shapes that break a rule; InvalidType for data that is not an array and
        for arguments of the wrong type. Errors name the rule, the given and the expected value.

    Elsewhere: einops rearrange("b c (h p) (w q) -> b (h w) (p q c)") for "vit"; torch nn.functional.unfold(x, p,
        stride=p).mT for "torch"; TensorFlow image.extract_patches for "vit"; Hugging Face Qwen2VLImageProcessor for
        "qwen"; ONNX none; OpenVINO ExtractImagePatches; MATLAB none.

    Example:
        >>> import numpy as np, patchfold
        >>> pictures = np.zeros((8, 3, 224, 224), np.float32)
        >>> patchfold.patchify(pictures, 16).shape
        (8, 196, 768)
        >>> patchfold.patchify(np.arange(8).reshape(1, 2, 4), 2)
        array([[0, 1, 4, 5],
               [2, 3, 6, 7]])
        >>> video = np.zeros((4, 3, 56, 84), np.float32)  # frames, channels, rows, columns
        >>> patchfold.patchify(video, 14, order="qwen").shape
        (48, 1176)
    """
    op = "patchify"
    kind = order_of(op, order, layout)
    array, shape, by_engine, compiled = read(x, op, "x", out)
    size = integers(op, "patch_size", patch_size)
    if type(size) is int and not kind.frames and len(shape) > 4:
        rule = "one number stands for the rows and columns of an array of 3 or 4 axes"
        expected = f"({size}, {size}) for frames (.., C, H, W), or (frames, {size}, {size}) for volumes (.., C, T, H, W)"
        raise InvalidValue(op, "patch_size", rule, f"{size} for {len(shape)} axes", expected, code="rank")
    patch = size if type(size) is tuple else (kind.frames, size, size) if kind.frames else (size, size)
    rank = len(patch)
    check_spelled(op, kind, patch, order)
    merge = merge_of(op, kind, merge_size, rank)
    frames = frames_axis(op, repeat, patch, kind, str(layout))
    if frames is not None and len(shape) >= 4 and shape[frames] > 0 and shape[frames] % patch[0]:
        count = shape[frames]
        array = taken(array, [min(i, count - 1) for i in range(count + -count % patch[0])], frames)
        shape = tuple(array.shape)
    batch, channels, rest = image_axes(op, shape, patch, merge, kind, str(layout))
    batch = batch if compiled else open_batch(array, batch)
    plan = _geometry(compiled)(batch, channels, rest, patch, merge, kind, str(layout))
    dtype = array.dtype
    if table is not None:
        table, dtype = _checked_table(op, table, channels, array, by_engine and not compiled)
    elif out is None:
        cut = moved(array, plan.parts, plan.order)
        if not by_engine or _joins(cut, plan.token_seams):
            view: Array = reshaped(cut, plan.tokens)
            return view
    result = _result(op, plan.tokens, array, out, dtype)
    with errors_of(op):
        cut = moved(array, plan.parts, plan.order)
        _copy_parts(cut, reshaped(result, _in_order(plan)), table, plan.channel - len(plan.order))
    return result if out is None else out


@overload
def unpatchify(
    tokens: npt.NDArray[Element],
    size: Ints,
    patch_size: IntOrInts,
    *,
    out: npt.NDArray[Element] | None = None,
    **settings: Unpack[TokenSettings],
) -> npt.NDArray[Element]: ...
@overload
def unpatchify(
    tokens: Array,
    size: Ints,
    patch_size: IntOrInts,
    *,
    out: Array | None = None,
    **settings: Unpack[TokenSettings],
) -> Array: ...
def unpatchify(
    tokens: Array,
    size: Ints,
    patch_size: IntOrInts,
    *,
    order: TokenOrder = "vit",
    merge_size: Int | None = None,
    layout: TokenLayout = "channels_first",
    repeat: TokenRepeat = None,
    out: Array | None = None,
) -> Array:
    """Puts tokens back into images or videos: the inverse of patchify.

    Shapes: tokens is (B.., n, D); the result is (B.., C, I1..IR) where I1..IR = size and C = D / the product of
        patch_size; (B.., I1..IR, C) with layout="channels_last". For order="qwen" size is (T, H, W), and the result
        is (B.., T, C, H, W) or (B.., T, H, W, C); with layout="frames_first" it is (B.., T, C, H, W) for every order.

    Arguments:
        tokens: the flattened patches.
        size: the spatial extents of the images, multiples of the patches (and of the merge blocks).
        patch_size: extents of a patch, at least 1: one for each spatial axis. One number p stands for (p, p), and for
            (2, p, p) with order="qwen".
        order: "vit", "torch", "qwen", or the axes of a token, as for patchify.
        merge_size: as for patchify.
        layout: where the channels lie in the result, as for patchify.
        repeat: "last" for the size of a video before its last frame was repeated; the repeated frames are left out.
        out: a NumPy array or torch tensor of the result's shape and element type; it receives the result and is returned.

    Formula: result[n, c, y * p + i, x * q + j] = tokens[n, y * w + x, (i * q + j) * C + c] for patches of (p, q), w of
        them in a row, order="vit"; [.., (c * p + i) * q + j] for order="torch".

    Types: as for patchify.

    Errors: InvalidValue for numbers, words and shapes that break a rule; InvalidType for data that is not an array and
        for arguments of the wrong type. Errors name the rule, the given and the expected value.

    Elsewhere: einops rearrange("b (h w) (p q c) -> b c (h p) (w q)", h=..) for "vit"; torch nn.functional.fold(tokens.mT,
        size, p, stride=p) for "torch"; TensorFlow nn.depth_to_space for a grid of tokens, "vit"; ONNX none; OpenVINO
        none; MATLAB none.

    Example:
        >>> import numpy as np, patchfold
        >>> tokens = np.array([[0, 1, 4, 5], [2, 3, 6, 7]])
        >>> patchfold.unpatchify(tokens, (2, 4), 2)
        array([[[0, 1, 2, 3],
                [4, 5, 6, 7]]])
    """
    op = "unpatchify"
    kind = order_of(op, order, layout)
    array, shape, by_engine, compiled = read(tokens, op, "tokens", out)
    extents = integers(op, "size", size)
    if type(extents) is not tuple:
        rule = "must have one entry for each spatial axis"
        raise InvalidValue(op, "size", rule, str(extents), "(rows, columns)")
    patch = integers(op, "patch_size", patch_size)
    if type(patch) is int:
        patch = (kind.frames, patch, patch) if kind.frames else (patch, patch)
    if len(patch) != len(extents):
        rule = "must have as many entries as patch_size"
        raise InvalidValue(op, "size", rule, str(extents), f"{len(patch)} entries, for patches of {patch}", code="length")
    check_spelled(op, kind, patch, order)
    merge = merge_of(op, kind, merge_size, len(patch))
    frames = frames_axis(op, repeat, patch, kind, str(layout))
    if frames is not None and extents[0] % patch[0]:
        whole = (extents[0] + -extents[0] % patch[0], *extents[1:])
        video: Any = unpatchify(tokens, whole, patch, order=order, merge_size=merge_size, layout=layout)
        shown = (slice(None),) * (video.ndim + frames) + (slice(extents[0]),)
        kept: Array = video[shown]
        if out is not None:
            _copy(kept, _result(op, tuple(video[shown].shape), kept, out, video.dtype))
        return kept if out is None else out
    tokens_given = shape[-2] if len(shape) > 1 else None
    check_extents(op, "size", extents, patch, merge, kind.frames > 0 or layout == "frames_first", tokens_given)
    if len(shape) < 2:
        rule = "must be (.., tokens, elements of a token)"
        raise InvalidValue(op, "tokens", rule, str(shape), code="rank")
    if shape[0] < 0 and len(shape) == 2:
        raise InvalidValue(op, "tokens", "only the batch may be open", str((None, *shape[1:])), code="shape")
    count, taps = prod(extents) // prod(patch), prod(patch)
    if shape[-2] != count or shape[-1] % taps:
        rule = "must have a token for each patch and, in each, as many elements of every channel as the patch has"
        raise InvalidValue(op, "tokens", rule, str(shape), f"(.., {count}, a multiple of {taps})", code="shape")
    batch = shape[:-2] if compiled else open_batch(array, shape[:-2])
    plan = _geometry(compiled)(batch, shape[-1] // taps, extents, patch, merge, kind, str(layout))
    if out is None:
        back = sorted(range(len(plan.order)), key=plan.order.__getitem__)
        cut = moved(array, _in_order(plan), back)
        if not by_engine or _joins(cut, plan.image_seams):
            view: Array = reshaped(cut, plan.image)
            return view
    result = _result(op, plan.image, array, out, array.dtype)
    with errors_of(op):
        _copy_parts(reshaped(array, _in_order(plan)), moved(result, plan.parts, plan.order))
    return result if out is None else out

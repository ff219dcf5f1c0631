# SPDX-License-Identifier: Apache-2.0
"""The operators of TensorFlow, with the names, defaults and checks of tf.raw_ops. Only `library` needs tensorflow."""

from __future__ import annotations

import functools
import importlib
import typing
from typing import Literal, TypeAlias

from .. import _errors
from .._arguments import is_list as _is_list
from .._core import Operator
from .._operators import docstrings as _docstrings
from .._operators import inverses as _inverses
from .._typing import Array, Int, Ints, Operation, Pairs

DataFormat: TypeAlias = Literal["NHWC", "NCHW"]
PaddingType: TypeAlias = Literal["SAME", "VALID"]
Reduction: TypeAlias = Literal["mean", "sum"]

_space_to_batch: Operation = Operator("tensorflow.SpaceToBatch").__call__
_space_to_batch_nd: Operation = Operator("tensorflow.SpaceToBatchND").__call__
_batch_to_space: Operation = Operator("tensorflow.BatchToSpace").__call__
_batch_to_space_nd: Operation = Operator("tensorflow.BatchToSpaceND").__call__
_space_to_depth: Operation = Operator("tensorflow.SpaceToDepth").__call__
_depth_to_space: Operation = Operator("tensorflow.DepthToSpace").__call__
_extract_image_patches: Operation = Operator("tensorflow.ExtractImagePatches").__call__
_extract_volume_patches: Operation = Operator("tensorflow.ExtractVolumePatches").__call__
_PATCHES = "tensorflow.ExtractImagePatches"
_NAME = "as in TensorFlow, where it names a node of a graph; without effect here"
_described = functools.partial(_docstrings.described, name=_NAME)
_SIZES = "[1, rows, columns, 1] of a patch, at least 1"
_SHAPE = "a block's extent on each axis, in place of block_size"


def _blocks(op: str, pads: typing.Any, block_size: object, block_shape: object) -> tuple[object, object] | None:
    """Returns block_shape and the pads of a call with block_shape, or in the order of TensorFlow 2, (block_shape, pads), of
    which `pads` and `block_size` are the two arguments; None for a call with block_size."""
    if block_shape is None:
        is_flat = getattr(pads, "ndim", 1) == 1 and _is_list(pads) and not any(map(_is_list, pads))
        return (pads, block_size) if is_flat and _is_list(block_size) else None
    if block_size is not None:
        rule = "must be left out where block_shape is given"
        raise _errors.InvalidType(op, "block_size", rule, _errors.value_text(block_size))
    return block_shape, pads


@typing.overload
def space_to_batch(
    input: Array, paddings: Pairs, block_size: Int, name: str | None = None, *, out: Array | None = None
) -> Array: ...
@typing.overload
def space_to_batch(
    input: Array, block_shape: Ints, paddings: Pairs, /, name: str | None = None, *, out: Array | None = None
) -> Array: ...
@typing.overload
def space_to_batch(
    input: Array, paddings: Pairs, *, block_shape: Ints, name: str | None = None, out: Array | None = None
) -> Array: ...
@_described("tensorflow.SpaceToBatch", input="the images", block_shape=_SHAPE)
def space_to_batch(
    input: Array, paddings: Pairs | Ints, block_size: Int | Pairs | None = None, name: str | None = None,
    *, block_shape: Ints | None = None, out: Array | None = None,
) -> Array:
    """TensorFlow SpaceToBatch: moves blocks of the height and the width to the batch.

    Calls of TensorFlow 2, (input, block_shape, paddings), are SpaceToBatchND.

    Shapes: input is (N, H, W, C); the result is (N*b*b, (H + pads)/b, (W + pads)/b, C) where b = block_size.

    Formula: result[(i * b + j) * N + n, y, x, c] = input[n, y * b + i - top, x * b + j - left, c]; 0 outside.

    Elsewhere: patchfold.space_to_batch (layout="channels_last"); torch none; ONNX none; OpenVINO SpaceToBatch; MATLAB
        reshape and permute.

    Example:
        >>> import numpy as np, patchfold.tensorflow
        >>> input = np.arange(4).reshape(1, 2, 2, 1)
        >>> patchfold.tensorflow.space_to_batch(input, [[0, 0], [0, 0]], 2).shape
        (4, 1, 1, 1)
    """
    blocks = _blocks("tensorflow.SpaceToBatch", paddings, block_size, block_shape)
    return _space_to_batch_nd(input, out, *blocks) if blocks else _space_to_batch(input, out, paddings, block_size)


@_described("tensorflow.SpaceToBatchND", input="the images")
def space_to_batch_nd(
    input: Array, block_shape: Ints, paddings: Pairs, name: str | None = None, *, out: Array | None = None
) -> Array:
    """TensorFlow SpaceToBatchND: moves blocks of the axes after the batch to the batch.

    Shapes: input is (N, D1..DM, rest); the result is (N*K, (D1 + pads)/b1 .. (DM + pads)/bM, rest) where M is the
        length of block_shape (0 is allowed) and K its product.

    Formula: result[offset * N + n, y, rest] = input[n, y * block + offset - pad_begin, rest], for each axis; 0 outside.

    Elsewhere: patchfold.space_to_batch (layout="channels_last"); torch none; ONNX none; OpenVINO SpaceToBatch; MATLAB
        reshape and permute.

    Example:
        >>> import numpy as np, patchfold.tensorflow
        >>> patchfold.tensorflow.space_to_batch_nd(np.arange(5).reshape(1, 5), [2], [[1, 0]])
        array([[0, 1, 3],
               [0, 2, 4]])
    """
    return _space_to_batch_nd(input, out, block_shape, paddings)


@typing.overload
def batch_to_space(
    input: Array, crops: Pairs, block_size: Int, name: str | None = None, *, out: Array | None = None
) -> Array: ...
@typing.overload
def batch_to_space(
    input: Array, block_shape: Ints, crops: Pairs, /, name: str | None = None, *, out: Array | None = None
) -> Array: ...
@typing.overload
def batch_to_space(
    input: Array, crops: Pairs, *, block_shape: Ints, name: str | None = None, out: Array | None = None
) -> Array: ...
@_described("tensorflow.BatchToSpace", input="the batches", block_shape=_SHAPE)
def batch_to_space(
    input: Array, crops: Pairs | Ints, block_size: Int | Pairs | None = None, name: str | None = None,
    *, block_shape: Ints | None = None, out: Array | None = None,
) -> Array:
    """TensorFlow BatchToSpace: moves blocks of the batch back to the height and the width.

    Calls of TensorFlow 2, (input, block_shape, crops), are BatchToSpaceND.

    Shapes: input is (N*b*b, y, x, C); the result is (N, y*b - crops, x*b - crops, C) where b = block_size.

    Formula: result[n, y * b + i - top, x * b + j - left, c] = input[(i * b + j) * N + n, y, x, c].

    Elsewhere: patchfold.batch_to_space (layout="channels_last"); torch none; ONNX none; OpenVINO BatchToSpace; MATLAB
        reshape and permute.

    Example:
        >>> import numpy as np, patchfold.tensorflow
        >>> patchfold.tensorflow.batch_to_space(np.arange(4).reshape(4, 1, 1, 1), [[0, 0], [0, 0]], 2).squeeze()
        array([[0, 1],
               [2, 3]])
    """
    blocks = _blocks("tensorflow.BatchToSpace", crops, block_size, block_shape)
    return _batch_to_space_nd(input, out, *blocks) if blocks else _batch_to_space(input, out, crops, block_size)


@_described("tensorflow.BatchToSpaceND", input="the batches")
def batch_to_space_nd(
    input: Array, block_shape: Ints, crops: Pairs, name: str | None = None, *, out: Array | None = None
) -> Array:
    """TensorFlow BatchToSpaceND: moves blocks of the batch back to the axes after the batch.

    Shapes: input is (N*K, y1..yM, rest); the result is (N, y1*b1 - crops .. yM*bM - crops, rest) where M is the length
        of block_shape (0 is allowed) and K its product.

    Formula: result[n, y * block + offset - crop_begin, rest] = input[offset * N + n, y, rest], for each axis.

    Elsewhere: patchfold.batch_to_space (layout="channels_last"); torch none; ONNX none; OpenVINO BatchToSpace; MATLAB
        reshape and permute.

    Example:
        >>> import numpy as np, patchfold.tensorflow
        >>> patchfold.tensorflow.batch_to_space_nd(np.array([[0, 1, 3], [0, 2, 4]]), [2], [[1, 0]])
        array([[0, 1, 2, 3, 4]])
    """
    return _batch_to_space_nd(input, out, block_shape, crops)


@_described("tensorflow.SpaceToDepth", input="the images; H and W must be multiples of b")
def space_to_depth(
    input: Array, block_size: Int, data_format: DataFormat = "NHWC", name: str | None = None, *, out: Array | None = None
) -> Array:
    """TensorFlow SpaceToDepth: moves blocks of the height and the width to the channels.

    Shapes: input is (N, H, W, C); the result is (N, H/b, W/b, b*b*C); with data_format="NCHW" (N, C, H, W) to (N,
        b*b*C, H/b, W/b); b = block_size.

    Formula: result[n, y, x, (i * b + j) * C + c] = input[n, y * b + i, x * b + j, c].

    Elsewhere: patchfold.space_to_depth (layout="channels_last"); torch nn.functional.pixel_unshuffle (other order);
        ONNX SpaceToDepth; OpenVINO SpaceToDepth; MATLAB spaceToDepth.

    Example:
        >>> import numpy as np, patchfold.tensorflow
        >>> patchfold.tensorflow.space_to_depth(np.arange(4).reshape(1, 2, 2, 1), 2)
        array([[[[0, 1, 2, 3]]]])
    """
    return _space_to_depth(input, out, block_size, data_format)


@_described("tensorflow.DepthToSpace", input="the deep images; their channels must be a multiple of b*b")
def depth_to_space(
    input: Array, block_size: Int, data_format: DataFormat = "NHWC", name: str | None = None, *, out: Array | None = None
) -> Array:
    """TensorFlow DepthToSpace: moves channels back to blocks of the height and the width.

    Shapes: input is (N, y, x, b*b*C); the result is (N, y*b, x*b, C); with data_format="NCHW" (N, b*b*C, y, x) to (N,
        C, y*b, x*b); b = block_size.

    Formula: result[n, y * b + i, x * b + j, c] = input[n, y, x, (i * b + j) * C + c].

    Elsewhere: patchfold.depth_to_space (layout="channels_last"); torch nn.functional.pixel_shuffle (other order); ONNX
        DepthToSpace; OpenVINO DepthToSpace; MATLAB depthToSpace.

    Example:
        >>> import numpy as np, patchfold.tensorflow
        >>> patchfold.tensorflow.depth_to_space(np.arange(4).reshape(1, 1, 1, 4), 2).squeeze()
        array([[0, 1],
               [2, 3]])
    """
    return _depth_to_space(input, out, block_size, data_format)


@typing.overload
def extract_image_patches(
    images: Array, ksizes: Ints, strides: Ints, rates: Ints, padding: PaddingType, name: str | None = None,
    *, out: Array | None = None,
) -> Array: ...
@typing.overload
def extract_image_patches(
    images: Array, *, sizes: Ints, strides: Ints, rates: Ints, padding: PaddingType, name: str | None = None,
    out: Array | None = None,
) -> Array: ...
@_described("tensorflow.ExtractImagePatches", images="the images", sizes="another name of ksizes, for calls of TensorFlow 1")
def extract_image_patches(
    images: Array, ksizes: Ints | None = None, strides: Ints | None = None, rates: Ints | None = None,
    padding: PaddingType | None = None, name: str | None = None, *, sizes: Ints | None = None, out: Array | None = None,
) -> Array:
    """TensorFlow ExtractImagePatches (tf.image.extract_patches): copies patches to the channels.

    Shapes: images is (N, H, W, C); the result is (N, oh, ow, kh*kw*C) with o = (size - (k - 1) * rate - 1) // stride +
        1 for padding="VALID", and the size divided by stride, rounded up, for padding="SAME".

    Formula: result[n, y, tap * C + c] = images[n, y * stride + tap * rate - pad_begin, c] for both axes; 0 outside.

    Elsewhere: patchfold.unfold (layout="channels_last", order="kernel", positions="grid"); torch nn.functional.unfold
        (other order); ONNX none; OpenVINO ExtractImagePatches; MATLAB im2col(A, [m n], 'sliding'). patchfold.reconstruct
        with these words puts patches back.

    Example:
        >>> import numpy as np, patchfold.tensorflow
        >>> images = np.arange(9).reshape(1, 3, 3, 1)
        >>> patchfold.tensorflow.extract_image_patches(
        ...     images, ksizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="VALID"
        ... )[0, 1, 1]
        array([4, 5, 7, 8])
    """
    if sizes is None:
        if ksizes is None:
            rule = "must be given, or sizes, which is the same argument"
            raise _errors.InvalidValue(_PATCHES, "ksizes", rule, expected="a list of integers", code="missing")
        return _extract_image_patches(images, out, ksizes, strides, rates, padding)
    if ksizes is not None:
        rule = "must be left out where sizes is given, which is the same argument"
        raise _errors.InvalidType(_PATCHES, "ksizes", rule, _errors.value_text(ksizes))
    return _with_sizes(images, out, sizes, strides, rates, padding)


def _with_sizes(images: Array, out: Array | None, *values: object) -> Array:
    """Returns the patches for a function whose parameter for ksizes is called sizes; errors say "sizes", too. values: the
    operator's arguments, in the table's order."""
    try:
        return _extract_image_patches(images, out, *values)
    except _errors.Error as error:
        raise _inverses.renamed(error, error.operator, {"ksizes": "sizes"}) from None


@_described("tensorflow.ExtractImagePatches", images="the images", sizes=_SIZES)
def extract_patches(
    images: Array, sizes: Ints, strides: Ints, rates: Ints, padding: PaddingType, name: str | None = None,
    *, out: Array | None = None,
) -> Array:
    """tf.image.extract_patches: copies patches to the channels. extract_patches is the newer name of extract_image_patches.

    Elsewhere: patchfold.unfold (layout="channels_last", order="kernel", positions="grid"); more in extract_image_patches.

    Example:
        >>> import numpy as np, patchfold.tensorflow
        >>> images = np.arange(9).reshape(1, 3, 3, 1)
        >>> patchfold.tensorflow.extract_patches(images, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID").shape
        (1, 2, 2, 4)
    """
    return _with_sizes(images, out, sizes, strides, rates, padding)


@_inverses.described(
    "tensorflow.ExtractImagePatches", extract_patches, output_size="rows and columns of the images", sizes=_SIZES
)
def reconstruct_patches(
    patches: Array, output_size: Ints, sizes: Ints, strides: Ints, rates: Ints, padding: PaddingType,
    *, reduction: Reduction = "mean", out: Array | None = None,
) -> Array:
    """Puts the patches of extract_patches back into the images that they were cut from. TensorFlow has no such operator.

    Shapes: patches is (N, oh, ow, kh*kw*C); the result is (N, H, W, C), where (H, W) is output_size.

    Formula: result[n, y, c] = the mean or the sum of patches[n, position, tap * C + c] over all taps and positions with
        position * stride + tap * rate - pad_begin = y for both axes; 0 if there are none.

    Derivatives: of sums, and of means where patches do not overlap.

    Elsewhere: patchfold.fold (layout="channels_last", order="kernel", positions="grid"); torch nn.functional.fold (other
        order); keras.ops.image.reconstruct_patches; ONNX Col2Im; OpenVINO Col2Im; MATLAB col2im.

    Example:
        >>> import numpy as np, patchfold.tensorflow
        >>> images = np.arange(2 * 7 * 5 * 3).reshape(2, 7, 5, 3)
        >>> window = dict(sizes=[1, 3, 3, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding="SAME")
        >>> patches = patchfold.tensorflow.extract_patches(images, **window)
        >>> bool((patchfold.tensorflow.reconstruct_patches(patches, (7, 5), **window) == images).all())
        True
    """
    op = "tensorflow.reconstruct_patches"
    lists = {"sizes": sizes, "strides": strides, "rates": rates}
    window = {name: _inverses.inner(op, name, entries, 2) for name, entries in lists.items()}
    window["padding"] = _inverses.word_of(op, "padding", padding, "SAME", "VALID").lower()
    return _inverses.put_back(op, patches, out, output_size, window, "channels_last", reduction)


@_described("tensorflow.ExtractVolumePatches", input="the volumes")
def extract_volume_patches(
    input: Array, ksizes: Ints, strides: Ints, padding: PaddingType, name: str | None = None, *, out: Array | None = None
) -> Array:
    """TensorFlow ExtractVolumePatches (tf.extract_volume_patches): copies patches of volumes to the channels.

    Shapes: input is (N, D, H, W, C); the result is (N, od, oh, ow, kd*kh*kw*C) with o = (size - k) // stride + 1 for
        padding="VALID", and the size divided by stride, rounded up, for padding="SAME". If the stride exceeds the kernel,
        the first patch of padding="SAME" moves inward, as in TensorFlow.

    Formula: result[n, y, tap * C + c] = input[n, y * stride + tap - pad_begin, c] for the three axes; 0 outside.

    Elsewhere: patchfold.unfold (layout="channels_last", order="kernel", positions="grid"); torch none (nn.Unfold has two
        axes); ONNX none; OpenVINO none; MATLAB none.

    Example:
        >>> import numpy as np, patchfold.tensorflow
        >>> volume = np.arange(8).reshape(1, 2, 2, 2, 1)
        >>> patchfold.tensorflow.extract_volume_patches(volume, [1, 1, 2, 2, 1], [1, 1, 1, 1, 1], "VALID")
        array([[[[[0, 1, 2, 3]]],
        <BLANKLINE>
        <BLANKLINE>
                [[[4, 5, 6, 7]]]]])
    """
    return _extract_volume_patches(input, out, ksizes, strides, padding)


def library() -> str:
    """Adds patchfold's operator to TensorFlow, for graphs that hold it already, such as saved models with patchfold's calls.

    Calls with tensors add the operator themselves.

    Returns: the path of the library, as tensorflow.load_op_library takes it.

    Raises: ImportError without tensorflow; FileNotFoundError where this build of patchfold has no library.

    Example:
        patchfold.tensorflow.library()
        model = tensorflow.saved_model.load(folder)
    """
    importlib.import_module("tensorflow")
    from ._tensors import library as path

    return path()

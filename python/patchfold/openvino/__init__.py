# SPDX-License-Identifier: Apache-2.0
"""The operators of OpenVINO, with the names, defaults and checks of its operation sets. Only `extension` needs openvino."""

from __future__ import annotations

import typing
from typing import Literal, TypeAlias

import numpy.typing as npt

from .._core import Operator
from .._operators import inverses as _inverses
from .._operators.docstrings import described as _described
from .._typing import Array, DepthMode, Element, Int, Ints, Operation

if typing.TYPE_CHECKING:
    from typing_extensions import Unpack

AutoPad: TypeAlias = Literal["valid", "same_lower", "same_upper"]
Reduction: TypeAlias = Literal["mean", "sum"]

_col2im: Operation = Operator("openvino.Col2Im").__call__
_extract_image_patches: Operation = Operator("openvino.ExtractImagePatches").__call__
_space_to_batch: Operation = Operator("openvino.SpaceToBatch").__call__
_batch_to_space: Operation = Operator("openvino.BatchToSpace").__call__
_space_to_depth: Operation = Operator("openvino.SpaceToDepth").__call__
_depth_to_space: Operation = Operator("openvino.DepthToSpace").__call__


class _Window(typing.TypedDict, total=False):
    strides: Ints
    dilations: Ints
    pads_begin: Ints
    pads_end: Ints


@typing.overload
def col2im(
    data: npt.NDArray[Element], output_size: Ints, kernel_size: Ints,
    *, out: npt.NDArray[Element] | None = None, **window: Unpack[_Window],
) -> npt.NDArray[Element]: ...
@typing.overload
def col2im(
    data: Array, output_size: Ints, kernel_size: Ints, *, out: Array | None = None, **window: Unpack[_Window]
) -> Array: ...
@_described("openvino.Col2Im", data="the columns")
def col2im(
    data: Array, output_size: Ints, kernel_size: Ints, *, strides: Ints = (1, 1), dilations: Ints = (1, 1),
    pads_begin: Ints = (0, 0), pads_end: Ints = (0, 0), out: Array | None = None,
) -> Array:
    """OpenVINO Col2Im-15: sums columns into images. Arrays given as output_size and kernel_size must both be int32 or int64.

    Shapes: data is (N, C*K, L) or (C*K, L); the result is (N, C, H, W) or (C, H, W) where (H, W) = output_size, K is
        the product of kernel_size, and L is the product of the positions (size + pads - (kernel - 1) * dilation - 1) //
        stride + 1.

    Formula: result[n, c, y] = the sum of data[n, c * K + tap, position] over all taps and positions with
        position * stride + tap * dilation - pad_begin = y for both axes; 0 if there are none.

    Elsewhere: patchfold.fold; torch nn.functional.fold; TensorFlow the gradient of image.extract_patches; ONNX Col2Im;
        MATLAB col2im(B, [m n], [mm nn], 'distinct').

    Example:
        >>> import numpy as np, patchfold.openvino
        >>> patchfold.openvino.col2im(np.ones((4, 4), np.float32), (3, 3), (2, 2))
        array([[[1., 2., 1.],
                [2., 4., 2.],
                [1., 2., 1.]]], dtype=float32)
    """
    return _col2im(data, out, output_size, kernel_size, strides, dilations, pads_begin, pads_end)


@_described("openvino.ExtractImagePatches", data="the images")
def extract_image_patches(
    data: Array, *, sizes: Ints, strides: Ints, rates: Ints, auto_pad: AutoPad, out: Array | None = None
) -> Array:
    """OpenVINO ExtractImagePatches-3: copies patches to the channels.

    Shapes: data is (N, C, H, W); the result is (N, kh*kw*C, oh, ow) with o = (size - (k - 1) * rate - 1) // stride + 1
        for auto_pad="valid" (0 where no patch fits), and the size divided by stride, rounded up, otherwise.

    Formula: result[n, tap * C + c, y] = data[n, c, y * stride + tap * rate - pad_begin] for both axes; 0 outside.

    Elsewhere: patchfold.unfold (order="kernel", positions="grid"); torch nn.functional.unfold (other order); TensorFlow
        image.extract_patches (channels last); ONNX none; MATLAB im2col(A, [m n], 'sliding').

    Example:
        >>> import numpy as np, patchfold.openvino
        >>> data = np.arange(9).reshape(1, 1, 3, 3)
        >>> patchfold.openvino.extract_image_patches(
        ...     data, sizes=(2, 2), strides=(1, 1), rates=(1, 1), auto_pad="valid"
        ... )[0, :, 0, 0]
        array([0, 1, 3, 4])
    """
    return _extract_image_patches(data, out, sizes, strides, rates, auto_pad)


@_inverses.described("openvino.ExtractImagePatches", extract_image_patches, output_size="rows and columns of the images")
def reconstruct_patches(
    patches: Array, output_size: Ints, *, sizes: Ints, strides: Ints, rates: Ints, auto_pad: AutoPad,
    reduction: Reduction = "mean", out: Array | None = None,
) -> Array:
    """Puts the patches of ExtractImagePatches-3 back into the images that they were cut from. OpenVINO has no such operator.

    Shapes: patches is (N, kh*kw*C, oh, ow); the result is (N, C, H, W), where (H, W) is output_size.

    Formula: result[n, c, y] = the mean or the sum of patches[n, tap * C + c, position] over all taps and positions with
        position * stride + tap * rate - pad_begin = y for both axes; 0 if there are none.

    Elsewhere: patchfold.fold (order="kernel", positions="grid"); torch nn.functional.fold (other order); TensorFlow the
        gradient of image.extract_patches; ONNX Col2Im (other order); MATLAB col2im.

    Example:
        >>> import numpy as np, patchfold.openvino
        >>> data = np.arange(9).reshape(1, 1, 3, 3)
        >>> window = dict(sizes=(2, 2), strides=(1, 1), rates=(1, 1), auto_pad="valid")
        >>> patches = patchfold.openvino.extract_image_patches(data, **window)
        >>> bool((patchfold.openvino.reconstruct_patches(patches, (3, 3), **window) == data).all())
        True
    """
    op = "openvino.reconstruct_patches"
    rule = _inverses.word_of(op, "auto_pad", auto_pad, "valid", "same_upper", "same_lower")
    window = {"sizes": sizes, "strides": strides, "rates": rates, "auto_pad": rule}
    return _inverses.put_back(op, patches, out, output_size, window, "channels_first", reduction)


@_described("openvino.SpaceToBatch", data="the images")
def space_to_batch(data: Array, block_shape: Ints, pads_begin: Ints, pads_end: Ints, *, out: Array | None = None) -> Array:
    """OpenVINO SpaceToBatch-2: moves blocks of all axes but the batch to the batch.

    Shapes: data is (N, D1..DM); the result is (N*K, (D1 + pads)/b1 .. (DM + pads)/bM) where K is the product of
        block_shape. The three lists have one entry for each axis of data, the batch included.

    Formula: result[offset * N + n, y] = data[n, y * block + offset - pad_begin], for each axis; 0 outside.

    Elsewhere: patchfold.space_to_batch; torch none; TensorFlow space_to_batch_nd; ONNX none; MATLAB reshape and permute.

    Example:
        >>> import numpy as np, patchfold.openvino
        >>> data = np.arange(6).reshape(1, 1, 6)
        >>> patchfold.openvino.space_to_batch(data, (1, 1, 2), (0, 0, 0), (0, 0, 0)).squeeze()
        array([[0, 2, 4],
               [1, 3, 5]])
    """
    return _space_to_batch(data, out, block_shape, pads_begin, pads_end)


@_described("openvino.BatchToSpace", data="the batches")
def batch_to_space(data: Array, block_shape: Ints, crops_begin: Ints, crops_end: Ints, *, out: Array | None = None) -> Array:
    """OpenVINO BatchToSpace-2: moves blocks of the batch back to the other axes.

    If the lists are given as arrays, the arrays must have the same integer type.

    Shapes: data is (N*K, y1..yM); the result is (N, y1*b1 - crops .. yM*bM - crops) where K is the product of
        block_shape. The three lists have one entry for each axis of data, the batch included.

    Formula: result[n, y * block + offset - crop_begin] = data[offset * N + n, y], for each axis.

    Elsewhere: patchfold.batch_to_space; torch none; TensorFlow batch_to_space_nd; ONNX none; MATLAB reshape and permute.

    Example:
        >>> import numpy as np, patchfold.openvino
        >>> data = np.array([[[0, 2, 4]], [[1, 3, 5]]])
        >>> patchfold.openvino.batch_to_space(data, (1, 1, 2), (0, 0, 1), (0, 0, 0))
        array([[[1, 2, 3, 4, 5]]])
    """
    return _batch_to_space(data, out, block_shape, crops_begin, crops_end)


@_described("openvino.SpaceToDepth", data="the images; D1..DR must be multiples of b")
def space_to_depth(data: Array, *, blocks_mode: DepthMode, block_size: Int = 1, out: Array | None = None) -> Array:
    """OpenVINO SpaceToDepth-1: moves blocks of the spatial axes to the channels.

    Shapes: data is (N, C, D1..DR); the result is (N, C*K, D1/b .. DR/b) where b = block_size and K = b to the power R.

    Formula: result[n, offset * C + c, y] = data[n, c, y * b + offset], for each axis, with "blocks_first".

    Elsewhere: patchfold.space_to_depth (depth_first: mode="depth_first"); torch nn.functional.pixel_unshuffle
        (depth_first); TensorFlow nn.space_to_depth; ONNX SpaceToDepth; MATLAB spaceToDepth.

    Example:
        >>> import numpy as np, patchfold.openvino
        >>> data = np.arange(8).reshape(1, 2, 4)
        >>> patchfold.openvino.space_to_depth(data, blocks_mode="depth_first", block_size=2)[0, :, 0]
        array([0, 1, 4, 5])
    """
    return _space_to_depth(data, out, blocks_mode, block_size)


@_described("openvino.DepthToSpace", data="the deep images; their channels must be a multiple of K")
def depth_to_space(data: Array, *, blocks_mode: DepthMode, block_size: Int = 1, out: Array | None = None) -> Array:
    """OpenVINO DepthToSpace-1: moves channels back to blocks of the spatial axes.

    Shapes: data is (N, C*K, y1..yR); the result is (N, C, y1*b .. yR*b) where b = block_size and K = b to the power R.

    Formula: result[n, c, y * b + offset] = data[n, offset * C + c, y], for each axis, with "blocks_first".

    Elsewhere: patchfold.depth_to_space (depth_first: mode="depth_first"); torch nn.functional.pixel_shuffle
        (depth_first); TensorFlow nn.depth_to_space; ONNX DepthToSpace; MATLAB depthToSpace.

    Example:
        >>> import numpy as np, patchfold.openvino
        >>> data = np.array([[[0, 2], [4, 6], [1, 3], [5, 7]]])
        >>> patchfold.openvino.depth_to_space(data, blocks_mode="blocks_first", block_size=2)
        array([[[0, 1, 2, 3],
                [4, 5, 6, 7]]])
    """
    return _depth_to_space(data, out, blocks_mode, block_size)


def extension() -> str:
    """Returns the path of the library for OpenVINO's `Core.add_extension`: models then run on patchfold's kernels.

    This holds for models that are read or converted after add_extension, from OpenVINO's own files, ONNX, TensorFlow and
    torch, on the CPU plugin and with its threads (`INFERENCE_NUM_THREADS`). patchfold runs their Col2Im,
    ExtractImagePatches, SpaceToBatch, BatchToSpace, SpaceToDepth and DepthToSpace. It also runs Col2Im of ONNX with one axis
    or with three and more, and im2col, pixel_shuffle and pixel_unshuffle of torch. Shapes may be static or dynamic. Elements
    are boolean, i8 .. i32, u8 .. u32, f16, bf16 or f32; a model with other elements is refused, since the plugin cuts 64-bit
    numbers to 32 bits without saying so.

    The first call compiles the library for the OpenVINO that is installed, which takes half a minute and a C++ compiler
    (environment variable CXX, or else c++, g++, clang++). The compiled library is kept in the folder PATCHFOLD_CACHE, or
    else in ~/.cache/patchfold, and used again as long as OpenVINO and patchfold stay the same.

    Returns: the path, which OpenVINO's C++ interface takes, too: `core.add_extension(path)`.

    Errors: ImportError without OpenVINO; RuntimeError where there is no compiler, no headers, or the compiler fails;
        PermissionError where the folder cannot be written, or others may write there.

    Example, with openvino installed:
        core = openvino.Core()
        core.add_extension(patchfold.openvino.extension())
        compiled = core.compile_model(core.read_model("model.onnx"), "CPU")
    """
    from ._extension import extension as path

    return path()

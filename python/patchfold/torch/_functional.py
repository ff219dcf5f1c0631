# SPDX-License-Identifier: Apache-2.0
"""fold, unfold, pixel_shuffle and pixel_unshuffle with the signatures of torch.nn.functional, and Tensor.contiguous."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import SupportsIndex

import torch
from torch import Tensor
from torch.overrides import handle_torch_function, has_torch_function_unary
from torch.types import Device

from .._operators.docstrings import described
from .._typing import PaddingMode
from ._arguments import IntOrInts, check_tensor
from ._library import CONTIGUOUS, FOLD, PIXEL_SHUFFLE, PIXEL_UNSHUFFLE, UNFOLD
from ._padding import mode_of, pad
from ._shapes import require

_INPUT = ", any strides, any device; from devices other than CUDA's it is copied to the CPU, and the result back"
_described = functools.partial(
    described,
    wrong_data="an input that is not a dense tensor",
    sections={
        "Types": "any element type; elements are copied bit by bit.",
        "Derivatives": "of any order, in reverse and forward mode, under torch.func, torch.compile and torch.export.",
    },
    out="a tensor of the result's shape and element type; it receives the result and is returned. It has no derivative",
    device="where the result lies; that of input if not given",
)
_overridden: Callable[..., Tensor] = handle_torch_function
"""Returns the result of a call by __torch_function__ of the input's class."""


@_described("torch.fold", input=f"the columns{_INPUT}")
def fold(
    input: Tensor,
    output_size: IntOrInts,
    kernel_size: IntOrInts,
    dilation: IntOrInts = 1,
    padding: IntOrInts = 0,
    stride: IntOrInts = 1,
    *,
    out: Tensor | None = None,
    device: Device = None,
) -> Tensor:
    """Sums columns into the image that they were cut from (col2im). The adjoint of unfold.

    Shapes: input is (N, C*K, L) or (C*K, L); the result is (N, C, *output_size) or (C, *output_size). K is the product
        of kernel_size; L is the product of l = (output_size + 2 * padding - dilation * (kernel_size - 1) - 1) // stride
        + 1 of all axes. The length of the tuples is the number of spatial axes; with single numbers only there are two,
        as in torch.

    Formula: result[n, c, y] = the sum of input[n, c * K + tap, position] over all taps and positions with
        position * stride + tap * dilation - padding = y for each axis; 0 if there are none.

    Types: booleans, integers (modulo 2^n), float16, bfloat16, float32, float64, complex64, complex128. The bits are
        those of torch's own kernel, except that float16 and bfloat16 are summed in float32 and rounded once.

    Elsewhere: torch nn.functional.fold, nn.Fold; patchfold.fold; TensorFlow the gradient of image.extract_patches; ONNX
        Col2Im; OpenVINO Col2Im; MATLAB col2im(B, [m n], [mm nn], 'distinct').

    Example:
        >>> import torch, patchfold.torch
        >>> patchfold.torch.fold(torch.ones(1, 4, 4), 3, 2)
        tensor([[[[1., 2., 1.],
                  [2., 4., 2.],
                  [1., 2., 1.]]]])
        >>> patchfold.torch.fold(torch.ones(3, 4, dtype=torch.int8), (6,), (3,))  # one axis, integers
        tensor([[1, 2, 3, 3, 2, 1]], dtype=torch.int8)
    """
    if has_torch_function_unary(input):
        window = (output_size, kernel_size, dilation, padding, stride)
        return _overridden(fold, (input,), input, *window, out=out, device=device)
    return FOLD.run_to(device, input, out, output_size, kernel_size, dilation, padding, stride)


@_described(
    "torch.unfold",
    input=f"the image{_INPUT}",
    padding_mode='what is added: "constant" (also "zeros"): zeros; or elements of the image, as numpy.pad does: "edge" '
    '(also "replicate"), "reflect", "symmetric", "wrap" (also "circular"). They are added first, by torch',
)
def unfold(
    input: Tensor,
    kernel_size: IntOrInts,
    dilation: IntOrInts = 1,
    padding: IntOrInts = 0,
    stride: IntOrInts = 1,
    *,
    padding_mode: PaddingMode = "constant",
    out: Tensor | None = None,
    device: Device = None,
) -> Tensor:
    """Copies every patch of an image into columns (im2col). The adjoint of fold.

    Shapes: input is (N, C, H, W) or (C, H, W); the result is (N, C*K, L) or (C*K, L). K is the product of kernel_size;
        L is the product of l = (I + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1 of all axes. Beyond
        torch: with tuples of R numbers, input is (N, C, I1..IR), and the batch axis is required.

    Formula: result[n, c * K + tap, position] = input[n, c, position * stride + tap * dilation - padding], for each
        axis; 0 outside the image, or what padding_mode says.

    Elsewhere: torch nn.functional.unfold, nn.Unfold; patchfold.unfold; TensorFlow image.extract_patches (channels last,
        another order); ONNX none; OpenVINO ExtractImagePatches (another order); MATLAB im2col(A, [m n], 'sliding').

    Example:
        >>> import torch, patchfold.torch
        >>> patchfold.torch.unfold(torch.arange(9).reshape(1, 1, 3, 3), 2)  # integers
        tensor([[[0, 1, 3, 4],
                 [1, 2, 4, 5],
                 [3, 4, 6, 7],
                 [4, 5, 7, 8]]])
        >>> patchfold.torch.unfold(torch.zeros(2, 5, 8, 9, 7), (3, 3, 3), stride=2).shape  # three axes
        torch.Size([2, 135, 36])
    """
    if has_torch_function_unary(input):
        more = {} if padding_mode == "constant" else {"padding_mode": padding_mode}  # which torch's function lacks
        return _overridden(unfold, (input,), input, kernel_size, dilation, padding, stride, **more, out=out, device=device)
    mode = mode_of("torch.unfold", padding_mode)
    if mode != "constant":
        check_tensor("torch.unfold", "input", input)
        given = (kernel_size, dilation, padding, stride)
        if not torch.compiler.is_compiling():  # torch.compile cannot trace this check; the operator makes it later
            UNFOLD.check(input, given)
        window = UNFOLD.normal(given)
        for each in window[2]:
            require(each >= 0, "torch.unfold", "padding", "every entry must be at least 0", window[2])
        input, padding = pad(input, [(each, each) for each in window[2]], mode), [0] * len(window[2])
    return UNFOLD.run_to(device, input, out, kernel_size, dilation, padding, stride)


@_described("torch.pixel_shuffle", input=f"the deep image{_INPUT}")
def pixel_shuffle(
    input: Tensor, upscale_factor: SupportsIndex, *, out: Tensor | None = None, device: Device = None
) -> Tensor:
    """Moves channels to blocks of the last two axes (depth-to-space). The inverse and the adjoint of pixel_unshuffle.

    Shapes: input is (.., C*r*r, H, W); the result is (.., C, H*r, W*r) where r = upscale_factor. A result of a
        channels_last input is channels_last.

    Formula: result[.., c, y * r + i, x * r + j] = input[.., c * r * r + i * r + j, y, x].

    Elsewhere: torch nn.functional.pixel_shuffle, nn.PixelShuffle; patchfold.depth_to_space (mode="depth_first");
        TensorFlow nn.depth_to_space (another order); ONNX DepthToSpace (CRD); OpenVINO DepthToSpace (depth_first);
        MATLAB depthToSpace (Mode="crd").

    Example:
        >>> import torch, patchfold.torch
        >>> patchfold.torch.pixel_shuffle(torch.arange(4).reshape(4, 1, 1), 2)
        tensor([[[0, 1],
                 [2, 3]]])
    """
    if has_torch_function_unary(input):
        return _overridden(pixel_shuffle, (input,), input, upscale_factor, out=out, device=device)
    return PIXEL_SHUFFLE.run_to(device, input, out, upscale_factor)


@_described("torch.pixel_unshuffle", input=f"the image{_INPUT}")
def pixel_unshuffle(
    input: Tensor, downscale_factor: SupportsIndex, *, out: Tensor | None = None, device: Device = None
) -> Tensor:
    """Moves blocks of the last two axes to the channels (space-to-depth). The inverse and the adjoint of pixel_shuffle.

    Shapes: input is (.., C, H*r, W*r); the result is (.., C*r*r, H, W) where r = downscale_factor, which divides
        both extents. A result of a channels_last input is channels_last.

    Formula: result[.., c * r * r + i * r + j, y, x] = input[.., c, y * r + i, x * r + j].

    Elsewhere: torch nn.functional.pixel_unshuffle, nn.PixelUnshuffle; patchfold.space_to_depth (mode="depth_first");
        TensorFlow nn.space_to_depth (another order); ONNX SpaceToDepth (CRD); OpenVINO SpaceToDepth (depth_first);
        MATLAB spaceToDepth (Mode="crd").

    Example:
        >>> import torch, patchfold.torch
        >>> patchfold.torch.pixel_unshuffle(torch.arange(4).reshape(1, 2, 2), 2).flatten()
        tensor([0, 1, 2, 3])
    """
    if has_torch_function_unary(input):
        return _overridden(pixel_unshuffle, (input,), input, downscale_factor, out=out, device=device)
    return PIXEL_UNSHUFFLE.run_to(device, input, out, downscale_factor)


@_described("copy", input=f"the tensor{_INPUT}. One that is contiguous already is returned itself")
def contiguous(input: Tensor) -> Tensor:
    """Copies a tensor whose elements do not lie in row-major order to a new one where they do: Tensor.contiguous().

    Shapes: any; the result has the shape of input.

    Formula: result[i, j, ..] = input[i, j, ..].

    Errors: InvalidType for an input that would have to be copied and is not a dense tensor. It names the rule and the given
        value.

    Elsewhere: torch Tensor.contiguous; patchfold.copy; NumPy ascontiguousarray; TensorFlow identity; ONNX Identity;
        OpenVINO none; MATLAB none.

    Example:
        >>> import torch, patchfold.torch
        >>> x = torch.arange(6).reshape(2, 3).T
        >>> patchfold.torch.contiguous(x).stride()
        (2, 1)
        >>> patchfold.torch.contiguous(x.T).data_ptr() == x.data_ptr()
        True
    """
    if has_torch_function_unary(input):
        return _overridden(contiguous, (input,), input)
    is_ready = isinstance(input, Tensor) and input.layout is torch.strided and input.is_contiguous()
    return input if is_ready else CONTIGUOUS.run(input, None)

# SPDX-License-Identifier: Apache-2.0
"""The operators made of torch's own operators, for exports to runtimes that do not know patchfold's operators."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from ._shapes import product

_ONES = (1, 1)
_ZEROS = (0, 0)


def fold(
    input: Tensor,
    output_size: Sequence[Any],
    kernel_size: Sequence[Any],
    dilation: Sequence[Any] = _ONES,
    padding: Sequence[Any] = _ZEROS,
    stride: Sequence[Any] = _ONES,
) -> Tensor:
    """Folds by torch's own fold, which has two axes. Images with another number of axes are folded one axis after the
    other."""
    rank = len(output_size)
    if rank == 2:
        return _fold_of_two_axes(input, output_size, kernel_size, dilation, padding, stride)
    taps = product(kernel_size)
    axes = range(rank)
    positions = [
        _positions(output_size[axis], kernel_size[axis], dilation[axis], padding[axis], stride[axis]) for axis in axes
    ]
    batch = [*input.shape[:-2], input.shape[-2] // taps]
    image = input.reshape(product(batch), *kernel_size, *positions)
    for axis in axes:  # image: (N, taps of this and later axes, positions of these axes, extents of earlier axes)
        ends = image.movedim(1, -1).movedim(rank - axis, -1)  # tap and position of this axis come last
        others = ends.shape[:-2]
        columns = ends.reshape(product(others), kernel_size[axis], positions[axis])
        window = [(1, kernel_size[axis]), (1, dilation[axis]), (0, padding[axis]), (1, stride[axis])]
        summed = _fold_of_two_axes(columns, (1, output_size[axis]), *window)
        image = summed.reshape(*others, output_size[axis])
    return image.reshape(*batch, *output_size)


def _fold_of_two_axes(input: Tensor, output_size: Sequence[Any], *window: Sequence[Any]) -> Tensor:
    """Folds with any pads. For unequal pads, the padded image is folded without pads, and the padding is cut off, since
    torch's exporters write unequal pads in another order than ONNX reads them."""
    kernel_size, dilation, padding, stride = [tuple(each) for each in window]
    if padding[0] == padding[1]:
        return functional.fold(input, tuple(output_size), kernel_size, dilation, padding, stride)
    whole = tuple(size + 2 * pad for size, pad in zip(output_size, padding, strict=True))
    image = functional.fold(input, whole, kernel_size, dilation, (0, 0), stride)
    rows, columns = (slice(pad, pad + size) for size, pad in zip(output_size, padding, strict=True))
    return image[..., rows, columns]


def unfold(
    input: Tensor,
    kernel_size: Sequence[Any],
    dilation: Sequence[Any] = _ONES,
    padding: Sequence[Any] = _ZEROS,
    stride: Sequence[Any] = _ONES,
) -> Tensor:
    """Unfolds by torch's own unfold, which takes two axes of floats. Other inputs are indexed axis by axis."""
    rank = len(kernel_size)
    if rank == 2 and input.is_floating_point():
        return functional.unfold(input, tuple(kernel_size), tuple(dilation), tuple(padding), tuple(stride))
    batch = input.dim() - rank - 1
    pads = [pad for axis in reversed(range(rank)) for pad in (padding[axis], padding[axis])]
    image = functional.pad(input, pads)
    extents = []
    for axis in range(rank):
        count = _positions(input.shape[batch + 1 + axis], kernel_size[axis], dilation[axis], padding[axis], stride[axis])
        taps = torch.arange(kernel_size[axis], device=input.device) * dilation[axis]
        index = taps[:, None] + torch.arange(count, device=input.device)[None] * stride[axis]
        image = image.index_select(batch + 1 + axis, index.flatten())
        extents.append(count)
    pairs = [extent for axis in range(rank) for extent in (kernel_size[axis], extents[axis])]
    lead = input.shape[: batch + 1]
    first = batch + 1
    order = [*range(first), *range(first, first + 2 * rank, 2), *range(first + 1, first + 2 * rank, 2)]
    columns = image.reshape(*lead, *pairs).permute(order)
    return columns.reshape(*lead[:-1], lead[-1] * product(kernel_size), product(extents))


def contiguous(input: Tensor) -> Tensor:
    return input.clone(memory_format=torch.contiguous_format)


def _positions(extent: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    return (extent + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1

# SPDX-License-Identifier: Apache-2.0
"""Functions that torch.jit.script compiles in place of patchfold's: calls of the operators, in TorchScript."""

import torch
from torch import Tensor

# TorchScript's only name for a number that stands for two.
from torch._jit_internal import BroadcastingList2  # type: ignore[attr-defined]

from . import _functional


def fold(
    input: Tensor,
    output_size: BroadcastingList2[int],
    kernel_size: BroadcastingList2[int],
    dilation: BroadcastingList2[int] = 1,
    padding: BroadcastingList2[int] = 0,
    stride: BroadcastingList2[int] = 1,
) -> Tensor:
    result: Tensor = torch.ops.patchfold.fold(input, output_size, kernel_size, dilation, padding, stride)
    return result


def unfold(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    dilation: BroadcastingList2[int] = 1,
    padding: BroadcastingList2[int] = 0,
    stride: BroadcastingList2[int] = 1,
) -> Tensor:
    result: Tensor = torch.ops.patchfold.unfold(input, kernel_size, dilation, padding, stride)
    return result


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    result: Tensor = torch.ops.patchfold.pixel_shuffle(input, upscale_factor)
    return result


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    result: Tensor = torch.ops.patchfold.pixel_unshuffle(input, downscale_factor)
    return result


def contiguous(input: Tensor) -> Tensor:
    if input.is_contiguous():
        return input
    result: Tensor = torch.ops.patchfold.contiguous(input)
    return result


def enable() -> None:
    """Registers these functions in torch.jit.script."""
    for written in (fold, unfold, pixel_shuffle, pixel_unshuffle, contiguous):
        getattr(_functional, written.__name__).__prepare_scriptable__ = lambda written=written: written

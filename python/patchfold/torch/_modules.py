# SPDX-License-Identifier: Apache-2.0
"""The modules of torch.nn, running on patchfold."""

from __future__ import annotations

from torch import Tensor, nn

from . import _functional


class Fold(nn.Fold):
    """nn.Fold with patchfold's fold: any number of spatial axes, and integers.

    Shapes, types, errors and names elsewhere: those of patchfold.torch.fold. Arguments, attributes, state and repr:
    those of nn.Fold.

    Example:
        >>> import torch, patchfold.torch
        >>> fold = patchfold.torch.Fold(output_size=(4, 5), kernel_size=(2, 2))
        >>> fold(torch.ones(1, 3 * 2 * 2, 12)).shape
        torch.Size([1, 3, 4, 5])
        >>> fold
        Fold(output_size=(4, 5), kernel_size=(2, 2), dilation=1, padding=0, stride=1)
    """

    def forward(self, input: Tensor) -> Tensor:
        """Sums the columns."""
        return _functional.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)


class Unfold(nn.Unfold):
    """nn.Unfold with patchfold's unfold: any number of spatial axes, and every element type.

    Shapes, types, errors and names elsewhere: those of patchfold.torch.unfold. Arguments, attributes, state and repr:
    those of nn.Unfold.

    Example:
        >>> import torch, patchfold.torch
        >>> patchfold.torch.Unfold(kernel_size=(2, 3))(torch.ones(2, 5, 3, 4)).shape
        torch.Size([2, 30, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Copies the patches."""
        return _functional.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class PixelShuffle(nn.PixelShuffle):
    """nn.PixelShuffle with patchfold's pixel_shuffle, for every element type.

    Shapes, types, errors and names elsewhere: those of patchfold.torch.pixel_shuffle. Arguments, attributes, state and
    repr: those of nn.PixelShuffle.

    Example:
        >>> import torch, patchfold.torch
        >>> patchfold.torch.PixelShuffle(3)(torch.ones(1, 9, 4, 4)).shape
        torch.Size([1, 1, 12, 12])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Moves channels to blocks."""
        return _functional.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(nn.PixelUnshuffle):
    """nn.PixelUnshuffle with patchfold's pixel_unshuffle, for every element type.

    Shapes, types, errors and names elsewhere: those of patchfold.torch.pixel_unshuffle. Arguments, attributes, state
    and repr: those of nn.PixelUnshuffle.

    Example:
        >>> import torch, patchfold.torch
        >>> patchfold.torch.PixelUnshuffle(3)(torch.ones(1, 1, 12, 12)).shape
        torch.Size([1, 9, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Moves blocks to channels."""
        return _functional.pixel_unshuffle(input, self.downscale_factor)

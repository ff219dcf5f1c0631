# SPDX-License-Identifier: Apache-2.0
"""patchfold for torch: its functions, its modules, derivatives, torch.compile and torch.func.

The functions have the signatures of torch.nn.functional; ``contiguous`` is Tensor.contiguous. All functions call the
operators torch.ops.patchfold.fold, unfold, pixel_shuffle, pixel_unshuffle and contiguous of torch.library, which take one
list entry for each spatial axis. This package imports torch, and makes torch.compile take patchfold's other functions as
they are; ``import patchfold`` does neither.
"""

from . import _calls as _calls
from . import _script
from ._functional import contiguous, fold, pixel_shuffle, pixel_unshuffle, unfold
from ._install import Installation, install, uninstall
from ._library import decompositions
from ._modules import Fold, PixelShuffle, PixelUnshuffle, Unfold

_script.enable()

__all__ = [
    "Fold",
    "Installation",
    "PixelShuffle",
    "PixelUnshuffle",
    "Unfold",
    "contiguous",
    "decompositions",
    "fold",
    "install",
    "pixel_shuffle",
    "pixel_unshuffle",
    "unfold",
    "uninstall",
]

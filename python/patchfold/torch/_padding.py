# SPDX-License-Identifier: Apache-2.0
"""Pads with elements of the image, in the modes of numpy.pad, by torch's own operators: with derivatives, in graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import torch
from torch import Tensor

from .._core import word_here
from .._errors import InvalidType, InvalidValue, given_text
from .._typing import PaddingMode

_WORDS = {word: word_here(word) for words in get_args(PaddingMode) for word in get_args(words)}
"""NumPy's word for each mode, in a table, since torch.compile cannot trace the native function."""


def mode_of(op: str, mode: Any) -> str:
    """Returns the word of numpy.pad for a mode, whose name may be torch's or TensorFlow's."""
    if not isinstance(mode, str) or mode not in _WORDS:
        rule = "must be one of " + ", ".join(map(repr, dict.fromkeys(_WORDS.values())))
        kind = InvalidValue if isinstance(mode, str) else InvalidType
        given = repr(mode) if isinstance(mode, str) else given_text(mode)
        raise kind(operator=op, argument="padding_mode", rule=rule, given=given)
    return _WORDS[mode]


def pad(input: Tensor, pads: Sequence[tuple[Any, Any]], mode: str) -> Tensor:
    """Returns the input with elements of its own added around its last axes. pads: (begin, end) for each of these axes.
    mode: any but "constant"."""
    for axis, (begin, end) in enumerate(pads, input.dim() - len(pads)):
        extent: Any = input.shape[axis]
        place = torch.arange(-begin, extent + end, device=input.device)
        if mode == "edge":
            place = place.clamp(min=0).minimum(torch.full_like(place, extent - 1))
        elif mode == "wrap":
            place = place.remainder(extent)
        else:
            period = 2 * extent if mode == "symmetric" else _at_least_one(2 * extent - 2)
            place = place.remainder(period)
            place = place.minimum(period - (1 if mode == "symmetric" else 0) - place)
        input = input.index_select(axis, place)
    return input


def _at_least_one(extent: Any) -> Any:
    """Returns an extent, or 1 in place of 0. In a trace of TorchScript, extents are tensors."""
    return extent.clamp(min=1) if isinstance(extent, Tensor) else torch.sym_max(extent, 1)

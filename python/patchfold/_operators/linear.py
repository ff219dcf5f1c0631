# SPDX-License-Identifier: Apache-2.0
"""Calls as one line of text, for systems that differentiate them.

A call is what ``_core.linear_call`` returns, such as ``unfold f32 1x3x8x8 kernel_size=3,3``, after the word ``adjoint`` for
the adjoint of the operator. Every operator is linear, but for a fill other than 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.memory import new_numpy
from .._errors import InvalidValue

_ADJOINT = "adjoint"
_unfold = _core.Operator("unfold").__call__


def transposed(call: str) -> str:
    """The adjoint of a call without a fill; that of an adjoint is the operator."""
    word, _, rest = call.partition(" ")
    if "reduce=mean" in call.split(" "):
        raise InvalidValue("fold", "reduce", "has no derivative for a mean", "mean", "fold(..) / coverage(..)")
    return tangent_of(rest) if word == _ADJOINT else f"{_ADJOINT} {tangent_of(call)}"


def tangent_of(call: str) -> str:
    """The linear part: the call with a fill of 0."""
    return " ".join(word for word in call.split(" ") if not word.startswith(("fill=", "value=")))


def pads_with_elements(call: str) -> bool:
    """Whether a call pads with elements of the image, not with a fill."""
    return " padding_mode=" in call and " padding_mode=constant" not in call


def padded(call: str) -> tuple[str, list[tuple[int, npt.NDArray[np.int64]]]]:
    """A call that pads with elements of the image, as a call that pads nothing, and for each axis of the image that it pads
    the indices that do so. Any other call is returned as it is."""
    words = call.split(" ")
    if words[0] == _ADJOINT or not pads_with_elements(call):
        return call, []
    mode = next(word.removeprefix("padding_mode=") for word in words if word.startswith("padding_mode="))
    shape = list(_core.linear_shapes(call)[0])
    indices = []
    for axis, extent, begin, end in _core.linear_pads(call):
        if begin == end == 0:
            continue
        pads = [(begin, end)]
        index = _unfold(np.arange(extent)[None], None, (1,), None, None, pads, mode)[0]
        shape[axis] = index.size
        indices.append((axis, index))
    words = [word for word in words if not word.startswith(("padding=", "padding_mode="))]
    words[2] = "x".join(map(str, shape))
    return " ".join(words), indices


def shapes(call: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shapes of what a call takes and gives, without samples."""
    word, _, rest = call.partition(" ")
    if word != _ADJOINT:
        return _core.linear_shapes(call)
    source, target = _core.linear_shapes(rest)
    return target, source


def steps(call: str) -> tuple[str, list[tuple[int, npt.NDArray[np.int64]]]]:
    """What the library runs for a call, and the indices of the axes on which the result is then summed."""
    word, _, rest = call.partition(" ")
    if word != _ADJOINT:
        return call, []
    plain, indices = padded(rest)
    return f"{_ADJOINT} {plain}", indices


def result(call: str, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """What a call gives for an array."""
    source, target = shapes(call)
    samples = x.shape[: x.ndim - len(source)]
    if x.size == 0 and call.startswith(_ADJOINT):
        return np.zeros((*samples, *target), x.dtype)
    native, indices = steps(call)
    total = new_numpy((*samples, *_core.linear_shapes(native)[1]), x.dtype)
    _core.run_linear(native, x, total)
    for axis, index in indices:
        extents = list(total.shape)
        extents[len(samples) + axis] = target[axis]
        inside = np.zeros(extents, x.dtype)
        place: Any = (*(slice(None),) * (len(samples) + axis), index)
        np.add.at(inside, place, total)
        total = inside
    return total

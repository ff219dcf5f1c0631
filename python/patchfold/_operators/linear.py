# SPDX-License-Identifier: Apache-2.0
"""Calls as one line of text, for systems that differentiate them.

A call is what ``_core.linear_call`` returns, such as ``unfold f32 1x3x8x8 kernel_size=3,3``. The word ``adjoint`` before it
means the adjoint of the operator. Every operator is linear if its fill is 0.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.memory import new_numpy
from .._errors import Error, InvalidValue

ADJOINT = "adjoint"
_unfold = _core.Operator("unfold").__call__


def transposed(call: str) -> str:
    """Returns the adjoint of a call, whose fill counts as 0; the adjoint of an adjoint is the call of the operator."""
    word, _, rest = call.partition(" ")
    if "reduce=mean" in call.split(" "):
        raise InvalidValue("fold", "reduce", "has no derivative for a mean", "mean", "fold(..) / coverage(..)")
    return tangent_of(rest) if word == ADJOINT else f"{ADJOINT} {tangent_of(call)}"


def tangent_of(call: str) -> str:
    """Returns the linear part of a call: the call with a fill of 0."""
    return " ".join(word for word in call.split(" ") if not word.startswith(("fill=", "value=")))


def sum_of(call: str) -> str:
    """Returns the call that sums in place of a call that averages; any other call unchanged."""
    words = call.split(" ")
    return tangent_of(" ".join(word for word in words if word != "reduce=mean")) if "reduce=mean" in words else call


def counting(call: str) -> str:
    """Returns the call with the element type float32, for counts, which it holds exactly."""
    words = call.split(" ")
    return " ".join((words[0], "f32", *words[2:]))


def pads_with_elements(call: str) -> bool:
    """Returns whether a call pads with elements of the image, not with a fill."""
    return " padding_mode=" in call and " padding_mode=constant" not in call


def padded(call: str) -> tuple[str, list[tuple[int, npt.NDArray[np.int64]]]]:
    """Splits a call that pads with elements of the image. Returns a call without padding, and for each padded axis its
    number, with the index of the image's element at each of its places. Any other call is returned unchanged, without
    indices."""
    words = call.split(" ")
    if words[0] == ADJOINT or not pads_with_elements(call):
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
    """Returns the shapes of the input and the output of a call, without the axes of samples that a system may add in
    front."""
    word, _, rest = call.partition(" ")
    if word != ADJOINT:
        return _core.linear_shapes(call)
    source, target = _core.linear_shapes(rest)
    return target, source


def closed(call: str, shape: Sequence[int]) -> str:
    """Returns a call with a shape in place of "?"."""
    return " ".join("x".join(map(str, shape)) if word == "?" else word for word in call.split(" "))


def open_result(call: str, extents: Sequence[int | None]) -> tuple[Extent | None, ...] | None:
    """Returns the extents of the result of a call with "?" for the shape; None if no shape was found that the call accepts.
    extents: the data's extents, None if unknown. A returned extent is None if it is neither a number nor a fraction of one
    unknown extent.

    The library computes shapes from numbers only. So several numbers are tried in place of the unknown extents.
    """
    return _open_result(call, tuple(extents))


class Extent(NamedTuple):
    """An extent of a result: a number, or the product of a fraction and an unknown extent of the data."""

    factor: Fraction
    axis: int | None = None


@functools.lru_cache(maxsize=1024)
def _open_result(call: str, extents: tuple[int | None, ...]) -> tuple[Extent | None, ...] | None:
    def result(sizes: Mapping[int, int]) -> tuple[int, ...] | None:
        shape = [sizes[axis] if extent is None else extent for axis, extent in enumerate(extents)]
        try:
            return _core.linear_shapes(closed(call, shape))[1]
        except Error:
            return None

    unknown = [axis for axis, extent in enumerate(extents) if extent is None]
    step = lcm(*(int(number) for number in re.findall(r"\d+", call.partition(" ?")[2]) if int(number)))
    sizes = {many * step**power for power in range(len(extents)) for many in (1, 2, 4, 8, 16, 32, 64)}
    for size in sorted({*sizes, 1, 2, 4, 8, 16, 32, 64}):
        here = dict.fromkeys(unknown, size)
        found = result(here)
        if found is not None:
            break
    else:
        return None
    shape: list[Extent | None] = [Extent(Fraction(extent)) for extent in found]
    for axis in unknown:
        # `far` is the result for a larger size: it exceeds `size` by more than any step of a window, and every divisor of
        # `size` divides it.
        far, near = result(here | {axis: size * (step + 1)}), result(here | {axis: size + 1})
        for i, extent in enumerate(found):
            if far is None or far[i] != extent:
                factor = Fraction(extent, size)
                follows = far is not None and far[i] == factor * size * (step + 1)
                follows = follows and (near is None or near[i] == factor * (size + 1))
                is_first = shape[i] == Extent(Fraction(extent))
                shape[i] = Extent(factor, axis) if follows and is_first else None
    return tuple(shape)


def steps(call: str) -> tuple[str, list[tuple[int, npt.NDArray[np.int64]]]]:
    """Returns the call that the library runs, and for each padded axis the indices at which elements of its result are then
    summed."""
    word, _, rest = call.partition(" ")
    if word != ADJOINT:
        return call, []
    plain, indices = padded(rest)
    return f"{ADJOINT} {plain}", indices


def result(call: str, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns the result of a call for an array."""
    source, target = shapes(call)
    samples = x.shape[: x.ndim - len(source)]
    if x.size == 0 and call.startswith(ADJOINT):
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

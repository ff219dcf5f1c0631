# SPDX-License-Identifier: Apache-2.0
"""Any operator of the table for tensors that torch records, transforms, traces or compiles.

patchfold::linear of torch.library runs a call as text (_operators/linear.py). The native module hands over the tensors whose
memory it must not read directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .. import _core, _graphs
from .._arrays.memory import Memory, is_watched
from .._operators import linear
from ._library import Row, register
from ._shapes import is_true


def call(native: _core.Operator, x: Tensor, values: tuple[Any, ...]) -> Any:
    """Returns the result of an operator for a tensor that torch must see, NotImplemented for any other. The native module
    calls this function."""
    if not is_watched(x):
        return NotImplemented
    name = str(x.dtype).removeprefix("torch.")
    text, shape = _core.open_linear_call(native, name, *values), tuple(x.shape)
    if not any(isinstance(size, torch.SymInt) for size in shape) or linear.pads_with_elements(text):
        text, shape = _core.linear_call(native, tuple(map(int, shape)), name, *values), ()
        text, indices = linear.padded(text)
        for axis, index in indices:
            x = x.index_select(axis, torch.tensor(index, device=x.device))
    result: Tensor = _LINEAR.overload(x, text, shape)
    return result


class _Native:
    """The runner of a call, with the methods of an operator of the table."""

    def output_shape(self, sizes: Sequence[int], call: str, shape: Sequence[int]) -> tuple[int, ...]:
        source, target = linear.shapes(linear.closed(call, shape))
        return (*sizes[: len(sizes) - len(source)], *target)

    def __call__(self, source: Memory, target: Memory, call: str, shape: Sequence[int]) -> None:
        _core.run_linear(linear.closed(call, shape), source, target)


def _traced_shape(sizes: Sequence[Any], call: str, shape: Sequence[Any]) -> list[Any]:
    """Returns the shape of a result if some extents are symbols. If the shape follows from the symbols by no simple rule,
    symbols become numbers, the last symbol first."""
    data, forward = list(shape), call.removeprefix(f"{linear.ADJOINT} ")
    if "?" not in call.split(" "):
        source, result = linear.shapes(call)
        return [*sizes[: len(sizes) - len(source)], *result]
    target: list[Any] = []
    for axis in reversed(range(-1, len(data))):
        found = linear.open_result(forward, [size if isinstance(size, int) else None for size in data]) or (None,)
        target = [_extent(size, data) for size in found if size is not None]
        if len(target) == len(found):
            break
        if axis < 0:
            linear.shapes(linear.closed(forward, data))  # raises
        data[axis] = int(data[axis])
    if forward is call:
        return [*sizes[: len(sizes) - len(data)], *target]
    return [*sizes[: len(sizes) - len(target)], *data]


def _extent(size: linear.Extent, data: Sequence[Any]) -> Any:
    given = 1 if size.axis is None else data[size.axis]
    return given * size.factor.numerator // size.factor.denominator


def _gradient(gradient: Tensor, sizes: Sequence[Any], call: str, shape: Sequence[Any]) -> Tensor:
    """Returns the adjoint of a call. For a mean, the adjoint first divides by the number of patches that touch each
    element."""
    if is_true(gradient.numel() == 0):
        return gradient.new_zeros(tuple(sizes))
    total = linear.sum_of(call)
    if total != call:
        ones = gradient.new_ones(tuple(shape) or linear.shapes(call)[0], dtype=torch.float32)
        counts = _LINEAR.overload(ones, linear.counting(total), shape)
        gradient, call = gradient / counts.clamp(min=1).to(gradient.dtype), total
    result: Tensor = _LINEAR.overload(gradient, linear.transposed(call), shape)
    return result


_LINEAR: Row = register(
    Row(
        name="linear",
        arguments="str call, SymInt[] shape",
        native=_Native(),
        shape=_traced_shape,
        adjoint=_gradient,
        linear_part=lambda call, shape: (linear.tangent_of(call), shape),
    )
)


_graphs.enter(torch.compiler.allow_in_graph)

# SPDX-License-Identifier: Apache-2.0
"""Moves elements of any kind of array, by patchfold's engine or by the array's own library."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._arguments import first_entries, read_integer
from .._arrays.kinds import is_numpy, is_torch, module_of, shape_of
from .._arrays.memory import memory
from .._errors import InvalidType, InvalidValue, type_name, value_text
from .patches import reshaped

Shape = tuple[int, ...]


def moved(array: Any, parts: Sequence[int], order: Sequence[int]) -> Any:
    """Returns an array whose axes are cut into `parts`, which are put in the order `order`, by the array's own library; a
    view if possible."""
    cut = reshaped(array, tuple(parts))
    if is_torch(array):
        return cut.permute(order)
    return cut.transpose(order) if hasattr(cut, "transpose") else sys.modules["tensorflow"].transpose(cut, order)


def taken(array: Any, indices: Sequence[int], axis: int) -> Any:
    """Returns the entries of an axis at the indices, by the array's own library."""
    if is_torch(array):
        torch = sys.modules["torch"]
        return array.index_select(axis, torch.tensor(indices, device=array.device))
    if hasattr(array, "take"):
        return array.take(np.asarray(indices), axis=axis)
    return sys.modules["tensorflow"].gather(array, indices, axis=axis)


class Read(NamedTuple):
    array: Any
    shape: Shape
    by_engine: bool
    """False if the array's own library must move the elements: an array with gradients, a traced array, or one on a
    device."""
    compiled: bool = False
    """True if torch.compile traces the call."""


def open_batch(array: Any, extents: Shape) -> Shape:
    """Returns the first extents of an array's shape, the first of them as -1 in a trace of torch, which holds for a batch of
    any size: torch's exporter by TorchScript would fix the numbers."""
    traced = is_torch(array) and extents and 0 not in extents and sys.modules["torch"].jit.is_tracing()
    return (-1, *extents[1:]) if traced else extents


def read(array: Any, op: str, argument: str, out: Any) -> Read:
    """Reads an array. In a graph of TensorFlow or an export of JAX, the first extent may be unknown; it becomes -1."""
    if is_numpy(array):
        shape = _core.array_facts(array, op, argument)[0]
        return Read(array if type(array) is np.ndarray else array.view(np.ndarray), shape, True)
    if is_torch(array):
        if out is None and sys.modules["torch"].compiler.is_compiling():
            return Read(array, tuple(array.shape), False, True)
        try:
            return Read(array, _core.array_facts(array, op, argument)[0], True)
        except InvalidType:
            if out is not None:
                raise
            return Read(array, tuple(map(int, array.shape)), False)
    movable = hasattr(array, "reshape") and hasattr(array, "transpose")
    if isinstance(array, type) or not (movable or module_of(array) == "tensorflow"):
        memory(array, op, argument, False)  # refuses an object that is no array
        rule = "must be a NumPy array or a torch tensor, or have reshape and transpose"
        raise InvalidType(op, argument, rule, type_name(array))
    if out is not None:
        rule = f"must be left out, unless {argument} is a NumPy array or a torch tensor"
        raise InvalidType(op, "out", rule, f"{argument} of type {type_name(array)}")
    graphs = module_of(array) in ("tensorflow", "jax")
    extents = tuple(map(read_integer, graphs and first_entries(array.shape) or ()))
    is_open = [type(extent) is not int for extent in extents]
    if any(is_open[1:]):
        raise InvalidValue(op, argument, "only the batch may be open", value_text(extents), code="shape")
    return Read(array, (-1, *extents[1:]) if any(is_open) else shape_of(array, op, argument), False)

# SPDX-License-Identifier: Apache-2.0
"""Converts a caller's arguments for the operators: a list of integers for each argument, dense tensors, and devices."""

import operator
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex, TypeAlias

import torch
from torch import Tensor

from .._arrays import cuda
from .._arrays.dtypes import SIZES
from .._arrays.memory import unknown_type
from .._errors import InvalidType, InvalidValue

READABLE = ("cpu", "meta", "cuda") if cuda.runs_torch() else ("cpu", "meta")
"""torch's devices on which the operators run, and "meta"."""

IntOrInts: TypeAlias = SupportsIndex | Iterable[SupportsIndex]
"""One number for every spatial axis, or one for each."""


def lists(op: str, names: Sequence[str], given: Sequence[Any]) -> list[list[Any]]:
    """Returns a list for each argument. A single number becomes a list as long as the first list among the arguments, or of
    two entries."""
    values = [numbers(op, name, value) for name, value in zip(names, given, strict=True)]
    lengths = [len(value) for value in values if isinstance(value, list)]
    rank = lengths[0] if lengths else 2
    return [value if isinstance(value, list) else [value] * rank for value in values]


def numbers(op: str, name: str, value: Any) -> Any:
    """Returns an int or a SymInt, or a list of them."""
    if _is_int(value):
        return value
    if isinstance(value, (tuple, list)):
        return [_integer(op, name, each, value) for each in value]
    if not isinstance(value, (str, bytes)):
        try:
            entries = list(value)
        except TypeError:  # an array without axes is one number
            pass
        else:
            return [_integer(op, name, each, value) for each in entries]
    return _integer(op, name, value, value)


def number(op: str, name: str, value: Any) -> Any:
    """Returns an int or a SymInt."""
    return value if _is_int(value) else _integer(op, name, value, value, "must be an integer")


def _is_int(value: object) -> bool:
    return isinstance(value, (int, torch.SymInt)) and not isinstance(value, bool)


def _integer(
    op: str, name: str, value: Any, whole: object, rule: str = "must be an integer or a sequence of integers"
) -> Any:
    if _is_int(value):
        return value
    if not isinstance(value, bool):
        try:
            return operator.index(value)
        except TypeError:
            pass
    given = f"{whole!r} of type {type(whole).__name__}"
    raise InvalidType(operator=op, argument=name, rule=rule, given=given)


def can_read(tensor: Tensor) -> bool:
    """Returns whether the operators read a tensor of this kind in its own memory."""
    return tensor.device.type in READABLE and is_dense(tensor)


def is_dense(tensor: Tensor) -> bool:
    """Returns whether a tensor's elements lie in memory at its strides."""
    return tensor.layout is torch.strided and not tensor.is_quantized and not tensor.is_nested


def device_of(op: str, device: Any) -> torch.device:
    """Returns the device that a caller names in any form that torch takes."""
    try:
        return torch.device(device)
    except (RuntimeError, TypeError) as error:
        kind = InvalidType if isinstance(error, TypeError) else InvalidValue
        given = f"{device!r} of type {type(device).__name__}"
        rule = "must be a device of torch"
        raise kind(operator=op, argument="device", rule=rule, given=given, expected="'cpu', 'cuda', 'cuda:1' ..") from None


def check_tensor(op: str, name: str, tensor: object) -> None:
    """Refuses objects that the operators cannot read: objects that are no tensors, special layouts, and element types that
    the library lacks."""
    if not isinstance(tensor, Tensor):
        raise InvalidType(operator=op, argument=name, rule="must be a torch.Tensor", given=type(tensor).__name__)
    if not is_dense(tensor):
        kind = "quantized" if tensor.is_quantized else "nested" if tensor.is_nested else str(tensor.layout)
        raise InvalidType(operator=op, argument=name, rule="must be a dense tensor", given=f"a tensor of kind {kind}")
    if not torch.compiler.is_dynamo_compiling() and str(tensor.dtype).removeprefix("torch.") not in SIZES:
        raise unknown_type(op, name, str(tensor.dtype))

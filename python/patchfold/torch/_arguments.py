# SPDX-License-Identifier: Apache-2.0
"""What the caller gives, as the operators take it: one list of integers for each argument, and tensors on the CPU."""

import operator
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex, TypeAlias

import torch
from torch import Tensor

from .._errors import InvalidType

IntOrInts: TypeAlias = SupportsIndex | Iterable[SupportsIndex]
"""One number for every spatial axis, or one for each."""

_DEVICES = ("cpu", "meta")


def lists(op: str, names: Sequence[str], given: Sequence[Any]) -> list[list[Any]]:
    """A list for each argument. Single numbers count for every axis; there are two, unless a list says otherwise."""
    values = [numbers(op, name, value) for name, value in zip(names, given, strict=True)]
    rank = 2
    for value in values:
        if isinstance(value, list):
            rank = len(value)
            break
    return [value if isinstance(value, list) else [value] * rank for value in values]


def numbers(op: str, name: str, value: Any) -> Any:
    """An int or a SymInt, or a list of them."""
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
    """An int or a SymInt."""
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
    """Whether the operators take a tensor of this kind."""
    return tensor.device.type in _DEVICES and is_dense(tensor)


def is_dense(tensor: Tensor) -> bool:
    """Whether a tensor's elements lie in memory as its strides say."""
    return tensor.layout is torch.strided and not tensor.is_quantized and not tensor.is_nested


def check_tensor(op: str, name: str, tensor: object) -> None:
    """Refuses what the operators cannot read: tensors elsewhere than in the processor's memory, and special layouts."""
    if not isinstance(tensor, Tensor):
        raise InvalidType(operator=op, argument=name, rule="must be a torch.Tensor", given=type(tensor).__name__)
    if tensor.device.type not in _DEVICES:
        raise InvalidType(
            operator=op,
            argument=name,
            rule="must lie in the processor's memory",
            given=f"a tensor on {tensor.device}",
            expected="a copy on the CPU",
        )
    if not is_dense(tensor):
        kind = "quantized" if tensor.is_quantized else "nested" if tensor.is_nested else str(tensor.layout)
        raise InvalidType(operator=op, argument=name, rule="must be a dense tensor", given=f"a tensor of kind {kind}")

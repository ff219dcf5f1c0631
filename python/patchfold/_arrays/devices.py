# SPDX-License-Identifier: Apache-2.0
"""Copies arrays to a device, on which a function of the caller runs, and its results back to the processor."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .._errors import InvalidType, InvalidValue, given_text, type_name, value_text
from .kinds import device_type, dlpack_device, is_numpy, is_torch, module_of, speaks_dlpack

_CPU = 1
"""DLPack's number for the processor's memory."""


class _Lent:
    """An array whose __dlpack__ returns a capsule that another library has already made."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU, 0


def to_processor(array: Any, op: str, argument: str) -> Any:
    """Returns an array on another device as a copy in the processor's memory, and any other object itself.

    torch copies its own tensors. Other libraries copy through DLPack, with the parameter dl_device, or else through a
    method ``get``, as CuPy's. Errors: InvalidType for an array that can be copied in none of these ways.
    """
    if is_numpy(array):
        return array
    if is_torch(array):
        return array if array.device.type in ("cpu", "meta") else array.cpu()
    if not speaks_dlpack(array):
        return array
    kind = device_type(dlpack_device(array, op, argument))
    if kind is None or kind == _CPU:
        return array
    try:
        copy = _Lent(array.__dlpack__(dl_device=(_CPU, 0), copy=True))
    except (BufferError, NotImplementedError, TypeError, ValueError):
        if callable(getattr(array, "get", None)):
            return array.get()
        rule = "must lie in the processor's memory, or be copied there by its library"
        given = f"{type_name(array)} on DLPack device type {value_text(kind)}"
        raise InvalidType(op, argument, rule, given, "a copy on the CPU") from None
    try:
        return np.from_dlpack(copy)
    except (BufferError, RuntimeError, TypeError):  # NumPy lacks the element type
        return copy


def to_device(array: Any, device: Any, op: str) -> Any:
    """Returns the array on a device. device: for a tensor a device of torch; for an array of JAX a device or platform of
    JAX; for others the argument of the array API's ``to_device``. None: the array itself is returned."""
    if device is None:
        return array
    try:
        if is_torch(array):
            return array.to(device)
        if module_of(array) in ("jax", "jaxlib"):
            jax: Any = sys.modules["jax"]
            return jax.device_put(array, jax.devices(device)[0] if isinstance(device, str) else device)
        if not is_numpy(array) and hasattr(array, "to_device"):
            return array.to_device(device)
    except (RuntimeError, TypeError, ValueError) as error:
        rule = "must be a device that the array's library has"
        raise InvalidValue(op, "device", rule, f"{given_text(device)}: {error}") from error
    rule = "must be left out for arrays that cannot lie on another device"
    expected = "torch.from_numpy(x)" if is_numpy(array) else "an array of torch, JAX, or with to_device"
    raise InvalidType(op, "device", rule, f"{given_text(device)} and {type_name(array)}", expected)

# SPDX-License-Identifier: Apache-2.0
"""Tells the kind and the shape of an array."""

from __future__ import annotations

import operator
import sys
from importlib import import_module
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from .._arguments import first_entries, is_list, read_integer
from .._errors import InvalidType, given_text, type_name, value_text


def is_numpy(array: Any) -> TypeGuard[npt.NDArray[Any]]:
    """Returns whether the object really is a NumPy array, whatever its class claims."""
    return issubclass(type(array), np.ndarray)


def is_torch(array: Any) -> bool:
    kind = getattr(sys.modules.get("torch"), "Tensor", None)
    return kind is not None and issubclass(type(array), kind)


def is_symbol(value: Any) -> bool:
    """Returns whether a number stands for many, as the extents of open axes do while torch.export runs a function."""
    kind = getattr(sys.modules.get("torch"), "SymInt", None)
    return kind is not None and isinstance(value, kind)


def speaks_dlpack(array: Any) -> bool:
    """Returns whether the object exports its memory through DLPack; False for a class, which has the methods but no
    memory."""
    return not isinstance(array, type) and hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__")


def is_array(x: Any) -> bool:
    return is_numpy(x) or is_torch(x) or speaks_dlpack(x)


def device_type(device: Any) -> int | None:
    try:
        return operator.index(device[0]) if isinstance(device, tuple) and len(device) == 2 else None
    except TypeError:
        return None


def dlpack_device(array: Any, op: str, argument: str) -> Any:
    """Returns what __dlpack_device__ returns. Errors: InvalidType for an array on no device of DLPack's, or on several."""
    try:
        return array.__dlpack_device__()
    except BufferError as error:
        is_jax = module_of(array) in ("jax", "jaxlib")
        hint = f"a sharded array: {jax_instead(op, 'numpy.asarray(x)')}" if is_jax else ""
        rule = "must be an array that DLPack can hand over"
        raise InvalidType(op, argument, rule, f"{type_name(array)}: {value_text(error)}", hint=hint) from None


def jax_instead(op: str, otherwise: str) -> str:
    """Returns the calls to make with an array of JAX: that of patchfold.jax for op, if there is one, and another."""
    known = hasattr(import_module("patchfold.jax"), op)
    call = f"patchfold.jax.{op}" if known else f'patchfold.jax.run("{op}", x, ..)' if "." in op else ""
    return f"{call}, or {otherwise}" if call else otherwise


def module_of(array: Any) -> str:
    return str(getattr(type(array), "__module__", "")).partition(".")[0]


def dtype_of(dtype: Any) -> np.dtype[Any] | None:
    """Returns the NumPy type that a value names; None for a value for which NumPy raises an exception of any kind."""
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except MemoryError:
        raise
    except Exception:
        return None
    return found


def shape_of(array: Any, name: str, argument: str) -> tuple[int, ...]:
    """Returns the extents that an array, or an object that is used like an array, reports."""
    if is_numpy(array):
        own: tuple[int, ...] = np.ndarray.shape.__get__(array)  # a subclass may override it
        return own
    entries = first_entries(array.shape) if is_list(array.shape) else None
    extents = None if entries is None else tuple(map(read_integer, entries))
    if extents is None or not all(type(extent) is int for extent in extents):
        raise InvalidType(name, argument, "its shape must be a tuple of integers", given_text(array.shape))
    return extents

# SPDX-License-Identifier: Apache-2.0
"""Reads TensorFlow's messages as values of Python and NumPy."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from ._errors import ModelError
from ._moves import MOST_CONSTANT


def part_of(module: str, what: str) -> Any:
    """Returns a module of TensorFlow. If the module is missing, the ImportError names the reader that needs TensorFlow."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"inspect reads {what} with TensorFlow: pip install tensorflow-cpu ({error})") from None


def plain(value: Any) -> Any:
    """Returns an attribute as a Python value: shapes as lists with -1 for an open extent, None for an open rank."""
    kind = value.WhichOneof("value")
    if kind == "s":
        return value.s.decode(errors="replace")
    if kind == "type":
        return _type(value.type)
    if kind == "shape":
        return _extents(value.shape)
    if kind == "list":
        if value.list.shape:
            return [_extents(shape) for shape in value.list.shape]
        return list(value.list.i)
    return getattr(value, kind) if kind in ("i", "f", "b") else None


def _extents(shape: Any) -> list[int] | None:
    return None if shape.unknown_rank else [int(dim.size) for dim in shape.dim]


def _type(number: int) -> str:
    types = part_of("tensorflow.core.framework.types_pb2", "SavedModels")
    try:
        name = str(types.DataType.Name(number)).removeprefix("DT_").lower()
    except ValueError:
        return f"type {number}"
    return {"float": "float32", "double": "float64", "half": "float16"}.get(name, name)


def array_of(name: str, tensor: Any) -> np.ndarray[Any, Any] | None:
    """Returns the values of the constant of a node; None for a large constant and for types that NumPy lacks."""
    dtype = _type(tensor.dtype) if tensor is not None else ""
    if dtype not in _FIELDS:
        return None
    shape = tuple(int(dim.size) for dim in tensor.tensor_shape.dim)
    count = math.prod(shape)
    if any(extent < 0 for extent in shape) or count > MOST_CONSTANT:
        return None
    if tensor.tensor_content:
        item = np.dtype(dtype).itemsize
        if len(tensor.tensor_content) != count * item:
            size = len(tensor.tensor_content)
            raise ModelError(f"node {name} (Const): {size} bytes do not fit its shape {list(shape)}")
        return np.frombuffer(tensor.tensor_content, dtype).reshape(shape)
    values = np.array(getattr(tensor, _FIELDS[dtype]), dtype)
    if values.size > count or (values.size == 0 and count):
        values = np.zeros(1, dtype) if values.size == 0 else values[:count]
    # All elements after the last given value are equal to this value.
    return np.concatenate([values, np.repeat(values[-1:], count - values.size)]).reshape(shape)


_FIELDS = {
    "float32": "float_val", "float64": "double_val", "int32": "int_val", "int64": "int64_val", "bool": "bool_val",
    "int8": "int_val", "int16": "int_val", "uint8": "int_val", "uint16": "int_val", "uint32": "uint32_val",
    "uint64": "uint64_val",
}  # fmt: skip

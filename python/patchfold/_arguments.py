# SPDX-License-Identifier: Apache-2.0
"""Reads the integers and the lists of integers that callers give."""

from __future__ import annotations

import operator
import sys
import warnings
from itertools import islice
from types import FrameType
from typing import Any

import numpy as np

from ._typing import Positions


def is_integer(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)) or getattr(value, "ndim", None):
        return False
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def is_list(value: Any) -> bool:
    if isinstance(value, np.void):  # a record, which has entries but no axes
        return True
    return hasattr(value, "__len__") and not isinstance(value, str) and getattr(value, "ndim", 1) != 0


def spatial_rank(*values: Any) -> int:
    """Returns the number of spatial axes: the length of the first list among the values, or 2 if all are numbers."""
    return next((len(value) for value in values if is_list(value)), 2)


def per_axis(value: Any, rank: int) -> tuple[int, ...]:
    """Returns a tuple with an integer for each axis: the entries of a list, or a number `rank` times."""
    return tuple(map(operator.index, value)) if is_list(value) else (operator.index(value),) * rank


def read_once(value: Any, default: Any = None) -> Any:
    """Reads an integer or a sequence of integers once, so that later code uses the same values as the check. Returns the
    default for None. Returns other values unchanged, since a later check refuses them."""
    if value is None:
        return default
    if not is_list(value):
        return read_integer(value)
    items = first_entries(value)
    return value if items is None else tuple(map(read_integer, items))


def read_pads(value: Any) -> Any:
    """Reads integers once, as read_once does, from a value that may hold pairs; None is read as 0."""
    items = first_entries(value) if is_list(value) else None
    if value is None or items is None:
        return read_once(value, 0)
    return tuple(map(read_once, items))


def read_integer(value: Any) -> Any:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return value
    try:
        return operator.index(value)
    except TypeError:  # an array of several elements has __index__ too
        return value


def first_entries(value: Any, most: int = 1000) -> tuple[Any, ...] | None:
    """Returns the entries of a sequence; None for other objects, and for a sequence with more than `most` entries."""
    if isinstance(value, (bytes, dict)) or not hasattr(type(value), "__getitem__"):
        return None
    try:
        entries = tuple(islice(value, most + 1))
    except MemoryError:
        raise
    except Exception:  # the object cannot be iterated over
        return None
    return entries if len(entries) <= most else None


def warn(message: str) -> None:
    """Warns with the line outside of the package that made the call."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_globals.get("__name__", "").startswith("patchfold."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def positions_of(function: str, columns: Positions, stacklevel: int = 3) -> Positions:
    """Returns the value of ``columns``, the old name of ``positions``, which is read until 1.0. Warns with the line outside
    of the package that made the call."""
    message = f"patchfold.{function}: columns is now called positions; the old name works until 1.0"
    warnings.warn(message, DeprecationWarning, stacklevel=stacklevel)
    return columns


def same_pads(extent: int, size: int, stride: int, dilation: int, *, upper: bool = True) -> tuple[int, int]:
    """Returns the pads that ceil(extent / stride) windows need; an odd element goes to the end with `upper`, else to the
    beginning."""
    total = max((-(-extent // stride) - 1) * stride + (size - 1) * dilation + 1 - extent, 0)
    return (total // 2, total - total // 2) if upper else (total - total // 2, total // 2)

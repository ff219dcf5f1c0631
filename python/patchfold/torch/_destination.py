# SPDX-License-Identifier: Apache-2.0
"""The destination of a result that is written part by part."""

from __future__ import annotations

from typing import Any

import torch

from .._errors import InvalidType, InvalidValue, given_text, value_text


def check_out(operator: str, out: Any) -> None:
    """Refuses an object that a Destination cannot write to."""
    if out is not None and not (hasattr(out, "shape") and hasattr(out, "dtype") and hasattr(type(out), "__setitem__")):
        rule = "must be a tensor, an array of NumPy, or a store with __setitem__, shape and dtype"
        raise InvalidType(operator, "out", rule, given_text(out))


class Destination:
    """A new tensor, or the caller's tensor, array or store of this shape and element type."""

    def __init__(self, operator: str, out: Any, shape: tuple[int, ...], dtype: torch.dtype) -> None:
        name = str(dtype).removeprefix("torch.")
        if out is not None and tuple(out.shape) != shape:
            rule = "must have the shape of the output"
            raise InvalidValue(operator, "out", rule, value_text(tuple(out.shape)), value_text(shape))
        if out is not None and str(out.dtype).removeprefix("torch.") != name:
            raise InvalidType(operator, "out", "must have the element type of the output", str(out.dtype), name)
        self.array: Any = torch.zeros(shape, dtype=dtype) if out is None else out

    def write(self, place: tuple[slice, ...], values: torch.Tensor) -> None:
        self.array[place] = values if isinstance(self.array, torch.Tensor) else values.numpy()

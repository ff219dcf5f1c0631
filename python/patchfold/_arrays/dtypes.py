# SPDX-License-Identifier: Apache-2.0
"""The element types that hold numbers, from the library's table."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._errors import text_in

_ROWS = _core.dtypes()

#: Bytes of an element, by the name of its type.
SIZES = {name: size for name, size, *_ in _ROWS}
#: The types that NumPy has without ml_dtypes.
SHARED_WITH_NUMPY = frozenset(name for name, _, kind, *_ in _ROWS if kind != "V")
#: The types that fold adds.
SUMMABLE = frozenset(name for name, _, _, summable, *_ in _ROWS if summable)
#: The types by their numbers in ONNX files (TensorProto.DataType).
BY_ONNX_CODE = {onnx: name for name, *_, onnx, _ in _ROWS if onnx}
#: The types by their numbers in torch.export's files (ScalarType).
BY_TORCH_CODE = {torch: name for name, *_, torch in _ROWS if torch}


def similar_type(dtype: Any) -> str:
    """Returns a hint for an error about an unknown element type: the name that is most similar; empty if none is."""
    name = text_in(dtype)
    return "" if name is None else _core.did_you_mean(name, list(SIZES))

# SPDX-License-Identifier: Apache-2.0
"""The element types that have numbers, as the library's table lists them."""

from __future__ import annotations

from .. import _core

_ROWS = _core.dtypes()

#: Bytes of an element, by the name of its type.
SIZES = {name: size for name, size, _, _ in _ROWS}
#: Types that NumPy has without ml_dtypes.
SHARED_WITH_NUMPY = frozenset(name for name, _, kind, _ in _ROWS if kind != "V")
#: The types' numbers in ONNX files (TensorProto.DataType).
ONNX_CODES = frozenset(code for _, _, _, code in _ROWS)

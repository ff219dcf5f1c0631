# SPDX-License-Identifier: Apache-2.0
"""Names calls of patchfold in models, which nodes of its libraries for TensorFlow and torch hold as one line of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import patchfold

from .._orders.names import INVERSE, Name
from ._tensorflow_nodes import name_of_node

ADJOINT = "adjoint"
TENSORFLOW = "tensorflow."
# Settings that the adjoint of an operator does not have: they are about the operator's own result.
_ONE_WAY = ("output_size", "accumulate", "reduce", "fill", "padding_mode", "value", "allow_empty")


def name_of_call(call: str, shape: tuple[int, ...] | None) -> Name | None:
    """Returns the name of a call; None for an operator that this version lacks. shape: the input's, None if unknown.

    The adjoint of an operator, as derivatives hold it, is named as the operator that does the same.
    """
    is_adjoint = call.startswith(f"{ADJOINT} ")
    operator, _, extents, *settings = call.removeprefix(f"{ADJOINT} ").split(" ")
    data = tuple(map(int, extents.split("x"))) if extents != "?" else None if is_adjoint else shape
    spec = next((spec for spec in patchfold.operators() if spec.name == operator), None)
    if spec is None:
        return None
    known = {argument.name: argument for argument in spec.arguments}
    given = dict(setting.split("=", 1) for setting in settings)
    values = {name: _value(known[name], text) for name, text in given.items()}
    values = {name: value for name, value in values.items() if value != _value(known[name], known[name].default)}
    name = _neutral(operator, values, data)
    return _adjoint(name, data) if is_adjoint else name


def _value(argument: patchfold.ArgumentSpec, text: str) -> Any:
    """Returns the value that a text stands for: numbers, tuples, lists of pairs, or the text itself."""
    if argument.kind == "boolean":
        return text in ("1", "true")
    if argument.kind == "choice" or not text or text[0].isalpha():
        return text
    if argument.kind == "number":
        return complex(text.replace("i", "j")) if text.endswith("i") else float(text)
    parts = [tuple(map(int, part.split(":"))) for part in text.split(",")]
    if ":" in text:
        return parts
    numbers = tuple(number for (number,) in parts)
    return numbers[0] if argument.kind == "integer" or (argument.kind != "integers" and len(numbers) == 1) else numbers


def _neutral(operator: str, values: Mapping[str, Any], data: tuple[int, ...] | None) -> Name:
    """Returns the name of a call. A call of TensorFlow's dialect is named as the neutral operator that does the same; others
    keep their names."""
    if operator.startswith(TENSORFLOW):
        lists = [values[name] for name in ("block_shape", "paddings", "crops") if name in values]
        name = name_of_node(operator.removeprefix(TENSORFLOW), values, [None, *lists], data)
        if name is not None:
            return name
    rank = next((len(value) for value in values.values() if isinstance(value, (tuple, list))), 2)
    per_axis = ("kernel_size", "stride", "dilation", "padding", "block", "crops")
    return Name(operator, {k: (v,) * rank if k in per_axis and isinstance(v, int) else v for k, v in values.items()})


def _adjoint(name: Name, data: tuple[int, ...] | None) -> Name:
    """Returns the name of the adjoint of an operator. data: the shape of the operator's data, if it is known."""
    back = INVERSE | {to: operator for operator, to in INVERSE.items()}
    if name.operator not in back:
        return Name(f"{ADJOINT} of {name.operator}", name.arguments)
    other = {"padding": "crops", "crops": "padding"} if "batch" in name.operator else {}
    arguments = {other.get(key, key): value for key, value in name.arguments.items() if key not in _ONE_WAY}
    if name.operator == "unfold":
        rank = len(arguments["kernel_size"])
        last = arguments.get("layout") == "channels_last"
        size = "?" if data is None else data[-rank - 1 : -1] if last else data[-rank:]
        arguments = {"output_size": size, **arguments}
    return Name(back[name.operator], arguments)

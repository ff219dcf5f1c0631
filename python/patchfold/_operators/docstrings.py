# SPDX-License-Identifier: Apache-2.0
"""Completes the docstrings of functions that call one operator with what the operator table says."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from .table import ArgumentSpec, operator_named

Function = TypeVar("Function", bound=Callable[..., Any])

_TITLES = ("Shapes", "Arguments", "Formula", "Types", "Derivatives", "Errors", "Elsewhere", "Example")
_OUT = "an array of the result's shape and element type; it receives the result and is returned"
_ADDED = "numbers and booleans, summed as patchfold.fold does."
_UNSUMMED = "element types that cannot be added (strings, records, datetimes, float8)"
_COPIED = "any element type of fixed size; elements are copied bit by bit."


def described(
    operator: str,
    *,
    sums: bool | None = None,
    wrong_data: str = "data that is not an array",
    also_refuses: str = "",
    sections: Mapping[str, str] = MappingProxyType({}),
    **meanings: str,
) -> Callable[[Function], Function]:
    """Returns a decorator that completes a function's docstring by the sections Arguments, Types and Errors.

    operator: the operator of the table whose arguments the function takes. sums: whether the function adds elements; None:
    as the operator. wrong_data: the data for which the function raises InvalidType, in words. also_refuses: further reasons
    for InvalidValue, in words. sections: texts of sections by their titles. meanings: texts of arguments by their names, in
    place of the table's or for arguments that the operator lacks. Sections that the docstring has already stay as they are.
    """
    spec = operator_named(operator)[1]
    table = {each.name: each for each in spec.arguments}
    adds = spec.sums if sums is None else sums
    elements = _UNSUMMED if adds else "elements without a fixed size"
    meanings = {"out": _OUT, **meanings}

    def decorated(function: Function) -> Function:
        if not function.__doc__:  # python -OO keeps no docstrings
            return function
        summary, *parts = re.split(rf"(?m)^(?=(?:{'|'.join(_TITLES)}):)", inspect.cleandoc(function.__doc__))
        own = {part.partition(":")[0]: part for part in parts}
        arguments, words = "Arguments:", ""
        for name, parameter in inspect.signature(function).parameters.items():
            if "Arguments" not in own:
                meaning = meanings.get(name) or _meaning(table[name], parameter.default)
                arguments += "\n" + _filled(f"{name}: {meaning}.", 4)
            words = ", words" if name in table and table[name].choices else words
        data = f"{wrong_data}, for " if spec.data_input else ""
        errors = (
            f"InvalidValue for numbers{words} and shapes that break a rule{also_refuses}; InvalidType for {data}arguments "
            f"of the wrong type, and for {elements}. Both name the rule, the given value and the expected one."
        )
        texts = {"Types": _ADDED if adds else _COPIED, "Errors": errors, **sections}
        made = {title: _filled(f"{title}: {text}", 0) for title, text in texts.items()} | {"Arguments": arguments} | own
        parts = [summary, *(made[title] for title in _TITLES if title in made)]
        function.__doc__ = "\n\n".join(part.rstrip() for part in parts)
        return function

    return decorated


def _meaning(argument: ArgumentSpec, default: Any) -> str:
    """Returns what the table says about an argument, in Python's words."""
    text = argument.doc
    if argument.choices:
        text += "; one of " + ", ".join(f'"{word}"' for word in argument.choices)
    if default is None and argument.default:
        text += f'; None means "{argument.default}"' if argument.choices else f"; None means {argument.default}"
    return text


def _filled(text: str, indent: int) -> str:
    """Returns a text in lines: the first is indented by `indent` spaces, the others by four more."""
    return indent * " " + f"\n{(indent + 4) * ' '}".join(re.findall(r"\S.{0,111}(?!\S)", text))

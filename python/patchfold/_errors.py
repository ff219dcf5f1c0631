# SPDX-License-Identifier: Apache-2.0
"""Errors: each has the operator, the argument, the rule, the given and the expected value, and a hint."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

_MOST = 1000  # the most characters of each part of a message, as in the library


class Error(Exception):
    """The base class of every error of patchfold about its arguments.

    Errors are raised before anything is written. Catch ``InvalidValue`` or plain ``ValueError`` for values and shapes,
    ``InvalidType`` or plain ``TypeError`` for types. Running out of memory is Python's own ``MemoryError``.

    Attributes:
        code: "rank", "divisible", ..; `patchfold errors` explains each code
        operator: name of the operator or function
        argument: name of the argument
        rule: the rule that is broken, as a sentence
        given: the given value
        expected: the expected value
        hint: what to type instead, if the error can tell

    Each attribute is a string, which may be empty.
    """

    code = "value"

    def __init__(
        self,
        operator: str = "",
        argument: str = "",
        rule: str = "",
        given: str = "",
        expected: str = "",
        *,
        code: str = "",
        hint: str = "",
    ) -> None:
        self.code = code or type(self).code
        parts = [
            part if len(part) <= _MOST else part[:_MOST] + ".." for part in (operator, argument, rule, given, expected, hint)
        ]
        self.operator, self.argument, self.rule, self.given, self.expected, self.hint = parts
        facts = [f"{word} {value}" for word, value in zip(("given", "expected"), parts[3:5], strict=True) if value]
        message = ": ".join(part for part in parts[:3] if part)
        super().__init__("; ".join(part for part in (message, ", ".join(facts), self.hint) if part))

    def _facts(self) -> dict[str, str]:
        """Returns all parts except the names, for an error that names another operator or argument."""
        return {name: getattr(self, name) for name in ("rule", "given", "expected", "code", "hint")}

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), self.operator, self.argument, **self._facts()), ()


class InvalidValue(Error, ValueError):
    """An error about a value or a shape that breaks a rule of the operator."""


class InvalidType(Error, TypeError):
    """An error about an argument or an element of a type that the operator does not accept."""

    code = "type"


@contextmanager
def errors_of(name: str) -> Iterator[None]:
    """A context that puts the names of the called function and of its array into errors of the underlying operator."""
    try:
        yield
    except Error as error:
        argument = "x" if error.argument == "shape" else error.argument
        raise type(error)(name, argument, **error._facts()) from None


def type_name(value: Any) -> str:
    kind = type(value)
    module = getattr(kind, "__module__", "builtins")  # types that eval made have no module
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


def text_in(value: Any) -> str | None:
    """Returns a text as a plain str, since a subclass may compare and hash differently; None for other objects."""
    return str.__str__(value) if issubclass(type(value), str) else None


def value_text(value: Any) -> str:
    """Returns a value as one short line."""
    try:
        text = " ".join(str(value).split())
    except Exception:  # __str__ fails, or an integer has more digits than Python prints
        return f"a value of type {type_name(value)}"
    return text if len(text) <= 80 else text[:77] + "..."


def given_text(value: Any) -> str:
    """Returns a value and its type as one short line."""
    try:
        text = repr(value)
    except Exception:
        return f"a value of type {type_name(value)}"
    return f"{value_text(text)} of type {type_name(value)}"

# SPDX-License-Identifier: Apache-2.0
"""Errors: each names operator, argument, rule, the given value and the expected one."""

_MOST = 1000  # characters of a part, as in the library


class Error(Exception):
    """The base class of every error of patchfold about its arguments.

    It is raised before anything is written. Catch ``InvalidValue`` or plain ``ValueError`` for values and shapes,
    ``InvalidType`` or plain ``TypeError`` for types. Running out of memory is Python's own ``MemoryError``.

    Attributes:
        code: "rank", "divisible", ..; docs/errors.md explains each code
        operator: name of the operator or function
        argument: name of the argument
        rule: the rule that is broken, as a sentence
        given: the given value
        expected: the expected value

    Each is a string, which may be empty.
    """

    code = "value"

    def __init__(
        self,
        *,
        operator: str = "",
        argument: str = "",
        rule: str = "",
        given: str = "",
        expected: str = "",
        code: str = "",
    ) -> None:
        self.code = code or type(self).code
        parts = [
            part if len(part) <= _MOST else part[:_MOST] + ".." for part in (operator, argument, rule, given, expected)
        ]
        self.operator, self.argument, self.rule, self.given, self.expected = parts
        facts = [f"{word} {value}" for word, value in zip(("given", "expected"), parts[3:], strict=True) if value]
        message = ": ".join(part for part in parts[:3] if part)
        super().__init__("; ".join([message, ", ".join(facts)] if facts else [message]))

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.operator, self.argument, self.rule, self.given, self.expected, self.code)


class InvalidValue(Error, ValueError):
    """A value or a shape breaks a rule of the operator."""


class InvalidType(Error, TypeError):
    """An argument or an element has a type that the operator does not accept."""

    code = "type"


def _restore(
    kind: type[Error], operator: str, argument: str, rule: str, given: str, expected: str, code: str
) -> Error:
    return kind(operator=operator, argument=argument, rule=rule, given=given, expected=expected, code=code)

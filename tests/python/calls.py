# SPDX-License-Identifier: Apache-2.0
"""The functions of the operators, and calls made from each row of the operator table and its example."""

import functools
import importlib
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import patchfold
from patchfold import ArgumentSpec, OperatorSpec

Arguments = dict[str, Any]


class Foreign:
    """An array with only the attributes that the array API standard requires."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __array_namespace__(self) -> object:
        return np


def newest() -> list[OperatorSpec]:
    """Returns the newest version of each operator."""
    version = {spec.name: int((re.findall(r"-(\d+)$", spec.name) or ["0"])[0]) for spec in patchfold.operators()}
    best: dict[str, OperatorSpec] = {}
    for spec in patchfold.operators():
        base = spec.name.partition("-")[0]
        if base not in best or version[spec.name] > version[best[base].name]:
            best[base] = spec
    return list(best.values())


def dialect_of(spec: OperatorSpec) -> str:
    """Returns the dialect of an operator; empty for neutral operators."""
    return spec.name.rpartition(".")[0]


def function_name(spec: OperatorSpec) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", spec.name.partition("-")[0].rpartition(".")[2]).lower()


def function_of(spec: OperatorSpec) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(DIALECTS.get(dialect_of(spec), patchfold), function_name(spec))
    return function


# The dialects whose functions need no other package. The other dialects need the package with the dialect's name.
DIALECTS = {
    name: importlib.import_module(f"patchfold.{name}")
    for name in dict.fromkeys(map(dialect_of, newest()))
    if name in patchfold.__all__
}
HERE = [spec for spec in newest() if dialect_of(spec) in ("", *DIALECTS)]
ELSEWHERE = [spec for spec in newest() if spec not in HERE]


def value_of(argument: ArgumentSpec, text: str) -> Any:
    """Returns the Python value of an argument's text in a problem string."""
    if argument.kind == "choice":
        return text
    if argument.kind == "boolean":
        return text == "true"
    if argument.kind == "number":
        return int(text) if re.fullmatch(r"-?\d+", text) else complex(text) if text[-1] in "ij" else float(text)
    if re.match("[a-z]", text):
        return text
    entries = [tuple(map(int, entry.split(":"))) for entry in text.split(",") if entry]
    if argument.kind == "pairs" or ":" in text:
        return entries
    numbers = tuple(entry[0] for entry in entries)
    return numbers if "," in text or argument.kind == "integers" else numbers[0]


@functools.cache
def _example(spec: OperatorSpec) -> tuple[np.ndarray | None, Arguments]:
    _, shape, *words = spec.example.split()
    kinds = {argument.name: argument for argument in spec.arguments}
    arguments = {name: value_of(kinds[name], text) for name, text in (word.split("=") for word in words)}
    if not spec.data_input:
        return None, arguments
    extents = tuple(map(int, shape.split("x")))
    return np.arange(1, 1 + np.prod(extents), dtype=np.int32).reshape(extents), arguments


def example(spec: OperatorSpec) -> tuple[tuple[np.ndarray, ...], Arguments]:
    """Returns the data (a tuple of one array or none) and the arguments of an operator's example in the table."""
    x, arguments = _example(spec)
    return () if x is None else (x.copy(),), dict(arguments)


def _raised(value: Any) -> Iterator[Any]:
    """Yields copies of a list. In each copy, one number n is replaced by n + 1 or by 2n + 2."""
    for at, entry in enumerate(value):
        for other in _raised(entry) if isinstance(entry, tuple) else (entry + 1, 2 * entry + 2):
            yield type(value)([*value[:at], other, *value[at + 1 :]])


LISTS = [(*(1,) * count, 2) for count in range(6)]
PAIRS = [[(0, 0)] * count + [(1, 2)] for count in range(4)]


def others(argument: ArgumentSpec, given: Any) -> list[Any]:
    """Returns values of the argument's kind that differ from `given`, where None stands for the default. The operator may
    refuse some of them."""
    if given is None and argument.default:
        given = value_of(argument, argument.default)
    if argument.kind == "choice":
        found: list[Any] = list(argument.choices)
    elif argument.kind == "boolean":
        found = [True, False]
    elif argument.kind == "number":
        found = [-7, 2.5]
    elif isinstance(given, (tuple, list)) and given:
        found = list(_raised(given))
    elif argument.kind == "integer":
        found = [(given or 1) + 1, 2 * (given or 1), 1]
    else:
        found = {"integers": LISTS, "axes": [2, 3, *LISTS], "pairs": PAIRS, "padding": [1, 2, "same", "same_lower", *PAIRS]}[
            argument.kind
        ]
    return [value for value in found if value != given]


def variants(spec: OperatorSpec) -> Iterator[Arguments]:
    """Yields the example's arguments, and copies with other values of one or two arguments; some may be refused."""
    _, arguments = example(spec)
    changes = [
        {argument.name: value} for argument in spec.arguments for value in others(argument, arguments.get(argument.name))
    ]
    yield arguments
    yield from ({**arguments, **change} for change in changes)
    for one, other in itertools.combinations(changes, 2):
        if one.keys() != other.keys():
            yield {**arguments, **one, **other}


@functools.cache
def _right(spec: OperatorSpec) -> list[Arguments]:
    data, _ = example(spec)
    found = []
    for arguments in variants(spec):
        try:
            function_of(spec)(*data, **arguments)
        except patchfold.Error:
            continue
        found.append(arguments)
    return found


def right_calls(spec: OperatorSpec) -> list[Arguments]:
    """Returns the arguments of the example, and those of its variants() that the function accepts without `out`."""
    return [dict(arguments) for arguments in _right(spec)]

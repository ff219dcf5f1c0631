# SPDX-License-Identifier: Apache-2.0
"""The dialects of other systems. Each module of this folder describes how to draw problems of one dialect's operators.

A module has OPERATORS, {pattern: Facts}. The facts of an operator are those of the first pattern that matches its name
without the dialect's prefix. A dialect without a module is compared with no system.
"""

import functools
import importlib
import importlib.util
from fnmatch import fnmatchcase

import patchfold
from facts import Facts
from problem import Array, Problem
from windows import Window

SUMS = frozenset(spec.name for spec in patchfold.operators() if spec.sums)


@functools.cache
def patterns_of(dialect: str) -> dict[str, Facts]:
    """Returns the dialect's OPERATORS; an empty dict for a dialect without a module."""
    name = f"{__name__}.{dialect}"
    if not dialect or importlib.util.find_spec(name) is None:
        return {}
    found: dict[str, Facts] = importlib.import_module(name).OPERATORS
    return found


def operators_of(dialect: str) -> list[str]:
    """Returns the dialect's operators in the order of the operator table."""
    return [spec.name for spec in patchfold.operators() if spec.name.startswith(f"{dialect}.")]


def data_name(op: str) -> str:
    """Returns the name that the operator's definition gives to its data input."""
    return next(spec.data_input for spec in patchfold.operators() if spec.name == op)


@functools.cache
def known(op: str) -> Facts | None:
    """Returns an operator's facts, or None if no pattern matches its name."""
    dialect, _, name = op.rpartition(".")
    return next((facts for pattern, facts in patterns_of(dialect).items() if fnmatchcase(name, pattern)), None)


def facts_of(op: str) -> Facts:
    """Returns an operator's facts. Raises KeyError if no pattern matches its name."""
    facts = known(op)
    if facts is None:
        raise KeyError(f"tests/peers/dialects says nothing about {op}")
    return facts


def window_of(problem: Problem) -> Window:
    """Returns the window of a problem, which must be valid and of an operator that slides a kernel."""
    read = facts_of(problem.op).window
    assert read is not None, problem.op
    return read(problem)


def definition(problem: Problem) -> Array:
    """Returns what its operator's definition gives for a problem, which must be valid."""
    return facts_of(problem.op).formula(problem)


OPERATORS = [spec.name for spec in patchfold.operators() if known(spec.name)]

# SPDX-License-Identifier: Apache-2.0
"""Helpers of the Hypothesis strategies: random choices, settings, and changes that make a valid setting invalid."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from hypothesis import strategies as st

Draw: TypeAlias = Callable[[Any], Any]


@cache
def _integers(low: int, high: int) -> Any:
    return st.integers(low, high)


def number(draw: Draw, low: int, high: int) -> int:
    return low if low >= high else int(draw(_integers(low, high)))


def chance(draw: Draw, percent: int) -> bool:
    """Returns True with a probability of `percent` %. Large numbers give True: Hypothesis prefers small numbers, so minimal
    examples have no rare features."""
    return number(draw, 0, 99) >= 100 - percent


@dataclass(frozen=True)
class Setting:
    """The attributes of an operator, and the shape of its data. `fault` is the text of the Fault that made the setting
    invalid, and empty for a valid setting."""

    attributes: dict[str, Any]
    shape: tuple[int, ...]
    fault: str = ""


@dataclass(frozen=True)
class Fault:
    """A change that makes a setting invalid. "entry" sets one entry of the attribute `name` to `value`, "replace" the whole
    attribute. "length" makes the attribute one entry longer (`value` > 0) or shorter. "extent" adds `value` to the extent
    of the axis `name`. "rank" adds (`value` > 0) or removes a leading axis of the data."""

    kind: str
    name: str = ""
    value: Any = 0

    def __str__(self) -> str:
        return f"{self.kind} {self.name} {self.value}".replace("  ", " ")

    def apply(self, draw: Draw, setting: Setting) -> Setting | None:
        """Returns the invalid setting, or None if the fault does not apply."""
        attributes, shape = dict(setting.attributes), setting.shape
        if self.kind == "rank":
            if self.value < 0 and not shape:
                return None
            shape = (1, *shape) if self.value > 0 else shape[1:]
        elif self.kind == "extent":
            axis = int(self.name)
            if not -len(shape) <= axis < len(shape) or shape[axis] + self.value < 0:
                return None
            extents = list(shape)
            extents[axis] += self.value
            shape = tuple(extents)
        elif self.name not in attributes:
            return None
        elif self.kind == "replace":
            attributes[self.name] = self.value
        elif self.kind == "length":
            given = attributes[self.name]
            if not isinstance(given, tuple) or not given:
                return None
            attributes[self.name] = (*given, given[-1]) if self.value > 0 else given[:-1]
        else:
            attributes[self.name] = _with_entry(draw, attributes[self.name], self.value)
            if attributes[self.name] is None:
                return None
        return Setting(attributes, shape, str(self))


def _with_entry(draw: Draw, given: Any, value: int) -> Any:
    if not isinstance(given, tuple):
        return value
    if not given:
        return None
    at = number(draw, 0, len(given) - 1)
    entry: Any = value
    if isinstance(given[at], tuple):
        entry = (value, given[at][1]) if chance(draw, 50) else (given[at][0], value)
    return (*given[:at], entry, *given[at + 1 :])

# SPDX-License-Identifier: Apache-2.0
"""Choices made from bytes. When the bytes are used up, every choice is the first option, so a short input is a simple
call."""

from collections.abc import Sequence
from typing import Any


class Choices:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self, bound: int) -> int:
        """Returns a number from 0 to bound - 1; `bound` is at most 256."""
        if self._at >= len(self._data):
            return 0
        self._at += 1
        return self._data[self._at - 1] % bound

    def between(self, least: int, most: int) -> int:
        return least + self.number(most - least + 1)

    def chance(self, one_in: int) -> bool:
        return self.number(one_in) == one_in - 1

    def pick(self, values: Sequence[Any]) -> Any:
        return values[self.number(len(values))]

    def several(self, count: int, least: int, most: int) -> tuple[int, ...]:
        return tuple(self.between(least, most) for _ in range(count))

    def bytes(self, count: int) -> bytes:
        self._at += count
        return self._data[self._at - count : self._at]

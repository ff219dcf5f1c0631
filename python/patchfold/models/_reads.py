# SPDX-License-Identifier: Apache-2.0
"""A node whose reads are wanted, and the reads that many operators have: the same element, and whole axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._spans import FIRST, NoSpan, Reads, along, whole_axis

MOST_SETTING = 1 << 31
NO_SHAPE = "the shapes of its tensors are not known"
UNKNOWN = "is not known here, so it may see everything"
# What makes tiles differ from the whole array, although each element reads few others.
BY_EXTENT = "its places depend on the extent of the axis, so a tile of another extent gets other values"
BY_PLACE = "its result depends on the place along the axis, so tiles get other values"
DRAWS = "draws random numbers, so tiles get others"
NOTED = (BY_EXTENT, BY_PLACE, DRAWS)


@dataclass(frozen=True)
class Node:
    """A node: its operator, attributes, the names of all inputs ("" for one that is left out), and what is known of
    them."""

    kind: str
    settings: Mapping[str, Any]
    slots: Sequence[str]
    outputs: Sequence[str]
    shapes: Mapping[str, tuple[int, ...]]
    constants: Mapping[str, Any]
    version: int

    def shape(self, slot: int = 0) -> tuple[int, ...]:
        return self._shape(self.slots[slot])

    def result(self) -> tuple[int, ...]:
        return self._shape(self.outputs[0])

    def _shape(self, tensor: str) -> tuple[int, ...]:
        shape = self.shapes.get(tensor, getattr(self.constants.get(tensor), "shape", None))
        if shape is None:
            raise NoSpan(NO_SHAPE)
        return shape

    def has(self, slot: int) -> bool:
        return slot < len(self.slots) and bool(self.slots[slot])

    def constant(self, slot: int) -> Any:
        """Returns the values of an input; None if the input is left out. A computed input is a NoSpan."""
        if not self.has(slot):
            return None
        if self.slots[slot] not in self.constants:
            raise NoSpan(f"its input {slot} is computed from data")
        return self.constants[self.slots[slot]]

    def numbers(self, name: str, count: int, default: int, least: int) -> list[int]:
        """Returns an attribute with a number for each axis."""
        values: Sequence[Any] = self.settings.get(name) or [default] * count
        if len(values) != count or not all(isinstance(each, int) and least <= each < MOST_SETTING for each in values):
            raise ValueError(f"{name}: must be {count} numbers from {least} to 2^31; given {list(values)[:8]}")
        return list(values)


Slots = dict[int, list[Reads]]
"""For each input of a node that may hold data: what the node reads along each axis of the input."""
Rule = Callable[[Node], "tuple[Slots, str]"]
"""Returns what a node reads, and why it sees the whole of an axis, if it does."""


def spread(shape: Sequence[int], result: Sequence[int]) -> list[Reads]:
    """Returns what is read along each axis of an input that broadcasts to a result."""
    more = len(result) - len(shape)
    if more < 0:
        raise NoSpan("its inputs do not broadcast")
    return [FIRST if extent == 1 and result[axis + more] != 1 else along(axis + more) for axis, extent in enumerate(shape)]


def elementwise(node: Node) -> tuple[Slots, str]:
    return {slot: spread(node.shape(slot), node.result()) for slot in range(len(node.slots)) if node.has(slot)}, ""


def kept(shape: Sequence[int], whole: Sequence[int]) -> list[Reads]:
    """Returns what is read of an input whose axes stay where they are: all elements along the axes `whole`, else the
    same."""
    return [whole_axis(extent) if axis in whole else along(axis) for axis, extent in enumerate(shape)]


def axis_of(node: Node, default: int, rank: int) -> int:
    axis = int(node.settings.get("axis", default))
    if not -rank <= axis < rank:
        raise ValueError(f"axis: must be from {-rank} to {rank - 1}; given {axis}")
    return axis % rank


def nothing(node: Node) -> Slots:
    """Returns that no elements of the first input are read, but only its shape or its type."""
    return {0: [whole_axis(0)] * len(node.shape())}


def attention(node: Node) -> tuple[Slots, str]:
    """Returns what the product of attention reads of queries, keys, values and a mask that is added or chosen by."""
    shapes = [node.shape(slot) for slot in range(3)]
    rank = len(shapes[0])
    if any(shape[:-2] != shapes[0][:-2] for shape in shapes):
        raise NoSpan("takes one head of keys for several of queries, which is not followed")
    wholes = ([rank - 1], [rank - 2, rank - 1], [rank - 2])
    slots: Slots = {slot: kept(shape, whole) for slot, (shape, whole) in enumerate(zip(shapes, wholes, strict=True))}
    mask = node.shape(3) if node.has(3) else ()
    if mask:
        slots[3] = [*spread(mask[:-1], node.result()[:-1]), whole_axis(mask[-1])]
    return slots, "attention sees the whole sequence"

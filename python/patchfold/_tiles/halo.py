# SPDX-License-Identifier: Apache-2.0
"""The halo of a function: how far an element of a result looks before and after its own place, and what tiles follow
from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Halo:
    """How far each element of an output looks along one axis of an input.

    The place of element i of the output is floor(i / scale). It depends on elements from its place minus `before` to
    its place plus `after`, and on no others; some element of the output needs each of the two numbers. Both hold away
    from the ends of the axis. Elements near an end see no farther beyond that end than the input goes.

    output, input: names. axis: the axis of the input. output_axis: the axis of the output that runs along it.
    before, after: numbers of elements of the input; negative where the elements lie on the other side of the place.
    alignment: the result for a part of the input is a part of the whole result if the part begins at a multiple of
    this.
    scale: output elements for each element of the input.
    unbounded_by: why the output sees the axis as a whole: a sentence with name and operator for each node. Then all
        other members after `axis` are None.
    notes: what makes results of tiles differ from the whole result in spite of the overlap, a sentence for each node.
    """

    output: str
    input: str
    axis: int
    output_axis: int | None
    before: int | None
    after: int | None
    alignment: int | None
    scale: Fraction | None
    unbounded_by: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def overlap(self) -> int | None:
        """The least overlap of tiles with which apply_tiled(.., align=alignment, reduce="center") gives the result for
        the whole array; None if there is none."""
        if self.before is None or self.after is None or self.alignment is None:
            return None
        return math.ceil(2 * max(self.before, self.after, 0) / self.alignment) * self.alignment

    def __str__(self) -> str:
        if self.before is None:
            head = f"{self.output} sees all of axis {self.axis} of {self.input}"
            return "\n".join([head, *(f"  {reason}" for reason in self.unbounded_by)])
        other = "" if self.output_axis == self.axis else f" (axis {self.output_axis} of {self.output})"
        head = f"{self.output} along axis {self.axis} of {self.input}{other}: {self.before} before, {self.after} after"
        return f"{head}; alignment {self.alignment}; scale {self.scale}; overlap {self.overlap}"

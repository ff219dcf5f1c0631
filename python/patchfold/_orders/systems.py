# SPDX-License-Identifier: Apache-2.0
"""Finds the operators of other systems that make an order, in the table of elsewhere.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .elsewhere import MADE, ROWS
from .names import Name
from .readings import Found


def _is_same_or_valid(found: Found) -> bool:
    """Returns whether the padding follows the rule valid, same_upper or same_lower."""
    valid, upper, lower = True, True, True
    for i, extent in enumerate(found.image.spatial):
        stride, effective = found.stride[i], (found.kernel[i] - 1) * found.dilation[i] + 1
        total = max((-(-extent // stride) - 1) * stride + effective - extent, 0)
        begin, count = found.padding[i][0], found.positions[i]
        same = count == -(-extent // stride)
        valid = valid and begin == 0 and count == max((extent - effective) // stride + 1, 0)
        upper = upper and same and begin == total // 2
        lower = lower and same and begin == total - total // 2
    return valid or upper or lower


FACTS: dict[str, Callable[[Found, Any], bool]] = {
    "zero": lambda found, fill: fill is None or fill == 0,
    "1-D": lambda found, fill: len(found.kernel) == 1,
    "2-D": lambda found, fill: len(found.kernel) == 2,
    "3-D": lambda found, fill: len(found.kernel) == 3,
    "many-D": lambda found, fill: len(found.kernel) in (2, 3),
    "alone": lambda found, fill: not found.image.batch,
    "blocks": lambda found, fill: found.is_blocks(),
    "dense": lambda found, fill: found.kernel == found.stride and max(found.dilation) == 1,
    "undilated": lambda found, fill: max(found.dilation) == 1,
    "unpadded": lambda found, fill: not any(map(any, found.padding)),
    "from_0": lambda found, fill: not any(begin for begin, _ in found.padding),
    "stride_1": lambda found, fill: max(found.stride) == 1,
    "same_or_valid": lambda found, fill: _is_same_or_valid(found),
}


def systems_of(name: Name, fill: Any = None) -> tuple[str, ...]:
    """Returns the operators of other systems that give columns in this layout, with their settings.

    fill: the value of padding.
    """
    found = name.found
    if found is None:
        return ()
    names = []
    for made in [*(row.made for row in ROWS if row.made), *MADE]:
        ordered = made.order in ("", found.order) or found.image.channels == 1
        here = found.layout in made.axes.split("|") and found.image.place in made.place.split()
        if (
            here
            and ordered
            and (name.inverted or not made.back)
            and all(FACTS[word](found, fill) for word in made.when.split())
        ):
            names.append(f"the inverse of {made.name}" if name.inverted and not made.back else made.name)
    return tuple(names)

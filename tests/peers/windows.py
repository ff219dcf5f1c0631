# SPDX-License-Identifier: Apache-2.0
"""The windows of operators that slide a kernel, and random windows, pads and blocks for every dialect."""

import math
from dataclasses import dataclass, replace
from typing import Any

from drawing import Draw, chance, number

Pairs = tuple[tuple[int, int], ...]
# The most elements of a problem. Thousands of such problems run in seconds, and their rows are long enough to be split and
# vectorised.
MOST_ELEMENTS = 6000


@dataclass(frozen=True)
class Rules:
    symmetric: bool = False
    dilations: tuple[int, int] = (1, 3)
    same_pads: bool = False  # the dialect has the rules VALID and SAME for pads
    no_positions: bool = True
    zero_extents: bool = False
    batch_axes: int = 1
    zero_channels: bool = True


@dataclass(frozen=True)
class Window:
    image: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    pads: Pairs
    same: bool
    batch: tuple[int, ...]
    channels: int

    @property
    def effective(self) -> tuple[int, ...]:
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation, strict=True))

    @property
    def positions(self) -> tuple[int, ...]:
        slacks = [i + b + e - f for i, (b, e), f in zip(self.image, self.pads, self.effective, strict=True)]
        return tuple(0 if x < 0 else x // s + 1 for x, s in zip(slacks, self.stride, strict=True))

    @property
    def columns(self) -> tuple[int, ...]:
        return (*self.batch, self.channels * math.prod(self.kernel), math.prod(self.positions))

    def first(self) -> tuple[int, ...]:
        return (*self.batch, self.channels, *self.image)

    def last(self) -> tuple[int, ...]:
        return (*self.batch, *self.image, self.channels)


def draw_window(draw: Draw, rank: int, rules: Rules) -> Window:
    largest = 4 if rank <= 2 else 3 if rank == 3 else 2
    same = rules.same_pads and chance(draw, 50)
    long_axis = number(draw, 0, rank - 1) if chance(draw, 6) else -1
    none_fits = rules.no_positions and chance(draw, 8)
    image, kernel, stride, dilation, pads = [], [], [], [], []
    for axis in range(rank):
        k = number(draw, 1, largest)
        s = number(draw, 1, 5) if rank <= 2 else number(draw, 1, 3)
        d = number(draw, *rules.dilations) if k > 1 or rules.dilations[0] == 0 else 1
        begin = 0 if rules.same_pads else max(0, number(draw, -2, 4))
        end = begin if rules.symmetric else 0 if rules.same_pads else max(0, number(draw, -2, 4))
        effective = (k - 1) * d + 1
        count = number(draw, 20, 70) if axis == long_axis else number(draw, 1, 5 if rank <= 2 else 3)
        extent = (count - 1) * s + effective - begin - end + number(draw, 0, s - 1)
        if same:
            extent = number(draw, 20, 70) if axis == long_axis else number(draw, 1, 12 if rank <= 2 else 5)
        if none_fits and axis == 0:
            k, d, begin, end = max(k, 2), max(d, 1), 0, 0
            extent = (k - 1) * d + 1 - number(draw, 1, 4)
        kernel.append(k)
        stride.append(s)
        dilation.append(d)
        pads.append((begin, end))
        image.append(max(1, extent))
    if rules.zero_extents and chance(draw, 3):
        image[number(draw, 0, rank - 1)] = 0
    batch = tuple(0 if chance(draw, 4) else number(draw, 1, 3) for _ in range(rules.batch_axes))
    channels = 0 if rules.zero_channels and chance(draw, 3) else number(draw, 1, 3)
    window = Window(tuple(image), tuple(kernel), tuple(stride), tuple(dilation), tuple(pads), same, batch, channels)
    if math.prod(window.columns) > MOST_ELEMENTS:
        window = replace(window, batch=tuple(min(n, 1) for n in batch), channels=min(channels, 1))
    return window


def give(draw: Draw, attributes: dict[str, Any], name: str, value: Any, default: bool) -> None:
    """Sets an attribute. If the value is the default, leaves the attribute out in half of the cases."""
    if not (default and chance(draw, 50)):
        attributes[name] = value


def ones(values: tuple[int, ...]) -> bool:
    return all(value == 1 for value in values)


def entries_of(value: Any, rank: int) -> tuple[int, ...]:
    """Returns one entry for each axis; a single number is used for all axes."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * rank


def pads_of_rule(
    rule: str, image: tuple[int, ...], kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...],
    crops: bool = False,
) -> tuple[Pairs, bool]:
    """Returns the pads that `rule` gives (VALID or SAME in any spelling), and whether the rule is a kind of SAME. With
    `crops`, pads may be negative."""
    if rule.lower() == "valid":
        return ((0, 0),) * len(image), False
    effective = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    axes = zip(image, effective, stride, strict=True)
    return tuple(_same(i, e, s, rule == "same_lower", not crops) for i, e, s in axes), True


def _same(image: int, effective: int, stride: int, lower: bool, clamp: bool) -> tuple[int, int]:
    """Returns the pads of SAME, for ceil(image / stride) positions. An odd sum gives one more pad at the end or, with
    `lower`, at the beginning."""
    total = (-(-image // stride) - 1) * stride + effective - image
    total = max(total, 0) if clamp else total
    begin = (total + lower) // 2 if total >= 0 else -(-total // 2)
    return begin, total - begin


def block_axis(draw: Draw, block: int, pads: bool, most: int) -> tuple[int, int, int, int]:
    """Returns the number of blocks on an axis, begin pad, end pad, and the extent: blocks * block - begin - end."""
    nothing = chance(draw, 3)
    count = 0 if nothing else number(draw, 20, 40) if chance(draw, 3) else number(draw, 1, most)
    begin = max(0, number(draw, -2, block + 1)) if pads else 0
    end = max(0, number(draw, -2, block + 1)) if pads else 0
    # Adds blocks until the pads leave an extent of at least 1 or, in the few cases with `nothing`, of at least 0.
    while count * block < begin + end + (not nothing):
        count += 1
    return count, begin, end, count * block - begin - end


def few(draw: Draw, zero: int = 4) -> int:
    return 0 if chance(draw, zero) else number(draw, 1, 3)

# SPDX-License-Identifier: Apache-2.0
"""Random settings of the operators that slide a kernel: fold and unfold under their names in each dialect."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from drawing import Draw, Setting, chance, number

Pairs = tuple[tuple[int, int], ...]
# A problem stays small enough that thousands run in seconds, and big enough that rows are split and vectorised.
MOST_ELEMENTS = 6000


@dataclass(frozen=True)
class Rules:
    symmetric: bool = False
    dilations: tuple[int, int] = (1, 3)
    same_pads: bool = False  # pads come from VALID or SAME, not from numbers
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


def _given(draw: Draw, attributes: dict[str, Any], name: str, value: Any, default: bool) -> None:
    """An attribute with its default value is left out in half of the cases."""
    if not (default and chance(draw, 50)):
        attributes[name] = value


def _ones(values: tuple[int, ...]) -> bool:
    return all(value == 1 for value in values)


def torch_windows(draw: Draw, op: str) -> Setting:
    fold = op == "torch.fold"
    # Two axes are the only ones that torch has; patchfold takes others by the length of the lists.
    rank = number(draw, 1, 3) if chance(draw, 4) else 2
    rules = Rules(
        symmetric=True, no_positions=False, zero_channels=False, batch_axes=0 if chance(draw, 25) else 1
    )
    w = draw_window(draw, rank, rules)
    begins = tuple(begin for begin, _ in w.pads)

    def value(values: tuple[int, ...]) -> Any:
        alike = len(values) == 2 and values[0] == values[1]
        return values[0] if alike and chance(draw, 50) else values

    attributes: dict[str, Any] = {"output_size": value(w.image)} if fold else {}
    attributes["kernel_size"] = value(w.kernel)
    _given(draw, attributes, "dilation", value(w.dilation), _ones(w.dilation))
    _given(draw, attributes, "padding", value(begins), not any(begins))
    _given(draw, attributes, "stride", value(w.stride), _ones(w.stride))
    return Setting(attributes, w.columns if fold else w.first())


def onnx_col2im(draw: Draw, op: str) -> Setting:
    rank = (2, 2, 2, 1, 3, 4)[number(draw, 0, 5)]
    w = draw_window(draw, rank, Rules())
    begins, ends = tuple(b for b, _ in w.pads), tuple(e for _, e in w.pads)
    attributes: dict[str, Any] = {"image_shape": w.image, "block_shape": w.kernel}
    _given(draw, attributes, "dilations", w.dilation, _ones(w.dilation))
    _given(draw, attributes, "pads", begins + ends, not any(begins + ends))
    _given(draw, attributes, "strides", w.stride, _ones(w.stride))
    return Setting(attributes, w.columns)


def openvino_col2im(draw: Draw, op: str) -> Setting:
    w = draw_window(draw, 2, Rules(dilations=(0, 3), batch_axes=0 if chance(draw, 25) else 1))
    begins, ends = tuple(b for b, _ in w.pads), tuple(e for _, e in w.pads)
    attributes: dict[str, Any] = {"output_size": w.image, "kernel_size": w.kernel}
    _given(draw, attributes, "strides", w.stride, _ones(w.stride))
    _given(draw, attributes, "dilations", w.dilation, _ones(w.dilation))
    _given(draw, attributes, "pads_begin", begins, not any(begins))
    _given(draw, attributes, "pads_end", ends, not any(ends))
    return Setting(attributes, w.columns)


def openvino_patches(draw: Draw, op: str) -> Setting:
    w = draw_window(draw, 2, Rules(same_pads=True, zero_extents=True))
    rule = ("same_upper", "same_lower")[number(draw, 0, 1)] if w.same else "valid"
    return Setting({"sizes": w.kernel, "strides": w.stride, "rates": w.dilation, "auto_pad": rule}, w.first())


def tensorflow_patches(draw: Draw, op: str) -> Setting:
    volume = op.endswith("VolumePatches")
    w = draw_window(draw, 3 if volume else 2, Rules(
        same_pads=True, zero_extents=True, dilations=(1, 1) if volume else (1, 3)))
    attributes: dict[str, Any] = {"ksizes": (1, *w.kernel, 1), "strides": (1, *w.stride, 1)}
    if not volume:
        attributes["rates"] = (1, *w.dilation, 1)
    attributes["padding"] = "SAME" if w.same else "VALID"
    return Setting(attributes, w.last())

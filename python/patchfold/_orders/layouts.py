# SPDX-License-Identifier: Apache-2.0
"""How systems lay out the columns of an image: which axes hold batches, channels, taps and positions, and in which order.

Every relation of an image and its columns is one index map: columns[b, c, taps, positions] = image[b, c, coordinates], with
coordinate = position * stride + tap * dilation - pad. A layout says on which axes of the columns these digits lie.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

Shape = tuple[int, ...]
Digit = tuple[str, int]
"""("b", i), ("c", 0), ("k", i) or ("p", i): an index on batch axis i, the channel, a tap or a position on spatial axis i."""

SPATIAL = {1: "x", 2: "hw", 3: "dhw"}


@dataclass(frozen=True)
class ImageLayout:
    """Which axes of an image are batch, channels and spatial."""

    batch: Shape
    channels: int
    spatial: Shape
    place: str
    """Of the channels: "first", "last", or "none" where no axis holds them."""

    def canonical(self, shape: Shape) -> tuple[Shape, Shape]:
        """The axes of an image of this shape in the order (batch.., channel, spatial..), and their extents."""
        axes = tuple(range(len(shape)))
        if self.place == "last":
            axes = (*axes[: len(self.batch)], axes[-1], *axes[len(self.batch) : -1])
        return axes, (*self.batch, self.channels, *self.spatial)


def image_layouts(shape: Shape) -> list[ImageLayout]:
    """Every way to read the axes of an image, the likeliest first: two spatial axes, at most one batch axis."""
    found = []
    for rank, place in itertools.product((2, 3, 1), ("first", "last", "none")):
        batch = len(shape) - rank - (place != "none")
        if batch < 0:
            continue
        rest = shape[batch:]
        channels = 1 if place == "none" else rest[0] if place == "first" else rest[-1]
        spatial = rest[1:] if place == "first" else rest[:-1] if place == "last" else rest
        # Four axes are a batch of pictures, five one of volumes, three one picture with channels.
        likely = (batch > 1, place == "none", len(shape) - 2 != rank and len(shape) != 3)
        found.append((likely, ImageLayout(shape[:batch], channels, spatial, place)))
    return [layout for _, layout in sorted(found, key=lambda each: each[0])]


@dataclass(frozen=True)
class ColumnLayout:
    """The axes of columns. `axes` is a text: b, c, k and p are the digits of batches, channels, taps and positions, each
    axis by itself or, in brackets, merged; K and P are merged with the first spatial axis running fastest."""

    axes: str
    order: str
    """Of a patch: "channel" (row = channel * taps + tap), "kernel" (row = tap * channels + channel), or "column" (as
    channel, with taps down the columns first)."""

    def digits(self, image: ImageLayout) -> list[list[Digit]]:
        """The digits of each axis, the slowest first. Where the image has no channels, they are left out."""
        channels = 0 if image.place == "none" else 1

        def of(letter: str) -> list[Digit]:
            places = range({"b": len(image.batch), "c": channels}.get(letter, len(image.spatial)))
            return [(letter.lower(), i) for i in (reversed(places) if letter.isupper() else places)]

        axes: list[list[Digit]] = []
        for merged, alone in re.findall(r"\(([^)]*)\)|(\w)", self.axes):
            if alone:
                axes += [[digit] for digit in of(alone)]  # none for what the image has not
            else:
                axes.append([digit for letter in merged.split() for digit in of(letter)])
        return axes

    def text(self, image: ImageLayout) -> str:
        """The axes in words as einops has them: "b (c kh kw) (h w)"."""

        def name(digit: Digit) -> str:
            kind, i = digit
            if kind in "bc":
                return kind if kind == "c" or len(image.batch) == 1 else f"b{i}"
            return ("k" if kind == "k" else "") + SPATIAL[len(image.spatial)][i]

        words = [(len(digits), " ".join(map(name, digits))) for digits in self.digits(image)]
        return " ".join(word if count == 1 else f"({word})" for count, word in words)


LAYOUTS = (
    ColumnLayout("b (c k) (p)", "channel"),
    ColumnLayout("b (k c) (p)", "kernel"),
    ColumnLayout("b (p) (c k)", "channel"),
    ColumnLayout("b (p) (k c)", "kernel"),
    ColumnLayout("b (c k) p", "channel"),
    ColumnLayout("b (k c) p", "kernel"),
    ColumnLayout("b p (c k)", "channel"),
    ColumnLayout("b p (k c)", "kernel"),
    ColumnLayout("(k b) c p", "kernel"),
    ColumnLayout("(k b) p c", "kernel"),
    ColumnLayout("b (c K) (P)", "column"),
    ColumnLayout("(b p) (c k)", "channel"),
    ColumnLayout("(b p) (k c)", "kernel"),
    ColumnLayout("(b p) c k", "channel"),
    ColumnLayout("(b p) k c", "kernel"),
    ColumnLayout("b c p k", "channel"),
    ColumnLayout("b p c k", "channel"),
    ColumnLayout("b p k c", "kernel"),
    ColumnLayout("b (p) c k", "channel"),
    ColumnLayout("b (p) k c", "kernel"),
)
"""The layouts that are looked for, the likeliest first."""


@dataclass(frozen=True)
class Extents:
    """The extents of all digits."""

    kernel: Shape
    positions: Shape

    def of(self, digit: Digit, image: ImageLayout) -> int:
        kind, i = digit
        return {"b": image.batch, "c": (image.channels,), "k": self.kernel, "p": self.positions}[kind][i]


def products(shape: Shape, image: ImageLayout, axes: Sequence[Sequence[Digit]]) -> list[tuple[int, list[Digit]]] | None:
    """For each axis that holds taps or positions their product, and these digits; None if the extents are others."""
    if len(axes) != len(shape):
        return None
    found = []
    for extent, digits in zip(shape, axes, strict=True):
        known = prod(image.batch[i] if kind == "b" else image.channels for kind, i in digits if kind in "bc")
        unknown = [digit for digit in digits if digit[0] in "kp"]
        if known < 1 or extent < 1 or extent % known != 0 or (not unknown and extent != known):
            return None
        if unknown:
            found.append((extent // known, unknown))
    return found


@functools.lru_cache(maxsize=4096)
def divisors(number: int) -> Shape:
    """All divisors of a number, in ascending order."""
    small = [i for i in range(1, math.isqrt(number) + 1) if number % i == 0]
    return tuple(sorted({*small, *(number // i for i in small)}))

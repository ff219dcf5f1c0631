# SPDX-License-Identifier: Apache-2.0
"""The layouts of columns in all systems: the axes of batches, channels, taps and positions, and their order.

The relation between an image and its columns is an index map: columns[b, c, taps, positions] = image[b, c, coordinates],
with coordinate = position * stride + tap * dilation - pad. A layout names the axes of the columns on which these indices
lie.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from .index_map import Shape

Kind = tuple[str, int]
"""("b", i), ("c", 0), ("k", i) or ("p", i): the index along batch axis i, of the channel, or of a tap or a position along
spatial axis i."""
Axes = tuple[tuple[Kind, ...], ...]
"""The indices that each axis of columns counts, the slowest first."""


def letters(rank: int) -> str:
    """Returns a letter for each of `rank` spatial axes."""
    return {1: "x", 2: "hw", 3: "dhw"}.get(rank, "hijklmno")


@dataclass(frozen=True)
class ImageLayout:
    """The roles of the axes of an image: batch, channels and spatial axes."""

    batch: Shape
    channels: int
    spatial: Shape
    place: str
    """The place of the channels: "first", "last", or "none" if no axis holds them."""

    def axis_of(self, kind: Kind) -> int:
        """Returns the axis of the image along which an index counts; -1 for channels that no axis holds."""
        word, i = kind
        if word == "b":
            return i
        if word == "c":
            return {"first": len(self.batch), "last": len(self.batch) + len(self.spatial), "none": -1}[self.place]
        return len(self.batch) + (self.place == "first") + i

    def spread(self, letter: str) -> tuple[Kind, ...]:
        """Returns the indices of a letter ("b", "c", "k" or "p"), one for each axis; the capitals "K" and "P" give the
        indices of "k" and "p" in reverse order."""
        count = {"b": len(self.batch), "c": int(self.place != "none")}.get(letter, len(self.spatial))
        kinds = tuple((letter.lower(), i) for i in range(count))
        return kinds[::-1] if letter.isupper() else kinds

    def text(self, axes: Axes) -> str:
        """Returns axes in einops' notation: "b (c kh kw) (h w)"."""

        def name(kind: Kind) -> str:
            word, i = kind
            if word in "bc":
                return word if word == "c" or len(self.batch) == 1 else f"b{i}"
            return ("k" if word == "k" else "") + letters(len(self.spatial))[i]

        return " ".join(grouped([name(kind) for kind in axis]) for axis in axes)


def grouped(names: list[str]) -> str:
    """Returns the names on one axis in einops' notation."""
    return names[0] if len(names) == 1 else "(" + " ".join(names) + ")" if names else "1"


def image_layouts(shape: Shape) -> list[ImageLayout]:
    """Returns the possible layouts of an image, the most likely first: two spatial axes, at most one batch axis."""
    found = []
    for rank, place in itertools.product((2, 3, 1, *range(4, len(shape) + 1)), ("first", "last", "none")):
        batch = len(shape) - rank - (place != "none")
        if batch < 0:
            continue
        rest = shape[batch:]
        channels = 1 if place == "none" else rest[0] if place == "first" else rest[-1]
        spatial = rest[1:] if place == "first" else rest[:-1] if place == "last" else rest
        # Four axes are probably a batch of pictures, five axes a batch of volumes, three axes one picture with channels.
        likely = (rank > 3, batch > 1, place == "none", len(shape) - 2 != rank and len(shape) != 3)
        found.append((likely, ImageLayout(shape[:batch], channels, spatial, place)))
    return [layout for _, layout in sorted(found, key=lambda each: each[0])]


@dataclass(frozen=True)
class ColumnLayout:
    """The axes of columns. `axes` is a text in which b, c, k and p are the indices of batches, channels, taps and positions.
    Each index has an axis of its own or, in brackets, shares one. The capitals K and P stand for taps and positions with the
    spatial axes reversed: the first axis runs fastest."""

    axes: str
    order: str
    """The order of a patch: "channel" (row = channel * taps + tap), "kernel" (row = tap * channels + channel), or "column"
    (like channel, with taps down the columns first)."""

    def of(self, image: ImageLayout) -> Axes:
        """Returns the indices of each axis, without the channel's if no axis of the image holds channels."""
        axes: list[tuple[Kind, ...]] = []
        for merged, alone in re.findall(r"\(([^)]*)\)|(\w)", self.axes):
            if alone:
                axes += [(kind,) for kind in image.spread(alone)]  # an index that the image lacks adds no axis
            else:
                axes.append(tuple(kind for letter in merged.split() for kind in image.spread(letter)))
        return tuple(axes)


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
"""The layouts that have a name, the likeliest first."""

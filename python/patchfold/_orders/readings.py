# SPDX-License-Identifier: Apache-2.0
"""Reads an index map as columns of an image: finds the indices of batch, channel, taps and positions, and the geometry."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from .index_map import Digit, IndexMap, Shape
from .layouts import LAYOUTS, Axes, ColumnLayout, ImageLayout, Kind, image_layouts


class Found(NamedTuple):
    """A relation of image and columns: layouts and geometry, with a list of the parts that the columns do not show
    (`open`)."""

    image: ImageLayout
    axes: Axes
    order: str
    """The order of a patch, as in ColumnLayout."""
    layout: str
    """The text of a layout in LAYOUTS; "" for other layouts."""
    kernel: Shape
    positions: Shape
    stride: Shape
    dilation: Shape
    padding: tuple[tuple[int, int], ...]
    open: tuple[str, ...]

    def extent(self, kind: Kind) -> int:
        """Returns the number of values of an index."""
        word, i = kind
        return {"b": self.image.batch, "c": (self.image.channels,), "k": self.kernel, "p": self.positions}[word][i]

    def spatial_axes(self) -> list[int]:
        """Returns the spatial axes of the image."""
        return [self.image.axis_of(kind) for kind in self.image.spread("p")]

    def crops(self) -> bool:
        """Returns whether the image is cropped before it is cut."""
        return any(min(pads) < 0 for pads in self.padding)

    def seen(self, letters: str) -> list[Kind]:
        """Returns the indices of more than one value, in the order of the given letters: b, c, k, p."""
        return [kind for letter in letters for kind in self.image.spread(letter) if self.extent(kind) > 1]

    def sequence(self) -> list[Kind]:
        """Returns the indices of more than one value, in the order of the columns."""
        return [kind for axis in self.axes for kind in axis if self.extent(kind) > 1]

    def is_batched(self) -> bool:
        """Returns whether the patches are blocks that fill the padded image, with their elements on the batch axis."""
        axes = zip(self.kernel, self.positions, self.image.spatial, self.padding, self.dilation, self.stride, strict=True)
        fills = all(
            kernel * count == extent + sum(pads) and min(pads) >= 0 and dilation == 1 and (count == 1 or stride == kernel)
            for kernel, count, extent, pads, dilation, stride in axes
        )
        beside_taps = self.layout.startswith("(k b)") or any(word == "b" for word, _ in self.column())
        return fills and beside_taps and len(self.image.batch) == 1 and self.image.place != "none"

    def is_split(self, *, of_crop: bool = False) -> bool:
        """Returns whether each element of the image is in exactly one patch, once. of_crop: whether the image may be cropped
        before, by negative padding."""
        cut = zip(self.positions, self.kernel, self.stride, self.dilation, self.image.spatial, self.padding, strict=True)
        return all(
            count * kernel == extent + sum(pads)
            and (pads == (0, 0) or (of_crop and max(pads) <= 0))
            and (dilation == 1 if stride == kernel or count == 1 else (stride, dilation) == (1, count))
            for count, kernel, stride, dilation, extent, pads in cut
        )

    def is_blocks(self) -> bool:
        """Returns whether the patches are blocks that fill the image, so that each element moves once."""
        return self.is_split() and max(self.dilation) == 1

    def oddity(self) -> int:
        """Returns a number that grows with unlikely features of the geometry: dilation, gaps between patches, more taps than
        positions, large or negative pads."""
        reach = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation, strict=True)]
        return (
            2 * any(step > 1 for step in self.dilation)
            + 2 * any(step > 4 for step in self.dilation)
            + 2 * any(s > r and p > 1 for s, r, p in zip(self.stride, reach, self.positions, strict=True))
            + 2 * any(min(pad) < 0 or max(pad) >= r for pad, r in zip(self.padding, reach, strict=True))
            + 3 * (prod(self.kernel) > prod(self.positions))
            - 3 * self.is_blocks()
        )

    def is_apart(self) -> bool:
        """Returns whether no axis of the columns counts both taps and positions."""
        return all(len({word for word, _ in axis} & {"k", "p"}) < 2 for axis in self.axes)

    def is_flat(self) -> bool:
        """Returns whether the positions of several spatial axes are on one axis."""
        return any(sum(word == "p" for word, _ in axis) > 1 for axis in self.axes)

    def column(self) -> tuple[Kind, ...]:
        """Returns the indices on the axis that holds all taps; () if taps lie on several axes, or in another order."""
        taps = self.seen("k")
        for axis in self.axes:
            seen = tuple(kind for kind in axis if self.extent(kind) > 1)
            if [kind for kind in seen if kind[0] == "k"] == taps:
                return seen
        return ()

    def is_plain(self) -> bool:
        """Returns whether the columns hold each patch on one axis, alone or with the channels, in an order that a function
        of patchfold makes."""
        if self.layout.startswith("(k b)"):
            return self.is_batched()
        column, sequence = self.column(), self.sequence()
        beside = [kind for kind in column if kind[0] != "k"]
        if not column or len(beside) > 1 or (beside and beside[0] not in (column[0], column[-1])):
            return False
        axes = [[kind for kind in axis if self.extent(kind) > 1] for axis in self.axes]
        grid = [axis for axis in axes if any(word == "p" for word, _ in axis)]
        positions = self.seen("p")
        if [kind for axis in grid for kind in axis] != positions or len(grid) not in (0, 1, len(positions)):
            return False
        if self.is_split() and any(step > 1 for step in self.dilation):
            return False
        if beside:
            return beside[0][0] == "c" or (column[-1] == beside[0] and self.is_batched() and not self.is_flat())
        return self.image.channels == 1 or sequence.index(("c", 0)) + 1 == sequence.index(column[0])


def readings(map: IndexMap) -> Iterator[Found]:
    """Yields the ways to read a map as columns of an image, the likeliest first: in layouts that have a name, then in
    others."""
    images = image_layouts(map.source)
    for image in images:
        fitting = [found for layout in LAYOUTS if (found := _read(map, image, layout.of(image), layout))]
        # Where taps and positions may be exchanged, both readings fit, and the likelier one is taken.
        yield from sorted(fitting, key=lambda found: (not found.is_batched(), found.oddity()))[:1]
    places = map.places()
    others = []
    for image in images:
        spatial = [image.axis_of(kind) for kind in image.spread("p")]
        if not all(len(digits) == 2 if axis in spatial else len(digits) < 2 for axis, digits in enumerate(places)):
            continue
        for taps in (
            [0] * len(spatial),
            [1] * len(spatial),
            [int(places[axis][1].step < places[axis][0].step) for axis in spatial],
        ):
            found = _read(map, image, _roles(map, image, dict(zip(spatial, taps, strict=True))))
            others += [found] if found else []
    yield from sorted(others, key=lambda found: (not found.is_plain(), found.oddity()))


def _roles(map: IndexMap, image: ImageLayout, taps: dict[int, int]) -> Axes:
    """Returns the indices of each axis of the result. taps: for each spatial axis, which of its two digits counts taps: 0 or
    1."""
    met = dict.fromkeys(taps, 0)
    kept = {image.axis_of(kind): kind for kind in (*image.spread("b"), *image.spread("c"))}
    axes: list[list[Kind]] = []
    for digits in map.digits:
        axes.append([])
        for axis in (digit.axis for digit in digits):
            if axis in kept:
                axes[-1].append(kept[axis])
            else:
                axes[-1].append(("k" if met[axis] == taps[axis] else "p", list(taps).index(axis)))
                met[axis] += 1
    return tuple(tuple(axis) for axis in axes)


def _read(map: IndexMap, image: ImageLayout, axes: Axes, layout: ColumnLayout | None = None) -> Found | None:
    """Returns the relation of image and columns if each axis of the result counts the indices that `axes` gives it, and None
    otherwise. Indices of one value do not matter."""
    text, order = (layout.axes, layout.order) if layout else ("", "")
    if order == "column" and image.place != "none" or image.channels == 1 and "(k c)" in text:
        return None  # With one channel, (k c) is (c k).
    if len(axes) != len(map.shape) or (layout and not all(axes)):
        return None
    held: dict[Kind, Digit] = {}
    for wanted, digits in zip(axes, map.digits, strict=True):
        left = iter(wanted)
        for digit in digits:
            kind = next((kind for kind in left if image.axis_of(kind) == digit.axis), None)
            if kind is None:
                return None
            held[kind] = digit
    for kind in (*image.spread("b"), *image.spread("c")):
        axis = image.axis_of(kind)
        extent = map.source[axis]
        if map.begins[axis] != 0 or held.get(kind) != (Digit(extent, axis, 1) if extent > 1 else None):
            return None
    cut = [
        _axis(held.get(("p", i)), held.get(("k", i)), map.begins[image.axis_of(("k", i))], extent, text.startswith("(k b)"))
        for i, extent in enumerate(image.spatial)
    ]
    whole = [axis for axis in cut if axis is not None]
    if len(whole) < len(cut) or all(axis.kernel == 1 for axis in whole):
        return None
    if not order:
        words = [word for axis in axes for word, _ in axis]
        order = "kernel" if "c" in words and words.index("k") < words.index("c") else "channel"
    unseen = tuple(f"the stride of axis {i}, which has one position" for i, axis in enumerate(whole) if axis.positions == 1)
    kernel, positions = tuple(axis.kernel for axis in whole), tuple(axis.positions for axis in whole)
    stride, dilation = tuple(axis.stride for axis in whole), tuple(axis.dilation for axis in whole)
    return Found(image, axes, order, text, kernel, positions, stride, dilation, tuple(axis.pads for axis in whole), unseen)


class _Axis(NamedTuple):
    kernel: int
    positions: int
    stride: int
    dilation: int
    pads: tuple[int, int]


def _axis(position: Digit | None, tap: Digit | None, origin: int, extent: int, least_pads: bool) -> _Axis | None:
    """Returns the geometry of a spatial axis: coordinate = position * stride + tap * dilation + origin."""
    kernel, dilation = (tap.extent, tap.step) if tap else (1, 1)
    begin = -origin
    slack = extent + begin - ((kernel - 1) * dilation + 1)
    count, stride = (position.extent, position.step) if position else (1, max(slack + 1, kernel if begin == 0 else 1, 1))
    if stride < 1 or dilation < 1:
        return None
    least = (count - 1) * stride - slack
    # `stride` different pads at the end give the same number of positions. The likeliest pad is taken: as many elements as
    # at the beginning if possible, or else 0. space_to_batch accepts only the smallest pad.
    end = max(least, 0) if least > -stride else least
    if least <= begin < least + stride and not least_pads:
        end = begin
    return _Axis(kernel, count, stride, dilation, (begin, end))

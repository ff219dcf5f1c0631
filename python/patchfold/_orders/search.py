# SPDX-License-Identifier: Apache-2.0
"""The search for the layout and the geometry that turn an image into columns."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .layouts import LAYOUTS, ColumnLayout, Digit, ImageLayout, divisors, image_layouts, products
from .names import Found

_MOST_TRIES = 6000
_SAMPLES = 96
_OUTSIDE, _AMBIGUOUS = -1, -2

Indices = npt.NDArray[np.int64]


def indices_of(image: npt.NDArray[Any], columns: npt.NDArray[Any]) -> tuple[Indices | None, str]:
    """For each element of the columns the element of the image that has its value: -1 for what can only be padding, -2 for
    what may be several. Or None, and why."""
    values, wanted = image.reshape(-1), columns.reshape(-1)
    if values.dtype != wanted.dtype:
        kind = wanted.dtype if wanted.dtype.kind in "fc" and values.dtype.kind in "biuf" else np.result_type(values, wanted)
        values, wanted = values.astype(kind), wanted.astype(kind)
    unique, first, counts = np.unique(values, return_index=True, return_counts=True)
    place = np.minimum(np.searchsorted(unique, wanted), unique.size - 1)
    near = unique[place]
    hit = (near == wanted) | ((near != near) & (wanted != wanted))
    indices = np.where(hit, np.where(counts[place] == 1, first[place], _AMBIGUOUS), _OUTSIDE).astype(np.int64)
    strange = wanted[~hit]
    if strange.size and not bool(((strange == strange[0]) | ((strange != strange) & (strange[0] != strange[0]))).all()):
        other = strange[strange != strange[0]]
        examples = f"{strange[0]} and {other[0] if other.size else strange[0]}"
        return None, (
            f"{strange.size} of {wanted.size} elements of columns are nowhere in image, such as {examples}: "
            "they are sums, or come from another image."
        )
    # Padding may hold a number that the image holds too: 0, or what the columns have most of.
    indices[wanted == 0] = _AMBIGUOUS if not strange.size else indices[wanted == 0]
    known = indices[indices >= 0]
    if known.size and not strange.size:
        often = int(np.bincount(known).argmax()) if values.size <= 1 << 24 else int(known[0])
        indices[indices == often] = _AMBIGUOUS
    return indices, ""


class _Axis(NamedTuple):
    """The geometry of a spatial axis, and what of it the columns do not show."""

    stride: int
    dilation: int
    pads: tuple[int, int]
    unseen: str


class Search:
    """Goes through the layouts of image and columns, works out the geometry from a sample, and compares every element."""

    def __init__(self, image: npt.NDArray[Any], columns: npt.NDArray[Any], indices: Indices) -> None:
        self._image = image
        self._columns = columns
        self._known = np.flatnonzero(indices >= 0)
        self._tries = 0
        step = max(1, self._known.size // _SAMPLES)
        rng = np.random.default_rng(0)
        some = rng.integers(0, max(self._known.size, 1), _SAMPLES // 2)
        sample = np.unique(np.concatenate([self._known[::step][: 2 * _SAMPLES], self._known[some[: self._known.size]]]))
        self._targets = indices.reshape(-1)[sample]
        self._at = np.unravel_index(sample, columns.shape)

    def reason(self) -> str:
        if self._known.size < 4:
            return "Too few elements of image differ to tell: take one whose elements all differ, np.arange(n).reshape(..)."
        if self._tries > _MOST_TRIES:
            return "The search was given up: these extents have too many factors. A smaller image has the same order."
        return "Its elements are all there, but in another order, or cut in another way."

    def run(self) -> Found | None:
        if self._known.size < 4:
            return None
        for image in image_layouts(self._image.shape):
            axes, extents = image.canonical(self._image.shape)
            at = np.unravel_index(self._targets, self._image.shape)
            canonical = [at[axis] for axis in axes]
            if image.place == "none":
                canonical.insert(len(image.batch), np.zeros_like(canonical[0]))
            fitting: list[Found] = []
            for layout in LAYOUTS:
                if image.channels == 1 and "(k c)" in layout.axes:
                    continue  # the same as (c k)
                found = self._fit(image, layout, canonical)
                if found is not None:
                    fitting.append(found)
                    # With one channel, taps and positions may change places: each of both readings fits.
                    if image.channels > 1:
                        break
                if self._tries > _MOST_TRIES:
                    break
            if fitting:
                return min(fitting, key=Found.oddity)
            if self._tries > _MOST_TRIES:
                return None
        return None

    def _fit(self, image: ImageLayout, layout: ColumnLayout, canonical: list[Indices]) -> Found | None:
        if layout.order == "column" and image.place != "none":
            return None
        axes = layout.digits(image)
        if not all(axes):
            return None
        found = products(self._columns.shape, image, axes)
        if found is None or not self._shared_fit(image, axes, canonical):
            return None
        for candidate in self._candidates(image, layout, axes, found, canonical):
            checked = self.checked(candidate)
            if checked is not None:
                return checked
        return None

    def _candidates(
        self,
        image: ImageLayout,
        layout: ColumnLayout,
        axes: list[list[Digit]],
        found: list[tuple[int, list[Digit]]],
        canonical: list[Indices],
    ) -> Iterator[Found]:
        """Geometries that agree with the sample. The extents of merged digits are chosen axis by axis, that of the fastest
        digits first: they decide its geometry, whatever the slower ones are."""
        rank = len(image.spatial)
        order = range(rank) if layout.order == "column" else range(rank - 1, -1, -1)
        fixed = {digits[0]: product for product, digits in found if len(digits) == 1}
        left = {digits[0][0]: product for product, digits in found if len(digits) > 1}

        def grown(step: int, known: dict[Digit, int], left: dict[str, int], solved: dict[int, _Axis]) -> Iterator[Found]:
            if step == rank:
                kernel, positions = (tuple(known[kind, i] for i in range(rank)) for kind in "kp")
                if prod(kernel) > 1:
                    each = [solved[i] for i in range(rank)]
                    unseen = tuple(axis.unseen for axis in each if axis.unseen)
                    stride, dilation = tuple(axis.stride for axis in each), tuple(axis.dilation for axis in each)
                    pads = tuple(axis.pads for axis in each)
                    yield Found(image, layout, kernel, positions, stride, dilation, pads, unseen)
                return
            i = order[step]
            for kernel_extent, count in self._extents(i, rank - step, fixed, left, image):
                self._tries += 1
                if self._tries > _MOST_TRIES:
                    return
                here = {**known, ("k", i): kernel_extent, ("p", i): count}
                axis = self._axis(image, layout, axes, here, i, canonical)
                if axis is not None:
                    rest = {kind: product // here[kind, i] for kind, product in left.items()}
                    yield from grown(step + 1, here, rest, {**solved, i: axis})

        yield from grown(0, {}, left, {})

    @staticmethod
    def _extents(
        i: int, axes_left: int, fixed: dict[Digit, int], left: dict[str, int], image: ImageLayout
    ) -> list[tuple[int, int]]:
        """Extents of the taps and the positions of an axis, the likeliest first: roots of the products."""

        def choices(kind: str) -> list[int]:
            if (kind, i) in fixed:
                return [fixed[kind, i]]
            return [left[kind]] if axes_left == 1 else list(divisors(left[kind]))

        def unlikely(pair: tuple[int, int]) -> float:
            wanted = [product ** (1 / axes_left) for product in (left.get("k", 1), left.get("p", 1))]
            return sum(
                abs(math.log(extent / wish)) for extent, wish, kind in zip(pair, wanted, "kp", strict=True) if kind in left
            )

        return sorted(itertools.product(choices("k"), choices("p")), key=unlikely)

    def _shared_fit(self, image: ImageLayout, axes: list[list[Digit]], canonical: list[Indices]) -> bool:
        """Whether batch and channel of the sample agree, whatever the factors of taps and positions are."""

        def of_image(digit: Digit) -> tuple[int, Indices]:
            kind, i = digit
            return (image.batch[i], canonical[i]) if kind == "b" else (image.channels, canonical[len(image.batch)])

        for at, digits, extent in zip(self._at, axes, self._columns.shape, strict=True):
            left = list(digits)
            while left and left[0][0] in "bc":  # the slowest: all behind it is its divisor
                size, wanted = of_image(left.pop(0))
                extent //= size
                if not np.array_equal(at // extent, wanted):
                    return False
                at = at % extent
            while left and left[-1][0] in "bc":
                size, wanted = of_image(left.pop())
                if not np.array_equal(at % size, wanted):
                    return False
                at = at // size
        return True

    def _digit(self, image: ImageLayout, axes: list[list[Digit]], known: dict[Digit, int], wanted: Digit) -> Indices:
        """A digit of the sample. Only the extents of faster digits on its axis matter."""
        place = next(place for place, digits in enumerate(axes) if wanted in digits)
        rest = self._at[place]
        for digit in reversed(axes[place]):
            kind, i = digit
            size = image.batch[i] if kind == "b" else image.channels if kind == "c" else known[digit]
            if digit == wanted:
                return rest % size
            rest = rest // size
        raise AssertionError(wanted)

    def _axis(
        self,
        image: ImageLayout,
        layout: ColumnLayout,
        axes: list[list[Digit]],
        known: dict[Digit, int],
        i: int,
        canonical: list[Indices],
    ) -> _Axis | None:
        """Stride, dilation and padding of an axis from coordinate = position * stride + tap * dilation - pad."""
        position, tap = (self._digit(image, axes, known, (kind, i)) for kind in "pk")
        solved = _solved(position, tap, canonical[len(image.batch) + 1 + i])
        if solved is None:
            return None
        stride, dilation, origin = solved
        extent, kernel, count = image.spatial[i], known["k", i], known["p", i]
        if kernel > 1 and (dilation is None or dilation < 1):
            return None  # If one tap alone lies inside, there is nothing to tell the others by.
        dilation = 1 if kernel == 1 or dilation is None else dilation
        begin = -origin
        slack = extent + begin - ((kernel - 1) * dilation + 1)
        unseen = ""
        if stride is None:
            if count > 1:
                return None
            stride = max(slack + 1, kernel if begin == 0 else 1, 1)
            unseen = f"the stride of axis {i}, which has one position"
        if stride < 1:
            return None
        least = (count - 1) * stride - slack
        # Any of `stride` numbers gives as many positions: equal pads are the likely ones, then none. space_to_batch alone
        # takes no more than it needs.
        end = max(least, 0) if least > -stride else least
        if least <= begin < least + stride and not layout.axes.startswith("(k b)"):
            end = begin
        return _Axis(stride, dilation, (begin, end), unseen)

    def checked(self, found: Found) -> Found | None:
        """The same with the fill of its padding, if every element of the columns is what it says."""
        reference = found.indices(self._image.shape)
        if reference is None or reference.shape != self._columns.shape:
            return None
        inside = reference >= 0
        values, wanted = self._image.reshape(-1), self._columns
        expected = values[np.maximum(reference, 0)]
        if expected.dtype != wanted.dtype:
            expected = expected.astype(wanted.dtype) if wanted.dtype.kind in "fc" else expected
        same = (expected == wanted) | ((expected != expected) & (wanted != wanted))
        if not bool((same | ~inside).all()):
            return None
        outside = wanted[~inside]
        if outside.size == 0:
            return found
        fill = outside[0]
        if not bool(((outside == fill) | ((outside != outside) & (fill != fill))).all()):
            return None
        return found._replace(fill=fill.item())

    def has_rival(self, found: Found) -> bool:
        """Whether the other order of the same geometry gives these columns, too."""
        swapped = {"channel": ("c k", "k c"), "kernel": ("k c", "c k")}.get(found.layout.order)
        if swapped is None or swapped[0] not in found.layout.axes:
            return False
        axes = found.layout.axes.replace(*swapped)
        rivals = [layout for layout in LAYOUTS if layout.axes == axes]
        return any(self.checked(found._replace(layout=rival)) is not None for rival in rivals)


def _solved(position: Indices, tap: Indices, coordinate: Indices) -> tuple[int | None, int | None, int] | None:
    """Integers with coordinate = position * stride + tap * dilation + origin for all elements; None for what does not change
    anywhere in the sample. Or None if there are no such integers."""
    unknown = [values for values in (position, tap) if values.min() != values.max()]
    matrix = np.stack([*unknown, np.ones_like(coordinate)], axis=1).astype(np.float64)
    solution, _, rank, _ = np.linalg.lstsq(matrix, coordinate.astype(np.float64), rcond=None)
    if rank < matrix.shape[1]:
        return None
    whole = np.rint(solution).astype(np.int64)
    if not np.array_equal(np.stack([*unknown, np.ones_like(coordinate)], axis=1) @ whole, coordinate):
        return None
    factors = iter(whole[:-1].tolist())
    fixed = {}
    for name, values in (("stride", position), ("dilation", tap)):
        fixed[name] = next(factors) if values.min() != values.max() else None
    # The coordinate of position 0 and tap 0: a digit that never changes has its part of the origin only where it is 0.
    at_zero = all(fixed[name] is not None or values.min() == 0 for name, values in (("stride", position), ("dilation", tap)))
    return (fixed["stride"], fixed["dilation"], int(whole[-1])) if at_zero else None

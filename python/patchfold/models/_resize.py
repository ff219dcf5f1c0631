# SPDX-License-Identifier: Apache-2.0
"""The elements that ONNX's Resize and Upsample read along an axis, for every coordinate transformation and mode.

The place of element i lies at a * i + b of the input, with exact fractions a and b. Elements with a weight of 0 are
not read. Where a runtime rounds the scale, and the place lies where the elements change, the elements on both sides
count as read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ._spans import MOST_PERIOD, SAME, NoSpan, Taps, taps_of

HALF = Fraction(1, 2)
# A scale is written as the fraction with the least denominator from which its float32 was rounded.
MOST_DENOMINATOR = 1 << 12


def places_of(
    extent: int, length: int, factor: Any, part: tuple[float, float], settings: Mapping[str, Any], old: bool
) -> Taps:
    """Returns the taps along an axis of `extent` elements that becomes `length` elements.

    factor: the scale, or (numerator, denominator), or None for length / extent. part: the ends of the axis for
    tf_crop_and_resize. old: for the operators before version 11.
    """
    if extent == length and factor in (None, 1) and settings.get("coordinate_transformation_mode") != "tf_crop_and_resize":
        return SAME
    scale = _scale(extent, length, factor)
    mode = settings.get("mode", "nearest")
    transformation = settings.get("coordinate_transformation_mode", "half_pixel")
    rounding = settings.get("nearest_mode", "round_prefer_floor")
    if old:
        transformation, rounding = "asymmetric", "simple"
    slope, begin, exact = _place(transformation, extent, length, scale, part)
    if slope.denominator > MOST_PERIOD:
        raise NoSpan(f"repeats only after {slope.denominator} elements")
    rows = []
    for i in range(slope.denominator):
        x = slope * i + begin
        rows.append(_read(x, mode, rounding, scale, bool(settings.get("antialias", 0)), exact))
    return taps_of(slope.numerator, rows)


def _scale(extent: int, length: int, factor: Any) -> Fraction:
    if factor is None:
        return Fraction(length, extent)
    if isinstance(factor, tuple):
        return Fraction(*factor)
    return rounded(factor)


def rounded(number: float) -> Fraction:
    """Returns the simplest fraction whose float32 a number is."""
    simple = Fraction(number).limit_denominator(MOST_DENOMINATOR)
    return simple if np.float32(float(simple)) == np.float32(number) else Fraction(number)


def _place(
    transformation: str, extent: int, length: int, scale: Fraction, part: tuple[float, float]
) -> tuple[Fraction, Fraction, bool]:
    """Returns a and b of the places a * i + b, and whether runtimes compute the places without rounding."""
    exact = _is_dyadic(scale)
    if transformation in ("half_pixel", "pytorch_half_pixel") and not (
        length == 1 and transformation == "pytorch_half_pixel"
    ):
        return 1 / scale, HALF / scale - HALF, exact
    if transformation == "half_pixel_symmetric":
        shift = Fraction(extent, 2) * (1 - length / (scale * extent))
        return 1 / scale, shift + HALF / scale - HALF, exact
    if transformation == "asymmetric":
        return 1 / scale, Fraction(0), exact
    if transformation == "tf_half_pixel_for_nn":
        return 1 / scale, HALF / scale, exact
    if transformation == "pytorch_half_pixel":
        return Fraction(0), Fraction(0), True
    if transformation == "align_corners":
        slope = Fraction(extent - 1, length - 1) if length > 1 else Fraction(0)
        return slope, Fraction(0), _is_dyadic(slope)
    if transformation == "tf_crop_and_resize":
        start, end = (rounded(each) * (extent - 1) for each in part)
        if length == 1:
            return Fraction(0), (start + end) / 2, False
        return (end - start) / (length - 1), start, False
    raise ValueError(f"coordinate_transformation_mode: {transformation!r} is none")


def _is_dyadic(number: Fraction) -> bool:
    return number.denominator & (number.denominator - 1) == 0 and number.numerator & (number.numerator - 1) == 0


def _read(x: Fraction, mode: str, rounding: str, scale: Fraction, antialias: bool, exact: bool) -> list[int]:
    """Returns the elements that are read for the place x."""
    floor = math.floor(x)
    if mode == "nearest":
        candidates = {floor, math.ceil(x)} if rounding == "simple" and scale < 1 else {_nearest(x, rounding)}
        at_step = x == floor if rounding in ("floor", "ceil", "simple") else x == floor + HALF
        if at_step and not exact:
            candidates |= {floor, floor - 1, floor + 1} if x == floor else {floor, floor + 1}
        return sorted(candidates)
    radius = {"linear": 1, "bilinear": 1, "cubic": 2}.get(mode)
    if radius is None:
        raise ValueError(f"mode: {mode!r} is none")
    reach = radius / min(scale, Fraction(1)) if antialias else Fraction(radius)
    first, last = math.floor(x - reach), math.ceil(x + reach)
    if last - first > 1 << 16:
        raise NoSpan(f"reads {last - first} elements for one")
    strict = [j for j in range(first, last + 1) if abs(j - x) < reach]
    if not antialias and x == floor:
        strict = [floor]  # all other weights are 0
    if exact:
        return strict
    loose = [j for j in range(first, last + 1) if abs(j - x) <= reach]
    return loose if antialias or x == floor else strict


def _nearest(x: Fraction, rounding: str) -> int:
    floor = math.floor(x)
    if rounding in ("floor", "simple"):
        return floor
    if rounding == "ceil":
        return math.ceil(x)
    if rounding == "round_prefer_floor":
        return floor + (x - floor > HALF)
    if rounding == "round_prefer_ceil":
        return floor + (x - floor >= HALF)
    raise ValueError(f"nearest_mode: {rounding!r} is none")

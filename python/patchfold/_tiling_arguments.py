# SPDX-License-Identifier: Apache-2.0
"""Converts the arguments of a tiling to the form that the library takes."""

from __future__ import annotations

import math
import numbers
import operator
from fractions import Fraction
from typing import Any

import numpy as np

from ._arrays import given_text, value_text
from ._errors import InvalidType, InvalidValue
from ._views import first_entries, is_list

TILING = "tiling"
_LARGEST = 2**60


def wrong_type(argument: str, rule: str, value: Any) -> InvalidType:
    return InvalidType(operator=TILING, argument=argument, rule=rule, given=given_text(value))


def is_integer(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)) or getattr(value, "ndim", None):
        return False
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def _is_float(value: Any) -> bool:
    return issubclass(type(value), (float, np.floating))


def split_overlap(overlap: Any) -> tuple[Any, list[float]]:
    """Overlaps in elements, and as fractions; one of the two is empty."""
    if overlap is None:
        return None, []
    rule = "must be integers (elements) or floats (fractions of the tile), and not both"
    entries = first_entries(overlap) if is_list(overlap) else (overlap,)
    if entries is None:
        raise wrong_type("overlap", rule, overlap)
    real = list(map(_is_float, entries))
    if entries and all(real):
        return None, [float(entry) for entry in entries]
    if any(real) or not all(map(is_integer, entries)):
        raise wrong_type("overlap", rule, overlap)
    pixels = tuple(map(operator.index, entries))
    return (pixels if is_list(overlap) else pixels[0]), []


def fraction(value: Any, whole: Any) -> Fraction:
    """The simplest fraction that rounds to the float: the float 1 / 3 becomes the fraction 1/3."""
    rule = "must be a number greater than 0, or one for each tiled axis"
    if isinstance(value, (bool, np.bool_)):
        raise wrong_type("scale", rule, whole)
    if is_integer(value):
        ratio = Fraction(operator.index(value))
    elif issubclass(type(value), numbers.Rational):
        try:
            ratio = Fraction(int(value.numerator), int(value.denominator))
        except (TypeError, ValueError, ZeroDivisionError):
            raise wrong_type("scale", rule, whole) from None
    elif _is_float(value):
        number = float(value)
        if not math.isfinite(number):
            raise InvalidValue(operator=TILING, argument="scale", rule="must be greater than 0", given=str(number))
        exact = Fraction(number)
        near = exact.limit_denominator(10**6)
        ratio = near if float(near) == number else exact
    else:
        raise wrong_type("scale", rule, whole)
    if ratio <= 0:
        raise InvalidValue(operator=TILING, argument="scale", rule="must be greater than 0", given=value_text(value))
    if max(ratio.numerator, ratio.denominator) >= _LARGEST:
        raise InvalidValue(
            operator=TILING, argument="scale", rule="must be a fraction of numbers below 2**60", given=value_text(value)
        )
    return ratio


def tile_extents(tile: Any, axes: Any, shape: Any) -> Any:
    """The extents of a tile. A single number stands for every tiled axis, if their number is known."""
    if not is_integer(tile):
        return tile
    number = operator.index(tile)
    if axes is not None:
        return (number,) * _length(axes)
    if is_list(shape) and _length(shape) == 1:
        return (number,)
    raise InvalidType(
        operator=TILING,
        argument="tile",
        rule="a single number does not say how many axes are tiled",
        given=value_text(number),
        expected=f"({value_text(number)}, {value_text(number)}) for the last two axes, or axes",
    )


def _length(value: Any) -> int:
    return len(first_entries(value) or ()) if is_list(value) else 1


def number_of(value: Any) -> Any:
    """The number that a JSON text such as "nan" stands for, since JSON has no such number."""
    if not isinstance(value, str):
        return value
    try:
        return complex(value) if value.endswith("j") else float(value)
    except ValueError:
        raise InvalidValue(operator=TILING, argument="value", rule="must be a number", given=value) from None

# SPDX-License-Identifier: Apache-2.0
"""Converts the arguments of a tiling to the form that the library takes."""

from __future__ import annotations

import json
import math
import numbers
import operator
from fractions import Fraction
from typing import Any, cast

import numpy as np

from .._arguments import first_entries, is_integer, is_list, warn
from .._errors import InvalidType, InvalidValue, given_text, value_text

TILING = "tiling"
_LARGEST = 2**60
_BOX = "must have a slice without a step, or (start, stop), for each tiled axis"


def wrong_type(argument: str, rule: str, value: Any) -> InvalidType:
    return InvalidType(TILING, argument, rule, given_text(value))


def _is_float(value: Any) -> bool:
    return issubclass(type(value), (float, np.floating))


def split_overlap(overlap: Any) -> tuple[Any, list[float]]:
    """Returns overlaps in elements, and overlaps as fractions; one of the two results is empty."""
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


def split_margin(margin: Any) -> tuple[Any, Any]:
    """Returns the margins before the array and those behind it."""
    rule = "must be a number of elements, or for each tiled axis a number or (before, after)"
    if is_integer(margin):
        return margin, margin
    entries = first_entries(margin) if is_list(margin) else None
    pairs = [(each, each) if is_integer(each) else first_entries(each) if is_list(each) else None for each in entries or ()]
    if not pairs or not all(pair is not None and len(pair) == 2 and all(map(is_integer, pair)) for pair in pairs):
        raise wrong_type("margin", rule, margin)
    before, behind = zip(*cast(Any, pairs), strict=True)
    return before, behind


def ratios(scale: Any) -> list[Fraction]:
    """Returns the fractions that a scale stands for."""
    entries = first_entries(scale) if is_list(scale) else (scale,)
    if entries is None or isinstance(scale, (str, bytes)):
        raise wrong_type("scale", "must be a number greater than 0, or one for each tiled axis", scale)
    if not entries:
        raise InvalidValue(TILING, "scale", "must have an entry", "an empty list")
    return [fraction(each, scale) for each in entries]


def ask_for_axes(shape: tuple[int, ...], tiled: int) -> None:
    """Warns if the default axes may be wrong, since the last axis may hold bands: if two or more last axes are tiled, and
    the last is shorter than the other tiled axes and than the axis before them."""
    rank = len(shape)
    if tiled >= 2 and rank > tiled and shape[-1] < min(shape[rank - tiled - 1 : -1]):
        first = tuple(range(rank - tiled - 1, rank - 1))
        last = tuple(range(rank - tiled, rank))
        warn(
            f"patchfold: {TILING}: the last axis of {shape} is tiled, and is the shortest: give axes={first} if it holds "
            f"bands, axes={last} if not"
        )


def fraction(value: Any, whole: Any) -> Fraction:
    """Returns the simplest fraction that rounds to a float: the float 1 / 3 becomes the fraction 1/3."""
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
            raise InvalidValue(TILING, "scale", "must be greater than 0", str(number))
        exact = Fraction(number)
        near = exact.limit_denominator(10**6)
        ratio = near if float(near) == number else exact
    else:
        raise wrong_type("scale", rule, whole)
    if ratio <= 0:
        raise InvalidValue(TILING, "scale", "must be greater than 0", value_text(value))
    if max(ratio.numerator, ratio.denominator) >= _LARGEST:
        raise InvalidValue(TILING, "scale", "must be a fraction of numbers below 2**60", value_text(value))
    return ratio


def tile_extents(tile: Any, axes: Any, shape: Any) -> Any:
    """Returns the extents of a tile. A single number stands for every tiled axis, if the number of tiled axes is known."""
    if not is_integer(tile):
        return tile
    number = operator.index(tile)
    if axes is not None:
        return (number,) * _length(axes)
    if is_list(shape) and _length(shape) == 1:
        return (number,)
    expected = f"({value_text(number)}, {value_text(number)}) for the last two axes, or axes"
    raise InvalidType(TILING, "tile", "a single number does not say how many axes are tiled", value_text(number), expected)


def box_pairs(box: Any, output: tuple[int, ...], axes: tuple[int, ...]) -> list[tuple[int, int]]:
    """Returns a box of the output as (start, stop) for each tiled axis. A box beyond the output is an error and is not cut,
    since the caller has probably miscounted."""
    entries = (box,) if isinstance(box, slice) else first_entries(box) if is_list(box) else None
    if entries is None:
        raise wrong_type("box", _BOX, box)
    if len(entries) != len(output):
        raise InvalidValue(TILING, "box", _BOX, f"{len(entries)} entries", str(len(output)))
    return [_pair(entry, extent, axis) for entry, extent, axis in zip(entries, output, axes, strict=True)]


def _pair(entry: Any, extent: int, axis: int) -> tuple[int, int]:
    if isinstance(entry, slice):
        ends = (entry.start, entry.stop) if entry.step is None or is_one(entry.step) else None
    else:
        ends = first_entries(entry) if is_list(entry) else None
    if ends is None or len(ends) != 2 or not all(end is None or is_integer(end) for end in ends):
        raise wrong_type("box", _BOX, entry)
    start, stop = (default if end is None else operator.index(end) for end, default in zip(ends, (0, extent), strict=True))
    start, stop = (end + extent if end < 0 else end for end in (start, stop))
    if not 0 <= start <= stop <= extent:
        given = f"{value_text(entry)} along axis {axis}"
        raise InvalidValue(TILING, "box", "must lie in the output", given, f"from 0 to {extent}, start before stop")
    return start, stop


def is_one(step: Any) -> bool:
    return is_integer(step) and operator.index(step) == 1


def _length(value: Any) -> int:
    return len(first_entries(value) or ()) if is_list(value) else 1


def shown_arguments(native: Any, given: dict[str, Any]) -> list[str]:
    """Returns the arguments of a tiling that differ from the defaults, as they are written in a call."""
    shape, axes = native.shape, native.axes
    parts = [str(shape), str(native.tile), f"stride={native.stride}", f"tail={given['tail']!r}"]
    if axes != tuple(range(len(shape) - len(axes), len(shape))):
        parts.append(f"axes={tuple(given['axes'])}")
    is_padded = "pad" in given["tail"] or "align" in given or "margin" in given
    if is_padded and (given["padding_mode"] != "constant" or given["value"] != 0):
        parts += [f"padding_mode={given['padding_mode']!r}", f"value={given['value']!r}"]
    if any(ratio != [1, 1] for ratio in given["scale"]):
        parts.append(f"scale=({', '.join(str(Fraction(*ratio)) for ratio in given['scale'])},)")
    if any(given["offset"]):
        parts.append(f"offset={tuple(given['offset'])}")
    if given["result"] != [tile * ratio[0] / ratio[1] for tile, ratio in zip(native.tile, given["scale"], strict=True)]:
        parts.append(f"result={tuple(given['result'])}")
    if "align" in given:
        parts.append(f"align={tuple(given['align'])}")
    if "margin" in given:
        parts.append(f"margin={tuple(map(tuple, given['margin']))}")
    if native.output != tuple(-(-shape[axis] * n // d) for axis, (n, d) in zip(axes, given["scale"], strict=True)):
        parts.append(f"output={native.output}")
    return parts


def number_of(value: Any) -> Any:
    """Returns the number for a text such as "nan", since JSON lacks this number; any other value unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return complex(value) if value.endswith("j") else float(value)
    except ValueError:
        raise InvalidValue(TILING, "value", "must be a number", value) from None


def from_text(text: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the entries of the JSON text of a tiling, and the arguments that make the tiling."""
    if not isinstance(text, (str, bytes)):
        raise wrong_type("text", "must be JSON text", text)
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidValue(TILING, "text", f"must be JSON: {error}") from None
    required = ("shape", "axes", "tile", "stride", "tail", "padding_mode", "value", "scale", "offset", "result")
    if not isinstance(entries, dict) or any(name not in entries for name in required):
        rule = "must be an object with every entry of a tiling"
        raise InvalidValue(TILING, "text", rule, str(text)[:80], ", ".join(required))
    arguments = {name: entries[name] for name in required}
    try:
        # Only integers are read: a text or a float could stand for a fraction of very many digits.
        arguments["scale"] = [Fraction(*map(operator.index, ratio)) for ratio in entries["scale"]]
    except (TypeError, ValueError, ArithmeticError):
        raise InvalidValue(TILING, "scale", "must be a list of fractions", value_text(entries["scale"])) from None
    arguments["value"] = number_of(entries["value"])
    arguments |= {"align": entries.get("align", 1), "margin": entries.get("margin", 0), "output": entries.get("output")}
    return entries, arguments

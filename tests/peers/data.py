# SPDX-License-Identifier: Apache-2.0
"""Data of problems: ordinary numbers, terms whose sum depends on the order, and all special values of a type."""

import math
from typing import Any

import ml_dtypes
import numpy
from problem import DTYPES, Array

Generator = numpy.random.Generator

COMPLEX = {"complex64": "float32", "complex128": "float64"}
FLOATS = [name for name in DTYPES if "float" in name]
MOODS: dict[str, tuple[str, ...]] = {
    "float": ("rounding", "specials", "integers", "bits", "minus zeros"),
    "integer": ("bits", "small", "extremes"),
    "bool": ("coins", "rare"),
}


def kind_of(dtype: str) -> str:
    if dtype == "bool":
        return "bool"
    return "float" if dtype in FLOATS or dtype in COMPLEX else "integer"


def moods_of(dtype: str) -> tuple[str, ...]:
    return MOODS[kind_of(dtype)]


def fill(dtype: str, shape: tuple[int, ...], mood: str, seed: int) -> Array:
    """Returns an array of the element type `dtype`, with values of the kind `mood` (one of moods_of()). Equal arguments give
    equal bits."""
    random = numpy.random.default_rng([seed, *mood.encode()])
    target = DTYPES[dtype]
    count = math.prod(shape)
    if kind_of(dtype) == "bool":
        return (random.random(count) < (0.5 if mood == "coins" else 0.1)).reshape(shape)
    if kind_of(dtype) == "integer":
        return _integers(random, target, count, mood).reshape(shape)
    if dtype in COMPLEX:
        parts = _floats(random, DTYPES[COMPLEX[dtype]], 2 * count, mood)
        return parts.view(target).reshape(shape)
    return _floats(random, target, count, mood).reshape(shape)


def _bits(random: Generator, dtype: numpy.dtype[Any], count: int) -> Array:
    return numpy.frombuffer(random.bytes(count * dtype.itemsize), dtype=dtype).copy()


def _integers(random: Generator, dtype: numpy.dtype[Any], count: int, mood: str) -> Array:
    if mood == "bits":
        return _bits(random, dtype, count)
    if mood == "small":
        return random.integers(-5, 6, count).astype(dtype)
    limits = numpy.iinfo(dtype)
    choices = numpy.array([limits.min, limits.min + 1, 0, 1, limits.max - 1, limits.max], dtype=dtype)
    return random.choice(choices, count)


def _floats(random: Generator, dtype: numpy.dtype[Any], count: int, mood: str) -> Array:
    if mood == "bits":
        return _bits(random, dtype, count)
    if mood == "minus zeros":
        return numpy.full(count, -0.0).astype(dtype)
    if mood == "integers":
        return random.integers(-8, 9, count).astype(dtype)
    # Exponents from -8 to 8 make the last bits of a sum depend on the order of its terms; some terms also cancel.
    values = numpy.ldexp(random.uniform(-1, 1, count), random.integers(-8, 9, count)).astype(dtype)
    if mood == "specials":
        chosen = random.random(count) < 0.25
        values[chosen] = random.choice(specials(dtype), int(chosen.sum()))
    return values


def telling_data(dtype: str, shape: tuple[int, ...]) -> Array:
    """Returns numbers from 1 to 16 that differ from nearly all their neighbours; for booleans, True and False at random."""
    count = math.prod(shape)
    if kind_of(dtype) == "bool":
        return fill(dtype, shape, "coins", 1)
    # Every type can represent 1 to 16 exactly. Neighbours differ by 7 modulo 16. The 1 that is added after every 16 elements
    # makes neighbouring rows differ, even if the length of a row is a multiple of 16.
    numbers = 1 + (numpy.arange(count) * 7 + numpy.arange(count) // 16) % 16
    return numbers.astype(DTYPES[dtype]).reshape(shape)


def specials(dtype: numpy.dtype[Any]) -> Array:
    """Returns special values of a type with both signs: zero, the least subnormal and normal numbers, the largest number, 1,
    infinity and NaN."""
    limits: Any = ml_dtypes.finfo(dtype)
    with numpy.errstate(all="ignore"):
        values = [0.0, limits.smallest_subnormal, limits.smallest_normal, limits.max, 1.0]
        values += [math.inf, math.nan]
        positive = numpy.array([float(value) for value in values]).astype(dtype)
        negative = numpy.array([-float(value) for value in values]).astype(dtype)
    return numpy.concatenate([positive, negative])

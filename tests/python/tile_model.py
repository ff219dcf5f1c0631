# SPDX-License-Identifier: Apache-2.0
"""A model of tilings and merges, element by element in exact arithmetic. Shares no code with the library."""

import math
from fractions import Fraction
from itertools import product

import ml_dtypes
import numpy as np

WINDOWS = ("ones", "linear", "hann", "cosine", "gaussian", "tukey", "hamming")
TAILS = ("shift", "pad", "partial", "drop", "error")


FINITE = (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz)  # types without infinity


class Refused(Exception):
    """Raised if the layout is not valid."""


def spans(extent, tile, stride, tail, align, margin):
    """Returns (origin, start, end, extent) of each tile along an axis. The tile begins at origin, and reads the elements
    from start to end."""
    before, behind = margin
    if stride % align or before % align:
        raise Refused
    reach = max(extent + before + behind, 0) if extent else 0
    starts = []
    start = 0
    while start + tile <= reach:
        starts.append(start)
        start += stride
    reached = starts[-1] + tile if starts else 0
    if reached < reach and start < reach:  # otherwise no element is left, or the rest lies in a gap between tiles
        if tail == "error" or (tail == "shift" and tile > reach):
            raise Refused
        if tail == "shift":
            starts.append(next(each for each in range(reach - tile, reach) if each % align == 0))
        elif tail in ("pad", "partial"):
            starts.append(start)
    found = []
    for origin in (start - before for start in starts):
        begin, end = (min(max(each, 0), extent) for each in (origin, origin + tile))
        if tail == "partial":
            if origin >= extent:
                continue  # the tile lies in the margin behind the array
            if begin == end:
                raise Refused
            origin = begin
        found.append((origin, begin, end, end - begin if tail == "partial" else tile))
    return found


class Axis:
    """A tiled axis: the tiles, and the places of their results in the output."""

    def __init__(
        self, extent, tile, stride, tail, scale=Fraction(1), offset=0, result=None, align=1, margin=(0, 0), output=None
    ):
        self.tiles = spans(extent, tile, stride, tail, align, margin)
        self.output = math.ceil(extent * scale) if output is None else output
        self.result = int(tile * scale) if result is None else result
        self.starts, self.results = [], []
        if self.tiles and (margin[0] * scale).denominator != 1:
            raise Refused
        for start, _, _, length in self.tiles:
            at, cut = start * scale, (tile - length) * scale
            if at.denominator != 1 or cut.denominator != 1:
                raise Refused
            self.starts.append(int(at) + offset)
            self.results.append(self.result - int(cut))
        self.stride, self.scale = stride, scale

    def writes(self):
        """Returns the range (begin, end) of the output that each tile writes."""
        pairs = zip(self.starts, self.results, strict=True)
        return [(min(max(s, 0), self.output), max(min(max(s, 0), self.output), min(s + r, self.output))) for s, r in pairs]

    def covering(self, y):
        """Returns the tiles whose results cover element y."""
        return [k for k, (s, r) in enumerate(zip(self.starts, self.results, strict=True)) if s <= y < s + r]

    def nearest(self, y):
        """Returns the tile whose middle is nearest to element y; of two such tiles, the first."""
        covering = self.covering(y)
        middles = {k: self.starts[k] + Fraction(self.result, 2) for k in covering}
        return min(covering, key=lambda k: (abs(y + Fraction(1, 2) - middles[k]), k)) if covering else None


def weights_of(window, n, sigma=0.125):
    """Returns the float64 samples of a window, computed by its formula."""

    def at(i):
        t = (i + 0.5) / n
        if window == "linear":
            return 1 - abs(2 * t - 1)
        if window == "hann":
            return math.sin(math.pi * t) ** 2
        if window == "cosine":
            return math.sin(math.pi * t)
        if window == "gaussian":
            return max(math.exp(-(((t - 0.5) / sigma) ** 2) / 2), 2.0**-100)
        if window == "tukey":
            return math.sin(math.pi * t / 0.5) ** 2 if t < 0.25 else 1.0
        if window == "hamming":
            return 0.54 - 0.46 * math.cos(2 * math.pi * t)
        return 1.0

    return [at(min(i, n - 1 - i)) for i in range(n)]


class Format:
    """A floating-point format. round() rounds to the nearest number, and of two equally near numbers to the even one."""

    def __init__(self, precision, lowest, largest, infinite):
        self.precision, self.lowest, self.largest, self.infinite = precision, lowest, Fraction(largest), infinite

    def round(self, x):
        """Returns the nearest number of the format, as a Fraction; None if the number overflows to infinity."""
        if x == 0:
            return Fraction(0)
        exponent = math.floor(math.log2(abs(x.numerator))) - math.floor(math.log2(x.denominator))
        while Fraction(2) ** exponent > abs(x):
            exponent -= 1
        while Fraction(2) ** (exponent + 1) <= abs(x):
            exponent += 1
        unit = Fraction(2) ** (max(exponent, self.lowest) - self.precision + 1)
        rounded = Fraction(round(x / unit)) * unit  # Python rounds a Fraction to even
        if abs(rounded) > self.largest:
            return None if self.infinite else self.largest * (1 if x > 0 else -1)
        return rounded


def _float_format(dtype):
    info = ml_dtypes.finfo(dtype)
    return Format(info.nmant + 1, int(info.minexp), float(info.max), dtype not in FINITE)


class Integers:
    """An integer format, in which round() saturates; the integers of bool are 0 and 1."""

    def __init__(self, dtype):
        self.low, self.high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)

    def round(self, x):
        return Fraction(min(max(round(x), self.low), self.high))


def format_of(dtype):
    dtype = np.dtype(dtype)
    return Integers(dtype) if dtype.kind in "biu" else _float_format(dtype.type if dtype.kind == "V" else dtype)


class Merge:
    """The expected merge, for results that have tiled axes only."""

    def __init__(self, axes, tiles, *, weights=None, mask=None):
        """Takes the tiles' results in row-major order. `weights` maps a place in a tile's result to its weight."""
        self.axes, self.tiles = axes, tiles
        self.weights = weights or (lambda at: Fraction(1))
        self.mask = mask
        self.grid = [len(axis.tiles) for axis in axes]

    def terms(self, at):
        """Returns (index, place in the grid, value, weight) of each tile with a weight at an element, by ascending index."""
        found = []
        for place in product(*(axis.covering(y) for axis, y in zip(self.axes, at, strict=True))):
            index = 0
            for k, size in zip(place, self.grid, strict=True):
                index = index * size + k
            if self.mask is not None and not self.mask[index]:
                continue
            inside = tuple(y - axis.starts[k] for axis, y, k in zip(self.axes, at, place, strict=True))
            weight = self.weights(inside)
            if weight > 0:
                found.append((index, place, self.tiles[index][inside], weight))
        return found

    def selected(self, at, reduce):
        """Returns the value that the reduction first, last or center takes for an element of the output."""
        terms = self.terms(at)
        if reduce != "center":
            return terms[0 if reduce == "first" else -1][2]
        nearest = [axis.nearest(y) for axis, y in zip(self.axes, at, strict=True)]
        return min(terms, key=lambda t: (sum(abs(a - b) for a, b in zip(t[1], nearest, strict=True)), t[0]))[2]


def exact(value):
    return Fraction(int(value)) if np.asarray(value).dtype.kind in "biu" else Fraction(float(value))


def mean_bounds(terms, *, is_sum=False):
    """Returns the lower and the upper bound of a mean or sum before it is rounded to the type of the result."""
    total = Fraction(1) if is_sum else sum(weight for *_, weight in terms)
    value = sum(exact(x) * weight for *_, x, weight in terms) / total
    size = sum(abs(exact(x)) * weight for *_, x, weight in terms) / total
    bound = (2 * len(terms) + 2) * Fraction(1, 2**53) * size
    return value - bound, value + bound


def is_mean(result, terms, dtype, *, is_sum=False):
    """Returns whether a result is within the bounds of a mean, or of a sum."""
    low, high = mean_bounds(terms, is_sum=is_sum)
    kind = format_of(dtype)
    low, high = kind.round(low), kind.round(high)
    number = float(result) if np.asarray(result).dtype.kind not in "biu" else int(result)
    if isinstance(number, float) and not math.isfinite(number):
        edge = low if number < 0 else high
        return edge is None and not math.isnan(number)
    value = Fraction(number)
    return (low is None or low <= value) and (high is None or value <= high)

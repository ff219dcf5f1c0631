# SPDX-License-Identifier: Apache-2.0
"""Compares two results: whether their bits are equal, whether sums lie within a bound of rounding errors, or whether a
result is that of a narrower type.

Movement must keep every bit, also of a NaN. A sum that is NaN must be NaN in both; the bits of this NaN may differ.
"""

import math
from typing import Any

import ml_dtypes
import numpy
from data import COMPLEX
from definitions import contributions
from problem import DTYPES, Array, Problem

from dialects import SUMS, window_of

# Values that Row.to may have besides the names of element types. ANY_NAN: a NaN may become a different NaN. CLAMPED: the
# result is that of float32, with the largest finite numbers in place of infinities.
ANY_NAN = "any NaN"
CLAMPED = "float32, clamped"
LARGEST = float(numpy.finfo(numpy.float32).max)


def _parts(values: Array, dtype: str) -> Array:
    return values.view(DTYPES[COMPLEX[dtype]]) if dtype in COMPLEX and values.ndim else values


def equal(problem: Problem, ours: Array, theirs: Array, any_nan: bool = False) -> bool:
    ours, theirs = numpy.ascontiguousarray(ours), numpy.ascontiguousarray(theirs)
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return False
    if ours.tobytes() == theirs.tobytes():
        return True
    if problem.op not in SUMS and not any_nan:
        return False
    a, b = _parts(ours, problem.dtype), _parts(theirs, problem.dtype)
    both = numpy.isnan(a) & numpy.isnan(b)
    bits = numpy.dtype(f"u{a.dtype.itemsize}")
    return bool((both | (a.view(bits) == b.view(bits))).all())


def within_bounds(problem: Problem, ours: Array, theirs: Array, ulps: float = 0.5) -> str | None:
    """Returns a text about the first float16 or bfloat16 sum, of patchfold or of the system, that is outside its bound; None
    if there is none.

    S is the exact sum of n terms x, and y the result. patchfold adds in float32 and rounds once:
    |y - S| <= ulp(y)/2 + (n-1) * 2^-24 * sum|x| * (1 + n * 2^-24). The other system may round to the type at each of the
    n - 1 additions, and once more, each time by `ulps` units in the last place. With u = `ulps` units in the last place of
    1, |y - S| <= n * u * sum|x| * (1 + n * u) + half the smallest subnormal. If a partial sum can overflow, the sum is not
    checked. If a term is not finite, the sum must be the infinity or the NaN that these terms give.
    """
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return f"shapes or types {ours.shape} {ours.dtype} and {theirs.shape} {theirs.dtype}"
    limits: Any = ml_dtypes.finfo(ours.dtype)
    unit, largest, tiny = float(limits.eps) / 2, float(limits.max), float(limits.smallest_subnormal)
    terms, there = contributions(problem.data, window_of(problem))
    with numpy.errstate(all="ignore"):
        wide = terms.astype(numpy.float64).reshape(len(terms), -1)
        mine, other = ours.astype(numpy.float64).ravel(), theirs.astype(numpy.float64).ravel()
        count = there.reshape(len(there), -1).sum(axis=0)
        finite = numpy.isfinite(wide)
        nonfinite = ~finite.all(axis=0)
        total = numpy.abs(numpy.where(finite, wide, 0.0)).sum(axis=0)
        plain = numpy.where(finite, 0.0, wide).sum(axis=0)
    for at in range(mine.size):
        y, z, n = mine[at], other[at], int(count[at])
        step = n * 2 * ulps * unit
        theirs_fits, ours_fits = total[at] * (1 + 2 * step) < largest, total[at] < 3.0e38
        if nonfinite[at]:
            for who, value, fits in (("ours", y, ours_fits), ("theirs", z, theirs_fits)):
                if fits and not (value == plain[at] or (math.isnan(value) and math.isnan(plain[at]))):
                    return f"{who} is {value} at {at}, the sum is {plain[at]}"
            continue
        exact = math.fsum(wide[:, at].tolist())
        bound = step * total[at] * (1 + step) + tiny / 2
        if theirs_fits and not abs(z - exact) <= bound:
            return f"theirs is {z} at {at}, the exact sum {exact}, the bound {bound}"
        single = max(n - 1, 0) * 2.0**-24 * total[at] * (1 + n * 2.0**-24)
        half_ulp = max(2.0 ** math.floor(math.log2(abs(y))) * unit, tiny / 2) if y and math.isfinite(y) else tiny / 2
        if ours_fits and abs(exact) + single < largest and not abs(y - exact) <= half_ulp + single:
            return f"ours is {y} at {at}, the exact sum {exact}, the bound {half_ulp + single}"
    return None


def narrowed(problem: Problem, to: str) -> Problem:
    """Returns the problem with its data converted to `to`, an element type or CLAMPED; ANY_NAN leaves the data as it is."""
    data = problem.data
    with numpy.errstate(all="ignore"):
        if to == CLAMPED:
            data, to = numpy.clip(data, -LARGEST, LARGEST), "float32"
        if to != ANY_NAN:
            data = data.astype(DTYPES[to])
    dtype = problem.dtype if to == ANY_NAN else to
    return Problem(problem.op, dtype, data, problem.attributes, problem.seed, problem.mood)


def widened(values: Array, dtype: str, to: str) -> Array:
    with numpy.errstate(all="ignore"):
        if to == CLAMPED:
            values = numpy.clip(values, -LARGEST, LARGEST)
        return values.astype(DTYPES[dtype])

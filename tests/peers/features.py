# SPDX-License-Identifier: Apache-2.0
"""Finds the features of problems, and lists the features that must occur in a run."""

from math import prod
from typing import Any

import numpy
from data import COMPLEX, kind_of
from problem import DTYPES, Array, Problem

from dialects import facts_of, window_of


def features(problem: Problem) -> set[str]:
    """Returns the features of an accepted problem."""
    found = _data_features(problem)
    if 0 in problem.data.shape:
        found.add("empty data")
    for name, value in problem.attributes.items():
        if isinstance(value, str):
            found.add(f"{name} {value}")
    if facts_of(problem.op).window:
        found |= _window_features(problem)
    else:
        found |= _block_features(problem)
    return found


def _data_features(problem: Problem) -> set[str]:
    data, found = problem.data, set()
    if data.size == 0 or kind_of(problem.dtype) == "bool":
        return found
    if kind_of(problem.dtype) == "integer":
        limits = numpy.iinfo(data.dtype)
        if (data == limits.max).any() or (data == limits.min).any():
            found.add("extreme integers")
        return found
    values = data.view(DTYPES[COMPLEX[problem.dtype]]) if problem.dtype in COMPLEX else data
    with numpy.errstate(all="ignore"):
        wide = values.astype(numpy.float64)
    if numpy.isnan(wide).any():
        found.add("NaN")
    if numpy.isinf(wide).any():
        found.add("Inf")
    if ((wide == 0) & numpy.signbit(wide)).any():
        found.add("-0.0")
    return found


def _window_features(problem: Problem) -> set[str]:
    w = window_of(problem)
    rank = len(w.image)
    found = {f"{rank} axes", f"{len(w.batch)} batch axes"}
    tests: dict[str, Any] = {
        "holes": any(s > k * d for s, k, d in zip(w.stride, w.kernel, w.dilation, strict=True)),
        "stride > kernel": any(s > k for s, k in zip(w.stride, w.kernel, strict=True)),
        "stride > image": any(s > i for s, i in zip(w.stride, w.image, strict=True)),
        "dilated, more than one channel": w.channels > 1 and max(w.dilation) > 1 and max(w.kernel) > 1,
        "dilation 0": min(w.dilation) == 0,
        "asymmetric pads": any(b != e for b, e in w.pads),
        "pads > extent": any(max(pair) > i > 0 for pair, i in zip(w.pads, w.image, strict=True)),
        "kernel = extent": any(k == i + b + e for k, i, (b, e) in zip(w.kernel, w.image, w.pads, strict=True)),
        "stride leaves a rest": any(
            x >= 0 and x % s
            for x, s in (
                (i + b + e - f, s)
                for i, (b, e), f, s in zip(w.image, w.pads, w.effective, w.stride, strict=True)
            )
        ),
        "overlaps": any(k > 1 and s < f for k, s, f in zip(w.kernel, w.stride, w.effective, strict=True)),
        "no positions": prod(w.positions) == 0,
        "one position": prod(w.positions) == 1,
        "extent > 64": max(w.image, default=0) > 64,
        "odd SAME": w.same and any((b + e) % 2 for b, e in w.pads),
        "SAME, stride > kernel": w.same and any(s > f for s, f in zip(w.stride, w.effective, strict=True)),
        "numbers for lists": any(isinstance(v, int) for v in problem.attributes.values()),
    }
    return found | {name for name, holds in tests.items() if holds}


def _block_features(problem: Problem) -> set[str]:
    given = problem.attributes
    found = {f"{problem.data.ndim} axes of data"}
    block = next(
        given[name]
        for name in ("block_shape", "block_size", "blocksize", "upscale_factor", "downscale_factor", "blocks_mode")
        if name in given
    )
    sizes = block if isinstance(block, tuple) else (block if isinstance(block, int) else 1,)
    found.add("block > 1" if max(sizes, default=1) > 1 else "block 1")
    if isinstance(block, tuple):
        found.add(f"{len(block)} blocked axes")
        if len(set(block)) > 1:
            found.add("different blocks")
    pads = [v for name, v in given.items() if name.startswith(("pads", "crops"))]
    if "paddings" in given:
        pads.append(given["paddings"])
    if pads:
        flat = numpy.array(pads, dtype=numpy.int64)
        ends: Array = flat.reshape(-1, 2) if len(pads) == 1 else flat.T
        if ends.any():
            found.add("pads")
        if (ends[:, 0] != ends[:, 1]).any():
            found.add("asymmetric pads")
    if max(problem.data.shape, default=0) > 64:
        found.add("extent > 64")
    return found


COMMON = {"empty data", "NaN", "Inf", "-0.0", "extreme integers"}


def required(op: str, dtypes: set[str]) -> set[str]:
    """Returns the features that must occur in the problems of an operator, if a run has problems of these element types."""
    needed = facts_of(op).shows | COMMON
    kinds = {kind_of(dtype) for dtype in dtypes}
    if "integer" not in kinds:
        needed -= {"extreme integers"}
    if not kinds & {"float"}:
        needed -= {"NaN", "Inf", "-0.0"}
    return needed

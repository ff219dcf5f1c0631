# SPDX-License-Identifier: Apache-2.0
"""Compares merges of random tiles with exact arithmetic: means and sums within bounds, other reductions exactly."""

import math
from fractions import Fraction
from itertools import product

import ml_dtypes
import numpy as np
import patchfold
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_merge_exact import machine  # noqa: F401
from test_tiling_layout import random_bits
from tile_model import WINDOWS, Axis, Merge, Refused, exact, is_mean, mean_bounds, weights_of

TYPES = [
    "?", "i1", "i2", "i4", "u1", "u2", "u4", "f2", "f4", "f8",
    ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e5m2fnuz,
]  # fmt: skip


@st.composite
def layouts(draw):
    """Draws (tiling, axes of the model), with one to three tiled axes and at most about 300 elements. Often three or more
    tiles cover an element. Some tilings have a scale, offsets and sizes of results."""
    random = draw(st.randoms(use_true_random=True))  # uniform, while Hypothesis prefers small values
    tiled = random.randint(1, 3)
    most = {1: 40, 2: 12, 3: 6}[tiled]
    tail = random.choice(["shift", "pad", "partial", "drop"])
    extents = tuple(random.randint(1, most) for _ in range(tiled))
    tile = tuple(random.randint(1, min(extent, 9) if tail == "shift" else 9) for extent in extents)
    stride = tuple(random.randint(max(1, size // 4), size) for size in tile)
    scale = random.choice([Fraction(1)] * 3 + [Fraction(2), Fraction(1, 2)])
    offset, result = [0] * tiled, [int(size * scale) for size in tile]
    if random.random() < 0.3:
        offset = [random.randint(-1, 2) for _ in tile]
        result = [max(1, size - random.randint(-1, 2)) for size in result]
    margin = [random.choice([(0, 0)] * 3 + [(2, 2), (4, 1)]) for _ in tile]
    output = [random.choice([None, None, 5, 11])] * tiled
    try:
        each = zip(extents, tile, stride, offset, result, margin, output, strict=True)
        axes = [Axis(e, t, s, tail, scale, o, r, margin=m, output=y) for e, t, s, o, r, m, y in each]
        arguments = {"stride": stride, "tail": tail, "scale": scale, "offset": offset, "result": result, "margin": margin}
        tiling = patchfold.Tiling(extents, tile, **arguments, output=None if None in output else output)
    except (Refused, patchfold.InvalidValue):
        assume(False)
    assume(len(tiling))
    return tiling, axes


@st.composite
def windows(draw, axes):
    """Draws (window argument, function from a place in a tile's result to its exact weight)."""
    kind = draw(st.sampled_from([*WINDOWS, "sigma", "lists", "array", "zeros"]))
    extents = [axis.result for axis in axes]
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    if kind in ("array", "zeros"):
        weights = rng.uniform(0.01, 5, extents)
        if kind == "zeros":
            weights[rng.random(extents) < 0.3] = 0
        return weights, lambda at: Fraction(float(weights[at]))
    if kind == "lists":
        lists = [rng.uniform(0.01, 5, extent) for extent in extents]
        if draw(st.booleans()):
            for each in lists:
                each[rng.random(len(each)) < 0.2] = 0
        argument = lists
    else:
        argument = ("gaussian", 0.2) if kind == "sigma" else kind
        lists = [samples(argument, extent) for extent in extents]
    return argument, lambda at: math.prod(Fraction(float(each[i])) for each, i in zip(lists, at, strict=True))


def samples(window, n):
    """Returns the library's samples of a window, and checks that they equal the formula's except for the last bits."""
    tiling = patchfold.Tiling((n,), (n,), overlap=0)
    merger = patchfold.Merger(tiling, window=window, reduce="sum")
    merger.add(0, np.ones(n))  # a sum of one tile of ones has the weights
    found = merger.finish()
    kind, *sigma = (window,) if isinstance(window, str) else window
    expected = np.array(weights_of(kind, n, *sigma))
    assert (np.abs(found - expected) <= 4 * np.spacing(expected)).all()
    return found


def random_numbers(rng, shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    return rng.normal(0, rng.choice([1e-3, 1, 30]), shape).astype(dtype)


def outcome(tiling, tiles, order=None, threads=1, **arguments):
    patchfold.set_num_threads(threads)
    merger = patchfold.Merger(tiling, **arguments)
    mask = arguments.get("mask")
    for index in range(len(tiling)) if order is None else order:
        if mask is None or mask[index]:
            merger.add(int(index), tiles[index])
    return merger.finish()


def masked(data, tiling):
    """Returns a random mask of tiles, or None."""
    if not data.draw(st.booleans()):
        return None
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    mask = rng.random(len(tiling)) < 0.75
    mask[rng.integers(len(tiling))] = True
    return mask


def faults(y, model, reduce, dtype, fill):
    """Returns the places of the elements that are outside of their bounds."""
    wrong = []
    for at in product(*map(range, y.shape)):
        terms = model.terms(at)
        if not terms:
            good = y[at] == fill
        elif len({x.tobytes() for *_, x, _ in terms}) == 1 and reduce == "mean":
            good = y[at] == terms[0][2].astype(y.dtype)
        else:
            good = is_mean(y[at], terms, dtype, is_sum=reduce == "sum")
        if not good:
            wrong.append(at)
    return wrong


@settings(max_examples=600, deadline=None)
@given(st.data())
def test_means_and_sums_are_exact_but_for_one_rounding(data):
    tiling, axes = data.draw(layouts())
    dtype = np.dtype(data.draw(st.sampled_from(TYPES)))
    argument, weight = data.draw(windows(axes))
    reduce = data.draw(st.sampled_from(["mean", "mean", "sum"]))
    output = data.draw(st.sampled_from([None, None, "float32", "float64"]))
    mask = masked(data, tiling)
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    tiles = [random_numbers(rng, tile.result_shape, dtype) for tile in tiling]
    options = {
        "window": argument,
        "reduce": reduce,
        "dtype": output,
        "mask": mask,
        "fill": 1,
        "copy": data.draw(st.booleans()),
    }
    patchfold.use_instruction_set(data.draw(st.sampled_from(patchfold.instruction_sets())))
    y = outcome(tiling, tiles, rng.permutation(len(tiling)), data.draw(st.integers(1, 3)), **options)
    assert y.dtype == (dtype if output is None else output)
    assert not faults(y, Merge(axes, tiles, weights=weight, mask=mask), reduce, y.dtype, y.dtype.type(1))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_selections_index_by_index(data):
    tiling, axes = data.draw(layouts())
    reduce = data.draw(st.sampled_from(["first", "last", "center", "max", "min"]))
    dtype = np.dtype(data.draw(st.sampled_from(["?", "i1", "u4", "i8", "u8", "f2", "f4", "f8", ml_dtypes.bfloat16])))
    argument, weight = data.draw(windows(axes))
    mask = masked(data, tiling)
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    bits = data.draw(st.booleans())
    tiles = [
        random_bits(tile.result_shape, dtype, rng.integers(2**31))
        if bits or dtype.kind == "b"
        else random_numbers(rng, tile.result_shape, dtype)
        for tile in tiling
    ]
    order = rng.permutation(len(tiling))
    copies = data.draw(st.booleans())
    y = outcome(
        tiling, tiles, order, data.draw(st.integers(1, 3)), window=argument, reduce=reduce, mask=mask, fill=1, copy=copies
    )
    model = Merge(axes, tiles, weights=weight, mask=mask)
    for at in product(*map(range, y.shape)):
        values = [x for *_, x, _ in model.terms(at)]
        if not values:
            assert y[at] == dtype.type(1)
        elif reduce in ("first", "last", "center"):
            assert y[at].tobytes() == model.selected(at, reduce).tobytes()
        elif any(value != value for value in values):
            assert y[at].tobytes() == next(value for value in values if value != value).tobytes()
        else:
            assert y[at] == (max if reduce == "max" else min)(values)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_64_bit_integers_are_exact(data):
    tiling, axes = data.draw(layouts())
    dtype = data.draw(st.sampled_from([np.int64, np.uint64]))
    reduce = data.draw(st.sampled_from(["mean", "sum"]))
    mask = masked(data, tiling)
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    if data.draw(st.booleans()):
        tiles = [random_numbers(rng, tile.result_shape, dtype) for tile in tiling]
    else:  # small numbers, whose means are often halves
        tiles = [rng.integers(0 if dtype == np.uint64 else -3, 4, tile.result_shape).astype(dtype) for tile in tiling]
    y = outcome(tiling, tiles, rng.permutation(len(tiling)), window="ones", reduce=reduce, mask=mask, fill=5)
    model = Merge(axes, tiles, mask=mask)
    info = np.iinfo(dtype)
    for at in product(*map(range, y.shape)):
        values = [int(x) for *_, x, _ in model.terms(at)]
        if not values:
            expected = 5
        elif reduce == "mean":
            expected = round(Fraction(sum(values), len(values)))  # half to even
        else:
            expected = min(max(sum(values), info.min), info.max)
        assert int(y[at]) == expected


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_complex_numbers_are_two_real_ones(data):
    tiling, axes = data.draw(layouts())
    argument, weight = data.draw(windows(axes))
    reduce = data.draw(st.sampled_from(["mean", "sum"]))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    part_of, dtype = data.draw(st.sampled_from([(np.float32, np.complex64), (np.float64, np.complex128)]))
    tiles = [(rng.normal(size=t.result_shape) + 1j * rng.normal(size=t.result_shape)).astype(dtype) for t in tiling]
    y = outcome(tiling, tiles, window=argument, reduce=reduce, fill=7 + 7j)
    for part in ("real", "imag"):
        model = Merge(axes, [getattr(tile, part) for tile in tiles], weights=weight)
        assert not faults(getattr(y, part), model, reduce, part_of, part_of(7))


@pytest.mark.parametrize("window", ["ones", "hann", "gaussian"])
def test_infinities_and_nan(window):
    """Checks infinities and NaN: infinities of one sign stay, of two signs are NaN, and NaN stays."""
    tiling = patchfold.Tiling((6,), (4,), stride=2)
    inf, nan = np.inf, np.nan
    y = outcome(tiling, [np.array([1, 2, inf, -inf]), np.array([inf, inf, nan, 3])], window=window)
    assert y.tolist()[:3] == [1, 2, inf] and math.isnan(y[3]) and math.isnan(y[4]) and y[5] == 3


@pytest.mark.parametrize("window", [*WINDOWS, *(("gaussian", sigma) for sigma in (1e-3, 0.03, 0.125, 0.2, 0.5, 2.0, 1e3))])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 16, 63, 256, 1000])
def test_samples_of_windows(window, n):
    found = samples(window, n)
    assert (found > 0).all() and found.tobytes() == found[::-1].tobytes()
    assert found.min() >= 2.0**-100


def test_a_gaussian_has_the_width_that_is_asked_for():
    """Checks that a sample two standard deviations (2 * sigma) from the middle is exp(-2)."""
    for deviation in (1, 3, 10):
        n = 101
        found = samples(("gaussian", deviation / n), n)
        assert found[50] == 1
        assert found[50 + 2 * deviation] == pytest.approx(math.exp(-2), rel=1e-12)


@pytest.mark.parametrize("sigma", [0.125, 0.4])
def test_a_mean_with_a_gaussian_is_that_of_its_width(sigma):
    """Merges a tile of zeros and a tile of ones. The result is the second tile's weight, divided by the sum of weights."""
    y = outcome(patchfold.Tiling((6,), (4,), stride=2), [np.zeros(4), np.ones(4)], window=("gaussian", sigma))
    near, far = (math.exp(-((d / 4 / sigma) ** 2) / 2) for d in (0.5, 1.5))
    np.testing.assert_allclose(y, [0, 0, far / (near + far), near / (near + far), 1, 1], rtol=1e-12)


def negative_case():
    """Returns a merge on two axes, in which four different tiles cover most elements."""
    axes = [Axis(11, 6, 3, "shift"), Axis(9, 4, 2, "shift")]
    tiling = patchfold.Tiling((11, 9), (6, 4), stride=(3, 2))
    rng = np.random.default_rng(5)
    tiles = [rng.normal(size=(6, 4)) for _ in tiling]
    return tiling, axes, tiles


def weight_of(lists):
    return lambda at: math.prod(Fraction(float(each[i])) for each, i in zip(lists, at, strict=True))


def test_the_oracle_accepts_what_is_right():
    tiling, axes, tiles = negative_case()
    lists = [samples("hann", 6), samples("hann", 4)]
    y = outcome(tiling, tiles, window="hann")
    assert not faults(y, Merge(axes, tiles, weights=weight_of(lists)), "mean", y.dtype, None)


def test_the_oracle_notices_a_dropped_tile():
    tiling, axes, tiles = negative_case()
    lists = [samples("hann", 6), samples("hann", 4)]
    mask = np.ones(len(tiling), bool)
    mask[5] = False
    y = outcome(tiling, tiles, window="hann", mask=mask, fill=0)
    wrong = faults(y, Merge(axes, tiles, weights=weight_of(lists)), "mean", y.dtype, None)
    assert len(wrong) == 6 * 4  # each element of the dropped tile


def test_the_oracle_notices_two_swapped_weights():
    tiling, axes, tiles = negative_case()
    lists = [np.linspace(1, 2, 6), np.linspace(1, 3, 4)]
    swapped = [lists[0][[0, 1, 3, 2, 4, 5]], lists[1]]
    y = outcome(tiling, tiles, window=swapped)
    assert faults(y, Merge(axes, tiles, weights=weight_of(lists)), "mean", y.dtype, None)


def test_the_oracle_notices_an_ignored_window():
    tiling, axes, tiles = negative_case()
    lists = [samples("hann", 6), samples("hann", 4)]
    y = outcome(tiling, tiles, window="ones")
    assert faults(y, Merge(axes, tiles, weights=weight_of(lists)), "mean", y.dtype, None)


def test_the_oracle_notices_a_bit_more_than_the_bound():
    tiling, axes, tiles = negative_case()
    model = Merge(axes, tiles)
    y = outcome(tiling, tiles, window="ones")
    low, high = mean_bounds(model.terms((4, 4)))
    assert low <= exact(y[4, 4]) <= high
    y[4, 4] = np.nextafter(float(high), np.inf)
    assert faults(y, model, "mean", y.dtype, None) == [(4, 4)]

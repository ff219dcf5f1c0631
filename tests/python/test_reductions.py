# SPDX-License-Identifier: Apache-2.0
"""Compares the reductions that rank, count or skip elements with NumPy's functions, element by element."""

import itertools
from fractions import Fraction
from itertools import product

import ml_dtypes
import numpy as np
import patchfold
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_merge_oracle import TYPES, layouts, machine, masked, outcome, random_numbers, windows  # noqa: F401
from tile_model import Merge, exact, format_of

T = patchfold.Tiling((6,), (4,), stride=2)
INTEGERS = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
REALS = [*TYPES, "i8", "u8"]


def drawn(data, tiling, dtype, channels=()):
    """Returns results of tiles with few different numbers, so that many are equal, and with NaNs where the type has them."""
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    tiles = []
    for tile in tiling:
        made = random_numbers(rng, (*channels, *tile.result_shape), dtype)
        if made.dtype.kind != "b":
            few = random_numbers(rng, (3,), dtype)
            made = np.where(rng.random(made.shape) < 0.5, few[rng.integers(3, size=made.shape)], made)
        if made.dtype.kind not in "biu":
            made[rng.random(made.shape) < 0.2] = np.nan
        tiles.append(np.ascontiguousarray(made.astype(dtype)))
    return tiles, rng


def both_orders(tiling, tiles, rng, mask, **settings):
    """Returns a merge of the tiles in order, after a check that another order and a merge of boxes give the same bits."""
    y = outcome(tiling, tiles, mask=mask, **settings)
    again = outcome(tiling, tiles, order=rng.permutation(len(tiling)), mask=mask, copy=True, **settings)
    assert y.tobytes() == again.tobytes()
    spec = patchfold.MergeSpec(mask=mask, **settings)
    rank = len(tiles[0].shape)
    box = tuple(slice(extent // 3, extent) for extent in tiling._native.output)
    pieces = {
        index: tiles[index][tiling.piece(index, box, rank=rank)]
        for index in itertools.chain(*[_touching(tiling, box)])
        if mask is None or mask[index]
    }
    results = patchfold.ResultType(tiles[0].dtype, tiles[0].shape[: rank - len(tiling.axes)])
    part = patchfold.merge_box(tiling, spec, box, pieces, results=results)
    assert part.tobytes() == np.ascontiguousarray(y[(..., *box)]).tobytes()
    return y


def _touching(tiling, box):
    grid = tiling.grid
    return [int(np.ravel_multi_index(place, grid)) for place in product(*tiling.touching(box))]


def isnan(value):
    return np.asarray(value).dtype.kind not in "biu" and bool(np.isnan(np.float64(value)))


@pytest.mark.parametrize("dtype", REALS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_medians_are_exact(dtype, data):
    tiling, axes = data.draw(layouts())
    tiles, rng = drawn(data, tiling, dtype)
    mask = masked(data, tiling)
    y = both_orders(tiling, tiles, rng, mask, reduce="median", fill=1)
    model, kind = Merge(axes, tiles, mask=mask), format_of(dtype)
    assert y.dtype == np.dtype(dtype)
    for at in product(*map(range, y.shape)):
        values = [value for _, _, value, _ in model.terms(at)]
        if not values:
            assert y[at] == 1
        elif any(map(isnan, values)):
            assert isnan(y[at])
        else:
            ranked = sorted(map(exact, values))
            middle = kind.round((ranked[(len(ranked) - 1) // 2] + ranked[len(ranked) // 2]) / 2)
            assert exact(y[at]) == middle, at


def test_medians_are_those_of_numpy():
    rng = np.random.default_rng(0)
    tiling = patchfold.Tiling((9,), (9,), overlap=0)
    for count, dtype in product((1, 2, 3, 4, 7, 8, 65), ("f4", "f8")):
        # Tiles of one element, moved by 0, lie over each other where the stride is 1 and results are long.
        tiling = patchfold.Tiling((count + 8,), (9,), stride=1, tail="drop")
        tiles = [rng.normal(size=9).astype(dtype) for _ in tiling]
        y = outcome(tiling, tiles, reduce="median")
        for at, value in enumerate(y):
            over = [tile[at - k] for k, tile in enumerate(tiles) if 0 <= at - k < 9]
            assert value == np.median(np.array(over, dtype))
    y = outcome(tiling, [tile.astype("i4") for tile in tiles], reduce="median", dtype="float64")
    over = [int(tile[30 - k]) for k, tile in enumerate(tiles) if 0 <= 30 - k < 9]
    assert y.dtype == np.float64 and y[30] == np.median(over)


def test_medians_of_the_edges_of_types():
    def median(first, second, dtype):
        return outcome(T, [np.full(4, first, dtype), np.full(4, second, dtype)], reduce="median")[2]

    for dtype in ("f4", "f8"):
        most = np.finfo(dtype).max
        assert median(most, most / 2, dtype) == most / 4 * 3 and median(np.inf, -np.inf, dtype).astype(str) == "nan"
        assert str(median(-0.0, -0.0, dtype)) == "-0.0" and str(median(-0.0, 0.0, dtype)) == "0.0"
        least = np.finfo(dtype).smallest_subnormal
        assert median(least, 2 * least, dtype) == 2 * least and median(0, least, dtype) == 0  # half-way: to even
    for dtype in ("i8", "u8"):
        most = np.iinfo(dtype).max
        assert median(most, most - 2, dtype) == most - 1 and median(most, np.iinfo(dtype).min, dtype) in (0, 2**63)
    assert [median(a, b, "u1") for a, b in ((0, 1), (1, 2), (254, 255))] == [0, 2, 254]


@pytest.mark.parametrize("dtype", INTEGERS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_votes_count_tiles(dtype, data):
    tiling, axes = data.draw(layouts())
    tiles, rng = drawn(data, tiling, dtype)
    mask = masked(data, tiling)
    y = both_orders(tiling, tiles, rng, mask, reduce="vote", fill=1)
    model = Merge(axes, tiles, mask=mask)
    for at in product(*map(range, y.shape)):
        values, counts = np.unique([value for _, _, value, _ in model.terms(at)], return_counts=True)
        assert y[at] == (values[counts.argmax()] if len(values) else 1), at


@pytest.mark.parametrize("dtype", [*REALS, "c8", "c16"])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_nans_take_no_part(dtype, data):
    """Compares with mean, max and min of tiles in which NaNs have the weight 0."""
    tiling, axes = data.draw(layouts())
    tiles, rng = drawn(data, tiling, dtype)
    mask = masked(data, tiling)
    window, _ = data.draw(windows(axes))
    if np.dtype(dtype).kind in "iu" and np.dtype(dtype).itemsize == 8:
        window = "ones"
    reduce = data.draw(st.sampled_from(["mean"] if np.dtype(dtype).kind == "c" else ["mean", "max", "min"]))
    y = both_orders(tiling, tiles, rng, mask, reduce=f"nan{reduce}", window=window, fill=1)
    merger = patchfold.Merger(tiling, reduce=reduce, window=window, fill=1, mask=mask)
    numbers = [np.isnan(tile.astype("c16" if tile.dtype.kind == "c" else "f8")) for tile in tiles]
    for index, tile in enumerate(tiles):
        if mask is None or mask[index]:
            merger.add(index, np.where(numbers[index], np.zeros(1, dtype), tile), weight=(~numbers[index]).astype(float))
    expected = merger.finish()
    if reduce != "mean":
        assert y.tobytes() == expected.tobytes()
    else:  # weights of cells without NaNs may differ in their last bits
        unit = float(np.spacing(np.ones(1, dtype).real)[0]) if np.dtype(dtype).kind in "fc" else 2.0**-7
        np.testing.assert_allclose(
            y.astype("c16"), expected.astype("c16"), rtol=unit if np.dtype(dtype).kind in "fcV" else 0
        )


@pytest.mark.filterwarnings("ignore:All-NaN|Mean of empty")
def test_nan_reductions_are_those_of_numpy():
    tiling = patchfold.Tiling((40, 30), (16, 16), stride=4)
    rng = np.random.default_rng(1)
    tiles = [np.where(rng.random((16, 16)) < 0.6, np.nan, rng.normal(size=(16, 16))) for _ in tiling]
    stack = np.full((len(tiling), 40, 30), np.nan)
    for index, tile in enumerate(tiling):
        stack[(index, *tile.write)] = tiles[index]
    for name in ("nanmax", "nanmin"):
        np.testing.assert_array_equal(outcome(tiling, tiles, reduce=name), getattr(np, name)(stack, 0))
    y = outcome(tiling, tiles, reduce="nanmean", window="ones")
    np.testing.assert_allclose(y, np.nanmean(stack, 0), rtol=1e-13)
    assert np.isnan(y).any() and (np.isnan(y) == np.isnan(stack).all(0)).all()
    assert (outcome(tiling, tiles, reduce="nanmean", fill=-5)[np.isnan(y)] == -5).all()
    assert (outcome(tiling, tiles, reduce="nanmax", nodata=-7)[np.isnan(y)] == -7).all()


@pytest.mark.parametrize("dtype", REALS)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_labels_are_those_of_the_largest_mean(dtype, data):
    """Compares with numpy.argmax of the merged scores, for 1 to 300 classes."""
    tiling, axes = data.draw(layouts())
    classes = data.draw(st.sampled_from([1, 2, 3, 7, 257, 300] if len(tiling) < 20 else [1, 2, 5]))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    is_wide = np.dtype(dtype).kind in "iu" and np.dtype(dtype).itemsize == 8
    more = data.draw(st.sampled_from([(), (2,)]))
    tiles = [random_numbers(rng, (classes, *more, *tile.result_shape), dtype) for tile in tiling]
    if np.dtype(dtype).kind == "f":
        tiles[0][rng.random(tiles[0].shape) < 0.1] = np.nan
    mask = masked(data, tiling)
    window = "ones" if is_wide else data.draw(windows(axes))[0]
    covered = outcome(
        tiling, [np.ones(tile.shape[1:], "u1") for tile in tiles], reduce="max", mask=mask, fill=0, window=window
    )
    y = both_orders(tiling, tiles, rng, mask, reduce="argmax", window=window, fill=0)
    means = {"reduce": "mean", "window": window, "mask": mask, "fill": 0} | ({} if is_wide else {"dtype": "float64"})
    expected = np.argmax(outcome(tiling, tiles, **means), 0)
    assert y.dtype == (np.uint8 if classes <= 256 else np.uint16) and y.shape == expected.shape
    assert np.array_equal(y, np.where(covered == 1, expected, 0))


def test_a_hundred_classes_take_the_memory_of_a_row_of_tiles():
    classes, size = 100, 384
    tiling = patchfold.Tiling((3, size, size), (64, 64), overlap=16)
    rng = np.random.default_rng(3)
    scores = [rng.normal(size=(classes, 64, 64)).astype("f4") for _ in range(4)]
    merger = patchfold.Merger(tiling, reduce="argmax", copy=True)
    for tile in tiling:
        merger.add(tile, scores[tile.index % 4])
    labels = merger.finish()
    forecast = tiling.bytes("float32", channels=(classes,), reduce="argmax", copy=True)
    assert merger.peak_bytes == forecast.most == forecast.tiles
    assert forecast.most < 4 * classes * size * 64 < 4 * classes * size * size / 4  # never planes of the whole picture
    mean = patchfold.Merger(tiling, dtype="float64")
    for tile in tiling:
        mean.add(tile, scores[tile.index % 4])
    assert np.array_equal(labels, mean.finish().argmax(0)) and labels.shape == (size, size)


def test_labels_go_everywhere(tmp_path):
    x = np.random.default_rng(4).random((3, 70, 50), np.float32)

    def scores(tile):
        return np.stack([tile[0], tile[1] + tile[2], tile[2] * 2, tile[0] * 0 + 0.9])

    expected = scores(x).argmax(0).astype(np.uint8)
    settings = {"overlap": 8, "reduce": "argmax", "progress": False}
    assert np.array_equal(patchfold.apply_tiled(scores, x, (32, 32), **settings), expected)
    settings["axes"] = (1, 2)  # axes of the results, which the labels lack the first of
    wide = patchfold.apply_tiled(scores, x, (32, 32), dtype="uint16", **settings)
    assert wide.dtype == np.uint16 and np.array_equal(wide, expected)
    out = np.empty((70, 50), np.uint8)
    assert patchfold.apply_tiled(scores, x, (32, 32), out=out, **settings) is out and np.array_equal(out, expected)
    saved = patchfold.apply_tiled(scores, x, (32, 32), out=str(tmp_path / "y.npy"), **settings)
    assert np.array_equal(saved, expected)
    rows = []
    patchfold.apply_tiled(scores, x, (32, 32), out=lambda where, band: rows.append(band.copy()), **settings)
    assert np.array_equal(np.concatenate(rows), expected)
    results = patchfold.ResultType("float32", (4,))
    spec = patchfold.MergeSpec(reduce="argmax")
    assert spec.output_type(results) == "uint8" and spec.reduction(results) == "argmax"
    spec.check(patchfold.Tiling(x.shape, (32, 32), overlap=8), results)


def test_scores_without_data_take_no_part():
    tiles = [np.array([[1.0, 9, 9, 9], [2, -1, 9, 0]]), np.array([[9.0, 9, 0, 0], [5, 9, 1, 1]])]
    settings = {"reduce": "argmax", "window": "ones", "nodata": 9, "fill": 77}
    tiling = patchfold.Tiling((2, 6), (4,), stride=2, axes=(1,))
    y = outcome(tiling, tiles, **settings)
    assert y.tolist() == [1, 1, 1, 1, 1, 1] and y.dtype == np.uint8
    tiles[1][:, 2:] = 9
    assert outcome(tiling, tiles, **settings).tolist() == [1, 1, 1, 1, 77, 77]
    box = (slice(1, 6),)
    pieces = {index: tiles[index][tiling.piece(index, box)] for index in range(2)}
    assert patchfold.merge_box(tiling, patchfold.MergeSpec(**settings), box, pieces).tolist() == [1, 1, 1, 77, 77]


def test_elements_without_data_do_not_vote():
    tiles = [np.array([5, 5, 255, 255], "u1"), np.array([3, 255, 4, 255], "u1")]
    settings = {"reduce": "vote", "nodata": 255}
    assert outcome(T, tiles, **settings).tolist() == [5, 5, 3, 255, 4, 255]
    median = outcome(T, [tile.astype("f4") for tile in tiles], reduce="median", nodata=255)
    assert median.tolist() == [5, 5, 3, 255, 4, 255]


@pytest.mark.parametrize("n", [1, 2, 3, 8, 63, 256])
def test_tukey_and_hamming_have_the_formulas_of_scipy_and_numpy(n):
    """Checks that samples are those of the symmetric window of 2 n + 1 elements at the middles of elements."""

    def samples(window):
        merger = patchfold.Merger(patchfold.Tiling((n,), (n,), overlap=0), window=window, reduce="sum")
        merger.add(0, np.ones(n))
        return merger.finish()

    def tukey(alpha):  # scipy.signal.windows.tukey(2 * n + 1, alpha)
        k = np.arange(2 * n + 1)
        slope = 0.5 * (1 + np.cos(np.pi * (-1 + 2 * k / alpha / (2 * n))))
        rising = np.where(k < alpha * n, slope, 1)
        return np.minimum(rising, rising[::-1])[1::2]

    np.testing.assert_allclose(samples("hamming"), np.hamming(2 * n + 1)[1::2], rtol=1e-12)
    np.testing.assert_allclose(samples("tukey"), tukey(0.5), rtol=1e-12)
    for alpha in (0.05, 0.3, 1):
        np.testing.assert_allclose(samples(("tukey", alpha)), tukey(alpha), rtol=1e-12)
    assert samples(("tukey", 1)).tobytes() == samples("hann").tobytes()
    assert samples(("tukey", 0)).tobytes() == samples("ones").tobytes()


def test_small_floats_round_their_medians_once():
    for dtype in (np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2):
        values = np.array([1, 1 + float(np.finfo(dtype).eps) if dtype is np.float16 else 1.25], dtype)
        y = outcome(T, [np.full(4, values[0]), np.full(4, values[1])], reduce="median")
        middle = (Fraction(float(values[0])) + Fraction(float(values[1]))) / 2
        assert exact(y[2]) == format_of(dtype).round(middle)

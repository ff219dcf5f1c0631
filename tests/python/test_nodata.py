# SPDX-License-Identifier: Apache-2.0
"""Tests of nodata in merges: elements of results without data have no weight."""

import pickle

import numpy as np
import patchfold
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patchfold import InvalidType, InvalidValue, Merger, MergeSpec, ResultType, Tiling, apply_tiled, merge_box
from test_merge_exact import machine  # noqa: F401
from test_merge_oracle import TYPES, faults, layouts, masked, outcome, random_numbers, windows
from tile_model import Merge

SELECTIONS = ("first", "last", "center")
NAN = float("nan")


def is_empty(value, nodata):
    return bool(value != value or value == nodata)


class Valid(Merge):
    """The expected merge, in which only elements that hold data count."""

    nodata = None

    def terms(self, at):
        return [term for term in super().terms(at) if not is_empty(term[2], self.nodata)]


def wrong_elements(y, model, reduce, fill):
    """Returns the places of the elements of a merge that differ from the model."""
    if reduce in ("mean", "sum"):
        wrong = faults(y, model, reduce, y.dtype, fill)
        return [at for at in wrong if not (fill != fill and y[at] != y[at] and not model.terms(at))]
    wrong = []
    for at in np.ndindex(y.shape):
        if reduce in SELECTIONS:  # selections take one of all terms, with data or without
            value = Merge.selected(model.all, at, reduce) if model.all.terms(at) else fill
            value = fill if is_empty(value, model.nodata) else value
        else:
            values = [term[2] for term in model.terms(at)]
            value = (max if reduce == "max" else min)(values) if values else fill
        if not (y[at] == value or (y[at] != y[at] and value != value)):
            wrong.append(at)
    return wrong


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_elements_without_data_have_no_weight(data):
    """Compares mergers and boxes of random tilings, types, windows, masks and reductions with the model."""
    tiling, axes = data.draw(layouts())
    dtype = np.dtype(data.draw(st.sampled_from(TYPES)))
    argument, weight = data.draw(windows(axes))
    reduce = data.draw(st.sampled_from(["mean", "mean", "sum", "max", "min", *SELECTIONS]))
    mask = masked(data, tiling)
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    is_real = dtype.kind not in "biu"
    number = 1.0 if is_real or dtype.kind == "b" else float(np.iinfo(dtype).max)
    nodata = data.draw(st.sampled_from([number, NAN])) if is_real else number
    fill = data.draw(st.sampled_from([None, 0]))
    tiles = []
    for tile in tiling:
        result = random_numbers(rng, tile.result_shape, dtype)
        for empty in (nodata, NAN) if is_real else (nodata,):
            result[rng.random(result.shape) < rng.choice([0, 0.3, 1], p=[0.4, 0.5, 0.1])] = empty
        tiles.append(result)
    model = Valid(axes, tiles, weights=weight, mask=mask)
    model.nodata, model.all = nodata, Merge(axes, tiles, weights=weight, mask=mask)
    value = dtype.type(nodata if fill is None else fill)
    rules = {"window": argument, "reduce": reduce, "mask": mask, "fill": fill, "nodata": nodata}
    y = outcome(tiling, tiles, rng.permutation(len(tiling)), copy=data.draw(st.booleans()), **rules)
    assert y.dtype == dtype
    assert not wrong_elements(y, model, reduce, value)

    box = tuple(slice(*sorted(rng.integers(0, extent + 1, 2).tolist())) for extent in y.shape)
    places = np.ndindex(*map(len, tiling.touching(box)))
    found = {}
    for place in places:
        index = tiling[tuple(r[k] for r, k in zip(tiling.touching(box), place, strict=True))].index
        if mask is None or mask[index]:
            found[index] = tiles[index][tiling.piece(index, box)]
    y[box] = merge_box(tiling, MergeSpec(**rules), box, found, results=ResultType(dtype))
    assert not wrong_elements(y, model, reduce, value)


@pytest.mark.parametrize("nodata", [-9999, np.float32(-3.4028235e38), 0.1, NAN, np.int64(7)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_a_number_is_that_of_the_type(nodata, dtype):
    tiling = Tiling((6,), (4,), stride=2)
    own = np.array(nodata).astype(dtype)
    tiles = [np.array([1, 2, own, own]).astype(dtype), np.array([own, own, 4, NAN]).astype(dtype)]
    y = outcome(tiling, tiles, nodata=nodata)
    np.testing.assert_array_equal(y, np.array([1, 2, own, own, 4, own]).astype(dtype))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "uint64", "int64", "bool"])
def test_a_number_of_another_type_is_in_no_result(dtype):
    tiling = Tiling((6,), (4,), stride=2)
    tiles = [np.array([0, 1, 1, 0], dtype), np.array([1, 0, 0, 1], dtype)]
    for nodata in (-1e30, 0.5, NAN, 2**63 + 1, float("inf")):
        y = outcome(tiling, tiles, nodata=nodata, fill=1)
        np.testing.assert_array_equal(y, outcome(tiling, tiles), strict=True)
        if dtype != "bool" and (dtype, nodata) != ("uint64", 2**63 + 1):
            with pytest.raises(InvalidValue, match="^merge: nodata: must be "):
                outcome(tiling, tiles, nodata=nodata)


def test_the_fill_replaces_the_nodata():
    tiling = Tiling((2, 6), (4,), stride=2)
    tiles = [np.array([[1, NAN, 3, 4], [1, 0, 3, 4]]), np.array([[5, NAN, 7, 8], [5, 6, 7, 8]])]
    y = outcome(tiling, tiles, window="ones", nodata=0, fill=-1)
    assert y.tolist() == [[1, -1, 4, 4, 7, 8], [1, -1, 4, 5, 7, 8]]
    for reduce, expected in (("first", [1, -1, 3, 4, 7, 8]), ("last", [1, -1, 5, -1, 7, 8]), ("max", [1, -1, 5, 4, 7, 8])):
        assert outcome(tiling, tiles, reduce=reduce, nodata=0, fill=-1)[0].tolist() == expected
    assert np.array_equal(outcome(tiling, tiles, nodata="none"), outcome(tiling, tiles), equal_nan=True)
    assert np.isnan(outcome(tiling, tiles)[0, 1])


def test_weights_of_tiles_count_too():
    tiling = Tiling((1, 4), (3,), stride=1)
    merger = Merger(tiling, window="ones", nodata=0)
    merger.add(0, np.array([[1.0, 0, 3]]), weight=2)
    with pytest.raises(InvalidValue, match="must broadcast to the shape of the tile's result"):
        merger.add(1, np.array([[0.0, 6, 7]]), weight=[1, 2])
    merger.add(1, np.array([[0.0, 6, 7]]), weight=[[1, 4, 0.5]])
    assert merger.finish().tolist() == [[1, 0, 5, 7]]


def test_gaps_and_missing_tiles_hold_no_data():
    gaps = Tiling((10,), (4,), stride=6)
    with pytest.raises(InvalidValue, match="must cover every element of the output unless a fill is given"):
        outcome(gaps, [np.ones(4), np.ones(4)])
    assert outcome(gaps, [np.ones(4), np.ones(4)], nodata=-9).tolist() == [1] * 4 + [-9] * 2 + [1] * 4
    y = outcome(gaps, [np.ones(4), None], nodata=-9, mask=[True, False])
    assert y.tolist() == [1] * 4 + [-9] * 6
    assert gaps.bytes("f8", spec=MergeSpec(nodata=-9)) == gaps.bytes("f8", fill=-9)
    MergeSpec(nodata=-9).check(gaps, ResultType("float64"))
    with pytest.raises(InvalidValue, match="^merge: nodata: must be an integer in the range of the element type; given -9"):
        MergeSpec(nodata=-9).check(gaps, ResultType("uint8"))


def blur(tile, size=9):
    """Returns the mean of the elements with data around each element. The others stay without data."""
    valid = tile != -9
    sums = [np.pad(each, size // 2) for each in (np.where(valid, tile, 0), valid.astype(float))]
    sums = [np.lib.stride_tricks.sliding_window_view(each, (size, size)).sum((-2, -1)) for each in sums]
    return np.where(valid, sums[0] / np.maximum(sums[1], 1), -9)


@pytest.mark.parametrize("rules", [{"reduce": "center"}, {"window": "hann"}, {"reduce": "max"}])
def test_a_blur_keeps_the_elements_without_data(rules):
    """Checks that blending overlaps gives no value to elements without data."""
    rng = np.random.default_rng(0)
    x = rng.random((90, 110))
    x[rng.random(x.shape) < 0.3] = -9
    x[30:60, 40:70] = -9
    whole = blur(x)
    arguments = {"overlap": 16, "progress": False, "nodata": -9} | rules
    y = apply_tiled(blur, x, (40, 40), **arguments)
    assert np.array_equal(y == -9, x == -9)
    if rules.get("reduce") == "center":
        np.testing.assert_allclose(y, whole, rtol=1e-12)

    calls = iter(range(1000))

    def forgets(tile):  # every other tile has no data at all
        return blur(tile) if next(calls) % 2 else np.full_like(tile, NAN)

    y = apply_tiled(forgets, x, (40, 40), **arguments | {"reduce": "mean"})
    assert (y[x == -9] == -9).all() and ((y == -9) | (y > 0)).all() and not np.array_equal(y == -9, x == -9)


@pytest.mark.parametrize("reduce", ["center", "first", "mean"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32])
def test_complex_numbers_without_an_imaginary_part_are_real(dtype, reduce):
    x = np.arange(12).reshape(3, 4).astype(dtype)
    numbers = {"nodata": 5 + 0j, "fill": 7 + 0j}
    made = patchfold.apply_tiled(lambda tile: tile, x, (2, 2), overlap=0, reduce=reduce, progress=False, **numbers)
    np.testing.assert_array_equal(made, np.where(x == 5, 7, x).astype(made.dtype))


def test_an_error_says_what_a_nodata_is():
    tiling = Tiling((6,), (4,), stride=2)
    for nodata in ("0", [0], object(), "None", 2**70):
        for call in (lambda n: Merger(tiling, nodata=n), lambda n: MergeSpec(nodata=n)):
            with pytest.raises(patchfold.Error, match="^merge: nodata: must "):
                call(nodata)
    with pytest.raises(InvalidValue, match="merge: nodata: must not be given beside a spec"):
        Merger(tiling, spec=MergeSpec(), nodata=0)
    with pytest.raises(InvalidType, match="merge: tile 0 .*must be an array"):
        Merger(tiling, nodata=0).add(0, [1, 2, 3, 4])


def test_a_spec_holds_a_nodata():
    specs = [MergeSpec(nodata=nodata) for nodata in (None, "none", 0, -9.5, NAN)]
    assert len({repr(spec) for spec in specs}) == len(set(specs)) == len(specs)
    for spec in specs:
        assert pickle.loads(pickle.dumps(spec)) == spec
    assert repr(specs[3]) == "MergeSpec(nodata=-9.5)" and specs[3].nodata == -9.5
    assert ", nodata=-9.5)" in repr(Merger(Tiling((6,), (4,), stride=2), nodata=-9.5))

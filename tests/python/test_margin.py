# SPDX-License-Identifier: Apache-2.0
"""Compares tiles that reach beyond the array, and results of a n + b elements, with the same function of the whole array."""

import math
from fractions import Fraction

import numpy as np
import patchfold
import patchfold.dask
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_tiling_layout import Slices

MARGIN = "must be a number of elements, or for each tiled axis a number or (before, after)"
MODES = ["constant", "edge", "reflect", "symmetric", "wrap"]


def sums(x, axes, borders, scale=1):
    """Returns sums of the elements from `before` elements before to `after` elements behind each element, without padding,
    and each sum `scale` times along each axis."""
    for axis, (before, after) in zip(axes, borders, strict=True):
        windows = np.lib.stride_tricks.sliding_window_view(x, before + 1 + after, axis)
        x = windows.sum(-1).repeat(scale, axis)
    return x


@st.composite
def problems(draw):
    rank = draw(st.integers(1, 3))
    tiled = draw(st.integers(1, rank))
    axes = tuple(sorted(draw(st.permutations(range(rank)))[:tiled]))
    shape = tuple(draw(st.integers(1, 12)) for _ in range(rank))
    borders = [(draw(st.integers(0, 3)), draw(st.integers(0, 3))) for _ in axes]
    tile = tuple(draw(st.integers(1, 6)) + sum(border) for border in borders)
    stride = tuple(draw(st.integers(1, size - sum(border))) for size, border in zip(tile, borders, strict=True))
    scale = draw(st.sampled_from([1, 1, 2, 3]))
    tail = draw(st.sampled_from(["shift_or_pad", "pad"]))
    reduce = draw(st.sampled_from(["mean", "center", "first", "last", "max", "min"]))
    return shape, axes, borders, tile, stride, scale, tail, reduce, draw(st.sampled_from(MODES))


@settings(max_examples=300, deadline=None)
@given(problems(), st.integers(0, 99), st.booleans())
def test_networks_without_padding_give_the_padded_whole(problem, seed, stored):
    shape, axes, borders, tile, stride, scale, tail, reduce, mode = problem
    if mode == "reflect" and 1 in [shape[axis] for axis in axes]:
        return  # NumPy repeats a single element
    x = np.random.default_rng(seed).integers(-99, 99, shape).astype(float)
    whole = [(0, 0)] * len(shape)
    for axis, border in zip(axes, borders, strict=True):
        whole[axis] = border
    results = [scale * (size - sum(border)) for size, border in zip(tile, borders, strict=True)]
    made = patchfold.apply_tiled(
        lambda part: sums(part, axes, borders, scale), Slices(x) if stored else x, tile, stride=stride, axes=axes, tail=tail,
        scale=scale, margin=borders, padding_mode=mode, offset=[scale * before for before, _ in borders], result=results,
        reduce=reduce, progress=False,
    )  # fmt: skip
    np.testing.assert_array_equal(made, sums(np.pad(x, whole, mode=mode), axes, borders, scale), strict=True)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 30), st.integers(2, 6), st.integers(2, 5), st.data())
def test_decoders_that_join_frames(extent, tile, times, data):
    stride = data.draw(st.integers(1, tile - 1))
    x = np.random.default_rng(extent).random((extent, 2))

    def decode(part):  # n frames -> times * (n - 1) + 1
        return part.repeat(times, axis=0)[times - 1 :]

    if tile > extent:
        return
    arguments = {"scale": times, "result": times * (tile - 1) + 1, "output": times * (extent - 1) + 1}
    made = patchfold.apply_tiled(decode, x, tile, stride=stride, axes=0, progress=False, **arguments)
    np.testing.assert_array_equal(made, decode(x), strict=True)


def test_results_of_the_tile_are_cut_to_the_array():
    x = np.random.default_rng(0).integers(0, 99, (3, 50, 70)).astype(float)

    def blur(tile):  # zeros beyond the tile, as networks have them
        return sums(np.pad(tile, ((0, 0), (2, 2), (2, 2))), (1, 2), [(2, 2)] * 2)

    made = patchfold.apply_tiled(
        blur, x, (20, 20), overlap=4, margin=2, padding_mode="wrap", reduce="center", progress=False
    )
    whole = sums(np.pad(x, ((0, 0), (2, 2), (2, 2)), mode="wrap"), (1, 2), [(2, 2)] * 2)
    np.testing.assert_array_equal(made, whole)


@pytest.mark.parametrize("mode", MODES)
def test_chunks_of_dask_are_read_beyond_the_ends(mode):
    array = pytest.importorskip("dask.array")
    x = np.random.default_rng(1).integers(0, 99, (40, 60)).astype(float)
    arguments = {
        "overlap": 6, "margin": ((3, 3), (5, 1)), "offset": (3, 5), "result": (10, 10), "padding_mode": mode,
    }  # fmt: skip
    borders = [(3, 3), (5, 1)]
    whole = sums(np.pad(x, borders, mode=mode), (0, 1), borders)
    lazy = patchfold.dask.apply_tiled(
        lambda tile: sums(tile, (0, 1), borders),
        array.from_array(x, chunks=(16, 16)),
        (16, 16),
        chunks=(20, 20),
        **arguments,
    )
    np.testing.assert_array_equal(lazy.compute(scheduler="sync"), whole)


def test_a_wrapped_tile_reads_both_ends_and_not_the_whole():
    store = Slices(np.arange(10_000).reshape(100, 100))
    t = patchfold.Tiling(store.shape, (16, 16), overlap=0, margin=4, padding_mode="wrap")
    corner = t.read(store, 0)
    assert corner[0, 0] == 9696 and corner[4, 4] == 0 and store.most <= 144


def test_stride_is_the_tile_less_the_overlap():
    x = np.random.default_rng(2).random((30, 40))
    for call in (patchfold.apply_tiled, patchfold.merge_labels):
        fn = (lambda tile: (tile > 0.5).astype(int)) if call is patchfold.merge_labels else np.sqrt
        made = [call(fn, x, (16, 16), progress=False, **each) for each in ({"stride": 12}, {"overlap": 4})]
        np.testing.assert_array_equal(*made)
        with pytest.raises(patchfold.InvalidType, match="^tiling: overlap: is required, or stride"):
            call(fn, x, (16, 16))
        with pytest.raises(patchfold.InvalidValue, match="^tiling: stride: must not be given together with overlap"):
            call(fn, x, (16, 16), overlap=4, stride=12)


def test_fractions_of_an_overlap_follow_their_rule():
    for tile in (1, 2, 3, 7, 16, 100, 255):
        for part in (0.0, 0.1, 0.25, 1 / 3, 0.5, 0.75, 0.99):
            expected = min(math.floor(Fraction(part) * tile + Fraction(1, 2)), tile - 1)
            assert patchfold.Tiling((300,), tile, overlap=part).overlap == (expected,)


def refusal(fn, x, tile, **arguments):
    with pytest.raises(patchfold.InvalidValue) as caught:
        patchfold.apply_tiled(fn, x, tile, progress=False, **arguments)
    return str(caught.value)


def test_hints_name_the_rule_of_the_results():
    x = np.zeros((3, 1000, 1000), np.float32)
    told = refusal(lambda t: t[:, 4:-4, 4:-4], x, (512, 512), overlap=8)
    assert told.endswith(
        "make the tiling with offset=4 and result=504, and merge with fill=0 for the border of the whole, or with offset=4 "
        "and result=504 and margin=4"
    )
    cut = {"offset": (4, 4), "result": (504, 504)}
    assert patchfold.apply_tiled(lambda t: t[:, 4:-4, 4:-4], x, (512, 512), overlap=8, margin=4, **cut).shape == x.shape
    told = refusal(lambda t: t[2:-2], np.zeros(64), 20, overlap=4)
    assert "with offset=2 and result=16, " in told and "scale" not in told
    told = refusal(lambda t: t.repeat(4, 0)[3:], np.zeros((33, 8)), 5, overlap=1, axes=0)
    assert told.endswith("results of this extent need a tiling with scale=4 and result=17 and output=129")


@pytest.mark.parametrize(("margin", "error"), [
    (1.5, f"margin: {MARGIN}; given 1.5 of type float"),
    ("4", f"margin: {MARGIN}; given '4' of type str"),
    ([], f"margin: {MARGIN}; given [] of type list"),
    ([(1, 2, 3)], f"margin: {MARGIN}"),
    ((1, 2, 3), "margin: must have one entry for each extent of the tile; given (1, 2, 3), expected 2 entries"),
    (2**60, "margin: must stay below 2^60"),
    (2**70, "margin: "),
])  # fmt: skip
def test_wrong_margins(margin, error):
    with pytest.raises(patchfold.Error) as caught:
        patchfold.Tiling((20, 20), (8, 8), overlap=0, margin=margin)
    assert str(caught.value).startswith(f"tiling: {error}")


@pytest.mark.parametrize(("extent", "tile", "stride", "margin"), [(17, 6, 4, 1), (17, 6, 2, 5), (3, 9, 9, 4), (9, 4, 4, 3)])
def test_boxes_with_nodata_of_tiles_that_are_cut_at_both_ends(extent, tile, stride, margin):
    t = patchfold.Tiling((extent,), tile, stride=stride, margin=margin, tail="partial", scale=2)
    rng = np.random.default_rng(extent)
    results = [rng.random(each.result_shape).astype(np.float32) for each in t]
    for result in results:
        result[rng.random(result.shape) < 0.3] = -1
    spec = patchfold.MergeSpec(nodata=-1)
    merger = patchfold.Merger(t, spec=spec)
    for i, result in enumerate(results):
        merger.add(i, result)
    whole = merger.finish()
    for start in range(0, len(whole), 3):
        for stop in range(start + 1, len(whole) + 1, 4):
            box = (slice(start, stop),)
            pieces = {i: results[i][t.piece(i, box)] for i in t.touching(box)[0]}
            np.testing.assert_array_equal(patchfold.merge_box(t, spec, box, pieces), whole[start:stop])

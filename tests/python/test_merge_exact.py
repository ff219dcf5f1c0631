# SPDX-License-Identifier: Apache-2.0
"""Checks that arrays keep their bits when they are cut and merged: every type, memory layout, order of tiles, window,
number of threads and instruction set."""

from functools import partial

import ml_dtypes
import numpy as np
import patchfold
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_tiling_layout import random_bits
from tile_model import WINDOWS

NUMBERS = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
SMALL = [getattr(ml_dtypes, f"float8_{name}") for name in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz")] + [ml_dtypes.bfloat16]
MOVED = ["S3", "U2", "M8[s]", "m8[us]", "i4,f8", ">i4", ">f8", "V5"]
REDUCES = ("mean", "max", "min", "first", "last", "center")


@pytest.fixture(autouse=True)
def machine():
    """Restores the number of threads and the instruction set after the test."""
    yield
    patchfold.set_num_threads(0)
    patchfold.use_instruction_set("")


def laid_out(array, how):
    """Returns the elements in another memory layout."""
    if how == "column-major":
        return np.asfortranarray(array)
    if how == "negative":
        return np.ascontiguousarray(array[..., ::-1])[..., ::-1]
    if how == "every second":
        wide = np.zeros((*array.shape, 2), array.dtype)
        wide[..., 1] = array
        return wide[..., 1]
    if how == "unaligned":
        return np.frombuffer(b"\0" + array.tobytes(), array.dtype, offset=1).reshape(array.shape)
    array = array.copy()
    array.flags.writeable = False
    return array


def received(bands, rows, band):
    bands.append((rows, band))


def merged(tiling, tiles, **arguments):
    merger = patchfold.Merger(tiling, **arguments)
    for index, tile in enumerate(tiles):
        merger.add(index, tile)
    return merger.finish()


LAYOUTS = ("row-major", "column-major", "negative", "every second", "unaligned")


@st.composite
def merges(draw):
    """Draws (tiling, type, arguments of Merger)."""
    rank = draw(st.integers(1, 4))
    tiled = draw(st.integers(1, min(3, rank)))
    axes = tuple(sorted(draw(st.permutations(range(rank)))[:tiled]))
    most = {1: 60, 2: 16, 3: 9, 4: 6}[rank]
    shape = tuple(draw(st.integers(1, most)) for _ in range(rank))
    tail = draw(st.sampled_from(["shift", "pad", "partial"]))
    tile = tuple(draw(st.integers(1, shape[axis] if tail == "shift" else 7)) for axis in axes)
    overlap = tuple(draw(st.integers(0, size - 1)) for size in tile)
    tiling = patchfold.Tiling(shape, tile, overlap=overlap, tail=tail, axes=axes, padding_mode="edge")
    kind = draw(st.sampled_from([*NUMBERS, *SMALL, *MOVED]))
    dtype = np.dtype(kind)
    moved = dtype.kind in "SUMm" or kind in MOVED
    reduce = draw(st.sampled_from(("first", "last", "center") if moved else REDUCES))
    if reduce in ("max", "min") and (dtype.kind == "c" or moved):
        reduce = "center"
    window = draw(st.sampled_from([None, *WINDOWS, ("gaussian", 0.3), "lists", "array"]))
    if dtype in (np.int64, np.uint64) and reduce == "mean":
        window = "ones"
    seeds = np.random.default_rng(draw(st.integers(0, 9)))
    whole = tiling._native.result
    if window == "lists":
        window = [seeds.uniform(0.1, 9, extent) for extent in whole]
    elif window == "array":
        window = seeds.uniform(1e-3, 9, whole)
    return tiling, dtype, {"reduce": reduce, "window": window, "copy": draw(st.booleans())}


@settings(max_examples=500, deadline=None)
@given(st.data())
def test_merge_of_split_is_the_array(data):
    tiling, dtype, arguments = data.draw(merges())
    patchfold.set_num_threads(data.draw(st.integers(1, 3)))
    patchfold.use_instruction_set(data.draw(st.sampled_from(patchfold.instruction_sets())))
    x = random_bits(tiling.shape, dtype, data.draw(st.integers(0, 99)))  # with NaN of every payload, and -0.0
    order = data.draw(st.permutations(range(len(tiling)))) if len(tiling) < 40 else list(range(len(tiling)))[::-1]
    merger = patchfold.Merger(tiling, **arguments)
    for index in order:
        tile = laid_out(tiling.cut(x, index), data.draw(st.sampled_from(LAYOUTS)))
        merger.add(index, tile)
        if arguments["copy"] and tile.flags.writeable:
            tile[...] = np.zeros((), dtype)
    y = merger.finish()
    assert y.dtype == x.dtype and y.shape == x.shape and isinstance(y, np.ndarray)
    assert y.tobytes() == x.tobytes()
    assert merger.waiting_bytes == 0
    if order == list(range(len(tiling))):
        kind = dtype if dtype.isnative else dtype.newbyteorder("=")
        assert merger.peak_bytes == tiling.bytes(kind, **arguments).most


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_results_do_not_depend_on_order_threads_instructions_memory_or_the_way_out(data):
    tiling, dtype, arguments = data.draw(merges())
    if dtype.kind not in "?iufc" and dtype.type not in SMALL:
        return
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    tiles = [random_bits(t.result_shape, dtype, rng.integers(2**31)) for t in tiling]
    found = set()
    for threads in (1, 3):
        for instructions in patchfold.instruction_sets():
            patchfold.set_num_threads(threads)
            patchfold.use_instruction_set(instructions)
            for copies, way in ((False, "array"), (True, "rows"), (True, "given")):
                bands, out = [], None
                if way == "rows":
                    out = partial(received, bands)
                elif way == "given":
                    out = np.empty(tiling.shape[::-1], dtype).T
                merger = patchfold.Merger(tiling, **arguments | {"copy": copies}, out=out)
                for index in rng.permutation(len(tiling)):
                    merger.add(index, laid_out(tiles[index], rng.choice(LAYOUTS)))
                y = merger.finish()
                if way == "rows":
                    assert [rows.stop for rows, _ in bands[:-1]] == [rows.start for rows, _ in bands[1:]]
                    y = np.empty(tiling.shape, dtype)
                    for rows, band in bands:
                        y[(slice(None),) * tiling.stream_axis + (rows,)] = band
                found.add(np.ascontiguousarray(y).tobytes())
    assert len(found) == 1


@pytest.mark.parametrize("channels", [(), (1,), (5,), (2, 3), (0,)])
@pytest.mark.parametrize("axes", [None, (-2, -1), (0, 1), (-3, -2)])
def test_results_with_other_channels(channels, axes):
    """Checks results with more or fewer axes than the picture. Negative axes count from the end of the result's axes."""
    rank = 2 + len(channels)
    if axes == (-3, -2) and rank < 3:
        return
    picture = (30, 20) if axes != (-3, -2) else (30, 20, 4)
    tiling = patchfold.Tiling(picture, (8, 8), overlap=3, axes=axes)
    tiled = [axis % rank for axis in (axes or (-2, -1))]
    rest = iter(channels)
    shape = [None] * rank
    for axis, extent in zip(tiled, (30, 20), strict=True):
        shape[axis] = extent
    shape = tuple(next(rest) if extent is None else extent for extent in shape)
    y = np.random.default_rng(0).random(shape)
    merger = patchfold.Merger(tiling)
    for tile in tiling:
        where = [slice(None)] * rank
        for axis, own in zip(tiled, tiling.axes, strict=True):
            where[axis] = tile.write[own]
        merger.add(tile, y[tuple(where)])
    np.testing.assert_array_equal(merger.finish(), y, strict=True)


def test_arrays_without_elements():
    for shape in ((0,), (4, 0), (0, 5)):
        tiling = patchfold.Tiling(shape, (2,), overlap=0, tail="partial")
        tiles = (np.zeros(tile.result_shape, np.float32) for tile in tiling)
        assert merged(tiling, tiles, dtype="float32").shape == shape


def test_a_large_merge_in_threads():
    """Merges arrays that are large enough for every strategy: copied rows, blended rows, and rows written past the cache."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 255, (3, 2000, 1500)).astype(np.float32)
    tiling = patchfold.Tiling(x.shape, (512, 512), overlap=64)
    results = []
    for threads in (1, 2, 3):
        patchfold.set_num_threads(threads)
        results.append(merged(tiling, (t + np.float32(i % 7) for i, t in enumerate(tiling.split(x)))).tobytes())
    assert len(set(results)) == 1


def test_sklearn_patches_as_large_as_the_image_along_one_axis():
    """Tests a case where scikit-learn divides by 128 along an axis with one patch, although the count is 1."""
    image = np.random.default_rng(0).random((128, 256))
    tiling = patchfold.Tiling(image.shape, (128, 128), stride=1)
    assert tiling.grid == (1, 129)
    np.testing.assert_array_equal(merged(tiling, tiling.split(image), window="ones"), image)
    counts = tiling.coverage()
    assert counts[:, 0].tolist() == [1] * 128 and counts[:, 128].tolist() == [128] * 128
    # The mean of different patches divides by the number of patches that cover the element.
    tiles = [np.full((128, 128), float(k)) for k in range(129)]
    y = merged(tiling, tiles, window="ones")
    assert y[0, 0] == 0 and y[5, 1] == 0.5 and y[0, 255] == 128 and y[7, 128] == np.mean(np.arange(1, 129))


def box(part):
    """Returns the convolution of a tile with 5x5 integer weights, padded by zeros."""
    padded = np.pad(part, 2)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5))
    return (windows * np.arange(25).reshape(5, 5)).sum((-2, -1))


@pytest.mark.parametrize("tile", [(12, 12), (16, 13), (40, 9)])
def test_stardist_tiles_that_overlap_by_the_receptive_field_are_the_whole(tile):
    """Checks that `center` takes no element near a tile's border, where results differ, if the overlap is large enough."""
    x = np.random.default_rng(0).integers(-99, 99, (60, 51))
    for tail in ("shift", "partial"):
        y = patchfold.apply_tiled(box, x, tile, overlap=4, reduce="center", tail=tail, progress=False)
        np.testing.assert_array_equal(y, box(x))

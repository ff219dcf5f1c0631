# SPDX-License-Identifier: Apache-2.0
"""Compares tilings with a model, and tiles with numpy.pad. Tests JSON, pickles, and tiles in every memory layout."""

import copy
import json
import pickle
from fractions import Fraction
from itertools import product
from math import prod
from typing import get_args

import ml_dtypes
import numpy as np
import patchfold
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patchfold import _core, _typing
from tile_model import TAILS, Axis, Refused

TYPES = ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16", "S3", "U2", "M8[s]", "i4,f8", ">i4"]


def words_of(kind):
    """Returns the words that a Literal type of Python lists. The library's own words replace those of other systems."""
    inner = [get_args(each) or (each,) for each in get_args(kind)]
    return tuple(dict.fromkeys(_core.word_here(word) for words in inner for word in words))


def test_types_list_the_words_of_the_library():
    assert {name: words_of(getattr(_typing, name)) for name in _core.WORDS} == _core.WORDS


@st.composite
def problems(draw, most=12, scaled=True):
    """Draws (shape, tile, arguments of Tiling, axes of the model), which may be valid or not."""
    rank = draw(st.integers(1, 3))
    tiled = draw(st.integers(1, rank))
    axes = sorted(draw(st.permutations(range(rank)))[:tiled])
    shape = tuple(draw(st.integers(0, most)) for _ in range(rank))
    tile = tuple(draw(st.integers(1, 6)) for _ in range(tiled))
    stride = tuple(draw(st.integers(1, size + 2)) for size in tile)
    tail = draw(st.sampled_from(TAILS))
    scale = tuple(draw(st.sampled_from([Fraction(1), Fraction(2), Fraction(1, 2), Fraction(3, 2)])) for _ in tile)
    if not scaled:
        scale = (Fraction(1),) * tiled
    offset = tuple(draw(st.integers(-2, 2)) if scaled else 0 for _ in tile)
    align = tuple(draw(st.sampled_from([1, 1, 1, 2, 3])) for _ in tile)
    margin = tuple(draw(st.sampled_from([(0, 0), (0, 0), (2, 2), (1, 3), (6, 0), (0, 9), (-1, 2)])) for _ in tile)
    output = tuple(draw(st.sampled_from([None, 0, 7])) for _ in tile) if scaled else (None,)
    arguments = {"stride": stride, "tail": tail, "axes": tuple(axes), "scale": scale, "offset": offset, "align": align}
    arguments |= {"margin": margin, "output": None if None in output else output}
    if draw(st.booleans()):
        arguments["axes"] = tuple(axis - rank for axis in axes)
    try:
        model = [
            Axis(
                shape[axis], tile[i], stride[i], tail, scale[i], offset[i], align=align[i], margin=margin[i],
                output=None if None in output else output[i],
            )
            for i, axis in enumerate(axes)
        ]  # fmt: skip
    except Refused:
        model = None
    return shape, tile, arguments, model


@settings(max_examples=400, deadline=None)
@given(problems())
def test_every_number_of_a_layout(problem):
    shape, tile, arguments, model = problem
    tiles_fit = all((size * ratio).denominator == 1 for size, ratio in zip(tile, arguments["scale"], strict=True))
    if model is None or not tiles_fit:
        with pytest.raises(patchfold.InvalidValue, match="^tiling: "):
            patchfold.Tiling(shape, tile, **arguments)
        return
    t = patchfold.Tiling(shape, tile, **arguments)
    axes = tuple(axis % len(shape) for axis in arguments["axes"])
    assert t.shape == shape and t.tile == tile and t.stride == arguments["stride"] and t.axes == axes
    assert t.grid == tuple(len(axis.tiles) for axis in model) and len(t) == prod(t.grid) == len(list(t))
    assert t.stream_axis == axes[0]
    output = list(shape)
    for axis, one in zip(axes, model, strict=True):
        output[axis] = one.output
    assert t.output_shape == tuple(output)
    for index, position in enumerate(product(*map(range, t.grid))):
        found = t[index]
        assert found == t[index - len(t)] and (found.index, found.position) == (index, position)
        for axis in range(len(shape)):
            if axis not in axes:
                assert found.read[axis] == found.write[axis] == found.keep[axis] == slice(None)
                assert found.shape[axis] == found.result_shape[axis] == shape[axis] and found.pad[axis] == (0, 0)
                continue
            one, k = model[axes.index(axis)], position[axes.index(axis)]
            origin, start, end, extent = one.tiles[k]
            before = min(max(-origin, 0), extent)
            begin, stop = one.writes()[k]
            assert found.read[axis] == slice(start, end) and found.shape[axis] == extent
            assert found.origin[axis] == origin and found.pad[axis] == (before, extent - (end - start) - before)
            assert found.write[axis] == slice(begin, stop) and found.result_shape[axis] == one.results[k]
            assert found.keep[axis] == slice(begin - one.starts[k], stop - one.starts[k])


@settings(max_examples=150, deadline=None)
@given(problems())
def test_coverage_counts_tiles(problem):
    shape, tile, arguments, model = problem
    try:
        t = patchfold.Tiling(shape, tile, **arguments)
    except patchfold.InvalidValue:
        return
    expected = np.zeros([axis.output for axis in model], np.int64)
    for each in t:
        expected[tuple(each.write[axis] for axis in t.axes)] += 1
    found = t.coverage()
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, expected)


@settings(max_examples=100, deadline=None)
@given(problems(), st.sampled_from([0, -1, 2**64 - 1, 0.5, float("inf"), float("nan"), -0.0, 1 + 2j]))
def test_json_and_pickles_give_the_same_tiling(problem, value):
    shape, tile, arguments, _ = problem
    try:
        t = patchfold.Tiling(shape, tile, **arguments, value=value)
    except patchfold.InvalidValue:
        return
    for again in (
        patchfold.Tiling.from_json(t.to_json()),
        patchfold.Tiling.from_json(t.to_json(tiles=False).encode()),
        pickle.loads(pickle.dumps(t)),
        copy.deepcopy(t),
    ):
        assert again == t and hash(again) == hash(t) and list(again) == list(t) and repr(again) == repr(t)
    listed = json.loads(t.to_json())["tiles"]
    assert [each["index"] for each in listed] == list(range(len(t)))
    assert t != patchfold.Tiling((*shape, 1), (*tile, 1), stride=(*arguments["stride"], 1), tail="drop") and t != "tiling"


@settings(max_examples=200, deadline=None)
@given(problems(scaled=False), st.sampled_from(TYPES), st.sampled_from(["constant", "edge", "reflect", "symmetric", "wrap"]))
def test_split_is_numpy_pad_and_slices(problem, kind, mode):
    shape, tile, arguments, model = problem
    if model is None or 0 in shape:
        return
    t = patchfold.Tiling(shape, tile, **arguments, padding_mode=mode)
    if mode == "reflect" and 1 in [shape[axis] for axis in t.axes]:
        return  # on an axis of one element, NumPy repeats it, as for edge: see the rulings of unfold
    x = random_bits(shape, kind)
    whole = [(0, 0)] * len(shape)
    for axis, one in zip(t.axes, model, strict=True):
        ends = [origin + extent - shape[axis] for origin, _, _, extent in one.tiles]
        whole[axis] = (max([-origin for origin, *_ in one.tiles] + [0]), max(ends + [0]))
    if mode == "constant":  # for strings, numpy.pad pads with "0", but patchfold with the empty string of zeros()
        padded = np.zeros([extent + sum(more) for extent, more in zip(shape, whole, strict=True)], x.dtype)
        padded[tuple(slice(more, more + extent) for extent, (more, _) in zip(shape, whole, strict=True))] = x
    else:
        padded = np.pad(x, whole, mode=mode)
    parts = list(t.split(x))
    assert len(parts) == len(t)
    store = Slices(x)
    for each, part in zip(t, parts, strict=True):
        places = zip(each.origin, each.shape, whole, strict=True)
        region = tuple(slice(origin + more, origin + more + extent) for origin, extent, (more, _) in places)
        read = t.read(store, each)
        assert read.tobytes() == part.tobytes() and read.shape == part.shape and store.most <= 2 * part.size + 8**3
        assert part.dtype == x.dtype and part.tobytes() == padded[region].tobytes() and part.shape == each.shape
        assert not np.shares_memory(part, x)


class Slices:
    """An array as a store, which only returns slices that lie in it. most: the most elements that one slicing returned."""

    def __init__(self, x):
        self.shape, self.dtype, self._x, self.most = x.shape, x.dtype, x, 0

    def __getitem__(self, slices):
        assert all(0 <= each.start <= each.stop <= extent for each, extent in zip(slices, self.shape, strict=True))
        part = self._x[slices]
        self.most = max(self.most, part.size)
        return part


def random_bits(shape, kind, seed=0):
    """Returns random elements, with all bits that the type allows."""
    dtype = np.dtype(kind)
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "U":
        return np.array([chr(i) for i in rng.integers(97, 123, prod(shape))], dtype).reshape(shape)
    return np.frombuffer(rng.bytes(prod(shape) * dtype.itemsize), dtype).reshape(shape)


@pytest.mark.parametrize("kind", ["row-major", "column-major", "negative", "broadcast", "unaligned", "read-only"])
def test_tiles_of_arrays_in_any_memory(kind):
    x = np.arange(11 * 13, dtype=np.int32).reshape(11, 13)
    x = {
        "row-major": lambda: x,
        "column-major": lambda: np.asfortranarray(x),
        "negative": lambda: x[::-1, ::-1],
        "broadcast": lambda: np.broadcast_to(x[:1], (11, 13)),
        "unaligned": lambda: np.frombuffer(b"\0" + x.tobytes(), np.int32, offset=1).reshape(11, 13),
        "read-only": lambda: np.frombuffer(x.tobytes(), np.int32).reshape(11, 13),
    }[kind]()
    t = patchfold.Tiling(x.shape, (4, 5), overlap=(1, 2))
    for tile, part in zip(t, t.split(x), strict=True):
        np.testing.assert_array_equal(part, x[tile.read], strict=True)
        out = np.empty_like(part)[::-1]
        assert t.cut(x, tile, out=out) is out
        np.testing.assert_array_equal(out, part)


def test_elements_that_numpy_lacks():
    x = np.arange(20).astype(ml_dtypes.bfloat16).reshape(4, 5)
    t = patchfold.Tiling(x.shape, (3, 3), overlap=1, tail="pad", value=-1.5)
    parts = list(t.split(x))
    assert parts[-1].dtype == x.dtype and parts[-1][-1, -1] == -1.5


def test_overlap_as_a_fraction_and_axes_as_one_number():
    assert patchfold.Tiling((100,), 16, overlap=0.25) == patchfold.Tiling((100,), (16,), overlap=4)
    assert patchfold.Tiling((9, 100), (4, 16), overlap=(0.5, 0.25)).overlap == (2, 4)
    assert patchfold.Tiling((9, 100, 3), 16, stride=8, axes=1).axes == (1,)
    assert patchfold.Tiling((9, 100), (4, 4), overlap=-2).stride == (6, 6)
    assert patchfold.Tiling((30,), 3, overlap=0, scale=1 / 3) == patchfold.Tiling((30,), 3, overlap=0, scale=Fraction(1, 3))


def test_repr_tells_what_is_not_the_default():
    assert repr(patchfold.Tiling((8, 8), (4, 4), overlap=0)) == (
        "<Tiling((8, 8), (4, 4), stride=(4, 4), tail='shift'): 4 tiles, grid (2, 2)>"
    )
    t = patchfold.Tiling((8, 8, 3), (4, 4), overlap=0, axes=(0, 1), tail="pad", value=2, scale=2, offset=1, result=6)
    assert repr(t) == (
        "<Tiling((8, 8, 3), (4, 4), stride=(4, 4), tail='pad', axes=(0, 1), padding_mode='constant', value=2, "
        "scale=(2, 2,), offset=(1, 1), result=(6, 6)): 4 tiles, grid (2, 2)>"
    )

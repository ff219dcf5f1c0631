# SPDX-License-Identifier: Apache-2.0
"""Tests `align`, which fits tiles to a network's strides: the merge equals the result for the whole picture."""

import json
import pickle

import numpy as np
import pytest
from patchfold import InvalidType, InvalidValue, Tiling, apply_tiled


def pooled(x, axis, size):
    """Returns x after max pooling, a weighted sum with both neighbours (0 beyond the ends) and upsampling on one axis."""
    x = np.moveaxis(x, axis, -1)
    cells = x.reshape(*x.shape[:-1], -1, size).max(-1)
    padded = np.pad(cells, [(0, 0)] * (cells.ndim - 1) + [(1, 1)])
    cells = padded[..., :-2] + 2 * padded[..., 1:-1] + padded[..., 2:] + 1
    return np.moveaxis(np.repeat(cells, size, -1), -1, axis)


def net_of(sizes):
    """Returns a network with a pool for each of the last axes. The net looks at up to 2 * size - 1 elements to each side."""

    def net(x):
        for axis, size in enumerate(sizes, x.ndim - len(sizes)):
            x = pooled(x, axis, size)
        return x

    return net


def whole(net, x, sizes):
    """Returns the net's result for the whole picture, which is padded with zeros to whole pools and cropped again."""
    more = [0] * (x.ndim - len(sizes)) + [-extent % size for extent, size in zip(x.shape[-len(sizes) :], sizes, strict=True)]
    return net(np.pad(x, [(0, each) for each in more]))[tuple(map(slice, x.shape))]


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_aligned_tiles_give_the_result_for_the_whole_picture(rank):
    rng = np.random.default_rng(rank)
    for _ in range(40):
        sizes = tuple(map(int, rng.integers(1, 6, rank)))
        tile = tuple(size * int(rng.integers(6, 9)) for size in sizes)
        overlap = tuple(size * int(rng.integers(4, 6)) for size in sizes)
        tail = str(rng.choice(["shift", "shift_or_pad"]))
        least = [1 if tail == "shift_or_pad" else extent for extent in tile]
        x = rng.random((2, *(int(rng.integers(low, 3 * extent)) for low, extent in zip(least, tile, strict=True))))
        net = net_of(sizes)
        settings = {"reduce": "center", "align": sizes, "tail": tail, "progress": False}
        y = apply_tiled(net, x, tile, overlap=overlap, **settings)
        t = Tiling(x.shape, tile, overlap=overlap, align=sizes, tail=tail)
        starts = [[each.start for each in one.read[1:]] for one in t]
        assert not (np.array(starts) % sizes).any()
        if all(extent >= one for extent, one in zip(x.shape[1:], tile, strict=True)):
            assert np.array_equal(y, whole(net, x, sizes))
            assert all(begin + end < size for one in t for (begin, end), size in zip(one.pad[1:], sizes, strict=True))


def test_results_that_drop_a_border_are_exact_with_every_reduction():
    x = np.random.default_rng(0).random((64, 72))
    net, want = net_of((4, 4)), whole(net_of((4, 4)), x, (4, 4))
    settings = {"overlap": 16, "align": 4, "offset": 8, "result": 16, "fill": np.nan, "progress": False}
    for reduce in ("mean", "max", "min", "first", "last", "center"):
        y = apply_tiled(lambda tile: net(tile)[8:-8, 8:-8], x, (32, 32), reduce=reduce, **settings)
        assert np.array_equal(y[8:-8, 8:-8], want[8:-8, 8:-8])


def test_the_overlap_that_is_off_is_refused():
    net, x = net_of((4, 4)), np.random.default_rng(0).random((512, 512))
    want = whole(net, x, (4, 4))

    def tiled(overlap, align):
        return apply_tiled(net, x, (128, 128), overlap=overlap, align=align, reduce="center", progress=False)

    assert np.abs(tiled(30, 1) - want).max() > 0.4
    with pytest.raises(InvalidValue, match="given 30 along axis 0, expected 28 or 32, or a tile of 126 or 130"):
        tiled(30, 4)
    for overlap in (28, 32):
        assert np.array_equal(tiled(overlap, 4), want)


def test_align_is_part_of_a_tiling():
    t = Tiling((3, 30, 29), (12, 12), overlap=4, align=(4, 2), value=7)
    assert "value=7, align=(4, 2)" in repr(t) and json.loads(t.to_json())["align"] == [4, 2]
    for again in (Tiling.from_json(t.to_json()), pickle.loads(pickle.dumps(t))):
        assert again == t and hash(again) == hash(t) and list(again) == list(t)
    plain = Tiling((3, 30, 29), (12, 12), overlap=4, value=7)
    assert plain != t and plain == Tiling((3, 30, 29), (12, 12), overlap=4, align=1, value=7)
    assert "align" not in plain.to_json() + repr(plain)
    part = t.cut(np.ones((3, 30, 29)), (3, 0))
    assert part.shape == (3, 12, 12) and (part[:, :10] == 1).all() and (part[:, 10:] == 7).all()
    for align in ("4", 4.0, True):
        with pytest.raises(InvalidType, match="tiling: align"):
            Tiling((30,), (12,), overlap=4, align=align)


def test_stores_are_read_as_arrays_are():
    class Store:
        shape, dtype = (30, 29), np.dtype(float)

        def __getitem__(self, slices):
            return x[slices]

    x = np.random.default_rng(0).random((30, 29))
    for mode in ("constant", "edge", "reflect", "symmetric"):
        t = Tiling(x.shape, (12, 12), overlap=4, align=4, padding_mode=mode)
        for tile in t:
            assert np.array_equal(t.read(Store(), tile), t.cut(x, tile))
        assert np.array_equal(t.cut(x, -1), np.pad(x, [(0, 2), (0, 3)], mode=mode)[20:32, 20:32])

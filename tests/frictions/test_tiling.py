# SPDX-License-Identifier: Apache-2.0
"""Tests of problems that users had with tiles and merging, one test for each problem."""

import copy
import itertools
import pickle
from collections import OrderedDict, namedtuple

import numpy as np
import patchfold
import pytest
from patchfold import InvalidType, InvalidValue

X = np.random.default_rng(0).normal(size=(3, 50, 40)).astype(np.float32)
T = patchfold.Tiling(X.shape, (16, 12), overlap=4)
PHOTO = np.random.default_rng(1).integers(0, 256, (48, 64, 3), np.uint8)


def apply(fn, x=X, tile=(16, 12), *, overlap=4, **arguments):
    return patchfold.apply_tiled(fn, x, tile, overlap=overlap, **{"progress": False} | arguments)


def says(error, call):
    """Returns the message of a call's exception."""
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


# Results that were wrong without an error


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int16, np.int64])
def test_labels_survive(dtype):
    """Checks that merging tiles of the labels 0 and 4 blends them to no other labels."""
    labels = np.zeros((64, 64), dtype)
    calls = itertools.count()

    def noisy(tile):  # tiles that disagree where they overlap
        return np.full_like(tile, 4 * (next(calls) % 2))

    for merge in (lambda: apply(noisy, labels, (16, 16), overlap=8), lambda: merged(noisy, labels)):
        assert set(np.unique(merge()).tolist()) == {0, int(dtype(4))}


def merged(fn, x, **arguments):
    tiling = patchfold.Tiling(x.shape, (16, 16), overlap=8)
    merger = patchfold.Merger(tiling, **arguments)
    for tile, part in zip(tiling, tiling.split(x), strict=True):
        merger.add(tile, fn(part))
    return merger.finish()


def test_integers_are_blended_where_that_is_asked():
    x = np.zeros((24, 16), np.uint8)
    for arguments in ({"reduce": "mean"}, {"window": "hann"}, {"dtype": "float32"}):
        calls = itertools.count()
        y = merged(lambda tile, calls=calls: tile + np.uint8(100 * (next(calls) % 2)), x, **arguments)
        assert len(np.unique(y)) > 2, arguments
    assert patchfold.Tiling((24, 16), (16, 16), overlap=8).bytes("uint8").most == 0  # no tile waits for a neighbour


IDS = np.zeros((96, 96), np.int32)
IDS[1::4, 1::4] = IDS[1::4, 2::4] = np.arange(1, 577).reshape(24, 24)


def numbered(tile):
    """Numbers the objects of a tile, as scipy.ndimage.label does."""
    return np.unique(tile, return_inverse=True)[1].reshape(tile.shape).astype(np.int32)


@pytest.mark.parametrize("arguments", [{}, {"batch": 4}, {"tile": (32, 96)}, {"out": np.zeros((96, 96), np.int32)}])
def test_numbers_of_objects_of_each_tile_are_noticed(arguments):
    """Checks that functions such as scipy.ndimage.label, which number the objects of each tile anew, cause a warning."""
    fn = numbered if "batch" not in arguments else lambda tiles: np.stack([numbered(tile) for tile in tiles])
    with pytest.warns(UserWarning) as caught:
        y = apply(fn, IDS, **{"tile": (32, 32), "overlap": 8} | arguments)
    assert len(np.unique(y)) < len(np.unique(IDS))
    (warning,) = caught
    assert warning.filename == __file__
    assert "results of neighbouring tiles differ at" in str(warning.message)
    assert "patchfold.merge_labels gives each object one number in the whole" in str(warning.message)


def test_numbers_of_objects_among_several_results_are_noticed():
    with pytest.warns(UserWarning, match="differ at"):
        apply(lambda tile: {"same": tile, "numbered": numbered(tile)}, IDS, (32, 32), overlap=8)


def test_numbers_of_objects_in_tensors_are_noticed():
    torch = pytest.importorskip("torch")
    with pytest.warns(UserWarning, match="differ at"):
        apply(lambda tile: torch.from_numpy(numbered(tile.numpy())), torch.from_numpy(IDS), (32, 32), overlap=8)


@pytest.mark.filterwarnings("error")
def test_labels_that_mostly_agree_are_not_noticed():
    labels = np.random.default_rng(3).integers(0, 5, (96, 96)).astype(np.uint8)
    rng = np.random.default_rng(4)

    def uncertain(tile):  # changes a sixth of the elements, other ones in each tile
        return np.where(rng.random(tile.shape) < 1 / 6, 1, tile).astype(tile.dtype)

    calls = [
        (uncertain, {}),
        (lambda tile: tile + 0.5 * rng.random(), {}),
        (lambda tile: tile > rng.random(), {}),
        (numbered, {"reduce": "center"}),
        (numbered, {"window": "hann"}),
        (numbered, {"overlap": 0}),
        (numbered, {"overlap": -1, "fill": 0}),
    ]
    for fn, arguments in calls:
        apply(fn, labels if fn is uncertain else IDS, (32, 32), **{"overlap": 8} | arguments)
    mask = np.ones((4, 4), bool)
    mask[:, 1::2] = False
    apply(numbered, IDS, (32, 32), overlap=8, mask=mask, fill=0)  # no tile has a neighbour in its row


# Tiles that also cut the bands, without an error


@pytest.mark.parametrize(("shape", "tile", "first", "last"), [
    ((300, 400, 200), (64, 64), (0, 1), (1, 2)),
    ((300, 400, 12), (8, 8), (0, 1), (1, 2)),
    ((2, 90, 80, 30), (16, 16), (1, 2), (2, 3)),
    ((90, 80, 70, 60), (16, 16, 16), (0, 1, 2), (1, 2, 3)),
])  # fmt: skip
def test_bands_that_may_come_last_are_asked_for(shape, tile, first, last):
    with pytest.warns(UserWarning) as caught:
        patchfold.Tiling(shape, tile, overlap=2)
    (warning,) = caught
    assert warning.filename == __file__
    assert str(warning.message).endswith(f"give axes={first} if it holds bands, axes={last} if not")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("shape", "tile", "axes"), [
    ((300, 400, 200), (64, 64), (0, 1)),
    ((300, 400, 200), (64, 64), (-2, -1)),
    ((3, 400, 200), (64, 64), None),
    ((600, 512, 512), (64, 64), None),
    ((1000, 64), (16,), None),
    ((300, 200), (64, 64), None),
    ((16, 3, 640, 480), (64, 64), None),
    ((4, 128, 128, 90), (32, 32, 32), None),
])  # fmt: skip
def test_usual_shapes_are_not_asked_about(shape, tile, axes):
    tiling = patchfold.Tiling(shape, tile, overlap=2, axes=axes)
    assert pickle.loads(pickle.dumps(tiling)) == tiling


# Weights of a tile


@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("shape", [(), (16, 1), (16, 12), (3, 1, 1), (3, 16, 12)])
def test_weights_of_tiles(shape, copies):
    """Compares with the definition in float64, for every shape that broadcasts."""
    rng = np.random.default_rng(5)
    window = [rng.uniform(0.5, 2, 16), rng.uniform(0.5, 2, 12)]
    sums, total = np.zeros(X.shape), np.zeros(X.shape)
    tiles, weights = [], []
    for tile in T:
        tiles.append(rng.normal(size=tile.shape).astype(np.float32))
        weights.append(rng.uniform(0.1, 3, shape))
        factor = np.broadcast_to(weights[-1], tile.shape) * np.multiply.outer(*window)
        sums[tile.write] += factor * tiles[-1]
        total[tile.write] += factor
    for reduce, expected in (("mean", sums / total), ("sum", sums)):
        found = []
        for order in (range(len(T)), rng.permutation(len(T))):
            merger = patchfold.Merger(T, window=window, reduce=reduce, copy=copies)
            for index in order:
                merger.add(int(index), tiles[index], weight=weights[index])
            found.append(merger.finish())
        np.testing.assert_allclose(found[0], expected, rtol=1e-5, atol=1e-5)
        assert found[0].tobytes() == found[1].tobytes()


def test_weights_of_torch():
    torch = pytest.importorskip("torch")
    merger = patchfold.Merger(T, window=torch.ones(16, 12, dtype=torch.float16))
    for tile, part in zip(T, T.split(torch.from_numpy(X)), strict=True):
        merger.add(tile, part, weight=torch.full((16, 1), 0.5, dtype=torch.bfloat16, requires_grad=True))
    assert torch.equal(merger.finish(), torch.from_numpy(X))


def test_weights_keep_equal_values_and_leave_out_zeros():
    line = patchfold.Tiling((6,), (4,), stride=2)
    for value in map(np.float32, (0.1, -0.0, np.nan, 1e-45, 3e38)):
        merger = patchfold.Merger(line)
        for index, weight in enumerate((0.3, np.array([7, 1e-9, 1e9, 3]))):
            merger.add(index, np.full(4, value), weight=weight)
        assert merger.finish().tobytes() == np.full(6, value).tobytes()
    merger = patchfold.Merger(line, window="ones")
    merger.add(0, np.array([1, 2, np.nan, 4.0]), weight=np.array([True, True, False, True]))
    merger.add((1,), np.array([8, 8, 8, 8.0]))
    assert merger.finish().tolist() == [1, 2, 8, 6, 8, 8]


def test_weights_that_leave_an_element_without_a_value():
    line = patchfold.Tiling((6,), (4,), stride=2)
    for zeros in (0, [1, 1, 0, 0]):
        merger = patchfold.Merger(line, window="ones")
        merger.add(0, np.ones(4), weight=[1, 1, 0, 1])
        assert says(InvalidValue, lambda m=merger, z=zeros: m.add(1, np.zeros(4), weight=z)) == (
            "merge: weight: must be above 0 in at least one tile of each element unless a fill is given; "
            f"given 0 in all tiles of element ({2 if zeros == 0 else 4},)"
        )
        merger.add(1, np.zeros(4))  # the refused tile may be added again
        assert merger.finish().tolist() == [1, 1, 0, 0.5, 0, 0]
    merger = patchfold.Merger(line, window="ones", fill=9)
    merger.add(0, np.ones(4), weight=0)
    merger.add(1, np.zeros(4), weight=[1, 1, 1, 0])
    assert merger.finish().tolist() == [9, 9, 0, 0, 0, 9]


def test_weights_of_other_kinds_are_refused():
    merger = patchfold.Merger(T)
    tile = T.cut(X, 0)
    cases = {"much": "real numbers; given <U4", 1j: "real numbers; given complex128", ((1,), (1, 2)): "numbers; given ((1,)"}
    for weight, text in cases.items():
        assert says(InvalidType, lambda w=weight: merger.add(0, tile, weight=w)).startswith(
            f"merge: weight: must hold {text}"
        )
    huge = np.broadcast_to(np.float32(1), (2**20, 2**20))
    assert says(InvalidValue, lambda: merger.add(0, tile, weight=huge)) == (
        "merge: weight: must broadcast to the shape of the tile's result; given (1048576, 1048576), expected (3, 16, 12)"
    )
    masked = np.ma.ones((16, 12))
    assert "merge: weight: must hold real numbers" in says(InvalidType, lambda: merger.add(0, tile, weight=masked))


# Tilings: pickle, repr, hash, indices


def test_a_merger_says_what_it_is_and_that_it_cannot_be_copied():
    merger = patchfold.Merger(T, reduce="mean", window="hann")
    merger.add(0, T.cut(X, 0))
    assert repr(merger) == f"<Merger({T!r}, window='hann', reduce='mean'): 1 of 20 tiles have come, 2304 bytes wait>"
    for duplicate in (pickle.dumps, copy.copy, copy.deepcopy):
        assert says(TypeError, lambda f=duplicate: f(merger)) == (
            "merge: merger: cannot be pickled or copied, since it holds the tiles that wait; expected its tiling, which can "
            "be pickled: results from other processes go to one merger"
        )
    merger.close()
    assert repr(merger).endswith(": closed>")
    weighed = patchfold.Merger(T, window=np.ones((16, 12)), dtype=np.float64)
    assert ", window=an array of (16, 12), dtype=<class 'numpy.float64'>): 0 of 20 tiles" in repr(weighed)


def test_tiles_have_a_hash():
    assert len({*T, *T}) == len(T) and hash(T[3]) == hash(pickle.loads(pickle.dumps(T[3])))


def test_tiles_by_place_and_by_slice():
    assert T.grid == (4, 5)
    assert T[0, 1] == T[1] and T[3, -1] == T[19] and T[np.int64(2), 0] == T[10]
    assert T[0:3] == [T[0], T[1], T[2]] and T[::-7] == [T[19], T[12], T[5]] and T[30:] == []
    np.testing.assert_array_equal(T.cut(X, (1, 2)), T.cut(X, 7))
    merger = patchfold.Merger(T)
    for position in np.ndindex(*T.grid):
        merger.add(position, T.cut(X, position))
    np.testing.assert_array_equal(merger.finish(), X)
    assert says(IndexError, lambda: T[4, 0]) == (
        "tiling: index: must lie in the grid of tiles; given (4, 0), expected a place in the grid (4, 5)"
    )
    assert says(InvalidType, lambda: merger.add((0, 1, 2), X)) == (
        "tiling: index: must be the number of a tile, or its place in the grid; given (0, 1, 2), expected a place in the "
        "grid (4, 5)"
    )
    assert says(InvalidType, lambda: T["a":]).startswith("tiling: index: a slice must have integers")


# Functions with several results


Pair = namedtuple("Pair", "scores labels")


@pytest.mark.parametrize("batch", [None, 3])
@pytest.mark.parametrize("kind", ["tuple", "list", "dict", "named", "ordered"])
def test_a_function_with_several_results(kind, batch):
    """Checks results with different channels and element types: labels are not blended, and scores are blended."""

    def model(tile):
        scores, labels = tile.mean(-3, keepdims=True), (tile[..., 0, :, :] > 0).astype(np.uint8)
        return {"tuple": (scores, labels), "list": [scores, labels], "dict": {"scores": scores, "labels": labels},
                "named": Pair(scores, labels), "ordered": OrderedDict(scores=scores, labels=labels)}[kind]  # fmt: skip

    y = apply(model, batch=batch)
    assert type(y).__name__ == {"named": "Pair", "ordered": "dict"}.get(kind, kind)
    scores, labels = y.values() if isinstance(y, dict) else y
    np.testing.assert_array_equal(scores, X.mean(0, keepdims=True), strict=True)
    np.testing.assert_array_equal(labels, (X[0] > 0).astype(np.uint8), strict=True)


def test_outputs_of_several_results(tmp_path):
    room = np.zeros(X.shape, np.float32)
    y = apply(lambda tile: {"a": np.sin(tile), "b": tile * 2}, out={"a": room, "b": tmp_path / "b.npy"})
    assert y["a"] is room
    np.testing.assert_array_equal(room, np.sin(X))
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), X * 2)
    first, second = apply(lambda tile: (tile, tile + 1), out=(None, room))
    np.testing.assert_array_equal(first, X)
    assert second is room and np.array_equal(room, X + 1)

    def fails(tile):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        apply(lambda tile: (tile, fails(tile)), out=(tmp_path / "c.npy", None))
    assert [path.name for path in tmp_path.iterdir()] == ["b.npy"]


def test_several_results_that_do_not_fit():
    calls = itertools.count()
    tile_1 = "result for tile 1 at position (0, 1)"
    assert says(InvalidValue, lambda: apply(lambda tile: (tile,) * (1 + next(calls) % 2))) == (
        f"apply_tiled: {tile_1}: must have the entries of the first; given 2 arrays, expected 1 arrays"
    )
    calls = itertools.count()
    assert says(InvalidValue, lambda: apply(lambda tile: tile if next(calls) else {"a": tile})) == (
        f"apply_tiled: {tile_1}: must have the entries of the first; given one array, expected a dict with 'a'"
    )
    assert says(InvalidValue, lambda: apply(lambda tile: (tile, tile[1:, 1:]))) == (
        "merge: result 1: tile 0 at position (0, 0): must have the shape of the tile's result; given (2, 15, 12), "
        "expected (2, 16, 12)"
    )
    assert says(InvalidType, lambda: apply(lambda tile: (tile, tile), out=X.copy())).startswith(
        "apply_tiled: out: must have an entry for each result; given array("
    )
    assert says(InvalidValue, lambda: apply(lambda tile: tile, out=(None, None))) == (
        "apply_tiled: result for tile 0 at position (0, 0): must have the same entries as out; given one array, expected 2 "
        "arrays"
    )
    room = np.zeros(X.shape, np.float32)
    for out in ((room, room), ("y.npy", "y.npy")):
        assert says(InvalidValue, lambda out=out: apply(lambda tile: (tile, tile), out=out)) == (
            "apply_tiled: out: must be another one for each result"
        )
    assert says(InvalidType, lambda: apply(lambda tile: [1, 2])).endswith("given list, expected numpy.asarray(x)")
    assert says(InvalidValue, lambda: apply(lambda tile: ())) == "apply_tiled: result: must have an entry; given ()"


# Arrays smaller than a tile


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
def test_an_array_smaller_than_the_tile(mode):
    """Checks that tail="shift_or_pad", like MONAI, pads an array smaller than a tile, and crops the result."""
    seen = []
    y = apply(lambda tile: seen.append(tile) or tile * 2, X, (64, 16), tail="shift_or_pad", padding_mode=mode, value=7)
    np.testing.assert_array_equal(y, X * 2)
    assert {tile.shape for tile in seen} == {(3, 64, 16)}
    more = {"constant_values": 7} if mode == "constant" else {}
    tiling = patchfold.Tiling(X.shape, (64, 16), overlap=4, tail="shift_or_pad")
    assert tiling[-1].read == (slice(None), slice(0, 50), slice(24, 40))  # columns are shifted, not padded
    padded = np.pad(X, ((0, 0), (0, 14), (0, 0)), mode, **more)
    np.testing.assert_array_equal(seen[-1], padded[..., 24:40])
    assert pickle.loads(pickle.dumps(tiling)) == tiling
    double = apply(lambda tile: tile.repeat(2, 1).repeat(2, 2), X, (64, 64), tail="shift_or_pad", scale=2)
    np.testing.assert_array_equal(double, X.repeat(2, 1).repeat(2, 2))


# Messages


@pytest.mark.parametrize(("scale", "text"), [
    (2, "results are twice as large as tiles, so make the tiling with scale=2"),
    (4, "results are 4 times as large as tiles, so make the tiling with scale=4"),
])  # fmt: skip
def test_results_that_are_larger_than_tiles(scale, text):
    def larger(tile):
        return tile.repeat(scale, 1).repeat(scale, 2)

    given = (3, 16 * scale, 12 * scale)
    assert says(InvalidValue, lambda: apply(larger)) == (
        "merge: tile 0 at position (0, 0): must have the shape of the tile's result; "
        f"given {given}, expected (3, 16, 12): {text} if that holds for tiles of every size"
    )
    np.testing.assert_array_equal(apply(larger, scale=scale), larger(X))


def test_results_that_are_smaller_than_tiles():
    assert says(InvalidValue, lambda: apply(lambda tile: tile[:, ::2, ::2])).endswith(
        "expected (3, 16, 12): results are half as large as tiles, so make the tiling with scale=1/2 if that holds for "
        "tiles of every size, or if results lack a border of tiles, make the tiling with overlap=(8, 6) and offset=(4, 3) "
        "and result=(8, 6), and merge with fill=0 for the border of the whole, or with overlap=(8, 6) and offset=(4, 3) and "
        "result=(8, 6) and margin=(4, 3)"
    )
    assert says(InvalidValue, lambda: apply(lambda tile: tile, scale=2)).endswith(
        "expected (3, 32, 24): results are as large as tiles, so make the tiling with scale=1 if that holds for tiles of "
        "every size"
    )
    merger = patchfold.Merger(T)
    merger.add(0, T.cut(X, 0))
    assert says(InvalidValue, lambda: merger.add(1, T.cut(X, 1)[:, ::2, ::4])).endswith(
        "expected (3, 16, 12): results of this extent need a tiling with scale=(1/2, 1/4)"
    )


def test_a_plan_for_another_element_type():
    x = np.zeros((1, 3, 8, 8), np.float32)
    plan = patchfold.plan("unfold", x, kernel_size=(2, 2))
    assert says(InvalidType, lambda: plan(x.astype(float))) == (
        "unfold: x: must have the element type of the plan; given float64, expected float32; make another plan, or "
        'x.astype("float32")'
    )

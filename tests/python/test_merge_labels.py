# SPDX-License-Identifier: Apache-2.0
"""Tests of merge_labels: components are those of the whole array, and all else is what a slow reference makes."""

import importlib.util
import itertools
import sys
import tracemalloc
import zlib

import numpy as np
import patchfold
import pytest
from patchfold import InvalidType, InvalidValue
from patchfold._tiles.labels import Labels


def merge(fn, x, tile, overlap, **arguments):
    return patchfold.merge_labels(fn, x, tile, overlap=overlap, progress=False, **arguments)


def components(mask, reach=1):
    """Returns the labels of connected components, 1, 2, .. in the order of their first elements. reach: the number of axes
    along which neighbours may differ."""
    steps = [step for step in itertools.product((-1, 0, 1), repeat=mask.ndim) if 0 < np.abs(step).sum() <= reach]
    wide = np.pad(np.asarray(mask) != 0, 1)
    labels = np.zeros(wide.shape, np.int64)
    count = 0
    for first in zip(*np.nonzero(wide), strict=True):
        if not labels[first]:
            count += 1
            labels[first] = count
            waiting = [first]
            while waiting:
                at = waiting.pop()
                for step in steps:
                    other = tuple(a + b for a, b in zip(at, step, strict=True))
                    if wide[other] and not labels[other]:
                        labels[other] = count
                        waiting.append(other)
    return labels[(slice(1, -1),) * mask.ndim]


def shuffled(labels, most=10**6):
    """Returns the same objects with other numbers, which depend on the tile."""
    rng = np.random.default_rng(zlib.crc32(labels.tobytes()))
    return np.concatenate(([0], 1 + rng.choice(most, int(labels.max(initial=0)), replace=False)))[labels]


def random_problem(rng, largest=(40, 18, 8)):
    shape = tuple(map(int, rng.integers(3, largest[int(rng.integers(3))], 1 + int(rng.integers(3)))))
    shape = shape[: 1 if max(shape) > largest[1] else 2 if max(shape) > largest[2] else 3]
    tile = tuple(int(rng.integers(2, extent + 1)) for extent in shape)
    overlap = tuple(int(rng.integers(1, extent)) for extent in tile)
    return shape, tile, overlap, str(rng.choice(["shift", "pad", "partial", "shift_or_pad"]))


@pytest.mark.parametrize("seed", range(5))
def test_components_are_those_of_the_whole_array(seed):
    rng = np.random.default_rng(seed)
    for _ in range(15):
        shape, tile, overlap, tail = random_problem(rng)
        x = rng.random(shape) < rng.choice([0.2, 0.4, 0.6, 0.9])
        reach = int(rng.integers(1, len(shape) + 1))
        y = merge(lambda part, reach=reach: shuffled(components(part, reach)), x, tile, overlap, tail=tail)
        np.testing.assert_array_equal(y, components(x, reach).astype(np.uint32), strict=True)


def test_scipy_finds_the_same_objects_with_the_same_numbers():
    label = pytest.importorskip("scipy.ndimage").label
    structure = pytest.importorskip("scipy.ndimage").generate_binary_structure
    rng = np.random.default_rng(7)
    for _ in range(150):
        shape, tile, overlap, tail = random_problem(rng)
        x = rng.random(shape) < rng.choice([0.2, 0.4, 0.6, 0.9])
        near = structure(len(shape), int(rng.integers(1, len(shape) + 1)))
        y = merge(lambda part, near=near: label(part, near)[0], x, tile, overlap, tail=tail)
        np.testing.assert_array_equal(y, label(x, near)[0].astype(np.uint32), strict=True)


def reference(tiling, results, join):
    """Returns the labels that the definition gives, element by element. results: an array of labels for each tile."""
    shape = tiling.output_shape
    seen = {}  # for each element, the labels that tiles give it
    for tile, result in zip(tiling, results, strict=True):
        for at in itertools.product(*(range(span.start, span.stop) for span in tile.write)):
            inside = tuple(a - w.start + k.start for a, w, k in zip(at, tile.write, tile.keep, strict=True))
            seen.setdefault(at, {})[tile.index] = int(result[inside])
    name, least = (join, 0.5) if isinstance(join, str) else join
    objects = {(index, label): {(index, label)} for labels in seen.values() for index, label in labels.items() if label}
    for i, j in itertools.combinations(range(len(tiling)), 2):
        both = [(labels[i], labels[j]) for labels in seen.values() if i in labels and j in labels]
        for a, b in {pair for pair in both if all(pair)}:
            common = sum(pair == (a, b) for pair in both)
            first, second = sum(pair[0] == a for pair in both), sum(pair[1] == b for pair in both)
            whole = {"touch": 0, "iou": first + second - common, "share": min(first, second)}[name]
            if not whole or common / whole >= least:
                one = objects[i, a] | objects[j, b]
                for each in one:
                    objects[each] = one
    halves = [extent / 2 for extent in tiling._native.result]
    middles = [
        [w.start - k.start + half for w, k, half in zip(tile.write, tile.keep, halves, strict=True)] for tile in tiling
    ]
    y, numbers = np.zeros(shape, np.uint32), {}
    for at in itertools.product(*map(range, shape)):
        labels = seen.get(at, {})
        near = {i: sum(abs(a + 0.5 - m) for a, m in zip(at, middles[i], strict=True)) for i in labels}
        owner = min(labels, key=lambda i: (near[i], i), default=None)
        if owner is not None and labels[owner]:
            y[at] = numbers.setdefault(frozenset(objects[owner, labels[owner]]), len(numbers) + 1)
    return y


def blocky(part):
    """Returns labels that have nothing to do with those of other tiles, in blocks, so that they share various parts."""
    rng = np.random.default_rng(zlib.crc32(np.ascontiguousarray(part).tobytes()))
    size = int(rng.integers(1, 4))
    small = rng.integers(0, 4, [-(-extent // size) for extent in part.shape])
    for axis in range(part.ndim):
        small = small.repeat(size, axis)
    return small[tuple(slice(extent) for extent in part.shape)]


JOINS = ["touch", "iou", "share", ("iou", 0.2), ("iou", 1), ("share", 1.0), ("share", 1 / 3)]


@pytest.mark.parametrize("join", JOINS)
def test_any_labels_are_joined_as_the_definition_says(join):
    rng = np.random.default_rng(JOINS.index(join))
    for _ in range(8):
        shape, tile, overlap, tail = random_problem(rng, (30, 10, 6))
        x = rng.random(shape)
        tiling = patchfold.Tiling(shape, tile, overlap=overlap, tail=tail)
        results = [blocky(part) for part in tiling.split(x)]
        want = reference(tiling, results, join)
        np.testing.assert_array_equal(merge(blocky, x, tile, overlap, tail=tail, join=join), want, strict=True)
        labels = Labels(tiling, join if isinstance(join, tuple) else (join, 0.5), np.dtype("uint32"))
        merger = patchfold.Merger(tiling, reduce="center")
        for index in rng.permutation(len(tiling)):  # tiles in any order
            merger.add(tiling[int(index)], labels.add(tiling[int(index)], results[index]))
        np.testing.assert_array_equal(labels.final()[merger.finish()], want)


def test_results_of_another_size_and_without_a_border():
    x = np.random.default_rng(0).random((30, 26))
    where = {"scale": 2, "offset": 2, "result": (16, 12)}
    tiling = patchfold.Tiling(x.shape, (10, 8), overlap=4, **where)

    def fn(part):
        return blocky(part.repeat(2, 0).repeat(2, 1)[2:-2, 2:-2])

    y = merge(fn, x, (10, 8), 4, **where)
    np.testing.assert_array_equal(y, reference(tiling, [fn(part) for part in tiling.split(x)], "touch"))
    assert y.any() and not y[:2].any()


def discs(shape, count, radius, seed, gap=2):
    """Returns labels of discs that do not touch."""
    rng = np.random.default_rng(seed)
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    labels, made = np.zeros(shape, np.int32), 0
    while made < count:
        row, column, size = rng.uniform(0, shape[0]), rng.uniform(0, shape[1]), rng.uniform(*radius)
        away = np.hypot(rows - row, columns - column)
        if not labels[away < size + gap].any() and (away < size).any():
            made += 1
            labels[away < size] = made
    return labels


def in_order(labels):
    """Returns the same objects as 1, 2, .. in the order of their first elements."""
    found, first, places = np.unique(labels, return_index=True, return_inverse=True)
    assert found[0] == 0
    numbers = np.zeros(len(found), int)
    numbers[1 + np.argsort(first[1:])] = np.arange(1, len(found))
    return numbers[places].reshape(labels.shape)


def anew(part):
    """Returns the objects of a tile with numbers of the tile's own."""
    found = np.unique(part[part > 0])
    return shuffled(np.searchsorted(np.concatenate(([0], found)), part))


CELLS = discs((150, 170), 40, (3, 12), 1)
WANT = in_order(CELLS)


@pytest.mark.parametrize("join", ["touch", "iou", "share"])
@pytest.mark.parametrize(("tile", "overlap"), [((64, 64), 32), ((50, 90), (20, 31)), ((150, 40), 1), ((9, 13), 0.3)])
def test_objects_that_tiles_cut_are_whole_again(join, tile, overlap):
    np.testing.assert_array_equal(merge(anew, CELLS, tile, overlap, join=join), WANT)


def test_objects_that_are_longer_than_tiles():
    turns = np.zeros((41, 41), bool)
    turns[::4] = True
    for k in range(0, 40, 4):
        turns[k : k + 5, k // 4 % 2 - 1] = True  # leads to the next row, at the right and at the left in turn
    assert components(turns).max() == 1
    for tile, overlap in [((5, 5), 1), ((8, 3), (1, 2)), ((41, 2), 1), ((20, 20), 10)]:
        assert np.array_equal(merge(lambda part: shuffled(components(part)), turns, tile, overlap), turns)


def labels_of(*results):
    """Returns a function that gives these results, one after the other."""
    given = iter(results)
    return lambda part: next(given)


def test_cells_that_touch_stay_apart_where_tiles_disagree_on_their_border():
    left, right = np.zeros((2, 40, 60), int)
    left[5:35, 10:50], left[5:35, 50:] = 7, 3  # elements 0 to 60 of the array
    right[5:35, :11], right[5:35, 11:50] = 2, 9  # elements 40 to 100: the border lies one element farther
    for join, count in [("touch", 1), ("iou", 2), ("share", 2), (("iou", 0.05), 1)]:
        y = merge(labels_of(left, right), np.zeros((40, 100)), (40, 60), 20, join=join)
        assert y.max() == count
        assert np.array_equal(y > 0, np.pad(np.ones((30, 80), bool), ((5, 5), (10, 10))))
        assert (y[20, 12], y[20, 80]) == (1, count)


def test_objects_that_one_tile_sees():
    """Checks that an object of one tile stays where the tile is the nearest, and goes where the other is."""
    left, right = np.zeros((2, 10), int)
    left[1:3] = 1
    left[8] = 2  # nearer to the other tile, which sees nothing there
    right[1] = right[9] = 5  # the first of both is nearer to the other tile
    y = merge(labels_of(left, right), np.zeros(16), 10, 4)
    assert y.tolist() == [0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]


def test_one_label_of_a_tile_joins_two_of_another():
    left, right = np.array([0, 0, 3, 0, 9, 0, 0, 0]), np.array([4, 4, 4, 0, 0, 0, 0, 8])  # at 0 and at 2
    y = merge(labels_of(left, right), np.zeros(10), 8, 6)
    assert y.tolist() == [0, 0, 1, 0, 1, 0, 0, 0, 0, 2]


# What goes in and what comes out


def test_results_lie_where_out_says(tmp_path):
    zarr, h5py = pytest.importorskip("zarr"), pytest.importorskip("h5py")
    assert merge(anew, CELLS, (64, 64), 20).dtype == np.uint32
    with h5py.File(tmp_path / "y.h5", "w") as file:
        outs = {
            "array": np.full(CELLS.shape, 9, np.int64),
            "strided": np.full((170, 300), 9, np.uint16).T[::2],
            "memmap": np.lib.format.open_memmap(tmp_path / "m.npy", "w+", np.uint32, CELLS.shape),
            "file": tmp_path / "y.npy",
            "zarr": zarr.create_array(tmp_path / "y.zarr", shape=CELLS.shape, dtype="uint32", chunks=(30, 50)),
            "shards": zarr.create_array({}, shape=CELLS.shape, dtype="int32", chunks=(8, 16), shards=(80, 64)),
            "h5py": file.create_dataset("y", CELLS.shape, "uint32", chunks=(33, 7)),
            "whole h5py": file.create_dataset("z", CELLS.shape, "uint8"),
        }
        for name, out in outs.items():
            y = merge(anew, CELLS, (64, 64), 20, out=out)
            assert y is out or name == "file", name
            np.testing.assert_array_equal(y[:], WANT, err_msg=name)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), WANT.astype(np.uint32), strict=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.npy", "y.h5", "y.npy", "y.zarr"]


def test_pages_of_a_tiff(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    merge(anew, CELLS, (64, 64), 20, out=tmp_path / "y.tif", dtype="uint16")
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "y.tif"), WANT.astype(np.uint16), strict=True)


def test_an_unfinished_file_is_gone(tmp_path):
    with pytest.raises(InvalidValue, match="must hold a number for each object"):
        merge(
            lambda part: np.arange(part.size).reshape(part.shape), CELLS, (64, 64), 20, out=tmp_path / "y.npy", dtype="int8"
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_the_result_is_of_the_kind_of_x(library):
    if not importlib.util.find_spec(library):
        pytest.skip(f"{library} is not installed")
    if library == "torch":
        import torch

        y = merge(
            lambda part: torch.from_numpy(anew(part.numpy())), torch.from_numpy(CELLS), (64, 64), 20, dtype=torch.int32
        )
        assert isinstance(y, torch.Tensor) and y.dtype == torch.int32
        made = merge(lambda part: anew(part.numpy()), torch.from_numpy(CELLS), (64, 64), 20)
        assert made.dtype == torch.uint32 and np.array_equal(made.numpy(), WANT)
        out = torch.full(CELLS.shape, 7, dtype=torch.int64)
        assert merge(lambda part: anew(part.numpy()), torch.from_numpy(CELLS), (64, 64), 20, out=out) is out
        np.testing.assert_array_equal(out.numpy(), WANT)
    else:
        import jax.numpy as jnp

        y = merge(lambda part: jnp.asarray(anew(np.asarray(part)), jnp.int32), jnp.asarray(CELLS), (64, 64), 20)
        assert isinstance(y, jnp.ndarray) and y.dtype == jnp.uint32
    np.testing.assert_array_equal(np.asarray(y), WANT)


def test_batches_channels_and_pictures_whose_bands_come_last():
    stacked = merge(lambda parts: np.stack([anew(part) for part in parts]), CELLS, (64, 64), 20, batch=3)
    np.testing.assert_array_equal(stacked, WANT)
    picture = np.stack([CELLS] * 3, axis=-1)
    np.testing.assert_array_equal(merge(lambda part: anew(part[..., 0]), picture, (64, 64), 20, axes=(0, 1)), WANT)
    both = np.stack([CELLS, np.where(CELLS > 0, CELLS + 60, 0)[::-1]])
    np.testing.assert_array_equal(merge(anew, both, (64, 64), 20), in_order(both))
    np.testing.assert_array_equal(merge(lambda part: anew(part)[None], CELLS, (64, 64), 20), WANT[None])


def test_objects_of_any_type_of_integers():
    for dtype in ("int8", "uint8", ">i2", "<u8"):
        small = (CELLS % 120).astype(dtype)
        np.testing.assert_array_equal(merge(lambda part: part, small, (64, 64), 20), in_order(small))
    many = np.where(CELLS > 0, CELLS.astype(np.uint64) + np.uint64(2**64 - 100), np.uint64(0))
    np.testing.assert_array_equal(merge(lambda part: part, many, (64, 64), 20, dtype="int64"), WANT)


def test_arrays_without_elements_tiles_or_objects():
    assert not merge(anew, np.zeros((20, 30), int), (8, 8), 2).any()
    assert merge(anew, np.zeros((3, 30), int), (8, 8), 2, tail="drop").tolist() == np.zeros((3, 30)).tolist()
    assert merge(anew, np.zeros((0, 20, 30), int), (8, 8), 2).shape == (0, 20, 30)
    assert merge(lambda part: part * 0 + 5, np.zeros((20, 30), int), (8, 8), 2).tolist() == np.ones((20, 30)).tolist()


class Rows:
    """A tall picture of vertical bars, of which slices are made when they are read."""

    dtype = np.dtype(np.uint8)

    def __init__(self, height):
        self.shape = (height, 256)

    def __getitem__(self, slices):
        rows, columns = (range(*each.indices(extent)) for each, extent in zip(slices, self.shape, strict=True))
        return np.broadcast_to((np.array(columns) % 8 < 4).astype(np.uint8), (len(rows), len(columns)))


def test_memory_does_not_grow_with_the_array(tmp_path):
    peaks = []
    for height in (512, 2048):
        tracemalloc.start()
        y = merge(lambda part: np.cumsum(np.diff(part, axis=1, prepend=0) == 1, 1) * part, Rows(height), (64, 64), 8,
                  out=tmp_path / f"{height}.npy")  # fmt: skip
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert y.max() == 32 and (y[0] == y[-1]).all()
    assert peaks[1] < 2 * peaks[0] and peaks[1] < 4 * 8 * 64 * 256


# Errors


APART = (
    "InvalidValue: merge_labels: overlap: results of neighbouring tiles must share elements, which decide which labels are "
    "one object; given {}, expected overlap=1 for connected components; for a model, what it needs to see of an object"
)
JOIN = "InvalidValue: merge_labels: join: {}; given {}, expected 'touch', 'iou', 'share', ('iou', 0.5)"
NAME, THRESHOLD = (
    "must be the name of a rule, or 'iou' or 'share' with a threshold",
    "the threshold must be above 0 and at most 1",
)
DTYPE = "InvalidType: merge_labels: dtype: must be a type of integers; given {}, expected 'uint32'"
FIRST = "merge_labels: result for tile 0 at position (0, 0)"
INTEGERS = (
    f"InvalidType: {FIRST}: must hold the labels of objects as integers, 0 for the background; given {{}}; "
    "scipy.ndimage.label(mask)[0] numbers the objects of a mask"
)
ONE = (
    f"InvalidType: {FIRST}: must be one array of labels; given {{}}, "
    "expected lambda tile: fn(tile)[{}], if that is the labels"
)


@pytest.mark.parametrize(("arguments", "says"), [
    ({"fn": 3}, "InvalidType: merge_labels: fn: must be a function; given 3 of type int"),
    ({"x": [1]}, "InvalidType: merge_labels: x: must be an array, or have shape, dtype and slices that are arrays; "
                 "given [1] of type list, expected numpy.asarray(x)"),
    ({"overlap": 0}, APART.format("8 elements at distances of 8 along axis 0")),
    ({"overlap": (2, -1)}, APART.format("8 elements at distances of 9 along axis 1")),
    ({"overlap": 2, "offset": 1, "result": 6}, APART.format("6 elements at distances of 6 along axis 0")),
    ({"join": "dice"}, JOIN.format(NAME, "dice")),
    ({"join": ("touch", 0.5)}, JOIN.format(NAME, "('touch', 0.5)")),
    ({"join": 0.5}, JOIN.format(NAME, "0.5")),
    ({"join": ("iou", 0)}, JOIN.format(THRESHOLD, "('iou', 0)")),
    ({"join": ("iou", 1.5)}, JOIN.format(THRESHOLD, "('iou', 1.5)")),
    ({"join": ("iou", float("nan"))}, JOIN.format(THRESHOLD, "('iou', nan)")),
    ({"join": ("share", "0.5")}, JOIN.format(THRESHOLD, "('share', '0.5')")),
    ({"batch": 0}, "InvalidValue: merge_labels: batch: must be at least 1; given 0"),
    ({"progress": 3}, "InvalidType: merge_labels: progress: must be True, False or a function; given 3 of type int"),
    ({"dtype": "float32"}, DTYPE.format("'float32' of type str")),
    ({"dtype": bool}, DTYPE.format("<class 'bool'> of type type")),
    ({"out": np.zeros((20, 30))}, DTYPE.format("dtype('float64') of type numpy.dtypes.Float64DType")),
    ({"out": print}, "InvalidValue: merge_labels: out: must be an array, a file or a store that can be read, since labels "
                     "are renumbered there; given <built-in function print> of type builtin_function_or_method, "
                     "expected 'y.npy', or a zarr array"),
    ({"out": np.zeros((20, 30), np.int32), "dtype": "uint8"},
     "InvalidType: merge: out: must have the element type of tiles; given int32, expected uint8"),
    ({"fn": lambda part: part > 0}, INTEGERS.format("bool")),
    ({"fn": lambda part: part * 1.0}, INTEGERS.format("float64")),
    ({"fn": lambda part: part - 1},
     f"InvalidValue: {FIRST}: must be 0 for the background and above 0 for objects; given -1"),
    ({"fn": lambda part: None}, ONE.split("given")[0] + "given None, expected zeros for tiles without objects"),
    ({"fn": lambda part: (part, 3)}, ONE.format("a tuple of 2", 0)),
    ({"fn": lambda part: {"a": part}}, ONE.format("a dict of 1", "'a'")),
    ({"fn": lambda part: part + np.arange(1, 65).reshape(8, 8), "dtype": "uint8"},
     "InvalidValue: merge_labels: dtype: must hold a number for each object before parts of it join; given uint8, whose "
     "largest is 255, expected dtype='uint16'"),
])  # fmt: skip
def test_wrong_calls(arguments, says):
    given = {"fn": anew, "x": np.zeros((20, 30), int), "tile": (8, 8), "overlap": 2, "progress": False} | arguments
    with pytest.raises((InvalidType, InvalidValue)) as caught:
        patchfold.merge_labels(given.pop("fn"), given.pop("x"), given.pop("tile"), **given)
    assert f"{type(caught.value).__name__}: {caught.value}" == says


@pytest.mark.parametrize("fn", [lambda part: part.tolist(), lambda part: part[1:], lambda part: part[0]])
def test_results_that_are_no_tiles_are_refused(fn):
    with pytest.raises((InvalidType, InvalidValue), match="tile 0 at position"):
        merge(fn, np.zeros((20, 30), int), (8, 8), 2)


def test_later_results_must_fit_the_first():
    says = r"tile 1 at position \(1,\): must have the extents of the first result along the axes that are not tiled"
    with pytest.raises(InvalidValue, match=says):
        merge(labels_of(np.zeros((1, 6), int), np.zeros((2, 6), int)), np.zeros((1, 10)), (6,), 2)
    with pytest.raises(InvalidValue, match="tile 1"):
        merge(labels_of(np.zeros(6, int), np.zeros(5, int)), np.zeros(10), 6, 2)


def test_as_many_objects_as_the_type_has_numbers():
    x = np.arange(255, dtype=np.int64) + 1
    assert merge(lambda part: part, x, 16, 4, dtype="uint8").tolist() == x.tolist()
    with pytest.raises(InvalidValue, match="dtype: must hold"):
        merge(lambda part: part, np.arange(256) + 1, 16, 4, dtype="uint8")


def test_what_a_function_raises_comes_out_with_a_note():
    def fails(part):
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken") as caught:
        merge(fails, CELLS, (64, 64), 20)
    notes = getattr(caught.value, "__notes__", None)  # from Python 3.11
    assert notes == (
        sys.version_info >= (3, 11)
        and ["patchfold: merge_labels: tile 0 at position (0, 0), read from x[0:64, 0:64]"]
        or None
    )

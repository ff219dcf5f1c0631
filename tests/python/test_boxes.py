# SPDX-License-Identifier: Apache-2.0
"""Tests of boxes, which are parts of an output: the tiles that touch a box, their pieces, and merges of a box."""

import itertools
import pickle
import random
import tracemalloc

import numpy as np
import patchfold
import pytest
from patchfold import InvalidType, InvalidValue, Merger, MergeSpec, ResultType, Tiling, merge_box

X = np.random.default_rng(0).random((3, 100, 80), np.float32)
T = Tiling(X.shape, (32, 32), overlap=8)
BOX = (slice(10, 50), slice(3, -7))


def results_of(tiling, x=X):
    return [tile * 2 for tile in tiling.split(x)]


def pieces_of(tiling, results, box, mask=None):
    places = itertools.product(*tiling.touching(box))
    return {at: results[tiling[at].index][tiling.piece(at, box)] for at in places if mask is None or mask[at]}


def whole(tiling, results, mask=None, **given):
    merger = Merger(tiling, mask=mask, **given)
    for i, result in enumerate(results):
        if mask is None or mask[tiling[i].position]:
            merger.add(i, result)
    return merger.finish()


def test_touching_and_piece_are_those_of_every_tile():
    draw = random.Random(1)
    for _ in range(300):
        extent, tile = draw.randint(1, 40), draw.randint(1, 12)
        try:
            t = Tiling(
                (extent,),
                (tile,),
                stride=draw.randint(1, tile + 2),
                tail=draw.choice(["shift", "pad", "partial", "drop", "shift_or_pad"]),
                scale=draw.choice([1, 2]),
                offset=draw.choice([0, -3, 4]),
            )
        except InvalidValue:
            continue
        start = draw.randint(0, t.output_shape[0])
        box = slice(start, draw.randint(start, t.output_shape[0]))
        inside = set(range(box.start, box.stop))
        (found,) = t.touching(box)
        for each in t:
            write = range(each.write[0].start, each.write[0].stop)
            shared = sorted(inside & set(write))
            assert (each.index in found) == bool(shared), (t, box, each)
            (part,) = t.piece(each, box)
            assert [write.start - each.keep[0].start + at for at in range(part.start, part.stop)] == shared


def test_a_box_is_a_slice_or_a_pair_for_each_tiled_axis():
    expected = (range(0, 3), range(0, 3))
    assert T.touching(BOX) == T.touching([(10, 50), (3, 73)]) == T.touching(((-90, 50), slice(3, 73, 1))) == expected
    assert T.touching((slice(None), (None, 5))) == (range(0, 4), range(0, 1))
    assert (
        T.box_shape(BOX) == (3, 40, 70) and T.box_shape(BOX, ()) == (40, 70) and T.box_shape(BOX, (2, 5)) == (2, 5, 40, 70)
    )
    assert T.piece(0, BOX, rank=4)[:2] == (slice(None), slice(None))
    assert T.touching((slice(4, 4), slice(None)))[0] == range(0)
    gaps = Tiling((20,), (4,), stride=6)
    assert list(gaps.touching(slice(4, 6))[0]) == [] and gaps.touching(slice(3, 7)) == (range(0, 2),)


@pytest.mark.parametrize(
    ("box", "says"),
    [
        (5, "must have a slice without a step, or (start, stop), for each tiled axis; given 5"),
        ("ab", "for each tiled axis; given 'ab'"),
        (slice(0, 3), "given 1 entries, expected 2"),
        ((slice(0, 4, 2), slice(0, 4)), "given slice(0, 4, 2)"),
        (((0, 1, 2), (0, 1)), "given (0, 1, 2)"),
        (((0, 1.5), (0, 1)), "given (0, 1.5)"),
        (
            (slice(0, 101), slice(0, 4)),
            "must lie in the output; given slice(0, 101, None) along axis 1, expected from 0 to 100",
        ),
        (((5, 4), (0, 1)), "must lie in the output; given (5, 4) along axis 1"),
        (((0, 1), (-81, 4)), "must lie in the output; given (-81, 4) along axis 2"),
        (((0, 2**70), (0, 1)), "must lie in the output"),
    ],
)
def test_other_boxes_are_refused(box, says):
    for call in (
        lambda: T.touching(box),
        lambda: T.piece(0, box),
        lambda: T.box_shape(box),
        lambda: merge_box(T, None, box, {}),
    ):
        with pytest.raises(patchfold.Error) as refused:
            call()
        assert str(refused.value).startswith("tiling: box: ") and says in str(refused.value)


@pytest.mark.parametrize("reduce", ["mean", "sum", "max", "min", "first", "last", "center"])
def test_boxes_have_the_bits_of_the_merger(reduce):
    results = results_of(T)
    mask = np.ones(T.grid, bool)
    mask[1, 1] = mask[3, 0] = False
    spec = MergeSpec(reduce=reduce, fill=-1, mask=mask)
    y = whole(T, results, mask, reduce=reduce, fill=-1)
    for box in (BOX, (slice(0, 100), slice(0, 80)), (slice(99, 100), slice(0, 1)), (slice(30, 34), slice(7, 61))):
        made = merge_box(T, spec, box, pieces_of(T, results, box, mask), results=ResultType("float32"))
        assert np.array_equal(made, y[:, box[0], box[1]])
    empty = merge_box(T, spec, (slice(4, 4), slice(None)), [], results=ResultType("float32", (3,)))
    assert empty.shape == (3, 0, 80)


def test_pieces_come_as_a_dict_or_as_pairs_and_go_to_a_new_or_a_given_array():
    results = results_of(T)
    y = whole(T, results)
    pieces = pieces_of(T, results, BOX)
    pairs = [(T[place], np.asfortranarray(piece)) for place, piece in reversed(list(pieces.items()))]
    for given in (pieces, iter(pairs), {T[at].index: piece for at, piece in pieces.items()}):
        assert np.array_equal(merge_box(T, MergeSpec(), BOX, given), y[:, 10:50, 3:73])
    out = np.full((3, 100, 80), -1, np.float32)
    view = out[:, 10:50, 3:73]
    assert merge_box(T, None, BOX, pieces, out=view) is view
    assert np.array_equal(view, y[:, 10:50, 3:73]) and (out[:, :10] == -1).all() and (out[:, :, 73:] == -1).all()


def test_errors_come_before_anything_is_written():
    results = results_of(T)
    pieces = pieces_of(T, results, BOX)
    out = np.full(T.box_shape(BOX), -1, np.float32)

    def says(error, text, given=None, spec=None, **more):
        with pytest.raises(error) as refused:
            merge_box(T, spec, BOX, pieces if given is None else given, out=out, **more)
        assert text in str(refused.value) and str(refused.value).startswith("merge: ")
        assert (out == -1).all()

    lacking = {at: piece for at, piece in pieces.items() if at not in ((0, 1), (2, 2))}
    says(InvalidValue, "given 2 missing: 1 at position (0, 1), 8 at position (2, 2)", lacking)
    says(InvalidValue, "must be the part of the tile's result that lies in the box", {**pieces, (0, 0): results[0]})
    says(InvalidValue, "must touch the box", {**pieces, (3, 0): results[0][:, :0]})
    says(InvalidValue, "must not come twice", [*pieces.items(), (0, pieces[0, 0])])
    says(InvalidType, "must have the element type of the first piece", {**pieces, (1, 1): pieces[1, 1].astype("f8")})
    mask = np.ones(T.grid, bool)
    mask[1, 1] = False
    says(InvalidValue, "the mask leaves it out", spec=MergeSpec(mask=mask, fill=0))
    del pieces[1, 1]
    says(InvalidValue, "no tile for element (32, 32) of the tiled axes", spec=MergeSpec(mask=mask))
    says(InvalidType, "must be a dict of pieces", 5)
    says(InvalidType, "must be given where no piece comes", {}, spec=MergeSpec(mask=np.zeros(T.grid, bool), fill=0))
    says(InvalidType, "must have the declared type", results=ResultType("float64"))
    says(InvalidValue, "must have the declared extents", results=ResultType("float32", (4,)))
    says(InvalidType, "must be a MergeSpec", spec="mean")
    with pytest.raises(InvalidValue, match="must not share memory with the output"):
        merge_box(T, None, BOX, {**pieces, (1, 1): out[:, :26, :32]}, out=out)


def test_where_no_piece_comes_the_declared_type_is_filled():
    spec = MergeSpec(mask=np.zeros(T.grid, bool), fill=7)
    made = merge_box(T, spec, BOX, {}, results=ResultType(np.uint8, (2,)))
    assert made.dtype == np.uint8 and made.shape == (2, 40, 70) and (made == 7).all()
    assert merge_box(T, spec, BOX, {}, results=ResultType("float16")).dtype == np.float16


def test_a_box_costs_what_the_box_needs():
    # The tiling has about 2^38 tiles: code that visits all tiles, or all tiles along an axis, would not end.
    huge = Tiling((2**28, 2**28), (512, 512), overlap=64)
    box = (slice(2**27, 2**27 + 100), slice(2**27, 2**27 + 100))
    ranges = huge.touching(box)
    pieces = {}
    for at in itertools.product(*ranges):
        part = huge.piece(at, box)
        pieces[at] = np.ones(tuple(each.stop - each.start for each in part), np.float32)
    spec = MergeSpec(window="hann")
    assert (merge_box(huge, spec, box, pieces) == 1).all()
    tracemalloc.start()
    merge_box(huge, spec, box, pieces)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 3 * 100 * 100 * 4

    class Counts(dict):
        asked = 0

        def items(self):
            for pair in super().items():
                self.asked += 1
                yield pair

    counted = Counts(pieces)
    merge_box(huge, spec, box, counted)
    assert counted.asked == len(pieces) <= 4


def test_a_spec_is_a_value():
    mask = np.ones(T.grid, bool)
    window = np.full((32, 32), 0.5)
    specs = [
        MergeSpec(),
        MergeSpec(window="hann"),
        MergeSpec(window="linear"),
        MergeSpec(window=("gaussian", 0.2)),
        MergeSpec(window=window),
        MergeSpec(window=[window[0], window[0]]),
        MergeSpec(reduce="sum"),
        MergeSpec(dtype="float64"),
        MergeSpec(mask=mask),
        MergeSpec(fill=0),
        MergeSpec(fill=0.0),
        MergeSpec(fill=float("nan")),
    ]
    assert len(set(specs)) == len(specs)
    for spec in specs:
        again = pickle.loads(pickle.dumps(spec))
        assert again == spec and hash(again) == hash(spec) and repr(again) == repr(spec)
        assert again.__dask_tokenize__() == spec.__dask_tokenize__()
    assert MergeSpec(dtype=np.float64) == MergeSpec(dtype="float64") and MergeSpec() != 5
    spec = MergeSpec(mask=mask, window=window)
    mask[0, 0], window[0, 0] = False, 9
    assert spec.mask[0, 0] and spec.window[0, 0] == 0.5 and spec == pickle.loads(pickle.dumps(spec))
    with pytest.raises(ValueError):
        spec.mask[0, 0] = False
    assert (specs[3].window, specs[6].reduce, specs[7].dtype, specs[9].fill) == (("gaussian", 0.2), "sum", "float64", 0)
    assert repr(MergeSpec(reduce="max", mask=np.ones(12, bool))) == "MergeSpec(reduce='max', mask=12 of 12 tiles)"


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"window": "blackman"}, InvalidValue),
        ({"window": object()}, InvalidType),
        ({"window": ("gaussian", "x")}, InvalidType),
        ({"reduce": "average"}, InvalidValue),
        ({"dtype": "S3"}, InvalidType),
        ({"mask": [1, 0]}, InvalidType),
        ({"fill": "0"}, InvalidType),
        ({"window": np.broadcast_to(1.0, (2**20, 2**20))}, InvalidValue),
        ({"mask": np.broadcast_to(True, (2**20, 2**20))}, InvalidValue),
    ],
)
def test_wrong_specs_are_refused_without_a_tiling(given, error):
    with pytest.raises(error, match="^merge: " + next(iter(given))):
        MergeSpec(**given)


def test_a_check_finds_holes_masks_and_windows_before_any_work():
    def says(spec, text, tiling=T, results=None):
        with pytest.raises(patchfold.Error, match="^merge: ") as refused:
            spec.check(tiling, results)
        assert text in str(refused.value)

    MergeSpec().check(T)
    MergeSpec(window="ones").check(T, ResultType("int64"))
    hole = "must cover every element of the output unless a fill is given"
    says(MergeSpec(), hole, Tiling((20,), (4,), stride=6))
    says(MergeSpec(mask=[True] * 5 + [False] + [True] * 6), hole)
    says(MergeSpec(mask=[True] * 3), "must have an entry for each tile; given (3,), expected (4, 3) or (12,)")
    says(MergeSpec(window=np.ones((3, 3))), "must have a weight for each element of a whole tile's result")
    says(MergeSpec(window=[np.ones(32)]), "must have one list of weights for each tiled axis")
    says(MergeSpec(window=("gaussian", -1)), "must be greater than 0")
    holes = np.ones(32)
    holes[:8] = 0
    says(MergeSpec(window=[holes, holes]), "no weight above 0 for element (0, 0)")
    says(MergeSpec(window=np.outer(holes, holes)), "no weight above 0 for element (0, 0)")
    MergeSpec(window=[holes, holes], fill=0).check(T)
    says(MergeSpec(window="hann", reduce="mean"), "must be ones for 64-bit integers", results=ResultType("int64"))
    says(MergeSpec(fill=-1), "fill", results=ResultType("uint8"))
    says(MergeSpec(), "must be a ResultType", results="float32")
    with pytest.raises(InvalidType, match="merge: tiling: must be a Tiling"):
        MergeSpec().check(X)


def test_a_spec_names_the_reduction_and_the_type_of_the_output():
    labels, floats = ResultType("uint8"), ResultType(np.float32)
    assert MergeSpec().reduction(labels) == "center" and MergeSpec().reduction(floats) == "mean"
    assert MergeSpec(window="hann").reduction(labels) == "mean" and MergeSpec(reduce="max").reduction(floats) == "max"
    assert MergeSpec(dtype="float64").output_type(labels) == "float64" and MergeSpec().output_type(labels) == "uint8"


def test_a_result_type_is_a_value():
    one = ResultType(np.dtype("f4"), [np.int64(3)])
    assert one == ResultType("float32", (3,)) == pickle.loads(pickle.dumps(one)) and hash(one) == hash(
        ResultType("float32", (3,))
    )
    assert ResultType("bfloat16").dtype == "bfloat16" and ResultType("S3").dtype == np.dtype("S3")
    assert ResultType("f4").channels_in(T) == (3,) and one != ResultType("float32")
    for wrong in ((object, None), ("foo", None), ("f4", 3), ("f4", (-1,)), ("f4", ("a",))):
        with pytest.raises(patchfold.Error, match="^merge: (dtype|channels): "):
            ResultType(*wrong)


class Recorded:
    """A store that records the slices that are read."""

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.read = array, array.shape, array.dtype, []

    def __getitem__(self, key):
        self.read.append(key)
        return self.array[key]


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
def test_reading_a_store_gives_the_tile_of_the_array_with_one_slicing(mode):
    t = Tiling(X.shape, (48, 56), overlap=20, tail="pad", padding_mode=mode, value=3)
    for tile in t:
        store = Recorded(X)
        assert np.array_equal(t.read(store, tile), t.cut(X, tile)) and len(store.read) == 1
        (read,) = store.read
        assert np.prod([len(range(*part.indices(n))) for part, n in zip(read, X.shape, strict=True)]) <= 3 * 49 * 57
    own = t.read(X, 0)
    own[:] = 0
    assert X.any()


def test_wrong_sources_are_refused_before_they_are_read():
    store = Recorded(X[:2])
    with pytest.raises(InvalidValue, match=r"tiling: source: must have the shape of the tiling; given \(2, 100, 80\)"):
        T.read(store, 0)
    assert not store.read
    with pytest.raises(InvalidType, match=r"tiling: source: must be an array.*expected numpy.asarray\(source\)"):
        T.read([1, 2], 0)
    with pytest.raises(InvalidValue, match="tiling: index: must be the index of a tile"):
        T.read(X, 99)

    class Lying(Recorded):
        def __getitem__(self, key):
            return self.array[key][..., :1]

    with pytest.raises(InvalidValue, match="tiling: source: slices must be arrays"):
        T.read(Lying(X), 0)


def test_a_probe_says_the_types_of_results():
    calls = []

    def fn(tile):
        calls.append(tile.shape)
        return {"mean": tile.mean(axis=-3, keepdims=True), "labels": (tile[..., :1, :, :] > 0.5).astype(np.uint8)}

    expected = {"mean": ResultType("float32", (1,)), "labels": ResultType("uint8", (1,))}
    assert T.probe(fn, X) == T.probe(fn, Recorded(X), (1, 1), batch=True) == expected
    assert calls == [(3, 32, 32), (1, 3, 32, 32)]
    assert T.probe(lambda tile: (tile[0], tile.astype("f8")), X) == (ResultType("float32", ()), ResultType("float64", (3,)))
    with pytest.raises(InvalidValue, match="must have the shape of the tile's result"):
        T.probe(lambda tile: tile[:, :-1], X)
    with pytest.raises(InvalidType, match="tiling: fn: must be a function"):
        T.probe(None, X)
    with pytest.raises(ZeroDivisionError):
        T.probe(lambda tile: 1 / 0, X)

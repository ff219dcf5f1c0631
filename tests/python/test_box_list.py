# SPDX-License-Identifier: Apache-2.0
"""Compares tiles at any places with the whole array, element by element."""

import pickle
from fractions import Fraction

import numpy as np
import patchfold
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_tiling_layout import Slices
from tile_model import is_mean, weights_of


@st.composite
def lists(draw):
    """Draws (extents of the tiled axes, boxes), which may reach beyond the array."""
    extents = draw(st.lists(st.integers(1, 14), min_size=1, max_size=2))

    def box():
        ends = []
        for extent in extents:
            start = draw(st.integers(-3, extent - 1))
            ends.append((start, draw(st.integers(max(start, 0) + 1, extent + 4))))
        return ends

    return extents, [box() for _ in range(draw(st.integers(1, 6)))]


def terms_at(at, boxes, results):
    """Returns (index, value, place in the result, extents of the result) of each tile that holds an element."""
    found = []
    for index, box in enumerate(boxes):
        if all(start <= y < stop for y, (start, stop) in zip(at, box, strict=True)):
            place = tuple(y - start for y, (start, _) in zip(at, box, strict=True))
            found.append((index, results[index][place], place, [stop - start for start, stop in box]))
    return found


def expected(reduce, at, terms, boxes):
    values = [value for _, value, *_ in terms]
    if reduce == "center":

        def distance(term):
            middles = [sum(pair) for pair in boxes[term[0]]]
            return sum((2 * y + 1 - middle) ** 2 for y, middle in zip(at, middles, strict=True)), term[0]

        return min(terms, key=distance)[1]
    return {"first": values[0], "last": values[-1], "max": max(values), "min": min(values)}[reduce]


@settings(max_examples=200, deadline=None)
@given(lists(), st.sampled_from(["mean", "sum", "center", "first", "last", "max", "min"]), st.integers(0, 99))
def test_every_element_is_made_from_its_tiles(problem, reduce, seed):
    extents, places = problem
    rng = np.random.default_rng(seed)
    boxes = patchfold.Boxes(extents, places)
    results = [rng.normal(size=[stop - start for start, stop in box]).astype(np.float32) for box in places]
    y = patchfold.merge_boxes(boxes, results, spec=patchfold.MergeSpec(reduce=reduce, fill=-99))
    assert y.shape == tuple(extents) and y.dtype == np.float32
    for at in np.ndindex(*extents):
        terms = terms_at(at, places, results)
        if not terms:
            assert y[at] == -99
        elif reduce in ("mean", "sum"):
            window = "hann" if reduce == "mean" else "ones"
            weighed = []
            for index, value, place, lengths in terms:
                weight = 1.0
                for i, n in zip(place, lengths, strict=True):
                    weight *= weights_of(window, n)[i]
                weighed.append((index, place, value, weight))
            total = 1 if reduce == "sum" else sum(w for *_, w in weighed)
            exact = sum(float(v) * w for _, _, v, w in weighed) / total
            assert abs(float(y[at]) - exact) <= 1e-6 * (
                abs(exact) + sum(abs(float(v)) * w for _, _, v, w in weighed) / total
            )
        else:
            assert y[at] == expected(reduce, at, terms, places)


@settings(max_examples=100, deadline=None)
@given(lists(), st.sampled_from(["constant", "edge", "reflect", "symmetric", "wrap"]), st.booleans())
def test_tiles_of_an_array_give_the_array(problem, mode, stored):
    extents, places = problem
    if mode == "reflect" and 1 in extents:
        return
    x = np.random.default_rng(len(places)).random((*extents, 2))
    axes = tuple(range(len(extents)))
    boxes = patchfold.Boxes(x.shape, places, axes=axes, padding_mode=mode)
    pads = [(3, 4)] * len(extents) + [(0, 0)]
    padded = np.pad(x, pads, mode=mode)
    for i, box in enumerate(places):
        inside = tuple(slice(start + 3, stop + 3) for start, stop in box)
        np.testing.assert_array_equal(boxes.read(Slices(x) if stored else x, i), padded[inside], strict=True)
        assert boxes[i].index == i and boxes[i].shape == padded[inside].shape
    y = patchfold.apply_tiled(np.sqrt, Slices(x) if stored else x, boxes, fill=-1, progress=False)
    covered = np.zeros(extents, bool)
    for box in places:
        covered[tuple(slice(max(start, 0), stop) for start, stop in box)] = True
    np.testing.assert_array_equal(y, np.where(covered[..., None], np.sqrt(x), -1), strict=True)


@pytest.mark.parametrize("reduce", ["first", "last", "max", "min", "center"])
def test_a_grid_of_boxes_is_merged_as_a_tiling(reduce):
    t = patchfold.Tiling((3, 40, 50), (16, 12), overlap=(5, 4), scale=2)
    rng = np.random.default_rng(0)
    results = [rng.random((2, 32, 24)).astype(np.float32) for _ in t]
    places = [[(each.read[axis].start, each.read[axis].stop) for axis in (1, 2)] for each in t]
    boxes = patchfold.Boxes((3, 40, 50), places, scale=2)
    merger = patchfold.Merger(t, reduce=reduce)
    for i, result in enumerate(results):
        merger.add(i, result)
    spec = patchfold.MergeSpec(reduce=reduce)
    np.testing.assert_array_equal(patchfold.merge_boxes(boxes, results, spec=spec), merger.finish(), strict=True)


def test_writes_say_where_shorter_results_lie():
    x = np.arange(30.0)
    reads = [(-1, 11), (9, 21), (19, 31)]
    boxes = patchfold.Boxes(
        x.shape, [[box] for box in reads], writes=[[(a + 1, b - 1)] for a, b in reads], padding_mode="edge"
    )
    y = patchfold.apply_tiled(lambda tile: tile[2:] - tile[:-2], x, boxes, progress=False)
    np.testing.assert_array_equal(
        y, np.diff(np.pad(x, 1, mode="edge"), n=1)[1:] + np.diff(np.pad(x, 1, mode="edge"), n=1)[:-1]
    )


def test_results_are_made_once_and_dropped():
    calls = []
    boxes = patchfold.Boxes((900, 8), [[(k, k + 20), (0, 8)] for k in range(0, 890, 10)], output=(900, 8))
    y = patchfold.merge_boxes(
        boxes, lambda i: calls.append(i) or np.full((20, 8), float(i)), spec=patchfold.MergeSpec(fill=0)
    )
    assert calls == list(range(len(boxes))) and y.shape == (900, 8)
    labels = patchfold.merge_boxes(boxes, lambda i: np.full((20, 8), i, np.uint8), spec=patchfold.MergeSpec(fill=0))
    assert set(np.unique(labels)) == set(range(len(boxes)))  # integers are not blended


def test_boxes_can_be_compared_and_pickled():
    boxes = patchfold.Boxes((9, 9), [((-2, 4), slice(1, 5))], padding_mode="wrap", scale=2)
    again = pickle.loads(pickle.dumps(boxes))
    assert (
        again == boxes
        and hash(again) == hash(boxes)
        and again[0] == boxes[0]
        and boxes != patchfold.Boxes((9, 9), [((0, 4), (1, 5))])
    )
    assert boxes[-1].write == (slice(0, 8), slice(2, 10)) and repr(boxes) == "<Boxes((9, 9), axes=(-2, -1)): 1 tiles>"
    np.testing.assert_array_equal(boxes.read(np.arange(81).reshape(9, 9), 0)[:2, 0], [64, 73])


ONE = patchfold.Boxes((8,), [[(0, 8)]])
OUTSIDE = "tiling: reads: must hold an element of the array; given (9, 12) in box 1"


@pytest.mark.parametrize(("call", "error"), [
    (lambda: patchfold.Boxes((9,), []), "tiling: reads: must have a box; given an empty list"),
    (lambda: patchfold.Boxes((9,), 4), "tiling: reads: must be a list of boxes"),
    (lambda: patchfold.Boxes((9,), [[(4, 4)]]), "tiling: reads: must have elements; given (4, 4) in box 0"),
    (lambda: patchfold.Boxes((9,), [[(1, 4)], [(9, 12)]]), OUTSIDE),
    (lambda: patchfold.Boxes((9, 9), [[(1, 4), (1, 4)], [(1, 4)]]), "tiling: reads: must have a slice without a step"),
    (lambda: patchfold.Boxes((9,), [[(1, 2.5)]]), "tiling: reads: must have a slice without a step"),
    (lambda: patchfold.Boxes((9,), [[(1, 2)]], writes=[]), "tiling: writes: must have a box for each tile; given 0 boxes"),
    (lambda: patchfold.Boxes((9,), [[(1, 2)]], scale=0.5), "tiling: scale: ends of boxes must be whole numbers"),
    (lambda: patchfold.merge_boxes(patchfold.Boxes((9,), [[(1, 2)]]), [np.ones(1)]), "merge: tiling: must cover every"),
    (lambda: patchfold.merge_boxes(ONE, [np.ones(3)]), "merge: tile 0"),
    (lambda: patchfold.merge_boxes(4, [np.ones(3)]), "merge: boxes: must be a Boxes; given 4 of type int"),
    (lambda: patchfold.merge_boxes(ONE, 4), "merge: results: must be a list of results, or a function"),
    (lambda: patchfold.apply_tiled(abs, np.ones(9), ONE), "apply_tiled: x: must have the shape"),
    (lambda: patchfold.apply_tiled(abs, np.ones(8), ONE, overlap=4), "apply_tiled: overlap: must not be given together"),
    (lambda: patchfold.apply_tiled(lambda tile: (tile, tile), np.ones(8), ONE), "apply_tiled: result for tile 0"),
])  # fmt: skip
def test_wrong_boxes(call, error):
    with pytest.raises(patchfold.Error) as caught:
        call()
    assert str(caught.value).startswith(error)


def test_means_are_within_their_bounds():
    boxes = patchfold.Boxes((6,), [[(0, 4)], [(2, 6)], [(1, 5)]])
    values = [np.float64(v) for v in (0.1, 0.7, -3.3)]
    spec = patchfold.MergeSpec(window="ones")
    y = patchfold.merge_boxes(boxes, [np.full(4, v) for v in values], spec=spec)
    terms = [(k, (0,), value, Fraction(1)) for k, value in enumerate(values)]
    assert is_mean(y[2], terms, np.float64) and is_mean(y[3], terms, np.float64)
    assert y[0] == values[0] and y[5] == values[1]

# SPDX-License-Identifier: Apache-2.0
"""Tests numbers in the other byte order: operators give the same results as for the numbers in this machine's byte order."""

import copy
import pickle

import numpy as np
import patchfold
import pytest
from calls import HERE, example, function_of

NUMBERS = ["i2", "u4", "i8", "f2", "f4", "f8", "c8", "c16"]


def swapped(dtype):
    return np.dtype(dtype).newbyteorder("S")


def same(made, expected, dtype):
    assert made.dtype == dtype and not made.dtype.isnative
    np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("spec", [spec for spec in HERE if spec.data_input], ids=lambda spec: spec.name)
def test_every_operator_gives_the_same(spec, dtype):
    function, ((x,), arguments) = function_of(spec), example(spec)
    x, other = x.astype(dtype), swapped(dtype)
    expected, given = function(x, **arguments), x.astype(other)
    kept = given.tobytes()
    same(function(given, **arguments), expected, other)
    same(function(given.T.copy().T, **arguments), expected, other)
    out = np.full((*expected.shape, 2), 7, other)[..., 1]  # every second element
    assert function(given, **arguments, out=out) is out
    same(out, expected, other)
    assert given.tobytes() == kept


def test_fills_are_numbers_too():
    x = np.arange(1, 7, dtype=">i4").reshape(1, 1, 2, 3)
    same(patchfold.unfold(x, 2, padding=1, value=5), patchfold.unfold(x.astype("i4"), 2, padding=1, value=5), ">i4")
    columns = np.ones((1, 4, 1), ">f4")
    holes = patchfold.fold(columns, (3, 3), 2, stride=2, reduce="mean", fill=2.5)
    same(holes, [[[[1, 1, 2.5], [1, 1, 2.5], [2.5, 2.5, 2.5]]]], ">f4")


def test_a_negative_zero_is_a_fill():
    filled = patchfold.unfold(np.ones((1, 1, 2, 2), ">f4"), 2, padding=1, value=-0.0)
    assert np.signbit(filled).sum() == (filled == 0).sum() > 0


def test_memory_is_not_shared():
    memory = np.ones(64, ">f4")
    columns, out = memory[:36].reshape(1, 4, 9), memory[20:36].reshape(1, 1, 4, 4)
    planned = patchfold.plan("fold", columns, out=np.empty_like(out), output_size=(4, 4), kernel_size=2)
    for call in (lambda: patchfold.fold(columns, (4, 4), 2, out=out), lambda: planned(columns, out=out)):
        with pytest.raises(patchfold.Error, match="fold: out: source and destination must not share memory"):
            call()
    assert (memory == 1).all()


def test_sums_on_top_of_an_array_and_counts():
    columns, out = np.ones((1, 4, 4), ">f4"), np.full((1, 1, 3, 3), 10, ">f4")
    assert patchfold.fold(columns, (3, 3), 2, accumulate=True, out=out) is out
    same(out[0, 0], patchfold.coverage((3, 3), 2) + 10, ">f4")
    same(patchfold.coverage((3, 3), 2, dtype=">i2"), patchfold.coverage((3, 3), 2), ">i2")
    counts = np.empty((3, 3), ">f8")
    assert patchfold.coverage((3, 3), 2, out=counts) is counts
    same(counts, patchfold.coverage((3, 3), 2), ">f8")


def test_what_is_built_on_fold():
    image = np.random.default_rng(0).random((3, 8, 8)).astype(">f4")
    columns = patchfold.unfold(image, (3, 3))
    same(patchfold.reconstruct(columns, image.shape, (3, 3)), image, ">f4")
    same(patchfold.run("onnx.Col2Im", columns[None], image_shape=(8, 8), block_shape=(3, 3)),
         patchfold.fold(columns[None].astype("f4"), (8, 8), 3), ">f4")  # fmt: skip


def test_plans_read_numbers_of_their_byte_order():
    columns = np.arange(16, dtype=">f4").reshape(1, 4, 4)[..., ::-1]
    expected = patchfold.fold(columns.astype("f4"), (3, 3), 2)
    plan = patchfold.plan("fold", columns, output_size=(3, 3), kernel_size=2)
    for each in (plan, pickle.loads(pickle.dumps(plan)), copy.deepcopy(plan)):
        same(each(columns), expected, ">f4")
        same(each(columns.copy()), expected, ">f4")
        out = np.empty((1, 1, 3, 3), ">f4")
        assert each(columns, out=out) is out
        same(out, expected, ">f4")
        with pytest.raises(patchfold.InvalidType, match="must have the element type of the plan; given float32"):
            each(columns.astype("f4"))
    into = np.empty((1, 1, 3, 6), ">f4")[..., ::2]
    plan = pickle.loads(pickle.dumps(patchfold.plan("fold", columns, out=into, output_size=(3, 3), kernel_size=2)))
    assert plan(columns, out=into) is into
    same(into, expected, ">f4")
    assert "fold" in repr(plan)


def test_a_call_that_is_refused_leaves_out_as_it_was():
    columns, out = np.ones((1, 4, 4), ">f4"), np.full((1, 1, 4, 4), 3, ">f4")
    with pytest.raises(patchfold.InvalidValue, match="out: must have the shape of the operator's result"):
        patchfold.fold(columns, (3, 3), 2, out=out)
    with pytest.raises(patchfold.InvalidType, match="out: must have the element type of x; given float32, expected >f4"):
        patchfold.fold(columns, (3, 3), 2, out=np.empty((1, 1, 3, 3), np.float32))
    repeated = np.lib.stride_tricks.as_strided(out, (1, 1, 3, 3), (0, 0, 0, 4))
    with pytest.raises(patchfold.InvalidValue, match="elements must not share memory"):
        patchfold.fold(columns, (3, 3), 2, out=repeated)
    assert (out == 3).all()


@pytest.mark.parametrize("dtype", [">U2", ">M8[s]", [("a", ">f4")]])
def test_other_elements_are_moved_and_not_added(dtype):
    x = np.zeros((1, 4, 4), dtype)
    assert patchfold.unfold(x, (2,)).dtype == np.dtype(dtype)
    with pytest.raises(patchfold.InvalidType, match="elements must be of a type that can be added; given "):
        patchfold.fold(x, (3, 3), 2)

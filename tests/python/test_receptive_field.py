# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.receptive_field, which measures how far a function looks."""

import sys
from fractions import Fraction

import numpy as np
import pytest
from patchfold import InvalidType, InvalidValue, receptive_field


def correlated(x, kernel, before, axis=-1):
    """Returns sums of neighbours with weights; zeros lie beyond the ends."""
    x = np.moveaxis(x, axis, -1)
    padded = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(before, len(kernel) - 1 - before)])
    return np.moveaxis(np.lib.stride_tricks.sliding_window_view(padded, len(kernel), axis=-1) @ np.array(kernel), -1, axis)


def pooled(x, size):
    return x.reshape(*x.shape[:-1], -1, size).max(-1)


def numbers(fn, shape, axis=-1, **settings):
    found = receptive_field(fn, shape, **settings)
    (halo,) = [each for each in found.halos if each.axis == axis % len(shape)]
    return (halo.before, halo.after, halo.alignment, halo.scale), halo, found


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (np.sqrt, (0, 0, 1, 1)),
        (lambda x: correlated(x, [1, 2, 3, 4, 5], 1), (1, 3, 1, 1)),
        (lambda x: correlated(correlated(x, [1, 2, 3], 1), [1, 1, 1], 1), (2, 2, 1, 1)),
        (lambda x: correlated(x, [1, 2, 3], 1)[..., 1:-1], (0, 2, 1, 1)),
        (lambda x: x[..., ::2], (0, 0, 2, Fraction(1, 2))),
        (lambda x: x.repeat(3, -1), (0, 0, 1, 3)),
        (lambda x: pooled(x, 4).repeat(4, -1), (3, 3, 4, 1)),
        # The skip hides the cells of the pool from single changes, but not from shifts.
        (lambda x: pooled(x, 2).repeat(2, -1) + correlated(x, [1] * 7, 3), (3, 3, 2, 1)),
        (lambda x: correlated(np.pad(x, ((0, 0), (3, 0)), "reflect"), [1, 1, 1, 1], 0)[:, :-3], (3, 0, 1, 1)),
        (lambda x: np.maximum(x, 0) * 0 + np.sign(correlated(x, [1, 1, 1], 1)), (1, 1, 1, 1)),
    ],
    ids=["sqrt", "window", "two windows", "valid", "stride", "upscaler", "cells", "cells and skip", "mirrored", "signs"],
)
def test_windows_are_measured(fn, expected):
    with np.errstate(invalid="ignore"):
        found, halo, report = numbers(fn, (2, 48))
    assert found == expected and halo.output_axis == 1
    assert report.windows > 0 and report.places[1] == 48 and report.calls > 96
    assert f"{expected[0]} before, {expected[1]} after" in str(report)


@pytest.mark.parametrize(
    ("fn", "reason"),
    [
        (lambda x: x - x.mean(-1, keepdims=True), "reach an end"),
        (lambda x: np.cumsum(x, -1), "reach an end"),
        (lambda x: x + np.arange(48), "depends on the place"),
        (lambda x: x[..., ::-1], "even steps"),
        (lambda x: x[..., np.random.default_rng(0).permutation(48)], "even steps|reach an end"),
        (lambda x: x + (x > 1e3).any(), "reach an end|changed the result"),
        (lambda x: x + np.roll(x, 1, -1), "near an end"),
    ],
    ids=["mean", "sums", "places", "backwards", "shuffled", "rarely far", "wraps around"],
)
def test_unbounded_functions_are_found(fn, reason):
    (before, *_), halo, _ = numbers(fn, (2, 48))
    assert before is None and halo.overlap is None
    assert any(part in halo.unbounded_by[0] for part in reason.split("|"))


def test_how_it_was_measured_is_said():
    def refuses(x):
        if np.isnan(x).any():
            raise RuntimeError("NaN")
        return correlated(x, [1, 1, 1], 1)

    assert receptive_field(refuses, (32,)).nan_agrees is None
    report = receptive_field(lambda x: np.nan_to_num(correlated(x, [1, 1, 1], 1)), (32,))
    assert report.nan_agrees is True
    wide = receptive_field(lambda x: x + 0 * correlated(x, [1, 1, 1], 1), (32,))  # only NaN is seen through the factor 0
    assert wide.nan_agrees is False and wide.halos[0].before == 1
    ints = receptive_field(lambda x: correlated(x, [1, 2, 1], 1), (64,), dtype="int64")
    assert (ints.halos[0].before, ints.nan_agrees) == (1, None)
    assert "NaN is not taken" in str(ints) and "62 along" not in str(ints) and "64 along axis 0" in str(ints)


def test_several_results_and_axes():
    def fn(x):
        return {"a": correlated(x, [1, 1, 1], 1, axis=0), "b": x.T}

    report = receptive_field(fn, (24, 20))
    found = {(each.output, each.axis): each for each in report.halos}
    assert (found["result a", 0].before, found["result a", 1].before) == (1, 0)
    assert found["result b", 0].output_axis == 1 and found["result b", 1].output_axis == 0
    assert set(receptive_field(fn, (24, 20), axes=-1).places) == {1}


def test_long_axes_are_measured_in_the_middle():
    report = receptive_field(lambda x: correlated(x, [1, 1, 1], 1), (1000,))
    assert report.places == {0: 96} and report.halos[0].before == 1


def test_wrong_calls_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidType, match="must be a function"):
        receptive_field(3, (8,))
    with pytest.raises(InvalidType, match="must be integers"):
        receptive_field(np.sqrt, ("a",))
    with pytest.raises(InvalidValue, match="positive extents"):
        receptive_field(np.sqrt, (8, 0))
    with pytest.raises(InvalidValue, match="axes of the array"):
        receptive_field(np.sqrt, (8,), axes=1)
    with pytest.raises(InvalidValue, match="same result for the same array"):
        receptive_field(lambda x: x + rng.random(), (8,))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no notes")
def test_a_function_that_wants_more_axes_names_the_shape():
    def net(x):
        if x.ndim != 4:
            raise ValueError("four axes")
        return x

    with pytest.raises(ValueError, match="four axes") as caught:
        receptive_field(net, (3, 16, 16))
    text = "fn takes an array with more axes in front: give shape=(1, 3, 16, 16)"
    assert caught.value.__notes__ == [f"patchfold: receptive_field: {text}"]

# SPDX-License-Identifier: Apache-2.0
"""Tests that errors of ambiguous and meaningless calls name the call to type instead."""

import numpy as np
import patchfold
import pytest
from patchfold import InvalidValue

CHW = np.zeros((16, 6, 6), np.float32)
HWC = np.zeros((480, 640, 3), np.uint8)

ONE_NUMBER = {
    "unfold": (lambda x, n: patchfold.unfold(x, n), "kernel_size"),
    "unfold_view": (lambda x, n: patchfold.unfold_view(x, n), "kernel_size"),
    "iter_unfold": (lambda x, n: list(patchfold.iter_unfold(x, n)), "kernel_size"),
    "reorder": (lambda x, n: patchfold.reorder(x, n, positions="grid"), "kernel_size"),
    "space_to_depth": (lambda x, n: patchfold.space_to_depth(x, n), "block"),
    "space_to_depth_view": (lambda x, n: patchfold.space_to_depth_view(x, n), "block"),
    "depth_to_space": (lambda x, n: patchfold.depth_to_space(x, n), "block"),
    "space_to_batch": (lambda x, n: patchfold.space_to_batch(x, n), "block"),
    "batch_to_space": (lambda x, n: patchfold.batch_to_space(x, n), "block"),
}


@pytest.mark.parametrize("name", ONE_NUMBER)
def test_rank_3_and_rank_5_with_a_single_number_ask_for_a_list(name):
    call, argument = ONE_NUMBER[name]
    x = np.zeros((8,) * 6, np.float32)
    for array, others in [(x[0, 0, 0], (2,)), (x[0], (2, 2, 2)), (x, (2, 2, 2))]:
        with pytest.raises(InvalidValue) as caught:
            call(array, 2)
        error = caught.value
        assert (error.operator, error.argument, error.code) == (name, "x", "rank")
        assert error.rule == "a single number says how many axes are spatial in rank 4 only"
        count = {1: "one", 3: "three"}[len(others)]
        assert error.expected == f"{argument}=(2, 2) for two spatial axes, {argument}={others} for {count}"
        for typed in [(2, 2), others]:  # both forms that the message names work unchanged
            call(array, typed)
    call(x[0, 0], 2)


def test_pixel_shuffle_of_one_picture_gives_what_torch_gives():
    deep = np.arange(16 * 6 * 6).reshape(16, 6, 6)
    torchs = deep.reshape(4, 2, 2, 6, 6).transpose(0, 3, 1, 4, 2).reshape(4, 12, 12)
    with pytest.raises(InvalidValue, match="rank 4 only"):
        patchfold.depth_to_space(deep, 2, mode="depth_first")
    assert np.array_equal(patchfold.depth_to_space(deep, (2, 2), mode="depth_first"), torchs)
    assert np.array_equal(patchfold.space_to_depth(torchs, (2, 2), mode="depth_first"), deep)


@pytest.mark.parametrize("name", ["unfold", "unfold_view", "iter_unfold"])
def test_an_image_smaller_than_a_patch_is_an_error(name):
    function = getattr(patchfold, name)
    with pytest.raises(InvalidValue) as caught:
        function(HWC, (8, 8))
    assert str(caught.value) == (
        f"{name}: kernel_size: a patch must fit into the padded image; given patches of (8, 8) and an image of (640, 3); "
        'channels last? layout="channels_last"'
    )
    assert caught.value.hint == 'channels last? layout="channels_last"'
    with pytest.raises(InvalidValue) as caught:
        function(CHW, (8, 8), dilation=2)
    assert str(caught.value) == (
        f"{name}: kernel_size: a patch must fit into the padded image; given patches of (15, 15) and an image of (6, 6); "
        "allow_empty=True returns no columns"
    )


def test_allow_empty_returns_no_columns():
    assert patchfold.unfold(CHW, (8, 8), allow_empty=True).shape == (16 * 64, 0)
    assert patchfold.unfold(CHW, (8, 6), positions="grid", allow_empty=True).shape == (16 * 48, 0, 1)
    assert patchfold.unfold_view(CHW, (8, 6), allow_empty=True).shape == (16, 8, 6, 0, 1)
    far = patchfold.unfold_view(CHW, (2**40, 1), dilation=2**18, allow_empty=True)
    assert far.shape == (16, 2**40, 1, 0, 6) and far.size == 0
    assert sum(part.columns.size for part in patchfold.iter_unfold(CHW, (8, 8), allow_empty=True)) == 0
    # A result that is empty for another reason is no mistake.
    assert patchfold.unfold(np.zeros((0, 3, 4, 4)), 2).shape == (0, 12, 9)
    assert patchfold.unfold(np.zeros((2, 0, 4, 4)), 2).shape == (2, 0, 9)
    assert patchfold.fold(np.zeros((2, 18, 0)), (2, 2), 3).shape == (2, 2, 2, 2)


def test_torch_unfold_takes_no_volume_for_a_batch():
    torch = pytest.importorskip("torch")
    import patchfold.torch as ours

    x = torch.zeros(1, 2, 6, 6)
    for call in (lambda: ours.unfold(x, (2, 2, 2)), lambda: ours.unfold(x, 2, stride=(1, 1, 1))):
        with pytest.raises(InvalidValue) as caught:
            call()
        assert caught.value.argument == "input" and caught.value.expected == "rank 5"
    assert ours.unfold(x[0], 2).shape == (8, 25)
    assert ours.unfold(x[None], (1, 2, 2)).shape == (1, 4, 50)


@pytest.mark.parametrize("name", ["unfold", "unfold_view", "space_to_depth", "depth_to_space", "space_to_batch"])
def test_no_spatial_axes_are_refused_but_by_tensorflow(name):
    with pytest.raises(InvalidValue) as caught:
        getattr(patchfold, name)(CHW[None], ())
    assert caught.value.argument in ("kernel_size", "block") and "empty list" in caught.value.given
    flat = np.arange(6).reshape(2, 3)
    assert np.array_equal(patchfold.tensorflow.space_to_batch_nd(flat, [], np.empty((0, 2), np.int32)), flat)

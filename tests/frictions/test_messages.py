# SPDX-License-Identifier: Apache-2.0
"""Tests that errors of ambiguous and meaningless calls name the call to type instead."""

import numpy as np
import patchfold
import pytest
from patchfold import InvalidValue

CHW = np.zeros((16, 6, 6), np.float32)


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

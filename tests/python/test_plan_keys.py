# SPDX-License-Identifier: Apache-2.0
"""Checks that the kept plan of a call is not used for a different call."""

import numpy as np
import patchfold
import pytest


def values_that_look_alike() -> list[object]:
    """Returns padding values, some of which have equal bits, equal types or equal numbers."""
    bits_of_one = 4607182418800017408  # as a double
    numbers = (0, -0.0, 1, True, 1.0, bits_of_one, np.True_, np.int64(1), np.float32(1), -1, 256, 257, 1e300)
    return [*numbers, np.array(1), np.array(1, np.int8), np.array(2)]


def test_a_call_is_not_taken_for_one_that_looks_alike() -> None:
    x = np.arange(9.0).reshape(1, 1, 3, 3)
    for value in values_that_look_alike() * 2:
        want = np.pad(x[0, 0], 1, constant_values=np.float64(value))  # type: ignore[arg-type]
        got = patchfold.unfold(x, 3, padding=1, value=value)  # type: ignore[arg-type]
        assert got[0, 0].tobytes() == want[:3, :3].tobytes(), value
        assert np.signbit(got[0, 0, 0]) == np.signbit(want[0, 0])


def test_a_list_that_changed_is_another_argument() -> None:
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    as_list, as_array = [1, 2], np.array([1, 2])
    for size in (as_list, as_array):
        for height, width in ((1, 2), (3, 1), (2, 2), (1, 2)):
            size[0], size[1] = height, width  # type: ignore[index]
            got = patchfold.unfold(x, size, positions="grid")
            windows = np.lib.stride_tricks.sliding_window_view(x[0, 0], (height, width))
            want = windows.transpose(2, 3, 0, 1).reshape(1, height * width, 5 - height, 5 - width)
            assert np.array_equal(got, want), (size, height, width)
    asymmetric = [[1, 0], [0, 2]]
    for pads, edges in ((asymmetric, ((1, 0), (0, 2))), ([1, 0], ((1, 1), (0, 0))), (1, 1), ("same", (0, 1)), ("valid", 0)):
        got = patchfold.unfold(x, 2, padding=pads, positions="grid")  # type: ignore[arg-type]
        assert np.array_equal(got[0, 0], np.pad(x[0, 0], edges)[:-1, :-1]), pads  # type: ignore[arg-type]


def test_integers_of_another_type_are_another_argument() -> None:
    columns = np.arange(4.0).reshape(1, 4, 1)
    block = {np.int64: np.array([2, 2], np.int64), np.uint8: np.array([2, 2], np.uint8)}
    for _ in range(2):
        assert patchfold.onnx.col2im(columns, block[np.int64], block[np.int64]).shape == (1, 1, 2, 2)
        with pytest.raises(patchfold.InvalidType, match="int64"):
            patchfold.onnx.col2im(columns, block[np.uint8], block[np.uint8])

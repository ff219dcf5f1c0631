# SPDX-License-Identifier: Apache-2.0
"""Tests of TensorFlow's tensors as inputs and outputs of the neutral functions."""

import numpy as np
import patchfold
import pytest
import tensorflow as tf
from patchfold.tensorflow import _tensors

NUMBERS = [
    tf.bool, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64, tf.float16, tf.bfloat16,
    tf.float32, tf.float64, tf.complex64, tf.complex128,
]  # fmt: skip
FLOAT8 = [tf.dtypes.experimental.float8_e4m3fn, tf.dtypes.experimental.float8_e5m2]


def tensor(dtype: tf.DType, shape: tuple[int, ...]) -> tf.Tensor:
    """Returns a tensor of random bits 0 and 1, which are valid in every type."""
    size = np.dtype(dtype.as_numpy_dtype).itemsize
    data = np.random.default_rng(3).integers(0, 2, int(np.prod(shape)) * size, np.uint8)
    return tf.constant(data.view(dtype.as_numpy_dtype).reshape(shape))


@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda dtype: dtype.name)
def test_every_element_type_is_moved(dtype: tf.DType) -> None:
    x = tensor(dtype, (1, 2, 4, 5))
    y = patchfold.unfold(x, 2, padding=1)
    assert isinstance(y, tf.Tensor)
    assert y.dtype is dtype
    assert y.numpy().tobytes() == patchfold.unfold(x.numpy(), 2, padding=1).tobytes()


@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda dtype: dtype.name)
def test_numbers_are_summed(dtype: tf.DType) -> None:
    y = patchfold.fold(tf.cast(tf.ones((1, 4, 4)), dtype), (3, 3), 2)
    assert y.dtype is dtype
    expected = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]).astype(dtype.as_numpy_dtype)
    assert (y.numpy()[0, 0] == expected).all()


@pytest.mark.parametrize("dtype", FLOAT8, ids=lambda dtype: dtype.name)
def test_float8_is_moved_by_the_library_alone(dtype: tf.DType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks that the library's operator takes float8 tensors, and that functions in Python refuse them."""
    x = tf.cast(tf.reshape(tf.range(16.0), (1, 1, 4, 4)), dtype)
    result = patchfold.unfold(x, 2)
    assert result.dtype == dtype and np.array_equal(result.numpy(), patchfold.unfold(x.numpy(), 2))
    monkeypatch.setattr(_tensors, "_loaded", lambda: None)
    with pytest.raises(patchfold.InvalidType, match="^unfold: x: "):
        patchfold.unfold(x, 2)


def test_tensors_are_never_written_to() -> None:
    x = tf.ones((1, 1, 4, 4))
    with pytest.raises(patchfold.InvalidType, match="out: must be an array that can be written to"):
        patchfold.unfold(x, 2, out=tf.zeros((1, 4, 9)))

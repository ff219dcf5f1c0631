# SPDX-License-Identifier: Apache-2.0
"""Tests of first attempts of users of JAX, TensorFlow, ONNX and TorchScript, which failed before."""

import patchfold
import pytest


def test_a_tracer_of_jax_in_another_function_is_told_where_to_go() -> None:
    jax = pytest.importorskip("jax")
    with pytest.raises(patchfold.InvalidType, match=r"inside jit, grad or vmap.*patchfold\.jax"):
        jax.jit(lambda x: patchfold.unfold(x, 3))(jax.numpy.ones((1, 1, 4, 4)))


def test_the_derivative_of_a_mean_is_not_that_of_a_sum() -> None:
    tf = pytest.importorskip("tensorflow")
    x = tf.Variable(tf.ones((1, 9, 4)))
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(patchfold.fold(x, (4, 4), 3, reduce="mean"))
    with pytest.raises(patchfold.InvalidValue, match="reduce: has no derivative for a mean"):
        tape.gradient(total, x)

# SPDX-License-Identifier: Apache-2.0
"""Tests of every operator on TensorFlow's tensors: tapes, tf.function, and derivatives of any order."""

import numpy as np
import patchfold
import patchfold.tensorflow
import pytest

tf = pytest.importorskip("tensorflow")
from patchfold.tensorflow import _tensors  # noqa: E402

RANDOM = np.random.default_rng(5)

CALLS = [
    (patchfold.unfold, (2, 3, 6, 5), {"kernel_size": (3, 2), "stride": 2, "padding": 1}),
    (patchfold.unfold, (2, 3, 6, 5), {"kernel_size": (3, 2), "padding": "same", "value": 3.0}),
    (patchfold.unfold, (1, 2, 5, 4), {"kernel_size": (3, 3), "padding": [(2, 1), (1, 3)], "padding_mode": "reflect"}),
    (patchfold.unfold, (1, 2, 5, 4), {"kernel_size": (3, 3), "padding_mode": "edge"}),
    (patchfold.unfold, (1, 2, 5, 4), {"kernel_size": (3, 3), "padding": 2, "padding_mode": "circular"}),
    (patchfold.unfold, (1, 2, 5, 4), {"kernel_size": (3, 3), "padding": 1, "padding_mode": "zeros"}),
    (
        patchfold.tensorflow.reconstruct_patches,
        (2, 3, 2, 12),
        {
            "output_size": (6, 5),
            "sizes": [1, 2, 3, 1],
            "strides": [1, 2, 3, 1],
            "rates": [1, 1, 1, 1],
            "padding": "SAME",
        },
    ),
    (patchfold.fold, (2, 12, 20), {"output_size": (5, 6), "kernel_size": 2}),
    (patchfold.reorder, (2, 12, 5), {"kernel_size": (2, 3)}),
    (patchfold.copy, (2, 3, 4), {}),
    (patchfold.space_to_batch, (2, 3, 5, 6), {"block": (2, 3), "padding": [(1, 0), (0, 0)]}),
    (patchfold.batch_to_space, (12, 3, 2), {"block": (6,), "crops": [(1, 3)]}),
    (patchfold.space_to_depth, (2, 3, 4, 6), {"block": 2}),
    (patchfold.depth_to_space, (2, 8, 2, 3), {"block": 2, "mode": "depth_first"}),
    (patchfold.tensorflow.space_to_depth, (2, 4, 6, 3), {"block_size": 2}),
    (patchfold.tensorflow.depth_to_space, (2, 2, 3, 8), {"block_size": 2}),
    (patchfold.tensorflow.space_to_batch_nd, (2, 5, 6, 3), {"block_shape": [2, 3], "paddings": [[1, 0], [0, 0]]}),
    (patchfold.tensorflow.batch_to_space_nd, (6, 2, 3, 1), {"block_shape": [2, 3], "crops": [[1, 0], [0, 2]]}),
    (
        patchfold.tensorflow.extract_image_patches,
        (2, 7, 6, 3),
        {"ksizes": [1, 3, 2, 1], "strides": [1, 2, 1, 1], "rates": [1, 1, 2, 1], "padding": "SAME"},
    ),
]
every_call = pytest.mark.parametrize(
    ("function", "shape", "arguments"), CALLS, ids=[f"{i}-{call[0].__name__}" for i, call in enumerate(CALLS)]
)


@pytest.fixture(params=["library", "python"], autouse=True)
def way(request, monkeypatch):
    """Runs each test twice: with the library's operator, and with the Python functions that replace a missing library."""
    if request.param == "python":
        monkeypatch.setattr(_tensors, "_loaded", lambda: None)
    return request.param


def numbers(shape):
    return RANDOM.integers(-9, 10, shape).astype(np.float32)


@every_call
def test_tapes_record_the_adjoint(function, shape, arguments):
    """Checks <A x, y> = <x, A' y> in small integers, so that both sides are exact."""
    x, start = numbers(shape), function(np.zeros(shape, np.float32), **arguments)
    y = numbers(start.shape)
    variable = tf.Variable(x)
    with tf.GradientTape() as tape:
        result = function(variable, **arguments)
        total = tf.reduce_sum(result * y)
    assert isinstance(result, tf.Tensor)
    assert np.array_equal(result.numpy(), function(x, **arguments))
    gradient = tape.gradient(total, variable)
    assert gradient.shape == variable.shape
    assert ((result.numpy() - start) * y).sum() == (x * gradient.numpy()).sum()


@every_call
def test_second_derivatives(function, shape, arguments):
    x = tf.constant(numbers(shape))
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            total = tf.reduce_sum(function(x, **arguments) ** 3)
        first = inner.gradient(total, x)
        value = tf.reduce_sum(first**2)
    second = outer.gradient(value, x)
    step = 1e-3
    direction = numbers(shape)

    def first_at(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(tf.cast(function(x, **arguments), tf.float64) ** 3)
        return tape.gradient(total, x).numpy().astype(np.float64)

    wide = x.numpy().astype(np.float64)
    above, below = ((first_at(tf.constant(wide + sign * step * direction)) ** 2).sum() for sign in (1, -1))
    expected = (above - below) / (2 * step)
    assert np.isclose((second.numpy().astype(np.float64) * direction).sum(), expected, rtol=1e-3)


@every_call
def test_graphs_have_the_result_its_shape_and_its_gradient(function, shape, arguments):
    x = numbers(shape)
    shapes = []

    @tf.function
    def traced(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            result = function(x, **arguments)
            shapes.append(result.shape)
            total = tf.reduce_sum(result**2)
        return result, tape.gradient(total, x)

    expected = function(x, **arguments)
    result, gradient = traced(tf.constant(x))
    assert np.array_equal(result.numpy(), expected) and shapes == [expected.shape]
    with tf.GradientTape() as tape:
        eager = tf.constant(x)
        tape.watch(eager)
        total = tf.reduce_sum(function(eager, **arguments) ** 2)
    assert np.array_equal(gradient.numpy(), tape.gradient(total, eager).numpy())


def test_graphs_of_any_batch():
    @tf.function(input_signature=[tf.TensorSpec((None, 3, None, 6))])
    def traced(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(patchfold.unfold(x, 3, padding=1))
        return tape.gradient(total, x)

    for shape in ((2, 3, 5, 6), (4, 3, 4, 6)):
        assert np.array_equal(traced(tf.ones(shape)).numpy()[1, 1], patchfold.coverage(shape[2:], 3, padding=1))


def test_a_keras_like_layer_learns():
    """Trains a model by a tape, with an operator of patchfold between two layers."""
    weights = tf.Variable(tf.ones((12, 1)) / 12)
    x = tf.constant(RANDOM.random((4, 4, 4, 3)), tf.float32)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            deep = patchfold.tensorflow.space_to_depth(x * tf.reduce_sum(weights), 2)
            loss = tf.reduce_mean((tf.tensordot(deep, weights, 1) - 1) ** 2)
        weights.assign_sub(0.05 * tape.gradient(loss, weights))
        return loss

    losses = [float(step()) for _ in range(10)]
    assert losses[-1] < losses[0] * 0.8


def test_wrong_calls_are_refused_while_a_graph_is_traced():
    for call, words in [
        (lambda x: patchfold.unfold(x, 2, padding="half"), "padding: must be a rule or numbers"),
        (lambda x: patchfold.fold(x[0], (4, 4), 3), "fold: x: "),
    ]:
        with pytest.raises(patchfold.Error, match=words):
            tf.function(call, autograph=False)(tf.ones((1, 1, 4, 4)))
        with pytest.raises(patchfold.Error, match=words):
            call(tf.ones((1, 1, 4, 4)))


def test_other_objects_of_tensorflow_are_refused_as_before():
    for x in (tf.sparse.eye(3), tf.ragged.constant([[1.0], [2.0, 3.0]]), tf.TensorShape([1, 2])):
        with pytest.raises(patchfold.InvalidType, match="unfold: x: must be an array"):
            patchfold.unfold(x, (2,))


def test_integers_pass():
    x = tf.reshape(tf.range(16), (1, 1, 4, 4))
    with tf.GradientTape() as tape:
        result = patchfold.unfold(x, 2)
    assert result.dtype == tf.int32 and tape.gradient(result, x) is None
    assert patchfold.unfold(tf.zeros((0, 3, 4, 4), tf.bool), 2).shape == (0, 12, 9)

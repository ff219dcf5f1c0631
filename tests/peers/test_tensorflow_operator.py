# SPDX-License-Identifier: Apache-2.0
"""Tests of TensorFlow's tensors in the neutral functions, and of the operator that the package's library adds to TensorFlow:
its use, saved models, threads and wrong calls."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import patchfold
import patchfold.tensorflow
import pytest

tf = pytest.importorskip("tensorflow")
from patchfold.tensorflow import _tensors  # noqa: E402

KIND = "PatchfoldLinear"


def kinds(function, *signature):
    graph = tf.function(function).get_concrete_function(*signature).graph
    return [operation.type for operation in graph.get_operations()]


def unfolded(x):
    return patchfold.unfold(x, (3, 3), padding=1)


@pytest.mark.parametrize("shape", [(2, 3, 5, 6), (None, 3, 5, 6), (None, None, None, None)])
def test_calls_are_one_operator(shape):
    found = kinds(unfolded, tf.TensorSpec(shape))
    assert found.count(KIND) == 1 and not any("PyFunc" in kind for kind in found)
    x = tf.random.stateless_normal((2, 3, 5, 6), (1, 2))
    traced = tf.function(unfolded, input_signature=[tf.TensorSpec(shape)])
    assert np.array_equal(traced(x).numpy(), patchfold.unfold(x.numpy(), (3, 3), padding=1))


def test_gradients_are_the_same_operator():
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(unfolded(x))
        return tape.gradient(total, x)

    for shape in ((2, 3, 5, 6), (None, 3, None, 6)):
        found = kinds(gradient, tf.TensorSpec(shape))
        assert found.count(KIND) == 2 and not any("PyFunc" in kind for kind in found)


def test_open_extents_are_checked_when_they_are_known():
    traced = tf.function(lambda x: patchfold.unfold(x, (3, 3)), input_signature=[tf.TensorSpec((None, 1, None, None))])
    assert traced(tf.ones((2, 1, 3, 4))).shape == (2, 9, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="unfold: .*kernel_size"):
        traced(tf.ones((2, 1, 2, 4)))


SAVED = """
import sys
import numpy, tensorflow
import patchfold.tensorflow
if sys.argv[2] == "library":
    patchfold.tensorflow.library()
model = tensorflow.saved_model.load(sys.argv[1])
result, gradient = model.call(tensorflow.reshape(tensorflow.range(48.0), (1, 3, 4, 4)))
print(numpy.asarray(result).sum(), numpy.asarray(gradient).sum())
"""


def test_saved_models_are_loaded_by_other_processes(tmp_path):
    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec((None, 3, 4, 4))])
        def call(self, x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                result = unfolded(x)
                total = tf.reduce_sum(result**2)
            return result, tape.gradient(total, x)

    x = np.arange(48, dtype=np.float32).reshape(1, 3, 4, 4)
    columns = patchfold.unfold(x, (3, 3), padding=1)
    gradient = 2 * x * patchfold.coverage((4, 4), (3, 3), padding=1)
    tf.saved_model.save(Model(), str(tmp_path / "m"))

    def load(word):
        return subprocess.run([sys.executable, "-c", SAVED, str(tmp_path / "m"), word], capture_output=True, text=True)

    assert load("library").stdout.split() == [str(columns.sum()), str(gradient.sum())]
    without = load("nothing")
    assert without.returncode and KIND in without.stderr


def test_library_names_its_file(monkeypatch, tmp_path):
    assert Path(patchfold.tensorflow.library()).is_file()
    monkeypatch.setattr(_tensors, "_loaded", lambda: None)
    with pytest.raises(FileNotFoundError, match="has no library for this TensorFlow"):
        patchfold.tensorflow.library()


@pytest.mark.parametrize(
    ("call", "x", "shape", "text"),
    [
        ("nonsense", np.ones((1, 1, 4, 4), np.float32), [], "there is no operator of this name"),
        ("", np.ones(3, np.float32), [], "operator"),
        ("unfold f32 ? kernel_size=2,2", np.ones((1, 1, 4, 4), np.float32), [], "given ?"),
        (
            "unfold f32 ? kernel_size=2,2",
            np.ones((1, 1, 4, 4), np.float32),
            [[1, 1, 4, 4, 7]],
            "must have a tensor of its shape",
        ),
        ("unfold f32 ? kernel_size=2,2", np.ones((1, 1, 4, 4), np.float32), [[-1, 1, 4, 4]], "extents must be at least 0"),
        ("unfold f32 ? kernel_size=2,2", np.ones((1, 1, 4, 4), np.float32), [[[1, 1, 4, 4]]], "shape: must have one axis"),
        (
            "unfold f32 ? kernel_size=2,2",
            np.ones((1, 1, 4, 4), np.float32),
            [[1 << 40, 1, 4, 1 << 30]],
            "number of elements",
        ),
        ("unfold f32 1x1x4x4 kernel_size=2,2", np.ones((1, 1, 4, 4)), [], "must have tensors of its element type"),
        ("unfold f32 1x1x4x4 kernel_size=2,2", np.array([["a"]]), [], "must have tensors of its element type"),
        (
            "coverage f32 - output_size=4,4 kernel_size=2,2",
            np.ones((4, 4), np.float32),
            [],
            "must have an operator with data",
        ),
    ],
)
def test_wrong_calls_of_the_operator_are_refused(call, x, shape, text):
    operator = _tensors._loaded()
    with pytest.raises(tf.errors.InvalidArgumentError) as refused:
        operator(tf.constant(x), [tf.constant(extents, tf.int64) for extents in shape], call=call)
    assert text in str(refused.value)


def test_many_threads_call_it_at_once():
    x = tf.random.stateless_normal((1, 4, 40, 40), (3, 4))
    expected = patchfold.unfold(x.numpy(), (3, 3), padding=1)
    with ThreadPoolExecutor(8) as pool:
        assert all(np.array_equal(result.numpy(), expected) for result in pool.map(lambda _: unfolded(x), range(200)))


def test_every_element_type_and_empty_tensors():
    for name in ("bool", "uint8", "int16", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"):
        x = tf.cast(tf.reshape(tf.range(32), (1, 2, 4, 4)), name)
        result = patchfold.space_to_depth(x, 2)
        assert result.dtype == x.dtype and np.array_equal(result.numpy(), patchfold.space_to_depth(x.numpy(), 2))
    x = tf.zeros((0, 2, 4, 4))
    with tf.GradientTape() as tape:
        tape.watch(x)
        result = patchfold.unfold(x, (2, 2))
    assert result.shape == (0, 8, 9) and tape.gradient(result, x).shape == x.shape


@pytest.mark.parametrize(
    ("call", "shape", "expected"),
    [
        (lambda x: patchfold.tensorflow.space_to_depth(x, 2), (None, 16, 16, 3), [None, 8, 8, 12]),
        (lambda x: patchfold.tensorflow.space_to_depth(x, 2), (None, None, 16, 3), [None, None, 8, 12]),
        (lambda x: patchfold.depth_to_space(x, 2), (None, 12, None, 4), [None, 3, None, 8]),
        (lambda x: patchfold.depth_to_space(x, 2), (2, None, 3, 4), [2, None, 6, 8]),
        (lambda x: patchfold.unfold(x, (3, 3), stride=2), (None, 3, 9, 9), [None, 27, 16]),
        (lambda x: patchfold.unfold(x, (3, 3), stride=2), (None, None, None, None), [None, None, None]),
        (lambda x: patchfold.unfold(x, (3, 3), padding=1, padding_mode="edge"), (None, 3, 9, 9), [None, 27, 81]),
        (lambda x: patchfold.fold(x, (9, 9), 3), (None, 27, 49), [None, 3, 9, 9]),
        (lambda x: patchfold.reconstruct(x, (None, 3, 9, 9), 3), (None, 27, 49), [None, 3, 9, 9]),
        (lambda x: patchfold.space_to_batch(x, 2), (None, 3, 8, 8), [None, 3, 4, 4]),
        (lambda x: patchfold.patchify(x, 4), (None, 3, 16, 16), [None, 16, 48]),
        (lambda x: patchfold.rearrange(x, "b (h p) c -> b h (p c)", p=2), (None, 6, 3), [None, 3, 6]),
        (lambda x: patchfold.rearrange(x, "(b k) h c -> h b (k c)", k=2), (None, 6, 3), [6, None, 6]),
        (lambda x: patchfold.rearrange(x, "... c -> c ..."), (None, 6, 3), [3, None, 6]),
        (lambda x: patchfold.rearrange(x, "b h c -> (h b) c"), (None, 6, 3), [None, 3]),
        (lambda x: patchfold.unpatchify(x, (16, 16), 4), (None, 16, 48), [None, 3, 16, 16]),
    ],
)
def test_graphs_know_what_is_known_of_a_shape(call, shape, expected):
    traced = tf.function(call, input_signature=[tf.TensorSpec(shape)])
    assert traced.get_concrete_function().structured_outputs.shape.as_list() == expected
    x = np.random.default_rng(0).random([size or 4 * (3 if axis else 1) for axis, size in enumerate(shape)], np.float32)
    assert np.array_equal(traced(x).numpy(), call(x))
    assert tf.TensorShape(expected).is_compatible_with(traced(x).shape)


def test_images_of_an_open_batch_are_put_back():
    def there_and_back(x):
        return patchfold.reconstruct(patchfold.unfold(x, 3, stride=2), x.shape, 3, stride=2)

    traced = tf.function(there_and_back, input_signature=[tf.TensorSpec((None, 3, 7, 9))])
    image = tf.random.stateless_normal((2, 3, 7, 9), (1, 2))
    assert np.array_equal(traced(image).numpy(), image.numpy())
    message = r"reconstruct: shape: must begin with None, since the batch of the columns is open; given \(2, 3, 7, 9\)"
    for wrong in ((2, 3, 7, 9), (None, 3, 9, 9)):
        call = tf.function(lambda x, wrong=wrong: patchfold.reconstruct(x, wrong, 3, stride=2))
        with pytest.raises(Exception, match=message if wrong[0] else "position"):  # AutoGraph makes it its own error
            call.get_concrete_function(tf.TensorSpec((None, 27, 12)))


def test_layers_and_pipelines_with_an_open_batch():
    class Deep(tf.keras.layers.Layer):
        def call(self, x):
            return patchfold.tensorflow.space_to_depth(x, 2)

    model = tf.keras.Sequential([tf.keras.Input((16, 16, 3)), Deep(), tf.keras.layers.Conv2D(4, 3)])
    assert model.output_shape == (None, 6, 6, 4) and model(np.ones((2, 16, 16, 3), np.float32)).shape == (2, 6, 6, 4)
    data = tf.data.Dataset.from_tensor_slices(tf.ones((5, 16, 16, 3))).batch(2)
    mapped = data.map(lambda x: patchfold.tensorflow.space_to_depth(x, 2))
    assert mapped.element_spec.shape.as_list() == [None, 8, 8, 12]


@pytest.mark.parametrize(
    ("call", "shape", "message"),
    [
        (lambda x: patchfold.patchify(x, 4), (None, 16, 16), r"patchify: x: .*; given \(None, 16, 16\)"),
        (lambda x: patchfold.patchify(x, 4), (None, 3, None, 16), r"patchify: x: .*; given \(None, 3, None, 16\)"),
        (lambda x: patchfold.rearrange(x, "b h w -> b w h"), (None, None, 3), r"rearrange: x: .*; given \(None, None, 3\)"),
    ],
)
def test_only_the_batch_may_be_open_where_tensorflow_moves_the_elements(call, shape, message):
    with pytest.raises(Exception, match=message.replace(".*", "only the batch may be open")):
        tf.function(call, input_signature=[tf.TensorSpec(shape)]).get_concrete_function()


NUMBERS = [
    tf.bool, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64, tf.float16, tf.bfloat16,
    tf.float32, tf.float64, tf.complex64, tf.complex128,
]  # fmt: skip
FLOAT8 = [tf.dtypes.experimental.float8_e4m3fn, tf.dtypes.experimental.float8_e5m2]


def tensor(dtype: tf.DType, shape: tuple[int, ...]) -> tf.Tensor:
    """Returns a tensor whose bytes are 0 or 1 at random, which is valid in every type."""
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

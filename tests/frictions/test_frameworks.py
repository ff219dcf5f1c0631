# SPDX-License-Identifier: Apache-2.0
"""Tests of first attempts of users of JAX, TensorFlow, ONNX and TorchScript, which failed before."""

import patchfold
import pytest


def test_jax_jit_grad_and_vmap() -> None:
    jax = pytest.importorskip("jax")
    x = jax.numpy.ones((2, 1, 4, 4))
    assert (jax.jit(lambda x: patchfold.jax.unfold(x, 3))(x) == patchfold.unfold(x, 3)).all()
    gradient = jax.grad(lambda x: patchfold.jax.unfold(x, 3).sum())(x)
    assert (gradient[0, 0] == patchfold.coverage((4, 4), 3)).all()
    assert jax.vmap(lambda x: patchfold.jax.unfold(x, (3, 3)))(x).shape == (2, 9, 4)


def test_a_tracer_of_jax_in_another_function_is_told_where_to_go() -> None:
    jax = pytest.importorskip("jax")
    with pytest.raises(patchfold.InvalidType, match=r"inside jit, grad or vmap.*patchfold\.jax"):
        jax.jit(lambda x: patchfold.unfold(x, 3))(jax.numpy.ones((1, 1, 4, 4)))


def test_tensorflows_tape_gets_a_gradient() -> None:
    tf = pytest.importorskip("tensorflow")
    x = tf.Variable(tf.ones((1, 1, 4, 4)))
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(patchfold.unfold(x, 3))
    assert (tape.gradient(total, x)[0, 0].numpy() == patchfold.coverage((4, 4), 3)).all()


def test_the_derivative_of_a_mean_is_not_that_of_a_sum() -> None:
    tf = pytest.importorskip("tensorflow")
    x = tf.Variable(tf.ones((1, 9, 4)))
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(patchfold.fold(x, (4, 4), 3, reduce="mean"))
    with pytest.raises(patchfold.InvalidValue, match="reduce: has no derivative for a mean"):
        tape.gradient(total, x)


def test_a_function_of_tensorflow() -> None:
    tf = pytest.importorskip("tensorflow")
    columns = tf.function(lambda x: patchfold.unfold(x, 3))(tf.ones((1, 1, 4, 4)))
    assert columns.shape == (1, 9, 4)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dynamo", [False, True])
def test_onnx_export_of_a_module(tmp_path, dynamo) -> None:  # type: ignore[no-untyped-def]
    torch = pytest.importorskip("torch")
    if dynamo:
        pytest.importorskip("onnxscript")
    runtime = pytest.importorskip("onnxruntime")
    x = torch.randn(1, 2, 6, 6)
    path = str(tmp_path / "model.onnx")
    torch.onnx.export(patchfold.torch.Unfold(3), (x,), path, dynamo=dynamo, input_names=["x"], opset_version=18)
    (got,) = runtime.InferenceSession(path).run(None, {"x": x.numpy()})
    assert (torch.from_numpy(got) == patchfold.torch.unfold(x, 3)).all()


@pytest.mark.filterwarnings("ignore")
def test_torch_jit_script_of_a_module() -> None:
    torch = pytest.importorskip("torch")
    x = torch.randn(1, 2, 6, 6)
    assert torch.equal(torch.jit.script(patchfold.torch.Unfold(3))(x), patchfold.torch.unfold(x, 3))


def test_a_tensor_on_a_gpu_is_not_refused() -> None:
    """Checks a tensor on a GPU, by a fake tensor, which has a device and no memory, since the tests have no GPU."""
    torch = pytest.importorskip("torch")
    fake = pytest.importorskip("torch._subclasses.fake_tensor")
    with fake.FakeTensorMode():
        image = torch.empty(1, 2, 6, 6, device="cuda:0")
        assert patchfold.torch.unfold(image, 3).device.type == "cuda"
        assert patchfold.torch.unfold(image, 3, device="cpu").device.type == "cpu"

# SPDX-License-Identifier: Apache-2.0
"""Tests that need a CUDA device and a torch for CUDA: `bench/gpu` runs them. Without a device they are skipped."""

import numpy as np
import patchfold
import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)
import patchfold.torch  # noqa: E402
from random_calls import wrong  # noqa: E402

IMAGE = (4, 8, 32, 30)


def image(**options):
    return torch.randn(IMAGE, device="cuda", **options)


def test_random_calls_have_the_bits_of_the_processor():
    assert list(wrong(300, 1, "cuda")) == []


def test_a_call_waits_for_its_stream_only():
    x, stream = image(), torch.cuda.Stream()
    patchfold.torch.unfold(x, 3, padding=1)  # loads the kernel, for which CUDA may wait
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)
        y = x + 1
        columns = patchfold.torch.unfold(y, 3, padding=1)
        assert not stream.query()
        result = columns * 1
    stream.synchronize()
    assert torch.equal(result.cpu(), patchfold.unfold((x.cpu() + 1), 3, padding=1))


def test_the_short_way_is_taken():
    """The native module runs a plain call itself, past torch's dispatcher."""
    from patchfold.torch._library import UNFOLD

    assert isinstance(UNFOLD.native.call_torch(image(), False, False, 3, 1, 0, 1), torch.Tensor)


def test_out_and_channels_last():
    x = image().to(memory_format=torch.channels_last)
    deep = patchfold.torch.pixel_unshuffle(x, 2)
    assert deep.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(deep.cpu(), patchfold.torch.pixel_unshuffle(x.cpu(), 2))
    out = torch.zeros(4, 72, 840, device="cuda")
    assert patchfold.torch.unfold(x, 3, out=out) is out
    assert torch.equal(out.cpu(), patchfold.torch.unfold(x.cpu(), 3))


def test_derivatives():
    x = torch.randn(1, 2, 5, 6, dtype=torch.float64, device="cuda", requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: patchfold.torch.unfold(x, (2, 3), padding=1), x, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(lambda x: patchfold.torch.fold(patchfold.torch.unfold(x, 2), (5, 6), 2) ** 2, x)


def test_compiled_functions():
    step = torch.compile(lambda x: patchfold.torch.fold(patchfold.torch.unfold(x * 2, 3), IMAGE[2:], 3), fullgraph=True)
    x = image()
    assert torch.equal(step(x), patchfold.torch.fold(patchfold.torch.unfold(x * 2, 3), IMAGE[2:], 3))


def test_a_cuda_graph_holds_the_calls():
    x = image()
    patchfold.torch.unfold(x, 3)  # loads the kernels
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        patchfold.torch.fold(patchfold.torch.unfold(x, 3), IMAGE[2:], 3)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = patchfold.torch.fold(patchfold.torch.unfold(x, 3), IMAGE[2:], 3)
    for _ in range(2):
        x.copy_(image())
        graph.replay()
        assert torch.equal(result, patchfold.torch.fold(patchfold.torch.unfold(x, 3), IMAGE[2:], 3))


def test_kernels_are_loaded_while_a_graph_is_captured():
    x = torch.randint(0, 9, (1, 1, 9, 9, 9), dtype=torch.int16, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = patchfold.reconstruct(patchfold.unfold(x, 3), tuple(x.shape), 3)
    graph.replay()
    assert torch.equal(result, x)


def test_torchs_modules_run_on_patchfold_while_installed():
    x = torch.randint(0, 9, IMAGE, device="cuda")  # torch has no unfold of integers
    with patchfold.torch.install():
        assert torch.equal(torch.nn.Unfold(3)(x).cpu(), patchfold.unfold(x.cpu(), 3))


def test_every_device():
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one CUDA device")
    x = torch.randn(IMAGE, device="cuda:1")  # while cuda:0 is the current device
    result = patchfold.torch.unfold(x, 3)
    assert result.device == x.device and torch.equal(result.cpu(), patchfold.unfold(x.cpu(), 3))
    with pytest.raises(
        patchfold.InvalidType, match="out: must lie where input lies; given CUDA device 0, expected CUDA device 1"
    ):
        patchfold.torch.unfold(x, 3, out=torch.empty_like(result, device="cuda:0"))


def test_a_new_thread_has_no_context_of_its_own():
    from concurrent.futures import ThreadPoolExecutor

    x = image()
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(patchfold.unfold, x, 3).result()
    assert torch.equal(result.cpu(), patchfold.unfold(x.cpu(), 3))


def test_arrays_of_cupy():
    cupy = pytest.importorskip("cupy")
    x = cupy.arange(2 * 36, dtype=cupy.float32).reshape(1, 2, 6, 6)
    with cupy.cuda.Stream(non_blocking=True):
        result = patchfold.unfold(x[:, :, ::-1], 3)
        out = cupy.zeros_like(result)
        assert patchfold.unfold(x[:, :, ::-1], 3, out=out) is out
        assert np.array_equal(cupy.asnumpy(result), patchfold.unfold(cupy.asnumpy(x)[:, :, ::-1], 3))
        assert np.array_equal(cupy.asnumpy(out), cupy.asnumpy(result))


def test_arrays_of_jax():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("this JAX has no CUDA device")
    x = jax.random.normal(jax.random.key(0), IMAGE)
    expected = patchfold.unfold(np.asarray(x), 3)
    assert np.array_equal(np.asarray(patchfold.unfold(x, 3)), expected)
    assert np.array_equal(np.asarray(jax.jit(lambda x: patchfold.jax.unfold(x, 3))(x)), expected)

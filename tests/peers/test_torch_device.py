# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.torch with tensors on CUDA, without a device.

Plans of tensors on the processor run with the kernels for devices, on the host. What only a device has, the stream and the
memory of its tensors, has stand-ins.
"""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import patchfold
import pytest

torch = pytest.importorskip("torch")
import patchfold.torch  # noqa: E402
from device_arrays import CUDA, needs_library, on_host, spy  # noqa: E402
from patchfold import _core  # noqa: E402
from patchfold._arrays import cuda  # noqa: E402
from patchfold.torch import _library  # noqa: E402
from test_torch_elsewhere import every_call  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

pytestmark = needs_library
__all__ = ["on_host", "spy"]  # fixtures


def gradients(function, x, given):
    x = x.clone().requires_grad_()
    result = function(x, *given)
    (first,) = torch.autograd.grad(result.pow(2).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.pow(2).sum(), x)
    return result.detach(), first.detach(), second


@every_call
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_results_and_derivatives_have_the_bits_of_the_processor(name, shape, given, dtype, request):
    function = getattr(patchfold.torch, name)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(dtype)
    expected = gradients(function, x, given)
    request.getfixturevalue("on_host")
    for result, wanted in zip(gradients(function, x, given), expected, strict=True):
        assert torch.equal(result, wanted)


@every_call
def test_the_kernel_of_the_dispatcher_runs_on_the_device(name, shape, given, on_host):
    row, function = getattr(_library, name.upper()), getattr(patchfold.torch, name)
    x = torch.randn(shape)
    values = row.normal((*given, *row.defaults[len(given) :]))
    result = row.here(x, *values)
    out = torch.zeros_like(result)
    row.out_here(x, *values, out=out)
    assert torch.equal(result, function(x, *given)) and torch.equal(out, result)
    assert row.here(torch.zeros(shape, device="meta").new_zeros(0, *shape[1:], device="cpu"), *values).shape[0] == 0


def test_cuda_has_the_kernel_of_the_processor():
    assert _library._KEYS_HERE == ("CPU", "CUDA")
    with FakeTensorMode():
        x = torch.empty(1, 2, 5, 5, device="cuda:0", requires_grad=True)
        assert patchfold.torch.Unfold(3)(x).device == torch.device("cuda:0")
        assert (
            patchfold.space_to_depth(torch.empty(1, 5, 4, 4, device="cuda:0", requires_grad=True), 2).device.type == "cuda"
        )
        with patchfold.torch.install():
            assert torch.nn.functional.unfold(x.detach(), 3).shape == (1, 18, 9)


def test_the_keys_of_a_tensor_on_cuda_are_those_that_the_short_way_expects():
    """A fake tensor has the keys of the tensor that it stands for, and two of Python's."""
    keys = torch._C.DispatchKey
    with FakeTensorMode():
        found = torch._C._dispatch_keys(torch.empty(1, device="cuda:0"))
    for key in (keys.Python, keys.PythonTLSSnapshot):
        found = found.remove(key) if hasattr(found, "remove") else found & ~torch._C.DispatchKeySet(key)
    expected = torch._C.DispatchKeySet(keys.CUDA)
    for key in (keys.ADInplaceOrView, keys.AutogradCUDA, keys.AutocastCUDA):
        expected = expected.add(key)
    assert found.raw_repr() == expected.raw_repr()


def test_tensors_are_used_on_the_current_stream(spy, monkeypatch):
    """A stand-in has the attributes of a tensor on CUDA that are read, and memory of the processor."""
    monkeypatch.setattr(torch.cuda, "current_stream", lambda index: SimpleNamespace(cuda_stream=0x700 + index))

    def on_cuda(tensor):
        names = ("element_size", "stride", "data_ptr", "shape")
        stand_in = SimpleNamespace(**{name: getattr(tensor, name) for name in names}, device=SimpleNamespace(index=2))
        return cuda.torch_memory(stand_in, str(tensor.dtype).removeprefix("torch."))

    x, out = torch.randn(1, 2, 6, 6).permute(0, 1, 3, 2), torch.empty(1, 18, 16)
    _core.Operator("unfold")(on_cuda(x), on_cuda(out), 3)
    assert torch.equal(out, patchfold.unfold(x, 3)) and spy.calls == [(CUDA, 0x702)]


def test_what_runs_on_the_processor_alone_refuses_tensors_on_cuda():
    with FakeTensorMode():
        x = torch.empty(1, 1, 4, 4, device="cuda:0")
    with pytest.raises(patchfold.InvalidType, match="x: must lie in the processor's memory; given a tensor on cuda:0"):
        patchfold.apply_tiled(torch.sqrt, x, 2)


def test_rocm_is_no_cuda(monkeypatch):
    monkeypatch.setattr(torch.version, "hip", "6.4")
    with FakeTensorMode():
        x = torch.empty(1, 1, 4, 4, device="cuda:0")
    with pytest.raises(
        patchfold.InvalidType, match="must lie in the processor's memory or on a CUDA device; given a tensor on cuda"
    ):
        patchfold.unfold(x, 2)


def test_the_bench_for_devices_tries_itself_on_the_host():
    bench = Path(__file__).resolve().parents[2] / "bench" / "gpu"
    options = ("--host", "--random", "3", "--recorded", "0", "--minutes", "0")
    done = subprocess.run([sys.executable, bench, *options], check=True, stdout=subprocess.PIPE, text=True)
    assert "3 of 3 random calls have the bits of the processor" in done.stdout
    assert "63 problems were left out" in done.stdout

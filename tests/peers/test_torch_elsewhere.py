# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.torch with tensors on other devices, and within TorchScript.

The tests need no other device. Fake tensors, which have a device but no memory, stand for tensors of another device in calls
through torch. The kernel for other devices runs on the processor, where its copies to and from the device do nothing.
"""

import io

import patchfold
import pytest

torch = pytest.importorskip("torch")
import patchfold.torch  # noqa: E402
from patchfold.torch import _library  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

CALLS = [
    ("unfold", (2, 3, 7, 6), ((3, 2), 1, (1, 0), (2, 1))),
    ("fold", (2, 12, 20), ((5, 6), 2)),
    ("pixel_shuffle", (2, 8, 3, 4), (2,)),
    ("pixel_unshuffle", (2, 2, 6, 4), (2,)),
]
every_call = pytest.mark.parametrize(("name", "shape", "given"), CALLS, ids=[name for name, _, _ in CALLS])


@every_call
def test_the_result_lies_where_the_input_lies(name, shape, given):
    function = getattr(patchfold.torch, name)
    expected = function(torch.zeros(shape), *given)
    with FakeTensorMode():
        result = function(torch.empty(shape, device="cuda:0"), *given)
        assert result.device == torch.device("cuda:0") and result.shape == expected.shape
        out = torch.empty(expected.shape, device="cuda:0")
        assert function(torch.empty(shape, device="cuda:0"), *given, out=out) is out


@every_call
def test_device_says_where_the_result_lies(name, shape, given):
    function = getattr(patchfold.torch, name)
    x = torch.randn(shape)
    assert torch.equal(function(x, *given, device="cpu"), function(x, *given))
    assert function(x, *given, device="meta").device.type == "meta"
    with FakeTensorMode():
        assert function(torch.empty(shape, device="cuda:0"), *given, device="cpu").device.type == "cpu"
        assert function(torch.empty(shape), *given, device="cuda:0").device == torch.device("cuda:0")


@every_call
def test_the_kernel_of_other_devices_gives_the_same_bits(name, shape, given):
    row = getattr(_library, name.upper())
    x = torch.randn(shape)
    expected = getattr(patchfold.torch, name)(x, *given)
    values = row.normal((*given, *row.defaults[len(given) :]))
    assert torch.equal(row.elsewhere(x, *values), expected)
    last = x.to(memory_format=torch.channels_last) if len(shape) == 4 else x
    result = row.elsewhere(last, *values)
    assert torch.equal(result, expected) and result.stride() == getattr(patchfold.torch, name)(last, *given).stride()
    out = torch.zeros_like(expected)
    row.out_elsewhere(x, *values, out=out)
    assert torch.equal(out, expected)
    with pytest.raises(patchfold.InvalidValue, match="out: must have the shape"):
        row.out_elsewhere(x, *values, out=torch.zeros(1))


def test_derivatives_pass_the_copies():
    x = torch.randn(1, 2, 5, 5, requires_grad=True)
    (gradient,) = torch.autograd.grad(patchfold.torch.unfold(x, 3, device="cpu").sum(), x)
    assert torch.equal(gradient[0, 0], patchfold.coverage((5, 5), 3, out=torch.empty(5, 5)))


@pytest.mark.parametrize("key", ["CUDA", "XPU", "MPS", "HPU", "MTIA", "PrivateUse1"])
def test_every_kind_of_device_has_a_kernel(key):
    for name in ("fold", "unfold", "pixel_shuffle", "pixel_unshuffle", "contiguous"):
        assert torch._C._dispatch_has_kernel_for_dispatch_key(f"patchfold::{name}", key)
        assert torch._C._dispatch_has_kernel_for_dispatch_key(f"patchfold::{name}_out", key)


@pytest.mark.parametrize(
    ("device", "kind", "words"),
    [
        (
            "cpux",
            patchfold.InvalidValue,
            "torch.unfold: device: must be a device of torch; given 'cpux' of type str, expected 'cpu'",
        ),
        (
            3.5,
            patchfold.InvalidType,
            "torch.unfold: device: must be a device of torch; given 3.5 of type float, expected 'cpu'",
        ),
    ],
)
def test_no_device(device, kind, words):
    with pytest.raises(kind) as caught:
        patchfold.torch.unfold(torch.ones(1, 1, 4, 4), 2, device=device)
    assert words in str(caught.value)


def test_device_beside_out():
    with pytest.raises(patchfold.InvalidType, match="device: must be left out where out is given"):
        patchfold.torch.unfold(torch.ones(1, 1, 4, 4), 2, out=torch.empty(1, 4, 9), device="cpu")


MODULES = [
    (lambda: patchfold.torch.Unfold(3, padding=1), (2, 3, 6, 7)),
    (lambda: patchfold.torch.Unfold((3, 2), stride=(1, 2)), (2, 3, 6, 7)),
    (lambda: patchfold.torch.Unfold((3,), (1,), (0,), (1,)), (2, 3, 8)),
    (lambda: patchfold.torch.Fold((5, 6), 2), (2, 12, 20)),
    (lambda: patchfold.torch.PixelShuffle(2), (2, 8, 3, 4)),
    (lambda: patchfold.torch.PixelUnshuffle(2), (2, 2, 6, 4)),
    (lambda: torch.nn.Sequential(torch.nn.Conv2d(3, 8, 1), patchfold.torch.PixelShuffle(2)), (1, 3, 4, 4)),
]


@pytest.mark.parametrize(("make", "shape"), MODULES)
@pytest.mark.filterwarnings("ignore:.torch.jit:FutureWarning")
def test_scripted_modules_run_patchfold(make, shape):
    module = make()
    x = torch.randn(shape, requires_grad=True)
    scripted = torch.jit.script(module)
    assert "patchfold" in str(scripted.inlined_graph)
    result = scripted(x)
    assert torch.equal(result, module(x))
    weights = torch.randn_like(result)
    (expected,) = torch.autograd.grad(module(x), x, weights)
    (gradient,) = torch.autograd.grad(result, x, weights)
    assert torch.equal(gradient, expected)
    file = io.BytesIO()
    torch.jit.save(scripted, file)
    file.seek(0)
    assert torch.equal(torch.jit.load(file)(x), result)


def scripted_function(x: torch.Tensor) -> torch.Tensor:
    return patchfold.torch.fold(patchfold.torch.unfold(x, [2, 2], stride=2), x.shape[2:], 2, stride=[2, 2])


@pytest.mark.filterwarnings("ignore:.torch.jit:FutureWarning")
def test_scripted_functions_run_patchfold():
    x = torch.randn(1, 2, 4, 6)
    scripted = torch.jit.script(scripted_function)
    assert str(scripted.inlined_graph).count("patchfold::") == 2
    assert torch.equal(scripted(x), x)


def test_decompositions_leave_no_operator_of_ours():
    class Model(torch.nn.Module):
        def forward(self, x):
            columns = patchfold.torch.unfold(x, (2, 3), stride=(2, 1), padding=(0, 1))
            deep = patchfold.torch.pixel_unshuffle(x, 2)
            return patchfold.torch.fold(columns, x.shape[2:], (2, 3), stride=(2, 1), padding=(0, 1)), (
                patchfold.torch.pixel_shuffle(deep, 2)
            )

    x = torch.randn(1, 2, 4, 6)
    program = torch.export.export(Model(), (x,))
    assert "patchfold" in str(program.graph)
    portable = program.run_decompositions(patchfold.torch.decompositions())
    assert "patchfold" not in str(portable.graph)
    for got, expected in zip(portable.module()(x), Model()(x), strict=True):
        assert torch.allclose(got, expected)


@pytest.mark.parametrize("axes", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int32])
def test_decompositions_for_any_number_of_axes(axes, dtype):
    window = {"kernel_size": (2, 3, 1, 2), "dilation": (1, 2, 1, 1), "padding": (1, 0, 2, 0), "stride": (2, 1, 1, 3)}
    window = {name: values[:axes] for name, values in window.items()}
    size = (4, 7, 3, 5)[:axes]
    x = torch.randint(0, 9, (2, 3, *size)).to(dtype)
    table = patchfold.torch.decompositions()
    columns = patchfold.torch.unfold(x, **window)
    given = tuple(window.values())
    assert torch.equal(table[torch.ops.patchfold.unfold.default](x, *given), columns)
    if dtype.is_floating_point:  # torch cannot sum integers itself
        image = table[torch.ops.patchfold.fold.default](columns, size, *given)
        assert torch.equal(image, patchfold.torch.fold(columns, size, **window))

# SPDX-License-Identifier: Apache-2.0
"""Tests that small calls bypass torch's dispatcher, but only if no mode, subclass or transform needs it."""

import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import patchfold  # noqa: E402
import patchfold.torch as ours  # noqa: E402
import torch.nn.functional as theirs  # noqa: E402
from patchfold.torch import _library  # noqa: E402
from torch._subclasses import FakeTensor, FakeTensorMode  # noqa: E402
from torch.autograd import forward_ad  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

Call = Callable[[Any, Any], Any]
"""A function of (patchfold.torch or torch.nn.functional, input) that returns a result."""

CALLS: dict[str, tuple[Call, tuple[int, ...]]] = {
    "unfold": (lambda f, x: f.unfold(x, 3, padding=1), (1, 3, 8, 8)),
    "unfold lists": (lambda f, x: f.unfold(x, [2, 3], (1, 2), 0, [2, 1]), (2, 8, 8)),
    "fold": (lambda f, x: f.fold(x, (8, 8), 3), (1, 27, 36)),
    "pixel_shuffle": (lambda f, x: f.pixel_shuffle(x, 2), (1, 12, 16, 16)),
    "pixel_unshuffle": (lambda f, x: f.pixel_unshuffle(x, 2), (2, 3, 32, 32)),
}
names = pytest.mark.parametrize("name", CALLS)


def sample(name: str) -> Any:
    sizes = CALLS[name][1]
    return torch.randn(sizes, generator=torch.Generator().manual_seed(sum(sizes)))


def operator(name: str) -> str:
    return f"patchfold.{name.partition(' ')[0]}.default"


class Dispatched:
    """A counter of the calls in a test that go through the kernels of the dispatcher."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        check = _library.check_tensor

        def counted(op: str, argument: str, tensor: Any) -> None:
            self.count += 1
            check(op, argument, tensor)

        monkeypatch.setattr(_library, "check_tensor", counted)


@pytest.fixture
def dispatched(monkeypatch: pytest.MonkeyPatch) -> Dispatched:
    return Dispatched(monkeypatch)


def assert_same(result: Any, expected: Any) -> None:
    assert torch.equal(result, expected)
    assert type(result) is torch.Tensor
    assert result.stride() == expected.stride() and result.dtype == expected.dtype
    assert result.requires_grad == expected.requires_grad and result.is_inference() == expected.is_inference()
    assert result._base is None and result.storage_offset() == 0


@names
def test_everyday_calls_pass_by_the_dispatcher(name: str, dispatched: Dispatched) -> None:
    call, _ = CALLS[name]
    x = sample(name)
    leaf = x.clone().requires_grad_()
    for input in (x, x.transpose(-1, -2).contiguous().transpose(-1, -2), torch.nn.Parameter(x), leaf, leaf * 1):
        assert_same(call(ours, input), call(theirs, input))
    result = call(ours, leaf)
    assert type(result.grad_fn).__name__ == "_LinearBackward"
    result.square().sum().backward()
    with torch.no_grad():
        assert_same(call(ours, leaf), call(theirs, leaf))
    with torch.inference_mode():
        assert_same(call(ours, x), call(theirs, x))
        assert_same(call(ours, leaf), call(theirs, leaf))
        made_here = x.clone()
        assert_same(call(ours, made_here), call(theirs, made_here))
    assert_same(call(ours, made_here), call(theirs, made_here))
    with torch.autocast("cpu"):
        assert_same(call(ours, x), call(theirs, x))
    assert dispatched.count == 0


@names
def test_results_are_torchs_own_memory(name: str) -> None:
    call, _ = CALLS[name]
    result = call(ours, sample(name))
    result.resize_(result.numel() + 5)
    assert result.untyped_storage().resizable()


@pytest.mark.parametrize(
    "dtype", [torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16, torch.complex128], ids=str
)
@names
def test_types(name: str, dtype: Any, dispatched: Dispatched) -> None:
    call, sizes = CALLS[name]
    x = torch.randint(0, 2, sizes).to(dtype)
    expected = call(theirs, x if dtype.is_complex else x.double())
    result = call(ours, x)
    assert result.dtype == dtype
    assert torch.equal(result, expected.to(dtype))  # sums of booleans are OR, and sums of bytes are small here
    assert dispatched.count == 0


@pytest.mark.parametrize("sizes", [(1, 4, 1, 1), (2, 4, 1, 5), (1, 4, 6, 1), (2, 8, 3, 5), (1, 1, 1, 1)], ids=str)
def test_memory_formats(sizes: tuple[int, ...], dispatched: Dispatched) -> None:
    x = torch.randn(sizes)
    variants = [x, x.to(memory_format=torch.channels_last), x.permute(0, 1, 3, 2), x.expand(*sizes), x[:, :, :, :1]]
    for input in variants:
        for call in (lambda f, x: f.pixel_shuffle(x, 1), lambda f, x: f.pixel_unshuffle(x, 1)):
            result, expected = call(ours, input), call(theirs, input)
            assert torch.equal(result, expected) and result.stride() == expected.stride(), (sizes, input.stride())
        if sizes[1] % 4 == 0:
            result, expected = ours.pixel_shuffle(input, 2), theirs.pixel_shuffle(input, 2)
            assert torch.equal(result, expected) and result.stride() == expected.stride(), (sizes, input.stride())
    assert dispatched.count == 0


@names
def test_gradients_of_every_order(name: str, dispatched: Dispatched) -> None:
    call, _ = CALLS[name]

    def derivatives(f: Any) -> list[Any]:
        leaf = sample(name).double().requires_grad_()
        (first,) = torch.autograd.grad((call(f, leaf) ** 3).sum(), leaf, create_graph=True)
        (second,) = torch.autograd.grad((first**2).sum(), leaf, create_graph=True)
        (third,) = torch.autograd.grad(second.sum(), leaf)
        return [first, second, third]

    for result, expected in zip(derivatives(ours), derivatives(theirs), strict=True):
        torch.testing.assert_close(result, expected, rtol=1e-12, atol=1e-9)
    assert dispatched.count == 0


@names
def test_errors_do_not_depend_on_the_path(name: str) -> None:
    x = sample(name)
    wrong: list[Callable[[Any], Any]] = [
        lambda x: ours.unfold(x, 0),
        lambda x: ours.unfold(x, (3, 3, 3, 3, 3)),
        lambda x: ours.unfold(x, 99, padding=2**62),
        lambda x: ours.unfold(x, (2, 2), stride=(1,)),
        lambda x: ours.unfold(x, 2.5),
        lambda x: ours.unfold(x, (2, True)),
        lambda x: ours.fold(x, 0, 2),
        lambda x: ours.fold(x, (5, 5), 7),
        lambda x: ours.pixel_shuffle(x, 0),
        lambda x: ours.pixel_shuffle(x, 7),
        lambda x: ours.pixel_shuffle(x, 10**30),
        lambda x: ours.pixel_unshuffle(x, 7),
        lambda x: ours.pixel_unshuffle(x, "2"),
    ]
    for call in wrong:
        raised = []
        for input in (x, x.clone().requires_grad_()):
            with pytest.raises((patchfold.Error, OverflowError, RuntimeError)) as caught:
                call(input)
            raised.append((type(caught.value), str(caught.value).partition("\n")[0], caught.value.__context__))
        with Recorded(), pytest.raises((patchfold.Error, OverflowError, RuntimeError)) as caught:
            call(x)
        raised.append((type(caught.value), str(caught.value).partition("\n")[0], caught.value.__context__))
        assert raised[0][:2] == raised[1][:2] == raised[2][:2]
        assert raised[0][2] is None or not isinstance(raised[0][2], _library._NeedsDispatch)


@pytest.mark.parametrize("kind", [tuple, iter, dict.fromkeys, torch.tensor, torch.Size])
@pytest.mark.parametrize("recorded", [False, True])
def test_arguments_of_other_kinds(kind: Any, recorded: bool) -> None:
    x = torch.randn(1, 2, 5, 6, requires_grad=recorded)
    result = ours.unfold(x, kind((2, 3)))
    assert_same(result, theirs.unfold(x, (2, 3)))
    if recorded:
        result.sum().backward()
        assert x.grad.shape == x.shape


class Recorded(TorchDispatchMode):  # type: ignore[misc]
    """A mode that records the names of the called operators."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


@names
def test_modes_see_the_operator(name: str) -> None:
    call, _ = CALLS[name]
    x = sample(name)
    for input in (x, x.clone().requires_grad_()):
        with Recorded() as mode:
            result = call(ours, input)
        assert operator(name) in mode.names
        assert torch.equal(result, call(theirs, input))
    with Recorded() as mode:
        call(ours, x.clone().requires_grad_()).sum().backward()
    assert sum(each.startswith("patchfold.") for each in mode.names) == 2  # forward and backward


@names
def test_function_modes_see_the_function(name: str) -> None:
    call, _ = CALLS[name]
    seen = []

    class Mode(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    x = sample(name)
    with Mode():
        result = call(ours, x)
    assert torch.equal(result, call(theirs, x))
    assert getattr(ours, name.partition(" ")[0]) in seen


@names
def test_default_device_changes_nothing(name: str) -> None:
    call, _ = CALLS[name]
    x = sample(name)
    with torch.device("meta"):
        result = call(ours, x)
    assert result.device.type == "cpu" and torch.equal(result, call(theirs, x))


@names
def test_fake_tensors(name: str) -> None:
    call, _ = CALLS[name]
    x = sample(name)
    expected = call(theirs, x)
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        for input in (x, mode.from_tensor(x), mode.from_tensor(x.clone().requires_grad_())):
            result = call(ours, input)
            assert isinstance(result, FakeTensor)
            assert result.shape == expected.shape and result.stride() == expected.stride()
    fake = mode.from_tensor(x)
    assert isinstance(call(ours, fake), FakeTensor)


@names
def test_meta_tensors(name: str) -> None:
    call, _ = CALLS[name]
    result, expected = call(ours, sample(name).to("meta")), call(theirs, sample(name))
    assert result.device.type == "meta" and result.shape == expected.shape and result.stride() == expected.stride()


@names
def test_subclasses_decide_for_themselves(name: str) -> None:
    call, _ = CALLS[name]
    seen = []

    class Function(torch.Tensor):  # type: ignore[misc]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    class Wrapper(torch.Tensor):  # type: ignore[misc]
        @staticmethod
        def __new__(cls, inner: Any) -> Any:
            return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

        def __init__(self, inner: Any) -> None:
            self.inner = inner

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return func(*(each.inner if isinstance(each, Wrapper) else each for each in args), **(kwargs or {}))

    x = sample(name)
    expected = call(theirs, x)
    result = call(ours, x.as_subclass(Function))
    assert type(result) is Function and getattr(ours, name.partition(" ")[0]) in seen
    assert torch.equal(result.as_subclass(torch.Tensor), expected)
    assert torch.equal(call(ours, Wrapper(x)), expected)
    assert operator(name) in map(str, seen)


@names
def test_transforms_of_torch_func(name: str) -> None:
    call, _ = CALLS[name]
    x = sample(name).double()
    plain = sample(name).double() + 1  # belongs to no transform, but is used within them
    func = torch.func
    for transform in (
        lambda f: func.vmap(lambda t: call(f, t) + call(f, plain))(torch.stack([x, x + 1])),
        lambda f: func.grad(lambda t: (call(f, t) ** 2 * call(f, plain)).sum())(x),
        lambda f: func.jvp(lambda t: call(f, t) * call(f, plain), (x,), (plain,)),
        lambda f: func.vmap(func.grad(lambda t: (call(f, t) ** 2).sum()))(torch.stack([x, plain])),
        lambda f: func.functionalize(lambda t: call(f, t) + call(f, plain))(x),
    ):
        results, expected = transform(ours), transform(theirs)
        for each, its in zip(
            results if isinstance(results, tuple) else (results,),
            expected if isinstance(expected, tuple) else (expected,),
            strict=True,
        ):
            assert torch.equal(each, its)


@names
def test_forward_mode(name: str) -> None:
    call, _ = CALLS[name]
    x, tangent = sample(name), sample(name) * 2
    with forward_ad.dual_level():
        primal, derivative = forward_ad.unpack_dual(call(ours, forward_ad.make_dual(x, tangent)))
    assert torch.equal(primal, call(theirs, x)) and torch.equal(derivative, call(theirs, tangent))


@names
def test_functional_tensors_and_lazy_bits(name: str) -> None:
    call, _ = CALLS[name]
    x = torch.complex(sample(name), sample(name) + 1)
    for input in (x.conj(), x.conj().imag):
        assert torch.equal(call(ours, input), call(theirs, input.clone()))
    functional = torch._to_functional_tensor(sample(name))
    torch._enable_functionalization(reapply_views=True)
    try:
        result = call(ours, functional)
    finally:
        torch._disable_functionalization()
    assert torch._is_functional_tensor(result)
    assert torch.equal(torch._from_functional_tensor(result), call(theirs, sample(name)))


@names
@pytest.mark.parametrize("pre_dispatch", [False, True])
def test_graphs_hold_the_operator(name: str, pre_dispatch: bool) -> None:
    call, _ = CALLS[name]
    graph = make_fx(lambda x: call(ours, x), pre_dispatch=pre_dispatch)(sample(name))
    assert operator(name) in [str(node.target) for node in graph.graph.nodes]
    other = sample(name) + 1
    assert torch.equal(graph(other), call(theirs, other))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@names
def test_traces_hold_the_operator(name: str) -> None:
    call, _ = CALLS[name]
    for recorded in (False, True):
        traced = torch.jit.trace(lambda x: call(ours, x), sample(name).requires_grad_(recorded), check_trace=False)
        assert operator(name).rpartition(".")[0].replace(".", "::") in str(traced.graph)
        other = sample(name) + 1
        assert torch.equal(traced(other), call(theirs, other))


@names
def test_the_profiler_sees_the_operator(name: str) -> None:
    call, _ = CALLS[name]
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        call(ours, sample(name))
    assert f"patchfold::{name.partition(' ')[0]}" in [event.name for event in profile.events()]


@names
def test_a_kernel_of_another_operator_records_nothing(name: str) -> None:
    call, _ = CALLS[name]
    leaf = sample(name).requires_grad_()
    with torch._C._AutoDispatchBelowAutograd():
        result = call(ours, leaf)
    assert not result.requires_grad and torch.equal(result, call(theirs, leaf))


@names
def test_many_threads(name: str) -> None:
    call, _ = CALLS[name]
    failed = []

    def work(seed: int) -> None:
        x = sample(name) + seed
        expected = call(theirs, x)
        for i in range(200):
            with torch.set_grad_enabled(i % 2 == 0):
                if not torch.equal(call(ours, x.clone().requires_grad_(i % 3 == 0)), expected):
                    failed.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_neutral_operators_read_the_memory_of_tensors() -> None:
    x = torch.randn(2, 3, 6, 7)
    expected = torch.from_numpy(patchfold.unfold(x.numpy(), 3))
    for input in (x, x.permute(0, 1, 3, 2).contiguous().permute(0, 1, 3, 2), torch.nn.Parameter(x, requires_grad=False)):
        assert_same(patchfold.unfold(input, 3), expected)
    with torch.no_grad():
        assert_same(patchfold.unfold(x.clone().requires_grad_(), 3), expected)
    with torch.inference_mode():
        assert torch.equal(patchfold.unfold(x.clone(), 3), expected)
    assert patchfold.unfold(torch.empty(0, 3, 6, 7), 3).shape == (0, 27, 20)
    # Tensors without memory go through the dispatcher.
    zeros = torch._efficientzerotensor((2, 3, 6, 7))
    assert torch.equal(patchfold.unfold(zeros, 3), torch.zeros(2, 27, 20))
    functional = patchfold.unfold(torch._to_functional_tensor(x), 3)
    assert torch.equal(torch._from_functional_tensor(functional), expected)


def test_a_torch_without_the_exchange_api() -> None:
    """Tests a process in which torch lacks DLPack's exchange API, as torch before 2.10 does."""
    script = """
        import torch
        del torch.Tensor.__dlpack_c_exchange_api__
        import patchfold, patchfold.torch as ours
        import torch.nn.functional as theirs
        from patchfold.torch import _library
        def refuse(*arguments):
            raise AssertionError(arguments)
        _library.check_tensor = refuse
        for dtype in (torch.float32, torch.bfloat16, torch.complex64, torch.float64):
            x = torch.randn(1, 3, 8, 8).to(dtype)
            for input in (x, x.transpose(2, 3), x.clone().requires_grad_()):
                assert torch.equal(ours.unfold(input, 3), theirs.unfold(input, 3))
                assert torch.equal(ours.fold(ours.unfold(input, 2, stride=2), 8, 2, stride=2), input)
                assert torch.equal(ours.pixel_unshuffle(input, 2), theirs.pixel_unshuffle(input, 2))
            assert torch.equal(patchfold.unfold(x, 3), theirs.unfold(x, 3))
            last = x.to(memory_format=torch.channels_last)
            assert ours.pixel_unshuffle(last, 2).stride() == theirs.pixel_unshuffle(last, 2).stride()
        del _library.check_tensor
        c = torch.randn(1, 3, 8, 8, dtype=torch.complex64).conj()
        assert torch.equal(patchfold.unfold(c, 3), theirs.unfold(c.resolve_conj(), 3))
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)

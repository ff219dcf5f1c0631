# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.torch's derivatives: numerically, in torch.func, and against torch's functions."""

import random
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import patchfold  # noqa: E402
import patchfold.torch as ours  # noqa: E402
import torch.nn.functional as theirs  # noqa: E402
from torch.autograd import forward_ad, gradcheck, gradgradcheck  # noqa: E402

Call = Callable[[Any, Any], Any]
"""A function of (patchfold.torch or torch.nn.functional, input) that returns a result."""

CASES: dict[str, tuple[Call, tuple[int, ...]]] = {
    "fold": (lambda f, x: f.fold(x, (4, 5), (2, 3), (1, 2), (1, 0), (2, 1)), (2, 12, 3)),
    "fold unbatched": (lambda f, x: f.fold(x, 4, 2, stride=2, padding=1), (4, 9)),
    "unfold": (lambda f, x: f.unfold(x, (2, 3), (1, 2), (1, 0), (2, 1)), (2, 2, 4, 5)),
    "unfold with holes": (lambda f, x: f.unfold(x, 1, stride=3), (1, 2, 5, 6)),
    "unfold unbatched": (lambda f, x: f.unfold(x, 2), (2, 3, 4)),
    "pixel_shuffle": (lambda f, x: f.pixel_shuffle(x, 2), (2, 4, 2, 3)),
    "pixel_unshuffle": (lambda f, x: f.pixel_unshuffle(x, 2), (1, 2, 4, 2)),
}
BEYOND_TORCH: dict[str, tuple[Call, tuple[int, ...]]] = {
    "fold 1-D": (lambda f, x: f.fold(x, (6,), (3,), padding=1), (2, 6, 6)),
    "unfold 3-D": (lambda f, x: f.unfold(x, (2, 2, 2), stride=(1, 2, 1)), (1, 1, 3, 4, 3)),
}
ALL = CASES | BEYOND_TORCH


def leaf(sizes: tuple[int, ...], dtype: Any = torch.float64) -> Any:
    return torch.randn(sizes, dtype=dtype, generator=torch.Generator().manual_seed(sum(sizes))).requires_grad_()


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
@pytest.mark.parametrize("name", ALL)
def test_numerical_derivatives(name: str, dtype: Any) -> None:
    call, sizes = ALL[name]
    input = leaf(sizes, dtype)
    options: dict[str, Any] = {"fast_mode": True, "check_batched_grad": True}
    assert gradcheck(lambda x: call(ours, x), input, check_forward_ad=True, check_batched_forward_grad=True, **options)
    # The operators are linear, so their second derivatives are 0. Those of their squares are not.
    squared = lambda x: call(ours, x) * call(ours, x)  # noqa: E731
    assert gradgradcheck(squared, input, check_fwd_over_rev=True, check_rev_over_rev=True, **options)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
def test_exact_jacobians(dtype: Any) -> None:
    """Compares every entry of the Jacobian; other tests compare a random projection."""
    columns, image = leaf((4, 4), dtype), leaf((1, 3, 3), dtype)
    assert gradcheck(lambda x: ours.fold(x, 3, 2), columns, check_forward_ad=True)
    assert gradgradcheck(lambda x: ours.fold(x, 3, 2) ** 2, columns)
    assert gradcheck(lambda x: ours.unfold(x, 2), image, check_forward_ad=True)
    assert gradgradcheck(lambda x: ours.unfold(x, 2) ** 2, image)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("requires_grad", [False, True])
def test_opcheck(name: str, requires_grad: bool) -> None:
    calls: list[tuple[Any, ...]] = []

    class Record(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc, name-defined]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func.namespace == "patchfold":
                calls.append((func, args))
            return func(*args, **(kwargs or {}))

    call, sizes = ALL[name]
    input = leaf(sizes, torch.float32).detach()
    with Record():
        expected = call(ours, input)
    ((operator, arguments),) = calls
    inputs = [input, input.transpose(-1, -2).contiguous().transpose(-1, -2)]
    if input.dim() == 4:
        inputs.append(input.to(memory_format=torch.channels_last))
    for each in inputs:
        torch.library.opcheck(operator, (each.requires_grad_(requires_grad), *arguments[1:]))
    into = getattr(torch.ops.patchfold, f"{operator._schema.name.partition('::')[2]}_out").default
    torch.library.opcheck(into, (input.detach(), *arguments[1:]), {"out": torch.zeros_like(expected)})


@pytest.mark.parametrize("name", CASES)
def test_torch_func_gives_what_torchs_functions_give(name: str) -> None:
    call, sizes = CASES[name]
    input = leaf(sizes).detach()
    tangent, direction, weight = (torch.randn_like(like) for like in (input, input, call(theirs, input)))

    def loss(f: Any) -> Callable[[Any], Any]:
        return lambda x: (call(f, x) ** 3 * weight).sum()

    func = torch.func
    for transform in (
        lambda f: func.grad(loss(f))(input),
        lambda f: func.vjp(lambda x: call(f, x), input)[1](weight)[0],
        lambda f: func.jvp(lambda x: call(f, x), (input,), (tangent,))[1],
        lambda f: func.jacrev(lambda x: call(f, x))(input),
        lambda f: func.jacfwd(lambda x: call(f, x))(input),
        lambda f: func.linearize(lambda x: call(f, x), input)[1](tangent),
        lambda f: func.vmap(func.grad(loss(f)))(torch.stack((input, tangent))),
        lambda f: func.grad(lambda x: func.vmap(loss(f))(x).sum())(torch.stack((input, tangent))),
        lambda f: func.jvp(func.grad(loss(f)), (input,), (tangent,))[1],
        lambda f: func.vjp(func.grad(loss(f)), input)[1](tangent)[0],
        lambda f: func.vjp(lambda x: func.jvp(loss(f), (x,), (tangent,))[1], input)[1](torch.ones(()).double())[0],
        lambda f: func.jvp(lambda x: func.jvp(loss(f), (x,), (tangent,))[1], (input,), (direction,))[1],
        lambda f: func.grad(lambda x: (func.grad(lambda y: func.grad(loss(f))(y).sum())(x) * tangent).sum())(input),
        lambda f: func.hessian(loss(f))(input),
        lambda f: func.vmap(lambda t: func.jvp(func.grad(loss(f)), (input,), (t,))[1])(torch.stack((input, tangent))),
        lambda f: func.functionalize(lambda x: call(f, x))(input),
        lambda f: torch.autograd.functional.hvp(loss(f), input, tangent)[1],
    ):
        result, expected = transform(ours), transform(theirs)
        assert torch.equal(result, expected)
        assert bool(expected.any())


@pytest.mark.parametrize("name", ALL)
def test_vmap_over_any_axis(name: str) -> None:
    call, sizes = ALL[name]
    samples = [leaf(sizes).detach() + i for i in range(3)]
    expected = torch.stack([call(ours, sample) for sample in samples])
    for axis in range(-len(sizes) - 1, len(sizes) + 1):
        batched = torch.stack(samples, axis)
        assert torch.equal(torch.func.vmap(lambda x: call(ours, x), axis)(batched), expected), axis
    nested = torch.func.vmap(torch.func.vmap(lambda x: call(ours, x), -1), 1)(torch.stack([batched, batched], 1))
    assert torch.equal(nested, torch.stack([expected, expected]))


def test_vmap_refuses_samples_of_the_wrong_rank() -> None:
    with pytest.raises(patchfold.InvalidValue) as caught:
        torch.func.vmap(lambda x: ours.fold(x, (4,), (2,)))(torch.rand(3, 2))
    assert caught.value.operator == "torch.fold"
    with pytest.raises(patchfold.InvalidValue):
        torch.func.vmap(lambda x: ours.unfold(x, 2))(torch.rand(3, 4, 4))
    with pytest.raises(patchfold.InvalidValue):
        torch.func.vmap(lambda x: ours.unfold(x, 2))(torch.rand(3, 1, 1, 1, 4, 4))
    with pytest.raises(patchfold.InvalidValue):
        torch.func.vmap(lambda x: ours.pixel_shuffle(x, 2))(torch.rand(3, 4, 4))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_gradients_are_torchs_bit_for_bit(name: str, dtype: Any) -> None:
    call, sizes = CASES[name]
    gradients = []
    for functions in (ours, theirs):
        input = leaf(sizes, dtype)
        result = call(functions, input)
        torch.manual_seed(0)
        (gradient,) = torch.autograd.grad(result, input, torch.randn_like(result), create_graph=True)
        gradients.append(gradient.detach())
    assert torch.equal(*gradients)


def test_forward_mode_keeps_the_primal_and_needs_no_gradient() -> None:
    input = torch.rand(1, 1, 4, 4)
    tangent = torch.rand(1, 1, 4, 4)
    with forward_ad.dual_level():
        primal, derivative = forward_ad.unpack_dual(ours.unfold(forward_ad.make_dual(input, tangent), 2))
        assert torch.equal(primal, theirs.unfold(input, 2)) and torch.equal(derivative, theirs.unfold(tangent, 2))
        assert forward_ad.unpack_dual(ours.unfold(input, 2)).tangent is None


def test_no_grad_inference_mode_and_detached_inputs_leave_no_graph() -> None:
    input = torch.rand(1, 1, 4, 4, requires_grad=True)
    assert ours.unfold(input, 2).requires_grad
    with torch.no_grad():
        assert not ours.unfold(input, 2).requires_grad
    with torch.inference_mode():
        assert ours.unfold(input, 2).is_inference()
    assert not ours.unfold(input.detach(), 2).requires_grad
    assert not ours.unfold(torch.ones(1, 1, 4, 4, dtype=torch.int64), 2).requires_grad


def test_an_unused_result_gives_no_gradient() -> None:
    input = torch.rand(4, 4, requires_grad=True)
    ours.fold(input, 3, 2)
    unused = torch.rand(2, requires_grad=True)
    (gradient,) = torch.autograd.grad((unused * 2).sum() + 0 * ours.fold(input, 3, 2).sum(), input)
    assert torch.equal(gradient, torch.zeros(4, 4))


def test_training_step_through_random_problems() -> None:
    rng = random.Random(5)
    for _ in range(40):
        kernel, stride, padding = rng.randint(1, 3), rng.randint(1, 3), rng.randint(0, 2)
        sizes = (rng.randint(1, 2), rng.randint(1, 2), rng.randint(3, 7), rng.randint(3, 7))
        results = []
        for f in (ours, theirs):
            input = leaf(sizes, torch.float32)
            columns = f.unfold(input, kernel, 1, padding, stride)
            image = f.fold(columns * columns, sizes[2:], kernel, 1, padding, stride)
            (first,) = torch.autograd.grad(image.sin().sum(), input, create_graph=True)
            results.append((first.detach(), *torch.autograd.grad(first.pow(2).sum(), input)))
        assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))

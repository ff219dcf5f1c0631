# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.torch in torch.compile, torch.export and TorchScript: equal values, one graph for many shapes."""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import patchfold.torch as ours  # noqa: E402
import torch.nn.functional as theirs  # noqa: E402
from torch._dynamo import decorators  # noqa: E402
from torch._dynamo.testing import CompileCounterWithBackend  # noqa: E402
from torch.fx.experimental import symbolic_shapes  # noqa: E402

Model = Callable[[Any, Any], Any]
"""A function of (patchfold.torch or torch.nn.functional, input) that returns a result."""


def round_trip(f: Any, x: Any) -> Any:
    columns = f.unfold(x * 2, (3, 2), 1, (1, 2), 2)
    return f.fold(columns.sin(), x.shape[-2:], (3, 2), 1, (1, 2), 2) + 1


def shuffles(f: Any, x: Any) -> Any:
    return f.pixel_unshuffle(f.pixel_shuffle(x.cos(), 2) * 3, 2)


MODELS: dict[str, tuple[Model, list[tuple[int, ...]]]] = {
    "round trip": (round_trip, [(2, 3, 8, 9), (3, 2, 12, 10), (5, 4, 20, 30), (4, 2, 6, 7)]),
    "shuffles": (shuffles, [(2, 8, 8, 9), (3, 12, 12, 10), (5, 16, 20, 30)]),
}


@pytest.fixture(autouse=True)
def forget_compiled_code() -> Any:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def leaf(sizes: tuple[int, ...]) -> Any:
    return torch.randn(sizes, generator=torch.Generator().manual_seed(sum(sizes))).requires_grad_()


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_one_graph_serves_every_shape(backend: str) -> None:
    model, shapes = MODELS["round trip"]
    counter = CompileCounterWithBackend(backend)
    compiled = torch.compile(lambda x: model(ours, x), fullgraph=True, dynamic=True, backend=counter)
    for sizes in shapes:
        input, other = leaf(sizes), leaf(sizes)
        result, expected = compiled(input), model(theirs, other)
        torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-5)
        gradients = [torch.autograd.grad(y.pow(2).sum(), x)[0] for y, x in ((result, input), (expected, other))]
        torch.testing.assert_close(*gradients, rtol=1e-5, atol=1e-4)
    assert counter.frame_count == 1


def graphs_needed(model: Model, functions: Any, shapes: list[tuple[int, ...]]) -> int:
    torch._dynamo.reset()
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(lambda x: model(functions, x), fullgraph=True, dynamic=True, backend=counter)
    for sizes in shapes:
        for memory_format in (torch.contiguous_format, torch.channels_last):
            input = leaf(sizes).detach().to(memory_format=memory_format)
            result, expected = compiled(input), model(theirs, input)
            assert torch.equal(result, expected) and result.stride() == expected.stride()
    return counter.frame_count


@pytest.mark.parametrize("name", MODELS)
def test_no_more_graphs_than_torchs_own_functions_need(name: str) -> None:
    model, shapes = MODELS[name]
    assert graphs_needed(model, ours, shapes) <= graphs_needed(model, theirs, shapes)


def test_window_arguments_may_be_symbols() -> None:
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(
        lambda x, k, p, s: ours.unfold(x, (k, k + 1), padding=p, stride=s),
        fullgraph=True,
        dynamic=True,
        backend=counter,
    )
    input = leaf((2, 3, 12, 9)).detach()
    for kernel, padding, stride in ((2, 3, 2), (3, 2, 3), (4, 5, 4)):
        expected = theirs.unfold(input, (kernel, kernel + 1), padding=padding, stride=stride)
        assert torch.equal(compiled(input, kernel, padding, stride), expected)
    assert counter.frame_count == 1


@pytest.mark.skipif(
    not hasattr(symbolic_shapes, "guard_or_false"), reason="this torch makes no graphs of sizes without hints"
)
@pytest.mark.parametrize(
    ("call", "sizes"),
    [
        (lambda x: ours.unfold(x, 3, 1, 1, 2), (4, 3, 8, 9)),
        (lambda x: ours.fold(x, (8, 9), 3), (4, 27, 42)),
        (lambda x: ours.pixel_shuffle(x, 2), (4, 4, 8, 9)),
        (lambda x: ours.pixel_unshuffle(x, 2), (4, 4, 8, 6)),
    ],
    ids=["unfold", "fold", "pixel_shuffle", "pixel_unshuffle"],
)
def test_sizes_without_hints(call: Callable[[Any], Any], sizes: tuple[int, ...]) -> None:
    input = leaf(sizes).detach()
    for axis in range(input.dim()):
        decorators.mark_unbacked(input, axis)
    assert torch.equal(torch.compile(call, fullgraph=True, backend="aot_eager")(input), call(input))


def test_a_wrong_shape_is_refused_while_tracing_and_at_a_guard() -> None:
    compiled = torch.compile(lambda x: ours.fold(x, 4, 2), fullgraph=True, dynamic=True, backend="aot_eager")
    assert compiled(torch.ones(2, 4, 9)).shape == (2, 1, 4, 4)
    for sizes, rule in (((2, 4, 8), "one column for each position"), ((2, 5, 9), "multiple of the product of kernel_size")):
        with pytest.raises(Exception, match=rule):
            compiled(torch.ones(sizes))


def test_integers_and_other_ranks() -> None:
    input = torch.arange(2 * 3 * 4 * 5 * 6).reshape(2, 3, 4, 5, 6)
    call = lambda x: ours.fold(ours.unfold(x, (2, 2, 3)), x.shape[2:], (2, 2, 3))  # noqa: E731
    assert torch.equal(torch.compile(call, fullgraph=True, backend="aot_eager")(input), call(input))
    halves = torch.rand(2, 3, 6, 6).bfloat16()
    call = lambda x: ours.fold(ours.unfold(x, 3), 6, 3)  # noqa: E731
    assert torch.equal(torch.compile(call, fullgraph=True, backend="aot_eager")(halves), call(halves))


def test_out_is_functionalized() -> None:
    @torch.compile(fullgraph=True, backend="aot_eager")
    def compiled(x: Any, out: Any) -> Any:
        ours.fold(x * 2, 3, 2, out=out)
        return out + 1

    columns, out = torch.rand(2, 4, 4), torch.empty(2, 1, 3, 3)
    expected = theirs.fold(columns * 2, 3, 2)
    assert torch.equal(compiled(columns, out), expected + 1)
    assert torch.equal(out, expected)


def test_torch_func_inside_a_compiled_function() -> None:
    def call(x: Any) -> Any:
        return torch.func.vmap(torch.func.grad(lambda y: (ours.unfold(y, 2) ** 2).sum()))(x)

    input = leaf((3, 2, 4, 5)).detach()
    assert torch.equal(torch.compile(call, fullgraph=True, backend="aot_eager")(input), call(input))


@pytest.mark.parametrize("strict", [True, False])
def test_export_with_dynamic_shapes(strict: bool) -> None:
    class Model(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return shuffles(ours, round_trip(ours, x))

    dynamic = torch.export.Dim.DYNAMIC
    shapes = ({0: dynamic, 2: dynamic, 3: dynamic},)
    program = torch.export.export(Model(), (leaf((2, 4, 8, 9)).detach(),), dynamic_shapes=shapes, strict=strict)
    targets = [str(node.target) for node in program.graph.nodes]
    for name in ("fold", "unfold", "pixel_shuffle", "pixel_unshuffle"):
        assert targets.count(f"patchfold.{name}.default") == 1
    for sizes in ((3, 4, 10, 11), (2, 4, 20, 7)):
        input = leaf(sizes).detach()
        assert torch.equal(program.module()(input), Model()(input))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_torchscript() -> None:
    traced = torch.jit.trace(lambda x: ours.unfold(x, 2), torch.rand(1, 3, 5, 5))
    input = torch.rand(2, 3, 6, 7)
    assert torch.equal(traced(input), theirs.unfold(input, 2))
    unit = torch.jit.CompilationUnit("def f(x):\n    return torch.ops.patchfold.unfold(x, [2, 2])\n")
    assert torch.equal(unit.f(input), theirs.unfold(input, 2))

# SPDX-License-Identifier: Apache-2.0
"""Tests of every operator of the table on tensors that torch records, transforms, traces and compiles."""

import functools
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import calls  # noqa: E402
import patchfold  # noqa: E402
import patchfold.torch  # noqa: E402
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

Call = Callable[[Any], Any]


def of_row(spec: Any) -> tuple[Call, tuple[int, ...]]:
    data, arguments = calls.example(spec)
    return lambda x: patchfold.run(spec.name, x, **arguments), data[0].shape


CASES: dict[str, tuple[Call, tuple[int, ...]]] = {
    spec.name: of_row(spec) for spec in patchfold.operators() if spec.data_input
}
WINDOW = {"kernel_size": (2, 3), "stride": (2, 1), "padding": 1}
CASES |= {
    f"unfold {mode}": (lambda x, mode=mode: patchfold.unfold(x, **WINDOW, padding_mode=mode), (2, 3, 5, 6))
    for mode in ("edge", "reflect", "symmetric", "wrap")
}
CASES |= {
    "fold mean": (lambda x: patchfold.fold(x, (4, 5), (2, 2), stride=3, reduce="mean", fill=3), (2, 8, 2)),
    "reconstruct": (lambda x: patchfold.reconstruct(x, (2, 3, 4, 5), (2, 2)), (2, 12, 12)),
    "gather_patches": (lambda x: patchfold.gather_patches(x, [(0, 1), (2, 0), (0, 1)], (2, 3)), (2, 4, 5)),
    "gather_patches of a batch": (
        lambda x: patchfold.gather_patches(x, [[(0, 1), (2, 0)], [(1, 1), (0, 2)]], (2, 3)),
        (2, 3, 4, 5),
    ),
}


def leaf(shape: tuple[int, ...]) -> Any:
    return torch.rand(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(5)).requires_grad_()


@pytest.mark.parametrize("name", CASES)
def test_values_derivatives_and_batches(name: str) -> None:
    call, shape = CASES[name]
    x = leaf(shape)
    with torch.no_grad():
        plain = call(x)
    assert torch.equal(call(x), plain)
    options: dict[str, Any] = {"fast_mode": True, "check_batched_grad": True}
    assert gradcheck(call, x, check_forward_ad=True, check_batched_forward_grad=True, **options)
    squared = lambda x: call(x) * call(x)  # noqa: E731
    assert gradgradcheck(squared, x, check_fwd_over_rev=True, check_rev_over_rev=True, **options)
    samples = torch.stack([x.detach(), x.detach() + 1], 1)
    assert torch.equal(torch.vmap(call, 1)(samples), torch.stack([plain, call(x.detach() + 1)]))


@pytest.mark.parametrize("name", CASES)
def test_compiled_as_one_graph(name: str) -> None:
    call, shape = CASES[name]
    torch._dynamo.reset()
    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    for _ in range(2):
        x, y = leaf(shape), leaf(shape)
        (compiled(x) ** 2).sum().backward()
        (call(y) ** 2).sum().backward()
        assert torch.equal(compiled(x), call(y)) and torch.equal(x.grad, y.grad)


@pytest.mark.parametrize("name", ["unfold", "space_to_batch", "batch_to_space", "tensorflow.SpaceToDepth"])
def test_one_graph_for_every_batch(name: str) -> None:
    call, shape = CASES[name]
    shape = (2 * shape[0], *shape[1:])
    program = torch.export.export(_Module(call), (leaf(shape).detach(),), dynamic_shapes=({0: _batch(name)},))
    for count in (shape[0], 3 * shape[0]):
        x = torch.rand((count, *shape[1:]), dtype=torch.float64)
        assert torch.equal(program.module()(x), call(x))


def _batch(name: str) -> Any:
    return 12 * torch.export.Dim("n", max=99) if name == "batch_to_space" else torch.export.Dim("n", max=99)


class _Module(torch.nn.Module):
    def __init__(self, call: Call) -> None:
        super().__init__()
        self.call = call

    def forward(self, x: Any) -> Any:
        return self.call(x)


def test_lazy_views_under_vmap() -> None:
    x = torch.randn(2, 1, 4, 4, dtype=torch.complex64)
    expected = torch.stack([patchfold.unfold(each.conj().resolve_conj()[None], 2)[0] for each in x])
    assert torch.equal(torch.func.vmap(lambda one: patchfold.unfold(one.conj()[None], 2)[0])(x), expected)


def test_views_are_compiled() -> None:
    x = torch.rand(2, 3, 6, 6)
    for call in (lambda x: patchfold.unfold_view(x, (2, 2)) * 2, lambda x: patchfold.space_to_depth_view(x, (2, 2)) * 2):
        torch._dynamo.reset()
        assert torch.equal(torch.compile(call, fullgraph=True, backend="aot_eager")(x), call(x))


WITHOUT_IMPORT = {
    "unfold": "patchfold.unfold(x, 3, padding=1)",
    "unfold_view": "patchfold.unfold_view(x, (3, 3)) * 2",
    "a dialect's operator": "patchfold.tensorflow.space_to_depth(x.permute(0, 2, 3, 1), 2)",
}


@pytest.mark.parametrize("name", WITHOUT_IMPORT)
def test_compiled_without_import_of_patchfold_torch(name: str) -> None:
    program = f"""
import functools, sys, torch, patchfold
def call(x):
    return {WITHOUT_IMPORT[name]}
@functools.wraps(patchfold.unfold)
def twice(x, *sizes):
    return 2 * patchfold.unfold(x, *sizes)
def into(x):
    out = torch.zeros(2, 3, 8, 8)
    return patchfold.fold(patchfold.unfold(x, 2), (8, 8), 2, out=out, accumulate=True)
x = torch.arange(2 * 3 * 8 * 8.0).reshape(2, 3, 8, 8)
try:
    torch.compile(call, fullgraph=True, backend="eager")(x)
    raise AssertionError("no error")
except torch._dynamo.exc.Unsupported as error:
    assert "import patchfold.torch, and torch.compile takes this function as it is" in str(error), error
for function in (call, into, lambda x: twice(x, 2)):
    torch._dynamo.reset()
    assert torch.equal(torch.compile(function, backend="eager")(x), function(x))
assert "patchfold.torch" not in sys.modules
import patchfold.torch
torch._dynamo.reset()
x, y = (x.clone().requires_grad_() for _ in range(2))
compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
for _ in range(2):
    (compiled(x) ** 2).sum().backward()
    (call(y) ** 2).sum().backward()
assert torch.equal(x.grad, y.grad)
function = lambda x: twice(x, 2)
assert torch.equal(torch.compile(function, backend="eager")(x), function(x))
"""
    subprocess.run([sys.executable, "-c", program], check=True)


OUTSIDE: dict[str, Call] = {
    "coverage": lambda x: x / torch.as_tensor(patchfold.coverage((8, 8), 3)),
    "iter_unfold": lambda x: sum(each.columns.sum() for each in patchfold.iter_unfold(x, 3, max_bytes=10**5)),
    "plan": lambda x: patchfold.plan("unfold", x, kernel_size=3)(x),
    "apply_tiled": lambda x: patchfold.apply_tiled(torch.sin, x, tile=(4, 4), overlap=0),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_functions_outside_of_graphs_say_so(name: str) -> None:
    x, call = torch.rand(2, 3, 8, 8), OUTSIDE[name]
    torch._dynamo.reset()
    with pytest.raises(Exception, match=f"patchfold.{name} is no part of a graph: call it outside of the compiled function"):
        torch.compile(call, fullgraph=True, backend="eager")(x)
    torch._dynamo.reset()
    assert torch.equal(torch.compile(call, backend="eager")(x), call(x))


def test_copies_of_open_extents_are_compiled() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: patchfold.copy(x), fullgraph=True, dynamic=True, backend="eager")
    for shape in ((2, 3, 4), (3, 5, 6)):
        x = torch.rand(shape).mT
        assert torch.equal(compiled(x), x)


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("order", ["p1 p2 c", "(c p1 p2)", "p2 p1 c", "c p2 p1", "vit"])
def test_orders_of_tokens_are_compiled(order: str, dynamic: bool | None) -> None:
    def call(x: Any) -> Any:
        tokens = patchfold.patchify(x * 2, 2, order=order)
        return tokens, patchfold.unpatchify(tokens, (4, 6), 2, order=order)

    torch._dynamo.reset()
    compiled = torch.compile(call, fullgraph=True, dynamic=dynamic, backend="aot_eager")
    for batch in (2, 3, 5):
        x = torch.rand(batch, 3, 4, 6)
        for got, expected in zip(compiled(x), call(x), strict=True):
            assert torch.equal(got, expected)


@pytest.mark.parametrize("axes", ["(n, R)", "(B, n, R)"])
def test_corners_of_a_compiled_function_may_be_a_tensor(axes: str) -> None:
    x, corners = leaf((2, 3, 5, 6)), torch.tensor([[[0, 1], [2, 0]], [[1, 1], [3, 4]]])
    given, other = (corners, corners.flip(0)) if axes == "(B, n, R)" else corners
    call = lambda x, where: patchfold.gather_patches(x, where, 2)  # noqa: E731
    torch._dynamo.reset()
    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    for where in (given, other, given.to(torch.uint8)):
        expected = call(x, where.tolist())
        result = compiled(x, where)
        assert torch.equal(result, expected)
        (gradient,) = torch.autograd.grad(result.sum(), x)
        assert torch.equal(gradient, *torch.autograd.grad(expected.sum(), x))
    both = torch.stack([given, other])
    rows = torch.func.vmap(call, (None, 0))(x, both)
    assert torch.equal(rows, torch.stack([call(x, given.tolist()), call(x, other.tolist())]))
    for outside in (given - 1, given + 4):
        with pytest.raises(IndexError, match="out of bounds"):
            compiled(x, outside)
    with pytest.raises(Exception, match="corners: must hold integers; given float32"):
        compiled(x, given.float())
    with pytest.raises(Exception, match="size: must not exceed the axes that are cut"):
        torch.compile(lambda x, where: patchfold.gather_patches(x, where, 9), fullgraph=True, backend="eager")(x, given)


def test_corners_without_values_are_refused_by_their_reason() -> None:
    x, corners = torch.rand(3, 5, 6), torch.tensor([[0, 1]])
    with pytest.raises(patchfold.InvalidType, match="corners: must lie in the processor's memory; given a tensor on meta"):
        patchfold.gather_patches(x, corners.to("meta"), 2)
    with pytest.raises(patchfold.InvalidType, match="corners: must be a tensor with memory of its own"):
        torch.func.vmap(lambda where: patchfold.gather_patches(x.numpy(), where, 2))(corners[None])


@pytest.mark.parametrize("name", ["unfold", "torch.unfold", "onnx.space_to_depth"])
def test_a_function_is_compiled_within_another_one(name: str) -> None:
    function = functools.reduce(getattr, name.split("."), patchfold)
    x = torch.rand(1, 3, 4, 6)
    for compiled in (
        torch.compile(lambda x: function(x, 2), fullgraph=True, backend="aot_eager"),
        torch.compile(function, fullgraph=name == "torch.unfold", backend="aot_eager"),
    ):
        torch._dynamo.reset()
        assert torch.equal(compiled(x) if compiled.__name__ == "<lambda>" else compiled(x, 2), function(x, 2))


def test_wrong_calls_are_refused_before_anything_is_recorded() -> None:
    with pytest.raises(patchfold.InvalidValue, match="space_to_depth: x: "):
        patchfold.space_to_depth(leaf((1, 1, 5, 4)), 2)
    with pytest.raises(patchfold.InvalidValue, match="gather_patches: corners: each must keep its patch inside"):
        patchfold.gather_patches(leaf((4, 4)), [(3, 3)], 2)

# SPDX-License-Identifier: Apache-2.0
"""Tests of every operator of the table on tensors that torch records, transforms, traces and compiles."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import patchfold  # noqa: E402
import patchfold.torch  # noqa: E402
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
import calls  # noqa: E402

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


def test_wrong_calls_are_refused_before_anything_is_recorded() -> None:
    with pytest.raises(patchfold.InvalidValue, match="space_to_depth: x: "):
        patchfold.space_to_depth(leaf((1, 1, 5, 4)), 2)
    with pytest.raises(patchfold.InvalidValue, match="gather_patches: corners: each must keep its patch inside"):
        patchfold.gather_patches(leaf((4, 4)), [(3, 3)], 2)

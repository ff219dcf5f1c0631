# SPDX-License-Identifier: Apache-2.0
"""Compares patchfold.torch.contiguous with Tensor.contiguous: values, strides, derivatives, graphs."""

import random
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import patchfold  # noqa: E402
import patchfold.torch as ours  # noqa: E402

DTYPES = (
    torch.bool, torch.uint8, torch.int16, torch.int64, torch.uint32, torch.float16, torch.bfloat16, torch.float32,
    torch.float64, torch.complex64, torch.complex128, torch.float8_e5m2,
)  # fmt: skip


def random_view(rng: random.Random, dtype: Any) -> Any:
    """Returns random bytes as a tensor of random rank, order of axes and steps."""
    sizes = [rng.choice((0, 1, 2, 3, 5)) if rng.random() < 0.1 else rng.randint(1, 5) for _ in range(rng.randint(0, 5))]
    steps = [rng.randint(1, 2) for _ in sizes]
    room = [size * step for size, step in zip(sizes, steps, strict=True)]
    count = dtype.itemsize
    for size in room:
        count *= size
    most = 2 if dtype is torch.bool else 256
    memory = torch.randint(
        0, most, (count,), dtype=torch.uint8, generator=torch.Generator().manual_seed(rng.getrandbits(32))
    )
    tensor = memory.view(dtype).reshape(room)
    for axis, step in enumerate(steps):
        tensor = tensor.narrow(axis, 0, room[axis])[(slice(None),) * axis + (slice(None, None, step),)]
    order = list(range(len(sizes)))
    rng.shuffle(order)
    tensor = tensor.permute(order)
    return tensor.unsqueeze(0).expand(3, *tensor.shape) if rng.random() < 0.2 else tensor


def bits(tensor: Any) -> bytes:
    return bytes(tensor.reshape(-1).clone(memory_format=torch.contiguous_format).view(torch.uint8).numpy().tobytes())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_result_is_that_of_torch(dtype: Any) -> None:
    rng = random.Random(7)
    for _ in range(150):
        x = random_view(rng, dtype)
        result, expected = ours.contiguous(x), x.contiguous()
        assert result.shape == expected.shape and result.dtype is dtype and result.is_contiguous()
        assert bits(result) == bits(expected)
        assert (result is x) == x.is_contiguous()


def test_lazy_views_hold_their_values() -> None:
    x = torch.randn(3, 4, dtype=torch.complex64).T
    assert torch.equal(ours.contiguous(x.conj()), x.conj().contiguous())
    assert torch.equal(ours.contiguous(x.conj().imag), x.conj().imag.contiguous())


def test_the_derivative_is_the_identity() -> None:
    x = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(4, 3, 2, dtype=torch.float64)
    result = ours.contiguous(x.permute(2, 1, 0))
    assert result.requires_grad and result.is_contiguous()
    (result * weights).sum().backward()
    assert torch.equal(x.grad, weights.permute(2, 1, 0))
    assert torch.autograd.gradcheck(lambda t: ours.contiguous(t.mT), x, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(lambda t: ours.contiguous(t.mT) ** 2, x)
    y = x.detach()
    value, tangent = torch.func.jvp(lambda t: ours.contiguous(t.mT), (y,), (2 * y,))
    assert torch.equal(value, y.mT) and torch.equal(tangent, 2 * y.mT)
    assert torch.equal(torch.func.vmap(lambda t: ours.contiguous(t.mT))(y), y.mT)


def test_the_operator_passes_torchs_own_checks() -> None:
    operator = torch.ops.patchfold.contiguous.default
    for x in (
        torch.randn(3, 4).T,
        torch.randn(2, 3, 4, 5)[..., ::2],
        torch.randn(3, 4, requires_grad=True).T,
        torch.randn(()),
    ):
        torch.library.opcheck(operator, (x,))


def test_graphs_hold_the_operator() -> None:
    x = torch.randn(2, 3, 4)
    compiled = torch.compile(lambda t: ours.contiguous(t.mT) + 1, backend="eager", fullgraph=True)
    assert torch.equal(compiled(x), x.mT + 1)

    class Module(torch.nn.Module):
        def forward(self, t: torch.Tensor) -> torch.Tensor:
            return ours.contiguous(t.mT)

    program = torch.export.export(Module(), (x,))
    assert any("patchfold.contiguous" in str(node.target) for node in program.graph.nodes)
    portable = program.run_decompositions(ours.decompositions())
    assert not any("patchfold" in str(node.target) for node in portable.graph.nodes)
    assert torch.equal(portable.module()(x), x.mT) and portable.module()(x).is_contiguous()
    script = torch.jit.script(Module())
    assert torch.equal(script(x), x.mT) and script(x).is_contiguous()


def test_only_dense_tensors_are_taken() -> None:
    sparse = torch.eye(3).to_sparse()
    for wrong, rule in ((sparse, "must be a dense tensor"), ([1.0], "must be a torch.Tensor")):
        with pytest.raises(patchfold.InvalidType, match=f"torch.contiguous: input: {rule}"):
            ours.contiguous(wrong)

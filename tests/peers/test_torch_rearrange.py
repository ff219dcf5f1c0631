# SPDX-License-Identifier: Apache-2.0
"""Compares patchfold.rearrange with einops.rearrange: random patterns, NumPy and torch, gradients and graphs."""

import random

import pytest

torch = pytest.importorskip("torch")
einops = pytest.importorskip("einops")

import numpy as np  # noqa: E402
import patchfold  # noqa: E402
import patchfold.torch  # noqa: E402

PATTERN = "b (h p) c -> b h (c p)"


def side(rng: random.Random, names: list[str], is_left: bool) -> tuple[str, list[list[str]]]:
    """Returns one side of a pattern, and the names of each of its axes."""
    groups: list[list[str]] = []
    for name in names:
        if groups and rng.random() < 0.4 and not (is_left and "..." in (name, *groups[-1])):
            groups[-1].append(name)
        else:
            groups.append([name])
    words = [group[0] if len(group) == 1 else f"({' '.join(group)})" for group in groups]
    for _ in range(rng.choice((0, 0, 1))):
        at = rng.randint(0, len(groups))
        words.insert(at, rng.choice(("1", "()")))
        groups.insert(at, [])
    return " ".join(words), groups


def random_case(rng: random.Random) -> tuple[str, tuple[int, ...], dict[str, int]]:
    """Returns a pattern, a shape that matches the pattern, and the sizes that the pattern needs."""
    extents = {name: rng.randint(1, 5) for name in "abcdef"[: rng.randint(0, 6)]}
    names = [*extents, *(["..."] if rng.random() < 0.4 else [])]
    left, groups = side(rng, rng.sample(names, len(names)), True)
    right, _ = side(rng, rng.sample(names, len(names)), False)
    shape: list[int] = []
    sizes = {}
    for group in groups:
        if group == ["..."]:
            shape += [rng.randint(1, 3) for _ in range(rng.randint(0, 2))]
            continue
        shape.append(int(np.prod([extents[name] for name in group], dtype=int)))
        derived = rng.choice(group) if group else None
        sizes |= {name: extents[name] for name in group if name != derived or rng.random() < 0.2}
    return f"{left} -> {right}", tuple(shape), sizes


@pytest.mark.parametrize("seed", range(8))
def test_einops_gives_the_same(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(150):
        pattern, shape, sizes = random_case(rng)
        x = np.arange(int(np.prod(shape, dtype=int)), dtype=np.float32).reshape(shape[::-1]).T
        expected = einops.rearrange(x, pattern, **sizes)
        np.testing.assert_array_equal(patchfold.rearrange(x, pattern, **sizes), expected, strict=True)
        result = patchfold.rearrange(torch.from_numpy(x), pattern, **sizes)
        assert torch.equal(result, torch.from_numpy(expected)) and result.is_contiguous()


def test_tensors_of_every_type_and_given_outputs() -> None:
    x = torch.arange(24).reshape(1, 6, 4)
    for dtype in (torch.bfloat16, torch.bool, torch.complex64, torch.int8):
        expected = einops.rearrange(x.to(dtype), PATTERN, p=2)
        assert torch.equal(patchfold.rearrange(x.to(dtype), PATTERN, p=2), expected)
        out = torch.empty(expected.shape, dtype=dtype).mT.contiguous().mT
        assert patchfold.rearrange(x.to(dtype), PATTERN, p=2, out=out) is out and torch.equal(out, expected)


def test_gradients_flow() -> None:
    x = torch.randn(2, 6, 4, requires_grad=True)
    result = patchfold.rearrange(x, PATTERN, p=2)
    weights = torch.randn(result.shape)
    (result * weights).sum().backward()
    assert torch.equal(x.grad, patchfold.rearrange(weights, "b h (c p) -> b (h p) c", p=2))


def test_it_is_part_of_a_compiled_graph() -> None:
    x = torch.randn(2, 6, 4)
    compiled = torch.compile(lambda t: patchfold.rearrange(t, PATTERN, p=3) * 2, backend="eager", fullgraph=True)
    for given in (x, x[:, :3], x[:1]):
        assert torch.equal(compiled(given), patchfold.rearrange(given, PATTERN, p=3) * 2)


class Function(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


OPEN = {
    "rearrange": lambda x: patchfold.rearrange(x, "b c (h p) (w q) -> b (h w) (p q c)", p=2, q=2),
    "joined with the batch": lambda x: patchfold.rearrange(x, "b c h w -> (b h) w c"),
    "the size of the batch given": lambda x: patchfold.rearrange(x, "(b f) c h w -> b f c h w", b=x.shape[0], f=1),
    "patchify": lambda x: patchfold.patchify(x, 2),
    "unpatchify": lambda x: patchfold.unpatchify(patchfold.patchify(x, 2), x.shape[2:], 2),
    "gather_patches": lambda x: patchfold.gather_patches(x, [(0, 0), (1, 2)], 2),
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", OPEN)
def test_an_export_keeps_the_batch_open(name: str, strict: bool) -> None:
    shapes = ({0: torch.export.Dim("n")},)
    program = torch.export.export(Function(OPEN[name]), (torch.randn(3, 4, 8, 12),), dynamic_shapes=shapes, strict=strict)
    other = torch.randn(5, 4, 8, 12)
    assert torch.equal(program.module()(other), OPEN[name](other))


@pytest.mark.parametrize("name", ["rearrange", "joined with the batch", "patchify", "unpatchify"])
def test_a_trace_takes_any_batch(name: str) -> None:
    traced = torch.jit.trace(Function(OPEN[name]), torch.randn(3, 4, 8, 12))
    other = torch.randn(5, 4, 8, 12)
    assert torch.equal(traced(other), OPEN[name](other))


@pytest.mark.parametrize("name", ["rearrange", "patchify", "unpatchify"])
def test_an_export_keeps_rows_open(name: str) -> None:
    shapes = ({2: 2 * torch.export.Dim("rows")},)
    program = torch.export.export(Function(OPEN[name]), (torch.randn(3, 4, 8, 12),), dynamic_shapes=shapes)
    other = torch.randn(3, 4, 10, 12)
    assert torch.equal(program.module()(other), OPEN[name](other))


@pytest.mark.parametrize("frames", [1, 3])
def test_a_repeated_frame_has_a_derivative(frames: int) -> None:
    x = torch.randn((frames, 3, 56, 84), requires_grad=True)
    tokens = patchfold.patchify(x, 14, order="qwen", repeat="last")
    expected = patchfold.patchify(torch.cat([x, x[-1:]]), 14, order="qwen")
    assert torch.equal(tokens, expected)
    assert torch.equal(*(torch.autograd.grad(each.square().sum(), x)[0] for each in (tokens, expected)))

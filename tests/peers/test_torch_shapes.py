# SPDX-License-Identifier: Apache-2.0
"""Compares the shape rules of patchfold.torch, static and symbolic, with the rules of the library.

Also compares errors: for a wrong call, patchfold and patchfold.torch must name the same cause.
"""

import random
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import patchfold  # noqa: E402
import patchfold.torch as ours  # noqa: E402
from patchfold import InvalidType, InvalidValue  # noqa: E402
from patchfold.torch import _shapes  # noqa: E402
from torch._dynamo.source import ConstantSource  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext  # noqa: E402

RULES: dict[str, Callable[..., list[Any]]] = {
    "fold": _shapes.fold_shape,
    "unfold": _shapes.unfold_shape,
    "pixel_shuffle": _shapes.pixel_shuffle_shape,
    "pixel_unshuffle": _shapes.pixel_unshuffle_shape,
}
ARGUMENTS = {
    "fold": ("output_size", "kernel_size", "dilation", "padding", "stride"),
    "unfold": ("kernel_size", "dilation", "padding", "stride"),
    "pixel_shuffle": ("upscale_factor",),
    "pixel_unshuffle": ("downscale_factor",),
}


def spoil(rng: random.Random, numbers: list[int]) -> list[int]:
    """Returns numbers, sometimes with a number out of range or of the wrong type, or a list of a wrong length."""
    kind = rng.random()
    if kind < 0.1 and numbers:
        numbers[rng.randrange(len(numbers))] += rng.choice((-3, -2, -1, 1))
    elif kind < 0.13:
        numbers = numbers[:-1] if rng.random() < 0.5 else [*numbers, 1]
    return numbers


def random_problem(rng: random.Random, name: str) -> tuple[list[int], list[Any]]:
    """Returns sizes of the input and values of the arguments; about half of these problems are wrong."""
    if name.startswith("pixel"):
        factor = rng.randint(1, 4)
        sizes = [rng.randint(0, 3) for _ in range(rng.randint(0, 3))] + [rng.randint(0, 3) for _ in range(3)]
        if name == "pixel_shuffle":
            sizes[-3] *= factor * factor
        else:
            sizes[-2:] = [size * factor for size in sizes[-2:]]
        if rng.random() < 0.4:
            factor = rng.randint(-2, 5)
        return spoil(rng, sizes), [factor]
    rank = rng.randint(1, 3)
    kernel = [rng.randint(1, 3) for _ in range(rank)]
    dilation = [rng.randint(1, 2) for _ in range(rank)]
    padding = [rng.randint(0, 2) for _ in range(rank)]
    stride = [rng.randint(1, 3) for _ in range(rank)]
    extents = [rng.randint(1, 9) for _ in range(rank)]
    batch = [rng.randint(0, 3)] if rng.random() < 0.7 else []
    channels = rng.randint(1, 3)
    window = [kernel, dilation, padding, stride]
    if name == "unfold":
        return spoil(rng, [*batch, channels, *extents]), [spoil(rng, values) for values in window]
    taps, positions = 1, 1
    for i in range(rank):
        slack = extents[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1
        taps *= kernel[i]
        positions *= slack // stride[i] + 1
    sizes = spoil(rng, [*batch, channels * taps, positions])
    return [max(size, 0) for size in sizes], [spoil(rng, values) for values in (extents, *window)]


def library_shape(name: str, sizes: list[int], values: list[Any]) -> tuple[int, ...] | None:
    """Returns the shape by the library's rule; None if the library refuses the call."""
    try:
        return patchfold.output_shape(f"torch.{name}", sizes, **dict(zip(ARGUMENTS[name], values, strict=True)))
    except InvalidValue:
        return None


def traced_shape(name: str, sizes: Any, values: list[Any]) -> tuple[Any, ...] | None:
    try:
        return tuple(RULES[name](sizes, *values))
    except ValueError:  # torch raises ValueError, too, for a symbolic condition that does not hold
        return None


@pytest.mark.parametrize("name", RULES)
def test_traceable_rule_is_the_librarys(name: str) -> None:
    rng = random.Random(f"static {name}")
    accepted = refused = 0
    for _ in range(2000):
        sizes, values = random_problem(rng, name)
        if min(sizes, default=0) < 0:
            continue
        expected = library_shape(name, sizes, values)
        assert traced_shape(name, sizes, values) == expected, (sizes, values)
        accepted += expected is not None
        refused += expected is None
    assert accepted > 400 and refused > 200, (accepted, refused)


def symbolic(mode: FakeTensorMode, sizes: list[int]) -> Any:
    """Returns a fake tensor whose sizes are symbols, except for sizes of 0 and 1."""
    dynamic = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC] * len(sizes))
    source = ConstantSource("input")
    return mode.from_tensor(torch.empty(sizes), symbolic_context=dynamic, source=source)


@pytest.mark.parametrize("name", RULES)
def test_rule_for_symbols_is_the_librarys(name: str) -> None:
    rng = random.Random(f"symbolic {name}")
    operator = getattr(torch.ops.patchfold, name).default
    accepted = refused = symbols = 0
    for _ in range(200):
        sizes, values = random_problem(rng, name)
        if min(sizes, default=0) < 0:
            continue
        expected = library_shape(name, sizes, values)
        mode = FakeTensorMode(shape_env=ShapeEnv())
        input = symbolic(mode, sizes)
        with mode:
            symbols += any(isinstance(size, torch.SymInt) for size in input.shape)
            try:
                shape = operator(input, *values).shape
            except ValueError:
                assert expected is None, (sizes, values)
                refused += 1
                continue
            assert tuple(int(size) for size in shape) == expected, (sizes, values)
            accepted += 1
    assert accepted > 40 and refused > 30 and symbols > 100, (accepted, refused, symbols)


@pytest.mark.parametrize("name", RULES)
def test_fake_meta_and_real_tensors_are_refused_alike(name: str) -> None:
    rng = random.Random(f"fake {name}")
    operator = getattr(torch.ops.patchfold, name).default
    accepted = refused = 0
    for _ in range(200):
        sizes, values = random_problem(rng, name)
        if min(sizes, default=0) < 0:
            continue
        expected = library_shape(name, sizes, values)
        real = torch.zeros(sizes)
        with FakeTensorMode() as mode:
            fake = mode.from_tensor(real)
        for input in (real, real.to("meta"), fake):
            if expected is None:
                with pytest.raises(InvalidValue) as caught:
                    operator(input, *values)
                assert caught.value.operator == f"torch.{name}"
                refused += 1
            else:
                result = operator(input, *values)
                assert tuple(result.shape) == expected
                assert result.dtype == real.dtype and result.device == input.device
                accepted += 1
    assert accepted > 100 and refused > 100, (accepted, refused)


def test_huge_results_are_refused_before_anything_is_allocated() -> None:
    columns = torch.zeros(1, 4, 4)
    with pytest.raises(InvalidValue, match="2\\^60"):
        ours.fold(columns, 2**31, 2, 2**40, 2**39, 2**30)
    with pytest.raises(RuntimeError, match="memory"):  # a valid shape, but too large for any memory
        ours.fold(columns, 2**29, 2, 2**40, 2**39, 2**28)


@pytest.mark.filterwarnings("ignore:.*quantized:UserWarning")
@pytest.mark.parametrize(
    ("call", "argument", "kind"),
    [
        (lambda: ours.fold(torch.zeros(1, 8, 1), 2, 2.0), "kernel_size", InvalidType),
        (lambda: ours.fold(torch.zeros(1, 8, 1), 2, (2, "2")), "kernel_size", InvalidType),
        (lambda: ours.fold(torch.zeros(1, 8, 1), None, 2), "output_size", InvalidType),
        (lambda: ours.unfold(torch.zeros(1, 1, 5, 5), True), "kernel_size", InvalidType),
        (lambda: ours.unfold(torch.zeros(1, 1, 5, 5), "22"), "kernel_size", InvalidType),
        (lambda: ours.unfold(torch.zeros(1, 1, 5, 5), ()), "kernel_size", InvalidValue),
        (lambda: ours.unfold(torch.zeros(1, 1, 5, 5), (2, 2), (1, 1, 1)), "dilation", InvalidValue),
        (lambda: ours.unfold(torch.zeros(1, 1, 5, 5), 2, 0), "dilation", InvalidValue),
        (lambda: ours.unfold(torch.zeros(1, 1, 5, 5), 2, 1, -1), "padding", InvalidValue),
        (lambda: ours.unfold(torch.zeros(1, 1, 5, 5), 2, 1, 0, 0), "stride", InvalidValue),
        (lambda: ours.unfold(torch.zeros(1, 1, 5, 5), 6), "kernel_size", InvalidValue),
        (lambda: ours.unfold(torch.zeros(1, 0, 5, 5), 2), "input", InvalidValue),
        (lambda: ours.pixel_shuffle(torch.zeros(1, 4, 5, 5), 1.0), "upscale_factor", InvalidType),
        (lambda: ours.pixel_shuffle(torch.zeros(1, 4, 5, 5), (2, 2)), "upscale_factor", InvalidType),
        (lambda: ours.pixel_shuffle(torch.zeros(1, 4, 5, 5), 0), "upscale_factor", InvalidValue),
        (lambda: ours.pixel_unshuffle(torch.zeros(5, 5), 1), "input", InvalidValue),
        (lambda: ours.fold([[1.0]], 2, 2), "input", InvalidType),
        (lambda: ours.fold(torch.zeros(1, 4, 1).to_sparse(), 2, 2), "input", InvalidType),
        (lambda: ours.fold(torch.zeros(1, 4, 1, dtype=torch.float8_e5m2), 2, 2), "input", InvalidType),
        (
            lambda: ours.pixel_shuffle(torch.quantize_per_tensor(torch.zeros(4, 1, 1), 1.0, 0, torch.quint8), 2),
            "input",
            InvalidType,
        ),
    ],
)
def test_errors_name_torchs_argument(call: Callable[[], Any], argument: str, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, patchfold.Error)
    assert caught.value.argument == argument
    assert caught.value.operator.startswith("torch.") and caught.value.rule


IMAGE = torch.arange(2.0 * 3 * 6 * 8).reshape(2, 3, 6, 8)
COLUMNS = patchfold.unfold(IMAGE, 2)
FOUR = "padding has 4 entries, so 4 spatial axes; write "

# (call with `m` for patchfold or patchfold.torch, words in the errors of both)
MISTAKES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "pads of both ends": (lambda m: m.unfold(IMAGE, 3, padding=(1, 1, 1, 1)), FOUR + "padding=1"),
    "pads and a list": (lambda m: m.unfold(IMAGE, (3, 3), padding=[1, 1, 1, 1]), FOUR + "padding=1"),
    "unequal pads": (lambda m: m.unfold(IMAGE, 3, padding=(1, 1, 2, 2)), "a pair (begin, end) for each axis"),
    "pads with gradients": (lambda m: m.unfold(IMAGE.clone().requires_grad_(), 3, padding=(1, 1, 1, 1)), FOUR + "padding=1"),
    "pads with a mode": (lambda m: m.unfold(IMAGE, 3, padding=(1, 1, 1, 1), padding_mode="reflect"), FOUR + "padding=1"),
    "three axes": (lambda m: m.unfold(torch.ones(2, 3, 4, 5, 6), 3), "kernel_size=(3, 3, 3)"),
    "no channels": (lambda m: m.unfold(IMAGE[0, 0], 3), "a grey picture: "),
    "transposed": (lambda m: m.fold(COLUMNS.mT, (6, 8), 2), "axes look swapped: "),
    "a grid": (lambda m: m.fold(COLUMNS.reshape(2, 12, 5, 7), (6, 8), 2), 'positions="grid"'),
    "positions": (lambda m: m.fold(COLUMNS, (6, 9), 2), "given 35, expected 40 = product of (5, 8)"),
    "a tensor of floats": (lambda m: m.unfold(IMAGE, torch.tensor([3.0, 3.0])), "kernel_size: must be an integer; given "),
    "a number that is too large": (lambda m: m.unfold(IMAGE, 2**70), "kernel_size: must fit into 64 bits; given 11805"),
    "no entries": (lambda m: m.unfold(IMAGE, ()), "kernel_size: must have one entry for each spatial axis, at least one; "),
    "zero": (lambda m: m.unfold(IMAGE, 0), "; given 0"),
    "another mode": (lambda m: m.unfold(IMAGE, 2, padding_mode="mirror"), "'wrap'; given 'mirror'"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_both_modules_name_the_cause(name: str) -> None:
    call, words = MISTAKES[name]
    for module in (patchfold, ours):
        with pytest.raises(patchfold.Error) as caught:
            call(module)
        assert words in str(caught.value), str(caught.value)


def test_only_what_the_function_takes_is_proposed() -> None:
    with pytest.raises(InvalidValue, match=r"write padding=1 or padding=\(1, 1\)$"):
        ours.unfold(IMAGE, 3, padding=(1, 1, 1, 1))
    for padding in (-1, (-1, -1, -1, -1), (0, -1)):
        with pytest.raises(InvalidValue, match="at least 0; given .*; negative pads crop in the neutral unfold$"):
            ours.unfold(IMAGE, 3, padding=padding)
    with pytest.raises(InvalidValue, match=r"rank 4 or 3; for two spatial axes the neutral unfold with .*=\(2, 3\)$"):
        ours.unfold(torch.ones(2, 3, 4, 5, 6), (2, 3))


def test_arguments_may_be_tensors() -> None:
    two = torch.tensor([2, 2])
    for module in (patchfold, ours):
        assert torch.equal(module.unfold(IMAGE, two, stride=torch.tensor(1)), COLUMNS)
        assert module.fold(COLUMNS, torch.tensor([6, 8]), two).shape == IMAGE.shape

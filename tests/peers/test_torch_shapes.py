# SPDX-License-Identifier: Apache-2.0
"""Compares the shape rules of patchfold.torch, static and symbolic, with the library's. Tests its errors."""

import random
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import patchfold  # noqa: E402
import patchfold.torch  # noqa: E402
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
    """Returns sizes of the input and values of the arguments; about half of them are wrong."""
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
    except patchfold.InvalidValue:
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
    """Returns a tensor with a symbol for each size, except 0 and 1."""
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
                with pytest.raises(patchfold.InvalidValue) as caught:
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
    with pytest.raises(patchfold.InvalidValue, match="2\\^60"):
        patchfold.torch.fold(columns, 2**31, 2, 2**40, 2**39, 2**30)
    with pytest.raises(RuntimeError, match="memory"):  # a valid shape that no machine can hold
        patchfold.torch.fold(columns, 2**29, 2, 2**40, 2**39, 2**28)


@pytest.mark.filterwarnings("ignore:.*quantized:UserWarning")
@pytest.mark.parametrize(
    ("call", "argument", "kind"),
    [
        (lambda: patchfold.torch.fold(torch.zeros(1, 8, 1), 2, 2.0), "kernel_size", patchfold.InvalidType),
        (lambda: patchfold.torch.fold(torch.zeros(1, 8, 1), 2, (2, "2")), "kernel_size", patchfold.InvalidType),
        (lambda: patchfold.torch.fold(torch.zeros(1, 8, 1), None, 2), "output_size", patchfold.InvalidType),
        (lambda: patchfold.torch.unfold(torch.zeros(1, 1, 5, 5), True), "kernel_size", patchfold.InvalidType),
        (lambda: patchfold.torch.unfold(torch.zeros(1, 1, 5, 5), "22"), "kernel_size", patchfold.InvalidType),
        (lambda: patchfold.torch.unfold(torch.zeros(1, 1, 5, 5), ()), "kernel_size", patchfold.InvalidValue),
        (
            lambda: patchfold.torch.unfold(torch.zeros(1, 1, 5, 5), (2, 2), (1, 1, 1)),
            "dilation",
            patchfold.InvalidValue,
        ),
        (lambda: patchfold.torch.unfold(torch.zeros(1, 1, 5, 5), 2, 0), "dilation", patchfold.InvalidValue),
        (lambda: patchfold.torch.unfold(torch.zeros(1, 1, 5, 5), 2, 1, -1), "padding", patchfold.InvalidValue),
        (lambda: patchfold.torch.unfold(torch.zeros(1, 1, 5, 5), 2, 1, 0, 0), "stride", patchfold.InvalidValue),
        (lambda: patchfold.torch.unfold(torch.zeros(1, 1, 5, 5), 6), "kernel_size", patchfold.InvalidValue),
        (lambda: patchfold.torch.unfold(torch.zeros(1, 0, 5, 5), 2), "input", patchfold.InvalidValue),
        (lambda: patchfold.torch.pixel_shuffle(torch.zeros(1, 4, 5, 5), 1.0), "upscale_factor", patchfold.InvalidType),
        (
            lambda: patchfold.torch.pixel_shuffle(torch.zeros(1, 4, 5, 5), (2, 2)),
            "upscale_factor",
            patchfold.InvalidType,
        ),
        (lambda: patchfold.torch.pixel_shuffle(torch.zeros(1, 4, 5, 5), 0), "upscale_factor", patchfold.InvalidValue),
        (lambda: patchfold.torch.pixel_unshuffle(torch.zeros(5, 5), 1), "input", patchfold.InvalidValue),
        (lambda: patchfold.torch.fold([[1.0]], 2, 2), "input", patchfold.InvalidType),
        (lambda: patchfold.torch.fold(torch.zeros(1, 4, 1).to_sparse(), 2, 2), "input", patchfold.InvalidType),
        (
            lambda: patchfold.torch.fold(torch.zeros(1, 4, 1, dtype=torch.float8_e5m2), 2, 2),
            "input",
            patchfold.InvalidType,
        ),
        (
            lambda: patchfold.torch.pixel_shuffle(torch.quantize_per_tensor(torch.zeros(4, 1, 1), 1.0, 0, torch.quint8), 2),
            "input",
            patchfold.InvalidType,
        ),
    ],
)
def test_errors_name_torchs_argument(call: Callable[[], Any], argument: str, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, patchfold.Error)
    assert caught.value.argument == argument
    assert caught.value.operator.startswith("torch.") and caught.value.rule

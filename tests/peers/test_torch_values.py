# SPDX-License-Identifier: Apache-2.0
"""Tests of the values of patchfold.torch: torch's own bits if torch has a kernel, and otherwise the formula's."""

import random
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402
import patchfold  # noqa: E402
import patchfold.torch as ours  # noqa: E402
import torch.nn.functional as theirs  # noqa: E402
from formulas import fold, unfold  # noqa: E402

OWN_ARITHMETIC = (torch.float32, torch.float64, torch.complex64, torch.complex128, torch.bool)
"""The types that torch sums without a wider type."""
HALVES = (torch.float16, torch.bfloat16)
INTEGERS = (torch.uint8, torch.int8, torch.uint16, torch.int16, torch.uint32, torch.int32, torch.uint64, torch.int64)
FLOAT8 = (torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz)


def random_tensor(rng: random.Random, sizes: list[int], dtype: Any) -> Any:
    """Returns random elements in one of several memory layouts."""
    generator = torch.Generator().manual_seed(rng.getrandbits(32))
    layout = rng.randrange(6)
    if layout == 1:
        sizes = [*sizes[:-1], sizes[-1] * 2]
    if layout == 2:
        sizes = sizes[::-1]
    if dtype in INTEGERS or dtype in FLOAT8:
        count = int(np.prod(sizes)) * dtype.itemsize
        tensor = torch.randint(0, 256, (count,), dtype=torch.uint8, generator=generator).view(dtype).reshape(sizes)
    elif dtype is torch.bool:
        tensor = torch.rand(sizes, generator=generator) < 0.3
    else:
        kind = torch.complex128 if dtype.is_complex else torch.float64
        tensor = torch.randn(sizes, dtype=kind, generator=generator).to(dtype)
    if layout == 1:
        tensor = tensor[..., ::2]
    if layout == 2:
        tensor = tensor.permute(*range(tensor.dim() - 1, -1, -1))
    if layout == 3 and dtype.is_complex:
        tensor = tensor.conj()
    if layout == 4 and dtype in (torch.float32, torch.float64):
        tensor = torch.complex(tensor, tensor).conj().imag
        assert tensor.is_neg()
    if layout == 5 and tensor.dim() == 4 and tensor.numel() > 0:
        tensor = tensor.to(memory_format=torch.channels_last)
    return tensor


def bits(tensor: Any) -> Any:
    """Returns the bytes of a tensor's elements in row-major order."""
    plain = tensor.detach().resolve_conj().resolve_neg().contiguous()
    return plain.reshape(-1).view(torch.uint8).numpy().tobytes()


def same(result: Any, expected: Any) -> bool:
    return result.shape == expected.shape and result.dtype == expected.dtype and bits(result) == bits(expected)


def scalar_or_list(rng: random.Random, values: list[int]) -> Any:
    return values[0] if len(set(values)) == 1 and rng.random() < 0.5 else tuple(values)


def random_window(rng: random.Random, rank: int) -> tuple[list[int], dict[str, Any], list[int]]:
    """Returns spatial extents, window arguments, and the number of positions on each axis."""
    while True:
        extents = [rng.randint(1, 9) for _ in range(rank)]
        window = {
            "kernel_size": [rng.randint(1, 3) for _ in range(rank)],
            "dilation": [rng.randint(1, 2) for _ in range(rank)],
            "padding": [rng.randint(0, 2) for _ in range(rank)],
            "stride": [rng.randint(1, 3) for _ in range(rank)],
        }
        slack = [
            extent + 2 * pad - dilation * (kernel - 1) - 1
            for extent, kernel, dilation, pad in zip(
                extents, window["kernel_size"], window["dilation"], window["padding"], strict=True
            )
        ]
        if min(slack) >= 0:
            positions = [gap // stride + 1 for gap, stride in zip(slack, window["stride"], strict=True)]
            given = {name: scalar_or_list(rng, values) if rank == 2 else tuple(values) for name, values in window.items()}
            return extents, given, positions


def taps_of(window: dict[str, Any], rank: int) -> list[int]:
    kernel = window["kernel_size"]
    return list(kernel) if isinstance(kernel, tuple) else [kernel] * rank


@pytest.mark.parametrize("dtype", OWN_ARITHMETIC, ids=str)
def test_fold_and_unfold_are_torchs_bit_for_bit(dtype: Any) -> None:
    rng = random.Random(str(dtype))
    for _ in range(150):
        extents, window, positions = random_window(rng, 2)
        batch = [rng.randint(0, 3)] if rng.random() < 0.7 else []
        channels = rng.randint(1, 3)
        image = random_tensor(rng, [*batch, channels, *extents], dtype)
        assert same(ours.unfold(image, **window), theirs.unfold(image, **window)), window
        rows = channels * int(np.prod(taps_of(window, 2)))
        columns = random_tensor(rng, [*batch, rows, int(np.prod(positions))], dtype)
        assert same(ours.fold(columns, extents, **window), theirs.fold(columns, extents, **window)), window


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_halves_are_summed_in_float32_and_rounded_once(dtype: Any) -> None:
    rng = random.Random(str(dtype))
    for _ in range(150):
        extents, window, positions = random_window(rng, 2)
        rows = 2 * int(np.prod(taps_of(window, 2)))
        columns = random_tensor(rng, [2, rows, int(np.prod(positions))], dtype)
        result = ours.fold(columns, extents, **window)
        assert same(result, theirs.fold(columns.float(), extents, **window).to(dtype)), window

        exact = theirs.fold(columns.double(), extents, **window)
        magnitude = theirs.fold(columns.double().abs(), extents, **window)
        n = theirs.fold(torch.ones(columns.shape, dtype=torch.float64), extents, **window)
        digits, least = (10, -24) if dtype is torch.float16 else (7, -133)
        exponent = torch.frexp(result.double())[1].double() - 1
        half_ulp = torch.exp2((exponent - digits).clamp(min=least) - 1)
        bound = half_ulp + (n - 1).clamp(min=0) * 2.0**-24 * magnitude * (1 + n * 2.0**-24)
        assert bool(((result.double() - exact).abs() <= bound * (1 + 2.0**-40)).all())

        image = random_tensor(rng, [2, 2, *extents], dtype)
        assert same(ours.unfold(image, **window), theirs.unfold(image, **window))


@pytest.mark.parametrize("dtype", [*INTEGERS, torch.float64], ids=str)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_integers_and_any_number_of_axes(dtype: Any, rank: int) -> None:
    rng = random.Random(f"{dtype} {rank}")
    for _ in range(6):
        extents, window, positions = random_window(rng, rank)
        window = {name: given if isinstance(given, tuple) else (given,) * rank for name, given in window.items()}
        kernel, dilation, padding, stride = (window[name] for name in ("kernel_size", "dilation", "padding", "stride"))
        geometry = kernel, stride, dilation, [(pad, pad) for pad in padding]
        style = {"layout": "channels_first", "order": "channel", "positions": "flat"}
        image = random_tensor(rng, [2, 2, *extents], dtype)
        expected = torch.from_numpy(unfold(image.contiguous().numpy(), *geometry, **style))
        assert same(ours.unfold(image, **window), expected), window
        columns = random_tensor(rng, list(expected.shape), dtype)
        expected = torch.from_numpy(fold(columns.contiguous().numpy(), extents, *geometry, **style))
        assert same(ours.fold(columns, extents, **window), expected), window
        assert same(ours.fold(columns[1], extents, **window), expected[1])


@pytest.mark.parametrize("dtype", [*OWN_ARITHMETIC, *HALVES, *INTEGERS, *FLOAT8], ids=str)
def test_pixel_shuffles(dtype: Any) -> None:
    rng = random.Random(str(dtype))
    for _ in range(60):
        factor = rng.randint(1, 3)
        batch = [rng.randint(0, 2) for _ in range(rng.randint(0, 3))]
        deep = random_tensor(rng, [*batch, rng.randint(0, 2) * factor**2, rng.randint(0, 3), rng.randint(0, 3)], dtype)
        *batch, channels, height, width = deep.shape
        split = deep.reshape(*batch, channels // factor**2, factor, factor, height, width)
        n = len(batch)
        expected = split.permute(*range(n), n, n + 3, n + 1, n + 4, n + 2)
        expected = expected.reshape(*batch, channels // factor**2, height * factor, width * factor)
        result = ours.pixel_shuffle(deep, factor)
        assert same(result, expected)
        assert same(ours.pixel_unshuffle(result, factor), deep)
        if dtype in (*OWN_ARITHMETIC, *HALVES):
            assert same(result, theirs.pixel_shuffle(deep, factor))
            if deep.numel() > 0:
                assert result.stride() == theirs.pixel_shuffle(deep, factor).stride()
                again = ours.pixel_unshuffle(result, factor)
                assert again.stride() == theirs.pixel_unshuffle(result, factor).stride()


@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_float8_is_moved_but_not_summed(dtype: Any) -> None:
    image = torch.arange(18, dtype=torch.uint8).reshape(1, 2, 3, 3)
    assert torch.equal(ours.unfold(image.view(dtype), 2).view(torch.uint8), ours.unfold(image, 2))
    with pytest.raises(patchfold.InvalidType, match="can be added"):
        ours.fold(torch.zeros(1, 4, 4, dtype=dtype), 3, 2)


def test_nan_payloads_and_signs_are_moved_as_they_are() -> None:
    patterns = torch.tensor([0x7FA00001, 0x7FC12345, 0x80000000 - 2**32, 0x00000001], dtype=torch.int32)
    image = patterns.reshape(1, 1, 2, 2).view(torch.float32)
    assert torch.equal(ours.unfold(image, 1).view(torch.int32).flatten(), patterns)
    assert torch.equal(ours.pixel_unshuffle(image, 2).view(torch.int32).flatten(), patterns)


@pytest.mark.parametrize("seed", range(4))
def test_what_torch_accepts_is_accepted_and_what_it_refuses_is_refused(seed: int) -> None:
    rng = random.Random(seed)
    accepted = refused = 0
    for _ in range(500):
        kernel, stride, dilation = ([rng.randint(0 if rng.random() < 0.1 else 1, 3) for _ in "hw"] for _ in range(3))
        padding = [rng.randint(-1 if rng.random() < 0.1 else 0, 2) for _ in "hw"]
        extents = [rng.randint(0 if rng.random() < 0.1 else 1, 6) for _ in "hw"]
        image = torch.rand([rng.randint(0, 2) for _ in range(rng.choice((1, 2, 2, 2, 3)))] + extents)
        positions = 1
        for i in range(2):
            slack = extents[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1
            positions *= max(0, slack // max(stride[i], 1) + 1)
        rows = rng.choice((1, 2, 2)) * kernel[0] * kernel[1] + (rng.random() < 0.1)
        batch = [rng.randint(0, 2) for _ in range(rng.choice((0, 1, 1, 1, 2)))]
        columns = torch.rand([*batch, rows, positions + (rng.random() < 0.1)])
        window = (kernel, dilation, padding, stride)
        for name, arguments in (("unfold", (image, *window)), ("fold", (columns, extents, *window))):
            try:
                expected = getattr(theirs, name)(*arguments)
            except RuntimeError:
                with pytest.raises(patchfold.InvalidValue):
                    getattr(ours, name)(*arguments)
                refused += 1
            else:
                assert same(getattr(ours, name)(*arguments), expected)
                accepted += 1
    assert accepted > 200 and refused > 200, (accepted, refused)


def test_arguments_as_torch_takes_them() -> None:
    image = torch.rand(1, 2, 6, 7)
    expected = theirs.unfold(image, (2, 3), 1, 1, 2)
    for kernel in ([2, 3], torch.Size((2, 3)), np.array([2, 3]), torch.tensor([2, 3]), (np.int64(2), torch.tensor(3))):
        assert torch.equal(ours.unfold(image, kernel, 1, 1, 2), expected)
    assert torch.equal(ours.unfold(image, (k for k in (2, 3)), np.int32(1), [1, 1], stride=2), expected)
    deep = torch.rand(8, 2, 2)
    assert torch.equal(ours.pixel_shuffle(input=deep, upscale_factor=np.int64(2)), theirs.pixel_shuffle(deep, 2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int16], ids=str)
def test_out_is_written_in_place(dtype: Any) -> None:
    columns = random_tensor(random.Random(1), [2, 8, 9], dtype)
    expected = ours.fold(columns, 4, 2)
    out = torch.empty(4, 4, 2, 2, dtype=dtype).permute(3, 2, 1, 0)
    version = out._version
    assert ours.fold(columns, 4, 2, out=out) is out
    assert same(out, expected) and out._version > version
    with pytest.raises(patchfold.InvalidValue) as shape:
        ours.fold(columns, 4, 2, out=torch.empty(2, 2, 4, 5, dtype=dtype))
    with pytest.raises(patchfold.InvalidType) as kind:
        ours.fold(columns, 4, 2, out=torch.empty(2, 2, 4, 4, dtype=torch.float64))
    assert shape.value.argument == kind.value.argument == "out"


def test_a_single_number_counts_for_each_axis_of_the_lists() -> None:
    x = torch.randn(1, 2, 5, 6, 7)
    expected = patchfold.torch.unfold(x, (2, 2, 2), (1, 1, 1), (1, 1, 1), (2, 2, 2))
    assert torch.equal(patchfold.torch.unfold(x, (2, 2, 2), 1, 1, 2), expected)
    # A call with `out` goes through the dispatcher, whose operators take lists only, so numbers become lists.
    assert torch.equal(patchfold.torch.unfold(x, (2, 2, 2), 1, 1, 2, out=torch.empty_like(expected)), expected)


def test_out_has_no_derivative() -> None:
    columns, out = torch.rand(2, 8, 9), torch.empty(2, 2, 4, 4)
    with pytest.raises(patchfold.InvalidType, match="derivative"):
        ours.fold(columns.requires_grad_(), 4, 2, out=out)
    with torch.no_grad():
        assert torch.equal(ours.fold(columns, 4, 2, out=out), theirs.fold(columns, 4, 2))
    with pytest.raises(patchfold.InvalidType, match="derivative"):
        torch.func.jvp(lambda x: ours.fold(x, 4, 2, out=out), (columns.detach(),), (columns.detach(),))


def test_autocast_leaves_types_alone_as_torch_does() -> None:
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
        image = torch.rand(1, 4, 4, 4).to(dtype)
        columns = torch.rand(1, 4, 4).to(dtype)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert ours.unfold(image, 2).dtype == theirs.unfold(image, 2).dtype == dtype
            assert ours.fold(columns, 3, 2).dtype == theirs.fold(columns, 3, 2).dtype == dtype
            assert ours.pixel_shuffle(image, 2).dtype == theirs.pixel_shuffle(image, 2).dtype == dtype


MODES = ["edge", "reflect", "symmetric", "wrap", "replicate", "circular", "REFLECT", "SYMMETRIC", "zeros"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("shape", "window"),
    [
        ((2, 3, 5, 6), {"kernel_size": (3, 3), "padding": (1, 1)}),
        ((3, 5, 6), {"kernel_size": (2, 3), "padding": (7, 1), "stride": (2, 1), "dilation": (1, 2)}),
        ((2, 3, 7), {"kernel_size": (3,), "padding": (4,)}),
        ((2, 1, 4, 1, 4), {"kernel_size": (2, 1, 3), "padding": (1, 2, 3)}),
    ],
)
def test_unfold_pads_with_elements_of_the_image(mode: str, shape: tuple[int, ...], window: dict[str, Any]) -> None:
    x = torch.arange(float(np.prod(shape)), dtype=torch.float64).reshape(shape).requires_grad_()
    pads = [(each, each) for each in window["padding"]]
    want = patchfold.unfold(x.detach().numpy(), **{**window, "padding": pads}, padding_mode=mode)
    got = ours.unfold(x, **window, padding_mode=mode)
    assert np.array_equal(got.detach().numpy(), want)
    out = torch.empty_like(got, requires_grad=False)
    assert ours.unfold(x.detach(), **window, padding_mode=mode, out=out) is out and np.array_equal(out.numpy(), want)
    assert torch.autograd.gradcheck(lambda t: ours.unfold(t, **window, padding_mode=mode), (x,), check_forward_ad=True)


def test_padding_modes_in_graphs_and_maps_of_samples() -> None:
    x = torch.randn(4, 2, 3, 5, 6)

    def function(t: Any) -> Any:
        return ours.unfold(t, 3, padding=1, padding_mode="reflect")

    want = torch.stack([function(each) for each in x])
    assert torch.equal(torch.func.vmap(function)(x), want)
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager", dynamic=True)
    assert torch.equal(compiled(x[0]), want[0]) and torch.equal(compiled(x[1, :, :, :4]), function(x[1, :, :, :4]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ours.unfold(torch.zeros(2, 3, 5, 5, 5), 3), r"for 3 spatial axes: kernel_size=\(3, 3, 3\)$"),
        (lambda: ours.unfold(torch.zeros(5, 5), 3), r"a grey picture: input.reshape\(1, 5, 5\)$"),
        (
            lambda: ours.fold(torch.zeros(2, 27, 3, 3), 5, 3),
            r'input.reshape\(2, 27, 9\), or the neutral fold with positions="grid"$',
        ),
        (lambda: ours.fold(torch.zeros(2, 9, 27), 5, 3), r"axes look swapped: input.swapaxes\(1, 2\)$"),
        (
            lambda: ours.unfold(torch.zeros(1, 1, 5, 5), 3, padding_mode="mirror"),
            "padding_mode: must be one of 'constant', 'edge'",
        ),
        (
            lambda: ours.unfold(torch.zeros(1, 1, 5, 5), 3, padding=-1, padding_mode="edge"),
            "padding: every entry must be at least 0",
        ),
    ],
)
def test_errors_say_what_to_type(call: Any, message: str) -> None:
    with pytest.raises(patchfold.InvalidValue, match=message):
        call()

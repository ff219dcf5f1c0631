# SPDX-License-Identifier: Apache-2.0
"""Compares patchify and unpatchify with NumPy's reshape and transpose, written out for each order."""

import itertools
from typing import Any

import numpy as np
import patchfold
import pytest

RANDOM = np.random.default_rng(20)
BATCHES: list[tuple[int, ...]] = [(), (2,), (2, 1, 3), (0,)]
DTYPES = ["?", "u1", "i2", "f4", "f8", "c16", ">f4", "U3", [("a", "u1"), ("b", "f4")]]


def numbers(shape: tuple[int, ...], dtype: Any = "f4") -> np.ndarray:
    size = np.dtype(dtype).itemsize
    count = int(np.prod(shape)) * size
    raw = RANDOM.integers(0, 2 if dtype == "?" else 256, count, np.uint8)
    if dtype == "U3":
        return raw.view(np.uint32)[: int(np.prod(shape)) * 3].__mod__(50).astype(np.uint32).view("U3").reshape(shape)
    return raw.view(dtype).reshape(shape)


def expected_of(x: np.ndarray, p: int, q: int, order: str) -> np.ndarray:
    """Returns channels-first tokens, by reshape and transpose alone."""
    *batch, c, height, width = x.shape
    n = int(np.prod(batch))
    parts = x.reshape(n, c, height // p, p, width // q, q)
    axes = (0, 2, 4, 3, 5, 1) if order == "vit" else (0, 2, 4, 1, 3, 5)
    return parts.transpose(axes).reshape(*batch, height // p * (width // q), c * p * q)


def qwen_of(x: np.ndarray, tp: int, p: int, m: int) -> np.ndarray:
    """Returns tokens of (.., T, C, H, W) in Qwen's order, by reshape and transpose alone."""
    *batch, frames, c, height, width = x.shape
    n = int(np.prod(batch))
    grid = (frames // tp, height // p, width // p)
    parts = x.reshape(n, grid[0], tp, c, grid[1] // m, m, p, grid[2] // m, m, p)
    return parts.transpose(0, 1, 4, 7, 5, 8, 3, 2, 6, 9).reshape(*batch, int(np.prod(grid)), c * tp * p * p)


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def in_memory(x: np.ndarray, kind: str) -> np.ndarray:
    """Returns the values in another memory layout."""
    if kind == "fortran":
        return np.asfortranarray(x)
    if kind == "steps":
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
        wide[..., ::2] = x
        return wide[..., ::2]
    return np.ascontiguousarray(x[..., ::-1])[..., ::-1] if kind == "mirrored" else np.ascontiguousarray(x)


@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("order", ["vit", "torch"])
@pytest.mark.parametrize("kind", ["rows", "fortran", "steps", "mirrored"])
def test_orders_are_those_of_reshape_and_transpose(batch: tuple[int, ...], order: Any, kind: str) -> None:
    for (p, q), c in itertools.product([(4, 2), (3, 3), (1, 1), (12, 6), (1, 6)], (1, 3)):
        x = in_memory(numbers((*batch, c, 12, 6)), kind)
        expected = expected_of(x, p, q, order)
        last = np.moveaxis(x, -3, -1)
        found = patchfold.patchify(x, (p, q), order=order)
        assert same_bits(found, expected)
        if len(batch) < 2:
            assert np.shares_memory(found, x) == np.shares_memory(expected, x)
        assert same_bits(patchfold.patchify(last, (p, q), order=order, layout="channels_last"), expected)
        tokens = in_memory(expected, kind)
        assert same_bits(patchfold.unpatchify(tokens, (12, 6), (p, q), order=order), np.ascontiguousarray(x))
        back = patchfold.unpatchify(tokens, (12, 6), (p, q), order=order, layout="channels_last")
        assert same_bits(back, np.ascontiguousarray(last))


@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize(("tp", "p", "m"), [(2, 3, 2), (2, 3, 1), (1, 3, 2), (4, 1, 4), (2, 2, 3)])
def test_the_order_of_merge_blocks_is_that_of_reshape_and_transpose(batch: tuple[int, ...], tp: int, p: int, m: int) -> None:
    x = numbers((*batch, 4, 3, 12, 24), "u1")
    expected = qwen_of(x, tp, p, m)
    sizes: dict[str, Any] = {"order": "qwen", "merge_size": m}
    assert same_bits(patchfold.patchify(x, (tp, p, p), **sizes), expected)
    assert same_bits(patchfold.unpatchify(expected, (4, 12, 24), (tp, p, p), **sizes), x)
    last = np.moveaxis(x, -3, -1)
    assert same_bits(patchfold.patchify(last, (tp, p, p), layout="channels_last", **sizes), expected)
    back = patchfold.unpatchify(expected, (4, 12, 24), (tp, p, p), layout="channels_last", **sizes)
    assert same_bits(back, np.ascontiguousarray(last))


def test_one_number_means_what_the_model_means() -> None:
    video = numbers((4, 3, 12, 24))
    assert same_bits(patchfold.patchify(video, 3, order="qwen"), qwen_of(video, 2, 3, 2))
    assert same_bits(patchfold.unpatchify(qwen_of(video, 2, 3, 2), (4, 12, 24), 3, order="qwen"), video)
    # A picture is repeated for all frames of a patch.
    picture = np.broadcast_to(video[0], (2, 3, 12, 24))
    assert same_bits(patchfold.patchify(picture, 3, order="qwen"), qwen_of(np.ascontiguousarray(picture), 2, 3, 2))
    assert same_bits(patchfold.patchify(video, 3), expected_of(video, 3, 3, "vit"))
    assert same_bits(patchfold.patchify(video[0], 3), expected_of(video[0], 3, 3, "vit"))


def test_any_number_of_axes_and_merge_blocks_in_every_order() -> None:
    x = numbers((2, 3, 4, 6, 8))
    parts = x.reshape(2, 3, 2, 2, 2, 3, 4, 2)
    assert same_bits(patchfold.patchify(x, (2, 3, 2)), parts.transpose(0, 2, 4, 6, 3, 5, 7, 1).reshape(2, 16, 36))
    tubes = parts.transpose(0, 2, 4, 6, 1, 3, 5, 7).reshape(2, 16, 36)  # a convolution over (T, H, W)
    assert same_bits(patchfold.patchify(x, (2, 3, 2), order="torch"), tubes)
    signal = numbers((5, 12))
    assert same_bits(patchfold.patchify(signal, (4,)), signal.reshape(5, 3, 4).transpose(1, 2, 0).reshape(3, 20))
    merged = x.reshape(2, 3, 4, 1, 2, 3, 2, 2, 2).transpose(0, 2, 3, 6, 4, 7, 5, 8, 1).reshape(2, 32, 18)
    assert same_bits(patchfold.patchify(x, (1, 3, 2), merge_size=2), merged)
    assert same_bits(patchfold.unpatchify(merged, (4, 6, 8), (1, 3, 2), merge_size=2), x)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_element_type_is_moved_bit_by_bit(dtype: Any) -> None:
    x = numbers((2, 3, 8, 8), dtype)
    for order in ("vit", "torch"):
        expected = expected_of(x, 4, 4, order)
        assert same_bits(patchfold.patchify(x, 4, order=order), expected)
        assert same_bits(patchfold.unpatchify(expected, (8, 8), 4, order=order), x)
    bits = np.array([0x80000000, 0x7FA00001, 0x7FC12345, 0xFFC00000], np.uint32).view(np.float32)  # -0.0, NaNs
    image = np.resize(bits, (1, 8, 8))
    assert same_bits(patchfold.unpatchify(patchfold.patchify(image, 2), (8, 8), 2), image)


def test_the_result_shares_memory_where_nothing_has_to_move() -> None:
    rows = numbers((2, 12, 6, 3))
    for x, patch, layout, shared in [
        (rows, (4, 6), "channels_last", True),  # whole rows
        (rows, (1, 1), "channels_last", True),
        (rows, (4, 3), "channels_last", False),
        (np.moveaxis(rows, -1, 1), (4, 6), "channels_first", True),
        (np.ascontiguousarray(np.moveaxis(rows, -1, 1)), (4, 6), "channels_first", False),
    ]:
        tokens = patchfold.patchify(x, patch, layout=layout)
        assert np.shares_memory(tokens, x) == shared
        back = patchfold.unpatchify(tokens, (12, 6), patch, layout="channels_last")
        assert np.shares_memory(back, tokens) == (shared or patch == (4, 6)) and same_bits(back, rows)
    out = np.empty((2, 3, 72), np.float32)
    assert patchfold.patchify(rows, (4, 6), layout="channels_last", out=out) is out
    assert not np.shares_memory(out, rows) and same_bits(out, rows.reshape(2, 3, 72))


def test_out_of_any_layout() -> None:
    x = numbers((2, 3, 12, 6))
    expected = expected_of(x, 4, 2, "vit")
    for kind in ("rows", "fortran", "steps", "mirrored"):
        out = in_memory(np.zeros_like(expected), kind)
        assert patchfold.patchify(x, (4, 2), out=out) is out and same_bits(out, expected)
        image = in_memory(np.zeros_like(x), kind)
        assert patchfold.unpatchify(expected, (12, 6), (4, 2), out=image) is image and same_bits(image, x)


def test_channels_that_are_absent() -> None:
    assert patchfold.patchify(np.zeros((2, 0, 12, 6)), 3).shape == (2, 8, 0)
    assert patchfold.unpatchify(np.zeros((2, 8, 0)), (12, 6), 3).shape == (2, 0, 12, 6)


def test_torch_tensors_as_they_are() -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(2 * 3 * 12 * 6, dtype=torch.float32).reshape(2, 3, 12, 6)
    for order in ("vit", "torch"):
        expected = expected_of(x.numpy(), 3, 3, order)
        for each in (x, x.to(memory_format=torch.channels_last), x.bfloat16(), x.half()):
            tokens = patchfold.patchify(each, 3, order=order)
            assert tokens.dtype == each.dtype and tokens.is_contiguous()
            assert np.array_equal(tokens.float().numpy(), torch.from_numpy(expected).to(each.dtype).float().numpy())
            assert torch.equal(patchfold.unpatchify(tokens, (12, 6), 3, order=order), each)
    out = torch.empty(2, 8, 27)
    assert patchfold.patchify(x, 3, out=out) is out and np.array_equal(out.numpy(), expected_of(x.numpy(), 3, 3, "vit"))
    assert patchfold.patchify(x[..., :3], (3, 3)).data_ptr() != x.data_ptr()
    with torch.device("meta"):  # the default device of new tensors
        assert torch.equal(patchfold.patchify(x, 3), out)
    whole = patchfold.patchify(x.permute(0, 2, 3, 1), (4, 6), layout="channels_last")
    assert whole.shape == (2, 3, 72)


def test_tokens_times_weights_are_a_convolution() -> None:
    torch = pytest.importorskip("torch")
    images, weights = torch.randint(-9, 9, (2, 3, 8, 12)).double(), torch.randint(-9, 9, (5, 3, 4, 4)).double()
    embedded = torch.nn.functional.conv2d(images, weights, stride=4).flatten(2).mT
    assert torch.equal(patchfold.patchify(images, 4, order="torch") @ weights.flatten(1).T, embedded)
    columns = torch.nn.functional.unfold(images, 4, stride=4).mT
    assert torch.equal(patchfold.patchify(images, 4, order="torch"), columns)
    assert torch.equal(patchfold.unpatchify(columns, (8, 12), 4, order="torch"), images)


def test_torch_derivatives_vmap_compile_and_other_devices() -> None:
    torch = pytest.importorskip("torch")
    x = torch.rand(2, 3, 12, 6, dtype=torch.float64)

    def there_and_back(image: Any) -> Any:
        tokens = patchfold.patchify(image, 3, order="torch")
        return patchfold.unpatchify(tokens * tokens, (12, 6), 3, order="torch")

    assert torch.autograd.gradcheck(there_and_back, (x.clone().requires_grad_(),))
    assert torch.equal(torch.func.vmap(there_and_back)(x), x * x)
    assert torch.equal(torch.func.jvp(there_and_back, (x,), (torch.ones_like(x),))[1], 2 * x)
    assert torch.equal(torch.jit.trace(there_and_back, (x,), check_trace=False)(x + 1), (x + 1) ** 2)
    assert patchfold.patchify(x.to("meta"), 3).shape == (2, 8, 27)
    compiled = torch.compile(there_and_back, fullgraph=True, backend="eager", dynamic=False)
    assert torch.equal(compiled(x), x * x)


def test_arrays_of_other_libraries_are_moved_by_them() -> None:
    jax = pytest.importorskip("jax")
    x = numbers((2, 3, 12, 6), "i2").astype(np.float32)
    tokens = patchfold.patchify(jax.numpy.asarray(x), 3)
    assert isinstance(tokens, jax.Array) and np.array_equal(tokens, expected_of(x, 3, 3, "vit"))
    assert np.array_equal(patchfold.unpatchify(tokens, (12, 6), 3), x)
    inside = jax.jit(lambda image: patchfold.patchify(image, 3, order="torch"))(x)
    assert np.array_equal(inside, expected_of(x, 3, 3, "torch"))
    slope = jax.grad(lambda image: (patchfold.unpatchify(patchfold.patchify(image, 3), (12, 6), 3) ** 2).sum())(x)
    assert np.array_equal(slope, 2 * x)


def test_tensors_of_tensorflow() -> None:
    tf = pytest.importorskip("tensorflow")
    x = numbers((2, 12, 6, 3), "i2").astype(np.float32)

    def there(image: Any) -> Any:
        return patchfold.patchify(image, 3, layout="channels_last")

    expected = expected_of(np.moveaxis(x, -1, 1), 3, 3, "vit")
    for function in (there, tf.function(there)):
        tokens = function(tf.constant(x))
        assert np.array_equal(tokens.numpy(), expected)
        assert np.array_equal(patchfold.unpatchify(tokens, (12, 6), 3, layout="channels_last").numpy(), x)


def frames_first_of(x: np.ndarray, size: tuple[int, int, int], order: str) -> np.ndarray:
    """Returns tokens of (.., T, C, H, W) whose elements are in the order of the letters t, c, h and w, by reshape and
    transpose alone."""
    *batch, frames, c, height, width = x.shape
    n = int(np.prod(batch))
    t, p, q = size
    parts = x.reshape(n, frames // t, t, c, height // p, p, width // q, q)
    places = {"t": 2, "c": 3, "h": 5, "w": 7}
    tokens = parts.transpose(0, 1, 4, 6, *(places[letter] for letter in order))
    return tokens.reshape(*batch, frames // t * (height // p) * (width // q), c * t * p * q)


@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("order", ["hwct", "tchw", "cthw"])
def test_videos_with_frames_first_in_any_order(batch: tuple[int, ...], order: str) -> None:
    x = numbers((*batch, 4, 3, 12, 6))
    expected = frames_first_of(x, (2, 4, 3), order)
    settings: dict[str, Any] = {"order": " ".join(order), "layout": "frames_first"}
    assert same_bits(patchfold.patchify(x, (2, 4, 3), **settings), expected)
    assert same_bits(patchfold.unpatchify(expected, (4, 12, 6), (2, 4, 3), **settings), x)


@pytest.mark.parametrize("frames", [1, 3, 4, 5])
@pytest.mark.parametrize("layout", ["channels_first", "channels_last", "frames_first"])
@pytest.mark.parametrize("order", ["qwen", "vit"])
def test_the_last_frame_is_repeated(frames: int, layout: Any, order: Any) -> None:
    if order == "qwen" or layout != "channels_first":
        axis, shape = 1, (2, frames, 3, 8, 12) if layout != "channels_last" else (2, frames, 8, 12, 3)
    else:
        axis, shape = 2, (2, 3, frames, 8, 12)
    x = numbers(shape)
    whole = np.concatenate([x, *[x.take([-1], axis)] * (-frames % 3)], axis)
    settings: dict[str, Any] = {"order": order, "layout": layout}
    tokens = patchfold.patchify(x, (3, 2, 3), repeat="last", **settings)
    assert same_bits(tokens, patchfold.patchify(whole, (3, 2, 3), **settings))
    back = patchfold.unpatchify(tokens, (frames, 8, 12), (3, 2, 3), repeat="last", **settings)
    assert same_bits(back, x)
    out = np.zeros_like(x)
    assert patchfold.unpatchify(tokens, (frames, 8, 12), (3, 2, 3), repeat="last", out=out, **settings) is out
    assert same_bits(out, x)


def test_the_last_frame_is_repeated_for_arrays_of_other_libraries() -> None:
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    x = numbers((3, 3, 8, 12), "i2").astype(np.float32)
    expected = patchfold.patchify(x, 2, order="qwen", repeat="last")
    for array in (torch.from_numpy(x), torch.from_numpy(x).requires_grad_(), jax.numpy.asarray(x)):
        tokens = patchfold.patchify(array, 2, order="qwen", repeat="last")
        assert np.array_equal(tokens.detach() if hasattr(tokens, "detach") else tokens, expected)
        back = patchfold.unpatchify(tokens, (3, 8, 12), 2, order="qwen", repeat="last")
        assert np.array_equal(back.detach() if hasattr(back, "detach") else back, x)

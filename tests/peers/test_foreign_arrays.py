# SPDX-License-Identifier: Apache-2.0
"""Tests of torch's tensors and JAX's arrays as inputs and outputs of the neutral functions."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import patchfold
import pytest
import torch

TORCH_NUMBERS = [
    torch.bool, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32, torch.uint64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128,
]  # fmt: skip
TORCH_FLOAT8 = [torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz]
JAX_NUMBERS = [
    jnp.bool_, jnp.int8, jnp.int16, jnp.int32, jnp.uint8, jnp.uint16, jnp.uint32, jnp.float16, jnp.bfloat16, jnp.float32,
    jnp.complex64,
]  # fmt: skip
JAX_FLOAT8 = [jnp.float8_e4m3fn, jnp.float8_e4m3fnuz, jnp.float8_e5m2, jnp.float8_e5m2fnuz]


def random_bytes(count: int) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 2, count, np.uint8)  # 0 and 1 are the valid booleans


@pytest.mark.parametrize("dtype", TORCH_NUMBERS + TORCH_FLOAT8, ids=str)
def test_torch_moves_every_element_type(dtype: torch.dtype) -> None:
    size = dtype.itemsize
    data = random_bytes(2 * 4 * 5 * size)
    x = torch.from_numpy(data).view(dtype).reshape(1, 2, 4, 5)
    y = patchfold.unfold(x, 2, padding=1)
    expected = patchfold.unfold(data.view(f"V{size}").reshape(1, 2, 4, 5), 2, padding=1)
    assert isinstance(y, torch.Tensor)
    assert y.dtype is dtype
    assert y.contiguous().view(torch.uint8).numpy().tobytes() == expected.tobytes()
    out = torch.empty_like(y)
    assert patchfold.unfold(x, 2, padding=1, out=out) is out
    assert torch.equal(out.view(torch.uint8), y.view(torch.uint8))


@pytest.mark.parametrize("dtype", TORCH_NUMBERS, ids=str)
def test_torch_sums_numbers(dtype: torch.dtype) -> None:
    y = patchfold.fold(torch.ones(1, 4, 4).to(dtype), (3, 3), 2)
    assert y.dtype is dtype
    assert torch.equal(y[0, 0], torch.tensor([[1, 2, 1], [2, 4, 2], [1, 2, 1]]).to(dtype))


@pytest.mark.parametrize("dtype", TORCH_FLOAT8, ids=str)
def test_torch_float8_has_no_sums(dtype: torch.dtype) -> None:
    with pytest.raises(patchfold.InvalidType, match="elements must be of a type that can be added; given float8"):
        patchfold.fold(torch.ones(1, 4, 4).to(dtype), (3, 3), 2)


def test_torch_conj_and_neg_views_are_resolved() -> None:
    x = torch.randn(1, 1, 4, 4, dtype=torch.complex64)
    assert x.conj().is_conj()
    assert torch.equal(patchfold.unfold(x.conj(), 2), patchfold.unfold(x.conj().resolve_conj(), 2))
    negative = x.conj().imag
    assert negative.is_neg()
    assert torch.equal(patchfold.unfold(negative, 2), patchfold.unfold(-x.imag, 2))
    out = patchfold.unfold(x, 2)
    with pytest.raises(patchfold.InvalidType, match="out: must hold its elements as they are; given a conj or neg view"):
        patchfold.unfold(x, 2, out=out.conj())


def test_torch_gradients_are_not_lost_silently() -> None:
    x = torch.ones(1, 1, 4, 4, requires_grad=True)
    assert patchfold.unfold(x, 2).requires_grad
    with pytest.raises(patchfold.InvalidType, match=r"x: gradients would be lost here.*a call without out, or x.detach\(\)"):
        patchfold.unfold(x, 2, out=torch.ones(1, 4, 9))
    assert patchfold.unfold(x.detach(), 2).shape == (1, 4, 9)
    with torch.no_grad():
        assert patchfold.unfold(x, 2).shape == (1, 4, 9)


def test_hints_for_torch_gradients_suit_the_call() -> None:
    x, out = torch.ones(1, 1, 4, 4, requires_grad=True), torch.ones(1, 4, 9)
    without = [
        lambda: patchfold.iter_unfold(x, 2),
        lambda: patchfold.plan("unfold", x, kernel_size=2),
    ]
    beside = [
        lambda: patchfold.gather_patches(x, [(0, 0)], 2, out=torch.ones(1, 1, 1, 2, 2)),
        lambda: patchfold.rearrange(x, "b c h w -> h w (b c)", out=torch.ones(4, 4, 1)),
        lambda: patchfold.plan("unfold", x, out=out, kernel_size=2),
        lambda: patchfold.plan("unfold", x.detach(), kernel_size=2)(x, out=out),
    ]
    for calls, expected in ((without, "expected x.detach()"), (beside, "expected a call without out, or x.detach()")):
        for call in calls:
            with pytest.raises(patchfold.InvalidType, match="x: gradients would be lost here") as caught:
                call()
            assert str(caught.value).endswith(expected)
    with pytest.raises(patchfold.InvalidType, match=r"out: gradients would be lost here.*expected out\.detach\(\)$"):
        patchfold.unfold(x.detach(), 2, out=out.requires_grad_())


def test_torch_layouts() -> None:
    x = torch.randn(2, 3, 6, 8)
    expected = patchfold.unfold(x, (2, 3))
    assert torch.equal(patchfold.unfold(x.contiguous(memory_format=torch.channels_last), (2, 3)), expected)
    assert torch.equal(patchfold.unfold(x.transpose(2, 3).contiguous().transpose(2, 3), (2, 3)), expected)
    wide = torch.randn(2, 3, 12, 8)[:, :, ::2]
    assert torch.equal(patchfold.unfold(wide, 2), patchfold.unfold(wide.contiguous(), 2))
    assert torch.equal(patchfold.unfold(torch.ones(1).expand(1, 1, 4, 4), 2), torch.ones(1, 4, 9))
    out = torch.empty(2, 30, 18)[:, ::1, :].transpose(1, 2).contiguous().transpose(1, 2)[:, :18]
    with pytest.raises(patchfold.InvalidValue, match="out: must have the shape"):
        patchfold.unfold(x, (2, 3), out=out)


@pytest.mark.parametrize(
    ("x", "rule"),
    [
        (torch.ones(1, 1, 4, 4).to_sparse(), "must be a dense tensor"),
        (torch.ones(1, 1, 4, 4, device="meta"), "must lie in the processor's memory"),
        (torch.quantize_per_tensor(torch.ones(1, 1, 4, 4), 0.1, 0, torch.qint8), "must have an element type of this"),
    ],
    ids=["sparse", "meta", "quantized"],
)
def test_torch_tensors_that_are_refused(x: torch.Tensor, rule: str) -> None:
    with pytest.raises(patchfold.InvalidType, match=rule):
        patchfold.unfold(x, 2)


def test_out_of_another_kind_works_if_the_elements_are_the_same() -> None:
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    out = torch.empty(1, 4, 9)
    assert patchfold.unfold(x, 2, out=out) is out
    assert (out.numpy() == patchfold.unfold(x, 2)).all()
    with pytest.raises(patchfold.InvalidType, match="out: must have the element type of x; given float64, expected float32"):
        patchfold.unfold(x, 2, out=torch.empty(1, 4, 9, dtype=torch.float64))


@pytest.mark.parametrize("dtype", JAX_NUMBERS + JAX_FLOAT8, ids=str)
def test_jax_arrays_come_out_as_jax_arrays(dtype: object) -> None:
    data = np.arange(40).reshape(1, 2, 4, 5) % 3
    x = jnp.asarray(data).astype(dtype)
    y = patchfold.unfold(x, 2, padding=1)
    assert isinstance(y, jax.Array)
    assert y.dtype == x.dtype
    assert np.asarray(y).tobytes() == patchfold.unfold(np.asarray(x), 2, padding=1).tobytes()


def test_jax_arrays_are_never_written_to() -> None:
    x = jnp.ones((1, 1, 4, 4))
    with pytest.raises(patchfold.InvalidType, match="out: must be an array that can be written to"):
        patchfold.unfold(x, 2, out=jnp.zeros((1, 4, 9)))
    before = np.asarray(x).copy()
    y = patchfold.space_to_batch(x, 1)
    assert y.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
    assert (np.asarray(x) == before).all()


def test_jax_results_are_the_memory_that_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = []

    def recorded(shape: tuple[int, ...], dtype: str) -> object:
        buffer = new_buffer(shape, dtype)
        addresses.append(np.from_dlpack(buffer).ctypes.data)
        return buffer

    new_buffer = patchfold._arrays.memory.new_buffer
    monkeypatch.setattr(patchfold._arrays.memory, "new_buffer", recorded)
    result = patchfold.space_to_depth(jnp.zeros((1, 16, 64, 64), jnp.float32), 2)
    assert addresses == [result.unsafe_buffer_pointer()]


def test_jax_tracers_are_refused() -> None:
    with pytest.raises(patchfold.InvalidType, match="must be an array"):
        jax.jit(lambda x: patchfold.unfold(x, 2))(jnp.ones((1, 1, 4, 4)))


def test_ml_dtypes_arrays_keep_their_type() -> None:
    """Checks that results of 16-bit and 8-bit floats are arrays of the same type, never 0-d arrays of objects."""
    for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
        y = patchfold.unfold(np.ones((1, 1, 3, 3), dtype), 2)
        assert y.dtype == dtype
        assert y.shape == (1, 4, 4)


def test_torch_writes_are_seen_by_autograd() -> None:
    weight = torch.ones(1, 4, 9, requires_grad=True)
    buffer = torch.ones(1, 4, 9)
    result = (weight * buffer).sum()
    patchfold.unfold(torch.zeros(1, 1, 4, 4), 2, out=buffer)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.backward()


def test_torch_traces_and_tangents_are_not_lost_silently() -> None:
    x, out = torch.ones(1, 1, 4, 4), torch.ones(1, 4, 9)
    traced = torch.jit.trace(lambda t: patchfold.unfold(t, 2), x)
    other = torch.rand(1, 1, 4, 4)
    assert torch.equal(traced(other), patchfold.unfold(other, 2))
    with pytest.raises(Exception, match="must have the shape of the call"):
        traced(torch.ones(1, 1, 5, 4))
    with pytest.raises(patchfold.InvalidType, match="a trace would hold the result as a constant"):
        torch.jit.trace(lambda t: patchfold.unfold(t, 2, out=out), x)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x)
        assert torch.autograd.forward_ad.unpack_dual(patchfold.unfold(dual, 2)).tangent is not None
        with pytest.raises(patchfold.InvalidType, match="the tangent would be lost here"):
            patchfold.unfold(dual, 2, out=out)


def test_types_of_torch_that_the_library_lacks_are_named() -> None:
    x = torch.zeros(1, 1, 4, 4, dtype=torch.complex32)
    for name, call in (("unfold: x", patchfold.unfold), ("torch.unfold: input", patchfold.torch.unfold)):
        rule = f"{name}: must have an element type of this library; given torch.complex32"
        with pytest.raises(patchfold.InvalidType) as caught:
            call(x, 2)
        assert str(caught.value) == f"{rule}, expected {name.partition(': ')[2]}.to(torch.complex64)"
        assert call(x.to(torch.complex64), 2).shape == (1, 4, 9)


def test_out_is_blamed_where_arrays_of_a_library_have_none() -> None:
    x, tokens = jnp.zeros((1, 1, 4, 4)), jnp.zeros((1, 4, 4))
    calls = {
        "rearrange: out: must be left out, unless x": lambda: patchfold.rearrange(x, "b c h w -> c b h w", out=[1]),
        "patchify: out: must be left out, unless x": lambda: patchfold.patchify(x, 2, out=np.zeros((1, 4, 4), np.float32)),
        "unpatchify: out: must be left out, unless tokens": lambda: patchfold.unpatchify(tokens, (4, 4), 2, out="text"),
    }
    for text, call in calls.items():
        with pytest.raises(patchfold.InvalidType, match=rf"^{text} is a NumPy array or a torch tensor; given "):
            call()


def test_torch_tensors_of_transforms_are_refused_where_out_is_given() -> None:
    with pytest.raises(patchfold.InvalidType, match="must be a tensor with memory of its own"):
        torch.func.vmap(lambda t: patchfold.unfold(t, 2, out=torch.ones(1, 4, 9)))(torch.ones(2, 1, 1, 4, 4))
    nested = torch.nested.nested_tensor([torch.ones(2, 2), torch.ones(3, 2)])
    with pytest.raises(patchfold.InvalidType, match="must be a dense tensor; given a nested tensor"):
        patchfold.unfold(nested, 2)

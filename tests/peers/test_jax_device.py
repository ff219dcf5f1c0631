# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.jax on CUDA, without a device: what XLA is given, and the target, which runs on the host."""

import numpy as np
import patchfold
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
import patchfold.jax  # noqa: E402
from device_arrays import needs_library, on_host, spy  # noqa: E402
from patchfold import _core  # noqa: E402

pytestmark = needs_library
__all__ = ["on_host", "spy"]  # fixtures

TARGET = "patchfold_for_devices"


def test_a_program_for_cuda_calls_patchfold():
    gradient = jax.jit(jax.grad(lambda x: (patchfold.jax.unfold(x, 3, padding=1) ** 2).sum()))
    text = gradient.trace(jnp.ones((1, 2, 6, 6))).lower(lowering_platforms=("cuda",)).as_text()
    assert text.count("@patchfold") == 2 and "callback" not in text


def test_the_target_for_devices_gives_the_bits_of_the_processor(on_host):
    jax.ffi.register_ffi_target(TARGET, _core.xla_target(True), platform="cpu")
    x = np.random.default_rng(0).standard_normal((2, 3, 8, 8)).astype(np.float32)
    columns = jax.ShapeDtypeStruct((2, 27, 64), jnp.float32)
    image = jax.ShapeDtypeStruct(x.shape, jnp.float32)
    call = "unfold f32 2x3x8x8 kernel_size=3,3 padding=1"

    @jax.jit
    def there_and_back(x):
        made = jax.ffi.ffi_call(TARGET, columns)(x, call=call)
        return made, jax.ffi.ffi_call(TARGET, image)(made, call=f"adjoint {call}")

    for result, expected in zip(there_and_back(x), (patchfold.unfold(x, 3, padding=1),) * 2, strict=True):
        wanted = expected if result.shape == expected.shape else patchfold.fold(expected, (8, 8), 3, padding=1)
        assert np.asarray(result).tobytes() == wanted.tobytes()


def test_the_target_needs_a_stream(spy):
    jax.ffi.register_ffi_target(f"{TARGET}_2", _core.xla_target(True), platform="cpu")
    call = jax.ffi.ffi_call(f"{TARGET}_2", jax.ShapeDtypeStruct((1, 1, 2, 2), jnp.float32))
    with pytest.raises(Exception, match="must have a stream of CUDA"):
        call(jnp.ones((1, 1, 2, 2)), call="copy f32 1x1x2x2").block_until_ready()
    assert not spy.calls


def test_arrays_on_a_device_go_to_xla(monkeypatch):
    """An array of JAX on the processor claims to lie on a device."""
    x = jnp.arange(16.0).reshape(1, 1, 4, 4)
    monkeypatch.setattr(type(x), "__dlpack_device__", lambda self: (2, 0))
    result = patchfold.unfold(x, 2)
    assert isinstance(result, jax.Array)
    monkeypatch.undo()
    assert np.array_equal(np.asarray(result), patchfold.unfold(np.asarray(x), 2))

# SPDX-License-Identifier: Apache-2.0
"""patchfold.jax on arrays that are sharded over four devices: the batch stays sharded, and every result is right."""

import functools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import patchfold
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
import patchfold.jax as pj  # noqa: E402
from jax.sharding import AxisType, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

# (operator, shape with a batch of 8, arguments) for operators that treat each image of a batch alone.
CALLS: list[tuple[str, tuple[int, ...], dict[str, Any]]] = [
    ("unfold", (8, 3, 7, 6), {"kernel_size": (3, 2), "stride": (2, 1), "padding": [(1, 2), (0, 1)]}),
    ("unfold", (8, 5, 6, 3), {"kernel_size": 2, "layout": "channels_last", "order": "kernel", "positions": "grid"}),
    ("unfold", (8, 2, 5, 4), {"kernel_size": (3, 3), "padding": 1, "padding_mode": "reflect"}),
    ("fold", (8, 12, 20), {"output_size": (5, 6), "kernel_size": 2}),
    ("fold", (8, 12, 20), {"output_size": (5, 6), "kernel_size": 2, "reduce": "mean"}),
    ("reorder", (8, 12, 5), {"kernel_size": (2, 3)}),
    ("copy", (8, 3, 4), {}),
    ("space_to_depth", (8, 3, 4, 6), {"block": (2, 3)}),
    ("depth_to_space", (8, 8, 2, 3), {"block": 2, "mode": "depth_first"}),
]
# Operators that move elements between the images of a batch.
MIXING: list[tuple[str, tuple[int, ...], dict[str, Any]]] = [
    ("space_to_batch", (8, 3, 4, 6), {"block": (2, 3)}),
    ("batch_to_space", (8, 2, 3, 3), {"block": 2}),
]


def mesh(kind: Any = AxisType.Auto, **axes: int) -> Any:
    names = tuple(axes) or ("data",)
    return jax.make_mesh(tuple(axes.values()) or (4,), names, axis_types=(kind,) * len(names))


def pair(name: str, arguments: dict[str, Any]) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    return functools.partial(getattr(pj, name), **arguments), functools.partial(getattr(patchfold, name), **arguments)


def data(shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(sum(shape)).random(shape, np.float32)


def same(got: Any, expected: Any, *spec: Any) -> None:
    """Checks that `got` equals the NumPy array `expected`, and is sharded along its first axes over the mesh axes `spec`."""
    np.testing.assert_array_equal(np.asarray(got), expected, strict=True)
    assert got.sharding.is_equivalent_to(NamedSharding(got.sharding.mesh, P(*spec)), got.ndim), got.sharding


def check_a_sharded_batch_stays_sharded() -> None:
    for kind in (AxisType.Auto, AxisType.Explicit):
        batches = NamedSharding(mesh(kind), P("data"))
        for name, shape, arguments in CALLS:
            ours, neutral = pair(name, arguments)
            x = data(shape)
            given = jax.device_put(x, batches)
            same(ours(given), neutral(x), "data")
            compiled = jax.jit(ours).lower(given).compile()
            same(compiled(given), neutral(x), "data")
            assert "all-gather" not in compiled.as_text(), name
        for name, shape, arguments in MIXING:
            ours, neutral = pair(name, arguments)
            same(jax.jit(ours)(jax.device_put(data(shape), batches)), neutral(data(shape)))


def check_without_shardy() -> None:
    jax.config.update("jax_use_shardy_partitioner", False)
    for name, shape, arguments in CALLS + MIXING:
        ours, neutral = pair(name, arguments)
        x = data(shape)
        given = jax.device_put(x, NamedSharding(mesh(), P("data")))
        np.testing.assert_array_equal(np.asarray(jax.jit(ours)(given)), neutral(x), strict=True)


def check_other_axes_are_gathered() -> None:
    devices = mesh(rows=2, columns=2)
    x = data((4, 2, 8, 6))
    for spec in (P(None, "rows"), P("rows", "columns"), P(None, None, "rows", "columns"), P(("rows", "columns"), None)):
        given = jax.device_put(x, NamedSharding(devices, spec))
        ours = jax.jit(lambda x: pj.unfold(jnp.sin(x), 3, padding=1) + 1)
        np.testing.assert_allclose(ours(given), patchfold.unfold(np.sin(x), 3, padding=1) + 1, rtol=1e-5)
        same(jax.jit(lambda x: pj.unfold(x, 3))(given), patchfold.unfold(x, 3), spec[0])


def check_derivatives_and_vmap() -> None:
    batches = NamedSharding(mesh(), P("data"))
    x = data((8, 3, 6, 6))
    given = jax.device_put(x, batches)
    gradient = jax.jit(jax.grad(lambda x: (pj.unfold(x, 3) ** 2).sum()))(given)
    same(gradient, patchfold.fold(2 * patchfold.unfold(x, 3), (6, 6), 3), "data")
    same(jax.jit(jax.vmap(lambda one: pj.unfold(one, (3, 3))))(given), patchfold.unfold(x, 3), "data")
    whole = jax.jit(lambda x: pj.fold(pj.unfold(x, 3), (6, 6), 3) / pj.coverage((6, 6), 3))(given)
    assert whole.sharding.is_equivalent_to(batches, 4)


def check_cotangents_are_sharded_as_their_array() -> None:
    devices = mesh(AxisType.Explicit)
    for name, shape, arguments in CALLS + MIXING:
        # A mean has no gradient. Padding modes gather with JAX's take, which an explicit mesh refuses along a sharded axis.
        if arguments.get("reduce") == "mean" or "padding_mode" in arguments:
            continue
        ours, _ = pair(name, arguments)
        x = data(shape)
        expected = np.asarray(jax.grad(lambda x: (ours(x) ** 2).sum())(jnp.asarray(x)))  # noqa: B023
        for axis in range(x.ndim):
            if x.shape[axis] % 4:
                continue
            spec = P(*[None] * axis, "data")
            with jax.set_mesh(devices):
                given = jax.device_put(x, NamedSharding(devices, spec))
                gradient = jax.grad(lambda x: (ours(x) ** 2).sum())(given)  # noqa: B023
            np.testing.assert_allclose(np.asarray(gradient), expected, rtol=1e-6)
            assert gradient.sharding.is_equivalent_to(given.sharding, x.ndim), (name, spec)


def check_moves_keep_an_explicitly_sharded_batch() -> None:
    x = data((8, 3, 8, 6))
    blocks = "b c (h p) (w q) -> b (h w) (p q c)"
    for kind in (AxisType.Auto, AxisType.Explicit):
        devices = mesh(kind)
        given = jax.device_put(x, NamedSharding(devices, P("data")))
        for ours in (
            lambda x: patchfold.patchify(x, 2),
            lambda x: patchfold.rearrange(x, blocks, p=2, q=2),
            lambda x: patchfold.unpatchify(patchfold.patchify(x, 2), (8, 6), 2),
        ):
            with jax.set_mesh(devices):
                same(ours(given), ours(x), "data")
                same(jax.jit(ours)(given), ours(x), "data")
    with jax.set_mesh(devices), pytest.raises(Exception, match="out_sharding"):  # JAX's own error
        patchfold.patchify(jax.device_put(x, NamedSharding(devices, P(None, None, "data"))), 2)


def check_shard_map() -> None:
    for kind in (AxisType.Auto, AxisType.Explicit):
        devices = mesh(kind)
        given = jax.device_put(data((8, 3, 6, 6)), NamedSharding(devices, P("data")))
        mapped = jax.shard_map(lambda x: pj.unfold(x, 3), mesh=devices, in_specs=P("data"), out_specs=P("data"))
        same(jax.jit(mapped)(given), patchfold.unfold(data((8, 3, 6, 6)), 3), "data")
        energy = jax.shard_map(
            lambda x: jax.lax.psum((pj.unfold(x, 3) ** 2).sum(), "data"), mesh=devices, in_specs=P("data"), out_specs=P()
        )
        expected = patchfold.fold(2 * patchfold.unfold(data((8, 3, 6, 6)), 3), (6, 6), 3)
        same(jax.jit(jax.grad(energy))(given), expected, "data")


def check_functions_that_need_one_device_say_so() -> None:
    given = jax.device_put(data((8, 3, 6, 6)), NamedSharding(mesh(), P("data")))
    for call, here in (
        (lambda: patchfold.unfold(given, 3), "patchfold.jax.unfold, or "),
        (lambda: patchfold.reconstruct(pj.unfold(given, 3), given.shape, 3), "patchfold.jax.fold, or "),
        (lambda: patchfold.Tiling((6, 6), tile=(3, 3), overlap=0).split(given), ""),
        (lambda: patchfold.gather_patches(given, [(0, 0)], 2), ""),
        (lambda: patchfold.apply_tiled(lambda x: x, given, tile=(3, 3), overlap=0), ""),
    ):
        with pytest.raises(patchfold.InvalidType) as caught:
            call()
        assert "DLPack can hand over" in str(caught.value), caught.value
        assert caught.value.hint == f"a sharded array: {here}numpy.asarray(x)"
    tokens = patchfold.patchify(given, 2)  # JAX's own functions move the elements
    np.testing.assert_array_equal(np.asarray(tokens), patchfold.patchify(data((8, 3, 6, 6)), 2))


@pytest.mark.parametrize("check", [name for name in dir() if name.startswith("check_")])
def test_on_four_devices(check: str) -> None:
    """Runs a check in a new process, since JAX fixes the number of devices when it starts."""
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    program = f"import {Path(__file__).stem} as checks; checks.{check}()"
    subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parent, env=environment, check=True)

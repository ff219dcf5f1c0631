# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.jax: results equal to the neutral operators under every transform, and derivatives."""

import functools
import inspect
import subprocess
import sys
from typing import Any

import numpy as np
import patchfold
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
import patchfold.jax as pj  # noqa: E402
from calls import example  # noqa: E402
from jax.test_util import check_grads  # noqa: E402
from patchfold.jax import _calls  # noqa: E402

RANDOM = np.random.default_rng(18)

# (function, shape of x, arguments) for every operator, both layouts, and pads of every kind.
CALLS: list[tuple[str, tuple[int, ...], dict[str, Any]]] = [
    ("unfold", (2, 3, 7, 6), {"kernel_size": (3, 2), "stride": (2, 1), "padding": [(1, 2), (0, 1)]}),
    ("unfold", (3, 9), {"kernel_size": (4,), "dilation": 2, "padding": "same", "stride": 2}),
    ("unfold", (2, 5, 6, 3), {"kernel_size": 2, "layout": "channels_last", "order": "kernel", "positions": "grid"}),
    ("unfold", (2, 3, 8, 6), {"kernel_size": 2, "stride": 2}),
    ("unfold", (1, 2, 5, 4), {"kernel_size": (3, 2), "padding": -1}),
    ("unfold", (1, 2, 5, 4), {"kernel_size": (2, 3), "padding": 1, "value": 2.5}),
    ("unfold", (2, 2, 5, 4), {"kernel_size": (3, 3), "padding": [(2, 1), (1, 3)], "padding_mode": "reflect"}),
    ("unfold", (2, 5, 4, 2), {"kernel_size": 3, "padding": "same", "padding_mode": "edge", "layout": "channels_last"}),
    ("unfold", (1, 1, 5), {"kernel_size": (2,), "padding": [(7, -1)], "padding_mode": "wrap"}),
    ("unfold", (1, 5, 4), {"kernel_size": (2, 2), "padding": [(3, 2), (0, 0)], "padding_mode": "symmetric"}),
    ("unfold", (2, 3, 3), {"kernel_size": (4,), "allow_empty": True}),
    ("fold", (2, 12, 20), {"output_size": (5, 6), "kernel_size": 2}),
    (
        "fold",
        (2, 4, 2, 18),
        {
            "output_size": (7, 4),
            "kernel_size": (3, 3),
            "stride": 2,
            "padding": 1,
            "positions": "grid",
            "layout": "channels_last",
            "order": "kernel",
        },
    ),
    ("reorder", (2, 12, 5), {"kernel_size": (2, 3)}),
    (
        "reorder",
        (2, 3, 5, 12),
        {"kernel_size": 2, "source": "kernel", "target": "channel", "layout": "channels_last", "positions": "grid"},
    ),
    ("copy", (2, 3, 4), {}),
    ("space_to_batch", (2, 3, 5, 6), {"block": (2, 3), "padding": [(1, 0), (0, 0)]}),
    ("space_to_batch", (2, 6, 6, 3), {"block": 2, "padding": [(-1, -1), (2, 0)], "layout": "channels_last"}),
    ("batch_to_space", (12, 3, 2), {"block": (6,), "crops": [(1, 3)]}),
    ("batch_to_space", (8, 2, 3, 3), {"block": 2, "layout": "channels_last"}),
    ("space_to_depth", (2, 3, 4, 6), {"block": (2, 3)}),
    ("space_to_depth", (4, 6, 3), {"block": (2, 2), "mode": "depth_first", "layout": "channels_last"}),
    ("depth_to_space", (2, 8, 2, 3), {"block": 2, "mode": "depth_first"}),
    ("depth_to_space", (2, 3, 8), {"block": (4,), "layout": "channels_last"}),
]
IDS = [f"{i}-{name}" for i, (name, _, _) in enumerate(CALLS)]
every_call = pytest.mark.parametrize(("name", "shape", "arguments"), CALLS, ids=IDS)


def data(shape: tuple[int, ...], dtype: str = "float32") -> Any:
    if dtype == "bool":
        return RANDOM.random(shape) < 0.5
    if "int" in dtype:
        return RANDOM.integers(0, 100, shape).astype(dtype)
    return (RANDOM.random(shape) - 0.5).astype(jnp.dtype(dtype))


def pair(name: str, arguments: dict[str, Any]) -> tuple[Any, Any]:
    """Returns (function of patchfold.jax, function of patchfold for NumPy)."""
    return functools.partial(getattr(pj, name), **arguments), functools.partial(getattr(patchfold, name), **arguments)


def same(got: Any, expected: Any) -> None:
    assert isinstance(got, jax.Array) and got.dtype == expected.dtype and got.shape == expected.shape
    assert np.asarray(got).tobytes() == np.ascontiguousarray(expected).tobytes()


@every_call
def test_results_are_those_of_the_neutral_operators(name, shape, arguments):
    ours, neutral = pair(name, arguments)
    x = data(shape)
    same(ours(x), neutral(x))
    same(jax.jit(ours)(x), neutral(x))


@every_call
def test_vmap_is_a_loop_over_samples(name, shape, arguments):
    ours, neutral = pair(name, arguments)
    x = data((2, 3, *shape))
    looped = np.stack([np.stack([neutral(one) for one in some]) for some in x])
    same(jax.vmap(jax.vmap(ours))(x), looped)
    moved = np.moveaxis(x[0], 0, -1)
    same(jax.jit(jax.vmap(ours, in_axes=-1))(moved), looped[0])


@every_call
def test_derivatives_of_both_modes_and_orders(name, shape, arguments):
    ours, _ = pair(name, arguments)
    x = data(shape)
    check_grads(ours, (x,), order=2, modes=("fwd", "rev"), atol=2e-2, rtol=2e-2)
    check_grads(jax.vmap(ours), (data((2, *shape)),), order=1, atol=2e-2, rtol=2e-2)


MEANS: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((2, 12, 20), {"output_size": (5, 6), "kernel_size": 2}),
    ((2, 8, 2), {"output_size": (9,), "kernel_size": (4,), "stride": 5, "fill": -3}),
    (
        (2, 3, 2, 18),
        {"output_size": (7, 4), "kernel_size": (3, 3), "stride": 2, "padding": [(1, 0), (1, 1)], "positions": "grid"}
        | {"layout": "channels_last", "order": "kernel"},
    ),
]


@pytest.mark.parametrize(("shape", "arguments"), MEANS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "int32", "bool", "complex64"])
def test_means_are_those_of_the_neutral_operator(shape, arguments, dtype):
    if dtype == "bool":
        arguments = arguments | {"fill": 1}
    ours, neutral = pair("fold", arguments | {"reduce": "mean"})
    x = data(shape, "float32").astype(dtype) if dtype == "complex64" else data(shape, dtype)
    same(ours(x), neutral(x))
    same(jax.jit(ours)(x), neutral(x))
    some = np.stack([x, x[::-1]])
    same(jax.vmap(ours)(some), np.stack([neutral(x) for x in some]))


@pytest.mark.parametrize(("shape", "arguments"), MEANS)
def test_means_have_derivatives_of_forward_mode_only(shape, arguments):
    ours, neutral = pair("fold", arguments | {"reduce": "mean"})
    x = data(shape)
    _, tangent = jax.jvp(ours, (x,), (x,))
    same(tangent, neutral(x, fill=0))
    check_grads(ours, (x,), order=2, modes=("fwd",), atol=2e-2, rtol=2e-2)
    with pytest.raises(patchfold.InvalidValue) as caught:
        jax.grad(lambda x: ours(x).sum())(x)
    assert str(caught.value) == "fold: reduce: has no derivative for a mean; given mean, expected fold(..) / coverage(..)"


def test_a_fill_belongs_to_a_mean():
    with pytest.raises(patchfold.InvalidValue, match="fold: fill: "):
        pj.fold(jnp.ones((1, 4, 4)), (3, 3), 2, fill=1)


def test_arguments_are_those_of_the_neutral_operators():
    for name in pj.__all__:
        if name != "run":
            ours, neutral = (inspect.signature(getattr(module, name)).parameters for module in (pj, patchfold))
            left = {key: each.replace(annotation=None) for key, each in neutral.items()}
            for key in ("out", "accumulate", "columns"):
                left.pop(key, None)
            assert list(left.values()) == [each.replace(annotation=None) for each in ours.values()], name


def test_an_image_smaller_than_a_patch():
    x = jnp.ones((1, 3, 4))
    for ours in (pj.unfold, jax.jit(lambda x, size: pj.unfold(x, size), static_argnums=1)):
        with pytest.raises(patchfold.InvalidValue, match="kernel_size: a patch must fit .* allow_empty=True"):
            ours(x, (5,))
    empty = functools.partial(pj.unfold, kernel_size=(5,), allow_empty=True)
    assert jax.jit(empty)(x).shape == (1, 15, 0)
    same(jax.grad(lambda x: empty(x).sum())(x), np.zeros((1, 3, 4), np.float32))


def test_a_fill_has_no_derivative():
    x = data((2, 5))
    _, tangent = jax.jvp(lambda x: pj.unfold(x, (2,), padding=1, value=2.5), (x,), (x,))
    same(tangent, patchfold.unfold(x, (2,), padding=1))


@every_call
def test_the_gradient_is_the_adjoint(name, shape, arguments):
    """Checks <A x, y> = <x, A' y> with integers in float64, so that both sides are exact."""
    arguments = {key: value for key, value in arguments.items() if key != "value"}
    with jax.enable_x64(True):
        ours, neutral = pair(name, arguments)
        x = RANDOM.integers(-99, 100, shape).astype(np.float64)
        result, back = jax.vjp(ours, x)
        y = RANDOM.integers(-99, 100, result.shape).astype(np.float64)
        assert (neutral(x) * y).sum() == (x * np.asarray(back(y)[0])).sum()


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int32", "float16", "bfloat16", "complex64", "float8_e4m3fn", "float8_e4m3b11fnuz"]
)
def test_element_types(dtype):
    x = data((2, 3, 4, 4), "float32" if dtype == "complex64" else dtype).astype(jnp.dtype(dtype))
    same(pj.unfold(x, 2), np.asarray(patchfold.unfold(x, 2)))
    same(jax.jit(lambda x: pj.space_to_depth(x, 2))(x), np.asarray(patchfold.space_to_depth(x, 2)))
    if not dtype.startswith("float8"):
        columns = patchfold.unfold(x, 2)
        same(pj.fold(columns, (4, 4), 2), np.asarray(patchfold.fold(columns, (4, 4), 2)))
    if dtype in ("float16", "bfloat16"):
        same(jax.grad(lambda x: pj.unfold(x, 2).sum())(x), patchfold.fold(np.ones((2, 12, 9), x.dtype), (4, 4), 2))


def test_x64_decides_about_types_of_64_bits():
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    assert pj.unfold(x, 2).dtype == np.float32
    assert pj.coverage((4,), 2, dtype=np.int64).dtype == np.int32
    with jax.enable_x64(True):
        for dtype in (np.float64, np.int64, np.uint64, np.complex128):
            same(pj.unfold(x.astype(dtype), 2), patchfold.unfold(x.astype(dtype), 2))
            same(pj.fold(x.astype(dtype)[0], (7,), (4,)), patchfold.fold(x.astype(dtype)[0], (7,), (4,)))
            same(pj.coverage((4,), 2, dtype=dtype), patchfold.coverage((4,), 2, dtype=dtype))
        check_grads(lambda x: pj.unfold(x, 3, padding=1), (x,), order=3)


def test_patches_are_those_of_jax():
    x = data((2, 3, 9, 8))
    theirs = jax.lax.conv_general_dilated_patches(x, (3, 2), (2, 1), [(1, 1), (0, 1)], rhs_dilation=(1, 2))
    ours = pj.unfold(x, (3, 2), stride=(2, 1), padding=[(1, 1), (0, 1)], dilation=(1, 2), positions="grid")
    assert np.allclose(theirs, ours, atol=1e-6) and theirs.shape == ours.shape


def test_coverage_under_jit_and_vmap():
    expected = patchfold.coverage((5, 4), 3, padding=1)
    same(pj.coverage((5, 4), 3, padding=1), expected)
    weighted = jax.vmap(lambda x: x * pj.coverage((5, 4), 3, padding=1))
    assert np.array_equal(jax.jit(weighted)(jnp.ones((2, 1, 1))), np.stack([expected] * 2))
    same(pj.run("coverage", None, output_size=(5, 4), kernel_size=3, padding=1), expected)


def test_empty_arrays():
    same(pj.unfold(np.zeros((0, 3, 4, 4), np.float32), 2), np.zeros((0, 12, 9), np.float32))
    same(jax.grad(lambda x: pj.unfold(x, 2).sum())(jnp.ones((0, 3, 4, 4))), np.zeros((0, 3, 4, 4), np.float32))
    same(pj.batch_to_space(np.zeros((2, 1, 1), np.float32), (2,), crops=[(1, 1)]), np.zeros((1, 1, 0), np.float32))


@pytest.mark.parametrize("spec", [spec for spec in patchfold.operators() if spec.data_input], ids=lambda spec: spec.name)
def test_run_takes_every_operator_and_has_its_gradient(spec):
    (x,), arguments = example(spec)
    arguments.pop("accumulate", None)
    x = RANDOM.integers(-9, 10, x.shape).astype(np.float32)
    got, back = jax.vjp(lambda x: pj.run(spec.name, x, **arguments), x)
    same(got, patchfold.run(spec.name, x, **arguments))
    y = RANDOM.integers(-9, 10, got.shape).astype(np.float32)
    zero = patchfold.run(spec.name, np.zeros_like(x), **arguments)
    assert ((np.asarray(got) - zero) * y).sum() == (x * np.asarray(back(y)[0])).sum()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: pj.unfold([[1.0]], 2),
            "unfold: x: must be an array of JAX or NumPy; given [[1.0]] of type list, expected jax.",
        ),
        (lambda: pj.unfold(jnp.ones((3, 4, 4)), 2), "unfold: x: a single number says how many axes are spatial"),
        (lambda: jax.vmap(lambda x: pj.unfold(x, 2))(jnp.ones((2, 3, 4, 4))), "unfold: x: a single number says"),
        (lambda: jax.jit(lambda x: pj.fold(x, (4, 4), 3))(jnp.ones((1, 9, 5))), "fold: x: must have one column for"),
        (
            lambda: pj.unfold(jnp.ones((1, 1, 4, 4)), 2, padding="half"),
            "unfold: padding: must be a rule or numbers; given 'half'",
        ),
        (lambda: pj.unfold(jnp.ones((1, 1, 4, 4), jnp.int4), 2), "unfold: x: must have elements of whole bytes; given int4"),
        (
            lambda: pj.unfold(jax.random.key(0).reshape(1, 1), (1,)),
            "unfold: x: must have elements of whole bytes; given key<",
        ),
        (
            lambda: pj.fold(jnp.ones((1, 4, 4), jnp.float8_e5m2), (3, 3), 2),
            "fold: x: elements must be of a type that can be",
        ),
        (lambda: pj.unfold(jnp.ones((1, 1, 4, 4), jnp.uint8), 2, padding=1, value=300), "unfold: value: "),
        (
            lambda: pj.coverage((4,), 2, dtype="float23"),
            "coverage: dtype: must be an element type of JAX; given 'float23' of type str; did you mean float32?",
        ),
        (
            lambda: pj.run("fold", jnp.ones((1, 4, 9)), output_size=(4, 4), kernel_size=2, accumulate=True),
            "fold: out: is required where accumulate is True",
        ),
        (lambda: pj.run("unfolt", jnp.ones((1, 1, 4, 4))), "unfold"),
    ],
)
def test_wrong_calls(call, words):
    with pytest.raises(patchfold.Error) as caught:
        call()
    assert words in str(caught.value), str(caught.value)


def test_kernel_sizes_cannot_be_traced():
    with pytest.raises(TypeError, match="(?i)trace|concrete"):
        jax.jit(lambda x, k: pj.unfold(x, k))(jnp.ones((1, 1, 4, 4)), 2)


@every_call
def test_the_way_of_other_devices_gives_the_same(name, shape, arguments):
    """Runs on the processor the code for other devices, which copies arrays through the host's memory."""
    ours, neutral = pair(name, arguments)
    x = jnp.asarray(data(shape))
    (equation,) = jax.make_jaxpr(ours)(x).eqns
    same(jax.jit(functools.partial(_calls.on_host, **equation.params))(x), neutral(np.asarray(x)))


def test_a_program_for_the_processor_calls_patchfold():
    text = jax.jit(lambda x: pj.unfold(x, 2)).lower(jnp.ones((1, 1, 4, 4))).as_text()
    assert "@patchfold" in text and "callback" not in text


def test_no_threads_but_those_of_xla():
    """Counts the threads of a new process before and after a call that is large enough to be split."""
    program = """
import os, jax, jax.numpy as jnp, patchfold, patchfold.jax
x = jnp.ones((8, 16, 128, 128))
jax.jit(lambda x: jnp.sin(x) @ jnp.ones((128, 128)))(x).block_until_ready()
patchfold.jax.unfold(jnp.ones((1, 1, 4, 4)), 2).block_until_ready()
before = len(os.listdir("/proc/self/task"))
for _ in range(5):
    patchfold.jax.unfold(x, 3, padding=1).block_until_ready()
assert len(os.listdir("/proc/self/task")) == before, before
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_many_threads_at_once():
    from concurrent.futures import ThreadPoolExecutor

    x = data((4, 8, 64, 64))
    expected = patchfold.unfold(x, 3, padding=1)
    ours = jax.jit(lambda x: pj.unfold(x, 3, padding=1))
    with ThreadPoolExecutor(8) as pool:
        for got in pool.map(lambda _: ours(x), range(40)):
            same(got, expected)

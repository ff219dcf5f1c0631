# SPDX-License-Identifier: Apache-2.0
"""Compares patchfold.copy with NumPy for every layout, rank and element type."""

from typing import Any

import numpy as np
import patchfold
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

DTYPES = ["?", "i1", "<u2", ">u2", "f2", "f4", ">f8", "c8", ">c16", "S5", "U3", "M8[s]", "V7", [("a", "u1"), ("b", ">f8")]]


@st.composite
def layouts(draw: Any) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[bool, ...]]:
    """Draws a shape, the order of the axes in memory, the step along each axis, and whether the axis is reversed."""
    rank = draw(st.integers(0, 7))
    shape = tuple(draw(st.lists(st.integers(0 if draw(st.integers(0, 9)) == 0 else 1, 4), min_size=rank, max_size=rank)))
    order = tuple(draw(st.permutations(range(rank))))
    steps = tuple(draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank)))
    return shape, order, steps, tuple(draw(st.lists(st.booleans(), min_size=rank, max_size=rank)))


def placed(layout: Any, shape: tuple[int, ...], dtype: Any, bytes_of: Any) -> np.ndarray:
    """Returns an array with the shape, the layout and the bytes of `bytes_of`."""
    _, order, steps, backwards = layout
    room = [shape[axis] * steps[axis] for axis in order]
    size = np.dtype(dtype).itemsize * int(np.prod(room, dtype=int))
    memory = bytes_of(size).view(dtype).reshape(room).transpose(np.argsort(order).astype(int))
    places = tuple(slice(None, None, -step if back else step) for step, back in zip(steps, backwards, strict=True))
    view: np.ndarray = memory[(*places, ...)]
    assert view.shape == shape
    return view


def random_bytes(seed: int, dtype: Any) -> Any:
    most = 2 if np.dtype(dtype) == bool else 256
    generator = np.random.default_rng(seed)

    def make(size: int) -> np.ndarray:
        if np.dtype(dtype).kind == "U":
            return generator.integers(0, 0xD800, size // 4, np.uint32).view(np.uint8)
        return generator.integers(0, most, size, np.uint8)

    return make


@settings(max_examples=400, deadline=None)
@given(layouts(), layouts(), st.sampled_from(DTYPES), st.integers(0, 2**32 - 1))
def test_copies_from_any_layout_into_any_layout(one: Any, other: Any, dtype: Any, seed: int) -> None:
    shape = one[0]
    x = placed(one, shape, dtype, random_bytes(seed, dtype))
    expected = np.ascontiguousarray(x).reshape(shape)
    result = patchfold.copy(x)
    assert result.shape == shape and result.dtype == x.dtype and result.flags.c_contiguous
    assert result.tobytes() == expected.tobytes() and not np.shares_memory(result, x)
    if len(other[0]) != len(shape):
        return
    out = placed(other, shape, dtype, lambda size: np.zeros(size, np.uint8))
    assert patchfold.copy(x, out=out) is out
    assert out.tobytes() == expected.tobytes()
    base: Any = out
    while base.base is not None:
        base = base.base
    out[...] = np.zeros((), dtype)
    assert not base.view(np.uint8).any(), "elements beside out were written"


def test_repeated_elements_are_read() -> None:
    x = np.broadcast_to(np.arange(3, dtype=np.int16)[:, None], (2, 3, 5))
    assert 0 in x.strides
    np.testing.assert_array_equal(patchfold.copy(x), x)
    np.testing.assert_array_equal(patchfold.copy(x[:, ::-1, ::-2]), x[:, ::-1, ::-2])


def test_types_of_ml_dtypes_are_copied() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.int4):
        x = np.arange(6).astype(dtype).reshape(2, 3).T
        result = patchfold.copy(x)
        assert result.dtype == dtype and result.tobytes() == np.ascontiguousarray(x).tobytes()


def test_as_many_axes_as_a_tensor_may_have() -> None:
    x = np.arange(4).reshape((2,) + (1,) * 30 + (2,)).T
    np.testing.assert_array_equal(patchfold.copy(x), x)


def test_plans_and_calls_by_name_know_it() -> None:
    x = np.arange(6).reshape(2, 3).T
    np.testing.assert_array_equal(patchfold.run("copy", x), x)
    np.testing.assert_array_equal(patchfold.plan("copy", x)(x), x)
    assert patchfold.output_shape("copy", ()) == ()

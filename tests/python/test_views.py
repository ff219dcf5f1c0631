# SPDX-License-Identifier: Apache-2.0
"""Checks that views equal the operators' results and share the array's memory, and that impossible views are refused.

Tests copy, which copies any layout into any layout.
"""

from typing import Any

import ml_dtypes
import numpy as np
import patchfold
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def reshaped_to(view, like):
    """Returns the elements of the view in the shape of the operator's result."""
    return view.reshape(like.shape)


def variants(x):
    """Returns the elements in arrays of every memory layout, by the layout's name."""
    wide = np.zeros((*x.shape, 2), x.dtype)
    wide[..., 1] = x
    frozen = x.copy()
    frozen.flags.writeable = False
    bytes_off_by_one = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    bytes_off_by_one[...] = x
    return {
        "row-major": x,
        "column-major": np.asfortranarray(x),
        "strided": wide[..., 1],
        "negative strides": x[..., ::-1].copy()[..., ::-1],
        "read-only": frozen,
        "unaligned": bytes_off_by_one,
        "byte-swapped": x.astype(x.dtype.newbyteorder()),
    }


X = np.arange(2 * 3 * 6 * 8, dtype=np.int32).reshape(2, 3, 6, 8)


@pytest.mark.parametrize("kind", variants(X))
@pytest.mark.parametrize("layout", ["channels_first", "channels_last"])
def test_unfold_view_is_unfold_without_a_copy(kind, layout):
    x = variants(X)[kind]
    view = patchfold.unfold_view(x, (2, 3), stride=(2, 1), dilation=(1, 2), layout=layout)
    columns = patchfold.unfold(x, (2, 3), stride=(2, 1), dilation=(1, 2), layout=layout)
    assert view.dtype == x.dtype and np.shares_memory(view, x)
    assert view.shape == ((2, 3, 2, 3, 3, 4) if layout == "channels_first" else (2, 1, 2, 8, 2, 3))
    np.testing.assert_array_equal(reshaped_to(view, columns), columns, strict=True)
    assert not view.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        view[...] = 0


@pytest.mark.parametrize("kind", variants(X))
@pytest.mark.parametrize("layout", ["channels_first", "channels_last"])
@pytest.mark.parametrize("mode", ["blocks_first", "depth_first"])
def test_space_to_depth_view_is_space_to_depth_without_a_copy(kind, layout, mode):
    x = variants(X)[kind]
    block = (3, 2) if layout == "channels_first" else (1, 3)
    view = patchfold.space_to_depth_view(x, block, mode=mode, layout=layout)
    deep = patchfold.space_to_depth(x, block, mode=mode, layout=layout)
    assert view.dtype == x.dtype and np.shares_memory(view, x)
    assert (
        view.shape
        == {
            ("channels_first", "blocks_first"): (2, 3, 2, 3, 2, 4),
            ("channels_first", "depth_first"): (2, 3, 3, 2, 2, 4),
            ("channels_last", "blocks_first"): (2, 3, 2, 1, 3, 8),
            ("channels_last", "depth_first"): (2, 3, 2, 8, 1, 3),
        }[layout, mode]
    )
    np.testing.assert_array_equal(reshaped_to(view, deep), deep, strict=True)
    assert view.flags.writeable == x.flags.writeable


def test_writing_to_a_view_of_blocks_writes_to_the_array():
    x = np.zeros((1, 2, 4, 4), np.int16)
    patchfold.space_to_depth_view(x, 2)[0, 1, 0, 1] = 7
    assert (x[0, 1, 1::2, ::2] == 7).all() and x.sum() == 4 * 7


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_views_of_random_geometry(data):
    rank = data.draw(st.integers(1, 3))
    numbers = st.integers(1, 3)
    kernel, stride = (data.draw(st.lists(numbers, min_size=rank, max_size=rank)) for _ in range(2))
    dilation = data.draw(st.lists(st.integers(0, 2), min_size=rank, max_size=rank))
    more = data.draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank))
    extents = [(k - 1) * d + 1 + m for k, d, m in zip(kernel, dilation, more, strict=True)]
    batch = data.draw(st.lists(st.integers(0, 2), max_size=2))
    layout = data.draw(st.sampled_from(["channels_first", "channels_last"]))
    channels = data.draw(st.integers(0, 3))
    shape = (*batch, channels, *extents) if layout == "channels_first" else (*batch, *extents, channels)
    x = np.arange(np.prod(shape)).reshape(shape)
    view = patchfold.unfold_view(x, kernel, stride=stride, dilation=dilation, layout=layout)
    columns = patchfold.unfold(x, kernel, stride=stride, dilation=dilation, layout=layout)
    np.testing.assert_array_equal(reshaped_to(view, columns), columns, strict=True)

    blocks = [m + 1 for m in more]
    shape = tuple(n * b for n, b in zip(extents, blocks, strict=True))
    shape = (*batch, channels, *shape) if layout == "channels_first" else (*batch, *shape, channels)
    x = np.arange(np.prod(shape)).reshape(shape)
    for mode in ("blocks_first", "depth_first"):
        view = patchfold.space_to_depth_view(x, blocks, mode=mode, layout=layout)
        deep = patchfold.space_to_depth(x, blocks, mode=mode, layout=layout)
        np.testing.assert_array_equal(reshaped_to(view, deep), deep, strict=True)


@pytest.mark.parametrize(
    "dtype",
    [
        "i4,f8",
        "S3",
        "U2",
        "M8[s]",
        "V5",
        "?",
        ">c16",
        np.longdouble,
        ml_dtypes.bfloat16,
        ml_dtypes.float8_e4m3fn,
        object,
    ],
    ids=str,
)
def test_views_keep_any_element_type(dtype):
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        x = np.array([[str(i) for i in range(6)]], dtype=object).reshape(1, 1, 6)
    else:
        raw = np.random.default_rng(1).integers(0, 2, 6 * dtype.itemsize, np.uint8)
        x = raw.view(dtype).reshape(1, 1, 6)
    view = patchfold.unfold_view(x, (3,))
    assert view.dtype == dtype and np.shares_memory(view, x)
    assert view.copy().tobytes() == b"".join(x[0, 0, i : i + 4].tobytes() for i in range(3))
    blocks = patchfold.space_to_depth_view(x, (2,))
    assert blocks.dtype == dtype and np.shares_memory(blocks, x)
    assert blocks.copy().tobytes() == x.reshape(3, 2).T.copy().tobytes()


def test_a_view_of_a_view_of_repeated_elements():
    x = np.broadcast_to(np.arange(6), (1, 2, 6))
    view = patchfold.unfold_view(x, (2,))
    np.testing.assert_array_equal(view.reshape(1, 4, 5), patchfold.unfold(x, (2,)))
    assert np.shares_memory(view, x)


def test_numbers_stand_for_every_axis():
    few = patchfold.unfold_view(X, 2, stride=2, dilation=np.int8(3))
    many = patchfold.unfold_view(X, np.array([2, 2]), stride=[2, 2], dilation=(3, 3))
    assert few.shape == many.shape and few.strides == many.strides
    assert patchfold.space_to_depth_view(X, 2).strides == patchfold.space_to_depth_view(X, (2, 2)).strides


def test_subclasses_become_plain_arrays_of_the_same_memory():
    x = np.arange(6).reshape(1, 6).view(np.matrix)
    view = patchfold.unfold_view(x, (2,))
    assert type(view) is np.ndarray and np.shares_memory(view, x)


@pytest.mark.parametrize("word", [None, "channels_first"])
def test_none_is_the_default_in_views(word):
    x = np.arange(2 * 3 * 4 * 6.0).reshape(2, 3, 4, 6)
    view = patchfold.unfold_view(x, 2, stride=None, dilation=None, layout=word)
    np.testing.assert_array_equal(view, patchfold.unfold_view(x, 2), strict=True)
    blocks = patchfold.space_to_depth_view(x, 2, mode=None, layout=word)
    np.testing.assert_array_equal(blocks, patchfold.space_to_depth_view(x, 2), strict=True)


def test_views_use_what_was_checked():
    class Grows:
        value = 1

        def __index__(self):
            self.value += 1
            return self.value

    view = patchfold.unfold_view(np.zeros((1, 1, 4, 4)), Grows())
    assert view.shape[2:] in {(2, 2, 3, 3), (3, 3, 2, 2), (4, 4, 1, 1)}


@pytest.mark.parametrize("word", ["channels_first\0", "channels_first ", ""])
def test_words_of_views_are_compared_whole(word):
    with pytest.raises(patchfold.InvalidValue, match="layout: must be one of"):
        patchfold.unfold_view(np.zeros((1, 3, 50, 50)), 2, layout=word)


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
    """Returns an array with this shape and layout, in memory that bytes_of(size) makes."""
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

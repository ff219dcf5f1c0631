# SPDX-License-Identifier: Apache-2.0
"""Checks that iter_unfold's chunks join to unfold's columns and are not too large, and that gather_patches gives slices."""

import ml_dtypes
import numpy as np
import patchfold
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def assemble(chunks, shape, dtype):
    """Returns the columns that the chunks give. Fails if chunks overlap or leave elements out."""
    columns = np.zeros(shape, dtype)
    written = np.zeros(shape, int)
    for batch, positions, part in chunks:
        assert part.shape == columns[batch, :, positions].shape
        columns[batch, :, positions] = part
        written[batch, :, positions] += 1
    assert (written == 1).all()
    return columns


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_chunks_are_the_columns_of_unfold(data):
    rank = data.draw(st.integers(1, 3))

    def lists(low, high):
        return data.draw(st.lists(st.integers(low, high), min_size=rank, max_size=rank))

    batch = data.draw(st.lists(st.integers(0, 3), max_size=2))
    channels = data.draw(st.integers(1, 2))
    x = np.arange(np.prod([*batch, channels, *(extents := lists(1, 6))]), dtype=np.int16)
    x = x.reshape(*batch, channels, *extents)
    mode = data.draw(st.sampled_from(["constant", "edge", "reflect", "symmetric", "wrap"]))
    padding = data.draw(
        st.sampled_from(["valid", "same_upper", "same_lower", 1, lists(-1, 3)])
        | st.just(list(zip(lists(-2, 9), lists(-2, 9), strict=True)))
    )
    call = {
        "stride": lists(1, 3),
        "dilation": lists(0, 2),
        "padding": padding,
        "padding_mode": mode,
        "value": 5,
        "order": data.draw(st.sampled_from(["channel", "kernel"])),
        "allow_empty": True,
    }
    kernel = lists(1, 3)
    columns = patchfold.unfold(x, kernel, **call)
    count, (rows, places) = int(np.prod(batch, dtype=int)), columns.shape[-2:]
    most = data.draw(st.integers(1, max(1, count * places + 1)))
    chunks = list(patchfold.iter_unfold(x, kernel, **call, max_bytes=most * rows * 2 + data.draw(st.integers(0, 1))))
    assert all(chunk.columns.nbytes <= most * rows * 2 for chunk in chunks)
    expected = columns.reshape(count, rows, places)
    np.testing.assert_array_equal(assemble(chunks, expected.shape, x.dtype), expected)

    starts = [(chunk.batch.start, chunk.positions.start) for chunk in chunks]
    assert starts == sorted(starts) and len(chunks) >= 1
    if most * rows * 2 >= columns.nbytes:
        assert len(chunks) == 1


def test_whole_images_are_taken_together_where_they_fit():
    x = np.zeros((5, 3, 8, 8), np.float32)
    one_image = patchfold.unfold(x[:1], 3).nbytes
    chunks = list(patchfold.iter_unfold(x, 3, max_bytes=2 * one_image))
    assert [chunk.batch for chunk in chunks] == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert [chunk.positions for chunk in chunks] == [slice(0, 36)] * 3


def test_a_large_image_is_cut_along_its_first_axis():
    x = np.zeros((2, 1, 8, 8), np.float32)
    one_row = patchfold.unfold(x[:1, :, :3], 3).nbytes
    chunks = list(patchfold.iter_unfold(x, 3, max_bytes=4 * one_row + 1))
    assert [(chunk.batch.start, chunk.positions) for chunk in chunks] == [
        (0, slice(0, 24)),
        (0, slice(24, 36)),
        (1, slice(0, 24)),
        (1, slice(24, 36)),
    ]


def test_no_more_than_a_chunk_is_held_at_a_time():
    x = np.broadcast_to(np.float32(1), (1, 1, 10**6, 10**6))  # the columns would take 36 terabytes
    chunks = patchfold.iter_unfold(x, 3, max_bytes=2**20)
    first = next(chunks)
    assert first.batch == slice(0, 1) and first.positions == slice(0, 2**20 // 36)
    assert first.columns.nbytes <= 2**20 and (first.columns == 1).all()


def test_an_image_without_batch_axes_counts_as_one():
    x = np.arange(16.0).reshape(1, 4, 4)
    (chunk,) = patchfold.iter_unfold(x, (2, 2))
    assert chunk.batch == slice(0, 1) and chunk.positions == slice(0, 9)
    np.testing.assert_array_equal(chunk.columns[0], patchfold.unfold(x, (2, 2)))


def test_nothing_is_one_empty_chunk():
    for shape in [(0, 2, 4), (3, 2, 1), (3, 0, 4)]:
        x = np.zeros(shape)
        (chunk,) = patchfold.iter_unfold(x, (2,), allow_empty=True)
        assert chunk.columns.shape == patchfold.unfold(x, (2,), allow_empty=True).shape


def test_arguments_are_checked_by_the_call_and_not_by_the_loop():
    x = np.zeros((1, 2, 4, 4), np.uint8)
    for wrong in [{"kernel_size": 0}, {"kernel_size": 2, "value": -1}, {"kernel_size": 2, "max_bytes": 7}]:
        with pytest.raises(patchfold.InvalidValue, match="^iter_unfold: "):
            patchfold.iter_unfold(x, **wrong)
    with pytest.raises(patchfold.InvalidType, match="^iter_unfold: x: "):
        patchfold.iter_unfold(x.astype(object), 2)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_gathered_patches_are_slices(data):
    rank = data.draw(st.integers(1, 3))
    extents = data.draw(st.lists(st.integers(1, 6), min_size=rank, max_size=rank))
    size = [data.draw(st.integers(1, extent)) for extent in extents]
    leading = data.draw(st.lists(st.integers(0, 3), max_size=2))
    x = np.arange(np.prod([*leading, *extents]), dtype=np.int32).reshape(*leading, *extents)
    x = x[..., ::-1] if data.draw(st.booleans()) else x
    corner = st.tuples(*[st.integers(0, i - s) for i, s in zip(extents, size, strict=True)])
    chosen = data.draw(st.lists(corner, max_size=5))
    kind = data.draw(st.sampled_from([np.int64, np.int32, np.uint8, np.uint64, ">i4"]))
    corners = np.array(chosen, kind).reshape(len(chosen), rank)
    expected = np.zeros((len(chosen), *leading, *size), x.dtype)
    for i, corner in enumerate(chosen):
        expected[i] = x[(..., *[slice(c, c + s) for c, s in zip(corner, size, strict=True)])]
    np.testing.assert_array_equal(patchfold.gather_patches(x, corners, size), expected, strict=True)

    room = np.full((*expected.shape, 2), 99, x.dtype)
    out = room[..., 1]
    assert patchfold.gather_patches(x, corners, tuple(size), out=out) is out
    np.testing.assert_array_equal(out, expected)
    assert (room[..., 0] == 99).all()


@pytest.mark.parametrize("dtype", ["S3", "i4,f8", ">f4", "M8[s]", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2], ids=str)
def test_patches_of_any_element_type(dtype):
    raw = np.random.default_rng(2).integers(0, 2, 20 * np.dtype(dtype).itemsize, np.uint8)
    x = raw.view(dtype).reshape(4, 5)
    result = patchfold.gather_patches(x, [(1, 2), (2, 0)], (2, 3))
    assert result.dtype == x.dtype
    assert result.tobytes() == x[1:3, 2:5].tobytes() + x[2:4, 0:3].tobytes()


def test_many_patches_of_a_large_image_are_shared_between_threads():
    x = np.random.default_rng(3).integers(0, 255, (3, 200, 300), np.uint8)
    corners = np.random.default_rng(4).integers(0, (200 - 32, 300 - 48), (500, 2))
    result = patchfold.gather_patches(x, corners, (32, 48))
    expected = np.stack([x[:, i : i + 32, j : j + 48] for i, j in corners])
    np.testing.assert_array_equal(result, expected, strict=True)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_each_element_of_a_batch_has_its_own_corners(data):
    batch = tuple(data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=2)))
    others = tuple(data.draw(st.lists(st.integers(1, 2), max_size=1)))
    extents = np.array(data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=2)))
    size = np.array([data.draw(st.integers(1, int(extent))) for extent in extents])
    count = data.draw(st.integers(0, 3))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = random.integers(0, 99, (*batch, *others, *extents), np.int16).swapaxes(0, len(batch) - 1)
    batch = x.shape[: len(batch)]
    corners = random.integers(0, extents - size + 1, (*batch, count, len(extents)))
    expected = np.zeros((*batch, count, *others, *size), x.dtype)
    for one in np.ndindex(*batch):
        expected[one] = patchfold.gather_patches(x[one], corners[one], size)
    for lists in (corners, corners[::-1].copy()[::-1], corners.tolist() if corners.size else corners):
        np.testing.assert_array_equal(patchfold.gather_patches(x, lists, size), expected, strict=True)

    room = np.full((*expected.shape, 2), 99, x.dtype)
    patchfold.gather_patches(x, corners, size, out=room[..., 1])
    np.testing.assert_array_equal(room[..., 1], expected)
    assert (room[..., 0] == 99).all()


def test_one_number_is_the_size_on_every_axis():
    x = np.arange(48).reshape(3, 4, 4)
    result = patchfold.gather_patches(x, np.array([[1, 2]]), 2)
    np.testing.assert_array_equal(result, x[None, :, 1:3, 2:4], strict=True)

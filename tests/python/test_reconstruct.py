# SPDX-License-Identifier: Apache-2.0
"""Tests of fold's means, and of reconstruct."""

import numpy as np
import patchfold
import pytest

TYPES = ["?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "f", "d", "F", "D"]

WINDOWS = [
    ((40, 50), {"kernel_size": (3, 3), "padding": 1}),
    ((40, 52), {"kernel_size": (8, 8), "stride": 4}),
    ((35, 47), {"kernel_size": (7, 7), "stride": 4}),
    ((32, 48), {"kernel_size": (8, 16), "stride": (8, 16)}),
    ((300,), {"kernel_size": (16,), "stride": 4}),
    ((9, 10, 11), {"kernel_size": (3, 3, 3), "stride": (1, 2, 1), "padding": [(1, 1), (1, 0), (0, 0)]}),
]


def noise(kind: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Returns elements of random bits, including NaNs."""
    count = int(np.prod(shape)) * np.dtype(kind).itemsize
    return np.random.default_rng(seed).integers(0, 256, count, np.uint8).view(kind).reshape(shape)


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(("extents", "window"), WINDOWS)
def test_unchanged_patches_give_the_image_bit_for_bit(kind, extents, window):
    for layout in ("channels_first", "channels_last"):
        for form in ({}, {"positions": "grid"}, {"order": "kernel"}):
            shape = (2, 3, *extents) if layout == "channels_first" else (2, *extents, 3)
            image, how = noise(kind, shape), {**window, **form, "layout": layout}
            columns = patchfold.unfold(image, **how)
            assert same_bits(patchfold.reconstruct(columns, image.shape, **how), image)
            assert same_bits(patchfold.fold(columns, extents, **how, reduce="mean"), image)


@pytest.mark.parametrize("kind", ["b", "B", "h", "H", "i", "I", "e", "f"])
@pytest.mark.parametrize(("extents", "window"), WINDOWS)
def test_means_are_those_of_float64_rounded_once(kind, extents, window):
    columns = np.abs(noise("h", patchfold.unfold(np.empty((3, *extents)), **window).shape)) % 127
    columns = (columns / 7 if kind in "ef" else columns).astype(kind)
    wide = patchfold.fold(columns.astype(np.float64), extents, **window)
    counts = patchfold.coverage(extents, **window, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        expected = np.where(counts == 0, 9, wide / counts)
    expected = expected.astype(kind) if kind in "ef" else np.rint(expected).astype(kind)
    found = patchfold.fold(columns, extents, **window, reduce="mean", fill=9)
    np.testing.assert_array_equal(found, expected, strict=True)


def test_nans_and_zeros_keep_their_bits_where_all_agree():
    payload = np.uint32(0x7FC01234).view(np.float32)
    image = np.full((1, 6, 6), -0.0, np.float32)
    image[0, 2, 3] = payload
    columns = patchfold.unfold(image, (3, 3), padding=1)
    assert same_bits(patchfold.reconstruct(columns, (1, 6, 6), (3, 3), padding=1), image)
    columns[:, 14] = 1
    mixed = patchfold.reconstruct(columns, (1, 6, 6), (3, 3), padding=1)
    assert mixed[0, 2, 3].view(np.uint32) == 0x7FC00000


def test_int64_means_are_exact():
    columns = np.array([[2**63 - 1, 2**63 - 3], [2**63 - 5, 2**63 - 1]])
    assert patchfold.reconstruct(columns, (1, 3), (2,)).tolist() == [[2**63 - 1, 2**63 - 4, 2**63 - 1]]
    doubles = np.array([[0.0, 0.1, 0.3], [0.2, 0.3, 0.0], [0.3, 0.0, 0.0]])
    assert patchfold.reconstruct(doubles, (1, 5), (3,))[0, 2] == pytest.approx(0.3, abs=0)


def test_fill_and_out():
    image = np.arange(1, 12, dtype=np.int16).reshape(1, 11)
    columns = patchfold.unfold(image, (2,), stride=3)
    found = patchfold.reconstruct(columns, image.shape, (2,), stride=3, fill=-1)
    assert found.tolist() == [[1, 2, -1, 4, 5, -1, 7, 8, -1, 10, 11]]
    nans = patchfold.reconstruct(columns.astype(np.float32), image.shape, (2,), stride=3, fill=np.nan)
    assert np.isnan(nans[0, 2::3]).all() and np.array_equal(nans[0, ::3], image[0, ::3])
    out = np.empty((1, 22), np.int16)[:, ::2]
    assert patchfold.reconstruct(columns, [1, 11], (2,), stride=3, fill=-1, out=out) is out
    assert np.array_equal(out, found)


@pytest.mark.parametrize(("shape", "window", "element", "axis"), [
    ((3, 8, 9), {"kernel_size": (2, 2), "stride": 2}, 8, 1),
    ((3, 9, 8), {"kernel_size": 2, "stride": (2, 2)}, 8, 0),
    ((1, 11), {"kernel_size": (2,), "stride": 3}, 2, 0),
    ((1, 9), {"kernel_size": (2,), "dilation": 3, "stride": 4}, 1, 0),
    ((1, 9), {"kernel_size": (3,), "padding": -1}, 0, 0),
    ((2, 3, 9, 8), {"kernel_size": (4, 4), "stride": 4, "padding": [(0, 0), (2, 2)]}, 8, 0),
])  # fmt: skip
def test_elements_that_no_patch_covers_are_refused_without_a_fill(shape, window, element, axis):
    """Tests elements that no patch covers, which must not silently become 0."""
    image = np.arange(1, 1 + int(np.prod(shape)), dtype=np.int32).reshape(shape)
    columns = patchfold.unfold(image, **window)
    with pytest.raises(patchfold.InvalidValue) as raised:
        patchfold.reconstruct(columns, shape, **window)
    assert str(raised.value) == (
        "reconstruct: columns: must cover every element of the image unless a fill is given; given no patch for "
        f"element {element} of spatial axis {axis}, expected other strides or paddings, or fill=0"
    )
    for fill in (0, -7):
        again = patchfold.reconstruct(columns, shape, **window, fill=fill)
        assert np.array_equal(again, np.where(again == fill, fill, image)) and (again == fill).any()


def test_an_image_without_elements_has_nothing_to_cover():
    assert patchfold.reconstruct(np.zeros((0, 4), np.uint8), (0, 5, 5), (2, 2), stride=3).shape == (0, 5, 5)


def test_numbers_alone_say_how_many_axes_there_are():
    image = np.arange(2 * 3 * 8 * 8, dtype=np.uint8).reshape(2, 3, 8, 8)
    columns = patchfold.unfold(image, 3)
    assert np.array_equal(patchfold.reconstruct(columns, image.shape, 3), image)
    assert np.array_equal(patchfold.reconstruct(columns[0], image.shape[1:], 3), image[0])
    grid = patchfold.unfold(image, 3, positions="grid")
    assert np.array_equal(patchfold.reconstruct(grid, image.shape, 3, positions="grid"), image)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: patchfold.reconstruct(x, (3, 8, 9), (3, 3)),
            "reconstruct: columns: must have one column for each position of the kernel in the padded image; "
            "given 36, expected 42 = product of (6, 7)",
        ),
        (
            lambda x: patchfold.reconstruct(x, (4, 8, 8), (3, 3)),
            "reconstruct: shape: must be the shape of the image that the columns were cut from; "
            "given (4, 8, 8), expected (3, 8, 8)",
        ),
        (
            lambda x: patchfold.reconstruct(x, (8, 8), (3, 3)),
            "reconstruct: shape: must have a channel axis and the spatial axes; given (8, 8), expected rank 3 or more",
        ),
        (
            lambda x: patchfold.reconstruct(x, 8, (3, 3)),
            "reconstruct: shape: must be a list of integers; given 8 of type int",
        ),
        (
            lambda x: patchfold.reconstruct(x[:, None], (27, 1, 36), 1, positions="grid"),
            "reconstruct: shape: a shape of rank 3 is one image of 2 spatial axes or a batch of 1; give a list "
            "to say which; given (27, 1, 36), expected kernel_size=(1, 1) or kernel_size=(1,)",
        ),
        (
            lambda x: patchfold.reconstruct(x.astype(np.uint8), (3, 8, 8), (3, 3), fill=300),
            "reconstruct: fill: ",
        ),
        (
            lambda x: patchfold.reconstruct(x.tolist(), (3, 8, 8), (3, 3)),
            "reconstruct: columns: must be an array",
        ),
        (
            lambda x: patchfold.fold(x, (8, 8), (3, 3), reduce="median"),
            "fold: reduce: must be one of 'sum', 'mean'; given 'median'",
        ),
        (
            lambda x: patchfold.fold(x, (8, 8), (3, 3), fill=1),
            "fold: fill: is for reduce mean: a sum of no elements is 0; given 1, expected 0",
        ),
        (
            lambda x: patchfold.fold(x, (8, 8), (3, 3), reduce="mean", accumulate=True, out=np.zeros((3, 8, 8), "f")),
            "fold: accumulate: does not go with reduce mean: accumulate sums, and divide by the coverage at the end; "
            "given true, expected false",
        ),
        (
            lambda x: patchfold.fold(x.astype("S3"), (8, 8), (3, 3), reduce="mean"),
            "fold: x: ",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(patchfold.Error) as raised:
        call(np.zeros((27, 36), np.float32))
    assert str(raised.value).startswith(message), str(raised.value)


def test_the_adjoint_of_a_mean_is_refused():
    call = "adjoint fold f32 1x4x9 output_size=4,4 kernel_size=2"
    assert patchfold._core.linear_shapes(call) == ((1, 1, 4, 4), (1, 4, 9))
    with pytest.raises(patchfold.InvalidValue, match="fold: reduce: the adjoint is known for sums only"):
        patchfold._core.linear_shapes(call + " reduce=mean")


def test_a_batch_of_none_is_the_batch_of_the_columns():
    image = np.random.default_rng(4).random((2, 3, 7, 9))
    columns = patchfold.unfold(image, 3, stride=2)
    assert np.array_equal(patchfold.reconstruct(columns, (None, 3, 7, 9), 3, stride=2), image)
    with pytest.raises(patchfold.InvalidType, match="shape: must be a list of integers"):
        patchfold.reconstruct(columns, (2, None, 7, 9), 3, stride=2)

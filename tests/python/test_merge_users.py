# SPDX-License-Identifier: Apache-2.0
"""Reported failures of putting tiles together with other libraries, one test for each report."""

import numpy as np
import patchfold
import pytest


def merged(tiling, tiles, **arguments):
    merger = patchfold.Merger(tiling, **arguments)
    for index, tile in enumerate(tiles):
        merger.add(index, tile)
    return merger.finish()


def split_and_merged(x, tile, **arguments):
    merge = {name: arguments.pop(name) for name in ("window", "reduce") if name in arguments}
    tiling = patchfold.Tiling(x.shape, tile, **arguments)
    return merged(tiling, tiling.split(x), **merge)


def test_sklearn_patches_as_large_as_the_image_along_one_axis():
    """scikit-learn's reconstruct_from_patches_2d divides by 128 along an axis with one patch, whose count is 1."""
    image = np.random.default_rng(0).random((128, 256))
    tiling = patchfold.Tiling(image.shape, (128, 128), stride=1)
    assert tiling.grid == (1, 129)
    np.testing.assert_array_equal(merged(tiling, tiling.split(image), window="ones"), image)
    counts = tiling.coverage()
    assert counts[:, 0].tolist() == [1] * 128 and counts[:, 128].tolist() == [128] * 128
    # The mean of different patches divides by the number of patches that cover the element.
    tiles = [np.full((128, 128), float(k)) for k in range(129)]
    y = merged(tiling, tiles, window="ones")
    assert y[0, 0] == 0 and y[5, 1] == 0.5 and y[0, 255] == 128 and y[7, 128] == np.mean(np.arange(1, 129))


def test_torchaudio_first_and_last_tile_are_not_faded_on_the_outer_side():
    """torchaudio's example of source separation fades both ends of every chunk, so the signal begins and ends in silence."""
    signal = np.random.default_rng(0).normal(size=(2, 44_100)).astype(np.float32)
    tiling = patchfold.Tiling(signal.shape, (8192,), overlap=0.1)
    y = merged(tiling, (tile * np.float32(2) for tile in tiling.split(signal)), window="linear")
    np.testing.assert_array_equal(y[:, :7000], signal[:, :7000] * 2)
    np.testing.assert_array_equal(y[:, -7000:], signal[:, -7000:] * 2)


@pytest.mark.parametrize("window", ["hann", "linear", "cosine"])
def test_sd_cpp_blend_is_monotone_and_without_a_step(window):
    """The ramp of stable-diffusion.cpp between two tiles of constant grey had a step in the middle of the overlap."""
    overlap = 16
    tiling = patchfold.Tiling((48, 112), (48, 64), overlap=(0, overlap))
    y = merged(tiling, [np.full((48, 64), grey) for grey in (0.0, 1.0)], window=window)
    assert (y == y[:1]).all()
    steps = np.diff(y[0])
    assert y[0, 0] == 0 and y[0, -1] == 1 and (steps >= 0).all()
    assert steps.max() < 2.6 / overlap  # the linear ramp has steps of 1 / 17; smooth windows are steeper in the middle
    assert steps[:47].max() == 0 and steps[65:].max() == 0
    np.testing.assert_allclose(y[0], 1 - y[0, ::-1], atol=1e-15)


def test_dask_overlap_larger_than_a_chunk_or_the_array():
    """dask's map_overlap fails, or repeats elements, if the depth exceeds a chunk."""
    x = np.arange(10.0)
    for tail in ("pad", "partial"):
        np.testing.assert_array_equal(split_and_merged(x, (64,), overlap=60, tail=tail), x)
    np.testing.assert_array_equal(split_and_merged(x, (4,), overlap=3), x)
    with pytest.raises(patchfold.InvalidValue) as caught:
        patchfold.Tiling((10,), (4,), overlap=4)
    assert str(caught.value) == "tiling: overlap: must be less than the tile on every axis; given 4, expected less than (4,)"
    with pytest.raises(patchfold.InvalidValue) as caught:
        patchfold.Tiling((10,), (64,), overlap=4)
    assert str(caught.value) == (
        "tiling: tile: must not be larger than the array if the last tile is shifted; "
        'given (64,), expected at most 10 along axis 0, or tail="shift_or_pad", tail="pad" or tail="partial"'
    )


@pytest.mark.parametrize("tile", [(7, 9), (16, 16), (33, 20), (100, 120)])
@pytest.mark.parametrize("overlap", [0, 3, 0.5])
def test_rslearn_and_pyramids_any_block_size_gives_the_same_bits(tile, overlap):
    """Blocks of another size gave other pixels at their seams."""
    x = np.random.default_rng(0).normal(size=(2, 100, 120)).astype(np.float32)
    y = patchfold.apply_tiled(lambda part: np.tanh(part) * np.float32(3), x, tile, overlap=overlap, progress=False)
    assert y.tobytes() == (np.tanh(x) * np.float32(3)).tobytes()


def box(part):
    """Returns the convolution of a tile with 5x5 integer weights, padded by zeros."""
    padded = np.pad(part, 2)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5))
    return (windows * np.arange(25).reshape(5, 5)).sum((-2, -1))


@pytest.mark.parametrize("tile", [(12, 12), (16, 13), (40, 9)])
def test_stardist_tiles_that_overlap_by_the_receptive_field_are_the_whole(tile):
    """Checks that `center` takes only exact elements, far from tile borders, if tiles overlap by the receptive field."""
    x = np.random.default_rng(0).integers(-99, 99, (60, 51))
    for tail in ("shift", "partial"):
        y = patchfold.apply_tiled(box, x, tile, overlap=4, reduce="center", tail=tail, progress=False)
        np.testing.assert_array_equal(y, box(x))


def test_stardist_a_margin_of_weight_0_is_cropped():
    """Checks that weights of 0 near the ends of tiles leave out the wrong elements there."""
    x = np.random.default_rng(0).integers(-99, 99, (100,)).astype(np.float64)
    kernel = np.array([1, 2, 3, 2, 1.0])
    ramp = np.array([0, 0, 1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1, 0, 0.0])
    tiling = patchfold.Tiling((96,), (16,), overlap=8)
    merger = patchfold.Merger(tiling, window=[ramp], fill=0)
    for index, tile in enumerate(tiling.split(x[:96])):
        merger.add(index, np.convolve(tile, kernel, "same"))
    y = merger.finish()
    expected = np.convolve(x[:96], kernel, "same")
    np.testing.assert_array_equal(y[2:-2], expected[2:-2])
    assert y[:2].tolist() == y[-2:].tolist() == [0, 0]

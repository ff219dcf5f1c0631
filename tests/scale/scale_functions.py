# SPDX-License-Identifier: Apache-2.0
"""Functions of tiles, in a module that workers of dask can import, and helpers of the tests."""

import os
import time
from pathlib import Path

import numpy as np
import zarr


def blur(tile):
    """Returns the mean of each element and its neighbours, so that overlapping tiles differ near their ends."""
    padded = np.pad(tile, [(0, 0)] * (tile.ndim - 2) + [(1, 1), (1, 1)])
    total = padded[..., :-2, 1:-1] + padded[..., 2:, 1:-1] + padded[..., 1:-1, :-2] + padded[..., 1:-1, 2:]
    return (total * np.float32(0.25)).astype(np.float32)


def classes(tile):
    """Returns a tile at half the size, with other channels and another element type."""
    return np.stack([tile[..., 0, ::2, ::2]] * 5).astype(np.float64)


def scores(tile):
    """Returns scores of five classes at half the size."""
    return np.stack([tile[0, ::2, ::2] * (k + 1) % 7 for k in range(5)]).astype(np.float32)


def twice(tile):
    return tile * 2


def bars(tile):
    """Returns labels: the runs of equal numbers above 0 along the last axis, numbered anew in each tile."""
    begins = (np.diff(tile.astype(int), axis=-1, prepend=0) != 0) & (tile > 0)
    return np.where(tile > 0, begins.cumsum().reshape(tile.shape), 0)


def slow_bars(tile):
    time.sleep(0.02)
    return bars(tile)


def slow_blur(tile):
    time.sleep(0.02)
    return blur(tile)


def deadly(tile):
    os._exit(1)


def load(folder):
    """Returns a model. Each call makes a file in the folder, so that tests can count the calls."""
    (Path(folder) / f"loaded-{os.getpid()}-{time.monotonic_ns()}").touch()
    return blur


def make():
    return blur


def photo(shape=(3, 150, 130), dtype=np.float32):
    return (np.random.default_rng(0).random(shape) * 100).astype(dtype)


def store_of(path, x, chunks=(3, 32, 32), shards=None, **options):
    array = zarr.create_array(path, shape=x.shape, dtype=x.dtype, chunks=chunks, shards=shards, **options)
    array[:] = x
    return array

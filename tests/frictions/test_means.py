# SPDX-License-Identifier: Apache-2.0
"""Tests of photographs that are cut into overlapping patches and put together again."""

from pathlib import Path

import numpy as np
import patchfold


def photograph() -> np.ndarray:
    """Returns a bright photograph in color with 8 bits."""
    rows, columns = np.mgrid[:60, :90]
    return np.stack([255 - rows, 200 + columns % 56, (3 * rows + 2 * columns) % 256]).astype(np.uint8)


def test_sklearns_patches_are_put_together_without_tiles() -> None:
    """Compares with both functions of sklearn, which cut patches of (rows, columns, channels), and average them."""
    photo = photograph().transpose(1, 2, 0)[:20, :24].astype(np.float32)
    patches = np.lib.stride_tricks.sliding_window_view(photo, (8, 8), (0, 1)).reshape(13 * 17, 3, 8, 8)
    columns = patchfold.unfold(photo, (8, 8), layout="channels_last")
    assert np.array_equal(columns.reshape(patches.shape), patches)
    again = patchfold.reconstruct(columns, photo.shape, (8, 8), layout="channels_last")
    assert np.array_equal(again, photo)
    page = Path(__file__).parents[2] / "docs" / "python-tiles.md"
    (row,) = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| sklearn ")]
    assert "`reconstruct(columns, x.shape, size)`" in row and "Merger" not in row

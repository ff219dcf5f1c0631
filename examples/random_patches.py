# SPDX-License-Identifier: Apache-2.0
"""Fills batches of random patches of a volume and of its labels, for training, without a new array for each batch."""

import numpy as np
import patchfold

random = np.random.default_rng(0)
volume = random.standard_normal((2, 64, 96, 80)).astype(np.float32)  # 2 channels
labels = (volume[0] > 0).astype(np.uint8)

size = (16, 16, 16)
batch = np.empty((8, 2, *size), np.float32)
targets = np.empty((8, *size), np.uint8)
for _ in range(10):
    corners = np.stack([random.integers(0, extent - 16 + 1, 8) for extent in labels.shape], axis=1)
    patchfold.gather_patches(volume, corners, size, out=batch)
    patchfold.gather_patches(labels, corners, size, out=targets)
    assert ((batch[:, 0] > 0) == targets).all()
print("10 batches of", batch.shape)

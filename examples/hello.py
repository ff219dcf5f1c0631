# SPDX-License-Identifier: Apache-2.0
"""Cuts an image into patches, puts them back together, and prints an explanation."""

import numpy as np
import patchfold

image = np.arange(2 * 3 * 6 * 8, dtype=np.float32).reshape(2, 3, 6, 8)  # 2 images, 3 channels, 6 x 8 pixels

columns = patchfold.unfold(image, (3, 3), stride=(1, 2), padding=1)
print("columns", columns.shape)  # (2, 27, 24): 3 channels * 3 * 3 taps, 6 * 4 positions

sums = patchfold.fold(columns, (6, 8), (3, 3), stride=(1, 2), padding=1)
counts = patchfold.coverage((6, 8), (3, 3), stride=(1, 2), padding=1)
assert (sums == image * counts).all()

blocks = patchfold.space_to_depth(image, 2)
assert blocks.shape == (2, 12, 3, 4)
assert (patchfold.depth_to_space(blocks, 2) == image).all()

try:
    patchfold.fold(columns, (6, 9), (3, 3), stride=(1, 2), padding=1)
except patchfold.InvalidValue as error:
    print(error)

print(patchfold.explain("unfold", (1, 1, 3, 4), kernel_size=(2, 2)))

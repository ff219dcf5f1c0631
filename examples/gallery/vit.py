# SPDX-License-Identifier: Apache-2.0
"""Makes a vision transformer's tokens from a photograph, hides most of them, and turns the tokens into a picture again.

usage: vit.py [FOLDER]     FOLDER receives gallery-vit.png: the photograph, its tokens, the visible tokens, and the result
"""

import numpy as np
import patchfold
import pictures

SIZE, PATCH = 192, 32
photo = np.moveaxis(pictures.read()[8:392:2, 110:494:2], -1, 0)[None]  # 1 x 3 x 192 x 192, uint8

tokens = patchfold.patchify(photo, (PATCH, PATCH))  # the order of transformers and einops: row, column, channel
assert tokens.shape == (1, 36, PATCH * PATCH * 3)  # 6 x 6 tokens

hidden = np.random.default_rng(3).permutation(36)[: 36 * 3 // 4]
seen = tokens.copy()
seen[:, hidden] = 128
masked = patchfold.unpatchify(seen, (SIZE, SIZE), (PATCH, PATCH))

again = patchfold.unpatchify(tokens, (SIZE, SIZE), (PATCH, PATCH))
assert np.array_equal(again, photo)  # bit for bit
print(f"{tokens.shape[1]} tokens of {tokens.shape[2]} numbers, {len(hidden)} hidden; back again bit for bit")

# Draws each token in a frame: patches of 32 x 32 become blocks of 36 x 36.
framed = np.full((1, 36, 36, 36, 3), 128, np.uint8)
framed[:, :, 2:-2, 2:-2] = tokens.reshape(1, 36, PATCH, PATCH, 3)
grid = patchfold.unpatchify(framed.reshape(1, 36, -1), (216, 216), (36, 36))
room = np.full((1, 3, 216, SIZE), 128, np.uint8)
panels = []
for panel in (photo, masked, again):
    middle = room.copy()
    middle[:, :, 12:-12] = panel
    panels.append(middle)
panels.insert(1, grid)
pictures.write("gallery-vit.png", pictures.beside(*(np.moveaxis(panel[0], 0, -1) for panel in panels)))

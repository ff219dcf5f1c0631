# SPDX-License-Identifier: Apache-2.0
"""Makes a vision transformer's tokens from a photograph, hides most of them, and turns the tokens into a picture again.

usage: vit.py [FOLDER]     FOLDER receives gallery-vit.svg: the photograph, its tokens, those that are seen, and the way back
"""

import numpy as np
import patchfold

import pictures

SIZE, PATCH = 192, 32
photo = pictures.read()[None, :, 8:392:2, 110:494:2]  # 1 x 3 x 192 x 192, uint8

tokens = patchfold.patchify(photo, (PATCH, PATCH))  # the order of transformers and einops: row, column, channel
assert tokens.shape == (1, 36, PATCH * PATCH * 3)  # 6 x 6 tokens

hidden = np.random.default_rng(3).permutation(36)[: 36 * 3 // 4]
seen = tokens.copy()
seen[:, hidden] = 128
masked = patchfold.unpatchify(seen, (SIZE, SIZE), (PATCH, PATCH))

again = patchfold.unpatchify(tokens, (SIZE, SIZE), (PATCH, PATCH))
assert np.array_equal(again, photo)  # bit for bit
print(f"{tokens.shape[1]} tokens of {tokens.shape[2]} numbers, {len(hidden)} hidden; back again bit for bit")

framed = tokens.reshape(36, PATCH, PATCH, 3).copy()  # a grey frame around each token, for the picture
framed[:, [0, -1]] = framed[:, :, [0, -1]] = 128
grid = patchfold.unpatchify(framed.reshape(tokens.shape), (SIZE, SIZE), (PATCH, PATCH))
pictures.write(
    "gallery-vit.svg",
    "A photograph, its 36 tokens, the nine that are not hidden, and the photograph again",
    [
        ("a photograph", "photo", photo[0]),
        ("its 36 tokens", "patchfold.patchify(\nphoto, (32, 32))", grid[0]),
        ("27 of them hidden", "patchfold.unpatchify(\nseen, (192, 192),\n(32, 32))", masked[0]),
        ("all of them put back", "patchfold.unpatchify(\ntokens, (192, 192),\n(32, 32))", again[0]),
    ],
)

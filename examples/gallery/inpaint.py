# SPDX-License-Identifier: Apache-2.0
"""Fills a hole in a video from other frames: soft split, attention between patches, soft composition.

This is a block of video inpainting networks such as FuseFormer, without learned weights. Overlapping patches are tokens.
Each token that touches the hole becomes a mean of similar tokens of all frames, and overlapping tokens are averaged.
torch cuts with nn.Unfold, and averages by nn.Fold of the tokens divided by nn.Fold of nn.Unfold of ones. Here unfold
cuts, and reconstruct averages.

usage: inpaint.py [FOLDER]     FOLDER receives gallery-inpaint.svg: a frame, the frame with the hole, and the hole filled
"""

import numpy as np
import patchfold

import pictures

FRAMES, PATCH, STEP, HOLE = 6, (32, 32), 8, np.s_[36:64, 76:104]  # a hole of 28 x 28 pixels, the size of a TV channel's logo
picture = pictures.read()[:, ::2, ::2].astype(np.float32) / 255
video = np.stack([picture[:, 64:176, 60 + 8 * t : 228 + 8 * t] for t in range(FRAMES)])  # the camera pans; 6 x 3 x 112 x 168

known = np.ones_like(video)
known[(..., *HOLE)] = 0
broken = video * known

# Soft split: every patch of every frame is a token. The same patch of `known` tells which elements of the token are known.
tokens = np.concatenate(list(patchfold.unfold(broken, PATCH, stride=STEP).swapaxes(1, 2)))  # (6 * 11 * 18, 3 * 32 * 32)
sure = np.concatenate(list(patchfold.unfold(known, PATCH, stride=STEP).swapaxes(1, 2)))

# Attention: two tokens are compared in the elements that are known in both. A lost element becomes the mean over the tokens
# in which it is known, weighted by similarity.
lost = np.flatnonzero(sure.min(1) == 0)
query, see = tokens[lost], sure[lost]
distance = (query**2 * see) @ sure.T - 2 * (query * see) @ tokens.T + see @ (tokens**2).T
distance /= see @ sure.T + 1e-6
attention = np.exp(-2000 * np.maximum(distance, 0))
attention[np.arange(len(lost)), lost] = 0  # a token cannot fill its own hole
weight = attention @ sure
assert weight[see == 0].min() > 1e-9  # every element that a token lacks is known in another one
tokens[lost] = np.where(see == 0, (attention @ (tokens * sure)) / np.maximum(weight, 1e-12), query)

# Soft composition: tokens are averaged where they overlap.
soft = tokens.reshape(FRAMES, -1, tokens.shape[1]).swapaxes(1, 2)
result = patchfold.reconstruct(soft, video.shape, PATCH, stride=STEP)
assert np.array_equal(result[known == 1], video[known == 1])

before, after = (pictures.psnr(255 * each[(..., *HOLE)], 255 * video[(..., *HOLE)]) for each in (broken, result))
print(f"{len(tokens)} tokens, {len(lost)} of them touch the hole; in it {before:.1f} dB before, {after:.1f} dB after")
assert after > 25
pictures.write(
    "gallery-inpaint.svg",
    "A frame of a video, the frame with a black hole, and the hole filled",
    [
        ("a frame of a video", "video", 255 * video[2]),
        ("with a hole", "video * known", 255 * broken[2]),
        ("the hole filled", "patchfold.reconstruct(soft,\nvideo.shape, (32, 32),\nstride=8)", 255 * result[2]),
    ],
)

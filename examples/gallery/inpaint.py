# SPDX-License-Identifier: Apache-2.0
"""Fills a hole in a video from other frames: soft split, attention between patches, soft composition.

This is a block of video inpainting networks such as FuseFormer, without learned weights. Overlapping patches are tokens.
Each token that touches the hole becomes a mean of similar tokens of all frames, and overlapping tokens are averaged.
torch cuts with nn.Unfold, and averages by nn.Fold of the tokens divided by nn.Fold of nn.Unfold of ones. Here unfold
cuts, and reconstruct averages.

usage: inpaint.py [FOLDER]     FOLDER receives gallery-inpaint.png: a frame, the frame with the hole, and the hole filled
"""

import numpy as np
import patchfold
import pictures

FRAMES, PATCH, STEP, HOLE = 6, (32, 32), 8, np.s_[36:64, 76:104]  # a hole of 28 x 28 pixels, as large as a channel's logo
picture = np.moveaxis(pictures.read()[::2, ::2], -1, 0).astype(np.float32) / 255
video = np.stack([picture[:, 64:176, 60 + 8 * t : 228 + 8 * t] for t in range(FRAMES)])  # the camera pans; 6 x 3 x 112 x 168

known = np.ones_like(video)
known[(..., *HOLE)] = 0
broken = video * known

# Soft split: every patch of every frame is a token. The same patch of `known` marks the known elements of the token.
tokens = np.concatenate(list(patchfold.unfold(broken, PATCH, stride=STEP).swapaxes(1, 2)))  # (6 * 11 * 18, 3 * 32 * 32)
sure = np.concatenate(list(patchfold.unfold(known, PATCH, stride=STEP).swapaxes(1, 2)))

# Attention: compares two tokens in the elements that are known in both. Each element becomes the mean over the tokens in
# which this element is known.
lost = np.flatnonzero(sure.min(1) == 0)
query, see = tokens[lost], sure[lost]
distance = (query**2 * see) @ sure.T - 2 * (query * see) @ tokens.T + see @ (tokens**2).T
distance /= see @ sure.T + 1e-6
attention = np.exp(-2000 * np.maximum(distance, 0))
attention[np.arange(len(lost)), lost] = 0  # a token cannot fill its own hole
weight = attention @ sure
filled = (attention @ (tokens * sure)) / np.maximum(weight, 1e-12)
tokens[lost] = np.where((see == 0) & (weight > 1e-9), filled, query)
counted = sure.copy()
counted[lost] = np.where(see == 0, weight > 1e-9, 1)

# Soft composition: averages overlapping tokens.
shape = (FRAMES, *video.shape[1:])
back = [part.reshape(FRAMES, -1, part.shape[1]).swapaxes(1, 2) for part in (tokens, counted)]
whole, share = (patchfold.reconstruct(part, shape, PATCH, stride=STEP) for part in back)
result = np.where(known == 1, video, whole / np.maximum(share, 1e-6))

before, after = (pictures.psnr(255 * each[(..., *HOLE)], 255 * video[(..., *HOLE)]) for each in (broken, result))
print(f"{len(tokens)} tokens, {len(lost)} of them touch the hole; in it {before:.1f} dB before, {after:.1f} dB after")
assert after > 25
frame = 2
panels = [np.moveaxis(255 * each[frame], 0, -1) for each in (video, broken, result)]
pictures.write("gallery-inpaint.png", pictures.beside(*panels))

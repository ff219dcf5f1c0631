# SPDX-License-Identifier: Apache-2.0
"""Applies a function that treats each tile differently to a picture in tiles, and puts the results together without seams.

usage: stitch.py [FOLDER]     FOLDER receives gallery-stitch.svg: tiles side by side, and overlapping tiles that are blended
"""

import numpy as np
import numpy.typing as npt
import patchfold

import pictures

photo = pictures.read().astype(np.float32)  # 3 x 400 x 600
TILE = (160, 160)


def model(tile: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Gives every tile the same mean and contrast, like a network's normalisation layers, so neighbouring tiles disagree."""
    mean, spread = tile.mean((1, 2), keepdims=True), tile.std((1, 2), keepdims=True)
    normal: npt.NDArray[np.float32] = (tile - mean) / (spread + 20)
    return 128 + 50 * normal


pasted = patchfold.apply_tiled(model, photo, TILE, overlap=0, tail="partial", progress=False)
blended = patchfold.apply_tiled(model, photo, TILE, overlap=120, progress=False)  # weights fall towards a tile's edges


def seam(picture: npt.NDArray[np.float32]) -> float:
    """Returns the mean step between rows across the edges of tiles, divided by the mean step beside these edges."""
    step = np.abs(np.diff(picture, axis=1)).mean((0, 2))  # from each row to the next
    return float(step[159] / (step[150:158].mean() + step[161:169].mean()) * 2)


print(f"steps across edges, in multiples of those beside them: {seam(pasted):.1f} pasted, {seam(blended):.1f} blended")
assert seam(pasted) > 2 and seam(blended) < 1.2
call = "patchfold.apply_tiled(model,\nphoto, (160, 160),\noverlap={})"
pictures.write(
    "gallery-stitch.svg",
    "A photograph; the result of a model with visible edges between tiles; and the same without edges",
    [
        (title, call, picture[:, 40:360:2, 130:530:2])
        for title, call, picture in (
            ("a photograph", "photo", photo),
            ("tiles side by side", call.format('0, tail="partial"'), pasted),
            ("tiles that overlap and are blended", call.format(120), blended),
        )
    ],
)

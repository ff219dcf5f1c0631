# SPDX-License-Identifier: Apache-2.0
"""Removes noise from a photograph: sets small waves in every patch of 8 x 8 to zero, and averages overlapping patches.

usage: denoise.py [FOLDER]     FOLDER receives gallery-denoise.svg: the photograph, with noise, and without
"""

import numpy as np
import patchfold

import pictures

SIGMA, SIZE, STEP = 25, 8, 2
photo = pictures.read()[:, 96:224, 200:360].astype(np.float32)  # 3 x 128 x 160
noise = np.random.default_rng(0).normal(0, SIGMA, photo.shape).astype(np.float32)
noisy = photo + noise

columns = patchfold.unfold(noisy, (SIZE, SIZE), stride=STEP)  # (3 * 64, 61 * 77): each column is one patch

# The discrete cosine transform of one channel of a patch is an orthogonal matrix of 64 x 64, whose rows are waves.
k, i = np.mgrid[:SIZE, :SIZE]
wave = np.cos(np.pi * k * (i + 0.5) / SIZE) * np.where(k == 0, np.sqrt(1 / SIZE), np.sqrt(2 / SIZE))
waves = np.kron(wave, wave).astype(np.float32)
spectrum = waves @ columns.reshape(3, SIZE * SIZE, -1)
spectrum[np.abs(spectrum) < 2.7 * SIGMA] = 0
cleaned = (waves.T @ spectrum).reshape(columns.shape)

clean = patchfold.reconstruct(cleaned, photo.shape, (SIZE, SIZE), stride=STEP)  # the mean of all patches at each pixel

before, after = pictures.psnr(noisy, photo), pictures.psnr(clean, photo)
print(f"{columns.shape[1]} patches; noisy {before:.1f} dB, clean {after:.1f} dB")
assert after > before + 7
pictures.write(
    "gallery-denoise.svg",
    "A cup of coffee in a photograph, the same with strong noise, and the same without the noise",
    [
        ("a photograph", "photo", photo),
        (f"with noise: {before:.0f} dB", "photo + noise", noisy),
        (f"cleaned: {after:.0f} dB", "patchfold.reconstruct(cleaned,\nphoto.shape, (8, 8),\nstride=2)", clean),
    ],
)

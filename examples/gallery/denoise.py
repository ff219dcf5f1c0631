# SPDX-License-Identifier: Apache-2.0
"""Removes noise from a photograph: sets small waves in every patch of 8 x 8 to zero, and averages overlapping patches.

usage: denoise.py [FOLDER]     FOLDER receives gallery-denoise.png: the photograph, with noise, and without
"""

import numpy as np
import patchfold
import pictures

SIGMA, SIZE, STEP = 25, 8, 2
photo = np.moveaxis(pictures.read()[96:224, 200:360], -1, 0).astype(np.float32)  # 3 x 128 x 160
noisy = photo + np.random.default_rng(0).normal(0, SIGMA, photo.shape).astype(np.float32)

columns = patchfold.unfold(noisy, (SIZE, SIZE), stride=STEP)  # (3 * 64, 61 * 77): each column is one patch

# The discrete cosine transform of a patch of one channel, as an orthogonal matrix of 64 x 64; its rows are waves.
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
pictures.write("gallery-denoise.png", pictures.beside(*(np.moveaxis(panel, 0, -1) for panel in (photo, noisy, clean))))

# SPDX-License-Identifier: Apache-2.0
"""Decodes latents by an autoencoder shaped like those of diffusers, in tiles with seams, blended, and equal to the whole.

usage: decode.py [FOLDER]     FOLDER receives gallery-decode.svg

Needs torch. The weights are random, so the colours mean nothing; attention and norms see the whole plane as in trained ones.
"""

import numpy as np
import patchfold.diffusers
import torch
from torch import nn

import pictures

F = nn.functional


class Residual(nn.Module):
    """GroupNorm, SiLU and a convolution, twice, added to the input."""

    def __init__(self, channels: int, rank: int) -> None:
        super().__init__()
        conv = nn.Conv2d if rank == 2 else nn.Conv3d
        part = [[nn.GroupNorm(4, channels), nn.SiLU(), conv(channels, channels, 3, padding=1)] for _ in range(2)]
        self.parts = nn.Sequential(*part[0], *part[1])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        added: torch.Tensor = x + self.parts(x)
        return added


class Attention(nn.Module):
    """Attention of every place to every place, added to the input."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm, self.qkv = nn.GroupNorm(4, channels), nn.Linear(channels, 3 * channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = self.norm(x).flatten(2).transpose(1, 2)
        made = F.scaled_dot_product_attention(*self.qkv(tokens).chunk(3, -1))
        return x + made.transpose(1, 2).reshape(x.shape)


class Autoencoder(nn.Module):
    """The decoding half: attention at the latents' resolution, then three times twice as large. rank: 3 for videos."""

    def __init__(self, rank: int = 2, channels: int = 16) -> None:
        super().__init__()
        conv = nn.Conv2d if rank == 2 else nn.Conv3d
        layers: list[nn.Module] = [conv(3, channels, 3, padding=1), Residual(channels, rank), Attention(channels)]
        for _ in range(3):
            layers += [Residual(channels, rank), nn.Upsample(scale_factor=(1, 2, 2)[3 - rank :])]
            layers += [conv(channels, channels, 3, padding=1)]
        layers += [Residual(channels, rank), nn.GroupNorm(4, channels), nn.SiLU(), conv(channels, 3, 3, padding=1)]
        self.decoder, self.spatial_compression_ratio = nn.Sequential(*layers), 8

    def decode(self, z: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = self.decoder(z)
        return made


torch.manual_seed(0)
vae = Autoencoder().eval().requires_grad_(False)
photo = torch.from_numpy(pictures.read().astype(np.float32))[None] / 64 - 2
z = F.avg_pool2d(photo, 8)  # 1 x 3 x 50 x 75 latents
whole = vae.decode(z).numpy()  # 1 x 3 x 400 x 600 pixels
pasted = patchfold.diffusers.decode(vae, z, 16, overlap=0).numpy()
blended = patchfold.diffusers.decode(vae, z, 16, overlap=8).numpy()
exact = patchfold.diffusers.decode(vae, z, 32, overlap="exact").numpy()

errors = [float(np.abs(each - whole).max() / whole.std()) for each in (pasted, blended, exact)]
print("largest difference to the whole, in deviations: {:.2f} pasted, {:.2f} blended, {:.0e} exact".format(*errors))
assert errors[0] > 0.5 and errors[1] > 0.2 and errors[2] < 1e-3

video = Autoencoder(3, 8).eval().requires_grad_(False)
frames = torch.stack([z[..., :20, shift : shift + 24] for shift in range(3)], 2)  # 1 x 3 x 3 x 20 x 24: three frames
difference = patchfold.diffusers.decode(video, frames, 16, overlap="exact") - video.decode(frames)
print(f"a video: {float(difference.abs().max()):.0e}")
assert float(difference.abs().max()) < 1e-3

call = "patchfold.diffusers.decode(\nvae, z, {}, overlap={})"
center, scale = whole.mean((2, 3))[0, :, None, None], whole.std((2, 3))[0, :, None, None]
pictures.write(
    "gallery-decode.svg",
    "A picture with edges between tiles; the same with blended tiles of other contrast; and the same as the whole picture",
    [
        (title, shown, (128 + 50 * (picture[0] - center) / scale)[:, 40:360:2, 130:530:2])
        for title, shown, picture in (
            ("tiles side by side", call.format(16, 0), pasted),
            ("tiles that are blended", call.format(16, 8), blended),
            ("tiles that give the whole", call.format(32, '"exact"'), exact),
        )
    ],
)

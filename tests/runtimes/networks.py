# SPDX-License-Identifier: Apache-2.0
"""Two small networks of torch, with seeded weights, that use unfold, fold and pixel shuffles."""

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F


class SoftSplit(nn.Module):
    """Attention between overlapping patches, as in networks for video inpainting: unfold cuts features into patches (soft
    split), and fold adds them up again (soft composition)."""

    def __init__(self, channels: int = 32, width: int = 64, size: tuple[int, int] = (60, 108)):
        super().__init__()
        self.size, self.kernel, self.stride, self.padding = size, (7, 7), (3, 3), (3, 3)
        depth = channels * 49
        self.encode = nn.Conv2d(3, channels, 3, padding=1)
        self.embed, self.restore = nn.Linear(depth, width), nn.Linear(width, depth)
        self.norm = nn.LayerNorm(width)
        self.attend = nn.MultiheadAttention(width, 4, batch_first=True)
        self.decode = nn.Conv2d(channels, 3, 3, padding=1)

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        features = self.encode(frames)
        patches = F.unfold(features, self.kernel, stride=self.stride, padding=self.padding).transpose(1, 2)
        tokens = self.embed(patches)
        normed = self.norm(tokens)
        tokens = tokens + self.attend(normed, normed, normed, need_weights=False)[0]
        columns = self.restore(tokens).transpose(1, 2)
        composed = F.fold(columns, self.size, self.kernel, stride=self.stride, padding=self.padding)
        return torch.tanh(self.decode(features + composed))


class SuperResolution(nn.Module):
    """A network that upscales by 4 with pixel shuffles."""

    def __init__(self, channels: int = 32):
        super().__init__()
        self.first = nn.Conv2d(3, channels, 5, padding=2)
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU(), nn.Conv2d(channels, channels, 3, padding=1)
        )
        self.last = nn.Conv2d(channels, 3 * 16, 3, padding=1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        features = torch.relu(self.first(image))
        return F.pixel_shuffle(self.last(features + self.body(features)), 4)


def _seeded(make: Callable[[], nn.Module], shape: tuple[int, ...]) -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(20)
    return make().eval(), torch.rand(shape)


NETWORKS = {
    "soft split and soft composition": lambda: _seeded(SoftSplit, (2, 3, 60, 108)),
    "super-resolution": lambda: _seeded(SuperResolution, (1, 3, 180, 320)),
}

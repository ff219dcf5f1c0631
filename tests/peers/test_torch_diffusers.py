# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.diffusers on small autoencoders with random weights."""

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
from patchfold import InvalidType, InvalidValue, diffusers  # noqa: E402
from torch import nn  # noqa: E402

F = nn.functional


class Distribution:
    def __init__(self, parameters):
        self.parameters = parameters
        self.mean, self.logvar = parameters.chunk(2, 1)


class Residual(nn.Module):
    def __init__(self, conv, channels, groups):
        super().__init__()
        self.norms = nn.ModuleList(nn.GroupNorm(groups, channels) if groups else nn.Identity() for _ in range(2))
        self.convs = nn.ModuleList(conv(channels, channels, 3, padding=1) for _ in range(2))

    def forward(self, x):
        y = x
        for norm, conv in zip(self.norms, self.convs, strict=True):
            y = conv(F.silu(norm(y)))
        return x + y


class Autoencoder(nn.Module):
    """A module with the methods of AutoencoderKL: 4 pixels for a latent."""

    def __init__(self, rank=2, groups=0):
        super().__init__()
        conv = nn.Conv2d if rank == 2 else nn.Conv3d
        self.config, self.use_tiling = SimpleNamespace(block_out_channels=(8, 8, 8)), False
        scale = (2, 2) if rank == 2 else (1, 2, 2)
        self.decoder = nn.Sequential(
            conv(4, 8, 3, padding=1), Residual(conv, 8, groups), nn.Upsample(scale_factor=scale),
            Residual(conv, 8, groups), nn.Upsample(scale_factor=scale), conv(8, 8, 3, padding=1), Residual(conv, 8, groups),
            nn.GroupNorm(2, 8) if groups else nn.Identity(), nn.SiLU(), conv(8, 3, 3, padding=1),
        )  # fmt: skip
        self.encoder = nn.Sequential(
            conv(3, 8, 3, padding=1), conv(8, 8, 3, stride=scale, padding=1), Residual(conv, 8, groups),
            conv(8, 8, 3, stride=scale, padding=1),
        )  # fmt: skip

    def decode(self, z):
        return SimpleNamespace(sample=self.decoder(z))

    def encode(self, x):
        return SimpleNamespace(latent_dist=Distribution(self.encoder(x)))


def made(**settings):
    torch.manual_seed(0)
    return Autoencoder(**settings).eval().double()


@pytest.fixture(autouse=True)
def no_gradients():
    with torch.no_grad():
        yield


@pytest.mark.parametrize("groups", [0, 2])
@pytest.mark.parametrize(("rank", "shape"), [(2, (2, 4, 40, 35)), (3, (1, 4, 3, 40, 35))])
def test_exact_tiles_decode_the_whole_picture(rank, shape, groups):
    vae, z = made(rank=rank, groups=groups), torch.rand(shape, dtype=torch.float64)
    want = vae.decode(z).sample
    torch.testing.assert_close(diffusers.decode(vae, z, 24, overlap="exact"), want, rtol=1e-12, atol=1e-12)
    x = torch.rand(*shape[:1], 3, *shape[2:-2], 160, 140, dtype=torch.float64)
    found = diffusers.encode(vae, x, (24, 20), overlap="exact")
    assert isinstance(found, Distribution) and found.mean.shape == z.shape
    torch.testing.assert_close(found.parameters, vae.encode(x).latent_dist.parameters, rtol=1e-12, atol=1e-12)


def test_an_overlap_as_large_as_the_halo_leaves_no_seam_but_in_the_blend():
    vae, z = made(), torch.rand(1, 4, 40, 35, dtype=torch.float64)
    want = vae.decode(z).sample
    near = [(diffusers.decode(vae, z, 16, overlap=overlap) - want).abs().max().item() for overlap in (0, 4, 12)]
    assert near[0] > near[1] > near[2]
    assert torch.equal(diffusers.decode(vae, z, 64), want)
    same = Autoencoder()
    same.decode = lambda z: F.interpolate(z, scale_factor=4)
    z = torch.rand(1, 4, 40, 35)
    for tile, overlap in ((16, 5), ((16, 12), (15, 0)), (8, 7)):
        torch.testing.assert_close(diffusers.decode(same, z, tile, overlap=overlap), same.decode(z), rtol=1e-6, atol=1e-6)
    half = diffusers.decode(same, z.half(), 16, overlap=4)
    assert half.dtype == torch.float16 and half.shape == (1, 4, 160, 140)


def test_modules_that_see_the_whole_plane_are_named():
    vae = made()
    vae.decode = lambda z: z.cumsum(2).cumsum(3)
    with pytest.raises(InvalidValue, match=r"overlap: cannot be exact: .*node cumsum.*sums up the axis"):
        diffusers.decode(vae, torch.rand(1, 4, 40, 35, dtype=torch.float64), 24, overlap="exact", scale=1)


def test_wrong_calls_say_what_to_do():
    vae, z = made(), torch.rand(1, 4, 40, 35, dtype=torch.float64)
    for call, error, text in (
        (lambda: diffusers.decode(vae, z, 16, overlap=0.25), InvalidType, "overlap: must be numbers of latents"),
        (lambda: diffusers.decode(vae, z, 16, overlap=16), InvalidValue, "overlap: .*less than the tile"),
        (lambda: diffusers.decode(vae, z, (16, 16, 16, 16)), InvalidType, "tile: must be numbers of latents"),
        (lambda: diffusers.decode(vae, z, scale=8), InvalidValue, "scale: must return 8 pixels"),
        (lambda: diffusers.decode(nn.Identity(), z), InvalidType, "must have a method decode"),
        (lambda: diffusers.decode(vae, z[0]), InvalidType, "latents: must be a tensor"),
        (lambda: diffusers.encode(vae, torch.rand(1, 3, 30, 41, dtype=torch.float64)), InvalidValue, "multiples of 4"),
    ):
        with pytest.raises(error, match=text):
            call()
    vae.use_tiling = True
    with pytest.raises(InvalidValue, match="disable_tiling"):
        diffusers.decode(vae, z)

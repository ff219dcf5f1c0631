# SPDX-License-Identifier: Apache-2.0
"""Tests of split_for_tiles for torch modules: tiles give the result for the whole tensor, or the error says why not."""

import pytest

torch = pytest.importorskip("torch")
from patchfold.models import ModelError, split_for_tiles  # noqa: E402
from torch import nn  # noqa: E402

F = nn.functional


def conv(a, b, stride=1, rank=2):
    return (nn.Conv2d if rank == 2 else nn.Conv3d)(a, b, 3, stride=stride, padding=1)


class Block(nn.Module):
    """Norm, activation in place, convolution, and the input added."""

    def __init__(self, channels, norm=None, rank=2):
        super().__init__()
        self.norm = nn.GroupNorm(2, channels) if norm is None else norm
        self.conv, self.act = conv(channels, channels, rank=rank), nn.SiLU(inplace=True)

    def forward(self, x):
        return x + self.conv(self.act(self.norm(x)))


class Attention(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm, self.qkv = nn.GroupNorm(2, channels), nn.Linear(channels, 3 * channels)

    def forward(self, x):
        tokens = self.norm(x).flatten(2).transpose(1, 2)
        made = F.scaled_dot_product_attention(*self.qkv(tokens).chunk(3, -1))
        return x + made.transpose(1, 2).reshape(x.shape)


class Chain(nn.Module):
    """A module of a function of its parts."""

    def __init__(self, run, *parts):
        super().__init__()
        self.run, self.parts = run, nn.ModuleList(parts)

    def forward(self, *inputs):
        return self.run(*self.parts, *inputs)


def decoder(rank=2):
    up = (2, 2) if rank == 2 else (1, 2, 2)
    middle = [Attention(4)] if rank == 2 else [Block(4, rank=3)]
    return nn.Sequential(
        conv(4, 4, rank=rank), *middle, nn.Upsample(scale_factor=up), Block(4, rank=rank), nn.Upsample(scale_factor=up),
        Block(4, nn.InstanceNorm2d(4, affine=True) if rank == 2 else None, rank), conv(4, 3, rank=rank),
    )  # fmt: skip


def encoder():
    return nn.Sequential(conv(3, 4), Block(4), conv(4, 4, 2), Block(4), conv(4, 4, 2), Attention(4), conv(4, 8))


def unet():
    """A U-Net whose middle is attention, with an embedding of a second input, and two outputs."""

    def run(first, block, down, middle, last, embed, x, time):
        high = block(first(x))
        low = middle(down(high)) + embed(time)[:, :, None, None]
        both = torch.cat([F.interpolate(low, scale_factor=2.0), high], 1)
        return last(both), low

    return Chain(run, conv(3, 4), Block(4), conv(4, 4, 2), Attention(4), Block(8), nn.Linear(5, 4))


def squeezed():
    """A squeeze-and-excitation block: a factor for each channel from the mean over the plane."""

    def run(first, second, x):
        y = first(x)
        return F.relu(y) * torch.sigmoid(second(y.mean((2, 3), keepdim=True)))

    return Chain(run, conv(3, 4), nn.Conv2d(4, 4, 1))


MODELS = {
    "decoder": (decoder, [(1, 4, 21, 34)], 20),
    "decoder of volumes": (lambda: decoder(3), [(1, 4, 5, 20, 16)], (5, 12, 12)),
    "encoder": (encoder, [(2, 3, 48, 72)], 32),
    "U-Net with two inputs and outputs": (unet, [(2, 3, 40, 48), (2, 5)], 20),
    "squeeze and excitation": (squeezed, [(1, 3, 30, 40)], 16),
    "norms only": (lambda: nn.Sequential(Block(4), Block(4), nn.InstanceNorm2d(4)), [(2, 4, 33, 25)], 12),
}


def made(model, shapes):
    torch.manual_seed(0)
    module = model().eval().double()
    for each in module.parameters():
        nn.init.normal_(each, 0.1, 0.5)
    return module, [torch.rand(shape, dtype=torch.float64) * 3 + 1 for shape in shapes]


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_parts_give_the_whole_result(name, keep):
    model, shapes, tile = MODELS[name]
    module, inputs = made(model, shapes)
    with torch.no_grad():
        want = module(*inputs)
    small = [tuple(min(n, 32) if axis > 1 else n for axis, n in enumerate(shape)) for shape in shapes]
    split = split_for_tiles(module, small, keep=keep)
    if name == "squeeze and excitation":
        assert any("mean" in part.nodes for part in split.parts if part.whole)
    for size in (tile, None):
        torch.testing.assert_close(split(*inputs, tile=size), want, rtol=1e-11, atol=1e-11)


def test_statistics_do_not_depend_on_the_tiles_beyond_rounding():
    module, (x,) = made(lambda: nn.Sequential(conv(3, 4), Block(4), conv(4, 3)), [(1, 3, 60, 50)])
    x = x + 1000  # a mean that is large beside the deviation
    split = split_for_tiles(module, [(1, 3, 32, 32)])
    found = [split(x, tile=tile) for tile in (8, 20, (13, 50), None)]
    with torch.no_grad():
        torch.testing.assert_close(found, [module(x)] * 4, rtol=1e-9, atol=1e-9)
    single = split_for_tiles(module.float(), [(1, 3, 32, 32)])
    one, other = (single(x.float(), tile=tile) for tile in (8, None))
    torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-4)


def test_low_resolution_runs_whole_and_the_rest_in_tiles():
    split = split_for_tiles(decoder().eval(), [(1, 4, 32, 32)])
    assert [part.whole for part in split.parts] == [True, False, False, False]
    assert [len(part.sums) for part in split.parts] == [0, 1, 1, 0]
    assert "scaled_dot_product_attention" in split.parts[0].nodes
    assert "in tiles: " in str(split) and "the statistics of group_norm_1" in str(split)
    head = split_for_tiles(encoder().eval(), [(1, 3, 32, 32)])
    assert not head.parts[0].whole and any(part.whole for part in head.parts)


def moved(x):
    return torch.roll(x, 5, 2)


def cropped(x):
    half = x.shape[2] // 2
    return F.pad(x[:, :, :half], (0, 0, 0, x.shape[2] - half))


def shifted(x):
    return F.pad(F.pad(x[:, :, 3:-2], (0, 0, 3, 2), mode="reflect")[:, :, :-1], (0, 0, 1, 0))


PLACES = {
    "rolled": moved, "cropped and padded": cropped, "shifted": shifted, "flipped": lambda x: x.flip(2),
    "first row": lambda x: x + x[:, :, :1], "counted": lambda x: x / x.shape[2],
    "ramp": lambda x: x * torch.arange(x.shape[2], dtype=x.dtype)[:, None],
    "stretched": lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=True),
    "mean by hand": lambda x: x - x.sum((2, 3), keepdim=True) / (x.shape[2] * x.shape[3]),
    "sorted": lambda x: x.sort(2)[0], "transposed": lambda x: x + x.sum(3, keepdim=True).transpose(2, 3),
    "square of tokens": lambda x: x.flatten(2).cumsum(2).reshape(x.shape),
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_what_depends_on_the_place_never_runs_in_tiles(name):
    def run(first, last, x):
        return last(PLACES[name](first(x)))

    module, (x,) = made(lambda: Chain(run, conv(3, 4), conv(4, 3)), [(1, 3, 64, 40 if name != "transposed" else 64)])
    try:
        split = split_for_tiles(module, [(1, 3, 32, 32 if name == "transposed" else 64)])
    except ModelError as error:
        assert "no part can run in tiles" in str(error) or "must be open by themselves" in str(error)
        return
    with torch.no_grad():
        torch.testing.assert_close(split(x, tile=20), module(x), rtol=1e-11, atol=1e-11)


def test_models_without_a_local_part_are_refused_by_name():
    class Tokens(nn.Module):
        def __init__(self):
            super().__init__()
            self.cut, self.attention = nn.Conv2d(3, 8, 8, 8), Attention(8)

        def forward(self, x):
            return self.attention(self.cut(x)).mean((2, 3))

    with pytest.raises(ModelError, match="no part can run in tiles: .*node cumsum.*sums up the axis"):
        split_for_tiles(Chain(lambda x: x.cumsum(2).cumsum(3)).eval(), [(1, 4, 32, 32)])
    split = split_for_tiles(Tokens().eval(), [(1, 3, 64, 64)])
    assert [part.whole for part in split.parts] == [False, True]
    fixed = Chain(lambda a, x: a(x).reshape(1, 4, 32, 32), conv(3, 4))
    with pytest.raises(ModelError, match="extents of the tiled axes must be open"):
        split_for_tiles(fixed.eval(), [(1, 3, 32, 32)])


def test_wrong_calls_say_what_is_needed():
    module = nn.Sequential(conv(3, 4), nn.GroupNorm(2, 4), conv(4, 3)).eval()
    split, x = split_for_tiles(module, [(1, 3, 32, 32)]), torch.rand(1, 3, 40, 40)
    for call, text in (
        (lambda: split(x, tile=2), "tile: must be at least 3: margins of 1 and the alignment of 1"),
        (lambda: split(x, tile=(8, 8, 8)), "tile: must be an integer for each of 2 tiled axes"),
        (lambda: split(x[:, :2]), r"must have the shape \(1, 3, 40, 40\); given \(1, 2, 40, 40\)"),
        (lambda: split(x, x), "must be 1 tensors; given 2"),
        (lambda: split_for_tiles(module, [(1, 3, 32, 32)], axes=(7,)), "axes: must be different axes"),
        (lambda: split_for_tiles(module), "input_shapes: must be given"),
        (lambda: split_for_tiles(nn.BatchNorm2d(3).train(), [(2, 3, 32, 32)]), "call eval"),
    ):
        with pytest.raises(ModelError, match=text):
            call()

# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.models.halo on programs of torch.export: what the graph says equals what patchfold measures."""

from fractions import Fraction

import numpy as np
import patchfold
import pytest

torch = pytest.importorskip("torch")
from patchfold.models import ModelError, halo  # noqa: E402
from torch import nn  # noqa: E402

F = nn.functional


class Call(nn.Module):
    """A module that calls a function."""

    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x):
        return self.fn(x)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.inner = nn.Conv1d(2, 4, 3, padding=1), nn.Conv1d(4, 4, 3, padding="same")
        self.up, self.last = nn.ConvTranspose1d(4, 4, 2, stride=2), nn.Conv1d(8, 2, 3, padding=1)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        a = F.relu(self.norm(self.first(x)))
        b = self.up(F.silu(self.inner(F.max_pool1d(a, 2))))
        return self.last(torch.cat([a, b], 1))


class Windows(nn.Module):
    """Attention in windows of 8 elements."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.norm = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4), nn.LayerNorm(4)

    def forward(self, x):
        tokens = self.norm(x.transpose(1, 2)).reshape(x.shape[0], -1, 8, 4)
        made = F.scaled_dot_product_attention(self.q(tokens), self.k(tokens), self.v(tokens))
        return x + made.reshape(x.shape[0], -1, 4).transpose(1, 2)


def of(fn):
    return lambda: Call(fn)


ONE = Fraction(1)
MODELS = {
    "UNet": (UNet, 2, (5, 5, 2, ONE)),
    "windows of attention": (Windows, 4, (7, 7, 8, ONE)),
    "stride and dilation": (lambda: nn.Conv1d(2, 3, 5, stride=2, padding=3, dilation=2), 2, (3, 5, 2, Fraction(1, 2))),
    "groups": (lambda: nn.Conv1d(4, 4, 3, groups=4, padding=1), 4, (1, 1, 1, ONE)),
    "replicate": (lambda: nn.Conv1d(2, 3, 3, padding=1, padding_mode="replicate"), 2, (1, 1, 1, ONE)),
    "reflect": (lambda: nn.Conv1d(2, 3, 3, padding=1, padding_mode="reflect"), 2, (1, 1, 1, ONE)),
    "average": (lambda: nn.AvgPool1d(3, 3), 2, (0, 2, 3, Fraction(1, 3))),
    "transposed": (lambda: nn.ConvTranspose1d(2, 3, 4, stride=2, padding=1), 2, (1, 1, 1, Fraction(2))),
    "nearest": (of(lambda x: F.interpolate(x, scale_factor=2)), 2, (0, 0, 1, Fraction(2))),
    "linear": (of(lambda x: F.interpolate(x, scale_factor=2, mode="linear")), 2, (1, 1, 1, Fraction(2))),
    "group norm": (lambda: nn.GroupNorm(2, 4), 4, None),
    "instance norm": (lambda: nn.InstanceNorm1d(2), 2, None),
    "global pool": (of(lambda x: x * F.adaptive_avg_pool1d(x, 1)), 2, None),
    "mean": (of(lambda x: x - x.mean(-1, keepdim=True)), 2, None),
    "mean of channels": (of(lambda x: x.mean(1)), 2, (0, 0, 1, ONE)),
    "softmax of channels": (of(lambda x: x.softmax(1)), 2, (0, 0, 1, ONE)),
    "roll": (of(lambda x: x.roll(3, -1)), 2, None),
    "circular": (lambda: nn.Conv1d(2, 3, 3, padding=1, padding_mode="circular"), 2, None),
    "recurrent": (of(lambda x: torch.cumsum(x, -1)), 2, None),
    "slopes of channels": (lambda: nn.PReLU(2), 2, (0, 0, 1, ONE)),
    "einsum": (of(lambda x: torch.einsum("bcl,bdl->bcdl", x, x)), 2, (0, 0, 1, ONE)),
    "number": (of(lambda x: x * x.abs().max().item()), 2, None),
    "vectors of one length": (of(lambda x: F.normalize(x, dim=1)), 2, (0, 0, 1, ONE)),
    "gates": (of(lambda x: F.glu(x, 1) * torch.ones_like(x[:, :1])), 4, (0, 0, 1, ONE)),
    "larger of two": (of(lambda x: torch.maximum(x, x[:, :1]) + torch.max(x, x.relu())), 2, (0, 0, 1, ONE)),
}


@pytest.mark.parametrize("name", MODELS)
def test_program_says_what_is_measured(name):
    make, channels, expected = MODELS[name]
    torch.manual_seed(0)
    net, shape = make().eval(), (1, channels, 48)
    (each,) = [each for each in halo(torch.export.export(net, (torch.rand(shape),))).halos if each.axis == 2]
    if expected is None:
        assert each.before is None and each.unbounded_by, each
    else:
        assert (each.before, each.after, each.alignment, each.scale) == expected, each

    def fn(x):
        with torch.no_grad():
            return net(torch.from_numpy(x)).numpy()

    (measured,) = patchfold.receptive_field(fn, shape, axes=2).halos
    if expected is None:
        assert measured.before is None, measured
    else:
        found = (measured.before, measured.after, measured.alignment, measured.scale, measured.output_axis)
        assert found == (*expected, each.output_axis), measured


def test_pictures_have_the_numbers_of_each_axis(tmp_path):
    net = nn.Sequential(nn.Conv2d(3, 4, (3, 5), padding=(1, 2)), nn.MaxPool2d((2, 1)), nn.Upsample(scale_factor=(2, 1)))
    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(net.eval(), (torch.rand(1, 3, 16, 24),)), path)
    found = {each.axis: each for each in halo(path).halos}
    assert [(found[axis].before, found[axis].after, found[axis].alignment) for axis in (2, 3)] == [(2, 2, 2), (2, 2, 1)]
    assert found[1].unbounded_by == (found[1].unbounded_by[0],) and "conv2d" in found[1].unbounded_by[0]
    x = np.random.default_rng(0).random((3, 40, 24), np.float32)

    def fn(x):
        with torch.no_grad():
            return net(torch.from_numpy(x[None]))[0].numpy()

    settings = {"overlap": (found[2].overlap, found[3].overlap), "align": (2, 1), "reduce": "center", "progress": False}
    np.testing.assert_allclose(patchfold.apply_tiled(fn, x, (16, 12), **settings), fn(x), rtol=1e-5, atol=1e-5)


def test_modules_are_exported_in_their_mode():
    net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.MaxPool2d(2))
    found = halo(net.eval(), [(1, 3, 16, 16)])
    assert [(each.before, each.after) for each in found.halos if each.axis > 1] == [(1, 2), (1, 2)]
    assert found.inputs == {"input": (1, 3, 16, 16)} and found.bytes == Fraction(4 * (3 + 4 + 4), 3)
    trains = halo(net.train(), [(2, 3, 16, 16)])
    assert all("trains" in each.unbounded_by[0] for each in trains.halos if each.axis > 1)
    with pytest.raises(ModelError, match="input_shapes: must be given for a torch module"):
        halo(net)
    with pytest.raises(ModelError, match="does not export the module"):
        halo(net.eval(), [(1, 5, 16, 16)])


def test_a_module_decides_the_tiles():
    net = nn.Sequential(nn.Conv2d(3, 8, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, padding=1),
                        nn.PixelShuffle(2)).eval()  # fmt: skip
    x = torch.rand(3, 64, 80)
    calls = []

    def run(tiles):
        calls.append(tuple(tiles.shape))
        with torch.no_grad():
            return net(tiles)

    y = patchfold.apply_tiled(run, x, overlap="exact", model=net, batch=2, memory=400_000, progress=False)
    assert isinstance(y, torch.Tensor) and len(calls) > 1 and calls[0][0] == 2
    torch.testing.assert_close(y, run(x[None])[0], rtol=1e-5, atol=1e-5)  # oneDNN chooses algorithms by extents


def ramp(x):
    return torch.linspace(0, 1, x.shape[2])


def masked(x):
    tokens = x.unflatten(2, (-1, 8))
    mask = ramp(x).reshape(-1, 8, 1).expand(-1, 8, 8)
    return F.scaled_dot_product_attention(tokens, tokens, tokens, mask).flatten(2, 3)


def padded_to_the_same(x):
    """Returns the maxima of pairs of rows, each twice, where pads depend on the extent as in TensorFlow."""
    rows = x.shape[2]
    total = max((-(-rows // 2) - 1) * 2 + 3 - rows, 0)
    y = F.max_pool2d(F.pad(x, (0, 0, total // 2, total - total // 2)), (3, 1), (2, 1))
    return F.interpolate(y, scale_factor=(2.0, 1.0))[:, :, :rows]


CROPPED = {
    "coordinates": lambda x: torch.cat([x[:, :2], ramp(x)[None, None, :, None].expand(1, 1, -1, x.shape[3])], 1),
    "mask": masked,
    "crop and reflection": lambda x: F.pad(x[:, :, 2:-2], (0, 0, 2, 2), mode="reflect"),
    "crop and zeros": lambda x: F.pad(x[:, :, :-4], (0, 0, 4, 0)),
    "extent": lambda x: x / x.shape[2], "branch": lambda x: x if x.shape[2] > 50 else 2 * x,
    "blocks of an extent": lambda x: F.avg_pool3d(x.unflatten(2, (8, -1)), (1, 3, 1), 1, (0, 1, 0)).flatten(2, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", CROPPED)
def test_modules_that_differ_in_tiles_are_refused_by_name(name):
    first, last = (nn.Conv2d(3, 3, 3, padding=1, groups=3) for _ in range(2))
    net, x = nn.Sequential(first, Call(CROPPED[name]), last).eval(), torch.rand(3, 96, 64)
    reasons = r"node (slice\w*|div|conv2d_1|cat|scaled\w*)\b.*(cuts off|extents of the input|for each place)|from 51 to"
    with pytest.raises(patchfold.InvalidValue, match=reasons):
        patchfold.apply_tiled(net, x, 24, overlap="exact", model=net, batch=1, axes=(1, 2), progress=False)


def test_extents_that_are_no_multiples_are_checked():
    for name, rows in (("same", 257), ("same", 256), ("cropped", 257)):
        net = Call(padded_to_the_same if name == "same" else lambda x: F.interpolate(
            F.max_pool2d(x, (2, 1), ceil_mode=True), scale_factor=(2.0, 1.0))[:, :, : x.shape[2]])  # fmt: skip
        x = torch.rand(3, rows, 4)

        def run(net=net, x=x):
            return patchfold.apply_tiled(net, x, 32, overlap="exact", model=net, batch=1, axes=1, progress=False)

        if (name, rows) == ("same", 257):
            with pytest.raises(patchfold.InvalidValue, match="extents that are no multiples"):
                run()
        else:
            assert torch.equal(run(), net(x[None])[0])


def test_tiles_that_a_module_mixes_are_not_stacked():
    net, x = Call(lambda x: x - x.mean(0, keepdim=True)), torch.rand(3, 64, 8)
    with pytest.raises(patchfold.InvalidValue, match="batch: must be 1, since the model mixes the tiles.*node mean"):
        patchfold.apply_tiled(net, x, 24, overlap="exact", model=net, batch=2, axes=1, progress=False)


def test_padding_before_a_window_leaves_tiles_exact():
    net = nn.Sequential(nn.Conv2d(3, 4, 5), nn.ReflectionPad2d(3), nn.Conv2d(4, 3, 3)).eval().double()
    x = torch.rand(3, 70, 64, dtype=torch.float64)
    with torch.no_grad():
        y = patchfold.apply_tiled(net, x, (24, 32), overlap="exact", model=net, batch=1, progress=False)
        torch.testing.assert_close(y, net(x[None])[0], rtol=1e-12, atol=1e-12)


def test_parts_that_are_written_in_place_count(tmp_path):
    def shifted(x):
        y = x.clone()
        y[..., 5:] += x[..., :-5]
        return y

    (each,) = [each for each in halo(Call(shifted), [(1, 2, 48)]).halos if each.axis == 2]
    assert each.before is None and "slice_scatter" in each.unbounded_by[0]

    def chosen(x):
        one, other = x > 0, x < 1
        return (one & other) * x.clone().relu_() * one

    for number, (fn, refuses) in enumerate(((shifted, True), (chosen, False))):
        path = tmp_path / f"{number}.pt2"
        torch.export.save(torch.export.export(Call(fn), (torch.rand(1, 2, 48),)), path)
        if refuses:
            with pytest.raises(ModelError, match=r"node add_\S* \(aten.add_\) writes to a tensor that later"):
                halo(path)
        else:
            assert all((each.before, each.after) == (0, 0) for each in halo(path).halos)

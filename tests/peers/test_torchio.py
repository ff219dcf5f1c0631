# SPDX-License-Identifier: Apache-2.0
"""Compares patchfold.torchio with TorchIO: equal patches, and volumes within the tolerance of float32."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")
torchio = pytest.importorskip("torchio")

import patchfold.torchio as ours  # noqa: E402
from patchfold import InvalidType, InvalidValue  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

SHAPE = (13, 10, 16)
THEIRS = torchio.GridSampler, torchio.GridAggregator
OURS = ours.GridSampler, ours.GridAggregator


def subject(shape=SHAPE):
    generator = torch.Generator().manual_seed(5)
    affine = np.diag([1.0, 2, 3, 1])
    return torchio.Subject(
        t1=torchio.ScalarImage(tensor=torch.rand(2, *shape, generator=generator), affine=affine),
        seg=torchio.LabelMap(tensor=torch.randint(0, 5, (1, *shape), generator=generator, dtype=torch.uint8), affine=affine),
        age=42,
        name="somebody",
    )


def network(x):
    """Returns values that depend on a voxel's place in its patch."""
    return torch.cat([x.cumsum(-1) + x.roll(1, 2), x], 1)


def aggregated(classes, given, size, overlap, padding, mode, dtype=torch.float32, net=network, **options):
    sampler = classes[0](given, size, overlap, padding)
    aggregator = classes[1](sampler, mode, **options)
    for batch in torchio.SubjectsLoader(sampler, batch_size=4):
        aggregator.add_batch((net(batch["t1"][torchio.DATA]) * 9).to(dtype), batch[torchio.LOCATION])
    return aggregator.get_output_tensor()


def assert_same(expected, result):
    assert result.shape == expected.shape and result.dtype == expected.dtype
    tolerance = 0.03 if result.dtype in (torch.float16, torch.bfloat16) else 1e-5
    torch.testing.assert_close(result, expected, rtol=tolerance, atol=tolerance)


PADDINGS = [None, 0, 3.5, "constant", "edge", "reflect", "symmetric", "mean", "minimum", "wrap", "linear_ramp"]


@pytest.mark.filterwarnings("ignore:The constant value")
@pytest.mark.parametrize("padding", PADDINGS, ids=str)
def test_patches_are_those_of_torchio(padding):
    given = subject()
    for size, overlap in ((8, 4), ((9, 10, 7), (2, 6, 0))):
        theirs, mine = (each(given, size, overlap, padding) for each in (torchio.GridSampler, ours.GridSampler))
        assert np.array_equal(theirs.locations, mine.locations) and len(theirs) == len(mine)
        assert isinstance(mine, torchio.GridSampler)
        for index in (0, 1, len(mine) // 2, len(mine) - 1, -1):
            one, other = theirs[index], mine[index]
            assert list(one.keys()) == list(other.keys()) and (other["age"], other["name"]) == (42, "somebody")
            assert torch.equal(one[torchio.LOCATION], other[torchio.LOCATION])
            for image in ("t1", "seg"):
                assert type(one[image]) is type(other[image]) and torch.equal(one[image].data, other[image].data)
                assert np.allclose(one[image].affine, other[image].affine)
        assert torch.equal(theirs.subject.t1.data, mine.subject.t1.data)
    assert torch.equal(given.t1.data, subject().t1.data)


def test_a_sampler_yields_its_patches_in_order():
    """Checks a padded subject, which TorchIO's sampler would pad a second time."""
    for padding in (None, "edge"):
        sampler = ours.GridSampler(subject(), 8, 4, padding)
        patches = list(sampler())
        assert [p[torchio.LOCATION].tolist() for p in patches] == sampler.locations.tolist()
        assert all(torch.equal(a.t1.data, b.t1.data) for a, b in zip(patches, sampler, strict=True))
        other = subject((9, 9, 9))
        expected = torchio.GridSampler(other, 8, 4, padding)
        found = list(sampler(other))
        assert len(found) == len(expected)
        assert all(torch.equal(a.t1.data, b.t1.data) for a, b in zip(found, expected, strict=True))
    with pytest.raises(ValueError, match="does not support limiting the number of patches"):
        sampler(num_patches=1)


MODES = ("crop", "average", "hann")


@pytest.mark.parametrize(("mode", "padding"), list(itertools.product(MODES, [None, "edge", 2.5])), ids=str)
def test_volumes_are_those_of_torchio(mode, padding):
    for size, overlap in ((8, 4), ((9, 10, 7), (2, 6, 4))):
        expected = aggregated(THEIRS, subject(), size, overlap, padding, mode)
        assert_same(expected, aggregated(OURS, subject(), size, overlap, padding, mode))
        mixed = torchio.GridSampler, ours.GridAggregator
        assert_same(expected, aggregated(mixed, subject(), size, overlap, padding, mode))
    mixed = ours.GridSampler, torchio.GridAggregator
    assert_same(expected, aggregated(mixed, subject(), size, overlap, padding, mode))


TYPES = [torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16]


@pytest.mark.filterwarnings("ignore:.*int64:RuntimeWarning")
@pytest.mark.parametrize(("mode", "dtype"), list(itertools.product(MODES, TYPES)), ids=str)
def test_types(mode, dtype):
    assert_same(*(aggregated(each, subject(), 8, 4, None, mode, dtype) for each in (THEIRS, OURS)))


def test_small_integers_do_not_wrap():
    """Checks that means of uint8 are right. TorchIO adds patches in their own type, in which sums wrap."""
    whole = aggregated(OURS, subject(), 8, 4, None, "average", torch.uint8, lambda x: torch.full_like(x, 25))
    assert whole.dtype == torch.float32 and (whole == 225).all()
    assert (aggregated(OURS, subject(), 8, 4, None, "average", torch.bool) <= 1).all()


def test_int64_becomes_int32_with_a_warning():
    for classes in (THEIRS, OURS):
        with pytest.warns(RuntimeWarning, match="int64"):
            assert aggregated(classes, subject(), 8, 4, None, "crop", torch.int64).dtype == torch.int32


def test_batches_in_any_order_and_loaders_of_torch():
    for mode in MODES:
        sampler = ours.GridSampler(subject(), 8, 4)
        aggregator = ours.GridAggregator(sampler, mode)
        loader = torchio.SubjectsLoader(sampler, batch_size=3, shuffle=True, generator=torch.Generator().manual_seed(1))
        for batch in loader:
            aggregator.add_batch(batch["t1"][torchio.DATA], batch[torchio.LOCATION])
        torch.testing.assert_close(aggregator.get_output_tensor(), subject().t1.data)
        assert aggregator.get_output_tensor() is not None
    patches = DataLoader(sampler, batch_size=2, collate_fn=lambda each: torch.stack([p.t1.data for p in each]))
    assert sum(len(p) for p in patches) == len(sampler)


def test_smaller_volumes():
    """Checks a network that returns every fourth voxel, like the patches of a vision transformer."""
    given = subject((40, 40, 40))
    plain = aggregated(THEIRS, given, 20, 0, None, "crop", net=lambda x: x[..., ::4, ::4, ::4], downsampling_factor=4)
    for mode in MODES:
        options = {"net": lambda x: x[..., ::4, ::4, ::4], "downsampling_factor": 4}
        assert_same(plain, aggregated(OURS, given, 20, 0, None, mode, **options))
        for overlap, padding in ((8, None), (8, "edge"), (16, None)):  # TorchIO crops voxels of the wrong size, or fails
            assert_same(plain, aggregated(OURS, given, 20, overlap, padding, mode, **options))


@pytest.mark.parametrize(("mode", "padding"), list(itertools.product(MODES, [None, "edge"])), ids=str)
def test_patches_that_never_come(mode, padding):
    """Checks an aggregator that receives only every seventh patch of its grid."""
    volumes = []
    for classes in (THEIRS, OURS):
        sampler = classes[0](subject(), 4, 2, padding)
        aggregator = classes[1](sampler, mode)
        for index in range(0, len(sampler), 7):
            patch = sampler[index]
            aggregator.add_batch(patch.t1.data[None], patch[torchio.LOCATION][None])
        volumes.append(aggregator.get_output_tensor())
    assert bool(volumes[1].isnan().any()) is (mode != "crop") and (volumes[1] != 0).any()
    if mode == "crop":  # TorchIO also keeps voxels that a missing patch would have overwritten
        known = volumes[1] != 0
        volumes = [each[known] for each in volumes]
    torch.testing.assert_close(volumes[1], volumes[0], equal_nan=True, rtol=1e-5, atol=1e-5)


class Store:
    def __init__(self, shape):
        self.held = np.full(shape, np.nan, np.float32)
        self.shape, self.dtype = shape, self.held.dtype

    def __setitem__(self, place, values):
        self.held[place] = values


@pytest.mark.parametrize(("mode", "padding"), list(itertools.product(MODES, [None, "edge"])), ids=str)
def test_out(mode, padding, tmp_path):
    expected = aggregated(THEIRS, subject(), 8, 4, padding, mode)
    file = np.lib.format.open_memmap(tmp_path / "y.npy", "w+", np.float32, tuple(expected.shape))
    for out in (torch.empty(expected.shape), file, Store(tuple(expected.shape))):
        result = aggregated(OURS, subject(), 8, 4, padding, mode, out=out)
        assert result is out
        assert_same(expected, torch.as_tensor(np.asarray(getattr(out, "held", out))))
    for wrong in (torch.empty(1, *SHAPE), torch.empty(expected.shape, dtype=torch.float64), "y.npy"):
        with pytest.raises((InvalidValue, InvalidType), match="out: must"):
            aggregated(OURS, subject(), 8, 4, padding, mode, out=wrong)


WRONG = [
    ({"patch_size": (5, 21, 5)}, "patch_size: must fit into the volume; given (5, 21, 5), expected at most (13, 10, 16)"),
    ({"patch_size": 0}, "patch_size: must be at least 1"),
    ({"patch_size": 2.5}, "patch_size: must be an integer, or one for each"),
    ({"patch_size": (4, 4)}, "patch_size: must be an integer, or one for each"),
    ({"patch_overlap": 3}, "patch_overlap: must be even and at least 0"),
    ({"patch_overlap": -2}, "patch_overlap: must be even and at least 0"),
    ({"patch_overlap": 8}, "patch_overlap: must be less than patch_size"),
]


@pytest.mark.parametrize(("change", "message"), WRONG, ids=[message for _, message in WRONG])
def test_wrong_grids(change, message):
    with pytest.raises(ValueError) as caught:
        ours.GridSampler(subject(), **{"patch_size": 8, "patch_overlap": 2} | change)
    assert message in str(caught.value)
    with pytest.raises(IndexError):
        ours.GridSampler(subject(), 8)[1000]
    with pytest.raises(KeyError):
        ours.GridSampler(subject(), 8, 2, "bad")


def test_wrong_batches():
    sampler = ours.GridSampler(subject(), 8, 4)
    with pytest.raises(ValueError, match="overlap_mode: must be one of TorchIO's modes; given bad"):
        ours.GridAggregator(sampler, "bad")
    for factor in (0, 3):
        with pytest.raises(ValueError, match="downsampling_factor"):
            ours.GridAggregator(sampler, downsampling_factor=factor)
    for mode in MODES:
        aggregator = ours.GridAggregator(sampler, mode)
        with pytest.raises(ValueError, match="no patch was added"):
            aggregator.get_output_tensor()
        patch, location = sampler[0].t1.data[None], sampler[0][torchio.LOCATION][None]
        for wrong in (patch[..., 1:], patch[0], patch.repeat(2, 1, 1, 1, 1)):
            with pytest.raises(RuntimeError, match="must have a patch of the locations' extents for each location"):
                aggregator.add_batch(wrong, location)
        for wrong in (location + 1, location[:, :3], location[0, :1]):
            with pytest.raises(ValueError, match="locations: must be rows of the sampler's locations"):
                aggregator.add_batch(patch, wrong)

# SPDX-License-Identifier: Apache-2.0
"""Tests of arrays on a GPU, without a GPU: stubs of DLPack claim to lie on a GPU, and copy when asked to."""

import numpy as np
import patchfold
import pytest
from patchfold._arrays import devices


class Stub:
    """An array of NumPy that claims to lie on CUDA's device type, 2. Its __dlpack__ accepts the parameters `knows`."""

    def __init__(self, array, knows=("max_version", "dl_device", "copy")):
        self.array, self.knows, self.asked = array, knows, []

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **options):
        self.asked.append(options)
        if set(options) - set(self.knows):
            raise TypeError("unexpected keyword argument")
        assert options.get("dl_device") == (1, 0) and options["copy"] is True
        return self.array.copy().__dlpack__()


class OldStub(Stub):
    """A stub like the arrays of old versions of CuPy, whose __dlpack__ has no parameter dl_device."""

    def __init__(self, array):
        super().__init__(array, knows=())

    def get(self):
        return self.array.copy()


def test_what_lies_on_the_processor_is_not_copied():
    x = np.ones(3)
    assert devices.to_processor(x, "merge", "tile") is x
    for other in (None, "text", [1.0]):
        assert devices.to_processor(other, "merge", "tile") is other


def test_a_producer_of_dlpack_is_asked_for_a_copy():
    x = np.arange(12.0).reshape(1, 3, 4)
    got = devices.to_processor(Stub(x), "merge", "tile")
    assert isinstance(got, np.ndarray) and np.array_equal(got, x)


def test_an_older_producer_is_asked_by_get():
    x = np.arange(12.0)
    assert np.array_equal(devices.to_processor(OldStub(x), "merge", "tile"), x)


def test_a_producer_that_cannot_is_refused():
    with pytest.raises(patchfold.InvalidType, match="^merge: tile: must lie in the processor's memory, or be copied.*Stub"):
        devices.to_processor(Stub(np.ones(3), knows=()), "merge", "tile")


def test_a_merger_takes_what_comes_back():
    x = np.random.default_rng(1).random((1, 20, 30), np.float32)
    tiling = patchfold.Tiling(x.shape, (8, 8), overlap=2)
    merger = patchfold.Merger(tiling)
    for tile in tiling:
        merger.add(tile, devices.to_processor(Stub(tiling.cut(x, tile)), "merge", "tile"))
    assert np.allclose(merger.finish(), x)


class Network:
    """A network that moves tiles to a stub of a GPU, and returns results on this stub."""

    def __init__(self, stub):
        self.stub, self.results = stub, []

    def __call__(self, tile):
        self.results.append(self.stub(np.sqrt(tile)))
        return self.results[-1]


@pytest.mark.parametrize("stub", [Stub, OldStub])
def test_results_on_a_gpu_are_taken_where_they_are(stub):
    x = np.random.default_rng(2).random((3, 40, 50), np.float32)
    network = Network(stub)
    y = patchfold.apply_tiled(network, x, (16, 16), overlap=4, progress=False)
    assert np.array_equal(y, np.sqrt(x))
    if stub is Stub:
        assert all(len(result.asked) == 1 for result in network.results)  # each result was copied once


def test_stacks_on_a_gpu_are_copied_tile_by_tile():
    class Stack(Stub):
        @property
        def shape(self):
            return self.array.shape

        def __getitem__(self, i):
            return Stub(self.array[i])

    x = np.random.default_rng(2).random((3, 40, 50), np.float32)
    y = patchfold.apply_tiled(lambda tiles: Stack(np.sqrt(tiles)), x, (16, 16), overlap=4, batch=4, progress=False)
    assert np.array_equal(y, np.sqrt(x))


def test_several_results_on_a_gpu():
    x = np.random.default_rng(2).random((3, 40, 50), np.float32)
    y, z = patchfold.apply_tiled(lambda tile: (Stub(tile), Stub(-tile)), x, (16, 16), overlap=4, progress=False)
    assert np.array_equal(y, x) and np.array_equal(z, -x)


def test_tiles_go_to_the_device():
    torch = pytest.importorskip("torch")
    seen = []

    def fn(tile):
        seen.append(tile.device.type)
        return torch.ones(tile.shape)

    for batch in (None, 3):
        y = patchfold.apply_tiled(fn, torch.ones(3, 40, 50), (16, 16), overlap=4, batch=batch, device="meta", progress=False)
        assert torch.equal(y, torch.ones(3, 40, 50))
    assert set(seen) == {"meta"}


def test_a_device_for_tiles_of_numpy():
    with pytest.raises(patchfold.InvalidType, match="apply_tiled: device: must be left out for arrays that cannot"):
        patchfold.apply_tiled(np.sqrt, np.ones((3, 40, 50)), (16, 16), overlap=4, device="cuda", progress=False)


def test_devices_of_numpy():
    assert devices.to_device(np.ones(3), None, "apply_tiled") is not None
    with pytest.raises(patchfold.InvalidType, match=r"apply_tiled: device: must be left out.*expected torch.from_numpy"):
        devices.to_device(np.ones(3), "cuda", "apply_tiled")


def test_devices_of_the_array_api():
    class Array(Stub):
        def to_device(self, device):
            if device != "gpu:0":
                raise ValueError("no such device")
            return self

    array = Array(np.ones(3))
    assert devices.to_device(array, "gpu:0", "apply_tiled") is array
    with pytest.raises(patchfold.InvalidValue, match="apply_tiled: device: must be a device .* no such device"):
        devices.to_device(array, "gpu:7", "apply_tiled")


def test_devices_of_torch():
    torch = pytest.importorskip("torch")
    fake = pytest.importorskip("torch._subclasses.fake_tensor")
    assert devices.to_device(torch.ones(3), "meta", "apply_tiled").device.type == "meta"
    with pytest.raises(patchfold.InvalidValue, match="apply_tiled: device: must be a device that"):
        devices.to_device(torch.ones(3), "cpux", "apply_tiled")
    with fake.FakeTensorMode():
        there = devices.to_device(torch.ones(3), "cuda:0", "apply_tiled")
        assert there.device.type == "cuda" and devices.to_processor(there, "merge", "tile").device.type == "cpu"


def test_devices_of_jax():
    jax = pytest.importorskip("jax")
    x = jax.numpy.ones(3)
    for device in ("cpu", jax.devices("cpu")[0]):
        assert devices.to_device(x, device, "apply_tiled").shape == (3,)
    with pytest.raises(patchfold.InvalidValue, match="apply_tiled: device: must be a device that"):
        devices.to_device(x, "abacus", "apply_tiled")

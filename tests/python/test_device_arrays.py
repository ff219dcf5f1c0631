# SPDX-License-Identifier: Apache-2.0
"""Tests of arrays on CUDA devices, without a device: where calls run, on which stream, and where results lie."""

import subprocess
import sys

import numpy as np
import patchfold
import pytest
from calls import HERE, example, function_of
from device_arrays import CUDA, Namespace, OfCuPy, OnDevice, needs_library, spy

pytestmark = needs_library
__all__ = ["spy"]  # a fixture


@pytest.mark.parametrize("spec", [each for each in HERE if each.data_input], ids=lambda spec: spec.name)
def test_every_operator_gives_the_bits_of_the_processor(spec, spy):
    function, ((x,), arguments) = function_of(spec), example(spec)
    expected = function(x, **arguments)
    given = OnDevice(x, 3)
    result = function(given, **arguments)
    assert result is Namespace.made[-1] and result.device == 3
    assert result.array.tobytes() == expected.tobytes() and result.array.dtype == expected.dtype
    assert given.asked == [1] and spy.calls == [(CUDA, 1)]


@pytest.mark.parametrize(("stream", "used"), [(None, 1), (0, 1), (2, 2), (0x7F00, 0x7F00)])
def test_the_stream_is_the_arrays_own(stream, used, spy):
    x = OfCuPy(np.arange(16.0).reshape(1, 1, 4, 4), stream=stream)
    patchfold.unfold(x, 2, out=OfCuPy(np.empty((1, 4, 9)), stream=stream))
    assert x.asked == [used] and spy.calls == [(CUDA, used)]


def test_out_receives_the_result_in_place(spy):
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    out = OfCuPy(np.zeros((1, 9, 4)).swapaxes(1, 2))
    assert patchfold.unfold(OfCuPy(x), 2, out=out) is out
    assert np.array_equal(out.array, patchfold.unfold(x, 2))
    columns = np.ones((1, 4, 9))
    out = OfCuPy(np.ones((1, 1, 4, 4)))
    patchfold.fold(OnDevice(columns), (4, 4), 2, accumulate=True, out=out)
    assert np.array_equal(out.array, 1 + patchfold.fold(columns, (4, 4), 2))
    out = OfCuPy(np.ones((4, 4)))
    patchfold.coverage((4, 4), 2, out=out)
    assert np.array_equal(out.array, patchfold.coverage((4, 4), 2))


def test_managed_memory_is_memory_of_its_device(spy):
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    result = patchfold.copy(OnDevice(x, 1, kind=13))
    assert result.device == 1 and np.array_equal(result.array, x)


def test_a_plan_runs_where_the_arrays_lie(spy):
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    plan = patchfold.plan("unfold", OnDevice(x), kernel_size=2)
    assert not spy.calls
    expected = plan(x)
    assert not spy.calls and np.array_equal(expected, patchfold.unfold(x, 2))
    assert np.array_equal(plan(OnDevice(x)).array, expected) and spy.calls == [(CUDA, 1)]


IMAGE = np.ones((1, 1, 4, 4))


@pytest.mark.parametrize(
    ("x", "out", "words"),
    [
        (
            OnDevice(IMAGE),
            np.empty((1, 4, 9)),
            "must lie where x lies; given the processor's memory, expected CUDA device 0",
        ),
        (
            IMAGE,
            OfCuPy(np.empty((1, 4, 9)), 2),
            "must lie where x lies; given CUDA device 2, expected the processor's memory",
        ),
        (
            OnDevice(IMAGE, 1),
            OfCuPy(np.empty((1, 4, 9)), 0),
            "must lie where x lies; given CUDA device 0, expected CUDA device 1",
        ),
        (
            OnDevice(IMAGE),
            OfCuPy(np.empty((1, 4, 9)), stream=7),
            "must be used on the same stream as x; given 7, expected 1",
        ),
        (
            OnDevice(IMAGE),
            OfCuPy(np.empty((1, 4, 9)), readonly=True),
            "must be an array that can be written to: torch's, or",
        ),
        (OnDevice(IMAGE), OnDevice(np.empty((1, 4, 9))), "must be an array that can be written to: torch's, or"),
        (OnDevice(IMAGE), OfCuPy(np.empty((1, 4, 8))), "must have the shape"),
        (OnDevice(IMAGE), OfCuPy(np.empty((1, 4, 9), np.float32)), "must have the element type of x"),
    ],
)
def test_an_out_that_does_not_fit_is_refused(x, out, words, spy):
    with pytest.raises(patchfold.Error, match="^unfold: out: ") as caught:
        patchfold.unfold(x, 2, out=out)
    assert words in str(caught.value) and not spy.calls


def test_an_error_of_the_library_has_the_operators_name(spy):
    x = np.zeros(16).reshape(1, 1, 4, 4)
    with pytest.raises(patchfold.InvalidValue, match="^space_to_batch: .*memory"):
        patchfold.space_to_batch(OfCuPy(x), 1, out=OfCuPy(x[:, :, ::-1]))


@pytest.mark.parametrize(
    ("kind", "device"),
    [(3, "CUDA's pinned memory, device 0"), (4, "OpenCL device 0"), (8, "Metal device 0"), (10, "ROCm device 0")]
    + [(99, "DLPack device type 99")],
)
def test_devices_on_which_nothing_runs_are_refused(kind, device):
    rule = "must lie in the processor's memory or on a CUDA device"
    with pytest.raises(patchfold.InvalidType) as caught:
        patchfold.unfold(OnDevice(IMAGE, kind=kind), 2)
    assert str(caught.value) == f"unfold: x: {rule}; given {device}, expected a copy on the CPU"


class Sliced(OfCuPy):
    __getitem__ = reshape = None


@pytest.mark.parametrize(
    "call",
    [
        lambda x: patchfold.gather_patches(x, np.zeros((1, 2), int), 2),
        lambda x: patchfold.iter_unfold(x, 2),
        lambda x: patchfold.apply_tiled(np.sqrt, x, 2),
        lambda x: patchfold.Tiling(IMAGE.shape, (2, 2), overlap=0).cut(x, 0),
        lambda x: patchfold.rearrange(np.ones((2, 2)), "a b -> b a", out=x),
    ],
    ids=["gather_patches", "iter_unfold", "apply_tiled", "cut", "rearrange"],
)
def test_functions_of_the_processor_alone_refuse_devices(call):
    with pytest.raises(
        patchfold.InvalidType, match="must lie in the processor's memory; given CUDA device 0, expected a copy on"
    ):
        call(Sliced(IMAGE))


class Bare(OnDevice):
    @property
    def __array_namespace__(self):
        raise AttributeError


def test_without_a_function_for_new_arrays_out_is_needed(spy):
    with pytest.raises(patchfold.InvalidType, match="no array of this kind can be made: .*, expected an out"):
        patchfold.unfold(Bare(IMAGE), 2)


def test_the_library_is_loaded_for_the_first_array_on_a_device():
    """Without a driver, the error names the driver."""
    program = """
import sys
sys.path.insert(0, "tests/python")
import numpy as np, patchfold
loaded = lambda: "libpatchfold_device" in open("/proc/self/maps").read()
patchfold.unfold(np.ones((1, 1, 4, 4)), 2)
assert not loaded()
from device_arrays import OnDevice
try:
    patchfold.unfold(OnDevice(np.ones((1, 1, 4, 4))), 2)
except RuntimeError as error:
    assert str(error).startswith("unfold: cuda: "), error
assert loaded()
"""
    subprocess.run([sys.executable, "-c", program], check=True)

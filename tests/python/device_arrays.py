# SPDX-License-Identifier: Apache-2.0
"""Arrays that claim to lie on a device, in the processor's memory, and a library for GPUs that runs plans there."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from patchfold import _core
from patchfold._arrays import cuda

CUDA, HOST = 1, 0  # numbers of pf_device_kind
RUN_ON = ctypes.CFUNCTYPE(
    ctypes.c_int32, *(ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p) + (ctypes.c_void_p, ctypes.c_int64) * 2
)

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

needs_library = pytest.mark.skipif(cuda.library_file() is None, reason="the package has no library for GPUs")


class OnDevice:
    """An array of NumPy that claims to lie on a device. It notes the streams for which its memory was asked."""

    def __init__(self, array: np.ndarray, number: int = 0, kind: int = 2, stream: int | None = None, readonly: bool = False):
        self.array, self.device, self.kind, self.stream, self.readonly = array, number, kind, stream, readonly
        self.shape, self.dtype = array.shape, array.dtype
        self.asked: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.kind, self.device

    def __dlpack__(self, *, stream: int | None = None) -> Any:
        self.asked.append(stream)
        capsule = self.array.__dlpack__()
        device = _pointer_of(capsule, b"dltensor") + ctypes.sizeof(ctypes.c_void_p)  # behind the tensor's address
        (ctypes.c_int32 * 2).from_address(device)[:] = (self.kind, self.device)
        return capsule

    def __array_namespace__(self) -> type[Namespace]:
        return Namespace


class OfCuPy(OnDevice):
    """An array that tells its stream as CuPy's arrays do."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"data": (self.array.ctypes.data, self.readonly), "stream": self.stream, "version": 3}


class Namespace:
    """The function of the array API that makes results, on the device of the input."""

    made: list[OnDevice] = []

    @classmethod
    def empty(cls, shape: tuple[int, ...], *, dtype: Any, device: int) -> OnDevice:
        cls.made.append(OnDevice(np.full(shape, 99).astype(dtype), device))
        return cls.made[-1]


class Spy:
    """A stand-in for the library's function: notes its arguments, and runs plans on the host."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int | None]] = []
        cuda.load(HOST)
        library = ctypes.CDLL(str(cuda.library_file()))
        real = ctypes.cast(library.pf_plan_run_on, RUN_ON)

        def run_on(plan: int, kind: int, stream: int | None, *rest: int) -> int:
            self.calls.append((kind, stream))
            return real(plan, HOST, stream, *rest)

        self.function = RUN_ON(run_on)
        address, part = (ctypes.cast(each, ctypes.c_void_p).value for each in (self.function, library.pf_last_error_part))
        _core.use_device_library(address, part, CUDA)


@pytest.fixture
def spy() -> Iterator[Spy]:
    yield Spy()
    cuda.load()


@pytest.fixture
def on_host() -> Iterator[None]:
    """Runs every plan with the kernels for devices, on the host."""
    cuda.load(HOST)
    yield
    cuda.load()

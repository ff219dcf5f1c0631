# SPDX-License-Identifier: Apache-2.0
"""Arrays on CUDA devices: their memory and streams, new arrays beside them, and the library that runs plans there.

The library, patchfold_device, is loaded when the first array on a device comes. The native module calls ``load`` and
``jax_call``.
"""

from __future__ import annotations

import functools
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import _core
from .._errors import InvalidType, type_name, value_text
from .kinds import device_type, jax_instead, module_of

DEVICE_TYPES = (2, 13)
"""DLPack's numbers for memory of a CUDA device and for CUDA's managed memory."""

_LEGACY_STREAM = 1
"""The number of CUDA's default stream in DLPack, in __cuda_array_interface__, and in the driver."""

_DRIVER = 1
"""The number of CUDA in pf_device_kind."""

_NAMES = {2: "CUDA", 3: "CUDA's pinned memory,", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm", 13: "CUDA", 14: "oneAPI"}


def device_text(kind: int, number: Any) -> str:
    """Returns a device of DLPack in words."""
    return f"{_NAMES[kind]} device {value_text(number)}" if kind in _NAMES else f"DLPack device type {value_text(kind)}"


@functools.cache
def library_file() -> Path | None:
    """Returns the file of the library patchfold_device; None in packages without it."""
    return next(iter(sorted((Path(__file__).parents[1] / "lib").glob("libpatchfold_device.so*"))), None)


def load(driver: int = _DRIVER) -> None:
    """Loads the library, for a driver of pf_device_kind. Only tests choose another driver than CUDA's.

    Errors: RuntimeError if the package lacks the library, or if the system cannot load it.
    """
    import ctypes

    file = library_file()
    if file is None:
        raise RuntimeError("patchfold: this package has no library for GPUs; copy the arrays to the processor's memory")
    try:
        library = ctypes.CDLL(str(file))
    except OSError as error:
        raise RuntimeError(f"patchfold: the library for GPUs cannot be loaded: {error}") from error
    functions = (library.pf_plan_run_on, library.pf_last_error_part)
    run_on, part = (ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions)
    _core.use_device_library(run_on, part, driver)


def runs_torch() -> bool:
    """Returns whether plans run on the devices that torch calls CUDA, which are ROCm's in a torch for AMD."""
    return sys.modules["torch"].version.hip is None and library_file() is not None


def torch_memory(tensor: Any, dtype: str) -> _core.RawArray:
    """Returns the memory of a dense tensor on a CUDA device, to be used on torch's current stream. Checks nothing."""
    size, index = tensor.element_size(), tensor.device.index
    strides = [stride * size for stride in tensor.stride()]
    stream = sys.modules["torch"].cuda.current_stream(index).cuda_stream
    return _core.RawArray.make(tensor.data_ptr(), tensor.shape, strides, dtype, True, tensor, index, stream)


def memory(array: Any, op: str, argument: str, to_write: bool) -> _core.RawArray:
    """Returns the memory of an array of DLPack on a CUDA device, on the stream that its __cuda_array_interface__ names, such
    as CuPy's current stream; otherwise on CUDA's default stream. Errors: InvalidType for an `out` without this interface,
    which says whether an array is read-only, and for arrays of JAX."""
    interface = getattr(array, "__cuda_array_interface__", None)
    if to_write and not (interface and not interface["data"][1]):
        rule = "must be an array that can be written to: torch's, or one whose __cuda_array_interface__ says so"
        raise InvalidType(op, argument, rule, type_name(array))
    if module_of(array) in ("jax", "jaxlib"):
        rule = "must lie in the processor's memory here, since only XLA knows the stream of this array"
        raise InvalidType(op, argument, rule, type_name(array), jax_instead(op, "numpy.asarray(x)"))
    stream = interface.get("stream") if interface else None
    return _core.RawArray.from_dlpack(array, op, argument, stream or _LEGACY_STREAM, to_write)


class Output:
    """Memory for a result: a new array of the library of `like`, which must have the array API's function ``empty``."""

    def __init__(self, like: Any, shape: tuple[int, ...]) -> None:
        module: Any = sys.modules.get(module_of(like))
        namespace = like.__array_namespace__() if hasattr(like, "__array_namespace__") else module
        if not hasattr(namespace, "empty"):
            rule = "no array of this kind can be made: it has no __array_namespace__, and its module no empty"
            raise InvalidType(rule=rule, given=type_name(like), expected="an out")
        if module_of(like) == "cupy":  # makes arrays on its current device
            with like.device:
                self._array = namespace.empty(shape, dtype=like.dtype)
        else:
            self._array = namespace.empty(shape, dtype=like.dtype, device=like.device)
        self.memory = memory(self._array, "", "out", False)

    def result(self) -> Any:
        return self._array


def jax_call(native: _core.Operator, x: Any, values: tuple[Any, ...]) -> Any:
    """Returns the result of an operator for an array of JAX on a device, by XLA; NotImplemented for an array in the
    processor's memory, and for one that DLPack cannot hand over."""
    try:
        kind = device_type(x.__dlpack_device__())
    except (BufferError, RuntimeError, ValueError):
        return NotImplemented
    if kind == 1:
        return NotImplemented
    return import_module("patchfold.jax._calls").apply(native.name, x, *values)

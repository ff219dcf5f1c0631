# SPDX-License-Identifier: Apache-2.0
"""Reads and makes arrays of other libraries: torch tensors by their addresses, other arrays through DLPack.

The native module calls ``memory`` for each array of another library, and ``new_output`` for a new array.
"""

from __future__ import annotations

import sys
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._core import RawArray, new_buffer, prefer_large_pages
from .._errors import InvalidType, given_text, type_name
from . import cuda
from .dtypes import SHARED_WITH_NUMPY, SIZES
from .kinds import device_type, dlpack_device, is_numpy, is_torch, jax_instead, module_of, speaks_dlpack

WITHOUT_OUT = ("plan", "iter_unfold", "unfold_view", "space_to_depth_view", "explain_order")
"""The functions without a parameter ``out``. All others let torch record a call without ``out``, and refuse to record one
with it."""
Memory: TypeAlias = RawArray | npt.NDArray[Any]
"""The memory of an array; a NumPy array if NumPy has the element type, since NumPy arrays pass to native code fastest."""


def memory(array: Any, op: str, argument: str, to_write: bool, anywhere: bool = False) -> Memory:
    """Returns the memory of an array's elements, shared and not copied, except for torch's lazy conj and neg views.
    anywhere: whether the array may lie on a CUDA device."""
    if isinstance(array, RawArray):
        return array
    if is_torch(array):
        return _checked_torch_memory(array, op, argument, to_write, anywhere)
    if not speaks_dlpack(array):
        rule = "must be an array: NumPy's, torch's, or any with __dlpack__"
        expected = "" if to_write else array_instead(array, argument)
        raise InvalidType(op, argument, rule, type_name(array), expected, hint=_traced_hint(array, op))
    device = dlpack_device(array, op, argument)
    where = device_type(device)
    if where is None:
        rule = "__dlpack_device__ must give a device type and a number"
        raise InvalidType(op, argument, rule, given_text(device), "(1, 0) for the processor's memory")
    if where in cuda.DEVICE_TYPES and anywhere:
        return cuda.memory(array, op, argument, to_write)
    if where != 1:
        raise _elsewhere(op, argument, cuda.device_text(where, device[1]), anywhere)
    if to_write:
        raise InvalidType(op, argument, "must be an array that can be written to: NumPy's or torch's", type_name(array))
    if module_of(array) == "tensorflow" and array.dtype.name not in SIZES:  # its strings crash in __dlpack__
        raise unknown_type(op, argument, array.dtype.name)
    return RawArray.from_dlpack(array, op, argument)


def array_instead(value: Any, argument: str) -> str:
    """Returns a hint with the call that turns a value into a NumPy array; empty if there is no such call."""
    if isinstance(value, type) or _traced_hint(value, ""):
        return ""
    known = isinstance(value, (list, tuple, int, float)) or hasattr(value, "__array__")
    known = known or hasattr(value, "__array_interface__")
    return f"numpy.asarray({argument if argument.isidentifier() else 'x'})" if known else ""


def _traced_hint(value: Any, op: str) -> str:
    """Returns a hint for a tensor that has no elements, since a framework traces the function that calls op; empty for other
    values."""
    module = module_of(value)
    if module == "jax" and "Tracer" in type(value).__name__:
        return f"inside jit, grad or vmap: {jax_instead(op, 'jax.pure_callback')}"
    if module == "tensorflow" and "Symbolic" in type(value).__name__:
        return "inside tf.function: use tf.numpy_function"
    return ""


def new_output(
    like: Any, shape: tuple[int, ...], dtype: str, on_device: bool = False
) -> Output | DlpackOutput | cuda.Output:
    """Returns memory for a result of the same kind as ``like``, and where ``like`` lies. on_device: whether that is a CUDA
    device."""
    if is_torch(like):
        return Output(new_torch(shape, getattr(sys.modules["torch"], dtype), like.device))
    return cuda.Output(like, shape) if on_device else DlpackOutput(like, shape, dtype)


def new_room(kind: Any, like: Any, shape: tuple[int, ...], dtype: Any) -> Output | DlpackOutput | cuda.Output:
    """Returns memory for a result of the same kind as the array ``kind``; where that is NumPy's and NumPy lacks the element
    type, of the same kind as ``like``."""
    name = str(dtype)
    if is_numpy(kind):
        found = numpy_type(dtype)
        if found is not None:
            return Output(new_numpy(shape, found))
        kind = like
    if name not in SIZES or not getattr(dtype, "isnative", True):  # only NumPy has strings, records and other byte orders
        return Output(new_numpy(shape, np.dtype(dtype)))
    return new_output(kind, shape, name)


def numpy_type(dtype: Any) -> np.dtype[Any] | None:
    """Returns an element type of NumPy, or of ml_dtypes if that is imported; None for a name that neither has."""
    name = str(dtype)
    if not isinstance(dtype, str) or name in SHARED_WITH_NUMPY:
        known: np.dtype[Any] = np.dtype(dtype)
        return known
    kind: Any = getattr(sys.modules.get("ml_dtypes"), name, None)
    found: np.dtype[Any] | None = None if kind is None else np.dtype(kind)
    return found


def type_like(array: Any, dtype: Any) -> Any:
    """Returns the element type `dtype` of NumPy or torch as the library of a NumPy array or torch tensor knows it; None if
    NumPy lacks the type."""
    name = str(dtype).removeprefix("torch.")
    return getattr(sys.modules["torch"], name) if is_torch(array) else numpy_type(name)


def new_numpy(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Returns a new array. Raises MemoryError also for more bytes than NumPy can count."""
    try:
        return np.empty(shape, dtype)
    except ValueError as error:
        raise MemoryError(str(error)) from None


def new_torch(shape: tuple[int, ...], dtype: Any, device: Any = "cpu", **options: Any) -> Any:
    """Returns a new tensor. A large tensor on the CPU lies on large pages, as a NumPy array does."""
    tensor = sys.modules["torch"].empty(shape, dtype=dtype, device=device, **options)
    if tensor.is_cpu:
        prefer_large_pages(tensor.data_ptr(), tensor.nbytes)
    return tensor


class Output:
    """Memory for a result: a new NumPy array or torch tensor."""

    def __init__(self, array: Any) -> None:
        self._array = array
        self.memory = array if is_numpy(array) else torch_memory(array)

    def result(self) -> Any:
        return self._array


class DlpackOutput:
    """Memory for a result: a buffer that becomes an array of the input's library after the result is written."""

    def __init__(self, like: Any, shape: tuple[int, ...], dtype: str, buffer: Any = None) -> None:
        """buffer: memory that is used in place of a new buffer."""
        self._module = module_of(like)
        self._namespace = like.__array_namespace__() if hasattr(like, "__array_namespace__") else None
        module = sys.modules.get(self._module)
        if self._namespace is None and self._module != "tensorflow" and not hasattr(module, "from_dlpack"):
            rule = "no array of this kind can be made: it has no __array_namespace__, and its module no from_dlpack"
            raise InvalidType(rule=rule, given=type_name(like), expected="numpy.from_dlpack(x)")
        self._buffer = new_buffer(shape, dtype) if buffer is None else buffer
        self.memory: Memory = RawArray.from_dlpack(self._buffer, "", "")

    def result(self) -> Any:
        if self._namespace is not None:
            return self._namespace.from_dlpack(self._buffer)
        if self._module == "tensorflow":
            return sys.modules["tensorflow"].experimental.dlpack.from_dlpack(self._buffer.__dlpack__())
        return sys.modules[self._module].from_dlpack(self._buffer)


def torch_memory(tensor: Any) -> Memory:
    """Returns the memory of a dense tensor, on the CPU or on a CUDA device, that requires no gradient. Checks nothing."""
    dtype = _name_of(tensor)
    if tensor.is_cuda:
        return cuda.torch_memory(tensor, dtype)
    if dtype in SHARED_WITH_NUMPY:
        return tensor.numpy()  # type: ignore[no-any-return]
    size = tensor.element_size()
    strides = [stride * size for stride in tensor.stride()]
    return RawArray.make(tensor.data_ptr(), tensor.shape, strides, dtype, True, tensor)


def _checked_torch_memory(tensor: Any, op: str, argument: str, to_write: bool, anywhere: bool) -> Memory:
    torch = sys.modules["torch"]
    if not tensor.is_cpu and not (anywhere and tensor.is_cuda and cuda.runs_torch()):
        raise _elsewhere(op, argument, f"a tensor on {tensor.device}", anywhere)
    if tensor.layout is not torch.strided or tensor.is_nested:
        given = "a nested tensor" if tensor.is_nested else str(tensor.layout)
        raise InvalidType(op, argument, "must be a dense tensor", given, "torch.strided")
    found = _unreadable(tensor)
    if found:
        raise _recorded(op, argument, to_write, *found)
    if _name_of(tensor) not in SIZES:
        raise unknown_type(op, argument, str(tensor.dtype))
    if tensor.is_conj() or tensor.is_neg():
        if to_write:
            raise InvalidType(op, argument, "must hold its elements as they are", "a conj or neg view")
        tensor = tensor.resolve_conj().resolve_neg()
    if to_write and not tensor.is_inference():
        torch.autograd.graph.increment_version(tensor)  # so that a backward pass that needs the old elements raises an error
    return torch_memory(tensor.detach() if tensor.requires_grad else tensor)


def is_watched(tensor: Any) -> bool:
    """Returns whether operators take a tensor, but only through torch, which must record or trace the call."""
    dense = tensor.layout is sys.modules["torch"].strided and not tensor.is_nested and not tensor.is_quantized
    here = tensor.is_cpu or (tensor.is_cuda and cuda.runs_torch())
    return dense and here and _name_of(tensor) in SIZES and _unreadable(tensor) is not None


def _unreadable(tensor: Any) -> tuple[str, str] | None:
    """Returns the rule that forbids a direct read of a dense tensor's memory, and the given value; None if no rule does."""
    torch = sys.modules["torch"]
    if tensor.requires_grad and torch.is_grad_enabled():
        return "gradients would be lost here", "a tensor that requires grad"
    if has_tangent(tensor):
        return "the tangent would be lost here", "a dual tensor"
    if torch.jit.is_tracing():
        return "a trace would hold the result as a constant", "a call within a trace"
    try:
        if torch._is_functional_tensor(tensor):
            raise TypeError
        if _name_of(tensor) in SIZES:
            torch_memory(tensor.detach().resolve_conj().resolve_neg())
    except (RuntimeError, TypeError):  # tensors of transforms and of subclasses have no memory
        return "must be a tensor with memory of its own", type_name(tensor)
    return None


def has_tangent(tensor: Any) -> bool:
    forward_ad = sys.modules["torch"].autograd.forward_ad
    return forward_ad._current_level >= 0 and forward_ad.unpack_dual(tensor).tangent is not None


def _name_of(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _recorded(op: str, argument: str, to_write: bool, rule: str, given: str) -> InvalidType:
    detached = f"{argument if argument.isidentifier() else 'x'}.detach()"
    expected = detached if to_write or op in WITHOUT_OUT else f"a call without out, or {detached}"
    if op in ("tiling", "merge", "apply_tiled"):
        expected = "a tensor made under torch.no_grad(), or .detach()"
    return InvalidType(op, argument, rule, given, expected)


def unknown_type(op: str, argument: str, given: str) -> InvalidType:
    """Returns the error for an array of another library with an element type that patchfold lacks."""
    name = argument if argument.isidentifier() else "x"
    expected = f"{name}.to(torch.complex64)" if given == "torch.complex32" else ""
    return InvalidType(op, argument, "must have an element type of this library", given, expected)


def _elsewhere(op: str, argument: str, given: str, anywhere: bool) -> InvalidType:
    """Returns the error for an array on a device on which the function does not run."""
    rule = "must lie in the processor's memory" + (" or on a CUDA device" if anywhere else "")
    return InvalidType(op, argument, rule, given, "a copy on the CPU")

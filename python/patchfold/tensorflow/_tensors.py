# SPDX-License-Identifier: Apache-2.0
"""Calls with tensors of TensorFlow, recorded by tapes and within tf.function. Imported only after TensorFlow.

Every operator is linear, but for a fill. So a call has three parts: the operator, its adjoint, and its linear part. Each
part is a call of TensorFlow's operator PatchfoldLinear, which the package's library adds. Without the library, and for calls
that pad with elements of the image, the parts are functions of Python.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from .. import _core
from .._arrays.dtypes import SIZES
from .._arrays.memory import DlpackOutput, memory
from .._operators import linear

LIBRARY = Path(__file__).absolute().parents[1] / "lib" / "libpatchfold_tensorflow.so"
_lock = threading.Lock()

CallOf: TypeAlias = Callable[[tuple[int, ...]], str]
"""A function from the shape of an operator's data to the call."""


def call(native: _core.Operator, x: Any, values: tuple[Any, ...]) -> Any:
    """Returns the result of an operator for a tensor or a variable; NotImplemented for TensorFlow's other objects. The
    native module calls this function."""
    tf: Any = sys.modules["tensorflow"]
    if not isinstance(x, (tf.Tensor, tf.Variable)):
        return NotImplemented
    x = tf.convert_to_tensor(x)
    if x.dtype.name not in SIZES and x.dtype != tf.bool:
        memory(x, native.name, "x", False)  # raises
    name = x.dtype.name
    open_call = _core.open_linear_call(native, name, *values)
    with _lock:
        operator = _loaded()
    if operator is not None:
        if x.shape.is_fully_defined():
            text, shape = _core.linear_call(native, tuple(x.shape), name, *values), []
        else:
            text, shape = open_call, [tf.shape(x, tf.int64)]
        if not linear.pads_with_elements(text):
            return _with_shape(_run(tf, operator, text, x, shape), open_call, x)

    def call_of(shape: tuple[int, ...]) -> str:
        return _core.linear_call(native, shape, name, *values)

    if x.shape.is_fully_defined():
        call_of(tuple(x.shape))  # a wrong call is refused before anything is recorded
        shape = tf.constant(list(x.shape), tf.int64)
    else:
        shape = tf.shape(x, tf.int64)
    return _with_shape(_linear_map(tf, call_of, x, shape, str), open_call, x)


def _with_shape(result: Any, open_call: str, x: Any) -> Any:
    """Gives a result in a graph its known extents, if the shape of x is known in part. Returns the result."""
    if x.shape.rank is not None and not x.shape.is_fully_defined():
        found = linear.open_result(open_call, x.shape.as_list())
        if found is not None:
            result.set_shape([int(size.factor) if size is not None and size.axis is None else None for size in found])
    return result


def library() -> str:
    """Adds PatchfoldLinear to TensorFlow, and returns the path of the library that has it."""
    with _lock:
        if _loaded() is None:
            raise FileNotFoundError(f"this build of patchfold has no library for this TensorFlow ({LIBRARY})")
    return str(LIBRARY)


@functools.cache
def _loaded() -> Any:
    """Returns TensorFlow's function for PatchfoldLinear; None without the library, or if TensorFlow cannot load it."""
    tf: Any = sys.modules["tensorflow"]
    if not LIBRARY.is_file():
        return None
    module = tf.load_op_library(str(LIBRARY))
    if not ctypes.CDLL(str(LIBRARY)).patchfold_tensorflow_use(ctypes.c_void_p(_core.tensorflow_target())):
        return None
    tf.RegisterGradient("PatchfoldLinear")(_gradient)
    return module.patchfold_linear


def _run(tf: Any, operator: Any, text: str, x: Any, shape: list[Any]) -> Any:
    result = operator(x, shape, call=text)
    if not shape and not tf.executing_eagerly():
        result.set_shape(linear.shapes(text)[1])
    return result


def _gradient(op: Any, upstream: Any) -> list[Any]:
    tf: Any = sys.modules["tensorflow"]
    x, *shape = op.inputs
    gradient = _run(tf, _loaded(), linear.transposed(op.get_attr("call").decode()), upstream, shape)
    if not tf.executing_eagerly():
        gradient.set_shape(x.shape)
    return [gradient, *(None for _ in shape)]


def _linear_map(tf: Any, call_of: CallOf, x: Any, shape: Any, part: Callable[[str], str]) -> Any:
    """Runs one part of a call, with derivatives of any order. shape: the shape of the operator's data, as a tensor."""
    back = linear.tangent_of if part is linear.transposed else linear.transposed

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def run(x: Any, shape: Any) -> Any:
        def gradient(upstream: Any) -> Any:
            return _linear_map(tf, call_of, upstream, shape, back), None

        return _value(tf, call_of, x, shape, part), gradient

    return run(x, shape)


def _value(tf: Any, call_of: CallOf, x: Any, shape: Any, part: Callable[[str], str]) -> Any:
    if tf.executing_eagerly():
        return _eager(tf, part(call_of(tuple(shape.numpy().tolist()))), x)

    def run(array: Any, shape: Any) -> Any:
        return linear.result(part(call_of(tuple(shape.tolist()))), array)

    result = tf.numpy_function(run, [x, shape], x.dtype, stateful=False)
    known = tf.get_static_value(shape)
    if known is not None:
        result.set_shape(linear.shapes(part(call_of(tuple(known.tolist()))))[1])
    return result


def _eager(tf: Any, call: str, x: Any) -> Any:
    if "CPU" not in x.device:
        with tf.device("CPU:0"):
            x = tf.identity(x)
    native, indices = linear.steps(call)
    target = linear.shapes(call)[1]
    if indices or 0 in x.shape:
        return tf.constant(linear.result(call, x.numpy()), shape=target)
    output = DlpackOutput(x, target, x.dtype.name)
    _core.run_linear(native, memory(x, call.removeprefix("adjoint ").partition(" ")[0], "x", False), output.memory)
    return output.result()

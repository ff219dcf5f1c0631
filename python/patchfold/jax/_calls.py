# SPDX-License-Identifier: Apache-2.0
"""The one JAX primitive for all operators of the table.

The primitive's only parameters are the element type and the call as text: the word "adjoint" for an adjoint, the operator,
the shape without axes of vmap, and the arguments. XLA runs the primitive on XLA's own buffers: patchfold._core has the
target. All operators are linear but for a fill, so that the derivative is the call itself and the transpose of the
derivative is the adjoint.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad as typed_ad
from jax.interpreters import batching, mlir

from .. import _core
from .._arrays.dtypes import SIZES
from .._arrays.memory import new_numpy
from .._errors import InvalidType, given_text
from .._operators.linear import padded, tangent_of, transposed

ad: Any = typed_ad  # JAX has types for a part of the module only

_TARGET = "patchfold"

jax.ffi.register_ffi_target(_TARGET, _core.xla_target(), platform="cpu")

_call: Any = Primitive("patchfold")

_shapes = functools.lru_cache(maxsize=1024)(_core.linear_shapes)


def apply(native: _core.Operator, x: Any, *values: Any) -> jax.Array:
    """Returns the result of an operator for an array, inside or outside transforms."""
    if not isinstance(x, (jax.Array, np.ndarray)):
        rule = "must be an array of JAX or NumPy"
        raise InvalidType(native.name, "x", rule, given_text(x), "jax.numpy.asarray(x)")
    x = jnp.asarray(x)
    call = _core.linear_call(native, x.shape, _dtype_name(native.name, x.dtype), *values)
    result: jax.Array = _call.bind(x, call=call, dtype=x.dtype)
    return result


def create(native: _core.Operator, dtype: Any, *values: Any) -> jax.Array:
    """Returns the result of an operator without data."""
    try:
        known = jax.dtypes.canonicalize_dtype(dtype)
    except TypeError:
        rule = "must be an element type of JAX"
        raise InvalidType(native.name, "dtype", rule, given_text(dtype)) from None
    call = _core.linear_call(native, (), _dtype_name(native.name, known), *values)
    result: jax.Array = _call.bind(call=call, dtype=known)
    return result


def _dtype_name(op: str, dtype: Any) -> str:
    """Returns the library's name of an element type; for a type that the library lacks, a name made of the size."""
    name = str(dtype)
    if name == "bool" or name in SIZES:
        return name
    if jnp.issubdtype(dtype, jax.dtypes.extended) or _bits(dtype) != 8 * dtype.itemsize:
        rule = "must have elements of whole bytes"
        raise InvalidType(op, "x", rule, name)
    return f"opaque{dtype.itemsize}"


def _bits(dtype: Any) -> int:
    return int((jnp.iinfo if jnp.issubdtype(dtype, jnp.integer) else jnp.finfo)(dtype).bits)


def _result(operands: tuple[Any, ...], call: str) -> tuple[int, ...]:
    """Returns the shape of the result. Arrays may have more axes in front, which number samples."""
    source, result = _shapes(call)
    samples = operands[0].shape[: operands[0].ndim - len(source)] if operands else ()
    return (*samples, *result)


def _abstract(*operands: Any, call: str, dtype: Any) -> Any:
    return jax.core.ShapedArray(_result(operands, call), dtype)


@functools.lru_cache(maxsize=1024)
def _compiled(call: str, dtype: Any) -> Any:
    return jax.jit(functools.partial(_call.bind, call=call, dtype=dtype))


def _eager(*operands: Any, call: str, dtype: Any) -> Any:
    return _compiled(call, dtype)(*operands)


def _lower_for_cpu(ctx: Any, *operands: Any, call: str, dtype: Any) -> Any:
    return jax.ffi.ffi_lowering(_TARGET)(ctx, *operands, call=call)


def on_host(*operands: Any, call: str, dtype: Any) -> Any:
    """Runs a call on a device without a target of patchfold's: copies the data to the processor, and the result back."""
    shape = _result(operands, call)

    description: Any = jax.ShapeDtypeStruct(shape, dtype)  # type: ignore[no-untyped-call]

    def run(*arrays: Any) -> Any:
        result = new_numpy(shape, dtype)
        _core.run_linear(call, np.asarray(arrays[0]) if arrays else None, result)
        return result

    return jax.pure_callback(run, description, *operands)


def _batch(operands: Any, axes: Any, *, call: str, dtype: Any) -> Any:
    return _call.bind(jnp.moveaxis(operands[0], axes[0], 0), call=call, dtype=dtype), 0


def _derive(primals: Any, tangents: Any, *, call: str, dtype: Any) -> Any:
    result = _call.bind(*primals, call=call, dtype=dtype)
    if not tangents or isinstance(tangents[0], ad.Zero):
        return result, ad.Zero.from_primal_value(result)
    return result, _linear_part(tangents[0], call, dtype)


def _linear_part(tangent: Any, call: str, dtype: Any) -> Any:
    """The call without its fill, of operations that all have a transpose."""
    call = tangent_of(call)
    source, result = _shapes(call)
    samples = tangent.ndim - len(source)
    if 0 in result:
        return jnp.zeros((*tangent.shape[:samples], *result), dtype)
    call, indices = padded(call)
    for axis, index in indices:
        tangent = jnp.take(tangent, index, axis=samples + axis, mode="clip")
    return _call.bind(tangent, call=call, dtype=dtype)


def _transpose(cotangent: Any, x: Any, *, call: str, dtype: Any) -> Any:
    return [_call.bind(cotangent, call=transposed(call), dtype=dtype)]


_call.def_impl(_eager)
_call.def_abstract_eval(_abstract)
mlir.register_lowering(_call, _lower_for_cpu, platform="cpu")
mlir.register_lowering(_call, mlir.lower_fun(on_host, multiple_results=False))
batching.primitive_batchers[_call] = _batch
ad.deflinear2(_call, _transpose)
ad.primitive_jvps[_call] = _derive

__all__ = ["apply", "create", "on_host"]

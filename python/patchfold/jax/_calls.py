# SPDX-License-Identifier: Apache-2.0
"""The one JAX primitive for all operators of the table.

The primitive's only parameters are the element type and the call as text: the word "adjoint" for an adjoint, the operator,
the shape without axes of vmap, and the arguments. XLA runs the primitive on XLA's own buffers: patchfold._core has the
targets for the processor and for CUDA devices. All operators are linear but for a fill, so the derivative is the call with
a fill of 0, and the transpose of the derivative is the adjoint.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.extend.mlir import ir
from jax.interpreters import ad as typed_ad
from jax.interpreters import batching, mlir
from jax.sharding import NamedSharding, PartitionSpec

from .. import _core
from .._arrays import cuda
from .._arrays.dtypes import SIZES, similar_type
from .._arrays.memory import new_numpy
from .._errors import Error, InvalidType, InvalidValue, given_text
from .._operators.linear import padded, tangent_of, transposed
from .._operators.table import operator_named

ad: Any = typed_ad  # JAX has types for a part of the module only

_TARGET = "patchfold"

_PLATFORMS = ("cpu", "cuda") if cuda.library_file() else ("cpu",)
"""JAX's names of the platforms with a target."""

for _platform in _PLATFORMS:
    jax.ffi.register_ffi_target(_TARGET, _core.xla_target(_platform == "cuda"), _platform.replace("cuda", "CUDA"))
jax.ffi.register_ffi_target_as_batch_partitionable(_TARGET)

_call: Any = Primitive("patchfold")

_shapes = functools.lru_cache(maxsize=1024)(_core.linear_shapes)
_batch_axes = functools.lru_cache(maxsize=1024)(_core.linear_batch)


def apply(op: str, x: Any, *values: Any) -> jax.Array:
    """Returns the result of an operator for an array, inside or outside transforms."""
    native = operator_named(op)[0]
    if not isinstance(x, (jax.Array, np.ndarray)):
        rule = "must be an array of JAX or NumPy"
        raise InvalidType(native.name, "x", rule, given_text(x), "jax.numpy.asarray(x)")
    x = jnp.asarray(x)
    name = _dtype_name(native.name, x.dtype)
    is_open = not all(isinstance(size, int) for size in x.shape)
    call = _open_call(native, x.shape, name, values) if is_open else _core.linear_call(native, x.shape, name, *values)
    result: jax.Array = _call.bind(x, call=call, dtype=x.dtype)
    return result


def _open_call(native: _core.Operator, shape: tuple[Any, ...], dtype: str, values: tuple[Any, ...]) -> str:
    """Returns the call for data whose batch jax.export leaves open. The call has the extent 1 in place of each open one: the
    target takes the batch from XLA's buffers."""
    known = tuple(size if isinstance(size, int) else 1 for size in shape)
    try:
        call = _core.linear_call(native, known, dtype, *values)
    except Error as error:
        hint = "an open extent counts as 1 here: only a batch that the result has may be open"
        raise type(error)(error.operator, error.argument, **{**error._facts(), "hint": hint}) from None
    if not all(isinstance(size, int) for size in shape[_batch_axes(call) :]):
        rule = "may be open only along a batch that the result has"
        raise InvalidValue(native.name, "x", rule, str(shape), "numbers for the other extents")
    return call


def create(op: str, dtype: Any, *values: Any) -> jax.Array:
    """Returns the result of an operator without data."""
    native = operator_named(op)[0]
    try:
        known = jax.dtypes.canonicalize_dtype(dtype)
    except TypeError:
        rule = "must be an element type of JAX"
        raise InvalidType(native.name, "dtype", rule, given_text(dtype), hint=similar_type(dtype)) from None
    call = _core.linear_call(native, (), _dtype_name(native.name, known), *values)
    result: jax.Array = _call.bind(call=call, dtype=known)
    return result


def _dtype_name(op: str, dtype: Any) -> str:
    """Returns the library's name of an element type; for a type that the library lacks, a name made of the size."""
    name = str(dtype)
    if name == "bool" or name in SIZES:
        return name
    info = jnp.iinfo if jnp.issubdtype(dtype, jnp.integer) else jnp.finfo
    if jnp.issubdtype(dtype, jax.dtypes.extended) or info(dtype).bits != 8 * dtype.itemsize:
        rule = "must have elements of whole bytes"
        raise InvalidType(op, "x", rule, name)
    return f"opaque{dtype.itemsize}"


def _result(operands: tuple[Any, ...], call: str) -> tuple[int, ...]:
    """Returns the shape of the result: the samples and the batch of the operand, then the other axes of the call's
    result."""
    result = _shapes(call)[1]
    return (*operands[0].shape[: _shared_axes(operands, call)], *result[_batch_axes(call) :]) if operands else result


def _shared_axes(operands: tuple[Any, ...], call: str) -> int:
    """Returns the number of first axes that a result shares with its operand: the samples, which are axes of vmap, and the
    batch."""
    return operands[0].ndim - len(_shapes(call)[0]) + _batch_axes(call) if operands else 0


def _abstract(*operands: Any, call: str, dtype: Any) -> Any:
    """Returns the type of the result. The result is sharded like the operand along samples and batch, and is not sharded
    along other axes."""
    shape = _result(operands, call)
    if not operands:
        return jax.core.ShapedArray(shape, dtype)
    given = operands[0].sharding
    shared = tuple(given.spec)[: _shared_axes(operands, call)]
    spec: Any = PartitionSpec(*shared, *(None,) * (len(shape) - len(shared)))  # type: ignore[no-untyped-call]
    return operands[0].update(shape=shape, dtype=dtype, weak_type=False, sharding=NamedSharding(given.mesh, spec))


@functools.lru_cache(maxsize=1024)
def _compiled(call: str, dtype: Any) -> Any:
    return jax.jit(functools.partial(_call.bind, call=call, dtype=dtype))


def _lower_to_target(ctx: Any, *operands: Any, call: str, dtype: Any) -> Any:
    shapes = [aval.shape for aval in (*ctx.avals_in, *ctx.avals_out)]
    # XLA does not cut the last axis of an array.
    shared = min(_shared_axes(tuple(ctx.avals_in), call), *(len(shape) - 1 for shape in shapes))
    can_cut = shared > 0 and all(isinstance(size, int) and size for shape in shapes for size in shape)
    attributes = _ways_to_cut(shared, *shapes) if can_cut else None
    return jax.ffi.ffi_lowering(_TARGET, extra_attributes=attributes)(ctx, *operands, call=call)


def _ways_to_cut(shared: int, source: tuple[int, ...], target: tuple[int, ...]) -> dict[str, Any]:
    """Returns the attributes that let XLA cut a call for several devices along the first axes: for XLA's old partitioner,
    and for Shardy."""
    count = ir.StringAttr.get(str(shared))
    attributes: dict[str, Any] = {"mhlo.frontend_attributes": ir.DictAttr.get({"num_batch_dims": count})}
    if jax.config.jax_use_shardy_partitioner:  # type: ignore[attr-defined]
        sizes = [*source, *target[shared:]]
        names = [chr(ord("i") + each) if each < 18 else f"z_{each - 17}" for each in range(len(sizes))]
        ours, theirs = (f"[{', '.join(each)}]" for each in (names[: len(source)], names[:shared] + names[len(source) :]))
        factors = ", ".join(f"{name}={size}" for name, size in zip(names, sizes, strict=True))
        rule = f"#sdy.op_sharding_rule<({ours})->({theirs}) {{{factors}}}, custom>"
        attributes["sdy.sharding_rule"] = ir.Attribute.parse(rule)
    return attributes


def _lower_elsewhere(ctx: Any, *operands: Any, call: str, dtype: Any) -> Any:
    if ctx.module_context.lowering_parameters.for_export:
        rule = "cannot be exported for this platform, where patchfold calls Python"
        given = ", ".join(ctx.module_context.platforms)
        raise InvalidValue("jax.export", "platforms", rule, given, f"platforms={[*_PLATFORMS]}")
    return mlir.lower_fun(on_host, multiple_results=False)(ctx, *operands, call=call, dtype=dtype)


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
    """Returns the result of the call without its fill for a tangent, by operations that all have a transpose."""
    call = tangent_of(call)
    source, result = _shapes(call)
    samples = tangent.ndim - len(source)
    if 0 in result:
        return jnp.zeros(_result((tangent,), call), dtype)
    call, indices = padded(call)
    for axis, index in indices:
        tangent = jnp.take(tangent, index, axis=samples + axis, mode="clip")
    return _call.bind(tangent, call=call, dtype=dtype)


def _transpose(cotangent: Any, x: Any, *, call: str, dtype: Any) -> Any:
    result = _call.bind(cotangent, call=transposed(call), dtype=dtype)
    sharding = getattr(x.aval, "sharding", None)  # of an explicit mesh, whose cotangents must be sharded alike
    if sharding is not None and sharding != jax.typeof(result).sharding:
        result = jax.sharding.reshard(result, sharding)  # type: ignore[no-untyped-call]
    return [result]


_call.def_impl(lambda *operands, call, dtype: _compiled(call, dtype)(*operands))
_call.def_abstract_eval(_abstract)
for _platform in _PLATFORMS:
    mlir.register_lowering(_call, _lower_to_target, platform=_platform)
mlir.register_lowering(_call, _lower_elsewhere)
batching.primitive_batchers[_call] = _batch
ad.deflinear2(_call, _transpose)
ad.primitive_jvps[_call] = _derive

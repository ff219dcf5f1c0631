# SPDX-License-Identifier: Apache-2.0
"""Converts the arguments of a merge to the form that the library takes."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arguments import is_integer
from .._arrays.dtypes import SIZES, similar_type
from .._arrays.kinds import dtype_of, is_torch, shape_of
from .._errors import InvalidType, InvalidValue, given_text, text_in, value_text

MERGE = "merge"
_SMALL = 1 << 20
_MOST_WEIGHTS = 1 << 28
_MOST_TILES = 1 << 32
_PARAMETERS = {"gaussian": ("sigma", "sigma as a part of the tile"), "tukey": ("alpha", "alpha from 0 to 1")}
_EACH_WEIGHT = "must have a weight for each element of a whole tile's result"


def name_of_type(dtype: Any) -> str:
    """Returns the name of an element type of NumPy, torch, ml_dtypes or patchfold."""
    name = text_in(dtype)
    return value_text(dtype).removeprefix("torch.") if name is None else name


def element_type(argument: str, dtype: Any) -> tuple[str, int]:
    """Returns the name and the size of an element type of any library; the name is "opaque" if its elements cannot be
    added."""
    name = name_of_type(dtype)
    if name in SIZES:
        return name, SIZES[name]
    known = dtype_of(dtype)
    if known is None:
        raise InvalidType(MERGE, argument, "must be an element type", given_text(dtype), hint=similar_type(dtype))
    if known.hasobject or not known.itemsize:
        raise InvalidType(MERGE, argument, "elements must have a fixed size", str(known))
    return (known.name if known.name in SIZES and known.isnative else "opaque"), known.itemsize


def _of_torch(tensor: Any) -> Any:
    """Returns a tensor in a form that NumPy reads: on the processor, of an element type that NumPy has."""
    tensor = tensor.detach().cpu()
    return tensor.double() if tensor.is_floating_point() else tensor


def _reals(array: Any, argument: str, what: str) -> npt.NDArray[Any]:
    """Returns weights of any real type as a NumPy array."""
    try:
        weights = np.asarray(_of_torch(array) if is_torch(array) else array)
    except (ValueError, TypeError, RuntimeError):  # rows of different lengths, or memory that NumPy cannot read
        raise InvalidType(MERGE, argument, f"{what}must hold numbers", given_text(array)) from None
    is_real = weights.dtype.kind in "biuf" or str(weights.dtype) in SIZES and weights.dtype.kind == "V"  # ml_dtypes
    if not is_real or isinstance(array, np.ma.MaskedArray):
        given = given_text(array) if isinstance(array, np.ma.MaskedArray) else str(weights.dtype)
        raise InvalidType(MERGE, argument, f"{what}must hold real numbers", given)
    return weights


def weight_of(weight: Any, tile: Any) -> float | npt.NDArray[np.float64] | None:
    """Returns the weight of a tile in the library's form; the library checks its shape. An array that is much too large is
    refused before its conversion, since a view of one number may have any size."""
    if weight is None:
        return None
    weights = _reals(weight, "weight", "")
    if weights.ndim == 0:
        return float(weights)
    if weights.size > _SMALL and hasattr(tile, "shape"):
        shape = shape_of(tile, MERGE, "tile")
        if weights.size > math.prod(shape):
            rule = "must broadcast to the shape of the tile's result"
            raise InvalidValue(MERGE, "weight", rule, str(weights.shape), str(shape))
    return np.asarray(weights, np.float64)


def _numbers(array: Any, what: str, rule: str, extents: tuple[int, ...] | None) -> npt.NDArray[np.float64]:
    """Returns weights as an array of float64, of the given extents if they are known."""
    weights = _reals(array, "window", f"{what} ")
    if extents is not None and weights.shape != extents:
        raise InvalidValue(MERGE, "window", rule, str(weights.shape), str(extents))
    if weights.size > _MOST_WEIGHTS:
        raise InvalidValue(MERGE, "window", "must have at most 2^28 weights", str(weights.shape))
    return np.array(weights, np.float64, order="C")  # a copy, which the caller cannot change


def window_value(window: Any) -> Any:
    """Returns a copy of a window, which the caller cannot change: None, a name, (name, parameter), a list of arrays, or an
    array."""
    read = window_of(window, None)
    if isinstance(read, tuple):
        return read if isinstance(window, tuple) else read[0]
    for weights in read if isinstance(read, list) else [] if read is None else [read]:
        weights.flags.writeable = False
    return read


def window_of(window: Any, extents: tuple[int, ...] | None) -> Any:
    """Reads a window: None, (name, parameter or None), a list of arrays, or an array. extents: the extents of a whole tile's
    result along the tiled axes, which an array must have; None: not known yet."""
    if window is None:
        return None
    name = text_in(window)
    if name is not None:
        if name not in _core.WORDS["WindowName"]:
            rule = "must be a window's name, one list of weights for each tiled axis, or an array"
            raise InvalidValue(MERGE, "window", rule, repr(window), ", ".join(map(repr, _core.WORDS["WindowName"])))
        return name, None
    name = text_in(window[0]) if isinstance(window, tuple) and window else None
    if name is not None:
        if name not in _PARAMETERS or len(window) != 2:
            rule = "a name with a number must be the gaussian or tukey"
            expected = " or ".join(f"({each!r}, {meaning})" for each, (_, meaning) in _PARAMETERS.items())
            raise InvalidValue(MERGE, "window", rule, repr(window), expected)
        return name, _parameter(_PARAMETERS[name][0], window[1])
    if isinstance(window, (list, tuple)):
        lengths = [None] * len(window) if extents is None else [(extent,) for extent in extents]
        if len(window) != len(lengths):
            rule = "must have one list of weights for each tiled axis"
            raise InvalidValue(MERGE, "window", rule, f"{len(window)} entries", str(len(lengths)))
        return [
            _numbers(axis, f"entry {i}", f"entry {i} {_EACH_WEIGHT}", length)
            for i, (axis, length) in enumerate(zip(window, lengths, strict=True))
        ]
    if not hasattr(window, "shape"):
        rule = "must be a window's name, one list of weights for each tiled axis, or an array"
        raise InvalidType(MERGE, "window", rule, given_text(window))
    return _numbers(window, "it", _EACH_WEIGHT, extents)


def _parameter(what: str, value: Any) -> float:
    is_real = hasattr(value, "__float__") and not isinstance(value, (bool, np.complexfloating))
    if is_real and not getattr(value, "ndim", 0):
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):  # a class, a broken number, or one beyond float64
            pass
    raise InvalidType(MERGE, "window", f"{what} must be a number", given_text(value))


def mask_array(mask: Any) -> npt.NDArray[np.bool_]:
    """Returns a copy of a mask, which the caller cannot change."""
    found = _bools(mask)
    if found.size > _MOST_TILES:
        raise InvalidValue(MERGE, "mask", "must have at most 2^32 entries", str(found.shape))
    found = np.array(found, order="C")
    found.flags.writeable = False
    return found


def _bools(mask: Any) -> npt.NDArray[np.bool_]:
    try:
        array = np.asarray(mask)
    except (ValueError, TypeError, RuntimeError):
        array = np.empty(0, object)
    if array.dtype != bool or isinstance(mask, np.ma.MaskedArray):
        raise InvalidType(MERGE, "mask", "must hold a bool for each tile", given_text(mask), "dtype bool")
    return array


def mask_bytes(tiling: _core.Tiling, mask: Any) -> bytes | None:
    """Returns a mask as one byte for each tile."""
    if mask is None:
        return None
    array = _bools(mask)
    if array.shape not in (tiling.grid, (tiling.size,)):
        rule = "must have an entry for each tile"
        raise InvalidValue(MERGE, "mask", rule, str(array.shape), f"{tiling.grid} or {(tiling.size,)}")
    return array.tobytes()


def plain_number(value: Any) -> Any:
    """Returns a number that the library has accepted, as a plain Python number."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if is_integer(value):
        return operator.index(value)
    return complex(value) if isinstance(value, (complex, np.complexfloating)) else float(value)


def makes_labels(reduce: Any) -> bool:
    """Returns whether a reduction makes labels of scores, so that the output lacks the first axis of the results."""
    return text_in(reduce) == "argmax"


def output_axes(tiling: _core.Tiling, rank: int, reduce: Any) -> tuple[int, ...]:
    """Returns the tiled axes of an output with this number of axes."""
    if not makes_labels(reduce):
        return tiling.axes_in(rank)
    return tuple(axis - 1 for axis in tiling.axes_in(rank + 1))


def output_of(
    tiling: _core.Tiling, reduce: Any, dtype: str | None, tiles: Any, channels: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...], Any]:
    """Returns the shape, the tiled axes and the element type of an output. dtype: the given type; tiles: that of tiles."""
    if not makes_labels(reduce):
        shape = tiling.output_shape(channels)
        return shape, tiling.axes_in(len(shape)), tiles if dtype is None else dtype
    spec = _core.MergeSpec.make(reduce, None, dtype or "", None, None, False, None)
    return _core.merge_output(tiling, spec, channels)


def merge_spec(
    tiling: _core.Tiling,
    window: Any,
    reduce: Any,
    dtype: Any,
    copy: Any,
    mask: bytes | None,
    fill: Any,
    memory_limit: Any,
    sink_rows: int = 1,
) -> _core.MergeSpec:
    """Returns the library's spec, after all checks that are possible before the first tile."""
    running_sums = {"sum": 1, "sum48": 2}.get(copy, 0) if isinstance(copy, str) else 0
    if not running_sums and not isinstance(copy, (bool, np.bool_)):
        raise InvalidType(MERGE, "copy", 'must be True, False, "sum" or "sum48"', given_text(copy))
    name = "" if dtype is None else element_type("dtype", dtype)[0]
    if name == "opaque":
        rule = "must be a number's type in this machine's byte order, or be left out"
        raise InvalidType(MERGE, "dtype", rule, value_text(dtype))
    if is_integer(memory_limit):
        memory_limit = operator.index(memory_limit)
        if memory_limit < 0:
            given = value_text(memory_limit)
            raise InvalidValue(MERGE, "memory_limit", "must be at least 0", given)
        memory_limit = min(memory_limit, 2**62)
    spec = _core.MergeSpec.make(
        reduce, window_of(window, tiling.result), name, mask, fill, bool(copy), memory_limit, sink_rows, running_sums
    )
    _core.check_merge(tiling, spec)
    return spec

# SPDX-License-Identifier: Apache-2.0
"""Turns nodes of torch.export into steps: operators of ATen that move elements, and operators of patchfold's family."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays.dtypes import BY_TORCH_CODE, SHARED_WITH_NUMPY
from .._orders.index_map import Indices
from .._orders.names import Name
from ._moves import MOST_PARTS, along, copying_convolution, gathered, joined, padded, permuted, repeated, windowed
from ._regions import Move

Shapes = Sequence["tuple[int, ...] | None"]
Values = Mapping[str, Any]  # arguments by their names in the schema; None for a tensor that is computed

# Operators whose result is their input in another shape, which the file holds.
SHAPED = {
    f"aten.{name}"
    for name in "view reshape _unsafe_view unsqueeze squeeze flatten unflatten alias clone contiguous detach detach_"
    " lift_fresh_copy view_as reshape_as _reshape_alias view_copy".split()
} | {"patchfold.contiguous"}
# Operators that convert element types: they move elements if the type stays.
CONVERTING = {"aten.to", "aten._to_copy", "aten.type_as"}
# Operators that insert zeros. Their moves give OUTSIDE in place of zeros, so the moves cannot compute constants.
FILLING = {"aten.constant_pad_nd", "aten.pad", "aten.convolution", "aten.conv1d", "aten.conv2d", "aten.conv3d"}


@dataclass(frozen=True)
class Tensor:
    """The name of a tensor in an argument."""

    name: str


def move_of(kind: str, arguments: Values, values: Values, shapes: Shapes, same: bool) -> tuple[tuple[str, ...], Move | None]:
    """Returns the tensors whose elements a node moves, and a function that moves them; None for a node that computes new
    elements. `same`: whether the type stays."""
    first = arguments.get("self", arguments.get("input"))
    if kind in ("aten.cat", "aten.concat", "aten.stack"):
        tensors = arguments["tensors"]
        names = tuple(tensor.name for tensor in tensors if isinstance(tensor, Tensor))
        stacked, axis = kind == "aten.stack", int(arguments.get("dim", 0))
        return names, (lambda indices: [joined(indices, axis, stacked)]) if len(names) == len(tensors) else None
    if kind == "aten.einsum" and (turned := permuted(str(arguments["equation"]))):
        return (arguments["tensors"][0].name,), turned
    if not isinstance(first, Tensor):
        return (), None
    names = (first.name,)
    shape = shapes[0] if shapes else None
    eval_dropout = kind in ("aten.dropout", "aten.feature_dropout") and not values.get("train", True)
    if (kind in SHAPED or (kind in CONVERTING and same) or eval_dropout) and shape is not None:
        return names, lambda indices: [indices[0].reshape(shape)]
    if kind in ("aten.expand", "aten.expand_as", "aten.broadcast_to") and shape is not None:
        return names, lambda indices: [np.broadcast_to(indices[0], shape)]
    if kind in FILLING and "pad" not in kind:
        return names, _convolution(values)
    make = _MOVES.get(kind)
    return names, make(values) if make is not None and _known(arguments, values) else None


def _known(arguments: Values, values: Values) -> bool:
    """Returns whether all settings of a move are known: there is no unknown tensor but the first, and no open size."""
    for name, value in arguments.items():
        if name in ("self", "input"):
            continue
        parts, held = (value, values[name]) if isinstance(value, list) else ([value], [values[name]])
        if any(isinstance(part, Tensor) and known is None for part, known in zip(parts, held, strict=True)):
            return False
        if name not in ("indices", "start", "end", "value", "memory_format") and any(part is None for part in held):
            return False
    return True


def _along(axis: int, where: Any) -> Callable[[Indices], Indices]:
    def cut(x: Indices) -> Indices:
        at: list[Any] = [slice(None)] * x.ndim
        at[axis] = where
        part: Indices = x[tuple(at)]
        return part

    return cut


def _slice(values: Values) -> Move:
    cut = _along(values.get("dim", 0), slice(values.get("start"), values.get("end"), values.get("step", 1)))
    return lambda indices: [cut(indices[0])]


def _narrow(values: Values) -> Move:
    start = int(values["start"])
    cut = _along(values["dim"], slice(start, start + int(values["length"])))
    return lambda indices: [cut(indices[0])]


def _parts(values: Values) -> Move:
    """Returns the move of split, split_with_sizes, chunk or unbind."""
    axis = int(values.get("dim", 0))

    def move(indices: Sequence[Indices]) -> Sequence[Indices]:
        (x,) = indices
        extent = x.shape[axis]
        sizes: Any = values.get("split_sizes", values.get("split_size"))
        if "chunks" in values:
            sizes = -(-extent // int(values["chunks"]))
        if extent // max(sizes if isinstance(sizes, int) else 1, 1) > MOST_PARTS:
            raise ValueError("too many parts")
        if sizes is None:
            return [np.take(x, number, axis) for number in range(extent)]
        ends = np.cumsum(sizes)[:-1] if isinstance(sizes, list) else np.arange(int(sizes), extent, int(sizes))
        return np.split(x, ends, axis)

    return move


def _transpose(values: Values) -> Move:
    return lambda indices: [indices[0].swapaxes(values.get("dim0", 0), values.get("dim1", 1))]


def _index(values: Values) -> Move | None:
    at = values["indices"]
    if any(part is not None and np.asarray(part).dtype.kind not in "iu" for part in at):
        return None
    return lambda indices: [gathered(indices[0], at)]


def _pad(values: Values) -> Move | None:
    """Returns the move of a pad; torch gives the pads of the last axis first."""
    if values.get("mode", "constant") != "constant" or values.get("value") not in (None, 0):
        return None
    pads = values["pad"]
    pairs = list(zip(pads[::2], pads[1::2], strict=True))[::-1]
    return lambda indices: [padded(indices[0], [*[(0, 0)] * (indices[0].ndim - len(pairs)), *pairs])]


def _repeat(values: Values) -> Move:
    return lambda indices: [repeated(indices[0], values.get("repeats", values.get("dims")))]


_MOVES: dict[str, Callable[[Values], Move | None]] = {
    "aten.slice": _slice, "aten.narrow": _narrow, "aten.split": _parts, "aten.chunk": _parts,
    "aten.split_with_sizes": _parts, "aten.unbind": _parts, "aten.transpose": _transpose, "aten.t": _transpose,
    "aten.swapaxes": _transpose, "aten.index": _index, "aten.constant_pad_nd": _pad, "aten.pad": _pad,
    "aten.repeat": _repeat, "aten.tile": _repeat,
    "aten.select": lambda v: lambda indices: [np.asarray(indices[0].take(int(v["index"]), int(v["dim"])))],
    "aten.permute": lambda v: lambda indices: [indices[0].transpose(v["dims"])],
    "aten.movedim": lambda v: lambda indices: [np.moveaxis(indices[0], v["source"], v["destination"])],
    "aten.index_select": lambda v: lambda indices: [along(indices[0], v["index"], v["dim"])],
    "aten.unfold": lambda v: lambda indices: [windowed(indices[0], int(v["dimension"]), int(v["size"]), int(v["step"]))],
}  # fmt: skip


def _convolution(values: Values) -> Move | None:
    weights, bias = values.get("weight"), values.get("bias")
    if weights is None or weights.ndim < 3 or (values.get("transposed") or False):
        return None
    if "bias" in values and bias is not None and np.any(bias):
        return None
    rank = weights.ndim - 2
    stride, dilation = (_axes(values.get(name, 1), rank) for name in ("stride", "dilation"))
    given = values.get("padding", 0)
    if given == "same":
        reach = [(k - 1) * d for k, d in zip(weights.shape[2:], dilation, strict=True)]
        pads = [(total // 2, total - total // 2) for total in reach]
    else:
        pads = [(pad, pad) for pad in _axes(0 if given == "valid" else given, rank)]
    return copying_convolution(weights, stride, dilation, pads, int(values.get("groups", 1)))


def _axes(value: Any, rank: int) -> list[int]:
    values = [int(part) for part in value] if isinstance(value, list) else [int(value)]
    return values * rank if len(values) == 1 else values


def folded(kind: str, values: Values, shape: tuple[int, ...] | None) -> list[np.ndarray[Any, Any]]:
    """Returns a node's results for constants, if it makes an array of `shape`; an empty list for other nodes."""
    if shape is None:
        return []
    dtype = BY_TORCH_CODE.get(values.get("dtype") or 0)
    made: Any = None
    if kind == "aten.arange":
        start, end, step = values.get("start", 0), values["end"], values.get("step", 1)
        if max(0, math.ceil((end - start) / step)) == math.prod(shape):
            made = np.arange(start, end, step)
    elif kind in ("aten.zeros", "aten.ones", "aten.full", "aten.scalar_tensor"):
        made = np.full(shape, values.get("fill_value", values.get("s", int(kind == "aten.ones"))))
    elif kind == "aten.eye":
        made = np.eye(shape[0], shape[1])
    elif kind in CONVERTING:
        made = values["self"].reshape(shape)
    elif kind in _ARITHMETIC:
        a, b = np.asarray(values["self"]), np.asarray(values["other"])
        if np.broadcast_shapes(a.shape, b.shape) == shape:
            made = _ARITHMETIC[kind](a, b * values.get("alpha", 1) if "alpha" in values else b)
    if made is None:
        return []
    return [made.astype(dtype) if dtype in SHARED_WITH_NUMPY else made]


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "aten.add": np.add, "aten.sub": np.subtract, "aten.mul": np.multiply, "aten.floor_divide": np.floor_divide,
    "aten.remainder": np.mod,
}  # fmt: skip


def name_of_node(kind: str, arguments: Values) -> Name | None:
    """Returns the name of a node in patchfold's family of operators, or None. "?" stands for a computed value."""
    if kind in ("aten.im2col", "patchfold.unfold"):
        return Name("unfold", {"kernel_size": _numbers(arguments, "kernel_size"), **_window(arguments)})
    if kind in ("aten.col2im", "patchfold.fold"):
        sizes = {name: _numbers(arguments, name) for name in ("output_size", "kernel_size")}
        return Name("fold", {**sizes, **_window(arguments)})
    for name, operator, factor in (
        ("pixel_shuffle", "depth_to_space", "upscale_factor"),
        ("pixel_unshuffle", "space_to_depth", "downscale_factor"),
    ):
        if kind in (f"aten.{name}", f"patchfold.{name}"):
            return Name(operator, {"block": _numbers(arguments, factor), "mode": "depth_first"})
    return None


def _numbers(arguments: Values, name: str) -> Any:
    values = arguments.get(name)
    listed = values if isinstance(values, list) else [values, values]
    if None in listed:
        return "?"
    if any(type(value) is not int for value in listed):
        raise ValueError(f"its {name} is {str(values)[:40]}")
    return tuple(listed)


def _window(arguments: Values) -> dict[str, Any]:
    found = {}
    for name, default in (("stride", 1), ("dilation", 1), ("padding", 0)):
        values = _numbers(arguments, name) if name in arguments else ()
        if any(value != default for value in values):
            found[name] = values
    return found

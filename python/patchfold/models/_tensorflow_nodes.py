# SPDX-License-Identifier: Apache-2.0
"""Turns nodes of TensorFlow and LiteRT into steps: nodes that move elements, and operators of patchfold's family.

LiteRT's operators have the names and attributes of TensorFlow's operators here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .._arguments import same_pads
from .._orders.index_map import Indices
from .._orders.names import Name, window
from ._moves import MOST_PARTS, along, copying_convolution, gathered, joined, padded, repeated, sized
from ._regions import Move

Attributes = Mapping[str, Any]
Given = Sequence[Any]  # for each input its values, or None if it is no constant
Shape = "tuple[int, ...] | None"

# Nodes whose result is their first input.
SAME = {"Identity", "Snapshot", "StopGradient", "PreventGradient", "EnsureShape", "CheckNumerics"}
# Nodes that insert zeros. Their moves give OUTSIDE in place of zeros, so the moves cannot compute constants.
CONVOLUTIONS = {"Conv2D", "Conv3D", "DepthwiseConv2dNative"}
FILLING = {"Pad", "PadV2", *CONVOLUTIONS}
# Nodes that compute each element from the elements at the same place, and keep the first input's shape.
ELEMENTWISE = set(
    "Relu Relu6 LeakyRelu Elu Selu Sigmoid Tanh Softmax LogSoftmax Softplus Erf Exp Log Sqrt Rsqrt Square Abs Neg Cast"
    " BiasAdd Softsign Sin Cos Floor Ceil Round Logistic HardSwish Prelu Gelu Quantize Dequantize".split()
)
BROADCASTING = {"Add", "AddV2", "Sub", "Mul", "RealDiv", "Div", "Maximum", "Minimum", "SquaredDifference", "FloorDiv", "Pow"}


def moved_by(kind: str, count: int) -> range:
    """Returns the numbers of the inputs that a node moves."""
    if kind in ("Pack", "Concatenation"):
        return range(count)
    if kind == "ConcatV2":
        return range(count - 1)
    return range(1, 2) if kind == "Split" else range(min(count, 1))


def move_of(kind: str, attributes: Attributes, given: Given, shape: tuple[int, ...] | None) -> Move | None:
    """Returns a function that moves the elements of a node's inputs; None for a node that computes new elements. `shape`:
    the first result's, if known."""
    if kind in SAME:
        return lambda indices: [indices[0]]
    if kind in CONVOLUTIONS:
        return _convolution(kind, attributes, given)
    if kind == "Reshape" and shape is not None:
        return lambda indices: [indices[0].reshape(shape)]
    make = _MOVES.get(kind)
    taken = moved_by(kind, len(given))
    if make is None or any(values is None for place, values in enumerate(given) if place not in taken):
        return None
    return make(attributes, [None if place in taken else np.asarray(values) for place, values in enumerate(given)])


def _numbers(values: Any) -> list[int]:
    return [int(value) for value in np.asarray(values).reshape(-1)]


def _squeeze(attributes: Attributes, given: Given) -> Move:
    axes = tuple(attributes.get("squeeze_dims") or ())
    return lambda indices: [np.squeeze(indices[0], axes or None)]


def _strided_slice(attributes: Attributes, given: Given) -> Move:
    begins, ends, steps = (_numbers(values) for values in given[1:4])
    where: list[Any] = []
    for place, (begin, end, step) in enumerate(zip(begins, ends, steps, strict=True)):

        def masked(name: str, bit: int = place) -> bool:
            return bool(int(attributes.get(name, 0)) >> bit & 1)

        if masked("ellipsis_mask"):
            where.append(Ellipsis)
        elif masked("new_axis_mask"):
            where.append(None)
        elif masked("shrink_axis_mask"):
            where.append(begin)
        else:
            where.append(slice(None if masked("begin_mask") else begin, None if masked("end_mask") else end, step))
    return lambda indices: [np.asarray(indices[0][tuple(where)])]


def _slice(attributes: Attributes, given: Given) -> Move:
    begins, sizes = (_numbers(values) for values in given[1:3])

    def move(indices: Sequence[Indices]) -> Sequence[Indices]:
        (x,) = indices
        ends = [n if size < 0 else begin + size for n, begin, size in zip(x.shape, begins, sizes, strict=True)]
        return [x[tuple(slice(begin, end) for begin, end in zip(begins, ends, strict=True))]]

    return move


def _pad(attributes: Attributes, given: Given) -> Move | None:
    if len(given) > 2 and np.any(given[2] != 0):
        return None
    pairs = [(int(begin), int(end)) for begin, end in given[1].reshape(-1, 2)]
    return lambda indices: [padded(indices[0], pairs)]


def _concat(attributes: Attributes, given: Given) -> Move:
    axis = int(attributes["axis"]) if "axis" in attributes else _numbers(given[-1])[0]
    return lambda indices: [joined(indices, axis)]


def _unpack(attributes: Attributes, given: Given) -> Move:
    axis = int(attributes.get("axis", 0))

    def move(indices: Sequence[Indices]) -> Sequence[Indices]:
        (x,) = indices
        if x.shape[axis] > MOST_PARTS:
            raise ValueError("too many parts")
        return [np.take(x, number, axis) for number in range(x.shape[axis])]

    return move


def _split(attributes: Attributes, given: Given) -> Move:
    parts, axis = int(attributes["num_split"]), _numbers(given[0])[0]
    if not 0 < parts <= MOST_PARTS:
        raise ValueError("too many parts")
    return lambda indices: np.split(indices[0], parts, axis)


def _split_at(attributes: Attributes, given: Given) -> Move:
    sizes, axis = _numbers(given[1]), _numbers(given[2])[0]

    def move(indices: Sequence[Indices]) -> Sequence[Indices]:
        rest = indices[0].shape[axis] - sum(size for size in sizes if size >= 0)
        return np.split(indices[0], np.cumsum([rest if size < 0 else size for size in sizes])[:-1], axis)

    return move


def _gather(attributes: Attributes, given: Given) -> Move | None:
    if int(attributes.get("batch_dims", 0)) != 0:
        return None
    axis = _numbers(given[2])[0] if len(given) > 2 else int(attributes.get("axis", 0))
    return lambda indices: [along(indices[0], given[1], axis)]


def _gather_nd(attributes: Attributes, given: Given) -> Move | None:
    if int(attributes.get("batch_dims", 0)) != 0:
        return None
    return lambda indices: [gathered(indices[0], list(np.moveaxis(given[1], -1, 0)))]


def _broadcast(attributes: Attributes, given: Given) -> Move:
    shape = _numbers(given[1])

    def move(indices: Sequence[Indices]) -> Sequence[Indices]:
        sized(*shape)
        return [np.broadcast_to(indices[0], shape)]

    return move


_MOVES: dict[str, Callable[[Attributes, Given], Move | None]] = {
    "Reshape": lambda attributes, given: lambda indices: [indices[0].reshape(_numbers(given[1]))],
    "Transpose": lambda attributes, given: lambda indices: [indices[0].transpose(_numbers(given[1]))],
    "ExpandDims": lambda attributes, given: lambda indices: [np.expand_dims(indices[0], _numbers(given[1])[0])],
    "Pack": lambda attributes, given: lambda indices: [joined(indices, int(attributes.get("axis", 0)), stacked=True)],
    "Tile": lambda attributes, given: lambda indices: [repeated(indices[0], _numbers(given[1]))],
    "Squeeze": _squeeze, "StridedSlice": _strided_slice, "Slice": _slice, "Pad": _pad, "PadV2": _pad, "ConcatV2": _concat,
    "Concatenation": _concat, "Unpack": _unpack, "Split": _split, "SplitV": _split_at, "GatherV2": _gather,
    "Gather": _gather, "GatherNd": _gather_nd, "BroadcastTo": _broadcast,
}  # fmt: skip


def _convolution(kind: str, attributes: Attributes, given: Given) -> Move | None:
    """Returns the move of a convolution of (N, I1..IR, C): filters are (k1..kR, C, O), or (k1..kR, C, M) of one channel
    each."""
    weights = given[1] if len(given) > 1 else None
    if weights is None or weights.ndim not in (4, 5) or (len(given) > 2 and (given[2] is None or np.any(given[2]))):
        return None
    if not str(attributes.get("data_format", "NHWC")).endswith("C") or attributes.get("activation"):
        return None
    rank = weights.ndim - 2
    kernel = weights.shape[:rank]
    filters = weights.reshape(*kernel, -1)[..., None, :] if kind == "DepthwiseConv2dNative" else weights
    filters = np.moveaxis(filters, (-1, -2), (0, 1))
    stride, dilation = (list(attributes.get(name) or [1] * (rank + 2))[1:-1] for name in ("strides", "dilations"))
    padding, explicit = attributes.get("padding", "VALID"), list(attributes.get("explicit_paddings") or [])

    def move(indices: Sequence[Indices]) -> Sequence[Indices]:
        x = np.moveaxis(indices[0], -1, 1)
        pads = [(0, 0)] * rank
        if padding == "SAME":
            pads = [same_pads(x.shape[2 + a], kernel[a], stride[a], dilation[a]) for a in range(rank)]
        elif padding == "EXPLICIT":
            pads = list(zip(explicit[2:-2:2], explicit[3:-2:2], strict=True))
        groups = x.shape[1] // filters.shape[1]
        copying = copying_convolution(filters, stride, dilation, pads, groups)
        if copying is None:
            raise ValueError("computes")
        return [np.moveaxis(copying([x])[0], 1, -1)]

    if copying_convolution(filters, stride, dilation, [(0, 0)] * rank, 1) is None:
        return None
    return move


# Nodes that are operators of patchfold's family.


def name_of_node(kind: str, attributes: Attributes, given: Given, shape: tuple[int, ...] | None) -> Name | None:
    """Returns the name of a node in patchfold's family of operators, or None. "?" stands for a computed value.

    `shape`: the first input's, if known.
    """
    last = {} if attributes.get("data_format") == "NCHW" else {"layout": "channels_last"}
    if kind in ("SpaceToDepth", "DepthToSpace"):
        block = int(attributes.get("block_size", 0))
        operator = "space_to_depth" if kind == "SpaceToDepth" else "depth_to_space"
        return Name(operator, {"block": (block, block), "mode": "blocks_first", **last})
    if kind in ("SpaceToBatchND", "BatchToSpaceND", "SpaceToBatch", "BatchToSpace"):
        return _batches(kind, attributes, given)
    if kind in ("ExtractImagePatches", "ExtractVolumePatches"):
        return patches(attributes, shape, 2 if kind == "ExtractImagePatches" else 3)
    return None


def _batches(kind: str, attributes: Attributes, given: Given) -> Name:
    cuts = kind.startswith("SpaceToBatch")
    block, pads = ([*given, None, None][1:3]) if kind.endswith("ND") else (None, [*given, None][1])
    arguments: dict[str, Any] = {"block": "?" if block is None else tuple(_numbers(block))}
    if not kind.endswith("ND"):
        arguments["block"] = (int(attributes.get("block_size", 0)),) * 2
    if pads is None or np.any(pads):
        pairs = "?" if pads is None else [(int(begin), int(end)) for begin, end in np.asarray(pads).reshape(-1, 2)]
        arguments["padding" if cuts else "crops"] = pairs
    return Name("space_to_batch" if cuts else "batch_to_space", {**arguments, "layout": "channels_last"})


def patches(attributes: Attributes, shape: tuple[int, ...] | None, rank: int = 2) -> Name:
    """Returns the name of ExtractImagePatches or ExtractVolumePatches. `shape`: the input's."""
    names = ("ksizes", "strides", "rates")
    kernel, stride, rates = (_numbers(attributes.get(name, [1] * (rank + 2)))[1:-1] for name in names)
    padding: Any = {}
    pads: list[tuple[int, int]] = []
    if attributes.get("padding") == "SAME":
        sound = len(kernel) == len(stride) == len(rates) == rank and min(*kernel, *stride, *rates) > 0
        if sound and shape is not None and len(shape) == rank + 2:
            # If the stride exceeds the kernel, the first patch of a volume moves inward, as in TensorFlow.
            pads_of = _shifted if rank == 3 else same_pads
            pads = [pads_of(*axis) for axis in zip(shape[1:-1], kernel, stride, rates, strict=True)]
        else:
            padding = {"padding": "?"}
    arguments = {"kernel_size": tuple(kernel), **window(stride, rates, pads), **padding}
    return Name("unfold", {**arguments, "layout": "channels_last", "order": "kernel", "positions": "grid"})


def _shifted(extent: int, size: int, stride: int, rate: int) -> tuple[int, int]:
    total = (-(-extent // stride) - 1) * stride + (size - 1) * rate + 1 - extent
    begin = total // 2 if total >= 0 else -(-total // 2)
    return begin, total - begin


# Values and shapes that are known without a run of the model.


def folded(kind: str, attributes: Attributes, given: Given, most: int) -> list[np.ndarray[Any, Any]]:
    """Returns a node's results for constants, of up to `most` elements; an empty list for other nodes."""
    arrays = [np.asarray(values) for values in given]
    if kind in _ARITHMETIC:
        a, b = arrays
        if math.prod(np.broadcast_shapes(a.shape, b.shape)) > most:
            return []
        return [np.asarray(_ARITHMETIC[kind](a, b))]
    if kind == "Range":
        start, limit, step = (int(values) for values in arrays)
        return [np.arange(start, limit, step)] if len(range(start, limit, step)) <= most else []
    if kind == "Fill" and math.prod(_numbers(arrays[0])) <= most:
        return [np.full(_numbers(arrays[0]), arrays[1])]
    if kind == "Prod":
        return [np.asarray(np.prod(arrays[0], tuple(_numbers(arrays[1])), keepdims=bool(attributes.get("keep_dims"))))]
    if kind == "Cast" and arrays[0].dtype.kind in "iub":
        return [arrays[0].astype(np.int64)]
    if kind == "MatrixDiagV3" and arrays[0].ndim == 1 and not any(np.any(arrays[place]) for place in (1, 4)):
        given_extents = [_numbers(values)[0] for values in arrays[2:4]]
        rows, columns = (len(arrays[0]) if extent < 0 else extent for extent in given_extents)
        if max(rows, 0) * max(columns, 0) > most or min(rows, columns) != len(arrays[0]):
            return []
        return [np.eye(rows, columns, dtype=arrays[0].dtype) * np.resize(arrays[0], columns)]
    if kind == "Neg":
        return [np.negative(arrays[0])]
    return []


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "Add": np.add, "AddV2": np.add, "Sub": np.subtract, "Mul": np.multiply, "FloorDiv": np.floor_divide,
    "FloorMod": np.mod, "Maximum": np.maximum, "Minimum": np.minimum,
}  # fmt: skip


def shape_of(kind: str, shapes: Sequence[tuple[int, ...] | None]) -> tuple[int, ...] | None:
    """Returns the shape of the result of a node that computes element by element; None for other nodes."""
    if kind in ELEMENTWISE and shapes:
        return shapes[0]
    known = [shape for shape in shapes if shape is not None]
    if kind in BROADCASTING and len(known) == len(shapes) == 2:
        try:
            return tuple(int(extent) for extent in np.broadcast_shapes(*known))
        except ValueError:
            return None
    return None

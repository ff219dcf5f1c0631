# SPDX-License-Identifier: Apache-2.0
"""Finds the layers of OpenVINO's IR that move elements, and the layers that are operators of patchfold's family."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .._arguments import same_pads
from .._orders.index_map import Indices
from .._orders.names import Name, window
from ._moves import along, copying_convolution, padded, repeated
from ._regions import Move
from ._tensorflow_nodes import name_of_node

Data = Mapping[str, str]
Given = Sequence[Any]  # for each input its values, or None if it is no constant
Shapes = Sequence["tuple[int, ...] | None"]

OWN = "Patchfold"  # the beginning of the names of layers that patchfold's extension adds
# Layers whose result is their first input in another shape, which the file holds.
SHAPED = ("Reshape", "Squeeze", "Unsqueeze")
# Layers that insert zeros. Their moves give OUTSIDE in place of zeros, so the moves cannot compute constants.
FILLING = ("Pad", "Convolution", "GroupConvolution")
# Layers that are computed here if all their inputs are constants.
FOLDED: dict[str, Callable[..., Any]] = {
    "Add": np.add, "Subtract": np.subtract, "Multiply": np.multiply, "Maximum": np.maximum, "Minimum": np.minimum,
    "Negative": np.negative, "Convert": lambda x: x.astype(np.int64) if x.dtype.kind in "iub" else x,
}  # fmt: skip


def move_of(kind: str, data: Data, given: Given, shapes: Shapes) -> Move | None:
    """Returns the move of a layer's first input (of all inputs, for Concat); None for a layer that computes.

    A reshape takes the shape of its result from OpenVINO's own shapes in the file.
    """
    first, settings = shapes[0] if shapes else None, given[1:]
    if kind in SHAPED and first is not None:
        return lambda indices: [indices[0].reshape(first)]
    if kind == "Concat":
        axis = int(data.get("axis", 0))
        return lambda indices: [np.concatenate(list(indices), axis)]
    if kind in ("Convolution", "GroupConvolution"):
        return _convolution(kind, data, settings)
    if any(values is None for values in settings):
        return None
    lists = [[int(value) for value in np.asarray(values).reshape(-1)] for values in settings]
    make = _MOVES.get(kind)
    return None if make is None or not lists else make(data, lists, settings)


def _gather(data: Data, lists: list[list[int]], settings: Given) -> Move | None:
    if int(data.get("batch_dims", 0)) != 0 or len(lists) < 2:
        return None
    axis, at = lists[1][0], np.asarray(settings[0])
    return lambda indices: [along(indices[0], at, axis)]


def _slice(data: Data, lists: list[list[int]], settings: Given) -> Move | None:
    if len(lists) < 3:
        return None
    begins, ends, steps = lists[:3]

    def move(indices: Sequence[Indices]) -> Sequence[Indices]:
        axes = lists[3] if len(lists) > 3 else list(range(len(begins)))
        where = [slice(None)] * indices[0].ndim
        for axis, begin, end, step in zip(axes, begins, ends, steps, strict=True):
            where[axis] = slice(begin, None if step < 0 and end < -indices[0].shape[axis] else end, step)
        return [indices[0][tuple(where)]]

    return move


def _strided_slice(data: Data, lists: list[list[int]], settings: Given) -> Move | None:
    masks = {
        name: [int(bit) for bit in text.split(",") if bit.strip()] for name, text in data.items() if text and "mask" in name
    }
    if any(any(masks.get(name, [])) for name in ("new_axis_mask", "shrink_axis_mask", "ellipsis_mask")):
        return None
    begins, ends = lists[:2]
    steps = lists[2] if len(lists) > 2 else [1] * len(begins)
    open_begins = [*masks.get("begin_mask", []), *[0] * len(begins)]
    open_ends = [*masks.get("end_mask", []), *[0] * len(begins)]

    def move(indices: Sequence[Indices]) -> Sequence[Indices]:
        where = tuple(
            slice(None if open_begins[a] else begin, None if open_ends[a] else end, step)
            for a, (begin, end, step) in enumerate(zip(begins, ends, steps, strict=True))
        )
        return [indices[0][where]]

    return move


def _pad(data: Data, lists: list[list[int]], settings: Given) -> Move | None:
    if data.get("pad_mode", "constant") != "constant" or (len(settings) > 2 and np.any(settings[2] != 0)):
        return None
    return lambda indices: [padded(indices[0], list(zip(lists[0], lists[1], strict=True)))]


def _split(data: Data, lists: list[list[int]], settings: Given) -> Move:
    axis = lists[0][0]
    if "num_splits" in data:
        return lambda indices: np.split(indices[0], int(data["num_splits"]), axis)
    return lambda indices: np.split(indices[0], np.cumsum(lists[1])[:-1], axis)


_MOVES: dict[str, Callable[[Data, list[list[int]], Given], Move | None]] = {
    "Transpose": lambda data, lists, settings: lambda indices: [indices[0].transpose(lists[0] or None)],
    "Tile": lambda data, lists, settings: lambda indices: [repeated(indices[0], lists[0])],
    "Gather": _gather, "Slice": _slice, "StridedSlice": _strided_slice, "Pad": _pad,
    "Split": _split, "VariadicSplit": _split,
}  # fmt: skip


def _convolution(kind: str, data: Data, settings: Given) -> Move | None:
    weights = settings[0] if settings else None
    if weights is None or data.get("auto_pad", "explicit") not in ("explicit", "valid"):
        return None
    groups = 1
    if kind == "GroupConvolution":
        groups = weights.shape[0]
        weights = weights.reshape(-1, *weights.shape[2:])
    if weights.ndim < 3:
        return None
    pads = _pads(data) or [(0, 0)] * (weights.ndim - 2)
    return copying_convolution(weights, ints_of(data, "strides"), ints_of(data, "dilations"), pads, groups)


def name_of_layer(kind: str, data: Data, given: Given, shape: tuple[int, ...] | None) -> Name | None:
    """Returns the name of a layer that is an operator of the family; None for others. "?" stands for a computed value."""
    if kind.startswith(OWN):
        return _own(kind.removeprefix(OWN), data, given, shape)
    if kind in ("DepthToSpace", "SpaceToDepth"):
        operator = "depth_to_space" if kind == "DepthToSpace" else "space_to_depth"
        return Name(operator, {"block": int(data.get("block_size", 1)), "mode": data.get("mode", "")})
    if kind in ("SpaceToBatch", "BatchToSpace"):
        block, begins, ends = (None if values is None else [int(v) for v in values] for values in given[1:4])
        arguments: dict[str, Any] = {"block": "?" if block is None else tuple(block[1:])}
        if begins is None or ends is None or any([*begins, *ends]):
            known = begins is not None and ends is not None
            pairs = list(zip(begins or [], ends or [], strict=False))[1:] if known else "?"
            arguments["padding" if kind == "SpaceToBatch" else "crops"] = pairs
        return Name("space_to_batch" if kind == "SpaceToBatch" else "batch_to_space", arguments)
    if kind == "Col2Im":
        arguments = {
            name: "?" if values is None else tuple(int(value) for value in values)
            for name, values in zip(("output_size", "kernel_size"), given[1:3], strict=True)
        }
        return Name("fold", arguments | _window(data))
    if kind == "ExtractImagePatches":
        kernel = ints_of(data, "sizes")
        pads: list[tuple[int, int]] | None = _same_pads(data, kernel, shape)
        arguments = {"kernel_size": tuple(kernel)} | window(ints_of(data, "strides"), ints_of(data, "rates"), pads or [])
        if pads is None:
            arguments["padding"] = "?"
        return Name("unfold", arguments | {"order": "kernel", "positions": "grid"})
    return None


def _own(kind: str, data: Data, given: Given, shape: tuple[int, ...] | None) -> Name | None:
    """Returns the name of a layer of patchfold's extension: an operator of OpenVINO, torch or TensorFlow (NHWC, ND)."""
    if kind == "Im2Col":
        return Name("unfold", {"kernel_size": tuple(ints_of(data, "kernel_size")), **_window(data)})
    if kind in ("PixelShuffle", "PixelUnshuffle"):
        shuffles = kind == "PixelShuffle"
        factor = int(data["upscale_factor" if shuffles else "downscale_factor"])
        operator = "depth_to_space" if shuffles else "space_to_depth"
        return Name(operator, {"block": (factor, factor), "mode": "depth_first"})
    if kind.endswith(("NHWC", "ND")):
        lists = {name: ints_of(data, name) for name in ("ksizes", "strides", "rates") if name in data}
        return name_of_node(kind.removesuffix("NHWC"), {**data, **lists}, given, shape)
    return name_of_layer(kind, data, given, shape)


def _window(data: Data) -> dict[str, Any]:
    return window(ints_of(data, "strides"), ints_of(data, "dilations"), _pads(data))


def _pads(data: Data) -> list[tuple[int, int]]:
    return list(zip(ints_of(data, "pads_begin"), ints_of(data, "pads_end"), strict=False))


def _same_pads(data: Data, kernel: list[int], shape: tuple[int, ...] | None) -> list[tuple[int, int]] | None:
    """Returns the padding of ExtractImagePatches-3 with auto_pad: ceil(extent / stride) patches, never negative."""
    mode = data.get("auto_pad", "valid")
    if mode not in ("same_upper", "same_lower"):
        return []
    if shape is None or len(shape) != 4:
        return None
    lists = kernel, ints_of(data, "strides"), ints_of(data, "rates")
    if any(len(values) != 2 or min(values) < 1 for values in lists):
        return None
    windows = zip(shape[2:], *lists, strict=True)
    return [same_pads(*window, upper=mode == "same_upper") for window in windows]


def ints_of(data: Data, name: str) -> list[int]:
    return [int(text) for text in data.get(name, "").split(",") if text.strip()]

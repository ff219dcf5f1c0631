# SPDX-License-Identifier: Apache-2.0
"""Turns nodes of ONNX into steps: finds the nodes that move elements, and their moves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from .._orders.index_map import Indices
from .._orders.names import Name, window
from ._moves import MOST_CONSTANT, copying_convolution, padded, permuted
from ._openvino_nodes import name_of_layer
from ._regions import MOST_ELEMENTS, Step
from ._tensorflow_nodes import patches

Constants = Mapping[str, Any]
DOMAIN = "patchfold"  # the domain of the operators that patchfold's library adds to ONNX Runtime
# A function that runs one node on the values of its inputs, by ONNX's reference implementation.
Run = Callable[[onnx.NodeProto, Constants], Sequence[Any]]

# The number of inputs that a node moves; 0: all. The other inputs are settings.
MOVES = {
    **dict.fromkeys(("Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Split", "Dropout"), 1),
    **dict.fromkeys(("Gather", "GatherND", "Expand", "Tile"), 1),
    "Concat": 0,
}
# Nodes that are computed here if all their inputs are constants.
FOLDED = set(MOVES) | set(
    "Add Sub Mul Div Mod Neg Abs Floor Ceil Sqrt Cast Range ConstantOfShape Min Max Equal Less Greater Not And Or Where"
    " ReduceProd ReduceSum ReduceMax ReduceMin Pad".split()
)


def step_of(node: onnx.NodeProto, name: str, constants: Constants, run: Run) -> Step | None:
    """Returns the step of a node that moves elements or is an operator of patchfold's family; None for any other node."""
    kind, inputs = node.op_type, list(node.input)
    if kind in ("DepthToSpace", "SpaceToDepth", "Col2Im"):
        return Step(name, kind, (inputs[0],), tuple(node.output), None, _direct(node, constants))
    if kind in MOVES:
        return _move(node, name, constants, run)
    if kind == "Pad":
        return _pad(node, name, constants)
    if kind == "Conv":
        return _convolution(node, name, constants)
    if kind == "Einsum" and (turned := permuted(str(attributes_of(node).get("equation", "")))):
        return Step(name, kind, (inputs[0],), tuple(node.output), turned)
    return None


def _move(node: onnx.NodeProto, name: str, constants: Constants, run: Run) -> Step | None:
    kind, inputs = node.op_type, list(node.input)
    moved = inputs if MOVES[kind] == 0 else inputs[: MOVES[kind]]
    settings = {tensor: constants.get(tensor) for tensor in inputs[len(moved) :] if tensor}
    if any(value is None for value in settings.values()):
        return None
    if kind == "Dropout" and len(inputs) > 2 and np.any(settings.get(inputs[2], 0)):
        return None  # it trains

    def move(indices: Sequence[Indices]) -> Sequence[Indices]:
        wanted = elements(kind, [indices[0], *settings.values()], attributes_of(node).get("axis", 0))
        if wanted is None or wanted > MOST_ELEMENTS:
            raise ValueError("too large")
        return run(node, settings | dict(zip(moved, indices, strict=True)))

    return Step(name, kind, tuple(moved), tuple(node.output)[: 1 if kind == "Dropout" else None], move)


def _pad(node: onnx.NodeProto, name: str, constants: Constants) -> Step | None:
    attributes, inputs = attributes_of(node), [*node.input, "", "", ""]
    if attributes.get("mode", "constant") != "constant" or any(t and t not in constants for t in inputs[1:4]):
        return None
    pads = constants[inputs[1]] if inputs[1] else attributes.get("pads", attributes.get("paddings"))
    value = constants[inputs[2]] if inputs[2] else attributes.get("value", 0)
    if pads is None or np.any(np.asarray(value) != 0):
        return None
    pads = [int(pad) for pad in np.asarray(pads).reshape(-1)]
    axes = [int(axis) for axis in constants[inputs[3]].reshape(-1)] if inputs[3] else None

    def move(indices: Sequence[Indices]) -> Sequence[Indices]:
        (x,) = indices
        at = list(range(x.ndim)) if axes is None else [axis % x.ndim for axis in axes]
        widths = [(0, 0)] * x.ndim
        for place, axis in enumerate(at):
            widths[axis] = (pads[place], pads[place + len(at)])
        return [padded(x, widths)]

    return Step(name, "Pad", (inputs[0],), tuple(node.output), move)


def _convolution(node: onnx.NodeProto, name: str, constants: Constants) -> Step | None:
    attributes, inputs = attributes_of(node), [*node.input, ""]
    bias = constants.get(inputs[2]) if inputs[2] else np.zeros(1)
    weights = constants.get(inputs[1])
    if weights is None or weights.ndim < 3 or bias is None or bias.any():
        return None
    rank = weights.ndim - 2
    pads = attributes.get("pads", [0] * 2 * rank)
    if attributes.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        return None
    move = copying_convolution(
        weights, attributes.get("strides", [1] * rank), attributes.get("dilations", [1] * rank),
        list(zip(pads[:rank], pads[rank:], strict=False)), attributes.get("group", 1),
    )  # fmt: skip
    return None if move is None else Step(name, "Conv", (inputs[0],), tuple(node.output), move)


def _direct(node: onnx.NodeProto, constants: Constants) -> Name:
    attributes = attributes_of(node)
    if node.op_type != "Col2Im":
        mode = "depth_first" if attributes.get("mode", "DCR") == "CRD" else "blocks_first"
        operator = "depth_to_space" if node.op_type == "DepthToSpace" else "space_to_depth"
        return Name(operator, {"block": attributes.get("blocksize"), "mode": mode})
    shape, block = (constants.get(tensor) for tensor in [*node.input, "", ""][1:3])
    arguments: dict[str, Any] = {
        "output_size": "?" if shape is None else tuple(int(value) for value in shape),
        "kernel_size": "?" if block is None else tuple(int(value) for value in block),
    }
    return Name("fold", arguments | _window(attributes))


def _listed(attributes: Mapping[str, Any], name: str) -> list[Any]:
    """Returns the entries of an attribute; none if the node has no attribute of this name."""
    values = attributes.get(name, [])
    if not isinstance(values, list):
        raise ValueError(f"{name}: must be a list of integers, not {type(values).__name__}")
    return values


def _window(attributes: Mapping[str, Any]) -> dict[str, Any]:
    strides, dilations, pads = (_listed(attributes, name) for name in ("strides", "dilations", "pads"))
    half = len(pads) // 2
    return window(strides, dilations, list(zip(pads[:half], pads[half:], strict=False)))


def own_of(node: onnx.NodeProto, constants: Constants, shape: tuple[int, ...] | None) -> Name | None:
    """Returns the name of a node of the domain patchfold; None for an operator that this version does not know. shape: the
    first input's, if known."""
    kind, attributes = node.op_type, attributes_of(node)
    if kind == "Im2Col":
        return Name("unfold", {"kernel_size": tuple(attributes["block_shape"]), **_window(attributes)})
    if kind in ("Col2Im", "SpaceToDepth", "DepthToSpace"):
        return _direct(node, constants)
    if kind == "ExtractImagePatches":
        return patches(attributes, shape)
    return name_of_layer(kind, {}, [constants.get(tensor) for tensor in node.input], shape)


def is_patches(node: onnx.NodeProto) -> bool:
    """Returns whether a node is TensorFlow's ExtractImagePatches, as tf2onnx writes it."""
    return bool(node.domain == "ai.onnx.contrib" and node.op_type == "ExtractImagePatches")


def settings_of(node: onnx.NodeProto, constants: Constants) -> dict[str, Any] | None:
    """Returns the settings of an ExtractImagePatches of tf2onnx, which are inputs of the node; None if one is computed."""
    *lists, padding = [*(constants.get(tensor) for tensor in node.input[1:5]), None, None, None, None][:4]
    if padding is None or any(values is None for values in lists):
        return None
    first = np.asarray(padding, object).reshape(-1)[:1].tolist() or [""]
    named = zip(("ksizes", "strides", "rates"), lists, strict=True)
    settings: dict[str, Any] = {name: [int(value) for value in np.asarray(values).reshape(-1)] for name, values in named}
    return settings | {"padding": first[0].decode(errors="replace") if isinstance(first[0], bytes) else str(first[0])}


def patches_of(node: onnx.NodeProto, constants: Constants, shape: tuple[int, ...] | None) -> Name:
    """Returns the name of an ExtractImagePatches of tf2onnx."""
    settings = settings_of(node, constants)
    if settings is None:
        return Name("unfold", {"kernel_size": "?", "layout": "channels_last", "order": "kernel", "positions": "grid"})
    return patches(settings, shape)


def bodies_of(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """Returns the graphs that a node holds, such as the branches of If."""
    return [body for a in node.attribute for body in ([a.g] if a.type == onnx.AttributeProto.GRAPH else a.graphs)]


def inputs_of(node: onnx.NodeProto) -> Iterator[str]:
    """Yields the inputs of a node, and the tensors that its bodies take from outside."""
    yield from node.input
    for body in bodies_of(node):
        for inner in body.node:
            yield from inputs_of(inner)
        for value in body.output:
            yield value.name


def free_prefix(graph: onnx.GraphProto) -> str:
    """Returns a prefix for names that no name of a graph has: "patchfold", or "patchfold2", .. in a model that patchfold has
    written before."""

    def names(graph: onnx.GraphProto) -> Iterator[str]:
        for entry in (*graph.input, *graph.initializer):
            yield entry.name
        for node in graph.node:
            yield from (node.name, *node.output)
            for body in bodies_of(node):
                yield from names(body)

    taken = {name.partition("/")[0] for name in names(graph)}
    prefixes = itertools.chain(["patchfold"], (f"patchfold{number}" for number in itertools.count(2)))
    return next(prefix for prefix in prefixes if prefix not in taken)


def attributes_of(node: onnx.NodeProto) -> dict[str, Any]:
    """Returns the attributes of a node, texts as str."""
    values = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute if not a.ref_attr_name}
    return {name: value.decode(errors="replace") if isinstance(value, bytes) else value for name, value in values.items()}


def constant_of(node: onnx.NodeProto) -> np.ndarray[Any, Any] | None:
    """Returns the values of a Constant; None for a large one, and for texts and sparse tensors."""
    attributes = attributes_of(node)
    if "value" in attributes:
        tensor = attributes["value"]
        if math.prod(tensor.dims) > MOST_CONSTANT or tensor.data_location == onnx.TensorProto.EXTERNAL:
            return None
        return numpy_helper.to_array(tensor)
    for suffix, dtype in (("int", np.int64), ("float", np.float32)):
        for name in (f"value_{suffix}", f"value_{suffix}s"):
            if name in attributes:
                return np.array(attributes[name], dtype)
    return None


def elements(kind: str, given: Sequence[Any], axis: int = 0) -> int | None:
    """Returns the number of elements of a node's result, before the node runs; None for inputs that the node refuses."""
    try:
        if kind == "Range":
            start, limit, step = (float(value) for value in given)
            return max(0, math.ceil((limit - start) / step))
        first = np.asarray(given[0])
        last = [int(value) for value in np.asarray(given[-1]).reshape(-1)]
        if kind == "ConstantOfShape":
            return int(math.prod(last))
        if kind == "Pad":
            pads = [int(value) for value in np.asarray(given[1]).reshape(-1)]
            padded = zip(first.shape, pads, pads[first.ndim :], strict=False)
            return int(math.prod(n + abs(begin) + abs(end) for n, begin, end in padded))
        if kind in ("Expand", "Tile"):
            return int(max(first.size, 1) * math.prod(max(value, 1) for value in last))
        if kind == "Gather":
            return int(first.size // max(first.shape[axis], 1) * len(last))
        return int(first.size * (len(last) if kind == "GatherND" else 1))
    except (ValueError, TypeError, ZeroDivisionError, OverflowError, IndexError):
        return None

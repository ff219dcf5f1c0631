# SPDX-License-Identifier: Apache-2.0
"""Models whose operators of the family are written with what a target has. Needs onnx."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnx.version_converter
from onnx import numpy_helper

from . import _onnx
from ._errors import ModelError
from ._expand import Nodes, Window, blocks_to_planes, col2im, planes_to_blocks
from ._onnx_nodes import attributes_of, bodies_of, constant_of

FAMILY = ("Col2Im", "DepthToSpace", "SpaceToDepth")
# The nodes that an operator is written with have these forms from this version of ONNX's operators on.
OLDEST = 13
COL2IM_SINCE = 18


@dataclass(frozen=True)
class Target:
    """What a target takes. `has` tells whether it has an operator of the family, of so many spatial axes."""

    has: Callable[[str, int], bool]
    opset: int | None = None


TARGETS: dict[str, Target] = {
    "basic": Target(lambda kind, rank: False),
    "tensorrt": Target(lambda kind, rank: kind != "Col2Im"),  # onnx-tensorrt, docs/operators.md, has no Col2Im
    "openvino": Target(lambda kind, rank: kind != "Col2Im" or rank == 2),  # OpenVINO, Col2Im-15
}


def target_of(text: str) -> Target:
    """A target by its name, or "onnx:N" for version N of ONNX's operators."""
    number = re.fullmatch(r"onnx:(\d{1,3})", text)
    if number:
        version = int(number[1])
        newest = onnx.defs.onnx_opset_version()
        if not OLDEST <= version <= newest:
            raise ModelError(f"target {text!r}: the version must be from {OLDEST} to {newest}, which this onnx knows")
        return Target(lambda kind, rank: kind != "Col2Im" or version >= COL2IM_SINCE, version)
    if text not in TARGETS:
        raise ModelError(f"there is no target {text!r}: write {', '.join(sorted(TARGETS))}, or onnx:N, as onnx:17")
    return TARGETS[text]


def portable(model: Any, target: str, *, sizes: Mapping[str, int] | None = None) -> onnx.ModelProto:
    """A model that computes the same with operators that a target has.

    Col2Im, DepthToSpace and SpaceToDepth become Reshape and Transpose, with Pad, Slice and Add where patches overlap. Each
    element's sum starts from +0 and adds its taps in ascending order, so the result is Col2Im's bit for bit; Inf and NaN
    stay where they are. All other nodes stay as they are.

    Arguments:
        model: path of an .onnx file, or an onnx.ModelProto, which is not changed.
        target: "tensorrt" (no Col2Im), "openvino" (Col2Im of two axes only), "onnx:N" for version N of ONNX's operators, or
            "basic": no operator of the family at all, for converters that have none.
        sizes: as for inspect; needed where DepthToSpace or SpaceToDepth have open extents other than the batch.

    Returns: an onnx.ModelProto; the same nodes where the target has all that the model uses.

    Raises: ModelError for what inspect refuses, an unknown target, and operators whose shape or kernel is computed.
    """
    wanted = target_of(target)
    shapes = _known_shapes(model, dict(sizes or {}))
    result = onnx.ModelProto()
    result.CopyFrom(model if isinstance(model, onnx.ModelProto) else onnx.load(os.fspath(model)))
    if result.functions:
        result = onnx.inliner.inline_local_functions(result)
    opset = next((entry.version for entry in result.opset_import if entry.domain in _onnx.STANDARD), OLDEST)
    if opset < OLDEST:
        result, opset = _converted(result, OLDEST), OLDEST
    _Writer(wanted, shapes).graph(result.graph, {}, "patchfold")
    if wanted.opset is not None and wanted.opset < opset:
        _check_nodes(result.graph, wanted.opset)
        for entry in result.opset_import:
            if entry.domain in _onnx.STANDARD:
                entry.version = wanted.opset
    return result


def _known_shapes(model: Any, sizes: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Shapes of tensors, -1 for an extent that depends on open sizes: it differs where these are taken differently."""
    one, other = (
        {n: s for graph in _onnx.read(model, sizes, spare) for n, s in graph.shapes.items()} for spare in ((1, 64), (3, 320))
    )
    return {
        name: tuple(a if a == b else -1 for a, b in zip(shape, other[name], strict=True))
        for name, shape in one.items()
        if len(other.get(name, ())) == len(shape)
    }


def _converted(model: onnx.ModelProto, version: int) -> onnx.ModelProto:
    try:
        return onnx.version_converter.convert_version(model, version)
    except Exception as error:
        raise ModelError(f"the model cannot be written for version {version} of ONNX's operators: {error}") from None


def _check_nodes(graph: onnx.GraphProto, version: int) -> None:
    """Raises ModelError for a node that version N of ONNX's operators has not, or not with these inputs and attributes."""
    for node in graph.node:
        for body in bodies_of(node):
            _check_nodes(body, version)
        if node.domain not in _onnx.STANDARD:
            continue
        label = f"node {node.name or next(iter(node.output), '')} ({node.op_type})"
        try:
            schema = onnx.defs.get_schema(node.op_type, version)
        except onnx.defs.SchemaError:
            raise ModelError(f"{label}: version {version} of ONNX's operators has no {node.op_type}") from None
        other = [attribute.name for attribute in node.attribute if attribute.name not in schema.attributes]
        if other or not schema.min_input <= len(node.input) <= schema.max_input:
            what = f"attribute {other[0]}" if other else f"form with {len(node.input)} inputs"
            raise ModelError(f"{label}: version {version} of ONNX's operators has no {what} of {node.op_type}")


class _Writer:
    def __init__(self, target: Target, shapes: Mapping[str, tuple[int, ...]]):
        self.target, self.shapes = target, shapes

    def graph(self, graph: onnx.GraphProto, outer: Mapping[str, Any], prefix: str) -> None:
        constants = dict(outer)
        for tensor in graph.initializer:
            if tensor.data_type == onnx.TensorProto.INT64 and len(tensor.dims) == 1 and tensor.dims[0] < 100:
                constants[tensor.name] = numpy_helper.to_array(tensor)
        nodes: list[onnx.NodeProto] = []
        for number, node in enumerate(graph.node):
            if node.op_type == "Constant" and node.domain in _onnx.STANDARD:
                values = constant_of(node)
                if values is not None:
                    constants[node.output[0]] = values
            if node.domain in _onnx.STANDARD and node.op_type in FAMILY:
                written = self._written(node, constants, f"{prefix}/{node.name or number}")
                if written is not None:
                    nodes += written.nodes
                    graph.initializer.extend(written.constants)
                    continue
            for body in bodies_of(node):
                self.graph(body, constants, f"{prefix}/{node.name or number}")
            nodes.append(node)
        copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
        del graph.node[:]
        graph.node.extend(copies)

    def _written(self, node: onnx.NodeProto, constants: Mapping[str, Any], prefix: str) -> Nodes | None:
        """The nodes that stand for an operator; None if the target has it."""
        kind = node.op_type
        label = f"node {node.name or node.output[0]} ({kind})"
        if kind == "Col2Im":
            extents, kernel = (_listed(constants.get(tensor)) for tensor in node.input[1:3])
            if extents is None or kernel is None:
                raise ModelError(f"{label}: its image_shape and block_shape must be constants; one of them is computed")
            if self.target.has(kind, len(kernel)):
                return None
            windows = _windows(label, attributes_of(node), extents, kernel)
            nodes = Nodes(prefix)
            last = col2im(nodes, node.input[0], windows)
        else:
            if self.target.has(kind, 2):
                return None
            nodes = Nodes(prefix)
            last = self._blocks(nodes, node, label)
        # The last node makes what the operator made.
        nodes.nodes[-1].output[list(nodes.nodes[-1].output).index(last)] = node.output[0]
        return nodes

    def _blocks(self, nodes: Nodes, node: onnx.NodeProto, label: str) -> str:
        attributes = attributes_of(node)
        shape, block = self.shapes.get(node.input[0]), attributes.get("blocksize", 0)
        if shape is None or len(shape) != 4 or min(shape[1:]) < 1:
            raise ModelError(f"{label}: the shape of its input is not known but for the batch; give open extents by sizes")
        if block < 1:
            raise ModelError(f"{label}: its blocksize must be at least 1; given {block}")
        crd = attributes.get("mode", "DCR") == "CRD"
        write, parts = (planes_to_blocks, shape[1:2]) if node.op_type == "DepthToSpace" else (blocks_to_planes, shape[2:])
        unit = block * block if node.op_type == "DepthToSpace" else block
        if any(part % unit for part in parts):
            raise ModelError(f"{label}: {list(parts)} must be multiples of {unit}, which its blocksize {block} needs")
        return write(nodes, node.input[0], shape[0], shape[1], shape[2:], block, crd)


def _listed(values: Any) -> list[int] | None:
    return None if values is None else [int(value) for value in np.asarray(values).reshape(-1)]


def _windows(label: str, attributes: Mapping[str, Any], extents: list[int], kernel: list[int]) -> list[Window]:
    rank = len(kernel)
    strides = attributes.get("strides", [1] * rank)
    dilations = attributes.get("dilations", [1] * rank)
    pads = attributes.get("pads", [0] * 2 * rank)
    if rank == 0 or not len(extents) == rank == len(strides) == len(dilations) or len(pads) != 2 * rank:
        raise ModelError(f"{label}: image_shape, block_shape, strides, dilations and pads must be for as many axes")
    windows = [
        Window(extent, size, stride, dilation, begin, end)
        for extent, size, stride, dilation, begin, end in zip(
            extents, kernel, strides, dilations, pads[:rank], pads[rank:], strict=True
        )
    ]
    for axis, window in enumerate(windows):
        if min(window.extent, window.kernel, window.stride, window.dilation) < 1 or min(window.begin, window.end) < 0:
            raise ModelError(
                f"{label}: extents, kernel, stride and dilation must be at least 1, pads at least 0, on axis {axis}"
            )
        if window.positions < 1:
            raise ModelError(f"{label}: no patch fits on axis {axis}")
    return windows

# SPDX-License-Identifier: Apache-2.0
"""Rewrites models so that operators of patchfold's family use only operators of a target. Needs onnx."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx.version_converter

from .._arguments import same_pads
from . import _onnx
from ._errors import ModelError, NotPortable
from ._expand import Nodes, Window, blocks_to_planes, col2im, im2col, planes_to_blocks
from ._inspect import OLDEST, stays_of, target_of, types_of
from ._onnx_nodes import attributes_of, bodies_of, free_prefix, settings_of
from ._regions import find_all
from ._rewriter import CONTRIB, copy_of, drop_domain, drop_unused, load_weights, rewrite_nodes, rewrite_with_few_axes
from ._targets import Target


def portable(model: Any, target: str, *, sizes: Mapping[str, int] | None = None) -> onnx.ModelProto:
    """Returns a model that computes the same with operators that a target has.

    Col2Im, DepthToSpace and SpaceToDepth become Reshape and Transpose, with Pad, Slice and Add where patches overlap. Each
    element's sum starts from +0 and adds its taps in ascending order, so the result is Col2Im's bit for bit; Inf and NaN
    stay where they are. TensorFlow's ExtractImagePatches, which tf2onnx leaves in the domain ai.onnx.contrib, becomes Pad,
    Slice and Concat. If tensors have more axes than the target accepts, chains of nodes that only move elements are
    rewritten with fewer axes. All other nodes stay as they are. The result is judged by the target's rules: operators
    of patchfold's family, axes of all tensors, element types of what is cut and joined. docs/porting.md has their sources.

    Arguments:
        model: path of an .onnx file, or an onnx.ModelProto, which is not changed.
        target: the system that will run the model.
            "basic": no Col2Im, DepthToSpace and SpaceToDepth; for converters that have none of the three.
            "coreml": ONNX Runtime's Core ML provider; DepthToSpace in mode DCR only; 5 axes; float16, float32.
            "litert": SpaceToDepth, and DepthToSpace in mode DCR only; 5 axes.
            "nnapi": DepthToSpace in mode DCR only; 4 axes; float32.
            "openvino": Col2Im of two spatial axes only, all else; 8 axes.
            "tensorrt": all but Col2Im; 8 axes; bfloat16, bool, float16, float32, int32, int64.
            "onnx:N": version N of ONNX's operators, from 13 on; Col2Im from 18 on. Other nodes must exist in version N.
        sizes: extents of open dimensions, by their names, as for inspect; needed where blocks are moved and extents other
            than the batch are open. No size is guessed: the model is read with two sizes for each open dimension, and what
            differs between the two is unknown. The inputs of the written model have the given extents.

    Returns: an onnx.ModelProto; with the same nodes if the target has all operators of the model. Weights that lie in files
        beside the file `model` are read into it; save more than 2 GB by onnx.save(.., save_as_external_data=True). Weights
        of a ModelProto that was loaded without them stay where they are.

    Raises: NotPortable if nodes are left that the target does not accept; its `stays` lists them, its `model` is what was
        written. ModelError for what inspect refuses, an unknown target, operators whose shape or kernel is computed, and
        for open sizes that a node does not take.
    """
    wanted = target_of(target)
    sizes = dict(sizes or {})
    graphs = _onnx.read(model, sizes)
    misfits = [misfit for graph in graphs for misfit in graph.misfits]
    if misfits and wanted.most_axes is not None:
        raise ModelError(f"{misfits[0]}; give open extents by sizes")
    types = [stay for graph in graphs for stay in types_of(find_all(graph), wanted)]
    result = copy_of(model)
    _onnx.fix_sizes(result.graph, sizes)
    shapes, constants = _known(result)
    opset = next((entry.version for entry in result.opset_import if entry.domain in _onnx.STANDARD), OLDEST)
    if opset < OLDEST:
        load_weights(result, model)  # onnx converts no weights in other files
        try:
            result, opset = onnx.version_converter.convert_version(result, OLDEST), OLDEST
        except Exception as error:
            raise ModelError(f"the model cannot be written for version {OLDEST} of ONNX's operators: {error}") from None
    if wanted.most_axes is not None:
        rewrite_with_few_axes(result, wanted.most_axes)
    rewrite_nodes(result.graph, constants, free_prefix(result.graph), _Writer(wanted, shapes).written)
    drop_domain(result, CONTRIB)
    if wanted.opset is not None and wanted.opset < opset:
        _check_nodes(result.graph, wanted.opset)
        for entry in result.opset_import:
            if entry.domain in _onnx.STANDARD:
                entry.version = wanted.opset
    drop_unused(result.graph)
    stays = types + stays_of(_onnx.read(result, {}), wanted)
    load_weights(result, model)
    if stays:
        raise NotPortable(wanted.name, result, stays)
    return result


def _known(model: onnx.ModelProto) -> tuple[dict[str, tuple[int, ...]], dict[str, Any]]:
    """Returns the shapes of tensors, with -1 for an extent that depends on open sizes, and the values of the main graph's
    tensors that do not depend on them, as a comparison of two trial sizes shows."""
    graphs, spare = (_onnx.read(model, {}, others) for others in ((1, 64), (3, 320)))
    one, other = ({n: s for graph in read for n, s in graph.shapes.items()} for read in (graphs, spare))
    values, others = graphs[0].constants, spare[0].constants
    constants = {name: value for name, value in values.items() if name in others and np.array_equal(value, others[name])}
    return _alike(one, other), constants


def _alike(one: Mapping[str, tuple[int, ...]], other: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Returns the shapes that are in both, with -1 for extents that differ."""
    return {
        name: tuple(a if a == b else -1 for a, b in zip(shape, other[name], strict=True))
        for name, shape in one.items()
        if len(other.get(name, ())) == len(shape)
    }


def _check_nodes(graph: onnx.GraphProto, version: int) -> None:
    """Raises ModelError for a node that a version of ONNX's operators lacks, or lacks with these inputs and attributes."""
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

    def written(self, node: onnx.NodeProto, constants: Mapping[str, Any], prefix: str) -> Nodes | None:
        """Returns the nodes that stand for an operator; None if the target has the operator."""
        kind = node.op_type
        label = f"node {node.name or node.output[0]} ({kind})"
        attributes = attributes_of(node)
        nodes = Nodes(prefix, self.target.most_axes)
        if kind == "Col2Im":
            given = [constants.get(tensor) for tensor in [*node.input, "", ""][1:3]]
            ranks = {np.size(values) for values in given if values is not None} or {1, 2, 3}
            if all(self.target.has(kind, rank, "") for rank in ranks):
                return None
            if any(values is None for values in given):
                raise ModelError(_no_constants(label, node, ("image_shape", "block_shape")))
            extents, kernel = ([int(value) for value in np.asarray(values).reshape(-1)] for values in given)
            windows = _windows(label, attributes, extents, kernel)
            last = col2im(nodes, node.input[0], windows, self._channels(label, node.input[0], kernel))
        elif kind == "ExtractImagePatches":
            last = self._patches(nodes, node, constants, label)
        else:
            if self.target.has(kind, 2, attributes.get("mode", "DCR")):
                return None
            last = self._blocks(nodes, node, label)
        # The last node gets the name of the operator's result.
        nodes.nodes[-1].output[list(nodes.nodes[-1].output).index(last)] = node.output[0]
        return nodes

    def _channels(self, label: str, tensor: str, kernel: list[int]) -> int:
        """Returns the number of channels of a Col2Im if the target's limit of axes makes a known number necessary; 0
        otherwise."""
        most = self.target.most_axes
        if most is None or most >= max(2 + 2 * len(kernel), 6):
            return 0
        shape, taps = self.shapes.get(tensor), math.prod(kernel)
        if shape is None or len(shape) != 3 or shape[1] < 1 or taps < 1 or shape[1] % taps:
            raise ModelError(f"{label}: its channels must be known, a multiple of {taps}; give open extents by sizes")
        return shape[1] // taps

    def _patches(self, nodes: Nodes, node: onnx.NodeProto, constants: Mapping[str, Any], label: str) -> str:
        settings = settings_of(node, constants)
        if settings is None:
            raise ModelError(_no_constants(label, node, ("ksizes", "strides", "rates", "padding")))
        kernel, strides, rates, padding = settings.values()
        shape = self.shapes.get(node.input[0])
        if shape is None or len(shape) != 4 or min(shape[1:]) < 1:
            raise ModelError(f"{label}: the shape of its input is not known but for the batch; give open extents by sizes")
        if any(len(values) != 4 for values in (kernel, strides, rates)) or padding not in ("SAME", "VALID"):
            raise ModelError(f"{label}: ksizes, strides and rates must have four numbers, padding must be SAME or VALID")
        windows = []
        for axis in (1, 2):
            window = (shape[axis], kernel[axis], strides[axis], rates[axis])
            if min(window) < 1:
                given_here = f"given {list(window[1:])} on axis {axis}"
                raise ModelError(f"{label}: ksizes, strides and rates must be at least 1; {given_here}")
            windows.append(Window(*window, *(same_pads(*window) if padding == "SAME" else (0, 0))))
        if any(window.positions < 1 for window in windows):
            raise ModelError(f"{label}: no patch fits into {list(shape[1:3])}")
        result = [0, *(window.positions for window in windows), kernel[1] * kernel[2] * shape[3]]
        return im2col(nodes, node.input[0], windows, result, last=True, kernel=True)

    def _blocks(self, nodes: Nodes, node: onnx.NodeProto, label: str) -> str:
        attributes = attributes_of(node)
        shape, block = self.shapes.get(node.input[0]), attributes.get("blocksize", 0)
        if shape is None or len(shape) != 4 or min(shape[1:]) < 1:
            raise ModelError(f"{label}: the shape of its input is not known but for the batch; give open extents by sizes")
        if block < 1 and "blocksize" not in attributes and len(node.input) > 1:
            raise ModelError(f"{label}: its blocksize must be an attribute; here it is an input, {node.input[1]}")
        if block < 1:
            raise ModelError(f"{label}: its blocksize must be at least 1; given {block}")
        crd = attributes.get("mode", "DCR") == "CRD"
        write, parts = (planes_to_blocks, shape[1:2]) if node.op_type == "DepthToSpace" else (blocks_to_planes, shape[2:])
        unit = block * block if node.op_type == "DepthToSpace" else block
        if any(part % unit for part in parts):
            raise ModelError(f"{label}: {list(parts)} must be multiples of {unit}, which its blocksize {block} needs")
        return write(nodes, node.input[0], shape[0], shape[1], shape[2:], (block, block), crd)


def _no_constants(label: str, node: onnx.NodeProto, names: Sequence[str]) -> str:
    """Returns a sentence that says why inputs of a node are no constants. names: the inputs after the node's data."""
    given = {attribute.name for attribute in node.attribute}
    attributes = [name for name in names if name in given]
    missing = names[max(len(node.input) - 1, 0) :]
    why = "one of them is computed, or not loaded; if open extents are why, give these by sizes"
    if attributes:
        why = f"here {_and(attributes)} {'is an attribute' if len(attributes) == 1 else 'are attributes'}, not inputs"
    elif missing:
        why = f"{_and(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    return f"{label}: its {_and(names)} must be constants; {why}"


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _windows(label: str, attributes: Mapping[str, Any], extents: list[int], kernel: list[int]) -> list[Window]:
    rank = len(kernel)
    strides = attributes.get("strides", [1] * rank)
    dilations = attributes.get("dilations", [1] * rank)
    pads = attributes.get("pads", [0] * 2 * rank)
    if rank == 0 or not len(extents) == rank == len(strides) == len(dilations) or len(pads) != 2 * rank:
        raise ModelError(f"{label}: image_shape, block_shape, strides, dilations and pads must be for as many axes")
    axes = zip(extents, kernel, strides, dilations, pads[:rank], pads[rank:], strict=True)
    windows = [Window(*axis) for axis in axes]
    for axis, window in enumerate(windows):
        if min(window.extent, window.kernel, window.stride, window.dilation) < 1 or min(window.begin, window.end) < 0:
            raise ModelError(
                f"{label}: extents, kernel, stride and dilation must be at least 1, pads at least 0, on axis {axis}"
            )
        if window.positions < 1:
            raise ModelError(f"{label}: no patch fits on axis {axis}")
    return windows

# SPDX-License-Identifier: Apache-2.0
"""Walks through an ONNX model and writes other nodes for some of its nodes. Needs onnx."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

import onnx
import onnx.inliner
from onnx import numpy_helper

from . import _onnx
from ._errors import naming
from ._expand import Nodes
from ._onnx_nodes import bodies_of, constant_of, inputs_of, is_patches
from ._targets import FAMILY

# The domain in which tf2onnx leaves TensorFlow's ExtractImagePatches, of (N, H, W, C), with its settings as further inputs.
CONTRIB = "ai.onnx.contrib"
SETTINGS = (onnx.TensorProto.INT64, onnx.TensorProto.INT32, onnx.TensorProto.STRING)


def copy_of(model: Any) -> onnx.ModelProto:
    """Returns a copy of a model, or the model of a file, with local functions inlined into their callers."""
    result = onnx.ModelProto()
    result.CopyFrom(model if isinstance(model, onnx.ModelProto) else onnx.load(os.fspath(model)))
    return onnx.inliner.inline_local_functions(result) if result.functions else result


def drop_domain(model: onnx.ModelProto, domain: str) -> None:
    """Removes a domain that no node uses: runtimes refuse domains that they do not know."""

    def used(graph: onnx.GraphProto) -> bool:
        return any(node.domain == domain or any(used(body) for body in bodies_of(node)) for node in graph.node)

    if not used(model.graph):
        kept = [entry for entry in model.opset_import if entry.domain != domain]
        del model.opset_import[:]
        model.opset_import.extend(kept)


def drop_unused(graph: onnx.GraphProto) -> None:
    """Removes constants that nothing uses, about which runtimes warn."""
    used = {tensor for node in graph.node for tensor in inputs_of(node)}
    used |= {value.name for value in (*graph.input, *graph.output)}
    for place in reversed(range(len(graph.initializer))):
        if graph.initializer[place].name not in used:
            del graph.initializer[place]
    for place in reversed(range(len(graph.node))):
        if graph.node[place].op_type == "Constant" and used.isdisjoint(graph.node[place].output):
            del graph.node[place]
    for node in graph.node:
        for body in bodies_of(node):
            drop_unused(body)


class Rewriter:
    """The base of rewriters. A derived class writes the nodes that stand for an operator of patchfold's family."""

    def written(self, node: onnx.NodeProto, constants: Mapping[str, Any], prefix: str) -> Nodes | None:
        """Returns the nodes that replace a node; None if the node remains."""
        raise NotImplementedError

    def graph(self, graph: onnx.GraphProto, outer: Mapping[str, Any], prefix: str) -> None:
        constants = dict(outer)
        for tensor in graph.initializer:
            if tensor.data_type in SETTINGS and len(tensor.dims) <= 1 and math.prod(tensor.dims) < 100:
                constants[tensor.name] = numpy_helper.to_array(tensor)
        nodes: list[onnx.NodeProto] = []
        for number, node in enumerate(graph.node):
            if node.op_type == "Constant" and node.domain in _onnx.STANDARD:
                values = constant_of(node)
                if values is not None:
                    constants[node.output[0]] = values
            if node.op_type in FAMILY if node.domain in _onnx.STANDARD else is_patches(node):
                with naming(f"node {node.name or number} ({node.op_type})"):
                    written = self.written(node, constants, f"{prefix}/{number}")
                if written is not None:
                    nodes += written.nodes
                    graph.initializer.extend(written.constants)
                    continue
            for body in bodies_of(node):
                self.graph(body, constants, f"{prefix}/{number}")
            nodes.append(node)
        copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
        del graph.node[:]
        graph.node.extend(copies)

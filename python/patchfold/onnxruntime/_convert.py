# SPDX-License-Identifier: Apache-2.0
"""Converts ONNX models so that operators of patchfold's family run on patchfold's kernels. Needs onnx."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import onnx
from onnx import helper
from onnx.reference.op_run import OpRun

from .. import onnx as definitions
from .._arrays.dtypes import BY_ONNX_CODE, SUMMABLE
from .._operators.columns import unfold
from .._orders.index_map import Indices
from ..models import _onnx
from ..models._expand import Nodes
from ..models._onnx_nodes import DOMAIN, attributes_of, free_prefix, settings_of
from ..models._regions import Found, Graph, find_all
from ..models._rewriter import (
    CONTRIB,
    SIZES,
    Written,
    copy_of,
    drop_domain,
    drop_unused,
    load_weights,
    open_shapes,
    rewrite,
    rewrite_nodes,
)
from ..models._targets import FAMILY

# ONNX's names of the element types that ONNX Runtime's tensors hold. Nodes of all other types stay with ONNX Runtime's own
# operators.
_HELD = {code: name for code, name in BY_ONNX_CODE.items() if not name.startswith("complex")}
MOVED = {_onnx.dtype_of(code) for code in _HELD}
SUMMED = {_onnx.dtype_of(code) for code, name in _HELD.items() if name in SUMMABLE}


def convert(model: Any, *, sizes: Mapping[str, int] | None = None) -> onnx.ModelProto:
    """Returns a model with operators of the domain "patchfold" in place of ONNX Runtime's own operators.

    Col2Im, DepthToSpace and SpaceToDepth are taken over, and so is TensorFlow's ExtractImagePatches, which tf2onnx leaves in
    the domain ai.onnx.contrib. Chains of other nodes with the effect of Im2Col, SpaceToDepth or DepthToSpace are replaced as
    well; torch's exporters, for one, write unfold as such a chain. Results are the same bit for bit, except for Col2Im of
    float16, which patchfold adds in float32 and rounds once. Col2Im also runs where ONNX Runtime computes no result or a
    wrong one: with other element types, and for N-D images with dilations. A node does not change if its element type is
    unknown or not accepted by the library (strings, complex, 4-bit numbers; float8 in Col2Im), or if it is an
    ExtractImagePatches with computed settings.

    Arguments:
        model: path of an .onnx file, or an onnx.ModelProto, which is not changed.
        sizes: extents of open dimensions, by their names, as for patchfold.models.portable. The inputs of the result have
            these extents. A chain of nodes is replaced only if its extents, other than the batch's, are known.

    Returns: an onnx.ModelProto. Sessions of this model need
        `options.register_custom_ops_library(patchfold.onnxruntime.library())`.

    Raises: patchfold.models.ModelError for what `patchfold.models.inspect` refuses: files that are no models, cycles, data
        outside the model's folder, and for sizes of dimensions that the model does not have.
    """
    sizes = dict(sizes or {})
    dtypes: dict[str, str] = {}
    for graph in _onnx.read(model, sizes):
        dtypes.update(graph.dtypes)
    result = copy_of(model)
    _onnx.fix_sizes(result.graph, sizes)
    rewrite(result, _chains, _ways, (Im2Col, SpaceToDepth, DepthToSpace))
    rewrite_nodes(result.graph, {}, free_prefix(result.graph), partial(_written, dtypes))
    if all(entry.domain != DOMAIN for entry in result.opset_import):
        result.opset_import.append(helper.make_opsetid(DOMAIN, 1))
        drop_domain(result, DOMAIN)
    drop_domain(result, CONTRIB)
    drop_unused(result.graph)
    load_weights(result, model)
    return result


def _chains(graph: Graph) -> list[Found]:
    """Returns the chains of nodes that are an operator. Convolutions are left out: even with filters of one 1 each, they
    give NaN beside Inf and NaN, and 0 for -0."""
    return [f for f in find_all(graph) if len(f.nodes) > 1 and f.dtype in MOVED and "Conv" not in f.kinds]


def left(model: onnx.ModelProto) -> list[str]:
    """Returns a sentence for each chain of a converted model that ONNX Runtime's own nodes still run although `convert`
    takes its operator, with the reason."""
    graph, spare = (_onnx.read(model, {}, others)[0] for others in SIZES)
    texts = []
    for found in _chains(graph):
        arguments = found.name.arguments
        if found.name.operator not in ("unfold", "space_to_depth", "depth_to_space"):
            continue
        if found.name.operator == "unfold" and arguments.get("stride") == arguments["kernel_size"]:
            continue  # one transposition of blocks side by side is faster than an operator
        shapes = [
            (each.shapes.get(tensor) or (0,))[1:] for each in (graph, spare) for tensor in (found.source, found.result)
        ]
        why = "the library has no operator of this order and shape"
        if shapes[:2] != shapes[2:]:
            why = "its extents are unknown; give them by sizes (--size NAME=N), all but the batch's"
        texts.append(f"node {found.nodes[0]} .. {found.nodes[-1]} ({found.name.operator}): {why}")
    return texts


def _written(dtypes: Mapping[str, str], node: onnx.NodeProto, constants: Mapping[str, Any], prefix: str) -> Nodes | None:
    """Returns a node of the domain "patchfold" that replaces a node; None if the node stays."""
    dtype = dtypes.get(node.input[0]) or dtypes.get(node.output[0], "")
    if dtype not in (SUMMED if node.op_type == "Col2Im" else MOVED):
        return None
    attributes, inputs = attributes_of(node), list(node.input)
    if node.op_type not in FAMILY:
        settings = settings_of(node, constants)
        if settings is None:
            return None
        attributes, inputs = settings, inputs[:1]
    nodes = Nodes(prefix)
    nodes.nodes.append(
        helper.make_node(node.op_type, inputs, list(node.output), name=node.name, domain=DOMAIN, **attributes)
    )
    return nodes


def _ways(sizes: tuple[Found, Found], maps: tuple[Indices, Indices], prefix: str) -> Iterator[Written]:
    found = sizes[0]
    source, result = open_shapes(*sizes)
    if source is None or result is None:
        return
    arguments = found.name.arguments
    nodes = Nodes(prefix)
    if found.name.operator == "unfold":
        if arguments.get("layout") or arguments.get("order") or arguments.get("positions") or len(source) < 3:
            return
        axes = range(len(arguments["kernel_size"]))
        pads = [pad if isinstance(pad, tuple) else (pad, pad) for pad in arguments.get("padding", [0 for _ in axes])]
        settings = {"block_shape": arguments["kernel_size"], "pads": [pad[end] for end in (0, 1) for pad in pads]}
        settings |= {f"{key}s": arguments[key] for key in ("stride", "dilation") if key in arguments}
        columns = nodes.add("Im2Col", [found.source], domain=DOMAIN, **settings)[0]
        if found.name.exact:
            yield nodes, columns
        elif arguments.get("stride") != arguments["kernel_size"]:
            # For blocks side by side, one transposition already gives tokens: two operators would be slower.
            yield nodes, nodes.transpose(columns, [0, 2, 1])
        return
    block = arguments.get("block", ())
    if found.name.operator not in ("space_to_depth", "depth_to_space") or len(block) != 2 or block[0] != block[1]:
        return
    kind = "SpaceToDepth" if found.name.operator == "space_to_depth" else "DepthToSpace"
    mode = "CRD" if arguments.get("mode") == "depth_first" else "DCR"
    yield nodes, nodes.add(kind, [found.source], domain=DOMAIN, blocksize=block[0], mode=mode)[0]


class Im2Col(OpRun):
    op_domain = DOMAIN

    def _run(self, x: Any, block_shape: Any, pads: Any, strides: Any = None, dilations: Any = None) -> tuple[Any]:
        half = len(pads) // 2
        pairs = list(zip(pads[:half], pads[half:], strict=True))
        return (unfold(x, tuple(block_shape), stride=strides or 1, dilation=dilations or 1, padding=pairs),)


class SpaceToDepth(OpRun):
    op_domain = DOMAIN

    def _run(self, x: Any, blocksize: int, mode: Any) -> tuple[Any]:
        return (definitions.space_to_depth(x, blocksize, mode=mode),)


class DepthToSpace(OpRun):
    op_domain = DOMAIN

    def _run(self, x: Any, blocksize: int, mode: Any) -> tuple[Any]:
        return (definitions.depth_to_space(x, blocksize, mode=mode),)

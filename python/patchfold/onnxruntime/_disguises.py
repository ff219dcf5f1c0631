# SPDX-License-Identifier: Apache-2.0
"""Rewrites nodes that together make an operator of patchfold's family as one node of the domain "patchfold". Needs onnx."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import onnx
from onnx.reference.op_run import OpRun

from .. import onnx as definitions
from .._operators.columns import unfold
from .._orders.index_map import Indices
from ..models._disguises import Written, open_shapes, rewrite
from ..models._expand import Nodes
from ..models._regions import Found, Graph, find_all

DOMAIN = "patchfold"


def take_over(model: onnx.ModelProto, dtypes: Collection[str]) -> int:
    """Rewrites chains of nodes that do the same as Im2Col, SpaceToDepth or DepthToSpace.

    Arguments:
        model: the model, which is changed.
        dtypes: the element types that are taken over.

    Returns: the number of rewritten chains.
    """

    def wanted(graph: Graph) -> list[Found]:
        # Convolutions are left out: even with filters of one 1 each, they give NaN beside Inf and NaN, and 0 for -0.
        return [f for f in find_all(graph) if len(f.nodes) > 1 and f.dtype in dtypes and "Conv" not in f.kinds]

    return rewrite(model, {}, wanted, _ways, (Im2Col, SpaceToDepth, DepthToSpace))


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

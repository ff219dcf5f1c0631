# SPDX-License-Identifier: Apache-2.0
"""Converts ONNX models so that operators of patchfold's family run on patchfold's kernels. Needs onnx."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx import helper

from .._arrays.dtypes import BY_ONNX_CODE, SUMMABLE
from ..models import _onnx
from ..models._expand import Nodes
from ..models._onnx_nodes import attributes_of, free_prefix, text_of
from ..models._rewriter import CONTRIB, Rewriter, copy_of, drop_domain, drop_unused
from ..models._targets import FAMILY
from ._disguises import DOMAIN, take_over

# ONNX's names of the element types that ONNX Runtime's tensors hold. ONNX Runtime's own operators keep all other types.
_HELD = {code: name for code, name in BY_ONNX_CODE.items() if not name.startswith("complex")}
MOVED = {_onnx.dtype_of(code) for code in _HELD}
SUMMED = {_onnx.dtype_of(code) for code, name in _HELD.items() if name in SUMMABLE}


def convert(model: Any) -> onnx.ModelProto:
    """Returns a model with operators of the domain "patchfold" in place of ONNX Runtime's own operators.

    Col2Im, DepthToSpace and SpaceToDepth are taken over, and TensorFlow's ExtractImagePatches, which tf2onnx leaves in the
    domain ai.onnx.contrib; so are chains of other nodes with the effect of Im2Col, SpaceToDepth or DepthToSpace: torch's
    exporters write unfold as such a chain. Results are the same bit for bit, but for Col2Im of float16, which is added in
    float32 here and rounded once. Col2Im also runs with element types, and for N-D images with dilations, that ONNX Runtime
    does not compute, or computes wrong. A node does not change if its element type is unknown or not accepted by the library
    (strings, complex, 4-bit numbers; float8 in Col2Im), or if it is an ExtractImagePatches with computed settings.

    Arguments:
        model: path of an .onnx file, or an onnx.ModelProto, which is not changed.

    Returns: an onnx.ModelProto. Sessions of it need `options.register_custom_ops_library(patchfold.onnxruntime.library())`.

    Raises: patchfold.models.ModelError for what `patchfold.models.inspect` refuses: files that are no models, cycles, data
        outside the model's folder.
    """
    dtypes: dict[str, str] = {}
    for graph in _onnx.read(model, {}):
        dtypes.update(graph.dtypes)
    result = copy_of(model)
    made = take_over(result, MOVED)
    converter = _Converter(dtypes)
    converter.graph(result.graph, {}, free_prefix(result.graph))
    if made + converter.taken and all(entry.domain != DOMAIN for entry in result.opset_import):
        result.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    drop_domain(result, CONTRIB)
    drop_unused(result.graph)
    return result


class _Converter(Rewriter):
    def __init__(self, dtypes: Mapping[str, str]):
        self.dtypes = dtypes
        self.taken = 0

    def written(self, node: onnx.NodeProto, constants: Mapping[str, Any], prefix: str) -> Nodes | None:
        dtype = self.dtypes.get(node.input[0]) or self.dtypes.get(node.output[0], "")
        if dtype not in (SUMMED if node.op_type == "Col2Im" else MOVED):
            return None
        if node.op_type in FAMILY:
            attributes, inputs = attributes_of(node), list(node.input)
        else:
            settings = _patches(node, constants)
            if settings is None:
                return None
            attributes, inputs = settings, [node.input[0]]
        nodes = Nodes(prefix)
        nodes.nodes.append(
            helper.make_node(node.op_type, inputs, list(node.output), name=node.name, domain=DOMAIN, **attributes)
        )
        self.taken += 1
        return nodes


def _patches(node: onnx.NodeProto, constants: Mapping[str, Any]) -> dict[str, Any] | None:
    """Returns the settings of an ExtractImagePatches, which are inputs of its node; None if one is computed."""
    given = [constants.get(tensor) for tensor in node.input[1:5]]
    if len(given) < 4 or any(values is None for values in given):
        return None
    lists = zip(("ksizes", "strides", "rates"), given, strict=False)
    settings: dict[str, Any] = {name: [int(value) for value in np.asarray(values).reshape(-1)] for name, values in lists}
    return settings | {"padding": text_of(given[3])}

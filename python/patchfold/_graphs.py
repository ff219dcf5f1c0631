# SPDX-License-Identifier: Apache-2.0
"""The functions that torch.compile calls as a whole, since it cannot trace native functions.

``import patchfold.torch`` makes torch.compile call them inside its graphs. ``import patchfold`` alone must not import torch,
so until then torch.compile calls them outside of its graphs. With ``fullgraph=True``, torch.compile then raises an error,
which says what to import. Attributes of the functions, whose names start with "_torchdynamo", tell torch.compile which of
the two to do.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from . import keras, onnx, openvino, tensorflow
from ._operators import blocks, columns, patches, rearrange, reconstruct, table, views
from ._tiles import apply


def functions() -> list[types.FunctionType]:
    """Returns the functions that call operators on a tensor."""
    found: list[Any] = [patches.gather_patches, reconstruct.reconstruct, rearrange.copy, table.run]
    found += [views.space_to_depth_view, views.unfold_view]
    for module in (blocks, columns, keras, onnx, openvino, tensorflow):
        found += [each for each in vars(module).values() if getattr(each, "__module__", "") == module.__name__]
    return [each for each in found if isinstance(each, types.FunctionType) and each is not columns.coverage]


def prepare() -> None:
    """Makes torch.compile call all functions outside of its graphs, and gives it a hint for its error."""
    for function in functions():
        _keep_outside(function, "import patchfold.torch, and torch.compile takes this function as it is")
    for outside in (columns.coverage, patches.iter_unfold, table.plan, apply.apply_tiled):
        hint = f"patchfold.{outside.__name__} is no part of a graph: call it outside of the compiled function"
        _keep_outside(outside, hint)


def enter(allow: Callable[[Any], Any]) -> None:
    """Makes torch.compile call the functions in its graphs. allow: torch's function that permits one function."""
    for function in functions():
        for attribute in ("_torchdynamo_disable", "_torchdynamo_disable_msg"):
            function.__dict__.pop(attribute, None)
        allow(function)


def _keep_outside(function: Callable[..., Any], hint: str) -> None:
    function.__dict__ |= {"_torchdynamo_disable": True, "_torchdynamo_disable_msg": hint}

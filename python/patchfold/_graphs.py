# SPDX-License-Identifier: Apache-2.0
"""The functions that torch.compile calls as a whole, since it cannot trace native functions.

torch.compile knows them after ``import patchfold.torch``. ``import patchfold`` alone must not import torch, so each function
has a stand-in, which torch.compile traces in its place: the stand-in imports patchfold.torch. torch.compile reads attributes
of functions that start with "_torchdynamo" or "_dynamo".
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable
from typing import Any

from . import keras, onnx, openvino, tensorflow
from ._operators import blocks, columns, patches, rearrange, reconstruct, table, views
from ._tiles import apply


def functions() -> list[types.FunctionType]:
    """Returns the functions with operators that take a tensor."""
    found: list[Any] = [patches.gather_patches, reconstruct.reconstruct, rearrange.copy, table.run]
    found += [views.space_to_depth_view, views.unfold_view]
    for module in (blocks, columns, keras, onnx, openvino, tensorflow):
        found += [each for each in vars(module).values() if getattr(each, "__module__", "") == module.__name__]
    return [each for each in found if isinstance(each, types.FunctionType) and each is not columns.coverage]


def prepare() -> None:
    """Gives each function the attributes by which torch.compile traces another function in its place: where the function is
    called, and where torch.compile is called with it. Other functions get a hint for the error of torch.compile."""
    for function in functions():
        stand_in = _stand_in(function)
        function.__dict__ |= {"_torchdynamo_inline": stand_in, "_torchdynamo_orig_callable": stand_in}
        function.__dict__["_torchdynamo_wrapper_id"] = id(function)
    for outside in (columns.coverage, patches.iter_unfold, table.plan, apply.apply_tiled):
        hint = f"patchfold.{outside.__name__} is no part of a graph: call it outside of the compiled function"
        outside.__dict__ |= {"_torchdynamo_disable": True, "_torchdynamo_disable_msg": hint}


def enter(allow: Callable[[Any], Any]) -> None:
    """Makes torch.compile call the functions, by a function of torch."""
    for function in functions():
        allow(function)


def _stand_in(function: Callable[..., Any]) -> Callable[..., Any]:
    def traced(*arguments: Any, **options: Any) -> Any:
        _import_torch()
        return function(*arguments, **options)

    return traced


def _import_torch() -> None:
    importlib.import_module("patchfold.torch")


_import_torch.__dict__["_dynamo_marked_constant"] = True  # torch.compile calls it, and does not trace it

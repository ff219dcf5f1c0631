# SPDX-License-Identifier: Apache-2.0
"""Cuts arrays into blocks and patches and puts them back, exactly as OpenVINO, ONNX, TensorFlow, PyTorch and Keras do.

The functions take NumPy arrays, torch tensors and any other array that supports DLPack, in any memory layout and of any
element type, and return the same kind of array. Each dialect is a module with the operators of one system under the system's
names, such as ``patchfold.onnx``. ``patchfold.dask``, ``patchfold.jax``, ``patchfold.monai``, ``patchfold.torch`` and
``patchfold.torchio`` need other packages, and are imported at their first use.
"""

import importlib as _importlib
import sys as _sys
import typing as _t

from . import _core as _core  # before NumPy: in a second interpreter, patchfold's error says more than NumPy's

# isort: split
from . import _graphs, keras, onnx, openvino, tensorflow
from ._core import __version__, get_num_threads, instruction_sets, set_num_threads, use_instruction_set
from ._errors import Error, InvalidType, InvalidValue
from ._explain import explain
from ._explanation import Explanation
from ._operators.blocks import batch_to_space, depth_to_space, space_to_batch, space_to_depth
from ._operators.columns import coverage, fold, reorder, unfold
from ._operators.patches import Chunk, gather_patches, iter_unfold
from ._operators.rearrange import copy, rearrange
from ._operators.reconstruct import reconstruct
from ._operators.table import ArgumentSpec, OperatorSpec, Plan, operators, output_shape, plan, run
from ._operators.table import called_here as _called_here
from ._operators.tokens import patchify, unpatchify
from ._operators.views import space_to_depth_view, unfold_view
from ._orders.explain import OrderAnswer, explain_order
from ._threads import thread_limit
from ._tiles.apply import apply_tiled
from ._tiles.box_list import Boxes, merge_boxes
from ._tiles.boxes import merge_box
from ._tiles.cog import COG
from ._tiles.halo import Halo
from ._tiles.labels import merge_labels
from ._tiles.merge_spec import MergeSpec, ResultType
from ._tiles.merger import Merger
from ._tiles.ome_zarr import OMEZarr, OMEZarrLevel, open_ome_zarr
from ._tiles.receptive_field import ReceptiveField, receptive_field
from ._tiles.tile import MergeBytes, Tile
from ._tiles.tiling import Tiling

if _t.TYPE_CHECKING:
    from . import dask as dask
    from . import jax as jax
    from . import monai as monai
    from . import torch as torch
    from . import torchio as torchio
    from . import vision as vision

__all__ = [
    "COG",
    "ArgumentSpec",
    "Boxes",
    "Chunk",
    "Error",
    "Explanation",
    "Halo",
    "InvalidType",
    "InvalidValue",
    "MergeBytes",
    "MergeSpec",
    "Merger",
    "OMEZarr",
    "OMEZarrLevel",
    "OperatorSpec",
    "OrderAnswer",
    "Plan",
    "ReceptiveField",
    "ResultType",
    "Tile",
    "Tiling",
    "__version__",
    "apply_tiled",
    "batch_to_space",
    "copy",
    "coverage",
    "depth_to_space",
    "explain",
    "explain_order",
    "fold",
    "gather_patches",
    "get_num_threads",
    "instruction_sets",
    "iter_unfold",
    "keras",
    "merge_box",
    "merge_boxes",
    "merge_labels",
    "onnx",
    "open_ome_zarr",
    "openvino",
    "operators",
    "output_shape",
    "patchify",
    "plan",
    "rearrange",
    "receptive_field",
    "reconstruct",
    "reorder",
    "run",
    "set_num_threads",
    "space_to_batch",
    "space_to_depth",
    "space_to_depth_view",
    "tensorflow",
    "thread_limit",
    "unfold",
    "unfold_view",
    "unpatchify",
    "use_instruction_set",
]

_graphs.prepare()

_LAZY = {
    "dask": ("dask", "zarr"),
    "jax": ("jax",),
    "monai": ("torch",),
    "torch": ("torch",),
    "torchio": ("torchio", "torch"),
    "vision": (),
}
"""The modules that are imported at their first use, with the packages that they need, which may be missing or slow to
import."""

if not _t.TYPE_CHECKING:  # a type checker would accept every name as an attribute of this module

    def __getattr__(name: str) -> _t.Any:
        needed = _LAZY.get(name)
        if needed is None:
            here = _called_here(name)
            if here and _sys._getframe(1).f_code.co_name == "_handle_fromlist":  # `from patchfold import im2col`
                # Python would replace an AttributeError by an ImportError without the text.
                why = f"cannot import name {name!r} from 'patchfold'; it is {here} here"
                raise ImportError(why, name=__name__, path=__file__)
            why = f"module 'patchfold' has no attribute {name!r}" + (f"; it is {here} here" if here else "")
            raise AttributeError(why, name=name, obj=_sys.modules[__name__])
        try:
            return _importlib.import_module(f".{name}", __name__)
        except ModuleNotFoundError as error:
            if error.name not in needed:
                raise
            # hasattr and help expect no error other than AttributeError.
            why = f"patchfold.{name} needs the package {error.name}: pip install {error.name}"
            raise AttributeError(why, name=name) from error


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})

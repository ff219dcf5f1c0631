# SPDX-License-Identifier: Apache-2.0
"""Which output stands behind an argument ``out``."""

from __future__ import annotations

import os
from typing import Any

from . import _arrays
from ._arrays import given_text
from ._errors import InvalidType
from ._merge_arguments import MERGE
from ._outputs import File, Function, GivenArray, NewArray, Output, Store
from ._rasters import RasterWriter, is_raster


def output_of(out: Any, kind: Any) -> Output:
    """``kind``: a new output is an array of the same kind; None: of the same kind as the first tile."""
    if out is None:
        return NewArray(kind)
    if isinstance(out, Output):
        return out
    if is_raster(out):
        return RasterWriter(out)
    if issubclass(type(out), (str, os.PathLike)):
        return File(out)
    if _arrays.is_numpy(out) or _arrays._is_torch(out) or _arrays.speaks_dlpack(out):
        memory = _arrays.memory(out, MERGE, "out", True) if not _arrays.is_numpy(out) else out
        if _arrays.is_numpy(memory) and not memory.flags.writeable:
            raise InvalidType(operator=MERGE, argument="out", rule="must be writeable", given="a read-only array")
        return GivenArray(out)
    if hasattr(type(out), "__setitem__") and hasattr(out, "shape"):
        return Store(out)
    if callable(out):
        return Function(out)
    raise InvalidType(
        operator=MERGE,
        argument="out",
        rule="must be an array, the name of a file, a store with __setitem__ and shape, or a function",
        given=given_text(out),
    )

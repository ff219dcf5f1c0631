# SPDX-License-Identifier: Apache-2.0
"""Finds out what type a function's results have."""

from __future__ import annotations

from typing import Any

from . import _core
from ._arrays import given_text
from ._devices import to_processor
from ._errors import InvalidType
from ._merge_spec import ResultType
from ._results import _check_stack, kind_of
from ._sources import Source
from ._tile import Tile
from ._tiling import Tiling
from ._tiling_arguments import TILING


def probed(tiling: Tiling, fn: Any, source: Any, tile: Tile, batch: bool) -> Any:
    if not callable(fn):
        raise InvalidType(operator=TILING, argument="fn", rule="must be a function", given=given_text(fn))
    reader = Source(source, TILING, "source").of(tiling)
    given = fn(reader.stack(tiling, [tile]) if batch else reader.cut(tiling, tile))

    def type_of(result: Any) -> ResultType:
        if batch:
            _check_stack(result, [tile])
            result = result[0]
        array = to_processor(result, TILING, f"result for tile {tile.index}")
        spec = _core.MergeSpec.make(None, None, "", None, None, False, None)
        channels, dtype = _core.facts_of_first(tiling._native, spec, tile.index, array)
        return ResultType(dtype, channels)

    kind = kind_of(given)
    if kind is None:
        return type_of(given)
    if issubclass(kind, dict):
        return {name: type_of(result) for name, result in given.items()}
    types = [type_of(result) for result in given]
    return kind._make(types) if hasattr(kind, "_make") else kind(types)

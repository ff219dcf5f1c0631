# SPDX-License-Identifier: Apache-2.0
"""Finds out whether a function of tiles returns one array or several, and their types."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._arrays.devices import to_processor
from .._arrays.kinds import is_array, shape_of
from .._errors import InvalidType, InvalidValue, given_text
from .merge_spec import ResultType, facts_of_first
from .missing_axes import called
from .sources import APPLY, Source
from .tile import Tile, TilingBase, names_of
from .tiling_arguments import TILING


def probed(tiling: TilingBase, fn: Any, source: Any, tile: Tile, batch: bool) -> Any:
    if not callable(fn):
        raise InvalidType(TILING, "fn", "must be a function", given_text(fn))
    reader = Source(source, TILING, "source").of(tiling)
    given = called(fn, reader.stack(tiling, [tile]) if batch else reader.cut(tiling, tile), batch, TILING)

    def type_of(result: Any) -> ResultType:
        check_given(result, [tile])
        if batch:
            check_stack(result, [tile])
            result = result[0]
        array = to_processor(result, TILING, f"result for tile {tile.index}")
        spec = _core.MergeSpec.make(None, None, "", None, None, False, None)
        channels, dtype = facts_of_first(tiling, spec, tile.index, array)
        return ResultType(dtype, channels)

    kind = kind_of(given)
    if kind is None:
        return type_of(given)
    if issubclass(kind, dict):
        return {name: type_of(result) for name, result in given.items()}
    types = [type_of(result) for result in given]
    return kind._make(types) if hasattr(kind, "_make") else kind(types)


def kind_of(results: Any) -> Any:
    """Returns the class of several results; None for one result. A list of arrays, as from Keras, is several results."""
    if isinstance(results, dict):
        return dict
    is_several = isinstance(results, tuple) or (isinstance(results, list) and bool(results) and all(map(is_array, results)))
    return type(results) if is_several else None


def check_given(result: Any, group: list[Tile], operator: str = APPLY) -> None:
    """Raises an error if a function returned None, as it may do for tiles without data."""
    if result is None:
        raise InvalidType(
            operator=operator,
            argument=f"result for {names_of(group)}",
            rule="must be an array",
            given="None",
            hint="mask= says which elements hold data, and leaves tiles without any out",
        )


def check_stack(results: Any, group: list[Tile], operator: str = APPLY) -> None:
    name = f"result for {names_of(group)}"
    has_shape = hasattr(results, "shape")
    shape = shape_of(results, operator, name) if has_shape else ()
    if len(shape) < 1 or shape[0] != len(group):
        rule = "must have one entry along the first axis for each tile of the stack"
        given = f"shape {shape}" if has_shape else given_text(results)
        raise InvalidValue(operator, name, rule, given, str((len(group), *group[0].result_shape)))

# SPDX-License-Identifier: Apache-2.0
"""Calls a function that a caller wrote, and says what to write if the function takes arrays with other axes in front."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Way(NamedTuple):
    """Another form of the data. index: what gives it. axes: how many axes of one element are in front of the result then.
    text: what takes the form, and how the caller gets it."""

    index: Any
    axes: int
    text: str


_TILE = (
    Way(None, 1, "fn takes a tile with one more axis in front: batch=1 adds it"),
    Way((None, None), 2, "fn takes a tile with two more axes in front: use lambda tile: fn(tile[None, None])[0, 0]"),
)
_STACK = (
    Way(0, 0, "fn takes a tile without the axis of the stack: leave batch out"),
    Way((slice(None), None), 0, "fn takes a stack with one more axis behind its first: x[None] adds it"),
)


def called(fn: Callable[[Any], Any], data: Any, stacked: bool, operator: str) -> Any:
    """Returns what a function returns for a tile, or for a stack of tiles; see `called_with`."""
    return called_with(fn, data, _STACK if stacked else _TILE, operator)


def called_with(fn: Callable[[Any], Any], data: Any, ways: Sequence[Way], operator: str) -> Any:
    """Returns fn(data). If fn raises an exception, but takes the data in another form, the exception gets a note."""
    try:
        return fn(data)
    except Exception as error:
        if hasattr(error, "add_note") and not getattr(error, "__notes__", None):  # Python 3.10 has no notes
            text = next((way.text for way in ways if _takes(fn, data, way)), None)
            if text is not None:
                error.add_note(f"patchfold: {operator}: {text}")
        raise


def _takes(fn: Callable[[Any], Any], data: Any, way: Way) -> bool:
    try:
        made = fn(data[way.index])
    except Exception:
        return False
    ones = (1,) * way.axes
    return tuple(getattr(made, "shape", ones))[: way.axes] == ones

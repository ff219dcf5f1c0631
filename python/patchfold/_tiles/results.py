# SPDX-License-Identifier: Apache-2.0
"""The results of a function of tiles: an array for each tile, or a tuple or a dict of arrays, merged one by one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any

from .. import _core
from .._arrays.devices import to_processor
from .._arrays.kinds import is_numpy, is_torch
from .._errors import Error, InvalidType, InvalidValue, given_text, value_text
from .agreement import Agreement
from .merger import Merger
from .probe import check_given, check_stack, kind_of
from .sources import APPLY
from .tile import Tile, names_of
from .tiling import Tiling


class Results:
    """One merger, or a merger for each entry of a tuple or a dict; ``out`` or the result for the first tile decides
    which. compared: the tiling, if integer results of neighbouring tiles are compared."""

    def __init__(self, merger_of: Callable[[Any], Merger], out: Any, compared: Tiling | None = None) -> None:
        self._merger_of = merger_of
        self._compared = compared
        self._agreements: dict[int, Agreement] = {}
        self._out = out
        self._kind: Any = None  # the class of several results
        self._names: list[Any] = []
        self._stack = ExitStack()
        if isinstance(out, (tuple, dict)):
            self._kind, self._names = type(out), _names_of(out)
            _check_outs(out)
            self._mergers = [self._stack.enter_context(merger_of(out[name])) for name in self._names]
        else:
            self._mergers = [self._stack.enter_context(merger_of(out))]
        self._begun = False

    def __enter__(self) -> Results:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # After an exception every merger drops its tiles; without an exception each merger finishes, if it has not finished
        # yet.
        self._stack.__exit__(kind, error, trace)

    def add(self, group: list[Tile], results: Any, *, stacked: bool) -> None:
        """Takes the results for a group of tiles. stacked: whether the results of the tiles lie along a new first axis."""
        check_given(results, group)
        entries = self._entries(results, group)
        for i, (entry, merger) in enumerate(zip(entries, self._mergers, strict=True)):
            with self._named(i):
                for tile, result in results_of(entry, group, stacked):
                    merger.add(tile, result)
                    if self._compared is not None:
                        self._agreements.setdefault(i, Agreement(self._compared)).add(tile, result)

    def finish(self) -> Any:
        for agreement in self._agreements.values():
            agreement.check()
        finished = []
        for i, merger in enumerate(self._mergers):
            with self._named(i):
                finished.append(merger.finish())
        if self._kind is None:
            return finished[0]
        if issubclass(self._kind, dict):
            return dict(zip(self._names, finished, strict=True))
        return self._kind._make(finished) if hasattr(self._kind, "_make") else self._kind(finished)

    @contextmanager
    def _named(self, i: int) -> Iterator[None]:
        """Adds the name of the result to errors about one of several results."""
        if self._kind is None:
            yield
            return
        try:
            yield
        except Error as error:
            argument = f"result {self._names[i]!r}" + (f": {error.argument}" if error.argument else "")
            raise type(error)(error.operator, argument, **error._facts()) from None

    def _entries(self, results: Any, group: list[Tile]) -> list[Any]:
        kind = kind_of(results)
        if not self._begun:
            self._begin(kind, results, group)
        names = None if kind is None else _names_of(results)
        if (names or []) != self._names or (kind is None) != (self._kind is None):
            raise InvalidValue(
                APPLY,
                f"result for {names_of(group)}",
                "must have the same entries as out" if self._out is not None else "must have the entries of the first",
                "one array" if names is None else _text_of(kind, names),
                "one array" if self._kind is None else _text_of(self._kind, self._names),
            )
        return [results] if names is None else [results[name] for name in names]

    def _begin(self, kind: Any, results: Any, group: list[Tile]) -> None:
        self._begun = True
        if isinstance(self._out, (tuple, dict)):
            if kind is not None and issubclass(kind, dict) == isinstance(self._out, dict):
                self._kind = kind
            return
        if kind is None:
            return
        names = _names_of(results)
        if self._out is not None:
            expected = _text_of(kind, names) + ", None among them for a new array"
            raise InvalidType(APPLY, "out", "must have an entry for each result", given_text(self._out), expected)
        self._kind, self._names = kind, names
        self._mergers.pop().close()
        self._mergers = [self._stack.enter_context(self._merger_of(None)) for _ in names]


def results_of(given: Any, group: list[Tile], stacked: bool, operator: str = APPLY) -> Iterator[tuple[Tile, Any]]:
    """Yields each tile of a group with its result in the processor's memory."""
    check_given(given, group, operator)
    if stacked:
        check_stack(given, group, operator)
    for k, tile in enumerate(group):
        yield tile, to_processor(given[k] if stacked else given, operator, f"result for {names_of(group)}")


def _names_of(results: Any) -> list[Any]:
    names = list(results) if isinstance(results, dict) else list(range(len(results)))
    if not names:
        raise InvalidValue(APPLY, "result", "must have an entry", repr(results))
    return names


def _text_of(kind: Any, names: list[Any]) -> str:
    return f"a dict with {value_text(', '.join(map(repr, names)))}" if issubclass(kind, dict) else f"{len(names)} arrays"


def _check_outs(out: Any) -> None:
    """Raises an error if two outputs share memory, a file or a store."""
    given = list(out.values()) if isinstance(out, dict) else list(out)
    for i, one in enumerate(given):
        for other in given[:i]:
            shared = one is other and one is not None
            if isinstance(one, (str, os.PathLike)) and isinstance(other, (str, os.PathLike)):
                shared = os.path.abspath(one) == os.path.abspath(other)
            elif all(is_numpy(each) or is_torch(each) for each in (one, other)):
                shared = _core.may_share_memory(one, other)
            if shared:
                raise InvalidValue(APPLY, "out", "must be another one for each result")

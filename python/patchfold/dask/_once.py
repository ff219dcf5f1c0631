# SPDX-License-Identifier: Apache-2.0
"""Functions that are made where they are used, such as models with their weights."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import Any

from dask.base import tokenize

from .._errors import InvalidType, given_text

_made: dict[str, Any] = {}
_lock = threading.Lock()


class Once:
    """A function that is made at its first call, once in each process. See ``once``."""

    def __init__(self, make: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._make, self._args, self._kwargs = make, args, kwargs
        self._token = tokenize(_text_of(make), args, kwargs)

    def __call__(self, *args: Any) -> Any:
        return self.function()(*args)

    def function(self) -> Any:
        """The function that make returned."""
        with _lock:  # one thread makes the function, and the others wait
            if self._token not in _made:
                _made[self._token] = self._make(*self._args, **self._kwargs)
            return _made[self._token]

    def __dask_tokenize__(self) -> Any:
        return ("patchfold.once", self._token)

    def __repr__(self) -> str:
        return f"once({getattr(self._make, '__qualname__', self._make)!s})"


def _text_of(make: Any) -> Any:
    """Returns a text that identifies a function or class in every process: its name, and its source if a script defines it.
    The pickle of a script's function differs from process to process."""
    module, name = getattr(make, "__module__", None), getattr(make, "__qualname__", "<")
    if module is None or "<" in name:
        return make
    if module != "__main__":
        return f"{module}:{name}"
    try:
        return f"{name}: {inspect.getsource(make)}"
    except (OSError, TypeError):
        return make


def once(make: Callable[..., Any], *args: Any, **kwargs: Any) -> Once:
    """Returns a function that is made where it is used: ``make(*args, **kwargs)`` is called once in each process.

    Tasks then hold the name of the function that loads a model, not the model's weights. Each worker loads the model once,
    and the worker's threads share it.

    Arguments:
        make: a function that returns the function of tiles. Workers must be able to import make, or it must be picklable.
        args, kwargs: the arguments of make, such as the path of the weights.

    Errors: InvalidType if make is not a function.

    Example:
        >>> from patchfold.dask import once
        >>> import operator
        >>> negate = once(operator.attrgetter("neg"), operator)
        >>> negate(3)
        -3
    """
    if not callable(make):
        raise InvalidType("dask.once", "make", "must be a function that returns a function", given_text(make))
    return Once(make, args, kwargs)

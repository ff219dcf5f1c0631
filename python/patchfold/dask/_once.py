# SPDX-License-Identifier: Apache-2.0
"""Functions that are made where they are used, such as models with their weights."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from dask.base import tokenize

from .._errors import InvalidType, given_text
from ._identity import identity_of

_made: dict[str, Any] = {}
_lock = threading.Lock()


class Once:
    """A function that is made at its first call, once in each process. See ``once``."""

    def __init__(self, make: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._make = functools.partial(make, *args, **kwargs)
        self._token = tokenize(identity_of(self._make, required=False))

    def __call__(self, *args: Any) -> Any:
        return self.function()(*args)

    def function(self) -> Any:
        """Returns the function that make returned."""
        with _lock:  # one thread makes the function, and the others wait
            if self._token not in _made:
                _made[self._token] = self._make()
            return _made[self._token]

    def __repr__(self) -> str:
        return f"once({getattr(self._make.func, '__qualname__', self._make.func)!s})"


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

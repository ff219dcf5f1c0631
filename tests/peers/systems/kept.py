# SPDX-License-Identifier: Apache-2.0
"""A cache of a system's compiled objects, for problems with equal attributes and shapes."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from problem import Problem, Refusal

T = TypeVar("T")


class Kept(Generic[T]):
    """A cache of the last objects by key. The cache also keeps failures to make an object."""

    def __init__(self, make: Callable[[Problem], T], limit: int = 64) -> None:
        self._make = make
        self._limit = limit
        self._things: OrderedDict[str, T | Refusal] = OrderedDict()

    def __call__(self, problem: Problem) -> T:
        """Returns the object for a problem. Raises Refusal if make() raised anything."""
        key = f"{problem.op} {problem.dtype} {problem.data.ndim} {sorted(problem.attributes.items())}"
        if key not in self._things:
            if len(self._things) >= self._limit:
                self._things.popitem(last=False)
            try:
                self._things[key] = self._make(problem)
            except Exception as error:
                self._things[key] = error if isinstance(error, Refusal) else Refusal(str(error))
        thing = self._things[key]
        if isinstance(thing, Refusal):
            raise Refusal(*thing.args)
        return thing

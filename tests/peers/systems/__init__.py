# SPDX-License-Identifier: Apache-2.0
"""The systems that patchfold is compared with. Each system has a module that imports it.

A module has a class System with

    name, version     of the system
    operators         {operator of the table: names of the element types to try}
    run(problem)      the result as a NumPy array; raises Refusal if the system refuses the problem
    run_many(problems)  optional: the results of several problems; refusals are returned, not raised
    group, settings   optional: run_many gets `group` problems of each setting (attributes and shape), and about
                      `settings` settings in a call (default 2 and 1)

tests/peers must be on the path: modules import `problem`, not `tests.peers.problem`. One process runs one system, since
systems in one process would share threads and memory, and could disturb each other.
"""

import importlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from problem import Problem, Refusal

SYSTEMS: dict[str, str] = {
    "torch": "systems.torch_system",
    "tensorflow": "systems.tensorflow_system",
    "onnx-reference": "systems.onnx_reference",
    "onnxruntime": "systems.onnxruntime_system",
    "openvino": "systems.openvino_system",
}


def load(name: str) -> Any:
    """Returns an instance of the system's class."""
    return importlib.import_module(SYSTEMS[name]).System()


T = TypeVar("T")


class Kept(Generic[T]):
    """A cache of what make() returned for the last problems, or of the Refusal if make() raised. Problems that agree in
    operator, type, rank and attributes share an entry."""

    def __init__(self, make: Callable[[Problem], T], limit: int = 64) -> None:
        self._make = make
        self._limit = limit
        self._things: OrderedDict[str, T | Refusal] = OrderedDict()

    def __call__(self, problem: Problem) -> T:
        """Returns make()'s object for a problem. Raises Refusal if make() raised anything."""
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

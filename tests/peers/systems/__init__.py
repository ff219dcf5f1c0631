# SPDX-License-Identifier: Apache-2.0
"""The systems that patchfold is compared with. Each system has a module that imports it.

A module has a class System with

    name, version     of the system
    operators         {operator of the table: names of the element types to try}
    run(problem)      the result as a NumPy array; raises Refusal if the system refuses the problem
    run_many(problems)  optional: the results of several problems; refusals are returned, not raised
    group, settings   optional: the number of problems with one setting (attributes and shape), and about the number of
                      settings, in a call of run_many (default 2 and 1)

tests/peers must be on the path: modules import `problem`, not `tests.peers.problem`. One process runs one system, since
systems in one process would share threads and memory, and could disturb each other.
"""

import importlib
from typing import Any

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

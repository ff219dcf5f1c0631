# SPDX-License-Identifier: Apache-2.0
"""Finds patchfold's name of a function that people know from another system."""

from __future__ import annotations

import sys

from .. import _core
from .table import operators


def _plain(name: str) -> str:
    return name.partition("-")[0].replace("_", "").lower()


def called_here(name: str) -> str:
    """Returns patchfold's call for a function's name elsewhere, such as "patchfold.unfold(image, kernel_size)", or ""."""
    if name.startswith("_"):
        return ""
    here, reduce = _core.operator_here(name)
    if reduce == "mean":
        return "patchfold.reconstruct(columns, shape, kernel_size)"
    names = {spec: spec.name if here else spec.name.rpartition(".")[2] for spec in operators()}
    found = [spec for spec, own in names.items() if _plain(own) == _plain(here or name)]
    if not found:
        return ""
    spec = found[-1]  # the newest version
    dialect, _, operator = spec.name.partition("-")[0].rpartition(".")
    module = f"patchfold.{dialect}".rstrip(".")
    known = [each for each in vars(sys.modules.get(module, _core)) if not each.startswith("_")]
    function = next((each for each in known if _plain(each) == _plain(operator)), operator)
    if "view" in name and f"{function}_view" in known:
        function += "_view"
    needed = [spec.data_input, *(argument.name for argument in spec.arguments if argument.required)]
    return f"{module}.{function}({', '.join(needed)})"

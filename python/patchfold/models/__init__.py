# SPDX-License-Identifier: Apache-2.0
"""Which operators of the family a model holds, also where they are made of other nodes.

`inspect` reads an ONNX model (needs the package onnx) and reports them; `python -m patchfold.models inspect MODEL` prints
the same.
"""

from ._errors import ModelError
from ._inspect import Finding, Inspection, inspect

__all__ = ["Finding", "Inspection", "ModelError", "inspect"]

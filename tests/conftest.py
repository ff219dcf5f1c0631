# SPDX-License-Identifier: Apache-2.0
"""Loads triton, which torch.compile imports, before TensorFlow, if both are installed. Both contain LLVM, and a process that
loads triton after TensorFlow aborts.
"""

import importlib
from importlib.util import find_spec

if find_spec("tensorflow") is not None and find_spec("triton") is not None:
    importlib.import_module("triton")

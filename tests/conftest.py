# SPDX-License-Identifier: Apache-2.0
"""TensorFlow and triton, which torch.compile imports, both bring LLVM. A process that loads triton after TensorFlow aborts,
so triton is loaded first where both are installed."""

import importlib
from importlib.util import find_spec

if find_spec("tensorflow") is not None and find_spec("triton") is not None:
    importlib.import_module("triton")

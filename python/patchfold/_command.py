# SPDX-License-Identifier: Apache-2.0
"""The program ``patchfold``, which lies inside the package."""

import os
import sys
from pathlib import Path
from typing import NoReturn


def main() -> NoReturn:
    """Becomes the program, with the same arguments."""
    program = Path(__file__).parent / "bin" / "patchfold"
    os.execv(program, ["patchfold", *sys.argv[1:]])

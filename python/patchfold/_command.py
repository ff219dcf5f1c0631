# SPDX-License-Identifier: Apache-2.0
"""Starts the program ``patchfold`` that the package contains."""

import os
import sys
from pathlib import Path
from typing import NoReturn


def main() -> NoReturn:
    """Replaces this process by the program, with the same arguments."""
    program = Path(__file__).parent / "bin" / "patchfold"
    os.execv(program, ["patchfold", *sys.argv[1:]])

# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that are written in Python, such as ``python -m patchfold.models``."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn


def run(main: Callable[[], int]) -> NoReturn:
    """Calls the main function of a command, and ends the process with the exit code that it returns. If nothing reads
    standard output any more, ends the process by SIGPIPE, as other programs end."""
    try:
        try:
            code = main()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        if _is_read():
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more as it ends
        if hasattr(signal, "SIGPIPE"):  # Windows has no such signal
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            signal.raise_signal(signal.SIGPIPE)
        code = 1
    sys.exit(code)


def _is_read() -> bool:
    """Returns whether standard output can be written to: a connection of main itself may be what broke."""
    try:
        print(flush=True)
    except BrokenPipeError:
        return False
    return True

# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of the Python package."""

import ctypes
import signal
import sys

import pytest


@pytest.fixture
def interrupts():
    """Makes SIGINT raise KeyboardInterrupt, also in a process that was started in the background, which ignores SIGINT.

    OpenVINO gives the thread an alternate stack for signals and frees it later; the next signal would end the process.
    """
    if sys.platform == "linux":
        disabled = (ctypes.c_size_t * 3)(0, 2, 0)  # a stack_t with SS_DISABLE
        ctypes.CDLL(None).sigaltstack(disabled, None)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of the Python package."""

import signal

import pytest


@pytest.fixture
def interrupts():
    """Makes SIGINT raise KeyboardInterrupt, also in a process that was started in the background, which ignores SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

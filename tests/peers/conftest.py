# SPDX-License-Identifier: Apache-2.0
"""Adds the options of the comparison to pytest, and makes each cell a parameter of its test."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests" / "python"))  # for calls.py, formulas.py and model_zoo.py


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("peers")
    group.addoption("--system", help="the system to compare with")
    group.addoption("--pictures", type=int, default=2, help="random pictures, and videos, of each family of processors")
    group.addoption("--cases", type=int, default=500, help="accepted cases of each cell")


def pytest_generate_tests(metafunc: Any) -> None:
    if "cell" not in metafunc.fixturenames:
        return
    name = metafunc.config.getoption("--system")
    if not name:
        raise pytest.UsageError("one process compares with one system: give --system NAME")
    import systems

    system = systems.load(name)
    cells = [(system, op, dtype) for op, dtypes in system.operators.items() for dtype in dtypes]
    metafunc.parametrize("cell", cells, ids=[f"{op}-{dtype}" for _, op, dtype in cells])


@pytest.fixture(scope="session")
def cases(request: Any) -> int:
    return int(request.config.getoption("--cases"))


@pytest.fixture(scope="session")
def pictures(request: Any) -> int:
    return int(request.config.getoption("--pictures"))


@pytest.fixture(scope="session")
def seed() -> int:
    return int(os.environ.get("PATCHFOLD_SEED", "1"))


@pytest.fixture(scope="session")
def counts_folder() -> Path:
    return Path(os.environ.get("PATCHFOLD_PEERS_COUNTS", ROOT / "build" / "peers"))

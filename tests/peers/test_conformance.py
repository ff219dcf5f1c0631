# SPDX-License-Identifier: Apache-2.0
"""Compares every cell of one system with the table in expected. Needs --system NAME."""

from pathlib import Path
from typing import Any

import pytest
import table
from cell import Cell

EXPECTED = table.read()


def test_cell(cell: tuple[Any, str, str], cases: int, seed: int, counts_folder: Path) -> None:
    system, op, dtype = cell
    if (system.name, op, dtype) not in EXPECTED.cells:
        pytest.fail(f"tests/peers/expected does not say what {system.name} does with {op} {dtype}")
    try:
        tally = Cell(system, op, dtype, EXPECTED).run(cases, seed)
    except AssertionError as error:
        pytest.fail(f"{error}\n  (PATCHFOLD_SEED={seed})", pytrace=False)
    tally.write(counts_folder)

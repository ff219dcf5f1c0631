# SPDX-License-Identifier: Apache-2.0
"""The node tests of our operators that the onnx package generates pass, and copies with a false expectation fail."""

import contextlib
import importlib
import io
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("onnx", reason="node tests are read by the onnx package")

from node_test_files import NodeTest
from onnx import numpy_helper
from patchfold.onnx.__main__ import main

OPERATORS = {"Col2Im", "DepthToSpace", "SpaceToDepth"}


def generated() -> list[Any]:
    """Importing the modules of our operators makes their tests; load_model_tests() would make those of all operators."""
    package = importlib.import_module("onnx.backend.test.case.node")
    for operator in OPERATORS:
        importlib.import_module(f"{package.__name__}.{operator.lower()}")
    # Models that spell an operator out in others hold none of ours.
    return [case for case in package._NodeTestCases if {node.op_type for node in case.model.graph.node} & OPERATORS]


CASES = generated()


def test_there_are_eleven() -> None:
    assert len({case.name for case in CASES}) == len(CASES) == 11


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_official(case: Any, tmp_path: Path) -> None:
    for number, (inputs, outputs) in enumerate(case.data_sets):
        test = NodeTest(case.model, *([numpy_helper.from_array(array) for array in arrays] for arrays in (inputs, outputs)))
        test.write(tmp_path / case.name, f"test_data_set_{number}")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main([str(tmp_path / case.name)]) == 0
    assert printed.getvalue().endswith(f"\n{len(case.data_sets)} passed, 0 failed\n")

    path = tmp_path / case.name / "test_data_set_0" / "output_0.pb"
    data = bytearray(path.read_bytes())
    data[-1] ^= 0x40  # raw data comes last, little endian: the highest bit of a float32's exponent
    path.write_bytes(data)
    with contextlib.redirect_stdout(printed):
        assert main([str(tmp_path / case.name)]) == 1
    assert "first difference at " in printed.getvalue()

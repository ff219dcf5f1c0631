# SPDX-License-Identifier: Apache-2.0
"""Checks that ONNX's own node tests of patchfold's operators pass, and that copies with a false expectation fail.

The installed onnx package generates eleven tests. Nine more tests, which the onnx package 1.18.0 contained as files, are
kept in vectors/onnx-node-tests.jsonl.
"""

import base64
import contextlib
import importlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("onnx", reason="node tests are read by the onnx package")

from node_test_files import NodeTest
from onnx import numpy_helper
from patchfold.onnx.__main__ import main

OPERATORS = {"Col2Im", "DepthToSpace", "SpaceToDepth"}


def generated() -> list[Any]:
    """Returns the tests of patchfold's operators. Importing a module makes its tests; load_model_tests() would make all."""
    package = importlib.import_module("onnx.backend.test.case.node")
    for operator in OPERATORS:
        importlib.import_module(f"{package.__name__}.{operator.lower()}")
    # Leaves out models in which ONNX writes the operator as other operators.
    return [case for case in package._NodeTestCases if {node.op_type for node in case.model.graph.node} & OPERATORS]


CASES = generated()


def carried() -> dict[str, dict[str, bytes]]:
    """Returns {test: {path in the test's folder: content}}."""
    path = Path(__file__).with_name("vectors") / "onnx-node-tests.jsonl"
    _, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {line["name"]: {name: base64.b64decode(text) for name, text in line["files"].items()} for line in lines}


CARRIED = carried()


def test_there_are_eleven_and_nine() -> None:
    assert len({case.name for case in CASES}) == len(CASES) == 11
    assert len(CARRIED) == 9


def check(folder: Path, data_sets: int) -> None:
    """Checks that the test in the folder passes, and that it fails after its first expected output is changed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main([str(folder)]) == 0
    assert printed.getvalue().endswith(f"\n{data_sets} passed, 0 failed\n")

    path = folder / "test_data_set_0" / "output_0.pb"
    data = bytearray(path.read_bytes())
    data[-1] ^= 0x40  # raw data comes last, little endian: the highest bit of a float32's exponent
    path.write_bytes(data)
    with contextlib.redirect_stdout(printed):
        assert main([str(folder)]) == 1
    assert "first difference at " in printed.getvalue()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_generated(case: Any, tmp_path: Path) -> None:
    for number, (inputs, outputs) in enumerate(case.data_sets):
        test = NodeTest(case.model, *([numpy_helper.from_array(array) for array in arrays] for arrays in (inputs, outputs)))
        test.write(tmp_path / case.name, f"test_data_set_{number}")
    check(tmp_path / case.name, len(case.data_sets))


@pytest.mark.parametrize("name", CARRIED)
def test_carried(name: str, tmp_path: Path) -> None:
    for path, content in CARRIED[name].items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content)
    check(tmp_path, len(list(tmp_path.glob("test_data_set_*"))))

# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX's own node tests of patchfold's operators in both runtimes with patchfold's library."""

import re
from typing import Any

import numpy as np
import pytest
from onnx.backend.test.loader import load_model_tests
from onnx.onnx_pb import TypeProto
from systems import Array, compiled, in_onnxruntime, runs_here, same_bits

FAMILY = re.compile(r"test_(col2im|depthtospace|spacetodepth)")
# Leaves out cases in which ONNX writes the operator as other operators.
TESTS = [case for case in load_model_tests(kind="node") if FAMILY.match(case.name) and not case.name.endswith("_expanded")]


def arrays(values: Any) -> list[Array]:
    return [np.asarray(value) for value in values]


def test_there_are_node_tests_of_all_operators() -> None:
    assert len(TESTS) >= 9 and len({FAMILY.match(case.name)[1] for case in TESTS}) == 3  # type: ignore[index]


@pytest.mark.parametrize("case", TESTS, ids=lambda case: case.name)
def test_onnxruntime_passes(case: Any) -> None:
    for inputs, expected in case.data_sets:
        # Inputs with shapes, such as image_shape, are inputs in both models.
        assert same_bits(in_onnxruntime(case.model, arrays(inputs), True)[0], arrays(expected)[0])


@pytest.mark.parametrize("case", TESTS, ids=lambda case: case.name)
def test_openvino_passes(case: Any) -> None:
    assert isinstance(case.model.graph.input[0].type, TypeProto)
    made = compiled(case.model, True)
    assert runs_here(made)
    for inputs, expected in case.data_sets:
        assert same_bits(np.array(made(arrays(inputs))[0]), arrays(expected)[0])

# SPDX-License-Identifier: Apache-2.0
"""Compares results with results of other systems that tests/peers/record.py has recorded. Does not need these systems."""

import base64
import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy
import patchfold
import pytest

FOLDER = Path(__file__).resolve().parent / "vectors"
SYSTEMS = ("torch", "tensorflow", "onnx-reference", "onnxruntime", "openvino")
SUMS = {spec.name for spec in patchfold.operators() if spec.sums}


def dtype_of(name: str) -> numpy.dtype[Any]:
    return numpy.dtype(getattr(ml_dtypes, name, name))


def load(system: str) -> list[dict[str, Any]]:
    head, *lines = (FOLDER / f"{system}.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(head)["system"] == system
    return [line | vector for line in map(json.loads, lines) for vector in line.pop("vectors")]


CASES = [(system, number, vector) for system in SYSTEMS for number, vector in enumerate(load(system))]


def array_of(text: str, dtype: numpy.dtype[Any], shape: list[int]) -> numpy.ndarray[Any, Any]:
    return numpy.frombuffer(base64.b64decode(text), dtype).reshape(shape)


def parts_of(values: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """Returns the real and imaginary parts of complex numbers, and other numbers unchanged."""
    if values.dtype.kind != "c":
        return values
    return numpy.ascontiguousarray(values).reshape(-1).view(f"f{values.dtype.itemsize // 2}")


@pytest.mark.parametrize("system, number, vector", CASES, ids=[f"{s}.jsonl:{n}" for s, n, _ in CASES])
def test_vector(system: str, number: int, vector: dict[str, Any]) -> None:
    dtype = dtype_of(vector["dtype"])
    if "refused" in vector:
        with pytest.raises(patchfold.Error):
            patchfold.run(vector["op"], numpy.zeros(vector["shape"], dtype), **vector["attributes"])
        return
    data = array_of(vector["data"], dtype, vector["shape"])
    expected = array_of(vector["result"], dtype, vector["result_shape"])
    result = patchfold.run(vector["op"], data, **vector["attributes"])
    assert result.dtype == dtype
    assert result.shape == expected.shape
    if result.tobytes() == expected.tobytes():
        return
    assert vector["op"] in SUMS, "movement must keep every bit"
    ours, theirs = parts_of(result), parts_of(expected)
    bits = f"u{ours.dtype.itemsize}"
    assert ((numpy.isnan(ours) & numpy.isnan(theirs)) | (ours.view(bits) == theirs.view(bits))).all()


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_operator_of_a_system_has_answers_and_refusals(system: str) -> None:
    vectors = load(system)
    for op in {vector["op"] for vector in vectors}:
        mine = [vector for vector in vectors if vector["op"] == op]
        assert sum("refused" in vector for vector in mine) >= 1, op
        assert sum("result" in vector for vector in mine) >= 3, op

# SPDX-License-Identifier: Apache-2.0
"""Compares the numbers on the page with the definitions."""

import math

import numpy as np
import pytest
from expected import OFFERED, states, traced


def test_traces_and_numbers_are_those_of_the_definition(visit):
    visit.open()
    for state, problem in states(20261123, 10)[0]:
        told, trace = visit.trace(state), traced(state)
        assert "error" not in told, (state, told)
        assert told["geometry"]["columns"] == list(trace.shape), state
        assert len(told["geometry"]["axes"]) == len(state["kernel"]), state
        assert told["trace"] == trace.ravel().tolist(), state
        shown = visit.numbers(state)
        for side, values in (("input", problem.input), ("output", problem.output)):
            assert np.array_equal(np.array(shown[side]["values"]).astype(values.dtype), values.ravel()), (state, side)


def test_depth_to_space_and_batch_to_space_take_back(visit):
    visit.open()
    for forward, back in (("space_to_depth", "depth_to_space"), ("space_to_batch", "batch_to_space")):
        for dialect in ("patchfold", "tensorflow", "openvino"):
            state = {"dialect": dialect, "shape": [2, 3, 4, 6], "kernel": [2, 2], "padding": [[0, 0], [0, 0]]}
            there = visit.trace({"operator": forward, **state})
            again = visit.trace({"operator": back, **state})
            assert there["trace"] == again["trace"]
            assert there["geometry"]["image"] == again["geometry"]["image"]


def test_types_keep_their_limits(visit):
    visit.open()
    state = {"operator": "fold", "shape": [1, 1, 40, 40], "kernel": [3, 3], "stride": [1, 1]}
    bytes_ = visit.numbers({**state, "dtype": "uint8"})
    assert max(bytes_["output"]["values"]) <= 255
    assert max(bytes_["input"]["values"]) == 250
    half = visit.numbers({**state, "dtype": "float16", "shape": [1, 1, 4, 4]})
    whole = visit.numbers({**state, "dtype": "float64", "shape": [1, 1, 4, 4]})
    assert half["output"]["values"] == whole["output"]["values"]


def test_numbers_of_text_are_read_as_everywhere(visit):
    # The engine in WebAssembly parses numbers with another library than the native program does.
    visit.open()
    for text, value in (("1.5", 1.5), ("-2e-3", -0.002), ("+4", 4), ("inf", math.inf), ("nan", math.nan), ("7", 7)):
        values = visit.run(f"unfold float64 1x1x1 kernel_size=3, padding=1 value={text}", [5])["values"]
        assert values[0] == value or (math.isnan(values[0]) and math.isnan(value)), text
        assert values[1] == 5
    for text in ("0x10", "1.5.5", "1e999", "--1", "1,5", "infinite", ""):
        outcome = visit.page.evaluate(
            "problem => patchfoldPage.run(problem, [5]).then(() => 'taken', error => error.message)",
            f"unfold float64 1x1x1 kernel_size=3, padding=1 value={text}",
        )
        assert outcome != "taken", text
        assert "value" in outcome, text


@pytest.mark.parametrize("operator", OFFERED)
def test_every_dialect_of_an_operator_runs(visit, operator):
    """Checks pads, strides and dilations that differ from their defaults, for each dialect that takes them."""
    for dialect in OFFERED[operator]:
        blocks = operator not in ("unfold", "fold", "extract_patches")
        state = {
            "operator": operator,
            "dialect": dialect,
            "shape": [2, 3, 6, 8],
            "kernel": [2, 2] if blocks else [3, 2],
            "stride": [2, 1],
            "dilation": [1, 2],
            "padding": [[2, 2], [0, 0]] if blocks else [[1, 1], [2, 2]],
        }
        visit.open(state)
        assert visit.state()["dialect"] == dialect
        shown = visit.numbers()
        assert "error" not in shown, (dialect, shown)
        image = shown["output" if operator in ("fold", "depth_to_space", "batch_to_space") else "input"]
        assert sorted(image["shape"]) == [2, 3, 6, 8]
        name = shown["call"].split()[0]
        assert name.startswith(dialect + ".") == (dialect != "patchfold"), name
        assert visit.page.inner_text("#call") == shown["call"]

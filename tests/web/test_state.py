# SPDX-License-Identifier: Apache-2.0
"""Tests of the page's state and its links in node: refused states, completed states, and the content of links."""

import random
from typing import Any

import pytest
from expected import OFFERED, draw
from page_modules import node


def random_states() -> list[dict[str, Any]]:
    random_ = random.Random(5)
    pairs = [(operator, dialect) for operator, dialects in OFFERED.items() for dialect in dialects]
    return [draw(random_, *random_.choice(pairs)) for _ in range(100)]


def test_a_link_carries_the_whole_state() -> None:
    extra = {
        "input": [1, 2, 3],
        "chosen": {"side": "columns", "index": 7},
        "step": 3,
        "theme": "dark",
        "which": {"image": "1 2\n3 4 % # & \u00e4", "columns": '"\\'},
        "seams": {"tile": [64, 96], "tail": "pad", "strength": 7},
    }
    given = [{**state, **extra} for state in random_states()]
    pairs = node(
        "given.map((each) => { const { state } = s.complete(each); return [state, s.fromHash(s.toHash(state))]; })", given
    )
    for each, (state, again) in zip(given, pairs, strict=True):
        assert again == {"state": state, "faults": []}
        assert all(state[name] == value for name, value in each.items() if name != "seams")


def test_a_link_is_text_that_an_address_may_hold() -> None:
    for text in node("given.map((each) => s.toHash(s.complete(each).state))", random_states()):
        assert text.startswith("#") and text.isascii() and not set(text) & set(' "<>\\^`{|}\n'), text


def test_the_standard_state_needs_no_link() -> None:
    assert node('[s.toHash(s.complete({}).state), s.fromHash(""), s.fromHash("#")]', None) == [
        "#",
        {"state": node("s.defaults", None), "faults": []},
        {"state": node("s.defaults", None), "faults": []},
    ]


@pytest.mark.parametrize("text", ["#%", "#%%7B", "#{", "#%7B%22operator%22", "#null", "#3", "#[1]", "#%22unfold%22"])
def test_a_damaged_link_shows_the_standard_state_and_says_so(text: str) -> None:
    found = node("s.fromHash(given)", text)
    assert found["state"] == node("s.defaults", None) and found["faults"]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"operator": "im2col"}, "operator must be one of"),
        ({"dialect": "numpy"}, "dialect"),
        ({"operator": "unfold", "dialect": "onnx"}, "onnx has no unfold"),
        ({"shape": [1, 2]}, "shape"),
        ({"shape": [1, 2, 0]}, "shape"),
        ({"shape": [1, 2, 3, 4, 5, 6]}, "shape"),
        ({"shape": [1, 2, 3.5]}, "shape"),
        ({"shape": [1, 2, "3"]}, "shape must be a list"),
        ({"shape": [1, 2, 1e9]}, "shape"),
        ({"shape": "1,2,3"}, "shape"),
        ({"kernel": [0, 1]}, "kernel"),
        ({"kernel": [3]}, "kernel must have 2 entries"),
        ({"stride": [1, 65]}, "stride"),
        ({"dilation": [-1, 1]}, "dilation"),
        ({"padding": [[1, 1]]}, "padding must have 2 entries"),
        ({"padding": [1, 1]}, "padding"),
        ({"padding": [[1, 1], [1]]}, "padding"),
        ({"padding": [[-1, 1], [1, 1]]}, "padding"),
        ({"padding_rule": "same"}, "padding_rule"),
        ({"dtype": "bfloat16"}, "dtype"),
        ({"chosen": {"side": "left", "index": 0}}, "chosen.side"),
        ({"chosen": {"side": "image"}}, "chosen.index"),
        ({"chosen": 3}, "chosen"),
        ({"seams": {"tile": [0, 1]}}, "seams.tile"),
        ({"seams": {"windows": "hann"}}, "seams.windows"),
        ({"which": {"image": 5}}, "which.image"),
        ({"unknown": 1}, "unknown is no field"),
        ({"__proto__x": 1}, "__proto__x"),
        ({"version": 2}, "version"),
        ([], "must be an object"),
        (7, "object"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named_and_replaced(given: Any, named: str) -> None:
    found = node("s.complete(given)", given)
    assert any(named in fault for fault in found["faults"]), found["faults"]
    assert node("s.complete(given)", found["state"]) == {"state": found["state"], "faults": []}


def test_every_wrong_field_is_named() -> None:
    found = node("s.complete(given)", {"kernel": [0, 0], "layout": "NHWC", "theme": "red"})
    assert len(found["faults"]) == 3
    state, standard = found["state"], node("s.defaults", None)
    assert [state[name] for name in ("kernel", "layout", "theme")] == [
        standard[name] for name in ("kernel", "layout", "theme")
    ]


def test_the_number_of_axes_is_that_of_the_shape() -> None:
    found = node("s.complete(given)", {"shape": [1, 1, 4, 4, 4]})
    assert found["faults"] == []
    assert [len(found["state"][name]) for name in ("kernel", "stride", "dilation", "padding")] == [3] * 4


def test_what_is_completed_is_a_copy() -> None:
    script = (
        "(() => { const { state } = s.complete({}); state.kernel[0] = 9; state.seams.tile[0] = 1; return s.defaults; })()"
    )
    assert node(script, None) == node("s.defaults", None)
    assert node("s.defaults", None)["kernel"] == [3, 3]


def test_links_stay_small() -> None:
    """Checks that a link carries only the fields that differ from the defaults."""
    assert node("s.toHash(s.complete(given).state).length", {"kernel": [2, 2]}) < 40


def test_dialects_and_operators_are_those_of_the_definition() -> None:
    assert node("Object.fromEntries(s.OPERATORS.map((operator) => [operator, s.dialectsOf(operator)]))", None) == OFFERED


def test_uint8_counts_to_250_and_starts_again() -> None:
    values = node("s.inputValues(s.complete(given).state)", {"shape": [1, 1, 20, 30], "dtype": "uint8"})
    assert values == [number % 250 + 1 for number in range(600)]
    assert node("s.inputValues(s.complete(given).state)", {"shape": [1, 1, 20, 30]}) == list(range(1, 601))

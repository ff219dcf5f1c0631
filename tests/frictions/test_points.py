# SPDX-License-Identifier: Apache-2.0
"""Checks that each point of points.txt has an existing test, or a reason."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def points() -> dict[str, list[str]]:
    """Returns {point: the lines below the point}."""
    found: dict[str, list[str]] = {}
    point = ""
    for line in HERE.joinpath("points.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            found[point].append(line.strip())
        elif line and not line.startswith("#"):
            point = line
            assert point not in found
            found[point] = []
    return found


def is_there(file: str, name: str) -> bool:
    text = ROOT.joinpath(file).read_text(encoding="utf-8")
    if file.endswith(".txt"):
        return name in text.splitlines()
    if file.endswith(".py"):
        return re.search(rf"(?m)^def {re.escape(name)}\(", text) is not None
    suite, _, test = name.partition(".")
    return re.search(rf"(?m)^TEST(_F|_P)?\({re.escape(suite)}, {re.escape(test)}\)", text) is not None


@pytest.mark.parametrize("point", points())
def test_every_point_has_a_test_or_a_reason(point: str) -> None:
    below = points()[point]
    assert below
    for line in below:
        place, _, name = line.partition(": ")
        assert len(name) > 30 if place == "decided" else is_there(place, name), line


def test_what_is_missing_is_noticed() -> None:
    assert not is_there("tests/frictions/test_points.py", "test_nothing")
    assert not is_there("tests/cli/workers_test.cpp", "Workers.DoNothing")
    assert not is_there("tests/cli/wrong_calls.txt", "ops tor")

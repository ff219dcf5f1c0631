# SPDX-License-Identifier: Apache-2.0
"""Runs the kept inputs of the fuzzer of Python's arguments, and some random inputs, without the fuzzer."""

import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parents[2] / "fuzz" / "python"
BROKEN = """
import sys

sys.path.insert(0, {folder!r})
import oracle, legal, numpy

kept = []
oracle.GENERATORS[:] = [lambda choices: legal.Call("broken", {function}, {{"x": numpy.ones(3)}}, lambda: numpy.ones(3))]
oracle.changed = lambda choices, call: {changes}
oracle.run(b"")
"""


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True)


@pytest.mark.parametrize("words", [("--replay", str(FUZZ / "corpus")), ("--random", "2000")], ids=["corpus", "random"])
def test_inputs_keep_the_rules(words):
    done = run(str(FUZZ / "arguments.py"), *words, "--stats")
    assert done.returncode == 0, done.stderr
    *_, total = done.stdout.splitlines()
    assert int(total.split()[0]) >= (2000 if words[0] == "--random" else len(list((FUZZ / "corpus").iterdir())))


@pytest.mark.parametrize(
    ("function", "changes", "fault"),
    [
        ("lambda x: x", 0, ""),
        ("lambda x: x + 1", 0, "the result is"),
        ("lambda x: 1 / 0", 1, "a raw error"),
        ("lambda x: oracle.patchfold.unfold(x, 0)", 0, "a legal call was refused"),
        ("lambda x: oracle.patchfold.unfold(x, 0)", 1, ""),
        ("lambda x: kept.append(x)", 1, "references before and after"),
    ],
)
def test_the_rules_are_looked_at(function, changes, fault):
    done = run("-c", BROKEN.format(folder=str(FUZZ), function=function, changes=changes))
    assert (done.returncode != 0) == bool(fault) and fault in done.stderr, done.stderr

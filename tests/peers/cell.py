# SPDX-License-Identifier: Apache-2.0
"""Compares one system with patchfold for one operator and one element type, which is a cell of the table in expected/."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hypothesis
import patchfold
from compare import equal, narrowed, widened, within_bounds
from data import telling_data
from features import features
from hypothesis import HealthCheck, Phase
from problem import Answer, Array, Problem, Refusal, answers
from problems import always, batches
from table import Row, Table

from dialects import definition

# How many refused problems are enough in a cell with the verdict "refuses".
REFUSED_CASES = 50
ROUNDS = 12
SETTINGS: dict[str, Any] = {
    "database": None,
    "deadline": None,
    "phases": (Phase.generate, Phase.shrink),
    "print_blob": False,
    "report_multiple_bugs": False,
    "suppress_health_check": list(HealthCheck),
}


@dataclass
class Tally:
    """The counts of a cell. A case is a problem with a new combination of shape, attributes and data. A case is accepted if
    both patchfold and the system give a result."""

    system: str
    version: str
    op: str
    dtype: str
    accepted: int = 0
    equal: int = 0
    covered: Counter[str] = field(default_factory=Counter)  # accepted cases, by the `where` of their row
    differing: Counter[str] = field(default_factory=Counter)  # unequal results, by the row's verdict and `where`
    refused: Counter[str] = field(default_factory=Counter)  # by "both", "type" (verdict refuses) or "SIDE WHERE" of a rule
    withheld: int = 0
    features: Counter[str] = field(default_factory=Counter)
    message: str = ""

    def write(self, folder: Path) -> None:
        target = folder / self.system / f"{self.op}.{self.dtype}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(vars(self), indent=1, sort_keys=True) + "\n", encoding="utf-8")


def ours(problem: Problem) -> Array:
    try:
        return patchfold.run(problem.op, problem.data, **problem.attributes)
    except patchfold.Error as error:
        raise Refusal(f"{type(error).__name__}: {error}") from error


def judge(problem: Problem, row: Row, right: Array, other: Array) -> tuple[bool, str | None]:
    """Returns whether the system's result `other` equals `right`, and a text: how `other` contradicts the row's verdict, or
    None."""
    same = equal(problem, right, other)
    if same or row.verdict == "wrong":
        return same, None
    if row.verdict == "bounded":
        return False, within_bounds(problem, right, other, row.ulps)
    if row.verdict == "narrows":
        cut = widened(definition(narrowed(problem, row.to)), problem.dtype, row.to)
        return False, None if equal(problem, cut, other, any_nan=True) else f"not what {row.to} gives"
    return False, f"expected {row.verdict}, and they differ"


def _difference(mine: Array, other: Array) -> str:
    if mine.shape != other.shape or mine.dtype != other.dtype:
        return f"ours is {mine.dtype} {mine.shape}, theirs {other.dtype} {other.shape}"
    bits = f"u{mine.dtype.itemsize}" if mine.dtype.itemsize <= 8 else f"S{mine.dtype.itemsize}"
    at = next(i for i in range(mine.size) if mine.reshape(-1).view(bits)[i] != other.reshape(-1).view(bits)[i])
    return f"at {at} of {mine.shape}: ours {mine.flat[at]!r}, theirs {other.flat[at]!r}"


class Cell:
    def __init__(self, system: Any, op: str, dtype: str, table: Table, run: Callable[[Problem], Array] = ours) -> None:
        self.system, self.table, self.ours = system, table, run
        self.rows = table.rows(system.name, op, dtype)
        rules = table.refusals.get((system.name, op), [])
        self.rules = [rule for rule in rules if rule.by != "nobody"]
        self.crashes = [rule for rule in rules if rule.by == "nobody"]
        self.tally = Tally(system.name, system.version, op, dtype)
        self.seen: set[bytes] = set()

    def theirs(self, problems: list[Problem], refused: Callable[[Problem], bool]) -> list[Answer | None]:
        """Returns the system's answers, with None for problems that could crash the system. `refused` tells whether
        patchfold refuses a problem."""
        safe = [not any(rule.covers(problem) for rule in self.crashes) for problem in problems]
        asked = [problem for problem, fine in zip(problems, safe, strict=True) if fine]
        many = getattr(self.system, "run_many", None)
        # Gives the system each problem that it probably refuses in a call of its own: after a refusal, a system runs all
        # problems of the call again, one by one.
        doubtful = [p for p in asked if refused(p) or any(rule.by == "system" and rule.covers(p) for rule in self.rules)]
        sound = [p for p in asked if p not in doubtful]
        found: dict[int, Answer] = {}
        for part in (sound, *([problem] for problem in doubtful)):
            results = many(part) if many else answers(self.system.run, part)
            found.update((id(problem), result) for problem, result in zip(part, results, strict=True))
        return [found.get(id(problem)) for problem in problems]

    def check(self, drawn: list[Problem]) -> None:
        problems = list({problem.key(): problem for problem in drawn}.values())
        mine = {id(problem): answers(self.ours, [problem])[0] for problem in problems}
        theirs = self.theirs(problems, lambda problem: isinstance(mine[id(problem)], Refusal))
        for problem, other in zip(problems, theirs, strict=True):
            new = problem.key() not in self.seen
            self.seen.add(problem.key())
            self._one(problem, mine[id(problem)], other, self.tally if new else Tally("", "", "", ""))

    def _one(self, problem: Problem, mine: Answer, other: Answer | None, tally: Tally) -> None:
        row = self.table.row(self.system.name, problem)
        # patchfold's result must be right for every verdict, since a verdict is about the system's result only.
        if not isinstance(mine, Refusal):
            right = definition(problem)
            if not equal(problem, mine, right):
                raise AssertionError(f"{problem}\n  ours is not what the definition gives\n  {_difference(mine, right)}")
        if other is None:
            tally.withheld += 1
            return
        if isinstance(other, Refusal) and row.verdict == "refuses":
            tally.refused["type" if not isinstance(mine, Refusal) else "both"] += 1
            tally.message = tally.message or str(other)
        elif row.verdict == "refuses":
            raise AssertionError(f"{problem}\n  expected to be refused by {self.system.name}, and was taken")
        elif isinstance(mine, Refusal) or isinstance(other, Refusal):
            self._refused(problem, mine, other, tally)
        else:
            same, fault = judge(problem, row, right, other)
            if same and row.verdict == "wrong" and not row.by_chance and self._right_with_other_data(problem, row):
                fault = f"expected to be wrong where {row.where}, and {self.system.name} is right"
            if fault:
                raise AssertionError(f"{problem}\n  {fault}" + ("" if same else f"\n  {_difference(mine, other)}"))
            tally.accepted += 1
            tally.equal += same
            tally.covered[row.where] += 1
            if not same:
                tally.differing[f"{row.verdict} {row.where}".strip()] += 1
            tally.features.update(features(problem))

    def _right_with_other_data(self, problem: Problem, row: Row) -> bool:
        """Returns whether the system is also right for telling_data(), since the problem's own data may hide a fault.
        Returns True if the row does not cover that data."""
        telling = Problem(problem.op, problem.dtype, telling_data(problem.dtype, problem.data.shape), problem.attributes)
        if not row.covers(telling):
            return True
        (answer,) = self.theirs([telling], lambda _: True)
        return not isinstance(answer, Refusal) and answer is not None and equal(telling, definition(telling), answer)

    def _refused(self, problem: Problem, mine: Answer, other: Answer, tally: Tally) -> None:
        if isinstance(mine, Refusal) and isinstance(other, Refusal):
            tally.refused["both"] += 1
            return
        by = "patchfold" if isinstance(mine, Refusal) else "system"
        rule = next((rule for rule in self.rules if rule.by == by and rule.covers(problem)), None)
        if rule is None:
            who = "patchfold" if by == "patchfold" else self.system.name
            message = mine if by == "patchfold" else other
            raise AssertionError(f"{problem}\n  only {who} refuses this: {message}")
        tally.refused[f"{by} {rule.where}"] += 1

    def run(self, cases: int, seed: int) -> Tally:
        """Runs problems in patchfold and the system until the cell has enough cases, and returns the counts. Raises
        AssertionError if a problem contradicts the table."""
        tally, op, dtype = self.tally, self.tally.op, self.tally.dtype
        self.check(always(op, dtype))
        refuses = self.rows[-1].verdict == "refuses"
        wanted = min(cases, REFUSED_CASES) if refuses else cases
        size, settings = getattr(self.system, "group", 2), getattr(self.system, "settings", 1)

        def done() -> int:
            return tally.refused["type"] + tally.refused["both"] if refuses else tally.accepted

        for number in range(ROUNDS):
            if done() >= wanted:
                break
            examples = (wanted - done()) * 5 // (4 * size * settings) + 10 // settings

            @hypothesis.seed(zlib.crc32(f"{tally.system} {op} {dtype} {seed} {number}".encode()))
            @hypothesis.settings(max_examples=examples, **SETTINGS)
            @hypothesis.given(batches(op, dtype, size, settings))
            def check(problems: list[Problem]) -> None:
                self.check(problems)

            check()
        if done() < wanted:
            raise AssertionError(f"{tally.system} {op} {dtype}: only {done()} of {wanted} cases")
        verdict = self.rows[-1].verdict
        if verdict not in ("equal", "refuses") and not tally.differing[verdict]:
            raise AssertionError(f"{tally.system} {op} {dtype}: expected {verdict}, and no result differs")
        return tally

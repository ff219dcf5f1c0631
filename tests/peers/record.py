# SPDX-License-Identifier: Apache-2.0
"""Records small problems with the answers of a system, for tests that run without the systems.

usage: record.py SYSTEM...      writes tests/python/vectors/SYSTEM.jsonl

A line is {op, dtype, vectors}. A vector is {attributes, shape, data, result_shape, result} with the bytes in base64, or
{attributes, shape, refused} with the system's message if it refuses the problem. patchfold's results are not used. An answer
is recorded if the table expects it to have patchfold's bits, or if it equals what the definition gives. The first line names
the system's version. A problem is recorded if its operator and type have few problems so far, or if it has a feature that no
recorded problem of the operator has.
"""

import base64
import json
import sys
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import hypothesis
import systems
import table
from cell import SETTINGS
from compare import equal
from features import features
from problem import Array, Problem, Refusal, answers
from problems import groups

from dialects import definition

FOLDER = Path(__file__).resolve().parent.parent / "python" / "vectors"
MOST_BYTES = 400
REFUSALS = 3  # the most refused problems that are recorded for each operator
OF_A_TYPE, LEAST_ELEMENTS = 2, 6  # two vectors of at least six elements for each operator and type
EXAMPLES = 400  # how many problems are tried for each operator


def text_of(values: Array) -> str:
    return base64.b64encode(values.tobytes()).decode()


class Recorder:
    def __init__(self, system: Any, expected: table.Table | None = None) -> None:
        self.system, self.expected = system, expected or table.read()
        self.seen: set[str] = set()
        self.refusals = 0
        self.of_type: Counter[str] = Counter()
        self.vectors: list[dict[str, Any]] = []  # the vectors of one operator and type
        self.lines: list[dict[str, Any]] = []

    def consider(self, problem: Problem) -> None:
        verdict = self.expected.row(self.system.name, problem).verdict
        if problem.data.nbytes > MOST_BYTES or verdict == "wrong":
            return
        if any(rule.covers(problem) for rule in self.expected.refusals.get((self.system.name, problem.op), [])):
            return
        (other,) = answers(self.system.run, [problem])
        line = {"attributes": problem.attributes, "shape": list(problem.data.shape)}
        if isinstance(other, Refusal):
            if self.refusals < REFUSALS:
                self.refusals += 1
                self.vectors.append({**line, "refused": str(other).strip().splitlines()[0][:120]})
        else:
            found = features(problem)
            wanted = self.of_type[problem.dtype] < OF_A_TYPE and problem.data.size >= LEAST_ELEMENTS
            if other.nbytes > MOST_BYTES or (found <= self.seen and not wanted):
                return
            if verdict != "equal" and not equal(problem, definition(problem), other):
                return
            self.seen |= found
            self.of_type[problem.dtype] += problem.data.size >= LEAST_ELEMENTS
            line |= {"data": text_of(problem.data), "result_shape": list(other.shape), "result": text_of(other)}
            self.vectors.append(line)

    def record(self, op: str, dtypes: tuple[str, ...]) -> None:
        self.seen, self.refusals, self.of_type = set(), 0, Counter()
        taken = [d for d in dtypes if self.expected.rows(self.system.name, op, d)[-1].verdict != "refuses"]
        for dtype in taken:
            self.vectors = []

            @hypothesis.seed(zlib.crc32(f"{self.system.name} {op} {dtype}".encode()))
            @hypothesis.settings(max_examples=EXAMPLES // len(taken) + 10, **SETTINGS)
            @hypothesis.given(groups(op, dtype, 1))
            def draw(problems: list[Problem]) -> None:
                self.consider(problems[0])

            draw()
            if self.vectors:
                self.lines.append({"op": op, "dtype": dtype, "vectors": self.vectors})


def main() -> None:
    for name in sys.argv[1:] or sys.exit(__doc__):
        recorder = Recorder(systems.load(name))
        for op, dtypes in recorder.system.operators.items():
            recorder.record(op, dtypes)
        target = FOLDER / f"{name}.jsonl"
        target.parent.mkdir(exist_ok=True)
        head = {"system": name, "version": recorder.system.version}
        lines = [json.dumps(line, separators=(",", ":")) for line in (head, *recorder.lines)]
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{target.name}: {len(recorder.lines)} lines, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()

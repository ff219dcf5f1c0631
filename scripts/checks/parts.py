#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collects the results of the parts of a test run, and makes their table.

usage: scripts/checks/parts.py start PART..
       scripts/checks/parts.py add PART [OPTION]...
       scripts/checks/parts.py counts PART
       scripts/checks/parts.py table [--build FOLDER] PART..

  start     forgets the results of the parts
  add       adds results to a part:
              --report FILE      outcomes, reasons for skipping and instruction sets of a report that ctest or pytest wrote (JUnit)
              --needed "NAME|NAME"  modules that are installed: a test of a report that skips for lack of one counts as failed
              --status N         exit status of what wrote the report: unless it is 0, at least one test counts as failed
              --merge FOLDER     the sum of the parts in another folder of results
              --passed N  --failed N  --skipped N REASON
              --sets "NAME NAME"   instruction sets that the part ran on
              --wanted "NAME NAME" instruction sets that the part was built for. One that this machine lacks is skipped;
                                   one that this machine has, and on which no test ran, is a failure
  counts    prints "PART: N passed, N failed, N skipped"; exits with 1 if something failed, or nothing passed or was skipped
  table     prints a row for each part, the instruction sets of this machine, and "N passed, N failed, N skipped". A part
            without a result counts as failed. Exits with 1 if something failed or nothing passed.

The results of a part are the file PART.json in build/logs/parts, or in the folder PATCHFOLD_PARTS. PATCHFOLD_CPUINFO names a
file to read in place of /proc/cpuinfo. `add` prints the ends of what failed tests printed. A test that could not run counts
as failed, as does a report that is missing or has no test. Tests of ctest name the instruction sets that they ran on in
lines "instruction sets: NAME NAME".
"""
import argparse
import json
import os
import re
import sys
import textwrap
import xml.etree.ElementTree as tree
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("PATCHFOLD_PARTS", ROOT / "build" / "logs" / "parts"))
WIDTH = 125
# Highway's name of each instruction set, and the processor's flags that it needs; the best set first.
SETS = {
    "AVX3": ("avx512f", "avx512vl", "avx512dq", "avx512bw"),
    "AVX2": ("avx2", "fma", "bmi1", "bmi2"),
    "SSE4": ("sse4_1", "sse4_2", "aes", "pclmulqdq"),
    "SSSE3": ("ssse3",),
    "NEON": ("asimd",),
}
LAST_RESORTS = ("SSE2", "SCALAR")


class Part:
    def __init__(self):
        self.passed, self.failed, self.skipped, self.sets = 0, 0, Counter(), []

    @staticmethod
    def path(name):
        return FOLDER / f"{name}.json"

    @classmethod
    def read(cls, path):
        part = cls()
        if path.exists():
            data = json.loads(path.read_text(encoding="utf-8"))
            part.passed, part.failed, part.sets = data["passed"], data["failed"], data["sets"]
            part.skipped.update(data["skipped"])
        return part

    def write(self, name):
        FOLDER.mkdir(parents=True, exist_ok=True)
        data = {"passed": self.passed, "failed": self.failed, "skipped": self.skipped, "sets": self.sets}
        self.path(name).write_text(json.dumps(data, indent=1), encoding="utf-8")

    def add_sets(self, names):
        order = [*SETS, *LAST_RESORTS]
        found = {*self.sets, *names}
        self.sets = sorted(found, key=lambda name: (order.index(name) if name in order else len(order), name))

    def merge(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.add_sets(other.sets)

    def counts(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped.total()} skipped"


def outcome(case):
    """Returns "passed", "failed" or "skipped" for a test of a report, by ctest's attribute `status` or pytest's elements."""
    skipped = case.find("skipped")
    if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
        return "failed"
    if case.get("status") == "disabled":
        return "skipped"
    if skipped is None:
        return "passed"
    return "failed" if case.get("status") == "notrun" and "SKIP_" not in skipped.get("message", "") else "skipped"


def reason(case):
    """Returns the reason for a skipped test: the message of pytest or GoogleTest, or the last line of another program."""
    if case.get("status") == "disabled":
        name = case.get("name")
        return f"disabled: {name.rpartition('.')[0] or name}"  # the suite's name tells the reason
    message = case.find("skipped").get("message", "")
    if "SKIP_" not in message:
        return message or "no reason given"
    lines = [line.strip() for line in (case.findtext("system-out") or "").splitlines() if line.strip()]
    for line, following in zip(lines, lines[1:]):
        if line.endswith(": Skipped"):
            return following
    return lines[-1].removeprefix("skipped: ") if lines else "no reason given"


def lacks(case, needed):
    """Returns "could not import NAME" if pytest skipped a test or a file for lack of a needed module, else an empty text."""
    skipped = case.find("skipped")
    match = needed and re.search(rf"could not import .{{0,6}}\b({needed})\b", f"{skipped.get('message', '')} {skipped.text or ''}")
    return f"could not import {match[1]}" if match else ""


def of_report(path, needed=""):
    part = Part()
    try:
        cases = list(tree.parse(path).getroot().iter("testcase"))
    except (OSError, tree.ParseError) as error:
        print(f"FAILED {error}")
        part.failed = 1
        return part
    if not cases:
        print(f"FAILED there is no test in {path}")
        part.failed = 1
    for case in cases:
        ended, output = outcome(case), case.findtext("system-out") or ""
        if ended == "skipped" and (lacking := lacks(case, needed)):
            print(f"FAILED {case.get('name')}: {lacking}, which is installed")
            part.failed += 1
        elif ended == "skipped":
            part.skipped[reason(case)] += 1
        elif ended == "passed":
            part.passed += 1
        else:
            part.failed += 1
            if case.get("status"):  # only ctest's: pytest prints its failures itself
                print("FAILED " + case.get("name"), *output.splitlines()[-40:], sep="\n    ")
        for names in re.findall(r"^(?:\w+: )?instruction sets: ([A-Z][A-Z0-9_ ]*)$", output, re.M):
            part.add_sets(names.split())
    return part


def of_folder(folder):
    paths = sorted(Path(folder).glob("*.json"))
    part = Part()
    for path in paths:
        part.merge(Part.read(path))
    if not paths:
        print(f"FAILED there are no results in {folder}")
        part.failed = 1
    return part


def sets_of_machine(cpuinfo):
    flags = set(re.findall(r"\S+", " ".join(re.findall(r"^(?:flags|Features)\s*: (.*)$", cpuinfo, re.M))))
    return [name for name, needed in SETS.items() if flags.issuperset(needed)]


def table(names, machine):
    """Returns the lines of the table, and the sum of all parts."""
    total, rows = Part(), [("part", "instruction sets", "passed", "failed", "skipped")]
    for name in names:
        part = Part.read(Part.path(name))
        if not Part.path(name).exists():
            part.failed = 1
        total.merge(part)
        reasons = [f"{count}: {why}" for why, count in part.skipped.most_common()]
        if not Part.path(name).exists():
            reasons = ["it gave no result"]
        first = reasons.pop() if len(reasons) == 1 else str(part.skipped.total())
        rows.append((name, " ".join(part.sets) or "-", str(part.passed), str(part.failed), first))
        rows += [("", "", "", "", why) for why in reasons]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = []
    for row in rows:
        left = "  ".join(f"{cell:>{width}}" if column > 1 else f"{cell:{width}}"
                         for column, (cell, width) in enumerate(zip(row, widths)))
        for number, text in enumerate(textwrap.wrap(row[4], max(WIDTH - len(left) - 2, 40)) or [""]):
            lines.append(f"{left if number == 0 else ' ' * len(left)}  {text}".rstrip())
    lines.append(f"instruction sets of this machine: {' '.join(machine) or 'none of those that patchfold uses'}")
    return lines, total


def count(text):
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is no count")
    return int(text)


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__, end="")
        return 0 if arguments else 2
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0], add_help=False)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("start", "table"):
        commands.add_parser(name).add_argument("parts", nargs="+")
    commands.add_parser("counts").add_argument("part")
    add = commands.add_parser("add")
    add.add_argument("part")
    add.add_argument("--report", action="append", default=[])
    add.add_argument("--needed", default="")
    add.add_argument("--status", type=count, default=0)
    add.add_argument("--merge", action="append", default=[])
    add.add_argument("--passed", type=count, default=0)
    add.add_argument("--failed", type=count, default=0)
    add.add_argument("--skipped", nargs=2, action="append", default=[])
    add.add_argument("--sets", default="")
    add.add_argument("--wanted", default="")
    given = parser.parse_args(arguments)
    machine = sets_of_machine(Path(os.environ.get("PATCHFOLD_CPUINFO", "/proc/cpuinfo")).read_text(encoding="utf-8"))

    if given.command == "start":
        for name in given.parts:
            Part.path(name).unlink(missing_ok=True)
        return 0
    if given.command == "add":
        part = Part.read(Part.path(given.part))
        for other in [*(of_report(path, given.needed) for path in given.report), *map(of_folder, given.merge)]:
            part.merge(other)
        part.passed += given.passed
        part.failed += given.failed
        for number, why in given.skipped:
            part.skipped[why] += count(number)
        part.add_sets(given.sets.split())
        for name in given.wanted.split():
            if name not in machine:
                part.skipped[f"instruction set {name}: this machine has none"] += 1
            elif name not in part.sets:
                print(f"FAILED no test of {given.part} ran on {name}")
                part.failed += 1
        if given.status and not part.failed:
            print(f"FAILED {given.part} ended with {given.status}, and no test reported a failure")
            part.failed = 1
        part.write(given.part)
        return 0
    if given.command == "counts":
        part = Part.read(Part.path(given.part))
        print(f"{given.part}: {part.counts()}")
        return int(part.failed > 0 or part.passed + part.skipped.total() == 0)
    lines, total = table(given.parts, machine)
    print(*lines, total.counts(), sep="\n")
    return int(total.failed > 0 or total.passed == 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

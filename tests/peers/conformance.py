# SPDX-License-Identifier: Apache-2.0
"""Checks the counts that test_conformance.py wrote for each cell, and writes or checks docs/conformance.md.

usage: conformance.py COUNTS_FOLDER [--cases N] [--system NAME]... [--write]

  --cases N      accepted cases that every cell must have (default 500)
  --system NAME  only these systems; the page is then neither written nor checked
  --write        writes the page; without it, fails if the page differs from this run in more than counts
"""

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import table
from cell import REFUSED_CASES
from features import required
from systems import SYSTEMS

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "conformance.md"
HEAD = """<!-- Written by `scripts/peers --write`. -->
# Conformance

This page compares the operators of patchfold with the operators of other systems: where results have equal bits, and
where a system rounds, refuses or is wrong. patchfold and each system run the same random problems on the CPU.
`tests/peers/expected` holds the expected verdict of every operator and element type, and `scripts/peers` fails if a
run shows another verdict. A case is one distinct combination of shape, attributes and data that both accept. Each
result of patchfold must equal the result of the operator's formula (`tests/peers/definitions.py`), also if the other
system refuses or is wrong. Copies must agree in every bit. Sums must agree in every bit, except in the bits of a NaN.
Strings, which ONNX's block operators move too, are not compared.

| verdict | meaning |
|---|---|
| equal | both give the same bits |
| bounded | float16 and bfloat16 sums: patchfold rounds once, the system at most once for each addition |
| narrows | the system gives what the definition gives for data converted to a narrower type |
| wrong | the system contradicts its own specification |
| refuses | the system takes no problem of this type |

A row with a condition ("where ..") is an exception to the row before it.
"""

Tally = dict[str, Any]
FULL = 500


def tallies(folder: Path, names: list[str]) -> list[Tally]:
    files = [path for name in names for path in sorted((folder / name).glob("*.json"))]
    return [json.loads(path.read_text(encoding="utf-8")) for path in files]


def faults(expected: table.Table, found: list[Tally], names: list[str], cases: int) -> list[str]:
    """Returns a line for each cell that was not run, is not in the table or has too few cases. In a run of full length, also
    returns a line for each feature, condition and refusal of the table that never occurred."""
    cells = {(tally["system"], tally["op"], tally["dtype"]): tally for tally in found}
    wanted = {key for key in expected.cells if key[0] in names}
    result = [f"{' '.join(key)}: not run" for key in sorted(wanted - set(cells))]
    result += [f"{' '.join(key)}: not expected" for key in sorted(set(cells) - wanted)]
    groups: dict[tuple[str, str], list[Tally]] = defaultdict(list)
    for key in sorted(wanted & set(cells)):
        tally, verdict = cells[key], expected.rows(*key)[-1].verdict
        refused = verdict == "refuses"
        count = tally["refused"].get("type", 0) + tally["refused"].get("both", 0) if refused else tally["accepted"]
        least = min(cases, REFUSED_CASES) if refused else cases
        if count < least:
            result.append(f"{' '.join(key)}: {count} cases of {least}")
        if not refused:
            groups[key[:2]].append(tally)
    # Rare conditions and features need not occur in a short run.
    for (system, op), members in groups.items() if cases >= FULL else ():
        result += [f"{system} {op}: {text}" for text in _group_faults(expected, system, op, members)]
    return result


def _group_faults(expected: table.Table, system: str, op: str, members: list[Tally]) -> list[str]:
    seen: Counter[str] = sum((Counter(tally["features"]) for tally in members), Counter())
    covered: Counter[str] = sum((Counter(tally["covered"]) for tally in members), Counter())
    differing: Counter[str] = sum((Counter(tally["differing"]) for tally in members), Counter())
    refused: Counter[str] = sum((Counter(tally["refused"]) for tally in members), Counter())
    uncovered = expected.uncovered.get((system, op), {})
    needed = required(op, {tally["dtype"] for tally in members})
    result = [f"never showed {name}" for name in sorted(needed - set(seen) - set(uncovered))]
    result += [f"showed {name}, which was expected not to be covered" for name in sorted(set(uncovered) & set(seen))]
    for dtype in {tally["dtype"] for tally in members}:
        for row in expected.rows(system, op, dtype):
            name = f"{row.verdict} {row.where}"
            if row.where and row.verdict != "equal" and not differing[name]:
                result.append(f"no result differs as expected: {name} ({dtype})")
            if row.where and row.verdict == "equal" and not covered[row.where]:
                result.append(f"no problem was accepted where {row.where} ({dtype})")
    for rule in expected.refusals.get((system, op), []):
        if rule.by != "nobody" and not refused[f"{rule.by} {rule.where}"]:
            result.append(f"nothing was refused by {rule.by} alone where {rule.where}")
        if rule.by == "nobody" and not sum(tally["withheld"] for tally in members):
            result.append(f"nothing was withheld where {rule.where}")
    return sorted(set(result))


def render(expected: table.Table, found: list[Tally]) -> str:
    lines = [HEAD.rstrip()]
    for system in SYSTEMS:
        members = [tally for tally in found if tally["system"] == system]
        lines += ["", f"## {system} {members[0]['version']}", ""]
        lines += ["| operator | types | expected | cases | equal | differing |", "|---|---|---|---|---|---|"]
        for op in dict.fromkeys(tally["op"] for tally in members):
            lines += _rows(expected, system, op, [tally for tally in members if tally["op"] == op])
        lines += _refusals(expected, system, members)
    return "\n".join(lines) + "\n"


def _rows(expected: table.Table, system: str, op: str, members: list[Tally]) -> list[str]:
    lines = []
    order = list(table.DTYPES)
    bases: dict[table.Row, list[Tally]] = defaultdict(list)
    exceptions: dict[table.Row, list[Tally]] = defaultdict(list)
    for tally in sorted(members, key=lambda tally: order.index(tally["dtype"])):
        *others, base = expected.rows(system, op, tally["dtype"])
        bases[base].append(tally)
        for row in others:
            exceptions[row].append(tally)
    for row, group in sorted(bases.items(), key=lambda item: table.VERDICTS.index(item[0].verdict)):
        types = ", ".join(tally["dtype"] for tally in group)
        if row.verdict == "refuses":
            count = sum(tally["refused"].get("type", 0) + tally["refused"].get("both", 0) for tally in group)
            lines.append(f"| {op} | {types} | refuses | {count} refused | | {row.reason} |")
            continue
        accepted, equal = (sum(tally[name] for tally in group) for name in ("accepted", "equal"))
        plain = sum(tally["differing"].get(row.verdict, 0) for tally in group)
        why = f"{plain}: {row.reason}{' (' + row.to + ')' if row.to else ''}" if row.verdict != "equal" else ""
        lines.append(f"| {op} | {types} | {row.verdict} | {accepted} | {equal} | {why} |")
    for row, group in exceptions.items():
        if row.verdict == "equal":
            continue
        types = "all of these" if len(group) == len(members) else ", ".join(tally["dtype"] for tally in group)
        count = sum(tally["differing"].get(f"{row.verdict} {row.where}", 0) for tally in group)
        to = f" ({row.to})" if row.to else ""
        where = row.where.replace("_", " ")
        lines.append(f"| {op} | {types} | {row.verdict} where {where} | | | {count}: {row.reason}{to} |")
    return lines


def _refusals(expected: table.Table, system: str, members: list[Tally]) -> list[str]:
    both = sum(tally["refused"].get("both", 0) for tally in members)
    lines = ["", f"Refused by both: {both}. Refused by one side only:", ""]
    rules: dict[table.OneSided, list[str]] = defaultdict(list)
    for op in dict.fromkeys(tally["op"] for tally in members):
        for rule in expected.refusals.get((system, op), []):
            rules[rule].append(op)
    for rule, ops in rules.items():
        who = {"system": system, "patchfold": "patchfold", "nobody": "not run in the system"}[rule.by]
        name = f"{rule.by} {rule.where}"
        count = sum(tally["refused"].get(name, 0) for tally in members if tally["op"] in ops)
        counted = f" {count}," if rule.by != "nobody" else ""
        lines.append(f"* {who}:{counted} {rule.where.replace('_', ' ')} ({', '.join(ops)}): {rule.reason}")
    return lines if rules else [*lines[:1], f"Refused by both: {both}."]


def without_counts(page: str) -> str:
    """Returns the page with # in place of each count, since counts differ between runs."""
    lines = []
    for line in page.splitlines():
        if line.startswith("| "):
            cells = line.split("|")
            line = "|".join(cells[:4] + [re.sub(r"\d+", "#", cell) for cell in cells[4:]])
        elif line.startswith(("* ", "Refused ")):
            line = re.sub(r": \d+", ": #", line)
        lines.append(line)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cases", type=int, default=FULL)
    parser.add_argument("--system", action="append", choices=list(SYSTEMS))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    names = options.system or list(SYSTEMS)
    expected, found = table.read(), tallies(options.folder, names)
    problems = faults(expected, found, names, options.cases)
    for text in problems:
        print(f"FAILED {text}")
    for name in names:
        mine = [tally for tally in found if tally["system"] == name]
        cases, same = (sum(tally[key] for tally in mine) for key in ("accepted", "equal"))
        print(f"{name}: {len(mine)} cells, {cases} cases accepted by both, {same} equal")
    if not options.system and not problems:
        page = render(expected, found)
        if options.write:
            PAGE.write_text(page, encoding="utf-8")
        elif not PAGE.is_file() or without_counts(PAGE.read_text(encoding="utf-8")) != without_counts(page):
            print("FAILED docs/conformance.md does not say what this run says: scripts/peers --write shows the change")
            problems.append("page")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()

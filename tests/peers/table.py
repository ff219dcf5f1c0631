# SPDX-License-Identifier: Apache-2.0
"""Reads the folder tests/peers/expected: how every system should behave with every operator and element type."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import tomllib
from compare import ANY_NAN, CLAMPED
from predicates import PREDICATES
from problem import DTYPES, Problem

FOLDER = Path(__file__).resolve().parent / "expected"
VERDICTS = ("equal", "bounded", "narrows", "refuses", "wrong")


@dataclass(frozen=True)
class Row:
    """A row of a cell: the verdict for all problems of the cell, or for those that meet the condition `where`. With the
    verdict "wrong", every result of the system is wrong or, with by_chance, depends on old memory or on the processor.
    """

    verdict: str
    reason: str = ""
    where: str = ""
    to: str = ""
    ulps: float = 0.5
    by_chance: bool = False

    def covers(self, problem: Problem) -> bool:
        return not self.where or PREDICATES[self.where](problem)


@dataclass(frozen=True)
class OneSided:
    """Problems that only `by` refuses ("patchfold" or "system"), and why. If `by` is "nobody", the system never gets these
    problems."""

    by: str
    where: str
    reason: str

    def covers(self, problem: Problem) -> bool:
        return PREDICATES[self.where](problem)


@dataclass
class Table:
    cells: dict[tuple[str, str, str], list[Row]] = field(default_factory=dict)
    refusals: dict[tuple[str, str], list[OneSided]] = field(default_factory=dict)
    uncovered: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)

    def rows(self, system: str, op: str, dtype: str) -> list[Row]:
        """Returns the rows with conditions, then the row for other problems. Raises KeyError if the table lacks the cell."""
        rows = self.cells[system, op, dtype]
        return sorted(rows, key=lambda row: not row.where)

    def row(self, system: str, problem: Problem) -> Row:
        return next(row for row in self.rows(system, problem.op, problem.dtype) if row.covers(problem))


class Fault(ValueError):
    """Raised if the table contradicts itself."""


def read(folder: Path = FOLDER) -> Table:
    """Returns the table of a folder, which has a file of rows for each system, and types.toml with groups of types."""
    content: dict[str, Any] = {"cell": [], "refusal": [], "uncovered": []}
    for path in sorted(folder.glob("*.toml")):
        part = tomllib.loads(path.read_text(encoding="utf-8"))
        if path.stem == "types":
            content["types"] = part
        else:
            for group in part["of"]:
                known = {"system": path.stem, "operators": group.pop("operators")}
                for kind, entries in group.items():
                    content[kind] += [known | entry for entry in entries]
    return parse(content)


def parse(content: dict[str, Any]) -> Table:
    groups: dict[str, list[str]] = content.get("types", {})
    table = Table()
    for entry in content.get("cell", []):
        row = Row(**{each.name: entry[each.name] for each in fields(Row) if each.name in entry})
        _check(row)
        for dtype in _types(entry["types"], groups):
            for op in entry["operators"]:
                rows = table.cells.setdefault((entry["system"], op, dtype), [])
                if any(other.where == row.where for other in rows):
                    raise Fault(f"{entry['system']} {op} {dtype} has two rows for the same problems")
                rows.append(row)
    for key, rows in table.cells.items():
        if all(row.where for row in rows):
            raise Fault(f"{' '.join(key)} has only exceptions")
    for entry in content.get("refusal", []):
        rule = OneSided(entry["by"], entry["where"], entry["reason"])
        if rule.by not in ("system", "patchfold", "nobody") or rule.where not in PREDICATES:
            raise Fault(f"a refusal by {rule.by} where {rule.where}")
        for op in entry["operators"]:
            table.refusals.setdefault((entry["system"], op), []).append(rule)
    for entry in content.get("uncovered", []):
        for op in entry["operators"]:
            table.uncovered.setdefault((entry["system"], op), {}).update(
                dict.fromkeys(entry["features"], entry["reason"])
            )
    return table


def _types(names: list[str], groups: dict[str, list[str]]) -> list[str]:
    types = [dtype for name in names for dtype in groups.get(name, [name])]
    unknown = [dtype for dtype in types if dtype not in DTYPES]
    twice = [dtype for dtype, count in Counter(types).items() if count > 1]
    if unknown or twice:
        raise Fault(f"unknown types {unknown}, types named twice {twice}")
    return types


def _check(row: Row) -> None:
    faults: dict[str, Callable[[], bool]] = {
        f"there is no verdict {row.verdict}": lambda: row.verdict not in VERDICTS,
        f"{row.verdict} needs a reason": lambda: row.verdict != "equal" and not row.reason,
        f"there is no condition {row.where}": lambda: bool(row.where) and row.where not in PREDICATES,
        "narrows, and nothing else, says to what": lambda: (row.verdict == "narrows") != bool(row.to),
        "only what is wrong where something holds is so by chance": lambda: row.by_chance
        and not (row.verdict == "wrong" and row.where),
        "wrong needs a condition": lambda: row.verdict == "wrong" and not row.where,
        f"there is no type {row.to}": lambda: row.to not in ("", ANY_NAN, CLAMPED, *DTYPES),
    }
    for text, holds in faults.items():
        if holds():
            raise Fault(text)

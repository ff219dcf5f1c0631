# SPDX-License-Identifier: Apache-2.0
"""Writes docs/performance-random.md and its picture from the figures that bench/peers_random.py stores."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from pages import machine_text, plural, table, times
from spread_picture import Groups, Section, spread_picture

DOCUMENT = "performance-random.md"
PICTURE = "performance-random.svg"
# Smaller problems stay in a cache, where a copy says little about the roof.
LEAST_BYTES = 4e6
SLOWEST = 10

SYSTEMS = ("patchfold", "NumPy", "torch")
CAPTION = (
    "1 is a copy of half of the memory that a problem touches, with as many threads. Further left is faster.",
    "Problems of 4 MB or more. Line: all of them; bar: the middle half; mark: the median.",
)

Data = dict[str, Any]

MEASURED = """\
* `patchfold bench --random {seed} {count}` draws the problems: operators, kernels of 1 to 32, strides, dilations, pads,
  element types, the memory layouts of both tensors, and 128 KB to 64 MB of elements. It prints the same problems on
  every machine.
* **/copy**: time in multiples of a copy of half of the memory that both tensors span, with elements that a layout skips,
  to the other half. The copy is the faster of memcpy and a non-temporal copy, with as many threads. The program measures
  the problem and the copy in the same rounds.
* Then patchfold, NumPy and torch run the problem in turn in the same rounds, on the same data. Times are medians of
  {rounds} rounds. /copy of NumPy and torch is patchfold's /copy, times their multiple of patchfold's time.
* NumPy and torch copy between strided views (`as_strided`, `copyto` or `copy_`) and sum by adding one view for each
  tap. Pads are in memory before the clock starts; cropped elements are written too. NumPy uses one thread. torch has no
  negative strides and no elements of 3, 5, 6 or 12 bytes, and is left out there.
* Each result is compared with patchfold's: copies in every element, sums within one rounding for each addition.
* Layouts: [memory layout](glossary.md#memory-layout). A problem with two layouts counts for both.
* Two figures in a cell of /copy are the median and the worst of the problems of 4 MB or more. Two figures in a cell of
  times are the median and the least multiple of patchfold's time, of all problems.
"""


def large(rows: list[Data]) -> list[Data]:
    return [row for row in rows if row["bytes"] >= LEAST_BYTES]


def of_copy(row: Data, system: str) -> float | None:
    """Returns a system's time in multiples of a copy's, or None without a right result."""
    if system not in row["seconds"] or system in row["mismatches"]:
        return None
    multiple: float = row["time_of_copy"] * row["seconds"][system] / row["seconds"]["patchfold"]
    return multiple


def parts(data: Data) -> Iterator[tuple[str, int, list[Data]]]:
    """Yields the rows of each instruction set and number of threads."""
    for name, threads in dict.fromkeys((row["set"], row["threads"]) for row in data["rows"]):
        yield name, threads, [row for row in data["rows"] if (row["set"], row["threads"]) == (name, threads)]


def operators(rows: list[Data]) -> dict[str, list[Data]]:
    names = sorted({row["problem"].split()[0] for row in rows})
    return {name: [row for row in rows if row["problem"].split()[0] == name] for name in names}


def layouts(rows: list[Data]) -> dict[str, list[Data]]:
    """Returns the rows that are plain on both sides, then the rows of each layout on one side or both."""
    sides = [{row["src"], row["dst"]} for row in rows]
    names = sorted(set().union(*sides) - {"plain"})
    groups = {"plain": [row for row, layout in zip(rows, sides, strict=True) if layout == {"plain"}]}
    groups |= {name: [row for row, layout in zip(rows, sides, strict=True) if name in layout] for name in names}
    return {name: group for name, group in groups.items() if group}


def _figures(rows: list[Data], system: str) -> str:
    """Returns the median and the worst /copy."""
    values = [value for row in rows if (value := of_copy(row, system)) is not None]
    return f"{times(statistics.median(values))}; {times(max(values))}" if values else "-"


def _multiples(rows: list[Data], system: str) -> str:
    """Returns the median and the least time in multiples of patchfold's."""
    values = [row["seconds"][system] / row["seconds"]["patchfold"] for row in rows if of_copy(row, system) is not None]
    return f"{times(statistics.median(values))}; {min(values):.2f}" if values else "-"


def _cells(rows: list[Data]) -> list[str]:
    big = large(rows)
    over = [str(sum(row["time_of_copy"] > limit for row in big)) for limit in (1.5, 3)]
    copies = [_figures(big, system) for system in SYSTEMS]
    return [
        str(len(rows)),
        str(len(big)),
        copies[0],
        *over,
        *copies[1:],
        _multiples(rows, "NumPy"),
        _multiples(rows, "torch"),
    ]


def _table(rows: list[Data]) -> str:
    head = ["", "problems", "of 4 MB or more", "patchfold /copy", "> 1.5", "> 3", "NumPy /copy", "torch /copy"]
    head += ["NumPy / patchfold", "torch / patchfold"]
    lines = [["all", *_cells(rows)]]
    for groups in (operators(rows), layouts(rows)):
        lines += [[f"`{name}`", *_cells(group)] for name, group in groups.items()]
    return table(head, lines)


def _slowest(rows: list[Data]) -> str:
    ordered = sorted(large(rows), key=lambda row: -row["time_of_copy"])[:SLOWEST]
    text = "".join(
        f"* {times(row['time_of_copy'])}: `{row['problem']} src={row['src']} dst={row['dst']}`, {row['strategy']}\n"
        for row in ordered
    )
    return f"\nThe {len(ordered)} slowest in multiples of a copy:\n\n{text}" if ordered else ""


def _summary(name: str, threads: int, rows: list[Data]) -> str:
    big = [row["time_of_copy"] for row in large(rows)]
    slower = sum(row["seconds"]["NumPy"] < 0.95 * row["seconds"]["patchfold"] for row in rows)
    head = f"* {name}, {plural(threads)}: {len(rows)} problems, of which NumPy solves {slower} faster than patchfold.\n"
    if not big:
        return head
    return head + (
        f"  The {len(big)} of 4 MB or more take {times(statistics.median(big))} (median; {times(min(big))} to "
        f"{times(max(big))}) copies.\n"
    )


def _wrong(data: Data) -> str:
    lines = dict.fromkeys(
        f"* {name}: `{row['problem']} src={row['src']} dst={row['dst']}`\n"
        for row in data["rows"]
        for name in row["mismatches"]
    )
    return "\n## Other results than patchfold's\n\n" + "".join(lines) if lines else ""


def document(data: Data) -> str:
    text = "<!-- Written by `scripts/bench --random`. -->\n# Performance of random problems\n\n"
    text += f"![Time in multiples of a copy, for each operator and memory layout]({PICTURE})\n\n"
    text += "".join(_summary(*part) for part in parts(data))
    text += f"\n## Machine and versions\n\n{machine_text(data)}\n## How it is measured\n\n"
    text += MEASURED.format(**data)
    for name, threads, rows in parts(data):
        text += f"\n## {name}, {plural(threads)}\n\n{_table(rows)}{_slowest(rows)}"
    return text + _wrong(data)


def _spreads(rows: list[Data]) -> Section:
    def spread(groups: dict[str, list[Data]]) -> Groups:
        made: Groups = {}
        for label, members in groups.items():
            for threads in dict.fromkeys(row["threads"] for row in rows):
                here = [row for row in members if row["threads"] == threads]
                made.setdefault(label, {})[threads] = {
                    system: [value for row in here if (value := of_copy(row, system)) is not None] for system in SYSTEMS
                }
        return made

    return {"": spread({"all": rows}), "operator": spread(operators(rows)), "memory layout": spread(layouts(rows))}


def picture(data: Data) -> str:
    names = dict.fromkeys(row["set"] for row in data["rows"])
    sections = {name: _spreads(large([row for row in data["rows"] if row["set"] == name])) for name in names}
    return spread_picture("Random problems: time in multiples of a copy", CAPTION, list(SYSTEMS), sections)

# SPDX-License-Identifier: Apache-2.0
"""The second part of docs/performance.md, written from the figures that bench/peers.py stores."""

from __future__ import annotations

import statistics
from typing import Any

from pages import figure, machine_text, plural, table, times

Data = dict[str, Any]

MEASURED = """\
* `bench/problems.txt` has the problems: operators by their own names, with the channels first or last, of 1 to 4 axes, in
  floats, integers and complex numbers.
* The column of a system: the median and the least multiple of patchfold's time. "-": the system lacks this operator, or
  lacks it for this number of axes, layout or type.
* patchfold and the other systems take turns in the same rounds on the same data; times are medians of {rounds} rounds. Work
  shorter than 2 ms is repeated within its round.
* **/roof**: patchfold's time in multiples of the [roof](glossary.md#roof), which `patchfold bench` measures in the same
  rounds as the problem.
* Each result is compared with patchfold's: copies in every element, sums within one rounding for each addition.
* Preparation is not timed: models are compiled and sessions made before. Pictures are padded before for NumPy. For
  OpenVINO and TensorFlow they are too, where the rules SAME and VALID do not give the pads. torch's unfold and fold,
  OpenVINO, ONNX Runtime and NumPy write into the same memory as patchfold. TensorFlow and torch's pixel_shuffle and
  pixel_unshuffle allocate their result, in memory that is used again.
* Some systems order the elements of a result differently but move as many bytes. In OpenVINO's ExtractImagePatches the
  tap is the slow index of the channels. TensorFlow's patches and data have the channels last. In torch's pixel_shuffle
  and pixel_unshuffle the offset is the fast index of the channels.
"""


def systems_of(data: Data) -> list[str]:
    return [name for name in data["versions"] if name != "patchfold"]


def multiples(row: Data) -> dict[str, float]:
    """Returns the time of each system whose result is right, in multiples of patchfold's."""
    ours = row["seconds"]["patchfold"]
    wrong = ("patchfold", *row["mismatches"])
    return {name: seconds / ours for name, seconds in row["seconds"].items() if name not in wrong}


def fastest(row: Data) -> tuple[float, str] | None:
    """Returns the fastest other system, its time in multiples of patchfold's first."""
    others = multiples(row)
    return min((multiple, name) for name, multiple in others.items()) if others else None


def _group(row: Data) -> str:
    op, dtype, *_ = row["problem"].split()
    last = ", channels last" if "layout=channels_last" in row["problem"] else ""
    return f"`{op.split('.')[-1]}`{last}" if dtype == "f32" else "other types than float32"


def _groups(rows: list[Data]) -> dict[str, list[Data]]:
    groups: dict[str, list[Data]] = {"all": rows}
    for row in rows:
        groups.setdefault(_group(row), []).append(row)
    # Groups of other types come last.
    return dict(sorted(groups.items(), key=lambda item: item[0].startswith("other")))


def _cell(values: list[float]) -> str:
    return f"{times(statistics.median(values))}; {times(min(values))}" if values else "-"


def _table(data: Data, rows: list[Data]) -> str:
    head = ["", "problems", "/roof: median", "worst", *systems_of(data), "fastest other"]
    lines = []
    for name, group in _groups(rows).items():
        roofs = [row["program"]["time_of_roof"] for row in group]
        found = [[each[system] for row in group if system in (each := multiples(row))] for system in systems_of(data)]
        best = [other[0] for row in group if (other := fastest(row))]
        cells = [_cell(values) for values in (*found, best)]
        lines.append([name, str(len(group)), times(statistics.median(roofs)), times(max(roofs)), *cells])
    return table(head, lines)


def _summary(rows: list[Data]) -> str:
    found = [best[0] for row in rows if (best := fastest(row))]
    if not found:
        return ""
    return (
        f"patchfold is the fastest in {sum(value > 1 for value in found)} of the {len(found)} problems that another system "
        f"supports; the fastest other takes {times(statistics.median(found))} times as long (median).\n\n"
    )


def _close(rows: list[Data]) -> str:
    lines = []
    for row in rows:
        best = fastest(row)
        if best and best[0] < 1:
            ours, theirs = (figure(row["seconds"][of] * 1e3) for of in ("patchfold", best[1]))
            figures = f"{best[1]} {theirs} ms, patchfold {ours} ms"
            lines.append((best[0], f"* {best[0]:.2f}: {figures}; {plural(row['threads'])}, `{row['problem']}`\n"))
    return "".join(line for _, line in sorted(lines)) or "Nowhere.\n"


def _list(title: str, lines: list[str]) -> str:
    return f"\n### {title}\n\n" + "".join(f"* {line}\n" for line in lines) if lines else ""


def section(data: Data) -> str:
    rows = data["rows"]
    text = "## Operators of other systems\n\n"
    for threads in dict.fromkeys(row["threads"] for row in rows):
        part = [row for row in rows if row["threads"] == threads]
        text += f"### {plural(threads).capitalize()}\n\n{_summary(part)}{_table(data, part)}\n"
    text += f"### Where another system solves a problem faster\n\n{_close(rows)}"
    where = "{}, `{}`".format
    wrong = [f"{name}, {where(plural(row['threads']), row['problem'])}" for row in rows for name in row["mismatches"]]
    refused = [
        f"{name}, {where(plural(row['threads']), row['problem'])}: {reason}"
        for row in rows
        for name, reason in row["refusals"].items()
    ]
    text += _list("Other results than patchfold's", wrong) + _list("Refused", refused)
    return text + f"\n### How these are measured\n\n{MEASURED.format(rounds=data['rounds'])}\n{machine_text(data)}"

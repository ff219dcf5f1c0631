# SPDX-License-Identifier: Apache-2.0
"""Writes docs/performance.md and its picture from the figures that bench/networks/measure.py stores."""

from __future__ import annotations

import math
import re
import statistics
from typing import Any

from spread_picture import Groups, plural, spread_picture

DOCUMENT, PICTURE = "performance.md", "performance.svg"
OTHERS = ("torch", "ONNX Runtime", "oneDNN", "NumPy")
WORST = 10
ALL = "all"
CAPTION = (
    "1 is a copy of half of the bytes that a call reads and writes, with at most as many threads. Left is faster.",
    "Line: all calls; bar: the middle half; mark: the median.",
)

Data = dict[str, Any]

MEASURED = """\
* The calls: `bench/networks/calls.jsonl` has the calls that the {models} models of {origin} make with one picture.
  `bench/networks/measure.py` draws {count} calls of each group by the seed {seed}, with batches of 1 to 32, in float32 (two
  thirds), float16 and float64, from 20 KB to 200 MB:
  * **feature maps**: windows of convolutions, cut (im2col) and, for their gradient, added up (col2im);
  * **tokens**: the calls of unfold and fold in the models, the unfold of T2T-ViT, and pixel shuffles of EDSR, ESPCN,
    InternVL and Real-ESRGAN, which timm lacks;
  * **frames**: signals in frames of 400 samples every 160, as in speech models, or of 1024 every 256, and overlap-add;
  * **pictures**: pictures of 224 to 1024 pixels a side in patches, and put together;
  * **copies**: views that the models make contiguous (`patchfold.copy`).
* A **copy** is the unit of time: a copy of half of the bytes that the call reads and writes, each element counted
  once. The copy is the fastest of memcpy and a copy with non-temporal stores, with one thread and with the call's number of
  threads.
* patchfold, the other systems and these copies take turns in the same rounds (a b c a b c ..) on the same data. Times are
  medians of {rounds} rounds. Work shorter than 2 ms is repeated within its round.
* Each result is compared with NumPy's, in every element.
* Preparation (sessions, and padded pictures for NumPy) is not timed. Results go to memory that is
  allocated before; torch's shuffles allocate their results, in the memory of earlier results.
* ONNX Runtime: Col2Im, DepthToSpace, SpaceToDepth, Transpose. oneDNN: reorder. NumPy: strided views, one copy or one
  addition for each tap, one thread. A system is left out if it lacks the operator, the type or the number of axes.
"""


def figure(value: float) -> str:
    """Returns the number as text with three significant digits."""
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}"


def times(value: float) -> str:
    """Returns a multiple as text: with two digits after the point if it is less than 10, and else with none."""
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Returns a table in Markdown. Its first column is text, and all others are numbers."""
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines) + "\n"


def _cache(text: str) -> str:
    """Returns the text of rounds.machine() for a cache, such as `L3 32768K shared`, as a phrase: `L3 32 MiB for all`."""
    level, size, *shared = text.split()
    kibibytes = int(size.rstrip("K"))
    amount = f"{kibibytes} KiB" if kibibytes < 1024 else f"{kibibytes / 1024:g} MiB"
    return f"{level} {amount}" + (" for all" if shared else " each")


def machine_text(data: Data) -> str:
    machine = data["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in data["versions"].items())
    caches = ", ".join(_cache(text) for text in machine["caches"])
    return (
        f"{machine['processor']}, {machine['cores']} cores; {caches}; {machine['memory'] / 2**30:.0f} GiB of memory.\n\n"
        f"{versions}; Python {machine['python']}.\n"
    )


def of_copy(row: Data, system: str) -> float | None:
    """Returns a system's time in multiples of a copy, or None if the system has no right result."""
    if system not in row["seconds"] or system in row["mismatches"]:
        return None
    multiple: float = row["seconds"][system] / row["seconds"]["copy"]
    return multiple


def fastest(row: Data) -> tuple[float, str] | None:
    """Returns (time in multiples of patchfold's, name) of the fastest other system with a right result, or None."""
    found = [(value, name) for name in OTHERS if (value := of_copy(row, name)) is not None]
    if not found:
        return None
    value, name = min(found)
    return value * row["seconds"]["copy"] / row["seconds"]["patchfold"], name


def _groups(rows: list[Data]) -> dict[str, list[Data]]:
    names = dict.fromkeys(row["group"] for row in rows)
    return {ALL: rows} | {name: [row for row in rows if row["group"] == name] for name in names}


def _threads(rows: list[Data]) -> dict[int, list[Data]]:
    counts = dict.fromkeys(row["threads"] for row in rows)
    return {threads: [row for row in rows if row["threads"] == threads] for threads in counts}


def _slower(rows: list[Data]) -> list[tuple[float, str, Data]]:
    """Returns (multiple of patchfold's time, system, call) of each call that another system runs faster."""
    found = [(*best, row) for row in rows if (best := fastest(row)) and best[0] < 1]
    return sorted(found, key=lambda item: item[0])


def _spread(rows: list[Data], system: str) -> str:
    values = [value for row in rows if (value := of_copy(row, system)) is not None]
    return f"{times(statistics.median(values))}; {times(max(values))}" if values else "-"


def _table(rows: list[Data]) -> str:
    head = ["", "threads", "calls", "patchfold", *OTHERS, "fastest other / patchfold", "another is faster"]
    lines = []
    for name, group in _groups(rows).items():
        for threads, part in _threads(group).items():
            multiples = [best[0] for row in part if (best := fastest(row))]
            spreads = [_spread(part, system) for system in ("patchfold", *OTHERS)]
            other = times(statistics.median(multiples)) if multiples else "-"
            share = f"{len(_slower(part)) / len(part):.0%}"
            lines.append([name, str(threads), str(len(part)), f"**{spreads[0]}**", *spreads[1:], other, share])
    return table(head, lines)


def _fastest_of(rows: list[Data]) -> tuple[int, str]:
    """Returns how many calls patchfold runs fastest, and the median of the best other time in multiples of patchfold's."""
    multiples = [best[0] for row in rows if (best := fastest(row))]
    return len(rows) - len(_slower(rows)), times(statistics.median(multiples))


def quoted(text: str, data: Data) -> str:
    """Returns the text of README.md, or of tests/claims.txt, with the figures for one thread replaced by those of `data`."""
    rows = _threads(data["rows"]).get(1, [])
    if not rows:
        return text
    count, multiple = _fastest_of(rows)
    pattern = r"fastest in \d+ of \d+ (calls .*? takes) [\d.]+ times"
    return re.sub(pattern, rf"fastest in {count} of {len(rows)} \1 {multiple} times", text, count=1, flags=re.S)


def _summary(threads: int, rows: list[Data]) -> str:
    copies = [row["seconds"]["patchfold"] / row["seconds"]["copy"] for row in rows]
    count, multiple = _fastest_of(rows)
    return (
        f"* {plural(threads)}: patchfold is the fastest in {count} of {len(rows)} calls that networks make.\n"
        f"  The fastest of {', '.join(OTHERS[:-1])} and {OTHERS[-1]} takes {multiple} times as long (median).\n  patchfold "
        f"takes {times(statistics.median(copies))} copies (median; {times(min(copies))} to {times(max(copies))}).\n"
    )


def _call(row: Data) -> str:
    return f"{plural(row['threads'])}, `{row['call']}` ({row['model']})"


def _list_slower(rows: list[Data]) -> str:
    lines = [
        f"* {multiple:.2f}: {name} {figure(row['seconds'][name] * 1e3)} ms, patchfold "
        f"{figure(row['seconds']['patchfold'] * 1e3)} ms; {_call(row)}\n"
        for multiple, name, row in _slower(rows)
    ]
    return "".join(lines) or "Nowhere.\n"


def _list_slowest(rows: list[Data]) -> str:
    found = sorted(((row["seconds"]["patchfold"] / row["seconds"]["copy"], i) for i, row in enumerate(rows)), reverse=True)
    return "".join(f"* {times(copies)}: {_call(rows[i])}\n" for copies, i in found[:WORST])


def _wrong(rows: list[Data]) -> str:
    lines = [f"* {name}: {_call(row)}\n" for row in rows for name in row["mismatches"]]
    return "\n## Other results than NumPy's\n\n" + "".join(lines) if lines else ""


def document(data: Data) -> str:
    rows = data["rows"]
    text = "<!-- Written by `scripts/bench`. -->\n# Performance\n\n"
    text += f"![Time in multiples of a copy, for each group of calls and each system]({PICTURE})\n\n"
    text += "".join(_summary(threads, part) for threads, part in _threads(rows).items())
    text += "\n## Calls of networks\n\nMedian and worst time in multiples of a copy.\n\n" + _table(rows)
    text += f"\n## Where another system is faster\n\n{_list_slower(rows)}"
    text += f"\n## The slowest in multiples of a copy\n\n{_list_slowest(rows)}{_wrong(rows)}"
    text += f"\n## How they are measured\n\n{MEASURED.format(**data)}\n{machine_text(data)}"
    return text


def picture(data: Data) -> str:
    groups: Groups = {
        name: {
            threads: {
                system: [value for row in part if (value := of_copy(row, system)) is not None]
                for system in ("patchfold", *OTHERS)
            }
            for threads, part in _threads(rows).items()
        }
        for name, rows in _groups(data["rows"]).items()
    }
    title = "Calls of networks: time in multiples of a copy"
    return spread_picture(title, CAPTION, ["patchfold", *OTHERS], groups)

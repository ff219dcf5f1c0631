# SPDX-License-Identifier: Apache-2.0
"""docs/performance.md, written from the figures that bench/peers.py stores."""

from __future__ import annotations

import math
import statistics
from typing import Any

DOCUMENT = "performance.md"
PICTURE = "performance.svg"
# A row in which the fastest other system takes less than this many times as long is listed.
CLOSE = 1.5

Data = dict[str, Any]

MEASURED = """\
* Each number of threads has its own process. In it patchfold and the other systems take turns in the same rounds (a b
  c a b c ..) on the same data; times are medians of {rounds} rounds. Work shorter than 2 ms is repeated within its
  round, everything runs once before the first round, and between two systems there is a pause in which waiting
  threads go to sleep. patchfold is called through its Python package.
* MB: the bytes of input and result, each counted once. GB/s: these bytes divided by patchfold's time.
* **/mix**: patchfold's time in multiples of the [mix](glossary.md#mix), the best plain loop that reads as many bytes
  and writes as many bytes as the problem, with as many threads. The targets are multiples of the mix.
* **/roof**: patchfold's time in multiples of the [roof](glossary.md#roof), the faster of the mix and of a copy of
  half of all bytes. Memory takes copies faster than stores alone, so a problem that mostly writes cannot reach the
  roof. `patchfold bench` measures both in the same rounds, right before the rounds of the problem. The picture shows
  /roof for patchfold, and for another system /roof times its multiple of patchfold's time.
* The column of a system: milliseconds, and in brackets the multiple of patchfold's time. "-": the system lacks this
  operator, or lacks it for this number of axes, layout or type.
* Each result is compared with patchfold's: copies in every element, sums within one rounding for each addition.
* Preparation is not timed: models are compiled and sessions made before. Pictures are padded before for NumPy, and
  also for OpenVINO and TensorFlow where their rules SAME and VALID do not give the pads. torch's unfold and fold,
  OpenVINO, ONNX Runtime and NumPy write into the same memory as patchfold. TensorFlow and torch's pixel_shuffle and
  pixel_unshuffle allocate their result, in memory that is used again.
* All systems get memory in pages of the same size.
* Some systems order the elements of a result differently but move as many bytes: in OpenVINO's ExtractImagePatches
  the tap is the slow index of the channels; TensorFlow's patches and data have the channels last; in torch's
  pixel_shuffle and pixel_unshuffle the offset is the fast index of the channels.
* NumPy: strided views (`sliding_window_view`, `reshape`, `transpose`) and one `copyto`, which uses one thread.
"""


def plural(threads: int) -> str:
    return f"{threads} thread{'s' * (threads != 1)}"


def figure(value: float) -> str:
    """Three digits."""
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}"


def times(value: float) -> str:
    """Two digits after the point where they say something."""
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def systems_of(data: Data) -> list[str]:
    return [name for name in data["versions"] if name != "patchfold"]


def multiples(row: Data) -> dict[str, float]:
    """Time of each system in multiples of patchfold's."""
    ours = row["seconds"]["patchfold"]
    return {name: seconds / ours for name, seconds in row["seconds"].items() if name != "patchfold"}


def fastest(row: Data) -> tuple[str, float] | None:
    """The fastest other system whose result is right, in multiples of patchfold's time."""
    others = {name: multiple for name, multiple in multiples(row).items() if name not in row["mismatches"]}
    return min(others.items(), key=lambda item: item[1]) if others else None


def machine_text(data: Data) -> str:
    machine = data["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in data["versions"].items())
    caches = ", ".join(_cache(text) for text in machine["caches"])
    return (
        f"{machine['processor']}, {machine['cores']} cores; {caches}; {machine['memory'] / 2**30:.0f} GiB of memory.\n\n"
        f"{versions}; Python {machine['python']}.\n"
    )


def _cache(text: str) -> str:
    """`L3 32768K shared`, as the kernel counts, in MiB."""
    level, size, *shared = text.split()
    kibibytes = int(size.rstrip("K"))
    amount = f"{kibibytes} KiB" if kibibytes < 1024 else f"{kibibytes / 1024:g} MiB"
    return f"{level} {amount}" + (" for all" if shared else " each")


def _cell(row: Data, name: str) -> str:
    if name not in row["seconds"]:
        return "-"
    wrong = " wrong" if name in row["mismatches"] else ""
    return f"{figure(row['seconds'][name] * 1e3)} ({times(multiples(row)[name])}){wrong}"


def _table(data: Data, rows: list[Data]) -> str:
    names = systems_of(data)
    head = ["problem", "MB", "patchfold ms", "GB/s", "/mix", "/roof", *names, "fastest other / patchfold"]
    lines = [" | ".join(head), "|".join(["---", *["---:"] * (len(head) - 1)])]
    for row in rows:
        ours, best = row["seconds"]["patchfold"], fastest(row)
        cells = [
            f"`{row['problem']}`",
            figure(row["bytes"] / 1e6),
            figure(ours * 1e3),
            figure(row["bytes"] / ours / 1e9),
            f"{row['program']['time_of_mix']:.2f}",
            f"{row['program']['time_of_roof']:.2f}",
            *(_cell(row, name) for name in names),
            times(best[1]) if best else "-",
        ]
        lines.append(" | ".join(cells))
    return "".join(f"| {line} |\n" if i != 1 else f"|{line}|\n" for i, line in enumerate(lines))


def _spread(values: list[float]) -> str:
    return f"{times(statistics.median(values))} (median; {times(min(values))} to {times(max(values))})"


def _summary(threads: int, rows: list[Data]) -> str:
    found = [best[1] for best in map(fastest, rows) if best]
    if not found:
        return ""
    roofs = [row["program"]["time_of_roof"] for row in rows]
    return (
        f"* {plural(threads)}: patchfold is the fastest in {sum(value > 1 for value in found)} of the {len(found)} "
        f"problems that another system supports.\n  The fastest other takes {_spread(found)} times as long.\n"
        f"  patchfold's time in multiples of the roof: {_spread(roofs)}.\n"
    )


def _close(rows: list[Data]) -> str:
    lines = []
    for row in rows:
        best = fastest(row)
        if best and best[1] < CLOSE:
            name, multiple = best
            ours, theirs = (figure(row["seconds"][of] * 1e3) for of in ("patchfold", name))
            figures = f"{name} {theirs} ms, patchfold {ours} ms"
            lines.append((multiple, f"* {times(multiple)}: {figures}; {plural(row['threads'])}, `{row['problem']}`\n"))
    return "".join(line for _, line in sorted(lines)) or "None.\n"


def _over(rows: list[Data]) -> str:
    lines = []
    for row in rows:
        value, target = row["program"]["time_of_mix"], row["target"]
        if value > target:
            line = f"* {value:.2f} of the mix, target {target:.2f}; {plural(row['threads'])}, `{row['problem']}`\n"
            lines.append((-value / target, line))
    return "".join(line for _, line in sorted(lines)) or "None.\n"


def _wrong(rows: list[Data]) -> str:
    lines = [f"* {name}, {plural(row['threads'])}, `{row['problem']}`\n" for row in rows for name in row["mismatches"]]
    return "\n## Other results than patchfold's\n\n" + "".join(lines) if lines else ""


def _refused(rows: list[Data]) -> str:
    lines = [
        f"* {name}, {plural(row['threads'])}, `{row['problem']}`: {reason}\n"
        for row in rows
        for name, reason in row["refusals"].items()
    ]
    return "\n## Refused\n\n" + "".join(lines) if lines else ""


def document(data: Data) -> str:
    rows = data["rows"]
    counts = list(dict.fromkeys(row["threads"] for row in rows))
    parts = {threads: [row for row in rows if row["threads"] == threads] for threads in counts}
    text = "<!-- Written by `scripts/bench`. -->\n# Performance\n\n"
    text += f"![Time of every problem in multiples of the roof, for patchfold and the other systems]({PICTURE})\n\n"
    text += "".join(_summary(threads, part) for threads, part in parts.items())
    text += f"\n## Machine and versions\n\n{machine_text(data)}\n## How it is measured\n\n"
    text += MEASURED.format(rounds=data["rounds"])
    for threads, part in parts.items():
        text += f"\n## {plural(threads).capitalize()}\n\n{_table(data, part)}"
    text += f"\n## Where the fastest other system takes less than {CLOSE:g} times as long\n\n{_close(rows)}"
    text += f"\n## Over the target\n\n`bench/problems.txt` has the targets.\n\n{_over(rows)}"
    return text + _wrong(rows) + _refused(rows)

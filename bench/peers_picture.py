# SPDX-License-Identifier: Apache-2.0
"""docs/performance.svg: for every problem the time of each system in multiples of the roof, on a logarithmic axis."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from peers_document import multiples, plural, systems_of

Data = dict[str, Any]

WIDTH = 930
MARGIN = 20
LABELS = 296  # room for the names of the problems
GAP = 26  # between panels
ROW, HEADING, TOP, BOTTOM = 16, 26, 150, 50
INK, SOFT, GRID, ROOF, STRIPE = "#1f2933", "#5f6c7b", "#e3e8ee", "#1f2933", "#f5f7fa"
OURS, OURS_BAR = "#1257c9", "#bcd4fb"
# Told apart by shape as well as by colour: marks of a square of 2 around the middle, in a colour.
MARKS = {
    "torch": ("#e4572e", "M0,-1.15 L1.1,0.85 L-1.1,0.85 Z"),
    "OpenVINO": ("#7a3fb0", "M-0.9,-0.9 H0.9 V0.9 H-0.9 Z"),
    "ONNX Runtime": ("#0f9d76", "M0,-1.25 L1.25,0 L0,1.25 L-1.25,0 Z"),
    "TensorFlow": ("#e8a200", "M0,1.15 L1.1,-0.85 L-1.1,-0.85 Z"),
    "NumPy": (
        "#6b7785",
        "M-1,-0.55 L-0.55,-1 L0,-0.45 L0.55,-1 L1,-0.55 L0.45,0 L1,0.55 L0.55,1 L0,0.45 L-0.55,1 L-1,0.55 L-0.45,0 Z",
    ),
}
OTHER = ("#b5179e", "M-1,0 A1,1 0 1 0 1,0 A1,1 0 1 0 -1,0 Z")
SHORT = {"kernel_size": "k", "stride": "s", "dilation": "d", "padding": "p", "block": "b", "ksizes": "k", "strides": "s"}
CAPTION = (
    "The roof, 1, is the best plain loop that reads and writes as many bytes with as many threads. Further left is faster.",
    "k: kernel, s: stride, d: dilation, p: padding, b: block; NHWC: the channels last. float32 where no type is named.",
)
LEFT_OUT = ("output_size", "order", "positions", "rates")


def draw_text(x: float, y: float, text: str, **attributes: object) -> str:
    given = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<text x="{x:.1f}" y="{y:.1f}"{given}>{escape(text)}</text>'


def draw_line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1) -> str:
    return f'<path d="M{x1:.1f},{y1:.1f} L{x2:.1f},{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'


def draw_mark(name: str, x: float, y: float, size: float = 4.0) -> str:
    if name == "patchfold":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.6" fill="{OURS}" stroke="#fff" stroke-width="0.8"/>'
    colour, path = MARKS.get(name, OTHER)
    place = f"translate({x:.1f},{y:.1f}) scale({size})"
    return f'<path d="{path}" transform="{place}" fill="{colour}" stroke="#fff" stroke-width="{0.7 / size:.2f}"/>'


def _heading(problem: str) -> str:
    """Problems of one operator stand together; those in other types than float32 are a part of their own."""
    op, dtype, *_ = problem.split()
    return op.split(".")[-1] if dtype == "f32" else "other element types"


def _label(problem: str) -> str:
    """`8×64×112×112  k3 p1`: what is not said by the heading."""
    op, dtype, shape, *arguments = problem.split()
    words = []
    for name, value in (argument.split("=", 1) for argument in arguments):
        if name == "layout":
            words.append("NHWC" if value == "channels_last" else value)
        elif name in ("ksizes", "strides"):
            inner = value.split(",")[1:-1]
            words.append(SHORT[name] + (inner[0] if len(set(inner)) == 1 else "×".join(inner)))
        elif name not in LEFT_OUT:
            words.append(SHORT.get(name, name + " ") + value.strip(",") if value[0].isdigit() else value)
    lead = "" if dtype == "f32" else f"{op} {dtype}  "
    return f"{lead}{shape.replace('x', '×')}  {' '.join(words)}"


class Axis:
    """Decimal logarithm of time / roof along the width of a panel."""

    def __init__(self, values: list[float], width: float) -> None:
        steps = [base * 10.0**power for power in range(-3, 7) for base in (1, 2, 5)]
        low, high = min(0.9, min(values) * 0.9), max(5.0, max(values) * 1.1)
        self._low, self._high = math.log10(low), math.log10(high)
        self._width = width
        ticks = [step for step in steps if low <= step <= high]
        # Room for about one number in 34 pixels.
        self.ticks = ticks if len(ticks) * 34 <= width else [tick for tick in ticks if f"{tick:e}"[0] == "1"]

    def at(self, value: float) -> float:
        return (math.log10(value) - self._low) / (self._high - self._low) * self._width


def _of_roof(row: Data) -> dict[str, float]:
    """The program's figure, and by their multiples of it those whose result is right."""
    ours = row["program"]["time_of_roof"]
    right = {name: multiple for name, multiple in multiples(row).items() if name not in row["mismatches"]}
    return {"patchfold": ours} | {name: ours * multiple for name, multiple in right.items()}


def _groups(rows: list[Data]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for problem in dict.fromkeys(row["problem"] for row in rows):
        groups.setdefault(_heading(problem), []).append(problem)
    # The other types last, wherever the list has them.
    return dict(sorted(groups.items(), key=lambda item: item[0] == "other element types"))


def draw_legend(names: list[str], y: float) -> list[str]:
    parts, x = [], MARGIN + 6.0
    for name in ("patchfold", *names):
        parts.append(draw_mark(name, x, y - 4.5, 4.4))
        bold = {"font_weight": "600"} if name == "patchfold" else {}
        parts.append(draw_text(x + 11, y, name, font_size=13, **bold))
        x += 34 + 7.9 * len(name)
    return parts


def _panel(x: float, axis: Axis, width: float, bottom: float, threads: int) -> list[str]:
    """What lies behind the marks."""
    parts = [draw_text(x + width / 2, TOP - 28, plural(threads), text_anchor="middle", font_size=13, font_weight="600")]
    for tick in axis.ticks:
        at = x + axis.at(tick)
        roof = tick == 1
        parts.append(draw_line(at, TOP - 4, at, bottom, ROOF if roof else GRID, 1.2 if roof else 1))
        for y in (TOP - 9, bottom + 15):
            parts.append(draw_text(at, y, f"{tick:g}", text_anchor="middle", font_size=11, fill=INK if roof else SOFT))
    label = "time / roof (logarithmic)"
    parts.append(draw_text(x + width / 2, bottom + 33, label, text_anchor="middle", font_size=12, fill=SOFT))
    return parts


def _marks(x: float, y: float, axis: Axis, values: dict[str, float], names: list[str]) -> list[str]:
    """A bar from the roof to patchfold's time; the others first, so that patchfold lies above them."""
    start, end = sorted((x + axis.at(1), x + axis.at(values["patchfold"])))
    parts = [
        f'<rect x="{start:.1f}" y="{y - 3:.1f}" width="{max(1, end - start):.1f}" height="6" rx="2" fill="{OURS_BAR}"/>'
    ]
    shown = [name for name in (*reversed(names), "patchfold") if name in values]
    return parts + [draw_mark(name, x + axis.at(values[name]), y) for name in shown]


def picture(data: Data) -> str:
    rows, names = data["rows"], systems_of(data)
    counts = list(dict.fromkeys(row["threads"] for row in rows))
    found = {(row["problem"], row["threads"]): _of_roof(row) for row in rows}
    groups = _groups(rows)
    width = (WIDTH - 2 * MARGIN - LABELS - GAP * (len(counts) - 1)) / len(counts)
    axis = Axis([value for values in found.values() for value in values.values()], width)
    panels = {threads: MARGIN + LABELS + i * (width + GAP) for i, threads in enumerate(counts)}
    bottom = TOP + sum(HEADING + ROW * len(group) for group in groups.values()) + 6.0
    back: list[str] = []
    front: list[str] = []
    y = float(TOP)
    for heading, problems in groups.items():
        y += HEADING
        front.append(draw_text(MARGIN, y - 8, heading, font_size=12, font_weight="600"))
        for i, problem in enumerate(problems):
            middle = y + ROW / 2
            if i % 2 == 0:
                shape = f'x="{MARGIN - 6}" y="{y:.1f}" width="{WIDTH - 2 * MARGIN + 12}" height="{ROW}"'
                back.append(f'<rect {shape} rx="3" fill="{STRIPE}"/>')
            front.append(draw_text(MARGIN + 6, middle + 4, _label(problem), font_size=11, fill=INK))
            for threads, x in panels.items():
                if (problem, threads) in found:
                    front += _marks(x, middle, axis, found[problem, threads], names)
            y += ROW
    for threads, x in panels.items():
        back += _panel(x, axis, width, bottom, threads)
    height = bottom + BOTTOM
    head = [
        draw_text(MARGIN, 34, "Time in multiples of the roof", font_size=18, font_weight="600"),
        *(draw_text(MARGIN, 54 + 16 * i, line, font_size=12, fill=SOFT) for i, line in enumerate(CAPTION)),
        *draw_legend(names, 100),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}" '
        f"font-family=\"system-ui, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif\" fill=\"{INK}\" "
        'role="img">\n<title>Time in multiples of the roof, for patchfold and other systems</title>\n'
        f'<rect width="{WIDTH}" height="{height:.0f}" rx="8" fill="#ffffff"/>\n'
        + "\n".join(head + back + front)
        + "\n</svg>\n"
    )

# SPDX-License-Identifier: Apache-2.0
"""Draws the times of each system for each group of calls, in multiples of a copy, on a logarithmic axis."""

from __future__ import annotations

import math
import statistics
from html import escape
from typing import TypeAlias

# Spread: {system: values}. Groups: {group: {number of threads: spread}}.
Spread: TypeAlias = dict[str, list[float]]
Groups: TypeAlias = dict[str, dict[int, Spread]]

WIDTH, MARGIN, LABELS, TOP = 930, 20, 160, 150
GAP = 26  # between panels, in pixels
LANE, PADDING, AXIS = 9, 5, 64
INK, SOFT, GRID, STRIPE = "#1f2933", "#5f6c7b", "#e3e8ee", "#f5f7fa"
OURS = "#1257c9"
# For each system, the colour and the outline of its mark. Coordinates go from about -1 to 1 on both axes.
MARKS = {
    "torch": ("#e4572e", "M0,-1.15 L1.1,0.85 L-1.1,0.85 Z"),
    "ONNX Runtime": ("#0f9d76", "M0,-1.25 L1.25,0 L0,1.25 L-1.25,0 Z"),
    "oneDNN": ("#e8a200", "M0,1.15 L1.1,-0.85 L-1.1,-0.85 Z"),
    "NumPy": (
        "#6b7785",
        "M-1,-0.55 L-0.55,-1 L0,-0.45 L0.55,-1 L1,-0.55 L0.45,0 L1,0.55 L0.55,1 L0,0.45 L-0.55,1 L-1,0.55 L-0.45,0 Z",
    ),
}


def plural(threads: int) -> str:
    return f"{threads} thread{'s' * (threads != 1)}"


def _text(x: float, y: float, text: str, **attributes: object) -> str:
    given = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<text x="{x:.1f}" y="{y:.1f}"{given}>{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1) -> str:
    return f'<path d="M{x1:.1f},{y1:.1f} L{x2:.1f},{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'


def _mark(name: str, x: float, y: float, size: float) -> str:
    if name == "patchfold":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.6" fill="{OURS}" stroke="#fff" stroke-width="0.8"/>'
    colour, path = MARKS[name]
    place = f"translate({x:.1f},{y:.1f}) scale({size})"
    return f'<path d="{path}" transform="{place}" fill="{colour}" stroke="#fff" stroke-width="{0.7 / size:.2f}"/>'


class Axis:
    """A logarithmic axis, which maps values to places along the width of a panel."""

    def __init__(self, values: list[float], width: float) -> None:
        steps = [base * 10.0**power for power in range(-3, 7) for base in (1, 2, 5)]
        low, high = min(0.9, min(values) * 0.9), max(5.0, max(values) * 1.1)
        self._low, self._high = math.log10(low), math.log10(high)
        self._width = width
        ticks = [step for step in steps if low <= step <= high]
        # Keeps powers of ten only, if the numbers of the axis would otherwise be less than 34 pixels apart.
        self.ticks = ticks if len(ticks) * 34 <= width else [tick for tick in ticks if f"{tick:e}"[0] == "1"]

    def at(self, value: float) -> float:
        return (math.log10(value) - self._low) / (self._high - self._low) * self._width


def _legend(names: list[str], y: float) -> list[str]:
    parts, x = [], MARGIN + 6.0
    for name in names:
        parts.append(_mark(name, x, y - 4.5, 4.4))
        bold = {"font_weight": "600"} if name == "patchfold" else {}
        parts.append(_text(x + 11, y, name, font_size=13, **bold))
        x += 34 + 7.9 * len(name)
    return parts


def _quartiles(values: list[float]) -> tuple[float, float, float]:
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, statistics.median(values), high


def _lane(x: float, y: float, axis: Axis, system: str, values: list[float]) -> list[str]:
    colour = OURS if system == "patchfold" else MARKS[system][0]
    low, middle, high = (x + axis.at(value) for value in _quartiles(values))
    start, end = (x + axis.at(value) for value in (min(values), max(values)))
    bar = f'x="{low:.1f}" y="{y - 2.5:.1f}" width="{max(1.0, high - low):.1f}" height="5"'
    return [
        _line(start, y, end, y, colour),
        f'<rect {bar} rx="2" fill="{colour}" fill-opacity="0.35"/>',
        _mark(system, middle, y, 3.4),
    ]


def _panels(
    groups: Groups, systems: list[str], panels: dict[int, float], axis: Axis, width: float
) -> tuple[list[str], float]:
    """Returns the marks of all panels, and the y at which the panels end."""
    back: list[str] = []
    front: list[str] = []
    y = first = TOP + 22.0
    for i, (label, spreads) in enumerate(groups.items()):
        lanes = [system for system in systems if any(spread.get(system) for spread in spreads.values())]
        height = LANE * len(lanes) + PADDING
        if i % 2 == 0:
            shape = f'x="{MARGIN - 6}" y="{y:.1f}" width="{WIDTH - 2 * MARGIN + 12}" height="{height}"'
            back.append(f'<rect {shape} rx="3" fill="{STRIPE}"/>')
        front.append(_text(MARGIN + 6, y + height / 2 + 4, label, font_size=11))
        for threads, spread in spreads.items():
            for lane, system in enumerate(lanes):
                if spread.get(system):
                    front += _lane(panels[threads], y + PADDING / 2 + LANE * (lane + 0.5), axis, system, spread[system])
        y += height
    for threads, x in panels.items():
        back.append(_text(x + width / 2, TOP, plural(threads), text_anchor="middle", font_size=13, font_weight="600"))
        for tick in axis.ticks:
            at, copy = x + axis.at(tick), tick == 1
            back.append(_line(at, first - 2, at, y + 2, INK if copy else GRID, 1.2 if copy else 1))
            for end in (first - 7, y + 15):
                back.append(_text(at, end, f"{tick:g}", text_anchor="middle", font_size=11, fill=INK if copy else SOFT))
        label = "time / copy (logarithmic)"
        back.append(_text(x + width / 2, y + 33, label, text_anchor="middle", font_size=12, fill=SOFT))
    return back + front, y + AXIS


def spread_picture(title: str, caption: tuple[str, str], systems: list[str], groups: Groups) -> str:
    counts = sorted({threads for spreads in groups.values() for threads in spreads})
    width = (WIDTH - 2 * MARGIN - LABELS - GAP * (len(counts) - 1)) / len(counts)
    panels = {threads: MARGIN + LABELS + i * (width + GAP) for i, threads in enumerate(counts)}
    found = [spread for spreads in groups.values() for spread in spreads.values()]
    axis = Axis([value for spread in found for values in spread.values() for value in values] or [1.0], width)
    drawn, y = _panels(groups, systems, panels, axis, width)
    head = [
        _text(MARGIN, 34, title, font_size=18, font_weight="600"),
        *(_text(MARGIN, 54 + 16 * i, text, font_size=12, fill=SOFT) for i, text in enumerate(caption)),
        *_legend(systems, 100),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y:.0f}" width="{WIDTH}" height="{y:.0f}" '
        f"font-family=\"system-ui, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif\" fill=\"{INK}\" "
        f'role="img">\n<title>{escape(title)}, for {", ".join(systems)}</title>\n'
        f'<rect width="{WIDTH}" height="{y:.0f}" rx="8" fill="#ffffff"/>'
        # Breaks the file's line after each text.
        + "".join(head + drawn).replace("</text>", "</text>\n")
        + "</svg>\n"
    )

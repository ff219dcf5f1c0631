# SPDX-License-Identifier: Apache-2.0
"""docs/performance-random.svg: how the times in multiples of a copy are spread, for each operator and memory layout."""

from __future__ import annotations

import statistics
from typing import Any

from peers_document import plural
from peers_picture import (
    GAP,
    GRID,
    INK,
    MARGIN,
    MARKS,
    OURS,
    SOFT,
    STRIPE,
    WIDTH,
    Axis,
    draw_legend,
    draw_line,
    draw_mark,
    draw_text,
)
from random_document import large, layouts, of_copy, operators, parts

Data = dict[str, Any]

LABELS, TOP = 160, 150
LANE, PADDING, HEADING, AXIS = 9, 5, 24, 64
SYSTEMS = ("patchfold", "NumPy", "torch")
ROW = LANE * len(SYSTEMS) + PADDING
CAPTION = (
    "1 is a copy of half of the memory that a problem touches, with as many threads. Further left is faster.",
    "Problems of 4 MB or more. Line: all of them; bar: the middle half; mark: the median.",
)


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
        draw_line(start, y, end, y, colour),
        f'<rect {bar} rx="2" fill="{colour}" fill-opacity="0.35"/>',
        draw_mark(system, middle, y, 3.4),
    ]


def _groups(rows: list[Data]) -> dict[str, dict[str, list[Data]]]:
    """Headings, and the rows under each with their problems."""
    return {"": {"all": rows}, "operator": operators(rows), "memory layout": layouts(rows)}


def _values(rows: list[Data], system: str) -> list[float]:
    return [value for row in rows if (value := of_copy(row, system)) is not None]


def _section(
    name: str, panels: dict[float, tuple[int, list[Data]]], axis: Axis, width: float, top: float
) -> tuple[list[str], float]:
    """One instruction set: its marks, and where it ends."""
    back: list[str] = []
    front = [draw_text(MARGIN, top, name, font_size=14, font_weight="600")]
    every = [row for _, rows in panels.values() for row in rows]
    y = top + 22.0
    first = y
    for heading, groups in _groups(every).items():
        if heading:
            y += HEADING
            front.append(draw_text(MARGIN, y - 8, heading, font_size=12, font_weight="600"))
        for i, (label, members) in enumerate(groups.items()):
            if i % 2 == 0:
                shape = f'x="{MARGIN - 6}" y="{y:.1f}" width="{WIDTH - 2 * MARGIN + 12}" height="{ROW}"'
                back.append(f'<rect {shape} rx="3" fill="{STRIPE}"/>')
            front.append(draw_text(MARGIN + 6, y + ROW / 2 + 4, label, font_size=11))
            for x, (_, rows) in panels.items():
                here = [row for row in members if row in rows]
                for lane, system in enumerate(SYSTEMS):
                    values = _values(here, system)
                    if values:
                        front += _lane(x, y + PADDING / 2 + LANE * (lane + 0.5), axis, system, values)
            y += ROW
    for x, (threads, _) in panels.items():
        back.append(draw_text(x + width / 2, top, plural(threads), text_anchor="middle", font_size=13, font_weight="600"))
        for tick in axis.ticks:
            at = x + axis.at(tick)
            copy = tick == 1
            back.append(draw_line(at, first - 2, at, y + 2, INK if copy else GRID, 1.2 if copy else 1))
            for end in (first - 7, y + 15):
                back.append(draw_text(at, end, f"{tick:g}", text_anchor="middle", font_size=11, fill=INK if copy else SOFT))
        label = "time / copy (logarithmic)"
        back.append(draw_text(x + width / 2, y + 33, label, text_anchor="middle", font_size=12, fill=SOFT))
    return back + front, y + AXIS


def picture(data: Data) -> str:
    sections: dict[str, dict[int, list[Data]]] = {}
    for name, threads, rows in parts(data):
        sections.setdefault(name, {})[threads] = large(rows)
    counts = list(dict.fromkeys(row["threads"] for row in data["rows"]))
    width = (WIDTH - 2 * MARGIN - LABELS - GAP * (len(counts) - 1)) / len(counts)
    axis = Axis([value for system in SYSTEMS for value in _values(large(data["rows"]), system)] or [1.0], width)
    drawn: list[str] = []
    y = float(TOP)
    for name, found in sections.items():
        panels = {MARGIN + LABELS + i * (width + GAP): (threads, found.get(threads, [])) for i, threads in enumerate(counts)}
        section, y = _section(name, panels, axis, width, y)
        drawn += section
    title = "Random problems: time in multiples of a copy"
    head = [
        draw_text(MARGIN, 34, title, font_size=18, font_weight="600"),
        *(draw_text(MARGIN, 54 + 16 * i, text, font_size=12, fill=SOFT) for i, text in enumerate(CAPTION)),
        *draw_legend([name for name in SYSTEMS if name != "patchfold"], 100),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y:.0f}" width="{WIDTH}" height="{y:.0f}" '
        f"font-family=\"system-ui, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif\" fill=\"{INK}\" "
        f'role="img">\n<title>{title}, for patchfold, NumPy and torch</title>\n'
        f'<rect width="{WIDTH}" height="{y:.0f}" rx="8" fill="#ffffff"/>\n' + "\n".join(head + drawn) + "\n</svg>\n"
    )

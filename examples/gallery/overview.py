# SPDX-License-Identifier: Apache-2.0
"""Draws patchfold's work in one picture: an image, its columns, their sums by fold, and the image again.

usage: overview.py [FOLDER]     FOLDER receives overview.svg

The numbers are results of the calls that the picture names. Colours follow the reader's light or dark scheme.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import patchfold

import pictures

CELL, TOP = 32, 66
STYLE = """
.cell { fill: #f6f8fa; stroke: #8c959f; } .first { fill: #bfdcf0; stroke: #0072b2; stroke-width: 2; }
.next { fill: none; stroke: #c04a00; stroke-width: 2; stroke-dasharray: 4 2; } .twice { fill: #cfe3d8; }
.four { fill: #8fc4a9; } .number { font: 13px ui-monospace, monospace; text-anchor: middle; }
.arrow { stroke: #57606a; stroke-width: 2; fill: none; } .under { font-size: 12px; fill: #57606a; }
@media (prefers-color-scheme: dark) {
.cell { fill: #161b22; stroke: #6e7681; } .first { fill: #123f60; stroke: #56b4e9; } .next { stroke: #f0a050; }
.twice { fill: #1f4434; } .four { fill: #2f7256; } .arrow { stroke: #9da7b3; } .under { fill: #9da7b3; }
}"""

image = np.arange(12).reshape(1, 1, 3, 4)
columns = patchfold.unfold(image, 2)
sums = patchfold.fold(columns, (3, 4), 2)
counts = patchfold.coverage((3, 4), 2, dtype=int)
again = patchfold.reconstruct(columns, image.shape, 2)
assert np.array_equal(again, image) and np.array_equal(sums, image * counts)


def grid(x: float, numbers: npt.NDArray[Any], classes: npt.NDArray[Any]) -> list[str]:
    """Draws a table of numbers; each cell has a class of STYLE."""
    made = []
    for (row, column), number in np.ndenumerate(numbers):
        left, top = x + CELL * column, TOP + CELL * row
        cell = f'<rect class="cell {classes[row, column]}" x="{left:g}" y="{top}" width="{CELL}" height="{CELL}"/>'
        made.append(f'{cell}<text class="number" x="{left + CELL / 2:g}" y="{top + 21}">{number}</text>')
    return made


def frame(x: float, row: int, column: int, height: int, width: int) -> str:
    return (
        f'<rect class="next" x="{x + CELL * column + 3:g}" y="{TOP + CELL * row + 3}" '
        f'width="{CELL * width - 6}" height="{CELL * height - 6}"/>'
    )


def arrow(x: float) -> str:
    return f'<path class="arrow" d="M{x:g} 130h40m-9 -6l9 6l-9 6"/>'


def words(x: float, name: str, call: str, under: str, rows: int) -> list[str]:
    below = TOP + CELL * rows + 20
    return [
        f'<text class="name" x="{x:g}" y="26">{name}</text>',
        f'<text class="call" x="{x:g}" y="48">{call}</text>',
        f'<text class="under" x="{x:g}" y="{below}">{under}</text>',
    ]


plain = np.full((3, 4), "", dtype=object)
patch, column = plain.copy(), np.full((4, 6), "", dtype=object)
patch[:2, :2] = "first"
column[:, 0] = "first"
met = np.array(["", "", "twice", "", "four"], dtype=object)[counts]
wide = 4 * CELL
places = (16, 16 + wide + 64, 16 + wide + 64 + 6 * CELL + 64, 16 + 2 * wide + 6 * CELL + 216)
parts = [
    *words(places[0], "image", "shape (1, 1, 3, 4)", "two of its six patches of 2 x 2", 3),
    *grid(places[0], image[0, 0], patch),
    frame(places[0], 0, 1, 2, 2),
    arrow(places[0] + wide + 12),
    *words(places[1], "columns", "unfold(image, 2)", "each column is one patch", 4),
    *grid(places[1], columns[0], column),
    frame(places[1], 0, 1, 4, 1),
    arrow(places[1] + 6 * CELL + 12),
    *words(places[2], "sums", "fold(columns, (3, 4), 2)", "what meets is added up", 3),
    *grid(places[2], sums[0, 0], met),
    f'<text class="under" x="{places[2] + wide + 30:g}" y="134">or</text>',
    *words(places[3], "the image again", "reconstruct(columns, image.shape, 2)", "what meets is averaged", 3),
    *grid(places[3], again[0, 0], plain),
]
width = places[3] + wide + 166
said = "unfold copies each patch of an image into a column; fold adds them up where they overlap; reconstruct averages them"
print(said)
pictures.draw("overview.svg", said, width, 230, parts, STYLE)

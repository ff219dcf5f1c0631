# SPDX-License-Identifier: Apache-2.0
"""Writes the pictures of the examples beside this file, with NumPy alone: SVG whose panels are PNG.

A picture is an array of 3 x height x width, with numbers from 0 to 255.
"""

import base64
import struct
import sys
import zlib
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Picture = npt.NDArray[Any]
PHOTO = Path(__file__).resolve().parents[1] / "photo.png"
STYLE = """
text { font: 13px ui-sans-serif, system-ui, sans-serif; fill: #1b1b1b; } .name { font-weight: bold; }
.call { font: 13px ui-monospace, monospace; }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } }"""


def read(data: bytes = PHOTO.read_bytes()) -> npt.NDArray[np.uint8]:
    """Returns the picture of a PNG file of 8-bit RGB without interlacing."""
    at, pixels, height, width = 8, b"", 0, 0
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, part = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, *form = struct.unpack(">IIBBBBB", part)
            assert form == [8, 2, 0, 0, 0], "only 8-bit RGB without interlacing"
        pixels += part if kind == b"IDAT" else b""
        at += 12 + length
    rows = np.frombuffer(zlib.decompress(pixels), np.uint8).reshape(height, 1 + 3 * width)
    picture = np.zeros((height, 3 * width), np.uint8)
    above = [0] * (3 * width)
    for y, (way, *line) in enumerate(rows.tolist()):
        for x in range(3 * width):
            left, corner = (line[x - 3], above[x - 3]) if x >= 3 else (0, 0)
            line[x] = (line[x] + _predicted(way, left, above[x], corner)) & 255
        picture[y] = above = line
    return np.moveaxis(picture.reshape(height, width, 3), -1, 0)


def _predicted(way: int, left: int, above: int, corner: int) -> int:
    if way < 4:
        return (0, left, above, (left + above) // 2)[way]
    ways = (abs(above - corner), abs(left - corner), abs(left + above - 2 * corner))
    return (left, above, corner)[ways.index(min(ways))]


def png(picture: Picture) -> bytes:
    """Returns a PNG file of a picture, with 64 shades of each colour, which nobody sees, but which halve the bytes."""
    shades = np.moveaxis(np.clip(np.rint(picture / 4) * 4, 0, 255), 0, -1).astype(np.uint8)
    height, width, _ = shades.shape
    rows = np.diff(shades, axis=0, prepend=np.zeros((1, width, 3), np.uint8)).reshape(height, -1)
    filtered = np.concatenate([np.full((height, 1), 2, np.uint8), rows], axis=1)  # 2: differences to the row above
    data = b"\x89PNG\r\n\x1a\n"
    for kind, part in (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(filtered.tobytes(), 9)),
        (b"IEND", b""),
    ):
        data += struct.pack(">I", len(part)) + kind + part + struct.pack(">I", zlib.crc32(kind + part))
    return data


def draw(name: str, said: str, width: float, height: float, parts: Iterable[str], style: str = "") -> None:
    """Writes SVG elements as a file to the command line's folder, if any. Colours follow the reader's scheme."""
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    begin = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n<title>{escape(said)}</title>'
    svg = "\n".join([begin, f"<style>{STYLE}{style}</style>", *parts, "</svg>\n"])
    if len(sys.argv) > 1:
        (Path(sys.argv[1]) / name).write_text(svg, encoding="utf-8")
        print(f"{name}: {len(svg)} bytes")


def write(name: str, said: str, panels: list[tuple[str, str, Picture]]) -> None:
    """Draws panels side by side, all of one size: for each its name, the lines of the call that makes it, and its
    picture."""
    width, gap, (_, height, wide) = 820, 16, panels[0][2].shape
    shown = (width - gap * (len(panels) - 1)) / len(panels)
    below, tall = 30 + 18 * max(len(call.split("\n")) for _, call, _ in panels), shown * height / wide
    # All panels are in one PNG, which is smaller than one for each, since they show much the same.
    data = base64.b64encode(png(np.concatenate([picture for *_, picture in panels], axis=2))).decode()
    parts = [f'<defs><image id="all" href="data:image/png;base64,{data}"/></defs>']
    for index, (title, call, _) in enumerate(panels):
        x = index * (shown + gap)
        lines = "".join(
            f'<tspan x="{x + 14 * (row > 0):g}" y="{38 + 18 * row}">{escape(line)}</tspan>'
            for row, line in enumerate(call.split("\n"))
        )
        parts += [
            f'<text class="name" x="{x:g}" y="18">{title}</text>\n<text class="call">{lines}</text>',
            f'<svg x="{x:g}" y="{below}" width="{shown:g}" height="{tall:g}" '
            f'viewBox="{index * wide} 0 {wide} {height}"><use href="#all"/></svg>',
        ]
    draw(name, said, width, round(below + tall), parts)


def psnr(picture: Picture, truth: Picture) -> float:
    """Returns the peak signal-to-noise ratio of two pictures in dB."""
    return float(10 * np.log10(255**2 / np.mean((picture.astype(float) - truth) ** 2)))

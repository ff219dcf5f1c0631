# SPDX-License-Identifier: Apache-2.0
"""Reads and writes PNG files, so that the examples in this folder need only NumPy.

Pictures are arrays of height x width x 3, uint8.
"""

import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Picture = npt.NDArray[np.uint8]
PHOTO = Path(__file__).resolve().parents[1] / "photo.png"


def read(path: Path = PHOTO) -> Picture:
    """Reads a PNG file of 8-bit RGB without interlacing."""
    data = path.read_bytes()
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
    return picture.reshape(height, width, 3)


def _predicted(way: int, left: int, above: int, corner: int) -> int:
    if way < 4:
        return (0, left, above, (left + above) // 2)[way]
    ways = (abs(above - corner), abs(left - corner), abs(left + above - 2 * corner))
    return (left, above, corner)[ways.index(min(ways))]


def beside(*panels: npt.NDArray[Any], gap: int = 6) -> Picture:
    """Puts pictures of one height side by side, with a grey gap that is visible on light and dark pages."""
    between = np.full((panels[0].shape[0], gap, 3), 128, np.uint8)
    parts = [part for panel in panels for part in (between, bytes_of(panel))]
    joined: Picture = np.concatenate(parts[1:], axis=1)
    return joined


def bytes_of(picture: npt.NDArray[Any]) -> Picture:
    """Returns numbers from 0 to 255 as bytes, rounded."""
    made: Picture = np.clip(np.rint(picture), 0, 255).astype(np.uint8)
    return made


def write(name: str, picture: Picture) -> None:
    """Writes a PNG file to the command line's folder, if any. Each row is stored as its difference to the row above."""
    if len(sys.argv) < 2:
        return
    height, width, _ = picture.shape
    rows = np.diff(picture, axis=0, prepend=np.zeros((1, width, 3), np.uint8)).reshape(height, -1)
    filtered = np.concatenate([np.full((height, 1), 2, np.uint8), rows], axis=1)
    data = b"\x89PNG\r\n\x1a\n"
    for kind, part in (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(filtered.tobytes(), 9)),
        (b"IEND", b""),
    ):
        data += struct.pack(">I", len(part)) + kind + part + struct.pack(">I", zlib.crc32(kind + part))
    (Path(sys.argv[1]) / name).write_bytes(data)
    print(f"{name}: {height} x {width}, {len(data)} bytes")


def psnr(picture: npt.NDArray[Any], truth: npt.NDArray[Any]) -> float:
    """Returns the peak signal-to-noise ratio of two pictures in dB."""
    return float(10 * np.log10(255**2 / np.mean((picture.astype(float) - truth) ** 2)))

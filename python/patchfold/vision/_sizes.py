# SPDX-License-Identifier: Apache-2.0
"""The sizes to which the processors of vision-language models resize a picture, as (rows, columns).

Every function takes the steps of transformers in float64, since a rounding more or less changes a size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .._errors import InvalidValue

Size = tuple[int, int]
OP = "Processor"


def _down(extent: float, step: int) -> int:
    return math.floor(extent / step) * step


def _up(extent: float, step: int) -> int:
    return math.ceil(extent / step) * step


def within_pixels(
    rows: int,
    columns: int,
    step: int,
    least: int,
    most: int,
    frames: int = 1,
    repeated: int | None = None,
    op: str = OP,
) -> Size:
    """Returns multiples of `step` near the picture's size with least to most pixels in all `frames`: the rule of Qwen-VL,
    and with several frames of GLM-4V and of the videos of Qwen3-VL, which enlarge small pictures first. repeated: the
    number of frames that decides whether pixels are too many or too few, if it is not `frames`."""
    if frames > 1 and min(rows, columns) < step:
        scale = max(step / rows, step / columns)
        rows, columns = int(rows * scale), int(columns * scale)
    if max(rows, columns) > 200 * min(rows, columns):
        rule = "must have sides that differ by a factor of at most 200"
        raise InvalidValue(op, "pictures" if op == OP else "videos", rule, str((rows, columns)))
    near = round(rows / step) * step, round(columns / step) * step
    pixels = (frames if repeated is None else repeated) * near[0] * near[1]
    if pixels > most:
        ratio = math.sqrt((frames * rows * columns) / most)
        return max(step, _down(rows / ratio, step)), max(step, _down(columns / ratio, step))
    if pixels < least:
        ratio = math.sqrt(least / (frames * rows * columns))
        return _up(rows * ratio, step), _up(columns * ratio, step)
    return near


def at_most_patches(rows: int, columns: int, patch: int, most: int) -> Size:
    """Returns the largest multiples of the patch with at most `most` patches, near the picture's shape: the rule of SigLIP
    2, which finds the scale by halving an interval."""

    def scaled(scale: float) -> Size:
        return max(patch, _up(rows * scale, patch)), max(patch, _up(columns * scale, patch))

    low, high = 1e-6, 100.0
    while high - low >= 1e-5:
        middle = (low + high) / 2
        size = scaled(middle)
        if (size[0] / patch) * (size[1] / patch) <= most:
            low = middle
        else:
            high = middle
    return scaled(low)


def whole_pools(rows: int, columns: int, patch: int, pool: int, most: int) -> Size:
    """Returns the largest multiples of pool * patch with at most `most` patches, near the picture's shape: the rule of Gemma
    4."""
    step, room = pool * patch, most * patch**2
    ratio = math.sqrt(room / (rows * columns))
    size = _down(ratio * rows, step), _down(ratio * columns, step)
    longest = (most // pool**2) * step
    if size == (0, 0):
        raise InvalidValue(OP, "pictures", "must not become empty", str((rows, columns)))
    if size[0] == 0:
        size = step, min(columns // rows * step, longest)
    elif size[1] == 0:
        size = min(rows // columns * step, longest), step
    if size[0] * size[1] > room:
        raise InvalidValue(OP, "pictures", f"must fit into {most} patches", str((rows, columns)))
    return size


def in_box(rows: int, columns: int, most: Size, patch: Size) -> Size:
    """Returns multiples of the patch that hold the picture, which is made smaller where it exceeds `most`: the rule of
    Pixtral."""
    ratio = max(rows / most[0], columns / most[1])
    if ratio > 1:
        rows, columns = math.floor(rows / ratio), math.floor(columns / ratio)
    return ((rows - 1) // patch[0] + 1) * patch[0], ((columns - 1) // patch[1] + 1) * patch[1]


def by_rule(rows: int, columns: int, size: Mapping[str, int], op: str = OP) -> Size:
    """Returns the size that the entries of a configuration's `size` ask for: height and width, or shortest_edge."""
    if "height" in size and "width" in size:
        return size["height"], size["width"]
    if size.keys() == {"shortest_edge"}:
        short = size["shortest_edge"]
        long = int(short * max(rows, columns) / min(rows, columns))
        return (long, short) if columns <= rows else (short, long)
    raise InvalidValue(op, "size", "must have height and width, or shortest_edge", str(dict(size)))


def tile_grid(rows: int, columns: int, tile: Size, least: int, most: int) -> Size:
    """Returns the (rows, columns) of tiles, least to most of them, whose shape is nearest to the picture's: the rule of
    InternVL. Of grids that are equally near, later and larger ones win while the picture has more than half of their
    pixels."""
    grids = sorted(
        (
            (width, height)
            for width in range(1, most + 1)
            for height in range(1, most + 1)
            if least <= width * height <= most
        ),
        key=math.prod,
    )
    best, nearest = (1, 1), math.inf
    for width, height in grids:
        away = abs(columns / rows - width / height)
        large = columns * rows > 0.5 * tile[0] * tile[1] * width * height
        if away < nearest or (away == nearest and large):
            best, nearest = (width, height), away
    return best[1], best[0]


def best_fit(rows: int, columns: int, sizes: Sequence[Size]) -> Size:
    """Returns the size in which most pixels of the picture are kept, and of such sizes the one with the fewest pixels: the
    rule of LLaVA-NeXT."""
    best: Size | None = None
    most, least = 0, math.inf
    for height, width in sizes:
        scale = min(width / columns, height / rows)
        kept = min(int(columns * scale) * int(rows * scale), columns * rows)
        wasted = height * width - kept
        if kept > most or (kept == most and wasted < least):
            best, most, least = (height, width), kept, wasted
    if best is None:
        raise InvalidValue(OP, "image_grid_pinpoints", "must have a size in which the picture keeps pixels", str(sizes))
    return best


def within(rows: int, columns: int, size: Size) -> Size:
    """Returns the largest size with the picture's shape within `size`."""
    height, width = size
    across, down = width / columns, height / rows
    if across < down:
        return min(math.ceil(rows * across), height), width
    return height, min(math.ceil(columns * down), width)


def pans(rows: int, columns: int, least: int, most: int, ratio: float) -> tuple[Size, Size] | None:
    """Returns the grid and the size of the crops of a long picture, along its long side: the rule of Gemma 3. None for a
    picture that is not cropped."""
    long, short = max(rows, columns), min(rows, columns)
    if long / short < ratio:
        return None
    count = min(most, max(2, min(long // least, math.floor(long / short + 0.5))))
    extent = math.ceil(long / count)
    if min(extent, short) < least:
        return None
    return ((1, count), (rows, extent)) if columns >= rows else ((count, 1), (extent, columns))

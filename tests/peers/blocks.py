# SPDX-License-Identifier: Apache-2.0
"""Random settings of operators that move blocks, for every dialect."""

from drawing import Draw, chance, number


def block_axis(draw: Draw, block: int, pads: bool, most: int) -> tuple[int, int, int, int]:
    """Returns the number of blocks on an axis, begin pad, end pad, and the extent: blocks * block - begin - end."""
    nothing = chance(draw, 3)
    count = 0 if nothing else number(draw, 20, 40) if chance(draw, 3) else number(draw, 1, most)
    begin = max(0, number(draw, -2, block + 1)) if pads else 0
    end = max(0, number(draw, -2, block + 1)) if pads else 0
    # Extents of 0, with or without pads, are rare.
    while count * block < begin + end + (not nothing):
        count += 1
    return count, begin, end, count * block - begin - end


def few(draw: Draw, zero: int = 4) -> int:
    return 0 if chance(draw, zero) else number(draw, 1, 3)

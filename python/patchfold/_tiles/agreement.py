# SPDX-License-Identifier: Apache-2.0
"""Compares integer results of neighbouring tiles where they overlap."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._arguments import warn
from .sources import APPLY
from .tile import Tile
from .tiling import Tiling

_ENOUGH = 1000
"""The number of compared elements from which on a warning may come. With fewer elements, a warning comes only after the last
tile."""


class Agreement:
    """Warns once if most integers of overlapping results differ from those of the tile before.

    Labels of classes differ at few elements, numbers of objects at nearly all. An element that is 0 in both results counts
    for nothing, since 0 is the background of labels.
    """

    def __init__(self, tiling: Tiling) -> None:
        self._tiling = tiling
        self._box: list[tuple[int, int]] = []
        self._part: npt.NDArray[Any] | None = None  # a copy of what the last result has in the box
        self._index = -1  # the number of the last tile
        self._compared = self._different = 0
        self._warned = False

    def add(self, tile: Tile, result: Any) -> None:
        """Takes the result of the next tile. Results that are no integers are ignored."""
        if self._warned or "int" not in str(getattr(result, "dtype", "")) or not hasattr(result, "__array__"):
            return
        found = np.asarray(result)
        if self._part is not None and self._index + 1 == tile.index:
            here = found[self._tiling.piece(tile.index, self._box, rank=found.ndim)]
            self._compared += int(np.count_nonzero((here != 0) | (self._part != 0)))
            self._different += int(np.count_nonzero(here != self._part))
            self.check(_ENOUGH)
        self._index, self._part = tile.index, None
        if tile.index + 1 < len(self._tiling):
            spans = zip(tile.write, self._tiling[tile.index + 1].write, strict=True)
            boxes = [(max(a.start, b.start), min(a.stop, b.stop)) for a, b in spans if a != slice(None)]
            if all(start < stop for start, stop in boxes):
                self._box = boxes
                self._part = found[self._tiling.piece(tile.index, boxes, rank=found.ndim)].copy()

    def check(self, least: int = 1) -> None:
        """Warns if at least `least` elements have been compared, and most of them differ."""
        if self._warned or self._compared < least or 2 * self._different <= self._compared:
            return
        self._warned = True
        part = 100 * self._different // self._compared
        warn(
            f"patchfold: {APPLY}: integer results of neighbouring tiles differ at {part} % of the elements other than 0 "
            'that they share, and are not blended. reduce="center" says that this is meant, reduce="mean" blends. Numbers '
            "of objects mean nothing in another tile: patchfold.merge_labels gives each object one number in the whole"
        )

# SPDX-License-Identifier: Apache-2.0
"""The report of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Report:
    """The report of a run. The text of a report has a line for each fact."""

    tiles: int
    """Tiles of the source, without masked tiles."""
    computed: int
    """Tiles that chunks of this run needed."""
    recomputed: int
    """Tiles that were computed again, since a worker that held them died."""
    chunks: int
    """Chunks of the result."""
    written: int
    """Chunks that this run wrote; earlier runs wrote the other chunks."""
    seconds: float
    bytes_read: int
    """Bytes of the elements that the tiles of this run read, counted each time an element is read."""
    bytes_written: int
    """Bytes of the elements of the chunks that this run wrote, before compression."""
    worker_bytes: int
    """The most memory that a worker with one thread needs for its tiles, pieces and chunks, if tasks run in dask's order.
    The memory of fn and of the process is not included."""
    out: str
    dashboard: str = ""
    """The link of the scheduler's dashboard, if there is one."""
    array: Any = field(default=None, repr=False, compare=False)
    """The zarr array of the store."""

    def __str__(self) -> str:
        if not self.written:
            return f"{self.out}: finished before: all {self.chunks} chunks are there, nothing was computed"
        there = self.chunks - self.written
        lines = [
            f"{self.out}: {self.written} chunks written" + (f", {there} were there" if there else ""),
            f"tiles: {self.computed} of {self.tiles} needed, {self.recomputed} computed again",
            f"read {self.bytes_read / 1e6:.1f} MB, wrote {self.bytes_written / 1e6:.1f} MB in {self.seconds:.1f} s",
            f"memory of a worker with one thread, beside the function's: at most {self.worker_bytes / 1e6:.1f} MB",
        ]
        return "\n".join(lines + ([f"dashboard: {self.dashboard}"] if self.dashboard else []))

# SPDX-License-Identifier: Apache-2.0
"""Parts that the pages about measurements share: number formats, the machine, and the parts of docs/performance.md."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

DOCUMENT = "performance.md"
HEAD = "<!-- Written by `scripts/bench`. -->\n# Performance\n\n"
PARTS = ("networks", "problems")


def plural(threads: int) -> str:
    return f"{threads} thread{'s' * (threads != 1)}"


def figure(value: float) -> str:
    """Returns the number with three digits."""
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}"


def times(value: float) -> str:
    """Returns the number with two digits after the point, or with none from 10 on."""
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Returns a table in Markdown whose first column is text; the others are numbers."""
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines) + "\n"


def _cache(text: str) -> str:
    """Returns `L3 32768K shared`, the kernel's text for a cache, with the size in MiB."""
    level, size, *shared = text.split()
    kibibytes = int(size.rstrip("K"))
    amount = f"{kibibytes} KiB" if kibibytes < 1024 else f"{kibibytes / 1024:g} MiB"
    return f"{level} {amount}" + (" for all" if shared else " each")


def machine_text(data: dict[str, Any]) -> str:
    machine = data["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in data["versions"].items())
    caches = ", ".join(_cache(text) for text in machine["caches"])
    return (
        f"{machine['processor']}, {machine['cores']} cores; {caches}; {machine['memory'] / 2**30:.0f} GiB of memory.\n\n"
        f"{versions}; Python {machine['python']}.\n"
    )


def write_part(folder: Path, name: str, text: str) -> None:
    """Writes a part of docs/performance.md and keeps the other part."""
    page, parts = folder / DOCUMENT, {}
    if page.exists():
        for piece in page.read_text(encoding="utf-8").split("<!-- part: ")[1:]:
            other, body = piece.split(" -->\n", 1)
            parts[other] = body
    parts[name] = text
    written = "".join(f"<!-- part: {part} -->\n{parts[part].strip()}\n\n" for part in PARTS if part in parts)
    page.write_text(HEAD + written.strip() + "\n", encoding="utf-8")

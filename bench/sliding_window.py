#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs patchfold.monai beside MONAI's SlidingWindowInferer over a grid of classes, volumes, windows, overlaps and modes, and
prints memory and time of both.

usage: bench/sliding_window.py [--rounds N] [--threads N] [--only TEXT] [--write]

Memory is the peak of a separate process whose network only repeats its input for each class, less the memory of the volume.
Time is the median of rounds in which both sides take turns, without the seconds inside the network; --rounds 0 measures only
memory. --only takes the cases whose line of the table contains TEXT. --write writes docs/performance-monai.md. Needs
patchfold, torch and monai; scripts/checks/torch_tests installs them into build/torch-tests.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import multiprocessing
import statistics
import time
import warnings
from typing import Any, NamedTuple

import torch
from rounds import ROOT, machine, note, peak_of, seconds_of
from switch import Net, hand_pages_back

PAGE = ROOT / "docs" / "performance-monai.md"


class Case(NamedTuple):
    classes: int
    volume: tuple[int, ...]
    roi: int
    overlap: float
    mode: str

    def text(self) -> str:
        volume = " x ".join(map(str, self.volume))
        return f"{self.classes} | {volume} | {self.roi} | {self.overlap} | {self.mode}"

    def output_bytes(self) -> int:
        return self.classes * torch.Size(self.volume).numel() * 4


CASES = [
    Case(2, (192,) * 3, 32, 0.5, "constant"),
    Case(2, (192,) * 3, 96, 0.5, "gaussian"),
    Case(4, (192,) * 3, 96, 0.25, "gaussian"),
    Case(4, (192,) * 3, 96, 0.5, "gaussian"),
    Case(14, (160,) * 3, 96, 0.5, "constant"),
    Case(14, (160,) * 3, 96, 0.5, "gaussian"),
    Case(14, (160,) * 3, 96, 0.75, "gaussian"),
    Case(40, (128,) * 3, 64, 0.25, "constant"),
    Case(40, (128,) * 3, 64, 0.5, "gaussian"),
    Case(104, (96, 96, 128), 64, 0.5, "gaussian"),
    Case(5, (4096, 4096), 512, 0.25, "constant"),
    Case(5, (4096, 4096), 512, 0.5, "gaussian"),
]


def kind_of(ours: bool) -> Any:
    if ours:
        import patchfold.monai

        return patchfold.monai.SlidingWindowInferer
    import monai.inferers

    return monai.inferers.SlidingWindowInferer


def inferred(case: Case, ours: bool, x: torch.Tensor, net: Net) -> torch.Tensor:
    inferer = kind_of(ours)((case.roi,) * len(case.volume), 1, overlap=case.overlap, mode=case.mode)
    result: torch.Tensor = inferer(x, net)
    return result


def volume(case: Case) -> torch.Tensor:
    return torch.rand(1, 1, *case.volume, generator=torch.Generator().manual_seed(1))


def memory(case: Case, ours: bool) -> int:
    """Returns by how many bytes one run raises the peak of this process's memory."""

    def repeated(x: torch.Tensor) -> torch.Tensor:
        return x.expand(-1, case.classes, *x.shape[2:]).clone()

    hand_pages_back()
    torch.set_grad_enabled(False)
    small = case._replace(volume=(8,) * len(case.volume), roi=4)
    inferred(small, ours, volume(small), repeated)  # makes threads and tables, which are made only once
    x = volume(case)
    hand_pages_back()
    return peak_of(lambda: inferred(case, ours, x, repeated))


def spent(case: Case, ours: bool, x: torch.Tensor) -> float:
    """Returns the seconds of a run, without those inside the network."""
    inside = 0.0
    factors = torch.arange(1.0, 1 + case.classes).reshape(1, -1, *[1] * len(case.volume))

    def net(part: torch.Tensor) -> torch.Tensor:
        nonlocal inside
        start = time.perf_counter()
        result = (part + part.roll(3, -1)) * factors  # differs where windows overlap
        inside += time.perf_counter() - start
        return result

    return seconds_of(lambda: inferred(case, ours, x, net), 1) - inside


def measure(case: Case, rounds: int) -> tuple[list[int], list[float]]:
    """Returns the bytes and the seconds of MONAI and of patchfold."""
    peaks = []
    for ours in (False, True):
        with multiprocessing.get_context("fork").Pool(1) as pool:  # a process of its own, which has everything imported
            peaks.append(pool.apply(memory, (case, ours)))
    x = volume(case)
    with torch.no_grad():
        times = [[spent(case, ours, x) for ours in (False, True)] for _ in range(rounds)]
    return peaks, [statistics.median(column) for column in zip(*times, strict=True)]


def table(rows: dict[Case, tuple[list[int], list[float]]]) -> list[str]:
    heads = ["classes", "volume", "window", "overlap", "mode", "MB of output", "MB, MONAI", "MB, patchfold"]
    has_times = any(seconds for _, seconds in rows.values())
    heads += ["s, MONAI", "s, patchfold"] * has_times
    lines = ["| " + " | ".join(heads) + " |", "|--:|---|--:|--:|---|" + "--:|" * (len(heads) - 5)]
    for case, (peaks, seconds) in rows.items():
        sizes = [f"{each / 1e6:.0f}" for each in (case.output_bytes(), *peaks)]
        lines.append("| " + " | ".join([case.text(), *sizes, *(f"{each:.2f}" for each in seconds)]) + " |")
    return lines


def page(rows: dict[Case, tuple[list[int], list[float]]], rounds: int, threads: int) -> str:
    lines = [
        "<!-- Written by `bench/sliding_window.py --write`. -->",
        "# Performance beside MONAI's sliding window",
        "",
        "`SlidingWindowInferer` of MONAI and of `patchfold.monai`, with the same arguments, on a volume of float32 with one",
        "channel; the network returns a score for each class. Windows are cubes or squares, one at a time, and results stay",
        "in the processor's memory.",
        "",
        *table(rows),
        "",
        "* MB: the peak of the process, without the volume; it contains the output, the sums that blending needs, and a",
        "  window with its result. The network only repeats its input. MONAI has a map of the sums of weights and a weighted",
        "  copy of each result; patchfold has 16 bits more for each element that waits for further windows.",
    ]
    if rounds:
        lines += [
            f"* s: the median of {rounds} rounds in which both take turns, without the seconds in the network; on {threads}",
            f"  thread{'s' * (threads > 1)}.",
            "",
            f"{machine()['processor']}, {machine()['cores']} cores.",
        ]
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("monai", "patchfold", "torch"))
    return "\n".join([*lines, "", f"Versions: {versions}.", ""])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__.partition("usage:")[0], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="rounds of timing; 0 measures only memory (default: 5)")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch and of patchfold (default: 1)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose line contains TEXT, as '14 | 160'")
    parser.add_argument("--write", action="store_true", help="writes docs/performance-monai.md")
    options = parser.parse_args()
    if options.write and options.only:
        parser.error("--write goes without --only")
    warnings.simplefilter("ignore")
    import patchfold

    torch.set_num_threads(options.threads)
    patchfold.set_num_threads(options.threads)
    for ours in (False, True):  # imports everything before processes are forked
        kind_of(ours)
    rows = {}
    for case in CASES:
        if options.only in case.text():
            rows[case] = measure(case, options.rounds)
            note(table({case: rows[case]})[-1], line=True)
    if options.write:
        PAGE.write_text(page(rows, options.rounds, options.threads), encoding="utf-8")
    else:
        print("\n".join(table(rows)))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the same inference with MONAI or TorchIO, and with patchfold in their place, and prints time and memory of both.

usage: bench/switch.py [--size N] [--window N] [--rounds N] [--threads N] [--json]

A volume of one channel and N x N x N voxels goes through a small network with two output channels, in cubic windows that
share half with each neighbour. Time is the median of rounds in which both sides take turns, without the seconds inside the
network. Memory is the peak of a separate process with a network that only doubles the channels, less the memory of the
volume. Difference is the largest between the two outputs, whose elements are about 1. Needs torch, monai and torchio.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import multiprocessing
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch
from rounds import peak_of, seconds_of

Net = Callable[[torch.Tensor], torch.Tensor]
Case = Callable[[Any, torch.Tensor, int, Net], torch.Tensor]


def network(x: torch.Tensor) -> torch.Tensor:
    """Returns sums of neighbouring elements; near their ends, overlapping windows then have different results."""
    near = x + x.roll(1, -1) + x.roll(3, -2) + x.roll(5, -3)
    return torch.cat([near.sin(), near.cos()], 1)


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x.expand(-1, 2, -1, -1, -1).clone()


def monai_case(mode: str) -> Case:
    def run(inference: Any, x: torch.Tensor, window: int, net: Net) -> torch.Tensor:
        roi = (window,) * 3
        result: torch.Tensor = inference(x, roi, 2, net, overlap=0.5, mode=mode)
        return result

    return run


def torchio_case(mode: str) -> Case:
    def run(classes: Any, x: torch.Tensor, window: int, net: Net) -> torch.Tensor:
        import torchio

        grid, aggregate = classes
        subject = torchio.Subject(image=torchio.ScalarImage(tensor=x[0]))
        sampler = grid(subject, window, window // 4 * 2)
        aggregator = aggregate(sampler, overlap_mode=mode)
        for batch in torchio.SubjectsLoader(sampler, batch_size=2):
            aggregator.add_batch(net(batch["image"][torchio.DATA]), batch[torchio.LOCATION])
        result: torch.Tensor = aggregator.get_output_tensor()
        return result

    return run


CASES: dict[str, Case] = {
    "sliding_window_inference, constant": monai_case("constant"),
    "sliding_window_inference, gaussian": monai_case("gaussian"),
    "GridAggregator, crop": torchio_case("crop"),
    "GridAggregator, average": torchio_case("average"),
    "GridAggregator, hann": torchio_case("hann"),
}


def system(case: str, ours: bool) -> Any:
    """Returns the function or the classes that a case uses: patchfold's (`ours`) or the other system's."""
    if case.startswith("Grid"):
        if ours:
            from patchfold.torchio import GridAggregator, GridSampler

            return GridSampler, GridAggregator
        import torchio

        return torchio.GridSampler, torchio.GridAggregator
    if ours:
        import patchfold.monai

        return patchfold.monai.sliding_window_inference
    import monai.inferers

    return monai.inferers.sliding_window_inference


def volume(size: int) -> torch.Tensor:
    return torch.rand(1, 1, size, size, size, generator=torch.Generator().manual_seed(1))


def spent(case: str, x: torch.Tensor, window: int, ours: bool) -> float:
    """Returns the seconds of a run, without those inside the network."""
    inside = 0.0

    def net(part: torch.Tensor) -> torch.Tensor:
        nonlocal inside
        start = time.perf_counter()
        result = network(part)
        inside += time.perf_counter() - start
        return result

    return seconds_of(lambda: CASES[case](system(case, ours), x, window, net), 1) - inside


def hand_pages_back() -> None:
    """Makes malloc return freed blocks to the system at once, so that every page that a run needs is counted."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):  # the C library is glibc
        mmap_threshold = -3
        libc.mallopt(mmap_threshold, 1 << 16)
        libc.malloc_trim(0)


def memory(case: str, size: int, window: int, ours: bool) -> int:
    """Returns by how many bytes one run raises the peak of this process's memory."""
    hand_pages_back()
    classes = system(case, ours)
    torch.set_grad_enabled(False)
    CASES[case](classes, volume(8), 4, doubled)  # makes threads and tables, which are made only once
    x = volume(size)
    hand_pages_back()
    return peak_of(lambda: CASES[case](classes, x, window, doubled))


def measure(case: str, size: int, window: int, rounds: int, threads: int) -> dict[str, Any]:
    fork = multiprocessing.get_context("fork")  # each case runs in a process of its own, which has everything imported
    peaks = []
    for ours in (False, True):
        with fork.Pool(1) as pool:
            peaks.append(pool.apply(memory, (case, size, window, ours)))
    x = volume(size)
    with torch.no_grad():
        theirs, mine = (CASES[case](system(case, each), x, window, network) for each in (False, True))
        times = [[spent(case, x, window, each) for each in (False, True)] for _ in range(rounds)]
    return {
        "case": case,
        "output_bytes": mine.numel() * mine.element_size(),
        "difference": float((theirs - mine).abs().max()),
        "seconds": [statistics.median(column) for column in zip(*times, strict=True)] if times else None,
        "bytes": peaks,
    }


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| case | s, theirs | s, patchfold | MB, theirs | MB, patchfold | MB of output | difference |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        times = [f"{each:.2f}" for each in row["seconds"]] if row["seconds"] else ["-", "-"]
        sizes = [f"{each / 1e6:.0f}" for each in (*row["bytes"], row["output_bytes"])]
        lines.append("| " + " | ".join([row["case"], *times, *sizes, f"{row['difference']:.1e}"]) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__.partition("usage:")[0], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=192, help="extent of the volume (default: 192)")
    parser.add_argument("--window", type=int, default=64, help="extent of the windows (default: 64)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of timing; 0 measures only memory (default: 5)")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch and of patchfold (default: 1)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(options.threads)
    import patchfold

    patchfold.set_num_threads(options.threads)
    for case in CASES:  # imports everything before processes are forked
        system(case, False), system(case, True)
    rows = [measure(case, options.size, options.window, options.rounds, options.threads) for case in CASES]
    print(json.dumps(rows) if options.json else table(rows))


if __name__ == "__main__":
    main()

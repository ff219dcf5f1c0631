#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts tiles together with patchfold and with other packages in the same rounds, and writes times and memory.

usage: bench/stitching.py [--rounds N] [--threads N] [--out FILE]

Systems: patchfold.Merger, the plain NumPy loop (weighted sum, sum of weights, quotient), tiler's Merger, MONAI's
sliding_window_inference with an identity network, and TorchIO's GridAggregator. Time is given in multiples of one copy of the
result. Memory is the peak of a separate process, less the memory that the array and the tiles need.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rounds import numbers, peak_of, seconds_of

SHAPE, TILE, OVERLAP = (3, 4096, 4096), 512, 64
STRIDE = TILE - OVERLAP
Array = npt.NDArray[np.float32]
Run = Callable[[], Array]


def picture() -> Array:
    return np.random.default_rng(1).random(SHAPE, dtype=np.float32)


def starts(extent: int) -> list[int]:
    """Returns where tiles begin along an axis: at equal distances, with the last tile shifted back inside."""
    return [*range(0, extent - TILE, STRIDE), extent - TILE]


def hann() -> Array:
    samples = np.sin(np.pi * (np.arange(TILE) + 0.5) / TILE) ** 2
    return np.outer(samples, samples).astype(np.float32)


def cut(x: Array) -> list[tuple[int, int, Array]]:
    """Returns the tiles, each in memory of its own, as a network returns them."""
    return [
        (top, left, x[:, top : top + TILE, left : left + TILE].copy())
        for top in starts(SHAPE[1])
        for left in starts(SHAPE[2])
    ]


def with_patchfold(x: Array) -> Run:
    import patchfold

    tiling = patchfold.Tiling(SHAPE, (TILE, TILE), overlap=OVERLAP)
    tiles = cut(x)

    def run() -> Array:
        merger = patchfold.Merger(tiling, window="hann")
        for index, (_, _, tile) in enumerate(tiles):
            merger.add(index, tile)
        return np.asarray(merger.finish())

    return run


def with_numpy(x: Array) -> Run:
    tiles, window = cut(x), hann()

    def run() -> Array:
        total = np.zeros(SHAPE, np.float32)
        weights = np.zeros(SHAPE[1:], np.float32)
        for top, left, tile in tiles:
            total[:, top : top + TILE, left : left + TILE] += tile * window
            weights[top : top + TILE, left : left + TILE] += window
        return total / weights

    return run


def with_tiler(x: Array) -> Run:
    from tiler import Merger, Tiler

    tiler = Tiler(
        data_shape=SHAPE, tile_shape=(SHAPE[0], TILE, TILE), overlap=(0, OVERLAP, OVERLAP), channel_dimension=0, mode="reflect"
    )
    tiles = [tiler.get_tile(x, index) for index in range(len(tiler))]

    def run() -> Array:
        merger = Merger(tiler, window="hann")
        for index, tile in enumerate(tiles):
            merger.add(index, tile)
        return np.asarray(merger.merge(unpad=True))

    return run


def with_monai(x: Array) -> Run:
    import torch
    from monai.inferers import sliding_window_inference

    batch = torch.from_numpy(x)[None]

    def run() -> Array:
        result = sliding_window_inference(
            batch, (TILE, TILE), 4, lambda tile: tile, overlap=OVERLAP / TILE, mode="gaussian"
        )
        return np.asarray(result)[0]

    return run


def with_torchio(x: Array) -> Run:
    import torch
    import torchio

    subject = torchio.Subject(image=torchio.ScalarImage(tensor=torch.from_numpy(x)[..., None]))
    sampler = torchio.inference.GridSampler(subject, (TILE, TILE, 1), (OVERLAP, OVERLAP, 0))
    patches = [sampler[index] for index in range(len(sampler))]
    tiles = [(patch["image"].data[None], patch[torchio.LOCATION][None]) for patch in patches]

    def run() -> Array:
        aggregator = torchio.inference.GridAggregator(sampler, overlap_mode="hann")
        for tile, location in tiles:
            aggregator.add_batch(tile, location)
        return np.asarray(aggregator.get_output_tensor())[..., 0]

    return run


SYSTEMS: dict[str, tuple[str, Callable[[Array], Run]]] = {
    "patchfold": ("Merger, hann", with_patchfold),
    "numpy": ("weighted sum, sum of weights, quotient; hann", with_numpy),
    "tiler": ("Merger, hann", with_tiler),
    "monai": ("sliding_window_inference, identity, gaussian", with_monai),
    "torchio": ("GridAggregator, hann", with_torchio),
}


def memory(name: str) -> int:
    """Returns how many bytes one run needs at its peak, besides the array and the tiles."""
    x = picture()
    return peak_of(SYSTEMS[name][1](x))


def set_threads(count: int) -> None:
    import patchfold
    import torch

    patchfold.set_num_threads(count)
    torch.set_num_threads(count)


def measure(rounds: int, threads: int) -> dict[str, Any]:
    set_threads(threads)
    x = picture()
    runs = {name: make(x) for name, (_, make) in SYSTEMS.items()}
    errors = {name: float(np.abs(run() - x).max()) for name, run in runs.items()}
    copy = np.empty_like(x)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        of_copy = min(seconds_of(lambda: np.copyto(copy, x), 1) for _ in range(3))
        for name, run in runs.items():
            times[name].append(seconds_of(run, 1) / of_copy)
    script = [sys.executable, __file__, "--memory"]
    return {
        name: {
            "time_of_copy": statistics.median(times[name]),
            "beyond_mb": int(subprocess.run([*script, name], check=True, stdout=subprocess.PIPE).stdout) / 1e6,
            "largest_error": errors[name],
            "version": importlib.metadata.version(name) if name != "patchfold" else "",
        }
        for name in runs
    }


def document(figures: dict[int, dict[str, Any]], rounds: int) -> str:
    result_mb = np.prod(SHAPE) * 4 / 1e6
    text = "<!-- Written by `bench/stitching.py`. -->\n# Performance of putting tiles together\n\n"
    text += f"Each system merges a float32 array of {SHAPE[0]} x {SHAPE[1]} x {SHAPE[2]} elements from unchanged tiles of {TILE} x "
    text += f"{TILE} that overlap by {OVERLAP}. Each tile has its own memory (MONAI cuts the tiles itself).\n\n"
    text += "* time / copy: time in multiples of one copy of the result; the median of "
    text += f"{rounds} rounds in which all systems take turns.\n"
    text += f"* memory: the peak, without the memory of array and tiles; the result has {result_mb:.0f} MB.\n"
    text += "* error: the largest difference between result and array; unchanged tiles should give 0.\n"
    for threads, rows in figures.items():
        text += f"\n## {threads} {'thread' if threads == 1 else 'threads'}\n\n"
        text += "| system | how | time / copy | of patchfold's | memory, MB | error |\n|---|---|--:|--:|--:|--:|\n"
        own = rows["patchfold"]["time_of_copy"]
        for name, row in rows.items():
            times = row["time_of_copy"]
            text += f"| {name} {row['version']} | {SYSTEMS[name][0]} | {times:.2f} | {times / own:.1f} | "
            text += f"{row['beyond_mb']:.0f} | {row['largest_error']:.2g} |\n"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=numbers, default=[1, 2], help="numbers of threads (default: 1,2)")
    parser.add_argument("--out", type=Path, help="the document; default: standard output")
    parser.add_argument("--memory", choices=SYSTEMS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.memory:
        print(memory(given.memory))
        return
    figures = {count: measure(given.rounds, count) for count in given.threads}
    print(json.dumps(figures, indent=1), file=sys.stderr)
    text = document(figures, given.rounds)
    given.out.write_text(text) if given.out else print(text)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a U-Net and a network like EDSR, with random weights, in exact tiles and on the whole picture; prints a table.

usage: bench/halos_tiled.py [TILE]

TILE is the extent of a tile, 160 by default; the picture has 20 times its area. The table has the largest difference and the
largest number of the whole result, how many elements the tiles read for each element of the picture, and the processor time
and memory of both ways. Each way has a process of its own. Memory is the peak of the run over the memory before it, with the
result, on Linux. Needs torch. Takes minutes on two slow cores.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import patchfold
import torch
from patchfold.models import halo
from torch import nn

F = nn.functional


def conv(a, b):
    return nn.Conv2d(a, b, 3, padding=1)


class UNet(nn.Module):
    """Three levels with two convolutions each, pools of 2, and skips."""

    def __init__(self, channels=32):
        super().__init__()
        sizes = [(3, channels), (channels, 2 * channels), (2 * channels, 4 * channels), (6 * channels, 2 * channels),
                 (3 * channels, channels)]  # fmt: skip
        self.blocks, self.last = nn.ModuleList(self.block(*size) for size in sizes), nn.Conv2d(channels, 3, 1)

    @staticmethod
    def block(a, b):
        return nn.Sequential(conv(a, b), nn.BatchNorm2d(b), nn.ReLU(), conv(b, b), nn.BatchNorm2d(b), nn.ReLU())

    def forward(self, x):
        high = self.blocks[0](x)
        middle = self.blocks[1](F.max_pool2d(high, 2))
        low = self.blocks[2](F.max_pool2d(middle, 2))
        middle = self.blocks[3](torch.cat([F.interpolate(low, scale_factor=2.0), middle], 1))
        return self.last(self.blocks[4](torch.cat([F.interpolate(middle, scale_factor=2.0), high], 1)))


class Edsr(nn.Module):
    """Eight residual blocks and a pixel shuffle to twice the extents."""

    def __init__(self, channels=32):
        super().__init__()
        blocks = (nn.Sequential(conv(channels, channels), nn.ReLU(), conv(channels, channels)) for _ in range(8))
        self.first, self.blocks, self.last = conv(3, channels), nn.ModuleList(blocks), conv(channels, 12)

    def forward(self, x):
        x = y = self.first(x)
        for block in self.blocks:
            y = y + block(y)
        return F.pixel_shuffle(self.last(x + y), 2)


NETWORKS = {"U-Net": UNet, "EDSR-like": Edsr}


def memory(reset=False):
    """Returns the most bytes that the process has held since the last reset."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def run(name, way, tile, file):
    """Runs a network, writes its result, and prints processor time, memory, and elements read for each of the picture."""
    torch.manual_seed(0)
    net, x, read = NETWORKS[name]().eval(), torch.rand(1, 3, 4 * tile, 5 * tile), 0
    model = halo(net, [(1, 3, 64, 64)]) if way == "tiles" else None

    def counted(part):
        nonlocal read
        read += part.shape[-2] * part.shape[-1]
        with torch.no_grad():
            return net(part)

    before, begin = memory(reset=True), time.process_time()
    if model is None:
        y = counted(x)
    else:
        y = patchfold.apply_tiled(counted, x, (tile, tile), overlap="exact", model=model, axes=(2, 3), progress=False)
    print(time.process_time() - begin, memory() - before, read / (20 * tile * tile))
    np.save(file, np.asarray(y))


def row(name, tile):
    """Returns a line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        files, figures = [], []
        for way in ("tiles", "whole"):
            files.append(f"{folder}/{way}.npy")
            call = [sys.executable, __file__, "--run", name, way, str(tile), files[-1]]
            text = subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout
            figures.append([float(word) for word in text.split()])
        one, other = map(np.load, files)
    (seconds, held, read), (whole_seconds, whole_held, _) = figures
    difference = f"{np.abs(one - other).max():.1e} of {np.abs(other).max():.2f}"
    times = f"{seconds:.1f} s / {whole_seconds:.1f} s"
    return f"| {name} | {difference} | {read:.2f} | {times} | {held / 1e6:.0f} MB / {whole_held / 1e6:.0f} MB |"


def main(arguments):
    if arguments[:1] == ["--run"]:
        name, way, tile, file = arguments[1:]
        return run(name, way, int(tile), file)
    tile = int(arguments[0]) if arguments else 160
    print(f"tiles of {tile}x{tile}, a picture of {4 * tile}x{5 * tile}\n")
    print("| network | largest difference, of | read | time, tiles / whole | memory, tiles / whole |\n|---|---|---|---|---|")
    for name in NETWORKS:
        print(row(name, tile), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times frequent calls of patchfold, and the calls of torch, einops, scikit-learn and NumPy that compute the same.

usage: bench/calls.py [--rounds N] [--write]

The calls are on small tensors, views in channels_last, crops, views, patches of pictures, and sums of tiles. patchfold's
call and the other take turns in every round, in one process with two threads. A time is the best of the rounds, and each
call allocates its result. Results that should be equal are compared first. --write writes docs/performance-calls.md. Needs
torch, einops and scikit-learn beside patchfold.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import einops
import numpy as np
import patchfold
import patchfold.torch
import torch
from rounds import ROOT, machine, race
from sklearn.feature_extraction import image as sklearn_image

PAGE = ROOT / "docs" / "performance-calls.md"
Call = Callable[[], Any]
PAUSE = 0.1  # seconds before a timed call, in which torch's threads, which wait for work in a loop, go to sleep
RANDOM = np.random.default_rng(7)


@dataclass(frozen=True)
class Row:
    """A call of patchfold, and a call of the system `other` for the same purpose."""

    what: str
    ours: Call
    other: str
    theirs: Call
    compared: bool = True


def floats(*shape: int) -> np.ndarray[Any, Any]:
    return RANDOM.standard_normal(shape, np.float32)


def torch_rows() -> Iterator[Row]:
    functional = torch.nn.functional
    wide = torch.from_numpy(floats(1, 64, 180, 320)).contiguous(memory_format=torch.channels_last)
    yield Row("pixel_shuffle of 1x64x180x320, channels_last", lambda: patchfold.torch.pixel_shuffle(wide, 4),
              "torch", lambda: functional.pixel_shuffle(wide, 4))  # fmt: skip
    fine = torch.from_numpy(floats(8, 64, 112, 112)).contiguous(memory_format=torch.channels_last)
    yield Row("pixel_unshuffle to 8x256x56x56, channels_last", lambda: patchfold.torch.pixel_unshuffle(fine, 2),
              "torch", lambda: functional.pixel_unshuffle(fine, 2))  # fmt: skip
    small, deep = torch.rand(1, 3, 8, 8), torch.rand(1, 12, 16, 16)
    for grad in (False, True):
        x, y = small.clone().requires_grad_(grad), deep.clone().requires_grad_(grad)
        end = ", with grad" if grad else ""
        yield Row(f"unfold of 1x3x8x8{end}", lambda x=x: patchfold.torch.unfold(x, 3), "torch",
                  lambda x=x: functional.unfold(x, 3))  # fmt: skip
        yield Row(f"pixel_shuffle of 1x12x16x16{end}", lambda y=y: patchfold.torch.pixel_shuffle(y, 2), "torch",
                  lambda y=y: functional.pixel_shuffle(y, 2))  # fmt: skip
    array = small.numpy()
    yield Row("unfold of a torch tensor of 1x3x8x8", lambda: patchfold.unfold(small, 3), "the same of a NumPy array",
              lambda: patchfold.unfold(array, 3), False)  # fmt: skip


def picture_rows() -> Iterator[Row]:
    picture = RANDOM.integers(0, 256, (2048, 2048, 3), np.uint8)
    pattern = "(h p) (w q) c -> (h w) (c p q)"
    yield Row("patches of 16x16 of a uint8 picture of 2048x2048x3, channels first in a patch",
              lambda: patchfold.patchify(picture, 16, order="torch", layout="channels_last"),
              "einops", lambda: einops.rearrange(picture, pattern, p=16, q=16))  # fmt: skip
    images = floats(32, 3, 224, 224)
    yield Row("tokens of a vision transformer, 32x3x224x224, patches of 16", lambda: patchfold.patchify(images, 16),
              "einops", lambda: einops.rearrange(images, "b c (h p) (w q) -> b (h w) (p q c)", p=16, q=16))  # fmt: skip
    view = images.transpose(0, 2, 3, 1)
    yield Row("the same of a view with channels last", lambda: patchfold.patchify(view, 16, layout="channels_last"),
              "einops", lambda: einops.rearrange(view, "b (h p) (w q) c -> b (h w) (p q c)", p=16, q=16))  # fmt: skip
    grey = floats(256, 256)
    yield Row("all patches of 8x8 of a picture of 256x256",
              lambda: patchfold.unfold(grey[None], (8, 8)).T.reshape(-1, 8, 8),
              "sklearn", lambda: sklearn_image.extract_patches_2d(grey, (8, 8)))  # fmt: skip
    patches = sklearn_image.extract_patches_2d(grey, (8, 8))
    columns = np.ascontiguousarray(patches.reshape(len(patches), -1).T)
    yield Row("the picture of all its patches of 8x8", lambda: patchfold.reconstruct(columns, (1, 256, 256), (8, 8)),
              "sklearn", lambda: sklearn_image.reconstruct_from_patches_2d(patches, (256, 256)), False)  # fmt: skip


def view_rows() -> Iterator[Row]:
    x = floats(1, 3, 512, 512)
    windows = np.lib.stride_tricks.sliding_window_view
    corner = [(100, 120)]
    yield Row("one crop of 64x64", lambda: patchfold.gather_patches(x[0], corner, (64, 64)),
              "NumPy", lambda: x[:, :, 100:164, 120:184].copy(), False)  # fmt: skip
    yield Row("unfold_view", lambda: patchfold.unfold_view(x, 3), "NumPy, sliding_window_view",
              lambda: windows(x, (3, 3), (2, 3)), False)  # fmt: skip
    yield Row("space_to_depth_view", lambda: patchfold.space_to_depth_view(x, 2), "NumPy, the same view",
              lambda: x.reshape(1, 3, 256, 2, 256, 2).transpose(0, 3, 5, 1, 2, 4), False)  # fmt: skip


def tile_rows() -> Iterator[Row]:
    image = floats(1, 64, 64)
    tiling = patchfold.Tiling(image.shape, (8, 8), stride=1)
    tiles = [image[tile.read] for tile in tiling]
    columns = patchfold.unfold(image, (8, 8))

    def merged() -> Any:
        merger = patchfold.Merger(tiling, window="ones")
        for number, tile in enumerate(tiles):
            merger.add(number, tile)
        return merger.finish()

    yield Row(f"Merger of {len(tiling)} tiles of 8x8 with stride 1", merged, "fold with reduce=\"mean\"",
              lambda: patchfold.fold(columns, (64, 64), (8, 8), reduce="mean"), False)  # fmt: skip


def numpy_of(result: Any) -> np.ndarray[Any, Any]:
    return np.asarray(result.detach() if isinstance(result, torch.Tensor) else result)


def text_of(seconds: float) -> str:
    return f"{seconds * 1e6:.3g} us" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms"


def page(lines: list[str], rounds: int) -> str:
    systems = ("torch", "einops", "scikit-learn", "numpy")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in systems)
    return "\n".join([
        "<!-- Written by `bench/calls.py --write`. -->",
        "# Everyday calls",
        "",
        "Everyday calls of patchfold, beside calls of other systems for the same purpose. Both run in turn, in one process,",
        f"on two threads; a time is the best of {rounds} rounds. Each call allocates its result. Measured on",
        f"{datetime.date.today().isoformat()} on {machine()['processor']}, with {versions}.",
        "",
        "| call | patchfold | the other | of the other's time | other |",
        "|---|--:|--:|--:|---|",
        *lines,
    ]) + "\n"  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write", action="store_true", help="writes docs/performance-calls.md")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds takes a positive number")
    torch.set_num_threads(2)
    patchfold.set_num_threads(2)
    lines = []
    for row in (*torch_rows(), *picture_rows(), *view_rows(), *tile_rows()):
        if row.compared:
            ours, theirs = (numpy_of(call()) for call in (row.ours, row.theirs))
            if not np.array_equal(ours, theirs):
                sys.exit(f"calls: {row.what}: the results differ: {ours.shape}, {theirs.shape}")
        times = race({"ours": row.ours, "theirs": row.theirs}, options.rounds, PAUSE, min)
        ours_time, theirs_time = times["ours"], times["theirs"]
        ratio = ours_time / theirs_time
        lines.append(f"| {row.what} | {text_of(ours_time)} | {text_of(theirs_time)} | {ratio:.2f} | {row.other} |")
        print(lines[-1], flush=True)
    if options.write:
        PAGE.write_text(page(lines, options.rounds), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Compares random tilings with the whole array, bit for bit: grids and boxes, margins, scales, padding, reductions and
windows, in any order of tiles.

As a program, test_random_tilings.py [--seed N] [--count N] [--dask] draws 2000 problems, or --count. With --dask, two
processes of dask compute them, of which one is killed in every third problem. A failure names the seed of its problem."""

import argparse
import os
import signal
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import patchfold
import pytest
from tile_model import Axis, Refused

MODES = ("constant", "edge", "reflect", "symmetric", "wrap")
WINDOWS = ("ones", "linear", "hann", "cosine", "gaussian", ("gaussian", 0.3), "tukey", ("tukey", 0.2), "hamming")
AGREEING = ("mean", "max", "min", "first", "last", "center", "median", "nanmean", "nanmax", "nanmin", "sum", "vote")
AGREEING += ("argmax",)
WEIGHTED = ("mean", "nanmean", "argmax")


@dataclass(frozen=True)
class Network:
    """A function that sees `reach` elements to each side along the last axes and gives `scale` elements for each one. With
    `crops`, the result lacks the border that sees beyond the tile; otherwise zeros lie beyond it."""

    reach: tuple[int, ...]
    scale: int
    classes: int
    dtype: str
    crops: bool

    def __call__(self, tile: Any) -> Any:
        total = np.asarray(tile).astype(np.int64)
        for axis, reach in zip(range(-len(self.reach), 0), self.reach, strict=True):
            if not self.crops:
                total = np.pad(total, [(reach, reach) if k == axis % total.ndim else (0, 0) for k in range(total.ndim)])
            seen = np.lib.stride_tricks.sliding_window_view(total, 2 * reach + 1, axis)
            total = (seen * np.arange(3, 2 * reach + 4)).sum(-1).repeat(self.scale, axis)
        if self.classes:
            return np.stack([total[0] * (k + 3) % 17 for k in range(self.classes)]).astype(self.dtype)
        return (total % 120).astype(self.dtype)


@dataclass
class Problem:
    x: Any
    network: Network
    tiling: dict[str, Any]
    merge: dict[str, Any]
    mode: str
    margin: tuple[int, ...]
    boxes: list[Any] = field(default_factory=list)

    def whole(self) -> Any:
        """Returns what the network makes of the whole array, where a tile gives a result, and the fill elsewhere."""
        before = [(0, 0)] * (self.x.ndim - len(self.margin)) + [(each, each) for each in self.margin]
        y = self.network(np.pad(self.x, before, mode=self.mode))
        if self.merge["reduce"] == "argmax":
            y = y.argmax(0).astype(np.uint8)
        count = self.count(y.shape[y.ndim - len(self.margin) :])
        if self.merge["reduce"] == "sum":
            most = np.iinfo(y.dtype).max if y.dtype.kind in "iu" else np.inf  # sums saturate
            y = np.minimum(y.astype(float) * count, most).astype(y.dtype)
        return np.where(count > 0, y, y.dtype.type(self.merge["fill"]))

    def count(self, extents: tuple[int, ...]) -> Any:
        """Returns how many results hold each element of the output."""
        if self.boxes:
            count = np.zeros(extents, int)
            for box in self.boxes:
                count[tuple(slice(max(0, start), max(0, stop)) for start, stop in box)] += 1
            return count
        count = np.ones((), int)
        for k, extent in enumerate(extents):
            along = np.zeros(extent, int)
            for start, stop in self.axis(k).writes():
                along[start:stop] += 1
            count = np.multiply.outer(count, along)
        return count

    def axis(self, k: int) -> Axis:
        t, scale = self.tiling, self.network.scale
        extent, margin = self.x.shape[self.x.ndim - len(self.margin) + k], (self.margin[k],) * 2
        result = t["result"][k] if "result" in t else None
        offset = t["offset"][k] if "offset" in t else 0
        return Axis(extent, t["tile"][k], t["stride"][k], t["tail"], scale, offset, result, margin=margin)


def drawn(seed: int) -> Problem:
    """Returns the problem of a seed."""
    for attempt in range(1000):
        rng = np.random.default_rng([seed, attempt])
        try:
            return _drawn(rng)
        except Refused:
            continue
    raise AssertionError(seed)


def _drawn(rng: np.random.Generator) -> Problem:
    def pick(values: Any) -> Any:
        return values[int(rng.integers(len(values)))]

    tiled = int(rng.integers(1, 4))
    extents = tuple(int(rng.integers(4, (70, 24, 11)[tiled - 1])) for _ in range(tiled))
    reduce = pick(AGREEING)
    is_labels, is_boxes = reduce in ("vote", "argmax"), rng.random() < 0.25 and reduce != "argmax"
    dtype = pick(("uint8", "int16", "int64") if reduce == "vote" else ("float32", "float32", "float64", "uint8", "int32"))
    x = rng.integers(0, 50, (*([int(rng.integers(1, 4))] if is_labels or rng.random() < 0.5 else []), *extents))
    x = x.astype(pick(("uint8", "float32")))
    merge = {"reduce": reduce, "fill": 7, "window": pick(WINDOWS) if reduce in WEIGHTED and dtype != "int64" else "ones"}
    mode = pick(MODES)
    if is_boxes:
        network = Network((0,) * tiled, 1, 0, dtype, crops=True)
        boxes = []
        for _ in range(int(rng.integers(1, 9))):
            starts = [int(rng.integers(-3, extent)) for extent in extents]
            boxes.append([(start, start + int(rng.integers(4, 9))) for start in starts])
        boxes = [box for box in boxes if all(stop <= n + 3 for (_, stop), n in zip(box, extents, strict=True))]
        if not boxes:
            raise Refused
        return Problem(x, network, {}, merge, mode, (0,) * tiled, boxes)
    crops = reduce != "center" or rng.random() < 0.5
    scale, classes = pick((1, 1, 2, 3)), int(rng.integers(2, 6)) if reduce == "argmax" else 0
    reach = tuple(int(rng.integers(0, 4)) for _ in extents)
    tile = tuple(int(rng.integers(1, min(extent, 9) + 1)) + 2 * each for extent, each in zip(extents, reach, strict=True))
    free = [size - 2 * each for size, each in zip(tile, reach, strict=True)]
    t: dict[str, Any] = {"tile": tile, "stride": tuple(int(rng.integers(max(1, each // 3), each + 1)) for each in free)}
    t["tail"] = pick(("pad", "partial", "shift", "drop"))
    margin = reach if crops else (0,) * tiled
    if crops:
        t |= {"offset": tuple(scale * each for each in reach), "result": tuple(scale * each for each in free)}
        if t["tail"] == "partial" and any(reach):  # a tile has no padding then
            raise Refused
    else:
        mode = "constant"
    problem = Problem(x, Network(reach, scale, classes, dtype, crops), t, merge, mode, margin)
    if t["tail"] == "drop" and not crops and any(reach):  # no tile of the end sees what the whole array sees
        raise Refused
    if not np.prod([len(problem.axis(k).tiles) for k in range(tiled)]):
        raise Refused
    return problem


def tiling_of(problem: Problem) -> Any:
    scale = {"scale": problem.network.scale} if problem.network.scale > 1 else {}
    axes = tuple(range(-len(problem.margin), 0))
    margin = {"margin": problem.margin} if any(problem.margin) else {}
    return patchfold.Tiling(problem.x.shape, **problem.tiling, **scale, **margin, axes=axes, padding_mode=problem.mode)


def merged(problem: Problem, rng: np.random.Generator) -> Any:
    """Returns the merge of the tiles' results: by apply_tiled, by a Merger in any order of tiles, or box by box."""
    x, network, merge = problem.x, problem.network, problem.merge
    if problem.boxes:
        axes = tuple(range(-len(problem.margin), 0))
        boxes = patchfold.Boxes(x.shape, problem.boxes, axes=axes, padding_mode=problem.mode)
        return patchfold.apply_tiled(network, x, boxes, **merge, progress=False)
    tiling = tiling_of(problem)
    results = [network(tiling.cut(x, index)) for index in range(len(tiling))]
    way = int(rng.integers(4))
    if way == 0:
        again = dict(problem.tiling) | {"axes": tiling.axes, "padding_mode": problem.mode, "scale": problem.network.scale}
        return patchfold.apply_tiled(network, x, **again, margin=problem.margin, **merge, progress=False)
    if way == 1:
        spec = patchfold.MergeSpec(**merge)
        extents = [tiling.output_shape[axis] for axis in tiling.axes]
        box = tuple(slice(0, extent) for extent in extents)
        cut = int(rng.integers(extents[0] + 1))
        parts = []
        for part in ((slice(0, cut), *box[1:]), (slice(cut, extents[0]), *box[1:])):
            touching = np.stack(np.meshgrid(*tiling.touching(part), indexing="ij"), -1).reshape(-1, len(extents))
            pieces = {tuple(map(int, each)): results[tiling[tuple(map(int, each))].index] for each in touching}
            pieces = {place: result[tiling.piece(place, part)] for place, result in pieces.items()}
            declared = patchfold.ResultType(network.dtype, channels=results[0].shape[: results[0].ndim - len(extents)])
            parts.append(patchfold.merge_box(tiling, spec, part, pieces, results=declared))
        return np.concatenate(parts, parts[0].ndim - len(extents))
    order = rng.permutation(len(tiling)) if way == 2 else range(len(tiling))
    bands: list[Any] = []
    sink = bool(rng.integers(2))
    copies = (False, True, "sum")[int(rng.integers(3))]
    out = (lambda rows, band: bands.append(band.copy())) if sink else None
    merger = patchfold.Merger(tiling, copy=copies, out=out, **merge)
    for index in order:
        merger.add(int(index), results[int(index)])
    result = merger.finish()
    return np.concatenate(bands, bands[0].ndim - len(problem.margin)) if sink else result


def check(seed: int, got: Any, want: Any) -> None:
    same = got.shape == want.shape and got.dtype == want.dtype and got.tobytes() == want.tobytes()
    assert same, f"seed {seed}: {got.dtype} {got.shape} for {want.dtype} {want.shape}: {drawn(seed)}"


def compare(seeds: range) -> None:
    for seed in seeds:
        problem = drawn(seed)
        check(seed, merged(problem, np.random.default_rng(seed)), problem.whole())


def compare_on_dask(seeds: range) -> int:
    """Compares problems on two processes. Returns the number of processes that were killed."""
    import dask
    import distributed
    import zarr
    from patchfold.dask import apply_tiled

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    killed = 0
    # A cluster gives a worker up that is not back after this time. On a busy machine 15 seconds, the default, are too short.
    patience = dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"})
    with tempfile.TemporaryDirectory() as folder, patience, distributed.LocalCluster(**options) as cluster:
        with distributed.Client(cluster) as client:
            for seed in seeds:
                problem = drawn(seed)
                if problem.boxes:
                    continue
                x = zarr.create_array(Path(folder) / f"x{seed}", shape=problem.x.shape, dtype=problem.x.dtype)
                x[...] = problem.x
                victims = []
                if seed % 3 == 0:
                    client.wait_for_workers(2, timeout=600)  # so that the victim's neighbour lives while it starts again
                    victims = [worker.pid for worker in cluster.workers.values() if worker.pid]

                def progress(done: int, wanted: int, victims: list[int] = victims) -> None:
                    nonlocal killed
                    if victims and done >= wanted // 2:
                        os.kill(victims.pop(), signal.SIGKILL)
                        victims.clear()
                        killed += 1

                tiling = tiling_of(problem)
                again = dict(problem.tiling) | {"axes": tiling.axes, "padding_mode": problem.mode}
                again |= {"scale": problem.network.scale, "margin": problem.margin}
                extents = [tiling.output_shape[axis] for axis in tiling.axes]
                report = apply_tiled(
                    problem.network, x, **again, **problem.merge, out=Path(folder) / f"y{seed}", progress=progress,
                    chunks=tuple(max(1, -(-extent // 3)) for extent in extents),
                )  # fmt: skip
                check(seed, report.array[...], problem.whole())
    return killed


def test_random_tilings_give_the_whole_array():
    compare(range(150))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="only POSIX systems kill processes by a signal")
def test_random_tilings_on_processes_that_die_give_the_whole_array():
    pytest.importorskip("distributed")
    pytest.importorskip("zarr")
    assert compare_on_dask(range(8)) > 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="the first seed (default: 0)")
    parser.add_argument("--count", type=int, default=2000, help="the number of problems (default: 2000)")
    parser.add_argument("--dask", action="store_true", help="on processes of dask")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.count)
    killed = compare_on_dask(seeds) if options.dask else compare(seeds)
    print(f"{len(seeds)} problems are equal bit for bit" + f", {killed} processes were killed" * options.dask)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures patchfold.dask on a LocalCluster of 2 processes, beside dask.array.map_overlap with the same net in the same run.

usage: bench/scale.py [--size N] [--folder FOLDER] [--markdown FILE]
       PATCHFOLD_SHARD=512 bench/scale.py --size 3072 is a run of a few minutes

A picture of N x N uint8 (default 20000) in a sharded zarr array goes through a small torch net in tiles of 512 that overlap by 64:
  local     patchfold.apply_tiled in one process, whose bits the others must have
  cluster   patchfold.dask.apply_tiled: seconds, tasks, and the largest memory of each worker, beside an idle worker's memory
            after a call of the net
  killed    like cluster, with three SIGKILLs of workers: the tiles that are computed again, and the dead workers' tiles
  resumed   like cluster, but all processes are killed together, and the run is called again
  overlap   dask.array.map_overlap of the same net on blocks of the same size, written with to_zarr
Prints a line for each run, and exits with 1 if a promise of docs/scale.md is broken: bits, tiles, chunks, memory, or time
and memory beside map_overlap. --markdown writes the table of docs/scale.md. Needs dask, distributed, zarr and torch.
"""

import argparse
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

TILE, OVERLAP, CHUNK = 512, 64, 512
SHARD = int(os.environ.get("PATCHFOLD_SHARD", "2048"))  # the extent of a shard; less for small pictures


class Net:
    """A network of three convolutions with random weights; input and output are uint8."""

    def __init__(self):
        torch = importlib.import_module("torch")
        torch.set_num_threads(1)
        torch.manual_seed(0)
        sizes = (1, 8, 8, 1)
        layers = []
        for before, after in zip(sizes, sizes[1:]):
            layers += [torch.nn.Conv2d(before, after, 3, padding=1, padding_mode="replicate"), torch.nn.ReLU()]
        self.torch, self.net = torch, torch.nn.Sequential(*layers[:-1]).eval()

    def __call__(self, tile):
        with self.torch.inference_mode():
            x = self.torch.from_numpy(np.ascontiguousarray(tile))[None, None].float() / 255
            y = self.torch.sigmoid(4 * self.net(x))[0, 0] * 255
            return y.round().to(self.torch.uint8).numpy()


_net = []


def net_of_block(block):
    """Returns the net's result for a block of map_overlap. The first call in a process loads the net."""
    if block.size == 0:
        return block
    if not _net:
        _net.append(Net())
    return _net[0](block)


def peak():
    """Returns the largest memory of this process in MB; getrusage would count the process that started this one too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def store(path, size, shards=True):
    zarr = importlib.import_module("zarr")
    kinds = {"chunks": (CHUNK, CHUNK), "shards": (SHARD, SHARD) if shards else None}
    return zarr.create_array(path, shape=(size, size), dtype="uint8", **kinds)


def picture(path, size):
    array = store(path, size)
    rng = np.random.default_rng(0)
    for top in range(0, size, SHARD):
        rows = min(SHARD, size - top)
        noise = rng.integers(0, 64, (rows, size), np.uint8)
        array[top : top + rows] = noise + (np.add.outer(np.arange(top, top + rows), np.arange(size)) // 40 % 160).astype(np.uint8)
    return array


def same(a, b):
    return all(np.array_equal(a[top : top + SHARD], b[top : top + SHARD]) for top in range(0, a.shape[0], SHARD))


def model():
    dask = importlib.import_module("patchfold.dask")
    return dask.once(Net)


def run(source, out, client, **options):
    dask = importlib.import_module("patchfold.dask")
    settings = {"overlap": OVERLAP, "window": "hann", "progress": False, "client": client, "version": "net"} | options
    return dask.apply_tiled(model(), source, (TILE, TILE), out=out, **settings)


def cluster_of_two():
    distributed = importlib.import_module("distributed")
    return distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)


def idle(fn):
    fn(np.zeros((TILE, TILE), np.uint8))
    return peak()


class Killer:
    """Kills a worker whenever a given number of chunks is written, and counts the tiles that killed workers held."""

    def __init__(self, cluster, client, counts):
        self.cluster, self.client, self.counts, self.held = cluster, client, set(counts), 0

    def __call__(self, done, wanted):
        if done not in self.counts:
            return
        self.counts.discard(done)
        worker = max((w for w in self.cluster.workers.values() if w.pid), key=lambda w: w.pid)
        address = worker.worker_address
        keys = [*self.client.has_what().get(address, ()), *self.client.processing().get(address, ())]
        names = ("patchfold-tile", "patchfold-pieces")
        tiles = {key[1] for key in keys if isinstance(key, tuple) and key[0].startswith(names)}
        os.kill(worker.pid, signal.SIGKILL)
        self.held += len(tiles)


def resumed(folder, size):
    """Starts a run in its own process group, kills the whole group, and then runs anew on the same output."""
    zarr = importlib.import_module("zarr")
    out = folder / "resumed.zarr"
    started = subprocess.Popen([sys.executable, __file__, "--child", str(folder), "--size", str(size)], start_new_session=True)
    marks = folder / "resumed.zarr.patchfold" / "done"
    chunks = (-(-size // SHARD)) ** 2
    while started.poll() is None and len(list(marks.glob("*"))) < chunks * 0.4:
        time.sleep(0.02)
    if started.poll() is not None:
        raise RuntimeError(f"the run that was to be killed ended before, with {started.returncode}")
    os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    there = len([path for path in marks.iterdir() if path.suffix != ".partial"])
    with cluster_of_two() as cluster, importlib.import_module("distributed").Client(cluster) as client:
        report = run(str(folder / "x.zarr"), str(out), client, chunks=(SHARD, SHARD))
    return there, report, zarr.open_array(out, mode="r")


def child(folder, size):
    with cluster_of_two() as cluster, importlib.import_module("distributed").Client(cluster) as client:
        run(str(folder / "x.zarr"), str(folder / "resumed.zarr"), client, chunks=(SHARD, SHARD))


def with_map_overlap(folder, size, client):
    da = importlib.import_module("dask.array")
    block = TILE - OVERLAP
    x = da.from_zarr(str(folder / "x.zarr")).rechunk((block, block))
    y = da.map_overlap(net_of_block, x, depth=OVERLAP // 2, boundary="nearest", dtype="uint8", meta=np.empty((0, 0), "uint8"))
    target = store(folder / "overlap.zarr", size)
    written = da.to_zarr(y.rechunk((SHARD, SHARD)), target, compute=False)
    (optimised,) = importlib.import_module("dask").optimize(written)
    count = len(dict(optimised.__dask_graph__()))
    begun = time.monotonic()
    client.compute(written).result()
    return time.monotonic() - begun, count


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0], description=__doc__.split("\n\n")[2])
    parser.add_argument("--size", type=int, default=20000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        child(given.child, given.size)
        return 0
    own = tempfile.mkdtemp(dir=given.folder)
    try:
        return measure(Path(own), given)
    finally:
        shutil.rmtree(own, ignore_errors=True)


def measure(folder, given):
    distributed = importlib.import_module("distributed")
    patchfold = importlib.import_module("patchfold")
    size, faults, lines = given.size, [], []

    def say(name, text):
        lines.append((name, text))
        print(f"{name:9} {text}", flush=True)

    def must(holds, what):
        if not holds:
            faults.append(what)
            print(f"FAILED    {what}", flush=True)

    source = picture(folder / "x.zarr", size)
    begun = time.monotonic()
    local = store(folder / "local.zarr", size)
    patchfold.apply_tiled(Net(), source, (TILE, TILE), overlap=OVERLAP, window="hann", out=local, progress=False)
    say("local", f"{time.monotonic() - begun:.1f} s, one process")

    with cluster_of_two() as cluster, distributed.Client(cluster) as client:
        before = client.run(idle, model())
        out = store(folder / "cluster.zarr", size)
        report = run(source, out, client)
        after = client.run(peak)
        seconds = report.seconds
        used = [after[worker] - before[worker] for worker in before]
        tasks = tasks_in(source, out)
    bound = report.worker_bytes / 1e6
    text = f"{seconds:.1f} s, {tasks} tasks ({report.tiles} tiles, {report.chunks} shards)"
    peaks = ", ".join(f"{after[worker]:.0f} MB (idle {before[worker]:.0f})" for worker in before)
    say("cluster", f"{text}; peaks {peaks}; announced at most {bound:.0f} MB above idle")
    must(same(local, out), "the cluster's bits are not those of one machine")
    must(max(used) <= bound, f"a worker needed {max(used):.0f} MB above idle, more than the announced {bound:.0f} MB")

    with cluster_of_two() as cluster, distributed.Client(cluster) as client:
        out = store(folder / "killed.zarr", size)
        chunks = report.chunks
        killer = Killer(cluster, client, {max(1, chunks * k // 4) for k in (1, 2, 3)})
        killed = run(source, out, client, progress=killer)
    say("killed", f"3 workers killed; they held {killer.held} tiles, {killed.recomputed} were computed again")
    must(not killer.counts, "three workers were not killed")
    must(same(local, out), "the bits after three kills are not those of one machine")
    must(killed.recomputed <= 1.1 * killer.held + 3, "more than 10 % more tiles were computed again than were held")

    there, again, array = resumed(folder, size)
    say("resumed", f"{there} of {again.chunks} shards were there after the kill, {again.written} were computed then")
    must(again.written == again.chunks - there and 0 < there < again.chunks, "not exactly the missing shards were computed")
    must(same(local, array), "the bits after a resumed run are not those of one machine")

    with cluster_of_two() as cluster, distributed.Client(cluster) as client:
        empty = client.run(idle, net_of_block)
        theirs, count = with_map_overlap(folder, size, client)
        most = client.run(peak)
        more = [most[worker] - empty[worker] for worker in empty]
    say("overlap", f"{theirs:.1f} s, {count} tasks; {max(more):.0f} MB above idle; without blending")
    faster, smaller = theirs / seconds, max(more) / max(max(used), 1)
    say("ratio", f"map_overlap took {faster:.2f} times the time, {count / tasks:.1f} times the tasks, {smaller:.2f} times the memory")
    must(faster >= 1.5 or smaller >= 2, "neither 1.5 times faster than map_overlap nor half its memory")
    if given.markdown is not None:
        rows = (
            ("patchfold.dask.apply_tiled, hann", f"{seconds:.0f}", tasks, f"{max(used):.0f}"),
            ("dask.array.map_overlap, no blending", f"{theirs:.0f}", count, f"{max(more):.0f}"),
        )
        head = f"| {size} x {size} uint8, tiles of {TILE}, overlap {OVERLAP}, shards of {SHARD} | seconds | tasks | MB above an idle worker |"
        table = [head, "|---|---|---|---|", *(f"| {' | '.join(map(str, row))} |" for row in rows)]
        given.markdown.write_text("\n".join(table) + "\n", encoding="utf-8")
    return int(bool(faults))


def tasks_in(source, out):
    """Returns the number of tasks in the graph that run() makes."""
    dask = importlib.import_module("patchfold.dask")
    lazy = dask.apply_tiled(model(), source, (TILE, TILE), overlap=OVERLAP, window="hann", chunks=(SHARD, SHARD))
    return len(dict(lazy.__dask_graph__()))


if __name__ == "__main__":
    sys.exit(main())

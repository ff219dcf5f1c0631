# SPDX-License-Identifier: Apache-2.0
"""Tests with workers of dask.distributed, some of which are killed, and tests of the command line."""

import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import dask
import distributed
import numpy as np
import patchfold
import pytest
import zarr
from patchfold import InvalidValue
from patchfold.dask import _run, apply_tiled, once
from scale_functions import blur, deadly, load, photo, slow_blur, store_of

X = photo((1, 700, 600))
TILE, OVERLAP = (64, 64), 16
WANT = patchfold.apply_tiled(blur, X, TILE, overlap=OVERLAP, progress=False)
HERE = Path(__file__).parent
# Schedulers and workers need the path of this process, to import the functions of the tests.
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


@pytest.fixture
def cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as started:
        yield started


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as connected:
        yield connected


def test_a_killed_worker_costs_only_the_tiles_that_it_held(tmp_path, cluster, client):
    source = store_of(tmp_path / "x.zarr", X, chunks=(1, 64, 64), shards=(1, 128, 128))
    target = zarr.create_array(
        tmp_path / "y.zarr", shape=X.shape, dtype="float32", chunks=(1, 64, 64), shards=(1, 128, 128)
    )
    held = set()

    def kill_one(done, wanted):
        if done != 8 or held:
            return
        victim, worker = next((name, worker) for name, worker in cluster.workers.items() if worker.pid)
        address = worker.worker_address
        keys = [*client.has_what()[address], *client.processing()[address]]
        keys = [key for key in keys if isinstance(key, tuple) and key[0].startswith(("patchfold-tile", "patchfold-pieces"))]
        held.update(key[1] for key in keys)
        held.add(victim)
        os.kill(worker.pid, signal.SIGKILL)

    report = apply_tiled(slow_blur, source, TILE, overlap=OVERLAP, out=target, progress=kill_one)
    assert held, "no worker was killed"
    assert target[:].tobytes() == WANT.tobytes()
    assert report.written == report.chunks == 30
    # The killed worker may have begun a few more tiles after it was asked for the tiles that it held.
    assert report.recomputed <= len(held) * 1.1 + 3
    assert apply_tiled(slow_blur, source, TILE, overlap=OVERLAP, out=target, progress=False).written == 0


def test_each_worker_loads_a_model_once(tmp_path, client):
    models = tmp_path / "models"
    models.mkdir()
    y = apply_tiled(once(load, str(models)), X, TILE, overlap=OVERLAP, chunks=(128, 128))
    assert y.compute().tobytes() == WANT.tobytes()
    loaded = [path.name.split("-")[1] for path in models.iterdir()]
    assert 1 <= len(loaded) == len(set(loaded)) <= 2 and str(os.getpid()) not in loaded


@pytest.mark.parametrize("written", [True, False])
def test_tiles_run_where_the_resources_are(tmp_path, written):
    places = tmp_path / "places"
    places.mkdir()

    def where(tile):
        (places / str(os.getpid())).touch()
        return blur(tile)

    options = {"dashboard_address": None, "processes": True, "threads_per_worker": 1}
    patience = dask.config.set({"distributed.scheduler.no-workers-timeout": "60s"})  # the longest wait for a worker
    with patience, distributed.LocalCluster(n_workers=1, **options) as cluster, distributed.Client(cluster) as client:
        with pytest.raises(InvalidValue, match="resources: must be what a worker offers; given {'GPU': 1}"):
            apply_tiled(where, X, TILE, overlap=OVERLAP, resources={"GPU": 1}, out=tmp_path / "y.zarr", version="where")
        with pytest.raises(InvalidValue, match="resources: need an out: dask forgets them.*optimization.fuse.active"):
            apply_tiled(where, X, TILE, overlap=OVERLAP, resources={"GPU": 1})
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address, "--resources", "GPU=1"]
        started = subprocess.Popen([*worker, "--nthreads", "1", "--no-nanny"], env=ENVIRONMENT)
        try:
            client.wait_for_workers(2, timeout=60)
            with dask.config.set({} if written else {"optimization.fuse.active": False}):
                y = apply_tiled(
                    where, X, TILE, overlap=OVERLAP, resources={"GPU": 1}, chunks=(128, 128), version="where",
                    out=tmp_path / "y.zarr" if written else None, progress=False,
                )
                assert (y.array[:] if written else y.compute()).tobytes() == WANT.tobytes()
        finally:
            started.kill()
            started.wait()
    assert [path.name for path in places.iterdir()] == [str(started.pid)]


def test_a_function_that_ends_its_workers_ends_the_run(tmp_path, client):
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}), pytest.raises(Exception) as caught:
        apply_tiled(
            deadly, X, TILE, overlap=OVERLAP, out=tmp_path / "y.zarr", progress=False,
            results=patchfold.ResultType("float32"),
        )
    assert type(caught.value).__name__ == "KilledWorker"
    if sys.version_info >= (3, 11):
        assert "allowed-failures" in " ".join(caught.value.__notes__)
    assert not (tmp_path / "y.zarr").exists()


def test_a_scheduler_that_dies_ends_the_run(tmp_path):
    options = ("--port", "0", "--no-dashboard", "--scheduler-file", tmp_path / "s")
    scheduler = subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_scheduler", *options], env=ENVIRONMENT)
    worker = None
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "s").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        address = re.search(r"tcp://[\d.:]+", (tmp_path / "s").read_text(encoding="utf-8"))[0]
        worker = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"],
            env=ENVIRONMENT,
        )
        with distributed.Client(address, timeout=30) as client, dask.config.set({"distributed.comm.timeouts.connect": "2s"}):

            def progress(done, wanted):
                if done == 2:
                    scheduler.kill()

            begun = time.monotonic()
            with pytest.raises((OSError, TimeoutError, RuntimeError)) as caught:
                apply_tiled(
                    slow_blur, X, TILE, overlap=OVERLAP, chunks=(128, 128), out=tmp_path / "y.zarr", progress=progress,
                    client=client,
                )
            assert time.monotonic() - begun < 120
            assert not (tmp_path / "y.zarr").exists(), caught.value
    finally:
        for process in (scheduler, worker):
            if process is not None:
                process.kill()
                process.wait()
    report = apply_tiled(slow_blur, X, TILE, overlap=OVERLAP, chunks=(128, 128), out=tmp_path / "y.zarr", progress=False)
    assert 0 < report.written < report.chunks and report.array[:].tobytes() == WANT.tobytes()


def test_a_run_without_workers_warns(tmp_path, monkeypatch):
    monkeypatch.setattr(_run, "_ALONE", 0.2)
    options = {"n_workers": 0, "dashboard_address": None}
    known = patchfold.ResultType("float32")
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster), warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="the scheduler has no worker: start one"):
            apply_tiled(blur, X, TILE, overlap=OVERLAP, out=tmp_path / "y.zarr", results=known, progress=False)


def test_stores_in_memory_are_refused(client):
    target = zarr.create_array({}, shape=X.shape, dtype="float32", chunks=(1, 128, 128))
    with pytest.raises(InvalidValue, match="out: must be a store that every worker can open"):
        apply_tiled(blur, X, TILE, overlap=OVERLAP, out=target)


def command(*arguments, cwd=HERE):
    given = [sys.executable, "-m", "patchfold.dask", *map(str, arguments)]
    return subprocess.run(given, capture_output=True, text=True, cwd=cwd, timeout=300)


def test_the_command_line(tmp_path):
    store_of(tmp_path / "x.zarr", X, chunks=(1, 64, 64))
    given = ("apply", "scale_functions:blur", tmp_path / "x.zarr", tmp_path / "y.zarr", "--tile", "64,64", "--overlap", "16")
    done = command(*given, "--chunks", "128,128", "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert zarr.open_array(tmp_path / "y.zarr")[:].tobytes() == WANT.tobytes()
    assert "dashboard: http" in done.stderr and "30 chunks written" in done.stdout and "computed again" in done.stdout
    again = command(*given, "--chunks", "128,128")
    assert again.returncode == 0 and "finished before" in again.stdout
    other = command(*given, "--chunks", "128,128", "--reduce", "max")
    assert other.returncode == 1 and "belongs to a run with another merge" in other.stderr
    assert "Traceback" not in other.stderr
    made = command(
        "apply", "scale_functions:make", tmp_path / "x.zarr", tmp_path / "o.zarr", "--tile", "64,64", "--overlap", "16",
        "--once", "--quiet",
    )
    assert made.returncode == 0 and not made.stdout
    assert zarr.open_array(tmp_path / "o.zarr")[:].tobytes() == WANT.tobytes()
    cut = command("split", tmp_path / "x.zarr", tmp_path / "t.zarr", "--tile", "64,64", "--overlap", "0.25")
    assert cut.returncode == 0, cut.stderr
    put = command("merge", tmp_path / "t.zarr", tmp_path / "m.zarr", "--window", "ones", "--chunks", "256")
    assert put.returncode == 0, put.stderr
    assert np.array_equal(zarr.open_array(tmp_path / "m.zarr")[:], X)


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        ((), 2, "apply|split|merge"),
        (("apply",), 2, "MODULE:FUNCTION"),
        (("apply", "blur", "x", "y", "--tile", "9", "--overlap", "1"), 1, "must name a module and a function of it"),
        (("apply", "no_such:blur", "x", "y", "--tile", "9", "--overlap", "1"), 1, "there is no module no_such"),
        (("apply", "scale_functions:no", "x", "y", "--tile", "9", "--overlap", "1"), 1, "has no no"),
        (("split", "nowhere.zarr", "y", "--tile", "9", "--overlap", "1"), 1, "must be the path or URL of a zarr array"),
        (("split", "x", "y", "--tile", "nine", "--overlap", "1"), 2, "'nine' is no number"),
        (
            ("split", "x", "y", "--tile", "9", "--overlap", "1", "--scheduler", "tcp://127.0.0.1:9"),
            1,
            "--scheduler: no scheduler answers at tcp://127.0.0.1:9",
        ),
    ],
)
def test_wrong_commands_say_what_is_wrong(arguments, status, says):
    done = command(*arguments)
    assert done.returncode == status and says in done.stderr and "Traceback" not in done.stderr

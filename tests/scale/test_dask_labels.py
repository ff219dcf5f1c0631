# SPDX-License-Identifier: Apache-2.0
"""Tests that patchfold.dask.merge_labels gives the bits of patchfold.merge_labels, and goes on after interruptions."""

import subprocess
import sys
import time
from pathlib import Path

import dask
import dask.array
import numpy as np
import patchfold
import pytest
import xarray
import zarr
from patchfold import InvalidValue
from patchfold.dask import merge_labels
from scale_functions import bars, store_of

X = (np.random.default_rng(0).random((150, 130)) < 0.7).astype(np.uint8)
TILE, OVERLAP = (48, 32), 12
WANT = patchfold.merge_labels(bars, X, TILE, overlap=OVERLAP, progress=False)
ALONE = ["y.zarr", "y.zarr.patchfold"]


def run(out, fn=bars, source=X, tile=TILE, overlap=OVERLAP, **settings):
    return merge_labels(fn, source, tile, out, overlap=overlap, **{"progress": False, "chunks": (40, 40)} | settings)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_random_problems_give_the_bits_of_one_machine(tmp_path):
    rng = np.random.default_rng(1)
    for number in range(9):
        rank = int(rng.integers(1, 4))
        shape = tuple(map(int, rng.integers(5, (60, 24, 9)[rank - 1], rank)))
        x = rng.integers(0, 3, shape)
        tile = tuple(int(rng.integers(extent // 2, extent + 1)) for extent in shape)
        settings = {
            "overlap": tuple(int(rng.integers(1, max(2, extent * 2 // 3))) for extent in tile),
            "tail": str(rng.choice(["shift", "pad", "partial"])),
            "join": ["touch", ("iou", 0.3), "share"][number % 3],
        }
        want = patchfold.merge_labels(bars, x, tile, progress=False, **settings)
        source = dask.array.from_array(x, chunks=tuple(int(rng.integers(2, extent + 1)) for extent in shape))
        chunks = tuple(int(rng.integers(extent // 3, extent + 1)) for extent in shape)
        with dask.config.set(scheduler="sync"):
            report = merge_labels(bars, source, tile, tmp_path / f"{number}.zarr", chunks=chunks, progress=False, **settings)
        np.testing.assert_array_equal(report.array[:], want, strict=True, err_msg=str((shape, tile, settings)))


def test_stores_are_read_and_written(tmp_path):
    store_of(tmp_path / "x.zarr", X, (32, 32))
    report = run(tmp_path / "y.zarr", source=str(tmp_path / "x.zarr"), batch=None, check=2)
    np.testing.assert_array_equal(report.array[:], WANT, strict=True)
    assert names(tmp_path) == ["x.zarr", *ALONE]
    assert report.computed == report.tiles == len(patchfold.Tiling(X.shape, TILE, overlap=OVERLAP))
    assert report.bytes_read == report.tiles * 48 * 32 and report.written == report.chunks == 16
    given = zarr.create_array(tmp_path / "z.zarr", shape=X.shape, dtype="int16", chunks=(20, 20), shards=(40, 40))
    assert run(given, batch=4, fn=stacked).array is given
    np.testing.assert_array_equal(given[:], WANT.astype(np.int16), strict=True)
    image = xarray.DataArray(X, dims=("y", "x"), coords={"y": np.arange(150) / 2}, name="cells")
    run(tmp_path / "d.zarr", source=image)
    found = xarray.open_zarr(tmp_path / "d.zarr", consolidated=False)["cells"]
    np.testing.assert_array_equal(found, WANT)
    assert found.dims == ("y", "x") and found.y[1] == 0.5


def stacked(tiles):
    return np.stack([bars(tile) for tile in tiles])


class Ended(Exception):
    """Raised to end a run."""


@pytest.mark.parametrize(("phase", "after"), [("tiles", 5), ("chunks", 3)])
def test_a_run_that_was_ended_goes_on(tmp_path, phase, after):
    calls, seen = [], []

    def counting(tile):
        calls.append(1)
        return bars(tile)

    def progress(done, wanted):
        seen.append((done, wanted))
        if done == after and (wanted == 16) == (phase == "chunks"):
            raise Ended

    tiles = len(patchfold.Tiling(X.shape, TILE, overlap=OVERLAP))
    assert tiles != 16
    with dask.config.set(scheduler="sync"):
        with pytest.raises(Ended):
            run(tmp_path / "y.zarr", counting, version="1", progress=progress)
        assert not (tmp_path / "y.zarr").exists()
        first = len(calls)
        report = run(tmp_path / "y.zarr", counting, version="1")
    assert first == 1 + (after if phase == "tiles" else tiles)  # one call finds the type
    assert len(calls) == tiles + 1 and report.computed == tiles - first + 1
    assert report.written == (16 if phase == "tiles" else 16 - after)
    np.testing.assert_array_equal(report.array[:], WANT, strict=True)
    assert names(tmp_path) == ALONE
    again = run(tmp_path / "y.zarr", counting, version="1")
    assert len(calls) == tiles + 1 and again.written == 0 and "finished before" in str(again)
    assert names(tmp_path) == ALONE


def test_a_process_that_is_killed_leaves_a_run_that_goes_on(tmp_path):
    program = f"""
import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
import numpy as np
from scale_functions import slow_bars
from patchfold.dask import merge_labels
x = np.load(sys.argv[2])
merge_labels(slow_bars, x, {TILE}, sys.argv[1], overlap={OVERLAP}, chunks=(40, 40), progress=False, version="bars")
"""
    np.save(tmp_path / "x.npy", X)
    process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "y.zarr"), str(tmp_path / "x.npy")])
    marks = tmp_path / "y.zarr.labels.patchfold" / "done"
    deadline = time.monotonic() + 100

    def done():
        return [path for path in marks.glob("*.*") if path.suffix != ".partial"]

    while len(done()) < 3 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.kill()
    process.wait()
    there = len(done())
    report = run(tmp_path / "y.zarr", version="bars")
    assert there >= 3 and report.computed == report.tiles - there
    np.testing.assert_array_equal(report.array[:], WANT, strict=True)
    assert names(tmp_path) == ["x.npy", *ALONE]


def test_workers_of_a_cluster_give_the_same_labels(tmp_path):
    distributed = pytest.importorskip("distributed")
    quiet = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**quiet) as cluster, distributed.Client(cluster) as client:
        report = run(tmp_path / "y.zarr", client=client)
    np.testing.assert_array_equal(report.array[:], WANT, strict=True)


@pytest.mark.parametrize(("changed", "says"), [
    ({"overlap": 0}, "dask.merge_labels: overlap: results of neighbouring tiles must share elements"),
    ({"join": "both"}, "dask.merge_labels: join: must be the name of a rule"),
    ({"chunks": (30, 40)}, "must be whole shards"),
    ({"dtype": "float32"}, "dask.merge_labels: dtype: must be a type of integers"),
    ({"out": zarr.create_array({}, shape=X.shape, dtype="uint32", chunks=(40, 40))}, "beside which the labels of tiles lie"),
    ({"fn": lambda tile: tile > 0}, "must hold the labels of objects as integers"),
    ({"fn": lambda tile: tile if np.array_equal(tile, X[:48, :32]) else tile[None]}, "must have the extents of the first"),
    ({"fn": lambda tile: np.arange(tile.size).reshape(tile.shape), "dtype": "uint8", "join": ("iou", 1)},
     "dask.merge_labels: dtype: must hold the labels of"),
])  # fmt: skip
def test_wrong_calls(tmp_path, changed, says):
    out = zarr.create_array(tmp_path / "z.zarr", shape=X.shape, dtype=changed.get("dtype", "uint32"), chunks=(40, 40))
    with pytest.raises((InvalidValue, patchfold.InvalidType)) as caught:
        run(**{"out": out} | changed)
    assert says in str(caught.value)


@pytest.mark.parametrize(("changed", "says"), [
    ({"join": "iou"}, "another merge"),
    ({"version": "2"}, "another function"),
    ({"overlap": 10}, "another tiling"),
    ({"dtype": "uint64"}, "another merge"),
])  # fmt: skip
def test_the_record_of_another_run_is_refused(tmp_path, changed, says):
    run(tmp_path / "y.zarr")
    with pytest.raises(InvalidValue, match=says):
        run(tmp_path / "y.zarr", **changed)
    assert names(tmp_path) == ALONE
    report = run(tmp_path / "y.zarr", overwrite=True, **changed)
    assert report.written == 16 and names(tmp_path) == ALONE


def test_an_existing_store_is_not_replaced(tmp_path):
    store_of(tmp_path / "y.zarr", X, (40, 40))
    calls = []
    with pytest.raises(InvalidValue, match="must not exist"):
        run(tmp_path / "y.zarr", lambda tile: calls.append(1) or bars(tile), version="1")
    assert not calls and names(tmp_path) == ["y.zarr"]

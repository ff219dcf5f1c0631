# SPDX-License-Identifier: Apache-2.0
"""Tests of stores that are written in whole chunks or shards, declared results, and limits of threads."""

import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import numpy as np
import patchfold
import pytest
import zarr
from patchfold import COG, InvalidType, InvalidValue, Merger, MergeSpec, OMEZarr, ResultType, Tiling, apply_tiled, merge_box

X = np.random.default_rng(0).random((2, 300, 200), np.float32)
T = Tiling(X.shape, (64, 64), overlap=16)


class Store:
    """An array that records the rows that are written. `axis` is the axis of rows."""

    def __init__(self, shape, dtype, axis=1, **attributes):
        self.array = np.zeros(shape, dtype)
        self.shape, self.dtype, self.axis, self.written = shape, np.dtype(dtype), axis, []
        self.__dict__.update(attributes)

    def __setitem__(self, key, rows):
        self.written.append((key[self.axis].start, key[self.axis].stop))
        self.array[key] = rows


def merged(out=None, **given):
    merger = Merger(T, out=out, **given)
    for i, tile in enumerate(T.split(X)):
        merger.add(i, tile * 2)
    return merger.finish(), merger.peak_bytes


@pytest.mark.parametrize(
    ("attributes", "rows"),
    [
        ({"chunks": (1, 50, 50)}, 50),
        ({"chunks": (1, 50, 50), "shards": (2, 150, 200)}, 150),
        ({"chunks": (1, 50, 50), "shards": None}, 50),
        ({"chunks": (2, 1000, 200)}, 1000),
        ({"chunks": (2, 7, 3)}, 7),
    ],
)
def test_each_chunk_or_shard_of_a_store_is_written_once(attributes, rows):
    store = Store(X.shape, "f4", **attributes)
    result, peak = merged(store)
    expected, _ = merged()
    assert result is store and np.array_equal(store.array, expected)
    written = [row // rows for start, stop in store.written for row in range(start, stop, rows)]
    assert written == list(range(-(-300 // rows)))
    assert all(start % rows == 0 and (stop % rows == 0 or stop == 300) for start, stop in store.written)
    assert peak == T.bytes("f4", sink=store).most
    assert T.bytes("f4", sink=store, spec=MergeSpec()) == T.bytes("f4", sink=store) != T.bytes("f4")


def test_stores_that_tell_no_chunks_get_rows_as_they_are_finished():
    for attributes in ({}, {"chunks": None}, {"chunks": "auto"}, {"chunks": (1.5, 2, 3)}, {"chunks": ((1, 1), (2,), (3,))}):
        store = Store(X.shape, "f4", **attributes)
        merged(store)
        assert store.written[0] == (0, 48) and np.array_equal(store.array, merged()[0])


def test_a_sharded_zarr_array_gets_each_shard_once(tmp_path):
    path = tmp_path / "y.zarr"
    array = zarr.create_array(str(path), shape=X.shape, dtype="f4", chunks=(1, 25, 25), shards=(2, 100, 100))
    times = {}

    class Watched:
        shape, dtype, shards, chunks = array.shape, array.dtype, array.shards, array.chunks

        def __setitem__(self, key, rows):
            before = {file: file.stat().st_mtime_ns for file in path.rglob("c/*/*/*")}
            array[key] = rows
            for file in path.rglob("c/*/*/*"):
                if before.get(file) != file.stat().st_mtime_ns:
                    times[file] = times.get(file, 0) + 1

    merged(Watched())
    assert len(times) == 6 and set(times.values()) == {1}
    assert np.array_equal(array[:], merged()[0])


def test_masks_gaps_and_memory_limits_of_merges_in_chunks():
    t = Tiling((100, 40), (10, 10), stride=(14, 9), tail="drop")
    mask = np.ones(t.grid, bool)
    mask[3:5] = False
    x = np.arange(4000.0).reshape(100, 40)
    spec = MergeSpec(fill=-1, mask=mask)

    def run(out, **given):
        merger = Merger(t, spec=spec, out=out, **given)
        for tile in t:
            if mask[tile.position]:
                merger.add(tile, t.cut(x, tile))
        return merger.finish()

    expected = run(None)
    store = Store((100, 40), "f8", axis=0, chunks=(33, 40))
    del store.dtype  # a store need not have a dtype
    need = t.bytes("f8", sink=store, spec=spec).most
    run(store, memory_limit=need)
    assert store.written[-1][1] == 100 and all(start % 33 == 0 for start, _ in store.written)
    assert np.array_equal(store.array, expected)
    with pytest.raises(MemoryError):
        run(store, memory_limit=need - 1)


def test_declared_results_are_checked_before_the_first_tile(tmp_path):
    facts = ResultType("float32")
    with pytest.raises(InvalidType, match="out: must have the element type of the output; given float64, expected float32"):
        Merger(T, out=Store(X.shape, "f8"), results=facts)
    with pytest.raises(InvalidValue, match="out: must have the shape of the output"):
        Merger(T, out=Store((3, 300, 200), "f4"), results=facts)
    with pytest.raises(InvalidType, match="must be ones for 64-bit integers"):
        Merger(T, window="hann", reduce="mean", results=ResultType("int64"))
    with pytest.raises(InvalidType, match="must be able to hold the element type"):
        Merger(T, out=tmp_path / "y.npy", results=ResultType("bfloat16"))
    with pytest.raises(InvalidType, match="results: must be a ResultType"):
        Merger(T, results="float32")
    assert list(tmp_path.iterdir()) == []
    with Merger(T, out=tmp_path / "y.npy", results=facts) as merger:
        assert len(list(tmp_path.iterdir())) == 1  # a temporary file that has the full size
        for i, tile in enumerate(T.split(X)):
            merger.add(i, tile)
    assert np.array_equal(np.load(tmp_path / "y.npy"), X)
    merger = Merger(T, results=facts)
    with pytest.raises(InvalidType, match="tile: must have the declared type; given float64, expected float32"):
        merger.add(0, T.cut(X, 0).astype("f8"))
    with pytest.raises(InvalidValue, match="tile: must have the declared extents"):
        merger.add(0, T.cut(X, 0)[:1])
    assert np.array_equal(merged(results=facts)[0], merged()[0])


def test_mergers_and_apply_tiled_take_a_spec():
    mask = np.ones(T.grid, bool)
    mask[0, 0] = False
    spec = MergeSpec(window="linear", dtype="float64", mask=mask, fill=-1)
    given = {"window": "linear", "dtype": "float64", "mask": mask, "fill": -1}

    def run(**more):
        return apply_tiled(np.sqrt, X, (64, 64), overlap=16, progress=False, **more)

    y = run(spec=spec)
    assert np.array_equal(y, run(**given)) and y.dtype == np.float64 and (y[:, :48, :48] == -1).all()
    assert "window='linear'" in repr(Merger(T, spec=spec))
    for call in (lambda: Merger(T, spec=spec, fill=0), lambda: run(spec=spec, fill=0), lambda: T.bytes(spec=spec, fill=0)):
        with pytest.raises(InvalidValue, match="merge: fill: must not be given beside a spec, which holds it; given 0"):
            call()
    with pytest.raises(InvalidType, match="merge: spec: must be a MergeSpec"):
        Merger(T, spec="hann")


def test_a_limit_of_threads_holds_in_its_block_and_its_thread():
    before = patchfold.get_num_threads()
    patchfold.set_num_threads(4)
    try:
        seen = {}
        with patchfold.thread_limit(3) as limit:
            assert patchfold.get_num_threads() == 3 and repr(limit) == "thread_limit(3)"
            with patchfold.thread_limit(8):
                assert patchfold.get_num_threads() == 3
            with patchfold.thread_limit(1), limit:
                assert patchfold.get_num_threads() == 1
                thread = threading.Thread(target=lambda: seen.update(other=patchfold.get_num_threads()))
                thread.start()
                thread.join()
            assert patchfold.get_num_threads() == 3
        assert patchfold.get_num_threads() == seen["other"] == 4
        with pytest.raises(ZeroDivisionError), patchfold.thread_limit(1):
            raise ZeroDivisionError
        assert patchfold.get_num_threads() == 4
    finally:
        patchfold.set_num_threads(0)
    assert patchfold.get_num_threads() == before


def test_results_do_not_depend_on_the_limit_of_threads():
    box = (slice(0, 300), slice(0, 200))
    pieces = {tile.index: T.cut(X, tile)[T.piece(tile, box)] for tile in T}
    expected, _ = merged()
    for threads in (1, 2, 5):
        assert np.array_equal(merged(threads=threads)[0], expected)
        assert np.array_equal(merge_box(T, None, box, pieces, threads=threads), merged()[0] / 2)
        assert np.array_equal(apply_tiled(lambda t: t * 2, X, 64, axes=(1, 2), overlap=16, threads=threads), expected)
        with patchfold.thread_limit(threads):
            assert np.array_equal(patchfold.unfold(X[None], (3, 3)), patchfold.unfold(X[None], (3, 3)))


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2", None])
def test_wrong_limits_are_refused(threads):
    with pytest.raises(patchfold.Error, match="^thread_limit: threads: "):
        patchfold.thread_limit(threads)
    if threads is not None:
        with pytest.raises(patchfold.Error, match="^merge: threads: "):
            Merger(T, threads=threads)
        with pytest.raises(patchfold.Error, match="^merge: threads: "):
            merge_box(T, None, (slice(0, 1), slice(0, 1)), {}, threads=threads)


KILLED = """
import os, signal, sys, numpy, patchfold
calls = []
def fn(tile):  # is called for a second tile when the output has begun
    calls.append(1)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return tile
make = {"cog": patchfold.COG, "zarr": patchfold.OMEZarr}.get(sys.argv[2], str)
patchfold.apply_tiled(fn, numpy.ones((80, 80), numpy.float32), (16, 16), overlap=4, out=make(sys.argv[1]))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="only POSIX systems kill processes by a signal")
@pytest.mark.parametrize(("name", "form"), [("y.npy", "npy"), ("y.tif", "tiff"), ("y.tif", "cog"), ("y.zarr", "zarr")])
def test_what_a_killed_process_left_is_removed_and_nothing_else(name, form, tmp_path):
    if form != "npy":
        pytest.importorskip({"tiff": "tifffile", "cog": "rasterio", "zarr": "zarr"}[form])
    out, folder = tmp_path / "out" / name, tmp_path / "out"
    folder.mkdir()
    x = np.random.default_rng(0).random((80, 80), np.float32)
    killed = subprocess.run([sys.executable, "-c", KILLED, out, form], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(folder.iterdir())) == 1
    run = partial(apply_tiled, x=x, tile=(16, 16), overlap=4, progress=False)
    calls = 0

    def beside(tile):
        """Makes the same output while this one is unfinished."""
        nonlocal calls
        calls += 1
        if calls == 2 and form != "zarr":  # an image that exists is refused
            assert len(list(folder.iterdir())) == 1
            run(lambda part: part, out=COG(out) if form == "cog" else out)
            assert len(list(folder.iterdir())) == 2
        return tile

    run(beside, out={"cog": COG, "zarr": OMEZarr}.get(form, Path)(out))
    assert [each.name for each in folder.iterdir()] == [name]
    if form == "npy":
        np.testing.assert_array_equal(np.load(out), x)

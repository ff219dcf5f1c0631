# SPDX-License-Identifier: Apache-2.0
"""Tests that interrupted runs can be continued, and that an incomplete store is marked as unfinished."""

import errno
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import dask
import numpy as np
import patchfold
import pytest
import zarr
from patchfold import InvalidValue
from patchfold.dask import apply_tiled
from scale_functions import blur, photo, store_of, twice
from zarr.storage import LocalStore

X = photo()
TILE, OVERLAP = (48, 32), 12
WANT = patchfold.apply_tiled(blur, X, TILE, overlap=OVERLAP, progress=False)


def run(fn=blur, out=None, source=X, overlap=OVERLAP, **settings):
    return apply_tiled(fn, source, TILE, overlap=overlap, out=out, **{"progress": False, "chunks": (40, 40)} | settings)


class Ended(Exception):
    """Raised to end a run."""


def ended_after(chunks):
    def progress(done, wanted):
        if done == chunks:
            raise Ended

    return progress


@pytest.mark.parametrize("given", [True, False])
def test_a_run_that_was_ended_computes_only_what_is_missing(tmp_path, given):
    out = tmp_path / "y.zarr"
    if given:
        out = zarr.create_array(out, shape=X.shape, dtype="float32", chunks=(3, 20, 20), shards=(3, 40, 40))
    with dask.config.set(scheduler="sync"), pytest.raises(Ended):
        run(out=out, progress=ended_after(6))
    assert (tmp_path / "y.zarr").exists() is given  # a new store gets its name only when it is complete
    begun = zarr.open_array(tmp_path / ("y.zarr" if given else "y.zarr.partial"))
    assert "patchfold_unfinished" in begun.attrs
    before = {path: path.stat().st_mtime_ns for path in Path(begun.store.root).rglob("c/*/*/*")}
    assert len(before) == 6

    calls = []

    def counting(tile):
        calls.append(1)
        return blur(tile)

    with dask.config.set(scheduler="sync"):
        run(counting, tmp_path / "whole.zarr", version="the same")
        whole = len(calls)
        report = run(out=out)
    assert (report.written, report.chunks) == (len(WANT[0]) // 40 * 4 + 4 - 6, 16)
    assert report.computed < whole
    assert report.array[:].tobytes() == WANT.tobytes()
    assert "patchfold_unfinished" not in report.array.attrs
    after = {path: path.stat().st_mtime_ns for path in Path(report.array.store.root).rglob("c/*/*/*")}
    assert len(after) == 16
    assert all(after[Path(str(path).replace(".partial", ""))] == when for path, when in before.items())

    calls.clear()
    again = run(out=out)
    assert again.written == again.computed == 0 and "finished before" in str(again) and not calls
    assert again.array[:].tobytes() == WANT.tobytes()


def test_a_process_that_is_killed_leaves_a_run_that_goes_on(tmp_path):
    program = f"""
import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
from scale_functions import photo, slow_blur
from patchfold.dask import apply_tiled
apply_tiled(slow_blur, photo(), {TILE}, overlap={OVERLAP}, out=sys.argv[1], chunks=(40, 40), progress=False, version="blur")
"""
    out = tmp_path / "y.zarr"
    process = subprocess.Popen([sys.executable, "-c", program, str(out)])
    marks = tmp_path / "y.zarr.patchfold" / "done"
    deadline = time.monotonic() + 100

    def done_chunks():
        return [path for path in marks.glob("*.*") if path.suffix != ".partial"]

    while len(done_chunks()) < 3 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.kill()
    process.wait()
    assert not out.exists() and (tmp_path / "y.zarr.partial").exists()
    done = len(done_chunks())
    report = run(out=out, version="blur")
    assert done >= 3 and report.written == 16 - done
    assert report.array[:].tobytes() == WANT.tobytes() and not (tmp_path / "y.zarr.partial").exists()


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"fn": twice}, "another function"),
        ({"version": "2"}, "another function: version"),
        ({"overlap": 10}, "another tiling: stride"),
        ({"reduce": "center"}, "another merge"),
        ({"source": X + 1}, "another source"),
        ({"chunks": (20, 40)}, "another chunks"),
    ],
)
def test_the_record_of_another_run_is_refused(tmp_path, changed, says):
    run(out=tmp_path / "y.zarr")
    with pytest.raises(InvalidValue) as caught:
        run(out=tmp_path / "y.zarr", **changed)
    assert f"out: belongs to a run with {says}" in str(caught.value) and "overwrite=True" in str(caught.value)
    assert zarr.open_array(tmp_path / "y.zarr")[:].tobytes() == WANT.tobytes()
    run(out=tmp_path / "y.zarr", overwrite=True, **changed)
    assert run(out=tmp_path / "y.zarr", **changed).written == 0


def test_a_store_without_a_record_is_never_touched(tmp_path):
    store_of(tmp_path / "y.zarr", X)
    with pytest.raises(InvalidValue, match="out: must not exist, unless a run that is recorded beside it began it"):
        run(out=tmp_path / "y.zarr")
    assert np.array_equal(zarr.open_array(tmp_path / "y.zarr")[:], X)
    (tmp_path / "z.zarr.patchfold").mkdir()
    (tmp_path / "z.zarr.patchfold" / "manifest.json").write_text("{", encoding="utf-8")
    with pytest.raises(InvalidValue, match="out: has a manifest that cannot be read"):
        run(out=tmp_path / "z.zarr")


def test_a_store_that_somebody_removed_is_made_again(tmp_path):
    first = run(out=tmp_path / "y.zarr")
    first.array.store.root.rename(tmp_path / "elsewhere")
    assert run(out=tmp_path / "y.zarr").written == 16


@pytest.mark.parametrize(("chunks", "axis"), [((40, 60), 2), ((50, 40), 1), ((20, 20), 1)])
def test_chunks_that_are_not_whole_shards_are_refused(tmp_path, chunks, axis):
    target = zarr.create_array(tmp_path / "y.zarr", shape=X.shape, dtype="float32", chunks=(3, 20, 20), shards=(3, 40, 40))
    with pytest.raises(InvalidValue, match=f"chunks: must be whole shards of out.*along axis {axis}.*a multiple of 40"):
        run(out=target, chunks=chunks)
    assert not target.nchunks_initialized and not (tmp_path / "y.zarr.patchfold").exists()
    assert run(out=target, chunks=(80, 40)).array[:].tobytes() == WANT.tobytes()


def test_a_store_that_cannot_hold_the_result_is_refused_before_work(tmp_path):
    for shape, dtype, says in (((3, 150, 131), "float32", "the shape"), (X.shape, "float64", "the element type")):
        target = zarr.create_array(tmp_path / dtype, shape=shape, dtype=dtype, chunks=(3, 40, 40))
        with pytest.raises(InvalidValue, match=f"out: must have {says} of the result"):
            run(out=target)
    target = zarr.open_array(tmp_path / "float64", mode="r")
    with pytest.raises(InvalidValue, match="out: must be open for writing"):
        run(out=target)


class Full(LocalStore):
    """A store on a disk that becomes full after `room` files of chunks."""

    room = 5

    async def set(self, key, value):
        if "/c/" in f"/{key}":
            if not Full.room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), key)
            Full.room -= 1
        await super().set(key, value)


def test_a_full_disk_leaves_a_run_that_goes_on(tmp_path):
    Full.room = 5
    target = zarr.create_array(Full(tmp_path / "y.zarr"), shape=X.shape, dtype="float32", chunks=(3, 40, 40))
    with dask.config.set(scheduler="sync"), pytest.raises(OSError, match="No space left on device") as caught:
        run(out=target)
    if sys.version_info >= (3, 11):
        assert "5 of 16 chunks that were missing are written" in " ".join(caught.value.__notes__)
    assert "patchfold_unfinished" in zarr.open_array(tmp_path / "y.zarr").attrs
    Full.room = 100
    report = run(out=target)
    assert report.written == 11 and target[:].tobytes() == WANT.tobytes()


def test_stores_in_memory_are_for_one_process(tmp_path):
    target = zarr.create_array({}, shape=X.shape, dtype="float32", chunks=(3, 40, 40))
    assert run(out=target).written == 16 and target[:].tobytes() == WANT.tobytes()
    with dask.config.set(scheduler="processes"), pytest.raises(InvalidValue, match="a store that every worker can open"):
        run(out=target)


def test_a_report_counts(tmp_path):
    report = run(out=tmp_path / "y.zarr")
    tiling = patchfold.Tiling(X.shape, TILE, overlap=OVERLAP)
    assert (report.tiles, report.computed, report.recomputed) == (len(tiling), len(tiling), 0)
    assert report.bytes_read == len(tiling) * 3 * 48 * 32 * 4 and report.bytes_written == X.nbytes
    assert str(report).splitlines()[:2] == [
        f"{tmp_path / 'y.zarr'}: 16 chunks written",
        f"tiles: {len(tiling)} of {len(tiling)} needed, 0 computed again",
    ]
    assert 2 * WANT[:, :48].nbytes < report.worker_bytes - 2**25 < 6 * WANT.nbytes
    record = json.loads((tmp_path / "y.zarr.patchfold" / "manifest.json").read_text(encoding="utf-8"))
    assert {"tiling", "merge", "function", "source"} <= set(record)


def test_the_store_of_the_source_is_no_output(tmp_path, monkeypatch):
    source = store_of(tmp_path / "x.zarr", X)
    monkeypatch.chdir(tmp_path)
    for out in (zarr.open_array(tmp_path / "x.zarr", mode="r+"), zarr.open_array("x.zarr", mode="r+"), "x.zarr"):
        with pytest.raises(InvalidValue, match="dask.apply_tiled: out: must not be the file or the store of x"):
            apply_tiled(blur, source, TILE, overlap=OVERLAP, out=out, overwrite=True, progress=False)
    assert np.array_equal(source[:], X)

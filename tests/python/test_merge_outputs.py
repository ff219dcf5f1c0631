# SPDX-License-Identifier: Apache-2.0
"""Tests of a merger's outputs, threads and memory: waiting, borrowed and copied tiles."""

import os
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import patchfold
import pytest
from patchfold import InvalidValue
from test_apply_tiled import NOTES, T, X, fill


def test_tiff_files(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    patchfold.apply_tiled(np.sin, X, (16, 12), overlap=4, out=tmp_path / "y.tif", progress=False)
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "y.tif"), np.sin(X))
    assert os.listdir(tmp_path) == ["y.tif"]


@pytest.mark.parametrize(("shape", "dtype"), [((8,), np.float32), ((8, 8), np.longdouble), ((8, 8), bool)])
def test_what_is_no_picture_is_refused_before_there_is_a_file(tmp_path, shape, dtype):
    pytest.importorskip("tifffile")
    tiling = patchfold.Tiling(shape, (4,) * len(shape), overlap=0)
    merger = patchfold.Merger(tiling, reduce="first", out=tmp_path / "y.tif")
    with pytest.raises(patchfold.Error, match="merge: out: "):
        merger.add(0, np.zeros(tiling[0].shape, dtype))
    assert os.listdir(tmp_path) == []


def test_nothing_is_left_after_close():
    merger = patchfold.Merger(T)
    merger.add(0, T.cut(X, 0))
    merger.close()
    for call, rule in (
        (merger.finish, "nothing is left to finish"),
        (lambda: merger.add(1, T.cut(X, 1)), "no tile is taken"),
    ):
        with pytest.raises(InvalidValue, match=f"{rule} after close"):
            call()


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "y.npy").mkdir()
    with pytest.raises(InvalidValue, match="merge: out: must not be a folder"):
        patchfold.Merger(T, out=tmp_path / "y.npy")


def test_a_file_whose_name_is_as_long_as_can_be(tmp_path):
    path = tmp_path / ("é" * 125 + ".npy")
    merger = patchfold.Merger(T, out=path)
    fill(merger)
    np.testing.assert_array_equal(merger.finish(), X)
    assert os.listdir(tmp_path) == [path.name]


def test_a_file_that_cannot_be_begun_leaves_nothing(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    merger = patchfold.Merger(T, out=tmp_path / "y.npy")
    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full)
        with pytest.raises(OSError, match="No space left"):
            merger.add(0, T.cut(X, 0))
    assert os.listdir(tmp_path) == []
    fill(merger)
    np.testing.assert_array_equal(merger.finish(), X)


def test_a_long_name_is_not_cut_within_a_character(tmp_path):
    path = tmp_path / f"n{'ö' * 110}.npy"  # in UTF-8 one byte, and two for each ö
    merger = patchfold.Merger(T, out=path)
    merger.add(0, T.cut(X, 0))
    assert [name.encode().decode() for name in os.listdir(tmp_path)] != []
    merger.close()
    assert os.listdir(tmp_path) == []


def test_a_finished_file_has_its_own_name(tmp_path):
    y = patchfold.apply_tiled(np.sin, X, (16, 12), overlap=4, out=tmp_path / "y.npy", progress=False)
    assert y.filename == tmp_path / "y.npy"
    z = np.lib.format.open_memmap(tmp_path / "z.npy", "w+", y.dtype, y.shape)
    patchfold.apply_tiled(np.cos, y, (16, 12), overlap=4, out=z, progress=False)
    np.testing.assert_array_equal(z, np.cos(np.sin(X)))
    with pytest.raises(InvalidValue, match="out: must not be the file or the store of x"):
        again = np.load(tmp_path / "y.npy", mmap_mode="r+")
        patchfold.apply_tiled(np.cos, y, (16, 12), overlap=4, out=again, progress=False)
    (tmp_path / "y.npy").unlink()
    patchfold.apply_tiled(np.cos, y, (16, 12), overlap=4, out=z, progress=False)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_leaves_the_unfinished_file(tmp_path):
    merger = patchfold.Merger(T, out=tmp_path / "y.npy")
    merger.add(0, T.cut(X, 0))
    child = os.fork()
    if child == 0:
        merger.close()
        os._exit(0)
    os.waitpid(child, 0)
    for index in range(1, len(T)):
        merger.add(index, T.cut(X, index))
    np.testing.assert_array_equal(merger.finish(), X)


@pytest.mark.parametrize("axes", [(0, 1), (1, 2), (0, 2)])
def test_rows_go_to_a_function_in_order(axes):
    tiling = patchfold.Tiling(X.shape, (2, 12), overlap=1, axes=axes)
    rows, bands = [], []
    order = np.random.default_rng(0).permutation(len(tiling))
    merger = patchfold.Merger(tiling, out=lambda where, band: (rows.append(where), bands.append(band)))
    for index in order:
        merger.add(int(index), tiling.cut(X, int(index)))
    assert merger.finish() is None and merger.finish() is None
    assert rows[0].start == 0 and rows[-1].stop == X.shape[axes[0]]
    assert [each.stop for each in rows[:-1]] == [each.start for each in rows[1:]]
    np.testing.assert_array_equal(np.concatenate(bands, axes[0]), X, strict=True)


def test_a_sink_that_fails(tmp_path):
    calls = []

    def sink(rows, band):
        calls.append(rows)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")

    merger = patchfold.Merger(T, out=sink)
    with pytest.raises(OSError, match="No space") as caught:
        fill(merger)
    if NOTES:
        assert caught.value.__notes__ == [
            "patchfold: merge: tile 9 at position (1, 4): while writing rows 12 to 16 of the output"
        ]
    for call in (lambda: merger.add(10, T.cut(X, 10)), merger.finish):
        with pytest.raises(InvalidValue, match="merger has failed; given tile 9 failed: the output could not be written"):
            call()
    assert len(calls) == 2


def test_a_sink_must_not_call_its_merger():
    def sink(rows, band):
        merger.add(5, band)

    merger = patchfold.Merger(T, out=sink)
    with pytest.raises(InvalidValue, match="merge: out: must not call the merger that writes to it"):
        fill(merger)
    for call in ("finish", "close"):
        merger = patchfold.Merger(T, out=lambda rows, band: getattr(merger, call)())  # noqa: B023
        with pytest.raises(InvalidValue, match="must not call the merger"):
            fill(merger)


def test_the_lock_of_the_interpreter_is_free_meanwhile():
    tiling = patchfold.Tiling((6000, 3000), (6000, 2000), stride=(6000, 1000))
    tiles = [np.full(tile.result_shape, float(tile.index)) for tile in tiling]
    for _ in range(100):  # repeated, since a busy machine may run the other thread too late
        merger = patchfold.Merger(tiling, window="linear")
        merger.add(0, tiles[0])
        times, stop = [], threading.Event()

        def tell_time(times=times, stop=stop):
            while not stop.is_set():
                times.append(time.perf_counter())
                time.sleep(1e-4)

        thread = threading.Thread(target=tell_time)
        thread.start()
        begin = time.perf_counter()
        merger.add(1, tiles[1])
        end = time.perf_counter()
        stop.set()
        thread.join()
        if any(begin + (end - begin) / 4 < each < end - (end - begin) / 4 for each in times):
            return
    pytest.fail("no other thread ran while tiles were merged")


def test_a_borrowed_tile_is_released_as_soon_as_it_is_not_needed():
    tiling = patchfold.Tiling((10, 4), (4, 4), overlap=(1, 0))

    class Watched(np.ndarray):
        pass

    merger = patchfold.Merger(tiling)
    released = []
    for index in range(3):
        tile = np.ones((4, 4)).view(Watched)
        weakref.finalize(tile, released.append, index)
        merger.add(index, tile)
        del tile
        assert released == list(range(index if index < 2 else 3))
    assert (merger.finish() == 1).all()
    kept = np.ones((4, 4)).view(Watched)
    alive = weakref.ref(kept)
    merger = patchfold.Merger(tiling)
    merger.add(0, kept)
    del kept
    assert alive() is not None
    del merger
    assert alive() is None


@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("to_sink", [False, True])
@pytest.mark.parametrize("arguments", [{}, {"reduce": "center"}, {"reduce": "first"}, {"dtype": "float64"}])
def test_peak_bytes_are_what_was_announced(copies, to_sink, arguments):
    announced = T.bytes(np.float32, copy=copies, sink=to_sink, **arguments)
    merger = patchfold.Merger(T, copy=copies, out=(lambda rows, band: None) if to_sink else None, **arguments)
    most = 0
    for index, tile in enumerate(T.split(X)):
        merger.add(index, tile)
        most = max(most, merger.waiting_bytes)
    merger.finish()
    assert merger.peak_bytes == announced.most >= most and merger.waiting_bytes == 0
    assert announced.rows == (0 if not to_sink else announced.rows) and (announced.rows > 0) == to_sink


@pytest.mark.parametrize("copies", ["sum", "sum48"])
@pytest.mark.parametrize("to_sink", [False, True])
@pytest.mark.parametrize("is_array", [False, True])
@pytest.mark.parametrize("overlap", [0.25, 0.5, 0.75])
@pytest.mark.parametrize(
    ("classes", "volume", "roi"), [(2, (24, 24, 24), 4), (2, (24, 24, 24), 12), (14, (20, 20, 20), 12), (5, (65, 64), 8)]
)
def test_the_forecast_holds_for_running_sums_of_every_grid(classes, volume, roi, overlap, is_array, to_sink, copies):
    window = np.hanning(roi + 2)[1:-1]
    for _ in volume[1:]:
        window = np.multiply.outer(window, np.hanning(roi + 2)[1:-1])
    window = window if is_array else "ones"
    axes = tuple(range(-len(volume), 0))
    tiling = patchfold.Tiling((classes, *volume), (roi,) * len(volume), overlap=overlap, axes=axes)
    announced = tiling.bytes("float32", copy=copies, window=window, sink=to_sink)
    x = np.random.default_rng(0).random((classes, *volume), np.float32)
    merger = patchfold.Merger(tiling, copy=copies, window=window, out=(lambda rows, band: None) if to_sink else None)
    for index, tile in enumerate(tiling.split(x)):
        merger.add(index, tile * (index + 1))
    merger.finish()
    assert merger.peak_bytes == announced.most
    if not to_sink and copies == "sum":  # not more than the lower halves of all sums, and one inverse of a sum of weights
        assert announced.most <= x.nbytes + (8 * x[0].size if is_array else 0)
    elif not to_sink:
        assert announced.most <= x.nbytes / 2


def to_48_bits(sums):
    """Returns float64 numbers, rounded to their upper 48 bits."""
    bits = sums.view(np.uint64)
    return ((bits + np.uint64(0x7FFF) + (bits >> np.uint64(16) & np.uint64(1))) & ~np.uint64(0xFFFF)).view(np.float64)


@pytest.mark.parametrize("in_order", [True, False])
def test_sums_of_48_bits_are_those_of_a_model(in_order):
    rng = np.random.default_rng(8)
    window = rng.uniform(0.001, 1, (9, 7, 8))
    tiling = patchfold.Tiling((2, 21, 16, 19), window.shape, stride=(4, 3, 5), axes=(1, 2, 3))
    tiles = [rng.normal(size=tile.result_shape).astype(np.float32) for tile in tiling]
    merger = patchfold.Merger(tiling, copy="sum48", window=window)
    for index in range(len(tiling)) if in_order else rng.permutation(len(tiling)):
        merger.add(int(index), tiles[index])
    missing = np.broadcast_to(tiling.coverage(), (2, 21, 16, 19)).copy()
    single = missing == 1
    sums, weights = np.zeros(missing.shape), np.zeros(missing.shape)
    for tile, result in zip(tiling, tiles, strict=True):
        place = tile.write
        missing[place] -= 1
        added = sums[place] + result * window
        sums[place] = np.where((missing[place] == 0) | (weights[place] == 0), added, to_48_bits(added))
        weights[place] += window
    model = (sums * (1 / weights)).astype(np.float32)
    made = merger.finish()
    assert (made[~single] == model[~single]).all()
    np.testing.assert_allclose(made, sums / weights, rtol=1e-6, atol=1e-7)


def test_memory_limit():
    need = T.bytes("float32").most
    with pytest.raises(MemoryError) as caught:
        fill(patchfold.Merger(T, memory_limit=need - 1))
    assert str(caught.value) == (
        "merge: memory_limit: must be at least what a merge of tiles in order needs; "
        f"given {need - 1}, expected at least {need} bytes"
    )
    merger = patchfold.Merger(T, memory_limit=need)
    fill(merger)
    np.testing.assert_array_equal(merger.finish(), X)
    merger = patchfold.Merger(T, memory_limit=need)
    refused = 0
    for index in range(len(T)):
        for early in range(index + 2, len(T), 3):  # tiles that come early must leave room for the next tile in order
            try:
                merger.add(early, T.cut(X, early))
            except MemoryError as error:
                assert f"tile {early} at position {T[early].position}: comes too early" in str(error)
                refused += 1
            except ValueError as error:
                assert "must not come twice" in str(error)
        try:
            merger.add(index, T.cut(X, index))
        except ValueError as error:
            assert "must not come twice" in str(error)
    assert refused > 0 and merger.peak_bytes <= need
    np.testing.assert_array_equal(merger.finish(), X)


# peak() returns kilobytes. getrusage would count the peak of the parent process, too.
PEAK = """
def peak():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
"""


def run_alone(code):
    """Runs code in a process of its own, and returns by how many MiB the peak of this process grows."""
    script = f"import numpy as np, patchfold\n{PEAK}\n{code}\nprint((peak() - before) / 1024)"
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(Path(patchfold.__file__).parents[1])]))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True)
    return float(done.stdout)


def test_rows_that_leave_need_little_memory():
    """Merges a picture of 100 MiB to a function, and checks that the whole picture is never in memory."""
    grown = run_alone("""
patchfold.set_num_threads(2)
tiling = patchfold.Tiling((51200, 512), (512, 512), overlap=64)
total = [0]
def sink(rows, band):
    total[0] += int(band.sum())
def run(tiling, last):
    merger = patchfold.Merger(tiling, out=sink, copy=True)
    for tile in tiling:
        if tile.index == last:
            return
        merger.add(tile, np.ones(tile.result_shape, np.float32))
    merger.finish()
run(tiling, 3)
total[0] = 0
before = peak()
run(tiling, None)
assert total[0] == 51200 * 512
""")
    assert grown < 20


def test_a_forked_process_cuts_tiles():
    """Cuts tiles in a forked process, as a torch DataLoader does, without the threads of the parent."""
    run_alone("""
import os
tiling = patchfold.Tiling((3000, 3000), (2048, 2048), overlap=64)
x = np.ones((3000, 3000), np.float32)
for tile in tiling.split(x):
    pass
child = os.fork()
if child == 0:
    os._exit(0 if all(tile.all() for tile in tiling.split(x)) else 1)
before = 0
assert os.waitpid(child, 0)[1] == 0
""")

# SPDX-License-Identifier: Apache-2.0
"""Tests of tiles that are read ahead, and of functions that several threads call."""

import contextvars
import signal
import threading

import numpy as np
import patchfold
import pytest
from patchfold import InvalidType, InvalidValue, Tiling

X = np.random.default_rng(0).random((2, 90, 70), np.float32)
TILE, OVERLAP = (24, 20), 8
T = Tiling(X.shape, TILE, overlap=OVERLAP)
LONG = 20.0
"""Seconds after which a test gives up."""


def apply(fn, x, **given):
    return patchfold.apply_tiled(fn, x, TILE, overlap=OVERLAP, **{"progress": False} | given)


class Busy:
    """A thing that only one thread at a time may use."""

    def __init__(self):
        self.lock = threading.Lock()

    def __enter__(self):
        assert self.lock.acquire(blocking=False), "two threads use it at once"

    def __exit__(self, *error):
        self.lock.release()


class Store:
    """An array behind slices. `before(number)` is called before read `number`."""

    def __init__(self, array, before=lambda number: None, busy=None):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        self.before, self.busy, self.threads, self.reads = before, busy or Busy(), set(), 0

    def __getitem__(self, where):
        with self.busy:
            self.threads.add(threading.current_thread().name)
            self.before(self.reads)
            self.reads += 1
            return self.array[where]

    def __setitem__(self, where, values):
        with self.busy:
            self.array[where] = values


def waits(event):
    assert event.wait(LONG), "what the test waits for does not happen"


def no_threads_are_left():
    """Waits for threads that end: an interrupt may leave one that has nothing to do any more."""
    for thread in threading.enumerate():
        if thread.name.startswith("patchfold") and thread.ident is not None:  # an interrupt may keep one from starting
            thread.join(LONG)
            assert not thread.is_alive()
    return True


@pytest.mark.parametrize("workers", [None, 1])
def test_the_next_tile_is_read_while_the_function_runs(workers):
    reads = [threading.Event() for _ in range(len(T) + 1)]
    reads[len(T)].set()
    most, calls, callers = [], [], set()

    def fn(tile):
        callers.add(threading.current_thread())
        waits(reads[len(calls) + 1])  # of the next tile
        most.append(sum(event.is_set() for event in reads[:-1]) - len(calls))
        calls.append(1)
        return tile * 2

    store = Store(X, lambda number: reads[number].set())
    y = apply(fn, store, workers=workers)
    np.testing.assert_array_equal(y, X * 2, strict=True)
    assert max(most) == 2 and len(calls) == len(T)
    assert store.threads == {"patchfold-read_0"} and len(callers) == 1
    assert (threading.current_thread() in callers) == (workers is None)
    assert no_threads_are_left()


def test_workers_call_the_function_at_the_same_time():
    both = threading.Barrier(2, timeout=LONG)
    in_work, most = [], []

    def fn(tile):
        in_work.append(1)
        most.append(len(in_work))
        both.wait()
        in_work.pop()
        return np.sqrt(tile)

    mask = np.ones(T.grid, bool)
    mask.flat[-1] = len(T) % 2 == 0  # an even number of tiles, so that each has a partner
    for x in (X, Store(X)):
        y = apply(fn, x, workers=2, mask=mask, fill=0)
        np.testing.assert_array_equal(y, apply(np.sqrt, X, mask=mask, fill=0), strict=True)
    assert set(most) == {1, 2} and no_threads_are_left()


def test_without_workers_and_with_0_nothing_calls_the_function_twice_at_once():
    """Reads, calls and writes would be noticed if any of them ran beside another one that it must not run beside."""
    of_fn, of_file = Busy(), Busy()

    def fn(tile):
        with of_fn:
            return tile + 1

    for workers, threads in ((None, {"patchfold-read_0"}), (0, {threading.current_thread().name})):
        source, out = Store(X, busy=of_file), Store(np.zeros_like(X), busy=of_file)
        assert apply(fn, source, out=out, workers=workers) is out
        np.testing.assert_array_equal(out.array, X + 1)
        assert source.threads == threads
    source, out = Store(X, busy=of_file), Store(np.zeros_like(X), busy=of_file)
    apply(lambda tile: tile + 1, source, out=out, workers=3)
    np.testing.assert_array_equal(out.array, X + 1)


def test_stores_that_take_several_threads_are_read_at_the_same_time():
    both = threading.Barrier(2, timeout=LONG)
    reads = []

    class OfZarr:
        __module__ = "zarr.core"
        shape, dtype = X.shape, X.dtype

        def __getitem__(self, where):
            reads.append(1)
            if len(reads) <= 2:  # later reads may wait for a merge, which waits for reads
                both.wait()
            return X[where]

    np.testing.assert_array_equal(apply(np.sqrt, OfZarr(), workers=2), np.sqrt(X), strict=True)


def test_arrays_of_zarr_and_dask_in_several_threads():
    zarr = pytest.importorskip("zarr")
    x, out = (zarr.create_array(store={}, shape=X.shape, chunks=(1, 16, 16), dtype="float32") for _ in range(2))
    x[...] = X
    assert apply(np.sqrt, x, workers=3, out=out) is out
    np.testing.assert_array_equal(out[...], np.sqrt(X))
    lazy = pytest.importorskip("dask.array").from_array(X, chunks=(1, 16, 16))
    np.testing.assert_array_equal(apply(np.sqrt, lazy, workers=3), np.sqrt(X), strict=True)


def test_arrays_are_cut_in_the_calling_thread():
    before = threading.active_count()
    seen = []
    apply(lambda tile: seen.append(threading.active_count()) or tile, X)
    assert set(seen) == {before}


@pytest.mark.parametrize("reduce", ["mean", "max", "first", "last", "center"])
@pytest.mark.parametrize(
    "given", [{}, {"batch": 3}, {"tail": "partial", "batch": 4}, {"tail": "pad", "padding_mode": "reflect"}]
)
def test_the_bits_do_not_depend_on_workers(reduce, given):
    rng = np.random.default_rng(1)
    noise = rng.random(256, np.float32)

    def fn(tile):  # differs from tile to tile
        return tile * noise[int(tile.ravel()[0] * 255)], tile.argmax(-3).astype(np.uint8)

    expected = apply(fn, X, workers=0, reduce=reduce, **given)
    for workers in (None, 1, 4):
        for x in (X, Store(X)):
            for one, other in zip(apply(fn, x, workers=workers, reduce=reduce, **given), expected, strict=True):
                np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.parametrize("workers", [None, 0, 1, 3])
def test_the_first_error_in_order_comes_out_and_nothing_runs_on(workers):
    calls = []

    def number_of(tile):
        return next(each.index for each in T if np.array_equal(X[each.read], tile))

    def fn(tile):
        number = number_of(tile)
        calls.append(number)
        if number in (4, 5):
            raise ZeroDivisionError(number)
        return tile

    progress = []
    with pytest.raises(ZeroDivisionError) as caught:
        apply(fn, Store(X), workers=workers, progress=lambda *numbers: progress.append(numbers))
    assert caught.value.args == (4,) and progress == [(i + 1, len(T)) for i in range(4)]
    assert "tile 4 at position" in caught.value.__notes__[0]
    after = len(calls)
    assert after <= 5 + 2 * (workers or 0) and no_threads_are_left() and len(calls) == after

    def broken(number):
        if number >= 3:
            raise OSError(number)

    done = []
    with pytest.raises(OSError, match="3") as caught:
        apply(lambda tile: done.append(1) or tile, Store(X, broken), workers=workers)
    assert len(done) == 3 and "tile 3 at position" in caught.value.__notes__[0] and no_threads_are_left()
    with pytest.raises(InvalidValue, match="must have the shape of the tile's result"):
        apply(lambda tile: tile[:, 1:], Store(X), workers=workers)

    def full(rows, band):
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        apply(lambda tile: tile, Store(X), workers=workers, out=full)
    assert no_threads_are_left()


@pytest.mark.parametrize("workers", [None, 2])
def test_an_interrupt_ends_all_threads(workers, tmp_path, interrupts):
    calls = []

    def fn(tile):
        calls.append(1)
        if len(calls) == 3:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        return tile

    with pytest.raises(KeyboardInterrupt):
        apply(fn, Store(X), workers=workers, out=tmp_path / "y.npy")
    after = len(calls)
    assert 3 <= after <= 3 + 2 * (workers or 0)
    assert no_threads_are_left() and len(calls) == after and list(tmp_path.iterdir()) == []
    np.testing.assert_array_equal(apply(np.sqrt, Store(X), workers=workers), np.sqrt(X))


def test_progress_is_told_in_order_by_the_calling_thread():
    told = []

    def progress(done, count):
        told.append((done, count, threading.current_thread() is threading.main_thread()))

    apply(np.sqrt, Store(X), workers=3, batch=2, progress=progress)
    assert [each[0] for each in told] == sorted({*range(2, len(T), 2), len(T)})
    assert {each[1:] for each in told} == {(len(T), True)}


def test_workers_have_the_settings_of_the_calling_thread():
    variable = contextvars.ContextVar("variable")
    variable.set("of the caller")
    seen = []

    def fn(tile):
        seen.append((variable.get(), patchfold.get_num_threads(), np.geterr()["divide"]))
        return tile

    with patchfold.thread_limit(1), np.errstate(divide="raise"):
        apply(fn, Store(X), workers=2)
    assert set(seen) == {("of the caller", 1, "raise")}


def test_workers_have_the_modes_of_torch_of_the_calling_thread():
    torch = pytest.importorskip("torch")
    seen = []

    def fn(tile):
        modes = torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu")
        seen.append((*modes, torch.get_autocast_dtype("cpu")))
        return tile * torch.ones((), requires_grad=True)

    x = torch.from_numpy(X)
    for mode, expected in (
        (torch.no_grad(), (False, False, False, torch.bfloat16)),
        (torch.inference_mode(), (False, True, False, torch.bfloat16)),
    ):
        with mode:
            apply(fn, x, workers=2)
        assert set(seen) == {expected}
        seen.clear()
    with torch.no_grad(), torch.autocast("cpu", torch.float16):
        apply(fn, x, workers=2)
    assert set(seen) == {(False, False, True, torch.float16)}
    with pytest.raises(InvalidType, match="grad"):
        apply(fn, x, workers=2)


def test_a_store_that_one_thread_may_use():
    mine = threading.current_thread()

    def check(number):
        if threading.current_thread() is not mine:
            raise RuntimeError("opened by another thread")

    with pytest.raises(RuntimeError, match="opened by another thread"):
        apply(np.sqrt, Store(X, check))
    np.testing.assert_array_equal(apply(np.sqrt, Store(X, check), workers=0), np.sqrt(X))


def test_labels_of_objects_with_workers():
    x = (X[0] > 0.5).astype(np.uint8)

    def runs(tile):
        return np.cumsum(np.diff(tile.astype(int), prepend=0, axis=1) == 1).reshape(tile.shape) * tile

    expected = patchfold.merge_labels(runs, x, TILE, overlap=OVERLAP, progress=False)
    for workers in (0, 1, 3):
        y = patchfold.merge_labels(runs, x, TILE, overlap=OVERLAP, progress=False, workers=workers)
        np.testing.assert_array_equal(y, expected, strict=True)


def test_wrong_numbers_of_workers():
    for workers, error in (
        (-1, InvalidValue),
        (1025, InvalidValue),
        (2**70, InvalidValue),
        (1.5, InvalidType),
        (True, InvalidType),
    ):
        with pytest.raises(error, match="^apply_tiled: workers: must be"):
            apply(np.sqrt, X, workers=workers)
        with pytest.raises(error, match="^merge_labels: workers: must be"):
            patchfold.merge_labels(np.sqrt, X, TILE, overlap=OVERLAP, workers=workers)

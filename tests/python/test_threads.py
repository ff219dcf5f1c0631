# SPDX-License-Identifier: Apache-2.0
"""Tests of calls from many threads at once, in forked processes, and while the interpreter ends."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import patchfold
import pytest

SECONDS = 100  # far more than any of these processes needs

ROOT = Path(patchfold.__file__).parents[1]


@pytest.fixture
def run_alone(tmp_path):
    """Returns a function that runs code in a new process. The code is in a file, since spawned processes read it again."""

    def run(code):
        script = tmp_path / "script.py"
        script.write_text(code)
        done = subprocess.run(
            [sys.executable, script],
            capture_output=True,
            text=True,
            env=dict(os.environ, PYTHONPATH=str(ROOT)),
            timeout=SECONDS,
        )
        assert (done.returncode, done.stderr) == (0, "")

    return run


def cases():
    """Returns functions without arguments that run every kind of kernel, on one thread and on several, and return arrays."""
    random = np.random.default_rng(3)
    x = random.random((2, 8, 96, 96)).astype(np.float32)
    small = random.random((1, 2, 6, 6)).astype(np.float32)
    columns = patchfold.unfold(x, 3, padding=1)
    deep = patchfold.space_to_depth(x, 2)
    plan = patchfold.plan("unfold", x, kernel_size=3)
    tiling = patchfold.Tiling((96, 96), (32, 32), overlap=8)
    corners = random.integers(0, 60, (64, 2))

    def merged():
        merger = patchfold.Merger(tiling)
        for tile in tiling:
            merger.add(tile, tiling.cut(x[0, 0], tile))
        return merger.finish()

    return {
        "unfold": lambda: patchfold.unfold(x, 3, padding=1),
        "unfold small": lambda: patchfold.unfold(small, 2),
        "unfold strided": lambda: patchfold.unfold(x[:, ::2, :, ::-1], 2, stride=2),
        "fold": lambda: patchfold.fold(columns, (96, 96), 3, padding=1),
        "fold half": lambda: patchfold.fold(columns.astype(np.float16), (96, 96), 3, padding=1),
        "space_to_depth": lambda: patchfold.space_to_depth(x, 2),
        "depth_to_space": lambda: patchfold.depth_to_space(deep, 2),
        "batch_to_space": lambda: patchfold.batch_to_space(patchfold.space_to_batch(x, 2), 2, crops=1),
        "plan": lambda: plan(x),
        "gather_patches": lambda: patchfold.gather_patches(x, corners, (32, 32)),
        "tiles": merged,
    }


@pytest.mark.parametrize("name", [*cases(), "everything"])
def test_many_threads_at_once(name):
    calls = cases() if name == "everything" else {name: cases()[name]}
    expected = {each: call().tobytes() for each, call in calls.items()}

    def work(number):
        names = list(calls)[number % len(calls) :] + list(calls)[: number % len(calls)]
        return [each for _ in range(3) for each in names if calls[each]().tobytes() != expected[each]]

    with ThreadPoolExecutor(8) as pool:
        assert not any(pool.map(work, range(8)))


def test_settings_change_while_others_run():
    calls = cases()
    expected = {each: call().tobytes() for each, call in calls.items()}

    def work(number):
        for n in range(6):
            patchfold.set_num_threads((number + n) % 4)
            patchfold.use_instruction_set(patchfold.instruction_sets()[n % len(patchfold.instruction_sets())])
            for each, call in calls.items():
                assert call().tobytes() == expected[each], each

    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
    finally:
        patchfold.set_num_threads(0)
        patchfold.use_instruction_set("")


def test_several_threads_add_tiles_to_one_merger():
    tiling = patchfold.Tiling((400, 300), (32, 32), overlap=(16, 20))
    x = np.random.default_rng(0).random((400, 300))
    for out in (None, [].append):
        bands = []
        merger = patchfold.Merger(tiling, out=None if out is None else lambda rows, band, bands=bands: bands.append(band))
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda i, m=merger: m.add(i, tiling.cut(x, i)), np.random.default_rng(1).permutation(len(tiling))))
        y = merger.finish()
        np.testing.assert_array_equal(y if out is None else np.concatenate(bands), x)


def test_a_list_that_another_thread_changes_is_one_value_or_the_other():
    x = np.arange(7 * 9.0).reshape(1, 1, 7, 9)
    kernel = [2, 3]
    shapes = {(1, 6, 6 * 7), (1, 6, 5 * 8)}  # of kernels of 2 x 3 and of 3 x 2
    met = set()
    done = threading.Event()

    def change():
        while not done.is_set():
            kernel.reverse()
            kernel.clear()
            kernel.extend((3, 2))

    changing = threading.Thread(target=change)
    changing.start()
    try:
        for _ in range(3000):
            try:
                met.add(patchfold.unfold(x, kernel).shape)
            except patchfold.Error:  # an empty list
                pass
    finally:
        done.set()
        changing.join()
    assert met and met <= shapes


def test_the_interpreter_runs_on_while_kernels_run():
    """Checks that a thread that is woken just before a large call runs before the call ends.

    With a switch interval of 60 s, the thread can run only if the call releases the interpreter's lock.
    """
    x = np.zeros((1, 16, 1024, 1024), np.float32)
    out = patchfold.unfold(x, 3)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)
    try:
        assert any(ran_during(lambda: patchfold.unfold(x, 3, out=out)) for _ in range(5))
        if getattr(sys, "_is_gil_enabled", lambda: True)():  # the test notices a call that keeps the lock
            assert not ran_during(lambda: sum(range(1_000_000)))
    finally:
        sys.setswitchinterval(interval)


def ran_during(call):
    start, ended, seen = threading.Event(), [], []

    def look():
        start.wait()
        seen.append(not ended)

    thread = threading.Thread(target=look)
    thread.start()
    start.set()
    call()
    ended.append(True)
    thread.join()
    return seen[0]


def test_errors_belong_to_the_thread_whose_call_failed():
    x = np.zeros((1, 1, 5, 5), np.float32)

    def work(number):
        for _ in range(50):
            with pytest.raises(patchfold.InvalidValue, match=f"expected multiples of {number}$"):
                patchfold.space_to_depth(x, number)
            assert patchfold.unfold(x, 2).shape == (1, 4, 16)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(11, 19)))


COMPUTE = """
import multiprocessing, os, signal, sys, threading, time, warnings
import numpy as np, patchfold
warnings.simplefilter("ignore")  # from 3.12 on a fork beside threads warns
x = np.arange(2 * 8 * 96 * 96, dtype=np.float32).reshape(2, 8, 96, 96)
small = x[:1, :1, :4, :4].copy()
columns, few = patchfold.unfold(x, 3), patchfold.unfold(small, 2)
tiling = patchfold.Tiling((96, 96), (64, 64), overlap=16)

def compute(_=None):
    merger = patchfold.Merger(tiling)
    for tile in tiling:
        merger.add(tile, tiling.cut(x[0, 0], tile))
    return (np.array_equal(merger.finish(), x[0, 0]) and np.array_equal(patchfold.unfold(x, 3), columns)
            and np.array_equal(patchfold.unfold(small, 2), few)
            and np.array_equal(patchfold.depth_to_space(patchfold.space_to_depth(x, 2), 2), x))

def status_of_child():
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if compute() else 1)
    return os.waitpid(child, 0)[1]
"""


def test_a_forked_process_computes(run_alone):
    run_alone(
        COMPUTE
        + """
assert compute()
assert [status_of_child() for _ in range(10)] == [0] * 10
assert compute()
"""
    )


def test_a_process_that_is_forked_during_calls_of_other_threads_computes(run_alone):
    run_alone(
        COMPUTE
        + """
stop = threading.Event()
def work():
    out = np.empty_like(columns)
    while not stop.is_set():
        patchfold.unfold(x, 3, out=out)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
try:
    assert [status_of_child() for _ in range(30)] == [0] * 30
finally:
    stop.set()
for thread in threads:
    thread.join()
assert compute()
"""
    )


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(run_alone, method):
    run_alone(
        COMPUTE
        + f"""
if __name__ == "__main__":
    assert compute()
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        assert pool.map(compute, range(8), chunksize=1) == [True] * 8
    assert compute()
"""
    )


# Endless functions for daemon threads. The functions call `began` in each round.
DAEMONS = {
    "calls": """
def work(began):
    out = np.empty_like(columns)
    while True:
        patchfold.unfold(x, 3, out=out)
        began()
""",
    "patches": """
def work(began):
    while True:
        patchfold.gather_patches(x, np.zeros((64, 2), int), (64, 64))
        began()
""",
    "tiles": """
def work(began):
    while True:
        compute()
        began()
""",
    "writes rows": """
def work(began):
    while True:
        def write(rows, band):
            time.sleep(0)
            began()
        merger = patchfold.Merger(tiling, out=write)
        for tile in tiling:
            merger.add(tile, tiling.cut(x[0, 0], tile))
        merger.finish()
""",
}


@pytest.mark.parametrize("what", DAEMONS)
def test_the_interpreter_ends_while_daemon_threads_call(run_alone, what):
    """Ends the interpreter while daemon threads call the library; before CPython 3.14 this can abort a process."""
    for _ in range(3):
        run_alone(
            COMPUTE
            + DAEMONS[what]
            + """
begun = [threading.Event() for _ in range(4)]
for each in begun:
    threading.Thread(target=work, args=(each.set,), daemon=True).start()
for each in begun:
    each.wait()
"""
        )

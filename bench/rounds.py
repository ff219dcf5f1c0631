# SPDX-License-Identifier: Apache-2.0
"""Functions that benchmarks share: rounds in which pieces of work take turns, facts about the machine, progress, threads."""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SHORTEST = 0.002  # seconds; shorter work is repeated within a round
WARM_UPS, FEW_PAGES = 20, 64
PAUSE = 0.005  # seconds before a piece of work, in which the threads of the piece before go to sleep
ENVIRONMENT = {
    # Lets systems that allocate each result reuse the memory of the last one, without new pages from the kernel. malloc
    # keeps no cache of small freed blocks, since these would move each result to a new place.
    "GLIBC_TUNABLES": f"glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold={1 << 40}:glibc.malloc.tcache_count=0",
    # NumPy requests no large pages, so that all systems get pages of the size that `patchfold bench` uses.
    "NUMPY_MADVISE_HUGEPAGE": "0",
}

Data = dict[str, Any]


def note(text: str, *, line: bool = False) -> None:
    """Writes a line of progress, which the next call replaces. With `line`, the line stays."""
    terminal = sys.stderr.isatty()
    if line:
        print("\r\033[K" * terminal + text, file=sys.stderr, flush=True)
    elif terminal:
        print("\r\033[K" + text[:110], end="", file=sys.stderr, flush=True)


def seconds_of(run: Callable[[], Any], times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        run()
    return (time.perf_counter() - start) / times


def pages() -> int:
    """Returns how many pages the kernel has given to this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def warm_up(run: Callable[[], Any]) -> None:
    """Runs the work until a run needs hardly any new pages, at most WARM_UPS times."""
    for _ in range(WARM_UPS):
        before = pages()
        run()
        if pages() - before < FEW_PAGES:
            break


def race(
    works: dict[str, Callable[[], Any]],
    rounds: int,
    pause: float = PAUSE,
    of_rounds: Callable[[list[float]], float] = statistics.median,
) -> dict[str, float]:
    """Runs the pieces of work in turn. Returns the seconds of each piece: what of_rounds() returns for its seconds in all
    rounds."""
    times = {}
    for name, run in works.items():
        warm_up(run)
        times[name] = max(1, round(SHORTEST / max(1e-8, seconds_of(run, 1))))
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, run in works.items():
            time.sleep(pause)
            if times[name] > 1:  # short work then begins with its data in the cache, as in a loop of calls
                run()
            before = pages()
            seconds[name].append(seconds_of(run, times[name]))
            if pages() - before > FEW_PAGES:
                note(f"{name} took new pages in a round, which costs time", line=True)
    return {name: of_rounds(each) for name, each in seconds.items()}


def held(key: str) -> int:
    """Returns the bytes of memory that this process has now (key VmRSS) or had at its peak (VmHWM)."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key))
    return int(line.split()[1]) * 1024


def peak_of(run: Callable[[], Any]) -> int:
    """Returns by how many bytes one run raises the peak of this process's memory."""
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = held("VmRSS")
    run()
    return held("VmHWM") - before


def machine() -> Data:
    """Returns the facts about the machine on which the figures depend, as Linux reports them."""
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    models = [line.split(":", 1)[1].strip() for line in info.splitlines() if line.startswith("model name")]
    memory = int(Path("/proc/meminfo").read_text(encoding="utf-8").split()[1]) * 1024
    caches = []
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size, shared = (
            (folder / name).read_text(encoding="utf-8").strip() for name in ("level", "type", "size", "shared_cpu_list")
        )
        if kind != "Instruction":
            caches.append(f"L{level} {size}" + (" shared" if shared != "0" else ""))
    return {
        "processor": models[0] if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "caches": caches,
        "memory": memory,
        "python": platform.python_version(),
    }


def numbers(text: str) -> list[int]:
    try:
        values = [int(word) for word in text.split(",")]
    except ValueError:
        values = []
    if not values or min(values) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no list of numbers of threads, such as 1,2")
    return values

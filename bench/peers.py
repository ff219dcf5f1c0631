# SPDX-License-Identifier: Apache-2.0
"""Measures patchfold beside torch, OpenVINO, ONNX Runtime, TensorFlow and NumPy on the problems of bench/problems.txt.

All run in one process for each number of threads, in turn in the same rounds (a b c a b c ..), on the same data; each
result is compared with patchfold's once. Before a problem's rounds, the program measures it against the roof.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pages import DOCUMENT, write_part
from peers_document import section

if TYPE_CHECKING:
    from peers_problems import Case
    from peers_systems import System

ROOT = Path(__file__).resolve().parent.parent
SHORTEST = 0.002  # seconds; shorter work is repeated within a round
WARM_UPS, FEW_PAGES = 20, 64
PAUSE = 0.005  # threads that wait for more work in a loop go to sleep meanwhile
ENVIRONMENT = {
    # Systems that allocate each result reuse the memory of the result before, without new pages from the kernel. malloc
    # keeps no small pieces, which would move each result to a new place.
    "GLIBC_TUNABLES": f"glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold={1 << 40}:glibc.malloc.tcache_count=0",
    # Pages of one size for all systems, as the program has them.
    "NUMPY_MADVISE_HUGEPAGE": "0",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}

Data = dict[str, Any]


def note(text: str, *, line: bool = False) -> None:
    """Writes a line of progress, which the next call replaces, or with `line` a line that stays."""
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
    """Returns the number of pages that the kernel has given to this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def warm_up(run: Callable[[], Any]) -> None:
    """Runs until a run needs no new pages."""
    for _ in range(WARM_UPS):
        before = pages()
        run()
        if pages() - before < FEW_PAGES:
            break


def race(works: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Returns the median seconds of each piece of work, run in turn."""
    times = {}
    for name, run in works.items():
        warm_up(run)
        times[name] = max(1, round(SHORTEST / max(1e-8, seconds_of(run, 1))))
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, run in works.items():
            time.sleep(PAUSE)
            if times[name] > 1:  # short work starts with its data in the cache, as in a loop of calls
                run()
            before = pages()
            seconds[name].append(seconds_of(run, times[name]))
            if pages() - before > FEW_PAGES:
                note(f"{name} took new pages in a round, which costs time", line=True)
    return {name: statistics.median(each) for name, each in seconds.items()}


def of_program(program: Path, case: Case, threads: int, rounds: int) -> Data:
    """Returns the figures that `patchfold bench` measures."""
    command = [str(program), "bench", case.text, "--threads", str(threads), "--rounds", str(rounds), "--json"]
    environment = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    rows: list[Data] = json.loads(answer.stdout)
    return rows[0]


def measure(case: Case, systems: list[System], rounds: int) -> Data:
    """Returns the seconds of each system, the systems whose result differs, and the errors of the others."""
    import numpy as np
    from peers_problems import empty, random, same

    x, out = random(case.shape, case.numpy_dtype), empty(case.output, case.numpy_dtype)
    works: dict[str, Callable[[], Any]] = {"patchfold": case.run(x, out)}
    works["patchfold"]()
    expected = out.copy()
    mismatches, refusals = [], {}
    for system in systems:
        out.view(np.uint8).fill(0x5A)  # a system that writes nothing must not pass with an old result
        try:
            work = system.work(case, x, out)
            if work is None:
                continue
            result = work.result(work.run())
        except Exception as error:
            refusals[system.name] = f"{type(error).__name__}: {error}".splitlines()[0]
            note(f"{system.name} refuses {case.text}: {refusals[system.name]}", line=True)
            continue
        works[system.name] = work.run
        if not same(case, case.canonical(expected), result):
            mismatches.append(system.name)
            note(f"{system.name} gives another result: {case.text}", line=True)
    del expected
    return {"seconds": race(works, rounds), "mismatches": mismatches, "refusals": refusals}


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Closes the standard error for a while: TensorFlow writes a greeting there that no setting stops."""
    saved, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)


def measure_all(options: argparse.Namespace, threads: int) -> None:
    """Measures all problems in the process of one number of threads, and stores the figures after each problem."""
    with silence():
        import patchfold
        from peers_problems import problems
        from peers_systems import systems as all_systems

        systems = all_systems(threads)
    patchfold.set_num_threads(threads)
    versions = {"patchfold": patchfold.__version__} | {system.name: system.version for system in systems}
    data: Data = {"versions": versions, "rows": []}
    cases = problems(options.only)
    gc.disable()
    for i, case in enumerate(cases):
        note(f"{threads} {'thread' if threads == 1 else 'threads'}, {i + 1} of {len(cases)}: {case.text}")
        row = {"problem": case.text, "threads": threads, "bytes": case.bytes}
        row["program"] = of_program(options.program, case, threads, options.rounds)
        data["rows"].append(row | measure(case, systems, options.rounds))
        options.json.write_text(json.dumps(data), encoding="utf-8")
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
    note("")


def machine() -> Data:
    """Returns the facts about the machine that the figures depend on, as Linux reports them."""
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


def measure_everywhere(options: argparse.Namespace) -> tuple[Data, bool]:
    """Starts a process for each number of threads, since TensorFlow fixes its number of threads when it starts."""
    data: Data = {"machine": machine(), "versions": {}, "rounds": options.rounds, "rows": []}
    complete = True
    for threads in options.threads:
        with tempfile.TemporaryDirectory() as folder:
            stored = Path(folder) / "rows.json"
            command = [sys.executable, __file__, "--process", str(threads), "--rounds", str(options.rounds)]
            command += ["--only", options.only, "--program", str(options.program), "--json", str(stored)]
            environment = os.environ | ENVIRONMENT | {"OMP_NUM_THREADS": str(threads)}
            code = subprocess.run(command, env=environment).returncode
            if code:
                note(f"peers: the process of {threads} threads ended with {code}", line=True)
                complete = False
            if stored.exists():
                part = json.loads(stored.read_text(encoding="utf-8"))
                data["versions"] = part["versions"]
                data["rows"] += part["rows"]
        if options.json:
            options.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return data, complete


def numbers(text: str) -> list[int]:
    try:
        values = [int(word) for word in text.split(",")]
    except ValueError:
        values = []
    if not values or min(values) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no list of numbers of threads, such as 1,2")
    return values


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0],
        epilog="Without --write the text is printed. The environment needs what tests/peers/requirements.txt lists, and "
        "the patchfold package; scripts/bench makes one. Progress is shown where the standard error is a terminal.",
    )
    parser.add_argument("--threads", type=numbers, default=[1, 2], metavar="N,..", help="numbers of threads (default: 1,2)")
    parser.add_argument("--rounds", type=int, default=9, metavar="N", help="how often everything runs in turn (default: 9)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only problems whose line contains this")
    parser.add_argument(
        "--program",
        type=Path,
        default=ROOT / "build/release/patchfold",
        metavar="FILE",
        help="the program that measures the roof (default: build/release/patchfold)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="store the figures here, after each number of threads")
    parser.add_argument("--render", type=Path, metavar="FILE", help="measure nothing; take the figures that --json stored")
    parser.add_argument("--write", action="store_true", help=f"write the second part of {DOCUMENT}")
    parser.add_argument("--folder", type=Path, metavar="FOLDER", help="where --write writes (default: docs)")
    parser.add_argument("--process", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds takes a positive number")
    if options.write and options.only and not options.folder:
        parser.error("--write with --only needs --folder: docs is about all problems")
    if options.render and not options.render.exists():
        parser.error(f"there is no file {options.render}")
    if not options.render and not options.program.exists():
        parser.error(f"there is no program {options.program}; see --program")
    return options


def main() -> int:
    options = parse_options()
    if options.process:
        measure_all(options, options.process)
        return 0
    complete = True
    if options.render:
        data = json.loads(options.render.read_text(encoding="utf-8"))
    else:
        data, complete = measure_everywhere(options)
    if not data["rows"]:
        print("peers: nothing was measured", file=sys.stderr)
        return 1
    if options.write and complete:
        write_part(options.folder or ROOT / "docs", "problems", section(data))
    elif not options.write:
        print(section(data), end="")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())

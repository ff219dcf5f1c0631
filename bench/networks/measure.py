#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures patchfold beside torch, ONNX Runtime, oneDNN and NumPy on calls that networks make.

Each number of threads is measured in a process of its own. There all systems and a plain copy take turns in the same rounds
on the same data; every result is compared with NumPy's.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parent.parent))
from document import DOCUMENT, PICTURE, document, picture, quoted
from drawn import GROUPS, Call, draw, origin
from rounds import ENVIRONMENT, ROOT, machine, note, numbers, race

Data = dict[str, Any]


def copies_of(library: ctypes.CDLL, size: int, threads: int) -> dict[str, Callable[[], Any]]:
    """Returns functions that copy size / 2 bytes: by each kind of stores, on all threads or one (best for few bytes)."""
    from systems import empty

    half = ctypes.c_size_t(max(64, size // 2 // 64 * 64))
    kept = [empty((half.value,), "uint8") for _ in range(2)]
    src, dst = (ctypes.c_void_p(array.ctypes.data) for array in kept)

    def copy(past_cache: bool, count: int) -> Callable[[], Any]:
        given = (ctypes.c_bool(past_cache), src, dst, half, count)
        return lambda: (library.patchfold_bench_copy(*given), kept)

    ways = [(past_cache, count) for past_cache in (True, False) for count in sorted({1, threads})]
    return {f"copy {way}": copy(*way) for way in ways}


def measure(call: Call, options: argparse.Namespace, library: ctypes.CDLL, onednn: Any) -> Data:
    """Returns the seconds of each system and of the fastest copy, and the systems whose result differs from NumPy's."""
    import numpy as np
    from systems import data_of, makers

    data = data_of(call)
    works: dict[str, Callable[[], Any]] = {}
    mismatches, expected = [], np.empty(())
    for name, make in makers(call, data, options.process, onednn).items():
        data.out.view(np.uint8).fill(0x5A)  # an old result must not pass for one of a system that writes nothing
        try:
            work = make()
            if work is None:
                continue
            result = work.result(work.run())
        except Exception:
            if name in ("NumPy", "patchfold"):
                raise
            continue  # the system lacks the element type
        works[name] = work.run
        if name == "NumPy":
            expected = np.array(result)
        elif not np.array_equal(expected, result):
            mismatches.append(name)
            note(f"{name} gives another result: {call}", line=True)
    copies = copies_of(library, call.bytes, options.process)
    seconds = race(works | copies, options.rounds)
    seconds["copy"] = min(seconds.pop(name) for name in copies)
    return {"seconds": seconds, "mismatches": mismatches}


def measure_all(options: argparse.Namespace) -> None:
    """Measures all calls in this process, on its number of threads, and stores the figures after each call."""
    import numpy as np
    import onnxruntime
    import patchfold
    import torch
    from onednn import OneDNN

    threads = options.process
    patchfold.set_num_threads(threads)
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    versions = {"patchfold": patchfold.__version__, "torch": torch.__version__.split("+")[0]}
    versions["ONNX Runtime"] = onnxruntime.__version__
    try:
        onednn = OneDNN()
        versions["oneDNN"] = onednn.version
    except OSError as error:
        onednn = None
        note(f"without oneDNN: {error}", line=True)
    versions["NumPy"] = np.__version__
    library = ctypes.CDLL(str(options.copies))
    data: Data = {"versions": versions, "rows": []}
    calls = list(draw(options.seed, options.count, options.groups))
    gc.disable()
    for i, call in enumerate(calls):
        note(f"{threads} threads, {i + 1} of {len(calls)}: {call}")
        row = {"group": call.group, "call": str(call), "model": call.model, "threads": threads, "bytes": call.bytes}
        data["rows"].append(row | measure(call, options, library, onednn))
        if options.verbose:
            seconds = data["rows"][-1]["seconds"]
            figures = ", ".join(f"{name} {time / seconds['copy']:.2f}" for name, time in seconds.items() if name != "copy")
            note(f"{call}: {seconds['copy'] * 1e3:.3f} ms; {figures}", line=True)
        options.json.write_text(json.dumps(data), encoding="utf-8")
        gc.collect()
    note("")


def measure_everywhere(options: argparse.Namespace) -> Data:
    data: Data = {"machine": machine(), "versions": {}, "rows": [], **origin()}
    data |= {name: getattr(options, name) for name in ("seed", "count", "rounds")}
    for threads in options.threads:
        with tempfile.TemporaryDirectory() as folder:
            stored = Path(folder) / "rows.json"
            command = [sys.executable, __file__, "--process", str(threads), "--json", str(stored)]
            command += ["--groups", ",".join(options.groups), *["--verbose"] * options.verbose]
            for name in ("seed", "count", "rounds", "copies"):
                command += [f"--{name}", str(getattr(options, name))]
            subprocess.run(command, env=os.environ | ENVIRONMENT | {"OMP_NUM_THREADS": str(threads)}, check=True)
            part = json.loads(stored.read_text(encoding="utf-8"))
        data["versions"] = part["versions"]
        data["rows"] += part["rows"]
        if options.json:
            options.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return data


def groups(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if not set(names) <= set(GROUPS):
        raise argparse.ArgumentTypeError(f"{text} is no list of groups: {', '.join(GROUPS)}")
    return names


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0],
        epilog="Without --write the text is printed. The environment needs torch, onnx, onnxruntime and the patchfold "
        "package, and has oneDNN if there is onednn-cpu-gomp; scripts/bench makes one. Progress is shown on a terminal.",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="which calls are drawn (default: 1)")
    parser.add_argument("--count", type=int, default=24, metavar="N", help="calls of each group (default: 24)")
    names = ", ".join(GROUPS)
    parser.add_argument("--groups", type=groups, default=GROUPS, metavar="NAME,..", help=f"of {names} (default: all)")
    parser.add_argument("--threads", type=numbers, default=[1, 2], metavar="N,..", help="numbers of threads (default: 1,2)")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="how often all run in turn (default: 7)")
    copies = ROOT / "build/release/bench/libbench_copies.so"
    parser.add_argument("--copies", type=Path, default=copies, metavar="FILE", help="the library built as bench_copies")
    parser.add_argument("--json", type=Path, metavar="FILE", help="store the figures here")
    parser.add_argument("--render", type=Path, metavar="FILE", help="measure nothing; take the figures that --json stored")
    written = f"write {DOCUMENT} and {PICTURE}, and quote it in README.md and tests/claims.txt"
    parser.add_argument("--write", action="store_true", help=written)
    docs = ROOT / "docs"
    parser.add_argument("--folder", type=Path, default=docs, metavar="FOLDER", help="where --write writes (default: docs)")
    parser.add_argument("--verbose", action="store_true", help="a line for each call: a copy in ms, every system in copies")
    parser.add_argument("--process", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if min(options.rounds, options.count) < 1:
        parser.error("--rounds and --count take positive numbers")
    whole = options.render or (options.count >= 24 and options.groups == GROUPS)
    if options.write and not whole and options.folder.resolve() == ROOT / "docs":
        parser.error("--write of fewer than 24 calls of each group needs --folder: docs is about a whole run")
    for path in (options.render,) if options.render else (options.copies,):
        if not path.exists():
            parser.error(f"there is no file {path}")
    return options


def main() -> int:
    options = parse_options()
    if options.process:
        measure_all(options)
        return 0
    if options.render:
        data = json.loads(options.render.read_text(encoding="utf-8"))
    else:
        data = measure_everywhere(options)
    if options.write:
        (options.folder / DOCUMENT).write_text(document(data), encoding="utf-8")
        (options.folder / PICTURE).write_text(picture(data), encoding="utf-8")
        if options.folder.resolve() == ROOT / "docs":
            for page in (ROOT / "README.md", ROOT / "tests" / "claims.txt"):
                page.write_text(quoted(page.read_text(encoding="utf-8"), data), encoding="utf-8")
    else:
        print(document(data), end="")
    return int(any("patchfold" in row["mismatches"] for row in data["rows"]))


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Measures patchfold beside NumPy and torch on problems drawn at random, and writes docs/performance-random.md.

Each number of threads and each instruction set has its own process. In it `patchfold bench --random` compares a problem with
a copy of the memory that it touches; then patchfold, NumPy and torch run it in turn in the same rounds.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from peers import ENVIRONMENT, ROOT, machine, note, numbers, race
from random_document import DOCUMENT, PICTURE, document, picture

Data = dict[str, Any]
SETTING = "PATCHFOLD_INSTRUCTION_SET"


def of_program(options: argparse.Namespace, index: int) -> Data:
    """Returns the figures of one problem that `patchfold bench --random` measures."""
    command = [str(options.program), "bench", "--random", str(options.seed), str(options.count), "--only", str(index)]
    command += ["--threads", str(options.process), "--rounds", str(options.rounds), "--json"]
    environment = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    rows: list[Data] = json.loads(answer.stdout)
    return rows[0]


def measure(row: Data, rounds: int) -> Data:
    """Returns the seconds of each system, and the systems whose result differs."""
    import numpy as np
    from random_problems import RandomProblem

    problem = RandomProblem(row["problem"], row["src"], row["dst"])
    x, out = problem.make()
    works = {"patchfold": problem.patchfold(x, out)}
    works["patchfold"]()
    expected = out.copy()
    mismatches = []
    for name, made in (("NumPy", problem.numpy(x, out)), ("torch", problem.torch(x, out))):
        if made is None:
            continue
        out[...] = np.zeros((), out.dtype)  # a system that writes nothing must not pass with an old result
        works[name], result = made
        works[name]()
        if not problem.same(expected, result):
            mismatches.append(name)
            note(f"{name} gives another result: {row['problem']} src={row['src']} dst={row['dst']}", line=True)
    del expected
    return {"seconds": race(works, rounds), "mismatches": mismatches}


def measure_all(options: argparse.Namespace) -> None:
    """Measures all problems with one instruction set and number of threads, and stores the figures after each problem."""
    import numpy as np
    import patchfold
    import torch

    patchfold.set_num_threads(options.process)
    torch.set_num_threads(options.process)
    torch.set_grad_enabled(False)
    versions = {"patchfold": patchfold.__version__, "NumPy": np.__version__, "torch": torch.__version__.split("+")[0]}
    data: Data = {"versions": versions, "rows": []}
    gc.disable()
    for index in range(options.count):
        row = of_program(options, index) | {"set": os.environ[SETTING]}
        note(f"{row['set']}, {options.process} threads, {index + 1} of {options.count}: {row['problem']}")
        data["rows"].append(row | measure(row, options.rounds))
        gc.collect()
    options.json.write_text(json.dumps(data), encoding="utf-8")
    note("")


def measure_everywhere(options: argparse.Namespace) -> Data:
    data: Data = {"machine": machine(), "versions": {}, "rows": []}
    data |= {name: getattr(options, name) for name in ("seed", "count", "rounds")}
    for instruction_set in options.sets:
        for threads in options.threads:
            with tempfile.TemporaryDirectory() as folder:
                stored = Path(folder) / "rows.json"
                command = [sys.executable, __file__, "--process", str(threads), "--json", str(stored)]
                for name in ("seed", "count", "rounds", "program"):
                    command += [f"--{name}", str(getattr(options, name))]
                environment = os.environ | ENVIRONMENT | {"OMP_NUM_THREADS": str(threads), SETTING: instruction_set}
                subprocess.run(command, env=environment, check=True)
                part = json.loads(stored.read_text(encoding="utf-8"))
            data["versions"] = part["versions"]
            data["rows"] += part["rows"]
            if options.json:
                options.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return data


def best_sets() -> list[str]:
    """Returns the two best instruction sets of this processor."""
    import patchfold

    return [name for name in patchfold.instruction_sets() if name != "SCALAR"][:2]


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0],
        epilog="Without --write the document is printed. The environment needs NumPy, torch, ml_dtypes and the patchfold "
        "package; scripts/bench makes one. Progress is shown where the standard error is a terminal.",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="which problems are drawn (default: 1)")
    parser.add_argument("--count", type=int, default=120, metavar="N", help="how many problems are drawn (default: 120)")
    parser.add_argument("--threads", type=numbers, default=[1, 2], metavar="N,..", help="numbers of threads (default: 1,2)")
    parser.add_argument(
        "--sets", type=lambda text: text.split(","), metavar="NAME,..", help="instruction sets (default: the best two)"
    )
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="how often all run in turn (default: 5)")
    parser.add_argument(
        "--program",
        type=Path,
        default=ROOT / "build/release/patchfold",
        metavar="FILE",
        help="the program that measures the copies (default: build/release/patchfold)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="store the figures here")
    parser.add_argument("--render", type=Path, metavar="FILE", help="measure nothing; take the figures that --json stored")
    parser.add_argument("--write", action="store_true", help=f"write {DOCUMENT} and {PICTURE}")
    parser.add_argument("--folder", type=Path, metavar="FOLDER", help="where --write writes (default: docs)")
    parser.add_argument("--process", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if min(options.rounds, options.count) < 1:
        parser.error("--rounds and --count take positive numbers")
    if options.render and not options.render.exists():
        parser.error(f"there is no file {options.render}")
    if not options.render and not options.program.exists():
        parser.error(f"there is no program {options.program}; see --program")
    if options.write and not options.folder and options.count < 120 and not options.render:
        parser.error("--write with fewer than 120 problems needs --folder: docs is about a whole run")
    return options


def main() -> int:
    options = parse_options()
    if options.process:
        measure_all(options)
        return 0
    if options.render:
        data = json.loads(options.render.read_text(encoding="utf-8"))
    else:
        options.sets = options.sets or best_sets()
        data = measure_everywhere(options)
    if not options.write:
        print(document(data), end="")
        return 0
    folder = options.folder or ROOT / "docs"
    (folder / DOCUMENT).write_text(document(data), encoding="utf-8")
    (folder / PICTURE).write_text(picture(data), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

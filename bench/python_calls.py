# SPDX-License-Identifier: Apache-2.0
"""Measures the time that Python adds to a small call: `python bench/python_calls.py PROGRAM`, the built bench/small_calls.

Rounds of both alternate, and the best of each counts. Printed for each problem: the C++ call that checks, plans and runs;
the call from Python with NumPy arrays and out=; the difference; the run of a plan in C++; the run of a plan from Python.
"""

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import patchfold

ROUNDS, CALLS, REPEATS = 15, 5000, 3


def microseconds(call: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        best = min(best, (time.perf_counter() - start) / CALLS * 1e6)
    return best


def problems() -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    x = np.ones((1, 3, 16, 16), np.float32)
    columns = patchfold.unfold(x, 2)
    image = np.empty_like(x)
    blocks = patchfold.space_to_depth(x, 2)
    one, one_column = np.ones((1, 1, 1, 1), np.float32), np.ones((1, 1, 1), np.float32)
    plans = [
        patchfold.plan("unfold", x, out=columns, kernel_size=2),
        patchfold.plan("fold", columns, out=image, output_size=(16, 16), kernel_size=2),
        patchfold.plan("space_to_depth", x, out=blocks, block=2),
        patchfold.plan("unfold", one, out=one_column, kernel_size=1),
    ]
    return {
        "unfold": (lambda: patchfold.unfold(x, 2, out=columns), lambda: plans[0](x, out=columns)),
        "fold": (lambda: patchfold.fold(columns, (16, 16), 2, out=image), lambda: plans[1](columns, out=image)),
        "space_to_depth": (lambda: patchfold.space_to_depth(x, 2, out=blocks), lambda: plans[2](x, out=blocks)),
        "unfold_of_one": (lambda: patchfold.unfold(one, 1, out=one_column), lambda: plans[3](one, out=one_column)),
    }


def main() -> None:
    native: dict[str, list[float]] = {}
    python: dict[str, list[float]] = {}
    for _ in range(REPEATS):
        for line in subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout.splitlines():
            name, *times = line.split()
            native[name] = [min(pair) for pair in zip(native.get(name, [1e9, 1e9]), map(float, times), strict=True)]
        for name, calls in problems().items():
            times_here = [microseconds(call) for call in calls]
            python[name] = [min(pair) for pair in zip(python.get(name, [1e9, 1e9]), times_here, strict=True)]
    print(f"{'microseconds':16}{'C++ call':>10}{'Python':>10}{'added':>10}{'C++ plan':>12}{'Python':>10}{'added':>10}")
    for name, (call, plan) in native.items():
        call_here, plan_here = python[name]
        print(
            f"{name:16}{call:10.2f}{call_here:10.2f}{call_here - call:10.2f}"
            f"{plan:12.2f}{plan_here:10.2f}{plan_here - plan:10.2f}"
        )


if __name__ == "__main__":
    main()

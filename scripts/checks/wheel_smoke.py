# SPDX-License-Identifier: Apache-2.0
"""Tests an installed package in any interpreter. Needs only NumPy besides the package.

Compares unfold, fold, tiles and other calls with loops in NumPy, on every instruction set, and prints versions and sets.
"""
import platform
import sys
import sysconfig
import threading

import numpy as np
import patchfold


def columns_of(image, kernel, stride, padding):
    """Returns unfold's result by torch's definition, computed row by row."""
    padded = np.pad(image, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    height, width = ((extent - kernel) // stride + 1 for extent in padded.shape[2:])
    rows = []
    for channel in range(image.shape[1]):
        for y in range(kernel):
            for x in range(kernel):
                taps = padded[:, channel, y : y + height * stride : stride, x : x + width * stride : stride]
                rows.append(taps[:, :height, :width].reshape(image.shape[0], -1))
    return np.stack(rows, 1)


def compare():
    image = np.random.default_rng(5).integers(-1000, 1000, (2, 3, 37, 41))
    for dtype in (np.uint8, np.int64, np.float16, np.float32, np.float64, np.complex64):
        x = image.astype(dtype)
        columns = patchfold.unfold(x, 3, stride=2, padding=1)
        assert np.array_equal(columns, columns_of(x, 3, 2, 1)), dtype
        again = patchfold.reconstruct(columns, x.shape, 3, stride=2, padding=1)
        assert again.dtype == x.dtype and np.array_equal(again, x), dtype
    x = image.astype(np.float64)
    columns = patchfold.unfold(x, 3, stride=2, padding=1)
    sums = patchfold.fold(columns, x.shape[2:], 3, stride=2, padding=1)
    assert np.array_equal(sums, x * patchfold.coverage(x.shape[2:], 3, stride=2, padding=1))
    blocks = patchfold.space_to_depth(x[..., :36, :40], 4)
    assert np.array_equal(patchfold.depth_to_space(blocks, 4), x[..., :36, :40])
    tiled = patchfold.apply_tiled(np.negative, x[0], (16, 16), overlap=4, progress=False)
    assert np.array_equal(tiled, -x[0])
    plan = patchfold.plan("fold", columns, output_size=x.shape[2:], kernel_size=3, stride=2, padding=1)
    assert np.array_equal(plan(columns), sums)


def refuse():
    for call in (lambda: patchfold.unfold(np.ones((1, 2)), 3), lambda: patchfold.unfold(np.ones((1, 2, 3, 3)), "x")):
        try:
            call()
        except patchfold.Error as error:
            assert "unfold" in str(error)
        else:
            raise AssertionError("bad input was taken")


def main():
    for name in patchfold.instruction_sets():
        patchfold.use_instruction_set(name)
        compare()
    refuse()
    threads = [threading.Thread(target=compare) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    assert not (lock and sysconfig.get_config_var("Py_GIL_DISABLED")), "the module turned the interpreter's lock on"
    print(f"patchfold {patchfold.__version__}, CPython {platform.python_version()}{'' if lock else ' without the GIL'}, NumPy "
          f"{np.__version__}, {platform.machine()}, {' '.join(patchfold.instruction_sets())}")


if __name__ == "__main__":
    main()

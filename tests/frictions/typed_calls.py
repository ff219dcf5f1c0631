# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F821 (reveal_type is mypy's)
"""Calls as mypy sees them, read by test_python.py. A comment says which error mypy must report, or which type it reveals;
where there is none, mypy must say nothing."""

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import patchfold

x = np.zeros((1, 3, 8, 8), np.float32)
names: npt.NDArray[np.str_] = np.array(["a", "b"]).reshape(1, 1, 2)
anything: npt.NDArray[np.generic] = x

# Sizes in all forms
patchfold.unfold(x, 3, stride=np.int64(2), padding=(1, 1), padding_mode="reflect")
patchfold.unfold(x, [3, 3], stride=(2, 2), padding=[(0, 1), (1, 0)])
patchfold.unfold(x, np.array([3, 3]), padding="same", positions="grid", order="kernel", layout="channels_last")
patchfold.unfold(names, (2,))
patchfold.unfold(anything, 3, value=1.5)
patchfold.apply_tiled(lambda tile: tile, x[0, 0], (4, 4), overlap=0.25, scale=Fraction(1, 2))
patchfold.coverage((8, 8), 3, dtype="int32")

# Not arrays
patchfold.unfold([[1, 2]], 3)  # mypy: type-var
patchfold.unfold("text", 3)  # mypy: type-var
patchfold.unfold(None, 3)  # mypy: type-var
patchfold.fold([[1.0]], (2, 2), 2)  # mypy: type-var
patchfold.space_to_depth([1], 2)  # mypy: type-var
patchfold.onnx.col2im([1], (2, 2), (1, 1))  # mypy: call-overload
patchfold.gather_patches("text", [(0, 0)], 2)  # mypy: type-var

# Not numbers, not words
patchfold.unfold(x, "3")  # mypy: arg-type
patchfold.unfold(x, 3.5)  # mypy: arg-type
patchfold.unfold(x, 3, padding="sane")  # mypy: arg-type
patchfold.unfold(x, 3, order="patch")  # mypy: arg-type
patchfold.unfold(x, 3, strides=2)  # mypy: call-arg
patchfold.fold(x, 8, 3)  # mypy: arg-type
patchfold.unfol(x, 3)  # mypy: attr-defined
patchfold.torch.unfol(x, 3)  # mypy: attr-defined

# Results: of the same library and element type, and of another number of axes where the function changes it
reveal_type(patchfold.keras.unfold(x, 3))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]
reveal_type(patchfold.onnx.col2im(x, (2, 2), (1, 1)))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]
reveal_type(patchfold.openvino.col2im(names, (2, 2), (1, 1)))  # mypy: ndarray[tuple[Any, ...], dtype[str_]]
reveal_type(patchfold.run("unfold", x, kernel_size=3))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]
reveal_type(patchfold.plan("unfold", x, kernel_size=3)(x))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]
reveal_type(patchfold.patchify(x, 4))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]
reveal_type(patchfold.space_to_depth(x, 2))  # mypy: ndarray[tuple[int, int, int, int], dtype[float32]]

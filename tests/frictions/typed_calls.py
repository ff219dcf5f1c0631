# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F821 (reveal_type is mypy's)
"""Calls for mypy, run by test_python.py. A comment names the error that mypy must report, or the type that it must reveal;
for lines without a comment, mypy must report nothing."""

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import patchfold

x = np.zeros((1, 3, 8, 8), np.float32)
y = np.zeros((12, 5), np.float32)
size = (8, 8)
names: npt.NDArray[np.str_] = np.array(["a", "b"]).reshape(1, 1, 2)
anything: npt.NDArray[np.generic] = x

# Sizes in all forms
patchfold.unfold(x, 3, stride=np.int64(2), padding=(1, 1), padding_mode="reflect")
patchfold.unfold(x, [3, 3], stride=(2, 2), padding=[(0, 1), (1, 0)])
patchfold.unfold(x, np.array([3, 3]), padding="same", positions="grid", order="kernel", layout="channels_last")
patchfold.unfold(names, (2,))
patchfold.unfold(anything, 3, value=1.5)
patchfold.apply_tiled(lambda tile: tile, y, (4, 4), overlap=0.25, scale=Fraction(1, 2))
patchfold.coverage((8, 8), 3, dtype="int32")

# Calls with objects that are no arrays
patchfold.unfold([[1, 2]], 3)  # mypy: call-overload
patchfold.unfold("text", 3)  # mypy: call-overload
patchfold.unfold(None, 3)  # mypy: call-overload
patchfold.fold([[1.0]], (2, 2), 2)  # mypy: call-overload
patchfold.reconstruct([[1.0]], (1, 2, 2), 2)  # mypy: call-overload
patchfold.unfold_view([[1, 2]], 3)  # mypy: call-overload
patchfold.space_to_depth_view("text", 2)  # mypy: call-overload
patchfold.reorder([1], 2)  # mypy: type-var
patchfold.space_to_depth([1], 2)  # mypy: type-var
patchfold.onnx.col2im([1], (2, 2), (1, 1))  # mypy: call-overload
patchfold.onnx.col2im(x, (2, 2), (1, 1), pads=[0, 0, 0, 0], strides=None)
patchfold.onnx.col2im(x, (2, 2), (1, 1), pad=[0, 0, 0, 0])  # mypy: call-overload
patchfold.tensorflow.extract_image_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME")
patchfold.tensorflow.extract_image_patches(x, sizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="SAME")
patchfold.tensorflow.extract_image_patches(x, [1, 2, 2, 1], [1, 1, 1, 1])  # mypy: call-overload
patchfold.gather_patches("text", [(0, 0)], 2)  # mypy: call-overload

# Calls with values that are neither numbers nor known words
patchfold.unfold(x, "3")  # mypy: arg-type
patchfold.unfold(x, 3.5)  # mypy: call-overload
patchfold.unfold(x, 3, padding="sane")  # mypy: arg-type
patchfold.unfold(x, 3, order="patch")  # mypy: call-overload
patchfold.unfold(x, 3, strides=2)  # mypy: call-overload
patchfold.fold(x, 8, 3)  # mypy: call-overload
patchfold.coverage(8, 3)  # mypy: call-overload
patchfold.space_to_depth(x, 2.5)  # mypy: arg-type
patchfold.unfol(x, 3)  # mypy: attr-defined
patchfold.torch.unfol(x, 3)  # mypy: attr-defined

# The type of a result leaves the number of axes open if the function changes this number
columns: np.ndarray[tuple[int, int, int], np.dtype[np.float32]] = patchfold.unfold(x, 3)
image: np.ndarray[tuple[int, int, int, int], np.dtype[np.float32]] = patchfold.fold(columns, (8, 8), 3)
reveal_type(patchfold.unfold(x, 3))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]
reveal_type(patchfold.unfold(names, (2,)))  # mypy: ndarray[tuple[Any, ...], dtype[str_]]
reveal_type(patchfold.unfold(x, 3, out=columns))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]
reveal_type(patchfold.fold(columns, (8, 8), 3))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]
reveal_type(patchfold.coverage([8, 8], 3))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]
reveal_type(patchfold.coverage(names.shape, 3))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]
reveal_type(patchfold.coverage([8, 8], 3, dtype="int32"))  # mypy: ndarray[tuple[Any, ...], dtype[Any]]
reveal_type(patchfold.coverage(size, 3, out=y))  # mypy: ndarray[tuple[int, int], dtype[float32]]
reveal_type(patchfold.reconstruct(columns, [1, 3, 8, 8], 3))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]
reveal_type(patchfold.unfold_view(x, 3))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]
reveal_type(patchfold.space_to_depth_view(x, 2))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]
reveal_type(patchfold.gather_patches(x, [(0, 0)], 2))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]
reveal_type(patchfold.keras.unfold(x, 3))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]
reveal_type(patchfold.onnx.col2im(x, (2, 2), (1, 1)))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]
reveal_type(patchfold.openvino.col2im(names, (2, 2), (1, 1)))  # mypy: ndarray[tuple[Any, ...], dtype[str_]]
reveal_type(patchfold.run("unfold", x, kernel_size=3))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]
reveal_type(patchfold.plan("unfold", x, kernel_size=3)(x))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]
reveal_type(patchfold.patchify(x, 4))  # mypy: ndarray[tuple[Any, ...], dtype[float32]]

# The type of a result has the library and element type of the input, and also the number of axes if the function keeps it
reveal_type(patchfold.unfold(x, 3, positions="grid"))  # mypy: ndarray[tuple[int, int, int, int], dtype[float32]]
reveal_type(patchfold.fold(x, (9, 9), 2, positions="grid"))  # mypy: ndarray[tuple[int, int, int, int], dtype[float32]]
reveal_type(patchfold.reorder(x, 2, positions="grid"))  # mypy: ndarray[tuple[int, int, int, int], dtype[float32]]
reveal_type(patchfold.space_to_depth(x, 2))  # mypy: ndarray[tuple[int, int, int, int], dtype[float32]]
reveal_type(patchfold.coverage(size, 3))  # mypy: ndarray[tuple[int, int], dtype[float32]]
reveal_type(patchfold.coverage(size, 3, dtype=np.int16))  # mypy: ndarray[tuple[int, int], dtype[int16]]
reveal_type(patchfold.reconstruct(y, size, (2,)))  # mypy: ndarray[tuple[int, int], dtype[float32]]
reveal_type(patchfold.reconstruct(columns, x.shape, 3))  # mypy: ndarray[tuple[int, int, int, int], dtype[float32]]

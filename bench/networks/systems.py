# SPDX-License-Identifier: Apache-2.0
"""The calls of bench/networks/drawn.py as patchfold, NumPy, torch, ONNX Runtime and oneDNN run them.

Every system reads the same memory, and writes to the same memory, except torch's shuffles, which allocate their result.
Numbers are small integers, so that every type represents every sum, and a right result equals NumPy's in every element.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped]
import patchfold
import torch
from drawn import Call
from numpy.lib.stride_tricks import as_strided
from onednn import OneDNN
from onnx import helper

Array = np.ndarray[Any, Any]
ALIGNMENT = 4096


class Work(NamedTuple):
    run: Callable[[], Any]
    result: Callable[[Any], Array]  # returns the array to compare, from what run() returned


class Data(NamedTuple):
    """The input of a call, and the array for its result. The memory of a view has no gaps."""

    x: Array
    out: Array


def empty(shape: tuple[int, ...], dtype: Any) -> Array:
    size = math.prod(shape) * np.dtype(dtype).itemsize
    pages = np.zeros(size + ALIGNMENT, np.uint8)
    start = -pages.ctypes.data % ALIGNMENT
    array: Array = pages[start : start + size].view(dtype).reshape(shape)
    return array


def data_of(call: Call) -> Data:
    drawn = np.random.default_rng(0).integers(0, 3, 1000003)

    def filled(shape: tuple[int, ...]) -> Array:
        array = empty(shape, call.dtype)
        array[...] = np.resize(drawn, array.size).reshape(shape)
        return array

    n, c, *image = call.shape
    if call.op == "copy":
        span = sum((extent - 1) * stride for extent, stride in zip(call.shape, call.strides, strict=True)) + 1
        memory = filled((span,))
        strides = tuple(stride * memory.itemsize for stride in call.strides)
        return Data(as_strided(memory, call.shape, strides), empty(call.shape, call.dtype))
    if call.op == "unfold":
        return Data(filled(call.shape), empty(call.columns, call.dtype))
    if call.op == "fold":
        return Data(filled(call.columns), empty(call.shape, call.dtype))
    block = call.kernel[0]
    if call.op == "pixel_shuffle":
        return Data(filled(call.shape), empty((n, c // block**2, *(extent * block for extent in image)), call.dtype))
    return Data(filled(call.shape), empty((n, c * block**2, *(extent // block for extent in image)), call.dtype))


def with_patchfold(call: Call, x: Array, out: Array) -> Work | None:
    windows: dict[str, Any] = {"stride": call.stride, "padding": call.padding, "dilation": call.dilation, "out": out}
    if call.op == "unfold":
        return Work(lambda: patchfold.unfold(x, call.kernel, **windows), lambda _: out)
    if call.op == "fold":
        return Work(lambda: patchfold.fold(x, call.shape[2:], call.kernel, **windows), lambda _: out)
    if call.op == "copy":
        return Work(lambda: patchfold.copy(x, out=out), lambda _: out)
    shuffle = patchfold.depth_to_space if call.op == "pixel_shuffle" else patchfold.space_to_depth
    return Work(lambda: shuffle(x, call.kernel, mode="depth_first", out=out), lambda _: out)


def _taps(call: Call, picture: Array, columns: Array) -> list[tuple[Array, Array]]:
    """Returns a pair of views for each tap: of the padded picture's elements at all positions, and of their columns."""
    columns = columns.reshape(*call.shape[:2], math.prod(call.kernel), *call.positions)
    pairs = []
    for i, tap in enumerate(np.ndindex(*call.kernel)):
        axes = zip(tap, call.dilation, call.positions, call.stride, strict=True)
        places = tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in axes)
        pairs.append((picture[(..., *places)], columns[:, :, i]))
    return pairs


def with_numpy(call: Call, x: Array, out: Array) -> Work:
    """Returns NumPy's work: a copy of a view, or a copy or addition for each tap. Pads unfold's picture here, untimed."""
    n, c, *image = call.shape
    if call.op in ("unfold", "fold"):
        padded = empty((n, c, *(extent + 2 * p for extent, p in zip(image, call.padding, strict=True))), call.dtype)
        inside = padded[(..., *(slice(p, p + extent) for extent, p in zip(image, call.padding, strict=True)))]
        if call.op == "unfold":
            inside[...] = x
            cuts = _taps(call, padded, out)
            return Work(lambda: [np.copyto(column, tap) for tap, column in cuts], lambda _: out)
        terms = _taps(call, padded, x)

        def add() -> None:
            padded[...] = 0
            for total, column in terms:
                np.add(total, column, out=total)

        return Work(add, lambda _: inside)
    view, target = x, out
    if call.op == "pixel_shuffle":
        block = call.kernel[0]
        view = x.reshape(n, c // block**2, block, block, *image).transpose(0, 1, 4, 2, 5, 3)
        target = out.reshape(view.shape)
    elif call.op == "pixel_unshuffle":
        block = call.kernel[0]
        view = x.reshape(n, c, image[0] // block, block, image[1] // block, block).transpose(0, 1, 3, 5, 2, 4)
        target = out.reshape(view.shape)
    return Work(lambda: np.copyto(target, view), lambda _: out)


def with_torch(call: Call, x: Array, out: Array) -> Work | None:
    aten = torch.ops.aten
    if call.op == "copy":
        source, target = torch.from_numpy(x), torch.from_numpy(out)
        return Work(lambda: target.copy_(source), lambda _: out)
    if call.op.startswith("pixel"):
        shuffle = getattr(torch.nn.functional, call.op)
        source, block = torch.from_numpy(x), call.kernel[0]
        return Work(lambda: shuffle(source, block), lambda result: result.numpy())
    more = 2 - (len(call.shape) - 2)  # the number of axes of one pixel to add, since torch's functions take two axes
    if more < 0:
        return None
    given = ((1, call.kernel), (1, call.dilation), (0, call.padding), (1, call.stride))
    steps = [[plain] * more + list(values) for plain, values in given]
    image = [1] * more + list(call.shape[2:])
    if call.op == "unfold":
        source, target = torch.from_numpy(x.reshape(*call.shape[:2], *image)), torch.from_numpy(out)
        return Work(lambda: aten.im2col.out(source, *steps, out=target), lambda _: out)
    source, target = torch.from_numpy(x), torch.from_numpy(out.reshape(*call.shape[:2], *image))
    return Work(lambda: aten.col2im.out(source, image, *steps, out=target), lambda _: out)


def _session(op: str, x: Array, out: Array, threads: int, constants: dict[str, Any] | None = None, **attributes: Any) -> Any:
    """Returns a function that runs a model of the single operator `op` in ONNX Runtime."""
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    constants = constants or {}
    node = helper.make_node(op, ["x", *constants], ["y"], **attributes)
    values = [onnx.numpy_helper.from_array(np.array(value, np.int64), name) for name, value in constants.items()]
    ports = [helper.make_tensor_value_info(name, kind, array.shape) for name, array in (("x", x), ("y", out))]
    graph = helper.make_graph([node], "graph", ports[:1], ports[1:], values)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    binding.bind_input("x", "cpu", 0, kind, x.shape, x.ctypes.data)
    binding.bind_output("y", "cpu", 0, kind, out.shape, out.ctypes.data)
    return lambda: session.run_with_iobinding(binding)


def _transposed(x: Array) -> tuple[Array, list[int]] | None:
    """Returns (array, order of axes): the memory of a view as an array, whose transposition by the order is the view.

    Returns None for a view whose memory has gaps.
    """
    order = sorted(range(x.ndim), key=lambda axis: (-x.strides[axis], -x.shape[axis]))
    memory = x.transpose(order)
    return (memory, [order.index(axis) for axis in range(x.ndim)]) if memory.flags.c_contiguous else None


def with_onnxruntime(call: Call, x: Array, out: Array, threads: int) -> Work | None:
    if call.op == "copy":
        found = _transposed(x)
        return Work(_session("Transpose", found[0], out, threads, perm=found[1]), lambda _: out) if found else None
    if call.op == "fold":
        steps = {"dilations": call.dilation, "pads": (*call.padding, *call.padding), "strides": call.stride}
        sizes = {"image": call.shape[2:], "block": call.kernel}
        return Work(_session("Col2Im", x, out, threads, sizes, **steps), lambda _: out)
    if call.op == "pixel_shuffle":
        return Work(_session("DepthToSpace", x, out, threads, blocksize=call.kernel[0], mode="CRD"), lambda _: out)
    if call.op == "pixel_unshuffle":
        n, c, h, w = out.shape
        block = call.kernel[0]
        run = _session("SpaceToDepth", x, out, threads, blocksize=block)
        # ONNX orders the channels of the result by offset first, torch by channel first.
        return Work(run, lambda _: out.reshape(n, block**2, c // block**2, h, w).swapaxes(1, 2).reshape(out.shape))
    return None


def makers(call: Call, data: Data, threads: int, onednn: OneDNN | None) -> dict[str, Callable[[], Work | None]]:
    """Returns {system: function that makes its work}. NumPy comes first; its results are taken as right. The function
    returns None if the system lacks the operator. If the system lacks the type, the function or the work's first run raises.
    """
    x, out = data
    made: dict[str, Callable[[], Work | None]] = {
        "NumPy": lambda: with_numpy(call, x, out),
        "patchfold": lambda: with_patchfold(call, x, out),
        "torch": lambda: with_torch(call, x, out),
        "ONNX Runtime": lambda: with_onnxruntime(call, x, out, threads),
    }
    if onednn and call.op == "copy":
        made["oneDNN"] = lambda: Work(onednn.copy(x, out), lambda _: out)
    return made

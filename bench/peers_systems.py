# SPDX-License-Identifier: Apache-2.0
"""The systems that are measured beside patchfold, each with a number of threads that is fixed when it is made.

System.work() returns the call that is timed and a function that reads its result, or None for a missing operator.
Preparations are not timed: models, padded pictures, data in the system's layout. A system that can be told where to write
writes into `out`, which all systems share, reshaped as the system needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped]
import openvino  # type: ignore[import-untyped]
import tensorflow as tf  # type: ignore[import-untyped]
import torch
from numpy.lib.stride_tricks import sliding_window_view
from onnx import TensorProto, helper
from openvino import opset1, opset2, opset3, opset15
from peers_problems import Array, Case, Extents, arranged, empty, patches_of_grid


class Work(NamedTuple):
    run: Callable[[], Any]
    result: Callable[[Any], Array]  # the array in the order of Case.canonical(), from the result of run()


class System(Protocol):
    name: str
    version: str

    def work(self, case: Case, x: Array, out: Array) -> Work | None: ...


def _kept(array: Array) -> Array:
    """Returns a contiguous copy in aligned memory."""
    copy = empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def _padded(case: Case, x: Array) -> Array:
    window = case.window
    if not any(begin or end for begin, end in window.pads):
        return x
    whole: list[tuple[int, int]] = [(0, 0)]
    return _kept(np.pad(x, [*whole, *window.pads, *whole] if case.last else [*whole * 2, *window.pads]))


def _rule(case: Case, x: Array) -> tuple[str, Array]:
    """Returns the padding rule, SAME or VALID, and the picture, padded where neither rule gives its pads."""
    window = case.window
    if any(begin or end for begin, end in window.pads) and window.pads == window.same_pads:
        return "same", x
    return "valid", _padded(case, x)


def _depth_first(case: Case, deep: Array) -> Array:
    """Returns the blocks with channels in torch's order: c * K + offset for offset * C + c."""
    r = case.window.rank
    blocks = case.blocks(deep)  # (offsets.., N, C, positions..)
    axes = (*range(r + 2, 2 * r + 2), r + 1, *range(r)) if case.last else (r + 1, *range(r), *range(r + 2, 2 * r + 2))
    result: Array = _kept(blocks.transpose(r, *axes)).reshape(deep.shape)
    return result


class NumPy:
    """Strided views and one copy, always on one thread."""

    name = "NumPy"
    version = np.__version__

    def __init__(self, threads: int) -> None:
        pass

    def work(self, case: Case, x: Array, out: Array) -> Work | None:
        if case.kind == "fold":
            return None
        if case.kind == "unfold":
            src, dst = self._windows(case, x), case.patches(out)
        elif case.kind.startswith("space_to"):
            src, dst = case.cut(x), case.blocks(out)
        else:
            src, dst = case.blocks(x), case.cut(out)
        return Work(lambda: np.copyto(dst, src), lambda _: case.canonical(out))

    def _windows(self, case: Case, x: Array) -> Array:
        """Returns (N, C, taps.., positions..) of a padded picture."""
        window, r = case.window, case.window.rank
        image = case.picture(_padded(case, x))
        views = sliding_window_view(image, window.reach, axis=tuple(range(2, r + 2)))
        steps = tuple(slice(None, None, step) for step in (1, 1, *window.stride, *window.dilation))
        positions_first: Array = views[steps]
        return arranged(positions_first, (0, 1, *range(r + 2, 2 * r + 2), *range(2, r + 2)))


def _torch_tensor(array: Array) -> torch.Tensor:
    """Returns a tensor on the array's memory; torch cannot read NumPy's bfloat16 itself."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


class Torch:
    name = "torch"
    version = torch.__version__.split("+")[0]

    def __init__(self, threads: int) -> None:
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)

    def work(self, case: Case, x: Array, out: Array) -> Work | None:
        if case.kind in ("space_to_depth", "depth_to_space"):
            return self._shuffle(case, x)
        if case.kind in ("unfold", "fold") and case.window.rank <= 2 and not case.last and case.dtype[0] in "fbc":
            return self._windows(case, x, out)
        return None

    def _windows(self, case: Case, x: Array, out: Array) -> Work:
        """Calls the functions behind nn.functional.unfold and fold that take a place for the result."""
        window = case.window
        more = 2 - window.rank  # number of axes to add, each of one pixel
        kernel, dilation, stride = ((1,) * more + steps for steps in (window.kernel, window.dilation, window.stride))
        pads = (0,) * more + tuple(begin for begin, _ in window.pads)
        steps = (list(kernel), list(dilation), list(pads), list(stride))
        if case.kind == "unfold":
            image = _torch_tensor(x.reshape(*x.shape[:2], *(1,) * more, *window.image))
            target = _torch_tensor(out)
            return Work(lambda: torch.ops.aten.im2col.out(image, *steps, out=target), lambda _: case.canonical(out))
        columns = _torch_tensor(x)
        size = [1] * more + list(window.image)
        target = _torch_tensor(out.reshape(*out.shape[:2], *size))
        return Work(lambda: torch.ops.aten.col2im.out(columns, size, *steps, out=target), lambda _: case.canonical(out))

    def _shuffle(self, case: Case, x: Array) -> Work:
        """Returns torch's shuffle, which cannot write into `out`. Channels last are a memory format of torch."""
        data = x if case.kind == "space_to_depth" else _depth_first(case, x)
        tensor = _torch_tensor(case.picture(data))
        block = case.window.kernel[0]
        if case.kind == "depth_to_space":
            return Work(lambda: torch.nn.functional.pixel_shuffle(tensor, block), lambda result: result.numpy())
        n, c, kernel, positions = case.batch, case.channels, case.window.kernel, case.window.positions
        return Work(
            lambda: torch.nn.functional.pixel_unshuffle(tensor, block),
            lambda result: result.numpy().reshape(n, c, *kernel, *positions).transpose(2, 3, 0, 1, 4, 5),
        )


class OpenVINO:
    """OpenVINO, whose tensors of data and result share our memory."""

    name = "OpenVINO"
    version = openvino.__version__.split("-")[0]
    types = {"u8": openvino.Type.u8, "i32": openvino.Type.i32, "f32": openvino.Type.f32}

    def __init__(self, threads: int) -> None:
        self._core = openvino.Core()
        self._config = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "INFERENCE_PRECISION_HINT": "f32",
            # Pinned threads would slow down the system that runs next.
            "ENABLE_CPU_PINNING": False,
        }

    def work(self, case: Case, x: Array, out: Array) -> Work | None:
        depth = case.kind in ("space_to_depth", "depth_to_space")
        if case.dtype not in self.types or (case.last and (depth or case.kind in ("unfold", "fold"))):
            return None
        if case.kind == "unfold":
            return self._patches(case, x, out) if case.window.rank <= 2 else None
        if case.kind == "fold":
            return self._fold(case, x, out) if case.window.rank == 2 else None
        parameter = self._parameter(case, x)
        if depth:
            make = opset1.space_to_depth if case.kind == "space_to_depth" else opset1.depth_to_space
            return self._request(case, make(parameter, "blocks_first", case.window.kernel[0]), parameter, x, out)
        around = ((1,), (1,)) if case.last else ((1, 1), ())
        block = np.array(around[0] + case.window.kernel + around[1], np.int64)
        make = opset2.space_to_batch if case.kind == "space_to_batch" else opset2.batch_to_space
        none = np.zeros_like(block)
        return self._request(case, make(parameter, block, none, none), parameter, x, out)

    def _parameter(self, case: Case, x: Array) -> Any:
        return opset1.parameter(list(x.shape), self.types[case.dtype])

    def _patches(self, case: Case, x: Array, out: Array) -> Work:
        """Returns the work of patches. OpenVINO orders the result's channels by tap first, then by channel."""
        window = case.window
        rule, image = _rule(case, x)
        more = (1,) * (2 - window.rank)  # axes to add, each of one pixel
        image = image.reshape(*image.shape[:2], *more, *image.shape[2:])
        parameter = self._parameter(case, image)
        steps = ([*more, *step] for step in (window.kernel, window.stride, window.dilation))
        node = opset3.extract_image_patches(parameter, *steps, "same_upper" if rule == "same" else "valid")
        shape = (case.batch, *window.kernel, case.channels, *window.positions)
        work = self._request(case, node, parameter, image, out)
        return Work(work.run, lambda _: np.moveaxis(out.reshape(shape), window.rank + 1, 1))

    def _fold(self, case: Case, x: Array, out: Array) -> Work:
        window = case.window
        parameter = self._parameter(case, x)
        node = opset15.col2im(
            parameter,
            np.array(window.image, np.int64),
            np.array(window.kernel, np.int64),
            strides=list(window.stride),
            dilations=list(window.dilation),
            pads_begin=[begin for begin, _ in window.pads],
            pads_end=[end for _, end in window.pads],
        )
        return self._request(case, node, parameter, x, out)

    def _request(self, case: Case, node: Any, parameter: Any, x: Array, out: Array) -> Work:
        request = self._core.compile_model(openvino.Model([node], [parameter]), "CPU", self._config).create_infer_request()
        target = out.reshape(tuple(node.output(0).shape))
        request.set_input_tensor(openvino.Tensor(x, shared_memory=True))
        request.set_output_tensor(openvino.Tensor(target, shared_memory=True))
        return Work(request.infer, lambda _: case.canonical(out))


class OnnxRuntime:
    """ONNX Runtime, its data and result bound to our memory."""

    name = "ONNX Runtime"
    version = onnxruntime.__version__
    types = {"f32": TensorProto.FLOAT, "f64": TensorProto.DOUBLE, "u8": TensorProto.UINT8}

    def __init__(self, threads: int) -> None:
        self._options = onnxruntime.SessionOptions()
        self._options.intra_op_num_threads = threads
        self._options.inter_op_num_threads = 1
        self._options.log_severity_level = 4

    def work(self, case: Case, x: Array, out: Array) -> Work | None:
        operator = {"fold": "Col2Im", "space_to_depth": "SpaceToDepth", "depth_to_space": "DepthToSpace"}.get(case.kind)
        if operator is None or case.last or case.dtype not in self.types:
            return None
        if operator == "Col2Im" and case.dtype != "f32":
            return None
        if operator != "Col2Im":
            return self._session(case, x, out, operator, {}, {"blocksize": case.window.kernel[0]})
        window = case.window
        pads = [begin for begin, _ in window.pads] + [end for _, end in window.pads]
        attributes = {"dilations": list(window.dilation), "pads": pads, "strides": list(window.stride)}
        inputs = {"image_shape": window.image, "block_shape": window.kernel}
        return self._session(case, x, out, operator, inputs, attributes)

    def _session(
        self, case: Case, x: Array, out: Array, operator: str, inputs: dict[str, Extents], attributes: dict[str, Any]
    ) -> Work:
        element = self.types[case.dtype]
        graph = helper.make_graph(
            [helper.make_node(operator, ["data", *inputs], ["result"], **attributes)],
            operator,
            [helper.make_tensor_value_info("data", element, list(x.shape))],
            [helper.make_tensor_value_info("result", element, list(out.shape))],
            [helper.make_tensor(name, TensorProto.INT64, [len(values)], values) for name, values in inputs.items()],
        )
        model: onnx.ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
        session = onnxruntime.InferenceSession(model.SerializeToString(), self._options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        binding.bind_input("data", "cpu", 0, x.dtype, x.shape, x.ctypes.data)
        binding.bind_output("result", "cpu", 0, out.dtype, out.shape, out.ctypes.data)
        return Work(lambda: session.run_with_iobinding(binding), lambda _: case.canonical(out))


class TensorFlow:
    """TensorFlow, eager: each call makes a new result in the memory of the result before."""

    name = "TensorFlow"
    version = tf.__version__

    def __init__(self, threads: int) -> None:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)

    def work(self, case: Case, x: Array, out: Array) -> Work | None:
        if case.kind == "unfold":
            return self._patches(case, x) if case.window.rank <= 3 else None
        if case.kind.endswith("batch") or case.kind.startswith("batch"):
            return self._batch(case, x)
        if case.kind == "fold" or not case.last:
            return None
        operator = tf.raw_ops.SpaceToDepth if case.kind == "space_to_depth" else tf.raw_ops.DepthToSpace
        tensor = tf.constant(x)
        block = case.window.kernel[0]
        return Work(lambda: operator(input=tensor, block_size=block), lambda result: case.canonical(result.numpy()))

    def _batch(self, case: Case, x: Array) -> Work:
        """Returns space-to-batch. With channels first the blocked axes include the channels, in blocks of one."""
        block = case.window.kernel if case.last else (1, *case.window.kernel)
        tensor, extents = tf.constant(x), tf.constant(block, tf.int64)
        none = tf.zeros((len(block), 2), tf.int64)
        if case.kind == "space_to_batch":
            return Work(
                lambda: tf.raw_ops.SpaceToBatchND(input=tensor, block_shape=extents, paddings=none),
                lambda result: case.canonical(result.numpy()),
            )
        return Work(
            lambda: tf.raw_ops.BatchToSpaceND(input=tensor, block_shape=extents, crops=none),
            lambda result: case.canonical(result.numpy()),
        )

    def _patches(self, case: Case, x: Array) -> Work:
        """Returns the work of patches; TensorFlow has them for channels last only, also in the result."""
        window = case.window
        rule, image = _rule(case, x)
        more = max(0, 2 - window.rank)  # number of axes to add, each of one pixel
        image = image if case.last else _kept(np.moveaxis(image, 1, -1))
        tensor = tf.constant(image.reshape(image.shape[0], *(1,) * more, *image.shape[1:]))
        ksizes, strides, rates = ([1, *(1,) * more, *steps, 1] for steps in (window.kernel, window.stride, window.dilation))
        shape = (case.batch, *window.positions, *window.kernel, case.channels)

        def result(returned: Any) -> Array:
            grid: Array = returned.numpy().reshape(shape)
            return arranged(grid, patches_of_grid(window.rank))

        if window.rank == 3:
            return Work(
                lambda: tf.raw_ops.ExtractVolumePatches(input=tensor, ksizes=ksizes, strides=strides, padding=rule.upper()),
                result,
            )
        return Work(
            lambda: tf.raw_ops.ExtractImagePatches(
                images=tensor, ksizes=ksizes, strides=strides, rates=rates, padding=rule.upper()
            ),
            result,
        )


def systems(threads: int) -> list[System]:
    """Returns the systems in the order of the tables."""
    return [Torch(threads), OpenVINO(threads), OnnxRuntime(threads), TensorFlow(threads), NumPy(threads)]

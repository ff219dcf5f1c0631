# SPDX-License-Identifier: Apache-2.0
"""OpenVINO's CPU plugin, one thread, in the precision of the element type.

Shapes are static. With dynamic shapes, OpenVINO 2026.4 does not report errors of its shape inference, but returns an
empty result or the result of the call before.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy
import openvino
from openvino import opset1, opset2, opset3, opset15
from problem import DTYPES, Answer, Array, Problem, Refusal

_TYPES = {
    "bool": openvino.Type.boolean,
    "int8": openvino.Type.i8,
    "int16": openvino.Type.i16,
    "int32": openvino.Type.i32,
    "int64": openvino.Type.i64,
    "uint8": openvino.Type.u8,
    "uint16": openvino.Type.u16,
    "uint32": openvino.Type.u32,
    "uint64": openvino.Type.u64,
    "float16": openvino.Type.f16,
    "bfloat16": openvino.Type.bf16,
    "float32": openvino.Type.f32,
    "float64": openvino.Type.f64,
    "float8_e4m3fn": openvino.Type.f8e4m3,
    "float8_e5m2": openvino.Type.f8e5m2,
}

_SUMMED = tuple(name for name in _TYPES if not name.startswith("float8"))

_CONFIG = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}

# A model costs about 14 ms to compile, and 1 ms for every further operator in it.
_OPERATORS_OF_A_MODEL = 100


class System:
    name = "openvino"
    version = openvino.__version__.split("-")[0]
    group = 8  # problems with equal shape and attributes in a call; eight cost little more than one
    settings = 5
    operators = {
        "openvino.Col2Im-15": _SUMMED,
        "openvino.ExtractImagePatches-3": tuple(_TYPES),
        "openvino.SpaceToBatch-2": tuple(_TYPES),
        "openvino.BatchToSpace-2": tuple(_TYPES),
        "openvino.SpaceToDepth-1": tuple(_TYPES),
        "openvino.DepthToSpace-1": tuple(_TYPES),
    }

    def __init__(self) -> None:
        self._core = openvino.Core()

    def run(self, problem: Problem) -> Array:
        """Runs a problem. Raises Refusal with OpenVINO's message, or with the reason why OpenVINO must not get it."""
        (answer,) = self.run_many([problem])
        if isinstance(answer, Refusal):
            raise answer
        return answer

    def run_many(self, problems: Sequence[Problem]) -> list[Answer]:
        """Runs problems as operators of one model; problems that OpenVINO refuses get a Refusal."""
        results: list[Answer] = []
        for begin in range(0, len(problems), _OPERATORS_OF_A_MODEL):
            results += self._run_model(problems[begin : begin + _OPERATORS_OF_A_MODEL])
        return results

    def _run_model(self, problems: Sequence[Problem]) -> list[Answer]:
        results: list[Answer | None] = []
        accepted: list[Problem] = []
        parameters, nodes = [], []
        for problem in problems:
            try:
                if reason := _unsafe(problem):
                    raise Refusal(reason)
                parameter = opset1.parameter(list(problem.data.shape), _TYPES[problem.dtype])
                nodes.append(_BUILDERS[problem.op](parameter, problem.attributes))
            except Exception as error:
                results.append(Refusal(_last_line(error)))
            else:
                parameters.append(parameter)
                accepted.append(problem)
                results.append(None)
        outputs = iter(self._infer(accepted, parameters, nodes))
        return [next(outputs) if result is None else result for result in results]

    def _infer(self, problems: list[Problem], parameters: list[Any], nodes: list[Any]) -> list[Answer]:
        if not problems:
            return []
        try:
            compiled = self._core.compile_model(openvino.Model(nodes, parameters), "CPU", _CONFIG)
            request = compiled.create_infer_request()
            request.infer({i: _tensor(problem) for i, problem in enumerate(problems)})
        except Exception as error:
            if len(problems) == 1:
                return [Refusal(_last_line(error))]
            return [answer for problem in problems for answer in self._run_model([problem])]
        return [_array(request.get_output_tensor(i), problem.dtype) for i, problem in enumerate(problems)]


def _unsafe(problem: Problem) -> str | None:
    """Returns the reason why a problem can crash OpenVINO, which may read past the ends of lists or data; else None."""
    given = problem.attributes
    lists = [values for values in given.values() if isinstance(values, (tuple, list))]
    if problem.op == "openvino.Col2Im-15" and any(len(values) < 2 for values in lists):
        return "reads two entries of a shorter list"
    if problem.op == "openvino.SpaceToBatch-2":
        if any(len(values) < problem.data.ndim for values in lists):
            return "reads an entry for each axis of a shorter list"
        if min(*given["pads_begin"], *given["pads_end"]) < 0 or min(given["block_shape"]) < 1:
            return "reads outside the data with a negative pad, or a block below 1"
    return None


def _tensor(problem: Problem) -> openvino.Tensor:
    tensor = openvino.Tensor(_TYPES[problem.dtype], list(problem.data.shape))
    if problem.data.size:
        _bytes(tensor)[...] = numpy.ascontiguousarray(problem.data).reshape(-1).view(numpy.uint8)
    return tensor


def _array(tensor: openvino.Tensor, dtype: str) -> Array:
    assert tensor.element_type == _TYPES[dtype], f"the result is {tensor.element_type}"
    shape = tuple(tensor.shape)
    if not tensor.size:
        return numpy.empty(shape, DTYPES[dtype])
    return _bytes(tensor).copy().view(DTYPES[dtype]).reshape(shape)


def _bytes(tensor: openvino.Tensor) -> Array:
    """Returns a tensor's memory as bytes. For types that NumPy lacks, tensor.data has another type of equal size."""
    data: Array = tensor.data.reshape(-1).view(numpy.uint8)
    return data


def _last_line(error: Exception) -> str:
    return str(error).strip().splitlines()[-1]


def _constant(values: Sequence[int]) -> Array:
    return numpy.array([int(value) for value in values], dtype=numpy.int64)


def _integers(values: Sequence[int]) -> list[int]:
    return [int(value) for value in values]


def _col2im(data: Any, attributes: dict[str, Any]) -> Any:
    lists = {name: attributes.get(name) for name in ("strides", "dilations", "pads_begin", "pads_end")}
    return opset15.col2im(
        data,
        _constant(attributes["output_size"]),
        _constant(attributes["kernel_size"]),
        **{name: _integers(values) for name, values in lists.items() if values is not None},
    )


def _extract_image_patches(data: Any, attributes: dict[str, Any]) -> Any:
    sizes, strides, rates = (_integers(attributes[name]) for name in ("sizes", "strides", "rates"))
    return opset3.extract_image_patches(data, sizes, strides, rates, attributes["auto_pad"])


def _space_to_batch(data: Any, attributes: dict[str, Any]) -> Any:
    return opset2.space_to_batch(data, *(_constant(attributes[name]) for name in ("block_shape", "pads_begin", "pads_end")))


def _batch_to_space(data: Any, attributes: dict[str, Any]) -> Any:
    return opset2.batch_to_space(
        data, *(_constant(attributes[name]) for name in ("block_shape", "crops_begin", "crops_end"))
    )


def _space_to_depth(data: Any, attributes: dict[str, Any]) -> Any:
    return opset1.space_to_depth(data, attributes["blocks_mode"], attributes.get("block_size", 1))


def _depth_to_space(data: Any, attributes: dict[str, Any]) -> Any:
    return opset1.depth_to_space(data, attributes["blocks_mode"], attributes.get("block_size", 1))


_BUILDERS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "openvino.Col2Im-15": _col2im,
    "openvino.ExtractImagePatches-3": _extract_image_patches,
    "openvino.SpaceToBatch-2": _space_to_batch,
    "openvino.BatchToSpace-2": _batch_to_space,
    "openvino.SpaceToDepth-1": _space_to_depth,
    "openvino.DepthToSpace-1": _depth_to_space,
}

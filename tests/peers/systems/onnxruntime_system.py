# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime on the CPU, one thread."""

import ctypes
from typing import Any

import numpy
import onnxruntime
from problem import DTYPES, Answer, Array, Problem, Refusal, answers

from systems import Kept
from systems.onnx_models import ELEMENT_TYPES, OPERATORS, model

_QUIET = 4


class System:
    name = "onnxruntime"
    version = onnxruntime.__version__
    operators = OPERATORS

    def __init__(self) -> None:
        onnxruntime.set_default_logger_severity(_QUIET)
        self._options = onnxruntime.SessionOptions()
        self._options.intra_op_num_threads = 1
        self._options.inter_op_num_threads = 1
        self._options.log_severity_level = _QUIET
        self._session = Kept(self._make)

    def run(self, problem: Problem) -> Array:
        session = self._session(problem)
        data = numpy.ascontiguousarray(problem.data)
        try:
            value = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(data, ELEMENT_TYPES[problem.dtype])
            (result,) = session.run_with_ort_values(None, {"data": value})
        except Exception as error:
            raise Refusal(str(error)) from error
        return _array(result, DTYPES[problem.dtype])

    def run_many(self, problems: list[Problem]) -> list[Answer]:
        return answers(self.run, problems)

    def _make(self, problem: Problem) -> onnxruntime.InferenceSession:
        return onnxruntime.InferenceSession(
            model(problem).SerializeToString(), self._options, providers=["CPUExecutionProvider"]
        )


def _array(value: onnxruntime.OrtValue, dtype: numpy.dtype[Any]) -> Array:
    """Returns a copy of a tensor as an array, made from its bytes, since OrtValue.numpy() does not know every type."""
    shape = tuple(value.shape())
    count = dtype.itemsize * int(numpy.prod(shape, dtype=numpy.int64))
    data = ctypes.string_at(value.data_ptr(), count) if count else b""
    return numpy.frombuffer(data, dtype).reshape(shape)

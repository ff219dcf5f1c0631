# SPDX-License-Identifier: Apache-2.0
"""Reads, runs and compares ONNX node tests: FOLDER/model.onnx and FOLDER/test_data_set_N/{input,output}_M.pb."""

from __future__ import annotations

import math
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import AttributeProto, ModelProto, TensorProto, helper, numpy_helper
from onnx.checker import ValidationError

from .._arrays.dtypes import BY_ONNX_CODE
from .._errors import Error, InvalidValue
from . import backend

NumpyArray = npt.NDArray[Any]
Message = TypeVar("Message", ModelProto, TensorProto)

# A model of one node is small. A hostile model would take many times its size as Python objects.
_MOST_MODEL_BYTES = 1 << 26
_MOST_TENSOR_BYTES = (1 << 31) - 1  # the limit of every protocol buffer
_MOST_AXES = 32

_ATTRIBUTE_TYPES = (AttributeProto.INT, AttributeProto.FLOAT, AttributeProto.STRING, AttributeProto.INTS)

# The tests' reference rounds half-precision sums at each addition, patchfold only once. These are the allowed difference, in
# units in the last place of the largest number, and the size of a unit as a part of this number.
_HALF_UNITS = 16
_HALF_UNIT = {"float16": 2.0**-10, "bfloat16": 2.0**-7}


def _fail(path: Path, code: str, rule: str, given: object = "", expected: object = "") -> NoReturn:
    raise InvalidValue("onnx", str(path), rule, str(given), str(expected), code=code)


def _read(path: Path, most: int) -> bytes:
    """Reads a regular file that is not larger than the limit."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            _fail(path, "file_open", "must be a regular file")
        if status.st_size > most:
            _fail(path, "file_unsupported", "is too large", f"{status.st_size} bytes", f"at most {most} bytes")
        return path.read_bytes()
    except OSError as error:
        _fail(path, "file_open", f"cannot be opened: {error.strerror}")


def _message(kind: type[Message], path: Path, most: int) -> Message:
    content = _read(path, most)
    message: Message | None
    try:
        message = kind.FromString(content)
    except DecodeError:
        message = None
    if not content or message is None:
        _fail(path, "file_format", "must be an ONNX file (a protocol buffer)")
    return message


def _names(folder: Path, begin: str, end: str) -> list[str]:
    """Returns the names in a folder that begin and end with these texts, in the order of their numbers."""
    try:
        names = [entry.name for entry in folder.iterdir()]
    except OSError as error:
        _fail(folder, "file_open", f"cannot be read: {error.strerror}")
    return sorted((name for name in names if name.startswith(begin) and name.endswith(end)), key=lambda n: (len(n), n))


def _range(dtype: np.dtype[Any]) -> tuple[int, int]:
    """Returns the least and the greatest integer that a typed field may hold for an element of a type: the element, or the
    bits of a non-integer."""
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return 0, 1 if dtype.kind == "b" else 2 ** (8 * dtype.itemsize) - 1


def _array(tensor: TensorProto, path: Path) -> NumpyArray:
    """Returns a tensor's values after checks. Without the checks, to_array() would open other files, infer extents of -1 and
    wrap values."""
    if tensor.data_type == TensorProto.UNDEFINED:
        _fail(path, "file_format", "must be a tensor with an element type")
    if tensor.data_type not in BY_ONNX_CODE:
        _fail(path, "file_unsupported", "has an element type that is not read", tensor.data_type)
    if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data or tensor.HasField("segment"):
        _fail(path, "file_unsupported", "keeps its values in other files, which are not read")
    shape = tuple(tensor.dims)
    if len(shape) > _MOST_AXES:
        _fail(path, "file_unsupported", "has too many axes", len(shape), f"at most {_MOST_AXES}")
    if any(extent < 0 for extent in shape):
        _fail(path, "file_format", "must not have negative extents", shape)
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type))
    if math.prod(extent for extent in shape if extent) * dtype.itemsize >= 1 << 63:
        _fail(path, "file_format", "has a shape without a size of 63 bits", shape)

    rule = "must hold as many values as its shape says"
    if tensor.HasField("raw_data"):
        wanted = math.prod(shape) * dtype.itemsize
        if len(tensor.raw_data) != wanted:
            _fail(path, "file_format", rule, f"{len(tensor.raw_data)} bytes", f"{wanted} bytes")
    else:
        values = getattr(tensor, helper.tensor_dtype_to_field(tensor.data_type))
        wanted = math.prod(shape) * (2 if dtype.kind == "c" else 1)
        if len(values) != wanted:
            _fail(path, "file_format", rule, len(values), wanted)
        if values and isinstance(values[0], int):
            least, most = _range(dtype)
            for value in (min(values), max(values)):
                if not least <= value <= most:
                    _fail(path, "file_format", "must hold values that its type can hold", value, f"{least} to {most}")
    return numpy_helper.to_array(tensor)


def _arrays(folder: Path, kind: str, count: int) -> list[NumpyArray]:
    """Reads the files KIND_0.pb, KIND_1.pb, .. of a data set, which must have exactly `count` of them."""
    found = len(_names(folder, f"{kind}_", ".pb"))
    if found != count:
        _fail(folder, "file_format", f"must hold one {kind}_N.pb for each {kind} of the model", found, count)
    paths = [folder / f"{kind}_{number}.pb" for number in range(count)]
    return [_array(_message(TensorProto, path, _MOST_TENSOR_BYTES), path) for path in paths]


def _prepared(model: ModelProto, path: Path) -> backend.PreparedModel:
    """Checks that the model is one node of one of patchfold's operators, and prepares it."""
    graph = model.graph
    if len(graph.node) != 1:
        _fail(path, "file_unsupported", "must be a model of one node", len(graph.node))
    if model.functions:
        _fail(path, "file_unsupported", "must be a model without functions of its own", len(model.functions))
    (node,) = graph.node
    for attribute in node.attribute:
        if attribute.type not in _ATTRIBUTE_TYPES:
            rule = "must have attributes that are numbers, strings or lists of integers"
            _fail(path, "file_unsupported", rule, attribute.name)
    for tensor in graph.initializer:
        _array(tensor, path)
    for named in (node, *model.opset_import):
        if named.domain == "ai.onnx":  # the checker knows only the short name of ONNX's domain
            named.domain = ""
    try:
        prepared = backend.prepare(model)
    except (ValidationError, UnicodeDecodeError) as error:  # the checker's message may quote a name that is no UTF-8
        _fail(path, "file_format", f"is not a valid model: {' '.join(str(error).split())}")
    except Error as error:
        _fail(path, "file_unsupported", f"is not run: {error}")
    if len(prepared.operators) != 1:
        _fail(path, "file_unsupported", "has an operator that is not in the operator table", node.op_type)
    if [info.name for info in graph.output] != list(node.output):
        _fail(path, "file_format", "must have the output of its node as its only output")
    return prepared


@dataclass(frozen=True)
class DataSet:
    """One data set: inputs by their names in the model, and the expected output."""

    name: str
    inputs: dict[str, NumpyArray]
    expected: NumpyArray


class NodeTest:
    """A checked node test; ``results`` runs it."""

    def __init__(self, folder: Path) -> None:
        """Reads all files. Errors: InvalidValue, which names the file."""
        path = folder / "model.onnx"
        model = _message(ModelProto, path, _MOST_MODEL_BYTES)
        self._model = _prepared(model, path)
        (self._spec,) = self._model.operators
        self._data = model.graph.node[0].input[0]
        self._constants = {tensor.name: _array(tensor, path) for tensor in model.graph.initializer}
        files = [info.name for info in model.graph.input if info.name not in self._constants]

        self.operator = self._spec.name
        self.data_sets: list[DataSet] = []
        for name in _names(folder, "test_data_set_", ""):
            given = dict(zip(files, _arrays(folder / name, "input", len(files)), strict=True))
            (expected,) = _arrays(folder / name, "output", 1)
            self.data_sets.append(DataSet(name, given, expected))
        if not self.data_sets:
            _fail(folder, "file_format", "must hold folders named test_data_set_N")

    def results(self) -> Iterator[tuple[DataSet, str, str]]:
        """Runs each data set and yields (the data set, type and shape of the result, the fault or "")."""
        for data_set in self.data_sets:
            try:
                (got,) = self._model.run(data_set.inputs)
            except (Error, MemoryError) as error:
                yield data_set, "", str(error) or "out of memory"
            else:
                yield data_set, _type_text(got), difference(got, data_set.expected, self._allowance(data_set))

    def _allowance(self, data_set: DataSet) -> float:
        """Returns the allowed error of a sum; 0 for types that the tests' reference adds in the same way."""
        data = (self._constants | data_set.inputs)[self._data]
        if not self._spec.sums or data.dtype.name not in _HALF_UNIT:
            return 0
        return _HALF_UNITS * _HALF_UNIT[data.dtype.name] * max(_largest(data), _largest(data_set.expected))


def _largest(array: NumpyArray) -> float:
    """Returns the largest finite magnitude of the numbers."""
    magnitudes = np.abs(array.astype(np.float64))
    return float(magnitudes[np.isfinite(magnitudes)].max(initial=0))


def _type_text(array: NumpyArray) -> str:
    return f"{array.dtype.name} {array.shape}"


def _numbers(array: NumpyArray) -> NumpyArray:
    """Returns the elements as rows of one number, or of two numbers for complex types."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype).reshape(flat.size, 2 if flat.dtype.kind == "c" else 1)


def difference(got: NumpyArray, expected: NumpyArray, allowance: float) -> str:
    """Describes the first difference, or returns "". All NaN are equal, and numbers may differ by the allowance."""
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return f"got {_type_text(got)}, expected {_type_text(expected)}"
    a, b = _numbers(got), _numbers(expected)
    same = a.view(f"u{a.itemsize}") == b.view(f"u{b.itemsize}")
    if a.dtype.kind not in "biu":
        a, b = a.astype(np.float64), b.astype(np.float64)
        same |= np.isnan(a) & np.isnan(b)
        if allowance > 0:
            with np.errstate(invalid="ignore"):  # infinity less infinity
                same |= np.abs(a - b) <= allowance
    wrong = np.flatnonzero(~same.all(axis=1))
    if not wrong.size:
        return ""
    index = tuple(int(i) for i in np.unravel_index(wrong[0], got.shape))
    values = [str(array[index]).removesuffix(".0") for array in (got, expected)]
    return f"first difference at [{','.join(map(str, index))}]: got {values[0]}, expected {values[1]}"

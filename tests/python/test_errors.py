# SPDX-License-Identifier: Apache-2.0
"""Tests of wrong calls: the exact message and class of the error, for every function, argument and kind of mistake.

A message is "OPERATOR: ARGUMENT: RULE; given GIVEN, expected EXPECTED". This file makes the calls that do not depend on
shapes: wrong values for each kind of argument, and wrong arrays. All other calls are in the folder `wrong_calls`.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import patchfold
import pytest
from calls import DIALECTS, HERE, dialect_of, example, function_of
from numpy.lib.stride_tricks import as_strided
from patchfold import InvalidType, InvalidValue


class Frame:
    """An object that NumPy can convert to an array, like data frames, images and lazy arrays."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.zeros((1, 1, 4, 4))


NAMES = {
    "np": np,
    "FRAME": Frame(),
    "ml_dtypes": ml_dtypes,
    "patchfold": patchfold,
    **DIALECTS,
    "IMAGE": (IMAGE := np.zeros((2, 3, 6, 8), np.float32)),
    "UNSIGNED": np.zeros((1, 1, 4, 4), np.uint8),
    "TEXT": np.zeros((1, 1, 4, 4), "S3"),
    "PICTURES": np.zeros((2, 3, 12, 6), np.float32),
    "TOKENS": np.zeros((2, 8, 27), np.float32),
    "COLUMNS": np.zeros((2, 12, 35), np.float32),
    "NHWC": np.zeros((2, 6, 8, 3), np.float32),
    "VOLUME": np.zeros((1, 4, 4, 4, 2), np.float32),
    "FLAT": np.zeros(64, np.float32),
    "READ_ONLY": np.broadcast_to(np.float32(0), (1, 2, 3, 2, 2)),
    "REPEATED": np.lib.stride_tricks.as_strided(np.zeros(36, np.float32), (2, 2, 3, 2, 2), (0, 48, 16, 8, 4)),
    "PLAN": patchfold.plan("unfold", IMAGE, kernel_size=2),
    "FIXED": patchfold.plan("unfold", IMAGE, kernel_size=2, out=np.zeros((2, 12, 35), np.float32)),
}


def shaped_rows() -> list[tuple[str, str]]:
    """Returns (call, class and message) of each pair of lines in the files of `wrong_calls`."""
    rows = []
    for path in sorted(Path(__file__).with_name("wrong_calls").glob("*.txt")):
        lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
        rows += [(call, message.strip()) for call, message in zip(lines[::2], lines[1::2], strict=True)]
    return rows


def classes_of_codes() -> dict[str, str]:
    """Returns {"rank": "InvalidValue", ..} from the catalogue of errors; "" for a code that Python never raises."""
    catalogue = (Path(__file__).parents[2] / "src" / "tensor" / "error.cpp").read_text(encoding="utf-8")
    return dict(re.findall(r'\{ErrorCode::\w+, "(\w+)", "(\w*)",', catalogue))


CLASSES = classes_of_codes()
SHAPED = shaped_rows()
X = object()  # stands for the data of the valid call


class Row(NamedTuple):
    label: str
    spec: Any
    data: tuple[Any, ...]
    change: dict[str, Any]
    kind: type[Exception]
    message: str


def typed(value: Any) -> str:
    return f"given {value!r} of type {type(value).__name__}"


SUMMABLE = "bool, an integer, float16, bfloat16, float32, float64 or a complex type"
INTEGERS = "must be an integer or a sequence of integers"
PADDING = (
    "must be an integer, a sequence of integers or of pairs (begin, end), 'valid', 'same', 'same_upper' or 'same_lower'"
)
HUGE = 2**70
RANGE = f"must fit into 64 bits; given {HUGE}, expected between -2**63 and 2**63 - 1"
# For each kind of argument: the rule about its type, values that break the rule, and the expected value in the message.
TYPES: dict[str, tuple[str, list[Any], str]] = {
    "integer": ("must be an integer", ["2", 2.0, True, (2, 3), b"2"], "an integer"),
    "integers": ("must be a sequence of integers", ["22", 2.5, True, 2, [2.0, 1], [True, 1], {1, 2}], "a list of integers"),
    "axes": (
        INTEGERS,
        ["2", 2.0, True, [2.0, 2], [True, 2], {2}, b"2", [2, None]],
        "an integer, or a list with one for each spatial axis",
    ),
    "pairs": (
        "must be a sequence of pairs (begin, end)",
        ["0", 0, {0}, [[0.5, 0], [0, 0.5]]],
        "a list of pairs (begin, end)",
    ),
    "padding": (PADDING, [1.5, True, [1.5, 1], [None, 1], {1}, b"valid"], ""),
    "number": ("must be a number", ["0", None.__class__, {1}], ""),
    "boolean": ("must be True or False", [1, "true", 0.0], ""),
}


def wrong_arrays(spec) -> Iterator[Row]:
    """Yields calls with data that is no array, and with arrays whose elements the operator refuses."""
    (x,), _ = example(spec)
    name = next(iter(inspect.signature(function_of(spec)).parameters))
    no_array = f"{spec.name}: {name}: must be an array: NumPy's, torch's, or any with __dlpack__; given "
    for value, text in [
        (None, "NoneType"),
        (x.tolist(), f"list, expected numpy.asarray({name})"),
        ((1, 2), f"tuple, expected numpy.asarray({name})"),
        (3, f"int, expected numpy.asarray({name})"),
        ("x", "str"),
        (object(), "object"),
        (np.float32(1), f"numpy.float32, expected numpy.asarray({name})"),
    ]:
        yield Row(f"{name} of {type(value).__name__}", spec, (value,), {}, InvalidType, no_array + text)
    objects = "elements that hold Python objects cannot be moved as bytes; given object, expected elements of a fixed size"
    yield Row(f"{name} of objects", spec, (x.astype(object),), {}, InvalidType, f"{spec.name}: {name}: {objects}")
    masked = "masked arrays are not taken, since the mask would be lost; expected x.data or x.filled(..)"
    yield Row(f"{name} masked", spec, (np.ma.array(x),), {}, InvalidType, f"{spec.name}: {name}: {masked}")
    if spec.sums:
        for dtype, text in [("S3", "|S3"), ("U2", "<U2"), (">U2", ">U2"), ("M8[s]", "datetime64[s]"), ("V4", "|V4")]:
            message = f"elements must be of a type that can be added; given {text}, expected {SUMMABLE}"
            data = (x.astype(dtype) if dtype != "V4" else x.view(dtype),)
            yield Row(f"sum of {dtype}", spec, data, {}, InvalidType, f"{spec.name}: {name}: {message}")


def wrong_outputs(spec) -> Iterator[Row]:
    data, arguments = example(spec)
    result = function_of(spec)(*data, **arguments)
    shape, dtype = result.shape, result.dtype
    name = next(iter(inspect.signature(function_of(spec)).parameters))
    frozen = result.copy()
    frozen.flags.writeable = False
    repeated = np.lib.stride_tricks.as_strided(np.zeros(1, dtype), shape, [0] * len(shape))
    step = "elements must not share memory: each stride must step over what smaller ones reach"
    rows: list[tuple[str, Any, type[Exception], str]] = [
        (
            "rank",
            np.zeros((*shape, 1), dtype),
            InvalidValue,
            f"must have the shape of the operator's result; given {(*shape, 1)}, expected {shape}",
        ),
        (
            "extent",
            np.zeros((shape[0] + 1, *shape[1:]), dtype),
            InvalidValue,
            f"must have the shape of the operator's result; given {(shape[0] + 1, *shape[1:])}, expected {shape}",
        ),
        ("read-only", frozen, InvalidType, "must be writeable; given a read-only array"),
        (
            "repeated",
            repeated,
            InvalidValue,
            f"{step}; given {(0,) * len(shape)}, expected a stride of at least 4 bytes in place of 0",
        ),
        ("list", result.tolist(), InvalidType, "must be an array: NumPy's, torch's, or any with __dlpack__; given list"),
        ("text", "out", InvalidType, "must be an array: NumPy's, torch's, or any with __dlpack__; given str"),
        (
            "objects",
            result.astype(object),
            InvalidType,
            "elements that hold Python objects cannot be moved as bytes; given object, expected elements of a fixed size",
        ),
    ]
    if data:
        for other in (np.float64, np.int64, ">i4", "V4"):
            text = np.dtype(other)
            rows.append(
                (
                    f"of {text}",
                    np.zeros(shape, other),
                    InvalidType,
                    f"must have the element type of {name}; given {text}, expected int32",
                )
            )
        count = max(data[0].size, result.size)
        memory = np.zeros(count, dtype)
        x = memory[: data[0].size].reshape(data[0].shape)
        x[...] = data[0]
        shared = memory[count - result.size :].reshape(shape)
        message = f"{spec.name}: out: source and destination must not share memory"
        yield Row("out shared with the data", spec, (x,), {"out": shared}, InvalidValue, message)
    for label, out, kind, message in rows:
        yield Row(f"out {label}", spec, (X,), {"out": out}, kind, f"{spec.name}: out: {message}")


def takes(spec, name: str) -> bool:
    return name in inspect.signature(function_of(spec)).parameters


def wrong_types(spec, argument) -> Iterator[Row]:
    """Yields calls with values that do not have the type of the argument's kind."""
    place = f"{spec.name}: {argument.name}: "
    if argument.kind == "choice":
        words = "must be one of " + ", ".join(f"'{word}'" for word in argument.choices)
        for value in (0, b"valid", True, ["valid"]):
            message = f"{place}{words}; {typed(value)}"
            yield Row(f"{argument.name}={value!r}", spec, (X,), {argument.name: value}, InvalidType, message)
        for value in ("nonsense", "", argument.choices[-1].swapcase()):
            message = f"{place}{words}; given {value!r}"
            yield Row(f"{argument.name}={value!r}", spec, (X,), {argument.name: value}, InvalidValue, message)
        expected = words.removeprefix("must be ")
    else:
        rule, values, expected = TYPES[argument.kind]
        for value in values:
            message = f"{place}{rule}; {typed(value)}"
            yield Row(f"{argument.name}={value!r}", spec, (X,), {argument.name: value}, InvalidType, message)
    if argument.required:
        other = ", or sizes, which is the same argument" if argument.name == "ksizes" and takes(spec, "sizes") else ""
        message = f"{place}must be given{other}; expected {expected}"
        yield Row(f"{argument.name}=None", spec, (X,), {argument.name: None}, InvalidValue, message)


def wrong_values(spec, argument) -> Iterator[Row]:
    """Yields calls with integers beyond 64 bits and, for neutral operators' lists of spatial axes, below the least value."""
    place = f"{spec.name}: {argument.name}: "
    nested = {"integers": [1, HUGE], "pairs": [[0, HUGE], [0, 0]]}
    if argument.kind in ("integer", "axes", "padding", "integers", "pairs"):
        value = nested.get(argument.kind, HUGE)
        yield Row(f"{argument.name}=2**70", spec, (X,), {argument.name: value}, InvalidValue, place + RANGE)
    if argument.kind != "axes" or dialect_of(spec):
        return
    least = 0 if argument.name == "dilation" else 1
    for value in (least - 1, (least - 1, 1), (1, -5)):
        message = f"{place}must be at least {least} on every axis; given {value}"
        change = {argument.name: value}
        if spec.name == "reorder" and not isinstance(value, tuple):
            change["positions"] = "grid"  # flat columns do not show how many axes one number is for
        yield Row(f"{argument.name}={value}", spec, (X,), change, InvalidValue, message)


def python_errors(spec) -> Iterator[Row]:
    """Yields Python's own messages for calls that do not match the signature."""
    function = function_of(spec)
    data, arguments = example(spec)
    name = function.__name__
    unknown = f"{name}() got an unexpected keyword argument 'nonsense'"
    yield Row("unknown keyword", spec, (X,), {"nonsense": 1}, TypeError, unknown)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is inspect.Parameter.empty and parameter.name in arguments:
            only = "keyword-only" if parameter.kind is inspect.Parameter.KEYWORD_ONLY else "positional"
            message = f"{name}() missing 1 required {only} argument: '{parameter.name}'"
            yield Row(f"no {parameter.name}", spec, (X,), {parameter.name: ...}, TypeError, message)
    if data:
        first = next(iter(inspect.signature(function).parameters))
        message = f"{name}() missing 1 required positional argument: '{first}'"
        yield Row(f"no {first}", spec, (), {}, TypeError, message)


def made_rows() -> Iterator[Row]:
    for spec in HERE:
        if spec.data_input:
            yield from wrong_arrays(spec)
        yield from wrong_outputs(spec)
        yield from python_errors(spec)
        for argument in spec.arguments:
            yield from wrong_types(spec, argument)
            yield from wrong_values(spec, argument)


ROWS = list(made_rows())


def check(kind: type[Exception], message: str, call) -> None:
    with pytest.raises(Exception) as caught:
        call()
    assert (type(caught.value), str(caught.value)) == (kind, message)
    if isinstance(caught.value, patchfold.Error):
        assert CLASSES[caught.value.code] == kind.__name__


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.spec.name}: {row.label}")
def test_wrong_arguments_of_every_operator(row):
    data, arguments = example(row.spec)
    if not (row.data and row.data[0] is X):
        data = row.data
    arguments = {name: value for name, value in {**arguments, **row.change}.items() if value is not ...}
    check(row.kind, row.message, lambda: function_of(row.spec)(*data, **arguments))


@pytest.mark.parametrize(("call", "message"), SHAPED, ids=[call for call, _ in SHAPED])
def test_wrong_calls(call, message):
    kind, _, text = message.partition(": ")
    check(getattr(patchfold, kind), text, lambda: eval(call, NAMES))


WINDOW = {"strides": [1, 2, 2, 1], "rates": [1, 1, 1, 1], "padding": "SAME"}
SPATIAL = {"strides": (2, 2), "rates": (1, 1), "auto_pad": "same_upper"}
# A right call of each function that is no operator of the table: its array, and its other arguments.
CALLS = {
    patchfold.gather_patches: (IMAGE, {"corners": [(0, 0)], "size": 2}),
    patchfold.patchify: (IMAGE, {"patch_size": 2}),
    patchfold.unpatchify: (np.zeros((2, 12, 12)), {"size": (6, 8), "patch_size": 2}),
    patchfold.reconstruct: (np.zeros((2, 12, 12)), {"shape": (2, 3, 6, 8), "kernel_size": 2, "stride": 2}),
    patchfold.copy: (IMAGE, {}),
    patchfold.iter_unfold: (IMAGE, {"kernel_size": 2}),
    patchfold.unfold_view: (IMAGE, {"kernel_size": 2}),
    patchfold.space_to_depth_view: (IMAGE, {"block": 2}),
    patchfold.keras.reconstruct_patches: (np.zeros((1, 2, 2, 4)), {"size": 2}),
    patchfold.onnx.im2col: (IMAGE, {"block_shape": (2, 2)}),
    patchfold.openvino.reconstruct_patches: (
        np.zeros((1, 4, 2, 2)),
        {"output_size": (4, 4), "sizes": (2, 2), **SPATIAL},
    ),
    patchfold.tensorflow.extract_image_patches: (np.zeros((1, 4, 4, 1)), {"sizes": [1, 2, 2, 1], **WINDOW}),
    patchfold.tensorflow.extract_patches: (np.zeros((1, 4, 4, 1)), {"sizes": [1, 2, 2, 1], **WINDOW}),
    patchfold.tensorflow.reconstruct_patches: (
        np.zeros((1, 2, 2, 4)),
        {"output_size": (4, 4), "sizes": [1, 2, 2, 1], **WINDOW},
    ),
}


def test_every_function_of_a_dialect_is_called_wrongly():
    made = {function_of(spec) for spec in HERE} | {*CALLS}
    for module in DIALECTS.values():
        public = {name: each for name, each in vars(module).items() if inspect.isfunction(each) and name[0] != "_"}
        assert {name for name, each in public.items() if each not in made} <= {"extension", "library"}


@pytest.mark.parametrize("function", CALLS, ids=lambda function: f"{function.__module__}.{function.__name__}")
def test_errors_name_arguments_of_the_function_that_was_called(function):
    x, arguments = CALLS[function]
    function(x, **arguments)
    parameters = inspect.signature(function).parameters
    first = next(iter(parameters))
    required = {name for name in arguments if parameters[name].default in (inspect.Parameter.empty, None)}
    for name in (first, *required):
        with pytest.raises(patchfold.Error) as caught:
            function(None if name == first else x, **arguments | ({name: None} if name != first else {}))
        if name == "sizes" and "ksizes" in parameters:
            assert caught.value.argument == "ksizes" and "sizes" in caught.value.rule
        else:
            assert caught.value.argument == name
        for word in ("kernel_size", "ksizes", "dilation", "columns"):
            assert word in parameters or word not in re.split(r"\W+", str(caught.value))
        if parameters[name].default is inspect.Parameter.empty:
            with pytest.raises(TypeError, match=rf"^{function.__name__}\(\) missing 1 required .* '{name}'"):
                function(*([x] if name != first else []), **{key: arguments[key] for key in arguments if key != name})


def test_errors_have_parts_that_make_the_message():
    with pytest.raises(patchfold.Error) as caught:
        patchfold.fold(np.zeros((1, 8, 10)), (4, 4), 2)
    error = caught.value
    assert error.operator == "fold" and error.argument == "x" and error.code == "position_count"
    assert error.rule == "must have one column for each position of the kernel in the padded image"
    assert error.given == "10" and error.expected == "9 = product of (3, 3)"
    assert str(error) == f"fold: x: {error.rule}; given 10, expected 9 = product of (3, 3)"


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("rank", lambda: patchfold.unfold(np.zeros(3), (2, 2))),
        ("length", lambda: patchfold.unfold(IMAGE, (2, 2), stride=(1, 1, 1))),
        ("type", lambda: patchfold.unfold(IMAGE, "2")),
        ("type", lambda: patchfold.coverage((4, 4), 2, dtype="none such")),
        ("value", lambda: patchfold.unfold(IMAGE, 0)),
        ("divisible", lambda: patchfold.fold(np.zeros((1, 7, 9)), (4, 4), 2)),
        ("shape", lambda: patchfold.unfold(IMAGE, 2, out=np.zeros((2, 12, 36), np.float32))),
        ("dtype", lambda: patchfold.unfold(IMAGE.astype(object), 2)),
        ("overflow", lambda: patchfold.unfold(IMAGE, 2, dilation=2**62)),
        ("strides", lambda: patchfold.unfold(IMAGE, 2, out=as_strided(np.zeros(1, np.float32), (2, 12, 35), (0, 0, 0)))),
        ("missing", lambda: patchfold.unfold(IMAGE, None)),
        ("unknown_operator", lambda: patchfold.plan("unfodl", IMAGE)),
    ],
)
def test_errors_have_the_code_of_the_library(code, call):
    with pytest.raises(patchfold.Error) as caught:
        call()
    assert caught.value.code == code
    assert type(caught.value).__name__ == CLASSES[code]


def test_memory_and_executors_are_errors_of_python_itself():
    assert (CLASSES["out_of_memory"], CLASSES["executor"]) == ("MemoryError", "RuntimeError")


def test_errors_are_those_of_python_too():
    assert issubclass(InvalidValue, ValueError) and issubclass(InvalidType, TypeError)
    assert issubclass(InvalidValue, patchfold.Error) and issubclass(InvalidType, patchfold.Error)


def test_every_argument_has_wrong_values():
    met = {(row.spec.name, name) for row in ROWS for name in row.change}
    for spec in HERE:
        assert {(spec.name, argument.name) for argument in spec.arguments} <= met


@pytest.mark.parametrize("module", [patchfold, *DIALECTS.values()], ids=lambda module: module.__name__)
def test_a_module_with_wrong_calls_has_some_for_each_of_its_functions(module):
    """Checks that files of wrong_calls call all functions of patchfold, and of each dialect all or none."""
    met = {found for call, _ in SHAPED for found in re.findall(r"(\w+\.\w+)\(", call)}
    name = module.__name__.rpartition(".")[2]
    functions = {
        f"{name}.{function}"
        for function, value in vars(module).items()
        if inspect.isfunction(value) and not function.startswith("_")
        if function
        not in ("operators", "apply_tiled", "merge_labels", "extension", "library")  # the last two take no arguments
    }
    assert functions <= met or (module is not patchfold and not functions & met)
    folder = Path(__file__).with_name("wrong_calls")
    assert module is patchfold or (folder / f"{name}.txt").exists() == bool(functions & met)


def test_nothing_is_written_before_an_error():
    out = np.full((1, 4, 9), 7, np.int32)
    for wrong in [{"kernel_size": 0}, {"kernel_size": 2, "value": 1j}, {"kernel_size": 3}]:
        with pytest.raises(patchfold.Error):
            patchfold.unfold(np.zeros((1, 1, 4, 4), np.int32), **wrong, out=out)
    assert (out == 7).all()

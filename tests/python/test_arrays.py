# SPDX-License-Identifier: Apache-2.0
"""Tests of NumPy arrays as input and output: every element type, every layout, and refused arrays."""

import datetime
import pickle

import ml_dtypes
import numpy as np
import patchfold
import pytest
from calls import Foreign

NUMBERS = [
    np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
    np.float16, np.float32, np.float64, np.complex64, np.complex128, ml_dtypes.bfloat16,
]  # fmt: skip
FLOAT8 = [
    ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz,
]  # fmt: skip
MOVED_ONLY = [
    *FLOAT8, ml_dtypes.float8_e4m3b11fnuz, ml_dtypes.float8_e3m4, ml_dtypes.int4, np.longdouble, np.clongdouble,
    "S5", "U3", "V7", "datetime64[ns]", "timedelta64[s]", [("x", "<i2"), ("y", "S3")], [("m", "f4", (2, 2))],
    ">U2", ">M8[s]",
]  # fmt: skip


def columns_by_index(image: np.ndarray, k: int) -> np.ndarray:
    """Returns the patches of a (1, 1, H, W) image. Copies elements as bytes, since copying numbers may change their bits."""
    image = image.view(f"V{image.dtype.itemsize}")
    rows, cols = image.shape[2] - k + 1, image.shape[3] - k + 1
    result = np.empty((1, k * k, rows * cols), image.dtype)
    for y, x, i, j in np.ndindex(rows, cols, k, k):
        result[0, i * k + j, y * cols + x] = image[0, 0, y + i, x + j]
    return result


def some(dtype: object, shape: tuple[int, ...]) -> np.ndarray:
    """Returns an array of random bytes in any element type; booleans are 0 or 1."""
    descr = np.dtype(dtype)
    random = np.random.default_rng(7)
    if descr == np.bool_:
        return random.integers(0, 2, shape).astype(bool)
    if descr.kind == "U":
        return np.array([chr(0x41 + i % 26) * (i % 3) for i in range(np.prod(shape))], descr).reshape(shape)
    return random.integers(0, 256, (int(np.prod(shape)) * descr.itemsize,), np.uint8).view(descr).reshape(shape)


@pytest.mark.parametrize("dtype", NUMBERS + MOVED_ONLY, ids=str)
def test_moves_every_element_type_bit_by_bit(dtype: object) -> None:
    image = some(dtype, (1, 1, 4, 5))
    result = patchfold.unfold(image, 2)
    assert result.dtype == image.dtype
    assert type(result) is np.ndarray
    assert result.tobytes() == columns_by_index(image, 2).tobytes()
    out = np.empty_like(result)
    assert patchfold.unfold(image, 2, out=out) is out
    assert out.tobytes() == result.tobytes()
    blocks = patchfold.space_to_depth(some(dtype, (1, 2, 4, 6)), (2, 3))
    assert patchfold.depth_to_space(blocks, (2, 3)).tobytes() == some(dtype, (1, 2, 4, 6)).tobytes()


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_sums_every_number(dtype: object) -> None:
    ones = np.ones((1, 4, 4), np.int64).astype(dtype)
    expected = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]).astype(dtype)
    result = patchfold.fold(ones, (3, 3), 2)
    assert result.dtype == expected.dtype
    assert (result[0, 0] == expected).all()


@pytest.mark.parametrize("dtype", MOVED_ONLY, ids=str)
def test_refuses_sums_of_what_has_no_addition(dtype: object) -> None:
    with pytest.raises(patchfold.InvalidType, match="fold: x: elements must be of a type that can be added") as caught:
        patchfold.fold(some(dtype, (1, 4, 4)), (3, 3), 2)
    assert caught.value.argument == "x"
    assert caught.value.given


LAYOUTS = {
    "transposed": lambda a: a.transpose(3, 2, 1, 0).copy().transpose(3, 2, 1, 0),
    "fortran": np.asfortranarray,
    "stepped": lambda a: np.repeat(np.repeat(a, 2, 2), 3, 3)[:, :, ::2, ::3],
    "reversed": lambda a: a[:, :, ::-1, ::-1].copy()[:, :, ::-1, ::-1],
    "unaligned": lambda a: np.frombuffer(b"x" + a.tobytes(), a.dtype, offset=1).reshape(a.shape),
    "read-only": lambda a: _frozen(a.copy()),
    "matrix of records": lambda a: _field(a),
}


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _field(array: np.ndarray) -> np.ndarray:
    records = np.zeros(array.shape, [("pad", "u1"), ("value", array.dtype)])
    records["value"] = array
    return records["value"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.complex128, "S3"], ids=str)
def test_reads_any_layout(layout: str, dtype: object) -> None:
    image = some(dtype, (2, 3, 5, 6))
    laid = LAYOUTS[layout](image)
    assert laid.tobytes() == image.tobytes()
    assert patchfold.unfold(laid, (2, 3), padding=1).tobytes() == patchfold.unfold(image, (2, 3), padding=1).tobytes()


@pytest.mark.parametrize("layout", ["transposed", "fortran", "stepped", "reversed", "matrix of records"])
def test_writes_any_layout(layout: str) -> None:
    image = some(np.float32, (2, 3, 5, 6))
    columns = patchfold.unfold(image, (2, 3), positions="grid")
    out = LAYOUTS[layout](np.zeros_like(columns.reshape(2, 18, 4, 4)))
    out.flags.writeable = True
    patchfold.unfold(image, (2, 3), positions="grid", out=out)
    assert out.tobytes() == columns.tobytes()


def test_repeated_elements_are_read() -> None:
    image = np.broadcast_to(np.float32(3), (1, 2, 4, 4))
    assert (patchfold.unfold(image, 2) == 3).all()


@pytest.mark.parametrize("shape", [(0, 3, 4, 4), (1, 0, 4, 4), (1, 1, 1, 9)])
def test_zero_sizes(shape: tuple[int, ...]) -> None:
    result = patchfold.unfold(np.zeros(shape, np.float32), 2, allow_empty=True)
    assert result.size == 0
    assert result.shape == patchfold.output_shape("unfold", shape, kernel_size=2, allow_empty=True)


def test_result_never_shares_memory_with_the_input() -> None:
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    results = [
        patchfold.unfold(x, 1),
        patchfold.fold(x.reshape(1, 1, 16), (4, 4), 1),
        patchfold.space_to_batch(x, 1),
        patchfold.batch_to_space(x, 1),
        patchfold.space_to_depth(x, 1),
        patchfold.depth_to_space(x, 1),
        patchfold.reorder(x.reshape(1, 1, 16), (1, 1)),
        patchfold.unfold(x, 1, positions="grid", layout="channels_last"),
    ]
    for result in results:
        assert not np.shares_memory(result, x)
        result[...] = 0
    assert (x.ravel() == np.arange(16)).all()


def test_subclasses_come_out_as_plain_arrays(tmp_path: object) -> None:
    memory = np.memmap(tmp_path / "x.bin", np.float32, "w+", shape=(1, 1, 4, 4))  # type: ignore[operator]
    assert type(patchfold.unfold(memory, 2)) is np.ndarray


@pytest.mark.parametrize(
    ("x", "rule"),
    [
        (np.full((1, 1, 2, 2), None), "elements that hold Python objects cannot be moved as bytes"),
        (np.zeros((1, 1, 2, 2), [("a", "O")]), "elements that hold Python objects cannot be moved as bytes"),
        (np.array(None), "elements that hold Python objects cannot be moved as bytes"),
        (np.ma.ones((1, 1, 2, 2)), "masked arrays are not taken, since the mask would be lost"),
        ([[1.0]], "must be an array: NumPy's, torch's, or any with __dlpack__"),
        (3.0, "must be an array: NumPy's, torch's, or any with __dlpack__"),
        (datetime.date(2026, 1, 1), "must be an array: NumPy's, torch's, or any with __dlpack__"),
        (None, "must be an array: NumPy's, torch's, or any with __dlpack__"),
    ],
    ids=["objects", "records with objects", "0-d object", "masked", "list", "number", "date", "None"],
)
def test_refuses_what_is_no_array_of_plain_elements(x: object, rule: str) -> None:
    with pytest.raises(patchfold.InvalidType) as caught:
        patchfold.unfold(x, 2)
    assert (caught.value.operator, caught.value.argument, caught.value.rule) == ("unfold", "x", rule)


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="this NumPy has no StringDType")
def test_refuses_strings_of_variable_width() -> None:
    with pytest.raises(patchfold.InvalidType, match="elements that hold Python objects cannot be moved as bytes"):
        patchfold.unfold(np.zeros((1, 1, 2, 2), np.dtypes.StringDType()), 2)


@pytest.mark.parametrize(
    ("out", "error"),
    [
        (np.empty((1, 4, 4), np.float64), "out: must have the element type of x; given float64, expected float32"),
        (np.empty((1, 4, 4), ">f4"), "out: must have the element type of x; given >f4, expected float32"),
        (np.empty((4, 4), np.float32), r"out: must have the shape of the operator's result; given \(4, 4\), expected"),
        (_frozen(np.empty((1, 4, 4), np.float32)), "out: must be writeable; given a read-only array"),
        (np.broadcast_to(np.float32(0), (1, 4, 4)), "out: must be writeable"),
        ([[0.0]], "out: must be an array"),
    ],
    ids=["type", "byte order", "shape", "read-only", "repeated", "list"],
)  # fmt: skip
def test_refuses_a_wrong_out(out: object, error: str) -> None:
    with pytest.raises(patchfold.Error, match=error):
        patchfold.unfold(np.ones((1, 1, 3, 3), np.float32), 2, out=out)


def test_refuses_an_out_that_overlaps() -> None:
    memory = np.zeros(64, np.float32)
    x = memory[:16].reshape(1, 1, 4, 4)
    out = memory[8:24].reshape(1, 1, 4, 4)
    with pytest.raises(patchfold.InvalidValue, match="space_to_batch: .*memory"):
        patchfold.space_to_batch(x, 1, out=out)
    assert (memory == 0).all()


def test_dlpack_arrays_of_any_library() -> None:
    array = np.arange(24, dtype=np.int16).reshape(2, 3, 4)[:, ::-1].reshape(1, 2, 3, 4)
    result = patchfold.unfold(Foreign(array), 2)
    assert type(result) is np.ndarray
    assert (result == patchfold.unfold(array, 2)).all()
    with pytest.raises(patchfold.InvalidType, match="out: must be an array that can be written to"):
        patchfold.unfold(array, 2, out=Foreign(np.empty_like(result)))


def test_refuses_memory_of_other_devices() -> None:
    class OnDevice:
        def __dlpack__(self, **options: object) -> object:
            raise AssertionError("nothing is fetched from a device")

        def __dlpack_device__(self) -> tuple[int, int]:
            return 8, 0

    rule = "must lie in the processor's memory or on a CUDA device; given Metal device 0, expected a copy on the CPU"
    with pytest.raises(patchfold.InvalidType, match=rule):
        patchfold.unfold(OnDevice(), 2)


def test_accumulates_onto_out_only() -> None:
    columns = np.ones((1, 4, 4), np.float32)
    out = np.full((1, 1, 3, 3), 10, np.float32)
    patchfold.fold(columns, (3, 3), 2, accumulate=True, out=out)
    assert out[0, 0, 1].tolist() == [12, 14, 12]
    with pytest.raises(patchfold.InvalidValue, match="fold: out: is required where accumulate is True"):
        patchfold.fold(columns, (3, 3), 2, accumulate=True)


def test_plans_repeat_without_mixing_layouts() -> None:
    x = some(np.float32, (1, 2, 6, 6))
    plan = patchfold.plan("unfold", x, kernel_size=3)
    assert plan(x).tobytes() == patchfold.unfold(x, 3).tobytes()
    out = np.empty(plan.output_shape, np.float32)
    assert plan(x, out=out) is out
    for other, rule in [
        (x[:, :, :5], "must have the shape and the byte strides of the plan"),
        (np.asfortranarray(x), "must have the shape and the byte strides of the plan"),
        (np.zeros_like(x, np.int32), "must have the element type of the plan"),
    ]:
        with pytest.raises(patchfold.Error, match=rule):
            plan(other)
    assert "unfold" in repr(plan)
    assert "strategy" in plan.describe()


def test_plans_are_made_anew_for_another_instruction_set() -> None:
    columns = some(np.float32, (1, 9, 64))
    described = set()
    try:
        for instructions in patchfold.instruction_sets():
            patchfold.use_instruction_set(instructions)
            plan = patchfold.plan("fold", columns, output_size=(8, 8), kernel_size=3, padding=1)
            described.add(plan.describe())
    finally:
        patchfold.use_instruction_set("")
    # Descriptions name the sizes of vectors, which differ between SSE, AVX2 and AVX-512.
    assert len(described) >= min(2, len(patchfold.instruction_sets())), described


def test_errors_survive_pickling() -> None:
    with pytest.raises(patchfold.InvalidValue) as caught:
        patchfold.unfold(np.zeros((1, 1, 2, 2)), 0)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)
    assert (copy.operator, copy.argument, copy.given, copy.code) == ("unfold", "kernel_size", "0", "value")


def test_threads_setting() -> None:
    before = patchfold.get_num_threads()
    try:
        patchfold.set_num_threads(1)
        assert patchfold.get_num_threads() == 1
        with pytest.raises(patchfold.InvalidValue):
            patchfold.set_num_threads(-1)
    finally:
        patchfold.set_num_threads(0)
    assert patchfold.get_num_threads() >= 1 and before >= 1


def test_a_plan_never_sums_onto_what_it_did_not_get() -> None:
    columns = np.ones((1, 4, 9), np.float32)
    with pytest.raises(patchfold.InvalidValue, match="fold: out: is required where accumulate is True"):
        patchfold.plan("fold", columns, output_size=(4, 4), kernel_size=2, accumulate=True)


def test_a_list_that_changes_while_it_is_read() -> None:
    class Clears:
        def __index__(self) -> int:
            values.clear()
            return 2

    values: list[object] = [Clears(), *[2] * 15]
    with pytest.raises(patchfold.Error):
        patchfold.unfold(np.zeros((1, 1, 4, 4)), values)


def test_masked_shape_inputs_are_refused() -> None:
    masked = np.ma.array([4, 4], mask=[0, 1])
    with pytest.raises(patchfold.InvalidType, match="image_shape: must hold integers"):
        patchfold.onnx.col2im(np.zeros((1, 4, 9)), masked, np.array([2, 2]))


@pytest.mark.parametrize("word", ["valid\0junk", "\ud800", "x" + "é" * 100])
def test_words_of_any_characters(word: str) -> None:
    with pytest.raises(patchfold.InvalidValue, match="padding: must be a rule or numbers"):
        patchfold.unfold(np.zeros((1, 1, 4, 4)), 2, padding=word)


@pytest.mark.parametrize("word", ["\ud800", "x" + "é" * 300, "€" * 400, "ab" + "\U0001f600" * 400])
def test_names_of_any_characters(word: str) -> None:
    with pytest.raises(patchfold.InvalidValue, match="there is no operator of this name"):
        patchfold.run(word, np.zeros((1, 1, 4, 4)))
    with pytest.raises(patchfold.InvalidType, match="dtype: must be an element type of NumPy or of this library"):
        patchfold.explain("unfold", (1, 1, 4, 4), dtype=word, kernel_size=2)
    with pytest.raises(patchfold.InvalidValue, match="use_instruction_set: name: must be one"):
        patchfold.use_instruction_set(word)
    with pytest.raises(patchfold.InvalidType, match="coverage: dtype: must be a NumPy type"):
        patchfold.coverage((4, 4), 2, dtype=word)


def test_values_that_cannot_show_themselves() -> None:
    class Silent:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    with pytest.raises(patchfold.InvalidType, match="given a value of type .*Silent"):
        patchfold.unfold(np.zeros((1, 1, 4, 4)), Silent())
    with pytest.raises(patchfold.InvalidValue, match="must fit into 64 bits; given a value of type int"):
        patchfold.unfold(np.zeros((1, 1, 4, 4)), 10**5000)


def test_errors_of_the_caller_s_own_objects_come_through() -> None:
    class Raises:
        def __index__(self) -> int:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        patchfold.unfold(np.zeros((1, 1, 4, 4)), 2, value=Raises())


def test_coverage_is_explained_without_a_shape() -> None:
    assert "coverage" in str(patchfold.explain("coverage", output_size=(4, 4), kernel_size=2))

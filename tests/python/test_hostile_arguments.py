# SPDX-License-Identifier: Apache-2.0
"""Tests of objects that lie, never end, raise interrupts, or falsely claim to be arrays."""

import numbers
import signal
import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import patchfold
import pytest

IMAGE = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4)
FUNCTIONS = [patchfold.unfold, patchfold.unfold_view, patchfold.iter_unfold, patchfold.space_to_depth_view]


class Endless:
    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> int:
        return 1


def raising(error: BaseException) -> Any:
    def method(*args: object, **options: object) -> Any:
        raise error

    return method


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    "sizes", [range(10**12), range(2**70), Endless(), [Endless()]], ids=["long", "huge", "endless", "in"]
)
def test_sequences_that_do_not_end_are_refused(function, sizes):
    with pytest.raises(patchfold.Error):
        function(IMAGE, sizes)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("sizes", [{2}, {2: 3}, b"\2\2", frozenset([2])], ids=repr)
def test_views_and_chunks_take_the_lists_that_unfold_takes(function, sizes):
    with pytest.raises(patchfold.InvalidType, match="must be an integer or a sequence of integers"):
        function(IMAGE, sizes)


@pytest.mark.parametrize("method", ["__index__", "__float__", "__getitem__", "__iter__", "__repr__", "shape"])
def test_an_interrupt_within_an_argument_comes_out(method):
    stop = KeyboardInterrupt()
    methods = {"__len__": lambda self: 2, "__getitem__": lambda self, index: 1}
    methods[method] = property(raising(stop)) if method == "shape" else raising(stop)
    value = type("Interrupted", (), {"__index__": lambda self: 1, **methods} if method == "shape" else methods)()
    for argument in ("kernel_size", "value", "layout"):
        try:
            patchfold.unfold(IMAGE, **{"kernel_size": 2, argument: value})
        except KeyboardInterrupt as error:
            assert error is stop
            return
        except patchfold.Error:
            pass
    raise AssertionError("the interrupt was lost")


def test_an_interrupt_within_dlpack_comes_out():
    stop = KeyboardInterrupt()
    foreign = type("Foreign", (), {"__dlpack__": raising(stop), "__dlpack_device__": lambda self: (1, 0)})()
    with pytest.raises(KeyboardInterrupt) as caught:
        patchfold.unfold(foreign, 2)
    assert caught.value is stop


@pytest.mark.parametrize(
    "device",
    [None, 1, "cpu", (), (1,), ("cpu", 0), (None, 0), (IMAGE.shape, 0), (np.ones(2, int), 0), (1.0, 0), (1, 0, 0)],
    ids=str,
)
def test_a_device_that_is_none_is_refused(device):
    foreign = type("Foreign", (), {"__dlpack__": IMAGE.__dlpack__, "__dlpack_device__": lambda self: device})()
    with pytest.raises(patchfold.InvalidType, match="x: __dlpack_device__ must give a device type and a number"):
        patchfold.unfold(foreign, 2)


def foreign_of(array: np.ndarray, **more: Any) -> Any:
    methods = {"__dlpack__": lambda self, **options: array.__dlpack__(**options), "__dlpack_device__": lambda self: (1, 0)}
    return type("Foreign", (), methods | more)()


@pytest.mark.parametrize("capsule", [None, 5, "dltensor", object()], ids=str)
def test_a_capsule_that_is_none_is_refused(capsule):
    foreign = foreign_of(IMAGE, __dlpack__=lambda self, **options: capsule)
    with pytest.raises(patchfold.InvalidType, match="must be an array that DLPack can hand over"):
        patchfold.unfold(foreign, 2)


def test_memory_that_is_shared_through_dlpack_is_refused():
    array = np.zeros((4, 4))
    with pytest.raises(patchfold.InvalidValue, match="out: must not share memory with x"):
        patchfold.apply_tiled(np.sin, foreign_of(array), (2, 2), overlap=1, out=array, progress=False)


def test_read_only_arrays_come_through_dlpack():
    frozen = IMAGE.copy()
    frozen.flags.writeable = False
    assert np.array_equal(
        patchfold.unfold(foreign_of(frozen, __array_namespace__=lambda self: np), 2), patchfold.unfold(IMAGE, 2)
    )


def test_a_kind_that_has_no_way_back_is_refused():
    with pytest.raises(patchfold.InvalidType, match="no array of this kind can be made"):
        patchfold.unfold(foreign_of(IMAGE), 2)


def test_chunks_of_arrays_without_itemsize_or_reshape(monkeypatch):
    """Uses tensors like TensorFlow's, which can be sliced, but are reshaped by a function of their module."""

    class Tensor:
        def __init__(self, array: Any) -> None:
            self.array = np.asarray(array)
            self.dtype = SimpleNamespace(name=str(self.array.dtype))

        def __getitem__(self, where: Any) -> "Tensor":
            return Tensor(self.array[where])

        def __dlpack__(self, **options: Any) -> Any:
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

    Tensor.__module__ = "tensors"
    module = SimpleNamespace(
        from_dlpack=lambda x: Tensor(np.from_dlpack(x)), reshape=lambda x, s: Tensor(x.array.reshape(s))
    )
    monkeypatch.setitem(sys.modules, "tensors", module)
    x = np.arange(2 * 3 * 2 * 16, dtype=np.float32).reshape(2, 3, 2, 4, 4)
    expected = patchfold.unfold(x, (2, 2)).reshape(6, 8, 9)
    for batch, positions, columns in patchfold.iter_unfold(Tensor(x), (2, 2), max_bytes=8 * 4 * 5):
        assert np.array_equal(columns.array, expected[batch, :, positions])


def test_chunks_of_arrays_without_slices_are_refused():
    with pytest.raises(patchfold.InvalidType, match="x: must be an array"):
        patchfold.iter_unfold(foreign_of(IMAGE, __module__="numpy"), (2, 2))


def test_patches_of_arrays_without_slices():
    patches = patchfold.gather_patches(foreign_of(IMAGE, __module__="numpy"), [(0, 1), (1, 0)], 2)
    assert np.array_equal(patches, patchfold.gather_patches(IMAGE, [(0, 1), (1, 0)], 2))


class Liar(np.ndarray):
    shape = property(lambda self: (10**6,))
    dtype = property(lambda self: np.dtype("f8"))
    strides = property(lambda self: (2**40,))


def test_what_a_subclass_says_about_itself_is_not_asked():
    liar = IMAGE.view(Liar)
    corners = [(0, 1), (1, 2)]
    assert np.array_equal(patchfold.gather_patches(liar, corners, 2), patchfold.gather_patches(IMAGE, corners, 2))
    room = np.empty((2, 1, 2, 2, 2), np.float32)
    patchfold.gather_patches(liar, corners, 2, out=room.view(Liar))
    assert np.array_equal(room, patchfold.gather_patches(IMAGE, corners, 2))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: patchfold.unfold_view(x, 2),
        lambda x: patchfold.iter_unfold(x, 2),
        lambda x: patchfold.gather_patches(x, [(0, 0)], 2),
        lambda x: patchfold.gather_patches(IMAGE, [(0, 0)], 2, out=x),
        lambda x: patchfold.apply_tiled(np.sqrt, x, (2, 2), overlap=0),
        lambda x: patchfold.apply_tiled(np.sqrt, IMAGE, (2, 2), overlap=0, out=x),
    ],
)
@pytest.mark.parametrize("kind", [np.ndarray, (), str, int])
def test_what_only_says_that_it_is_an_array_is_refused(call, kind):
    with pytest.raises(patchfold.InvalidType):
        call(type("Mock", (), {"__class__": property(lambda self: kind)})())


T = patchfold.Tiling((4, 4), (2, 2), overlap=0)


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (patchfold.Tiling, patchfold.Merger),
        (patchfold.Tile, lambda x: patchfold.Merger(T).add(x, IMAGE)),
        (patchfold.Tile, lambda x: T[x]),
        (float, lambda x: patchfold.Tiling((4, 4), (2, 2), overlap=x)),
        (float, lambda x: patchfold.Tiling((4, 4), (2, 2), overlap=0, scale=x)),
        (str, lambda x: patchfold.Merger(T, reduce=x)),
        (str, lambda x: patchfold.Merger(T, window=x)),
        (str, lambda x: patchfold.Merger(T, dtype=x)),
        (str, lambda x: patchfold.output_shape(x, (1, 1, 4, 4))),
        (str, lambda x: patchfold.explain("unfold", (1, 1, 4, 4), kernel_size=2, dtype=x)),
    ],
)
def test_what_only_says_that_it_is_something_else_is_refused(kind, call):
    with pytest.raises(patchfold.InvalidType):
        call(type("Mock", (), {"__class__": property(lambda self: kind)})())


class Text(str):
    """A text that equals every object and cannot be hashed."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]


def test_a_text_is_its_characters():
    for wrong in ({"reduce": Text("no")}, {"window": Text("no")}, {"window": (Text("no"), 1.0)}, {"dtype": Text("no")}):
        with pytest.raises(patchfold.Error, match=f"merge: {next(iter(wrong))}: "):
            patchfold.Merger(T, **wrong)
    patchfold.Merger(T, reduce=Text("max"), window=Text("ones"), dtype=Text("float32"))
    patchfold.Merger(T, window=(Text("gaussian"), 1.0))
    assert patchfold.output_shape(Text("unfold"), (1, 1, 4, 4), kernel_size=2) == (1, 4, 9)


@pytest.mark.parametrize("wrong", [{"numerator": "a"}, {"numerator": None}, {"denominator": 0}], ids=str)
def test_a_fraction_that_is_none_is_refused(wrong):
    class Ratio:
        numerator = denominator = 1

    numbers.Rational.register(Ratio)
    ratio = type("Wrong", (Ratio,), wrong)()
    with pytest.raises(patchfold.InvalidType, match="scale: must be a number greater than 0"):
        patchfold.Tiling((4, 4), (2, 2), overlap=0, scale=ratio)


def test_an_integer_is_what_indexes():
    twice = type("Twice", (), {"__index__": lambda self: 0, "__int__": lambda self: 3})()
    merger = patchfold.Merger(T)
    merger.add(twice, np.zeros((2, 2)))
    with pytest.raises(patchfold.InvalidValue, match="tile 0 at position .* must not come twice"):
        merger.add(0, np.zeros((2, 2)))


@pytest.mark.parametrize("shape", [5, None, ("a",)], ids=repr)
def test_a_result_whose_shape_is_none_is_refused(shape):
    result = type("Result", (), {"shape": shape})()
    with pytest.raises(patchfold.InvalidType, match="result for tiles 0 to 1 at .*: its shape must be a tuple of integers"):
        patchfold.apply_tiled(lambda tile: result, IMAGE, (2, 2), overlap=0, batch=2, progress=False)


def test_more_than_numpy_can_count_is_more_than_there_is():
    with pytest.raises(MemoryError):
        patchfold.coverage((2**59,), 1, dtype=np.complex128)
    with pytest.raises(MemoryError):
        patchfold.gather_patches(np.broadcast_to(0.0, (2**30, 2**29)), np.zeros((2**10, 1), int), 2**29)


@pytest.mark.parametrize("value", [np.ma.masked, np.ma.array(3, mask=True), np.ma.array(3.0)], ids=repr)
def test_masked_numbers_are_refused(value):
    with pytest.raises(patchfold.InvalidType, match="value: must be a number"):
        patchfold.unfold(IMAGE, 2, value=value)
    with pytest.raises(patchfold.InvalidType, match="kernel_size: must be an integer"):
        patchfold.unfold(IMAGE, value)


@pytest.mark.parametrize("truth", [1.5, 2.0])
@pytest.mark.parametrize("shape", [(1,), (1, 1)], ids=repr)
def test_an_array_of_one_element_is_no_number(shape, truth):
    array = type("Array", (), {"shape": shape, "__float__": lambda self: truth})()
    for value in (array, np.full(shape, truth)):
        with pytest.raises(patchfold.InvalidType, match="value: must be a number"):
            patchfold.unfold(IMAGE, 2, value=value)


@pytest.mark.parametrize("duration", [np.timedelta64(2), np.timedelta64(2, "s")], ids=str)
@pytest.mark.parametrize("argument", ["kernel_size", "stride", "padding"])
def test_a_duration_is_no_integer_although_numpy_counts_it_among_them(argument, duration):
    rule = f"unfold: {argument}: must be an integer.*; given .*timedelta64"
    with pytest.raises(patchfold.InvalidType, match=rule):
        patchfold.unfold(IMAGE, **{"kernel_size": 2} | {argument: duration})


def test_a_duration_is_no_integer_in_the_first_call_of_a_process():
    call = "patchfold.unfold(numpy.zeros((1, 1, 4, 4), numpy.float32), numpy.timedelta64(2))"
    program = f"import numpy, patchfold\ntry:\n    {call}\nexcept patchfold.InvalidType as error:\n    print(error)"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout
    assert printed.startswith("unfold: kernel_size: must be an integer")


def test_masked_corners_are_refused():
    with pytest.raises(patchfold.InvalidType, match="corners: masked arrays are not taken"):
        patchfold.gather_patches(IMAGE, np.ma.zeros((1, 2), int), 2)


@pytest.mark.parametrize("name", ["a\0.npy", "a\0/y.npy"])
def test_a_name_with_an_end_within_is_refused(name):
    with pytest.raises(patchfold.InvalidType, match="merge: out: must have a name"):
        patchfold.Merger(T, out=name)


def test_a_path_that_is_none_is_refused():
    nameless = type("Nameless", (), {"__fspath__": lambda self: 5})()
    with pytest.raises(patchfold.InvalidType, match="merge: out: must have a name; given .*Nameless"):
        patchfold.Merger(patchfold.Tiling((4, 4), (2, 2), overlap=0), out=nameless)


def test_an_index_that_is_none_is_refused():
    wrong = type("Wrong", (), {"__index__": lambda self: "2"})()
    with pytest.raises(patchfold.InvalidType, match="kernel_size: must be an integer"):
        patchfold.unfold(IMAGE, wrong)


def test_types_without_a_module_are_named():
    nameless = eval("type('Nameless', (), {})()", {"__builtins__": {"type": type}})
    for call in (lambda: patchfold.unfold(IMAGE, nameless), lambda: patchfold.unfold(nameless, 2)):
        with pytest.raises(patchfold.InvalidType, match="Nameless"):
            call()


def test_records_are_lists_of_their_entries():
    record = np.array((1, 2), "i4,i8")[()]
    (chunk,) = patchfold.iter_unfold(IMAGE, 2, padding=record)
    assert np.array_equal(chunk.columns, patchfold.unfold(IMAGE, 2, padding=record))
    assert np.array_equal(chunk.columns, patchfold.unfold(IMAGE, 2, padding=(1, 2)))


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="this NumPy has no StringDType")
@pytest.mark.parametrize("function", [patchfold.unfold_view, patchfold.space_to_depth_view])
def test_strings_of_variable_width_have_no_views(function):
    with pytest.raises(patchfold.InvalidType, match="strings of variable width have no strided views"):
        function(np.zeros((1, 1, 2, 2), np.dtypes.StringDType()), 1)


def test_long_steps_that_are_never_made_do_not_overflow():
    view = patchfold.unfold_view(IMAGE, (4, 4), stride=2**62)
    assert np.array_equal(view.reshape(1, 32, 1), patchfold.unfold(IMAGE, (4, 4)))
    assert patchfold.unfold_view(IMAGE, (1, 1), dilation=2**62).shape == (1, 2, 1, 1, 4, 4)


@pytest.mark.parametrize("text", ["[" * 10**6, '{"shape": [1', "9" * 5000])
def test_json_that_cannot_be_read_is_refused(text):
    with pytest.raises(patchfold.InvalidValue, match="text: must be"):
        patchfold.Tiling.from_json(text)


def test_an_infinite_scale_in_json_is_refused():
    text = patchfold.Tiling((4, 4), (2, 2), overlap=0).to_json(tiles=False)
    with pytest.raises(patchfold.InvalidValue, match="scale: must be a list of fractions"):
        patchfold.Tiling.from_json(text.replace("[1, 1]", "[1e999]"))


def test_signals_arrive_between_calls(interrupts):
    thread = threading.Thread(target=signal.raise_signal, args=(signal.SIGINT,))
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        for _ in range(10**7):
            patchfold.coverage((64, 64), 9)
    thread.join()


SECOND_INTERPRETER = """
import sys
import _xxsubinterpreters as interpreters
import numpy, patchfold
code = '''
import sys
sys.path[:] = {path!r}
try:
    import patchfold
except ImportError as error:
    print(error)
'''.format(path=sys.path)
interpreters.run_string(interpreters.create(), code)
print(patchfold.unfold(numpy.ones((1, 1, 4, 4)), 2).shape)
"""


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="newer Pythons refuse NumPy in a second interpreter themselves")
def test_a_second_interpreter_cannot_import_and_does_no_harm():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", SECOND_INTERPRETER], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["patchfold can be imported in the main interpreter only", "(1, 4, 9)"], done.stderr

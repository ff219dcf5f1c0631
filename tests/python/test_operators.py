# SPDX-License-Identifier: Apache-2.0
"""Compares every function with the operator of its name in the table, and with the operator's formula.

Checks that a plan that is kept for later calls never serves a different call.
"""

import ast
import importlib.util
import inspect
import itertools
import subprocess
import sys
from pathlib import Path

import formulas
import numpy as np
import patchfold
import pytest
from calls import ELSEWHERE, HERE, dialect_of, example, function_name, function_of, right_calls, variants
from hypothesis import given, settings
from hypothesis import strategies as st

OTHER_NAMES = {
    "tensorflow.ExtractImagePatches": "sizes",  # ksizes
    "tensorflow.SpaceToBatch": "block_shape",  # block_size
    "tensorflow.BatchToSpace": "block_shape",
}


@pytest.mark.parametrize("spec", HERE, ids=lambda spec: spec.name)
def test_every_operator_has_a_function_with_the_arguments_of_the_table(spec):
    parameters = dict(inspect.signature(function_of(spec)).parameters)
    data = [next(iter(parameters))] if spec.data_input else []
    assert data == ([spec.data_input if "." in spec.name else "x"] if spec.data_input else [])
    extra = {"dtype"} if spec.name == "coverage" else set()
    extra |= {argument.old_name for argument in spec.arguments}
    extra |= {"name"} & {*parameters} if spec.name.startswith("tensorflow.") else set()  # of an operation in a graph
    either = OTHER_NAMES.get(spec.name)  # a call needs one of two names, so Python's signature requires neither
    extra |= {either} & {*parameters}
    assert list(parameters)[-1] == "out" and parameters["out"].default is None
    assert parameters["out"].kind is inspect.Parameter.KEYWORD_ONLY
    arguments = [name for name in parameters if name not in {*data, "out", *extra}]
    assert sorted(arguments) == sorted(argument.name for argument in spec.arguments)
    for argument in spec.arguments:
        default = parameters[argument.name].default
        if argument.required:
            assert default is inspect.Parameter.empty or (either and default is None)
        elif not argument.default:
            assert default is None
        elif default is None:
            told = f'None means "{argument.default}"' if argument.kind == "choice" else f"None means {argument.default}"
            assert told in " ".join((inspect.getdoc(function_of(spec)) or "").split()), argument.name
        else:
            text = ",".join(map(str, default)) if isinstance(default, tuple) else str(default).lower()
            assert text.lower() == argument.default.lower(), argument.name


@pytest.mark.parametrize("spec", ELSEWHERE, ids=lambda spec: spec.name)
def test_the_other_operators_have_a_function_in_a_module_that_needs_their_package(spec):
    found = importlib.util.find_spec(f"patchfold.{dialect_of(spec)}")
    assert found and found.origin
    names = set()
    for node in ast.walk(ast.parse(Path(found.origin).read_text())):
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            names.update(alias.asname or alias.name for alias in node.names)
    assert function_name(spec) in names


@pytest.mark.parametrize("dialect", sorted({dialect_of(spec) for spec in ELSEWHERE}))
def test_a_dialect_that_does_not_come_with_the_package_needs_its_own(dialect):
    program = f"import sys; sys.modules[{dialect!r}] = None; import patchfold.{dialect}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode and f"import of {dialect} halted" in done.stderr


def outcome(call, data):
    """Returns the outcome of a call: its result, or the parts of its error, with `x` for the name of the data."""
    try:
        return call()
    except patchfold.Error as error:
        argument = "x" if error.argument == data else error.argument
        return type(error), error.code, error.operator, argument, error.given, error.expected


def same(one, other):
    if isinstance(one, tuple) or isinstance(other, tuple):
        return one is other or (type(one) is type(other) and one == other)
    return one.dtype == other.dtype and np.array_equal(one, other)


def filled(spec, data, arguments):
    """Returns an array of the result's shape, for `out`; None if the arguments are wrong."""
    try:
        shape = patchfold.output_shape(spec.name, data[0].shape if data else (), **arguments)
    except patchfold.Error:
        return None
    return np.full(shape, 5, data[0].dtype if data else np.float32)


def by_name(spec, data, arguments, out=None):
    return outcome(lambda: patchfold.run(spec.name, *(data or [None]), **arguments, out=out), spec.data_input)


@pytest.mark.parametrize("spec", HERE, ids=lambda spec: spec.name)
def test_a_function_is_the_operator_of_its_name(spec):
    data, _ = example(spec)
    taken = 0
    for arguments in variants(spec):
        for out in (None, filled(spec, data, arguments)):
            again = None if out is None else out.copy()
            scattered = [np.asfortranarray(x) for x in data]
            result = outcome(lambda: function_of(spec)(*scattered, **arguments, out=out), spec.data_input)  # noqa: B023
            expected = by_name(spec, data, arguments, again)
            assert same(result, expected), arguments
            if not isinstance(result, np.ndarray):
                continue
            taken += 1
            assert type(result) is np.ndarray and result.flags.c_contiguous
            assert result.shape == patchfold.output_shape(spec.name, data[0].shape if data else (), **arguments)
    assert taken > 1
    assert function_of(spec)(*data, **example(spec)[1]).any()


@pytest.mark.parametrize("spec", HERE, ids=lambda spec: spec.name)
def test_no_two_arguments_can_be_mixed_up_unseen(spec):
    """Checks that exchanging two arguments, or leaving one out, changes the outcome of a variant of the example."""
    data, _ = example(spec)
    calls = []
    for arguments in variants(spec):
        out = filled(spec, data, arguments)
        calls.append((arguments, out, by_name(spec, data, arguments, None if out is None else out.copy())))
    for one, other in itertools.combinations([argument.name for argument in spec.arguments], 2):
        changes = [lambda a, one=one, other=other: {**a, one: a.get(other), other: a.get(one)}]
        changes += [lambda a, name=name: {**a, name: None} for name in (one, other)]
        for change in changes:
            assert any(
                not same(found, by_name(spec, data, change(arguments), None if out is None else out.copy()))
                for arguments, out, found in calls
            ), (one, other)


@pytest.mark.parametrize("spec", HERE, ids=lambda spec: spec.name)
def test_out_is_filled_and_returned_in_any_layout(spec):
    data, _ = example(spec)
    calls = right_calls(spec)
    assert calls
    for arguments in calls:
        expected = function_of(spec)(*data, **arguments)
        room = np.full((*expected.shape, 2), 99, expected.dtype)
        out = room[..., 1][..., ::-1]
        assert function_of(spec)(*data, **arguments, out=out) is out
        np.testing.assert_array_equal(out, expected)
        assert (room[..., 0] == 99).all()


@st.composite
def windows(draw):
    """Draws the geometry of small windows, so that all special cases occur."""
    rank = draw(st.integers(1, 3))

    def lists(low, high):
        return draw(st.lists(st.integers(low, high), min_size=rank, max_size=rank))

    pads = list(zip(lists(-2, 3), lists(-2, 3), strict=True))
    return {
        "extents": lists(0, 6 if rank < 3 else 4),
        "kernel": lists(1, 3),
        "stride": lists(1, 3),
        "dilation": lists(0, 2),
        "pads": pads,
        "batch": draw(st.lists(st.integers(0, 3), max_size=2)),
        "channels": draw(st.integers(0, 3)),
        "layout": draw(st.sampled_from(["channels_first", "channels_last"])),
        "order": draw(st.sampled_from(["channel", "kernel"])),
        "positions": draw(st.sampled_from(["flat", "grid"])),
    }


def shape_of(w, channels, others):
    return (*w["batch"], channels, *others) if w["layout"] == "channels_first" else (*w["batch"], *others, channels)


def counting(shape):
    return np.arange(1, 1 + np.prod(shape, dtype=int), dtype=np.int64).reshape(shape)


@settings(max_examples=300, deadline=None)
@given(windows(), st.sampled_from(["constant", "edge", "reflect", "symmetric", "wrap"]), st.integers(-3, 3))
def test_unfold_is_its_formula(w, mode, value):
    x = counting(shape_of(w, w["channels"], w["extents"]))
    style = {name: w[name] for name in ("layout", "order", "positions")}
    call = {
        "stride": w["stride"],
        "dilation": w["dilation"],
        "padding": w["pads"],
        "padding_mode": mode,
        "value": value,
    }
    counts = formulas.position_counts(w["extents"], w["kernel"], w["stride"], w["dilation"], w["pads"])
    if mode != "constant" and 0 in w["extents"] and 0 not in counts:
        with pytest.raises(patchfold.InvalidValue, match="constant"):
            patchfold.unfold(x, w["kernel"], **call, **style)
        return
    if 0 in counts:
        with pytest.raises(patchfold.InvalidValue, match="a patch must fit"):
            patchfold.unfold(x, w["kernel"], **call, **style)
        call["allow_empty"] = True
    expected = formulas.unfold(x, w["kernel"], w["stride"], w["dilation"], w["pads"], mode=mode, value=value, **style)
    np.testing.assert_array_equal(patchfold.unfold(x, w["kernel"], **call, **style), expected, strict=True)


@settings(max_examples=300, deadline=None)
@given(windows())
def test_fold_is_its_formula_and_coverage_what_it_gives_for_ones(w):
    geometry = (w["kernel"], w["stride"], w["dilation"], w["pads"])
    counts = formulas.position_counts(w["extents"], *geometry)
    last = (int(np.prod(counts)),) if w["positions"] == "flat" else counts
    rows = w["channels"] * int(np.prod(w["kernel"]))
    x = counting(shape_of(w, rows, last))
    style = {name: w[name] for name in ("layout", "order", "positions")}
    call = {"stride": w["stride"], "dilation": w["dilation"], "padding": w["pads"]}
    result = patchfold.fold(x, w["extents"], w["kernel"], **call, **style)
    np.testing.assert_array_equal(result, formulas.fold(x, w["extents"], *geometry, **style), strict=True)

    out = np.full_like(result, 1000)
    patchfold.fold(x, w["extents"], w["kernel"], **call, **style, accumulate=True, out=out)
    np.testing.assert_array_equal(out, result + 1000)

    counted = patchfold.coverage(w["extents"], w["kernel"], **call, dtype=np.int64)
    ones = np.ones((int(np.prod(w["kernel"])), *counts), np.int64)
    plain = {"layout": "channels_first", "order": "channel", "positions": "grid"}
    np.testing.assert_array_equal(counted, formulas.fold(ones, w["extents"], *geometry, **plain)[0], strict=True)


@settings(max_examples=100, deadline=None)
@given(windows(), st.sampled_from(["channel", "kernel"]), st.sampled_from(["channel", "kernel"]))
def test_reorder_swaps_channels_and_taps(w, source, target):
    taps = int(np.prod(w["kernel"]))
    last = (5,) if w["positions"] == "flat" else tuple(w["extents"])
    x = counting(shape_of(w, w["channels"] * taps, last))
    result = patchfold.reorder(x, w["kernel"], source=source, target=target, layout=w["layout"], positions=w["positions"])
    axis = len(w["batch"]) if w["layout"] == "channels_first" else x.ndim - 1
    rows = np.arange(w["channels"] * taps)
    split = rows.reshape((w["channels"], taps) if source == "channel" else (taps, w["channels"]))
    expected = np.take(x, (split if source == target else split.T).ravel(), axis)
    np.testing.assert_array_equal(result, expected, strict=True)


@settings(max_examples=200, deadline=None)
@given(windows(), st.sampled_from(["blocks_first", "depth_first"]))
def test_space_to_depth_is_its_formula_and_depth_to_space_its_inverse(w, mode):
    x = counting(shape_of(w, w["channels"], [i * k for i, k in zip(w["extents"], w["kernel"], strict=True)]))
    deep = patchfold.space_to_depth(x, w["kernel"], mode=mode, layout=w["layout"])
    expected = formulas.space_to_depth(x, w["kernel"], mode=mode, layout=w["layout"])
    np.testing.assert_array_equal(deep, expected, strict=True)
    np.testing.assert_array_equal(patchfold.depth_to_space(deep, w["kernel"], mode=mode, layout=w["layout"]), x)


@settings(max_examples=200, deadline=None)
@given(windows())
def test_space_to_batch_is_its_formula_and_batch_to_space_its_inverse(w):
    block, layout = w["kernel"], w["layout"]
    pads = [(b, -(i + b) % k) for i, k, (b, _) in zip(w["extents"], block, w["pads"], strict=True)]
    if any(i + b < 0 for i, (b, _) in zip(w["extents"], pads, strict=True)):
        return
    x = counting((2, *w["extents"], w["channels"]) if layout == "channels_last" else (2, w["channels"], *w["extents"]))
    batches = patchfold.space_to_batch(x, block, padding=pads, layout=layout)
    np.testing.assert_array_equal(batches, formulas.space_to_batch(x, block, pads, layout=layout), strict=True)
    if min(b for b, _ in pads) >= 0:
        back = patchfold.batch_to_space(batches, block, crops=pads, layout=layout)
        np.testing.assert_array_equal(back, x, strict=True)


@pytest.mark.parametrize("rule", ["valid", "same", "same_upper", "same_lower"])
@pytest.mark.parametrize("extent", range(1, 9))
def test_padding_rules(rule, extent):
    for kernel, stride, dilation in [(1, 1, 1), (2, 1, 1), (3, 2, 1), (3, 3, 2), (2, 5, 3), (4, 2, 1)]:
        x = counting((1, 2, extent))
        geometry = ([extent], [kernel], [stride], [dilation])
        pads = [(0, 0)] if rule == "valid" else formulas.same_pads(*geometry, lower=rule == "same_lower")
        window = {"stride": stride, "dilation": dilation, "allow_empty": True}
        result = patchfold.unfold(x, (kernel,), padding=rule, **window)
        expected = patchfold.unfold(x, (kernel,), padding=pads, **window)
        np.testing.assert_array_equal(result, expected, strict=True)
        if rule != "valid":
            assert result.shape[-1] == -(-extent // stride)


def test_numbers_stand_for_every_axis_and_lists_for_each():
    x = counting((2, 3, 7, 6))
    many = patchfold.unfold(x, (2, 2), stride=(3, 3), dilation=[2, 2], padding=[(1, 1), (1, 1)])
    for kernel, pads in [
        (2, 1),
        (np.int64(2), (1, 1)),
        (np.array([2, 2]), np.array([1, 1])),
        (np.array(2), np.int8(1)),
    ]:
        few = patchfold.unfold(x, kernel, stride=3, dilation=2, padding=pads)
        np.testing.assert_array_equal(few, many, strict=True)


def test_lists_tell_the_number_of_spatial_axes():
    x = counting((2, 3, 4))
    assert patchfold.unfold(x, (2,)).shape == (2, 6, 3)  # a batch of signals
    assert patchfold.unfold(x, (2, 2)).shape == (8, 6)  # one picture of two channels
    assert patchfold.unfold(x[None], 2).shape == (1, 8, 6)
    with pytest.raises(patchfold.Error) as caught:
        patchfold.unfold(x, 2)
    assert caught.value.expected == "kernel_size=(2, 2) for two spatial axes, kernel_size=(2,) for one"


def test_coverage_counts_in_the_type_asked_for():
    assert patchfold.coverage((4,), 2).dtype == np.float32
    for dtype in (np.uint8, np.int64, np.float16, np.float64, np.complex64, bool):
        counts = patchfold.coverage((4,), (2,), dtype=dtype)
        assert counts.dtype == dtype
        np.testing.assert_array_equal(counts, np.array([1, 2, 2, 1]).astype(dtype))
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert patchfold.coverage((4,), 2, dtype=ml_dtypes.bfloat16).tolist() == [1, 2, 2, 1]
    out = np.zeros(4, np.int16)
    assert patchfold.coverage((4,), 2, out=out) is out and out.tolist() == [1, 2, 2, 1]


@pytest.mark.parametrize("call", ["unfold", "fold", "reorder", "run", "plan"])
def test_the_old_name_of_positions_works_and_warns(call):
    x = np.arange(2 * 4 * 9, dtype=np.int32).reshape(2, 4, 3, 3)
    new = {
        "unfold": lambda **kw: patchfold.unfold(x, 2, **kw),
        "fold": lambda **kw: patchfold.fold(x, (4, 4), 2, **kw),
        "reorder": lambda **kw: patchfold.reorder(x, (2, 2), **kw),
        "run": lambda **kw: patchfold.run("unfold", x, kernel_size=2, **kw),
        "plan": lambda **kw: patchfold.plan("unfold", x, kernel_size=2, **kw)(x),
    }[call]
    expected = new(positions="grid")
    with pytest.warns(DeprecationWarning, match="columns is now called positions") as caught:
        assert np.array_equal(new(columns="grid"), expected)
    assert caught[0].filename == __file__


def values_that_look_alike() -> list[object]:
    """Returns padding values, some of which have equal bits, equal types or equal numbers."""
    bits_of_one = 4607182418800017408  # as a double
    numbers = (0, -0.0, 1, True, 1.0, bits_of_one, np.True_, np.int64(1), np.float32(1), -1, 256, 257, 1e300)
    return [*numbers, np.array(1), np.array(1, np.int8), np.array(2)]


def test_a_call_is_not_taken_for_one_that_looks_alike() -> None:
    x = np.arange(9.0).reshape(1, 1, 3, 3)
    for value in values_that_look_alike() * 2:
        want = np.pad(x[0, 0], 1, constant_values=np.float64(value))  # type: ignore[arg-type]
        got = patchfold.unfold(x, 3, padding=1, value=value)  # type: ignore[arg-type]
        assert got[0, 0].tobytes() == want[:3, :3].tobytes(), value
        assert np.signbit(got[0, 0, 0]) == np.signbit(want[0, 0])


def test_a_list_that_changed_is_another_argument() -> None:
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    as_list, as_array = [1, 2], np.array([1, 2])
    for size in (as_list, as_array):
        for height, width in ((1, 2), (3, 1), (2, 2), (1, 2)):
            size[0], size[1] = height, width  # type: ignore[index]
            got = patchfold.unfold(x, size, positions="grid")
            windows = np.lib.stride_tricks.sliding_window_view(x[0, 0], (height, width))
            want = windows.transpose(2, 3, 0, 1).reshape(1, height * width, 5 - height, 5 - width)
            assert np.array_equal(got, want), (size, height, width)
    asymmetric = [[1, 0], [0, 2]]
    for pads, edges in ((asymmetric, ((1, 0), (0, 2))), ([1, 0], ((1, 1), (0, 0))), (1, 1), ("same", (0, 1)), ("valid", 0)):
        got = patchfold.unfold(x, 2, padding=pads, positions="grid")  # type: ignore[arg-type]
        assert np.array_equal(got[0, 0], np.pad(x[0, 0], edges)[:-1, :-1]), pads  # type: ignore[arg-type]


def test_integers_of_another_type_are_another_argument() -> None:
    columns = np.arange(4.0).reshape(1, 4, 1)
    block = {np.int64: np.array([2, 2], np.int64), np.uint8: np.array([2, 2], np.uint8)}
    for _ in range(2):
        assert patchfold.onnx.col2im(columns, block[np.int64], block[np.int64]).shape == (1, 1, 2, 2)
        with pytest.raises(patchfold.InvalidType, match="int64"):
            patchfold.onnx.col2im(columns, block[np.uint8], block[np.uint8])

# SPDX-License-Identifier: Apache-2.0
"""Tests of ``python -m patchfold.onnx``: passing and failing node tests, output and exit code.

ONNX's own node tests of patchfold's operators pass, and copies with a false expectation fail. The installed onnx package
generates eleven tests. Nine more tests, which the onnx package 1.18.0 contained as files, are kept in
vectors/onnx-node-tests.jsonl.
"""

import base64
import contextlib
import importlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx", reason="node tests are read by the onnx package")

import ml_dtypes
from node_test_files import NodeTest, col2im, depth_to_space, node_test, space_to_depth
from onnx import TensorProto, helper, numpy_helper
from patchfold.onnx import _node_tests, backend
from patchfold.onnx.__main__ import main


class Run:
    """Runs main() in a separate folder; returns its exit code and output."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys

    def add(self, name: str, test: NodeTest, **more: Any) -> None:
        test.write(self.folder / name, **more)

    def __call__(self, *words: str) -> tuple[int, str, str]:
        self.capsys.readouterr()
        code = main(words)
        printed = self.capsys.readouterr()
        return code, printed.out, printed.err


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return Run(tmp_path, capsys)


def test_passes_where_results_are_equal(run: Run) -> None:
    run.add("pads", col2im())
    line = "pass test_data_set_0 onnx.Col2Im-18 float32 (1, 1, 5, 5)\n"
    assert run("pads") == (0, line + "1 passed, 0 failed\n", "")
    assert run("pads", "--quiet", "--threads", "1") == (0, "1 passed, 0 failed\n", "")


def test_fails_where_one_element_differs(run: Run) -> None:
    run.add("pads", col2im(14))
    run.add("pads", col2im(24), data_set="test_data_set_1")
    fails = "fail test_data_set_0 onnx.Col2Im-18 float32 (1, 1, 5, 5): first difference at [0,0,0,4]: got 24, expected 14\n"
    passes = "pass test_data_set_1 onnx.Col2Im-18 float32 (1, 1, 5, 5)\n"
    assert run("pads") == (1, fails + passes + "1 passed, 1 failed\n", "")
    assert run("pads", "-q") == (1, fails + "1 passed, 1 failed\n", "")


def test_several_folders_are_named(run: Run) -> None:
    nan = float("nan")
    depth = depth_to_space([1, nan, -0.0, 4], mode="CRD")
    depth.outputs = [numpy_helper.from_array(np.array([[[[1, -nan], [-0.0, 4]]]], np.float32))]
    space = node_test(
        "SpaceToDepth",
        [np.array([[[[1, 2], [0, 4]]]], np.float32)],
        np.array([[[[1]], [[2]], [[-0.0]], [[4]]]], np.float32),
        20,
        blocksize=2,
    )
    run.add("pads", col2im())
    run.add("depth", depth)
    run.add("space", space)
    assert run("pads", "depth", "space") == (
        1,
        "pass pads/test_data_set_0 onnx.Col2Im-18 float32 (1, 1, 5, 5)\n"
        "pass depth/test_data_set_0 onnx.DepthToSpace-13 float32 (1, 1, 2, 2)\n"
        "fail space/test_data_set_0 onnx.SpaceToDepth-13 float32 (1, 4, 1, 1): first difference at [0,2,0,0]: got 0, "
        "expected -0\n"
        "2 passed, 1 failed\n",
        "",
    )


@pytest.mark.parametrize(("dtype", "step"), [(np.float16, 2048), (ml_dtypes.bfloat16, 256)])
def test_half_precision_sums_may_be_rounded_at_every_step(run: Run, dtype: Any, step: int) -> None:
    """Accepts both results of step + 1 + 1: step if each addition is rounded, and step + 2 if only the sum is rounded."""

    def add_sum(name: str, expected: float) -> None:
        columns = np.zeros((1, 3, 3), dtype)
        columns[0, [0, 1, 2], [2, 1, 0]] = step, 1, 1
        image = np.array([[[0, 0, expected, 0, 0]]], dtype)
        run.add(name, node_test("Col2Im", [columns, [5], [3]], image))

    name = np.dtype(dtype).name
    add_sum("step", step)
    add_sum("once", step + 2)
    add_sum("wrong", step * 33 / 32 if dtype is np.float16 else step * 5 / 4)
    assert run("step", "once", "-q")[0] == 0
    code, printed, _ = run("wrong")
    assert code == 1
    assert printed.startswith(f"fail test_data_set_0 onnx.Col2Im-18 {name} (1, 1, 5): first difference at [0,0,2]: got ")
    moved = depth_to_space([step, 0, 0, 0], dtype)
    moved.outputs = [numpy_helper.from_array(np.array([[[[step + step // 128, 0], [0, 0]]]], dtype))]
    run.add("moved", moved)
    assert run("moved")[0] == 1


def test_types_and_shapes_are_compared(run: Run) -> None:
    for name, expected in (
        ("shape", np.array([1, 2, 3, 4], np.float32).reshape(1, 1, 4, 1)),
        ("type", np.array([1, 2, 3, 4]).reshape(1, 1, 2, 2)),
    ):
        test = depth_to_space()
        test.outputs = [numpy_helper.from_array(expected)]
        run.add(name, test)
        code, printed, _ = run(name)
        text = f"got float32 (1, 1, 2, 2), expected {expected.dtype} {expected.shape}"
        assert (code, printed) == (
            1,
            f"fail test_data_set_0 onnx.DepthToSpace-13 float32 (1, 1, 2, 2): {text}\n0 passed, 1 failed\n",
        )


def test_what_the_operator_refuses_fails(run: Run) -> None:
    odd = depth_to_space()
    odd.inputs = [numpy_helper.from_array(np.zeros((1, 3, 1, 1), np.float32))]
    run.add("odd", odd)
    code, printed, _ = run("odd")
    assert code == 1
    assert printed.startswith("fail test_data_set_0 onnx.DepthToSpace-13: onnx.DepthToSpace-13: input: ")
    large = col2im()
    large.inputs[1] = numpy_helper.from_array(np.array([1 << 62, 1 << 62]))
    run.add("large", large)
    code, printed, _ = run("large")
    assert code == 1 and printed.startswith("fail test_data_set_0 onnx.Col2Im-18: ")


TYPES = [
    np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16,
    ml_dtypes.bfloat16, np.float32, np.float64, np.complex64, np.complex128, ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz,
]  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_every_type_is_read_from_both_fields_and_compared(run: Run, dtype: Any) -> None:
    test = depth_to_space([1, 0, 1, 1], dtype)
    typed = depth_to_space([1, 0, 1, 1], dtype)
    values = np.array([1, 0, 1, 1], dtype)
    field = helper.tensor_dtype_to_field(typed.inputs[0].data_type)
    if field == "int32_data":
        numbers = values if values.dtype.kind in "iu" else values.view(f"u{values.itemsize}")
    else:
        numbers = values.view(values.real.dtype)
    typed.inputs[0].ClearField("raw_data")
    getattr(typed.inputs[0], field).extend(numbers.tolist())
    wrong = depth_to_space([1, 0, 0, 1], dtype)
    wrong.inputs = test.inputs
    run.add("raw", test)
    run.add("typed", typed)
    run.add("wrong", wrong)
    code, printed, errors = run("raw", "typed", "wrong")
    assert code == 1 and not errors
    name = np.dtype(dtype).name
    assert printed.startswith(
        f"pass raw/test_data_set_0 onnx.DepthToSpace-13 {name} (1, 1, 2, 2)\n"
        f"pass typed/test_data_set_0 onnx.DepthToSpace-13 {name} (1, 1, 2, 2)\n"
        f"fail wrong/test_data_set_0 onnx.DepthToSpace-13 {name} (1, 1, 2, 2): first difference at [0,0,1,0]: got "
    )


def test_complex_parts_are_compared_each(run: Run) -> None:
    nan = float("nan")
    same = depth_to_space([complex(nan, 1), 0, 0, 0], np.complex64)
    same.outputs = [numpy_helper.from_array(np.array([[[[complex(-nan, 1), 0], [0, 0]]]], np.complex64))]
    other = depth_to_space([complex(nan, 1), 0, 0, 0], np.complex64)
    other.outputs = [numpy_helper.from_array(np.array([[[[complex(nan, 2), 0], [0, 0]]]], np.complex64))]
    run.add("same", same)
    run.add("other", other)
    assert run("same")[0] == 0
    assert run("other")[0] == 1


@pytest.mark.parametrize(
    ("make", "opset", "operator"),
    [
        (space_to_depth, 1, "SpaceToDepth-1"),
        (space_to_depth, 12, "SpaceToDepth-1"),
        (space_to_depth, 13, "SpaceToDepth-13"),
        (space_to_depth, 18, "SpaceToDepth-13"),
        (space_to_depth, 28, "SpaceToDepth-28"),
        (lambda opset: depth_to_space(opset=opset), 11, "DepthToSpace-11"),
    ],
)
def test_the_newest_definition_of_the_opset_is_run(run: Run, make: Any, opset: int, operator: str) -> None:
    test = make(opset)
    run.add("default", test)
    test.model.opset_import[0].domain = "ai.onnx"
    test.node.domain = "ai.onnx"
    test.model.opset_import.append(helper.make_opsetid("com.example", 1000))
    run.add("named", test)
    for folder in ("default", "named"):
        code, printed, errors = run(folder)
        assert code == 0, errors
        assert printed.startswith(f"pass test_data_set_0 onnx.{operator} ")


def test_data_sets_come_in_the_order_of_their_numbers(run: Run) -> None:
    for number in (0, 10, 2):
        run.add("t", col2im(), data_set=f"test_data_set_{number}")
    printed = run("t")[1]
    assert [line.split()[1] for line in printed.splitlines()[:-1]] == [f"test_data_set_{n}" for n in (0, 2, 10)]


@pytest.mark.parametrize("listed", [True, False])
def test_constants_of_the_model_have_no_file(run: Run, listed: bool) -> None:
    """Checks that constants have no input file, even if the model, like old models, lists them among its inputs."""
    test = col2im()
    constant = numpy_helper.from_array(np.array([5, 5]), "image_shape")
    test.model.graph.initializer.append(constant)
    data, shape, block = test.model.graph.input
    inputs = [block, shape, data] if listed else [block, data]
    kept = [type(info).FromString(info.SerializeToString()) for info in inputs]
    del test.model.graph.input[:]
    test.model.graph.input.extend(kept)
    test.inputs = [test.inputs[2], test.inputs[0]]
    run.add("constants", test)
    assert run("constants")[0] == 0


def test_tensors_without_axes_and_elements_are_read(run: Run) -> None:
    empty = node_test("DepthToSpace", [np.zeros((0, 4, 1, 1))], np.zeros((0, 1, 2, 2)), 13, blocksize=2)
    run.add("empty", empty)
    assert run("empty")[0] == 0
    scalar = depth_to_space()
    scalar.outputs = [TensorProto(data_type=TensorProto.FLOAT, raw_data=b"abcd")]
    run.add("scalar", scalar)
    assert "got float32 (1, 1, 2, 2), expected float32 ()" in run("scalar")[1]


def test_a_folder_that_cannot_be_read_counts_as_a_failure(run: Run) -> None:
    (run.folder / "empty").mkdir()
    (run.folder / "junk").mkdir()
    (run.folder / "junk" / "model.onnx").write_text("this is no model")
    for name in ("empty", "junk", "nowhere", "odd\nname \udc80"):
        code, printed, errors = run(name)
        assert (code, printed) == (1, "0 passed, 1 failed\n")
        assert errors.startswith("patchfold: onnx: ") and errors.count("\n") == 1 and errors.endswith("]\n")
    run.add("pads", col2im())
    code, printed, _ = run("junk", "pads")
    assert (code, printed) == (
        1,
        "pass pads/test_data_set_0 onnx.Col2Im-18 float32 (1, 1, 5, 5)\n1 passed, 1 failed\n",
    )


def test_running_out_of_memory_is_a_failure(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run.add("pads", col2im())

    def no_memory(*given: Any) -> Any:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(backend.PreparedModel, "run", no_memory)
        assert run("pads") == (1, "fail test_data_set_0 onnx.Col2Im-18: out of memory\n0 passed, 1 failed\n", "")
    monkeypatch.setattr(_node_tests, "_read", no_memory)
    assert run("pads") == (1, "0 passed, 1 failed\n", "patchfold: onnx: out of memory [out_of_memory]\n")


@pytest.mark.parametrize(
    "words", [(), ("t", "--output", "x"), ("--threads", "-1", "t"), ("--threads", "x", "t"), ("--threads", "65537", "t")]
)
def test_wrong_usage_is_said(run: Run, words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(*words)
    assert ended.value.code == 2
    assert "python -m patchfold.onnx: error: " in run.capsys.readouterr().err


def test_without_the_onnx_package_it_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert run("pads") == (2, "", "patchfold: node tests are read by the onnx package: pip install 'patchfold[onnx]'\n")


def test_runs_as_a_module(run: Run) -> None:
    run.add("pads", col2im())
    command = [sys.executable, "-m", "patchfold.onnx", "pads"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("1 passed, 0 failed\n")
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, done.stderr) == (
            1,
            "patchfold: standard output cannot be written: No space left on device\n",
        )


OPERATORS = {"Col2Im", "DepthToSpace", "SpaceToDepth"}


def generated() -> list[Any]:
    """Returns the tests of patchfold's operators. Importing a module makes its tests; load_model_tests() would make all."""
    package = importlib.import_module("onnx.backend.test.case.node")
    for operator in OPERATORS:
        importlib.import_module(f"{package.__name__}.{operator.lower()}")
    # Leaves out models in which ONNX writes the operator as other operators.
    return [case for case in package._NodeTestCases if {node.op_type for node in case.model.graph.node} & OPERATORS]


CASES = generated()


def carried() -> dict[str, dict[str, bytes]]:
    """Returns {test: {path in the test's folder: content}}."""
    path = Path(__file__).with_name("vectors") / "onnx-node-tests.jsonl"
    _, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {line["name"]: {name: base64.b64decode(text) for name, text in line["files"].items()} for line in lines}


CARRIED = carried()


def test_there_are_eleven_and_nine() -> None:
    assert len({case.name for case in CASES}) == len(CASES) == 11
    assert len(CARRIED) == 9


def check(folder: Path, data_sets: int) -> None:
    """Checks that the test in the folder passes, and that it fails after its first expected output is changed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main([str(folder)]) == 0
    assert printed.getvalue().endswith(f"\n{data_sets} passed, 0 failed\n")

    path = folder / "test_data_set_0" / "output_0.pb"
    data = bytearray(path.read_bytes())
    data[-1] ^= 0x40  # raw data comes last, little endian: the highest bit of a float32's exponent
    path.write_bytes(data)
    with contextlib.redirect_stdout(printed):
        assert main([str(folder)]) == 1
    assert "first difference at " in printed.getvalue()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_generated(case: Any, tmp_path: Path) -> None:
    for number, (inputs, outputs) in enumerate(case.data_sets):
        test = NodeTest(case.model, *([numpy_helper.from_array(array) for array in arrays] for arrays in (inputs, outputs)))
        test.write(tmp_path / case.name, f"test_data_set_{number}")
    check(tmp_path / case.name, len(case.data_sets))


@pytest.mark.parametrize("name", CARRIED)
def test_carried(name: str, tmp_path: Path) -> None:
    for path, content in CARRIED[name].items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content)
    check(tmp_path, len(list(tmp_path.glob("test_data_set_*"))))

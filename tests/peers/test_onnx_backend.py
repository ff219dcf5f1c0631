# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX's own node tests on patchfold.onnx.backend with ONNX's own runner, and tests further models."""

import subprocess
import sys
import unittest
from typing import Any

import ml_dtypes
import numpy
import onnx
import patchfold
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner
from onnx.checker import ValidationError
from onnx.reference import ReferenceEvaluator
from patchfold.onnx import backend

# ONNX's generator of cases and ONNX's reference overflow on purpose.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:onnx")

OURS = {"Col2Im", "DepthToSpace", "SpaceToDepth"}

# Every case of onnx 1.23.2 whose model has only operators of patchfold.
CASES = [
    "test_col2im",
    "test_col2im_5d",
    "test_col2im_dilations",
    "test_col2im_pads",
    "test_col2im_strides",
    "test_depthtospace_crd_mode_example",
    "test_depthtospace_example",
    "test_spacetodepth",
    "test_spacetodepth_crd_mode_example",
    "test_spacetodepth_dcr_mode_example",
    "test_spacetodepth_example",
]

# The variants of these cases in which ONNX expands the operator into other operators.
EXPANDED = [f"{name}_expanded" for name in CASES if "col2im" not in name]


@pytest.fixture(scope="module")
def node_tests() -> dict[str, Any]:
    return {case.name: case for case in load_model_tests(kind="node") if case.model is not None}


@pytest.fixture(scope="module")
def suite() -> type[unittest.TestCase]:
    runner = Runner(backend.PatchfoldBackend, __name__)
    for name in CASES:
        runner.include(f"^{name}_(cpu|cuda)$")
    return runner.test_cases["OnnxBackendNodeModelTest"]


def _run(suite: type[unittest.TestCase], name: str) -> unittest.TestResult:
    result = unittest.TestResult()
    suite(name).run(result)
    assert result.testsRun == 1
    return result


def test_cases_are_all_that_onnx_has(node_tests: dict[str, Any]) -> None:
    found = [name for name, case in node_tests.items() if {node.op_type for node in case.model.graph.node} <= OURS]
    assert sorted(found) == CASES and len(CASES) == 11
    assert sorted(name for name in node_tests if name.endswith("_expanded") and name[:-9] in found) == sorted(EXPANDED)


@pytest.mark.parametrize("name", CASES)
def test_node_case_passes(suite: type[unittest.TestCase], name: str) -> None:
    result = _run(suite, f"{name}_cpu")
    assert result.wasSuccessful() and not result.skipped, result


def test_a_wrong_result_fails_a_node_case(suite: type[unittest.TestCase], monkeypatch: pytest.MonkeyPatch) -> None:
    apply = backend._apply
    monkeypatch.setattr(backend, "_apply", lambda *args: apply(*args) + 1)
    assert len(_run(suite, "test_col2im_cpu").failures) == 1


def test_other_devices_are_skipped(suite: type[unittest.TestCase]) -> None:
    assert [reason for _, reason in _run(suite, "test_col2im_cuda").skipped] == ["Backend doesn't support device CUDA"]
    assert backend.supports_device("CPU") and backend.supports_device("CPU:0") and not backend.supports_device("CUDA")


@pytest.mark.parametrize("name", EXPANDED)
def test_expanded_case_is_refused_by_its_first_operator(node_tests: dict[str, Any], name: str) -> None:
    with pytest.raises(backend.Unsupported, match="^ai.onnx.Shape: "):
        backend.prepare(node_tests[name].model)
    assert not backend.is_compatible(node_tests[name].model)


def _value(name: str, dtype: Any, shape: Any) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype)), shape)


def _model(nodes: Any, inputs: Any, outputs: Any, opset: int = 18, **more: Any) -> onnx.ModelProto:
    opsets = [helper.make_opsetid("", opset), *more.pop("opsets", [])]
    functions = more.pop("functions", [])
    graph = helper.make_graph(nodes, "graph", inputs, outputs, **more)
    return helper.make_model(graph, opset_imports=opsets, functions=functions)


def _depth(op: str, x: str, y: str, block: int = 2, **more: Any) -> onnx.NodeProto:
    return helper.make_node(op, [x], [y], blocksize=block, **more)


def _data(dtype: Any, *shape: int) -> Any:
    values = numpy.random.default_rng(7).integers(0, 2 if dtype is bool else 100, shape)
    return values.astype(str).astype(object) if dtype is object else values.astype(dtype)


NUMBERS = [
    bool, numpy.int8, numpy.int16, numpy.int32, numpy.int64, numpy.uint8, numpy.uint16, numpy.uint32, numpy.uint64,
    numpy.float16, ml_dtypes.bfloat16, numpy.float32, numpy.float64, numpy.complex64, numpy.complex128,
]  # fmt: skip


@pytest.mark.parametrize("dtype", [*NUMBERS, object], ids=lambda dtype: dtype.__name__)
def test_graph_of_depth_nodes_equals_the_reference(dtype: Any) -> None:
    model = _model(
        [
            _depth("SpaceToDepth", "x", "deep", 3),
            _depth("DepthToSpace", "deep", "wide", 3, mode="CRD"),
            _depth("SpaceToDepth", "wide", "y"),
            _depth("DepthToSpace", "y", "z"),
        ],
        [_value("x", dtype, [2, 2, 6, 12])],
        [_value("y", dtype, ["n", "c", "h", "w"]), _value("z", dtype, [2, 2, 6, 12])],
    )
    x = _data(dtype, 2, 2, 6, 12)
    result = backend.run_model(model, [x])
    expected = ReferenceEvaluator(model).run(None, {"x": x})
    for got, wanted in zip(result, expected, strict=True):
        assert got.dtype == wanted.dtype and got.shape == wanted.shape and (got == wanted).all()
    assert (result.z != x).any() and result["y"] is result[0]


@pytest.mark.parametrize("dtype", NUMBERS, ids=lambda dtype: dtype.__name__)
def test_graph_with_shapes_from_constant_and_initialiser_equals_the_reference(dtype: Any) -> None:
    model = _model(
        [
            helper.make_node("Constant", [], ["kernel"], value_ints=[2, 3]),
            _depth("DepthToSpace", "x", "wide"),
            helper.make_node("Constant", [], ["flat"], value=numpy_helper.from_array(_data(dtype, 1, 12, 8))),
            helper.make_node("Col2Im", ["flat", "size", "kernel"], ["image"], pads=[0, 1, 0, 0], strides=[1, 2]),
            _depth("SpaceToDepth", "image", "y", 1),
        ],
        [_value("x", dtype, [1, 4, 1, 1])],
        [_value("y", dtype, [1, 2, 3, 9]), _value("wide", dtype, [1, 1, 2, 2]), _value("x", dtype, [1, 4, 1, 1])],
        initializer=[numpy_helper.from_array(numpy.array([3, 9]), "size")],
    )
    prepared = backend.prepare(model)
    for x in (_data(dtype, 1, 4, 1, 1), numpy.ones((1, 4, 1, 1), dtype)):
        result = prepared.run({"x": x})
        for got, wanted in zip(result, ReferenceEvaluator(model).run(None, {"x": x}), strict=True):
            assert got.dtype == wanted.dtype and got.shape == wanted.shape and (got == wanted).all()


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"])
def test_float8_is_moved(dtype: str) -> None:
    x = numpy.arange(256, dtype=numpy.uint8).reshape(1, 1, 16, 16)
    node = _depth("SpaceToDepth", "x", "y", 4)
    (moved,) = backend.run_node(node, [x.view(getattr(ml_dtypes, dtype))])
    assert moved.dtype == dtype
    assert (moved.view(numpy.uint8) == backend.run_node(node, [x])[0]).all()
    model = _model([node], [_value("x", moved.dtype, [1, 1, 16, 16])], [_value("y", moved.dtype, [1, 16, 4, 4])])
    assert (backend.run_model(model, [x.view(moved.dtype)])[0].view(numpy.uint8) == moved.view(numpy.uint8)).all()


OPSETS = [
    *(("SpaceToDepth", opset, defined) for opset, defined in [(1, 1), (12, 1), (13, 13), (27, 13), (28, 28)]),
    *(("DepthToSpace", opset, defined) for opset, defined in [(1, 1), (10, 1), (11, 11), (12, 11), (13, 13), (28, 28)]),
]


@pytest.mark.parametrize(("op", "opset", "defined"), OPSETS)
def test_opset_of_the_model_says_which_definition_is_run(op: str, opset: int, defined: int) -> None:
    model = _model([_depth(op, "x", "y")], [_value("x", float, "nchw")], [_value("y", float, "nchw")], opset)
    with pytest.raises(patchfold.InvalidValue) as caught:
        backend.run_model(model, [numpy.ones((1, 3, 3, 3))])
    assert caught.value.operator == f"onnx.{op}-{defined}"
    node = _depth(op, "x", "y")
    with pytest.raises(patchfold.InvalidValue) as caught:
        backend.run_node(node, [numpy.ones((1, 3, 3, 3))], opset_version=opset)
    assert caught.value.operator == f"onnx.{op}-{defined}"


@pytest.mark.parametrize(("op", "opset"), [("SpaceToDepth", 27), ("DepthToSpace", 10)])
def test_mode_before_it_was_defined_is_no_valid_model(op: str, opset: int) -> None:
    node = _depth(op, "x", "y", mode="CRD")
    model = _model([node], [_value("x", float, "nchw")], [_value("y", float, "nchw")], opset)
    with pytest.raises(ValidationError, match="mode"):
        backend.prepare(model)
    model.opset_import[0].version = opset + 1
    assert backend.run_model(model, [numpy.ones((1, 4, 2, 2))])[0].size == 16


def test_definition_that_is_newer_than_the_table_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    known = backend._SPECS["SpaceToDepth"]
    monkeypatch.setitem(backend._SPECS, "SpaceToDepth", {version: known[version] for version in (1, 13)})
    with pytest.raises(backend.Unsupported, match="not run in this version; given opset 28, expected 1, 13"):
        backend.run_node(_depth("SpaceToDepth", "x", "y"), [numpy.ones((1, 1, 2, 2))], opset_version=28)


def test_first_unknown_operator_is_named() -> None:
    nodes = [
        _depth("SpaceToDepth", "x", "deep"),
        helper.make_node("Relu", ["deep"], ["positive"], name="clip"),
        helper.make_node("Abs", ["positive"], ["y"]),
    ]
    model = _model(nodes, [_value("x", float, "nchw")], [_value("y", float, "nchw")])
    message = "ai.onnx.Relu: node 'clip': is not an operator of this backend; expected Col2Im, Constant, DepthToSpace, S"
    with pytest.raises(backend.Unsupported, match=message):
        backend.prepare(model)
    with pytest.raises(NotImplementedError):
        backend.run_node(nodes[1], [numpy.ones(3)])


def test_other_domain_is_refused() -> None:
    node = helper.make_node("Col2Im", ["x", "size", "kernel"], ["y"], domain="com.example")
    inputs = [_value("x", float, [1, 4, 1]), _value("size", int, [2]), _value("kernel", int, [2])]
    model = _model([node], inputs, [_value("y", float, "nchw")], opsets=[helper.make_opsetid("com.example", 18)])
    with pytest.raises(backend.Unsupported, match=r"^com\.example\.Col2Im: node of y: "):
        backend.prepare(model)


def test_functions_of_the_model_are_run() -> None:
    body = [_depth("SpaceToDepth", "a", "b"), _depth("DepthToSpace", "b", "c", mode="CRD")]
    function = helper.make_function("local", "Twist", ["a"], ["c"], body, [helper.make_opsetid("", 13)])
    node = helper.make_node("Twist", ["x"], ["y"], domain="local")
    model = _model([node], [_value("x", float, "nchw")], [_value("y", float, "nchw")], 13,
                   functions=[function], opsets=[helper.make_opsetid("local", 1)])  # fmt: skip
    x = _data(float, 1, 2, 4, 4)
    assert (backend.run_model(model, [x])[0] == ReferenceEvaluator(model).run(None, {"x": x})[0]).all()


def _col2im(**more: Any) -> onnx.ModelProto:
    inputs = [_value("x", numpy.float32, [1, 4, "l"]), _value("size", int, [2]), _value("kernel", int, [2])]
    node = helper.make_node("Col2Im", ["x", "size", "kernel"], ["y"])
    return _model([node], inputs, [_value("y", numpy.float32, "nchw")], **more)


X, SIZE, KERNEL = numpy.ones((1, 4, 4), numpy.float32), numpy.array([3, 3]), numpy.array([2, 2])


def test_input_with_an_initialiser_may_be_left_out_or_given() -> None:
    model = _col2im(initializer=[numpy_helper.from_array(KERNEL, "kernel")])
    prepared = backend.prepare(model)
    expected = numpy.array([[[[1, 2, 1], [2, 4, 2], [1, 2, 1]]]], numpy.float32)
    for inputs in ([X, SIZE], [X, SIZE, KERNEL], {"x": X, "size": SIZE}, [numpy_helper.from_array(X), SIZE]):
        assert (prepared.run(inputs)[0] == expected).all()
    assert prepared.run([X, numpy.array([4, 4]), numpy.array([4, 1])])[0].tolist() == [[[[1] * 4] * 4]]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([X, SIZE], "onnx: inputs: one array for each input; given 2, expected x, size, kernel"),
        ({"x": X, "kernel": KERNEL}, "onnx: size: the input is missing"),
        ({"x": X, "size": SIZE, "kernels": KERNEL}, "onnx: kernels: is not an input; expected x, size, kernel"),
        ([X.astype(float), SIZE, KERNEL], "x: element type of the input; given float64, expected float32"),
        ([X, SIZE.astype(numpy.int32), KERNEL], "size: element type of the input; given int32, expected int64"),
        ([X[0], SIZE, KERNEL], r"x: shape of the input; given \(4, 4\), expected \(1, 4, \?\)"),
        ([X[..., 0], SIZE, KERNEL], r"x: shape of the input; given \(1, 4\), expected \(1, 4, \?\)"),
        ([X[:, :3], SIZE, KERNEL], r"x: shape of the input; given \(1, 3, 4\), expected \(1, 4, \?\)"),
        ([X[:, :, :3], SIZE, KERNEL], "onnx.Col2Im-18: input: "),
        ([X, SIZE - 3, KERNEL], "onnx.Col2Im-18: block_shape: a patch must fit"),
        ([X, SIZE, KERNEL * 0], "onnx.Col2Im-18: block_shape: "),
    ],
)
def test_input_that_does_not_fit_is_named(inputs: Any, message: str) -> None:
    with pytest.raises(patchfold.Error, match=message):
        backend.prepare(_col2im()).run(inputs)


def test_shapes_must_be_int64_lists() -> None:
    node = helper.make_node("Col2Im", ["x", "size", "kernel"], ["y"])
    assert backend.run_node(node, {"x": X, "size": SIZE, "kernel": KERNEL})[0].shape == (1, 1, 3, 3)
    for size in (SIZE.astype(numpy.int32), SIZE.reshape(1, 2), numpy.array(3), SIZE.astype(float)):
        with pytest.raises(patchfold.InvalidType, match="onnx.Col2Im-18: image_shape: must be a list of int64; given "):
            backend.run_node(node, [X, size, KERNEL])
    with pytest.raises(patchfold.InvalidValue, match="Col2Im: inputs: one array for each input; given 2"):
        backend.run_node(node, [X, SIZE])


def test_what_cannot_be_added_is_refused() -> None:
    node = helper.make_node("Col2Im", ["x", "size", "kernel"], ["y"])
    for data in (_data(object, 1, 4, 4), _data(object, 1, 4, 4).astype(str), _data(ml_dtypes.float8_e5m2, 1, 4, 4)):
        with pytest.raises(patchfold.InvalidType, match="onnx.Col2Im-18: input: "):
            backend.run_node(node, [data, SIZE, KERNEL])


def test_constants_of_every_form() -> None:
    forms: dict[str, Any] = {
        "value_float": 1.5, "value_floats": [1.5, 2.0], "value_int": 7, "value_ints": [1, 2], "value_string": b"a",
        "value_strings": [b"a", b"bc"],
        "value": numpy_helper.from_array(numpy.ones((2, 2), ml_dtypes.bfloat16)),
    }  # fmt: skip
    for name, value in forms.items():
        node = helper.make_node("Constant", [], ["y"], **{name: value})
        (got,) = backend.run_node(node, [])
        (expected,) = ReferenceEvaluator(node).run(None, {})
        assert got.dtype == (object if "string" in name else expected.dtype)
        assert got.shape == expected.shape and got.tolist() == expected.tolist()


def _sparse() -> onnx.SparseTensorProto:
    values = helper.make_tensor("size", TensorProto.INT64, [1], [3])
    return helper.make_sparse_tensor(values, helper.make_tensor("at", TensorProto.INT64, [1], [0]), [2])


def test_sparse_and_external_tensors_are_refused() -> None:
    node = helper.make_node("Constant", [], ["y"], sparse_value=_sparse())
    with pytest.raises(backend.Unsupported, match="ai.onnx.Constant: node of y: is not run with this attribute"):
        backend.run_node(node, [])
    with pytest.raises(backend.Unsupported, match="onnx: size: sparse initialisers are not taken"):
        backend.PreparedModel(_col2im(sparse_initializer=[_sparse()]))
    external = numpy_helper.from_array(KERNEL, "kernel")
    external.data_location = TensorProto.EXTERNAL
    with pytest.raises(patchfold.InvalidValue, match="onnx: kernel: must lie in the model; "):
        backend.PreparedModel(_col2im(initializer=[external]))


def test_other_devices_are_refused() -> None:
    with pytest.raises(backend.Unsupported, match="onnx: device: is not supported; given CUDA, expected CPU"):
        backend.prepare(_col2im(), "CUDA")
    assert backend.is_compatible(_col2im(), "CPU:0") and not backend.is_compatible(_col2im(), "CUDA:0")


def test_package_does_not_import_onnx() -> None:
    code = "import sys, patchfold, patchfold.onnx; assert 'onnx' not in sys.modules, 'onnx was imported'"
    subprocess.run([sys.executable, "-c", code], check=True)

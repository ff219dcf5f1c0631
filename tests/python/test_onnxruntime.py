# SPDX-License-Identifier: Apache-2.0
"""Tests of ONNX Runtime with patchfold's operators: every operator and element type, open shapes, threads, and errors.

Other tests load the library into a stand-in for the runtime.
"""

import ctypes
import os
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import onnx
import patchfold.onnxruntime
import pytest
from model_zoo import CASES
from onnx.reference import ReferenceEvaluator
from patchfold.models import ModelError
from runtime_models import Array, Case, cases, example, numbers, same_bits

onnxruntime = pytest.importorskip("onnxruntime")
TYPES = [
    *("float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"),
]


def session(model: onnx.ModelProto, threads: int = 2, library: bool = True) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    if library:
        options.register_custom_ops_library(patchfold.onnxruntime.library())
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(model: onnx.ModelProto, x: Array, **options: Any) -> Array:
    result: Array = session(model, **options).run(None, {"x": x})[0]
    return result


def name(case: Case) -> str:
    return f"{case.operator}-{case.x.ndim}d{len(case.expected.shape)}"


@pytest.mark.parametrize("case", cases(), ids=name)
def test_every_operator_computes_its_formula(case: Case) -> None:
    assert same_bits(run(case.model(), case.x), case.expected)
    opened = [f"n{axis}" for axis in range(case.x.ndim)]
    assert same_bits(run(case.model(opened), case.x), case.expected)
    assert same_bits(run(case.model(), case.x, threads=1), case.expected)


@pytest.mark.parametrize("dtype", TYPES)
def test_every_element_type(dtype: str) -> None:
    for case in cases(dtype):
        if case.operator == "Col2Im" and dtype == "float16":  # the library adds in float32 and rounds once
            summed = next(c for c in cases("float32") if c.operator == "Col2Im" and c.inputs == case.inputs)
            wide = run(summed.model(), case.x.astype(np.float32))
            assert same_bits(run(case.model(), case.x), wide.astype(np.float16))
        else:
            assert same_bits(run(case.model(), case.x), case.expected), case.operator


def test_shapes_are_known_before_a_run() -> None:
    for case in cases():
        if not case.inputs:
            assert tuple(session(case.model()).get_outputs()[0].shape) == case.expected.shape, case.operator


def test_one_session_takes_one_shape_after_another_from_many_threads() -> None:
    case = next(case for case in cases() if case.operator == "DepthToSpace")
    made = session(case.model(["n", "c", "h", "w"]))

    def same(seed: int) -> bool:
        x = np.random.default_rng(seed).standard_normal((1 + seed % 3, 8, 5 + seed % 4, 6)).astype(np.float32)
        return same_bits(made.run(None, {"x": x})[0], patchfold.onnx.depth_to_space(x, 2))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(same, range(200)))


@pytest.mark.parametrize("threads", [1, 3])
def test_large_problems_run_on_the_threads_of_the_session_alone(threads: int) -> None:
    x = numbers((4, 36, 128 * 128))
    case = Case("Col2Im", x, x, {"image_shape": [128, 128], "block_shape": [3, 3]}, {"pads": [1, 1, 1, 1]})
    made = session(case.model(), threads=threads)
    before = len(os.listdir("/proc/self/task"))
    result = made.run(None, {"x": x})[0]
    assert len(os.listdir("/proc/self/task")) == before
    assert same_bits(result, patchfold.onnx.col2im(x, (128, 128), (3, 3), pads=(1, 1, 1, 1)))


STANDARD = [
    Case("Col2Im", numbers((2, 12, 20)), numbers((1,)), {"i": [5, 6], "b": [2, 2]}, domain=""),
    Case("Col2Im", numbers((1, 8, 8)), numbers((1,)), {"i": [4, 4, 4], "b": [2, 2, 2]}, {"dilations": [2, 2, 2]}, ""),
    Case("Col2Im", numbers((1, 12, 9), np.int8), numbers((1,)), {"i": [4, 4], "b": [2, 2]}, domain=""),
    Case("DepthToSpace", numbers((2, 12, 3, 4)), numbers((1,)), {}, {"blocksize": 2, "mode": "CRD"}, ""),
    Case("SpaceToDepth", numbers((2, 3, 4, 6)), numbers((1,)), {}, {"blocksize": 2}, ""),
]


@pytest.mark.parametrize("case", STANDARD, ids=name)
def test_convert_takes_over_the_standard_operators(case: Case) -> None:
    model = case.model()
    before = model.SerializeToString()
    converted = patchfold.onnxruntime.convert(model)
    assert [node.domain for node in converted.graph.node] == ["patchfold"] and model.SerializeToString() == before
    expected = ReferenceEvaluator(model).run(None, {"x": case.x})[0]  # type: ignore[index]
    assert same_bits(run(converted, case.x), np.asarray(expected))


def test_convert_takes_a_file_and_nodes_inside_of_others(tmp_path: Any) -> None:
    shuffle = onnx.helper.make_node("DepthToSpace", ["x"], ["y"], blocksize=2)
    y = onnx.helper.make_tensor_value_info("y", 1, None)
    body = onnx.helper.make_graph([shuffle], "b", [], [y])
    choice = onnx.helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)
    graph = onnx.helper.make_graph([choice], "g", [
        onnx.helper.make_tensor_value_info("x", 1, [1, 4, 2, 2]), onnx.helper.make_tensor_value_info("c", 9, []),
    ], [y])  # fmt: skip
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=10)
    onnx.save(model, tmp_path / "m.onnx")
    converted = patchfold.onnxruntime.convert(str(tmp_path / "m.onnx"))
    bodies = [attribute.g for attribute in converted.graph.node[0].attribute]
    assert [body.node[0].domain for body in bodies] == ["patchfold"] * 2
    x = numbers((1, 4, 2, 2))
    made = session(converted).run(None, {"x": x, "c": np.array(True)})[0]
    assert same_bits(made, patchfold.onnx.depth_to_space(x, 2))


def extracting(padding: str) -> Case:
    case = next(case for case in cases() if case.operator == "ExtractImagePatches")
    lists = {key: value for key, value in case.attributes.items() if key != "padding"}
    return Case("ExtractImagePatches", case.x, case.expected, lists, {}, "ai.onnx.contrib")


def test_convert_takes_over_the_patches_of_tf2onnx() -> None:
    case = extracting("SAME")
    model = case.model()
    model.graph.initializer.append(onnx.helper.make_tensor("p", onnx.TensorProto.STRING, [1], [b"SAME"]))
    model.graph.node[0].input.append("p")
    model.opset_import.append(onnx.helper.make_opsetid("ai.onnx.contrib", 1))
    converted = patchfold.onnxruntime.convert(model)
    assert {entry.domain for entry in converted.opset_import} == {"", "patchfold"}
    assert same_bits(run(converted, case.x), case.expected)


DISGUISED = {
    "im2col of slices": "Im2Col",
    "im2col of slices, stride 2": "Im2Col",
    "im2col of slices, dilated": "Im2Col",
    "im2col of slices, one channel": "Im2Col",
    "im2col as torch exports it": "Im2Col",
    "im2col as torch exports it, kernel = stride": "Im2Col",
    "im2col as torch exports it, even kernel": "Im2Col",
    "pixel shuffle": "DepthToSpace",
    "pixel unshuffle": "SpaceToDepth",
    "depth to space, blocks first": "DepthToSpace",
    "focus, rows first": "SpaceToDepth",
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_convert_takes_over_what_other_nodes_do(case: Any) -> None:
    model = case.model()
    model.ir_version = 10
    converted = patchfold.onnxruntime.convert(model)
    ours = [node.op_type for node in converted.graph.node if node.domain == "patchfold"]
    expected = DISGUISED.get(case.name) or (case.name.removesuffix(" itself") if case.name.endswith(" itself") else None)
    assert ours == ([expected] if expected else [])
    assert not expected or len(converted.graph.node) == 1
    x = numbers(case.shape)
    if "Conv" not in {node.op_type for node in model.graph.node}:
        x.flat[:4] = np.array([0x7F800000, 0xFFC00001, 0x80000000, 0x7FA00000], np.uint32).view(np.float32)
    if case.name == "Col2Im itself":
        x = numbers(case.shape)
    assert same_bits(run(converted, x), run(model, x, library=False))


def test_convert_takes_over_overlapping_tokens_of_an_open_batch() -> None:
    model = onnx.helper.make_model(
        onnx.helper.make_graph(
            [
                onnx.helper.make_node("Pad", ["x", "pads"], ["padded"]),
                onnx.helper.make_node("Gather", ["padded", "rows"], ["gathered"], axis=2),
                onnx.helper.make_node("Gather", ["gathered", "rows"], ["patches"], axis=4),
                onnx.helper.make_node("Transpose", ["patches"], ["taps"], perm=[0, 1, 2, 4, 3, 5]),
                onnx.helper.make_node("Reshape", ["taps", "shape"], ["columns"]),
                onnx.helper.make_node("Transpose", ["columns"], ["y"], perm=[0, 2, 1]),
                onnx.helper.make_node("Relu", ["columns"], ["other"]),
            ],
            "g",
            [onnx.helper.make_tensor_value_info("x", 1, ["n", 2, 9, 9])],
            [onnx.helper.make_tensor_value_info(name, 1, None) for name in ("y", "other")],
            [
                onnx.numpy_helper.from_array(np.array([0, 0, 1, 1, 0, 0, 1, 1]), "pads"),
                onnx.numpy_helper.from_array(np.arange(3)[:, None] + np.arange(0, 9, 2)[None], "rows"),
                onnx.numpy_helper.from_array(np.array([-1, 18, 25]), "shape"),
            ],
        ),
        opset_imports=[onnx.helper.make_opsetid("", 18)],
        ir_version=10,
    )
    converted = patchfold.onnxruntime.convert(model)
    assert "Gather" not in {node.op_type for node in converted.graph.node}
    x = numbers((3, 2, 9, 9))
    ours, theirs = session(converted).run(None, {"x": x}), session(model, library=False).run(None, {"x": x})
    assert all(map(same_bits, ours, theirs)) and len(ours) == len(theirs) == 2


def test_what_cannot_be_taken_over_stays_and_runs_as_before() -> None:
    case = next(case for case in STANDARD if case.operator == "SpaceToDepth")
    for element in (onnx.TensorProto.STRING, onnx.TensorProto.COMPLEX64, onnx.TensorProto.INT4, onnx.TensorProto.UNDEFINED):
        model = case.model()
        model.graph.input[0].type.tensor_type.elem_type = element
        model.graph.output[0].type.tensor_type.elem_type = element
        converted = patchfold.onnxruntime.convert(model)
        assert [node.domain for node in converted.graph.node] == [""]
        assert [entry.domain for entry in converted.opset_import] == [entry.domain for entry in model.opset_import]
    plain = case.model()
    plain.graph.node[0].CopyFrom(onnx.helper.make_node("Relu", ["x"], ["y"]))
    assert same_bits(run(patchfold.onnxruntime.convert(plain), case.x), np.maximum(case.x, 0))


@pytest.mark.parametrize(
    ("operator", "change", "text"),
    [
        ("Im2Col", {"block_shape": [0, 2]}, r"Im2Col: block_shape: must be at least 1 on every axis; given \[0, 2\]"),
        ("Im2Col", {"block_shape": None}, r"Im2Col: block_shape: must be given"),
        ("Im2Col", {"block_shape": "much"}, r"Im2Col: block_shape: must be an integer, or a list .*; given much"),
        ("Im2Col", {"block_shape": 2.5}, r"Im2Col: block_shape: must be an integer, or a list .*; given 2.5"),
        ("Im2Col", {"pads": [1, 0, 2]}, r"Im2Col: pads: must have a begin and an end for each axis; given 3 numbers"),
        ("Im2Col", {"block_shape": [2**40, 2**40]}, r"Im2Col: .*given"),
        ("ExtractImagePatches", {"padding": "FULL"}, r"ExtractImagePatches: padding: .*given FULL"),
        ("DepthToSpace", {"mode": "RDC"}, r"DepthToSpace: mode: .*given RDC, expected DCR, CRD"),
        ("DepthToSpace", {"blocksize": 5}, r"DepthToSpace: .*given 12, expected a multiple of 25"),
        ("SpaceToDepth", {"blocksize": -1}, r"SpaceToDepth: blocksize: must be at least 1.*given -1"),
    ],
)
def test_wrong_attributes_get_an_error(operator: str, change: dict[str, Any], text: str) -> None:
    case = next(case for case in cases() if case.operator == operator)
    attributes = {key: value for key, value in (case.attributes | change).items() if value is not None}
    wrong = Case(operator, case.x, case.expected, case.inputs, attributes)
    for shape in (None, [f"n{axis}" for axis in range(case.x.ndim)]):
        with pytest.raises(Exception, match=text):
            run(wrong.model(shape), case.x)


@pytest.mark.parametrize(
    ("operator", "change", "text"),
    [
        ("Col2Im", {"image_shape": [8, 7]}, r"Col2Im: .*given 25, expected 30"),
        ("Col2Im", {"block_shape": [4, 5]}, r"Col2Im: .*given 18, expected a multiple of 20"),
        ("Col2Im", {"image_shape": [2**62, 2**62]}, r"Col2Im: "),
        ("Col2Im", {"image_shape": [[8, 6]]}, r"Col2Im: image_shape: must have one axis; given 2"),
        ("SpaceToBatch", {"block_shape": [1, 1, 3, 3]}, r"SpaceToBatch: .*given 10, expected a multiple of 3"),
        ("BatchToSpace", {"crops_begin": [0, 0, -1, 0]}, r"BatchToSpace: crops_begin: .*given"),
    ],
)
def test_wrong_inputs_get_an_error(operator: str, change: dict[str, Any], text: str) -> None:
    case = next(case for case in cases() if case.operator == operator)
    wrong = Case(operator, case.x, case.expected, case.inputs | change, case.attributes)
    with pytest.raises(Exception, match=text):
        run(wrong.model(), case.x)


def test_strings_are_refused() -> None:
    case = next(case for case in cases() if case.operator == "DepthToSpace")
    model = case.model()
    for value in (model.graph.input[0], model.graph.output[0]):
        value.type.tensor_type.elem_type = onnx.TensorProto.STRING
    with pytest.raises(Exception, match="must be numbers or booleans of whole bytes; given strings"):
        run(model, case.x.astype(str).astype(object))


def test_models_that_inspect_refuses_are_refused(tmp_path: Any) -> None:
    (tmp_path / "cut.onnx").write_bytes(STANDARD[0].model().SerializeToString()[:-40])
    with pytest.raises(ModelError, match=re.escape(str(tmp_path / "cut.onnx"))):
        patchfold.onnxruntime.convert(tmp_path / "cut.onnx")
    model = STANDARD[0].model()
    model.graph.node[0].input[0] = "y"
    with pytest.raises(ModelError, match="its input 'y' is made by no node before it"):
        patchfold.onnxruntime.convert(model)


def test_the_example_of_the_page_runs(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    onnx.save(STANDARD[0].model(), "model.onnx")
    names: dict[str, Any] = {}
    exec(example("onnxruntime"), names)
    expected = patchfold.onnx.col2im(STANDARD[0].x, (5, 6), (2, 2))
    assert same_bits(names["session"].run(None, {"x": STANDARD[0].x})[0], expected)


# Keeps the stand-ins in memory until the process ends.
ALIVE: list[Any] = []


class Runtime:
    """A stand-in for ONNX Runtime that counts the library's calls, and fails in a given call."""

    def __init__(self, first: int, version: int = 17):
        self.next, self.version = first, version
        self.domains: dict[int, int] = {}
        self.added: list[int] = []
        self.released: list[int] = []
        self.said = ""
        self.fails_at: int | None = None
        pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
        functions: dict[int, Any] = {
            0: ctypes.CFUNCTYPE(pointer, number, text)(self.status),
            26: ctypes.CFUNCTYPE(pointer, text, ctypes.POINTER(pointer))(self.create),
            27: ctypes.CFUNCTYPE(pointer, pointer, pointer)(self.add),
            28: ctypes.CFUNCTYPE(pointer, pointer, pointer)(lambda _, domain: self.added.append(domain)),
            101: ctypes.CFUNCTYPE(None, pointer)(self.released.append),
        }
        self.table = (pointer * 512)()
        for place, function in functions.items():
            self.table[place] = ctypes.cast(function, pointer)
        api = ctypes.CFUNCTYPE(pointer, ctypes.c_uint32)(
            lambda asked: ctypes.addressof(self.table) if asked <= self.version else None
        )
        name = ctypes.create_string_buffer(f"1.{version}.0".encode())
        words = ctypes.CFUNCTYPE(pointer)(lambda: ctypes.addressof(name))
        self.base = (pointer * 2)(ctypes.cast(api, pointer), ctypes.cast(words, pointer))
        ALIVE.append((self, functions, api, words, name))

    def status(self, _: int, message: bytes) -> int:
        self.said = message.decode()
        return 1

    def create(self, name: bytes, domain: Any) -> None:
        assert name == b"patchfold"
        self.next += 1
        self.domains[self.next] = 0
        domain[0] = self.next

    def add(self, domain: int, _: int) -> int | None:
        if self.domains[domain] == self.fails_at:
            return 2
        self.domains[domain] += 1
        return None

    def register(self) -> Any:
        library = ctypes.CDLL(patchfold.onnxruntime.library())
        library.RegisterCustomOps.restype = ctypes.c_void_p
        library.RegisterCustomOps.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        return library.RegisterCustomOps(None, ctypes.addressof(self.base))


def test_each_onnxruntime_of_a_process_has_operators_of_its_own() -> None:
    one, other = Runtime(100), Runtime(200)
    for runtime in (one, other, one, other):
        assert runtime.register() is None
    assert one.domains == {101: 7} and one.added == [101, 101]
    assert other.domains == {201: 7} and other.added == [201, 201]


def test_a_registration_that_failed_can_be_made_again() -> None:
    runtime = Runtime(300)
    runtime.fails_at = 3
    assert runtime.register() == 2 and runtime.released == [301] and runtime.added == []
    runtime.fails_at = None
    assert runtime.register() is None and runtime.domains == {301: 3, 302: 7} and runtime.added == [302]


def test_an_older_onnxruntime_is_told() -> None:
    old = Runtime(400, version=16)
    assert old.register() == 1 and old.said == "patchfold: needs ONNX Runtime 1.17 or newer; this is 1.16.0"

# SPDX-License-Identifier: Apache-2.0
"""Compares the bits of the results of models of one operator, run with patchfold's library and without it. onnx, OpenVINO,
torch's two exporters and TensorFlow write the models, of every element type, with static and open shapes. ONNX's own node
tests and two networks run, too."""

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import openvino
import patchfold.onnxruntime
import patchfold.openvino
import pytest
import torch
from networks import NETWORKS
from onnx.backend.test.loader import load_model_tests
from onnx.onnx_pb import TypeProto
from systems import Array, compiled, core, in_onnxruntime, in_openvino, left_over, runs_here, same_bits

from runtime_models import Case, cases, data, numbers  # isort: skip

ONNX_TYPES = [
    *("float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"),
]
OPENVINO_TYPES = ["float32", "float16", "int8", "int16", "int32", "uint8", "uint16", "uint32", "bool"]
STANDARD = ("Col2Im", "DepthToSpace", "SpaceToDepth")
# Words in the messages of ONNX Runtime and OpenVINO if they have no kernel for a node or a type.
LACKING = "NOT_IMPLEMENTED|find an implementation|not supported|Unsupported|doesn't support|not implemented|INVALID_GRAPH"


def without(run: Any, *arguments: Any) -> Array | None:
    """Returns the result without the library; None if the runtime lacks the operator, its type or its rank."""
    try:
        result: Array = run(*arguments, False)[0]
    except Exception as error:
        assert re.search(LACKING, str(error)), error
        return None
    return result


def standard(dtype: str) -> list[Case]:
    found = [case for case in cases(dtype) if case.operator in STANDARD]
    return [Case(case.operator, case.x, case.expected, case.inputs, case.attributes, "") for case in found]


def shapes(x: Array) -> list[Any]:
    return [None, ["n", *x.shape[1:]], [f"n{axis}" for axis in range(x.ndim)]]


def rounds(case: Case) -> bool:
    """Returns whether the case has sums of float16, which the runtimes may round differently from the library."""
    return case.operator == "Col2Im" and case.x.dtype == np.float16


@pytest.mark.parametrize(
    ("run", "dtype"), [(in_onnxruntime, name) for name in ONNX_TYPES] + [(in_openvino, name) for name in OPENVINO_TYPES]
)
def test_models_of_onnx(run: Any, dtype: str) -> None:
    compared = 0
    for case in standard(dtype):
        for shape in shapes(case.x):
            model = case.model(shape)
            made = run(model, [case.x], True)[0]
            assert rounds(case) or same_bits(made, case.expected), (case.operator, shape)
            # ONNX Runtime computes Col2Im with dilations wrongly unless there are two spatial axes, and OpenVINO then lacks
            # Col2Im.
            deep = case.operator == "Col2Im" and case.expected.ndim > 4
            theirs = None if deep else without(run, model, [case.x])
            if theirs is not None and not rounds(case):
                assert same_bits(made, theirs), (case.operator, shape)
                compared += 1
    assert compared or (run is in_onnxruntime and dtype not in ("float32", "float64"))


def of_openvino(dtype: str) -> list[tuple[Any, Array]]:
    """Returns models of each operator of OpenVINO, with static and open shapes, and their inputs."""
    make = openvino.opset15
    lists = {"size": [8, 6], "kernel": [3, 2], "block": [1, 1, 2, 3], "zero": [0, 0, 0, 0], "one": [0, 0, 1, 0]}
    ints = {name: np.array(values, np.int64) for name, values in lists.items()}
    window = [2, 1], [1, 1], [1, 0], [1, 0]  # strides, dilations, pads
    nodes: list[tuple[Array, Any]] = [
        (numbers((2, 18, 20), dtype), lambda x: make.col2im(x, ints["size"], ints["kernel"], *window)),
        (numbers((18, 20), dtype), lambda x: make.col2im(x, ints["size"], ints["kernel"], *window)),
        (data((2, 3, 9, 8), dtype), lambda x: make.extract_image_patches(x, [3, 2], [2, 3], [1, 2], "same_upper")),
        (data((2, 3, 9, 8), dtype), lambda x: make.extract_image_patches(x, [2, 2], [2, 2], [1, 1], "valid")),
        (data((2, 3, 7, 6), dtype), lambda x: make.space_to_batch(x, ints["block"], ints["one"], ints["zero"])),
        (data((12, 3, 5, 6), dtype), lambda x: make.batch_to_space(x, ints["block"], ints["one"], ints["zero"])),
        (data((2, 3, 4, 6), dtype), lambda x: make.space_to_depth(x, "depth_first", 2)),
        (data((2, 3, 4, 6, 2), dtype), lambda x: make.space_to_depth(x, "blocks_first", 2)),
        (data((2, 8, 4, 6), dtype), lambda x: make.depth_to_space(x, "depth_first", 2)),
        (data((2, 8, 4, 6), dtype), lambda x: make.depth_to_space(x, "blocks_first", 2)),
    ]
    made = []
    for x, node in nodes:
        for shape in (x.shape, [-1, *x.shape[1:]], [-1] * x.ndim):
            parameter = make.parameter(shape, openvino.Type(x.dtype), name="x")
            made.append((openvino.Model([node(parameter).output(0)], [parameter], "m"), x))
    return made


@pytest.mark.parametrize("dtype", OPENVINO_TYPES)
def test_models_of_openvino(dtype: str, tmp_path: Path) -> None:
    for number, (model, x) in enumerate(of_openvino(dtype)):
        openvino.save_model(model, tmp_path / f"{number}.xml", compress_to_fp16=False)
        made = compiled(tmp_path / f"{number}.xml", True)
        assert runs_here(made)
        theirs = without(in_openvino, tmp_path / f"{number}.xml", [x])
        assert theirs is not None and same_bits(np.array(made([x])[0]), theirs), (number, dtype)


class Fold(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.fold(x, (8, 6), (3, 2), stride=(2, 1), padding=1)


class Unfold(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.unfold(x, (3, 2), dilation=(1, 2), stride=(2, 1), padding=(1, 1))


class Shuffle(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.pixel_shuffle(x, 2)


class Unshuffle(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.pixel_unshuffle(x, 2)


TORCH: list[tuple[torch.nn.Module, tuple[int, ...]]] = [
    (Fold(), (2, 18, 28)), (Unfold(), (2, 3, 9, 8)), (Shuffle(), (2, 8, 4, 6)), (Unshuffle(), (2, 3, 4, 6)),
]  # fmt: skip


def named(value: Any) -> str:
    return type(value).__name__ if isinstance(value, torch.nn.Module) else ""


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("dynamo", [False, True])
@pytest.mark.parametrize(("module", "shape"), TORCH, ids=named)
def test_models_of_torchs_exporters(module: torch.nn.Module, shape: tuple[int, ...], dynamo: bool, opened: bool) -> None:
    x = numbers(shape)
    expected = module(torch.from_numpy(x)).numpy()
    file = io.BytesIO()
    if dynamo:
        batch = {"x": {0: torch.export.Dim("n")}} if opened else None
        program = torch.onnx.export(module, (torch.from_numpy(x),), dynamo=True, dynamic_shapes=batch, opset_version=18)
        assert program is not None
        model = program.model_proto
    else:
        axes = {"x": {0: "n"}} if opened else None
        torch.onnx.export(
            module, (torch.from_numpy(x),), file, dynamo=False, input_names=["x"], dynamic_axes=axes, opset_version=18
        )
        model = onnx.load_model_from_string(file.getvalue())
    assert left_over(model) == 0
    assert [node.domain for node in patchfold.onnxruntime.convert(model).graph.node].count("patchfold") == 1
    for run in (in_onnxruntime, in_openvino):
        for ours in (False, True):
            assert same_bits(run(model, [x], ours)[0], expected), (run.__name__, ours)


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("exported", [False, True])
@pytest.mark.parametrize(("module", "shape"), TORCH, ids=named)
def test_models_of_torch_in_openvino(module: torch.nn.Module, shape: tuple[int, ...], exported: bool, opened: bool) -> None:
    x = numbers(shape)
    tensor = torch.from_numpy(x)
    expected = module(tensor).numpy()
    library = patchfold.openvino.extension()
    options: dict[str, Any] = {}
    if exported:
        batch = {"x": {0: torch.export.Dim("n")}} if opened else None
        source: Any = torch.export.export(module, (tensor,), dynamic_shapes=batch)
    else:
        source = torch.jit.trace(module, tensor)
        options["input"] = [-1 if opened and axis == 0 else extent for axis, extent in enumerate(shape)]
    model = openvino.convert_model(source, example_input=(tensor,), extension=library, **options)
    made = compiled(model, True)
    assert same_bits(np.array(made([x])[0]), expected)
    # torch.export writes unfold as other operators, so OpenVINO finds no unfold for the library.
    assert runs_here(made) != (exported and isinstance(module, Unfold))


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("name", ["patches", "to_batch", "from_batch", "to_depth", "from_depth"])
def test_models_of_tensorflow_in_openvino(name: str, opened: bool, tmp_path: Path) -> None:
    tensorflow = pytest.importorskip("tensorflow")
    extract, window = tensorflow.image.extract_patches, ([1, 3, 2, 1], [1, 2, 3, 1], [1, 1, 2, 1], "SAME")
    function, shape = {
        "patches": (lambda x: extract(x, *window), (2, 9, 8, 3)),
        "to_batch": (lambda x: tensorflow.space_to_batch(x, [2, 3], [[1, 0], [0, 1]]), (2, 7, 5, 3)),
        "from_batch": (lambda x: tensorflow.batch_to_space(x, [2, 3], [[1, 0], [0, 1]]), (12, 4, 2, 3)),
        "to_depth": (lambda x: tensorflow.nn.space_to_depth(x, 2), (2, 4, 6, 3)),
        "from_depth": (lambda x: tensorflow.nn.depth_to_space(x, 2), (2, 4, 6, 8)),
    }[name]  # fmt: skip
    x = numbers(shape)
    spec = tensorflow.TensorSpec([None, *shape[1:]] if opened else shape, tensorflow.float32, name="x")
    module = tensorflow.Module()
    module.f = tensorflow.function(function, input_signature=[spec])
    tensorflow.saved_model.save(module, str(tmp_path / "saved"), signatures=module.f)
    runtime = core(True)
    made = runtime.compile_model(runtime.read_model(tmp_path / "saved"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    assert runs_here(made) and same_bits(np.array(made([x])[0]), function(x).numpy())


FAMILY = re.compile(r"test_(col2im|depthtospace|spacetodepth)")
# Leaves out cases in which ONNX writes the operator as other operators.
TESTS = [case for case in load_model_tests(kind="node") if FAMILY.match(case.name) and not case.name.endswith("_expanded")]


def arrays(values: Any) -> list[Array]:
    return [np.asarray(value) for value in values]


def test_there_are_node_tests_of_all_operators() -> None:
    assert len(TESTS) >= 9 and len({FAMILY.match(case.name)[1] for case in TESTS}) == 3  # type: ignore[index]


@pytest.mark.parametrize("case", TESTS, ids=lambda case: case.name)
def test_onnxruntime_passes(case: Any) -> None:
    for inputs, expected in case.data_sets:
        # Both the model and the converted model take shapes, such as image_shape, as inputs.
        assert same_bits(in_onnxruntime(case.model, arrays(inputs), True)[0], arrays(expected)[0])


@pytest.mark.parametrize("case", TESTS, ids=lambda case: case.name)
def test_openvino_passes(case: Any) -> None:
    assert isinstance(case.model.graph.input[0].type, TypeProto)
    made = compiled(case.model, True)
    assert runs_here(made)
    for inputs, expected in case.data_sets:
        assert same_bits(np.array(made(arrays(inputs))[0]), arrays(expected)[0])


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("run", [in_onnxruntime, in_openvino])
def test_networks_compute_the_same(name: str, run: Any) -> None:
    module, x = NETWORKS[name]()
    file = io.BytesIO()
    torch.onnx.export(module, (x,), file, dynamo=False, opset_version=18, input_names=["x"])
    model = onnx.load_model_from_string(file.getvalue())
    assert left_over(model) == 0
    theirs, ours = (run(model, [x.numpy()], with_library)[0] for with_library in (False, True))
    # In the converted model, the runtime's own convolutions and products may sum in another order.
    np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=2e-4 * float(np.abs(theirs).max()))
    with torch.no_grad():
        expected = module(x).numpy()
    np.testing.assert_allclose(ours, expected, rtol=2e-3, atol=2e-3 * float(np.abs(expected).max()))

# SPDX-License-Identifier: Apache-2.0
"""Tests of OpenVINO with patchfold's extension: each operator in files of OpenVINO and of ONNX, and refused models."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import patchfold.models
import patchfold.openvino
import patchfold.openvino._extension
import pytest
from runtime_models import Array, Case, cases, data, example, numbers, same_bits

openvino = pytest.importorskip("openvino")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Yields the path of the extension, compiled once for these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATCHFOLD_CACHE", os.environ.get("PATCHFOLD_CACHE") or str(tmp_path_factory.mktemp("cache")))
        yield patchfold.openvino.extension()


def compiled(library: str | None, model: Any, threads: int = 2) -> Any:
    """Returns `model` (a model of OpenVINO, an ONNX model or a file), compiled with the extension or without it."""
    core = openvino.Core()
    if library is not None:
        core.add_extension(library)
    if isinstance(model, onnx.ModelProto):
        model = core.read_model(model.SerializeToString())
    elif isinstance(model, Path):
        model = core.read_model(model)
    return core.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"})


def kinds(made: Any) -> set[str]:
    return {str(node.get_rt_info()["layerType"].astype(str)) for node in made.get_runtime_model().get_ops()}


def of_openvino(case: Case, shape: Any) -> Any:
    """Returns a model with OpenVINO's own operator for a case; None if OpenVINO has no such operator."""
    make = openvino.opset15
    x = make.parameter(shape, openvino.Type(case.x.dtype), name="x")
    inputs = [make.constant(np.array(values, np.int64)) for values in case.inputs.values()]
    attributes = case.attributes
    if case.operator == "Col2Im" and len(case.inputs["block_shape"]) == 2:
        pads = attributes["pads"]
        node = make.col2im(x, *inputs, attributes["strides"], attributes["dilations"], pads[:2], pads[2:])
    elif case.operator in ("SpaceToBatch", "BatchToSpace"):
        node = (make.space_to_batch if case.operator == "SpaceToBatch" else make.batch_to_space)(x, *inputs)
    elif case.operator == "SpaceToDepth":
        node = make.space_to_depth(x, "blocks_first", attributes["blocksize"])
    elif case.operator == "DepthToSpace":
        node = make.depth_to_space(x, "blocks_first", attributes["blocksize"])
    else:
        return None
    return openvino.Model([node.output(0)], [x], "m")


def patches(dtype: Any) -> tuple[Any, Array]:
    """Returns a model with OpenVINO's ExtractImagePatches, and its input."""
    x = data((2, 3, 9, 8), dtype)
    make = openvino.opset15
    parameter = make.parameter(x.shape, openvino.Type(x.dtype), name="x")
    node = make.extract_image_patches(parameter, [3, 2], [2, 3], [1, 2], "same_lower")
    return openvino.Model([node.output(0)], [parameter], "m"), x


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.operator}-{len(case.expected.shape)}")
def test_files_with_the_extensions_layers_are_inspected(library: str, case: Case, tmp_path: Path) -> None:
    model = of_openvino(case, case.x.shape)
    if model is None:
        return
    openvino.save_model(model, tmp_path / "m.xml", compress_to_fp16=False)
    core = openvino.Core()
    core.add_extension(library)
    openvino.serialize(core.read_model(tmp_path / "m.xml"), tmp_path / "own.xml")
    (finding,) = patchfold.models.inspect(tmp_path / "own.xml", timed=False).findings
    assert finding.kinds == (f"Patchfold{case.operator}",)
    made = patchfold.run(finding.operator, case.x, **finding.arguments)
    assert same_bits(made, case.expected)


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.operator}-{len(case.expected.shape)}")
def test_operators_of_openvinos_files_run_here(library: str, case: Case, tmp_path: Path) -> None:
    for shape in (case.x.shape, [-1, *case.x.shape[1:]], [-1] * case.x.ndim):
        model = of_openvino(case, shape)
        if model is None:
            continue
        openvino.save_model(model, tmp_path / "m.xml", compress_to_fp16=False)
        made = compiled(library, tmp_path / "m.xml")
        assert same_bits(made({"x": case.x})[0], case.expected)
        assert same_bits(compiled(None, tmp_path / "m.xml")({"x": case.x})[0], case.expected)
        assert case.operator not in kinds(made)


def test_patches_of_openvinos_files_run_here(library: str, tmp_path: Path) -> None:
    for dtype in (np.float32, np.uint8):
        model, x = patches(dtype)
        openvino.save_model(model, tmp_path / "m.xml", compress_to_fp16=False)
        expected = patchfold.openvino.extract_image_patches(
            x, sizes=[3, 2], strides=[2, 3], rates=[1, 2], auto_pad="same_lower"
        )
        made = compiled(library, tmp_path / "m.xml")
        assert "ExtractImagePatches" not in kinds(made) and same_bits(made({"x": x})[0], expected)


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.operator}-{len(case.expected.shape)}")
def test_operators_of_onnx_run_here(library: str, case: Case) -> None:
    if case.operator not in ("Col2Im", "DepthToSpace", "SpaceToDepth"):
        return
    standard = Case(case.operator, case.x, case.expected, case.inputs, case.attributes, "")
    for shape in (None, ["n", *case.x.shape[1:]], [f"n{axis}" for axis in range(case.x.ndim)]):
        made = compiled(library, standard.model(shape))
        assert same_bits(made({"x": case.x})[0], case.expected)
        assert case.operator not in kinds(made)


def test_an_open_batch_leaves_the_other_extents_known(library: str) -> None:
    case = next(case for case in cases() if case.operator == "Col2Im")
    opened = ["n", *case.x.shape[1:]]
    made = compiled(library, Case("Col2Im", case.x, case.x, case.inputs, case.attributes, "").model(opened))
    assert str(made.output(0).get_partial_shape()) == "[?,3,8,6]"


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64"])
def test_types_that_the_plugin_narrows_are_refused(library: str, dtype: str, tmp_path: Path) -> None:
    for case in cases(dtype):
        text = "data: must be boolean, .* or f32; given [iuf]64, which OpenVINO's CPU plugin cuts to 32 bits"
        model = of_openvino(case, case.x.shape)
        if model is not None:
            openvino.save_model(model, tmp_path / "m.xml", compress_to_fp16=False)
            with pytest.raises(Exception, match=text):
                compiled(library, tmp_path / "m.xml")
        if case.operator in ("Col2Im", "DepthToSpace", "SpaceToDepth"):
            with pytest.raises(Exception, match=text):
                compiled(library, Case(case.operator, case.x, case.x, case.inputs, case.attributes, "").model())


@pytest.mark.parametrize(
    ("operator", "change", "x", "text"),
    [
        ("Col2Im", {"image_shape": [8, 7]}, None, "Col2Im: .*given 25, expected 30"),
        ("Col2Im", {"image_shape": [2**62, 2**62]}, None, "Col2Im: "),
        ("DepthToSpace", {}, numbers((1, 5, 2, 2)), "DepthToSpace: .*given 5, expected a multiple of 4"),
        ("SpaceToDepth", {}, numbers((1, 5, 3, 2)), r"SpaceToDepth: .*given \[3, 2\]"),
        ("DepthToSpace", {}, numbers((5,)), "DepthToSpace: "),
    ],
)
def test_wrong_models_get_an_error(library: str, operator: str, change: Any, x: Any, text: str) -> None:
    case = next(case for case in cases() if case.operator == operator)
    x = case.x if x is None else x
    wrong = Case(operator, x, x, case.inputs | change, case.attributes, "")
    for shape in (None, [f"n{axis}" for axis in range(x.ndim)]):
        with pytest.raises(Exception, match=text):
            compiled(library, wrong.model(shape))({"x": x})


def test_lists_of_more_axes_than_a_tensor_has_are_refused(library: str) -> None:
    case = next(case for case in cases() if case.operator == "Col2Im")
    model = Case("Col2Im", case.x, case.x, case.inputs, case.attributes, "").model()
    del model.graph.initializer[0]
    for length in (33, 2**40):
        model.graph.input.append(onnx.helper.make_tensor_value_info("image_shape", onnx.TensorProto.INT64, [length]))
        with pytest.raises(Exception, match=r"output_size: must have the shape \(M\) for M axes, at most 32; given \["):
            compiled(library, model)
        del model.graph.input[-1]


@pytest.mark.parametrize("threads", [1, 2])
def test_large_problems_start_no_threads_of_their_own(library: str, threads: int) -> None:
    x = numbers((4, 36, 128 * 128))
    case = Case("Col2Im", x, x, {"i": [128, 128], "b": [3, 3]}, {"pads": [1, 1, 1, 1]}, "")
    made = compiled(library, case.model(), threads=threads)
    assert same_bits(made({"x": x})[0], patchfold.onnx.col2im(x, (128, 128), (3, 3), pads=(1, 1, 1, 1)))


def test_the_library_is_compiled_once(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patchfold.openvino._extension, "_compile", lambda *arguments: pytest.fail("compiled again"))
    assert patchfold.openvino.extension() == library


def test_the_library_looks_for_openvino_in_no_place_of_its_own(library: str) -> None:
    if shutil.which("readelf") is None:
        pytest.skip("readelf is not installed")
    dynamic = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"RUNPATH.*\[(.*)\]", dynamic) == [str(patchfold.openvino._extension.LIBRARIES)]


def test_another_version_of_openvino_is_an_error(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = patchfold.openvino._extension
    folder = Path(openvino.__file__).parent
    other = tmp_path / "openvino"
    shutil.copytree(folder / "include", other / "include")
    shutil.copytree(folder / "cmake", other / "cmake")
    (other / "libs").symlink_to(folder / "libs")
    header = other / "include" / "openvino" / "core" / "version.hpp"
    header.write_text(re.sub(r"(define OPENVINO_VERSION_PATCH) \d+", r"\1 99", header.read_text()))
    monkeypatch.setattr(build, "COMPILED_FOR_SPEED", "-O0")
    sources = [str(path) for path in sorted(build.SOURCES.glob("plugins/*/*.cpp"))]
    build._compile(sources, other, build._own_library(), tmp_path / "other.so", "99")
    with pytest.raises(Exception, match=r"built for OpenVINO \d+\.\d+\.99, and runs with no other; this is \d+\."):
        openvino.Core().add_extension(str(tmp_path / "other.so"))


def test_without_a_compiler_there_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATCHFOLD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CXX", "no-such-compiler -m64")
    with pytest.raises(RuntimeError, match=r"there is no C\+\+ compiler no-such-compiler: apt-get install g"):
        patchfold.openvino.extension()
    monkeypatch.setenv("CXX", "false")
    with pytest.raises(RuntimeError, match="cannot be compiled by false"):
        patchfold.openvino.extension()
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_folder_of_others_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("PATCHFOLD_CACHE", str(shared))
    with pytest.raises(PermissionError, match="others may write there"):
        patchfold.openvino.extension()
    monkeypatch.setenv("PATCHFOLD_CACHE", "/proc/none")
    with pytest.raises(PermissionError, match="set PATCHFOLD_CACHE"):
        patchfold.openvino.extension()


def test_the_example_of_the_page_runs(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATCHFOLD_CACHE", str(Path(library).parent))
    monkeypatch.chdir(tmp_path)
    case = next(case for case in cases() if case.operator == "Col2Im")
    onnx.save(Case("Col2Im", case.x, case.x, case.inputs, case.attributes, "").model(), "model.onnx")
    names: dict[str, Any] = {}
    exec(example("openvino"), names)
    assert same_bits(names["compiled"]({"x": case.x})[0], case.expected) and "Col2Im" not in kinds(names["compiled"])


def test_variables_cannot_command_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATCHFOLD_CACHE", "/proc/\x1b[2J\n\x07none")
    with pytest.raises(PermissionError, match=r"^/proc/\?\[2J\?\?none: cannot be made") as made:
        patchfold.openvino._extension._cache()
    monkeypatch.setenv("CXX", "no\x1b[2Jcompiler")
    with pytest.raises(RuntimeError, match=r"there is no C\+\+ compiler no\?\[2Jcompiler: ") as found:
        patchfold.openvino._extension._compiler()
    assert str(made.value).isprintable() and str(found.value).isprintable()

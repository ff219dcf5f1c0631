# SPDX-License-Identifier: Apache-2.0
"""Tests of both runtimes' libraries with wrong inputs: models that no exporter writes, empty tensors, other ranks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import openvino
import pytest
from onnx import helper
from systems import Array, core, same_bits, session

from runtime_models import Case, cases, numbers  # isort: skip

# ---- OpenVINO ----


def network(kind: str, version: str, inputs: list[tuple[str, tuple[int, ...]]], **attributes: str) -> str:
    """Returns an OpenVINO file with one node, whose inputs, given as (element type, shape), are inputs of the model."""
    precisions = {"f32": "FP32", "i64": "I64"}
    ports, layers, edges = "", "", ""
    for number, (element, shape) in enumerate(inputs):
        port = f'precision="{precisions[element]}">' + "".join(f"<dim>{extent}</dim>" for extent in shape) + "</port>"
        ports += f'<port id="{number}" {port}'
        layers += f'<layer id="{number}" name="p{number}" type="Parameter" version="opset1"><data element_type="{element}" '
        layers += f'shape="{",".join(map(str, shape))}"/><output><port id="0" {port}</output></layer>'
        edges += f'<edge from-layer="{number}" from-port="0" to-layer="90" to-port="{number}"/>'
    data = " ".join(f'{name}="{value}"' for name, value in attributes.items())
    return (
        f'<?xml version="1.0"?><net name="m" version="11"><layers>{layers}<layer id="90" name="the_node" type="{kind}" '
        f'version="{version}"><data {data}/><input>{ports}</input><output><port id="9" precision="FP32"/></output></layer>'
        '<layer id="91" name="y" type="Result" version="opset1"><input><port id="0"/></input></layer></layers>'
        f'<edges>{edges}<edge from-layer="90" from-port="9" to-layer="91" to-port="0"/></edges></net>'
    )


def run(text: str, inputs: list[Array]) -> Array:
    runtime = core(True)
    made = runtime.compile_model(runtime.read_model(text.encode(), b""), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return np.array(made(inputs)[0])


SETTINGS = {"strides": "2,1", "dilations": "1,1", "pads_begin": "1,0", "pads_end": "1,0"}


def columns(extents: tuple[int, ...], kernel: tuple[int, ...] = (2,)) -> str:
    lists = [("i64", extents), ("i64", kernel)]
    return network("PatchfoldCol2Im", "extension", [("f32", (2, 18, 20)), *lists], **SETTINGS)


@pytest.mark.parametrize("shape", [(33,), (2 * 10**9,), (2**31 + 5,), (2**40,), (1, 2), ()])
def test_lists_that_are_none_or_far_too_long_are_refused(shape: tuple[int, ...]) -> None:
    x = numbers((2, 18, 20))
    assert run(columns((2,)), [x, np.array([8, 6]), np.array([3, 2])]).shape == (2, 3, 8, 6)
    with pytest.raises(Exception, match=r"Col2Im: output_size: must have the shape \(M\) for M axes, at most 32; given \["):
        run(columns(shape), [])


@pytest.mark.parametrize("shape", [(4,), (1, 4), (2, 2, 1), (0,)])
def test_pairs_have_two_numbers_each(shape: tuple[int, ...]) -> None:
    x = numbers((1, 3, 3, 1))

    def made(pairs: Any, block: int = 2) -> str:
        lists = [("i64", (block,)), ("i64", pairs)]
        return network("PatchfoldSpaceToBatchND", "extension", [("f32", x.shape), *lists])

    pads = np.array([[1, 0], [0, 1]])
    assert run(made((2, 2)), [x, np.array([2, 2]), pads]).shape == (4, 2, 2, 1)
    with pytest.raises(Exception, match=r"SpaceToBatchND: paddings: must have the shape \(M, 2\) .*given \["):
        run(made(shape), [x, np.array([2, 2]), pads.reshape(-1)])
    # If a shape is open in the model, each run checks the actual shape.
    with pytest.raises(Exception, match=r"SpaceToBatchND: paddings: must have the shape \(M, 2\) .*given \[2,3\]"):
        run(made((-1, -1), -1), [x, np.array([2, 2, 1]), np.zeros((2, 3), np.int64)])


def kinds() -> dict[str, Callable[[Any], Any]]:
    make, block, zero = openvino.opset15, np.array([1, 1, 2, 3]), np.zeros(4, np.int64)
    return {
        "SpaceToBatch": lambda x: make.space_to_batch(x, block, zero, zero),
        "BatchToSpace": lambda x: make.batch_to_space(x, block, zero, zero),
        "SpaceToDepth": lambda x: make.space_to_depth(x, "blocks_first", 2),
        "DepthToSpace": lambda x: make.depth_to_space(x, "depth_first", 2),
        "ExtractImagePatches": lambda x: make.extract_image_patches(x, [3, 2], [2, 3], [1, 2], "same_upper"),
    }


@pytest.mark.parametrize("kind", [*kinds(), "Im2Col", "SpaceToDepthNHWC"])
def test_a_model_that_was_read_can_be_saved_and_read_again(kind: str, tmp_path: Path) -> None:
    x = numbers((6, 12, 4, 6))
    if kind in kinds():
        parameter = openvino.opset15.parameter(x.shape, openvino.Type.f32, name="x")
        model = openvino.Model([kinds()[kind](parameter).output(0)], [parameter], "m")
        openvino.save_model(model, tmp_path / "m.xml", compress_to_fp16=False)
    else:
        settings = {**SETTINGS, "kernel_size": "3,2"} if kind == "Im2Col" else {"block_size": "2", "data_format": "NHWC"}
        x = x if kind == "Im2Col" else numbers((2, 4, 6, 3))
        (tmp_path / "m.xml").write_text(network(f"Patchfold{kind}", "extension", [("f32", x.shape)], **settings))
        (tmp_path / "m.bin").write_bytes(b"")
    runtime = core(True)
    read = runtime.read_model(tmp_path / "m.xml")
    openvino.serialize(read, tmp_path / "again.xml", tmp_path / "again.bin")
    assert f'type="Patchfold{kind}" version="extension"' in (tmp_path / "again.xml").read_text()
    again = core(True)
    results = [made.compile_model(model, "CPU")(x)[0] for made, model in
               ((runtime, read), (again, again.read_model(tmp_path / "again.xml")))]  # fmt: skip
    assert same_bits(*results)


# ---- ONNX Runtime ----


def in_onnxruntime(case: Case, x: Array, shape: Any = None) -> Array:
    model = Case(case.operator, x, x, case.inputs, case.attributes).model(shape)
    result: Array = session(model, True).run(None, {"x": x})[0]
    return result


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.operator}-{case.x.ndim}")
def test_other_ranks_are_refused_and_empty_batches_run(case: Case) -> None:
    for shape in ((), (0,), (3,), (2, 3), (1,) * 13, (1,) * 40):
        for given in (shape, [f"n{axis}" for axis in range(len(shape))]):
            with pytest.raises(Exception, match=f"{case.operator}: "):
                in_onnxruntime(case, np.zeros(shape, np.float32), given)
    empty = case.x[:0]
    opened = [f"n{axis}" for axis in range(empty.ndim)]
    for given in (None, opened):
        assert in_onnxruntime(case, empty, given).shape == (0, *case.expected.shape[1:])


@pytest.mark.parametrize("word", [b"\xff\xfe", b"SAME\0", b"SAME\0FULL", b"SAME\n", b"y" * 10**6])
def test_words_are_words(word: bytes) -> None:
    case = next(case for case in cases() if case.operator == "ExtractImagePatches")
    wrong = Case(case.operator, case.x, case.x, {}, case.attributes | {"padding": word})
    for shape in (None, list("nhwc")):
        with pytest.raises(Exception, match=f"padding: must be at most 100 printable .*; given {len(word)} bytes"):
            session(wrong.model(shape), True).run(None, {"x": case.x})


@pytest.mark.parametrize("value", [[2.0, 1.0], ["a", "b"], 2.5, "", [], helper.make_tensor("t", 7, [2], [2, 1])])
@pytest.mark.parametrize("name", ["strides", "dilations", "pads"])
def test_attributes_of_another_kind_are_not_left_out(name: str, value: Any) -> None:
    case = next(case for case in cases() if case.operator == "Im2Col")
    model = Case("Im2Col", case.x, case.x, {}, {"block_shape": [3, 2]}).model()
    kind = onnx.AttributeProto.INTS if value == [] else None
    model.graph.node[0].attribute.append(helper.make_attribute(name, value, attr_type=kind))
    with pytest.raises(Exception, match=rf"Im2Col\b.*: {name}: must "):
        session(model, True).run(None, {"x": case.x})

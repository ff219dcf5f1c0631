# SPDX-License-Identifier: Apache-2.0
"""Tests of node tests with damaged content. Each test must be read, or refused with an error that names the file."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx", reason="node tests are read by the onnx package")

import patchfold
from node_test_files import NodeTest, col2im, depth_to_space, tensor
from onnx import AttributeProto, StringStringEntryProto, TensorProto, helper, numpy_helper
from patchfold.onnx import _node_tests

FORMAT, UNSUPPORTED, OPEN = "file_format", "file_unsupported", "file_open"


def refusal(folder: Path) -> patchfold.Error:
    with pytest.raises(patchfold.Error) as caught:
        _node_tests.NodeTest(folder)
    assert caught.value.operator == "onnx"
    return caught.value


def is_refused(folder: Path, code: str, where: str, fragment: str) -> None:
    error = refusal(folder)
    assert (error.code, error.argument) == (code, str(folder / where)), error
    assert fragment in str(error)


def _function(test: NodeTest) -> None:
    body = [helper.make_node("Identity", ["data"], ["output"])]
    test.model.functions.append(
        helper.make_function("", "DepthToSpace", ["data"], ["output"], body, test.model.opset_import)
    )


def _sparse(test: NodeTest) -> None:
    values = helper.make_tensor("block_shape", TensorProto.INT64, [1], [3])
    indices = helper.make_tensor("indices", TensorProto.INT64, [1], [0])
    test.model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [2]))


def _constant(test: NodeTest) -> None:
    test.model.graph.node[0].CopyFrom(helper.make_node("Constant", [], ["output"], value_ints=[1]))


def _initializer(test: NodeTest, value: TensorProto) -> None:
    value.name = "image_shape"
    test.model.graph.initializer.append(value)


def _attribute(test: NodeTest, kind: int) -> None:
    test.node.attribute.append(AttributeProto(name="odd", type=kind, t=tensor(1, [1], b"abcd")))


ONE_NODE = "must be a model of one node; given "
INVALID = "is not a valid model: "
MODELS: dict[str, tuple[Callable[[NodeTest], object], str, str]] = {
    "no node": (lambda t: t.model.graph.ClearField("node"), UNSUPPORTED, ONE_NODE + "0"),
    "two nodes": (lambda t: t.model.graph.node.append(t.node), UNSUPPORTED, ONE_NODE + "2"),
    "no graph": (lambda t: t.model.ClearField("graph"), UNSUPPORTED, ONE_NODE + "0"),
    "function": (_function, UNSUPPORTED, "must be a model without functions of its own"),
    "other domain": (lambda t: setattr(t.node, "domain", "com.example"), FORMAT, INVALID),
    "other domain that is imported": (
        lambda t: (setattr(t.node, "domain", "x"), t.model.opset_import.append(helper.make_opsetid("x", 1))),
        UNSUPPORTED,
        "x.Col2Im: node of output: is not an operator of this backend",
    ),
    "other operator": (
        lambda t: t.node.CopyFrom(helper.make_node("Relu", ["data"], ["output"])),
        UNSUPPORTED,
        "ai.onnx.Relu: node of output: is not an operator of this backend",
    ),
    "constant": (_constant, UNSUPPORTED, "has an operator that is not in the operator table; given Constant"),
    "unknown operator": (lambda t: setattr(t.node, "op_type", "Frobnicate"), FORMAT, INVALID),
    "no operator": (lambda t: t.node.ClearField("op_type"), FORMAT, INVALID),
    "operator with a version": (lambda t: setattr(t.node, "op_type", "Col2Im-18"), FORMAT, INVALID),
    "old opset": (lambda t: setattr(t.model.opset_import[0], "version", 17), FORMAT, INVALID),
    "no opset": (lambda t: t.model.ClearField("opset_import"), FORMAT, INVALID),
    "opset of another domain": (lambda t: setattr(t.model.opset_import[0], "domain", "x"), FORMAT, INVALID),
    "negative opset": (lambda t: setattr(t.model.opset_import[0], "version", -1), FORMAT, INVALID),
    "input missing": (lambda t: t.node.input.pop(), FORMAT, INVALID),
    "input too many": (lambda t: t.node.input.append("data"), FORMAT, INVALID),
    "input from nowhere": (lambda t: t.node.input.__setitem__(1, "void"), FORMAT, INVALID),
    "input left out": (lambda t: t.node.input.__setitem__(1, ""), FORMAT, INVALID),
    "output missing": (lambda t: t.node.ClearField("output"), FORMAT, INVALID),
    "two outputs": (
        lambda t: t.model.graph.output.append(t.model.graph.input[0]),
        FORMAT,
        "must have the output of its node as its only output",
    ),
    "other output": (lambda t: t.node.output.__setitem__(0, "void"), FORMAT, INVALID),
    "attribute without a type": (lambda t: _attribute(t, 0), UNSUPPORTED, "must have attributes that are numbers"),
    "attribute with a tensor": (lambda t: _attribute(t, AttributeProto.TENSOR), UNSUPPORTED, "given odd"),
    "attribute with a graph": (lambda t: _attribute(t, AttributeProto.GRAPH), UNSUPPORTED, "given odd"),
    "unknown attribute": (lambda t: t.node.attribute.append(helper.make_attribute("odd", 1)), FORMAT, INVALID),
    "attribute of another type": (lambda t: setattr(t.node.attribute[0], "name", "mode"), FORMAT, INVALID),
    "sparse constant": (_sparse, UNSUPPORTED, "block_shape: sparse initialisers are not taken"),
    "constant that is too short": (
        lambda t: _initializer(t, tensor(7, [2], b"x")),
        FORMAT,
        "must hold as many values as its shape says; given 1 bytes, expected 16 bytes",
    ),
    "constant in another file": (
        lambda t: _initializer(t, TensorProto(data_type=7, dims=[2], data_location=TensorProto.EXTERNAL)),
        UNSUPPORTED,
        "keeps its values in other files, which are not read",
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_damaged_model_is_refused(name: str, tmp_path: Path) -> None:
    damage, code, fragment = MODELS[name]
    test = col2im()
    damage(test)
    is_refused(test.write(tmp_path), code, "model.onnx", fragment)


def test_list_of_33_integers_is_refused_by_the_operator(tmp_path: Path) -> None:
    test = col2im()
    test.node.attribute[0].ints[:] = [1] * 33
    ((_, made, wrong),) = _node_tests.NodeTest(test.write(tmp_path)).results()
    assert not made and wrong.startswith("onnx.Col2Im-18: pads: ")


def test_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    test = col2im()
    test.node.op_type = "Frobnicate"
    path = test.write(tmp_path) / "model.onnx"
    path.write_bytes(path.read_bytes().replace(b"Frobnicate", b"Frob\xe4icate"))
    is_refused(tmp_path, FORMAT, "model.onnx", INVALID)


def test_text_that_is_no_text_is_refused_by_the_operator(tmp_path: Path) -> None:
    test = depth_to_space(mode=b"\xff\xfe")
    ((_, made, wrong),) = _node_tests.NodeTest(test.write(tmp_path)).results()
    assert not made and wrong.startswith("onnx.DepthToSpace-13: mode: ")


def located() -> TensorProto:
    entry = StringStringEntryProto(key="location", value="/etc/passwd")
    return TensorProto(data_type=1, dims=[1], external_data=[entry])


def with_int32(data_type: int, value: int) -> TensorProto:
    return TensorProto(data_type=data_type, dims=[1], int32_data=[value])


SIZE = "must hold as many values as its shape says; given "
HOLD = "must hold values that its type can hold; given "
TENSORS: dict[str, tuple[TensorProto, str, str]] = {
    "no type": (tensor(0, [1], b"abcd"), FORMAT, "must be a tensor with an element type"),
    "text": (tensor(8, [1], b""), UNSUPPORTED, "has an element type that is not read; given 8"),
    **{
        f"type {kind}": (tensor(kind, [1], b"a"), UNSUPPORTED, f"has an element type that is not read; given {kind}")
        for kind in (21, 22, 23, 24, 25, 26, 1000, -1)
    },
    "too short": (tensor(1, [2], b"abcd"), FORMAT, SIZE + "4 bytes, expected 8 bytes"),
    "too long": (tensor(1, [1], b"abcde"), FORMAT, SIZE),
    "huge": (tensor(1, [1 << 60], b"abcd"), FORMAT, SIZE),
    "no values": (TensorProto(data_type=1, dims=[1]), FORMAT, SIZE + "0, expected 1"),
    "values of another field": (with_int32(1, 1), FORMAT, SIZE),
    "half a complex number": (TensorProto(data_type=14, dims=[1], float_data=[1]), FORMAT, SIZE + "1, expected 2"),
    "negative": (tensor(1, [-1], b"abcd"), FORMAT, "must not have negative extents; given (-1,)"),
    "two negatives": (tensor(2, [-1, -1], b"a"), FORMAT, "must not have negative extents"),
    "wrapping": (tensor(1, [1 << 32, 1 << 32], b""), FORMAT, "has a shape without a size of 63 bits"),
    "nothing, in huge extents": (tensor(1, [0, 1 << 62], b""), FORMAT, "has a shape without a size of 63 bits"),
    "33 axes": (tensor(2, [1] * 33, b"a"), UNSUPPORTED, "has too many axes; given 33, expected at most 32"),
    "int8": (with_int32(3, 128), FORMAT, HOLD + "128, expected -128 to 127"),
    "uint8": (with_int32(2, -1), FORMAT, HOLD + "-1, expected 0 to 255"),
    "bool": (with_int32(9, 2), FORMAT, HOLD),
    "float16": (with_int32(10, 65536), FORMAT, HOLD),
    "float8": (with_int32(17, 256), FORMAT, HOLD),
    "uint32": (TensorProto(data_type=12, dims=[1], uint64_data=[1 << 32]), FORMAT, HOLD),
    "external": (
        TensorProto(data_type=1, dims=[1], raw_data=b"abcd", data_location=TensorProto.EXTERNAL),
        UNSUPPORTED,
        "keeps its values in other files, which are not read",
    ),
    "external location": (located(), UNSUPPORTED, "keeps its values in other files, which are not read"),
    "segment": (
        TensorProto(data_type=1, dims=[1], raw_data=b"abcd", segment=TensorProto.Segment(begin=0)),
        UNSUPPORTED,
        "keeps its values in other files, which are not read",
    ),
}


@pytest.mark.parametrize("name", TENSORS)
def test_damaged_tensor_is_refused(name: str, tmp_path: Path) -> None:
    value, code, fragment = TENSORS[name]
    for file in ("input_0", "output_0"):
        test = depth_to_space()
        (test.inputs if file == "input_0" else test.outputs)[0] = value
        is_refused(test.write(tmp_path / file), code, f"test_data_set_0/{file}.pb", fragment)


def test_input_that_the_model_does_not_declare_fails(tmp_path: Path) -> None:
    test = depth_to_space()
    test.inputs = [numpy_helper.from_array(np.zeros((1, 4, 1, 1)))]
    ((_, made, wrong),) = _node_tests.NodeTest(test.write(tmp_path)).results()
    assert (made, wrong) == ("", "onnx: data: element type of the input; given float64, expected float32")


@pytest.mark.parametrize("kind", [0, 999])
def test_input_of_an_unknown_type_fails(kind: int, tmp_path: Path) -> None:
    test = depth_to_space()
    test.model.graph.input[0].type.tensor_type.elem_type = kind
    ((_, made, wrong),) = _node_tests.NodeTest(test.write(tmp_path)).results()
    assert (made, wrong) == ("", f"onnx: data: the model declares an element type that is not known; given {kind}")


def test_missing_files_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    is_refused(folder, OPEN, "model.onnx", "cannot be opened: No such file or directory")
    folder.write_text("a file and no folder")
    is_refused(folder, OPEN, "model.onnx", "cannot be opened: Not a directory")
    folder.unlink()
    (folder / "model.onnx").mkdir(parents=True)
    is_refused(folder, OPEN, "model.onnx", "must be a regular file")
    shutil.rmtree(folder)

    col2im().write(folder)
    shutil.rmtree(folder / "test_data_set_0")
    is_refused(folder, FORMAT, ".", "must hold folders named test_data_set_N")
    (folder / "test_data_set_0").write_text("a file and no folder")
    is_refused(folder, OPEN, "test_data_set_0", "cannot be read: Not a directory")


def test_other_than_regular_files_are_refused(tmp_path: Path) -> None:
    for file in ("model.onnx", "test_data_set_0/input_0.pb"):
        path = col2im().write(tmp_path) / file
        for damage in (
            lambda path: path.mkdir(),
            lambda path: path.symlink_to("nowhere"),
            lambda path: path.symlink_to(path),
            lambda path: os.mkfifo(path),
            lambda path: path.symlink_to("/dev/zero"),
        ):
            path.unlink()
            damage(path)
            is_refused(tmp_path, OPEN, file, "")
            path.rmdir() if path.is_dir() else path.unlink()
            path.touch()
        is_refused(tmp_path, FORMAT, file, "must be an ONNX file (a protocol buffer)")


def test_data_that_does_not_fit_the_model_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "test_data_set_0"
    test = col2im()
    test.write(tmp_path)
    (folder / "input_2.pb").rename(folder / "input_3.pb")
    is_refused(tmp_path, OPEN, "test_data_set_0/input_2.pb", "cannot be opened: No such file or directory")
    (folder / "input_3.pb").unlink()
    rule = "must hold one input_N.pb for each input of the model; given "
    is_refused(tmp_path, FORMAT, "test_data_set_0", rule + "2, expected 3")
    test.write(tmp_path)
    (folder / "input_3.pb").write_bytes(b"")
    is_refused(tmp_path, FORMAT, "test_data_set_0", rule + "4, expected 3")
    (folder / "input_3.pb").unlink()
    _node_tests.NodeTest(tmp_path)
    rule = "must hold one output_N.pb for each output of the model; given "
    (folder / "output_1.pb").write_bytes(b"")
    is_refused(tmp_path, FORMAT, "test_data_set_0", rule + "2, expected 1")
    (folder / "output_1.pb").unlink()
    (folder / "output_0.pb").unlink()
    is_refused(tmp_path, FORMAT, "test_data_set_0", rule + "0, expected 1")


def test_files_that_are_no_messages_are_refused(tmp_path: Path) -> None:
    col2im().write(tmp_path)
    rule = "must be an ONNX file (a protocol buffer)"
    # The contents include a length of 2 GB, a group that does not end, tags of zero, a varint of more than ten bytes, and
    # endless nesting.
    for content in (b"", b"\x3a\xff\xff\xff\xff\x07", b"\x0b", bytes(8), b"\xff" * 20, b"\x3a\x7f" * 100000, b"hello world"):
        (tmp_path / "model.onnx").write_bytes(content)
        is_refused(tmp_path, FORMAT, "model.onnx", rule)
    col2im().write(tmp_path)
    (tmp_path / "test_data_set_0" / "input_0.pb").write_bytes(b"hello world")
    is_refused(tmp_path, FORMAT, "test_data_set_0/input_0.pb", rule)


def test_files_that_are_too_large_are_not_read(tmp_path: Path) -> None:
    col2im().write(tmp_path)
    os.truncate(tmp_path / "model.onnx", (1 << 26) + 1)
    is_refused(tmp_path, UNSUPPORTED, "model.onnx", "is too large; given 67108865 bytes, expected at most 67108864 bytes")
    col2im().write(tmp_path)
    os.truncate(tmp_path / "test_data_set_0" / "input_0.pb", 1 << 31)
    is_refused(tmp_path, UNSUPPORTED, "test_data_set_0/input_0.pb", "is too large; given 2147483648 bytes")


FILES = ("model.onnx", "test_data_set_0/input_0.pb", "test_data_set_0/input_1.pb", "test_data_set_0/output_0.pb")


def refused(folder: Path) -> bool:
    """Returns whether the test is refused; runs it if it is read."""
    try:
        test = _node_tests.NodeTest(folder)
    except patchfold.Error as error:
        assert error.operator == "onnx" and error.code in (FORMAT, UNSUPPORTED, OPEN), error
        assert error.argument.startswith(str(folder)), error
        return True
    for _, _, wrong in test.results():
        assert isinstance(wrong, str)
    return False


@pytest.mark.parametrize("file", FILES)
def test_file_cut_anywhere_is_refused_or_run(file: str, tmp_path: Path) -> None:
    path = col2im().write(tmp_path) / file
    whole = path.read_bytes()
    count = 0
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        count += refused(tmp_path)
    assert count > len(whole) / 2


@pytest.mark.parametrize("file", FILES)
def test_file_with_any_byte_changed_is_refused_or_run(file: str, tmp_path: Path) -> None:
    path = col2im().write(tmp_path) / file
    whole = path.read_bytes()
    count = 0
    for at in range(len(whole)):
        for flip in (0x01, 0x80, 0xFF):
            changed = bytearray(whole)
            changed[at] ^= flip
            path.write_bytes(changed)
            count += refused(tmp_path)
    assert count > 10


EDGES = [0, 1, -1, 2, -2] + [
    value
    for power in (31, 32, 53, 60, 62, 63)
    for sign in (1, -1)
    for value in (sign * (1 << power) + step for step in (-1, 0, 1))
    if -(1 << 63) <= value < 1 << 63
]


@pytest.mark.parametrize("edge", EDGES)
def test_numbers_that_lie_are_refused_or_run(edge: int, tmp_path: Path) -> None:
    def lie(test: NodeTest) -> bool:
        return refused(test.write(tmp_path))

    for change in (
        lambda test: setattr(test.model.opset_import[0], "version", edge),
        lambda test: setattr(test.model, "ir_version", edge),
        lambda test: test.node.attribute[0].ints.__setitem__(0, edge),
    ):
        test = col2im()
        change(test)
        lie(test)
    for number in range(3):
        for axis in range(len(col2im().inputs[number].dims)):
            test = col2im()
            kept = test.inputs[number].dims[axis]
            test.inputs[number].dims[axis] = edge
            assert lie(test) or edge == kept
            test.inputs[number].ClearField("raw_data")
            assert lie(test) or edge == 0
        test = col2im()
        del test.inputs[number].dims[:]
        test.inputs[number].dims.extend([edge] * 40)
        assert lie(test)
        if -(1 << 31) <= edge < 1 << 31:
            test = col2im()
            test.inputs[number].data_type = edge
            lie(test)
    for number in (1, 2):
        test = col2im()
        test.inputs[number] = numpy_helper.from_array(np.array([5, edge]))
        lie(test)

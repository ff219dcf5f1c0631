# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.models.inspect: operators in models, also written as other nodes, and errors of bad models."""

import json
import os
import random
import re
import subprocess
import sys

import numpy as np
import patchfold
import pytest
from model_zoo import CASES, Case, branching, hot, ints, moved, node

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from patchfold._orders.index_map import maps, whole  # noqa: E402
from patchfold._orders.names import Name, name_of  # noqa: E402
from patchfold.models import ModelError, inspect, portable  # noqa: E402
from patchfold.models._notes import of as notes_of  # noqa: E402
from patchfold.models._regions import Found  # noqa: E402
from patchfold.onnxruntime import convert  # noqa: E402


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_operator_is_found_whatever_it_is_made_of(case):
    report = inspect(case.model(), timed=False)
    if case.operator is None:
        assert report.findings == ()
        return
    (finding,) = report.findings
    assert (finding.operator, finding.arguments, finding.exact) == (case.operator, case.arguments, case.exact)
    assert len(finding.nodes) == len(case.nodes) and finding.source_shape == case.shape
    x = np.random.default_rng(1).random(case.shape, np.float32)
    (y,) = ReferenceEvaluator(case.model()).run(None, {"x": x})
    assert finding.shape == y.shape
    assert ("; axes in another order" in str(report)) is not case.exact
    if case.operator == "blocks":
        np.testing.assert_array_equal(patchfold.rearrange(x, finding.pattern, **finding.arguments), y)
    elif case.exact:
        ours = getattr(patchfold, finding.operator)(x, **finding.arguments)
        np.testing.assert_array_equal(ours.reshape(y.shape), y)


@pytest.mark.parametrize("case", [case for case in CASES if case.name != "Col2Im itself"], ids=lambda case: case.name)
def test_explain_order_names_what_inspect_finds(case):
    """Checks that explain_order finds the operator of each model. Sums are left out, since a sum is no element of the
    image."""
    x = np.arange(1, 1 + np.prod(case.shape), dtype=np.float32).reshape(case.shape)
    (y,) = ReferenceEvaluator(case.model()).run(None, {"x": x})
    answer = patchfold.explain_order(x, y)
    if case.operator is None:
        assert not answer or answer.operator in ("rearrange", "unfold"), answer  # explain_order names other moves too
        return
    assert answer.operator in (case.operator, "rearrange" if case.operator == "blocks" else "", "patchify"), answer
    assert answer.operator != "rearrange" or not re.search("one channel|Not to be seen", answer.reason)
    if ", its axes rearranged to " not in answer.call:
        np.testing.assert_array_equal(eval(answer.call, {"patchfold": patchfold, "image": x}), y)


def cut(axes, order):
    """Returns a shape, and the indices of its elements after its axes are split into the parts `axes` and permuted by
    `order`."""
    source = tuple(int(np.prod(parts)) for parts in axes)
    return source, whole(source).reshape([part for parts in axes for part in parts]).transpose(order)


@pytest.mark.parametrize(
    ("axes", "order", "shape", "call"),
    [
        ([[2], [4, 2], [3, 2], [5]], (0, 1, 3, 4, 2, 5), (2, 4, 3, 20),
         "'b (h1 h2) (w1 w2) c -> b h1 w1 (w2 h2 c)', h2=2, w2=2"),
        ([[2], [4, 2], [3, 2], [5]], (0, 1, 3, 4, 2, 5), (2, 12, 20),
         "'b (h1 h2) (w1 w2) c -> b (h1 w1) (w2 h2 c)', h2=2, w2=2"),
        ([[2], [4, 2], [3, 2], [5]], (0, 3, 1, 2, 4, 5), (2, 3, 4, 20),
         "'b (h1 h2) (w1 w2) c -> b w1 h1 (h2 w2 c)', h2=2, w2=2"),
        ([[2], [5], [3, 2], [2, 4], [2, 3]], (0, 2, 4, 6, 5, 7, 3, 1), (2, 12, 120),
         "'b c (d1 d2) (h1 h2) (w1 w2) -> b (d1 h1 w1) (h2 w2 d2 c)', d2=2, h2=4, w2=3"),
    ],
    ids=["Swin's PatchMerging", "Swin's PatchMerging, tokens", "InternVL's first pixel shuffle", "ViT3D: p1 p2 pf c"],
)  # fmt: skip
def test_orders_of_models_have_a_name(axes, order, shape, call):
    source, moved_parts = cut(axes, order)
    indices = moved_parts.reshape(shape)
    assert name_of(indices, source).operator == "blocks"
    answer = patchfold.explain_order(whole(source), indices)
    assert answer.call == f"patchfold.rearrange(image, {call})"
    np.testing.assert_array_equal(eval(answer.call, {"patchfold": patchfold, "image": whole(source)}), indices)
    assert patchfold.explain_order(indices, whole(source)).operator == "rearrange"


@pytest.mark.parametrize(
    ("shape", "arguments", "text"),
    [
        ((4, 3, 8, 12), {"order": "qwen"}, "(2, 2, 2), order='qwen'"),
        ((4, 8, 12, 3), {"order": "qwen", "layout": "channels_last"}, "(2, 2, 2), order='qwen', layout='channels_last'"),
        ((2, 3, 8, 12), {"merge_size": 2}, "(2, 2), order='vit', merge_size=2"),
        ((3, 12, 18), {"order": "torch", "merge_size": 3}, "(2, 2), order='torch', merge_size=3"),
    ],
)
def test_tokens_with_merge_blocks_have_a_name(shape, arguments, text):
    tokens = patchfold.patchify(whole(shape), 2, **arguments)
    assert name_of(tokens, shape).operator == "blocks"
    assert patchfold.explain_order(whole(shape), tokens).call == f"patchfold.patchify(image, {text})"
    back = patchfold.explain_order(tokens, whole(shape))
    assert back.operator == "unpatchify"
    np.testing.assert_array_equal(eval(back.call, {"patchfold": patchfold, "image": tokens}), whole(shape))


def drawn(draw):
    """Returns a random operator of patchfold, with a shape and arguments that it accepts."""
    layout = draw.choice(["channels_first", "channels_last"])
    rank = draw.randint(1, 3)
    block = tuple(draw.randint(2, 3) for _ in range(rank))
    grid = tuple(draw.randint(2, 4) for _ in range(rank))
    batch, channels = draw.randint(2, 3), draw.randint(2, 3)

    def shape(channels, extents):
        return (batch, *extents, channels) if layout == "channels_last" else (batch, channels, *extents)

    kind = draw.choice(["unfold", "space_to_depth", "depth_to_space"])
    if kind == "unfold":
        stride = tuple(draw.randint(1, 3) for _ in range(rank))
        pad = tuple(draw.randint(0, 1) for _ in range(rank))
        extents = tuple(b + (g - 1) * s + 2 for b, g, s in zip(block, grid, stride, strict=True))
        arguments = {"kernel_size": block, "stride": stride, "padding": pad, "layout": layout}
        arguments |= {"order": draw.choice(["channel", "kernel"]), "positions": draw.choice(["flat", "grid"])}
        return kind, shape(channels, extents), arguments
    arguments = {"block": block, "layout": layout, "mode": draw.choice(["depth_first", "blocks_first"])}
    if kind == "space_to_depth":
        return kind, shape(channels, tuple(b * g for b, g in zip(block, grid, strict=True))), arguments
    return kind, shape(channels * int(np.prod(block)), grid), arguments


@pytest.mark.parametrize("seed", range(150))
def test_named_map_is_the_operator_it_came_from(seed):
    kind, shape, arguments = drawn(random.Random(seed))
    indices = getattr(patchfold, kind)(whole(shape) + 1, **arguments) - 1
    name = name_of(indices, shape)
    if np.array_equal(indices.reshape(-1), whole(shape).reshape(-1)):
        assert name is None  # Nothing moves: a reshape.
        return
    assert name is not None and name.exact
    again = getattr(patchfold, name.operator)(whole(shape) + 1, **name.arguments) - 1
    np.testing.assert_array_equal(again.reshape(indices.shape), indices)
    image = whole(shape) + 1  # 0 is padding
    answer = patchfold.explain_order(image, indices + 1)
    np.testing.assert_array_equal(eval(answer.call, {"patchfold": patchfold, "image": image}), indices + 1)
    assert (answer.operator == name.operator and answer.layout) or answer.kernel_size[:-1] == (1,) * (len(shape) - 3)


@pytest.mark.parametrize("seed", range(150))
def test_inspect_and_explain_order_agree_on_blocks(seed):
    """Splits axes, permutes the parts and joins some. explain_order must name each map, and agree with inspect's name."""
    draw = random.Random(seed)
    axes = [[draw.randint(2, 3)] for _ in range(draw.randint(0, 2))]
    axes += [[draw.randint(2, 3), draw.randint(2, 3)] for _ in range(draw.randint(2, 3))]
    draw.shuffle(axes)
    parts = list(range(sum(map(len, axes))))
    draw.shuffle(parts)
    source, indices = cut(axes, parts)
    shape = list(indices.shape)
    for _ in range(draw.randint(1, len(shape) - 1)):
        at = draw.randrange(len(shape) - 1)
        shape[at : at + 2] = [shape[at] * shape[at + 1]]
    indices = indices.reshape(shape)
    name, answer = name_of(indices, source), patchfold.explain_order(whole(source), indices)
    assert answer, (source, shape)
    if ", its axes rearranged to " not in answer.call:
        np.testing.assert_array_equal(eval(answer.call, {"patchfold": patchfold, "image": whole(source)}), indices)
    if name is not None:
        assert answer.operator in (name.operator, "rearrange"), (name, answer)
        assert name.operator != "blocks" or answer.operator == "rearrange"
    else:  # Maps without blocks: no axis joins parts of two axes, or fewer than two axes are split.
        digits = next(maps(indices, source)).digits
        parts = [digit.axis for axis in digits for digit in axis]
        merges = any(len({digit.axis for digit in axis}) > 1 for axis in digits)
        assert not merges or sum(parts.count(axis) > 1 for axis in range(len(source))) < 2


@pytest.mark.parametrize("seed", range(40))
def test_map_with_one_other_element_has_no_name(seed):
    draw = random.Random(seed)
    kind, shape, arguments = drawn(draw)
    indices = getattr(patchfold, kind)(whole(shape) + 1, **arguments) - 1
    at = draw.randrange(indices.size)
    indices.reshape(-1)[at] = (indices.reshape(-1)[at] + 1) % int(np.prod(shape))
    assert next(maps(indices, shape), None) is None and name_of(indices, shape) is None


def test_several_operators_and_what_is_between_them():
    down, up = (
        moved((1, 3, 4, 2, 5, 2), (0, 1, 3, 5, 2, 4), (1, 12, 4, 5)),
        moved((1, 3, 2, 2, 4, 5), (0, 1, 4, 2, 5, 3), (1, 3, 8, 10)),
    )
    down["nodes"][-1].output[0] = "half"
    for entry in up["nodes"]:
        entry.input[0] = {"x": "r", "t0": "v0", "t1": "v1"}[entry.input[0]]
        entry.output[0] = {"t0": "v0", "t1": "v1", "y": "y"}[entry.output[0]]
        if len(entry.input) > 1:
            entry.input[1] = f"u{entry.input[1]}"
    constants = down["constants"] | {f"u{name}": value for name, value in up["constants"].items()}
    case = Case("both", (1, 3, 8, 10), [*down["nodes"], node("Relu", "half", "r"), *up["nodes"]], "", constants=constants)
    report = inspect(case.model(), timed=False)
    assert [finding.operator for finding in report.findings] == ["space_to_depth", "depth_to_space"]


def test_operator_before_other_moves_is_found():
    case = Case("then sliced", (1, 12, 4, 5), operator="", **moved((1, 3, 2, 2, 4, 5), (0, 1, 4, 2, 5, 3), (1, 3, 8, 10)))
    case.nodes[-1].output[0] = "big"
    case.nodes.append(node("Slice", "big b e a", "y"))
    case.constants |= {"b": ints(1, 1), "e": ints(7, 8), "a": ints(2, 3)}
    (finding,) = inspect(case.model(), timed=False).findings
    assert finding.operator == "depth_to_space" and finding.result == "big"


def test_bodies_and_functions_are_read():
    assert [finding.operator for finding in inspect(branching().model(), timed=False).findings] == ["depth_to_space"]
    model = Case("f", (1, 4, 2, 2), [helper.make_node("Shuffle", ["x"], ["y"], domain="own")], "").model()
    shuffle = [node("DepthToSpace", "a", "b", blocksize=2)]
    model.functions.append(helper.make_function("own", "Shuffle", ["a"], ["b"], shuffle, [helper.make_opsetid("", 18)]))
    model.opset_import.append(helper.make_opsetid("own", 1))
    assert [finding.operator for finding in inspect(model, timed=False).findings] == ["depth_to_space"]


def test_open_sizes_are_taken_or_given_and_said():
    case = Case("open", ("batch", 12, 4, None), operator="", nodes=[node("DepthToSpace", "x", "y", blocksize=2)])
    report = inspect(case.model(), timed=False)
    assert report.findings[0].source_shape == (1, 12, 4, 64)
    assert report.notes == ("open size batch taken as 1", "open size x.3 taken as 64")
    assert inspect(case.model(), sizes={"batch": 8, "x.3": 6}, timed=False).findings[0].source_shape == (8, 12, 4, 6)
    with pytest.raises(ModelError, match="sizes: the model has no open dimension 'width'; it has batch, x.3"):
        inspect(case.model(), sizes={"width": 3})


def test_shapes_are_known_behind_gathers_with_computed_indices():
    """Tests im2col as torch's exporter writes it: ONNX's inference knows no shapes after gathers with computed indices."""
    nodes = [
        node("Shape", "x", "s"), node("Gather", "s three", "w"), node("Range", "zero w one", "r"),
        node("Gather", "x r", "g", axis=3), node("Reshape", "g shape", "c"), node("Mul", "c factor", "m"),
        node("Col2Im", "m i k", "y"),
    ]  # fmt: skip
    constants = {"zero": np.int64(0), "one": np.int64(1), "three": np.int64(3), "shape": ints(-1, 4, 9)}
    constants |= {"factor": np.float32(2), "i": ints(4, 4), "k": ints(2, 2)}
    model = Case("open", ("n", 4, 3, 3), nodes, None, constants=constants).model()
    for sizes, batch in (({}, 1), ({"n": 3}, 3)):
        report = inspect(model, sizes=sizes, timed=False)
        (finding,) = report.findings
        assert (finding.source_shape, finding.shape) == ((batch, 4, 9), (batch, 1, 4, 4))
        assert report.notes == (f"open size n taken as {batch}",)
    x = np.random.default_rng(0).random((3, 4, 3, 3), np.float32)
    results = [ReferenceEvaluator(each).run(None, {"x": x})[0] for each in (model, portable(model, "coreml"))]
    np.testing.assert_array_equal(*results)


def test_report_has_time_bytes_and_notes():
    case = Case("conv", (1, 3, 16, 16), [node("Conv", "x w", "y")], "", constants={"w": hot(3, 3, 3)})
    report = inspect(case.model())
    (finding,) = report.findings
    assert finding.bytes == 4 * (3 * 256 + 27 * 196) and finding.seconds > 0 and finding.roof_seconds > 0
    assert "note: a convolution gives NaN" in str(report) and "b c (h kh)" not in str(report)
    assert str(report).startswith("model: 1 operator that cuts or joins blocks\nConv #0: unfold(kernel_size=(3, 3)")
    assert json.loads(report.json())["findings"][0]["operator"] == "unfold"
    lines = str(finding).splitlines()
    assert lines[1:4] == [
        "  written as Conv", "  1x3x16x16 -> 1x27x14x14 float32, 24.2 KB", "  1 c (h kh) (w kw) -> 1 (c kh kw) h w",
    ]  # fmt: skip
    assert lines[4] == "  order channel: c * K + tap; padding none; channels_first"
    assert re.fullmatch(r"  \S+ ms here; \S+ ms to copy as many bytes, \S+ times", lines[5])


@pytest.mark.parametrize(
    ("nodes", "shape", "constants", "details", "pattern"),
    [
        ([node("DepthToSpace", "x", "y", blocksize=2)], (1, 12, 3, 4), {},
         "order blocks_first: offset * C + c; channels_first", "1 (kh kw c) h w -> 1 c (h kh) (w kw)"),
        ([node("Col2Im", "x i k", "y", pads=[1, 0, 0, 1])], (1, 12, 42), {"i": ints(6, 7), "k": ints(2, 2)},
         "order channel: c * K + tap; padding 1:0,0:1; channels_first", ""),
    ],
    ids=["DepthToSpace", "Col2Im"],
)  # fmt: skip
def test_order_and_padding_are_said(nodes, shape, constants, details, pattern):
    (finding,) = inspect(Case("one", shape, nodes, "", constants=constants).model(), timed=False).findings
    assert finding.details() == details and finding.pattern == pattern and details in str(finding)


@pytest.mark.parametrize(
    ("operator", "arguments", "facts", "text"),
    [
        ("space_to_depth", {"block": (2, 2), "mode": "depth_first"}, {}, "from version 28 of its operators on"),
        ("space_to_depth", {"block": (1, 1), "mode": "blocks_first"}, {}, "TensorFlow refuses a block of 1"),
        ("space_to_depth", {"block": (2, 2), "layout": "channels_last"}, {}, "channels come last; torch, ONNX and OpenVINO"),
        ("depth_to_space", {"block": (2, 2)}, {"kinds": ("DepthToSpace",), "dtype": "int16"}, "not of int16"),
        ("depth_to_space", {"block": (2, 2)}, {"kinds": ("DepthToSpace",), "dtype": "float16"}, "a NaN of float16"),
        ("unfold", {"kernel_size": (3,)}, {}, "torch and OpenVINO cut and join two spatial axes only"),
        ("unfold", {"kernel_size": (3, 3)}, {"dtype": "int32"}, "torch has no fold and no unfold of int32"),
        ("unfold", {"kernel_size": (3, 3), "padding": [(0, 1), (0, 0)]}, {}, "torch pads both ends alike"),
        ("fold", {"kernel_size": (3, 3), "padding": [(-1, -1), (0, 0)]}, {}, "ONNX Runtime crops"),
        ("fold", {"kernel_size": (3, 3), "order": "kernel"}, {}, "reorder before them"),
        ("fold", {"kernel_size": (3, 3)}, {"dtype": "bfloat16"}, "round sums of bfloat16 at different places"),
        ("unfold", {"kernel_size": (9, 9)}, {"shape": (1, 243, 0)}, "in which no patch fits"),
        ("unfold", {"kernel_size": (2, 2, 2), "stride": (3, 3, 3)}, {"kinds": ("ExtractVolumePatches",)}, "first sample of"),
        ("space_to_batch", {"block": (2, 2)}, {"dtype": "bool"}, "TensorFlow has no SpaceToBatch"),
        ("space_to_batch", {"block": (1,) * 5}, {}, "TensorFlow blocks at most four axes"),
        ("space_to_batch", {"block": (9, 2), "padding": [(0, 1), (0, 0)]}, {}, "copies data of other places"),
        ("batch_to_space", {"block": (2, 2)}, {"dtype": "int64"}, "OpenVINO's CPU plugin keeps int64 as 32 bits"),
    ],
)  # fmt: skip
def test_what_to_take_care_of_is_said(operator, arguments, facts, text):
    def found(name, kinds=("Reshape",), shape=(1, 27, 36), dtype="float32"):
        return Found(name, ("n",), kinds, "x", "y", (1, 3, 8, 8), shape, dtype)

    assert [note for note in notes_of(found(Name(operator, arguments), **facts)) if text in note]
    assert notes_of(found(Name("unfold", {"kernel_size": (3, 3)}))) == []


def test_notes_name_the_systems():
    col2im = [node("Col2Im", "x i k", "y", dilations=[2, 2, 2])]
    constants = {"i": ints(4, 4, 4), "k": ints(2, 2, 2)}
    case = Case("3-D", (1, 8, 8), col2im, "", constants=constants, dtype=TensorProto.DOUBLE)
    notes = inspect(case.model(), timed=False).findings[0].notes
    assert [note.split(" ")[0] for note in notes] == ["ONNX", "OpenVINO's", "ONNX", "OpenVINO's"]


# Errors of bad models.


def refused(model, text, **options):
    with pytest.raises(ModelError) as caught:
        inspect(model, timed=False, **options)
    assert text in str(caught.value)


def test_other_files_are_refused(tmp_path):
    refused(tmp_path / "none.onnx", "none.onnx: cannot be read: No such file or directory")
    refused(tmp_path / "model.pt", "model.pt: must be an .onnx, .xml, .pt2 or .tflite file, the folder of a SavedModel")
    with pytest.raises(ModelError, match="model: must be an .onnx, .* or a torch ExportedProgram; given dict"):
        inspect({})
    (tmp_path / "text.onnx").write_text("this is no model")
    refused(tmp_path / "text.onnx", "text.onnx: is no ONNX model")
    (tmp_path / "empty.onnx").write_bytes(b"")
    refused(tmp_path / "empty.onnx", "empty.onnx: is no ONNX model")


def test_cycles_and_missing_inputs_are_named():
    nodes = [node("Relu", "b", "a"), node("Relu", "a", "b"), node("Relu", "b", "y")]
    refused(Case("cycle", (1,), nodes, "").model(), "node Relu #0 (Relu): its input 'b' is made by no node before it")


def test_operator_whose_name_is_no_text_is_refused(tmp_path):
    data = Case("t", (2, 3), [node("Transpose", "x", "y")], "").model().SerializeToString()
    (tmp_path / "m.onnx").write_bytes(data.replace(b"Transpose", b"Transpo\xf3e"))
    for read in (inspect, convert, lambda model: portable(model, "onnx:13")):
        with pytest.raises(ModelError, match=re.escape(r"the name of its operator, b'Transpo\xf3e', is no text")):
            read(tmp_path / "m.onnx")


@pytest.mark.parametrize(
    "entries, text",
    [
        ({"location": "/etc/passwd"}, "must lie in the model's own folder"),
        ({"location": "../w.bin"}, "must lie in the model's own folder"),
        ({"location": "link.bin"}, "is a link out of the model's folder"),
        ({"location": "gone.bin"}, "is not there"),
        ({"location": "w.bin", "offset": "4", "length": "64"}, "lies at 4 to 68 of 'w.bin', which has 64 bytes"),
        ({"location": "w.bin", "offset": "-1"}, "lies at -1"),
        ({"location": "w.bin", "offset": "many"}, "is no number"),
        ({"location": ""}, "must lie in the model's own folder"),
    ],
)
def test_data_outside_its_place_is_refused(tmp_path, entries, text):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "w.bin").write_bytes(bytes(64))
    (tmp_path / "out.bin").write_bytes(bytes(64))
    os.symlink(tmp_path / "out.bin", folder / "link.bin")
    model = Case("external", (4, 4), [node("Add", "x w", "y")], "", constants={"w": np.zeros((4, 4), np.float32)}).model()
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    refused(folder / "m.onnx", text)


def test_large_shapes_are_neither_made_nor_read():
    case = Case("huge", (1 << 20, 1 << 20), [node("Transpose", "x", "t", perm=[1, 0]), node("Reshape", "t s", "y")], "")
    case.constants["s"] = ints(1 << 30, 1 << 10)
    assert inspect(case.model()).findings == ()
    case = Case(
        "made",
        (2, 2),
        [node("ConstantOfShape", "s", "c"), node("Expand", "x s", "y")],
        "",
        constants={"s": ints(1 << 20, 1 << 20)},
    )
    assert inspect(case.model()).findings == ()
    model = Case("w", (2,), [node("Add", "x w", "y")], "", constants={"w": np.zeros(2, np.float32)}).model()
    model.graph.initializer[0].dims[:] = [1 << 40, 1 << 40]
    refused(model, "initializer 'w': its shape [1099511627776, 1099511627776] cannot be")
    model.graph.initializer[0].dims[:] = [3]
    refused(model, "initializer 'w': its data does not fit its shape [3]")


@pytest.mark.parametrize("seed", range(60))
def test_damaged_models_are_read_or_refused(seed, tmp_path):
    draw = random.Random(seed)
    data = bytearray(draw.choice(CASES).model().SerializeToString())
    for _ in range(draw.randint(1, 8)):
        data[draw.randrange(len(data))] = draw.randrange(256)
    if draw.random() < 0.3:
        del data[draw.randrange(len(data)) :]
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    for read in (lambda model: inspect(model, timed=False), lambda model: portable(model, "tensorrt"), convert):
        try:
            read(path)
        except ModelError as error:
            assert str(error)


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "patchfold.models", *arguments], capture_output=True, text=True)


def test_command(tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(Case("d", ("n", 12, 4, 5), [node("DepthToSpace", "x", "y", blocksize=2)], "").model(), path)
    done = run("inspect", str(path), "--size", "n=2", "--no-time")
    assert done.returncode == 0 and "depth_to_space(block=2, mode='blocks_first')" in done.stdout
    report = json.loads(run("inspect", str(path), "--json", "--no-time").stdout)
    assert report["findings"][0]["source_shape"] == [1, 12, 4, 5]
    wrong = run("inspect", str(tmp_path / "none.onnx"))
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert wrong.stderr == f"patchfold.models: {tmp_path}/none.onnx: cannot be read: No such file or directory\n"
    assert "--size n: write NAME=N with a positive N" in run("inspect", str(path), "--size", "n").stderr


def test_what_is_computed_from_data_has_no_name():
    weights = [node("Relu", "w", "v"), node("Conv", "x v", "y")]
    model = Case("weights", (1, 1, 5, 5), weights, "", constants={"w": hot(1, 2, 2)}).model()
    assert inspect(model, timed=False).findings == ()
    rows = np.stack(np.meshgrid(np.arange(4), np.arange(4), indexing="ij"), -1)
    scatter = [node("ScatterND", "zeros rows x", "y", reduction="add")]
    model = Case("sum", (4, 4), scatter, "", constants={"zeros": np.zeros((5, 5), np.float32), "rows": rows}).model()
    assert inspect(model, timed=False).findings == ()

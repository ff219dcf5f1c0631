# SPDX-License-Identifier: Apache-2.0
"""Tests that inspect names the operators that patchfold's libraries add to other systems. Tests models with many axes, which
portable() writes with fewer, and models with heads of attention."""

import itertools
import random
import time

import numpy as np
import patchfold
import pytest
import runtime_models
import test_models_openvino
from model_zoo import Case, gathered, ints, moved, node
from test_models_openvino import Writer, parameter
from test_models_portable import run, swin

pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from patchfold import _core  # noqa: E402
from patchfold._operators import linear  # noqa: E402
from patchfold.models import NotPortable, inspect, portable  # noqa: E402
from patchfold.models._calls import name_of_call  # noqa: E402
from patchfold.models._expand import _runs, _step  # noqa: E402

CASES = runtime_models.cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.operator}-{case.x.ndim}")
def test_operators_of_the_domain_are_named(case):
    (finding,) = inspect(case.model(), timed=False).findings
    assert finding.kinds == (f"patchfold.{case.operator}",)
    assert (finding.source_shape, finding.shape) == (case.x.shape, case.expected.shape)
    made = patchfold.run(finding.operator, case.x, **finding.arguments)
    assert runtime_models.same_bits(made, case.expected)


def test_own_operators_between_others_are_named():
    """Checks shapes after patchfold's own operators, which ONNX's inference does not know."""
    nodes = [
        helper.make_node("Im2Col", ["x"], ["c"], domain="patchfold", block_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Col2Im", ["r", "i", "k"], ["y"], domain="patchfold"),
    ]
    constants = [runtime_models.numpy_helper.from_array(np.array(v), n) for n, v in (("i", [4, 4]), ("k", [2, 2]))]
    value = helper.make_tensor_value_info
    x, y = (value(name, TensorProto.FLOAT, shape) for name, shape in (("x", ("n", 3, 6, 6)), ("y", None)))
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("patchfold", 1)]
    model = helper.make_model(helper.make_graph(nodes, "g", [x], [y], constants), opset_imports=opsets)
    first, second = inspect(model).findings
    assert (first.shape, second.operator) == ((1, 12, 9), "fold")
    assert first.pattern == "1 c (h kh) (w kw) -> 1 (c kh kw) (h w)" and first.seconds is not None
    with pytest.raises(NotPortable) as caught:
        portable(model, "coreml")
    rule = "is an operator of patchfold's library, which coreml does not have"
    assert [stay.partition(": ")[2] for stay in caught.value.stays] == [rule, rule]


@pytest.mark.parametrize(
    ("kind", "shape", "settings", "data", "operator", "arguments"),
    [
        ("Im2Col", (1, 2, 5, 6), [], {"kernel_size": "2, 3", "strides": "1, 2", "dilations": "", "pads_begin": "1, 0",
         "pads_end": "0, 0"}, "unfold", {"kernel_size": (2, 3), "stride": (1, 2), "padding": [(1, 0), (0, 0)]}),
        ("Col2Im", (1, 12, 12), [ints(3, 4), ints(2, 2)], {"strides": "", "pads_begin": "1, 0", "pads_end": "0, 1"}, "fold",
         {"output_size": (3, 4), "kernel_size": (2, 2), "padding": [(1, 0), (0, 1)]}),
        ("PixelShuffle", (1, 12, 2, 3), [], {"upscale_factor": 2}, "depth_to_space",
         {"block": (2, 2), "mode": "depth_first"}),
        ("PixelUnshuffle", (1, 3, 4, 6), [], {"downscale_factor": 2}, "space_to_depth",
         {"block": (2, 2), "mode": "depth_first"}),
        ("SpaceToDepthNHWC", (1, 4, 6, 3), [], {"block_size": 2, "data_format": "NHWC"}, "space_to_depth",
         {"block": (2, 2), "mode": "blocks_first", "layout": "channels_last"}),
        ("SpaceToBatchND", (1, 4, 6, 3), [ints(2, 3), np.array([[1, 1], [0, 0]])], {}, "space_to_batch",
         {"block": (2, 3), "padding": [(1, 1), (0, 0)], "layout": "channels_last"}),
        ("ExtractImagePatchesNHWC", (1, 9, 9, 3), [], {"ksizes": "1, 3, 2, 1", "strides": "1, 4, 4, 1",
         "rates": "1, 1, 2, 1", "padding": "SAME"}, "unfold", {"kernel_size": (3, 2), "stride": (4, 4), "dilation": (1, 2),
         "padding": [(1, 1), (1, 1)], "layout": "channels_last", "order": "kernel", "positions": "grid"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_operators_of_the_extension_are_named(tmp_path, kind, shape, settings, data, operator, arguments):
    test_models_openvino.test_operators_themselves_are_named(
        tmp_path, f"Patchfold{kind}", shape, settings, data, operator, arguments
    )
    writer = Writer()
    y = writer.layer(f"Patchfold{kind}", [parameter(writer, *shape), *map(writer.constant, settings)], (1,), **data)
    stays = inspect(writer.save(tmp_path, y), timed=False, target="tensorrt").stays
    assert len(stays) == 1 and stays[0].endswith("which tensorrt does not have")


def calls():
    """Yields (call, shape) for the example of each operator: a call for this shape, and a call for an open shape."""
    for spec in patchfold.operators():
        native = _core.Operator(spec.name)
        _, extents, *given = spec.example.split(" ")
        if extents != "-" and spec.name != "copy":
            text = " ".join([native.name, "f32", extents, *given])
            yield text, tuple(map(int, extents.split("x")))
            yield text.replace(f" {extents} ", " ? "), tuple(map(int, extents.split("x")))


@pytest.mark.parametrize(("call", "shape"), list(calls()), ids=lambda value: value if isinstance(value, str) else "")
def test_calls_are_named(call, shape):
    name = name_of_call(call, shape)
    closed = linear.closed(call, shape)
    assert name.operator == call.split(" ")[0] or not name.operator.startswith("tensorflow.")
    x = np.random.default_rng(0).integers(0, 9, shape).astype(np.float32)
    np.testing.assert_array_equal(patchfold.run(name.operator, x, **name.arguments), linear.result(closed, x))


@pytest.mark.parametrize(
    "call",
    [
        "unfold f32 2x3x5x6 kernel_size=2,3 stride=2,1 padding=1:0,2:1 value=7 layout=channels_last order=kernel",
        "unfold f32 2x3x8x6 kernel_size=2 padding=same positions=grid allow_empty=0",
        "fold f32 2x18x9 output_size=6,5 kernel_size=2,3 stride=2,1 dilation=1,2 padding=1:0,0:2",
        "space_to_batch f32 2x3x5x7 block=2,3 padding=1:0,0:2",
        "batch_to_space f32 12x3x3x2 block=2,3 crops=1:0,0:2",
        "space_to_depth f32 2x3x4x6 block=2,3 mode=depth_first",
        "tensorflow.ExtractImagePatches f32 2x7x8x3 ksizes=1,2,3,1 strides=1,3,2,1 rates=1,2,1,1 padding=SAME",
    ],
)
def test_adjoints_are_named_as_what_they_do(call):
    shape = linear.shapes(call)[1]
    name = name_of_call(f"adjoint {call}", shape)
    x = np.random.default_rng(0).integers(0, 9, shape).astype(np.float32)
    expected = linear.result(f"adjoint {linear.tangent_of(call)}", x)
    np.testing.assert_array_equal(patchfold.run(name.operator, x, **name.arguments), expected)


def test_other_calls_have_no_name():
    assert name_of_call("unfurl f32 2x3 kernel_size=2", None) is None
    name = name_of_call("adjoint unfold f32 ? kernel_size=2 stride=2", None)
    assert name.arguments == {"output_size": "?", "kernel_size": (2, 2), "stride": (2, 2)}
    assert name_of_call("adjoint reorder f32 2x18x5 kernel_size=2,3", (2, 18, 5)).operator == "adjoint of reorder"


@pytest.mark.parametrize("seed", range(40))
def test_a_step_leaves_as_few_runs_as_any_transposition(seed):
    draw = random.Random(seed)
    at, most = list(range(draw.randint(2, 8))), draw.randint(2, 5)
    target = draw.sample(at, len(at))
    units = _runs(at, target)

    def steps():
        for cuts in itertools.combinations(range(1, len(units)), most - 1):
            groups = [sum(units[a:b], []) for a, b in itertools.pairwise((0, *cuts, len(units)))]
            yield from ((groups, list(order)) for order in itertools.permutations(range(most)))

    def left(step):
        return len(_runs([axis for number in step[1] for axis in step[0][number]], target))

    groups, order = _step(at, target, most)
    assert sum(groups, []) == at and len(groups) <= most
    assert left((groups, order)) == 1 if len(units) <= most else (groups, order) == min(steps(), key=left)


def rows(shape, kernel, stride, pad):
    """Returns the nodes of torch's exporter for unfold(x, kernel, stride=.., padding=..).transpose(1, 2)."""
    made = gathered((2, *shape[1:]), kernel, stride, pad)
    made["nodes"][-1].output[0] = "c"
    made["constants"]["flat"][0] = -1
    nodes = [*made["nodes"], node("Transpose", "c", "y", perm=[0, 2, 1])]
    return Case("rows", shape, nodes, None, constants=made["constants"])


@pytest.mark.parametrize(
    ("channels", "extents", "kernel", "stride", "pad"),
    [(3, (8, 8), 3, 2, 1), (3, (8, 8), 3, 3, 0), (3, (8, 8), 2, 3, 1), (2, (9, 7), 4, 2, 0), (4, (4, 4), 3, 1, 1),
     (1, (16, 16), 3, 1, 0), (1, (16, 16), 4, 2, 1), (1, (20, 40), 4, 3, 0)],
)  # fmt: skip
def test_patches_as_rows_are_found(channels, extents, kernel, stride, pad):
    """Checks that inspect finds small patches at many positions. Large patches at few positions have the same elements."""
    case = rows((2, channels, *extents), kernel, stride, pad)
    (finding,) = inspect(case.model(), timed=False).findings
    expected = {"kernel_size": (kernel, kernel), "stride": (stride, stride), "padding": (pad, pad)}
    plain = {"stride": (1, 1), "padding": (0, 0)}
    assert (finding.operator, finding.exact) == ("unfold", False)
    assert finding.arguments == {key: value for key, value in expected.items() if value != plain.get(key)}


@pytest.mark.parametrize("batch", [2, "n"])
@pytest.mark.parametrize(("channels", "stride"), [(3, 1), (3, 2), (1, 1), (1, 2)])
def test_patches_as_rows_are_written_with_few_axes(batch, channels, stride):
    case = rows((batch, channels, 8, 10), 3, stride, 1)
    model = portable(case.model(), "coreml")
    assert len(model.graph.node) < 50
    for count in (2,) if batch == 2 else (1, 3):
        x = np.random.default_rng(count).random((count, channels, 8, 10), np.float32)
        results = [ReferenceEvaluator(each).run(None, {"x": x})[0] for each in (model, case.model())]
        np.testing.assert_array_equal(*results)


def test_windows_of_a_shifted_image_are_found():
    """Tests windows after torch.roll. The roll's two joined slices are no operator, but the windows are blocks of the roll's
    result."""
    (finding,) = inspect(swin(2).model(), timed=False).findings
    assert (finding.operator, finding.kinds, finding.source) == ("blocks", ("Reshape", "Transpose", "Reshape"), "r")
    assert finding.pattern == "b c (h1 h2) (w1 w2) -> (b h1 w1) c h2 w2"


def test_merged_blocks_of_tokens_are_found():
    """Tests the patch merging of a Swin transformer whose tokens lie on one axis: rows and columns are cut there."""
    model = Case("merging", (2, 96, 3), operator="", **moved((2, 4, 2, 6, 2, 3), (0, 1, 3, 4, 2, 5), (2, 24, 12))).model()
    (finding,) = inspect(model, timed=False).findings
    x = np.random.default_rng(0).random((2, 96, 3), np.float32)
    (y,) = ReferenceEvaluator(model).run(None, {"x": x})
    assert finding.operator == "blocks" and str(finding).startswith("Reshape #0 .. Reshape #2: blocks(")
    np.testing.assert_array_equal(patchfold.rearrange(x, finding.pattern, **finding.arguments), y)


@pytest.mark.parametrize("part", range(3))
def test_heads_in_a_part_of_an_axis_are_no_patches(part):
    """Tests qkv.reshape(N, L, 3, heads, size).permute(2, 0, 3, 1, 4).unbind(0), as transformers write it."""
    nodes = [
        node("Reshape", "x five", "h"), node("Transpose", "h", "t", perm=[2, 0, 3, 1, 4]),
        node("Slice", "t first after zero", "s"), node("Squeeze", "s zero", "y"),
    ]  # fmt: skip
    constants = {"five": ints(2, 16, 3, 4, 8), "first": ints(part), "after": ints(part + 1), "zero": ints(0)}
    case = Case("heads", (2, 16, 96), nodes, None, constants=constants)
    assert inspect(case.model(), timed=False).findings == ()


def test_names_of_new_nodes_are_new():
    """Writes a model with blocks and patches, and writes the result again: no two nodes may get the same name."""
    first = moved([1, 3, 6, 2, 8, 2], [0, 1, 3, 5, 2, 4], [1, 12, 6, 8])
    first["nodes"][-1].output[0] = "z"
    then = gathered((1, 12, 6, 8), 3, 1, 1)
    then["nodes"][0].input[0] = "a"
    first["nodes"].append(node("Relu", "z", "a"))
    shuffle = [node("Reshape", "y back", "i"), node("DepthToSpace", "i", "r", blocksize=2, mode="CRD")]
    then["constants"]["back"] = ints(1, 108, 6, 8)
    constants = first["constants"] | then["constants"]
    case = Case("both", (1, 3, 12, 16), first["nodes"] + then["nodes"] + shuffle, None, constants=constants)
    model = case.model()
    model.graph.output[0].name = "r"
    x = np.random.default_rng(0).random((1, 3, 12, 16), np.float32)
    once = portable(model, "coreml")
    np.testing.assert_array_equal(run(once, x), run(model, x))
    np.testing.assert_array_equal(run(portable(once, "basic"), x), run(model, x))


def test_many_axes_take_no_time():
    """Checks the time for moving 12 axes by steps of at most 8 axes. There are 13 million possible first steps."""
    case = Case("12 axes", (4096,), operator=None, **moved([2] * 12, list(range(11, -1, -1)), [4096]))
    begin = time.perf_counter()
    model = portable(case.model(), "tensorrt")
    assert time.perf_counter() - begin < 20
    x = np.arange(4096, dtype=np.float32)
    made, expected = (ReferenceEvaluator(each).run(None, {"x": x})[0] for each in (model, case.model()))
    np.testing.assert_array_equal(made, expected)

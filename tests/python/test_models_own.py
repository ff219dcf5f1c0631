# SPDX-License-Identifier: Apache-2.0
"""patchfold.models.inspect names the operators that patchfold's libraries add to other systems."""

import numpy as np
import patchfold
import pytest
import runtime_models
import test_models_openvino
from test_models_openvino import Writer, ints, parameter

pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402
from patchfold import _core  # noqa: E402
from patchfold._operators import linear  # noqa: E402
from patchfold.models import NotPortable, inspect, portable  # noqa: E402
from patchfold.models._calls import name_of_call  # noqa: E402

CASES = runtime_models.cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.operator}-{case.x.ndim}")
def test_operators_of_the_domain_are_named(case):
    (finding,) = inspect(case.model(), timed=False).findings
    assert finding.kinds == (f"patchfold.{case.operator}",)
    assert (finding.source_shape, finding.shape) == (case.x.shape, case.expected.shape)
    made = patchfold.run(finding.operator, case.x, **finding.arguments)
    assert runtime_models.same_bits(made, case.expected)


def test_own_operators_between_others_are_named():
    """Their shapes follow from their rules, since ONNX's inference does not know them."""
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
    """Yields the call of each operator's example, of its shape and of an open one."""
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

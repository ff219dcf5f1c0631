# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.models.halo on OpenVINO's IR: a converted model has the halos of the ONNX model."""

from fractions import Fraction

import numpy as np
import pytest
from model_zoo import Case

pytest.importorskip("onnx")
ov = pytest.importorskip("openvino")
from halo_cases import NODES, node, weights  # noqa: E402
from patchfold.models import ModelError, halo  # noqa: E402


def converted(case, folder):
    """Returns the path of the IR of a case's model."""
    import onnx

    onnx.save(case.model(), folder / "net.onnx")
    ov.save_model(ov.convert_model(folder / "net.onnx"), folder / "net.xml", compress_to_fp16=False)
    return folder / "net.xml"


# Operators that OpenVINO lacks, or computes otherwise than ONNX says.
LACKS = {"LpPool", "MaxPool dilated", "Pad wrap"}


@pytest.mark.parametrize("name", [name for name in NODES if name not in LACKS])
def test_ir_says_what_onnx_says(name, tmp_path):
    nodes, constants, numbers = NODES[name]
    case = Case(name, (1, 3, 40), nodes, None, constants=constants, opset=19)
    (each,) = [each for each in halo(converted(case, tmp_path)).halos if each.axis == 2 and each.input == "x"]
    assert (each.before, each.after, each.alignment, each.scale) == numbers, each
    assert each.output == "y" and (each.before is not None or each.unbounded_by)


MODES = [
    {"mode": mode, "coordinate_transformation_mode": transformation, **more}
    for mode, more in (
        ("nearest", {"nearest_mode": "floor"}), ("nearest", {"nearest_mode": "ceil"}), ("linear", {}), ("cubic", {})
    )
    for transformation in ("half_pixel", "asymmetric", "align_corners")
]  # fmt: skip


@pytest.mark.parametrize("settings", MODES, ids=lambda settings: "-".join(settings.values()))
@pytest.mark.parametrize("scale", [2, 0.5, 1.5])
def test_resize_says_what_onnx_says(settings, scale, tmp_path):
    case = Case("resize", (1, 1, 8, 24), [node("Resize", "x _ s", "y", **settings)], None,
                constants={"s": np.array([1, 1, 1, scale], np.float32)}, opset=13)  # fmt: skip
    want = {(each.axis, each.before, each.after, each.alignment, each.scale) for each in halo(case.model()).halos}
    found = halo(converted(case, tmp_path))
    assert {(each.axis, each.before, each.after, each.alignment, each.scale) for each in found.halos} == want
    assert bool(found.notes) == (settings["coordinate_transformation_mode"] == "align_corners")


@pytest.mark.parametrize(("rule", "numbers"), [("same_upper", (1, 1)), ("same_lower", (1, 0)), ("explicit", (1, 0))])
def test_transposed_convolutions_pad_as_openvino_does(rule, numbers, tmp_path):
    opset = ov.opset13
    x, w = opset.parameter((1, 1, 20), np.float32), opset.constant(np.ones((1, 1, 4), np.float32))
    shape = opset.constant(np.array([41]))
    net = ov.Model([opset.convolution_backprop_data(x, w, [2], shape, [0], [0], [1], rule)], [x])
    ov.save_model(net, tmp_path / "net.xml", compress_to_fp16=False)
    (each,) = halo(tmp_path / "net.xml").halos
    assert (each.before, each.after) == numbers, each
    run, seen = ov.compile_model(net, "CPU"), []
    for place in range(20):
        rows = np.flatnonzero(run([np.eye(20, dtype=np.float32)[place].reshape(1, 1, 20)])[0][0, 0])
        seen += [(row // 2 - place, place - row // 2) for row in rows]
    assert tuple(map(max, zip(*seen, strict=True))) == numbers


def test_unknown_layers_are_named(tmp_path):
    nodes = [node("Conv", "x w", "y", pads=[1, 1])]
    case = Case("unet", (1, 3, 40), nodes, None, constants={"w": weights(2, 3, 3)}, opset=19)
    path = converted(case, tmp_path)
    path.write_text(path.read_text().replace('type="Convolution"', 'type="Warp"'))
    (each,) = [each for each in halo(path).halos if each.axis == 2]
    assert each.before is None and "Warp): is not known here" in each.unbounded_by[0]
    with pytest.raises(ModelError, match="reshape the model"):
        halo(path, sizes={"x.2": 3})


def test_scale_and_alignment_of_a_chain(tmp_path):
    nodes = [
        node("MaxPool", "x", "a", kernel_shape=[2], strides=[2]),
        node("Conv", "a w", "b", pads=[1, 1]),
        node("ConvTranspose", "b u", "y", strides=[4]),
    ]
    case = Case("chain", (1, 3, 40), nodes, None, constants={"w": weights(3, 3, 3), "u": weights(3, 2, 4)}, opset=19)
    (each,) = [each for each in halo(converted(case, tmp_path)).halos if each.axis == 2]
    assert (each.before, each.after, each.alignment, each.scale) == (3, 3, 2, Fraction(2))

# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.models.inspect on chains behind nodes that select elements, copy them, or shuffle them."""

import pytest

pytest.importorskip("onnx")

import numpy as np
from model_zoo import Case, ints, moved, node
from patchfold.models import inspect

FRONTS = {
    "channels of a Slice": ((1, 4, 8, 8), node("Slice", "x b e a", "s"), {"b": ints(1), "e": ints(4), "a": ints(1)}),
    "a picture of a Gather": ((5, 1, 3, 8, 8), node("Gather", "x i", "s", axis=0), {"i": np.array(2)}),
    "channels in another order": ((1, 3, 8, 8), node("Gather", "x i", "s", axis=1), {"i": ints(2, 1, 0)}),
    "rows backwards": (
        (1, 3, 8, 8),
        node("Slice", "x b e a t", "s"),
        {"b": ints(7), "e": ints(-99), "a": ints(2), "t": ints(-1)},
    ),
    "a part of a Split": ((1, 6, 8, 8), node("Split", "x p", "o s", axis=1), {"p": ints(3, 3)}),
    "copies of a channel": ((1, 1, 8, 8), node("Tile", "x r", "s"), {"r": ints(1, 3, 1, 1)}),
    "a channel that is expanded": ((1, 1, 8, 8), node("Expand", "x r", "s"), {"r": ints(1, 3, 8, 8)}),
    "channels that are padded": ((1, 2, 8, 8), node("Pad", "x r", "s"), {"r": ints(0, 1, 0, 0, 0, 0, 0, 0)}),
    "a Cast": ((1, 3, 8, 8), node("Cast", "x", "s", to=10), {}),
    "a Relu": ((1, 3, 8, 8), node("Relu", "x", "s"), {}),
}


@pytest.mark.parametrize("name", FRONTS)
def test_a_chain_is_found_behind_any_node(name):
    shape, front, constants = FRONTS[name]
    chain = moved((1, 3, 4, 2, 4, 2), (0, 1, 3, 5, 2, 4), (1, 12, 4, 4))
    chain["nodes"][0].input[0] = "s"
    case = Case(name, shape, [front, *chain["nodes"]], "", constants=constants | chain["constants"])
    (finding,) = inspect(case.model(), timed=False).findings
    assert (finding.operator, finding.arguments) == ("space_to_depth", {"block": (2, 2), "mode": "depth_first"})
    assert (finding.source, finding.source_shape, finding.exact) == ("s", (1, 3, 8, 8), True)


def test_a_picture_that_is_cropped_first_is_one_operator():
    chain = moved((1, 3, 4, 2, 4, 2), (0, 1, 3, 5, 2, 4), (1, 12, 4, 4))
    chain["nodes"][0].input[0] = "s"
    crop = node("Slice", "x b e a", "s")
    constants = {"b": ints(1), "e": ints(9), "a": ints(2)} | chain["constants"]
    (finding,) = inspect(Case("crop", (1, 3, 10, 8), [crop, *chain["nodes"]], "", constants=constants).model()).findings
    given = {"kernel_size": (2, 2), "stride": (2, 2), "padding": (-1, 0), "positions": "grid"}
    assert (finding.operator, finding.arguments, finding.source) == ("unfold", given, "x")


def test_moves_that_only_select_have_no_name():
    heads = [node("Reshape", "k h", "r"), node("Transpose", "r", "y", perm=[0, 2, 1, 3])]
    nodes = [node("Split", "x p", "q k v", axis=2), *heads]
    constants = {"p": ints(8, 8, 8), "h": ints(1, 6, 2, 4)}  # the heads of an attention
    assert inspect(Case("heads", (1, 6, 24), nodes, "", constants=constants).model(), timed=False).findings == ()

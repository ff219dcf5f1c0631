# SPDX-License-Identifier: Apache-2.0
"""Models with many axes: transpositions, as portable writes them for targets that have fewer, and heads of attention."""

import itertools
import random
import time

import numpy as np
import pytest
from model_zoo import Case, gathered, ints, moved, node
from test_models_portable import run, swin

pytest.importorskip("onnx")
from onnx.reference import ReferenceEvaluator  # noqa: E402
from patchfold.models import inspect, portable  # noqa: E402
from patchfold.models._expand import _runs, _step  # noqa: E402


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
    """unfold(x, kernel, stride=.., padding=..).transpose(1, 2), where torch's exporter gathers along each axis."""
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
    """Positions and taps exchanged give the same elements; patches are small and lie on many positions."""
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
    """torch.roll joins two slices. No operator does that, but the windows that follow are blocks of the shifted image."""
    (finding,) = inspect(swin(2).model(), timed=False).findings
    assert (finding.operator, finding.kinds, finding.source) == ("blocks", ("Reshape", "Transpose", "Reshape"), "r")
    assert finding.pattern == "b c (h1 h2) (w1 w2) -> (b h1 w1) c h2 w2"


@pytest.mark.parametrize("part", range(3))
def test_heads_in_a_part_of_an_axis_are_no_patches(part):
    """qkv.reshape(N, L, 3, heads, size).permute(2, 0, 3, 1, 4).unbind(0), as in transformers."""
    nodes = [
        node("Reshape", "x five", "h"), node("Transpose", "h", "t", perm=[2, 0, 3, 1, 4]),
        node("Slice", "t first after zero", "s"), node("Squeeze", "s zero", "y"),
    ]  # fmt: skip
    constants = {"five": ints(2, 16, 3, 4, 8), "first": ints(part), "after": ints(part + 1), "zero": ints(0)}
    case = Case("heads", (2, 16, 96), nodes, None, constants=constants)
    assert inspect(case.model(), timed=False).findings == ()


def test_names_of_new_nodes_are_new():
    """Blocks and patches are written one after the other, and a model may be written twice."""
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
    """A target of 8 axes has 13 million ways to move 12 axes once."""
    case = Case("12 axes", (4096,), operator=None, **moved([2] * 12, list(range(11, -1, -1)), [4096]))
    begin = time.perf_counter()
    model = portable(case.model(), "tensorrt")
    assert time.perf_counter() - begin < 20
    x = np.arange(4096, dtype=np.float32)
    made, expected = (ReferenceEvaluator(each).run(None, {"x": x})[0] for each in (model, case.model()))
    np.testing.assert_array_equal(made, expected)

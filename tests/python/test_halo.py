# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.models.halo: what the graph says equals what changes if inputs change."""

import random
from fractions import Fraction

import numpy as np
import pytest
from model_zoo import Case, ints

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
import patchfold  # noqa: E402
from halo_cases import NODES, node, weights  # noqa: E402
from patchfold.models import halo  # noqa: E402


def session(model):
    """Returns a function of x that returns the model's first result."""
    model.ir_version = 10
    options = runtime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    held = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda x: held.run(None, {"x": x})[0]


CHANGES = (lambda part: part + 3, lambda part: part * 1000 - 500, lambda part: part * np.float32(np.nan))


def seen(run, shape, axis, along, nan=True):
    """Returns a matrix: whether element i of an axis of the result changes if element j of an axis of the input does.

    With `nan`, elements are also changed to NaN, which finds elements that are read with a weight of 0.
    """
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    want = run(x)
    columns = []
    for j in range(shape[axis]):
        changed = np.zeros(want.shape, bool)
        for change in CHANGES[: 2 + nan]:
            y = x.copy()
            at = (*[slice(None)] * axis, j)
            y[at] = change(y[at])
            given = run(y)
            changed |= ~((given == want) | (np.isnan(given) & np.isnan(want)))
        columns.append(changed.any(axis=tuple(other for other in range(want.ndim) if other != along)))
    return np.array(columns).T


def measured(matrix, scale):
    """Returns how far elements of the result look before and after their places."""
    rows = np.flatnonzero(matrix.any(axis=1))
    place = np.array([int(i / scale) for i in rows])
    first, last = matrix[rows].argmax(axis=1), matrix.shape[1] - 1 - matrix[rows, ::-1].argmax(axis=1)
    return int((place - first).max()), int((last - place).max())


def check(case, expected=None):
    """Checks every halo of a model against the elements that change. `expected` has the bounded halos by axis."""
    model = case.model()
    run = session(model)
    found = {each.axis: each for each in halo(model).halos}
    for axis, extent in enumerate(case.shape):
        if extent == 1:
            assert axis not in found
            continue
        each = found[axis]
        if each.before is None:
            assert each.unbounded_by and None in (expected or {None: 0}).get(axis, (None,))
            continue
        matrix = seen(run, case.shape, axis, each.output_axis)
        assert measured(matrix, each.scale) == (each.before, each.after), (case.name, each)
    for axis, numbers in (expected or {}).items():
        each = found[axis]
        assert (each.before, each.after, each.alignment, each.scale) == numbers, each
    return found


@pytest.mark.parametrize("name", NODES)
def test_graph_says_what_changes(name):
    nodes, constants, numbers = NODES[name]
    check(Case(name, (1, 3, 40), nodes, None, constants=constants, opset=19), {2: numbers})


MODES = [
    {"mode": mode, "coordinate_transformation_mode": transformation, **more}
    for mode, extra in (
        ("nearest", [{"nearest_mode": each} for each in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")]),
        ("linear", [{}]),
        ("cubic", [{}]),
    )
    for more in extra
    for transformation in ("half_pixel", "pytorch_half_pixel", "half_pixel_symmetric", "align_corners", "asymmetric")
] + [{"mode": mode, "antialias": 1} for mode in ("linear", "cubic")]


@pytest.mark.parametrize("settings", MODES, ids=lambda settings: "-".join(map(str, settings.values())))
def test_resize_says_what_changes(settings):
    """Checks that the halo is at least what the runtime reads, and not much more. At most scales that float32 represents
    exactly, both must be equal."""
    for scale, extent in ((2, 24), (0.5, 24), (1.5, 24), (0.75, 32), (4, 16), (0.25, 48), (1 / 3, 48), (0.7, 48)):
        case = Case("resize", (1, 1, 4, extent), [node("Resize", "x _ s", "y", **settings)], None,
                    constants={"s": np.array([1, 1, 1, scale], np.float32)}, opset=19)  # fmt: skip
        each = {each.axis: each for each in halo(case.model()).halos}[3]
        length = int(extent * scale)
        corners = settings.get("coordinate_transformation_mode") == "align_corners"
        assert corners or each.scale == Fraction(scale).limit_denominator(100)
        matrix = seen(session(case.model()), case.shape, 3, 3, nan=False)
        before, after = measured(matrix, each.scale)
        exact = float(Fraction(scale).limit_denominator(100)).hex() == float(np.float32(scale)).hex() and not corners
        if exact and scale not in (1.5, 0.75):
            assert (before, after) == (each.before, each.after), (scale, each)
        assert (
            before <= each.before <= before + 1 + extent // length and after <= each.after <= after + 1 + extent // length
        ), (scale, each)


@pytest.mark.parametrize("scale", [3 / 4, 2 / 3, 1 / 2])
def test_the_first_resize_says_what_changes(scale):
    case = Case("resize", (1, 1, 48), [node("Resize", "x s", "y")], None,
                constants={"s": np.array([1, 1, scale], np.float32)}, opset=10)  # fmt: skip
    (each,) = halo(case.model()).halos
    before, after = measured(seen(session(case.model()), case.shape, 2, 2), each.scale)
    assert before <= each.before <= before + 1 and after <= each.after <= after + 1, each


class Drawn:
    """A random model of an image of one row whose windows lie along the last axis."""

    def __init__(self, seed):
        self.draw, self.nodes, self.constants, self.count = random.Random(seed), [], {}, 0
        self.tensors = {"x": (2, 96)}  # channels and extent of each tensor
        at = "x"
        for _ in range(self.draw.randint(2, 5)):
            at = self.draw.choice([self.window, self.window, self.pool, self.up, self.blocks, self.skip, self.tokens])(at)
        self.add("Identity", [at], self.tensors[at], name="y")
        self.case = Case(str(seed), (1, 2, 1, 96), self.nodes, None, constants=self.constants, opset=19)

    def add(self, kind, inputs, size, name="", **attributes):
        self.count += 1
        name = name or f"t{self.count}"
        self.nodes.append(node(kind, " ".join(inputs), name, **attributes))
        self.tensors[name] = size
        return name

    def constant(self, values):
        self.constants[f"c{len(self.constants)}"] = values
        return f"c{len(self.constants) - 1}"

    def window(self, at):
        channels, extent = self.tensors[at]
        kernel, stride, dilation = self.draw.randint(1, 4), self.draw.choice([1, 1, 2, 3]), self.draw.choice([1, 1, 2])
        pads = [self.draw.randint(0, 3), self.draw.randint(0, 3)]
        length = (extent + sum(pads) - (kernel - 1) * dilation - 1) // stride + 1
        groups = self.draw.choice([1, channels])
        if length < 4:
            return at
        w = self.constant(weights(2 * channels if groups > 1 else 2, channels // groups, 1, kernel) + np.float32(0.1))
        size = (2 * channels if groups > 1 else 2, length)
        return self.add("Conv", [at, w], size, strides=[1, stride], dilations=[1, dilation], group=groups,
                        pads=[0, pads[0], 0, pads[1]])  # fmt: skip

    def pool(self, at):
        channels, extent = self.tensors[at]
        kernel, stride = self.draw.randint(1, 3), self.draw.choice([1, 2])
        if extent < 8:
            return at
        kind = self.draw.choice(["AveragePool", "MaxPool"])
        return self.add(
            kind, [at], (channels, (extent - kernel) // stride + 1), kernel_shape=[1, kernel], strides=[1, stride]
        )

    def up(self, at):
        channels, extent = self.tensors[at]
        if extent > 100:
            return at
        if self.draw.random() < 0.5:
            scales = self.constant(np.array([1, 1, 1, 2], np.float32))
            settings = {"mode": self.draw.choice(["nearest", "linear"]), "coordinate_transformation_mode": "half_pixel"}
            return self.add("Resize", [at, "_", scales], (channels, 2 * extent), **settings)
        kernel, stride = self.draw.randint(1, 4), self.draw.choice([2, 3])
        w = self.constant(weights(channels, 2, 1, kernel) + np.float32(0.1))
        length = (extent - 1) * stride + kernel
        return self.add("ConvTranspose", [at, w], (2, length), strides=[1, stride])

    def blocks(self, at):
        """Moves blocks of columns to channels, or back."""
        channels, extent = self.tensors[at]
        block = self.draw.choice([2, 3])
        if extent % block == 0 and channels < 8 and self.draw.random() < 0.6:
            first, order, last = [1, channels, -1, block], [0, 1, 3, 2], (channels * block, extent // block)
        elif channels % block == 0 and extent < 100:
            first, order, last = [1, channels // block, block, -1], [0, 1, 3, 2], (channels // block, extent * block)
        else:
            return at
        a = self.add("Reshape", [at, self.constant(ints(*first))], None)
        if self.draw.random() < 0.5:
            a = self.add("Relu", [a], None)
        b = self.add("Transpose", [a], None, perm=order)
        return self.add("Reshape", [b, self.constant(ints(1, last[0], 1, -1))], last)

    def skip(self, at):
        """Joins a tensor with an earlier one of its extent."""
        channels, extent = self.tensors[at]
        earlier = [name for name, size in self.tensors.items() if size is not None and size[1] == extent]
        other = self.draw.choice(earlier)
        if self.tensors[other] == (channels, extent) and self.draw.random() < 0.5:
            return self.add("Add", [at, other], (channels, extent))
        return self.add("Concat", [at, other], (channels + self.tensors[other][0], extent), axis=1)

    def tokens(self, at):
        """Normalises channels, which lie on the last axis for this."""
        channels, extent = self.tensors[at]
        a = self.add("Transpose", [at], None, perm=[0, 2, 3, 1])
        b = self.add("LayerNormalization", [a, self.constant(np.ones(channels, np.float32))], None)
        return self.add("Transpose", [b], (channels, extent), perm=[0, 3, 1, 2])


# The seeds of models that split channels, which hold blocks already, into other blocks. Their bounds are wider than the
# truth.
WIDER = {11}


@pytest.mark.parametrize("seed", range(120))
def test_random_graphs_say_what_changes(seed):
    case = Drawn(seed).case
    each = {each.axis: each for each in halo(case.model()).halos}[3]
    run = session(case.model())
    if each.before is None:
        assert any(reason in each.unbounded_by[0] for reason in ("different scales", "runs", "lie along")), each
        return
    is_linear = any(each.op_type == "Resize" and b"linear" in [a.s for a in each.attribute] for each in case.nodes)
    matrix = seen(run, case.shape, 3, each.output_axis, nan=not is_linear)
    before, after = measured(matrix, each.scale)
    assert before <= each.before and after <= each.after, each
    if each.before + each.after < 24 and seed not in WIDER:
        assert (before, after) == (each.before, each.after), each


def test_overlap_and_alignment_make_tiles_exact():
    """Checks that tiles with the halo's overlap give the result for the whole picture."""
    tried = 0
    for seed in range(120):
        case = Drawn(seed).case
        each = {each.axis: each for each in halo(case.model()).halos}[3]
        tile = None if each.before is None else each.alignment * (2 + (each.overlap + 8) // each.alignment)
        if tile is None or tile > 60 or each.before < 0 or each.after < 0:
            continue
        x = np.random.default_rng(seed).standard_normal((1, 2, 1, tile * 4)).astype(np.float32)
        sized = {}

        def run(part, case=case, sized=sized):
            case.shape = part.shape
            if part.shape not in sized:
                sized[part.shape] = session(case.model())
            return sized[part.shape](part)

        try:
            whole = run(x)
        except runtime.capi.onnxruntime_pybind11_state.Fail:
            continue  # blocks do not divide this extent
        if whole.shape[3] != x.shape[3] * each.scale or run(x[..., :tile]).shape[3] != tile * each.scale:
            continue  # a result of another extent has no place in a merge without offset
        settings = {"align": (1, each.alignment), "scale": (1, each.scale), "reduce": "center", "progress": False}
        y = patchfold.apply_tiled(run, x, (1, tile), overlap=(0, each.overlap), **settings)
        np.testing.assert_allclose(y, whole, rtol=1e-4, atol=1e-5, err_msg=str(each))
        tried += 1
    assert tried > 10

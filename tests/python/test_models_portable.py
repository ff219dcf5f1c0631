# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.models.portable: the new model has other nodes and equal results."""

import pydoc
import random
import subprocess
import sys

import numpy as np
import patchfold.onnxruntime
import patchfold.tensorflow
import pytest
from model_zoo import CASES, Case, branching, ints, moved, node

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from patchfold.models import ModelError, NotPortable, inspect, portable  # noqa: E402
from patchfold.models._targets import TARGETS  # noqa: E402

FAMILY = {"Col2Im", "DepthToSpace", "SpaceToDepth"}
BASIC = {"Reshape", "Transpose", "Pad", "Slice", "Split", "Add", "Squeeze", "Unsqueeze"}


def kinds(model):
    return {entry.op_type for entry in model.graph.node}


def run(model, x):
    made = [name for entry in model.graph.node for name in entry.output]
    assert len({*made, *(tensor.name for tensor in model.graph.initializer)}) == len(made) + len(model.graph.initializer)
    return ReferenceEvaluator(model).run(None, {"x": x})[0]


def bits(x):
    """Returns the bits, with one pattern for all NaN, since it is undefined which NaN a sum of several NaN gives."""
    return np.where(np.isnan(x), np.nan, x).astype(np.float32).view(np.uint32)


def col2im(draw):
    """Returns a case with a random Col2Im, whose columns hold -0, Inf and NaN."""
    rank = draw.choice([1, 2, 2, 3])
    kernel = [draw.randint(1, 3) for _ in range(rank)]
    stride = [k if draw.random() < 0.4 else draw.randint(1, 4) for k in kernel]
    dilation = [draw.randint(1, 2) if draw.random() < 0.5 else 1 for _ in kernel]
    pads = [draw.randint(0, 1) for _ in range(2 * rank)]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    extents = [max(r - pads[a] - pads[rank + a], 1) + draw.randint(0, 4) for a, r in enumerate(reach)]
    grid = [(e + pads[a] + pads[rank + a] - reach[a]) // stride[a] + 1 for a, e in enumerate(extents)]
    shape = (draw.randint(1, 2), draw.randint(1, 2) * int(np.prod(kernel)), int(np.prod(grid)))
    nodes = [node("Col2Im", "x i k", "y", strides=stride, dilations=dilation, pads=pads)]
    return Case("drawn", shape, nodes, None, constants={"i": ints(*extents), "k": ints(*kernel)})


@pytest.mark.parametrize("seed", range(60))
def test_col2im_is_the_same_bit_for_bit(seed):
    case = col2im(random.Random(seed))
    x = np.random.default_rng(seed).standard_normal(case.shape).astype(np.float32)
    x.reshape(-1)[::3] = -0.0
    x.reshape(-1)[1::7], x.reshape(-1)[2::11] = np.inf, np.nan
    model = portable(case.model(), "tensorrt")
    assert kinds(model) <= BASIC
    np.testing.assert_array_equal(bits(run(model, x)), bits(run(case.model(), x)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_model_computes_the_same(case):
    x = np.random.default_rng(1).random(case.shape, np.float32)
    model = portable(case.model(), "basic")
    assert not kinds(model) & FAMILY
    np.testing.assert_array_equal(bits(run(model, x)), bits(run(case.model(), x)))


FEW_AXES = {"coreml": 5, "litert": 5, "nnapi": 4}
# Cases that need more than four axes: pictures with three spatial axes, and columns with separate axes for taps.
STAYS_WIDE = {"pixel unshuffle in 3-D", "im2col as a convolution in 3-D", *(
    f"im2col {kind}" for kind in ("of slices", "of slices, stride 2", "of slices, dilated", "of slices, one channel",
    "as torch exports it", "as torch exports it, even kernel"))}  # fmt: skip


def most_axes(model):
    """Returns the largest number of axes of a tensor in a model."""
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    values = [*inferred.input, *inferred.value_info, *inferred.output]
    return max(len(value.type.tensor_type.shape.dim) for value in values)


@pytest.mark.parametrize("target", FEW_AXES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_targets_of_few_axes_get_them(case, target):
    x = np.random.default_rng(1).random(case.shape, np.float32)
    if target == "nnapi" and case.name in STAYS_WIDE:
        with pytest.raises(NotPortable, match=r"has a tensor of \d axes; nnapi has 4") as caught:
            portable(case.model(), target)
        model = caught.value.model
    else:
        model = portable(case.model(), target)
        assert most_axes(model) <= FEW_AXES[target]
    np.testing.assert_array_equal(bits(run(model, x)), bits(run(case.model(), x)))


@pytest.mark.parametrize("target", FEW_AXES)
@pytest.mark.parametrize("seed", range(60))
def test_col2im_of_few_axes_is_the_same_bit_for_bit(seed, target):
    case = col2im(random.Random(seed))
    x = np.random.default_rng(seed).standard_normal(case.shape).astype(np.float32)
    x.reshape(-1)[::3] = -0.0
    x.reshape(-1)[1::7], x.reshape(-1)[2::11] = np.inf, np.nan
    if target == "nnapi" and len(case.constants["k"]) > 2:
        with pytest.raises(NotPortable, match="has a tensor of 5 axes; nnapi has 4") as caught:
            portable(case.model(), target)
        model = caught.value.model
    else:
        model = portable(case.model(), target)
        assert most_axes(model) <= FEW_AXES[target]
    assert kinds(model) <= BASIC
    np.testing.assert_array_equal(bits(run(model, x)), bits(run(case.model(), x)))


@pytest.mark.parametrize("target", FEW_AXES)
@pytest.mark.parametrize("seed", range(30))
def test_any_order_of_blocks_is_written_with_few_axes(seed, target):
    draw = random.Random(seed)
    extents = [draw.randint(1, 3) for _ in range(draw.randint(6, 9))]
    order = draw.sample(range(len(extents)), len(extents))
    cut = sorted(draw.sample(range(1, len(extents)), 3))
    groups = [range(a, b) for a, b in zip([0, *cut], [*cut, len(extents)], strict=True)]
    shape = [int(np.prod([extents[axis] for axis in group])) for group in groups]
    last = [int(np.prod([extents[order[axis]] for axis in group])) for group in groups]
    case = Case("drawn", shape, operator=None, **moved(extents, order, last))
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    model = portable(case.model(), target)
    assert most_axes(model) <= FEW_AXES[target] and kinds(model) <= {"Reshape", "Transpose"}
    np.testing.assert_array_equal(run(model, x), run(case.model(), x))
    assert len(model.graph.initializer) == len({name for entry in model.graph.node for name in entry.input[1:]})


def swin(batch):
    """Returns shifted windows of attention, which no single operator makes: two joined slices are cut into windows."""
    cut = {"one": ints(1), "end": ints(9), "zero": ints(0), "two": ints(2)}
    nodes = [
        node("Slice", "x one end two", "a"), node("Slice", "x zero one two", "b"), node("Concat", "a b", "r", axis=2),
        node("Reshape", "r first", "w"), node("Transpose", "w", "t", perm=[0, 2, 4, 1, 3, 5]),
        node("Reshape", "t last", "y"),
    ]  # fmt: skip
    sizes = {"first": ints(0 if batch == "n" else batch, 6, 2, 4, 3, 4), "last": ints(-1, 6, 4, 4)}
    return Case("shifted windows", (batch, 6, 8, 12), nodes, None, constants=cut | sizes)


@pytest.mark.parametrize("target", FEW_AXES)
@pytest.mark.parametrize("batch", [2, "n"])
def test_shifted_windows_are_written_with_few_axes(batch, target):
    model = portable(swin(batch).model(), target)
    assert most_axes(model) <= FEW_AXES[target]
    for count in (2,) if batch == 2 else (1, 2, 5):
        x = np.random.default_rng(count).random((count, 6, 8, 12), np.float32)
        np.testing.assert_array_equal(run(model, x), run(swin(count).model(), x))


def attention():
    """Returns a sum of tensors of six axes, which portable() keeps, since it does not know sums."""
    nodes = [node("Reshape", "x first", "w"), node("Add", "w w", "d"), node("Reshape", "d last", "y")]
    constants = {"first": ints(1, 2, 2, 2, 2, 2), "last": ints(1, 32)}
    return Case("attention", (1, 4, 8), nodes, None, constants=constants)


def test_what_a_target_does_not_take_is_named():
    case = attention()
    model = case.model()
    for number, entry in enumerate(model.graph.node):
        entry.name = f"n{number}"
    with pytest.raises(NotPortable) as caught:
        portable(model, "coreml")
    six = "has a tensor of 6 axes; coreml has 5"
    assert caught.value.stays == (f"node n0 (Reshape): {six}", f"node n1 (Add): {six}", f"node n2 (Reshape): {six}")
    assert str(caught.value).startswith("coreml does not take 3 nodes: node n0 (Reshape): has a tensor")
    assert caught.value.model.SerializeToString() == model.SerializeToString()
    assert portable(model, "tensorrt").SerializeToString() == model.SerializeToString()
    whole = Case("wide", (2,) * 9, [node("Transpose", "x", "y", perm=[8, *range(8)])], None).model()
    for target in ("tensorrt", "openvino"):
        with pytest.raises(NotPortable, match=f"has a tensor of 9 axes; {target} has 8"):
            portable(whole, target)
    for dtype, target, text in ((TensorProto.DOUBLE, "coreml", "float64; coreml takes float16, float32"),
                                (TensorProto.INT8, "tensorrt", "int8; tensorrt takes bfloat16, bool, float16"),
                                (TensorProto.FLOAT16, "nnapi", "float16; nnapi takes float32")):  # fmt: skip
        shuffle = Case("d", (1, 4, 2, 2), [node("DepthToSpace", "x", "y", blocksize=2)], None, dtype=dtype).model()
        with pytest.raises(NotPortable, match=f"node .*.DepthToSpace.: cuts or joins {text}"):
            portable(shuffle, target)


@pytest.mark.parametrize("target", ["basic", "coreml", "litert", "nnapi", "openvino", "tensorrt", "onnx:17"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_inspect_judges_by_the_same_rules(case, target):
    model = case.model()
    try:
        written = portable(model, target)
    except NotPortable as error:
        assert inspect(error.model, timed=False, target=target).stays == error.stays
        return
    report = inspect(written, timed=False, target=target)
    assert report.stays == () and str(report).endswith(f"{target} takes all of it")
    if inspect(model, timed=False, target=target).stays == ():
        assert kinds(written) <= kinds(model)


@pytest.mark.parametrize("name", ["pixel shuffle", "tokens of a vision transformer", "tokens back into pictures"])
def test_open_batches_are_written_for_few_axes(name):
    case = next(case for case in CASES if case.name == name)
    sizes = {key: np.where(np.arange(len(v)) == 0, 0, v) for key, v in case.constants.items()}
    case = Case(name, ("n", *case.shape[1:]), case.nodes, None, constants=sizes)
    model = portable(case.model(), "coreml")
    assert most_axes(model) <= 5
    for batch in (1, 3):
        x = np.random.default_rng(batch).random((batch, *case.shape[1:]), np.float32)
        np.testing.assert_array_equal(run(model, x), run(case.model(), x))


def extracting(shape, ksizes, strides, rates, padding, **options):
    """Returns TensorFlow's ExtractImagePatches in the form that tf2onnx writes."""
    settings = {"k": ksizes, "s": strides, "r": rates}
    constants = {key: np.array([1, *values, 1], np.int32) for key, values in settings.items()}
    extract = helper.make_node("ExtractImagePatches", list("xksrp"), ["y"], domain="ai.onnx.contrib")
    model = Case("patches", shape, [extract], None, constants=constants, **options).model()
    model.graph.initializer.append(helper.make_tensor("p", TensorProto.STRING, [1], [padding.encode()]))
    model.opset_import.append(helper.make_opsetid("ai.onnx.contrib", 1))
    return model


def with_attributes(shape, **attributes):
    """Returns ExtractImagePatches with settings as attributes, although the operator takes them as inputs."""
    extract = helper.make_node("ExtractImagePatches", ["x"], ["y"], domain="ai.onnx.contrib", **attributes)
    model = Case("patches", shape, [extract], None).model()
    model.opset_import.append(helper.make_opsetid("ai.onnx.contrib", 1))
    return model


@pytest.mark.parametrize("target", ["basic", "tensorrt", "coreml", "onnx:13"])
@pytest.mark.parametrize("seed", range(10))
def test_patches_of_tf2onnx_are_written(seed, target):
    draw = random.Random(seed)
    kernel, strides, rates = ([draw.randint(1, 3) for _ in range(2)] for _ in range(3))
    padding, (h, w) = draw.choice(["SAME", "VALID"]), (draw.randint(7, 9), draw.randint(7, 9))
    model = portable(extracting(("n", h, w, 3), kernel, strides, rates, padding), target)
    assert kinds(model) <= {"Pad", "Slice", "Concat", "Reshape"} and len(model.opset_import) == 1
    x = np.random.default_rng(seed).standard_normal((2, h, w, 3)).astype(np.float32)
    x[0, :2] = np.inf
    given = ([1, *values, 1] for values in (kernel, strides, rates))
    expected = patchfold.tensorflow.extract_image_patches(x, *given, padding)
    np.testing.assert_array_equal(bits(run(model, x)), bits(expected))
    (finding,) = inspect(extracting((2, h, w, 3), kernel, strides, rates, padding), timed=False).findings
    np.testing.assert_array_equal(bits(patchfold.unfold(x, **finding.arguments)), bits(expected))


@pytest.mark.parametrize("kind", ["DepthToSpace", "SpaceToDepth"])
@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_blocks_of_any_batch(kind, mode):
    attributes = {"mode": mode} if kind == "DepthToSpace" else {}
    case = Case("open", ("n", 12, 4, 6), [node(kind, "x", "y", blocksize=2, **attributes)], None)
    model = portable(case.model(), "basic")
    for batch in (1, 3):
        x = np.arange(batch * 12 * 24, dtype=np.float32).reshape(batch, 12, 4, 6)
        np.testing.assert_array_equal(run(model, x), run(case.model(), x))


def test_targets_keep_what_they_have():
    flat = Case(
        "2-D", (1, 4, 12), [node("Col2Im", "x i k", "y")], None, constants={"i": ints(4, 5), "k": ints(2, 2)}
    ).model()
    deep = Case(
        "3-D", (1, 8, 8), [node("Col2Im", "x i k", "y")], None, constants={"i": ints(3, 3, 3), "k": ints(2, 2, 2)}
    ).model()
    assert kinds(portable(flat, "openvino")) == {"Col2Im"} and "Col2Im" not in kinds(portable(deep, "openvino"))
    assert kinds(portable(deep, "onnx:18")) == {"Col2Im"}
    old = portable(deep, "onnx:17")
    assert "Col2Im" not in kinds(old) and old.opset_import[0].version == 17
    gelu = Case("newer", (2,), [node("Gelu", "x", "y")], None, opset=20)
    with pytest.raises(ModelError, match="node y .Gelu.: version 17 of ONNX's operators has no Gelu"):
        portable(gelu.model(), "onnx:17")
    x = np.random.default_rng(0).random((1, 8, 8), np.float32)
    np.testing.assert_array_equal(run(old, x), run(deep, x))
    shuffle = Case("d", (1, 4, 2, 2), [node("DepthToSpace", "x", "y", blocksize=2)], None).model()
    assert kinds(portable(shuffle, "tensorrt")) == {"DepthToSpace"}


def test_help_has_the_rules_of_each_target():
    text = pydoc.plain(pydoc.render_doc(patchfold.models))
    lines = {name: text.split(f'"{name}": ')[1].splitlines()[0] for name in (*TARGETS, "onnx:N")}
    for name, target in TARGETS.items():
        limits = [f"{target.most_axes} axes", ", ".join(sorted(target.types))]
        assert lines[name].endswith("; ".join(filter(None, limits)) + ".") or target.most_axes is None, name


def test_the_model_that_is_given_does_not_change():
    model = col2im(random.Random(1)).model()
    before = model.SerializeToString()
    portable(model, "basic")
    assert model.SerializeToString() == before


def test_bodies_are_written_too():
    case = branching()
    model = portable(case.model(), "basic")
    assert all(kinds(helper.make_model(body.g)) <= BASIC | {"Identity"} for body in model.graph.node[0].attribute)
    x = np.arange(16, dtype=np.float32).reshape(1, 4, 2, 2)
    np.testing.assert_array_equal(run(model, x), run(case.model(), x))


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("tensor", "there is no target 'tensor': write basic, coreml, litert, nnapi, openvino, tensorrt, or onnx:N, as"),
        ("onnx:7", "target 'onnx:7': the version must be from 13 to"),
        ("onnx:999", "target 'onnx:999': the version must be from 13 to"),
    ],
)
def test_other_targets_are_refused(target, text):
    with pytest.raises(ModelError) as caught:
        portable(CASES[0].model(), target)
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize(
    ("case", "text"),
    [
        (Case("open", (1, 4, "h", 4), [node("DepthToSpace", "x", "y", blocksize=2)], None), "give open extents by sizes"),
        (Case("odd", (1, 3, 4, 4), [node("DepthToSpace", "x", "y", blocksize=2)], None), "[3] must be multiples of 4"),
        (Case("odd", (1, 3, 4, 5), [node("SpaceToDepth", "x", "y", blocksize=2)], None), "[4, 5] must be multiples of 2"),
        (Case("none", (1, 3, 4, 4), [node("SpaceToDepth", "x", "y", blocksize=0)], None), "must be at least 1; given 0"),
        (Case("data", (2,), [node("Cast", "x", "s", to=7), node("Col2Im", "c s k", "y")], None,
              constants={"c": np.zeros((1, 4, 4), np.float32), "k": ints(2, 2)}), "one of them is computed"),
        (Case("attributes", (1, 4, 4), [node("Col2Im", "x", "y", image_shape=[3, 3], block_shape=[2, 2])], None),
         "image_shape and block_shape must be constants; here image_shape and block_shape are attributes, not inputs"),
        (Case("missing", (1, 4, 4), [node("Col2Im", "x i", "y")], None, constants={"i": ints(3, 3)}),
         "block_shape is missing"),
        (Case("input", (1, 4, 4, 4), [node("SpaceToDepth", "x b", "y")], None, constants={"b": ints(2)}),
         "its blocksize must be an attribute; here it is an input, b"),
        (with_attributes((1, 5, 5, 3), ksizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="SAME"),
         "must be constants; here ksizes, strides, rates and padding are attributes, not inputs"),
        (Case("ranks", (1, 4, 4), [node("Col2Im", "x i k", "y", strides=[1])], None,
              constants={"i": ints(3, 3), "k": ints(2, 2)}), "must be for as many axes"),
        (Case("small", (1, 4, 4), [node("Col2Im", "x i k", "y")], None, constants={"i": ints(1, 3), "k": ints(2, 2)}),
         "no patch fits on axis 0"),
        (extracting((1, 5, "w", 3), [2, 2], [1, 1], [1, 1], "SAME"), "give open extents by sizes"),
        (extracting((1, 5, 5, 3), [2, 2], [0, 1], [1, 1], "SAME"), "must be at least 1; given [2, 0, 1] on axis 1"),
        (extracting((1, 5, 5, 3), [7, 2], [1, 1], [1, 1], "VALID"), "no patch fits into [5, 5]"),
        (extracting((1, 5, 5, 3), [2, 2], [1, 1], [1, 1], "FULL"), "padding must be SAME or VALID"),
        (extracting((1, 5, 5, 3), [2, 2], [1], [1, 1], "SAME"), "must have four numbers"),
        (Case("pads", (1, 4, 4), [node("Col2Im", "x i k", "y", pads=[-1, 0, 0, 0])], None,
              constants={"i": ints(3, 3), "k": ints(2, 2)}), "pads at least 0, on axis 0"),
    ],
    ids=lambda value: getattr(value, "name", None),
)  # fmt: skip
def test_what_cannot_be_written_is_refused(case, text):
    with pytest.raises(ModelError) as caught:
        portable(case.model() if isinstance(case, Case) else case, "basic")
    assert text in str(caught.value) and str(caught.value).startswith("node ")


def test_settings_of_patches_must_be_inputs():
    model = extracting((1, 5, 5, 3), [2, 2], [1, 1], [1, 1], "SAME")
    del model.graph.node[0].input[1:]
    with pytest.raises(ModelError, match="must be constants; ksizes, strides, rates and padding are missing"):
        portable(model, "basic")


def test_open_extents_can_be_given():
    case = Case("open", (1, 4, "h", 4), [node("DepthToSpace", "x", "y", blocksize=2)], None)
    model = portable(case.model(), "basic", sizes={"h": 6})
    assert run(model, np.zeros((1, 4, 6, 4), np.float32)).shape == (1, 1, 12, 8)


def test_command(tmp_path):
    path, out = tmp_path / "m.onnx", tmp_path / "out.onnx"
    onnx.save(Case("d", (1, 12, 4, 5), [node("DepthToSpace", "x", "y", blocksize=2)], None).model(), path)

    def command(target):
        program = [sys.executable, "-m", "patchfold.models", "portable", path, target, out, "--no-time"]
        return subprocess.run(program, capture_output=True, text=True)

    done = command("basic")
    assert (done.returncode, done.stdout) == (0, f"{out}: 1 nodes before, 3 after\n")
    assert kinds(onnx.load(out)) == {"Reshape", "Transpose"}
    again = command("basic")
    assert (again.returncode, again.stderr) == (1, f"patchfold.models: {out}: is there already\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.onnx", "out.onnx"]


def test_commands_say_what_stays(tmp_path):
    path, out, shuffle = tmp_path / "m.onnx", tmp_path / "out.onnx", tmp_path / "s.onnx"
    onnx.save(attention().model(), path)
    onnx.save(Case("d", (1, 12, 4, 5), [node("DepthToSpace", "x", "y", blocksize=2)], None).model(), shuffle)

    def command(*arguments, module="models"):
        program = [sys.executable, "-m", f"patchfold.{module}", *arguments]
        done = subprocess.run(program, capture_output=True, text=True)
        assert done.stderr == ""
        return done.returncode, done.stdout

    code, text = command("portable", path, "coreml", out, "--no-time")
    assert (code, text.count("has a tensor of 6 axes; coreml has 5"), out.is_file()) == (3, 3, True)
    assert text.startswith(f"{out}: 3 nodes before, 3 after\ncoreml does not take:\n  node Reshape #0 (Reshape): ")
    assert command("inspect", path, "--no-time", "--target", "coreml")[0] == 3
    assert command("inspect", path, "--no-time", "--target", "tensorrt")[0] == 0
    assert command("inspect", shuffle, "--no-time", "--target", "basic")[1].endswith(
        "basic does not take:\n  node DepthToSpace #0 (DepthToSpace): basic has no DepthToSpace\n"
    )
    done = command(shuffle, tmp_path / "c.onnx", module="onnxruntime")
    assert done == (0, f"{tmp_path / 'c.onnx'}: 1 nodes before, 1 after\n")
    strings = Case("t", (1, 4, 2, 2), [node("DepthToSpace", "x", "y", blocksize=2)], None, dtype=TensorProto.STRING)
    onnx.save(strings.model(), path)
    code, text = command(path, tmp_path / "t.onnx", module="onnxruntime")
    assert code == 3 and text.endswith("patchfold's library has no DepthToSpace\n")


@pytest.mark.parametrize("write", [lambda model: portable(model, "basic"), patchfold.onnxruntime.convert])
def test_other_files_are_refused(write, tmp_path):
    kinds = {"m.xml": "OpenVINO's IR", "m.pt2": "a program of torch.export", "m.tflite": "a LiteRT model", "": "a folder"}
    for name, kind in kinds.items():
        with pytest.raises(ModelError) as caught:
            write(tmp_path / name)
        text = f"must be an .onnx file; {kind} is taken by `python -m patchfold.models inspect`"
        assert str(caught.value) == f"{tmp_path / name}: {text}"
    with pytest.raises(ModelError, match="^model: must be an .onnx file or an onnx.ModelProto; given dict$"):
        write({})


def test_constants_that_nothing_uses_are_dropped():
    """Checks that constants of replaced operators are dropped: initializers and Constant nodes, also in branches."""
    values = [helper.make_node("Constant", [], [name], value_ints=list(v)) for name, v in (("i", (4, 5)), ("k", (2, 2)))]
    case = Case("constants", (1, 4, 12), [*values, node("Col2Im", "x i k", "y")], None, constants={"spare": ints(1)})
    model = portable(case.model(), "tensorrt")
    assert "Constant" not in kinds(model) and "spare" not in {tensor.name for tensor in model.graph.initializer}
    model = patchfold.onnxruntime.convert(extracting((1, 5, 5, 3), [2, 2], [1, 1], [1, 1], "SAME"))
    assert [entry.op_type for entry in model.graph.node] == ["ExtractImagePatches"] and not model.graph.initializer
    then = helper.make_graph([node("DepthToSpace", "w", "a", blocksize=2)], "then", [], [
        helper.make_tensor_value_info("a", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(ints(1), "spare"), numpy_helper.from_array(np.zeros((1, 4, 2, 2), np.float32), "w")],
    )  # fmt: skip
    branch = Case("if", (1,), [helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=then)], None,
                  constants={"c": np.array(True)})  # fmt: skip
    body = portable(branch.model(), "tensorrt").graph.node[0].attribute[0].g
    assert [tensor.name for tensor in body.initializer] == ["w"]

# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.models.inspect on SavedModels and .tflite files: the models of model_zoo.py in TensorFlow."""

import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import patchfold
import pytest

tf: Any = pytest.importorskip("tensorflow")
onnx = pytest.importorskip("onnx")
from model_zoo import CASES, Case  # noqa: E402
from onnx import helper  # noqa: E402
from patchfold.models import ModelError, inspect  # noqa: E402


class Written(tf.Module):
    """The nodes of a case as calls of TensorFlow, channels first except in convolutions and blocks."""

    def __init__(self, case: Case):
        super().__init__()
        self.case = case

    def run(self, x: Any) -> Any:
        values = {"x": x}
        for node in self.case.nodes:
            given = [values.get(name) for name in node.input]
            settings = [self.case.constants.get(name) for name in node.input]
            attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            values[node.output[0]] = getattr(self, node.op_type)(given, settings, attributes)
        return values["y"]

    def Reshape(self, given: Any, settings: Any, attributes: Any) -> Any:
        return tf.reshape(given[0], settings[1])

    def Transpose(self, given: Any, settings: Any, attributes: Any) -> Any:
        return tf.transpose(given[0], attributes["perm"])

    def Unsqueeze(self, given: Any, settings: Any, attributes: Any) -> Any:
        return tf.expand_dims(given[0], int(settings[1][0]))

    def Pad(self, given: Any, settings: Any, attributes: Any) -> Any:
        return tf.pad(given[0], settings[1].reshape(2, -1).T)

    def Slice(self, given: Any, settings: Any, attributes: Any) -> Any:
        begins, ends, axes = (values.tolist() for values in settings[1:4])
        steps = settings[4].tolist() if len(settings) > 4 else [1] * len(axes)
        where = [slice(None)] * len(given[0].shape)
        for axis, begin, end, step in zip(axes, begins, ends, steps, strict=True):
            where[axis] = slice(begin, min(end, 10**6), step)
        return given[0][tuple(where)]

    def Concat(self, given: Any, settings: Any, attributes: Any) -> Any:
        return tf.concat(given, attributes["axis"])

    def Gather(self, given: Any, settings: Any, attributes: Any) -> Any:
        return tf.gather(given[0], settings[1], axis=attributes["axis"])

    def Conv(self, given: Any, settings: Any, attributes: Any) -> Any:
        weights = settings[1]
        rank = weights.ndim - 2
        pads = attributes.get("pads", [0] * 2 * rank)
        x = tf.pad(given[0], [[0, 0], [0, 0], *zip(pads[:rank], pads[rank:], strict=True)])
        x = tf.transpose(x, [0, *range(2, rank + 2), 1])
        filters = np.moveaxis(weights, (0, 1), (-1, -2))
        stride = attributes.get("strides", [1] * rank)
        if rank == 1:  # TensorFlow has convolutions of two and three axes only
            x, filters = x[:, None], filters[None]
            y = tf.nn.conv2d(x, filters, [1, 1, *stride, 1], "VALID", dilations=[1, 1, *attributes["dilations"], 1])[:, 0]
        elif rank == 2:
            y = tf.nn.conv2d(x, filters, [1, *stride, 1], "VALID")
        else:
            y = tf.nn.conv3d(x, filters, [1, *stride, 1], "VALID")
        return tf.transpose(y, [0, rank + 1, *range(1, rank + 1)])

    def DepthToSpace(self, given: Any, settings: Any, attributes: Any) -> Any:
        """Returns depth_to_space in mode CRD by reshaping and transposing, since TensorFlow's function has mode DCR only."""
        n, c, h, w = given[0].shape
        b = attributes["blocksize"]
        x = tf.reshape(given[0], [n, c // b**2, b, b, h, w])
        return tf.reshape(tf.transpose(x, [0, 1, 4, 2, 5, 3]), [n, c // b**2, h * b, w * b])

    def SpaceToDepth(self, given: Any, settings: Any, attributes: Any) -> Any:
        n, c, h, w = given[0].shape
        b = attributes["blocksize"]
        x = tf.transpose(tf.reshape(given[0], [n, c, h // b, b, w // b, b]), [0, 3, 5, 1, 2, 4])
        return tf.reshape(x, [n, c * b * b, h // b, w // b])


# The cases that TensorFlow has functions for. TensorFlow could compute Col2Im only as a gradient, whose sums inspect() does
# not report.
HAD = [case for case in CASES if case.name != "Col2Im itself"]


def saved(run: Any, shape: Any, folder: Path, dtype: Any = tf.float32) -> Path:
    module = tf.Module()
    module.run = tf.function(run, input_signature=[tf.TensorSpec(shape, dtype, name="x")])
    tf.saved_model.save(module, str(folder))
    return folder


def lite(run: Any, shape: Any, path: Path, *, flex: bool = False, custom: bool = False) -> Path:
    function = tf.function(run, input_signature=[tf.TensorSpec(shape, tf.float32, name="x")])
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function.get_concrete_function()])
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS] + [tf.lite.OpsSet.SELECT_TF_OPS] * flex
    converter.allow_custom_ops = custom
    path.write_bytes(converter.convert())
    return path


def check(path: Path, case: Case) -> None:
    report = inspect(path, timed=False)
    if case.operator is None:
        assert report.findings == ()
        return
    (finding,) = report.findings
    expected = dict(case.arguments)
    if isinstance(expected.get("block"), int):
        expected["block"] = (expected["block"],) * 2
    assert (finding.operator, finding.arguments, finding.exact) == (case.operator, expected, case.exact)
    assert finding.source_shape == case.shape and finding.dtype == "float32"


@pytest.mark.parametrize("case", HAD, ids=lambda case: case.name)
def test_saved_model_holds_what_the_onnx_model_holds(case: Case, tmp_path: Path) -> None:
    check(saved(Written(case).run, case.shape, tmp_path / "m"), case)


@pytest.mark.parametrize("case", HAD, ids=lambda case: case.name)
def test_tflite_file_holds_what_the_onnx_model_holds(case: Case, tmp_path: Path) -> None:
    # flex adds TensorFlow's kernels: LiteRT itself lacks transpositions of seven axes and convolutions of three axes.
    check(lite(Written(case).run, case.shape, tmp_path / "m.tflite", flex=True), case)


def blocks(x: Any) -> Any:
    y = tf.nn.relu(tf.nn.space_to_depth(x, 2))
    y = tf.nn.relu(tf.nn.depth_to_space(y, 2))
    y = tf.nn.relu(tf.space_to_batch_nd(y, [2, 4], [[1, 1], [0, 0]]))
    return tf.nn.relu(tf.batch_to_space(y, [2, 4], [[1, 1], [0, 0]]))


BLOCKS = [
    ("space_to_depth", {"block": (2, 2), "mode": "blocks_first", "layout": "channels_last"}),
    ("depth_to_space", {"block": (2, 2), "mode": "blocks_first", "layout": "channels_last"}),
    ("space_to_batch", {"block": (2, 4), "padding": [(1, 1), (0, 0)], "layout": "channels_last"}),
    ("batch_to_space", {"block": (2, 4), "crops": [(1, 1), (0, 0)], "layout": "channels_last"}),
]


def patches(x: Any) -> Any:
    return tf.image.extract_patches(x, [1, 3, 2, 1], [1, 4, 4, 1], [1, 1, 2, 1], "SAME")


PATCHES = {
    "kernel_size": (3, 2), "stride": (4, 4), "dilation": (1, 2), "padding": [(1, 1), (1, 1)], "layout": "channels_last",
    "order": "kernel", "positions": "grid",
}  # fmt: skip


def found(path: Path, **options: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(finding.operator, finding.arguments) for finding in inspect(path, timed=False, **options).findings]


def test_operators_themselves_are_named(tmp_path: Path) -> None:
    assert found(saved(blocks, (2, 8, 8, 4), tmp_path / "blocks")) == BLOCKS
    assert found(lite(blocks, (2, 8, 8, 4), tmp_path / "blocks.tflite")) == BLOCKS
    assert found(saved(patches, (1, 9, 9, 3), tmp_path / "patches")) == [("unfold", PATCHES)]
    assert found(lite(patches, (1, 9, 9, 3), tmp_path / "patches.tflite", flex=True)) == [("unfold", PATCHES)]


def own_blocks(x: Any) -> Any:
    ours = patchfold.tensorflow
    y = tf.nn.relu(ours.depth_to_space(tf.nn.relu(ours.space_to_depth(x, 2)), 2))
    y = tf.nn.relu(ours.space_to_batch_nd(y, [2, 4], [[1, 1], [0, 0]]))
    return tf.nn.relu(ours.batch_to_space_nd(y, [2, 4], [[1, 1], [0, 0]]))


def own_patches(x: Any) -> Any:
    return patchfold.tensorflow.extract_image_patches(x, [1, 3, 2, 1], [1, 4, 4, 1], [1, 1, 2, 1], "SAME")


def gradient(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = patchfold.unfold(x, 2, layout="channels_last")
    return tape.gradient(y, x)


@pytest.mark.parametrize("batch", [2, None])
def test_patchfolds_own_operators_are_named(batch: int | None, tmp_path: Path) -> None:
    patchfold.tensorflow.library()
    blocks = saved(own_blocks, (batch, 8, 8, 4), tmp_path / "blocks")
    assert found(blocks) == BLOCKS
    first, *_, last = inspect(blocks).findings
    assert first.kinds == ("PatchfoldLinear",) and first.source_shape == last.shape == (batch or 1, 8, 8, 4)
    assert first.pattern == f"{'b' if batch else '1'} (h kh) (w kw) c -> {'b' if batch else '1'} h w (kh kw c)"
    assert found(saved(own_patches, (batch, 9, 9, 3), tmp_path / "patches")) == [("unfold", PATCHES)]
    keras = saved(lambda x: patchfold.keras.extract_patches(x, 2), (batch, 8, 8, 3), tmp_path / "keras")
    assert found(keras) == [("keras.extract_patches", {"size": 2})] and "channels" not in str(inspect(keras))
    sums = {"output_size": (4, 5), "kernel_size": (2, 2), "layout": "channels_last"}
    assert ("fold", sums) in found(saved(gradient, (2, 4, 5, 3), tmp_path / "gradient"))
    if batch is not None:
        assert found(lite(own_blocks, (batch, 8, 8, 4), tmp_path / "blocks.tflite", custom=True)) == BLOCKS


def test_argument_of_an_operator_is_what_tensorflow_computes(tmp_path: Path) -> None:
    x = np.random.default_rng(0).random((1, 9, 9, 3), np.float32)
    np.testing.assert_array_equal(patchfold.unfold(x, **PATCHES), patches(x))


def test_keras_models_are_read(tmp_path: Path) -> None:
    model = tf.keras.Sequential([
        tf.keras.layers.Input((16, 16, 3)), tf.keras.layers.Conv2D(8, 3, padding="same", activation="relu"),
        tf.keras.layers.Lambda(lambda x: tf.nn.space_to_depth(x, 2)), tf.keras.layers.Dense(4),
        tf.keras.layers.Lambda(lambda x: tf.keras.ops.image.extract_patches(x, 2)), tf.keras.layers.Flatten(),
    ])  # fmt: skip
    model.export(str(tmp_path / "m"), verbose=False)
    report = inspect(tmp_path / "m", timed=False)
    assert [(finding.operator, finding.source_shape) for finding in report.findings] == [
        ("space_to_depth", (1, 16, 16, 8)), ("space_to_depth", (1, 8, 8, 4)),
    ]  # fmt: skip
    assert report.findings[1].kinds == ("Conv2D",) and any("Inf or NaN" in note for note in report.findings[1].notes)


def halves(x: Any) -> Any:
    n, h, w = tf.shape(x)[0], tf.shape(x)[1], tf.shape(x)[2]
    y = tf.reshape(tf.nn.relu(x), [n, h // 2, 2, w // 2, 2, 3])
    return tf.reshape(tf.transpose(y, [0, 1, 3, 2, 4, 5]), [n, h // 2, w // 2, 12])


def test_open_sizes_are_taken_or_given_and_said(tmp_path: Path) -> None:
    path = saved(halves, (None, None, 8, 3), tmp_path / "m")
    report = inspect(path, timed=False)
    assert report.notes == ("open size x.0 taken as 1", "open size x.1 taken as 64")
    assert report.findings[0].source_shape == (1, 64, 8, 3)
    (finding,) = inspect(path, sizes={"x.0": 5, "x.1": 6}, timed=False).findings
    assert finding.operator == "space_to_depth" and finding.source_shape == (5, 6, 8, 3)
    with pytest.raises(ModelError, match="sizes: the model has no open dimension 'rows'; it has x.0, x.1"):
        inspect(path, sizes={"rows": 5})
    with pytest.raises(ModelError, match="sizes: a .tflite file has its sizes in the file"):
        inspect(tmp_path / "m.tflite", sizes={"x.0": 5})


def branches(x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.nn.depth_to_space(x, 2), lambda: tf.nn.depth_to_space(x + 1, 2))


def test_bodies_are_read(tmp_path: Path) -> None:
    assert [name for name, _ in found(saved(branches, (1, 3, 3, 4), tmp_path / "m"))] == ["depth_to_space"] * 2
    assert [name for name, _ in found(lite(branches, (1, 3, 3, 4), tmp_path / "m.tflite"))] == ["depth_to_space"] * 2


def test_models_without_signatures_are_read(tmp_path: Path) -> None:
    path = saved(blocks, (2, 8, 8, 4), tmp_path / "m")
    change(path, lambda meta: meta.signature_def.clear())
    assert found(path) == BLOCKS


# Tests of bad files.


def change(path: Path, how: Any) -> Path:
    """Writes a copy of the SavedModel with a changed graph."""
    from tensorflow.core.protobuf import saved_model_pb2

    model = saved_model_pb2.SavedModel()
    file = path / "saved_model.pb"
    model.ParseFromString(file.read_bytes())
    how(model.meta_graphs[0])
    file.write_bytes(model.SerializeToString())
    return path


def refused(path: Path, text: str) -> None:
    with pytest.raises(ModelError) as caught:
        inspect(path, timed=False)
    assert text in str(caught.value)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: Any) -> Path:
    """Returns a SavedModel with a .tflite file beside it."""
    folder = Path(tmp_path_factory.mktemp("sound"))
    case = next(case for case in CASES if case.name == "im2col of slices")
    lite(Written(case).run, case.shape, folder / "m.tflite")
    return saved(Written(case).run, case.shape, folder / "m")


def inner(meta: Any) -> Any:
    return max(meta.graph_def.library.function, key=lambda function: len(function.node_def))


def missing(meta: Any) -> None:
    inner(meta).node_def[-1].input[0] = "nobody:output:0"


def circle(meta: Any) -> None:
    node = next(node for node in inner(meta).node_def if node.op == "Pad")
    node.input[0] = f"{node.name}:output:0"


def itself(meta: Any) -> None:
    function = next(f for f in meta.graph_def.library.function if any("PartitionedCall" in n.op for n in f.node_def))
    next(node for node in function.node_def if "PartitionedCall" in node.op).attr["f"].func.name = function.signature.name


def nowhere(meta: Any) -> None:
    call = next(node for node in meta.graph_def.node if node.op == "StatefulPartitionedCall" or node.op == "PartitionedCall")
    call.attr["f"].func.name = "gone"


def short(meta: Any) -> None:
    node = next(n for n in inner(meta).node_def if n.op == "Const" and n.attr["value"].tensor.tensor_content)
    node.attr["value"].tensor.tensor_content = b"123"


def huge(meta: Any) -> None:
    for node in inner(meta).node_def:
        if node.op == "Const":
            for dim in node.attr["value"].tensor.tensor_shape.dim:
                dim.size = 1 << 40


@pytest.mark.parametrize(
    ("how", "text"),
    [
        (missing, "'nobody:output:0' is made by none of its nodes"),
        (circle, "lies on a cycle"),
        (itself, "calls itself"),
        (nowhere, "calls the function 'gone', which the model has not"),
        (short, "(Const): 3 bytes do not fit its shape"),
        (lambda meta: meta.graph_def.Clear(), "is made by no node"),
        (lambda meta: meta.Clear(), "holds neither a signature nor a function"),
    ],
)
def test_damaged_saved_models_are_refused(how: Any, text: str, sound: Path, tmp_path: Path) -> None:
    refused(change(Path(shutil.copytree(sound, tmp_path / "m")), how), text)


def test_large_constants_are_not_made(sound: Path, tmp_path: Path) -> None:
    assert inspect(change(Path(shutil.copytree(sound, tmp_path / "m")), huge), timed=False).findings == ()


def test_other_files_are_refused(sound: Path, tmp_path: Path) -> None:
    refused(tmp_path, "is no SavedModel: it has no file saved_model.pb")
    (tmp_path / "saved_model.pb").write_bytes((sound / "saved_model.pb").read_bytes()[:-300])
    refused(tmp_path, "saved_model.pb: is no SavedModel, or is cut short")
    (tmp_path / "saved_model.pb").write_bytes(b"")
    refused(tmp_path, "saved_model.pb: is no SavedModel: it has no graph")
    refused(tmp_path / "none.tflite", "none.tflite: cannot be read: No such file or directory")
    data = (sound.parent / "m.tflite").read_bytes()
    for content, text in ((b"", "its mark TFL3 is not there"), (data[:40], "is no sound LiteRT model, or is cut short")):
        (tmp_path / "m.tflite").write_bytes(content)
        refused(tmp_path / "m.tflite", text)


@pytest.mark.parametrize("seed", range(60))
def test_damaged_files_are_read_or_refused(seed: int, sound: Path, tmp_path: Path) -> None:
    draw = random.Random(seed)
    source, target = ("m/saved_model.pb", "saved_model.pb") if seed % 2 else ("m.tflite", "m.tflite")
    data = bytearray((sound.parent / source).read_bytes())
    for _ in range(draw.randint(1, 8)):
        data[draw.randrange(len(data))] = draw.randrange(256)
    if draw.random() < 0.3:
        del data[draw.randrange(len(data)) :]
    (tmp_path / target).write_bytes(data)
    try:
        inspect(tmp_path if seed % 2 else tmp_path / target, timed=False)
    except ModelError as error:
        assert str(error)

# SPDX-License-Identifier: Apache-2.0
"""Tests of models whose weights lie in other files, as those of large models must."""

import numpy as np
import patchfold.onnxruntime
import pytest
from model_zoo import Case, ints, node

onnx = pytest.importorskip("onnx")
from patchfold.models import ModelError, portable  # noqa: E402
from patchfold.models import __main__ as command  # noqa: E402
from patchfold.models._moves import MOST_CONSTANT  # noqa: E402
from test_models_portable import run  # noqa: E402

WEIGHTS = np.arange(MOST_CONSTANT + 1, dtype=np.uint32).view(np.float32)
WRITERS = [lambda model: portable(model, "basic"), patchfold.onnxruntime.convert]


def saved(folder, least=0):
    """Returns the path of a model whose constants of at least `least` bytes lie in another file."""
    nodes = [
        node("Col2Im", "x i k", "c"), node("Mul", "c scale", "s"), node("Slice", "w zero one", "a"), node("Add", "s a", "y")
    ]  # fmt: skip
    constants = {"i": ints(4, 5), "k": ints(2, 2), "scale": np.float32(3), "w": WEIGHTS, "zero": ints(7), "one": ints(8)}
    folder.mkdir(exist_ok=True)
    (folder / "m.data").unlink(missing_ok=True)
    onnx.save(
        Case("weights", (1, 4, 12), nodes, None, constants=constants).model(), folder / "m.onnx",
        save_as_external_data=True, location="m.data", size_threshold=least,
    )  # fmt: skip
    return folder / "m.onnx"


@pytest.mark.parametrize("write", WRITERS)
def test_large_weights_are_read_last(write, tmp_path, monkeypatch):
    """Checks that onnx never infers the shapes of a model that holds large weights, since onnx refuses models of more than 2
    GB."""
    infer, sizes = onnx.shape_inference.infer_shapes, []

    def inferred(model, **options):
        sizes.append(model.ByteSize())
        return infer(model, **options)

    monkeypatch.setattr(onnx.shape_inference, "infer_shapes", inferred)
    path = saved(tmp_path / "model")
    model = write(path)
    assert sizes and max(sizes) < 1 << 20
    assert "Col2Im" not in {entry.op_type for entry in model.graph.node if not entry.domain}
    held = {tensor.name: tensor for tensor in model.graph.initializer}
    assert {tensor.data_location for tensor in held.values()} == {onnx.TensorProto.DEFAULT}
    assert held["w"].raw_data == WEIGHTS.tobytes()


@pytest.mark.parametrize("write", WRITERS)
def test_weights_of_a_model_without_them_stay_where_they_are(write, tmp_path):
    path = saved(tmp_path / "model", 1024)
    model = write(onnx.load(path, load_external_data=False))
    entries = next(tensor.external_data for tensor in model.graph.initializer if tensor.name == "w")
    assert {entry.key: entry.value for entry in entries}["location"] == "m.data"
    path = saved(tmp_path / "model")
    with pytest.raises(ModelError, match="must be constants; one of them is computed, or not loaded"):
        portable(onnx.load(path, load_external_data=False), "basic")


def test_weights_that_fill_a_file_get_their_own(tmp_path, monkeypatch, capsys):
    path, out = saved(tmp_path / "model"), tmp_path / "out" / "p.onnx"
    arguments = ["portable", str(path), "basic", str(out), "--no-time"]
    monkeypatch.setattr(command, "MOST_WEIGHTS", WEIGHTS.nbytes)
    assert command.main(arguments) == 1 and "p.onnx: cannot be written: " in capsys.readouterr().err
    out.parent.mkdir()
    assert command.main(arguments) == 0 and sorted(each.name for each in out.parent.iterdir()) == ["p.onnx", "p.onnx.data"]
    assert out.stat().st_size < 1 << 20 < WEIGHTS.nbytes < (out.parent / "p.onnx.data").stat().st_size + 1
    x = np.random.default_rng(0).random((1, 4, 12), np.float32)
    np.testing.assert_array_equal(run(onnx.load(out), x), run(onnx.load(path), x))
    out.unlink()
    assert command.main(arguments) == 1 and capsys.readouterr().err.endswith("p.onnx.data: is there already\n")
    assert [each.name for each in out.parent.iterdir()] == ["p.onnx.data"]
    monkeypatch.setattr(command, "MOST_WEIGHTS", 2 * WEIGHTS.nbytes)
    assert command.main(arguments) == 0 and out.stat().st_size > WEIGHTS.nbytes

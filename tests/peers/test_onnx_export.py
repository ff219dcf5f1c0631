# SPDX-License-Identifier: Apache-2.0
"""Exports models that use patchfold.torch to ONNX's own operators, with both of torch's exporters, and runs them in ONNX
Runtime."""

import warnings

import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")
import patchfold.torch  # noqa: E402


class Model(torch.nn.Module):
    """A model with every function and module, on one to three axes, with pads that differ between axes."""

    def __init__(self):
        super().__init__()
        self.unfold = patchfold.torch.Unfold((3, 2), padding=(0, 1), stride=(2, 1))
        self.fold = patchfold.torch.Fold((6, 8), (3, 2), padding=(0, 1), stride=(2, 1))
        self.shuffle = patchfold.torch.PixelShuffle(2)
        self.unshuffle = patchfold.torch.PixelUnshuffle(2)

    def forward(self, image, signal, volume):
        columns = self.unfold(image)
        frames = patchfold.torch.unfold(signal, (3,), (2,), (1,), (1,))
        window = {"kernel_size": (2, 2, 3), "stride": (2, 1, 1), "padding": (0, 1, 1), "dilation": (1, 1, 1)}
        cubes = patchfold.torch.unfold(volume, **window)
        return (
            columns,
            self.fold(columns),
            self.shuffle(image),
            self.unshuffle(image),
            frames,
            patchfold.torch.fold(frames, (9,), (3,), (2,), (1,), (1,)),
            cubes,
            patchfold.torch.fold(cubes, (4, 5, 6), **window),
            patchfold.unpatchify(patchfold.patchify(image, 2), (6, 8), 2, order="torch"),
            patchfold.rearrange(columns, "b (c k) (h w) -> b h w (k c)", k=6, h=2),
            patchfold.rearrange(image, "b c h w -> (b h) w c"),
            patchfold.patchify(image[0], 2),
            patchfold.gather_patches(image, [(0, 1), (2, 3)], 2),
            *(patchfold.torch.unfold(image, 3, padding=1, padding_mode=mode) for mode in ("edge", "reflect", "wrap")),
        )


def inputs(batch):
    shapes = {"image": (batch, 4, 6, 8), "signal": (batch, 3, 9), "volume": (batch, 2, 4, 5, 6)}
    return {name: torch.randn(shape) for name, shape in shapes.items()}


def check(path, batch):
    model = onnx.load(path)
    onnx.checker.check_model(model)
    used = {node.op_type for node in model.graph.node}
    assert {node.domain for node in model.graph.node} <= {"", "ai.onnx"}
    assert {"Col2Im", "DepthToSpace"} <= used
    given = inputs(batch)
    expected = Model()(*given.values())
    session = runtime.InferenceSession(path)
    got = session.run(None, {name: value.numpy() for name, value in given.items()})
    for ours, theirs in zip(expected, got, strict=True):
        assert torch.allclose(ours, torch.from_numpy(theirs), atol=1e-6), (ours.shape, theirs.shape)


@pytest.mark.filterwarnings("ignore")
def test_the_exporter_of_torchscript(tmp_path):
    path = str(tmp_path / "model.onnx")
    given = inputs(2)
    names = list(given)
    axes = {name: {0: "batch"} for name in names}
    torch.onnx.export(
        Model(), tuple(given.values()), path, dynamo=False, input_names=names, dynamic_axes=axes, opset_version=18
    )
    check(path, 2)
    check(path, 5)


@pytest.mark.filterwarnings("ignore")
def test_the_exporter_of_dynamo_with_a_batch_of_any_size(tmp_path):
    path = str(tmp_path / "model.onnx")
    given = inputs(2)
    batch = torch.export.Dim("batch", min=1, max=64)
    shapes = tuple({0: batch} for _ in given)
    torch.onnx.export(
        Model(), tuple(given.values()), path, dynamo=True, dynamic_shapes=shapes, input_names=list(given), verbose=False
    )
    check(path, 2)
    check(path, 5)


def test_a_call_outside_an_export_stays_ours():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = torch.ones(1, 1, 4, 4, dtype=torch.int16)
        assert patchfold.torch.unfold(x, 2).dtype == torch.int16

# SPDX-License-Identifier: Apache-2.0
"""Tests of overlap="exact": the tiles give the result for the whole array, bit for bit."""

import importlib

import numpy as np
import patchfold
import pytest
from patchfold import InvalidValue

RNG = np.random.default_rng(0)


def windows(x, before, after, axis, reduce):
    """Returns a reduction of each window along an axis; zeros lie beyond the ends."""
    pads = [(before, after) if each == axis % x.ndim else (0, 0) for each in range(x.ndim)]
    return reduce(np.lib.stride_tricks.sliding_window_view(np.pad(x, pads), before + after + 1, axis), axis=-1)


def blur(x):
    return windows(windows(x, 2, 2, -1, np.mean), 1, 3, -2, np.mean)


def sharpened_edges(x):
    return np.abs(x - windows(blur(x), 3, 0, -1, np.max)) > 0.3


def halved(x):
    x = x[..., : x.shape[-2] // 2 * 2, : x.shape[-1] // 2 * 2]
    return (x[..., ::2, ::2] + x[..., 1::2, ::2] + x[..., ::2, 1::2] + x[..., 1::2, 1::2]) / 4


def pyramid(x):
    """Returns a picture plus what is left of it at a quarter of its extents."""
    small = blur(halved(halved(x)))
    return x + small.repeat(4, -1).repeat(4, -2)


def doubled(x):
    return windows(x.repeat(2, -1).repeat(2, -2), 1, 1, -1, np.mean)


def phased(x):
    """Returns each second element twice, counted from the end of the last axis."""
    first = x.shape[-1] % 2
    return np.concatenate([x[..., :first], x[..., first::2].repeat(2, -1)], -1)


def several(x):
    return {"blur": blur(x), "sum": windows(x, 0, 6, -1, np.sum).astype(np.float64)}


PICTURE = RNG.random((3, 120, 152), np.float32)
FUNCTIONS = {
    "elements": (np.tanh, PICTURE), "blur": (blur, PICTURE), "edges": (sharpened_edges, PICTURE), "half": (halved, PICTURE),
    "pairs": (phased, PICTURE),
    "odd extents": (blur, PICTURE[:, :117, :149]), "pyramid": (pyramid, PICTURE), "twice": (doubled, PICTURE),
    "float64": (blur, PICTURE.astype(np.float64)),
    "integers": (lambda x: windows(x, 4, 1, -2, np.max), (PICTURE * 255).astype(np.uint8)),
    "one axis": (lambda x: windows(x, 5, 9, -1, np.sum), PICTURE[0, 0]), "volume": (blur, PICTURE[None, :, :30, :70]),
    "shorter than the tile": (blur, PICTURE[:, :30, :12]),
}  # fmt: skip


def tiled(fn, x, tile=None, **settings):
    return patchfold.apply_tiled(fn, x, tile, overlap="exact", progress=False, **settings)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_tiles_of_a_measured_function_are_the_whole_result(name):
    fn, x = FUNCTIONS[name]
    calls = []

    def counted(part):
        calls.append(part.shape)
        return fn(part)

    axes = [0] if x.ndim == 1 else [-2, -1]
    y = tiled(counted, x, axes=axes, memory=200_000)
    want = fn(x)
    assert y.dtype == want.dtype and y.tobytes() == want.tobytes()
    tile = [32] if x.ndim == 1 else [40, 48]
    assert tiled(fn, x, tile, axes=axes).tobytes() == want.tobytes()
    if name == "blur":
        assert max(np.prod(shape) for shape in calls[-4:]) < PICTURE.size / 4


def test_all_results_and_stacks_and_axes_are_found():
    y = tiled(several, PICTURE, (24, 32))
    assert all(y[name].tobytes() == want.tobytes() for name, want in several(PICTURE).items())
    assert tiled(blur, PICTURE, (24, 32), batch=3).tobytes() == blur(PICTURE).tobytes()
    mixed = lambda x: blur(x) + x.sum(0)  # noqa: E731
    np.testing.assert_array_equal(tiled(mixed, PICTURE, memory=300_000), mixed(PICTURE))


def test_scipy_filters_are_equal_bit_for_bit():
    ndimage = pytest.importorskip("scipy.ndimage")
    x = PICTURE[0]
    for fn in (
        lambda x: ndimage.gaussian_filter(x, 1.5),
        lambda x: ndimage.median_filter(x, (3, 5), mode="mirror"),
        lambda x: ndimage.grey_erosion(x, (3, 3), origin=(1, -1)),
        lambda x: ndimage.sobel(ndimage.correlate(x, np.full((5, 5), 0.04, np.float32), mode="constant"), 0),
    ):
        assert tiled(fn, x, (48, 56)).tobytes() == fn(x).tobytes()
    with pytest.raises(InvalidValue, match="sees the whole axis"):  # it adds to one running sum along each row
        tiled(lambda x: ndimage.uniform_filter(x, 5), x, (48, 56))


def test_dask_gives_the_same_bits():
    array = pytest.importorskip("dask.array")
    dask = importlib.import_module("patchfold.dask")
    x = array.from_array(PICTURE, chunks=(3, 50, 60))
    y = dask.apply_tiled(pyramid, x, overlap="exact", axes=(1, 2), memory=300_000, chunks=(60, 76))
    assert y.compute(scheduler="sync").tobytes() == pyramid(PICTURE).tobytes()


def unet():
    from halo_cases import node, weights
    from model_zoo import Case

    nodes = [
        node("Conv", "x a", "c", pads=[1, 1, 1, 1]), node("MaxPool", "c", "p", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", "p b", "d", pads=[1, 1, 1, 1]), node("ConvTranspose", "d t", "u", strides=[2, 2]),
        node("Add", "c u", "y"),
    ]  # fmt: skip
    held = {"a": weights(4, 3, 3, 3), "b": weights(4, 4, 3, 3), "t": weights(4, 4, 2, 2)}
    return Case("unet", (1, 3, 64, 64), nodes, None, constants=held, opset=19).model()


def test_a_model_decides_the_tiles():
    pytest.importorskip("onnx")
    models = importlib.import_module("patchfold.models")
    evaluator = importlib.import_module("onnx.reference").ReferenceEvaluator(unet())
    shapes = []

    def run(tile):
        shapes.append(tile.shape)
        return evaluator.run(None, {"x": tile[None]})[0][0]

    x = PICTURE[:, :72, :88]
    whole = run(x)
    rounding = 4e-6 * np.abs(whole).max()  # the reference adds float32 numbers in an order that depends on the shape
    found = models.halo(unet())
    for model in (unet(), found):
        shapes.clear()
        y = tiled(run, x, model=model, memory=200_000)
        np.testing.assert_allclose(y, whole, rtol=0, atol=rounding)
        assert len(shapes) > 2 and all(float(found.bytes) * np.prod(shape) <= 200_000 for shape in shapes)
    with pytest.raises(InvalidValue, match="axis 0: node .*sums over the channels"):
        tiled(run, x, model=found, axes=(0, 1))


@pytest.mark.parametrize(
    ("fn", "arguments", "message"),
    [
        (lambda x: x - x.mean(), {}, "no overlap makes tiles exact: axis 0: .*which blends"),
        (lambda x: x + np.arange(x.shape[-1]), {"axes": -1}, "axis 2: .*depends on the place"),
        (lambda x: x / x.shape[-1], {"axes": -1}, "depends on the extent"),
        (phased, {"axes": -1, "x": PICTURE[:, :, :149]}, "x: must have extents along axis 2 that are multiples of 2"),
        (lambda x: x - x.mean(0), {"axes": (1, 2), "batch": 2}, "batch: must be 1, since the function mixes the tiles"),
        (blur, {"tile": (25, 32), "axes": (1, 2), "scale": 2}, "scale: must be left out"),
        (blur, {"window": "hann"}, "window: must be left out"),
        (pyramid, {"tile": (24, 30)}, "tile: must be multiples of the alignment"),
        (blur, {"tile": (4, 32)}, "tile: must be .*larger than the overlap"),
        (blur, {"axes": (1, 2), "memory": 10}, "memory: must hold the smallest tile, 7x5"),
        (blur, {"memory": 0}, "memory: must be a number of bytes"),
        (blur, {"axes": 3}, "axes: must be axes of the array"),
        (lambda x: x.transpose(0, 2, 1), {"axes": (1, 2)}, "axis 1 must be the same axis of each result"),
        (halved, {"axes": (1, 2), "x": PICTURE[:, :, :149]}, "x: must be cropped or padded along axis 2 to a multiple of 2"),
        (lambda x: (x, doubled(x)), {"axes": (1, 2)}, "one scale along axis 1"),
    ],
)
def test_wrong_calls_say_what_to_do(fn, arguments, message):
    with pytest.raises(InvalidValue, match=message):
        tiled(fn, **{"x": PICTURE, **arguments})


def test_plain_calls_stay_plain():
    with pytest.raises(patchfold.InvalidType, match="tile: is required"):
        patchfold.apply_tiled(np.sqrt, PICTURE, overlap=2)
    with pytest.raises(InvalidValue, match="memory: must be left out"):
        patchfold.apply_tiled(np.sqrt, PICTURE, (8, 8), overlap=2, memory=100)

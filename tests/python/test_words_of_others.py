# SPDX-License-Identifier: Apache-2.0
"""Tests of words and names of other systems: padding modes, orders such as "c kh kw", operators and their inverses."""

import functools
import itertools
import re
from pathlib import Path

import numpy as np
import patchfold
import patchfold.keras
import patchfold.onnx
import patchfold.openvino
import patchfold.tensorflow
import pytest
from patchfold import tensorflow
from patchfold._operators import other_names
from patchfold._operators.table import called_here

DOCS = Path(__file__).parents[2] / "docs"
PADDING = {
    "zeros": "constant",
    "CONSTANT": "constant",
    "replicate": "edge",
    "REFLECT": "reflect",
    "SYMMETRIC": "symmetric",
    "circular": "wrap",
}


@pytest.mark.parametrize(("theirs", "ours"), PADDING.items())
def test_padding_modes_of_torch_and_tensorflow(theirs, ours):
    x = np.arange(1, 36).reshape(1, 5, 7)
    want = patchfold.unfold(x, (3, 2), padding=(2, 1), padding_mode=ours)
    assert np.array_equal(patchfold.unfold(x, (3, 2), padding=(2, 1), padding_mode=theirs), want)
    assert np.array_equal(patchfold.run("unfold", x, kernel_size=(3, 2), padding=(2, 1), padding_mode=theirs), want)
    chunks = list(patchfold.iter_unfold(x, (3, 2), padding=(2, 1), padding_mode=theirs, max_bytes=500))
    assert len(chunks) > 1 and np.array_equal(np.concatenate([chunk.columns[0] for chunk in chunks], axis=-1), want)
    if ours != "wrap":  # tilings have no wrap, which reads the array's other end
        one, other = (patchfold.Tiling((7,), (4,), overlap=0, tail="pad", padding_mode=word) for word in (theirs, ours))
        assert one == other and np.array_equal(one.cut(x[0, 0], 1), other.cut(x[0, 0], 1))


def test_a_word_that_pads_with_zero_takes_no_other_fill():
    x = np.arange(1, 36).reshape(1, 5, 7)
    calls = [
        lambda **fill: patchfold.unfold(x, (3, 2), padding=1, **fill),
        lambda **fill: patchfold.run("unfold", x, kernel_size=(3, 2), padding=1, **fill),
        lambda **fill: patchfold.plan("unfold", x, kernel_size=(3, 2), padding=1, **fill)(x),
        lambda **fill: next(patchfold.iter_unfold(x, (3, 2), padding=1, **fill)).columns,
        lambda **fill: patchfold.Tiling((7,), (4,), overlap=0, tail="pad", **fill).cut(x[0, 0], 1),
        lambda **fill: patchfold.apply_tiled(lambda tile: tile, x[0, 0], (4,), overlap=0, tail="pad", **fill),
    ]
    for call in calls:
        for value in (5, -1, 0.5, float("nan"), True, np.int8(1)):
            for order in ({"padding_mode": "zeros", "value": value}, {"value": value, "padding_mode": "zeros"}):
                with pytest.raises(patchfold.InvalidValue, match="value: does not go with padding_mode zeros"):
                    call(**order)
        for value in (0, 0.0, False, np.int64(0)):
            assert np.array_equal(call(padding_mode="zeros", value=value), call())
        for word in ("constant", "CONSTANT"):
            assert np.array_equal(call(padding_mode=word, value=5), call(value=5))


def test_orders_that_are_spelled_out():
    x = np.arange(2 * 5 * 5).reshape(2, 5, 5)
    for spelled, order in (("c kh kw", "channel"), ("(kh kw c)", "kernel"), ("c k", "channel"), ("p1 p2 c", "kernel")):
        columns = patchfold.unfold(x, (3, 3), order=spelled)
        assert np.array_equal(columns, patchfold.unfold(x, (3, 3), order=order))
        assert np.array_equal(patchfold.fold(columns, (5, 5), (3, 3), order=spelled), x * patchfold.coverage((5, 5), 3))
    for other in ("kw kh c", "p1 kw c", "c h q"):
        with pytest.raises(patchfold.InvalidValue, match="'channel', 'kernel'"):
            patchfold.unfold(x, (3, 3), order=other)


@pytest.mark.parametrize("names", [("1", "2"), ("h", "w"), ("y", "x"), ("p", "q")], ids="".join)
@pytest.mark.parametrize("prefix", ["", "p", "k"])
def test_names_of_axes_in_spelled_orders(names, prefix):
    x = np.arange(3 * 4 * 6).reshape(3, 4, 6)
    rows, columns = (prefix + name for name in names)
    wanted = patchfold.rearrange(x, "c (h p1) (w p2) -> (h w) (p2 c p1)", p1=2, p2=3)
    assert np.array_equal(patchfold.patchify(x, (2, 3), order=f"{columns} c {rows}"), wanted)
    for frames in "ftdz":
        patches = patchfold.patchify(x[:, None], (1, 2, 3), order=f"{columns} {prefix}{frames} c {rows}")
        assert np.array_equal(patches, wanted)


@pytest.mark.parametrize(
    ("order", "patch", "expected"),
    [
        ("p1 kw c", (2, 3), "ph pw c"),
        ("pw c y", (2, 3), "pw c ph"),
        ("p1 pw c", (2, 3), "ph pw c"),
        ("c h q", (2, 3), "c ph pw"),
        ("(f ph pw c)", (1, 2, 3), "pf ph pw c"),
        ("k w c", (2, 3), "ph pw c"),
    ],
)
def test_mixed_names_in_spelled_orders_are_refused(order, patch, expected):
    x = np.arange(3 * 4 * 6).reshape(3, *[1] * (len(patch) - 2), 4, 6)
    with pytest.raises(patchfold.InvalidValue) as caught:
        patchfold.patchify(x, patch, order=order)
    assert caught.value.rule == "must name all axes in one way" and caught.value.expected == repr(expected)
    assert patchfold.patchify(x, patch, order=expected).shape == (4, 18)


@pytest.mark.parametrize("names", list(itertools.permutations(("p1", "p2", "pf", "c"))), ids="-".join)
@pytest.mark.parametrize("layout", ["channels_first", "channels_last"])
def test_tokens_in_any_order(names, layout):
    x = np.arange(2 * 3 * 4 * 6 * 8).reshape(2, 3, 4, 6, 8)
    order = " ".join(names)
    want = patchfold.rearrange(x, f"b c (f pf) (h p1) (w p2) -> b (f h w) ({order})", pf=2, p1=3, p2=4)
    given = x if layout == "channels_first" else np.moveaxis(x, 1, -1)
    tokens = patchfold.patchify(given, (2, 3, 4), order=f"({order})", layout=layout)
    assert np.array_equal(tokens, want)
    out = np.zeros(want.shape, want.dtype, order="F")
    assert patchfold.patchify(given, (2, 3, 4), order=order, layout=layout, out=out) is out and np.array_equal(out, want)
    back = patchfold.unpatchify(tokens, (4, 6, 8), (2, 3, 4), order=order, layout=layout)
    assert np.array_equal(back, given)
    out = np.zeros(given.shape, given.dtype, order="F")
    patchfold.unpatchify(tokens, (4, 6, 8), (2, 3, 4), order=order, layout=layout, out=out)
    assert np.array_equal(out, given)


def test_tokens_in_merge_blocks_in_any_order():
    x = np.arange(2 * 3 * 8 * 8).reshape(2, 3, 8, 8)
    want = patchfold.rearrange(x, "b c (h m p) (w n q) -> b (h w m n) (q c p)", m=2, n=2, p=2, q=2)
    assert np.array_equal(patchfold.patchify(x, 2, order="p2 c p1", merge_size=2), want)


WINDOWS = list(itertools.product([(2, 2), (3, 1)], [(1, 1), (2, 3)], [(1, 1), (2, 1)]))


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
@pytest.mark.parametrize(("kernel", "stride", "rate"), WINDOWS)
def test_patches_put_back(kernel, stride, rate, padding):
    """Checks that the mean restores covered elements, and that the sum is the adjoint: <unfold x, p> = <x, fold p>."""
    rng = np.random.default_rng(0)
    x = rng.integers(1, 100, (2, 7, 9, 3))

    def check(patches, put):
        covered = put(np.ones_like(patches), reduction="mean")
        assert np.array_equal(put(patches), x * covered)
        other = rng.integers(-9, 9, patches.shape)
        assert (patches * other).sum() == (x * put(other, reduction="sum")).sum()

    lists = {"sizes": [1, *kernel, 1], "strides": [1, *stride, 1], "rates": [1, *rate, 1], "padding": padding}
    patches = patchfold.tensorflow.extract_patches(x, **lists)
    check(patches, lambda p, **more: patchfold.tensorflow.reconstruct_patches(p, (7, 9), **lists, **more))

    word = padding.lower()
    settings = {"strides": stride, "padding": word, "dilation_rate": rate}
    check(
        patchfold.keras.extract_patches(x, kernel, **settings),
        lambda p, **more: patchfold.keras.reconstruct_patches(p, kernel, (7, 9), **settings, **more),
    )

    def first(array):
        return np.moveaxis(array, -1, 1)

    pads = {"sizes": kernel, "strides": stride, "rates": rate, "auto_pad": "valid" if padding == "VALID" else "same_lower"}
    patches = patchfold.openvino.extract_image_patches(first(x), **pads)
    check(
        np.moveaxis(patches, 1, -1),
        lambda p, **more: np.moveaxis(patchfold.openvino.reconstruct_patches(first(p), (7, 9), **pads, **more), 1, -1),
    )


def test_patches_of_tensorflow_take_the_names_of_version_1():
    x = np.arange(2 * 7 * 5 * 3).reshape(2, 7, 5, 3)
    rest = {"strides": [1, 2, 1, 1], "rates": [1, 1, 2, 1], "padding": "SAME"}
    want = patchfold.run("tensorflow.ExtractImagePatches", x, ksizes=[1, 3, 2, 1], **rest)
    out = np.zeros_like(want)
    for call in (
        lambda **more: patchfold.tensorflow.extract_image_patches(x, [1, 3, 2, 1], *rest.values(), **more),
        lambda **more: patchfold.tensorflow.extract_image_patches(x, ksizes=[1, 3, 2, 1], **rest, **more),
        lambda **more: patchfold.tensorflow.extract_image_patches(x, sizes=[1, 3, 2, 1], **rest, **more),
        lambda **more: patchfold.tensorflow.extract_patches(x, [1, 3, 2, 1], *rest.values(), **more),
        lambda **more: patchfold.tensorflow.extract_patches(x, sizes=[1, 3, 2, 1], **rest, **more),
    ):
        assert np.array_equal(call(), want)
        assert call(out=out) is out and np.array_equal(out, want)
        out[:] = 0


def test_keras_works_out_the_extents_that_patches_cover():
    x = np.arange(2 * 7 * 8).reshape(2, 7, 8)
    patches = patchfold.keras.extract_patches(x, 3, 2, data_format="channels_first")
    back = patchfold.keras.reconstruct_patches(patches, 3, None, 2, data_format="channels_first")
    assert np.array_equal(back, x[:, :7, :7])
    volume = np.arange(4 * 4 * 6 * 2).reshape(4, 4, 6, 2)
    blocks = patchfold.keras.extract_patches(volume, (2, 2, 3))
    assert np.array_equal(patchfold.keras.reconstruct_patches(blocks, (2, 2, 3)), volume)


def test_columns_of_onnx():
    x = np.random.default_rng(1).integers(0, 9, (2, 3, 6, 7))
    settings = {"dilations": (2, 1), "pads": (1, 0, 2, 1), "strides": (1, 2)}
    columns = patchfold.onnx.im2col(x, (2, 3), **settings)
    covered = patchfold.onnx.col2im(np.ones_like(columns), (6, 7), (2, 3), **settings)
    assert np.array_equal(patchfold.onnx.col2im(columns, (6, 7), (2, 3), **settings), x * covered)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("im2col", "patchfold.unfold(image, kernel_size)"),
        ("reconstruct_from_patches_2d", "patchfold.reconstruct(columns, shape, kernel_size)"),
        ("combine_tensor_patches", "patchfold.reconstruct(columns, shape, kernel_size)"),
        ("col2im", "patchfold.fold(columns, output_size, kernel_size)"),
        ("unfoldNd", "patchfold.unfold(image, kernel_size)"),
        ("view_as_windows", "patchfold.unfold_view(image, kernel_size)"),
        ("sliding_window_view", "patchfold.unfold_view(image, kernel_size)"),
        ("extract_patches", "patchfold.keras.extract_patches(images, size)"),
        ("extract_image_patches", "patchfold.tensorflow.extract_image_patches(images, ksizes, strides, rates, padding)"),
        ("extract_patches_2d", "patchfold.unfold(image, kernel_size)"),
        ("pixel_shuffle", "patchfold.torch.pixel_shuffle(input, upscale_factor)"),
        ("Unfold", "patchfold.unfold(image, kernel_size)"),
        ("DepthToSpace", "patchfold.depth_to_space(deep, block)"),
        ("PixelUnshuffle", "patchfold.torch.pixel_unshuffle(input, downscale_factor)"),
        ("space_to_batch_nd", "patchfold.tensorflow.space_to_batch_nd(input, block_shape, paddings)"),
        ("im2row", 'patchfold.unfold(image, kernel_size, order="kernel").swapaxes(-1, -2)'),
        ("channel_shuffle", "patchfold.reorder(x.reshape(n, c, -1), (c // groups,))"),
        ("blockproc", "patchfold.apply_tiled(fn, x, tile, overlap=0)"),
    ],
)
def test_names_from_elsewhere_say_what_they_are_called_here(name, call):
    with pytest.raises(AttributeError) as caught:
        getattr(patchfold, name)
    assert str(caught.value) == f"module 'patchfold' has no attribute {name!r}; it is {call} here"
    assert not hasattr(patchfold, name)
    with pytest.raises(ImportError) as failed:
        exec(f"from patchfold import {name}", {})
    assert str(failed.value) == f"cannot import name {name!r} from 'patchfold'; it is {call} here"
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        exec("from patchfold import unfold, nonsense", {})


def names_of_the_page():
    """Returns the names of functions and classes in the first column of the page's table of names."""
    rows = re.findall(r"^\| ([^|]+) \| `?[^|]+ \|$", (DOCS / "python.md").read_text().partition('<a id="names">')[2], re.M)
    words = re.findall(r"[A-Za-z_][\w.:]*", ", ".join(re.sub(r'"[^"]*"|\(unfoldNd package\)', "", row) for row in rows))
    named = [word.replace("::", ".").rstrip(".") for word in words if re.search(r"[._:\d]|[a-z][A-Z]", word)]
    no_names = {"NumPy", "OpenVINO", "RealNVP", "ViT", "stride_tricks", "util", "image", "at", "vit", "add"}
    return {word.rpartition(".")[2] for word in named} - no_names


def test_every_name_of_the_page_is_known_or_says_what_it_is_called_here():
    names = names_of_the_page()
    assert {"im2vol", "col2vol", "frame", "window_partition", "GridSampler", "extract_glimpse", "copy_"} <= names
    assert [name for name in sorted(names) if not hasattr(patchfold, name) and not called_here(name)] == []


def test_the_calls_that_names_stand_for_exist():
    for call in other_names.CALLS.values():
        for path in re.findall(r"patchfold((?:\.\w+)+)", call):
            if path.split(".")[1] not in ("monai", "torchio"):  # which need other packages
                assert functools.reduce(getattr, path.split(".")[1:], patchfold)


def test_swins_windows_by_the_call_that_their_name_stands_for():
    x = np.arange(2 * 6 * 4 * 3).reshape(2, 6, 4, 3)
    named = {"x": x, "window": 2, "patchfold": patchfold, "rows": 3, "columns": 2}
    windows = eval(other_names.CALLS["window_partition"], named)
    assert np.array_equal(windows, x.reshape(2, 3, 2, 2, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(-1, 2, 2, 3))
    assert np.array_equal(eval(other_names.CALLS["window_reverse"], named | {"windows": windows}), x)


def test_other_names_have_no_hint():
    for name in ("nonsense", "__wrapped__", "_core2"):
        with pytest.raises(AttributeError) as caught:
            getattr(patchfold, name)
        assert str(caught.value) == f"module 'patchfold' has no attribute {name!r}"


def test_tensorflows_calls_of_every_version_run():
    x, pads = np.arange(2 * 4 * 6 * 3).reshape(2, 4, 6, 3), [[1, 1], [0, 0]]
    blocks = tensorflow.space_to_batch_nd(x, [2, 2], pads, "name")
    for made in (
        tensorflow.space_to_batch(x, [2, 2], pads),
        tensorflow.space_to_batch(x, np.array([2, 2]), np.array(pads), "name"),
        tensorflow.space_to_batch(x, block_shape=(2, 2), paddings=pads),
        tensorflow.space_to_batch(x, pads, 2, name="name"),
        tensorflow.space_to_batch(input=x, paddings=pads, block_size=np.int64(2)),
    ):
        assert np.array_equal(made, blocks)
    for back in (
        tensorflow.batch_to_space(blocks, [2, 2], pads, name="name"),
        tensorflow.batch_to_space(blocks, block_shape=[2, 2], crops=pads),
        tensorflow.batch_to_space(blocks, pads, 2),
        tensorflow.batch_to_space_nd(blocks, [2, 2], pads, "name"),
    ):
        assert np.array_equal(back, x)


def test_tensorflows_functions_take_the_name_of_a_node():
    x, lists = np.arange(2 * 4 * 6 * 4).reshape(2, 4, 6, 4), ([1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME")
    for call, arguments in (
        (tensorflow.space_to_depth, (x, 2, "NHWC")),
        (tensorflow.depth_to_space, (x, 2, "NHWC")),
        (tensorflow.extract_patches, (x, *lists)),
        (tensorflow.extract_image_patches, (x, *lists)),
        (tensorflow.extract_volume_patches, (x[None], [1, 2, 2, 2, 1], [1] * 5, "VALID")),
    ):
        assert np.array_equal(call(*arguments, "node"), call(*arguments))
        assert np.array_equal(call(*arguments, name=None), call(*arguments))

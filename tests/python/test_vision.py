# SPDX-License-Identifier: Apache-2.0
"""Tables of numbers for bytes, patchify by a table, and resizing beside Pillow."""

import re

import ml_dtypes
import numpy as np
import patchfold
import pytest
from patchfold import vision
from PIL import Image

FILTERS = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")  # in the order of Pillow's numbers
CLIP = ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711])


def random_bytes(seed, *shape):
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def normalized(formula, x, mean, std, scale):
    """Returns (x * scale - mean) / std for one channel, by the steps of a backend of transformers."""
    f = np.float32
    if formula == "torchvision":
        m, s = f(f(mean) * f(1 / scale)), f(f(std) * f(1 / scale))
        return f(f(f(x) - m) / s)
    return f(f(f(float(x) * scale) - f(mean)) / f(std))


@pytest.mark.parametrize("formula", ["torchvision", "pil"])
@pytest.mark.parametrize("scale", [1 / 255, 1 / 127.5, 1.0])
def test_a_table_has_the_bits_of_its_formula(formula, scale):
    table = vision.normalization_table(*CLIP, scale=scale, formula=formula)
    assert table.dtype == np.float32 and table.shape == (3, 256)
    for c in range(3):
        for x in range(256):
            assert table[c, x] == normalized(formula, x, CLIP[0][c], CLIP[1][c], scale)


def test_the_formulas_differ():
    assert (vision.normalization_table(*CLIP) != vision.normalization_table(*CLIP, formula="pil")).sum() == 537


def test_a_table_without_mean_only_scales():
    assert np.array_equal(vision.normalization_table(), np.arange(256, dtype=np.float32) * np.float32(1 / 255))
    assert np.array_equal(vision.normalization_table(formula="pil"), (np.arange(256) * (1 / 255)).astype(np.float32))
    assert np.array_equal(vision.normalization_table(scale=None, dtype="uint8"), np.arange(256, dtype=np.uint8))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_short_floats_are_rounded_once(dtype):
    table = vision.normalization_table(*CLIP, dtype=dtype)
    assert table.dtype == dtype and np.array_equal(table, vision.normalization_table(*CLIP).astype(dtype))
    assert vision.normalization_table(dtype=np.dtype(dtype).name).dtype == dtype


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"mean": 0.5}, patchfold.InvalidValue, "normalization_table: std: must be given if the other one is"),
        ({"mean": "0.5", "std": "x"}, patchfold.InvalidType, "std: must be a number"),
        ({"mean": [[0.5]], "std": 1}, patchfold.InvalidValue, "mean: must be a number that is finite in float32"),
        ({"mean": np.nan, "std": 1}, patchfold.InvalidValue, "mean: must be a number that is finite in float32"),
        ({"mean": [0.5, 0.5], "std": [1, 1, 1]}, patchfold.InvalidValue, "std: must have as many numbers as mean"),
        ({"mean": 0, "std": [1, 0]}, patchfold.InvalidValue, "std: must not be 0"),
        ({"scale": 0}, patchfold.InvalidValue, "scale: must be a finite number other than 0"),
        ({"scale": "1"}, patchfold.InvalidType, "scale: must be a number or None"),
        ({"formula": "cv2"}, patchfold.InvalidValue, "formula: must be one of 'torchvision', 'pil'"),
        ({"dtype": "flaot32"}, patchfold.InvalidValue, "of type str; did you mean float32?"),
    ],
)
def test_wrong_tables(arguments, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        vision.normalization_table(**arguments)


def layouts_of(x):
    """Yields pictures (.., C, H, W) with the elements of x and other strides."""
    yield x
    yield np.moveaxis(np.ascontiguousarray(np.moveaxis(x, -3, -1)), -1, -3)
    yield np.ascontiguousarray(x[..., ::-1])[..., ::-1]
    wide = np.zeros((*x.shape[:-1], x.shape[-1] * 2), np.uint8)
    wide[..., ::2] = x
    yield wide[..., ::2]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "uint8"])
@pytest.mark.parametrize("settings", [{}, {"order": "torch"}, {"merge_size": 2}, {"order": "c pw ph"}])
def test_patchify_by_a_table_is_patchify_of_the_entries(dtype, settings):
    x = random_bytes(1, 2, 3, 24, 40)
    table = random_bytes(2, 3, 256) if dtype == "uint8" else vision.normalization_table(*CLIP, dtype=dtype)
    numbers = table[np.arange(3)[:, None, None], x]
    wanted = patchfold.patchify(numbers, (4, 4), **settings)
    for picture in layouts_of(x):
        tokens = patchfold.patchify(picture, (4, 4), table=table, **settings)
        assert tokens.dtype == table.dtype and np.array_equal(tokens, wanted)
    last = patchfold.patchify(np.moveaxis(x, 1, -1), (4, 4), table=table, layout="channels_last", **settings)
    assert np.array_equal(last, wanted)
    out = np.zeros((*wanted.shape[:-1], wanted.shape[-1] * 2), table.dtype)[..., ::2]
    assert patchfold.patchify(x, (4, 4), table=table, out=out, **settings) is out and np.array_equal(out, wanted)


def test_patchify_of_a_video_by_a_table():
    x = random_bytes(3, 4, 3, 56, 84)
    table = vision.normalization_table(*CLIP)
    wanted = patchfold.patchify(table[np.arange(3)[:, None, None], x], 14, order="qwen")
    assert np.array_equal(patchfold.patchify(x, 14, order="qwen", table=table), wanted)
    shown_twice = np.broadcast_to(x[:1], (2, 3, 56, 84))
    wanted = patchfold.patchify(table[np.arange(3)[:, None, None], shown_twice], 14, order="qwen")
    assert np.array_equal(patchfold.patchify(shown_twice, 14, order="qwen", table=table), wanted)


@pytest.mark.parametrize("order", ["qwen", "vit", "t c h w", "h w c t"])
def test_a_picture_is_read_once_for_all_its_frames(order):
    x, table = random_bytes(4, 3, 30, 42), vision.normalization_table(*CLIP)
    video = np.broadcast_to(x, (6, 3, 30, 42))
    settings = {"order": order, "layout": "frames_first", "merge_size": 1}
    wanted = patchfold.patchify(table[np.arange(3)[:, None, None], video], (3, 5, 7), **settings)
    assert np.array_equal(patchfold.patchify(video, (3, 5, 7), table=table, **settings), wanted)
    out = np.zeros((*wanted.shape[:-1], wanted.shape[-1] * 2), np.float32)[..., ::2]
    assert np.array_equal(patchfold.patchify(video, (3, 5, 7), table=table, out=out, **settings), wanted)


def test_one_table_for_all_channels():
    x, table = random_bytes(4, 5, 8, 8), vision.normalization_table(0.5, 0.5)
    assert np.array_equal(patchfold.patchify(x, 4, table=table), patchfold.patchify(table[x], 4))


def test_empty_batches_by_a_table():
    assert patchfold.patchify(np.zeros((0, 3, 8, 8), np.uint8), 4, table=vision.normalization_table()).shape == (0, 4, 48)


@pytest.mark.parametrize(
    ("x", "table", "kind", "message"),
    [
        (np.zeros((3, 8, 8), "f4"), np.zeros((3, 256)), patchfold.InvalidType, "patchify: x: must have bytes as elements"),
        (np.zeros((3, 8, 8), np.uint8), np.zeros((2, 256)), patchfold.InvalidValue, "table: must have 256 entries"),
        (np.zeros((3, 8, 8), np.uint8), np.zeros(255), patchfold.InvalidValue, "table: must have 256 entries"),
        (np.zeros((3, 8, 8), np.uint8), [0] * 256, patchfold.InvalidType, "table: must be a NumPy array or a torch tensor"),
        (np.zeros((3, 8, 8), np.uint8), np.zeros((3, 256), object), patchfold.InvalidType, "table"),
    ],
)
def test_wrong_tables_of_patchify(x, table, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        patchfold.patchify(x, 4, table=table)


def pillow(x, size, name, box=None):
    """Returns a picture (rows, columns) or (rows, columns, 3) that Pillow resized."""
    return np.asarray(Image.fromarray(x).resize((size[1], size[0]), FILTERS.index(name), box=box))


def test_resize_has_pillows_bits_in_2000_random_cases():
    random = np.random.default_rng(5)
    for case in range(2000):
        rows, columns, *size = (int(n) for n in random.integers(1, 100, 4))
        if case % 9 == 0:
            rows, columns = rows * 5, columns * 5
        name = FILTERS[case % 6]
        x = random.integers(0, 256, (rows, columns, 3), np.uint8)
        box = None
        if case % 3 == 0:
            left, right = np.sort(random.uniform(0, columns, 2))
            upper, lower = np.sort(random.uniform(0, rows, 2))
            box = (left, upper, right, lower) if right - left > 0.01 and lower - upper > 0.01 else None
        wanted = pillow(x, size, name, box)
        first = case % 2 == 0
        picture = np.moveaxis(x, -1, 0) if first else x
        if case % 4 > 1:
            picture = picture.copy()
        got = vision.resize(picture, size, name, layout="channels_first" if first else "channels_last", box=box)
        assert np.array_equal(np.moveaxis(got, 0, -1) if first else got, wanted), (case, name, x.shape, size, box)


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize(("shape", "size"), [((700, 900), (224, 224)), ((900, 300), (50, 290)), ((60, 2000), (90, 31))])
def test_resize_of_large_pictures_on_threads(name, shape, size):
    x = random_bytes(6, *shape, 3)
    assert np.array_equal(vision.resize(x, size, name, layout="channels_last"), pillow(x, size, name))


def test_every_instruction_set_resizes_alike():
    x = random_bytes(7, 91, 77)
    wanted = pillow(x, (40, 60), "bicubic")
    try:
        for name in patchfold.instruction_sets():
            patchfold.use_instruction_set(name)
            assert np.array_equal(vision.resize(x, (40, 60)), wanted), name
    finally:
        patchfold.use_instruction_set("")


def test_batches_flips_and_out():
    x = random_bytes(8, 2, 5, 3, 30, 40)
    wanted = np.stack([[[pillow(plane, (17, 50), "lanczos") for plane in one] for one in row] for row in x])
    assert np.array_equal(vision.resize(x, (17, 50), "lanczos"), wanted)
    flipped = x[:, ::-1, :, ::-1, ::-1]
    wanted = np.stack([[[pillow(plane, (17, 50), "lanczos") for plane in one] for one in row] for row in flipped])
    out = np.zeros((2, 5, 3, 17, 100), np.uint8)[..., ::2]
    assert vision.resize(flipped, (17, 50), "lanczos", out=out) is out and np.array_equal(out, wanted)
    assert vision.resize(x[:0], (17, 50)).shape == (0, 5, 3, 17, 50)


def test_many_pictures_go_in_groups():
    x = random_bytes(9, 70, 4, 4)
    got = vision.resize(x, (1000, 1001), "bilinear")
    for n in (0, 33, 69):
        assert np.array_equal(got[n], pillow(x[n], (1000, 1001), "bilinear"))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda x: vision.resize(x.tolist(), (2, 2)), patchfold.InvalidType, "resize: x: must be an array"),
        (lambda x: vision.resize(x.astype("u2"), (2, 2)), patchfold.InvalidType, "resize: x: must have bytes"),
        (lambda x: vision.resize(x[0, 0], (2, 2)), patchfold.InvalidValue, "resize: x: must have rows and columns"),
        (lambda x: vision.resize(x[:, :0], (2, 2)), patchfold.InvalidValue, "must have rows and columns"),
        (lambda x: vision.resize(x, 2), patchfold.InvalidType, "size: must be (rows, columns)"),
        (lambda x: vision.resize(x, (2, 2.5)), patchfold.InvalidType, "size: must be (rows, columns)"),
        (lambda x: vision.resize(x, (0, 2)), patchfold.InvalidValue, "size: must be from 1 to 2^20"),
        (lambda x: vision.resize(x, (2, 10**30)), patchfold.InvalidValue, "size: must be from 1 to 2^20"),
        (lambda x: vision.resize(x, (2, 2), "cubic"), patchfold.InvalidValue, "filter: must be one of 'nearest'"),
        (lambda x: vision.resize(x, (2, 2), 3), patchfold.InvalidType, "filter: must be one of 'nearest'"),
        (lambda x: vision.resize(x, (2, 2), fixed_point="cv2"), patchfold.InvalidValue, "fixed_point: must be one of"),
        (lambda x: vision.resize(x, (2, 2), "box", fixed_point="torch"), patchfold.InvalidValue, "only bilinear"),
        (lambda x: vision.resize(x, (2, 2), box=(0, 0, 99, 2)), patchfold.InvalidValue, "box: must be (left, upper"),
        (lambda x: vision.resize(x, (2, 2), box=(0, 0, np.nan, 2)), patchfold.InvalidValue, "box: must be (left, upper"),
        (lambda x: vision.resize(x, (2, 2), box=(0, 1)), patchfold.InvalidType, "box: must be four numbers"),
        (lambda x: vision.resize(x, (2, 2), box=7), patchfold.InvalidType, "box: must be four numbers"),
        (lambda x: vision.resize(x, (2, 2), out=x), patchfold.InvalidValue, "out: must have the shape"),
        (lambda x: vision.resize(x, x.shape[-2:], out=x), patchfold.InvalidValue, "must not share memory"),
    ],
)
def test_wrong_calls_of_resize(call, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        call(random_bytes(10, 3, 6, 8))

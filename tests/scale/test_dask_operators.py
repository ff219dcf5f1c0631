# SPDX-License-Identifier: Apache-2.0
"""Tests that operators on dask arrays give the bits of the operators on whole arrays, and that docs/scale.md is right."""

import inspect
import re
from pathlib import Path

import dask.array
import numpy as np
import patchfold
import patchfold.dask
import pytest
from patchfold import InvalidType, InvalidValue


def cut(x, rng):
    """Returns a dask array with chunks of random extents."""
    return dask.array.from_array(x, chunks=tuple(int(rng.integers(1, max(extent, 1) + 1)) for extent in x.shape))


def shape_of(batch, channels, spatial, layout):
    return (*batch, channels, *spatial) if layout == "channels_first" else (*batch, *spatial, channels)


def same(lazy, want):
    got = lazy.compute(scheduler="sync")
    assert lazy.shape == got.shape == want.shape and lazy.dtype == want.dtype and got.tobytes() == want.tobytes()


@pytest.mark.parametrize("seed", range(5))
def test_random_calls_have_the_same_bits(seed):
    rng = np.random.default_rng(seed)
    tried = 0
    while tried < 20:
        count = int(rng.integers(1, 4))
        batch = tuple(map(int, rng.integers(1, 4, rng.integers(0, 3))))
        layout = str(rng.choice(["channels_first", "channels_last"]))
        channels, spatial = int(rng.integers(1, 4)), tuple(map(int, rng.integers(3, 13, count)))
        kind = rng.choice(["float32", "uint8", "float64"])
        x = (rng.random(shape_of(batch, channels, spatial, layout)) * 100).astype(kind)
        kernel = tuple(map(int, rng.integers(1, 4, count)))
        window = {
            "stride": tuple(map(int, rng.integers(1, 5, count))),
            "dilation": tuple(map(int, rng.integers(1, 3, count))),
            "padding": [(int(b), int(e)) for b, e in rng.integers(-1, 4, (count, 2))],
            "layout": layout,
            "order": str(rng.choice(["channel", "kernel"])),
            "positions": str(rng.choice(["flat", "grid"])),
        }
        modes = ["constant", "edge", "reflect", "symmetric", "wrap", "zeros", "replicate", "circular"]
        fills = {"padding_mode": str(rng.choice(modes)), "value": int(rng.choice([0, 3]))}
        try:
            columns = patchfold.unfold(x, kernel, **window, **fills)
        except InvalidValue as error:
            with pytest.raises(InvalidValue) as caught:
                patchfold.dask.unfold(cut(x, rng), kernel, **window, **fills)
            assert str(caught.value) == str(error)
            continue
        same(patchfold.dask.unfold(cut(x, rng), kernel, **window, **fills), columns)
        for reduce in ({"reduce": "sum"}, {"reduce": "mean", "fill": 7}):
            want = patchfold.fold(columns, spatial, kernel, **window, **reduce)
            same(patchfold.dask.fold(cut(columns, rng), spatial, kernel, **window, **reduce), want)
        tried += 1


@pytest.mark.parametrize("layout", ["channels_first", "channels_last"])
@pytest.mark.parametrize("mode", ["blocks_first", "depth_first"])
def test_blocks_have_the_same_bits(layout, mode):
    rng = np.random.default_rng(3)
    for _ in range(20):
        count = int(rng.integers(1, 4))
        block = tuple(map(int, rng.integers(1, 4, count)))
        spatial = tuple(int(extent) * size for extent, size in zip(rng.integers(1, 6, count), block, strict=True))
        x = rng.random(shape_of((2,), int(rng.integers(1, 4)), spatial, layout))
        deep = patchfold.space_to_depth(x, block, mode=mode, layout=layout)
        same(patchfold.dask.space_to_depth(cut(x, rng), block, mode=mode, layout=layout), deep)
        same(patchfold.dask.depth_to_space(cut(deep, rng), block, mode=mode, layout=layout), x)


def test_chunks_stay_and_the_halo_is_all_that_is_read_beyond_them():
    x = dask.array.from_array(np.random.default_rng(0).random((1, 2, 64, 64)), chunks=(1, 2, 16, 32))
    y = patchfold.dask.unfold(x, 3, padding=1, positions="grid")
    assert y.chunks == ((1,), (18,), (17, 16, 16, 15), (33, 31))
    corner = y[:, :, :4, :4].__dask_optimize__(y[:, :, :4, :4].dask, y[:, :, :4, :4].__dask_keys__())
    assert len(corner) < len(y.dask) / 3


def test_elements_without_a_number_are_moved():
    x = np.array([[b"ab", b"c", b"d", b"e"]], dtype="S3")
    y = patchfold.dask.unfold(dask.array.from_array(x, chunks=(1, 2)), (2,), padding=[(0, 0)])
    assert np.array_equal(y.compute(), patchfold.unfold(x, (2,)))
    with pytest.raises(InvalidType, match="fold"):
        patchfold.dask.fold(dask.array.from_array(np.asarray(y), chunks=-1), (4,), (2,))


def test_wrong_calls_say_what_is_wrong():
    with pytest.raises(InvalidType, match=r"dask.unfold: x: must be a dask array; given.*dask.array.from_array"):
        patchfold.dask.unfold(np.zeros((1, 1, 4, 4)), 2)
    x = dask.array.from_array(np.ones((1, 1, 4, 5)), chunks=-1)
    with pytest.raises(InvalidValue, match="space_to_depth"):
        patchfold.dask.space_to_depth(x, 2)
    with pytest.raises(InvalidType, match="compute_chunk_sizes"):
        patchfold.dask.unfold(x[dask.array.ones(1, chunks=1) > 0], 2)


PAGE = Path(__file__).parents[2] / "docs" / "scale.md"


def test_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    blocks = re.findall(r"(?ms)^```python[^\n]*\n(.*?)^```$", PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == 2
    for block in blocks:
        block = block.replace("threads_per_worker=1", "threads_per_worker=1, processes=False")  # starts faster
        exec(compile(block, str(PAGE), "exec"), names)
    assert "chunks written" in capsys.readouterr().out


@pytest.mark.parametrize("name", patchfold.dask.__all__)
def test_docstrings_name_every_argument(name):
    value = getattr(patchfold.dask, name)
    text = inspect.getdoc(value)
    assert text
    if name in ("apply_tiled", "split", "merge", "once"):
        arguments = text.partition("Arguments:")[2].partition("\n\n")[0]
        described = {each for line in re.findall(r"(?m)^    ([a-z][a-z_, ]*): ", arguments) for each in line.split(", ")}
        assert described == set(inspect.signature(value).parameters)

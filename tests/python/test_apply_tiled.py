# SPDX-License-Identifier: Apache-2.0
"""Tests of apply_tiled, with arrays of other libraries, batches, files, stores, functions, threads and memory."""

import gc
import importlib.util
import os
import sys
import warnings

import ml_dtypes
import numpy as np
import patchfold
import pytest
from patchfold import InvalidType, InvalidValue

X = np.random.default_rng(0).normal(size=(3, 50, 40)).astype(np.float32)
T = patchfold.Tiling(X.shape, (16, 12), overlap=4)
NOTES = sys.version_info >= (3, 11)


def apply(fn, x=X, tile=(16, 12), *, overlap=4, **arguments):
    return patchfold.apply_tiled(fn, x, tile, overlap=overlap, **{"progress": False} | arguments)


def fill(merger, x=X, tiling=T):
    for index, tile in enumerate(tiling.split(x)):
        merger.add(index, tile)


def libraries():
    """Returns {library: (array, function to NumPy's array)} of installed libraries. A broken library is an error."""
    found = {"numpy": (X, np.asarray)}
    if importlib.util.find_spec("torch"):
        import torch

        found["torch"] = (torch.from_numpy(X), lambda y: y.numpy())
    if importlib.util.find_spec("jax"):
        import jax.numpy as jnp

        found["jax"] = (jnp.asarray(X), np.asarray)
    return found


LIBRARIES = libraries()


@pytest.mark.parametrize("batch", [None, 1, 3, 100])
@pytest.mark.parametrize("tail", ["shift", "pad", "partial"])
@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_functions_of_every_library_in_stacks_of_every_size(library, tail, batch):
    if library not in LIBRARIES:
        pytest.skip(f"{library} is not installed")
    x, as_numpy = LIBRARIES[library]
    shapes = []

    def double(tile):
        assert type(tile) is type(x)
        shapes.append(tuple(tile.shape))
        return tile * 2

    y = apply(double, x, tail=tail, batch=batch)
    assert type(y) is type(x)
    np.testing.assert_array_equal(as_numpy(y), X * 2, strict=True)
    tiling = patchfold.Tiling(X.shape, (16, 12), overlap=4, tail=tail)
    if batch is None:
        assert shapes == [tile.shape for tile in tiling]
    else:
        assert sum(shape[0] for shape in shapes) == len(tiling) and max(shape[0] for shape in shapes) <= batch
        assert [shape[1:] for shape in shapes for _ in range(shape[0])] == [tile.shape for tile in tiling]
        if tail != "partial":
            assert [shape[0] for shape in shapes[:-1]] == [min(batch, len(tiling))] * (len(shapes) - 1)


def test_scaled_results_with_other_channels():
    """Applies a function that doubles the resolution and sums three channels to one."""
    y = apply(lambda tile: tile.sum(0).repeat(2, 0).repeat(2, 1), scale=2)
    np.testing.assert_array_equal(y, X.sum(0).repeat(2, 0).repeat(2, 1), strict=True)
    y = apply(lambda tile: tile.sum(0).repeat(2, 0).repeat(2, 1)[1:-1, 1:-1], scale=2, offset=1, result=(30, 22), fill=0)
    np.testing.assert_array_equal(y[1:-1, 1:-1], X.sum(0).repeat(2, 0).repeat(2, 1)[1:-1, 1:-1], strict=True)
    assert not y[0].any() and not y[:, -1].any()


def test_valid_convolutions_have_shorter_results():
    """Applies a function whose result lacks the first and the last element of its tile."""
    x = np.random.default_rng(0).normal(size=100)
    y = apply(lambda tile: tile[1:-1] + tile[2:], x, 16, overlap=2, offset=1, result=14, window="ones", fill=np.nan)
    np.testing.assert_array_equal(y[1:-1], x[1:-1] + x[2:])
    assert np.isnan(y[[0, -1]]).all()


def test_a_function_may_change_its_tile_and_give_the_same_memory_every_time():
    room = np.empty((3, 16, 12), np.float32)

    def negative(tile):
        np.negative(tile, out=room)
        tile[...] = 7
        return room

    before = X.copy()
    np.testing.assert_array_equal(apply(negative), -X)
    np.testing.assert_array_equal(X, before)


def test_a_mask_leaves_tiles_out():
    mask = np.ones(T.grid, bool)
    mask[0, 0] = mask[2, 1] = False
    calls = []
    y = apply(lambda tile: calls.append(1) or tile, mask=mask, fill=-1)
    assert len(calls) == mask.sum()
    expected = np.full_like(X, -1)
    for tile in T:
        if mask[tile.position]:
            expected[tile.write] = X[tile.read]
    np.testing.assert_array_equal(y, expected)


def test_another_output_type():
    y = apply(lambda tile: (tile * 10).astype(np.int16), dtype="float64")
    np.testing.assert_array_equal(y, (X * 10).astype(np.int16).astype(float), strict=True)
    y = apply(lambda tile: tile.astype(ml_dtypes.bfloat16), dtype=np.float32)
    np.testing.assert_array_equal(y, X.astype(ml_dtypes.bfloat16).astype(np.float32), strict=True)


def test_the_result_is_of_the_kind_of_x():
    torch = pytest.importorskip("torch")
    y = apply(lambda tile: torch.from_numpy(tile))
    assert isinstance(y, np.ndarray) and np.array_equal(y, X)
    y = apply(lambda tile: tile.numpy(), torch.from_numpy(X))
    assert isinstance(y, torch.Tensor) and np.array_equal(y.numpy(), X)
    y = apply(lambda tile: torch.from_numpy(tile).bfloat16())
    assert y.dtype == ml_dtypes.bfloat16 and np.array_equal(y, X.astype(ml_dtypes.bfloat16))
    jax = pytest.importorskip("jax")
    y = apply(lambda tile: np.asarray(tile), jax.numpy.asarray(X))
    assert isinstance(y, jax.Array) and np.array_equal(y, X)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"])
@pytest.mark.parametrize("copies", [False, True])
def test_small_types_of_torch(name, copies):
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, name)
    bits = np.random.default_rng(0).integers(0, 256, (3, 50, 40 * dtype.itemsize), np.uint8)
    x = torch.from_numpy(bits).view(dtype)
    merger = patchfold.Merger(T, copy=copies)
    fill(merger, x)
    y = merger.finish()
    assert y.dtype == dtype and np.array_equal(y.view(torch.uint8).numpy(), bits)
    bands = []
    merger = patchfold.Merger(T, out=lambda rows, band: bands.append(band))
    fill(merger, x)
    merger.finish()
    assert bands[0].dtype.name == name
    assert np.concatenate([band.view(np.uint8) for band in bands], 1).tobytes() == bits.tobytes()


def test_gradients_are_not_lost_silently():
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(X)
    weight = torch.ones(1, requires_grad=True)
    with pytest.raises(InvalidType) as caught:
        apply(lambda tile: tile * weight, x)
    assert str(caught.value) == (
        "merge: tile 0 at position (0, 0): gradients would be lost here; "
        "given a tensor that requires grad, expected a tensor made under torch.no_grad(), or .detach()"
    )
    with torch.no_grad():
        assert torch.equal(apply(lambda tile: tile * weight, x), x)


class Tiles:
    """A data set for torch's DataLoader; its workers get it as a pickle."""

    def __init__(self, tiling, x):
        self.tiling, self.x = tiling, x

    def __len__(self):
        return len(self.tiling)

    def __getitem__(self, index):
        return index, self.tiling.cut(self.x, index)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_torch_data_loader(workers):
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch.utils.data")
    x = torch.from_numpy(X)
    context = "spawn" if workers else None
    loader = data.DataLoader(Tiles(T, x), 4, shuffle=True, num_workers=workers, multiprocessing_context=context)
    merger = patchfold.Merger(T, copy=True)
    with torch.no_grad():
        for indices, tiles in loader:
            for index, result in zip(indices, torch.nn.Tanh()(tiles), strict=True):
                merger.add(index, result)
    assert torch.equal(merger.finish(), torch.tanh(x))


def test_progress_is_told():
    told = []
    apply(np.sin, batch=5, progress=lambda done, total: told.append((done, total)))
    assert told == [(done, len(T)) for done in (5, 10, 15, 20)]
    mask = np.zeros(len(T), bool)
    apply(np.sin, mask=mask, fill=0, dtype="float32", progress=lambda *each: told.append(each))
    assert len(told) == 4


def test_a_bar_of_tqdm_on_a_terminal(capsys, monkeypatch):
    pytest.importorskip("tqdm")
    apply(np.sin, progress=True)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    apply(np.sin, progress=True)
    out, err = capsys.readouterr()
    assert out == "" and f"{len(T)}/{len(T)}" in err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    apply(np.sin, progress=True)
    assert capsys.readouterr().err == ""


def test_what_a_function_raises_comes_out_with_a_note():
    class Own(Exception):
        pass

    calls = []

    def third(tile):
        calls.append(tile)
        if len(calls) == 3:
            raise Own("no")
        return tile

    with pytest.raises(Own) as caught:
        apply(third)
    assert len(calls) == 3 and caught.value.args == ("no",)
    if NOTES:
        assert caught.value.__notes__ == ["patchfold: apply_tiled: tile 2 at position (0, 2), read from x[:, 0:16, 16:28]"]
    with pytest.raises(ZeroDivisionError) as caught:
        apply(lambda tiles: 1 // 0, batch=3)
    if NOTES:
        assert caught.value.__notes__ == [
            "patchfold: apply_tiled: tiles 0 to 2 at positions (0, 0) to (0, 2), "
            "read from x[:, 0:16, 0:12, :, 0:16, 8:20, :, 0:16, 16:28]"
        ]


@pytest.mark.skipif(not NOTES, reason="Python 3.10 has no notes")
@pytest.mark.parametrize(
    ("axes", "arguments", "text"),
    [
        (4, {}, "fn takes a tile with one more axis in front: batch=1 adds it"),
        (4, {"overlap": "exact"}, "fn takes a tile with one more axis in front: batch=1 adds it"),
        (5, {}, "fn takes a tile with two more axes in front: use lambda tile: fn(tile[None, None])[0, 0]"),
        (3, {"batch": 4}, "fn takes a tile without the axis of the stack: leave batch out"),
        (5, {"batch": 4}, "fn takes a stack with one more axis behind its first: x[None] adds it"),
        (9, {}, None),
    ],
)
def test_a_function_that_wants_another_number_of_axes_is_told_how_to_get_them(axes, arguments, text):
    def net(tile):
        if tile.ndim != axes:
            raise ValueError(f"{axes} axes")
        return tile * 2

    x = np.ones((3, 40, 30), np.float32)
    with pytest.raises(ValueError, match=f"^{axes} axes") as caught:
        patchfold.apply_tiled(net, x, (16, 16), **{"overlap": 4, **arguments}, progress=False)
    notes = [note for note in getattr(caught.value, "__notes__", ()) if ": tile" not in note]
    assert notes == ([] if text is None else [f"patchfold: apply_tiled: {text}"])
    if text is None:
        return
    cures = {
        "batch=1": {"batch": 1}, "leave batch": {"batch": None}, "x[None]": {"x": x[None]},
        "lambda": {"fn": lambda tile: net(tile[None, None])[0, 0]},
    }  # fmt: skip
    cure = next(change for words, change in cures.items() if words in text)
    given = {"fn": net, "x": x, "overlap": 4, **arguments, **cure}
    assert np.array_equal(patchfold.apply_tiled(tile=(16, 16), progress=False, **given).reshape(x.shape), x * 2)


def test_results_of_the_wrong_shape_or_type_name_the_tile():
    with pytest.raises(InvalidValue) as caught:
        apply(lambda tile: tile[:, 1:])
    assert str(caught.value) == (
        "merge: tile 0 at position (0, 0): must have the shape of the tile's result; given (3, 15, 12), expected (3, 16, 12)"
    )
    calls = []
    with pytest.raises(InvalidType) as caught:
        apply(lambda tile: calls.append(1) or (tile if len(calls) < 3 else tile.astype(float)))
    assert str(caught.value) == (
        "merge: tile 2 at position (0, 2): must have the element type of the first tile; given float64, expected float32"
    )
    with pytest.raises(InvalidValue) as caught:
        apply(lambda tiles: tiles[1:], batch=3)
    assert str(caught.value) == (
        "apply_tiled: result for tiles 0 to 2 at positions (0, 0) to (0, 2): must have one entry along the first axis for "
        "each tile of the stack; given shape (2, 3, 16, 12), expected (3, 3, 16, 12)"
    )
    with pytest.raises(InvalidType) as caught:
        apply(lambda tile: None)
    assert str(caught.value) == (
        "apply_tiled: result for tile 0 at position (0, 0): must be an array; given None; mask= says which elements hold"
        " data, and leaves tiles without any out"
    )


def test_the_output_must_not_share_memory_with_the_input():
    both = np.zeros((3, 50, 80), np.float32)
    for out in (both[..., :40], both[..., 1:41]):
        with pytest.raises(InvalidValue) as caught:
            apply(np.sin, both[..., :40], out=out)
        assert str(caught.value) == "apply_tiled: out: must not share memory with x"
    both[..., ::2] = X
    assert np.array_equal(apply(np.sin, both[..., ::2], out=both[..., 1::2]), np.sin(X))


@pytest.mark.parametrize("kind", ["npy", "memmap", "tif", "cog", "dataset", "zarr", "h5py"])
def test_the_output_must_not_be_the_file_of_the_input(tmp_path, kind):
    x = np.full((1, 16, 16), 3, np.float32)
    path = tmp_path / f"x.{ {'memmap': 'npy', 'cog': 'tif', 'dataset': 'tif'}.get(kind, kind) }"
    if kind in ("npy", "memmap"):
        np.save(path, x)
        source, out = np.load(path, mmap_mode="r"), path if kind == "npy" else np.load(path, mmap_mode="r+")
    elif kind == "zarr":
        zarr = pytest.importorskip("zarr")
        zarr.create_array(path, shape=x.shape, dtype=x.dtype)[...] = x
        source, out = zarr.open_array(path, mode="r"), zarr.open_array(path, mode="r+")
    elif kind == "h5py":
        file = pytest.importorskip("h5py").File(path, "w")
        file["x"] = x
        source, out = file["x"], file["/x"]
    else:
        rasterio = pytest.importorskip("rasterio")
        made = {"driver": "GTiff", "count": 1, "height": 16, "width": 16, "dtype": "float32"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
            with rasterio.open(path, "w", **made) as written:
                written.write(x)
            source = rasterio.open(path)
            out = {"tif": path, "cog": patchfold.COG(path), "dataset": source}[kind]
            out = rasterio.open(path, "r+") if kind == "dataset" else out
    with pytest.raises(InvalidValue, match="out: must not be the file or the store of x"):
        apply(np.sin, source, (8, 8), axes=(1, 2), out=out)
    assert np.array_equal(source.read() if hasattr(source, "read") else source[...], x)


def test_files_to_files(tmp_path):
    np.save(tmp_path / "x.npy", X)
    x = np.load(tmp_path / "x.npy", mmap_mode="r")
    y = apply(np.sin, x, out=tmp_path / "y.npy")
    assert isinstance(y, np.memmap) and sorted(os.listdir(tmp_path)) == ["x.npy", "y.npy"]
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), np.sin(X), strict=True)


def test_an_unfinished_file_is_gone(tmp_path):
    calls = []

    def fail(tile):
        calls.append(1)
        assert len(calls) < 3 and len(os.listdir(tmp_path)) == (len(calls) > 1)
        return tile

    with pytest.raises(AssertionError):
        apply(fail, out=tmp_path / "y.npy")
    assert os.listdir(tmp_path) == []
    merger = patchfold.Merger(T, out=tmp_path / "y.npy")
    merger.add(0, T.cut(X, 0))
    assert len(os.listdir(tmp_path)) == 1
    del merger
    gc.collect()
    assert os.listdir(tmp_path) == []
    with patchfold.Merger(T, out=tmp_path / "y.npy") as merger:
        fill(merger)
    assert os.listdir(tmp_path) == ["y.npy"] and merger.finish() is merger.finish()


class Store:
    """A store with the methods and attributes of the arrays of zarr and h5py."""

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.writes = array, array.shape, array.dtype, 0

    def __getitem__(self, where):
        return self.array[where]

    def __setitem__(self, where, values):
        self.array[where] = values
        self.writes += 1


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
@pytest.mark.parametrize("shape", [(3, 50, 40), (2, 5, 3)])
@pytest.mark.parametrize("batch", [None, 2])
def test_stores_in_and_out(shape, mode, batch):
    x = np.random.default_rng(0).normal(size=shape)
    seen = {}
    for kind, source in (("array", x), ("store", Store(x))):
        seen[kind] = []
        out = Store(np.zeros(shape))
        arguments = {"tail": "pad", "padding_mode": mode, "value": 2.5, "batch": batch, "out": out}
        y = apply(lambda tile, kind=kind: seen[kind].append(tile.copy()) or np.sin(tile), source, **arguments)
        assert y is out and out.writes >= 1
        np.testing.assert_array_equal(out.array, np.sin(x))
    for a, b in zip(seen["array"], seen["store"], strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


def test_padding_of_stores_of_strings():
    x = np.array(["a", "bc", "d"])
    seen = []
    apply(lambda tile: seen.append(tile.tolist()) or tile, Store(x), 2, overlap=0, tail="pad", reduce="first")
    assert seen == [["a", "bc"], ["d", ""]]


def test_zarr_in_and_out():
    zarr = pytest.importorskip("zarr")
    x, y = (zarr.create_array(store={}, shape=X.shape, chunks=(3, 16, 16), dtype="float32") for _ in range(2))
    x[...] = X
    assert apply(np.sin, x, out=y) is y
    np.testing.assert_array_equal(y[...], np.sin(X))
    np.testing.assert_array_equal(apply(np.sin, x), np.sin(X))


@pytest.mark.parametrize("dtype", ["float32", "int16", "uint8", "bfloat16", "float8_e4m3fn"])
@pytest.mark.parametrize("reduce", ["mean", "center"])
def test_nodata_of_tensors_of_torch(dtype, reduce):
    torch = pytest.importorskip("torch")
    tiling = patchfold.Tiling((2, 6), (4,), stride=2)
    tiles = [torch.tensor([[1, 2, 3, 0], [0, 2, 0, 4]]), torch.tensor([[0, 6, 0, 8], [0, 0, 7, 0]])]
    tiles = [tile.to(getattr(torch, dtype)) for tile in tiles]
    rules = {"window": "ones", "reduce": reduce, "nodata": 0, "fill": 5}

    def merged(tiles):
        merger = patchfold.Merger(tiling, **rules)
        for index, tile in enumerate(tiles):
            merger.add(index, tile)
        return merger.finish()

    y = merged(tiles)
    assert y.dtype == tiles[0].dtype
    expected = {
        "mean": [[1, 2, 3, 6, 5, 8], [5, 2, 5, 4, 7, 5]],
        "center": [[1, 2, 3, 6, 5, 8], [5, 2, 5, 5, 7, 5]],
    }[reduce]
    assert y.double().tolist() == expected
    pieces = {i: tiles[i][tiling.piece(i, (slice(1, 5),))] for i in range(2)}
    made = patchfold.merge_box(tiling, patchfold.MergeSpec(**rules), (slice(1, 5),), pieces)
    assert made.dtype == y.dtype and made.double().tolist() == [row[1:5] for row in expected]

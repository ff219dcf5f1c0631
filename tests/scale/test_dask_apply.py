# SPDX-License-Identifier: Apache-2.0
"""Tests that patchfold.dask.apply_tiled gives the bits of patchfold.apply_tiled, for every source and kind of result."""

import itertools
import math

import dask
import dask.array
import numpy as np
import patchfold
import pytest
import xarray
import zarr
from patchfold import InvalidType, InvalidValue, _core
from patchfold.dask import _job, _operators, apply_tiled, merge, once, split
from scale_functions import blur, classes, load, photo, scores, store_of, twice

X = photo()
TILE, OVERLAP = (48, 32), 12
SETTINGS = [
    (blur, {}),
    (blur, {"reduce": "center"}),
    (blur, {"reduce": "max", "tail": "partial"}),
    (blur, {"window": "gaussian", "tail": "pad", "padding_mode": "reflect"}),
    (blur, {"tail": "pad", "padding_mode": "edge", "dtype": "float64"}),
    (blur, {"tail": "drop", "fill": -1}),
    (blur, {"align": 4, "padding_mode": "reflect"}),
    (blur, {"batch": 4}),
    (classes, {"scale": 0.5, "reduce": "sum"}),
    (scores, {"scale": 0.5, "reduce": "argmax", "axes": (1, 2), "window": ("tukey", 0.3)}),
]
RANKED = ("median", "nanmean", "nanmax", "nanmin", "argmax")


def local(fn, x=X, **settings):
    return patchfold.apply_tiled(fn, x, TILE, overlap=OVERLAP, progress=False, **settings)


def stacked(fn):
    return (lambda tiles: np.stack([fn(tile) for tile in tiles])) if fn is not None else None


@pytest.mark.parametrize(("fn", "settings"), SETTINGS)
@pytest.mark.parametrize("cut", [(1, 50, 40), (3, 17, 130), (2, 150, 9)])
def test_dask_arrays_give_the_bits_of_one_machine(fn, settings, cut):
    fn = stacked(fn) if "batch" in settings else fn
    want = local(fn, **settings)
    y = apply_tiled(fn, dask.array.from_array(X, chunks=cut), TILE, overlap=OVERLAP, chunks=(40, 64), **settings)
    assert isinstance(y, dask.array.Array) and y.shape == want.shape and y.dtype == want.dtype
    assert y.compute(scheduler="sync").tobytes() == want.tobytes()


def test_random_problems_give_the_bits_of_one_machine():
    rng = np.random.default_rng(1)
    for _ in range(60):
        tiled = int(rng.integers(1, 4))
        shape = tuple(map(int, rng.integers(5, 40 if tiled < 3 else 16, tiled)))
        x = (rng.random((2, *shape)) * 50).astype(rng.choice(["float32", "uint8", "int32", "float64"]))
        tile = tuple(int(rng.integers(2, extent + 1)) for extent in shape)
        overlap = tuple(int(rng.integers(0, extent)) for extent in tile)
        settings = {
            "tail": str(rng.choice(["shift", "pad", "partial"])),
            "reduce": rng.choice([None, "mean", "sum", "max", "min", "first", "last", "center", *RANKED]),
            "padding_mode": str(rng.choice(["constant", "edge", "symmetric"])),
        }
        chunks = tuple(int(rng.integers(1, extent + 1)) for extent in shape)
        source = dask.array.from_array(x, chunks=tuple(int(rng.integers(1, extent + 1)) for extent in x.shape))
        want = patchfold.apply_tiled(twice, x, tile, overlap=overlap, progress=False, **settings)
        got = apply_tiled(twice, source, tile, overlap=overlap, chunks=chunks, **settings).compute(scheduler="sync")
        assert got.tobytes() == want.tobytes(), (x.shape, x.dtype, tile, overlap, settings, chunks)


def test_random_problems_with_elements_without_data():
    rng = np.random.default_rng(2)
    for _ in range(40):
        shape = tuple(map(int, rng.integers(5, 40, 2)))
        x = (1 + rng.random((2, *shape)) * 50).astype(rng.choice(["float32", "uint8", "float64"]))
        tile = tuple(int(rng.integers(2, extent + 1)) for extent in shape)
        overlap = tuple(int(rng.integers(0, extent)) for extent in tile)
        reduce = rng.choice(["mean", "mean", "sum", "max", "center", "median", "nanmin"])
        settings = {
            "reduce": reduce,
            "nodata": 0,
            "fill": rng.choice([None, 9]),
            "tail": str(rng.choice(["shift", "partial"])),
        }

        def fn(tile):  # drops the data of random elements of each tile: of none, of some or of all
            own = np.random.default_rng(int(tile.sum()))
            return np.where(own.random(tile.shape) < own.choice([0, 0.4, 1]), 0, tile).astype(tile.dtype)

        chunks = tuple(int(rng.integers(1, extent + 1)) for extent in shape)
        source = dask.array.from_array(x, chunks=tuple(int(rng.integers(1, extent + 1)) for extent in x.shape))
        want = patchfold.apply_tiled(fn, x, tile, overlap=overlap, progress=False, **settings)
        got = apply_tiled(fn, source, tile, overlap=overlap, chunks=chunks, **settings).compute(scheduler="sync")
        empty = 0 if settings["fill"] is None else settings["fill"]
        np.testing.assert_array_equal(got == empty, want == empty)
        np.testing.assert_allclose(got, want, rtol=1e-14 if x.dtype == "float64" else 0, atol=0)


def test_labels_are_written_without_the_axis_of_scores(tmp_path):
    want = local(scores, scale=0.5, reduce="argmax")
    assert want.dtype == np.uint8 and len(np.unique(want)) == 5 and want.shape == (X.shape[1] // 2, X.shape[2] // 2)
    options = {"overlap": OVERLAP, "scale": 0.5, "reduce": "argmax", "progress": False}
    report = apply_tiled(scores, X, TILE, out=str(tmp_path / "y.zarr"), chunks=(40, 64), **options)
    assert report.array[:].tobytes() == want.tobytes() and report.array.shape == want.shape
    source = xarray.DataArray(X, dims=("band", "y", "x"))
    labelled = apply_tiled(scores, source, TILE, **options)
    assert labelled.dims == ("y", "x") and np.asarray(labelled).tobytes() == want.tobytes()


def test_nothing_is_computed_before_it_is_asked_for():
    calls = []

    def count(tile):
        calls.append(tile.shape)
        return tile

    known = patchfold.ResultType("float32")
    source = dask.array.from_array(X, chunks=-1)
    y = apply_tiled(count, source, TILE, overlap=OVERLAP, results=known, chunks=(40, 30))
    assert not calls
    y[:, :10, :10].compute(scheduler="sync")
    tiling = patchfold.Tiling(X.shape, TILE, overlap=OVERLAP)
    assert len(calls) == math.prod(map(len, tiling.touching((slice(0, 40), slice(0, 30)))))


def test_a_task_for_each_tile_and_one_for_each_chunk():
    source = dask.array.from_array(X, chunks=-1)
    y = apply_tiled(blur, source, TILE, overlap=OVERLAP, chunks=(64, 64))
    layers = {name.rpartition("-")[0]: layer for name, layer in y.dask.layers.items()}
    assert len(layers["patchfold-tile"]) == len(patchfold.Tiling(X.shape, TILE, overlap=OVERLAP))
    assert len(layers["patchfold-chunk"]) == y.npartitions == 9


def test_pieces_travel_and_not_tiles():
    """Checks that a chunk's task gets only the pieces of tiles in this chunk, as copies, which keep no tile in memory."""
    source = dask.array.from_array(X, chunks=-1)
    y = apply_tiled(blur, source, TILE, overlap=OVERLAP, chunks=(64, 64))
    graph = {key: task for layer in y.dask.layers.values() for key, task in layer.items()}
    chunk = next(task for key, task in graph.items() if key[0].startswith("patchfold-chunk") and key[1:] == (0, 1, 1))
    needed = [key for key in chunk.dependencies if isinstance(key, tuple)]
    tiling, box = patchfold.Tiling(X.shape, TILE, overlap=OVERLAP), (slice(64, 128), slice(64, 128))
    for pieces in dask.get(graph, needed):
        for index, piece in pieces.items():
            assert piece.shape == np.empty(tiling[index].result_shape)[tiling.piece(index, box)].shape
            assert piece.base is None


@pytest.mark.parametrize("options", [{"shards": (3, 64, 64)}, {}, {"zarr_format": 2}])
def test_zarr_stores_are_read_and_written(tmp_path, options):
    source = store_of(tmp_path / "x.zarr", X, **options)
    target = zarr.create_array(tmp_path / "y.zarr", shape=X.shape, dtype="float32", chunks=(3, 32, 32), **options)
    for x in (source, str(tmp_path / "x.zarr"), tmp_path / "x.zarr"):
        report = apply_tiled(blur, x, TILE, overlap=OVERLAP, out=target, progress=False, overwrite=True)
        assert target[:].tobytes() == local(blur).tobytes()
        assert report.written == report.chunks and not report.recomputed
    new = apply_tiled(blur, source, TILE, overlap=OVERLAP, out=tmp_path / "new.zarr", chunks=(64, 128), progress=False)
    assert new.array.chunks == (3, 64, 128) and new.array[:].tobytes() == local(blur).tobytes()


def test_shards_of_a_new_store_are_the_chunks(tmp_path):
    x = photo((1, 2048, 1100), np.uint8)
    report = apply_tiled(twice, x, (512, 512), overlap=32, out=tmp_path / "y.zarr", chunks=(1024, 1024), progress=False)
    assert report.array.shards == (1, 1024, 1024) and report.array.chunks == (1, 512, 512)
    assert np.array_equal(report.array[:], patchfold.apply_tiled(twice, x, (512, 512), overlap=32, progress=False))


def test_coordinates_of_xarray_stay(tmp_path):
    coords = {"band": [1, 2, 3], "y": np.arange(150) * 0.5, "x": np.arange(130.0), "time": 7}
    x = xarray.DataArray(X, dims=("band", "y", "x"), coords=coords, name="image", attrs={"crs": "none"})
    for source in (x, x.chunk({"y": 40})):
        y = apply_tiled(blur, source, TILE, overlap=OVERLAP, chunks=(64, 64))
        assert y.dims == x.dims and y.attrs == x.attrs and y.name == "image" and set(y.coords) == set(x.coords)
        assert y.chunks is not None and y.compute().values.tobytes() == local(blur).tobytes()
    apply_tiled(blur, x, TILE, overlap=OVERLAP, chunks=(64, 64), out=tmp_path / "y.zarr", progress=False)
    stored = xarray.open_zarr(tmp_path / "y.zarr", consolidated=False)["image"]
    assert stored.values.tobytes() == local(blur).tobytes() and np.array_equal(stored.y, x.y)
    assert stored.attrs == {"crs": "none"} and int(stored.time) == 7


def test_coordinates_of_scaled_axes_are_left_out():
    x = xarray.DataArray(X, dims=("band", "y", "x"), coords={"band": [1, 2, 3], "y": np.arange(150.0)})
    y = apply_tiled(classes, x, TILE, overlap=OVERLAP, scale=0.5)
    assert y.dims == x.dims and y.shape == (5, 75, 65) and not y.coords


def image_at(path, x, version):
    axes = [{"name": "c", "type": "channel"}, *({"name": name, "type": "space"} for name in "yx")]
    steps = [{"type": "scale", "scale": [1.0, 0.5, 0.5]}]
    scales = [{"axes": axes, "name": "cells", "datasets": [{"path": "0", "coordinateTransformations": steps}]}]
    old = {"multiscales": [{**scales[0], "version": "0.4"}]}
    attributes = old if version == "0.4" else {"ome": {"version": version, "multiscales": scales}}
    group = zarr.open_group(path, mode="w", attributes=attributes, zarr_format=2 if version == "0.4" else 3)
    group.create_array("0", shape=x.shape, dtype=x.dtype, chunks=(1, 64, 64))[:] = x
    return path


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_ome_zarr_images_stay_images(tmp_path, version):
    source = image_at(tmp_path / "x.ome.zarr", X, version)
    apply_tiled(blur, source, TILE, overlap=OVERLAP, chunks=(64, 64), out=tmp_path / "y.ome.zarr", progress=False)
    scales = zarr.open_group(tmp_path / "y.ome.zarr", mode="r").attrs["ome"]["multiscales"]
    assert [axis["name"] for axis in scales[0]["axes"]] == ["c", "y", "x"]
    assert scales[0]["datasets"][0]["coordinateTransformations"] == [{"type": "scale", "scale": [1.0, 0.5, 0.5]}]
    assert zarr.open_array(tmp_path / "y.ome.zarr" / "0", mode="r")[:].tobytes() == local(blur).tobytes()
    with pytest.raises(InvalidValue, match="level: must be a level of the image; given 1, expected 0 to 0"):
        apply_tiled(blur, source, TILE, overlap=OVERLAP, level=1)


def test_pixels_of_a_scaled_image_have_another_size(tmp_path):
    source = image_at(tmp_path / "x.ome.zarr", X, "0.5")
    apply_tiled(classes, source, TILE, overlap=OVERLAP, scale=0.5, out=tmp_path / "y.ome.zarr", progress=False)
    scales = zarr.open_group(tmp_path / "y.ome.zarr", mode="r").attrs["ome"]["multiscales"]
    assert scales[0]["datasets"][0]["coordinateTransformations"] == [{"type": "scale", "scale": [1.0, 1.0, 1.0]}]


@pytest.mark.parametrize("tail", ["shift", "pad"])
def test_split_and_merge(tmp_path, tail):
    report = split(X, TILE, tmp_path / "t.zarr", overlap=OVERLAP, tail=tail, progress=False)
    tiling = patchfold.Tiling(X.shape, TILE, overlap=OVERLAP, tail=tail)
    assert report.array.shape == (len(tiling), 3, *TILE) and report.array.chunks == (1, 3, *TILE)
    assert all(np.array_equal(report.array[i], tile) for i, tile in enumerate(tiling.split(X)))
    again = split(X, TILE, tmp_path / "t.zarr", overlap=OVERLAP, tail=tail, progress=False)
    assert again.written == 0 and "finished before" in str(again)
    merged = merge(tmp_path / "t.zarr", tmp_path / "y.zarr", progress=False).array
    assert merged[:].tobytes() == X.tobytes()
    assert merge(report.array, window="ones").compute().tobytes() == X.tobytes()
    with pytest.raises(InvalidValue, match="must have a tile of the tiling for each entry"):
        merge(report.array, tiling=patchfold.Tiling(X.shape, (20, 20), overlap=0))
    with pytest.raises(InvalidValue, match="tail: must give tiles of one shape"):
        split(X, TILE, tmp_path / "p.zarr", overlap=OVERLAP, tail="partial")


def test_a_model_is_loaded_once(tmp_path):
    model = once(load, str(tmp_path))
    y = apply_tiled(model, dask.array.from_array(X, chunks=-1), TILE, overlap=OVERLAP, chunks=(64, 64))
    assert y.compute().tobytes() == local(blur).tobytes()
    assert len(list(tmp_path.iterdir())) == 1
    assert repr(model) == "once(load)"
    with pytest.raises(InvalidType, match="make: must be a function that returns a function; given 3"):
        once(3)


def test_a_function_with_random_results_is_found():
    calls = itertools.count()
    y = apply_tiled(lambda tile: tile + next(calls), X, TILE, overlap=OVERLAP, check=2)
    with pytest.raises(InvalidValue, match=r"fn: must give the same bits each time.*two results for tile"):
        y.compute(scheduler="sync")
    want = local(blur)
    assert apply_tiled(blur, X, TILE, overlap=OVERLAP, check=10**6).compute().tobytes() == want.tobytes()


def test_results_of_another_shape_name_the_tile():
    def odd(tile):
        return tile[:, :-1] if tile[0, 0, 0] == X[0, 36, 20] else tile

    y = apply_tiled(odd, X, TILE, overlap=OVERLAP)
    with pytest.raises(InvalidValue, match=r"for tile 7 at position \(1, 1\).*given \(3, 47, 32\), expected \(3, 48, 32\)"):
        y.compute(scheduler="sync")

    def other_type(tile):
        return tile.astype("int16") if tile[0, 0, 0] == X[0, 36, 20] else tile

    y = apply_tiled(other_type, X, TILE, overlap=OVERLAP)
    with pytest.raises(InvalidValue, match=r"result for tile 7 .*given int16, expected float32"):
        y.compute(scheduler="sync")


def test_exceptions_of_functions_name_the_tile(tmp_path):
    def fails(tile):
        if tile[0, 0, 0] == X[0, 36, 20]:
            raise RuntimeError("no memory on the device")
        return tile

    with pytest.raises(RuntimeError, match="no memory on the device") as caught:
        apply_tiled(fails, X, TILE, overlap=OVERLAP, out=tmp_path / "y.zarr", progress=False, version="a")
    assert "tile 7 at position (1, 1)" in "".join(getattr(caught.value, "__notes__", ["tile 7 at position (1, 1)"]))


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"fn": 3}, InvalidType, "fn: must be a function"),
        ({"source": [1, 2]}, InvalidType, "source: must be one of these; given"),
        ({"source": "/nowhere/x.zarr"}, InvalidValue, "source: must be the path or URL of a zarr array"),
        ({"chunks": (1, 2, 3, 4)}, InvalidValue, "chunks: must have an entry for each tiled axis"),
        ({"chunks": (1, 40, 40)}, InvalidValue, "axis 0 is not tiled and must be whole; given chunks of 1, expected 3"),
        ({"chunks": 0}, InvalidValue, "chunks: must be"),
        ({"chunks": "much"}, InvalidValue, "chunks: must be chunks of dask"),
        ({"chunks": 3.5j}, InvalidType, "chunks: must be extents"),
        ({"batch": 0}, InvalidValue, "batch: must be at least 1"),
        ({"check": -1}, InvalidValue, "check: must be a number of tiles"),
        ({"version": 3}, InvalidType, "version: must be a text"),
        ({"out": {}}, InvalidType, "out: must be a zarr array, or the path or URL of a new one"),
        ({"out": "/nowhere/at/all.zarr"}, InvalidValue, "out: the folder of the store must exist; given /nowhere/at"),
        ({"resources": {"GPU": 1}}, InvalidValue, "resources: need an out"),
        ({"window": "han"}, InvalidValue, "window: must be a window's name"),
        ({"overlap": 48}, InvalidValue, "overlap"),
        ({"fn": lambda tile: (tile, tile)}, InvalidValue, "must be one array; given a tuple of 2"),
    ],
)
def test_wrong_calls_say_what_is_wrong(arguments, error, says):
    given = {"fn": blur, "source": X, "overlap": OVERLAP} | arguments
    with pytest.raises(error) as caught:
        apply_tiled(given.pop("fn"), given.pop("source"), TILE, progress=False, **given)
    assert says in str(caught.value)


def limit_now():
    limit = _core.set_thread_limit(0)
    _core.set_thread_limit(limit)
    return limit


def test_a_task_uses_one_thread(monkeypatch):
    limits = []

    def watched(call):
        def watch(*args, **options):
            limits.append(options.get("threads") or limit_now())
            return call(*args, **options)

        return watch

    for place, name in ((patchfold.Tiling, "read"), (_job, "merge_box"), (_operators, "assembled")):
        monkeypatch.setattr(place, name, watched(getattr(place, name)))
    x = dask.array.from_array(X, chunks=(3, 50, 40))
    with dask.config.set(scheduler="sync"):
        apply_tiled(blur, x, TILE, overlap=OVERLAP, chunks=(100, 90)).compute()
        tiles = len(limits)
        patchfold.dask.unfold(x, (3, 3)).compute()
    assert 0 < tiles < len(limits) and set(limits) == {1}
    assert limit_now() == 0

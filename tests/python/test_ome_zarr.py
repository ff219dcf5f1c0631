# SPDX-License-Identifier: Apache-2.0
"""Tests OME-Zarr images: their metadata by ome-zarr-models, their pixels by zarr."""

import json

import numpy as np
import pytest
from patchfold import InvalidType, InvalidValue, Merger, OMEZarr, ResultType, Tiling, apply_tiled, open_ome_zarr

zarr = pytest.importorskip("zarr")
ome_zarr_models = pytest.importorskip("ome_zarr_models")
pytest.importorskip("ome_zarr_models.v04.image")
pytest.importorskip("ome_zarr_models.v05")

QUIET = {"progress": False}


def same(tile):
    return tile


def levels_of(path):
    """Returns the arrays of an image, after a check of its metadata and of the metadata of its arrays."""
    group = zarr.open_group(path, mode="r")
    if group.metadata.zarr_format == 2:  # the class for whole images of 0.4 is incomplete with zarr 3.1.6
        ome_zarr_models.v04.image.ImageAttrs.model_validate(dict(group.attrs))
    else:
        ome_zarr_models.v05.Image.from_zarr(group)
    return [open_ome_zarr(path, level) for level in range(open_ome_zarr(path).levels)]


def halved_means(x):
    """Returns the next level of means, for extents of any parity, by NumPy's mean of masked elements."""
    height, width = (extent + extent % 2 for extent in x.shape[-2:])
    held = np.ma.masked_all((*x.shape[:-2], height, width), np.longdouble)
    held[..., : x.shape[-2], : x.shape[-1]] = x
    means = held.reshape(*x.shape[:-2], height // 2, 2, width // 2, 2).mean((-3, -1))
    return np.asarray(np.rint(means) if x.dtype.kind in "iu" else means).astype(x.dtype)


@pytest.mark.parametrize("version", ["0.4", "0.5"])
@pytest.mark.parametrize(
    ("shape", "tile", "axes"),
    [
        ((71, 99), (32, 32), "yx"),
        ((2, 71, 99), (32, 32), "cyx"),
        ((2, 9, 71, 99), (4, 32, 32), "czyx"),
        ((9, 71, 99), (4, 32, 32), "zyx"),
        ((2, 3, 71, 99), (32, 32), "tcyx"),
    ],
)
def test_an_image_has_its_levels(version, shape, tile, axes, tmp_path):
    path = tmp_path / "y.zarr"
    for dtype, overviews in (("uint16", "mean"), ("float32", None), ("uint8", None)):
        x = np.random.default_rng(0).integers(0, 250, shape).astype(dtype)
        out = OMEZarr(tmp_path / f"{dtype}.zarr", version=version, chunk=16, overviews=overviews)
        path = apply_tiled(same, x, tile, overlap=2, out=out, **QUIET)
        levels = levels_of(path)
        assert len(levels) == 4 and levels[0].axes == axes
        assert zarr.open_group(path, mode="r").metadata.zarr_format == (2 if version == "0.4" else 3)
        expected = x
        for level, found in enumerate(levels):
            assert found.dtype == x.dtype and found.array.chunks[-2:] == (16, 16)
            np.testing.assert_array_equal(found[...], expected)
            assert found.scale[-2:] == (2.0**level,) * 2 and set(found.scale[:-2]) <= {1.0}
            middle = 0 if dtype == "uint8" else (2**level - 1) / 2
            assert found.translation[-2:] == (middle,) * 2
            assert found.array.shards == (None if version == "0.4" else (1,) * (len(shape) - 2) + (64, 64))
            expected = expected[..., ::2, ::2] if dtype == "uint8" else halved_means(expected)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["float32.zarr", "uint16.zarr", "uint8.zarr"]


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_the_place_of_a_result_is_that_of_its_source(version, tmp_path):
    x = np.random.default_rng(1).random((2, 60, 80), np.float32)
    units = (None, "micrometer", "micrometer")
    out = OMEZarr(tmp_path / "x.zarr", scale=(1, 0.5, 0.25), units=units, version=version, chunk=16)
    apply_tiled(same, x, (32, 32), overlap=4, out=out, **QUIET)
    source = open_ome_zarr(tmp_path / "x.zarr", level=1)
    np.testing.assert_array_equal(source[...], halved_means(x))
    assert (source.scale, source.translation, source.units) == ((1, 1, 0.5), (0, 0.25, 0.125), units)
    assert (source.axes, source.name, source.levels) == ("cyx", "x", 4)

    def doubled(tile):
        return tile.repeat(2, 1).repeat(2, 2)

    again = apply_tiled(doubled, source, (16, 16), overlap=4, scale=2, out=OMEZarr(tmp_path / "y.zarr"), **QUIET)
    y = open_ome_zarr(again)
    assert (y.scale, y.units, y.axes, y.name) == ((1, 0.5, 0.25), units, "cyx", "x")
    assert y.translation == (0, 0, 0) and y.shape == (2, 60, 80)
    levels_of(again)


def test_levels_leave_out_elements_without_data(tmp_path):
    x = np.random.default_rng(2).integers(1, 9, (64, 64)).astype(np.int16)
    x[:30, :31] = -1
    out = OMEZarr(tmp_path / "y.zarr", chunk=32, overviews="mean")
    apply_tiled(same, x, (32, 32), overlap=4, nodata=-1, out=out, **QUIET)
    found = open_ome_zarr(tmp_path / "y.zarr", 1)[...]
    assert (found[:15, :15] == -1).all() and (found[:, 16:] > 0).all() and (found[:15, 15] == x[:30:2, 31:32].T).any()
    data = np.ma.masked_equal(x, -1).reshape(32, 2, 32, 2).mean((1, 3))
    np.testing.assert_array_equal(found, np.rint(data.astype(float)).filled(-1))


def test_each_shard_is_written_once(tmp_path, monkeypatch):
    keys = []
    original = zarr.storage.LocalStore.set

    async def counted(self, key, value):
        keys.append(key)
        await original(self, key, value)

    monkeypatch.setattr(zarr.storage.LocalStore, "set", counted)
    x = np.random.default_rng(3).random((200, 150))
    apply_tiled(same, x, (48, 48), overlap=8, out=OMEZarr(tmp_path / "y.zarr", chunk=16, shard=32), **QUIET)
    shards = [key for key in keys if "/c/" in key]
    assert len(shards) == len(set(shards)) == 7 * 5 + 4 * 3 + 2 * 2 + 1 + 1
    assert len(open_ome_zarr(tmp_path / "y.zarr").shape) == 2


def test_a_failed_merge_leaves_no_image(tmp_path):
    calls = []

    def fails(tile):
        calls.append(1)
        if len(calls) > 20:
            raise KeyError("stop")
        return tile

    with pytest.raises(KeyError):
        apply_tiled(fails, np.ones((300, 100)), (32, 32), overlap=4, out=OMEZarr(tmp_path / "y.zarr", chunk=16), **QUIET)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"path": "y.tif"}, InvalidValue, "merge: out: the name of a file must end in .zarr"),
        ({"version": "0.3"}, InvalidValue, 'merge: version: must be "0.4" or "0.5"; given'),
        ({"chunk": 3}, InvalidValue, "merge: chunk: must be an even number from 2 to 16384; given 3"),
        ({"chunk": "3"}, InvalidValue, "merge: chunk: must be an even number"),
        ({"shard": 100}, InvalidValue, "merge: shard: must be a multiple of chunk, and 0 in version 0.4; given 100"),
        ({"shard": 256, "version": "0.4"}, InvalidValue, "merge: shard: must be a multiple of chunk, and 0 in version 0.4"),
        ({"axes": "xy"}, InvalidValue, "merge: axes: must be of t, c, z, y and x, in this order"),
        ({"axes": 3}, InvalidValue, "merge: axes: must be of"),
        ({"scale": (1, -1)}, InvalidValue, "merge: scale: must be numbers above 0"),
        ({"scale": 3}, InvalidValue, "merge: scale: must be numbers above 0"),
        ({"units": "m"}, InvalidType, "merge: units: must be a list of texts and None"),
        ({"units": [1]}, InvalidType, "merge: units: must be a list of texts and None"),
        ({"overviews": "max"}, InvalidValue, 'merge: overviews: must be "mean", "nearest" or "none"'),
        ({"like": "x.zarr"}, InvalidType, "merge: like: must be what open_ome_zarr returns"),
    ],
)
def test_wrong_arguments(arguments, error, message, tmp_path):
    path = tmp_path / arguments.get("path", "y.zarr")
    with pytest.raises(error, match=message):
        OMEZarr(path, **{name: value for name, value in arguments.items() if name != "path"})


def test_wrong_results(tmp_path):
    tiling = Tiling((3, 20, 20), (16, 16), overlap=4)
    for arguments, message in (
        ({"axes": "yx"}, "axes: must have a name for each axis, and y and x, which are tiled, last; given yx"),
        ({"scale": (1, 1)}, "scale: must have an entry for each axis; given 2, expected 3"),
        ({"units": ("m",)}, "units: must have an entry for each axis; given 1, expected 3"),
    ):
        with pytest.raises(InvalidValue, match=message):
            Merger(tiling, out=OMEZarr(tmp_path / "y.zarr", **arguments), results=ResultType("uint8", (3,)))
    with pytest.raises(InvalidType, match="merge: out: the image must be able to hold the element type; given complex64"):
        Merger(tiling, out=OMEZarr(tmp_path / "y.zarr"), results=ResultType("complex64", (3,)))
    with pytest.raises(InvalidValue, match="axes: must have a name for each axis"):
        last = Tiling((20, 20, 3), (16, 16), overlap=4, axes=(0, 1))
        Merger(last, out=OMEZarr(tmp_path / "y.zarr"), results=ResultType("uint8", (3,)))
    assert not list(tmp_path.iterdir())
    (tmp_path / "y.zarr").mkdir()
    with pytest.raises(InvalidValue, match="merge: out: must not"):
        OMEZarr(tmp_path / "y.zarr")


def test_damaged_metadata_is_one_sentence(tmp_path):
    """Checks that wrong values in every place of the metadata raise InvalidValue or leave a readable image."""
    x = np.ones((20, 20), np.uint8)
    path = apply_tiled(same, x, (16, 16), overlap=4, out=OMEZarr(tmp_path / "y.zarr", chunk=16), **QUIET)
    good = json.loads((path / "zarr.json").read_text())

    def places(value, at=()):
        yield at
        for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            yield from places(value[key], (*at, key))

    all_places = [each for each in places(good["attributes"]) if each]
    assert len(all_places) > 20
    for at in all_places:
        for wrong in (None, -1, "?", [], {}, [None], {"path": "9"}, 1e400):
            bad = json.loads(json.dumps(good))
            holder = bad["attributes"]
            for key in at[:-1]:
                holder = holder[key]
            holder[at[-1]] = wrong
            (path / "zarr.json").write_text(json.dumps(bad))
            try:
                assert open_ome_zarr(path, 1)[...].shape == (10, 10)
            except InvalidValue as error:
                assert error.operator == "open_ome_zarr"
    (path / "zarr.json").write_text(json.dumps(good))
    for level in (-1, 2):
        with pytest.raises(InvalidValue, match=f"level: must be a level of the image; given {level}, expected 0 to 1"):
            open_ome_zarr(path, level)
    zarr.create_group(tmp_path / "z.zarr")
    for wrong in (tmp_path / "none.zarr", tmp_path / "z.zarr", path / "0", 7):
        with pytest.raises(InvalidValue, match="open_ome_zarr: path: must"):
            open_ome_zarr(wrong)

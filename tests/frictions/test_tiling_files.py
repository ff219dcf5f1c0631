# SPDX-License-Identifier: Apache-2.0
"""Tests of problems that users had with the inputs and outputs of tilings: files, stores and data sets of rasterio."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from patchfold import InvalidType, InvalidValue
from test_tiling import PHOTO, X, apply, says


def test_a_tiff_of_a_picture_is_a_picture(tmp_path):
    """Checks that a picture of rows x columns x 3 becomes one page in colour, and not a grey page for each row."""
    tifffile = pytest.importorskip("tifffile")
    for dtype in (np.uint8, np.uint16):
        hwc = PHOTO.astype(dtype)
        for name, x, axes in (("hwc", hwc, (0, 1)), ("chw", hwc.transpose(2, 0, 1), None)):
            y = apply(lambda tile: tile, x, (16, 16), axes=axes, out=tmp_path / f"{name}.tif")
            np.testing.assert_array_equal(y, x, strict=True)
            with tifffile.TiffFile(tmp_path / f"{name}.tif") as file:
                assert len(file.pages) == 1 and file.pages[0].photometric.name == "RGB"
                np.testing.assert_array_equal(file.pages[0].asarray(), hwc, strict=True)
    rgba = np.concatenate([PHOTO, PHOTO[..., :1]], -1)
    apply(lambda tile: tile, rgba, (16, 16), axes=(0, 1), out=tmp_path / "rgba.tif")
    scores = PHOTO.astype(np.float32)
    apply(lambda tile: tile, scores, (16, 16), axes=(0, 1), out=tmp_path / "scores.tif")
    many = np.repeat(PHOTO, 4, -1)
    apply(lambda tile: tile, many, (16, 16), axes=(0, 1), out=tmp_path / "many.tif")
    one = PHOTO[..., :1]
    apply(lambda tile: tile, one, (16, 16), axes=(0, 1), out=tmp_path / "one.tif")
    expected = {"rgba": ("RGB", rgba), "scores": ("MINISBLACK", scores), "many": ("MINISBLACK", many)}
    for name, (photometric, x) in expected.items():
        with tifffile.TiffFile(tmp_path / f"{name}.tif") as file:
            assert len(file.pages) == 1 and file.pages[0].photometric.name == photometric
            np.testing.assert_array_equal(file.asarray(), x, strict=True)
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "one.tif").reshape(one.shape), one)


def test_a_tiff_of_a_volume_has_pages(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    for x, axes in ((X, None), (np.repeat(PHOTO[None], 5, 0), (0, 1, 2)), (PHOTO[..., 0], None)):
        tile = (4, 16, 16) if axes else (16, 16)
        apply(lambda tile: tile, x, tile, overlap=2, axes=axes, out=tmp_path / "y.tif")
        np.testing.assert_array_equal(tifffile.imread(tmp_path / "y.tif"), x, strict=True)


def test_xarray_h5py_and_zarr_without_adapters(tmp_path):
    sources = []
    if h5py := pytest.importorskip("h5py"):
        file = h5py.File(tmp_path / "x.h5", "w")
        sources.append((file.create_dataset("x", data=X), file.create_dataset("y", X.shape, X.dtype)))
    if zarr := pytest.importorskip("zarr"):
        both = [zarr.create_array(store={}, shape=X.shape, chunks=(3, 16, 16), dtype="float32") for _ in range(2)]
        both[0][...] = X
        sources.append(tuple(both))
    if xarray := pytest.importorskip("xarray"):
        array = xarray.DataArray(X, dims=("band", "y", "x"), coords={"x": np.arange(40.0)})
        sources.append((array, array.copy(deep=True)))
    for source, sink in sources:
        for mode in ("constant", "reflect"):
            y = apply(np.sin, source, tail="pad", padding_mode=mode, batch=2)
            np.testing.assert_array_equal(y, np.sin(X), strict=True)
        assert apply(np.cos, source, out=sink) is sink
        np.testing.assert_array_equal(np.asarray(sink[...]), np.cos(X))
    group = says(InvalidType, lambda: apply(np.sin, file))
    assert group.endswith("expected one array of it: x['name']")
    assert says(InvalidType, lambda: apply(np.sin, array.to_dataset(name="v"))).endswith(
        "expected one array of it: x['name']"
    )


def test_what_has_an_array_says_so():
    class Picture:  # like PIL's
        def __array__(self, dtype=None, copy=None):
            return PHOTO

    assert says(InvalidType, lambda: apply(np.sin, Picture())).endswith("expected numpy.asarray(x)")


def test_masks_of_stores_are_not_lost():
    class Variable:  # like netCDF4's
        shape, dtype = X.shape, X.dtype

        def __getitem__(self, where):
            return np.ma.masked_less(X[where], 0)

    assert "slices must be arrays without a mask" in says(InvalidType, lambda: apply(np.sin, Variable()))


def raster(rasterio, path, count=3, **more):
    """Writes X as a GeoTIFF; returns the settings of its geographic place."""
    place = {"crs": "EPSG:32633", "transform": rasterio.transform.from_origin(500_000, 5_000_000, 10, 20)}
    with rasterio.open(path, "w", driver="GTiff", count=count, height=50, width=40, dtype="float32", **place | more) as file:
        file.write(X[:count])
    return place


def test_rasterio_in_and_out(tmp_path):
    rasterio = pytest.importorskip("rasterio")
    place = raster(rasterio, tmp_path / "x.tif", nodata=-9)
    with rasterio.open(tmp_path / "x.tif") as x:
        np.testing.assert_array_equal(apply(np.sin, x), np.sin(X), strict=True)
        for batch in (None, 3):
            assert apply(np.sin, x, tail="pad", padding_mode="reflect", batch=batch, out=tmp_path / "y.tif") == (
                tmp_path / "y.tif"
            )
        labels = apply(lambda tile: (tile[0] > 0).astype(np.uint8), x, out=tmp_path / "labels.tif")
        half = apply(lambda tile: tile[:, ::2, ::2], x, scale=(0.5, Fraction(1, 2)), out=tmp_path / "half.tif")
        both = apply(lambda tile: (tile, tile[:1]), x, out=(tmp_path / "a.tif", None))
        bands = apply(np.sin, x, (1, 16, 12), overlap=0, out=tmp_path / "bands.tif")
    assert both[0] == tmp_path / "a.tif" and both[1].shape == (1, 50, 40)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.tif", "bands.tif", "half.tif", "labels.tif", "x.tif", "y.tif"
    ]  # fmt: skip
    for path in (tmp_path / "y.tif", bands):
        with rasterio.open(path) as y:
            np.testing.assert_array_equal(y.read(), np.sin(X), strict=True)
            assert y.crs == place["crs"] and y.transform == place["transform"] and y.nodata == -9
    with rasterio.open(labels) as y:
        np.testing.assert_array_equal(y.read(1), (X[0] > 0).astype(np.uint8))
        assert y.count == 1 and y.crs == place["crs"] and y.nodata is None
    with rasterio.open(half) as y:
        np.testing.assert_array_equal(y.read(), X[:, ::2, ::2])
        assert y.transform[:6] == (20, 0, 500_000, 0, -40, 5_000_000)


def test_a_data_set_of_rasterio_as_output(tmp_path):
    rasterio = pytest.importorskip("rasterio")
    place = {"crs": "EPSG:32633", "transform": rasterio.transform.from_origin(7, 8, 1, 1)}
    made = {"driver": "GTiff", "count": 3, "height": 50, "width": 40, "dtype": "float32", "compress": "deflate"}
    with rasterio.open(tmp_path / "y.tif", "w", **made, **place) as y:
        assert apply(np.sin, X, out=y) is y
        assert says(InvalidValue, lambda: apply(lambda tile: tile[:1], X, out=y)) == (
            "merge: out: must have the output's bands, height and width; given (3, 50, 40), expected (1, 50, 40)"
        )
        assert says(InvalidType, lambda: apply(lambda tile: tile.astype(float), X, out=y)) == (
            "merge: out: must have the element type of the output; given float32, expected float64"
        )
    with rasterio.open(tmp_path / "y.tif") as y:
        np.testing.assert_array_equal(y.read(), np.sin(X))
        assert y.crs == place["crs"]
        assert "must be open for writing" in says(InvalidType, lambda: apply(np.sin, X, out=y))


def test_an_unfinished_geotiff_is_gone(tmp_path):
    rasterio = pytest.importorskip("rasterio")
    raster(rasterio, tmp_path / "x.tif")
    calls = itertools.count()
    with rasterio.open(tmp_path / "x.tif") as x:
        with pytest.raises(ZeroDivisionError):
            apply(lambda tile: tile / (1 if next(calls) < 18 else 1 // 0), x, out=tmp_path / "y.tif")
        assert says(InvalidType, lambda: apply(lambda tile: tile > 0, x, out=tmp_path / "y.tif")).startswith(
            "merge: out: the file must be able to hold the element type; given bool"
        )
        assert says(InvalidValue, lambda: apply(np.sin, x, (2, 16), axes=(0, 1), overlap=0, out=tmp_path / "y.tif")) == (
            "merge: out: a GeoTIFF must have tiles along height and width; given axes=(0, 1), expected axes=(1, 2), or an "
            "array or .npy as out"
        )
        assert says(InvalidValue, lambda: apply(lambda tile: tile[None], x, out=tmp_path / "y.tif")).startswith(
            "merge: out: results must have bands, height and width, or height and width, which are tiled; given (1, 3, "
        )
    assert [path.name for path in tmp_path.iterdir()] == ["x.tif"]

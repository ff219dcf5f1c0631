# SPDX-License-Identifier: Apache-2.0
"""Tests cloud-optimised GeoTIFF files: their layout by rio-cogeo, their pixels, overviews and fields by rasterio."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from patchfold import COG, InvalidType, InvalidValue, Merger, ResultType, Tiling, apply_tiled

rasterio = pytest.importorskip("rasterio")
rio_cogeo = pytest.importorskip("rio_cogeo")

CORNER = rasterio.transform.from_origin(500_000, 5_000_000, 10, 20)
QUIET = {"progress": False}


def next_level(x, how, nodata=None):
    """Returns the next overview of (bands, height, width)."""
    if how == "nearest":
        return x[:, ::2, ::2]
    gaps = np.isnan(x) if x.dtype.kind == "f" else np.zeros(x.shape, bool)
    if nodata is not None:
        gaps |= x == nodata
    bands, height, width = (extent + extent % 2 for extent in (2 * x.shape[0], *x.shape[1:]))
    held = np.ma.masked_all((bands // 2, height, width), np.longdouble)
    held[:, : x.shape[1], : x.shape[2]] = np.ma.array(x, np.longdouble, mask=gaps)
    means = held.reshape(-1, height // 2, 2, width // 2, 2).mean((2, 4))
    return (np.rint(means) if x.dtype.kind in "iu" else means).filled(np.nan if nodata is None else nodata).astype(x.dtype)


def levels_of(path):
    """Returns the picture and its overviews, after a check of the file's layout."""
    valid, errors, notes = rio_cogeo.cog_validate(path, strict=True)
    assert valid, (errors, notes)
    with rasterio.open(path) as y:
        assert y.tags(ns="IMAGE_STRUCTURE")["LAYOUT"] == "COG"
        count = len(y.overviews(1))
        levels = [y.read()]
    for level in range(count):
        with rasterio.open(path, overview_level=level) as y:
            levels.append(y.read())
    return levels


@pytest.fixture(name="pixels")
def made_pixels():
    """Returns pixels of each type, of odd extents, with elements without data (0) in parts of blocks and in whole blocks."""
    rng = np.random.default_rng(0)
    made = {}
    for dtype in ("uint8", "int8", "uint16", "int32", "uint32", "float32", "float64"):
        kind = np.dtype(dtype)
        if kind.kind == "f":
            x = rng.normal(size=(2, 331, 283)).astype(dtype)
        else:
            info = np.iinfo(kind)
            x = rng.integers(info.min, info.max, (2, 331, 283), dtype, endpoint=True)
        x[:, 20:141, 10:131] = 0
        x[rng.random(x.shape) < 0.1] = 0
        made[dtype] = x
    return made


@pytest.mark.parametrize("how", ["mean", "nearest"])
@pytest.mark.parametrize("nodata", [None, 0])
def test_overviews_are_means_or_nearest_pixels(how, nodata, pixels, tmp_path):
    for dtype, x in pixels.items():
        out = COG(tmp_path / f"{dtype}.tif", tile=128, overviews=how)
        settings = {} if nodata is None else {"nodata": nodata}
        apply_tiled(lambda tile: tile, x, (128, 96), overlap=16, out=out, **settings, **QUIET)
        found = levels_of(tmp_path / f"{dtype}.tif")
        expected = [x]
        while max(expected[-1].shape[1:]) > 128:
            expected.append(next_level(expected[-1], how, nodata))
        assert len(found) == len(expected) == 3
        for one, other in zip(found, expected, strict=True):
            assert one.dtype == other.dtype
            rounding = 1e-15 * np.abs(x).max() if dtype == "float64" else 0
            np.testing.assert_allclose(one, other, rtol=0, atol=rounding, err_msg=dtype)


def test_means_know_nan_and_labels_have_none(pixels, tmp_path):
    x = pixels["float32"]
    x[x == 0] = np.nan
    apply_tiled(lambda tile: tile, x, (128, 96), overlap=16, reduce="center", out=COG(tmp_path / "y.tif", tile=128), **QUIET)
    found = levels_of(tmp_path / "y.tif")
    np.testing.assert_array_equal(found[1], next_level(x, "mean"))
    assert np.isnan(found[1]).any() and not np.isnan(found[1]).all()
    labels = pixels["uint8"]
    apply_tiled(lambda tile: tile, labels, (128, 96), overlap=16, out=COG(tmp_path / "z.tif", tile=128), **QUIET)
    np.testing.assert_array_equal(levels_of(tmp_path / "z.tif")[1], labels[:, ::2, ::2])
    wide = labels.astype(np.int64)
    with pytest.raises(InvalidType, match="overviews: means of elements must be of .* at most 32 bits; given int64"):
        out = COG(tmp_path / "w.tif", tile=128, overviews="mean")
        apply_tiled(lambda tile: tile, wide, (128, 96), overlap=16, out=out, **QUIET)
    out = COG(tmp_path / "v.tif", tile=128, overviews="none")
    apply_tiled(lambda tile: tile, wide, (128, 96), overlap=16, out=out, **QUIET)
    assert len(levels_of(tmp_path / "v.tif")) == 1
    assert sorted(each.name for each in tmp_path.iterdir()) == ["v.tif", "y.tif", "z.tif"]


@pytest.mark.parametrize("bands", [1, 3, 4, 6])
def test_a_new_place_and_names(bands, tmp_path):
    x = np.random.default_rng(1).random((bands, 40, 50), np.float32)
    names = [f"class {band}" for band in range(bands)]
    out = COG(tmp_path / "y.tif", crs="EPSG:32633", transform=CORNER, names=names, compress="zstd")
    assert apply_tiled(lambda tile: tile, x, (16, 16), overlap=4, nodata=-1, out=out, **QUIET) == tmp_path / "y.tif"
    with rasterio.open(tmp_path / "y.tif") as y:
        np.testing.assert_array_equal(y.read(), x)
        assert (y.crs, y.transform, y.descriptions, y.nodata) == ("EPSG:32633", CORNER, tuple(names), -1)
        assert y.profile["compress"] == "zstd" and y.block_shapes == [(512, 512)] * bands


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_scores_are_no_colours_and_colours_are(dtype, tmp_path):
    x = np.random.default_rng(2).integers(0, 255, (4, 40, 50)).astype(dtype)
    apply_tiled(lambda tile: tile, x, (16, 16), overlap=4, out=COG(tmp_path / "y.tif"), **QUIET)
    colours = {"driver": "GTiff", "count": 4, "height": 40, "width": 50, "dtype": dtype, "photometric": "rgb"}
    with rasterio.open(tmp_path / "x.tif", "w", **colours, alpha="yes", crs="EPSG:32633", transform=CORNER) as y:
        y.write(x)
    expected = {
        "y": ["gray", "undefined", "undefined", "undefined"],
        "z": ["red", "green", "blue", "alpha"],
        "w": ["gray", "undefined", "undefined"],
    }
    with rasterio.open(tmp_path / "x.tif") as source:
        apply_tiled(lambda tile: tile, source, (16, 16), overlap=4, out=COG(tmp_path / "z.tif"), **QUIET)
        apply_tiled(lambda tile: tile[:3], source, (16, 16), overlap=4, out=COG(tmp_path / "w.tif"), **QUIET)
    for name, words in expected.items():
        with rasterio.open(tmp_path / f"{name}.tif") as y:
            assert [each.name for each in y.colorinterp] == words, name
            np.testing.assert_array_equal(y.read(), x[: len(words)])


@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
def test_channels_of_a_plain_file_are_bands(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    cases = (((6, 40, 50), (16, 16), 6, 1), ((40, 50), (16, 16), 1, 1), ((4, 40, 50), (2, 16, 16), 1, 4))
    for shape, tile, count, pages in cases:
        x = np.random.default_rng(4).random(shape, np.float32)
        apply_tiled(lambda part: part, x, tile, overlap=1, out=tmp_path / "y.tif", **QUIET)
        with rasterio.open(tmp_path / "y.tif") as y, tifffile.TiffFile(tmp_path / "y.tif") as file:
            assert y.count == count and len(file.pages) == pages
            np.testing.assert_array_equal(file.asarray(), x)
            np.testing.assert_array_equal(y.read(), x.reshape(-1, 40, 50)[:count])
            assert {each.name for each in y.colorinterp} <= {"gray", "undefined"}


def test_fields_of_the_source(tmp_path):
    made = {"driver": "GTiff", "count": 2, "height": 60, "width": 70, "dtype": "int16", "nodata": -1}
    x = np.random.default_rng(3).integers(0, 99, (2, 60, 70)).astype(np.int16)
    with rasterio.open(tmp_path / "x.tif", "w", **made, crs="EPSG:32633", transform=CORNER) as y:
        y.write(x)
        y.descriptions, y.units = ("a", "b"), ("m", "s")
    double = CORNER * CORNER.scale(0.5, 0.5)
    with rasterio.open(tmp_path / "x.tif") as source, warnings.catch_warnings():
        warnings.simplefilter("error")
        apply_tiled(lambda tile: tile, source, (16, 16), overlap=4, out=COG(tmp_path / "y.tif"), **QUIET)
        apply_tiled(
            lambda tile: tile.repeat(2, 1).repeat(2, 2),
            x,
            (16, 16),
            overlap=4,
            scale=2,
            nodata=-1,
            out=COG(tmp_path / "z.tif", like=source, crs="EPSG:3857"),
            **QUIET,
        )
    with rasterio.open(tmp_path / "y.tif") as y:
        assert (y.crs, y.transform, y.nodata) == ("EPSG:32633", CORNER, -1)
        assert (y.descriptions, y.units) == (("a", "b"), ("m", "s"))
    with rasterio.open(tmp_path / "z.tif") as y:
        assert (y.crs, y.transform[:6], y.shape) == ("EPSG:3857", double[:6], (120, 140))


def test_a_failed_merge_leaves_no_file(tmp_path):
    def fails(tile):
        if calls := fails.calls:
            calls.pop()
            return tile
        raise KeyError("stop")

    fails.calls = [1] * 100
    with pytest.raises(KeyError):
        out = COG(tmp_path / "y.tif", tile=128)
        apply_tiled(fails, np.ones((1, 600, 300)), (32, 32), overlap=4, out=out, **QUIET)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"path": "y.png"}, InvalidValue, "merge: out: the name of a file must end in .tif or .tiff; given"),
        ({"tile": 100}, InvalidValue, "merge: tile: must be a multiple of 16 from 128 to 16384; given 100"),
        ({"tile": "big"}, InvalidValue, "merge: tile: must be a multiple of 16"),
        ({"compress": "zip"}, InvalidValue, 'merge: compress: must be one of these; given .*expected "deflate", "lzw"'),
        ({"compress": ["zip"]}, InvalidValue, "merge: compress: must be one of these"),
        ({"overviews": "max"}, InvalidValue, 'merge: overviews: must be "mean", "nearest" or "none"'),
        ({"overviews": 2}, InvalidValue, "merge: overviews: must be"),
        ({"names": "ab"}, InvalidType, "merge: names: must be a list of texts"),
        ({"names": 3}, InvalidType, "merge: names: must be a list of texts"),
        ({"like": "x.tif"}, InvalidType, "merge: like: must be an open data set of rasterio"),
    ],
)
def test_wrong_arguments(arguments, error, message, tmp_path):
    path = tmp_path / arguments.get("path", "y.tif")
    with pytest.raises(error, match=message):
        COG(path, **{name: value for name, value in arguments.items() if name != "path"})


def test_wrong_results(tmp_path):
    tiling = Tiling((3, 20, 20), (16, 16), overlap=4)
    with pytest.raises(InvalidValue, match="merge: names: must have a name for each band; given 2, expected 3"):
        Merger(tiling, out=COG(tmp_path / "y.tif", names=["a", "b"]), results=ResultType("uint8", (3,)))
    with pytest.raises(InvalidValue, match="merge: out: a GeoTIFF must have tiles along height and width"):
        Merger(Tiling((20, 20, 3), (16, 16), overlap=4, axes=(0, 1)), out=COG(tmp_path / "y.tif"))
    with pytest.raises(InvalidType, match="merge: out: the file must be able to hold the element type; given bool"):
        Merger(tiling, out=COG(tmp_path / "y.tif"), results=ResultType("bool", (3,)))
    assert not list(tmp_path.iterdir())


MEASURED = """
import sys
import numpy as np, patchfold
from rasterio.transform import from_origin

class Ramp:  # a picture that no memory holds
    shape, dtype = (int(sys.argv[1]), 65536), np.dtype("uint8")
    def __getitem__(self, part):
        rows, columns = (np.arange(*each.indices(65536), dtype=np.uint32) for each in part)
        return (rows[:, None] // 64 + columns // 64).astype(np.uint8)

out = patchfold.COG(sys.argv[2], crs="EPSG:32633", transform=from_origin(0, 0, 1, 1), overviews="mean")
patchfold.apply_tiled(lambda tile: tile, Ramp(), (512, 4096), overlap=0, out=out, progress=False)
print(int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
def test_the_picture_is_never_in_memory(tmp_path):
    """Checks that rows as long as those of a square of 4 gigapixels need less than 500 MB, and more rows no more."""
    peaks = []
    for height in (600, 1600):
        command = [sys.executable, "-c", MEASURED, str(height), str(tmp_path / "y.tif")]
        peaks.append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    assert max(peaks) < 500 and peaks[1] < peaks[0] + 50, peaks
    with rasterio.open(tmp_path / "y.tif") as y:
        assert y.shape == (1600, 65536) and y.overviews(1) == [2, 4, 8, 16, 32, 64, 128]
        row = y.read(1, window=((1500, 1501), (0, 65536)))[0]
    np.testing.assert_array_equal(row, (1500 // 64 + np.arange(65536) // 64).astype(np.uint8))

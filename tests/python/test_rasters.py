# SPDX-License-Identifier: Apache-2.0
"""Tests which fields of a rasterio data set the GeoTIFF file of apply_tiled keeps, and how rows are written to data sets."""

import threading
import warnings

import numpy as np
import pytest
from patchfold import InvalidValue, Merger, Tiling, apply_tiled
from PIL import Image

rasterio = pytest.importorskip("rasterio")

PIXELS = np.random.default_rng(0).integers(1, 4000, (2, 60, 70)).astype(np.uint16)
PIXELS[:, 20:40, 20:40] = 0
CORNER = rasterio.transform.from_origin(500_000, 5_000_000, 10, 20)
POINTS = [rasterio.control.GroundControlPoint(*each) for each in ((0, 0, 5, 50), (60, 70, 15, 40), (60, 0, 5, 40))]

# Functions of a tile that change the results in one respect, and the scale of the results.
CHANGES = {
    "none": (lambda tile: tile, 1),
    "type": (lambda tile: tile.astype(np.float32), 1),
    "bands": (lambda tile: tile[:1], 1),
    "size": (lambda tile: tile.repeat(2, 1).repeat(2, 2), 2),
}

# For each field, the changes of results after which the output keeps the field.
FIELDS = {
    "nodata": {"none", "size"},
    "descriptions": {"none", "size"},
    "scales": {"none", "size"},
    "offsets": {"none", "size"},
    "units": {"none", "size"},
    "tags": {"none", "size"},
    "TIFFTAG_IMAGEDESCRIPTION": {"none"},
    "RPCs": {"none", "type", "bands"},
    "mask": set(),
}


def fields_of(y):
    """Returns {field: value} of the FIELDS that a data set has."""
    found = {"nodata": y.nodata, "RPCs": y.rpcs, "TIFFTAG_IMAGEDESCRIPTION": y.tags().get("TIFFTAG_IMAGEDESCRIPTION")}
    found |= {name: getattr(y, name) for name in ("descriptions", "scales", "offsets", "units")}
    found["tags"] = y.tags(1) or None
    found["mask"] = True if rasterio.enums.MaskFlags.per_dataset in y.mask_flag_enums[0] else None
    says_nothing = ({None}, {1.0}, {0.0})
    return {
        name: value
        for name, value in found.items()
        if value is not None and not (isinstance(value, tuple) and set(value) in says_nothing)
    }


def plain(value):
    return value.to_dict() if hasattr(value, "to_dict") else value


@pytest.fixture(name="sources")
def made_sources(tmp_path):
    """Writes one data set for each field; returns their paths."""
    paths = {}
    values = {
        "descriptions": ("B2", "B3"),
        "scales": (1e-4, 2e-4),
        "offsets": (0.5, -0.1),
        "units": ("m", "s"),
        "rpcs": rasterio.rpc.RPC(9, 1, 8, 1, [0.5] * 20, [0.25] * 20, 30, 5, 40, 2, [0.5] * 20, [0.25] * 20, 35, 3),
    }
    for field in FIELDS:
        paths[field] = tmp_path / f"{field}.tif"
        nodata = 0 if field == "nodata" else None
        made = {"driver": "GTiff", "count": 2, "height": 60, "width": 70, "dtype": "uint16", "nodata": nodata}
        place = {} if field == "RPCs" else {"crs": "EPSG:32633", "transform": CORNER}
        with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), rasterio.open(paths[field], "w", **made, **place) as x:
            if field.lower() in values:
                setattr(x, field.lower(), values[field.lower()])
            if field == "tags":
                x.update_tags(1, WAVE="490", STATISTICS_MAXIMUM="9")
            if field == "TIFFTAG_IMAGEDESCRIPTION":
                x.update_tags(TIFFTAG_IMAGEDESCRIPTION='<?xml version="1.0"?><OME></OME>')
            x.write(PIXELS)
            if field == "mask":
                x.write_mask(PIXELS[0] > 0)
    return paths


@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("field", FIELDS)
def test_a_field_is_kept_where_it_holds_and_otherwise_missed_aloud(field, change, sources, tmp_path):
    fn, scale = CHANGES[change]
    with rasterio.open(sources[field]) as x, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        given = fields_of(x)
        assert field in given
        out = apply_tiled(fn, x, (16, 16), overlap=4, scale=scale, out=tmp_path / "y.tif", progress=False)
        assert x.nodata is not None or given.keys() == {field}
    lost = [str(each.message) for each in said if each.category is UserWarning]
    with rasterio.open(out) as y:
        found = fields_of(y)
        np.testing.assert_array_equal(y.read(), fn(PIXELS))
        if field != "RPCs":
            assert y.crs == "EPSG:32633" and y.transform[:6] == (10 / scale, 0, 500_000, 0, -20 / scale, 5_000_000)
    if change in FIELDS[field]:
        given.get("tags", {}).pop("STATISTICS_MAXIMUM", None)  # describes other numbers: the output lacks it
        assert {name: plain(each) for name, each in found.items()} == {name: plain(each) for name, each in given.items()}
        assert not lost
    else:
        assert not found
        assert len(lost) == 1 and lost[0].startswith(
            f"merge: out: y.tif lacks this field of the source: {field}. It may not hold"
        )
    assert not list(tmp_path.glob("*.aux.xml"))


def test_the_place_is_that_of_the_new_pixels(tmp_path):
    made = {"driver": "GTiff", "count": 1, "height": 60, "width": 70, "dtype": "uint8"}
    fn, scale = CHANGES["size"]
    for name in ("Area", "Point", "points"):
        place = {} if name == "points" else {"crs": "EPSG:32633", "transform": CORNER}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
            with rasterio.open(tmp_path / "x.tif", "w", **made, **place) as x:
                x.write(PIXELS[:1].astype(np.uint8))
                if name == "points":
                    x.gcps = POINTS, rasterio.crs.CRS.from_epsg(4326)
                else:
                    x.update_tags(AREA_OR_POINT=name, TIFFTAG_XRESOLUTION="300", TIFFTAG_YRESOLUTION="150")
        with rasterio.open(tmp_path / "x.tif") as x:
            apply_tiled(fn, x, (16, 16), overlap=4, scale=scale, out=tmp_path / "y.tif", progress=False)
        with rasterio.open(tmp_path / "y.tif") as y:
            if name == "points":
                moved, crs = y.gcps
                assert [(p.row, p.col, p.x, p.y) for p in moved] == [(2 * p.row, 2 * p.col, p.x, p.y) for p in POINTS]
                assert crs == "EPSG:4326"
            else:
                assert y.transform[:6] == (5, 0, 500_000, 0, -10, 5_000_000) and y.tags()["AREA_OR_POINT"] == name
                assert [float(y.tags()[f"TIFFTAG_{axis}RESOLUTION"]) for axis in "XY"] == [600, 300]


def test_a_colour_map_stays_with_its_numbers(tmp_path):
    with rasterio.open(
        tmp_path / "x.tif", "w", driver="GTiff", count=1, height=60, width=70, dtype="uint8", transform=CORNER
    ) as x:
        x.write_colormap(1, {0: (1, 2, 3, 255), 7: (9, 8, 7, 255)})
        x.write((PIXELS[:1] % 8).astype(np.uint8))
    with rasterio.open(tmp_path / "x.tif") as x:
        apply_tiled(lambda tile: tile, x, (16, 16), overlap=4, out=tmp_path / "y.tif", progress=False)
        with pytest.warns(UserWarning, match="lacks this field of the source: colour map. It may"):
            apply_tiled(lambda tile: tile / 2, x, (16, 16), overlap=4, out=tmp_path / "z.tif", progress=False)
    with rasterio.open(tmp_path / "y.tif") as y:
        assert y.colormap(1)[7] == (9, 8, 7, 255)


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_labels_of_a_palette_keep_their_numbers(bits, tmp_path):
    """Checks functions whose results disagree where tiles overlap: another number would be a blend."""
    numbers = PIXELS[0].astype(np.uint8) % min(4, 2**bits)
    few = {"nbits": bits} if bits < 8 else {}
    made = {"driver": "GTiff", "count": 1, "height": 60, "width": 70, "dtype": "uint8", "photometric": "palette"}
    with rasterio.open(tmp_path / "x.tif", "w", **made, **few, transform=CORNER) as x:
        x.write_colormap(1, {number: (60 * number, 0, 0, 255) for number in range(2**bits)})
        x.write(numbers, 1)
    picture = Image.fromarray(numbers).convert("P")
    picture.putdata(numbers.ravel())
    picture.save(tmp_path / "x.png", bits=bits)

    def edged(tile):  # the border of a tile is 0
        return np.pad(tile[..., 1:-1, 1:-1], [(0, 0)] * (tile.ndim - 2) + [(1, 1)] * 2)

    with rasterio.open(tmp_path / "x.tif") as x:
        apply_tiled(edged, x, (16, 16), overlap=4, out=tmp_path / "y.tif", progress=False)
    read = [np.asarray(Image.open(tmp_path / name)) for name in ("x.tif", "x.png")]
    for each in read:
        np.testing.assert_array_equal(each, numbers)
    with rasterio.open(tmp_path / "y.tif") as y:
        results = [y.read(1), *(apply_tiled(edged, each, (16, 16), overlap=4, progress=False) for each in read)]
        assert y.colormap(1)[1] == (60, 0, 0, 255)
    for result in results:
        assert np.isin(result, (0, 1, 2, 3)).all() and np.all((result == numbers) | (result == 0))
        np.testing.assert_array_equal(result[2:-2, 2:-2], numbers[2:-2, 2:-2])


@pytest.mark.parametrize(
    ("change", "arguments", "expected"),
    [
        ("none", {}, 0),
        ("none", {"nodata": "none"}, None),
        ("none", {"nodata": 9}, 9),
        ("none", {"fill": 7}, 7),
        ("type", {"nodata": 0}, 0),
        ("type", {"nodata": 0, "fill": -9999}, -9999),
        ("type", {"nodata": float("nan")}, float("nan")),
        ("bands", {"nodata": 0, "fill": 65535}, 65535),
        ("none", {"reduce": "mean"}, 0),
        ("none", {"reduce": "mean", "fill": 65535}, 65535),
    ],
)
def test_the_nodata_of_a_result_is_that_of_its_file(change, arguments, expected, sources, tmp_path):
    """Checks that every element of the output is a value or nodata, and never a mean of both."""
    empty = arguments.get("nodata", 0)
    empty = 0 if empty == "none" else empty

    def fn(tile):  # gives no data in the tile's first rows, where the tile above may give some
        tile = CHANGES[change][0](tile).copy()
        tile[:, :2] = empty
        return tile

    with rasterio.open(sources["nodata"]) as x, warnings.catch_warnings():
        warnings.simplefilter("error")
        out = apply_tiled(fn, x, (16, 16), overlap=4, out=tmp_path / "y.tif", progress=False, **arguments)
        array = apply_tiled(fn, x, (16, 16), overlap=4, progress=False, **arguments)
    with rasterio.open(out) as y:
        np.testing.assert_equal(y.nodata, expected)
        np.testing.assert_array_equal(y.read(), array)
    source = PIXELS[: len(array)]
    filled = arguments.get("fill", empty)
    is_filled = np.isnan(array) if filled != filled else array == filled
    assert np.array_equal(array[~is_filled], source[~is_filled]) and 0 < is_filled.mean() < 0.25
    if empty == 0:
        assert is_filled[source == 0].all()


def test_a_data_set_as_output_says_its_nodata(tmp_path):
    tiling = Tiling((2, 6), (4,), stride=2)
    tiles = [np.array([[1, -9, 3, 4.0]] * 2), np.array([[-9, np.nan, 7, 8.0]] * 2)]
    made = {"driver": "GTiff", "count": 1, "height": 2, "width": 6, "dtype": "float64", "transform": CORNER}

    def merged(out, **arguments):
        merger = Merger(Tiling((2, 6), (2, 4), stride=2), window="ones", out=out, **arguments)
        for index, tile in enumerate(tiles):
            merger.add(index, tile)
        return merger.finish()

    for nodata, arguments, expected in (
        (-9, {}, [1, -9, 3, 4, 7, 8]),
        (-9, {"nodata": "none"}, [1, -9, -3, np.nan, 7, 8]),
        (-1, {"nodata": -9, "fill": -1}, [1, -1, 3, 4, 7, 8]),
        (None, {}, [1, -9, -3, np.nan, 7, 8]),
    ):
        with rasterio.open(tmp_path / "y.tif", "w", nodata=nodata, **made) as y:
            merged(y, **arguments)
        with rasterio.open(tmp_path / "y.tif") as y:
            np.testing.assert_array_equal(y.read(1)[0], expected)
    for nodata in (None, -1):
        with rasterio.open(tmp_path / "y.tif", "w", nodata=nodata, **made) as y:
            says = (
                r"^merge: out: must mark the elements without data; given nodata=.*expected rasterio.open\(.., nodata=-9\)"
            )
            with pytest.raises(InvalidValue, match=says):
                merged(y, nodata=-9)
    assert len(tiling) == 2


@pytest.mark.parametrize("axes", [(1, 2), (0, 1, 2)])
@pytest.mark.parametrize(
    "blocks",
    [
        {"tiled": True, "blockxsize": 256, "blockysize": 128, "interleave": "pixel"},
        {"tiled": True, "blockxsize": 256, "blockysize": 128, "interleave": "band"},
        {"blockysize": 100, "interleave": "band"},
    ],
)
def test_each_block_of_a_data_set_is_compressed_once(tmp_path, blocks, axes):
    """With a cache that holds no row of blocks, GDAL compresses a block each time that a part of it is written, and leaves
    the old one in the file."""
    x = np.random.default_rng(0).integers(0, 40, (3, 500, 1100), np.uint8)
    made = {"driver": "GTiff", "count": 3, "height": 500, "width": 1100, "dtype": "uint8", "compress": "deflate"}
    tiling = Tiling(x.shape, (2, 200, 300)[-len(axes) :], overlap=(1, 60, 100)[-len(axes) :], axes=axes)
    with rasterio.Env(GDAL_CACHEMAX=100_000), warnings.catch_warnings():
        warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
        with rasterio.open(tmp_path / "whole.tif", "w", **made, **blocks) as whole:
            whole.write(x)
        with rasterio.open(tmp_path / "tiles.tif", "w", **made, **blocks) as tiles:
            merger = Merger(tiling, out=tiles, copy=True)
            for index, tile in enumerate(tiling.split(x)):
                merger.add(index, tile)
            assert merger.finish() is tiles
            assert merger.peak_bytes == tiling.bytes("uint8", copy=True, sink=tiles).most
        with rasterio.open(tmp_path / "tiles.tif") as written:
            np.testing.assert_array_equal(written.read(), x)
    assert (tmp_path / "tiles.tif").stat().st_size == (tmp_path / "whole.tif").stat().st_size


def test_tiles_are_read_and_written_by_one_thread_at_a_time(tmp_path):
    """Tests that no read or write of a data set runs beside another one, since drivers need not be thread-safe."""
    x = np.random.default_rng(0).random((1, 300, 200), np.float32)
    busy = threading.Lock()

    class Watched:
        def __init__(self, dataset):
            self._dataset = dataset

        def __getattr__(self, name):
            return getattr(self._dataset, name)

        def _alone(self, method, *args, **given):
            assert busy.acquire(blocking=False), "two threads use the driver at once"
            try:
                return method(*args, **given)
            finally:
                busy.release()

        def read(self, *args, **given):
            return self._alone(self._dataset.read, *args, **given)

        def write(self, *args, **given):
            self._alone(self._dataset.write, *args, **given)

    made = {"driver": "GTiff", "count": 1, "height": 300, "width": 200, "dtype": "float32", "transform": CORNER}
    with rasterio.open(tmp_path / "x.tif", "w", **made) as source:
        source.write(x)
    for workers in (None, 3):
        with rasterio.open(tmp_path / "x.tif") as source, rasterio.open(tmp_path / "y.tif", "w", **made) as out:
            apply_tiled(np.sqrt, Watched(source), (64, 64), overlap=16, out=Watched(out), workers=workers, progress=False)
        with rasterio.open(tmp_path / "y.tif") as written:
            np.testing.assert_array_equal(written.read(), np.sqrt(x))


def test_bands_with_different_nodata_are_refused(tmp_path):
    made = {"driver": "GTiff", "count": 2, "height": 60, "width": 70, "dtype": "uint16", "transform": CORNER}
    with rasterio.open(tmp_path / "x.tif", "w", **made) as x:
        x.write(PIXELS)
    bands = "".join(
        f'<VRTRasterBand dataType="UInt16" band="{band}"><NoDataValue>{nodata}</NoDataValue>'
        f'<SimpleSource><SourceFilename relativeToVRT="1">x.tif</SourceFilename><SourceBand>{band}</SourceBand>'
        "</SimpleSource></VRTRasterBand>"
        for band, nodata in ((1, 0), (2, 9))
    )
    text = f'<VRTDataset rasterXSize="70" rasterYSize="60"><GeoTransform>0,1,0,0,0,1</GeoTransform>{bands}</VRTDataset>'
    (tmp_path / "x.vrt").write_text(text, encoding="utf-8")
    with rasterio.open(tmp_path / "x.vrt") as x:
        settings = {"overlap": 8, "reduce": "mean", "progress": False}
        with pytest.raises(InvalidValue, match=r"nodata: must be given where the bands .* given \(0.0, 9.0\)"):
            apply_tiled(lambda tile: tile, x, (32, 32), **settings)
        y = apply_tiled(lambda tile: tile, x, (32, 32), nodata="none", **settings)
        assert np.array_equal(y, PIXELS)
        assert apply_tiled(lambda tile: tile[:1], x, (32, 32), **settings).shape == (1, 60, 70)

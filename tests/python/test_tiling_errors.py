# SPDX-License-Identifier: Apache-2.0
"""Tests of wrong calls of Tiling, Merger and apply_tiled: class and exact message of each call in wrong_tiles.txt.

A message is "OPERATOR: ARGUMENT: RULE; given GIVEN, expected EXPECTED".
"""

import inspect
import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import patchfold
import pytest
from patchfold import InvalidType, InvalidValue

ROWS = [line for line in Path(__file__).with_name("wrong_tiles.txt").read_text().splitlines() if line and line[0] != "#"]
TABLE = list(zip(ROWS[::2], ROWS[1::2], strict=True))
X = np.zeros((3, 20, 30), np.float32)


def merger(tiles=(), tiling=(3, 20, 30), tile=(8, 8), overlap=2, **arguments):
    """Returns a merger that already has the tiles with the indices `tiles`."""
    t = patchfold.Tiling(tiling, tile, overlap=overlap)
    m = patchfold.Merger(t, **arguments)
    for index in tiles:
        m.add(index, np.zeros(t[index].result_shape, np.float32))
    return m


class Store:
    """A store with a shape, whose slices can be read and written."""

    dtype = np.dtype(np.float32)

    def __init__(self, shape):
        self.shape = shape

    def __getitem__(self, slices):
        return X[slices]

    def __setitem__(self, slices, rows):
        pass


NAMES = {
    "np": np,
    "Path": Path,
    "Fraction": Fraction,
    "patchfold": patchfold,
    "Tiling": patchfold.Tiling,
    "Merger": patchfold.Merger,
    "apply": lambda fn=np.sin, x=X, tile=(8, 8), overlap=2, **more: patchfold.apply_tiled(
        fn, x, tile, overlap=overlap, **{"progress": False} | more
    ),
    "X": X,
    "Store": Store,
    "T": patchfold.Tiling((3, 20, 30), (8, 8), overlap=2),
    "LINE": patchfold.Tiling((20,), (8,), overlap=2),
    "GAPS": patchfold.Tiling((20,), (4,), overlap=-2),
    "merger": merger,
    "tile": lambda *shape, dtype=np.float32: np.zeros(shape or (3, 8, 8), dtype),
}


@pytest.mark.parametrize(("call", "expected"), TABLE, ids=[call[:60] for call, _ in TABLE])
def test_message(call, expected):
    with pytest.raises((patchfold.Error, MemoryError)) as caught:
        eval(call, dict(NAMES))
    error = caught.value
    kind = next(name for name in ("InvalidType", "InvalidValue", "MemoryError") if isinstance(error, eval(name)))
    assert f"{kind}: {re.sub(' at 0x[0-9a-f]+', '', str(error))}" == expected.strip()


@pytest.mark.parametrize(("function", "valid"), [
    (patchfold.Tiling, {"shape": (9, 9), "tile": (4, 4), "overlap": 1}),
    (patchfold.Merger, {"tiling": NAMES["T"]}),
    (patchfold.apply_tiled, {"fn": np.sin, "x": X, "tile": (8, 8), "overlap": 1, "progress": False}),
    (NAMES["T"].bytes, {}),
    (NAMES["T"].cut, {"x": X, "index": 0}),
    (patchfold.Tiling.from_json, {"text": NAMES["T"].to_json()}),
])  # fmt: skip
@pytest.mark.parametrize(
    "value", [object(), 1 + 2j, "text", b"bytes", [], {}, [None], [[1], [2, 3]], 2**70, -(2**70), np.nan]
)
def test_every_argument_refuses_everything_else(function, valid, value):
    """Checks that wrong values cause patchfold's errors, never nanobind's. Some values are right for some arguments."""
    for name in inspect.signature(function).parameters:
        if name == "progress":
            continue
        try:
            function(**valid | {name: value})
        except (InvalidType, InvalidValue) as error:
            assert error.operator in ("tiling", "merge", "apply_tiled") and "nb_" not in str(error)
        except MemoryError:
            assert name == "memory_limit"


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("scale", [["1e999999999"]]),
        ("scale", [[1e300]]),
        ("scale", [["1", "2"]]),
        ("tiles", []),
        ("tiles", None),
        ("tiles", {}),
    ],
)
def test_json_costs_no_more_than_its_length(entry, value):
    """Checks that short JSON, such as a number with a huge exponent, is refused before it needs much time or memory."""
    tiling = patchfold.Tiling((2**30, 2**20), (1, 1), overlap=0)
    entries = json.loads(tiling.to_json(tiles=False)) | {entry: value}
    with pytest.raises(InvalidValue, match=f"tiling: {entry}: "):
        patchfold.Tiling.from_json(json.dumps(entries))


def test_an_error_of_a_tile_leaves_the_merger_as_it_was():
    t = NAMES["T"]
    m = patchfold.Merger(t)
    for wrong in (np.zeros((3, 8, 9), np.float32), np.zeros((8,), np.float32), [1], None, np.ma.zeros((3, 8, 8))):
        with pytest.raises(patchfold.Error, match=r"merge: tile 0 at position \(0, 0\): "):
            m.add(0, wrong)
    for index, tile in enumerate(t.split(X.astype(np.int16))):  # refused tiles have not set the element type
        with pytest.raises(patchfold.Error):
            m.add(index, tile[..., 1:])
        m.add(index, tile)
        with pytest.raises(InvalidValue, match="must not come twice"):
            m.add(index, tile)
    assert m.finish().dtype == np.int16


def test_an_index_ends_a_loop_like_that_of_a_list():
    with pytest.raises(IndexError):
        NAMES["T"][99]
    assert [tile.index for tile in NAMES["LINE"]] == [0, 1, 2]

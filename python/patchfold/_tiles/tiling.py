# SPDX-License-Identifier: Apache-2.0
"""Computes the places of tiles and cuts tiles out of arrays."""

from __future__ import annotations

import builtins
import json
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arguments import is_integer
from .._errors import InvalidType, InvalidValue, value_text
from .._explanation import html_of
from .._typing import (
    Array,
    Box,
    Fill,
    Int,
    IntOrInts,
    Margin,
    Mask,
    Number,
    Overlap,
    PaddingMode,
    Reduce,
    Scale,
    Tail,
    Window,
)
from .merge_arguments import element_type, merge_spec
from .merge_spec import forecast
from .probe import probed
from .sources import Source
from .tile import MergeBytes, Tile, TilingBase, index_of, tile_of
from .tiling_arguments import (
    TILING,
    ask_for_axes,
    box_pairs,
    from_text,
    ratios,
    shown_arguments,
    split_margin,
    split_overlap,
    tile_extents,
    wrong_type,
)


class Tiling(TilingBase):
    """The tiles of an array: the place of each tile, the elements it reads, and the place of its result. Immutable.

    Arguments:
        shape: the shape of the array.
        tile: extents of a tile along the tiled axes, at least 1; a number for each of ``axes``.
        overlap: how much neighbouring tiles share: one number for every tiled axis, or one for each. An integer is a number
            of elements, less than the tile; a negative one leaves a gap. A float f is a fraction of the tile n in [0, 1):
            min(floor(f * n + 1/2), n - 1) elements.
        stride: the distance of neighbouring tiles in elements, at least 1, instead of overlap. Either overlap or stride must
            be given.
        tail: what happens at the end of an axis where the last tile does not fit:
            "shift"    one more tile, moved back to end with the array, which must be at least as long as a tile
            "pad"      one more tile, whose part beyond the array is padding
            "partial"  one more tile, shorter than the others; tiles end with the array at both ends, margins included
            "drop"     no more tile: the end belongs to no tile
            "error"    InvalidValue
            "shift_or_pad"  "shift"; along an axis that is shorter than the tile, one tile whose end is padding
        axes: the tiled axes in ascending order; negative numbers count from the end. Default: the last len(tile) axes, with
            a warning if the last axis is so short that it may hold bands.
        padding_mode, value: the elements of padding, as in numpy.pad: "constant" (value), "edge", "reflect", "symmetric" or
            "wrap".
        scale: output elements for each element of the array: one number for every tiled axis, or one for each. Each number
            is an integer, a Fraction, or a float, which stands for the simplest fraction that rounds to this float. Strides
            and tiles times scale must be whole.
        offset: the output coordinate, for each tiled axis, at which the result of the tile at 0 begins.
        result: extents of the result of a whole tile, for each tiled axis. Default: tile * scale.
        align: a number of elements for every tiled axis, or one for each. Each tile begins at a multiple of align, as the
            strides and pools of a network need it: 4 for a pool of 4. Strides must be multiples of align. A tile that is
            moved back ends with the array if it then begins at such a multiple, or else after the fewest possible elements
            of padding.

        margin: how many elements tiles read before the array and behind it, which are padding: one number for both ends of
            every tiled axis, or for each axis a number or (before, after). A negative number leaves elements out.
        output: extents of the output along the tiled axes. Default: ceil(extent * scale).

    Formula: tile k reads [start, start + tile) of each tiled axis, with start = k * stride - margin; its result lies at
        [start * scale + offset, .. + result) of the output.

    Errors: InvalidValue and InvalidType with the operator "tiling".

    Example:
        >>> import patchfold
        >>> t = patchfold.Tiling((3, 1000, 700), (256, 256), overlap=32)
        >>> len(t), t.grid, t.stride
        (15, (5, 3), (224, 224))
        >>> t[-1].read
        (slice(None, None, None), slice(744, 1000, None), slice(444, 700, None))
        >>> t[4, 2] == t[-1], len(t[0:3])
        (True, 3)
    """

    __slots__ = ()

    def __init__(
        self,
        shape: IntOrInts,
        tile: IntOrInts,
        *,
        overlap: Overlap | None = None,
        stride: IntOrInts | None = None,
        tail: Tail = "shift",
        axes: IntOrInts | None = None,
        padding_mode: PaddingMode = "constant",
        value: Number = 0,
        scale: Scale = 1,
        offset: IntOrInts | None = None,
        result: IntOrInts | None = None,
        align: IntOrInts = 1,
        margin: Margin = 0,
        output: IntOrInts | None = None,
    ) -> None:
        if overlap is None and stride is None:
            expected = "0 for tiles side by side, elements, or a fraction of the tile"
            raise InvalidType(TILING, "overlap", "is required, or stride", expected=expected)
        extents = tile_extents(tile, axes, shape)
        pixels, fractions = split_overlap(overlap)
        self._native = _core.Tiling.make(
            shape,
            extents,
            pixels,
            fractions,
            stride,
            tail,
            axes,
            padding_mode,
            value,
            [(ratio.numerator, ratio.denominator) for ratio in ratios(scale)],
            offset,
            result,
            align,
            *split_margin(margin),
            output,
        )
        if axes is None:
            ask_for_axes(self._native.shape, len(self._native.tile))
        self._text = self._native.to_json(False)
        entries = json.loads(self._text)
        # Numbers that JSON lacks (nan, inf, complex) are Python numbers in this dict.
        entries["value"] = value if isinstance(entries["value"], str) else entries["value"]
        self._given = entries

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self._native.shape

    @property
    def tile(self) -> tuple[int, ...]:
        """Extents of a tile along the tiled axes."""
        return self._native.tile

    @property
    def stride(self) -> tuple[int, ...]:
        """Distance of neighbouring tiles along each tiled axis."""
        return self._native.stride

    @property
    def overlap(self) -> tuple[int, ...]:
        """Elements that neighbouring tiles share along each tiled axis; negative for a gap. The last tile may share more."""
        return tuple(tile - stride for tile, stride in zip(self.tile, self.stride, strict=True))

    @property
    def grid(self) -> tuple[int, ...]:
        """Number of tiles along each tiled axis."""
        return self._native.grid

    @property
    def axes(self) -> tuple[int, ...]:
        """The tiled axes of the array, from 0."""
        return self._native.axes

    @property
    def output_shape(self) -> tuple[int, ...]:
        """Shape of the output, for results with the array's extents along the axes that are not tiled."""
        return self._native.output_shape(self._native.channels)

    @property
    def stream_axis(self) -> int:
        """The first tiled axis. A merge writes finished output in the order of this axis."""
        return self._native.stream_axis

    def __len__(self) -> int:
        return self._native.size

    @overload
    def __getitem__(self, index: Int | tuple[Int, ...]) -> Tile: ...
    @overload
    def __getitem__(self, index: slice) -> list[Tile]: ...
    def __getitem__(self, index: Any) -> Any:
        """Returns a tile by its number, t[7] or t[-1], or by its place in the grid, t[0, 1]; t[0:3] is a list of tiles."""
        if isinstance(index, slice):
            return [self._tile_at(number) for number in self._range_of(index)]
        return self._tile_at(self._index_of(index))

    def _range_of(self, index: slice) -> range:
        try:
            return range(*index.indices(len(self)))
        except (TypeError, ValueError):
            given = value_text(index)
            raise InvalidType(TILING, "index", "a slice must have integers, and a step that is not 0", given) from None

    def _tile_at(self, number: int) -> Tile:
        return tile_of(self._native, number)

    def __iter__(self) -> Iterator[Tile]:
        return (self._tile_at(index) for index in range(len(self)))

    def _index_of(self, index: Any) -> int:
        return index_of(self._native.grid, index)

    def cut(self, x: Array, index: Int | tuple[Int, ...] | Tile, out: Array | None = None) -> Array:
        """Returns a copy of tile ``index`` of the array, padding included.

        Arguments:
            x: an array of the tiling's shape: of NumPy or torch, or any array that supports DLPack.
            index: the number of the tile (negative numbers count from the end), its place in the grid, or a Tile.
            out: an array of the tile's shape and element type; it receives the tile and is returned.
        """
        return self._native.cut(self._index_of(index), x, out)  # type: ignore[no-any-return]

    def read(self, source: Any, index: Int | tuple[Int, ...] | Tile) -> Any:
        """Reads tile ``index`` of an array or of a store, padding included. The result is always a new array.

        Arguments:
            source: an array of the tiling's shape, of which ``cut`` returns the tile; or a store (zarr, h5py, xarray, dask),
                which is an object of that shape, with a dtype, that returns arrays for slices; or an open data set of
                rasterio. A store is sliced once, for the elements of the tile and of its padding; the tile is a NumPy array.
            index: as for cut.

        Errors: InvalidType for another kind of source, InvalidValue for another shape, before anything is read. An exception
            of the store is passed on unchanged.

        Example:
            >>> import numpy as np, patchfold
            >>> t = patchfold.Tiling((7,), (4,), overlap=1, tail="pad", value=-1)
            >>> t.read(np.arange(7), -1).tolist()
            [3, 4, 5, 6]
        """
        return Source(source, TILING, "source").of(self).cut(self, self._tile_at(self._index_of(index)))

    def probe(
        self, fn: Callable[[Any], Any], source: Any, index: Int | tuple[Int, ...] | Tile = 0, *, batch: bool = False
    ) -> Any:
        """Calls a function for one tile, and returns the ResultType of its result: a tuple or a dict of types if the
        function returns several arrays. So the output of a merge is known, and can be checked, before the work begins.

        Arguments:
            fn: as for apply_tiled: a function of a tile.
            source: as for read.
            index: the tile.
            batch: whether fn takes and returns a stack, which has one tile here.

        Errors: InvalidValue if the result does not have t[index].result_shape along the tiled axes. An exception of fn is
            passed on unchanged.

        Example:
            >>> import numpy as np, patchfold
            >>> t = patchfold.Tiling((3, 100, 80), (32, 32), overlap=8)
            >>> t.probe(lambda tile: tile.mean(axis=0, keepdims=True), np.zeros((3, 100, 80), np.float32))
            ResultType(dtype='float32', channels=(1,))
        """
        return probed(self, fn, source, self._tile_at(self._index_of(index)), batch)

    def touching(self, box: Box) -> tuple[range, ...]:
        """Returns the tiles whose results touch a box of the output: for each tiled axis the range of the tiles' numbers
        along the axis. All combinations of these numbers are the tiles' places in the grid, which t[place], t.read and
        t.piece take. Takes O(log n) for n tiles along an axis.

        Arguments:
            box: a slice without a step, or (start, stop), for each tiled axis of the output; for a single tiled axis, a
                slice alone. Negative numbers count from the end. The box has all elements along the other axes.

        Errors: InvalidValue for a box that does not lie in the output. A box without elements, or in a gap between tiles,
            has an empty range.

        Example:
            >>> import patchfold
            >>> t = patchfold.Tiling((3, 1000, 700), (256, 256), overlap=32)
            >>> t.touching((slice(0, 500), slice(-300, None)))
            (range(0, 3), range(1, 3))
        """
        pairs = box_pairs(box, self._native.output, self._native.axes)
        return tuple(range(*pair) for pair in _core.tiles_touching(self._native, pairs))

    def piece(self, index: Int | tuple[Int, ...] | Tile, box: Box, *, rank: Int | None = None) -> tuple[slice, ...]:
        """Returns the slices of the result of tile ``index`` that lie in a box of the output: merge_box needs the piece
        result[t.piece(index, box)].

        Arguments:
            index: as for cut.
            box: as for touching.
            rank: the number of axes of the results, if it is not that of the array.

        Returns a slice for each axis of the result: the whole axis where it is not tiled, and an empty slice where the
        result and the box share no element.

        Example:
            >>> import patchfold
            >>> t = patchfold.Tiling((3, 1000, 700), (256, 256), overlap=32)
            >>> t.piece((1, 2), (slice(0, 500), slice(-300, None)))
            (slice(None, None, None), slice(0, 256, None), slice(0, 256, None))
        """
        native = self._native
        number = self._index_of(index)
        pairs = box_pairs(box, native.output, native.axes)
        parts = dict(zip(self._axes_of(rank), _core.piece_of_tile(native, number, pairs), strict=True))
        axes = len(native.shape) if rank is None else operator.index(rank)
        return tuple(slice(*parts[axis]) if axis in parts else slice(None) for axis in range(axes))

    def _axes_of(self, rank: Int | None) -> tuple[int, ...]:
        if rank is None:
            return self._native.axes
        if not is_integer(rank):
            raise wrong_type("rank", "must be the number of axes of the results", rank)
        return self._native.axes_in(min(operator.index(rank), 2**30))

    def box_shape(self, box: Box, channels: Sequence[Int] | None = None) -> tuple[int, ...]:
        """Returns the shape of a box of the output.

        Arguments:
            box: as for touching.
            channels: extents of the results' axes that are not tiled. Default: the array's.

        Example:
            >>> import patchfold
            >>> t = patchfold.Tiling((3, 1000, 700), (256, 256), overlap=32)
            >>> t.box_shape((slice(0, 500), slice(-300, None)), channels=(1,))
            (1, 500, 300)
        """
        native = self._native
        pairs = box_pairs(box, native.output, native.axes)
        shape = native.output_shape(native.channels if channels is None else channels)
        extents = {axis: stop - start for axis, (start, stop) in zip(native.axes_in(len(shape)), pairs, strict=True)}
        return tuple(extents.get(axis, extent) for axis, extent in enumerate(shape))

    def split(self, x: Array) -> Iterator[Array]:
        """Yields all tiles in ascending order, each a new array of the same kind as x, padding included; never a view.

        Example:
            >>> import numpy as np, patchfold
            >>> t = patchfold.Tiling((7,), (4,), overlap=1, tail="pad", value=-1)
            >>> [part.tolist() for part in t.split(np.arange(7))]
            [[0, 1, 2, 3], [3, 4, 5, 6]]
        """
        shape, _, _ = _core.array_facts(x, TILING, "x")
        if shape != self.shape:
            raise InvalidValue(TILING, "x", "must have the shape of the tiling", str(shape), str(self.shape))
        return (self.cut(x, index) for index in range(len(self)))

    def coverage(self) -> npt.NDArray[np.int64]:
        """Returns the number of tiles at each element of the output: int64, over the tiled axes only."""
        return self._native.coverage()

    def bytes(
        self,
        tile_dtype: Any = "float32",
        *,
        channels: Sequence[Int] | None = None,
        window: Window | None = None,
        reduce: Reduce | None = None,
        dtype: Any = None,
        copy: bool | Literal["sum", "sum48"] = False,
        mask: Mask | None = None,
        fill: Fill | None = None,
        sink: Any = False,
        spec: Any = None,
    ) -> MergeBytes:
        """Computes the largest memory of a merger, for tiles in ascending order, before anything is allocated.

        Arguments:
            tile_dtype: element type of the tiles' results, under the name of NumPy, torch or patchfold.
            channels: extents of the results' axes that are not tiled. Default: the array's.
            window, reduce, dtype, copy, mask, fill: as for Merger.
            sink: whether the output is a function or a store, so that rows wait until they are finished; or the store, or
                the data set of rasterio, itself: rows then wait until they fill its chunks, shards or blocks, too.
            spec: a MergeSpec, instead of window, reduce, dtype, mask and fill. Weights of tiles with nodata are not counted.

        Example:
            >>> import patchfold
            >>> t = patchfold.Tiling((3, 4096, 4096), (512, 512), overlap=64)
            >>> t.bytes("float32").most / 2**20, t.bytes("float32", copy=True).most / 2**20
            (33.0, 4.453125)
        """
        name, size = element_type("tile_dtype", tile_dtype)
        given = {"window": window, "reduce": reduce, "dtype": dtype, "mask": mask, "fill": fill}
        extents = self._native.channels if channels is None else channels
        return MergeBytes(*forecast(self._native, spec, given, copy, sink, name, size, extents))

    def to_json(self, *, tiles: bool = True) -> str:
        """Returns the tiling as JSON text, by default with a list of all its tiles."""
        return self._native.to_json(bool(tiles))

    @classmethod
    def from_json(cls, text: str | builtins.bytes) -> Tiling:
        """Reads a tiling that to_json wrote. A list of tiles must agree with the rest of the text."""
        entries, arguments = from_text(text)
        tiling = cls(**arguments)
        listed = entries.get("tiles", [])
        # The lengths are compared first, since making the list of billions of tiles would take too long.
        same = isinstance(listed, list) and len(listed) == len(tiling)
        if "tiles" in entries and not (same and json.loads(tiling.to_json())["tiles"] == listed):
            raise InvalidValue(TILING, "tiles", "must be those that follow from shape and tile")
        return tiling

    def __repr__(self) -> str:
        parts = shown_arguments(self._native, self._given)
        return f"<Tiling({', '.join(parts)}): {len(self)} tiles, grid {self.grid}>"

    def _repr_html_(self) -> str:
        spec = merge_spec(self._native, None, None, None, False, None, None, None)
        return html_of(_core.draw_tiling(self._native, spec), f"{self!r}\n\n{_core.explain_tiling(self._native, spec)}")

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Tiling) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._text,)

    def __dask_tokenize__(self) -> tuple[str, str]:
        return "patchfold.Tiling", self._text


def _restored(text: str) -> Tiling:
    return Tiling.from_json(text)

# SPDX-License-Identifier: Apache-2.0
"""Merges the results of tiles."""

from __future__ import annotations

import functools
import os
import threading
from types import TracebackType
from typing import Any, Literal

import numpy as np

from .. import _core, _typing
from .._arrays.kinds import is_array, is_numpy
from .._arrays.memory import memory
from .._errors import InvalidType, InvalidValue, given_text, value_text
from .._explanation import Explanation
from .._threads import checked_threads, limited
from .._typing import Fill, Int, Mask, Reduce, Weight, Window
from .cog import COG
from .merge_arguments import (
    MERGE,
    makes_labels,
    mask_bytes,
    merge_spec,
    name_of_type,
    output_axes,
    output_of,
    weight_of,
)
from .merge_spec import (
    MergeSpec,
    ResultType,
    check_declared,
    checked_results,
    checked_tiling,
    facts_of_first,
    parts_of,
)
from .nodata import NONE, Nodata, checked_nodata, filled, naming_nodata
from .ome_zarr import OMEZarr
from .outputs import File, Function, GivenArray, NewArray, Output, Rows, Store, check_extents
from .rasters import RasterWriter, SourceNodata, is_raster
from .tile import Tile
from .tiling import Tiling


class Merger:
    """Merges the results of tiles without seams. Each element is written once, when all tiles that contribute to it are
    added; there is no accumulator.

    Arguments:
        tiling: the Tiling that the tiles come from.
        window: weights of the elements of a result: "ones", "linear", "hann", "cosine", "gaussian", ("gaussian", sigma as
            a fraction of the tile), "tukey", ("tukey", the fraction of the tile that both slopes take together), "hamming",
            one list for each tiled axis, or an array with the extents of a whole result along the tiled axes. Weights are
            finite and at least 0; an element of weight 0 is ignored. Default: "hann" for reductions that make means,
            otherwise "ones".
        reduce: the value of an element that several tiles give. Default: "mean". For integers and booleans that keep their
            type it is "center", which does not blend, unless a window is given: a mean of labels would be another label.
            "mean"           sum of weight * value / sum of weights
            "sum"            sum of weight * value
            "max", "min"     the largest, the smallest value; NaN if one of them is NaN
            "first", "last"  the value of the tile with the lowest, the highest index
            "center"         the value of the tile whose middle is nearest; at equal distance, of the lower index
            "median"         the middle value, or the mean of the two middle ones, rounded once; NaN if one of them is NaN
            "vote"           of integers and booleans: the most frequent value, of equally frequent ones the smallest
            "nanmean", "nanmax", "nanmin"
                             as mean, max and min, without NaNs; where only NaNs come, the fill, or NaN without a fill
            "argmax"         labels from scores: results have a first axis of classes, which is not tiled; the output lacks
                             this axis, and holds the number of the class with the largest mean (of float64), of equal
                             ones the lowest number
        dtype: element type of the output: the tiles' type (default), or float32 or float64 for means, sums and medians.
            Labels of "argmax" are uint8 for up to 256 classes, otherwise or if given uint16.
        out: where the output goes, and what finish returns:
            None                   a new array of the same kind as the first tile
            an array               of NumPy (also a memmap) or torch; it needs no initial values
            "y.npy", "y.tif"       a file that is mapped into memory; it appears under its name when it is complete. A .tif
                                   of 3 or 4 channels of uint8 or uint16 is a colour picture; other channels are bands
            a store                an object with __setitem__ and shape (zarr, h5py), to which finished rows are assigned:
                                   whole shards, or chunks where it has no shards, so that each is written once
            a data set of rasterio that is open for writing; finished rows are written to it, whole rows of its blocks at a
                                   time, so that each is compressed once; it stays open
            a COG, an OMEZarr      a cloud-optimised GeoTIFF, an OME-Zarr image, with all levels
            a function             called as out(rows, band) with finished rows, in order and without gaps: rows is a slice
                                   of the stream axis, band is that part of the output, which the function may keep;
                                   finish returns None
        copy: whether the merger copies what has to wait, so that a tile may be overwritten as soon as add returns. Otherwise
            the merger borrows tiles: a tile must not change until all its elements are written, and the merger keeps the
            tile's memory alive. "sum" copies too, and adds up float32 tiles in the output if they come in order, so that
            they need not wait. Then the mean has the same bits, add takes no weights, and the elements of out have no
            meaning until all their tiles have come. "sum48" does the same with half of the memory beside the output: sums
            are rounded to 37 significant bits after each addition but the last, and have other last bits.
        mask: a bool for each tile, in the shape of the grid or as a list. False marks a tile that will not come.
        fill: the value of elements that no tile gives. Default: the nodata; without one, such elements are an error.
        nodata: the number that stands for no data in results. Elements of a tile with this number, or with NaN, have no
            weight; where no tile has a weight, the output gets the fill, which for "argmax" must be given. "first", "last"
            and "center" have no weights: they take such an element like any other, but with the fill as its value. Default:
            the nodata of ``out`` if it is a data set of rasterio, otherwise none. "none": every number is data.
        memory_limit: bytes that may wait. A tile that would exceed this limit raises MemoryError.
        kind: an array. If out is None, the new array is of this array's kind, not of the first tile's.
        spec: a MergeSpec, instead of window, reduce, dtype, mask, fill and nodata.
        results: the ResultType of the tiles, if it is known. If results is given, everything is checked at once and not with
            the first tile, and a file is made at once.
        threads: the largest number of threads of each call; see thread_limit.

    The first tile decides the element type and the extents of axes that are not tiled. Tiles are NumPy arrays of every
    element type, torch tensors that require no gradient, or any arrays that support DLPack, in any memory layout. 64-bit
    integers have a mean only with the window "ones". Results do not depend on the order of tiles, threads or instruction
    sets.

    Errors: InvalidValue and InvalidType with the operator "merge". A refused tile leaves the merger as it was. add and
        finish pass on an exception of a store or a function unchanged, with a note; the merger takes no tiles afterwards. A
        file that cannot be written raises OSError.

    As a context manager, the merger finishes at the end of the block. If an exception leaves the block, the merger drops
    everything, including an unfinished file.

    Example:
        >>> import numpy as np, patchfold
        >>> x = np.arange(20.0).reshape(4, 5)
        >>> t = patchfold.Tiling(x.shape, (3, 3), overlap=1)
        >>> m = patchfold.Merger(t)
        >>> for i, tile in enumerate(t.split(x)):
        ...     m.add(i, tile)
        >>> np.array_equal(m.finish(), x)
        True
        >>> m
        <Merger(<Tiling((4, 5), (3, 3), stride=(2, 2), tail='shift'): 4 tiles, grid (2, 2)>): finished>
    """

    def __init__(
        self,
        tiling: Tiling,
        *,
        window: Window | None = None,
        reduce: Reduce | None = None,
        dtype: Any = None,
        out: Any = None,
        copy: bool | Literal["sum", "sum48"] = False,
        mask: Mask | None = None,
        fill: Fill | None = None,
        nodata: _typing.Nodata | None = None,
        memory_limit: Int | None = None,
        kind: Any = None,
        spec: MergeSpec | None = None,
        results: ResultType | None = None,
        threads: Int | None = None,
    ) -> None:
        checked_tiling(tiling)
        if kind is not None:
            _core.array_facts(kind, MERGE, "kind")
        parts = parts_of(spec, window=window, reduce=reduce, dtype=dtype, mask=mask, fill=fill, nodata=nodata)
        window, reduce, dtype, mask, fill = (parts[name] for name in ("window", "reduce", "dtype", "mask", "fill"))
        self._threads = None if threads is None else checked_threads(threads, MERGE)
        self._tiling = tiling
        self._mask = mask_bytes(tiling._native, mask)
        self._come = 0
        self._output = _output_of(out, kind, tiling)
        self._sink = self._output if isinstance(self._output, Rows) else None
        rows = self._output.rows_in(tiling._native, reduce)
        self._reduce = reduce
        self._nodata = _nodata_of(parts["nodata"], self._output, reduce)
        self._nodata_rule: Nodata | None = None
        self._fill = fill
        if isinstance(copy, str) and copy in ("sum", "sum48") and self._nodata is not None:
            copy = True  # elements without data have the weight 0, which running sums do not take
        self._spec_with = functools.partial(
            merge_spec, tiling._native, window, reduce, dtype, copy, self._mask, memory_limit=memory_limit, sink_rows=rows
        )
        is_open = isinstance(self._nodata, SourceNodata)
        self._filled = fill if is_open else filled(fill, self._nodata, reduce)
        self._spec: Any = self._spec_with(fill=self._filled)
        # The spec above has checked every argument, so each argument can be written as text.
        settings = (("window", window), ("reduce", reduce), ("dtype", dtype), ("fill", fill), ("nodata", nodata))
        self._shown = "".join(f", {name}={_shown(given)}" for name, given in settings if given is not None)
        self._dtype = None if dtype is None else dtype
        self._name = _output_name(dtype)
        self._lock = threading.RLock()
        self._native: _core.Merger | None = None
        self._closed = False
        self._done = False
        self._result: Any = None
        if isinstance(self._output, (GivenArray, Store)):
            shape = self._output.shape
            check_extents(shape, self._axes_in(len(shape), "out"), tiling._native.output)
        self._declared = None if results is None else checked_results(results)
        if results is not None:
            like, channels = results._like(), results.channels_in(tiling)
            with naming_nodata(fill):
                _core.check_results(tiling._native, self._spec, like, channels)
            if not isinstance(self._output, NewArray):  # the first tile decides the kind of a new array
                self._make(like, channels, results.dtype)

    @property
    def tiling(self) -> Tiling:
        """The Tiling that the tiles come from."""
        return self._tiling

    def add(self, index: Int | tuple[Int, ...] | Tile, tile: Any, *, weight: Weight | None = None) -> None:
        """Takes the result of a tile. Several threads may call add at once.

        Arguments:
            index: the number of the tile, its place in the grid, such as (0, 1), or the Tile.
            tile: an array of shape t[index].result_shape, except for the extents of axes that are not tiled.
            weight: the weight of the tile against other tiles: a number, or an array that broadcasts to the tile's shape (a
                confidence for each pixel, say). The weight is multiplied by the window, and copied. Weights are finite and
                at least 0, and weights above 0 lie between about 5e-91 and 2e90; where the weight is 0, the tile does not
                contribute. With "max", "min", "nanmax" and "nanmin" only weights of 0 have an effect; "first", "last" and
                "center" take the value of one tile, so they refuse weights. Weights for 64-bit integers, and with "median"
                and "vote", must be 0 or 1. An element whose
                weights are all 0 gets the fill; without a fill the last tile of this element is refused.

        Example:
            >>> import numpy as np, patchfold
            >>> m = patchfold.Merger(patchfold.Tiling((5,), (3,), overlap=1), window="ones")
            >>> m.add(0, np.array([1.0, 1, 1]), weight=3)
            >>> m.add((1,), np.array([5.0, 5, 5]), weight=[1, 1, 1])
            >>> m.finish()
            array([1., 1., 2., 5., 5.])
        """
        number = self._number_of(index)
        weights = weight_of(weight, tile)
        native = self._native
        if native is None:
            native = self._begin(number, tile)
        if self._nodata_rule is not None:
            tile, weights = self._nodata_rule.leave_out(tile, weights)
        with limited(self._threads):
            native.add(number, tile, weights, self._sink)
        with self._lock:
            self._come += 1

    def finish(self) -> Any:
        """Returns the output; further calls return it again. Raises InvalidValue, which names missing tiles."""
        with self._lock:
            if not self._done:
                self._result = self._written().finish()
                self._done = True
            return self._result

    def _written(self) -> Output:
        """Writes all rows, and returns the output."""
        native = self._begin_without_tiles() if self._native is None else self._native
        with limited(self._threads):
            native.finish(self._sink)
        return self._output

    def close(self) -> None:
        """Drops waiting tiles and an unfinished file. Does nothing after finish. If `out` is a function, it must not call
        close."""
        if self._native is not None:
            self._native.check_outside()  # before the lock, which finish holds while it waits for a function
        with self._lock:
            if not self._done:
                self._closed = True
                self._native = None
                self._output.drop()

    @property
    def waiting_bytes(self) -> int:
        """Bytes of tiles that wait for other tiles, and of rows that wait for a store or function."""
        native = self._native
        return 0 if native is None else native.waiting_bytes()

    @property
    def peak_bytes(self) -> int:
        """The largest value of waiting_bytes so far."""
        native = self._native
        return 0 if native is None else native.peak_bytes()

    def __repr__(self) -> str:
        if self._done:
            state = "finished"
        elif self._closed:
            state = "closed"
        else:
            state = f"{self._come} of {len(self._tiling)} tiles have come, {self.waiting_bytes} bytes wait"
        return f"<Merger({self._tiling!r}{self._shown}): {state}>"

    def _explained(self) -> Explanation:
        native = self._tiling._native
        spec = self._spec or self._spec_with(fill=self._filled)
        text = f"{self!r}\n\n{_core.explain_tiling(native, spec)}"
        return Explanation(text, functools.partial(_core.draw_tiling, native, spec))

    def _repr_html_(self) -> str:
        return self._explained()._repr_html_()

    def __reduce_ex__(self, protocol: Any) -> Any:
        rule = "cannot be pickled or copied, since it holds the tiles that wait"
        expected = "its tiling, which can be pickled: results from other processes go to one merger"
        raise InvalidType(MERGE, "merger", rule, expected=expected)

    def __enter__(self) -> Merger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if kind is None and not self._closed:
                self.finish()
        finally:
            self.close()

    def _number_of(self, index: Any) -> Any:
        if issubclass(type(index), Tile):
            return index.index
        return self._tiling._index_of(index) if isinstance(index, tuple) else index

    def _axes_in(self, rank: int, argument: str) -> tuple[int, ...]:
        try:
            return output_axes(self._tiling._native, rank, self._reduce)
        except InvalidValue as error:
            raise InvalidValue(MERGE, argument, **error._facts()) from None

    def _begin(self, index: Any, tile: Any) -> _core.Merger:
        """Makes the merger from the first tile, or raises an error for this tile."""
        with self._lock:
            if self._native is not None:
                return self._native
            if self._closed:
                raise InvalidValue(MERGE, "index", "no tile is taken after close")
            channels, dtype = facts_of_first(self._tiling, self._spec, index, tile)
            if self._declared is not None:
                check_declared(self._tiling, self._declared, "tile", dtype, channels)
            return self._make(tile, channels, dtype)

    def _make(self, like: Any, channels: tuple[int, ...], dtype: Any) -> _core.Merger:
        output = self._output
        tiling = self._tiling._native
        shape, axes, made = output_of(tiling, self._reduce, self._name, dtype, channels)
        self._begin_nodata(tiling.output_shape(channels), dtype)
        if isinstance(output, GivenArray):  # the merger checks the array together with all else
            native = self._native_with(like, channels, output.array)
        else:
            try:
                output.begin(like, shape, made, axes)
                native = self._native_with(like, channels, output.array)
            except BaseException:
                output.drop()
                raise
        self._native = native
        self._spec = None  # the native merger has its own copy of the weights
        return native

    def _native_with(self, like: Any, channels: tuple[int, ...], array: Any) -> _core.Merger:
        with naming_nodata(self._fill):
            return _core.Merger(self._tiling._native, self._spec, like, channels, array)

    def _begin_nodata(self, shape: tuple[int, ...], dtype: Any) -> None:
        """Decides on the nodata, once the element type of the results is known, and sets it in the output. shape: that of
        the output, with all axes of the results."""
        nodata = self._nodata
        if isinstance(nodata, SourceNodata):
            nodata = nodata.for_results(shape, dtype if self._name is None else self._name)
            if nodata is not None and self._fill is None:
                self._filled = filled(None, nodata, self._reduce)
                self._spec = self._spec_with(fill=self._filled)
        if nodata is not None and nodata != NONE:
            self._nodata_rule = Nodata(self._spec, nodata, self._fill, dtype)
        self._output.nodata = nodata if nodata is None or nodata == NONE else filled(self._fill, nodata, self._reduce)

    def _begin_without_tiles(self) -> _core.Merger:
        """Makes the merger without a tile; an error if the merger expects tiles."""
        size = len(self._tiling)
        missing = [i for i in range(size) if self._mask is None or self._mask[i]]
        if self._closed:
            raise InvalidValue(MERGE, "tile", "nothing is left to finish after close")
        if missing:
            names = ", ".join(f"{i} at position {self._tiling[i].position}" for i in missing[:3])
            given = f"{len(missing)} missing: {names}{', ..' if len(missing) > 3 else ''}"
            raise InvalidValue(MERGE, "tile", "must all have come", given, f"{size} tiles")
        given_out = self._output.array if isinstance(self._output, GivenArray) else None
        if given_out is None and self._dtype is None:
            raise InvalidValue(MERGE, "dtype", "must be given where no tile comes that has a type")
        if given_out is not None:
            shape, dtype, _ = _core.array_facts(given_out, MERGE, "out")
        else:
            shape, dtype = self._tiling.output_shape, np.dtype(self._name)
        axes = self._axes_in(len(shape), "out")
        channels = tuple(extent for axis, extent in enumerate(shape) if axis not in axes)
        if makes_labels(self._reduce):
            return self._make(np.empty(0, np.float32), (1, *channels), np.dtype(np.float32))
        extents = tuple(0 if axis in axes else extent for axis, extent in enumerate(shape))
        like = given_out if given_out is not None else np.empty(extents, dtype)
        return self._make(like, channels, dtype)


def _nodata_of(nodata: Any, output: Output, reduce: Any) -> Any:
    """Returns the nodata of a merge: None, "none", a number, or a SourceNodata, which holds for some results only."""
    is_default = nodata is None or isinstance(nodata, SourceNodata)
    if is_default and type(output) is RasterWriter and not makes_labels(reduce):
        return output.nodata
    return nodata if isinstance(nodata, SourceNodata) else checked_nodata(nodata)


def _shown(setting: Any) -> str:
    """Returns a short text for an argument, since printing arrays would take time."""
    if is_array(setting):
        return f"an array of {tuple(getattr(setting, 'shape', ()))}"
    if isinstance(setting, list):
        return "a list"
    return value_text(repr(setting) if isinstance(setting, (str, tuple)) else setting)


def _output_name(dtype: Any) -> str | None:
    if dtype is None:
        return None
    try:
        return str(np.dtype(dtype).name)
    except TypeError:
        return name_of_type(dtype)


def _output_of(out: Any, kind: Any, tiling: Tiling) -> Output:
    """Returns the output for an argument ``out``. kind: an array of the kind of a new output; None: the kind of the first
    tile."""
    if out is None:
        return NewArray(kind)
    if isinstance(out, Output):
        return out
    if isinstance(out, (COG, OMEZarr)):
        return out._output(None, tiling)
    if is_raster(out):
        return RasterWriter(out)
    if issubclass(type(out), (str, os.PathLike)):
        return File(out)
    if is_array(out):
        written = out if is_numpy(out) else memory(out, MERGE, "out", True)
        if is_numpy(written) and not written.flags.writeable:
            raise InvalidType(MERGE, "out", "must be writeable", "a read-only array")
        return GivenArray(out)
    if hasattr(type(out), "__setitem__") and hasattr(out, "shape"):
        return Store(out)
    if callable(out):
        return Function(out)
    rule = "must be an array, the name of a file, a store with __setitem__ and shape, or a function"
    raise InvalidType(MERGE, "out", rule, given_text(out))

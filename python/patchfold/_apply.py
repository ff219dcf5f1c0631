# SPDX-License-Identifier: Apache-2.0
"""Applies a function to an array tile by tile."""

from __future__ import annotations

import importlib
import operator
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

import numpy as np

from . import _arrays, _core
from ._arrays import given_text, value_text
from ._errors import InvalidType, InvalidValue
from ._merger import Merger
from ._tiling import Tile, Tiling
from ._tiling_arguments import is_integer
from ._typing import Array, Fill, IntOrInts, Mask, Number, Overlap, Reduce, Scale, Tail, TilePadding, Window
from ._views import shape_of

_NAME = "apply_tiled"


def apply_tiled(
    fn: Callable[[Any], Any],
    x: Array,
    tile: IntOrInts,
    *,
    overlap: Overlap,
    window: Window | None = None,
    tail: Tail = "shift",
    batch: int | None = None,
    out: Any = None,
    progress: bool | Callable[[int, int], Any] = True,
    reduce: Reduce = "mean",
    axes: IntOrInts | None = None,
    mask: Mask | None = None,
    padding_mode: TilePadding = "constant",
    value: Number = 0,
    scale: Scale = 1,
    offset: IntOrInts | None = None,
    result: IntOrInts | None = None,
    dtype: Any = None,
    fill: Fill | None = None,
) -> Any:
    """Applies a function to overlapping tiles of an array and merges the results.

    Shapes: with t = Tiling(x.shape, tile, ..), fn receives a tile of shape t[i].shape and returns a result of shape
        t[i].result_shape, in which untiled axes may have other extents. With batch=n, both have a new first axis of up to n
        tiles. The output has t.output_shape.

    Arguments:
        fn: a function, called with one tile after the other, in order. Each tile is a new array of the same kind as x, which
            fn may change.
        x: an array of NumPy or torch, or any array that supports DLPack; or a store (zarr, h5py): an object with shape and
            dtype that returns NumPy arrays for slices, of which one tile at a time is read.
        tile, overlap: as for Tiling.
        window: as for Merger.
        tail: as for Tiling.
        batch: the largest number of tiles that fn receives at a time. Tiles of different shapes (tail="partial") are never
            stacked.
        out: as for Merger; it must not share memory with x.
        progress: True shows a bar if tqdm is installed; a function is called with (finished tiles, all tiles).
        reduce: as for Merger.
        axes: as for Tiling.
        mask: as for Merger; fn is not called for tiles that are masked out.
        padding_mode, value, scale, offset, result: as for Tiling.
        dtype, fill: as for Merger.

    Formula: y = the merge of fn(tile i) over all tiles i. If fn treats each element alone, y = fn(x), bit for bit.

    Types: a new output is an array of the same kind as x, whatever kind fn returns, unless that kind lacks the element
        type (for example bfloat16 in NumPy, if ml_dtypes is not imported). For stores it is a NumPy array.

    Errors: InvalidValue and InvalidType, also for a result of the wrong shape; the error names the tile, the given and the
        expected shape. An exception of fn is passed on unchanged, with a note that names the tile.

    Elsewhere: MONAI sliding_window_inference; dask map_overlap; MATLAB blockproc; torch, TensorFlow, ONNX, OpenVINO none.

    Example:
        >>> import numpy as np, patchfold
        >>> x = np.random.default_rng(0).random((3, 100, 80), np.float32)
        >>> y = patchfold.apply_tiled(np.sqrt, x, (32, 32), overlap=8)
        >>> np.array_equal(y, np.sqrt(x))
        True
    """
    if not callable(fn):
        raise InvalidType(operator=_NAME, argument="fn", rule="must be a function", given=given_text(fn))
    most = _batch(batch)
    source = _Source(x)
    tiling = Tiling(
        source.shape,
        tile,
        overlap=overlap,
        tail=tail,
        axes=axes,
        padding_mode=padding_mode,
        value=value,
        scale=scale,
        offset=offset,
        result=result,
    )
    _check_apart(x, out)
    # The merger copies waiting parts: that needs less memory, and fn may return the same array every time.
    merger = Merger(
        tiling, window=window, reduce=reduce, dtype=dtype, out=out, copy=True, mask=mask, fill=fill, kind=source.kind
    )
    indices = [i for i in range(len(tiling)) if merger._mask is None or merger._mask[i]]
    with merger, _progress(progress, len(indices)) as done:
        for group in _groups(tiling, indices, most):
            _run(fn, source, tiling, merger, group, stacked=batch is not None)
            done(len(group))
    return merger.finish()


def _batch(batch: Any) -> int:
    if batch is None:
        return 1
    if not is_integer(batch):
        raise InvalidType(
            operator=_NAME, argument="batch", rule="must be a number of tiles, or None", given=given_text(batch)
        )
    most = operator.index(batch)
    if most < 1:
        raise InvalidValue(operator=_NAME, argument="batch", rule="must be at least 1", given=value_text(batch))
    return most


def _groups(tiling: Tiling, indices: list[int], most: int) -> Iterator[list[Tile]]:
    """Groups of up to `most` consecutive tiles of the same shape."""
    group: list[Tile] = []
    for index in indices:
        tile = tiling[index]
        if group and (len(group) == most or tile.shape != group[0].shape or tile.result_shape != group[0].result_shape):
            yield group
            group = []
        group.append(tile)
    if group:
        yield group


def _run(
    fn: Callable[[Any], Any], source: _Source, tiling: Tiling, merger: Merger, group: list[Tile], *, stacked: bool
) -> None:
    try:
        data = source.stack(tiling, group) if stacked else source.cut(tiling, group[0])
        results = fn(data)
    except BaseException as error:
        _note(error, group)
        raise
    del data
    if not stacked:
        merger.add(group[0], results)
        return
    has_shape = hasattr(results, "shape")
    shape = shape_of(results, _NAME, f"result for {_names(group)}") if has_shape else ()
    if len(shape) < 1 or shape[0] != len(group):
        raise InvalidValue(
            operator=_NAME,
            argument=f"result for {_names(group)}",
            rule="must have one entry along the first axis for each tile of the stack",
            given=f"shape {shape}" if has_shape else given_text(results),
            expected=str((len(group), *group[0].result_shape)),
        )
    for i, tile in enumerate(group):
        merger.add(tile, results[i])


def _names(group: list[Tile]) -> str:
    first, last = group[0], group[-1]
    if first is last:
        return f"tile {first.index} at position {first.position}"
    return f"tiles {first.index} to {last.index} at positions {first.position} to {last.position}"


def _note(error: BaseException, group: list[Tile]) -> None:
    if hasattr(error, "add_note"):
        reads = ", ".join(_slices(tile.read) for tile in group[:4]) + (", .." if len(group) > 4 else "")
        error.add_note(f"patchfold: {_NAME}: {_names(group)}, read from x[{reads}]")


def _slices(slices: tuple[slice, ...]) -> str:
    return ", ".join(":" if each == slice(None) else f"{each.start}:{each.stop}" for each in slices)


def _is_array(x: Any) -> bool:
    return _arrays.is_numpy(x) or _arrays._is_torch(x) or _arrays.speaks_dlpack(x)


class _Source:
    """Tiles of an array, or of a store that returns NumPy arrays for slices."""

    def __init__(self, x: Any) -> None:
        self._x = x
        self._is_array = _is_array(x)
        if self._is_array:
            shape, self.kind = _core.array_facts(x, _NAME, "x")[0], x
        elif hasattr(x, "shape") and hasattr(x, "dtype") and hasattr(x, "__getitem__"):
            shape, self.kind = shape_of(x, _NAME, "x"), np.empty(0)
        else:
            raise InvalidType(
                operator=_NAME,
                argument="x",
                rule="must be an array, or have shape, dtype and slices that are arrays",
                given=given_text(x),
                expected="numpy.asarray(..)" if isinstance(x, (list, tuple, int, float)) else "",
            )
        self.shape = tuple(shape)

    def cut(self, tiling: Tiling, tile: Tile) -> Any:
        return tiling.cut(self._x, tile) if self._is_array else self._region(tiling, tile)

    def stack(self, tiling: Tiling, group: list[Tile]) -> Any:
        """Stacks tiles along a new first axis."""
        if not self._is_array:
            return np.stack([self._region(tiling, tile) for tile in group])
        shape = (len(group), *group[0].shape)
        room: Any
        if _arrays.is_numpy(self._x):
            room = _arrays.new_numpy(shape, self._x.dtype)
        elif _arrays._is_torch(self._x):
            room = sys.modules["torch"].empty(shape, dtype=self._x.dtype)
        else:
            parts = [tiling.cut(self._x, tile) for tile in group]
            module = _arrays._module_of(self._x)
            space = sys.modules[module] if module == "tensorflow" else parts[0].__array_namespace__()
            return space.stack(parts)
        for i, tile in enumerate(group):
            tiling.cut(self._x, tile, out=room[i, ...])
        return room

    def _region(self, tiling: Tiling, tile: Tile) -> Any:
        """Reads the part of a store that a tile needs, including elements that padding repeats; never the whole store."""
        extra = [min(read.start or 0, pad[1] + 1) if pad[1] else 0 for read, pad in zip(tile.read, tile.pad, strict=True)]
        given = tiling._given
        if given["padding_mode"] == "constant":
            extra = [0] * len(extra)
        read = tuple(
            slice(each.start - more, each.stop) if more else each for each, more in zip(tile.read, extra, strict=True)
        )
        region = np.asarray(self._x[read])
        shape = tuple(
            extent if each == slice(None) else each.stop - each.start for each, extent in zip(read, self.shape, strict=True)
        )
        if region.shape != shape:
            raise InvalidValue(
                operator=_NAME, argument="x", rule="slices must be arrays", given=str(region.shape), expected=str(shape)
            )
        if any(pad[1] for pad in tile.pad):
            extents = tuple(tile.shape[axis] + extra[axis] for axis in tiling.axes)
            options = {"tail": "pad", "padding_mode": given["padding_mode"], "value": given["value"]}
            one = Tiling(region.shape, extents, stride=extents, axes=tiling.axes, **options)
            region = one.cut(region, 0)[tuple(slice(more, None) for more in extra)]
        return np.array(region)


def _check_apart(x: Any, out: Any) -> None:
    shared = out is not None and out is x
    if (_arrays.is_numpy(out) or _arrays._is_torch(out)) and _is_array(x):
        shared = _core.may_share_memory(x, out)
        if shared and _arrays.is_numpy(x) and _arrays.is_numpy(out):
            try:
                shared = np.shares_memory(x, out, max_work=cast(Any, 10**5))
            except np.exceptions.TooHardError:
                shared = True
    if isinstance(x, np.memmap) and isinstance(out, np.memmap) and x.filename and out.filename:
        with suppress(OSError):  # a file that no longer exists belongs to no other array
            shared = shared or os.path.samefile(x.filename, out.filename)
    if shared:
        raise InvalidValue(operator=_NAME, argument="out", rule="must not share memory with x")


@contextmanager
def _progress(progress: Any, total: int) -> Iterator[Callable[[int], Any]]:
    """Returns a function to be called with the number of finished tiles."""
    if isinstance(progress, (bool, np.bool_)):
        bar = _bar(total) if progress else None
        if bar is None:
            yield lambda count: None
            return
        with bar:
            yield bar.update
        return
    if not callable(progress):
        raise InvalidType(
            operator=_NAME, argument="progress", rule="must be True, False or a function", given=given_text(progress)
        )
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        progress(done, total)

    yield count


def _bar(total: int) -> Any:
    try:
        bars = importlib.import_module("tqdm.auto")
    except ImportError:
        return None
    return bars.tqdm(total=total, unit="tile")

# SPDX-License-Identifier: Apache-2.0
"""Applies a function to an array tile by tile."""

from __future__ import annotations

import importlib
import inspect
import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import index
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .. import _core
from .._arguments import is_integer
from .._arrays.devices import to_device
from .._arrays.kinds import is_array, is_numpy, is_torch, module_of
from .._errors import InvalidType, InvalidValue, given_text, value_text
from .._signatures import takes
from .._typing import Int, IntOrInts, MergeSettings, Progress, TiledSettings
from .box_list import Boxes, merged_boxes
from .cog import COG
from .exact import EXACT, Call
from .merge_arguments import mask_bytes
from .merge_spec import MergeSpec, parts_of
from .merger import Merger
from .missing_axes import called
from .ome_zarr import OMEZarr, OMEZarrLevel
from .pipeline import Pipeline, checked_workers
from .probe import kind_of
from .rasters import GeoTiff, is_geotiff, is_raster
from .results import Results, results_of
from .sources import APPLY, Source
from .tile import Tile, names_of
from .tiling import Tiling

if TYPE_CHECKING:
    from typing_extensions import Unpack


@takes(TiledSettings, Tiling.__init__, MergeSpec.__init__)
def apply_tiled(
    fn: Callable[[Any], Any],
    x: Any,
    tile: IntOrInts | Boxes | None = None,
    *,
    model: Any = None,
    memory: Int | None = None,
    batch: int | None = None,
    workers: int | None = None,
    out: Any = None,
    progress: Progress = True,
    device: Any = None,
    spec: MergeSpec | None = None,
    threads: Int | None = None,
    **settings: Unpack[TiledSettings],
) -> Any:
    """Applies a function to overlapping tiles of an array and merges the results.

    Shapes: with t = Tiling(x.shape, tile, ..), fn receives a tile of shape t[i].shape and returns a result of shape
        t[i].result_shape, in which untiled axes may have other extents. With batch=n, what fn receives and what it returns
        have a new first axis of up to n tiles. The output has t.output_shape.

    Arguments:
        fn: a function, called with one tile after the other, in order, unless workers says otherwise. Each tile is a new
            array of the same kind as x, which fn may change. fn may return a tuple, a dict, or a list of arrays: each entry
            is merged separately, with its own extents of untiled axes and its own element type.
        x: an array of NumPy or torch, or any array that supports DLPack; or a store (zarr, h5py, xarray, dask), which is an
            object with shape and dtype that returns arrays for slices; or an open data set of rasterio, of shape (bands,
            height, width). A store is read tile by tile.
        tile, overlap, stride, tail, axes, padding_mode, value, scale, offset, result, align, margin, output: as for
            Tiling. tile may be a Boxes, for tiles at any places, without these other arguments and mask; then fn returns one
            array, and is called in the order in which the output is made, as merge_boxes describes.
            overlap="exact" computes overlap, tail, scale, align and reduce so that y = fn(x): without seams, and bit for
            bit if fn computes an element in the same way in an array of any extents. Without axes and a list of extents,
            all axes are tiled along which fn does not see everything.
        window, reduce, dtype: as for Merger.
        mask: as for Merger; fn is not called for tiles that are masked out.
        fill: as for Merger.
        nodata: as for Merger. If x is a data set of rasterio, the default is its nodata, provided that results have its
            element type and number of bands. A new GeoTIFF then has this nodata too.
        model: with overlap="exact", the model that fn runs, as patchfold.models.halo takes it, or what halo returned.
            None: fn is measured as by receptive_field, with some hundred calls for each axis.
        memory: with overlap="exact" and without tile, the bytes for a tile and what fn holds for it; 256 MiB by default. The
            model's graph says what fn holds; without a model Python's tracemalloc, which counts only NumPy's memory.
        batch: the largest number of tiles that fn receives at a time. Tiles of different shapes (tail="partial") are never
            stacked.
        workers: the number of threads that call fn; several of them call fn at the same time. Results are merged in order,
            so they have the same bits. None: the calling thread calls fn. In both cases another thread reads the next tiles
            of a store meanwhile, but not while results are merged and written; arrays of zarr and dask are read by as many
            threads as workers. So two tiles are in memory, or 2 * workers tiles or their results. 0: the calling thread does
            everything, one step after the other, as it must for a store that fn uses too, or that only one thread may use.
        out: as for Merger; it must not share memory, a file or a store with x. For several results, out is a tuple or a
            dict, in which None stands for a new array. If x is a data set of rasterio, "y.tif" is a GeoTIFF with the CRS and
            the transform of x, scaled if the results are. Other fields of x are copied if they hold for the results; a
            warning names the fields that do not. apply_tiled then returns the path.
        progress: True shows a bar on a terminal and in a notebook, if tqdm is installed; a function is called with
            (finished tiles, all tiles).
        device: where fn receives its tiles: for tensors a device of torch ("cuda"), for arrays of JAX a device of JAX, and
            for others what ``to_device`` takes. None: fn receives tiles in the processor's memory.
        spec: a MergeSpec, instead of window, reduce, dtype, mask, fill and nodata.
        threads: as for Merger; it does not limit fn.

    Formula: y = the merge of fn(tile i) over all tiles i. If fn treats each element alone, y = fn(x), bit for bit.

    Types: returns what Merger.finish does; for several results a tuple, dict or list of such outputs. A new output is an
        array of the same kind as x, whatever kind fn returns, unless that kind lacks the element type (for example bfloat16
        in NumPy, if ml_dtypes is not imported). If x is a store, a new output is a NumPy array. Results on another device
        are copied from there, one tile at a time.

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
        raise InvalidType(APPLY, "fn", "must be a function", given_text(fn))
    most, threads_of_fn = batch_of(batch), checked_workers(workers, APPLY)
    source = Source(x)
    whole = Call(APPLY, fn, source.shape, source.dtype, source.kind, model, memory, most, batch is not None, device)
    if isinstance(tile, Boxes):
        whole.check_plain()
        if threads_of_fn is not None:
            raise InvalidType(APPLY, "workers", "must not be given together with a Boxes", value_text(workers))
        check_apart(x, out)
        with progress_of(progress, len(tile)) as done:
            call = partial(_result_of_box, fn, source, tile, device, batch is not None)
            given = _spec_for_boxes(spec, settings, source, out)
            return merged_boxes(tile, call, out, given, threads, source.kind, done)
    tiling, parts = tiled(whole, tile, settings)
    parts = parts_of(spec, **parts)
    if parts["nodata"] is None:
        parts["nodata"] = source.nodata

    def merger_of(out: Any) -> Merger:
        check_apart(x, out)
        if source.raster is not None and is_geotiff(out):
            out = GeoTiff(out, source.raster, tiling)
        elif isinstance(out, (COG, OMEZarr)):
            out = out._output(x, tiling)
        # Results are copied, since fn may return the same array every time; "sum" is possible, since tiles come in order.
        return Merger(tiling, out=out, copy="sum", kind=source.kind, threads=threads, **parts)

    comes = mask_bytes(tiling._native, parts["mask"])
    indices = [i for i in range(len(tiling)) if comes is None or comes[i]]
    # With any of these settings the caller has decided how integers are merged, so integer results are not compared.
    compared = tiling if all(parts[name] is None for name in ("reduce", "window", "dtype")) else None
    with Results(merger_of, out, compared) as results:
        stacked = batch is not None
        run_tiles(fn, source, tiling, indices, results.add, progress, device, most, stacked=stacked, workers=threads_of_fn)
        return results.finish()


def tiled(call: Call, tile: IntOrInts | None, settings: TiledSettings) -> tuple[Tiling, dict[str, Any]]:
    """Returns the tiling of an array, and the parts of the MergeSpec of its results."""
    given: dict[str, Any] = dict(settings)
    if isinstance(given.get("overlap"), str) and given["overlap"] == EXACT:
        tile, given = call.exact(tile, given)
    else:
        call.check_plain()
    if tile is None:
        raise InvalidType(call.operator, "tile", 'is required, unless overlap="exact"', "None")
    parts = {name: given.pop(name) for name in MergeSettings.__annotations__}
    return Tiling(call.shape, tile, **given), parts


def _spec_for_boxes(spec: MergeSpec | None, settings: TiledSettings, source: Source, out: Any) -> MergeSpec:
    """Returns the spec of a merge of boxes, after a check of the settings that boxes do not take."""
    given: dict[str, Any] = dict(settings)
    parts = parts_of(spec, **{name: given.pop(name) for name in MergeSettings.__annotations__})
    defaults = inspect.signature(Tiling.__init__).parameters
    for name, value in given.items():
        if value is not defaults[name].default and value != defaults[name].default:
            raise InvalidType(APPLY, name, "must not be given together with a Boxes", given_text(value))
    if source.raster is not None and is_geotiff(out):
        raise InvalidType(APPLY, "out", "must be an array, a store or a data set for boxes", value_text(str(out)))
    return MergeSpec(**parts)


def _result_of_box(fn: Callable[[Any], Any], source: Source, boxes: Boxes, device: Any, stacked: bool, number: int) -> Any:
    alone, group = boxes._alone(number), [boxes[number]]
    made: list[Any] = []

    def add(_: list[Tile], result: Any, *, stacked: bool) -> None:
        made.append(result)

    run_tiles(fn, source.of(alone), alone, [0], add, False, device, 1, stacked=stacked, workers=0)
    given = made[0]
    if kind_of(given) is not None:
        raise InvalidType(APPLY, f"result for {names_of(group)}", "must be one array", f"a {type(given).__name__}")
    return next(results_of(given, group, stacked))[1]


def batch_of(batch: Any, operator: str = APPLY) -> int:
    if batch is None:
        return 1
    if not is_integer(batch):
        raise InvalidType(operator, "batch", "must be a number of tiles, or None", given_text(batch))
    most = index(batch)
    if most < 1:
        raise InvalidValue(operator, "batch", "must be at least 1", value_text(batch))
    return most


def groups_of(tiling: Tiling, indices: list[int], most: int) -> Iterator[list[Tile]]:
    """Yields groups of up to `most` consecutive tiles of the same shape."""
    group: list[Tile] = []
    for number in indices:
        tile = tiling[number]
        if group and (len(group) == most or tile.shape != group[0].shape or tile.result_shape != group[0].result_shape):
            yield group
            group = []
        group.append(tile)
    if group:
        yield group


def run_tiles(
    fn: Callable[[Any], Any],
    source: Source,
    tiling: Tiling,
    indices: list[int],
    add: Callable[..., None],
    progress: Any,
    device: Any,
    most: int,
    *,
    stacked: bool,
    workers: int | None,
) -> None:
    """Calls fn for groups of up to `most` tiles, and add(group, what fn returned, stacked=stacked) in the groups' order. The
    Pipeline says what `workers` means."""

    def read(group: list[Tile]) -> Any:
        return source.stack(tiling, group) if stacked else source.cut(tiling, group[0])

    worked = False

    def call(data: Any) -> Any:
        nonlocal worked
        given = to_device(data, device, source.operator)
        result = fn(given) if worked else called(fn, given, stacked, source.operator)
        worked = True
        return result

    pipeline = Pipeline(workers, ahead=source.is_store, together=source.takes_threads)
    groups = groups_of(tiling, indices, most)
    with (
        progress_of(progress, len(indices), operator=source.operator) as done,
        pipeline.results(groups, read, call) as results,
    ):
        for group, result in results:
            try:
                made = result()
            except BaseException as error:
                _note(error, group, source.operator)
                raise
            with pipeline.merging():
                add(group, made, stacked=stacked)
            del made, result
            done(len(group))


def _note(error: BaseException, group: list[Tile], operator: str) -> None:
    if hasattr(error, "add_note"):
        reads = ", ".join(_slices(tile.read) for tile in group[:4]) + (", .." if len(group) > 4 else "")
        error.add_note(f"patchfold: {operator}: {names_of(group)}, read from x[{reads}]")


def _slices(slices: tuple[slice, ...]) -> str:
    return ", ".join(":" if each == slice(None) else f"{each.start}:{each.stop}" for each in slices)


def check_apart(x: Any, out: Any, operator: str = APPLY) -> None:
    """Raises an error if an output shares memory, a file or a store with x."""
    shared = out is not None and out is x
    if (is_numpy(out) or is_torch(out)) and is_array(x):
        shared = _core.may_share_memory(x, out)
        if shared and is_numpy(x) and is_numpy(out):
            try:
                shared = np.shares_memory(x, out, max_work=cast(Any, 10**5))
            except np.exceptions.TooHardError:
                shared = True
    if shared:
        raise InvalidValue(operator, "out", "must not share memory with x")
    for mine, theirs in itertools.product(_places_of(x), _places_of(out)):
        if _is_same_place(mine, theirs):
            raise InvalidValue(operator, "out", "must not be the file or the store of x", str(theirs))


def _places_of(x: Any) -> list[Any]:
    """Returns the paths of the files of an array, a data set or an output, or what tells its store from other stores."""
    if is_raster(x):
        return [x.name, *getattr(x, "files", ())] if not getattr(x, "closed", False) else []
    if isinstance(x, OMEZarrLevel):
        return _places_of(x.array)
    if module_of(x) in ("zarr", "h5py"):
        root = getattr(getattr(x, "store", None), "root", None)
        return [getattr(x, "store_path", x) if root is None else os.path.join(root, x.path)]
    path = x.filename if isinstance(x, np.memmap) else x._path if isinstance(x, COG) else x
    return [path] if issubclass(type(path), (str, os.PathLike)) else []


def _is_same_place(one: Any, other: Any) -> bool:
    try:
        return bool(one == other) or os.path.samefile(one, other)
    except (OSError, TypeError, ValueError):  # a store, or a path without a file
        return False


@contextmanager
def progress_of(progress: Any, total: int, unit: str = "tile", operator: str = APPLY) -> Iterator[Callable[[int], Any]]:
    """Yields a function that adds to the number of finished tiles, or of finished units of another name. total: the final
    number."""
    if isinstance(progress, (bool, np.bool_)):
        bar = _bar(total, unit) if progress else None
        if bar is None:
            yield lambda count: None
            return
        with bar:
            yield bar.update
        return
    if not callable(progress):
        raise InvalidType(operator, "progress", "must be True, False or a function", given_text(progress))
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        progress(done, total)

    yield count


def _bar(total: int, unit: str) -> Any:
    try:
        bars = importlib.import_module("tqdm.auto")
    except ImportError:
        return None
    return bars.tqdm(total=total, unit=unit, disable=None)  # None disables the bar if standard error is no terminal

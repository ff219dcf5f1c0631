# SPDX-License-Identifier: Apache-2.0
"""The rules of a merge and the type of its results: values that can be sent to other processes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arguments import first_entries, is_integer, is_list
from .._arrays.dtypes import SHARED_WITH_NUMPY
from .._errors import InvalidType, InvalidValue, given_text, value_text
from .._typing import Fill, Int, Mask, Nodata, Reduce, Window
from .merge_arguments import (
    MERGE,
    element_type,
    makes_labels,
    mask_array,
    mask_bytes,
    merge_spec,
    output_of,
    plain_number,
    window_of,
    window_value,
)
from .nodata import checked_nodata, filled, naming_nodata
from .outputs import written_rows
from .tile import TilingBase

_MOST_KEPT = 4


@dataclass(frozen=True, init=False)
class ResultType:
    """The type of the results of all tiles, which you declare or Tiling.probe finds. Immutable; can be compared, hashed and
    pickled.

    Arguments:
        dtype: the element type, under a name of NumPy, torch or patchfold.
        channels: extents of the axes that are not tiled, in order. If channels is None, the array's own extents are used.

    Errors: InvalidType and InvalidValue with the operator "merge".

    Example:
        >>> import numpy as np, patchfold
        >>> patchfold.ResultType(np.float32, (1,))
        ResultType(dtype='float32', channels=(1,))
    """

    dtype: Any
    """The name of the element type; a NumPy dtype if no name is common to all systems."""
    channels: tuple[int, ...] | None

    def __init__(self, dtype: Any, channels: Sequence[Int] | None = None) -> None:
        name, _ = element_type("dtype", dtype)
        object.__setattr__(self, "dtype", np.dtype(dtype) if name == "opaque" else name)
        object.__setattr__(self, "channels", None if channels is None else _extents(channels))

    def channels_in(self, tiling: TilingBase) -> tuple[int, ...]:
        """Returns the extents of the axes that are not tiled."""
        return tiling._native.channels if self.channels is None else self.channels

    def _like(self) -> Any:
        """Returns an array of this type without elements."""
        if not isinstance(self.dtype, str) or self.dtype in SHARED_WITH_NUMPY:
            return np.empty(0, self.dtype)
        return _core.RawArray.from_dlpack(_core.new_buffer((0,), self.dtype), MERGE, "results")


def _extents(channels: Any) -> tuple[int, ...]:
    entries = first_entries(channels) if is_list(channels) else None
    if entries is None or not all(map(is_integer, entries)) or any(operator.index(entry) < 0 for entry in entries):
        rule = "must be the extents of the axes that are not tiled"
        raise InvalidType(MERGE, "channels", rule, given_text(channels), "(3,) for three channels, () for none")
    return tuple(map(operator.index, entries))


class MergeSpec:
    """The rules by which the results of tiles become one output, without the tiling and the type of the tiles.
    Immutable; can be compared, hashed and pickled, so that processes can share it. Merger, merge_box, apply_tiled and
    Tiling.bytes take a MergeSpec.

    Arguments:
        window, reduce, dtype, mask, fill, nodata: as for Merger. Arrays are copied.

    Errors: InvalidValue and InvalidType with the operator "merge", for mistakes that do not depend on the tiling. check
        finds all others.

    Example:
        >>> import pickle, patchfold
        >>> spec = patchfold.MergeSpec(window="linear", reduce="mean")
        >>> pickle.loads(pickle.dumps(spec)) == spec
        True
        >>> t = patchfold.Tiling((100, 90), (32, 32), overlap=8, tail="drop")
        >>> try:
        ...     spec.check(t)
        ... except patchfold.InvalidValue as error:
        ...     print(error.rule)
        must cover every element of the output unless a fill is given
    """

    __slots__ = ("__weakref__", "_dtype", "_fill", "_kept", "_key", "_mask", "_nodata", "_reduce", "_window")

    def __init__(
        self,
        *,
        window: Window | None = None,
        reduce: Reduce | None = None,
        dtype: Any = None,
        mask: Mask | None = None,
        fill: Fill | None = None,
        nodata: Nodata | None = None,
    ) -> None:
        name = "" if dtype is None else element_type("dtype", dtype)[0]
        if name == "opaque":
            rule = "must be a number's type in this machine's byte order, or be left out"
            raise InvalidType(MERGE, "dtype", rule, value_text(dtype))
        _core.MergeSpec.make(reduce, None, name, None, fill, False, None)
        self._window = window_value(window)
        self._reduce = None if reduce is None else str.__str__(reduce)
        self._dtype = name or None
        self._mask = None if mask is None else mask_array(mask)
        self._fill = None if fill is None else plain_number(fill)
        self._nodata = checked_nodata(nodata)
        window_key = tuple(map(_key_of, self._window)) if isinstance(self._window, list) else _key_of(self._window)
        self._key: tuple[Any, ...] = (self._reduce, window_key, self._dtype, _key_of(self._mask), repr(self._fill))
        if self._nodata is not None:
            self._key += (repr(self._nodata),)
        self._kept: dict[Any, _core.BoxMerger] = {}

    @property
    def window(self) -> Any:
        """The window: None, a name, (name, parameter), a list of arrays, or an array."""
        return self._window

    @property
    def reduce(self) -> Reduce | None:
        """The reduction; None: the default for the type, see reduction."""
        return cast("Reduce | None", self._reduce)

    @property
    def dtype(self) -> str | None:
        """The name of the output's element type; None: the type of the tiles."""
        return self._dtype

    @property
    def mask(self) -> npt.NDArray[np.bool_] | None:
        """A read-only array of bool; False marks a tile that will be missing."""
        return self._mask

    @property
    def fill(self) -> Any:
        """The value of elements to which no tile contributes; None: the nodata, or if there is none, an error."""
        return self._fill

    @property
    def nodata(self) -> Any:
        """The number that stands for no data in results; "none": every number is data; None: the nodata of a file, if there
        is one."""
        return self._nodata

    def check(self, tiling: TilingBase, results: ResultType | None = None) -> None:
        """Raises an error for every mistake that can be found before the work: a mask or a window that does not fit the
        tiling, elements without a value if there is no fill (gaps, dropped tails, masked tiles, weights of 0) and, if
        results are declared, a wrong type. check examines the whole output, merge_box only its box.

        Arguments:
            tiling: the Tiling.
            results: the ResultType of the tiles.
        """
        native = self._unchecked(checked_tiling(tiling)._native)
        if results is None:
            _core.check_cover(tiling._native, native)
            return
        results = checked_results(results)
        with naming_nodata(self._fill):
            _core.check_results(tiling._native, native, results._like(), results.channels_in(tiling))

    def output_type(self, results: ResultType) -> Any:
        """Returns the element type of the output, in the form of ResultType.dtype."""
        results = checked_results(results)
        if makes_labels(self._reduce) and self._dtype is None:
            if not results.channels:
                rule = "must have a first axis of classes for the reduction argmax"
                raise InvalidValue(MERGE, "results", rule, repr(results), "ResultType('float32', channels=(21,))")
            return "uint8" if results.channels[0] <= 256 else "uint16"
        return results.dtype if self._dtype is None else self._dtype

    def reduction(self, results: ResultType) -> str:
        """Returns the reduction for results of a type: the given one, or the default for the type, "mean" or "center".

        Example:
            >>> import patchfold
            >>> patchfold.MergeSpec().reduction(patchfold.ResultType("uint8"))
            'center'
        """
        dtype = checked_results(results).dtype
        spec = _core.MergeSpec.make(self._reduce, self._any_window(), self._dtype or "", None, None, False, None)
        return _core.reduction(spec, dtype if isinstance(dtype, str) else "opaque")

    def _output(
        self, tiling: TilingBase, dtype: Any, channels: tuple[int, ...]
    ) -> tuple[tuple[int, ...], tuple[int, ...], Any]:
        """Returns the shape, the tiled axes and the element type of the output, for results of this type."""
        return output_of(tiling._native, self._reduce, self._dtype, dtype, channels)

    def _any_window(self) -> Any:
        return self._window if self._window is None else ("ones", None)

    def _unchecked(self, tiling: _core.Tiling) -> _core.MergeSpec:
        """Returns the library's spec, in which only the shapes of arrays are checked."""
        window = window_of(self._window, tiling.result)
        mask = mask_bytes(tiling, self._mask)
        fill = filled(self._fill, self._nodata, self._reduce)
        return _core.MergeSpec.make(self._reduce, window, self._dtype or "", mask, fill, False, None)

    def _parts(self) -> dict[str, Any]:
        return {
            "window": self._window,
            "reduce": self._reduce,
            "dtype": self._dtype,
            "mask": self._mask,
            "fill": self._fill,
            "nodata": self._nodata,
        }

    def _box_merger(self, tiling: TilingBase, like: Any, dtype: str, channels: tuple[int, ...]) -> _core.BoxMerger:
        """Returns the part of a merge that all boxes share. The last few results are cached, since sampling a window takes
        longer than merging a small box."""
        key = (tiling, dtype, channels)
        found = self._kept.get(key)
        if found is None:
            with naming_nodata(self._fill):
                found = _core.BoxMerger(tiling._native, self._unchecked(tiling._native), like, channels)
            while len(self._kept) >= _MOST_KEPT:
                self._kept.pop(next(iter(self._kept)), None)
            self._kept[key] = found
        return found

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, MergeSpec) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._parts(),)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return "patchfold.MergeSpec", *self._key

    def __repr__(self) -> str:
        parts = [] if self._window is None else [f"window={_shown(self._window)}"]
        parts += [f"{name}={value!r}" for name, value in (("reduce", self._reduce), ("dtype", self._dtype)) if value]
        if self._mask is not None:
            parts.append(f"mask={int(self._mask.sum())} of {self._mask.size} tiles")
        if self._fill is not None:
            parts.append(f"fill={self._fill!r}")
        if self._nodata is not None:
            parts.append(f"nodata={self._nodata!r}")
        return f"MergeSpec({', '.join(parts)})"


def checked_tiling(tiling: Any) -> TilingBase:
    if not issubclass(type(tiling), TilingBase):
        raise InvalidType(MERGE, "tiling", "must be a Tiling", given_text(tiling))
    return tiling  # type: ignore[no-any-return]


def checked_results(results: Any) -> ResultType:
    if not issubclass(type(results), ResultType):
        expected = "ResultType('float32', channels=(3,)), or tiling.probe(fn, source)"
        raise InvalidType(MERGE, "results", "must be a ResultType", given_text(results), expected)
    return results  # type: ignore[no-any-return]


def facts_of_first(tiling: TilingBase, spec: _core.MergeSpec, index: Any, tile: Any) -> tuple[tuple[int, ...], Any]:
    """Returns the extents of the untiled axes and the element type of the first result, which all results share."""
    native = tiling._native
    try:
        return _core.facts_of_first(native, spec, index, tile)
    except InvalidValue as error:
        if error.code != "rank":
            raise
        values = iter(tile.shape)
        axes = native.axes_in(len(tile.shape) + len(native.axes))
        shape = tuple(1 if axis in axes else next(values) for axis in range(len(tile.shape) + len(native.axes)))
        hint = f"return shape {shape} for values of the whole tile"
        raise InvalidValue(error.operator, error.argument, **{**error._facts(), "hint": hint}) from None


def check_declared(tiling: TilingBase, results: ResultType, argument: str, dtype: Any, channels: tuple[int, ...]) -> None:
    """Checks the type of results against the declared type."""
    declared = results.channels_in(tiling)
    if str(dtype) != str(results.dtype):
        raise InvalidType(MERGE, argument, "must have the declared type", str(dtype), str(results.dtype))
    if channels != declared:
        rule = "must have the declared extents of the axes that are not tiled"
        raise InvalidValue(MERGE, argument, rule, str(channels), str(declared))


def parts_of(spec: Any, **given: Any) -> dict[str, Any]:
    """Returns the keyword arguments of a merge, for a function that takes a spec or its parts."""
    return given if spec is None else spec_of(spec, **given)._parts()


def spec_of(spec: Any, **given: Any) -> MergeSpec:
    """Returns a given spec, and MergeSpec() for None. Raises an error if parts are given beside a spec."""
    if spec is None:
        return MergeSpec()
    if not issubclass(type(spec), MergeSpec):
        raise InvalidType(MERGE, "spec", "must be a MergeSpec", given_text(spec), "MergeSpec(..)")
    for name, value in given.items():
        if value is not None:
            raise InvalidValue(MERGE, name, "must not be given beside a spec, which holds it", value_text(value))
    return spec  # type: ignore[no-any-return]


def _key_of(value: Any) -> Any:
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


def _shown(window: Any) -> str:
    if isinstance(window, np.ndarray):
        return f"an array of {window.shape}"
    return "lists" if isinstance(window, list) else repr(window)


def _restored(parts: dict[str, Any]) -> MergeSpec:
    return MergeSpec(**parts)


def forecast(
    tiling: _core.Tiling, spec: Any, given: dict[str, Any], copy: Any, sink: Any, dtype: str, size: int, channels: Any
) -> tuple[int, int, int]:
    """Returns the memory of a merge, for Tiling.bytes."""
    parts = parts_of(spec, **given)
    mask = parts.pop("mask")
    parts["fill"] = filled(parts["fill"], parts.pop("nodata", None), parts["reduce"])
    is_flag = sink is None or isinstance(sink, (bool, np.bool_)) or is_integer(sink)
    rows = 1 if is_flag else written_rows(sink, tiling, parts["reduce"])
    native = merge_spec(tiling, copy=copy, mask=mask_bytes(tiling, mask), memory_limit=None, sink_rows=rows, **parts)
    return _core.merge_memory(tiling, native, dtype, size, channels, bool(sink) if is_flag else True)

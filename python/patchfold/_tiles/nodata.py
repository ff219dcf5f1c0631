# SPDX-License-Identifier: Apache-2.0
"""Elements without data in the results of tiles: those equal to a number that stands for no data, and NaN."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.dtypes import SHARED_WITH_NUMPY, SIZES
from .._arrays.kinds import is_array, is_numpy, is_torch
from .._errors import Error, InvalidValue, text_in
from .merge_arguments import MERGE, element_type, makes_labels, name_of_type, plain_number

NONE = "none"


def checked_nodata(nodata: Any) -> Any:
    """Returns a given nodata: None, "none" or a plain number."""
    if nodata is None or text_in(nodata) == NONE:
        return nodata
    try:
        _core.MergeSpec.make(None, None, "", None, nodata, False, None)
    except Error as error:
        raise type(error)(MERGE, "nodata", **error._facts()) from None
    return plain_number(nodata)


def filled(fill: Any, nodata: Any, reduce: Any) -> Any:
    """Returns the value for elements that no tile gives: the fill, or else the nodata if it is a number. For labels it is
    the fill only, since the nodata is no label."""
    return nodata if fill is None and nodata != NONE and not makes_labels(reduce) else fill


@contextmanager
def naming_nodata(fill: Any) -> Iterator[None]:
    """Makes errors about the fill name the nodata if no fill was given, since the nodata then serves as the fill."""
    try:
        yield
    except InvalidValue as error:
        if fill is not None or error.argument != "fill":
            raise
        raise InvalidValue(MERGE, "nodata", **error._facts()) from None


class Nodata:
    """The nodata of the results of a merge, with the value that replaces it."""

    def __init__(self, spec: _core.MergeSpec, number: Any, fill: Any, dtype: Any) -> None:
        """dtype: the element type of the results."""
        name = element_type("tile", dtype)[0]
        self._number, self._fill = (_of_type(name, each) for each in (number, filled(fill, number, None)))
        self._selects = _core.reduction(spec, name) in ("first", "last", "center")

    def leave_out(self, tile: Any, weights: Any = None) -> tuple[Any, Any]:
        """Returns a tile's result and its weights, in the library's form, for a merge in which elements without data have no
        weight. For reductions that take the value of one tile, and so have no weights, these elements become the fill."""
        valid = has_data(tile, self._number)
        if valid is None:
            return tile, weights
        if self._selects:
            return _replaced(tile, valid, self._fill), weights
        try:
            return tile, valid * (1.0 if weights is None else weights)
        except ValueError:  # the library refuses weights that do not broadcast
            return tile, weights


def has_data(tile: Any, nodata: Any) -> npt.NDArray[np.bool_] | None:
    """Returns for each element of a result whether the element holds data: it is neither the nodata nor NaN. Returns None if
    all elements do, or if the object is no array of numbers."""
    if not is_array(tile):
        return None
    array, number = _comparable(tile, nodata)
    kind = array.dtype.kind
    if kind not in "biufc" and str(array.dtype) not in SIZES:
        return None
    if kind in "biu" and isinstance(number, float):
        if not number.is_integer():
            return None
        number = int(number)
    array = array.view(np.uint8) if kind == "b" else array
    valid = np.asarray(array != number)
    if kind not in "biu":
        valid &= array == array
    return None if valid.all() else valid


def _comparable(tile: Any, nodata: Any) -> tuple[npt.NDArray[Any], Any]:
    """Returns a NumPy array of the tile's elements, and the nodata as a number that compares with them exactly."""
    if is_torch(tile):
        tile = tile.detach().cpu().resolve_conj().resolve_neg()
        if name_of_type(tile.dtype) in SHARED_WITH_NUMPY:
            return tile.numpy(), nodata
        return tile.double().numpy(), tile.new_tensor(nodata).double().item()
    array = np.asarray(tile) if is_numpy(tile) or hasattr(tile, "__array__") else np.from_dlpack(tile)
    return array, array.dtype.type(nodata) if array.dtype.kind == "V" and array.dtype.fields is None else nodata


def _of_type(name: str, number: Any) -> Any:
    """Returns a number without an imaginary part of 0 if the type is real: NumPy and torch refuse complex numbers there."""
    return number.real if isinstance(number, complex) and number.imag == 0 and not name.startswith("complex") else number


def _replaced(tile: Any, valid: npt.NDArray[np.bool_], value: Any) -> Any:
    """Returns a copy of a tile with a value where it holds no data."""
    if is_torch(tile):
        is_shared = name_of_type(tile.dtype) in SHARED_WITH_NUMPY
        wide = tile if is_shared else tile.double()  # torch cannot fill tensors of 8-bit floats
        return wide.masked_fill(~sys.modules["torch"].from_numpy(valid), value).to(tile.dtype)
    array = np.array(tile)
    array[~valid] = value
    return array

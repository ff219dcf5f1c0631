# SPDX-License-Identifier: Apache-2.0
"""Puts an image together from its patches."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arguments import first_entries, read_once, read_pads
from .._arrays.kinds import module_of, shape_of
from .._arrays.memory import memory
from .._errors import Error, InvalidType, InvalidValue, given_text, text_in, value_text
from .._signatures import takes
from .._typing import Array, Element, IntOrInts, Ints, Number, ReconstructCall, Shape
from .columns import coverage, fold

if TYPE_CHECKING:
    from typing_extensions import Unpack

_fold = _core.Operator("fold", data="columns")


@overload
def reconstruct(
    columns: npt.NDArray[Element],
    shape: Shape,
    kernel_size: IntOrInts,
    *,
    fill: Number | None = None,
    out: npt.NDArray[Element] | None = None,
    **settings: Unpack[ReconstructCall],
) -> np.ndarray[Shape, np.dtype[Element]]: ...
@overload
def reconstruct(
    columns: npt.NDArray[Element],
    shape: Ints,
    kernel_size: IntOrInts,
    *,
    fill: Number | None = None,
    out: npt.NDArray[Element] | None = None,
    **settings: Unpack[ReconstructCall],
) -> npt.NDArray[Element]: ...
@overload
def reconstruct(
    columns: Array,
    shape: Ints,
    kernel_size: IntOrInts,
    *,
    fill: Number | None = None,
    out: Array | None = None,
    **settings: Unpack[ReconstructCall],
) -> Array: ...
@takes(ReconstructCall, fold)
def reconstruct(
    columns: Array,
    shape: Ints,
    kernel_size: IntOrInts,
    *,
    fill: Number | None = None,
    out: Array | None = None,
    **settings: Unpack[ReconstructCall],
) -> Array:
    """Puts an image together from its patches, with their mean where patches overlap. Undoes unfold.

    reconstruct is fold with reduce="mean", but takes the shape of the whole image. Unchanged columns of unfold give the
    image back bit for bit, for every type that has a mean, wherever patches cover the image. Elements that no patch covers
    are refused unless a fill is given.

    Shapes: columns is (B.., C*K, L) or (B.., C*K, l1..lR); the result is (B.., C, I1..IR) = shape; with
        layout="channels_last" the channels come last in both.

    Arguments:
        columns: the patches, as unfold makes them.
        shape: the shape of the image that they were cut from, such as image.shape. None as the batch is the batch of the
            columns, which a graph of TensorFlow may leave open.
        kernel_size, stride, dilation, padding, layout, order, positions: those of the unfold.
        fill: the value of elements that no patch covers; an integer element type needs an integer in its range. None: such
            elements are an error.
        out: an array of the given shape and the columns' element type; it receives the result and is returned.

    Formula: result[n, c, y] = the mean of columns[n, c * K + tap, position] over all taps and positions with
        position * stride + tap * dilation - pad_begin = y for each axis; fill if there are none.

    Types: numbers and booleans. Means are rounded once, to nearest even, and never wrap; see fold.

    Errors: InvalidValue for a shape that is not that of the image, for elements that no patch covers if there is no fill,
        and for what fold refuses; InvalidType as from fold.

    Elsewhere: torch fold(unfold(x)) / fold(unfold(ones)); sklearn feature_extraction.image.reconstruct_from_patches_2d;
        kornia combine_tensor_patches; TensorFlow and Keras none: with layout="channels_last", order="kernel",
        positions="grid" reconstruct puts patches of their extract_patches back.

    Example:
        >>> import numpy as np, patchfold
        >>> photo = np.random.default_rng(0).integers(0, 256, (3, 60, 80), np.uint8)
        >>> columns = patchfold.unfold(photo, (8, 8), stride=4)
        >>> np.array_equal(patchfold.reconstruct(columns, photo.shape, (8, 8), stride=4), photo)
        True
        >>> patchfold.reconstruct(np.array([[10, 20, 30], [21, 30, 40]]), (1, 4), (2,))
        array([[10, 20, 30, 40]])
    """
    whole, kernel_size, pads = read_once(shape), read_once(kernel_size), read_pads(settings["padding"])
    windows = (kernel_size, read_once(settings["stride"]), read_once(settings["dilation"]))
    settings |= {"stride": windows[1], "dilation": windows[2], "padding": pads}
    layout, positions = settings["layout"], settings["positions"]
    try:
        if not hasattr(columns, "shape") or isinstance(columns, np.generic):
            memory(columns, "reconstruct", "columns", False)  # refuses an object that is no array
        held, whole = _closed(columns, whole)
        if len(held) < 2:
            rule, given = "must have a C*K axis and the position axes", f"{held} of rank {len(held)}"
            raise InvalidValue("reconstruct", "columns", rule, given, "rank 2 or more", code="rank")
        extents = _extents(len(held), whole, [*windows, pads], layout, positions)
        made = _fold.output_shape(held, extents, *windows, pads, layout, settings["order"], positions)
        if made != whole:
            rule = "must be the shape of the image that the columns were cut from"
            raise InvalidValue("reconstruct", "shape", rule, value_text(whole), str(made), code="shape")
        if fill is None and 0 not in whole:
            _check_cover(extents, *windows, pads)
        return fold(columns, extents, kernel_size, reduce="mean", fill=0 if fill is None else fill, out=out, **settings)
    except Error as error:
        if error.operator == "reconstruct":
            raise
        argument = {"x": "columns", "shape": "columns", "output_size": "shape"}.get(error.argument, error.argument)
        facts = error._facts()
        facts["hint"] = facts["hint"].replace("shape.", "columns.")
        raise type(error)("reconstruct", argument, **facts) from None


def _closed(columns: Any, whole: Any) -> tuple[tuple[int, ...], Any]:
    """Returns the shapes of the columns and of the image. A batch of None in `whole` is the batch of the columns; a batch
    that a graph of TensorFlow leaves open counts as 1."""
    entries = first_entries(columns.shape) if module_of(columns) == "tensorflow" else None
    is_open = entries is not None and entries[:1] == (None,) and None not in entries[1:]
    held = (1, *entries[1:]) if entries and is_open else shape_of(columns, "reconstruct", "columns")
    if type(whole) is tuple and held and whole and whole[0] is None:
        return held, (held[0], *whole[1:])
    if is_open:
        rule = "must begin with None, since the batch of the columns is open"
        raise InvalidValue("reconstruct", "shape", rule, value_text(whole), code="shape")
    return held, whole


def _check_cover(extents: tuple[int, ...], *windows: Any) -> None:
    """Raises an error for the first element of an axis that no patch covers."""
    for axis, extent in enumerate(extents):
        element = _first_uncovered(extent, *(value[axis] if type(value) is tuple else value for value in windows))
        if element is not None:
            rule = "must cover every element of the image unless a fill is given"
            given = f"no patch for element {element} of spatial axis {axis}"
            raise InvalidValue("reconstruct", "columns", rule, given, "other strides or paddings, or fill=0")


@functools.lru_cache
def _first_uncovered(extent: int, kernel: int, stride: int, dilation: int, padding: Any) -> int | None:
    pads = [padding] if type(padding) is tuple else padding
    counts = coverage((extent,), kernel, stride=stride, dilation=dilation, padding=pads, dtype=np.int64)
    return None if counts.all() else int(counts.argmin())


def _extents(axes: int, shape: Any, windows: list[Any], layout: Any, positions: Any) -> tuple[int, ...]:
    """Returns the spatial part of the shape of an image. The number of its extents is the length of the lists among the
    windows. Without lists, the number follows from the rank of flat columns, and a grid counts as two spatial axes. fold
    finds all other faults."""
    if not isinstance(shape, tuple) or not all(type(extent) is int for extent in shape):
        raise InvalidType("reconstruct", "shape", "must be a list of integers", given_text(shape))
    flat = text_in(positions) != "grid"
    lists = [value for value in windows if type(value) is tuple]
    rank = len(lists[0]) if lists else len(shape) - axes + 1 if flat else len(shape) - 2
    if len(shape) == 3 and not flat and not lists:
        rule = "a shape of rank 3 is one image of 2 spatial axes or a batch of 1; give a list to say which"
        size = value_text(windows[0])
        raise InvalidValue(
            "reconstruct",
            "shape",
            rule,
            value_text(shape),
            f"kernel_size=({size}, {size}) or kernel_size=({size},)",
            code="rank",
        )
    batch = len(shape) - rank - 1
    if rank < 1 or batch < 0:
        rule = "must have a channel axis and the spatial axes"
        expected = f"rank {rank + 1} or more" if rank > 0 else f"rank {axes} or more"
        raise InvalidValue("reconstruct", "shape", rule, value_text(shape), expected, code="rank")
    first = batch if text_in(layout) == "channels_last" else batch + 1
    return shape[first : first + rank]

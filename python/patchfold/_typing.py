# SPDX-License-Identifier: Apache-2.0
"""Names for the types of arguments and results."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Literal, Protocol, SupportsComplex, SupportsFloat, SupportsIndex, TypeAlias, TypedDict, TypeVar

import numpy as np
import numpy.typing as npt


class SupportsDlpack(Protocol):
    """An array that exports its memory through DLPack: an array of torch, JAX, TensorFlow, .."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...

    def __dlpack_device__(self) -> Any: ...


Array = TypeVar("Array", bound=npt.NDArray[Any] | SupportsDlpack)
"""An array of any supported kind; the result is of the same kind."""

Element = TypeVar("Element", bound=np.generic)
"""The element type of a NumPy array, for functions whose result has another number of axes."""

Shape = TypeVar("Shape", bound=tuple[int, ...])
"""A shape as a tuple, which tells a type checker the number of axes of the result."""


class Operation(Protocol):
    """The call of an operator of the table: a bound method, which Python calls faster than an object. The result is an array
    of the input's kind."""

    def __call__(self, x: Array, out: Array | None, *values: Any) -> Array: ...


Int: TypeAlias = SupportsIndex
"""A Python or NumPy integer."""

Ints: TypeAlias = Sequence[Int] | npt.NDArray[np.integer[Any]]
"""A list, tuple or one-axis array of integers."""

IntOrInts: TypeAlias = Int | Ints
"""One number for every spatial axis, or one number for each axis."""

Pairs: TypeAlias = Sequence[Sequence[Int]] | npt.NDArray[np.integer[Any]]
"""A pair (begin, end) for each axis."""

Padding: TypeAlias = IntOrInts | Pairs | Literal["valid", "same", "same_upper", "same_lower"]
"""One number for all ends, one for both ends of each axis, a pair for the ends of each axis, or a rule."""

Number: TypeAlias = SupportsIndex | SupportsFloat | SupportsComplex
"""A number of Python or NumPy."""

PaddingMode: TypeAlias = (
    Literal["constant", "edge", "reflect", "symmetric", "wrap"]
    | Literal["zeros", "replicate", "circular"]
    | Literal["CONSTANT", "REFLECT", "SYMMETRIC"]
)
"""The modes of padding, in the words of NumPy, torch and TensorFlow."""

Layout: TypeAlias = Literal["channels_first", "channels_last"]
Order: TypeAlias = Literal["channel", "kernel", "c k", "k c", "c kh kw", "kh kw c", "c kd kh kw", "kd kh kw c"]
"""The slow index of an axis of channels and taps, or all indices of the axis in order."""

Positions: TypeAlias = Literal["flat", "grid"]
FoldReduce: TypeAlias = Literal["sum", "mean"]
DepthMode: TypeAlias = Literal["blocks_first", "depth_first"]
TokenOrder: TypeAlias = Literal["vit", "torch", "qwen"] | str
"""The order of a model, or the axes of a token in order: "p1 p2 pf c"."""

TokenLayout: TypeAlias = Literal["channels_first", "channels_last", "frames_first"]
TokenRepeat: TypeAlias = Literal["last"] | None

Tail: TypeAlias = Literal["shift", "shift_or_pad", "pad", "partial", "drop", "error"]
Reduce: TypeAlias = Literal[
    "mean", "sum", "max", "min", "first", "last", "center", "nanmean", "nanmax", "nanmin", "median", "vote", "argmax"
]
Join: TypeAlias = Literal["touch", "iou", "share"] | tuple[Literal["iou", "share"], float]
WindowName: TypeAlias = Literal["ones", "linear", "hann", "cosine", "gaussian", "tukey", "hamming"]

Overlap: TypeAlias = Int | float | Ints | Sequence[float] | Literal["exact"]
"""Elements or fractions of the tile: one number for every tiled axis, or one for each."""

Margin: TypeAlias = Int | Sequence[Int | Sequence[Int]] | npt.NDArray[np.integer[Any]]
"""Elements at both ends of every tiled axis, or for each tiled axis a number or a pair (before, after)."""

Scale: TypeAlias = Int | float | Fraction | Sequence[Int | float | Fraction]
"""Output elements for each element of the array: one number for every tiled axis, or one for each."""

Window: TypeAlias = (
    WindowName | tuple[Literal["gaussian", "tukey"], float] | Sequence[npt.ArrayLike] | npt.NDArray[Any] | Any
)
"""Weights by name, as one list for each tiled axis, or as an array."""

Weight: TypeAlias = Number | npt.NDArray[Any] | Any
"""The weight of a tile: one number, or an array that broadcasts to the shape of the tile's result."""

Mask: TypeAlias = npt.ArrayLike
"""One bool for each tile, in the shape of the grid or as a list."""

Box: TypeAlias = slice | Sequence[slice | Sequence[Int | None]]
"""A part of an output: a slice, or (start, stop), for each tiled axis."""

Progress: TypeAlias = bool | Callable[[int, int], Any]
"""True for a bar; or a function that is called with (done, all): numbers of tiles, or of chunks."""

Fill: TypeAlias = Number

Nodata: TypeAlias = Number | Literal["none"]
"""A number that stands for no data, or "none": every number is data."""


# Keyword arguments of several functions, which get them through patchfold._signatures.takes.


class WindowSettings(TypedDict, total=False):
    """The settings that decide where patches lie, of unfold and of all functions that undo it."""

    stride: IntOrInts
    dilation: IntOrInts
    padding: Padding


class ColumnsSettings(WindowSettings, total=False):
    layout: Layout
    order: Order


class UnfoldSettings(ColumnsSettings, total=False):
    """The settings of unfold except positions, which decides the type of the result."""

    padding_mode: PaddingMode
    value: Number
    allow_empty: bool


class UnfoldCall(UnfoldSettings, total=False):
    positions: Positions


class FoldSettings(ColumnsSettings, total=False):
    """The settings of fold except positions."""

    reduce: FoldReduce
    fill: Number


class FoldCall(FoldSettings, total=False):
    positions: Positions


class ReconstructCall(ColumnsSettings, total=False):
    positions: Positions


class TokenSettings(TypedDict, total=False):
    order: TokenOrder
    merge_size: Int | None
    layout: TokenLayout
    repeat: TokenRepeat


class MergeSettings(TypedDict, total=False):
    """The settings of MergeSpec."""

    window: Window | None
    reduce: Reduce | None
    dtype: Any
    mask: Mask | None
    fill: Fill | None
    nodata: Nodata | None


class TilingSettings(TypedDict, total=False):
    """The settings of Tiling."""

    overlap: Overlap | None
    stride: IntOrInts | None
    tail: Tail
    axes: IntOrInts | None
    padding_mode: PaddingMode
    value: Number
    scale: Scale
    offset: IntOrInts | None
    result: IntOrInts | None
    align: IntOrInts
    margin: Margin
    output: IntOrInts | None


class TiledSettings(MergeSettings, TilingSettings, total=False):
    """The settings of MergeSpec and of Tiling."""

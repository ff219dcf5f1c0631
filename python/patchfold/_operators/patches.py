# SPDX-License-Identifier: Apache-2.0
"""Functions for a part of all patches: columns in chunks that fit into memory, and patches at given corners."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arguments import is_list, per_axis, read_once, read_pads, same_pads, spatial_rank
from .._arrays.kinds import is_torch, module_of
from .._arrays.memory import is_watched, memory
from .._errors import InvalidType, InvalidValue, errors_of, given_text, type_name, value_text
from .._typing import Array, Element, Int, IntOrInts, Number, Order, Padding, PaddingMode

Range = tuple[int, int]

_unfold = _core.Operator("unfold", data="x")


class Chunk(NamedTuple):
    """A portion of the columns of unfold: columns = unfold(..)[batch, :, positions], with one batch axis."""

    batch: slice
    """The images, counted row-major over all batch axes."""
    positions: slice
    """The positions, counted row-major over all spatial axes."""
    columns: Any
    """(images, C*K, positions), of the same kind as the image."""


def _begins(padding: Any, extents: Sequence[int], steps: Sequence[int], effective: Sequence[int]) -> list[int]:
    """Returns the pads at the beginning of each axis, for a checked padding."""
    if isinstance(padding, str):
        if padding == "valid":
            return [0] * len(extents)
        upper = padding != "same_lower"
        axes = zip(extents, effective, steps, strict=True)
        return [same_pads(extent, size, step, 1, upper=upper)[0] if extent else 0 for extent, size, step in axes]
    if is_list(padding) and len(padding) and is_list(padding[0]):
        return [operator.index(begin) for begin, _ in padding]
    return list(per_axis(padding, len(extents)))


def _portions(extents: Sequence[int], most: int) -> Iterator[tuple[Range, ...]]:
    """Yields runs of at most `most` neighbouring elements of a row-major array, as (begin, end) for each axis."""
    whole = len(extents)  # axes from this one on are never cut
    inner = 1
    while whole > 0 and inner * extents[whole - 1] <= most:
        whole -= 1
        inner *= extents[whole]
    if whole == 0 or 0 in extents:
        yield tuple((0, extent) for extent in extents)
        return
    rest = tuple((0, extent) for extent in extents[whole:])
    step = most // inner
    for fixed in product(*map(range, extents[: whole - 1])):
        for begin in range(0, extents[whole - 1], step):
            end = min(begin + step, extents[whole - 1])
            yield (*((i, i + 1) for i in fixed), (begin, end), *rest)


def _run(ranges: Sequence[Range], extents: Sequence[int]) -> slice:
    """Returns the row-major indices of a portion, which are contiguous."""
    begin = 0
    for (first, _), extent in zip(ranges, extents, strict=True):
        begin = begin * extent + first
    return slice(begin, begin + prod(end - first for first, end in ranges))


def iter_unfold(
    x: Array,
    kernel_size: IntOrInts,
    *,
    stride: IntOrInts = 1,
    dilation: IntOrInts = 1,
    padding: Padding = 0,
    padding_mode: PaddingMode = "constant",
    value: Number = 0,
    order: Order = "channel",
    max_bytes: Int = 2**26,
    allow_empty: bool = False,
) -> Iterator[Chunk]:
    """Yields the columns of unfold in chunks, for images whose columns do not fit into memory.

    Shapes: x is (B.., C, I1..IR). Each chunk is (batch, positions, columns), where columns is (images, C*K, positions)
        and the slices batch and positions give the place of the columns. An image without batch axes counts as a batch of
        one.

    Arguments:
        x: the image, channels first.
        kernel_size, stride, dilation, padding, padding_mode, value, order: as for unfold.
        max_bytes: the largest number of bytes that the columns of a chunk may take. A chunk holds whole images if they fit,
            otherwise whole slices along the first spatial axis, and so on down to one column.
        allow_empty: whether an image smaller than a patch gives one chunk without columns instead of an error.

    Formula: chunk.columns = unfold(x, ..).reshape(-1, C*K, L)[chunk.batch, :, chunk.positions]. Chunks are in row-major
        order, and every column is in exactly one chunk.

    Types: any element type of fixed size; elements are copied bit by bit.

    Errors: as for unfold, raised by the call and not by the loop over the chunks; InvalidValue if max_bytes is too small for
        one column, InvalidType if it is not an integer. Errors name the rule, the given and the expected value.

    Elsewhere: torch, TensorFlow, ONNX and OpenVINO have none; MATLAB blockproc.

    Example:
        >>> import numpy as np, patchfold
        >>> x = np.arange(32.0).reshape(1, 2, 4, 4)
        >>> parts = list(patchfold.iter_unfold(x, 2, max_bytes=3 * 8 * 8))
        >>> [(part.batch, part.positions) for part in parts][:2]
        [(slice(0, 1, None), slice(0, 3, None)), (slice(0, 1, None), slice(3, 6, None))]
        >>> np.array_equal(np.concatenate([part.columns for part in parts], axis=2), patchfold.unfold(x, 2))
        True
    """
    name = "iter_unfold"
    kernel_size, stride, dilation = read_once(kernel_size), read_once(stride, 1), read_once(dilation, 1)
    padding = read_pads(padding)
    if is_torch(x):
        memory(x, name, "x", False)  # refuses a tensor whose calls torch would record
    with errors_of(name):  # planning the whole image, without running it, makes every check
        window = (kernel_size, stride, dilation, padding, padding_mode, value)
        whole = _core.PlannedCall(_unfold, x, None, *window, None, order, "grid", allow_empty)
    if not hasattr(type(x), "__getitem__") or not (hasattr(x, "reshape") or hasattr(_module(x), "reshape")):
        raise InvalidType(name, "x", "must be an array with slices and reshape", type_name(x))
    shape, grid = whole.input_shape, whole.output_shape
    rank = spatial_rank(kernel_size, stride, dilation, padding)
    split = len(shape) - rank
    batch, extents, rows, positions = shape[: split - 1], shape[split:], grid[split - 1], grid[split:]
    kernel, steps, gaps = (per_axis(each, rank) for each in (kernel_size, stride, dilation))
    effective = [(k - 1) * d + 1 for k, d in zip(kernel, gaps, strict=True)]
    begins = _begins(padding, extents, steps, effective)

    max_bytes = read_once(max_bytes)
    if type(max_bytes) is not int:
        raise InvalidType(name, "max_bytes", "must be an integer", given_text(max_bytes))
    array: Any = x
    bytes_of_column = max(1, rows * _core.array_facts(x, name, "x")[2])
    most = max_bytes // bytes_of_column
    if most < 1:
        rule = "must hold one column, C*K elements"
        raise InvalidValue(name, "max_bytes", rule, value_text(max_bytes), f"at least {bytes_of_column}")

    def chunks() -> Iterator[Chunk]:
        for ranges in _portions((*batch, *positions), most):
            images, places = ranges[: len(batch)], ranges[len(batch) :]
            part = array[tuple(slice(begin, end) for begin, end in images)] if images else array
            # These pads leave only the positions [a, b) of an axis, at unchanged coordinates of the image.
            part_pads = []
            for i, (a, b) in enumerate(places):
                begin = begins[i] - a * steps[i]
                part_pads.append((begin, (b - a - 1) * steps[i] + effective[i] - extents[i] - begin))
            columns = _unfold(part, None, kernel, steps, gaps, part_pads, padding_mode, value, None, order, None, True)
            where, which = _run(images, batch), _run(places, positions)
            if len(batch) != 1:
                columns = reshaped(columns, (where.stop - where.start, rows, which.stop - which.start))
            yield Chunk(where, which, columns)

    return chunks()


def reshaped(array: Any, shape: tuple[int, ...]) -> Any:
    """Returns an array in another shape. TensorFlow's tensors have no method for it. An array of JAX whose batch is sharded
    explicitly keeps its sharding, which JAX asks for where axes are cut or joined."""
    sharding: Any = None if is_torch(array) else getattr(getattr(array, "aval", None), "sharding", None)
    spec = tuple(getattr(sharding, "spec", ()))
    if any(spec) and not any(spec[1:]) and shape[:1] == array.shape[:1]:
        jax: Any = sys.modules["jax"]
        kept = jax.sharding.NamedSharding(sharding.mesh, jax.sharding.PartitionSpec(spec[0]))
        return jax.lax.reshape(array, shape, out_sharding=kept)
    return array.reshape(shape) if hasattr(array, "reshape") else _module(array).reshape(array, shape)


def _module(array: Any) -> Any:
    return sys.modules.get(module_of(array))


@overload
def gather_patches(
    x: npt.NDArray[Element], corners: npt.ArrayLike, size: IntOrInts, *, out: npt.NDArray[Element] | None = None
) -> npt.NDArray[Element]: ...
@overload
def gather_patches(x: Array, corners: npt.ArrayLike, size: IntOrInts, *, out: Array | None = None) -> Array: ...
def gather_patches(x: Array, corners: npt.ArrayLike, size: IntOrInts, *, out: Array | None = None) -> Array:
    """Copies patches at corners of your choice into one batch, for example for training on random crops.

    Shapes: x is (.., I1..IR), corners is (n, R); the result is (n, .., size1..sizeR). Or corners is (B.., n, R), with a list
        for each element of the first axes of x: x is (B.., .., I1..IR), and the result is (B.., n, .., size1..sizeR).

    Arguments:
        x: an image, a volume, or a batch of them; patches are cut from the last R axes.
        corners: the first coordinate of each patch on each of the last R axes; integers. One list for the whole of x, or one
            for each element of a batch.
        size: extents of a patch, at least 1; one number for every axis or one for each.
        out: an array of the result's shape and element type; it receives the result and is returned.

    Formula: result[i, .., q] = x[.., corners[i] + q], for each axis; result[b, i, .., q] = x[b, .., corners[b, i] + q] for
        one list for each element.

    Types: any element type of fixed size; elements are copied bit by bit.

    Errors: InvalidValue for a patch that is not wholly inside x (the error names the first such patch's corner) and for
        shapes that break a rule; InvalidType for an x that is not an array, for corners that are not integers, and for
        elements without a fixed size. Errors name the rule, the given and the expected value.

    Elsewhere: torch a loop over narrow, then stack; TensorFlow image.extract_glimpse; ONNX Slice in a Loop; OpenVINO
        none; MATLAB randomPatchExtractionDatastore.

    Example:
        >>> import numpy as np, patchfold
        >>> x = np.arange(12).reshape(3, 4)
        >>> patchfold.gather_patches(x, [(0, 0), (1, 2)], (2, 2))
        array([[[ 0,  1],
                [ 4,  5]],
        <BLANKLINE>
               [[ 6,  7],
                [10, 11]]])
        >>> pictures = np.zeros((32, 3, 224, 224), np.float32)
        >>> corners = np.zeros((32, 49, 2), int)  # 49 patches of each picture
        >>> patchfold.gather_patches(pictures, corners, 16).shape
        (32, 49, 3, 16, 16)
    """
    array: Any = x
    where: Any = corners
    # The values of a tensor are not there yet while torch.compile or a transform traces the call.
    is_open = is_torch(where) and is_watched(where) and not sys.modules["torch"].jit.is_tracing()
    if out is None and is_torch(x) and (is_open or is_watched(x)):
        picked: Array = _picked(array, where, size, is_open)
        return picked
    if is_open or (is_torch(where) and where.device.type != "cpu"):
        memory(where, "gather_patches", "corners", False)  # raises the error that names the reason
    patches: Array = _core.gather_patches(x, corners, size, out)
    return patches


def _picked(x: Any, corners: Any, size: Any, is_open: bool) -> Any:
    """Returns the result of gather_patches by torch's own indexing, so that derivatives flow. is_open: whether corners is a
    tensor whose values are not yet known. Then a patch that is not wholly inside raises torch's own error about an index."""
    torch = sys.modules["torch"]
    try:
        given = tuple(map(int, np.shape(corners)))
    except ValueError:  # rows of different lengths, which the native function refuses
        given = ()
    batch = max(len(given) - 2, 0)
    axes = x.ndim - batch
    others = axes - given[-1] if len(given) > 1 and 1 <= given[-1] <= axes else 0
    cut = tuple(map(int, (*x.shape[:batch], *x.shape[batch + others :])))  # the other extents may stay open in a graph
    known = corners
    if is_open:
        known = np.zeros(given, "float32" if corners.is_floating_point() or corners.is_complex() else "int64")
    numbers = np.arange(prod(cut)).reshape(cut)
    found = _core.gather_patches(numbers, known, size, None)
    places = torch.tensor(found, device=x.device)
    if is_open:
        rank = given[-1]
        limits = [extent - taps for extent, taps in zip(cut[-rank:], found.shape[-rank:], strict=True)]
        steps = torch.tensor([prod(cut[len(cut) - rank + axis + 1 :]) for axis in range(rank)], device=x.device)
        where = corners.to(x.device, torch.int64)
        inside = ((where >= 0) & (where <= torch.tensor(limits, device=x.device))).all(-1)
        offsets = torch.where(inside, (where * steps).sum(-1), prod(cut))
        places = places + offsets.reshape(*offsets.shape, *[1] * rank)
    at_end = tuple(range(others, others + batch))
    flat = x.movedim(tuple(range(batch)), at_end).flatten(others)
    return flat[..., places].movedim((*at_end, others + batch), tuple(range(batch + 1))).contiguous()

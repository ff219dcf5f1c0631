# SPDX-License-Identifier: Apache-2.0
"""The operators' definitions in plain NumPy. This file runs neither patchfold nor another system.

Images are (N, C, image..) and columns (N, C, taps, positions..). The dialects reorder axes to and from this form.
"""

import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from math import prod
from pathlib import Path

import numpy
from problem import Array
from windows import Pairs, Window

sys.path.append(str(Path(__file__).resolve().parent.parent / "python"))
import formulas  # noqa: E402

HALVES = ("float16", "bfloat16")


def meetings(w: Window) -> Iterator[tuple[int, tuple[Array, ...], tuple[Array, ...]]]:
    """Yields the index of each tap, the positions at which this tap lies inside the image, and the pixels that it touches
    there.

    Positions and pixels are tuples that index arrays of shape (N, C, axis..).

    coordinate = position * stride + tap * dilation - pad_begin
    """
    lead = (numpy.arange(prod(w.batch)), numpy.arange(w.channels))
    for number, tap in enumerate(itertools.product(*(range(k) for k in w.kernel))):
        positions, pixels = [], []
        for axis, t in enumerate(tap):
            coordinates = numpy.arange(w.positions[axis]) * w.stride[axis] + t * w.dilation[axis] - w.pads[axis][0]
            kept = (coordinates >= 0) & (coordinates < w.image[axis])
            positions.append(numpy.flatnonzero(kept))
            pixels.append(coordinates[kept])
        yield number, numpy.ix_(*lead, *positions), numpy.ix_(*lead, *pixels)


def extract(image: Array, w: Window) -> Array:
    """Returns the columns (N, C, taps, positions..) of an image (N, C, image..); elements outside the image are 0."""
    columns = numpy.zeros((prod(w.batch), w.channels, prod(w.kernel), *w.positions), image.dtype)
    for number, positions, pixels in meetings(w):
        columns[:, :, number][positions] = image[pixels]
    return columns


def contributions(data: Array, w: Window) -> tuple[Array, Array]:
    """Returns the term that each tap of a fold adds to each pixel, as (taps, N, C, image..), and a mask of the same shape
    that tells where such a term exists."""
    columns = data.reshape(prod(w.batch), w.channels, prod(w.kernel), *w.positions)
    terms = numpy.zeros((prod(w.kernel), prod(w.batch), w.channels, *w.image), data.dtype)
    there = numpy.zeros(terms.shape, bool)
    for number, positions, pixels in meetings(w):
        terms[number][pixels] = columns[:, :, number][positions]
        there[number][pixels] = True
    return terms, there


def combine(data: Array, w: Window) -> Array:
    """Returns the image of a fold, of shape (batch.., C, image..). Adds terms to +0 in ascending order of the taps. float16
    and bfloat16 are added in float32, and each sum is rounded once.
    """
    terms, there = contributions(data, w)
    total = numpy.zeros(terms.shape[1:], numpy.float32 if data.dtype.name in HALVES else data.dtype)
    with numpy.errstate(all="ignore"):
        for term, here in zip(terms, there, strict=True):
            total = numpy.where(here, total + term.astype(total.dtype), total)
        return total.astype(data.dtype).reshape(*w.batch, w.channels, *w.image)


def space_to_depth(x: Array, block: Sequence[int], blocks_first: bool) -> Array:
    """Returns x, of shape (lead.., C, image..), as (lead.., C * taps, number of blocks on each axis..). The new channel is
    offset * C + channel with blocks_first, and channel * taps + offset otherwise."""
    return formulas.space_to_depth(x, block, mode="blocks_first" if blocks_first else "depth_first", layout="channels_first")


def space_to_batch(x: Array, block: Sequence[int], pads: Pairs) -> Array:
    """Returns x, of shape (N, image.., rest..), padded with zeros, as (taps * N, number of blocks on each axis.., rest..).
    The new batch index is offset * N + n."""
    return formulas.space_to_batch(x, block, pads, layout="channels_last")


def _inverse(move: Callable[[Array], Array], x: Array, shape: Sequence[int]) -> Array:
    """Returns the array that `move` turns into x. To learn where each element goes, it moves the numbers 1, 2, ..; a 0 in
    the result is padding."""
    result = numpy.zeros(prod(shape) + 1, x.dtype)
    result[move(numpy.arange(1, prod(shape) + 1).reshape(shape))] = x
    return result[1:].reshape(shape)


def depth_to_space(x: Array, block: Sequence[int], blocks_first: bool) -> Array:
    """Returns the array that space_to_depth() turns into x."""
    lead = x.ndim - len(block) - 1
    extents = [count * size for count, size in zip(x.shape[lead + 1 :], block, strict=True)]
    shape = (*x.shape[:lead], x.shape[lead] // prod(block), *extents)
    return _inverse(lambda image: space_to_depth(image, block, blocks_first), x, shape)


def batch_to_space(x: Array, block: Sequence[int], crops: Pairs) -> Array:
    """Returns the array that space_to_batch() turns into x, with the crops as its pads."""
    extents = [n * size - sum(crop) for n, size, crop in zip(x.shape[1:], block, crops, strict=False)]
    shape = (len(x) // prod(block), *extents, *x.shape[1 + len(block) :])
    return _inverse(lambda image: space_to_batch(image, block, crops), x, shape)

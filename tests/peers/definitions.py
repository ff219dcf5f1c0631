# SPDX-License-Identifier: Apache-2.0
"""The operators' definitions in plain NumPy. This file runs neither patchfold nor another system.

Images are (N, C, image..) and columns (N, C, taps, positions..). The dialects reorder axes to and from this form.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from math import prod

import numpy
from problem import Array
from windows import Pairs, Window

HALVES = ("float16", "bfloat16")


def meetings(w: Window) -> Iterator[tuple[int, tuple[Array, ...], tuple[Array, ...]]]:
    """Yields each tap with its positions inside of the image, and their pixels, as indices of (N, C, axis..) arrays.

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
    """Returns (N, C, taps, positions..) of (N, C, image..): 0 outside the image."""
    columns = numpy.zeros((prod(w.batch), w.channels, prod(w.kernel), *w.positions), image.dtype)
    for number, positions, pixels in meetings(w):
        columns[:, :, number][positions] = image[pixels]
    return columns


def contributions(data: Array, w: Window) -> tuple[Array, Array]:
    """Returns a fold's terms for every pixel, (taps, N, C, image..) by ascending tap, and a mask of existing terms."""
    columns = data.reshape(prod(w.batch), w.channels, prod(w.kernel), *w.positions)
    terms = numpy.zeros((prod(w.kernel), prod(w.batch), w.channels, *w.image), data.dtype)
    there = numpy.zeros(terms.shape, bool)
    for number, positions, pixels in meetings(w):
        terms[number][pixels] = columns[:, :, number][positions]
        there[number][pixels] = True
    return terms, there


def combine(data: Array, w: Window) -> Array:
    """Returns a fold's image, (batch.., C, image..). Adds terms to +0 in ascending order of the taps. Adds float16 and
    bfloat16 in float32, and rounds the sum once.
    """
    terms, there = contributions(data, w)
    total = numpy.zeros(terms.shape[1:], numpy.float32 if data.dtype.name in HALVES else data.dtype)
    with numpy.errstate(all="ignore"):
        for term, here in zip(terms, there, strict=True):
            total = numpy.where(here, total + term.astype(total.dtype), total)
        return total.astype(data.dtype).reshape(*w.batch, w.channels, *w.image)


def offsets(block: Sequence[int]) -> list[tuple[int, ...]]:
    """Returns the offsets within a block, in row-major order."""
    return list(itertools.product(*(range(size) for size in block)))


def _every(offset: Sequence[int], block: Sequence[int]) -> tuple[slice, ...]:
    return tuple(slice(first, None, step) for first, step in zip(offset, block, strict=True))


def space_to_depth(x: Array, block: Sequence[int], blocks_first: bool) -> Array:
    """Returns (lead.., C * taps, counts..) of (lead.., C, image..). New channels count offsets or channels first."""
    lead = x.ndim - len(block) - 1
    parts = [x[(..., *_every(offset, block))] for offset in offsets(block)]
    stacked = numpy.stack(parts, lead if blocks_first else lead + 1)
    return stacked.reshape(*x.shape[:lead], x.shape[lead] * prod(block), *parts[0].shape[lead + 1 :])


def depth_to_space(x: Array, block: Sequence[int], blocks_first: bool) -> Array:
    """Inverts space_to_depth()."""
    lead, taps = x.ndim - len(block) - 1, prod(block)
    channels = x.shape[lead] // taps
    split = x.reshape(*x.shape[:lead], *((taps, channels) if blocks_first else (channels, taps)), *x.shape[lead + 1 :])
    split = numpy.moveaxis(split, lead if blocks_first else lead + 1, 0)
    extents = [count * size for count, size in zip(x.shape[lead + 1 :], block, strict=True)]
    image = numpy.zeros((*x.shape[:lead], channels, *extents), x.dtype)
    for offset, part in zip(offsets(block), split, strict=True):
        image[(..., *_every(offset, block))] = part
    return image


def space_to_batch(x: Array, block: Sequence[int], pads: Pairs) -> Array:
    """Returns (taps * N, counts.., rest..) of (N, image.., rest..): zeros around the image, the offset before the batch."""
    rest = x.shape[1 + len(block) :]
    extents = [extent + begin + end for extent, (begin, end) in zip(x.shape[1:], pads, strict=False)]
    image = numpy.zeros((len(x), *extents, *rest), x.dtype)
    image[(slice(None), *(slice(begin, begin + extent) for extent, (begin, _) in zip(x.shape[1:], pads, strict=False)))] = x
    return numpy.concatenate([image[(slice(None), *_every(offset, block))] for offset in offsets(block)])


def batch_to_space(x: Array, block: Sequence[int], crops: Pairs) -> Array:
    """Inverts space_to_batch(), with crops in place of pads."""
    count = len(x) // prod(block)
    extents = [extent * size for extent, size in zip(x.shape[1:], block, strict=False)]
    image = numpy.zeros((count, *extents, *x.shape[1 + len(block) :]), x.dtype)
    for number, offset in enumerate(offsets(block)):
        image[(slice(None), *_every(offset, block))] = x[number * count : (number + 1) * count]
    kept = (slice(begin, extent - end) for extent, (begin, end) in zip(extents, crops, strict=True))
    return image[(slice(None), *kept)]

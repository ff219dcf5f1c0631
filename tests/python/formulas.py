# SPDX-License-Identifier: Apache-2.0
"""The operators' formulas in plain NumPy, with a loop over taps. For channels_last, functions move the channels first."""

from itertools import product
from math import prod

import numpy as np

Pads = list[tuple[int, int]]


def position_counts(extents, kernel, stride, dilation, pads: Pads) -> tuple[int, ...]:
    slack = [i + b + e - (k - 1) * d - 1 for i, k, d, (b, e) in zip(extents, kernel, dilation, pads, strict=True)]
    return tuple(0 if x < 0 else x // s + 1 for x, s in zip(slack, stride, strict=True))


def same_pads(extents, kernel, stride, dilation, *, lower: bool) -> Pads:
    pads = []
    for i, k, s, d in zip(extents, kernel, stride, dilation, strict=True):
        total = max(0, (-(-i // s) - 1) * s + (k - 1) * d + 1 - i) if i else 0
        begin = (total + 1) // 2 if lower else total // 2
        pads.append((begin, total - begin))
    return pads


def padded(x, pads: Pads, mode: str = "constant", value=0):
    """Returns the array with its last axes padded. Negative pads crop, after all positive pads are added."""
    grown = [(0, 0)] * (x.ndim - len(pads)) + [(max(b, 0), max(e, 0)) for b, e in pads]
    options = {"constant_values": value} if mode == "constant" else {}
    x = np.pad(x, grown, mode=mode, **options)
    for axis, (b, e) in enumerate(pads, x.ndim - len(pads)):
        x = np.take(x, range(max(-b, 0), x.shape[axis] - max(-e, 0)), axis)
    return x


def taps_of(kernel, stride, dilation, counts):
    """Yields each tap, and the slices of the padded image with the elements that this tap reads at all positions."""
    for tap, q in enumerate(product(*map(range, kernel))):
        starts = [i * d for i, d in zip(q, dilation, strict=True)]
        ends = [a + (n - 1) * s + 1 for a, n, s in zip(starts, counts, stride, strict=True)]
        yield tap, tuple(slice(a, e, s) for a, e, s in zip(starts, ends, stride, strict=True))


def unfold(x, kernel, stride, dilation, pads: Pads, *, mode="constant", value=0, layout, order, positions):
    rank = len(kernel)
    if layout == "channels_last":
        x = np.moveaxis(x, -1, -1 - rank)
    *batch, channels = x.shape[:-rank]
    counts = position_counts(x.shape[-rank:], kernel, stride, dilation, pads)
    result = np.zeros((*batch, channels, prod(kernel), *counts), x.dtype)
    if prod(counts):
        image = padded(x, pads, mode, value)
        taps = np.moveaxis(result, len(batch) + 1, 0)
        for tap, where in taps_of(kernel, stride, dilation, counts):
            taps[tap] = image[(..., *where)]
    if order == "kernel":
        result = np.swapaxes(result, len(batch), len(batch) + 1)
    last = (prod(counts),) if positions == "flat" else counts
    result = result.reshape(*batch, channels * prod(kernel), *last)
    return np.moveaxis(result, len(batch), -1) if layout == "channels_last" else result


def fold(x, size, kernel, stride, dilation, pads: Pads, *, layout, order, positions):
    rank = len(kernel)
    counts = position_counts(size, kernel, stride, dilation, pads)
    width = 1 if positions == "flat" else rank
    if layout == "channels_last":
        x = np.moveaxis(x, -1, -1 - width)
    *batch, rows = x.shape[:-width]
    channels = rows // prod(kernel)
    split = (channels, prod(kernel)) if order == "channel" else (prod(kernel), channels)
    taps = np.moveaxis(x.reshape(*batch, *split, *counts), len(batch) + (order == "channel"), 0)
    # `image` is the padded image, large enough for every tap.
    reach = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(counts, stride, kernel, dilation, strict=True)]
    image = np.zeros((*batch, channels, *(max(r, 0) for r in reach)), x.dtype)
    if prod(counts):
        for tap, where in taps_of(kernel, stride, dilation, counts):
            image[(..., *where)] += taps[tap]
    else:
        image = image[(..., *[slice(0)] * rank)]
    # Cuts the image out of the padded image, where it begins at pad_begin.
    shown = [(-b, i + b - n) for (b, _), i, n in zip(pads, size, image.shape[-rank:], strict=True)]
    result = padded(image, shown)
    return np.moveaxis(result, -1 - rank, -1) if layout == "channels_last" else result


def split_blocks(x, block, first: int):
    """Splits each axis from `first` on into (count, block). Returns the array, the axes of blocks, and the axes of
    counts."""
    shape = list(x.shape)
    cut = [(shape[first + i] // b, b) for i, b in enumerate(block)]
    rest = shape[first + len(block) :]
    x = x.reshape(*shape[:first], *[n for pair in cut for n in pair], *rest)
    return x, [first + 2 * i + 1 for i in range(len(block))], [first + 2 * i for i in range(len(block))]


def space_to_depth(x, block, *, mode, layout):
    rank = len(block)
    if layout == "channels_last":
        x = np.moveaxis(x, -1, -1 - rank)
    batch = x.ndim - rank - 1
    split, offsets, counts = split_blocks(x, block, batch + 1)
    depth = [*offsets, batch] if mode == "blocks_first" else [batch, *offsets]
    moved = split.transpose(*range(batch), *depth, *counts)
    deep = moved.reshape(*x.shape[:batch], x.shape[batch] * prod(block), *[split.shape[axis] for axis in counts])
    return np.moveaxis(deep, batch, -1) if layout == "channels_last" else deep


def space_to_batch(x, block, pads: Pads, *, layout):
    rank = len(block)
    first = x.ndim - rank if layout == "channels_first" else 1
    moved = np.moveaxis(x, range(first, first + rank), range(-rank, 0))
    moved = np.moveaxis(padded(moved, pads), range(-rank, 0), range(first, first + rank))
    split, offsets, counts = split_blocks(moved, block, first)
    others = [axis for axis in range(split.ndim) if axis not in offsets]
    moved = split.transpose(*offsets, *others)
    return moved.reshape(prod(block) * x.shape[0], *moved.shape[rank + 1 :])

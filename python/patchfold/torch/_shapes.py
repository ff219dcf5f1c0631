# SPDX-License-Identifier: Apache-2.0
"""The shapes of results if some sizes are symbols: the library's own rule in a form that torch can trace.

The library itself checks calls whose sizes are all numbers. This module holds only the rules that a graph with dynamic
shapes must carry as conditions. Sizes are ints or torch.SymInts; the number of axes and of list entries is always known.
"""

from collections.abc import Sequence
from typing import Any

import torch

from .._errors import InvalidValue

Sizes = Sequence[Any]
"""Ints and SymInts."""


def require(holds: Any, op: str, argument: str, rule: str, given: object = "", expected: object = "") -> None:
    """Raises InvalidValue for a condition that is known to be false. Conditions on symbols become guards or checks at run
    time."""
    if holds is True:
        return
    if holds is False:
        raise InvalidValue(operator=op, argument=argument, rule=rule, given=str(given), expected=str(expected))
    torch._check_value(holds, lambda: f"{op}: {argument}: {rule}; given {given}, expected {expected}")


def fold_shape(
    columns: Sizes, output_size: Sizes, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes
) -> list[Any]:
    """Returns (N, C, *output_size) for (N, C*K, L), or (C, *output_size) for (C*K, L)."""
    op = "torch.fold"
    windows = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    _require_lists(op, {"output_size": output_size} | windows)
    rule = "must be (N, C * product of kernel_size, L) or without N"
    require(len(columns) in (2, 3), op, "input", rule, f"rank {len(columns)}", "rank 3 or 2")
    _require_not_empty(op, columns, 2)
    _require_each(op, "output_size", output_size, 1)
    positions = _positions(op, output_size, kernel_size, dilation, padding, stride)
    taps = product(kernel_size)
    rule = "the C*K axis must be a multiple of the product of kernel_size"
    require(columns[-2] % taps == 0, op, "input", rule, columns[-2], f"a multiple of {taps}")
    rule = "must have one column for each position of the kernel in the padded image"
    require(columns[-1] == positions, op, "input", rule, columns[-1], positions)
    return [*columns[:-2], columns[-2] // taps, *output_size]


def unfold_shape(image: Sizes, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> list[Any]:
    """Returns (N, C*K, L) for (N, C, *extents); with two extents, N may be absent."""
    op = "torch.unfold"
    _require_lists(op, {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride})
    rank = len(kernel_size)
    two = rank == 2
    rule = "must be (N, C, H, W) or (C, H, W)" if two else "must be (N, C, spatial axes), with as many as the lists have"
    expected = "rank 4 or 3" if two else f"rank {rank + 2}"
    require(len(image) == rank + 2 or (two and len(image) == 3), op, "input", rule, f"rank {len(image)}", expected)
    _require_not_empty(op, image, rank + 1)
    positions = _positions(op, image[-rank:], kernel_size, dilation, padding, stride)
    return [*image[: -rank - 1], image[-rank - 1] * product(kernel_size), positions]


def pixel_shuffle_shape(deep: Sizes, factor: Any) -> list[Any]:
    """Returns (.., C, H*r, W*r) for (.., C*r*r, H, W)."""
    op = "torch.pixel_shuffle"
    require(len(deep) >= 3, op, "input", "must be (.., C, H, W)", f"rank {len(deep)}", "rank 3 or more")
    require(factor >= 1, op, "upscale_factor", "must be at least 1", factor)
    *batch, channels, height, width = deep
    taps = factor * factor
    rule = "channels must be a multiple of the product of the blocks"
    require(channels % taps == 0, op, "input", rule, channels, f"a multiple of {taps}")
    return [*batch, channels // taps, height * factor, width * factor]


def pixel_unshuffle_shape(image: Sizes, factor: Any) -> list[Any]:
    """Returns (.., C*r*r, H, W) for (.., C, H*r, W*r)."""
    op = "torch.pixel_unshuffle"
    require(len(image) >= 3, op, "input", "must be (.., C, H, W)", f"rank {len(image)}", "rank 3 or more")
    require(factor >= 1, op, "downscale_factor", "must be at least 1", factor)
    *batch, channels, height, width = image
    rule = "spatial extents must be multiples of downscale_factor"
    for extent in (height, width):
        require(extent % factor == 0, op, "input", rule, extent, f"a multiple of {factor}")
    return [*batch, channels * factor * factor, height // factor, width // factor]


def is_channels_last(sizes: Sizes, strides: Sizes) -> bool:
    """Returns whether torch takes the strides of four axes for channels last, as it does for some row-major strides too."""
    if is_true(strides[1] == 0):
        return False
    least: Any = 0
    for axis in (1, 3, 2, 0):
        if is_true(sizes[axis] == 0) or not is_true(strides[axis] >= least):
            return False
        if axis == 0 and is_true(least == strides[1]):
            return False  # ambiguous, as for one pixel of one channel: row-major, as in torch
        least = strides[axis] * sizes[axis] if is_true(sizes[axis] > 1) else strides[axis]
    return True


def is_true(condition: Any) -> bool:
    """Returns whether a condition holds. The condition becomes a guard if possible, and counts as false for unknown
    symbols."""
    if isinstance(condition, bool):
        return condition
    from torch.fx.experimental import symbolic_shapes

    return bool(getattr(symbolic_shapes, "guard_or_false", bool)(condition))


def _require_lists(op: str, lists: dict[str, Sizes]) -> None:
    """Checks that every list has an entry for each axis, and that the entries are in torch's range."""
    (first, decisive), *others = lists.items()
    require(len(decisive) > 0, op, first, "must have one entry for each spatial axis, at least one", "an empty list")
    for name, values in others:
        rule = f"must have as many entries as {first}"
        require(len(values) == len(decisive), op, name, rule, len(values), len(decisive))
    for name, values in lists.items():
        if name != "output_size":
            _require_each(op, name, values, 0 if name == "padding" else 1)


def _require_each(op: str, name: str, values: Sizes, bound: int) -> None:
    for value in values:
        require(value >= bound, op, name, f"every entry must be at least {bound}", list(values))


def _require_not_empty(op: str, sizes: Sizes, rank_without_batch: int) -> None:
    for size in sizes[len(sizes) - rank_without_batch :]:
        require(size >= 1, op, "input", "only the batch axis may be empty", list(sizes))


def _positions(op: str, extents: Sizes, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Any:
    """Returns the number of positions; refuses an axis without a position."""
    counts = []
    for extent, kernel, step, pad, stride_ in zip(extents, kernel_size, dilation, padding, stride, strict=True):
        slack = extent + 2 * pad - step * (kernel - 1) - 1
        require(slack >= 0, op, "kernel_size", "a patch must fit into the padded image", extent)
        counts.append(slack // stride_ + 1)
    return product(counts)


def product(values: Sizes) -> Any:
    result: Any = 1
    for value in values:
        result = result * value
    return result

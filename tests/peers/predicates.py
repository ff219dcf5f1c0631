# SPDX-License-Identifier: Apache-2.0
"""The conditions (`where`) of the table of expected results. Each function returns whether a problem meets its condition;
the problem need not be valid."""

from collections.abc import Callable
from itertools import product
from math import prod
from typing import Any

import numpy
from problem import Problem
from windows import Window

from dialects import facts_of, window_of

Predicate = Callable[[Problem], bool]


def _window(problem: Problem) -> Window | None:
    """Returns the window of a problem, or None if the attributes describe no window."""
    if facts_of(problem.op).window is None:
        return None
    try:
        window = window_of(problem)
        return window if len(window.positions) == len(window.image) else None
    except (ValueError, IndexError, ZeroDivisionError, TypeError):
        return None


def _flat(value: Any) -> list[int]:
    if isinstance(value, (tuple, list)):
        return [number for entry in value for number in _flat(entry)]
    return [value] if isinstance(value, int) else []


def _entries(problem: Problem, *names: str) -> list[int]:
    return [number for name in names for number in _flat(problem.attributes.get(name, ()))]


def not_two_axes(problem: Problem) -> bool:
    """Returns whether the problem has a window whose number of spatial axes is not two."""
    w = _window(problem)
    return w is not None and len(w.image) != 2


def channels_first(problem: Problem) -> bool:
    return problem.attributes.get("data_format", "NHWC") == "NCHW"


def many_blocked_axes(problem: Problem) -> bool:
    """Returns whether blocks have more than four axes. Leading and trailing axes with block 1 and no pads do not count."""
    blocks = list(problem.attributes["block_shape"])
    pads = [any(pair) for pair in problem.attributes.get("paddings", problem.attributes.get("crops", ()))]
    plain = [block == 1 and not pad for block, pad in zip(blocks, pads, strict=False)]
    while plain and plain[0]:
        plain.pop(0)
    while plain and plain[-1]:
        plain.pop()
    return len(plain) > 4


def _pixels(w: Window, extents: tuple[int, ...]) -> set[tuple[int, ...]]:
    """Returns the set of (row of the columns, position.., channel, pixel..) of all column elements that lie inside the
    image. Splits the index of a row into the channel and the tap on each axis as if `extents` were the kernel's extents.
    """
    found = set()
    for row in range(w.channels * prod(w.kernel)):
        rest, taps = row, []
        for extent in reversed(extents):
            rest, tap = divmod(rest, extent)
            taps.insert(0, tap)
        for position in product(*map(range, w.positions)):
            axes = zip(position, taps, w.stride, w.dilation, w.pads, strict=True)
            pixel = [at * stride + tap * dilation - begin for at, tap, stride, dilation, (begin, _) in axes]
            if all(0 <= at < extent for at, extent in zip(pixel, w.image, strict=True)):
                found.add((row, *position, rest, *pixel))
    return found


def taps_decoded_with_dilation(problem: Problem) -> bool:
    """Returns whether a fold that splits row indices by the extents of the dilated kernel adds columns to wrong pixels.
    Always False for two spatial axes.
    """
    w = _window(problem)
    if w is None or len(w.image) == 2 or 0 in (*w.batch, *w.positions) or w.effective == w.kernel:
        return False
    return _pixels(w, w.kernel) != _pixels(w, w.effective)


def empty_data(problem: Problem) -> bool:
    return 0 in problem.data.shape


def empty_data_of_a_block(problem: Problem) -> bool:
    """Returns whether the data is empty and the block (downscale_factor) is not 1."""
    return empty_data(problem) and problem.attributes.get("downscale_factor", 1) != 1


def no_positions(problem: Problem) -> bool:
    w = _window(problem)
    return w is not None and 0 in w.positions


def surplus_entries(problem: Problem) -> bool:
    """Returns whether an attribute is a list with more entries than the data has axes."""
    lists = [v for v in problem.attributes.values() if isinstance(v, (tuple, list))]
    return any(len(v) > problem.data.ndim for v in lists)


def negative_pads(problem: Problem) -> bool:
    return any(number < 0 for number in _entries(problem, "padding", "paddings", "pads", "pads_begin", "pads_end"))


def strides_below_one(problem: Problem) -> bool:
    return any(number < 1 for number in _entries(problem, "stride", "strides"))


def offset_beyond_data(problem: Problem) -> bool:
    """Returns whether SpaceToBatch has an offset at which the element of every block lies in the end pads."""
    given = problem.attributes
    if empty_data(problem):
        return False
    axes = zip(given["block_shape"], given["pads_begin"], problem.data.shape, strict=False)
    return any(block - 1 - begin >= extent for block, begin, extent in axes)


def dilation_below_one(problem: Problem) -> bool:
    return any(number < 1 for number in _entries(problem, "dilation", "dilations", "rates"))


def short_lists(problem: Problem) -> bool:
    """Returns whether an attribute is a list of fewer than two entries, the number of axes of a picture."""
    return any(len(v) < 2 for v in problem.attributes.values() if isinstance(v, (tuple, list)))


def blocks_below_one(problem: Problem) -> bool:
    return any(number < 1 for number in _entries(problem, "block_shape"))


def sizes_below_one(problem: Problem) -> bool:
    return any(number < 1 for number in _entries(problem, "sizes"))


def signalling_nan_outside_four_or_five_axes(problem: Problem) -> bool:
    """Returns whether a SpaceToBatch that is more than a copy (a block above 1, or pads) gets signalling NaNs of
    float8_e5m2, in data that has neither 4 nor 5 axes."""
    if max(problem.attributes["block_shape"], default=1) == 1 and not any(_entries(problem, "pads_begin", "pads_end")):
        return False
    bits = numpy.ascontiguousarray(problem.data).reshape(-1).view(numpy.uint8)
    return problem.data.ndim not in (4, 5) and bool((bits & 0x7F == 0x7D).any())


def minus_zero_or_signalling_nan_outside_four_or_five_axes(problem: Problem) -> bool:
    """Returns whether float8 data with neither 4 nor 5 axes has minus zeros, or signalling NaNs of float8_e5m2."""
    bits = numpy.ascontiguousarray(problem.data).reshape(-1).view(numpy.uint8)
    lost = (bits == 0x80) | ((bits & 0x7F == 0x7D) & (problem.dtype == "float8_e5m2"))
    return problem.data.ndim not in (4, 5) and bool(lost.any())


def empty_data_of_six_axes(problem: Problem) -> bool:
    return empty_data(problem) and problem.data.ndim > 5


def pads_around_nothing(problem: Problem) -> bool:
    """Returns whether the data of SpaceToBatch is empty, and its pads make a result that is not empty."""
    given, shape = problem.attributes, problem.data.shape
    padded = [sum(axis) for axis in zip(shape, given["pads_begin"], given["pads_end"], strict=False)]
    return empty_data(problem) and 0 not in padded


def no_columns(problem: Problem) -> bool:
    """Returns whether the image has pixels but there are no columns, so that the result is zeros."""
    return problem.data.shape[-1:] == (0,) and 0 not in (*problem.data.shape[:-1], *problem.attributes["output_size"])


def empty_batch_or_channels(problem: Problem) -> bool:
    return 0 in problem.data.shape[:2]


def empty_channels(problem: Problem) -> bool:
    return problem.data.shape[1:2] == (0,)


def lengths_differ(problem: Problem) -> bool:
    """Returns whether the lists among the attributes differ in length. `pads`, with two entries for each axis, counts
    half."""
    lengths = {
        len(value) / (2 if name == "pads" else 1) for name, value in problem.attributes.items() if isinstance(value, tuple)
    }
    return len(lengths) > 1


def empty_and_indivisible(problem: Problem) -> bool:
    """Returns whether the data is empty, and an extent or the channels are no multiple of the block."""
    shape = problem.data.shape
    if problem.op == "onnx.Col2Im-18":
        taps = prod(problem.attributes["block_shape"])
        return empty_data(problem) and len(shape) > 1 and taps > 0 and shape[-2] % taps != 0
    block = problem.attributes["blocksize"]
    if not empty_data(problem) or block < 1:
        return False
    if "SpaceToDepth" in problem.op:
        return any(extent % block for extent in shape[2:])
    return shape[1] % block**2 != 0


def unknown_mode(problem: Problem) -> bool:
    return problem.attributes.get("mode", "DCR") not in ("DCR", "CRD")


def batch_entry(problem: Problem) -> bool:
    """Returns whether the batch axis has a block other than 1, a pad or a crop."""
    given = problem.attributes
    firsts = [given[name][0] for name in ("pads_begin", "pads_end", "crops_begin", "crops_end") if name in given]
    return any(firsts) or given["block_shape"][0] != 1


def three_entries(problem: Problem) -> bool:
    """Returns whether an attribute is a list of more than two entries, the number of axes of a picture."""
    return any(len(v) > 2 for v in problem.attributes.values() if isinstance(v, (tuple, list)))


def nan(problem: Problem) -> bool:
    return problem.data.dtype.kind not in "iub" and bool(numpy.isnan(problem.data).any())


def empty_list(problem: Problem) -> bool:
    return () in problem.attributes.values()


def more_than_three_axes(problem: Problem) -> bool:
    return problem.data.ndim > 3


PREDICATES: dict[str, Predicate] = {
    name: value
    for name, value in list(globals().items())
    if callable(value) and getattr(value, "__module__", "") == __name__ and not name.startswith("_")
}

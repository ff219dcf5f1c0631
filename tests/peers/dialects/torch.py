# SPDX-License-Identifier: Apache-2.0
"""torch's operators: how their settings are drawn, and the features that must occur in a run."""

from math import prod
from typing import Any

from definitions import combine, depth_to_space, extract, space_to_depth
from drawing import Draw, Fault, Setting, chance, number
from facts import (
    BATCHES,
    BLOCKS,
    COLUMNS,
    DILATED,
    EVEN_CHANNELS,
    PADDED,
    RANKS,
    WINDOW,
    Facts,
    axes,
    entries,
    lengths,
)
from problem import Array, Problem
from windows import Rules, Window, block_axis, draw_window, entries_of, few, give, ones


def windows(draw: Draw, op: str) -> Setting:
    fold = op == "torch.fold"
    # torch takes two spatial axes only; patchfold takes as many as the lists have entries.
    rank = number(draw, 1, 3) if chance(draw, 4) else 2
    unbatched = (fold or rank == 2) and chance(draw, 25)
    rules = Rules(symmetric=True, no_positions=False, zero_channels=False, batch_axes=0 if unbatched else 1)
    w = draw_window(draw, rank, rules)
    begins = tuple(begin for begin, _ in w.pads)

    def value(values: tuple[int, ...]) -> Any:
        alike = len(values) == 2 and values[0] == values[1]
        return values[0] if alike and chance(draw, 50) else values

    attributes: dict[str, Any] = {"output_size": value(w.image)} if fold else {}
    attributes["kernel_size"] = value(w.kernel)
    give(draw, attributes, "dilation", value(w.dilation), ones(w.dilation))
    give(draw, attributes, "padding", value(begins), not any(begins))
    give(draw, attributes, "stride", value(w.stride), ones(w.stride))
    return Setting(attributes, w.columns if fold else w.first())


def window(problem: Problem) -> Window:
    given, shape = problem.attributes, problem.data.shape
    lists = [value for value in given.values() if isinstance(value, (tuple, list))]
    rank = len(lists[0]) if lists else 2
    if isinstance(given.get("output_size"), (tuple, list)):
        rank = len(given["output_size"])
    kernel = entries_of(given["kernel_size"], rank)
    stride, dilation = (entries_of(given.get(name, 1), rank) for name in ("stride", "dilation"))
    pads = tuple((pad, pad) for pad in entries_of(given.get("padding", 0), rank))
    if "output_size" in given:
        image, batch, channels = entries_of(given["output_size"], rank), shape[:-2], shape[-2] // prod(kernel)
    else:
        image, batch, channels = shape[-rank:], shape[: -rank - 1], shape[-rank - 1]
    return Window(image, kernel, stride, dilation, pads, False, batch, channels)


def summed(problem: Problem) -> Array:
    return combine(problem.data, window(problem))


def extracted(problem: Problem) -> Array:
    w = window(problem)
    return extract(problem.data.reshape(prod(w.batch), w.channels, *w.image), w).reshape(w.columns)


def shuffle(draw: Draw, op: str) -> Setting:
    block = number(draw, 1, 4)
    unshuffle = op.endswith("unshuffle")
    c, h, w = few(draw), *(block_axis(draw, block, False, 4)[0] for _ in range(2))
    lead = tuple(few(draw) for _ in range((1, 0, 2, 3)[number(draw, 0, 3)]))
    deep = (c * block * block, h, w)
    wide = (c, h * block, w * block)
    name = "downscale_factor" if unshuffle else "upscale_factor"
    return Setting({name: block}, (*lead, *(wide if unshuffle else deep)))


def shuffled(problem: Problem) -> Array:
    (block,) = problem.attributes.values()
    return (space_to_depth if problem.op.endswith("unshuffle") else depth_to_space)(problem.data, (block,) * 2, False)


_WINDOWS = (
    entries(0, "kernel_size", "stride", "dilation") + entries(-1, "kernel_size", "stride", "dilation", "padding")
    + lengths("kernel_size", "stride", "dilation", "padding") + RANKS
)
_SHOWN = WINDOW | DILATED | PADDED | BATCHES | {"2 axes", "numbers for lists"}
_SHUFFLED = BLOCKS | {"block 1"} | axes(3, 4, 5, 6, what="axes of data")

OPERATORS = {
    "fold": Facts(
        windows,
        _WINDOWS + COLUMNS + entries(0, "output_size") + lengths("output_size") + [Fault("extent", "-2", -1)],
        _SHOWN,
        summed,
        window,
    ),
    "unfold": Facts(windows, [*_WINDOWS, *entries(9, "kernel_size")], _SHOWN, extracted, window),
    "pixel_shuffle": Facts(
        shuffle, [*entries(0, "upscale_factor"), *entries(-1, "upscale_factor"), *RANKS, *EVEN_CHANNELS], _SHUFFLED,
        shuffled,
    ),
    "pixel_unshuffle": Facts(
        shuffle,
        [
            *entries(0, "downscale_factor"), *entries(-1, "downscale_factor"), *RANKS,
            Fault("extent", "-1", 1), Fault("extent", "-2", 1),
        ],
        _SHUFFLED | {"extent > 64"},
        shuffled,
    ),
}

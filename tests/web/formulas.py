# SPDX-License-Identifier: Apache-2.0
"""The operators by their definitions, index by index. Shares no code with the library or the page."""

import itertools
import math
import random


def ravel(at, shape):
    number = 0
    for each, extent in zip(at, shape, strict=True):
        number = number * extent + each
    return number


def source_of(extent, mode, at):
    """Returns the coordinate whose element numpy.pad's mode gives at the coordinate `at`; None for constant padding."""
    if 0 <= at < extent:
        return at
    if mode == "constant":
        return None
    if mode == "edge":
        return min(max(at, 0), extent - 1)
    if mode == "wrap":
        return at % extent
    period = 2 * extent if mode == "symmetric" else max(1, 2 * (extent - 1))
    at %= period
    return at if at < extent else period - at - (1 if mode == "symmetric" else 0)


def pads_of(rule, pads, extent, kernel, stride, dilation):
    if rule == "explicit":
        return pads
    if rule == "valid":
        return (0, 0)
    count = -(-extent // stride)
    total = max(0, (count - 1) * stride + dilation * (kernel - 1) + 1 - extent)
    small, large = total // 2, total - total // 2
    return (small, large) if rule == "same_upper" else (large, small)


def unfold_trace(state):
    """Returns (shape of the columns, image element of each column element or -1) for patchfold's unfold and fold."""
    batch, channels, *spatial = state["shape"]
    kernel, stride, dilation = state["kernel"], state["stride"], state["dilation"]
    pads = [
        pads_of(state["padding_rule"], state["padding"][i], spatial[i], kernel[i], stride[i], dilation[i])
        for i in range(len(spatial))
    ]
    counts = [
        (extent + sum(pads[i]) - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i, extent in enumerate(spatial)
    ]
    taps, first = math.prod(kernel), state["layout"] == "channels_first"
    image_shape = [batch, channels, *spatial] if first else [batch, *spatial, channels]
    grid = [math.prod(counts)] if state["positions"] == "flat" else counts
    shape = [batch, channels * taps, *grid] if first else [batch, *grid, channels * taps]
    mode = state["padding_mode"] if state["operator"] == "unfold" else "constant"
    trace = [None] * math.prod(shape)
    for n, c in itertools.product(range(batch), range(channels)):
        for tap_number, tap in enumerate(itertools.product(*map(range, kernel))):
            for number, position in enumerate(itertools.product(*map(range, counts))):
                at = [
                    source_of(spatial[i], mode, position[i] * stride[i] + tap[i] * dilation[i] - pads[i][0])
                    for i in range(len(spatial))
                ]
                entry = c * taps + tap_number if state["order"] == "channel" else tap_number * channels + c
                place = [number] if state["positions"] == "flat" else list(position)
                own = [n, entry, *place] if first else [n, *place, entry]
                source = [n, c, *at] if first else [n, *at, c]
                trace[ravel(own, shape)] = -1 if None in at else ravel(source, image_shape)
    return shape, trace


def random_state(draw: random.Random, operator):
    """Returns a state of patchfold's unfold or fold that the library accepts."""
    axes = draw.randint(1, 3)
    kernel = [draw.randint(1, 3) for _ in range(axes)]
    dilation = [draw.randint(1, 2) for _ in range(axes)]
    spatial = [dilation[i] * (kernel[i] - 1) + 1 + draw.randint(0, 3) for i in range(axes)]
    modes = ["constant", "edge", "reflect", "symmetric", "wrap"]
    rule = draw.choice(["explicit", "explicit", "valid", "same_upper", "same_lower"])
    return {
        "operator": operator,
        "dialect": "patchfold",
        "shape": [draw.randint(1, 2), draw.randint(1, 3), *spatial],
        "layout": draw.choice(["channels_first", "channels_last"]),
        "kernel": kernel,
        "stride": [draw.randint(1, 3) for _ in range(axes)],
        "dilation": dilation,
        "padding": [[draw.randint(0, min(2, extent - 1)), draw.randint(0, min(2, extent - 1))] for extent in spatial],
        "padding_rule": rule,
        "padding_mode": draw.choice(modes) if rule in ("explicit", "valid") else "constant",
        "order": draw.choice(["channel", "kernel"]),
        "positions": draw.choice(["flat", "grid"]),
        "dtype": draw.choice(["float32", "float64", "int32", "int64"]),
    }

# SPDX-License-Identifier: Apache-2.0
"""Random calls of operators, to compare a device with the processor bit by bit."""

from __future__ import annotations

import functools
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import patchfold
import torch

sys.path.append(str(Path(__file__).resolve().parent.parent / "python"))
from calls import Arguments, example, newest, variants

SUMMABLE = ("bool", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64")


class Call(NamedTuple):
    op: str
    shape: tuple[int, ...]
    dtype: torch.dtype
    layout: str
    arguments: dict[str, Any]


def windows(rng: random.Random) -> tuple[str, tuple[int, ...], dict[str, Any]]:
    """Returns an unfold or a fold with random windows of one to three axes: operator, shape of the data, arguments."""
    rank = rng.randint(1, 3)
    image = tuple(rng.randint(1, (300, 40, 12)[rank - 1]) for _ in range(rank))

    def pick(least: int, most: int) -> tuple[int, ...]:
        return tuple(rng.randint(least, most) for _ in range(rank))

    given: dict[str, Any] = {"kernel_size": pick(1, 4), "stride": pick(1, 4), "dilation": pick(1, 3)}
    given["padding"] = [(rng.randint(0, 3), rng.randint(0, 3)) for _ in range(rank)]
    given |= {"layout": rng.choice(("channels_first", "channels_last")), "order": rng.choice(("channel", "kernel"))}
    given["positions"] = rng.choice(("flat", "grid"))
    first, last = (rng.randint(1, 3),), (rng.randint(1, 40),)
    shape = (*first, *last, *image) if given["layout"] == "channels_first" else (*first, *image, *last)
    if rng.random() < 0.5:
        try:
            columns = patchfold.output_shape("unfold", shape, **given)
            return "fold", columns, given | {"output_size": image, "reduce": rng.choice(("sum", "mean"))}
        except patchfold.Error:  # a window is larger than the image
            pass
    mode = rng.choice(("constant", "edge", "reflect", "symmetric", "wrap"))
    return "unfold", shape, given | {"padding_mode": mode}


@functools.cache
def examples() -> list[tuple[str, tuple[int, ...], list[Arguments]]]:
    """Returns (name, shape of the data, arguments of calls that the operator may refuse) for each operator with data."""
    return [(spec.name, example(spec)[0][0].shape, list(variants(spec))) for spec in newest() if spec.data_input]


def draw(seed: int) -> Iterator[Call]:
    """Yields random calls without end; the processor refuses some. Calls with the same seed are the same."""
    rng = random.Random(seed)
    while True:
        if rng.random() < 0.5:
            op, shape, arguments = windows(rng)
        else:
            op, shape, given = rng.choice(examples())
            arguments = rng.choice(given)
        yield Call(
            op, shape, getattr(torch, rng.choice(SUMMABLE)), rng.choice(("plain", "reversed axes", "gaps")), arguments
        )


def data_of(call: Call, seed: int, device: str) -> torch.Tensor:
    """Returns random elements: all bits, but no NaN, whose bits in sums the processor alone determines."""
    shape = call.shape[::-1] if call.layout == "reversed axes" else call.shape
    held = (*shape[:-1], 2 * shape[-1]) if call.layout == "gaps" else shape
    drawn = np.random.default_rng(seed).integers(0, 256, (*held, call.dtype.itemsize), np.uint8)
    if call.dtype == torch.bool:
        drawn %= 2
    tensor = torch.from_numpy(drawn).view(call.dtype)[..., 0]
    if call.dtype.is_floating_point or call.dtype.is_complex:
        tensor = torch.where(torch.isfinite(tensor), tensor, torch.ones_like(tensor))
    tensor = tensor.to(device)
    return tensor.permute(*reversed(range(tensor.dim()))) if call.layout == "reversed axes" else tensor[..., : shape[-1]]


def bits(tensor: torch.Tensor) -> bytes:
    """Returns the bytes of a tensor's elements, those of NaNs all alike."""
    tensor = tensor.cpu().contiguous()
    if tensor.dtype.is_complex:
        tensor = torch.view_as_real(tensor)
    if tensor.dtype.is_floating_point:
        tensor = torch.where(torch.isnan(tensor), torch.full_like(tensor, float("nan")), tensor)
    return tensor.flatten().view(torch.uint8).numpy().tobytes()


def wrong(count: int, seed: int, device: str) -> Iterator[Call]:
    """Yields those of `count` calls whose results on the device and on the processor differ."""
    calls = draw(seed)
    while count > 0:
        call = next(calls)
        try:
            expected = patchfold.run(call.op, data_of(call, count, "cpu"), **call.arguments)
        except patchfold.Error:
            continue
        result = patchfold.run(call.op, data_of(call, count, device), **call.arguments)
        if result.shape != expected.shape or result.device.type != device or bits(result) != bits(expected):
            yield call
        count -= 1

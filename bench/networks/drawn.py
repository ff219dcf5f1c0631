# SPDX-License-Identifier: Apache-2.0
"""Draws calls for bench/networks/measure.py: most from bench/networks/calls.jsonl, with random batches and types.

Groups:
  feature maps  the windows of convolutions, cut (unfold) and added up (fold)
  tokens        unfold, fold and pixel shuffles that models call themselves
  frames        signals cut into frames of 400 samples every 160, as speech models do, or of 1024 every 256, and overlap-add
  pictures      pictures of 224 to 1024 pixels a side cut into patches, and put together
  copies        views that models make contiguous
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

Extents: TypeAlias = tuple[int, ...]

RECORDING = Path(__file__).with_name("calls.jsonl")
BATCHES = (1, 2, 4, 8, 16, 32)
DTYPES = ("float32",) * 6 + ("float16",) * 2 + ("float64",)
BYTES = {"float16": 2, "float32": 4, "float64": 8}
LEAST, MOST = 20e3, 200e6  # the least and the most bytes that a call reads and writes
FRAMES = ((400, 160), (1024, 256))
SAMPLES = (16000, 48000, 131072, 160000)
SIDES = (224, 256, 336, 384, 448, 512, 640, 768, 1024)
# unfold of T2T-ViT, which timm lacks: channels, side of the picture, kernel, stride, padding.
SOFT_SPLITS = ((3, 224, 7, 4, 2), (64, 56, 3, 2, 1), (64, 28, 3, 2, 1))
# Pixel shuffles of models that timm lacks: channels, side of the picture, block.
SHUFFLES = (
    ("EDSR", "pixel_shuffle", 256, 96, 2),
    ("EDSR", "pixel_shuffle", 256, 192, 2),
    ("ESPCN", "pixel_shuffle", 27, 256, 3),
    ("InternVL", "pixel_unshuffle", 1024, 32, 2),
    ("Real-ESRGAN", "pixel_unshuffle", 3, 512, 2),
)


@dataclass(frozen=True)
class Call:
    """A call on a picture or view of shape `shape`. Shuffles have their block in `kernel`, copies have strides in
    elements."""

    group: str
    op: str
    dtype: str
    shape: Extents
    model: str
    kernel: Extents = ()
    stride: Extents = ()
    padding: Extents = ()
    dilation: Extents = ()
    strides: Extents = ()

    @property
    def positions(self) -> Extents:
        axes = zip(self.shape[2:], self.kernel, self.stride, self.padding, self.dilation, strict=True)
        return tuple((extent + 2 * p - d * (k - 1) - 1) // s + 1 for extent, k, s, p, d in axes)

    @property
    def columns(self) -> Extents:
        return (self.shape[0], self.shape[1] * math.prod(self.kernel), math.prod(self.positions))

    @property
    def bytes(self) -> int:
        """Returns the bytes that the call reads and writes, each element counted once."""
        size = BYTES[self.dtype]
        if self.op == "copy":
            read = math.prod(n for n, stride in zip(self.shape, self.strides, strict=True) if stride)
            return (read + math.prod(self.shape)) * size
        pictures = math.prod(self.shape)
        return (pictures + (pictures if self.op.startswith("pixel") else math.prod(self.columns))) * size

    @property
    def fits(self) -> bool:
        if self.op == "copy" or self.op.startswith("pixel"):
            return LEAST < self.bytes < MOST
        return min(self.positions) > 0 and LEAST < self.bytes < MOST

    def __str__(self) -> str:
        words = [self.op, self.dtype, "x".join(map(str, self.shape))]
        if self.op.startswith("pixel"):
            words.append(f"block={self.kernel[0]}")
        elif self.op == "copy":
            words.append(f"strides={','.join(map(str, self.strides))}")
        else:
            plain = {"stride": 1, "padding": 0, "dilation": 1}
            for name in ("kernel", "stride", "padding", "dilation"):
                values = getattr(self, name)
                if set(values) != {plain.get(name)}:
                    words.append(f"{name}={','.join(map(str, values if len(set(values)) > 1 else values[:1]))}")
        return " ".join(words)


def recorded() -> list[dict[str, Any]]:
    _, *lines = RECORDING.read_text(encoding="utf-8").splitlines()
    calls = [(call, model["model"]) for model in map(json.loads, lines) for call in model["calls"]]
    calls.sort(key=lambda made: (made[0]["op"], made[0]["shape"], json.dumps(made[0])))
    return [call | {"model": model} for call, model in calls]


def origin() -> dict[str, Any]:
    """Returns the first line of calls.jsonl, which names the origin of the calls."""
    with RECORDING.open(encoding="utf-8") as lines:
        first: dict[str, Any] = json.loads(next(lines))
    return first


def _is_patches(call: dict[str, Any]) -> bool:
    return call["op"] == "conv" and call["shape"][1] == 3 and call["kernel"] == call.get("stride")


def _windows(group: str, op: str, shape: list[int], call: dict[str, Any]) -> Call:
    rank = len(shape) - 2
    steps = {name: tuple(call.get(name, [plain] * rank)) for name, plain in (("stride", 1), ("padding", 0), ("dilation", 1))}
    return Call(group, op, "", tuple(shape), call["model"], tuple(call["kernel"]), **steps)


def _as_is(group: str, call: dict[str, Any], rng: random.Random) -> Call:
    op, shape = call["op"], call["shape"]
    if op == "copy":
        # Adds a batch axis of extent 1, whose stride is the number of elements that the picture spans in memory.
        span = max(extent * stride for extent, stride in zip(shape, call["strides"], strict=True))
        return Call(group, op, "", (1, *shape), call["model"], strides=(span, *call["strides"]))
    if op.startswith("pixel"):
        return Call(group, op, "", tuple(shape), call["model"], kernel=(call["block"],) * 2)
    return _windows(group, rng.choice(("unfold", "fold")) if op == "conv" else op, shape, call)


def _frames(rng: random.Random) -> Call:
    kernel, stride = rng.choice(FRAMES)
    shape = (1, 1, rng.choice(SAMPLES))
    return Call("frames", rng.choice(("unfold", "fold")), "", shape, "speech", (kernel,), (stride,), (0,), (1,))


def _sources() -> dict[str, Callable[[random.Random], Call]]:
    calls = recorded()
    maps = [call for call in calls if call["op"] == "conv" and not _is_patches(call)]
    patches = [call for call in calls if _is_patches(call)]
    copies = [call for call in calls if call["op"] == "copy"]
    tokens = [call for call in calls if call["op"] not in ("conv", "copy")]
    for channels, side, kernel, stride, padding in SOFT_SPLITS:
        steps = {"kernel": [kernel] * 2, "stride": [stride] * 2, "padding": [padding] * 2}
        tokens.append({"op": "unfold", "shape": [1, channels, side, side], "model": "T2T-ViT", **steps})
    for model, op, channels, side, block in SHUFFLES:
        tokens.append({"op": op, "shape": [1, channels, side, side], "block": block, "model": model})

    def pictures(rng: random.Random) -> Call:
        call, side = rng.choice(patches), rng.choice(SIDES)
        return _windows("pictures", rng.choice(("unfold", "fold")), [1, 3, side, side], call)

    return {
        "feature maps": lambda rng: _as_is("feature maps", rng.choice(maps), rng),
        "tokens": lambda rng: _as_is("tokens", rng.choice(tokens), rng),
        "frames": _frames,
        "pictures": pictures,
        "copies": lambda rng: _as_is("copies", rng.choice(copies), rng),
    }


GROUPS = ("feature maps", "tokens", "frames", "pictures", "copies")


def draw(seed: int, count: int, groups: tuple[str, ...] = GROUPS) -> Iterator[Call]:
    """Yields `count` different calls of each group. The random numbers of a group do not depend on the other groups."""
    for group, source in _sources().items():
        if group not in groups:
            continue
        rng, seen = random.Random(f"{seed} {group}"), set[str]()
        for _ in range(1000 * count):
            if len(seen) == count:
                break
            call = source(rng)
            call = replace(call, dtype=rng.choice(DTYPES), shape=(rng.choice(BATCHES), *call.shape[1:]))
            if call.fits and str(call) not in seen:
                seen.add(str(call))
                yield call

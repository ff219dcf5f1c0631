# SPDX-License-Identifier: Apache-2.0
"""The problems of bench/problems.txt as every system needs them: geometry, data, and a view that all results share."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import patchfold

Array: TypeAlias = np.ndarray[Any, Any]
Extents: TypeAlias = tuple[int, ...]

DTYPES: dict[str, np.dtype[Any]] = {
    "u8": np.dtype(np.uint8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "c64": np.dtype(np.complex64),
    "c128": np.dtype(np.complex128),
}
LIST = Path(__file__).with_name("problems.txt")
# A large page, the alignment of the program's own buffers.
ALIGNMENT = 1 << 21
# The number of random elements; a prime, so that rows differ.
DRAWN = 1000003


def _value(text: str) -> Any:
    """`3` is a number, `3,` a list of one, anything else a word."""
    try:
        numbers = tuple(int(word) for word in text.split(",") if word)
    except ValueError:
        return text
    return numbers if "," in text else numbers[0]


def _each(value: int | Extents, rank: int) -> Extents:
    return (value,) * rank if isinstance(value, int) else value


@dataclass(frozen=True)
class Window:
    """The window on the spatial axes. A block is a window whose stride is its kernel."""

    image: Extents
    kernel: Extents
    stride: Extents
    dilation: Extents
    pads: tuple[tuple[int, int], ...]

    @property
    def rank(self) -> int:
        return len(self.image)

    @property
    def reach(self) -> Extents:
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation, strict=True))

    @property
    def positions(self) -> Extents:
        axes = zip(self.image, self.pads, self.reach, self.stride, strict=True)
        return tuple((i + sum(p) - r) // s + 1 for i, p, r, s in axes)

    @property
    def same_pads(self) -> tuple[tuple[int, int], ...]:
        """Returns the pads of the padding rule SAME: the odd element at the end."""
        axes = zip(self.image, self.reach, self.stride, strict=True)
        totals = [max(0, (math.ceil(i / s) - 1) * s + r - i) for i, r, s in axes]
        return tuple((total // 2, total - total // 2) for total in totals)

    @property
    def terms(self) -> int:
        """Returns the largest number of patches that meet in a pixel."""
        return math.prod(math.ceil(k / s) for k, s in zip(self.kernel, self.stride, strict=True))


@dataclass
class Case:
    """A problem: a line of the list."""

    text: str
    op: str
    dtype: str
    shape: Extents
    arguments: dict[str, Any]

    @property
    def kind(self) -> str:
        """Returns the neutral operator, even if the line names a dialect's."""
        return "unfold" if self.op == "tensorflow.ExtractImagePatches" else self.op

    @property
    def last(self) -> bool:
        """Returns whether the channels are the last axis, on both sides."""
        return self.kind != self.op or self.arguments.get("layout") == "channels_last"

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return DTYPES[self.dtype]

    @functools.cached_property
    def output(self) -> Extents:
        return tuple(patchfold.output_shape(self.op, self.shape, **self.arguments))

    @property
    def bytes(self) -> int:
        """Returns the bytes that are read and written."""
        return (math.prod(self.shape) + math.prod(self.output)) * self.numpy_dtype.itemsize

    @functools.cached_property
    def window(self) -> Window:
        given = self.arguments
        spatial = self.shape[1:-1] if self.last else self.shape[2:]
        if self.kind != self.op:
            kernel, stride, dilation = (given[name][1:-1] for name in ("ksizes", "strides", "rates"))
            window = Window(spatial, kernel, stride, dilation, ((0, 0),) * len(spatial))
            return replace(window, pads=window.same_pads) if given["padding"] == "SAME" else window
        image = given.get("output_size", spatial)
        rank = len(image)
        if "block" in given:
            block = _each(given["block"], rank)
            if self.kind in ("depth_to_space", "batch_to_space"):
                image = tuple(i * b for i, b in zip(image, block, strict=True))
            return Window(image, block, block, (1,) * rank, ((0, 0),) * rank)
        kernel, stride, dilation = (_each(given.get(name, 1), rank) for name in ("kernel_size", "stride", "dilation"))
        return Window(image, kernel, stride, dilation, tuple((pad, pad) for pad in _each(given.get("padding", 0), rank)))

    @property
    def batch(self) -> int:
        """Returns the batch of the image."""
        return self.shape[0] // (math.prod(self.window.kernel) if self.kind == "batch_to_space" else 1)

    @property
    def channels(self) -> int:
        """Returns the channels of the image: the other side has as many for each tap."""
        taps = math.prod(self.window.kernel) if self.kind in ("fold", "depth_to_space") else 1
        return self.shape[-1 if self.last else 1] // taps

    # The next methods return views without a copy, so that results in any order can be compared element by element.

    def picture(self, image: Array) -> Array:
        """Returns an image as (N, C, pixels..)."""
        return np.moveaxis(image, -1, 1) if self.last else image

    def patches(self, columns: Array) -> Array:
        """Returns the columns of unfold as (N, C, taps.., positions..)."""
        n, c, kernel, positions = self.batch, self.channels, self.window.kernel, self.window.positions
        if not self.last:
            return columns.reshape((n, c, *kernel, *positions))
        return arranged(columns.reshape((n, *positions, *kernel, c)), patches_of_grid(self.window.rank))

    def blocks(self, deep: Array) -> Array:
        """Returns blocks, which lie in the batch or in the channels, as (offsets.., N, C, positions..)."""
        n, c, kernel, r = self.batch, self.channels, self.window.kernel, self.window.rank
        positions = self.window.positions
        if self.kind.endswith("batch") or self.kind.startswith("batch"):
            split = deep.reshape((*kernel, n, *deep.shape[1:]))
            return np.moveaxis(split, -1, r + 1) if self.last else split
        if self.last:
            split = deep.reshape((n, *positions, *kernel, c))
            return arranged(split, (*range(r + 1, 2 * r + 1), 0, 2 * r + 1, *range(1, r + 1)))
        split = deep.reshape((n, *kernel, c, *positions))
        return arranged(split, (*range(1, r + 1), 0, *range(r + 1, 2 * r + 2)))

    def cut(self, image: Array) -> Array:
        """Returns the image side of a block operator in the axes of blocks()."""
        r = self.window.rank
        pairs = zip(self.window.positions, self.window.kernel, strict=True)
        extents = (self.batch, self.channels, *(extent for pair in pairs for extent in pair))
        split = self.picture(image).reshape(extents)
        return arranged(split, (*range(3, 2 * r + 3, 2), 0, 1, *range(2, 2 * r + 2, 2)))

    def canonical(self, result: Array) -> Array:
        """Returns a result of patchfold's shape in the order in which results are compared."""
        if self.kind == "unfold":
            return self.patches(result)
        return self.blocks(result) if self.kind.startswith("space_to") else self.picture(result)

    def run(self, x: Array, out: Array) -> Callable[[], Any]:
        """Returns the call of patchfold that is timed."""
        return lambda: patchfold.run(self.op, x, out=out, **self.arguments)


def arranged(array: Array, axes: Extents) -> Array:
    """Returns a view with the axes in another order."""
    view: Array = array.transpose(axes)
    return view


def patches_of_grid(rank: int) -> Extents:
    """Returns the axes that bring (N, positions.., taps.., C) to (N, C, taps.., positions..)."""
    return (0, 2 * rank + 1, *range(rank + 1, 2 * rank + 1), *range(1, rank + 1))


def parse(line: str) -> Case:
    """Returns the problem of a line "TARGET PROBLEM"; the target is for `patchfold bench`."""
    _, op, dtype, shape, *arguments = line.split()
    pairs = (argument.split("=", 1) for argument in arguments)
    return Case(
        line.split(None, 1)[1],
        op,
        dtype,
        tuple(int(extent) for extent in shape.split("x") if extent != "-"),
        {name: _value(value) for name, value in pairs},
    )


def problems(only: str = "") -> list[Case]:
    """Returns the problems of the list whose text contains `only`."""
    lines = (line.strip() for line in LIST.read_text(encoding="utf-8").splitlines())
    cases = [parse(line) for line in lines if line and not line.startswith("#") and only in line]
    # Arguments that other systems lack, or that only some have in one call; TensorFlow returns its input for blocks of 1.
    alone = {"accumulate", "crops", "padding_mode"}
    texts = ("reorder", "coverage", "block=1", "padding=0:")
    return [case for case in cases if not alone & set(case.arguments) and not any(text in case.text for text in texts)]


def empty(shape: Extents, dtype: np.dtype[Any]) -> Array:
    """Returns aligned memory."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(shape)


def random(shape: Extents, dtype: np.dtype[Any]) -> Array:
    """Returns positive numbers, so that a sum's error is small against the sum."""
    generator = np.random.default_rng(0)
    drawn: Array
    if dtype.kind in "iu":
        drawn = generator.integers(0, 100, DRAWN).astype(dtype)
    elif dtype.kind == "c":
        drawn = (generator.random(DRAWN) + 1j * generator.random(DRAWN)).astype(dtype)
    else:
        drawn = generator.random(DRAWN).astype(dtype)
    data = empty(shape, dtype)
    flat = data.reshape(-1)
    for begin in range(0, flat.size, DRAWN):
        flat[begin : begin + DRAWN] = drawn[: flat.size - begin]
    return data


def same(case: Case, mine: Array, other: Array) -> bool:
    """Returns whether two canonical results agree: exactly, or for sums of floats within a rounding for each addition."""
    if mine.shape != other.shape or mine.dtype != other.dtype:
        return False
    if case.kind != "fold" or case.numpy_dtype.kind in "iu":
        return np.array_equal(mine, other)
    tolerance = case.window.terms * float(ml_dtypes.finfo(case.numpy_dtype).eps)  # type: ignore[no-untyped-call]
    wide = np.complex128 if case.numpy_dtype.kind == "c" else np.float64
    return np.allclose(mine.astype(wide), other.astype(wide), rtol=tolerance, atol=0)

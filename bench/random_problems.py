# SPDX-License-Identifier: Apache-2.0
"""Runs the problems that `patchfold bench --random` draws in NumPy and torch.

Positions and taps are axes of strided views of both tensors; one copy leads from view to view, and a sum is one addition for
each tap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import patchfold
import torch
from numpy.lib.stride_tricks import as_strided
from peers_problems import ALIGNMENT, DRAWN, DTYPES, Array, Extents, arranged

Run: TypeAlias = Callable[[], Any]
Pads: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
MORE_DTYPES = {"i64": np.dtype(np.int64)}
COLUMNS = ("unfold", "fold")
CUTTING = ("unfold", "space_to_depth", "space_to_batch")


def _value(text: str) -> Any:
    """Returns the value of `3`, `3,5`, `1:2,0:1` or a word."""
    if not text[0].isdigit():
        return text
    parts = [tuple(int(number) for number in part.split(":")) for part in text.split(",")]
    if len(parts[0]) == 2:
        return parts
    return tuple(part[0] for part in parts) if "," in text else parts[0][0]


def _two(value: int | Extents) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else (value[0], value[1])


def allocate(shape: Extents, dtype: np.dtype[Any], layout: str) -> Array:
    """Returns an array whose elements lie in memory as the layout says, on pages of its own."""

    def memory(*extents: int) -> Array:
        size = math.prod(extents) * dtype.itemsize
        pages = np.zeros(size + ALIGNMENT, np.uint8)
        start = -pages.ctypes.data % ALIGNMENT
        array: Array = pages[start : start + size].view(dtype).reshape(extents)
        return array

    *front, last = shape
    if layout == "channels_last":
        return np.moveaxis(memory(shape[0], *shape[2:], shape[1]), -1, 1)
    if layout in ("swapped", "tokens"):
        return memory(*shape[:-2], shape[-1], shape[-2]).swapaxes(-1, -2)
    if layout == "flipped":
        return memory(*shape)[..., ::-1, :]
    if layout == "mirrored":
        return memory(*shape)[..., ::-1]
    if layout == "cropped":
        return memory(*front, last + 3)[..., 1:-2]
    if layout == "every_second":
        return memory(*front, 2 * last)[..., ::2]
    return memory(*shape)


def fill(array: Array) -> None:
    """Writes small positive numbers, so that a sum's error is small against the sum."""
    drawn = np.random.default_rng(0).integers(1, 9, DRAWN)
    count = math.prod(array.shape)
    values = np.resize(drawn, count)
    if array.dtype.kind == "V" and array.dtype.name != "bfloat16":
        width = array.dtype.itemsize
        array[...] = np.resize(drawn.astype(np.uint8), count * width).view(array.dtype).reshape(array.shape)
    else:
        array[...] = values.reshape(array.shape).astype(array.dtype)


@dataclass
class RandomProblem:
    """A problem with its layouts, and the views of one copy."""

    text: str
    src: str
    dst: str

    def __post_init__(self) -> None:
        self.op, dtype, shape, *arguments = self.text.split()
        self.dtype = np.dtype(f"V{dtype[6:]}") if dtype.startswith("opaque") else (DTYPES | MORE_DTYPES)[dtype]
        self.shape: Extents = tuple(int(extent) for extent in shape.split("x"))
        self.arguments: dict[str, Any] = {
            name: _value(value) for name, value in (argument.split("=", 1) for argument in arguments)
        }
        given = self.arguments
        self.output: Extents = tuple(patchfold.output_shape(self.op, self.shape, **given))
        self.kernel = _two(given.get("kernel_size", given.get("block", 1)))
        self.stride = _two(given["block"] if "block" in given else given.get("stride", 1))
        self.dilation = _two(given.get("dilation", 1))
        pads = given.get("padding", given.get("crops", 0))
        self.pads: Pads = tuple(pads) if isinstance(pads, list) else tuple((pad, pad) for pad in _two(pads))  # type: ignore[assignment]
        self.cuts = self.op in CUTTING
        image, patches = (self.shape, self.output) if self.cuts else (self.output, self.shape)
        self.batch, self.channels = image[:2]
        self.padded: Extents = (*image[:2], *(i + sum(p) for i, p in zip(image[2:], self.pads, strict=True)))
        axes = zip(self.padded[2:], self.kernel, self.stride, self.dilation, strict=True)
        self.positions = tuple((i - (k - 1) * d - 1) // s + 1 for i, k, s, d in axes)
        assert math.prod(patches) == self.batch * self.channels * math.prod(self.kernel) * math.prod(self.positions)

    @property
    def terms(self) -> int:
        """Returns the largest number of patches that meet in a pixel."""
        return math.prod(math.ceil(k / s) for k, s in zip(self.kernel, self.stride, strict=True))

    def taps_of_patches(self, array: Array) -> Array:
        """Returns columns, channels or batches as (N, C, taps.., positions..)."""
        n, c, kernel, positions = self.batch, self.channels, self.kernel, self.positions
        if self.op in ("space_to_batch", "batch_to_space"):
            view = arranged(array.reshape((*kernel, n, c, *positions)), (2, 3, 0, 1, 4, 5))
        elif self.arguments.get("order") == "kernel" or (
            self.op not in COLUMNS and self.arguments.get("mode") != "depth_first"
        ):
            view = arranged(array.reshape((n, *kernel, c, *positions)), (0, 3, 1, 2, 4, 5))
        else:
            view = array.reshape((n, c, *kernel, *positions))
        assert np.may_share_memory(view, array)
        return view

    def taps_of_image(self, image: Array) -> Array:
        """Returns a padded image as (N, C, taps.., positions..): each patch has its own view of shared elements."""
        n, c, h, w = image.strides
        (dh, dw), (sh, sw) = self.dilation, self.stride
        shape = (self.batch, self.channels, *self.kernel, *self.positions)
        return as_strided(image, shape, (n, c, h * dh, w * dw, h * sh, w * sw))

    def inside(self, image: Array) -> Array:
        """Returns a padded image without its pads."""
        (top, bottom), (left, right) = self.pads
        return image[:, :, top : image.shape[2] - bottom, left : image.shape[3] - right]

    def make(self) -> tuple[Array, Array]:
        """Returns data and result."""
        x = allocate(self.shape, self.dtype, self.src)
        fill(x)
        return x, allocate(self.output, self.dtype, self.dst)

    def patchfold(self, x: Array, out: Array) -> Run:
        return lambda: patchfold.run(self.op, x, out=out, **self.arguments)

    def views(self, x: Array, out: Array) -> tuple[Array, Array, Array]:
        """Returns the views to read and to write, both with positions and taps as axes, and the array that is written.

        The image has its pads in memory, in its own layout.
        """
        image, layout = (x, self.src) if self.cuts else (out, self.dst)
        padded = image
        if self.padded != image.shape:
            padded = allocate(self.padded, self.dtype, layout)
            self.inside(padded)[...] = image
        if self.cuts:
            return self.taps_of_image(padded), self.taps_of_patches(out), out
        return self.taps_of_patches(x), self.taps_of_image(padded), padded

    def taps(self) -> Iterator[tuple[int, int]]:
        for row in range(self.kernel[0]):
            for column in range(self.kernel[1]):
                yield row, column

    def result(self, written: Array) -> Array:
        return written if self.cuts else self.inside(written)

    def numpy(self, x: Array, out: Array) -> tuple[Run, Array]:
        """Returns the call, and the array of its result."""
        src, dst, written = self.views(x, out)
        if self.op != "fold":
            return lambda: np.copyto(dst, src), self.result(written)
        pairs = [(dst[:, :, row, column], src[:, :, row, column]) for row, column in self.taps()]

        def run() -> None:
            written[...] = 0
            for total, term in pairs:
                np.add(total, term, out=total)

        return run, self.result(written)

    def torch(self, x: Array, out: Array) -> tuple[Run, Array] | None:
        """Returns torch's call and result, or None where torch lacks the tensor: negative strides, unknown types."""
        if self.dtype.kind == "V" and self.dtype.name != "bfloat16":
            return None
        src, dst, written = self.views(x, out)
        if min(*src.strides, *dst.strides, *written.strides) < 0:
            return None
        source, target, whole = _tensor(src), _tensor(dst), _tensor(written)
        if self.op != "fold":
            return lambda: target.copy_(source), self.result(written)
        pairs = [(target[:, :, row, column], source[:, :, row, column]) for row, column in self.taps()]

        def run() -> None:
            whole.zero_()
            for total, term in pairs:
                total.add_(term)

        return run, self.result(written)

    def same(self, mine: Array, other: Array) -> bool:
        """Returns whether results agree: exactly, or for sums of floats within a rounding for each addition."""
        if self.op != "fold" or self.dtype.kind in "iu":
            return mine.tobytes() == other.tobytes()
        tolerance = self.terms * float(ml_dtypes.finfo(self.dtype).eps)  # type: ignore[no-untyped-call]
        wide = np.complex128 if self.dtype.kind == "c" else np.float64
        return np.allclose(mine.astype(wide), other.astype(wide), rtol=tolerance, atol=0)


def _tensor(view: Array) -> torch.Tensor:
    """Returns a tensor on the view's memory; torch cannot read NumPy's bfloat16 itself."""
    if view.dtype.name == "bfloat16":
        return torch.from_numpy(view.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(view)

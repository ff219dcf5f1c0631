# SPDX-License-Identifier: Apache-2.0
"""Columns in the orders of six systems, made by formulas in NumPy, element by element and without patchfold."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import formulas
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class Case(NamedTuple):
    """An image, columns made from it, and the answer that explain_order must give."""

    system: str
    image: Array
    columns: Array
    name: str
    """A text that one of the names in answer.systems must contain."""
    order: str
    """The order of channels and taps: "channel" or "kernel"; "column" for MATLAB; "" if one channel makes both equal."""
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    begin: tuple[int, ...]


def image_of(rng: Any, shape: tuple[int, ...], kind: str) -> Array:
    size = int(np.prod(shape))
    if kind == "float":
        return rng.standard_normal(shape).astype(np.float32)  # type: ignore[no-any-return]
    if kind == "permuted":
        return rng.permutation(size).reshape(shape)  # type: ignore[no-any-return]  # one element is 0, like the padding
    return np.arange(1, size + 1, dtype=np.float64).reshape(shape)


class Drawn(NamedTuple):
    shape: tuple[int, int, int, int]
    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]


def draw(rng: Any) -> Drawn:
    kernel = (int(rng.integers(1, 5)), int(rng.integers(2, 5)))
    dilation = (int(rng.integers(1, 3)), int(rng.integers(1, 3)))
    dilation = tuple(d if k > 1 else 1 for d, k in zip(dilation, kernel, strict=True))  # type: ignore[assignment]
    stride = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    extents = [(k - 1) * d + 1 + s + int(rng.integers(1, 9)) for k, d, s in zip(kernel, dilation, stride, strict=True)]
    return Drawn((int(rng.integers(1, 4)), int(rng.integers(2, 5)), *extents), kernel, stride, dilation)


def patches(rng: Any, kind: str, same: bool) -> tuple[Array, Array, tuple[Any, ...]]:
    """Returns an image (N, C, H, W), its patches (N, C, kh, kw, ph, pw), and (kernel, stride, dilation, first pads)."""
    drawn = draw(rng)
    pads = [(pad, pad) for pad in rng.integers(0, 2, 2).tolist()]
    if same:
        pads = formulas.same_pads(drawn.shape[2:], *drawn[1:], lower=False) if rng.integers(2) else [(0, 0), (0, 0)]
    image = image_of(rng, drawn.shape, kind)
    cut = formulas.unfold(image, *drawn[1:], pads, layout="channels_first", order="channel", positions="grid")
    return image, cut.reshape(*drawn.shape[:2], *drawn.kernel, *cut.shape[2:]), (*drawn[1:], tuple(pad[0] for pad in pads))


def torch_case(rng: Any, kind: str) -> Case:
    image, cut, geometry = patches(rng, kind, same=False)
    n, c, kh, kw, ph, pw = cut.shape
    return Case("torch", image, cut.reshape(n, c * kh * kw, ph * pw), "torch.nn.functional.unfold", "channel", *geometry)


def tensorflow_case(rng: Any, kind: str) -> Case:
    image, cut, geometry = patches(rng, kind, same=True)
    n, c, kh, kw, ph, pw = cut.shape
    columns = cut.transpose(0, 4, 5, 2, 3, 1).reshape(n, ph, pw, kh * kw * c)
    last = np.ascontiguousarray(image.transpose(0, 2, 3, 1))
    return Case("TensorFlow", last, columns, "tf.image.extract_patches", "kernel", *geometry)


def openvino_case(rng: Any, kind: str) -> Case:
    image, cut, geometry = patches(rng, kind, same=True)
    n, c, kh, kw, ph, pw = cut.shape
    columns = cut.transpose(0, 2, 3, 1, 4, 5).reshape(n, kh * kw * c, ph, pw)
    return Case("OpenVINO", image, columns, "OpenVINO ExtractImagePatches", "kernel", *geometry)


def depth_case(rng: Any, kind: str, mode: str) -> Case:
    """Returns a case of ONNX's DepthToSpace: the columns are its input, and the image is its output."""
    block, (n, c) = int(rng.integers(2, 4)), rng.integers(1, 4, 2).tolist()
    c += 1
    h, w = (int(rng.integers(2, 6)), int(rng.integers(2, 6)))
    depth = image_of(rng, (n, c * block * block, h, w), kind)
    if mode == "DCR":
        image = depth.reshape(n, block, block, c, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        image = depth.reshape(n, c, block, block, h, w).transpose(0, 1, 4, 2, 5, 3)
    image = np.ascontiguousarray(image).reshape(n, c, h * block, w * block)
    order = "kernel" if mode == "DCR" else "channel"
    two = (block, block)
    return Case(f"ONNX {mode}", image, depth, f"mode {mode}", order, two, two, (1, 1), (0, 0))


def matlab_case(rng: Any, kind: str) -> Case:
    """Returns a case of MATLAB's im2col, which orders blocks, and the elements of a block, column after column."""
    m, n = int(rng.integers(2, 4)), int(rng.integers(2, 5))
    if rng.integers(2):
        a = image_of(rng, (m + int(rng.integers(2, 6)), n + int(rng.integers(2, 6))), kind)
        blocks = [a[i : i + m, j : j + n] for j in range(a.shape[1] - n + 1) for i in range(a.shape[0] - m + 1)]
        name, stride = "MATLAB im2col, 'sliding'", (1, 1)
    else:
        a = image_of(rng, (m * int(rng.integers(2, 5)) - int(rng.integers(2)), n * int(rng.integers(2, 5))), kind)
        padded = np.zeros((-(-a.shape[0] // m) * m, -(-a.shape[1] // n) * n), a.dtype)
        padded[: a.shape[0], : a.shape[1]] = a
        blocks = [padded[i : i + m, j : j + n] for j in range(0, padded.shape[1], n) for i in range(0, padded.shape[0], m)]
        name, stride = "MATLAB im2col, 'distinct'", (m, n)
    columns = np.stack([block.reshape(-1, order="F") for block in blocks], axis=1)
    return Case("MATLAB", a, columns, name, "column", (m, n), stride, (1, 1), (0, 0))


MAKERS: tuple[Callable[[Any, str], Case], ...] = (
    torch_case,
    tensorflow_case,
    lambda rng, kind: depth_case(rng, kind, "DCR"),
    lambda rng, kind: depth_case(rng, kind, "CRD"),
    openvino_case,
    matlab_case,
)


def cases(seed: int, count: int) -> Iterator[Case]:
    """Yields `count` cases, in which the systems, and three kinds of values, take turns."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        yield MAKERS[i % len(MAKERS)](rng, ("float", "permuted", "counted")[i // len(MAKERS) % 3])


def refused(seed: int, count: int) -> Iterator[tuple[str, Array, Array]]:
    """Yields (kind of change, image, columns): columns that no operator of patchfold makes of the image."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        case = MAKERS[i % len(MAKERS)](rng, "counted")
        columns = case.columns.copy()
        kind = ("shuffled", "swapped", "sums", "foreign", "axes")[i // len(MAKERS) % 5]
        if kind == "shuffled":
            columns = rng.permutation(columns.reshape(-1)).reshape(columns.shape)
        elif kind == "swapped":  # exchanges two elements
            flat = columns.reshape(-1)
            a, b = rng.choice(np.flatnonzero(flat), 2, replace=False)
            while flat[a] == flat[b]:
                a, b = rng.choice(np.flatnonzero(flat), 2, replace=False)
            flat[[a, b]] = flat[[b, a]]
        elif kind == "sums":
            columns = columns + np.roll(columns, 1)
        elif kind == "foreign":
            columns = rng.standard_normal(columns.shape)
        else:  # "axes": reorders the longest axis at random
            axis = int(np.argmax(columns.shape))
            moved = rng.permutation(columns.shape[axis])
            while (np.diff(moved) == np.diff(moved)[0]).all():
                moved = rng.permutation(columns.shape[axis])
            columns = np.take(columns, moved, axis)
        yield kind, case.image, columns

# SPDX-License-Identifier: Apache-2.0
"""patchfold for JAX: the neutral operators under jit, grad, vmap and every other transform.

XLA calls patchfold on its own buffers without a copy: on the processor on XLA's threads, on a CUDA device on XLA's stream.
On another device a call copies its data to the processor's memory, and the result back. Derivatives of any order, in
forward and reverse mode, are calls of the same operator and of its adjoint. This package imports jax; ``import patchfold``
does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import jax
import numpy as np
import numpy.typing as npt

from .._operators import columns
from .._operators.table import operator_named, values_of
from .._signatures import takes
from .._typing import (
    DepthMode,
    FoldCall,
    IntOrInts,
    Ints,
    Layout,
    Order,
    Padding,
    Positions,
    UnfoldCall,
    WindowSettings,
)
from ._calls import apply, create

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "batch_to_space",
    "copy",
    "coverage",
    "depth_to_space",
    "fold",
    "reorder",
    "run",
    "space_to_batch",
    "space_to_depth",
    "unfold",
]

Data: TypeAlias = jax.Array | npt.NDArray[Any]


@takes(UnfoldCall, columns.unfold)
def unfold(x: Data, kernel_size: IntOrInts, **settings: Unpack[UnfoldCall]) -> jax.Array:
    """Copies every patch of an image into columns (im2col). Shapes, arguments, formula and errors: patchfold.unfold.

    Arguments other than x are fixed when a function is traced. Under vmap, x is one sample.

    Types: every element type of whole bytes; elements are copied bit by bit.

    Derivatives: of any order, in forward and reverse mode; the adjoint is fold. With a padding_mode other than "constant"
        the adjoint also copies the padded image.

    Elsewhere: jax.lax.conv_general_dilated_patches is unfold with positions="grid". JAX's function convolves with ones, so
        it takes floats only, rounds them, and lets NaN and infinity spread within a patch.

    Example:
        >>> import jax, jax.numpy as jnp, patchfold.jax
        >>> image = jnp.arange(9).reshape(1, 1, 3, 3)
        >>> patchfold.jax.unfold(image, 2)
        Array([[[0, 1, 3, 4],
                [1, 2, 4, 5],
                [3, 4, 6, 7],
                [4, 5, 7, 8]]], dtype=int32)
        >>> columns = jax.jit(jax.vmap(lambda one: patchfold.jax.unfold(one, (3, 3), padding=1)))
        >>> columns(jnp.ones((8, 3, 16, 16))).shape
        (8, 27, 256)
    """
    return apply("unfold", x, kernel_size, *settings.values())


@takes(FoldCall, columns.fold)
def fold(x: Data, output_size: Ints, kernel_size: IntOrInts, **settings: Unpack[FoldCall]) -> jax.Array:
    """Sums or averages columns into the image that they were cut from (col2im). Shapes, arguments, formula and errors:
    patchfold.fold.

    Arguments other than x are fixed when a function is traced. Under vmap, x is one sample.

    Types: numbers and booleans, summed and averaged as patchfold.fold does: sums of float16 and bfloat16 in float32 with
        one rounding.

    Derivatives: of any order, in forward and reverse mode; the adjoint is unfold. A mean has derivatives of forward mode
        only: for a gradient write fold(..) / coverage(..).

    Example:
        >>> import jax, jax.numpy as jnp, patchfold.jax
        >>> patchfold.jax.fold(jnp.ones((1, 4, 4)), (3, 3), 2)
        Array([[[[1., 2., 1.],
                 [2., 4., 2.],
                 [1., 2., 1.]]]], dtype=float32)
        >>> patchfold.jax.fold(jnp.ones((1, 4, 4)), (3, 3), 2, reduce="mean")[0, 0, 1]
        Array([1., 1., 1.], dtype=float32)
        >>> energy = lambda columns: (patchfold.jax.fold(columns, (3, 3), 2) ** 2).sum()
        >>> jax.grad(energy)(jnp.ones((1, 4, 4)))[0, 0]
        Array([2., 4., 4., 8.], dtype=float32)
    """
    *first, reduce, fill = settings.values()
    return apply("fold", x, output_size, kernel_size, *first, None, reduce, fill)


@takes(WindowSettings, columns.coverage)
def coverage(
    output_size: Ints, kernel_size: IntOrInts, *, dtype: npt.DTypeLike = np.float32, **window: Unpack[WindowSettings]
) -> jax.Array:
    """Counts how many patches touch each pixel. Shapes, arguments, formula and errors: patchfold.coverage.

    Example:
        >>> import patchfold.jax
        >>> patchfold.jax.coverage((5,), 3)
        Array([1., 2., 3., 2., 1.], dtype=float32)
    """
    return create("coverage", dtype, output_size, kernel_size, *window.values())


def reorder(
    x: Data,
    kernel_size: IntOrInts,
    *,
    source: Order = "channel",
    target: Order = "kernel",
    layout: Layout = "channels_first",
    positions: Positions = "flat",
) -> jax.Array:
    """Changes the order of the C*K axis of columns. Shapes, arguments, formula and errors: patchfold.reorder.

    Types: every element type of whole bytes. Derivatives: of any order, in both modes.

    Example:
        >>> import jax.numpy as jnp, patchfold.jax
        >>> patchfold.jax.reorder(jnp.arange(6).reshape(1, 6, 1), (3,)).ravel()
        Array([0, 3, 1, 4, 2, 5], dtype=int32)
    """
    return apply("reorder", x, kernel_size, source, target, layout, positions)


def copy(x: Data) -> jax.Array:
    """Copies an array of any rank to a new one. Shapes, formula and errors: patchfold.copy.

    Types: every element type of whole bytes. Derivatives: of any order, in both modes; the adjoint is a copy.

    Example:
        >>> import jax.numpy as jnp, patchfold.jax
        >>> patchfold.jax.copy(jnp.arange(3))
        Array([0, 1, 2], dtype=int32)
    """
    return apply("copy", x)


def space_to_batch(x: Data, block: IntOrInts, *, padding: Padding = 0, layout: Layout = "channels_first") -> jax.Array:
    """Cuts the spatial axes into blocks and moves the offset within a block to the batch. Shapes, arguments, formula and
    errors: patchfold.space_to_batch.

    Types: every element type of whole bytes. Derivatives: of any order, in both modes; the adjoint is batch_to_space.

    Example:
        >>> import jax.numpy as jnp, patchfold.jax
        >>> patchfold.jax.space_to_batch(jnp.arange(6).reshape(1, 1, 6), (2,)).squeeze()
        Array([[0, 2, 4],
               [1, 3, 5]], dtype=int32)
    """
    return apply("space_to_batch", x, block, padding, layout)


def batch_to_space(x: Data, block: IntOrInts, *, crops: Padding = 0, layout: Layout = "channels_first") -> jax.Array:
    """Moves blocks of the batch back to the spatial axes. Shapes, arguments, formula and errors: patchfold.batch_to_space.

    Types: every element type of whole bytes. Derivatives: of any order, in both modes; the adjoint is space_to_batch.

    Example:
        >>> import jax.numpy as jnp, patchfold.jax
        >>> patchfold.jax.batch_to_space(jnp.array([[[0, 2, 4]], [[1, 3, 5]]]), 2, crops=[(1, 0)])
        Array([[[1, 2, 3, 4, 5]]], dtype=int32)
    """
    return apply("batch_to_space", x, block, crops, layout)


def space_to_depth(
    x: Data, block: IntOrInts, *, mode: DepthMode = "blocks_first", layout: Layout = "channels_first"
) -> jax.Array:
    """Moves blocks of the spatial axes to the channels (pixel-unshuffle). Shapes, arguments, formula and errors:
    patchfold.space_to_depth.

    Types: every element type of whole bytes. Derivatives: of any order, in both modes; the adjoint is depth_to_space.

    Example:
        >>> import jax.numpy as jnp, patchfold.jax
        >>> patchfold.jax.space_to_depth(jnp.arange(4).reshape(1, 1, 2, 2), 2).ravel()
        Array([0, 1, 2, 3], dtype=int32)
    """
    return apply("space_to_depth", x, block, mode, layout)


def depth_to_space(
    x: Data, block: IntOrInts, *, mode: DepthMode = "blocks_first", layout: Layout = "channels_first"
) -> jax.Array:
    """Moves channels back to blocks of the spatial axes (pixel-shuffle). Shapes, arguments, formula and errors:
    patchfold.depth_to_space.

    Types: every element type of whole bytes. Derivatives: of any order, in both modes; the adjoint is space_to_depth.

    Example:
        >>> import jax.numpy as jnp, patchfold.jax
        >>> patchfold.jax.depth_to_space(jnp.arange(4).reshape(1, 4, 1, 1), 2)[0, 0]
        Array([[0, 1],
               [2, 3]], dtype=int32)
    """
    return apply("depth_to_space", x, block, mode, layout)


def run(op: str, x: Data | None, **attributes: Any) -> jax.Array:
    """Runs any operator of the table by its name, also those of other systems, under every transform of JAX.

    Arguments:
        op: a name of ``patchfold.operators()``; a dialect's version may be left out and means the newest.
        x: the data; None for coverage, which counts in float32.
        attributes: the operator's arguments by the names of the table; None means the default.

    Errors: InvalidValue and InvalidType, as from the functions of the operators.

    Example:
        >>> import jax.numpy as jnp, patchfold.jax
        >>> x = jnp.arange(9).reshape(1, 3, 3, 1)
        >>> window = {"ksizes": [1, 2, 2, 1], "strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1]}
        >>> patchfold.jax.run("tensorflow.ExtractImagePatches", x, padding="VALID", **window)[0, 1, 1]
        Array([4, 5, 7, 8], dtype=int32)
    """
    spec = operator_named(op, "run")[1]
    values = values_of(spec, attributes)
    return apply(op, x, *values) if spec.data_input else create(op, np.float32, *values)

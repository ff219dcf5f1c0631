# SPDX-License-Identifier: Apache-2.0
"""patchfold for JAX: the neutral operators under jit, grad, vmap and every other transform.

On the processor XLA calls patchfold on its own buffers and threads, without a copy. On another device a call copies its
data to the processor's memory, and the result back. Derivatives of any order and in both modes are the inverse operators.
This package imports jax; ``import patchfold`` does not.
"""

from ._functions import (
    batch_to_space,
    copy,
    coverage,
    depth_to_space,
    fold,
    reorder,
    run,
    space_to_batch,
    space_to_depth,
    unfold,
)

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

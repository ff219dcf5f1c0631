# SPDX-License-Identifier: Apache-2.0
"""Checks that large pages are requested for large results before the results are written."""

import mmap
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import patchfold
import pytest
from calls import Foreign
from patchfold import _core

SMAPS = Path("/proc/self/smaps")
ENABLED = Path("/sys/kernel/mm/transparent_hugepage/enabled")
MEGABYTE = 2**20
LARGE_PAGE = 2 * MEGABYTE
LARGE = 32 * MEGABYTE
"""A size for which malloc asks the system for new memory each time."""


def is_advised(address: int) -> bool:
    """Returns whether large pages were requested for the memory at this address."""
    here = False
    for line in SMAPS.read_text().splitlines():
        if bounds := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
            here = int(bounds[1], 16) <= address < int(bounds[2], 16)
        elif here and line.startswith("VmFlags:"):
            return "hg" in line.split()
    raise AssertionError("nothing is mapped there")


def has_large_pages() -> bool:
    if not ENABLED.exists() or not SMAPS.exists() or not hasattr(mmap, "MADV_HUGEPAGE"):
        return False
    with mmap.mmap(-1, 8 * MEGABYTE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as pages:
        pages.madvise(mmap.MADV_HUGEPAGE)
        return is_advised(np.frombuffer(pages, np.uint8).ctypes.data)


needs_large_pages = pytest.mark.skipif(not has_large_pages(), reason="this system has no large pages to ask for")


IMAGE = (1, 16, 1024, 1024)


@needs_large_pages
@pytest.mark.parametrize("kind", [np.asarray, Foreign])
def test_arrays_lie_on_large_pages(kind: Callable[[np.ndarray], Any]) -> None:
    result = patchfold.unfold(kind(np.ones(IMAGE, np.float32)), 2, stride=2)
    assert type(result) is np.ndarray and result.nbytes >= LARGE
    assert is_advised(result.ctypes.data + result.nbytes // 2)


TORCH_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "unfold": lambda x: patchfold.unfold(x, 2, stride=2),
    "plan": lambda x: patchfold.plan("unfold", x, kernel_size=(2, 2), stride=(2, 2))(x),
    "rearrange": lambda x: patchfold.rearrange(x, "n c (h p) w -> n p c h w", p=2),
    "patchify": lambda x: patchfold.patchify(x, 16),
    "gather_patches": lambda x: patchfold.gather_patches(x, [(0, 0)], x.shape[-2:]),
    "merge": lambda x: patchfold.apply_tiled(lambda tile: tile, x, tile=(512, 512), overlap=0),
    "bfloat16": lambda x: patchfold.apply_tiled(lambda tile: tile.bfloat16(), x, tile=(512, 512), overlap=0),
    "torch.unfold": lambda x: patchfold.torch.unfold(x, 2, stride=2),
    "torch.unfold with gradients": lambda x: patchfold.torch.unfold(x.requires_grad_(), 2, stride=2),
}


@needs_large_pages
@pytest.mark.parametrize("name", TORCH_FUNCTIONS)
def test_torch_tensors_lie_on_large_pages(name: str) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("patchfold.torch")
    result = TORCH_FUNCTIONS[name](torch.ones(IMAGE))
    assert result.nbytes >= LARGE
    assert is_advised(result.data_ptr() + result.nbytes // 2)


@needs_large_pages
def test_jax_results_lie_on_large_pages() -> None:
    jax = pytest.importorskip("jax")
    like_jax = pytest.importorskip("patchfold.jax")
    x = jax.numpy.ones(IMAGE)
    for result in (patchfold.unfold(x, 2, stride=2), jax.jit(lambda x: like_jax.unfold(x, 2, stride=2))(x)):
        assert is_advised(result.unsafe_buffer_pointer() + result.nbytes // 2)


@needs_large_pages
def test_small_memory_is_left_as_it_is() -> None:
    for size, expected in ((4 * MEGABYTE - 1, False), (4 * MEGABYTE, True)):
        with mmap.mmap(-1, 8 * MEGABYTE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as pages:
            begin = -(-np.frombuffer(pages, np.uint8).ctypes.data // LARGE_PAGE) * LARGE_PAGE
            _core.prefer_large_pages(begin, size)
            assert is_advised(begin) is expected

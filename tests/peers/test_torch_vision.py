# SPDX-License-Identifier: Apache-2.0
"""patchfold.vision with torch tensors, and beside torch's antialiased interpolate."""

import numpy as np
import patchfold
import pytest
import torch
from patchfold import vision
from torch.nn.functional import interpolate


def test_resize_has_torchs_bits_in_400_random_cases():
    if torch.backends.cpu.get_cpu_capability() == "DEFAULT":
        pytest.skip("without AVX2, torch resizes bytes in float32")
    random = np.random.default_rng(1)
    for case in range(400):
        rows, columns, *size = (int(n) for n in random.integers(1, 120, 4))
        x = torch.from_numpy(random.integers(0, 256, (2, 1 + case % 4, rows, columns), np.uint8))
        if case % 3 == 0:
            x = x.contiguous(memory_format=torch.channels_last)
        name = ("bilinear", "bicubic")[case % 2]
        wanted = interpolate(x, size, mode=name, antialias=True)
        assert torch.equal(vision.resize(x, size, name, fixed_point="torch"), wanted), (case, x.shape, size)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_patchify_by_a_table_of_torch(dtype):
    x = torch.randint(256, (2, 3, 28, 56), dtype=torch.uint8)
    table = torch.from_numpy(vision.normalization_table([0.5, 0.4, 0.3], [0.2, 0.3, 0.4])).to(dtype)
    numbers = torch.stack([table[c][x[:, c].long()] for c in range(3)], 1)
    tokens = patchfold.patchify(x, 14, table=table, order="torch", merge_size=2)
    assert tokens.dtype == dtype and torch.equal(tokens, patchfold.patchify(numbers, 14, order="torch", merge_size=2))
    out = torch.empty_like(tokens)
    assert patchfold.patchify(x, 14, table=table, order="torch", merge_size=2, out=out) is out and torch.equal(out, tokens)
    assert torch.equal(patchfold.patchify(x, 14, table=table[0]), patchfold.patchify(table[0][x.long()], 14))


def test_bytes_and_table_of_two_libraries():
    x = torch.randint(256, (3, 28, 28), dtype=torch.uint8)
    table = vision.normalization_table(0.5, 0.25)
    tokens = patchfold.patchify(x, 14, table=table)
    assert isinstance(tokens, torch.Tensor)
    assert np.array_equal(tokens.numpy(), patchfold.patchify(x.numpy(), 14, table=torch.from_numpy(table)))


def test_tensors_that_cannot_be_read_are_refused():
    with pytest.raises(patchfold.InvalidType, match="in the processor's memory"):
        patchfold.patchify(torch.empty(3, 8, 8, dtype=torch.uint8, device="meta"), 4, table=vision.normalization_table())
    with pytest.raises(patchfold.InvalidType, match="must lie in the processor's memory"):
        vision.resize(torch.empty(8, 8, dtype=torch.uint8, device="meta"), (4, 4))

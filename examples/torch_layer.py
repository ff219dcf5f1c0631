# SPDX-License-Identifier: Apache-2.0
"""Uses patchfold in torch: volumes of integers, gradients, and torch's own layers."""

import patchfold.torch
import torch

# Three spatial axes and integers: torch's own unfold takes neither.
volume = torch.arange(2 * 4 * 4 * 4).reshape(1, 2, 4, 4, 4)
columns = patchfold.torch.unfold(volume, (2, 2, 2), stride=(2, 2, 2))
assert torch.equal(patchfold.torch.fold(columns, (4, 4, 4), (2, 2, 2), stride=(2, 2, 2)), volume)

# The gradient of unfold is fold.
image = torch.randn(1, 3, 8, 8, dtype=torch.float64, requires_grad=True)
assert torch.autograd.gradcheck(lambda x: patchfold.torch.unfold(x, 3, padding=1), (image,))

# install() makes the nn.Fold and nn.Unfold of existing models use patchfold.
with patchfold.torch.install():
    patches = torch.nn.Unfold(kernel_size=4, stride=2)(image)
print("patches", tuple(patches.shape))

# SPDX-License-Identifier: Apache-2.0
"""Errors of patchfold.torch: for a mistake that patchfold's own function refuses too, they say the same about its cause."""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import patchfold  # noqa: E402
import patchfold.torch as ours  # noqa: E402

IMAGE = torch.arange(2.0 * 3 * 6 * 8).reshape(2, 3, 6, 8)
COLUMNS = patchfold.unfold(IMAGE, 2)
FOUR = "padding has 4 entries, so 4 spatial axes; write "

# (call of either module, words of both errors)
MISTAKES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "pads of both ends": (lambda m: m.unfold(IMAGE, 3, padding=(1, 1, 1, 1)), FOUR + "padding=1"),
    "pads and a list": (lambda m: m.unfold(IMAGE, (3, 3), padding=[1, 1, 1, 1]), FOUR + "padding=1"),
    "unequal pads": (lambda m: m.unfold(IMAGE, 3, padding=(1, 1, 2, 2)), "a pair (begin, end) for each axis"),
    "pads with gradients": (
        lambda m: m.unfold(IMAGE.clone().requires_grad_(), 3, padding=(1, 1, 1, 1)),
        FOUR + "padding=1",
    ),
    "pads with a mode": (
        lambda m: m.unfold(IMAGE, 3, padding=(1, 1, 1, 1), padding_mode="reflect"),
        FOUR + "padding=1",
    ),
    "three axes": (lambda m: m.unfold(torch.ones(2, 3, 4, 5, 6), 3), "kernel_size=(3, 3, 3)"),
    "no channels": (lambda m: m.unfold(IMAGE[0, 0], 3), "a grey picture: "),
    "transposed": (lambda m: m.fold(COLUMNS.mT, (6, 8), 2), "axes look swapped: "),
    "a grid": (lambda m: m.fold(COLUMNS.reshape(2, 12, 5, 7), (6, 8), 2), 'positions="grid"'),
    "positions": (lambda m: m.fold(COLUMNS, (6, 9), 2), "given 35, expected 40 = product of (5, 8)"),
    "a tensor of floats": (lambda m: m.unfold(IMAGE, torch.tensor([3.0, 3.0])), "kernel_size: must be an integer; given "),
    "a number that is too large": (lambda m: m.unfold(IMAGE, 2**70), "kernel_size: must fit into 64 bits; given 11805"),
    "no entries": (lambda m: m.unfold(IMAGE, ()), "kernel_size: must have one entry for each spatial axis, at least one; "),
    "zero": (lambda m: m.unfold(IMAGE, 0), "; given 0"),
    "another mode": (lambda m: m.unfold(IMAGE, 2, padding_mode="mirror"), "'wrap'; given 'mirror'"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_both_modules_name_the_cause(name: str) -> None:
    call, words = MISTAKES[name]
    for module in (patchfold, ours):
        with pytest.raises(patchfold.Error) as caught:
            call(module)
        assert words in str(caught.value), str(caught.value)


def test_only_what_the_function_takes_is_proposed() -> None:
    with pytest.raises(patchfold.InvalidValue, match=r"write padding=1 or padding=\(1, 1\)$"):
        ours.unfold(IMAGE, 3, padding=(1, 1, 1, 1))
    for padding in (-1, (-1, -1, -1, -1), (0, -1)):
        with pytest.raises(patchfold.InvalidValue, match="at least 0; given .*; negative pads crop in the neutral unfold$"):
            ours.unfold(IMAGE, 3, padding=padding)
    with pytest.raises(
        patchfold.InvalidValue, match=r"rank 4 or 3; for two spatial axes the neutral unfold with .*=\(2, 3\)$"
    ):
        ours.unfold(torch.ones(2, 3, 4, 5, 6), (2, 3))


def test_arguments_may_be_tensors() -> None:
    two = torch.tensor([2, 2])
    for module in (patchfold, ours):
        assert torch.equal(module.unfold(IMAGE, two, stride=torch.tensor(1)), COLUMNS)
        assert module.fold(COLUMNS, torch.tensor([6, 8]), two).shape == IMAGE.shape

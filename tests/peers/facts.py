# SPDX-License-Identifier: Apache-2.0
"""The facts of an operator that the comparison needs: how to draw problems, and the features that must occur in them."""

from collections.abc import Callable
from dataclasses import dataclass, field

from drawing import Draw, Fault, Setting
from problem import Array, Problem
from windows import Window


@dataclass(frozen=True)
class Facts:
    """What the comparison knows about an operator. `draw` returns a valid setting, and each of `faults` makes a setting
    invalid. In a whole run, every feature in `shows` must occur in at least one problem; features.py finds the features of a
    problem. `formula` computes the result of a valid problem without patchfold. `window` returns the Window of a problem; it
    is None for operators that slide no kernel. `always` are settings for every run, since random settings rarely have their
    features."""

    draw: Callable[[Draw, str], Setting]
    faults: list[Fault]
    shows: set[str]
    formula: Callable[[Problem], Array]
    window: Callable[[Problem], Window] | None = None
    always: list[Setting] = field(default_factory=list)


def axes(*ranks: int, what: str = "axes") -> set[str]:
    return {f"{rank} {what}" for rank in ranks}


# Features that operators of several dialects have in `shows`.
WINDOW = {
    "holes", "stride > kernel", "stride > image", "kernel = extent", "stride leaves a rest", "overlaps", "one position",
    "extent > 64",
}
DILATED = {"dilated, more than one channel"}
BATCHES = {"0 batch axes", "1 batch axes"}
PADDED = {"pads > extent"}
PATCHES = {"no positions", "odd SAME", "SAME, stride > kernel", "asymmetric pads"}
BLOCKS = {"block > 1"}
PAIRS = {"pads", "asymmetric pads"}


def entries(value: int, *names: str) -> list[Fault]:
    return [Fault("entry", name, value) for name in names]


def lengths(*names: str) -> list[Fault]:
    return [Fault("length", name, by) for name in names for by in (1, -1)]


# Lists of faults that operators of several dialects share.
RANKS = [Fault("rank", value=1), Fault("rank", value=-1)]
COLUMNS = [Fault("extent", "-1", 1), Fault("extent", "-1", -1), Fault("extent", "-2", 1), *RANKS]
EVEN_CHANNELS = [Fault("extent", "-3", 1)]

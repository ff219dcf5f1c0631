# SPDX-License-Identifier: Apache-2.0
"""The inverses that other systems lack, under the names of these systems, computed by the neutral operators."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .._arguments import is_integer, per_axis, read_once, spatial_rank
from .._arrays.kinds import is_numpy, is_torch, shape_of
from .._core import Operator
from .._errors import Error, InvalidType, InvalidValue, given_text, text_in, value_text
from .._typing import Layout
from .token_orders import integers

_fold = Operator("fold", data="patches").__call__
_unfold = Operator("unfold", data="input").__call__


def renamed(error: Error, operator: str, names: Mapping[str, str]) -> Error:
    """Returns an error of a neutral operator as an error of another function, with this function's argument names."""
    facts = error._facts()
    for ours, theirs in names.items():
        for part in ("rule", "expected", "hint"):
            facts[part] = re.sub(rf"\b{ours}\b", theirs, facts[part])
    return type(error)(operator=operator, argument=names.get(error.argument, error.argument), **facts)


def put_back(
    operator: str,
    patches: Any,
    out: Any,
    output_size: Any,
    window: tuple[Any, ...],
    padding: str,
    layout: Layout,
    reduction: Any,
    names: Mapping[str, str],
) -> Any:
    """Puts patches of a grid, whose elements are (taps, channel), back into the images that they were cut from.

    output_size: a number stands for every axis; without padding, None stands for the extents that the patches cover.
    window: extents of a patch, steps between patches, and steps between taps. A mean of patches that do not overlap is
    computed as a sum, which has derivatives.
    """
    if text_in(reduction) not in ("mean", "sum"):
        kind = InvalidValue if isinstance(reduction, str) else InvalidType
        rule = "must be one of 'mean', 'sum'"
        raise kind(operator=operator, argument="reduction", rule=rule, given=given_text(reduction))
    window = tuple(
        integers(operator, names[name], value)
        for name, value in zip(("kernel_size", "stride", "dilation"), window, strict=True)
    )
    rank = spatial_rank(*window)
    extents: Any = read_once(output_size)
    if type(extents) is int:
        extents = (extents,) * rank
    elif output_size is None and padding == "valid":
        extents = _covered(operator, patches, window, rank, layout)
    axes = zip(*(per_axis(value, rank) for value in window), strict=False)
    disjoint = all((size - 1) * step + 1 <= stride for size, stride, step in axes)
    # Means of other frameworks have no gradient; for one patch per element the sum differs only in the sign of -0.
    reduce = reduction if not disjoint or is_numpy(patches) or is_torch(patches) else "sum"
    try:
        return _fold(patches, out, extents, *window, padding, layout, "kernel", "grid", None, reduce)
    except Error as error:
        raise renamed(error, operator, {"reduce": "reduction", **names}) from None


def _covered(operator: str, patches: Any, window: tuple[Any, ...], rank: int, layout: Layout) -> tuple[int, ...]:
    """Returns the extents that a grid of patches covers; zeros, which fit no image, for an array without a grid."""
    shape = shape_of(patches, operator, "patches") if hasattr(patches, "shape") else ()
    first = len(shape) - rank - (layout == "channels_last")
    if first < 0:
        return (0,) * rank
    parts = zip(shape[first : first + rank], *(per_axis(value, rank) for value in window), strict=False)
    return tuple(max((count - 1) * step + (taps - 1) * rate + 1, 0) for count, taps, step, rate in parts)


def im2col(operator: str, x: Any, out: Any, window: tuple[Any, Any, Any], pads: Any, names: Mapping[str, str]) -> Any:
    """Copies patches into columns (N, C*K, L): the inverse of a Col2Im with these arguments. pads: all begins, all ends."""
    both: Any = read_once(pads, 0)
    if type(both) is tuple:
        half = len(both) // 2
        if len(both) % 2:
            rule = "must be all begins, then all ends"
            raise InvalidValue(
                operator=operator, argument="pads", rule=rule, given=value_text(both), expected="an even count"
            )
        both = list(zip(both[:half], both[half:], strict=True))
    try:
        return _unfold(x, out, *window, both)
    except Error as error:
        raise renamed(error, operator, names) from None


def word_of(operator: str, argument: str, word: Any, words: Mapping[str, str]) -> str:
    """Returns the neutral word for a word of another system."""
    found = text_in(word)
    if found is None or found not in words:
        kind = InvalidValue if isinstance(word, str) else InvalidType
        rule = "must be one of " + ", ".join(map(repr, words))
        raise kind(operator=operator, argument=argument, rule=rule, given=given_text(word))
    return words[found]


def inner(operator: str, argument: str, values: Any, rank: int) -> Any:
    """Returns the numbers of the spatial axes: the inner part of a list [1, .., 1], or another value unchanged."""
    if is_integer(values):
        return values
    try:
        entries = list(values)
    except TypeError:
        rule = f"must be [1, .., 1] with {rank} entries between"
        raise InvalidType(operator=operator, argument=argument, rule=rule, given=given_text(values)) from None
    if len(entries) != rank + 2 or entries[0] != 1 or entries[-1] != 1:
        rule = f"must be [1, .., 1] with {rank} entries between"
        raise InvalidValue(operator=operator, argument=argument, rule=rule, given=given_text(values))
    return tuple(entries[1:-1])

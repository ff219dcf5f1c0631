# SPDX-License-Identifier: Apache-2.0
"""The inverses that other systems lack, under the names of these systems, computed by the neutral operators."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from .._arguments import is_integer, per_axis, read_once, spatial_rank
from .._arrays.kinds import is_numpy, is_torch, shape_of
from .._core import Operator
from .._errors import Error, InvalidType, InvalidValue, given_text, text_in, value_text
from .._typing import Array, Layout, Operation
from . import docstrings
from .docstrings import Function
from .token_orders import integers

_fold: Operation = Operator("fold", data="patches").__call__
_unfold: Operation = Operator("unfold", data="input").__call__


def described(of: str, cut: Callable[..., Any], **meanings: str) -> Callable[[Function], Function]:
    """Returns a decorator that completes the docstring of a function that undoes `cut`. of: the operator that `cut`
    calls."""
    return docstrings.described(
        of,
        sums=True,
        sections={"Types": "numbers and booleans, summed and averaged as patchfold.fold does."},
        patches=f"the patches, as {cut.__name__} makes them",
        reduction='"mean" of the elements that meet, which gives the images back where nobody changed the patches; or '
        f'"sum", the gradient of {cut.__name__}',
        **meanings,
    )


def renamed(error: Error, operator: str, names: Mapping[str, str]) -> Error:
    """Returns an error of a neutral operator as an error of another function, with this function's argument names."""
    facts = error._facts()
    for ours, theirs in names.items():
        for part in ("rule", "expected", "hint"):
            facts[part] = re.sub(rf"\b{ours}\b", theirs, facts[part])
    return type(error)(operator=operator, argument=names.get(error.argument, error.argument), **facts)


def put_back(
    operator: str,
    patches: Array,
    out: Array | None,
    output_size: Any,
    window: Mapping[str, Any],
    layout: Layout,
    reduction: Any,
) -> Array:
    """Puts a grid of patches, whose elements are in the order (taps, channel), back into the images that they were cut from.

    output_size: a number stands for every axis.
    window: extents of a patch, steps between patches, steps between taps and the rule of padding, in this order, by the
    names of the caller's arguments. Outside of NumPy and torch, a mean of patches that do not overlap is computed as a sum,
    which has derivatives.
    """
    reduction = word_of(operator, "reduction", reduction, "mean", "sum")
    *named, (_, padding) = window.items()
    sizes = tuple(integers(operator, name, value) for name, value in named)
    rank = spatial_rank(*sizes)
    extents: Any = read_once(output_size)
    if type(extents) is int:
        extents = (extents,) * rank
    axes = zip(*(per_axis(value, rank) for value in sizes), strict=False)
    disjoint = all((size - 1) * step + 1 <= stride for size, stride, step in axes)
    # Outside of NumPy and torch a mean has no gradient, so a sum replaces it if patches do not overlap. Such a sum differs
    # from the mean only in the sign of -0.
    reduce = reduction if not disjoint or is_numpy(patches) or is_torch(patches) else "sum"
    try:
        return _fold(patches, out, extents, *sizes, padding, layout, "kernel", "grid", None, reduce)
    except Error as error:
        raise renamed(error, operator, {"reduce": "reduction", **_names(window)}) from None


def covered(operator: str, patches: Any, window: Mapping[str, Any], layout: Layout) -> tuple[int, ...]:
    """Returns the extents that a grid of patches covers; zeros, which fit no image, for an array without a grid. window:
    as for put_back."""
    sizes = [integers(operator, name, value) for name, value in window.items() if name != "padding"]
    rank = spatial_rank(*sizes)
    shape = shape_of(patches, operator, "patches") if hasattr(patches, "shape") else ()
    first = len(shape) - rank - (layout == "channels_last")
    if first < 0:
        return (0,) * rank
    parts = zip(shape[first : first + rank], *(per_axis(value, rank) for value in sizes), strict=False)
    return tuple(max((count - 1) * step + (taps - 1) * rate + 1, 0) for count, taps, step, rate in parts)


def im2col(operator: str, x: Array, out: Array | None, window: Mapping[str, Any]) -> Array:
    """Copies patches into columns (N, C*K, L): the inverse of a Col2Im with these arguments.

    window: as for put_back, but in place of the rule of padding the pads: first the begins of all axes, then all ends.
    """
    *sizes, pads = window.values()
    both: Any = read_once(pads, 0)
    if type(both) is tuple:
        half = len(both) // 2
        if len(both) % 2:
            rule = "must be all begins, then all ends"
            raise InvalidValue(operator, "pads", rule, value_text(both), "an even count")
        both = list(zip(both[:half], both[half:], strict=True))
    try:
        return _unfold(x, out, *sizes, both)
    except Error as error:
        raise renamed(error, operator, _names(window)) from None


def _names(window: Mapping[str, Any]) -> dict[str, str]:
    """Returns a dict from the neutral operators' argument names to the caller's."""
    return dict(zip(("kernel_size", "stride", "dilation", "padding"), window, strict=True))


def word_of(operator: str, argument: str, word: Any, *words: str) -> Any:
    """Returns the word as a plain text. Raises an error if the word is none of `words`."""
    found = text_in(word)
    if found not in words:
        kind = InvalidValue if isinstance(word, str) else InvalidType
        rule = "must be one of " + ", ".join(map(repr, words))
        raise kind(operator=operator, argument=argument, rule=rule, given=given_text(word))
    return found


def inner(operator: str, argument: str, values: Any, rank: int) -> Any:
    """Returns the numbers of the spatial axes: the inner part of a list [1, .., 1]. Returns a single integer unchanged."""
    if is_integer(values):
        return values
    rule = f"must be [1, .., 1] with {rank} entries between"
    try:
        entries = list(values)
    except TypeError:
        raise InvalidType(operator=operator, argument=argument, rule=rule, given=given_text(values)) from None
    if len(entries) != rank + 2 or entries[0] != 1 or entries[-1] != 1:
        raise InvalidValue(operator=operator, argument=argument, rule=rule, given=given_text(values))
    return tuple(entries[1:-1])

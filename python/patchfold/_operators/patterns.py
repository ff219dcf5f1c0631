# SPDX-License-Identifier: Apache-2.0
"""Reads patterns of rearrange, such as "b (h p) c -> b h (p c)", and checks them against a shape.

torch.compile traces this module, and accepts no generators in some places, so lists stand there.
"""

from __future__ import annotations

import functools
from math import prod
from typing import Any, NamedTuple

from .. import _core
from .._arguments import read_once
from .._arrays.kinds import is_symbol
from .._errors import InvalidType, InvalidValue, given_text, value_text
from .moves import Shape

OP = "rearrange"
_MOST_AXES = 32
_LIMIT = 1 << 60
_REST = "..."

Group = tuple[str, ...] | None
"""The names in one axis of a pattern: empty for an axis "()" of one element; None for an ellipsis that stands alone."""

Sizes = tuple[tuple[str, int], ...]


class Plan(NamedTuple):
    """A rearrangement of arrays of one shape."""

    source: tuple[Shape, ...]
    """For each axis of x, the sizes of the names in its group: (h, p) for an axis written "(h p)"."""
    order: Shape
    """The numbers of the parts in the order of the result; the parts are the entries of `source`, counted over all axes of
    x."""
    target: Shape
    """The number of parts of each axis of the result."""
    shape: Shape
    """The shape of the result."""


def _refuse(
    argument: str, rule: str, given: object, expected: str = "", code: str = "value", hint: str = ""
) -> InvalidValue:
    return InvalidValue(OP, argument, rule, value_text(given), expected, code=code, hint=hint)


def _side(text: str, is_left: bool) -> tuple[Group, ...]:
    groups: list[Group] = []
    inside: list[str] | None = None
    words = text
    for mark in ("(", ")", _REST):
        words = words.replace(mark, f" {mark} ")
    for token in words.split():
        if token == "(" and inside is None:
            inside = []
        elif token == "(":
            raise _refuse("pattern", "parentheses must not stand in parentheses", text.strip())
        elif token == ")" and inside is not None:
            groups.append(tuple(inside))
            inside = None
        elif token == ")":
            raise _refuse("pattern", "each closing parenthesis must follow an opening one", text.strip())
        elif token == _REST and inside is None:
            groups.append(None)
        elif token == _REST and is_left:
            raise _refuse("pattern", "... must stand outside of parentheses before the arrow", text.strip())
        elif token == _REST or token.isidentifier():
            if inside is None:
                groups.append((token,))
            else:
                inside.append(token)
        elif token != "1":
            raise _refuse("pattern", "may hold names, 1, (), parentheses and ... only", token)
        elif inside is None:
            groups.append(())
    if inside is not None:
        raise _refuse("pattern", "each opening parenthesis must be closed", text.strip())
    names = _names(groups)
    for name in names:
        if names.count(name) > 1:
            raise _refuse("pattern", "each name must stand once on each side of the arrow", f"{name} twice: {text.strip()}")
    return tuple(groups)


def _names(groups: list[Group] | tuple[Group, ...]) -> list[str]:
    return [name for group in groups for name in ((_REST,) if group is None else group)]


def _parsed(pattern: str) -> tuple[tuple[Group, ...], tuple[Group, ...]]:
    sides = pattern.split("->")
    if len(sides) != 2:
        raise _refuse("pattern", "must have one arrow ->", pattern, "one as in 'h w c -> c h w'")
    left, right = _side(sides[0], True), _side(sides[1], False)
    before, after = _names(left), _names(right)
    for names, others, where in ((before, after, "left"), (after, before, "right")):
        alone = [name for name in names if name not in others]
        if alone:
            given = f"{', '.join(alone)} on the {where} only"
            raise _refuse("pattern", "must have the same names on both sides of the arrow", given)
    return left, right


def _text(group: Group) -> str:
    return _REST if group is None else group[0] if len(group) == 1 else f"({' '.join(group)})"


def _elements(extent: int, axis: int) -> str:
    """Returns words for an error. A text with an open extent fixes the extent in torch.export, so only a call that fails
    makes one."""
    return f"{extent} elements on axis {axis}"


def _cut(extent: int, axis: int, group: tuple[str, ...], sizes: dict[str, int]) -> Shape:
    """Returns the extents of the parts of an axis; an unknown extent is -1."""
    unknown = [name for name in group if name not in sizes]
    known = prod([sizes[name] for name in group if name in sizes])
    if len(unknown) > 1:
        rule = f"must be given: all sizes of {_text(group)} but one are needed"
        raise _refuse(unknown[0], rule, "", "an integer", code="missing")
    if extent < 0:
        return tuple([sizes.get(name, -1) for name in group])
    if not group and extent != 1:
        rule = "an axis that the pattern writes as 1 or () must have one element"
        raise _refuse("x", rule, _elements(extent, axis), "1 element", code="shape")
    if not unknown:
        if known != extent:
            what = "its size" if len(group) == 1 else "the product of its sizes"
            rule = f"the extent of {_text(group)} must be {what}"
            raise _refuse("x", rule, _elements(extent, axis), f"{known}", code="shape")
    elif known == 0:
        raise _refuse(unknown[0], f"must be given, since another size of {_text(group)} is 0", "", "an integer", "missing")
    elif extent % known:
        what = " * ".join(f"{name}={sizes[name]}" for name in group if name in sizes)
        rule = f"the extent of {_text(group)} must be a multiple of the sizes that are given"
        raise _refuse("x", rule, _elements(extent, axis), f"a multiple of {known} ({what})", code="divisible")
    return tuple([sizes[name] if name in sizes else extent // known for name in group])


def plan_of(pattern: str, shape: Shape, sizes: Sizes) -> Plan:
    """Returns the plan for arrays of a shape. The first extent may be unknown, which is -1."""
    left, right = _parsed(pattern)
    known = dict(sizes)
    names = _names(left)
    for name, size in sizes:
        if name not in names:
            hint = _core.did_you_mean(name, [each for each in names if each != _REST])
            raise _refuse(name, "is not a name of the pattern", pattern, code="unknown_argument", hint=hint)
        if size < 0:
            raise _refuse(name, "must be at least 0", size)
    rest = len(shape) - len(left) + 1 if None in left else 0
    if rest < 0 or (None not in left and len(shape) != len(left)):
        rule = "must have an axis for each of the pattern's before the arrow"
        most = f"rank {len(left) - 1} or more" if None in left else f"rank {len(left)}"
        raise _refuse("x", rule, f"{shape} of rank {len(shape)}", most, code="rank")

    source: list[tuple[int, ...]] = []
    places: dict[str, list[int]] = {}  # the numbers of each name's parts; an ellipsis has many
    count = 0
    for group in left:
        for name in (_REST,) * rest if group is None else group:
            places.setdefault(name, []).append(count)
            count += 1
        for _ in range(rest if group is None else 1):
            extent = shape[len(source)]
            source.append((extent,) if group is None else _cut(extent, len(source), group, known))
    axes: list[list[int]] = []
    for group in right:
        if group is None:
            axes += [[place] for place in places.get(_REST, [])]
        else:
            axes.append([place for name in group for place in places.get(name, [])])
    if max(count, len(axes)) > _MOST_AXES:
        raise _refuse("pattern", f"must have at most {_MOST_AXES} names and axes", max(count, len(axes)), code="limit")
    parts = [extent for cut in source for extent in cut]
    result = tuple([max(-1, prod([parts[place] for place in axis])) for axis in axes])
    return Plan(
        tuple(source), tuple([place for axis in axes for place in axis]), tuple([len(axis) for axis in axes]), result
    )


def bounded_plan_of(pattern: str, shape: Shape, sizes: Sizes) -> Plan:
    """Returns the plan for arrays of a shape, after a check of the result's extents. A graph of torch checks them itself: a
    check here would bound the extents that it takes."""
    plan = plan_of(pattern, shape, sizes)
    if max([0, *plan.shape]) >= _LIMIT:
        raise _refuse("x", "extents of the result must stay below 2^60", shape, code="overflow")
    return plan


@functools.lru_cache(maxsize=1024)
def move_of(pattern: str, shape: Shape, sizes: Sizes) -> _core.Rearrangement:
    """Returns the engine's rearrangement for arrays of a shape."""
    plan = bounded_plan_of(pattern, shape, sizes)
    return _core.Rearrangement(plan.source, plan.order, plan.target)


def sizes_of(axes: dict[str, Any]) -> Sizes:
    """Returns a caller's sizes as ints, since a cache would treat True and 1.0 like 1."""
    sizes = tuple(
        [(name, size if type(size) is int or is_symbol(size) else read_once(size)) for name, size in axes.items()]
    )
    for name, size in sizes:
        if type(size) is not int and not is_symbol(size):
            rule = "must be an integer, the size of an axis"
            raise InvalidType(OP, name, rule, given_text(axes[name]))
    return sizes

# SPDX-License-Identifier: Apache-2.0
"""The orders of tokens: the parts into which the axes of an image are cut, and the order of the parts in the tokens."""

from __future__ import annotations

import functools
from math import prod
from typing import Any, NamedTuple

from .._arguments import read_once
from .._arrays.kinds import is_symbol
from .._core import spelled_order
from .._errors import InvalidType, InvalidValue, given_text, text_in, value_text

Shape = tuple[int, ...]

_LIMIT = 1 << 60
# If the last axis has at most this many elements, the hint of an error supposes a picture with channels last.
MOST_CHANNELS = 4

Seams = tuple[Shape, ...] | None
"""Axes to join, as (axis, next axis, extent of the next axis). The two axes can be joined without a copy if the stride of
the first is the extent times the stride of the next. None for an array without elements, of which no view is made."""


class Order(NamedTuple):
    is_channel_first: bool
    """Whether a token is (channel, taps); False: (taps, channel)."""
    merge_size: int
    frames: int
    """How many frames a patch has if patch_size is one number; 0 if images have no axis of frames."""
    spelled: Shape = ()
    """The axes of a patch, and -1 for the channels, in the order that a caller spelled out; empty for an order with a
    name."""


ORDERS = {
    "vit": Order(False, 1, 0),
    "torch": Order(True, 1, 0),
    "qwen": Order(True, 2, 2),
}


LAYOUTS = ("channels_first", "channels_last", "frames_first")
_SHAPES = {
    shape: layout
    for layout, shapes in zip(LAYOUTS, ("chw cdhw cthw cfhw", "hwc dhwc thwc fhwc", "tchw fchw"), strict=True)
    for shape in shapes.split()
}
_MODELS = {"qwen": "qwen", "glm": "qwen", "vit": "vit", "siglip": "vit", "naflex": "vit", "gemma": "vit", "torch": "torch"}
"""The order that a word means which begins with the name of a family of models."""


class Geometry(NamedTuple):
    """The parts of the axes of an image, and their order in the tokens."""

    image: Shape
    tokens: Shape
    parts: Shape
    """The image with every axis cut into all its parts."""
    order: Shape
    """The axes of `parts` in the order of the tokens."""
    channel: int
    """The place of the channels in `order`."""
    image_seams: Seams
    """The seams at which the axes of `parts` join to axes of the image."""
    token_seams: Seams
    """The seams at which the axes of `parts`, in `order`, join to axes of the tokens."""


def _seams(sizes: list[int], groups: list[int]) -> Seams:
    """Returns the seams of axes that join in groups. sizes: the extents of the axes. groups: the number of axes in each
    group, in order."""
    found: list[Shape] = []
    axis = 0
    if any(is_symbol(size) for size in sizes):  # a comparison with 1 would fix an open extent
        return None
    for count in groups:
        long = [each for each in range(axis, axis + count) if sizes[each] != 1]
        found += [(first, second, sizes[second]) for first, second in zip(long, long[1:], strict=False)]
        axis += count
    return None if 0 in sizes else tuple(found)


def channel_place(order: Order, layout: str) -> int:
    """Returns the place of the channels among the axes of an image without a batch; -1 for the last."""
    return -1 if layout == "channels_last" else 1 if order.frames or layout == "frames_first" else 0


@functools.lru_cache(maxsize=1024)
def geometry(batch: Shape, channels: int, extents: Shape, patch: Shape, merge: Shape, order: Order, layout: str) -> Geometry:
    """Returns the geometry for checked arguments."""
    cuts = [
        [(extent // (p * m), "outer"), *([(m, "inner")] if m > 1 else []), (p, "tap")]
        for extent, p, m in zip(extents, patch, merge, strict=True)
    ]
    image = list(extents)
    place = channel_place(order, layout)
    place = len(image) if place < 0 else place
    image.insert(place, channels)
    cuts.insert(place, [(channels, "channel")])
    cuts = [*([(size, "batch")] for size in batch), *cuts]
    parts = [part for cut in cuts for part in cut]

    def places(of: list[tuple[int, str]], name: str) -> list[int]:
        return [axis for axis, part in enumerate(of) if part[1] == name]

    positions = places(parts, "outer") + places(parts, "inner")
    taps, channel = places(parts, "tap"), places(parts, "channel")
    elements = [*channel, *taps] if order.is_channel_first else [*taps, *channel]
    if order.spelled:
        elements = [taps[axis] if axis >= 0 else channel[0] for axis in order.spelled]
    counts = [parts[axis][0] for axis in positions]
    sizes = [size for size, _ in parts]
    in_order = [*places(parts, "batch"), *positions, *elements]
    return Geometry(
        image=(*batch, *image),
        tokens=(*batch, prod(counts), channels * prod(patch)),
        parts=tuple(sizes),
        order=tuple(in_order),
        channel=in_order.index(channel[0]),
        image_seams=_seams(sizes, [len(cut) for cut in cuts]),
        token_seams=_seams([sizes[axis] for axis in in_order], [1] * len(batch) + [len(positions), len(patch) + 1]),
    )


def _spelled(order: Any) -> tuple[tuple[int, ...], bool] | None:
    return spelled_order(order)


_spelled.__dict__["_dynamo_marked_constant"] = True  # makes torch.compile call it, since native functions cannot be traced


def order_of(op: str, order: Any, layout: Any) -> Order:
    spelled = None if text_in(order) is None or order in ORDERS else _spelled(order)
    for argument, word, words in (("order", order, tuple(ORDERS)), ("layout", layout, LAYOUTS)):
        if text_in(word) not in words and not (argument == "order" and spelled):
            rule = "must be one of " + ", ".join(map(repr, words))
            kind = InvalidValue if isinstance(word, str) else InvalidType
            hint = "" if argument == "layout" else "or the axes of a token in order: 'p1 p2 c', 'c pf ph pw'"
            raise kind(op, argument, rule, given_text(word), _meant(text_in(word) or "", words), hint=hint)
    if spelled is None:
        return ORDERS[str.__str__(order)]
    places, is_mixed = spelled
    axes = tuple(range(len(places) - 1))
    if is_mixed:
        names = {2: ("ph", "pw"), 3: ("pf", "ph", "pw")}.get(len(axes)) or [f"p{axis + 1}" for axis in axes]
        expected = " ".join("c" if axis < 0 else names[axis] for axis in places)
        raise InvalidValue(op, "order", "must name all axes in one way", given_text(order), repr(expected))
    return Order(False, 1, 0, places)


def _meant(word: str, words: tuple[str, ...]) -> str:
    """Returns the text of the word that a caller probably means; an empty text if no word is near."""
    small = word.lower()
    if words is LAYOUTS:
        shape = small.lstrip("bn")
        return repr(_SHAPES[shape]) if shape in _SHAPES else ""
    axes = "".join(letter if letter.isalnum() else " " for letter in small).split()
    for each in (" ".join(axes), " ".join("".join(axes)), " ".join([*axes, "c"])):
        if _spelled(each):
            return repr(each)
    return next((repr(order) for start, order in _MODELS.items() if small.startswith(start)), "")


def check_spelled(op: str, order: Order, patch: Shape, given: Any) -> None:
    """Raises an error for an order whose axes are not the axes of a patch."""
    if order.spelled and len(order.spelled) != len(patch) + 1:
        rule = "must name c and an axis for each entry of patch_size"
        raise InvalidValue(op, "order", rule, given_text(given), f"c and {len(patch)} axes, for patches of {patch}")


def integers(op: str, argument: str, value: Any) -> Any:
    """Returns an argument as an int of at least 1, or as a tuple of such ints."""
    symbols = isinstance(value, (tuple, list)) and any(is_symbol(number) for number in value)
    read = tuple(value) if symbols else read_once(value)
    numbers = read if type(read) is tuple else (read,)
    if not numbers or not all(type(number) is int or is_symbol(number) for number in numbers):
        rule = "must be an integer or a sequence of integers"
        raise InvalidType(op, argument, rule, given_text(value))
    known = [number for number in numbers if not is_symbol(number)]
    if min(known, default=1) < 1:
        raise InvalidValue(op, argument, "must be at least 1", value_text(value))
    if max(known, default=1) >= _LIMIT:
        raise InvalidValue(op, argument, "must stay below 2^60", value_text(value), code="limit")
    return read


def merge_of(op: str, order: Order, merge_size: Any, rank: int) -> Shape:
    """Returns how many patches a merge block has along each axis."""
    size = order.merge_size if merge_size is None else integers(op, "merge_size", merge_size)
    if type(size) is not int:
        rule = "must be one number, for rows and columns"
        raise InvalidValue(op, "merge_size", rule, str(size))
    most = 6 if size == 1 else 4
    if rank > most:
        raise InvalidValue(op, "patch_size", "has too many entries", str(rank), f"at most {most}")
    if size > 1 and rank < 2:
        rule = "needs rows and columns"
        raise InvalidValue(op, "merge_size", rule, str(size), "1")
    return (1,) * (rank - 2) + (size,) * min(rank, 2)


def check_extents(
    op: str, argument: str, extents: Shape, patch: Shape, merge: Shape, frames: bool = False, tokens: int | None = None
) -> None:
    """Raises an error for extents that are 0, or no multiples of patches times merge blocks. frames: whether the first axis
    has the frames of a video. tokens: how many tokens the video has; None: as many as its frames need."""
    steps = tuple(p * m for p, m in zip(patch, merge, strict=True))
    what = "patch_size" if max(merge) == 1 else "patch_size * merge_size"
    if any(extent % step for extent, step in zip(extents, steps, strict=True)):
        rule, expected = f"the spatial extents must be multiples of {what}", f"multiples of {steps}"
        others = any(extent % step for extent, step in zip(extents[1:], steps[1:], strict=True))
        if frames and len(patch) < 3:
            hint = f"patches of two frames: patch_size={(2, *patch)}"
        else:
            hint = "pad or crop"
            needed = -(-extents[0] // steps[0]) * steps[0] * prod(extents[1:]) // prod(patch)
            if frames and not others and tokens in (None, needed):
                what = f"a picture is shown {steps[0]} times" if extents[0] == 1 else "a video repeats its last frame"
                hint = f'{what}: repeat="last"'
        raise InvalidValue(op, argument, rule, str(extents), expected, code="divisible", hint=hint)
    if 0 in extents:
        rule = f"the spatial extents must be at least {what}"
        raise InvalidValue(op, argument, rule, str(extents), f"at least {steps}")


def frames_axis(op: str, repeat: Any, patch: Shape, kind: Order, layout: str) -> int | None:
    """Returns the axis whose last frame is repeated, as a negative number; None without a repetition."""
    if repeat is None:
        return None
    if text_in(repeat) != "last":
        error = InvalidValue if isinstance(repeat, str) else InvalidType
        raise error(op, "repeat", "must be 'last' or None", given_text(repeat))
    if len(patch) != 3:
        rule = "needs frames, the first of three entries of patch_size"
        raise InvalidValue(op, "repeat", rule, f"'last' for patches of {patch}", f"patch_size={(2, *patch[-2:])}")
    return -4 if channel_place(kind, layout) else -3


def image_axes(op: str, shape: Shape, patch: Shape, merge: Shape, kind: Order, layout: str) -> tuple[Shape, int, Shape]:
    """Returns the batch, the channels and the spatial extents of an image. If one change of the call would work, the error
    proposes this change."""
    if layout == "frames_first" and len(patch) != 3:
        raise InvalidValue(op, "layout", "frames_first needs three entries of patch_size", str(patch), str((2, *patch[-2:])))
    try:
        return _image_axes(op, shape, patch, merge, kind, layout)
    except InvalidValue as error:
        refused = error
    last = layout == "channels_last"
    shown = f'a picture is a video that shows it {patch[0]} times: x[None] and repeat="last"'
    changes = {
        "a grey picture is x[..., None]" if last else "a grey picture is x[None]": (
            (*shape, 1) if last else (1, *shape),
            layout,
        ),
        shown: ((patch[0], *shape), layout),
        'channels last? layout="channels_last"': (shape, "channels_last"),
    }
    rank, few = len(patch) + 1 - len(shape), bool(shape) and shape[-1] <= MOST_CHANNELS
    video = kind.frames > 0 or layout == "frames_first"
    likely = (rank == 1 and not video, rank == 1 and video, rank <= 0 and not last and few)
    for (hint, (changed, where)), is_likely in zip(changes.items(), likely, strict=True):
        if not is_likely:
            continue
        try:
            _image_axes(op, changed, patch, merge, kind, where)
        except InvalidValue:
            continue
        raise InvalidValue(op, "x", **{**refused._facts(), "hint": hint}) from None
    raise refused


def _image_axes(op: str, shape: Shape, patch: Shape, merge: Shape, kind: Order, layout: str) -> tuple[Shape, int, Shape]:
    axes = len(patch) + 1
    if len(shape) < axes:
        rule = "must have an axis of channels and one for each entry of patch_size"
        raise InvalidValue(op, "x", rule, str(shape), f"rank {axes} or more", code="rank")
    if shape[0] < 0 and len(shape) == axes:
        raise InvalidValue(op, "x", "only the batch may be open", str((None, *shape[1:])), code="shape")
    batch, rest = shape[: len(shape) - axes], list(shape[len(shape) - axes :])
    channels = rest.pop(channel_place(kind, layout))
    check_extents(op, "x", tuple(rest), patch, merge, kind.frames > 0 or layout == "frames_first")
    return batch, channels, tuple(rest)

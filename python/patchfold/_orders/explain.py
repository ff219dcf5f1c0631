# SPDX-License-Identifier: Apache-2.0
"""Finds the operator, order and geometry that turn an image into columns, from the values of both arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arguments import same_pads
from .._arrays.kinds import is_torch
from .._errors import InvalidType, InvalidValue, given_text
from .calls import call_of
from .elsewhere import MADE, ROWS
from .index_map import OUTSIDE, UNKNOWN, IndexMap, Indices, maps
from .names import Name, named
from .readings import Found

EXPLAIN_ORDER = "explain_order"
MOST = 1 << 26
"""The most elements of an array: a search needs about 40 bytes for each element of both arrays."""


@dataclass(frozen=True)
class OrderAnswer:
    """The answer of ``explain_order``, which is true if an operator was found; ``str()`` gives a text of a few lines."""

    operator: str
    """The function of patchfold: "unfold", "space_to_depth", "space_to_batch", or an inverse of these; "patchify",
    "unpatchify" or "rearrange" for other blocks; "" if no function makes the columns."""
    call: str
    """The call to type: "patchfold.unfold(image, (3, 3), order='channel')"; "" if there is none."""
    order: str
    """The order inside a patch: "channel" for row = channel * taps + tap, "kernel" for row = tap * channels + channel,
    "column" like channel, but with taps counted down the columns, as in MATLAB. "" if the layout alone shows the order."""
    layout: str
    """The axes of the columns in einops' notation: "b (c kh kw) (h w)", where kh and kw are taps, h and w positions."""
    kernel_size: tuple[int, ...] = ()
    stride: tuple[int, ...] = ()
    dilation: tuple[int, ...] = ()
    padding: tuple[tuple[int, int], ...] = ()
    fill: float | complex | int | bool | None = None
    """The value of padding; None if no element of the columns lies in padding."""
    systems: tuple[str, ...] = ()
    """Operators of other systems that give columns in this layout."""
    ambiguous: bool = False
    """True if another order is possible too, since values repeat."""
    reason: str = ""
    """The reason that no operator was found, or the part of the answer that remains uncertain."""

    def __bool__(self) -> bool:
        return bool(self.operator)

    def __str__(self) -> str:
        if not self:
            return f"none: no operator of the family makes these columns of this image. {self.reason}"
        lines = [f"{self.call}", f"  order={self.order!r}: axes {self.layout}" if self.order else f"  axes {self.layout}"]
        if self.kernel_size:
            lines.append(
                f"  kernel_size={self.kernel_size}, stride={self.stride}, dilation={self.dilation}, padding={self.padding}"
                + ("" if self.fill is None else f", filled with {self.fill}")
            )
        lines += [f"  as {system}" for system in self.systems]
        return "\n".join([*lines, f"  {self.reason}"] if self.reason else lines)


def explain_order(image: Any, columns: Any) -> OrderAnswer:
    """Names the operator, order and geometry that turn an image into columns, or says that none does.

    Compares values: an image whose elements all differ, such as ``np.arange(n).reshape(..)``, gives a certain answer. If
    values repeat, the answer says whether another order is possible too. Every answer was compared with every element of
    ``columns``. Finds torch.nn.functional.unfold, tf.image.extract_patches, and space_to_depth and pixel_unshuffle in both
    orders, which ONNX calls DCR and CRD. Also finds space_to_batch, OpenVINO's ExtractImagePatches, MATLAB's im2col, tokens
    of vision transformers, and sliding windows. Kernel, stride and dilation may be any, and so may the one number that pads.
    With the two arrays exchanged, finds inverses that copy: depth_to_space, batch_to_space, fold of blocks. For other
    functions that cut axes and put their parts in another order, such as PatchMerging of a Swin transformer, the answer is a
    call of rearrange, or of patchify for tokens with merge blocks.

    Arguments:
        image: an array of 1 to 8 axes, at most 2**26 elements, in any layout of batch, channels and 1 to 3 spatial axes.
        columns: the same, of the result.

    Errors: InvalidType for an object that is not an array of numbers, InvalidValue for too many axes or elements.

    Example:
        >>> import numpy as np, patchfold
        >>> image = np.arange(2 * 5 * 6).reshape(1, 2, 5, 6)
        >>> columns = patchfold.unfold(image, (3, 2), stride=2, order="kernel")
        >>> print(patchfold.explain_order(image, columns))
        patchfold.unfold(image, (3, 2), stride=(2, 2), order='kernel')
          order='kernel': axes b (kh kw c) (h w)
          kernel_size=(3, 2), stride=(2, 2), dilation=(1, 1), padding=((0, 0), (0, 0))
    """
    source, result = _values(image, "image"), _values(columns, "columns")
    if source.size == 0 or result.size == 0:
        return _none("One of both has no elements.")
    if source.ndim == 0 or result.ndim == 0:
        return _none("A single number has no patches.")
    if source.shape == result.shape and bool(((source == result) | ((source != source) & (result != result))).all()):
        return _none("They are equal: nothing is cut, and nothing moves.")
    indices, missing = _indices_of(source, result)
    if indices is None:
        return _none(missing)
    if np.count_nonzero(indices >= 0) < 4:
        return _none(
            "Too few elements of image differ to tell: take one whose elements all differ, np.arange(n).reshape(..)."
        )
    for map in maps(indices, source.shape):
        outside = _padding(map, source, result)
        name = None if outside is None else named(map, only_blocks=False)
        if outside is not None and name is not None:
            fill = outside[0].item() if outside.size else None
            return _answer(name, map, fill, _has_rival(name, map, source, result))
    return _none("Its elements are all there, but in another order, or cut in another way.")


def _none(reason: str) -> OrderAnswer:
    return OrderAnswer("", "", "", "", reason=reason)


def _indices_of(image: npt.NDArray[Any], columns: npt.NDArray[Any]) -> tuple[Indices | None, str]:
    """Returns for each element of the columns the index of the image's element with the same value: OUTSIDE if the element
    must be padding, UNKNOWN if several elements have the value, or if it may be the value of padding. Returns None and a
    reason if the columns hold several values that the image lacks."""
    values, wanted = image.reshape(-1), columns.reshape(-1)
    if values.dtype != wanted.dtype:
        kind = wanted.dtype if wanted.dtype.kind in "fc" and values.dtype.kind in "biuf" else np.result_type(values, wanted)
        values, wanted = values.astype(kind), wanted.astype(kind)
    unique, first, counts = np.unique(values, return_index=True, return_counts=True)
    place = np.minimum(np.searchsorted(unique, wanted), unique.size - 1)
    near = unique[place]
    hit = (near == wanted) | ((near != near) & (wanted != wanted))
    indices = np.where(hit, np.where(counts[place] == 1, first[place], UNKNOWN), OUTSIDE).astype(np.int64)
    strange = wanted[~hit]
    if strange.size and not bool(((strange == strange[0]) | ((strange != strange) & (strange[0] != strange[0]))).all()):
        other = strange[strange != strange[0]]
        examples = f"{strange[0]} and {other[0] if other.size else strange[0]}"
        return None, (
            f"{strange.size} of {wanted.size} elements of columns are nowhere in image, such as {examples}: "
            "they are sums, or come from another image."
        )
    # The value of padding may also occur in the image: it may be 0, or the most frequent number of the columns.
    indices[wanted == 0] = UNKNOWN if not strange.size else indices[wanted == 0]
    known = indices[indices >= 0]
    if known.size and not strange.size:
        often = int(np.bincount(known).argmax()) if values.size <= 1 << 24 else int(known[0])
        indices[indices == often] = UNKNOWN
    return indices.reshape(columns.shape), ""


def _padding(map: IndexMap, image: npt.NDArray[Any], columns: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Returns the elements of the columns that the map places outside the image. Returns None unless all elements outside
    are equal and all others agree with the map."""
    reference = map.indices()
    inside = reference != OUTSIDE
    expected = image.reshape(-1)[np.maximum(reference, 0)]
    if expected.dtype != columns.dtype:
        expected = expected.astype(columns.dtype) if columns.dtype.kind in "fc" else expected
    same = (expected == columns) | ((expected != expected) & (columns != columns))
    outside: npt.NDArray[Any] = columns[~inside]
    one = (outside == outside[:1]) | ((outside != outside) & (outside[:1] != outside[:1]))
    return outside if bool((same | ~inside).all()) and bool(one.all()) else None


def _has_rival(name: Name, map: IndexMap, image: npt.NDArray[Any], columns: npt.NDArray[Any]) -> bool:
    """Returns whether the other order of channels and taps gives the same columns."""
    found = name.found
    if found is None or name.inverted or found.image.channels == 1:
        return False
    axis = found.image.axis_of(("c", 0))
    digits = list(map.digits)
    for place, each in enumerate(digits):
        if len(each) > 1 and each[0].axis == axis:
            digits[place] = (*each[1:], each[0])
        elif len(each) > 1 and each[-1].axis == axis:
            digits[place] = (each[-1], *each[:-1])
    rival = replace(map, digits=tuple(digits))
    return rival != map and _padding(rival, image, columns) is not None


def _answer(name: Name, map: IndexMap, fill: Any, has_rival: bool) -> OrderAnswer:
    operator, call = call_of(name, map, fill)
    found, reasons = name.found, []
    if found is None:
        return OrderAnswer(operator, call, "", name.pattern.partition(" -> ")[2], systems=_systems_of(name, fill))
    if name.inverted:
        reasons.append("image holds the blocks, and columns the image that they make.")
    elif found.image.channels == 1 and operator != "rearrange":
        reasons.append("With one channel, the orders channel and kernel are the same.")
    elif has_rival:
        reasons.append("Values of image repeat, so that the other order fits, too: take an image whose elements all differ.")
    if found.open and not name.inverted and operator != "rearrange":
        reasons.append("Not to be seen in these columns: " + ", ".join(found.open) + ".")
    layout, geometry = found.image.text(found.axes), (found.kernel, found.stride, found.dilation, found.padding)
    systems = _systems_of(name, fill)
    return OrderAnswer(operator, call, found.order, layout, *geometry, fill, systems, has_rival, " ".join(reasons))


def _values(array: Any, argument: str) -> npt.NDArray[Any]:
    """Returns the values of an array of numbers as a NumPy array."""
    if is_torch(array):
        array = array.detach().cpu()
        array = array.float() if str(array.dtype) == "torch.bfloat16" else array
    if array is None or isinstance(array, (type, str, bytes)):
        raise InvalidType(operator=EXPLAIN_ORDER, argument=argument, rule="must be an array", given=given_text(array))
    if isinstance(array, np.ma.MaskedArray):
        rule = "masked arrays are not taken, since the mask would be lost"
        raise InvalidType(EXPLAIN_ORDER, argument, rule, expected=f"{argument}.data or {argument}.filled(..)")
    try:
        values: npt.NDArray[Any] = np.asarray(array)
    except (ValueError, TypeError, RuntimeError):
        raise InvalidType(EXPLAIN_ORDER, argument, "must be an array of numbers", given_text(array)) from None
    if values.dtype.kind not in "biufc":
        rule = "must hold numbers of NumPy's own types"
        raise InvalidType(EXPLAIN_ORDER, argument, rule, str(values.dtype))
    if values.size > MOST or values.ndim > 8:
        given = f"{values.size} elements, {values.ndim} axes"
        expected = "at most 2**26 elements and 8 axes; a smaller image has the same order"
        raise InvalidValue(EXPLAIN_ORDER, argument, "must be small enough to search", given, expected)
    return values


def _is_same_or_valid(found: Found) -> bool:
    """Returns whether the padding follows the rule valid, same_upper or same_lower."""
    valid, upper, lower = True, True, True
    for i, extent in enumerate(found.image.spatial):
        stride, effective = found.stride[i], (found.kernel[i] - 1) * found.dilation[i] + 1
        less, more = same_pads(extent, found.kernel[i], stride, found.dilation[i])
        begin, count = found.padding[i][0], found.positions[i]
        same = count == -(-extent // stride)
        valid = valid and begin == 0 and count == max((extent - effective) // stride + 1, 0)
        upper = upper and same and begin == less
        lower = lower and same and begin == more
    return valid or upper or lower


FACTS: dict[str, Callable[[Found, Any], bool]] = {
    "zero": lambda found, fill: fill is None or fill == 0,
    "1-D": lambda found, fill: len(found.kernel) == 1,
    "2-D": lambda found, fill: len(found.kernel) == 2,
    "3-D": lambda found, fill: len(found.kernel) == 3,
    "many-D": lambda found, fill: len(found.kernel) in (2, 3),
    "alone": lambda found, fill: not found.image.batch,
    "blocks": lambda found, fill: found.is_blocks(),
    "dense": lambda found, fill: found.kernel == found.stride and max(found.dilation) == 1,
    "undilated": lambda found, fill: max(found.dilation) == 1,
    "unpadded": lambda found, fill: not any(map(any, found.padding)),
    "from_0": lambda found, fill: not any(begin for begin, _ in found.padding),
    "stride_1": lambda found, fill: max(found.stride) == 1,
    "same_or_valid": lambda found, fill: _is_same_or_valid(found),
}


def _systems_of(name: Name, fill: Any = None) -> tuple[str, ...]:
    """Returns the operators of other systems that give columns in this layout with these settings.

    fill: the value of padding.
    """
    found = name.found
    if found is None:
        return ()
    names = []
    for made in [*(row.made for row in ROWS if row.made), *MADE]:
        ordered = made.order in ("", found.order) or found.image.channels == 1
        here = found.layout in made.axes.split("|") and found.image.place in made.place.split()
        holds = here and ordered and (name.inverted or not made.back)
        if holds and all(FACTS[word](found, fill) for word in made.when.split()):
            names.append(f"the inverse of {made.name}" if name.inverted and not made.back else made.name)
    return tuple(names)

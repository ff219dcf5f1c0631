# SPDX-License-Identifier: Apache-2.0
"""Which order is my array? Finds the operator, order and geometry that turn an image into columns, from their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arrays.kinds import is_torch
from .._errors import InvalidType, InvalidValue, given_text
from .layouts import Shape
from .names import Found, call_of, systems_of
from .search import Search, indices_of

EXPLAIN_ORDER = "explain_order"
MOST = 1 << 26
"""Elements of an array: a search needs about 40 bytes for each element of both."""


@dataclass(frozen=True)
class OrderAnswer:
    """What ``explain_order`` found. It is true if an operator was found; ``str()`` says everything in a few lines."""

    operator: str
    """The function of patchfold: "unfold", "space_to_depth", "space_to_batch", or an inverse; "" if there is none."""
    call: str
    """What to type: "patchfold.unfold(image, (3, 3), order='channel')"; "" if there is none."""
    order: str
    """Inside a patch: "channel" for row = channel * taps + tap, "kernel" for row = tap * channels + channel, "column" as
    channel, with the taps of a patch counted down its columns, as MATLAB does."""
    layout: str
    """The axes of the columns in einops' notation: "b (c kh kw) (h w)", where kh and kw are taps, h and w positions."""
    kernel_size: tuple[int, ...] = ()
    stride: tuple[int, ...] = ()
    dilation: tuple[int, ...] = ()
    padding: tuple[tuple[int, int], ...] = ()
    fill: float | complex | int | bool | None = None
    """What padding holds; None if no element of the columns lies in padding."""
    systems: tuple[str, ...] = ()
    """Operators of other systems that give columns in this layout."""
    ambiguous: bool = False
    """Whether values that repeat leave another order possible, too."""
    reason: str = ""
    """Why there is no operator, or what remains open."""

    def __bool__(self) -> bool:
        return bool(self.operator)

    def __str__(self) -> str:
        if not self:
            return f"none: no operator of the family makes these columns of this image. {self.reason}"
        lines = [f"{self.call}", f"  order={self.order!r}: axes {self.layout}"]
        lines.append(
            f"  kernel_size={self.kernel_size}, stride={self.stride}, dilation={self.dilation}, padding={self.padding}"
            + ("" if self.fill is None else f", filled with {self.fill}")
        )
        lines += [f"  as {system}" for system in self.systems]
        return "\n".join([*lines, f"  {self.reason}"] if self.reason else lines)


def explain_order(image: Any, columns: Any) -> OrderAnswer:
    """Names the operator, order and geometry that turn an image into columns, or says that none does.

    Works on values: an image whose elements all differ, such as ``np.arange(n).reshape(..)``, gives a certain answer. Where
    values repeat, the answer says whether another order is possible too. What it finds was compared with every element of
    ``columns``: torch.nn.functional.unfold, tf.image.extract_patches, space_to_depth and pixel_unshuffle in both orders,
    which ONNX calls DCR and CRD, space_to_batch, OpenVINO's ExtractImagePatches, MATLAB's im2col, tokens of vision
    transformers, sliding windows, with any kernel, stride and dilation, and with padding by one number. Given in the other
    direction, it finds the inverses of these that copy: depth_to_space, batch_to_space, fold of blocks.

    Arguments:
        image: an array of 1 to 8 axes, at most 2**26 elements, in any layout of batch, channels and 1 to 3 spatial axes.
        columns: the same, of the result.

    Errors: InvalidType for what is no array of numbers, InvalidValue for more elements.

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
    indices, missing = indices_of(source, result)
    if indices is None:
        inverse = _inverse_answer(source, result)
        return inverse or _none(missing)
    search = Search(source, result, indices)
    found = search.run()
    if found is not None:
        return _answer(found, search, source.shape)
    return _inverse_answer(source, result) or _none(search.reason())


def _none(reason: str) -> OrderAnswer:
    return OrderAnswer("", "", "", "", reason=reason)


def _answer(found: Found, search: Search, shape: Shape) -> OrderAnswer:
    operator, call = call_of(found, shape)
    ambiguous = search.has_rival(found)
    reasons = []
    if found.image.channels == 1:
        reasons.append("With one channel, the orders channel and kernel are the same.")
    elif ambiguous:
        reasons.append("Values of image repeat, so that the other order fits, too: take an image whose elements all differ.")
    if found.open:
        reasons.append("Not to be seen in these columns: " + ", ".join(found.open) + ".")
    return OrderAnswer(
        operator,
        call,
        found.layout.order,
        found.layout.text(found.image),
        found.kernel,
        found.stride,
        found.dilation,
        found.padding,
        found.fill,
        systems_of(found),
        ambiguous and found.image.channels > 1,
        " ".join(reasons),
    )


def _inverse_answer(source: npt.NDArray[Any], result: npt.NDArray[Any]) -> OrderAnswer | None:
    """The answer where the image holds the columns and the columns the image, and each element moves once."""
    if source.size != result.size:
        return None
    indices, _ = indices_of(result, source)
    if indices is None:
        return None
    search = Search(result, source, indices)
    found = search.run()
    if found is None or not found.is_blocks() or found.fill is not None:
        return None
    operator, call = call_of(found, result.shape, inverse=True)
    return OrderAnswer(
        operator,
        call,
        found.layout.order,
        found.layout.text(found.image),
        found.kernel,
        found.stride,
        found.dilation,
        found.padding,
        None,
        tuple(f"the inverse of {name}" for name in systems_of(found)),
        reason="image holds the blocks, and columns the image that they make.",
    )


def _values(array: Any, argument: str) -> npt.NDArray[Any]:
    """An array of numbers in NumPy's memory."""
    if is_torch(array):
        array = array.detach().cpu()
        array = array.float() if str(array.dtype) == "torch.bfloat16" else array
    if array is None or isinstance(array, (type, str, bytes)):
        raise InvalidType(operator=EXPLAIN_ORDER, argument=argument, rule="must be an array", given=given_text(array))
    try:
        values: npt.NDArray[Any] = np.asarray(array)
    except (ValueError, TypeError, RuntimeError):
        raise InvalidType(
            operator=EXPLAIN_ORDER, argument=argument, rule="must be an array of numbers", given=given_text(array)
        ) from None
    if values.dtype.kind not in "biufc":
        rule = "must hold numbers of NumPy's own types"
        raise InvalidType(operator=EXPLAIN_ORDER, argument=argument, rule=rule, given=str(values.dtype))
    if values.size > MOST or values.ndim > 8:
        raise InvalidValue(
            operator=EXPLAIN_ORDER,
            argument=argument,
            rule="must be small enough to search",
            given=f"{values.size} elements, {values.ndim} axes",
            expected="at most 2**26 elements and 8 axes; a smaller image has the same order",
        )
    return values

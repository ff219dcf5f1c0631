# SPDX-License-Identifier: Apache-2.0
"""Tables of the numbers that stand for the bytes of normalized pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, SupportsFloat

import numpy as np
import numpy.typing as npt

from .._arrays.dtypes import similar_type
from .._arrays.memory import numpy_type
from .._errors import InvalidType, InvalidValue, given_text, text_in, value_text

Formula = Literal["torchvision", "pil"]
_OP = "normalization_table"


def _numbers(argument: str, value: Any) -> npt.NDArray[np.float32] | None:
    """Returns one number or a list of numbers, rounded to float32."""
    if value is None:
        return None
    try:
        with np.errstate(over="ignore"):
            numbers = np.asarray(value, np.float64).astype(np.float32)
    except OverflowError:  # an integer
        numbers = np.array(np.inf, np.float32)
    except (TypeError, ValueError):
        raise InvalidType(_OP, argument, "must be a number, or a number for each channel", given_text(value)) from None
    if numbers.ndim > 1 or not np.isfinite(numbers).all():
        rule = "must be a number that is finite in float32, or one for each channel"
        raise InvalidValue(_OP, argument, rule, value_text(value))
    return numbers


def normalization_table(
    mean: float | Sequence[float] | None = None,
    std: float | Sequence[float] | None = None,
    *,
    scale: float | None = 1 / 255,
    formula: Formula = "torchvision",
    dtype: npt.DTypeLike = "float32",
) -> npt.NDArray[Any]:
    """Makes the table of (byte * scale - mean) / std, in the order of roundings of a named formula.

    Shapes: the result is (C, 256) for C means or deviations, and (256,) for numbers.

    Arguments:
        mean, std: a number, or one for each channel; both None for bytes that are only scaled.
        scale: the factor of the bytes; None for 1.
        formula: "torchvision": the backend of that name in transformers, which divides the byte less mean / scale by std /
            scale. "pil": the backend of that name, which scales the byte in float64 first. Both round every other step to
            float32. They differ in most entries.
        dtype: the element type, such as "float16"; "bfloat16" needs ml_dtypes. Entries are rounded once more, to nearest
            even.

    Errors: InvalidValue for numbers that are not finite, a std of 0 and lists of different lengths; InvalidType for other
        objects.

    Source: transformers 5.24, image_processing_backends.py and image_transforms.py.

    Example:
        >>> from patchfold.vision import normalization_table
        >>> normalization_table([0.5, 0.5, 0.5], [0.5, 0.5, 0.5]).shape
        (3, 256)
        >>> float(normalization_table(0.5, 0.5)[255])
        1.0
    """
    if text_in(formula) not in ("torchvision", "pil"):
        kind = InvalidValue if isinstance(formula, str) else InvalidType
        raise kind(_OP, "formula", "must be one of 'torchvision', 'pil'", given_text(formula))
    if (mean is None) != (std is None):
        raise InvalidValue(_OP, "std" if std is None else "mean", "must be given if the other one is", "None")
    means, deviations = _numbers("mean", mean), _numbers("std", std)
    factor = 1.0
    if scale is not None:
        if not isinstance(scale, SupportsFloat) or isinstance(scale, (str, bytes)):
            raise InvalidType(_OP, "scale", "must be a number or None", given_text(scale))
        try:
            factor = float(scale)
        except OverflowError:  # an integer
            factor = np.inf
        if not np.isfinite(factor) or factor == 0:
            raise InvalidValue(_OP, "scale", "must be a finite number other than 0", value_text(scale))
    try:
        found: Any = numpy_type(dtype if isinstance(dtype, str) else str(np.dtype(dtype)))
    except TypeError:
        found = None
    if found is None:
        rule = "must be an element type of NumPy, or of ml_dtypes after its import"
        raise InvalidValue(_OP, "dtype", rule, given_text(dtype), hint=similar_type(dtype))

    if means is None or deviations is None:
        with np.errstate(over="ignore", invalid="ignore"):
            if formula == "pil" and scale is not None:
                scaled = (np.arange(256) * factor).astype(np.float32)
            else:
                scaled = np.arange(256, dtype=np.float32) * np.float32(factor)
            return np.asarray(scaled.astype(found))
    if not deviations.all():
        raise InvalidValue(_OP, "std", "must not be 0", value_text(std))
    try:
        means, deviations = np.broadcast_arrays(means, deviations)
    except ValueError:
        rule = "must have as many numbers as mean"
        raise InvalidValue(_OP, "std", rule, str(len(deviations)), str(len(means)), code="length") from None
    with np.errstate(all="ignore"):
        if formula == "torchvision":
            inverse = np.float32(1 / factor)
            bytes_, means, deviations = np.arange(256, dtype=np.float32), means * inverse, deviations * inverse
        else:
            bytes_ = (np.arange(256) * factor).astype(np.float32)
        table: npt.NDArray[Any] = ((bytes_ - means[..., None]) / deviations[..., None]).astype(found)
    return table

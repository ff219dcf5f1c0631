# SPDX-License-Identifier: Apache-2.0
"""Tokens of pictures of different sizes in one array, as NaFlex models take them: padded, with masks and positions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arguments import read_once
from .._arrays.kinds import is_numpy, is_torch
from .._errors import InvalidType, InvalidValue, given_text, type_name, value_text
from .._typing import Array, Int, Ints

_LIMIT = 1 << 31


def _length(op: str, length: Any, counts: Sequence[int]) -> int:
    """Returns the common number of tokens: an argument, or the most of all counts."""
    most = max(counts)
    if length is None:
        return most
    number = read_once(length)
    if type(number) is not int:
        raise InvalidType(op, "length", "must be a whole number or None", given_text(length))
    if not most <= number < _LIMIT:
        raise InvalidValue(op, "length", "must hold the tokens of every picture", value_text(number), f"{most} or more")
    return number


def pad_tokens(tokens: Sequence[Array], length: Int | None = None) -> tuple[Array, Array]:
    """Stacks the tokens of several pictures behind each other, filled up by zeros, and makes the mask of the tokens.

    Shapes: tokens are (n, D) each, with any n; the first result is (pictures, length, D), the second (pictures, length).

    Arguments:
        tokens: NumPy arrays or torch tensors with one element type, such as patchify returns; at least one.
        length: tokens of each picture in the result; None for the most that a picture has.

    Formula: padded[i, k] = tokens[i][k] and mask[i, k] = 1 for k < n, and 0 otherwise. The mask is int32. padded[i, :n] are
        the tokens of picture i again, for unpatchify.

    Errors: InvalidValue for shapes and lengths that do not fit; InvalidType for other objects.

    Source: the inputs pixel_values and pixel_attention_mask of SigLIP 2 in transformers.

    Example:
        >>> import numpy as np
        >>> from patchfold.vision import pad_tokens
        >>> padded, mask = pad_tokens([np.ones((3, 768)), np.ones((2, 768))], 4)
        >>> padded.shape, mask.tolist()
        ((2, 4, 768), [[1, 1, 1, 0], [1, 1, 0, 0]])
    """
    op = "pad_tokens"
    given: list[Any] = list(tokens) if isinstance(tokens, (list, tuple)) else []
    if not given:
        raise InvalidType(op, "tokens", "must be a list of at least one array", type_name(tokens))
    first = given[0]
    for i, each in enumerate(given):
        place = f"tokens[{i}]"
        if not (is_torch(each) if is_torch(first) else is_numpy(each)):
            raise InvalidType(op, place, "must be a NumPy array or a torch tensor, as the others", type_name(each))
        if each.ndim != 2 or each.shape[1] != first.shape[-1] or each.dtype != first.dtype:
            rule, expected = "must be (n, D), with the D and the element type of the others", f"(n, {first.shape[-1]})"
            raise InvalidValue(op, place, rule, f"{tuple(each.shape)} of {each.dtype}", f"{expected} of {first.dtype}")
    counts = [len(each) for each in given]
    shape = (len(given), _length(op, length, counts), first.shape[1])
    padded: Any = first.new_zeros(shape) if is_torch(first) else np.zeros(shape, first.dtype)
    for each, to in zip(given, padded, strict=True):
        to[: len(each)] = each
    mask: Any = token_mask(counts, shape[1])
    if is_torch(first):
        mask = sys.modules["torch"].from_numpy(mask).to(first.device)
    return padded, mask


def token_mask(counts: Sequence[int], length: int) -> npt.NDArray[np.int32]:
    """Returns 1 for the tokens of each picture, and 0 behind them."""
    return (np.arange(length) < np.asarray(counts)[:, None]).astype(np.int32)


def patch_positions(grids: Sequence[Ints], length: Int | None = None) -> npt.NDArray[np.int64]:
    """Makes the positions (column, row) of the patches of several pictures, filled up by -1.

    Shapes: the result is (pictures, length, 2).

    Arguments:
        grids: the rows and columns of patches of each picture; at least one.
        length: positions of each picture in the result; None for the most patches of a picture.

    Formula: result[i, k] = (k % columns, k // columns) for k < rows * columns of grid i, and (-1, -1) otherwise.

    Errors: InvalidValue for grids and lengths that do not fit; InvalidType for other objects.

    Source: the input image_position_ids of Gemma 4 in transformers.

    Example:
        >>> from patchfold.vision import patch_positions
        >>> patch_positions([(2, 2), (1, 3)]).tolist()
        [[[0, 0], [1, 0], [0, 1], [1, 1]], [[0, 0], [1, 0], [2, 0], [-1, -1]]]
    """
    op = "patch_positions"
    read = [read_once(grid) for grid in grids] if isinstance(grids, (list, tuple)) else []
    if not read or not all(type(grid) is tuple and len(grid) == 2 and set(map(type, grid)) == {int} for grid in read):
        raise InvalidType(op, "grids", "must be a list of at least one (rows, columns)", given_text(grids))
    if min(map(min, read)) < 1 or max(rows * columns for rows, columns in read) >= _LIMIT:
        raise InvalidValue(op, "grids", "must be at least 1, with less than 2^31 patches", value_text(read))
    counts = [rows * columns for rows, columns in read]
    places = np.full((len(read), _length(op, length, counts), 2), -1, np.int64)
    for place, (_, columns), count in zip(places, read, counts, strict=True):
        place[:count, 1], place[:count, 0] = np.divmod(np.arange(count), columns)
    return places

# SPDX-License-Identifier: Apache-2.0
"""Explains operators, plans, tilings and mergers."""

from __future__ import annotations

from functools import partial
from typing import Any, overload

import numpy.typing as npt

from . import _core
from ._arrays.dtypes import SIZES, similar_type
from ._arrays.kinds import dtype_of
from ._errors import Error, InvalidType, InvalidValue, given_text, text_in, type_name
from ._explanation import Explanation
from ._operators.table import Plan, operator_named, values_of
from ._tiles.merge_arguments import mask_bytes, merge_spec
from ._tiles.merger import Merger
from ._tiles.tiling import Tiling
from ._typing import Fill, Mask, Reduce, Window


@overload
def explain(op: Plan | Merger) -> Explanation: ...
@overload
def explain(
    op: Tiling,
    *,
    window: Window | None = None,
    reduce: Reduce | None = None,
    fill: Fill | None = None,
    mask: Mask | None = None,
) -> Explanation: ...
@overload
def explain(
    op: str,
    shape: tuple[int, ...] | None = None,
    *,
    dtype: npt.DTypeLike | str = "float32",
    plan: bool = False,
    **attributes: Any,
) -> Explanation: ...
def explain(
    op: Any,
    shape: Any = None,
    *,
    dtype: Any = "float32",
    plan: bool = False,
    **attributes: Any,
) -> Explanation:
    """Shows what an operator does to data of the given shape, or where tiles lie.

    The text, and the picture that a notebook shows, have: shapes with the formula of each extent; the patches over the
    padded image; how many patches use each element; the order inside a patch in torch, TensorFlow, ONNX, OpenVINO and
    MATLAB; the columns of a tiny problem; bytes. For large shapes, the text and the picture show the beginning and the end,
    with a note about the part that is left out.

    Arguments:
        op: a name of ``patchfold.operators()``; or a Plan, a Tiling or a Merger.
        shape: the shape of the data; coverage ignores it, and a Plan, a Tiling or a Merger has its own.
        dtype: the element type, under NumPy's or patchfold's name.
        plan: whether the text also shows how the library runs the operator.
        attributes: the operator's arguments by the names of the table; for a Tiling window, reduce, fill and mask, as for
            Merger.

    Returns an Explanation: ``str()`` gives the text, ``svg`` the picture.

    Errors: as from the operator. From Python 3.11 on errors have a note with similar problems that the operator accepts, and
        their formulas.

    Example:
        >>> import patchfold
        >>> print(patchfold.explain("unfold", (1, 1, 3, 3), kernel_size=2))  # doctest: +ELLIPSIS
        unfold...
        >>> patchfold.explain(patchfold.Tiling((7,), (4,), overlap=1)).text.splitlines()[0]
        'Tiling: 2 tiles of 4 elements, in a grid of 2'
    """
    if isinstance(op, (Plan, Merger)):
        return op._explained()
    if isinstance(op, Tiling):
        return _tiling_explained(op, **attributes)
    native, spec = operator_named(op, "explain")
    name = text_in(dtype)
    if name is None or name not in SIZES:
        known = dtype_of(dtype)
        if known is None:
            rule = "must be an element type of NumPy or of this library"
            raise InvalidType(spec.name, "dtype", rule, given_text(dtype), hint=similar_type(dtype))
        name = str(known.name)
    if spec.data_input and shape is None:
        raise InvalidType(spec.name, "shape", "is required", expected="the shape of the data")
    if hasattr(shape, "shape"):
        rule = "must be the shape of the data, not the data"
        raise InvalidType(spec.name, "shape", rule, type_name(shape), "x.shape")
    values = values_of(spec, attributes)
    try:
        text = native.explain(shape, name, plan, *values)
    except (InvalidValue, InvalidType) as error:
        _add_what_would_be_right(error, native, shape, name, values)
        raise
    return Explanation(text, partial(native.explain_svg, shape, name, *values))


def _add_what_would_be_right(error: Error, native: _core.Operator, shape: Any, dtype: str, values: list[Any]) -> None:
    if not hasattr(error, "add_note"):  # before Python 3.11
        return
    try:
        note = native.explain_error(shape, dtype, *values)
    except Error:
        return  # there are no similar values for an argument of a wrong type
    if note:
        error.add_note(note.split("\n\n", 1)[1])


def _tiling_explained(
    tiling: Tiling,
    *,
    window: Window | None = None,
    reduce: Reduce | None = None,
    fill: Fill | None = None,
    mask: Mask | None = None,
) -> Explanation:
    native = tiling._native
    spec = merge_spec(native, window, reduce, None, False, mask_bytes(native, mask), fill, None)
    return Explanation(_core.explain_tiling(native, spec), partial(_core.draw_tiling, native, spec))

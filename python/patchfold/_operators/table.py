# SPDX-License-Identifier: Apache-2.0
"""The operator table: every operator of every dialect by its name, with its arguments."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arguments import positions_of
from .._arrays.dtypes import SIZES
from .._arrays.kinds import is_torch
from .._arrays.memory import memory
from .._errors import Error, InvalidType, given_text, text_in
from .._explanation import Explanation
from .._typing import Array, Element
from . import other_names


@dataclass(frozen=True)
class ArgumentSpec:
    """An argument of an operator.

    ``default`` is the default in the form of the command line, empty if there is none. ``old_name`` is an earlier name that
    is accepted until 1.0. ``is_input`` is true for an input of the operator, such as a shape, that may be an array.
    """

    name: str
    kind: str
    required: bool
    default: str
    old_name: str
    is_input: bool
    choices: tuple[str, ...]
    doc: str


@dataclass(frozen=True)
class OperatorSpec:
    """A row of the operator table.

    ``data_input`` is empty if there is none; ``sums`` is true if elements are added; ``example`` is a small problem: the
    element type, the shape of the data, and arguments as the command line reads them.
    """

    name: str
    doc: str
    definition: str
    data_input: str
    sums: bool
    example: str
    arguments: tuple[ArgumentSpec, ...]


@functools.cache
def operators() -> tuple[OperatorSpec, ...]:
    """Returns every operator of every dialect.

    Example:
        >>> import patchfold
        >>> [op.name for op in patchfold.operators() if op.sums][:2]
        ['fold', 'coverage']
    """
    return tuple(
        OperatorSpec(*row[:6], arguments=tuple(ArgumentSpec(*argument) for argument in row[6])) for row in _core.table()
    )


def operator_named(op: str, function: str = "") -> tuple[_core.Operator, OperatorSpec]:
    """Returns an operator and its row of the table. function: the function whose argument op is refused, for errors."""
    name = text_in(op)
    if name is None:
        raise InvalidType(function, "op", "must be the name of an operator", given_text(op))
    try:
        return _found(name)
    except Error as error:
        raise type(error)(function, "op", **error._facts()) from None


@functools.cache
def _found(op: str) -> tuple[_core.Operator, OperatorSpec]:
    native = _core.Operator(op, data="x")
    return native, next(spec for spec in operators() if spec.name == native.name)


def values_of(spec: OperatorSpec, attributes: Mapping[str, Any]) -> list[Any]:
    known = [argument.name for argument in spec.arguments]
    for argument in spec.arguments:
        if argument.old_name in attributes and argument.name not in attributes:
            attributes = dict(attributes)
            attributes[argument.name] = positions_of(spec.name, attributes.pop(argument.old_name), stacklevel=4)
    for name in attributes:
        if name not in known:
            rule = "is not an argument of this operator"
            raise InvalidType(spec.name, name, rule, expected=", ".join(known), hint=_core.did_you_mean(name, known))
    return [attributes.get(name) for name in known]


@overload
def run(op: str, x: None, *, out: None = None, **attributes: Any) -> npt.NDArray[np.float32]: ...
@overload
def run(op: str, x: None, *, out: Array, **attributes: Any) -> Array: ...
@overload
def run(
    op: str, x: npt.NDArray[Element], *, out: npt.NDArray[Element] | None = None, **attributes: Any
) -> npt.NDArray[Element]: ...
@overload
def run(op: str, x: Array, *, out: Array | None = None, **attributes: Any) -> Array: ...
def run(op: str, x: Any, *, out: Any = None, **attributes: Any) -> Any:
    """Runs any operator of the table by its name.

    Arguments:
        op: a name of ``patchfold.operators()``; a dialect's version may be left out and means the newest.
        x: the data, an array of any supported kind; None for coverage.
        out: an array of the result's shape and element type; it receives the result and is returned. Without out, coverage
            counts in float32.
        attributes: the operator's arguments by the names of the table; None means the default.

    Errors: InvalidValue and InvalidType, as from the functions of the operators.

    Example:
        >>> import numpy as np, patchfold
        >>> image = np.arange(4).reshape(1, 1, 2, 2)
        >>> patchfold.run("openvino.SpaceToDepth", image, blocks_mode="blocks_first", block_size=2)
        array([[[[0]],
        <BLANKLINE>
                [[1]],
        <BLANKLINE>
                [[2]],
        <BLANKLINE>
                [[3]]]])
    """
    native, spec = operator_named(op, "run")
    values = values_of(spec, attributes)
    if not spec.data_input and out is None:
        out = np.empty(native.output_shape((), *values), np.float32)
    return native(x, out, *values)


def output_shape(op: str, shape: tuple[int, ...], **attributes: Any) -> tuple[int, ...]:
    """Returns the shape of the result for data of the given shape, without any data. Arguments and errors as for ``run``.

    Example:
        >>> import patchfold
        >>> patchfold.output_shape("torch.unfold", (8, 3, 224, 224), kernel_size=16, stride=16)
        (8, 768, 196)
    """
    native, spec = operator_named(op, "output_shape")
    return native.output_shape(shape, *values_of(spec, attributes))


class Plan:
    """An operator, checked and planned once for arrays of one shape, layout and type; made by ``patchfold.plan``.

    Call a plan with arrays: ``plan(x)`` or ``plan(x, out=out)``, from any thread. The repr of a plan shows shapes, order and
    strategy. A plan never changes. A plan can be pickled; a process that loads a plan checks and plans the operator again.
    """

    def __init__(self, x: Any, out: Any, native: _core.Operator, spec: OperatorSpec, values: list[Any]) -> None:
        self._makes_out = not spec.data_input and out is None
        if self._makes_out:
            out = np.empty(native.output_shape((), *values), np.float32)
        elif out is None and is_torch(x):
            memory(x, "plan", "x", False, anywhere=True)  # refuses a tensor whose calls torch would record
        self._native = native
        self._spec = spec
        self._planned = _core.PlannedCall(native, x, out, *values)
        self._values = [_frozen(value) for value in values]

    @overload
    def __call__(self, x: None, *, out: None = None) -> npt.NDArray[np.float32]: ...
    @overload
    def __call__(self, x: None, *, out: Array) -> Array: ...
    @overload
    def __call__(self, x: npt.NDArray[Element], *, out: npt.NDArray[Element] | None = None) -> npt.NDArray[Element]: ...
    @overload
    def __call__(self, x: Array, *, out: Array | None = None) -> Array: ...
    def __call__(self, x: Any, *, out: Any = None) -> Any:
        if out is None and self._makes_out:
            out = np.empty(self.output_shape, np.float32)
        return self._planned(x, out)

    def __copy__(self) -> Plan:
        return self

    def __deepcopy__(self, memo: object) -> Plan:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        names = [argument.name for argument in self._spec.arguments]
        given = {name: value for name, value in zip(names, self._values, strict=True) if value is not None}
        destination = None if self._makes_out else self._planned.destination
        return _planned_again, (self.operator, given, self._planned.source, destination)

    @property
    def operator(self) -> str:
        """Name of the operator."""
        return self._planned.name

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of x."""
        return self._planned.input_shape

    @property
    def output_shape(self) -> tuple[int, ...]:
        """Shape of the result."""
        return self._planned.output_shape

    def describe(self) -> str:
        """Returns a description of the plan: strategy, normal form, pieces, bytes moved."""
        return self._planned.describe()

    def __repr__(self) -> str:
        return self._native.explain(self.input_shape, _explained_dtype(self._planned.dtype), True, *self._values)

    def _explained(self) -> Explanation:
        dtype = _explained_dtype(self._planned.dtype)
        draw = functools.partial(self._native.explain_svg, self.input_shape, dtype, *self._values)
        return Explanation(repr(self), draw)

    def _repr_html_(self) -> str:
        return self._explained()._repr_html_()


def plan(op: str, x: Any, *, out: Any = None, **attributes: Any) -> Plan:
    """Checks and plans an operator once, to be run often.

    Arguments as for ``run``; of x and out only shape, strides and element type matter. If out is given here, every call of
    the plan needs an out of the same layout.

    Example:
        >>> import numpy as np, patchfold
        >>> x = np.ones((1, 3, 8, 8), np.float32)
        >>> p = patchfold.plan("unfold", x, kernel_size=(3, 3))
        >>> p(x).shape == p.output_shape
        True
    """
    native, spec = operator_named(op, "plan")
    return Plan(x, out, native, spec, values_of(spec, attributes))


def _frozen(value: Any) -> Any:
    """Returns a checked value in a form that the caller can no longer change."""
    if type(value) in (list, tuple):
        return tuple(map(_frozen, value))
    return value.copy() if type(value) is np.ndarray else value


def _planned_again(op: str, attributes: dict[str, Any], source: Any, destination: Any) -> Plan:
    native, spec = operator_named(op)
    x, out = (None if layout is None else _model(*layout) for layout in (source, destination))
    return Plan(x, out, native, spec, values_of(spec, attributes))


def _model(shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any) -> Any:
    """Returns an array with a shape, strides and type, without memory for its elements, since a plan reads no elements."""
    if isinstance(dtype, str):
        return _core.RawArray.make(0, shape, strides, dtype, True, ())
    return np.lib.stride_tricks.as_strided(np.empty((), dtype), shape, strides)


def _explained_dtype(dtype: str) -> str:
    """Returns the type to explain: `dtype`, or uint8 if the library does not know `dtype`."""
    return dtype if dtype in SIZES else "uint8"


def _plain(name: str) -> str:
    return name.partition("-")[0].replace("_", "").lower()


def called_here(name: str) -> str:
    """Returns patchfold's call, "patchfold.unfold(image, kernel_size)", for a function of this name in another system; "" if
    none."""
    if name.startswith("_"):
        return ""
    if name in other_names.CALLS:
        return other_names.CALLS[name]
    here, reduce = _core.operator_here(name)
    if reduce == "mean":
        return "patchfold.reconstruct(columns, shape, kernel_size)"
    names = {spec: spec.name if here else spec.name.rpartition(".")[2] for spec in operators()}
    found = [spec for spec, own in names.items() if _plain(own) == _plain(here or name)]
    if not found:
        return ""
    spec = found[-1] if "." in found[0].name else found[0]  # the newest version, or the neutral operator
    dialect, _, operator = spec.name.partition("-")[0].rpartition(".")
    module = f"patchfold.{dialect}".rstrip(".")
    known = [each for each in vars(sys.modules.get(module, _core)) if not each.startswith("_")]
    function = next((each for each in known if _plain(each) == _plain(operator)), operator)
    if "view" in name and f"{function}_view" in known:
        function += "_view"
    needed = [spec.data_input, *(argument.name for argument in spec.arguments if argument.required)]
    return f"{module}.{function}({', '.join(needed)})"

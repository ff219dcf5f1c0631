# SPDX-License-Identifier: Apache-2.0
"""The operators patchfold::fold, unfold, pixel_shuffle and pixel_unshuffle of torch.library.

All four are linear, and each one's adjoint is another of them, which is its backward formula. Forward-mode derivatives
apply the operator to the tangent; torch.library.register_autograd has no place for that rule, so the Autograd kernel is
registered as such.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad
from torch.autograd.function import _SingleLevelFunction

from .._arrays import Memory, torch_memory
from .._core import Operator
from .._errors import InvalidType, InvalidValue
from . import _shapes
from ._arguments import check_tensor

NAMESPACE = "patchfold"

library: Any = torch.library.Library(NAMESPACE, "FRAGMENT")  # type: ignore[no-untyped-call]
"""Keeps the registrations alive."""

_WINDOW = "SymInt[2] kernel_size, SymInt[2] dilation=1, SymInt[2] padding=0, SymInt[2] stride=1"
_STRIDES_TAG = getattr(torch.Tag, "needs_exact_strides", torch.Tag.needs_fixed_stride_order)
_ONES = (1, 1)
_ZEROS = (0, 0)


@dataclass
class _Row:
    """One operator: how it is run, and what it does to shapes and derivatives. Values come in torch's order."""

    name: str
    arguments: str
    native: Operator
    defaults: tuple[Any, ...]
    shape: Callable[..., list[Any]]
    adjoint: Callable[..., Tensor]
    """(gradient, sizes of the input, *values) -> gradient of the input"""
    rank: Callable[..., tuple[int, int | None]]
    """Values to the least and greatest rank of an input without and with a batch; None: any number of batch axes."""
    keeps_memory_format: bool
    overload: Any = None
    out_overload: Any = None

    def __call__(self, input: Tensor, values: Sequence[Any], out: Tensor | None) -> Tensor:
        check_tensor(f"torch.{self.name}", "input", input)
        if out is None:
            if _needs_no_derivative(input):
                with torch._C._AutoDispatchBelowAutograd():  # saves a dispatch, a third of a small call
                    result: Tensor = self.overload(input, *values)
            else:
                result = self.overload(input, *values)
            return result
        check_tensor(f"torch.{self.name}", "out", out)
        self.out_overload(input, *values, out=out)
        return out

    def values(self, given: Sequence[Any]) -> tuple[Any, ...]:
        """torch leaves out trailing values that equal the schema's defaults."""
        missing = len(self.defaults) - len(given)
        return (*given, *self.defaults[len(self.defaults) - missing :]) if missing else tuple(given)

    def library_shape(self, sizes: Sequence[int], values: Sequence[Any]) -> tuple[int, ...]:
        """The library's rule, in terms of a tensor: what it calls the shape is that of the input."""
        try:
            return self.native.output_shape(sizes, *values)
        except InvalidValue as error:
            if error.argument != "shape":
                raise
            facts = {"rule": error.rule, "given": error.given, "expected": error.expected, "code": error.code}
            raise InvalidValue(operator=error.operator, argument="input", **facts) from None

    def shape_of(self, sizes: Sequence[Any], values: Sequence[Any]) -> Sequence[Any]:
        """The library's rule; the traceable one where a size is a symbol."""
        if all(isinstance(size, int) for size in _flat((sizes, values))):
            return self.library_shape(tuple(sizes), values)
        return self.shape(sizes, *values)

    def output_format(self, input: Tensor) -> torch.memory_format:
        """Row-major, or channels last where torch's own operator keeps that."""
        if self.keeps_memory_format and input.dim() == 4 and _shapes.is_channels_last(input.shape, input.stride()):
            return torch.channels_last
        return torch.contiguous_format


def _needs_no_derivative(input: Tensor) -> bool:
    """Whether no derivative of the call can be asked for and nothing is being traced."""
    return (
        not torch.compiler.is_compiling()
        and not (input.requires_grad and torch.is_grad_enabled())
        and forward_ad._current_level < 0
        and torch._C._functorch.peek_interpreter_stack() is None
        and torch._C._len_torch_dispatch_stack() == 0
    )


def _has_tangent(tensor: Tensor) -> bool:
    unpack: Any = forward_ad.unpack_dual
    return forward_ad._current_level >= 0 and unpack(tensor).tangent is not None


def _flat(items: Any) -> list[Any]:
    flat = []
    for item in items:
        if isinstance(item, Sequence):
            flat += _flat(item)
        else:
            flat.append(item)
    return flat


class _Linear(_SingleLevelFunction):
    """Any row, with its derivatives of every order in both modes.

    A dispatcher's kernel applies it, when torch.func has already chosen one of its levels. A plain autograd.Function
    would start with the outermost level again.
    """

    @staticmethod
    def forward(ctx: Any, row: _Row, keyset: Any, modes: tuple[bool, bool], input: Tensor, *given: Any) -> Tensor:
        ctx.set_materialize_grads(False)
        ctx.row = row
        ctx.given = row.values(given)
        ctx.sizes = input.shape
        # The outer levels of torch.func run inside this one and record their own derivatives.
        with torch.set_grad_enabled(modes[0]), forward_ad._set_fwd_grad_enabled(modes[1]):
            return _below_autograd(row, keyset, input, given)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        (gradient,) = gradients
        result = None if gradient is None else ctx.row.adjoint(gradient, ctx.sizes, *ctx.given)
        return (None, None, None, result, *(None for _ in ctx.needs_input_grad[4:]))

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return ctx.row.overload(tangents[3], *ctx.given)


_apply: Any = _Linear.apply  # type: ignore[attr-defined]


def _below_autograd(row: _Row, keyset: Any, input: Tensor, given: Sequence[Any]) -> Tensor:
    with torch._C._AutoDispatchBelowAutograd():
        result: Tensor = row.overload.redispatch(keyset & torch._C._after_autograd_keyset, input, *given)
    return result


def _autograd_kernel(row: _Row) -> Callable[..., Tensor]:
    def kernel(keyset: Any, input: Tensor, *given: Any) -> Tensor:
        if (input.requires_grad and torch.is_grad_enabled()) or forward_ad._current_level >= 0:
            modes = (torch.is_grad_enabled(), torch._C._is_fwd_grad_enabled())
            with enable_single_level_autograd_function():
                result: Tensor = _apply(row, keyset, modes, input, *given)
            return result
        return _below_autograd(row, keyset, input, given)

    return kernel


def _cpu_kernel(row: _Row) -> Callable[..., Tensor]:
    def kernel(input: Tensor, *given: Any) -> Tensor:
        values = row.values(given)
        format_ = row.output_format(input)
        shape = row.library_shape(input.shape, values)
        output = torch.empty(shape, dtype=input.dtype, device=input.device, memory_format=format_)
        row.native(_elements(input), _elements(output), *values)
        return output

    return kernel


def _elements(tensor: Tensor) -> Memory:
    """Autograd has done its part, and checked the tensor, before a kernel runs."""
    return torch_memory(tensor.detach() if tensor.requires_grad else tensor)


def _fake_kernel(row: _Row) -> Callable[..., Tensor]:
    def kernel(input: Tensor, *given: Any) -> Tensor:
        shape = row.shape_of(input.shape, row.values(given))
        return torch.empty(shape, dtype=input.dtype, device=input.device, memory_format=row.output_format(input))

    return kernel


def _vmap_kernel(row: _Row) -> Callable[..., tuple[Tensor, int]]:
    def kernel(info: Any, in_dims: tuple[int | None, ...], input: Tensor, *given: Any) -> tuple[Tensor, int]:
        least, greatest = row.rank(*row.values(given))
        samples = input.movedim(in_dims[0] or 0, 0)
        rank = samples.dim() - 1
        if rank == greatest:
            count, batch = samples.shape[:2]
            return row.overload(samples.flatten(0, 1), *given).unflatten(0, (count, batch)), 0
        if rank < least or (greatest is not None and rank > greatest):
            row.shape_of(samples.shape[1:], row.values(given))  # raises the error for a wrong rank
        return row.overload(samples, *given), 0

    return kernel


def _out_cpu_kernel(row: _Row) -> Callable[..., None]:
    def kernel(input: Tensor, *given: Any, out: Tensor) -> None:
        row.native(_elements(input), _elements(out), *row.values(given))

    return kernel


def _out_fake_kernel(row: _Row) -> Callable[..., None]:
    def kernel(input: Tensor, *given: Any, out: Tensor) -> None:
        op = f"torch.{row.name}"
        shape = row.shape_of(input.shape, row.values(given))
        rule = "must have the shape of the operator's result"
        _shapes.require(out.dim() == len(shape), op, "out", rule, tuple(out.shape), tuple(shape))
        for size, expected in zip(out.shape, shape, strict=True):
            _shapes.require(size == expected, op, "out", rule, tuple(out.shape), tuple(shape))
        if out.dtype != input.dtype:
            rule = "must have the element type of input"
            raise InvalidType(operator=op, argument="out", rule=rule, given=str(out.dtype), expected=str(input.dtype))

    return kernel


def _out_autograd_kernel(row: _Row) -> Callable[..., None]:
    def kernel(keyset: Any, input: Tensor, *given: Any, out: Tensor) -> None:
        recorded = torch.is_grad_enabled() and (input.requires_grad or out.requires_grad)
        if recorded or any(_has_tangent(tensor) for tensor in (input, out)):
            raise InvalidType(
                operator=f"torch.{row.name}",
                argument="out",
                rule="has no derivative; leave it out or use torch.no_grad()",
                given="tensors with gradients or tangents",
            )
        with torch._C._AutoDispatchBelowAutograd():
            row.out_overload.redispatch(keyset & torch._C._after_autograd_keyset, input, *given, out=out)
        torch.autograd.graph.increment_version(out)

    return kernel


def _register(row: _Row) -> _Row:
    qualified = f"{NAMESPACE}::{row.name}"
    tags = (torch.Tag.pt2_compliant_tag, _STRIDES_TAG)
    torch.library.define(qualified, f"(Tensor input, {row.arguments}) -> Tensor", lib=library, tags=tags)
    library.impl(row.name, _cpu_kernel(row), "CPU")
    torch.library.register_fake(qualified, _fake_kernel(row), lib=library)
    library.impl(row.name, _autograd_kernel(row), "Autograd", with_keyset=True)
    torch.library.register_vmap(qualified, _vmap_kernel(row), lib=library)

    qualified += "_out"
    schema = f"(Tensor input, {row.arguments}, *, Tensor(a!) out) -> ()"
    torch.library.define(qualified, schema, lib=library, tags=tags)
    library.impl(f"{row.name}_out", _out_cpu_kernel(row), "CPU")
    torch.library.register_fake(qualified, _out_fake_kernel(row), lib=library)
    library.impl(f"{row.name}_out", _out_autograd_kernel(row), "Autograd", with_keyset=True)
    row.overload = getattr(getattr(torch.ops, NAMESPACE), row.name).default
    row.out_overload = getattr(getattr(torch.ops, NAMESPACE), f"{row.name}_out").default
    return row


FOLD: _Row = _register(
    _Row(
        name="fold",
        arguments=f"SymInt[2] output_size, {_WINDOW}",
        native=Operator("torch.fold", data="input"),
        defaults=(None, None, _ONES, _ZEROS, _ONES),
        shape=_shapes.fold_shape,
        adjoint=lambda gradient, sizes, output_size, *window: UNFOLD.overload(gradient, *window),
        rank=lambda *values: (2, 3),
        keeps_memory_format=False,
    )
)
UNFOLD: _Row = _register(
    _Row(
        name="unfold",
        arguments=_WINDOW,
        native=Operator("torch.unfold", data="input"),
        defaults=(None, _ONES, _ZEROS, _ONES),
        shape=_shapes.unfold_shape,
        adjoint=lambda gradient, sizes, kernel_size, *window: FOLD.overload(
            gradient, sizes[len(sizes) - len(kernel_size) :], kernel_size, *window
        ),
        rank=lambda kernel_size, *window: (len(kernel_size) + 1, len(kernel_size) + 2),
        keeps_memory_format=False,
    )
)
PIXEL_SHUFFLE: _Row = _register(
    _Row(
        name="pixel_shuffle",
        arguments="SymInt upscale_factor",
        native=Operator("torch.pixel_shuffle", data="input"),
        defaults=(None,),
        shape=_shapes.pixel_shuffle_shape,
        adjoint=lambda gradient, sizes, factor: PIXEL_UNSHUFFLE.overload(gradient, factor),
        rank=lambda factor: (3, None),
        keeps_memory_format=True,
    )
)
PIXEL_UNSHUFFLE: _Row = _register(
    _Row(
        name="pixel_unshuffle",
        arguments="SymInt downscale_factor",
        native=Operator("torch.pixel_unshuffle", data="input"),
        defaults=(None,),
        shape=_shapes.pixel_unshuffle_shape,
        adjoint=lambda gradient, sizes, factor: PIXEL_SHUFFLE.overload(gradient, factor),
        rank=lambda factor: (3, None),
        keeps_memory_format=True,
    )
)

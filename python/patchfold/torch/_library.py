# SPDX-License-Identifier: Apache-2.0
"""The operators patchfold::fold, unfold, pixel_shuffle, pixel_unshuffle and contiguous of torch.library.

All operators are linear. The adjoint of each operator is its backward formula: another operator of the five, or the
identity. Forward-mode derivatives apply the operator to the tangent. torch.library.register_autograd has no place for this
rule, so the Autograd kernel is registered directly.

The kernels run on the processor and on CUDA devices. A tensor on another device is copied to the processor's memory, and the
result back to the device. Both copies are part of the operator: derivatives, graphs and transforms see one operator on the
tensor's device.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad
from torch.autograd.function import _SingleLevelFunction
from torch.compiler import is_dynamo_compiling
from torch.nn import functional

from .._arrays.memory import Memory, has_tangent, new_torch, torch_memory
from .._core import Operator
from .._errors import InvalidType, InvalidValue
from . import _portable, _shapes
from ._arguments import READABLE, can_read, check_tensor, device_of, is_dense, lists, number

NAMESPACE = "patchfold"

library: Any = torch.library.Library(NAMESPACE, "FRAGMENT")  # type: ignore[no-untyped-call]
"""Keeps the registrations alive."""

_WINDOW = "SymInt[2] kernel_size, SymInt[2] dilation=1, SymInt[2] padding=0, SymInt[2] stride=1"
_TAGS = (torch.Tag.pt2_compliant_tag, getattr(torch.Tag, "needs_exact_strides", torch.Tag.needs_fixed_stride_order))
_KEYS = ("CPU", "CUDA", "XPU", "MPS", "HPU", "MTIA", "PrivateUse1")
"""torch's dispatch keys of devices with dense tensors. AMD's are CUDA's."""
_KEYS_HERE = ("CPU", "CUDA") if "cuda" in READABLE else ("CPU",)
"""The keys of devices on which the kernels run."""


@dataclass
class Row:
    """One operator, with its rules for shapes and derivatives. Values are the arguments after the input, in torch's order.
    Values from the dispatcher have an entry for each axis in each list; values from a caller (`given`) may be single
    numbers."""

    name: str
    arguments: str
    """The arguments after the input, in torch's schema."""
    native: Any
    """An operator of the table, or an object with its methods."""
    shape: Callable[..., list[Any]]
    adjoint: Callable[..., Tensor]
    """A function of (gradient, sizes of the input, *values) that returns the gradient of the input."""
    rank: Callable[..., tuple[int, int | None]] = lambda *values: (0, None)
    """A function of the values that returns two ranks of the input, without and with a batch; None: any number of batch
    axes."""
    keeps_memory_format: bool = False
    portable: Callable[..., Tensor] | None = None
    """The operator, made of torch's own operators."""
    linear_part: Callable[..., Sequence[Any]] = lambda *values: values
    """A function that returns the values of the operator without a fill."""
    overload: Any = None
    out_overload: Any = None

    def __post_init__(self) -> None:
        arguments = [each.split(" ")[1].partition("=") for each in self.arguments.split(", ") if each]
        self.names = tuple(name for name, _, _ in arguments)
        self.defaults = tuple((int(default),) * 2 if default else None for _, _, default in arguments)
        self.takes_lists = "SymInt[2]" in self.arguments

    def run_to(self, device: Any, input: Tensor, out: Tensor | None, *given: Any) -> Tensor:
        """Runs the operator. device: the device of the result; None: the input's."""
        if device is None:
            return self.run(input, out, *given)
        op = f"torch.{self.name}"
        if out is not None:
            rule = "must be left out where out is given, which says where the result lies"
            raise InvalidType(operator=op, argument="device", rule=rule, given=str(device))
        check_tensor(op, "input", input)
        target = device_of(op, device)
        source = input if can_read(input) or input.device == target else input.cpu()
        return self.run(source, None, *given).to(target)

    def run(self, input: Tensor, out: Tensor | None, *given: Any) -> Tensor:
        if is_dynamo_compiling():
            return self._dispatched(input, out, given)
        if out is None:
            # A plain call goes past torch's dispatcher, so that a small call takes a fraction of the time.
            result = self.native.call_torch(input, False, self.keeps_memory_format, *given)
            if result is NotImplemented:
                try:
                    result = _apply(self, None, None, input, *given)
                except _NeedsDispatch:
                    result = None
            if result is not None:
                return result  # type: ignore[no-any-return]
        try:
            return self._dispatched(input, out, given)
        except Exception:
            self.check(input, given)
            raise

    def check(self, input: object, given: Sequence[Any]) -> None:
        """Raises the library's error if it refuses the call. The error is about the arguments as the caller gave them."""
        if isinstance(input, Tensor) and is_dense(input):
            # The library knows no symbols, and takes None for a missing argument.
            if not any(value is None or isinstance(value, torch.SymInt) for value in _flat((input.shape, given))):
                self.library_shape(tuple(input.shape), given)

    def _dispatched(self, input: Tensor, out: Tensor | None, given: Sequence[Any]) -> Tensor:
        op = f"torch.{self.name}"
        values = self.normal(given)
        check_tensor(op, "input", input)
        if out is None:
            if self.portable and torch.onnx.is_in_onnx_export():
                return self.portable(input, *values)
            return self.overload(input, *values)  # type: ignore[no-any-return]
        check_tensor(op, "out", out)
        self.out_overload(input, *values, out=out)
        return out

    def normal(self, given: Sequence[Any]) -> list[Any]:
        """Returns the values in the form of the overloads."""
        op = f"torch.{self.name}"
        if self.takes_lists:
            return lists(op, self.names, given)
        return [number(op, name, value) for name, value in zip(self.names, given, strict=True)]

    def values(self, given: Sequence[Any]) -> tuple[Any, ...]:
        """Returns all values, with the trailing values that torch left out because they equal the schema's defaults."""
        missing = len(self.defaults) - len(given)
        return (*given, *self.defaults[len(self.defaults) - missing :]) if missing else tuple(given)

    def library_shape(self, sizes: Sequence[int], values: Sequence[Any]) -> tuple[int, ...]:
        """Returns the shape of the result by the library's rule. Errors name the input in place of the shape."""
        try:
            shape: tuple[int, ...] = self.native.output_shape(sizes, *values)
            return shape
        except InvalidValue as error:
            if error.argument != "shape":
                raise
            facts = error._facts()
            facts["hint"] = facts["hint"].replace("shape.", "input.")
            raise InvalidValue(operator=error.operator, argument="input", **facts) from None

    def shape_of(self, sizes: Sequence[Any], values: Sequence[Any]) -> Sequence[Any]:
        """Returns the shape of the result: by the library's rule, or by the traceable rule if a size is a symbol."""
        if not any(isinstance(size, torch.SymInt) for size in _flat((sizes, values))):
            return self.library_shape(tuple(sizes), values)
        return self.shape(sizes, *values)

    def output_format(self, input: Tensor) -> torch.memory_format:
        """Returns the memory format of the result: row-major, or channels last if the input has this format and torch's own
        operator keeps the input's format."""
        if self.keeps_memory_format and input.dim() == 4 and _shapes.is_channels_last(input.shape, input.stride()):
            return torch.channels_last
        return torch.contiguous_format

    # The kernels of torch's dispatcher. A kernel that returns nothing writes the result to `out`.

    def here(self, input: Tensor, *given: Any) -> Tensor:
        values = self.values(given)
        shape = self.library_shape(input.shape, values)
        output: Tensor = new_torch(shape, input.dtype, input.device, memory_format=self.output_format(input))
        self.native(_elements(input), _elements(output), *values)
        return output

    def elsewhere(self, input: Tensor, *given: Any) -> Tensor:
        return self.here(input.cpu(), *given).to(input.device)

    def fake(self, input: Tensor, *given: Any) -> Tensor:
        shape = self.shape_of(input.shape, self.values(given))
        return torch.empty(shape, dtype=input.dtype, device=input.device, memory_format=self.output_format(input))

    def autograd(self, keyset: Any, input: Tensor, *given: Any) -> Tensor:
        if (input.requires_grad and torch.is_grad_enabled()) or forward_ad._current_level >= 0:
            modes = (torch.is_grad_enabled(), torch._C._is_fwd_grad_enabled())
            with enable_single_level_autograd_function():
                result: Tensor = _apply(self, keyset, modes, input, *given)
            return result
        return self.below_autograd(keyset, input, given)

    def below_autograd(self, keyset: Any, input: Tensor, given: Sequence[Any]) -> Tensor:
        with torch._C._AutoDispatchBelowAutograd():
            result: Tensor = self.overload.redispatch(keyset & torch._C._after_autograd_keyset, input, *given)
        return result

    def vmap(self, info: Any, in_dims: tuple[int | None, ...], input: Tensor, *given: Any) -> tuple[Tensor, int]:
        least, greatest = self.rank(*self.values(given))
        samples = input.movedim(in_dims[0] or 0, 0)
        rank = samples.dim() - 1
        if rank == greatest:
            count, batch = samples.shape[:2]
            return self.overload(samples.flatten(0, 1), *given).unflatten(0, (count, batch)), 0
        if rank < least or (greatest is not None and rank > greatest):
            self.shape_of(samples.shape[1:], self.values(given))  # raises the error for a wrong rank
        return self.overload(samples, *given), 0

    def out_here(self, input: Tensor, *given: Any, out: Tensor) -> None:
        self.native(_elements(input), _elements(out), *self.values(given))

    def out_elsewhere(self, input: Tensor, *given: Any, out: Tensor) -> None:
        self.out_fake(input, *given, out=out)  # checks out
        out.copy_(self.here(input.cpu(), *given))

    def out_fake(self, input: Tensor, *given: Any, out: Tensor) -> None:
        op = f"torch.{self.name}"
        shape = self.shape_of(input.shape, self.values(given))
        rule = "must have the shape of the operator's result"
        _shapes.require(out.dim() == len(shape), op, "out", rule, tuple(out.shape), tuple(shape))
        for size, expected in zip(out.shape, shape, strict=True):
            _shapes.require(size == expected, op, "out", rule, tuple(out.shape), tuple(shape))
        if out.dtype != input.dtype:
            raise InvalidType(op, "out", "must have the element type of input", str(out.dtype), str(input.dtype))

    def out_autograd(self, keyset: Any, input: Tensor, *given: Any, out: Tensor) -> None:
        recorded = torch.is_grad_enabled() and (input.requires_grad or out.requires_grad)
        if recorded or any(has_tangent(tensor) for tensor in (input, out)):
            rule = "has no derivative; leave it out or use torch.no_grad()"
            raise InvalidType(f"torch.{self.name}", "out", rule, "tensors with gradients or tangents")
        with torch._C._AutoDispatchBelowAutograd():
            self.out_overload.redispatch(keyset & torch._C._after_autograd_keyset, input, *given, out=out)
        torch.autograd.graph.increment_version(out)


def _elements(tensor: Tensor) -> Memory:
    """Returns a tensor's memory without checks: Autograd has checked the tensor before a kernel runs."""
    return torch_memory(tensor.detach() if tensor.requires_grad else tensor)


def _rank(window: Sequence[Any]) -> int:
    """Returns the number of spatial axes of a window in the caller's form."""
    return next((len(value) for value in window if not isinstance(value, int)), 2)


def _flat(items: Any) -> list[Any]:
    flat = []
    for item in items:
        if isinstance(item, Sequence) and not isinstance(item, str):
            flat += _flat(item)
        else:
            flat.append(item)
    return flat


class _Linear(_SingleLevelFunction):
    """The autograd function of any operator of the table, with derivatives of every order in both modes.

    A kernel of the dispatcher applies this function, after torch.func has chosen one of its levels. A plain
    autograd.Function would start again with the outermost level. A call without the dispatcher has no keyset.
    """

    @staticmethod
    def forward(ctx: Any, row: Row, keyset: Any, modes: tuple[bool, bool], input: Tensor, *given: Any) -> Tensor:
        ctx.set_materialize_grads(False)
        ctx.row = row
        ctx.sizes = input.shape
        if keyset is None:
            ctx.given = given
            result = row.native.call_torch(input, True, row.keeps_memory_format, *given)
            if result is None:
                raise _NeedsDispatch
            return result  # type: ignore[no-any-return]
        ctx.given = row.values(given)
        # The outer levels of torch.func run inside this level and record their own derivatives.
        with torch.set_grad_enabled(modes[0]), forward_ad._set_fwd_grad_enabled(modes[1]):
            return row.below_autograd(keyset, input, given)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        (gradient,) = gradients
        result = None if gradient is None else ctx.row.adjoint(gradient, ctx.sizes, *ctx.given)
        return (None, None, None, result, *(None for _ in ctx.needs_input_grad[4:]))

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return ctx.row.overload(tangents[3], *ctx.row.linear_part(*ctx.given))


class _NeedsDispatch(Exception):
    """Raised for a call that call_torch does not take, such as one that breaks a rule; torch's dispatcher then runs the
    call, or raises the error."""


_apply: Any = _Linear.apply  # type: ignore[attr-defined]


def register(row: Row) -> Row:
    """Adds the operator of a row to torch.library, and returns the row."""
    row.overload = _defined(row.name, row, "", "Tensor", (row.here, row.elsewhere, row.fake, row.autograd))
    torch.library.register_vmap(f"{NAMESPACE}::{row.name}", row.vmap, lib=library)
    return row


def _register_with_out(row: Row) -> Row:
    register(row)
    kernels = (row.out_here, row.out_elsewhere, row.out_fake, row.out_autograd)
    row.out_overload = _defined(f"{row.name}_out", row, "*, Tensor(a!) out", "()", kernels)
    return row


def _defined(name: str, row: Row, out: str, returns: str, kernels: tuple[Callable[..., Any], ...]) -> Any:
    """Adds an overload of the operator of a row to torch.library, and returns it."""
    here, elsewhere, fake, autograd = kernels
    qualified = f"{NAMESPACE}::{name}"
    inputs = ", ".join(filter(None, ("Tensor input", row.arguments, out)))
    torch.library.define(qualified, f"({inputs}) -> {returns}", lib=library, tags=_TAGS)
    for key in _KEYS:
        library.impl(name, here if key in _KEYS_HERE else elsewhere, key)
    torch.library.register_fake(qualified, fake, lib=library)
    library.impl(name, autograd, "Autograd", with_keyset=True)
    return getattr(getattr(torch.ops, NAMESPACE), name).default


FOLD: Row = _register_with_out(
    Row(
        name="fold",
        arguments=f"SymInt[2] output_size, {_WINDOW}",
        native=Operator("torch.fold", data="input"),
        portable=_portable.fold,
        shape=_shapes.fold_shape,
        adjoint=lambda gradient, sizes, output_size, *window: UNFOLD.run(gradient, None, *window),
        rank=lambda *values: (2, 3),
    )
)
UNFOLD: Row = _register_with_out(
    Row(
        name="unfold",
        arguments=_WINDOW,
        native=Operator("torch.unfold", data="input"),
        portable=_portable.unfold,
        shape=_shapes.unfold_shape,
        adjoint=lambda gradient, sizes, *window: FOLD.run(gradient, None, sizes[len(sizes) - _rank(window) :], *window),
        rank=lambda kernel_size, *window: (3, 4) if len(kernel_size) == 2 else (len(kernel_size) + 2,) * 2,
    )
)
PIXEL_SHUFFLE: Row = _register_with_out(
    Row(
        name="pixel_shuffle",
        arguments="SymInt upscale_factor",
        native=Operator("torch.pixel_shuffle", data="input"),
        portable=functional.pixel_shuffle,
        shape=_shapes.pixel_shuffle_shape,
        adjoint=lambda gradient, sizes, factor: PIXEL_UNSHUFFLE.run(gradient, None, factor),
        rank=lambda factor: (3, None),
        keeps_memory_format=True,
    )
)
PIXEL_UNSHUFFLE: Row = _register_with_out(
    Row(
        name="pixel_unshuffle",
        arguments="SymInt downscale_factor",
        native=Operator("torch.pixel_unshuffle", data="input"),
        portable=functional.pixel_unshuffle,
        shape=_shapes.pixel_unshuffle_shape,
        adjoint=lambda gradient, sizes, factor: PIXEL_SHUFFLE.run(gradient, None, factor),
        rank=lambda factor: (3, None),
        keeps_memory_format=True,
    )
)
CONTIGUOUS: Row = _register_with_out(
    Row(
        name="contiguous",
        arguments="",
        native=Operator("copy", data="input"),
        portable=_portable.contiguous,
        shape=lambda sizes: list(sizes),
        adjoint=lambda gradient, sizes: gradient,
    )
)


def decompositions() -> dict[Any, Callable[..., Tensor]]:
    """Returns patchfold's operators made of torch's own, for ``torch.export.ExportedProgram.run_decompositions``.

    ``torch.onnx.export`` of a module needs no help. A program that ``torch.export.export`` made holds operators of the
    namespace patchfold, which other runtimes do not know; these decompositions replace them.

    Example:
        >>> import torch, patchfold.torch
        >>> program = torch.export.export(patchfold.torch.Unfold(3), (torch.ones(1, 2, 6, 6),))
        >>> portable = program.run_decompositions(patchfold.torch.decompositions())
        >>> any("patchfold" in str(node.target) for node in portable.graph.nodes)
        False
    """
    rows = (FOLD, UNFOLD, PIXEL_SHUFFLE, PIXEL_UNSHUFFLE, CONTIGUOUS)
    return {row.overload: row.portable for row in rows if row.portable is not None}

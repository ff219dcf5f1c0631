# SPDX-License-Identifier: Apache-2.0
"""Programs of torch.export that are split: runs parts of them on tensors of any extents."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from . import _torch
from ._errors import ModelError
from ._norms import Norm, numbers_of
from ._regions import Graph
from ._split import SHAPING, Part, axes_of

# Operators that make tensors of any extents with equal elements, or places.
FILLED = frozenset(f"aten.{name}" for name in ("zeros", "ones", "empty", "zeros_like", "ones_like", "empty_like"))


class TorchProgram:
    """A program of torch.export whose tiled axes are open."""

    path = "model"

    def __init__(self, model: Any, shapes: Sequence[Sequence[int]] | None, axes: Sequence[int] | None):
        exported = model if isinstance(model, torch.export.ExportedProgram) else exported_open(model, shapes, axes)
        self.program = exported.run_decompositions({})  # writes no tensor in place
        signature = self.program.graph_signature
        if signature.buffers_to_mutate or signature.user_inputs_to_mutate:
            changed = ", ".join((signature.buffers_to_mutate | signature.user_inputs_to_mutate).values())
            raise ModelError(f"the module changes {changed} when it runs; call eval()")
        self.nodes = {node.name: node for node in self.program.graph.nodes}
        self.inputs = [name for name in signature.user_inputs if isinstance(name, str)]
        self.outputs = [name for name in signature.user_outputs if isinstance(name, str)]
        if not self.inputs or len(self.outputs) < len(signature.user_outputs):
            raise ModelError("the module must take and return tensors")
        shape = self._value(self.inputs[0]).shape
        rank = len(shape)
        self.axes = axes_of(axes, rank)
        held = {**dict(self.program.state_dict), **self.program.constants}
        named = (signature.inputs_to_parameters, signature.inputs_to_buffers, signature.inputs_to_lifted_tensor_constants)
        self.weights = {name: held[target] for each in named for name, target in each.items()}
        self.device = next((each.device for each in self.weights.values() if isinstance(each, torch.Tensor)), None)
        sizes = [shape[axis].node.expr if isinstance(shape[axis], torch.SymInt) else None for axis in self.axes]
        self.symbols = [size if size is not None and size.free_symbols else None for size in sizes]
        self.is_open = any(symbol is not None for symbol in self.symbols)
        free = [symbol for size in self.symbols if size is not None for symbol in size.free_symbols]
        if len(set(free)) < len(free):
            rule = "must be open by themselves: the module needs equal ones"
            raise ModelError(f"the extents of the tiled axes {self.axes} {rule}")
        self.extents = tuple(-(-max(_hint(shape[axis]), 32) // 32) * 32 for axis in self.axes)
        buffer = io.BytesIO()
        torch.export.save(self.program, buffer)
        self.buffer = buffer
        self.orders: dict[tuple[Any, ...], list[Any]] = {}
        self.norms = [norm for node in self.nodes.values() if (norm := _norm(node)) is not None]

    def _value(self, name: str) -> Any:
        return self.nodes[name].meta["val"]

    def graph(self, extents: Sequence[int]) -> Graph:
        sizes = {
            f"{self.inputs[0]}.{axis}": size
            for axis, size, symbol in zip(self.axes, extents, self.symbols, strict=True)
            if symbol is not None
        }
        return _torch.read(self.buffer, self.path, sizes)[0]

    def shape(self, tensor: str, extents: Sequence[int]) -> tuple[int, ...]:
        return tuple(self._number(size, extents) for size in self._value(tensor).shape)

    def _number(self, size: Any, extents: Sequence[int]) -> int:
        """Returns an extent for extents of the tiled axes."""
        if not isinstance(size, torch.SymInt):
            return int(size)
        values = {}
        for symbol, extent in zip(self.symbols, extents, strict=True):
            if symbol is None:
                continue
            for free in symbol.free_symbols:
                times = symbol.subs(free, 1)  # the extent is a multiple of the symbol
                if extent % times or symbol != times * free:
                    raise ModelError(f"extents must be multiples of {times}; given {extent}")
                values[free] = int(extent // times)
        value = size.node.expr.subs(values)
        return int(value) if value.is_number else _hint(size)

    def by_size(self) -> set[str]:
        found = set()
        for node in self.nodes.values():
            if node.op == "call_function" and isinstance(node.meta.get("val"), torch.Tensor):
                kind = _kind(node)
                numbers = [each.meta.get("val") for each in node.all_input_nodes]
                sized = any(isinstance(each, (torch.SymInt, torch.SymFloat)) for each in numbers)
                if sized and kind not in SHAPING and kind not in FILLED:
                    found.add(node.name)
        return found

    def checked(self, inputs: Sequence[Any]) -> tuple[int, ...]:
        """Returns the extents of the tiled axes of inputs, after a check of their shapes."""
        if len(inputs) != len(self.inputs) or not all(isinstance(x, torch.Tensor) for x in inputs):
            raise ModelError(f"inputs: must be {len(self.inputs)} tensors; given {len(inputs)}")
        rank = len(self._value(self.inputs[0]).shape)
        if inputs[0].ndim != rank:
            raise ModelError(f"{self.inputs[0]}: must have {rank} axes; given {inputs[0].ndim}")
        extents = tuple(int(inputs[0].shape[axis]) for axis in self.axes)
        self.check_ranges(extents)
        for name, x in zip(self.inputs, inputs, strict=True):
            expected = self.shape(name, extents)
            if tuple(x.shape) != expected:
                raise ModelError(f"{name}: must have the shape {expected}; given {tuple(x.shape)}")
        return extents

    def check_ranges(self, extents: Sequence[int]) -> None:
        for symbol, extent in zip(self.symbols, extents, strict=True):
            if symbol is None:
                continue
            free = next(iter(symbol.free_symbols))
            limits = self.program.range_constraints.get(free)
            if limits is not None and not limits.lower <= extent / symbol.subs(free, 1) <= limits.upper:
                rule = f"from {limits.lower} to {limits.upper} along a tiled axis, for which the module takes this way"
                raise ModelError(f"extents must be {rule}; given {extent}, of the array or of a tile")

    def kept(self, x: Any, like: Any) -> Any:
        return x.to(like.device)

    def empty(self, shape: Sequence[int], own: Any, like: Any) -> Any:
        return torch.empty(tuple(shape), dtype=own.dtype, device=like.device)

    def moments(self, x: Any, groups: int) -> tuple[int, Any, Any]:
        wide = x.to(torch.float64).reshape(x.shape[0], groups, -1)
        mean = wide.mean(2)
        squares = (wide - mean[:, :, None]).square().sum(2)
        return wide.shape[2], mean.cpu().numpy(), squares.cpu().numpy()

    def numbers(self, norm: Norm, mean: Any, variance: Any) -> list[Any]:
        shape, kind = self._value(norm.source).shape, self._value(norm.source).dtype
        given = [self.weights[name].detach().double().cpu().numpy() if name else None for name in (norm.weight, norm.bias)]
        made = numbers_of(norm, int(shape[1]), len(shape), mean, variance, *given)
        wide = torch.float64 if kind == torch.float64 else torch.float32
        return [torch.from_numpy(np.array(each)).to(self.device, wide) for each in made]

    def run(
        self, part: Part, feeds: Mapping[str, Any], fixed: Mapping[str, Sequence[Any]], extents: Sequence[int]
    ) -> Sequence[Any]:
        self.check_ranges(extents)
        norms = {norm.result: norm for norm in part.fixed}
        key = part.outputs, part.inputs, tuple(norms)
        if key not in self.orders:
            self.orders[key] = self._order(part, norms)
        values: dict[str, Any] = {name: x if self.device is None else x.to(self.device) for name, x in feeds.items()}
        with torch.no_grad():
            for node, done in self.orders[key]:
                values[node.name] = self._computed(node, values, norms, fixed, extents)
                for name in done:
                    del values[name]
        return [values[name] for name in part.outputs]

    def _computed(
        self, node: Any, values: Mapping[str, Any], norms: Mapping[str, Norm], fixed: Mapping[str, Sequence[Any]],
        extents: Sequence[int],
    ) -> Any:  # fmt: skip
        if node.name in norms:
            x, (mean, scale, shift) = values[norms[node.name].source], fixed[norms[node.name].node]
            return ((x.to(scale.dtype) - mean) * scale + shift).to(x.dtype)
        if isinstance(node.meta.get("val"), torch.SymInt):
            return self._number(node.meta["val"], extents)
        if node.op == "placeholder":
            return self.weights[node.name]
        arguments = torch.fx.node.map_arg((node.args, node.kwargs), lambda each: values[each.name])
        return node.target(*arguments[0], **arguments[1])

    def _order(self, part: Part, norms: Mapping[str, Norm]) -> list[Any]:
        """Returns the nodes that a part runs, each with the nodes whose results are not needed after it."""
        needed, order = {*part.outputs} - {*part.inputs}, []
        for node in reversed(self.program.graph.nodes):
            if node.name not in needed:
                continue
            if node.name in norms:
                sources = [norms[node.name].source]
            else:
                is_number = isinstance(node.meta.get("val"), torch.SymInt)
                sources = [] if is_number else [each.name for each in node.all_input_nodes]
            needed |= set(sources) - {*part.inputs}
            order.append((node, sources))
        seen, found = set(part.outputs), []
        for node, sources in order:
            done = [name for name in dict.fromkeys((*sources, node.name)) if name not in seen]
            seen |= set(done)
            found.append((node, done))
        return found[::-1]


def _kind(node: Any) -> str:
    return ".".join(str(node.target).split(".")[:2])


def _hint(size: Any) -> int:
    hint: Any = size.node.hint if isinstance(size, torch.SymInt) else size
    return int(hint)


def exported_open(model: Any, shapes: Sequence[Sequence[int]] | None, axes: Sequence[int] | None) -> Any:
    """Returns the program of a module, with open extents along the tiled axes of all inputs of the same rank."""
    if shapes is None:
        raise ModelError("input_shapes: must be given for a torch module")
    first = next((each for each in model.parameters() if each.is_floating_point()), torch.zeros(()))
    inputs = tuple(torch.zeros(tuple(shape), dtype=first.dtype, device=first.device) for shape in shapes)
    tiled = axes_of(axes, len(shapes[0]))
    make: Any = torch.export.ShapesCollection
    dims = make()
    for x in inputs:
        dims[x] = {axis: torch.export.Dim.AUTO for axis in tiled} if x.ndim == inputs[0].ndim else {}
    try:
        return torch.export.export(model, inputs, dynamic_shapes=dims)
    except Exception as error:  # torch raises errors of many kinds, also those of the module
        reason = str(error).strip().partition("\n")[0]
        text = f"torch.export does not export the module with open extents: {type(error).__name__}: {reason}"
        raise ModelError(text) from error


def _norm(node: Any) -> Norm | None:
    """Returns the norm over the plane that a node is."""
    kind = _kind(node) if node.op == "call_function" else ""
    if kind not in ("aten.group_norm", "aten.instance_norm"):
        return None
    given = dict(zip([each.name for each in node.target._schema.arguments], node.args, strict=False)) | dict(node.kwargs)
    names = [getattr(given.get(name), "name", "") for name in ("input", "weight", "bias")]
    if kind == "aten.instance_norm":
        if not given["use_input_stats"]:
            return None
        groups = int(given["input"].meta["val"].shape[1])
    else:
        groups = int(given["num_groups"])
    return Norm(node.name, kind, names[0], node.name, groups, float(given.get("eps", 1e-5)), *names[1:])

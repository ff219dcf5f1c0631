# SPDX-License-Identifier: Apache-2.0
"""Follows through a model which elements of the inputs each element of a tensor depends on."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

import patchfold
from patchfold import Halo

from .._orders.index_map import OUTSIDE, Indices, whole
from ._errors import ModelError, naming
from ._inspect import graphs_of
from ._moves import decoded
from ._reads import NOTED
from ._reads_torch import check_writes, plain
from ._regions import MOST_ELEMENTS, Graph, Move, Step, held_bytes, origins_of
from ._spans import FAR, NoSpan, Reads, Span, added, span_of, through, united

NOT_EVEN = "moves elements in an order that is not followed"
NO_AXIS = "no axis of its result runs along the whole axis in even steps"
BY_CONSTANT = "a constant has a value for each place along the axis, so tiles get other values or do not fit"
CUTS = "cuts off elements inside the axis, so tiles get other ends"
ZERO = span_of(0, [0], [0])


@dataclass(frozen=True, eq=False)
class View:
    """What the elements of a tensor see along one axis of an input: from the sum of the lower bounds of `spans`, one
    for each axis of the tensor, plus lo, to the sum of the upper bounds plus hi. causes: why no axis of the tensor
    runs along the input's axis, if none does."""

    spans: Mapping[int, Span]
    lo: int = 0
    hi: int = 0
    align: int = 1
    causes: tuple[str, ...] = ()

    @property
    def moves(self) -> bool:
        return any(span.step for span in self.spans.values())


Key = tuple[str, int]  # an input and its axis
Views = dict[Key, View]


@dataclass(frozen=True)
class Halos:
    """The result of `halo`; its text has a line for each output, input and axis.

    notes: on the model, and those of its halos. inputs: the shapes for which the numbers hold. bytes: of the tensors that
    live at a time if the nodes run in the model's order, for each element of the inputs.
    """

    model: str
    halos: tuple[Halo, ...]
    notes: tuple[str, ...] = ()
    inputs: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    bytes: Fraction = Fraction(0)

    def __str__(self) -> str:
        lines = [self.model, *(f"note: {note}" for note in self.notes), *map(str, self.halos)]
        return "\n".join(lines if self.halos else [*lines, "no output depends on an axis of an input"])

    def json(self) -> str:
        """Returns the report as one JSON object: model, notes, and halos with the members of Halo and overlap; scale
        is text."""
        entries = [asdict(each) | {"overlap": each.overlap} for each in self.halos]
        return json.dumps({"model": self.model, "notes": self.notes, "halos": entries}, indent=2, default=str)


def halo(
    model: Any, input_shapes: Sequence[Sequence[int]] | None = None, *, sizes: Mapping[str, int] | None = None
) -> Halos:
    """Returns how far each output of a model looks along each axis of each input, or which nodes see the whole axis.

    Nothing is run. Each node says which elements it reads for an element of its result, and these tables are composed
    along the graph, exactly. Nodes that only move elements are followed by their index maps, as in `inspect`. A node
    that is not known counts as one that sees everything. Elements that are read with a weight of 0 count for
    convolutions, whose weights are not read, but not for Resize.

    Arguments:
        model: path of an .onnx file, of an .xml file of OpenVINO or of a .pt2 file of torch.export; or an onnx.ModelProto, a
            torch.export.ExportedProgram or a torch module, which torch.export exports in its present mode (so call eval()).
        input_shapes: for a torch module, a shape for each of its inputs. Other models hold their shapes.
        sizes: as for `inspect`. Numbers hold for inputs of these sizes; axes of one element are left out.

    Returns: Halos, whose text is the report and whose `halos` has a patchfold.Halo for each output, input and axis on
        which the output depends.

    Raises: ModelError for a file that is no model, for nodes whose settings are not sound, and for a torch module that
        torch.export does not export; ImportError for an ONNX model without the package onnx.
    """
    path, graphs = graphs_of(exported(model, input_shapes), dict(sizes or {}))
    graph = graphs[0]
    if graph.inputs is None:
        raise ModelError(f"{path}: halo follows models of ONNX, OpenVINO and torch; convert this one to ONNX")
    check_writes(path, graph.steps, graph.results)
    try:
        halos = tuple(Walk(graph).halos())
    except RecursionError:
        raise ModelError(f"{path}: has too long a chain of nodes that move elements in no even steps") from None
    notes = dict.fromkeys((*graph.notes, *(note for each in halos for note in each.notes)))
    inputs = {graph.titles.get(name, name): graph.shapes[name] for name in graph.inputs}
    count = max(sum(map(math.prod, inputs.values())), 1)
    return Halos(path, halos, tuple(notes), inputs, Fraction(held_bytes(graph), count))


def exported(model: Any, shapes: Sequence[Sequence[int]] | None) -> Any:
    """Returns the program of a torch module, and any other model itself."""
    torch: Any = sys.modules.get("torch")
    is_module = torch is not None and isinstance(model, torch.nn.Module)
    if is_module != (shapes is not None):
        rule = "must be given for a torch module" if is_module else "must be left out, since the model holds its shapes"
        raise ModelError(f"input_shapes: {rule}")
    if not is_module or shapes is None:
        is_program = torch is not None and isinstance(model, torch.export.ExportedProgram)
        return plain(model) if is_program else model
    first = next((each for each in model.parameters() if each.is_floating_point()), torch.zeros(()))
    try:
        inputs = tuple(torch.zeros(tuple(shape), dtype=first.dtype, device=first.device) for shape in shapes)
        return plain(torch.export.export(model, inputs))
    except Exception as error:  # torch raises errors of many kinds, also those of the module
        reason = str(error).strip().partition("\n")[0]
        raise ModelError(f"torch.export does not export the module: {type(error).__name__}: {reason}") from error


@dataclass
class Walk:
    """The views of all tensors of a graph."""

    graph: Graph
    views: dict[str, Views] = field(default_factory=dict)
    notes: list[tuple[Key, str]] = field(default_factory=list)
    """What makes tiles differ from the whole array besides the overlap, for an axis of an input."""
    grown: Mapping[str, Collection[int]] = field(default_factory=dict)
    """The axes of tensors that grow with the inputs, where they are known."""

    def halos(self) -> Iterable[Halo]:
        graph = self.graph = replace(self.graph, steps=[_moving(step) for step in self.graph.steps])
        for name in graph.inputs or ():
            shape = graph.shapes.get(name)
            if shape is None:
                raise ModelError(f"input {name!r}: its shape is not in the model")
            spans = {(name, axis): View({axis: span_of(1, [0], [0])}) for axis, extent in enumerate(shape) if extent > 1}
            self.views[name] = spans
        self.origins = origins_of(graph, set())
        self.makers = {tensor: step for step in graph.steps for tensor in step.outputs}
        for step in graph.steps:
            if step.move is None:
                self.views |= {tensor: self._computed(step, tensor) for tensor in step.outputs if tensor}
        for step in graph.steps:
            if step.move is None or self.grown or _drops(step, graph):
                self._note_cuts(step)
        for tensor in self.makers:
            if tensor in graph.results:
                for (name, axis), view in self.of(tensor).items():
                    yield self._named(self._halo(tensor, name, axis, view))

    def _named(self, halo: Halo) -> Halo:
        """Returns a halo with the model's own names and with its notes."""
        texts = (text for key, text in self.notes if key == (halo.input, halo.axis) and halo.before is not None)
        titles = [self.graph.titles.get(tensor, tensor) for tensor in (halo.output, halo.input)]
        return replace(halo, output=titles[0], input=titles[1], notes=tuple(dict.fromkeys(texts)))

    def of(self, tensor: str) -> Views:
        """Returns the views of a tensor. Those of moved tensors are computed where they are first needed."""
        if tensor not in self.views:
            step = self.makers.get(tensor)
            self.views[tensor] = {} if step is None else self._moved(step, tensor)
        return self.views[tensor]

    def _moved(self, step: Step, tensor: str) -> Views:
        origin = self.origins.get(tensor)
        if origin is not None:
            views = self.of(origin.source)
            reads = decoded(origin.indices, self.graph.shapes[origin.source]) if views else None
            if not views or reads is not None:
                return self._joined(step, [(views, reads or [])], NO_AXIS, origin.indices.shape)
        place = step.outputs.index(tensor)
        shapes = [self.graph.shapes.get(name) for name in step.inputs]
        if any(shape is None or math.prod(shape) > MOST_ELEMENTS for shape in shapes):
            return self._computed(step, tensor)
        if not any(map(self.of, step.inputs)):
            return {}
        parts: list[tuple[Views, Sequence[Reads] | None]] = []
        shape = self.graph.shapes.get(tensor, ())
        lists: set[int] = set()  # axes of the result along all of which a constant lies, as coordinates beside channels
        for number, name in enumerate(step.inputs):
            views, reads = self.of(name), None
            try:
                indices = _run(step.move, shapes, number)[place]
                if indices.shape == shape or tensor not in self.graph.shapes:
                    reads, shape = decoded(indices, shapes[number] or ()), indices.shape
            except Exception:  # the runtime will refuse the node with its own error
                reads = None
            if views:
                parts.append((views, reads))
            elif reads is not None:
                found = {axis for each in reads for axis in each.taps}
                lists |= {axis for axis in found if (indices >= 0).all(axis).any()}
        made = self._joined(step, parts, NOT_EVEN if any(reads is None for _, reads in parts) else NO_AXIS, shape)
        self._note_lists(step, lists, made)
        return made

    def _computed(self, step: Step, tensor: str) -> Views:
        parts = [(slot, self.of(name)) for slot, name in enumerate(step.slots) if name]
        parts = [(slot, views) for slot, views in parts if views]
        if not parts:
            return {}
        with naming(f"node {step.node} ({step.kind})"):
            try:
                reads, reason = step.reads() if step.reads is not None else ({}, "")
            except NoSpan as error:
                reads, reason = {}, str(error)
        shape, first = (self.graph.shapes.get(name, ()) for name in (tensor, step.outputs[0]))
        if tensor != step.outputs[0] and "maxpool" in step.kind.lower().replace("_", ""):
            reads, reason = {}, "its indices count from the begin of the tensor"
        elif len(shape) != len(first):  # as the means that a norm returns beside its result
            reads, reason = {}, "has a further result, which is not followed"
        elif reads and any(slot not in reads for slot, _ in parts):
            reason = "reads weights or settings that are computed from data"
        made = self._joined(step, [(views, reads.get(slot)) for slot, views in parts], reason, shape)
        self._note(step, {slot: each for slot, each in reads.items() if slot not in dict(parts)}, reason, made)
        return made

    def _note(self, step: Step, constants: Mapping[int, Sequence[Reads]], reason: str, made: Views) -> None:
        """Notes a node whose result depends on the place or on the extent of an axis."""
        node = f"node {step.node} ({step.kind})"
        lists: set[int] = set()  # axes of the result along which a constant has more than one value
        for slot, reads in constants.items():
            name = step.slots[slot]
            shape = self.graph.shapes.get(name, getattr(self.graph.constants.get(name), "shape", ()))
            lists |= {axis for each, extent in zip(reads, shape, strict=False) if extent > 1 for axis in each.taps}
        self.notes += [(key, f"{node}: {reason}") for key in made if reason in NOTED]
        self._note_lists(step, lists, made)

    def _note_lists(self, step: Step, lists: Collection[int], made: Views) -> None:
        """Notes a node whose result depends on the place by a constant. lists: axes along which constants have values."""
        for key, view in made.items():
            if any(span.step and axis in lists for axis, span in view.spans.items()):
                self.notes.append((key, f"node {step.node} ({step.kind}): {BY_CONSTANT}"))

    def _note_cuts(self, step: Step) -> None:
        """Notes the first node whose result ends inside an axis: an element beyond the end would see elements of the axis
        only. Nodes behind it meet an end there, which in a tile lies elsewhere."""
        for tensor in filter(None, step.outputs):
            for key, view in self.of(tensor).items():
                known = any(each == key and text.endswith(CUTS) for each, text in self.notes)
                grown = self.grown.get(tensor, view.spans)
                axes = [axis for axis, span in view.spans.items() if span.step and axis in grown]
                extent, shape = self.graph.shapes[key[0]][key[1]], self.graph.shapes.get(tensor)
                if axes and shape and not known and all(_cuts(view, shape, axis, extent) for axis in axes):
                    self.notes.append((key, f"node {step.node} ({step.kind}): {CUTS}"))

    def _joined(
        self, step: Step, parts: Sequence[tuple[Views, Sequence[Reads] | None]], reason: str, shape: Sequence[int]
    ) -> Views:
        """Returns the views of the result of a node. parts: for each of its inputs the views, and what the node reads
        along each axis (None for everything)."""
        result: Views = {}
        for views, reads in parts:
            for key, view in views.items():
                try:
                    if reads is None:
                        raise NoSpan(reason)
                    made = _read(view, reads, shape)
                    if made is not None and view.moves and not made.moves:
                        made = replace(made, causes=_named(step, reason, view.causes))
                    if made is not None:
                        result[key] = _union(result[key], made, shape) if key in result else made
                except NoSpan as error:
                    before = result[key].causes if key in result else ()
                    causes = tuple(dict.fromkeys((*before, *_named(step, str(error), view.causes))))
                    result[key] = self._everything(key, causes)
        return result

    def _everything(self, key: Key, causes: tuple[str, ...]) -> View:
        name, axis = key
        return View({}, 0, self.graph.shapes[name][axis] - 1, 1, causes)

    def _halo(self, output: str, name: str, axis: int, view: View) -> Halo:
        axes = [along for along, span in view.spans.items() if span.step]
        step = self.makers[output]
        if len(axes) > 1:
            view = replace(view, causes=_named(step, f"parts of the axis lie along axes {axes} of its result", ()))
        elif axes and view.spans[axes[0]].step < 0:
            view = replace(view, causes=_named(step, "its result runs backwards along the axis", ()))
        elif axes:
            return _bounded(output, name, axis, axes[0], view)
        return Halo(output, name, axis, None, None, None, None, None, view.causes or _named(step, NO_AXIS, ()))


def _bounded(output: str, name: str, axis: int, along: int, view: View) -> Halo:
    span, lo, hi = view.spans[along], view.lo, view.hi
    for other, each in view.spans.items():
        if other != along:
            low, high = each.hull(range(each.period))
            lo, hi = lo + low, hi + high
    sees = span.lo <= span.hi
    place = np.arange(span.period, dtype=np.int64) * span.step // span.period
    before, after = int((place - span.lo)[sees].max()) - lo, int((span.hi - place)[sees].max()) + hi
    return Halo(output, name, axis, along, before, after, math.lcm(view.align, span.step), Fraction(span.period, span.step))


def _drops(step: Step, graph: Graph) -> bool:
    """Returns whether a result of a step has fewer elements than an input."""
    sizes = [[math.prod(graph.shapes.get(name, ())) for name in names] for names in (step.inputs, step.outputs)]
    return min(sizes[1], default=0) < max(sizes[0], default=0)


def _cuts(view: View, shape: Sequence[int], axis: int, extent: int) -> bool:
    """Returns whether no element of an axis of a tensor sees an end of the input's axis, although an element beyond the axis
    would see elements of the input only. So it is with each axis of a tensor if the input's axis is cut, and otherwise not
    with the outermost one of several."""
    others = [each.bounds(np.arange(shape[at])) for at, each in view.spans.items() if at != axis]
    lo, hi = view.spans[axis].bounds(np.arange(-1, shape[axis] + 1))
    sees = lo <= hi
    inside = sees[1:-1]
    least = view.lo + int(np.min(lo[1:-1][inside], initial=extent)) + sum(int(low.min()) for low, _ in others)
    most = view.hi + int(np.max(hi[1:-1][inside], initial=-1)) + sum(int(high.max()) for _, high in others)
    first = view.lo + int(lo[0]) + sum(int(low.max()) for low, _ in others)
    last = view.hi + int(hi[-1]) + sum(int(high.min()) for _, high in others)
    return bool((sees[0] and first >= 0 and least > 0) or (sees[-1] and last < extent and most < extent - 1))


def _named(step: Step, reason: str, causes: tuple[str, ...]) -> tuple[str, ...]:
    """Returns earlier causes, or else a sentence about a node."""
    return tuple(dict.fromkeys(causes)) or (f"node {step.node} ({step.kind}): {reason}",)


def _read(view: View, reads: Sequence[Reads], shape: Sequence[int]) -> View | None:
    """Returns the view of a result whose elements read elements with a view; None if they read none."""
    spans: dict[int, Span] = {}
    lo, hi, align = view.lo, view.hi, view.align
    for axis, seen in view.spans.items():
        made, low, high = through(seen, reads[axis], shape)
        if low >= FAR:
            return None
        lo, hi = lo + low, hi + high
        for along, span in made.items():
            align = math.lcm(align, abs(span.step)) if span.step else align
            spans[along] = added(spans[along], span) if along in spans else span
    return _view(spans, lo, hi, align, view.causes)


def _view(spans: Mapping[int, Span], lo: int, hi: int, align: int, causes: tuple[str, ...]) -> View | None:
    """Returns a view without tables that say the same for all elements."""
    kept = {}
    for axis, span in spans.items():
        if (span.lo > span.hi).all():
            return None
        if span.step == 0 and span.period == 1:
            lo, hi = lo + int(span.lo[0]), hi + int(span.hi[0])
        else:
            kept[axis] = span
    return View(kept, lo, hi, align, causes)


def _union(a: View, b: View, shape: Sequence[int]) -> View:
    """Returns what elements see that see both views. The bounds are exact if the tables of at most one axis differ,
    and if both views move equally fast along each axis; along other axes, all elements are taken together."""
    if (not a.moves and a.causes) or (not b.moves and b.causes):
        causes = tuple(dict.fromkeys((*a.causes, *b.causes)))
        return View({}, min(a.lo, b.lo), max(a.hi, b.hi), 1, causes)
    moved = a.moves or b.moves
    for axis in {*a.spans, *b.spans}:
        one, two = a.spans.get(axis, ZERO), b.spans.get(axis, ZERO)
        if one.step * two.period != two.step * one.period:
            a, b = _gathered(a, axis, shape), _gathered(b, axis, shape)
    if moved and not (a.moves and b.moves):
        raise NoSpan("joins results of different scales")
    axes = sorted({*a.spans, *b.spans}, key=lambda axis: axis not in a.spans or not a.spans[axis].step)
    spans = {axis: united(a.spans.get(axis, ZERO), b.spans.get(axis, ZERO)) for axis in axes[1:]}
    if not axes:
        return View({}, min(a.lo, b.lo), max(a.hi, b.hi), 1, a.causes)
    # The constants become part of the first table.
    first = [view.spans.get(axes[0], ZERO).moved(view.lo, view.hi) for view in (a, b)]
    made = _view({axes[0]: united(*first)} | spans, 0, 0, math.lcm(a.align, b.align), ())
    assert made is not None
    return made


def _gathered(view: View, axis: int, shape: Sequence[int]) -> View:
    """Returns a view of which all elements along an axis see what any of them sees."""
    if axis not in view.spans:
        return view
    lo, hi = view.spans[axis].hull(range(shape[axis]))
    return replace(view, spans={k: v for k, v in view.spans.items() if k != axis}, lo=view.lo + lo, hi=view.hi + hi)


# Moves.


def _moving(step: Step) -> Step:
    """Returns a step whose move says what the step reads: none for a convolution, which reads its whole window, and
    the index map of an operator of the family that only moves elements."""
    if step.move is not None and step.notes:
        return replace(step, move=None)
    if step.name is None or step.name.operator in ("fold", "blocks"):
        return step
    name = step.name

    def move(indices: Sequence[Indices]) -> Sequence[Indices]:
        return [patchfold.run(name.operator, np.ascontiguousarray(indices[0]) + 1, **name.arguments) - 1]

    return replace(step, move=move)


def _run(move: Move | None, shapes: Sequence[tuple[int, ...] | None], number: int) -> Sequence[Indices]:
    """Returns the index maps of a move from one of its inputs."""
    assert move is not None
    known = [shape for shape in shapes if shape is not None]
    return move([whole(shape) if each == number else np.full(shape, OUTSIDE) for each, shape in enumerate(known)])

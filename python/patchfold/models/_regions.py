# SPDX-License-Identifier: Apache-2.0
"""Finds operators of patchfold's family in a graph of steps: single nodes, and chains of steps that only move data.

A reader turns its model into steps. Steps that only move data are run on arrays of indices. The result of a chain is an
index map, and the name of the chain follows from the map alone.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

import patchfold

from .._arrays.dtypes import SIZES
from .._orders.calls import call_of_tokens
from .._orders.index_map import OUTSIDE, Indices, maps, whole
from .._orders.names import Name, name_of
from ._errors import ModelError
from ._spans import Reads

# The most elements of a tensor whose index map is computed: 128 MiB of indices.
MOST_ELEMENTS = 1 << 24
NOT_COPYING = "a convolution gives NaN where its window holds Inf or NaN anywhere; the operator copies elements"

Move = Callable[[Sequence[Indices]], Sequence[Indices]]
Key = TypeVar("Key", int, str)


@dataclass(frozen=True)
class Step:
    """A node of a model. `inputs` are the tensors whose elements the node moves or computes with, `outputs` its results.

    `move` turns indices of the inputs into indices of the outputs; None for a step that computes. `name` is set if the
    node is an operator of patchfold's family itself. `reads` returns what the node reads of its inputs, which `slots` names
    ("" for an input that is left out), and why the node reads a whole axis, if it does; None where the reader does not know.
    """

    node: str
    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    move: Move | None = None
    name: Name | None = None
    slots: tuple[str, ...] = ()
    reads: Callable[[], tuple[Mapping[int, Sequence[Reads]], str]] | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """The warnings about a step that moves elements."""
        return (NOT_COPYING,) if self.move is not None and "conv" in self.kind.lower() else ()


@dataclass
class Graph:
    """Steps in an order in which the inputs of each step exist, with the known shapes and element types of tensors."""

    results: set[str] = field(default_factory=set)
    constants: dict[str, Any] = field(default_factory=dict)
    """The values of tensors that are known without a run of the model."""
    steps: list[Step] = field(default_factory=list)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)
    inputs: list[str] | None = None
    """The inputs of the model; None if the reader does not say what nodes read."""
    titles: dict[str, str] = field(default_factory=dict)
    """The names of inputs and results, where they are not the names of their tensors."""
    notes: list[str] = field(default_factory=list)
    open_sizes: str = ""
    """The sizes that were taken for open dimensions, in words."""
    misfits: list[str] = field(default_factory=list)
    """A sentence for each node that does not take the sizes of open dimensions."""

    @functools.cached_property
    def zeros(self) -> set[str]:
        """The constants that hold only zeros."""
        return {n for n, v in self.constants.items() if isinstance(v, np.ndarray) and v.size and not v.any()}

    def note_result(self, step: Step) -> None:
        """Adds the shape of the result of an operator of the family, where the model does not hold it."""
        shape = self.shapes.get(step.inputs[0]) if step.inputs else None
        if step.name is None or shape is None or not step.outputs or step.outputs[0] in self.shapes:
            return
        try:
            self.shapes[step.outputs[0]] = patchfold.output_shape(step.name.operator, shape, **step.name.arguments)
        except patchfold.Error:  # an argument is computed, or the runtime will refuse the operator
            return
        self.dtypes.setdefault(step.outputs[0], self.dtypes.get(step.inputs[0], ""))

    def note_moved(self, step: Step) -> bool:
        """Adds the shapes of the results of a step, where the model does not hold them. Returns False if they do not follow
        from the shapes of the step's inputs."""
        self.note_result(step)
        if all(tensor in self.shapes for tensor in step.outputs):
            return True
        shapes = [self.shapes[tensor] for tensor in step.inputs if tensor in self.shapes]
        if step.move is None or len(shapes) < len(step.inputs) or any(math.prod(shape) > MOST_ELEMENTS for shape in shapes):
            return False
        try:
            results = step.move([np.zeros(shape, np.int64) for shape in shapes])
        except Exception as error:  # the runtime will refuse the node with its own error
            if self.open_sizes:
                self.misfits.append(f"node {step.node} ({step.kind}): {self.open_sizes}, which does not fit: {error}")
            return True
        for tensor, values in zip(step.outputs, results, strict=False):
            self.shapes.setdefault(tensor, values.shape)
            self.dtypes.setdefault(tensor, self.dtypes.get(step.inputs[0], ""))
        return True


def in_order(sources: Mapping[Key, Collection[Key]], label: Callable[[Key], str]) -> list[Key]:
    """Returns nodes in an order in which each follows its sources. A cycle is a ModelError with the label of a node."""
    waiting = {node: set(needed) for node, needed in sources.items()}
    users: dict[Key, list[Key]] = {node: [] for node in sources}
    for node, needed in sources.items():
        for source in needed:
            users[source].append(node)
    order = [node for node in sources if not waiting[node]]
    for ready in order:  # the loop itself appends to this list
        for user in users[ready]:
            waiting[user].discard(ready)
            if not waiting[user]:
                order.append(user)
    if len(order) < len(sources):
        raise ModelError(f"{label(next(node for node in sources if waiting[node]))} lies on a cycle")
    return order


def held_bytes(graph: Graph) -> int:
    """Returns the bytes of the tensors that live at a time."""
    inputs = list(graph.inputs or ())
    kept = {*inputs, *graph.results}  # the caller holds the inputs while the model runs
    last = {name: number for number, step in enumerate(graph.steps) for name in (*step.inputs, *step.outputs)}

    def size(name: str) -> int:
        return math.prod(graph.shapes.get(name, ())) * SIZES.get(graph.dtypes.get(name, ""), 4)

    live = {name: size(name) for name in inputs}
    most = now = sum(live.values())
    for number, step in enumerate(graph.steps):
        for name in step.outputs:
            live[name] = size(name)
            now += live[name]
        most = max(most, now)
        for name in {*step.inputs, *step.outputs}:
            if last[name] == number and name not in kept:
                now -= live.pop(name, 0)
    return most


@dataclass(frozen=True)
class Found:
    """An operator of patchfold's family in a model: the nodes that it is made of, its source and its result."""

    name: Name
    nodes: tuple[str, ...]
    kinds: tuple[str, ...]
    source: str
    result: str
    source_shape: tuple[int, ...] | None
    shape: tuple[int, ...] | None
    dtype: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Origin:
    source: str
    indices: Indices
    steps: frozenset[int]


def find_all(graph: Graph) -> list[Found]:
    """Returns all operators of patchfold's family in a graph, in the graph's order."""
    found: dict[str, tuple[int, Found]] = {}
    for number, step in enumerate(graph.steps):
        if step.name is not None and step.inputs and step.outputs:
            found[step.outputs[0]] = (number, found_of(graph, step.name, (number,), step.inputs[0], step.outputs[0]))
    sources: set[str] = set()
    while True:
        origins = origins_of(graph, sources)
        fresh = _named_ends(graph, origins, set(found))
        begins: set[str] = set()
        for choose in () if fresh else (_joins, _selections):
            begins = begins or choose(graph, origins, found) - sources
        if not fresh and not begins:
            break
        sources |= begins
        for tensor, (name, origin) in fresh.items():
            numbers = sorted(origin.steps)
            name = _tokens(graph, name, origin)
            found[tensor] = (numbers[-1], found_of(graph, name, numbers, origin.source, tensor))
            sources.add(tensor)
    return [entry for _, entry in sorted(found.values(), key=lambda pair: pair[0])]


def _joins(graph: Graph, origins: dict[str, _Origin], found: dict[str, tuple[int, Found]]) -> set[str]:
    """Returns tensors that join parts of one tensor and belong to no operator, such as a shifted image. New chains begin at
    them."""
    joins = [step for step in _unnamed(graph, found) if len(step.inputs) > 1]
    return {tensor for step in joins for tensor in step.outputs if tensor in origins}


def _selections(graph: Graph, origins: dict[str, _Origin], found: dict[str, tuple[int, Found]]) -> set[str]:
    """Returns tensors that hold a part of one tensor, copies of its elements, or its elements in an order that no axes have,
    and belong to no operator: the results of Slice, Gather, Tile, Pad .. New chains begin at them."""
    steps = [step for step in _unnamed(graph, found) if len(step.inputs) == 1]
    return {tensor for step in steps for tensor in step.outputs if tensor in origins and _selects(graph, step, tensor)}


def _unnamed(graph: Graph, found: dict[str, tuple[int, Found]]) -> list[Step]:
    """Returns the steps that move elements and belong to no operator."""
    used = {node for _, entry in found.values() for node in entry.nodes}
    return [step for step in graph.steps if step.move is not None and step.node not in used]


def _selects(graph: Graph, step: Step, tensor: str) -> bool:
    """Returns whether a result of a step is no plain rearrangement of the axes of the step's input."""
    shape = graph.shapes.get(step.inputs[0])
    if step.move is None or shape is None or math.prod(shape) > MOST_ELEMENTS:
        return False
    if math.prod(graph.shapes.get(tensor, shape)) != math.prod(shape):
        return True
    try:
        results = dict(zip(step.outputs, step.move([whole(shape)]), strict=False))
    except Exception:  # the runtime will refuse the node with its own error
        return False
    map = next(maps(results[tensor], shape), None)
    return map is None or map.inverse() is None


def found_of(graph: Graph, name: Name, numbers: Iterable[int], source: str, result: str) -> Found:
    steps = [graph.steps[number] for number in numbers]
    notes = tuple(note for step in steps for note in step.notes)
    shapes = graph.shapes.get(source), graph.shapes.get(result)
    dtype = graph.dtypes.get(source) or graph.dtypes.get(result, "")
    return Found(name, tuple(s.node for s in steps), tuple(s.kind for s in steps), source, result, *shapes, dtype, notes)


def origins_of(graph: Graph, sources: set[str]) -> dict[str, _Origin]:
    """Returns the origin of each tensor that is only moved: a tensor and an index map. Tensors of `sources` are origins."""
    origins: dict[str, _Origin] = {}

    def origin_of(tensor: str) -> _Origin | None:
        if tensor in origins and tensor not in sources:
            return origins[tensor]
        shape = graph.shapes.get(tensor)
        if shape is None or math.prod(shape) > MOST_ELEMENTS:
            return None
        if tensor in graph.zeros:
            return _Origin("", np.full(shape, OUTSIDE, np.int64), frozenset())
        return _Origin(tensor, whole(shape), frozenset())

    for number, step in enumerate(graph.steps):
        if step.move is None or any(math.prod(graph.shapes.get(t, ())) > MOST_ELEMENTS for t in step.outputs):
            continue
        inputs = [origin_of(tensor) for tensor in step.inputs]
        known = [origin for origin in inputs if origin is not None]
        names = {origin.source for origin in known} - {""}
        if len(known) < len(inputs) or len(names) != 1:
            continue
        try:
            results = step.move([origin.indices for origin in known])
        except Exception:  # the runtime will refuse the node with its own error
            continue
        stated = [graph.shapes.get(tensor) for tensor in step.outputs]
        if any(shape is not None and shape != values.shape for shape, values in zip(stated, results, strict=False)):
            continue  # the model contradicts itself
        steps = frozenset({number}).union(*(origin.steps for origin in known))
        for tensor, indices in zip(step.outputs, results, strict=False):
            origins[tensor] = _Origin(min(names), indices, steps)
    return origins


def _named_ends(graph: Graph, origins: dict[str, _Origin], done: set[str]) -> dict[str, tuple[Name, _Origin]]:
    """Returns the tensors to report: the end of each chain of moves or, if the end has no name, the last tensor of the chain
    that has one."""
    moving = [step.move is not None and any(tensor in origins for tensor in step.outputs) for step in graph.steps]
    moved = {tensor for step, moves in zip(graph.steps, moving, strict=True) if moves for tensor in step.inputs}
    ends = {tensor for step, moves in zip(graph.steps, moving, strict=True) if not moves for tensor in step.inputs}
    named: dict[str, tuple[Name, _Origin]] = {}
    for tensor in origins:
        if tensor in done or (tensor in moved and tensor not in ends and tensor not in graph.results):
            continue
        name = _name(graph, origins[tensor])
        if name is None or _crops(name):  # a crop of a result is no operator
            for number in sorted(origins[tensor].steps, reverse=True):
                made = graph.steps[number].outputs
                earlier = [t for t in made if t in origins and t not in done and t != tensor and t not in named]
                inner = next(((t, n) for t in earlier if (n := _name(graph, origins[t])) and not _crops(n)), None)
                if inner is not None:
                    tensor, name = inner
                    break
        else:
            tensor, name = _plainer(graph, origins, tensor, name)
        if name is not None:
            named[tensor] = (name, origins[tensor])
    return named


def _crops(name: Name) -> bool:
    return name.found is not None and name.found.crops()


def _plainer(graph: Graph, origins: dict[str, _Origin], tensor: str, name: Name) -> tuple[str, Name]:
    """If no function makes the blocks in one step, returns an earlier tensor that a function makes, with equal elements in
    equal order."""
    if name.operator == "blocks":
        flat = origins[tensor].indices.reshape(-1)
        for number in sorted(origins[tensor].steps, reverse=True):
            for earlier in graph.steps[number].outputs:
                if earlier in origins and np.array_equal(origins[earlier].indices.reshape(-1), flat):
                    other = _name(graph, origins[earlier])
                    if other is not None and other.operator != "blocks" and (other.found is None or other.found.is_plain()):
                        return earlier, other
    return tensor, name


def _tokens(graph: Graph, name: Name, origin: _Origin) -> Name:
    """Returns the name with patchify or unpatchify for blocks that are tokens in merge blocks; any other name as it is."""
    map = next(maps(origin.indices, graph.shapes[origin.source]), None) if name.operator == "blocks" else None
    call = None if map is None else call_of_tokens(map)
    if call is None:
        return name
    operator, arguments, *_ = call
    return replace(name, operator=operator, arguments=arguments)


def _name(graph: Graph, origin: _Origin) -> Name | None:
    shape = graph.shapes.get(origin.source)
    return None if shape is None else name_of(origin.indices, shape)

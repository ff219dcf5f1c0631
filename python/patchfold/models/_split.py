# SPDX-License-Identifier: Apache-2.0
"""Plans how a model that sees a whole plane somewhere in the middle runs in tiles: which nodes run on whole tensors, and in
which parts the others run in tiles, so that the result is the whole one."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from patchfold import Halo

from ._errors import MOST_NAMED, ModelError
from ._halo import Walk
from ._norms import Norm
from ._reads import kept
from ._regions import Graph, Step, held_bytes

BY_SIZE = "computes with the extents of the input"
BY_EXTENTS = "its halo depends on the extents of the input"
BY_REST = "its halo is another one for extents that are no multiples of the alignment"
NO_SHAPE = "the shape of its result is not known"
SEVERAL = "an axis of a tensor that it reads or makes runs along no single axis of the input"
ENDS = "adds or drops elements at the ends of the axis, of which the tensors of a tile must have as many"
# Operators that take extents, or what follows from them, as shapes and places. Halos of two sizes tell whether tiles differ.
SHAPING = frozenset(
    "Reshape Expand Slice Split Pad Resize Upsample ConstantOfShape Range Tile Gather Squeeze Unsqueeze".split()
) | {
    f"aten.{name}" for name in "view reshape _unsafe_view expand unflatten slice narrow split split_with_sizes chunk pad"
    " constant_pad_nd repeat upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d upsample_bilinear2d"
    " upsample_trilinear3d upsample_bicubic2d".split()
}  # fmt: skip


class Program(Protocol):
    """A model of one system: its graph, with norms over the plane as single steps, and a way to run parts of it."""

    path: str
    inputs: list[str]
    outputs: list[str]
    norms: list[Norm]
    extents: tuple[int, ...]
    """The extents of the tiled axes of the first input in the model."""
    is_open: bool
    """Whether the model itself takes any extents of the tiled axes."""

    def graph(self, extents: Sequence[int]) -> Graph:
        """Returns the graph for other extents of the tiled axes."""

    def shape(self, tensor: str, extents: Sequence[int]) -> tuple[int, ...]:
        """Returns the shape of a tensor for extents of the tiled axes."""

    def by_size(self) -> set[str]:
        """Returns the nodes that take extents as numbers of which neither shapes nor places are made."""

    def check_ranges(self, extents: Sequence[int]) -> None:
        """Raises a ModelError for extents of the tiled axes for which the model is another one."""

    def checked(self, inputs: Sequence[Any]) -> tuple[int, ...]:
        """Returns the extents of the tiled axes of inputs, after a check of their shapes."""

    def kept(self, x: Any, like: Any) -> Any:
        """Returns a tensor where `like` lies."""

    def empty(self, shape: Sequence[int], own: Any, like: Any) -> Any:
        """Returns a tensor of the element type of `own`, where `like` lies, with any content."""

    def moments(self, x: Any, groups: int) -> tuple[int, Any, Any]:
        """Returns the count, the mean and the squared deviations of each group of channels of each element of the batch."""

    def numbers(self, norm: Norm, mean: Any, variance: Any) -> Sequence[Any]:
        """Returns what run() takes in `fixed` for a norm with these statistics."""

    def run(
        self, part: Part, feeds: Mapping[str, Any], fixed: Mapping[str, Sequence[Any]], extents: Sequence[int]
    ) -> Sequence[Any]:
        """Returns the tensors `part.outputs`. feeds: the tensors `part.inputs`. fixed: for each norm of `part.fixed` what is
        subtracted, and what is multiplied and added afterwards. extents: of the tiled axes, for the place that is run."""


@dataclass(frozen=True)
class Part:
    """A part of a plan: nodes that run together, on whole tensors or in tiles.

    nodes: their names. inputs: tensors that are held whole. outputs: tensors that are computed.
    held: those of `outputs` that later parts read, or that are results.
    sums: the norms whose statistics are computed of their `source`.
    fixed: the norms that are computed with statistics of earlier parts.
    halos: of each output to each input along tiled axes.
    align, margin: along each tiled axis, in elements of the model's first input: the multiple at which tiles begin, and
        the context on both sides of a tile.
    bytes: of a tile, for each element of the first input's tiled axes.
    """

    whole: bool
    nodes: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    held: tuple[str, ...]
    sums: tuple[Norm, ...] = ()
    fixed: tuple[Norm, ...] = ()
    halos: tuple[Halo, ...] = ()
    align: tuple[int, ...] = ()
    margin: tuple[int, ...] = ()
    bytes: Fraction = Fraction(0)

    def __str__(self) -> str:
        count = f"{len(self.nodes)} node{'' if len(self.nodes) == 1 else 's'}"
        if self.whole:
            return f"whole: {count}, which make {', '.join(self.outputs)}"
        made = [*self.held, *(f"the statistics of {norm.node}" for norm in self.sums)]
        sizes = f"margin {_sizes(self.margin)}; alignment {_sizes(self.align)}"
        return f"in tiles: {count}, which make {', '.join(made)}; {sizes}"


def _sizes(numbers: Sequence[int]) -> str:
    return "x".join(map(str, numbers))


Place = Mapping[int, tuple[int, Fraction]]
"""For axes of a tensor that run along a tiled axis of the input: its number, and elements for each of the input's."""


class Extents:
    """What of a program depends on the extents of the tiled axes: compares its graphs for two of them."""

    def __init__(self, program: Program):
        self.program, sizes = program, program.extents
        self.graph, self.larger = program.graph(sizes), program.graph([2 * n for n in sizes])
        self.data: set[str] = set(program.inputs)
        self.steps: list[Step] = []
        for step in self.graph.steps:
            if self.data & {*step.slots, *step.inputs}:
                self.data |= set(step.outputs)
                self.steps.append(step)

    def by_size(self) -> set[str]:
        """Returns the steps that compute with numbers that depend on the extents."""
        varied = {name for name, value in self.graph.constants.items() if not _same(value, self.larger.constants.get(name))}
        found = set(self.program.by_size())
        for step in self.graph.steps:
            is_data = bool(self.data & {*step.slots, *step.inputs})
            if not is_data and (varied & {*step.slots, *step.inputs} or step.node in found):
                varied |= set(step.outputs)
            elif is_data and step.kind not in SHAPING and varied & set(step.slots):
                found.add(step.node)
        return found & {step.node for step in self.steps}

    def check(self, extents: Sequence[int] | None = None) -> None:
        """Raises a ModelError for nodes that compute with the extents, and for halos that depend on them. extents: further
        ones, as of an array whose extents are no multiples of the alignment."""
        causes = dict.fromkeys(sorted(self.by_size()), BY_SIZE)
        graphs = [self.graph, self.larger, *([] if extents is None else [self.program.graph(extents)])]
        walks = list(map(Walk, graphs))
        first, *others = [{(each.output, each.input, each.axis): each for each in walk.halos()} for walk in walks]
        for key, halo in first.items():
            for number, other in enumerate(each.get(key) for each in others):
                same = other is not None and replace(other, notes=halo.notes) == halo and {*other.notes} <= {*halo.notes}
                if halo.before is not None and not same:
                    causes.setdefault(walks[0].makers[key[0]].node, BY_REST if number else BY_EXTENTS)
        if causes:
            raise ModelError(named(causes))


class Planner(Extents):
    """Finds the parts of a plan. keep: whether the inputs of norms are held."""

    def __init__(self, program: Program, keep: bool):
        super().__init__(program)
        self.keep, sizes = keep, program.extents
        each = [program.graph([2 * n if k == axis else n for k, n in enumerate(sizes)]) for axis in range(len(sizes))]
        for name in program.outputs:
            if name not in self.data or name in program.inputs:
                raise ModelError(f"{program.path}: output {name!r} must be computed from the inputs")
        self.places = {name: place_of(name, self.graph, each, sizes) for name in self.data}
        if not self.places[program.inputs[0]]:
            raise ModelError(f"{program.path}: the extents of the tiled axes must be open: other nodes fix them")
        self.norms = {norm.result: norm for norm in program.norms if self._is_plane(norm)}
        self.causes = dict.fromkeys(self.by_size(), BY_SIZE)
        for step in self.steps:
            if any(name not in self.graph.shapes or name not in self.larger.shapes for name in step.outputs if name):
                self.causes[step.node] = NO_SHAPE
        self.forced = set(self.causes)

    def _is_plane(self, norm: Norm) -> bool:
        """Returns whether the statistics of a norm can be computed in tiles, and its other numbers are constants."""
        place = self.places[norm.source]
        return place is not None and min(place, default=2) >= 2 and not self.data & {norm.weight, norm.bias}

    def plan(self) -> list[Part]:
        """Returns the parts, in the order in which they run."""
        parts = self._planned(self._small)
        if all(part.whole for part in parts):  # a node that runs whole reads the largest tensors
            parts = self._planned(lambda: 0)
        if all(part.whole for part in parts):
            raise ModelError(f"{self.program.path}: no part can run in tiles: {named(self.causes)}")
        return parts

    def _planned(self, small: Callable[[], int]) -> list[Part]:
        while True:
            parts = self._scheduled(small())
            found: dict[str, str] = {}
            for number, part in enumerate(parts):
                if not part.whole and not found:
                    parts[number], found = self._followed(part)
            if not found:
                break
            self.forced |= set(found)
            self.causes |= found
        return parts

    # The order of the parts.

    def _reads(self, step: Step) -> list[str]:
        """Returns the tensors of a step that depend on the inputs."""
        return [name for name in dict.fromkeys((*step.slots, *step.inputs)) if name in self.data]

    def _size(self, names: Collection[str]) -> int:
        return max((math.prod(self.graph.shapes.get(name, ())) for name in names), default=0)

    def _small(self) -> int:
        """Returns the elements of the largest tensor that a node that must run whole reads or makes."""
        wholes = [step for step in self.steps if self._is_forced(step, self.program.inputs)]
        return max((self._size([*self._reads(step), *step.outputs]) for step in wholes), default=0)

    def _scheduled(self, small: int) -> list[Part]:
        results, held = list(self.program.outputs), set(self.program.inputs)
        parts: list[Part] = []
        known: set[str] = set()
        while True:
            self._run_whole(held, small, parts)
            if all(name in held for name in results):
                return _trimmed(parts, results)
            available, steps, wanted = set(held), [], set()
            sums: list[Norm] = []
            for step in self.steps:
                reads = self._reads(step)
                if not set(step.outputs) - available or not available.issuperset(reads):
                    wanted |= {name for name in reads if self._is_forced(step, held)}
                    continue
                norm = self.norms.get(step.outputs[0])
                if self._is_forced(step, held):
                    wanted |= set(reads)
                elif norm is not None and norm.node not in known:
                    sums.append(norm)
                else:
                    available |= set(step.outputs)
                    steps.append(step)
            wanted |= set(results) | ({norm.source for norm in sums} if self.keep else set())
            targets = [name for step in steps for name in step.outputs if name in wanted and name not in held]
            outputs = tuple(dict.fromkeys([*targets, *(norm.source for norm in sums)]))
            parts.append(self._tiled(steps, held, outputs, targets, sums))
            held |= set(targets)
            known |= {norm.node for norm in sums}

    def _is_forced(self, step: Step, held: Collection[str]) -> bool:
        return step.node in self.forced or any(self.places[name] is None for name in self._reads(step) if name in held)

    def _run_whole(self, held: set[str], small: int, parts: list[Part]) -> None:
        """Adds the part of the steps that run whole on held tensors."""
        before, steps = set(held), []
        for step in self.steps:
            reads = self._reads(step)
            if set(step.outputs) <= held or not held.issuperset(reads):
                continue
            tensors = [*reads, *step.outputs]
            is_small = self._size(tensors) <= small or all(self.places[name] == {} for name in tensors if name)
            if self._is_forced(step, held) or is_small:
                held |= set(step.outputs)
                steps.append(step)
        if steps:
            inputs = dict.fromkeys(name for step in steps for name in self._reads(step) if name in before)
            made = tuple(name for step in steps for name in step.outputs if name)
            parts.append(Part(True, tuple(step.node for step in steps), tuple(inputs), made, made))

    def _tiled(
        self, steps: list[Step], held: set[str], outputs: tuple[str, ...], targets: list[str], sums: list[Norm]
    ) -> Part:
        """Returns the part in tiles that computes outputs, with the steps that they need."""
        needed, used = set(outputs) - held, []
        for step in reversed(steps):
            if needed & set(step.outputs):
                needed |= set(self._reads(step)) - held
                used.append(step)
        reads = {name for step in used for name in self._reads(step)} | set(outputs)
        fixed = tuple(self.norms[step.outputs[0]] for step in reversed(used) if step.outputs[0] in self.norms)
        nodes = tuple(step.node for step in reversed(used))
        inputs = tuple(sorted(reads & held))
        return Part(False, nodes, inputs, outputs, tuple(targets), tuple(sums), fixed)

    # What a part in tiles reads.

    def _followed(self, part: Part) -> tuple[Part, dict[str, str]]:
        """Returns a part with its halos, and the nodes that must run whole instead, with the reasons."""
        walks = [self._walk(part, graph) for graph in (self.graph, self.larger)]
        found = [self._halos(walk) for walk in walks]
        makers = {name: step.node for step in walks[0].graph.steps for name in step.outputs}
        culprits = self._culprits(walks[0]) or self._culprits(walks[1])
        for halos in () if culprits else found:
            for halo in halos:
                place, (along, scale) = self.places[halo.output], (self.places[halo.input] or {})[halo.axis]
                if halo.before is None or halo.output_axis is None or place is None:
                    culprits.setdefault(makers[halo.output], "; ".join(halo.unbounded_by) or SEVERAL)
                elif place.get(halo.output_axis) != (along, (halo.scale or 0) * scale):
                    culprits.setdefault(makers[halo.output], SEVERAL)
                elif self._more(halo.output)[along] != self._more(halo.input)[along]:
                    culprits |= dict.fromkeys(self._growing(walks[0].graph), ENDS)
        for name in part.outputs:
            if self.places[name] is None:
                culprits.setdefault(makers[name], SEVERAL)
        if not culprits and found[0] != found[1]:
            culprits = dict.fromkeys((makers[name] for name in part.outputs if name in makers), BY_SIZE)
        return (part, culprits) if culprits else (self._placed(part, found[0], walks[0].graph), {})

    def _more(self, name: str) -> dict[int, Fraction]:
        """Returns how many elements a tensor has more than its part of the tiled axes, in elements of the input."""
        shape, sizes = self.graph.shapes.get(name, ()), self.program.extents
        places = (self.places.get(name) or {}).items()
        return {along: shape[axis] / scale - sizes[along] for axis, (along, scale) in places}

    def _growing(self, graph: Graph) -> list[str]:
        """Returns the steps whose result has more or fewer such elements than what they read."""
        found = []
        for step in graph.steps:
            made = self._more(step.outputs[0])
            if any(made.get(along) != more for name in self._reads(step) for along, more in self._more(name).items()):
                found.append(step.node)
        return found

    def _walk(self, part: Part, graph: Graph) -> Walk:
        names, fixed = set(part.nodes), {norm.node for norm in part.fixed}
        steps = [_local(step, graph) if step.node in fixed else step for step in graph.steps]
        steps = [step for step in steps if step.node in names or not self.data & {*step.slots, *step.inputs}]
        graph = replace(graph, results=set(part.outputs), steps=steps, inputs=list(part.inputs), titles={}, notes=[])
        return Walk(graph, grown={name: place for name, place in self.places.items() if place is not None})

    def halos(self, part: Part, extents: Sequence[int]) -> tuple[Halo, ...]:
        """Returns the halos of a part for extents of the tiled axes."""
        return self._halos(self._walk(part, self.program.graph(extents)))

    def _halos(self, walk: Walk) -> tuple[Halo, ...]:
        return tuple(each for each in walk.halos() if each.axis in (self.places[each.input] or {}))

    def _culprits(self, walk: Walk) -> dict[str, str]:
        """Returns the first steps behind which an axis is not followed, that depend on the place, or that cut it."""
        found: dict[str, str] = {}
        noted = [text for (name, axis), text in walk.notes if axis in (self.places[name] or {})]
        after: set[str] = set()  # tensors that depend on the result of such a step
        for step in walk.graph.steps:
            if after & {*step.slots, *step.inputs}:
                after |= set(step.outputs)
                continue
            for tensor in step.outputs:
                for key, view in walk.of(tensor).items() if tensor else ():
                    if key[1] not in (self.places[key[0]] or {}):
                        continue
                    moved = any(key in (seen := walk.of(name)) and seen[key].moves for name in self._reads(step))
                    if moved and not view.moves:
                        found.setdefault(step.node, "; ".join(view.causes))
            prefix = f"node {step.node} ({step.kind}): "
            for text in noted:
                if text.startswith(prefix):
                    found.setdefault(step.node, text.removeprefix(prefix))
            if step.node in found:
                after |= set(step.outputs)
        return found

    def _placed(self, part: Part, halos: tuple[Halo, ...], graph: Graph) -> Part:
        """Returns a part with its halos, and with alignment and margin along each tiled axis of the model's first input."""
        count = len(self.program.extents)
        align = [1] * count
        for name in (*part.inputs, *part.outputs):
            for along, scale in (self.places[name] or {}).values():
                align[along] = math.lcm(align[along], scale.denominator)
        for each in halos:
            along, scale = (self.places[each.input] or {})[each.axis]
            align[along] = math.lcm(align[along], (scale / (each.alignment or 1)).denominator)
        margin = [0] * count
        for each in halos:
            along, scale = (self.places[each.input] or {})[each.axis]
            reach = max(each.before or 0, each.after or 0, 0) / scale
            margin[along] = max(margin[along], math.ceil(reach / align[along]) * align[along])
        size = Fraction(held_bytes(graph), 1) / math.prod(self.program.extents)
        return replace(part, halos=halos, align=tuple(align), margin=tuple(margin), bytes=size)


def named(causes: Mapping[str, str]) -> str:
    return "; ".join(f"node {node}: {reason}" for node, reason in list(causes.items())[:MOST_NAMED])


def axes_of(axes: Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Returns the tiled axes of an input of some rank."""
    listed = range(2, rank) if axes is None else axes
    found = tuple(sorted({int(axis) % rank for axis in listed if -rank <= axis < rank}))
    if not found or len(found) < len(listed):
        raise ModelError(f"axes: must be different axes of the first input, from {-rank} to {rank - 1}; given {axes}")
    return found


def place_of(name: str, graph: Graph, each: Sequence[Graph], sizes: Sequence[int]) -> Place | None:
    """Returns which axes of a tensor run along tiled axes of the input; None if tiles cannot be cut from the tensor.
    each: for each tiled axis, the graph for twice its extent."""
    shape = graph.shapes.get(name)
    others = [one.shapes.get(name) for one in each]
    if shape is None or any(other is None or len(other) != len(shape) for other in others):
        return None
    found: dict[int, tuple[int, Fraction]] = {}
    for axis, extent in enumerate(shape):
        moved = [along for along, other in enumerate(others) if other is not None and other[axis] != extent]
        if len(moved) > 1 or any(moved == [along] for along, _ in found.values()):
            return None
        if moved:
            other = others[moved[0]]
            assert other is not None
            found[axis] = moved[0], Fraction(other[axis] - extent, sizes[moved[0]])
    return None if any(scale <= 0 for _, scale in found.values()) else found


def _local(step: Step, graph: Graph) -> Step:
    """Returns a norm that is computed with fixed statistics."""
    source = step.slots[0]
    return replace(step, slots=(source,), inputs=(source,), reads=lambda: ({0: kept(graph.shapes[source], ())}, ""))


def _same(a: Any, b: Any) -> bool:
    return np.array_equal(np.asarray(a), np.asarray(b)) if b is not None else False


def _trimmed(parts: list[Part], results: Sequence[str]) -> list[Part]:
    """Returns parts that hold no more tensors than later parts read."""
    needed, kept_parts = set(results), []
    for part in reversed(parts):
        held = tuple(name for name in part.held if name in needed)
        if held or part.sums:
            outputs = held if part.whole else part.outputs
            kept_parts.append(replace(part, held=held, outputs=outputs))
            needed |= set(part.inputs)
    return kept_parts[::-1]

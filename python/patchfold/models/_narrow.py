# SPDX-License-Identifier: Apache-2.0
"""Rewrites chains of nodes that move elements through tensors of many axes with tensors of few axes. Needs onnx."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import onnx

from .._orders.index_map import Indices, maps
from .._orders.names import Name
from ._disguises import Written, open_shapes, rewrite
from ._expand import Nodes, Window, im2col
from ._regions import Found, Graph, find_all, found_of


def rewrite_with_few_axes(model: onnx.ModelProto, sizes: Mapping[str, int], most_axes: int) -> None:
    """Rewrites chains of nodes that have tensors of more than `most_axes` axes, if it is possible."""

    def is_wide(graph: Graph, tensor: str) -> bool:
        return len(graph.shapes.get(tensor, ())) > most_axes

    def windows(graph: Graph) -> list[Found]:
        """Finds patches that overlap, which no transposition makes."""
        wide = {step.node for step in graph.steps if any(is_wide(graph, tensor) for tensor in step.outputs)}
        return [found for found in find_all(graph) if found.name.operator == "unfold" and wide & set(found.nodes)]

    def blocks(graph: Graph) -> list[Found]:
        """Finds chains that move elements from a tensor of few axes to another one through tensors of many axes."""
        makers = {tensor: number for number, step in enumerate(graph.steps) for tensor in step.outputs}
        return [
            found
            for step in graph.steps
            if step.move is not None and any(is_wide(graph, tensor) for tensor in step.inputs)
            for tensor in step.outputs
            if not is_wide(graph, tensor) and (found := region(graph, makers, tensor)) is not None
        ]

    def region(graph: Graph, makers: Mapping[str, int], result: str) -> Found | None:
        numbers, sources, waiting = set(), set(), [result]
        while waiting:
            tensor = waiting.pop()
            if tensor != result and not is_wide(graph, tensor):
                sources.add(tensor)
                continue
            number = makers.get(tensor)
            if number is None or graph.steps[number].move is None:
                return None
            if number not in numbers:
                numbers.add(number)
                waiting += graph.steps[number].inputs
        if len(sources) != 1:
            return None
        return found_of(graph, Name("blocks"), sorted(numbers), sources.pop(), result)

    def moved(sizes: tuple[Found, Found], maps: tuple[Indices, Indices], prefix: str) -> Iterator[Written]:
        nodes = Nodes(prefix, most_axes)
        last = _rearranged(nodes, sizes, maps)
        if last is not None:
            yield nodes, last

    rewrite(model, sizes, windows, _patches)
    rewrite(model, sizes, blocks, moved)


def _rearranged(nodes: Nodes, sizes: tuple[Found, Found], moves: tuple[Indices, Indices]) -> str | None:
    """Writes a map whose digits change places; None for another map, or for more than one open extent."""
    digits, shapes = [], []
    for found, indices in zip(sizes, moves, strict=True):
        map = None if found.source_shape is None else next(maps(indices, found.source_shape), None)
        if map is None or map.inverse() is None:
            return None
        digits.append([digit for axis in map.digits for digit in axis])
        shapes.append(map.shape)
    if [digit.axis for digit in digits[0]] != [digit.axis for digit in digits[1]] or len(shapes[0]) != len(shapes[1]):
        return None
    extents = _open([digit.extent for digit in digits[0]], [digit.extent for digit in digits[1]])
    places = sorted(range(len(extents)), key=lambda place: (digits[0][place].axis, -digits[0][place].step))
    order = [places.index(place) for place in range(len(extents))]
    return nodes.rearranged(sizes[0].source, [extents[place] for place in places], order, _open(*shapes))


def _open(a: Sequence[int], b: Sequence[int]) -> list[int]:
    return [one if one == other else -1 for one, other in zip(a, b, strict=True)]


def _patches(sizes: tuple[Found, Found], maps: tuple[Indices, Indices], prefix: str) -> Iterator[Written]:
    """Yields ways to write patches that overlap, of two spatial axes."""
    arguments, (source, result) = sizes[0].name.arguments, open_shapes(*sizes)
    kernel = arguments["kernel_size"]
    apart = arguments.get("stride") == kernel and not {"padding", "dilation"} & set(arguments)
    if source is None or result is None or len(kernel) != 2 or len(source) != 4 or apart or "layout" in arguments:
        return
    nodes = Nodes(prefix)
    shape = [0, *result[1:]] if result[0] == source[0] else result
    tokens = not sizes[0].name.exact and len(shape) == 3  # one row for each patch
    shape = [shape[0], shape[2], shape[1]] if tokens else shape
    order = arguments.get("order") == "kernel"
    last = im2col(nodes, sizes[0].source, _windows(source[2:], arguments), shape, last=False, kernel=order)
    yield nodes, nodes.transpose(last, [0, 2, 1]) if tokens else last


def _windows(extents: Sequence[int], arguments: Mapping[str, Any]) -> list[Window]:
    pads = [pad if isinstance(pad, tuple) else (pad, pad) for pad in arguments.get("padding", (0, 0))]
    lists = (arguments.get(key, (1, 1)) for key in ("kernel_size", "stride", "dilation"))
    return [Window(*axis, *pad) for *axis, pad in zip(extents, *lists, pads, strict=True)]

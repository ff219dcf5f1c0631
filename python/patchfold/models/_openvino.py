# SPDX-License-Identifier: Apache-2.0
"""Reads OpenVINO's IR (an .xml file and the .bin file beside it) as a graph of steps. Needs no OpenVINO."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import numpy as np

from ._errors import ModelError, naming
from ._moves import MOST_CONSTANT
from ._openvino_nodes import FILLING, FOLDED, SHAPED, move_of, name_of_layer
from ._reads import Node
from ._reads_openvino import VERSION, reads_of_layer
from ._regions import Graph, Step, in_order

MOST_XML = 1 << 28
TYPES = {
    "f16": "float16", "f32": "float32", "f64": "float64", "boolean": "bool", "i8": "int8", "i16": "int16", "i32": "int32",
    "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}  # fmt: skip
PRECISIONS = {"fp16": "float16", "fp32": "float32", "fp64": "float64", "bf16": "bfloat16", "bool": "bool"}


@dataclass
class Layer:
    """A layer of the IR: its attributes, and its inputs and outputs as "layer:port"."""

    name: str
    kind: str
    data: Mapping[str, str]
    version: str = ""
    titles: dict[str, str] = field(default_factory=dict)  # names of outputs in the model that the IR was made from
    shapes: dict[str, tuple[int, ...] | None] = field(default_factory=dict)  # of outputs; None if an extent is open
    dtypes: dict[str, str] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)


def read(path: str) -> list[Graph]:
    """Returns the graph of a model's file."""
    root = _parsed(Path(path))
    if root.tag != "net":
        raise ModelError(f"{path}: is no OpenVINO IR: its root is <{root.tag}>, not <net>")
    layers = _layers(root, path)
    graph = Graph(inputs=[])
    sources = {number: {tensor.partition(":")[0] for tensor in layer.inputs} for number, layer in layers.items()}
    for number in in_order(sources, lambda number: f"{path}: layer {layers[number].name}"):
        layer = layers[number]
        for tensor, shape in layer.shapes.items():
            if shape is not None:
                graph.shapes[tensor] = shape
            graph.dtypes[tensor] = layer.dtypes[tensor]
            graph.titles[tensor] = layer.titles[tensor]
        with naming(f"layer {layer.name} ({layer.kind})"):
            _add(graph, layer, Path(path).with_suffix(".bin"))
    if any(shape is None for layer in layers.values() for shape in layer.shapes.values()):
        graph.notes.append("the model has open sizes: operators made of other nodes are found where sizes are known")
    return [graph]


def _parsed(path: Path) -> Element:
    """Returns the tree of an XML file. A document type is refused, since its entities could grow without bounds."""
    builder = TreeBuilder()
    parser = expat.ParserCreate()

    def refused(*_: Any) -> None:
        raise ModelError(f"{path}: is no OpenVINO IR: it has a document type")

    parser.StartDoctypeDeclHandler = refused
    parser.StartElementHandler = lambda tag, attributes: builder.start(tag, attributes)
    parser.EndElementHandler = lambda tag: builder.end(tag)
    parser.CharacterDataHandler = lambda text: builder.data(text)
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_XML + 1)
        if len(data) > MOST_XML:
            raise ModelError(f"{path}: has more than {MOST_XML} bytes")
        parser.Parse(data, True)
        return builder.close()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None
    except expat.ExpatError as error:
        raise ModelError(f"{path}: is no OpenVINO IR, or is cut short: {error}") from None


def _layers(root: Element, path: str) -> dict[str, Layer]:
    layers: dict[str, Layer] = {}
    ports: dict[str, list[str]] = {}
    for element in root.iterfind("layers/layer"):
        number = element.get("id", "")
        if number in layers:
            raise ModelError(f"{path}: two layers have the id {number!r}")
        data = element.find("data")
        layer = Layer(element.get("name", number), element.get("type", ""), {} if data is None else data.attrib)
        layer.version = element.get("version", "")
        ports[number] = [port.get("id", "") for port in element.iterfind("input/port")]
        layer.inputs = [""] * len(ports[number])
        for port in element.iterfind("output/port"):
            tensor = f"{number}:{port.get('id', '')}"
            dims = [dim.text or "" for dim in port.iterfind("dim")]
            try:
                shape = tuple(int(dim) for dim in dims)
            except ValueError:
                raise ModelError(f"layer {layer.name}: {dims} is no shape") from None
            layer.titles[tensor] = port.get("names", "").partition(",")[0] or layer.name
            layer.shapes[tensor] = None if any(extent < 0 for extent in shape) else shape
            precision = port.get("precision", "").lower()
            layer.dtypes[tensor] = PRECISIONS.get(precision) or TYPES.get(precision, precision)
        layers[number] = layer
    for edge in root.iterfind("edges/edge"):
        source, to = edge.get("from-layer", ""), edge.get("to-layer", "")
        tensor, port_id = f"{source}:{edge.get('from-port', '')}", edge.get("to-port", "")
        if source not in layers or tensor not in layers[source].shapes or to not in layers or port_id not in ports[to]:
            raise ModelError(f"{path}: the edge from {tensor} to {to}:{port_id} leads from or to no port")
        layers[to].inputs[ports[to].index(port_id)] = tensor
    for layer in layers.values():
        if "" in layer.inputs:
            raise ModelError(f"layer {layer.name} ({layer.kind}): nothing leads to its input {layer.inputs.index('')}")
    return layers


def _weights(path: Path, layer: Layer) -> np.ndarray[Any, Any] | None:
    """Returns a constant's values from the .bin file; None for a large constant and for types that NumPy lacks."""
    dtype, shape = TYPES.get(layer.data.get("element_type", "")), next(iter(layer.shapes.values()))
    try:
        offset, size = int(layer.data["offset"]), int(layer.data["size"])
    except (KeyError, ValueError):
        raise ModelError(f"layer {layer.name} (Const): it has no offset and size") from None
    if dtype is None or shape is None:
        return None
    if offset < 0 or size != math.prod(shape) * np.dtype(dtype).itemsize:
        raise ModelError(f"layer {layer.name} (Const): {size} bytes at {offset} do not fit its shape {list(shape)}")
    try:
        with open(path, "rb") as file:
            there = file.seek(0, 2)
            if offset + size > there:
                place = f"{offset} to {offset + size} of {path.name}"
                raise ModelError(f"layer {layer.name} (Const): lies at {place}, which has {there} bytes")
            if math.prod(shape) > MOST_CONSTANT:
                return None
            file.seek(offset)
            return np.frombuffer(file.read(size), dtype).reshape(shape)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None


def _add(graph: Graph, layer: Layer, weights: Path) -> None:
    constants, outputs = graph.constants, tuple(layer.shapes)
    if layer.kind == "Const":
        values = _weights(weights, layer) if outputs else None
        if values is not None:
            constants[outputs[0]] = values
        return
    if layer.kind == "Parameter":
        graph.inputs = [*(graph.inputs or ()), *outputs]
        return
    if layer.kind == "Result":
        graph.results |= set(layer.inputs)
        return
    if layer.kind == "ShapeOf" and layer.inputs[0] in graph.shapes:
        constants[outputs[0]] = np.array(graph.shapes[layer.inputs[0]], np.int64)
        return
    given = [constants.get(tensor) for tensor in layer.inputs]
    sizes = [math.prod(shape) for shape in layer.shapes.values() if shape is not None]
    small = len(sizes) == len(outputs) and max(sizes, default=0) <= MOST_CONSTANT
    fold: Callable[..., Any] | None = FOLDED.get(layer.kind)
    move = move_of(layer.kind, layer.data, given, [graph.shapes.get(tensor) for tensor in outputs])
    needed = given[:1] if layer.kind in SHAPED else given  # the inputs that decide the shapes of results
    if small and given and all(values is not None for values in needed) and layer.kind not in FILLING:
        try:
            made = [fold(*given)] if fold is not None else list(move([np.asarray(given[0])])) if move is not None else []
        except Exception:  # OpenVINO will refuse the layer with its own error
            made = []
        if made:
            constants.update(zip(outputs, made, strict=False))
            return
    moved = tuple(layer.inputs) if layer.kind == "Concat" else tuple(layer.inputs[:1])
    data = moved if move is not None else tuple(t for t, v in zip(layer.inputs, given, strict=True) if v is None)
    source_shape = graph.shapes.get(layer.inputs[0]) if layer.inputs else None
    name = name_of_layer(layer.kind, layer.data, given, source_shape)
    slots = tuple(layer.inputs)
    node = Node(layer.kind, layer.data, slots, outputs, graph.shapes, constants, VERSION)
    reads = functools.partial(reads_of_layer, node, layer.version)
    graph.steps.append(Step(layer.name, layer.kind, data, outputs, None if name else move, name, slots, reads))

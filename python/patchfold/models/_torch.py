# SPDX-License-Identifier: Apache-2.0
"""Reads programs of torch.export (.pt2) as graphs of steps. Needs no torch, and runs nothing of the file.

A .pt2 file is a ZIP archive: the program as JSON, weights as bytes, and pickles, which torch.export.load executes. Only JSON
and the bytes of small constants are read here.
"""

from __future__ import annotations

import ast
import functools
import io
import json
import math
import re
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._arrays.dtypes import BY_TORCH_CODE
from ._calls import name_of_call
from ._errors import ModelError, check_sizes, naming
from ._moves import MOST_CONSTANT
from ._reads_torch import reads_of_aten
from ._regions import Graph, Step
from ._spans import NoSpan, Reads
from ._torch_nodes import FILLING, Tensor, folded, move_of, name_of_node

MOST_JSON = 1 << 28
SCHEMA = 8  # the version of torch.export's format that torch 2.7 to 2.15 write
KNOWN = 1 << 48
OWN = "patchfold.linear"  # the operator of patchfold that runs any call


def read(source: str | io.BytesIO, path: str, sizes: Mapping[str, int]) -> list[Graph]:
    """Returns the graphs of a program: its own, and the graphs in its nodes. `source` is a path or the file's bytes."""
    try:
        with zipfile.ZipFile(source) as archive:
            return _Reader(archive, path, sizes).read()
    except ModelError:
        raise
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise ModelError(f"{path}: is no program of torch.export, or is cut short: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError, OverflowError) as error:
        raise ModelError(f"{path}: is no sound program of torch.export: {type(error).__name__}: {error}") from None


class _Reader:
    def __init__(self, archive: zipfile.ZipFile, path: str, sizes: Mapping[str, int]):
        self.archive, self.path, self.sizes = archive, path, dict(sizes)
        self.names = set(archive.namelist())
        models = sorted(name for name in self.names if re.search(r"(^|/)models/[^/]+\.json$", name))
        if not models:
            raise ModelError(f"{path}: is no program of torch.export: it holds no models/*.json")
        self.root, _, file = models[0].rpartition("models/")
        self.model = file.removesuffix(".json")
        self.symbols: dict[str, int] = {}
        self.configs: dict[str, Any] = {}
        self.notes: list[str] = []

    def read(self) -> list[Graph]:
        """Returns the program's graph, and the graphs in its nodes."""
        program = self._json(f"{self.root}models/{self.model}.json")
        version = program["schema_version"]["major"]
        if version != SCHEMA:
            raise ModelError(
                f"{self.path}: has version {version} of torch.export's format; {SCHEMA} is read. Load it with"
                " torch.export.load of a torch that knows it, and give inspect the program"
            )
        graph, signature = program["graph_module"]["graph"], program["graph_module"]["signature"]
        self._take_sizes(graph, signature)
        graphs: list[Graph] = []
        self._graph(graph, self._weights(signature), graphs, "", 0)
        given = [spec["user_input"]["arg"] for spec in signature["input_specs"] if "user_input" in spec]
        graphs[0].inputs = [argument["as_tensor"]["name"] for argument in given if "as_tensor" in argument]
        graphs[0].notes += self.notes
        return graphs

    def _bytes(self, name: str, most: int) -> bytes:
        info = self.archive.getinfo(name)
        if info.file_size > most:
            raise ModelError(f"{self.path}: {name} has {info.file_size} bytes; at most {most} are read")
        with self.archive.open(info) as file:
            return file.read(most + 1)

    def _json(self, name: str) -> Any:
        return json.loads(self._bytes(name, MOST_JSON))

    # Open sizes.

    def _take_sizes(self, graph: Any, signature: Any) -> None:
        """Sets a number for each symbol in the inputs' shapes: from `sizes`, by "input.axis", or else from the example
        inputs of the export."""
        open_sizes: dict[str, tuple[str, int, int]] = {}  # the symbol, its factor, and the example's size
        for spec in signature["input_specs"]:
            argument = spec.get("user_input", {}).get("arg", {})
            if "as_tensor" not in argument:
                continue
            name = argument["as_tensor"]["name"]
            for axis, size in enumerate(graph["tensor_values"][name]["sizes"]):
                if "as_int" in size:
                    continue
                expression = size["as_expr"]
                symbol = re.fullmatch(r"(?:Mul\(Integer\((\d+)\), )?Symbol\('([^']+)'[^()]*\)\)?", expression["expr_str"])
                if symbol and all(symbol[2] != other for other, _, _ in open_sizes.values()):
                    hint = int((expression.get("hint") or {}).get("as_int") or 64)
                    open_sizes[f"{name}.{axis}"] = symbol[2], int(symbol[1] or 1), hint
        check_sizes(self.sizes, open_sizes)
        for place, (name, times, hint) in open_sizes.items():
            size = int(self.sizes.get(place, hint))
            if times < 1 or size % times:
                raise ModelError(f"sizes: {place} must be a multiple of {times}; given {size}")
            self.symbols[name] = size // times
            self.notes.append(f"open size {place} taken as {size}")

    def _size(self, size: Any) -> int | None:
        if "as_int" in size:
            value = size["as_int"]
        else:
            value = evaluated(size["as_expr"]["expr_str"], self.symbols)
        if value is None or (type(value) is int and abs(value) < KNOWN):
            return value
        raise ModelError(f"{self.path}: {str(value)[:40]} is no size")

    def _shape(self, meta: Any, name: str) -> tuple[int, ...] | None:
        sizes = [self._size(size) for size in meta["sizes"]]
        if any(size is None for size in sizes):
            return None
        shape = tuple(size for size in sizes if size is not None)
        if any(size < 0 for size in shape) or math.prod(shape) > KNOWN:
            raise ModelError(f"tensor {name!r}: its shape {list(shape)} cannot be")
        return shape

    # Weights.

    def _weights(self, signature: Any) -> dict[str, Any]:
        """Returns the values of the graph's inputs that are small weights or constants."""
        held = {"parameter": "weights", "buffer": "weights", "tensor_constant": "constants"}
        values: dict[str, Any] = {}
        for spec in signature["input_specs"]:
            for kind, folder in held.items():
                if kind not in spec:
                    continue
                entry = spec[kind]
                # A buffer that is not persistent is stored with the constants.
                for place in dict.fromkeys((folder, "constants")):
                    array = self._payload(place, entry[f"{kind}_name"])
                    if array is not None:
                        values[entry["arg"]["name"]] = array
        return values

    def _payload(self, folder: str, name: str) -> np.ndarray[Any, Any] | None:
        config = f"{self.root}data/{folder}/{self.model}_{folder}_config.json"
        if config not in self.names:
            return None
        if config not in self.configs:
            self.configs[config] = self._json(config)["config"]
        entry = self.configs[config].get(name)
        if entry is None or entry["use_pickle"] or entry["tensor_meta"] is None:
            return None
        meta = entry["tensor_meta"]
        shape, dtype = self._shape(meta, name), BY_TORCH_CODE.get(meta["dtype"], "")
        strides = [self._size(stride) for stride in meta["strides"]]
        offset = self._size(meta["storage_offset"])
        file = f"{self.root}data/{folder}/{entry['path_name']}"
        if file not in self.names:
            raise ModelError(f"weight {name!r}: the archive has no {file}")
        if shape is None or offset is None or None in strides or not _has(dtype):
            return None
        count = math.prod(shape)
        last = offset + sum((n - 1) * (stride or 0) for n, stride in zip(shape, strides, strict=True)) if count else -1
        there = self.archive.getinfo(file).file_size
        item = np.dtype(dtype).itemsize
        if min([offset, *(stride or 0 for stride in strides)]) < 0 or (last + 1) * item > there:
            raise ModelError(f"weight {name!r}: its elements reach to {last} of {file}, which has {there} bytes")
        if count > MOST_CONSTANT or there > MOST_CONSTANT * item:
            return None
        flat = np.frombuffer(self._bytes(file, there), dtype)
        index: Any = np.full((), offset, np.int64)
        for n, stride in zip(shape, strides, strict=True):
            index = index[..., None] + np.arange(n, dtype=np.int64) * (stride or 0)
        values: np.ndarray[Any, Any] = flat[index]
        return values

    # Graphs.

    def _graph(self, graph: Any, weights: Mapping[str, Any], graphs: list[Graph], where: str, depth: int) -> None:
        if depth > 64:
            raise ModelError(f"{self.path}: its graphs lie in each other more than 64 deep")
        result = Graph({a["as_tensor"]["name"] for a in graph["outputs"] if "as_tensor" in a}, dict(weights))
        numbers = {name: self._size(value) for name, value in graph["sym_int_values"].items()}
        for name, meta in graph["tensor_values"].items():
            shape = self._shape(meta, name)
            if shape is not None:
                result.shapes[name] = shape
            result.dtypes[name] = BY_TORCH_CODE.get(meta["dtype"], "")
        visible = {a["as_tensor"]["name"] for a in graph["inputs"] if "as_tensor" in a}
        sources: dict[str, list[str]] = {}  # the tensors of whose elements numbers are made
        graphs.append(result)
        for number, node in enumerate(graph["nodes"]):
            kind = _kind(node["target"])
            outputs = [name for argument in node["outputs"] for name in _named(argument, "name")]
            name = node.get("name") or (outputs[0] if outputs else f"{kind} #{number}")
            arguments: dict[str, Any] = {}
            given: list[str] = []
            read: list[str] = []
            for entry in node["inputs"]:
                given += _named(entry["arg"], "name")
                read += [tensor for size in _named(entry["arg"], "as_name") for tensor in sources.get(size, ())]
                arguments[entry["name"]] = _value(entry["arg"], numbers)
                if "as_graph" in entry["arg"]:
                    held = entry["arg"]["as_graph"]
                    self._graph(held["graph"], {}, graphs, f" in {name}{where}", depth + 1)
            unmade = next((tensor for tensor in given if tensor not in visible), None)
            if unmade is not None:
                raise ModelError(
                    f"node {name}{where} ({kind}): its input {unmade!r} is made by no node before it: the program is"
                    " cut short, has a cycle, or its nodes are not in order"
                )
            visible |= set(outputs)
            is_size = kind.startswith("aten.sym_") and all(tensor in result.shapes for tensor in given)
            made = [*read, *(tensor for tensor in given if not is_size and tensor not in result.constants)]
            sources |= {size: made for argument in node["outputs"] for size in _named(argument, "as_name")}
            if outputs or not node["outputs"]:  # no node that only makes numbers
                with naming(f"node {name}{where} ({kind})"):
                    _add(result, f"{name}{where}", kind, arguments, given, read, outputs)


def _add(
    graph: Graph, name: str, kind: str, arguments: dict[str, Any], given: list[str], read: list[str], outputs: list[str]
) -> None:
    """Adds a node as a step, or its results as constants. given: its tensors. read: the tensors of whose elements its
    numbers are made."""
    constants = graph.constants
    if not outputs and kind.startswith(("aten._assert", "aten.sym_constrain")):
        return
    if read:
        slots = (*given, *read)
        graph.steps.append(Step(name, kind, slots, tuple(outputs), slots=slots, reads=_by_numbers))
        return
    shapes = [graph.shapes.get(output) for output in outputs]
    values = {key: _filled(value, constants) for key, value in arguments.items()}
    same = len({graph.dtypes.get(tensor) for tensor in (*given[:1], *outputs[:1])}) == 1
    moved, move = move_of(kind, arguments, values, shapes, same)
    small = all(shape is not None and math.prod(shape) <= MOST_CONSTANT for shape in shapes)
    if small and outputs and all(tensor in constants for tensor in given):
        try:
            made = folded(kind, values, shapes[0]) if move is None else move([constants[tensor] for tensor in moved])
        except Exception:  # torch will refuse the node with its own error
            made = []
        if kind not in FILLING and [array.shape for array in made] == shapes:
            constants.update(zip(outputs, made, strict=True))
            return
    shape = graph.shapes.get(given[0]) if given else None
    op = name_of_call(arguments["call"], shape) if kind == OWN else name_of_node(kind, arguments)
    inputs = moved if move is not None else tuple(tensor for tensor in given if tensor not in constants)
    if op is not None:
        inputs = tuple(given[:1])
    reads = functools.partial(reads_of_aten, kind, arguments, given, outputs, graph.shapes)
    own = op if inputs else None
    graph.steps.append(Step(name, kind, inputs, tuple(outputs), None if op else move, own, tuple(given), reads))


def _kind(target: str) -> str:
    """Returns the name of an operator without its overload: "aten.view" for "torch.ops.aten.view.default". Overloads that
    write to a given tensor keep it: "aten.add.out"."""
    parts = str(target).removeprefix("torch.ops.").split(".")
    return ".".join(parts[: 2 + parts[-1].endswith("out")]) if str(target).startswith("torch.ops.") else parts[-1]


def _by_numbers() -> tuple[Mapping[int, Sequence[Reads]], str]:
    raise NoSpan("computes with numbers that are made of a tensor's elements")


def _named(argument: Any, key: str) -> list[str]:
    """Returns the names in an argument: of tensors for the key "name", of open sizes and other numbers for "as_name"."""
    if isinstance(argument, list):
        return [name for part in argument for name in _named(part, key)]
    if not isinstance(argument, dict):
        return []
    here = [argument[key]] if isinstance(argument.get(key), str) else []
    parts = (part for kind, part in argument.items() if kind not in ("as_graph", "as_custom_obj"))
    return [*here, *(name for part in parts for name in _named(part, key))]


def _value(argument: Any, numbers: Mapping[str, int | None]) -> Any:
    """Returns an argument's value: tensors by their names, open sizes as numbers."""
    ((kind, value),) = argument.items()
    if kind == "as_tensor":
        return Tensor(value["name"])
    if kind == "as_tensors":
        return [Tensor(tensor["name"]) for tensor in value]
    if kind == "as_optional_tensor":
        return Tensor(value["as_tensor"]["name"]) if "as_tensor" in value else None
    if kind == "as_optional_tensors":
        return [Tensor(tensor["as_tensor"]["name"]) if "as_tensor" in tensor else None for tensor in value]
    if kind == "as_sym_int":
        return value["as_int"] if "as_int" in value else numbers.get(value["as_name"])
    if kind == "as_sym_ints":
        return [entry["as_int"] if "as_int" in entry else numbers.get(entry["as_name"]) for entry in value]
    return None if kind in ("as_none", "as_graph") else value


def _filled(value: Any, constants: Mapping[str, Any]) -> Any:
    """Returns an argument with the values of constant tensors in place of their names; None for other tensors."""
    if isinstance(value, list):
        return [_filled(part, constants) for part in value]
    return constants.get(value.name) if isinstance(value, Tensor) else value


def _has(dtype: str) -> bool:
    """Returns whether NumPy has an element type."""
    try:
        np.dtype(dtype)
    except TypeError:
        return False
    return bool(dtype)


def evaluated(text: str, symbols: Mapping[str, int]) -> int | None:
    """Returns the value of an expression over sizes, in the form of sympy.srepr; None for unknown names and long texts."""
    if len(text) > 4000:
        return None

    def value(node: ast.expr) -> int:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            raise ValueError(text)
        name = node.func.id
        if name == "Symbol":
            first = node.args[0]
            if not isinstance(first, ast.Constant):
                raise ValueError(text)
            return symbols[str(first.value)]
        parts = [value(part) for part in node.args]
        if name == "Pow" and not 0 <= parts[1] <= 4:
            raise ValueError(text)
        result = _FUNCTIONS[name](*parts)
        if abs(result) > 1 << 62:
            raise ValueError(text)
        return int(result)

    try:
        return value(ast.parse(text, mode="eval").body)
    except (ValueError, KeyError, IndexError, TypeError, ZeroDivisionError, SyntaxError, RecursionError, MemoryError):
        return None


_FUNCTIONS: dict[str, Any] = {
    "Integer": lambda n: n, "One": lambda: 1, "Zero": lambda: 0, "NegativeOne": lambda: -1,
    "Add": lambda *parts: sum(parts), "Mul": lambda *parts: math.prod(parts), "Pow": pow,
    "FloorDiv": lambda a, b: a // b, "CleanDiv": lambda a, b: a // b, "Mod": lambda a, b: a % b,
    "PythonMod": lambda a, b: a % b, "Max": max, "Min": min,
}  # fmt: skip

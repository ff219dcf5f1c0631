# SPDX-License-Identifier: Apache-2.0
"""The report on a model: the operators in it, the bytes that they move, their times here, and warnings."""

from __future__ import annotations

import functools
import io
import json
import math
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import patchfold

from .._arrays.dtypes import SHARED_WITH_NUMPY, SIZES
from .._errors import type_name
from .._orders.index_map import whole
from .._orders.names import Name, name_of
from . import _notes, _openvino, _torch
from ._errors import ModelError
from ._regions import Found, Graph, Step, find_all
from ._targets import FAMILY, ONNXRUNTIME, TARGETS, Target, of_version

# The most bytes of a problem that is timed.
MOST_TIMED = 1 << 30
ROUNDS = 3
# The most elements of an operator whose pattern is computed from its definition.
MOST_DRAWN = 1 << 20
# The oldest version of ONNX's operators in which Reshape, Transpose, Pad and similar nodes have their present form.
OLDEST = 13
TAKEN = "an .onnx, .xml, .pt2 or .tflite file, the folder of a SavedModel, an onnx.ModelProto or a torch ExportedProgram"
FIXED = {
    ".xml": "OpenVINO's IR has its sizes in the file; reshape the model and save it again",
    ".tflite": "a .tflite file has its sizes in the file; convert the model with these sizes",
}


@dataclass(frozen=True)
class Finding:
    """An operator of patchfold's family in a model.

    nodes and kinds: names and operators of the nodes that it is made of, in the model's order.
    operator and arguments: the function of patchfold that computes it (patchify for tokens in merge blocks, up to a
        reshape), or "blocks" for blocks in an order that no operator makes: rearrange(x, pattern, **arguments) makes them.
    pattern: the move of the axes in einops' notation; k marks taps, so (h kh) is an axis cut into blocks. Empty for sums.
    exact: False if the result's axes lie in another order than those of the function's result; the pattern shows the order.
    source, result: names of the tensors. source_shape, shape: their shapes, None where they are not known.
    dtype: element type. bytes: read and written, None where shapes are not known.
    seconds, roof_seconds: time of the operator here, with the calling process's threads, and of a copy of as many bytes;
        None where it was not timed.
    notes: warnings about systems that compute another result, or no result.
    """

    nodes: tuple[str, ...]
    kinds: tuple[str, ...]
    operator: str
    arguments: dict[str, Any]
    pattern: str
    exact: bool
    source: str
    result: str
    source_shape: tuple[int, ...] | None
    shape: tuple[int, ...] | None
    dtype: str
    bytes: int | None
    seconds: float | None
    roof_seconds: float | None
    notes: tuple[str, ...]

    def __str__(self) -> str:
        made = " + ".join(f"{kind} x{count}" if count > 1 else kind for kind, count in Counter(self.kinds).items())
        where = self.nodes[0] if len(self.nodes) == 1 else f"{self.nodes[0]} .. {self.nodes[-1]}"
        shapes = f"{_shape(self.source_shape)} -> {_shape(self.shape)} {self.dtype}"
        lines = [f"{where}: {Name(self.operator, self.arguments)}", f"  written as {made}"]
        lines.append(f"  {shapes}" + (f", {_amount(self.bytes)}" if self.bytes is not None else ""))
        if self.pattern:
            other = "" if self.exact else f"; axes in another order than {self.operator}'s"
            lines.append(f"  {self.pattern}{other}")
        if details := self.details():
            lines.append(f"  {details}")
        if self.seconds is not None and self.roof_seconds:
            here, copy = self.seconds * 1e3, self.roof_seconds * 1e3
            lines.append(f"  {here:.3g} ms here; {copy:.3g} ms to copy as many bytes, {here / copy:.1f} times")
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])

    def details(self) -> str:
        """Returns the order of elements and the padding in words, with defaults; empty for blocks without a function."""
        given = self.arguments
        parts = []
        if self.operator in ("unfold", "fold"):
            order = given.get("order", "channel")
            parts.append(f"order {order}: {'c * K + tap' if order == 'channel' else 'tap * C + c'}")
        if self.operator in ("space_to_depth", "depth_to_space"):
            mode = given.get("mode", "blocks_first")
            parts.append(f"order {mode}: {'c * K + offset' if mode == 'depth_first' else 'offset * C + c'}")
        if self.operator in ("unfold", "fold", "space_to_batch"):
            parts.append(f"padding {_pads(given.get('padding'))}")
        if self.operator == "batch_to_space":
            parts.append(f"crops {_pads(given.get('crops'))}")
        if self.operator != "blocks" and "." not in self.operator:  # calls of other systems' operators name no layout
            parts.append(str(given.get("layout", "channels_first")))
        return "; ".join(parts)


def _pads(pads: Any) -> str:
    if pads is None:
        return "none"
    if not isinstance(pads, (list, tuple)):
        return str(pads)
    return ",".join(f"{pad[0]}:{pad[1]}" if isinstance(pad, (list, tuple)) else f"{pad}:{pad}" for pad in pads)


@dataclass(frozen=True)
class Inspection:
    """The result of `inspect`; its text is the report."""

    model: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    target: str = ""
    stays: tuple[str, ...] = ()

    def __str__(self) -> str:
        count = len(self.findings)
        verbs = "cuts or joins" if count == 1 else "cut or join"
        lines = [f"{self.model}: {count or 'no'} operator{'' if count == 1 else 's'} that {verbs} blocks"]
        lines += [f"note: {note}" for note in self.notes] + [str(finding) for finding in self.findings]
        return "\n".join([*lines, *taken(self.target, self.stays)] if self.target else lines)

    def json(self) -> str:
        """Returns the report as one JSON object: model, notes, target, stays, and findings with the members of Finding."""
        return json.dumps(asdict(self), indent=2)


def taken(target: str, stays: Sequence[str]) -> list[str]:
    """Returns lines that say whether a target takes the model, and which nodes it refuses."""
    return [f"{target} does not take:", *(f"  {stay}" for stay in stays)] if stays else [f"{target} takes all of it"]


def inspect(
    model: Any, *, sizes: Mapping[str, int] | None = None, timed: bool = True, target: str | None = None
) -> Inspection:
    """Finds the operators of patchfold's family in a model: im2col, col2im, space-to-depth, patches and related operators.

    Nodes that only move elements (Reshape, Transpose, Slice, Concat, Pad with zeros, Gather with constant indices, a
    convolution whose filters hold one 1 each, ..) are followed element by element on arrays of indices. So an operator is
    found in any form, and each finding was compared with every element. Only shapes, indices and small constants are read.

    Arguments:
        model: path of an .onnx file, of an .xml file of OpenVINO with its .bin file beside it, of a .pt2 file of
            torch.export or of a .tflite file, or of the folder of a SavedModel; or an onnx.ModelProto or a
            torch.export.ExportedProgram. Data outside an ONNX file may lie in its folder only. No part of a model is run,
            not even the pickles in a .pt2 file.
        sizes: extents of open dimensions, by their names in the model ("batch", or "input.0" for an axis without a name).
            Other open dimensions are taken as 1 on the first axis and 64 on the rest; in a .pt2 file they keep the extents
            of the export. The report says so.
        timed: whether to time each operator here, beside a copy of as many bytes.
        target: the name of a target of `portable`, by whose rules the model is judged as it stands; the result's `stays`
            lists the nodes that the target does not take, with the rule.

    Returns: an Inspection, whose text is the report.

    Raises: ModelError for a file that is no model, is cut short or contradicts itself, and for an unknown target;
        ImportError for an ONNX model without the package onnx, and for a SavedModel or a .tflite file without TensorFlow.
    """
    wanted = None if target is None else target_of(target)
    path, graphs = graphs_of(model, dict(sizes or {}))
    found = [entry for graph in graphs for entry in find_all(graph)]
    notes = tuple(note for graph in graphs for note in (*graph.notes, *graph.misfits))
    stays = () if wanted is None else (*types_of(found, wanted), *stays_of(graphs, wanted))
    return Inspection(path or "model", tuple(_finding(entry, timed) for entry in found), notes, target or "", stays)


def graphs_of(model: Any, sizes: Mapping[str, int]) -> tuple[str, list[Graph]]:
    """Returns a title of a model, and its graphs."""
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "export") and isinstance(model, torch.export.ExportedProgram):
        buffer = io.BytesIO()
        torch.export.save(model, buffer)
        return "model", _torch.read(buffer, "program", sizes)
    if not isinstance(model, (str, os.PathLike)):
        return "model", _onnx_graphs(model, sizes)
    path = os.fspath(model)
    suffix = os.path.splitext(path)[1].lower()
    if sizes and suffix in FIXED:
        raise ModelError(f"sizes: {FIXED[suffix]}")
    if suffix == ".xml":
        return path, _openvino.read(path)
    if suffix == ".tflite":
        from . import _tflite

        return path, _tflite.read(path)
    if suffix == ".pt2":
        return path, _torch.read(path, path, sizes)
    if os.path.isdir(path):
        from . import _tensorflow

        return path, _tensorflow.read(path, sizes)
    if suffix != ".onnx":
        raise ModelError(f"{path}: must be {TAKEN}")
    return path, _onnx_graphs(path, sizes)


def _onnx_graphs(model: Any, sizes: Mapping[str, int]) -> list[Graph]:
    try:
        import onnx

        from . import _onnx
    except ImportError as error:
        raise ImportError(f"inspect reads ONNX models with the package onnx: pip install onnx ({error})") from None
    if not isinstance(model, (str, os.PathLike, onnx.ModelProto)):
        raise ModelError(f"model: must be {TAKEN}; given {type_name(model)}")
    return _onnx.read(model, dict(sizes))


def _finding(found: Found, timed: bool) -> Finding:
    amount = None
    try:
        size = SIZES.get(found.dtype) or np.dtype(found.dtype).itemsize
    except TypeError:
        size = None
    if found.source_shape is not None and found.shape is not None and size is not None:
        amount = (math.prod(found.source_shape) + math.prod(found.shape)) * size
    seconds, roof = _timed(found, amount) if timed else (None, None)
    name, notes = found.name, (*found.notes, *_notes.of(found))
    pattern = name.pattern or _pattern(found)
    return Finding(
        found.nodes, found.kinds, name.operator, name.arguments, pattern, name.exact, found.source, found.result,
        found.source_shape, found.shape, found.dtype, amount, seconds, roof, notes,
    )  # fmt: skip


def _pattern(found: Found) -> str:
    """Returns the pattern of an operator that is a node of its own, if its shapes are known. Empty for sums."""
    shape, name = found.source_shape, found.name
    if shape is None or name.operator in ("fold", "blocks"):
        return ""
    if max(math.prod(shape), math.prod(found.shape or ())) > MOST_DRAWN:
        return ""
    try:
        named = name_of(patchfold.run(name.operator, whole(shape) + 1, **name.arguments) - 1, shape)
    except (ValueError, TypeError):  # a computed argument, or a model that its runtime will refuse
        return ""
    return "" if named is None else named.pattern


def _timed(found: Found, amount: int | None) -> tuple[float | None, float | None]:
    if amount is None or amount == 0 or amount > MOST_TIMED or found.name.operator == "blocks" or found.source_shape is None:
        return None, None
    # Only sums read values: other operators take equally long for all types of one size.
    is_foreign = found.dtype in SIZES and found.dtype not in SHARED_WITH_NUMPY
    dtype = f"uint{8 * SIZES[found.dtype]}" if is_foreign else found.dtype
    x = np.ones(found.source_shape, dtype)
    function = functools.partial(patchfold.run, found.name.operator, x, **found.name.arguments)
    try:
        result = function()
    except (ValueError, TypeError):
        return None, None
    half = np.zeros(max(amount // 2, 1), np.uint8)
    other = np.zeros_like(half)
    return _best(lambda: function(out=result)), _best(lambda: np.copyto(other, half))


def _best(call: Any) -> float:
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def _shape(shape: tuple[int, ...] | None) -> str:
    return "?" if shape is None else "x".join(map(str, shape)) or "scalar"


def _amount(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"


def target_of(text: str) -> Target:
    """Returns a target by its name, or by "onnx:N" for version N of ONNX's operators."""
    number = re.fullmatch(r"onnx:(\d{1,3})", text)
    if number:
        import onnx

        version = int(number[1])
        newest = onnx.defs.onnx_opset_version()
        if not OLDEST <= version <= newest:
            raise ModelError(f"target {text!r}: the version must be from {OLDEST} to {newest}, which this onnx knows")
        return of_version(version)
    if text not in TARGETS:
        raise ModelError(f"there is no target {text!r}: write {', '.join(sorted(TARGETS))}, or onnx:N, as onnx:17")
    return TARGETS[text]


def stays_of(graphs: Sequence[Graph], target: Target) -> list[str]:
    """Returns a sentence with node and rule for each node that the target does not take, in the model's order."""
    return [
        f"node {step.node} ({step.kind}): {reason}"
        for graph in graphs
        for step in graph.steps
        if (reason := next(_reasons(graph, step, target), None)) is not None
    ]


def types_of(found: Sequence[Found], target: Target) -> list[str]:
    """Returns a sentence for each operator whose element type the target does not take."""
    takes = ", ".join(sorted(target.types))
    return [
        f"node {entry.nodes[0]} ({entry.kinds[0]}): cuts or joins {entry.dtype}; {target.name} takes {takes}"
        for entry in found
        if target.types and entry.dtype and entry.dtype not in target.types
    ]


def _reasons(graph: Graph, step: Step, target: Target) -> Iterator[str]:
    if step.kind in FAMILY and step.name is not None:
        kernel = step.name.arguments.get("kernel_size")
        rank = len(kernel) if isinstance(kernel, tuple) else 2
        mode = "CRD" if step.name.arguments.get("mode") == "depth_first" else "DCR"
        if not target.has(step.kind, rank, mode):
            what = f" of {rank} {'axis' if rank == 1 else 'axes'}" if step.kind == "Col2Im" else ""
            yield f"{target.name} has no {step.kind}{what if target.has(step.kind, 2, mode) else ''}" + (
                f" in mode {mode}" if target.has(step.kind, rank, "DCR") else ""
            )
    if step.name is not None and step.kind.startswith(("patchfold.", "Patchfold")) and target is not ONNXRUNTIME:
        yield f"is an operator of patchfold's library, which {target.name} does not have"
    tensors = (*step.inputs, *step.outputs)
    axes = max((len(graph.shapes.get(tensor, ())) for tensor in tensors), default=0)
    if target.most_axes is not None and axes > target.most_axes:
        yield f"has a tensor of {axes} axes; {target.name} has {target.most_axes}"

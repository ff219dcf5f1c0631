# SPDX-License-Identifier: Apache-2.0
"""Finds the nodes of a model that a target does not take, by the table of targets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ._errors import ModelError
from ._regions import Found, Graph, Step
from ._targets import FAMILY, ONNXRUNTIME, TARGETS, Target, of_version

# The oldest version of ONNX's operators in which Reshape, Transpose, Pad and similar nodes have their present form.
OLDEST = 13


def target_of(text: str) -> Target:
    """Returns a target by its name, or by "onnx:N" for version N of ONNX's operators."""
    number = re.fullmatch(r"onnx:(\d{1,3})", text)
    if number:
        version = int(number[1])
        import onnx

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

# SPDX-License-Identifier: Apache-2.0
"""Finds the operators that cut or join blocks in models, writes ONNX models that do without them, and prints how far models
look."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._program import run
from . import ModelError, NotPortable, halo, inspect
from ._inspect import taken
from ._targets import TARGETS

STAYS = 3
ROUNDS = 5
# A version of ONNX's format that every ONNX Runtime reads.
OLD_FORM = 10
# The most elements of all inputs of a model that is run.
MOST_INPUT = 1 << 28
# The most bytes of constants in one file: protobuf has 2 GB for all of a model.
MOST_WEIGHTS = 2_000_000_000
TYPES = {"float": "float32", "double": "float64"}


def main(arguments: list[str] | None = None) -> int:
    """Runs a command.

    Exits with 0, with 1 for a model that cannot be read or written, 2 for a wrong call, 3 where nodes are left that the
    target does not take; then the report lists them.
    """
    targets = ", ".join((*sorted(TARGETS), "or onnx:N for version N of operators"))
    parser = argparse.ArgumentParser(
        prog="python -m patchfold.models", description=__doc__,
        epilog="exits with 0; 1: a model cannot be read or written; 2: wrong call; 3: TARGET does not take all nodes",
    )  # fmt: skip
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command = commands.add_parser(
        "inspect", help="prints the operators that cut or join blocks, also those made of other nodes"
    )
    command.add_argument(
        "model", metavar="MODEL", help="an .onnx, .xml, .pt2 or .tflite file, or the folder of a SavedModel"
    )
    command.add_argument("--json", action="store_true", help="prints one JSON object")
    command.add_argument("--no-time", action="store_true", help="does not time the operators")
    command.add_argument("--target", metavar="TARGET", help=f"lists the nodes that a target does not take: {targets}")
    command = commands.add_parser("portable", help="writes a model that computes the same with operators that a target has")
    command.add_argument("model", metavar="MODEL", help="an .onnx file")
    command.add_argument("target", metavar="TARGET", help=targets)
    command.add_argument("out", metavar="OUT", help="the .onnx file to write; must not be there")
    command.add_argument("--no-time", action="store_true", help="does not run the models")
    command = commands.add_parser(
        "halo", help="prints how far each output looks along each axis, and the overlap that tiles need"
    )
    command.add_argument("model", metavar="MODEL", help="an .onnx, .xml or .pt2 file")
    command.add_argument("--json", action="store_true", help="prints one JSON object")
    for command in commands.choices.values():
        add_sizes(command)
    given = parser.parse_args(arguments)
    sizes = sizes_of(parser, given.size)
    try:
        if given.command == "portable":
            return write(given.model, given.target, given.out, sizes, not given.no_time)
        if given.command == "halo":
            found = halo(given.model, sizes=sizes)
            print(found.json() if given.json else found)
            return 0
        report = inspect(given.model, sizes=sizes, timed=not given.no_time, target=given.target)
    except (ModelError, ImportError) as error:
        print(f"patchfold.models: {error}", file=sys.stderr)
        return 1
    print(report.json() if given.json else report)
    return STAYS if report.stays else 0


def add_sizes(command: argparse.ArgumentParser) -> None:
    """Adds the option --size, which sizes_of reads."""
    command.add_argument("--size", action="append", default=[], metavar="NAME=N", help="the extent of an open dimension")


def sizes_of(parser: argparse.ArgumentParser, texts: Sequence[str]) -> dict[str, int]:
    """Returns the extents of --size by the names of dimensions. Ends the program for a text of another form."""
    sizes = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        if not equals or not name or not number.isdecimal() or int(number) < 1:
            parser.error(f"--size {text}: write NAME=N with a positive N, as --size batch=8")
        sizes[name] = int(number)
    return sizes


def write(path: str, target: str, out: str, sizes: dict[str, int], timed: bool) -> int:
    """Writes the model of a file for a target; prints its nodes, the refused nodes, and ONNX Runtime's times."""
    from . import portable

    stays: Sequence[str] = ()
    try:
        model = portable(path, target, sizes=sizes)
    except NotPortable as error:
        model, stays = error.model, error.stays
    save(path, model, out)
    if stays:
        print("\n".join(taken(target, stays)))
    if timed:
        print(f"ONNX Runtime: {time_of(path, sizes)} before, {time_of(out, sizes)} after")
    return STAYS if stays else 0


def save(path: str, model: Any, out: str) -> None:
    """Writes a model to a new file, with weights of more than MOST_WEIGHTS bytes to OUT.data beside it. Prints the numbers
    of nodes of this model and of the original."""
    import onnx.checker

    from ._rewriter import tensors_of

    part, data = Path(f"{out}.part"), f"{out}.data"
    is_large = sum(len(tensor.raw_data) for tensor in tensors_of(model.graph)) > MOST_WEIGHTS
    for name in (out, data) if is_large else (out,):
        if os.path.exists(name):
            raise ModelError(f"{name}: is there already")
    try:
        if is_large:
            onnx.save(model, part, save_as_external_data=True, location=os.path.basename(data))
        else:
            onnx.save(model, part)
        part.rename(out)
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        raise ModelError(f"{out}: cannot be written: {error}") from None
    finally:
        part.unlink(missing_ok=True)
        if is_large and not os.path.exists(out):
            Path(data).unlink(missing_ok=True)
    before = len(onnx.load(path, load_external_data=False).graph.node)
    print(f"{out}: {before} nodes before, {len(model.graph.node)} after")


def time_of(path: str, sizes: Mapping[str, int]) -> str:
    """Returns the best time of a few runs as text, or the reason why there is no time. Inputs are random; open sizes as for
    inspect."""
    try:
        runtime: Any = importlib.import_module("onnxruntime")
    except ImportError:
        return "no time (pip install onnxruntime)"
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = _session(runtime, path, options)
        feeds = {entry.name: _input(entry, sizes) for entry in session.get_inputs()}
        seconds = []
        for _ in range(ROUNDS):
            begin = time.perf_counter()
            session.run(None, feeds)
            seconds.append(time.perf_counter() - begin)
    except Exception as error:  # the runtime's errors have no common class
        return f"no time ({str(error).splitlines()[0][:120]})"
    return f"{min(seconds) * 1e3:.3g} ms"


def _session(runtime: Any, path: str, options: Any) -> Any:
    """Returns a session of a file. If the file's format is too new for the runtime, its content gets an older version."""
    providers = ["CPUExecutionProvider"]
    try:
        return runtime.InferenceSession(path, options, providers=providers)
    except Exception as error:
        if "IR version" not in str(error):
            raise
    import onnx

    model = onnx.load(path)
    model.ir_version = OLD_FORM
    return runtime.InferenceSession(model.SerializeToString(), options, providers=providers)


def _input(entry: Any, sizes: Mapping[str, int]) -> Any:
    shape = []
    for axis, extent in enumerate(entry.shape):
        name = extent if isinstance(extent, str) else f"{entry.name}.{axis}"
        shape.append(extent if isinstance(extent, int) else sizes.get(name, 64 if axis else 1))
    if np.prod(shape, dtype=float) > MOST_INPUT:
        raise ValueError(f"its input {entry.name} is too large to be made")
    kind = str(entry.type).removeprefix("tensor(").removesuffix(")")
    dtype = np.dtype(TYPES.get(kind, kind))
    if dtype.kind == "f":
        return np.random.default_rng(0).standard_normal(shape).astype(dtype)
    return np.zeros(shape, dtype)


if __name__ == "__main__":
    run(main)

# SPDX-License-Identifier: Apache-2.0
"""Finds the operators that cut or join blocks in models, and writes ONNX models that do without them."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from . import ModelError, inspect


def main(arguments: list[str] | None = None) -> int:
    """Runs a command. Exits with 0, or with 2 for a wrong call, 1 for a model that cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m patchfold.models", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command = commands.add_parser(
        "inspect", help="prints the operators that cut or join blocks, also those made of other nodes"
    )
    command.add_argument(
        "model", metavar="MODEL", help="an .onnx, .xml, .pt2 or .tflite file, or the folder of a SavedModel"
    )
    command.add_argument("--size", action="append", default=[], metavar="NAME=N", help="the extent of an open dimension")
    command.add_argument("--json", action="store_true", help="prints one JSON object")
    command.add_argument("--no-time", action="store_true", help="does not time the operators")
    command = commands.add_parser("portable", help="writes a model that computes the same with operators that a target has")
    command.add_argument("model", metavar="MODEL", help="an .onnx file")
    command.add_argument(
        "target", metavar="TARGET", help="coreml, litert, openvino, tensorrt, basic, or onnx:N for version N of operators"
    )
    command.add_argument("out", metavar="OUT", help="the .onnx file to write; must not be there")
    command.add_argument("--size", action="append", default=[], metavar="NAME=N", help="the extent of an open dimension")
    command.add_argument("--no-time", action="store_true", help="does not run the models")
    given = parser.parse_args(arguments)
    sizes = {}
    for text in given.size:
        name, equals, number = text.rpartition("=")
        if not equals or not name or not number.isdecimal() or int(number) < 1:
            parser.error(f"--size {text}: write NAME=N with a positive N, as --size batch=8")
        sizes[name] = int(number)
    try:
        if given.command == "portable":
            return write(given.model, given.target, given.out, sizes, not given.no_time)
        report = inspect(given.model, sizes=sizes, timed=not given.no_time)
    except (ModelError, ImportError) as error:
        print(f"patchfold.models: {error}", file=sys.stderr)
        return 1
    print(report.json() if given.json else report)
    return 0


def write(path: str, target: str, out: str, sizes: dict[str, int], timed: bool) -> int:
    """Writes the model of a file for a target, and prints how many nodes it has and how long it takes before and after."""
    import onnx

    from . import portable
    from ._times import time_of

    if os.path.exists(out):
        raise ModelError(f"{out}: is there already")
    model = portable(path, target, sizes=sizes)
    part = Path(f"{out}.part")
    try:
        onnx.save(model, part)
        part.rename(out)
    except (OSError, ValueError) as error:
        raise ModelError(f"{out}: cannot be written: {error}") from None
    finally:
        part.unlink(missing_ok=True)
    before = len(onnx.load(path, load_external_data=False).graph.node)
    print(f"{out}: {before} nodes before, {len(model.graph.node)} after")
    if timed:
        print(f"ONNX Runtime: {time_of(path, sizes)} before, {time_of(out, sizes)} after")
    return 0


if __name__ == "__main__":
    sys.exit(main())

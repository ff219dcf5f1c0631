# SPDX-License-Identifier: Apache-2.0
"""`python -m patchfold.models inspect MODEL`: prints which operators of the family a model holds."""

from __future__ import annotations

import argparse
import sys

from . import ModelError, inspect


def main(arguments: list[str] | None = None) -> int:
    """Runs a command. Exits with 0, or with 2 for a wrong call, 1 for a model that cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m patchfold.models", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command = commands.add_parser(
        "inspect", help="prints the operators that cut or join blocks, also those made of other nodes"
    )
    command.add_argument("model", metavar="MODEL", help="an .onnx file")
    command.add_argument("--size", action="append", default=[], metavar="NAME=N", help="the extent of an open dimension")
    command.add_argument("--json", action="store_true", help="prints one JSON object")
    command.add_argument("--no-time", action="store_true", help="does not time the operators")
    given = parser.parse_args(arguments)
    sizes = {}
    for text in given.size:
        name, equals, number = text.rpartition("=")
        if not equals or not name or not number.isdecimal() or int(number) < 1:
            parser.error(f"--size {text}: write NAME=N with a positive N, as --size batch=8")
        sizes[name] = int(number)
    try:
        report = inspect(given.model, sizes=sizes, timed=not given.no_time)
    except (ModelError, ImportError) as error:
        print(f"patchfold.models: {error}", file=sys.stderr)
        return 1
    print(report.json() if given.json else report)
    return 0


if __name__ == "__main__":
    sys.exit(main())

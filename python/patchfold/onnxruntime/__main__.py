# SPDX-License-Identifier: Apache-2.0
"""Writes an ONNX model whose operators run on patchfold's kernels in ONNX Runtime."""

from __future__ import annotations

import argparse
import sys

from .._program import run
from ..models import ModelError, _onnx
from ..models.__main__ import STAYS, add_sizes, save, sizes_of
from ..models._inspect import stays_of, taken
from ..models._targets import ONNXRUNTIME
from ._convert import convert, left


def main(arguments: list[str] | None = None) -> int:
    """Writes the converted model of a file. Returns the exit code, as of `python -m patchfold.models`: 3 if ONNX Runtime's
    own operators remain."""
    parser = argparse.ArgumentParser(prog="python -m patchfold.onnxruntime", description=__doc__)
    parser.add_argument("model", metavar="MODEL", help="an .onnx file")
    parser.add_argument("out", metavar="OUT", help="the .onnx file to write; must not be there")
    add_sizes(parser)
    given = parser.parse_args(arguments)
    try:
        model = convert(given.model, sizes=sizes_of(parser, given.size))
        save(given.model, model, given.out)
    except ModelError as error:
        print(f"patchfold.onnxruntime: {error}", file=sys.stderr)
        return 1
    stays = stays_of(_onnx.read(model, {}), ONNXRUNTIME) + left(model)
    if stays:
        print("\n".join(taken(ONNXRUNTIME.name, stays)))
    return STAYS if stays else 0


if __name__ == "__main__":
    run(main)

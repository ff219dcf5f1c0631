# SPDX-License-Identifier: Apache-2.0
"""``python -m patchfold.onnx FOLDER..``: runs ONNX node tests and compares the results."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from .._core import set_num_threads
from .._errors import Error
from .._program import run

_DESCRIPTION = "Runs ONNX node tests and compares the results."
_EPILOG = """\
FOLDER holds model.onnx, a model of one node, and test_data_set_N/input_M.pb and output_0.pb. Every data set runs, and its
result must equal the expected one bit for bit; any NaN equals any other. Only float16 and bfloat16 sums may differ, by 16
units in the last place of the largest number involved, because ONNX's reference rounds them at each addition.
Prints a line for each data set, and a last line with their numbers. A folder that cannot be read gives a line on the error
output and counts as a failure.
Exit code: 0 if all passed, 1 if something failed, 2 for wrong usage or if the onnx package is not installed.
"""


def _threads(text: str) -> int:
    most = 1 << 16
    if not text.isdecimal() or int(text) > most:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to {most}, given {text}")
    return int(text)


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m patchfold.onnx",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("folders", metavar="FOLDER", nargs="+", help="a folder that holds model.onnx and test_data_set_N")
    parser.add_argument("-q", "--quiet", action="store_true", help="print failures and the count only")
    parser.add_argument(
        "--threads", metavar="N", type=_threads, default=0, help="threads to use; 0: as many as the machine has"
    )
    return parser.parse_args(words)


def _line(text: str) -> str:
    """Returns a text as one printable line, whatever a file or its name contains."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _run(folders: Sequence[str], quiet: bool) -> int:
    """Runs the node tests, prints their results and returns how many failed."""
    from ._node_tests import NodeTest

    passed = failed = 0
    for folder in folders:
        prefix = f"{folder}/" if len(folders) > 1 else ""
        try:
            test = NodeTest(Path(folder))
        except (Error, MemoryError) as error:
            text, code = (str(error), error.code) if isinstance(error, Error) else ("onnx: out of memory", "out_of_memory")
            print(_line(f"patchfold: {text} [{code}]"), file=sys.stderr, flush=True)
            failed += 1
            continue
        for data_set, made, wrong in test.results():
            if wrong:
                failed += 1
            else:
                passed += 1
            if wrong or not quiet:
                head = " ".join(filter(None, ("fail" if wrong else "pass", prefix + data_set.name, test.operator, made)))
                print(_line(f"{head}: {wrong}" if wrong else head), flush=True)
    print(f"{passed} passed, {failed} failed", flush=True)
    return failed


def main(words: Sequence[str] | None = None) -> int:
    """Runs the node tests that the words name and returns the exit code."""
    arguments = _arguments(words)
    if importlib.util.find_spec("onnx") is None:
        print("patchfold: node tests are read by the onnx package: pip install 'patchfold[onnx]'", file=sys.stderr)
        return 2
    set_num_threads(arguments.threads)
    try:
        return 1 if _run(arguments.folders, arguments.quiet) else 0
    except BrokenPipeError:
        raise
    except OSError as error:  # print() raised it: an unreadable folder raises no OSError here
        print(f"patchfold: standard output cannot be written: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more as it ends
        return 1


if __name__ == "__main__":
    run(main)

# SPDX-License-Identifier: Apache-2.0
"""``python -m patchfold.dask``: runs tiles on the workers of dask from the command line."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from typing import Any

from .._core import WORDS
from .._errors import Error
from .._program import run
from . import apply_tiled, merge, once, split

_HELP = """\
Applies a function to overlapping tiles of arrays that are larger than a machine, and merges the results.

  apply   a function of tiles, such as a model, to a zarr array or an OME-Zarr image
  split   cuts an array into tiles: a zarr array of them, for programs of your own
  merge   merges such an array of tiles

The same command goes on where a run was ended: OUT.patchfold records what is done. docs/scale.md has examples."""


def _numbers(text: str, number: Callable[[str], Any]) -> Any:
    try:
        values = [number(each) for each in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number, nor several with commas between them") from None
    return values[0] if len(values) == 1 else tuple(values)


def _integers(text: str) -> Any:
    return _numbers(text, int)


def _extents(text: str) -> Any:
    numbers = _numbers(text, int)
    return numbers if isinstance(numbers, tuple) else (numbers,)


def _overlap(text: str) -> Any:
    return _numbers(text, float if "." in text else int)


def _margin(text: str) -> Any:
    entries = [_numbers(each.replace(":", ","), int) for each in text.split(",")]
    return entries[0] if len(entries) == 1 and isinstance(entries[0], int) else entries


def _scale(text: str) -> Any:
    return _numbers(text, Fraction)


def _resources(text: str) -> tuple[str, float]:
    name, _, amount = text.partition("=")
    try:
        return name, float(amount or 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form GPU=1") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m patchfold.dask", description=_HELP, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="apply|split|merge")
    run = argparse.ArgumentParser(add_help=False)
    run.add_argument("--scheduler", metavar="ADDRESS", help="of a running scheduler: tcp://host:8786")
    run.add_argument("--workers", type=int, metavar="N", help="starts N processes here; default: threads of this process")
    run.add_argument("--overwrite", action="store_true", help="replaces OUT, or the record of another run")
    run.add_argument("--quiet", action="store_true", help="no progress bar and no report")
    tiles = argparse.ArgumentParser(add_help=False)
    tiles.add_argument("--tile", type=_extents, required=True, help="extents of a tile along the tiled axes: 512,512")
    tiles.add_argument("--overlap", type=_overlap, help="elements, or a fraction of the tile: 64 or 0.25")
    tiles.add_argument("--stride", type=_integers, help="elements from tile to tile, instead of --overlap")
    tiles.add_argument("--margin", type=_margin, default=0, help="elements before and behind the array: 4, or 4:6,8 by axis")
    tiles.add_argument("--align", type=_integers, default=1, help="tiles begin at multiples of this; default: 1")
    tiles.add_argument("--axes", type=_integers, help="the tiled axes; default: the last ones")
    tails = ["shift", "shift_or_pad", "pad", "partial", "drop", "error"]
    tiles.add_argument("--tail", default="shift", choices=tails, help="default: shift")
    tiles.add_argument("--padding-mode", default="constant", choices=WORDS["PaddingMode"])
    tiles.add_argument("--value", type=float, default=0, help="of padding; default: 0")
    tiles.add_argument("--level", type=int, default=0, help="of an OME-Zarr image; default: 0, the finest")
    blend = argparse.ArgumentParser(add_help=False)
    blend.add_argument("--window", choices=WORDS["WindowName"])
    blend.add_argument("--reduce", choices=WORDS["Reduce"])
    blend.add_argument("--dtype", help="of means, sums and medians: float32 or float64; of argmax: uint8 or uint16")
    blend.add_argument("--fill", type=float, help="of elements that no tile gives")
    blend.add_argument("--nodata", type=float, help="number that stands for no data in results")
    blend.add_argument("--chunks", type=_integers, help="of the result, for each tiled axis: 2048,2048; each is a shard")

    apply = commands.add_parser("apply", parents=[tiles, blend, run], help="applies a function to tiles")
    apply.add_argument("function", metavar="MODULE:FUNCTION", help="a function of a NumPy array")
    apply.add_argument("source", metavar="SOURCE", help="path or URL of a zarr array or an OME-Zarr image")
    apply.add_argument("out", metavar="OUT", help="path or URL of the store that is made")
    apply.add_argument("--once", action="store_true", help="FUNCTION() returns the function; each process calls it once")
    apply.add_argument("--batch", type=int, metavar="N", help="the function receives stacks of up to N tiles")
    apply.add_argument("--scale", type=_scale, default=1, help="output elements for each element: 2, or 1/2")
    apply.add_argument("--resources", type=_resources, action="append", metavar="NAME=N", help="of a worker: GPU=1")
    apply.add_argument("--check", type=int, default=0, metavar="N", help="computes N tiles twice and compares their bits")
    apply.add_argument("--version", help="stands for the function and its weights in the record of the run")

    cut = commands.add_parser("split", parents=[tiles, run], help="cuts an array into tiles")
    cut.add_argument("source", metavar="SOURCE", help="path or URL of a zarr array or an OME-Zarr image")
    cut.add_argument("out", metavar="OUT", help="path or URL of the array of tiles that is made")

    put = commands.add_parser("merge", parents=[blend, run], help="merges an array of tiles")
    put.add_argument("tiles", metavar="TILES", help="path or URL of an array of tiles, as split makes it")
    put.add_argument("out", metavar="OUT", help="path or URL of the store that is made")
    return parser


def _function(name: str) -> Any:
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        raise SystemExit(f"patchfold.dask: MODULE:FUNCTION: must name a module and a function of it; given {name}")
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise
        raise SystemExit(f"patchfold.dask: MODULE:FUNCTION: there is no module {module} in {sys.path[0] or '.'}") from None
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise SystemExit(f"patchfold.dask: MODULE:FUNCTION: module {module} has no {attribute}")
        found = getattr(found, part)
    return found


def _client(given: argparse.Namespace, stack: ExitStack) -> Any:
    if given.scheduler is None and given.workers is None:
        return None
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        needs = "--scheduler and --workers need distributed: pip install 'patchfold[dask]'"
        raise SystemExit(f"patchfold.dask: {needs}") from None
    if given.scheduler is not None:
        try:
            client = stack.enter_context(distributed.Client(given.scheduler, timeout="10s", set_as_default=False))
        except (OSError, ValueError, TimeoutError) as error:
            raise SystemExit(f"patchfold.dask: --scheduler: no scheduler answers at {given.scheduler}: {error}") from None
    else:
        if given.workers < 1:
            raise SystemExit(f"patchfold.dask: --workers: must be at least 1; given {given.workers}")
        cluster = stack.enter_context(distributed.LocalCluster(n_workers=given.workers, threads_per_worker=1))
        client = stack.enter_context(distributed.Client(cluster, set_as_default=False))
    if not given.quiet and client.dashboard_link:
        print(f"dashboard: {client.dashboard_link}", file=sys.stderr)
    return client


def _run(given: argparse.Namespace, client: Any) -> Any:
    common = {"progress": not given.quiet, "overwrite": given.overwrite, "client": client}
    where = ("overlap", "stride", "axes", "tail", "padding_mode", "value", "margin", "align", "level")
    how = ("window", "reduce", "dtype", "fill", "nodata", "chunks")
    options = {name: getattr(given, name) for name in (*where, *how) if hasattr(given, name)}
    if given.command == "split":
        return split(given.source, given.tile, given.out, **options, **common)
    if given.command == "merge":
        return merge(given.tiles, given.out, **options, **common)
    fn = _function(given.function)
    for name in ("batch", "scale", "check", "version"):
        options[name] = getattr(given, name)
    if given.resources:
        options["resources"] = dict(given.resources)
    fn = once(fn) if given.once else fn
    return apply_tiled(fn, given.source, given.tile, out=given.out, **options, **common)


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        with ExitStack() as stack:
            report = _run(given, _client(given, stack))
    except (Error, OSError) as error:
        print(f"patchfold.{error}" if isinstance(error, Error) else f"patchfold.dask: {error}", file=sys.stderr)
        for note in getattr(error, "__notes__", ()):
            print(note, file=sys.stderr)
        return 1
    if not given.quiet:
        print(report)
    return 0


if __name__ == "__main__":
    run(main)

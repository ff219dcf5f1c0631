#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the calls that the models of timm make, and writes them to bench/networks/calls.jsonl.

usage: bench/networks/record.py [--only TEXT] [--out FILE]

Every model runs once, with one picture of its own size, on torch's meta device, which computes shapes and no numbers. The
first line of the file names the origin, its version and the models that are left out, with the reason. Each other line has
a model and those of its calls that no earlier line has:

  op       conv, unfold, fold, pixel_shuffle, pixel_unshuffle or copy (a view that is made contiguous)
  shape    of the picture; for copy, of the view
  kernel, stride, padding, dilation, groups   of the windows; stride, dilation and groups of 1 and padding of 0 are left out
  block    of a shuffle
  strides  of a view, in elements

A convolution cuts windows (im2col), and its gradient adds them up (col2im). For a transposed convolution, `shape` is the
shape of the result. Windows of 1 x 1 with stride 1 are left out: the columns equal the picture. Needs timm with its
dependencies, and ten minutes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path
from typing import Any

import timm
import torch
from torch.utils._python_dispatch import TorchDispatchMode

RECORDING = Path(__file__).with_name("calls.jsonl")
aten = torch.ops.aten


def windows(op: str, shape: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int = 1) -> dict[str, Any]:
    call: dict[str, Any] = {"op": op, "shape": list(shape), "kernel": list(kernel)}
    for name, values, plain in (("stride", stride, 1), ("padding", padding, 0), ("dilation", dilation, 1)):
        if any(value != plain for value in values):
            call[name] = list(values)
    return call | ({"groups": groups} if groups != 1 else {})


def line_of(call: dict[str, Any]) -> str:
    return json.dumps(call, separators=(",", ":"))


def call_of(function: Any, args: Any, kwargs: Any, result: Any) -> dict[str, Any] | None:
    if function is aten.convolution.default:
        picture, weight, _, stride, padding, dilation, transposed, _, groups = args
        kernel = weight.shape[2:]
        if set(kernel) == set(stride) == {1}:
            return None
        return windows("conv", (result if transposed else picture).shape, kernel, stride, padding, dilation, groups)
    if function is aten.im2col.default:
        picture, kernel, dilation, padding, stride = args
        return windows("unfold", picture.shape, kernel, stride, padding, dilation)
    if function is aten.col2im.default:
        _, _, kernel, dilation, padding, stride = args
        return windows("fold", result.shape, kernel, stride, padding, dilation)
    if function in (aten.pixel_shuffle.default, aten.pixel_unshuffle.default):
        return {"op": function.overloadpacket.__name__, "shape": list(args[0].shape), "block": args[1]}
    if function is aten.clone.default and result.is_contiguous() and not args[0].is_contiguous():
        view = [(extent, stride) for extent, stride in zip(args[0].shape, args[0].stride(), strict=True) if extent > 1]
        return {"op": "copy", "shape": [extent for extent, _ in view], "strides": [stride for _, stride in view]}
    return None


def quick(function: Any, args: Any) -> Any:
    """Returns results of frequent calls whose shapes torch's meta device computes slowly; None for other calls."""
    if function is aten.gelu.default:
        return torch.empty_like(args[0])
    if function is aten.native_layer_norm.default and args[0].is_contiguous():
        rows = args[0].new_empty(args[0].shape[: -len(args[1])])
        return torch.empty_like(args[0]), rows, rows.clone()
    if function is aten.addmm.default:
        return args[1].new_empty(args[1].shape[0], args[2].shape[1])
    return None


class Recorder(TorchDispatchMode):
    """A mode that collects the calls of a model while the mode is on."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: set[str] = set()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = quick(function, args)
        if result is None:
            result = function(*args, **(kwargs or {}))
        call = call_of(function, args, kwargs, result)
        if call:
            self.calls.add(line_of(call))
        return result


def calls_of(name: str) -> set[str]:
    with torch.device("meta"), torch.no_grad():
        model = timm.create_model(name, pretrained=False).eval()
    picture = torch.empty(1, *model.pretrained_cfg["input_size"], device="meta")
    # Some models create tensors on torch's default device, which must then be meta. A default device slows all calls, so it is
    # set only for a second try.
    for device in (contextlib.nullcontext(), torch.device("meta")):
        try:
            with device, torch.no_grad(), Recorder() as recorder:
                model(picture)
            return recorder.calls
        except RuntimeError as error:
            fault = error
    raise fault


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--out", type=Path, default=RECORDING, metavar="FILE")
    options = parser.parse_args()
    seen: set[str] = set()
    models, left_out = [], {}
    names = [name for name in timm.list_models() if options.only in name]
    for i, name in enumerate(names):
        print(f"{i + 1} of {len(names)}: {name}", file=sys.stderr, flush=True)
        try:
            calls = calls_of(name) - seen
        except Exception as error:
            left_out[name] = f"{type(error).__name__}: {error}".splitlines()[0][:100]
            print(f"  {left_out[name]}", file=sys.stderr, flush=True)
            continue
        if calls:
            models.append(line_of({"model": name, "calls": [json.loads(call) for call in sorted(calls)]}))
        seen |= calls
    origin = {"origin": f"timm {timm.__version__}", "torch": torch.__version__.split("+")[0], "models": len(names)}
    lines = [line_of(origin | {"left_out": left_out}), *models]
    options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

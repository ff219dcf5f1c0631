# SPDX-License-Identifier: Apache-2.0
"""Measures the time of a model in ONNX Runtime on this machine."""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx

ROUNDS = 5
OLD_FORM = 10
# The most elements of all inputs of a model that is run.
MOST_INPUT = 1 << 28
TYPES = {"float": "float32", "double": "float64"}


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

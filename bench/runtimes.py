#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times models in OpenVINO and ONNX Runtime, with patchfold's libraries and without them.

usage: bench/runtimes.py [--threads N] [--rounds N] [--only WORD] [--write]

A model is one operator, or one of two networks of torch. It runs on two threads, in turn with and without the library, into
memory that is allocated before; a time is the median of the rounds. --write writes
docs/performance-runtimes.md. Needs onnx, onnxruntime, openvino and torch, which `scripts/peers --install` installs, and
the wheel:
build/peers-venv/bin/python bench/runtimes.py.
"""

from __future__ import annotations

import argparse
import datetime
import io
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # torch's threads then sleep while others are timed
import numpy as np
import onnx
import onnxruntime
import openvino
import patchfold.onnxruntime
import patchfold.openvino
import torch
from onnx import TensorProto, helper, numpy_helper
from rounds import ROOT, machine

sys.path.insert(0, str(ROOT / "tests" / "runtimes"))
from networks import NETWORKS  # noqa: E402

PAGE = ROOT / "docs" / "performance-runtimes.md"
Run = Callable[[], Any]
NETWORK = "network"
SLEEP = 0.1  # seconds before a timed run, in which the runtimes' threads, which wait for work in a loop, go to sleep
# Shape of the images, kernel, stride, dilation and padding: windows of bench/problems.txt, and of vision transformers.
WINDOWS = {
    "8x64x112x112 k3 s1 p1": ((8, 64, 112, 112), 3, 1, 1, 1),
    "8x64x112x112 k3 s2 p1": ((8, 64, 112, 112), 3, 2, 1, 1),
    "1x64x256x256 k7 p3": ((1, 64, 256, 256), 7, 1, 1, 3),
    "4x32x128x128 k3 d2 p2": ((4, 32, 128, 128), 3, 1, 2, 2),
    "4x32x128x128 k2 s2": ((4, 32, 128, 128), 2, 2, 1, 0),
    "1x3x2048x2048 k16 s8": ((1, 3, 2048, 2048), 16, 8, 1, 0),
    "1x3x2048x2048 k16 s16": ((1, 3, 2048, 2048), 16, 16, 1, 0),
    "32x3x224x224 k14 s14": ((32, 3, 224, 224), 14, 14, 1, 0),
    "32x3x224x224 k16 s16": ((32, 3, 224, 224), 16, 16, 1, 0),
}
BLOCKS = {"8x64x112x112 b2": ((8, 64, 112, 112), 2), "1x3x2048x2048 b4": ((1, 3, 2048, 2048), 4)}
# The promises: for each runtime and group, the least median speed-up by the library.
AIMS = {
    ("OpenVINO", "Col2Im"): 15, ("OpenVINO", "ExtractImagePatches"): 4, ("OpenVINO", "block operators"): 3,
    ("ONNX Runtime", "Col2Im"): 1.8, ("ONNX Runtime", "Col2Im 3-D"): 3, ("ONNX Runtime", "DepthToSpace"): 2,
}  # fmt: skip


def positions(extent: int, kernel: int, stride: int, dilation: int, padding: int) -> int:
    return (extent + 2 * padding - (kernel - 1) * dilation - 1) // stride + 1


def one_node(kind: str, shape: tuple[int, ...], ints: dict[str, list[int]], **attributes: Any) -> onnx.ModelProto:
    node = helper.make_node(kind, ["x", *ints], ["y"], **attributes)
    constants = [numpy_helper.from_array(np.array(values, np.int64), name) for name, values in ints.items()]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in (("x", shape), ("y", None)))
    graph = helper.make_graph([node], "g", [x], [y], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def col2im(shape: tuple[int, ...], kernel: int, stride: int, dilation: int, padding: int) -> onnx.ModelProto:
    rank = len(shape) - 2
    count = int(np.prod([positions(extent, kernel, stride, dilation, padding) for extent in shape[2:]]))
    columns = (shape[0], shape[1] * kernel**rank, count)
    settings = {"strides": [stride] * rank, "dilations": [dilation] * rank, "pads": [padding] * 2 * rank}
    return one_node("Col2Im", columns, {"image_shape": list(shape[2:]), "block_shape": [kernel] * rank}, **settings)


def openvino_model(make: Callable[..., Any], shape: tuple[int, ...], *arguments: Any) -> tuple[bytes, bytes]:
    """Returns a model in OpenVINO's format with the single node make(x, *arguments), as (xml, bin) in memory."""
    x = openvino.opset15.parameter(shape, openvino.Type.f32, name="x")
    model = openvino.Model([make(x, *arguments).output(0)], [x], "m")
    with tempfile.TemporaryDirectory() as folder:
        openvino.save_model(model, Path(folder) / "m.xml", compress_to_fp16=False)
        return (Path(folder) / "m.xml").read_bytes(), (Path(folder) / "m.bin").read_bytes()


def exported(name: str) -> tuple[onnx.ModelProto, tuple[int, ...]]:
    """Returns a network in ONNX, as torch exports it, and the shape of its input."""
    module, x = NETWORKS[name]()
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # torch's newer exporter has no fold
        torch.onnx.export(
            module, (x,), file, dynamo=False, opset_version=18, input_names=["x"], output_names=["y"], verbose=False
        )
    return onnx.load_model_from_string(file.getvalue()), tuple(x.shape)


def cases() -> list[tuple[str, str, str, Any, tuple[int, ...]]]:
    """Returns (runtime, group, problem, model, shape of the input) of each model that is timed."""
    made: list[Any] = []
    make = openvino.opset15
    for problem, (shape, kernel, stride, dilation, padding) in WINDOWS.items():
        model = col2im(shape, kernel, stride, dilation, padding)
        columns = tuple(dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim)
        made += [(runtime, "Col2Im", problem, model, columns) for runtime in ("OpenVINO", "ONNX Runtime")]
        lists = [kernel] * 2, [stride] * 2, [dilation] * 2
        same = openvino_model(make.extract_image_patches, shape, *lists, "same_upper")
        made.append(("OpenVINO", "ExtractImagePatches", problem.rpartition(" p")[0] or problem, same, shape))
    volume = (1, 8, 48, 96, 96)
    deep = col2im(volume, 3, 1, 1, 1)
    columns = tuple(dim.dim_value for dim in deep.graph.input[0].type.tensor_type.shape.dim)
    made.append(("ONNX Runtime", "Col2Im 3-D", "1x8x48x96x96 k3 p1", deep, columns))
    for problem, ((n, c, h, w), block) in BLOCKS.items():
        shape, many = (n, c, h, w), (n, c * block * block, h // block, w // block)
        for mode in ("DCR", "CRD"):
            model = one_node("DepthToSpace", many, {}, blocksize=block, mode=mode)
            made.append(("ONNX Runtime", "DepthToSpace", f"{problem} {mode}", model, many))
        batches = (n * block * block, c, h // block, w // block)
        zeros, blocks = np.zeros(4, np.int64), np.array([1, 1, block, block], np.int64)
        depth, batch = ("blocks_first", block), (blocks, zeros, zeros)
        for name, given, arguments in (
            ("space_to_depth", shape, depth), ("depth_to_space", many, depth),
            ("space_to_batch", shape, batch), ("batch_to_space", batches, batch),
        ):  # fmt: skip
            model = openvino_model(getattr(make, name), given, *arguments)
            made.append(("OpenVINO", "block operators", f"{name} {problem}", model, given))
    for name in NETWORKS:
        model, shape = exported(name)
        made += [(runtime, NETWORK, name, model, shape) for runtime in ("OpenVINO", "ONNX Runtime")]
    return made


def in_openvino(model: Any, x: Any, ours: bool, threads: int) -> tuple[Run, Callable[[], Any]]:
    core = openvino.Core()
    if ours:
        core.add_extension(patchfold.openvino.extension())
    read = core.read_model(*(model if isinstance(model, tuple) else (model.SerializeToString(),)))
    settings = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": 1}
    request = core.compile_model(read, "CPU", settings).create_infer_request()
    request.set_input_tensor(openvino.Tensor(x, shared_memory=True))
    return partial(request.infer, share_outputs=True), lambda: np.array(request.get_output_tensor().data)


def in_onnxruntime(model: Any, x: Any, ours: bool, threads: int) -> tuple[Run, Callable[[], Any]]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    if ours:
        options.register_custom_ops_library(patchfold.onnxruntime.library())
        model = patchfold.onnxruntime.convert(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    shape = session.run(None, {"x": x})[0].shape
    binding = session.io_binding()
    output = onnxruntime.OrtValue.ortvalue_from_shape_and_type(list(shape), np.float32, "cpu", 0)
    binding.bind_ortvalue_input("x", onnxruntime.OrtValue.ortvalue_from_numpy(x))
    binding.bind_ortvalue_output("y", output)
    return lambda: session.run_with_iobinding(binding), output.numpy


def copying(size: int) -> Run:
    """Returns a function that copies size / 2 bytes by torch, and so reads and writes `size` bytes in all."""
    source, to = torch.ones(size // 2, dtype=torch.uint8), torch.ones(size // 2, dtype=torch.uint8)
    return lambda: to.copy_(source)


def times(runs: list[Run], rounds: int) -> list[float]:
    """Returns the median seconds of each function. A round has a pause and four calls, of which the last three are timed."""
    seconds: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for run, list_of in zip(runs, seconds, strict=True):
            time.sleep(SLEEP)
            run()
            for _ in range(3):
                begin = time.perf_counter()
                run()
                list_of.append(time.perf_counter() - begin)
    return [statistics.median(each) for each in seconds]


@dataclass(frozen=True)
class Row:
    """A model and its times in seconds: `before` without patchfold, `after` with patchfold, and the `copy` of as many
    bytes."""

    runtime: str
    group: str
    problem: str
    before: float
    after: float
    copy: float

    @property
    def ratio(self) -> float:
        return self.before / self.after

    @property
    def copies(self) -> str:
        """Returns the time in multiples of a copy, as text. The text is empty for a network, which does more than copy."""
        return "" if self.group == NETWORK else f"{self.after / self.copy:.1f}"


def page(rows: list[Row], threads: int, rounds: int, load: float) -> str:
    today, cpu = datetime.date.today().isoformat(), machine()["processor"]
    lines = [
        "<!-- Written by `bench/runtimes.py --write`. -->",
        "# Models in OpenVINO and ONNX Runtime",
        "",
        "The time of a model of one operator, in float32: in the runtime by itself, and with patchfold's library",
        "([runtimes.md](runtimes.md)). Two networks of torch follow: a small network for video inpainting (soft split,",
        f"attention, soft composition), and a network that upscales by 4 with pixel shuffle. Measured on {today} on {cpu},",
        f"{threads} threads, OpenVINO {openvino.__version__.partition('-')[0]}, ONNX Runtime {onnxruntime.__version__}.",
        f"Times are medians of {rounds} rounds in turn, of three calls each,",
        "into memory that was allocated before. The results of one operator have equal bits. A network's results with",
        "and without patchfold differ by at most 2e-4: its other operators are the runtime's, and may sum in another order if",
        "the graph changes. The last",
        "column is the time with patchfold, divided by the time of torch's copy of as many bytes; near 1, the speed of",
        "memory is the limit.",
        f"Before the run {load:.1f} other threads wanted to run on the {os.cpu_count()} processors (load average);",
        "if this number is not near 0, figures are rough.",
    ]  # fmt: skip
    lines += ["", "| runtime | operators | times faster, median | aim |", "|---|---|---|---|"]
    for (runtime, group), aim in AIMS.items():
        ratios = [row.ratio for row in rows if (row.runtime, row.group) == (runtime, group)]
        if ratios:
            lines.append(f"| {runtime} | {group} | {statistics.median(ratios):.1f} | {aim} |")
    for runtime in dict.fromkeys(row.runtime for row in rows):
        lines += ["", f"## {runtime}", ""]
        lines.append(
            "| operator | problem | by itself, ms | with patchfold, ms | times faster | with patchfold, in copies |"
        )
        lines.append("|---|---|---|---|---|---|")
        for row in (row for row in rows if row.runtime == runtime):
            both = f"{row.before * 1e3:.3g} | {row.after * 1e3:.3g} | {row.ratio:.1f}"
            lines.append(f"| {row.group} | {row.problem} | {both} | {row.copies} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", metavar="WORD", help="only what has this word in its name")
    parser.add_argument("--write", action="store_true", help="writes docs/performance-runtimes.md")
    options = parser.parse_args()
    if options.threads < 1 or options.rounds < 1 or (options.write and options.only):
        parser.error("--threads and --rounds take positive numbers, and --write goes without --only")
    load = os.getloadavg()[0]
    torch.set_num_threads(options.threads)
    rows: list[Row] = []
    for runtime, group, problem, model, shape in cases():
        if options.only not in f"{runtime} {group} {problem}":
            continue
        x = np.random.default_rng(1).standard_normal(shape, np.float32)
        start = in_openvino if runtime == "OpenVINO" else in_onnxruntime
        made = [start(model, x, ours, options.threads) for ours in (False, True)]
        size = x.nbytes + made[0][1]().nbytes
        before, after, copy = times([*(run for run, _ in made), copying(size)], options.rounds)
        theirs, ours = (result() for _, result in made)
        # With the library, the network's other nodes change too: the runtime's convolutions may sum in another order.
        if not np.allclose(ours, theirs, 2e-4, 2e-4) if group == NETWORK else ours.tobytes() != theirs.tobytes():
            sys.exit(f"runtimes: {runtime} {group} {problem}: the results differ")
        rows.append(row := Row(runtime, group, problem, before, after, copy))
        what = f"{runtime:13}{group:21}{problem:36}"
        print(f"{what}{before * 1e3:9.3f} ms {after * 1e3:9.3f} ms {row.ratio:6.1f} {row.copies:>6}", flush=True)
    text = page(rows, options.threads, options.rounds, load)
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    print("\n".join(line for line in text.splitlines() if line.startswith("| O"))[:2000])
    return 0


if __name__ == "__main__":
    sys.exit(main())

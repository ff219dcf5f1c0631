#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/porting.md: which call of another system is which call of patchfold.

usage: porting.py [--check] --patchfold PROGRAM [--root FOLDER]

What an operator of a dialect is comes from the operator table (`patchfold ops --json`), what targets lack from
python/patchfold/models/_targets.py, and the calls from ROWS. tests/peers/test_porting.py runs every call in its system and
compares the results. With --check it writes nothing and fails where the page is out of date.
"""
import argparse
import importlib.util
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PAGE = "docs/porting.md"


@dataclass(frozen=True)
class Row:
    """A call of a system, and the calls of patchfold that give the same. x is an array of `shape`."""

    system: str
    theirs: str
    ours: str  # by patchfold's own operators
    shape: tuple
    same: str = ""  # by the module of patchfold that has the system's names; none for systems without one
    op: str = ""  # the operator of the table
    note: str = ""


W = "kernel_size=3, stride=2, padding=1"
P = 'order="kernel", positions="grid"'
LAST = 'layout="channels_last"'
PIC, DEEP, COLUMNS = (2, 3, 8, 10), (2, 12, 4, 5), (2, 27, 20)
BACK = f"patchfold.fold(x, (8, 10), {W})"
ROWS = [
    Row("torch", "torch.nn.functional.unfold(x, 3, stride=2, padding=1)", f"patchfold.unfold(x, {W})", PIC,
        "patchfold.torch.unfold(x, 3, stride=2, padding=1)", "torch.unfold"),
    Row("torch", "torch.nn.functional.fold(x, (8, 10), 3, stride=2, padding=1)", BACK, COLUMNS,
        "patchfold.torch.fold(x, (8, 10), 3, stride=2, padding=1)", "torch.fold"),
    Row("torch", "torch.nn.functional.pixel_unshuffle(x, 2)", 'patchfold.space_to_depth(x, 2, mode="depth_first")', PIC,
        "patchfold.torch.pixel_unshuffle(x, 2)", "torch.pixel_unshuffle"),
    Row("torch", "torch.nn.functional.pixel_shuffle(x, 2)", 'patchfold.depth_to_space(x, 2, mode="depth_first")', DEEP,
        "patchfold.torch.pixel_shuffle(x, 2)", "torch.pixel_shuffle"),
    Row("ONNX", "Col2Im(x, [8, 10], [3, 3], strides=[2, 2], pads=[1, 1, 1, 1])", BACK, COLUMNS,
        "patchfold.onnx.col2im(x, [8, 10], [3, 3], strides=[2, 2], pads=[1, 1, 1, 1])", "onnx.Col2Im-18",
        "pads are all begins, then all ends"),
    Row("ONNX", "SpaceToDepth(x, blocksize=2)", "patchfold.space_to_depth(x, 2)", PIC,
        "patchfold.onnx.space_to_depth(x, 2)", "onnx.SpaceToDepth-13"),
    Row("ONNX", 'SpaceToDepth(x, blocksize=2, mode="CRD")', 'patchfold.space_to_depth(x, 2, mode="depth_first")', PIC,
        'patchfold.onnx.space_to_depth(x, 2, mode="CRD")', "onnx.SpaceToDepth-28", "from opset 28 on"),
    Row("ONNX", 'DepthToSpace(x, blocksize=2, mode="DCR")', "patchfold.depth_to_space(x, 2)", DEEP,
        "patchfold.onnx.depth_to_space(x, 2)", "onnx.DepthToSpace-13"),
    Row("ONNX", 'DepthToSpace(x, blocksize=2, mode="CRD")', 'patchfold.depth_to_space(x, 2, mode="depth_first")', DEEP,
        'patchfold.onnx.depth_to_space(x, 2, mode="CRD")', "onnx.DepthToSpace-13", "torch's pixel_shuffle"),
    Row("OpenVINO", "Col2Im(x, [8, 10], [3, 3], strides=[2, 2], pads_begin=[1, 1], pads_end=[1, 1])", BACK, COLUMNS,
        "patchfold.openvino.col2im(x, [8, 10], [3, 3], strides=[2, 2], pads_begin=[1, 1], pads_end=[1, 1])",
        "openvino.Col2Im-15"),
    Row("OpenVINO", 'ExtractImagePatches(x, sizes=[3, 3], strides=[2, 2], rates=[1, 1], auto_pad="same_upper")',
        f'patchfold.unfold(x, 3, stride=2, padding="same_upper", {P})', PIC,
        'patchfold.openvino.extract_image_patches(x, sizes=[3, 3], strides=[2, 2], rates=[1, 1], auto_pad="same_upper")',
        "openvino.ExtractImagePatches-3", "Col2Im has the other order: reorder between them"),
    Row("OpenVINO", "SpaceToBatch(x, [1, 1, 2, 2], [0, 0, 1, 0], [0, 0, 1, 0])",
        "patchfold.space_to_batch(x, 2, padding=(1, 0))", PIC,
        "patchfold.openvino.space_to_batch(x, [1, 1, 2, 2], [0, 0, 1, 0], [0, 0, 1, 0])", "openvino.SpaceToBatch-2",
        "lists have an entry for the batch, too"),
    Row("OpenVINO", "BatchToSpace(x, [1, 1, 2, 2], [0, 0, 1, 0], [0, 0, 1, 0])",
        "patchfold.batch_to_space(x, 2, crops=(1, 0))", (8, 3, 5, 5),
        "patchfold.openvino.batch_to_space(x, [1, 1, 2, 2], [0, 0, 1, 0], [0, 0, 1, 0])", "openvino.BatchToSpace-2"),
    Row("OpenVINO", 'SpaceToDepth(x, mode="blocks_first", block_size=2)', "patchfold.space_to_depth(x, 2)", PIC,
        'patchfold.openvino.space_to_depth(x, blocks_mode="blocks_first", block_size=2)', "openvino.SpaceToDepth-1"),
    Row("OpenVINO", 'DepthToSpace(x, mode="depth_first", block_size=2)',
        'patchfold.depth_to_space(x, 2, mode="depth_first")', DEEP,
        'patchfold.openvino.depth_to_space(x, blocks_mode="depth_first", block_size=2)', "openvino.DepthToSpace-1"),
    Row("TensorFlow", 'tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME")',
        f'patchfold.unfold(x, 3, stride=2, padding="same", {LAST}, {P})', (2, 8, 10, 3),
        'patchfold.tensorflow.extract_image_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME")',
        "tensorflow.ExtractImagePatches"),
    Row("TensorFlow", 'tf.compat.v1.extract_volume_patches(x, [1, 2, 3, 3, 1], [1, 1, 2, 2, 1], "VALID")',
        f"patchfold.unfold(x, (2, 3, 3), stride=(1, 2, 2), {LAST}, {P})", (1, 4, 8, 9, 2),
        'patchfold.tensorflow.extract_volume_patches(x, [1, 2, 3, 3, 1], [1, 1, 2, 2, 1], "VALID")',
        "tensorflow.ExtractVolumePatches", "SAME with a stride above the kernel starts inside the volume"),
    Row("TensorFlow", "tf.space_to_batch(x, [2, 2], [[1, 1], [0, 0]])",
        f"patchfold.space_to_batch(x, 2, padding=(1, 0), {LAST})", (2, 8, 10, 3),
        "patchfold.tensorflow.space_to_batch_nd(x, [2, 2], [[1, 1], [0, 0]])", "tensorflow.SpaceToBatchND"),
    Row("TensorFlow", "tf.batch_to_space(x, [2, 2], [[1, 1], [0, 0]])",
        f"patchfold.batch_to_space(x, 2, crops=(1, 0), {LAST})", (8, 5, 5, 3),
        "patchfold.tensorflow.batch_to_space_nd(x, [2, 2], [[1, 1], [0, 0]])", "tensorflow.BatchToSpaceND"),
    Row("TensorFlow", "tf.nn.space_to_depth(x, 2)", f"patchfold.space_to_depth(x, 2, {LAST})", (2, 8, 10, 3),
        "patchfold.tensorflow.space_to_depth(x, 2)", "tensorflow.SpaceToDepth"),
    Row("TensorFlow", "tf.nn.depth_to_space(x, 2)", f"patchfold.depth_to_space(x, 2, {LAST})", (2, 4, 5, 12),
        "patchfold.tensorflow.depth_to_space(x, 2)", "tensorflow.DepthToSpace"),
    Row("JAX", "jax.lax.conv_general_dilated_patches(x, (3, 3), (2, 2), [(1, 1), (1, 1)])",
        f'patchfold.unfold(x, {W}, positions="grid")', PIC, f'patchfold.jax.unfold(x, {W}, positions="grid")', "",
        "a convolution there: one Inf or NaN makes its whole patch NaN"),
    Row("JAX", "jnp.reshape(jnp.transpose(jnp.reshape(x, (2, 3, 2, 2, 4, 5)), (0, 1, 4, 2, 5, 3)), (2, 3, 8, 10))",
        'patchfold.depth_to_space(x, 2, mode="depth_first")', DEEP,
        'patchfold.jax.depth_to_space(x, 2, mode="depth_first")'),
    Row("Keras", 'keras.ops.image.extract_patches(x, (3, 3), strides=(2, 2), padding="same")',
        f'patchfold.unfold(x, 3, stride=2, padding="same", {LAST}, {P})', (2, 8, 10, 3),
        'patchfold.keras.extract_patches(x, (3, 3), strides=(2, 2), padding="same")', "keras.extract_patches",
        "a convolution there: one Inf makes its whole patch NaN"),
    Row("Keras", "keras.ops.unfold(x, 3, padding=1, stride=2)", f"patchfold.unfold(x, {W})", PIC,
        "patchfold.keras.unfold(x, 3, padding=1, stride=2)", "keras.unfold"),
    Row("Keras", "keras.ops.fold(x, (8, 10), 3, padding=1, stride=2)", BACK, COLUMNS,
        "patchfold.keras.fold(x, (8, 10), 3, padding=1, stride=2)", "keras.fold"),
    Row("Keras", "keras.ops.space_to_depth(x, 2)", f"patchfold.space_to_depth(x, 2, {LAST})", (2, 8, 10, 3)),
    Row("Keras", "keras.ops.depth_to_space(x, 2)", f"patchfold.depth_to_space(x, 2, {LAST})", (2, 4, 5, 12)),
    Row("MATLAB", "im2col(x, [3 2], 'sliding')", "patchfold.unfold(x.T[None, None], (2, 3))[0]", (8, 9), "", "",
        "columns of MATLAB run downwards, hence the transposition"),
    Row("MATLAB", "im2col(x, [3 2], 'distinct')",
        "patchfold.unfold(x.T[None, None], (2, 3), stride=(2, 3), padding=[(0, 1), (0, 1)])[0]", (8, 9), "", "",
        "fills up with zeros to whole blocks"),
    Row("MATLAB", "col2im(x, [3 2], [9 8], 'distinct')", "patchfold.fold(x[None], (8, 9), (2, 3), stride=(2, 3))[0, 0].T",
        (6, 12), "", "", "col2im(.., 'sliding') does not sum: it reshapes one row of numbers"),
    Row("MATLAB", "spaceToDepth(x, [2 2])", f"patchfold.space_to_depth(x[None], (2, 2), {LAST})[0]", (8, 10, 3), "", "",
        "of a dlarray with the labels SSC"),
    Row("MATLAB", "depthToSpace(x, [2 2])", f"patchfold.depth_to_space(x[None], (2, 2), {LAST})[0]", (4, 5, 12), "", "",
        'Mode="crd" is mode="depth_first"'),
]  # fmt: skip

# What systems have no call of, and what to write.
MISSING = [
    ("torch", "space_to_batch, batch_to_space, and every operator of other than two spatial axes"),
    ("ONNX", "im2col, patches, space_to_batch, batch_to_space; SpaceToDepth in mode CRD before opset 28"),
    ("OpenVINO", "im2col with channels before taps; patches and Col2Im of other than two axes"),
    ("TensorFlow", "fold: the gradient of extract_patches sums in an order of its own"),
    ("JAX", "fold: the transposed convolution of conv_general_dilated_patches sums in an order of its own; space_to_batch"),
    ("Keras", "space_to_batch, batch_to_space"),
    ("MATLAB", "sums of overlapping patches; space_to_batch, batch_to_space"),
]
NAMES = [
    ("`coverage`", "torch's `fold(unfold(ones))`; overlap count, weight map, divisor"),
    ("`reorder`", "Reshape and Transpose: channel-major to kernel-major, CRD to DCR"),
    ("`copy`", "NumPy's `ascontiguousarray` and `copyto`, torch's `Tensor.contiguous`, ONNX's Identity"),
    ("`rearrange`", "`einops.rearrange`; reshape, transpose, reshape"),
    ("`unfold`", "im2col, `aten::im2col`, `nn.Unfold`, NumPy's `sliding_window_view`, patches, patchify"),
    ("`fold`", "col2im, `aten::col2im`, `nn.Fold`, unfoldNd's `foldNd`, overlap-add"),
    ("`space_to_depth`", "pixel-unshuffle, `nn.PixelUnshuffle`, reorg (YOLO), focus"),
    ("`depth_to_space`", "pixel-shuffle, `nn.PixelShuffle`, sub-pixel convolution"),
]

# What portable makes of what a target lacks.
WRITTEN = [
    ("Col2Im, patches side by side", "Reshape, Transpose, Reshape; Pad and Slice where pads or a rest are left"),
    ("Col2Im, patches that overlap", "Pad, Reshape, Slice for each axis, then Split and Add: from +0, taps in ascending order"),
    ("DepthToSpace, SpaceToDepth", "Reshape, Transpose, Reshape; two of each in mode DCR with tensors of five axes"),
    ("ExtractImagePatches (ai.onnx.contrib)", "Pad, a Slice for each tap, Concat, Reshape"),
]


def table(header, rows):
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    return [*lines, *(f"| {' | '.join(cells)} |" for cells in rows), ""]


def code(text):
    return f"`{text}`" if text else "-"


def render(operators, targets):
    neutral = {op["name"]: op["neutral"] for op in operators}
    unknown = [row.op for row in ROWS if row.op and row.op not in neutral]
    if unknown:
        sys.exit(f"porting.py: the operator table has no {', '.join(unknown)}")
    lines = [
        "<!-- Written by `scripts/checks/porting.py`. -->",
        "# Porting",
        "",
        "Which call of another system is which call of patchfold. Each pair was run in both on the same data"
        " (`scripts/peers`); for MATLAB,",
        "which is not installed there, against its definition. The results are the same bits. [dialects.md](dialects.md) says"
        " where",
        "specifications disagree, [conformance.md](conformance.md) where systems do, and the [glossary](glossary.md) explains"
        " the words.",
        "",
        "The modules of the second column take the system's names, order of arguments and checks; a model changes by its import.",
        "The third column is the same in patchfold's own operators, which take any number of spatial axes and any element type.",
        "",
    ]
    for system in dict.fromkeys(row.system for row in ROWS):
        rows = [row for row in ROWS if row.system == system]
        lines += [f"## {system}", ""]
        cells = []
        for row in rows:
            what = neutral.get(row.op, "").partition(" ")[0]
            cells.append([code(row.theirs), code(row.same), code(row.ours), code(what), row.note or "-"])
        lines += table([f"{system}", "the same names here", "patchfold", "setting of", "mind"], cells)
        lines += [f"{system} lacks: {dict(MISSING)[system]}.", ""]
    lines += ["## Other names", "", *table(["here", "elsewhere"], NAMES)]
    lines += [
        "## What targets lack",
        "",
        "What converters and runtimes do not take of ONNX's operators, and what `patchfold.models.portable(model, target)` writes",
        "instead ([models.md](models.md)). The result is the same in every bit.",
        "",
    ]
    lines += table(["target", "lacks", "source"], [[f"`{t.name}`", t.lacks, t.source] for t in targets])
    lines += table(["an operator that the target lacks", "becomes"], WRITTEN)
    return "\n".join(lines).rstrip() + "\n"


def targets_of(root):
    path = root / "python/patchfold/models/_targets.py"
    spec = importlib.util.spec_from_file_location("_targets", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["_targets"] = module
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    last = module.of_version(17)
    return [target for name, target in sorted(module.TARGETS.items())] + [type(last)(**{**last.__dict__, "name": "onnx:N"})]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--patchfold", required=True)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    options = parser.parse_args()
    operators = json.loads(subprocess.run([options.patchfold, "ops", "--json"], capture_output=True, check=True, text=True).stdout)
    text = render(operators, targets_of(options.root))
    page = options.root / PAGE
    if not options.check:
        page.write_text(text, encoding="utf-8")
    elif not page.is_file() or page.read_text(encoding="utf-8") != text:
        sys.exit(f"FAILED {PAGE}: is out of date: scripts/checks/porting.py writes it")
    print(f"porting: {len(ROWS)} calls of {len({row.system for row in ROWS})} systems")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""The table of the calls of other systems that do the same as patchfold's operators.

`explain_order` takes from the table the systems that make columns in a given order, and so does the web page, through
web/bundle.py. scripts/checks/porting.py writes docs/porting.md from the table. Tests compare docstrings and the page's "copy
as" with the table, and tests/peers runs each call in its system.
"""

from __future__ import annotations

from typing import NamedTuple


class Made(NamedTuple):
    """The columns that a call of another system makes (or takes, with `back`), in the terms of explain_order."""

    name: str
    """The name of the call in an answer of explain_order."""
    place: str
    """The possible places of the image's channels: some of the words "first", "last" and "none"."""
    axes: str
    """Names of layouts in layouts.LAYOUTS, separated by |."""
    order: str
    """The order of a patch, "channel" or "kernel"; "" for any."""
    when: str = ""
    """Words of explain.FACTS: conditions that must all be true."""
    back: bool = False


class Row(NamedTuple):
    """A call of a system, and the calls of patchfold that give the same. x is an array of `shape`."""

    system: str
    theirs: str
    ours: str
    """The call of patchfold's neutral operators."""
    shape: tuple[int, ...]
    same: str = ""
    """The call of patchfold's module with the system's names; "" for a system without a module."""
    op: str = ""
    """The name of the operator in the operator table."""
    note: str = ""
    made: Made | None = None


W = "kernel_size=3, stride=2, padding=1"
P = 'order="kernel", positions="grid"'
LAST = 'layout="channels_last"'
PIC, DEEP, COLUMNS = (2, 3, 8, 10), (2, 12, 4, 5), (2, 27, 20)
FLAT, GRID, LAST_GRID = "b (c k) (p)|b (k c) (p)", "b (c k) p|b (k c) p", "b p (c k)|b p (k c)"
BATCH, DOWN, TOKENS = "(k b) c p|(k b) p c", "b (c K) (P)", "b (p) (c k)|b (p) (k c)"
WINDOWS, SWIN, ANY = "b c p k|b p c k", "(b p) k c", "first last none"
BACK = f"patchfold.fold(x, (8, 10), {W})"
ROWS = [
    Row("torch", "torch.nn.functional.unfold(x, 3, stride=2, padding=1)", f"patchfold.unfold(x, {W})", PIC,
        "patchfold.torch.unfold(x, 3, stride=2, padding=1)", "torch.unfold",
        made=Made("torch.nn.functional.unfold", "first", FLAT, "channel", "zero")),
    Row("torch", "torch.nn.functional.fold(x, (8, 10), 3, stride=2, padding=1)", BACK, COLUMNS,
        "patchfold.torch.fold(x, (8, 10), 3, stride=2, padding=1)", "torch.fold"),
    Row("torch", "torch.nn.functional.pixel_unshuffle(x, 2)", 'patchfold.space_to_depth(x, 2, mode="depth_first")', PIC,
        "patchfold.torch.pixel_unshuffle(x, 2)", "torch.pixel_unshuffle",
        made=Made("torch pixel_unshuffle", "first", GRID, "channel", "blocks")),
    Row("torch", "torch.nn.functional.pixel_shuffle(x, 2)", 'patchfold.depth_to_space(x, 2, mode="depth_first")', DEEP,
        "patchfold.torch.pixel_shuffle(x, 2)", "torch.pixel_shuffle",
        made=Made("torch pixel_shuffle", "first", GRID, "channel", "blocks", back=True)),
    Row("ONNX", "Col2Im(x, [8, 10], [3, 3], strides=[2, 2], pads=[1, 1, 1, 1])", BACK, COLUMNS,
        "patchfold.onnx.col2im(x, [8, 10], [3, 3], strides=[2, 2], pads=[1, 1, 1, 1])", "onnx.Col2Im-18",
        "pads are all begins, then all ends",
        made=Made("the columns of ONNX Col2Im", "first", FLAT, "channel", "zero")),
    Row("ONNX", "SpaceToDepth(x, blocksize=2)", "patchfold.space_to_depth(x, 2)", PIC,
        "patchfold.onnx.space_to_depth(x, 2)", "onnx.SpaceToDepth-13",
        made=Made("ONNX SpaceToDepth and DepthToSpace, mode DCR", "first", GRID, "kernel", "blocks")),
    Row("ONNX", 'SpaceToDepth(x, blocksize=2, mode="CRD")', 'patchfold.space_to_depth(x, 2, mode="depth_first")', PIC,
        'patchfold.onnx.space_to_depth(x, 2, mode="CRD")', "onnx.SpaceToDepth-28", "from opset 28 on",
        made=Made("ONNX SpaceToDepth and DepthToSpace, mode CRD", "first", GRID, "channel", "blocks")),
    Row("ONNX", 'DepthToSpace(x, blocksize=2, mode="DCR")', "patchfold.depth_to_space(x, 2)", DEEP,
        "patchfold.onnx.depth_to_space(x, 2)", "onnx.DepthToSpace-13"),
    Row("ONNX", 'DepthToSpace(x, blocksize=2, mode="CRD")', 'patchfold.depth_to_space(x, 2, mode="depth_first")', DEEP,
        'patchfold.onnx.depth_to_space(x, 2, mode="CRD")', "onnx.DepthToSpace-13", "torch's pixel_shuffle"),
    Row("OpenVINO", "Col2Im(x, [8, 10], [3, 3], strides=[2, 2], pads_begin=[1, 1], pads_end=[1, 1])", BACK, COLUMNS,
        "patchfold.openvino.col2im(x, [8, 10], [3, 3], strides=[2, 2], pads_begin=[1, 1], pads_end=[1, 1])",
        "openvino.Col2Im-15",
        made=Made("the columns of OpenVINO Col2Im", "first", FLAT, "channel", "zero")),
    Row("OpenVINO", 'ExtractImagePatches(x, sizes=[3, 3], strides=[2, 2], rates=[1, 1], auto_pad="same_upper")',
        f'patchfold.unfold(x, 3, stride=2, padding="same_upper", {P})', PIC,
        'patchfold.openvino.extract_image_patches(x, sizes=[3, 3], strides=[2, 2], rates=[1, 1], auto_pad="same_upper")',
        "openvino.ExtractImagePatches-3", "Col2Im has the other order: reorder between them",
        made=Made("OpenVINO ExtractImagePatches", "first", GRID, "kernel", "zero 2-D same_or_valid")),
    Row("OpenVINO", "SpaceToBatch(x, [1, 1, 2, 2], [0, 0, 1, 0], [0, 0, 1, 0])",
        "patchfold.space_to_batch(x, 2, padding=(1, 0))", PIC,
        "patchfold.openvino.space_to_batch(x, [1, 1, 2, 2], [0, 0, 1, 0], [0, 0, 1, 0])", "openvino.SpaceToBatch-2",
        "lists have an entry for the batch, too",
        made=Made("OpenVINO SpaceToBatch", ANY, BATCH, "", "dense")),
    Row("OpenVINO", "BatchToSpace(x, [1, 1, 2, 2], [0, 0, 1, 0], [0, 0, 1, 0])",
        "patchfold.batch_to_space(x, 2, crops=(1, 0))", (8, 3, 5, 5),
        "patchfold.openvino.batch_to_space(x, [1, 1, 2, 2], [0, 0, 1, 0], [0, 0, 1, 0])", "openvino.BatchToSpace-2",
        made=Made("OpenVINO BatchToSpace", ANY, BATCH, "", "dense", back=True)),
    Row("OpenVINO", 'SpaceToDepth(x, mode="blocks_first", block_size=2)', "patchfold.space_to_depth(x, 2)", PIC,
        'patchfold.openvino.space_to_depth(x, blocks_mode="blocks_first", block_size=2)', "openvino.SpaceToDepth-1",
        made=Made("OpenVINO SpaceToDepth, blocks_first", "first", GRID, "kernel", "blocks")),
    Row("OpenVINO", 'DepthToSpace(x, mode="depth_first", block_size=2)',
        'patchfold.depth_to_space(x, 2, mode="depth_first")', DEEP,
        'patchfold.openvino.depth_to_space(x, blocks_mode="depth_first", block_size=2)', "openvino.DepthToSpace-1",
        made=Made("OpenVINO DepthToSpace, depth_first", "first", GRID, "channel", "blocks", back=True)),
    Row("TensorFlow", 'tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME")',
        f'patchfold.unfold(x, 3, stride=2, padding="same", {LAST}, {P})', (2, 8, 10, 3),
        'patchfold.tensorflow.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME")',
        "tensorflow.ExtractImagePatches",
        made=Made("tf.image.extract_patches", "last", LAST_GRID, "kernel", "zero 2-D same_or_valid")),
    Row("TensorFlow", 'tf.compat.v1.extract_volume_patches(x, [1, 2, 3, 3, 1], [1, 1, 2, 2, 1], "VALID")',
        f"patchfold.unfold(x, (2, 3, 3), stride=(1, 2, 2), {LAST}, {P})", (1, 4, 8, 9, 2),
        'patchfold.tensorflow.extract_volume_patches(x, [1, 2, 3, 3, 1], [1, 1, 2, 2, 1], "VALID")',
        "tensorflow.ExtractVolumePatches", "SAME with a stride above the kernel starts inside the volume",
        made=Made("tf.extract_volume_patches", "last", LAST_GRID, "kernel", "zero 3-D same_or_valid")),
    Row("TensorFlow", "tf.space_to_batch(x, [2, 2], [[1, 1], [0, 0]])",
        f"patchfold.space_to_batch(x, 2, padding=(1, 0), {LAST})", (2, 8, 10, 3),
        "patchfold.tensorflow.space_to_batch(x, [2, 2], [[1, 1], [0, 0]])", "tensorflow.SpaceToBatchND",
        made=Made("tf.space_to_batch_nd", ANY, BATCH, "", "dense")),
    Row("TensorFlow", "tf.batch_to_space(x, [2, 2], [[1, 1], [0, 0]])",
        f"patchfold.batch_to_space(x, 2, crops=(1, 0), {LAST})", (8, 5, 5, 3),
        "patchfold.tensorflow.batch_to_space(x, [2, 2], [[1, 1], [0, 0]])", "tensorflow.BatchToSpaceND",
        made=Made("tf.batch_to_space", ANY, BATCH, "", "dense", back=True)),
    Row("TensorFlow", "tf.nn.space_to_depth(x, 2)", f"patchfold.space_to_depth(x, 2, {LAST})", (2, 8, 10, 3),
        "patchfold.tensorflow.space_to_depth(x, 2)", "tensorflow.SpaceToDepth",
        made=Made("tf.nn.space_to_depth, NHWC", "last", LAST_GRID, "kernel", "blocks")),
    Row("TensorFlow", "tf.nn.depth_to_space(x, 2)", f"patchfold.depth_to_space(x, 2, {LAST})", (2, 4, 5, 12),
        "patchfold.tensorflow.depth_to_space(x, 2)", "tensorflow.DepthToSpace",
        made=Made("tf.nn.depth_to_space, NHWC", "last", LAST_GRID, "kernel", "blocks", back=True)),
    Row("JAX", "jax.lax.conv_general_dilated_patches(x, (3, 3), (2, 2), [(1, 1), (1, 1)])",
        f'patchfold.unfold(x, {W}, positions="grid")', PIC, f'patchfold.jax.unfold(x, {W}, positions="grid")', "",
        "a convolution there: one Inf or NaN makes its whole patch NaN",
        made=Made("jax.lax.conv_general_dilated_patches", "first", GRID, "channel", "zero many-D")),
    Row("JAX", "jnp.reshape(jnp.transpose(jnp.reshape(x, (2, 3, 2, 2, 4, 5)), (0, 1, 4, 2, 5, 3)), (2, 3, 8, 10))",
        'patchfold.depth_to_space(x, 2, mode="depth_first")', DEEP,
        'patchfold.jax.depth_to_space(x, 2, mode="depth_first")'),
    Row("Keras", 'keras.ops.image.extract_patches(x, (3, 3), strides=(2, 2), padding="same")',
        f'patchfold.unfold(x, 3, stride=2, padding="same", {LAST}, {P})', (2, 8, 10, 3),
        'patchfold.keras.extract_patches(x, (3, 3), strides=(2, 2), padding="same")', "keras.extract_patches",
        "a convolution there: one Inf makes its whole patch NaN",
        made=Made("keras.ops.image.extract_patches", "last", LAST_GRID, "kernel", "zero 2-D same_or_valid")),
    Row("Keras", "keras.ops.unfold(x, 3, padding=1, stride=2)", f"patchfold.unfold(x, {W})", PIC,
        "patchfold.keras.unfold(x, 3, padding=1, stride=2)", "keras.unfold",
        made=Made("keras.ops.unfold", "first", FLAT, "channel", "zero 2-D")),
    Row("Keras", "keras.ops.fold(x, (8, 10), 3, padding=1, stride=2)", BACK, COLUMNS,
        "patchfold.keras.fold(x, (8, 10), 3, padding=1, stride=2)", "keras.fold"),
    Row("Keras", "keras.ops.space_to_depth(x, 2)", f"patchfold.space_to_depth(x, 2, {LAST})", (2, 8, 10, 3)),
    Row("Keras", "keras.ops.depth_to_space(x, 2)", f"patchfold.depth_to_space(x, 2, {LAST})", (2, 4, 5, 12)),
    Row("MATLAB", "im2col(x, [3 2], 'sliding')", "patchfold.unfold(x.T[None, None], (2, 3))[0]", (8, 9), "", "",
        "columns of MATLAB run downwards, hence the transposition",
        made=Made("MATLAB im2col, 'sliding'", "none", DOWN, "", "2-D alone undilated unpadded stride_1")),
    Row("MATLAB", "im2col(x, [3 2], 'distinct')",
        "patchfold.unfold(x.T[None, None], (2, 3), stride=(2, 3), padding=[(0, 1), (0, 1)])[0]", (8, 9), "", "",
        "fills up with zeros to whole blocks",
        made=Made("MATLAB im2col, 'distinct'", "none", DOWN, "", "2-D alone from_0 dense")),
    Row("MATLAB", "col2im(x, [3 2], [9 8], 'distinct')", "patchfold.fold(x[None], (8, 9), (2, 3), stride=(2, 3))[0, 0].T",
        (6, 12), "", "", "col2im(.., 'sliding') does not sum: it reshapes one row of numbers"),
    Row("MATLAB", "spaceToDepth(x, [2 2])", f"patchfold.space_to_depth(x[None], (2, 2), {LAST})[0]", (8, 10, 3), "", "",
        "of a dlarray with the labels SSC"),
    Row("MATLAB", "depthToSpace(x, [2 2])", f"patchfold.depth_to_space(x[None], (2, 2), {LAST})[0]", (4, 5, 12), "", "",
        'Mode="crd" is mode="depth_first"'),
]  # fmt: skip

# Orders that no single row of the table makes.
MADE = [
    Made("tf.signal.frame", "last", LAST_GRID, "kernel", "zero 1-D same_or_valid"),
    Made("tf.nn.space_to_depth, NCHW", "first", GRID, "kernel", "blocks"),
    Made("tokens of a vision transformer, patchfold.patchify(image, .., order='torch')", ANY, TOKENS, "channel", "blocks"),
    Made("tokens of a vision transformer, patchfold.patchify(image, .., order='vit')", ANY, TOKENS, "kernel", "blocks"),
    Made("torch.Tensor.unfold, numpy.lib.stride_tricks.sliding_window_view", ANY, WINDOWS, "",
         "undilated unpadded"),
    Made("scikit-image view_as_windows", "none", WINDOWS, "", "alone undilated unpadded"),
    Made("scikit-image view_as_blocks", "none", WINDOWS, "", "alone blocks"),
    Made("window_partition of a Swin transformer", "last", SWIN, "", "2-D blocks"),
]  # fmt: skip

# Calls that cut x in another system, each with the call of patchfold that puts x together again. If patches overlap, each
# element is the mean of its copies, which are equal.
PUT_BACK = [
    ("TensorFlow", 'tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME")',
     f'patchfold.reconstruct(patches, (2, 8, 10, 3), 3, stride=2, padding="same", {LAST}, {P})'),
    ("TensorFlow", 'tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")',
     f"patchfold.depth_to_space(patches, 2, {LAST})"),
    ("Keras", 'keras.ops.image.extract_patches(x, (3, 3), strides=(2, 2), padding="same")',
     f'patchfold.reconstruct(patches, (2, 8, 10, 3), 3, stride=2, padding="same", {LAST}, {P})'),
    ("Keras", "keras.ops.image.extract_patches(x, (2, 2))", f"patchfold.depth_to_space(patches, 2, {LAST})"),
]  # fmt: skip

# For each system, the operators that it lacks, with remarks.
MISSING = [
    ("torch", "space_to_batch, batch_to_space, and every operator of other than two spatial axes"),
    ("ONNX", "im2col, patches, space_to_batch, batch_to_space; SpaceToDepth in mode CRD before opset 28"),
    ("OpenVINO", "im2col with channels before taps; patches and Col2Im of other than two axes"),
    ("TensorFlow", "fold: the gradient of extract_patches sums in another order"),
    ("JAX", "fold: the transposed convolution of conv_general_dilated_patches sums in another order; space_to_batch"),
    ("Keras", "space_to_batch, batch_to_space"),
    ("MATLAB", "sums of overlapping patches; space_to_batch, batch_to_space"),
]

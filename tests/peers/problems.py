# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies for problems of every dialect operator.

Hypothesis draws the geometry, whether and how it is made invalid, and a seed; the elements come from a NumPy generator
with that seed. A case is one distinct combination of shape, attributes and data.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import blocks
import windows
from data import fill, moods_of
from drawing import Draw, Fault, Setting, chance, number
from hypothesis import strategies as st
from problem import Problem

Builder = Callable[[Draw, str], Setting]

ONNX_DEPTH = [f"onnx.SpaceToDepth-{v}" for v in (1, 13, 28)] + [f"onnx.DepthToSpace-{v}" for v in (1, 11, 13, 28)]

BUILDERS: dict[str, Builder] = {
    "torch.fold": windows.torch_windows,
    "torch.unfold": windows.torch_windows,
    "torch.pixel_shuffle": blocks.torch_shuffle,
    "torch.pixel_unshuffle": blocks.torch_shuffle,
    "onnx.Col2Im-18": windows.onnx_col2im,
    **dict.fromkeys(ONNX_DEPTH, blocks.onnx_depth),
    "openvino.Col2Im-15": windows.openvino_col2im,
    "openvino.ExtractImagePatches-3": windows.openvino_patches,
    "openvino.SpaceToBatch-2": blocks.openvino_batch,
    "openvino.BatchToSpace-2": blocks.openvino_batch,
    "openvino.SpaceToDepth-1": blocks.openvino_depth,
    "openvino.DepthToSpace-1": blocks.openvino_depth,
    "tensorflow.SpaceToBatch": blocks.tensorflow_batch,
    "tensorflow.BatchToSpace": blocks.tensorflow_batch,
    "tensorflow.SpaceToBatchND": blocks.tensorflow_batch_nd,
    "tensorflow.BatchToSpaceND": blocks.tensorflow_batch_nd,
    "tensorflow.SpaceToDepth": blocks.tensorflow_depth,
    "tensorflow.DepthToSpace": blocks.tensorflow_depth,
    "tensorflow.ExtractImagePatches": windows.tensorflow_patches,
    "tensorflow.ExtractVolumePatches": windows.tensorflow_patches,
}


def entries(value: int, *names: str) -> list[Fault]:
    return [Fault("entry", name, value) for name in names]


def lengths(*names: str) -> list[Fault]:
    return [Fault("length", name, by) for name in names for by in (1, -1)]


RANKS = [Fault("rank", value=1), Fault("rank", value=-1)]
COLUMNS = [Fault("extent", "-1", 1), Fault("extent", "-1", -1), Fault("extent", "-2", 1), *RANKS]
SPATIAL = [Fault("extent", str(axis), 1) for axis in (1, 2)]

_TORCH = (
    entries(0, "kernel_size", "stride", "dilation") + entries(-1, "kernel_size", "stride", "dilation", "padding")
    + lengths("kernel_size", "stride", "dilation", "padding") + RANKS
)
_ONNX_DEPTH = [*entries(0, "blocksize"), *entries(-1, "blocksize"), *RANKS]
_ONNX_MODE = [Fault("replace", "mode", "RCD")]
_BATCH_ND = entries(0, "block_shape") + entries(-1, "block_shape") + lengths("block_shape")
_OPENVINO_BATCH = entries(0, "block_shape") + [Fault("extent", "1", 1), Fault("rank", value=1)]
_DEPTH = [*entries(0, "block_size"), *entries(1, "block_size"), *entries(-1, "block_size"), *RANKS]
_FORMATS = [Fault("replace", "data_format", "NCHW_VECT_C"), Fault("replace", "data_format", "CHWN")]
_PATCHES = (
    entries(0, "ksizes", "strides", "rates") + entries(-1, "ksizes", "strides", "rates")
    + lengths("ksizes", "strides", "rates") + RANKS + [Fault("replace", "padding", "FULL")]
)
_EVEN_CHANNELS = [Fault("extent", "-3", 1)]

FAULTS: dict[str, list[Fault]] = {
    "torch.fold": _TORCH + COLUMNS + entries(0, "output_size") + lengths("output_size") + [Fault("extent", "-2", -1)],
    "torch.unfold": [*_TORCH, *entries(9, "kernel_size")],
    "torch.pixel_shuffle": [*entries(0, "upscale_factor"), *entries(-1, "upscale_factor"), *RANKS, *_EVEN_CHANNELS],
    "torch.pixel_unshuffle": [
        *entries(0, "downscale_factor"), *entries(-1, "downscale_factor"), *RANKS,
        Fault("extent", "-1", 1), Fault("extent", "-2", 1),
    ],
    "onnx.Col2Im-18": COLUMNS + entries(0, "block_shape", "strides", "dilations")
    + entries(-1, "block_shape", "strides", "dilations", "pads")
    + lengths("image_shape", "block_shape", "strides", "dilations", "pads"),
    **{op: _ONNX_DEPTH + _ONNX_MODE + ([Fault("extent", "2", 1)] if "SpaceTo" in op else _EVEN_CHANNELS)
       for op in ONNX_DEPTH},
    "openvino.Col2Im-15": COLUMNS + entries(0, "kernel_size", "strides")
    + lengths("output_size", "kernel_size", "strides", "dilations", "pads_begin", "pads_end"),
    "openvino.ExtractImagePatches-3": entries(0, "sizes", "strides", "rates") + lengths("sizes", "strides", "rates")
    + RANKS + [Fault("replace", "auto_pad", "explicit")],
    "openvino.SpaceToBatch-2": _OPENVINO_BATCH + entries(-1, "block_shape", "pads_begin", "pads_end")
    + entries(1, "pads_begin", "pads_end") + entries(2, "block_shape"),
    "openvino.BatchToSpace-2": _OPENVINO_BATCH + entries(-1, "block_shape", "crops_begin", "crops_end")
    + [Fault("extent", "0", 1)] + entries(99, "crops_begin", "crops_end"),
    "openvino.SpaceToDepth-1": [*entries(0, "block_size"), Fault("extent", "-1", 1), Fault("replace", "blocks_mode", "x")],
    "openvino.DepthToSpace-1": [*entries(0, "block_size"), Fault("extent", "1", 1), Fault("replace", "blocks_mode", "x")],
    "tensorflow.SpaceToBatch": _DEPTH + SPATIAL + entries(-1, "paddings") + lengths("paddings"),
    "tensorflow.BatchToSpace": _DEPTH + [Fault("extent", "0", 1)] + entries(-1, "crops") + entries(99, "crops")
    + lengths("crops"),
    "tensorflow.SpaceToBatchND": _BATCH_ND + SPATIAL + entries(-1, "paddings") + lengths("paddings"),
    "tensorflow.BatchToSpaceND": _BATCH_ND + [Fault("extent", "0", 1)] + entries(-1, "crops") + entries(99, "crops")
    + lengths("crops"),
    "tensorflow.SpaceToDepth": _DEPTH + SPATIAL + _FORMATS,
    "tensorflow.DepthToSpace": _DEPTH + [Fault("extent", "-1", 1)] + _FORMATS,
    "tensorflow.ExtractImagePatches": _PATCHES,
    "tensorflow.ExtractVolumePatches": _PATCHES,
}


def draw_setting(draw: Draw, op: str) -> Setting:
    setting = BUILDERS[op](draw, op)
    if chance(draw, 12):
        faults = FAULTS[op]
        invalid = faults[number(draw, 0, len(faults) - 1)].apply(draw, setting)
        setting = invalid or setting
    return setting


@st.composite
def groups(draw: Draw, op: str, dtype: str, size: int) -> list[Problem]:
    """Problems with the same attributes and shape, and different data."""
    setting = draw_setting(draw, op)
    # Hypothesis likes to draw a number again: with the setting mixed in, the data still differs.
    seed = zlib.crc32(f"{number(draw, 0, 2**32 - 1)} {setting}".encode())
    moods = moods_of(dtype)
    first = number(draw, 0, len(moods) - 1)
    chosen = [moods[(first + i) % len(moods)] for i in range(size)]
    return [
        Problem(op, dtype, fill(dtype, setting.shape, mood, seed + i), setting.attributes, seed + i, mood)
        for i, mood in enumerate(chosen)
    ]


def batches(op: str, dtype: str, size: int, settings: int) -> Any:
    """Groups of several settings, one after the other."""
    if settings == 1:
        return groups(op, dtype, size)
    lists = st.lists(groups(op, dtype, size), min_size=1, max_size=2 * settings)
    return lists.map(lambda found: [problem for group in found for problem in group])


def problems(op: str, dtype: str) -> Any:
    """One problem at a time."""
    return groups(op, dtype, 1).map(lambda group: group[0])

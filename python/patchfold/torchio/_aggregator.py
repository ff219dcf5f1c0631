# SPDX-License-Identifier: Apache-2.0
"""Puts patches of a grid together."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import torch
import torchio

from .._arguments import is_integer
from .._errors import InvalidValue, value_text
from .._tiles.tiling import Tiling
from ..torch._destination import Destination, check_out
from ._destinations import AGGREGATOR, Blended, Cropped, hann, kept, starts_of

_OVERLAP_MODES = ("crop", "average", "hann")


class PatchShapeError(InvalidValue, RuntimeError):
    """An error about patches whose extents are not those of their locations; a RuntimeError, as in TorchIO."""


class GridAggregator(torchio.GridAggregator):
    """Puts the patches of a grid sampler together, as TorchIO's class of this name, in the memory of the output and of the
    parts of patches that wait for their neighbours.

    Arguments:
        sampler: a GridSampler of patchfold or of TorchIO.
        overlap_mode: what voxels in several patches become:
            "crop"     voxels of the patch that keeps them if half of the overlap is cut from each side inside the volume
            "average"  the mean
            "hann"     the mean with weights sin(pi * (i + 1) / (n + 1))**2 for element i of n along each axis
        downsampling_factor: how many times smaller patches and output are than the sampler's; it must divide the patch size.
        out: where the output goes: a tensor, an array of NumPy (also a memmap) or a store (zarr, h5py) of the shape
            (channels, *extents of the volume without padding) and of the output's element type. Default: a new tensor.

    Types: "crop" keeps the patches' type, but int64 becomes int32 with a RuntimeWarning; "average" keeps floating types and
        gives float32 for others; "hann" gives float32.

    Errors: InvalidValue (a ValueError) and InvalidType (a TypeError); patches of other extents than their locations are a
        RuntimeError too.

    Example:
        >>> import torch, torchio
        >>> from patchfold.torchio import GridAggregator, GridSampler
        >>> subject = torchio.Subject(t1=torchio.ScalarImage(tensor=torch.rand(1, 10, 8, 8)))
        >>> sampler = GridSampler(subject, patch_size=4, patch_overlap=2)
        >>> aggregator = GridAggregator(sampler, overlap_mode="hann")
        >>> for batch in torchio.SubjectsLoader(sampler, batch_size=8):
        ...     aggregator.add_batch(batch["t1"][torchio.DATA], batch[torchio.LOCATION])
        >>> torch.equal(aggregator.get_output_tensor(), subject.t1.data)
        True
    """

    def __init__(self, sampler: Any, overlap_mode: str = "crop", downsampling_factor: int = 1, *, out: Any = None) -> None:
        if not is_integer(downsampling_factor) or downsampling_factor < 1:
            given = value_text(downsampling_factor)
            raise InvalidValue(AGGREGATOR, "downsampling_factor", "must be an integer of at least 1", given)
        if overlap_mode not in _OVERLAP_MODES:
            expected = ", ".join(map(repr, _OVERLAP_MODES))
            rule = "must be one of TorchIO's modes"
            raise InvalidValue(AGGREGATOR, "overlap_mode", rule, value_text(overlap_mode), expected)
        check_out(AGGREGATOR, out)
        self.overlap_mode = overlap_mode
        self._factor = factor = operator.index(downsampling_factor)
        padded = sampler.padding_mode is not None
        shape = tuple(int(n) for n in getattr(sampler, "padded_shape", None) or sampler.subject.spatial_shape)
        self._patch = tuple(int(n) for n in sampler.patch_size)
        half = tuple(int(n) // 2 for n in sampler.patch_overlap)
        whole = Tiling(shape, self._patch, overlap=tuple(2 * n for n in half))
        self._starts = [{start: i for i, start in enumerate(starts)} for starts in starts_of(whole)]
        self._grid = whole.grid
        uneven = [n for n in (*self._patch, *(half if padded else ())) if n % factor]
        if uneven:
            rule = "must divide the patch size" + (" and half of the overlap, which is the padding" if padded else "")
            raise InvalidValue(AGGREGATOR, "downsampling_factor", rule, value_text(factor))
        self._tile = tuple(n // factor for n in self._patch)
        self._extents = tuple(n // factor for n in shape)
        self._half = tuple(n // factor for n in half)
        self._border = self._half if padded else (0, 0, 0)
        self.spatial_shape = tuple(n - 2 * b for n, b in zip(self._extents, self._border, strict=True))
        self._out = out
        self._sink: Cropped | Blended | None = None
        self._was_long = False

    def add_batch(self, batch_tensor: torch.Tensor, locations: torch.Tensor) -> None:
        """Takes patches (B, C, *patch) and their locations (B, 6), as ``batch[torchio.LOCATION]`` has them. Patches may be
        added in any order, each once. The output gets no gradient from patches."""
        batch = batch_tensor.detach().cpu()
        rows = torch.as_tensor(locations).cpu().tolist()
        if batch.ndim != 5 or len(rows) != batch.shape[0] or tuple(batch.shape[2:]) != self._tile:
            rule = "must have a patch of the locations' extents for each location"
            expected = f"({len(rows)}, channels, *{value_text(self._tile)})"
            raise PatchShapeError(AGGREGATOR, "batch_tensor", rule, value_text(tuple(batch.shape)), expected)
        cells = [self._cell(row) for row in rows]
        if self._sink is None:
            self._was_long = self.overlap_mode == "crop" and batch.dtype == torch.int64
            self._sink = self._begin(batch)
        for patch, cell in zip(batch, cells, strict=True):
            self._sink.add(cell, patch)

    def get_output_tensor(self) -> Any:
        """Returns the volume, or ``out``. Voxels that no patch gave are 0 in the mode "crop" and NaN in the others, as in
        TorchIO. In the modes "average" and "hann", add_batch refuses patches after this call."""
        if self._sink is None:
            raise InvalidValue(AGGREGATOR, "batch_tensor", "must have come: no patch was added")
        if self._was_long:
            message = "patchfold: GridAggregator: int64 becomes int32, as in TorchIO: ITK has no 64-bit integers"
            warnings.warn(message, RuntimeWarning, stacklevel=2)
        return self._sink.finish()

    def _cell(self, row: Any) -> tuple[int, ...]:
        """Returns the place in the grid of the patch at a location."""
        known = isinstance(row, list) and len(row) == 6
        cell = tuple(starts.get(first, -1) for starts, first in zip(self._starts, row[:3], strict=True)) if known else (-1,)
        if -1 in cell or [last - first for first, last in zip(row[:3], row[3:], strict=True)] != list(self._patch):
            rule = "must be rows of the sampler's locations"
            raise InvalidValue(AGGREGATOR, "locations", rule, value_text(row), "batch[torchio.LOCATION]")
        return cell

    def _begin(self, batch: torch.Tensor) -> Cropped | Blended:
        channels, starts = batch.shape[1], [[n // self._factor for n in each] for each in self._starts]
        shape = (channels, *self.spatial_shape)
        if self.overlap_mode == "crop":
            axes = zip(starts, self._half, self._border, self._extents, strict=True)
            dtype = torch.int32 if batch.dtype == torch.int64 else batch.dtype
            return Cropped(Destination(AGGREGATOR, self._out, shape, dtype), dtype, [kept(*axis) for axis in axes])
        averages = self.overlap_mode == "average"
        dtype = batch.dtype if batch.dtype.is_floating_point and averages else torch.float32
        window = "ones" if averages else [hann(n) for n in self._tile]
        destination = Destination(AGGREGATOR, self._out, shape, dtype)
        return Blended(self._tiling_of(channels, starts), window, dtype, self._border, destination)

    def _tiling_of(self, channels: int, starts: list[list[int]]) -> Tiling:
        strides = tuple(each[1] if len(each) > 1 else size for each, size in zip(starts, self._tile, strict=True))
        tiling = Tiling((channels, *self._extents), self._tile, stride=strides, axes=(-3, -2, -1))
        if tiling.grid != self._grid or starts_of(tiling) != starts:
            rule = "must divide the distance of patches, which is patch_size - patch_overlap"
            raise InvalidValue(AGGREGATOR, "downsampling_factor", rule, value_text(self._factor))
        return tiling

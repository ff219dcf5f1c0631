# SPDX-License-Identifier: Apache-2.0
"""Patches on a grid."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import torch
import torchio

from .._arguments import is_integer
from .._errors import InvalidValue, value_text
from .._tiles.tiling import Tiling
from ._destinations import starts_of

_SAMPLER = "GridSampler"
_LOCAL_PADDING = ("constant", "edge", "reflect", "symmetric")  # in these, a patch holds what its padding repeats


def _three(argument: str, value: Any) -> tuple[int, int, int]:
    """Returns a tuple with an integer for each spatial axis."""
    entries = tuple(value) if hasattr(value, "__iter__") and not isinstance(value, str) else (value,) * 3
    if len(entries) != 3 or not all(map(is_integer, entries)):
        rule = "must be an integer, or one for each of the three spatial axes"
        raise InvalidValue(_SAMPLER, argument, rule, value_text(value))
    first, second, third = map(operator.index, entries)
    return first, second, third


class GridSampler(torchio.GridSampler):
    """Patches of a subject on a grid, for inference, as TorchIO's class of this name.

    Arguments:
        subject: a torchio.Subject whose images have one shape. The sampler does not change the subject.
        patch_size: extents of a patch: one number for each axis, or one for all axes.
        patch_overlap: even numbers of voxels that neighbouring patches share, less than patch_size.
        padding_mode: None, or how the volume is padded, by half of the overlap at each end of each axis: in one of the modes
            of torchio.Pad, or with a number. Constants, "edge", "reflect" and "symmetric" pad each patch when it is cut; the
            other modes pad the volume first, as TorchIO does.

    ``locations`` has a row (i, j, k, i + w, j + h, k + d) for each patch, in coordinates of the padded volume. A sampler is
    a data set of torch, for SubjectsLoader or DataLoader: sampler[n] is a Subject with the cut images and its row as
    "location". sampler() yields the same patches, and sampler(subject) yields the patches of another subject.

    Errors: InvalidValue (a ValueError) and InvalidType (a TypeError).

    Example:
        >>> import torch, torchio
        >>> from patchfold.torchio import GridSampler
        >>> subject = torchio.Subject(t1=torchio.ScalarImage(tensor=torch.rand(1, 10, 8, 8)))
        >>> sampler = GridSampler(subject, patch_size=(5, 8, 8), patch_overlap=(2, 0, 0))
        >>> len(sampler), sampler.locations[-1].tolist(), sampler[0].t1.shape
        (3, [5, 0, 0, 10, 8, 8], (1, 5, 8, 8))
    """

    def __init__(
        self,
        subject: torchio.Subject,
        patch_size: Any,
        patch_overlap: Any = (0, 0, 0),
        padding_mode: Any = None,
    ) -> None:
        self.patch_size = np.array(_three("patch_size", patch_size))
        self.patch_overlap = np.array(_three("patch_overlap", patch_overlap))
        self.padding_mode: Any = padding_mode
        if padding_mode is not None:
            cast(Any, torchio.Pad).check_padding_mode(padding_mode)
        local = isinstance(padding_mode, (int, float)) or padding_mode in _LOCAL_PADDING
        self._border = self.patch_overlap // 2 if padding_mode is not None else np.zeros(3, int)
        self._pads_patches = local and padding_mode is not None
        self._source = subject
        self._images: torchio.Subject = self._prepared(subject)
        self._tiling = self._tiling_of(subject)
        self.locations = self._locations_of(self._tiling)

    @property
    def subject(self) -> torchio.Subject:
        """The subject that locations refer to, with its padding; a padded subject is made anew each time."""
        return self._padded(self._source) if self._pads_patches else self._images

    @subject.setter
    def subject(self, value: Any) -> None:  # TorchIO's class assigns the attribute
        raise AttributeError("a sampler keeps its subject; make another sampler")

    @property
    def padded_shape(self) -> tuple[int, ...]:
        """Spatial extents of the volume with its padding."""
        return self._tiling.shape

    def __len__(self) -> int:
        return len(self._tiling)

    def __getitem__(self, index: Any) -> Any:
        return self._patch(self._images, self._tiling, operator.index(index))

    def __call__(self, subject: torchio.Subject | None = None, num_patches: int | None = None) -> Iterator[torchio.Subject]:  # type: ignore[override]
        """Yields the patches of a subject, by default of the sampler's own, in the order of their locations."""
        if num_patches is not None:
            rule = "is None: a grid sampler does not support limiting the number of patches"
            raise InvalidValue(_SAMPLER, "num_patches", rule, value_text(num_patches))
        (self._source if subject is None else subject).check_consistent_space()
        tiling = self._tiling if subject is None else self._tiling_of(subject)
        images = self._images if subject is None else self._prepared(subject)
        return (self._patch(images, tiling, index) for index in range(len(tiling)))

    def _prepared(self, subject: torchio.Subject) -> torchio.Subject:
        """Returns the subject from which patches are cut, padded if the volume is padded first."""
        return subject if self._pads_patches or self.padding_mode is None else self._padded(subject)

    def _padded(self, subject: torchio.Subject) -> torchio.Subject:
        pad = torchio.Pad(_both_ends(self._border), padding_mode=self.padding_mode)
        return pad(subject)

    def _tiling_of(self, subject: torchio.Subject) -> Tiling:
        shape = tuple(int(extent + 2 * more) for extent, more in zip(subject.spatial_shape, self._border, strict=True))
        patch, overlap = tuple(self.patch_size.tolist()), tuple(self.patch_overlap.tolist())
        facts = [
            (all(n >= 1 for n in patch), "patch_size", "must be at least 1", patch, ""),
            (all(n <= m for n, m in zip(patch, shape, strict=True)), "patch_size", "must fit into the volume", patch, shape),
            (all(n % 2 == 0 and n >= 0 for n in overlap), "patch_overlap", "must be even and at least 0", overlap, ""),
            (
                all(n < m for n, m in zip(overlap, patch, strict=True)),
                "patch_overlap",
                "must be less than patch_size",
                overlap,
                patch,
            ),
        ]
        for holds, argument, rule, given, limit in facts:
            if not holds:
                expected = f"at most {limit}" if limit == shape and limit else value_text(limit) if limit else ""
                raise InvalidValue(_SAMPLER, argument, rule, value_text(given), expected)
        return Tiling(shape, patch, overlap=overlap)

    @staticmethod
    def _locations_of(tiling: Tiling) -> Any:
        first = np.array(list(itertools.product(*starts_of(tiling))))
        return np.hstack((first, first + np.array(tiling.tile)))

    def _patch(self, images: torchio.Subject, tiling: Tiling, index: int) -> Any:
        """Cuts a patch, and pads the part of the patch that lies outside the volume."""
        tile = tiling[index]
        shape = images.spatial_shape
        border = self._border.tolist() if self._pads_patches else [0, 0, 0]
        crop, pad = [], []
        for read, extent, before in zip(tile.read, shape, border, strict=True):
            start, stop = read.start - before, read.stop - before
            crop += [max(start, 0), extent - min(stop, extent)]
            pad += [max(-start, 0), max(stop - extent, 0)]
        patch: Any = torchio.Crop(tuple(crop))(images)
        if any(pad):
            patch = torchio.Pad(tuple(pad), padding_mode=self.padding_mode)(patch)
        patch[torchio.LOCATION] = torch.tensor([*(r.start for r in tile.read), *(r.stop for r in tile.read)])
        patch.update_attributes()
        return patch


def _both_ends(border: Any) -> Any:
    return tuple(int(n) for n in border.repeat(2))

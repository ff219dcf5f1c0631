# SPDX-License-Identifier: Apache-2.0
"""Tiles and operators on the workers of dask, for arrays that are too large for one machine. Workers may die; the result has
the bits of a local run.

``apply_tiled`` takes and gives dask arrays, zarr stores, OME-Zarr images and DataArrays of xarray. docs/scale.md shows the
module from a laptop to a cluster. This module imports dask and zarr: pip install 'patchfold[dask]'.
"""

from ._apply import apply_tiled
from ._labels import merge_labels
from ._once import Once, once
from ._operators import depth_to_space, fold, space_to_depth, unfold
from ._report import Report
from ._tiles import merge, split

__all__ = [
    "Once",
    "Report",
    "apply_tiled",
    "depth_to_space",
    "fold",
    "merge",
    "merge_labels",
    "once",
    "space_to_depth",
    "split",
    "unfold",
]

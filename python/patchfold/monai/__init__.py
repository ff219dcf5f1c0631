# SPDX-License-Identifier: Apache-2.0
"""MONAI's sliding window inference with patchfold's tiles: the same arguments and results, in bounded memory.

``from patchfold.monai import sliding_window_inference`` takes the place of ``from monai.inferers import
sliding_window_inference``. docs/python-switch.md lists every argument and what differs. This module imports torch, and not
MONAI.
"""

from ._inference import compute_importance_map, sliding_window_inference
from ._inferers import SlidingWindowInferer, SlidingWindowInfererAdapt

__all__ = ["SlidingWindowInferer", "SlidingWindowInfererAdapt", "compute_importance_map", "sliding_window_inference"]

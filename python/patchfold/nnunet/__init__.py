# SPDX-License-Identifier: Apache-2.0
"""nnU-Net's inference in little memory: from an image to logits in sliding windows, and from logits at the spacing of the
network to labels at the spacing of the image.

nnU-Net holds the logits of all classes for the whole image, resamples them to its extents, and then takes the best class of
each voxel. This module does all three row by row: it holds the logits of a row of windows, and resampled logits of one row.
It needs neither nnU-Net nor torch, but takes the objects of nnunetv2 as arguments. docs/python-switch.md shows how.
"""

from ._export import SegmentationExport, convert_predicted_logits_to_segmentation_with_correct_shape
from ._windows import compute_steps_for_sliding_window, predict_sliding_window_return_logits

__all__ = [
    "SegmentationExport",
    "compute_steps_for_sliding_window",
    "convert_predicted_logits_to_segmentation_with_correct_shape",
    "predict_sliding_window_return_logits",
]

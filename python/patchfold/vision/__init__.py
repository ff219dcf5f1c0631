# SPDX-License-Identifier: Apache-2.0
"""Pictures for vision-language models: resized as Pillow or torch does it, bit for bit, and normalized by tables.

``patchfold.patchify`` cuts the pictures into tokens. Nothing here needs torch.
"""

from ._padding import pad_tokens, patch_positions
from ._processor import Processor
from ._resize import resize
from ._tables import normalization_table
from ._videos import VideoProcessor

__all__ = ["Processor", "VideoProcessor", "normalization_table", "pad_tokens", "patch_positions", "resize"]

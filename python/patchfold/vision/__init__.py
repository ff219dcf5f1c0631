# SPDX-License-Identifier: Apache-2.0
"""Pictures for vision-language models: resized as Pillow or torch does it, bit for bit, and normalized by tables.

``patchfold.patchify`` cuts the pictures into tokens. Nothing here needs torch.
"""

from ._processor import Processor
from ._resize import resize
from ._tables import normalization_table

__all__ = ["Processor", "normalization_table", "resize"]

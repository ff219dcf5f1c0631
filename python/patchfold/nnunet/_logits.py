# SPDX-License-Identifier: Apache-2.0
"""What both steps of nnU-Net's inference share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._arrays.devices import to_processor
from .._arrays.kinds import is_torch

NAME = "nnunet"


def plain(array: Any, argument: str) -> npt.NDArray[Any]:
    """Returns an array of any device as one of NumPy."""
    array = to_processor(array, NAME, argument)
    return array.detach().numpy() if is_torch(array) else np.asarray(array)

# SPDX-License-Identifier: Apache-2.0
"""The parameter that has a new name. The old name is read until 1.0."""

import warnings

from ._typing import Positions


def positions_of(function: str, columns: Positions, stacklevel: int = 3) -> Positions:
    """The value of ``columns``, the old name of ``positions``. Warns at the line that called the package."""
    message = f"patchfold.{function}: columns is now called positions; the old name works until 1.0"
    warnings.warn(message, DeprecationWarning, stacklevel=stacklevel)
    return columns

# SPDX-License-Identifier: Apache-2.0
"""TorchIO's GridSampler and GridAggregator with patchfold's tiles: the same arguments and results, in bounded memory.

``from patchfold.torchio import GridAggregator, GridSampler`` takes the place of ``from torchio import GridAggregator,
GridSampler``. docs/python-switch.md lists every argument and what differs. This module imports torch and TorchIO.
"""

from ._aggregator import GridAggregator
from ._sampler import GridSampler

__all__ = ["GridAggregator", "GridSampler"]

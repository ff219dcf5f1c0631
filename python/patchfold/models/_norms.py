# SPDX-License-Identifier: Apache-2.0
"""Norms over the plane whose statistics are computed in tiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Norm:
    """A norm over the plane: it subtracts from `source` the mean of each group of channels, divides by the deviation, and
    multiplies and adds numbers for each channel or group, the tensors `weight` and `bias` ("" for none)."""

    node: str
    kind: str
    source: str
    result: str
    groups: int
    eps: float
    weight: str = ""
    bias: str = ""


class Moments:
    """Count, mean and sum of squared deviations for each sample and group of channels, of tiles in their order."""

    def __init__(self) -> None:
        self.count, self.mean, self.squares = 0, np.zeros(()), np.zeros(())

    def add(self, count: int, mean: np.ndarray[Any, Any], squares: np.ndarray[Any, Any]) -> None:
        if count:
            total, step = self.count + count, mean - self.mean
            self.squares = self.squares + squares + step * step * (self.count * count / total)
            self.mean, self.count = self.mean + step * (count / total), total

    def all(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Returns mean and variance."""
        return self.mean, self.squares / self.count


def numbers_of(
    norm: Norm, channels: int, rank: int, mean: Any, variance: Any, weight: Any, bias: Any
) -> Iterator[np.ndarray[Any, Any]]:
    """Yields what a norm subtracts, multiplies with, and adds: arrays of shape (N, C, 1, ..). weight, bias: a number for
    each channel or for each group, or None."""
    deviation = 1 / np.sqrt(variance + norm.eps)

    def each(values: Any) -> np.ndarray[Any, Any]:
        values = np.asarray(values, np.float64)
        wide = np.repeat(values, channels // values.shape[-1], -1)
        return wide.reshape(-1, channels, *[1] * (rank - 2))

    factors = each(deviation)
    yield each(mean)
    yield factors if weight is None else factors * each(weight)
    yield np.zeros_like(factors) if bias is None else np.broadcast_to(each(bias), factors.shape)

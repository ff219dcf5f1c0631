# SPDX-License-Identifier: Apache-2.0
"""Classes that hold the arguments of sliding_window_inference."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from .._errors import InvalidValue, value_text
from ._inference import sliding_window_inference, word
from ._windows import NAME, importance_map


@dataclass(eq=False, repr=False)
class SlidingWindowInferer:
    """sliding_window_inference with its arguments given beforehand, as MONAI's class of this name.

    Arguments: as for sliding_window_inference, and
        cache_roi_weight_map: ignored, since computing the weights takes only milliseconds.
        cpu_thresh: if device is None, images of more spatial elements than this are blended on the processor.

    Each argument is an attribute. The object is called as inferer(inputs, network, *args, **kwargs); ``device``,
    ``buffer_steps``, ``buffer_dim``, ``out`` and ``condition`` may be among kwargs.

    Errors: as for sliding_window_inference, and InvalidValue for a condition whose shape is not that of inputs.

    Example:
        >>> import torch
        >>> from patchfold.monai import SlidingWindowInferer
        >>> image = torch.rand(2, 3, 50, 50)
        >>> inferer = SlidingWindowInferer(roi_size=(32, 32), sw_batch_size=4, overlap=0.25, mode="gaussian")
        >>> torch.allclose(inferer(image, torch.sigmoid), torch.sigmoid(image))
        True
    """

    roi_size: Sequence[int | None] | int
    sw_batch_size: int = 1
    overlap: Sequence[float] | float = 0.25
    mode: str = "constant"
    sigma_scale: Sequence[float] | float = 0.125
    padding_mode: str = "constant"
    cval: float = 0.0
    sw_device: torch.device | str | None = None
    device: torch.device | str | None = None
    progress: bool = False
    cache_roi_weight_map: bool = False
    cpu_thresh: int | None = None
    buffer_steps: int | None = None
    buffer_dim: int = -1
    with_coord: bool = False

    def __post_init__(self) -> None:
        importance_map((1,), word(self.mode), 1.0)  # refuses a wrong mode when the object is made, as MONAI does

    def __call__(self, inputs: torch.Tensor, network: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Runs the network on the windows of inputs, and returns what sliding_window_inference returns."""
        condition = kwargs.get("condition")
        if condition is not None and tuple(condition.shape) != tuple(inputs.shape):
            rule = "must have the shape of inputs"
            raise InvalidValue(NAME, "condition", rule, value_text(tuple(condition.shape)), value_text(tuple(inputs.shape)))
        device = kwargs.pop("device", self.device)
        large = self.cpu_thresh is not None and inputs.shape[2:].numel() > self.cpu_thresh
        return sliding_window_inference(
            inputs,
            self.roi_size,
            self.sw_batch_size,
            network,
            self.overlap,
            self.mode,
            self.sigma_scale,
            self.padding_mode,
            self.cval,
            self.sw_device,
            "cpu" if device is None and large else device,
            self.progress,
            None,
            None,
            kwargs.pop("buffer_steps", self.buffer_steps),
            kwargs.pop("buffer_dim", self.buffer_dim),
            self.with_coord,
            *args,
            **kwargs,
        )


class SlidingWindowInfererAdapt(SlidingWindowInferer):
    """A SlidingWindowInferer that blends on the processor if the accelerator has too little memory, as MONAI's class of
    this name. With a given ``device``, this class works like SlidingWindowInferer.

    If memory does not suffice for an image, cpu_thresh is set, so that the next image of this size is blended on the
    processor at once. The output of such an image lies on the processor.

    Example:
        >>> import torch
        >>> from patchfold.monai import SlidingWindowInfererAdapt
        >>> SlidingWindowInfererAdapt((8, 8))(torch.ones(1, 1, 20, 20), torch.neg).sum().item()
        -400.0
    """

    def __call__(self, inputs: torch.Tensor, network: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Runs the network on the windows of inputs, and returns what sliding_window_inference returns."""
        try:
            return super().__call__(inputs, network, *args, **dict(kwargs))
        except torch.OutOfMemoryError:
            given = kwargs.get("device", self.device)
            size = inputs.shape[2:].numel()
            on_processor = inputs.device.type == "cpu" or (self.cpu_thresh is not None and size > self.cpu_thresh)
            if given is not None or on_processor:
                raise
            self.cpu_thresh = size - 1
        logging.getLogger(__name__).warning(
            "too little memory on %s; blending %s on the processor", inputs.device, tuple(inputs.shape)
        )
        return super().__call__(inputs, network, *args, **kwargs)

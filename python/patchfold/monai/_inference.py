# SPDX-License-Identifier: Apache-2.0
"""sliding_window_inference and compute_importance_map, as MONAI has them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch.nn import functional

from .._core import check_fill, word_here
from .._errors import InvalidType, given_text
from .._tiles.apply import progress_of
from ..torch._padding import pad
from ._outputs import Outputs, packed, unpacked
from ._windows import NAME, Windows, importance_map


def compute_importance_map(
    patch_size: Sequence[int],
    mode: str = "constant",
    sigma_scale: Sequence[float] | float = 0.125,
    device: Any = "cpu",
    dtype: torch.dtype = torch.float32,
) -> torch.Tensor:
    """Returns MONAI's weights of a window, of any number of axes; also for ``window=`` of Merger and apply_tiled.

    Arguments:
        patch_size: extents of the window.
        mode: "constant" (ones) or "gaussian".
        sigma_scale: sigma as a part of the extent, for "gaussian": one number for every axis, or one for each.
        device, dtype: of the result.

    Formula: for "gaussian", the larger of 0.001 and the product of exp(-d**2 / (2 * (sigma_scale * n)**2)) over the axes,
        where n is the extent and d is the distance of an element from the middle, (i - (n - 1) / 2).

    Returns a tensor of the shape patch_size.

    Errors: InvalidValue for another mode, or a sigma that is not greater than 0.

    Example:
        >>> from patchfold.monai import compute_importance_map
        >>> compute_importance_map((3,), "gaussian", 0.5).tolist()
        [0.8007373809814453, 1.0, 0.8007373809814453]
    """
    return torch.from_numpy(importance_map(tuple(patch_size), mode, sigma_scale)).to(device, dtype)


def sliding_window_inference(
    inputs: torch.Tensor,
    roi_size: Sequence[int | None] | int,
    sw_batch_size: int,
    predictor: Callable[..., Any],
    overlap: Sequence[float] | float = 0.25,
    mode: str = "constant",
    sigma_scale: Sequence[float] | float = 0.125,
    padding_mode: str = "constant",
    cval: float = 0.0,
    sw_device: torch.device | str | None = None,
    device: torch.device | str | None = None,
    progress: bool = False,
    roi_weight_map: torch.Tensor | None = None,
    process_fn: Callable[..., Any] | None = None,
    buffer_steps: int | None = None,
    buffer_dim: int = -1,
    with_coord: bool = False,
    *args: Any,
    out: Any = None,
    **kwargs: Any,
) -> Any:
    """Runs a network on overlapping windows of images and blends the results, as MONAI's function of this name does.

    Shapes: inputs (B, C, *spatial), with any number of spatial axes. The predictor takes up to sw_batch_size windows (N, C,
        *roi) and returns (N, C', *result). The output is (B, C', *spatial), or, where result differs from roi, spatial *
        result / roi, rounded down.

    Arguments:
        inputs: a tensor or a MetaTensor, of any type that the predictor takes.
        roi_size: extents of a window, one number for all; None, 0 or negative takes the whole axis. Where an image is
            smaller, windows are padded at both ends and the padding is cut from the results.
        sw_batch_size: the most windows that the predictor takes at a time; windows of several images may come together.
        predictor: called as predictor(windows, *args, **kwargs). Returns a tensor, or a sequence or mapping of tensors, of
            a floating or complex type. Windows are copies, which the predictor may change.
        overlap: what neighbouring windows share, as a part of the window in [0, 1): one number for every axis, or one for
            each. Windows are int(roi * (1 - overlap)) elements apart, at least 1; the last one ends with the image.
        mode: how results are blended: "constant" (mean) or "gaussian" (weights of compute_importance_map).
        sigma_scale: as for compute_importance_map.
        padding_mode, cval: as mode and value of torch.nn.functional.pad; the modes of numpy.pad under their names, too.
        sw_device: where windows go before the predictor sees them; default: where inputs are.
        device: where results are blended and where the output lies; default: where inputs are. "cpu" blends in bounded
            memory.
        progress: shows a bar if tqdm is installed.
        roi_weight_map: weights of the elements of a window, at least 0, in the shape of roi_size, with or without two axes
            of extent 1 in front; instead of mode.
        process_fn: called as process_fn(results, windows, weights), with a tuple of tensors; returns the tuple to blend and
            its weights.
        buffer_steps, buffer_dim: checked, but without effect, since blending needs no buffer here.
        with_coord: calls predictor(windows, slices, ..): for each window, a list of its slices of the padded inputs.
        args, kwargs: go to the predictor. A keyword ``condition`` is a tensor with the batch and spatial extents of inputs;
            the predictor gets its windows as ``condition``.
        out: where the output goes: a tensor, an array of NumPy (also a memmap) or a store (zarr, h5py) of the output's
            shape and type, on the processor, for a predictor with one result. For one image, out may be a function:
            out(rows, band) receives the band (1, C', rows, ..) of the output along its first spatial axis, in order, and the
            call returns None. A predictor's own keyword ``out`` needs functools.partial.

    Formula: y = sum of weight * result / sum of weight, over the windows that give an element.

    Types: the output has the type of inputs if that is a floating or complex type, otherwise the type of the results. If
        inputs is a MetaTensor, the output is a MetaTensor with the same metadata. Gradients flow from results that require
        them.

    Memory: on the processor and without gradients, the call holds the output, and the parts of results that wait for their
        neighbours. In the other cases a sum of weights needs memory too, as in MONAI.

    Errors: InvalidValue (a ValueError) and InvalidType (a TypeError). Exceptions of the predictor pass unchanged.

    Elsewhere: monai.inferers.sliding_window_inference, whose documentation defines the arguments.

    Example:
        >>> import torch
        >>> from patchfold.monai import sliding_window_inference
        >>> image = torch.rand(1, 1, 40, 30)
        >>> y = sliding_window_inference(image, (16, 16), 4, lambda x: torch.cat([x, -x], 1), overlap=0.5, mode="gaussian")
        >>> y.shape, torch.allclose(y[:, :1], image)
        (torch.Size([1, 2, 40, 30]), True)
    """
    if not isinstance(inputs, torch.Tensor):
        raise InvalidType(NAME, "inputs", "must be a torch tensor", given_text(inputs), "torch.as_tensor(..)")
    plain: torch.Tensor = cast(Any, inputs).as_tensor() if _is_meta_tensor(inputs) else inputs
    windows = Windows(tuple(plain.shape), roi_size, overlap)
    windows.check_buffers(buffer_steps, buffer_dim)
    most = windows.batch(sw_batch_size)
    where = torch.device(plain.device if device is None else device)
    runs_on = torch.device(plain.device if sw_device is None else sw_device)
    condition = kwargs.pop("condition", None)
    if condition is not None:
        windows.check_condition(condition)
    mode, padding_mode = word(mode), _padding_word(word(padding_mode), cval)
    weights = windows.weights(mode, sigma_scale, roi_weight_map)
    outputs = Outputs(windows, weights, plain, where, out)
    importance = None if process_fn is None else _for_process_fn(windows, weights, roi_weight_map, plain, runs_on)

    def cut(x: torch.Tensor, group: range) -> torch.Tensor:
        # The windows are copies, made by torch.cat, since a predictor may change them.
        part = torch.cat([x[windows.read(i)] for i in group])
        if any(windows.padding):
            if padding_mode == "symmetric":  # torch lacks this mode
                pairs = zip(windows.padding[::2], windows.padding[1::2], strict=True)
                part = pad(part, list(pairs)[::-1], padding_mode)
            else:
                part = functional.pad(part, windows.padding, padding_mode, cval if padding_mode == "constant" else None)
        return part.to(runs_on)

    with progress_of(progress, len(windows)) as done:
        for first in range(0, len(windows), most):
            group = range(first, min(first + most, len(windows)))
            data = cut(plain, group)
            if condition is not None:
                kwargs["condition"] = cut(condition, group)
            coordinates = ([windows.slices(i) for i in group],) if with_coord else ()
            keys, results = unpacked(predictor(data, *coordinates, *args, **kwargs))
            own = None
            if process_fn is not None:
                results, own = process_fn(results, data, importance)
            del data  # the windows, before the sums take memory
            outputs.add(group, keys, results, own)
            del results
            done(len(group))
    merged = outputs.finish()
    if out is None and _is_meta_tensor(inputs):
        kind: Any = type(inputs)
        merged = [kind(each).copy_meta_from(inputs, copy_attr=False) for each in merged]
    return packed(outputs.keys, merged)


def _padding_word(mode: Any, cval: Any) -> Any:
    """Returns torch's word for a mode of padding; any other value unchanged, which torch refuses."""
    if not isinstance(mode, str):
        return mode
    check_fill(NAME, "padding_mode", mode, "cval", float(cval or 0))
    here = word_here(mode)
    return {"edge": "replicate", "wrap": "circular"}.get(here, here)


def _is_meta_tensor(x: torch.Tensor) -> bool:
    module = sys.modules.get("monai.data.meta_tensor")
    return module is not None and isinstance(x, module.MetaTensor)


def word(value: Any) -> Any:
    """Returns the text of a value of MONAI's enumerations BlendMode and PytorchPadMode, or of a plain text."""
    return str(getattr(value, "value", value)) if isinstance(value, str) else value


def _for_process_fn(
    windows: Windows, weights: Any, given: torch.Tensor | None, inputs: torch.Tensor, device: torch.device
) -> torch.Tensor:
    """Returns the weights for process_fn: the given map, or else the weights of a window's elements, with the window's
    extents."""
    kind = inputs.dtype if inputs.dtype.is_floating_point or inputs.dtype.is_complex else torch.float32
    if given is not None:
        return torch.as_tensor(given).to(device, kind)
    whole = torch.ones(windows.roi) if weights is None else torch.from_numpy(weights)
    return whole.to(device, kind)

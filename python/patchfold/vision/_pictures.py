# SPDX-License-Identifier: Apache-2.0
"""Pictures and videos of every kind as arrays of bytes with channels last."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arrays.kinds import is_numpy, is_torch
from .._arrays.memory import memory
from .._errors import InvalidType, InvalidValue, type_name, value_text

Pixels = npt.NDArray[np.uint8]


def decoded(op: str, picture: Any, place: str) -> Pixels:
    """Returns a picture as (rows, columns, 3)."""
    if is_numpy(picture) or is_torch(picture):
        return _from_array(op, picture, place)
    try:
        from PIL import Image, ImageOps
    except ModuleNotFoundError:
        raise InvalidType(
            op, place, "needs Pillow, unless it is an array", type_name(picture), "pip install pillow"
        ) from None
    if not isinstance(picture, (bytes, bytearray, memoryview, str, os.PathLike, Image.Image)):
        rule = "must be an array, a path, the bytes of a file, or a picture of Pillow"
        raise InvalidType(op, place, rule, type_name(picture))
    try:
        if isinstance(picture, Image.Image):
            image = picture
            image.load()
        else:
            source = io.BytesIO(bytes(picture)) if isinstance(picture, (bytes, bytearray, memoryview)) else picture
            with Image.open(source) as opened:
                image = ImageOps.exif_transpose(opened)
                image.load()
    except Exception as error:  # files that are damaged make Pillow raise errors of many kinds
        raise InvalidValue(op, place, "must be a picture that Pillow can read", value_text(error)) from error
    if image.mode.startswith(("I", "F")):
        rule = "must have 8 bits for each channel"
        raise InvalidValue(op, place, rule, f"mode {image.mode}", "a picture that is scaled to 8 bits")
    if not all(image.size):
        raise InvalidValue(op, place, "must have pixels", str(image.size))
    try:
        if "A" in image.getbands() or image.info.get("transparency") is not None:
            image = image.convert("RGBA")
            image = Image.alpha_composite(Image.new("RGBA", image.size, (255, 255, 255, 255)), image)
        return np.asarray(image.convert("RGB"))
    except (TypeError, ValueError) as error:  # a mode, or what the picture says of its transparency
        rule = "must be a picture that Pillow can convert to RGB"
        raise InvalidValue(op, place, rule, f"mode {image.mode}: {value_text(error)}") from None


def _from_array(op: str, picture: Any, place: str) -> Pixels:
    """Returns an array (3 or 1, H, W), (H, W, 3 or 1) or (H, W) as (H, W, 3)."""
    picture = _bytes(op, picture, place)
    pixels: Pixels = picture[None] if picture.ndim == 2 else picture
    if pixels.ndim == 3 and pixels.shape[0] in (1, 3):
        pixels = np.moveaxis(pixels, 0, -1)
    if pixels.ndim != 3 or pixels.shape[-1] not in (1, 3):
        rule = "must have one or three channels, as its first or last axis"
        raise InvalidValue(op, place, rule, str(picture.shape), "(3, H, W), (H, W, 3) or (H, W)", code="shape")
    if 0 in pixels.shape:
        raise InvalidValue(op, place, "must have pixels", str(picture.shape), code="shape")
    return np.broadcast_to(pixels, (*pixels.shape[:2], 3))


def _bytes(op: str, array: Any, place: str) -> Pixels:
    """Returns an array or tensor of bytes as an array."""
    if is_torch(array):
        memory(array, op, place, False)  # refuses a tensor that lies elsewhere
        if str(array.dtype) == "torch.uint8":
            array = array.detach().numpy()
    if str(array.dtype) != "uint8":
        raise InvalidType(op, place, "must have bytes as elements", str(array.dtype), "uint8")
    pixels: Pixels = array
    return pixels


def is_video(value: Any) -> bool:
    """Returns whether a value is one array with frames."""
    return (is_numpy(value) or is_torch(value)) and value.ndim == 4


def frames_of(op: str, video: Any, place: str) -> Pixels:
    """Returns a video, an array (T, 3 or 1, H, W) or (T, H, W, 3 or 1) or a list of pictures, as (T, H, W, 3)."""
    if is_video(video):
        pixels = _bytes(op, video, place)
        if pixels.shape[1] in (1, 3):
            pixels = np.moveaxis(pixels, 1, -1)
        if pixels.shape[-1] not in (1, 3):
            rule, expected = "must have one or three channels", "(T, 3, H, W) or (T, H, W, 3)"
            raise InvalidValue(op, place, rule, str(video.shape), expected, code="shape")
        if 0 in pixels.shape:
            raise InvalidValue(op, place, "must have frames with pixels", str(video.shape), code="shape")
        return np.broadcast_to(pixels, (*pixels.shape[:3], 3))
    if not isinstance(video, (list, tuple)):
        rule = "must be an array with frames, or a list of pictures"
        raise InvalidType(op, place, rule, type_name(video), "(T, 3, H, W) or (T, H, W, 3)")
    frames = [decoded(op, frame, f"{place}[{i}]") for i, frame in enumerate(video)]
    if not frames or any(frame.shape != frames[0].shape for frame in frames):
        rule = "must have at least one frame, and frames of one size"
        raise InvalidValue(op, place, rule, str([frame.shape[:2] for frame in frames]))
    return np.stack(frames)


def centre(images: Pixels, size: tuple[int, int]) -> Pixels:
    """Returns the middle of pictures (.., rows, columns, 3); zeros surround pictures that are smaller."""
    height, width = size
    rows, columns = images.shape[-3:-1]
    if height > rows or width > columns:
        above, left = max(0, (height - rows) // 2), max(0, (width - columns) // 2)
        below, right = max(0, height - rows - above), max(0, width - columns - left)
        images = framed(images, (above, below, left, right))
        rows, columns = images.shape[-3:-1]
    top, side = (rows - height) // 2, (columns - width) // 2
    return images[..., top : top + height, side : side + width, :]


def framed(images: Pixels, widths: tuple[int, int, int, int], colour: Sequence[int] = (0, 0, 0)) -> Pixels:
    """Returns pictures (.., rows, columns, 3) with borders of one colour; widths: above, below, left and right."""
    above, below, left, right = widths
    rows, columns = images.shape[-3:-1]
    result = np.empty((*images.shape[:-3], above + rows + below, left + columns + right, 3), np.uint8)
    result[:] = colour
    result[..., above : above + rows, left : left + columns, :] = images
    return result

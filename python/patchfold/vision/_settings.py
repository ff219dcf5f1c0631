# SPDX-License-Identifier: Apache-2.0
"""The settings of preprocessor_config.json and video_preprocessor_config.json, and their defaults."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from .._errors import InvalidType, InvalidValue, given_text, text_in, type_name, value_text
from .._operators.tokens import patchify
from ._pictures import Pixels, centre
from ._resize import resize
from ._sizes import Size, by_rule
from ._tables import normalization_table

Result = dict[str, npt.NDArray[Any]]
Backend = Literal["torchvision", "pil"]
FILTERS = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")  # in the order of Pillow's numbers
_CLIP: dict[str, Any] = {
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_std": [0.26862954, 0.26130258, 0.27577711],
    "resample": 3,
}
_HALF: dict[str, Any] = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5], "resample": 2}
COMMON: dict[str, Any] = {"do_resize": True, "do_rescale": True, "do_normalize": True, "rescale_factor": 1 / 255}
_QWEN = _CLIP | {"patch_size": 14, "temporal_patch_size": 2, "merge_size": 2}
_CROP = _CLIP | {"size": {"shortest_edge": 224}, "do_center_crop": True, "crop_size": {"height": 224, "width": 224}}
_STEPS = range(384, 2305, 384)
_SQUARE = _HALF | {"size": {"height": 224, "width": 224}}
IMAGES: dict[str, dict[str, Any]] = {
    "CLIPImageProcessor": _CROP,
    "Gemma3ImageProcessor": _SQUARE
    | {
        "do_pan_and_scan": False,
        "pan_and_scan_min_crop_size": None,
        "pan_and_scan_max_num_crops": None,
        "pan_and_scan_min_ratio_to_activate": None,
    },
    "Gemma4ImageProcessor": {
        "image_mean": [0.0] * 3,
        "image_std": [1.0] * 3,
        "resample": 3,
        "do_normalize": False,
        "patch_size": 16,
        "max_soft_tokens": 280,
        "pooling_kernel_size": 3,
    },
    "Glm4vImageProcessor": _QWEN | {"size": {"shortest_edge": 112 * 112, "longest_edge": 28 * 28 * 15000}},
    "GotOcr2ImageProcessor": _CLIP
    | {"size": {"height": 384, "width": 384}, "crop_to_patches": False, "min_patches": 1, "max_patches": 12},
    "LlavaImageProcessor": _CROP,
    "LlavaNextImageProcessor": _CROP
    | {"image_grid_pinpoints": [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]], "do_pad": True},
    "LlavaOnevisionImageProcessor": _CLIP
    | {
        "size": {"height": 384, "width": 384},
        "do_center_crop": False,
        "crop_size": None,
        "image_grid_pinpoints": [[rows, columns] for rows in _STEPS for columns in _STEPS],
        "do_pad": True,
    },
    "PixtralImageProcessor": _CLIP
    | {"size": {"longest_edge": 1024}, "patch_size": {"height": 16, "width": 16}, "do_pad": True},
    "Qwen2VLImageProcessor": _QWEN | {"size": {"shortest_edge": 56 * 56, "longest_edge": 28 * 28 * 1280}},
    "Siglip2ImageProcessor": _HALF | {"patch_size": 16, "max_num_patches": 256},
    "SiglipImageProcessor": _SQUARE | {"resample": 3},
}
_QWEN_VIDEO = {"do_sample_frames": False, "cap_pixels_per_frame": False}
VIDEOS: dict[str, dict[str, Any]] = {
    "Glm4vVideoProcessor": _QWEN
    | {"do_sample_frames": True, "size": {"shortest_edge": 112 * 112, "longest_edge": 28 * 28 * 2 * 30000}},
    "LlavaOnevisionVideoProcessor": _CLIP
    | {"do_sample_frames": False, "size": {"height": 384, "width": 384}, "do_center_crop": False, "crop_size": None},
    "Qwen2VLVideoProcessor": _QWEN
    | _QWEN_VIDEO
    | {"max_video_tokens": 128000, "size": {"shortest_edge": 128 * 28 * 28, "longest_edge": 28 * 28 * 768}},
    "Qwen3VLVideoProcessor": _QWEN
    | _HALF
    | _QWEN_VIDEO
    | {
        "resample": 3,
        "patch_size": 16,
        "max_video_tokens": 768,
        "size": {"shortest_edge": 128 * 32 * 32, "longest_edge": 32 * 32 * 768},
    },
}
"""The settings of each known processor of transformers that a configuration may leave out."""
_HONOURED = {"do_convert_rgb", "do_resize", "do_rescale", "do_normalize"}
TOKENS = ("Gemma4", "Glm4v", "Qwen2VL", "Qwen3VL", "Siglip2")
"""The families whose pictures become tokens, so that their sizes must be multiples of the patches."""
_MOST = {"max_patches": 1000} | dict.fromkeys(("crop_size", "max_num_patches", "max_soft_tokens"), 1 << 20)
_MOST |= dict.fromkeys(("merge_size", "patch_size", "pooling_kernel_size", "temporal_patch_size"), 1024)
"""The largest numbers of settings that multiply each other."""
_SQUARES = ("Gemma3ImageProcessor", "PixtralImageProcessor")
"""The processors for which a size of one number is a square."""


class Settings:
    """The settings of one processor; the base of the processors of pictures and of videos.

    _op: the name of the class in errors. name: the processor of transformers. _table: the numbers of the bytes, (3, 256).
    """

    _op: str
    _kind: str
    _file: str
    _known: dict[str, dict[str, Any]]

    def __init__(self, config: Mapping[str, Any], backend: Backend) -> None:
        op = self._op
        if not isinstance(config, Mapping):
            raise InvalidType(op, "config", "must be a mapping of settings", type_name(config))
        if text_in(backend) not in ("torchvision", "pil"):
            kind = InvalidValue if isinstance(backend, str) else InvalidType
            raise kind(op, "backend", "must be one of 'torchvision', 'pil'", given_text(backend))
        named = text_in(config.get(self._kind)) or ""
        self.name = named.removesuffix("Fast").removesuffix("Pil")
        if self.name not in self._known:
            known = ", ".join(sorted(self._known))
            raise InvalidValue(op, self._kind, "is not known here", given_text(named), f"one of {known}")
        self._settings = COMMON | self._known[self.name] | {key: each for key, each in config.items() if each is not None}
        self._size = self._read_size()
        self._check_flags(config)
        number = self._whole("resample", 0)
        if number >= len(FILTERS) or (backend == "torchvision" and FILTERS[number] not in ("bilinear", "bicubic")):
            expected = "2 (bilinear) or 3 (bicubic)" + (', or backend="pil"' if backend == "torchvision" else "")
            raise InvalidValue(op, "resample", "is not supported", str(number), expected)
        self._filter: Any = FILTERS[number]
        self._point: Any = "torch" if backend == "torchvision" else "pillow"
        normalizes = bool(self._settings["do_normalize"])
        table = normalization_table(
            self._settings["image_mean"] if normalizes else None,
            self._settings["image_std"] if normalizes else None,
            scale=self._settings["rescale_factor"] if self._settings["do_rescale"] else None,
            formula=backend,
        )
        if table.shape not in ((256,), (3, 256)):
            raise InvalidValue(op, "image_mean", "must be one number, or three", str(len(table)), code="length")
        if not np.isfinite(table).all():
            given = {key: self._settings[key] for key in ("rescale_factor", "image_mean", "image_std")}
            rule = "must give finite numbers with image_mean and image_std"
            raise InvalidValue(op, "rescale_factor", rule, value_text(given))
        self._table: npt.NDArray[np.float32] = np.broadcast_to(table, (3, 256))

    @classmethod
    def _config_of(cls, path: str | os.PathLike[str]) -> Any:
        """Returns what a file of settings holds; path: the file or its folder."""
        if os.path.isdir(path):
            path = os.path.join(path, cls._file)
        with open(path, encoding="utf-8") as file:
            try:
                return json.load(file)
            except (ValueError, RecursionError) as error:
                raise InvalidValue(cls._op, "config", "must be a file of JSON", value_text(error), str(path)) from None

    def _check_flags(self, config: Mapping[str, Any]) -> None:
        """Refuses settings that would change the result, but are not known here."""
        allowed = _HONOURED | self._known[self.name].keys()
        for key, value in config.items():
            is_flag = str(key).startswith("do_")
            if is_flag and value and key not in allowed:
                raise InvalidValue(self._op, key, f"is not supported for {self.name}", value_text(value), "false")
            if (is_flag or type(self._known[self.name].get(key)) is bool) and not isinstance(value, (bool, type(None))):
                raise InvalidType(self._op, key, "must be true or false", given_text(value))
        if self.name.startswith(TOKENS) and not self._settings["do_resize"]:
            raise InvalidValue(self._op, "do_resize", f"must be true for {self.name}", "false")

    def _whole(self, key: str, least: int = 1, value: Any = None) -> int:
        """Returns a setting that is a whole number."""
        number = self._settings[key] if value is None else value
        if type(number) is not int:
            raise InvalidType(self._op, key, "must be a whole number", given_text(number))
        most = _MOST.get(key, 1 << 31)
        if not least <= number <= most:
            raise InvalidValue(self._op, key, f"must be from {least} to {most}", value_text(number))
        return number

    def _sizes(self, key: str, square: bool) -> dict[str, int]:
        """Returns a setting with extents; a single number is the shortest edge, or both with `square`."""
        given = self._settings[key]
        if type(given) is int:
            given = {"height": given, "width": given} if square else {"shortest_edge": given}
        if not isinstance(given, Mapping):
            raise InvalidType(self._op, key, "must be a mapping of extents, or a number", given_text(given))
        return {str(name): self._whole(key, 1, each) for name, each in given.items() if each is not None}

    def _read_size(self) -> dict[str, int]:
        if "size" not in self._known[self.name]:
            return {}
        size = self._sizes("size", square=self.name in _SQUARES)
        if self.name.startswith(("Qwen", "Glm4v")):
            if self.name.startswith("Qwen2VL"):
                for key, edge in (("min_pixels", "shortest_edge"), ("max_pixels", "longest_edge")):
                    if self._settings.get(key) is not None:
                        size[edge] = self._whole(key)
            if not {"shortest_edge", "longest_edge"} <= size.keys():
                raise InvalidValue(self._op, "size", "must have shortest_edge and longest_edge", str(size))
        return size

    def _resized(self, image: Pixels, size: Size) -> Pixels:
        """Returns pictures (.., rows, columns, 3) in another size."""
        if image.shape[-3:-1] == size:
            return image
        return np.asarray(resize(image, size, self._filter, layout="channels_last", fixed_point=self._point))

    def _cropped(self, image: Pixels) -> Pixels:
        """Returns the middle of pictures (.., rows, columns, 3) as do_center_crop asks for it."""
        if not self._settings.get("do_center_crop"):
            return image
        return centre(image, by_rule(1, 1, self._sizes("crop_size", square=True), self._op))

    def _normalized(self, images: Pixels, out: npt.NDArray[np.float32]) -> None:
        """Writes the numbers of pictures (.., rows, columns, 3) to out (.., 3, rows, columns)."""
        _core.apply_table(self._op, images, -1, self._table, np.moveaxis(out, -3, -1))

    def _merged(self, frames: Pixels, out: npt.NDArray[np.float32]) -> None:
        """Writes the tokens of a video in the order of Qwen-VL to out."""
        patch, merge, step = (self._whole(key) for key in ("patch_size", "merge_size", "temporal_patch_size"))
        patchify(
            frames,
            (step, patch, patch),
            order="qwen",
            merge_size=merge,
            layout="channels_last",
            repeat="last",
            table=self._table,
            out=out,
        )

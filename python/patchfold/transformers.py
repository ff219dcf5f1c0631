# SPDX-License-Identifier: Apache-2.0
"""Makes the image and video processors of transformers run on patchfold, with the same bits."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

import transformers
from transformers.feature_extraction_utils import BatchFeature
from transformers.image_utils import SizeDict

from ._arrays.kinds import is_torch
from ._errors import Error
from .vision import Processor, VideoProcessor
from .vision._settings import COMMON, IMAGES, TOKENS, VIDEOS

_IGNORED = {
    *("data_format", "default_to_square", "device", "disable_grouping", "do_convert_rgb", "do_sample_frames", "fps"),
    *("input_data_format", "max_duration", "max_frames", "max_image_size", "min_frames", "num_frames", "return_metadata"),
    *("return_tensors", "video_metadata"),
}
"""Arguments that do not change the numbers of pictures that are read, or of frames that are picked."""

_lock = threading.Lock()
_installed: list[Installation] = []
_replaced: dict[type, tuple[Callable[..., Any] | None, Callable[..., Any]]] = {}
"""Maps a class of transformers to its own _preprocess (None if it inherits one) and to patchfold's, while that is
installed."""


class Installation:
    """The handle that install() returns. As a context manager, a handle removes the installation at the end of the block."""

    def remove(self) -> None:
        """Restores the processors of transformers once every installation is removed. A second removal of the same
        installation does nothing."""
        with _lock:
            if self not in _installed:
                return
            _installed.remove(self)
            if _installed:
                return
            for kind, (theirs, ours) in _replaced.items():
                if kind.__dict__.get("_preprocess") is not ours:
                    continue
                if theirs is None:
                    del kind._preprocess  # type: ignore[attr-defined]
                else:
                    kind._preprocess = theirs  # type: ignore[attr-defined]
            _replaced.clear()

    def __enter__(self) -> Installation:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def uninstall() -> None:
    """Removes every installation, even if its handle is lost. Does nothing without an installation."""
    for installation in list(_installed):
        installation.remove()


def install() -> Installation:
    """Makes the processors of transformers that patchfold.vision knows resize, normalize and cut by patchfold.

    These are the image processors of Processor, of both backends, and the video processors of VideoProcessor, also those
    that exist already and those inside of a model's processor. transformers still reads the pictures, picks frames, and
    checks its arguments. Its own code still handles pictures that are not three channels of bytes on the CPU, settings that
    patchfold.vision refuses, and subclasses.

    Returns an Installation: ``remove()`` restores transformers' code, and so does the end of a ``with`` block. Installations
    nest: transformers' own code returns once every installation is removed. ``uninstall()`` removes all.

    Source: transformers 5.24, whose every bit the results have.

    Example:
        >>> import numpy as np, transformers, patchfold.transformers
        >>> process = transformers.Qwen2VLImageProcessor()
        >>> with patchfold.transformers.install():
        ...     made = process(np.zeros((480, 640, 3), np.uint8), return_tensors="np")
        >>> made["pixel_values"].shape
        (1564, 1176)
    """
    installation = Installation()
    with _lock:
        if not _installed:
            for name in (*IMAGES, *(f"{name}Pil" for name in IMAGES), *VIDEOS):
                kind = getattr(transformers, name, None)
                if isinstance(kind, type) and hasattr(kind, "_preprocess"):
                    ours = _replacement(kind, name)
                    _replaced[kind] = (kind.__dict__.get("_preprocess"), ours)
                    kind._preprocess = ours
        _installed.append(installation)
    return installation


def _replacement(kind: Any, name: str) -> Callable[..., Any]:
    theirs = kind._preprocess

    @functools.wraps(theirs)
    def _preprocess(self: Any, *arguments: Any, **settings: Any) -> Any:
        if type(self) is kind:
            made = _made(self, name, arguments, settings)
            if made is not None:
                return made
        return theirs(self, *arguments, **settings)

    return _preprocess


def _made(processor: Any, name: str, arguments: tuple[Any, ...], settings: dict[str, Any]) -> BatchFeature | None:
    """Returns what patchfold makes of a call of _preprocess; None for a call that transformers must handle."""
    video, pil, form = name in VIDEOS, name.endswith("Pil"), settings.get("return_tensors")
    given = arguments[0] if arguments else settings.get("videos" if video else "images")
    name = name.removesuffix("Pil")
    if form not in ("pt", "np") and not (form is None and name.startswith(TOKENS[1:4])):
        return None
    if not isinstance(given, list) or not all(_is_rgb(each, 4 if video else 3) for each in given):
        return None
    others = {key: each for key, each in settings.items() if key not in ("images", "videos", "batch_num_images")}
    config = _config(processor, name, others)
    if config is None:
        return None
    counts = settings.get("batch_num_images", arguments[1] if len(arguments) > 1 else None)
    if counts is not None:
        rest = iter(given)
        given = [[next(rest) for _ in range(count)] for count in counts]
    try:
        made = _processor(video, json.dumps(config, sort_keys=True), "pil" if pil else "torchvision")(given)
    except (Error, TypeError):
        return None
    if form == "pt" or (form is None and not pil):
        import torch

        return BatchFeature(data={key: torch.from_numpy(each) for key, each in made.items()})
    return BatchFeature(data=made)


def _is_rgb(array: Any, rank: int) -> bool:
    """Returns whether a picture or video is three channels of bytes on the CPU."""
    here = not is_torch(array) or array.device.type == "cpu"
    return here and array.ndim == rank and array.shape[-3] == 3 and str(array.dtype).endswith("uint8")


@functools.lru_cache(maxsize=64)
def _processor(video: bool, config: str, backend: Any) -> Processor | VideoProcessor:
    read = json.loads(config)
    return VideoProcessor(read) if video else Processor(read, backend=backend)


def _config(processor: Any, name: str, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Returns the settings of a call as those of a file of configuration; None for settings that are not known here."""
    video = name in VIDEOS
    known = COMMON | (VIDEOS if video else IMAGES)[name]
    config: dict[str, Any] = {"video_processor_type" if video else "image_processor_type": name}
    for key, value in settings.items():
        if key in _IGNORED:
            continue
        plain = _plain(value)
        if plain is None:
            if key.startswith("do_") or known.get(key) is False:
                plain = False
            elif known.get(key) is not None:
                return None
            else:
                continue
        elif key not in known and not key.startswith("do_"):
            return None
        config[key] = plain
    # transformers takes these two from the processor, whatever the call says.
    if "max_video_tokens" in known:
        config["max_video_tokens"] = processor.max_video_tokens
    if name == "LlavaOnevisionImageProcessor" and _plain(processor.image_mean) != config.get("image_mean"):
        return None
    return config


def _plain(value: Any) -> Any:
    """Returns a setting as JSON has it."""
    if isinstance(value, (Mapping, SizeDict)):
        return {key: each for key, each in dict(value).items() if each is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value

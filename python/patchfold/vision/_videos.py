# SPDX-License-Identifier: Apache-2.0
"""The processors of videos of vision-language models: frames in, arrays for the model out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._errors import InvalidValue
from ._pictures import Pixels, frames_of, is_video
from ._settings import VIDEOS, Result, Settings
from ._sizes import Size, by_rule, within_pixels

_OP = "VideoProcessor"


class VideoProcessor(Settings):
    """Prepares videos for a vision-language model, with the bits of a video processor of transformers.

    The frames are those that the model sees: pick them first, for nothing here reads video files.

    Arguments:
        config: the settings of video_preprocessor_config.json. video_processor_type names the processor; a setting that is
            left out has the default of transformers. Known are the processors of Qwen2-VL and Qwen2.5-VL
            (Qwen2VLVideoProcessor), Qwen3-VL, GLM-4V and LLaVA-OneVision.

    Errors: InvalidValue for an unknown processor and for settings that would change the result in a way that is not
        supported; InvalidType for settings of the wrong type.

    Source: transformers 5.24.

    Example:
        >>> import numpy as np
        >>> from patchfold.vision import VideoProcessor
        >>> process = VideoProcessor({"video_processor_type": "Qwen2VLVideoProcessor"})
        >>> made = process(np.zeros((5, 280, 420, 3), np.uint8))
        >>> made["pixel_values_videos"].shape, made["video_grid_thw"].tolist()
        ((1800, 1176), [[3, 20, 30]])
    """

    _op = _OP
    _kind = "video_processor_type"
    _file = "video_preprocessor_config.json"
    _known = VIDEOS

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config, "torchvision")

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> VideoProcessor:
        """Returns the VideoProcessor of a file video_preprocessor_config.json, or of a folder that holds it. Raises
        InvalidValue for a file that is not JSON, and OSError for one that cannot be read."""
        return cls(cls._config_of(path))

    def __call__(self, videos: Any) -> Result:
        """Returns the arrays that the model takes, by their names in transformers.

        Arguments:
            videos: one video, or a list of at least one. A video is an array or a torch tensor of uint8, (T, 3, H, W) or
                (T, H, W, 3), also with one channel; or a list of pictures of one size, as Processor takes them.

        Returns: pixel_values_videos, float32, and for videos that become tokens their grids, video_grid_thw. The last frame
            is repeated until the frames fill whole patches.

        Errors: InvalidValue and InvalidType, which name the video.
        """
        several = isinstance(videos, (list, tuple)) and all(
            is_video(each) or isinstance(each, (list, tuple)) for each in videos
        )
        given = list(videos) if several else [videos]
        if not given:
            raise InvalidValue(_OP, "videos", "must be at least one video", "an empty list")
        single = len(given) == 1
        read = [frames_of(_OP, each, "videos" if single else f"videos[{i}]") for i, each in enumerate(given)]
        if self.name == "LlavaOnevisionVideoProcessor":
            return self._equal_videos(read)
        patch, step = self._whole("patch_size"), self._whole("temporal_patch_size")
        sizes = [self._size_of(frames) for frames in read]
        grids = np.array(
            [
                (-(-len(frames) // step), rows // patch, columns // patch)
                for frames, (rows, columns) in zip(read, sizes, strict=True)
            ],
            np.int64,
        )
        ends = np.cumsum(grids.prod(1))
        values = np.empty((int(ends[-1]), 3 * step * patch * patch), np.float32)
        for frames, size, end, grid in zip(read, sizes, ends, grids, strict=True):
            self._merged(self._resized(frames, size), values[end - grid.prod() : end])
        return {"pixel_values_videos": values, "video_grid_thw": grids}

    def _size_of(self, frames: Pixels) -> Size:
        """Returns the size that the frames of a video get."""
        count, rows, columns = frames.shape[:3]
        step = self._whole("temporal_patch_size")
        factor = self._whole("patch_size") * self._whole("merge_size")
        least, most = self._size["shortest_edge"], self._size["longest_edge"]
        floor = int(least * 1.05)
        capped = self._settings.get("cap_pixels_per_frame")
        if self.name == "Qwen2VLVideoProcessor":
            if capped:
                budget = int(self._whole("max_video_tokens") * factor * factor * 0.9)
                most = max(min(most, budget * step // count), floor)
            return within_pixels(rows, columns, factor, least, most, op=_OP)
        if count < step:
            raise InvalidValue(_OP, "videos", f"must have at least {step} frames", str(count))
        if capped:
            most = count * max(min(self._whole("max_video_tokens") * factor * factor, most // count), floor)
        return within_pixels(rows, columns, factor, least, most, count, round(count / step) * step, _OP)

    def _equal_videos(self, videos: list[Pixels]) -> Result:
        if self._settings["do_resize"]:
            videos = [self._resized(video, by_rule(video.shape[1], video.shape[2], self._size, _OP)) for video in videos]
        videos = [self._cropped(video) for video in videos]
        shape = videos[0].shape
        if any(video.shape != shape for video in videos):
            rule = "must have one size after resizing, and one number of frames"
            raise InvalidValue(_OP, "videos", rule, str([video.shape[:3] for video in videos]))
        values = np.empty((len(videos), shape[0], 3, *shape[1:3]), np.float32)
        for video, to in zip(videos, values, strict=True):
            self._normalized(video, to)
        return {"pixel_values_videos": values}

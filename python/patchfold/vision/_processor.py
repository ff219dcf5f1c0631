# SPDX-License-Identifier: Apache-2.0
"""The processors of pictures of vision-language models: pictures in, arrays for the model out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._errors import InvalidType, InvalidValue, given_text, value_text
from .._operators.tokens import patchify
from ._padding import patch_positions, token_mask
from ._pictures import Pixels, decoded, framed
from ._settings import IMAGES, Backend, Result, Settings
from ._sizes import OP, Size, at_most_patches, best_fit, by_rule, in_box, pans, tile_grid, whole_pools, within, within_pixels


class Processor(Settings):
    """Prepares pictures for a vision-language model, with the bits of a processor of transformers.

    Arguments:
        config: the settings of preprocessor_config.json. image_processor_type names the processor; a setting that is left
            out has the default of transformers. Known are the processors of Qwen2-VL, Qwen2.5-VL and Qwen3-VL
            (Qwen2VLImageProcessor), GLM-4V, SigLIP, SigLIP 2, Gemma 3, Gemma 4, Pixtral, InternVL (GotOcr2ImageProcessor),
            LLaVA, LLaVA-NeXT, LLaVA-OneVision and CLIP.
        backend: whose bits the result has: "torchvision", the standard in transformers, or "pil".

    Errors: InvalidValue for an unknown processor and for settings that would change the result in a way that is not
        supported; InvalidType for settings of the wrong type.

    Source: transformers 5.24.

    Example:
        >>> import numpy as np
        >>> from patchfold.vision import Processor
        >>> process = Processor({"image_processor_type": "Qwen2VLImageProcessor"})
        >>> made = process([np.zeros((480, 640, 3), np.uint8), np.zeros((100, 100, 3), np.uint8)])
        >>> made["pixel_values"].shape, made["image_grid_thw"].tolist()
        ((1628, 1176), [[1, 34, 46], [1, 8, 8]])
    """

    _op = OP
    _kind = "image_processor_type"
    _file = "preprocessor_config.json"
    _known = IMAGES

    def __init__(self, config: Mapping[str, Any], *, backend: Backend = "torchvision") -> None:
        super().__init__(config, backend)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, backend: Backend = "torchvision") -> Processor:
        """Returns the Processor of a file preprocessor_config.json, or of a folder that holds it. Raises InvalidValue for a
        file that is not JSON, and OSError for one that cannot be read."""
        return cls(cls._config_of(path), backend=backend)

    def __call__(self, pictures: Any) -> Result:
        """Returns the arrays that the model takes, by their names in transformers.

        Arguments:
            pictures: one picture, or a list of at least one. A picture is an array or a torch tensor of uint8, (3, H, W),
                (H, W, 3), (1, H, W), (H, W, 1) or (H, W); a path or the bytes of a file that Pillow reads, turned as its
                EXIF data say; or a picture of Pillow. Transparent pictures are put on white. LLaVA-OneVision also takes
                lists of pictures that belong together; such pictures are not cut into tiles.

        Returns: pixel_values, float32, and the grids or masks of the model.

        Errors: InvalidValue and InvalidType, which name the picture.
        """
        given = list(pictures) if isinstance(pictures, (list, tuple)) else [pictures]
        counts = [1] * len(given)
        if self.name == "LlavaOnevisionImageProcessor" and given and isinstance(given[0], (list, tuple)):
            groups = [each if isinstance(each, (list, tuple)) else [each] for each in given]
            counts = [len(group) for group in groups if group]
            given = [each for group in groups for each in group]
        if not given:
            raise InvalidValue(OP, "pictures", "must be at least one picture", "an empty list")
        single = len(given) == 1
        images = [decoded(OP, each, "pictures" if single else f"pictures[{i}]") for i, each in enumerate(given)]
        if self.name in ("Qwen2VLImageProcessor", "Glm4vImageProcessor"):
            return self._merged_tokens(images)
        if self.name in ("Gemma4ImageProcessor", "Siglip2ImageProcessor"):
            return self._padded_tokens(images)
        if self.name == "PixtralImageProcessor":
            return self._padded_pictures(images)
        if self.name.startswith(("LlavaNext", "LlavaOnevision")):
            return self._padded_tiles(images, counts)
        return self._equal_pictures(images)

    def _merged_tokens(self, images: list[Pixels]) -> Result:
        patch, merge, frames = (self._whole(key) for key in ("patch_size", "merge_size", "temporal_patch_size"))
        edges = self._size["shortest_edge"], self._size["longest_edge"]
        shown = frames if self.name == "Glm4vImageProcessor" else 1
        sizes = [within_pixels(*_size(image), patch * merge, *edges, shown) for image in images]
        grids = np.array([(1, rows // patch, columns // patch) for rows, columns in sizes], np.int64)
        ends = np.cumsum(grids.prod(1))
        values = np.empty((int(ends[-1]), 3 * frames * patch * patch), np.float32)
        for image, size, end, grid in zip(images, sizes, ends, grids, strict=True):
            small = self._resized(image, size)
            self._merged(np.broadcast_to(small, (frames, *small.shape)), values[end - grid.prod() : end])
        return {"pixel_values": values, "image_grid_thw": grids}

    def _padded_tokens(self, images: list[Pixels]) -> Result:
        patch = self._whole("patch_size")
        pool = 1
        if self.name == "Gemma4ImageProcessor":
            pool = self._whole("pooling_kernel_size")
            most = self._whole("max_soft_tokens") * pool**2
            sizes = [whole_pools(*_size(image), patch, pool, most) for image in images]
        else:
            most = self._whole("max_num_patches")
            sizes = [at_most_patches(*_size(image), patch, most) for image in images]
        shapes = np.array(sizes, np.int64) // patch
        counts = shapes.prod(1)
        if counts.max() > most:
            raise InvalidValue(OP, "pictures", f"must fit into {most} patches", str(sizes[int(counts.argmax())]))
        values = np.zeros((len(images), most, patch * patch * 3), np.float32)
        for image, size, to, count in zip(images, sizes, values, counts, strict=True):
            patchify(self._resized(image, size), patch, layout="channels_last", table=self._table, out=to[:count])
        if self.name == "Siglip2ImageProcessor":
            mask = token_mask(counts.tolist(), most)
            return {"pixel_values": values, "pixel_attention_mask": mask, "spatial_shapes": shapes}
        places = patch_positions(shapes.tolist(), most)
        return {"pixel_values": values, "image_position_ids": places, "num_soft_tokens_per_image": counts // pool**2}

    def _padded_pictures(self, images: list[Pixels]) -> Result:
        patch = by_rule(1, 1, self._sizes("patch_size", square=True))
        edge = self._size.get("longest_edge")
        most = by_rule(1, 1, self._size) if edge is None else (edge, edge)
        if self._settings["do_resize"]:
            images = [self._resized(image, in_box(*_size(image), most, patch)) for image in images]
        shapes = np.array([image.shape[:2] for image in images], np.int64)
        if not self._settings["do_pad"] and (shapes != shapes[0]).any():
            raise InvalidValue(OP, "do_pad", "must be true for pictures of different sizes", "false")
        rows, columns = (int(extent) for extent in shapes.max(0))
        values = np.zeros((len(images), 3, rows, columns), np.float32)
        for image, to in zip(images, values, strict=True):
            self._normalized(image, to[:, : image.shape[0], : image.shape[1]])
        return {"pixel_values": values, "image_sizes": shapes}

    def _equal_pictures(self, images: list[Pixels]) -> Result:
        extra: Result = {}
        if self.name == "GotOcr2ImageProcessor":
            if self._settings["crop_to_patches"]:
                cut = [self._tiles(image) for image in images]
                extra["num_patches"] = np.array([len(tiles) for tiles in cut], np.int64)
                images = [tile for tiles in cut for tile in tiles]
            else:
                extra["num_patches"] = np.ones(len(images), np.int64)
        if self.name == "Gemma3ImageProcessor":
            cut = [self._pans(image) for image in images]
            extra["num_crops"] = np.array([len(crops) for crops in cut], np.int64)
            images = [each for image, crops in zip(images, cut, strict=True) for each in (image, *crops)]
        return {"pixel_values": self._stacked(images), **extra}

    def _stacked(self, images: Sequence[Pixels]) -> Any:
        """Returns the numbers of pictures that have one size after they are resized and cropped."""
        if self._settings["do_resize"]:
            images = [self._resized(image, by_rule(*_size(image), self._size)) for image in images]
        images = [self._cropped(image) for image in images]
        shape = images[0].shape
        if any(image.shape != shape for image in images):
            rule = "must have one size after resizing"
            raise InvalidValue(OP, "pictures", rule, str([image.shape[:2] for image in images]))
        values = np.empty((len(images), 3, *shape[:2]), np.float32)
        for image, to in zip(images, values, strict=True):
            self._normalized(image, to)
        return values

    def _pans(self, image: Pixels) -> list[Pixels]:
        """Returns the crops of a long picture."""
        if not self._settings["do_pan_and_scan"]:
            return []
        ratio = self._settings["pan_and_scan_min_ratio_to_activate"]
        if not isinstance(ratio, (int, float)):
            raise InvalidType(OP, "pan_and_scan_min_ratio_to_activate", "must be a number", given_text(ratio))
        least, most = (self._whole(f"pan_and_scan_{key}") for key in ("min_crop_size", "max_num_crops"))
        found = pans(*_size(image), least, most, ratio)
        return [] if found is None else _cut(image, *found)

    def _padded_tiles(self, images: list[Pixels], counts: list[int]) -> Result:
        """Returns the tiles of each picture behind the whole picture; zeros stand for tiles that a picture lacks."""
        crop = self._sizes("crop_size", square=True) if self._settings["crop_size"] is not None else {}
        edge = self._size.get("shortest_edge", 0)
        size = by_rule(1, 1, self._size)
        tile = crop.get("height", size[0])
        alone = [count == 1 for count in counts for _ in range(count)]
        stacks = []
        for image, is_alone in zip(images, alone, strict=True):
            if not is_alone:
                parts = [self._squared(image)]
            else:
                target = best_fit(*_size(image), self._pinpoints())
                small = self._resized(image, within(*_size(image), target))
                above, left = ((whole - part) // 2 for whole, part in zip(target, _size(small), strict=True))
                below, right = target[0] - small.shape[0] - above, target[1] - small.shape[1] - left
                large = framed(small, (above, below, left, right))
                grid = -(-target[0] // tile), -(-target[1] // tile)
                whole = (edge, edge) if edge else size
                parts = [self._resized(image, whole), *_cut(large, grid, (tile, tile))]
            stacks.append(self._stacked(parts))
        most = max(map(len, stacks))
        if not self._settings["do_pad"] and any(len(stack) != most for stack in stacks):
            raise InvalidValue(OP, "do_pad", "must be true for pictures with different numbers of tiles", "false")
        values = np.zeros((len(stacks), most, *stacks[0].shape[1:]), np.float32)
        for stack, to in zip(stacks, values, strict=True):
            to[: len(stack)] = stack
        made = {"pixel_values": values, "image_sizes": np.array([_size(image) for image in images], np.int64)}
        if self.name == "LlavaOnevisionImageProcessor":
            made["batch_num_images"] = np.array(counts, np.int64)
        return made

    def _pinpoints(self) -> list[Size]:
        """Returns the sizes of image_grid_pinpoints."""
        key, given = "image_grid_pinpoints", self._settings["image_grid_pinpoints"]
        if not isinstance(given, (list, tuple)) or not all(
            isinstance(each, (list, tuple)) and len(each) == 2 for each in given
        ):
            raise InvalidType(OP, key, "must be a list of (rows, columns)", given_text(given))
        return [(self._whole(key, 1, rows), self._whole(key, 1, columns)) for rows, columns in given]

    def _squared(self, image: Pixels) -> Pixels:
        """Returns a picture within a square of the mean colour."""
        rows, columns = _size(image)
        above, left = max(0, columns - rows) // 2, max(0, rows - columns) // 2
        below, right = max(0, columns - rows) - above, max(0, rows - columns) - left
        mean = np.broadcast_to(np.asarray(self._settings["image_mean"], np.float64), 3)
        colour = [int(each * 255) for each in mean]
        if not 0 <= min(colour) <= max(colour) <= 255:
            rule = "must be from 0 to 1 for pictures that belong together, which it surrounds"
            raise InvalidValue(OP, "image_mean", rule, value_text(self._settings["image_mean"]))
        return framed(image, (above, below, left, right), colour)

    def _tiles(self, image: Pixels) -> Sequence[Pixels]:
        """Returns the tiles of a picture, and the whole picture as the last tile if there are several."""
        height, width = by_rule(1, 1, self._size)
        grid = tile_grid(*_size(image), (height, width), self._whole("min_patches"), self._whole("max_patches"))
        large = self._resized(image, (grid[0] * height, grid[1] * width))
        tiles = _cut(large, grid, (height, width))
        return tiles if len(tiles) == 1 else [*tiles, self._resized(image, (height, width))]


def _size(image: Pixels) -> Size:
    return image.shape[0], image.shape[1]


def _cut(image: Pixels, grid: Size, tile: Size) -> list[Pixels]:
    """Returns the tiles of a grid, row by row; tiles at the lower and right border may be smaller."""
    rows, columns = tile
    return [
        image[row * rows : (row + 1) * rows, column * columns : (column + 1) * columns]
        for row in range(grid[0])
        for column in range(grid[1])
    ]

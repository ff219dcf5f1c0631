# SPDX-License-Identifier: Apache-2.0
"""The processors of vision-language models: pictures in, arrays for the model out."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays.kinds import is_numpy, is_torch
from .._arrays.memory import memory
from .._errors import InvalidType, InvalidValue, given_text, text_in, type_name, value_text
from .._operators.tokens import patchify
from ._resize import resize
from ._sizes import OP, Size, at_most_patches, by_rule, in_box, tile_grid, whole_pools, within_pixels
from ._tables import normalization_table

Pixels = npt.NDArray[np.uint8]
Result = dict[str, npt.NDArray[Any]]
_FILTERS = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")  # in the order of Pillow's numbers
_CLIP = {
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_std": [0.26862954, 0.26130258, 0.27577711],
    "resample": 3,
}
_HALF = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5], "resample": 2}
COMMON: dict[str, Any] = {"do_resize": True, "do_rescale": True, "do_normalize": True, "rescale_factor": 1 / 255}
_QWEN = _CLIP | {"patch_size": 14, "temporal_patch_size": 2, "merge_size": 2}
_CROP = _CLIP | {"size": {"shortest_edge": 224}, "do_center_crop": True, "crop_size": {"height": 224, "width": 224}}
_SQUARE = _HALF | {"size": {"height": 224, "width": 224}}
DEFAULTS: dict[str, dict[str, Any]] = {
    "CLIPImageProcessor": _CROP,
    "Gemma3ImageProcessor": _SQUARE,
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
    "PixtralImageProcessor": _CLIP
    | {"size": {"longest_edge": 1024}, "patch_size": {"height": 16, "width": 16}, "do_pad": True},
    "Qwen2VLImageProcessor": _QWEN | {"size": {"shortest_edge": 56 * 56, "longest_edge": 28 * 28 * 1280}},
    "Siglip2ImageProcessor": _HALF | {"patch_size": 16, "max_num_patches": 256},
    "SiglipImageProcessor": _SQUARE | {"resample": 3},
}
"""The settings of each known processor of transformers that a configuration may leave out."""
_HONOURED = {"do_convert_rgb", "do_resize", "do_rescale", "do_normalize"}


def _decoded(picture: Any, place: str) -> Pixels:
    """Returns a picture as (rows, columns, 3)."""
    if is_numpy(picture) or is_torch(picture):
        return _from_array(picture, place)
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ModuleNotFoundError:
        raise InvalidType(
            OP, place, "needs Pillow, unless it is an array", type_name(picture), "pip install pillow"
        ) from None
    if isinstance(picture, (bytes, bytearray, memoryview, str, os.PathLike)):
        source = io.BytesIO(picture) if isinstance(picture, (bytes, bytearray, memoryview)) else picture
        try:
            with Image.open(source) as opened:
                image = ImageOps.exif_transpose(opened)
                image.load()
        except (OSError, UnidentifiedImageError, Image.DecompressionBombError, SyntaxError, ValueError) as error:
            raise InvalidValue(OP, place, "must be a picture that Pillow can read", value_text(error)) from error
    elif isinstance(picture, Image.Image):
        image = picture
    else:
        rule = "must be an array, a path, the bytes of a file, or a picture of Pillow"
        raise InvalidType(OP, place, rule, type_name(picture))
    if image.mode.startswith(("I", "F")):
        rule = "must have 8 bits for each channel"
        raise InvalidValue(OP, place, rule, f"mode {image.mode}", "a picture that is scaled to 8 bits")
    if not all(image.size):
        raise InvalidValue(OP, place, "must have pixels", str(image.size))
    if "A" in image.getbands() or image.info.get("transparency") is not None:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, (255, 255, 255, 255)), image)
    return np.asarray(image.convert("RGB"))


def _from_array(picture: Any, place: str) -> Pixels:
    """Returns an array (3 or 1, H, W), (H, W, 3 or 1) or (H, W) as (H, W, 3)."""
    if is_torch(picture):
        memory(picture, OP, place, False)  # refuses a tensor that lies elsewhere
        if str(picture.dtype) == "torch.uint8":
            picture = picture.detach().numpy()
    if str(picture.dtype) != "uint8":
        raise InvalidType(OP, place, "must have bytes as elements", str(picture.dtype), "uint8")
    pixels: Pixels = picture[None] if picture.ndim == 2 else picture
    if pixels.ndim == 3 and pixels.shape[0] in (1, 3):
        pixels = np.moveaxis(pixels, 0, -1)
    if pixels.ndim != 3 or pixels.shape[-1] not in (1, 3):
        rule = "must have one or three channels, as its first or last axis"
        raise InvalidValue(OP, place, rule, str(picture.shape), "(3, H, W), (H, W, 3) or (H, W)", code="shape")
    if 0 in pixels.shape:
        raise InvalidValue(OP, place, "must have pixels", str(picture.shape), code="shape")
    return np.broadcast_to(pixels, (*pixels.shape[:2], 3))


class Processor:
    """Prepares pictures for a vision-language model, with the bits of a processor of transformers.

    Arguments:
        config: the settings of preprocessor_config.json. image_processor_type names the processor; a setting that is left
            out has the default of transformers. Known are the processors of Qwen2-VL, Qwen2.5-VL and Qwen3-VL
            (Qwen2VLImageProcessor), GLM-4V, SigLIP, SigLIP 2, Gemma 3, Gemma 4, Pixtral, InternVL (GotOcr2ImageProcessor),
            LLaVA and CLIP.
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

    def __init__(self, config: Mapping[str, Any], *, backend: Literal["torchvision", "pil"] = "torchvision") -> None:
        if not isinstance(config, Mapping):
            raise InvalidType(OP, "config", "must be a mapping of settings", type_name(config))
        if text_in(backend) not in ("torchvision", "pil"):
            kind = InvalidValue if isinstance(backend, str) else InvalidType
            raise kind(OP, "backend", "must be one of 'torchvision', 'pil'", given_text(backend))
        named = text_in(config.get("image_processor_type")) or ""
        self.name = named.removesuffix("Fast").removesuffix("Pil")
        if self.name not in DEFAULTS:
            known = ", ".join(sorted(DEFAULTS))
            raise InvalidValue(OP, "image_processor_type", "is not known here", given_text(named), f"one of {known}")
        self._settings = COMMON | DEFAULTS[self.name] | {key: each for key, each in config.items() if each is not None}
        self._size = self._read_size()
        self._check_flags(config)
        number = self._whole("resample", 0)
        if number >= len(_FILTERS) or (backend == "torchvision" and _FILTERS[number] not in ("bilinear", "bicubic")):
            expected = "2 (bilinear) or 3 (bicubic)" + (', or backend="pil"' if backend == "torchvision" else "")
            raise InvalidValue(OP, "resample", "is not supported", str(number), expected)
        self._filter: Any = _FILTERS[number]
        self._point: Any = "torch" if backend == "torchvision" else "pillow"
        normalizes = bool(self._settings["do_normalize"])
        table = normalization_table(
            self._settings["image_mean"] if normalizes else None,
            self._settings["image_std"] if normalizes else None,
            scale=self._settings["rescale_factor"] if self._settings["do_rescale"] else None,
            formula=backend,
        )
        if table.shape not in ((256,), (3, 256)):
            raise InvalidValue(OP, "image_mean", "must be one number, or three", str(len(table)), code="length")
        self._table: npt.NDArray[np.float32] = np.broadcast_to(table, (3, 256))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, backend: Literal["torchvision", "pil"] = "torchvision") -> Processor:
        """Returns the Processor of a file preprocessor_config.json, or of a folder that holds it. Raises InvalidValue for a
        file that is not JSON, and OSError for one that cannot be read."""
        if os.path.isdir(path):
            path = os.path.join(path, "preprocessor_config.json")
        with open(path, encoding="utf-8") as file:
            try:
                config = json.load(file)
            except (ValueError, RecursionError) as error:
                raise InvalidValue(OP, "config", "must be a file of JSON", value_text(error), str(path)) from None
        return cls(config, backend=backend)

    def _check_flags(self, config: Mapping[str, Any]) -> None:
        """Refuses settings that would change the result, but are not known here."""
        allowed = _HONOURED | DEFAULTS[self.name].keys()
        for key, value in config.items():
            if key.startswith("do_") and value and key not in allowed:
                raise InvalidValue(OP, key, f"is not supported for {self.name}", value_text(value), "false")
        if self.name in ("Gemma4ImageProcessor", "Siglip2ImageProcessor", "Qwen2VLImageProcessor", "Glm4vImageProcessor"):
            if not self._settings["do_resize"]:
                raise InvalidValue(OP, "do_resize", f"must be true for {self.name}", "false")

    def _whole(self, key: str, least: int = 1, value: Any = None) -> int:
        """Returns a setting that is a whole number."""
        number = self._settings[key] if value is None else value
        if type(number) is not int:
            raise InvalidType(OP, key, "must be a whole number", given_text(number))
        most = 1000 if key == "max_patches" else 1 << 31
        if not least <= number <= most:
            raise InvalidValue(OP, key, f"must be from {least} to {most}", value_text(number))
        return number

    def _sizes(self, key: str, square: bool) -> dict[str, int]:
        """Returns a setting with extents; a single number is the shortest edge, or both with `square`."""
        given = self._settings[key]
        if type(given) is int:
            given = {"height": given, "width": given} if square else {"shortest_edge": given}
        if not isinstance(given, Mapping):
            raise InvalidType(OP, key, "must be a mapping of extents, or a number", given_text(given))
        return {str(name): self._whole(key, 1, each) for name, each in given.items() if each is not None}

    def _read_size(self) -> dict[str, int]:
        settings = self._settings
        if "size" not in DEFAULTS[self.name]:
            return {}
        size = self._sizes("size", square=self.name in ("Gemma3ImageProcessor", "PixtralImageProcessor"))
        if self.name in ("Qwen2VLImageProcessor", "Glm4vImageProcessor"):
            if self.name == "Qwen2VLImageProcessor":
                for key, edge in (("min_pixels", "shortest_edge"), ("max_pixels", "longest_edge")):
                    if settings.get(key) is not None:
                        size[edge] = self._whole(key)
            if not {"shortest_edge", "longest_edge"} <= size.keys():
                raise InvalidValue(OP, "size", "must have shortest_edge and longest_edge", str(size))
        return size

    def __call__(self, pictures: Any) -> Result:
        """Returns the arrays that the model takes, by their names in transformers.

        Arguments:
            pictures: one picture, or a list of at least one. A picture is an array or a torch tensor of uint8, (3, H, W),
                (H, W, 3), (1, H, W), (H, W, 1) or (H, W); a path or the bytes of a file that Pillow reads, turned as its
                EXIF data say; or a picture of Pillow. Transparent pictures are put on white.

        Returns: pixel_values, float32, and the grids or masks of the model.

        Errors: InvalidValue and InvalidType, which name the picture.
        """
        given = list(pictures) if isinstance(pictures, (list, tuple)) else [pictures]
        if not given:
            raise InvalidValue(OP, "pictures", "must be at least one picture", "an empty list")
        single = len(given) == 1
        images = [_decoded(each, "pictures" if single else f"pictures[{i}]") for i, each in enumerate(given)]
        if self.name in ("Qwen2VLImageProcessor", "Glm4vImageProcessor"):
            return self._merged_tokens(images)
        if self.name in ("Gemma4ImageProcessor", "Siglip2ImageProcessor"):
            return self._padded_tokens(images)
        if self.name == "PixtralImageProcessor":
            return self._padded_pictures(images)
        return self._equal_pictures(images)

    def _resized(self, image: Pixels, size: Size) -> Pixels:
        if _size(image) == size:
            return image
        return np.asarray(resize(image, size, self._filter, layout="channels_last", fixed_point=self._point))

    def _normalized(self, image: Pixels, out: npt.NDArray[np.float32]) -> None:
        """Writes the numbers of a picture to out (3, rows, columns)."""
        _core.apply_table(OP, image, -1, self._table, np.moveaxis(out, 0, -1))

    def _merged_tokens(self, images: list[Pixels]) -> Result:
        patch, merge, frames = (self._whole(key) for key in ("patch_size", "merge_size", "temporal_patch_size"))
        shown = frames if self.name == "Glm4vImageProcessor" else 1
        edges = self._size["shortest_edge"], self._size["longest_edge"]
        sizes = [within_pixels(*_size(image), patch * merge, *edges, shown) for image in images]
        grids = np.array([(1, rows // patch, columns // patch) for rows, columns in sizes], np.int64)
        ends = np.cumsum(grids.prod(1))
        values = np.empty((int(ends[-1]), 3 * frames * patch * patch), np.float32)
        for image, size, end, grid in zip(images, sizes, ends, grids, strict=True):
            small = self._resized(image, size)
            video = np.broadcast_to(small, (frames, *small.shape))
            patchify(
                video,
                (frames, patch, patch),
                order="qwen",
                merge_size=merge,
                layout="channels_last",
                table=self._table,
                out=values[end - grid.prod() : end],
            )
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
            mask = (np.arange(most) < counts[:, None]).astype(np.int32)
            return {"pixel_values": values, "pixel_attention_mask": mask, "spatial_shapes": shapes}
        places = np.full((len(images), most, 2), -1, np.int64)
        for place, columns, count in zip(places, shapes[:, 1], counts, strict=True):
            place[:count, 1], place[:count, 0] = np.divmod(np.arange(count), columns)
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
            extra["num_crops"] = np.zeros(len(images), np.int64)
        if self._settings["do_resize"]:
            images = [self._resized(image, by_rule(*_size(image), self._size)) for image in images]
        if self._settings.get("do_center_crop"):
            height, width = by_rule(1, 1, self._sizes("crop_size", square=True))
            images = [_centre(image, height, width) for image in images]
        shape = images[0].shape
        if any(image.shape != shape for image in images):
            rule = "must have one size after resizing"
            raise InvalidValue(OP, "pictures", rule, str([image.shape[:2] for image in images]))
        values = np.empty((len(images), 3, *shape[:2]), np.float32)
        for image, to in zip(images, values, strict=True):
            self._normalized(image, to)
        return {"pixel_values": values, **extra}

    def _tiles(self, image: Pixels) -> Sequence[Pixels]:
        """Returns the tiles of a picture, and the whole picture as the last tile if there are several."""
        height, width = by_rule(1, 1, self._size)
        grid = tile_grid(*_size(image), (height, width), self._whole("min_patches"), self._whole("max_patches"))
        large = self._resized(image, (grid[0] * height, grid[1] * width))
        tiles = [
            large[row * height : (row + 1) * height, column * width : (column + 1) * width]
            for row in range(grid[0])
            for column in range(grid[1])
        ]
        return tiles if len(tiles) == 1 else [*tiles, self._resized(image, (height, width))]


def _size(image: Pixels) -> Size:
    return image.shape[0], image.shape[1]


def _centre(image: Pixels, height: int, width: int) -> Pixels:
    """Returns the middle of a picture; zeros surround a picture that is smaller."""
    rows, columns = _size(image)
    if height > rows or width > columns:
        above, left = max(0, (height - rows) // 2), max(0, (width - columns) // 2)
        below, right = max(0, height - rows - above), max(0, width - columns - left)
        image = np.pad(image, ((above, below), (left, right), (0, 0)))
        rows, columns = _size(image)
    top, side = (rows - height) // 2, (columns - width) // 2
    return image[top : top + height, side : side + width]

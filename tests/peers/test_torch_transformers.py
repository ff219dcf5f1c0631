# SPDX-License-Identifier: Apache-2.0
"""patchfold.vision.Processor beside the processors of transformers, whose every bit it has."""

import io
import json

import numpy as np
import pytest
from patchfold import vision

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
Image = pytest.importorskip("PIL.Image")

# The settings of each family as its models publish them.
FAMILIES = {
    "Qwen2-VL": ("Qwen2VLImageProcessor", {"min_pixels": 3136, "max_pixels": 200704}),
    "Qwen3-VL": (
        "Qwen2VLImageProcessor",
        {
            "patch_size": 16,
            "size": {"shortest_edge": 65536, "longest_edge": 262144},
            "image_mean": [0.5] * 3,
            "image_std": [0.5] * 3,
        },
    ),
    "GLM-4V": ("Glm4vImageProcessor", {"size": {"shortest_edge": 12544, "longest_edge": 401408}}),
    "SigLIP 2": ("Siglip2ImageProcessor", {}),
    "SigLIP": ("SiglipImageProcessor", {"resample": 2}),
    "Gemma 3": ("Gemma3ImageProcessor", {"size": {"height": 448, "width": 448}}),
    "Gemma 3, pan and scan": (
        "Gemma3ImageProcessor",
        {
            "do_pan_and_scan": True,
            "pan_and_scan_min_crop_size": 64,
            "pan_and_scan_max_num_crops": 4,
            "pan_and_scan_min_ratio_to_activate": 1.2,
        },
    ),
    "Gemma 4": ("Gemma4ImageProcessor", {"max_soft_tokens": 70}),
    "Pixtral": ("PixtralImageProcessor", {"size": {"longest_edge": 512}}),
    "InternVL": ("GotOcr2ImageProcessor", {"crop_to_patches": True, "min_patches": 1, "max_patches": 6}),
    "InternVL, one tile": ("GotOcr2ImageProcessor", {"size": {"height": 448, "width": 448}}),
    "LLaVA": ("LlavaImageProcessor", {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}}),
    "LLaVA-NeXT": ("LlavaNextImageProcessor", {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}}),
    "LLaVA-NeXT, other tiles": ("LlavaNextImageProcessor", {"image_grid_pinpoints": [[250, 500], [500, 250]]}),
    "LLaVA-OneVision": ("LlavaOnevisionImageProcessor", {"image_grid_pinpoints": [[384, 768], [768, 384], [768, 768]]}),
    "CLIP": ("CLIPImageProcessor", {}),
}
VIDEOS = {
    "Qwen2-VL": ("Qwen2VLVideoProcessor", {"max_pixels": 100352}),
    "Qwen2-VL, capped": ("Qwen2VLVideoProcessor", {"cap_pixels_per_frame": True, "max_video_tokens": 600}),
    "Qwen3-VL": ("Qwen3VLVideoProcessor", {}),
    "Qwen3-VL, capped": (
        "Qwen3VLVideoProcessor",
        {"cap_pixels_per_frame": True, "max_video_tokens": 100, "size": {"shortest_edge": 4096, "longest_edge": 786432}},
    ),
    "GLM-4V": ("Glm4vVideoProcessor", {"size": {"shortest_edge": 12544, "longest_edge": 501760}}),
    "LLaVA-OneVision": ("LlavaOnevisionVideoProcessor", {}),
}
SIZES = ((480, 640), (333, 251), (57, 700), (640, 480))


def random_bytes(seed, *shape):
    """Returns a picture with large areas and noise."""
    random = np.random.default_rng(seed)
    smooth = random.integers(0, 256, (4, 4, shape[-1]), np.uint8)
    rows, columns = np.arange(shape[0]) * 4 // shape[0], np.arange(shape[1]) * 4 // shape[1]
    return smooth[rows][:, columns] // 2 + random.integers(0, 128, shape, np.uint8)


def theirs(name, settings, backend, pictures):
    kind = getattr(transformers, name + ("Pil" if backend == "pil" else ""))
    made = kind(**settings)(pictures, return_tensors="pt" if backend == "torchvision" else "np")
    return {key: np.asarray(value) for key, value in made.items()}


def check(name, settings, backend, given, pictures):
    got = vision.Processor({"image_processor_type": name, **settings}, backend=backend)(given)
    compare(got, theirs(name, settings, backend, pictures))
    assert got["pixel_values"].dtype == np.float32


def compare(got, wanted):
    assert got.keys() == wanted.keys()
    for key, value in wanted.items():
        assert got[key].shape == value.shape and np.array_equal(got[key], value), key


@pytest.mark.parametrize("backend", ["torchvision", "pil"])
@pytest.mark.parametrize("family", FAMILIES)
def test_equal_bits_for_random_pictures(family, backend):
    name, settings = FAMILIES[family]
    pictures = [random_bytes(i, *size, 3) for i, size in enumerate(SIZES)]
    check(name, settings, backend, pictures, [Image.fromarray(each) for each in pictures])
    check(name, settings, backend, pictures[0], Image.fromarray(pictures[0]))


@pytest.mark.parametrize("backend", ["torchvision", "pil"])
@pytest.mark.parametrize("family", FAMILIES)
def test_equal_bits_for_random_sizes(family, backend, pictures, seed):
    name, settings = FAMILIES[family]
    random = np.random.default_rng(seed)
    for case in range(pictures):
        size = np.exp(random.uniform(np.log(28), np.log(1500), 2)).astype(int)
        picture = random_bytes(case, *size, 3)
        check(name, settings, backend, picture, Image.fromarray(picture))


@pytest.mark.parametrize("family", VIDEOS)
def test_equal_bits_for_random_videos(family, pictures, seed):
    name, settings = VIDEOS[family]
    random = np.random.default_rng(seed)
    for case in range(pictures):
        size = np.exp(random.uniform(np.log(28), np.log(500), 2)).astype(int)
        video = np.stack([random_bytes(case + 100 * i, *size, 3) for i in range(random.integers(2, 9))])
        other = video[: max(2, len(video) - 1), : max(28, size[0] // 2)]
        check_videos(name, settings, [video] if "Onevision" in name else [video, other])


def check_videos(name, settings, given):
    kind = getattr(transformers, name)
    made = kind(**settings)(
        [torch.from_numpy(each).movedim(-1, 1) for each in given], do_sample_frames=False, return_tensors="pt"
    )
    got = vision.VideoProcessor({"video_processor_type": name, **settings})(given)
    compare(got, {key: np.asarray(value) for key, value in made.items()})
    assert got["pixel_values_videos"].dtype == np.float32


def test_a_video_is_an_array_or_a_list_of_pictures():
    name, settings = VIDEOS["Qwen2-VL"]
    video = np.stack([random_bytes(i, 120, 160, 3) for i in range(3)])
    process = vision.VideoProcessor({"video_processor_type": name, **settings})
    wanted = process(video)
    for given in (
        list(video),
        [list(video)],
        [torch.from_numpy(video).movedim(-1, 1)],
        [Image.fromarray(each) for each in video],
    ):
        compare(process(given), wanted)


@pytest.mark.parametrize("backend", ["torchvision", "pil"])
def test_pictures_that_belong_together(backend):
    name, settings = FAMILIES["LLaVA-OneVision"]
    groups = [[random_bytes(1, 100, 200, 3), random_bytes(2, 90, 50, 3)], [random_bytes(3, 64, 64, 3)]]
    theirs_given = [[Image.fromarray(each) for each in group] for group in groups]
    check(name, settings, backend, groups, theirs_given)


@pytest.mark.parametrize("backend", ["torchvision", "pil"])
def test_pictures_of_every_kind(backend, tmp_path):
    name, settings = FAMILIES["Qwen2-VL"]
    picture = random_bytes(9, 200, 300, 3)
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "png")
    path = tmp_path / "picture.png"
    path.write_bytes(file.getvalue())
    channels_first = np.ascontiguousarray(np.moveaxis(picture, -1, 0))
    for given in (file.getvalue(), str(path), path, Image.open(path), channels_first, torch.from_numpy(channels_first)):
        check(name, settings, backend, given, Image.fromarray(picture))
    grey = picture[..., 0]
    for given in (grey, grey[None], grey[..., None], Image.fromarray(grey)):
        check(name, settings, backend, given, Image.fromarray(grey))
    palette = Image.fromarray(picture).convert("P", palette=Image.Palette.ADAPTIVE)
    check(name, settings, backend, palette, palette)
    clear = Image.fromarray(random_bytes(10, 200, 300, 4), "RGBA")
    check(name, settings, backend, clear, clear)
    inks = Image.fromarray(picture).convert("CMYK")
    check(name, settings, backend, inks, inks)


def test_files_that_transformers_writes(tmp_path):
    name, settings = FAMILIES["Qwen3-VL"]
    theirs_written = getattr(transformers, name)(**settings)
    theirs_written.save_pretrained(tmp_path)
    assert json.loads((tmp_path / "preprocessor_config.json").read_text())["image_processor_type"].startswith("Qwen2VL")
    picture = random_bytes(11, 300, 200, 3)
    got = vision.Processor.from_file(tmp_path)(picture)
    wanted = theirs_written(Image.fromarray(picture), return_tensors="pt")
    assert np.array_equal(got["pixel_values"], wanted["pixel_values"])
    assert np.array_equal(got["image_grid_thw"], wanted["image_grid_thw"])

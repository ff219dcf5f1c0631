# SPDX-License-Identifier: Apache-2.0
"""The processors of patchfold.vision without transformers: shapes, files, and inputs that are refused."""

import io
import json
import re

import numpy as np
import patchfold
import pytest
from patchfold.vision import Processor, VideoProcessor, normalization_table, pad_tokens, patch_positions, resize
from patchfold.vision._settings import IMAGES, VIDEOS
from PIL import Image


def random_bytes(seed, *shape):
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def png(picture, **options):
    file = io.BytesIO()
    picture.save(file, "png", **options)
    return file.getvalue()


@pytest.mark.parametrize("name", sorted(IMAGES))
@pytest.mark.parametrize("backend", ["torchvision", "pil"])
def test_every_processor_takes_batches_and_single_pictures(name, backend):
    process = Processor({"image_processor_type": name + "Fast"}, backend=backend)
    pictures = [random_bytes(1, 300, 400, 3), random_bytes(2, 120, 90, 3)]
    both = process(pictures)
    assert both["pixel_values"].dtype == np.float32
    if "image_grid_thw" in both:
        assert both["image_grid_thw"].prod(1).sum() == len(both["pixel_values"])
    else:
        assert len(both["pixel_values"]) == 2
    first = process(pictures[0])
    count = len(first["pixel_values"])
    here = both["pixel_values"][:count]
    if name == "PixtralImageProcessor":
        here = here[..., : first["pixel_values"].shape[2], : first["pixel_values"].shape[3]]
    assert np.array_equal(first["pixel_values"], here)


def test_tokens_are_resized_normalized_and_cut():
    picture = random_bytes(3, 300, 400, 3)
    made = Processor({"image_processor_type": "Siglip2ImageProcessor", "max_num_patches": 64}, backend="pil")(picture)
    rows, columns = made["spatial_shapes"][0] * 16
    small = resize(picture, (int(rows), int(columns)), "bilinear", layout="channels_last")
    table = normalization_table([0.5] * 3, [0.5] * 3, formula="pil")
    tokens = patchfold.patchify(small, 16, layout="channels_last", table=table)
    assert np.array_equal(made["pixel_values"][0, : len(tokens)], tokens)
    assert not made["pixel_values"][0, len(tokens) :].any()
    assert made["pixel_attention_mask"][0].tolist() == [1] * len(tokens) + [0] * (64 - len(tokens))


def test_positions_are_columns_and_rows():
    made = Processor({"image_processor_type": "Gemma4ImageProcessor", "max_soft_tokens": 70})(random_bytes(4, 100, 200, 3))
    count = int(made["num_soft_tokens_per_image"][0]) * 9
    places = made["image_position_ids"][0]
    columns = int(places[:count, 0].max()) + 1
    assert places[:count].tolist() == [[i % columns, i // columns] for i in range(count)]
    assert (places[count:] == -1).all()


def test_pictures_are_read_from_files_and_turned_as_exif_says(tmp_path):
    process = Processor({"image_processor_type": "SiglipImageProcessor"}, backend="pil")
    picture = random_bytes(5, 30, 40, 3)
    wanted = process(picture)["pixel_values"]
    path = tmp_path / "picture.png"
    path.write_bytes(png(Image.fromarray(picture)))
    for given in (path, str(path), path.read_bytes(), memoryview(path.read_bytes()), Image.open(path)):
        assert np.array_equal(process(given)["pixel_values"], wanted)
    exif = Image.Exif()
    exif[0x0112] = 6  # shown turned by 90 degrees
    turned = png(Image.fromarray(np.rot90(picture).copy()), exif=exif)
    assert np.array_equal(process(turned)["pixel_values"], wanted)


def test_modes_of_pillow():
    process = Processor({"image_processor_type": "SiglipImageProcessor"}, backend="pil")
    picture = Image.fromarray(random_bytes(6, 30, 40, 3))
    for mode in ("1", "L", "P", "CMYK", "YCbCr", "HSV", "LAB"):
        other = picture.convert("RGB").convert(mode) if mode != "LAB" else picture
        assert np.array_equal(process(other)["pixel_values"], process(np.asarray(other.convert("RGB")))["pixel_values"])
    clear = Image.new("RGBA", (40, 30), (10, 20, 30, 0))
    assert np.array_equal(process(clear)["pixel_values"], process(np.full((30, 40, 3), 255, np.uint8))["pixel_values"])


def test_damaged_exif_data_are_a_picture_or_an_error():
    process = Processor(QWEN)
    file = png(
        Image.fromarray(random_bytes(8, 64, 64, 3)), exif=b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06"
    )
    for k in range(0, len(file), 3):
        try:
            assert process(file[:k] + b"\xff" + file[k + 1 :])["image_grid_thw"].tolist() == [[1, 4, 4]]
        except patchfold.InvalidValue as error:
            assert "must be a picture that Pillow can read" in str(error)


@pytest.mark.parametrize("name", sorted(VIDEOS))
def test_every_video_processor_takes_batches_and_single_videos(name):
    process = VideoProcessor({"video_processor_type": name})
    videos = [random_bytes(1, 3, 120, 90, 3), random_bytes(2, 3, 90, 100, 3)]
    both = process(videos)
    first = process(np.moveaxis(videos[0], -1, 1))
    assert np.array_equal(first["pixel_values_videos"], both["pixel_values_videos"][: len(first["pixel_values_videos"])])
    assert np.array_equal(process([list(videos[0])])["pixel_values_videos"], first["pixel_values_videos"])
    if "video_grid_thw" in both:
        assert both["video_grid_thw"][:, 0].tolist() == [2, 2]
        assert both["video_grid_thw"].prod(1).sum() == len(both["pixel_values_videos"])


@pytest.mark.parametrize(
    ("videos", "message"),
    [
        ([], "videos: must be at least one video"),
        (None, "videos: must be an array with frames"),
        ([np.zeros((2, 8, 8, 3), np.uint8), []], "videos[1]: must have at least one frame"),
        ([np.zeros((8, 8, 3), np.uint8), np.zeros((8, 9, 3), np.uint8)], "frames of one size"),
        ([np.zeros((8, 8, 3), np.uint8), None], "videos[1]: must be an array, a path"),
        (np.zeros((2, 8, 8, 4), np.uint8), "must have one or three channels"),
        (np.zeros((0, 8, 8, 3), np.uint8), "must have frames with pixels"),
        (np.zeros((2, 8, 8, 3), np.float32), "must have bytes as elements"),
        (np.zeros((1, 64, 64, 3), np.uint8), "videos: must have at least 2 frames"),
        (np.zeros((2, 40, 8100, 3), np.uint8), "must have sides that differ by a factor of at most 200"),
    ],
)
def test_wrong_videos(videos, message):
    with pytest.raises((patchfold.InvalidValue, patchfold.InvalidType), match=re.escape("VideoProcessor: ")) as caught:
        VideoProcessor({"video_processor_type": "Qwen3VLVideoProcessor"})(videos)
    assert message in str(caught.value)


def test_video_settings(tmp_path):
    config = {"video_processor_type": "Qwen2VLVideoProcessor", "max_pixels": 3136}
    (tmp_path / "video_preprocessor_config.json").write_text(json.dumps(config))
    video = random_bytes(3, 2, 100, 100, 3)
    assert VideoProcessor.from_file(tmp_path)(video)["video_grid_thw"].tolist() == [[1, 4, 4]]
    for wrong in (QWEN, config | {"resample": 1}, config | {"size": {}}, config | {"do_resize": False}):
        with pytest.raises(patchfold.InvalidValue, match="VideoProcessor: "):
            VideoProcessor(wrong)


def test_padded_tokens_and_positions():
    pictures = [random_bytes(4, 3, 32, 48), random_bytes(5, 3, 16, 16)]
    tokens = [patchfold.patchify(each, 16) for each in pictures]
    padded, mask = pad_tokens(tokens, 8)
    assert mask.tolist() == [[1] * 6 + [0] * 2, [1] + [0] * 7]
    for each, row, kept in zip(pictures, padded, mask, strict=True):
        assert not row[kept == 0].any()
        assert np.array_equal(patchfold.unpatchify(row[kept == 1], each.shape[1:], 16), each)
    places = patch_positions([(2, 3), (1, 1)], 8)
    assert places[0, :6].tolist() == [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]] and (places[mask == 0] == -1).all()
    assert pad_tokens(tokens)[0].shape == (2, 6, 768) and patch_positions([(2, 3)]).shape == (1, 6, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pad_tokens([]), "tokens: must be a list"),
        (lambda: pad_tokens([np.zeros(3)]), "tokens[0]: must be (n, D)"),
        (lambda: pad_tokens([np.zeros((3, 2)), np.zeros((3, 3))]), "tokens[1]: must be (n, D)"),
        (lambda: pad_tokens([np.zeros((3, 2)), 1]), "tokens[1]: must be a NumPy array"),
        (lambda: pad_tokens([np.zeros((3, 2))], 2), "length: must hold the tokens of every picture"),
        (lambda: pad_tokens([np.zeros((3, 2))], 3.5), "length: must be a whole number"),
        (lambda: patch_positions([]), "grids: must be a list"),
        (lambda: patch_positions([(1, 2, 3)]), "grids: must be a list"),
        (lambda: patch_positions([(0, 2)]), "grids: must be at least 1"),
        (lambda: patch_positions([(2**40, 2**40)]), "grids: must be at least 1"),
        (lambda: patch_positions([(2, 2)], 3), "length: must hold"),
    ],
)
def test_wrong_paddings(call, message):
    with pytest.raises((patchfold.InvalidValue, patchfold.InvalidType), match=re.escape(message)):
        call()


def test_from_file(tmp_path):
    config = {"image_processor_type": "Qwen2VLImageProcessorFast", "patch_size": 16, "feature_extractor_type": None}
    path = tmp_path / "preprocessor_config.json"
    path.write_text(json.dumps(config))
    picture = random_bytes(7, 100, 100, 3)
    wanted = Processor(config)(picture)["pixel_values"]
    assert np.array_equal(Processor.from_file(path)(picture)["pixel_values"], wanted)
    assert np.array_equal(Processor.from_file(tmp_path)(picture)["pixel_values"], wanted)
    for text in ('{"image_processor_type": "Qwen', "", "[" * 100_000, "[1, 2]", '"text"', "\x00"):
        path.write_text(text)
        with pytest.raises((patchfold.InvalidValue, patchfold.InvalidType), match="Processor: config: must be"):
            Processor.from_file(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(patchfold.InvalidValue, match="must be a file of JSON"):
        Processor.from_file(path)
    with pytest.raises(FileNotFoundError):
        Processor.from_file(tmp_path / "none.json")


QWEN = {"image_processor_type": "Qwen2VLImageProcessor"}
GEMMA = {"image_processor_type": "Gemma3ImageProcessor"}
LLAVA_NEXT = {"image_processor_type": "LlavaNextImageProcessor"}
PANS = {
    "do_pan_and_scan": True,
    "pan_and_scan_min_crop_size": 16,
    "pan_and_scan_max_num_crops": 4,
    "pan_and_scan_min_ratio_to_activate": 1.2,
}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "image_processor_type: is not known here"),
        ({"image_processor_type": "ViTImageProcessor"}, "one of CLIPImageProcessor, Gemma3ImageProcessor"),
        ({"image_processor_type": 3}, "image_processor_type: is not known here"),
        (QWEN | {"patch_size": "14"}, "patch_size: must be a whole number"),
        (QWEN | {"patch_size": 0}, "patch_size: must be from 1 to"),
        (QWEN | {"patch_size": 10**30}, "patch_size: must be from 1 to"),
        ({"image_processor_type": "GotOcr2ImageProcessor", "crop_to_patches": True, "max_patches": 10**9}, "from 1 to 1000"),
        (QWEN | {"merge_size": True}, "merge_size: must be a whole number"),
        (QWEN | {"max_pixels": 1.5}, "max_pixels: must be a whole number"),
        (QWEN | {"size": {"height": 4, "width": 4}}, "size: must have shortest_edge and longest_edge"),
        (QWEN | {"size": [4, 4]}, "size: must be a mapping of extents"),
        (QWEN | {"do_resize": False}, "do_resize: must be true"),
        (QWEN | {"do_flip_channel_order": True}, "do_flip_channel_order: is not supported"),
        (QWEN | {"resample": 1}, "resample: is not supported"),
        (QWEN | {"resample": 9}, "resample: is not supported"),
        (QWEN | {"image_mean": [0.5, 0.5], "image_std": [1, 1]}, "image_mean: must be"),
        (QWEN | {"image_std": [0, 1, 1]}, "std: must not be 0"),
        (QWEN | {"rescale_factor": "x"}, "scale: must be a number"),
        (QWEN | {"do_pan_and_scan": True}, "do_pan_and_scan: is not supported"),
        (QWEN | {"rescale_factor": float("nan")}, "scale: must be a finite number"),
        (QWEN | {"rescale_factor": 10**400}, "scale: must be a finite number"),
        (QWEN | {"rescale_factor": 1e-40}, "rescale_factor: must give finite numbers"),
        (QWEN | {"rescale_factor": 1e300, "do_normalize": False}, "rescale_factor: must give finite numbers"),
        (QWEN | {"image_mean": [10**400, 0, 0]}, "mean: must be a number that is finite in float32"),
        (QWEN | {"image_mean": [1e300, 0, 0]}, "mean: must be a number that is finite in float32"),
        (QWEN | {"do_normalize": "false"}, "do_normalize: must be true or false"),
        (QWEN | {"do_rescale": 0}, "do_rescale: must be true or false"),
        ({"image_processor_type": "GotOcr2ImageProcessor", "crop_to_patches": "no"}, "crop_to_patches: must be true or"),
        ({"image_processor_type": "Gemma4ImageProcessor", "max_soft_tokens": 2**31}, "max_soft_tokens: must be from 1 to"),
        ({"image_processor_type": "CLIPImageProcessor", "crop_size": 2**31}, "crop_size: must be from 1 to"),
        (QWEN | {"patch_size": 2**30}, "patch_size: must be from 1 to 1024"),
        (GEMMA | {"do_pan_and_scan": True}, "pan_and_scan_min_ratio_to_activate: must be a number"),
        (GEMMA | PANS | {"pan_and_scan_min_crop_size": 0}, "pan_and_scan_min_crop_size: must be from 1"),
        (GEMMA | PANS | {"pan_and_scan_max_num_crops": 1e9}, "pan_and_scan_max_num_crops: must be a whole number"),
        (LLAVA_NEXT | {"image_grid_pinpoints": []}, "image_grid_pinpoints: must have a size"),
        (LLAVA_NEXT | {"image_grid_pinpoints": [336, 672]}, "image_grid_pinpoints: must be a list of (rows, columns)"),
        (LLAVA_NEXT | {"image_grid_pinpoints": [[0, 672]]}, "image_grid_pinpoints: must be from 1 to"),
        (LLAVA_NEXT | {"crop_size": "224"}, "crop_size: must be a mapping of extents"),
        ({"image_processor_type": "LlavaImageProcessor", "do_pad": True}, "do_pad: is not supported"),
    ],
)
def test_wrong_settings(config, message):
    with pytest.raises((patchfold.InvalidValue, patchfold.InvalidType), match=re.escape(message)):
        Processor(config)(np.zeros((64, 64, 3), np.uint8))


def test_names_of_settings_that_are_no_text_are_left_out():
    picture = random_bytes(9, 64, 64, 3)
    assert np.array_equal(Processor(QWEN | {1: 2})(picture)["pixel_values"], Processor(QWEN)(picture)["pixel_values"])


def test_the_colour_around_pictures_that_belong_together():
    process = Processor({"image_processor_type": "LlavaOnevisionImageProcessor", "image_mean": [2.0, 0, 0]})
    with pytest.raises(patchfold.InvalidValue, match="image_mean: must be from 0 to 1 for pictures that belong together"):
        process([[random_bytes(1, 8, 9, 3), random_bytes(2, 8, 9, 3)]])


@pytest.mark.parametrize(
    ("pictures", "message"),
    [
        ([], "pictures: must be at least one picture"),
        (None, "pictures: must be an array, a path"),
        ([np.zeros((8, 8, 3), np.uint8), 3], "pictures[1]: must be an array, a path"),
        (np.zeros((8, 8, 3), np.float32), "must have bytes as elements"),
        (np.zeros((8, 8, 4), np.uint8), "must have one or three channels"),
        (np.zeros((2, 8, 8, 3), np.uint8), "must have one or three channels"),
        (np.zeros((0, 8, 3), np.uint8), "must have pixels"),
        (np.zeros((1, 300), np.uint8), "must have sides that differ by a factor of at most 200"),
        (b"", "must be a picture that Pillow can read"),
        (b"\x89PNG\r\n\x1a\n" + bytes(20), "must be a picture that Pillow can read"),
        (png(Image.new("RGB", (64, 64)))[:60], "must be a picture that Pillow can read"),
        ("no/such/file.png", "must be a picture that Pillow can read"),
        (Image.new("I;16", (8, 8)), "must have 8 bits for each channel"),
        (Image.new("F", (8, 8)), "must have 8 bits for each channel"),
        (Image.new("RGB", (0, 8)), "must have pixels"),
        (Image.new("La", (8, 8)), "that Pillow can convert"),
        (Image.open(io.BytesIO(png(Image.new("RGB", (64, 64)))[:60])), "must be a picture that Pillow can read"),
        (memoryview(bytes(80))[::2], "must be a picture that Pillow can read"),
        ([[np.zeros((8, 8, 3), np.uint8)]], "pictures: must be an array, a path"),
        (png(Image.fromarray(np.zeros((8, 8), np.uint16))), "must have 8 bits for each channel"),
    ],
)
def test_wrong_pictures(pictures, message):
    with pytest.raises((patchfold.InvalidValue, patchfold.InvalidType), match=re.escape(message)):
        Processor(QWEN)(pictures)

# SPDX-License-Identifier: Apache-2.0
"""patchfold.transformers.install(): transformers' own processors, with their bits."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import patchfold  # noqa: E402
import patchfold.transformers  # noqa: E402
from patchfold.vision import Processor, VideoProcessor  # noqa: E402
from test_torch_transformers import FAMILIES, SIZES, VIDEOS, random_bytes  # noqa: E402


@pytest.fixture(autouse=True)
def calls(monkeypatch):
    """Counts the calls of patchfold's processors, and removes every installation."""
    made = []
    for kind in (Processor, VideoProcessor):
        call = kind.__call__
        monkeypatch.setattr(kind, "__call__", lambda self, given, call=call: made.append(self.name) or call(self, given))
    yield made
    patchfold.transformers.uninstall()


def same(got, wanted):
    assert list(got) == list(wanted)
    for key, value in wanted.items():
        assert type(got[key]) is type(value) and got[key].dtype == value.dtype and got[key].shape == value.shape, key
        assert np.array_equal(got[key], value), key


@pytest.mark.parametrize("backend", ["torchvision", "pil"])
@pytest.mark.parametrize("family", FAMILIES)
def test_image_processors_have_their_own_bits(family, backend, calls):
    name, settings = FAMILIES[family]
    process = getattr(transformers, name + ("Pil" if backend == "pil" else ""))(**settings)
    pictures = [random_bytes(i, *size, 3) for i, size in enumerate(SIZES[:2])]
    for form in ("pt", "np"):
        wanted = process(pictures, return_tensors=form)
        assert not calls
        with patchfold.transformers.install():
            got = process(pictures, return_tensors=form)
        assert len(calls) == 1
        calls.clear()
        same(got, wanted)


@pytest.mark.parametrize("family", VIDEOS)
def test_video_processors_have_their_own_bits(family, calls):
    name, settings = VIDEOS[family]
    process = getattr(transformers, name)(**settings)
    videos = [np.stack([random_bytes(i, 120, 150, 3) for i in range(count)]) for count in (3, 3)]
    wanted = process(videos, do_sample_frames=False, return_tensors="pt")
    with patchfold.transformers.install():
        same(process(videos, do_sample_frames=False, return_tensors="pt"), wanted)
    assert len(calls) == 1


@pytest.mark.parametrize("name", ["Qwen2VLImageProcessor", "Qwen2VLImageProcessorPil", "Glm4vImageProcessor"])
def test_results_without_return_tensors(name, calls):
    process = getattr(transformers, name)()
    wanted = process(random_bytes(1, 100, 90, 3))
    with patchfold.transformers.install():
        same(process(random_bytes(1, 100, 90, 3)), wanted)
    assert len(calls) == 1


def test_settings_of_a_call_count(calls):
    process = transformers.Qwen2VLImageProcessor()
    picture = random_bytes(2, 200, 300, 3)
    change = {"size": {"shortest_edge": 3136, "longest_edge": 12544}, "image_mean": [0.1, 0.2, 0.3], "do_rescale": False}
    wanted = process(picture, return_tensors="pt", **change)
    with patchfold.transformers.install():
        same(process(picture, return_tensors="pt", **change), wanted)
    assert len(calls) == 1


def test_calls_that_transformers_still_handles(calls):
    class Own(transformers.Qwen2VLImageProcessor):
        pass

    floats = np.random.default_rng(3).random((3, 60, 60), np.float32)
    bytes_ = random_bytes(3, 60, 60, 3)
    grey = bytes_[..., :1]
    cases = [
        (transformers.Qwen2VLImageProcessor(do_rescale=False), floats, "pt"),
        (transformers.CLIPImageProcessor(do_convert_rgb=False, image_mean=[0.5], image_std=[0.5]), grey, "pt"),
        (transformers.CLIPImageProcessor(resample=0), bytes_, "pt"),
        (transformers.SiglipImageProcessor(), bytes_, None),
        (Own(), bytes_, "pt"),
    ]
    for process, picture, form in cases:
        wanted = process(picture, return_tensors=form)["pixel_values"]
        with patchfold.transformers.install():
            got = process(picture, return_tensors=form)["pixel_values"]
        assert type(got) is type(wanted) and np.array_equal(got[0], wanted[0])
    assert not calls
    with patchfold.transformers.install(), pytest.raises(ValueError, match="aspect ratio"):
        transformers.Qwen2VLImageProcessor()(np.zeros((10, 3000, 3), np.uint8), return_tensors="pt")


def test_installations_nest_and_leave_no_trace():
    kinds = [transformers.Qwen2VLImageProcessor, transformers.CLIPImageProcessor]
    before = [dict(kind.__dict__).get("_preprocess") for kind in kinds]
    first = patchfold.transformers.install()
    with patchfold.transformers.install():
        first.remove()
        first.remove()
        assert [kind.__dict__["_preprocess"] for kind in kinds] != before
    assert [kind.__dict__.get("_preprocess") for kind in kinds] == before
    patchfold.transformers.install()
    patchfold.transformers.uninstall()
    assert [kind.__dict__.get("_preprocess") for kind in kinds] == before

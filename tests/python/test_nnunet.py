# SPDX-License-Identifier: Apache-2.0
"""Tests that patchfold.nnunet gives the labels of nnunetv2: recorded ones, and where it is installed, its own."""

import functools
import importlib.util
import itertools
import tracemalloc
import zlib
from types import SimpleNamespace

import numpy as np
import patchfold
import pytest
from patchfold import InvalidType, InvalidValue
from patchfold.nnunet import (
    SegmentationExport,
    compute_steps_for_sliding_window,
    convert_predicted_logits_to_segmentation_with_correct_shape,
    predict_sliding_window_return_logits,
)

# For each case: extents and spacing of the network, extents and spacing of the image (both in the network's order of axes),
# transpose_forward, type, and zlib.crc32 of the labels that nnunetv2 2.8.1 gave for `logits_of`, with NumPy 2.4.6, SciPy
# 1.17.1, scikit-image 0.26.0 and torch 2.15.0.
CASES = {
    "isotropic": ((11, 20, 17), (3, 1, 1), (14, 31, 29), (2.4, 0.65, 0.6), (0, 1, 2), "float16", 1454545792),
    "smaller": ((13, 14, 15), (1, 1, 1), (11, 9, 8), (1.2, 1.5, 2), (2, 0, 1), "float32", 1836197915),
    "coarse network": ((9, 20, 17), (5, 1, 1), (12, 11, 13), (3.75, 2, 2), (1, 2, 0), "float16", 993145460),
    "coarse rows": ((9, 20, 17), (5, 1, 1), (9, 31, 29), (5, 0.6, 0.6), (0, 2, 1), "float32", 1592914090),
    "coarse columns": ((20, 9, 17), (1, 5, 1), (33, 12, 29), (0.6, 3.7, 0.6), (2, 1, 0), "float16", 2097184130),
    "coarse image": ((9, 12, 13), (2, 1, 1), (5, 17, 19), (4, 0.7, 0.7), (0, 1, 2), "float32", 998242018),
    "as large": ((10, 11, 12), (1, 1, 1), (10, 11, 12), (1, 1, 1), (1, 0, 2), "float16", 945940256),
    "pictures": ((3, 30, 20), (1, 1), (3, 47, 33), (9, 0.6, 0.6), (0, 1, 2), "float32", 2023363361),
}
RESAMPLING = {"is_seg": False, "order": 1, "order_z": 0, "force_separate_z": None}
CLASSES = 4


def resample_data_or_seg_to_shape(  # nnunetv2's signature: its defaults count
    data,
    new_shape,
    current_spacing,
    new_spacing,
    is_seg=False,
    order=3,
    order_z=0,
    force_separate_z=False,
    separate_z_anisotropy_threshold=3,
):
    raise AssertionError("patchfold resamples by itself")


def logits_of(shape, dtype):
    """Returns logits on a coarse scale, so that some are equal."""
    return (np.random.default_rng(1).integers(-500, 500, (CLASSES, *shape)) / 64).astype(dtype)


def objects_of(name, resample=resample_data_or_seg_to_shape, **resampling):
    """Returns nnU-Net's objects for a case: plans, configuration, labels and properties."""
    _, network, extents, image, forward, _, _ = CASES[name]
    plans = SimpleNamespace(transpose_forward=list(forward), transpose_backward=list(map(int, np.argsort(forward))))
    configuration = SimpleNamespace(
        spacing=list(network), resampling_fn_probabilities=functools.partial(resample, **(RESAMPLING | resampling))
    )
    labels = SimpleNamespace(
        foreground_labels=list(range(1, CLASSES)), convert_logits_to_segmentation=lambda logits: logits.argmax(0)
    )
    starts = (2, 3, 1)
    properties = {
        "spacing": [image[list(forward).index(axis)] for axis in range(3)],
        "shape_before_cropping": tuple(extent + 5 for extent in extents),
        "bbox_used_for_cropping": [[start, start + extent] for start, extent in zip(starts, extents, strict=True)],
        "shape_after_cropping_and_before_resampling": extents,
    }
    return plans, configuration, labels, properties


@pytest.mark.parametrize("name", CASES)
def test_labels_are_those_that_nnunetv2_gave(name):
    shape, *_, dtype, expected = CASES[name]
    logits = logits_of(shape, dtype)
    labels = convert_predicted_logits_to_segmentation_with_correct_shape(logits, *objects_of(name))
    assert labels.dtype == np.uint8 and zlib.crc32(np.ascontiguousarray(labels)) == expected


@pytest.mark.parametrize("regions", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_labels_and_resampled_logits_are_those_of_nnunetv2(name, regions):
    if importlib.util.find_spec("nnunetv2") is None:
        pytest.skip("could be compared only where nnunetv2 is installed, which needs 300 MB of other packages besides torch")
    import torch
    from nnunetv2.inference import export_prediction
    from nnunetv2.preprocessing.resampling import default_resampling
    from nnunetv2.utilities.label_handling.label_handling import LabelManager

    shape, network, extents, image, _, dtype, recorded = CASES[name]
    resample = default_resampling.resample_data_or_seg_to_shape
    plans, configuration, labels, properties = objects_of(name, resample)
    if regions:
        manager = LabelManager({"background": 0, "whole": [1, 2, 3], "core": [2, 3], "a": 3, "b": 4}, [1, 2, 3, 4])
    else:
        manager = LabelManager({"background": 0, "a": 1, "b": 2, "c": 3}, None)
    case = (plans, configuration, manager, properties)
    logits = logits_of(shape, dtype)
    theirs = export_prediction.convert_predicted_logits_to_segmentation_with_correct_shape(
        torch.from_numpy(logits.copy()), *case
    )
    ours = convert_predicted_logits_to_segmentation_with_correct_shape(logits, *case)
    np.testing.assert_array_equal(ours, theirs, strict=True)
    assert regions or zlib.crc32(np.ascontiguousarray(theirs)) == recorded
    rows = []
    labels.convert_logits_to_segmentation = lambda row: rows.append(row.copy()) or row.argmax(0)
    convert_predicted_logits_to_segmentation_with_correct_shape(logits, plans, configuration, labels, properties)
    spacing = network if len(network) == 3 else (image[0], *network)
    np.testing.assert_array_equal(
        np.concatenate(rows, 1), resample(logits, extents, spacing, image, **RESAMPLING), strict=True
    )


@pytest.mark.parametrize("name", ["isotropic", "coarse network", "coarse rows", "as large"])
def test_bands_of_every_height_give_the_same(name):
    shape, *_, dtype, _ = CASES[name]
    logits = logits_of(shape, dtype)
    expected = convert_predicted_logits_to_segmentation_with_correct_shape(logits, *objects_of(name))
    for step in (2, 5, shape[0]):
        out = np.full(expected.shape, 9, np.int32)
        export = SegmentationExport(shape, *objects_of(name), out=out)
        for start in range(0, shape[0], step):
            export(slice(start, min(start + step, shape[0])), logits[None, :, start : start + step])
        assert export.finish() is out
        np.testing.assert_array_equal(out, expected)


def test_the_results_of_tiles_go_to_labels_at_once():
    name = "isotropic"
    shape = CASES[name][0]
    image = np.random.default_rng(2).random((1, *shape), np.float32)

    def network(tile):
        return np.concatenate([tile, 1 - tile, np.sin(9 * tile), np.full_like(tile, 0.6)])

    given = {"tile": (8, 8, 8), "overlap": 4, "progress": False}
    export = SegmentationExport(shape, *objects_of(name))
    assert patchfold.apply_tiled(network, image, out=export, **given) is None
    logits = patchfold.apply_tiled(network, image, **given)
    expected = convert_predicted_logits_to_segmentation_with_correct_shape(logits, *objects_of(name))
    np.testing.assert_array_equal(export.finish(), expected)
    assert len(np.unique(expected)) == CLASSES


def test_logits_of_the_image_are_never_in_memory():
    name = "isotropic"
    shape, extents = (12, 40, 40), (30, 100, 100)
    plans, configuration, labels, properties = objects_of(name)
    properties |= {
        "shape_before_cropping": extents,
        "bbox_used_for_cropping": [[0, extent] for extent in extents],
        "shape_after_cropping_and_before_resampling": extents,
    }
    logits = logits_of(shape, np.float32)
    whole = CLASSES * np.prod(extents) * 4
    tracemalloc.start()
    convert_predicted_logits_to_segmentation_with_correct_shape(logits, plans, configuration, labels, properties)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < np.prod(extents) + whole / 4


def test_what_is_wrong_is_named():
    name = "isotropic"
    shape, *_, dtype, _ = CASES[name]
    logits = logits_of(shape, dtype)
    plans, configuration, labels, properties = objects_of(name)

    def export(**given):
        return SegmentationExport(given.pop("shape", shape), plans, configuration, labels, properties, **given)

    with pytest.raises(InvalidValue, match="^nnunet: shape: must have three extents"):
        export(shape=shape[1:])
    with pytest.raises(InvalidValue, match="^nnunet: out: must have the shape of the image"):
        export(out=np.zeros((1, 2, 3), np.uint8))
    with pytest.raises(InvalidType, match="^nnunet: out: must be a writeable array of NumPy with integers"):
        export(out=np.zeros((19, 36, 34), np.float32))
    taking = export()
    with pytest.raises(
        InvalidValue, match="^nnunet: rows: must be the next rows, in order; given 1 to 2, expected from 0 to 11"
    ):
        taking(slice(1, 2), logits[:, 1:2])
    with pytest.raises(InvalidValue, match="^nnunet: band: must be"):
        taking(slice(0, 2), logits[:, :1])
    with pytest.raises(InvalidType, match="^nnunet: band: must hold logits in floating point; given int64"):
        taking(slice(0, 1), logits[:, :1].astype(np.int64))
    taking(slice(0, 1), logits[:, :1])
    with pytest.raises(InvalidValue, match="^nnunet: rows: must all have come; given 1 rows, expected 11 rows"):
        taking.finish()
    for resampling in ({"order": 3}, {"order_z": 1}, {"is_seg": True}):
        configuration = objects_of(name, **resampling)[1]
        with pytest.raises(InvalidValue, match="^nnunet: configuration_manager: must resample in a known way"):
            export()
    configuration = SimpleNamespace(spacing=[1, 1, 1], resampling_fn_probabilities=np.resize)
    with pytest.raises(
        InvalidValue, match="^nnunet: configuration_manager: must resample by a known function; given resize"
    ):
        export()
    configuration = objects_of(name)[1]
    del properties["spacing"]
    with pytest.raises(InvalidValue, match="^nnunet: properties_dict: must have the entries that .*; given no 'spacing'"):
        export()
    properties = objects_of(name)[3]
    properties["bbox_used_for_cropping"] = [[0, 100]] * 3
    with pytest.raises(InvalidValue, match="^nnunet: properties_dict: must hold a crop"):
        export()


# What nnunetv2 2.8.1 returns, and the arguments: extents of the image, extents of a window, tile_step_size.
STEPS = [
    ([[0, 23, 46]], (110,), (64,), 0.5),
    ([[0, 26, 51, 77], [0], [0, 32]], (205, 96, 160), (128, 96, 128), 0.25),
    ([[0, 40, 79, 118, 158]], (286,), (128,), 0.33),
    ([[0, 1, 1, 2]], (5,), (3,), 0.3),
]


@pytest.mark.parametrize(("steps", "image", "tile", "size"), STEPS)
def test_windows_begin_where_those_of_nnunetv2_begin(steps, image, tile, size):
    assert compute_steps_for_sliding_window(image, tile, size) == steps


def network(x):
    """Returns logits of three classes that depend on the place in the window."""
    places = np.arange(x[0, 0].size, dtype=np.float32).reshape(x.shape[2:])
    return np.stack([x[:, 0] + places, x[:, 1] - np.sqrt(places), x[:, 0] * x[:, 1]], 1).astype(np.float32)


def blended(image, patch, step, weighs, mirror):
    """Returns logits by nnU-Net's formula: window by window, with sums for the whole image."""
    missing = [max(0, n - extent) for n, extent in zip(patch, image.shape[4 - len(patch) :], strict=True)]
    pads = [(0, 0)] * (4 - len(patch)) + [(n // 2, n - n // 2) for n in missing]
    padded = np.pad(image, pads)
    weights = np.ones(())
    for n in patch:
        weights = np.multiply.outer(weights, np.exp(-((np.arange(n) - n // 2) ** 2) / 2 / (n / 8) ** 2 * weighs))
    total, logits = np.zeros(padded.shape[1:]), np.zeros((3, *padded.shape[1:]))
    starts = compute_steps_for_sliding_window(padded.shape[4 - len(patch) :], patch, step)
    places = [[slice(a, a + n) for a in each] for each, n in zip(starts, patch, strict=True)]
    for place in itertools.product(*[range(padded.shape[1])] * (3 - len(patch)), *places):
        window = padded[(slice(None), *place)][None]
        made = []
        for count in range(len(mirror) + 1):
            for axes in itertools.combinations([axis + 2 for axis in mirror], count):
                made.append(np.flip(network(np.flip(window, axes)), axes).astype(float))
        logits[(slice(None), *place)] += np.mean(made, 0)[0] * weights
        total[place] += weights
    inside = tuple(slice(before, n - after) for (before, after), n in zip(pads, padded.shape, strict=True))
    return (logits / total)[(slice(None), *inside[1:])]


@pytest.mark.parametrize("weighs", [True, False])
@pytest.mark.parametrize(
    ("shape", "patch", "step", "mirror"),
    [
        ((2, 21, 17, 16), (8, 9, 6), 0.5, ()),
        ((2, 9, 13, 20), (8, 9, 6), 0.3, (0, 2)),
        ((2, 5, 30, 7), (8, 9, 10), 1, (0, 1, 2)),
        ((2, 3, 20, 7), (12, 10), 0.5, (0, 1)),
    ],
)
def test_windows_are_blended_by_nnunets_formula(shape, patch, step, mirror, weighs):
    image = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    settings = {"tile_step_size": step, "use_gaussian": weighs, "mirror_axes": mirror}
    bands = []
    made = predict_sliding_window_return_logits(network, image, patch, **settings)
    given = predict_sliding_window_return_logits(
        network, image, patch, **settings, out=lambda rows, band: bands.append((rows, band))
    )
    assert given is None and [rows.start for rows, _ in bands] == [0, *(rows.stop for rows, _ in bands[:-1])]
    np.testing.assert_array_equal(np.concatenate([band for _, band in bands], 1), made)
    np.testing.assert_allclose(made, blended(image, patch, step, weighs, mirror), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"patch_size": (4,)}, "input_image: must be (channels, z, y, x), with windows of two or three extents"),
        ({"tile_step_size": 0}, "tile_step_size: must be above 0 and at most 1; given 0"),
        ({"mirror_axes": (0, 0)}, "mirror_axes: must be different axes from 0 to 2; given (0, 0)"),
        ({"mirror_axes": (3,)}, "mirror_axes: must be different axes from 0 to 2; given (3,)"),
        ({"network": lambda x: x[..., 1:]}, "network: must return logits of the window; given (1, 2, 4, 4, 3)"),
    ],
)
def test_wrong_windows_are_named(arguments, says):
    given = {"network": network, "input_image": np.zeros((2, 6, 6, 6), np.float32), "patch_size": (4, 4, 4)} | arguments
    with pytest.raises(InvalidValue) as caught:
        predict_sliding_window_return_logits(**given)
    assert says in str(caught.value)

# SPDX-License-Identifier: Apache-2.0
"""Tests that patchfold.nnunet gives the labels of nnunetv2: recorded ones, and where it is installed, its own."""

import functools
import importlib.util
import tracemalloc
import zlib
from types import SimpleNamespace

import numpy as np
import patchfold
import pytest
from patchfold import InvalidType, InvalidValue
from patchfold.nnunet import SegmentationExport, convert_predicted_logits_to_segmentation_with_correct_shape

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

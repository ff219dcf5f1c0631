# SPDX-License-Identifier: Apache-2.0
"""nnU-Net's export: from logits at the spacing of the network to labels at the spacing of the image."""

from __future__ import annotations

import inspect
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arrays.kinds import is_array, is_numpy, shape_of
from .._errors import InvalidType, InvalidValue, given_text, value_text
from .._tiles.outputs import written_extents
from ._logits import NAME, plain

_RESAMPLER = "resample_data_or_seg_to_shape"
_PROPERTIES = ("spacing", "shape_before_cropping", "bbox_used_for_cropping", "shape_after_cropping_and_before_resampling")

_Taps = list[tuple[npt.NDArray[np.intp], npt.NDArray[np.float64] | None]]
"""For one axis: which element each element of the output reads, and with which weight; None: 1."""


def convert_predicted_logits_to_segmentation_with_correct_shape(
    predicted_logits: Any,
    plans_manager: Any,
    configuration_manager: Any,
    label_manager: Any,
    properties_dict: dict[str, Any],
    *,
    out: npt.NDArray[Any] | None = None,
) -> npt.NDArray[Any]:
    """Resamples logits to the extents of the image, and returns the label of each voxel. Takes the place of nnunetv2's
    function of this name.

    Arguments:
        predicted_logits: (classes, *spatial) in the order of axes and at the spacing of the network: an array of NumPy
            (also a memmap) or torch, or a store (zarr, h5py), which is read row by row.
        others: as for SegmentationExport.

    Returns what SegmentationExport.finish does.

    Elsewhere: nnunetv2.inference.export_prediction, with return_probabilities=False.
    """
    shape = shape_of(predicted_logits, NAME, "predicted_logits")
    export = SegmentationExport(shape[1:], plans_manager, configuration_manager, label_manager, properties_dict, out=out)
    chunks = None if is_array(predicted_logits) else written_extents(predicted_logits, len(shape))
    step = 1 if chunks is None else chunks[1]
    for start in range(0, shape[1], step):
        rows = slice(start, min(start + step, shape[1]))
        export(rows, predicted_logits[:, rows])
    return export.finish()


class SegmentationExport:
    """Receives logits in bands of rows, and makes labels from them. The object is an ``out`` of apply_tiled, Merger and
    patchfold.monai.sliding_window_inference, which call it as out(rows, band).

    Shapes: logits are (classes, z, y, x), in the order of axes of the network (transpose_forward of the plans). The labels
        have the order of axes of the image, and its extents before nnU-Net's cropping.

    Arguments:
        shape: the extents (z, y, x) of the logits.
        plans_manager, configuration_manager, label_manager: nnunetv2's objects for the model, as its predictor has them.
        properties_dict: what nnU-Net's preprocessor returns with the image.
        out: an array of NumPy (also a memmap) for the labels. Default: a new one of uint8, or of uint16 for 255 labels or
            more, as in nnU-Net.

    Formula: labels = label_manager.convert_logits_to_segmentation(resampled), where resampled are the logits at the
        extents before nnU-Net's resampling, made by resample_data_or_seg_to_shape of order 0 or 1, with nearest neighbours
        along a coarse axis where nnU-Net does so. Voxels outside the crop are 0. Labels are those of nnunetv2 for float16
        and float32.

    Memory: the labels, the bands that the next row needs, and one row of resampled logits.

    Errors: InvalidValue and InvalidType with the operator "nnunet", also for plans with another resampling.

    Example:
        >>> import numpy as np
        >>> from types import SimpleNamespace as Object
        >>> from patchfold.nnunet import SegmentationExport
        >>> plans = Object(transpose_forward=[0, 1, 2], transpose_backward=[0, 1, 2])
        >>> configuration = Object(spacing=[1, 1, 1], resampling_fn_probabilities=None)
        >>> labels = Object(foreground_labels=[1], convert_logits_to_segmentation=lambda logits: logits.argmax(0))
        >>> properties = {"spacing": [1, 1, 1], "shape_before_cropping": (1, 1, 5), "bbox_used_for_cropping":
        ...     [[0, 1], [0, 1], [1, 4]], "shape_after_cropping_and_before_resampling": (1, 1, 3)}
        >>> export = SegmentationExport((1, 1, 3), plans, configuration, labels, properties)
        >>> export(slice(0, 1), np.array([[[[1.0, 2, 3]]], [[[2, 1, 4]]]]))
        >>> export.finish().tolist()
        [[[0, 1, 0, 1, 0]]]
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        plans_manager: Any,
        configuration_manager: Any,
        label_manager: Any,
        properties_dict: dict[str, Any],
        *,
        out: npt.NDArray[Any] | None = None,
    ) -> None:
        missing = [name for name in _PROPERTIES if name not in properties_dict]
        if missing:
            rule = "must have the entries that nnU-Net's preprocessor makes"
            raise InvalidValue(NAME, "properties_dict", rule, f"no {missing[0]!r}", ", ".join(map(repr, _PROPERTIES)))
        self._shape = tuple(index(extent) for extent in shape)
        self._extents = tuple(index(n) for n in properties_dict["shape_after_cropping_and_before_resampling"])
        if len(self._shape) != 3 or len(self._extents) != 3 or not all(self._shape + self._extents):
            given = f"{value_text(self._shape)} for {value_text(self._extents)}"
            raise InvalidValue(NAME, "shape", "must have three extents, above 0", given, "(1, y, x) in 2D")
        self._resamples = self._shape != self._extents
        self._taps = _taps_of(self._shape, self._extents, plans_manager, configuration_manager, properties_dict)
        self._label_manager = label_manager
        whole = tuple(index(extent) for extent in properties_dict["shape_before_cropping"])
        box = [tuple(map(index, pair)) for pair in properties_dict["bbox_used_for_cropping"]]
        self._box = tuple(slice(*pair) for pair in box)
        inside = all(0 <= start <= stop <= extent for (start, stop), extent in zip(box, whole, strict=True))
        if not inside or tuple(stop - start for start, stop in box) != self._extents:
            rule = "must hold a crop of the extents before resampling, inside the image"
            given = f"bbox_used_for_cropping {value_text(box)} of {value_text(whole)}"
            raise InvalidValue(NAME, "properties_dict", rule, given, value_text(self._extents))
        backward = [index(axis) for axis in plans_manager.transpose_backward]
        wanted = tuple(whole[axis] for axis in backward)
        if out is None:
            out = np.zeros(wanted, np.uint8 if len(label_manager.foreground_labels) < 255 else np.uint16)
        else:
            _check_out(out, wanted)
            out[...] = 0
        self._labels = out
        self._crop = out.transpose(np.argsort(backward))[self._box]
        self._bands: list[tuple[int, npt.NDArray[Any]]] = []  # the first row of each, and its logits
        self._come = self._made = 0

    def __call__(self, rows: slice, band: Any) -> None:
        """Takes the next logits: rows [rows.start, rows.stop) of z, of shape (classes, rows, y, x). Where a batch of one
        image is in front, its axis has the extent 1. The band is kept until its last row is used."""
        array = plain(band, "band")
        if array.ndim == 5 and array.shape[0] == 1:
            array = array[0]
        expected = (rows.stop - rows.start, *self._shape[1:])
        if rows.start != self._come or rows.stop > self._shape[0]:
            rule = "must be the next rows, in order"
            raise InvalidValue(NAME, "rows", rule, f"{rows.start} to {rows.stop}", f"from {self._come} to {self._shape[0]}")
        if array.ndim != 4 or array.shape[1:] != expected:
            raise InvalidValue(NAME, "band", "must be (classes, *spatial)", str(array.shape), f"(classes, *{expected})")
        if array.dtype.kind != "f":
            raise InvalidType(NAME, "band", "must hold logits in floating point", str(array.dtype), "float16 or float32")
        self._bands.append((rows.start, array))
        self._come = rows.stop
        while self._made < self._extents[0]:
            needed = [int(elements[self._made]) for elements, _ in self._taps[0]]
            if needed[-1] >= self._come:
                break
            self._bands = [each for each in self._bands if each[0] + each[1].shape[1] > needed[0]]
            row = self._resampled(self._made) if self._resamples else self._row(self._made)
            self._crop[self._made] = self._label_manager.convert_logits_to_segmentation(row[:, None])[0]
            self._made += 1

    def finish(self) -> npt.NDArray[Any]:
        """Returns the labels. Raises InvalidValue if rows are missing."""
        if self._come < self._shape[0]:
            raise InvalidValue(NAME, "rows", "must all have come", f"{self._come} rows", f"{self._shape[0]} rows")
        return self._labels

    def _row(self, number: int) -> npt.NDArray[Any]:
        """Returns the logits of a row that has come: (classes, y, x)."""
        start, band = next(each for each in reversed(self._bands) if each[0] <= number)
        row: npt.NDArray[Any] = band[:, number - start]
        return row

    def _resampled(self, number: int) -> npt.NDArray[Any]:
        """Returns the resampled logits of a row of the output. Terms are multiplied and added in the order of
        scipy.ndimage.zoom, so that sums have its bits."""
        planes = [(self._row(int(elements[number])), weights) for elements, weights in self._taps[0]]
        made = np.empty((len(planes[0][0]), *self._extents[1:]), planes[0][0].dtype)
        for kind, result in enumerate(made):
            total: npt.NDArray[np.float64] | float = 0.0
            for plane, of_row in planes:
                wide = plane[kind].astype(np.float64)
                for rows, down in self._taps[1]:
                    part = wide.take(rows, 0)
                    for columns, across in self._taps[2]:
                        term = part.take(columns, 1)
                        if of_row is not None:
                            term *= of_row[number]
                        if down is not None:
                            term *= down[:, None]
                        if across is not None:
                            term *= across
                        total += term
            result[...] = total
        return made

def _taps_of(
    shape: tuple[int, ...], extents: tuple[int, ...], plans: Any, configuration: Any, properties: dict[str, Any]
) -> list[_Taps]:
    """Returns the taps of each axis, by nnU-Net's rules for the resampling of logits."""
    if shape == extents:
        return [_linear(extent, extent) for extent in shape]
    resample = configuration.resampling_fn_probabilities
    name = getattr(getattr(resample, "func", resample), "__name__", "")
    expected = f"{_RESAMPLER} with order 0 or 1 and order_z 0"
    if name != _RESAMPLER:
        raise InvalidValue(NAME, "configuration_manager", "must resample by a known function", name, expected)
    given = {each.name: each.default for each in inspect.signature(resample).parameters.values()}
    if given["is_seg"] or given["order"] not in (0, 1) or given["order_z"] != 0:
        shown = ", ".join(f"{each}={value_text(given[each])}" for each in ("is_seg", "order", "order_z"))
        raise InvalidValue(NAME, "configuration_manager", "must resample in a known way", shown, expected)
    image = [properties["spacing"][axis] for axis in plans.transpose_forward]
    network = list(configuration.spacing)
    network = network if len(network) == len(extents) else [image[0], *network]
    coarse = _coarse_axis(network, image, given["force_separate_z"], given["separate_z_anisotropy_threshold"])
    return [
        (_nearest if axis == coarse or given["order"] == 0 else _linear)(old, new)
        for axis, (old, new) in enumerate(zip(shape, extents, strict=True))
    ]


def _coarse_axis(network: list[float], image: list[float], is_separate: bool | None, threshold: float) -> int | None:
    """Returns the axis that nnU-Net resamples apart from the others, by nearest neighbours; None if there is none."""
    spacing = network
    if is_separate is None:
        spacings = [each for each in (network, image) if max(each) / min(each) > threshold]
        is_separate, spacing = bool(spacings), (spacings or [network])[0]
    axes = [axis for axis, each in enumerate(spacing) if each == max(spacing)]
    return axes[0] if is_separate and len(axes) == 1 else None


def _places(old: int, new: int) -> npt.NDArray[np.float64]:
    """Returns where the middles of `new` elements lie between those of `old` elements along the same length."""
    return np.clip((np.arange(new) + 0.5) * (old / new) - 0.5, 0, old - 1)


def _nearest(old: int, new: int) -> _Taps:
    return [(np.floor(_places(old, new) + 0.5).astype(np.intp), None)]


def _linear(old: int, new: int) -> _Taps:
    if old == new:
        return [(np.arange(new), None)]
    places = _places(old, new)
    low = np.floor(places).astype(np.intp)
    weights = 1 - (places - low)
    return [(low, weights), (np.minimum(low + 1, old - 1), 1 - weights)]


def _check_out(out: Any, shape: tuple[int, ...]) -> None:
    if not is_numpy(out) or out.dtype.kind not in "iu" or not out.flags.writeable:
        raise InvalidType(NAME, "out", "must be a writeable array of NumPy with integers", given_text(out))
    if out.shape != shape:
        raise InvalidValue(NAME, "out", "must have the shape of the image", str(out.shape), str(shape))

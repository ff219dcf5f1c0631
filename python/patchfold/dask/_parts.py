# SPDX-License-Identifier: Apache-2.0
"""Boxes of a dask array, each put together from parts of the chunks in which the box lies."""

from __future__ import annotations

import bisect
import itertools
from typing import Any

import numpy as np
from dask._task_spec import Task, TaskRef

from .._errors import InvalidValue
from ._chunks import starts

Box = tuple[slice, ...]
"""A slice with a start and a stop for each axis."""


class Parts:
    """The tasks that return parts of an array's chunks."""

    def __init__(self, array: Any, token: str) -> None:
        self._array = array
        self._prefix = f"patchfold-part-{token}"
        self._starts = [starts(each) for each in array.chunks]

    def tasks(self, graph: dict[Any, Any], number: tuple[int, ...], box: Box) -> tuple[list[TaskRef], tuple[Box, ...]]:
        """Adds the tasks for a box to the graph. Returns the tasks' keys and the places of their parts in the box."""
        refs: list[TaskRef] = []
        places: list[Box] = []
        covered = [self._chunks(axis, each) for axis, each in enumerate(box)]
        for k, combination in enumerate(itertools.product(*covered)):
            index = tuple(chunk for chunk, _, _ in combination)
            inside = tuple(part for _, part, _ in combination)
            source: Any = (self._array.name, *index)
            key: Any = (self._prefix, *number, k)
            if all(part == slice(0, each[i]) for part, each, i in zip(inside, self._array.chunks, index, strict=True)):
                refs.append(TaskRef(source))
            else:
                graph[key] = Task(key, _part, TaskRef(source), inside)
                refs.append(TaskRef(key))
            places.append(tuple(place for _, _, place in combination))
        return refs, tuple(places)

    def _chunks(self, axis: int, box: slice) -> list[tuple[int, slice, slice]]:
        """Returns (number, slice in the chunk, slice in the box) for each chunk along an axis that shares elements with a
        box."""
        begins = self._starts[axis]
        found: list[tuple[int, slice, slice]] = []
        chunk = min(bisect.bisect_right(begins, box.start), len(begins) - 1) - 1
        while chunk < len(begins) - 1 and (begins[chunk] < box.stop or not found):
            begin, end = max(box.start, begins[chunk]), min(box.stop, begins[chunk + 1])
            inside = slice(begin - begins[chunk], max(begin, end) - begins[chunk])
            found.append((chunk, inside, slice(begin - box.start, max(begin, end) - box.start)))
            chunk += 1
        return found


def _part(chunk: Any, inside: Box) -> Any:
    return np.asarray(chunk)[inside].copy()  # a copy, since a view would keep the whole chunk


def assembled(box: Box, places: tuple[Box, ...], parts: list[Any]) -> Any:
    """Returns a box as one array."""
    shape = tuple(each.stop - each.start for each in box)
    if len(parts) == 1:
        return np.asarray(parts[0])
    region = np.empty(shape, np.asarray(parts[0]).dtype)
    for place, part in zip(places, parts, strict=True):
        region[place] = part
    return region


class Region:
    """Boxes of an array as a store of the whole array's shape, which returns slices inside one of the boxes."""

    def __init__(self, shape: tuple[int, ...], boxes: list[tuple[Box, Any]]) -> None:
        self.shape = shape
        self.dtype = boxes[0][1].dtype
        self.ndim = len(shape)
        self._boxes = boxes

    def __getitem__(self, slices: Any) -> Any:
        wanted = [each.indices(extent)[:2] for each, extent in zip(slices, self.shape, strict=True)]
        for box, data in self._boxes:
            pairs = list(zip(wanted, box, strict=True))
            if all(each.start <= begin and end <= each.stop for (begin, end), each in pairs):
                return data[tuple(slice(begin - each.start, end - each.start) for (begin, end), each in pairs)]
        raise InvalidValue("dask", "source", f"has no elements {wanted}, only {[box for box, _ in self._boxes]}")

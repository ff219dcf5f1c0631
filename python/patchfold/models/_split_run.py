# SPDX-License-Identifier: Apache-2.0
"""Splits models that see a whole plane somewhere, and runs them in tiles."""

from __future__ import annotations

import itertools
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import Any

from .._arguments import first_entries, is_integer, is_list
from .._errors import given_text
from ._errors import ModelError
from ._norms import Moments
from ._split import Extents, Part, Place, Planner, Program

MEMORY = 1 << 28

Range = tuple[int, int]


@dataclass(frozen=True)
class Split:
    """A model that runs in parts: some on whole tensors, some in tiles. Its text has a line for each part.

    parts: in the order in which they run.
    """

    model: str
    parts: tuple[Part, ...]
    _planner: Planner = field(repr=False)

    def __str__(self) -> str:
        return "\n".join([self.model, *map(str, self.parts)])

    def __call__(self, *inputs: Any, tile: Any = None, memory: int = MEMORY) -> Any:
        """Returns the results of the model: one array, or a tuple if it has several outputs.

        Tensors between parts and results are on the device of the first input, and tiles go to the device of the module. So
        a picture in the memory of the processor needs only tiles and the tensors of whole parts on another device.

        Arguments:
            inputs: as the model takes them, with any extents along the tiled axes: torch tensors for a torch module, else
                NumPy arrays.
            tile: extents of a tile along the tiled axes of the first input, or one for all axes, margins included.
                Default: the largest tile whose tensors fit into `memory`, or the smallest possible one.
            memory: bytes for the tensors of a tile. Tensors that are held whole are not counted.

        Raises: ModelError for inputs of other shapes, for extents that are no multiples of the alignment if the model has
            another halo for them, and for a tile that holds no element beside its margins.
        """
        program = self._planner.program
        extents = program.checked(inputs)
        self._check_rests(extents)
        held = dict(zip(program.inputs, inputs, strict=True))
        fixed: dict[str, Sequence[Any]] = {}
        last = {name: number for number, part in enumerate(self.parts) for name in part.inputs}
        for number, part in enumerate(self.parts):
            feeds = {name: held[name] for name in part.inputs}
            if part.whole:
                made = program.run(part, feeds, {}, extents)
                held |= {name: program.kept(each, inputs[0]) for name, each in zip(part.outputs, made, strict=True)}
            else:
                tiles = _Tiles(program, self._planner.places, part, extents)
                held |= tiles.run(feeds, fixed, tiles.cores(tile, memory), inputs[0])
                fixed |= {norm.node: program.numbers(norm, *tiles.sums[norm.node].all()) for norm in part.sums}
            del feeds
            for name in [name for name, when in last.items() if when == number and name not in program.outputs]:
                held.pop(name, None)
        results = tuple(held[name] for name in program.outputs)
        return results[0] if len(results) == 1 else results

    def _check_rests(self, extents: Sequence[int]) -> None:
        """Raises an error for extents that are no multiples of the alignment of a part in tiles if its halo for such extents
        is another one: then pads or scales follow from the extents, and tiles have others."""
        sizes = self._planner.program.extents
        for part in self.parts:
            rests = [extent % align for extent, align in zip(extents, part.align, strict=False)]
            if any(rests):
                near = zip(sizes, rests, part.align, strict=True)
                found = self._planner.halos(part, [-(-n // align) * align + rest for n, rest, align in near])
                if found != part.halos:
                    made, rule = ", ".join(part.outputs), f"must be multiples of {part.align} for the tiles that make"
                    raise ModelError(f"extents of the tiled axes {rule} {made}; given {tuple(extents)}")


class _Tiles:
    """A part of a model for inputs of given extents."""

    def __init__(self, program: Program, places: Mapping[str, Place | None], part: Part, extents: Sequence[int]):
        self.program, self.places, self.part, self.extents = program, places, part, extents
        self.shapes = {name: program.shape(name, extents) for name in (*part.inputs, *part.outputs)}
        self.sums = {norm.node: Moments() for norm in part.sums}

    def cores(self, tile: Any, memory: int) -> list[list[Range]]:
        """Returns, for each tiled axis, the ranges that tiles without their margins have."""
        part, count = self.part, len(self.extents)
        if tile is None:
            size = self._size(memory)
            wanted = [size] * count
        else:
            entries = first_entries(tile) if is_list(tile) else (tile,) * count
            if entries is None or len(entries) != count or not all(map(is_integer, entries)):
                raise ModelError(f"tile: must be an integer for each of {count} tiled axes; given {given_text(tile)}")
            wanted = [index(entry) for entry in entries]
        ranges = []
        for axis, (size, extent) in enumerate(zip(wanted, self.extents, strict=True)):
            align, margin = part.align[axis], part.margin[axis]
            own = extent if size >= extent else (size - 2 * margin) // align * align
            if own < 1 and tile is not None:
                least = f"{2 * margin + align}: margins of {margin} and the alignment of {align}"
                raise ModelError(f"tile: must be at least {least} along tiled axis {axis}; given {size}")
            own = max(own, align)
            ranges.append([(begin, min(begin + own, extent)) for begin in range(0, extent, own)])
        return ranges

    def _size(self, memory: int) -> int:
        """Returns the extent of the largest tile whose tensors fit into the memory."""
        low, high = 0, max(self.extents) + 1
        while high - low > 1:
            middle = (low + high) // 2
            fits = self.part.bytes * math.prod(min(middle, extent) for extent in self.extents) <= memory
            low, high = (middle, high) if fits else (low, middle)
        return low

    def run(
        self, feeds: Mapping[str, Any], fixed: Mapping[str, Sequence[Any]], cores: list[list[Range]], like: Any
    ) -> dict[str, Any]:
        """Returns the tensors that the part holds, and adds to the statistics of its norms."""
        program, part = self.program, self.part
        held: dict[str, Any] = {}
        for core in itertools.product(*cores):
            read = list(map(_with_margin, core, part.margin, part.align, self.extents))
            tile = {name: x[self._cut(name, read)] for name, x in feeds.items()}
            made = program.run(part, tile, fixed, [end - begin for begin, end in read])
            for name, each in zip(part.outputs, made, strict=True):
                own = each[self._cut(name, core, read, tuple(each.shape))]
                if name in part.held:
                    if name not in held:
                        held[name] = program.empty(self.shapes[name], own, like)
                    held[name][self._cut(name, core)] = program.kept(own, like)
                for norm in part.sums:
                    if norm.source == name:
                        self.sums[norm.node].add(*program.moments(own, norm.groups))
        return held

    def _cut(
        self, name: str, wanted: Sequence[Range], there: Sequence[Range] = (), shape: tuple[int, ...] = ()
    ) -> tuple[slice, ...]:
        """Returns the place of a range of the tiled axes in a tensor, or in the tensor's part for the range `there`. shape:
        of this part, which is checked."""
        whole = self.shapes[name]
        cut, expected = [slice(None)] * len(whole), list(whole)
        for axis, (along, scale) in (self.places[name] or {}).items():
            ends = whole[axis], self.extents[along], scale
            begin, end = _scaled(wanted[along], *ends)
            first = 0
            if there:
                first, last = _scaled(there[along], *ends)
                expected[axis] = last - first
            cut[axis] = slice(begin - first, end - first)
        if there and list(shape) != expected:
            rule = f"a tile must have the shape {tuple(expected)} for it; given {shape}"
            raise ModelError(f"{self.program.path}: {name!r} cannot be made in tiles: {rule}")
        return tuple(cut)


def _with_margin(core: Range, margin: int, align: int, extent: int) -> Range:
    """Returns the range that a tile reads: at least two elements, since torch takes an extent of one for a constant."""
    begin = max(min(core[0] - margin, (extent - 2) // align * align), 0)
    return begin, min(max(core[1] + margin, begin + 2), extent)


def _scaled(part: Range, whole: int, extent: int, scale: Any) -> Range:
    """Returns the range of a tensor's axis that belongs to a range of the input's."""
    return int(part[0] * scale), whole if part[1] == extent else int(part[1] * scale)


def split_for_tiles(
    model: Any,
    input_shapes: Sequence[Sequence[int]] | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
    axes: Sequence[int] | None = None,
    keep: bool = True,
) -> Split:
    """Splits a model that sees the whole plane somewhere into parts, and returns a function that runs it in tiles.

    Nodes that see a whole axis (attention, global pooling, unknown nodes) run on whole tensors, and so do nodes between
    tensors that are no larger. All other nodes run in tiles with their halo. For GroupNorm and InstanceNorm, the statistics
    of the whole plane are summed up in a first pass, in float64, and later parts use them. So the result is the whole one,
    up to rounding.

    Arguments:
        model: a torch module, a torch.export.ExportedProgram whose tiled axes are open, a path of an .onnx file or an
            onnx.ModelProto.
        input_shapes: for a torch module, a shape for each of its inputs. The plan holds for any extents of the tiled axes,
            so small ones will do.
        sizes: for an ONNX model, extents of other open dimensions, as for `inspect`.
        axes: axes of the first input that are cut into tiles. Default: all but the first two.
        keep: whether the inputs of norms are held whole too, so that nothing is computed twice. With False they are computed
            again for each later norm, which takes less memory and more time.

    Returns: a Split. It is called with the model's inputs, and its text lists the parts.

    Raises: ModelError if no part can run in tiles (the error names the nodes), and for a module that torch.export does not
        export with open extents; ImportError for an ONNX model without the package onnx.
    """
    program = program_of(model, input_shapes, dict(sizes or {}), axes)
    planner = Planner(program, keep)
    return Split(program.path, tuple(planner.plan()), planner)


def check_extents(
    model: Any, shapes: Sequence[Sequence[int]] | None, ranges: Mapping[int, Range], aligns: Mapping[int, int]
) -> None:
    """Raises a ModelError that names the nodes of a model that compute something else for other extents of some axes. Files
    other than ONNX pass, and so do models whose extents are fixed, for multiples of the alignment. ranges: the least and the
    largest extent of each axis. aligns: the multiples at which tiles along the axes begin."""
    if isinstance(model, (str, os.PathLike)) and not os.fspath(model).endswith(".onnx"):
        return
    program, axes = program_of(model, shapes, {}, sorted(ranges)), sorted(ranges)
    rests = [ranges[axis][1] % aligns[axis] for axis in axes]
    if program.is_open:
        for extents in zip(*(ranges[axis] for axis in axes), strict=True):
            program.check_ranges(extents)
        sizes = zip(program.extents, rests, (aligns[axis] for axis in axes), strict=True)
        Extents(program).check([-(-n // align) * align + rest for n, rest, align in sizes] if any(rests) else None)
    elif any(rests):
        raise ModelError("it has fixed extents, so its halo for extents that are no multiples of the alignment is not known")


def program_of(
    model: Any, shapes: Sequence[Sequence[int]] | None, sizes: dict[str, int], axes: Sequence[int] | None
) -> Program:
    """Returns the program of a model, with open extents of the tiled axes."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(model, (torch.nn.Module, torch.export.ExportedProgram)):
        from ._split_torch import TorchProgram

        if sizes:
            raise ModelError("sizes: must be left out for torch; give input_shapes")
        return TorchProgram(model, shapes, axes)
    if shapes is not None:
        raise ModelError("input_shapes: must be left out, since the model holds its shapes")
    from ._split_onnx import OnnxProgram

    return OnnxProgram(model, sizes, axes)

# SPDX-License-Identifier: Apache-2.0
"""The tiles with which apply_tiled gives the result for the whole array: computed from a model, or measured."""

from __future__ import annotations

import importlib
import math
import sys
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import index
from typing import Any

import numpy as np

from .._arguments import first_entries, is_integer, is_list
from .._arrays.devices import to_device, to_processor
from .._arrays.kinds import is_numpy, is_torch, module_of
from .._errors import InvalidType, InvalidValue, given_text, value_text
from .halo import Halo
from .missing_axes import called
from .probe import kind_of
from .receptive_field import is_part, receptive_field

EXACT = "exact"
MEMORY = 1 << 28
# The extents of the arrays on which a function is measured; a larger one is tried if the middle sees an end.
MEASURED = (64, 128, 256, 512)
# The largest extents for which a torch module is exported: halos do not depend on the extents.
EXPORTED = 128
# Settings that follow from the halo.
DECIDED = {"tail": "shift", "scale": 1, "offset": None, "result": None, "align": 1, "window": None, "reduce": None,
           "stride": None, "margin": 0, "output": None}


@dataclass(frozen=True)
class Call:
    """A call of apply_tiled: the function, the array's facts, and the arguments that decide the tiles of overlap="exact"."""

    operator: str
    fn: Callable[[Any], Any]
    shape: tuple[int, ...]
    dtype: Any
    kind: Any
    model: Any
    memory: Any
    batch: int
    stacked: bool
    device: Any

    def check_plain(self) -> None:
        """Raises an error for arguments that only overlap="exact" reads."""
        for name in ("model", "memory"):
            if getattr(self, name) is not None:
                self._refuse(name, 'must be left out, unless overlap="exact"')

    def exact(self, tile: Any, settings: Mapping[str, Any]) -> tuple[tuple[int, ...], dict[str, Any]]:
        """Returns the tile and the settings with which the tiles give the result for the whole array."""
        given = dict(settings)
        for name, default in DECIDED.items():
            if given.get(name) is not None and given[name] != default:
                self._refuse(name, "must be left out, since it follows from the halo", value_text(given[name]))
        wanted = self._wanted_axes(given.get("axes"), tile)
        axes, held, more = self._modelled(wanted) if self.model is not None else self._measured(wanted)
        tile = self._tile(tile, axes, held)
        fits = all(self.shape[axis] % each.align == 0 for axis, each in axes.items())
        fits &= all(extent <= self.shape[axis] for axis, extent in zip(axes, tile, strict=True))
        if self.model is not None:
            least = tile if fits else [min(each.overlap + 1, self.shape[axis]) for axis, each in axes.items()]
            ranges = {axis + more: (n, self.shape[axis]) for axis, n in zip(axes, least, strict=True)}
            self._check_extents(ranges, {axis + more: each.align for axis, each in axes.items()})
        given |= {
            "axes": tuple(axes), "scale": [each.scale for each in axes.values()], "reduce": "center",
            "align": [each.align for each in axes.values()], "tail": "shift" if fits else "partial",
            "overlap": tuple(each.overlap for each in axes.values()),
        }  # fmt: skip
        return tile, given

    def _refuse(self, argument: str, rule: str, given: str = "", expected: str = "") -> None:
        raise InvalidValue(self.operator, argument, rule, given, expected)

    def _wanted_axes(self, axes: Any, tile: Any) -> list[int] | None:
        """Returns the axes that must be tiled; None if these are all axes with a halo."""
        rank = len(self.shape)
        if axes is None:
            count = len(first_entries(tile) or ()) if is_list(tile) else 0
            return list(range(rank - count, rank)) if 0 < count <= rank else None
        entries = first_entries(axes) if is_list(axes) else (axes,)
        if entries is None or not all(map(is_integer, entries)):
            raise InvalidType(self.operator, "axes", "must be axes of the array", given_text(axes))
        listed = [index(axis) for axis in entries]
        if not listed or any(not -rank <= axis < rank for axis in listed):
            self._refuse("axes", "must be axes of the array", value_text(axes), f"{-rank} to {rank - 1}")
        return sorted({axis % rank for axis in listed})

    def _shapes(self) -> list[tuple[int, ...]] | None:
        """Returns the shapes for which a torch module is exported."""
        torch = sys.modules.get("torch")
        if torch is None or not isinstance(self.model, torch.nn.Module):
            return None
        shape = tuple(min(extent, EXPORTED) for extent in self.shape)
        return [(min(self.batch, 2), *shape) if self.stacked else shape]

    def _check_extents(self, ranges: Mapping[int, tuple[int, int]], aligns: Mapping[int, int]) -> None:
        """Raises an error for a model that computes something else for other extents. ranges: the least and the largest
        extent of an array that the model is given, for each tiled axis. aligns: the alignment of each."""
        models: Any = importlib.import_module("patchfold.models")
        run: Any = importlib.import_module("patchfold.models._split_run")
        try:
            if not isinstance(self.model, models.Halos):
                run.check_extents(self.model, self._shapes(), ranges, aligns)
        except models.ModelError as error:
            self._refuse("model", f"must compute the same for all extents: {error}")

    def _modelled(self, wanted: list[int] | None) -> tuple[dict[int, _Axis], Fraction, int]:
        models: Any = importlib.import_module("patchfold.models")  # that room imports this one
        found = self.model if isinstance(self.model, models.Halos) else models.halo(self.model, self._shapes())
        names = dict.fromkeys(each.input for each in found.halos)
        if len(names) != 1:
            self._refuse("model", "must have one input on which its outputs depend", ", ".join(names) or "none")
        shape = found.inputs[next(iter(names))]
        if len(shape) < len(self.shape):
            rule = "must take an array of the last axes of x, or with more axes in front"
            self._refuse("model", rule, f"an input of {len(shape)} axes", f"at least {len(self.shape)}")
        more = len(shape) - len(self.shape)
        mixed = [each for each in found.halos if each.axis < more and (each.before, each.after) != (0, 0)]
        if self.batch > 1 and mixed:
            reason = (*mixed[0].unbounded_by, str(mixed[0]))[0]
            self._refuse("batch", f"must be 1, since the model mixes the tiles of a stack: {reason}", str(self.batch))
        return self._bounded(found.halos, more, wanted), found.bytes, more

    def _measured(self, wanted: list[int] | None) -> tuple[dict[int, _Axis], Fraction, int]:
        more = int(self.stacked)
        tested = range(len(self.shape)) if wanted is None else wanted
        for most in MEASURED:
            shape = tuple(min(n, most) if axis in tested else n for axis, n in enumerate(self.shape))
            sizes = (1,) * more + shape
            found = receptive_field(self._called, sizes, axes=[axis + more for axis in tested], dtype=self._dtype())
            if shape == self.shape or all(halo.before is not None for halo in found.halos):
                break
        tracemalloc.start()
        try:
            results = self._called(np.ones(sizes, self._dtype()))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        size = sum(each.nbytes for each in (results.values() if isinstance(results, dict) else [results]))
        held = self._dtype().itemsize + Fraction(max(peak, size), max(math.prod(sizes), 1))
        axes = self._bounded(found.halos, more, wanted)
        self._check_measured(sizes, axes, [each for each in found.halos if each.axis - more in axes])
        return axes, held, more

    def _check_measured(self, sizes: tuple[int, ...], axes: Mapping[int, _Axis], halos: Sequence[Halo]) -> None:
        """Raises an error for a function that gives other results for the extents of the last tile, or for stacks."""
        odd = [each for each in halos if self.shape[self._own(each, sizes)] % axes[self._own(each, sizes)].align]
        if not odd and self.batch == 1:
            return
        x = (np.random.default_rng(0).random(sizes) * 100).astype(self._dtype())
        whole = self._results(x)
        for halo in odd:
            axis = self._own(halo, sizes)
            extent, align = self.shape[axis], axes[axis].align
            own = (sizes[halo.axis] - extent - align) // align * align + extent
            halo = replace(halo, alignment=align)
            if own > 0 and not is_part(self._results, x, whole[halo.output], halo, own):
                rule = f"must have extents along axis {axis} that are multiples of {align}"
                self._refuse("x", f"{rule}, since the function gives other results for others", str(extent))
        both = self._results(np.concatenate([x, x[:, ::-1] + x.dtype.type(1)])) if self.batch > 1 else whole
        pairs = [(both[name][:1], each) for name, each in whole.items()] if self.batch > 1 else []
        if any(a.shape != b.shape or not np.allclose(a, b, rtol=1e-3, atol=1e-3, equal_nan=True) for a, b in pairs):
            self._refuse("batch", "must be 1, since the function mixes the tiles of a stack", str(self.batch))

    def _own(self, halo: Halo, sizes: tuple[int, ...]) -> int:
        """Returns the axis of the array that is a halo's axis of an array of some sizes."""
        return halo.axis - len(sizes) + len(self.shape)

    def _results(self, x: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
        """Returns the function's results by the names that receptive_field gives them."""
        made = self._called(x)
        return {f"result {name}": each for name, each in made.items()} if isinstance(made, dict) else {"result": made}

    def _dtype(self) -> np.dtype[Any]:
        try:
            return np.dtype(str(self.dtype).rpartition(".")[2])
        except TypeError:  # an element type that NumPy lacks
            return np.dtype(np.float32)

    def _called(self, x: np.ndarray[Any, Any]) -> Any:
        """Returns what the function returns for a NumPy array, as an array of NumPy or as a dict of arrays."""
        given: Any = x
        if is_torch(self.kind):
            given = sys.modules["torch"].from_numpy(x)
        elif module_of(self.kind) == "tensorflow":
            given = sys.modules["tensorflow"].constant(x)
        elif not is_numpy(self.kind):
            given = self.kind.__array_namespace__().asarray(x)
        made = called(self.fn, to_device(given, self.device, self.operator), self.stacked, self.operator)
        kind = kind_of(made)
        if kind is None:
            return self._array(made)
        return {str(name): self._array(each) for name, each in (made.items() if kind is dict else enumerate(made))}

    def _array(self, made: Any) -> np.ndarray[Any, Any]:
        made = to_processor(made.detach() if is_torch(made) else made, self.operator, "result")
        return np.asarray(made)

    def _bounded(self, halos: Sequence[Halo], more: int, wanted: list[int] | None) -> dict[int, _Axis]:
        """Returns what tiles need along each tiled axis. more: the number of axes of the halos' input before those of x."""
        by_axis: dict[int, list[Halo]] = {}
        for halo in halos:
            by_axis.setdefault(halo.axis - more, []).append(halo)
        reasons = {
            axis: list(dict.fromkeys(text for each in by_axis.get(axis, ()) for text in (*each.unbounded_by, *each.notes)))
            for axis in range(len(self.shape))
        }
        axes = [axis for axis in by_axis if axis >= 0 and not reasons[axis]] if wanted is None else wanted
        named = [axis for axis in reasons if reasons[axis] and (axis in axes or not axes)]
        if named or not axes:
            text = "; ".join(f"axis {axis}: {', '.join(reasons[axis])}" for axis in named) or "no result depends on x"
            expected = "a number of elements with window='linear', which blends; or such nodes run on the whole array first"
            self._refuse("overlap", f"no overlap makes tiles exact: {text}", value_text(EXACT), expected)
        return {axis: self._axis(axis, more, by_axis.get(axis, [])) for axis in sorted(axes)}

    def _axis(self, axis: int, more: int, halos: Sequence[Halo]) -> _Axis:
        scales, align, reach = {each.scale or Fraction(1) for each in halos}, 1, 0
        for each in halos:
            if each.output_axis != axis + more:
                given = f"{each.output} has it as axis {each.output_axis}"
                self._refuse("overlap", f"axis {axis} must be the same axis of each result", given)
            assert each.before is not None and each.after is not None and each.alignment is not None
            align, reach = math.lcm(align, each.alignment), max(reach, each.before, each.after)
        if len(scales) > 1:
            listed = " and ".join(map(str, sorted(scales)))
            self._refuse("overlap", f"all results must have one scale along axis {axis}", listed)
        scale = next(iter(scales), Fraction(1))
        if self.shape[axis] * scale % 1:
            multiple = f"to a multiple of {scale.denominator}, since the scale is {scale}"
            rule = f"must be cropped or padded along axis {axis} {multiple}"
            self._refuse("x", rule, str(self.shape[axis]))
        return _Axis(reach, align, scale)

    def _tile(self, given: Any, axes: Mapping[int, _Axis], held: Fraction) -> tuple[int, ...]:
        """Returns the given extents of a tile, after a check, or the largest ones within the memory."""
        least = [each.overlap + each.align for each in axes.values()]
        aligns = [each.align for each in axes.values()]
        if given is not None:
            entries = first_entries(given) if is_list(given) else (given,) * len(axes)
            if entries is None or not all(map(is_integer, entries)):
                raise InvalidType(self.operator, "tile", "must be integers", given_text(given))
            tile = tuple(map(index, entries))
            if len(tile) != len(axes):
                self._refuse("tile", "must have an extent for each tiled axis", value_text(given), str(len(axes)))
            if any(n < low or n % align for n, low, align in zip(tile, least, aligns, strict=True)):
                expected = ", ".join(f"at least {low}" for low in least)
                rule = f"must be multiples of the alignment {tuple(aligns)} that are larger than the overlap"
                self._refuse("tile", rule, value_text(tile), expected)
            return tile
        most = MEMORY if self.memory is None else self.memory
        if not is_integer(most) or most < 1:
            self._refuse("memory", "must be a number of bytes, at least 1", value_text(most))
        ends = [-(-self.shape[axis] // align) * align for axis, align in zip(axes, aligns, strict=True)]
        rest = math.prod(extent for axis, extent in enumerate(self.shape) if axis not in axes) * self.batch

        def extents(size: int) -> tuple[int, ...]:
            sizes = zip(least, aligns, ends, strict=True)
            return tuple(min(max(size // align * align, low), max(end, low)) for low, align, end in sizes)

        def needed(size: int) -> int:
            inside = (min(n, self.shape[axis]) for n, axis in zip(extents(size), axes, strict=True))
            return math.ceil(held * rest * math.prod(inside))

        low, high = 0, max(ends) + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if needed(middle) <= most else (low, middle)
        if needed(low) > most:
            rule = f"must hold the smallest tile, {'x'.join(map(str, extents(0)))}, with what the function holds for it"
            self._refuse("memory", rule, str(most), f"at least {needed(low)}")
        return extents(low)


@dataclass(frozen=True)
class _Axis:
    """What tiles need along an axis. reach: the larger number of elements before and after."""

    reach: int
    align: int
    scale: Fraction

    @property
    def overlap(self) -> int:
        return -(-2 * self.reach // self.align) * self.align

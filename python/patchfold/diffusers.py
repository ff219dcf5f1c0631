# SPDX-License-Identifier: Apache-2.0
"""Decodes and encodes with the autoencoders of diffusers in tiles, for pictures and videos, on the device of the tensors.

One way for all modules that have the methods of diffusers.AutoencoderKL, in place of each module's own tiling. Tiles and
overlaps are numbers of latents everywhere, so pixels and latents cannot be mixed up. This module imports torch, and not
diffusers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Literal

import torch

from ._arguments import first_entries, is_integer, is_list
from ._errors import InvalidType, InvalidValue, given_text, value_text
from ._tiles.exact import EXACT
from ._tiles.tiling import Tiling
from ._typing import Int, IntOrInts
from .models import ModelError, split_for_tiles

__all__ = ["decode", "encode"]

TILE = 64
# The extents for which a module is planned: plans do not depend on them.
PLANNED = 64


def decode(
    vae: Any, latents: torch.Tensor, tile: IntOrInts | None = None, *, overlap: IntOrInts | Literal["exact"] = 16,
    scale: Int | None = None,
) -> torch.Tensor:  # fmt: skip
    """Decodes latents in overlapping tiles, and returns the picture or video.

    Results are weighted sums: along each axis the weights of a tile fall linearly over the overlap, and the weights of
    all tiles add up to 1, also where four tiles meet. The sums are in float32, or in float64 for float64.

    Shapes: latents (N, C, .., H, W) -> (N, channels, .., H * scale, W * scale).

    Arguments:
        vae: a module with the method ``decode`` of diffusers.AutoencoderKL, whose own tiling is off (``disable_tiling()``).
        latents: a tensor on the device of the module.
        tile: extents of a tile in latents, for the last two axes (or a list, for the last axes). Default: 64.
        overlap: latents that neighbouring tiles share, fewer than the tile; or "exact". Then the decoder is split by
            ``models.split_for_tiles``: attention and the nodes around it run on the whole latents, norms use the statistics
            of the whole plane, and all other nodes run in tiles with their halo. The result is the whole one, up to
            rounding. The tile is then the largest whose tensors fit into 256 MB, unless it is given.
        scale: pixels for each latent along the tiled axes. Default: the module's own ``spatial_compression_ratio``, or a
            factor of 2 for each of ``config.block_out_channels`` but one.

    Errors: InvalidValue and InvalidType. With overlap="exact" the error names the nodes that see the whole plane where no
        part of the decoder can run in tiles. With a number each tile is normalised by itself, which changes contrast and
        colours from tile to tile; larger tiles change less.

    Example:
        >>> import torch, patchfold.diffusers
        >>> class Twice(torch.nn.Module):
        ...     def decode(self, z):
        ...         return torch.nn.functional.interpolate(z, scale_factor=2)
        >>> z = torch.rand(1, 4, 100, 80)
        >>> picture = patchfold.diffusers.decode(Twice(), z, 32, overlap="exact", scale=2)
        >>> torch.equal(picture, Twice().decode(z))
        True
    """
    return _Run("decode", vae, latents, scale).tiled(tile, overlap)


def encode(
    vae: Any, pictures: torch.Tensor, tile: IntOrInts | None = None, *, overlap: IntOrInts | Literal["exact"] = 16,
    scale: Int | None = None,
) -> Any:  # fmt: skip
    """Encodes pictures or videos in overlapping tiles, and returns what the module calls their latents.

    The parameters of the distributions are merged, as ``decode`` merges pictures.

    Shapes: pictures (N, channels, .., H, W) -> (N, C, .., H / scale, W / scale); H and W must be multiples of scale.

    Arguments:
        vae: a module with the method ``encode`` of diffusers.AutoencoderKL, whose own tiling is off.
        pictures: a tensor on the device of the module.
        tile, overlap, scale: as for ``decode``: numbers of latents, not of pixels.

    Types: returns a distribution of the module's own type (``latent_dist``), or a tensor if ``encode`` gives a tensor.

    Errors: as for ``decode``.
    """
    run = _Run("encode", vae, pictures, scale)
    merged = run.tiled(tile, overlap)
    return merged if run.distribution is None else run.distribution(merged)


class _Part(torch.nn.Module):
    """A module whose forward is a method of another one."""

    def __init__(self, run: _Run) -> None:
        super().__init__()
        self.vae, self.run = run.vae, run.called

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.run(x)


class _Run:
    """A call of decode or encode. distribution: the type of what encode returns, if it is a distribution."""

    def __init__(self, name: str, vae: Any, x: Any, scale: Any) -> None:
        self.name, self.vae, self.x = f"diffusers.{name}", vae, x
        self.distribution: Callable[[torch.Tensor], Any] | None = None
        self.method: Callable[[Any], Any] = getattr(vae, name, None)  # type: ignore[assignment]
        if not callable(self.method):
            raise InvalidType(self.name, "vae", f"must have a method {name}", given_text(vae))
        if not isinstance(x, torch.Tensor) or x.ndim < 4:
            argument = "latents" if name == "decode" else "pictures"
            rule = "must be a tensor of at least 4 axes: batch, channels, height, width"
            raise InvalidType(self.name, argument, rule, given_text(x))
        if getattr(vae, "use_tiling", False):
            raise InvalidValue(self.name, "vae", "must not tile by itself", "use_tiling=True", "vae.disable_tiling()")
        self.scale = self._scale(scale)
        self.unit = 1 if name == "decode" else self.scale

    def _scale(self, given: Any) -> int:
        if given is None:
            given = getattr(self.vae, "spatial_compression_ratio", None)
        blocks = getattr(getattr(self.vae, "config", None), "block_out_channels", None)
        if given is None and blocks:
            given = 2 ** (len(blocks) - 1)
        if given is None:
            rule = "must be given, since the module has neither spatial_compression_ratio nor config.block_out_channels"
            raise InvalidType(self.name, "scale", rule, "None", "pixels for each latent, as 8")
        if not is_integer(given) or given < 1:
            raise InvalidValue(self.name, "scale", "must be a number of pixels, at least 1", value_text(given))
        return int(given)

    def called(self, x: torch.Tensor) -> torch.Tensor:
        """Returns the tensor in what the module's method returns."""
        made = self.method(x)
        for name in ("sample", "latent_dist", "latents", "latent"):
            if not isinstance(made, torch.Tensor) and hasattr(made, name):
                made = getattr(made, name)
        if isinstance(made, tuple):
            made = made[0]
        if hasattr(made, "parameters") and isinstance(made.parameters, torch.Tensor):
            self.distribution, made = type(made), made.parameters
        if not isinstance(made, torch.Tensor):
            rule = "must return a tensor, or an object with sample or latent_dist"
            raise InvalidType(self.name, "vae", rule, given_text(made))
        return made

    def _latents(self, argument: str, given: Any) -> list[int]:
        """Returns a number of latents for each tiled axis, in elements of x."""
        entries = first_entries(given) if is_list(given) else (given, given)
        if not entries or len(entries) > self.x.ndim - 2 or not all(map(is_integer, entries)):
            rule = "must be numbers of latents: one for the last two axes, or one for each tiled axis"
            raise InvalidType(self.name, argument, rule, given_text(given))
        return [int(entry) * self.unit for entry in entries]

    def tiled(self, tile: Any, overlap: Any) -> torch.Tensor:
        exact = isinstance(overlap, str) and overlap == EXACT
        tiles = self._latents("tile", TILE if tile is None else tile)
        axes = range(self.x.ndim - len(tiles), self.x.ndim)
        for axis in axes:
            if self.x.shape[axis] % self.unit:
                rule = f"must have extents that are multiples of {self.unit} along tiled axes"
                raise InvalidValue(self.name, "pictures", rule, str(tuple(self.x.shape)))
        if exact:
            return self._exact(None if tile is None else tiles, axes)
        shared = self._latents("overlap", overlap if is_list(overlap) else [overlap] * len(tiles))
        if len(shared) != len(tiles) or not all(0 <= each < extent for each, extent in zip(shared, tiles, strict=True)):
            rule = "must be numbers of latents from 0 to less than the tile, one for each tiled axis"
            raise InvalidValue(self.name, "overlap", rule, value_text(overlap))
        extents = [min(extent, self.x.shape[axis]) for extent, axis in zip(tiles, axes, strict=True)]
        shared = [min(each, extent - self.unit) for each, extent in zip(shared, extents, strict=True)]
        ratio = Fraction(self.scale) if self.unit == 1 else Fraction(1, self.scale)
        tiling = Tiling(tuple(self.x.shape), extents, overlap=shared, axes=list(axes), scale=ratio, align=self.unit)
        return self._merged(tiling, [each * self.scale if self.unit == 1 else each // self.scale for each in shared])

    def _exact(self, tiles: list[int] | None, axes: range) -> torch.Tensor:
        shape = [
            min(extent, max(PLANNED, self.unit)) if axis in axes else extent for axis, extent in enumerate(self.x.shape)
        ]
        try:
            made: torch.Tensor = split_for_tiles(_Part(self), [shape], axes=axes)(self.x, tile=tiles)
        except ModelError as error:
            raise InvalidValue(self.name, "overlap", f"cannot be exact: {error}", value_text(EXACT)) from None
        return made

    def _merged(self, tiling: Tiling, ramps: Sequence[int]) -> torch.Tensor:
        """Returns the merge of the results for all tiles. ramps: elements of the result along each axis over which the
        weights fall."""
        axes, out, kind = tiling.axes, None, self.x.dtype
        places = [self._places(tiling, number) for number in range(len(axes))]
        for one in tiling:
            made = self.called(self.x[one.read])
            wanted = list(made.shape)
            for axis in axes:
                wanted[axis] = one.result_shape[axis]
            if list(made.shape) != wanted or made.ndim != self.x.ndim:
                rule = f"must return {self.scale} pixels for each latent along the tiled axes {axes}"
                raise InvalidValue(self.name, "scale", rule, str(tuple(made.shape)), str(tuple(wanted)))
            if out is None:
                kind = made.dtype
                shape = [tiling.output_shape[axis] if axis in axes else made.shape[axis] for axis in range(made.ndim)]
                wide = torch.float64 if kind == torch.float64 else torch.float32
                out = made.new_zeros(shape, dtype=wide)
            write = [slice(None)] * made.ndim
            for number, axis in enumerate(axes):
                begin, end = places[number][one.position[number]]
                if len(places[number]) > 1:
                    weights = _weights(places[number], ramps[number], out)[one.position[number]]
                    made = made.to(out.dtype) * weights.reshape(-1, *[1] * (made.ndim - axis - 1))
                write[axis] = slice(begin, end)
            out[tuple(write)] += made
        if out is None:
            raise InvalidValue(self.name, "latents", "must have elements", str(tuple(self.x.shape)))
        return out.to(kind)

    def _places(self, tiling: Tiling, number: int) -> list[tuple[int, int]]:
        """Returns where the results of the tiles along an axis begin and end."""
        position, axis, found = [0] * len(tiling.axes), tiling.axes[number], []
        for place in range(tiling.grid[number]):
            position[number] = place
            write = tiling[tuple(position)].write[axis]
            found.append((write.start, write.stop))
        return found


def _weights(places: Sequence[tuple[int, int]], ramp: int, like: torch.Tensor) -> list[torch.Tensor]:
    """Returns the weights of the tiles along an axis; at each element they add up to 1."""
    total, weights = like.new_zeros(places[-1][1]), []
    for number, (begin, end) in enumerate(places):
        at = torch.arange(end - begin, dtype=like.dtype, device=like.device)
        weight = torch.ones_like(at)
        if ramp and number > 0:
            weight = torch.minimum(weight, (at + 0.5) / ramp)
        if ramp and number < len(places) - 1:
            weight = torch.minimum(weight, (end - begin - at - 0.5) / ramp)
        weights.append(weight)
        total[begin:end] += weight
    return [weight / total[begin:end] for weight, (begin, end) in zip(weights, places, strict=True)]

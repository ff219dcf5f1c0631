# SPDX-License-Identifier: Apache-2.0
"""Names of other libraries whose calls here are more than a call of one operator. docs/python.md has the table of names."""

_TILED = "patchfold.apply_tiled(fn, x, tile, overlap=0)"
_CROPS = "patchfold.gather_patches(x, corners, size)"
_FRAMES = "patchfold.unfold(x, (size,), stride=step)"
_SHUFFLED = "patchfold.reorder(x.reshape(n, c, -1), (c // groups,))"
_WINDOWS = "patchfold.unfold_view(image, kernel_size)"
_BLOCKS = "patchfold.space_to_depth_view(image, block)"
_RECONSTRUCTED = "patchfold.reconstruct(columns, shape, kernel_size)"
_SAMPLED = "patchfold.torchio"

CALLS = {
    "ChannelShuffle": _SHUFFLED,
    "Focus": "patchfold.space_to_depth(image, 2)",
    "GridAggregator": f"{_SAMPLED}.GridAggregator, or patchfold.Merger,",
    "GridSampler": f"{_SAMPLED}.GridSampler, or patchfold.Tiling(shape, tile, overlap=overlap),",
    "Identity": "patchfold.copy(x)",
    "PatchExtractor": "patchfold.unfold(image, kernel_size)",
    "Qwen2VLImageProcessor": 'patchfold.patchify(video, 14, order="qwen")',
    "RandSpatialCropSamples": _CROPS,
    "RandomCrop": _CROPS,
    "Rearrange": "patchfold.rearrange(x, pattern)",
    "SlidingWindowInferer": "patchfold.monai.SlidingWindowInferer",
    "Tiler": "patchfold.Tiling(shape, tile, overlap=overlap)",
    "as_strided": _WINDOWS,
    "ascontiguousarray": "patchfold.copy(x)",
    "block_reduce": _BLOCKS,
    "blockproc": _TILED,
    "buffer": _FRAMES,
    "channel_shuffle": _SHUFFLED,
    "colfilt": _WINDOWS,
    "contiguous": "patchfold.copy(x)",
    "copy_": "patchfold.copy(x, out=y)",
    "copyto": "patchfold.copy(x, out=y)",
    "extract_glimpse": _CROPS,
    "frame": _FRAMES,
    "im2row": 'patchfold.unfold(image, kernel_size, order="kernel").swapaxes(-1, -2)',
    "mat2tiles": _BLOCKS,
    "narrow": _CROPS,
    "nlfilter": _WINDOWS,
    "overlap_add": "patchfold.fold(columns, (length,), (size,), stride=step)",
    "overlap_and_add": "patchfold.fold(columns, (length,), (size,), stride=step)",
    "pack_latents": 'patchfold.patchify(x, 2, order="torch")',
    "permute": "patchfold.rearrange(x, pattern)",
    "reconstruct_from_patches_2d": _RECONSTRUCTED,
    "reconstruct_patches": _RECONSTRUCTED,
    "reorg": "patchfold.space_to_depth(image, block)",
    "scatter_add": "patchfold.fold(columns, output_size, kernel_size)",
    "sliding_window_inference": f"{_TILED}, or patchfold.monai.sliding_window_inference,",
    "space_to_channel": "patchfold.space_to_depth(image, block)",
    "tiler": "patchfold.Tiling(shape, tile, overlap=overlap)",
    "unpack_latents": 'patchfold.unpatchify(tokens, size, 2, order="torch")',
    "window_partition": 'patchfold.rearrange(x, "b (h p) (w q) c -> (b h w) p q c", p=window, q=window)',
    "window_reverse": 'patchfold.rearrange(windows, "(b h w) p q c -> b (h p) (w q) c", h=rows, w=columns)',
}
"""The call of patchfold that does the same, by the name elsewhere."""

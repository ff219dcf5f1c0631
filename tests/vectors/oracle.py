#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Works out the expected values of the vectors, index by index, without patchfold.

usage: oracle.py PROBLEM        prints the result of a problem, such as "torch.unfold 1x1x3x3 kernel_size=2", whose data is
                                1, 2, 3, ..: its shape, its fingerprint, and its values as they stand in these tests
       oracle.py --check        works out every result of vectors.txt

The last line of a check is "oracle: N passed, N failed". Exits with 1 if one failed, or if there was none.
"""
import itertools
import math
import re
import sys
from fractions import Fraction
from pathlib import Path


class Tensor:
    """A dense array, row-major."""

    def __init__(self, shape, values):
        self.shape, self.values = tuple(shape), values

    def __getitem__(self, index):
        return self.values[self.place(index)]

    def __setitem__(self, index, value):
        self.values[self.place(index)] = value

    def place(self, index):
        at = 0
        for i, extent in zip(index, self.shape):
            assert 0 <= i < extent
            at = at * extent + i
        return at


def zeros(shape):
    return Tensor(shape, [0] * math.prod(shape))


def places(shape):
    return itertools.product(*(range(extent) for extent in shape))


class Window:
    """coordinate = position * stride + tap * dilation - begin"""

    def __init__(self, image, kernel, stride, dilation, pads, positions=None):
        self.image, self.kernel, self.stride, self.dilation = image, kernel, stride, dilation
        self.begins = [begin for begin, _ in pads]
        self.positions = positions
        if positions is None:
            self.positions = []
            for i, k, s, d, (begin, end) in zip(image, kernel, stride, dilation, pads):
                count = 0
                while count * s + (k - 1) * d < i + begin + end:
                    count += 1
                self.positions.append(count)

    def meetings(self):
        """Yields (number of the tap, position, coordinate or None if it lies outside the image)."""
        for number, tap in enumerate(places(self.kernel)):
            for position in places(self.positions):
                at = tuple(
                    p * s + q * d - b for p, s, q, d, b in zip(position, self.stride, tap, self.dilation, self.begins)
                )
                inside = all(0 <= c < extent for c, extent in zip(at, self.image))
                yield number, position, at if inside else None


def same_pads(image, kernel, stride, dilation, lower=False, crop=False):
    pads = []
    for i, k, s, d in zip(image, kernel, stride, dilation):
        total = (-(-i // s) - 1) * s + (k - 1) * d + 1 - i
        if not crop:
            total = max(total, 0)
        begin = int(total / 2) if not lower else (total + 1) // 2  # halves are rounded towards 0
        pads.append((begin, total - begin))
    return pads


def flat(position, positions):
    at = 0
    for p, extent in zip(position, positions):
        at = at * extent + p
    return at


def first_last(layout):
    """Returns a function (lead, channel, rest) -> index for the place of the channel."""
    if layout in ("channels_last", "NHWC"):
        return lambda lead, channel, rest: (*lead, *rest, channel)
    return lambda lead, channel, rest: (*lead, channel, *rest)


def extract(x, w, lead, channels, source, target, taps_first, grid):
    """source and target say where the channel stands on either side; grid: one axis for each spatial axis."""
    taps = math.prod(w.kernel)
    positions = tuple(w.positions) if grid else (math.prod(w.positions),)
    y = zeros(target(lead, channels * taps, positions))
    for n in places(lead):
        for c in range(channels):
            for tap, position, at in w.meetings():
                rest = position if grid else (flat(position, w.positions),)
                row = tap * channels + c if taps_first else c * taps + tap
                y[target(n, row, rest)] = 0 if at is None else x[source(n, c, at)]
    return y


def combine(x, w, lead, channels, source, target, taps_first, grid):
    taps = math.prod(w.kernel)
    y = zeros(target(lead, channels, tuple(w.image)))
    for n in places(lead):
        for c in range(channels):
            for tap, position, at in w.meetings():
                if at is not None:
                    rest = position if grid else (flat(position, w.positions),)
                    row = tap * channels + c if taps_first else c * taps + tap
                    y[target(n, c, at)] += x[source(n, row, rest)]
    return y


def to_depth(x, lead, block, layout, blocks_first, back):
    """Maps an image (lead, C, D..) to (lead, C * taps, D / block..), or back."""
    place, axes, taps = first_last(layout), len(block), math.prod(block)
    inner = x.shape[lead:]
    spatial, channels = (inner[:-1], inner[-1]) if layout in ("channels_last", "NHWC") else (inner[1:], inner[0])
    few = channels // taps if back else channels
    counts = spatial if back else [extent // size for extent, size in zip(spatial, block)]
    image = [count * size for count, size in zip(counts, block)]
    y = zeros(place(x.shape[:lead], few, image) if back else place(x.shape[:lead], few * taps, counts))
    assert axes == len(spatial)
    for n in places(x.shape[:lead]):
        for c in range(few):
            for number, offset in enumerate(places(block)):
                row = number * few + c if blocks_first else c * taps + number
                for at in places(counts):
                    deep = place(n, row, at)
                    wide = place(n, c, tuple(p * size + o for p, size, o in zip(at, block, offset)))
                    if back:
                        y[wide] = x[deep]
                    else:
                        y[deep] = x[wide]
    return y


def to_batch(x, block, pads, back):
    """Maps (N, D.., rest..) to (taps * N, (D + pads) / block.., rest..), or back with crops."""
    axes, taps = len(block), math.prod(block)
    spatial, rest = x.shape[1 : 1 + axes], x.shape[1 + axes :]
    if back:
        n, counts = x.shape[0] // taps, spatial
        image = [count * size - begin - end for count, size, (begin, end) in zip(counts, block, pads)]
        y = zeros((n, *image, *rest))
    else:
        n, image = x.shape[0], spatial
        counts = [(extent + begin + end) // size for extent, size, (begin, end) in zip(image, block, pads)]
        y = zeros((n * taps, *counts, *rest))
    for number, offset in enumerate(places(block)):
        for b in range(n):
            for at in places(counts):
                pixel = tuple(p * s + o - begin for p, s, o, (begin, _) in zip(at, block, offset, pads))
                if all(0 <= c < extent for c, extent in zip(pixel, image)):
                    for other in places(rest):
                        deep, wide = (number * n + b, *at, *other), (b, *pixel, *other)
                        if back:
                            y[wide] = x[deep]
                        else:
                            y[deep] = x[wide]
    return y


def numbers(text):
    return [int(word) for word in text.split(",") if word]


def pairs(text):
    return [tuple(int(word) for word in pair.split(":")) for pair in text.split(",") if pair]


def axes(text, rank, default):
    values = numbers(text) if text else [default]
    return values if text and "," in text or len(values) == rank else values * rank


def rank_of(arguments, names, spatial):
    """Returns the length of the first list among arguments that take one number for all axes."""
    for name in names:
        if "," in arguments.get(name, ""):
            return len(numbers(arguments[name]))
    return spatial


def torch_window(x, a, image):
    rank = rank_of(a, ("output_size", "kernel_size", "dilation", "padding", "stride"), 2)
    kernel = axes(a["kernel_size"], rank, 1)
    image = axes(a["output_size"], rank, 1) if image is None else list(x.shape[len(x.shape) - rank :])
    pads = [(pad, pad) for pad in axes(a.get("padding"), rank, 0)]
    return Window(image, kernel, axes(a.get("stride"), rank, 1), axes(a.get("dilation"), rank, 1), pads), rank


FIRST, LAST = first_last("channels_first"), first_last("channels_last")


def torch_unfold(x, a):
    w, rank = torch_window(x, a, ())
    lead = x.shape[: -rank - 1]
    return extract(x, w, lead, x.shape[-rank - 1], FIRST, FIRST, False, False)


def torch_fold(x, a):
    w, _ = torch_window(x, a, None)
    return combine(x, w, x.shape[:-2], x.shape[-2] // math.prod(w.kernel), FIRST, FIRST, False, False)


def onnx_col2im(x, a):
    image, kernel = numbers(a["image_shape"]), numbers(a["block_shape"])
    rank = len(image)
    ends = numbers(a.get("pads", "")) or [0] * 2 * rank
    w = Window(image, kernel, axes(a.get("strides"), rank, 1), axes(a.get("dilations"), rank, 1), list(zip(ends, ends[rank:])))
    return combine(x, w, x.shape[:-2], x.shape[-2] // math.prod(kernel), FIRST, FIRST, False, False)


def openvino_col2im(x, a):
    kernel = numbers(a["kernel_size"])
    pads = list(zip(axes(a.get("pads_begin"), 2, 0), axes(a.get("pads_end"), 2, 0)))
    w = Window(numbers(a["output_size"]), kernel, axes(a.get("strides"), 2, 1), axes(a.get("dilations"), 2, 1), pads)
    return combine(x, w, x.shape[:-2], x.shape[-2] // math.prod(kernel), FIRST, FIRST, False, False)


def openvino_patches(x, a):
    image, geometry = x.shape[2:], [numbers(a[name]) for name in ("sizes", "strides", "rates")]
    pads = [(0, 0)] * 2
    if a["auto_pad"] != "valid":
        pads = same_pads(image, *geometry, lower=a["auto_pad"] == "same_lower")
    return extract(x, Window(image, *geometry, pads), x.shape[:1], x.shape[1], FIRST, FIRST, True, True)


def tensorflow_patches(x, a):
    image = x.shape[1:-1]
    kernel, stride = (numbers(a[name])[1:-1] for name in ("ksizes", "strides"))
    dilation = numbers(a["rates"])[1:-1] if "rates" in a else [1] * len(image)
    pads = [(0, 0)] * len(image)
    if a["padding"] == "SAME":
        # A volume's first patch moves inward where the stride exceeds the kernel.
        pads = same_pads(image, kernel, stride, dilation, crop="rates" not in a)
    return extract(x, Window(image, kernel, stride, dilation, pads), x.shape[:1], x.shape[-1], LAST, LAST, True, True)


def keras_patches(x, a):
    rank = rank_of(a, ("size",), 2)
    kernel = axes(a["size"], rank, 1)
    stride = axes(a["strides"], rank, 1) if a.get("strides") else kernel
    dilation = axes(a.get("dilation_rate"), rank, 1)
    layout = a.get("data_format", "channels_last")
    lead = x.shape[: len(x.shape) - rank - 1]
    inner = x.shape[len(lead) :]
    image, channels = (inner[:-1], inner[-1]) if layout == "channels_last" else (inner[1:], inner[0])
    pads = [(0, 0)] * rank
    if a.get("padding", "valid") == "same":
        pads = same_pads(image, kernel, stride, dilation)
    place = first_last(layout)
    return extract(x, Window(image, kernel, stride, dilation, pads), lead, channels, place, place, True, True)


def neutral_fold(x, a):
    image = numbers(a["output_size"])
    rank = len(image)
    kernel = axes(a["kernel_size"], rank, 1)
    padding = a.get("padding", "0")
    pads = pairs(padding) if ":" in padding else [(pad, pad) for pad in axes(padding, rank, 0)]
    w = Window(image, kernel, axes(a.get("stride"), rank, 1), axes(a.get("dilation"), rank, 1), pads)
    grid, last = a.get("positions") == "grid", a.get("layout") == "channels_last"
    lead = x.shape[: len(x.shape) - 1 - (rank if grid else 1)]
    rows = x.shape[-1] if last else x.shape[len(lead)]
    place = LAST if last else FIRST
    sums, counts = (
        combine(each, w, lead, rows // math.prod(kernel), place, place, a.get("order") == "kernel", grid)
        for each in (x, Tensor(x.shape, [1] * math.prod(x.shape)))
    )
    if a.get("reduce") != "mean":
        return sums
    fill = int(a.get("fill", 0))
    # Fractions are rounded to nearest even.
    return Tensor(sums.shape, [round(Fraction(s, n)) if n else fill for s, n in zip(sums.values, counts.values)])


def batch_blocks(back):
    def move(x, a):
        block = [int(a["block_size"])] * 2 if "block_size" in a else numbers(a.get("block_shape", ""))
        if "pads_begin" in a or "crops_begin" in a:  # OpenVINO: an entry for the batch too
            kind = "crops" if back else "pads"
            both = list(zip(numbers(a[f"{kind}_begin"]), numbers(a[f"{kind}_end"])))
            return to_batch(x, block[1:], both[1:], back)
        return to_batch(x, block, pairs(a.get("crops" if back else "paddings", "")), back)

    return move


def depth_blocks(name, layout, default, blocks_first, back, every_axis=False):
    def move(x, a):
        rank = len(x.shape) - 2 if every_axis else 2
        mode = a.get("blocks_mode") or a.get("mode") or default
        block = [int(a.get(name, 1))] * rank
        return to_depth(x, len(x.shape) - rank - 1, block, a.get("data_format", layout), mode == blocks_first, back)

    return move


OPERATORS = {
    "fold": neutral_fold,
    "torch.fold": torch_fold,
    "torch.unfold": torch_unfold,
    "torch.pixel_shuffle": depth_blocks("upscale_factor", "NCHW", "", "never", True),
    "torch.pixel_unshuffle": depth_blocks("downscale_factor", "NCHW", "", "never", False),
    "keras.extract_patches": keras_patches,
    "keras.fold": torch_fold,
    "keras.unfold": torch_unfold,
    "onnx.Col2Im": onnx_col2im,
    "onnx.SpaceToDepth": depth_blocks("blocksize", "NCHW", "DCR", "DCR", False),
    "onnx.DepthToSpace": depth_blocks("blocksize", "NCHW", "DCR", "DCR", True),
    "openvino.Col2Im": openvino_col2im,
    "openvino.ExtractImagePatches": openvino_patches,
    "openvino.SpaceToBatch": batch_blocks(False),
    "openvino.BatchToSpace": batch_blocks(True),
    "openvino.SpaceToDepth": depth_blocks("block_size", "NCHW", "", "blocks_first", False, True),
    "openvino.DepthToSpace": depth_blocks("block_size", "NCHW", "", "blocks_first", True, True),
    "tensorflow.SpaceToBatch": batch_blocks(False),
    "tensorflow.SpaceToBatchND": batch_blocks(False),
    "tensorflow.BatchToSpace": batch_blocks(True),
    "tensorflow.BatchToSpaceND": batch_blocks(True),
    "tensorflow.SpaceToDepth": depth_blocks("block_size", "NHWC", "b", "b", False),
    "tensorflow.DepthToSpace": depth_blocks("block_size", "NHWC", "b", "b", True),
    "tensorflow.ExtractImagePatches": tensorflow_patches,
    "tensorflow.ExtractVolumePatches": tensorflow_patches,
}


def result_of(problem, shape, data):
    """Returns the result of an operator with its arguments; the version in its name makes no difference here."""
    name, *words = problem.split()
    if "." in name:
        name = name.split("-")[0]
    arguments = dict(word.split("=", 1) for word in words)
    return OPERATORS[name](Tensor(shape, data), arguments)


def fingerprint(tensor):
    """Returns FNV-1a, 64 bit, over the extents and the values as little-endian 64-bit integers."""
    result = 0xCBF29CE484222325
    for value in (*tensor.shape, *tensor.values):
        for byte in value.to_bytes(8, "little", signed=True):
            result = (result ^ byte) * 0x100000001B3 % 2**64
    return f"{result:#x}"


def listed(text):
    """Returns [1, 5, 6, 7] for "1 5..7"."""
    ends = [(int(first), int(last or first)) for first, _, last in (word.partition("..") for word in text.split())]
    return [value for first, last in ends for value in range(first, last + 1)]


def wrong(problem, shape, data, expected):
    """Returns the differences from a test's expectation, or nothing."""
    found = result_of(problem, shape, data)
    if ":" not in expected:
        return "" if fingerprint(found) == expected else f"the fingerprint is {fingerprint(found)}"
    extents, _, values = expected.partition(":")
    if "x".join(map(str, found.shape)) != extents:
        return f"the shape is {found.shape}"
    pairs_of_values = itertools.zip_longest(found.values, listed(values))
    return next((f"element {at} is {a}, not {b}" for at, (a, b) in enumerate(pairs_of_values) if a != b), "")


def check():
    passed = failed = 0
    for line in Path(__file__).with_name("vectors.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, _, text, *data, result = line.split(" | ")
        choices = itertools.product(*(part.split("|") for part in re.split(r"[{}]", text)))
        for choice, expected in zip(choices, [result] if ":" in result else result.split(), strict=True):
            op, extents, *words = "".join(choice).split()
            shape = [int(extent) for extent in extents.split("x")]
            values = listed(data[0]) if data else list(range(1, math.prod(shape) + 1))
            try:
                fault = wrong(" ".join([op, *words]), shape, values, expected)
            except (AssertionError, IndexError, KeyError, ValueError) as error:
                fault = f"oracle.py does not take it: {error!r}"
            if fault:
                print(f"FAILED {name}: {''.join(choice)}: {fault}")
            passed, failed = passed + (not fault), failed + bool(fault)
    print(f"oracle: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def main():
    if sys.argv[1:] == ["--check"]:
        return check()
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__, end="")
        return 0 if len(sys.argv) == 2 else 2
    op, shape, *words = sys.argv[1].split()
    extents = [int(extent) for extent in shape.split("x")]
    found = result_of(" ".join([op, *words]), extents, list(range(1, math.prod(extents) + 1)))
    print("{" + ", ".join(map(str, found.shape)) + "}", fingerprint(found))
    print("{" + ", ".join(map(str, found.values)) + "}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

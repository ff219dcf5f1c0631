#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times patchfold.vision beside transformers, Pillow, torchvision and, if it is installed, OpenCV.

usage: bench/vision.py [--rounds N] [--sizes HxW,..] [--batches N,..] [--threads N,..] [--write]

Pictures to Qwen2-VL tokens, beside both backends of transformers; resizing alone; and where the time of a JPEG file goes.
The calls take turns in every round, in one process; a time is the best of the rounds. Results that should be equal are
compared first. --write writes a section of docs/vision.md, and docs/vision.svg. Needs transformers, torch, torchvision and
Pillow beside patchfold.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import importlib.util
import io
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import patchfold
import patchfold.transformers
import torch
import transformers
from PIL import Image
from rounds import ROOT, machine, numbers, race
from torchvision.transforms.v2 import functional
from torchvision.transforms.v2.functional import InterpolationMode

cv2: Any = __import__("cv2") if importlib.util.find_spec("cv2") else None

PAGE, PICTURE = ROOT / "docs" / "vision.md", ROOT / "docs" / "vision.svg"
TABLE, SHOWN = "<!-- Written by bench/vision.py --write -->\n", "<!-- Written by bench/vision.py --write: picture -->\n"
END = "<!-- until here -->\n"
NAME = "Qwen2VLImageProcessor"
SETTINGS = {"size": {"shortest_edge": 3136, "longest_edge": 12845056}}
STAGES = ("decode", "resize", "table and patches")
COLOURS = ("#9aa5b1", "#3d7dca", "#e08a2e")
RANDOM = np.random.default_rng(7)
Call = Callable[[], Any]
Pixels = np.ndarray[Any, Any]


def picture_of(rows: int, columns: int) -> Pixels:
    """Returns a picture with large areas and noise."""
    smooth = RANDOM.integers(0, 192, (rows // 32 + 1, columns // 32 + 1, 3), np.uint8)
    large = np.repeat(np.repeat(smooth, 32, 0), 32, 1)[:rows, :columns]
    return large + RANDOM.integers(0, 64, large.shape, np.uint8)


def use(threads: int) -> None:
    torch.set_num_threads(threads)
    patchfold.set_num_threads(threads)
    if cv2 is not None:
        cv2.setNumThreads(threads)


def text_of(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"


def token_row(size: tuple[int, int], batch: int, threads: int, rounds: int) -> str:
    """Returns a row: pictures to tokens."""
    use(threads)
    pictures = [picture_of(*size) for _ in range(batch)]
    works: dict[str, Call] = {}
    for backend, end, form in (("torchvision", "", "pt"), ("pil", "Pil", "np")):
        ours = patchfold.vision.Processor({"image_processor_type": NAME, **SETTINGS}, backend=backend)
        theirs = getattr(transformers, NAME + end)(**SETTINGS)
        works[f"patchfold {backend}"] = lambda ours=ours: ours(pictures)
        works[f"transformers {backend}"] = lambda theirs=theirs, form=form: theirs(pictures, return_tensors=form)
        made, wanted = works[f"patchfold {backend}"](), works[f"transformers {backend}"]()
        if not all(np.array_equal(made[key], wanted[key]) for key in wanted):
            sys.exit(f"vision: {size}, {backend}: the results differ")
    installed = getattr(transformers, NAME)(**SETTINGS)

    def with_patchfold() -> Any:
        with patchfold.transformers.install():
            return installed(pictures, return_tensors="pt")

    works["install()"] = with_patchfold
    seconds = race(works, rounds, of_rounds=min)
    gains = [seconds[f"transformers {backend}"] / seconds[f"patchfold {backend}"] for backend in ("torchvision", "pil")]
    order = ("patchfold torchvision", "install()", "transformers torchvision", "patchfold pil", "transformers pil")
    cells = [f"{size[0]} x {size[1]}", str(batch), str(threads), *(text_of(seconds[name]) for name in order)]
    return "| " + " | ".join([*cells, *(f"{gain:.1f}" for gain in gains)]) + " |"


def resize_row(size: tuple[int, int], to: tuple[int, int], threads: int, rounds: int) -> str:
    """Returns a row: resizing by the bicubic filter."""
    use(threads)
    picture = picture_of(*size)
    image, tensor = Image.fromarray(picture), torch.from_numpy(picture).movedim(-1, 0)
    resize = patchfold.vision.resize
    works: dict[str, Call] = {
        "patchfold": lambda: resize(picture, to, layout="channels_last"),
        "Pillow": lambda: image.resize((to[1], to[0]), Image.Resampling.BICUBIC),
        "patchfold, torch": lambda: resize(picture, to, layout="channels_last", fixed_point="torch"),
        "torchvision": lambda: functional.resize(tensor, list(to), InterpolationMode.BICUBIC, antialias=True),
    }
    if cv2 is not None:
        works["OpenCV"] = lambda: cv2.resize(picture, (to[1], to[0]), interpolation=cv2.INTER_CUBIC)
    if not np.array_equal(works["patchfold"](), np.asarray(works["Pillow"]())):
        sys.exit(f"vision: {size} to {to}: the results differ from Pillow's")
    if not np.array_equal(works["patchfold, torch"](), works["torchvision"]().movedim(0, -1)):
        sys.exit(f"vision: {size} to {to}: the results differ from torchvision's")
    seconds = race(works, rounds, of_rounds=min)
    cells = [f"{size[0]} x {size[1]} to {to[0]} x {to[1]}", str(threads), *map(text_of, seconds.values())]
    if cv2 is None:
        cells.append("-")
    return "| " + " | ".join([*cells, f"{seconds['Pillow'] / seconds['patchfold']:.1f}"]) + " |"


def stages_of(size: tuple[int, int], rounds: int) -> dict[str, list[float]]:
    """Returns the milliseconds of the stages of a JPEG file, with one thread, for each system."""
    use(1)
    file = io.BytesIO()
    Image.fromarray(picture_of(*size)).save(file, "jpeg", quality=90)

    def decode() -> Pixels:
        return np.array(Image.open(io.BytesIO(file.getvalue())).convert("RGB"))

    picture = decode()
    to = tuple(extent // 28 * 28 for extent in size)
    tensor = torch.from_numpy(picture).movedim(-1, 0)
    small = patchfold.vision.resize(picture, to, layout="channels_last", fixed_point="torch")
    theirs = getattr(transformers, NAME)(**SETTINGS)
    table = patchfold.vision.normalization_table(theirs.image_mean, theirs.image_std)
    shown = np.broadcast_to(small, (2, *small.shape))
    resized = torch.from_numpy(small).movedim(-1, 0)[None].contiguous()

    def ours_cut() -> Any:
        return patchfold.patchify(shown, 14, order="qwen", layout="channels_last", table=table)

    def theirs_cut() -> Any:
        mean, std = tuple(theirs.image_mean), tuple(theirs.image_std)
        return theirs.patchify(theirs.rescale_and_normalize(resized, True, 1 / 255, True, mean, std), 14, 2, 2)

    flat = np.empty((2, *small.shape), np.float32)
    works = {
        "decode": decode,
        "resize": lambda: patchfold.vision.resize(picture, to, layout="channels_last", fixed_point="torch"),
        "cut": ours_cut,
        "their resize": lambda: functional.resize(tensor, list(to), InterpolationMode.BICUBIC, antialias=True),
        "their cut": theirs_cut,
        "plain loop": lambda: np.copyto(flat, shown, casting="unsafe"),
    }
    milliseconds = {name: each * 1e3 for name, each in race(works, rounds, of_rounds=min).items()}
    ratio = milliseconds["cut"] / milliseconds["plain loop"]
    print(f"table and patches take {ratio:.2f} of the time of a loop that converts as many bytes to float32", flush=True)
    return {
        "patchfold": [milliseconds[name] for name in ("decode", "resize", "cut")],
        "transformers": [milliseconds[name] for name in ("decode", "their resize", "their cut")],
    }


def drawing(stages: dict[str, list[float]], title: str) -> str:
    """Returns an SVG with a bar for each system, in parts of different colours for the stages."""
    scale = 520 / max(sum(each) for each in stages.values())
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 150" font-family="sans-serif" font-size="13">',
        f"<title>{title}</title>",
        '<rect width="720" height="150" fill="#ffffff"/>',
    ]
    for k, (stage, colour) in enumerate(zip(STAGES, COLOURS, strict=True)):
        lines.append(f'<rect x="{110 + 150 * k}" y="12" width="12" height="12" fill="{colour}"/>')
        lines.append(f'<text x="{128 + 150 * k}" y="23">{stage}</text>')
    for row, (name, parts) in enumerate(stages.items()):
        x, y = 110.0, 40 + 46 * row
        lines.append(f'<text x="100" y="{y + 22}" text-anchor="end">{name}</text>')
        for part, colour in zip(parts, COLOURS, strict=True):
            width = part * scale
            lines.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="34" fill="{colour}"/>')
            if width > 36:
                place = f'x="{x + width / 2:.1f}" y="{y + 22}" text-anchor="middle"'
                lines.append(f'<text {place} fill="#ffffff">{part:.3g}</text>')
            x += width
        lines.append(f'<text x="{x + 8:.1f}" y="{y + 22}">{sum(parts):.3g} ms</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def write(tokens: list[str], resizes: list[str], stages: dict[str, list[float]], size: tuple[int, int], rounds: int) -> None:
    names = ("transformers", "torch", "torchvision", "pillow") + (("opencv-python-headless",) if cv2 is not None else ())
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    title = f"Milliseconds of one thread for a JPEG file of {size[0]} x {size[1]}: decoding, resizing, and table and patches"
    table = [
        "Pictures in memory to Qwen2-VL tokens. The calls take turns in one process; a time is the best of",
        f"{rounds} rounds. install() is transformers' processor with `patchfold.transformers.install()`. Measured on",
        f"{datetime.date.today().isoformat()} on {machine()['processor']}, with {versions}.",
        "",
        "| picture | batch | threads | patchfold | install() | transformers, torchvision | patchfold, pil "
        "| transformers, pil | times as fast as torchvision | as pil |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
        *tokens,
        "",
        "Resizing by the bicubic filter, with the bits of Pillow and with those of torchvision. OpenCV has other results, and",
        "does not smooth pictures that shrink.",
        "",
        "| sizes | threads | patchfold | Pillow | patchfold, `fixed_point=\"torch\"` | torchvision | OpenCV "
        "| times as fast as Pillow |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
        *resizes,
    ]  # fmt: skip
    page = PAGE.read_text(encoding="utf-8")
    for begin, text in ((TABLE, "\n".join(table) + "\n"), (SHOWN, f"![{title}](vision.svg)\n")):
        before, _, rest = page.partition(begin)
        page = before + begin + text + END + rest.partition(END)[2]
    PAGE.write_text(page, encoding="utf-8")
    PICTURE.write_text(drawing(stages, title), encoding="utf-8")


def sizes_of(text: str) -> list[tuple[int, int]]:
    try:
        sizes = [tuple(map(int, each.split("x"))) for each in text.split(",")]
    except ValueError:
        sizes = []
    if not sizes or any(len(each) != 2 or min(each) < 56 for each in sizes):
        raise argparse.ArgumentTypeError(f"{text} is no list of sizes of at least 56, such as 480x640,2048x2048")
    return [(rows, columns) for rows, columns in sizes]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--sizes", type=sizes_of, default=sizes_of("480x640,1080x1920,2048x2048"))
    parser.add_argument("--batches", type=numbers, default=[1, 8])
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--write", action="store_true", help="writes docs/vision.md and docs/vision.svg")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds takes a positive number")
    tokens, resizes = [], []
    for size in options.sizes:
        for threads in options.threads:
            for batch in options.batches:
                tokens.append(token_row(size, batch, threads, options.rounds))
                print(tokens[-1], flush=True)
            for to in (tuple(extent // 28 * 28 for extent in size), (224, 224)):
                resizes.append(resize_row(size, to, threads, options.rounds))
                print(resizes[-1], flush=True)
    stages = stages_of(options.sizes[-1], options.rounds)
    print(*stages.items(), sep="\n")
    if options.write:
        write(tokens, resizes, stages, options.sizes[-1], options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())

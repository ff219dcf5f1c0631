# SPDX-License-Identifier: Apache-2.0
"""Checks that the programs of examples/gallery write the pictures of docs/."""

import base64
import html
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import patchfold
import pytest

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "examples" / "gallery"
sys.path.append(str(GALLERY))
import pictures  # noqa: E402

PROGRAMS = sorted(path.stem for path in GALLERY.glob("*.py") if path.stem not in ("overview", "pictures"))


def run(name: str, folder: Path) -> dict[str, Any]:
    """Runs a program, which writes its picture to the folder. Returns the program's variables by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [name, str(folder)])
        return runpy.run_path(str(GALLERY / f"{name}.py"))


def panels(svg: Path) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Returns the calls that stand above a picture's panels, and the pixels of all panels."""
    text = svg.read_text(encoding="utf-8")
    calls = re.findall(r'<text class="call">(.*?)</text>', text)
    (data,) = re.findall(r'href="data:image/png;base64,([^"]*)"', text)
    return [html.unescape(re.sub("<[^>]*>", "", call)) for call in calls], pictures.read(base64.b64decode(data)).astype(int)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_the_gallery_writes_its_picture_and_panels_name_their_calls(name, tmp_path):
    if name == "decode":
        pytest.importorskip("torch")
    names = run(name, tmp_path)
    (calls, made), (shown_calls, shown) = (panels(folder / f"gallery-{name}.svg") for folder in (tmp_path, ROOT / "docs"))
    # The last bits of matrix products differ between machines, and a threshold may turn this into another colour of a pixel.
    assert made.shape == shown.shape and (np.abs(made - shown) > 4).mean() < 0.01
    assert np.unique(shown).size > 50
    assert shown_calls == calls and any("patchfold." in call for call in calls)
    arrays = [each for each in names.values() if isinstance(each, np.ndarray)]
    for call in calls:
        result = eval(call, names)
        assert any(np.array_equal(result, each) for each in arrays), call


def test_pages_show_each_picture_of_the_gallery():
    gallery = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert all(f"gallery-{name}.svg)" in gallery and f"gallery/{name}.py)" in gallery for name in PROGRAMS)
    shown = re.findall(r"docs/gallery-(\w+)\.svg\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert shown and set(shown) <= set(PROGRAMS)


def test_the_picture_of_the_first_screen_is_what_its_program_draws(tmp_path):
    run("overview", tmp_path)
    assert (tmp_path / "overview.svg").read_bytes() == (ROOT / "docs" / "overview.svg").read_bytes()


def test_the_calls_of_the_picture_run_as_they_stand():
    svg = (ROOT / "docs" / "overview.svg").read_text()
    shape, *calls = re.findall(r'<text class="call"[^>]*>([^<]*)</text>', svg)
    image = np.arange(12).reshape(eval(shape.removeprefix("shape ")))
    names = {"image": image, **{name: getattr(patchfold, name) for name in ("unfold", "fold", "reconstruct")}}
    columns = names["columns"] = eval(calls[0], names)
    sums, again = (eval(call, names) for call in calls[1:])
    numbers = [int(number) for number in re.findall(r'<text class="number"[^>]*>(\d+)</text>', svg)]
    assert numbers == [int(number) for part in (image, columns, sums, again) for number in part.reshape(-1)]


def test_a_picture_is_read_as_it_was_written():
    picture = np.random.default_rng(0).integers(0, 64, (3, 7, 5)) * 4
    assert np.array_equal(pictures.read(pictures.png(picture)), picture)
    photo = pictures.read()  # a PNG whose rows use all five filters
    assert photo.shape == (3, 400, 600) and photo.std() > 40

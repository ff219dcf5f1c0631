# SPDX-License-Identifier: Apache-2.0
"""Checks that the programs of examples/gallery write the pictures of docs/."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import patchfold
import pytest

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "examples" / "gallery"
sys.path.append(str(GALLERY))
import pictures  # noqa: E402

PROGRAMS = sorted(path.stem for path in GALLERY.glob("*.py") if path.stem not in ("overview", "pictures"))


def run(name: str, folder: Path) -> str:
    done = subprocess.run([sys.executable, str(GALLERY / f"{name}.py"), str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_the_gallery_writes_its_picture(name, tmp_path):
    assert "dB" in run(name, tmp_path) or name in ("stitch", "vit")
    made = pictures.read(tmp_path / f"gallery-{name}.png").astype(int)
    shown = pictures.read(ROOT / "docs" / f"gallery-{name}.png").astype(int)
    # Matrix products differ in their last bits between machines, and thresholds enlarge the difference in single pixels.
    assert made.shape == shown.shape and (np.abs(made - shown) > 1).mean() < 0.01
    assert np.unique(shown).size > 100


def test_the_gallery_has_four_programs_and_pages_show_each():
    assert PROGRAMS == ["denoise", "inpaint", "stitch", "vit"]
    for page in (ROOT / "README.md", ROOT / "docs" / "gallery.md"):
        text = page.read_text(encoding="utf-8")
        assert all(f"gallery-{name}.png)" in text and f"gallery/{name}.py)" in text for name in PROGRAMS)


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


def test_a_picture_is_read_as_it_was_written(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path)])
    picture = np.random.default_rng(0).integers(0, 256, (7, 5, 3), np.uint8)
    pictures.write("a.png", picture)
    assert np.array_equal(pictures.read(tmp_path / "a.png"), picture)
    photo = pictures.read()  # its rows are stored in all five ways
    assert photo.shape == (400, 600, 3) and photo.std() > 40

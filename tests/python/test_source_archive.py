# SPDX-License-Identifier: Apache-2.0
"""Checks that the source archive for pip is complete, small, and has the same bytes in every build."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = ("bench", "cli", "cmake", "formats", "include", "plugins", "python", "src", "system")
MAKE = "import sys; from scikit_build_core.build import build_sdist; print(build_sdist(sys.argv[1]))"


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("git lists what belongs to the tree")
    made = []
    for name in ("one", "other"):
        folder = tmp_path_factory.mktemp(name)
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
        subprocess.run([sys.executable, "-c", MAKE, folder], cwd=ROOT, env=environment, check=True, capture_output=True)
        made += folder.glob("patchfold-*.tar.gz")
    assert len(made) == 2
    return made


def test_holds_what_a_build_needs_and_no_more(archives: list[Path]) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", *BUILT, ":!bench/*.py", ":!bench/networks"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    needed = {name for name in tracked if (ROOT / name).is_file()}
    with tarfile.open(archives[0]) as archive:
        inside = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    assert needed <= inside
    others = inside - needed
    assert {"CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE", "PKG-INFO", "scripts/packages.txt"} <= others
    assert not [name for name in others if name.partition("/")[0] in ("tests", "fuzz", "docs", "reference", "build")]
    assert len([name for name in others if name.partition("/")[0] not in BUILT]) < 15
    assert archives[0].stat().st_size < 1_070_000


def test_is_the_same_whenever_it_is_made(archives: list[Path]) -> None:
    assert archives[0].read_bytes() == archives[1].read_bytes()

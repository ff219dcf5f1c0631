# SPDX-License-Identifier: Apache-2.0
"""Checks what scripts/wheels builds from: pinned versions and permissive licences; and that a forge builds equal wheels."""

import ast
import json
import re
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomllib", reason="tomllib came with Python 3.11")

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "checks"))
from wheel_trials import is_for  # noqa: E402

PERMISSIVE = {"Apache-2.0", "BSD-3-Clause", "MIT", "Zlib", "libpng-2.0", "IJG", "libtiff", "0BSD"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def pins() -> dict[str, str]:
    lines = (ROOT / "scripts" / "wheels-requirements.txt").read_text(encoding="utf-8").splitlines()
    found = {}
    for line in lines:
        if not line.startswith("#"):
            match = re.fullmatch(r"([a-z0-9-]+)==([0-9.]+)(; python_version [<>=]+ \"3\.\d+\")?", line)
            assert match, f"{line}: is no pin"
            found[match[1]] = match[2]
    return found


def test_every_source_of_a_wheel_is_pinned() -> None:
    libraries = json.loads((ROOT / "scripts" / "dependencies.json").read_text(encoding="utf-8"))["libraries"]
    assert len({library["name"] for library in libraries}) == len(libraries) == 11
    for library in libraries:
        assert re.fullmatch(r"[0-9a-f]{64}", library["sha256"]), library["name"]
        assert library["version"] in library["archive"], library["name"]
        assert set(re.split(r" AND | OR ", library["licence"])) <= PERMISSIVE, library["name"]
        assert library["licence_files"] and library["home"].startswith("http"), library["name"]
        if "build" in library:
            assert (ROOT / library["build"]).is_file()


def test_every_tool_of_a_wheel_is_pinned_within_what_a_build_takes() -> None:
    pinned = pins()
    for requirement in PROJECT["build-system"]["requires"]:
        match = re.fullmatch(r"([a-z0-9-]+)>=(\d+)\.(\d+)(?:,<(\d+))?", requirement)
        assert match, requirement
        major, minor = map(int, pinned[match[1]].split(".")[:2])
        assert (major, minor) >= (int(match[2]), int(match[3])), requirement
        assert match[4] is None or major < int(match[4]), requirement


def test_a_forge_builds_the_wheels_that_scripts_wheels_builds() -> None:
    source = (ROOT / "scripts" / "wheels").read_text(encoding="utf-8")
    literal = re.search(r"^BUILT_FOR = (\{.*\})$", source, re.M)
    assert literal
    assert PROJECT["tool"]["cibuildwheel"]["build"] == [f"{tag}-*" for tag in ast.literal_eval(literal[1]).values()]


@pytest.mark.parametrize(
    ("tags", "versions"),
    [
        ("cp310-cp310", {"3.10"}),
        ("cp311-cp311", {"3.11"}),
        ("cp312-abi3", {"3.12", "3.13", "3.14"}),
        ("cp314-cp314t", {"3.14t"}),
    ],
)
def test_each_interpreter_gets_its_wheel(tags: str, versions: set[str]) -> None:
    wheel = Path(f"patchfold-0.1.0-{tags}-manylinux_2_34_x86_64.whl")
    assert {each for each in ("3.10", "3.11", "3.12", "3.13", "3.14", "3.14t") if is_for(wheel, each)} == versions

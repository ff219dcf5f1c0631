# SPDX-License-Identifier: Apache-2.0
"""Tests of the wheel: its content, and that it runs in an empty environment without compilers.

Needs PATCHFOLD_WHEEL, the wheel's path, which scripts/checks/python_tests and scripts/wheels set; without it these tests are
skipped. A wheel for any Linux (manylinux) holds all its libraries; a wheel built for this machine loads the system's.
"""

import json
import os
import re
import resource
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

WHEEL = os.environ.get("PATCHFOLD_WHEEL", "")
pytestmark = pytest.mark.skipif(not WHEEL, reason="PATCHFOLD_WHEEL names no wheel")

FOR_ANY_LINUX = "manylinux" in WHEEL
PHOTO = Path(__file__).resolve().parents[2] / "examples" / "photo.png"
RUNTIME = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
# The file names of each library.
FILES = {
    "oneTBB": "libtbb",
    "libpng": "libpng",
    "libjpeg": "libjpeg",
    "libtiff": "libtiff",
    "zlib": "libz",
    "fmt": "libfmt",
}
PERMISSIVE = {"Apache-2.0", "BSD-3-Clause", "MIT", "Zlib", "libpng-2.0", "IJG", "libtiff", "0BSD"}


def run(*command: object, **options: object) -> str:
    answer = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return str(answer.stdout)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    zipfile.ZipFile(WHEEL).extractall(folder)
    program(folder).chmod(0o755)
    return folder


def program(folder: Path) -> Path:
    return next(folder.glob("*.data")) / "scripts" / "patchfold"


def description(folder: Path) -> Path:
    return next(folder.glob("*.dist-info"))


def parts(folder: Path) -> dict[str, dict[str, str]]:
    """Returns the packages in the wheel's SPDX list of parts, {relation to the wheel: {name: package}}."""
    document = json.loads((description(folder) / "sboms" / "patchfold.spdx.json").read_text(encoding="utf-8"))
    assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0"
    packages = {package["SPDXID"]: package for package in document["packages"]}
    found: dict[str, Any] = {"DESCRIBES": {}, "CONTAINS": {}, "STATIC_LINK": {}, "DYNAMIC_LINK": {}}
    for each in document["relationships"]:
        package = packages[each["relatedSpdxElement"]]
        found[each["relationshipType"]][package["name"]] = package
    assert len(packages) == sum(map(len, found.values()))
    return found


def test_holds_the_package(unpacked: Path) -> None:
    package = unpacked / "patchfold"
    for name in ["__init__.py", "py.typed", "_core.pyi", "jax/__init__.py", "onnx/__main__.py", "torch/__init__.py"]:
        assert (package / name).is_file(), name
    assert len(list(package.glob("_core.*.so"))) == 1
    # The wheel has libraries for devices, ONNX Runtime and TensorFlow, and the source of the library for OpenVINO, which
    # users compile.
    libraries = sorted(path.name.partition(".so")[0] for path in (package / "lib").glob("*.so*"))
    assert libraries == [f"libpatchfold{part}" for part in ("", "_device", "_onnxruntime", "_tensorflow")]
    source = package / "lib" / "source"
    assert list(source.glob("plugins/openvino/*.cpp")) and (source / "patchfold" / "patchfold.h").is_file()
    assert all(path.is_relative_to(source) for path in unpacked.rglob("*.hpp")) and not list(unpacked.rglob("*.a"))
    assert {path.suffix or path.name for path in unpacked.iterdir()} == {"patchfold", ".data", ".dist-info"}
    assert [path.name for path in program(unpacked).parent.iterdir()] == ["patchfold"]


def test_loads_only_what_its_list_of_parts_says(unpacked: Path) -> None:
    loaded = parts(unpacked)["DYNAMIC_LINK"]
    assert not (FOR_ANY_LINUX and (loaded or parts(unpacked)["STATIC_LINK"]))
    files = tuple(FILES[name] for name in loaded if name in FILES)
    package = unpacked / "patchfold"
    for path in (program(unpacked), *package.glob("_core.*.so"), *(package / "lib").glob("*.so*")):
        dynamic = run("readelf", "-d", path)
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
        if path.name.startswith(("libpatchfold_onnxruntime.", "libpatchfold_device.")):
            own = [name for name in needed if name.startswith("libpatchfold.so.")]
            assert len(own) == 1 and (package / "lib" / own[0]).is_file()
            assert re.findall(r"R(?:UN)?PATH\).*\[(.*)\]", dynamic) == ["$ORIGIN"]
            dynamic, needed = "", [name for name in needed if name not in own]
        strangers = [name for name in needed if name not in RUNTIME and not (files and name.startswith(files))]
        assert needed and not strangers, path.name
        assert "(RPATH)" not in dynamic and "(RUNPATH)" not in dynamic, path.name


def test_every_part_has_a_version_and_a_permissive_licence_which_is_there(unpacked: Path) -> None:
    inside = parts(unpacked)["CONTAINS"]
    wanted = {"nanobind", "robin-map"}
    if FOR_ANY_LINUX:
        wanted |= set("oneTBB Highway zlib libpng libjpeg-turbo libtiff zstd xz fmt CLI11 nlohmann_json".split())
    assert set(inside) == wanted
    for name, part in inside.items():
        assert re.match(r"\d+\.\d+", part["versionInfo"]), name
        assert set(re.split(r" AND | OR ", part["licenseDeclared"])) <= PERMISSIVE, name
        texts = list((description(unpacked) / "licenses" / name).iterdir())
        assert texts and all(
            re.search(r"copyright|public domain|permission to use", text.read_text(errors="replace"), re.I) for text in texts
        ), name
    own = parts(unpacked)["DESCRIBES"]["patchfold"]
    metadata = (description(unpacked) / "METADATA").read_text(encoding="utf-8")
    assert f"\nVersion: {own['versionInfo']}\n" in metadata and (description(unpacked) / "licenses" / "LICENSE").is_file()


def test_links_of_the_long_description_leave_the_page(unpacked: Path) -> None:
    head, _, text = (description(unpacked) / "METADATA").read_text(encoding="utf-8").partition("\n\n")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) > 20 and all(link.startswith(("https://", "#")) for link in links)
    assert "<!--" not in text and "Debian" not in text and "pip install patchfold" in text
    assert not re.search(r"```\w+ ", text), "the name of a fence's language stands alone"
    assert "Project-URL: Source, https://" in head and "Description-Content-Type: text/markdown" in head


def test_runs_in_an_empty_environment_without_compilers(tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", WHEEL)
    empty = tmp_path / "empty"
    empty.mkdir()
    environment = {"PATH": str(empty), "HOME": str(tmp_path)}
    installed = run(python, "-m", "pip", "list", "--format=freeze", env=environment)
    assert {line.partition("==")[0] for line in installed.split()} <= {"patchfold", "numpy", "pip", "setuptools"}
    code = (
        "import numpy as np, patchfold, sys\n"
        "x = np.arange(18.0).reshape(1, 2, 3, 3)\n"
        "y = patchfold.fold(patchfold.unfold(x, 2), (3, 3), 2)\n"
        "assert (y == x * patchfold.coverage((3, 3), 2)).all()\n"
        "assert 'torch' not in sys.modules\n"
        "print(patchfold.__version__)\n"
    )
    version = run(python, "-I", "-c", code, env=environment, cwd=empty).strip()
    command = tmp_path / "env" / "bin" / "patchfold"
    assert run(command, "--version", env=environment).strip() == f"patchfold {version}"
    assert run(python, "-m", "patchfold", "--version", env=environment, cwd=empty).strip() == f"patchfold {version}"
    run(python, "-I", "-c", f"import numpy as np; np.save(r'{tmp_path}/x.npy', np.ones((1, 1, 4, 4)))", env=environment)
    run(command, "run", "unfold", tmp_path / "x.npy", "--kernel_size", "2", "-o", tmp_path / "y.npy", env=environment)
    shape = run(python, "-I", "-c", f"import numpy as np; print(np.load(r'{tmp_path}/y.npy').shape)", env=environment)
    assert shape.strip() == "(1, 4, 9)"
    answer = subprocess.run([command, "run", "nothing"], capture_output=True, text=True, env=environment, check=False)
    assert answer.returncode == 2
    assert "nothing" in answer.stderr
    run(python, "-m", "pip", "uninstall", "--quiet", "--yes", "patchfold", env=environment)
    assert not command.exists()


def test_python_m_patchfold_finds_the_program_of_a_target_folder(tmp_path: Path) -> None:
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", tmp_path / "there", WHEEL)
    environment = {"PATH": str(tmp_path), "PYTHONPATH": str(tmp_path / "there")}
    code = "from patchfold.__main__ import places; print(next(place.resolve() for place in places() if place.is_file()))"
    # numpy comes from the tests' environment, which has another patchfold: PYTHONPATH, with the wheel, takes precedence.
    found = run(sys.executable, "-c", code, env=environment, cwd=tmp_path).strip()
    assert found == str((tmp_path / "there" / "bin" / "patchfold").resolve())


def seconds_of_processor_time(call: Callable[[], object]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_the_program_is_no_script(unpacked: Path) -> None:
    with zipfile.ZipFile(WHEEL) as wheel:
        entry = next(entry for entry in wheel.infolist() if entry.filename.endswith(".data/scripts/patchfold"))
        assert stat.S_IMODE(entry.external_attr >> 16) & 0o111 == 0o111
        assert wheel.read(entry)[:4] == b"\x7fELF"
        assert not [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    # The start of Python takes 10 to 20 ms, and with NumPy 100 ms or more.
    assert min(seconds_of_processor_time(lambda: run(program(unpacked), "--version")) for _ in range(5)) < 0.05


@pytest.mark.parametrize("name", ["again.png", "again.tif", "again.jpg"])
def test_the_program_reads_and_writes_pictures(tmp_path: Path, unpacked: Path, name: str) -> None:
    own = program(unpacked)
    picture = tmp_path / name
    run(own, "split", PHOTO, tmp_path / "tiles", "--tile", "128", "--overlap", "32")
    run(own, "merge", tmp_path / "tiles", picture)
    for source in (PHOTO, picture):
        blocks = ("--block", "2,2", "--layout", "channels_last")
        run(own, "run", "space_to_depth", source, *blocks, "-o", f"{source.stem}.npy", cwd=tmp_path)
    expected, got = np.load(tmp_path / f"{PHOTO.stem}.npy"), np.load(tmp_path / "again.npy")
    assert expected.shape == got.shape == (200, 300, 12)
    assert np.abs(expected.astype(int) - got).mean() < (3 if picture.suffix == ".jpg" else 1e-9)


@pytest.mark.parametrize("compression", ["none", "deflate", "lzw", "zstd", "lzma"])
def test_the_program_reads_and_writes_compressed_tiff(tmp_path: Path, unpacked: Path, compression: str) -> None:
    own = program(unpacked)
    picture = tmp_path / "x.tif"
    values = np.arange(64 * 48, dtype=np.uint16).reshape(64, 48, 1)
    np.save(tmp_path / "x.npy", values)
    if compression == "lzma":  # patchfold reads lzma, and does not write it
        pytest.importorskip("tifffile").imwrite(picture, values[..., 0], compression=compression)
    else:
        run(own, "split", tmp_path / "x.npy", tmp_path / "tiles", "--tile", "32", "--axes", "0,1")
        run(own, "merge", tmp_path / "tiles", picture, "--compress", compression)
    run(own, "run", "space_to_depth", picture, "--block", "1,1", "--layout", "channels_last", "-o", tmp_path / "y.npy")
    assert np.array_equal(np.load(tmp_path / "y.npy").reshape(values.shape), values)


def exported(library: Path) -> list[str]:
    rows = [line.split() for line in run("readelf", "--dyn-syms", "--wide", library).splitlines()]
    return [row[7] for row in rows if len(row) == 8 and row[4] in ("GLOBAL", "WEAK") and row[6] != "UND"]


def test_the_module_exports_nothing_but_its_entry(unpacked: Path) -> None:
    assert exported(next((unpacked / "patchfold").glob("_core.*.so"))) == ["PyInit__core"]


def test_the_library_exports_none_of_the_libraries_that_it_holds(unpacked: Path) -> None:
    names = exported(next((unpacked / "patchfold" / "lib").glob("libpatchfold.so*")))
    assert len([name for name in names if name.startswith("pf_")]) > 30
    assert not [name for name in names if re.search(r"3tbb|tbb_|TBB|rml", name)]

# SPDX-License-Identifier: Apache-2.0
"""The wheel by itself: what is inside, and that it runs in an empty environment without compilers.

Needs PATCHFOLD_WHEEL, the wheel's path, which scripts/checks/python_tests sets; without it these tests are skipped.
"""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

WHEEL = os.environ.get("PATCHFOLD_WHEEL")
pytestmark = pytest.mark.skipif(not WHEEL, reason="PATCHFOLD_WHEEL names no wheel")

RUNTIME = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
PERMISSIVE = re.compile(r"Apache|MIT|BSD|Expat|[Zz]lib|libpng|IJG|ISC|public-domain", re.IGNORECASE)


def run(*command: object, **options: object) -> str:
    answer = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return str(answer.stdout)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    zipfile.ZipFile(str(WHEEL)).extractall(folder)
    return folder


def binaries(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]


def test_holds_the_package(unpacked: Path) -> None:
    package = unpacked / "patchfold"
    folders = ["jax/__init__.py", "onnx/__main__.py", "torch/__init__.py"]
    for name in ["__init__.py", "py.typed", "_core.pyi", "bin/patchfold", *folders]:
        assert (package / name).is_file(), name
    assert list(package.glob("_core.*.so"))
    assert not list(unpacked.rglob("*.hpp")) and not list(unpacked.rglob("*.a"))
    assert {path.name for path in unpacked.iterdir()} == {"patchfold", next(unpacked.glob("*.dist-info")).name}


# claim: wheel-needs
def test_needs_only_the_runtime_and_what_is_inside(unpacked: Path) -> None:
    found = binaries(unpacked)
    inside = {path.name for path in found}
    assert len(found) >= 4
    for path in found:
        dynamic = run("readelf", "-d", path)
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
        assert needed <= RUNTIME | inside, (path.name, needed)
        searched = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic)
        assert all(entry.startswith("$ORIGIN") for entry in searched), (path.name, searched)
        for name in needed & inside:
            folders = [path.parent / entry.replace("$ORIGIN", ".") for entry in searched]
            assert any((folder / name).is_file() for folder in folders), (path.name, name)


# claim: wheel-names
def test_bundled_libraries_have_names_of_their_own(unpacked: Path) -> None:
    for path in (unpacked / "patchfold" / "libs").iterdir():
        assert "-patchfold.so" in path.name
        assert f"[{path.name}]" in run("readelf", "-d", path)


def test_bundled_libraries_are_permissively_licensed(unpacked: Path) -> None:
    licences = list((unpacked / "patchfold" / "licenses").glob("*.txt"))
    assert len(licences) >= 3
    for path in licences:
        assert PERMISSIVE.search(path.read_text(encoding="utf-8", errors="replace")), path.name
    names = " ".join(path.name for path in (unpacked / "patchfold" / "libs").iterdir())
    assert not re.search(r"tiff|jbig|fftw|gmp|readline", names)


# claim: wheel-has-program
def test_runs_in_an_empty_environment_without_compilers(tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", WHEEL)
    empty = tmp_path / "empty"
    empty.mkdir()
    environment = {"PATH": str(empty), "HOME": str(tmp_path)}
    installed = run(python, "-m", "pip", "list", "--format=freeze", env=environment)
    assert {line.partition("==")[0] for line in installed.split()} <= {"patchfold", "numpy", "pip", "setuptools"}
    program = (
        "import numpy as np, patchfold, sys\n"
        "x = np.arange(18.0).reshape(1, 2, 3, 3)\n"
        "y = patchfold.fold(patchfold.unfold(x, 2), (3, 3), 2)\n"
        "assert (y == x * patchfold.coverage((3, 3), 2)).all()\n"
        "assert 'torch' not in sys.modules\n"
        "print(patchfold.__version__)\n"
    )
    version = run(python, "-I", "-c", program, env=environment, cwd=empty).strip()
    command = tmp_path / "env" / "bin" / "patchfold"
    assert run(command, "--version", env=environment).strip() == f"patchfold {version}"
    run(python, "-I", "-c", f"import numpy as np; np.save(r'{tmp_path}/x.npy', np.ones((1, 1, 4, 4)))", env=environment)
    run(command, "run", "unfold", tmp_path / "x.npy", "--kernel_size", "2", "-o", tmp_path / "y.npy", env=environment)
    shape = run(python, "-I", "-c", f"import numpy as np; print(np.load(r'{tmp_path}/y.npy').shape)", env=environment)
    assert shape.strip() == "(1, 4, 9)"
    answer = subprocess.run([command, "run", "nothing"], capture_output=True, text=True, env=environment, check=False)
    assert answer.returncode == 2
    assert "nothing" in answer.stderr


# claim: wheel-has-program
def test_the_program_reads_pictures(tmp_path: Path, unpacked: Path) -> None:
    program = unpacked / "patchfold" / "bin" / "patchfold"
    program.chmod(0o755)
    photo = Path(__file__).resolve().parents[2] / "examples" / "photo.png"
    blocks = tmp_path / "blocks.npy"
    run(program, "run", "space_to_depth", photo, "--block", "2,2", "--layout", "channels_last", "-o", blocks)
    assert blocks.stat().st_size > 600 * 400 * 3


# claim: wheel-without-tiff
def test_the_program_says_that_it_has_no_tiff(tmp_path: Path, unpacked: Path) -> None:
    program = unpacked / "patchfold" / "bin" / "patchfold"
    program.chmod(0o755)
    photo = Path(__file__).resolve().parents[2] / "examples" / "photo.png"
    file = tmp_path / "photo.tif"

    def answer(*words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(program), *map(str, words)], capture_output=True, text=True, check=False)

    written = answer("run", "unfold", photo, "--kernel_size", "1,1", "-o", file)
    file.write_bytes(b"II*\0\10\0\0\0")
    read = answer("split", file, tmp_path / "tiles", "--tile", "64")
    assert written.returncode == 1 and "this build writes no TIFF files" in written.stderr
    assert read.returncode == 1 and "this build reads no TIFF files" in read.stderr

# SPDX-License-Identifier: Apache-2.0
"""Changes one word of a copy of the tree at a time and expects check_recipes.py to name it.

usage: recipes_self_test.py CHECK_RECIPES_PY --root FOLDER
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

READ = ("packaging", "include/patchfold/version.hpp", "pyproject.toml", "CMakeLists.txt", "src/CMakeLists.txt",
        "formats/CMakeLists.txt", "cli/CMakeLists.txt", "cmake/highway.cmake", "scripts/packages.txt", "scripts/dependencies.json",
        "scripts/wheels-requirements.txt")
CONTROL, MANIFEST, PORTFILE = "packaging/debian/control", "packaging/vcpkg/vcpkg.json", "packaging/vcpkg/portfile.cmake"
CONAN, CONDA, FORMULA, NIX = ("packaging/conan/conanfile.py", "packaging/conda/recipe.yaml", "packaging/homebrew/patchfold.rb",
                              "packaging/nix/package.nix")
TABLE = "packaging/dependencies.json"
# A file, a pattern, what takes the place of its first match, and a line of the report that must come back.
FAULTS = [
    ("formats/CMakeLists.txt", r"find_package\(PNG", "find_package(WebP", f"{TABLE}: libraries: libpng is none of the project's"),
    ("cli/CMakeLists.txt", r"find_package\(fmt", "find_package(spdlog", f"{TABLE}: libraries: spdlog is missing"),
    ("scripts/dependencies.json", r'"name": "fmt"', '"name": "format"', f"{TABLE}: libraries beside scripts/dependencies.json: format"),
    (TABLE, r'"for": "library"', '"for": "all"', f"{TABLE}: Highway is for all"),
    (TABLE, r', "nix": "zlib"', "", f"{TABLE}: names of zlib: nix is missing"),
    (TABLE, r"-tree", "-source", f"{TABLE}: url is "),
    ("scripts/packages.txt", r"libtiff-dev", "libwebp-dev", f"{CONTROL}: libraries beside scripts/packages.txt: libwebp-dev is missing"),
    (CONTROL, r" libpng-dev,\n", "", f"{CONTROL}: Build-Depends: libpng-dev is missing"),
    (CONTROL, r" libgmock-dev <!nocheck>", " libgmock-dev", f"{CONTROL}: libgmock-dev is for tests"),
    (CONTROL, r"1:1.26", "1:1.24", f"{CONTROL}: NumPy is 1.24"),
    (CONTROL, r"libpatchfold0.1\n", "libpatchfold0\n", f"{CONTROL}: package of the library is libpatchfold0,"),
    ("packaging/debian/changelog", r"0.1.0-0", "0.2.0-0", "packaging/debian/changelog: version is 0.2.0"),
    ("packaging/debian/copyright", r"License: Apache-2.0", "License: Expat", "packaging/debian/copyright: licence is Expat"),
    ("packaging/debian/README.source", r"3.1.0,", "3.0.0,", "packaging/debian/README.source: nanobind is 3.0.0"),
    ("packaging/debian/rules", r"PATCHFOLD_BUILD_EXAMPLES", "PATCHFOLD_EXAMPLES", f"{CONTROL}: does not set PATCHFOLD_BUILD_EXAMPLES"),
    (MANIFEST, r'"highway"', '"simde"', f"{MANIFEST}: dependencies of the library: highway is missing"),
    (MANIFEST, r'"tiff",', "", f"{MANIFEST}: dependencies of tools: tiff is missing"),
    (MANIFEST, r"Apache-2.0", "MIT", f"{MANIFEST}: license is MIT"),
    (PORTFILE, r"PATCHFOLD_BUILD_CLI", "PATCHFOLD_BUILD_PROGRAM", f"{PORTFILE}: CMakeLists.txt has no option PATCHFOLD_BUILD_PROGRAM"),
    (PORTFILE, r"tbb PATCHFOLD", "onetbb PATCHFOLD", f"{PORTFILE}: features: onetbb is none"),
    (PORTFILE, r"\b0+\b", "a" * 128, f"{PORTFILE}: checksum is "),
    (CONAN, r'"zlib/.+?"', '"zlib-ng/[>=2]"', f"{CONAN}: requirements: zlib is missing"),
    (CONAN, r'version = "0.1.0"', 'version = "0.1.1"', f"{CONAN}: version is 0.1.1"),
    ("packaging/conan/conandata.yml", r"v0.1.0", "v0.1.1", "packaging/conan/conandata.yml: url is "),
    ("packaging/conan/conandata.yml", r"\b0{64}\b", "b" * 64, f"{CONAN}: checksum is "),
    (CONDA, r"        - tbb-devel\n", "", f"{CONDA}: host: tbb-devel is missing"),
    (CONDA, r"(?s)(.*)        - zlib\n", r"\1", f"{CONDA}: host: zlib is missing"),
    (CONDA, r"nanobind >=3.1,<4", "nanobind", f"{CONDA}: host: nanobind is , expected >=3.1,<4"),
    (CONDA, r"numpy >=1.26", "numpy >=2", f"{CONDA}: run: numpy is >=2"),
    (FORMULA, r'depends_on "fmt"', 'depends_on "spdlog"', f"{FORMULA}: depends_on: fmt is missing"),
    (FORMULA, r"v0.1.0", "v0.1.1", f"{FORMULA}: url is "),
    (NIX, r"  libtiff,\n", "", f"{NIX}: arguments: libtiff is missing"),
    (NIX, r"    libtiff\n", "", f"{NIX}: inputs: libtiff is missing"),
    (NIX, r"asl20", "mit", f"{NIX}: license is None"),
    ("pyproject.toml", r"nanobind>=3.1,<4", "nanobind>=4,<5", f"{CONDA}: host: nanobind is >=3.1,<4, expected >=4,<5"),
    ("include/patchfold/version.hpp", r'STRING "0.1.0"', 'STRING "0.2.0"', f"{NIX}: version is 0.1.0, expected 0.2.0"),
]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("check", type=Path)
    parser.add_argument("--root", type=Path, required=True)
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name in READ:
            source, copy = options.root / name, tree / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(source, copy) if source.is_dir() else shutil.copy(source, copy)

        def report():
            words = [sys.executable, str(options.check), "--root", folder]
            return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

        sound = report()
        if sound.returncode:
            sys.exit(f"the tree itself has faults:\n{sound.stdout}")
        for name, pattern, replacement, expected in FAULTS:
            path = tree / name
            before = path.read_text(encoding="utf-8")
            after = re.sub(pattern, replacement, before, count=1)
            path.write_text(after, encoding="utf-8")
            answer = report()
            if before == after or answer.returncode != 1 or expected not in answer.stdout:
                failures += 1
                print(f"FAILED {name}: {pattern} became {replacement}: expected {expected!r} in\n{answer.stdout}")
            path.write_text(before, encoding="utf-8")
    print(f"{len(FAULTS) - failures} of {len(FAULTS)} faults were named")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())

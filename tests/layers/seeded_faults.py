# SPDX-License-Identifier: Apache-2.0
"""Makes one change at a time in a copy of the tree, and expects that a check of the tree names the change.

usage: seeded_faults.py CHECK_PY --root FOLDER [OPTION_OF_CHECK_PY]..
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CLAIMS, SUMS, VECTORS = "tests/claims.txt", "tests/rulings/sums.cpp", "tests/python/test_vectors.py"
CONTROL, MANIFEST, PORTFILE = "packaging/debian/control", "packaging/vcpkg/vcpkg.json", "packaging/vcpkg/portfile.cmake"
CONAN, CONDA, FORMULA, NIX = ("packaging/conan/conanfile.py", "packaging/conda/recipe.yaml", "packaging/homebrew/patchfold.rb",
                              "packaging/nix/package.nix")
TABLE, PARITY = "packaging/dependencies.json", "scripts/checks/parity.txt"
# For each check, its faults: a file, a pattern, the replacement of its first match, and the expected part of the report,
# in which "{}" stands for a number. The expected part is "" if the check must still pass.
FAULTS = {
    "claims.py": [
        ("README.md", r"\*\*The same bits\*\*", "`The` [same](a.md)\nbits", ""),
        ("README.md", r"Operators also have kernels", "It never fails. Operators also have kernels", ""),
        ("README.md", r"The same bits", "Other bits", f"{CLAIMS}:{{}}: README.md does not say: The same bits"),
        ("README.md", r"fastest in \d+", "fastest in 1", f"{CLAIMS}:{{}}: README.md does not say: Fast:"),
        ("SECURITY.md", r"entries of a list \| 32", "entries of a list | 33", f"{CLAIMS}:{{}}: SECURITY.md does not say: axes of a tensor"),
        (SUMS, r"NanSums, StayNan", "NanSums, Stay", f"{CLAIMS}:{{}}: there is no test NanSums.StayNan"),
        (VECTORS, r"test_vector\(", "test_vectors(", f"{CLAIMS}:{{}}: there is no test python/test_vectors.py::test_vector"),
        (CLAIMS, r"docs\.facts", "docs.fact", f"{CLAIMS}:{{}}: there is no test docs.fact"),
        (CLAIMS, r"docs/operators\.md:\n", "docs/operator.md:\n", f"{CLAIMS}:{{}}: there is no page docs/operator.md"),
        (CLAIMS, r"\Z", "\nREADME.md: Tiles without seams:\n", f"{CLAIMS}:{{}}: needs a page and a test"),
    ],
    "facts.py": [
        ("README.md", r"\(docs/tiles\.md\)", "(docs/tails.md)", "README.md: the link [docs/tiles.md] leads to no file: docs/tails.md"),
        ("README.md", r"#dlpack\)", "#dlpick)", "README.md: the link [DLPack] leads to no heading: docs/glossary.md#dlpick"),
        ("SECURITY.md", r"`scripts/fuzz`", "`scripts/fuss`", "SECURITY.md: there is no scripts/fuss"),
        ("CONVENTIONS.md", r"refuses more than \d+", "refuses more than 7", "CONVENTIONS.md: must say"),
        ("docs/design.md", r"\n\| move \|[^\n]*", "", "docs/design.md: the strategies must be"),
        ("docs/design.md", r"a join \d+ KB", "a join 2 KB", "docs/design.md: prefetches"),
        ("README.md", r"takes [\d.]+ times", "takes 9 times", "README.md: must quote the figures"),
        ("README.md", r"fastest in \d+", "fastest in 1", "README.md: must quote the figures"),
        ("docs/glossary.md", r"</a>tap \|", "</a>block |", "docs/glossary.md: defines block twice"),
        ("docs/site/index.md", r"\npython-tiles\n", "\n", "docs/site/index.md: must list python-tiles"),
        ("docs/conformance.md", r"\| \d+: ", "| 0: ", "docs/conformance.md: has a row that did not occur"),
        ("docs/conformance.md", r"\| \d+ refused", "| 0 refused", "docs/conformance.md: has a row that did not occur"),
        ("docs/conformance.md", r"patchfold: \d+,", "patchfold: 0,", "docs/conformance.md: has a row that did not occur"),
        ("docs/dialects.md", r"(?s)glossary\.md(.*)", "words.md", "docs/dialects.md: must link to docs/glossary.md"),
    ],
    "parity.py": [
        (PARITY, r"  torch: = contiguous\n", "", "copy, torch: is missing without a reason"),
        (PARITY, r"  torch: = contiguous\n", "  torch: = contigous\n", "copy, torch: there is no contigous"),
        (PARITY, r"  torch: = contiguous\n", "  torch, C: cannot\n", "copy, C: is there, though parity.txt says why it is not"),
        (PARITY, r"\nMerger\.mask\n", "\nMerger.masks\n", "Merger.masks, Python: is missing without a reason"),
        (PARITY, r"\ncoverage\n", "\n", "coverage: is public in Python, and no row of parity.txt"),
        (PARITY, r"Keras's unfold pads", "Keras's unfold fills", "docs/frameworks.md: is out of date: scripts/checks/parity.py writes it"),
    ],
    "check_recipes.py": [
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
    ],
}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("check", type=Path)
    parser.add_argument("--root", type=Path, required=True)
    options, more = parser.parse_known_args()
    faults, root, failures = FAULTS[options.check.name], options.root.resolve(), 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for entry in root.iterdir():
            if entry.name in {Path(name).parts[0] for name, *_ in faults} | {"docs"}:
                shutil.copytree(entry, tree / entry.name) if entry.is_dir() else shutil.copy(entry, tree)
            elif entry.name not in ("build", ".git"):
                (tree / entry.name).symlink_to(entry)
        for name, pattern, replacement, expected in [("README.md", r"\A", "", ""), *faults]:
            path = tree / name
            sound = path.read_text(encoding="utf-8")
            text, count = re.subn(pattern, replacement, sound, count=1)
            path.write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, options.check, "--root", folder, *more], capture_output=True, text=True)
            report = done.stdout + done.stderr
            wanted = re.escape(expected).replace(r"\{\}", r"\d+")
            if not count or done.returncode != (1 if expected else 0) or not re.search(wanted, report):
                failures += 1
                print(f"{name}: {pattern} ({count} times): expected {expected!r}, got {done.returncode} and\n{report}")
            path.write_text(sound, encoding="utf-8")
    print(f"{len(faults) + 1} trees, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

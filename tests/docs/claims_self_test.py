# SPDX-License-Identifier: Apache-2.0
"""Gives claims.py trees with one known fault each and expects it to name that fault.

usage: claims_self_test.py CLAIMS_PY --root FOLDER
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TABLE, SUMS, VECTORS = "tests/claims.txt", "tests/rulings/sums.cpp", "tests/python/test_vectors.py"
# A file, a pattern, what takes the place of its first match, and a line that the report must hold ("" if it must be sound).
FAULTS = [
    ("README.md", r"\*\*The same bits\*\*", "`The` [same](a.md)\nbits", ""),
    ("README.md", r"There is no GPU code", "It never fails. There is no GPU code", ""),
    ("README.md", r"The same bits", "Other bits", f"{TABLE}:{{}}: README.md does not say: The same bits"),
    ("README.md", r"fastest in \d+", "fastest in 1", f"{TABLE}:{{}}: README.md does not say: Fast:"),
    ("SECURITY.md", r"entries of a list \| 32", "entries of a list | 33", f"{TABLE}:{{}}: SECURITY.md does not say: axes of a tensor"),
    (SUMS, r"NanSums, StayNan", "NanSums, Stay", f"{TABLE}:{{}}: there is no test NanSums.StayNan"),
    (VECTORS, r"test_vector\(", "test_vectors(", f"{TABLE}:{{}}: there is no test python/test_vectors.py::test_vector"),
    (TABLE, r"docs\.facts", "docs.fact", f"{TABLE}:{{}}: there is no test docs.fact"),
    (TABLE, r"docs/errors\.md:\n", "docs/error.md:\n", f"{TABLE}:{{}}: there is no page docs/error.md"),
    (TABLE, r"\Z", "\nREADME.md: Tiles without seams:\n", f"{TABLE}:{{}}: needs a page and a test"),
]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("claims", type=Path)
    parser.add_argument("--root", type=Path, required=True)
    options = parser.parse_args()
    root = options.root.resolve()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for room in ("fuzz", "tests"):
            for path in (root / room).rglob("*"):
                if path.suffix in (".cpp", ".py", ".txt") and path.is_file():
                    copy = tree / path.relative_to(root)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, copy)
        shutil.copytree(root / "docs", tree / "docs")
        for page in root.glob("*.md"):
            shutil.copy(page, tree)
        for name, pattern, replacement, line in FAULTS:
            sound = (tree / name).read_text(encoding="utf-8")
            text, count = re.subn(pattern, replacement, sound, count=1)
            (tree / name).write_text(text, encoding="utf-8")
            command = [sys.executable, str(options.claims), "--root", str(tree)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
            expected = re.escape(line).replace(r"\{\}", r"\d+")
            if not count or done.returncode != (1 if line else 0) or not re.search(expected, done.stdout):
                failures += 1
                print(f"{name}: {pattern} ({count} times): expected {line!r}, got {done.returncode} and\n{done.stdout}")
            (tree / name).write_text(sound, encoding="utf-8")
    print(f"{len(FAULTS)} trees, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

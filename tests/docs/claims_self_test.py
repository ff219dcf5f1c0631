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

UNMARKED = "promises, and has no marker: "
SUMS, VIEWS, TENSORFLOW = "tests/rulings/sums.cpp", "tests/python/test_views.py", "tests/rulings/tensorflow.cpp"
# A file, a pattern, what takes the place of its first match, and a line that the report must hold ("" if it must be sound).
FAULTS = [
    ("README.md", r"Copies move bits", "Copies move bits", ""),
    ("README.md", r"There is no GPU code", "It is slow. There is no GPU code", ""),
    ("README.md", r"There is no GPU code", "It never fails. There is no GPU code", f"README.md:{{}}: {UNMARKED}It never"),
    ("README.md", r"<!-- claim: same-bits -->", "", f"README.md:{{}}: {UNMARKED}**The same bits**"),
    ("README.md", r"claim: same-bits ", "claim: same-bots ", "README.md:{}: no test names the claim same-bots"),
    ("README.md", r"<!-- claim: same-bits -->", "<!-- no claim: known -->", "docs/claims.md: is out of date"),
    ("SECURITY.md", r"(`src/engine/normalise.cpp`)<!-- .*? -->", r"\1", f"SECURITY.md:{{}}: {UNMARKED}axes"),
    ("docs/dialects.md", r"<!-- claim: tensorflow-vect -->", "", f"{TENSORFLOW}: TensorflowDepth.Refuses"),
    ("docs/tiles.md", r"(?s)$", "\nNothing. <!-- claim: soak -->\n", f"docs/tiles.md:{{}}: {UNMARKED}Nothing."),
    ("docs/design.md", r"<!-- no claims: ideas [^>]*>", "", f"docs/design.md:{{}}: {UNMARKED}"),
    ("docs/errors.md", r"(?s)$", "\nAlways.\n", ""),
    ("docs/claims.md", r"README.md", "READ.md", "docs/claims.md: is out of date"),
    (SUMS, r"// claim: sums-nan", "// claims: sums-nan", "docs/dialects.md:{}: no test names the claim sums-nan"),
    (SUMS, r"// claim: sums-nan", "// claim: sums-non", f"{SUMS}: NanSums.StayNan names the claim sums-non, which no page"),
    (SUMS, r"(// claim: sums-nan)", r"\1\n", f"{SUMS}:{{}}: a marker without a test: sums-nan"),
    (VIEWS, r"(?s)$", "\n\n# claim: views\n", f"{VIEWS}:{{}}: a marker without a test: views"),
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
            command = [sys.executable, str(options.claims), "--check", "--root", str(tree)]
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

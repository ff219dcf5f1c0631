# SPDX-License-Identifier: Apache-2.0
"""Gives facts.py trees with one known fault each and expects it to name that fault.

usage: facts_self_test.py FACTS_PY --root FOLDER
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# A file, a pattern, what takes the place of its first match, and the line that the report must hold.
FAULTS = [
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
]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("facts", type=Path)
    parser.add_argument("--root", type=Path, required=True)
    options = parser.parse_args()
    root = options.root.resolve()
    failures = 0
    for name, pattern, replacement, line in FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder)
            for entry in root.iterdir():
                if entry.suffix != ".md" and entry.name not in ("docs", "build", ".git"):
                    (tree / entry.name).symlink_to(entry)
            for page in root.glob("*.md"):
                shutil.copy(page, tree)
            shutil.copytree(root / "docs", tree / "docs")
            text, count = re.subn(pattern, replacement, (tree / name).read_text(encoding="utf-8"), count=1)
            (tree / name).write_text(text, encoding="utf-8")
            command = [sys.executable, str(options.facts), "--root", str(tree)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
            if not count or done.returncode != 1 or line not in done.stdout:
                failures += 1
                print(f"{name}: {pattern} ({count} times): expected exit code 1 and {line!r}, got {done.returncode} and\n{done.stdout}")
    print(f"{len(FAULTS)} trees, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

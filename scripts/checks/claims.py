#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that tests/claims.txt quotes the promises of the documents correctly, and that the tests of each promise exist.

usage: claims.py [--root FOLDER]

tests/claims.txt explains its form. Line breaks, emphasis, links, code marks and borders of tables do not count.
"""
import argparse
import re
import sys
from itertools import accumulate
from pathlib import Path

TABLE = "tests/claims.txt"
TESTS = {
    ".cpp": re.compile(r"(?:TEST|TEST_F|TEST_P|TYPED_TEST)\((\w+), *(\w+)\)|class (\w+) : public ::testing::Test"),
    ".py": re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE),
    ".txt": re.compile(r"^ *add_test\(NAME ([\w.${}]+)|^(\w+\.\w+) \| ", re.MULTILINE),
}


def plain(text):
    """Returns the words of Markdown without its marks."""
    text = re.sub(r"\[([^\]]*)\]\([^)\s]*\)", r"\1", text)
    text = re.sub(r"(?m)<!--.*?-->|<a id=[^>]*>|</a>|^ *[*-] |[*`]", "", text)
    return " ".join(text.replace("|", " ").split())


def tests_of(root):
    """Returns the names of all tests: Suite.Name of C++ and of vectors.txt, folder/file.py::test_name, and ctest's names."""
    found = set()
    for room in (root / "tests", root / "fuzz"):
        for path in room.rglob("*"):
            if path.suffix not in TESTS or not path.is_file():
                continue
            for match in TESTS[path.suffix].finditer(path.read_text(encoding="utf-8")):
                name = ".".join(filter(None, match.groups()))
                within = f"{path.relative_to(room).as_posix()}::" if path.suffix == ".py" else ""
                found.add(within + re.sub(r"\$\{\w+\}", "*", name))
    return found


def entries_of(text):
    """Yields (line number, [(line number, page, quote)], tests) of each entry. A page after a list of tests begins the next
    entry."""
    lines = []
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if lines and not line.startswith(" ") and (not line or lines[-1][1].startswith(" ")):
            quotes = [(at, *said.partition(":")[::2]) for at, said in lines if not said.startswith(" ")]
            words = [name.strip() for _, said in lines if said.startswith(" ") for name in said.split(",")]
            files = accumulate((word.partition("::")[0] for word in words), lambda before, file: file or before)
            tests = [file + word.removeprefix(file) for file, word in zip(files, words)]
            yield lines[0][0], quotes, tests
            lines = []
        if line.startswith("    ") and lines:
            lines[-1] = (lines[-1][0], f"{lines[-1][1]} {line.strip()}")
        elif line and not line.startswith("#"):
            lines.append((number, line))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    root = parser.parse_args().root
    tests, pages, faults, count = tests_of(root), {}, [], 0
    for line, quotes, proofs in entries_of((root / TABLE).read_text(encoding="utf-8")):
        if not quotes or not proofs:
            faults.append((line, "needs a page and a test"))
        faults += [(line, f"there is no test {name}") for name in proofs if name not in tests]
        for at, page, quote in quotes:
            count += 1
            if page not in pages:
                path = root / page
                pages[page] = plain(path.read_text(encoding="utf-8")) if path.is_file() else None
            if pages[page] is None:
                faults.append((at, f"there is no page {page}"))
            elif plain(quote) not in pages[page]:
                faults.append((at, f"{page} does not say: {quote.strip()}"))
    for line, fault in faults:
        print(f"FAILED {TABLE}:{line}: {fault}")
    print(f"claims: {count} sentences, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

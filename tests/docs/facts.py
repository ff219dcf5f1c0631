# SPDX-License-Identifier: Apache-2.0
"""Checks statements of the documentation about the tree: links, names of files, limits, strategies, figures.

usage: facts.py [--root FOLDER]

  links        every relative link of a page leads to a file, and its anchor to a heading or an <a id> there
  files        every file, folder and script that a page names in `back quotes` exists
  limits       CONVENTIONS.md names the limit of lines that scripts/checks/check_layers.py enforces
  strategies   the table of docs/design.md has the rows of src/engine/table.cpp, in their order
  figures      README.md quotes docs/performance.md
  numbers      numbers of the code in docs/design.md equal the numbers in the code
  glossary     every word is defined once, and each page that explains itself links to the glossary
  site         every page stands in a list of docs/site/index.md, from which the site's navigation is made
  conformance  docs/conformance.md has no row, and no refusal, that did not occur when the page was written

Exits with 1 and one line for each fault.
"""
import argparse
import re
import sys
from pathlib import Path

PAGES = ("README.md", "CONVENTIONS.md", "CONTRIBUTING.md", "SECURITY.md")
# Pages whose readers may not know the words, so that the pages must link to the glossary.
EXPLAINED = PAGES + ("docs/design.md", "docs/dialects.md", "docs/python.md", "docs/python-tiles.md", "docs/tiles.md")
FOLDERS = ("include", "src", "formats", "cli", "python", "reference", "tests", "fuzz", "bench", "examples", "scripts", "cmake", "packaging")


def text_of(path):
    return path.read_text(encoding="utf-8")


def without_code(text):
    return re.sub(r"(?ms)^```.*?^```$", "", text)


def anchors_of(text):
    """Returns the anchors of a page that links may use: those that GitHub gives headings, and the ids of <a id>."""
    headings = re.findall(r"(?m)^#+ (.+)$", without_code(text))
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a id="([^"]+)"', text))


def check_links(root, page, text):
    for label, target in re.findall(r"\[([^\]]*)\]\(([^)\s]+)\)", without_code(text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (root / page).parent / name if name else root / page
        if not path.exists():
            yield f"the link [{label}] leads to no file: {target}"
        elif anchor and anchor not in anchors_of(text_of(path)):
            yield f"the link [{label}] leads to no heading: {target}"


def check_files(root, text):
    for word in re.findall(r"`([^`\n]+)`", without_code(text)):
        name = word.split()[0]
        if re.fullmatch(rf"({'|'.join(FOLDERS)})/[\w./*-]*", name) and not any(root.glob(name.rstrip("/"))):
            yield f"there is no {name}"


def check_limits(root):
    enforced = re.search(r"(?m)^MOST_LINES = (\d+)$", text_of(root / "scripts" / "checks" / "check_layers.py"))
    said = re.search(r"refuses more than (\d+)\s+lines", text_of(root / "CONVENTIONS.md"))
    if not enforced or not said or enforced[1] != said[1]:
        yield "CONVENTIONS.md", "must say `refuses more than N lines`, with the N of MOST_LINES in scripts/checks/check_layers.py"


def check_strategies(root):
    rows = re.findall(r'(?m)^    \{"([a-z ]+)", ', text_of(root / "src" / "engine" / "table.cpp"))
    table = re.search(r"(?ms)^\| strategy \| for \|.*?\n\n", text_of(root / "docs" / "design.md"))
    said = re.findall(r"(?m)^\| ([a-z ]+) \|", table[0] if table else "")[1:]
    if not rows or said != rows:
        yield "docs/design.md", f"the strategies must be {rows}, and not {said}"


# For each check: a pattern with numbers in docs/design.md, files of the code, a pattern with the same numbers there, and
# the factor from the page's unit to the code's.
NUMBERS = [
    (r"prefetches (\d+) KB ahead, a join (\d+) KB ahead", "src/engine/**/*.cpp", r"(?:split|join)_ahead = (\d+);", 1024),
    (r"No piece moves less than (\d+) KiB", "src/engine/*.hpp", r"bytes_per_piece = (\d+) \* 1024;", 1),
    (r"exceed (0\.\d+) of the last-level cache \(([\d.]+) if", "src/engine/machine.cpp", r"share = .* \? ([\d.]+) : ([\d.]+);", 1),
]


def check_numbers(root):
    text = text_of(root / "docs" / "design.md")
    for page, files, pattern, unit in NUMBERS:
        said = [float(number) * unit for match in re.findall(page, text) for number in ([match] if isinstance(match, str) else match)]
        code = "".join(text_of(path) for path in sorted(root.glob(files)))
        found = [float(number) for match in re.findall(pattern, code) for number in ([match] if isinstance(match, str) else match)]
        if not said or sorted(said) != sorted(found):
            yield "docs/design.md", f"{page} says {said}, {pattern} in {files} {found}"


def check_figures(root):
    figures = text_of(root / "docs" / "performance.md")
    pattern = r"1 thread: patchfold is the fastest in (\d+) of (\d+) calls .*?\n  The fastest of .*? takes ([\d.]+) times"
    found = re.search(pattern, figures)
    said = re.search(r"fastest in (\d+) of (\d+) calls.*?takes ([\d.]+) times", text_of(root / "README.md"), re.S)
    if not found or not said or found.groups() != said.groups():
        yield "README.md", "must quote the figures of one thread in docs/performance.md"


def check_glossary(root):
    words = re.findall(r'(?m)^\| <a id="[^"]+"></a>(.+?) \|', text_of(root / "docs" / "glossary.md"))
    words = [word for entry in words for word in entry.split(", ")]
    for word in sorted({word for word in words if words.count(word) > 1}):
        yield "docs/glossary.md", f"defines {word} twice"
    if len(words) < 40:
        yield "docs/glossary.md", "has too few words"
    for page in EXPLAINED:
        if "glossary.md" not in text_of(root / page):
            yield page, "must link to docs/glossary.md"


def check_site(root):
    text = text_of(root / "docs" / "site" / "index.md")
    listed = re.findall(r"(?m)^([\w/-]+)$", "".join(re.findall(r"(?s)```\{toctree\}(.*?)```", text)))
    pages = [path.relative_to(root / "docs") for folder in ("", "start") for path in (root / "docs" / folder).glob("*.md")]
    for page in sorted(pages):
        if page.with_suffix("").as_posix() not in listed:
            yield "docs/site/index.md", f"must list {page.with_suffix('').as_posix()} in one of its blocks toctree"


def check_conformance(root):
    lines = text_of(root / "docs" / "conformance.md").split("\n")
    rows = [line for line in lines if line.startswith(("| ", "* ")) and re.search(r"\d", line)]
    for line in rows:
        if re.search(r"\| 0(:| refused)|^\* [^:]*: 0,|not counted", line):
            yield "docs/conformance.md", f"has a row that did not occur: {line}"
    if len(rows) < 50:
        yield "docs/conformance.md", "has too few rows"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    root = parser.parse_args().root
    written = [path for folder in ("docs", "docs/start") for path in sorted((root / folder).glob("*.md"))]
    pages = [*PAGES, *(str(path.relative_to(root)) for path in written)]
    faults = []
    for page in pages:
        text = text_of(root / page)
        faults += [(page, fault) for fault in (*check_links(root, page, text), *check_files(root, text))]
    for check in (check_limits, check_strategies, check_numbers, check_figures, check_glossary, check_site, check_conformance):
        faults += check(root)
    for page, fault in faults:
        print(f"FAILED {page}: {fault}")
    print(f"facts: {len(pages)} pages, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

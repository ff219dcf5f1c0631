#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ties each promise of the documentation to the tests that prove it.

usage: claims.py [--check] [--root FOLDER]

A sentence of a page that promises something is followed by a marker, `<!-- claim: NAME -->`, which no reader sees. A test
that proves it has a line `// claim: NAME` or `# claim: NAME` directly above it. Several names are separated by commas.
`<!-- no claim: REASON -->` follows a sentence that only sounds like a promise. `<!-- no claims: REASON -->` below a heading
stands for all sentences up to the next heading of that level. A row of a table is one sentence.

Writes docs/claims.md: each sentence with its tests. With --check it writes nothing and fails where
  * a claim has no test, or a test names a claim that no page makes
  * a sentence has a word that promises, and no marker; or is a row of a table of limits
  * docs/claims.md is out of date
"""
import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

WRITTEN = "docs/claims.md"
PAGES = ("README.md", "SECURITY.md", "docs/c-abi.md", "docs/command-line.md", "docs/design.md", "docs/dialects.md",
         "docs/embedding.md", "docs/explain.md", "docs/frameworks.md", "docs/gallery.md", "docs/glossary.md", "docs/models.md",
         "docs/python-switch.md", "docs/python-tiles.md", "docs/python.md", "docs/scale.md", "docs/runtimes.md", "docs/start/cluster.md",
         "docs/start/embed.md", "docs/start/learn.md", "docs/start/port.md", "docs/start/stitch.md", "docs/tiles.md")
# Pages that a program writes, with the claim that they are what it writes.
GENERATED = {
    "docs/conformance.md": "conformance-page", "docs/errors.md": "errors-page", "docs/operators.md": "operators-page",
    "docs/porting.md": "porting-page",
}
# Pages that say what was measured or tried, and promise nothing.
RECORDS = (
    "docs/performance.md", "docs/performance-calls.md", "docs/performance-random.md", "docs/performance-runtimes.md",
    "docs/performance-stitching.md", "docs/platforms.md")

# The first page of the site, which says what README.md says.
SITE = "docs/site/index.md"

PROMISES = re.compile(
    r"\b(always|any number|at most|before anything|bit for bit|bits stay|cannot|does not|every|exact|exactly|guarantees?|"
    r"never|no more than|nothing|only|proportional|refused?|refuses|same bits|stays?|unchanged)\b", re.IGNORECASE)
MARKER = re.compile(r"<!-- (claim|no claim|no claims): (.+?) -->(?!`)")
TESTS = {
    ".cpp": re.compile(r"(?:(?:TEST|TEST_F|TEST_P|TYPED_TEST)\((\w+), *(\w+)\)|class (\w+) : public ::testing::Test)"),
    ".py": re.compile(r"(?:async )?def (test_\w+)"),
    ".txt": re.compile(r" *add_test\(NAME ([\w.${}]+)"),
}
# What may stand between a marker and its test: other comments, and the decorators of a function.
BETWEEN = {".cpp": re.compile(r"//"), ".py": re.compile(r"[#@ )\]]|$"), ".txt": re.compile(r" *#")}


@dataclass(frozen=True)
class Sentence:
    page: str
    line: int
    text: str
    claims: tuple[str, ...] = ()
    excused: bool = False
    limit: bool = False


def plain(text):
    """A sentence as a cell of a table shows it."""
    text = re.sub(r"\[([^\]]*)\]\([^)\s]*\)", r"\1", MARKER.sub("", text))
    text = re.sub(r'<a id="[^"]*"></a>', "", text).strip()
    if text.startswith("|"):
        text = ": ".join(cell.strip() for cell in text.strip("|").split("|") if cell.strip())
    return re.sub(r"\s+", " ", re.sub(r"^[*-] ", "", text))


def blocks(text):
    """(first line, text, whether a row of a table of limits) of each paragraph, entry of a list and row of a table, and
    (line, heading) of each heading."""
    fence, table_header, found, at = False, None, [], 0
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if stripped.startswith("```"):
            fence, at = not fence, 0
        elif fence or not stripped or (line.startswith("    ") and not at):
            at = 0
        elif stripped.startswith("#"):
            found.append([number, stripped, False])
            at = 0
        elif stripped.startswith("|"):
            after = lines[number].strip() if number < len(lines) else ""
            if re.fullmatch(r"[|\s:-]+", after) and "-" in after:
                table_header = stripped
            elif not re.fullmatch(r"[|\s:-]+", stripped):
                found.append([number, stripped, "at most" in (table_header or "")])
            at = 0
            continue
        elif not at or re.match(r"[*-] ", stripped):
            found.append([number, stripped, False])
            at = number
        else:
            found[-1][1] += "\n" + stripped
        table_header = None
    return found


def sentences(page, text):
    level = None  # the level of the heading whose section makes no claims
    heading = 0
    for first, block, limit in blocks(text):
        if block.startswith("#"):
            heading = len(block) - len(block.lstrip("#"))
            if level is not None and heading <= level:
                level = None
            continue
        for piece in [block] if block.startswith("|") else re.split(r"(?<=[^.\s][.!?])(?=\s|$)|(?<=-->)(?!`)", block):
            line = first + block[: block.find(piece)].count("\n")
            claims, excused = (), level is not None
            for kind, value in MARKER.findall(piece):
                if kind == "no claims":
                    level, excused = heading, True
                elif kind == "no claim":
                    excused = True
                else:
                    claims += tuple(name.strip() for name in value.split(","))
            if plain(piece) or claims:
                yield Sentence(page, line, plain(piece), claims, excused, limit)


def tests_of(root):
    """{claim: [(test, file)]} of all markers in the tests, and the markers without a test."""
    found, faults = {}, []
    files = [path for room in ("fuzz", "tests") for path in (root / room).rglob("*") if path.suffix in TESTS]
    for path in sorted(path for path in files if path.is_file()):
        lines = path.read_text(encoding="utf-8").split("\n")
        name = path.relative_to(root).as_posix()
        for number, line in enumerate(lines):
            marker = re.fullmatch(r"\s*(?://|#) claim: (.+)", line)
            if not marker:
                continue
            test = None
            for below in lines[number + 1 :]:
                test = TESTS[path.suffix].match(below)
                if test or not BETWEEN[path.suffix].match(below):
                    break
            if not test:
                faults.append((f"{name}:{number + 1}", f"a marker without a test: {marker[1]}"))
                continue
            for claim in marker[1].split(","):
                named = re.sub(r"\$\{\w+\}", "*", ".".join(filter(None, test.groups())))
                found.setdefault(claim.strip(), []).append((named, name))
    return found, faults


def render(stated, tests):
    lines = ["<!-- Written by `scripts/checks/claims.py`. -->", "# Claims", ""]
    lines += [
        "What the pages promise, and the tests that prove it. [design.md](design.md#tests) says how a sentence and a test",
        "are tied together.",
    ]
    for page in dict.fromkeys(sentence.page for sentence in stated):
        link = page.removeprefix("docs/") if page.startswith("docs/") else "../" + page
        lines += ["", f"## [{page}]({link})", "", "| the page says | proven by |", "|---|---|"]
        for sentence in stated:
            if sentence.page == page:
                proofs = dict.fromkeys(proof for claim in sentence.claims for proof in tests.get(claim, []))
                shown = ", ".join(f"[{test}](../{file})" for test, file in proofs)
                lines.append(f"| {sentence.text.replace('|', chr(92) + '|')} | {shown} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    options = parser.parse_args()
    root = options.root
    tests, faults = tests_of(root)
    every_page = {path.relative_to(root).as_posix() for path in (root / "docs").rglob("*.md")} | {"README.md", "SECURITY.md"}
    for page in sorted(every_page - {*PAGES, *GENERATED, *RECORDS, SITE, WRITTEN}):
        faults.append((page, "must be named in scripts/checks/claims.py"))
    stated = []
    for page in PAGES:
        for sentence in sentences(page, (root / page).read_text(encoding="utf-8")):
            place = f"{page}:{sentence.line}"
            if sentence.claims:
                stated.append(sentence)
                if not sentence.text:
                    faults.append((place, "a marker without a sentence"))
                faults += [(place, f"no test names the claim {claim}") for claim in sentence.claims if claim not in tests]
            elif not sentence.excused and (sentence.limit or PROMISES.search(sentence.text)):
                faults.append((place, f"promises, and has no marker: {sentence.text}"))
    for page, claim in GENERATED.items():
        stated.append(Sentence(page, 1, "The page is what a program writes, from what is tested.", (claim,)))
        if claim not in tests:
            faults.append((page, f"no test names the claim {claim}"))
    made = {claim for sentence in stated for claim in sentence.claims}
    for claim, proofs in tests.items():
        if claim not in made:
            faults += [(file, f"{test} names the claim {claim}, which no page makes") for test, file in proofs]
    page = root / WRITTEN
    text = render(stated, tests)
    if not options.check:
        page.write_text(text, encoding="utf-8")
    elif not page.is_file() or page.read_text(encoding="utf-8") != text:
        faults.append((WRITTEN, "is out of date: scripts/checks/claims.py writes it"))
    for place, fault in faults:
        print(f"FAILED {place}: {fault}")
    proofs = {proof for found in tests.values() for proof in found}
    print(f"claims: {len(stated)} sentences, {len(made)} claims, {len(proofs)} tests, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

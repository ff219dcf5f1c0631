#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws places whose operators are easy to swap, and prints them as bugs for scripts/checks/mutations.txt.

usage: scripts/checks/draw_mutations.py COUNT FOLDER.. [--seed TEXT]

Swaps < and <=, > and >=, == and !=, && and ||, `and` and `or`, + and -, std::min and std::max. Not every such swap is a bug:
one that only chooses between two ways to the same result, or reads memory that is never used, does not go into the list. A
bug that the list has already is not drawn.
"""
import argparse
import random
import re

from mutations import ROOT, SOURCES, Mutation, Misfit, places, read_mutations

SWAPS = {" < ": (" <= ", "less"), " <= ": (" < ", "at-most"), " > ": (" >= ", "more"), " >= ": (" > ", "at-least"),
         " == ": (" != ", "equal"), " != ": (" == ", "unequal"), " && ": (" || ", "and"), " || ": (" && ", "or"),
         " and ": (" or ", "and"), " or ": (" and ", "or"), " + ": (" - ", "plus"), " - ": (" + ", "minus"),
         "std::min": ("std::max", "min"), "std::max": ("std::min", "max")}
WORDS_OF_PYTHON = (" and ", " or ")


def without_texts(line, is_python):
    """The line with blanks in place of its strings and its comment, as long as before."""
    line = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])*\'', lambda match: "_" * len(match[0]), line)
    return re.sub(r"#.*" if is_python else r"//.*", lambda match: "_" * len(match[0]), line)


def swaps_of(line, is_python):
    """(begin, operator) of each operator of a line that can be swapped. Sums of texts are left out."""
    code = without_texts(line, is_python)
    if not is_python and re.match(r"\s*(#|///?|template|static_assert|friend|using)", line):
        return
    for operator in SWAPS:
        if operator in WORDS_OF_PYTHON and not is_python or operator in (" && ", " || ") and is_python:
            continue
        if operator in (" + ", " - ") and "__" in code:
            continue
        for match in re.finditer(re.escape(operator), code):
            yield match.start(), operator


def drawn_from(path):
    """All bugs that could be drawn from a file."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    is_python, in_docstring = path.suffix == ".py", False
    for number, line in enumerate(lines):
        if is_python and line.count('"""') % 2 == 1:
            in_docstring = not in_docstring
        if in_docstring or '"""' in line:
            continue
        for begin, operator in swaps_of(line, is_python):
            other, word = SWAPS[operator]
            name = f"{path.parent.name}-{path.stem.strip('_')}-{word}".replace("_", "-")
            bug = Mutation(0, name, ["all"], str(path.relative_to(ROOT)))
            bug.find = [line.strip()]
            bug.replace = [(line[:begin] + other + line[begin + len(operator):]).strip()]
            if len(places(text, bug.find)) > 1:
                unique = (each for each in reversed(lines[:number]) if each.strip() and len(places(text, [each])) == 1)
                bug.context = [next(unique, "").strip()]
            bug.name += f"-{bug.digest()[:4]}"
            yield bug


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    known = {mutation.digest() for mutation in read_mutations()}
    for folder in options.folders:
        bugs = []
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SOURCES:
                bugs += [bug for bug in drawn_from(path) if bug.digest() not in known]
        drawn = []
        for bug in random.Random(options.seed + folder).sample(bugs, len(bugs)):
            try:
                bug.place(ROOT)
            except Misfit:
                continue
            if bug.file not in {each.file for each in drawn[-3:]}:
                drawn.append(bug)
            if len(drawn) == options.count:
                break
        print(f"# ---- drawn from {folder}\n")
        for bug in drawn:
            print(bug.text())


if __name__ == "__main__":
    main()

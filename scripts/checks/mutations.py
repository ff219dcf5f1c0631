# SPDX-License-Identifier: Apache-2.0
"""Reads the seeded bugs of mutations.txt, and finds their places in the tree."""
import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "scripts" / "checks" / "mutations.txt"
SOURCES = (".cpp", ".hpp", ".py")


class Misfit(Exception):
    """Raised for a bug whose text or context does not occur exactly once in its file, or that is no valid Python."""


class Mutation:
    def __init__(self, line, name, operators, file):
        self.line, self.name, self.operators, self.file = line, name, operators, file
        self.context, self.find, self.replace = [], [], []

    def place(self, tree):
        """Returns (path, text, begin, end): the file, its text, and the range that the bug replaces."""
        path = tree / self.file
        paths = sorted(each for each in path.rglob("*") if each.suffix in SOURCES) if path.is_dir() else [path]
        found, contexts = [], 0
        for path in paths:
            text = path.read_text(encoding="utf-8") if path.is_file() else ""
            if not self.context:
                found += [(path, text, *place) for place in places(text, self.find)]
                continue
            around = places(text, self.context)
            contexts += len(around)
            for _, end in around:
                found += [(path, text, *place) for place in places(text, self.find) if place[0] >= end][:1]
        if contexts > 1:
            raise Misfit(f"{self.name}: its context stands {contexts} times in {self.file}, not once")
        if len(found) != 1:
            raise Misfit(f"{self.name}: its text stands {len(found)} times in {self.file}, not once")
        return found[0]

    def seeded(self, tree):
        """Returns (path, text, text with the bug)."""
        path, text, begin, end = self.place(tree)
        # The range begins after the indentation of its line, so the new text begins without indentation.
        changed = text[:begin] + "\n".join(self.replace).lstrip() + text[end:]
        if path.suffix == ".py":
            try:
                ast.parse(changed)
            except SyntaxError as error:
                raise Misfit(f"{self.name}: {self.file} is no Python any more: {error}") from error
        return path, text, changed


def read_mutations(path=LIST):
    """Returns the bugs in a list such as mutations.txt: 'name | operator, .. | file', '@ context', '- to find', '+ new'."""
    mutations = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(("@ ", "- ", "+ ")) and mutations:
            bug = mutations[-1]
            {"@": bug.context, "-": bug.find, "+": bug.replace}[line[0]].append(line[2:])
        elif line.count("|") >= 2:
            name, operators, file = (part.strip() for part in line.split("|", 2))
            mutations.append(Mutation(number, name, [operator.strip() for operator in operators.split(",")], file))
        else:
            sys.exit(f"mutate: {path.name}:{number}: neither a bug's first line nor a line of text: {line}")
    names = [mutation.name for mutation in mutations]
    for mutation in mutations:
        if not mutation.find or names.count(mutation.name) > 1:
            sys.exit(f"mutate: {path.name}:{mutation.line}: {mutation.name} has nothing to find, or a name that stands twice")
    return mutations


def places(text, lines):
    """Returns the ranges (begin, end) of the text that equal the lines if blanks and line breaks do not count."""
    kept = [position for position, character in enumerate(text) if not character.isspace()]
    packed = "".join(text[position] for position in kept)
    wanted = "".join("".join(lines).split())
    found, at = [], packed.find(wanted)
    while at >= 0:
        found.append((kept[at], kept[at + len(wanted) - 1] + 1))
        at = packed.find(wanted, at + 1)
    return found


def operators_of_the_tree():
    """Returns the names of all operators, from the public headers."""
    text = "".join(path.read_text() for path in sorted((ROOT / "include" / "patchfold").glob("*.hpp")))
    return re.findall(r'string_view name = "([^"]+)"', text)


def dialect_of(operator):
    return operator.rpartition(".")[0]


def misfits(mutations, tree=ROOT):
    """Returns a message for each bug without a place or with a syntax error of Python, and each operator without a bug."""
    faults = []
    for mutation in mutations:
        try:
            mutation.seeded(tree)
        except Misfit as fault:
            faults.append(str(fault))
    covered = {operator for mutation in mutations for operator in mutation.operators}
    known = operators_of_the_tree()
    dialects = {dialect_of(operator) for operator in covered}
    faults += [
        f"{operator}: no bug is seeded into it"
        for operator in known
        if operator not in covered and dialect_of(operator) in dialects
    ]
    return faults + [f"{operator}: there is no such operator" for operator in sorted(covered - set(known) - {"all"})]

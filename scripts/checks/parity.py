#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/checks/parity.py [--check] --patchfold PROGRAM

Writes the abilities of each front end into docs/frameworks.md; with --check, compares. A front end has an ability if its
name is found in the public headers, the operator table, the modules of the package, or the program's commands and options.
scripts/checks/parity.txt has the names that differ, and the reason for each missing ability. It is an error if an ability is
missing without a reason, if an ability with such a reason is there, or if a name is not found."""
import argparse
import ast
import json
import re
import subprocess
import sys
from pathlib import Path

PAGE = "docs/frameworks.md"
BEGIN, END = "<!-- Written by scripts/checks/parity.py -->\n", "<!-- until here -->\n"
MODULES = {"Python": "", "torch": "torch", "JAX": "jax", "TensorFlow": "tensorflow", "Keras": "keras"}
FRONTS = ["C++", "C", *MODULES, "command line"]


def identifiers(root, pattern):
    text = "\n".join(path.read_text("utf-8") for path in sorted((root / "include/patchfold").glob(pattern)))
    return set(re.findall(r"\w+", re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)))


def settings(package):
    """Returns {TypedDict of the package: its keys}. A function with the decorator @takes has these keys as arguments."""
    nodes = [node for path in package.rglob("*.py") for node in ast.parse(path.read_text("utf-8")).body]
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}

    def keys(name):
        node = classes.get(name)
        own = [each.target.id for each in node.body if isinstance(each, ast.AnnAssign)] if node else []
        return own + [key for base in (node.bases if node else ()) for key in keys(ast.unparse(base))]

    return {name: keys(name) for name in classes}


def arguments(function, taken):
    given = function.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    for decorator in function.decorator_list:
        if ast.unparse(decorator).startswith("takes("):
            names += taken[ast.unparse(decorator.args[0])]
    return names


def public_names(folder, taken):
    """Returns the names of a module's public functions and classes, as "fold", and of their arguments, as "fold.out"."""
    init = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    tree = ast.parse(init.read_text("utf-8"))
    files = {init: None}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            path = init.parent.joinpath(*node.module.split("."))
            path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            path = path if path.is_file() else path.with_suffix(".pyi")
            wanted = {each.name for each in node.names if not (each.asname or "").startswith("_")}
            files[path] = files.get(path, set()) | wanted
        elif isinstance(node, ast.ImportFrom) and node.level == 1:
            files |= {(init.parent / each.name / "__init__.py"): set() for each in node.names}
    found = set()
    for path, wanted in files.items():
        for node in ast.parse(path.read_text("utf-8")).body if path.is_file() else ():
            name = getattr(node, "name", "_")
            if name.startswith("_") or (wanted is not None and name not in wanted):
                continue
            inner = [each for each in node.body if isinstance(each, ast.FunctionDef)] if isinstance(node, ast.ClassDef) else [node]
            made = [each for each in inner if each is node or each.name == "__init__"]
            found |= {name, *(f"{name}.{each.name}" for each in inner if each is not node)}
            found |= {f"{name}.{each}" for function in made for each in arguments(function, taken)}
            found |= {f"{name}.{each.name}.{given}" for each in inner if each not in made for given in arguments(each, taken)}
    return found


def names_of_all(root, program):
    def said(*words):
        return subprocess.run([program, *words], capture_output=True, check=True, text=True).stdout

    table = json.loads(said("ops", "--json"))
    operators = {row["name"].partition("-")[0]: [each["name"] for each in row["arguments"]] for row in table}
    taken = settings(root / "python/patchfold")
    names = {front: public_names(root / "python/patchfold" / module, taken) for front, module in MODULES.items()}
    names["C++"] = identifiers(root, "*.hpp")
    called = {name for op, list_ in operators.items() for name in (op, *(f"{op}.{each}" for each in list_))}
    names["C"] = identifiers(root, "*.h") | called
    commands = [line.split("\t")[0] for line in said("__complete").splitlines() if not line.startswith("-")]
    names["command line"] = called | set(commands)
    for command in commands:
        names["command line"] |= {f"{command}.{each}" for each in re.findall(r"^ .*?--([a-z-]+)", said(command, "--help"), re.M)}
    # TensorFlow has the neutral operators of Python too, since those record derivatives for TensorFlow's tensors.
    neutral = {name for name in operators if "." not in name}
    names["TensorFlow"] |= {each for each in names["Python"] if each.partition(".")[0] in neutral}
    return names


def own_name(front, ability):
    """Returns the names that an ability may have in a front end by its rules for names, such as pf_fold in C."""
    if front == "C++":
        last = ability.rpartition(".")[2]
        return {last, "".join(part.capitalize() for part in last.split("_"))}
    if front == "C":
        return {ability, f"pf_{ability.lower()}", *([ability.rpartition(".")[2]] if ability[0].isupper() else [])}
    if front == "command line":
        return {ability, ability.replace("_", "-")}
    return {ability}


def read(path):
    """Returns {ability: {front end: name or reason}}."""
    rows, abilities = {}, []
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if not line.startswith(" "):
            abilities = [each.strip() for each in line.split(",")]
            rows |= {each: {} for each in abilities}
            continue
        fronts, _, text = line.strip().partition(": ")
        for ability in abilities:
            rows[ability] |= {each.strip(): text for each in fronts.split(",")}
    return rows


def render(rows, names):
    faults, reasons = [], {}
    lines = ["| | " + " | ".join(FRONTS) + " |", "|---" * (len(FRONTS) + 1) + "|"]
    for ability, known in rows.items():
        cells = []
        for front in FRONTS:
            text = known.get(front, "")
            there = bool(own_name(front, ability) & names[front])
            if text.startswith("= "):
                wanted = text[2:]
                where = "Python" if wanted.startswith("patchfold.") else front
                if wanted.removeprefix("patchfold.") not in names[where]:
                    faults.append(f"{ability}, {front}: there is no {wanted}")
                cells.append("as Python" if wanted == f"patchfold.{ability}" else f"`{wanted}`")
            elif text and there:
                faults.append(f"{ability}, {front}: is there, though parity.txt says why it is not")
            elif text:
                cells.append("missing" if text.startswith("missing") else "no")
                reasons.setdefault((ability, text.removeprefix("missing: ")), []).append(front)
            else:
                if not there:
                    faults.append(f"{ability}, {front}: is missing without a reason")
                cells.append("yes")
        lines.append(f"| `{ability}` | " + " | ".join(cells) + " |")
    grouped = {}
    for (ability, text), fronts in reasons.items():
        grouped.setdefault((", ".join(fronts), text), []).append(f"`{ability}`")
    lines += ["", *(f"* {', '.join(list_)} in {fronts}: {text}." for (fronts, text), list_ in grouped.items())]
    public = {each for each in names["Python"] if "." not in each and not each[0].isupper()}
    told = {text.removeprefix("= ").removeprefix("patchfold.") for row in rows.values() for text in row.values()}
    covered = {ability.partition(".")[0] for ability in rows} | told
    faults += [f"{each}: is public in Python, and no row of parity.txt" for each in sorted(public - covered)]
    return "\n".join(lines) + "\n", faults


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--patchfold", required=True)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    options = parser.parse_args()
    rows = read(options.root / "scripts/checks/parity.txt")
    text, faults = render(rows, names_of_all(options.root, options.patchfold))
    page = options.root / PAGE
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    old, _, after = rest.partition(END)
    if options.check and old != text:
        faults.append(f"{PAGE}: is out of date: scripts/checks/parity.py writes it")
    elif not options.check and not faults:
        page.write_text(before + BEGIN + text + END + after, encoding="utf-8")
    if faults:
        sys.exit("\n".join(f"FAILED {fault}" for fault in faults))
    print(f"parity: {len(rows)} abilities of {len(FRONTS)} front ends")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/porting.md, a table of the calls of other systems and the equal calls of patchfold.

usage: porting.py [--check] --patchfold PROGRAM [--root FOLDER]

The meaning of each operator comes from the operator table (`patchfold ops --json`), the operators that targets lack
from python/patchfold/models/_targets.py, and the calls from python/patchfold/_orders/elsewhere.py.
tests/peers/test_porting.py runs every call in its system and compares the results. --check writes nothing, and fails
if the page is out of date.
"""
import argparse
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

PAGE = "docs/porting.md"


# For operators that a target lacks, what patchfold.models.portable writes in their place.
WRITTEN = [
    ("Col2Im, patches side by side", "Reshape, Transpose, Reshape; Pad and Slice where pads or a rest are left"),
    ("Col2Im, patches that overlap", "Pad, Reshape, Slice for each axis, then Split and Add: from +0, taps in ascending order"),
    ("DepthToSpace, SpaceToDepth", "Reshape, Transpose, Reshape; more of each where a target takes fewer axes"),
    ("ExtractImagePatches (ai.onnx.contrib)", "Pad, a Slice for each tap, Concat, Reshape"),
]


def table(header, rows):
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    return [*lines, *(f"| {' | '.join(cells)} |" for cells in rows), ""]


def code(text):
    return f"`{text}`" if text else "-"


def render(operators, targets, elsewhere):
    neutral = {op["name"]: op["neutral"] for op in operators}
    unknown = [row.op for row in elsewhere.ROWS if row.op and row.op not in neutral]
    if unknown:
        sys.exit(f"porting.py: the operator table has no {', '.join(unknown)}")
    lines = [
        "<!-- Written by `scripts/checks/porting.py`. -->",
        "# Porting",
        "",
        "The calls of other systems, and the call of patchfold that gives the same result. Each pair was run on the same data",
        "(`scripts/peers`), and the results have equal bits. The calls of MATLAB were compared with MATLAB's definitions instead.",
        "[dialects.md](dialects.md) says where specifications disagree, [conformance.md](conformance.md) where systems disagree,",
        "and the [glossary](glossary.md) explains the words.",
        "",
        "The modules of the second column have the system's names, order of arguments and checks: a model changes only its import.",
        "The third column has the call of a neutral operator, which takes any number of spatial axes and any element type.",
        "[frameworks.md](frameworks.md#torch) shows a port of TensorFlow's calls to torch, with derivatives, and on to ONNX.",
        "",
    ]
    for system in dict.fromkeys(row.system for row in elsewhere.ROWS):
        rows = [row for row in elsewhere.ROWS if row.system == system]
        lines += [f"## {system}", ""]
        cells = []
        for row in rows:
            what = neutral.get(row.op, "").partition(" ")[0]
            cells.append([code(row.theirs), code(row.same), code(row.ours), code(what), row.note or "-"])
        lines += table([f"{system}", "the same names here", "patchfold", "setting of", "mind"], cells)
        for number, (_, cut, back) in enumerate(each for each in elsewhere.PUT_BACK if each[0] == system):
            lines += ["Calls that put patches of an x of shape (2, 8, 10, 3) back:", ""] if number == 0 else []
            lines += [f"* `patches = {cut}`: `{back}`"]
        lines += [""] if any(each[0] == system for each in elsewhere.PUT_BACK) else []
        lines += [f"{system} lacks: {dict(elsewhere.MISSING)[system]}.", ""]
    lines += ["[What is it called here?](python.md#names) has the names of more libraries.", ""]
    lines += [
        "## What targets take",
        "",
        "The operators of ONNX that converters and runtimes lack, and the nodes that `patchfold.models.portable(model, target)`",
        "writes in their place ([models.md](models.md)). The results have equal bits.",
        "",
    ]
    lines += table(["target", "lacks", "source"], [[f"`{t.name}`", t.lacks, t.source] for t in targets])
    lines += [
        "The target `coreml` is ONNX Runtime's Core ML provider, with coremltools' limit of axes. `portable` writes Pad for",
        "`coreml` too, although the provider has none: ONNX Runtime runs Pad on the processor. coremltools itself does not read",
        "ONNX models.",
        "",
    ]
    limits = [t for t in targets if t.most_axes or t.types]
    cells = [[f"`{t.name}`", str(t.most_axes), t.axes_source, ", ".join(sorted(t.types)) or "all", t.types_source or "-"] for t in limits]
    lines += table(["target", "axes of a tensor", "source", "element types of what is cut and joined", "source"], cells)
    lines += table(["an operator that the target lacks", "becomes"], WRITTEN)
    return "\n".join(lines).rstrip() + "\n"


def module_of(root, name):
    """Returns a module of the package, imported from its file alone. The file must import no other module of the package."""
    spec = importlib.util.spec_from_file_location(Path(name).stem, root / "python/patchfold" / name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def targets_of(root):
    module = module_of(root, "models/_targets.py")
    last = module.of_version(17)
    return [target for name, target in sorted(module.TARGETS.items())] + [type(last)(**{**last.__dict__, "name": "onnx:N"})]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--patchfold", required=True)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    options = parser.parse_args()
    operators = json.loads(subprocess.run([options.patchfold, "ops", "--json"], capture_output=True, check=True, text=True).stdout)
    elsewhere = module_of(options.root, "_orders/elsewhere.py")
    text = render(operators, targets_of(options.root), elsewhere)
    page = options.root / PAGE
    if not options.check:
        page.write_text(text, encoding="utf-8")
    elif not page.is_file() or page.read_text(encoding="utf-8") != text:
        sys.exit(f"FAILED {PAGE}: is out of date: scripts/checks/porting.py writes it")
    print(f"porting: {len(elsewhere.ROWS)} calls of {len({row.system for row in elsewhere.ROWS})} systems")


if __name__ == "__main__":
    main()

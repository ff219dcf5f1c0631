#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the C ABI (functions, structs, enumerators) with its list, tests/capi/abi.txt.

usage: abi.py [--write] [--cc COMPILER] [--emulator COMMAND] [--nm NM --library FILE [--device-library FILE]]
              [--include FOLDER] [--list FILE]

Reads the C headers, and compiles a program that prints the sizes and offsets of structs and the values of enumerators.
Fails if these differ from the list, or if the functions of the headers differ from the exports of the shared libraries, which
NM lists: patchfold, and patchfold_device for device.h. --write writes the list instead. docs/c-abi.md says which changes are
allowed.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ("patchfold.h", "pictures.h", "tiling.h", "device.h")
HEAD = """\
# The C ABI on machines with pointers of 64 bits: tests/capi/abi.py compares it with the headers and the shared libraries.
# Lines may be added. docs/c-abi.md says when a line may change or go. `tests/capi/abi.py --write` writes this list.
"""


class Headers:
    """The declarations of the C headers, in the order of the headers."""

    def __init__(self, folder):
        text = "\n".join((folder / name).read_text(encoding="utf-8") for name in HEADERS)
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        self.functions = [self.without_names(one) for one in re.findall(r"^(?:PF_CHECKED )?PF_API ([^;]*);", text, re.M)]
        self.on_devices = set(re.findall(r"^PF_.* \**(pf_\w+)\(", (folder / "device.h").read_text(encoding="utf-8"), re.M))
        self.types = [" ".join(one.split()) for one in re.findall(r"^typedef ([^{};]*);", text, re.M)]
        self.structs = {name: self.fields(body)
                        for name, body in re.findall(r"^typedef struct (\w+) \{([^{}]*)\} \1;", text, re.M)}
        bodies = re.findall(r"^enum PF_INT32 \{([^{}]*)\};", text, re.M)
        self.enumerators = [name for body in bodies for name in re.findall(r"\b(PF_\w+) =", body)]
        if re.search(r"^(typedef )?enum (?!PF_INT32)", text, re.M) or len(self.enumerators) != len(re.findall(r"^  PF_\w+ =", text, re.M)):
            raise SystemExit("abi: every list of enumerators begins with enum PF_INT32 {, and each has a number")
        if len(self.functions) != len(re.findall(r"\bPF_API\b", re.sub(r"#define.*", "", text))):
            raise SystemExit("abi: a declaration with PF_API begins a line")

    def names(self, library):
        """Returns the names of the functions that a library exports: "patchfold" or "patchfold_device"."""
        return self.on_devices if library == "patchfold_device" else \
            {re.search(r"(\w+)\(", one)[1] for one in self.functions} - self.on_devices

    @staticmethod
    def without_names(declaration):
        """Returns a function's declaration without the names of its parameters, which do not belong to the ABI."""
        head, parameters = " ".join(declaration.split()).rstrip(")").split("(", 1)
        if parameters == "void":
            return f"{head}(void)"
        return f"{head}({', '.join(re.sub(r'(?<=[* ])[a-z]+(_[a-z]+)*$', '', one).strip() for one in parameters.split(', '))})"

    @staticmethod
    def fields(body):
        """Returns (name, type) of each field of a struct."""
        found = []
        for line in filter(None, (" ".join(one.split()) for one in body.split(";"))):
            name = re.search(r"\(\*(\w+)\)", line) or re.search(r"(\w+)$", line)
            found.append((name[1], (line[:name.start(1)] + line[name.end(1):]).strip()))
        return found

    def program(self):
        """Returns a C program that prints the lines of the list except functions and types: sizes, offsets and values."""
        lines = ["#include <stdio.h>", "#include <patchfold/device.h>", "int main(void) {",
                 '  printf("pointers of %d bits\\n", (int)sizeof(void*) * 8);',
                 '  printf("constant PF_MAX_RANK = %d\\n", PF_MAX_RANK);']
        for name in self.enumerators:
            lines.append(f'  printf("enumerator {name} = %d of %d bytes\\n", {name}, (int)sizeof({name}));')
        for name, fields in self.structs.items():
            lines.append(f'  printf("struct {name}: %d bytes\\n", (int)sizeof({name}));')
            for field, kind in fields:
                lines.append(f'  printf("field {name}.{field}: {kind} at %d\\n", (int)offsetof({name}, {field}));')
        return "\n".join([*lines, "  return 0;", "}", ""])


def current(options, headers):
    """Returns the lines that the list must have, or None on a machine whose pointers do not have 64 bits."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "abi.c", Path(folder) / "abi"
        source.write_text(headers.program(), encoding="utf-8")
        subprocess.run([options.cc, "-std=c11", f"-I{options.include}", source, "-o", program], check=True)
        printed = subprocess.run([*options.emulator.split(), program], check=True, stdout=subprocess.PIPE, text=True).stdout
    pointers, *layouts = printed.splitlines()
    if pointers != "pointers of 64 bits":
        return None
    return [f"function {one}" for one in headers.functions] + [f"type {one}" for one in headers.types] + layouts


def compare(listed, found):
    """Yields a message for each difference between the list and the lines that were found."""
    for line in listed:
        if line not in found:
            yield f"changed or gone, which breaks compiled programs: {line}"
    for line in found:
        if line not in listed:
            yield f"not in the list: {line}"


def exported(options, library):
    text = subprocess.run([options.nm, "-D", "--defined-only", library], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    return set(re.findall(r"\s(pf_\w+)$", text, re.M))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--emulator", default="")
    parser.add_argument("--nm")
    parser.add_argument("--library")
    parser.add_argument("--device-library")
    parser.add_argument("--include", type=Path, default=ROOT / "include")
    parser.add_argument("--list", type=Path, default=ROOT / "tests/capi/abi.txt")
    options = parser.parse_args()
    headers = Headers(options.include / "patchfold")
    found = current(options, headers)
    if found is None:
        print("skipped: the list is that of machines with pointers of 64 bits")
        return
    if options.write:
        options.list.write_text(HEAD + "\n".join(found) + "\n", encoding="utf-8")
        return
    listed = [line for line in options.list.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    faults = list(compare(listed, found))
    if faults:
        faults.append("docs/c-abi.md says which changes are allowed; tests/capi/abi.py --write then writes the list again")
    for name, library in (("patchfold", options.library), ("patchfold_device", options.device_library)):
        if library:
            declared, names = headers.names(name), exported(options, library)
            faults += [f"declared, but not exported: {each}" for each in sorted(declared - names)]
            faults += [f"exported, but not declared: {each}" for each in sorted(names - declared)]
    print(f"abi: {len(listed)} lines, {len(faults)} faults", *faults, sep="\n")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

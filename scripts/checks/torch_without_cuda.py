#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes torch's package for Linux run without the CUDA libraries that it is linked with.

usage: scripts/checks/torch_without_cuda.py PYTHON

Puts stand-ins for these libraries beside torch's own libraries in the environment of PYTHON. Each function of a stand-in
returns 100, CUDA's code for "no device". So torch finds no CUDA, and everything on the processor works. Does nothing if
torch needs no library of CUDA. Needs gcc and binutils.
"""
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

LIBRARY = re.compile(r"lib(cu|nv|nccl)")  # the names of CUDA's libraries
FUNCTION = re.compile(r"_*(cu|nv|nccl)")


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


class Needs:
    """The CUDA libraries, and the functions of these, that the libraries in a folder need."""

    def __init__(self, folder):
        self.libraries = set()
        self.functions = defaultdict(lambda: defaultdict(set))  # library -> version -> names
        self.unversioned = set()
        self.library_of = {}  # version -> library
        needed, defined = set(), set()
        for path in sorted(folder.glob("*.so*")):
            header = output_of("objdump", "-p", path)
            self.libraries |= {name for name in re.findall(r"NEEDED +(\S+)", header) if LIBRARY.match(name)}
            for library, versions in re.findall(r"required from (\S+):\n((?:    .*\n)+)", header):
                if LIBRARY.match(library):
                    self.library_of.update((line.split()[-1], library) for line in versions.splitlines())
            for line in output_of("nm", "-D", "--with-symbol-versions", path).splitlines():
                kind, name = line.split()[-2:]
                (needed if kind in "Uw" else defined).add(name.partition("@")[::2] if kind in "Uw" else name.partition("@")[0])
        for version, library in self.library_of.items():
            self.functions[library][version] = set()
        for name, version in needed:
            if version in self.library_of:
                self.functions[self.library_of[version]][version].add(name)
            elif not version and name not in defined and FUNCTION.match(name):
                self.unversioned.add(name)


def stand_in(path, versions, unversioned):
    """Makes a stand-in for a library. Functions whose symbols have no version, which would name their library, go into every
    library without versions."""
    names = sorted(set().union(*versions.values()) if versions else unversioned)
    code = ".text\n" + "".join(f".globl {name}\n.type {name}, @function\n{name}:\n" for name in names)
    script = "".join(f"{version} {{ {'global: ' + '; '.join(sorted(of)) + '; ' if of else ''}}};\n" for version, of in versions.items())
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "code.s").write_text(code + 'mov $100, %eax\nret\n.section .note.GNU-stack, "", @progbits\n')
        (Path(folder) / "versions").write_text(script)
        options = [f"-Wl,--version-script={folder}/versions"] if versions else []
        subprocess.run(["gcc", "-shared", "-nostdlib", f"-Wl,-soname,{path.name}", *options, "-o", path, f"{folder}/code.s"], check=True)


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__, end="")
        return 0 if len(sys.argv) == 2 else 2
    site = output_of(sys.argv[1], "-c", "import sysconfig; print(sysconfig.get_path('platlib'))").strip()
    folder = Path(site) / "torch" / "lib"
    if not folder.is_dir():
        sys.exit(f"torch_without_cuda: there is no folder {folder}")
    needs = Needs(folder)
    for library in sorted(needs.libraries):
        if not (folder / library).exists():
            stand_in(folder / library, needs.functions.get(library, {}), needs.unversioned)
    print(f"torch_without_cuda: {len(needs.libraries)} libraries in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

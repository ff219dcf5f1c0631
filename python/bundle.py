# SPDX-License-Identifier: Apache-2.0
"""Makes an installed package stand alone: `bundle.py FOLDER`, FOLDER being the package's.

Copies every shared library that the native module and the program load, except the C and C++ runtime, to FOLDER/libs, with
its licence. The copies get names of their own: a process that loads another system's library of the same name keeps both
apart.
Needs patchelf and ldd; the licences come from Debian's packages.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

RUNTIME = re.compile(r"(linux-vdso|ld-linux[\w-]*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s))\.so(\.\d+)*$")


def run(*command: object) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def loaded(binary: Path) -> dict[str, Path]:
    """Every library that the dynamic linker finds for a binary, by the name that it is asked for."""
    found = {}
    for line in run("ldd", binary).splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if not arrow or RUNTIME.match(Path(name).name):
            continue
        if rest.startswith("not found"):
            sys.exit(f"bundle: {binary.name} needs {name}, which is not found")
        found[name] = Path(rest.split(" (")[0])
    return found


def own_name(name: str) -> str:
    return name.replace(".so", "-patchfold.so", 1)


def copy_licence(library: Path, folder: Path) -> None:
    """Debian says which package a file belongs to by the name that the file was installed under."""
    real = library.resolve()
    for path in (library, real, Path(str(real).removeprefix("/usr"))):
        answer = subprocess.run(["dpkg-query", "-S", str(path)], capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            package = answer.stdout.split(":")[0]
            shutil.copyfile(f"/usr/share/doc/{package}/copyright", folder / f"{package}.txt")
            return
    sys.exit(f"bundle: the licence of {library} is not found")


def main() -> None:
    package = Path(sys.argv[1])
    libs, licences = package / "libs", package / "licenses"
    shutil.rmtree(libs, ignore_errors=True)
    libs.mkdir()
    licences.mkdir(exist_ok=True)
    binaries = {binary: "$ORIGIN/libs" for binary in package.glob("_core*.so")}
    binaries[package / "bin" / "patchfold"] = "$ORIGIN/../libs"

    needed: dict[str, Path] = {}
    for binary in binaries:
        needed |= loaded(binary)
    for name, path in needed.items():
        copy = libs / own_name(name)
        shutil.copyfile(path, copy)
        copy.chmod(0o755)
        binaries[copy] = "$ORIGIN"
        run("patchelf", "--set-soname", copy.name, copy)
        copy_licence(path, licences)
    for binary, search in binaries.items():
        for name in run("patchelf", "--print-needed", binary).split():
            if name in needed:
                run("patchelf", "--replace-needed", name, own_name(name), binary)
        run("patchelf", "--set-rpath", search, binary)
    print(f"bundle: {len(needed)} libraries in {libs}")


if __name__ == "__main__":
    main()

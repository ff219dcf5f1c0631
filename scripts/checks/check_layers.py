#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the order of the tree: the includes and imports between rooms, the length of files, and their SPDX lines.

usage: scripts/checks/check_layers.py [--root FOLDER] [--print | --check-docs | --write-docs]

  (nothing)      checks every source file; exits with 1 and one line per fault if there is one
  --print        prints the pictures of the rooms, as docs/design.md shows them
  --check-docs   fails if the block between the markers in docs/design.md does not hold these pictures
  --write-docs   writes the pictures into this block
  --root FOLDER  the tree to check (default: the tree that holds this script)
"""
import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import python_layers

# The public headers in groups. A header may include only headers of its own group and of the groups above it in this table.
HEADER_GROUPS = {
    "values": ["version.hpp", "export.hpp", "standard.hpp", "words.hpp", "fixed_list.hpp", "error.hpp", "dtype.hpp", "tensor.hpp"],
    "running": ["plan.hpp", "geometry.hpp"],
    "operators": ["operators.hpp"],
    "pictures": ["pictures.hpp"],
    "tiling": ["tiling.hpp"],
    "dialects": [],  # all headers that no other group names
    "table": ["table.hpp"],
    "explain": ["explain.hpp"],
    "all": ["patchfold.hpp", "patchfold.h", "pictures.h", "tiling.h", "dlpack.h", "device.hpp", "device.h"],
}
GROUPS = list(HEADER_GROUPS)
PUBLIC = "include/patchfold"


class Room:
    """A folder, and what it may include: rooms, foreign headers, and groups of public headers up to the group `headers`."""

    def __init__(self, what, rooms="", headers="all", foreign=()):
        self.what = what
        self.rooms = rooms.split()
        self.headers = GROUPS[: GROUPS.index(headers) + 1] if headers else []
        self.foreign = foreign  # beginnings of names; None: any installed header


# This folder has inline functions that need only public headers. Front ends may include it too: they need no symbol that the
# library hides.
BASE = "src/base"

KERNELS = BASE + " src/tensor src/kernels"
ENGINE = KERNELS + " src/engine"
OPS = ENGINE + " src/ops"
DIALECTS = OPS + " src/dialects"
TILING = DIALECTS + " src/tiling"
PICTURES = OPS + " src/pictures"
INSIDE = TILING + " src/pictures src/capi src/explain src/device"

# A file belongs to the room whose name is the longest path in this table that holds it.
ROOMS = {
    PUBLIC: Room("the public surface", "", "all", ("dlpack/",)),
    BASE: Room("checked arithmetic, small floats, ways to throw", "", "values"),
    "system": Room("the operating system: one folder of sources for POSIX, one for Windows", "", "", None),
    "src/tensor": Room("values: types, dims, views, errors", BASE, "values", ("pthread.h",)),
    "src/kernels": Room("innermost loops over bytes and lanes", BASE + " src/tensor", "values", ("hwy/", "sys/auxv.h")),
    "src/engine": Room("problem, normal form, plan, run; threads", KERNELS + " system", "running", ("tbb/", "oneapi/")),
    "src/ops": Room("the neutral operators", ENGINE, "operators"),
    "src/pictures": Room("pictures of bytes: tables and resizing", PICTURES, "pictures"),
    "src/dialects": Room("the systems' operators; the operator table", OPS, "table"),
    "src/explain": Room("what operators and tilings do, as text and pictures", DIALECTS, "explain"),
    "src/tiling": Room("overlapping tiles", DIALECTS, "all"),
    "src/device": Room("kernels for GPUs, and what runs them", ENGINE + " src/capi system", "all"),
    "src/capi": Room("the C ABI", TILING + " src/pictures", "all"),
    "formats": Room("readers and writers of files", BASE + " system", "all",
                    ("fmt/", "jerror.h", "jpeglib.h", "nlohmann/", "png.h", "tiffio.h", "zlib.h")),
    "cli": Room("the command line", BASE + " system formats bench", "all", ("CLI/", "fmt/", "nlohmann/", "zlib.h")),
    "web/engine": Room("what the page calls of the library, as WebAssembly", "", "all"),
    "python/native": Room("the Python package's binding of operators and tiles", BASE + " system plugins src/capi", "all", None),
    "plugins": Room("what other systems load to run their models' operators here", "", "all", None),
    "packaging": Room("recipes of package managers, and their test programs", "", "all"),
    "examples": Room("examples", "system formats", "all"),
    "reference": Room("every operator index by index", "", "values", ("gtest/",)),
    "bench": Room("benchmarks", "system", "all", ("hwy/",)),
    "fuzz": Room("fuzzers", "tests system formats cli reference " + INSIDE, "all", None),
    "tests": Room("tests", "system formats reference " + INSIDE, "all", None),
    "tests/inputs": Room("bad inputs by table", "tests tests/formats system formats " + INSIDE, "all", None),
    "tests/cli": Room("tests of the command line, from outside", "tests tests/inputs formats cli bench reference", "all", None),
    "tests/capi": Room("tests of the C ABI, from outside", "tests", "all", None),
    "tests/faults": Room("tests of what fails around the library", "tests tests/formats tests/cli formats reference " + INSIDE,
                         "all", None),
    "tests/formats": Room("tests of the formats, from outside", "tests formats", "all", None),
    "tests/frictions": Room("tests of what new users stumbled over", "tests tests/formats tests/cli formats cli " + INSIDE,
                            "all", None),
    "tests/install": Room("tests of the installed library", "", "all", None),
}
LIBRARY = [room for room in ROOMS if room.startswith("src/")]
PYTHON = [python_layers.path_of(name) for name in python_layers.TABLE]
ROOMS |= {room: Room(what, " ".join([python_layers.PACKAGE, *map(python_layers.path_of, may.split())]))
          for room, (what, may) in zip(PYTHON, python_layers.TABLE.values())}

# Headers of the compiler and the C library that the library may use besides the C++ standard library.
LIBRARY_SYSTEM_HEADERS = re.compile(r"(fenv|cpuid|immintrin|xmmintrin|emmintrin|pmmintrin|arm_neon|std\w+|string|math)\.h$")
STANDARD = re.compile(r"[a-z_0-9]+$")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.M)
CODE = (".cpp", ".hpp", ".h", ".c", ".cc", ".inc")
SPDX = "SPDX-License-Identifier: Apache-2.0"
WITH_SPDX = CODE + (".js", ".css", ".py", ".pyi", ".sh", ".cmake", ".in", "CMakeLists.txt")
MOST_LINES = 450


def tree_files(root):
    """Returns the files that git tracks or would add; without git, all files."""
    try:
        listing = subprocess.run(["git", "-C", str(root), "ls-files", "-coz", "--exclude-standard"], check=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
        names = [name for name in listing.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    return sorted(name for name in set(names) if (root / name).is_file() and not name.startswith(("build/", ".git/")))


def room_of(name):
    folder = name
    while folder and folder not in ROOMS:
        folder = os.path.dirname(folder)
    return folder


def group_of(header):
    for group, headers in HEADER_GROUPS.items():
        if os.path.basename(header) in headers:
            return group
    return "dialects"


def resolve(root, name, text):
    """Returns the tree's file that an #include names, or the template that it is made from; None for a foreign header."""
    bases = [os.path.dirname(name), "include", "", "src"] if not name.startswith("src/") else [
        os.path.dirname(name), "include", "src", ""]
    for base in bases:
        path = os.path.normpath(os.path.join(base, text))
        for made_from in (path, path + ".in"):
            if not path.startswith("..") and (root / made_from).is_file():
                return made_from
    return None


def check_include(root, name, text):
    """Returns (why the file `name` may not include `text`, or None; the included file of the tree, or None)."""
    room_name = room_of(name)
    room = ROOMS[room_name]
    target = resolve(root, name, text)
    if target is None:
        if room.foreign is None:
            return None, None
        if text.startswith(tuple(room.foreign)) or STANDARD.match(text) or LIBRARY_SYSTEM_HEADERS.match(text):
            return None, None
        allowed = "the standard library" + "".join(f", <{prefix}..>" for prefix in room.foreign)
        return f"{room_name} may include only {allowed} from outside", None
    if room_of(target) != PUBLIC:
        return check_room(name, target, "include"), target
    group = group_of(target)
    if room_name == PUBLIC:
        own = group_of(name)
        if own is not None and GROUPS.index(group) > GROUPS.index(own):
            return f"{target} stands after {name} in the order of the public headers", target
    elif group not in room.headers:
        return f"{room_name} may not include {target}", target
    return None, target


def check_room(name, target, verb):
    """Returns the reason why the room of `name` may not include or import the room of `target`, or None."""
    room, other = room_of(name), room_of(target)
    if not other:
        return f"{target} stands in no room"
    if other != room and other not in ROOMS[room].rooms:
        return f"{room} may not {verb} {other}"
    return None


def dependencies(root, name, text):
    """Yields (line, why it is not allowed or None, the included file of the tree or None) for each include or import of a
    file."""
    if name.endswith(".py"):
        for line, target in python_layers.imports(root, name, text):
            yield line, check_room(name, target, "import"), target
        return
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, *check_include(root, name, match[1] or match[2])
    for line, module in python_layers.lost(root, text):
        yield line, f"there is no module {module}", None


def find_cycle(graph):
    """Returns a cycle of a graph {node: nodes}, as a list of nodes, or None."""
    state = {}
    for start in sorted(graph):
        stack = [(start, iter(sorted(graph[start])))] if start not in state else []
        path = [start]
        while stack:
            node, rest = stack[-1]
            state[node] = "open"
            for following in rest:
                if state.get(following) == "open":
                    cycle = path[path.index(following):]
                    first = cycle.index(min(cycle))
                    return cycle[first:] + cycle[:first + 1]
                if following not in state:
                    path.append(following)
                    stack.append((following, iter(sorted(graph.get(following, ())))))
                    break
            else:
                state[node] = "done"
                stack.pop()
                path.pop()
    return None


def check(root):
    """Returns the faults, the graph of the rooms {room: rooms that it includes}, and the number of files."""
    faults = []
    files, rooms = {}, {}
    names = tree_files(root)
    for name in names:
        path = root / name
        script = os.path.dirname(name) in ("scripts", "scripts/checks", ".ci") and "." not in os.path.basename(name)
        if not name.endswith(WITH_SPDX) and not script:
            continue
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        head = lines[1:2] if lines and lines[0].startswith("#!") else lines[:1]
        if not head or SPDX not in head[0]:
            faults.append(f"{name}:1: the first line must be the licence: {SPDX}")
        if len(lines) > MOST_LINES:
            faults.append(f"{name}:{len(lines)}: {len(lines)} lines; at most {MOST_LINES}")
        if not name.endswith(CODE) and not (name.startswith(python_layers.PACKAGE + "/") and name.endswith(".py")):
            continue
        room = room_of(name)
        if not room:
            faults.append(f"{name}:1: stands in no room of scripts/checks/check_layers.py")
            continue
        for line, fault, target in dependencies(root, name, text):
            if fault:
                faults.append(f"{name}:{line}: {fault}")
            if target:
                files.setdefault(name, set()).add(target)
                if room_of(target) != room:
                    rooms.setdefault(room, set()).add(room_of(target))
    for kind, graph in (("files", files), ("rooms", rooms)):
        cycle = find_cycle(graph)
        if cycle:
            faults.append(f"{cycle[0]}:1: {kind} need each other in a circle: {' -> '.join(cycle)}")
    for name in names:
        if name.startswith(BASE + "/") and not name.endswith(".hpp"):
            faults.append(f"{name}:1: front ends include {BASE} too, so all of it must be inline")
    return faults, rooms, len(names)


def reduced(graph):
    """Returns the transitive reduction of the graph: without each edge that a longer path from its start to its end
    replaces."""
    def reaches(start, end):
        return any(node == end or reaches(node, end) for node in graph.get(start, ()))

    return {node: {other for other in others if not any(reaches(via, other) for via in others if via != other)}
            for node, others in graph.items()}


def picture(root):
    """Returns the rooms as two Mermaid flowcharts: of C++, and of the Python package. An arrow leads from a room to a room
    that it includes or imports. An arrow is left out if other arrows lead there too.
    """
    def exists(room):
        return (root / room).is_file() or any(path.name.endswith((*CODE, ".py")) for path in (root / room).rglob("*"))

    def label(room):
        shown = room if room.endswith(".py") else room + "/"
        return f'  {identifier(room)}["{shown}<br/>{ROOMS[room].what}"]'

    def identifier(room):
        return re.sub("[/.]", "_", room)

    _, rooms, _ = check(root)

    def arrows(drawn):
        graph = reduced({room: rooms.get(room, set()) & set(drawn) for room in drawn})
        return [f"  {identifier(room)} --> {identifier(other)}" for room in drawn for other in sorted(graph[room])]

    begin, end = ["```mermaid", "flowchart BT"], ["```"]
    library = [room for room in LIBRARY if exists(room)]
    fronts = [room for room in ("system", "formats", "bench", "cli", "python/native", "plugins", "examples", "reference") if exists(room)]
    python = [room for room in PYTHON if exists(room)]
    lines = [*begin, "  subgraph library", *("  " + label(room) for room in reversed(library)), "  end",
             *map(label, [PUBLIC] + fronts), *arrows([PUBLIC] + library + fronts), *end]
    if python:
        lines += ["", *begin, *map(label, python), *arrows(python), *end]
    return "\n".join(lines) + "\n"


BEGIN, END = "<!-- rooms:begin -->\n", "<!-- rooms:end -->"


def docs_block(root):
    """Returns the text of docs/design.md in three parts: before the pictures, the pictures, and after them."""
    path = root / "docs" / "design.md"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if BEGIN not in text or END not in text:
        sys.exit(f"docs/design.md:1: must hold the pictures of the rooms between {BEGIN.strip()} and {END}")
    before, rest = text.split(BEGIN, 1)
    block, after = rest.split(END, 1)
    return path, before, block, after


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=True)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    mode = parser.add_mutually_exclusive_group()
    for name in ("--print", "--check-docs", "--write-docs"):
        mode.add_argument(name, action="store_true")
    options = parser.parse_args()
    if options.print:
        print(picture(options.root), end="")
    elif options.check_docs or options.write_docs:
        path, before, block, after = docs_block(options.root)
        if options.write_docs:
            path.write_text(before + BEGIN + picture(options.root) + END + after, encoding="utf-8")
        elif block != picture(options.root):
            sys.exit("docs/design.md: the pictures of the rooms are others than scripts/checks/check_layers.py --print gives")
        print("layers: the pictures in docs/design.md are right")
    else:
        faults, _, count = check(options.root)
        for fault in faults:
            print(fault)
        print(f"layers: {len(faults)} faults in {count} files")
        sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

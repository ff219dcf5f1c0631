#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the recipes of packaging/ agree with the facts of the project.

usage: scripts/checks/check_recipes.py [--root FOLDER]

  table         packaging/dependencies.json names those libraries of scripts/dependencies.json that CMake looks for
  dependencies  each recipe names all these libraries by its system's names, and no others. Debian's recipe names these
                libraries as scripts/packages.txt does. A recipe of the Python package names what pyproject.toml requires
  facts         version, licence, home, one-line description and the place of the source archive
  options       a recipe sets only options that CMakeLists.txt has, and builds no tests and no examples
  checksums     no recipe of the tree has a checksum: scripts/release fills them in

Exits with 1 and one line for each fault.
"""
import argparse
import ast
import json
import re
import sys
from pathlib import Path

RECIPES = {"debian": "control", "vcpkg": "portfile.cmake", "conan": "conanfile.py", "conda": "recipe.yaml", "homebrew": "patchfold.rb",
           "nix": "package.nix"}
# Libraries of scripts/dependencies.json, by the names with which find_package and cmake/highway.cmake look for them.
FOUND_AS = {"TBB": "oneTBB", "PNG": "libpng", "JPEG": "libjpeg-turbo", "ZLIB": "zlib", "TIFF": "libtiff"}
# Names in find_package that are no dependencies of the recipes: compilers bring them, or another library contains them.
NO_LIBRARIES = {"Threads", "Python", "Python3", "nanobind", "OpenVINO", "liblzma", "zstd", "tiff"}
# Libraries that libtiff needs if scripts/dependencies builds it.
THROUGH_TIFF = {"zstd", "xz"}
BUILDERS = {"cmake", "debhelper-compat", "ninja", "ninja-build", "help2man", "vcpkg-cmake", "vcpkg-cmake-config", "pkgconf"}
TESTS = {"libdlpack-dev", "libgmock-dev", "python3", "shellcheck"}
PYTHON = {"dh-sequence-python3", "python3-dev", "python3-numpy", "python", "pip"}


def only(pattern, text, flags=re.M):
    found = set(re.findall(pattern, text, flags))
    return found.pop() if len(found) == 1 else None


class Tree:
    """The facts of the project that recipes must have: dependencies, version, licence, options."""

    def __init__(self, root):
        self.root, self.faults = root, []
        pyproject = self.text("pyproject.toml")
        cmake = self.text("CMakeLists.txt")
        self.version = only(r'PATCHFOLD_VERSION_STRING "(.+)"', self.text("include/patchfold/version.hpp"))
        self.licence = only(r'^license = "(.+)"$', pyproject)
        self.home = only(r'^Source = "(.+)"$', pyproject)
        self.summary = only(r'^description = "(.+)"$', pyproject)
        self.options = set(re.findall(r"^(?:option|set)\((PATCHFOLD_\w+)", cmake, re.M))
        self.table = json.loads(self.text("packaging/dependencies.json"))
        self.python = {}
        for line in (only(r"(?ms)^requires = (\[.*?\])$", pyproject), only(r"(?ms)^dependencies = (\[.*?\])$", pyproject)):
            self.python |= dict(re.match(r"([\w-]+)(.*)", word).groups() for word in ast.literal_eval(line))

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def fault(self, name, what):
        self.faults.append(f"{name}: {what}")

    def same(self, name, what, found, expected):
        if found != expected:
            self.fault(name, f"{what} is {found}, expected {expected}")

    def names(self, system, use=None):
        return {row.get(system) for row in self.table["libraries"] if use in (None, row["for"])}

    def same_names(self, name, what, found, expected):
        for missing in sorted(expected - found, key=str):
            self.fault(name, f"{what}: {missing} is missing")
        for more in sorted(found - expected, key=str):
            self.fault(name, f"{what}: {more} is none of the project's")


def check_table(tree):
    name = "packaging/dependencies.json"
    found = set()
    for path in ("CMakeLists.txt", "src/CMakeLists.txt", "formats/CMakeLists.txt", "cli/CMakeLists.txt"):
        found |= set(re.findall(r"find_package\((\w+)", tree.text(path)))
    if "find_path(PATCHFOLD_HIGHWAY_FOLDER" in tree.text("cmake/highway.cmake"):
        found.add("Highway")
    libraries = {row["name"] for row in tree.table["libraries"]}
    tree.same_names(name, "libraries", libraries, {FOUND_AS.get(word, word) for word in found - NO_LIBRARIES})
    pinned = {row["name"] for row in json.loads(tree.text("scripts/dependencies.json"))["libraries"]}
    tree.same_names(name, "libraries beside scripts/dependencies.json", libraries, pinned - THROUGH_TIFF)
    for row in tree.table["libraries"]:
        tree.same_names(name, f"names of {row['name']}", set(row), {"name", "for", *RECIPES})
        if row["for"] not in ("library", "program"):
            tree.fault(name, f"{row['name']} is for {row['for']}, expected library or program")
    tree.same(name, "url", tree.table["url"], f"{tree.home}/releases/download/v{{version}}/patchfold-{{version}}-tree.tar.gz")


def check_debian(tree, name, text):
    packages = tree.text("scripts/packages.txt")
    sections = {section: re.findall(r"^([\w.+:-]+)", body, re.M)
                for section, body in re.findall(r"^\[(\w+)\]\n((?:(?!\[).*\n)*)", packages, re.M)}
    listed = set(sections["demo"] + sections["build"])
    tree.same_names(name, "libraries beside scripts/packages.txt", tree.names("debian"),
                    {word for word in listed if word.endswith("-dev")} - {"python3-dev", "libdlpack-dev"})
    needs = only(r"^Build-Depends:\n((?: .+\n)+)", text)
    words = set(re.findall(r"^ ([\w.+-]+)", needs or "", re.M))
    tree.same_names(name, "Build-Depends", words - BUILDERS - TESTS - PYTHON, tree.names("debian"))
    for word in sorted(TESTS):
        if word in words and not re.search(rf"^ {re.escape(word)} <!nocheck>,$", needs, re.M):
            tree.fault(name, f"{word} is for tests, expected <!nocheck>")
    tree.same(name, "NumPy", only(r"python3-numpy \(>= 1:([\d.]+)\)", text), tree.python["numpy"].removeprefix(">="))
    tree.same(name, "Homepage", only(r"^Homepage: (.+)$", text), tree.home)
    changes = tree.text("packaging/debian/changelog")
    tree.same("packaging/debian/changelog", "version", only(r"\Apatchfold \((.+)-0patchfold\d+\)", changes), tree.version)
    tree.same("packaging/debian/copyright", "licence",
              only(r"^Files: \*\nCopyright: .+\nLicense: (.+)$", tree.text("packaging/debian/copyright")), tree.licence)
    abi = ".".join(tree.version.split(".")[:2]) if tree.version.startswith("0.") else tree.version.split(".")[0]
    tree.same(name, "package of the library", only(r"^Package: (libpatchfold\d.*)$", text), f"libpatchfold{abi}")
    note = "packaging/debian/README.source"
    tree.same(note, "nanobind", only(r"archive of nanobind (\d\S*\d)", tree.text(note)),
              only(r"^nanobind==(.+)$", tree.text("scripts/wheels-requirements.txt")))


def check_vcpkg(tree, name, text):
    manifest = json.loads(tree.text("packaging/vcpkg/vcpkg.json"))
    names = {need if isinstance(need, str) else need["name"] for need in manifest["dependencies"]}
    features = manifest["features"]
    tree.same_names("packaging/vcpkg/vcpkg.json", "dependencies of the library",
                    (names | set(features["tbb"]["dependencies"])) - BUILDERS, tree.names("vcpkg", "library"))
    tree.same_names("packaging/vcpkg/vcpkg.json", "dependencies of tools", set(features["tools"]["dependencies"]),
                    tree.names("vcpkg", "program"))
    for key, expected in (("version-semver", tree.version), ("license", tree.licence), ("homepage", tree.home),
                          ("description", tree.summary)):
        tree.same("packaging/vcpkg/vcpkg.json", key, manifest[key], expected)
    switched = dict(re.findall(r"^    (\w+) (PATCHFOLD_\w+)$", text, re.M))
    tree.same_names(name, "features", set(switched), set(features))
    tree.same(name, "url", only(r'URLS "(.+)"', text), tree.table["url"].replace("{version}", "${VERSION}"))


def check_conan(tree, name, text):
    required = dict(re.findall(r'"([\w-]+)/\[(.+?)\]"', text))
    tree.same_names(name, "requirements", set(required) - BUILDERS, tree.names("conan"))
    for key, expected in (("version", tree.version), ("license", tree.licence), ("homepage", tree.home),
                          ("description", tree.summary)):
        tree.same(name, key, only(rf'^    {key} = "(.+)"$', text), expected)
    data = tree.text("packaging/conan/conandata.yml")
    tree.same("packaging/conan/conandata.yml", "version", only(r'^  "(.+)":$', data), tree.version)
    tree.same("packaging/conan/conandata.yml", "url", only(r'url: "(.+)"', data),
              tree.table["url"].replace("{version}", tree.version))


def check_conda(tree, name, text):
    parts = re.split(r"^  - package:\n", text, flags=re.M)[1:]
    if len(parts) != 2:
        tree.fault(name, f"there are {len(parts)} packages, expected 2")
        return
    for part, wanted in zip(parts, (tree.names("conda", "library"), tree.names("conda"))):
        host = only(r"^      host:\n((?:        - .+\n)+)", part) or ""
        needs = dict(re.findall(r"^        - ([\w-]+) ?(.*)$", host, re.M))
        tree.same_names(name, "host", set(needs) - PYTHON - set(tree.python), wanted)
    build = dict(re.findall(r"^        - ([\w-]+) ?(.*)$", host, re.M))
    run = dict(re.findall(r"^        - ([\w-]+) ?(.*)$", only(r"^      run:\n((?:        - .+\n)+)", parts[-1]) or "", re.M))
    pyproject = tree.text("pyproject.toml")
    asked = ast.literal_eval(only(r"(?ms)^requires = (\[.*?\])$", pyproject))
    for word in asked:
        package, version = re.match(r"([\w-]+)(.*)", word).groups()
        tree.same(name, f"host: {package}", build.get(package), version)
    tree.same(name, "run: numpy", run.get("numpy"), tree.python["numpy"])
    for key, expected in (("license", tree.licence), ("homepage", tree.home), ("summary", f'"{tree.summary}"')):
        tree.same(name, key, only(rf"^  {key}: (.+)$", text), expected)
    tree.same(name, "version", only(r'^  version: "(.+)"$', text), tree.version)
    tree.same(name, "url", only(r"^  url: (.+)$", text), tree.table["url"].replace("{version}", "${{ version }}"))


def check_homebrew(tree, name, text):
    needs = set(re.findall(r'^  (?:depends_on|uses_from_macos) "(.+?)"', text, re.M))
    tree.same_names(name, "depends_on", needs - BUILDERS, tree.names("homebrew"))
    for key, expected in (("homepage", tree.home), ("license", tree.licence),
                          ("url", tree.table["url"].replace("{version}", tree.version))):
        tree.same(name, key, only(rf'^  {key} "(.+)"$', text), expected)


def check_nix(tree, name, text):
    inputs = set(re.findall(r"^  (\w+),$", text, re.M))
    tree.same_names(name, "arguments", inputs - BUILDERS - {"lib", "stdenv", "fetchurl"}, tree.names("nix"))
    used = " ".join(re.findall(r"uildInputs = \[(.*?)\]", text, re.S)).split()
    tree.same_names(name, "inputs", set(used) - BUILDERS, tree.names("nix"))
    for key, expected in (("version", tree.version), ("description", tree.summary), ("homepage", tree.home)):
        tree.same(name, key, only(rf'^ +{key} = "(.+)";$', text), expected)
    tree.same(name, "license", {"asl20": "Apache-2.0"}.get(only(r"license = lib.licenses.(\w+);", text)), tree.licence)
    tree.same(name, "url", only(r'url = "(.+)";', text), tree.table["url"].replace("{version}", "${finalAttrs.version}"))


def check_common(tree, system, text):
    name = f"packaging/{system}/{RECIPES[system]}"
    if system == "debian":
        text += tree.text("packaging/debian/rules")
    for option in sorted(set(re.findall(r"PATCHFOLD_(?:WITH|BUILD)_\w+", text)) - tree.options):
        tree.fault(name, f"CMakeLists.txt has no option {option}")
    for option in ("PATCHFOLD_BUILD_TESTS", "PATCHFOLD_BUILD_EXAMPLES"):
        if option not in text:
            tree.fault(name, f"does not set {option}")
    if system == "conan":
        text = tree.text("packaging/conan/conandata.yml")
    digits = 128 if system == "vcpkg" else 64
    sums = re.findall(r"\b[0-9a-f]{64,}\b", text)
    tree.same(name, "checksum", sums, [] if system == "debian" else ["0" * digits])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    tree = Tree(parser.parse_args().root)
    check_table(tree)
    for system, check in (("debian", check_debian), ("vcpkg", check_vcpkg), ("conan", check_conan), ("conda", check_conda),
                          ("homebrew", check_homebrew), ("nix", check_nix)):
        name = f"packaging/{system}/{RECIPES[system]}"
        text = tree.text(name)
        check(tree, name, text)
        check_common(tree, system, text)
    print(*tree.faults, sep="\n", end="\n" if tree.faults else "")
    print(f"recipes: {len(tree.faults)} faults in {len(RECIPES)} recipes")
    return int(bool(tree.faults))


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Runs the snippets of CMake and the lines with pkg-config of docs/embedding.md unchanged.

usage: page.py --page FILE --prefix FOLDER --libdir NAME --library FOLDER --program FILE.c --work FOLDER

--prefix is an installed tree with both libraries, --library a git repository of the source. Snippets that embed the source are
configured; all others are built and run too.
"""
import argparse
import os
import re
import shutil
import subprocess
from pathlib import Path

ADDRESS = "https://example.com/patchfold.git"
ENVIRONMENT = {"PATCHFOLD_STATIC", "PATCHFOLD_INSTRUCTION_SET", "PATCHFOLD_CACHES", "PATCHFOLD_CACHE", "PATCHFOLD_ONLY_ROW",
               "PATCHFOLD_WITHOUT"}
CHOSEN = ["-DPATCHFOLD_WITH_TBB=OFF", "-DPATCHFOLD_OPERATORS=unfold;fold", "-DPATCHFOLD_INSTRUCTION_SETS=AVX2"]


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"exit code {done.returncode}: {' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def snippets(page, language):
    return re.findall(rf"^```{language}[^\n]*\n(.*?)^```", page, re.M | re.S)


def try_cmake(number, text, options, environment):
    folder = options.work / f"cmake{number}"
    (folder / "third_party").mkdir(parents=True)
    (folder / "third_party/patchfold").symlink_to(options.library)
    shutil.copy(options.program, folder / "main.c")
    embeds = "find_package" not in text
    if ADDRESS in text:
        text = text.replace(ADDRESS, str(options.library))
    languages = "C CXX" if embeds else "C"
    (folder / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.25)\nproject(app LANGUAGES {languages})\nadd_executable(my_program main.c)\n{text}")
    flags = CHOSEN if embeds else [f"-DCMAKE_PREFIX_PATH={options.prefix}"]
    run("cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", *flags, env=environment)
    if not embeds:
        run("cmake", "--build", folder / "build", env=environment)
        run(folder / "build/my_program", env=environment)


def main():
    parser = argparse.ArgumentParser()
    for name in ("page", "prefix", "library", "program", "work"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--libdir", required=True)
    options = parser.parse_args()
    page = options.page.read_text(encoding="utf-8")
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    libraries = options.prefix / options.libdir
    environment = os.environ | {"PKG_CONFIG_PATH": str(libraries / "pkgconfig"), "LD_LIBRARY_PATH": str(libraries)}

    blocks = snippets(page, "cmake")
    for number, text in enumerate(blocks):
        try_cmake(number, text, options, environment)
    lines = [line for block in snippets(page, "sh") for line in block.splitlines() if "pkg-config" in line]
    for line in lines:
        shutil.copy(options.program, options.work / "main.c")
        run("bash", "-ec", f"{line}\n./main", cwd=options.work, env=environment)
    # The library's CMakeLists.txt files must have all options that the page names.
    known = "".join((options.library / file).read_text(encoding="utf-8") for file in ("CMakeLists.txt", "src/device/CMakeLists.txt"))
    named = set(re.findall(r"PATCHFOLD_[A-Z_]+", page)) - ENVIRONMENT
    unknown = [name for name in sorted(named) if not re.search(rf"^(option|set)\({name} ", known, re.M)]
    if len(blocks) < 4 or len(lines) < 2 or unknown:
        raise SystemExit(f"{options.page}: {len(blocks)} snippets of CMake, {len(lines)} lines; unknown options: {unknown}")
    print(f"{len(blocks)} snippets of CMake and {len(lines)} lines with pkg-config do what the page says")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Compiles the public headers with the options of possible users: every standard, many warnings, no exceptions.

usage: headers.py --cc COMPILER.. --cxx COMPILER.. --cpp [--dlpack FOLDER]

  (nothing)  the C headers: as C99 to the newest C, and as C++11 to C++20 without exceptions and RTTI
  --cpp      the C++ headers instead: as C++20 with many warnings; as an older C++ the first error must ask for C++20
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/capi"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wundef", "-Werror"]
STRICT_CPP = [*STRICT, "-Wold-style-cast", "-Woverloaded-virtual", "-Wnon-virtual-dtor"]
NEED = "need C++20"
# Macros of X11, Windows, Qt, Linux, the C library and boards: a header that uses one of these names could not be compiled.
MACROS = """
#define Bool int
#define True 1
#define False 0
#define None 0L
#define Success 0
#define Always 2
#define Above 0
#define Below 1
#define Complex 0
#define Convex 2
#define DestroyAll 0
#define KeyPress 2
#define FocusIn 9
#define small char
#define interface struct
#define near
#define far
#define huge
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define ERROR 0
#define DELETE 1
#define IN
#define OUT
#define OPTIONAL
#define VOID void
#define CONST const
#define slots
#define signals public
#define emit
#define foreach(a, b) for (a : b)
#define forever for (;;)
#define linux 1
#define unix 1
#define major(device) ((device) >> 8)
#define minor(device) ((device) & 255)
#define I (1.0iF)
#define B0 0
#define ECHO 8
#define OK 0
#define ERR (-1)
#define box(a, b, c) wborder(a, b, c)
#define abs(x) ((x) > 0 ? (x) : -(x))
#define round(x) ((long)((x) + 0.5))
#define check(x) assert(x)
#define verify(x) assert(x)
#define CHECK(x) assert(x)
#define LOG(x) x
"""
STANDARD = sorted({name for path in (ROOT / "include/patchfold").glob("*.hpp")
                   for name in re.findall(r"^#include <([a-z_]+)>", path.read_text(encoding="utf-8"), re.M)})
# A program that uses the headers' templates and inline functions, since compilers warn about them only where they are used.
USES = """
#include <utility>
int uses();
int uses() {
  using namespace patchfold;
  std::vector<float> image(16), columns(9 * 16);
  const Unfold unfold{.kernel_size = {3, 3}, .padding = 1};
  const Plan plan = unfold.plan(view(std::as_const(image).data(), {1, 4, 4}), view(columns.data(), {9, 16}));
  if (run(unfold, view(std::as_const(image).data(), {1, 4, 4}), view(columns.data(), {9, 16})), plan.describe().empty()) return 1;
  if (visit(DType::int16, []<class T>(std::type_identity<T>) { return sizeof(T); }) != 2) return 1;
  if (listed_words<Tail>().empty() || !value_of<Reduce>("mean") || all_words<PaddingMode>().empty()) return 1;
  const Tiling tiling({.shape = {8}, .tile = {4}, .overlap = 2, .value = 1.5F});
  for (const Tile tile : tiling)
    if (tile.index < 0) throw Error({.given = ErrorValue(tile.index, " of ", Dims{2}, std::uint8_t{3}, DType::int8)});
  FixedList<int, 3> list;
  list.push_back(1);
  list.erase(0);
  return tiling.stream_axis() + list.size();
}
"""


class Runs:
    def __init__(self):
        self.count, self.failures = 0, 0

    def compile(self, *command, expected=None):
        """Runs a compiler without output. Expects success or, with `expected`, an error whose first line has this text."""
        done = subprocess.run([*command, "-fsyntax-only", f"-I{ROOT / 'include'}"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        first = next((line for line in done.stdout.splitlines() if "error:" in line), "")
        is_right = done.returncode == 0 if expected is None else done.returncode != 0 and expected in first
        self.count += 1
        if not is_right:
            self.failures += 1
            print(f"FAILED {' '.join(map(str, command))}\n{done.stdout}")

    def knows(self, compiler, standard, language):
        done = subprocess.run([compiler, f"-std={standard}", "-fsyntax-only", "-x", language, "/dev/null"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return done.returncode == 0


def c_headers(runs, options):
    dlpack = ["-DWITH_DLPACK", "-isystem", options.dlpack] if options.dlpack else []
    for compiler in options.cc:
        for standard in ("c99", "c11", "c17", "c2x", "gnu17"):
            if standard != "c2x" or runs.knows(compiler, standard, "c"):
                runs.compile(compiler, f"-std={standard}", *STRICT, "-Wstrict-prototypes", "-Wmissing-prototypes", *dlpack,
                             HERE / "header.c")
    for compiler in options.cxx:
        for standard in ("c++11", "c++14", "c++17", "c++20"):
            runs.compile(compiler, f"-std={standard}", *STRICT_CPP, "-fno-exceptions", "-fno-rtti", *dlpack,
                         HERE / "header.cpp")
    with tempfile.TemporaryDirectory() as folder:
        macros = Path(folder) / "macros.h"
        macros.write_text(MACROS, encoding="utf-8")
        for compiler in options.cc:
            runs.compile(compiler, "-std=gnu17", *STRICT, "-include", macros, HERE / "header.c")
            runs.compile(compiler, "-std=gnu89", "-Wall", "-Wextra", "-Werror", HERE / "header.c")
            runs.compile(compiler, "-std=c89", HERE / "header.c", expected="needs C99")


def cpp_headers(runs, options):
    headers = sorted(path.name for path in (ROOT / "include/patchfold").glob("*.hpp"))
    with tempfile.TemporaryDirectory() as folder:
        for name in headers:
            source = Path(folder) / f"{name}.cpp"
            source.write_text(f"#include <patchfold/{name}>\n#include <patchfold/{name}>\n", encoding="utf-8")
        uses = Path(folder) / "uses.cpp"
        uses.write_text(f"#include <patchfold/patchfold.hpp>\n{USES}", encoding="utf-8")
        includes = "".join(f"#include <{name}>\n" for name in STANDARD)
        crowded, status, columns = (Path(folder) / name for name in ("crowded.cpp", "status.cpp", "columns.cpp"))
        crowded.write_text(f"{includes}{MACROS}{uses.read_text(encoding='utf-8')}", encoding="utf-8")
        status.write_text("#define Status int\n#include <patchfold/patchfold.hpp>\n", encoding="utf-8")
        columns.write_text("#define columns numbers[0]\n#include <patchfold/patchfold.hpp>\n", encoding="utf-8")
        for compiler in options.cxx:
            runs.compile(compiler, "-std=c++20", *STRICT_CPP, uses)
            runs.compile(compiler, "-std=gnu++20", *STRICT_CPP, "-fno-rtti", crowded)
            runs.compile(compiler, "-std=c++20", status, expected="#undef Status")
            runs.compile(compiler, "-std=c++20", columns, expected="before term.h")
        for name in headers:
            if name not in ("version.hpp", "export.hpp"):  # these headers contain macros only, and compile as C too
                stop = "-ferror-limit=1" if "clang" in options.cxx[0] else "-fmax-errors=1"
                runs.compile(options.cxx[0], "-std=c++17", stop, Path(folder) / f"{name}.cpp", expected=NEED)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--cc", nargs="+", required=True)
    parser.add_argument("--cxx", nargs="+", required=True)
    parser.add_argument("--cpp", action="store_true")
    parser.add_argument("--dlpack")
    options = parser.parse_args()
    runs = Runs()
    (cpp_headers if options.cpp else c_headers)(runs, options)
    print(f"headers: {runs.count} compiled, {runs.failures} failures")
    sys.exit(1 if runs.failures else 0)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Seeds one fault at a time into a small tree and expects check_layers.py to name it.

usage: self_test.py CHECK_LAYERS_PY
"""
import subprocess
import sys
import tempfile
from pathlib import Path

LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"
SOUND = {
    "include/patchfold/tensor.hpp": "#include <cstdint>\n",
    "include/patchfold/plan.hpp": '#include "patchfold/tensor.hpp"\n',
    "include/patchfold/operators.hpp": '#include "patchfold/plan.hpp"\n',
    "include/patchfold/onnx.hpp": '#include "patchfold/operators.hpp"\n',
    "src/tensor/fail.hpp": '#include "patchfold/tensor.hpp"\n',
    "src/kernels/move.cpp": '#include <hwy/highway.h>\n#include "tensor/fail.hpp"\n',
    "src/engine/plan.hpp": '#include <oneapi/tbb/parallel_for.h>\n#include <fenv.h>\n#include "patchfold/plan.hpp"\n',
    "src/ops/fold.hpp": '#include "patchfold/operators.hpp"\n',
    "src/ops/fold.cpp": '#include "ops/fold.hpp"\n#include "engine/plan.hpp"\n',
    "src/dialects/onnx.cpp": '#include "patchfold/onnx.hpp"\n#include "ops/fold.hpp"\n',
    "formats/npy.hpp": '#include <unistd.h>\n#include "patchfold/tensor.hpp"\n',
    "cli/main.cpp": '#include <CLI/CLI.hpp>\n#include "formats/npy.hpp"\n',
    "reference/fold.hpp": "#include <vector>\n",
    "tests/fold_test.cpp": '#include "reference/fold.hpp"\n#include "engine/plan.hpp"\n',
}
# What is added to which file, and the beginning of the line that must come back.
FAULTS = [
    ("src/kernels/move.cpp", '#include "engine/plan.hpp"\n', "src/kernels/move.cpp:4: src/kernels may not include src/engine"),
    ("src/engine/plan.hpp", '  #  include "ops/fold.hpp"\n', "src/engine/plan.hpp:5: src/engine may not include src/ops"),
    ("src/kernels/move.cpp", '#include "patchfold/operators.hpp"\n',
     "src/kernels/move.cpp:4: src/kernels may not include include/patchfold/operators.hpp"),
    ("src/ops/fold.cpp", "#include <fmt/format.h>\n", "src/ops/fold.cpp:4: src/ops may include only the standard library"),
    ("src/ops/fold.cpp", "#include <hwy/highway.h>\n", "src/ops/fold.cpp:4: src/ops may include only the standard library"),
    ("include/patchfold/tensor.hpp", '#include "patchfold/plan.hpp"\n',
     "include/patchfold/tensor.hpp:3: include/patchfold/plan.hpp stands after"),
    ("formats/npy.hpp", '#include "src/engine/plan.hpp"\n', "formats/npy.hpp:4: formats may not include src/engine"),
    ("cli/main.cpp", '#include "../src/ops/fold.hpp"\n', "cli/main.cpp:4: cli may not include src/ops"),
    ("formats/npy.hpp", '#include "cli/main.cpp"\n', "formats/npy.hpp:4: formats may not include cli"),
    ("reference/fold.hpp", '#include "patchfold/operators.hpp"\n',
     "reference/fold.hpp:3: reference may not include include/patchfold/operators.hpp"),
    ("reference/fold.hpp", '#include "tensor/fail.hpp"\n', "reference/fold.hpp:3: reference may not include src/tensor"),
    ("src/ops/fold.hpp", '#include "ops/fold.cpp"\n', "src/ops/fold.cpp:1: files include each other in a circle"),
    ("plugins/new.cpp", "\n", "plugins/new.cpp:1: stands in no room"),
    ("src/ops/fold.cpp", "\n" * 450, "src/ops/fold.cpp:453: 453 lines; at most 450"),
]


def run(check, root):
    done = subprocess.run([sys.executable, check, "--root", str(root)], stdout=subprocess.PIPE, text=True)
    return done.returncode, done.stdout


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main():
    check = sys.argv[1]
    sound = {name: LICENCE + text for name, text in SOUND.items()}
    failures = 0

    def expect(what, files, code, beginning):
        nonlocal failures
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), files)
            got, out = run(check, folder)
        if got != code or not any(line.startswith(beginning) for line in out.splitlines()):
            failures += 1
            print(f"{what}: expected exit code {code} and a line that starts with\n  {beginning}\ngot exit code {got} and\n{out}")

    expect("the sound tree", sound, 0, f"layers: 0 faults in {len(sound)} files")
    for name, text, beginning in FAULTS:
        expect(f"{name} + {text.strip()!r}", {**sound, name: sound.get(name, LICENCE) + text}, 1, beginning)
    expect("no licence", {**sound, "src/ops/bare.cpp": "int x;\n"}, 1, "src/ops/bare.cpp:1: the first line must be the licence")
    print(f"{len(FAULTS) + 2} trees, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

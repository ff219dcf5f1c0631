# SPDX-License-Identifier: Apache-2.0
"""Makes one fault at a time in a small tree, and expects that check_layers.py names the fault.

usage: self_test.py CHECK_LAYERS_PY
"""
import subprocess
import sys
import tempfile
from pathlib import Path

LICENCE = "SPDX-License-Identifier: Apache-2.0\n"
SOUND = {
    "include/patchfold/tensor.hpp": "#include <cstdint>\n",
    "include/patchfold/plan.hpp": '#include "patchfold/tensor.hpp"\n',
    "include/patchfold/operators.hpp": '#include "patchfold/plan.hpp"\n',
    "include/patchfold/onnx.hpp": '#include "patchfold/operators.hpp"\n',
    "src/base/fail.hpp": '#include "patchfold/tensor.hpp"\n',
    "src/tensor/encode.hpp": '#include "patchfold/tensor.hpp"\n',
    "src/kernels/move.cpp": '#include <hwy/highway.h>\n#include "base/fail.hpp"\n',
    "src/engine/plan.hpp": '#include <oneapi/tbb/parallel_for.h>\n#include <fenv.h>\n#include "patchfold/plan.hpp"\n',
    "src/ops/fold.hpp": '#include "patchfold/operators.hpp"\n',
    "src/ops/fold.cpp": '#include "ops/fold.hpp"\n#include "engine/plan.hpp"\n',
    "src/dialects/onnx.cpp": '#include "patchfold/onnx.hpp"\n#include "ops/fold.hpp"\n',
    "formats/npy.hpp": '#include <png.h>\n#include "src/base/fail.hpp"\n',
    "cli/main.cpp": '#include <CLI/CLI.hpp>\n#include "formats/npy.hpp"\n',
    "reference/fold.hpp": "#include <vector>\n",
    "tests/fold_test.cpp": '#include "reference/fold.hpp"\n#include "engine/plan.hpp"\n',
    "python/native/arrays.cpp": 'nb::module_::import_("patchfold._arrays.memory");\n',
    "python/patchfold/__init__.py": "from . import _core, onnx\nfrom ._operators.columns import fold\n",
    "python/patchfold/_core.pyi": "def run() -> None: ...\n",
    "python/patchfold/_errors.py": "import sys\n",
    "python/patchfold/_arrays/memory.py": "from .._errors import Error\n",
    "python/patchfold/_operators/columns.py": "from .. import _core\nfrom .._arrays import memory\n",
    "python/patchfold/_operators/patches.py": "def cut():\n    from .columns import fold\n",
    "python/patchfold/onnx/__init__.py": "from .._operators.columns import fold\n",
    "python/patchfold/onnx/backend.py": "import patchfold.onnx\n",
}
# The expected arrows of the picture: one for each room that a room includes, unless a longer path of arrows leads there.
ARROWS = [
    "src_base --> include_patchfold",
    "src_tensor --> include_patchfold",
    "src_kernels --> src_base",
    "src_engine --> include_patchfold",
    "src_ops --> src_engine",
    "src_dialects --> src_ops",
    "formats --> src_base",
    "cli --> formats",
    "python_patchfold__arrays --> python_patchfold",
    "python_patchfold__operators --> python_patchfold__arrays",
    "python_patchfold_onnx --> python_patchfold__operators",
    "python_patchfold___init___py --> python_patchfold_onnx",
]
# For each fault: the file, the text to add, and the beginning of the expected line.
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
    ("formats/npy.hpp", '#include "src/tensor/encode.hpp"\n', "formats/npy.hpp:4: formats may not include src/tensor"),
    ("formats/npy.hpp", "#include <unistd.h>\n", "formats/npy.hpp:4: formats may include only the standard library"),
    ("cli/main.cpp", "#include <windows.h>\n", "cli/main.cpp:4: cli may include only the standard library"),
    ("src/base/fail.hpp", '#include "tensor/encode.hpp"\n', "src/base/fail.hpp:3: src/base may not include src/tensor"),
    ("src/base/fail.cpp", "int x;\n", "src/base/fail.cpp:1: front ends include src/base too"),
    ("cli/main.cpp", '#include "../src/ops/fold.hpp"\n', "cli/main.cpp:4: cli may not include src/ops"),
    ("formats/npy.hpp", '#include "cli/main.cpp"\n', "formats/npy.hpp:4: formats may not include cli"),
    ("reference/fold.hpp", '#include "patchfold/operators.hpp"\n',
     "reference/fold.hpp:3: reference may not include include/patchfold/operators.hpp"),
    ("reference/fold.hpp", '#include "base/fail.hpp"\n', 
     "reference/fold.hpp:3: reference may not include src/base"),
    ("src/ops/fold.hpp", '#include "ops/fold.cpp"\n', "src/ops/fold.cpp:1: files need each other in a circle"),
    ("python/patchfold/_operators/columns.py", "from .patches import cut\n",
     "python/patchfold/_operators/columns.py:1: files need each other in a circle"),
    ("python/patchfold/onnx/__init__.py", "if TYPE_CHECKING:\n    from .backend import run\n",
     "python/patchfold/onnx/__init__.py:1: files need each other in a circle"),
    ("python/patchfold/_arrays/memory.py", "def late():\n    from .._operators import columns\n",
     "python/patchfold/_arrays/memory.py:4: python/patchfold/_arrays may not import python/patchfold/_operators"),
    ("python/patchfold/_errors.py", "import patchfold._arrays.memory as memory\n",
     "python/patchfold/_errors.py:3: python/patchfold may not import python/patchfold/_arrays"),
    ("python/native/arrays.cpp", 'nb::module_::import_("patchfold._arrays.lost");\n',
     "python/native/arrays.cpp:3: there is no module patchfold._arrays.lost"),
    ("gadgets/new.cpp", "\n", "gadgets/new.cpp:1: stands in no room"),
    ("src/ops/fold.cpp", "\n" * 450, "src/ops/fold.cpp:453: 453 lines; at most 450"),
]


def run(check, root, *options):
    done = subprocess.run([sys.executable, check, "--root", str(root), *options], stdout=subprocess.PIPE, text=True)
    return done.returncode, done.stdout


def licence_of(name):
    return ("# " if name.endswith((".py", ".pyi")) else "// ") + LICENCE


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main():
    check = sys.argv[1]
    sound = {name: licence_of(name) + text for name, text in SOUND.items()}
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
        expect(f"{name} + {text.strip()!r}", {**sound, name: sound.get(name, licence_of(name)) + text}, 1, beginning)
    expect("no licence", {**sound, "src/ops/bare.cpp": "int x;\n"}, 1, "src/ops/bare.cpp:1: the first line must be the licence")
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), sound)
        _, picture = run(check, folder, "--print")
    if [line.strip() for line in picture.splitlines() if "-->" in line] != ARROWS:
        failures += 1
        print(f"the picture of the sound tree must have the arrows {ARROWS}; it is\n{picture}")
    print(f"{len(FAULTS) + 2} trees, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

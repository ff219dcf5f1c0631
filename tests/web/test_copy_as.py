# SPDX-License-Identifier: Apache-2.0
"""Runs every program of "copy as" for random states, and compares the bits of its result with the definition.

Needs the page, node, a C and a C++ compiler, and the library and the program `patchfold` in PATCHFOLD_BUILD (default:
build/release). Also needs a Python with patchfold and the systems of tests/peers/requirements.txt (PATCHFOLD_PEERS_PYTHON;
default: build/peers-venv). PATCHFOLD_SEED selects the random states; PATCHFOLD_CASES is the number of states for each
operator of a dialect.
"""

import ast
import json
import math
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from expected import Problem, State, Values, expected, states
from page_modules import node

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("PATCHFOLD_BUILD", ROOT / "build/release"))
PYTHON = os.environ.get("PATCHFOLD_PEERS_PYTHON", str(ROOT / "build/peers-venv/bin/python"))
SEED = int(os.environ.get("PATCHFOLD_SEED", "22"))
CASES = int(os.environ.get("PATCHFOLD_CASES", "3"))
SYSTEMS = {
    "PyTorch": "torch",
    "TensorFlow": "tensorflow",
    "ONNX": "onnx",
    "OpenVINO": "openvino",
    "JAX": "jax",
    "Keras": "keras",
}
OURS = ["patchfold in Python", "patchfold in C++", "patchfold in C", "patchfold on the command line"]
Entry = dict[str, str]
LAID_LAST = {"layout": "channels_last", "order": "kernel", "positions": "grid"}
SAME = {"operator": "extract_patches", "padding_rule": "same_upper"}
# States for which it is easy to write a wrong program.
PECULIAR: list[State] = [
    # pads of one axis only
    {"shape": [1, 2, 6, 2], "kernel": [1, 3], "padding": [[0, 0], [0, 1]], "padding_mode": "reflect"},
    {"shape": [1, 1, 7], "kernel": [2], "stride": [3], "padding": [[2, 0]], "padding_mode": "edge", **LAID_LAST},
    # a stride above the kernel
    {"operator": "fold", "shape": [1, 1, 9, 9], "stride": [5, 5], "padding": [[0, 0], [0, 0]], "reduce": "mean"},
    {"operator": "fold", "shape": [2, 2, 8, 7], "dilation": [2, 2], "padding": [[2, 1], [0, 2]], **LAID_LAST},
    {"operator": "fold", "shape": [1, 2, 4, 5, 3], "kernel": [2, 3, 2], "dilation": [2, 1, 1], "padding": [[1, 0]] * 3},
    # the first patch begins inside of the volume
    {**SAME, "dialect": "tensorflow", "shape": [1, 1, 4, 7, 9], "kernel": [1, 2, 1], "stride": [3, 4, 5]},
    # same_lower puts the odd pad at the beginning
    {**SAME, "dialect": "openvino", "shape": [1, 3, 6, 7], "kernel": [4, 2], "padding_rule": "same_lower", "stride": [1, 2]},
    {
        "operator": "space_to_batch",
        "shape": [2, 1, 4, 6, 4],
        "kernel": [2, 3, 4],
        "padding": [[0, 0], [1, 2], [4, 0]],
        "dtype": "uint8",
    },
]

MADE = """given.map((each) => {
  const { state, faults } = s.complete(each);
  const before = JSON.stringify(state);
  const entries = copyAs(state);
  const again = JSON.stringify(copyAs(state));
  return { entries, faults, pure: before === JSON.stringify(state) && again === JSON.stringify(entries) };
})"""


def copied(given: list[State]) -> list[dict[str, Entry]]:
    """Returns the entries of "copy as" for each state, by the names of the systems."""
    made = node(MADE, given)
    for state, each in zip(given, made, strict=True):
        assert each["faults"] == [], (state, each["faults"])
        assert each["pure"], state
        assert [entry["name"] for entry in each["entries"]] == [*SYSTEMS, *OURS]
    return [{entry["name"]: entry for entry in each["entries"]} for each in made]


@pytest.fixture(scope="module")
def taken() -> list[tuple[State, Problem, dict[str, Entry]]]:
    cases, _ = states(SEED, CASES)
    assert len(cases) >= 20 * CASES
    (standard,) = node("given.map((each) => s.complete(each).state)", [{}])
    for state in PECULIAR:
        axes = len(state["shape"]) - 2
        axial = {name: [standard[name][0]] * axes for name in ("kernel", "stride", "dilation", "padding")}
        cases.append((state, expected({**standard, **axial, **state})))
    entries = copied([state for state, _ in cases])
    return [(state, problem, each) for (state, problem), each in zip(cases, entries, strict=True)]


def compare(state: State, system: str, text: str, result: Values, wanted: Values) -> None:
    same = result.shape == wanted.shape and result.dtype == wanted.dtype and result.tobytes() == wanted.tobytes()
    assert same, "\n".join(
        [
            f"{system}: {json.dumps(state)}",
            f"{text}\ngives {result.dtype} {result.shape}\n{result}",
            f"wanted {wanted.dtype} {wanted.shape}\n{wanted}",
        ]
    )


def run_python(programs: dict[str, str], folder: Path) -> dict[str, Values]:
    listed, kept = folder / "programs.json", folder / "results.npz"
    listed.write_text(json.dumps(programs), encoding="utf-8")
    script = Path(__file__).with_name("run_snippets.py")
    done = subprocess.run([PYTHON, script, listed, kept], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with np.load(kept) as results:
        found = {name: results[name] for name in results.files}
    for name, text in programs.items():
        assert name in found, f"{text}\n{found[f'error:{name}']}"
    return found


@pytest.mark.parametrize("system", [*SYSTEMS, OURS[0]])
def test_python_programs_give_what_the_page_shows(system: str, taken: Any, tmp_path: Path) -> None:
    module = SYSTEMS.get(system, "patchfold")
    if not Path(PYTHON).exists() or subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True).returncode:
        pytest.skip(f"could not import {module}: scripts/peers installs it")
    programs = {
        str(index): entries[system]["text"] for index, (_, _, entries) in enumerate(taken) if entries[system]["text"]
    }
    results = run_python(programs, tmp_path)
    for index, text in programs.items():
        state, problem, _ = taken[int(index)]
        compare(state, system, text, results[index], problem.output)
    least = len(taken) if system in OURS else len(taken) // 2
    assert len(programs) >= least, f"only {len(programs)} of {len(taken)} states have a program"


def printed(output: str, wanted: Values) -> Values:
    numbers = [int(line) if wanted.dtype.kind in "iu" else float(line) for line in output.split()]
    assert len(numbers) == wanted.size
    return np.array(numbers, wanted.dtype).reshape(wanted.shape)


def compiled(system: str, taken: Any, folder: Path) -> None:
    """Compiles and runs all programs of a language as a single program, in which each main() becomes a function."""
    c = system.endswith("in C")
    chosen = [
        (index, state, problem, entries[system])
        for index, (state, problem, entries) in enumerate(taken)
        if entries[system]["text"]
    ]
    assert {state.get("dtype") for _, state, _, _ in chosen} >= {"float32", "float64", "int32", "int64", "uint8"}
    for state, _, entries in taken:
        assert bool(entries[system]["text"]) == (state.get("dtype") != "float16")
    includes, functions = dict.fromkeys(["#include <stdio.h>" if c else "#include <cstdio>"]), []
    for index, _, _, entry in chosen:
        lines = entry["text"].splitlines()
        includes.update(dict.fromkeys(line for line in lines if line.startswith("#include")))
        body = "\n".join(line for line in lines if not line.startswith("#include"))
        body, mains = re.subn(r"int main\((void)?\) \{", rf"static int main_{index}(\1) {{", body)
        assert mains == 1
        functions.append(body if c else body.rstrip()[:-1] + "  return 0;\n}")  # only main() may end without a return
    calls = "".join(f'  if (main_{index}() != 0) return 1;\n  printf("end\\n");\n' for index, *_ in chosen)
    source = folder / ("all.c" if c else "all.cpp")
    source.write_text(
        "\n".join([*includes, *functions, f"int main({'void' if c else ''}) {{\n{calls}  return 0;\n}}\n"]), encoding="utf-8"
    )
    compiler = shlex.split(os.environ.get("CC", "cc") + " -std=c99" if c else os.environ.get("CXX", "c++") + " -std=c++20")
    program = folder / "all"
    library = BUILD / "src"
    warnings = ["-Wall", "-Wextra", "-Werror"]
    command = [
        *compiler,
        *warnings,
        "-I",
        ROOT / "include",
        source,
        "-o",
        program,
        "-L",
        library,
        "-lpatchfold",
        f"-Wl,-rpath,{library}",
    ]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr[:4000]
    ran = subprocess.run([program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-400:] + ran.stderr
    parts = ran.stdout.split("end\n")
    for (_, state, problem, entry), part in zip(chosen, parts[:-1], strict=True):
        compare(state, system, entry["text"], printed(part, problem.output), problem.output)


@pytest.mark.parametrize("system", OURS[1:3])
def test_compiled_programs_give_what_the_page_shows(system: str, taken: Any, tmp_path: Path) -> None:
    compiled(system, taken, tmp_path)


def test_commands_give_what_the_page_shows(taken: Any, tmp_path: Path) -> None:
    system = OURS[3]
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "python3").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8")
    (tools / "python3").chmod(0o755)
    (tools / "patchfold").symlink_to(BUILD.resolve() / "patchfold")
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    for index, (state, problem, entries) in enumerate(taken):
        folder = tmp_path / str(index)
        folder.mkdir()
        text = entries[system]["text"]
        ran = subprocess.run(["sh", "-e"], input=text, cwd=folder, env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, text + ran.stderr
        compare(state, system, text, np.load(folder / "result.npy"), problem.output)
        compare(state, system, text, np.load(folder / "x.npy"), problem.input)


def test_the_page_shows_the_same(visit: Any, taken: Any) -> None:
    visit.open()
    for state, problem, _ in taken:
        shown = visit.numbers(state)
        assert "error" not in shown, (state, shown)
        for side, wanted in (("input", problem.input), ("output", problem.output)):
            values = np.array(shown[side]["values"]).astype(wanted.dtype).reshape(shown[side]["shape"])
            compare(state, "the page", shown["call"], values, wanted)


def test_the_page_refuses_what_is_refused(visit: Any) -> None:
    _, refused = states(SEED + 1, 3)
    visit.open()
    for state in refused:
        assert "error" in visit.numbers(state), state


def test_the_page_copies_a_program(visit: Any, context: Any) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    (entries,) = copied([{}])
    visit.open({"panel": "copy"})
    for name in ("PyTorch", "patchfold in C++"):
        visit.page.click(f"[data-copy='{name}']")
        visit.page.wait_for_function(f"document.getElementById('said').textContent.includes({json.dumps(name)})")
        assert visit.page.evaluate("navigator.clipboard.readText()") == entries[name]["text"]


def test_the_page_offers_the_programs(visit: Any) -> None:
    """Checks that the page copies the text of copyAs, and gives a reason for each missing program."""
    for state in ({}, {"operator": "fold", "reduce": "mean"}, {"dtype": "int32"}):
        (entries,) = copied([state])
        visit.open({**state, "panel": "copy"})
        shown = visit.page.inner_text("#panel")
        for name, entry in entries.items():
            assert name in shown
            if entry["why"]:
                assert entry["why"] in shown
            else:
                assert visit.page.locator(f"pre[aria-label='{name} code']").text_content() == entry["text"]


def test_where_no_program_stands_a_sentence_says_why(taken: Any) -> None:
    for state, _, entries in taken:
        for name, entry in entries.items():
            assert bool(entry["text"]) != bool(entry["why"]), (state, entry)
            if entry["why"]:
                assert re.fullmatch(r"[A-Za-z].{15,160}\.", entry["why"]), entry["why"]
            assert entry["language"] == {OURS[1]: "cpp", OURS[2]: "c", OURS[3]: "sh"}.get(name, "python")
            assert all(len(line) <= 160 for line in entry["text"].splitlines() if name != OURS[3]), entry["text"]


def test_states_that_are_refused_have_no_program() -> None:
    _, refused = states(SEED + 1, 3)
    assert len(refused) >= 20
    for state, entries in zip(refused, copied(refused), strict=True):
        reasons = {entry["why"] for entry in entries.values()}
        assert len(reasons) == 1 and "" not in reasons, (state, reasons)
        assert not any(entry["text"] for entry in entries.values()), state


def test_an_input_of_another_shape_has_no_program() -> None:
    given = {"operator": "fold", "shape": [1, 1, 3, 3], "kernel": [2, 2], "stride": [1, 1], "padding": [[0, 0], [0, 0]]}
    (right,) = copied([{**given, "input": [1, 4, 4]}])  # the shape follows from the image
    assert right["PyTorch"]["text"]
    (wrong,) = copied([{**given, "input": [1, 4, 5]}])
    assert {entry["text"] for entry in wrong.values()} == {""}


@pytest.mark.parametrize(
    ("system", "state", "part"),
    [
        ("PyTorch", {"dtype": "int32"}, "takes no integers"),
        ("PyTorch", {"shape": [1, 1, 4, 4, 4], "kernel": [2, 2, 2]}, "two spatial axes"),
        ("PyTorch", {}, "F.unfold(x, kernel_size=3, padding=1, stride=2)"),
        (
            "PyTorch",
            {"operator": "space_to_depth", "dialect": "torch", "shape": [1, 1, 4, 4], "kernel": [2, 2]},
            "pixel_unshuffle(x, 2)",
        ),
        ("ONNX", {"operator": "fold", "reduce": "mean"}, "takes no mean"),
        ("ONNX", {"operator": "fold"}, 'helper.make_node("Col2Im"'),
        ("OpenVINO", {"padding_mode": "wrap"}, "no mode for wrap"),
        (
            "TensorFlow",
            {"operator": "extract_patches", "dialect": "tensorflow", "padding_rule": "same_upper"},
            'padding="SAME"',
        ),
        ("JAX", {}, "lax.conv_general_dilated_patches(x, (3, 3), (2, 2), [[1, 1], [1, 1]]"),
        ("Keras", {"operator": "fold", "dtype": "float16", "shape": [8, 8, 40, 40]}, "last bits"),
        ("patchfold in Python", {}, "patchfold.unfold(x, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1))"),
        ("patchfold in C++", {}, "const Unfold op{.kernel_size = {3, 3}, .stride = {2, 2}, .padding = {1, 1}};"),
        ("patchfold in C++", {"dtype": "float16"}, "float32"),
        ("patchfold on the command line", {}, "run unfold x.npy --kernel_size 3,3 --stride 2,2 --padding 1,1 -o result.npy"),
    ],
)
def test_what_stands_there(system: str, state: State, part: str) -> None:
    """Checks that the program contains `part`, the system's own name of the operation, or that the reason why there is no
    program contains it."""
    (entries,) = copied([state])
    assert part in entries[system]["text"] + entries[system]["why"]


ROWS = runpy.run_path(str(ROOT / "python/patchfold/_orders/elsewhere.py"))["ROWS"]
NAMES = {{"PyTorch": "torch"}.get(name, name): name for name in SYSTEMS}
# Functions that programs call besides a system's own operator, such as the convolution and the gradient that replace a
# missing operator.
AROUND = set("conv constant gradienttape maximum oneslike pad parameter reshape slice transpose zeros".split())


def bare(name: str) -> str:
    return name.rpartition(".")[2].replace("_", "").lower()


def called(text: str) -> set[str]:
    """Returns the functions and nodes of a system that a program calls."""
    found = re.findall(r"(?<![\w.])(?:F|keras|lax|ops|tf)\.((?:\w+\.)*\w+)\(|make_node\(\"(\w+)", text)
    return {bare(function or node) for function, node in found}


def state_of(row: Any) -> State:
    """Returns the page's state for patchfold's call in a row of the table of calls elsewhere."""
    call = ast.parse(row.ours, mode="eval").body
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    operator = call.func.attr
    numbers = [ast.literal_eval(each) for each in call.args[1:]]
    given = {each.arg: ast.literal_eval(each.value) for each in call.keywords}
    last = given.get("layout") == "channels_last"
    batch, *rest = row.shape
    channels, spatial = (rest[-1], rest[:-1]) if last else (rest[0], rest[1:])
    kernel = given.pop("kernel_size", None) or numbers.pop()
    axes = len(numbers[0]) if operator == "fold" else len(spatial)
    kernel = [kernel] * axes if isinstance(kernel, int) else list(kernel)
    padding = given.pop("padding", given.pop("crops", 0))
    if isinstance(padding, str):
        given["padding_rule"] = "same_upper"
    else:
        ends = [padding] * axes if isinstance(padding, int) else padding
        given["padding"] = [[end, end] for end in ends]
    given.setdefault("padding", [[0, 0]] * axes)
    blocks = math.prod(kernel)
    if operator == "fold":
        channels, spatial = channels // blocks, list(numbers[0])
    elif operator == "depth_to_space":
        channels, spatial = channels // blocks, [extent * block for extent, block in zip(spatial, kernel, strict=True)]
    elif operator == "batch_to_space":
        pairs = zip(spatial, kernel, given["padding"], strict=True)
        batch, spatial = batch // blocks, [extent * block - sum(crops) for extent, block, crops in pairs]
    stride = given.pop("stride", 1)
    given["stride"] = [stride] * axes if isinstance(stride, int) else list(stride)
    shape = [batch, channels, *spatial]
    return {"operator": operator, "shape": shape, "kernel": kernel, "dilation": [1] * axes, **given}


@pytest.mark.parametrize("row", [row for row in ROWS if row.system in NAMES], ids=lambda row: row.theirs[:40])
def test_programs_make_the_calls_of_the_table(row: Any) -> None:
    (entries,) = copied([state_of(row)])
    names = called(entries[NAMES[row.system]]["text"])
    if row.op == "onnx.SpaceToDepth-28":  # opset 19, in which the page writes programs, lacks this operator
        assert names == {"reshape", "transpose"}
    elif row.system == "JAX" and "reshape" in row.theirs:
        assert names == set()
    else:
        assert bare(row.theirs.partition("(")[0]) in names


def test_the_table_has_the_calls_of_programs(taken: Any) -> None:
    for system, name in NAMES.items():
        listed = {bare(row.theirs.partition("(")[0]) for row in ROWS if row.system == system}
        assert set().union(*(called(entries[name]["text"]) for *_, entries in taken)) - AROUND <= listed, system


def test_large_inputs_are_exact_in_every_type() -> None:
    """Checks inputs with more elements than float16 or uint8 has exact integers."""
    for dtype in ("float16", "uint8"):
        (entries,) = copied([{"shape": [1, 1, 60, 60], "dtype": dtype}])
        text = entries["patchfold in Python"]["text"]
        names: dict[str, Any] = {"np": np}
        exec(next(line for line in text.splitlines() if line.startswith("x = ")), names)
        counted = np.arange(math.prod((60, 60)))
        wanted = ((counted % 250 if dtype == "uint8" else counted) + 1).astype(dtype)
        assert np.array_equal(names["x"].ravel(), wanted) and names["x"].dtype == dtype

# SPDX-License-Identifier: Apache-2.0
"""Runs the Python of every page, and checks that docstrings are complete and the index has every name."""

import ast
import doctest
import importlib
import importlib.util
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable
from glob import glob
from pathlib import Path
from typing import Any

import patchfold
import pytest
from calls import HERE, function_of
from patchfold._orders.elsewhere import ROWS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "python.md"
OPERATORS = ROOT / "docs" / "operators.md"
PAGES = {str(path.relative_to(ROOT)): path for path in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]}
# Pages whose Python another test runs, since it needs more than a package, and the file of tests/ that reads the page.
ELSEWHERE = {
    "docs/runtimes.md": "python/runtime_models.py",  # needs a file model.onnx
    "docs/scale.md": "scale/test_dask_operators.py",  # needs a cluster, which the test makes of threads
}
# Modules and packages that need another package, and the name of that package.
NEEDS = {
    "patchfold.dask": "dask",
    "patchfold.jax": "jax",
    "patchfold.models._expand": "onnx",
    "patchfold.models._onnx": "onnx",
    "patchfold.models._onnx_nodes": "onnx",
    "patchfold.models._portable": "onnx",
    "patchfold.models._rewriter": "onnx",
    "patchfold.onnx._node_tests": "onnx",
    "patchfold.onnx.backend": "onnx",
    "patchfold.onnxruntime._convert": "onnx",
    "patchfold.diffusers": "torch",
    "patchfold.models._split_torch": "torch",
    "patchfold.monai": "torch",
    "patchfold.torch": "torch",
    "patchfold.torchio": "torchio",
    "patchfold.transformers": "transformers",
}
# Modules whose docstrings have examples that need a package, which the modules import when they need it.
EXAMPLES_NEED = {"patchfold._tiles.ome_zarr": "zarr"}


def modules() -> list[str]:
    """Returns every module of the package."""
    root = Path(patchfold.__file__).parent
    paths = [Path(path).with_suffix("") for path in sorted(glob("**/*.py", root_dir=root, recursive=True))]
    return [".".join(("patchfold", *[part for part in path.parts if part != "__init__"])) for path in paths]


MODULES = [name for name in modules() if not any(f"{name}.".startswith(f"{needing}.") for needing in NEEDS)]
FUNCTIONS: dict[str, Callable[..., Any]] = {spec.name: function_of(spec) for spec in HERE} | {
    name: getattr(patchfold, name)
    for name in (
        "unfold_view space_to_depth_view iter_unfold gather_patches apply_tiled patchify rearrange unpatchify"
    ).split()
}
SECTIONS = ("Shapes", "Arguments", "Formula", "Types", "Errors", "Elsewhere", "Example")
SYSTEMS = ("torch", "TensorFlow", "ONNX", "OpenVINO", "MATLAB")


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name):
    if name in EXAMPLES_NEED:
        pytest.importorskip(EXAMPLES_NEED[name])
    assert doctest.testmod(importlib.import_module(name), verbose=False).failed == 0


@pytest.mark.parametrize(("name", "needed"), NEEDS.items())
def test_examples_that_need_another_package_run(name, needed):
    pytest.importorskip(needed)
    found = [module for module in modules() if f"{module}.".startswith(f"{name}.")]
    results = [doctest.testmod(importlib.import_module(module), verbose=False) for module in found]
    assert all(result.failed == 0 for result in results)
    assert sum(result.attempted for result in results) > 0 or "._" in name


@pytest.mark.parametrize(("name", "needed"), NEEDS.items())
def test_modules_that_need_another_package_cannot_do_without(name, needed):
    program = f"import sys; sys.modules[{needed!r}] = None; import {name}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode and "ModuleNotFoundError" in done.stderr


def sections_of(function: Callable[..., Any]) -> dict[str, str]:
    text = inspect.getdoc(function) or ""
    parts = re.split(r"(?m)^([A-Z][a-z]+):", text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstrings_are_complete(name):
    function = FUNCTIONS[name]
    sections = sections_of(function)
    assert list(sections) == list(SECTIONS)
    described = re.findall(r"(?m)^    ([a-z][a-z_, ]*): ", sections["Arguments"])
    described = [argument for line in described for argument in line.split(", ")]
    assert described == list(inspect.signature(function).parameters)
    for system in SYSTEMS:
        assert system in sections["Elsewhere"] or name.startswith(system.lower())
    assert ">>> " in sections["Example"]
    assert "InvalidValue" in sections["Errors"] or "as for unfold" in sections["Errors"]
    assert "InvalidType" in sections["Errors"] or "as for unfold" in sections["Errors"]


def test_functions_work_without_docstrings():
    program = "import numpy, patchfold.keras as k; print(k.unfold.__doc__, k.unfold(numpy.ones((1, 1, 3, 3)), 2).shape)"
    done = subprocess.run([sys.executable, "-OO", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "None (1, 4, 4)\n"


@pytest.mark.parametrize("row", [row for row in ROWS if "reshape" not in row.theirs], ids=lambda row: row.theirs[:40])
def test_docstrings_name_the_calls_of_other_systems(row):
    """Checks that the docstring of patchfold's function names the other system's call in the same row of docs/porting.md."""
    ours = row.ours[row.ours.index("patchfold.") :].partition("(")[0].removeprefix("patchfold.")
    assert row.theirs.partition("(")[0].rpartition(".")[2] in sections_of(getattr(patchfold, ours))["Elsewhere"]


@pytest.mark.parametrize("row", [row for row in ROWS if row.op], ids=lambda row: row.same[:40])
def test_docstrings_of_dialects_name_patchfolds_own_call(row):
    if row.system == "torch":
        pytest.importorskip("torch")
    said = sections_of(pkgutil.resolve_name(row.same.partition("(")[0]))["Elsewhere"]
    assert row.ours.partition("(")[0] in said
    assert all(setting in said for setting in re.findall(r'(?:layout|order|positions|mode)="\w+"', row.ours))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_typed(name):
    signature = inspect.signature(FUNCTIONS[name])
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty


def test_stubs_say_what_the_compiled_functions_say():
    stubs = ast.parse((ROOT / "python" / "patchfold" / "_core.pyi").read_text(encoding="utf-8"))
    said = {each.name: ast.get_docstring(each) for each in stubs.body if isinstance(each, ast.FunctionDef)}
    for name in ("set_num_threads", "get_num_threads", "instruction_sets", "use_instruction_set"):
        text = inspect.getdoc(getattr(patchfold, name)) or ""
        assert said[name] and text.endswith(said[name] or "-"), name


def test_all_public_names_have_a_docstring():
    for name in patchfold.__all__:
        value = getattr(patchfold, name)
        if inspect.isclass(value) or inspect.isfunction(value) or inspect.ismodule(value):
            assert inspect.getdoc(value), name


def blocks(page: Path) -> list[tuple[int, str, str]]:
    """Returns (line, words after `python`, code) of every fenced Python block of a page."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"(?ms)^```python([^\n]*)\n(.*?)^```$", text)
    made = [(text[: m.start(2)].count("\n") + 1, m.group(1).strip(), m.group(2)) for m in found]
    return [block for block in made if not block[1].startswith("no-test")]  # tests/docs/snippets.py checks the reason


CASES = [
    (name, package)
    for name, page in PAGES.items()
    if name not in ELSEWHERE
    for package in sorted({words for _, words, _ in blocks(page)})
]


@pytest.mark.parametrize(("name", "package"), CASES)
def test_the_python_of_every_page_runs(name, package, tmp_path, monkeypatch, capsys):
    """Runs a page's Python blocks in order, in one namespace: those without a word after `python`, and those with the
    package's name.

    If text blocks follow blocks with the package's name, the text must be all that the page's blocks print.
    """
    if package:
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    for line, words, code in blocks(PAGES[name]):
        if words in ("", package):
            exec(compile("\n" * (line - 1) + code, name, "exec"), namespace)
    text = PAGES[name].read_text(encoding="utf-8")
    shown = re.findall(rf"(?ms)^```python {package}\n[^`]*```\n+```text\n(.*?)^```$", text)
    assert not shown or capsys.readouterr().out == "".join(shown)


def test_pages_that_other_tests_run_are_read_there():
    assert len(CASES) > 18
    for name, test in ELSEWHERE.items():
        assert blocks(PAGES[name]) and Path(name).name in (ROOT / "tests" / test).read_text(encoding="utf-8"), name


def calls_of(page: Path) -> list[ast.Call]:
    """Returns the calls of patchfold that stand in a page's running text and tables; `..` stands for more arguments."""
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text(encoding="utf-8"))
    found = []
    for span in re.findall(r"`([^`\n]*patchfold\.[^`\n]*\([^`\n]*)`", text):
        tree = ast.parse(re.sub(r"(?<!\.)\.\.(?!\.)", "**more", span).strip())
        found += [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call for call in found if ast.unparse(call.func).startswith("patchfold.")]


@pytest.mark.parametrize("name", PAGES)
def test_calls_in_the_text_of_a_page_fit_their_functions(name):
    for call in calls_of(PAGES[name]):
        path = ast.unparse(call.func)
        needed = next((package for module, package in NEEDS.items() if f"{path}.".startswith(f"{module}.")), None)
        if needed is not None and importlib.util.find_spec(needed) is None:
            continue
        function = pkgutil.resolve_name(path)
        if type(function).__name__ == "nb_func":  # compiled: it has no signature to look at
            continue
        given = [None] * len([each for each in call.args if not isinstance(each, ast.Starred)])
        bind = inspect.signature(function).bind
        if len(given) < len(call.args) or any(each.arg is None for each in call.keywords) or not call.args + call.keywords:
            bind = inspect.signature(function).bind_partial
        bind(*given, **{each.arg: None for each in call.keywords if each.arg})


@pytest.mark.parametrize("call", ["patchfold.unfold(x, kernal=3)", "patchfold.unfold(x)", "patchfold.unfoldd(x, ..)"])
def test_a_call_in_the_text_that_fits_no_function_is_found(call, tmp_path, monkeypatch):
    assert sum(len(calls_of(page)) for page in PAGES.values()) > 60
    monkeypatch.setitem(PAGES, "page", tmp_path / "page.md")
    PAGES["page"].write_text(f"| `{call}` |", encoding="utf-8")
    with pytest.raises((AttributeError, TypeError)):
        test_calls_in_the_text_of_a_page_fit_their_functions("page")


NAMES = """
im2col | im2row | col2im | overlap-add | overlap_and_add | sliding_window_view | as_strided | view_as_windows
| view_as_blocks | block_reduce | F.unfold | torch.nn.functional.unfold | nn.Unfold | aten::im2col | Tensor.unfold | F.fold
| torch.nn.functional.fold | nn.Fold | aten::col2im | foldNd | unfoldNd | pixel_shuffle | PixelShuffle | pixel_unshuffle
| PixelUnshuffle | channel_shuffle | extract_patches | extract_image_patches | extract_volume_patches | ExtractImagePatches
| Col2Im | conv_general_dilated_patches | depth_to_space | DepthToSpace | space_to_depth | SpaceToDepth | DCR | CRD | reorg
| Focus | squeeze | space_to_batch | space_to_batch_nd | batch_to_space | batch_to_space_nd | extract_tensor_patches
| combine_tensor_patches | patchify | unpatchify | rearrange | window_partition | window_reverse | tiler
| sliding_window_inference | GridSampler | extract_patches_2d | reconstruct_from_patches_2d | tf.signal.frame
| librosa.util.frame | buffer | Hankel | delay embedding | numpy.add.at | scatter_add | random crops | extract_glimpse
| im2col(A, [m n], 'sliding') | im2col(A, [m n], 'distinct') | col2im(B, [m n], [mm nn], 'distinct')
| col2im(B, [m n], [mm nn], 'sliding') | blockproc | colfilt | nlfilter | mat2tiles | coverage | overlap count | weight map
| sub-pixel convolution | atrous | GEMM
"""


def index() -> list[tuple[str, str]]:
    """Returns the rows of the table under "What is it called here?"."""
    table = PAGE.read_text(encoding="utf-8").partition("## What is it called here?")[2]
    rows = re.findall(r"(?m)^\| (.+) \| (.+) \|$", table)
    return [row for row in rows if row[0] != "you know it as"]


@pytest.mark.parametrize("name", [name.strip() for name in NAMES.split("|")])
def test_every_name_that_users_search_for_is_in_the_index(name):
    assert any(re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", row) for known, here in index() for row in (known, here))


def test_the_index_names_functions_that_exist():
    assert len(index()) > 30
    public = {name for name in vars(patchfold) if callable(getattr(patchfold, name))}
    for known, here in index():
        code = " ".join(re.findall(r"`([^`]+)`", here))
        dotted = re.findall(r"patchfold\.(?!torch)(\w+)\.(\w+)", code)
        for module, function in dotted:
            assert hasattr(getattr(patchfold, module), function), known
        called = set(re.findall(r"(?<![\w.])([a-z]\w+)(?=\(|$| )", code)) & public
        assert called or dotted or "no sum" in here, known


def test_every_function_is_named_on_the_page():
    """Checks that the page names every function. Functions of a dialect may be on the page of operators instead."""
    spans = " ".join(re.findall(r"`([^`\n]+)`", PAGE.read_text(encoding="utf-8")))
    operators = re.findall(r"^### (.+)$", OPERATORS.read_text(encoding="utf-8"), re.MULTILINE)
    for name, function in FUNCTIONS.items():
        named = re.search(rf"(?<!\w){function.__name__}(?!\w)", spans)
        assert named or ("." in name and name in operators), name

# SPDX-License-Identifier: Apache-2.0
"""Runs the snippets of the documentation, and checks that docstrings are complete and the index has every name."""

import ast
import doctest
import importlib
import inspect
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
TILES = ROOT / "docs" / "python-tiles.md"
OPERATORS = ROOT / "docs" / "operators.md"
FRAMEWORKS = ROOT / "docs" / "frameworks.md"
GLOSSARY = ROOT / "docs" / "glossary.md"
EXPLAIN = ROOT / "docs" / "explain.md"
GALLERY = ROOT / "docs" / "gallery.md"
START = sorted((ROOT / "docs" / "start").glob("*.md"))
# The other package that a module or package of patchfold needs.
NEEDS = {
    "patchfold.dask": "dask",
    "patchfold.jax": "jax",
    "patchfold.models._disguises": "onnx",
    "patchfold.models._expand": "onnx",
    "patchfold.models._onnx": "onnx",
    "patchfold.models._onnx_nodes": "onnx",
    "patchfold.models._portable": "onnx",
    "patchfold.models._times": "onnx",
    "patchfold.models._rewriter": "onnx",
    "patchfold.onnx._node_tests": "onnx",
    "patchfold.onnx.backend": "onnx",
    "patchfold.onnxruntime._convert": "onnx",
    "patchfold.onnxruntime._disguises": "onnx",
    "patchfold.models._narrow": "onnx",
    "patchfold.monai": "torch",
    "patchfold.torch": "torch",
    "patchfold.torchio": "torchio",
}


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


@pytest.mark.parametrize("row", [row for row in ROWS if "reshape" not in row.theirs], ids=lambda row: row.theirs[:40])
def test_docstrings_name_the_calls_of_other_systems(row):
    """Checks that a docstring names each call of docs/porting.md that is one call of another system."""
    ours = row.ours[row.ours.index("patchfold.") :].partition("(")[0].removeprefix("patchfold.")
    assert row.theirs.partition("(")[0].rpartition(".")[2] in sections_of(getattr(patchfold, ours))["Elsewhere"]


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


def blocks(page: Path = PAGE) -> list[tuple[int, str, str]]:
    """Returns (line, words behind `python`, code) of every fenced Python block of the page."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"(?ms)^```python([^\n]*)\n(.*?)^```$", text)
    return [(text[: m.start(2)].count("\n") + 1, m.group(1).strip(), m.group(2)) for m in found]


def test_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    found = blocks(ROOT / "README.md")
    assert found
    for line, _, code in found:
        exec(compile("\n" * (line - 1) + code, "README.md", "exec"), {})
    assert "unfold" in capsys.readouterr().out


def run_page(*words: str, page: Path = PAGE) -> int:
    """Runs the blocks in order in one namespace. Blocks with words behind `python` run only if `words` has these words."""
    namespace: dict[str, Any] = {}
    count = 0
    for line, word, code in blocks(page):
        if word and word not in words:
            continue
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
        count += bool(word) if words else 1
    return count


@pytest.mark.parametrize(
    ("page", "least"),
    [(PAGE, 8), (TILES, 5), (GLOSSARY, 1), (EXPLAIN, 2)],
    ids=["python", "tiles", "glossary", "explain"],
)
def test_the_page_runs(page, least):
    assert {word for _, word, _ in blocks(page)} <= {"", "torch"}
    assert run_page(page=page) >= least


@pytest.mark.parametrize("page", [*START, GALLERY, ROOT / "docs" / "site" / "index.md"], ids=lambda page: page.stem)
def test_the_pages_to_start_with_run(page):
    assert run_page(page=page) >= (page.stem != "embed")


@pytest.mark.parametrize("page", [PAGE, TILES, GALLERY], ids=["python", "tiles", "gallery"])
def test_the_page_runs_with_torch(page):
    pytest.importorskip("torch")
    assert run_page("torch", page=page) >= 1


def test_the_page_of_models_shows_what_is_printed(capsys):
    pytest.importorskip("onnx")
    page = ROOT / "docs" / "models.md"
    assert run_page(page=page) == 1
    (shown,) = re.findall(r"(?ms)^```text\n(.*?)^```$", page.read_text(encoding="utf-8"))
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize("framework", ["jax", "tensorflow", "torch"])
def test_the_page_of_a_framework_runs(framework):
    pytest.importorskip(framework)
    assert run_page(framework, page=FRAMEWORKS) >= 1


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

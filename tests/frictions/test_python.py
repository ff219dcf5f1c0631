# SPDX-License-Identifier: Apache-2.0
"""What people who are new to the Python package type first, and what they got stuck on."""

import inspect
import pydoc
import re
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

import patchfold
import pytest


def run_python(*arguments: str, **options: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload,no-any-return]


# claim: python-m-patchfold
def test_python_m_patchfold_runs_the_command_line(tmp_path: Path) -> None:
    said = run_python("-m", "patchfold", "--version", cwd=tmp_path)
    assert said.returncode == 0 and patchfold.__version__ in said.stdout, said
    wrong = run_python("-m", "patchfold", "run", "unfold", "missing.npy", "--kernel_size", "3", "-o", "y.npy", cwd=tmp_path)
    assert wrong.returncode and "missing.npy" in wrong.stderr, wrong


NO_TORCH = "import sys; sys.modules['torch'] = None; import patchfold\n"


# claim: lazy-torch
def test_patchfold_torch_needs_no_import_of_its_own() -> None:
    pytest.importorskip("torch")
    program = (
        "import sys, patchfold\n"
        "assert 'torch' not in sys.modules and 'torch' in dir(patchfold)\n"
        "assert patchfold.torch is patchfold.torch and 'torch' in sys.modules\n"
        "from patchfold import torch; assert torch.unfold is patchfold.torch.unfold\n"
    )
    said = run_python("-c", program)
    assert said.returncode == 0, said.stderr


def test_without_torch_patchfold_torch_says_what_is_missing() -> None:
    said = run_python("-c", NO_TORCH + "assert not hasattr(patchfold, 'torch')\npatchfold.torch.unfold")
    assert said.stderr.endswith("AttributeError: patchfold.torch needs the package torch: pip install torch\n"), said.stderr
    other = run_python("-c", "import patchfold\npatchfold.unfol")
    assert "has no attribute 'unfol'. Did you mean: 'unfold'?" in other.stderr, other.stderr


def test_without_torch_help_and_star_work() -> None:
    program = (
        "import pydoc; text = pydoc.render_doc(patchfold); assert 'apply_tiled' in text\nfrom patchfold import *\nunfold"
    )
    said = run_python("-c", NO_TORCH + program)
    assert said.returncode == 0, said.stderr


def test_import_imports_nothing_but_numpy() -> None:
    """What is not imported takes no time."""
    program = (
        "import sys; before = set(sys.modules); import patchfold\n"
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before} - sys.stdlib_module_names))\n"
        "print(*{'asyncio', 'importlib.metadata', 'inspect', 'typing_extensions', 'unittest'} & {*sys.modules} - before)"
    )
    here, heavy = run_python("-c", "import numpy\n" + program).stdout.split("\n")[:2]
    assert here == "numpy patchfold" and heavy == ""


def public_functions() -> dict[str, Any]:
    found = {}
    for module in (patchfold, patchfold.keras, patchfold.onnx, patchfold.openvino, patchfold.tensorflow):
        names = [name for name in vars(module) if not name.startswith("_")]
        found.update({f"{module.__name__}.{name}": getattr(module, name) for name in names})
    return {name: value for name, value in found.items() if inspect.isfunction(value)}


@pytest.mark.parametrize("name", public_functions())
def test_help_begins_with_a_signature_that_one_can_read(name: str) -> None:
    function = public_functions()[name]
    signature = pydoc.render_doc(function, renderer=pydoc.plaintext).splitlines()[2]
    assert len(signature) < 620 and "Union" not in signature and "numpy.ndarray" not in signature, signature
    for parameter in inspect.signature(function).parameters.values():
        assert len(inspect.formatannotation(parameter.annotation)) < 60, parameter
    typing.get_type_hints(function)  # the names mean something where they stand


def test_the_signature_of_unfold_reads_as_it_is_typed() -> None:
    text = pydoc.render_doc(patchfold.unfold, renderer=pydoc.plaintext)
    assert "unfold(x: 'Array', kernel_size: 'IntOrInts', *, stride: 'IntOrInts' = 1" in text.replace(
        "(x: Array", "(x: 'Array'"
    )


def test_mypy_takes_right_calls_and_refuses_wrong_ones(tmp_path: Path) -> None:
    """Each line of typed_calls.py says what mypy must say of it; nothing, if nothing."""
    page = Path(__file__).with_name("typed_calls.py")
    api = pytest.importorskip("mypy.api")
    settings = tmp_path / "mypy.ini"
    settings.write_text("[mypy]\nstrict = true\n[mypy-torch.*]\nfollow_imports = skip\n", encoding="utf-8")
    out, err, _ = api.run(["--config-file", str(settings), "--cache-dir", str(tmp_path / "cache"), str(page)])
    said: dict[int, set[str]] = {}
    for line, kind, text in re.findall(r"(?m)^.*typed_calls.py:(\d+): (error|note): (.*)$", out):
        code = re.search(r"\[([a-z-]+)\]$", text)
        if kind == "error":
            said.setdefault(int(line), set()).add(code[1] if code else text)
        elif revealed := re.search(r'Revealed type is "(.*)"', text):
            said.setdefault(int(line), set()).add(re.sub(r"numpy\._typing\.[\w.\[\]]+|numpy\.|typing\.", "", revealed[1]))
    lines = page.read_text(encoding="utf-8").splitlines()
    expected = {n: {line.partition("  # mypy: ")[2]} for n, line in enumerate(lines, 1) if "  # mypy: " in line}
    assert expected and {line: texts for line, texts in said.items() if line not in expected} == {}, out + err
    wrong = {line: (said.get(line), texts) for line, texts in expected.items() if said.get(line) != texts}
    assert not wrong, (wrong, out)

# SPDX-License-Identifier: Apache-2.0
"""Tests of calls of the Python package that new users try first, and that once failed."""

import copy
import inspect
import pickle
import pydoc
import re
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

import numpy as np
import patchfold
import pytest


def run_python(*arguments: str, **options: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload,no-any-return]


def test_python_m_patchfold_runs_the_command_line(tmp_path: Path) -> None:
    said = run_python("-m", "patchfold", "--version", cwd=tmp_path)
    assert said.returncode == 0 and patchfold.__version__ in said.stdout, said
    wrong = run_python("-m", "patchfold", "run", "unfold", "missing.npy", "--kernel_size", "3", "-o", "y.npy", cwd=tmp_path)
    assert wrong.returncode and "missing.npy" in wrong.stderr, wrong


NO_TORCH = "import sys; sys.modules['torch'] = None; import patchfold\n"


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
    """Checks that importing the package imports NumPy and no module that is not needed."""
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
    parameters = inspect.signature(function).parameters
    assert len(signature) < 120 + 30 * len(parameters), signature  # names, short types and defaults
    assert "Union" not in signature and "numpy.ndarray" not in signature, signature
    for parameter in parameters.values():
        assert len(inspect.formatannotation(parameter.annotation)) < 60, parameter
    typing.get_type_hints(function)  # the names in annotations are defined in their module


def test_help_of_the_functions_for_torch_can_be_read() -> None:
    pytest.importorskip("torch")
    for function in (patchfold.torch.unfold, patchfold.torch.fold, patchfold.torch.pixel_shuffle):
        signature = pydoc.render_doc(function, renderer=pydoc.plaintext).splitlines()[2]
        assert len(signature) < 240 and "typing" not in signature and "collections" not in signature, signature


def test_the_signature_of_unfold_reads_as_it_is_typed() -> None:
    text = pydoc.render_doc(patchfold.unfold, renderer=pydoc.plaintext)
    # Line breaks and quotation marks differ between versions of Python.
    plain = re.sub(r"[\s']", "", text)
    assert "unfold(x:Array,kernel_size:IntOrInts,*,stride:IntOrInts=1" in plain


def test_mypy_takes_right_calls_and_refuses_wrong_ones(tmp_path: Path) -> None:
    """Compares mypy's messages with the comments of typed_calls.py. mypy must say nothing about lines without a comment."""
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
            sized = re.compile(r"numpy\.(?:signed)?(float|int)(?:ing|eger)\[[\w.]*_(\d+)Bit\]")
            shown = sized.sub(r"\1\2", revealed[1])
            said.setdefault(int(line), set()).add(shown.replace("numpy.", ""))
    lines = page.read_text(encoding="utf-8").splitlines()
    expected = {n: {line.partition("  # mypy: ")[2]} for n, line in enumerate(lines, 1) if "  # mypy: " in line}
    assert expected and {line: texts for line, texts in said.items() if line not in expected} == {}, out + err
    wrong = {line: (said.get(line), texts) for line, texts in expected.items() if said.get(line) != texts}
    assert not wrong, (wrong, out)


def plans() -> dict[str, tuple[patchfold.Plan, Any]]:
    """Returns {name: (plan, array that the plan takes)}."""
    image = np.random.default_rng(5).random((2, 3, 8, 9), np.float32)
    made: dict[str, tuple[str, Any, dict[str, Any]]] = {
        "lists": ("unfold", image, {"kernel_size": [3, 2], "padding": [[1, 0], [0, 1]], "value": 0.5, "order": "kernel"}),
        "arrays": ("unfold", image, {"kernel_size": np.array([3, 2])}),
        "transposed": ("space_to_depth", image[:, :, :, ::-1].transpose(0, 1, 3, 2), {"block": (3, 2)}),
        "strings": ("unfold", np.array([["a", "bc", "d"]]), {"kernel_size": (2,)}),
        "records": ("reorder", np.zeros((1, 6, 2), [("a", "u1"), ("b", ">f8")]), {"kernel_size": (3,)}),
        "big-endian": ("unfold", image.astype(">f8"), {"kernel_size": 2}),
        "nothing": ("unfold", image[:0], {"kernel_size": 2}),
        "dialect": ("onnx.DepthToSpace-11", np.ones((1, 8, 2, 2), np.int16), {"blocksize": 2, "mode": "CRD"}),
        "fold": ("fold", np.ones((1, 4, 9), np.int32), {"output_size": (4, 4), "kernel_size": 2}),
    }
    return {name: (patchfold.plan(op, x, **arguments), x) for name, (op, x, arguments) in made.items()}


@pytest.mark.parametrize("name", plans())
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plans_can_be_pickled(name: str, protocol: int) -> None:
    plan, x = plans()[name]
    again = pickle.loads(pickle.dumps(plan, protocol))
    assert repr(again) == repr(plan) and again.operator == plan.operator and again.output_shape == plan.output_shape
    assert again(x).tobytes() == plan(x).tobytes() and again(x).dtype == plan(x).dtype
    if name != "nothing":
        with pytest.raises(patchfold.InvalidValue):
            again(np.zeros((1, 1, 1, 1), x.dtype))
    assert copy.copy(plan) is plan and copy.deepcopy([plan])[0] is plan


def test_plans_with_an_output_can_be_pickled() -> None:
    x = np.ones((1, 1, 4, 4), np.float32)
    out = np.zeros((1, 9, 4), np.float32)[..., ::-1]
    again = pickle.loads(pickle.dumps(patchfold.plan("unfold", x, out=out, kernel_size=3)))
    with pytest.raises(patchfold.InvalidValue, match="out: is required"):
        again(x)
    assert again(x, out=out) is out and out.min() == 1
    with pytest.raises(patchfold.InvalidValue, match="byte strides of the plan"):
        again(x, out=out.copy())


def test_a_plan_keeps_its_arguments() -> None:
    """Checks that a plan does not depend on a list that the caller changes afterwards."""
    kernel = [3, 3]
    plan = patchfold.plan("unfold", np.ones((1, 1, 4, 4)), kernel_size=kernel)
    shown = repr(plan)
    kernel[:] = [1, 1]
    assert repr(plan) == shown and pickle.loads(pickle.dumps(plan)).output_shape == (1, 9, 4)


def test_a_plan_of_coverage_counts_in_its_own_type() -> None:
    arguments = {"output_size": (5,), "kernel_size": 3}
    for plan in (
        patchfold.plan("coverage", None, **arguments),
        pickle.loads(pickle.dumps(patchfold.plan("coverage", None, **arguments))),
    ):
        assert plan(None).dtype == np.float32 and plan(None).tolist() == [1, 2, 3, 2, 1]
        with pytest.raises(
            patchfold.InvalidType, match="must have the element type of the plan; given int32, expected float32"
        ):
            plan(None, out=np.zeros(5, np.int32))
    counts = np.zeros(5, np.int16)
    plan = pickle.loads(pickle.dumps(patchfold.plan("coverage", None, out=counts, **arguments)))
    assert "i16" in repr(plan) and plan(None, out=counts).tolist() == [1, 2, 3, 2, 1]


def test_plans_of_torch_tensors_can_be_pickled() -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(16).reshape(1, 1, 4, 4).bfloat16()
    plan = patchfold.plan("unfold", x, kernel_size=2)
    again = pickle.loads(pickle.dumps(plan))
    assert torch.equal(again(x), plan(x)) and again(x).dtype == torch.bfloat16


def test_other_processes_can_use_a_plan() -> None:
    plan = patchfold.plan("unfold", np.ones((1, 1, 4, 4)), kernel_size=3)
    program = (
        "import pickle, sys; import numpy as np; p = pickle.load(sys.stdin.buffer); print(p(np.ones((1, 1, 4, 4))).sum())"
    )
    said = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(plan), capture_output=True, check=False)
    assert said.stdout.strip() == b"36.0", said.stderr


def test_a_tracer_of_jax_in_another_function_is_told_where_to_go() -> None:
    jax = pytest.importorskip("jax")
    image = jax.numpy.ones((1, 1, 4, 4))
    with pytest.raises(patchfold.InvalidType, match=r"vmap: patchfold\.jax\.unfold, or jax\.pure_callback(\n|$)"):
        jax.jit(lambda x: patchfold.unfold(x, 3))(image)
    with pytest.raises(patchfold.InvalidType, match=r'vmap: patchfold\.jax\.run\("onnx\.SpaceToDepth-28", x, \.\.\), or'):
        jax.jit(lambda x: patchfold.onnx.space_to_depth(x, 2))(image)
    with pytest.raises(patchfold.InvalidType, match=r"inside jit, grad or vmap: jax\.pure_callback(\n|$)"):
        jax.jit(lambda x: patchfold.gather_patches(x, [(0, 0)], 3))(image)


def test_the_derivative_of_a_mean_is_not_that_of_a_sum() -> None:
    tf = pytest.importorskip("tensorflow")
    x = tf.Variable(tf.ones((1, 9, 4)))
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(patchfold.fold(x, (4, 4), 3, reduce="mean"))
    with pytest.raises(patchfold.InvalidValue, match="reduce: has no derivative for a mean"):
        tape.gradient(total, x)


def photograph() -> np.ndarray:
    """Returns a bright photograph in color with 8 bits."""
    rows, columns = np.mgrid[:60, :90]
    return np.stack([255 - rows, 200 + columns % 56, (3 * rows + 2 * columns) % 256]).astype(np.uint8)


def test_sklearns_patches_are_put_together_without_tiles() -> None:
    """Compares with scikit-learn's two functions, which cut patches of (rows, columns, channels) and put them together by
    their mean."""
    photo = photograph().transpose(1, 2, 0)[:20, :24].astype(np.float32)
    patches = np.lib.stride_tricks.sliding_window_view(photo, (8, 8), (0, 1)).reshape(13 * 17, 3, 8, 8)
    columns = patchfold.unfold(photo, (8, 8), layout="channels_last")
    assert np.array_equal(columns.reshape(patches.shape), patches)
    again = patchfold.reconstruct(columns, photo.shape, (8, 8), layout="channels_last")
    assert np.array_equal(again, photo)
    page = Path(__file__).parents[2] / "docs" / "python-tiles.md"
    (row,) = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| sklearn ")]
    assert "`reconstruct(columns, x.shape, size)`" in row and "Merger" not in row


CHW = np.zeros((16, 6, 6), np.float32)


def test_allow_empty_returns_no_columns():
    assert patchfold.unfold(CHW, (8, 8), allow_empty=True).shape == (16 * 64, 0)
    assert patchfold.unfold(CHW, (8, 6), positions="grid", allow_empty=True).shape == (16 * 48, 0, 1)
    assert patchfold.unfold_view(CHW, (8, 6), allow_empty=True).shape == (16, 8, 6, 0, 1)
    far = patchfold.unfold_view(CHW, (2**40, 1), dilation=2**18, allow_empty=True)
    assert far.shape == (16, 2**40, 1, 0, 6) and far.size == 0
    assert sum(part.columns.size for part in patchfold.iter_unfold(CHW, (8, 8), allow_empty=True)) == 0
    # Arrays without elements have empty results without allow_empty.
    assert patchfold.unfold(np.zeros((0, 3, 4, 4)), 2).shape == (0, 12, 9)
    assert patchfold.unfold(np.zeros((2, 0, 4, 4)), 2).shape == (2, 0, 9)
    assert patchfold.fold(np.zeros((2, 18, 0)), (2, 2), 3).shape == (2, 2, 2, 2)


def test_torch_unfold_takes_no_volume_for_a_batch():
    torch = pytest.importorskip("torch")
    import patchfold.torch as ours

    x = torch.zeros(1, 2, 6, 6)
    for call in (lambda: ours.unfold(x, (2, 2, 2)), lambda: ours.unfold(x, 2, stride=(1, 1, 1))):
        with pytest.raises(patchfold.InvalidValue) as caught:
            call()
        assert caught.value.argument == "input" and caught.value.expected == "rank 5"
    assert ours.unfold(x[0], 2).shape == (8, 25)
    assert ours.unfold(x[None], (1, 2, 2)).shape == (1, 4, 50)


@pytest.mark.parametrize("name", ["unfold", "unfold_view", "space_to_depth", "depth_to_space", "space_to_batch"])
def test_no_spatial_axes_are_refused_but_by_tensorflow(name):
    """Checks empty lists of spatial axes, which are mostly mistakes. Only TensorFlow's operators take them, as identity."""
    with pytest.raises(patchfold.InvalidValue) as caught:
        getattr(patchfold, name)(CHW[None], ())
    assert caught.value.argument in ("kernel_size", "block") and "empty list" in caught.value.given
    flat = np.arange(6).reshape(2, 3)
    assert np.array_equal(patchfold.tensorflow.space_to_batch_nd(flat, [], np.empty((0, 2), np.int32)), flat)

# SPDX-License-Identifier: Apache-2.0
"""Compares patchfold with torch on torch's own samples of its operators, and on its tests of nn.Fold and nn.Unfold.

torch 2.15 has OpInfos, without error inputs, for unfold and the pixel shuffles, but none for fold. fold runs on the
results of unfold's samples, and on the inputs of torch's tests of nn.Fold.
"""

import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="torch's test data imports it")

import patchfold  # noqa: E402
import patchfold.torch as ours  # noqa: E402
import torch.nn.functional as theirs  # noqa: E402

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal import common_nn
    from torch.testing._internal.common_methods_invocations import op_db

NAMES = {
    "nn.functional.fold": "fold",
    "nn.functional.unfold": "unfold",
    "nn.functional.pixel_shuffle": "pixel_shuffle",
    "nn.functional.pixel_unshuffle": "pixel_unshuffle",
}
INFOS = {NAMES[info.name]: info for info in op_db if info.name in NAMES}
HALVES = (torch.float16, torch.bfloat16)
CELLS = [(name, dtype) for name, info in INFOS.items() for dtype in sorted(info.supported_dtypes("cpu"), key=str)]


def check(name: str, input: Any, arguments: Any, options: Any) -> None:
    """Compares values and gradients bit for bit, except for sums of half types, which torch rounds at every step."""
    result = getattr(ours, name)(input, *arguments, **options)
    sums = name == "fold" and input.dtype in HALVES
    expected = getattr(theirs, name)(input.float() if sums else input, *arguments, **options).to(input.dtype)
    assert torch.equal(result, expected) and result.dtype == input.dtype
    if not (input.dtype.is_floating_point or input.dtype.is_complex) or input.dtype in HALVES:
        return
    pairs = []
    for functions in (ours, theirs):
        leaf = input.detach().clone().requires_grad_()
        result = getattr(functions, name)(leaf, *arguments, **options)
        pairs.append(torch.autograd.grad(result, leaf, result.detach() * 2 + 1)[0])
    assert torch.equal(*pairs)


def test_torch_still_has_the_samples() -> None:
    assert {"unfold", "pixel_shuffle", "pixel_unshuffle"} <= set(INFOS)
    assert len(CELLS) >= 7 + 12 + 12


@pytest.mark.parametrize(("name", "dtype"), CELLS, ids=[f"{name}-{dtype}" for name, dtype in CELLS])
def test_samples(name: str, dtype: Any, record_property: Any) -> None:
    count = folded = 0
    for sample in INFOS[name].reference_inputs("cpu", dtype):
        check(name, sample.input, sample.args, sample.kwargs)
        count += 1
        if name == "unfold":
            columns = theirs.unfold(sample.input, *sample.args, **sample.kwargs)
            check("fold", columns, (sample.input.shape[2:], *sample.args), sample.kwargs)
            folded += 1
    record_property("samples", count)
    record_property("folds", folded)
    assert count >= (163 if name == "unfold" else 5)


@pytest.mark.parametrize("name", INFOS)
def test_error_inputs(name: str, record_property: Any) -> None:
    """Checks that torch's error inputs raise errors in patchfold. Also checks that torch lists no error inputs today."""
    info = INFOS[name]
    count = 0
    if info.error_inputs_func is not None:
        for error in info.error_inputs("cpu"):
            sample = error.sample_input
            with pytest.raises(patchfold.Error):
                getattr(ours, name)(sample.input, *sample.args, **sample.kwargs)
            count += 1
    record_property("errors", count)
    assert (count == 0) == (info.error_inputs_func is None)


def module_cases() -> list[Any]:
    """Returns (name, module, input) of torch's tests of the modules."""
    cases = []
    later = getattr(common_nn, "get_new_module_tests", None)
    for test in [*common_nn.module_tests, *(later() if later else common_nn.new_module_tests)]:
        label = test.get("fullname") or test["module_name"]
        if not label.startswith(("Fold", "Unfold", "PixelShuffle", "PixelUnshuffle")):
            continue
        constructor = test.get("constructor") or getattr(torch.nn, test["module_name"])
        module = constructor(*test.get("constructor_args", ()))
        input = test["input_fn"]() if "input_fn" in test else torch.randn(test["input_size"])
        cases.append(pytest.param(module, input, id=label))
    return cases


MODULE_CASES = module_cases()


def test_torch_still_has_tests_of_the_modules() -> None:
    assert len(MODULE_CASES) >= 8


@pytest.mark.parametrize(("module", "input"), MODULE_CASES)
def test_module_tests(module: Any, input: Any) -> None:
    expected = module(input)
    own = getattr(ours, type(module).__name__)(*(getattr(module, name) for name in module.__constants__))
    assert repr(own) == repr(module) and torch.equal(own(input), expected)
    with ours.install():
        assert torch.equal(module(input), expected)
    assert torch.autograd.gradcheck(own, input.double().requires_grad_())

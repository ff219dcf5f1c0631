# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.torch.install(), which replaces torch's functions, and of patchfold.torch's own modules."""

import copy
import io
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import patchfold  # noqa: E402
import patchfold.torch as ours  # noqa: E402
from test_torch_dispatch import Recorded  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

NAMES = ("fold", "unfold", "pixel_shuffle", "pixel_unshuffle")
TORCHS = {name: getattr(functional, name) for name in NAMES}


def runs_on_patchfold(call: Callable[[], Any]) -> bool:
    with Recorded() as recorded:
        call()
    return any(name.startswith("patchfold.") for name in recorded.names)


MODULES: list[tuple[Any, tuple[int, ...]]] = [
    (nn.Fold((4, 5), 2, stride=1), (2, 12, 12)),
    (nn.Unfold((2, 3), padding=1), (2, 5, 3, 4)),
    (nn.PixelShuffle(3), (1, 9, 4, 4)),
    (nn.PixelUnshuffle(2), (1, 2, 4, 6)),
]


@pytest.mark.parametrize(("module", "sizes"), MODULES, ids=[type(module).__name__ for module, _ in MODULES])
def test_torchs_modules_run_on_patchfold_while_installed(module: Any, sizes: tuple[int, ...]) -> None:
    input = torch.randn(sizes)
    expected = module(input)
    assert not runs_on_patchfold(lambda: module(input))
    with ours.install():
        assert runs_on_patchfold(lambda: module(input))
        assert torch.equal(module(input), expected)
        leaf = input.clone().requires_grad_()
        module(leaf).sum().backward()
        assert leaf.grad.shape == leaf.shape
    assert not runs_on_patchfold(lambda: module(input))


def test_functions_come_back_in_any_order_of_removal() -> None:
    first, second = ours.install(), ours.install()
    assert functional.fold is not TORCHS["fold"]
    first.remove()
    first.remove()
    assert functional.fold is not TORCHS["fold"]
    second.remove()
    assert all(getattr(functional, name) is TORCHS[name] for name in NAMES)
    with pytest.raises(KeyError), ours.install():
        raise KeyError
    assert all(getattr(functional, name) is TORCHS[name] for name in NAMES)


def test_what_another_one_put_there_stays() -> None:
    def other(*arguments: Any) -> Any:
        raise AssertionError

    installation = ours.install()
    try:
        functional.fold = other
        installation.remove()
        assert functional.fold is other and functional.unfold is TORCHS["unfold"]
    finally:
        functional.fold = TORCHS["fold"]


def test_names_and_documentation_are_torchs() -> None:
    with ours.install():
        assert functional.unfold.__name__ == "unfold" and functional.unfold.__doc__ == TORCHS["unfold"].__doc__


def test_more_is_accepted_than_before() -> None:
    with ours.install():
        assert nn.Unfold((2, 2, 2))(torch.rand(1, 2, 3, 3, 3)).shape == (1, 16, 8)
        assert nn.Fold(3, 2)(torch.ones(4, 4, dtype=torch.int16)).dtype == torch.int16
        assert nn.Unfold((3,))(torch.rand(1, 2, 8, device="meta")).shape == (1, 6, 6)
        assert functional.pixel_shuffle(input=torch.rand(4, 1, 1), upscale_factor=2).shape == (1, 2, 2)


@pytest.mark.filterwarnings("ignore:.*quantized:UserWarning")
def test_what_patchfold_cannot_read_goes_to_torch() -> None:
    with ours.install():
        quantized = torch.quantize_per_tensor(torch.rand(1, 4, 2, 2), 0.1, 0, torch.quint8)
        assert functional.pixel_shuffle(quantized, 2).is_quantized
        with pytest.raises(NotImplementedError):
            functional.fold(torch.rand(4, 4).to_sparse(), 3, 2)
        with pytest.raises(TypeError):
            functional.unfold([[1.0]], 2)
        with torch._subclasses.FakeTensorMode():
            assert functional.pixel_shuffle(torch.empty(4, 2, 2, device="cuda"), 2).device.type == "cuda"


class Plain(torch.Tensor):  # type: ignore[misc, name-defined]
    """A subclass that changes nothing."""


class Overriding(torch.Tensor):  # type: ignore[misc, name-defined]
    """A subclass that overrides torch's function only."""

    seen: list[Any] = []

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.seen.append(func)
        return super().__torch_function__(func, types, args, kwargs or {})


def test_subclasses() -> None:
    image = torch.rand(1, 1, 4, 4)
    with ours.install():
        result = functional.unfold(image.as_subclass(Plain), 2)
        assert type(result) is Plain and torch.equal(result.as_subclass(torch.Tensor), TORCHS["unfold"](image, 2))
        Overriding.seen.clear()
        functional.unfold(image.as_subclass(Overriding), 2)
        assert TORCHS["unfold"] in Overriding.seen
        assert runs_on_patchfold(lambda: functional.unfold(nn.Parameter(image), 2))
        with torch.device("cpu"):
            assert runs_on_patchfold(lambda: functional.unfold(image, 2))
    assert type(ours.unfold(image.as_subclass(Plain), 2)) is Plain


@pytest.mark.parametrize("backend", ["aot_eager"])
def test_compiled_modules(backend: str) -> None:
    torch._dynamo.reset()
    model = nn.Sequential(nn.Unfold(2), nn.Fold((4, 5), 2), nn.PixelUnshuffle(1))
    input = torch.rand(2, 3, 4, 5)
    expected = model(input)
    with ours.install():
        targets: list[str] = []

        def record(graph: Any, inputs: Any) -> Any:
            targets.extend(str(node.target) for node in graph.graph.nodes)
            return graph

        assert torch.equal(torch.compile(model, fullgraph=True, backend=record)(input), expected)
        assert sum("patchfold" in target for target in targets) == 3
        torch._dynamo.reset()
        assert torch.equal(torch.compile(model, fullgraph=True, backend=backend)(input), expected)
    torch._dynamo.reset()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_torchscript_still_compiles_torchs_modules() -> None:
    input = torch.rand(2, 3, 4, 5)
    model = nn.Sequential(nn.Unfold(2), nn.Fold((4, 5), 2))
    with ours.install():
        scripted = torch.jit.script(model)
    assert torch.equal(scripted(input), model(input))


def test_onnx_export_sees_torchs_operators() -> None:
    pytest.importorskip("onnxscript", reason="torch exports to ONNX through it")
    model = nn.Sequential(nn.Unfold(2), nn.Fold((4, 5), 2)).eval()
    with ours.install():
        program = torch.onnx.export(model, (torch.rand(2, 3, 4, 5),), dynamo=True, verbose=False)
    assert program is not None and all("patchfold" not in node.domain for node in program.model.graph)


OWN_MODULES: list[tuple[Any, Any, tuple[int, ...]]] = [
    (nn.Fold((4, 5), (2, 2)), ours.Fold((4, 5), (2, 2)), (2, 12, 12)),
    (nn.Unfold(2, 1, 1, 2), ours.Unfold(2, 1, 1, 2), (2, 5, 3, 4)),
    (nn.PixelShuffle(3), ours.PixelShuffle(3), (1, 9, 4, 4)),
    (nn.PixelUnshuffle(2), ours.PixelUnshuffle(2), (1, 2, 4, 6)),
]


@pytest.mark.parametrize(("theirs", "own", "sizes"), OWN_MODULES, ids=[type(own).__name__ for _, own, _ in OWN_MODULES])
def test_modules(theirs: Any, own: Any, sizes: tuple[int, ...]) -> None:
    input = torch.randn(sizes)
    assert isinstance(own, type(theirs)) and repr(own) == repr(theirs)
    assert own.state_dict() == theirs.state_dict() and own.__dict__.keys() == theirs.__dict__.keys()
    assert torch.equal(own(input), theirs(input))
    assert runs_on_patchfold(lambda: own(input))
    assert torch.equal(copy.deepcopy(own)(input), pickle.loads(pickle.dumps(own))(input))
    buffer = io.BytesIO()
    torch.save(own, buffer)
    buffer.seek(0)
    assert torch.equal(torch.load(buffer, weights_only=False)(input), theirs(input))


def test_uninstall_removes_installations_without_a_handle() -> None:
    theirs = torch.nn.functional.unfold
    ours.install()
    ours.install()
    assert torch.nn.functional.unfold is not theirs
    ours.uninstall()
    assert torch.nn.functional.unfold is theirs
    ours.uninstall()


# Calls that torch refuses, and the class of torch's own error.
REFUSED: dict[str, tuple[Callable[[], Any], type[Exception]]] = {
    "kernel too large": (lambda: functional.unfold(torch.ones(1, 1, 4, 4), 5), RuntimeError),
    "rank": (lambda: functional.unfold(torch.ones(1, 1, 1, 4, 4), 2), RuntimeError),
    "rank in a module": (lambda: nn.Fold(4, 2)(torch.ones(4)), RuntimeError),
    "positions": (lambda: functional.fold(torch.ones(1, 4, 8), 4, 2), RuntimeError),
    "kernel of 0": (lambda: functional.fold(torch.ones(1, 4, 9), 4, 0), RuntimeError),
    "negative padding": (lambda: functional.unfold(torch.ones(1, 1, 4, 4), 2, padding=-1), RuntimeError),
    "channels": (lambda: functional.pixel_shuffle(torch.ones(1, 3, 2, 2), 2), RuntimeError),
    "extents": (lambda: functional.pixel_unshuffle(torch.ones(1, 3, 3, 2), 2), RuntimeError),
    "gradient": (lambda: functional.unfold(torch.ones(1, 1, 4, 4).requires_grad_(), 5), RuntimeError),
    "type of an element": (lambda: functional.fold(torch.ones(1, 4, 9).to(torch.float8_e5m2), 4, 2), RuntimeError),
    "type of an argument": (lambda: functional.unfold(torch.ones(1, 1, 4, 4), "2"), TypeError),
    "type of a factor": (lambda: functional.pixel_shuffle(torch.ones(1, 4, 2, 2), 2.5), TypeError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors_are_those_of_torch_and_of_patchfold(name: str) -> None:
    call, kind = REFUSED[name]
    with pytest.raises(kind):
        call()
    with ours.install(), pytest.raises(kind) as caught:
        call()
    error = caught.value
    assert isinstance(error, patchfold.Error) and isinstance(error, (patchfold.InvalidValue, patchfold.InvalidType))
    assert isinstance(error, RuntimeError) == (kind is RuntimeError)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error)


def test_torchs_number_of_threads_is_not_that_of_patchfold() -> None:
    count = "import os, torch, patchfold; torch.set_num_threads(1); print(patchfold.get_num_threads())"
    told = subprocess.run([sys.executable, "-c", count], env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True)
    assert int(told.stdout) == patchfold.get_num_threads()

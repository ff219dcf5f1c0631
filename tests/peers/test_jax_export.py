# SPDX-License-Identifier: Apache-2.0
"""jax.export of functions with patchfold.jax: programs that another process runs, with an open batch."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import patchfold
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
import patchfold.jax as pj  # noqa: E402
from jax import export  # noqa: E402

ALLOWED = [export.DisabledSafetyCheck.custom_call("patchfold")]


def exported(function: Any, shape: str, **options: Any) -> Any:
    given = jax.ShapeDtypeStruct(export.symbolic_shape(shape), jnp.float32)
    return export.export(jax.jit(function), disabled_checks=ALLOWED, **options)(given)


def data(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).random(shape, np.float32)


# (function of patchfold.jax, the same for NumPy, open shape, extents of one element of the batch)
CALLS: dict[str, tuple[Any, Any, str, tuple[int, ...]]] = {
    "unfold": (
        lambda x: pj.unfold(x, 3, padding=1),
        lambda x: patchfold.unfold(x, 3, padding=1),
        "b, 3, 16, 16",
        (3, 16, 16),
    ),
    "two axes": (
        lambda x: pj.unfold(x, (3, 3)),
        lambda x: patchfold.unfold(x, (3, 3)),
        "b, 2 * b, 3, 5, 5",
        (None, 3, 5, 5),  # type: ignore[dict-item]
    ),
    "reflect": (
        lambda x: pj.unfold(x, 3, padding=1, padding_mode="reflect"),
        lambda x: patchfold.unfold(x, 3, padding=1, padding_mode="reflect"),
        "b, 3, 8, 8",
        (3, 8, 8),
    ),
    "fold": (lambda x: pj.fold(x, (4, 5), 2), lambda x: patchfold.fold(x, (4, 5), 2), "b, 8, 12", (8, 12)),
    "space_to_depth": (
        lambda x: pj.space_to_depth(x, 2),
        lambda x: patchfold.space_to_depth(x, 2),
        "b, 3, 4, 4",
        (3, 4, 4),
    ),
    "copy": (pj.copy, patchfold.copy, "b, 3", (3,)),
    "vmap": (
        jax.vmap(lambda one: pj.unfold(one, (2, 2))),
        lambda x: patchfold.unfold(x, (2, 2)),
        "b, 3, 4, 4",
        (3, 4, 4),
    ),
    "gradient": (
        jax.grad(lambda x: (pj.unfold(x, 3) ** 2).sum()),
        lambda x: patchfold.fold(2 * patchfold.unfold(x, 3), (6, 6), 3),
        "b, 3, 6, 6",
        (3, 6, 6),
    ),
    "coverage": (
        lambda x: pj.fold(x, (4, 5), 2) / pj.coverage((4, 5), 2),
        lambda x: patchfold.fold(x, (4, 5), 2) / patchfold.coverage((4, 5), 2),
        "b, 8, 12",
        (8, 12),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_open_batch(name: str) -> None:
    ours, neutral, shape, rest = CALLS[name]
    program = exported(ours, shape)
    for batch in (1, 3, 8):
        x = data(batch, *(2 * batch if size is None else size for size in rest))
        np.testing.assert_array_equal(program.call(x), neutral(x), strict=True)


def test_a_program_runs_in_another_process(tmp_path: Path) -> None:
    pytest.importorskip("flatbuffers", reason="JAX writes programs with it")
    path = tmp_path / "program"
    path.write_bytes(exported(lambda x: pj.unfold(x, 3), "b, 3, 16, 16").serialize())
    x = data(5, 3, 16, 16)
    np.save(tmp_path / "x.npy", x)
    program = (
        "import sys, numpy as np, patchfold.jax; from jax import export; from pathlib import Path;"
        "folder = Path(sys.argv[1]);"
        "run = export.deserialize(bytearray((folder / 'program').read_bytes())).call;"
        "np.save(folder / 'y.npy', run(np.load(folder / 'x.npy')))"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path], env={**os.environ, "JAX_PLATFORMS": "cpu"}, check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), patchfold.unfold(x, 3), strict=True)


def test_derivatives_of_a_program() -> None:
    program = exported(lambda x: pj.unfold(x, 3), "b, 3, 6, 6")
    x = data(4, 3, 6, 6)
    gradient = jax.grad(lambda x: (program.call(x) ** 2).sum())(x)
    np.testing.assert_array_equal(gradient, patchfold.fold(2 * patchfold.unfold(x, 3), (6, 6), 3), strict=True)


@pytest.mark.parametrize(
    ("call", "shape", "words"),
    [
        (lambda x: pj.unfold(x, 3), "8, 3, h, w", "an open extent counts as 1 here: only a batch that"),
        (
            lambda x: pj.unfold(x, (1, 1)),
            "8, 3, h, 4",
            "unfold: x: may be open only along a batch that the result has; given (8, 3, h, 4)",
        ),
        (
            lambda x: pj.space_to_batch(x, 2),
            "b, 3, 4, 4",
            "x: may be open only along a batch that the result has; given (b, 3, 4, 4)",
        ),
        (lambda x: pj.batch_to_space(x, 2), "b, 3, 4, 4", "an open extent counts as 1 here: only a batch that"),
    ],
)
def test_other_open_extents_are_refused(call: Any, shape: str, words: str) -> None:
    with pytest.raises(patchfold.InvalidValue) as caught:
        exported(call, shape)
    assert words in str(caught.value), str(caught.value)


@pytest.mark.parametrize("platforms", [["cuda"], ["tpu"], ["cpu", "cuda"]])
def test_other_platforms_are_refused(platforms: list[str]) -> None:
    with pytest.raises(patchfold.InvalidValue) as caught:
        exported(lambda x: pj.unfold(x, 3), "b, 3, 16, 16", platforms=platforms)
    assert str(caught.value) == (
        "jax.export: platforms: cannot be exported for this platform, where patchfold calls Python; "
        f"given {', '.join(platforms)}, expected platforms=['cpu']"
    )

# SPDX-License-Identifier: Apache-2.0
"""Checks that no call, right or wrong, keeps a reference or a block of memory, by many calls of every function."""

import gc
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import patchfold
import pytest
from calls import HERE, Foreign, example, function_of, right_calls
from test_errors import NAMES, ROWS, SHAPED
from test_errors import X as PLACE
from test_tiling_errors import NAMES as TILE_NAMES
from test_tiling_errors import TABLE

X = np.arange(2 * 3 * 8 * 8, dtype=np.float32).reshape(2, 3, 8, 8)
TILING = patchfold.Tiling(X.shape, (4, 4), overlap=1)


def merged(**options: Any) -> Any:
    with patchfold.Merger(TILING, **options) as merger:
        for i, tile in enumerate(TILING.split(X)):
            merger.add(i, tile)
    return merger.finish()


def abandoned() -> None:
    merger = patchfold.Merger(TILING)
    merger.add(5, TILING.cut(X, 5))
    merger.close()


def tables() -> list[Callable[[], Any]]:
    """Returns calls of every operator: by its function, by its name and by a plan."""
    found: list[Callable[[], Any]] = []
    for spec in HERE:
        data, given = example(spec)
        function = function_of(spec)
        out = function(*data, **given)
        found += [partial(function, *data, **arguments) for arguments in right_calls(spec)]
        found += [partial(function, *data, **given, out=out)]
        shape = data[0].shape if data else ()
        plan = patchfold.plan(spec.name, *(data or [None]), **given, **({} if data else {"out": out}))
        found += [partial(plan, *(data or (None,)), out=out), partial(repr, plan)]
        found += [
            partial(patchfold.output_shape, spec.name, shape, **given),
            partial(patchfold.explain, spec.name, shape, **given),
        ]
    return found


RIGHT: list[Callable[[], Any]] = [
    *tables(),
    lambda: patchfold.unfold(Foreign(X), 3),
    lambda: patchfold.unfold_view(X, 3).sum(),
    lambda: patchfold.space_to_depth_view(X, 2).sum(),
    lambda: list(patchfold.iter_unfold(X, 3, max_bytes=10**4)),
    lambda: patchfold.gather_patches(X, [(0, 0), (1, 1)], 3),
    lambda: patchfold.apply_tiled(np.sqrt, X, (4, 4), overlap=1, progress=False),
    lambda: patchfold.apply_tiled(np.sqrt, X, (4, 4), overlap=1, progress=False, batch=3, out=np.empty_like(X)),
    merged,
    lambda: merged(reduce="max", copy=True),
    lambda: merged(out=lambda rows, band: None, window=[np.ones(4), np.ones(4)]),
    abandoned,
    lambda: patchfold.Tiling.from_json(TILING.to_json()),
    lambda: (TILING.coverage(), TILING.bytes(), repr(TILING), list(TILING)),
    lambda: patchfold.set_num_threads(patchfold.get_num_threads()),
]


def wrong() -> list[Callable[[], Any]]:
    found: list[Callable[[], Any]] = [partial(eval, compile(call, "call", "eval"), dict(NAMES)) for call, _ in SHAPED]
    found += [partial(eval, compile(call, "call", "eval"), dict(TILE_NAMES)) for call, _ in TABLE]
    for row in ROWS:
        data, arguments = example(row.spec)
        data = data if row.data and row.data[0] is PLACE else row.data
        given = {name: value for name, value in {**arguments, **row.change}.items() if value is not ...}
        found.append(partial(function_of(row.spec), *data, **given))
    return found


def quietly(call: Callable[[], Any]) -> None:
    try:
        call()
    except (patchfold.Error, MemoryError, TypeError):
        pass


def blocks_kept(call: Callable[[], Any], times: int, *, collect: bool) -> int:
    before = blocks(collect=collect)
    for _ in range(times):
        quietly(call)
    return blocks(collect=collect) - before


def blocks(*, collect: bool) -> int:
    if collect:
        gc.collect()
    return sys.getallocatedblocks()


@pytest.fixture
def few_objects():
    """Keeps the objects of other tests out of the garbage collector, which would take a second for them each time."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("few_objects")
@pytest.mark.parametrize("calls", [RIGHT, wrong()], ids=["right", "wrong"])
def test_no_blocks_are_kept(calls):
    """Repeats calls until they leave few new blocks of memory, since caches are filled at first. A leak would show in every
    repetition."""
    times = 60
    for number, call in enumerate(calls):
        assert any(blocks_kept(call, times, collect=i > 2) < times // 10 for i in range(30)), f"call {number} of the list"


@pytest.mark.usefixtures("few_objects")
def test_a_kept_block_is_seen():
    kept: list[object] = []
    with pytest.raises(AssertionError):
        test_no_blocks_are_kept([lambda: kept.append(object())])


ARGUMENTS: list[tuple[str, Callable[..., Any]]] = [
    ("x", lambda x: patchfold.unfold(x, 3)),
    ("x, wrong", lambda x: patchfold.unfold(x, 0)),
    ("x, planned", lambda x: patchfold.plan("unfold", x, kernel_size=3)),
    ("x in another type", lambda x: patchfold.unfold(x, 3, out=np.empty((2, 27, 36), int))),
    ("out", lambda x: patchfold.space_to_depth(np.zeros_like(x), 1, out=x)),
    ("out, wrong", lambda x: patchfold.unfold(np.zeros_like(x), 3, out=x)),
    ("out, shared", lambda x: patchfold.space_to_depth(x, 1, out=x)),
    ("view", lambda x: patchfold.unfold_view(x, 3)),
    ("chunks", lambda x: next(patchfold.iter_unfold(x, 3, max_bytes=10**4))),
    ("gathered", lambda x: patchfold.gather_patches(x, [(0, 0)], 3)),
    ("gathered, wrong", lambda x: patchfold.gather_patches(x, [(0, 9)], 3)),
    ("as list", lambda x: patchfold.unfold(X, x)),
    ("as number", lambda x: patchfold.unfold(X, 3, padding=1, value=x)),
    ("tiles", lambda x: patchfold.apply_tiled(lambda tile: tile, x, (4, 4), overlap=1, progress=False)),
    ("tiles, raising", lambda x: patchfold.apply_tiled(len, x, (4, 4), overlap=1, progress=False, batch=2)),
    ("tile", lambda x: patchfold.Merger(patchfold.Tiling((2, 3, 8, 8), (8, 8), overlap=0)).add(0, x)),
    ("tile, wrong", lambda x: patchfold.Merger(TILING).add(0, x)),
    ("tile, waiting", lambda x: patchfold.Merger(patchfold.Tiling((2, 3, 16, 8), (8, 8), overlap=0)).add(1, x)),
    ("merged into", lambda x: merged(out=x)),
    ("window", lambda x: patchfold.Merger(patchfold.Tiling(x.shape, x.shape, overlap=0), window=x)),
]


@pytest.mark.parametrize("call", [call for _, call in ARGUMENTS], ids=[name for name, _ in ARGUMENTS])
def test_no_reference_is_kept(call):
    x = X.copy()
    quietly(lambda: call(x))
    gc.collect()
    before = sys.getrefcount(x)
    for _ in range(300):
        quietly(lambda: call(x))
    gc.collect()
    assert sys.getrefcount(x) == before == 2


def test_a_foreign_array_is_let_go():
    released = []

    class Watched(Foreign):
        def __del__(self) -> None:
            released.append(1)

    for size in (3, 0) * 50:
        quietly(lambda size=size: patchfold.unfold(Watched(X), size))
    gc.collect()
    assert len(released) == 100

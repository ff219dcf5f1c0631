# SPDX-License-Identifier: Apache-2.0
"""Calls without mistakes, with the results that they must return."""

import copy
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import calls
import formulas
import numpy as np
import patchfold
import values
from choices import Choices


@dataclass
class Call:
    """A call: function(**arguments) must return expected(). With `writes`, an error must leave `out` unchanged."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]
    expected: Callable[[], Any]
    writes: bool = True
    extra: tuple[str, ...] = field(default=())  # names of further arguments that the function takes too
    right: bool = True


FUNCTIONS = {spec.name.partition("-")[0]: calls.function_of(spec) for spec in calls.HERE}
SPECS = {spec.name.partition("-")[0]: spec for spec in calls.HERE}


def formed(choices: Choices, array: Any) -> Any:
    """Returns the array's elements in a random layout, or the array itself if that layout cannot hold them."""
    form = choices.pick(values.LAYOUTS)
    try:
        other = form(array)
    except (IndexError, TypeError, ValueError):
        return array
    return other if np.array_equal(np.asarray(other, array.dtype), array) else array


def out_of(choices: Choices, result: Any) -> Any:
    """Returns memory for a result, in a random layout that can be written to."""
    room = np.full(result.shape, 77, result.dtype)
    if choices.chance(2):
        room = np.moveaxis(np.full(result.shape[::-1], 77, result.dtype), range(room.ndim), range(room.ndim)[::-1])
    return room


def table_call(choices: Choices) -> Call:
    """Returns a call from the tests with another element type and layout: the function itself, run() or a plan."""
    name = choices.pick(list(FUNCTIONS))
    data, _ = calls.example(SPECS[name])
    x = data[0] if data else None
    given = copy.deepcopy(choices.pick(calls.right_calls(SPECS[name])[:256]))
    base = FUNCTIONS[name](*data, **given)
    dtype = choices.pick(values.NUMBERS if SPECS[name].sums else [d for d in values.NUMBERS if d.kind in "if"])
    if dtype.kind in "?biuf" and dtype.itemsize == 1 or dtype.kind == "u":  # these cannot hold -7, or sums above 127
        dtype = np.dtype("i4")
    arguments = dict(given)
    if x is not None:
        x = plain = x.astype(dtype)
        if given.get("reduce") == "mean":  # integers round a mean, so the expected one is computed in this element type
            base = FUNCTIONS[name](x, *data[1:], **given)
        x = formed(choices, x)
        x = plain if (SPECS[name].sums or "value" in given) and not x.dtype.isnative else x
        arguments = {_data_name(name): x} | arguments
        dtype = np.ndarray.dtype.__get__(x)
    else:
        dtype = base.dtype
    expected = base.astype(dtype)
    if choices.chance(2):
        arguments["out"] = out_of(choices, expected)
    form = choices.number(4)
    if form == 0:
        return Call(name, FUNCTIONS[name], arguments, lambda: expected, extra=("out",))
    arguments = {"op": SPECS[name].name, "x": x} | given
    if form == 1:
        return Call("run", patchfold.run, arguments, lambda: base.astype(np.float32) if x is None else expected)
    if form == 2:
        return Call("plan", _planned, arguments | {"again": x}, lambda: base.astype(np.float32) if x is None else expected)
    shape = (1,) if x is None else x.shape
    if isinstance(x, values.hostile.Subclass):
        shape = np.ndarray.shape.__get__(x)
    arguments = {"op": SPECS[name].name, "shape": shape} | given
    if choices.chance(2):
        return Call("output_shape", patchfold.output_shape, arguments, lambda: expected.shape)
    return Call("explain", patchfold.explain, arguments | {"dtype": "float32"}, lambda: None)


def _data_name(name: str) -> str:
    return next(iter(inspect.signature(FUNCTIONS[name]).parameters))


def _planned(op: Any, x: Any, again: Any, out: Any = None, later: Any = None, **given: Any) -> Any:
    plan = patchfold.plan(op, x, out=out, **given)
    repr(plan), plan.describe(), plan.operator, plan.input_shape, plan.output_shape
    return plan(again, out=later if out is None else out) if x is not None or out is not None else _counted(plan)


def _counted(plan: Any) -> Any:
    return plan(None, out=np.empty(plan.output_shape, np.float32))


def _window(choices: Choices, rank: int) -> dict[str, Any]:
    return {
        "kernel_size": choices.several(rank, 1, 3),
        "stride": choices.several(rank, 1, 3),
        "dilation": choices.several(rank, 0, 2),
        "padding": [(choices.between(-1, 2), choices.between(-1, 2)) for _ in range(rank)],
    }


def _formula_arguments(window: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(window[name] for name in ("kernel_size", "stride", "dilation", "padding"))


def unfold_call(choices: Choices) -> Call:
    rank = choices.between(1, 3)
    window = _window(choices, rank)
    layout, order = choices.pick(["channels_first", "channels_last"]), choices.pick(["channel", "kernel"])
    columns = choices.pick(["flat", "grid"])
    form = choices.number(3)
    if form:
        layout, columns = "channels_first", "flat"
    extents = choices.several(rank, 2, 7)
    shape = (2, 3, *extents) if layout == "channels_first" else (2, *extents, 3)
    x = values.plain_array(shape, choices.pick(values.NUMBERS[:11]))
    given = {"layout": layout, "order": order, "positions": columns}
    expected = functools.partial(formulas.unfold, x, *_formula_arguments(window), **given)
    arguments = {"x": formed(choices, x)} | window | {"allow_empty": True}
    if form == 0:
        return Call("unfold", patchfold.unfold, arguments | given, expected, extra=("out", "padding_mode", "value"))
    if form == 1:
        arguments |= {"order": order, "max_bytes": choices.pick([10**4, 10**6, 2**70])}
        return Call("iter_unfold", _chunks, arguments, expected, extra=("padding_mode", "value"))
    window["padding"] = [(0, 0)] * rank
    del arguments["padding"]
    if 0 in formulas.position_counts(extents, *_formula_arguments(window)):
        arguments["kernel_size"] = window["kernel_size"] = (1,) * rank
    expected = functools.partial(formulas.unfold, x, *_formula_arguments(window), **given | {"order": "channel"})
    return Call("unfold_view", _viewed, arguments, expected, extra=("layout",))


def _chunks(**arguments: Any) -> Any:
    chunks = []
    for chunk in patchfold.iter_unfold(**arguments):
        chunks.append(chunk)
        if len(chunks) == 300 or chunk.columns.nbytes > 10**6:
            return None
    total = chunks[-1].batch.stop, chunks[-1].columns.shape[1], chunks[-1].positions.stop
    result = np.empty(total, chunks[0].columns.dtype)
    for batch, positions, part in chunks:
        result[batch, :, positions] = part
    return result


def _viewed(x: Any, **arguments: Any) -> Any:
    view = patchfold.unfold_view(x, **arguments)
    if issubclass(type(x), np.ndarray) and np.ndarray.size.__get__(x) and view.size < 10**6:
        return _joined(view, (np.prod(view.shape[:1]), -1, np.prod(view.shape[2 + (view.ndim - 2) // 2 :])))
    return view


def _joined(view: Any, shape: tuple[Any, ...]) -> Any:
    """Returns the view in the shape of unfold's result, or the view itself if its elements do not fit this shape, as after a
    change of the call."""
    try:
        return np.asarray(view).reshape(shape)
    except ValueError:
        return view


def fold_call(choices: Choices) -> Call:
    rank = choices.between(1, 3)
    window, size = _window(choices, rank), choices.several(rank, 1, 6)
    counts = formulas.position_counts(size, *_formula_arguments(window))
    x = values.plain_array((2, 2 * int(np.prod(window["kernel_size"])), int(np.prod(counts))), np.dtype("i8"))
    given = {"layout": "channels_first", "order": choices.pick(["channel", "kernel"]), "positions": "flat"}
    if choices.chance(3):
        ones = np.ones((1, int(np.prod(window["kernel_size"])), x.shape[2]), np.int64)
        expected = lambda: formulas.fold(ones, size, *_formula_arguments(window), **given)[0, 0]  # noqa: E731
        return Call("coverage", patchfold.coverage, {"output_size": size} | window, expected, extra=("out",))
    expected = functools.partial(formulas.fold, x, size, *_formula_arguments(window), **given)
    other = formed(choices, x)
    arguments = {"x": other if other.dtype.isnative else x, "output_size": size} | window | given
    return Call("fold", patchfold.fold, arguments, expected, extra=("out", "accumulate"))


def block_call(choices: Choices) -> Call:
    rank = choices.between(1, 3)
    block, counts = choices.several(rank, 1, 3), choices.several(rank, 0, 3)
    layout, mode = choices.pick(["channels_first", "channels_last"]), choices.pick(["blocks_first", "depth_first"])
    extents = tuple(b * n for b, n in zip(block, counts, strict=True))
    shape = (2, 3, *extents) if layout == "channels_first" else (2, *extents, 3)
    x = values.plain_array(shape, choices.pick(values.DTYPES[:15]))
    arguments = {"x": formed(choices, x), "block": block, "mode": mode, "layout": layout}
    deep = functools.partial(formulas.space_to_depth, x, block, mode=mode, layout=layout)
    form = choices.number(3)
    if form == 0:
        return Call("space_to_depth", patchfold.space_to_depth, arguments, deep, extra=("out",))
    if form == 1:
        return Call("depth_to_space", patchfold.depth_to_space, arguments | {"x": deep()}, lambda: x, extra=("out",))
    return Call("space_to_depth_view", _blocks, arguments, deep)


def _blocks(x: Any, block: Any, mode: Any, layout: Any, **more: Any) -> Any:
    view = patchfold.space_to_depth_view(x, block, mode=mode, layout=layout, **more)
    if not issubclass(type(x), np.ndarray) or view.size > 10**6:
        return view
    rank = (view.ndim - 2) // 2
    channels = int(np.prod(view.shape[1 : 2 + rank] if layout == "channels_first" else view.shape[-1 - rank :]))
    counts = view.shape[2 + rank :] if layout == "channels_first" else view.shape[1 : 1 + rank]
    return _joined(view, (2, *((channels, *counts) if layout == "channels_first" else (*counts, channels))))


def gather_call(choices: Choices) -> Call:
    rank = choices.between(1, 2)
    x = values.plain_array((2, *choices.several(rank, 3, 6)), choices.pick(values.NUMBERS))
    size = choices.several(rank, 1, 3)
    corners = np.array([choices.several(rank, 0, 0) for _ in range(choices.number(4))], np.int64).reshape(-1, rank)
    cut = tuple(slice(0, extent) for extent in size)
    arguments = {"x": formed(choices, x), "corners": corners if choices.chance(2) else corners.tolist() or corners}
    expected = lambda: np.stack([x[(..., *cut)]] * len(corners)) if len(corners) else x[:0]  # noqa: E731
    if not len(corners):
        expected = lambda: np.empty((0, 2, *size), x.dtype)  # noqa: E731
    return Call("gather_patches", patchfold.gather_patches, arguments | {"size": size}, expected, extra=("out",))


def mean_call(choices: Choices) -> Call:
    """Returns a call for the mean of an image's columns: the image again, with the fill value where no patch lies."""
    rank = choices.between(1, 3)
    window, extents = _window(choices, rank), choices.several(rank, 2, 7)
    x = values.plain_array((2, 3, *extents), choices.pick([d for d in values.NUMBERS if d.kind in "iuf"]))
    given = {"layout": "channels_first", "order": choices.pick(["channel", "kernel"]), "positions": "flat"}
    columns = formulas.unfold(x, *_formula_arguments(window), **given)
    ones = formulas.unfold(np.ones((1, 1, *extents), np.int64), *_formula_arguments(window), **given)
    counts = formulas.fold(ones, extents, *_formula_arguments(window), **given)
    fill = choices.number(3)
    arguments = window | given | {"fill": fill}
    expected = lambda: np.where(counts > 0, x, np.asarray(fill, x.dtype))  # noqa: E731
    if choices.chance(2):
        return Call("reconstruct", patchfold.reconstruct, {"columns": columns, "shape": x.shape} | arguments, expected,
                    extra=("out",))  # fmt: skip
    arguments = {"x": columns, "output_size": extents, "reduce": "mean"} | arguments
    return Call("fold mean", patchfold.fold, arguments, expected, extra=("out", "accumulate"))


def token_call(choices: Choices) -> Call:
    """Returns a call that makes tokens of images, or images of tokens again."""
    patch, grid = choices.several(2, 1, 3), choices.several(2, 1, 3)
    channels_last, order = choices.chance(2), choices.pick(["vit", "torch"])
    rows, columns = (p * n for p, n in zip(patch, grid, strict=True))
    x = values.plain_array((2, 3, rows, columns), choices.pick(values.DTYPES[:15]))
    cells = x.reshape(2, 3, grid[0], patch[0], grid[1], patch[1])
    inside = (3, 5, 1) if order == "vit" else (1, 3, 5)
    tokens = cells.transpose(0, 2, 4, *inside).reshape(2, grid[0] * grid[1], 3 * patch[0] * patch[1])
    if channels_last:
        x = np.moveaxis(x, 1, -1)
    given = {"patch_size": patch, "order": order, "layout": "channels_last" if channels_last else "channels_first"}
    extra = ("out", "merge_size")
    if choices.chance(2):
        arguments = {"tokens": formed(choices, tokens), "size": (rows, columns)} | given
        return Call("unpatchify", patchfold.unpatchify, arguments, lambda: x, extra=extra)
    return Call("patchify", patchfold.patchify, {"x": formed(choices, x)} | given, lambda: tokens, extra=extra)


def other_call(choices: Choices) -> Call:
    """Returns a call that sets something, or reads or writes text."""
    text = patchfold.Tiling((9, 9), 3, overlap=1, axes=(0, 1)).to_json()
    at = choices.number(len(text) + 1) if choices.chance(2) else 0
    broken = text[:at] + choices.pick(["", "9" * 30, "null", "[", '"', "1e999", "[[", ":"]) + text[at + choices.number(9) :]
    legal: list[tuple[str, Any, dict[str, Any]]] = [
        ("set_num_threads", patchfold.set_num_threads, {"threads": choices.number(4)}),
        ("use_instruction_set", patchfold.use_instruction_set, {"name": choices.pick(patchfold.instruction_sets())}),
        ("from_json", lambda text: patchfold.Tiling.from_json(text), {"text": text}),
        ("from_json broken", lambda text: patchfold.Tiling.from_json(text) and None, {"text": broken}),
    ]
    name, function, arguments = choices.pick(legal)
    return Call(name, function, arguments, lambda: NotImplemented, right=name != "from_json broken")

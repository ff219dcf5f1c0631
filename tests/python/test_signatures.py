# SPDX-License-Identifier: Apache-2.0
"""Tests keyword arguments that several functions share: types, signatures and errors are as if they were written out."""

import inspect
import typing

import patchfold
import pytest
from patchfold import _typing

PLACES = [
    (_typing.UnfoldCall, patchfold.unfold),
    (_typing.FoldCall, patchfold.fold),
    (_typing.ReconstructCall, patchfold.fold),
    (_typing.WindowSettings, patchfold.coverage),
    (_typing.TokenSettings, patchfold.patchify),
    (_typing.TokenSettings, patchfold.unpatchify),
    (_typing.MergeSettings, patchfold.MergeSpec.__init__),
    (_typing.MergeSettings, patchfold.Merger.__init__),
    (_typing.TiledSettings, patchfold.apply_tiled),
    (_typing.TilingSettings, patchfold.merge_labels),
    (patchfold.onnx._Window, patchfold.onnx.col2im),
    (patchfold.onnx._Window, patchfold.onnx.im2col),
    (patchfold.openvino._Window, patchfold.openvino.col2im),
]


@pytest.mark.parametrize(("settings", "owner"), PLACES, ids=lambda each: each.__qualname__)
def test_the_types_are_those_of_the_function_that_has_the_defaults(settings, owner):
    hints = typing.get_type_hints(owner)
    assert typing.get_type_hints(settings) == {name: hints[name] for name in settings.__annotations__}


def test_tiled_calls_take_the_arguments_of_a_tiling_and_of_a_merge():
    shown = inspect.signature(patchfold.apply_tiled).parameters
    taken = {}
    for owner in (patchfold.Tiling.__init__, patchfold.MergeSpec.__init__):
        taken |= {name: each for name, each in inspect.signature(owner).parameters.items() if each.kind is each.KEYWORD_ONLY}
    assert {name: shown[name] for name in taken} == taken
    assert taken.keys() == _typing.TiledSettings.__annotations__.keys()
    hints = typing.get_type_hints(patchfold.Tiling.__init__) | typing.get_type_hints(patchfold.MergeSpec.__init__)
    assert _typing.TiledSettings.__annotations__ == {name: hints[name] for name in taken}


@pytest.mark.parametrize(("module", "name"), [
    ("", "apply_tiled"), ("", "merge_labels"), ("", "reconstruct"), ("dask", "apply_tiled"), ("dask", "merge"),
    ("dask", "merge_labels"), ("dask", "unfold"), ("dask", "fold"), ("jax", "unfold"), ("jax", "fold"), ("jax", "coverage"),
])  # fmt: skip
def test_a_wrong_call_gets_the_error_of_python(module, name):
    if module:
        pytest.importorskip(module)
    function = getattr(getattr(patchfold, module) if module else patchfold, name)
    signature = inspect.signature(function)
    assert not [each for each in signature.parameters.values() if each.kind is each.VAR_KEYWORD]
    assert typing.get_type_hints(function).keys() == {*signature.parameters, "return"}
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument 'nonsense'"):
        function(nonsense=1)
    last = list(signature.parameters)[-1]
    with pytest.raises(TypeError, match=rf"unexpected keyword argument '{last}s'. Did you mean '{last}'\?$"):
        function(**{f"{last}s": 1})
    first = next(iter(signature.parameters))
    with pytest.raises(TypeError, match=rf"^{name}\(\) missing \d required positional arguments?: '{first}'"):
        function()

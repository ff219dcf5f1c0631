# SPDX-License-Identifier: Apache-2.0
"""Checks that Python's copies of the library's tables equal the tables."""

import json
from pathlib import Path
from typing import get_args

import numpy as np
import patchfold
import pytest
from patchfold import _core
from patchfold._arrays import dtypes
from patchfold._typing import PaddingMode


def choices(operator: str, argument: str) -> tuple[str, ...]:
    arguments = next(row[-1] for row in _core.table() if row[0] == operator)
    return next(row[-2] for row in arguments if row[0] == argument)


@pytest.mark.parametrize(
    ("words", "annotation", "function"),
    [
        (choices("unfold", "padding_mode"), PaddingMode, patchfold.unfold),
        (_core.WORDS["PaddingMode"], PaddingMode, patchfold.Tiling),
    ],
)
def test_padding_modes_are_typed_and_documented(words, annotation, function):
    listed = [word for part in get_args(annotation) for word in get_args(part) or [part]]
    assert tuple(listed[: len(words)]) == words  # words of other systems follow
    text = function.__doc__.split("padding_mode", 1)[1].split("\n\n")[0]
    for word in words:
        assert f'"{word}"' in text


def test_the_page_knows_the_padding_modes():
    page = (Path(__file__).parents[2] / "web" / "page" / "state.js").read_text(encoding="utf-8")
    listed = page.split("export const PADDING_MODES = ", 1)[1].split(";", 1)[0]
    assert tuple(json.loads(listed)) == choices("unfold", "padding_mode")


def test_each_element_type_has_its_size():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for name, size in dtypes.SIZES.items():
        assert np.dtype(name if name in dtypes.SHARED_WITH_NUMPY else getattr(ml_dtypes, name)).itemsize == size
    assert dtypes.SUMMABLE == {name for name in dtypes.SIZES if not name.startswith("float8")}

# SPDX-License-Identifier: Apache-2.0
"""Runs the snippets of docs/scale.md, and checks the docstrings of the names of patchfold.dask."""

import inspect
import re
from pathlib import Path

import patchfold
import patchfold.dask
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"


def test_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    blocks = re.findall(r"(?ms)^```python[^\n]*\n(.*?)^```$", PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == 2
    for block in blocks:
        block = block.replace("threads_per_worker=1", "threads_per_worker=1, processes=False")  # starts faster
        exec(compile(block, str(PAGE), "exec"), names)
    assert "chunks written" in capsys.readouterr().out


@pytest.mark.parametrize("name", patchfold.dask.__all__)
def test_docstrings_name_every_argument(name):
    value = getattr(patchfold.dask, name)
    text = inspect.getdoc(value)
    assert text
    if name in ("apply_tiled", "split", "merge", "once"):
        arguments = text.partition("Arguments:")[2].partition("\n\n")[0]
        described = {each for line in re.findall(r"(?m)^    ([a-z][a-z_, ]*): ", arguments) for each in line.split(", ")}
        assert described == set(inspect.signature(value).parameters)

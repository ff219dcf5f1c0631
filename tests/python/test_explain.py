# SPDX-License-Identifier: Apache-2.0
"""Tests of explanations as text and as pictures, in a terminal and in a notebook."""

import re
import sys
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import patchfold
import pytest

SVG = "{http://www.w3.org/2000/svg}"


def example(spec: patchfold.OperatorSpec) -> tuple[tuple[int, ...], dict[str, Any]]:
    """Returns the problem of an operator in the table."""
    _, shape, *words = spec.example.split()
    kinds = {argument.name: argument.kind for argument in spec.arguments}

    def value(name: str, text: str) -> Any:
        if kinds[name] == "boolean":
            return text == "true"
        if kinds[name] == "choice" or not re.fullmatch(r"-?[\d.,:+-]*\d[\d.,:+-]*", text):
            return text
        if kinds[name] == "number":
            return float(text)
        if ":" in text:
            return [tuple(map(int, pair.split(":"))) for pair in text.split(",")]
        return [int(part) for part in text.split(",") if part] if "," in text else int(text)

    given = dict(word.split("=", 1) for word in words)
    extents = () if shape == "-" else tuple(map(int, shape.split("x")))
    return extents, {name: value(name, text) for name, text in given.items()}


def checked(svg: str) -> ElementTree.Element:
    """Returns the picture's root. Checks that the picture is valid XML, has a title, and loads no other file."""
    root = ElementTree.fromstring(svg)
    assert root.tag == SVG + "svg" and root.get("role") == "img"
    title, desc = root.find(SVG + "title"), root.find(SVG + "desc")
    assert title is not None and title.text and desc is not None and desc.text
    assert root.get("aria-labelledby") == f"{title.get('id')} {desc.get('id')}"
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in {"svg", "title", "desc", "style", "rect", "text", "line", "polyline", "path"}
        assert not any("href" in name or name.startswith("on") for name in element.attrib)
        if element.tag in (SVG + "rect", SVG + "text") and element.get("x"):
            x, y = float(element.get("x", 0)), float(element.get("y", 0))
            assert 0 <= x <= width and 0 <= y <= height, ElementTree.tostring(element)
            assert x + float(element.get("width", 0)) <= width + 0.5, ElementTree.tostring(element)
    assert "@import" not in svg and "url(" not in svg
    return root


@pytest.mark.parametrize("spec", patchfold.operators(), ids=lambda spec: spec.name)
def test_every_operator_has_a_picture(spec: patchfold.OperatorSpec) -> None:
    shape, given = example(spec)
    explained = patchfold.explain(spec.name, shape, **given)
    assert str(explained) == explained.text == repr(explained)
    checked(explained.svg)
    assert explained._repr_svg_() == explained.svg
    html = explained._repr_html_()
    assert explained.svg in html and "<details>" in html


def test_texts_of_a_picture_are_texts() -> None:
    root = checked(patchfold.explain("unfold", (1, 2, 4, 4), kernel_size=(3, 3), padding=1).svg)
    texts = [element.text for element in root.iter(SVG + "text")]
    for wanted in ("Patches over the padded image", "Coverage", "torch unfold", "MATLAB im2col", "The columns", "9"):
        assert wanted in texts


def test_pictures_of_one_page_have_ids_of_their_own() -> None:
    ids = set()
    for kernel in (2, 3):
        svg = patchfold.explain("unfold", (1, 1, 4, 4), kernel_size=kernel).svg
        ids |= set(re.findall(r'id="([^"]+)"', svg))
    assert len(ids) == 4


def test_plans_tilings_and_mergers_show_themselves() -> None:
    image = np.zeros((1, 1, 6, 6), np.float32)
    plan = patchfold.plan("unfold", image, kernel_size=3)
    tiling = patchfold.Tiling((20, 30), (8, 8), overlap=2)
    merger = patchfold.Merger(tiling, window="linear")
    for shown in (plan, tiling, merger):
        html = shown._repr_html_()
        start, end = html.index("<svg"), html.index("</svg>") + 6
        checked(html[start:end])
        assert "<pre" in html
    assert "strategy" in plan._repr_html_()
    assert "window linear" in merger._repr_html_()
    assert "0 of 15 tiles have come" in merger._repr_html_()
    assert str(patchfold.explain(plan)) == repr(plan)
    assert str(patchfold.explain(tiling)) in tiling._repr_html_().replace("&#x27;", "'")
    assert "rule center" in patchfold.explain(tiling, reduce="center").svg
    assert "merge: max" in patchfold.explain(tiling, reduce="max").text
    assert "linear" in patchfold.explain(merger).text
    with pytest.raises(patchfold.InvalidValue, match="window"):
        patchfold.explain(tiling, window="hat")  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        patchfold.explain(tiling, kernel_size=3)  # type: ignore[call-overload]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have notes from Python 3.11 on")
def test_errors_say_what_would_be_right() -> None:
    with pytest.raises(patchfold.InvalidValue) as refused:
        patchfold.explain("fold", (1, 4, 8), output_size=(4, 4), kernel_size=2)
    (note,) = refused.value.__notes__
    assert "columns [1, 4, 9] instead of [1, 4, 8]" in note and "positions = floor((4 + 0 + 0 - 2) / 1) + 1" in note
    with pytest.raises(patchfold.InvalidValue) as refused:
        patchfold.explain("torch.pixel_unshuffle", (1, 3, 5, 6), downscale_factor=2)
    assert "[1, 3, 4, 6] instead of [1, 3, 5, 6]" in refused.value.__notes__[0]
    with pytest.raises(patchfold.InvalidType) as wrong:
        patchfold.explain("unfold", (1, 3, 5, 6), kernel_size="two")
    assert not getattr(wrong.value, "__notes__", [])

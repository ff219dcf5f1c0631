# SPDX-License-Identifier: Apache-2.0
"""Tests of explanations as text and as pictures, in a terminal and in a notebook, and of explain_order."""

import re
import sys
import time
import tracemalloc
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import patchfold
import pytest
from order_formulas import cases, refused

SVG = "{http://www.w3.org/2000/svg}"


def example(spec: patchfold.OperatorSpec) -> tuple[tuple[int, ...], dict[str, Any]]:
    """Returns the shape and the arguments of an operator's example in the table."""
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


def test_names_the_order_of_six_systems() -> None:
    """Checks system, order and geometry of the answers for 600 random cases."""
    systems = set()
    for number, case in enumerate(cases(seed=20261123, count=600)):
        answer = patchfold.explain_order(case.image, case.columns)
        shown = f"case {number}, {case.system}: {case.image.shape} -> {case.columns.shape}\n{answer}"
        assert answer, shown
        assert any(case.name in name for name in answer.systems), shown
        assert answer.order == case.order and f"order={case.order!r}" in str(answer), shown
        assert answer.kernel_size == case.kernel and answer.dilation == case.dilation, shown
        assert tuple(begin for begin, _ in answer.padding) == case.begin, shown
        for axis, (found, wanted) in enumerate(zip(answer.stride, case.stride, strict=True)):
            assert found == wanted or f"the stride of axis {axis}" in answer.reason, shown
        assert not answer.ambiguous, shown
        systems.add(case.system)
    assert len(systems) == 6


def test_refuses_what_no_operator_makes() -> None:
    for kind, image, columns in refused(seed=7, count=150):
        answer = patchfold.explain_order(image, columns)
        assert not answer and answer.reason, (kind, image.shape, columns.shape, str(answer))
        assert str(answer).startswith("none: ")


def test_answers_can_be_typed() -> None:
    """Evaluates the calls in the answers, and checks that they give the columns."""
    rng = np.random.default_rng(3)
    image = rng.permutation(2 * 3 * 8 * 9).reshape(2, 3, 8, 9)
    last = np.ascontiguousarray(image.transpose(0, 2, 3, 1))
    for given, columns in [
        (image, patchfold.unfold(image, (3, 2), stride=(2, 1), dilation=(1, 2), padding=1)),
        (image, patchfold.unfold(image, (3, 2), padding=((1, 0), (0, 2)), order="kernel")),
        (image, patchfold.unfold(image, (3, 2), order="kernel", positions="grid")),
        (last, patchfold.unfold(last, (3, 2), stride=2, order="kernel", layout="channels_last")),
        (last, patchfold.unfold(last, (2, 2), order="channel", positions="grid", layout="channels_last")),
        (image, patchfold.unfold(image, (2, 2), padding=1, value=-5)),
        (image, patchfold.space_to_depth(image, (2, 3), mode="depth_first")),
        (image, patchfold.space_to_depth(image, (2, 3), mode="blocks_first")),
        (last, patchfold.space_to_depth(last, (2, 3), mode="blocks_first", layout="channels_last")),
        (image, patchfold.space_to_batch(image, (2, 3))),
        (image, patchfold.space_to_batch(image, (3, 5), padding=((1, 0), (0, 1)))),
        (last, patchfold.space_to_batch(last, (2, 3), layout="channels_last")),
        (image, patchfold.depth_to_space(image.reshape(2, 12, 2, 9), 2, mode="depth_first")),
    ]:
        source = given
        if columns.shape == (2, 3, 4, 18):
            source = image.reshape(2, 12, 2, 9)
        answer = patchfold.explain_order(source, columns)
        assert answer.call.startswith("patchfold."), answer
        assert np.array_equal(eval(answer.call, {"patchfold": patchfold, "image": source}), columns), answer


def test_knows_other_layouts() -> None:
    image = np.arange(2 * 3 * 8 * 6).reshape(2, 3, 8, 6)
    tokens = patchfold.patchify(image, (2, 3), order="vit")
    assert "order='vit'" in str(patchfold.explain_order(image, tokens))
    assert "order='torch'" in str(patchfold.explain_order(image, patchfold.patchify(image, (2, 3), order="torch")))
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 2), axis=(2, 3))
    answer = patchfold.explain_order(image, windows)
    assert "sliding_window_view" in str(answer) and answer.kernel_size == (3, 2)
    flat = np.lib.stride_tricks.sliding_window_view(np.arange(20), 4)[::3]
    assert patchfold.explain_order(np.arange(20), flat).stride == (3,)
    volume = np.arange(2 * 4 * 5 * 6).reshape(1, 2, 4, 5, 6)
    answer = patchfold.explain_order(volume, patchfold.unfold(volume, (2, 3, 2), stride=(1, 2, 2)))
    assert answer.kernel_size == (2, 3, 2) and answer.stride == (1, 2, 2) and answer.order == "channel"
    batch = patchfold.space_to_batch(image, (2, 3))
    answer = patchfold.explain_order(batch, image)
    assert answer.operator == "batch_to_space" and "the inverse of tf.space_to_batch_nd" in str(answer)


@pytest.mark.parametrize(
    ("parts", "order", "shape", "layout", "call"),
    [
        ((2, 4, 2, 4, 3), (0, 2, 1, 3, 4), (4, 4, 4, 3), "(h w) kh kw c", "'(h1 h2) (w1 w2) c -> (h1 w1) h2 w2 c'"),
        ((3, 2, 4, 2, 4), (1, 3, 2, 4, 0), (4, 4, 4, 3), "(h w) kh kw c", "'c (h1 h2) (w1 w2) -> (h1 w1) h2 w2 c'"),
        ((3, 2, 4, 2, 4), (1, 3, 0, 2, 4), (4, 3, 4, 4), "(h w) c kh kw", "'c (h1 h2) (w1 w2) -> (h1 w1) c h2 w2'"),
        ((3, 2, 4, 2, 4), (0, 1, 3, 2, 4), (3, 4, 4, 4), "b (h w) kh kw", "'b (h1 h2) (w1 w2) -> b (h1 w1) h2 w2'"),
    ],
)
def test_windows_of_a_picture_have_two_axes(
    parts: tuple[int, ...], order: tuple[int, ...], shape: tuple[int, ...], layout: str, call: str
) -> None:
    numbers = np.arange(np.prod(parts)).reshape(parts)
    image, windows = numbers.reshape((8, 8, 3) if parts[-1] == 3 else (3, 8, 8)), numbers.transpose(order).reshape(shape)
    answer = patchfold.explain_order(image, windows)
    assert (answer.layout, answer.kernel_size) == (layout, (4, 4))
    assert answer.call == f"patchfold.rearrange(image, {call}, h2=4, w2=4)"
    assert np.array_equal(eval(answer.call, {"patchfold": patchfold, "image": image}), windows)


def test_overlapping_windows_of_a_picture_have_two_axes() -> None:
    image = np.arange(3 * 8 * 8).reshape(3, 8, 8)
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(1, 2)).transpose(1, 2, 0, 3, 4)
    answer = patchfold.explain_order(image, windows.reshape(36, 3, 3, 3))
    assert (answer.layout, answer.kernel_size, answer.stride) == ("(h w) c kh kw", (3, 3), (1, 1))


def test_says_when_values_leave_it_open() -> None:
    rng = np.random.default_rng(0)
    zeros = patchfold.explain_order(np.zeros((1, 2, 4, 4)), np.zeros((1, 8, 9)))
    assert not zeros and "Too few elements of image differ" in str(zeros)
    # Both channels are equal, so the order of channels and taps is ambiguous.
    image = np.zeros((1, 2, 6, 6))
    image[0, 0] = image[0, 1] = rng.standard_normal((6, 6))
    answer = patchfold.explain_order(image, patchfold.unfold(image, 2))
    assert not answer or answer.ambiguous
    one = np.arange(1.0, 37).reshape(1, 1, 6, 6)
    answer = patchfold.explain_order(one, patchfold.unfold(one, 2, order="kernel"))
    assert "With one channel" in str(answer) and "order='channel'" in str(answer)
    same = patchfold.explain_order(one, one)
    assert not same and "They are equal" in str(same)


def test_few_elements_that_differ_are_enough() -> None:
    """Checks images in which few elements differ from all others."""
    rng = np.random.default_rng(20)
    for share in (0.4, 0.6, 1.0):
        for order in ("channel", "kernel"):
            image = rng.integers(1, int(3 * 24 * 30 * share), (1, 3, 24, 30))
            columns = patchfold.unfold(image, (3, 2), stride=(2, 3), padding=1, order=order)
            answer = patchfold.explain_order(image, columns)
            assert answer.order == order and answer.kernel_size == (3, 2) and answer.stride == (2, 3), (share, str(answer))


def test_types_may_differ() -> None:
    image = np.arange(2 * 5 * 5, dtype=np.uint8).reshape(1, 2, 5, 5)
    columns = patchfold.unfold(image, 3)
    assert patchfold.explain_order(image, columns.astype(np.float32)).order == "channel"
    assert patchfold.explain_order(image.astype(np.float64), columns).order == "channel"
    assert patchfold.explain_order(image.tolist(), columns.tolist()).order == "channel"
    values = image / 7.0
    values[0, 0, 0, 0] = np.nan
    assert patchfold.explain_order(values, patchfold.unfold(values, 3, order="kernel")).order == "kernel"


def test_refuses_what_is_no_array_of_numbers() -> None:
    image = np.arange(9).reshape(3, 3)
    for wrong in ("text", b"text", [[1, 2], [3]], np.array(["a"]), np.array([object()]), int):
        with pytest.raises(patchfold.InvalidType, match="explain_order"):
            patchfold.explain_order(image, wrong)
    with pytest.raises(patchfold.InvalidValue, match="small enough"):
        patchfold.explain_order(image, np.broadcast_to(np.float32(0), (1 << 14, 1 << 13)))
    assert not patchfold.explain_order(image, np.empty((0, 3)))
    assert not patchfold.explain_order(np.float32(1), np.float32(2))


def test_takes_bounded_time_and_memory() -> None:
    rng = np.random.default_rng(1)
    shapes = [((1, 1, 60, 60, 60), (1, 720, 5040)), ((1, 1, 720, 720), (1, 720, 720)), ((4, 3, 256, 256), (4, 768, 256))]
    for shape, columns_shape in shapes:
        image = rng.permutation(int(np.prod(shape))).reshape(shape)
        columns = rng.choice(image.reshape(-1), columns_shape)
        tracemalloc.start()
        begin = time.process_time()
        assert not patchfold.explain_order(image, columns)
        assert time.process_time() - begin < 60
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 100 * (image.size + columns.size) + (64 << 20)

# SPDX-License-Identifier: Apache-2.0
"""Tests of the panels "orders", "which order", "seams", "cost" and "picture"."""

import json
import re
import struct
import zlib

import pytest


def test_arrows_walk_over_tabs(visit):
    visit.open()
    visit.page.focus("#tab-patches")
    visit.page.keyboard.press("ArrowRight")
    assert visit.state()["panel"] == "orders"
    assert visit.page.evaluate("document.activeElement.id") == "tab-orders"
    visit.page.keyboard.press("End")
    visit.page.keyboard.press("ArrowRight")
    assert visit.state()["panel"] == "patches"


def entries(visit, row):
    cells = visit.page.locator("#orders tbody tr").nth(row).locator("td")
    return [cells.nth(i).get_attribute("data-entry") for i in range(cells.count())]


def test_orders_side_by_side(visit):
    visit.open({"panel": "orders", "shape": [1, 2, 4, 4], "kernel": [2, 2]})
    taps = ["0,0", "0,1", "1,0", "1,1"]
    channel_first = [f"{c}:{tap}" for c in range(2) for tap in taps]
    tap_first = [f"{c}:{tap}" for tap in taps for c in range(2)]
    matlab = [f"{c}:{tap}" for c in range(2) for tap in ["0,0", "1,0", "0,1", "1,1"]]
    assert [entries(visit, row) for row in range(5)] == [channel_first, tap_first, tap_first, channel_first, matlab]


def test_orders_are_those_of_the_systems_own_operators(visit):
    visit.open({"panel": "orders", "shape": [1, 2, 4, 4], "kernel": [2, 2]})
    named = [f"{c}:{h},{w}" for c in range(2) for h in range(2) for w in range(2)]
    channels_last = [c * 4 + h * 2 + w for h in range(2) for w in range(2) for c in range(2)]
    calls = [
        ("torch.unfold int32 1x2x2x2 kernel_size=2,2", range(8), 0),
        ("keras.unfold int32 1x2x2x2 kernel_size=2,2", range(8), 0),
        (
            "tensorflow.ExtractImagePatches int32 1x2x2x2 ksizes=1,2,2,1 strides=1,1,1,1 rates=1,1,1,1 padding=VALID",
            channels_last,
            1,
        ),
        ("openvino.ExtractImagePatches int32 1x2x2x2 sizes=2,2 strides=1,1 rates=1,1 auto_pad=valid", range(8), 1),
        ("keras.extract_patches int32 1x2x2x2 size=2,2", channels_last, 1),
        ("onnx.SpaceToDepth int32 1x2x2x2 blocksize=2", range(8), 2),
        ("tensorflow.SpaceToDepth int32 1x2x2x2 block_size=2", channels_last, 2),
        ("openvino.SpaceToDepth int32 1x2x2x2 block_size=2 blocks_mode=blocks_first", range(8), 2),
        ("openvino.SpaceToDepth int32 1x2x2x2 block_size=2 blocks_mode=depth_first", range(8), 3),
        ("torch.pixel_unshuffle int32 1x2x2x2 downscale_factor=2", range(8), 3),
    ]
    for problem, values, row in calls:
        made = visit.run(problem, list(values))["values"]
        assert [named[value] for value in made] == entries(visit, row), problem
    for mode, row in (("DCR", 2), ("CRD", 3)):
        # Entry i on the page must name the place in the block to which channel i of the depth goes.
        made = visit.run(f"onnx.DepthToSpace int32 1x8x1x1 blocksize=2 mode={mode}", list(range(8)))["values"]
        assert [named[made.index(value)] for value in range(8)] == entries(visit, row), mode


def test_panels_without_a_call_hide_the_form(visit):
    visit.open()
    for panel, shown in (("seams", False), ("which", False), ("orders", True)):
        visit.panel(panel)
        assert visit.page.is_visible("#controls") == shown


def test_pointing_at_an_entry_marks_it_in_every_system(visit):
    visit.open({"panel": "orders", "shape": [1, 2, 4, 4], "kernel": [2, 2]})
    visit.page.locator("#orders td[data-entry='1:0,1']").first.hover()
    assert visit.page.locator("#orders td.linked").count() == 5


def test_orders_of_volumes_and_of_too_much(visit):
    visit.open({"panel": "orders", "shape": [1, 1, 4, 4, 4], "kernel": [2, 2, 2]})
    assert entries(visit, 4)[1] == "0:1,0,0"
    visit.open({"panel": "orders", "shape": [1, 64, 9, 9], "kernel": [3, 3]})
    assert "576 elements" in visit.page.inner_text("#panel")


def paste(visit, image, columns):
    visit.page.fill("#which-image", image)
    visit.page.press("#which-image", "Tab")
    visit.page.fill("#which-columns", columns)
    visit.page.press("#which-columns", "Tab")
    visit.page.wait_for_selector("#which-answer > *")


def nested(values, shape):
    if len(shape) == 1:
        return list(values)
    step = len(values) // shape[0]
    return [nested(values[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


CASES = [
    ({"operator": "unfold", "shape": [1, 2, 5, 6], "kernel": [3, 2]}, "order='channel'"),
    ({"operator": "unfold", "shape": [1, 2, 5, 6], "kernel": [3, 2], "order": "kernel"}, "order='kernel'"),
    (
        {"operator": "unfold", "shape": [1, 3, 6, 6], "kernel": [2, 2], "stride": [2, 2], "padding": [[0, 0], [0, 0]]},
        "stride=(2, 2)",
    ),
    (
        {"operator": "unfold", "shape": [2, 2, 9], "kernel": [3], "stride": [1], "dilation": [2], "padding": [[0, 0]]},
        "dilation=(2,)",
    ),
    ({"operator": "space_to_depth", "shape": [1, 2, 4, 6], "kernel": [2, 2], "mode": "depth_first"}, "depth_first"),
    ({"operator": "space_to_depth", "shape": [1, 2, 4, 6], "kernel": [2, 2], "mode": "blocks_first"}, "blocks_first"),
    ({"operator": "space_to_batch", "shape": [1, 1, 4, 6], "kernel": [2, 2], "padding": [[0, 0], [0, 0]]}, "space_to_batch"),
    (
        {"operator": "extract_patches", "dialect": "tensorflow", "shape": [1, 2, 6, 6], "kernel": [2, 2], "stride": [2, 2]},
        "order='kernel'",
    ),
]


@pytest.mark.parametrize(("state", "told"), CASES)
def test_which_order_names_it(visit, state, told):
    visit.open({"panel": "which"})
    made = visit.numbers(state)
    image, columns = (nested(made[side]["values"], made[side]["shape"]) for side in ("input", "output"))
    paste(visit, json.dumps(image), json.dumps(columns))
    answers = visit.page.locator("#which-answer pre").all_inner_texts()
    assert len(answers) >= 1, visit.page.inner_text("#which-answer")
    assert any(told in answer for answer in answers), answers


def test_which_order_reads_what_numpy_prints(visit):
    visit.open({"panel": "which"})
    paste(visit, "array([[0, 1, 2, 3],\n       [4, 5, 6, 7]], dtype=int32)", "[[0. 2.]\n [1. 3.]\n [4. 6.]\n [5. 7.]]")
    assert "patchfold.unfold(image, (2, 2), stride=(1, 2)" in visit.page.locator("#which-answer").inner_text()


@pytest.mark.parametrize(
    "text",
    [
        "tf.Tensor(\n[[1. 2.]\n [3. 4.]\n [5. 6.]], shape=(3, 2), dtype=float32)",
        "<tf.Tensor: shape=(3, 2), dtype=float32, numpy=\narray([[1., 2.],\n       [3., 4.],\n       [5., 6.]])>",
        "Array([[1., 2.],\n       [3., 4.],\n       [5., 6.]], dtype=float32, weak_type=True)",
        "tensor([[1., 2.],\n        [3., 4.],\n        [5., 6.]], requires_grad=True)",
        "tensor([[1, 2], [3, 4], [5, 6]], device='cuda:0', dtype=torch.int32)",
        "tensor([[1., 2.], [3., 4.], [5., 6.]], grad_fn=<AddBackward0>)",
        "np.array([[1, 2], [3, 4], [5, 6]])",
        "{{1, 2}, {3, 4}, {5, 6}};",
        "((1, 2), (3, 4), (5, 6))",
        "[(1, 2), (3, 4), (5, 6)]",
        "[array([1, 2]), array([3, 4]), array([5, 6])]",
        "[1 2; 3 4; 5 6]",
        "a = [1, 2; 3, 4; 5, 6];",
        "1 2\n3 4\n5 6",
    ],
)
def test_which_order_reads_what_systems_print(visit, text):
    visit.open({"panel": "which"})
    paste(visit, text, "1 2")
    assert "Image [3, 2]" in visit.page.inner_text("#which-answer")


def test_which_order_takes_long_texts_and_says_what_is_too_long(visit):
    visit.open({"panel": "which"})
    numbers = " ".join(f"{number + 0.123456789}" for number in range(4096))
    assert len(numbers) > 40_000
    paste(visit, numbers, "1 2")
    assert "Image [4096]" in visit.page.inner_text("#which-answer")
    paste(visit, numbers * 6, "1 2")
    assert "at most 200000 are read" in visit.page.inner_text("#which-answer")
    assert visit.state()["which"]["image"] == numbers


def test_which_order_says_what_it_tries(visit):
    """Checks that the page refuses blocks that differ between axes, and names the Python library for such blocks."""
    visit.open({"panel": "which"})
    told = visit.page.inner_text("#which-tried")
    assert "the same on every axis" in told and "explain_order" in told
    state = {"operator": "space_to_depth", "shape": [1, 2, 16, 16], "mode": "depth_first"}
    for block, found in (([8, 8], True), ([16, 16], False)):
        made = visit.numbers({**state, "kernel": block})
        image, columns = (nested(made[side]["values"], made[side]["shape"]) for side in ("input", "output"))
        paste(visit, json.dumps(image), json.dumps(columns))
        assert ("space_to_depth" in visit.page.inner_text("#which-answer")) == found
    assert "to 8" in told


def test_which_order_searches_once(visit):
    visit.open({"panel": "which"})
    visit.page.click("#which-example")
    before = visit.page.inner_text("#which-answer")
    visit.page.evaluate("() => { performance.now = () => { throw new Error('searched again'); }; }")
    visit.page.select_option("#theme", "dark")
    assert visit.page.inner_text("#which-answer") == before != ""


def test_which_order_is_shown_on_the_image(visit):
    visit.open({"panel": "which"})
    visit.page.click("#which-example")
    visit.page.locator(".show-answer").first.click()
    state = visit.state()
    assert state["panel"] == "patches"
    assert (state["kernel"], state["stride"], state["order"]) == ([2, 3], [2, 3], "kernel")
    assert "error" not in visit.numbers()


def test_which_order_refuses_what_none_makes(visit):
    visit.open({"panel": "which"})
    paste(visit, "1 2 3 4\n5 6 7 8", "1 2\n3 99")
    assert "None was found" in visit.page.inner_text("#which-none") or "No operator" in visit.page.inner_text("#which-none")
    assert "99" in visit.page.inner_text("#which-none")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[1, 2], [3]]", "different lengths"),
        ("[1, 2", "not closed"),
        ("[1, two]", "is no number"),
        ("1 2\n3", "rows differ"),
        ("[1 ... 9]", "abbreviated"),
        ("[[1, 2], 3]", "side by side"),
    ],
)
def test_which_order_tells_what_it_cannot_read(visit, text, said):
    visit.open({"panel": "which"})
    paste(visit, text, "1 2")
    assert said in visit.page.inner_text("#which-answer")


def test_seams_without_a_fault_give_the_picture_back(visit):
    for reduce in ("mean", "first", "max", "center"):
        visit.open({"panel": "seams", "seams": {"flaw": "none", "reduce": reduce}})
        assert "differs by 0 %" in visit.page.inner_text("#seams-told"), reduce


def told_percent(visit):
    return float(visit.page.inner_text("#seams-told").split("differs by ")[1].split(" %")[0])


def test_windows_lessen_seams(visit):
    visit.open({"panel": "seams", "seams": {"window": "ones"}})
    plain = told_percent(visit)
    visit.choose("seams-window", "hann")
    assert told_percent(visit) < plain


def test_the_strength_of_the_fault_counts(visit):
    visit.open({"panel": "seams"})
    before = told_percent(visit)
    visit.page.fill("#seams-strength", "100")
    assert visit.state()["seams"]["strength"] == 100
    assert told_percent(visit) > before


@pytest.mark.parametrize("flaw", ["vignette", "brightness", "blur"])
@pytest.mark.parametrize("show", ["result", "coverage", "weight", "error"])
def test_each_picture_of_seams(visit, flaw, show):
    visit.open({"panel": "seams", "seams": {"flaw": flaw, "show": show}})
    colours = visit.page.evaluate(
        """() => {
          const canvas = document.getElementById("seams-after");
          const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
          const seen = new Set();
          for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
          return seen.size;
        }"""
    )
    assert colours >= 3


def test_the_weight_of_a_tile_falls_to_its_border(visit):
    visit.open({"panel": "seams", "seams": {"show": "weight", "tile": [64, 64], "overlap": [32, 32], "size": [128, 128]}})
    assert "The weight of tile" in visit.page.inner_text("#seams-caption")


def test_every_way_to_merge(visit):
    visit.open({"panel": "seams", "seams": {"size": [96, 128], "tile": [48, 48], "overlap": [16, 16]}})
    visit.page.click("#seams-compare")
    assert visit.page.locator("#gallery figure").count() == 13
    assert visit.page.locator("#gallery canvas").count() == 13
    names = [each.split(":")[0] for each in visit.page.locator("#gallery figcaption").all_inner_texts()]
    assert names[7:] == ["sum", "max", "min", "first", "last", "center"]


@pytest.mark.parametrize(
    "seams",
    [
        {"size": [1024, 1024], "tile": [512, 512], "overlap": [511, 511]},
        {"size": [1024, 1024], "tile": [1, 1], "overlap": [0, 0]},
        {"size": [1024, 512], "tile": [300, 40], "overlap": [280, 39]},
    ],
    ids=str,
)
def test_too_many_tiles_are_refused_before_they_are_merged(visit, seams):
    """Checks that too many tiles are refused, and that the page merges with the settings that the message proposes."""
    visit.open({"panel": "seams", "seams": seams})
    told = visit.page.inner_text("#seams-fault")
    assert "would take this page too long" in told
    assert visit.page.locator("#seams-after").count() == 0
    numbers = [int(number) for number in re.findall(r"\d+", told.split("choose")[1])]
    tile, overlap = ([*seams["tile"], *numbers] if len(numbers) == 2 else numbers)[:2], numbers[-2:]
    visit.open({"panel": "seams", "seams": {**seams, "tile": tile, "overlap": overlap}})
    assert visit.page.inner_text("#seams-fault") == ""
    assert visit.page.locator("#seams-after").count() == 1


def test_a_comparison_that_takes_too_long_says_what_to_choose(visit):
    visit.open({"panel": "seams", "seams": {"size": [512, 512], "tile": [128, 128], "overlap": [96, 96]}})
    assert visit.page.inner_text("#seams-fault") == ""
    visit.page.click("#seams-compare")
    assert "13 merges of 169 tiles" in visit.page.inner_text("#seams-fault")
    assert visit.page.locator("#gallery").count() == 0


def test_tiles_that_do_not_fit_are_refused_by_the_library(visit):
    visit.open({"panel": "seams", "seams": {"tail": "error"}})
    assert "tiling" in visit.page.inner_text("#seams-fault")
    visit.choose("seams-tail", "pad")
    assert visit.page.inner_text("#seams-fault") == ""
    visit.page.fill("#seams-overlap", "96")
    visit.page.press("#seams-overlap", "Enter")
    assert "overlap" in visit.page.inner_text("#seams-fault")


def test_wrong_numbers_of_tiles_are_told(visit):
    visit.open({"panel": "seams"})
    visit.page.fill("#seams-tile", "big")
    visit.page.press("#seams-tile", "Enter")
    assert "Tile" in visit.page.inner_text("#seams-fault")
    assert visit.state()["seams"]["tile"] == [96, 96]


def png(width, height):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(b"\0" + bytes(value for x in range(width) for value in (x % 256, y % 256, 128)) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def test_ones_own_picture(visit):
    visit.open({"panel": "seams"})
    visit.page.set_input_files("#seams-file", {"name": "mine.png", "mimeType": "image/png", "buffer": png(150, 110)})
    visit.page.wait_for_selector("#seams-drawn")
    assert visit.state()["seams"]["size"] == [110, 150]
    assert visit.page.get_attribute("#seams-before", "width") == "150"
    visit.page.click("#seams-drawn")
    assert visit.page.get_attribute("#seams-before", "width") == "256"


def test_a_file_that_is_no_picture(visit):
    visit.open({"panel": "seams"})
    visit.page.set_input_files("#seams-file", {"name": "note.txt", "mimeType": "text/plain", "buffer": b"no picture"})
    visit.page.wait_for_function("document.getElementById('seams-fault').textContent !== ''")
    assert "note.txt is no picture" in visit.page.inner_text("#seams-fault")


def test_cost_counts_bytes_and_measures(visit):
    visit.open({"panel": "cost", "dtype": "float64"})
    assert "480 bytes" in visit.page.inner_text("#cost-input")
    assert "1.27 KB" in visit.page.inner_text("#cost-output")
    visit.page.fill("#cost-speed", "1")
    assert visit.page.inner_text("#cost-bound") == f"at least {(480 + 1296) / 1e3:.2f} µs"
    visit.page.click("#cost-run")
    assert visit.page.inner_text("#cost-measured") != "not yet"


def test_the_library_explains_itself(visit):
    visit.open({"panel": "picture"})
    assert visit.page.locator("#panel svg").count() >= 1
    visit.page.click("#panel summary")
    assert "positions = floor((5 + 1 + 1 - 3) / 2) + 1" in visit.page.inner_text("#explained")


def test_no_programs_of_what_the_library_refuses(visit):
    visit.open({"panel": "copy", "operator": "fold", "input": [1, 18, 8]})
    assert "given 8, expected 9" in visit.page.inner_text("#error-text")
    assert visit.page.locator("#panel section").count() == 0

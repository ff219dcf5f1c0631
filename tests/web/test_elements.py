# SPDX-License-Identifier: Apache-2.0
"""Tests of form, elements and links, with pointer and keyboard."""

import json
import urllib.parse

import pytest

CHOSEN = {"chosen": {"side": "columns", "index": 20}}


def test_pointing_at_a_column_shows_its_pixel_and_its_patch(visit):
    visit.open()
    visit.cell("columns", 4).hover()  # tap (0, 0) of patch 4, which begins at (1, 1)
    assert visit.marked("image", "linked") == [7]
    assert visit.marked("image", "patch") == [7, 8, 9, 13, 14, 15, 19, 20, 21]
    assert "tap (0, 0) of patch 4" in visit.told()
    assert "image[0, 0, 1, 1]" in visit.told()


def test_pointing_at_a_pixel_shows_all_its_columns(visit):
    visit.open()
    visit.cell("image", 7).hover()
    trace = visit.trace()["trace"]
    expected = [index for index, source in enumerate(trace) if source == 7]
    assert len(expected) == 4
    assert visit.marked("columns", "linked") == expected
    assert "goes to 4 elements" in visit.told()


def test_padding_is_marked_in_its_own_channel(visit):
    visit.open()
    visit.cell("columns", 0).hover()
    assert "is padding" in visit.told()
    assert visit.page.locator(".tensor.image td.pad.linked").count() == 1
    assert visit.page.locator(".tensor.image table").first.locator("td.pad.linked").count() == 1
    visit.cell("columns", 81).hover()  # the first element of the second channel
    assert visit.page.locator(".tensor.image table").nth(1).locator("td.pad.linked").count() == 1


def test_padding_of_blocks_is_marked(visit):
    state = {
        "operator": "space_to_batch",
        "dialect": "openvino",
        "shape": [1, 2, 4, 4],
        "kernel": [2, 2],
        "padding": [[2, 0], [0, 0]],
    }
    visit.open(state)
    trace = visit.trace()["trace"]
    visit.cell("columns", trace.index(-1)).hover()
    assert "offset (0, 0) of block 0" in visit.told()
    assert visit.page.locator(".tensor.image table").first.locator("td.pad.linked").count() == 1
    assert visit.page.locator(".tensor.image td.pad.linked").count() == 1


def test_leaving_takes_the_marks_away(visit):
    visit.open()
    visit.cell("columns", 4).hover()
    visit.page.hover("h1")
    assert visit.marked("image", "linked") == []
    assert "Point at an element" in visit.told()


def test_a_click_keeps_an_element_and_a_second_one_lets_it_go(visit):
    visit.open()
    visit.cell("columns", 20).click()
    assert visit.state()["chosen"] == CHOSEN["chosen"]
    visit.page.hover("h1")
    assert visit.marked("columns", "chosen") == [20]
    visit.cell("columns", 20).click()
    assert visit.state()["chosen"] is None


def test_arrows_walk_over_cells(visit):
    visit.open()
    visit.cell("image", 0).focus()
    for key, index in (("ArrowRight", 1), ("ArrowDown", 7), ("ArrowLeft", 6), ("ArrowUp", 0), ("End", 5), ("Home", 0)):
        visit.page.keyboard.press(key)
        assert visit.page.evaluate("Number(document.activeElement.dataset.index)") == index, key
    assert visit.marked("image", "linked") == [0]


def test_arrows_cross_from_plane_to_plane(visit):
    visit.open()
    visit.cell("image", 24).focus()
    visit.page.keyboard.press("ArrowDown")
    assert visit.page.evaluate("Number(document.activeElement.dataset.index)") == 30


def test_enter_keeps_an_element_and_the_focus_stays(visit):
    visit.open()
    visit.cell("image", 8).focus()
    visit.page.keyboard.press("Enter")
    assert visit.state()["chosen"] == {"side": "image", "index": 8}
    assert visit.page.evaluate("Number(document.activeElement.dataset.index)") == 8


def test_the_focus_is_told_to_screen_readers(visit):
    visit.open()
    visit.cell("image", 8).focus()
    assert "image[0, 0, 1, 2] = 9 goes to" in visit.page.inner_text("#said")


def test_one_tab_stop_for_each_tensor(visit):
    visit.open()
    assert visit.page.locator(".tensor.image td[tabindex='0']").count() == 1
    assert visit.page.locator(".tensor.columns td[tabindex='0']").count() == 1


def test_a_link_carries_the_state(visit):
    state = {
        "operator": "fold",
        "dialect": "onnx",
        "shape": [2, 1, 4, 4],
        "kernel": [2, 2],
        "chosen": {"side": "image", "index": 3},
    }
    visit.open(state)
    shown = visit.state()
    assert {name: shown[name] for name in state} == state
    assert "onnx.Col2Im" in visit.page.inner_text("#call")


def test_the_link_follows_each_change(visit):
    visit.open()
    visit.choose("operator", "space_to_depth")
    visit.fill("kernel", "2")
    carried = json.loads(urllib.parse.unquote(visit.page.evaluate("location.hash")[1:]))
    assert carried["operator"] == "space_to_depth"
    assert carried["kernel"] == [2, 2]
    before = visit.state()
    visit.page.reload()
    visit.page.wait_for_selector("html[data-ready=yes]")
    assert visit.state() == before


def test_a_changed_hash_is_taken_without_loading(visit):
    visit.open()
    visit.page.evaluate("location.hash = encodeURIComponent(JSON.stringify({operator: 'fold'}))")
    visit.page.wait_for_function("patchfoldPage.state.operator === 'fold'")
    assert visit.page.input_value("#operator") == "fold"


@pytest.mark.parametrize(
    ("hash_", "said"),
    [
        ("%%%", "no JSON"),
        ('{"shape":[1,2,1e9],"dialect":"onnx"}', "shape must be a list"),
    ],
)
def test_a_damaged_link_is_told_and_the_page_works(visit, hash_, said):
    visit.open()
    visit.page.evaluate("hash => { location.hash = hash }", hash_)
    visit.page.wait_for_selector("#faults p")
    assert said in visit.page.inner_text("#faults")
    assert "error" not in visit.numbers()


def test_an_element_beyond_the_tensors_is_let_go(visit):
    visit.open({"chosen": {"side": "image", "index": 100000}})
    assert visit.state()["chosen"] is None
    visit.open({"chosen": {"side": "columns", "index": 50}})
    visit.fill("shape", "1, 1, 4, 4")
    assert visit.state()["chosen"] is None


def test_reset_brings_the_defaults_and_keeps_the_theme(visit):
    visit.open({"operator": "fold", "theme": "dark"})
    visit.page.click("#reset")
    assert visit.state()["operator"] == "unfold"
    assert visit.state()["theme"] == "dark"


def test_copy_link(visit, context):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.open(CHOSEN)
    visit.page.click("#copy-link")
    visit.page.wait_for_function("document.getElementById('said').textContent !== ''")
    assert "copied" in visit.page.inner_text("#said").lower()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_themes(visit, theme):
    visit.open()
    visit.choose("theme", theme)
    red = visit.page.evaluate("parseInt(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])")
    assert (red > 128) == (theme == "light")


def test_the_form_shows_what_matters(visit):
    visit.open()
    assert visit.page.locator("#padding_mode").count() == 1
    visit.choose("dialect", "torch")
    assert visit.page.locator("#padding_mode").count() == 0
    assert visit.page.locator("#order").count() == 0
    visit.choose("operator", "depth_to_space")
    assert visit.page.locator("#stride").count() == 0
    assert visit.state()["dialect"] == "torch"
    visit.choose("operator", "extract_patches")
    assert visit.state()["dialect"] == "patchfold"  # torch has no such operator


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("shape", "1, 2", "shape must be a list of 3 to 5"),
        ("shape", "one", "is no whole number"),
        ("kernel", "0", "kernel must be a list"),
        ("kernel", "2, 2, 2", "kernel must have 2 entries"),
        ("stride", "", "write numbers"),
        ("padding", "1:2:3", "is no number or pair"),
    ],
)
def test_wrong_text_is_told_beside_its_field(visit, field, text, said):
    visit.open()
    before = visit.state()
    visit.fill(field, text)
    assert said in visit.page.inner_text(f"#{field}-fault")
    assert visit.page.get_attribute(f"#{field}", "aria-invalid") == "true"
    assert visit.state() == before


@pytest.mark.parametrize("text", ["2 x 3", "2×3", "[2, 3]", "(2,3)", "2 3"])
def test_lists_are_read_as_people_write_them(visit, text):
    visit.open()
    visit.fill("kernel", text)
    assert visit.state()["kernel"] == [2, 3]


def test_one_number_holds_for_every_axis(visit):
    visit.open()
    visit.fill("stride", "3")
    visit.fill("padding", "2")
    assert visit.state()["stride"] == [3, 3]
    assert visit.state()["padding"] == [[2, 2], [2, 2]]


def test_another_number_of_axes(visit):
    visit.open()
    visit.fill("shape", "1, 2, 8")
    assert visit.state()["kernel"] == [3]
    assert visit.page.locator(".tensor.image tbody tr").count() == 2
    visit.fill("shape", "1, 1, 3, 4, 5")
    assert visit.state()["kernel"] == [3, 3, 3]
    assert visit.page.locator(".tensor.image table").count() == 3  # a table for each slice of the volume
    visit.cell("columns", 0).hover()
    assert "tap (0, 0, 0)" in visit.told()


def test_errors_come_from_the_library(visit):
    visit.open({"operator": "space_to_depth", "shape": [1, 2, 5, 6], "kernel": [2, 2]})
    assert "space_to_depth" in visit.page.inner_text("#error-text")
    assert "multiple" in visit.page.inner_text("#error-text")
    assert "What would be right" in visit.page.inner_text("#error-nearby")


def test_a_wrong_number_of_positions_is_explained(visit):
    visit.open({"operator": "fold"})
    visit.fill("input", "1, 18, 8")
    assert "given 8, expected 9" in visit.page.inner_text("#error-text")
    visit.fill("input", "")
    assert visit.page.locator("#refused").count() == 0


def test_torch_refuses_pads_that_differ(visit):
    visit.open({"dialect": "torch", "padding": [[1, 0], [1, 1]]})
    assert "padding" in visit.page.inner_text("#error-text")


def test_coverage_is_what_the_library_counts(visit):
    visit.open()
    visit.choose("show", "coverage")
    shown = [
        int(text) for text in visit.page.locator(".tensor.image table").first.locator("td[data-index]").all_inner_texts()
    ]
    problem = "coverage int32 - output_size=5,6 kernel_size=3,3 stride=2,2 padding=1:1,1:1"
    assert shown == visit.run(problem, [])["values"]


def test_fold_step_by_step_ends_at_the_sum(visit):
    visit.open({"operator": "fold", "shape": [1, 1, 5, 6]})
    whole = visit.page.locator(".tensor.image td[data-index]").all_inner_texts()
    visit.page.click("#step-first")
    assert set(visit.page.locator(".tensor.image td[data-index]").all_inner_texts()) == {"0"}
    patches = 9
    for step in range(1, patches + 1):
        visit.page.click("#step-next")
        assert visit.page.inner_text("#step-count") == f"{step} of {patches}"
        assert visit.page.locator(".tensor.columns td.added").count() == 9
    assert visit.page.locator("#step-next").is_disabled()
    assert visit.page.locator(".tensor.image td[data-index]").all_inner_texts() == whole
    visit.page.click("#step-back")
    assert visit.state()["step"] == 8


def test_steps_add_one_patch_each(visit):
    visit.open({"operator": "fold", "shape": [1, 1, 4, 4], "kernel": [2, 2], "stride": [1, 1], "padding": [[0, 0], [0, 0]]})
    visit.page.evaluate("patchfoldPage.set({step: 2})")
    shown = [int(text) for text in visit.page.locator(".tensor.image td[data-index]").all_inner_texts()]
    # Taps (0,0), (0,1), (1,0), (1,1) of patches 0 and 1 are elements i = 9 * tap + patch, whose value is i + 1.
    assert shown == [1, 2 + 10, 11, 0, 19, 20 + 28, 29, 0] + [0] * 8


def test_batches_and_channels_are_chosen(visit):
    visit.open({"shape": [3, 9, 4, 4]})
    visit.page.fill("#view-batch", "2")
    visit.page.press("#view-batch", "Enter")
    visit.page.fill("#view-channel", "5")
    visit.page.press("#view-channel", "Enter")
    assert "batch 2" in visit.page.locator(".tensor.image caption").first.inner_text()
    assert visit.page.locator(".tensor.image caption", has_text="batch 0").count() == 0
    assert visit.page.locator(".tensor.image caption", has_text="channel 5").count() == 1


def test_large_shapes_are_abbreviated_and_say_so(visit):
    visit.open({"shape": [1, 1, 100, 120]})
    assert "rows" in visit.page.locator(".tensor.image .note").inner_text()
    assert visit.page.locator(".tensor.image td").count() < 1200
    visit.page.evaluate("patchfoldPage.set({chosen: {side: 'columns', index: 1501}})")
    assert visit.marked("columns", "chosen") == [1501]
    assert len(visit.marked("image", "linked")) == 1


def test_huge_shapes_are_not_drawn_but_explained(visit):
    visit.open({"shape": [8, 64, 512, 512]})
    assert "too many elements" in visit.page.inner_text("#panel")
    visit.panel("cost")
    assert "[8, 576, 65536]" in visit.page.inner_text("#cost-output")
    assert "1.13 GB" in visit.page.inner_text("#cost-output")
    assert visit.page.locator("#cost-run").is_disabled()


@pytest.mark.parametrize("operator", ["unfold", "fold", "space_to_depth", "batch_to_space"])
def test_giant_shapes_do_no_harm(visit, operator):
    state = {"operator": operator, "shape": [4096] * 5, "kernel": [64] * 3, "dtype": "float64"}
    for panel in ("patches", "orders", "seams", "cost", "picture"):
        visit.open({**state, "panel": panel})
        assert visit.page.inner_text("#panel").strip()
    visit.open()
    assert "error" not in visit.numbers()


def test_the_slider_of_steps(visit):
    visit.open({"operator": "fold", "step": 3})
    visit.page.focus("#step")
    visit.page.keyboard.press("ArrowRight")
    assert visit.state()["step"] == 4
    assert visit.page.evaluate("document.activeElement.id") == "step"


def test_blocks_are_drawn_as_planes(visit):
    visit.open({"operator": "space_to_depth", "dialect": "onnx", "shape": [1, 1, 4, 6], "kernel": [2, 2]})
    assert visit.page.locator(".tensor.columns table").count() == 4
    visit.cell("columns", 7).hover()
    trace = visit.trace()["trace"]
    assert visit.marked("image", "linked") == [trace[7]]
    assert "of block" in visit.told()


def test_many_planes_are_abbreviated(visit):
    visit.open({"shape": [1, 40, 4, 4]})
    assert "planes 0 to 11 of 40" in visit.page.locator(".tensor.image .note").inner_text()
    visit.open({"operator": "space_to_batch", "shape": [2, 1, 4, 4], "kernel": [2, 2], "padding": [[0, 0], [0, 0]]})
    assert visit.page.locator(".tensor.columns table").count() == 8  # a table for each of the 8 batches of the result


def test_batches_of_blocks(visit):
    visit.open(
        {
            "operator": "space_to_batch",
            "dialect": "tensorflow",
            "shape": [1, 2, 4, 4],
            "kernel": [2, 2],
            "padding": [[0, 0], [2, 0]],
        }
    )
    visit.cell("image", 0).hover()
    index = visit.trace()["trace"].index(0)
    assert visit.told().endswith(f"[{', '.join(map(str, coordinates(index, [4, 2, 3, 2])))}]")


def coordinates(index, shape):
    result = []
    for extent in reversed(shape):
        index, at = divmod(index, extent)
        result.insert(0, at)
    return result

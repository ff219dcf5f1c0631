# SPDX-License-Identifier: Apache-2.0
"""Tests of form fields that lose the focus, and of messages about unusual shapes and numbers."""

import pytest


def typed(visit, name, text):
    """Types into a field, which keeps the focus."""
    visit.page.click(f"#{name}")
    visit.page.keyboard.press("Control+A")
    visit.page.keyboard.type(text)


def focused(visit):
    return visit.page.evaluate("document.activeElement.id")


def test_leaving_a_field_takes_its_text_and_goes_where_one_goes(visit):
    visit.open()
    typed(visit, "kernel", "2")
    visit.page.keyboard.press("Tab")
    assert (visit.state()["kernel"], focused(visit)) == ([2, 2], "stride")
    typed(visit, "kernel", "3")
    visit.page.click("#stride")
    assert (visit.state()["kernel"], focused(visit)) == ([3, 3], "stride")
    typed(visit, "stride", "1")
    visit.page.click("#tab-cost")
    assert (visit.state()["stride"], visit.state()["panel"]) == ([1, 1], "cost")


def test_a_press_that_leaves_a_field_of_a_panel_counts(visit):
    visit.open({"panel": "seams", "seams": {"size": [96, 128], "tile": [48, 48], "overlap": [16, 16]}})
    typed(visit, "seams-tile", "64")
    visit.page.click("#seams-overlap")
    assert focused(visit) == "seams-overlap"
    typed(visit, "seams-tile", "40")
    visit.page.click("#seams-compare")
    assert visit.page.locator("#gallery figure").count() == 13
    assert visit.state()["seams"]["tile"] == [40, 40]
    visit.open({"panel": "which"})
    typed(visit, "which-image", "1 2 3")
    visit.page.keyboard.press("Tab")
    assert focused(visit) == "which-columns"
    visit.page.keyboard.type("1")
    visit.page.click("#which-example")
    assert len(visit.page.input_value("#which-image")) > 40


@pytest.mark.parametrize("shape", [[0, 2, 5, 6], [1, 0, 5, 6], [2, 2, 2, 5, 6], [2, 5, 6]], ids=str)
def test_what_is_no_image_of_one_batch_axis_is_not_drawn(visit, shape):
    visit.open({"input": shape})
    assert "only images of one batch axis" in visit.page.inner_text("#panel")


def test_a_mean_is_called_a_mean(visit):
    visit.open({"operator": "fold", "reduce": "mean", "chosen": {"side": "image", "index": 7}})
    assert "is the mean of 4 elements" in visit.told()
    visit.open({"operator": "fold", "reduce": "mean", "step": 4, "chosen": {"side": "image", "index": 7}})
    assert "is the sum divided by 4 of 3 elements" in visit.told() or "is the sum divided by 4 of 2 elements" in visit.told()


def test_a_sum_counts_what_is_added_so_far(visit):
    chosen = {"side": "image", "index": 7}
    visit.open({"operator": "fold", "chosen": chosen})
    assert "is the sum of 4 elements" in visit.told() and "so far" not in visit.told()
    elements = []
    for step in range(10):
        visit.open({"operator": "fold", "step": step, "chosen": chosen})
        told = visit.told()
        value = int(told.split(" = ")[1].split()[0].rstrip(":"))
        count = 0 if "is added yet" in told else int(told.split("sum of ")[1].split()[0])
        assert (value == 0) == (count == 0), told
        assert ("4 at the end" in told) == (0 < count < 4), told
        elements.append(count)
    assert elements == sorted(elements) and elements[0] == 0 and elements[-1] == 4 and len(set(elements)) > 2


def test_focus_marks_an_entry_in_every_system(visit):
    visit.open({"panel": "orders", "shape": [1, 2, 4, 4], "kernel": [2, 2]})
    visit.page.focus("[aria-label='Orders of all systems']")
    visit.page.keyboard.press("Tab")
    assert visit.page.locator("#orders td.linked").count() == 5
    first = visit.page.locator("#orders td.linked").first.get_attribute("data-entry")
    visit.page.keyboard.press("Tab")
    assert visit.page.locator("#orders td.linked").first.get_attribute("data-entry") != first
    visit.page.focus("#tab-orders")
    assert visit.page.locator("#orders td.linked").count() == 0


def test_a_press_on_copy_that_leaves_a_field_counts(visit):
    visit.open({"panel": "copy"})
    assert visit.page.evaluate("new Set([...document.querySelectorAll('[data-copy]')].map((each) => each.id)).size") == 10
    typed(visit, "kernel", "2")
    visit.page.click("[data-copy='PyTorch']")
    visit.page.wait_for_function("document.getElementById('said').textContent !== ''")
    assert visit.state()["kernel"] == [2, 2]


def test_a_link_of_another_version_is_told_in_words(visit):
    visit.open({"version": 2, "kernel": [2, 2]})
    assert "made by another version of the page" in visit.page.inner_text("#faults")
    assert visit.state()["kernel"] == [2, 2]


def test_large_figures_have_no_powers_of_ten(visit):
    visit.open({"panel": "cost", "shape": [1, 1, 1000, 1024], "kernel": [64, 64], "stride": [1, 1], "dtype": "uint8"})
    assert "1000 KB" in visit.page.inner_text("#cost-input")
    assert "e+" not in visit.page.inner_text("#panel")

# SPDX-License-Identifier: Apache-2.0
"""Opens the page in a headless Chromium, from the disk and without a network."""

import json
import os
import shutil
import urllib.parse
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
PAGE = Path(os.environ.get("PATCHFOLD_PAGE", ROOT / "build" / "web" / "page" / "index.html"))
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def link(state):
    """Returns the page's address with a link to a state."""
    carried = f"#{urllib.parse.quote(json.dumps(state))}" if state else ""
    return PAGE.as_uri() + carried


class Driver:
    """A driver of the page, which acts like a visitor and records errors."""

    def __init__(self, page: Page):
        self.page = page
        self.faults: list[str] = []
        self.asked: list[str] = []
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("console", lambda text: self.faults.append(text.text) if text.type == "error" else None)
        page.on("request", lambda request: self.asked.append(request.url))

    def open(self, state=None):
        self.page.goto("about:blank")
        self.page.goto(link(state))
        self.page.wait_for_selector("html[data-ready=yes]")
        return self

    def state(self):
        return self.page.evaluate("patchfoldPage.state")

    def numbers(self, state=None):
        return self.page.evaluate("state => patchfoldPage.numbers(state)", state)

    def trace(self, state=None):
        return self.page.evaluate("state => patchfoldPage.trace(state)", state)

    def run(self, problem, values):
        return self.page.evaluate("([problem, values]) => patchfoldPage.run(problem, values)", [problem, values])

    def fill(self, name, text):
        """Types into a field of the form and presses Enter."""
        self.page.fill(f"#{name}", text)
        self.page.press(f"#{name}", "Enter")

    def choose(self, name, word):
        self.page.select_option(f"#{name}", word)

    def cell(self, side, index):
        return self.page.locator(f".tensor.{side} td[data-index='{index}']")

    def marked(self, side, name):
        """Returns the indices of the elements that have the mark `name`."""
        found = self.page.eval_on_selector_all(f".tensor.{side} td.{name}", "cells => cells.map(cell => cell.dataset.index)")
        return sorted(int(each) for each in found if each is not None)

    def told(self):
        return self.page.inner_text("#told")

    def panel(self, name):
        self.page.click(f"#tab-{name}")


@pytest.fixture(scope="session")
def browser():
    program = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    assert program, "there is no browser: install chromium"
    assert PAGE.exists(), f"{PAGE} is missing: run scripts/web"
    with sync_playwright() as player:
        started = player.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def context(browser):
    made = browser.new_context(viewport={"width": 1200, "height": 900}, offline=True)
    yield made
    made.close()


@pytest.fixture
def visit(context):
    """Returns the driver of a fresh page, and checks that nothing was logged as an error or fetched."""
    driver = Driver(context.new_page())
    driver.page.set_default_timeout(20_000)
    yield driver
    assert driver.faults == []
    assert [url for url in driver.asked if not url.startswith(("file:", "data:", "blob:", "about:"))] == []

# SPDX-License-Identifier: Apache-2.0
"""Writes the pictures of the page that docs/explain.md shows.

usage: pictures.py FOLDER, which gets page-light.png and others
"""

import shutil
import sys
from pathlib import Path

from conftest import BROWSERS, link
from playwright.sync_api import sync_playwright

# For each picture, by name: the width and height of the window, and the state of the page.
PICTURES = {
    "light": (1000, 680, {"theme": "light", "shape": [1, 1, 5, 6], "chosen": {"side": "image", "index": 7}}),
    "dark": (1000, 680, {"theme": "dark", "operator": "fold", "shape": [1, 1, 5, 6], "step": 5}),
    "phone": (
        390,
        760,
        {
            "theme": "light",
            "operator": "depth_to_space",
            "dialect": "torch",
            "shape": [1, 1, 4, 4],
            "kernel": [2, 2],
            "chosen": {"side": "image", "index": 6},
        },
    ),
}


def take(page, name):
    """Returns the picture as the bytes of a PNG file."""
    width, height, state = PICTURES[name]
    page.set_viewport_size({"width": width, "height": height})
    page.goto("about:blank")
    page.goto(link(state))
    page.wait_for_selector("html[data-ready=yes]")
    return page.screenshot(animations="disabled")


def main():
    folder = Path(sys.argv[1])
    program = next(path for name in BROWSERS if (path := shutil.which(name)))
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name in PICTURES:
            (folder / f"page-{name}.png").write_bytes(take(browser.new_page(), name))
        browser.close()


if __name__ == "__main__":
    main()

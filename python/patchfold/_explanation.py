# SPDX-License-Identifier: Apache-2.0
"""The text and the picture of an explanation, for a terminal and for a notebook."""

from __future__ import annotations

import functools
import html
from collections.abc import Callable


class Explanation:
    """An explanation: ``str()`` is its text, ``svg`` its picture. A notebook shows the picture, and the text below it."""

    def __init__(self, text: str, draw: Callable[[], str] | None = None) -> None:
        self._draw = draw
        self.text = text
        """The text for a terminal: lines of ASCII, at most 100 characters long."""

    @functools.cached_property
    def svg(self) -> str:
        """The picture, an SVG document that follows the reader's light or dark scheme; "" if there is none."""
        return "" if self._draw is None else self._draw()

    def __repr__(self) -> str:
        return self.text

    def _repr_svg_(self) -> str | None:
        return self.svg or None

    def _repr_html_(self) -> str:
        return html_of(self.svg, self.text)


def html_of(svg: str, text: str, summary: str = "the same as text") -> str:
    """Returns a picture for a notebook, with a text that can be opened below."""
    picture = f'<div style="max-width:960px;overflow-x:auto">{svg}</div>' if svg else ""
    return (
        f"{picture}<details{'' if svg else ' open'}><summary>{html.escape(summary)}</summary>"
        f'<pre style="line-height:1.25">{html.escape(text)}</pre></details>'
    )

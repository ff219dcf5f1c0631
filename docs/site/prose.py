# SPDX-License-Identifier: Apache-2.0
"""Turns comments and docstrings, which are plain text, into Markdown."""

import re

CODE = re.compile(r"``(.+?)``|`([^`\n]+)`")
PAGE = re.compile(r"\bdocs/([a-z][a-z-]*)\.md\b")  # a page of the site; a reference lies in a folder beside it
SPECIAL = re.compile(r"([\\*_<>\[\]#|~$`])")


def escaped(text):
    """Returns Markdown that shows a plain text. Text in back quotes is code, and the name of a page becomes a link to the
    page."""
    parts, at = [], 0
    for match in CODE.finditer(text):
        parts += [SPECIAL.sub(r"\\\1", text[at : match.start()]), f"`{match[1] or match[2]}`"]
        at = match.end()
    return PAGE.sub(r"[\1.md](../\1.html)", "".join(parts) + SPECIAL.sub(r"\\\1", text[at:]))


def fenced(code, language):
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", code)), 3)
    return f"{fence}{language}\n{code}\n{fence}\n"


def kept(lines):
    least = min(len(line) - len(line.lstrip()) for line in lines if line)
    return "\n".join(line[least:] for line in lines).rstrip()


def paragraphs(text):
    """Returns plain text as Markdown: indented lines keep their layout, lines that begin with a dash are a list, other lines
    flow."""
    blocks = [("gap", [])]
    for line in text.split("\n"):
        last = blocks[-1][0]
        if not line.strip():
            kind = "kept" if last == "kept" else "gap"
        elif re.match(r"\s*[-*] ", line) and last != "kept":
            kind = "bullet"
        elif line.startswith("  "):
            kind = last if last in ("bullet", "kept") else "kept"
        else:
            kind = "flow"
        if kind == last and (kind != "bullet" or line.startswith("  ") and not re.match(r"\s*[-*] ", line)):
            blocks[-1][1].append(line.rstrip())
        else:
            blocks.append((kind, [line.rstrip()]))
    made = []
    for kind, lines in blocks:
        if kind == "kept":
            made.append(fenced(kept(lines), "text"))
        elif kind == "bullet":
            made.append("- " + escaped(" ".join(line.strip() for line in lines).removeprefix("- ").removeprefix("* ")))
        elif kind == "flow":
            made.append(escaped(" ".join(line.strip() for line in lines)) + "\n")
        else:
            made.append("")
    return "\n".join(made).strip() + "\n"

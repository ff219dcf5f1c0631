# SPDX-License-Identifier: Apache-2.0
"""Puts together the files that Sphinx reads: the pages of docs/ and of the tree's root, and the generated references.

usage: assemble.py ROOT FOLDER

The pages of docs/ are written for a forge such as GitHub. In the site, a link to another page leads to that page, and a link
to a public header leads to the header's page of the reference, and a link to any other file to the project's repository.
Comments are taken out.
"""

import os
import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

import header_reference
import python_reference
import tomllib

ROOT_PAGES = {
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "CONVENTIONS.md": "conventions.md",
    "SECURITY.md": "security.md",
}
PYTHON = """The public modules, from their docstrings. `help(patchfold.unfold)` prints the same.
[The guide](../python.html) says which function is for what."""
HEADERS = """The public headers, from their comments, in the order in which they are read. C programs include
`patchfold/patchfold.h`, C++ programs `patchfold/patchfold.hpp`, which includes all headers that end in `.hpp`.
Guides: [embedding](../embedding.html), [the C interface](../c-abi.html)."""
INDEX = "docs/site/index.md"
FENCE = re.compile(r"^(```+)[^\n]*\n.*?^\1$", re.M | re.S)
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)")


def without_comments(text):
    """Returns the text without comments, except those in code."""
    kept = re.compile(rf"{FENCE.pattern}|(?s:[ \t]?<!--.*?-->)|(?<!`)`[^`\n]+`(?!`)", re.M | re.S)
    return kept.sub(lambda match: "" if match[0].lstrip().startswith("<!--") else match[0], text)


def with_links(text, change):
    """Returns the text with `change` applied to every link outside fenced blocks. The words of a link may contain code."""
    made, at = [], 0
    for match in FENCE.finditer(text):
        made += [LINK.sub(change, text[at : match.start()]), match[0]]
        at = match.end()
    return "".join(made) + LINK.sub(change, text[at:])


class Site:
    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        self.url = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Source"]
        self.pages = {INDEX: "index.md", "README.md": "index.md", **ROOT_PAGES}
        for path in sorted((root / "docs").rglob("*.md")):
            name = path.relative_to(root).as_posix()
            if not name.startswith("docs/site/"):
                self.pages[name] = name.removeprefix("docs/")
        self.headers = {
            f"include/patchfold/{path.name}": f"headers/{path.name}.md"
            for path in sorted((root / "include" / "patchfold").glob("*.h*"))
        }
        self.pictures = 0

    def target(self, page, link):
        """Returns where a link of a page of the tree leads in the site."""
        name, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link) or not name:
            return link
        if name.endswith(".html"):
            return link  # a page of the reference
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), name))
        found = self.pages.get(path) or self.headers.get(path)
        if found:
            here = posixpath.dirname(self.pages[page])
            name = posixpath.relpath(found, here or ".").removesuffix(".md") + ".html"
        elif path.startswith("docs/") and path.endswith((".svg", ".png")):
            return posixpath.relpath(path.removeprefix("docs/"), posixpath.dirname(self.pages[page]) or ".")
        else:
            if not (self.root / path).exists():
                sys.exit(f"{page}: the link {link} leads to no file")
            name = f"{self.url}/blob/HEAD/{path}"
        return f"{name}#{anchor}" if anchor else name

    def drawn(self, match):
        """Returns a picture of a flowchart in Mermaid, since the site loads no program that could draw it."""
        lines = [
            "digraph {",
            'rankdir=BT; bgcolor=transparent; node [shape=box, fontname="sans-serif", fontsize=11, color="#808080",',
            'style=filled, fillcolor="#eef3f8", fontcolor="#1b1b1b"]; edge [color="#808080"];',
        ]
        for line in match[1].split("\n"):
            if node := re.match(r'\s*(\w+)\["(.*)"\]$', line):
                label = node[2].replace("<br/>", "\\n").replace(", src/", ",\\nsrc/")
                lines.append(f'{node[1]} [label="{label}"];')
            elif edge := re.match(r"\s*(\w+) --> (\w+)$", line):
                lines.append(f"{edge[1]} -> {edge[2]};")
            elif group := re.match(r"\s*subgraph (\w+)$", line):
                grey = 'color="#808080"; fontcolor="#808080"; fontname="sans-serif";'
                lines.append(f'subgraph cluster_{group[1]} {{ label="{group[1]}"; {grey}')
            elif line.strip() == "end":
                lines.append("}")
            elif line.strip() and not line.startswith("flowchart"):
                sys.exit(f"cannot draw this line of a flowchart: {line}")
        self.pictures += 1
        name = f"flowchart-{self.pictures}.svg"
        subprocess.run(
            ["dot", "-Tsvg", "-o", str(self.folder / name)], input="\n".join([*lines, "}"]), text=True, check=True
        )
        return f"![An arrow leads from each room to the rooms that it includes]({name})\n"

    def translated(self, page, text):
        text = without_comments(text)
        text = re.sub(r"(?ms)^```mermaid\n(.*?)^```$", self.drawn, text)
        text = re.sub(r"(?m)^```(\w+) [^\n]+$", r"```\1", text)
        return with_links(text, lambda link: f"{link[1]}({self.target(page, link[2])})")

    def put(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def assemble(self):
        for page, name in self.pages.items():
            if page != "README.md":
                self.put(name, self.translated(page, (self.root / page).read_text(encoding="utf-8")))
        for path in [*(self.root / "docs").glob("*.svg"), *(self.root / "docs").glob("*.png")]:
            shutil.copy(path, self.folder)
        modules = python_reference.pages(self.root / "python")
        for module, text in modules.items():
            self.put(f"python/{module}.md", text)
        self.put("python/index.md", index_of("Python reference", PYTHON, modules))
        for header, name in self.headers.items():
            text = (self.root / header).read_text(encoding="utf-8")
            self.put(name, header_reference.page(os.path.basename(header), text))
        first = "patchfold.h pictures.h tiling.h dlpack.h patchfold.hpp operators.hpp tensor.hpp plan.hpp".split()
        first += ["pictures.hpp", "tiling.hpp"]
        names = sorted((os.path.basename(name) for name in self.headers), key=lambda name: (name not in first, name))
        ordered = [*first, *(name for name in names if name not in first)]
        self.put("headers/index.md", index_of("C and C++ reference", HEADERS, ordered))


def index_of(title, text, entries):
    return f"# {title}\n\n{text}\n\n```{{toctree}}\n:maxdepth: 1\n\n" + "\n".join(entries) + "\n```\n"


def main():
    root, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    Site(root, folder).assemble()


if __name__ == "__main__":
    main()

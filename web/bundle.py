#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the page into one file: usage: web/bundle.py ENGINE_FOLDER INDEX.HTML

esbuild makes one script of web/page/main.js and the modules that it imports. The page contains the WebAssembly of
ENGINE_FOLDER, compressed, since a browser loads no other file for a page from the disk.
"""

import base64
import gzip
import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent / "page"
TABLE = PAGE.parents[1] / "python/patchfold/_orders/elsewhere.py"
# For each word of `order` and `mode` of patchfold's operators: the slow index and the condition with which TABLE lists the
# calls of other systems that make the same order.
ORDERS = {
    "channel": ("channel", "zero"),
    "kernel": ("kernel", "zero"),
    "blocks_first": ("kernel", "blocks"),
    "depth_first": ("channel", "blocks"),
}


def elsewhere() -> dict[str, str]:
    """Returns, for each order, the calls of other systems that make this order, as one text."""
    made = [row.made for row in runpy.run_path(str(TABLE))["ROWS"] if row.made]
    return {
        word: "; ".join(each.name for each in made if each.order == slow and fact in each.when.split())
        for word, (slow, fact) in ORDERS.items()
    }


def bundle(engine: Path) -> str:
    """Returns all modules as one script. The module "engine" is the one that emscripten made."""
    if shutil.which("esbuild") is None:
        sys.exit("bundle.py: esbuild is missing; scripts/setup docs installs it")
    command = ["esbuild", "main.js", "--bundle", "--minify", "--format=esm", "--target=es2022", "--log-level=warning"]
    loader = engine / "engine.mjs"
    given = [f"--alias:engine={loader.resolve()}", f"--define:ELSEWHERE={json.dumps(elsewhere())}"]
    done = subprocess.run([*command, *given], cwd=PAGE, capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"bundle.py: esbuild: {done.stderr}")
    return done.stdout


def styles() -> str:
    """Returns the style of the page. Dark systems get the colours of the dark theme, unless the page's theme is light."""
    palette, layout = ((PAGE / name).read_text(encoding="utf-8") for name in ("palette.css", "style.css"))
    dark = palette.partition(':root[data-theme="dark"]')[2]
    return f'{palette}@media (prefers-color-scheme: dark) {{\n:root:not([data-theme="light"]){dark}}}\n{layout}'


def put_in(page: str, mark: str, text: str) -> str:
    """Returns the page with the text in place of the comment `mark`. Fails if the text would end its HTML element early."""
    comment = f"<!-- {mark} -->"
    if page.count(comment) != 1:
        sys.exit(f"bundle.py: index.html must have {comment} once")
    return page.replace(comment, text)


def main() -> None:
    engine, target = Path(sys.argv[1]), Path(sys.argv[2])
    script = bundle(engine)
    if "</script" in script.lower():
        sys.exit("bundle.py: the script would end itself")
    packed = base64.b64encode(gzip.compress((engine / "engine.wasm").read_bytes(), 9, mtime=0)).decode()
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    page = put_in(page, "style", f"<style>\n{styles()}</style>")
    page = put_in(
        page,
        "script",
        f'<script type="application/octet-stream" id="engine">{packed}</script>\n<script type="module">{script}</script>',
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page, encoding="utf-8")
    compressed = len(gzip.compress(page.encode(), 9))
    print(f"bundle.py: {target}: {len(page.encode()):,} bytes, {compressed:,} compressed")
    if compressed > 1_000_000:
        sys.exit("bundle.py: more than 1 MB compressed")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Runs site_test.py on small sites with one known fault each, and expects that it names the fault. Also tests
header_reference.py and prose.py.

usage: site_self_test.py SITE_TEST_PY --root FOLDER
"""

import argparse
import http.server
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

INDEX = '<html><body><h1 id="top">T</h1><a href="a.html#here">A</a> <img src="p.svg" alt="A picture of a"></body></html>'
SOUND = {"index.html": INDEX, "a.html": '<p id="here">x <code>](b.html)</code></p>', "p.svg": "<svg/>"}
# A page and the text to add to it, or a new file and its text; and the line that the report must have.
FAULTS = [
    ("a.html", '<a href="b.html">b</a>', "FAILED links: a.html: the link b.html leads to no file"),
    ("a.html", '<a href="#there">b</a>', "FAILED links: a.html: the link #there leads to no element"),
    ("a.html", '<a href="index.html#bottom">b</a>', "FAILED links: a.html: the link index.html#bottom leads to no element"),
    ("a.html", '<a href="../../outside.html">b</a>', "FAILED links: a.html: the link ../../outside.html leads to no file"),
    ("lonely.html", "<p>x</p>", "FAILED reachable: lonely.html: no page leads to it"),
    ("a.html", '<script src="https://example.com/x.js"></script>', "FAILED alone: a.html: loads https://example.com/x.js"),
    ("a.html", '<link rel="stylesheet" href="no.css">', "FAILED alone: a.html: loads no.css, which is not there"),
    ("a.html", '<a href="http://example.com">b</a>', "FAILED alone: a.html: the link http://example.com is not https"),
    ("x.css", "@font-face { src: url(https://example.com/f.woff) }", "FAILED alone: x.css: loads https://example.com/f.woff"),
    ("a.html", '<img src="no.svg" alt="A picture of a">', "FAILED pictures: a.html: the picture no.svg is not there"),
    ("a.html", '<img src="p.svg">', "FAILED pictures: a.html: the picture p.svg does not say what it shows"),
    ("a.html", "<!-- Written by x -->", "FAILED clean: a.html: has the comment Written by x"),
    ("a.html", "<p>```python</p>", "FAILED clean: a.html: has unread markup: ```"),
    ("a.html", "<p>[b](b.md)</p>", "FAILED clean: a.html: has unread markup: ](b.md)"),
]

HEADER = """// SPDX-License-Identifier: Apache-2.0
// What the header is for.
//
//   one(2);
#pragma once

namespace patchfold {

/// Adds *two* numbers.
///   a, b  the numbers
PF_API int one(int a,
               int b);

namespace detail {
/// Nobody's business.
int hidden();
}  // namespace detail

/// A thing.
class Thing {
 public:
  int shown();

 private:
  int kept_;
};
}  // namespace patchfold
"""


class Answers(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.send_response(404 if "gone" in self.path else 403 if "shy" in self.path else 200)
        self.end_headers()

    def log_message(self, *words):
        pass


def external_faults(check):
    """Yields a fault unless site_test.py reports a missing page as a fault, and a site without an answer as unreached."""
    sys.path.insert(0, str(check.parent))
    import site_test

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{server.server_port}"
        with http.server.HTTPServer(("127.0.0.1", 0), Answers) as closed:
            nobody = f"http://127.0.0.1:{closed.server_port}/"
        faults, unreached = site_test.external([f"{place}/there", f"{place}/shy", f"{place}/gone", nobody])
        server.shutdown()
    if faults != [f"the link {place}/gone is answered with 404"] or unreached != [nobody]:
        yield f"links to other sites: {faults}, {unreached}"


def tested(check, files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, str(check), "--no-browser", folder], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("check", type=Path)
    parser.add_argument("--root", type=Path, required=True)
    options = parser.parse_args()
    failures = []
    code, report = tested(options.check, SOUND)
    if code or "docs: 5 passed, 0 failed, 1 skipped" not in report:
        failures.append(f"a sound site fails: {report}")
    for name, added, line in FAULTS:
        code, report = tested(options.check, {**SOUND, name: SOUND.get(name, "") + added})
        if code != 1 or line not in report:
            failures.append(f"no line {line!r}, but {report}")

    sys.dont_write_bytecode = True
    failures += external_faults(options.check)
    sys.path.insert(0, str(options.root / "docs" / "site"))
    import header_reference
    import prose

    page = header_reference.page("one.hpp", HEADER)
    for wanted in ("# one.hpp", "What the header is for.", "## one\n", "Adds \\*two\\* numbers.", "a, b  the numbers", "int b);",
                   "## Thing", "int shown();"):
        if wanted not in page:
            failures.append(f"the page of a header lacks {wanted!r}:\n{page}")
    for hidden in ("SPDX", "hidden", "kept_", "pragma", "///  a"):
        if hidden in page:
            failures.append(f"the page of a header has {hidden!r}:\n{page}")
    made = prose.paragraphs("One line\nand x_y.\n\n- a\n- b, and\n  more, docs/tiles.md\n\n  kept   so")
    if made != "One line and x\\_y.\n\n\n- a\n- b, and more, [tiles.md](../tiles.html)\n\n```text\nkept   so\n```\n":
        failures.append(f"a comment becomes {made!r}")
    for failure in failures:
        print(f"FAILED {failure}")
    print(f"site self-test: {len(FAULTS) + 1} sites, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Checks the built documentation site without a network.

usage: site_test.py [--no-browser] [--external] SITE [ROOT]

  links       every link within the site leads to a file, and its anchor to an element
  reachable   a reader who follows links from index.html finds every page
  alone       no page loads a file from another site, and no link to another site begins with http: or //
  pictures    every picture exists and has a description in words
  clean       no comment "Written by .." and no markup that Sphinx did not read is left in a page
  complete    with ROOT: the site has each page of docs/, header, module, operator and public name of the package
  search      in a browser, from the disk: words are found, and their results lead to existing places
  external    with --external: links to other sites are answered, unless the other site cannot be reached

Exits with 1 and a line for each fault; the last line is "docs: N passed, N failed, N skipped".
"""

import argparse
import html.parser
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data", "embed": "src", "video": "src"}
STYLES = ("stylesheet", "icon", "preload", "modulepreload")
QUERIES = {  # words to search for, and a page that must be among the results
    "unfold": "operators.html",
    "pf_plan_run": "headers/patchfold.h.html",
    "explain_order": "python/patchfold.html",
    "coverage": "glossary.html",
    "pixel shuffle": "models.html",
    "position_count": "errors.html",
    "Merger": "python/patchfold.html",
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Page(html.parser.HTMLParser):
    """A parser that collects the ids, links, pictures, loaded files and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.pictures, self.loaded, self.comments, self.text = set(), [], [], [], [], []
        self.code = 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids |= {attributes[name] for name in ("id", "name") if attributes.get(name) and (name == "id" or tag == "a")}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag == "img":
            self.pictures.append((attributes.get("src", ""), attributes.get("alt") or ""))
        if attributes.get(LOADING.get(tag)):
            self.loaded.append(attributes[LOADING[tag]])
        if tag == "link" and set(str(attributes.get("rel")).split()) & set(STYLES):
            self.loaded.append(attributes.get("href", ""))
        self.code += tag in ("pre", "code", "script", "style")

    def handle_endtag(self, tag):
        self.code -= tag in ("pre", "code", "script", "style")

    def handle_data(self, data):
        if not self.code:
            self.text.append(data)

    def handle_comment(self, data):
        self.comments.append(data)


class Site:
    def __init__(self, folder):
        self.folder = folder
        files = [
            path for path in sorted(folder.rglob("*.html")) if path.relative_to(folder).parts[0] not in ("page", "_static")
        ]
        self.pages = {path.relative_to(folder).as_posix(): Page(path.read_text(encoding="utf-8")) for path in files}

    def resolved(self, page, link):
        """Returns (file of the site, anchor) of a link on a page, or None for a link to another site."""
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            return None
        path = (self.folder / page).parent / urllib.parse.unquote(parts.path) if parts.path else self.folder / page
        path = path.resolve()
        inside = path.is_relative_to(self.folder.resolve())
        return path.relative_to(self.folder.resolve()).as_posix() if inside else "../outside", urllib.parse.unquote(
            parts.fragment
        )

    def links(self):
        for name, page in self.pages.items():
            for link in page.links:
                found = self.resolved(name, link)
                if found is None:
                    continue
                target, anchor = found
                if not (self.folder / target).is_file():
                    yield f"{name}: the link {link} leads to no file"
                elif anchor and target in self.pages and anchor not in self.pages[target].ids:
                    yield f"{name}: the link {link} leads to no element"

    def reachable(self):
        seen, waiting = {"index.html"}, ["index.html"]
        while waiting:
            name = waiting.pop()
            for link in self.pages[name].links if name in self.pages else ():
                found = self.resolved(name, link)
                if found and found[0] in self.pages and found[0] not in seen:
                    seen.add(found[0])
                    waiting.append(found[0])
        if "index.html" not in self.pages:
            yield "there is no index.html"
        for name in sorted(set(self.pages) - seen - {"search.html", "404.html"}):
            yield f"{name}: no page leads to it"

    def alone(self):
        for name, page in self.pages.items():
            for file in page.loaded:
                found = self.resolved(name, file)
                if file.startswith("data:"):
                    continue
                if found is None:
                    yield f"{name}: loads {file} from elsewhere"
                elif not (self.folder / found[0]).is_file():
                    yield f"{name}: loads {file}, which is not there"
            for link in page.links:
                if re.match(r"(http:|//)", link):
                    yield f"{name}: the link {link} is not https"
        for style in sorted(self.folder.rglob("*.css")):
            for url in re.findall(r"(?:@import\s+|url\()[\"']?(https?:[^\"')]+)", style.read_text(encoding="utf-8")):
                yield f"{style.relative_to(self.folder)}: loads {url} from elsewhere"

    def pictures(self):
        for name, page in self.pages.items():
            for source, words in page.pictures:
                found = self.resolved(name, source)
                if not source.startswith("data:") and (found is None or not (self.folder / found[0]).is_file()):
                    yield f"{name}: the picture {source} is not there"
                if len(words.split()) < 3:
                    yield f"{name}: the picture {source} does not say what it shows"

    def clean(self):
        for name, page in self.pages.items():
            for comment in page.comments:
                if "Written by" in comment:
                    yield f"{name}: has the comment {comment.strip()}"
            text = " ".join(page.text)
            for left in re.findall(r"<!--|```|\{py:\w+\}|\]\([\w./#-]+\)|\*\*\w[^*]*\*\*", text):
                yield f"{name}: has unread markup: {left}"

    def complete(self, root):
        def wants(page, anchor, what):
            if page not in self.pages:
                yield f"{what} has no page {page}"
            elif anchor and anchor not in self.pages[page].ids:
                yield f"{what} has no place in {page}"

        docs = root / "docs"
        for path in sorted(docs.rglob("*.md")):
            if docs / "site" not in path.parents:
                yield from wants(path.relative_to(docs).with_suffix(".html").as_posix(), "", path.name)
        for path in sorted((root / "include" / "patchfold").glob("*.h*")):
            yield from wants(f"headers/{path.name}.html", "", path.name)
        init = (root / "python" / "patchfold" / "__init__.py").read_text(encoding="utf-8")
        public = re.findall(r'"(\w+)"', re.search(r"(?s)__all__ = \[(.*?)\]", init)[1])
        for name in public:
            if (root / "python" / "patchfold" / name).is_dir() or (root / "python" / "patchfold" / f"{name}.py").is_file():
                yield from wants(f"python/patchfold.{name}.html", f"module-patchfold.{name}", f"the module {name}")
            elif name != "__version__":
                yield from wants("python/patchfold.html", f"patchfold.{name}", f"patchfold.{name}")
        header = (root / "include" / "patchfold" / "patchfold.h").read_text(encoding="utf-8")
        shown = (self.folder / "headers" / "patchfold.h.html").read_text(encoding="utf-8")
        for name in sorted(set(re.findall(r"PF_API [^;]*?\b(pf_\w+)\(", header))):
            if name not in shown:
                yield f"headers/patchfold.h.html: lacks {name}"
        operators = re.findall(r"(?m)^### (.+)$", (docs / "operators.md").read_text(encoding="utf-8"))
        if len(operators) < 20:
            yield "docs/operators.md: has too few operators"
        text = " ".join(self.pages["operators.html"].text) if "operators.html" in self.pages else ""
        for name in operators:
            if name not in text:
                yield f"operators.html: lacks {name}"

    def search(self, browser):
        """Checks the search page, opened from the disk."""
        for words, wanted in {**QUERIES, "qwertzuiop": ""}.items():
            url = f"{(self.folder / 'search.html').resolve().as_uri()}?q={urllib.parse.quote(words)}"
            with tempfile.TemporaryDirectory() as profile:
                command = [
                    browser,
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    f"--user-data-dir={profile}",
                    "--virtual-time-budget=20000",
                    "--dump-dom",
                    url,
                ]
                done = subprocess.run(command, capture_output=True, text=True, timeout=180)
            results = re.search(r'(?s)<ul[^>]*class="search".*?</ul>', done.stdout)
            links = [link for link in Page(results[0] if results else "").links]
            found = {(self.resolved("search.html", link.partition("?")[0]) or ("",))[0] for link in links}
            if bool(wanted) != bool(links) or (wanted and wanted not in found):
                yield f"the search for {words!r} finds {sorted(found)[:5]} and not {wanted or 'nothing'}"
            for name in found:
                if not (self.folder / name).is_file():
                    yield f"the search for {words!r} leads to {name}, which is not there"


def external(links):
    """Returns the faults of links to other sites, and the links whose sites could not be reached."""
    faults, unreached = [], []
    for link in sorted(set(links)):
        request = urllib.request.Request(link, method="HEAD", headers={"User-Agent": "Mozilla/5.0 (patchfold docs)"})
        try:
            urllib.request.urlopen(request, timeout=20).close()
        except urllib.error.HTTPError as error:
            if error.code in (404, 410):
                faults.append(f"the link {link} is answered with {error.code}")
        except OSError:
            unreached.append(link)
    return faults, unreached


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--external", action="store_true")
    parser.add_argument("site", type=Path)
    parser.add_argument("root", type=Path, nargs="?")
    options = parser.parse_args()
    site = Site(options.site)
    checks = {name: getattr(site, name) for name in ("links", "reachable", "alone", "pictures", "clean")}
    if options.root:
        checks["complete"] = lambda: site.complete(options.root)
    skipped = 0
    if options.no_browser:
        skipped = 1
    else:
        browser = next((path for path in map(shutil.which, BROWSERS) if path), None)
        checks["search"] = (lambda: site.search(browser)) if browser else (lambda: ["there is no browser: install chromium"])
    if options.external:
        links = {link.partition("#")[0] for page in site.pages.values() for link in page.links if link.startswith("https:")}
        faults, unreached = external(links)
        checks["external"] = lambda: faults
        print(f"external: {len(links)} links, {len(unreached)} not reached {unreached}")
        skipped += bool(unreached)
    failed = 0
    for name, check in checks.items():
        faults = list(dict.fromkeys(check()))
        failed += bool(faults)
        for fault in faults:
            print(f"FAILED {name}: {fault}")
    print(f"site: {len(site.pages)} pages, {sum(len(page.links) for page in site.pages.values())} links")
    print(f"docs: {len(checks) - failed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

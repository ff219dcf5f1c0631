# SPDX-License-Identifier: Apache-2.0
"""The settings of Sphinx for the documentation site, which scripts/docs makes from the pages that assemble.py writes."""

import os
import re
from pathlib import Path

ROOT = Path(os.environ["PATCHFOLD_ROOT"])
VERSION = re.search(r'PATCHFOLD_VERSION_STRING "([^"]+)"', (ROOT / "include/patchfold/version.hpp").read_text())[1]

project = "patchfold"
author = "the patchfold authors"
copyright = author
version = release = VERSION
extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = []

# assemble.py has completed all links, with anchors such as GitHub makes, so MyST must not look for their targets.
myst_all_links_external = True
myst_heading_anchors = 5
myst_links_external_new_tab = False

html_theme = "furo"
pygments_dark_style = "monokai"
html_title = f"patchfold {VERSION}"
html_static_path = [str(ROOT / "docs" / "site" / "static")]
html_css_files = ["site.css"]
html_domain_indices = False
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
# A page that was opened from the disk cannot fetch other pages, so search results have no excerpts of them.
html_show_search_summary = False
html_theme_options = {"navigation_with_keys": False, "footer_icons": []}
add_module_names = False
toc_object_entries_show_parents = "hide"


def name_headings_as_a_forge_does(app, doctree):
    """Gives each heading a second anchor beside Sphinx's: the one that links in Markdown use."""
    for section in doctree.findall(lambda node: node.tagname == "section"):
        slug = section.get("slug")
        if slug and slug not in section["ids"]:
            section["ids"].append(slug)


def leave_out_the_page(app, docname, source):
    """Removes the link to the page that shows what operators do (scripts/web), if the site lacks this page."""
    if docname == root_doc and not app.tags.has("page"):
        source[0] = "\n".join(line for line in source[0].split("\n") if "(page/index.html)" not in line)


def setup(app):
    app.connect("source-read", leave_out_the_page)
    app.connect("doctree-read", name_headings_as_a_forge_does)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

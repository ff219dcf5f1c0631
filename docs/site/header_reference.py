# SPDX-License-Identifier: Apache-2.0
"""Writes the reference of C and C++: a page for each public header, from its comments.

Public headers have plain comments above their declarations, in an order for readers. The page of a header shows each
comment, and below it the declaration. Private members are left out.
"""

import re

from prose import escaped, fenced, paragraphs

SECTION = re.compile(r"/\* -{3,} (.+?) -{3,} \*/|// -{3,} (.+?) -{3,}")
NAMED = (
    re.compile(r"^\s*#define\s+(\w+)", re.M),
    re.compile(r"^(?:typedef\s+)?(?:enum class|struct|class)(?:\s+PATCHFOLD_\w+)?\s+(\w+)(?:\s+final)?(?=[\s:;{<])", re.M),
    re.compile(r"^using\s+(\w+)\s*=", re.M),
    re.compile(r"^concept\s+(\w+)\s*=", re.M),
    re.compile(r"^typedef\s+[\w\s*]+?\(\*(\w+)\)", re.M),
    re.compile(r"^typedef\s+[\w\s*]+?\b(\w+);", re.M),
    re.compile(r"^(?:inline\s+)?constexpr\s+[\w:<>]+\s+(\w+)\s*[={]", re.M),
)
HIDDEN = re.compile(
    r"^(namespace\b|}  // namespace|extern \"C\"|}$|#(if|ifdef|ifndef|else|elif|endif|include|pragma)|using namespace)"
)


def comment_of(lines):
    """Returns the text of a comment's lines, without the marks of comments."""
    text = []
    for line in lines:
        line = re.sub(r"^\s*(///?<?|/\*\*?|\*/)( |$)|^\s+\*( |$)|^ \*/", "", line)
        text.append(re.sub(r"\s*\*/$", "", line).rstrip())
    return "\n".join(text).strip("\n")


def pieces(text):
    """Yields (lines of comment, lines of code) for each piece of a header. Empty lines outside of brackets end a piece."""
    comment, code, depth, block = [], [], 0, False
    text = re.sub(r"(?ms)^namespace (\w+::)?(detail|engine) \{$.*?^\}  // namespace (\w+::)?(detail|engine)$", "", text)
    for line in [*text.split("\n"), ""]:
        bare = line.strip()
        is_comment = block or (depth <= 0 and bare.startswith(("//", "/*")))
        if is_comment:
            ends = code or (not block and comment and not comment[-1])
        else:
            ends = depth <= 0 and (not bare or HIDDEN.match(line))
        if ends:
            if comment or code:
                yield comment, code
            comment, code = [], []
        if is_comment:
            comment.append(line)
            block = (block or bare.startswith("/*")) and not bare.endswith("*/")
        elif not ends:
            code.append(line)
            counted = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'|//.*|/\*.*?\*/', "", line)
            depth += counted.count("{") - counted.count("}") + counted.count("(") - counted.count(")")


def without_private(code):
    """Returns a class without its private part."""
    kept, hidden = [], False
    for line in code:
        if re.match(r"\s*private:$", line):
            hidden = True
        elif re.match(r"\s*(public|protected):$", line) or re.match(r"^}", line):
            hidden = False
        if not hidden:
            kept.append(line)
    while len(kept) > 1 and not kept[-2].strip():
        del kept[-2]
    return kept


def shortened(code):
    """Replaces bodies of functions outside of classes by `{ .. }`: callers need only the declaration."""
    text = "\n".join(code)
    if re.match(r"(template <[^;{]*>\s*)?(requires [^\n]*\s+)?(struct|class|enum|typedef|union|concept|using|#)", text):
        return text
    head = re.match(r"[^{;=]*\)[^{;=]*(?=\{\n)", text)
    return f"{head[0].rstrip()};" if head else text


def names_of(code):
    """Returns the names that a piece declares: one type, or functions."""
    text = re.sub(r"^template <.*?>$", "", "\n".join(code), flags=re.M)
    text = re.sub(r"\b(PF_CHECKED|PF_API|PATCHFOLD_API|static|friend|extern) ?|\[\[nodiscard\]\]|//.*", "", text)
    for pattern in NAMED:
        if found := pattern.search(text):
            return [found[1]]
    found, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "({") - (letter in ")}")
        if depth == 0 and letter in ";}":
            match = re.match(r"\s*(?:requires\b[^\n]*\s)?[^({=]*?\b(operator\W+?|\w+)\s*\(", text[start : at + 1])
            if match and match[1] not in found:
                found.append(match[1])
            start = at + 1
    return found


def page(name, text):
    """Returns a header as a page of Markdown."""
    text = re.sub(r"^(//|/\*) SPDX[^\n]*\n", "", text)
    made, language, first, seen = [f"# {name}\n"], "c" if name.endswith(".h") else "cpp", True, set()
    level = "##"
    for comment, code in pieces(text):
        section = SECTION.match(comment[0].strip()) if comment else None
        if section:
            made.append(f"## {section[1] or section[2]}\n")
            level = "###"
            comment = comment[1:]
        said = paragraphs(comment_of(comment)) if comment else ""
        if code and re.match(
            r"template <>|static_assert|#define \w+_H$|#undef|#error|(class|struct) \w+;$", "\n".join(code)
        ):
            continue
        if code:
            names = names_of(without_private(code))
            if names and said:
                title = ", ".join(name for name in names[:3]) + (", .." if len(names) > 3 else "")
                if title not in seen:
                    made.append(f"{level} {escaped(title)}\n")
                seen.add(title)
        if said:
            made.append(said)
        if first and not code:
            made.append(f"```{language}\n#include <patchfold/{name}>\n```\n")
            first = False
        if code:
            made.append(fenced(shortened(without_private(code)), language))
    return "\n".join(made)

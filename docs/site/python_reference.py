# SPDX-License-Identifier: Apache-2.0
"""Writes the reference of the Python package: a page for each public module, from its source.

The source is read and not imported, because some modules need torch or JAX, and all modules need the compiled module.
"""

import inspect
import re

import griffe
from prose import escaped, fenced, paragraphs

SECTION = re.compile(r"(?m)^(Shapes|Arguments|Formula|Types|Errors|Elsewhere|Example|Attributes|Returns)s?:")
SPECIAL = ("__call__", "__len__", "__iter__", "__getitem__", "__enter__")


def signature_of(function, name, bound):
    """Returns the parameters with their defaults, without types (the docstring has these). `*` stands before keyword-only
    parameters."""
    shown, bare = [], False
    parameters = [each for each in with_taken(function) if not (bound and each.name in ("self", "cls"))]
    for each in parameters:
        kind = each.kind.value if each.kind else ""
        if kind == "keyword-only" and not bare:
            shown.append("*")
            bare = True
        stars = {"variadic positional": "*", "variadic keyword": "**"}.get(kind, "")
        bare |= kind == "variadic positional"
        shown.append(stars + each.name + (f"={each.default}" if each.default is not None and not stars else ""))
    last = max((at for at, each in enumerate(parameters) if each.kind and each.kind.value == "positional-only"), default=-1)
    if last >= 0:
        shown.insert(last + 1, "/")
    returns = f" -> {function.returns}" if function.returns is not None and name != "__init__" else ""
    return f"({', '.join(shown)}){returns}"


def with_taken(function):
    """Returns the parameters of a function. If it has the decorator @takes, the parameters that @takes names replace the
    `**` at its end, and its own keyword-only parameters with defaults come last."""
    for decorator in function.decorators:
        if found := re.fullmatch(r"takes\((\w+), (.+)\)", str(decorator.value)):
            names = function.module[found[1]].all_members
            owners = [function.module[owner] for owner in found[2].split(", ")]
            taken = [each for owner in owners for each in owner.parameters if each.name in names]
            own = list(function.parameters)[:-1]
            last = [each for each in own if each.kind.value == "keyword-only" and each.default is not None]
            return [*(each for each in own if each not in last), *taken, *last]
    return list(function.parameters)


def described(text):
    """Returns a docstring as Markdown."""
    parts = SECTION.split(inspect.cleandoc(text))
    made = [body(parts[0])]
    for title, part in zip(parts[1::2], parts[2::2], strict=True):
        part = part.strip("\n")
        if title in ("Arguments", "Attributes"):
            entries = re.findall(r"(?ms)^    (\w[\w, ]*): (.*?)(?=^    \w[\w, ]*: |\Z)", part)
            rest = part[: part.find(entries[0][0])].strip() if entries else part
            made.append(f"**{title}**{': ' + escaped(rest) if rest else ''}\n")
            for names, meaning in entries:
                after = re.split(r"\n(?=\S)", meaning)  # lines that belong to no argument
                made.append(f"- `{names}`: {escaped(' '.join(after[0].split()))}")
                made += ["", *(paragraphs(each) for each in after[1:])] if after[1:] else []
            made.append("")
        elif title == "Example":
            made.append(f"**{title}**\n\n" + examples(inspect.cleandoc("\n" + part)))
        elif "\n\n" in part.strip():
            flow, _, more = part.strip().partition("\n\n")
            made.append(f"**{title}**: {escaped(' '.join(flow.split()))}\n")
            made.append(body(inspect.cleandoc(more)))
        elif title == "Formula":
            made.append(f"**{title}**\n\n" + fenced(inspect.cleandoc(part), "text"))
        else:
            made.append(f"**{title}**: {escaped(' '.join(part.split()))}\n")
    return "\n".join(made)


def examples(text):
    """Returns text that contains sessions of the interpreter (`>>>`) as Markdown."""
    made = []
    for block in re.split(r"\n\s*\n", text):
        code = block.lstrip().startswith(">>>")
        made.append(fenced(inspect.cleandoc(block), "pycon") if code else paragraphs(block))
    return "\n".join(made)


def body(text):
    return examples(text) if ">>>" in text else paragraphs(text)


def indented(text, directive, name):
    """Returns a directive of MyST that holds text. Its fence has more back quotes than any fence in the text."""
    fence = "`" * (max((len(run) for run in re.findall("`{3,}", text)), default=3) + 1)
    return f"{fence}{{{directive}}} {name}\n\n{text.strip()}\n{fence}\n"


def doc_of(item):
    return described(inspect.cleandoc(item.docstring.value) + from_table(item)) if item.docstring else ""


def from_table(item):
    """Returns a link to what the decorator `described` adds to a docstring from the operator table, or an empty text."""
    for decorator in item.decorators if item.is_function else []:
        if found := re.match(r"_?(?:inverses\.)?described\('([^']+)'", str(decorator.value)):
            return f"\n\nArguments: those of {found[1]} in docs/operators.md."
    return ""


def function_of(item, name, directive="py:function", bound=False):
    return indented(doc_of(item), directive, name + signature_of(item, item.name, bound))


def class_of(item, name):
    inner = [doc_of(item)]
    made = item.all_members.get("__init__")
    arguments = signature_of(made, "__init__", True) if made is not None and made.is_function else ""
    if made is not None and made.is_function and made.docstring:
        inner.append(doc_of(made))
    for member in item.all_members.values():
        if member.name.startswith("_") and member.name not in SPECIAL:
            continue
        member = member.final_target if member.is_alias else member
        if not member.docstring:
            continue
        if member.is_function:
            static = "staticmethod" in member.labels
            kind = "py:staticmethod" if static else "py:classmethod" if "classmethod" in member.labels else "py:method"
            inner.append(function_of(member, member.name, kind, bound=not static))
        elif member.is_attribute:
            inner.append(indented(doc_of(member), "py:property", member.name))
    return indented("\n".join(inner), "py:class", name + arguments)


def page(package, name):
    """Returns a module as a page of Markdown."""
    module = package if name == "patchfold" else package[name.removeprefix("patchfold.")]
    made = [f"# {name}\n", indented("", "py:module", name), doc_of(module)]
    exported = (
        [str(each) for each in module.exports]
        if module.exports
        else [
            each
            for each, item in module.members.items()
            if not each.startswith("_") and not item.is_alias and item.docstring
        ]
    )
    functions, classes = [], []
    for each in sorted(exported, key=str.lower):
        item = module.members[each]
        item = item.final_target if item.is_alias else item
        if item.is_function:
            functions.append(function_of(item, each))
        elif item.is_class:
            classes.append(class_of(item, each))
    made += ["## Functions\n", *functions] if functions else []
    made += ["## Classes\n", *classes] if classes else []
    return "\n".join(made)


def pages(sources):
    """Returns {name of the module: page}."""
    package = griffe.load("patchfold", search_paths=[str(sources)], allow_inspection=False, resolve_aliases=True)
    return {name: page(package, name) for name in ["patchfold", *public_modules(package, "patchfold")]}


def public_modules(module, name):
    """Yields the names of the public modules (without an underscore in front) below a module, each before the modules below
    it."""
    for each, item in sorted(module.modules.items()):
        if not each.startswith("_") and item.docstring:
            yield f"{name}.{each}"
            yield from public_modules(item, f"{name}.{each}")

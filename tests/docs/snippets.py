# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs what the documentation shows: every fenced cpp, c and sh snippet of the pages of the root and of docs/.

usage: snippets.py --root FOLDER --cxx COMPILER --cc COMPILER --library FILE --include FOLDER [--path FOLDER] [--seed FILE]...
                   [--flags FLAGS] [PAGE.md]...

The snippets of a page run one after the other in one new folder with the seed files, so that a snippet may use files of
earlier snippets. The words after the language select the treatment:

    ```cpp             a whole program: it must compile without warnings, and end with 0
    ```cpp body        statements: put into a main() after the includes of the standard library and of patchfold.hpp
    ```c               a whole C11 program
    ```sh              commands, run by bash -e; must end with 0
    ```sh fails        must end with another code than 0
    ```text output     what the snippet before it must have printed; ... stands for anything
    ```sh no-test: ..  (after any language) is not run here, for the reason after the colon
    ```rust            a part of a program of examples/

A snippet in a language that no test runs is a fault; ELSEWHERE says which tests run the others.
"""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LANGUAGES = ("cpp", "c", "sh")
WORDS = {"cpp": {"body"}, "c": set(), "sh": {"fails"}, "text": {"output"},
         "python": {"jax", "onnx", "onnxruntime", "openvino", "rasterio", "tensorflow", "torch", "torchio", "transformers", "zarr"}}
ALIASES = {"c++", "cxx", "cc", "bash", "shell", "console", "C", "py", "python3", "pycon"}
EXCERPTS = {"rust": "examples/**/*.rs"}  # programs that the test install.rust runs
ELSEWHERE = {
    "python": "tests/python/test_docs.py, with a word for a package that it needs",
    "cmake": "tests/install/page.py",
    "toml": "names the place of the packages that install.rust builds",
    "mermaid": "tests/layers compares the drawing with the code",
    "{toctree}": "tests/docs/facts.py and site_test.py read it",
    "text": "what a program prints",
}
FENCE = re.compile(r"^( *)(`{3,}|~{3,})[ \t]*([^`\n]*)$")
BODY_HEADERS = ("algorithm", "array", "cassert", "cstdint", "cstdio", "iostream", "numeric", "string", "vector")


class Snippet:
    def __init__(self, page, line, language, words):
        self.page, self.line, self.language = page, line, language
        words, self.marked, self.why_not = " ".join(words).partition("no-test")
        self.words = words.split()
        self.text = ""

    def __str__(self):
        return f"{self.page}:{self.line}"


def snippets_of(page, name):
    """Returns the fenced blocks of a page, in order, with the numbers of their first lines."""
    found, current, closing, indent = [], None, "", 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if current is None:
            if fence:
                info = fence[3].split()
                current = Snippet(name, number + 1, info[0] if info else "", info[1:])
                closing, indent = fence[2], len(fence[1])
        elif fence and fence[2].startswith(closing) and not fence[3].strip():
            found.append(current)
            current = None
        else:
            current.text += (line[indent:] if line[:indent].isspace() else line) + "\n"
    if current is not None:
        raise ValueError(f"{current}: the fence is not closed")
    return found


class Runner:
    def __init__(self, options):
        self.options = options
        self.passed = self.skipped = 0
        self.failures = []

    def fail(self, snippet, why, output=""):
        self.failures.append(str(snippet))
        print(f"FAILED {snippet}: {why}")
        if output:
            print("    " + output.strip().replace("\n", "\n    "))

    def run(self, command, folder, timeout=120):
        environment = dict(os.environ)
        environment["PATH"] = os.pathsep.join(self.options.path + [environment.get("PATH", "")])
        done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout)
        return done.returncode, done.stdout

    def compile(self, snippet, folder):
        """Compiles a snippet. Returns the program, or None after a failure."""
        text = snippet.text
        if "body" in snippet.words:
            includes = "".join(f"#include <{header}>\n" for header in BODY_HEADERS)
            text = (f'{includes}#include <patchfold/patchfold.hpp>\nint main() {{\n#line {snippet.line} "{snippet.page}"\n'
                    f"{text}}}\n")
        else:
            text = f'#line {snippet.line} "{snippet.page}"\n{text}'
        source = folder / f"snippet{snippet.line}.{snippet.language}"
        program = folder / f"snippet{snippet.line}"
        source.write_text(text, encoding="utf-8")
        options = self.options
        compiler = [options.cxx, "-std=c++20"] if snippet.language == "cpp" else [options.cc, "-std=c11"]
        command = compiler + ["-Wall", "-Wextra", "-Werror", "-O1", *shlex.split(options.flags)]
        command += [f"-I{include}" for include in options.include]
        command += [str(source), "-o", str(program), options.library, f"-Wl,-rpath,{Path(options.library).parent}"]
        code, output = self.run(command, folder)
        source.unlink()
        if code:
            self.fail(snippet, "does not compile", output)
            return None
        return program

    def snippet(self, snippet, folder):
        """Runs one snippet; returns its output, or None after a failure."""
        if snippet.language == "sh":
            command = ["bash", "-e", "-o", "pipefail", "-c", snippet.text]
        else:
            command = [self.compile(snippet, folder)]
            if command[0] is None:
                return None
        try:
            code, output = self.run(command, folder)
        except subprocess.TimeoutExpired:
            self.fail(snippet, "did not end within two minutes")
            return None
        if command[0] != "bash":
            Path(command[0]).unlink()
        if (code != 0) != ("fails" in snippet.words):
            self.fail(snippet, f"ended with {code}", output)
            return None
        self.passed += 1
        return output

    def page(self, path, name):
        try:
            snippets = snippets_of(path, name)
        except ValueError as error:
            self.failures.append(str(error))
            print(f"FAILED {error}")
            return
        text = path.read_text(encoding="utf-8")
        bare = [] if text.startswith("<!-- Written by") else re.findall(r"\n\n    ((?:patchfold|python3?|pip|cc) .*)", text)
        for command in bare:
            self.failures.append(name)
            print(f"FAILED {name}: no test runs `{command}`: write it between ```sh and ```")
        with tempfile.TemporaryDirectory() as folder:
            for seed in self.options.seed:
                shutil.copy(seed, folder)
            output = None
            for snippet in snippets:
                if snippet.language in ALIASES:
                    self.fail(snippet, f"the language is written {', '.join(LANGUAGES)} here, not {snippet.language}")
                elif not set(snippet.words) <= WORDS.get(snippet.language, set()):
                    self.fail(snippet, f"unknown words behind the language: {' '.join(snippet.words)}")
                elif snippet.language == "text" and "output" in snippet.words:
                    self.compare(snippet, output)
                elif snippet.marked and not self.excused(snippet):
                    self.fail(snippet, "a reason must follow, which names files that exist: no-test: why")
                elif snippet.marked:
                    self.skipped += 1
                    output = None
                elif snippet.language in LANGUAGES:
                    output = self.snippet(snippet, Path(folder))
                elif snippet.language in EXCERPTS:
                    self.excerpt(snippet)
                elif snippet.language not in ELSEWHERE:
                    self.fail(snippet, f"no test runs the language {snippet.language or 'without a name'}")

    def excused(self, snippet):
        """Returns whether no-test has a reason, and all tests and scripts that the reason names exist."""
        named = re.findall(r"(?:tests|scripts)/[\w./]*\w", snippet.why_not)
        return len(snippet.why_not) > 10 and all((self.options.root / each).exists() for each in named)

    def excerpt(self, snippet):
        """Expects the lines of a snippet in a program of EXCERPTS, where they may be indented."""
        bare = lambda text: re.sub(r"(?m)^ +", "", text)
        programs = self.options.root.glob(EXCERPTS[snippet.language])
        if any(bare(snippet.text) in bare(program.read_text(encoding="utf-8")) for program in programs):
            self.passed += 1
        else:
            self.fail(snippet, f"is in no program of {EXCERPTS[snippet.language]}")

    def compare(self, snippet, output):
        if output is None:
            self.fail(snippet, "there is no output to compare with: the snippet before it failed or was not run")
            return
        pattern = "".join(".*?" if part == "..." else re.escape(part) for part in re.split(r"(\.\.\.)", snippet.text.strip()))
        if re.fullmatch(pattern, output.strip(), re.S):
            self.passed += 1
        else:
            self.fail(snippet, "the snippet before it printed something else", output)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    for name in ("--cxx", "--cc", "--library"):
        parser.add_argument(name, required=True)
    for name in ("--include", "--path", "--seed"):
        parser.add_argument(name, action="append", default=[])
    parser.add_argument("--flags", default="")
    parser.add_argument("pages", nargs="*", type=Path)
    options = parser.parse_args()
    pages = options.pages or [*sorted(options.root.glob("*.md")), *sorted((options.root / "docs").rglob("*.md"))]
    runner = Runner(options)
    for page in pages:
        if page.is_file():
            runner.page(page, os.path.relpath(page, options.root))
        else:
            runner.failures.append(str(page))
            print(f"FAILED {page}: there is no such page")
    print(f"snippets: {runner.passed} passed, {len(runner.failures)} failed, {runner.skipped} not run, in {len(pages)} pages")
    sys.exit(1 if runner.failures else 0)


if __name__ == "__main__":
    main()

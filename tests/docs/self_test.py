# SPDX-License-Identifier: Apache-2.0
"""Runs snippets.py on pages with known faults, and expects that it names each fault.

usage: self_test.py SNIPPETS_PY OPTIONS_OF_SNIPPETS_PY..
"""
import subprocess
import sys
import tempfile
from pathlib import Path

SOUND = """# Page
```cpp
#include <patchfold/patchfold.hpp>
#include <cstdio>
int main() { std::printf("%s\\n", to_string(patchfold::Dims{2, 3}).c_str()); }
```
```text output
[2, ...]
```
* in a list
  ```cpp body
  patchfold::Dims dims = {1};
  assert(dims.size() == 1);
  ```
```c
#include <patchfold/patchfold.h>
int main(void) { return pf_version() == PF_VERSION ? 0 : 1; }
```
```sh
echo one > file
```
```sh
test "$(cat file)" = one
```
```sh fails
cat missing
```
```sh no-test: it only shows that this is not run
exit 3
```
```toml
not = "run"
```
"""
# Pages with a fault, and the line that the report of snippets.py must have.
FAULTY = [
    ("text\n```cpp\nint main() { return 1; }\n```\n", "FAILED page.md:3: ended with 1"),
    ("```cpp\nint main() { int unused; }\n```\n", "FAILED page.md:2: does not compile"),
    ("```cpp body\nno_such_thing();\n```\n", "page.md:2:1: error"),
    ("```c\nint main(void) { return unknown; }\n```\n", "FAILED page.md:2: does not compile"),
    ("```sh\nfalse\ntrue\n```\n", "FAILED page.md:2: ended with 1"),
    ("```sh\nfalse | cat\n```\n", "FAILED page.md:2: ended with 1"),
    ("```sh fails\ntrue\n```\n", "FAILED page.md:2: ended with 0"),
    ("```sh\necho a\n```\n```text output\nb\n```\n", "FAILED page.md:5: the snippet before it printed something else"),
    ("```text output\nb\n```\n", "FAILED page.md:2: there is no output to compare with"),
    ("```bash\ntrue\n```\n", "FAILED page.md:2: the language is written"),
    ("```sh quietly\ntrue\n```\n", "FAILED page.md:2: unknown words"),
    ("```sh no-test\ntrue\n```\n", "FAILED page.md:2: a reason must follow"),
    ("```sh no-test: tests/nowhere.py runs it\ntrue\n```\n", "FAILED page.md:2: a reason must follow"),
    ("```json\n{}\n```\n", "FAILED page.md:2: no test runs the language json"),
    ("```\nls\n```\n", "FAILED page.md:2: no test runs the language without a name"),
    ("```rust\nfn unknown();\n```\n", "FAILED page.md:2: is in no program"),
    ("text\n\n    patchfold ops\n", "FAILED page.md: no test runs `patchfold ops`"),
    ("```sh\ntrue\n", "FAILED page.md:2: the fence is not closed"),
]


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.md"
        for text, code, line in [(SOUND, 0, "snippets: 7 passed, 0 failed, 1 not run, in 1 pages")] + [
                (text, 1, line) for text, line in FAULTY]:
            page.write_text(text)
            done = subprocess.run([sys.executable, *sys.argv[1:], "--root", folder, str(page)], stdout=subprocess.PIPE, text=True)
            if done.returncode != code or line not in done.stdout:
                failures += 1
                print(f"expected exit code {code} and {line!r}, got {done.returncode} and\n{done.stdout}\nfor the page\n{text}")
    print(f"{len(FAULTY) + 1} pages, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

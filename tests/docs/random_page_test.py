# SPDX-License-Identifier: Apache-2.0
"""Checks the page and the picture that bench/peers_random.py writes from stored figures.

usage: random_page_test.py --root FOLDER
"""
import argparse
import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path


def row(name, threads, problem, src, dst, megabytes, of_copy, **systems):
    seconds = {"patchfold": 0.001} | {system: 0.001 * multiple for system, multiple in systems.items()}
    return {"set": name, "threads": threads, "problem": problem, "src": src, "dst": dst, "bytes": megabytes * 1e6,
            "time_of_copy": of_copy, "strategy": "move", "seconds": seconds, "mismatches": []}


def figures():
    rows = []
    for name in ("AVX3", "AVX2"):
        for threads in (1, 2):
            rows += [
                row(name, threads, "unfold f32 1x3x640x640 kernel_size=3", "flipped", "tokens", 40, 1.25, NumPy=2, torch=4),
                row(name, threads, "unfold u8 1x3x999x999 kernel_size=2", "plain", "plain", 20, 1.75, NumPy=4, torch=2),
                row(name, threads, "fold f32 1x27x9 output_size=5,5 kernel_size=3", "flipped", "plain", 8, 3.5, NumPy=0.5),
                row(name, threads, "fold f32 1x27x1 output_size=3,3 kernel_size=3", "plain", "plain", 1, 99, NumPy=7),
            ]
    rows[0]["mismatches"] = ["torch"]
    machine = {"processor": "Some", "cores": 2, "caches": ["L3 32768K shared"], "memory": 2**34, "python": "3.11"}
    versions = {"patchfold": "1", "NumPy": "2", "torch": "3"}
    return {"machine": machine, "versions": versions, "seed": 1, "count": 4, "rounds": 5, "rows": rows}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, required=True)
    script = parser.parse_args().root / "bench" / "peers_random.py"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "figures.json").write_text(json.dumps(figures()), encoding="utf-8")
        command = [sys.executable, script, "--render", folder / "figures.json", "--write", "--folder", folder]
        subprocess.run(command, check=True)
        page = (folder / "performance-random.md").read_text(encoding="utf-8")
        picture = (folder / "performance-random.svg").read_text(encoding="utf-8")

    faults = []
    for part in (
        "* AVX3, 1 thread: 4 problems, of which NumPy solves 1 faster than patchfold.\n"
        "  The 3 of 4 MB or more take 1.75 (median; 1.25 to 3.50) copies.\n",
        "\n## AVX2, 2 threads\n",
        # Torch's differing result is left out.
        "| all | 4 | 3 | 1.75; 3.50 | 2 | 1 | 2.50; 7.00 | 3.50; 3.50 | 3.00; 0.50 | 2.00; 2.00 |\n",
        "| all | 4 | 3 | 1.75; 3.50 | 2 | 1 | 2.50; 7.00 | 4.25; 5.00 | 3.00; 0.50 | 3.00; 2.00 |\n",
        "| `fold` | 2 | 1 | 3.50; 3.50 | 1 | 1 | 1.75; 1.75 | - | 3.75; 0.50 | - |\n",
        "| `flipped` | 2 | 2 | 2.38; 3.50 | 1 | 1 | ",
        "| `plain` | 2 | 1 | 1.75; 1.75 | 1 | 0 | ",
        "\n* 3.50: `fold f32 1x27x9 output_size=5,5 kernel_size=3 src=flipped dst=plain`, move\n* 1.75: ",
        "## Other results than patchfold's\n\n* torch: `unfold f32 1x3x640x640 kernel_size=3 src=flipped dst=tokens`\n",
    ):
        if part not in page:
            faults.append(f"the page lacks {part!r}")
    texts = [element.text for element in xml.fromstring(picture).iter() if element.tag.endswith("}text")]
    for text, count in (("AVX3", 1), ("AVX2", 1), ("1 thread", 2), ("2 threads", 2), ("unfold", 2), ("tokens", 2)):
        if texts.count(text) != count:
            faults.append(f"the picture shows {text!r} {texts.count(text)} times and not {count} times")
    print("\n".join(faults) or "the page and the picture are right")
    if faults:
        print(page)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

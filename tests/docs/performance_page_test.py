# SPDX-License-Identifier: Apache-2.0
"""Checks the page and the picture that bench/networks/measure.py writes from stored figures.

usage: performance_page_test.py --root FOLDER
"""
import argparse
import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

MACHINE = {"processor": "Some", "cores": 2, "caches": ["L3 32768K shared"], "memory": 2**34, "python": "3.11"}


def call(threads, group, text, copies, mismatches=(), **systems):
    """Returns the row of a call, in which a copy takes 1 ms and patchfold `copies` ms. `systems` gives the times of other
    systems as multiples of patchfold's."""
    seconds = {"copy": 0.001, "patchfold": 0.001 * copies}
    seconds |= {name.replace("_", " "): 0.001 * copies * multiple for name, multiple in systems.items()}
    return {"threads": threads, "group": group, "call": text, "model": "net", "bytes": 1e6, "seconds": seconds,
            "mismatches": list(mismatches)}


def networks():
    rows = []
    for threads in (1, 2):
        rows += [
            call(threads, "frames", "fold float32 1x1x16000 kernel=400 stride=160", 4, torch=2, ONNX_Runtime=0.5, NumPy=3),
            call(threads, "frames", "unfold float32 1x1x16000 kernel=400 stride=160", 2, torch=3, NumPy=3),
            call(threads, "copies", "copy float32 4x8 strides=1,4", 1, torch=2, oneDNN=1.5, NumPy=4),
        ]
    rows[1]["mismatches"] = ["torch"]
    return {"machine": MACHINE, "versions": {"patchfold": "1", "torch": "2"}, "origin": "timm 1", "models": 7, "seed": 1,
            "count": 2, "rounds": 5, "rows": rows}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, required=True)
    script = parser.parse_args().root / "bench" / "networks" / "measure.py"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "figures.json").write_text(json.dumps(networks()), encoding="utf-8")
        command = [sys.executable, script, "--render", folder / "figures.json", "--write", "--folder", folder]
        subprocess.run(command, check=True)
        page = (folder / "performance.md").read_text(encoding="utf-8")
        picture = (folder / "performance.svg").read_text(encoding="utf-8")

    faults = []
    for part in (
        "* 1 thread: patchfold is the fastest in 2 of 3 calls that networks make.\n"
        "  The fastest of torch, ONNX Runtime, oneDNN and NumPy takes 1.50 times as long (median).\n"
        "  patchfold takes 2.00 copies (median; 1.00 to 4.00).\n",
        "| all | 1 | 3 | **2.00; 4.00** | 5.00; 8.00 | 2.00; 2.00 | 1.50; 1.50 | 6.00; 12 | 1.50 | 33% |\n",
        "| all | 2 | 3 | **2.00; 4.00** | 6.00; 8.00 | ",
        # torch's time does not count in the call where torch's result differs from NumPy's.
        "| frames | 1 | 2 | **3.00; 4.00** | 8.00; 8.00 | 2.00; 2.00 | - | 9.00; 12 | 1.75 | 50% |\n",
        "* 0.50: ONNX Runtime 2.00 ms, patchfold 4.00 ms; 1 thread, `fold float32 1x1x16000 kernel=400 stride=160` (net)\n",
        "## Other results than NumPy's\n\n* torch: 1 thread, `unfold float32 1x1x16000 kernel=400 stride=160` (net)\n",
        "has the calls that the 7 models of timm 1 make",
    ):
        if page.count(part) != 1:
            faults.append(f"the page has {page.count(part)} times {part!r}")
    texts = [element.text for element in xml.fromstring(picture).iter() if element.tag.endswith("}text")]
    for text, count in (("1 thread", 1), ("2 threads", 1), ("frames", 1), ("copies", 1), ("oneDNN", 1)):
        if texts.count(text) != count:
            faults.append(f"the picture shows {text!r} {texts.count(text)} times and not {count} times")
    print("\n".join(faults) or "the page and the picture are right")
    if faults:
        print(page)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Runs parity.py on copies of parity.txt with one known fault each, and expects that it names the fault.

usage: parity_self_test.py PARITY_PY --patchfold PROGRAM
"""
import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# A text of parity.txt, its replacement, and the expected fault.
FAULTS = [
    ("  torch: = contiguous\n", "", "copy, torch: is missing without a reason"),
    ("  torch: = contiguous\n", "  torch: = contigous\n", "copy, torch: there is no contigous"),
    ("  torch: = contiguous\n", "  torch, C: cannot\n", "copy, C: is there, though parity.txt says why it is not"),
    ("\nMerger.mask\n", "\nMerger.masks\n", "Merger.masks, Python: is missing without a reason"),
    ("\ncoverage\n", "\n", "coverage: is public in Python, and no row of parity.txt"),
    ("Keras's unfold pads", "Keras's unfold fills", "docs/frameworks.md: is out of date: scripts/checks/parity.py writes it"),
]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("parity", type=Path)
    parser.add_argument("--patchfold", required=True)
    options = parser.parse_args()
    rows = options.parity.with_suffix(".txt").read_text("utf-8")
    failures = 0
    for old, new, fault in FAULTS:
        assert rows.count(old) == 1, old
        with tempfile.TemporaryDirectory() as folder:
            script = Path(shutil.copy(options.parity, folder))
            script.with_suffix(".txt").write_text(rows.replace(old, new), "utf-8")
            root = options.parity.resolve().parents[2]
            words = [sys.executable, script, "--check", "--patchfold", options.patchfold, "--root", root]
            said = subprocess.run(words, capture_output=True, text=True)
        if said.returncode == 0 or f"FAILED {fault}" not in said.stderr:
            failures += 1
            print(f"not found: {fault}\n{said.stdout}{said.stderr}")
    print(f"parity_self_test: {len(FAULTS)} faults, {failures} not found")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()

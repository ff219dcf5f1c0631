# SPDX-License-Identifier: Apache-2.0
"""What people who are new to the Python package type first, and what they got stuck on."""

import subprocess
import sys
from pathlib import Path

import patchfold


def run_python(*arguments: str, **options: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload,no-any-return]


# claim: python-m-patchfold
def test_python_m_patchfold_runs_the_command_line(tmp_path: Path) -> None:
    said = run_python("-m", "patchfold", "--version", cwd=tmp_path)
    assert said.returncode == 0 and patchfold.__version__ in said.stdout, said
    wrong = run_python("-m", "patchfold", "run", "unfold", "missing.npy", "--kernel_size", "3", "-o", "y.npy", cwd=tmp_path)
    assert wrong.returncode and "missing.npy" in wrong.stderr, wrong

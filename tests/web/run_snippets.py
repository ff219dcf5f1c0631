# SPDX-License-Identifier: Apache-2.0
"""Runs Python programs in one process, and stores the variable `result` of each program.

usage: run_snippets.py PROGRAMS.json RESULTS.npz    (programs: {"name": "text"}; of a failed program, the error is stored)
"""

import contextlib
import io
import json
import os
import sys
import traceback

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402

with open(sys.argv[1], encoding="utf-8") as file:
    programs = json.load(file)
results = {}
for name, text in programs.items():
    names: dict[str, object] = {"__name__": "__main__"}
    try:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(text, name, "exec"), names)
        if not printed.getvalue():
            raise ValueError("nothing was printed")
        results[name] = np.asarray(names["result"])
    except Exception:
        results[f"error:{name}"] = np.array(traceback.format_exc(limit=-2))
np.savez(sys.argv[2], **results)

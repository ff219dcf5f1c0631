#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fuzzes the arguments that Python code can pass to the functions of the package.

usage: PYTHON fuzz/python/arguments.py [CORPUS_DIR..] [-OPTION_OF_LIBFUZZER=..]
       PYTHON fuzz/python/arguments.py --replay FOLDER_OR_FILE [--stats]
       PYTHON fuzz/python/arguments.py --random COUNT [--stats]

Bytes become a call: mostly a right call, changed in up to three places. Every error must be patchfold's and have a message,
or come from an object of the call itself. Results of right calls must equal those of NumPy's formulas. A call may keep no
reference to its arguments, write no output before an error, and not take long.

  (nothing)   fuzzes with atheris, which must be installed: fuzz/python/requirements.txt
  --replay    runs the files of a folder, without atheris
  --random    runs that many random inputs, without atheris
  --stats     prints at the end how the calls of each function ended (not under atheris, which ends the process first)
"""

import random
import resource
import sys
from pathlib import Path

MEMORY = 3 << 30


def main() -> int:
    words = sys.argv[1:]
    if not words or words[0] in ("-h", "--help"):
        print(__doc__)
        return 0
    # Requests for too much memory then fail, instead of making the system kill the process.
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if "--replay" in words or "--random" in words:
        import oracle

        if "--replay" in words:
            place = Path(words[words.index("--replay") + 1])
            inputs = [path.read_bytes() for path in (sorted(place.iterdir()) if place.is_dir() else [place])]
        else:
            chance = random.Random(int(words[words.index("--random") + 2]) if words[-1].isdigit() else 0)
            count = int(words[words.index("--random") + 1])
            inputs = (chance.randbytes(chance.choice([8, 30, 90])) for _ in range(count))
        for data in inputs:
            oracle.run(data, timed=False)
        if "--stats" in words:
            oracle.print_stats()
        return 0
    import atheris

    with atheris.instrument_imports(include=["patchfold"]):
        import patchfold  # noqa: F401
    import oracle

    atheris.Setup([sys.argv[0], "-timeout=20", "-rss_limit_mb=3000", *words], oracle.run)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())

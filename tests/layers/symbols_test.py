# SPDX-License-Identifier: Apache-2.0
"""Checks that front ends need no hidden symbol of the library, so that they also link with the shared library.

usage: symbols_test.py NM LIBPATCHFOLD_SO ARCHIVE...
"""
import subprocess
import sys


def symbols(*command):
    """Returns the symbols that nm prints, as the last word of each line, without the symbols' versions."""
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if line.strip() and not line.endswith(":")}


def main():
    nm, library, *archives = sys.argv[1:]
    offered = symbols(nm, "--dynamic", "--defined-only", library)
    needed = set()
    for archive in archives:
        needed |= symbols(nm, "--undefined-only", archive)
        offered |= symbols(nm, "--defined-only", archive)
    hidden = sorted(name for name in needed - offered if "9patchfold" in name)
    for name in hidden:
        print(f"a front end needs {name}, which the library hides")
    print(f"symbols: {len(hidden)} hidden ones are needed")
    sys.exit(1 if hidden or not any("9patchfold" in name for name in needed) else 0)


if __name__ == "__main__":
    main()

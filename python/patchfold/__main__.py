# SPDX-License-Identifier: Apache-2.0
"""``python -m patchfold`` is the command ``patchfold``."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import NoReturn

NAME = "patchfold.exe" if os.name == "nt" else "patchfold"


def places() -> Iterator[Path]:
    """Yields the paths at which the program of this package may be installed, the most likely path first."""
    package = Path(__file__).resolve().parent
    for installed in metadata.distributions(name="patchfold", path=[str(package.parent)]):
        yield from (Path(str(file.locate())) for file in installed.files or () if file.name == NAME)
    yield package.parent / "bin" / NAME  # pip install --target, which does not record the program's path
    yield Path(sysconfig.get_path("scripts")) / NAME
    if found := shutil.which(NAME):
        yield Path(found)


def main() -> NoReturn:
    """Replaces this process by the program, with the same arguments."""
    program = next((place for place in places() if place.is_file()), None)
    if program is None:
        sys.exit("patchfold: this package was installed without its program; pip install --force-reinstall patchfold")
    if os.name == "nt":  # Windows cannot replace a process
        sys.exit(subprocess.call([program, *sys.argv[1:]]))
    os.execv(program, ["patchfold", *sys.argv[1:]])


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Compiles the library that OpenVINO loads, for the installed OpenVINO, and keeps it for later calls."""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from .._core import __version__

LIBRARIES = Path(__file__).absolute().parents[1] / "lib"
SOURCES = LIBRARIES / "source"
COMPILED_FOR_SPEED = "-O2"


def extension() -> str:
    """Returns the path of the library, compiled if it is not there yet. patchfold.openvino.extension lists the errors."""
    try:
        openvino: Any = importlib.import_module("openvino")
    except ImportError as error:
        raise ImportError(f"patchfold.openvino.extension needs OpenVINO: pip install openvino ({error})") from None
    version = str(openvino.__version__)
    folder = Path(openvino.__file__).absolute().parent
    own = _own_library()
    sources = sorted((SOURCES / "plugins").rglob("*.[ch]pp"))
    key = hashlib.sha256("\0".join([__version__, version, str(own)]).encode())
    for source in (*sources, Path(__file__)):
        key.update(source.read_bytes())
    release = re.sub(r"[^\w.]", "_", version.partition("-")[0])
    target = _cache() / f"libpatchfold_openvino-{release}-{key.hexdigest()[:20]}.so"
    if not target.is_file():
        _compile([str(source) for source in sources if source.suffix == ".cpp"], folder, own, target, version)
    return str(target)


def _own_library() -> Path:
    found = sorted(LIBRARIES.glob("libpatchfold.so.*"))
    if not found or not (SOURCES / "plugins").is_dir():
        raise FileNotFoundError(
            f"this build of patchfold has no library for OpenVINO ({LIBRARIES}): `pip install .` makes it on Linux"
        )
    return found[0]


def _cache() -> Path:
    """Returns a folder that only this user can write, since libraries in it are loaded into the process."""
    given = os.environ.get("PATCHFOLD_CACHE")
    base = Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "patchfold"
    try:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = base.stat()
    except (OSError, RuntimeError) as error:
        raise PermissionError(
            f"{_shown(base)}: cannot be made ({_shown(error)}); "
            "set PATCHFOLD_CACHE to a folder that the library for OpenVINO may be kept in"
        ) from None
    if status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise PermissionError(
            f"{_shown(base)}: others may write there, or own it; set PATCHFOLD_CACHE to a folder of your own (chmod go-w)"
        )
    return base


def _shown(value: object) -> str:
    """Returns the text of a value, with `?` for characters that a terminal would obey."""
    return "".join(each if each.isprintable() else "?" for each in str(value))


def _compile(sources: list[str], folder: Path, own: Path, target: Path, version: str) -> None:
    include, libraries = folder / "include", folder / "libs"
    if not (include / "openvino" / "core" / "op_extension.hpp").is_file():
        raise RuntimeError(
            f"OpenVINO {version} in {folder} has no headers: patchfold.openvino.extension needs the package that"
            " `pip install openvino` installs"
        )
    runtimes = sorted(libraries.glob("libopenvino.so.*"))
    if not runtimes:
        raise RuntimeError(f"{libraries}: there is no libopenvino.so.*, which the library for OpenVINO needs")
    command = [
        *_compiler(),
        *("-std=c++17", COMPILED_FOR_SPEED, "-fPIC", "-shared", "-fvisibility=hidden"),
        *_definitions(folder),
        *("-I", str(SOURCES), "-isystem", str(include)),
        *sources,
        str(own),
        str(runtimes[-1]),
        *(str(path) for path in sorted(libraries.glob("libtbb.so.*"))),
        # patchfold's library is in a separate folder; OpenVINO's libraries are already loaded in the process.
        *(f"-Wl,-rpath,{own.parent}", "-Wl,--enable-new-dtags", "-Wl,--no-undefined"),
    ]
    handle, part = tempfile.mkstemp(dir=target.parent, prefix=f"{target.name}.", suffix=".part")
    os.close(handle)
    try:
        answer = subprocess.run([*command, "-o", part], capture_output=True, text=True, check=False)
        if answer.returncode != 0:
            said = "\n".join((answer.stderr or answer.stdout).strip().splitlines()[:20])
            compiler = _shown(shlex.join(command[:1]))
            raise RuntimeError(f"the library for OpenVINO {version} cannot be compiled by {compiler}; it says:\n{said}")
        os.chmod(part, 0o755)
        os.replace(part, target)
    finally:
        Path(part).unlink(missing_ok=True)


def _compiler() -> list[str]:
    given = shlex.split(os.environ.get("CXX", ""))
    for words in [given] if given else [["c++"], ["g++"], ["clang++"]]:
        if shutil.which(words[0]):
            return words
    raise RuntimeError(
        f"the library for OpenVINO is compiled where it is first used, and there is no C++ compiler"
        f"{' ' + _shown(given[0]) if given else ''}: apt-get install g++, or set CXX"
    )


def _definitions(folder: Path) -> list[str]:
    """Returns the macros with which OpenVINO was compiled, and which its users need: the kind of threads, and the standard
    library's ABI."""
    text = "".join(path.read_text(encoding="utf-8") for path in (folder / "cmake").glob("OpenVINOTargets.cmake"))
    words = re.findall(r"\b(OV_THREAD=OV_THREAD_\w+|_GLIBCXX_USE_CXX11_ABI=[01])\b", text)
    if not any(word.startswith("OV_THREAD=") for word in words):
        raise RuntimeError(f"{folder / 'cmake'}: does not say which threads this OpenVINO has")
    return [f"-D{word}" for word in dict.fromkeys(words)]

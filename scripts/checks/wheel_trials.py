# SPDX-License-Identifier: Apache-2.0
"""Checks of wheels for scripts/wheels: that package indexes accept a wheel, and that it runs in an interpreter."""
import os
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from private_apt import PrivateApt

ROOT = Path(__file__).resolve().parents[2]
SMOKE = ROOT / "scripts" / "checks" / "wheel_smoke.py"
PHOTO = ROOT / "examples" / "photo.png"
# Tests of a wheel's content, and of threads, which only run in parallel in an interpreter without a lock.
TESTS = [ROOT / "tests" / "python" / name for name in ("test_wheel.py", "test_threads.py")]


class Failed(Exception):
    pass


class Unavailable(Exception):
    """Raised if this machine cannot run a trial."""


def run(*command, **options):
    """Runs a command and returns its output. Raises Failed with the output if the command fails."""
    words = [str(word) for word in command]
    answer = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if answer.returncode:
        raise Failed("\n".join([*answer.stdout.splitlines()[-40:], f"this failed: {' '.join(words)}"]))
    return answer.stdout


def is_for(wheel, version):
    """Returns whether a wheel is for a version of Python, such as 3.11 or 3.14t."""
    _, _, python, abi, _ = wheel.name.split("-")
    number = version.replace(".", "")
    if abi == "abi3":
        return not number.endswith("t") and int(number[1:]) >= int(python.removeprefix("cp3"))
    return abi == f"cp{number}"


def audit(tools, file):
    """Checks the metadata of a file and, if it is a wheel, its manylinux tag and its abi3 tag."""
    if file.suffix == ".whl":
        if "-manylinux_" not in file.name:
            raise Failed(f"{file.name}: auditwheel found no Linux beside this one that it runs on:\n" +
                         run(tools / "auditwheel", "show", file))
        if "-abi3-" in file.name:
            run(tools / "abi3audit", "--strict", file)
    run(tools / "twine", "check", "--strict", file)


def try_here(wheel, bin):
    """Tests the wheel in the environment of an interpreter, and in an empty environment that the tests make."""
    run(bin / "python", "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", wheel)
    with tempfile.TemporaryDirectory() as folder:
        run(bin / "python", "-B", SMOKE, cwd=folder)
        run(bin / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS,
            env={**os.environ, "PATCHFOLD_WHEEL": str(wheel)}, cwd=folder)


def debian(arch, suite, folder):
    """Returns a folder with the Python of a release of Debian, unpacked and not installed."""
    if not (folder / "complete").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            with PrivateApt("deb", suite, {"x86_64": "amd64", "aarch64": "arm64"}[arch]) as apt:
                apt("install", "--download-only", "--yes", "--no-install-recommends", "base-files", "python3", "libstdc++6")
                for package in sorted(apt.archives.glob("*.deb")):
                    run("dpkg-deb", "--extract", package, folder)
        except OSError as failure:
            raise Unavailable(f"the mirror does not give Python of {suite} for {arch}\n{failure}") from failure
        (folder / "complete").touch()
    return folder


def install(wheel, arch, version, folder, tools):
    """Installs a wheel and NumPy into a folder for another interpreter, without running this interpreter."""
    shutil.rmtree(folder, ignore_errors=True)
    newest = max(int(minor) for minor in re.findall(r"manylinux_2_(\d+)_", wheel.name))
    run(tools / "python", "-m", "pip", "install", "--quiet", "--target", folder, "--only-binary=:all:", "--implementation=cp",
        f"--python-version={version}", f"--abi=cp{version.replace('.', '')}", "--abi=abi3", "--abi=none",
        *(f"--platform=manylinux_2_{minor}_{arch}" for minor in range(17, newest + 1)), f"--platform=manylinux2014_{arch}", wheel)


def try_release(wheel, arch, suite, version, tools, releases):
    """Runs a wheel in the interpreter of a Debian release, with its libraries; under qemu for another processor."""
    here = arch == platform.machine()
    if not PrivateApt.is_there() or (here and os.geteuid()) or (not here and not shutil.which(f"qemu-{arch}")):
        raise Unavailable("interpreters of Debian's releases need apt-get, and root or qemu-user")
    root = debian(arch, suite, releases / f"{suite}-{arch}")
    place = root / "opt" / "patchfold"
    install(wheel, arch, version, place, tools)
    shutil.copy(SMOKE, root / "opt" / "smoke.py")
    shutil.copy(PHOTO, root / "opt" / "photo.png")
    with tempfile.TemporaryDirectory(dir=root / "opt") as folder:
        if here:
            inside, opt = ["chroot", root], Path("/opt")
            variables = {"PYTHONPATH": "/opt/patchfold", "PATH": "/usr/bin:/usr/sbin"}
            python = f"/usr/bin/python{version}"
        else:
            inside, opt = [f"qemu-{arch}", "-L", root], root / "opt"
            variables = {"PYTHONHOME": str(root / "usr"), "PYTHONPATH": str(place), "PATH": os.environ["PATH"]}
            python = root / "usr" / "bin" / f"python{version}"
        work = opt / Path(folder).name
        run(*inside, python, "-B", opt / "smoke.py", env=variables)
        program = [*inside, opt / "patchfold" / "bin" / "patchfold"]
        run(*program, "split", opt / "photo.png", work / "tiles", "--tile", "128", "--overlap", "32", env=variables)
        run(*program, "merge", work / "tiles", work / "photo.tif", "--compress", "zstd", env=variables)

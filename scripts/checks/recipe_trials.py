# SPDX-License-Identifier: Apache-2.0
"""How scripts/recipes tries each recipe: one function for each, which reports to trial.results."""
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wheel_trials import Failed, Unavailable, run

ROOT = Path(__file__).resolve().parents[2]
STUBS = ROOT / "scripts" / "checks" / "recipe_stubs"


@dataclass
class Trial:
    results: Any
    recipe: Path  # the filled recipe's folder
    archive: Path
    version: str
    work: Path  # an empty folder
    jobs: int
    tests: bool

    def unpack(self, folder):
        """The source archive, unpacked."""
        with tarfile.open(self.archive) as opened:
            opened.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        return folder / f"patchfold-{self.version}"


def need(*programs):
    missing = [name for name in programs if not shutil.which(name)]
    if missing:
        raise Unavailable(f"{' and '.join(missing)} is not installed (scripts/setup recipes)")


def tools(*requirements):
    """An environment with what pip's index has, in pinned versions."""
    folder = ROOT / "build" / "recipes" / "tools"
    pins = ROOT / "scripts" / "recipes-requirements.txt"
    done = folder / "done"
    wanted = pins.read_text(encoding="utf-8")
    if not done.is_file() or done.read_text(encoding="utf-8") != wanted:
        run(sys.executable, "-m", "venv", "--clear", folder)
        try:
            run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--requirement", pins)
        except Failed as failure:
            raise Unavailable(f"pip could not install {' and '.join(requirements)}: {failure}") from None
        done.write_text(wanted, encoding="utf-8")
    return folder / "bin"


# Debian

def nanobind(work):
    """nanobind's source archive, in the version that wheels are built with."""
    pins = (ROOT / "scripts" / "wheels-requirements.txt").read_text(encoding="utf-8")
    wanted = re.search(r"^nanobind==(.+)$", pins, re.M)[1]
    path = ROOT / "build" / "sources" / f"nanobind-{wanted}.tar.gz"
    if not path.is_file():
        run(sys.executable, "-m", "venv", "--clear", work / "pip")
        try:
            run(work / "pip" / "bin" / "python", "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "nanobind", "--dest",
                path.parent, f"nanobind=={wanted}")
        except Failed as failure:
            raise Unavailable(f"pip could not fetch nanobind's sources: {failure}") from None
    return path


def build_debian(trial):
    need("dpkg-buildpackage", "dh", "lintian")
    numpy = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "python3-numpy"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, check=False).stdout
    new = numpy and subprocess.run(["dpkg", "--compare-versions", numpy, "ge", "1:1.26"], check=False).returncode == 0
    profiles = [*([] if trial.tests else ["nocheck"]), *([] if new else ["nopython"])]
    source = trial.unpack(trial.work)
    base = f"patchfold_{trial.version}.orig"
    shutil.copy(trial.archive, trial.work / f"{base}.tar.gz")
    component = shutil.copy(nanobind(trial.work), trial.work / f"{base}-nanobind.tar.gz")
    with tarfile.open(component) as opened:
        opened.extractall(trial.work, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        inside = opened.getnames()[0].partition("/")[0]
    (trial.work / inside).rename(source / "nanobind")
    shutil.copytree(trial.recipe, source / "debian")
    variables = {**os.environ, "DEB_BUILD_PROFILES": " ".join(profiles), "LC_ALL": "C.UTF-8",
                 "DEB_BUILD_OPTIONS": " ".join([f"parallel={trial.jobs} noautodbgsym", *([] if trial.tests else ["nocheck"])])}
    lacking = subprocess.run(["dpkg-checkbuilddeps"], cwd=source, env=variables, stderr=subprocess.PIPE, text=True, check=False)
    if lacking.returncode:
        raise Unavailable(f"scripts/setup recipes installs what is missing: {lacking.stderr.strip().rpartition(': ')[2]}")
    run("dpkg-buildpackage", "-us", "-uc", cwd=source, env=variables)
    made = sorted(path.name for path in trial.work.glob("*.deb") if "-dbgsym_" not in path.name)
    return f"{' '.join(made)}{'' if new else ' (NumPy is older than 1.26: no python3-patchfold)'}"


def lint_debian(trial):
    changes, = trial.work.glob("*.changes")
    return run("lintian", "--fail-on", "error,warning", "--tag-display-limit", "0", *(["--allow-root"] if os.getuid() == 0 else []),
               changes).strip() or None


def apart():
    """The words before a command whose mounts vanish with it. Below another root folder, as in a bare system, mounts are apart
    already where that root is."""
    words = ["unshare", "--mount", "--propagation"]
    private = subprocess.run([*words, "private", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0
    return [*words, "private" if private else "unchanged"]


def bare_debian(trial):
    """A bare system of this release with the packages, and what their tests need."""
    need("debootstrap", "unshare")
    if os.getuid():
        raise Unavailable("a bare system needs root")
    release = re.search(r"^VERSION_CODENAME=(\w+)$", Path("/etc/os-release").read_text(encoding="utf-8"), re.M)[1]
    root = trial.work / "root"
    root.mkdir()
    run(*apart(), "bash", "-c",
        f"set -euo pipefail; source '{ROOT}/scripts/checks/bare_system.sh'; make_bare {release} '{root}'; umount '{root}/proc' || true")
    source = root / "source"
    for name in ("examples", "scripts/checks/wheel_smoke.py"):
        inside = trial.work / f"patchfold-{trial.version}" / name
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(inside, source / name) if inside.is_dir() else shutil.copy(inside, source / name)
    shutil.copytree(trial.recipe, source / "debian")
    for package in trial.work.glob("*.deb"):
        if "-dbgsym_" not in package.name:
            shutil.copy(package, source)
    install = "apt-get install -y -qq --no-install-recommends"
    in_bare(root, f"apt-get update -qq && {install} ./*.deb && {install} gcc g++ pkg-config libc6-dev")
    return f"{release}, with all packages"


def in_bare(root, command):
    return run(*apart(), "bash", "-c",
               f"mount -t proc proc '{root}/proc'; exec chroot '{root}' env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "
               f"DEBIAN_FRONTEND=noninteractive sh -c 'cd /source && {command}'")


def test_debian(trial, name):
    output = in_bare(trial.work / "root", f"debian/tests/{name}").strip().splitlines()
    return "; ".join(output[-3:])


def debian(trial):
    if not trial.results.check("debian: dpkg-buildpackage", build_debian, trial):
        return
    trial.results.check("debian: lintian", lint_debian, trial)
    if trial.results.check("debian: installed in a bare system", bare_debian, trial):
        for name in ("library", "tools", "python"):
            if name == "python" and not list(trial.work.glob("python3-patchfold_*.deb")):
                continue
            trial.results.check(f"debian: tests/{name}", test_debian, trial, name)
        shutil.rmtree(trial.work / "root")


# vcpkg

KEYS = {"name", "version-semver", "description", "homepage", "license", "supports", "dependencies", "default-features", "features"}


def manifest_vcpkg(trial):
    manifest = json.loads((trial.recipe / "vcpkg.json").read_text(encoding="utf-8"))
    name = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
    depended = [manifest["dependencies"], *(feature["dependencies"] for feature in manifest["features"].values())]
    words = [manifest["name"], *manifest["features"], *manifest["default-features"]]
    for list_ in depended:
        names = [need if isinstance(need, str) else need["name"] for need in list_]
        if names != sorted(names):
            raise Failed(f"vcpkg.json: {names} is not in the order of the alphabet")
        words += names
    wrong = [word for word in words if not name.fullmatch(word)]
    if set(manifest) - KEYS or wrong or set(manifest["default-features"]) - set(manifest["features"]):
        raise Failed(f"vcpkg.json: keys {sorted(set(manifest) - KEYS)} or names {wrong} are none of vcpkg's")


def port_vcpkg(trial, features, shared, build):
    need("cmake", "ninja")
    folder = trial.work / f"{'-'.join(['core', *features])}-{'shared' if shared else 'static'}"
    run("cmake", "-D", f"port={trial.recipe}", "-D", f"archive={trial.archive}", "-D", f"work={folder}", "-D",
        f"version={trial.version}", "-D", f"features={';'.join(features)}", "-D", f"shared={'ON' if shared else 'OFF'}", "-D",
        f"build={'ON' if build else 'OFF'}", "-P", STUBS / "vcpkg.cmake")
    if not build:
        return "configured"
    consumer = folder / "consumer"
    run("cmake", "-S", trial.recipe.parent / "conan" / "test_package", "-B", consumer, "-G", "Ninja", "-D",
        f"CMAKE_PREFIX_PATH={folder / 'packages'}")
    run("cmake", "--build", consumer)
    return " ".join(run(consumer / program).strip() for program in ("hello", "hello_c"))


def vcpkg(trial):
    trial.results.check("vcpkg: manifest", manifest_vcpkg, trial)
    for features, shared, build in ((["tbb"], True, True), (["tbb"], False, False), ([], False, False), (["tbb", "tools"], False, False)):
        name = f"vcpkg: port, features {' '.join(['core', *features])}, {'shared' if shared else 'static'}"
        trial.results.check(name, port_vcpkg, trial, features, shared, build)


# Conan

def profile(trial):
    """A profile of this system, whose libraries stand in for Conan's packages, in the lowest versions that the recipe takes."""
    need("cmake", "ninja", "g++")
    major = run("g++", "-dumpversion").strip().partition(".")[0]
    text = (trial.recipe / "conanfile.py").read_text(encoding="utf-8")
    least = dict(re.findall(r'"([\w-]+)/\[>=([\d.]+)', text))
    cmake = least.pop("cmake")
    lines = ["[settings]", "os=Linux", f"arch={os.uname().machine.replace('aarch64', 'armv8')}", "compiler=gcc",
             f"compiler.version={major}", "compiler.libcxx=libstdc++11", "compiler.cppstd=20", "build_type=Release",
             "[platform_tool_requires]", f"cmake/{cmake}", "[platform_requires]",
             *(f"{name}/{number}" for name, number in least.items()), "[conf]", "tools.cmake.cmaketoolchain:generator=Ninja",
             # As releases are compiled, which is faster.
             "tools.cmake.cmaketoolchain:extra_variables={'CMAKE_UNITY_BUILD': 'ON', 'CMAKE_UNITY_BUILD_BATCH_SIZE': '6'}"]
    path = trial.work / "profile"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def conan_command(trial, *words):
    bin = tools("conan")
    # Archives by their checksum, where Conan looks before it fetches.
    cache = trial.work / "archives"
    digest = re.search(r'sha256: "(\w+)"', (trial.recipe / "conandata.yml").read_text(encoding="utf-8"))[1]
    (cache / "s").mkdir(parents=True, exist_ok=True)
    shutil.copy(trial.archive, cache / "s" / digest)
    return run(bin / "conan", *words, "--no-remote", "-pr:a", profile(trial), "-cc", f"core.sources:download_cache={cache}",
               env={**os.environ, "CONAN_HOME": str(trial.work / "home")})


def graph_conan(trial):
    for options in (["shared=True", "with_tbb=False"], ["tools=True"]):
        conan_command(trial, "graph", "info", trial.recipe, *(word for option in options for word in ("-o", f"&:{option}")))


def create_conan(trial, shared):
    output = conan_command(trial, "create", trial.recipe, "-o", f"&:shared={shared}")
    lines = [line for line in output.splitlines() if re.match(r"patches at|columns \[", line)]
    if len(lines) != 2:
        raise Failed(f"{output}\nthe test package did not print what its two programs print")
    return " ".join(lines)


def conan(trial):
    if trial.results.check("conan: graph", graph_conan, trial):
        trial.results.check("conan: create, shared", create_conan, trial, True)


# conda

RENDER = """
import json, sys
import rattler_build
recipe = rattler_build.Stage0Recipe.from_file(sys.argv[1])
for platform in sys.argv[2:]:
    variants = rattler_build.VariantConfig({"python": ["3.12"], "c_compiler": ["c"], "cxx_compiler": ["cxx"], "c_stdlib": ["libc"]})
    config = rattler_build.RenderConfig(rattler_build.PlatformConfig(target_platform=platform))
    for variant in recipe.render(variants, config):
        made = variant.recipe if not callable(variant.recipe) else variant.recipe()
        print(platform, made.to_dict()["package"]["name"], made.to_dict()["package"]["version"])
"""


def render_conda(trial):
    bin = tools("py-rattler-build")
    platforms = ("linux-64", "linux-aarch64", "osx-arm64")
    answer = run(bin / "python", "-c", RENDER, trial.recipe / "recipe.yaml", *platforms).splitlines()
    expected = [f"{platform} {name} {trial.version}" for platform in platforms for name in ("libpatchfold", "patchfold")]
    if answer != expected:
        raise Failed(f"rendered {answer}, expected {expected}")
    return f"{len(answer)} packages rendered"


def conda(trial):
    trial.results.check("conda: rattler-build", render_conda, trial)


# Homebrew and Nix

def run_homebrew(trial):
    need("ruby", "cmake", "ninja")
    formula = trial.recipe / "patchfold.rb"
    run("ruby", "-c", formula)
    said = json.loads(run("ruby", STUBS / "formula.rb", formula, trial.unpack(trial.work), trial.work / "prefix").splitlines()[-1])
    commands = [command[:2] for command in said["commands"]]
    if commands != [["cmake", "-S"], ["cmake", "--build"], ["cmake", "--install"]] or said["test"] != [True]:
        raise Failed(f"the formula runs {commands} and has the tests {said['test']}")
    return "configured"


def homebrew(trial):
    trial.results.check("homebrew: formula", run_homebrew, trial)


def evaluate_nix(trial):
    need("nix-instantiate")
    variables = {**os.environ, "HOME": str(trial.work), "NIX_REMOTE": "", "NIX_STATE_DIR": str(trial.work / "state")}
    answer = run("nix-instantiate", "--eval", "--strict", "--json", STUBS / "nixpkgs.nix", "--arg", "file",
                 trial.recipe / "package.nix", env=variables)
    made = json.loads(next(line for line in answer.splitlines() if line.startswith("{")))
    if made["version"] != trial.version or not made["src"]["url"].endswith(f"/{trial.archive.name}"):
        raise Failed(f"the expression makes {made['version']} from {made['src']['url']}")
    return f"{made['pname']} {made['version']}"


def nix(trial):
    trial.results.check("nix: evaluated", evaluate_nix, trial)

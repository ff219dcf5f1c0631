# SPDX-License-Identifier: Apache-2.0
"""Runs apt-get with separate package lists, for another release or architecture of Debian from this system's mirror."""
import shutil
import subprocess
import tempfile
from pathlib import Path


class PrivateApt:
    """apt-get for another suite or architecture, which changes nothing of this system. Use:
    `with PrivateApt("deb", "trixie", "arm64") as apt: apt("download", "zlib1g")`."""

    def __init__(self, kind, suite, architecture=None):
        self.kind, self.suite, self.architecture = kind, suite, architecture

    @staticmethod
    def is_there():
        return shutil.which("apt-get") is not None

    def __enter__(self):
        self.holder = tempfile.TemporaryDirectory()
        folder = Path(self.holder.name)
        folder.chmod(0o755)  # apt fetches as another user, _apt
        for name in ("lists/partial", "archives/partial"):
            (folder / name).mkdir(parents=True)
        (folder / "status").touch()
        (folder / "sources.list").write_text("".join(f"{line}\n" for line in self.sources()), encoding="utf-8")
        options = [f"Dir::Etc::SourceList={folder}/sources.list", "Dir::Etc::SourceParts=-", f"Dir::State::Lists={folder}/lists",
                   f"Dir::State::status={folder}/status", f"Dir::Cache::archives={folder}/archives",
                   f"Dir::Cache::pkgcache={folder}/pkgcache", f"Dir::Cache::srcpkgcache={folder}/srcpkgcache"]
        if self.architecture:
            options += [f"APT::Architecture={self.architecture}", f"APT::Architectures::={self.architecture}"]
        self.command = ["apt-get", "-qq", *(word for option in options for word in ("-o", option))]
        self.archives = folder / "archives"
        self("update")
        return self

    def __exit__(self, *_):
        self.holder.cleanup()

    def __call__(self, *words, **options):
        answer = subprocess.run([*self.command, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                                **options)
        if answer.returncode:
            raise OSError(f"apt-get {' '.join(words)} failed for {self.suite}:\n{answer.stdout.strip()}")

    def sources(self):
        """Returns lines for sources.list: this system's mirrors, with the other suite in place of its own."""
        ask = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"]
        known = subprocess.run(ask, stdout=subprocess.PIPE, text=True, check=True).stdout
        lines = set()
        for line in known.splitlines():
            address, release, component = line.split()
            _, dash, kind = release.partition("-")
            if component == "main" and (not dash or kind in ("security", "updates")):
                lines.add(f"{self.kind} {address} {self.suite}{dash}{kind} main")
        if not lines:
            raise OSError("apt has no source of Debian's packages")
        return sorted(lines)

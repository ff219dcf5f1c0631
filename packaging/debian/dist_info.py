# SPDX-License-Identifier: Apache-2.0
"""dist_info.py FOLDER writes the metadata of pyproject.toml, in the form that importlib.metadata reads, into FOLDER."""
import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
header = Path("include/patchfold/version.hpp").read_text(encoding="utf-8")
version = re.search(r'PATCHFOLD_VERSION_STRING "(.+)"', header)[1]
lines = ["Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {version}", f"Summary: {project['description']}",
         f"License-Expression: {project['license']}", f"Requires-Python: {project['requires-python']}"]
lines += [f"Project-URL: {name}, {address}" for name, address in project["urls"].items()]
lines += [f"Classifier: {name}" for name in project["classifiers"]]
lines += [f"Requires-Dist: {name}" for name in project["dependencies"]]
folder = Path(sys.argv[1]) / f"{project['name']}-{version}.dist-info"
folder.mkdir(parents=True)
(folder / "METADATA").write_text("\n".join(lines) + "\n", encoding="utf-8")
(folder / "INSTALLER").write_text("debian\n", encoding="utf-8")

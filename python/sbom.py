# SPDX-License-Identifier: Apache-2.0
"""Writes the list of the parts of a wheel.

usage: sbom.py METADATA_FOLDER VERSION [--prefix FOLDER] [--compiled-in NAME=VERSION].. [NAME=VERSION]..

METADATA_FOLDER is the wheel's .dist-info. The script writes the list there, as sboms/patchfold.spdx.json (SPDX 2.3), and the
licences of the parts under licenses/. The parts are nanobind, as the Python that runs this script has it, and all libraries
of FOLDER, which scripts/dependencies filled. NAME=VERSION is a library of the system, which the wheel loads or, after
--compiled-in, contains as compiled headers. SOURCE_DATE_EPOCH gives the time of the document, so that two builds of one tree
write the same bytes.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import time
from importlib import metadata
from pathlib import Path
from typing import Any


def nanobind(licences: Path) -> list[dict[str, Any]]:
    """Returns the entries of nanobind and of robin-map, the hash map in its sources, and copies their licences. A header of
    robin-map begins with its licence."""
    found = metadata.distribution("nanobind")
    files = {file.name: Path(str(file.locate())) for file in found.files or ()}
    texts = {
        "nanobind": files["LICENSE"].read_text(encoding="utf-8"),
        "robin-map": files["robin_map.h"].read_text(encoding="utf-8").partition("*/")[0] + "*/\n",
    }
    for name, text in texts.items():
        if "Copyright (c)" not in text:
            raise SystemExit(f"sbom: the licence of {name} is not where it was")
        (licences / name).mkdir(parents=True, exist_ok=True)
        (licences / name / "LICENSE").write_text(text, encoding="utf-8")
    numbers = re.findall(r"TSL_RH_VERSION_[A-Z]+ (\d+)", files["robin_growth_policy.h"].read_text(encoding="utf-8"))
    return [
        {
            "name": "nanobind",
            "version": found.version,
            "licence": "BSD-3-Clause",
            "home": "https://github.com/wjakob/nanobind",
        },
        {"name": "robin-map", "version": ".".join(numbers), "licence": "MIT", "home": "https://github.com/Tessil/robin-map"},
    ]


def built(prefix: Path, licences: Path) -> list[dict[str, Any]]:
    """Returns the entries of the libraries that scripts/dependencies built, and copies their licences."""
    made = prefix / "share" / "licenses"
    libraries: list[dict[str, Any]] = json.loads((made / "libraries.json").read_text(encoding="utf-8"))
    for library in libraries:
        shutil.copytree(made / library["name"], licences / library["name"], dirs_exist_ok=True)
    return libraries


def of_the_system(word: str) -> dict[str, Any]:
    name, _, version = word.partition("=")
    return {"name": name, "version": version}


def identity(name: str) -> str:
    return "SPDXRef-" + name.replace("_", "-")


def package(component: dict[str, Any]) -> dict[str, object]:
    said: dict[str, object] = {
        "SPDXID": identity(component["name"]),
        "name": component["name"],
        "versionInfo": component["version"],
        "downloadLocation": component.get("home", "NOASSERTION"),
        "filesAnalyzed": False,
        "licenseConcluded": component.get("licence", "NOASSERTION"),
        "licenseDeclared": component.get("licence", "NOASSERTION"),
        "copyrightText": "NOASSERTION",
    }
    if "sha256" in component:
        said["packageFileName"] = Path(component["archive"]).name
        said["checksums"] = [{"algorithm": "SHA256", "checksumValue": component["sha256"]}]
    return said


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("version")
    parser.add_argument("--prefix", type=Path)
    parser.add_argument("--compiled-in", action="append", default=[])
    parser.add_argument("loaded", nargs="*")
    arguments = parser.parse_intermixed_args()
    licences = arguments.folder / "licenses"
    own = {"name": "patchfold", "version": arguments.version, "licence": "Apache-2.0"}
    held = nanobind(licences) + (built(arguments.prefix, licences) if arguments.prefix else [])
    compiled_in = [of_the_system(word) for word in arguments.compiled_in]
    loaded = [of_the_system(word) for word in arguments.loaded]
    relationships = [("DOCUMENT", "DESCRIBES", "patchfold")]
    relationships += [("patchfold", "CONTAINS", each["name"]) for each in held]
    relationships += [("patchfold", "STATIC_LINK", each["name"]) for each in compiled_in]
    relationships += [("patchfold", "DYNAMIC_LINK", each["name"]) for each in loaded]
    packages = [package(each) for each in (own, *held, *compiled_in, *loaded)]
    name = f"patchfold-{arguments.version}"
    content = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"urn:patchfold:spdx:{name}:{content}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)),
            "creators": [f"Tool: patchfold-build-{arguments.version}"],
        },
        "packages": packages,
        "relationships": [
            {"spdxElementId": identity(one), "relationshipType": kind, "relatedSpdxElement": identity(other)}
            for one, kind, other in relationships
        ],
    }
    place = arguments.folder / "sboms"
    place.mkdir(parents=True, exist_ok=True)
    (place / "patchfold.spdx.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

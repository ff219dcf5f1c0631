# SPDX-License-Identifier: Apache-2.0
"""Runs the modules of the page in node, without a browser."""

import json
import subprocess
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "web/page"


def node(expression: str, given: Any) -> Any:
    """Returns the value of a JavaScript expression that may use the page's modules and the variable `given`."""
    script = f"""
import {{ readFileSync }} from "node:fs";
import * as s from {json.dumps((PAGE / "state.js").as_uri())};
import {{ copyAs }} from {json.dumps((PAGE / "copy_as/index.js").as_uri())};
const given = JSON.parse(readFileSync(0));
process.stdout.write(JSON.stringify({expression}));
"""
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script], input=json.dumps(given), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the tests of a JUnit report that ctest or pytest wrote.

usage: scripts/checks/count_tests.py REPORT

Prints "PASSED FAILED SKIPPED", and the ends of what failed tests printed on the error output. A test that could not run counts as
failed. Exits with 1 if there is no report, or no test in it.
"""
import sys
import xml.etree.ElementTree as tree


def outcome(case):
    """ctest says how a test ended in `status`, and why one did not run in the message; pytest only adds elements."""
    skipped = case.find("skipped")
    if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
        return "failed"
    if case.get("status") == "disabled":
        return "skipped"
    if skipped is None:
        return "passed"
    return "failed" if case.get("status") == "notrun" and "SKIP_" not in skipped.get("message", "") else "skipped"


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__, end="")
        return 0 if len(sys.argv) == 2 else 2
    try:
        cases = list(tree.parse(sys.argv[1]).getroot().iter("testcase"))
    except (OSError, tree.ParseError) as error:
        print(f"count_tests: {error}", file=sys.stderr)
        return 1
    outcomes = [outcome(case) for case in cases]
    for case, ended in zip(cases, outcomes):
        if ended == "failed" and case.get("status"):  # pytest prints its failures itself
            print("FAILED " + case.get("name"), *(case.findtext("system-out") or "").splitlines()[-40:], sep="\n    ", file=sys.stderr)
    print(*(outcomes.count(kind) for kind in ("passed", "failed", "skipped")))
    return 0 if cases else 1


if __name__ == "__main__":
    sys.exit(main())

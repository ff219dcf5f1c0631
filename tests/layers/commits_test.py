# SPDX-License-Identifier: Apache-2.0
"""Checks that check_commits.py names the faults of a subject, and passes if there are no commits.

usage: commits_test.py CHECKS, the folder scripts/checks
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
CHECKS = Path(sys.argv.pop())
sys.path.insert(0, str(CHECKS))
from check_commits import BASE, faults_of  # noqa: E402


def check(root):
    done = subprocess.run([sys.executable, CHECKS / "check_commits.py", "--root", root], stdout=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout


class Subjects(unittest.TestCase):
    def test_commands_of_an_area_are_sound(self):
        for subject in ("engine: merge neighbouring dims", "python/dask: pass chunks on", "docs: feed the figures back", "a: " + "b" * 69):
            self.assertEqual(faults_of(subject), [], subject)

    def test_faults_are_named(self):
        for subject, expected in (("a: " + "b" * 70, "has 73 characters"), ("a: cut this; cut that", "semicolon"), ("cut this", "area"),
                                  ("docs: figures of sums", "not with figures"), ("tests: a line", "not with a"),
                                  ("cli: added help", "not with added"), ("cli: Add help", "not with Add")):
            faults = faults_of(subject)
            self.assertEqual(len(faults), 1, subject)
            self.assertIn(expected, faults[0])


class Trees(unittest.TestCase):
    def test_what_is_no_checkout_passes(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(check(folder), (0, "commits: not a checkout of git, nothing to check\n"))

    def test_commits_since_a_release_are_checked_and_a_clone_without_the_base_passes(self):
        with tempfile.TemporaryDirectory() as folder:
            def git(*words):
                try:
                    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=n@n", *words], cwd=folder, check=True, capture_output=True)
                except OSError:
                    self.skipTest("there is no git")

            git("init")
            git("commit", "--allow-empty", "-m", "Before")
            self.assertEqual(check(folder), (0, f"commits: this clone lacks {BASE}, nothing to check\n"))
            git("tag", "v0.0.1")
            git("commit", "--allow-empty", "-m", "cli: add help")
            self.assertEqual(check(folder)[0], 0)
            git("commit", "--allow-empty", "-m", "After")
            code, output = check(folder)
            self.assertEqual(code, 1)
            self.assertIn("After: must read `area: what it does`", output)
            self.assertIn("2 since v0.0.1, 1 faults", output)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Tests the counts and the table of parts.py, which collects results of tests.

usage: parts_test.py CHECKS, the folder scripts/checks
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
CHECKS = Path(sys.argv.pop())
sys.path.insert(0, str(CHECKS))
import parts  # noqa: E402

CTEST = """<testsuite>
<testcase name="good" status="run"><system-out>instruction sets: AVX2 SCALAR
</system-out></testcase>
<testcase name="other" status="run"><system-out>memcheck: instruction sets: SSE4
instruction sets: 1 passed in 2 s
</system-out></testcase>
<testcase name="bad" status="fail"><failure message=""/><system-out>why it is bad</system-out></testcase>
<testcase name="full disk" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/><system-out>[ RUN      ] T.t
a_test.cpp:12: Skipped
there is no full disk

[  SKIPPED ] T.t (0 ms)
</system-out></testcase>
<testcase name="disk" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/><system-out>one
needs 12 GB of disk
</system-out></testcase>
<testcase name="program" status="notrun"><skipped message="Unable to find executable: program"/></testcase>
<testcase name="off" status="disabled"><skipped message=""/></testcase>
</testsuite>"""
AVX2 = "ssse3 sse4_1 sse4_2 aes pclmulqdq avx2 fma bmi1 bmi2"
PYTEST = """<testsuites><testsuite>
<testcase name="good"/><testcase name="bad"><failure message="a"/></testcase><testcase name="worse"><error message="a"/></testcase>
<testcase name="a"><skipped message="needs zarr"/></testcase><testcase name="b"><skipped message="needs zarr"/></testcase>
</testsuite></testsuites>"""


class Parts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "cpuinfo").write_text(f"flags\t: fpu {AVX2}\n")

    def run_program(self, *arguments):
        done = subprocess.run([sys.executable, CHECKS / "parts.py", *arguments], stdout=subprocess.PIPE, text=True,
                              env=os.environ | {"PATCHFOLD_PARTS": str(self.folder / "parts"),
                                                "PATCHFOLD_CPUINFO": str(self.folder / "cpuinfo")})
        return done.returncode, done.stdout

    def report(self, text):
        path = self.folder / "report.xml"
        path.write_text(text)
        return str(path)

    def add(self, *arguments):
        code, printed = self.run_program("add", *arguments)
        self.assertEqual(code, 0)
        return printed

    def test_outcomes_of_ctest(self):
        printed = self.add("release", "--report", self.report(CTEST))
        self.assertIn("why it is bad", printed)
        self.assertIn("FAILED program", printed)
        self.assertNotIn("FAILED off", printed)
        code, printed = self.run_program("table", "release")
        self.assertEqual(code, 1)
        self.assertIn("SSE4", printed)
        for why in ("1: there is no full disk", "1: needs 12 GB of disk", "1: disabled: off"):
            self.assertIn(why, printed)
        self.assertIn("AVX2 SSE4 SCALAR", printed)
        self.assertNotIn("SCALAR 1", printed)
        self.assertEqual(printed.splitlines()[-1], "2 passed, 2 failed, 3 skipped")

    def test_outcomes_of_pytest(self):
        self.add("python", "--report", self.report(PYTEST), "--sets", "AVX3")
        self.assertEqual(self.run_program("counts", "python"), (1, "python: 1 passed, 2 failed, 2 skipped\n"))
        self.assertIn("2: needs zarr", self.run_program("table", "python")[1])

    def test_a_test_that_lacks_what_is_installed_failed(self):
        text = PYTEST.replace("needs zarr", "could not import 'zarr': No module named 'zarr'", 1)
        whole = text.replace('<skipped message="needs zarr"/>', '<skipped message="collection skipped">could not import \'numpy\'</skipped>')
        for name, report, failed in ("part", text, 3), ("whole", whole, 4):
            self.assertIn("FAILED a: could not import zarr", self.add(name, "--report", self.report(report), "--needed", "numpy|zarr"))
            self.assertEqual(self.run_program("counts", name), (1, f"{name}: 1 passed, {failed} failed, {5 - 1 - failed} skipped\n"))
        self.add("other", "--report", self.report(text), "--needed", "numpy")
        self.assertEqual(self.run_program("counts", "other"), (1, "other: 1 passed, 2 failed, 2 skipped\n"))

    def test_a_run_that_fails_in_silence_failed(self):
        good = self.report('<testsuite><testcase name="good"/></testsuite>')
        self.assertIn("ended with 3", self.add("a", "--report", good, "--status", "3"))
        self.assertEqual(self.run_program("counts", "a"), (1, "a: 1 passed, 1 failed, 0 skipped\n"))
        self.add("b", "--report", good, "--status", "0")
        self.assertEqual(self.run_program("counts", "b"), (0, "b: 1 passed, 0 failed, 0 skipped\n"))
        self.assertEqual(self.add("c", "--failed", "1", "--status", "1"), "")

    def test_results_of_a_part_add_up(self):
        self.add("a", "--passed", "2", "--skipped", "1", "no disk")
        self.add("a", "--passed", "1", "--skipped", "2", "no disk")
        self.add("b", "--passed", "1")
        code, printed = self.run_program("table", "a", "b")
        self.assertEqual((code, printed.splitlines()[-1]), (0, "4 passed, 0 failed, 3 skipped"))
        self.assertIn("3: no disk", printed)
        self.add("c", "--merge", str(self.folder / "parts"))
        self.assertEqual(self.run_program("counts", "c"), (0, "c: 4 passed, 0 failed, 3 skipped\n"))
        self.run_program("start", "a")
        self.assertEqual(self.run_program("counts", "a"), (1, "a: 0 passed, 0 failed, 0 skipped\n"))

    def test_what_gave_no_result_failed(self):
        self.add("a", "--passed", "1")
        code, printed = self.run_program("table", "a", "b")
        self.assertEqual((code, printed.splitlines()[-1]), (1, "1 passed, 1 failed, 0 skipped"))
        self.assertIn("it gave no result", printed)
        for name, report in ("missing", "no.xml"), ("broken", self.report("<a")), ("empty", self.report("<testsuite/>")):
            self.add(name, "--report", report)
            self.assertEqual(self.run_program("counts", name), (1, f"{name}: 0 passed, 1 failed, 0 skipped\n"))

    def test_a_part_that_cannot_run_is_a_row(self):
        self.add("torch", "--skipped", "1", "no network")
        self.assertEqual(self.run_program("counts", "torch")[0], 0)
        code, printed = self.run_program("table", "torch")
        self.assertEqual((code, printed.splitlines()[-1]), (1, "0 passed, 0 failed, 1 skipped"))
        self.assertIn("1: no network", printed)

    def test_sets_that_were_wanted(self):
        printed = self.add("release", "--report", self.report(CTEST), "--wanted", "AVX2 SSE4 SSSE3 AVX3")
        self.assertIn("FAILED no test of release ran on SSSE3", printed)
        self.assertEqual(self.run_program("counts", "release"), (1, "release: 2 passed, 3 failed, 4 skipped\n"))
        printed = self.run_program("table", "release")[1]
        self.assertIn("1: instruction set AVX3: this machine has none", printed)
        self.assertIn("instruction sets of this machine: AVX2 SSE4 SSSE3\n", printed)

    def test_sets_of_a_machine(self):
        self.assertEqual(parts.sets_of_machine(f"model: x\nflags\t\t: {AVX2} avx512f\nbugs : avx512vl\n"), ["AVX2", "SSE4", "SSSE3"])
        self.assertEqual(parts.sets_of_machine(f"flags : {AVX2} avx512f avx512vl avx512dq avx512bw\n")[0], "AVX3")
        self.assertEqual(parts.sets_of_machine("Features : fp asimd\n"), ["NEON"])
        self.assertEqual(parts.sets_of_machine(""), [])


if __name__ == "__main__":
    unittest.main()

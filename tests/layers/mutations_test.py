# SPDX-License-Identifier: Apache-2.0
"""Checks that the places of seeded bugs are found, and that a bug without a place or with a Python error is reported.

usage: mutations_test.py CHECKS, the folder scripts/checks
"""
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop())
from mutations import Misfit, read_mutations  # noqa: E402

SOURCES = {
    "room/a.cpp": "int first() {\n  if (a < b)\n    return 1;\n  return 2;\n}\n\nint second() {\n  return 1;\n}\n",
    "room/deep/b.cpp": "int third() {\n  return 3;\n}\n",
    "fifth.py": "def fifth(x):\n    if x:\n        return 5\n    return 6\n",
}


class Places(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.tree = Path(self.folder.name)
        for name, text in SOURCES.items():
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / name).write_text(text)

    def bug(self, text):
        path = self.tree / "list.txt"
        path.write_text(text)
        return read_mutations(path)[0]

    def place(self, text):
        path, source, begin, end = self.bug(text).place(self.tree)
        return str(path.relative_to(self.tree)), source.count("\n", 0, begin) + 1, source[begin:end]

    def test_text_is_found_however_it_is_spaced(self):
        self.assertEqual(self.place("x | all | room/a.cpp\n- if (a<b) return 1;\n+ ;"), ("room/a.cpp", 2, "if (a < b)\n    return 1;"))

    def test_text_is_found_in_any_file_of_a_folder(self):
        self.assertEqual(self.place("x | all | room\n- return 3;\n+ return 4;"), ("room/deep/b.cpp", 2, "return 3;"))

    def test_context_chooses_among_places(self):
        for context, line in (("int first() {", 3), ("int second() {", 8)):
            self.assertEqual(self.place(f"x | all | room\n@ {context}\n- return 1;\n+ ;"), ("room/a.cpp", line, "return 1;"))

    def test_what_has_no_place_is_a_misfit(self):
        for text in ("x | all | room/a.cpp\n- return 1;\n+ ;", "x | all | room\n- return 7;\n+ ;", "x | all | none.cpp\n- return 1;\n+ ;",
                     "x | all | room\n@ int fourth()\n- return 1;\n+ ;", "x | all | room\n@ return\n- }\n+ ;"):
            with self.assertRaises(Misfit, msg=text):
                self.bug(text).place(self.tree)

    def test_a_bug_stands_where_its_text_stood(self):
        for blanks in ("", "    "):
            text = self.bug(f"x | all | fifth.py\n- {blanks}if x:\n+ {blanks}if not x:").seeded(self.tree)[2]
            self.assertEqual(text, SOURCES["fifth.py"].replace("if x", "if not x"))

    def test_what_is_no_python_is_a_misfit(self):
        for text in ("if x", "if x:\n+   y", "if x:\n+ pass"):
            with self.assertRaises(Misfit, msg=text):
                self.bug(f"x | all | fifth.py\n- if x:\n+ {text}").seeded(self.tree)

    def test_wrong_lists_are_refused(self):
        for text in ("x | all | room\n+ return 4;", "x | all | room\n- a\n\nx | all | room\n- b", "no bug"):
            with self.assertRaises(SystemExit, msg=text):
                self.bug(text)


if __name__ == "__main__":
    unittest.main()

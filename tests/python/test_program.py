# SPDX-License-Identifier: Apache-2.0
"""Tests of the commands that are written in Python, where the reader of their output goes away."""

import os
import signal
import subprocess
import sys

import pytest

if os.name == "nt":
    pytest.skip("Windows has no SIGPIPE", allow_module_level=True)


def unread(*command):
    """Returns the exit code and the errors of a command whose output nothing reads."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([sys.executable, *command], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    return done.returncode, done.stderr


def test_the_program_ends_without_a_word():
    assert unread("-m", "patchfold", "ops") == (-signal.SIGPIPE, "")


def test_commands_in_python_end_without_a_word(tmp_path):
    onnx = pytest.importorskip("onnx")
    kind = onnx.TensorProto.FLOAT
    node = onnx.helper.make_node("SpaceToDepth", ["x"], ["y"], blocksize=2)
    x, y = (onnx.helper.make_tensor_value_info(name, kind, None) for name in "xy")
    path = str(tmp_path / "model.onnx")
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph([node], "g", [x], [y])), path)
    for flags in ([], ["-u"]):  # output that is written at the end, and at once
        assert unread(*flags, "-m", "patchfold.models", "inspect", path) == (-signal.SIGPIPE, "")
    code, errors = unread("-m", "patchfold.onnx", str(tmp_path))
    assert code == -signal.SIGPIPE and errors.count("\n") == 1
    assert unread("-m", "patchfold.models", "inspect", "nothing.onnx")[0] == 1


def test_a_connection_that_breaks_is_no_missing_reader():
    code = "import patchfold._program as p\ndef main(): raise BrokenPipeError('mine')\np.run(main)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "BrokenPipeError: mine" in done.stderr

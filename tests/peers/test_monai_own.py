# SPDX-License-Identifier: Apache-2.0
"""Runs MONAI's own tests of sliding_window_inference on patchfold.monai.

The tests come unchanged from MONAI's source package on PyPI. PATCHFOLD_MONAI_SDIST names the package's file, which
scripts/checks/torch_tests fetches.
"""

import os
import sys
import tarfile
import types
import unittest
from pathlib import Path

import pytest

SDIST = os.environ.get("PATCHFOLD_MONAI_SDIST", "")
if not SDIST:
    pytest.skip("PATCHFOLD_MONAI_SDIST does not name MONAI's source package", allow_module_level=True)
torch = pytest.importorskip("torch")
monai_inferers = pytest.importorskip("monai.inferers")

import patchfold.monai  # noqa: E402
from monai.data import MetaTensor  # noqa: E402

NAMES = ("sliding_window_inference", "SlidingWindowInferer", "SlidingWindowInfererAdapt")
PATH = "tests/inferers/test_sliding_window_inference.py"


def helpers() -> types.ModuleType:
    """Returns a replacement of MONAI's module of test helpers, which the source package lacks."""
    module = types.ModuleType("tests.test_utils")
    module.TEST_TORCH_AND_META_TENSORS = (torch.as_tensor, MetaTensor)
    module.skip_if_no_cuda = unittest.skipUnless(torch.cuda.is_available(), "there is no CUDA here")
    module.test_is_quick = lambda: True  # skips volumes of gigabytes
    return module


def their_tests() -> dict[str, type]:
    """Returns the classes of MONAI's test file, in which patchfold's functions replace MONAI's."""
    with tarfile.open(SDIST) as archive:
        member = archive.extractfile(f"{Path(SDIST).name.removesuffix('.tar.gz')}/{PATH}")
        assert member is not None
        code = compile(member.read(), PATH, "exec")
    patch = pytest.MonkeyPatch()
    with patch.context() as context:
        for name in NAMES:
            context.setattr(monai_inferers, name, getattr(patchfold.monai, name))
        context.setitem(sys.modules, "tests", types.ModuleType("tests"))
        context.setitem(sys.modules, "tests.test_utils", helpers())
        space = {"__name__": __name__}
        exec(code, space)
    assert all(space[name] is getattr(patchfold.monai, name) for name in NAMES)
    return {name: kind for name, kind in space.items() if isinstance(kind, type) and issubclass(kind, unittest.TestCase)}


CLASSES = their_tests()
globals().update(CLASSES)


def test_their_file_has_tests():
    counts = {name: sum(each.startswith("test_") for each in dir(kind)) for name, kind in CLASSES.items()}
    assert len(counts) == 2 and sum(counts.values()) > 100, counts

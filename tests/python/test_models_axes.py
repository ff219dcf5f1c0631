# SPDX-License-Identifier: Apache-2.0
"""Transpositions of many axes, as portable writes them for targets that have fewer."""

import itertools
import random
import time

import numpy as np
import pytest
from model_zoo import Case, moved

pytest.importorskip("onnx")
from onnx.reference import ReferenceEvaluator  # noqa: E402
from patchfold.models import portable  # noqa: E402
from patchfold.models._expand import _runs, _step  # noqa: E402


@pytest.mark.parametrize("seed", range(40))
def test_a_step_leaves_as_few_runs_as_any_transposition(seed):
    draw = random.Random(seed)
    at, most = list(range(draw.randint(2, 8))), draw.randint(2, 5)
    target = draw.sample(at, len(at))
    units = _runs(at, target)

    def steps():
        for cuts in itertools.combinations(range(1, len(units)), most - 1):
            groups = [sum(units[a:b], []) for a, b in itertools.pairwise((0, *cuts, len(units)))]
            yield from ((groups, list(order)) for order in itertools.permutations(range(most)))

    def left(step):
        return len(_runs([axis for number in step[1] for axis in step[0][number]], target))

    groups, order = _step(at, target, most)
    assert sum(groups, []) == at and len(groups) <= most
    assert left((groups, order)) == 1 if len(units) <= most else (groups, order) == min(steps(), key=left)


def test_many_axes_take_no_time():
    """A target of 8 axes has 13 million ways to move 12 axes once."""
    case = Case("12 axes", (4096,), operator=None, **moved([2] * 12, list(range(11, -1, -1)), [4096]))
    begin = time.perf_counter()
    model = portable(case.model(), "tensorrt")
    assert time.perf_counter() - begin < 20
    x = np.arange(4096, dtype=np.float32)
    made, expected = (ReferenceEvaluator(each).run(None, {"x": x})[0] for each in (model, case.model()))
    np.testing.assert_array_equal(made, expected)

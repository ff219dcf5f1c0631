# SPDX-License-Identifier: Apache-2.0
"""The reference implementation of the onnx package, in NumPy."""

import numpy
import onnx
from onnx.reference import ReferenceEvaluator
from problem import DTYPES, Answer, Array, Problem, Refusal, answers

from systems import Kept
from systems.onnx_models import OPERATORS, model


class System:
    name = "onnx-reference"
    version = onnx.__version__
    operators = OPERATORS

    def __init__(self) -> None:
        self._evaluator = Kept(lambda problem: ReferenceEvaluator(model(problem)))

    def run(self, problem: Problem) -> Array:
        """Runs a problem. Raises Refusal with the implementation's exception.

        NumPy's warnings are off, since sums may wrap or overflow.
        """
        evaluator = self._evaluator(problem)
        try:
            with numpy.errstate(all="ignore"):
                (result,) = evaluator.run(None, {"data": problem.data})
        except Exception as error:
            raise Refusal(f"{type(error).__name__}: {error}") from error
        assert result.dtype == DTYPES[problem.dtype], f"{problem}: the result is {result.dtype}"
        return result

    def run_many(self, problems: list[Problem]) -> list[Answer]:
        return answers(self.run, problems)

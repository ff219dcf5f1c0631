# SPDX-License-Identifier: Apache-2.0
"""PyTorch, eager, on the CPU."""

import numpy
import torch
from problem import DTYPES, Array, Problem, Refusal

from dialects import operators_of

torch.set_num_threads(1)

EVERY = tuple(DTYPES)
# torch cannot read these types from NumPy: their arrays cross as unsigned integers of the same size (CARRIER) and are viewed
# as the torch type given here.
AS_BITS = {
    "bfloat16": torch.bfloat16,
    "float8_e4m3fn": torch.float8_e4m3fn,
    "float8_e4m3fnuz": torch.float8_e4m3fnuz,
    "float8_e5m2": torch.float8_e5m2,
    "float8_e5m2fnuz": torch.float8_e5m2fnuz,
}
# The unsigned integers of each element size, in NumPy and in torch.
CARRIER = {1: (numpy.uint8, torch.uint8), 2: (numpy.uint16, torch.uint16)}


class System:
    name = "torch"
    version = torch.__version__.split("+")[0]
    operators = dict.fromkeys(operators_of("torch"), EVERY)

    def run(self, problem: Problem) -> Array:
        try:
            function = getattr(torch.nn.functional, problem.op.removeprefix("torch."))
            result = function(_tensor(problem), **problem.attributes)
        except (RuntimeError, NotImplementedError, ValueError, TypeError) as error:
            raise Refusal(f"{type(error).__name__}: {error}") from error
        return _array(result, problem.dtype)


def _tensor(problem: Problem) -> torch.Tensor:
    data = numpy.ascontiguousarray(problem.data)
    if problem.dtype not in AS_BITS:
        return torch.from_numpy(data)
    carrier, _ = CARRIER[data.itemsize]
    return torch.from_numpy(data.view(carrier)).view(AS_BITS[problem.dtype])


def _array(tensor: torch.Tensor, dtype: str) -> Array:
    tensor = tensor.contiguous()
    if dtype not in AS_BITS:
        return tensor.numpy()
    if tensor.dtype != AS_BITS[dtype]:
        raise TypeError(f"torch gave {tensor.dtype} for {dtype}")
    return tensor.view(CARRIER[DTYPES[dtype].itemsize][1]).numpy().view(DTYPES[dtype])

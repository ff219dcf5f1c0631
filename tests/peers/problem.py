# SPDX-License-Identifier: Apache-2.0
"""The problems that patchfold and another system run, and their refusals."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import ml_dtypes
import numpy

Array: TypeAlias = numpy.ndarray[Any, Any]

DTYPES: dict[str, numpy.dtype[Any]] = {
    name: numpy.dtype(name)
    for name in (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
    )
} | {
    name: numpy.dtype(getattr(ml_dtypes, name))
    for name in "bfloat16 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz".split()
}


class Refusal(Exception):
    """Raised if the system refuses a problem; str() is the system's message."""


@dataclass(frozen=True, eq=False)
class Problem:
    """An operator of the table, with its data, and its attributes by their names in the table.

    dtype is a key of DTYPES, and data.dtype is DTYPES[dtype]. fill() drew the data from `seed` and `mood`.
    """

    op: str
    dtype: str
    data: Array
    attributes: dict[str, Any]
    seed: int = 0
    mood: str = ""

    def __str__(self) -> str:
        words = [self.op, self.dtype, "x".join(map(str, self.data.shape)) or "scalar"]
        words += [f"{name}={_text(value)}" for name, value in self.attributes.items()]
        return " ".join(words) + (f"  (data: {self.mood}, seed {self.seed})" if self.mood else "")

    def key(self) -> bytes:
        """Returns bytes that are equal for two problems if and only if shape, attributes and data are equal."""
        head = f"{self.op} {self.dtype} {self.data.shape} {sorted(self.attributes.items())}"
        return hashlib.blake2b(head.encode() + self.data.tobytes(), digest_size=16).digest()


def _text(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return ",".join(f"{v[0]}:{v[1]}" if isinstance(v, (tuple, list)) else str(v) for v in value) or "()"
    return str(value)


Answer: TypeAlias = "Array | Refusal"


def answers(run: Callable[[Problem], Array], problems: Iterable[Problem]) -> list[Answer]:
    """Returns, as a system's run_many() does, the result of run() for each problem, or the Refusal that run() raised."""
    results: list[Answer] = []
    for problem in problems:
        try:
            results.append(run(problem))
        except Refusal as refusal:
            results.append(refusal)
    return results

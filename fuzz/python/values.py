# SPDX-License-Identifier: Apache-2.0
"""Values for arguments: some that no function takes, some that some function takes, and arrays in every form."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import hostile
import numpy as np
from choices import Choices

DTYPES = [
    np.dtype(name)
    for name in (
        "i4 ? i1 i2 i8 u1 u2 u4 u8 f2 f4 f8 g F D G S3 S0 U2 V0 V1 V7 M8[s] m8[ns] O >i4 >f8 >c8 >u2 i2,f4 i2,O (2,)i4,u1 T"
    ).split()
]
NUMBERS = DTYPES[:12]
INTEGERS = [0, 1, 2, 3, 4, 5, 7, -1, -2, 10, 60, 100, 2**31 - 1, 2**31, -(2**31), 2**32, 2**40, 2**53, 2**62]
INTEGERS += [2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64 - 1, 2**64, 2**70, 10**5000]
FLOATS = [0.0, 1.0, -1.0, 0.5, 1e300, 5e-324, float("nan"), float("inf"), float("-inf"), -0.0, 1 / 3]
WORDS = (
    "valid same same_lower constant edge reflect symmetric wrap channels_first grid channels_last channel depth_first "
    "blocks_first SAME VALID NHWC NCHW CRD DCR hann ones gaussian mean max center shift pad partial drop unfold fold "
    "kernel flat float32 opaque bfloat16"
).split()
WORDS = ["", *WORDS, "\ud800", "a\0b", "\0", "x" * 100_000, "\U0001f600" * 50, "V", "[", "1:2"]


def plain_array(shape: tuple[int, ...], dtype: np.dtype[Any], first: int = 0) -> Any:
    count = int(np.prod(shape, dtype=np.int64))
    numbers = np.arange(first, first + count).reshape(shape) % 100
    if dtype.kind in "OT" or dtype.names or not dtype.itemsize:
        return np.zeros(shape, dtype)
    if dtype.kind in "VMm":
        raw = np.resize(np.arange(first, first + 251, dtype=np.uint8), (*shape, dtype.itemsize))
        return np.ascontiguousarray(raw).view(dtype)[..., 0]
    return numbers.astype(dtype)


def _misaligned(array: Any) -> Any:
    room = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    room[...] = array
    return room


def _read_only(array: Any) -> Any:
    array = array.copy()
    array.flags.writeable = False
    return array


def _strided(array: Any) -> Any:
    wide = np.zeros((*array.shape[:-1], array.shape[-1] * 2 + 1), array.dtype)
    wide[..., 1::2] = array
    return wide[..., 1::2]


LAYOUTS: list[Callable[[Any], Any]] = [
    lambda array: array,
    np.asfortranarray,
    _strided,
    _misaligned,
    _read_only,
    lambda array: array[..., ::-1].copy()[..., ::-1],
    lambda array: array[::-1].copy()[::-1],
    lambda array: np.broadcast_to(array[:1], array.shape),
    lambda array: array.view(hostile.Subclass),
    lambda array: array.view(hostile.Loud),
    lambda array: array.astype(array.dtype.newbyteorder()) if array.dtype.kind in "iufc" else array,
]


def any_array(choices: Choices) -> Any:
    shape = choices.several(choices.number(6), 0, 4)
    array = plain_array(shape, choices.pick(DTYPES))
    kind = choices.number(16)
    try:
        if kind < len(LAYOUTS):
            return LAYOUTS[kind](array)
    except Exception:  # this shape or type does not exist in such a layout
        return array
    huge = choices.pick([2**20, 2**31, 2**40, 2**58])
    return [
        lambda: np.ma.array(array),
        lambda: np.broadcast_to(np.int8(0), (1, 1, huge)),
        lambda: np.broadcast_to(np.float32(0), (huge, 0, huge)) if huge < 2**30 else np.zeros((huge, 0)),
        lambda: np.zeros((1,) * 40, np.uint8) if choices.chance(2) else array.view(hostile.Faceless),
        lambda: hostile.Capsule(np.ones((1, 2, 4, 4), choices.pick(NUMBERS)), choices.pick(DEVICES), used=choices.chance(2)),
    ][kind - len(LAYOUTS)]()


DEVICES = [(1, 0), (2, 0), (1, 0, 0), (), None, 1, "cpu", ("cpu", 0), (1.0, 0), (True, None), (2**70, 0), (np.int32(1), 0)]
DEVICES += [(10**5000, 0), [1, 0]]


def _scalar(choices: Choices) -> Any:
    dtype = choices.pick(DTYPES[:-1])
    return np.zeros((), dtype)[()] if choices.chance(2) else plain_array((1,), dtype, 2)[0]


def _buffer(choices: Choices) -> Any:
    raw = bytearray(range(96))
    return choices.pick([bytes(raw), raw, memoryview(raw), memoryview(raw).cast("B", (1, 2, 6, 8)), memoryview(raw)[::-2]])


def _list(choices: Choices, depth: int) -> Any:
    entries = [any_value(choices, depth + 1) for _ in range(choices.number(5))]
    if ENDLESS[0]:
        hostile.VICTIMS.append(entries)
    form = choices.number(8)
    if form == 7:
        entries.append(entries)
    forms: list[Callable[[Any], Any]] = [list, tuple, list, tuple, iter, lambda items: (item for item in items)]
    forms += [lambda items: dict(enumerate(items)), lambda items: items]
    return forms[form](entries) if form not in (0, 2) else entries


ENDLESS = [True]
"""Whether endless sequences and changing lists may be made: not for arguments that NumPy reads, since NumPy reads a
sequence to its end."""


def _odd(choices: Choices) -> Any:
    if choices.chance(4) and ENDLESS[0]:
        return choices.pick([range(10**12), range(2**70), hostile.Endless(), [hostile.Endless()], np.arange(10**6)])
    return choices.pick(
        [
            object(),
            type,
            len,
            range(3),
            {2},
            {"a": 1},
            Ellipsis,
            NotImplemented,
            slice(None),
            SimpleNamespace(shape=(2,), dtype=np.dtype("i4")),
            np.dtype("i4"),
            np.int32,
            float,
            Exception("x"),
            [[]],
            (((((()),),),),),
            [[1, 2], [3]],
            [1] * 70,
            [1] * 100_000,
            np.arange(1000),
        ]
    )


def any_value(choices: Choices, depth: int = 0) -> Any:
    kind = choices.number(16)
    if kind < 2:
        return choices.pick(INTEGERS)
    if kind == 2:
        return choices.pick([True, False, None, np.True_, np.bool_(0)])
    if kind == 3:
        return choices.pick(FLOATS)
    if kind == 4:
        return choices.pick([1j, complex("nan+infj"), b"valid", b"", "x", Ellipsis])
    if kind == 5:
        return choices.pick(WORDS)
    if kind == 6:
        return _scalar(choices)
    if kind == 7:
        return _buffer(choices)
    if kind in (8, 9) and depth < 3:
        return _list(choices, depth)
    if kind in (10, 11):
        array = any_array(choices)
        hostile.VICTIMS.append(array)
        return array
    if kind == 12:
        return _odd(choices)
    if kind == 13:
        return np.array(choices.several(choices.number(4), -1, 4), int).astype(choices.pick(NUMBERS))
    return hostile.KINDS[(choices.number(256) * 256 + choices.number(256)) % len(hostile.KINDS)]()

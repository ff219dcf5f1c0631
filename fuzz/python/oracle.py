# SPDX-License-Identifier: Apache-2.0
"""Runs one input: a right call, or one with a few changes, and checks what must hold after every call."""

import gc
import itertools
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "python"))

import hostile
import legal
import merges
import numpy as np
import patchfold
import values
from choices import Choices

warnings.simplefilter("ignore")
np.seterr(all="ignore")

SECONDS = 8.0
THREADS = patchfold.get_num_threads()
GENERATORS = [
    legal.table_call,
    legal.table_call,
    legal.unfold_call,
    legal.fold_call,
    legal.block_call,
    legal.gather_call,
    merges.tile_call,
    merges.tile_call,
    legal.other_call,
    legal.mean_call,
    legal.token_call,
    merges.place_call,
    merges.weight_call,
    merges.several_call,
    merges.store_call,
]
STATS: Counter[tuple[str, str]] = Counter()


READ_BY_NUMPY = ("corners", "window", "mask", "dtype", "nonsense", "part", "fn", "progress", "out", "kind", "weight", "into")


class Fault(Exception):
    """Raised if something is not true that must be true after every call."""


def changed(choices: Choices, call: legal.Call) -> int:
    """Changes some arguments of a call, and returns how many."""
    changes = 0 if choices.chance(3) else 1 + choices.number(3)
    for _ in range(changes):
        names = [*call.arguments, *call.extra]
        name = choices.pick(names) if names else "nonsense"
        kind = choices.number(12)
        values.ENDLESS[0] = name not in READ_BY_NUMPY
        if kind == 10:
            call.arguments.pop(name, None)
        elif kind == 11:
            call.arguments["nonsense" if choices.chance(4) else name] = choices.pick(list(call.arguments.values()) or [0])
        elif kind == 9 and type(call.arguments.get(name)) in (tuple, list):
            entries = list(call.arguments[name])  # changes one entry of the list
            hostile.VICTIMS.append(entries)
            entries[choices.number(len(entries) + 1) :] = [values.any_value(choices)]
            call.arguments[name] = entries
        else:
            call.arguments[name] = values.any_value(choices)
    return changes


def _text(call: legal.Call) -> str:
    parts = []
    for name, value in call.arguments.items():
        try:
            text = repr(value)
        except BaseException:
            text = f"a {type(value)}"
        if issubclass(type(value), np.ndarray):
            kind = type(value).__name__
            shape, strides = np.ndarray.shape.__get__(value), np.ndarray.strides.__get__(value)
            text = f"{kind}(shape {shape}, strides {strides}, {np.ndarray.dtype.__get__(value)})"
        tricks = {key: item for key, item in vars(type(value)).items() if not key.startswith("__m")}
        parts.append(f"{name}={text[:200]}" + (f" {str(tricks)[:300]}" if type(value).__name__ == "Hostile" else ""))
    return f"{call.name}({', '.join(parts)})"


def _counted(arguments: dict[str, Any]) -> list[Any]:
    """Returns the objects of the call whose references are counted, each object once."""
    inside = itertools.chain.from_iterable(v for v in arguments.values() if type(v) in (list, tuple))
    kept = (np.ndarray, list, hostile.Endless, hostile.Capsule, bytearray, memoryview)
    found = [v for v in (*arguments.values(), *inside) if issubclass(type(v), kept) or type(v).__name__ == "Hostile"]
    return list({id(v): v for v in found if type(v) is not hostile.Loud}.values())


def _check_error(call: legal.Call, error: BaseException, changes: int, *, own: bool, numpys: bool) -> str:
    """Checks an error and returns its kind. `own` tells whether a function of the call may raise, `numpys` whether NumPy has
    read a hostile object."""
    stops = [each for each in hostile.RAISED if isinstance(each, hostile.Stop)]
    if stops and not numpys and not isinstance(error, hostile.Stop):
        raise Fault(f"an interrupt was lost to {error!r}")
    if any(error is each for each in hostile.RAISED):
        return "its own"
    if own and isinstance(error, Exception):
        return "its own"
    if not changes and call.right:
        raise Fault(f"a legal call was refused: {error}")
    if isinstance(error, MemoryError):
        return "memory"
    if isinstance(error, RecursionError) and hostile.CHANGES:
        return "its own"
    if not str(error):
        raise Fault(f"no message: {error!r}")
    if isinstance(error, patchfold.Error):
        return type(error).__name__
    if type(error) is TypeError and "argument" in str(error) and ("()" in str(error) or "keyword" in str(error)):
        frame = error.__traceback__
        while frame is not None and frame.tb_next is not None:
            frame = frame.tb_next
        if frame is not None and "patchfold" not in frame.tb_frame.f_code.co_filename and "() got" in str(error):
            return "signature"
        if any(words in str(error) for words in ("missing", "() got", "multiple values", "incompatible function")):
            return "signature"
    raise Fault(f"a raw error: {type(error).__name__}: {error}")


def _check_result(call: legal.Call, result: Any) -> None:
    expected = call.expected()
    if expected is NotImplemented or expected is None:
        return
    if isinstance(expected, tuple):
        same = result == expected
    else:
        plain = np.asarray(result)
        same = plain.shape == expected.shape and plain.astype(expected.dtype).tobytes() == expected.tobytes()
    if not same:
        raise Fault(f"the result is {result!r}, expected {expected!r}")


def run(data: bytes, *, timed: bool = True) -> None:
    choices = Choices(data)
    hostile.RAISED.clear()
    hostile.VICTIMS.clear()
    hostile.CHANGES.clear()
    call = choices.pick(GENERATORS)(choices)
    try:
        _run(choices, call, timed=timed)
    except Fault as fault:
        raise Fault(f"{fault}\n  {_text(call)}\n  {data.hex()}") from fault.__cause__
    finally:
        patchfold.set_num_threads(THREADS)
        patchfold.use_instruction_set(patchfold.instruction_sets()[-1])


def _run(choices: Choices, call: legal.Call, *, timed: bool) -> None:
    known = dict(call.arguments)
    changes = changed(choices, call)
    given = ((name, call.arguments.get(name)) for name in ("fn", "out", "into", "progress"))
    # NumPy keeps references to some of the exceptions that it catches, so then hostile objects may stay alive.
    numpys = any(call.arguments.get(name) is not known.get(name) for name in READ_BY_NUMPY)
    own = any(callable(each) and each is not known.get(name) for name, each in given)
    hostile.VICTIMS.extend(v for n, v in call.arguments.items() if type(v) in (list, np.ndarray) and n not in READ_BY_NUMPY)
    out = call.arguments.get("out")
    if type(out) is not np.ndarray or not call.writes or out.nbytes > 10**6:
        out = None
    held = None if out is None else out.tobytes()
    counted = _counted(call.arguments)
    before = [sys.getrefcount(each) for each in counted]
    begin = time.process_time()
    try:
        result = call.function(**call.arguments)
    except BaseException as error:
        seconds = time.process_time() - begin
        if isinstance(error, KeyboardInterrupt):
            raise
        outcome = _check_error(call, error, changes, own=own, numpys=numpys)
        altered = out is not None and outcome not in ("its own",) and not hostile.RAISED and out.tobytes() != held
    else:
        seconds, altered = time.process_time() - begin, False
        stops = [each for each in hostile.RAISED if isinstance(each, hostile.Stop)]
        if stops and not numpys:
            raise Fault("an interrupt was lost")
        if not changes:
            _check_result(call, result)
        outcome = "right" if not changes else "taken"
        del result
    STATS[call.name, outcome] += 1
    if altered:
        raise Fault("out was written before an error")
    if timed and seconds > SECONDS:
        raise Fault(f"took {seconds:.1f} s")
    after = [sys.getrefcount(each) for each in counted]
    if after != before:
        gc.collect()
        after = [sys.getrefcount(each) for each in counted]
    changed_counts = [(type(v), a, b) for v, a, b in zip(counted, before, after, strict=True) if a != b]
    if changed_counts and not hostile.RAISED and not hostile.CHANGES:
        raise Fault(f"references before and after: {changed_counts}")


def print_stats() -> None:
    names = sorted({name for name, _ in STATS})
    kinds = sorted({kind for _, kind in STATS})
    print(f"{'function':28}" + "".join(f"{kind:>14}" for kind in kinds))
    for name in names:
        print(f"{name:28}" + "".join(f"{STATS[name, kind]:14}" for kind in kinds))
    print(f"{'all':28}" + "".join(f"{sum(STATS[name, kind] for name in names):14}" for kind in kinds))
    print(f"{STATS.total()} calls; blocks {sys.getallocatedblocks()}", flush=True)

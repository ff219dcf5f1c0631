# SPDX-License-Identifier: Apache-2.0
"""Tests the comparison itself, with patchfold as the other system, unchanged or with a fault."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

import numpy
import pytest
import table
from cell import Cell, ours
from compare import equal, within_bounds
from conformance import faults, without_counts
from problem import Array, Problem, Refusal
from record import Recorder, text_of

from dialects import OPERATORS, operators_of, patterns_of

CASES = 250
DIALECTS = sorted({op.partition(".")[0] for op in OPERATORS})


def fake(change: Callable[[Problem, Array], Array] = lambda problem, result: result, group: int = 2) -> Any:
    class System:
        name, version = "fake", "1"

        def run(self, problem: Problem) -> Array:
            return change(problem, ours(problem))

    system = System()
    system.group = group  # type: ignore[attr-defined]
    return system


def expect(op: str, dtype: str, verdict: str = "equal", **more: str) -> table.Table:
    reason = {} if verdict == "equal" else {"reason": "because"}
    row = {"system": "fake", "operators": [op], "types": [dtype], "verdict": verdict, **reason, **more}
    return table.parse({"cell": [row]})


def run(system: Any, op: str, dtype: str, expected: table.Table) -> Any:
    return Cell(system, op, dtype, expected).run(CASES, 1)


def parse(op: str, dtype: str, *exceptions: dict[str, Any], verdict: str = "equal") -> table.Table:
    row = {"system": "fake", "operators": [op], "types": [dtype]}
    return table.parse({"cell": [{**row, "verdict": verdict}, *({**row, "reason": "because", **e} for e in exceptions)]})


def last_bit(problem: Problem, result: Array) -> Array:
    """Returns the result with the lowest bit of its first byte inverted, if it has elements."""
    data = bytearray(result.tobytes())
    if data:
        data[0] ^= 1
    return numpy.frombuffer(bytes(data), result.dtype).reshape(result.shape)


@pytest.mark.parametrize("op", OPERATORS)
def test_patchfold_is_equal_to_itself(op: str) -> None:
    tally = run(fake(), op, "float32", expect(op, "float32"))
    assert tally.accepted == tally.equal >= CASES
    assert tally.refused["both"] > 0


@pytest.mark.parametrize("op", OPERATORS)
def test_a_wrong_bit_fails_and_is_shrunk(op: str) -> None:
    with pytest.raises(AssertionError, match="expected equal, and they differ") as caught:
        run(fake(last_bit), op, "int32", expect(op, "int32"))
    assert op in str(caught.value)
    assert "seed" in str(caught.value)


def test_a_system_that_was_expected_to_differ_and_does_not_fails() -> None:
    with pytest.raises(AssertionError, match="expected narrows, and no result differs"):
        run(fake(), "torch.unfold", "int8", expect("torch.unfold", "int8", "narrows", to="int16"))


def test_a_narrowing_is_recognised_and_another_one_is_not() -> None:
    def narrow(problem: Problem, result: Array) -> Array:
        return result.astype("int32").astype("int64")

    op = "torch.pixel_shuffle"
    tally = run(fake(narrow), op, "int64", expect(op, "int64", "narrows", to="int32"))
    assert tally.differing["narrows"] > 0
    with pytest.raises(AssertionError, match="not what int16 gives"):
        run(fake(narrow), op, "int64", expect(op, "int64", "narrows", to="int16"))


def test_a_condition_excuses_its_problems_and_no_others() -> None:
    def wrong(problem: Problem, result: Array) -> Array:
        return last_bit(problem, result) if problem.attributes.get("data_format") == "NCHW" else result

    op = "tensorflow.SpaceToDepth"
    exception = {"verdict": "wrong", "where": "channels_first_of_some"}

    def some(problem: Problem) -> bool:
        return problem.attributes.get("data_format") == "NCHW" and problem.data.size > 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(table.PREDICATES, "channels_first_of_some", some)
        tally = run(fake(wrong), op, "int8", parse(op, "int8", exception))
        assert tally.differing["wrong channels_first_of_some"] > 0
        with pytest.raises(AssertionError, match="expected equal"):
            run(fake(last_bit), op, "int8", parse(op, "int8", exception))


def shape_only(problem: Problem, result: Array) -> Array:
    raise Refusal("no")


@pytest.mark.parametrize(
    "verdict, change",
    [
        ("equal", lambda problem, result: result),
        ("narrows", lambda problem, result: result.astype("int8").astype("int32")),
        ("refuses", shape_only),
        ("wrong", last_bit),
    ],
)
def test_ours_is_checked_whatever_the_verdict_on_the_other_is(
    verdict: str, change: Callable[[Problem, Array], Array]
) -> None:
    """Checks that a fault in patchfold's results for more than 20 elements is found, whatever the verdict on the system
    is."""
    op, dtype = "torch.pixel_unshuffle", "int32"
    exception = {"verdict": "wrong", "where": "many_elements"}
    more = {"to": "int8"} if verdict == "narrows" else {}

    def many_elements(problem: Problem) -> bool:
        return problem.data.size > 20

    def faulty(problem: Problem) -> Array:
        return last_bit(problem, ours(problem)) if many_elements(problem) else ours(problem)

    def other(problem: Problem, result: Array) -> Array:
        return change(problem, result) if verdict != "wrong" or many_elements(problem) else result

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(table.PREDICATES, "many_elements", many_elements)
        expected = parse(op, dtype, exception) if verdict == "wrong" else expect(op, dtype, verdict, **more)
        assert Cell(fake(other), op, dtype, expected).run(CASES, 1)
        with pytest.raises(AssertionError, match="ours is not what the definition gives"):
            Cell(fake(other), op, dtype, expected, faulty).run(CASES, 1)


def test_an_exception_that_covers_what_the_other_does_right_fails() -> None:
    op = "tensorflow.SpaceToDepth"

    def wrong(problem: Problem, result: Array) -> Array:
        nchw = problem.attributes.get("data_format") == "NCHW"
        return last_bit(problem, result) if nchw and problem.attributes["block_size"] == 2 else result

    with pytest.raises(AssertionError, match="expected to be wrong where channels_first, and fake is right"):
        run(fake(wrong), op, "int8", parse(op, "int8", {"verdict": "wrong", "where": "channels_first"}))
    by_chance = {"verdict": "wrong", "where": "channels_first", "by_chance": True}
    assert run(fake(wrong), op, "int8", parse(op, "int8", by_chance)).differing["wrong channels_first"] > 0


def test_a_fault_that_zeros_hide_is_seen_with_other_numbers() -> None:
    def backwards(problem: Problem, result: Array) -> Array:
        nchw = problem.attributes.get("data_format") == "NCHW" and result.size > 1
        return result.reshape(-1)[::-1].reshape(result.shape).copy() if nchw else result

    op = "tensorflow.SpaceToDepth"
    exception = {"verdict": "wrong", "where": "channels_first_of_several"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(
            table.PREDICATES,
            "channels_first_of_several",
            lambda problem: problem.attributes.get("data_format") == "NCHW" and problem.data.size > 1,
        )
        tally = run(fake(backwards), op, "float32", parse(op, "float32", exception))
    assert tally.covered["channels_first_of_several"] > tally.differing["wrong channels_first_of_several"] > 0


def test_refusals_of_one_side_need_a_rule() -> None:
    def picky(problem: Problem, result: Array) -> Array:
        if problem.attributes.get("data_format") == "NCHW":
            raise Refusal("not NCHW")
        return result

    op = "tensorflow.SpaceToDepth"
    with pytest.raises(AssertionError, match="only fake refuses this: not NCHW"):
        run(fake(picky), op, "float32", expect(op, "float32"))
    content = {
        "cell": [{"system": "fake", "operators": [op], "types": ["float32"], "verdict": "equal"}],
        "refusal": [
            {"system": "fake", "operators": [op], "by": "system", "where": "channels_first", "reason": "because"}
        ],
    }
    assert run(fake(picky), op, "float32", table.parse(content)).refused["system channels_first"] > 0


def test_what_only_patchfold_refuses_needs_a_rule() -> None:
    class Lenient:
        name, version = "fake", "1"

        def run(self, problem: Problem) -> Array:
            try:
                return ours(problem)
            except Refusal:
                return problem.data

    with pytest.raises(AssertionError, match="only patchfold refuses this"):
        run(Lenient(), "torch.fold", "float32", expect("torch.fold", "float32"))


def test_refuses_means_all() -> None:
    def refuse(problem: Problem, result: Array) -> Array:
        raise Refusal("no")

    expected = expect("torch.fold", "float32", "refuses")
    assert run(fake(refuse), "torch.fold", "float32", expected).refused["type"] > 0
    with pytest.raises(AssertionError, match="and was taken"):
        run(fake(), "torch.fold", "float32", expected)


def test_what_a_system_answers_is_recorded_whatever_patchfold_does() -> None:
    problem = Problem("torch.unfold", "int8", numpy.ones((1, 1, 3, 3), "int8"), {"kernel_size": 2})
    recorder = Recorder(fake(last_bit), expect("torch.unfold", "int8"))
    recorder.consider(problem)
    (vector,) = recorder.vectors
    assert vector["result"] == text_of(last_bit(problem, ours(problem)))

    def refuse(problem: Problem, result: Array) -> Array:
        raise Refusal("no")

    recorder = Recorder(fake(refuse), expect("torch.unfold", "int8"))
    recorder.consider(problem)
    assert [vector["refused"] for vector in recorder.vectors] == ["no"]


def fold_of(terms: list[float], dtype: str = "float16") -> Problem:
    """Returns a fold whose terms all fall on one pixel."""
    data = numpy.array(terms, dtype=dtype).reshape(1, len(terms), 1)
    return Problem("torch.fold", dtype, data, {"output_size": (1, len(terms)), "kernel_size": (1, len(terms))})


def overlapping(terms: list[float]) -> Problem:
    data = numpy.array(terms, dtype="float16").reshape(1, len(terms), 1).repeat(len(terms), axis=2)
    attributes = {"output_size": (1, 1), "kernel_size": (1, len(terms)), "padding": (0, len(terms) - 1)}
    return Problem("torch.fold", "float16", data, attributes)


def test_bounds_hold_for_ours_and_for_sums_rounded_at_each_step() -> None:
    problem = overlapping([2048.0, 1.0, 1.0])
    mine = ours(problem)
    assert mine.item() == 2050.0
    stepwise = numpy.full_like(mine, 2048.0)
    assert within_bounds(problem, mine, stepwise) is None
    assert "theirs" in str(within_bounds(problem, mine, numpy.full_like(mine, 2040.0)))
    assert "ours" in str(within_bounds(problem, stepwise, stepwise))


def test_equal_compares_bits_and_any_nan_of_a_sum() -> None:
    problem = fold_of([0.0, 1.0], "float32")
    result = ours(problem)
    assert equal(problem, result, result.copy())
    assert not equal(problem, result, result + numpy.float32(0.5))
    zeros = numpy.zeros_like(result)
    assert not equal(problem, zeros, -zeros)
    nan = numpy.full_like(result, numpy.nan)
    other = (nan.view("u4") + numpy.uint32(1)).view("f4")
    assert equal(problem, nan, other)
    moved = Problem("torch.unfold", "float32", result, {"kernel_size": 1})
    assert not equal(moved, nan, other)


def test_the_table_covers_each_cell_once_and_gives_reasons() -> None:
    row = {"system": "s", "operators": ["torch.fold"], "types": ["int8"], "verdict": "equal"}
    for content in (
        [row, row],
        [{**row, "where": "empty_data"}],
        [{**row, "verdict": "wrong"}],
        [{**row, "verdict": "narrows", "reason": "because"}],
        [{**row, "verdict": "fine"}],
        [{**row, "types": ["int9"]}],
        [{**row, "verdict": "wrong", "reason": "because"}],
        [row, {**row, "where": "empty_data", "by_chance": True}],
        [row, {**row, "where": "no_such_condition"}],
    ):
        with pytest.raises(table.Fault):
            table.parse({"cell": content})


def test_what_was_not_exercised_is_a_fault() -> None:
    expected = expect("torch.unfold", "int8")
    tally: dict[str, Any] = {
        "system": "fake", "op": "torch.unfold", "dtype": "int8", "accepted": 500, "refused": {}, "differing": {},
        "features": {}, "withheld": 0, "covered": {},
    }  # fmt: skip
    assert faults(expected, [], ["fake"], 500) == ["fake torch.unfold int8: not run"]
    assert "fake torch.unfold int8: 499 cases of 500" in faults(expected, [{**tally, "accepted": 499}], ["fake"], 500)
    assert "fake torch.unfold: never showed holes" in faults(expected, [tally], ["fake"], 500)
    assert "fake torch.fold int8: not expected" in faults(expected, [{**tally, "op": "torch.fold"}], ["fake"], 500)


def test_a_row_that_never_occurs_is_a_fault() -> None:
    op = "torch.unfold"
    refusal = {"system": "fake", "operators": [op], "by": "patchfold", "where": "negative_pads", "reason": "because"}
    cells = [{"system": "fake", "operators": [op], "types": ["int8"], "verdict": "equal"}]
    cells += [
        {**cells[0], "verdict": "wrong", "where": "no_positions", "reason": "because"},
        {**cells[0], "verdict": "equal", "where": "empty_data", "reason": "because"},
    ]
    expected = table.parse({"cell": cells, "refusal": [refusal]})
    tally: dict[str, Any] = {
        "system": "fake", "op": op, "dtype": "int8", "accepted": 500, "refused": {}, "differing": {}, "features": {},
        "withheld": 0, "covered": {},
    }  # fmt: skip
    never = [
        f"fake {op}: no result differs as expected: wrong no_positions (int8)",
        f"fake {op}: no problem was accepted where empty_data (int8)",
        f"fake {op}: nothing was refused by patchfold alone where negative_pads",
    ]
    found = faults(expected, [tally], ["fake"], 500)
    assert not set(never) - set(found)
    shown = {"differing": {"wrong no_positions": 1}, "covered": {"empty_data": 1}, "refused": {"patchfold negative_pads": 1}}
    assert not set(never) & set(faults(expected, [{**tally, **shown}], ["fake"], 500))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_dialect_that_is_compared_has_facts_of_each_operator_and_no_others(dialect: str) -> None:
    operators = operators_of(dialect)
    assert operators and set(operators) <= set(OPERATORS)
    names = [op.removeprefix(f"{dialect}.") for op in operators]
    for pattern in patterns_of(dialect):
        assert any(fnmatchcase(name, pattern) for name in names), pattern


def test_what_is_expected_of_systems_names_operators_of_the_table() -> None:
    expected = table.read()
    named = {op for _, op, _ in expected.cells} | {op for _, op in (*expected.refusals, *expected.uncovered)}
    assert named <= set(OPERATORS)


def test_counts_of_the_page_may_differ_and_nothing_else() -> None:
    row = "| op | int8, int16 | equal | {} | 7 | |"
    assert without_counts(row.format(500)) == without_counts(row.format(612))
    assert without_counts(row.format(500)) != without_counts(row.format(500).replace("int8", "int32"))
    assert without_counts("## torch 2.1") != without_counts("## torch 2.2")
